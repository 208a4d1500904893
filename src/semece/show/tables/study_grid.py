"""The table of a study: a row per model and dataset, and one per dataset for all models together.

Files are read one at a time, and only what the numbers need is kept: a study may be larger than memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from semece.runs import Binning, row_of_run
from semece.show.tables.paper_tables import POOLED, PooledQuestions, calibration_rows, group_of_views, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.runs import QuestionView, Run
    from semece.stats import Closed


class CellNumbers(NamedTuple):
    """What is kept of one run.

    Parameters
    ----------
    dataset, model : str
        What the study calls them.
    n : int
        Responses asked per question.
    complete, selected : int
        Questions with all their responses, and all questions.
    row : dict
        As :func:`semece.show.tables.summary_row`; the ECEs in the bins that were asked for.
    views : tuple of QuestionView
        Its questions, without the responses.
    spent : tuple of float or None, int and int
        USD (None: some price is not known), input and output tokens.
    events : tuple of str
        What the run noticed.
    """

    dataset: str
    model: str
    n: int
    complete: int
    selected: int
    row: dict[str, Any]
    views: tuple[QuestionView, ...]
    spent: tuple[float | None, int, int]
    events: tuple[str, ...]

    @property
    def name(self) -> str:
        """Dataset and model, for people."""
        return f"{self.dataset} · {self.model}"


def read_cell(run: Run, dataset: str, model: str, *, n_bins: int = 10, closed: Closed = "left") -> CellNumbers:
    """Read what the table needs of a run.

    Parameters
    ----------
    run : Run
        Opened; it may be closed afterwards.
    dataset, model : str
        What to call them.
    n_bins, closed
        Bins of the ECEs, as in :func:`semece.ece`.

    Returns
    -------
    CellNumbers

    Examples
    --------
    >>> from semece.runs.evaluation import evaluate_sync
    >>> with evaluate_sync("fake/?pmf=1", "starter", n=4, limit=3) as run:
    ...     numbers = read_cell(run, "starter", "sure")
    >>> numbers.complete, numbers.row["accuracy"]
    (3, 1.0)
    """
    row = row_of_run(run, f"{dataset} · {model}", Binning(n_bins, closed))
    views = tuple(replace(view, responses=()) for view in run.question_views())
    return CellNumbers(dataset, model, run.n, *run.complete, row, views, run.spent, run.events)


def grid_table(cells: Sequence[CellNumbers], *, n_bins: int = 10, closed: Closed = "left") -> pl.DataFrame:
    """Make the table ``ece`` of the runs of a study.

    Parameters
    ----------
    cells : sequence of CellNumbers
        The runs, a dataset's together; those without a complete question have no row.
    n_bins, closed
        Bins, as in :func:`semece.ece`.

    Returns
    -------
    DataFrame
        The columns of ``semece.tables.paper_table("ece", ...)``; after the last run of a dataset with several one row
        of all of them, in which a question is the unit. Empty if no question is complete.

    Examples
    --------
    >>> from semece.runs.evaluation import evaluate_sync
    >>> with evaluate_sync("fake/?pmf=1", "starter", n=4, limit=3) as run:
    ...     cells = [read_cell(run, "starter", name) for name in ("a", "b")]
    >>> grid_table(cells).select("model", "questions").rows()
    [('a', 3), ('b', 3), ('pooled', 6)]
    """
    parts = []
    for dataset in dict.fromkeys(cell.dataset for cell in cells):
        entering = [cell for cell in cells if cell.dataset == dataset and cell.row["questions"]]
        members = [(cell.model, cell.n, cell.views) for cell in entering]
        if len(members) > 1:
            members.append((POOLED, members[0][1], tuple(view for _, _, views in members for view in views)))
        groups: list[PooledQuestions] = [group_of_views(dataset, model, n, views) for model, n, views in members]
        parts += [named(group, calibration_rows(group, n_bins=n_bins, closed=closed)) for group in groups]
    return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()
