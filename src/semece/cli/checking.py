"""The command for continuous integration: ``check``."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Optional

import typer

from semece.cli.reading_commands import AsJson, Judge, OneRun, open_runs
from semece.runs import limited_names

Limits = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--max", help="NAME=VALUE: fails if the upper end of the interval is above. May be repeated."),
]
Least = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--min", help="NAME=VALUE: fails if the lower end of the interval is below. May be repeated."),
]
Baseline = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--baseline", help="A run on the same questions: fails if a number is surely worse than there."),
]


def check(  # noqa: PLR0917 - one parameter per option
    run: OneRun,
    most: Limits = None,
    least: Least = None,
    baseline: Baseline = None,
    judge: Judge = None,
    as_json: AsJson = False,
) -> None:
    """Check a run against limits, or against another run: exit 1 if it fails, 3 if it is incomplete.

    Names are {names}. With --baseline accuracy must not have fallen
    and no ECE risen, by a 95 % interval paired by question.

    Example: [bold]semece check RUN.db --max sem2_ece=0.2 --min accuracy=0.7[/bold]
    """
    from semece.compare import check_run

    with ExitStack() as stack:
        opened = open_runs(stack, [run, *([baseline] if baseline else [])], judge)
        found = check_run(opened[0], most=most or [], least=least or [], baseline=opened[1] if baseline else None)
        done, selected = opened[0].complete
    if as_json:
        typer.echo(json.dumps([each._asdict() for each in found], allow_nan=False))
    else:
        for each in found:
            typer.echo(f"{'passed' if each.passed else 'FAILED'}: {each.sentence}")
    if not all(each.passed for each in found):
        raise typer.Exit(1)
    if done < selected:
        typer.echo(f"semece: {done:,} of {selected:,} questions complete; run it again to continue", err=True)
        raise typer.Exit(3)


*_first, _last = limited_names()
check.__doc__ = str(check.__doc__).format(names=f"{', '.join(_first)} and {_last}")

COMMANDS = {"check": check}
