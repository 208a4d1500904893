"""A run, read: its questions, its numbers, what they mean, and files of them. Names load when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semece.runs.exports import write
    from semece.runs.metrics import CONFIDENCES, directions, limited_names, metrics_of, quantities
    from semece.runs.renderers import Format, cells, label, render, shown, to_csv, to_json, to_latex, to_markdown
    from semece.runs.run import QuestionView, Run, names_of, pool_of
    from semece.runs.shortfalls import Shortfall, shortfall_of
    from semece.runs.summary_rows import (
        NOTE,
        headline,
        judge_text,
        reliability,
        spread,
        spread_columns,
        summary_frame,
        summary_row,
        summary_table,
    )
    from semece.runs.verdicts import REASONS, bounds_text, excluded_text, implication, plural, verdict

__all__ = [
    "CONFIDENCES",
    "NOTE",
    "REASONS",
    "Format",
    "QuestionView",
    "Run",
    "Shortfall",
    "bounds_text",
    "cells",
    "directions",
    "excluded_text",
    "headline",
    "implication",
    "judge_text",
    "label",
    "limited_names",
    "metrics_of",
    "names_of",
    "plural",
    "pool_of",
    "quantities",
    "reliability",
    "render",
    "shortfall_of",
    "shown",
    "spread",
    "spread_columns",
    "summary_frame",
    "summary_row",
    "summary_table",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "verdict",
    "write",
]

_MODULES = ("metrics", "verdicts", "renderers", "exports", "summary_rows", "shortfalls", "run")
"""Where the names are; those that load fast come first."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the names
    """Load a name when it is first used."""
    modules = (import_module(f"{__name__}.{module}") for module in (_MODULES if name in __all__ else ()))
    for module in modules:
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
