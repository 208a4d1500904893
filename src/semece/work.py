"""Doing what is missing of a run: respond, then let the judges partition and grade."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semece.batch.courier import Courier
from semece.batch.ledger import Ledger
from semece.batch.stages import judge_by_batch, nothing, respond_by_batch
from semece.budget import Budget, known_price
from semece.calls import Caller, Pace, in_parallel
from semece.datasets import Dataset, open_dataset
from semece.errors import ParseError, SemeceError, StoreError
from semece.judges.llm import LLMJudge
from semece.opening import open_batches, open_judges, open_model
from semece.pipeline import (
    Missing,
    Undelivered,
    grade,
    partition,
    read_reply,
    read_responses,
    respond,
)
from semece.settings import Settings, check_settings
from semece.slots import Asking, missing_slots, set_failed_aside
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence

    from semece.budget import Price
    from semece.calls import Asker
    from semece.models import Model
    from semece.models.batch import BatchModel
    from semece.pipeline import Judge, Progress
    from semece.records import Partition, Question, Response
    from semece.store import StoredReply


def check_identity(store: Store, identity: dict[str, Any], *, instead: str = "write to another file with -o") -> None:
    """Fix the identity of a new run file; refuse another one on an old file.

    Parameters
    ----------
    store, identity : Store, dict
        The run file, and what it may not change.
    instead : str
        What a person can do who wants the other value.

    Raises
    ------
    StoreError
        A field differs.
    """
    known = store.meta("identity")
    if known is None:
        store.set_meta("identity", identity)
        return
    for name, value in identity.items():
        if known.get(name) != value:
            raise StoreError(
                f"{store.path} was made with {name} {_short(known.get(name))}, not {_short(value)}; give the same "
                f"value, or {instead}"
            )


def _short(value: object) -> str:
    text = str(value)
    return f"{text[:12]}..." if len(text) > 60 else text


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ``execute`` leaves.

    Parameters
    ----------
    path : str
        The run file.
    missing : int
        Replies of the view that are still missing, judges' included.
    last_failure : str or None
        The sentence of the last call that delivered nothing.
    """

    path: str
    missing: int
    last_failure: str | None = None


async def execute(
    settings: Settings,
    path: str | Path | Store,
    *,
    dataset: Dataset | None = None,
    model: Model | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Outcome:
    """Do what is missing of a run: respond, partition, grade.

    Parameters
    ----------
    settings : Settings
        What to do.
    path : str, Path or Store
        The run file, made if absent; or a store open for writing, which stays open.
    dataset, model : Dataset, Model, optional
        Instead of those that `settings` spell.
    progress : callable, optional
        Called with (stage, steps done): ``('respond', 8)``; first with a negative number for the steps of a stage.
    budget : Budget, optional
        Caps that several runs share, with what was spent on them before; None: the caps of `settings`, for this run.

    Returns
    -------
    Outcome
        With what is still missing: run again for it.

    Raises
    ------
    SemeceError
        Something a person must change; what was delivered is stored.
    """
    check_settings(settings)
    data = dataset or open_dataset(settings.dataset)
    judges = open_judges(*settings.judges(), prompt=settings.judge_prompt)
    chosen = settings.choose(data)
    if not chosen:
        raise SemeceError(f"no question of {data.name} is selected")
    if "given" in settings.judges():
        raise SemeceError("the judge 'given' reads labels that came with samples: 'semece score'; a run needs another")
    price_of(settings, settings.model)
    questions = [question for _, question in chosen]
    opened: Model | BatchModel | None = None
    if model is None and not isinstance(path, Store) and not Path(path).exists():  # noqa: ASYNC240 - before anything runs
        for judge in judges:  # one that cannot be used leaves no file either
            if isinstance(judge, LLMJudge):
                await open_for(settings, questions, judge.model).aclose()
        if settings.batch:
            opened = open_batches_for(settings, questions, settings.model)
        else:
            opened = model = open_for(settings, questions, settings.model)  # one that cannot be used leaves no file
    try:
        with _opened(path) as store:
            check_identity(store, settings.identity(data))
            store.add_questions(chosen)
            store.set_meta("prompt", settings.prompt)
            store.set_meta("dataset", settings.dataset)
            store.set_meta("options", settings.words())
            store.set_meta("view", _view(settings, [q.id for q in questions]))
            work = Work(store, settings, questions, progress or _silent, budget=budget)
            await work.collect()
            await work.respond(model)
            await work.judge(*judges)
            return Outcome(store.path, work.missing, store.last_failure() if work.missing else None)
    finally:
        if opened is not None:
            await opened.aclose()


def price_of(settings: Settings, spelling: str) -> Price | None:
    """Look up the live price of a model; a budget in USD needs one.

    Raises
    ------
    SemeceError
        There is a budget in USD and no price.
    """
    price = known_price(spelling, settings.prices)
    if settings.max_cost is not None and price is None:
        raise SemeceError(
            f"the price of {spelling} is not known, so a budget in USD cannot be kept; cap tokens with "
            "--max-total-tokens"
        )
    return price


def open_for(settings: Settings, questions: Sequence[Question], spelling: str) -> Model:
    """Open a model or the model of a judge as the settings say."""
    references = {q.text: q.references[0] for q in questions if q.references}
    base_url = settings.base_url if spelling == settings.model else None
    return open_model(spelling, base_url=base_url, timeout=settings.timeout, references=references)


def open_batches_for(settings: Settings, questions: Sequence[Question], spelling: str) -> BatchModel:
    """Open the batch interface of a model or of a judge's model as the settings say."""
    references = {q.text: q.references[0] for q in questions if q.references}
    base_url = settings.base_url if spelling == settings.model else None
    return open_batches(spelling, base_url=base_url, timeout=settings.timeout, references=references)


@contextmanager
def _opened(path: str | Path | Store) -> Iterator[Store]:
    """Open a run file for writing; a store that is open already stays so."""
    if isinstance(path, Store):
        yield path
        path.flush()
    else:
        with Store(path, write=True) as store:
            yield store


def _silent(stage: str, steps: int) -> None:
    del stage, steps


def _budget(store: Store, settings: Settings) -> Budget:
    """Cap a run by its settings; what earlier invocations spent counts."""
    spent = store.spent().values()
    return Budget(
        max_cost=settings.max_cost,
        max_tokens=settings.max_total_tokens,
        spent_cost=sum(cost or 0.0 for _, _, cost in spent),
        spent_tokens=sum(asked + answered for asked, answered, _ in spent),
    )


def _view(settings: Settings, ids: list[str]) -> dict[str, Any]:
    partition_judge, grade_judge = settings.judges()
    return {
        "ids": ids,
        "n": settings.n,
        "partition_judge": partition_judge,
        "grade_judge": grade_judge,
        "judge_prompt": settings.judge_prompt,
        "grade_classes": settings.grade_classes,
        "not_attempted": settings.not_attempted,
        "min_responses": settings.min_responses,
    }


class Work:
    """The stages of one invocation on one open store.

    Parameters
    ----------
    store : Store
        Open for writing.
    settings, questions : Settings, list of Question
        What is done, and for which questions.
    progress : callable
        Called with (stage, steps done).
    read : callable, optional
        From a stored reply to a response; None: as the settings' prompt reads it.
    budget : Budget, optional
        Caps that several runs share; None: those of the settings.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        questions: list[Question],
        progress: Progress,
        read: Callable[[StoredReply], Response] | None = None,
        *,
        budget: Budget | None = None,
    ) -> None:
        self.store, self.settings, self.questions, self.progress = store, settings, questions, progress
        self.asking = Asking(settings.model, settings.response_prompt, settings.decoding, settings.seed)
        self.read = read or partial(read_reply, self.asking.prompt)
        self.budget = budget or _budget(store, settings)
        self.missing = 0

    def caller(self, model: Model) -> Caller:
        """Put patience, pace and caps in front of a model; all callers share the budget."""
        settings, price = self.settings, price_of(self.settings, model.name)
        width = min(settings.concurrency, getattr(model, "max_concurrency", settings.concurrency))
        return Caller(model, self.store, pace=Pace(width), patience=settings.patience, budget=self.budget, price=price)

    @asynccontextmanager
    async def _courier(self, spelling: str, stage: str | None = None) -> AsyncIterator[Courier]:
        """Open a model's batch interface; replies count as steps of the stage."""
        settings = self.settings
        model = open_batches_for(settings, self.questions, spelling)
        try:
            yield Courier(
                model,
                self.store,
                patience=settings.batch_patience,
                budget=self.budget,
                price=known_price(model.name, settings.prices, batch=True),
                ceiling=price_of(self.settings, model.name),
                progress=None if stage is None else partial(self.progress, stage),
            )
        finally:
            await model.aclose()

    async def collect(self) -> None:
        """Wait for what is under way in batches before anything is asked live: it may be paid for."""
        settings = self.settings
        if settings.batch or not Ledger(self.store).open():
            return
        judges = open_judges(*settings.judges())
        for spelling in sorted({settings.model, *(judge.model for judge in judges if isinstance(judge, LLMJudge))}):
            async with self._courier(spelling) as courier:
                await courier.deliver(nothing)

    async def respond(self, model: Model | None) -> None:
        """Draw what is missing; opens no model if nothing is."""
        settings = self.settings
        if settings.retry_failed:
            for question in self.questions:
                set_failed_aside(self.store, question.id)
        missing = {q.id: self._count_missing(q) for q in self.questions}
        todo = [q for q in self.questions if missing[q.id]]
        self.progress("respond", -settings.n * len(self.questions))
        self.progress("respond", settings.n * len(self.questions) - sum(missing.values()))
        if not todo:
            return
        if settings.batch:
            async with self._courier(settings.model, "respond") as courier:
                await respond_by_batch(self.store, self.asking, todo, settings.n, courier)
        else:
            await self._respond_live(todo, model)
        self.missing += sum(self._count_missing(q) for q in todo)

    async def _respond_live(self, todo: list[Question], model: Model | None) -> None:
        owned = model is None
        model = model or open_for(self.settings, self.questions, self.settings.model)
        try:
            caller = self.caller(model)
            await respond(self.store, self.asking, todo, self.settings.n, caller, progress=self.progress)
        finally:
            if owned:
                await model.aclose()

    def _count_missing(self, question: Question) -> int:
        return sum(map(len, missing_slots(self.store, self.asking, question, self.settings.n)))

    async def judge(self, partition_judge: Judge, grade_judge: Judge) -> None:
        """Partition and grade, where a judge has to be asked; rules need no work before they are read."""
        models: dict[str, Caller] = {}
        if self.settings.batch and any(isinstance(judge, LLMJudge) for judge in (partition_judge, grade_judge)):
            await self._judge_by_batch(partition_judge, grade_judge)
            self.progress("judge", -len(self.questions))
            for question in self.questions:
                await self._judge_one(question, partition_judge, grade_judge, models)
            return
        try:
            for judge in (partition_judge, grade_judge):
                if isinstance(judge, LLMJudge) and judge.model not in models:
                    models[judge.model] = self.caller(open_for(self.settings, self.questions, judge.model))
            if models:
                self.progress("judge", -len(self.questions))
                width = max(caller.pace.concurrency for caller in models.values())
                jobs = (partial(self._judge_one, q, partition_judge, grade_judge, models) for q in self.questions)
                await in_parallel(jobs, width)
        finally:
            for caller in models.values():
                await caller.model.aclose()

    async def _judge_by_batch(self, partition_judge: Judge, grade_judge: Judge) -> None:
        """Ask the judges in batches: all partitions first, since the grades depend on them."""

        async def partition_one(question: Question, asker: Asker) -> None:
            await self._classes(question, partition_judge, asker)

        async def grade_one(question: Question, asker: Asker) -> None:
            classes = await self._classes(question, partition_judge, None)
            if classes is not None:
                which = self.settings.grade_classes
                await grade(self.store, grade_judge, question, classes, which=which, caller=asker)

        for judge, procedure in ((partition_judge, partition_one), (grade_judge, grade_one)):
            if isinstance(judge, LLMJudge):
                async with self._courier(judge.model) as courier:
                    await judge_by_batch(self.store, self.questions, procedure, courier)

    async def _classes(self, question: Question, judge: Judge, asker: Asker | None) -> Partition | None:
        """Partition one question; None if there is nothing to group or the judge's reply is not there."""
        replies = self.store.replies("respond", question.id)
        responses, _ = read_responses(replies, self.settings.n, self.read)
        try:
            if any(response.usable for response in responses):
                return await partition(self.store, judge, question, responses, asker)
        except (ParseError, Missing):
            pass
        return None

    async def _judge_one(
        self, question: Question, partition_judge: Judge, grade_judge: Judge, models: dict[str, Caller]
    ) -> None:
        def caller_of(judge: Judge) -> Caller | None:
            return models.get(judge.model) if isinstance(judge, LLMJudge) else None

        replies = self.store.replies("respond", question.id)
        responses, _ = read_responses(replies, self.settings.n, self.read)
        try:
            if any(response.usable for response in responses):
                classes = await partition(self.store, partition_judge, question, responses, caller_of(partition_judge))
                which, caller = self.settings.grade_classes, caller_of(grade_judge)
                missing: list[int] = []
                await grade(self.store, grade_judge, question, classes, which=which, caller=caller, missing=missing)
                self.missing += len(missing)
        except (ParseError, Missing) as error:
            self.missing += not isinstance(error, Undelivered)
        self.progress("judge", 1)
