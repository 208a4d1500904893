"""Random blocks of many questions: which class is selected, by the share of the block that it has.

The terms are those of :mod:`semece.stats.counts.blocks`, summed by bin instead of over all shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.counts.blocks import (
    TABLE_BYTES,
    check_responses,
    groups,
    is_much,
    pieces,
    subset_tables,
    subsets,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from semece.stats.counts.ragged import Counts

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]


class BinnedSelection(NamedTuple):
    """What random blocks of some questions select, by bin.

    Parameters
    ----------
    questions : ndarray of int or slice
        Which questions.
    chance : ndarray, shape (Q, L)
        P(the selected class has a share of the block in the bin); rows sum to 1.
    outside : ndarray, shape (Q, L)
        Mean count of the selected class outside the block, 0 where it is in another bin.
    first, second : ndarray, shape (Q, L)
        Means of the two numbers of the selected class, 0 where it is in another bin.
    """

    questions: Integers | slice
    chance: Floats
    outside: Floats
    first: Floats
    second: Floats


def binned_selection(
    counts: Counts, sizes: Integers, values: Floats, *, bins: Callable[[int], Integers], n_bins: int
) -> Iterator[BinnedSelection]:
    """Select on random blocks drawn without replacement, by the share that the selected class has of the block.

    Parameters
    ----------
    counts : Counts
        Q questions, each with at least two responses.
    sizes : ndarray of int, shape (Q,)
        Size s of the block, 1 <= s < M. Ties are broken uniformly.
    values : ndarray, shape (2, classes of all questions)
        Two numbers of each class, aligned with ``counts.values``.
    bins : callable
        The bins of the shares 0/s, 1/s, ..., s/s, not falling.
    n_bins : int
        L.

    Yields
    ------
    BinnedSelection
        Of some questions at a time; each question is in one of them.

    Examples
    --------
    Two of (a, a, b, c): a twice, or two classes that tie at one half.

    >>> import numpy as np
    >>> from semece.stats.counts import Counts
    >>> counts, sizes, values = Counts.from_counts([[2, 1, 1]]), np.array([2]), np.zeros((2, 3))
    >>> found = binned_selection(counts, sizes, values, bins=lambda s: np.array([0, 0, 1]), n_bins=2)
    >>> next(found).chance.round(6).tolist()
    [[0.833333, 0.166667]]
    """
    check_responses(counts)
    compiled = is_much(counts.responses, 1)
    for group in groups(counts, sizes):
        found = np.zeros((len(group.counts), n_bins, 4))
        some, places = values[:, group.places], bins(group.size)
        if compiled:
            _select_compiled(group.counts, (group.pool, group.size), some, places, found)
        else:
            _select_one_by_one(group.counts, group.size, some, places, found)
        yield BinnedSelection(group.questions, *np.moveaxis(found, 2, 0))


def _select_one_by_one(counts: Counts, size: int, values: Floats, bins: Integers, found: Floats) -> None:
    inside = np.equal.outer(bins, np.arange(found.shape[1])).astype(np.float64)
    for q, (places, table) in enumerate(subset_tables(counts, size)):
        by_bin = table @ inside[: table.shape[1]]
        outside = table * (counts.values[places][:, None] - np.arange(table.shape[1]))
        found[q, :, 0] = by_bin.sum(axis=0)
        found[q, :, 1] = outside.sum(axis=0) @ inside[: table.shape[1]]
        found[q, :, 2:] = (values[:, places] @ by_bin).T


def _select_compiled(counts: Counts, block: tuple[int, int], values: Floats, bins: Integers, found: Floats) -> None:
    """Run the compiled selection piece by piece."""
    from semece.stats.counts import kernels

    for piece in pieces(counts.values, counts.offsets, subsets(*block), 0, len(counts)):
        first, last = piece.questions
        inside = slice(counts.offsets[first], counts.offsets[last])
        classes = kernels.Classes(np.ascontiguousarray(values[:, inside]), bins, found[first:last])
        rows, columns, circle, questions = piece.arguments
        step = max(1, TABLE_BYTES // (32 * len(rows.certain) * (circle.n_points // 2 + kernels.LANES)))
        for at in range(0, max(len(columns.level), 1), step):
            part = slice(at, at + step)
            some = kernels.Columns(columns.level[part], columns.node[part], columns.share[part])
            kernels.select_by_bin(rows, some, circle, questions, classes)
            rows = rows._replace(certain=np.zeros_like(rows.certain))  # counted once
