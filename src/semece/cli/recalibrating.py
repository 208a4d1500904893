"""The command that fits a map from a run's confidences to better ones: ``recalibrate``."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - read as it runs
from typing import Annotated

import typer

from semece.cli.reading_commands import AsJson, Judge, OneRun, bad_arguments, open_runs, print_found

BY_JUDGE = "The map is fitted to the judge's verdicts: the audit of this run does not correct them."


def recalibrate(  # noqa: PLR0917 - one parameter per option
    run: OneRun,
    score: Annotated[str, typer.Option("--score", "-s", help="sem1, sem2, verbalized or a score of the run.")] = "sem1",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="isotonic, platt, temperature, beta, histogram, scaling-binning, venn-abers or dirichlet.",
        ),
    ] = "platt",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to keep the map, as JSON.")] = None,
    judge: Judge = None,
    as_json: AsJson = False,
) -> None:
    """Fit a map from a confidence to a better calibrated one, and say what it changes.

    The table is cross-fitted: no question is judged by a map that has seen it. The map that is kept is fitted to all
    questions, for new ones: --recalibrate of summary, report and check takes it, and in Python
    semece.load_recalibration, which needs numpy alone.

    Example: [bold]semece recalibrate RUN.db --score sem1 --method platt -o map.json[/bold]
    """
    from semece.runs import recalibrate as fit
    from semece.runs import write

    with open_runs([run], judge) as (opened,), bad_arguments(score="--score", method="--method"):
        _refuse_foreign(output)
        found = fit(opened.scored_questions(), score=score, method=method)
        audited = [] if opened.correction is None else [BY_JUDGE]
    if output is not None:
        write(f"{found.fitted.to_json()}\n".encode(), output)
    kept = None if output is None else str(output)
    lines = [*found.lines(), *audited, *([kept] if kept else [])]
    facts = found.facts()
    facts["notes"] += audited
    print_found(lines, lambda: {"run": opened.name, **facts, "map": kept}, as_json=as_json)


def _refuse_foreign(path: Path | None) -> None:
    """Refuse to overwrite a file that is not a map."""
    from semece.runs import load_recalibration

    if path is None or path.is_dir() or not path.exists():  # who writes to a folder is told by the disk
        return
    try:
        load_recalibration(path)
    except ValueError:
        raise ValueError(
            f"{path} is there and is not a map of 'semece recalibrate'; name another file with -o"
        ) from None


COMMANDS = {"recalibrate": recalibrate}
