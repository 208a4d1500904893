r"""Two calibration errors on the same questions: which is smaller, and how surely, also near zero.

The error of a side is :math:`T = \sum_l |r_l|` with r its mean residuals by bin. Around true residuals of size
:math:`\theta` it would be :math:`S(\theta) = \sum_l |\theta u_l + Z_l|`, with Z normal, its covariance that of the
residuals of both sides together, and u a direction of total size 1. The difference :math:`D = T_2 - T_1` is held
against :math:`S_2(\theta + \delta) - S_1(\theta)`; :math:`\delta` is rejected if no :math:`\theta` makes D likely
enough. How far noise alone raises T depends on the bins whose true residual is 0, which nobody knows. So the error that
a claim calls larger gets the direction of the bins whose residual is beyond :math:`K` standard deviations, and with it
most noise, and the error that it calls smaller the direction of all its residuals. And :math:`\delta` is not rejected
either if D is likely enough where no residual changes its sign.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from semece.stats.calibration.bins import width_bins
from semece.stats.rows import check_level, check_rng, check_rows, sums
from semece.stats.uncertainty.intervals import Residuals, debiased, residual_moments
from semece.stats.uncertainty.skewed_means import PSEUDO

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semece.stats.estimators.semx import SemX
    from semece.stats.rows import Seed

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

TINY = 1e-12
"""A residual, or a difference, below this is zero."""
K = 2.5
"""From how many standard deviations on a bin counts as one with a true residual."""
N_DRAWS = 4_000
"""Draws of Z, half of them the negatives of the other half."""
N_SIZES = 12
"""Sizes of the error between 0 and the larger of the two that are tried."""
N_HALVINGS = 12
"""Halvings with which an end of an interval is found."""


class ErrorTerms(NamedTuple):
    """What a number is made of: a mean, or with several columns the sum of the absolute values of their means.

    Parameters
    ----------
    value : ndarray, shape (N, L)
        A row per question: what is averaged, or the residual in the column of its bin.
    least : ndarray, shape (L,)
        Least variance of the mean of each column.
    """

    value: Floats
    least: Floats

    @property
    def total(self) -> float:
        """The number."""
        mean = self.value.mean(axis=0)
        return float(mean[0] if len(mean) == 1 else np.abs(mean).sum())

    @property
    def debiased(self) -> float:
        """The number with less upward bias; as it is for one column."""
        n, n_columns = self.value.shape
        if n_columns == 1 or n == 1:
            return self.total
        return debiased(Residuals(self.value.mean(axis=0), np.atleast_2d(np.cov(self.value.T)) / n))

    def together(self, ids: Places | None) -> ErrorTerms:
        """Sum the rows that share an id, numbered from 0: they are the units then, and the number stays."""
        if ids is None:
            return self
        n = int(ids.max()) + 1
        value = np.stack([sums(ids, column, n) for column in self.value.T], axis=1)
        return self._replace(value=value * (n / len(self.value)))


class PairedError(NamedTuple):
    """How a number differs between two sides.

    Parameters
    ----------
    change, low, high : float
        Second less first, with the ends of its interval.
    first_less, second_less : float
        One-sided p-values, in (0, 1]: small if the first, or the second, is surely less.
    """

    change: float
    low: float
    high: float
    first_less: float
    second_less: float


def binned_terms(confidence: Floats, correct: Floats, *, n_bins: int = 10) -> ErrorTerms:
    """Give the residual of each question in the column of its bin; confidences are in [0, 1].

    Correctness may lie beyond 0 and 1 where an audit corrects it.

    Examples
    --------
    >>> terms = binned_terms(np.array([0.9, 0.9, 0.2]), np.array([1.0, 0.0, 0.0]))
    >>> terms.value.shape, round(terms.total, 6)
    ((3, 10), 0.333333)
    """
    rows = check_rows(np.minimum(confidence, 1.0), np.clip(correct, 0.0, 1.0))
    bins = width_bins(rows.confidence, n_bins)
    value = np.zeros((len(rows.confidence), n_bins))
    value[np.arange(len(value)), bins.place] = correct - rows.confidence
    least = np.zeros(n_bins)
    least[np.unique(bins.place)] = np.diag(residual_moments(rows, bins).covariance)
    return ErrorTerms(value, np.nan_to_num(least))


def held_out_terms(residuals: SemX | ErrorTerms) -> ErrorTerms:
    """Give the residuals of SemX, a row per question that enters; the least variances are those with pseudo-questions.

    Classes without a grade count as wrong. Terms, such as an audit has corrected, stay as they are.

    Examples
    --------
    >>> from semece import semx
    >>> round(held_out_terms(semx([[0, 0, 1, 0]] * 3, [[0, 1]] * 3)).total, 6)
    0.25
    """
    if isinstance(residuals, ErrorTerms):
        return residuals
    n, n_bins = len(residuals.questions), len(residuals.low)
    cell = np.searchsorted(residuals.questions, residuals.question) * n_bins + residuals.bin
    value, chance, held_out = (
        sums(cell, getattr(residuals, name), n * n_bins).reshape(n, n_bins) for name in ("value", "chance", "held_out")
    )
    right, wrong = held_out.mean(axis=0) - chance.mean(axis=0), held_out.mean(axis=0)
    every = np.concatenate([value, np.tile([right, wrong], (PSEUDO // 2, 1))])
    return ErrorTerms(value, every.var(axis=0) / n)


def held_out_gap_terms(residuals: SemX | ErrorTerms) -> ErrorTerms:
    """Give the residuals of SemX summed over bins: their mean is the held-out gap."""
    return ErrorTerms(held_out_terms(residuals).value.sum(axis=1, keepdims=True), np.zeros(1))


def gap_terms(confidence: Floats, correct: Floats) -> ErrorTerms:
    """Give what mean confidence minus accuracy is the mean of."""
    return ErrorTerms((confidence - correct)[:, None], np.zeros(1))


def paired_error(first: ErrorTerms, second: ErrorTerms, *, level: float = 0.95, rng: Seed = 0) -> PairedError:
    """Compare two calibration errors on the same questions.

    Parameters
    ----------
    first, second : ErrorTerms
        Of the same N >= 2 questions in the same order.
    level : float
        Of the interval, in (0, 1).
    rng : int or Generator
        Seed of the draws; equal input gives equal output.

    Returns
    -------
    PairedError
        The change of the plug-in values. The interval holds it, and the change of the debiased values.

    Notes
    -----
    Error rates and coverage are in the documentation's benchmarks. The interval is wider than that of a bootstrap,
    because it also holds near zero.

    Examples
    --------
    >>> correct = np.array([1.0, 0.0] * 100)
    >>> good, bad = (binned_terms(np.full(200, c), correct) for c in (0.5, 0.9))
    >>> found = paired_error(good, bad)
    >>> round(found.change, 2), found.low > 0.2, found.first_less < 0.01
    (0.4, True, True)
    """
    one, other = _sides(first, second, rng)
    share = (1 - check_level(level)) / 2
    change = other.total - one.total
    ends = change, second.debiased - first.debiased
    low, high = _lower_end(one, other, share), -_lower_end(other, one, share)
    return PairedError(change, min(low, *ends), max(high, *ends), _less(one, other), _less(other, one))


def surely_less(first: ErrorTerms, second: ErrorTerms, *, rng: Seed = 0) -> tuple[float, float]:
    """Give the p-values of :func:`paired_error` alone: that the first is less, and that the second is."""
    one, other = _sides(first, second, rng)
    return _less(one, other), _less(other, one)


def paired_mean(difference: Floats, *, level: float = 0.95) -> PairedError:
    r"""Mean of differences in [-1, 1], with an interval that also holds where hardly any is not zero.

    Four pseudo-questions are added, one of them 1, one -1 and two 0, half a question each (Agresti & Min 2005).

    Parameters
    ----------
    difference : ndarray, shape (N,)
        Second less first, of each question.
    level : float
        In (0, 1).

    Returns
    -------
    PairedError

    Examples
    --------
    >>> found = paired_mean(np.array([0.0] * 90 + [1.0] * 10))
    >>> round(found.change, 2), round(found.low, 2), round(found.high, 2)
    (0.1, 0.04, 0.16)
    """
    n, change = len(difference) + 2, float(difference.mean())
    middle = float(difference.sum()) / n
    spread = ((float(difference @ difference) + 1) / n - middle**2) ** 0.5 / n**0.5
    half = float(ndtri(0.5 + check_level(level) / 2)) * spread
    low, high = min(middle - half, change), max(middle + half, change)
    return PairedError(change, low, high, float(ndtr(-middle / spread)), float(ndtr(middle / spread)))


class _Side(NamedTuple):
    """Mean residuals, their standard deviations, and draws of their noise."""

    value: Floats
    deviation: Floats
    noise: Floats

    @property
    def total(self) -> float:
        return float(np.abs(self.value).sum())

    def drawn(self, size: float, *, larger: bool) -> Floats:
        """Draw the error around true residuals of a size; the claim calls it the larger one or the smaller one."""
        return np.asarray(np.abs(size * self.direction(larger=larger)[:, None] + self.noise).sum(axis=0))

    def direction(self, *, larger: bool) -> Floats:
        """Give the signed shares of the bins in the true error."""
        beyond = np.abs(self.value) / np.maximum(self.deviation, TINY)
        kept = beyond >= (min(K, float(beyond.max())) if larger else 0.0)
        some = np.where(kept, self.value, 0.0)
        if np.abs(some).sum() < TINY:
            some = self.deviation
        return np.asarray(some / max(float(np.abs(some).sum()), TINY))


def _sides(first: ErrorTerms, second: ErrorTerms, rng: Seed) -> tuple[_Side, _Side]:
    """Draw the noise of both together; bins without a question are left out."""
    parts = [terms.value[:, terms.value.any(axis=0) | (terms.least > 0)] for terms in (first, second)]
    least = [terms.least[terms.value.any(axis=0) | (terms.least > 0)] for terms in (first, second)]
    both, width = np.concatenate(parts, axis=1), parts[0].shape[1]
    covariance = np.atleast_2d(np.cov(both.T)) / len(both)
    np.fill_diagonal(covariance, np.maximum(np.diag(covariance), np.concatenate(least)))
    values, vectors = np.linalg.eigh(covariance)
    root = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T
    half = root @ check_rng(rng).standard_normal((len(values), N_DRAWS // 2))
    noise = np.concatenate([half, -half], axis=1)
    mean, deviation = both.mean(axis=0), np.sqrt(np.diag(covariance))
    return _Side(mean[:width], deviation[:width], noise[:width]), _Side(mean[width:], deviation[width:], noise[width:])


def _less(less: _Side, more: _Side, difference: float = 0.0) -> float:
    """P-value of the claim that the second error is larger than the first by more than a difference."""
    least = max(0.0, -difference)
    sizes = np.linspace(least, least + max(less.total, more.total), N_SIZES)
    far = more.total - less.total - difference
    plain = float(ndtr(-far / max(_plain_deviation(less, more), TINY)))
    return max(plain, *(_chance(less, more, size, size + difference) for size in sizes))


def _plain_deviation(less: _Side, more: _Side) -> float:
    """Give the standard deviation of the difference if no residual changes its sign."""
    return float((np.sign(more.value) @ more.noise - np.sign(less.value) @ less.noise).std())


def _chance(less: _Side, more: _Side, smaller: float, larger: float) -> float:
    """Share of the draws around errors of such sizes whose difference is at least the one that was seen."""
    drawn = more.drawn(larger, larger=True) - less.drawn(smaller, larger=False)
    return float((1 + (drawn >= more.total - less.total - TINY).sum()) / (len(drawn) + 1))


def _lower_end(less: _Side, more: _Side, share: float) -> float:
    """Find the least true difference, second less first, that is not rejected."""
    low, high = -1.0, more.total - less.total
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _less(less, more, middle) <= share else (low, middle)
    return low
