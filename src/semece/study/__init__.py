"""A grid of runs, models x datasets, from one file: read it, price it, do what is missing of it."""

from __future__ import annotations

from semece.study.cells import CellPlan, Ended, make_runs, plan_cells, prepare, writing
from semece.study.study_file import Cell, Study, read_study

__all__ = ["Cell", "CellPlan", "Ended", "Study", "make_runs", "plan_cells", "prepare", "read_study", "writing"]
