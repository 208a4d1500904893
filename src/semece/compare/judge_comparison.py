"""Several judges of one run: those that have not judged it are asked, and each pair is compared."""

from __future__ import annotations

import shlex
from collections import Counter
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semece.errors import ParseError, SemeceError
from semece.judges import (
    ALWAYS,
    Missing,
    Undelivered,
    is_hedged,
    judge_question,
    open_judge,
    open_judges,
    row_of,
    spelling_of,
)
from semece.records import ALARM_KINDS
from semece.runs import (
    Run,
    Shortfall,
    given_scores,
    quantities,
    row_of_run,
    score_names,
    shortfall_of,
    spread_all,
    spread_columns,
)
from semece.sampling import (
    Callers,
    CallSettings,
    Connections,
    JudgeStage,
    check_options,
    silent,
    stored_answers,
    usable_answers,
)
from semece.stats import (
    CHANGE,
    JudgedRun,
    frame,
    grading_quality,
    hedging_bracket,
    index_rows,
    judge_agreement,
    partition_agreement,
)
from semece.store import Store, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from semece.runs import QuestionView
    from semece.sampling import Progress


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two judges of one run.

    Parameters
    ----------
    judges : tuple of str
        Their names.
    questions : int
        How many have classes under both judges.
    table : polars.DataFrame
        Per ``quantity``: ``questions``, ``first``, ``second``, ``change`` with ``change_low`` and ``change_high``,
        ``reason``: agreement of the classes, then classes, accuracy, confidences and their ECEs under each judge and
        the paired change (:func:`semece.stats.diagnostics.judge_agreement`).
    hedging : polars.DataFrame
        Per ``judge`` the rows of :func:`semece.stats.diagnostics.hedging_bracket`; empty if nothing is graded.
    alarms : polars.DataFrame
        ``judge``, ``question_id``, ``kind``, ``text``: what deserves a look.
    changed : polars.DataFrame
        Questions on which the judges differ: ``question_id``, ``text``, ``adjusted_rand``, ``same_mode``,
        ``first_correct``, ``second_correct``; the least alike first.
    left_out : dict of str to int
        How many questions do not enter, by the reason.
    """

    judges: tuple[str, str]
    questions: int
    table: pl.DataFrame
    hedging: pl.DataFrame
    alarms: pl.DataFrame
    changed: pl.DataFrame
    left_out: dict[str, int] = field(default_factory=dict)

    def alarm_counts(self) -> dict[str, dict[str, int]]:
        """Count the questions with an alarm, by judge and kind."""
        seen = {(judge, kind, question) for judge, question, kind, _ in self.alarms.iter_rows()}
        counts = Counter((judge, kind) for judge, kind, _ in seen)
        return {judge: {kind: counts[judge, kind] for kind in ALARM_KINDS} for judge in self.judges}


async def ask_judges(
    path: str | Path | Store,
    judges: Sequence[str],
    *,
    progress: Progress | None = None,
    calls: CallSettings | None = None,
) -> int:
    """Let judges that are models judge a run where they have not yet; the run's own judge stays what it is.

    Parameters
    ----------
    path : str, Path or Store
        The run file, or a store open for writing.
    judges : sequence of str
        Spellings; the others need no asking.
    progress : callable, optional
        Called with ('judge', steps done); first with a negative number for all steps.
    calls : CallSettings, optional
        How they are asked; ``retry_failed`` asks again where a reply came without a text.

    Returns
    -------
    int
        Verdicts and partitions that are still missing; :func:`judge_shortfall` says why.

    Raises
    ------
    SemeceError
        A judge cannot be asked, or a cap was reached; what was delivered is stored.
    """
    missing, asked = 0, calls or CallSettings()
    for judge in dict.fromkeys(judges):
        with _opened(path) as store:
            left = _left(store, judge, anew=asked.retry_failed)
        if left:
            with _opened(path, write=True) as store:
                missing += await _ask(store, judge, left, progress, asked)
    return missing


def check_judged(run: Run, judge: str) -> None:
    """Refuse a judge that has said nothing of a run: tables would be empty.

    Parameters
    ----------
    run : Run
        A run file, read under this judge.
    judge : str
        Its spelling; ``rules`` and ``exact`` need no replies.

    Raises
    ------
    SemeceError
        Naming the judges that have, and the command that asks this one.
    """
    groups, grades = open_judges(judge, judge, prompt=run.settings().judge_prompt)
    if groups.model is None and not row_of(judge).came_with_samples:
        return
    with Store(run.path) as store:
        grouped, graded = store.judges("partition"), store.judges("grade")
    if groups.id in grouped:
        return
    if grades.id in graded and all(v.partition for v in run.question_views() if v.estimate.n_responses):
        return  # one answer alone needs no judge to be grouped
    known = [*sorted(ALWAYS), *sorted(filter(None, map(spelling_of, grouped)))]
    ask = f"to ask it: {shlex.join(['semece', 'compare', run.path, '--judges', 'rules', judge])}"
    if row_of(judge).came_with_samples:
        ask = "labels and grades come with samples: semece score"
    raise SemeceError(f"{judge} has not judged {run.path}, but {', '.join(known[:-1])} and {known[-1]} have; {ask}")


@contextmanager
def _opened(path: str | Path | Store, *, write: bool = False) -> Iterator[Store]:
    """Open a run file; a store that is open already stays so."""
    if isinstance(path, Store):
        yield path
    else:
        with Store(path, write=write) as store:
            yield store


def _left(store: Store, judge: str, *, anew: bool) -> list[str]:
    """List the questions of which a model has still something to say; a judge that is none leaves none.

    Parameters
    ----------
    anew : bool
        Whether replies without a text leave something to say.
    """
    run = Run(store, judge=judge)
    left = [view.question.id for view in run.question_views() if view.lacking]
    if anew:
        left += [name for name, fault in _faults(store, run, judge) if isinstance(fault, Undelivered)]
    return list(dict.fromkeys(left))


def judge_shortfall(path: str | Path | Store, judge: str) -> Shortfall | None:
    """Say what a judge left without a verdict or a partition, and why.

    Parameters
    ----------
    path : str, Path or Store
        The run file, or a store that is open.
    judge : str
        Its spelling.

    Returns
    -------
    Shortfall or None
        None for a judge that is no model.
    """
    with _opened(path) as store:
        run = Run(store, judge=judge)
        groups, grades = open_judges(judge, judge, prompt=run.settings().judge_prompt)
        if groups.model is None:
            return None
        faults = (fault for _, fault in _faults(store, run, judge))
        return shortfall_of(groups.name, faults, store.last_failure((groups.id, grades.id)))


def _faults(store: Store, run: Run, judge: str) -> Iterator[tuple[str, ParseError | Missing]]:
    """Give why a model has not given a verdict or a partition, for each, with the question's id."""
    settings = run.settings()
    judges = open_judges(judge, judge, prompt=settings.judge_prompt)
    for view in run.question_views() if judges[0].model is not None else ():
        if not view.missing:
            answers, which = usable_answers(view.responses), settings.grade_classes
            judged = read_stored(judge_question(view.question, answers, judges, which=which), store)
            yield from ((view.question.id, fault) for fault in judged.faults.values())


async def _ask(store: Store, judge: str, ids: list[str], progress: Progress | None, calls: CallSettings) -> int:
    """Let a model judge some questions; give what is still missing."""
    run = Run(store, judge=judge)
    judges = open_judges(judge, judge, prompt=run.settings().judge_prompt)
    check_options(calls)
    questions, answers = list(store.questions(ids)), stored_answers(store, run.n, run.reader.read)
    async with aclosing(Connections(calls, judges[0].model or run.model, questions)) as connections:
        callers = Callers(store, connections)
        await callers.collect()
        which = run.settings().grade_classes
        return await JudgeStage(callers, questions, judges, answers, which, progress or silent).do()


def check_different(judges: Sequence[str]) -> None:
    """Refuse one judge under two spellings before it is asked.

    Parameters
    ----------
    judges : sequence of str
        Spellings.

    Raises
    ------
    SemeceError
        Two are of one judge.
    """
    ((name, times),) = Counter(open_judge(judge).name for judge in judges).most_common(1)
    if times > 1:
        raise _one_judge(name)


def _one_judge(name: str) -> SemeceError:
    return SemeceError(f"name two different judges to compare; got {name} twice")


def compare_judges(first: Run, second: Run) -> Comparison:
    """Compare two judges of one run.

    Parameters
    ----------
    first, second : Run
        The same run file, read under two judges: ``Run(path, judge=...)``.

    Returns
    -------
    Comparison
        Of the questions that have all their responses, and classes under both; the others are counted. Calibration is
        compared on those that are complete under both.

    Raises
    ------
    SemeceError
        If the judges are one, the runs are not, or no question has classes under both.
    """
    names = first.judge_names[0], second.judge_names[0]
    if first.path != second.path:
        raise SemeceError(f"judges are compared on one run; got {first.path} and {second.path}")
    if first.judge_names == second.judge_names:
        raise _one_judge(names[0])
    every = first.question_views(), second.question_views()
    views = list(zip(*every, strict=True))
    lacks = [_lack(a, b, names) for a, b in views]
    both = [pair for pair, lack in zip(views, lacks, strict=True) if not lack]
    if not both:
        raise SemeceError(f"no question of {first.path} has classes under both {names[0]} and {names[1]}")
    sides = [a for a, _ in both], [b for _, b in both]
    return Comparison(
        names,
        len(both),
        _table(*sides),
        _hedging(dict(zip(names, sides, strict=True))),
        _alarms(dict(zip(names, every, strict=True))),
        _changed(*sides),
        dict(Counter(filter(None, lacks))),
    )


def _lack(first: QuestionView, second: QuestionView, names: tuple[str, str]) -> str:
    """Say why a question cannot be compared; nothing if it can."""
    if first.missing:
        return "with responses missing"
    if not any(response.usable for response in first.responses):
        return "without a usable answer"
    by = [name for view, name in zip((first, second), names, strict=True) if view.partition is None]
    return f"without classes by {' and '.join(by)}" if by else ""


def _table(first: Sequence[QuestionView], second: Sequence[QuestionView]) -> pl.DataFrame:
    """Tabulate agreement and changes; only agreement if no question is graded under both."""
    complete = [a.estimate.status == b.estimate.status == "complete" for a, b in zip(first, second, strict=True)]
    if any(complete):
        judged = [_judged(side, complete) for side in (first, second)]
        names = {name: name in each.ranked for each in judged for name in (*each.scores, *each.ranked)}
        table = judge_agreement(*judged, quantities=quantities(given_scores(names)))
    else:
        alike = np.array([partition_agreement(_labels(a), _labels(b)) for a, b in zip(first, second, strict=True)])
        table = frame(index_rows(alike), {"quantity": str, **CHANGE})
    return table.rename({"low": "change_low", "high": "change_high"})


def _judged(views: Sequence[QuestionView], complete: Sequence[bool]) -> JudgedRun:
    """Give what the comparison needs of one judge; correctness only of questions that are complete under both."""
    correct = [v.estimate.correct if whole else None for v, whole in zip(views, complete, strict=True)]
    columns = {
        order: {name: [v.score(name) for v in views] for name, ranked in score_names(views).items() if ranked == order}
        for order in (False, True)
    }
    stated = [v.estimate.verbalized for v in views]
    return JudgedRun([_labels(v) for v in views], correct, stated, columns[False], columns[True])


def _labels(view: QuestionView) -> tuple[int, ...]:
    return view.partition.labels if view.partition else ()


def _hedging(sides: dict[str, list[QuestionView]]) -> pl.DataFrame:
    """Tabulate what hedged answers could change under each judge."""
    tables = []
    for name, views in sides.items():
        graded = [v for v in views if v.estimate.status == "complete"]
        if graded:
            hedged = [np.array([is_hedged(v.question, r.answer) for r in v.responses if r.usable]) for v in graded]
            table = hedging_bracket([_labels(v) for v in graded], hedged, [_correct(v) for v in graded])
            tables.append(table.insert_column(0, pl.lit(name).alias("judge")))
    return pl.concat(tables) if tables else pl.DataFrame()


def _correct(view: QuestionView) -> list[float | None]:
    """Give the correctness of each class; None where it is not graded."""
    verdicts = [view.grades.get(label) for label in range(view.estimate.n_classes)]
    return [None if verdict is None else float(verdict == "correct") for verdict in verdicts]


def _alarms(sides: dict[str, Sequence[QuestionView]]) -> pl.DataFrame:
    """List every alarm."""
    rows = [
        {"judge": name, "question_id": view.question.id, "kind": alarm.kind, "text": alarm.text}
        for name, views in sides.items()
        for view in views
        for alarm in view.alarms
    ]
    return frame(rows, {"judge": str, "question_id": str, "kind": str, "text": str})


def _changed(first: Sequence[QuestionView], second: Sequence[QuestionView]) -> pl.DataFrame:
    """List the questions whose classes or deployed answer's correctness differ, the least alike first."""
    schema = {"question_id": str, "text": str, "adjusted_rand": float, "same_mode": bool}
    table = frame(_differences(first, second), schema | {"first_correct": float, "second_correct": float})
    return table.sort("same_mode", "adjusted_rand", "question_id")


def _differences(first: Sequence[QuestionView], second: Sequence[QuestionView]) -> Iterator[dict[str, Any]]:
    for a, b in zip(first, second, strict=True):
        alike = partition_agreement(_labels(a), _labels(b))
        if alike.adjusted_rand < 1 or a.estimate.correct != b.estimate.correct:
            row = {"question_id": a.question.id, "text": a.question.text, "adjusted_rand": alike.adjusted_rand}
            row |= {"same_mode": bool(alike.same_mode), "first_correct": a.estimate.correct}
            yield row | {"second_correct": b.estimate.correct}


NUMBERS = ("accuracy", "sem1_ece", "sem2_ece", "semx_ece")
"""What stands of each judge."""

RESPONSE = ["question_id", "index"]
"""What a response is known by."""

ALIKE = ("rand", "adjusted_rand", "modal_jaccard", "same_mode")
"""How alike the classes of a pair are."""


class JudgesTogether(NamedTuple):
    """Several judges of one run.

    Parameters
    ----------
    judges : tuple of str
        Their names.
    numbers : polars.DataFrame
        Per ``judge``: ``questions``, then accuracy and calibration errors, each with ``_low`` and ``_high``.
    pairs : polars.DataFrame
        Per pair ``first``, ``second``: ``questions``, ``responses``, ``agreement`` and ``kappa`` of the verdicts on
        responses that both have graded (correct or not), ``first_only`` and ``second_only`` (responses that only this
        judge calls correct); then means over questions of how alike the classes are. Numbers have ``_low`` and
        ``_high``.
    changes : polars.DataFrame
        ``first_judge``, ``second_judge`` and the table of :class:`semece.compare.Comparison`: every paired change.
    flips : polars.DataFrame
        Answers that one judge calls correct and another does not: ``question_id``, ``answer``, ``responses``, and the
        verdict of each in ``verdict: JUDGE`` (null: none); those with most responses first.
    alarms : dict
        Questions with an alarm, by judge and kind.
    """

    judges: tuple[str, ...]
    numbers: pl.DataFrame
    pairs: pl.DataFrame
    changes: pl.DataFrame
    flips: pl.DataFrame
    alarms: dict[str, dict[str, int]]


def compare_several(runs: Sequence[Run]) -> JudgesTogether:
    """Compare each pair of several judges of one run.

    Parameters
    ----------
    runs : sequence of Run
        One run file, read under each judge: ``Run(path, judge=...)``.

    Returns
    -------
    JudgesTogether

    Raises
    ------
    SemeceError
        As :func:`semece.compare.compare_judges`, of any pair.
    """
    names = tuple(run.judge_names[0] for run in runs)
    graded = {name: _verdicts(run) for name, run in zip(names, runs, strict=True)}
    alarms: dict[str, dict[str, int]] = {}
    pairs, changes = [], []
    for (first, one), (second, other) in combinations(zip(names, runs, strict=True), 2):
        found = compare_judges(one, other)
        alarms |= found.alarm_counts()
        alike = {row["quantity"]: row for row in found.table.to_dicts()}
        pairs.append(
            {"first": first, "second": second, "questions": found.questions}
            | _agreement(graded[first], graded[second])
            | {f"{name}{end}": alike[name][f"change{end}"] for name in ALIKE for end in ("", "_low", "_high")}
        )
        head = (pl.lit(first).alias("first_judge"), pl.lit(second).alias("second_judge"))
        changes.append(found.table.select(*head, pl.all()))
    return JudgesTogether(
        names,
        frame(
            [_numbers(name, run) for name, run in zip(names, runs, strict=True)],
            {"judge": str, "questions": int} | spread_columns(*NUMBERS),
        ),
        frame(pairs, PAIRS),
        pl.concat(changes),
        _flips(graded),
        {name: alarms[name] for name in names},
    )


PAIRS: dict[str, type] = (
    {"first": str, "second": str, "questions": int, "responses": int}
    | spread_columns("agreement", "kappa")
    | {"first_only": int, "second_only": int}
    | spread_columns(*ALIKE)
)
"""Columns of a pair."""


def _numbers(name: str, run: Run) -> dict[str, Any]:
    """Give what a run's summary says under one judge."""
    row = row_of_run(run)
    wanted = [f"{number}{end}" for number in NUMBERS for end in ("", "_low", "_high")]
    return {"judge": name, "questions": row["questions"]} | {each: row.get(each) for each in wanted}


def _verdicts(run: Run) -> pl.DataFrame:
    """Give the verdict on each response that has one."""
    return run.responses().drop_nulls("verdict").select(*RESPONSE, "answer", "verdict")


def _agreement(first: pl.DataFrame, second: pl.DataFrame) -> dict[str, Any]:
    """Compare verdicts on the responses that both have graded; nothing where there is none."""
    both = first.join(second, on=RESPONSE, how="inner", suffix="_second", maintain_order="left")
    if not both.height:
        return {"responses": 0}
    said = [(both[name] == "correct").to_numpy() for name in ("verdict", "verdict_second")]
    quality = grading_quality(*said, ids=both["question_id"].to_numpy().astype(str))
    confusion = quality.confusion
    row = {"responses": both.height, "first_only": confusion.people_only, "second_only": confusion.judge_only}
    return row | spread_all({"agreement": quality.agreement, "kappa": quality.kappa})


def _flips(graded: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """List the answers that some judge calls correct and another does not."""
    named = [
        table.select(*RESPONSE, pl.col("answer").fill_null(""), pl.col("verdict").alias(f"verdict: {name}"))
        for name, table in graded.items()
    ]
    every = named[0]
    for other in named[1:]:
        every = every.join(other, on=[*RESPONSE, "answer"], how="full", coalesce=True)
    verdicts = [name for name in every.columns if name.startswith("verdict: ")]
    right = [pl.col(name) == "correct" for name in verdicts]
    flipped = every.filter(pl.any_horizontal(right) & pl.any_horizontal(~each for each in right))
    found = flipped.group_by("question_id", "answer", *verdicts).agg(pl.len().alias("responses"))
    order = ("responses", "question_id", "answer", *verdicts)
    return found.select("question_id", "answer", "responses", *verdicts).sort(
        order, descending=[name == "responses" for name in order]
    )
