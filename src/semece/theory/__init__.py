r"""Theory: how far sampled confidences are from the truth, and by how much the two estimators differ.

:math:`c^* = \max_k \pi_k` is the oracle confidence of a question with class probabilities :math:`\pi`; ECE* is the
calibration error of :math:`(c^*, a^*)`, the oracle confidence and the correctness of the most probable class.
"""

from __future__ import annotations

from semece.theory.leading import (
    crossover,
    direct_gap,
    jensen_bias,
    oracle_gap,
    selection_bias,
    standardized_margin,
)
from semece.theory.regimes import (
    REGIMES,
    Boundaries,
    RegimeSummary,
    regime,
    regime_boundaries,
    regime_summary,
)

__all__ = [
    "REGIMES",
    "Boundaries",
    "RegimeSummary",
    "crossover",
    "direct_gap",
    "jensen_bias",
    "oracle_gap",
    "regime",
    "regime_boundaries",
    "regime_summary",
    "selection_bias",
    "standardized_margin",
]
