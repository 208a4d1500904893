"""Is an answer right often enough? A gate over repeats of one question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semece.stats.calibration.abstention import fewest_answers, lower_limit
from semece.stats.rows import check_count, check_level


class FrequencyGate(NamedTuple):
    """Whether a question passes.

    Parameters
    ----------
    passed : bool
        Whether the lower limit is at least the wanted frequency.
    right, repeats : int
        How often the answer was right, of how many times.
    low : float
        One-sided lower limit of the frequency with which it is right, in [0, 1].
    needed : int
        Fewest right repeats that pass.
    """

    passed: bool
    right: int
    repeats: int
    low: float
    needed: int


def frequency_gate(right: int, repeats: int, *, at_least: float, level: float = 0.95) -> FrequencyGate:
    """Say whether a question is answered rightly with at least some frequency.

    Parameters
    ----------
    right : int
        How often the answer was right.
    repeats : int
        How often the question was asked: as often as was decided beforehand.
    at_least : float
        Frequency wanted, in (0, 1).
    level : float
        How sure it must be, in (0, 1).

    Returns
    -------
    FrequencyGate
        A question whose frequency is below the wanted one passes with probability at most 1 - `level`: Clopper and
        Pearson's (1934) one-sided limit.

    Raises
    ------
    ValueError
        For numbers out of range, and for so few repeats that nothing could pass.

    Examples
    --------
    >>> frequency_gate(29, 30, at_least=0.8)
    FrequencyGate(passed=True, right=29, repeats=30, low=0.851..., needed=28)
    >>> frequency_gate(27, 30, at_least=0.8).passed
    False
    """
    check_level(at_least, name="at_least")
    n, least = check_count("repeats", repeats), fewest_answers(at_least, 1 - check_level(level))
    if n < least:
        raise ValueError(
            f"at least {least} repeats, all right, can show a frequency of {at_least:g} at level {level:g}; got {n}"
        )
    if check_count("right", right, least=0) > n:
        raise ValueError(f"right must be at most the number of repeats, {n}; got {right}")
    limits = lower_limit(np.arange(n + 1.0), np.full(n + 1, n), 1 - level)
    needed = int(np.argmax(limits >= at_least))
    return FrequencyGate(right >= needed, right, n, float(limits[right]), needed)
