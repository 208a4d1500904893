r"""Regimes: which of the two biases dominates at a question, and what that says about a run.

On the axis of the standardised margin :math:`m = \Delta\sqrt{n/p}`:

==================  =====================================  ==========================================================
regime              where                                  what it means
==================  =====================================  ==========================================================
jensen_dominated    m below the crossover                  Sem1's upward bias is the larger: Sem2 is closer to c*
low_margin          from there up to :math:`\sqrt{\log K}`  Sem2's downward bias is the larger: Sem1 is closer
large_margin        above                                  both biases vanish fast
==================  =====================================  ==========================================================
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semece.stats.rows import Floats, check_choice
from semece.stats.theory.leading import crossover
from semece.stats.theory.number_arguments import check_margin, check_numbers, check_selected, plain, together
from semece.stats.written_numbers import decimal_text

Design = Literal["same-n", "as-run"]
"""Whether Sem1 and Sem2 choose from n responses each (the paper's theory), or Sem2 from a block of a run's n."""

Regime = Literal["jensen_dominated", "low_margin", "large_margin"]

DESIGNS: tuple[Design, ...] = ("same-n", "as-run")
REGIMES: tuple[Regime, ...] = ("jensen_dominated", "low_margin", "large_margin")


class Boundaries(NamedTuple):
    """Margins at which the regime changes.

    Parameters
    ----------
    crossover : ndarray
        Margin up to which a question is jensen-dominated.
    low_margin : ndarray
        Margin up to which it is low-margin, never below the crossover.
    """

    crossover: Floats
    low_margin: Floats


def regime_boundaries(
    n_classes: ArrayLike,
    n: ArrayLike,
    *,
    top_two_mass: ArrayLike = 1.0,
    design: Design = "as-run",
    n_select: ArrayLike | None = None,
) -> Boundaries:
    r"""Margins at which the regime changes: :math:`m_\times\sqrt{p/n}` and :math:`\sqrt{p \log K / n}`.

    Parameters
    ----------
    n_classes : array_like
        K >= 1; a mean over a dataset need not be whole.
    n : array_like
        Responses per question, >= 1.
    top_two_mass : array_like
        p in (0, 1]. 1 is the paper's reading of the axis.
    design : {'as-run', 'same-n'}
        Where the crossover lies: where the biases of a run balance (0.532193 at s = n/2), or at the paper's m =
        0.612003.
    n_select : array_like, optional
        s of a run, by default n // 2. No effect with ``design="same-n"``.

    Returns
    -------
    Boundaries

    Raises
    ------
    ValueError
        For values outside these ranges or an unknown design.

    Examples
    --------
    >>> edges = regime_boundaries(5, 50, design="same-n")
    >>> round(float(edges.crossover), 4), round(float(edges.low_margin), 4)
    (0.0866, 0.1794)
    """
    check_choice("design", design, DESIGNS)
    classes = check_numbers("n_classes", n_classes, low=1.0)
    size = check_numbers("n", n, low=1.0)
    mass = check_margin(0.0, top_two_mass)[1]
    together(n_classes=classes, n=size, top_two_mass=mass)
    fraction = np.ones_like(size) if design == "same-n" else check_selected(size, n_select) / size
    unit = np.sqrt(mass / size)
    first = plain(crossover(fraction) * unit)
    return Boundaries(first, plain(np.maximum(np.sqrt(np.log(classes)) * unit, first)))


def regime(
    margin: ArrayLike,
    top_two_mass: ArrayLike,
    n_classes: ArrayLike,
    n: ArrayLike,
    *,
    design: Design = "as-run",
    n_select: ArrayLike | None = None,
) -> NDArray[Any]:
    r"""Regime of each question.

    Parameters
    ----------
    margin : array_like
        :math:`\Delta` in [0, 1].
    top_two_mass : array_like
        p in (0, 1], at least the margin; 1 throughout is the paper's reading of the axis.
    n_classes : array_like
        K >= 1 of each question, or the dataset's mean (the paper's choice).
    n : array_like
        Responses per question, >= 1.
    design, n_select
        As in :func:`regime_boundaries`.

    Returns
    -------
    ndarray of str
        ``'jensen_dominated'`` below the crossover, ``'low_margin'`` up to :math:`m = \sqrt{\log K}`,
        ``'large_margin'`` above. A string for numbers.

    Raises
    ------
    ValueError
        For values outside these ranges or an unknown design.

    Notes
    -----
    Source: the paper's regimes. At an empirical margin the answer is that of the observed frequencies, which lie
    further apart than the true ones when two classes nearly tie.

    Examples
    --------
    >>> regime([0.0, 0.1, 0.4], 0.8, 6, 50).tolist()
    ['jensen_dominated', 'low_margin', 'large_margin']

    Two classes with margin 0.08 of 50 responses: Sem2, which chooses from 25 of them, is already the farther.

    >>> [str(regime(0.08, 1.0, 2, 50, design=d)) for d in ("same-n", "as-run")]
    ['jensen_dominated', 'low_margin']
    """
    delta, mass = check_margin(margin, top_two_mass)
    together(margin=delta, n_classes=check_numbers("n_classes", n_classes), n=check_numbers("n", n))
    edges = regime_boundaries(n_classes, n, top_two_mass=mass, design=design, n_select=n_select)
    delta, first, last = np.broadcast_arrays(delta, edges.crossover, edges.low_margin)
    place = np.where(delta < first, 0, np.where((delta <= last) & (last > first), 1, 2))
    return np.array(REGIMES)[place]


class RegimeSummary(NamedTuple):
    """Which regime dominates a run.

    Parameters
    ----------
    jensen_dominated, low_margin, large_margin : float
        Shares of the questions, in [0, 1]; they sum to 1.
    dominant : str
        The regime with the largest share (tie: the earlier in this order).
    text : str
        The same in a plain sentence.
    """

    jensen_dominated: float
    low_margin: float
    large_margin: float
    dominant: Regime
    text: str


_MEANS: dict[Regime, str] = {
    "jensen_dominated": "jensen-dominated: two answers nearly tie",
    "low_margin": "in the low-margin regime: one answer leads by a little",
    "large_margin": "in the large-margin regime: one answer clearly leads",
}


def regime_text(jensen_dominated: float, low_margin: float, large_margin: float) -> str:
    """Say which regime dominates. Which of the two ECEs is smaller does not follow from it.

    Parameters
    ----------
    jensen_dominated, low_margin, large_margin : float
        Shares of the questions, in [0, 1].

    Returns
    -------
    str
        One sentence without its full stop.

    Examples
    --------
    >>> regime_text(0.2, 0.13, 0.67)
    '67 % of the questions are in the large-margin regime: one answer clearly leads'
    """
    shares = dict(zip(REGIMES, (jensen_dominated, low_margin, large_margin), strict=True))
    dominant = max(REGIMES, key=lambda name: shares[name])
    return f"{decimal_text(100 * shares[dominant], 0)} % of the questions are {_MEANS[dominant]}"


def regime_summary(
    margin: ArrayLike,
    top_two_mass: ArrayLike,
    n_classes: ArrayLike,
    n: ArrayLike,
    *,
    design: Design = "as-run",
    n_select: ArrayLike | None = None,
) -> RegimeSummary:
    """Say which regime dominates a run.

    Parameters
    ----------
    margin, top_two_mass, n_classes, n
        As in :func:`regime`, one value per question, or one for all; at least one question.
    design : {'as-run', 'same-n'}
        As in :func:`regime_boundaries`.
    n_select : array_like, optional
        As in :func:`regime_boundaries`.

    Returns
    -------
    RegimeSummary
        Shares, the dominant regime, and a sentence.

    Raises
    ------
    ValueError
        For no questions, and as in :func:`regime`.

    Examples
    --------
    >>> summary = regime_summary([0.02, 0.9, 0.8], [0.9, 1.0, 0.9], [3, 2, 4], 50)
    >>> summary.dominant
    'large_margin'
    >>> summary.text
    '67 % of the questions are in the large-margin regime: one answer clearly leads.'
    """
    names = np.ravel(regime(margin, top_two_mass, n_classes, n, design=design, n_select=n_select))
    if names.size == 0:
        raise ValueError("margin must not be empty")
    jensen, low, large = (float(np.mean(names == name)) for name in REGIMES)
    dominant = REGIMES[int(np.argmax((jensen, low, large)))]
    return RegimeSummary(jensen, low, large, dominant, f"{regime_text(jensen, low, large)}.")
