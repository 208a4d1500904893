"""The stages of a job: missing responses are drawn, then the judges say what they have not said; all of it is stored.

A stage that is done again asks for what is still missing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, cast

from semece.errors import ModelError, plural
from semece.judges import STAGES, JudgedQuestion, judge_question, models_of
from semece.prompts import Scale
from semece.records import Response
from semece.sampling.batch.batch_stages import chunked, judge_by_batch, respond_by_batch
from semece.sampling.connections import Callers, Connections
from semece.sampling.job import check_identity
from semece.sampling.judge_calls import run_asking
from semece.sampling.live_calls import in_parallel
from semece.sampling.pace import Pace
from semece.sampling.request_templates import P, RequestTemplate, missing_slots
from semece.store import Slot, Store, set_failed_aside

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from semece.judges import Judge
    from semece.prompts import ResponsePrompt
    from semece.records import Question, ResponseStatus
    from semece.sampling.budget import Budget
    from semece.sampling.job import Job
    from semece.sampling.live_calls import Caller, SlotFiller
    from semece.store import StoredReply

Progress = Callable[[str, int], None]
"""Told the name of a stage and steps done; first a negative number for all of them."""


async def respond(
    store: Store,
    template: RequestTemplate[P],
    questions: Iterable[Question],
    n: int,
    caller: Caller,
    *,
    progress: Progress | None = None,
) -> None:
    """Draw the responses that are missing.

    Parameters
    ----------
    store : Store
        The run file, open for writing.
    template : RequestTemplate
        The model's name, prompt and options.
    questions : iterable of Question
        Which.
    n : int
        How many each.
    caller : Caller
        Who asks.
    progress : callable or None
        Called with (the template's stage, replies delivered).

    Raises
    ------
    ModelError, BudgetError
        Asking on would be useless; what was delivered is stored.
    """
    stored: set[bytes] = set()

    async def fill(question: Question, slots: Sequence[Slot]) -> None:
        if slots[0].request not in stored:
            store.add_request(template.keys(question).body)
            stored.add(slots[0].request)
        rows = await caller.deliver(template.request(question, slots[0].index), slots)
        if progress:
            progress(template.stage, len(rows))

    def jobs() -> Iterator[Callable[[], Awaitable[None]]]:
        for question in questions:
            for slots in chunked(missing_slots(store, template, question, n), lambda: caller.model.max_choices):
                yield partial(fill, question, slots)

    await in_parallel(jobs(), caller.pace.concurrency)


def read_responses(
    replies: Sequence[StoredReply], n: int, read: Callable[[StoredReply], Response]
) -> tuple[tuple[Response, ...], int]:
    """Read the stored replies of one question.

    Parameters
    ----------
    replies : sequence of StoredReply
        All rows of the question's respond stage.
    n : int
        Indices below n count.
    read : callable
        From a delivered row to a response.

    Returns
    -------
    tuple of Response, int
        The delivered responses by index, and how many of the n are missing.
    """
    delivered = {reply.index: reply for reply in replies if reply.delivered and reply.index < n}
    return tuple(read(delivered[index]) for index in sorted(delivered)), n - len(delivered)


def read_reply(prompt: ResponsePrompt, reply: StoredReply) -> Response:
    """Read one delivered reply with the prompt's own reading."""
    if reply.status != "ok":
        status = cast("ResponseStatus", reply.status)
        return Response(reply.question_id, reply.index, reply.text, "", None, status)
    found = prompt.read(reply.text)
    return Response(
        reply.question_id, reply.index, reply.text, found.answer, found.confidence, found.status, found.stated
    )


def scale_of(responses: Iterable[Response]) -> tuple[int, int]:
    """Count the confidences of a run that are stated in percents, and those that are decimals up to 1."""
    percents, decimals = Scale.of(response.stated for response in responses)
    return percents, decimals


def decided(response: Response, scale: tuple[int, int]) -> Response:
    """Read a confidence that is ambiguous alone, such as a bare 1, as the others of its run say.

    Examples
    --------
    >>> response = Response("q", 0, "Answer: Oslo, Confidence: 1", "Oslo", None, "parsed", "1")
    >>> decided(response, (0, 8)).confidence, decided(response, (8, 0)).confidence, decided(response, (4, 4)).confidence
    (1.0, 0.01, None)
    """
    if response.confidence is not None or not response.stated:
        return response
    return replace(response, confidence=Scale(*scale).read(response.stated))


def usable_answers(responses: Sequence[Response]) -> list[str]:
    """List the answers that count towards M, in index order."""
    return [response.answer for response in responses if response.usable]


@dataclass(frozen=True, slots=True)
class ResponseStage(Generic[P]):
    """The first stage: responses; or replies to what is asked about them.

    Parameters
    ----------
    callers : Callers
        Who asks.
    template, questions, n : RequestTemplate, list of Question, int
        What is asked, and how often.
    progress : callable
        Called with (the template's stage, steps done); first with a negative number for all steps.
    """

    callers: Callers
    template: RequestTemplate[P]
    questions: list[Question]
    n: int
    progress: Progress

    def count_missing(self, question: Question) -> int:
        """Count the responses that a question lacks."""
        return sum(map(len, missing_slots(self.callers.store, self.template, question, self.n)))

    async def do(self) -> int:
        """Draw what is missing, and count what still is; opens no model if nothing is."""
        callers, store, stage = self.callers, self.callers.store, self.template.stage
        if callers.calls.retry_failed:
            for question in self.questions:
                set_failed_aside(store, question.id, stage)
        missing = {q.id: self.count_missing(q) for q in self.questions}
        todo = [q for q in self.questions if missing[q.id]]
        self.progress(stage, -self.n * len(self.questions))
        self.progress(stage, self.n * len(self.questions) - sum(missing.values()))
        if not todo:
            return 0
        if callers.calls.batch:
            courier = callers.courier(self.template.model, partial(self.progress, stage))
            await respond_by_batch(store, self.template, todo, self.n, courier)
        else:
            caller = callers.caller(self.template.model)
            await respond(store, self.template, todo, self.n, caller, progress=self.progress)
        return sum(map(self.count_missing, todo))


@dataclass(frozen=True, slots=True)
class JudgeStage:
    """The second stage: the judges group and grade. Only a judge that is a model has to be asked.

    Parameters
    ----------
    callers : Callers
        Who asks.
    questions : list of Question
        Which.
    judges : tuple of Judge
        Who groups, and who grades.
    answers : callable
        From a question to its usable answers; none while responses are missing, since more would change the classes.
    grade_classes : {'all', 'mode'}
        Which classes are graded.
    progress : callable
        Called with ('judge', questions done); first with a negative number for all.
    """

    callers: Callers
    questions: list[Question]
    judges: tuple[Judge, Judge]
    answers: Callable[[Question], list[str]]
    grade_classes: str
    progress: Progress

    async def is_left(self) -> bool:
        """Whether the judges have still something to say."""
        for question in self.questions:
            if (await self._judged(question, {})).lacking:
                return True
        return False

    async def do(self) -> int:
        """Let the judges say what they have not said; count what they may still say."""
        models, calls = models_of(self.judges), self.callers.calls
        if not models:
            return 0
        if calls.retry_failed:
            self._set_aside(models)
        askers: dict[str, SlotFiller] = {}
        if calls.batch:
            if self.callers.under_way(models) or await self.is_left():
                await self._by_batch()
        else:
            late = {spelling: self.callers.late(spelling) for spelling in models}
            askers = {stage: late[judge.model] for stage, judge in self._pairs() if judge.model is not None}
        self.progress("judge", -len(self.questions))
        lacking = 0

        async def one(question: Question) -> None:
            nonlocal lacking
            judged = await self._judged(question, askers)  # others count while this waits
            lacking += judged.lacking
            self.progress("judge", 1)

        await in_parallel(
            (partial(one, question) for question in self.questions), Pace.of(calls.concurrency).concurrency
        )
        return lacking

    def _pairs(self) -> Iterable[tuple[str, Judge]]:
        return zip(STAGES, self.judges, strict=True)

    def _set_aside(self, models: Iterable[str]) -> None:
        """Make room to ask again where a judge's reply came without a text, if it can be asked."""
        for spelling in models:
            self.callers.connections.open(spelling)
        for stage, judge in self._pairs():
            for question in self.questions:
                set_failed_aside(self.callers.store, question.id, stage, judge.id)

    async def _by_batch(self) -> None:
        """Ask the judges in batches: all partitions first, since the grades depend on them."""

        async def one(stage: str, question: Question, asker: SlotFiller) -> None:
            await self._judged(question, {stage: asker})

        for stage, judge in self._pairs():
            if judge.model is not None:
                courier = self.callers.courier(judge.model)
                await judge_by_batch(self.callers.store, self.questions, partial(one, stage), courier)

    async def _judged(self, question: Question, askers: Mapping[str, SlotFiller]) -> JudgedQuestion:
        procedure = judge_question(question, self.answers(question), self.judges, which=self.grade_classes)
        return await run_asking(procedure, self.callers.store, askers)


def stored_answers(store: Store, n: int, read: Callable[[StoredReply], Response]) -> Callable[[Question], list[str]]:
    """Give the usable answers of a question of a run file; none while one of its n responses is missing."""
    sizes: dict[str, int] = (store.meta("view") or {}).get("sizes", {})

    def answers(question: Question) -> list[str]:
        wanted = min(n, sizes.get(question.id, n))
        responses, missing = read_responses(store.replies("respond", question.id), wanted, read)
        return [] if missing else usable_answers(responses)

    return answers


@dataclass(frozen=True, slots=True)
class Outcome:
    """What :func:`make_run` leaves.

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

    @property
    def left(self) -> str:
        """Say how many replies are missing, and why."""
        last = "" if self.last_failure is None else f" (the last failure: {self.last_failure})"
        return f"{plural(self.missing, 'reply', 'is')} missing{last}"


async def make_run(job: Job, *, progress: Progress | None = None, budget: Budget | None = None) -> Outcome:
    """Do what is missing of a job: respond, partition, grade.

    Parameters
    ----------
    job : Job
        What to do.
    progress : callable, optional
        Called with (stage, steps done): ``('respond', 8)``; first with a negative number for the steps of a stage.
    budget : Budget, optional
        Caps that several runs share, with what was spent on them before; None: the caps of the job.

    Returns
    -------
    Outcome
        With what is still missing: run again for it.

    Raises
    ------
    SemeceError
        Something a person must change; what was delivered is stored.
    """
    judging = models_of(job.judges)
    async with aclosing(Connections(job.calls, job.model, job.questions, own=job.own)) as connections:
        if not job.begun:
            for spelling in (job.model, *judging):
                connections.open(spelling)  # one that cannot be used leaves no file
        with _opened(job.path, lock=not job.calls.no_lock) as store:
            check_identity(store, job.identity)
            callers, shown = Callers(store, connections, budget), progress or silent
            responses = ResponseStage(callers, job.template, job.questions, job.n, shown)
            answers = stored_answers(store, job.n, partial(read_reply, job.template.prompt))
            verdicts = JudgeStage(callers, job.questions, job.judges, answers, job.grade_classes, shown)
            await callers.collect()
            await _prepare(job, responses, verdicts)
            store.add_questions(job.chosen)
            for name, value in (job.told | {"view": job.view}).items():
                store.set_meta(name, value)
            missing = await responses.do() + await verdicts.do()
            callers.note_paces()
            return Outcome(store.path, missing, store.last_failure() if missing else None)


@contextmanager
def _opened(path: str | Path | Store, *, lock: bool) -> Iterator[Store]:
    """Open a run file for writing; a store that is open already stays so."""
    if isinstance(path, Store):
        yield path
        path.flush()
    else:
        with Store(path, write=True, lock=lock) as store:
            yield store


async def _prepare(job: Job, responses: ResponseStage[ResponsePrompt], verdicts: JudgeStage) -> None:
    """Open what will be asked, before another view is written or a reply set aside: a refusal changes nothing.

    Raises
    ------
    ModelError
        Something that will be asked cannot be used.
    """
    connections, again = responses.callers.connections, job.calls.retry_failed
    if responses.callers.store.meta("view") == job.view and not again and not models_of(job.judges):
        return
    asks = again or any(map(responses.count_missing, job.questions))
    if asks:
        connections.open(job.model)
    for spelling in models_of(job.judges):
        try:
            connections.open(spelling)
        except ModelError:  # a finished run needs no key
            if asks or await verdicts.is_left():
                raise


def silent(stage: str, steps: int) -> None:
    """Show no progress."""
    del stage, steps
