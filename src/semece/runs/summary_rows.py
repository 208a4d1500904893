"""The summary: one row per run, with every number's interval; and what is drawn of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semece.runs.corrections import corrected_columns
from semece.runs.graded_classes import NOTHING_MEASURED, model_columns
from semece.runs.metrics import CONFIDENCES, Binning, given_scores, metrics_of, scores_in
from semece.runs.run import all_names
from semece.runs.sentences import REASONS, excluded_text, outcomes_text
from semece.stats import (
    REGIMES,
    Interval,
    accuracy_bounds,
    decimal_text,
    ece_bounds,
    in_order,
    paired_bootstrap,
    reliability_table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from semece.runs.corrections import Correction
    from semece.runs.graded_classes import GradedClasses
    from semece.runs.metrics import Confidence, Floats, Table
    from semece.runs.run import Run

PAPER = tuple(each for each in CONFIDENCES if each.pooled)
"""Those of the paper's table, which a headline always has."""

UNUSABLE: tuple[str, ...] = ("empty", "content_filter", "truncated", "refusal")
"""Statuses of responses that were delivered without a usable answer."""

TEN_BINS = Binning()
"""The bins that are usual."""

NOTE = (
    "Brackets are 95 % intervals. Correctness is that of the largest class of all answers (pooled pairing) "
    "unless a column says split."
)
"""Goes under a headline table."""


def summary_table(runs: Sequence[Run]) -> pl.DataFrame:
    """Summarise runs, one row each.

    Parameters
    ----------
    runs : sequence of Run
        Opened run files.

    Returns
    -------
    DataFrame
        The columns of :func:`summary_row`.
    """
    return summary_frame(row_of_run(run, names.title) for run, names in zip(runs, all_names(runs), strict=True))


class RunFacts(NamedTuple):
    """What a summary says of a run beside its numbers.

    Parameters
    ----------
    run : str
        What to call it.
    judges : tuple of str
        Who made the partition, who graded.
    n : int
        Responses asked per question.
    counts : mapping of str to int
        Responses by status, and ``missing``.
    given : mapping of str to bool
        The scores that it was given, by name, each with whether only its order means something.
    """

    run: str
    judges: tuple[str, str]
    n: int
    counts: Mapping[str, int]
    given: Mapping[str, bool] = {}


def row_of_run(run: Run, name: str | None = None, binning: Binning = TEN_BINS) -> dict[str, Any]:
    """Summarise a run, under its own name or another; the columns of :func:`summary_row`."""
    facts = RunFacts(name or run.name, run.judge_names, run.n, run.counts, run.given)
    return summary_row(run.estimates(), facts, classes=run.classes(), binning=binning, correction=run.correction)


def summary_frame(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """Stack summary rows; a column that is null everywhere is still one of numbers."""
    frame = pl.DataFrame([dict(row) for row in rows], infer_schema_length=None)
    return frame.with_columns(pl.col(name).cast(pl.Float64) for name, kind in frame.schema.items() if kind == pl.Null)


def summary_row(
    estimates: pl.DataFrame,
    facts: RunFacts,
    *,
    classes: GradedClasses | None = None,
    binning: Binning = TEN_BINS,
    correction: Correction | None = None,
) -> dict[str, Any]:
    """Summarise the estimates of one run.

    Parameters
    ----------
    estimates : DataFrame
        One row per selected question: ``status``, ``sem1``, ``sem2``, ``verbalized``, ``correct``,
        ``correct_split``, ``refused``, ``regime``, and a column per score that the run was given; perhaps ``weight``,
        how many questions a row stands for. Rows whose status is not ``complete`` enter nothing.
    facts : RunFacts
        What else there is to say.
    classes : GradedClasses, optional
        The classes of the same questions: without them there are no numbers about the model.
    binning : Binning
        Bins of the ECEs.
    correction : Correction, optional
        What an audit of the judge changes.

    Returns
    -------
    dict
        ``run``, ``judge``, ``n``; ``questions`` that enter, and the others by reason; ``accuracy``; ``oracle``, the
        middle of the bracket of the mean oracle confidence (:func:`semece.oracle_bracket`), with its ends and those of
        the plain bracket; ``held_out_gap``
        and ``semx_ece`` with further columns of theirs, null where only the deployed answers are graded; what is
        claimed of the model (:func:`semece.runs.graded_classes.model_columns`); ``refused``, how many of the questions
        get no answer, and how many of the others a ``right`` and a ``wrong`` one, of tied answers a share; for each of
        ``ver``, ``sem1``, ``sem2`` (pooled pairing), ``sem2_split`` (split pairing), the
        scores that the run was given, and all but ``sem2_split`` with ``_attempted`` where some questions are refused:
        ``_questions``, ``_confidence`` and ``_accuracy`` (means), and the metrics of
        :data:`semece.runs.metrics.METRICS`, such as ``_ece`` and ``_gap`` (mean confidence - accuracy), those of order
        alone where only the order of a score means something; ``ece_difference``, Sem1-ECE - Sem2-ECE; the share of
        each regime; ``unusable`` and ``missing`` responses; ``audit`` and the numbers that it corrects
        (:func:`semece.runs.corrections.corrected_columns`): then the bounds of the ECEs and the interval of
        ``ece_difference`` are null. Each metric has ``_low`` and ``_high``; accuracy, Sem1-ECE and Sem2-ECE have
        ``_least`` and ``_most``, whatever the grades of the excluded questions. Null where no question has the number.

    Examples
    --------
    >>> import polars as pl
    >>> estimates = pl.DataFrame({"status": ["complete"] * 4, "correct": [1.0, 0.0, 0.0, 1.0], "refused": [False] * 4,
    ...     "sem1": [0.9, 0.9, 0.4, 0.6], "sem2": [0.8, 0.9, 0.3, 0.5], "verbalized": [None] * 4,
    ...     "correct_split": [None] * 4, "regime": ["low_margin"] * 4})
    >>> row = summary_row(estimates, RunFacts("demo", ("rules", "rules"), 20, {"parsed": 80}))
    >>> row["questions"], row["accuracy"], round(row["sem1_gap"], 12), row["ver_ece"]
    (4, 0.5, 0.2, None)
    """
    entering = estimates.filter(pl.col("status") == "complete")
    excluded = _count_excluded(estimates)
    head = {"run": facts.run, "judge": judge_text(facts.judges), "n": facts.n}
    row: dict[str, Any] = {**head, "questions": n_questions(entering), **excluded}
    row["refused"] = n_questions(entering.filter("refused"))
    row |= _outcomes(entering.filter(~pl.col("refused")))
    measured = classes.measured(**binning._asdict()) if classes else NOTHING_MEASURED
    row |= class_columns("summary", measured, weights=classes.weights if classes else None)
    corrected = corrected_columns(correction, classes, binning)
    row |= corrected
    row |= model_columns(classes, row)
    row |= _confidence_columns(entering, given_scores(facts.given), binning)
    row |= _ece_difference(entering, binning)
    row |= {regime: _share(entering, regime) for regime in REGIMES}
    row |= _bounds(estimates)
    row |= corrected
    row |= _corrected_bounds(row) if corrected["corrected"] else {}
    unusable = sum(facts.counts.get(status, 0) for status in UNUSABLE)
    return row | {"unusable": unusable, "missing": facts.counts.get("missing", 0)}


def n_questions(estimates: pl.DataFrame) -> int:
    """Count the questions that rows stand for."""
    return estimates.height if "weight" not in estimates.columns else int(estimates["weight"].sum())


def _weights(estimates: pl.DataFrame) -> Floats | None:
    """How many questions each row stands for; None where it is one."""
    return estimates["weight"].to_numpy() if "weight" in estimates.columns else None


def _outcomes(attempted: pl.DataFrame) -> dict[str, float]:
    """Count the questions whose most frequent answer is right, and wrong, as the judge says."""
    weight = attempted["weight"] if "weight" in attempted.columns else pl.repeat(1, attempted.height, eager=True)
    right = float((attempted["correct"].cast(pl.Float64) * weight).sum())
    return {"right": right, "wrong": n_questions(attempted) - right}


def _count_excluded(estimates: pl.DataFrame) -> dict[str, int]:
    """Count the questions that do not enter, by reason; a reason without a name here is an error."""
    unknown = set(estimates["status"].unique()) - {"complete", *REASONS}
    if unknown:
        raise ValueError(f"status must be complete or one of {', '.join(REASONS)}; got {min(unknown)!r}")
    return {reason: n_questions(estimates.filter(pl.col("status") == reason)) for reason in REASONS}


def judge_text(judges: tuple[str, str]) -> str:
    """Name the judges: once if they are one.

    Examples
    --------
    >>> judge_text(("rules", "rules")), judge_text(("rules", "exact"))
    ('rules', 'rules (classes), exact (grades)')
    """
    partition, grade = judges
    return partition if partition == grade else f"{partition} (classes), {grade} (grades)"


def _confidence_columns(
    entering: pl.DataFrame, given: Sequence[Confidence], binning: Binning
) -> Iterator[tuple[str, Any]]:
    """Give the columns of correctness alone, then of each confidence on the questions that have it."""
    graded = entering.filter(pl.col("correct").is_not_null())
    correct = graded["correct"].to_numpy()
    yield from metric_columns("summary", None, correct, correct, weights=_weights(graded))
    attempted = entering.filter(~pl.col("refused"))
    without = attempted if attempted.height < entering.height else attempted.clear()
    for confidence in (*CONFIDENCES, *given):
        table = without if confidence.attempted else entering
        rows = table.drop_nulls([confidence.column, confidence.correct])
        c, a = (rows[column].cast(float).to_numpy() for column in (confidence.column, confidence.correct))
        c, times = in_order(c) if confidence.ranked else c, _weights(rows)
        yield f"{confidence.prefix}_questions", n_questions(rows)
        for name, values in (("confidence", c), ("accuracy", a)):
            known = c.size and not (confidence.ranked and name == "confidence")
            yield f"{confidence.prefix}_{name}", float(np.average(values, weights=times)) if known else None
        yield from metric_columns("summary", confidence, c, a, weights=times, **binning._asdict())


def _ece_difference(entering: pl.DataFrame, binning: Binning) -> dict[str, Any]:
    """Give Sem1-ECE - Sem2-ECE with its paired interval and perhaps a note; null for fewer than two questions."""
    rows = entering.drop_nulls(["sem1", "sem2", "correct"])
    if n_questions(rows) < 2:
        return spread("ece_difference", None) | {"ece_difference_note": None}
    columns = (rows[name].to_numpy() for name in ("sem1", "sem2", "correct"))
    found = paired_bootstrap(*columns, weights=_weights(rows), **binning._asdict()).overall
    value, low, high = found.ece_difference
    held = Interval(value, min(low, value), max(high, value))
    return spread("ece_difference", held) | {"ece_difference_note": found.note or None}


def metric_columns(
    table: Table,
    confidence: Confidence | None,
    values: Floats,
    correct: Floats,
    **options: Any,  # noqa: ANN401 - as the metric takes
) -> Iterator[tuple[str, float | None]]:
    """Give the columns of a table's metrics of one confidence, or of correctness alone; null without a question."""
    given = [confidence] if confidence is not None and confidence.given else []
    for metric in (each for each in metrics_of(table) if not each.of_classes):
        for name, each in metric.columns(given):
            if each == confidence:
                found = metric.interval(values, correct, **options) if correct.size else None
                yield from spread(name, found).items()


def class_columns(
    table: Table,
    measured: Mapping[str, Any],
    **options: Any,  # noqa: ANN401 - as the metric takes
) -> Iterator[tuple[str, float | None]]:
    """Give the columns of a table's metrics of what is measured of the classes; null for None.

    ``measured`` holds ``residuals`` and ``counts`` (:meth:`.GradedClasses.measured`), or one of them.
    """
    for metric in (each for each in metrics_of(table) if each.needs[0] in measured):
        given = measured[metric.needs[0]]
        found = None if given is None else metric.measure_classes(given, **options)
        yield from spread(metric.name, None if found is None else Interval(*found[:3])).items()
        for field in metric.more if table == "summary" else ():
            yield f"{metric.name}_{field}", None if found is None else getattr(found, field)


def spread(name: str, interval: Interval | None) -> dict[str, float | None]:
    """Spread an interval over its three columns; nan, and no interval at all, is null.

    Examples
    --------
    >>> from semece.stats.uncertainty.intervals import Interval
    >>> spread("rand", Interval(0.5, float("nan"), 1.0))
    {'rand': 0.5, 'rand_low': None, 'rand_high': 1.0}
    """
    values = (None, None, None) if interval is None else interval
    return {key: None if value != value else value for key, value in zip(_triple(name), values, strict=True)}  # noqa: PLR0124 - nan


def spread_all(values: Mapping[str, Any]) -> dict[str, Any]:
    """Spread every interval of a record; other values have one column each.

    Examples
    --------
    >>> from semece.stats.uncertainty.intervals import Interval
    >>> spread_all({"pairs": 3, "rand": Interval(0.5, 0.2, 1.0)})
    {'pairs': 3, 'rand': 0.5, 'rand_low': 0.2, 'rand_high': 1.0}
    """
    row: dict[str, Any] = {}
    for name, value in values.items():
        row |= spread(name, value) if isinstance(value, Interval) else {name: value}
    return row


def spread_columns(*names: str) -> dict[str, type]:
    """Give the columns of numbers that are spread, for a table's schema.

    Examples
    --------
    >>> list(spread_columns("rand"))
    ['rand', 'rand_low', 'rand_high']
    """
    return {column: float for name in names for column in _triple(name)}


def _bounds(estimates: pl.DataFrame) -> dict[str, float | None]:
    """Bound accuracy and ECEs over all gradings of the excluded questions; the ECEs of those with a confidence."""
    complete = pl.col("status") == "complete"
    entering, excluded = estimates.filter(complete), estimates.filter(~complete)
    correct = entering["correct"].to_numpy()
    bounds: dict[str, tuple[float, float] | tuple[None, None]] = {}
    times = _weights(entering)
    counted = accuracy_bounds(correct, n_questions(excluded), weights=times) if correct.size else (None, None)
    bounds["accuracy"] = counted
    for name in ("sem1", "sem2"):
        out = excluded.drop_nulls(name)
        more: dict[str, Any] = {"weights": times, "excluded_weights": _weights(out)}
        bounds[f"{name}_ece"] = (
            ece_bounds(entering[name], correct, out[name].to_numpy(), **more) if correct.size else (None, None)
        )
    return {
        f"{name}{end}": x for name, pair in bounds.items() for end, x in zip(("_least", "_most"), pair, strict=True)
    }


def _corrected_bounds(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Bound the corrected accuracy over all gradings of the excluded questions; there are no such bounds of an ECE."""
    right, excluded = row["accuracy"] * row["questions"], sum(row[reason] for reason in REASONS)
    asked = row["questions"] + excluded
    bounds = {f"{name}_ece_{end}": None for name in ("sem1", "sem2") for end in ("least", "most")}
    return bounds | {"accuracy_least": right / asked, "accuracy_most": (right + excluded) / asked}


def _share(entering: pl.DataFrame, regime: str) -> float | None:
    """Share of a regime among the questions that have one."""
    known = entering.drop_nulls("regime")
    return n_questions(known.filter(pl.col("regime") == regime)) / n_questions(known) if known.height else None


def headline(summary: pl.DataFrame) -> pl.DataFrame:
    """Narrow a summary to the columns that a person reads first.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summary_table`.

    Returns
    -------
    DataFrame
        Run, N, how many are right, wrong, not answered and failed, excluded, accuracy, oracle confidence, held-out gap
        and SemX-ECE, the ECEs with their intervals, regimes
        in percent, failures, judge. ECEs under split pairing and of attempted questions are left out if no run has
        them, the number of questions without an answer if there are none, the N of Ver-ECE and of split pairing if it
        is everywhere N. Of scores of which only the order means
        something there is the AUROC.
    """
    rows = summary.to_dicts()
    texts = {
        "outcomes": [outcomes_text(row) for row in rows],
        "excluded": [excluded_text(row) or "none" for row in rows],
        "regimes": [_regimes(row) for row in rows],
        "failures": [_failures(row) for row in rows],
    }
    frame = summary.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in texts.items())
    split = summary["sem2_split_questions"]
    counts = [
        *(["refused"] if (summary["refused"] > 0).any() else []),
        *(["ver_questions"] if (summary["ver_questions"] != summary["questions"]).any() else []),
        *(["sem2_split_questions"] if ((split > 0) & (split != summary["questions"])).any() else []),
    ]
    given = scores_in(summary.columns)
    columns = [(name, each) for metric in metrics_of("headline") for name, each in metric.columns(given)]
    columns += [(f"{each.prefix}_auroc", each) for each in given if each.ranked]
    shown = [*CONFIDENCES, *given]
    shown = [each for each in shown if each in PAPER or (summary[f"{each.prefix}_questions"] > 0).any()]
    alone, numbers = (
        [end for each in some for name, own in columns if own == each for end in _triple(name)]
        for some in ([None], shown)
    )
    return frame.select(
        ["run", "questions", "outcomes", "excluded", *alone, *counts, *numbers, "regimes", "failures", "judge"]
    )


def _triple(name: str) -> tuple[str, str, str]:
    """Name a number's column and those of its interval."""
    return name, f"{name}_low", f"{name}_high"


def _regimes(row: Mapping[str, Any]) -> str:
    """Write the shares of the regimes in percent."""
    if row[REGIMES[0]] is None:
        return "—"
    return " / ".join(decimal_text(100 * row[regime], 0) for regime in REGIMES) + " %"


def _failures(row: Mapping[str, Any]) -> str:
    """Write the responses that hold no usable answer, and those that never came."""
    parts = [f"{row[name]:,} {name}" for name in ("unusable", "missing") if row[name]]
    return ", ".join(parts) or "none"


def reliability(estimates: pl.DataFrame, estimator: str) -> pl.DataFrame | None:
    """Reliability table of one estimator of a run, pooled pairing.

    Parameters
    ----------
    estimates : DataFrame
        One row per selected question; those that are ``complete`` and have the confidence enter.
    estimator : {'verbalized', 'sem1', 'sem2'}
        Whose confidence.

    Returns
    -------
    DataFrame or None
        The columns of :func:`semece.reliability_table`, occupied bins only; None if no question enters.
    """
    rows = estimates.filter(pl.col("status") == "complete").select(estimator, "correct").drop_nulls()
    if not rows.height:
        return None
    table = reliability_table(*(column.to_numpy() for column in rows))
    return pl.DataFrame(table._asdict()).filter(pl.col("count") > 0)
