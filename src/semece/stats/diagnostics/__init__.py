"""Diagnostics of a run, from class counts, correctness and stated confidences.

:func:`pool` reads off what is needed; each other function makes one table. A number that cannot be had is null, with a
reason beside it.
"""

from __future__ import annotations

from semece.stats.diagnostics.agreement import (
    Agreement,
    JudgedRun,
    judge_agreement,
    partition_agreement,
    partition_stability,
)
from semece.stats.diagnostics.audited_quality import AuditedQuality, audited_quality
from semece.stats.diagnostics.changes import compare_arms, rank_arms
from semece.stats.diagnostics.hedging import hedging_bracket
from semece.stats.diagnostics.judge_quality import grading_quality, pair_quality, partition_quality
from semece.stats.diagnostics.margins import alignment, difficulty, margin_strata
from semece.stats.diagnostics.pools import Pool, pool
from semece.stats.diagnostics.sweeps import budget_spread, one_subsample_ece, rate, rate_slope, sweep

__all__ = [
    "Agreement",
    "AuditedQuality",
    "JudgedRun",
    "Pool",
    "alignment",
    "audited_quality",
    "budget_spread",
    "compare_arms",
    "difficulty",
    "grading_quality",
    "hedging_bracket",
    "judge_agreement",
    "margin_strata",
    "one_subsample_ece",
    "pair_quality",
    "partition_agreement",
    "partition_quality",
    "partition_stability",
    "pool",
    "rank_arms",
    "rate",
    "rate_slope",
    "sweep",
]
