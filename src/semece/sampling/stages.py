"""The stages: for what is missing, ask and store; and the readings of what is stored.

``respond``, ``partition`` and ``grade`` ask; ``read_responses``, ``read_partition`` and ``read_grades`` only read.
A stage that is run again asks for what is still missing.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from semece.errors import ParseError
from semece.judges.alarms import alarms
from semece.judges.forms import Forms, assemble, distinct
from semece.judges.given import Given, GivenJudge, read_given
from semece.judges.llm import LLMJudge, retry_messages
from semece.models import Decoding, Request
from semece.records import Grade, Partition, Response
from semece.sampling.live_calls import in_parallel
from semece.store.keys import Asking, Keys, Slot, missing_slots, seed_base
from semece.store.run_store import FINAL

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence

    from semece.judges import RuleJudge
    from semece.models import Message
    from semece.prompts import ResponsePrompt
    from semece.records import Question, ResponseStatus, Verdict
    from semece.sampling.live_calls import Asker, Caller
    from semece.store.run_store import Store, StoredReply

    Judge = RuleJudge | LLMJudge | GivenJudge
    Progress = Callable[[str, int], None]

T = TypeVar("T")


class Missing(Exception):  # noqa: N818 - a state of the store, not an error of anybody
    """A judge's reply is not in the store yet."""


class Undelivered(ParseError):  # noqa: N818 - a state of the store too
    """A judge's reply came without a text (filtered, refused, cut short): asking again is not free and seldom helps.

    Parameters
    ----------
    status : str
        Why.
    """

    def __init__(self, status: str) -> None:
        super().__init__(f"the judge's reply was delivered without a text ({status})")
        self.status = status


async def respond(
    store: Store,
    asking: Asking,
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
    asking : Asking
        The model's name, prompt and options.
    questions : iterable of Question
        Which.
    n : int
        How many each.
    caller : Caller
        Who asks.
    progress : callable or None
        Called with ('respond', replies delivered).

    Raises
    ------
    ModelError, BudgetError
        Asking on would be useless; what was delivered is stored.
    """
    stored: set[bytes] = set()

    async def fill(question: Question, slots: Sequence[Slot]) -> None:
        if slots[0].request not in stored:
            store.add_request(asking.keys(question).body)
            stored.add(slots[0].request)
        seed = seed_base(asking.seed, question.id) + slots[0].index
        rows = await caller.deliver(Request(asking.prompt.messages(question), asking.decoding, seed=seed), slots)
        if progress:
            progress("respond", len(rows))

    def jobs() -> Iterator[Callable[[], Awaitable[None]]]:
        for question in questions:
            for run in missing_slots(store, asking, question, n):
                size = caller.model.max_choices
                for start in range(0, len(run), size):
                    yield partial(fill, question, run[start : start + size])

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
    reading = prompt.read(reply.text)
    return Response(reply.question_id, reply.index, reply.text, reading.answer, reading.confidence, reading.status)


class Ask:
    """How a judge's procedure asks its model: the store first, then the model, at most twice.

    Parameters
    ----------
    store, judge, stage, question_id : Store, LLMJudge, str, str
        For whom.
    caller : Asker or None
        None: only read; what is not stored raises :class:`Missing`.
    """

    def __init__(self, store: Store, judge: LLMJudge, stage: str, question_id: str, caller: Asker | None) -> None:
        self.store, self.judge, self.stage, self.question_id, self.caller = store, judge, stage, question_id, caller
        self._judge_id = judge.id
        self._rows: dict[bytes, list[StoredReply]] | None = None

    async def __call__(
        self,
        messages: tuple[Message, ...],
        *,
        schema: Mapping[str, Any] | None,
        read: Callable[[str], T],
        index: int,
    ) -> T:
        """Return the reading of the stored or fresh reply.

        Raises
        ------
        ParseError
            Two replies could not be read, or the provider delivered none that can be.
        Missing
            Nothing is stored and there is nobody to ask.
        """
        decoding = Decoding(0.0, None, self.judge.max_tokens, schema=schema)
        keys = Keys(self.stage, self.question_id, self._judge_id, messages, decoding)
        fault: ParseError | None = None
        for row in tuple(self._stored(keys[index])):
            if row.status in FINAL:
                raise Undelivered(row.status)
            if row.status in {"ok", "unparseable"}:
                try:
                    return read(row.text)
                except ParseError as error:
                    fault = error
                    self.store.demote(row.key) if self.caller else None
        if self.caller is None:
            raise fault or Missing
        return await self._fresh(messages, decoding, keys, read, index)

    def _stored(self, key: bytes) -> list[StoredReply]:
        """Give the replies under a key; those of the question are read once, and what comes is added."""
        if self._rows is None:
            self._rows = {}
            for row in self.store.replies(self.stage, self.question_id):
                self._rows.setdefault(row.key, []).append(row)
        return self._rows.setdefault(key, [])

    async def _fresh(
        self, messages: tuple[Message, ...], decoding: Decoding, keys: Keys, read: Callable[[str], T], index: int
    ) -> T:
        if self.caller is None:
            raise Missing
        request = self.store.add_request(keys.body)
        slot = Slot(keys[index], self.stage, self.question_id, index, self._judge_id, request)
        fault, asked = "", messages
        for _ in range(2):
            rows = await self.caller.deliver(Request(asked, decoding), [slot], partial(_readable, read))
            if not rows:
                raise Missing
            self._stored(slot.key).extend(rows)
            if rows[0].status in FINAL:
                raise Undelivered(rows[0].status)
            try:
                return read(rows[0].text)
            except ParseError as error:
                fault = str(error)
                asked = retry_messages(messages, rows[0].text, fault)
        raise ParseError(fault)


def _readable(read: Callable[[str], object], text: str) -> str:
    try:
        read(text)
    except ParseError:
        return "unparseable"
    return "ok"


def usable_answers(responses: Sequence[Response]) -> list[str]:
    """List the answers that count towards M, in index order."""
    return [response.answer for response in responses if response.usable]


async def partition(
    store: Store, judge: Judge, question: Question, responses: Sequence[Response], caller: Asker | None = None
) -> Partition:
    """Group the usable responses of one question by meaning.

    Parameters
    ----------
    store, judge : Store, Judge
        Where a model's replies rest, and who judges.
    question, responses : Question, sequence of Response
        What is grouped.
    caller : Asker or None
        Who asks the judge's model; None reads only what is stored.

    Returns
    -------
    Partition
        Of the usable responses.

    Raises
    ------
    ParseError
        The judge gave no valid partition.
    Missing
        The judge's reply is not there.
    """
    if isinstance(judge, GivenJudge):
        answers = usable_answers(responses)
        each = Forms(tuple(answers), tuple(range(len(answers))))
        return assemble(question.id, answers, each, given(store, question.id).labels, judge=judge.id)
    answers = usable_answers(responses)
    forms = distinct(answers)
    if isinstance(judge, LLMJudge):
        found = await judge.partition(question, forms.strings, Ask(store, judge, "partition", question.id, caller))
    else:
        found = judge.partition(question, forms.strings)
    return assemble(question.id, answers, forms, found, judge=judge.id)


def given(store: Store, question_id: str) -> Given:
    """Read the labels and grades that came with the samples of a question.

    Raises
    ------
    ParseError
        None came.
    """
    rows = [row for row in store.replies("partition", question_id) if row.judge == GivenJudge.id]
    if not rows:
        raise ParseError(f"no labels came with question {question_id!r}")
    body = json.loads(rows[-1].text)
    return read_given(body["labels"], body.get("grades"), n=len(body["labels"]))


def classes_to_grade(classes: Partition, which: str) -> list[int]:
    """List the labels that need a verdict: all, or only the most frequent ones (``which='mode'``)."""
    if which == "all":
        return list(range(len(classes.representatives)))
    counts = [classes.labels.count(label) for label in range(len(classes.representatives))]
    return [label for label, count in enumerate(counts) if count == max(counts)]


async def grade(
    store: Store,
    judge: Judge,
    question: Question,
    classes: Partition,
    *,
    which: str = "all",
    caller: Asker | None = None,
    missing: list[int] | None = None,
    faults: list[ParseError | Missing] | None = None,
) -> tuple[Grade, ...]:
    """Grade each class once, by its most frequent surface form.

    A class of non-answers is ``not_attempted`` without asking. A class without a valid verdict has no grade; a
    question without references has none.

    Parameters
    ----------
    store, judge, question, classes
        As in :func:`partition`.
    which : {'all', 'mode'}
        Which classes.
    caller : Asker or None
        Who asks; None reads only what is stored.
    missing : list of int, optional
        Labels whose verdict another invocation may still get are appended.
    faults : list of ParseError or Missing, optional
        Why there is no verdict is appended, for each label that has none.

    Returns
    -------
    tuple of Grade
        By label.
    """
    grades = []
    known = given(store, question.id).grades if isinstance(judge, GivenJudge) else {}
    grader = Ask(store, judge, "grade", question.id, caller) if isinstance(judge, LLMJudge) else judge
    for label in classes_to_grade(classes, which):
        if isinstance(grader, GivenJudge):
            verdict = known.get(label)
        else:
            try:
                verdict = await _verdict(grader, question, classes.representatives[label])
            except (ParseError, Missing) as error:
                verdict = None
                if faults is not None:
                    faults.append(error)
                if missing is not None and not isinstance(error, Undelivered):
                    missing.append(label)
        if verdict is not None:
            grades.append(Grade(question.id, label, verdict))
    return tuple(grades)


async def _verdict(grader: RuleJudge | Ask, question: Question, answer: str) -> Verdict | None:
    if not answer:
        return "not_attempted"
    if not question.references:
        return None
    if isinstance(grader, Ask):
        return await grader.judge.grade(question, answer, grader)
    return grader.grade(question, answer)


def alarms_of(question: Question, classes: Partition, grades: Sequence[Grade]) -> tuple[str, ...]:
    """List what deserves a look in the classes and grades of one question."""
    verdicts = {grade.label: grade.verdict for grade in grades}
    return alarms(question, classes.representatives, [verdicts.get(k) for k in range(len(classes.representatives))])


def at_once(stage: Coroutine[Any, Any, T]) -> T:
    """Run a stage that has nobody to ask, and so never waits, outside an event loop."""
    try:
        stage.send(None)
    except StopIteration as end:
        return cast("T", end.value)
    raise AssertionError("a stage without a caller must not wait")
