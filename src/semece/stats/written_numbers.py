"""How numbers are written for people: everywhere with the same digits."""

from __future__ import annotations

MISSING = "—"
"""What stands for a number that cannot be had."""

FINEST = 6
"""Most decimals of an interval's end that is not 0 but rounds to it."""


def end_text(value: float, digits: int = 2) -> str:
    """Format an end of an interval: with more decimals where it would look like 0 and is not.

    Examples
    --------
    >>> end_text(0.214), end_text(0.004), end_text(-0.0003), end_text(0.0)
    ('0.21', '0.004', '-0.0003', '0.00')
    """
    texts = (number_text(value, more) for more in range(digits, max(digits, FINEST) + 1))
    return next((text for text in texts if float(text) != 0), number_text(0.0, digits))


def number_text(value: object, digits: int = 2) -> str:
    """Format one value; what rounds to zero has no sign.

    Examples
    --------
    >>> number_text(0.214), number_text(-0.001), number_text(None), number_text(4326)
    ('0.21', '0.00', '—', '4,326')
    """
    if value is None or value != value:  # noqa: PLR0124 - nan is the one value that differs from itself
        return MISSING
    if isinstance(value, float):
        text = f"{value:.{digits}f}"
        return text.removeprefix("-") if float(text) == 0 else text
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
