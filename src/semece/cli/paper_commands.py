"""Commands that make what goes into a paper: ``table`` and ``figure``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Optional, cast

import typer

from semece.cli.reading_commands import Judge, Runs, open_runs

TABLE_NAMES = "ece, bootstrap, baselines, abstention, margin, sweep, rate, slope or alignment"
FIGURE_NAMES = "reliability, risk-coverage, margin, regime, sweep, sweep-ece, rate, budget or predictions"

ToStdout = Annotated[Optional[Path], typer.Option("--output", "-o", help="Default: stdout.")]  # noqa: UP045
ToFile = Annotated[Path, typer.Option("--output", "-o", help="F.pdf, F.svg or F.png.")]


def table(  # noqa: PLR0917 - one parameter per option
    name: Annotated[str, typer.Argument(help=f"{TABLE_NAMES}.")],
    runs: Runs,
    form: Annotated[str, typer.Option("--format", "-f", help="md, latex, csv or json.")] = "md",
    digits: Annotated[int, typer.Option("--digits", min=0, max=17, help="Decimals in md and latex.")] = 3,
    output: ToStdout = None,
    judge: Judge = None,
) -> None:
    """Write one of the paper's tables; several runs of one dataset are also pooled.

    Example: [bold]semece table ece runs/*.db --format latex -o ece.tex[/bold]
    """
    from semece import SemeceError, tables
    from semece.runs import write

    with ExitStack() as stack:
        try:
            found = tables.paper_table(name, open_runs(stack, runs, judge))
            if form in {"md", "latex"}:
                found = found.select(column for column in found.columns if found[column].null_count() < found.height)
            text = tables.render(found, cast("tables.Format", form), digits=digits)
        except ValueError as error:
            raise SemeceError(str(error)) from None
    write(f"{text.rstrip()}\n".encode(), output)


def figure(
    name: Annotated[str, typer.Argument(help=f"{FIGURE_NAMES}.")],
    runs: Runs,
    output: ToFile,
    judge: Judge = None,
) -> None:
    """Draw a figure of one run, or of up to four side by side.

    Example: [bold]semece figure reliability runs/*.db -o reliability.pdf[/bold]
    """
    from semece import SemeceError, figures
    from semece.show import draw

    with ExitStack() as stack:
        try:
            path = figures.save(draw(name, open_runs(stack, runs, judge)), output)
        except ValueError as error:
            raise SemeceError(str(error)) from None
    typer.echo(str(path))


COMMANDS = {"table": table, "figure": figure}
