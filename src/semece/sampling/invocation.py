"""The stages of one invocation on one open run file: respond, then let the judges partition and grade."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError
from semece.judges import STAGES, JudgedQuestion, judge_question, models_of
from semece.sampling.batch.batch_stages import judge_by_batch, respond_by_batch
from semece.sampling.batch.courier import Courier
from semece.sampling.batch.ledger import OPEN, Ledger
from semece.sampling.budget import Budget, spent_at_most
from semece.sampling.judge_calls import run_asking
from semece.sampling.live_calls import Caller, Pace, Stop, in_parallel
from semece.sampling.stages import read_reply, read_responses, respond, usable_answers
from semece.store.keys import RequestTemplate, missing_slots, set_failed_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semece.judges import Judge
    from semece.models import BatchModel, Model, Request
    from semece.records import Question, Response
    from semece.sampling.connections import Connections
    from semece.sampling.live_calls import SlotFiller
    from semece.sampling.settings import Settings
    from semece.sampling.stages import Progress
    from semece.store.keys import Slot
    from semece.store.run_store import Store, StoredReply


class Work:
    """The stages of one invocation on one open store.

    Parameters
    ----------
    store : Store
        Open for writing.
    settings, questions : Settings, list of Question
        What is done, and for which questions.
    progress : callable, optional
        Called with (stage, steps done).
    read : callable, optional
        From a stored reply to a response; None: as the settings' prompt reads it.
    connections : Connections
        Where models are opened; who made it closes it.
    budget : Budget, optional
        Caps that several runs share; None: those of the settings.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        questions: list[Question],
        progress: Progress | None = None,
        read: Callable[[StoredReply], Response] | None = None,
        *,
        connections: Connections,
        budget: Budget | None = None,
    ) -> None:
        self.store, self.settings, self.questions = store, settings, questions
        self.progress = progress or _silent
        self.template = RequestTemplate(settings.model, settings.response_prompt, settings.decoding, settings.seed)
        self.read = read or partial(read_reply, self.template.prompt)
        self.connections = connections
        self.budget = budget or _budget(store, settings)
        self.budget.hold(Ledger(store).held(*OPEN))
        self.missing = 0
        self._stop = Stop()
        self._sizes: dict[str, int] = (store.meta("view") or {}).get("sizes", {})

    def caller(self, model: Model) -> Caller:
        """Put patience, pace and caps in front of a model; all callers share the budget and the end."""
        self._note_address(model)
        return Caller(
            model,
            self.store,
            pace=Pace(self.settings.concurrency),
            patience=self.settings.patience,
            budget=self.budget,
            price=self.settings.price_list.of(model.name),
            stop=self._stop,
        )

    def _courier(self, spelling: str, stage: str | None = None) -> Courier:
        """Put patience and caps in front of a model's batch interface; replies count as steps of the stage."""
        settings, model = self.settings, self.connections.batches(spelling)
        self._note_address(model)
        return Courier(
            model,
            self.store,
            patience=settings.batch_patience,
            budget=self.budget,
            price=settings.price_list.known(model.name, batch=True),
            ceiling=settings.price_list.of(model.name),
            progress=None if stage is None else partial(self.progress, stage),
            anew=settings.retry_failed,
        )

    def _note_address(self, model: Model | BatchModel) -> None:
        """Record where a model that is about to be asked is: as it shows itself, or as it was told, without a key."""
        told = self.settings.address if model.name == self.settings.model else None
        address, known = getattr(model, "base_url", told), self.store.meta("base_url", {})
        if address and known.get(model.name) != address:
            self.store.set_meta("base_url", {**known, model.name: address})

    async def collect(self) -> None:
        """Wait for what is under way in batches before anything is asked live: it may be paid for.

        Raises
        ------
        ModelError
            Something is still under way; nothing may be asked.
        """
        if not self.settings.batch:
            for spelling in sorted({entry.model for entry in Ledger(self.store).open()}):
                await self._courier(spelling).collect()

    async def prepare(self, view: Mapping[str, Any], judges: tuple[Judge, Judge], model: Model | None) -> None:
        """Open what will be asked, before another view is written or a reply set aside: a refusal changes nothing.

        Raises
        ------
        ModelError
            Something that will be asked cannot be used.
        """
        again = self.settings.retry_failed
        if self.store.meta("view") == view and not again:
            return
        asks = again or any(map(self._count_missing, self.questions))
        if asks and model is None:
            self.connections.open(self.settings.model)
        for spelling in models_of(judges):
            try:
                self.connections.open(spelling)
            except ModelError:  # a finished run needs no key
                if asks or await self._is_left(judges):
                    raise

    async def _is_left(self, judges: tuple[Judge, Judge]) -> bool:
        """Whether the judges have still something to say."""
        for question in self.questions:
            if (await self._judged(question, judges, {})).lacking:
                return True
        return False

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
            courier = self._courier(settings.model, "respond")
            await respond_by_batch(self.store, self.template, todo, settings.n, courier)
        else:
            caller = self.caller(model or self.connections.live(settings.model))
            await respond(self.store, self.template, todo, settings.n, caller, progress=self.progress)
        self.missing += sum(self._count_missing(q) for q in todo)

    def _count_missing(self, question: Question) -> int:
        return sum(map(len, missing_slots(self.store, self.template, question, self.settings.n)))

    async def judge(self, partition_judge: Judge, grade_judge: Judge) -> None:
        """Partition and grade, where a judge has to be asked; rules need no work before they are read."""
        judges = partition_judge, grade_judge
        models = models_of(judges)
        if not models:
            return
        if self.settings.retry_failed:
            self._set_judges_aside(judges)
        askers: dict[str, SlotFiller] = {}
        if self.settings.batch:
            if any(map(Ledger(self.store).open, models)) or await self._is_left(judges):
                await self._judge_by_batch(judges)
        else:
            callers = {spelling: _Late(partial(self._live_caller, spelling)) for spelling in models}
            pairs = zip(STAGES, judges, strict=True)
            askers = {stage: callers[judge.model] for stage, judge in pairs if judge.model is not None}
        self.progress("judge", -len(self.questions))

        async def one(question: Question) -> None:
            judged = await self._judged(question, judges, askers)
            self.missing += judged.lacking
            self.progress("judge", 1)

        await in_parallel((partial(one, question) for question in self.questions), self.settings.concurrency)

    def _set_judges_aside(self, judges: tuple[Judge, Judge]) -> None:
        """Make room to ask again where a judge's reply came without a text, if it can be asked."""
        for spelling in models_of(judges):
            self.connections.open(spelling)
        for stage, judge in zip(STAGES, judges, strict=True):
            for question in self.questions:
                set_failed_aside(self.store, question.id, stage, judge.id)

    def _live_caller(self, spelling: str) -> Caller:
        return self.caller(self.connections.live(spelling))

    async def _judge_by_batch(self, judges: tuple[Judge, Judge]) -> None:
        """Ask the judges in batches: all partitions first, since the grades depend on them."""

        async def one(stage: str, question: Question, asker: SlotFiller) -> None:
            await self._judged(question, judges, {stage: asker})

        for stage, judge in zip(STAGES, judges, strict=True):
            if judge.model is not None:
                await judge_by_batch(self.store, self.questions, partial(one, stage), self._courier(judge.model))

    async def _judged(
        self, question: Question, judges: tuple[Judge, Judge], askers: Mapping[str, SlotFiller]
    ) -> JudgedQuestion:
        """Judge one question; not at all if responses are missing, since more would change it, or none is usable."""
        n = min(self.settings.n, self._sizes.get(question.id, self.settings.n))
        responses, missing = read_responses(self.store.replies("respond", question.id), n, self.read)
        answers = [] if missing else usable_answers(responses)
        procedure = judge_question(question, answers, judges, which=self.settings.grade_classes)
        return await run_asking(procedure, self.store, askers)


def _silent(stage: str, steps: int) -> None:
    del stage, steps


class _Late:
    """Asks through a caller that is made when it is first asked: who has nothing to say needs no key."""

    def __init__(self, make: Callable[[], Caller]) -> None:
        self._make = make
        self._caller: Caller | None = None

    async def deliver(
        self, request: Request, slots: Sequence[Slot], judge_text: Callable[[str], str] | None = None
    ) -> list[StoredReply]:
        """Fill consecutive slots."""
        self._caller = self._caller or self._make()
        return await self._caller.deliver(request, slots, judge_text)


def _budget(store: Store, settings: Settings) -> Budget:
    """Cap a run by its settings; what earlier invocations spent counts."""
    if settings.max_cost is None and settings.max_total_tokens is None:
        return Budget()
    cost, tokens = spent_at_most(store, settings.price_list.of)
    return Budget(
        max_cost=settings.max_cost, max_total_tokens=settings.max_total_tokens, spent_cost=cost, spent_tokens=tokens
    )
