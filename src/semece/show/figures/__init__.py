"""Figures: each ``plot_*`` draws one table on one axes, and returns the axes.

Nothing is computed here but positions. Colours, sizes and files are in :mod:`semece.show.figures.canvas`.
"""

from __future__ import annotations

from semece.show.figures.canvas import COLORS, COLUMN_WIDTH, FAINT, INK, MARKERS, MUTED, NAMES, figure, save, style
from semece.show.figures.diagnostic_figures import (
    plot_budget,
    plot_margin,
    plot_predictions,
    plot_rate,
    plot_sweep,
    plot_sweep_ece,
)
from semece.show.figures.reliability import plot_reliability, plot_reliability_curves, plot_risk_coverage
from semece.show.figures.theory_figures import plot_constants, plot_regimes

__all__ = [
    "COLORS",
    "COLUMN_WIDTH",
    "FAINT",
    "INK",
    "MARKERS",
    "MUTED",
    "NAMES",
    "figure",
    "plot_budget",
    "plot_constants",
    "plot_margin",
    "plot_predictions",
    "plot_rate",
    "plot_regimes",
    "plot_reliability",
    "plot_reliability_curves",
    "plot_risk_coverage",
    "plot_sweep",
    "plot_sweep_ece",
    "save",
    "style",
]
