"""Tables of runs, what they mean in one sentence, and how they are written.

A table is a polars DataFrame in which a number ``x`` may have companions ``x_low`` and ``x_high``: the ends of its
95 % interval. A number that cannot be had is null. Such a triple is printed as one cell.
:mod:`semece.runs.renderers` writes tables, :mod:`semece.runs.sentences` makes the sentences.
"""

from __future__ import annotations

from semece.runs import (
    KNOWS,
    MEASURES,
    NOTE,
    REASONS,
    Format,
    bounds_text,
    cells,
    end_text,
    excluded_text,
    headline,
    judge_text,
    label,
    number_text,
    percent_text,
    plural,
    reading_lines,
    reliability,
    render,
    says,
    summary_frame,
    summary_row,
    summary_table,
    to_csv,
    to_json,
    to_latex,
    to_markdown,
    value_text,
)
from semece.show.tables.captions import fitted
from semece.show.tables.judge_tables import grading_table, pairs_table, partition_table
from semece.show.tables.paper_tables import TABLES, By, arms_of, audit_note, not_pooled, paper_table
from semece.show.tables.theory_tables import constants_table, regime_table
from semece.show.tables.thresholds import Decision, decide

__all__ = [
    "KNOWS",
    "MEASURES",
    "NOTE",
    "REASONS",
    "TABLES",
    "By",
    "Decision",
    "Format",
    "arms_of",
    "audit_note",
    "bounds_text",
    "cells",
    "constants_table",
    "decide",
    "end_text",
    "excluded_text",
    "fitted",
    "grading_table",
    "headline",
    "judge_text",
    "label",
    "not_pooled",
    "number_text",
    "pairs_table",
    "paper_table",
    "partition_table",
    "percent_text",
    "plural",
    "reading_lines",
    "regime_table",
    "reliability",
    "render",
    "says",
    "summary_frame",
    "summary_row",
    "summary_table",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "value_text",
]
