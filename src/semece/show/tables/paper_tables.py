"""The paper's tables, by name: each is made of the pooled responses of runs, and of all runs of a dataset together."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from semece.errors import SemeceError, meant
from semece.runs import (
    CONFIDENCES,
    UNNAMED,
    Binning,
    all_names,
    class_columns,
    classes_in,
    corrected_columns,
    given_scores,
    graded_classes,
    metric_columns,
    metrics_of,
    pool_of,
    spread,
    spread_all,
    summary_frame,
)
from semece.stats import BUDGETS, alignment, frame, margin_strata, rate, rate_slope, semx_table, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from semece.runs import Correction, GradedClasses, Names, QuestionView, Run, RunColumns
    from semece.stats import Closed, Pool, SemX

    Floats = NDArray[np.float64]
    Rows = Callable[["PooledQuestions"], pl.DataFrame]

POOLED = "pooled"
"""What the rows of all runs of a dataset are called."""


class PooledQuestions(NamedTuple):
    """Questions of one run, or of all runs of a dataset.

    Parameters
    ----------
    dataset, model : str
        Names; the model is :data:`POOLED` for several runs, and the file's name where several runs have one model.
    n : int
        Responses asked per question.
    pool : Pool
        Its complete questions.
    ids : ndarray of str, shape (Q,)
        Their ids; a question of several runs has one.
    classes : GradedClasses
        Its questions with all their classes, graded or not.
    refused : ndarray of bool, shape (Q,)
        Which of the complete questions get no answer.
    asked : int
        How many questions were asked, failed ones too.
    tokens : mapping of str to float
        Input and output tokens per asked question, by stage; stages without a count are not there.
    correction : Correction or None
        What an audit of the judge changes; None for several runs.
    made : dict
        Tables that were made of it, by what made them: several tables and figures show one.
    """

    dataset: str
    model: str
    n: int
    pool: Pool
    ids: NDArray[np.str_]
    classes: GradedClasses
    refused: NDArray[np.bool_]
    asked: int
    tokens: Mapping[str, float]
    correction: Correction | None
    made: dict[str, pl.DataFrame]


def made_once(make: Rows) -> Rows:
    """Make a table of a group once, however many tables and figures show it."""

    @wraps(make)
    def kept(group: PooledQuestions) -> pl.DataFrame:
        if make.__name__ not in group.made:
            group.made[make.__name__] = make(group)
        return group.made[make.__name__]

    return kept


class Arm(NamedTuple):
    """What decides whether a run is pooled with others.

    Parameters
    ----------
    names : Names
        What it is called.
    answered_by : str
        Its model, whatever it is called.
    n : int
        Responses asked per question.
    correction : Correction or None
        What people say of its judge; it holds for the run alone.
    """

    names: Names
    answered_by: str
    n: int
    correction: Correction | None = None


def not_pooled(arms: Sequence[Arm]) -> dict[str, str]:
    """Say of each dataset of several runs that cannot be pooled why.

    Examples
    --------
    >>> from semece.runs import Names
    >>> not_pooled([Arm(Names("nq", "warm"), "x/m", 10), Arm(Names("nq", "cold"), "x/m", 10)])["nq"]
    'nq has no pooled row: warm and cold are runs of one model, x/m, which would count twice'
    """
    found = {}
    for dataset in dict.fromkeys(arm.names.dataset for arm in arms):
        members = [arm for arm in arms if arm.names.dataset == dataset]
        first = {arm.answered_by: arm for arm in reversed(members)}
        twice = next((arm for arm in members if first[arm.answered_by] is not arm), None)
        sizes = sorted({arm.n for arm in members})
        if twice is not None:
            model = twice.answered_by
            why = (
                f"{first[model].names.model} and {twice.names.model} are runs of one model, {model}, which would count"
            )
            hint = "; 'semece score --name NAME' names it" if model == UNNAMED else ""
            found[dataset] = f"{dataset} has no pooled row: {why} twice{hint}"
        elif len(sizes) > 1:
            counts = " and ".join(map(str, sizes))
            found[dataset] = f"{dataset} has no pooled row: its runs asked for {counts} answers per question"
    return found


def arms_of(runs: Sequence[Run]) -> list[Arm]:
    """Say of runs what decides whether they are pooled."""
    named = zip(runs, all_names(runs), strict=True)
    return [Arm(names, run.answered_by, run.n) for run, names in named]


def groups(runs: Sequence[Run]) -> Iterator[PooledQuestions]:
    """Give each run, and after the last of several runs of a dataset all together, unless :func:`not_pooled`.

    Raises
    ------
    SemeceError
        A run has no complete question.
    """
    arms = arms_of(runs)
    apart = not_pooled(arms)
    for dataset in dict.fromkeys(arm.names.dataset for arm in arms):
        members = [(run, arm) for run, arm in zip(runs, arms, strict=True) if arm.names.dataset == dataset]
        for run, arm in members:
            yield group_of(arm.names.model, [run])
        if len(members) > 1 and dataset not in apart:
            yield group_of(POOLED, [run for run, _ in members])


def group_of(model: str, runs: Sequence[Run]) -> PooledQuestions:
    """Pool runs of one dataset that asked for as many responses, under a name."""
    first = runs[0]
    if len(runs) == 1 and first.laid_out is not None:
        return group_of_counts(model, first, first.laid_out)
    found = group_of_views(first.names.dataset, model, first.n, [view for run in runs for view in run.question_views()])
    correction = first.correction if len(runs) == 1 else None
    return found._replace(tokens=run_tokens(runs), correction=correction)


def group_of_counts(model: str, run: Run, columns: RunColumns) -> PooledQuestions:
    """Give the questions of a table of counts, one by one."""
    found, asked = run.pool(), columns.table.n_questions
    entering = np.flatnonzero(columns.usable >= 2)
    ids = np.arange(asked).astype(np.str_)
    classes = classes_in(columns.table.take(entering), ids[entering].tolist())
    refused = columns.refused[found.question]
    own = found, ids[found.question], classes, refused, asked
    return PooledQuestions(run.names.dataset, model, run.n, *own, {}, None, {})


def run_tokens(runs: Sequence[Run]) -> dict[str, float]:
    """Give the tokens per asked question of answering and of grouping; nothing if a run has no count of answering."""
    stages = [run.tokens for run in runs]
    asked = sum(len(run.question_views()) for run in runs)
    if not all("respond" in each for each in stages):
        return {}
    return {name: sum(each.get(name, 0) for each in stages) / asked for name in ("respond", "partition")}


def group_of_views(dataset: str, model: str, n: int, views: Sequence[QuestionView]) -> PooledQuestions:
    """Pool questions, of one run or several, under the names of a dataset and a model."""
    found = pool_of(views)
    found = found._replace(sem2=np.array([views[place].estimate.sem2 for place in found.question], dtype=np.float64))
    ids = np.array([view.question.id for view in views])[found.question]
    refused = np.array([view.estimate.refused for view in views])[found.question]
    return PooledQuestions(dataset, model, n, found, ids, graded_classes(views), refused, len(views), {}, None, {})


By = Literal["bin", "budget"]
"""What a row of a table is."""


def paper_table(name: str, runs: Sequence[Run], *, by: By = "bin") -> pl.DataFrame:
    """Make one of the paper's tables.

    Parameters
    ----------
    name : {'ece', 'semx', 'bootstrap', 'baselines', 'abstention', 'margin', 'sweep', 'rate', 'slope', 'alignment'}
        Which; see :data:`TABLES`.
    runs : sequence of Run
        Opened run files. Several runs of one dataset are also pooled; then a question is the unit, however many models
        answered it.
    by : {'bin', 'budget'}
        What the rows of ``semx`` are: bins, or numbers of answers.

    Returns
    -------
    DataFrame
        ``dataset``, ``model``, and the columns of the table.

    Raises
    ------
    ValueError
        There is no such table, or it has no rows by budget.
    SemeceError
        As :func:`groups`.
    """
    if name not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}; got {name!r}{meant(name, TABLES)}")
    if by not in {"bin", "budget"}:
        raise ValueError(f"by must be bin or budget; got {by!r}")
    if by == "budget" and name not in BUDGET_TABLES:
        raise ValueError(f"only the table {', '.join(BUDGET_TABLES)} has rows by budget; got {name!r}")
    return stacked(BUDGET_TABLES[name] if by == "budget" else TABLES[name], groups(runs))


def stacked(make: Callable[[PooledQuestions], pl.DataFrame], every: Iterable[PooledQuestions]) -> pl.DataFrame:
    """Make a table of each group, and stack them under their names."""
    return pl.concat([named(group, make(group)) for group in every], how="diagonal_relaxed")


def named(group: PooledQuestions, part: pl.DataFrame) -> pl.DataFrame:
    """Put the names of a group before its rows."""
    names = [pl.lit(text).alias(column) for column, text in (("dataset", group.dataset), ("model", group.model))]
    return part.select(*names, *part.columns)


def audit_note(name: str, runs: Sequence[Run]) -> str:
    """Say what the audits of some runs change in a table; empty without one, and where every row says it.

    Parameters
    ----------
    name : str
        Of the table.
    runs : sequence of Run
        Opened run files.

    Returns
    -------
    str
    """
    audited = ", ".join(run.name for run in runs if run.correction)
    if not audited or name == "abstention":
        return ""
    if name == "ece":
        alone = "all others, and rows of several runs, are by the judge alone"
        return f"an audit corrects the numbers that the column 'corrected' names ({audited}); {alone}"
    return f"the table {name} is by the judge alone: no audit corrects it ({audited})"


def calibration_rows(group: PooledQuestions, *, n_bins: int = 10, closed: Closed = "left") -> pl.DataFrame:
    """Give the row of the paper's Table 1: N, accuracy, and the ECE of each confidence and score, pooled pairing.

    Parameters
    ----------
    group : PooledQuestions
        Whose.
    n_bins, closed
        As in :func:`semece.ece`.

    Returns
    -------
    DataFrame
        One row. Where an audit of the judge corrects numbers, ``corrected`` names them and ``audit`` its sheets.
    """
    pool, bins = group.pool, Binning(n_bins, closed)._asdict()
    row: dict[str, Any] = {"questions": len(pool.correct)}
    row |= metric_columns("ece", None, pool.correct, pool.correct, ids=repeated(group.ids), **bins)
    row |= class_columns("ece", group.classes.measured(**bins), ids=repeated(group.classes.ids))
    row |= {"refused": int(group.refused.sum())} if group.refused.any() else {}
    every = (*CONFIDENCES, *given_scores(dict.fromkeys(pool.scores, False)))
    for confidence in (each for each in every if each.pooled or (each.attempted and group.refused.any())):
        kept = ~group.refused if confidence.attempted else np.ones_like(group.refused)
        given = pool.scores[confidence.column] if confidence.given else getattr(pool, confidence.column)
        values = np.where(kept, given, np.nan)
        c, a, ids = known(values, pool.correct, group.ids)
        row |= {"ver_questions": c.size} if confidence.prefix == "ver" else {}
        row |= metric_columns("ece", confidence, c, a, ids=repeated(ids), **bins)
    if group.correction:
        found = corrected_columns(group.correction, group.classes, Binning(n_bins, closed))
        row |= {name: value for name, value in found.items() if name in row}
        row |= {"audit": found["audit"], "corrected": [name for name in found["corrected"] if name in row]}
    return summary_frame([row])


def known(values: NDArray[np.float64], *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Keep the rows that have a confidence."""
    kept = ~np.isnan(values)
    return values[kept], *(other[kept] for other in others)


def repeated(ids: NDArray[np.str_]) -> NDArray[np.str_] | None:
    """Give ids of which some come twice; None where every row is a question."""
    return ids if len(np.unique(ids)) < len(ids) else None


def bootstrap_rows(
    group: PooledQuestions, *, low_margin: NDArray[np.bool_] | None = None, closed: Closed = "left"
) -> pl.DataFrame:
    """Give the paired differences of Sem1 and Sem2 (:func:`semece.paired_bootstrap`).

    ``mean_difference`` and ``ece_difference`` with intervals, the same on the questions of low margin, and a ``note``
    and ``low_margin_note`` where an ECE difference cannot be trusted. Low is a margin below 1/sqrt(n), unless given.
    """
    from semece.stats import is_low_margin, paired_bootstrap

    pool = group.pool
    if len(np.unique(group.ids)) < 2:
        name = f"{group.dataset} · {group.model}"
        raise SemeceError(f"{name}: at least 2 complete questions are needed to resample; got 1")
    low = is_low_margin(pool.margin, pool.n_responses) if low_margin is None else low_margin
    columns = known(pool.sem1, pool.sem2, pool.correct)
    found = paired_bootstrap(*columns, low_margin=low, ids=repeated(group.ids), closed=closed)
    row: dict[str, Any] = {"questions": columns[0].size}
    row |= spread("mean_difference", found.overall.mean_difference)
    row |= spread("ece_difference", found.overall.ece_difference)
    near = found.low_margin
    row["low_margin_questions"] = int(low.sum())
    row |= spread("low_margin_mean_difference", near.mean_difference if near else None)
    row |= spread("low_margin_ece_difference", near.ece_difference if near else None)
    notes = {"note": found.overall.note or None, "low_margin_note": (near.note if near else "") or None}
    return summary_frame([row | notes]).with_columns(pl.col(*notes).cast(pl.String))


def baseline_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give ECE, Brier score, AUROC, AURC of every confidence score, on the questions that have it.

    ``recalibrated_ece`` and ``recalibrated_brier``: by Platt's line, each question by a line that has not seen it.
    Where only the order of a score means something there is no other ECE or Brier score. ``tokens``: input and output
    tokens per asked question that the score took, for the answers and, but for the stated confidence, for the grouping
    by all judges of the file; null where nothing was counted, as for scores that came with the answers. ``clipped``:
    questions whose corrected entropy agreement was below 0.
    """
    from semece.stats import entropy_agreement, exp_entropy

    pool, counts = group.pool, group.pool.counts
    agreement = {name: entropy_agreement(counts=counts, correction=name) for name in (None, "miller-madow")}
    scores = {
        "verbalized": pool.verbalized,
        "sem1": pool.sem1,
        "sem2": pool.sem2,
        "first-second distance": pool.margin,
        "entropy agreement": agreement[None].value,
        "entropy agreement, Miller-Madow": agreement["miller-madow"].value,
        "exp(-entropy)": exp_entropy(counts=counts),
        "exp(-entropy), Miller-Madow": exp_entropy(counts=counts, correction="miller-madow"),
        **pool.scores,
        **pool.ranked,
    }
    rows: list[dict[str, Any]] = []
    given = {*pool.scores, *pool.ranked}
    for name, values in scores.items():
        c, a, ids = known(np.asarray(values), pool.correct, group.ids)
        if c.size:
            found = baselines(c, a, repeated(ids), ranked=name in pool.ranked)
            tokens = {"tokens": _tokens_of(name, group.tokens) if name not in given else None}
            clipped = agreement["miller-madow"].n_clipped if name.startswith("entropy agreement, ") else 0
            rows.append({"score": name, "questions": c.size} | spread_all(found) | tokens | {"clipped": clipped})
    return summary_frame(rows).with_columns(pl.selectors.float().fill_nan(None))


def baselines(
    score: NDArray[np.float64], correct: NDArray[np.float64], ids: NDArray[Any] | None, *, ranked: bool
) -> dict[str, Any]:
    """Measure a score as it is and recalibrated; of a ranked one only what its order decides, and recalibrated."""
    from semece.stats import in_order

    c = in_order(score) if ranked else score
    shown = [metric for metric in metrics_of("baselines") if metric.of_order or not ranked]
    found = {metric.name: metric.measure(c, correct, ids=ids) for metric in shown}
    return found | recalibrated_baselines(score, correct, ids, ranked=ranked)


def _tokens_of(score: str, tokens: Mapping[str, float]) -> float | None:
    """Add up the stages that a score needs; None where the answers have no count."""
    if "respond" not in tokens:
        return None
    return tokens["respond"] + (0 if score == "verbalized" else tokens.get("partition", 0))


def recalibrated_baselines(
    score: NDArray[np.float64], correct: NDArray[np.float64], ids: NDArray[Any] | None, *, ranked: bool
) -> dict[str, Any]:
    """Give ECE and Brier score of a score after cross-fitted recalibration; none for a single question."""
    from semece.stats import cross_fit

    if len(correct if ids is None else np.unique(ids)) < 2:
        return {}
    after = cross_fit(score, correct, ids=ids, domain="real" if ranked else "unit").confidence
    chosen = (metric for metric in metrics_of("baselines") if metric.name in {"ece", "brier"})
    return {f"recalibrated_{metric.name}": metric.measure(after, correct, ids=ids) for metric in chosen}


def largest_budget(group: PooledQuestions) -> tuple[Pool, list[int]]:
    """Choose what a sweep compares: the paper's budgets up to n and n, on the questions with n usable responses.

    If no question has n, budgets end at the largest number of usable responses.
    """
    n = min(group.n, int(group.pool.n_responses.max()))
    return group.pool.take(group.pool.n_responses >= n), sorted({*(b for b in BUDGETS if b < n), n})


def by_budget(table: Callable[..., pl.DataFrame], group: PooledQuestions) -> pl.DataFrame:
    """Make a table of the budgets that :func:`largest_budget` chooses, on its questions."""
    pool, budgets = largest_budget(group)
    return table(pool, budgets=budgets)


def drawn_together(table: Callable[..., pl.DataFrame], group: PooledQuestions) -> pl.DataFrame:
    """Make a table by budget whose intervals draw the rows of a question together."""
    entering = group.pool.n_responses >= largest_budget(group)[1][-1]
    return by_budget(partial(table, ids=repeated(group.ids[entering])), group)


@made_once
def ece_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the row of the paper's Table 1 in ten bins that are closed on the left."""
    return calibration_rows(group)


@made_once
def sweep_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give what fewer answers would have shown (:func:`semece.stats.diagnostics.sweep`)."""
    return drawn_together(sweep, group)


@made_once
def rate_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the falling gap of the questions with a low margin (:func:`semece.stats.diagnostics.rate`)."""
    return drawn_together(rate, group)


@made_once
def slopes(group: PooledQuestions) -> pl.DataFrame:
    """Give the slope of the falling gap and of its expectation; rows of one question are drawn together."""
    return drawn_together(rate_slope, group)


@made_once
def alignment_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the gap at the boundaries of the regimes (:func:`semece.stats.diagnostics.alignment`)."""
    return alignment(group.pool)


@made_once
def strata(group: PooledQuestions) -> pl.DataFrame:
    """Give calibration along the margin (:func:`semece.stats.diagnostics.margin_strata`)."""
    return margin_strata(group.pool)


def slope_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the slope of the falling gap."""
    table = slopes(group)
    return table.filter(table["quantity"] == "gap").rename({"low": "slope_low", "high": "slope_high"}).drop("quantity")


TARGETS = (0.8, 0.9, 0.95)
"""Accuracies that a threshold to abstain at is looked for."""

PROMISE = "at least {} of the answers are right: {} sure, {} future questions are like these"
"""What stands wherever such a threshold stands."""
IF_RIGHT, IF_AUDITED = "if the judge is right and", "the judge's errors corrected by the audit, if"
"""On what the promise rests."""


def promise_text(target: float, delta: float, condition: str = IF_RIGHT) -> str:
    """Say what a threshold promises, and on what it rests.

    Examples
    --------
    >>> promise_text(0.9, 0.05)[:54]
    'at least 90 % of the answers are right: 95 % sure, if '
    """
    return PROMISE.format(f"{100 * target:.6g} %", f"{100 * (1 - delta):.6g} %", condition)


def attempted(
    group: PooledQuestions, *, ordered: bool = False
) -> Iterator[tuple[str, Floats, Floats, NDArray[np.str_]]]:
    """Give each score with its name: its values, the correctness, and the ids of the questions that have an answer.

    An answer that is right in part, because tied classes differ, counts as wrong. Nothing for a pool of runs: its rows
    are not independent. ``ordered``: also the scores of which only the order means something.
    """
    if group.model == POOLED:
        return
    for name, values in (*group.pool.confidences(), *(group.pool.orders() if ordered else ())):
        c, a, ids = known(np.where(group.refused, np.nan, values), np.floor(group.pool.correct), group.ids)
        if c.size:
            yield name, c, a, ids


def abstention_rows(group: PooledQuestions, targets: Sequence[float] = TARGETS, *, delta: float = 0.05) -> pl.DataFrame:
    """Give the threshold to abstain at for each confidence and target (:func:`semece.abstention_threshold`).

    Of the scores of :func:`attempted`. ``coverage`` is the share of all questions asked: failed and refused ones are
    not answered. ``needed`` is how many answers a threshold takes, and ``audit`` names the sheets by which the judge's
    errors are corrected.
    """
    from semece.stats import abstention_threshold, fewest_answers

    rows = []
    for name, c, a, _ in attempted(group):
        for target in targets:
            found, condition = abstention_threshold(c, a, target=target, delta=delta, asked=group.asked), IF_RIGHT
            needed = fewest_answers(target, delta)
            corrected = group.correction and group.correction.threshold(
                name, target=target, asked=group.asked, delta=delta
            )
            if group.correction and corrected and not isinstance(corrected, str):
                found, condition = corrected, IF_AUDITED
                needed = group.correction.fewest(name, target=target, delta=delta)
            promise = None if found.threshold is None else promise_text(target, delta, condition)
            audit = ", ".join(group.correction.audit.sheets) if group.correction and condition == IF_AUDITED else None
            row = {"score": name, "target": target, "questions": group.asked, "needed": needed}
            rows.append(row | {"promise": promise, "audit": audit} | found._asdict())
    return frame(rows, ABSTENTION)


ABSTENTION: dict[str, type] = {
    "score": str,
    "target": float,
    "questions": int,
    "needed": int,
    "threshold": float,
    "answered": int,
    **dict.fromkeys(("coverage", "accuracy", "accuracy_low"), float),
    "promise": str,
    "audit": str,
    "reason": str,
}
"""Columns of a table of thresholds."""


def margin_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give calibration along the margin without empty strata."""
    table = strata(group)
    return table.filter(table["questions"] > 0)


FEWER = (2, 4, 6, *BUDGETS)
"""Answers per question for which SemX is given: few are enough for it."""


def residuals_of(group: PooledQuestions) -> SemX:
    """Give SemX's residuals of a group.

    Raises
    ------
    SemeceError
        Not every class is graded, or no question has two answers that are no refusals.
    """
    found = group.classes.residuals()
    if found is None:
        name = f"{group.dataset} · {group.model}"
        raise SemeceError(
            f"{name}: SemX needs a grade of every class and two answers of some question that are no refusals; "
            "--grade-classes all grades every class"
        )
    return found


@made_once
def semx_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the reliability of SemX, a row for each bin that a block selects in (:func:`semece.semx_table`).

    ``questions`` is the number that the bin has in expectation. Nothing for a pool of runs: its rows are not
    independent.
    """
    residuals = residuals_of(group)
    columns = semx_table(residuals)._asdict()
    table = pl.DataFrame(columns).filter(~pl.col("chance").is_nan())
    table = table.with_columns(questions=pl.col("chance") * len(residuals.questions))
    shown = table.select("low", "high", "questions", "held_out", *list(columns)[4:])
    return shown.clear() if group.model == POOLED else shown


@made_once
def semx_budget_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the held-out gap and SemX-ECE at smaller numbers of answers ``n``, with intervals."""
    residuals_of(group)
    answers = group.classes.answered.responses
    most = min(group.n, int(answers.max()))
    rows: list[dict[str, Any]] = []
    for n in sorted({*(budget for budget in FEWER if budget < most), most}):
        row: dict[str, Any] = {"n": n, "questions": int(np.sum(answers >= n))}
        found = {"residuals": group.classes.residuals(budget=n)}
        rows.append(row | dict(class_columns("ece", found, ids=repeated(group.classes.ids))))
    return summary_frame(rows)


TABLES: dict[str, Callable[[PooledQuestions], pl.DataFrame]] = {
    "ece": ece_rows,
    "semx": semx_rows,
    "bootstrap": bootstrap_rows,
    "baselines": baseline_rows,
    "abstention": abstention_rows,
    "margin": margin_rows,
    "sweep": sweep_rows,
    "rate": rate_rows,
    "slope": slope_rows,
    "alignment": alignment_rows,
}
"""Which table is made how."""

BUDGET_TABLES: dict[str, Callable[[PooledQuestions], pl.DataFrame]] = {"semx": semx_budget_rows}
"""Tables whose rows may be numbers of answers instead."""
