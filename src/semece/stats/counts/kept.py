"""What was found for the last small tables of counts: the tables of a paper ask for the same numbers again."""

from __future__ import annotations

from functools import lru_cache, wraps
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from semece.stats.counts.ragged import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import Any

    from numpy.typing import NDArray

Found = TypeVar("Found", bound="Iterable[NDArray[Any]]")

MOST_VALUES = 2**14
"""Largest table that is kept: its arrays take a megabyte at most."""

TABLES = 128
"""So many of them are kept."""


def once_per_counts(function: Callable[[Counts, Any], Found]) -> Callable[[Counts, Any], Found]:
    """Keep what a function of counts and of one more argument finds, as arrays that cannot be written to.

    Examples
    --------
    >>> @once_per_counts
    ... def scaled(counts, factor):
    ...     print("done")
    ...     return (counts.values * factor,)
    >>> once, again = (scaled(Counts.from_counts([[2, 1]]), 3)[0] for _ in range(2))
    done
    >>> again.tolist(), again.flags.writeable
    ([6, 3], False)
    """

    @lru_cache(maxsize=TABLES)
    def kept(values: bytes, offsets: bytes, other: Hashable) -> Found:
        found = function(Counts(np.frombuffer(values, dtype=np.int64), np.frombuffer(offsets, dtype=np.int64)), other)
        for array in found:
            array.flags.writeable = False
        return found

    @wraps(function)
    def once(counts: Counts, other: Any) -> Found:  # noqa: ANN401 - whatever the function takes
        if len(counts.values) > MOST_VALUES:
            return function(counts, other)
        return kept(counts.values.tobytes(), counts.offsets.tobytes(), other)

    return once
