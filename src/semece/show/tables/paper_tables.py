"""The paper's tables, by name: each is made of the pooled responses of runs, and of all runs of a dataset together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.errors import SemeceError
from semece.runs import CONFIDENCES, metrics_of, spread
from semece.stats import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from semece.runs import QuestionView, Run
    from semece.stats import Closed, Pool

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
    """

    dataset: str
    model: str
    n: int
    pool: Pool
    ids: NDArray[np.str_]


def groups(runs: Sequence[Run]) -> Iterator[PooledQuestions]:
    """Give each run, and after the last run of a dataset all of them together if all asked for the same n.

    Raises
    ------
    SemeceError
        A run has no complete question.
    """
    from semece.runs import names_of

    for dataset in dict.fromkeys(run.dataset for run in runs):
        members = [run for run in runs if run.dataset == dataset]
        for run, name in zip(members, names_of(members), strict=True):
            yield group_of(name, [run])
        if len(members) > 1 and len({run.n for run in members}) == 1:
            yield group_of(POOLED, members)


def group_of(model: str, runs: Sequence[Run]) -> PooledQuestions:
    """Pool runs of one dataset that asked for the same number of responses, under a name."""
    first = runs[0]
    return group_of_views(first.dataset, model, first.n, [view for run in runs for view in run.question_views()])


def group_of_views(dataset: str, model: str, n: int, views: Sequence[QuestionView]) -> PooledQuestions:
    """Pool questions, of one run or several, under the names of a dataset and a model."""
    from semece.runs import pool_of

    found = pool_of(views)
    ids = np.array([view.question.id for view in views])[found.question]
    return PooledQuestions(dataset, model, n, found, ids)


def paper_table(name: str, runs: Sequence[Run]) -> pl.DataFrame:
    """Make one of the paper's tables.

    Parameters
    ----------
    name : {'ece', 'bootstrap', 'baselines', 'abstention', 'margin', 'sweep', 'rate', 'slope', 'alignment'}
        Which; see :data:`TABLES`.
    runs : sequence of Run
        Opened run files. Several runs of one dataset are also pooled; then a question is the unit, however many models
        answered it.

    Returns
    -------
    DataFrame
        ``dataset``, ``model``, and the columns of the table.

    Raises
    ------
    ValueError
        There is no such table.
    SemeceError
        As :func:`groups`.
    """
    import polars as pl

    if name not in TABLES:
        raise ValueError(f"table must be one of {', '.join(TABLES)}; got {name!r}")
    return pl.concat([named(group, TABLES[name](group)) for group in groups(runs)], how="vertical_relaxed")


def named(group: PooledQuestions, part: pl.DataFrame) -> pl.DataFrame:
    """Put the names of a group before its rows."""
    import polars as pl

    names = [pl.lit(text).alias(column) for column, text in (("dataset", group.dataset), ("model", group.model))]
    return part.select(*names, *part.columns)


def calibration_rows(group: PooledQuestions, *, n_bins: int = 10, closed: Closed = "left") -> pl.DataFrame:
    """Give the row of the paper's Table 1: N, accuracy, and the ECE of each confidence, pooled pairing.

    Parameters
    ----------
    group : PooledQuestions
        Whose.
    n_bins, closed
        As in :func:`semece.ece`.
    """
    pool, bins = group.pool, {"n_bins": n_bins, "closed": closed}
    metrics = metrics_of("ece")
    row: dict[str, Any] = {"questions": len(pool.correct)}
    for metric in (each for each in metrics if "confidence" not in each.needs):
        row |= spread(metric.name, metric.interval(pool.correct, pool.correct, ids=repeated(group.ids), **bins))
    for confidence in (each for each in CONFIDENCES if each.pooled):
        name = confidence.prefix
        c, a, ids = known(getattr(pool, confidence.column), pool.correct, group.ids)
        row |= {f"{name}_questions": c.size} if name == "ver" else {}
        for metric in (each for each in metrics if name in each.confidences and "confidence" in each.needs):
            found = metric.interval(c, a, ids=repeated(ids), **bins) if c.size else None
            row |= spread(f"{name}_{metric.name}", found)
    return _row(row)


def known(values: NDArray[np.float64], *others: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Keep the rows that have a confidence."""
    kept = ~np.isnan(values)
    return values[kept], *(other[kept] for other in others)


def repeated(ids: NDArray[np.str_]) -> NDArray[np.str_] | None:
    """Give the ids if one comes more than once; None if every row is a question of its own."""
    return ids if len(np.unique(ids)) < len(ids) else None


def _row(row: dict[str, Any]) -> pl.DataFrame:
    """Make a table of one row; a column of nulls becomes one of numbers."""
    import polars as pl

    frame = pl.DataFrame([row], infer_schema_length=None)
    return frame.with_columns(pl.col(name).cast(pl.Float64) for name, kind in frame.schema.items() if kind == pl.Null)


def bootstrap_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the paired differences of Sem1 and Sem2 (:func:`semece.paired_bootstrap`).

    ``mean_difference`` and ``ece_difference`` with intervals, the same on the questions of low margin, and a ``note``
    and ``low_margin_note`` where an ECE difference cannot be trusted.
    """
    import polars as pl

    from semece.stats import is_low_margin, paired_bootstrap

    pool = group.pool
    if len(np.unique(group.ids)) < 2:
        name = f"{group.dataset} · {group.model}"
        raise SemeceError(f"{name}: at least 2 complete questions are needed to resample; got 1")
    low = is_low_margin(pool.margin, pool.n_responses)
    found = paired_bootstrap(*known(pool.sem1, pool.sem2, pool.correct), low_margin=low, ids=repeated(group.ids))
    row: dict[str, Any] = {"questions": found.overall.n_questions}
    row |= spread("mean_difference", found.overall.mean_difference)
    row |= spread("ece_difference", found.overall.ece_difference)
    near = found.low_margin
    row["low_margin_questions"] = len(np.unique(group.ids[low]))
    row |= spread("low_margin_mean_difference", near.mean_difference if near else None)
    row |= spread("low_margin_ece_difference", near.ece_difference if near else None)
    notes = {"note": found.overall.note or None, "low_margin_note": (near.note if near else "") or None}
    return _row(row | notes).with_columns(pl.col(*notes).cast(pl.String))


def baseline_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give ECE, Brier score, AUROC, AURC of every confidence score, on the questions that have it.

    ``clipped``: questions whose corrected entropy agreement was below 0.
    """
    import polars as pl

    from semece.stats.estimators import entropy

    pool, counts = group.pool, group.pool.counts
    agreement = {name: entropy.entropy_agreement(counts=counts, correction=name) for name in (None, "miller-madow")}
    scores = {
        "verbalized": pool.verbalized,
        "sem1": pool.sem1,
        "sem2": pool.sem2,
        "first-second distance": pool.margin,
        "entropy agreement": agreement[None].value,
        "entropy agreement, Miller-Madow": agreement["miller-madow"].value,
        "exp(-entropy)": entropy.exp_entropy(counts=counts),
        "exp(-entropy), Miller-Madow": entropy.exp_entropy(counts=counts, correction="miller-madow"),
    }
    rows = []
    for name, values in scores.items():
        c, a, ids = known(np.asarray(values), pool.correct, group.ids)
        if c.size:
            row: dict[str, Any] = {"score": name, "questions": c.size}
            for metric in metrics_of("baselines"):
                found = metric.measure(c, a, ids=repeated(ids))
                row |= spread(metric.name, found) if isinstance(found, Interval) else {metric.name: found}
            clipped = name.startswith("entropy agreement, ")
            rows.append(row | {"clipped": agreement["miller-madow"].n_clipped if clipped else 0})
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.selectors.float().fill_nan(None))


def largest_budget(group: PooledQuestions) -> tuple[Pool, list[int]]:
    """Choose what a sweep compares: the paper's budgets up to n and n, on the questions with n usable responses.

    If no question has n, budgets end at the largest number of usable responses.
    """
    from semece.stats import BUDGETS

    n = min(group.n, int(group.pool.n_responses.max()))
    return group.pool.take(group.pool.n_responses >= n), sorted({*(b for b in BUDGETS if b < n), n})


def sweep_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give what fewer responses would have shown (:func:`semece.stats.diagnostics.sweep`)."""
    from semece.stats import sweep

    pool, budgets = largest_budget(group)
    return sweep(pool, budgets=budgets)


def rate_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the estimator gap of low-margin questions at smaller n (:func:`semece.stats.diagnostics.rate`)."""
    from semece.stats import rate

    pool, budgets = largest_budget(group)
    return rate(pool, budgets=budgets)


def slope_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the slope of one run; rows of one question in several runs are not independent, so none for a pool."""
    from semece.stats import rate_slope

    pool, budgets = largest_budget(group)
    table = rate_slope(pool, budgets=budgets)
    table = table.filter(table["quantity"] == "gap").rename({"low": "slope_low", "high": "slope_high"}).drop("quantity")
    return table.clear() if group.model == POOLED else table


TARGETS = (0.8, 0.9, 0.95)
"""Accuracies that a threshold to abstain at is looked for."""


def abstention_rows(group: PooledQuestions, targets: Sequence[float] = TARGETS) -> pl.DataFrame:
    """Give the threshold to abstain at for each confidence and target (:func:`semece.abstention_threshold`).

    An answer that is right in part, because tied classes differ, counts as wrong. Nothing for a pool of runs: its rows
    are not independent.
    """
    from semece.stats import abstention_threshold, frame

    rows = []
    for name, values in group.pool.confidences() if group.model != POOLED else ():
        c, a = known(values, group.pool.correct)
        for target in targets:
            found = abstention_threshold(c, np.floor(a), target=target)
            rows.append({"score": name, "target": target, "questions": c.size} | found._asdict())
    numbers = dict.fromkeys(("coverage", "accuracy", "accuracy_low"), float)
    schema = {"score": str, "target": float, "questions": int, "threshold": float, "answered": int}
    return frame(rows, schema | numbers | {"reason": str})


def margin_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give calibration along the margin (:func:`semece.stats.diagnostics.margin_strata`), without empty strata."""
    from semece.stats import margin_strata

    table = margin_strata(group.pool)
    return table.filter(table["questions"] > 0)


def alignment_rows(group: PooledQuestions) -> pl.DataFrame:
    """Give the estimator gap at the regimes' boundaries and its predictions (``semece.diagnostics.alignment``)."""
    from semece.stats import alignment

    return alignment(group.pool)


TABLES: dict[str, Callable[[PooledQuestions], pl.DataFrame]] = {
    "ece": calibration_rows,
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
