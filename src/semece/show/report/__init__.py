"""The report: one HTML page that needs no network.

The page is made from tables and prepared questions; only :func:`page_of` reads a run. Everything that comes from a
model, a dataset or a judge is escaped, and a content policy lets no script run but ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from semece.errors import SemeceError, in_dollars
from semece.runs import all_names, row_of_run
from semece.runs import write as write_file
from semece.show.report.page import MARK, Page, render, room_of
from semece.show.report.sections import recalibration_section
from semece.show.tables.paper_tables import group_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.runs import Names, Run

__all__ = ["Page", "build", "page_of", "render", "room_of", "write"]


def build(runs: Sequence[Run], output: str | Path = "report.html") -> Path:
    """Write the report of one run or several.

    Parameters
    ----------
    runs : sequence of Run
        Opened run files.
    output : str or Path
        Where; an existing file is overwritten only if it is a report.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    SemeceError
        If ``output`` is there and is not a report, or cannot be written.
    """
    refuse_foreign(Path(output))
    return write(render(_pages(runs), room=room_of(len(runs))), output)


def _pages(runs: Sequence[Run]) -> Iterator[Page]:
    """Read one run after the other; what was read of it is let go before the next."""
    for run, names in zip(runs, all_names(runs), strict=True):
        yield page_of(run, names)
        run.forget()


def page_of(run: Run, names: Names) -> Page:
    """Read what the page says of a run, under its names."""
    estimates = run.estimates()
    return Page(
        summary=row_of_run(run, names.title),
        judges=run.judge_names,
        estimates=estimates,
        views=run.question_views(),
        counts=run.counts,
        complete=run.complete,
        facts={"Model": names.model, "Dataset": names.dataset, "Cost": cost_text(*run.spent)},
        events=run.events,
        group=group_of(names.model, [run]) if (estimates["status"] == "complete").any() else None,
        recalibrated=recalibration_section(run.recalibration_effects),
        advised=run.recalibration.score if run.recalibration else "sem1",
        names=names,
    )


def cost_text(dollars: float | None, asked: int, answered: int) -> str:
    """Say what was spent.

    Examples
    --------
    >>> cost_text(None, 1200, 300)
    'price unknown; 1,200 tokens in, 300 out'
    >>> cost_text(0.0312, 1200, 300)
    '$0.0312; 1,200 tokens in, 300 out'
    """
    return f"{'price unknown' if dollars is None else in_dollars(dollars, 4)}; {asked:,} tokens in, {answered:,} out"


def refuse_foreign(path: Path) -> None:
    """Refuse to overwrite a file that is not a report."""
    if path.is_dir() or not path.exists():  # who writes there is told by the disk
        return
    if path.is_file():
        with path.open("rb") as file:
            if MARK.encode() in file.read(1000):
                return
    msg = f"{path} is there and is not a report of semece; name another file with -o"
    raise SemeceError(msg)


def write(text: str, output: str | Path) -> Path:
    """Write a page: all of it or nothing.

    Parameters
    ----------
    text : str
        From :func:`render`.
    output : str or Path
        Where; see :func:`build`.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    SemeceError
        If ``output`` is there and is not a report, or cannot be written.
    """
    path = Path(output)
    refuse_foreign(path)
    write_file(text.encode(), path)
    return path
