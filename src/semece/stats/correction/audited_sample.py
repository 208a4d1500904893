"""Which questions people judged, what they said, and how sure a mean over them is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.counts import integers
from semece.stats.rows import Floats, Places, check_same_length, check_unit, sums


class Audited(NamedTuple):
    """Questions that people judged too, drawn at random within strata.

    Parameters
    ----------
    place : array_like of int, shape (m,)
        Their places among all N questions, each once; m >= 1.
    people : array_like, shape (m,)
        What people say: correctness in [0, 1].
    judge : array_like, shape (m,), optional
        What the judge says of the very answers that people saw, in [0, 1]; without it what it says of the question.
        They differ where answers are tied: people see one, the question's correctness is the mean.
    stratum : array_like of int, shape (m,), optional
        The stratum of each, from 0; without them all questions are one stratum.
    sizes : array_like of int, shape (H,), optional
        How many questions each stratum had when they were drawn.
    """

    place: ArrayLike
    people: ArrayLike
    judge: ArrayLike | None = None
    stratum: ArrayLike | None = None
    sizes: ArrayLike | None = None


class AuditSample(NamedTuple):
    """A checked audit.

    Parameters
    ----------
    place : ndarray of int, shape (m,)
        Places among all questions.
    people, judge : ndarray, shape (m,)
        Of the same answers.
    stratum : ndarray of int, shape (m,)
        From 0, none without rows.
    drawn, sizes : ndarray, shape (H,)
        How many of each stratum are audited, and how many there are.
    """

    place: Places
    people: Floats
    judge: Floats
    stratum: Places
    drawn: Floats
    sizes: Floats

    @property
    def difference(self) -> Floats:
        """People's verdict minus the judge's."""
        return np.asarray(self.people - self.judge)

    @property
    def weight(self) -> Floats:
        """Share of all questions that each audited one stands for; they sum to 1."""
        return np.asarray((self.sizes / self.sizes.sum() / self.drawn)[self.stratum])


def check_audited(audited: Audited, judge: Floats) -> AuditSample:
    """Check an audit of N questions; see :class:`Audited`."""
    n = len(judge)
    people = check_unit("people", audited.people)
    place = np.asarray(integers(audited.place, "place"), dtype=np.intp)
    check_same_length("place", place, "people", people)
    if place.max() >= n:
        raise ValueError(f"place must be below {n}, the number of rows; got {place.max()} at index {place.argmax()}")
    seen, times = np.unique(place, return_counts=True)
    if times.max() > 1:
        raise ValueError(f"place must name each row once; got {seen[times.argmax()]} {times.max()} times")
    said = judge[place] if audited.judge is None else check_unit("judge", audited.judge)
    check_same_length("place", place, "judge", said)
    return AuditSample(place, people, said, *_check_strata(audited, len(place), n))


def _check_strata(audited: Audited, m: int, n: int) -> tuple[Places, Floats, Floats]:
    """Check strata, sizes, and that each of them was audited."""
    if (audited.stratum is None) != (audited.sizes is None):
        raise ValueError("stratum and sizes belong together: give both or neither")
    if audited.stratum is None or audited.sizes is None:
        return np.zeros(m, dtype=np.intp), np.array([float(m)]), np.array([float(n)])
    stratum = np.asarray(integers(audited.stratum, "stratum"), dtype=np.intp)
    sizes = integers(audited.sizes, "sizes").astype(np.float64)
    if len(stratum) != m:
        raise ValueError(f"stratum must have one value per audited question; got {len(stratum)} for {m}")
    if stratum.max() >= len(sizes):
        raise ValueError(f"sizes must have one value per stratum; got {len(sizes)} for stratum {stratum.max()}")
    drawn = sums(stratum, np.ones(m), len(sizes))
    for place, (some, every) in enumerate(zip(drawn, sizes, strict=True)):
        if some > every:
            raise ValueError(f"sizes must not be below the audited rows; got {every:g} for {some:g} at index {place}")
        if some == 0 < every:
            raise ValueError(f"every stratum needs audited questions; got none of the {every:g} of stratum {place}")
    kept = np.flatnonzero(sizes > 0)
    return np.searchsorted(kept, stratum).astype(np.intp), drawn[kept], sizes[kept]


def sampling_covariance(sample: AuditSample, place: Places, n_bins: int, *, pseudo: bool = True) -> Floats:
    """Covariance, by bin, of the weighted mean difference over draws of the audited questions.

    ``place``: the bin of each audited question; -1 for none. Differences are rare, so that a bin without one would show
    no variance. ``pseudo`` adds to each stratum the variance of one more answer on which people and the judge differ,
    of m + 2 and spread over the bins as the audited ones are.
    """
    covariance = np.zeros((n_bins, n_bins))
    shares = sample.sizes / sample.sizes.sum()
    for h, (m, size) in enumerate(zip(sample.drawn, sample.sizes, strict=True)):
        inside = sample.stratum == h
        table = np.zeros((int(m), n_bins + 1))
        table[np.arange(int(m)), place[inside] + 1] = sample.difference[inside]
        deviation = (table - table.mean(axis=0))[:, 1:]
        within = deviation.T @ deviation / max(m - 1, 1)
        if pseudo:
            odd = 1 / (m + 2)
            within += np.diag(sums(place[inside] + 1, np.ones(int(m)), n_bins + 1)[1:] / m * odd * (1 - odd))
        covariance += shares[h] ** 2 * (1 - m / size) / m * within
    return covariance


def variance(sample: AuditSample, influence: Floats, n: int) -> float:
    """Variance of a weighted mean over the audited questions, over draws of the n questions and of the audited ones."""
    place = np.zeros(len(influence), dtype=np.intp)
    second = sample._replace(people=influence, judge=np.zeros_like(influence))
    audit = float(sampling_covariance(second, place, 1, pseudo=False)[0, 0])
    middle = float(sample.weight @ influence)
    return float(sample.weight @ (influence - middle) ** 2) / n + audit
