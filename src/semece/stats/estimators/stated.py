"""Confidence that the responses state themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from semece.stats.rows import NUMBERS, PERCENT_HINT, Floats, as_decimals, check_choice, decimal, refuse

Missing = Literal["drop", "one"]
"""What a missing stated confidence counts as: nothing, or 1.0 (the paper)."""


def verbalized(confidences: Sequence[float | None], *, missing: Missing = "drop") -> float | None:
    """Mean of the stated confidences of one question.

    Parameters
    ----------
    confidences : sequence of float or None
        Stated confidences in [0, 1]; None or nan where a response states none.
    missing : {'drop', 'one'}
        Leave missing ones out, or count them as 1.0 (the paper).

    Returns
    -------
    float or None
        In [0, 1]; None if nothing is left to average.

    Raises
    ------
    ValueError
        If a confidence is no number in [0, 1].

    Examples
    --------
    >>> verbalized([0.5, None, 0.75])
    0.625
    >>> verbalized([0.5, None, 0.75], missing="one")
    0.75
    """
    check_choice("missing", missing, ("drop", "one"))
    return mean(numbers(confidences, "confidence"), missing)


def mean(values: Floats, missing: Missing) -> float | None:
    """Average checked confidences, in which nan is a missing one."""
    there = ~np.isnan(values)
    values = np.where(there, values, 1.0) if missing == "one" else values[there]
    return float(values.mean()) if len(values) else None


def numbers(values: Sequence[float | None] | NDArray[np.generic], name: str) -> Floats:
    """Check a sequence of numbers in [0, 1]; None becomes nan, which stands for a missing one.

    Examples
    --------
    >>> numbers([1, None], "correct").tolist()
    [1.0, nan]
    """
    given = column(values)
    if given is not None:
        array = as_decimals(given)
    elif isinstance(values, str) or not hasattr(values, "__iter__"):
        raise ValueError(f"{name} must be a sequence of numbers; got {values!r}")
    else:
        array = np.array([_number(value, index, name) for index, value in enumerate(values)], dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {array.shape}")
    bad = ~np.isnan(array) & ~((array >= 0) & (array <= 1))
    if bad.any():
        refuse(f"{name} must lie in [0, 1]", array, bad, PERCENT_HINT if 1 < array[bad.argmax()] <= 100 else "")
    return array


def column(values: object) -> NDArray[np.generic] | None:
    """Read an array or a column of a table, of any number of dimensions, as numbers; None if it is anything else.

    Examples
    --------
    >>> column([0.5]) is None, column(np.array([0.5]))
    (True, array([0.5]))
    """
    if not hasattr(values, "__array__") or not hasattr(values, "dtype"):
        return None
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else None


def _number(value: object, index: int, name: str) -> float:
    """Read one number; None is nan."""
    if value is None:
        return np.nan
    if not isinstance(value, NUMBERS):
        raise ValueError(f"{name} must be a number or None; got {value!r} at index {index}")
    return decimal(value)
