"""A judge on answers that people have judged: what it says of them, and how often it is wrong."""

from __future__ import annotations

from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from semece.errors import ParseError, SemeceError, StoreError, meant
from semece.judges import STAGES, Missing, Undelivered, distinct, open_judges, row_of
from semece.records import Partition
from semece.runs import Shortfall, shortfall_of
from semece.sampling import Callers, CallSettings, Connections, check_options, in_parallel, run_asking, silent
from semece.store import Store, set_failed_aside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.compare.labelled_files import GradedAnswer, Labelled
    from semece.judges import Judge, Procedure
    from semece.records import Question, Verdict
    from semece.sampling import Caller, Progress, SlotFiller

SOURCE = "judge-eval"
"""What a file of a judge's replies says of itself."""

LENGTHS: dict[str, int | None] = {"up to 2 words": 2, "3 to 8 words": 8, "9 to 30 words": 30, "over 30 words": None}
"""Groups of answers by their length: name and most words."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a judge says of labelled answers.

    Parameters
    ----------
    judge : str
        Its spelling.
    verdicts : tuple of str or None
        One per graded answer; None where it gave no valid verdict.
    classes : tuple of (tuple of int) or None
        One partition per row of grouped answers; None where it gave no valid one.
    pairs : dict of str to (tuple of int) or None
        The classes of all graded answers of a question, by its id, if they were asked for.
    shortfall : Shortfall or None
        Which different verdicts and partitions are not there, and why; None for a judge that is no model.
    """

    judge: str
    verdicts: tuple[Verdict | None, ...]
    classes: tuple[tuple[int, ...] | None, ...]
    pairs: dict[str, tuple[int, ...] | None]
    shortfall: Shortfall | None = field(default=None, compare=False)

    @property
    def missing(self) -> int:
        """Different verdicts and partitions that another call may still get."""
        return 0 if self.shortfall is None else self.shortfall.missing


async def evaluate_judge(
    labelled: Labelled,
    judge: str,
    *,
    store: str | Path | Store | None = None,
    pairs: bool = False,
    progress: Progress | None = None,
    calls: CallSettings | None = None,
) -> Evaluation:
    """Let a judge judge labelled answers.

    It is asked as in a run: each answer of a question once, a non-answer not at all.

    Parameters
    ----------
    labelled : Labelled
        From :func:`semece.compare.labelled_files.read_labelled`.
    judge : str
        ``rules``, ``exact``, or a model's spelling.
    store : str, Path or Store, optional
        Where the replies of a model rest; what is there is not asked again. None: only in memory.
    pairs : bool
        Whether the graded answers of a question are grouped too.
    progress : callable, optional
        Called with ('judge', steps done); first with a negative number for all steps.
    calls : CallSettings, optional
        How a model is asked; ``retry_failed`` asks again where a reply came without a text.

    Returns
    -------
    Evaluation

    Raises
    ------
    SemeceError
        The judge cannot judge, a cap was reached, or the file holds something else; what was delivered is stored.

    Examples
    --------
    >>> import asyncio
    >>> from semece.compare.labelled_files import Labelled, graded_from
    >>> row = {"question": "Capital of France?", "gold": ["Paris"], "answer": "the city of Paris", "correct": True}
    >>> asyncio.run(evaluate_judge(Labelled((graded_from(row, "here"),), ()), "rules")).verdicts
    ('correct',)
    """
    judges = open_judges(judge, judge)
    if row_of(judge).came_with_samples:
        raise SemeceError("the judge given says what a file says: measure rules, exact or a model")
    tasks = _Tasks(labelled, pairs=pairs)
    asked = judges[0].model
    how = calls or CallSettings()
    if asked:
        check_options(how)
    questions = list({question.id: question for question in tasks.questions.values()}.values())
    async with aclosing(Connections(how, asked or SOURCE, questions)) as connections:
        if asked and not isinstance(store, Store) and (store is None or not Path(store).exists()):  # noqa: ASYNC240 - at the start
            connections.open(asked)  # one that cannot be used leaves no file
        with _opened(store if asked else None) as opened:
            if asked and how.retry_failed:
                connections.open(asked)  # before anything is set aside
                _set_aside(opened, judges, questions)
            bench = _Bench(opened, *judges, tasks.questions)
            for key in tasks.questions:
                await bench.judge(key, None)
            if asked and bench.left:
                opened.add_questions(enumerate(questions))
                await _ask(bench, Callers(opened, connections).caller(asked), progress or silent)
            shortfall = bench.shortfall() if asked else None
    return Evaluation(
        judges[0].name,
        tuple(bench.verdicts[key] for key in tasks.graded),
        tuple(bench.classes[key] for key in tasks.grouped),
        {key.question_id: bench.classes[key] for key in tasks.pairs},
        shortfall,
    )


def _set_aside(store: Store, judges: tuple[Judge, Judge], questions: Sequence[Question]) -> None:
    """Make room to ask again where a reply came without a text."""
    for (stage, judge), question in product(zip(STAGES, judges, strict=True), questions):
        set_failed_aside(store, question.id, stage, judge.id)


class _Key(NamedTuple):
    """One answer to be graded, or the answers of one question to be grouped; equal ones are judged once."""

    stage: str
    question_id: str
    references: tuple[str, ...]
    answers: tuple[str, ...]


class _Tasks:
    """What there is to be judged: keys in the order of the rows, and their questions."""

    def __init__(self, labelled: Labelled, *, pairs: bool) -> None:
        self.questions: dict[_Key, Question] = {}
        self.graded = [self._key("grade", row.question, [row.answer]) for row in labelled.graded]
        self.grouped = [self._key("partition", row.question, row.answers) for row in labelled.grouped]
        groups = answers_of_questions(labelled).values() if pairs else ()
        rows = labelled.graded
        self.pairs = [
            self._key("partition", rows[places[0]].question, [rows[i].answer for i in places]) for places in groups
        ]

    def _key(self, stage: str, question: Question, answers: Sequence[str]) -> _Key:
        key = _Key(stage, question.id, question.references, tuple(answer.strip() for answer in answers))
        self.questions.setdefault(key, question)
        return key


def answers_of_questions(labelled: Labelled) -> dict[str, list[int]]:
    """Give the places of the graded answers of each question; one on which people differ in an audit stands once."""
    found: dict[str, list[int]] = {}
    seen: set[tuple[str, str]] = set()
    for place, row in enumerate(labelled.graded):
        known = row.weight is not None and (row.question.id, row.answer) in seen
        seen.add((row.question.id, row.answer))
        if not known:
            found.setdefault(row.question.id, []).append(place)
    return found


class _Bench:
    """The judges at work on what there is to be judged."""

    def __init__(
        self, store: Store, partition_judge: Judge, grade_judge: Judge, questions: dict[_Key, Question]
    ) -> None:
        self.store, self.partition_judge, self.grade_judge = store, partition_judge, grade_judge
        self.questions = questions
        self.verdicts: dict[_Key, Verdict | None] = {}
        self.classes: dict[_Key, tuple[int, ...] | None] = {}
        self.faults: dict[_Key, ParseError | Missing] = {}

    @property
    def left(self) -> list[_Key]:
        """What has no valid verdict or partition yet; a reply that was delivered without a text is not asked again."""
        faults = self.faults
        return [key for key in self.questions if key in faults and not isinstance(faults[key], Undelivered)]

    def shortfall(self) -> Shortfall:
        """Say what is not there, and why."""
        judges = self.partition_judge.id, self.grade_judge.id
        self.store.flush()
        return shortfall_of(self.partition_judge.name, self.faults.values(), self.store.last_failure(judges))

    async def judge(self, key: _Key, caller: SlotFiller | None) -> None:
        """Judge one thing; without a caller only from what is stored."""
        self.faults.pop(key, None)
        told: dict[_Key, Any] = self.verdicts if key.stage == "grade" else self.classes
        procedure = self._grade(key) if key.stage == "grade" else self._group(key)
        try:
            told[key] = await run_asking(procedure, self.store, {key.stage: caller} if caller else {})
        except (ParseError, Missing) as fault:
            told[key], self.faults[key] = None, fault

    def _grade(self, key: _Key) -> Procedure[Verdict | None]:
        question, answer = self.questions[key], key.answers[0]
        alone = Partition(question.id, (0,), (answer if distinct([answer]).strings else "",), self.grade_judge.id)
        return self.grade_judge.verdict(question, alone, 0)

    def _group(self, key: _Key) -> Procedure[tuple[int, ...]]:
        return (yield from self.partition_judge.classes(self.questions[key], key.answers)).labels


async def _ask(bench: _Bench, caller: Caller, progress: Progress) -> None:
    """Ask a model for what is left."""
    left = bench.left
    progress("judge", -len(left))

    async def one(key: _Key) -> None:
        await bench.judge(key, caller)
        progress("judge", 1)

    await in_parallel((partial(one, key) for key in left), caller.pace.concurrency)


@contextmanager
def _opened(store: str | Path | Store | None) -> Iterator[Store]:
    """Open a file of a judge's replies for writing, or one in memory."""
    if isinstance(store, Store):
        yield store
        store.flush()
        return
    with Store(":memory:" if store is None else store, write=True) as opened:
        if opened.meta("identity") is not None and opened.meta("source") != SOURCE:
            raise StoreError(f"{store} holds a run; write the judge's replies to another file with -o")
        opened.set_meta("source", SOURCE)
        opened.set_meta("identity", {"model": SOURCE, "dataset": SOURCE})
        yield opened


def verdict_rows(labelled: Labelled, evaluation: Evaluation, *, by: str | None = None) -> pl.DataFrame:
    """Lay people's and the judge's verdicts side by side.

    Parameters
    ----------
    labelled, evaluation : Labelled, Evaluation
        The answers and what the judge says of them.
    by : str, optional
        A field of the rows to group by, such as ``system``; None groups by the length of the answer.

    Returns
    -------
    polars.DataFrame
        One row per graded answer: ``group``, ``question_id``, ``question``, ``references``, ``answer``, ``people``
        (whether they call it correct), ``verdict`` (null: none was given), ``line``, ``weight`` and ``stratum`` of an
        answer that was drawn in an audit, else null.

    Raises
    ------
    ParseError
        If a row has no such field.
    """
    columns: dict[str, Any] = {"group": pl.String, "question_id": pl.String, "question": pl.String}
    columns |= {"references": pl.List(pl.String), "answer": pl.String, "people": pl.Boolean, "verdict": pl.String}
    rows: list[tuple[Any, ...]] = []
    for row, group, verdict in zip(labelled.graded, groups_of(labelled, by), evaluation.verdicts, strict=True):
        q = row.question
        rows.append((group, q.id, q.text, list(q.references), row.answer, row.correct, verdict, row.line))
        rows[-1] += (row.weight, row.stratum)
    columns |= {"line": pl.Int64, "weight": pl.Float64, "stratum": pl.String}
    return pl.DataFrame(rows, schema=columns, orient="row")


def groups_of(labelled: Labelled, by: str | None = None) -> list[str]:
    """Give the group of each graded answer: its length, or a field of its row.

    Raises
    ------
    ParseError
        If a row has no such field.
    """
    return [_length(row.answer) if by is None else _field(row, by) for row in labelled.graded]


def _length(answer: str) -> str:
    words = len(answer.split())
    return next(name for name, most in LENGTHS.items() if most is None or words <= most)


def _field(row: GradedAnswer, name: str) -> str:
    fields = row.question.metadata
    if name not in fields:
        near = meant(name, fields)
        raise ParseError(f"line {row.line} has no field {name!r}{near} to group by; it has {', '.join(sorted(fields))}")
    return str(fields[name])
