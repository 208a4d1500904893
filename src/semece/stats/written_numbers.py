"""How numbers are written for people: everywhere with the same digits."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

MISSING = "—"
"""What stands for a number that cannot be had."""

LARGE = 1e15
"""From here on a float holds no decimals."""

FINEST = 6
"""Most decimals of an interval's end that is not 0 but rounds to it."""


def decimal_text(value: float, digits: int = 2, *, signed: bool = False) -> str:
    """Round a number as people do by hand: halves go away from 0, whatever the last bit of the float says.

    Rounded to 12 decimals first, so that the order of a sum does not show. What rounds to 0 has no sign.

    Parameters
    ----------
    value : float
        Any number; what is not finite is written as Python does.
    digits : int
        Decimals, >= 0.
    signed : bool
        Whether a positive number has a plus.

    Returns
    -------
    str

    Examples
    --------
    >>> decimal_text(0.7875, 3), decimal_text(0.285), decimal_text(28.5, 0), decimal_text(-0.001)
    ('0.788', '0.29', '29', '0.00')
    """
    if not abs(value) < LARGE:
        return f"{value:{'+' if signed else ''}.{digits}f}"
    exact = Decimal(repr(round(float(value), 12)))
    rounded = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
    return f"{abs(rounded) if rounded == 0 else rounded:{'+' if signed and rounded else ''}f}"


def end_text(value: float, digits: int = 2) -> str:
    """Format an end of an interval: with more decimals where it would look like 0 and is not.

    Examples
    --------
    >>> end_text(0.214), end_text(0.004), end_text(-0.0003), end_text(0.0)
    ('0.21', '0.004', '-0.0003', '0.00')
    """
    texts = (number_text(value, more) for more in range(digits, max(digits, FINEST) + 1))
    return next((text for text in texts if float(text) != 0), number_text(0.0, digits))


def number_text(value: object, digits: int = 2, *, signed: bool = False) -> str:
    """Format one value, everywhere by the same rule (:func:`decimal_text`); ``signed``: with its plus.

    Examples
    --------
    >>> number_text(0.214), number_text(-0.001), number_text(None), number_text(4326), number_text(0.7875, 3)
    ('0.21', '0.00', '—', '4,326', '0.788')
    """
    if value is None or value != value:  # noqa: PLR0124 - nan is the one value that differs from itself
        return MISSING
    if isinstance(value, float):
        return decimal_text(value, digits, signed=signed)
    if isinstance(value, list):
        return ", ".join(number_text(each, digits) for each in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def interval_html(value: float, low: float, high: float) -> str:
    """Show a number with its interval in a notebook.

    Examples
    --------
    >>> interval_html(0.214, 0.15, 0.2849)
    '0.21 <small>[0.15, 0.28]</small>'
    """
    return f"{number_text(value)} <small>[{end_text(low)}, {end_text(high)}]</small>"
