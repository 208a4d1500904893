"""The table of a study: a row per model and dataset, and one per dataset for all models together.

Files are read one at a time, and only what the numbers need is kept: a study may be larger than memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from semece.runs import Binning, Names, row_of_run
from semece.show.tables.paper_tables import (
    POOLED,
    Arm,
    PooledQuestions,
    calibration_rows,
    group_of_views,
    named,
    not_pooled,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.runs import QuestionView, Run
    from semece.stats import Closed


class CellNumbers(NamedTuple):
    """What is kept of one run.

    Parameters
    ----------
    dataset, model : str
        What the study calls them.
    answered_by : str
        Its model, whatever it is called.
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
    answered_by: str
    n: int
    complete: int
    selected: int
    row: dict[str, Any]
    views: tuple[QuestionView, ...]
    spent: tuple[float | None, int, int]
    events: tuple[str, ...]

    @property
    def names(self) -> Names:
        """Dataset and model, for people."""
        return Names(self.dataset, self.model)

    @property
    def arm(self) -> Arm:
        """What decides whether it is pooled."""
        return Arm(self.names, self.answered_by, self.n)

    @property
    def name(self) -> str:
        """Both in one text."""
        return self.names.title


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
    row = row_of_run(run, Names(dataset, model).title, Binning(n_bins, closed))
    views = tuple(replace(view, responses=()) for view in run.question_views())
    return CellNumbers(dataset, model, run.answered_by, run.n, *run.complete, row, views, run.spent, run.events)


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
        of all of them, in which a question is the unit, unless :func:`apart`. Empty if no question is complete.

    Examples
    --------
    >>> from semece.runs.evaluation import evaluate_sync
    >>> with evaluate_sync("fake/?pmf=1", "starter", n=4, limit=3) as run:
    ...     one = read_cell(run, "starter", "a")
    >>> cells = [one, one._replace(model="b", answered_by="another")]
    >>> grid_table(cells).select("model", "questions").rows()
    [('a', 3), ('b', 3), ('pooled', 6)]
    """
    rows = [named(group, calibration_rows(group, n_bins=n_bins, closed=closed)) for group in groups_of_cells(cells)]
    return pl.concat(rows, how="diagonal_relaxed") if rows else pl.DataFrame()


def groups_of_cells(cells: Sequence[CellNumbers]) -> Iterator[PooledQuestions]:
    """Give each run with a complete question, and after the last of a dataset all together, unless :func:`apart`."""
    return groups_of_views([(cell.arm, cell.views) for cell in cells if cell.row["questions"]])


def groups_of_views(members: Sequence[tuple[Arm, Sequence[QuestionView]]]) -> Iterator[PooledQuestions]:
    """Give each run of a dataset, and after the last of several all together, unless they are not pooled."""
    without = not_pooled([arm for arm, _ in members])
    for dataset in dict.fromkeys(arm.names.dataset for arm, _ in members):
        some = [(arm, views) for arm, views in members if arm.names.dataset == dataset]
        for arm, views in some:
            yield group_of_views(*arm.names, arm.n, views)._replace(correction=arm.correction)
        if len(some) > 1 and dataset not in without:
            yield group_of_views(dataset, POOLED, some[0][0].n, [view for _, views in some for view in views])


def apart(cells: Sequence[CellNumbers]) -> dict[str, str]:
    """Say of each dataset whose runs are not pooled why; as :func:`semece.show.tables.paper_tables.not_pooled`."""
    return not_pooled([cell.arm for cell in cells if cell.row["questions"]])
