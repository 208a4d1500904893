"""What many-question functions take: one confidence and one correctness per row, checked once at the public door.

Formulas behind the door receive :class:`CheckedRows` and check nothing.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Places = NDArray[np.intp]
"""Integers that are indices of another array."""
Bools = NDArray[np.bool_]
Seed = int | np.random.Generator
"""What random numbers are drawn with: equal seeds give equal numbers; a generator is used as it is."""

DECIMALS = {np.dtype(np.float16): 3, np.dtype(np.float32): 7}
"""Decimals that a shorter float can hold in [0, 1]: single precision 0.7 is read as 0.7, not as 0.69999999."""
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
"""Types of a single real number."""

MISSING_HINT = " (filter out rows without a number first: keep status == 'complete')"
PERCENT_HINT = " (percentages? divide by 100)"
PARTLY_HINT = " (an answer that is right in part, as at a tie, counts as wrong: np.floor(correct))"


class CheckedRows(NamedTuple):
    """Checked rows, all of the same length N >= 1.

    Parameters
    ----------
    confidence, correct : ndarray of float64, shape (N,)
        In [0, 1].
    weights : ndarray of float64, shape (N,)
        Frequency weights > 0; ones if none were given. Rows of weight 0 are gone.
    ids : ndarray of int, shape (N,), or None
        Questions, numbered from 0; None where every row is a question.
    """

    confidence: Floats
    correct: Floats
    weights: Floats
    ids: Places | None


def check_rows(
    confidence: ArrayLike,
    correct: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    binary: bool = False,
    whole: bool = False,
) -> CheckedRows:
    """Check confidence and correctness, weights and question ids.

    Parameters
    ----------
    confidence, correct : array_like, shape (N,)
        Numbers in [0, 1]; N >= 1.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0, not all zero. A row of weight 0 is left out.
    ids : array_like, shape (N,), optional
        Numbers or strings that name questions.
    binary : bool
        Whether ``correct`` may only hold 0 and 1.
    whole : bool
        Whether ``weights`` must be whole numbers, because they say how many rows there are.

    Returns
    -------
    CheckedRows

    Raises
    ------
    ValueError
        Names the argument, the value and its index.

    Examples
    --------
    >>> check_rows([0.5, 1.0], [True, False]).correct
    array([1., 0.])
    """
    c = check_unit("confidence", confidence)
    a = check_correct(correct, binary=binary)
    check_same_length("confidence", c, "correct", a)
    questions = check_ids(ids, len(c))
    if weights is None:
        return CheckedRows(c, a, np.ones(len(c)), questions)
    w = check_weights(weights, len(c))
    if whole:
        refuse("weights must be whole numbers here, how often a row occurs", w, w != np.round(w))
    kept = w > 0
    return CheckedRows(c[kept], a[kept], w[kept], None if questions is None else _numbered(questions[kept]))


def check_correct(correct: ArrayLike, *, binary: bool = False) -> Floats:
    """Check correctness: numbers in [0, 1], or only 0 and 1 where ``binary``."""
    values = check_unit("correct", correct)
    if binary:
        refuse("correct must be 0 or 1 here", values, (values != 0) & (values != 1), PARTLY_HINT)
    return values


def check_unit(name: str, values: ArrayLike) -> Floats:
    """Check a non-empty one-dimensional array of numbers in [0, 1]."""
    array = check_finite(name, values)
    outside = (array < 0) | (array > 1)
    hint = ""
    if outside.any() and array.min() >= 0 and 2 <= array.max() <= 100:
        hint = PERCENT_HINT
    refuse(f"{name} must lie in [0, 1]", array, outside, hint)
    return array


def check_finite(name: str, values: ArrayLike) -> Floats:
    """Check a non-empty one-dimensional array of finite numbers."""
    given = as_array(name, values, "one-dimensional")
    if given.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {given.shape}")
    if given.size == 0:
        raise ValueError(f"{name} must not be empty")
    array = as_numbers(name, given)
    bad = ~np.isfinite(array)
    refuse(f"{name} must be finite", array, bad, MISSING_HINT if bad.any() and np.isnan(array[bad][0]) else "")
    return array


def as_array(name: str, values: ArrayLike, shape: str) -> NDArray[Any]:
    """Make an array of a regular nest; ``shape`` says what was asked for."""
    try:
        return np.asarray(values)
    except ValueError:  # numpy's word for a ragged nest
        raise ValueError(f"{name} must be {shape}; got a nest of unequal lengths") from None


def as_numbers(name: str, array: NDArray[Any]) -> Floats:
    """Convert an array of numbers, or of objects that are numbers, to double precision."""
    if array.dtype.kind not in "biuf":
        items = [check_number(name, item, at) for at, item in enumerate(array.ravel().tolist())]
        array = np.array(items, dtype=np.float64).reshape(array.shape)
    return as_decimals(array)


def check_number(name: str, item: object, at: int) -> float:
    """Read the number at an index of a sequence."""
    if not isinstance(item, NUMBERS):
        raise ValueError(f"{name} must be numbers; got {item!r} at index {at}{MISSING_HINT if item is None else ''}")
    return decimal(item)


def as_decimals(array: NDArray[Any]) -> Floats:
    """Convert real numbers to double precision, shorter floats as the decimals they were written as.

    Examples
    --------
    >>> as_decimals(np.array([0.7], dtype=np.float32)).tolist()
    [0.7]
    """
    values = array.astype(np.float64)
    decimals = DECIMALS.get(array.dtype)
    return values if decimals is None else np.round(values, decimals)


def decimal(number: object) -> float:
    """Convert one real number as :func:`as_decimals` does."""
    return float(as_decimals(np.asarray(number)))


def check_weights(weights: ArrayLike, n: int) -> Floats:
    """Check n frequency weights."""
    array = check_finite("weights", weights)
    refuse("weights must not be negative", array, array < 0)
    if len(array) != n:
        raise ValueError(f"weights must have one value per row; got {len(array)} for {n} rows")
    if not array.any():
        raise ValueError("weights must not all be zero; got 0.0 everywhere")
    return array


def check_ids(ids: ArrayLike | None, n: int) -> Places | None:
    """Check n question ids and number them from 0; None if none were given."""
    if ids is None:
        return None
    try:
        array = np.asarray(ids)
    except ValueError:  # numpy's word for a ragged nest
        array = np.empty((n, 0))
    if array.shape != (n,):
        raise ValueError(f"ids must have one value per row; got shape {array.shape} for {n} rows")
    if array.dtype == object:
        array = array.astype(str)
    return _numbered(array)


def check_same_length(name: str, first: NDArray[Any], other: str, second: NDArray[Any]) -> None:
    """Refuse two arrays of unequal length."""
    if len(first) != len(second):
        raise ValueError(f"{name} and {other} must have the same length; got {len(first)} and {len(second)}")


def check_level(level: float, *, name: str = "level") -> float:
    """Check the level of an interval, or another share that is inside (0, 1)."""
    if not isinstance(level, NUMBERS) or not 0 < level < 1:
        got = level if isinstance(level, NUMBERS) else repr(level)
        hint = " (percent? divide by 100)" if isinstance(level, NUMBERS) and 1 < level <= 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {got}{hint}")
    return float(level)


def check_rng(rng: Seed) -> np.random.Generator:
    """Make a generator of a seed; a generator is used as it is."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise ValueError(f"rng must be a whole number of at least 0 or a numpy Generator; got {rng!r}") from None


def check_count(name: str, value: int, *, least: int = 1) -> int:
    """Check a whole number of at least ``least``."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    return number


def check_responses(n: ArrayLike, n_rows: int) -> Floats:
    """Check numbers of responses, at least 1: one for each row, or one for all."""
    array = check_finite("n", np.full(n_rows, n) if np.ndim(n) == 0 else n)
    refuse("n must be at least 1", array, array < 1)
    if len(array) != n_rows:
        raise ValueError(f"n must be one number or have one value per row; got {len(array)} for {n_rows} rows")
    return array


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a word that is not one of ``choices``."""
    if value not in choices:
        from difflib import get_close_matches

        near = "".join(f" (did you mean {each!r}?)" for each in get_close_matches(str(value), choices, n=1))
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}{near}")


def sums(place: Places, values: Floats, n: int = 0) -> Floats:
    """Sum values by place, unchecked; at least n places."""
    return np.bincount(place, values, n).astype(np.float64, copy=False)


def _numbered(ids: NDArray[Any]) -> Places:
    """Give distinct ids numbers from 0."""
    return np.unique(ids, return_inverse=True)[1]


def refuse(rule: str, values: Floats, bad: Bools, hint: str = "") -> None:
    """Raise for the first bad value, with its index."""
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"{rule}; got {float(values.flat[at])} at index {at}{hint}")
