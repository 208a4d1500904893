r"""Maps made of steps: isotonic regression, bins, Venn-Abers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from semece.stats.calibration.bins import distinct, mass_bins
from semece.stats.rows import CheckedRows, Floats, Places, sums

Parameters = dict[str, Floats]


class IsotonicFit(NamedTuple):
    """Isotonic regression of correctness on confidence, by distinct confidence.

    Parameters
    ----------
    value, weight, accuracy, fitted : ndarray, shape (V,)
        Distinct confidences in order, their weight, their accuracy, and the regression.
    place : ndarray of int, shape (N,)
        Place of each row among them.
    """

    value: Floats
    weight: Floats
    accuracy: Floats
    fitted: Floats
    place: Places


def isotonic_fit(rows: CheckedRows) -> IsotonicFit:
    r"""Fit :math:`\min_{f \nearrow} \sum_i w_i (a_i - f(c_i))^2`.

    Examples
    --------
    >>> from semece.stats.rows import check_rows
    >>> isotonic_fit(check_rows([0.2, 0.4, 0.6, 0.6], [1, 0, 1, 1])).fitted.tolist()
    [0.5, 0.5, 1.0]
    """
    value, place = distinct(rows.confidence)
    weight = sums(place, rows.weights)
    accuracy = sums(place, rows.weights * rows.correct) / weight
    return IsotonicFit(value, weight, accuracy, isotonic_regression(accuracy, weights=weight).x, place)


def fit_isotonic(rows: CheckedRows) -> Parameters:
    """Give both ends of each block of the isotonic regression."""
    found = isotonic_fit(rows)
    new = np.diff(found.fitted) > 0
    ends = np.concatenate([[True], new]) | np.concatenate([new, [True]])
    return {"score": found.value[ends], "confidence": found.fitted[ends]}


def fit_histogram(rows: CheckedRows, n_bins: int) -> Parameters:
    """Give the accuracy of bins of about equal weight, and the edges halfway between them."""
    return binned(rows, rows.correct, n_bins)


def binned(rows: CheckedRows, values: Floats, n_bins: int) -> Parameters:
    """Give the mean value of bins of confidence of about equal weight, and the edges halfway between them."""
    bins = mass_bins(rows.confidence, rows.weights, n_bins)
    mean = bins.total(rows.weights * values) / bins.total(rows.weights)
    return {"edges": (bins.high[:-1] + bins.low[1:]) / 2, "confidence": mean}


def fit_venn_abers(rows: CheckedRows) -> Parameters:
    """Give what isotonic regression says of one more answer in each gap between known scores, if wrong and if right.

    An answer in gap k has k known scores below it. The time grows with the square of the number of different scores:
    4,000 take under a second, 20,000 take 12. Source: Vovk, Petej & Fedorova (2015), inductive.
    """
    known = isotonic_fit(rows)
    low, high = (_one_more(known, answer) for answer in (0.0, 1.0))
    return {"score": known.value, "low": low, "high": high}


def _one_more(known: IsotonicFit, answer: float) -> Floats:
    """Fit one more answer in each gap; shape (V + 1,)."""
    fits = (
        isotonic_regression(np.insert(known.accuracy, gap, answer), weights=np.insert(known.weight, gap, 1.0)).x[gap]
        for gap in range(len(known.value) + 1)
    )
    return np.fromiter(fits, np.float64)
