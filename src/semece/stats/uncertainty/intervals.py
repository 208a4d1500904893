r"""How sure a calibration error is: intervals that hold near zero, and a value with less bias.

The unit is the question: rows that share an id are summed before anything varies. Binned residuals :math:`r` (one per
bin, see :func:`semece.ece`) are taken as normal with an estimated covariance :math:`V`, and what
:math:`T = \sum_l |r_l|` would be around :math:`t r` is drawn from :math:`\sum_l |t r_l + Z_l|`, :math:`Z \sim N(0, V)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from semece.stats.calibration.binned_errors import bin_residuals, wilson
from semece.stats.calibration.bins import width_bins
from semece.stats.rows import check_correct, check_level, check_rng, check_rows, sums
from semece.stats.written_numbers import interval_html

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from semece.stats.calibration.bins import Bins, Closed
    from semece.stats.rows import CheckedRows

NEARLY_ALL = 0.95
"""Share of the questions from which one bin decides the upper end."""
NEGLIGIBLE = 1e-12
"""Share of the largest variance below which a direction of the noise is a rounding error."""
N_DRAWS = 10_000
"""Draws of Z, half of them the negatives of the other half."""
TINY = 1e-12
"""A residual below this is zero: it has no sign, and counts with the one that adds most to the upper end."""


class Interval(NamedTuple):
    """A number with its interval.

    Parameters
    ----------
    value : float
        The number.
    low, high : float
        Ends of the interval.
    """

    value: float
    low: float
    high: float

    def _repr_html_(self) -> str:
        return interval_html(*self)


class Residuals(NamedTuple):
    """Binned residuals and their estimated covariance, of the bins that vary or differ from zero.

    Parameters
    ----------
    value : ndarray, shape (L,)
        Sum of correct - confidence in each bin over the total weight.
    covariance : ndarray, shape (L, L)
        Of ``value``, over draws of questions; nan if there is only one question.
    start : float
        What the upper end of an interval starts from, if it is more than the value.
    """

    value: NDArray[np.float64]
    covariance: NDArray[np.float64]
    start: float = 0.0


def accuracy_interval(
    correct: ArrayLike, *, level: float = 0.95, ids: ArrayLike | None = None, weights: ArrayLike | None = None
) -> Interval:
    r"""Accuracy with its Wilson interval.

    Parameters
    ----------
    correct : array_like, shape (N,)
        In [0, 1]; N >= 1. Soft values are allowed; the interval is then conservative.
    level : float
        In (0, 1).
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question. Rows of one question count for fewer the more alike
        they are: N becomes :math:`\hat p (1 - \hat p)` over the variance of the accuracy over draws of questions, and
        quantiles are Student's with one degree of freedom less than there are questions.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.

    Returns
    -------
    Interval
        Mean of ``correct``, and the interval; all in [0, 1].

    Raises
    ------
    ValueError
        For an empty array, values outside [0, 1], and a bad level.

    Notes
    -----
    Source: Wilson (1927); Korn & Graubard (1998) for the effective size.

    Examples
    --------
    >>> [round(end, 4) for end in accuracy_interval([1, 1, 1, 0])]
    [0.75, 0.3006, 0.9544]
    """
    values = check_correct(correct)
    rows = check_rows(np.zeros(len(values)), values, weights=weights, ids=ids, whole=True)
    share = np.float64(np.average(rows.correct, weights=rows.weights))
    low, high = wilson(share, _effective_size(rows, share), check_level(level), widening(rows.ids, level))
    return Interval(float(share), float(low), float(high))


def widening(ids: NDArray[np.intp] | None, level: float) -> float:
    """Ratio of Student's quantile to the normal one for intervals over repeated ids; 1 where none repeats."""
    n = 0 if ids is None else int(ids.max()) + 1
    if ids is None or n == len(ids):
        return 1.0
    return float(stdtrit(max(n - 1, 1), 0.5 + level / 2) / ndtri(0.5 + level / 2))


def _effective_size(rows: CheckedRows, share: np.float64) -> np.float64:
    """Count the independent answers that would make the accuracy as sure: at most the rows."""
    total = np.float64(rows.weights.sum())
    if rows.ids is None:
        return total
    n = int(rows.ids.max()) + 1
    deviation = sums(rows.ids, rows.weights * (rows.correct - share))
    spread = float(deviation @ deviation)
    if n == 1 or spread <= 0:
        return np.float64(min(n, total))
    return np.float64(min(share * (1 - share) * total**2 / spread, total))


def ece_interval(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    level: float = 0.95,
    n_bins: int = 10,
    closed: Closed = "left",
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
) -> Interval:
    r"""ECE with an interval that also holds for a calibrated model.

    Lower end: :math:`t T` for the smallest :math:`t \ge 0` for which the upper quantile of
    :math:`\sum_l |t u_l + Z_l|` reaches T; 0 if :math:`t = 0` does. The :math:`u_l` are the residuals, each moved one
    standard deviation towards 0, scaled so that :math:`\sum_l |u_l| = T`. Upper end:
    :math:`T + z \sqrt{\operatorname{sign}(r)' V \operatorname{sign}(r)}`. In no bin is the variance less than that of
    :math:`\tilde p = (x + 2) / (m + 4)` for m questions with x correct answers, soft ones included (Agresti & Coull).
    If one bin holds nearly all questions, the upper end starts from :math:`|\tilde p - \bar c|` if that is more than T.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    level : float
        In (0, 1).
    n_bins, closed
        As in :func:`semece.ece`.
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question. Where ids repeat, V is scaled so that quantiles are
        Student's with one degree of freedom less than there are questions.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    Interval
        The plug-in ECE and its interval, all in [0, 1]. With a single question the interval is [0, 1].

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Notes
    -----
    A percentile bootstrap interval of the ECE covers nothing when the model is calibrated, because the plug-in value
    is biased upwards. Soft correctness varies less than binary correctness of the same mean, so its interval holds more
    often than it says. If all confidences are 1, the interval is one minus that of the accuracy, up to the correction
    of a bin, 2 / (N + 4). Measured coverage is in the documentation's benchmarks.

    Examples
    --------
    >>> interval = ece_interval([0.9] * 60 + [0.2] * 40, [1] * 40 + [0] * 60)
    >>> [round(end, 2) for end in interval]
    [0.22, 0.15, 0.29]
    """
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    residuals = residual_moments(rows, width_bins(rows.confidence, n_bins, closed))
    wider = residuals.covariance * widening(rows.ids, check_level(level)) ** 2
    return residual_interval(residuals._replace(covariance=wider), level, rng)


def debiased_ece(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    n_bins: int = 10,
    closed: Closed = "left",
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    rng: int | np.random.Generator = 0,
) -> float:
    r"""ECE with less upward bias.

    The :math:`t T` for which the median of :math:`\sum_l |t r_l + Z_l|` equals T; 0 if T is below the median at
    :math:`t = 0`.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        In [0, 1]; N >= 1. ``correct`` may be soft.
    n_bins, closed
        As in :func:`semece.ece`.
    ids : array_like, shape (N,), optional
        Question of each row; without them every row is a question.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, whole numbers: how often a row occurs.
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    float
        In [0, ECE]. With a single question the ECE itself.

    Raises
    ------
    ValueError
        As in :func:`semece.ece`.

    Notes
    -----
    The bias is reduced, not removed: no unbiased estimator exists. Measured at 24, 50, 100, 200 and 500 questions: for
    a calibrated model 32 to 45 % of the plug-in's bias is left; at a true error of 0.1 to 0.2 the bias is at most
    0.028, 0.013, 0.006, 0.008 and 0.003, on either side (plug-in: up to 0.14, 0.08, 0.055, 0.023 and 0.01). An
    over-confident model needs no correction from about 200 questions on: the plug-in's own bias is below 0.006 there.

    Examples
    --------
    >>> debiased_ece([0.5] * 100, [1] * 51 + [0] * 49)
    0.0
    """
    rows = check_rows(confidence, correct, weights=weights, ids=ids, whole=True)
    return debiased(residual_moments(rows, width_bins(rows.confidence, n_bins, closed), floored=False), rng)


def residual_interval(residuals: Residuals, level: float, rng: int | np.random.Generator = 0) -> Interval:
    """Interval of the sum of absolute residuals, unchecked; see :func:`ece_interval`."""
    r, covariance, _ = residuals
    total = float(np.abs(r).sum())
    if np.isnan(covariance).any():
        return Interval(total, 0.0, 1.0)
    low = shrunk(cleared(r, covariance), paired_draws(covariance, rng), 0.5 + level / 2)
    return Interval(total, low, upper_end(residuals, level))


def upper_end(residuals: Residuals, level: float) -> float:
    """Upper end of the interval of the sum of absolute residuals, unchecked; see :func:`ece_interval`."""
    r, covariance, start = residuals
    sign = np.where(np.abs(r) < TINY, 0.0, np.sign(r))
    signs = np.outer(sign, sign)
    spread = max(float(np.where(signs == 0, np.abs(covariance), signs * covariance).sum()), 0.0) ** 0.5
    high = max(float(np.abs(r).sum()), start) + float(ndtri(0.5 + level / 2)) * spread
    return min(float(high), 1.0)


def debiased(residuals: Residuals, rng: int | np.random.Generator = 0) -> float:
    """Sum of absolute residuals with less upward bias, unchecked; as it is if there is only one question."""
    if np.isnan(residuals.covariance).any():
        return float(np.abs(residuals.value).sum())
    return shrunk(residuals.value, paired_draws(residuals.covariance, rng), 0.5)


def rejects_calibration(residuals: Residuals, level: float = 0.95, rng: int | np.random.Generator = 0) -> bool:
    """Whether the sum of absolute residuals is beyond a quantile of what noise alone gives, unchecked.

    The normal counterpart of :func:`semece.calibration_test` for soft correctness. False if there is only
    one question.
    """
    if np.isnan(residuals.covariance).any():
        return False
    noise = np.abs(paired_draws(residuals.covariance, rng)).sum(axis=0)
    return bool(np.quantile(noise, level, method="higher") < np.abs(residuals.value).sum())


def cleared(value: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Move each residual one standard deviation towards 0, and scale what is left to the same absolute sum.

    Residuals that are noise would be counted twice around :math:`t r`, once as error and once as noise: where a few
    bins err and the others do not, the lower end would lie too high. As they are if none is left.
    """
    left = np.sign(value) * np.maximum(np.abs(value) - np.sqrt(np.diag(covariance)), 0.0)
    size = np.abs(left).sum()
    return np.asarray(left * (np.abs(value).sum() / size)) if size > TINY else value


def shrunk(value: NDArray[np.float64], noise: NDArray[np.float64], quantile: float) -> float:
    r"""Find :math:`t T` with the smallest t in [0, 1] for which a quantile of sum |t r + Z| is at least T.

    The quantile does not fall with t (Anderson's inequality), and for quantiles of at least one half it has reached T
    at t = 1, because :math:`|r + Z| + |r - Z| \ge 2 |r|` and the draws come in pairs Z, -Z (:func:`paired_draws`).
    """
    r = value[:, None]
    total = float(np.abs(r).sum())

    def excess(t: float) -> float:
        return float(np.quantile(np.abs(t * r + noise).sum(axis=0), quantile, method="higher")) - total

    if excess(0.0) >= 0:
        return 0.0
    return total if excess(1.0) <= 0 else total * float(brentq(excess, 0.0, 1.0, xtol=1e-6))


def paired_draws(covariance: NDArray[np.float64], rng: int | np.random.Generator = 0) -> NDArray[np.float64]:
    """Draws from N(0, covariance) in pairs Z, -Z; shape (L, N_DRAWS).

    By the symmetric root of the covariance, which a rounding error cannot turn; so the order of rows does not matter.
    """
    values, vectors = np.linalg.eigh(covariance)
    kept = np.where(values > NEGLIGIBLE * values[-1], values, 0.0)  # the root of a rounding error is not small
    root = (vectors * np.sqrt(np.clip(kept, 0.0, None))) @ vectors.T
    noise = root @ check_rng(rng).standard_normal((len(values), N_DRAWS // 2))
    return np.concatenate([noise, -noise], axis=1)


def residual_moments(rows: CheckedRows, bins: Bins, *, floored: bool = True) -> Residuals:
    r"""Binned residuals and their covariance over draws of questions, of the occupied bins.

    Weighted rows without ids count as that many questions. With ids, rows are summed within a question; the total
    weight then varies too, and the covariance is that of the ratio.

    A bin whose answers are nearly all correct or all wrong shows too little variance of its own, and a few confident
    and correct answers would seem to prove perfect calibration. So its variance is at least that of a share; see
    :func:`floor_variance`. That keeps an interval honest; ``floored=False`` leaves it out, for a value in the middle.
    """
    bins = bins.occupied()
    r = bin_residuals(rows, bins)
    covariance, questions, squares = (_row_moments if rows.ids is None else _question_moments)(rows, bins, r)
    if not floored:
        return Residuals(r, covariance)
    weight = bins.total(rows.weights)
    confidence, accuracy = (bins.total(rows.weights * part) / weight for part in (rows.confidence, rows.correct))
    return floor_variance(
        Residuals(r, covariance), BinShares(confidence, accuracy, questions, squares, rows.weights.sum())
    )


class BinShares(NamedTuple):
    """Mean confidence and accuracy of each bin, its questions, the sum of their squared weights; the total weight."""

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    questions: NDArray[np.float64]
    squares: NDArray[np.float64]
    total: float


def floor_variance(residuals: Residuals, bins: BinShares) -> Residuals:
    r"""Give every bin at least the variance of a share, and one that holds nearly all a start for the upper end.

    The share is Agresti and Coull's (1998), :math:`\tilde p = (x + 2) / (m + 4)`; covariances between bins stay.
    """
    if len(residuals.value) == 0:
        return residuals
    share = (bins.questions * bins.accuracy + 2) / (bins.questions + 4)
    covariance = residuals.covariance.copy()
    least = bins.squares * share * (1 - share) / bins.total**2
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), least))
    main = int(np.argmax(bins.questions))
    alone = bins.questions[main] >= NEARLY_ALL * bins.questions.sum()
    return Residuals(residuals.value, covariance, abs(float(share[main] - bins.confidence[main])) if alone else 0.0)


class Moments(NamedTuple):
    """Covariance of the residuals; per bin the number of questions and the sum of their squared weights."""

    covariance: NDArray[np.float64]
    questions: NDArray[np.float64]
    squares: NDArray[np.float64]


def _row_moments(rows: CheckedRows, bins: Bins, r: NDArray[np.float64]) -> Moments:
    """Moments where every row is a question (a weight of w: w questions)."""
    total = rows.weights.sum()
    squares = bins.total(rows.weights * (rows.correct - rows.confidence) ** 2) / total
    free = total - 1 if total > 1 else np.nan
    weight = bins.total(rows.weights)
    return Moments((np.diag(squares) - np.outer(r, r)) / free, weight, weight)


def _question_moments(rows: CheckedRows, bins: Bins, r: NDArray[np.float64]) -> Moments:
    """Moments where rows are summed by question."""
    ids = rows.ids if rows.ids is not None else np.arange(len(rows.weights))
    n, n_columns = int(ids.max()) + 1, len(r) + 1
    cell = ids * n_columns + bins.place + 1

    def table(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums(cell, values, n * n_columns).reshape(n, n_columns)[:, 1:]

    deviation = table(rows.weights * (rows.correct - rows.confidence)) - np.outer(sums(ids, rows.weights), r)
    scale = n / (n - 1) if n > 1 else np.nan
    weight = table(rows.weights)
    covariance = deviation.T @ deviation / rows.weights.sum() ** 2 * scale
    return Moments(covariance, (weight > 0).sum(axis=0).astype(np.float64), (weight**2).sum(axis=0))
