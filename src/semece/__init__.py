"""Calibration for open-ended question answering, from samples alone.

Importing this costs nothing: a name is loaded when it is first used. The theory, the simulations, the diagnostics, the
tables and the figures are modules: ``semece.stats.theory``, ``semece.stats.simulation``, ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semece.errors import BudgetError, ModelError, ParseError, SemeceError, StoreError, TransientError
    from semece.records import Estimate, Grade, Partition, Question, Response
    from semece.runs.evaluation import evaluate, evaluate_sync
    from semece.runs.run import Run
    from semece.stats.calibration.abstention import abstention_threshold
    from semece.stats.calibration.adaptive import ece_sweep, smooth_ece
    from semece.stats.calibration.binned_errors import debiased_rms_ce, ece, mce, reliability_table, rms_ce
    from semece.stats.calibration.bins import bin_index
    from semece.stats.calibration.proper_scores import brier, brier_decomposition, log_loss
    from semece.stats.calibration.ranking import aurc, auroc, average_precision, eaurc, risk_coverage
    from semece.stats.correction import Audited, corrected_accuracy, corrected_debiased_ece, corrected_ece
    from semece.stats.estimators import (
        correctness,
        estimate,
        half_margin,
        margin,
        mode,
        n_classes,
        pmf,
        selection_probability,
        sem1,
        sem2,
        standardized_margin,
        top_two_mass,
        verbalized,
    )
    from semece.stats.estimators.budget_curves import budget_curve, sem1_distribution
    from semece.stats.estimators.entropy import entropy_agreement, exp_entropy, held_out_entropy, semantic_entropy
    from semece.stats.uncertainty.bootstrap import Resampling, is_low_margin, paired_bootstrap
    from semece.stats.uncertainty.consistency import calibration_test, consistency_band
    from semece.stats.uncertainty.exclusions import accuracy_bounds, ece_bounds
    from semece.stats.uncertainty.intervals import Interval, accuracy_interval, debiased_ece, ece_interval

_PLACES = {
    "semece.stats.calibration.abstention": ("abstention_threshold",),
    "semece.stats.calibration.adaptive": (
        "ece_sweep",
        "smooth_ece",
    ),
    "semece.stats.calibration.bins": ("bin_index",),
    "semece.stats.uncertainty.bootstrap": (
        "Resampling",
        "is_low_margin",
        "paired_bootstrap",
    ),
    "semece.stats.estimators.budget_curves": (
        "budget_curve",
        "sem1_distribution",
    ),
    "semece.stats.calibration.binned_errors": (
        "debiased_rms_ce",
        "ece",
        "mce",
        "reliability_table",
        "rms_ce",
    ),
    "semece.stats.uncertainty.consistency": (
        "calibration_test",
        "consistency_band",
    ),
    "semece.stats.correction": (
        "Audited",
        "corrected_accuracy",
        "corrected_debiased_ece",
        "corrected_ece",
    ),
    "semece.stats.estimators.entropy": (
        "entropy_agreement",
        "exp_entropy",
        "held_out_entropy",
        "semantic_entropy",
    ),
    "semece.errors": (
        "BudgetError",
        "ModelError",
        "ParseError",
        "SemeceError",
        "StoreError",
        "TransientError",
    ),
    "semece.stats.estimators": (
        "correctness",
        "estimate",
        "half_margin",
        "margin",
        "mode",
        "n_classes",
        "pmf",
        "selection_probability",
        "sem1",
        "sem2",
        "standardized_margin",
        "top_two_mass",
        "verbalized",
    ),
    "semece.runs.evaluation": (
        "evaluate",
        "evaluate_sync",
    ),
    "semece.stats.uncertainty.exclusions": (
        "accuracy_bounds",
        "ece_bounds",
    ),
    "semece.stats.uncertainty.intervals": (
        "Interval",
        "accuracy_interval",
        "debiased_ece",
        "ece_interval",
    ),
    "semece.stats.calibration.ranking": (
        "aurc",
        "auroc",
        "average_precision",
        "eaurc",
        "risk_coverage",
    ),
    "semece.records": (
        "Estimate",
        "Grade",
        "Partition",
        "Question",
        "Response",
    ),
    "semece.runs.run": ("Run",),
    "semece.stats.calibration.proper_scores": (
        "brier",
        "brier_decomposition",
        "log_loss",
    ),
}
_MODULES = {
    "diagnostics": "semece.stats.diagnostics",
    "figures": "semece.show.figures",
    "simulation": "semece.stats.simulation",
    "tables": "semece.show.tables",
    "theory": "semece.stats.theory",
}
"""Packages that have a short public name."""
_WHERE = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "Audited",
    "BudgetError",
    "Estimate",
    "Grade",
    "Interval",
    "ModelError",
    "ParseError",
    "Partition",
    "Question",
    "Resampling",
    "Response",
    "Run",
    "SemeceError",
    "StoreError",
    "TransientError",
    "abstention_threshold",
    "accuracy_bounds",
    "accuracy_interval",
    "aurc",
    "auroc",
    "average_precision",
    "bin_index",
    "brier",
    "brier_decomposition",
    "budget_curve",
    "calibration_test",
    "consistency_band",
    "corrected_accuracy",
    "corrected_debiased_ece",
    "corrected_ece",
    "correctness",
    "debiased_ece",
    "debiased_rms_ce",
    "eaurc",
    "ece",
    "ece_bounds",
    "ece_interval",
    "ece_sweep",
    "entropy_agreement",
    "estimate",
    "evaluate",
    "evaluate_sync",
    "exp_entropy",
    "half_margin",
    "held_out_entropy",
    "is_low_margin",
    "log_loss",
    "margin",
    "mce",
    "mode",
    "n_classes",
    "paired_bootstrap",
    "pmf",
    "reliability_table",
    "risk_coverage",
    "rms_ce",
    "selection_probability",
    "sem1",
    "sem1_distribution",
    "sem2",
    "semantic_entropy",
    "smooth_ece",
    "standardized_margin",
    "top_two_mass",
    "verbalized",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Load a public name when it is first used (PEP 562)."""
    from importlib import import_module

    if name in _WHERE:
        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return import_module(_MODULES[name])
    raise AttributeError(f"module 'semece' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*__all__, *_MODULES])
