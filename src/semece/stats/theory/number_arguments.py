"""Checks of arguments that are numbers or arrays of any shape; formulas behind them check nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import Floats, as_array, as_numbers, refuse


def check_numbers(name: str, values: ArrayLike, *, low: float = 0.0, high: float = np.inf) -> Floats:
    """Check finite numbers in [low, high], a single one or an array.

    Parameters
    ----------
    name : str
        The argument, for the message.
    values : array_like
        Any shape.
    low, high : float
        The range, ends included.

    Returns
    -------
    ndarray of float64
        In the shape of ``values``; zero-dimensional for a number.

    Raises
    ------
    ValueError
        Names the argument, the range, the value and its index.

    Examples
    --------
    >>> check_numbers("margin", [0.1, 0.2], high=1.0)
    array([0.1, 0.2])
    """
    array = as_numbers(name, as_array(name, values, "numbers in a regular shape"))
    rule = f"lie in [{low:g}, {high:g}]" if np.isfinite(high) else f"be finite and at least {low:g}"
    refuse(f"{name} must {rule}", array, ~(np.isfinite(array) & (array >= low) & (array <= high)))
    return array


def check_single(name: str, value: float, *, low: float = 0.0, high: float = np.inf) -> float:
    """Check a finite number in [low, high].

    Examples
    --------
    >>> check_single("bias", 0.1)
    0.1
    """
    if np.ndim(check_numbers(name, value, low=low, high=high)) > 0:
        raise ValueError(f"{name} must be a single number; got shape {np.shape(value)}")
    return float(value)


def together(**arrays: Floats) -> tuple[Floats, ...]:
    """Broadcast arrays to one shape.

    Raises
    ------
    ValueError
        Names the arguments and their shapes.

    Examples
    --------
    >>> together(margin=np.zeros(3), n=np.zeros(2))
    Traceback (most recent call last):
    ...
    ValueError: margin and n must be single numbers or have the same length; got shapes (3,) and (2,)
    """
    try:
        return np.broadcast_arrays(*arrays.values())
    except ValueError:
        *names, last = arrays
        *shapes, shape = (str(array.shape) for array in arrays.values())
        rule = f"{', '.join(names)} and {last} must be single numbers or have the same length"
        raise ValueError(f"{rule}; got shapes {', '.join(shapes)} and {shape}") from None


def check_size(n: ArrayLike, *, low: float = 1.0, **others: Floats) -> Floats:
    """Check numbers of responses, which go together with checked arrays."""
    size = check_numbers("n", n, low=low)
    together(**others, n=size)
    return size


def plain(values: Floats) -> Floats:
    """Give a number for a zero-dimensional array, and any other array as it is."""
    result: Floats = np.asarray(values)[()]
    return result


def check_margin(margin: ArrayLike, top_two_mass: ArrayLike) -> tuple[Floats, Floats]:
    """Check a margin and the mass of the two largest classes, which is at least the margin and positive."""
    delta = check_numbers("margin", margin, high=1.0)
    mass = check_numbers("top_two_mass", top_two_mass, high=1.0)
    delta, mass = together(margin=delta, top_two_mass=mass)
    bad = (mass <= 0) | (delta > mass + 1e-12)
    if bad.any():
        at = int(np.argmax(bad))
        got = f"{float(mass.flat[at])} with margin {float(delta.flat[at])} at index {at}"
        raise ValueError(f"top_two_mass must be positive and at least the margin; got {got}")
    return delta, mass


def check_selected(n: Floats, n_select: ArrayLike | None) -> Floats:
    """Check the size of the selection block; half of n, rounded down, if none is given."""
    if n_select is None:
        return np.maximum(np.floor(n / 2), 1.0)
    size = check_numbers("n_select", n_select, low=1.0)
    n, size = together(n=n, n_select=size)
    bad = size > np.maximum(n - 1, 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"n_select must be less than n; got {size.flat[at]:g} of {n.flat[at]:g} at index {at}")
    return size
