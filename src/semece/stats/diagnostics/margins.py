"""Calibration along the margin: strata, alignment with the predicted gap at the boundaries, difficulty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from semece.stats.calibration.bins import bin_index
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.pools import FEW, Pool
from semece.stats.rows import Bools, Floats, check_choice, check_count
from semece.stats.theory.predictions import PREDICTIONS, predicted_gap
from semece.stats.theory.regimes import Design, regime_boundaries

if TYPE_CHECKING:
    import polars as pl

Axis = Literal["unit", "own"]
"""Where a boundary lies on the margin: with p = 1 for every question (the paper), or with the question's own p."""

BOUNDARIES = ("crossover", "low_margin")
WINDOW, WIDENED, ENOUGH = 0.1, 1.5, 50
"""First half width of a window relative to its boundary, the factor it grows by, and how many questions it needs."""


def margin_strata(pool: Pool, *, n_strata: int = 12, min_questions: int = FEW) -> pl.DataFrame:
    """Calibration in strata of the margin, each taken as one bin.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`.
    n_strata : int
        Strata of equal width on [0, 1], >= 1; the lower edge belongs to a stratum.
    min_questions : int
        Fewest questions of a stratum for which numbers are given, >= 1.

    Returns
    -------
    polars.DataFrame
        One row per stratum and confidence: ``low``, ``high``, ``estimator``, ``questions``, ``confidence``,
        ``accuracy``, ``gap`` (confidence - accuracy), ``ece`` (its absolute value), ``reason``. Verbalized rows count
        the questions that have one.

    Raises
    ------
    ValueError
        For a number of strata or questions below 1.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> table = margin_strata(pool([[0, 0, 1, 1]] * 40, [1, 0] * 20), n_strata=2)
    >>> table.filter(table["estimator"] == "sem1").select("low", "questions", "ece", "reason").rows()
    [(0.0, 40, 0.0, None), (0.5, 0, None, 'fewer than 30 questions')]
    """
    stratum = bin_index(pool.margin, n_bins=n_strata)
    least = check_count("min_questions", min_questions)

    def rows() -> Iterator[dict[str, Any]]:
        for k in range(n_strata):
            for name, values in pool.confidences():
                inside = (stratum == k) & ~np.isnan(values)
                row = {"low": k / n_strata, "high": (k + 1) / n_strata, "estimator": name, "questions": inside.sum()}
                yield row | one_bin(values[inside], pool.correct[inside], least)

    numbers = dict.fromkeys(("confidence", "accuracy", "gap", "ece"), float)
    return frame(rows(), {"low": float, "high": float, "estimator": str, "questions": int} | numbers | {"reason": str})


def one_bin(confidence: Floats, correct: Floats, least: int = 1) -> dict[str, Any]:
    """Means of confidence and correctness and their gap; a reason instead if there are too few questions."""
    if len(confidence) < least:
        return {"reason": f"fewer than {least} questions"}
    c, a = float(confidence.mean()), float(correct.mean())
    return {"confidence": c, "accuracy": a, "gap": c - a, "ece": abs(c - a)}


def difficulty(pool: Pool, *, top: int | None = None) -> pl.DataFrame:
    """Rank questions by Sem1 - Sem2: where the choice of the answer itself is in doubt.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`.
    top : int, optional
        Only so many, the most difficult.

    Returns
    -------
    polars.DataFrame
        ``rank`` (1 is the most difficult; ties share the smaller one), ``question`` (position), ``difficulty``,
        ``sem1``, ``sem2``, ``margin``, ``n_classes``, ``n_responses``, ``correct``; ties in order of position.

    Raises
    ------
    ValueError
        For ``top`` below 1.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> difficulty(pool([[0, 0, 0, 0], [0, 1, 0, 1]], [1, 0])).select("rank", "question").rows()
    [(1, 1), (2, 0)]
    """
    import polars as pl

    value = np.round(pool.sem1 - pool.sem2, 12) + 0.0  # so that rounding errors neither rank nor show as -0
    order = np.lexsort((pool.question, -value))[: None if top is None else check_count("top", top)]
    columns = {
        "rank": np.searchsorted(np.sort(-value), -value[order]) + 1,
        "question": pool.question[order],
        "difficulty": value[order],
    }
    names = ("sem1", "sem2", "margin", "n_classes", "n_responses", "correct")
    return pl.DataFrame(columns | {name: getattr(pool, name)[order] for name in names})


class Window(NamedTuple):
    """Questions near a boundary.

    Parameters
    ----------
    inside : ndarray of bool, shape (Q,)
        Which questions; perhaps too few.
    half_width : float
        Relative half width of the window.
    """

    inside: Bools
    half_width: float


def alignment(
    pool: Pool,
    *,
    design: Design = "same-n",
    axis: Axis = "unit",
    mean_classes: bool = True,
    min_questions: int = ENOUGH,
) -> pl.DataFrame:
    r"""Compare the estimator gap near each regime boundary with what the theory predicts there.

    A window of +-10 % around a boundary is widened by a factor of 1.5 until it holds enough questions, at most to
    +-100 %.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`.
    design : {'same-n', 'as-run'}
        Where the crossover lies: at equal n (the paper), or as in a run; see ``semece.theory.regime_boundaries``.
    axis : {'unit', 'own'}
        Boundaries on the margin with p = 1 (the paper), or with each question's own p.
    mean_classes : bool
        The dataset's mean K in :math:`\sqrt{\log K}` (the paper), or each question's own.
    min_questions : int
        Fewest questions of a window, >= 1.

    Returns
    -------
    polars.DataFrame
        One row per boundary: ``boundary``, ``n_classes`` (mean), ``margin`` (mean place of the boundary),
        ``half_width``, ``questions``, ``margins`` (the distinct margins in the window), ``gap`` (difference of the
        one-bin ECEs of Sem1 and Sem2), the predictions ``same_n``, ``as_run``, ``given_pool`` (means over the window at
        the questions' own margins and masses) and ``exact`` (mean of Sem1 - Sem2 of the counts), each with its ratio
        to the gap (``ratio_...``), and ``reason``. No ratio where Sem1 or Sem2 is under-confident on the window.

    Raises
    ------
    ValueError
        For an unknown option.

    Notes
    -----
    ``exact`` equals ``gap`` if both estimators are over-confident on the window. ``given_pool`` is an approximation of
    it that needs a separated third class. ``same_n`` and ``as_run`` are statements about true margins: at an empirical
    margin they answer another question.

    Examples
    --------
    >>> from semece.stats.simulation import near_tie, simulate
    >>> from semece.stats.counts import Counts
    >>> study = simulate(near_tie(2000), rng=1)
    >>> from semece.stats.diagnostics import pool
    >>> table = alignment(pool(counts=Counts.from_counts(study.counts), correct=study.correct))
    >>> [round(x, 2) for x in table["ratio_given_pool"]], table["margins"].to_list()[0]
    ([0.99, 1.0], [0.08])
    """
    check_choice("axis", axis, ("unit", "own"))
    n_classes = float(pool.n_classes.mean()) if mean_classes else pool.n_classes
    mass = pool.top_two_mass if axis == "own" else np.ones(len(pool.margin))
    edges = regime_boundaries(n_classes, pool.n_responses, top_two_mass=mass, design=design)
    names = ["gap", *(name for kind in PREDICTED for name in (kind, f"ratio_{kind}"))]
    schema: dict[str, Any] = {"boundary": str, **dict.fromkeys(("n_classes", "margin", "half_width"), float)}
    schema |= {"questions": int, "margins": list[float]} | dict.fromkeys(names, float) | {"reason": str}
    least, classes = check_count("min_questions", min_questions), pool.n_classes.mean()

    def row(name: str, edge: Floats) -> dict[str, Any]:
        return {"boundary": name, "n_classes": classes, "margin": edge.mean()} | _aligned(pool, edge, least)

    return frame(map(row, BOUNDARIES, edges), schema)


PREDICTED = ("same_n", "as_run", "given_pool", "exact")


def window(margin: Floats, boundary: Floats, min_questions: int) -> Window:
    """Find the questions near a boundary, in a window as narrow as can be and at most +-100 % wide.

    Examples
    --------
    >>> round(window(np.array([0.1, 0.12, 0.2]), np.array([0.1, 0.1, 0.1]), 2).half_width, 6)
    0.225
    """
    half_width = WINDOW
    while True:
        inside = np.abs(margin - boundary) <= half_width * boundary + 1e-9
        if inside.sum() >= min_questions or half_width >= 1:
            return Window(inside, half_width)
        half_width = min(WIDENED * half_width, 1.0)


def _aligned(pool: Pool, boundary: Floats, min_questions: int) -> dict[str, Any]:
    """Gap and predictions in the window of one boundary."""
    inside, half_width = window(pool.margin, boundary, min_questions)
    row: dict[str, Any] = {"half_width": half_width, "questions": inside.sum()}
    if inside.sum() < min_questions:
        return row | {"reason": f"fewer than {min_questions} questions within 100 % of the boundary"}
    first, second = (one_bin(c[inside], pool.correct[inside]) for c in (pool.sem1, pool.sem2))
    gap = first["ece"] - second["ece"]
    delta, mass, n = (values[inside] for values in (pool.margin, pool.top_two_mass, pool.n_responses))
    predicted = {kind.replace("-", "_"): predicted_gap(delta, mass, n, design=kind).mean() for kind in PREDICTIONS}
    predicted["exact"] = (pool.sem1 - pool.sem2)[inside].mean()
    row |= {"margins": np.unique(delta.round(9)).tolist(), "gap": gap} | predicted
    if first["gap"] < 0 or second["gap"] < 0:
        return row | {"reason": "not over-confident here: the gap of the ECEs is not that of the estimators"}
    if gap == 0:
        return row | {"reason": "no gap to compare with"}
    return row | {f"ratio_{kind}": value / gap for kind, value in predicted.items()}
