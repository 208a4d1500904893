"""Diagnostics of a run, from class counts, correctness and stated confidences.

:func:`pool` reads off what is needed; each other function makes one table. A number that cannot be had is null, with a
reason beside it.
"""

from __future__ import annotations

from semece.stats.diagnostics.agreement import (
    Agreement,
    JudgedRun,
    index_rows,
    judge_agreement,
    partition_agreement,
    partition_stability,
)
from semece.stats.diagnostics.audited_quality import AuditedQuality, audited_quality
from semece.stats.diagnostics.changes import CHANGE, ComparedQuantity, compare_arms, rank_arms
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.hedging import hedging_bracket
from semece.stats.diagnostics.judge_quality import grading_quality, pair_quality, partition_quality
from semece.stats.diagnostics.margins import alignment, difficulty, margin_strata
from semece.stats.diagnostics.pools import FEW, Pool, pool
from semece.stats.diagnostics.sweeps import BUDGETS, budget_spread, one_subsample_ece, rate, rate_slope, sweep

__all__ = [
    "BUDGETS",
    "CHANGE",
    "FEW",
    "Agreement",
    "AuditedQuality",
    "ComparedQuantity",
    "JudgedRun",
    "Pool",
    "alignment",
    "audited_quality",
    "budget_spread",
    "compare_arms",
    "difficulty",
    "frame",
    "grading_quality",
    "hedging_bracket",
    "index_rows",
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
