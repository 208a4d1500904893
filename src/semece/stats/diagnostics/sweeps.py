"""What smaller budgets would have given: n-sweep, spread, and the rate at which the estimator gap falls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semece.stats.calibration.bins import width_bins
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.pools import FEW, Pool
from semece.stats.estimators.budget_curves import budget_curve, sem1_distribution
from semece.stats.estimators.semx import SemX
from semece.stats.rows import Bools, Floats, Places, check_count, check_ids, check_level, sums
from semece.stats.theory.expectations import expected_sem1, expected_sem2
from semece.stats.uncertainty.bootstrap import DEFAULT, Resampling, is_low_margin, resampled_sums
from semece.stats.uncertainty.held_out_errors import semx_ece
from semece.stats.uncertainty.intervals import Interval, accuracy_interval, ece_interval
from semece.stats.uncertainty.paired_errors import binned_terms, paired_error
from semece.stats.uncertainty.skewed_means import Drawn, share_interval

if TYPE_CHECKING:
    import polars as pl

BUDGETS: tuple[int, ...] = (10, 20, 30, 40, 50)
"""The paper's budgets."""

NO_GAP = 1e-12
"""A gap up to this is a rounding error, and has no logarithm."""

ENDS = ("", "_low", "_high")
"""What the columns of a number and of its interval end in."""

FEWEST_BUDGETS = 3
"""Fewest budgets through which a slope is drawn."""


def sweep(
    pool: Pool,
    *,
    budgets: Sequence[int] = BUDGETS,
    n_bins: int = 10,
    ids: ArrayLike | None = None,
    resampling: Resampling = DEFAULT,
) -> pl.DataFrame:
    """Tabulate expected confidences and their calibration at smaller numbers of responses, without resampling.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`. Correctness stays that of the whole pool.
    budgets : sequence of int
        Numbers of responses n >= 2.
    n_bins : int
        Bins of the ECEs.
    ids : array_like, shape (Q,), optional
        Question of each row, where several runs are pooled; rows of one are drawn together.
    resampling : Resampling
        Replicates of the gap; level and seed of all intervals.

    Returns
    -------
    polars.DataFrame
        One row per budget: ``n``, ``questions``, ``sem1``, ``sem2`` (mean expected confidences), ``gap`` (their
        difference), ``accuracy``, ``ece_of_expected_sem1``, ``ece_of_expected_sem2``, ``ece_of_one_subsample_sem1``,
        each with ``_low`` and ``_high``, and ``reason``. Null where a question has fewer than n responses: budgets are
        compared on the same questions.

    Raises
    ------
    ValueError
        For no budget, one below 2, and ids that are not one per question.

    Notes
    -----
    An ECE of expected confidences is not the expected ECE of a study with that budget: averaging over subsamples
    before binning hides miscalibration. ``ece_of_one_subsample_sem1`` puts every possible subsample of every question
    into the bins with its probability; it is the ECE that a study with n responses has on very many such questions.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> table = sweep(pool([[0, 0, 1, 1]] * 5, [1, 0, 1, 0, 1]), budgets=[2, 4, 6])
    >>> table["sem1"].round(6).to_list(), table["reason"].to_list()
    ([0.666667, 0.5, None], [None, None, '5 questions have fewer responses'])
    """
    unit, level = check_ids(ids, len(pool.correct)), check_level(resampling.level)
    drawn = Drawn(np.ones(len(pool.correct)), unit, level)
    options: dict[str, Any] = {"level": level, "ids": unit}
    accuracy = accuracy_interval(pool.correct, **options)

    def numbers(n: int, first: Floats, second: Floats) -> dict[str, Any]:
        found = {"sem1": share_interval(first, drawn), "sem2": share_interval(second, drawn)}
        found["gap"] = _gap_interval(first - second, resampling, unit)
        for name, values in (("sem1", np.minimum(first, 1.0)), ("sem2", second)):
            error = ece_interval(values, pool.correct, n_bins=n_bins, rng=resampling.rng, **options)
            found[f"ece_of_expected_{name}"] = error
        subsamples = semx_ece(_subsamples(pool, n, n_bins), rng=resampling.rng, **options)
        return _spread(found | {"ece_of_one_subsample_sem1": Interval(*subsamples[:3])})

    eces = ("ece_of_expected_sem1", "ece_of_expected_sem2", "ece_of_one_subsample_sem1")
    names = [f"{name}{end}" for name in ("sem1", "sem2", "gap", "accuracy", *eces) for end in ("", "_low", "_high")]
    return _by_budget(pool, budgets, names, lambda _: _spread({"accuracy": accuracy}), numbers)


def _spread(intervals: dict[str, Interval]) -> dict[str, float]:
    """Give each number and its ends a name."""
    return {f"{name}{end}": x for name, found in intervals.items() for end, x in zip(ENDS, found, strict=True)}


def _gap_interval(gap: Floats, resampling: Resampling, ids: Places | None) -> Interval:
    """Mean gap of all questions with its percentile interval."""
    means = _resampled_gaps(gap[None], np.ones((1, len(gap)), dtype=bool), resampling, ids)[:, 0]
    return Interval(float(gap.mean()), *map(float, resampling.ends_around(gap.mean(), means)))


def _by_budget(
    pool: Pool,
    budgets: Sequence[int],
    names: Sequence[str],
    always: Callable[[int], dict[str, Any]],
    numbers: Callable[[int, Floats, Floats], dict[str, Any]],
) -> pl.DataFrame:
    """Make a row per budget: what there is always, and numbers of the expected confidences or a reason."""
    sizes = checked_budgets(budgets)
    curve = budget_curve(counts=pool.counts, budgets=sizes)

    def row(n: int, first: Floats, second: Floats) -> dict[str, Any]:
        short = int((pool.n_responses < n).sum())
        rest = {"reason": fewer(short)} if short else numbers(n, first, second)
        return {"n": n, "questions": len(pool.correct)} | always(n) | rest

    schema = {"n": int, "questions": int} | dict.fromkeys(names, float) | {"reason": str}
    return frame(map(row, sizes, curve.sem1, curve.sem2), schema)


def _subsamples(pool: Pool, n: int, n_bins: int) -> SemX:
    """Put all subsamples of n responses into the bins of their Sem1, each with its probability, as residuals."""
    chance = np.maximum(sem1_distribution(counts=pool.counts, n=n), 0.0)
    question, most = np.nonzero(chance)
    mass, confidence = chance[question, most], most / n
    bins = width_bins(confidence, n_bins)
    value = mass * (confidence - pool.correct[question])
    every, edges = np.arange(len(chance)), np.arange(n_bins + 1) / n_bins
    sizes = np.full(len(chance), n)
    held_out = mass * confidence
    return SemX(question, bins.place, value, 0 * value, mass, held_out, every, sizes, edges[:-1], edges[1:])


def one_subsample_ece(pool: Pool, n: int, *, n_bins: int = 10) -> float:
    """ECE of Sem1 over all subsamples of n responses of all questions, each with its probability.

    Parameters
    ----------
    pool : Pool
        Every question has at least n responses.
    n : int
        Size of the subsamples, >= 1.
    n_bins : int
        Bins of the ECE.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> round(one_subsample_ece(pool([[0, 0, 1, 1]], [0.5]), 2), 6)
    0.166667
    """
    found = _subsamples(pool, n, n_bins)
    return float(np.abs(np.bincount(found.bin, found.value)).sum() / len(pool.correct))


def budget_spread(pool: Pool, *, budgets: Sequence[int] = BUDGETS) -> pl.DataFrame:
    r"""How uncertain confidences are at smaller numbers of responses.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`.
    budgets : sequence of int
        Numbers of responses n >= 2.

    Returns
    -------
    polars.DataFrame
        One row per budget: ``n``, ``questions``, ``low_margin`` (share with a pooled margin below
        :math:`1/\sqrt n`), ``sem1_within`` (root mean square, over questions, of the standard deviation of Sem1 from
        one subsample of the pool to the next; 0 at n = M), ``sem1_between``, ``sem2_between`` (standard deviation of
        the expected confidences over questions), ``reason``. Null where a question has fewer than n responses.

    Raises
    ------
    ValueError
        For no budget, or one below 2.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> budget_spread(pool([[0, 0, 1, 1]] * 5, [1] * 5), budgets=[2, 4])["sem1_within"].round(6).to_list()
    [0.235702, 0.0]
    """

    def numbers(n: int, first: Floats, second: Floats) -> dict[str, Any]:
        chance, value = sem1_distribution(counts=pool.counts, n=n), np.arange(n + 1) / n
        variance = chance @ value**2 - (chance @ value) ** 2
        within = np.sqrt(np.maximum(variance, 0.0).mean())
        return {"sem1_within": within, "sem1_between": first.std(), "sem2_between": second.std()}

    names = ("low_margin", "sem1_within", "sem1_between", "sem2_between")
    return _by_budget(pool, budgets, names, lambda n: {"low_margin": is_low_margin(pool.margin, n).mean()}, numbers)


class Curves(NamedTuple):
    """Estimator gaps, low margins and confidences of each question at each budget; arrays have shape (B, Q)."""

    gap: Floats
    expected: Floats | None
    low: Bools
    confidences: tuple[Floats, Floats]


def rate(
    pool: Pool,
    *,
    budgets: Sequence[int] = BUDGETS,
    margin: ArrayLike | None = None,
    pmf: ArrayLike | None = None,
    min_questions: int = FEW,
    ids: ArrayLike | None = None,
    resampling: Resampling = DEFAULT,
) -> pl.DataFrame:
    r"""Estimator gap of the low-margin questions at smaller numbers of responses.

    Parameters
    ----------
    pool : Pool
        From :func:`semece.stats.diagnostics.pool`.
    budgets : sequence of int
        Numbers of responses n >= 2. At each n a question has a low margin if it is below :math:`1/\sqrt n`.
    margin : array_like, shape (Q,), optional
        True margins where they are known (a simulation); by default those of the pooled responses.
    pmf : array_like, shape (Q, K), optional
        True class probabilities where they are known.
    min_questions : int
        Fewest low-margin questions for which a gap is given, >= 1.
    ids : array_like, shape (Q,), optional
        Question of each row, where several runs are pooled; rows of one are drawn together.
    resampling : Resampling
        Replicates, level and seed; all budgets share the draws.

    Returns
    -------
    polars.DataFrame
        One row per budget: ``n``, ``threshold``, ``questions`` (low-margin), ``gap`` (mean expected Sem1 - Sem2 of a
        subsample) with the percentile interval ``gap_low``, ``gap_high``, ``ece_gap`` (ECE of the expected Sem1 less
        that of the expected Sem2) with an interval that also holds near zero, ``ece_gap_low``, ``ece_gap_high``,
        ``expected`` (exact expectation for ``pmf``), ``reason``.

    Raises
    ------
    ValueError
        For no budget, one below 2, and margins, probabilities or ids that are not one per question.

    Notes
    -----
    Empirical margins choose questions whose sample happened to nearly tie, and these have a larger gap near n = M: the
    slope is then flatter than at true margins.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> table = rate(pool([[0, 0, 1, 1]] * 40, [1, 0] * 20), budgets=[2, 4])
    >>> table.select("questions", "gap", "reason").rows()
    [(40, 0.333333..., None), (40, 0.166666..., None)]
    """
    sizes, least = checked_budgets(budgets), check_count("min_questions", min_questions)
    curves = _curves(pool, sizes, margin, pmf)
    used = [b for b, n in enumerate(sizes) if not _missing(pool, n, int(curves.low[b].sum()), least)]
    gaps = _resampled_gaps(curves.gap[used], curves.low[used], resampling, ids) if used else np.empty((0, 0))
    known = check_ids(ids, len(pool.correct))
    unit = np.arange(len(pool.correct)) if known is None else known

    def row(b: int, n: int) -> dict[str, Any]:
        low = curves.low[b]
        found = {"n": n, "threshold": 1 / np.sqrt(n), "questions": low.sum()}
        reason = _missing(pool, n, int(low.sum()), least)
        if reason:
            return found | {"reason": reason}
        gap = curves.gap[b][low].mean()
        gap_low, gap_high = resampling.ends_around(gap, gaps[:, used.index(b)])
        found |= {"gap": gap, "gap_low": gap_low, "gap_high": gap_high}
        found |= _ece_gap([c[b][low] for c in curves.confidences], pool.correct[low], unit[low], resampling)
        return found if curves.expected is None else found | {"expected": curves.expected[b][low].mean()}

    names = [f"{name}{end}" for name in ("gap", "ece_gap") for end in ENDS]
    numbers = dict.fromkeys([*names, "expected"], float)
    schema = {"n": int, "threshold": float, "questions": int} | numbers | {"reason": str}
    return frame((row(b, n) for b, n in enumerate(sizes)), schema)


def _ece_gap(confidences: Sequence[Floats], correct: Floats, unit: Places, resampling: Resampling) -> dict[str, float]:
    """ECE of the first confidence less that of the second; no interval for a single question."""
    first, second = (binned_terms(each, correct) for each in confidences)
    ids = np.unique(unit, return_inverse=True)[1]
    if ids.max() == 0:
        return {"ece_gap": first.total - second.total}
    options: dict[str, Any] = {"level": resampling.level, "rng": resampling.rng}
    found = paired_error(second.together(ids), first.together(ids), **options)
    return _spread({"ece_gap": Interval(*found[:3])})


def rate_slope(
    pool: Pool,
    *,
    budgets: Sequence[int] = BUDGETS,
    margin: ArrayLike | None = None,
    pmf: ArrayLike | None = None,
    min_questions: int = FEW,
    ids: ArrayLike | None = None,
    resampling: Resampling = DEFAULT,
) -> pl.DataFrame:
    r"""Log-log slope of the low-margin estimator gap against n, with a bootstrap interval over questions.

    Parameters
    ----------
    pool, budgets, margin, pmf, min_questions, ids, resampling
        As in :func:`rate`.

    Returns
    -------
    polars.DataFrame
        Two rows, ``quantity`` ``'gap'`` and ``'expected'`` (exact expectations of ``pmf``, same questions, same
        thresholds): ``slope``, ``low``, ``high`` (of the gap), ``budgets`` (how many are used), ``reason``.

    Raises
    ------
    ValueError
        As in :func:`rate`, and for a bad resampling.

    Notes
    -----
    The asymptotic rate is -0.5. A slope of the exact expectations between -0.48 and -0.66 is usual at n <= 50: fewer
    and fewer questions are below a falling threshold.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> table = rate_slope(pool([[0, 0, 1, 1] * 3] * 40, [1, 0] * 20), budgets=[4, 8, 12])
    >>> table.select("quantity", "budgets", "reason").rows()
    [('gap', 3, None), ('expected', 0, 'the population is not known')]
    """
    sizes, least = checked_budgets(budgets), check_count("min_questions", min_questions)
    curves = _curves(pool, sizes, margin, pmf)
    used = [b for b, n in enumerate(sizes) if not _missing(pool, n, int(curves.low[b].sum()), least)]
    log_n = np.log(np.asarray(sizes, dtype=np.float64)[used])
    rows: list[dict[str, Any]] = [{"quantity": "gap"}, {"quantity": "expected"}]
    if len(used) < FEWEST_BUDGETS:
        reason = f"fewer than {FEWEST_BUDGETS} budgets with {least} low-margin questions"
        rows = [row | {"budgets": len(used), "reason": reason} for row in rows]
    else:
        means = _means(curves.gap[used] * curves.low[used], curves.low[used])
        gaps = _resampled_gaps(curves.gap[used], curves.low[used], resampling, ids)
        rows[0] |= {"budgets": len(used)} | _line(log_n, means) | _slope_ends(log_n, means, gaps, resampling)
        if curves.expected is not None:
            means = _means(curves.expected[used] * curves.low[used], curves.low[used])
            rows[1] |= {"budgets": len(used)} | _line(log_n, means)
    if curves.expected is None:
        rows[1] |= {"budgets": 0, "reason": "the population is not known"}
    schema = {"quantity": str, "slope": float, "low": float, "high": float, "budgets": int, "reason": str}
    return frame(rows, schema)


def checked_budgets(budgets: Sequence[int]) -> list[int]:
    """Check numbers of responses: at least one, each at least 2.

    Examples
    --------
    >>> checked_budgets((10, 20))
    [10, 20]
    """
    if len(budgets) == 0:
        raise ValueError("budgets must not be empty")
    return [check_count("budgets", n, least=2) for n in budgets]


def fewer(count: int) -> str:
    """Say that questions have fewer responses than a budget."""
    return f"{count} question{'s have' if count > 1 else ' has'} fewer responses"


def _missing(pool: Pool, n: int, n_low: int, least: int) -> str | None:
    """Say why there is no gap at a budget."""
    short = int((pool.n_responses < n).sum())
    if short:
        return fewer(short)
    return f"fewer than {least} low-margin questions" if n_low < least else None


def _curves(pool: Pool, sizes: list[int], margin: ArrayLike | None, pmf: ArrayLike | None) -> Curves:
    """Gaps by budget and question, and the expected confidences behind them."""
    n_questions = len(pool.correct)
    delta = pool.margin if margin is None else np.asarray(margin, dtype=np.float64)
    for name, values in (("margin", margin), ("pmf", pmf)):
        if values is not None and len(np.asarray(values)) != n_questions:
            raise ValueError(f"{name} must have one entry per question ({n_questions}); got {len(np.asarray(values))}")
    low = np.array([is_low_margin(delta, n) for n in sizes])
    curve = budget_curve(counts=pool.counts, budgets=sizes)
    expected = None
    if pmf is not None:
        expected = np.array([_expected(np.asarray(pmf), low[b], n) for b, n in enumerate(sizes)])
    return Curves(curve.sem1 - curve.sem2, expected, low, (curve.sem1, curve.sem2))


def _expected(pmf: NDArray[Any], low: Bools, n: int) -> Floats:
    """Exact expected gap of the low-margin questions, 0 elsewhere."""
    out = np.zeros(len(pmf))
    if low.any():
        out[low] = expected_sem1(pmf[low], n) - expected_sem2(pmf[low], n // 2)
    return out


def _means(values: Floats, low: Bools) -> Floats:
    """Mean over the low-margin questions at each budget."""
    return np.asarray(values.sum(axis=1) / low.sum(axis=1))


def _line(log_n: Floats, gaps: Floats) -> dict[str, Any]:
    """Slope of log gap against log n."""
    if (gaps <= NO_GAP).any():
        return {"reason": "no gap at some budget"}
    return {"slope": float(slopes(log_n, np.log(gaps)))}


def slopes(x: Floats, y: Floats) -> Floats:
    """Least-squares slopes of the rows of y against x."""
    centred = x - x.mean()
    return np.asarray(y @ centred / (centred @ centred))


def _resampled_gaps(gap: Floats, low: Bools, resampling: Resampling, ids: ArrayLike | None) -> Floats:
    """Mean gap of the low-margin questions of resampled runs at each budget; shape (replicates, budgets)."""
    features = np.concatenate([gap * low, low.astype(np.float64)]).T
    unit = check_ids(ids, len(features))
    if unit is not None:
        features = np.stack([sums(unit, column) for column in features.T], axis=1)
    totals, n_budgets = resampled_sums(features, resampling), len(gap)
    with np.errstate(invalid="ignore"):
        gaps = totals[:, :n_budgets] / totals[:, n_budgets:]
    return np.asarray(gaps[np.isfinite(gaps).all(axis=1)])


def _slope_ends(log_n: Floats, means: Floats, gaps: Floats, resampling: Resampling) -> dict[str, Any]:
    """Find the ends of the slope's percentile interval, where there is a slope."""
    if (means <= NO_GAP).any():
        return {}
    kept = (gaps > NO_GAP).all(axis=1)
    low, high = resampling.ends_around(slopes(log_n, np.log(means)), slopes(log_n, np.log(gaps[kept])))
    return {"low": low, "high": high}
