r"""Confidence scores from the entropy of the classes: same partition, same correctness, other numbers.

Entropies are in nats. The plug-in entropy of n responses is too small by about (K - 1) / (2n) (Miller 1955); the
correction adds that back, with K the observed classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypedDict, Unpack, overload

import numpy as np

from semece.stats.counts import Counts, binomial_weights, per_question
from semece.stats.estimators.count_arguments import OneRow, labels_or_counts, questions, selection_sizes
from semece.stats.estimators.frequencies import n_classes
from semece.stats.rows import Floats, Integers, check_choice

Correction = Literal["miller-madow"]
"""What is added to the plug-in entropy."""


class EntropyAgreement(NamedTuple):
    """Entropy agreement, and how often it had to be clipped to [0, 1].

    Parameters
    ----------
    value : float, or ndarray of shape (Q,)
        In [0, 1].
    n_clipped : int
        Questions whose value was below 0 before clipping; only a correction can do that.
    """

    value: float | Floats
    n_clipped: int


class Corrected(TypedDict, total=False):
    """Options of an entropy."""

    correction: Correction | None


class OfBlock(Corrected, total=False):
    """Options of an entropy of the evaluation block."""

    n_select: int | None


class CorrectedMeasure(Protocol):
    """A measure with the option ``correction``."""

    @overload
    def __call__(self, labels: None = None, /, *, counts: Counts, **options: Unpack[Corrected]) -> Floats: ...
    @overload
    def __call__(self, labels: OneRow = None, /, *, counts: OneRow = None, **options: Unpack[Corrected]) -> float: ...


class BlockMeasure(Protocol):
    """A measure with the options ``correction`` and ``n_select``."""

    @overload
    def __call__(self, labels: None = None, /, *, counts: Counts, **options: Unpack[OfBlock]) -> Floats: ...
    @overload
    def __call__(self, labels: OneRow = None, /, *, counts: OneRow = None, **options: Unpack[OfBlock]) -> float: ...


def _corrected_measure(many: Callable[..., Floats]) -> CorrectedMeasure:
    """Make a measure with the option ``correction``."""
    return labels_or_counts(many)


def _block_measure(many: Callable[..., Floats]) -> BlockMeasure:
    """Make a measure with the options ``correction`` and ``n_select``."""
    return labels_or_counts(many)


@_corrected_measure
def semantic_entropy(counts: Counts, *, correction: Correction | None = None) -> Floats:
    r"""Entropy of the class frequencies, :math:`SE = -\sum_k \hat\pi_k \ln \hat\pi_k`.

    Parameters
    ----------
    labels, counts
        As in :func:`semece.sem1`.
    correction : {'miller-madow'}, optional
        Add (K - 1) / (2M).

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        >= 0, in nats; at most ln K without correction.

    Raises
    ------
    ValueError
        If a question has no response or an argument is unknown.

    Examples
    --------
    >>> round(semantic_entropy([0, 1, 0, 1]), 6)
    0.693147
    >>> round(semantic_entropy([0, 1, 0, 1], correction="miller-madow"), 6)
    0.818147
    """
    return _corrected(counts, correction)


@_block_measure
def held_out_entropy(counts: Counts, *, n_select: int | None = None, correction: Correction | None = None) -> Floats:
    r"""Entropy of the evaluation block, averaged over all splits, exactly.

    Each class contributes the expectation of :math:`-\tfrac{E_k}{m} \ln \tfrac{E_k}{m}` over the hypergeometric count
    :math:`E_k` in an evaluation block of :math:`m = M - s` responses, so no split needs to be drawn.

    Parameters
    ----------
    labels, counts
        As in :func:`semece.sem1`, with M >= 2.
    n_select : int, optional
        Size s of the selection block, 1 <= s <= M - 1; by default M // 2.
    correction : {'miller-madow'}, optional
        Add the mean of (classes in the block - 1) / (2m).

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        >= 0, in nats.

    Raises
    ------
    ValueError
        If a question has fewer than two responses or an argument is out of range.

    Examples
    --------
    The block of two is (a, a), (a, b) or (b, b), with chances 1/6, 4/6, 1/6:

    >>> round(held_out_entropy([0, 1, 0, 1]), 6), round(np.log(2) * 4 / 6, 6).item()
    (0.462098, 0.462098)
    """
    return _block_entropy(counts, counts.responses - selection_sizes(counts, n_select), correction)


@_corrected_measure
def exp_entropy(counts: Counts, *, correction: Correction | None = None) -> Floats:
    """One over the effective number of classes, exp(-SE).

    Parameters and errors as in :func:`semantic_entropy`.

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        In (0, 1], never clipped; 1 if there is one class.

    Examples
    --------
    >>> round(exp_entropy([0, 1, 0, 1]), 12)
    0.5
    """
    return np.asarray(np.exp(-_corrected(counts, correction)))


def entropy_agreement(
    labels: OneRow = None, /, *, counts: OneRow | Counts = None, correction: Correction | None = None
) -> EntropyAgreement:
    r"""One minus the entropy over its largest value, :math:`1 - SE / \ln K`; 1 if there is one class.

    Parameters and errors as in :func:`semantic_entropy`.

    Returns
    -------
    EntropyAgreement
        The value, clipped to [0, 1], and the number of questions where that was needed.

    Notes
    -----
    K is the number of observed classes. This is the entropy-based consistency of Lyu et al. (2024), whose code divides
    by the logarithm of the number of distinct answers, too.

    Examples
    --------
    >>> entropy_agreement([0, 1, 0, 1])
    EntropyAgreement(value=0.0, n_clipped=0)
    >>> entropy_agreement(counts=[1] * 50, correction="miller-madow")
    EntropyAgreement(value=0.0, n_clipped=1)
    """
    checked = questions(labels, counts)
    values = 1 - _corrected(checked, correction) / np.log(np.maximum(n_classes(counts=checked), 2))
    # equal classes leave 1e-16 on either side of 0; that is rounding, not clipping
    n_clipped = int((values < -1e-12).sum())
    clipped = np.clip(values, 0.0, 1.0)
    return EntropyAgreement(clipped if isinstance(counts, Counts) else float(clipped[0]), n_clipped)


def _corrected(counts: Counts, correction: Correction | None) -> Floats:
    """Entropy of the frequencies, with the correction asked for."""
    _check(correction)
    share = counts.values / counts.responses[counts.question]
    entropy = per_question(np.add, -share * np.log(np.where(share > 0, share, 1.0)), counts.offsets)
    if correction is None:
        return np.abs(entropy)
    return np.asarray(np.abs(entropy) + (n_classes(counts=counts) - 1) / (2 * counts.responses))


def _block_entropy(counts: Counts, sizes: Integers, correction: Correction | None) -> Floats:
    """Mean entropy of random blocks of the given sizes, with the correction asked for."""
    _check(correction)
    keys = np.column_stack([counts.values, counts.responses[counts.question], sizes[counts.question]])
    distinct, place = np.unique(keys, axis=0, return_inverse=True)
    terms = np.array([_term(*key) for key in distinct.tolist()]).reshape(-1, 2)[place.ravel()]
    entropy, seen = per_question(np.add, terms, counts.offsets).T
    return np.asarray(entropy if correction is None else entropy + (seen - 1) / (2 * sizes))


def _term(count: int, pool: int, size: int) -> tuple[float, float]:
    """Mean entropy term of a class in a random block, and its chance to be in it."""
    share = size / pool
    drawn = np.arange(max(0, size - pool + count), min(count, size) + 1)
    chances = binomial_weights(count, share)[drawn] * binomial_weights(pool - count, share)[size - drawn]
    chances = chances / chances.sum()
    frequency = drawn / size
    return float(-chances @ (frequency * np.log(np.where(drawn > 0, frequency, 1.0)))), float(chances[drawn > 0].sum())


def _check(correction: Correction | None) -> None:
    """Refuse an unknown correction."""
    if correction is not None:
        check_choice("correction", correction, ("miller-madow",))
