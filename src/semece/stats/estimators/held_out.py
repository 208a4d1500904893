"""The frequency of a class on responses that did not choose it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict, overload

import numpy as np

from semece.stats.counts import Counts, integers, subset_selection
from semece.stats.estimators.count_arguments import questions, selection_sizes
from semece.stats.rows import check_choice, check_count, check_rng

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike, NDArray

    from semece.stats.counts import Selection, Ties

    Floats = NDArray[np.float64]

Method = Literal["exact", "splits", "blocks"]
"""The average over all selection blocks, over some random ones (the authors), or one given pair (the paper)."""

Seed = int | np.random.Generator
"""What random splits are drawn with; an int starts anew at every question."""


class SplitOptions(TypedDict, total=False):
    """Options of Sem2 of one question."""

    n_select: int | None
    ties: Ties | None
    method: Method
    n_splits: int
    rng: Seed


@overload
def sem2(
    labels: None = None, /, *, counts: Counts, n_select: int | None = None, ties: Ties | None = None
) -> Floats: ...
@overload
def sem2(
    labels: ArrayLike | None = None, /, *, counts: ArrayLike | None = None, **options: Unpack[SplitOptions]
) -> float: ...
def sem2(
    labels: ArrayLike | None = None,
    /,
    *,
    counts: ArrayLike | Counts | None = None,
    n_select: int | None = None,
    ties: Ties | None = None,
    method: Method = "exact",
    n_splits: int = 10,
    rng: Seed = 0,
) -> float | Floats:
    r"""Frequency, on the other responses, of the class that a block of responses selects.

    Averaged over all selection blocks of s responses, exactly:

    .. math:: \hat c_2 = \sum_k \sum_j P(N_k = j, \hat z_N = k) \frac{c_k - j}{M - s}

    with N the class counts in the selection block.

    Parameters
    ----------
    labels : array_like of int, shape (M,)
        Class of each response of one question, M >= 2. For ``method="blocks"`` a pair: the labels of the selection
        block and those of the evaluation block.
    counts : array_like of int, shape (K,), or Counts
        Class counts instead, of one question or of many; only for ``method="exact"``, since they have no order.
    n_select : int, optional
        Size s of the selection block, 1 <= s <= M - 1; by default M // 2.
    ties : {'uniform', 'lowest'}, optional
        How a tie in the selection is broken; by default uniformly for 'exact', in favour of the lowest label for
        'splits' and 'blocks'. Labels are numbered after all responses were seen, so 'lowest' lets the evaluation block
        leak into the selection and is biased upwards.
    method : {'exact', 'splits', 'blocks'}
        All blocks; ``n_splits`` random permutations whose first s responses select (the authors: 10 halves, seed 0
        for every question); or two given blocks (the paper's Algorithm 1).
    n_splits : int
        Number of random splits, >= 1.
    rng : int or numpy.random.Generator
        Seed or generator of the random splits.

    Returns
    -------
    float, or ndarray of shape (Q,) for Counts
        In [0, 1].

    Raises
    ------
    ValueError
        If a question has fewer than two responses, or (``'exact'``) more than 20 000, which would take minutes and
        gigabytes; if an argument is out of range.

    Examples
    --------
    >>> round(sem2([0, 0, 1, 0]), 12)
    0.5
    >>> round(sem2(counts=[20, 15, 10, 5]), 12)
    0.341933396073
    >>> sem2(([0, 1, 0], [0, 0, 1, 1]), method="blocks")
    0.5
    """
    check_choice("method", method, ("exact", "splits", "blocks"))
    ties = ties or ("uniform" if method == "exact" else "lowest")
    check_choice("ties", ties, ("uniform", "lowest"))
    if method == "exact":
        checked = questions(labels, counts)
        sizes = selection_sizes(checked, n_select)
        values = held_out_frequency(checked, sizes, subset_selection(checked, sizes, ties=ties))
        return values if isinstance(counts, Counts) else float(values[0])
    if labels is None or counts is not None:
        raise ValueError(f"method={method!r} needs labels; got counts, which have no order")
    if method == "blocks":
        selection, evaluation = _blocks(labels, n_select)
        numbered = _numbered(np.concatenate([selection, evaluation])[None])
        return float(_held_out(numbered[:, : len(selection)], numbered[:, len(selection) :], ties)[0])
    row = integers(labels, "labels")
    size = int(selection_sizes(questions(row, None), n_select)[0])
    return float(_splits(row[None], size, ties, n_splits=check_count("n_splits", n_splits), rng=rng)[0])


def selection_probability(
    labels: ArrayLike | None = None,
    /,
    *,
    counts: ArrayLike | Counts | None = None,
    n_select: int | None = None,
    ties: Ties = "uniform",
) -> Floats:
    r"""Probability of each class to be selected by a random block, :math:`P(\hat z_N = k)`.

    Parameters
    ----------
    labels, counts, n_select, ties
        As in :func:`sem2`; here ``n_select`` may also be M.

    Returns
    -------
    ndarray, shape (K,), or aligned with ``Counts.values``
        Index k is label k. Sums to 1 within a question.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> selection_probability(counts=[2, 1, 1], n_select=2).round(12).tolist()
    [0.5, 0.25, 0.25]
    """
    check_choice("ties", ties, ("uniform", "lowest"))
    checked = questions(labels, counts)
    return subset_selection(checked, selection_sizes(checked, n_select, whole=True), ties=ties).probability


def held_out_frequency(counts: Counts, sizes: NDArray[np.int64], found: Selection) -> Floats:
    """Mean count of the selected class, minus what the block holds of it, over what is left."""
    return np.clip((found.selected - found.largest) / (counts.responses - sizes), 0.0, 1.0)


def sem2_of_splits(labels: Sequence[ArrayLike]) -> Floats:
    """Give Sem2 of many questions over ten random halves, as :func:`sem2` gives it of each by ``method="splits"``.

    Parameters
    ----------
    labels : sequence of Q label sequences
        Classes of each question's responses, at least two.

    Returns
    -------
    ndarray, shape (Q,)
    """
    parts = [np.asarray(part) for part in labels]
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    found = np.empty(len(parts))
    for size in np.unique(sizes).tolist():
        alike = np.flatnonzero(sizes == size)
        found[alike] = _splits(np.stack([parts[q] for q in alike]), size // 2, "lowest", n_splits=10, rng=0)
    return found


def _splits(values: NDArray[np.int64], n_select: int, ties: Ties, *, n_splits: int, rng: Seed) -> Floats:
    """Mean over random splits of each question, a row of labels, in the authors' order of operations."""
    generator = check_rng(rng)
    orders = [generator.permutation(values.shape[1]) for _ in range(n_splits)]
    numbered = _numbered(values)
    parts = ((numbered[:, order[:n_select]], numbered[:, order[n_select:]]) for order in orders)
    return np.asarray(np.stack([_held_out(*pair, ties) for pair in parts], axis=1).mean(axis=1))


def _numbered(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the labels of each row numbers from 0, in their order."""
    row = np.arange(len(values))[:, None]
    _, number = np.unique(values + row * (values.max(initial=0) + 1), return_inverse=True)
    number = number.reshape(values.shape)
    return np.asarray(number - number.min(axis=1, keepdims=True))


def _blocks(labels: ArrayLike, n_select: int | None) -> Iterator[NDArray[np.int64]]:
    """Check a given pair of blocks."""
    pair = list(labels) if isinstance(labels, list | tuple | np.ndarray) else []
    if len(pair) != 2 or n_select is not None:
        raise ValueError("method='blocks' takes a pair of label sequences and no n_select; got something else")
    for block, name in zip(pair, ("selection block", "evaluation block"), strict=True):
        values = integers(block, name)
        if len(values) == 0:
            raise ValueError(f"{name} must hold at least one response; got none")
        yield values


def _held_out(selection: NDArray[np.int64], evaluation: NDArray[np.int64], ties: Ties) -> Floats:
    """Frequency in the evaluation block of the class that the selection block selects; a question a row."""
    number, kinds = len(selection), max(selection.max(), evaluation.max()) + 1
    places = selection + kinds * np.arange(number)[:, None]
    counts = np.bincount(places.ravel(), minlength=number * kinds).reshape(number, kinds)
    modes = counts == counts.max(axis=1, keepdims=True)
    if ties == "lowest":
        return np.asarray((evaluation == modes.argmax(axis=1)[:, None]).mean(axis=1))
    return np.asarray(np.take_along_axis(modes, evaluation, axis=1).mean(axis=1) / modes.sum(axis=1))
