r"""Bins of confidence: where an edge belongs, and what is summed in a bin.

With :math:`L` bins of equal width the inner edges are :math:`l/L`, computed as ``np.arange(1, L) / L``. They are never
taken from ``np.linspace``, which puts 0.3, 0.6 and 0.7 one unit in the last place too high, so that 15 of 50 equal
answers fall a bin too low. Averages carry rounding errors of their own: a value within :data:`EDGE_TOLERANCE` of an
edge counts as on it.

=========================  ==============================================================================
``closed``                 bin :math:`l = 0, \dots, L - 1`
=========================  ==============================================================================
``"left"``                 :math:`[l/L, (l+1)/L)`, the last one closed on both sides
``"right"``                :math:`(l/L, (l+1)/L]`, the first one closed on both sides
``"guo"``                  :math:`(l/L, (l+1)/L]`; c = 0 is in no bin, but counts in N (Guo et al. 2017's loop)
``"linspace-digitize"``    ``np.digitize`` on ``np.linspace(0, 1, L + 1)``, no tolerance (the paper's code)
=========================  ==============================================================================

The last two are there to reproduce published numbers only.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import CheckedRows, Floats, Places, check_choice, check_count, check_unit, sums

Closed = Literal["left", "right", "guo", "linspace-digitize"]
Binning = Literal["width", "mass"]

CLOSED: tuple[Closed, ...] = ("left", "right", "guo", "linspace-digitize")
BINNING: tuple[Binning, ...] = ("width", "mass")
EDGE_TOLERANCE = 1e-9
TIE_SCALE = 2.0**32
OUTSIDE = -1
"""The bin index of a row that is in no bin (``"guo"``, c = 0)."""


class Bins(NamedTuple):
    """The bin of each row.

    Parameters
    ----------
    place : ndarray of int, shape (N,)
        Bin of each row, from 0; -1 for a row in no bin.
    low, high : ndarray, shape (L,)
        Edges of each bin.
    """

    place: Places
    low: Floats
    high: Floats

    def total(self, values: Floats) -> Floats:
        """Sum ``values``, one per row, in each bin; shape (L,)."""
        return sums(self.place + 1, values, len(self.low) + 1)[1:]

    def occupied(self) -> Bins:
        """Leave out the bins without rows."""
        kept, place = np.unique(np.append(self.place, OUTSIDE), return_inverse=True)
        return Bins(place[:-1] - 1, self.low[kept[1:]], self.high[kept[1:]])


def bin_index(confidence: ArrayLike, *, n_bins: int = 10, closed: Closed = "left") -> Places:
    """Find the equal-width bin of each confidence.

    Parameters
    ----------
    confidence : array_like, shape (N,)
        Numbers in [0, 1].
    n_bins : int
        L >= 1.
    closed : {'left', 'right', 'guo', 'linspace-digitize'}
        The edge rule, see the module's table.

    Returns
    -------
    ndarray of int, shape (N,)
        From 0 to L - 1; -1 for c = 0 under ``"guo"``.

    Raises
    ------
    ValueError
        For a confidence outside [0, 1], ``n_bins`` < 1, or an unknown rule.

    Examples
    --------
    >>> bin_index([0.0, 0.3, 1.0])
    array([0, 3, 9])
    >>> bin_index([0.0, 0.3, 1.0], closed="right")
    array([0, 2, 9])
    """
    return width_bins(check_unit("confidence", confidence), n_bins, closed).place


def make_bins(rows: CheckedRows, *, n_bins: int, closed: Closed, binning: Binning = "width") -> Bins:
    """Bin checked rows, by width or by mass."""
    check_choice("binning", binning, BINNING)
    if binning == "width":
        return width_bins(rows.confidence, n_bins, closed)
    return mass_bins(rows.confidence, rows.weights, n_bins)


def width_bins(confidence: Floats, n_bins: int, closed: Closed = "left") -> Bins:
    """Bins of equal width."""
    n_bins = check_count("n_bins", n_bins)
    check_choice("closed", closed, CLOSED)
    edges = np.arange(n_bins + 1) / n_bins
    inner = edges[1:-1]
    if closed == "left":
        index = np.searchsorted(inner - EDGE_TOLERANCE, confidence, side="right")
    elif closed == "linspace-digitize":
        index = np.digitize(confidence, np.linspace(0, 1, n_bins + 1)[1:-1])
    else:
        index = np.searchsorted(inner + EDGE_TOLERANCE, confidence, side="left")
    if closed == "guo":
        index = np.where(confidence <= EDGE_TOLERANCE, OUTSIDE, index)
    return Bins(index, edges[:-1], edges[1:])


def mass_bins(confidence: Floats, weights: Floats, n_bins: int) -> Bins:
    """Bins of about equal weight, in which equal values stay together.

    Equal values stay together and the order of the rows does not matter. Only occupied bins are kept: heavy ties make
    them fewer than L. ``low`` and ``high`` are the smallest and the largest value in the bin.
    """
    n_bins = check_count("n_bins", n_bins)
    values, place = distinct(confidence)
    index = mass_of_values(sums(place, weights), n_bins)
    places = np.arange(index[-1] + 1)
    first = np.searchsorted(index, places, side="left")
    last = np.searchsorted(index, places, side="right") - 1
    return Bins(index[place], values[first], values[last])


def mass_of_values(weight: Floats, n_bins: int) -> Places:
    """Bin of each sorted distinct value v: floor(L (W(c < v) + W(c = v) / 2) / W), occupied bins numbered from 0."""
    middle = (np.cumsum(weight) - weight / 2) / weight.sum()
    index = np.minimum((n_bins * middle + EDGE_TOLERANCE).astype(np.intp), n_bins - 1)
    return np.cumsum(np.diff(index, prepend=index[0]) > 0)


def distinct(confidence: Floats) -> tuple[Floats, Places]:
    """Sorted distinct values, and the place of each row among them.

    Values that agree to nine significant digits are one value, its smallest: 0.1 + 0.2 and 0.3 are a tie, and so are
    frequencies that were summed in another order.
    """
    mantissa, exponent = np.frexp(confidence)
    key = np.ldexp(np.round(mantissa * TIE_SCALE), exponent)
    _, place, n = np.unique(key, return_inverse=True, return_counts=True)
    return np.sort(confidence)[np.cumsum(n) - n], place
