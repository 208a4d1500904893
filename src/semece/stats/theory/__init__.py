r"""Theory: how far sampled confidences are from the truth, and by how much the two estimators differ.

:math:`c^* = \max_k \pi_k` is the oracle confidence of a question with class probabilities :math:`\pi`; ECE* is the
calibration error of :math:`(c^*, a^*)`, the oracle confidence and the correctness of the most probable class.
"""

from __future__ import annotations

from semece.stats.theory.bounds import (
    bias_bound,
    confidence_error_bound_sem1,
    confidence_error_bound_sem2,
    ece_bound,
    selection_error_bound,
)
from semece.stats.theory.expectations import expected_sem1, expected_sem2, population_selection_probability
from semece.stats.theory.leading import crossover, direct_gap, jensen_bias, oracle_gap, selection_bias
from semece.stats.theory.predictions import PREDICTIONS, expected_gap, minimal_n, predicted_bias, predicted_gap
from semece.stats.theory.regimes import REGIMES, Boundaries, RegimeSummary, regime, regime_boundaries, regime_summary

__all__ = [
    "PREDICTIONS",
    "REGIMES",
    "Boundaries",
    "RegimeSummary",
    "bias_bound",
    "confidence_error_bound_sem1",
    "confidence_error_bound_sem2",
    "crossover",
    "direct_gap",
    "ece_bound",
    "expected_gap",
    "expected_sem1",
    "expected_sem2",
    "jensen_bias",
    "minimal_n",
    "oracle_gap",
    "population_selection_probability",
    "predicted_bias",
    "predicted_gap",
    "regime",
    "regime_boundaries",
    "regime_summary",
    "selection_bias",
    "selection_error_bound",
]
