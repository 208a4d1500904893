"""Commands that make runs: ``run`` and ``score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from semece.cli.typer_options import RUN, Told, with_options

FILES = "Files"


@with_options(RUN)
def run(told: Told) -> None:
    """Draw answers, group and grade them, and say how calibrated the model is. Run it again to continue.

    Example: [bold]semece run --model local/smollm2 --dataset starter[/bold]
    """
    from semece.cli.run_command import run_command

    run_command(told)


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:  # noqa: A002, ANN401 - as Typer's
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=more.pop("show_default", False), **more)


def score(  # noqa: PLR0913, PLR0917 - one parameter per option
    files: Annotated[list[Path], typer.Argument(help="Samples of one format: our own, or another tool's.")],
    output: Annotated[Path | None, _option("--output", "-o", help="The run file.")] = None,
    judge: Annotated[
        str | None,
        _option("--judge", "-j", help="rules, exact, math, or given: labels, grades or scores of the files."),
    ] = None,
    form: Annotated[
        str | None, _option("--format", help="Whose files they are. Default: by what is in them.", panel=FILES)
    ] = None,
    skip_bad: Annotated[bool, _option("--skip-bad", help="Leave bad rows out and count them.", panel=FILES)] = False,
    questions: Annotated[
        str | None, _option("--questions", help="A dataset or file with the texts and references, by id.", panel=FILES)
    ] = None,
    model: Annotated[
        str | None,
        _option("--model", "-m", help="Only this model, where the files name several; else its name.", panel=FILES),
    ] = None,
    scorer: Annotated[
        str | None, _option("--scorer", help="Whose scores are the grades of --judge given.", panel=FILES)
    ] = None,
    pattern: Annotated[
        str | None, _option("--answer-pattern", help="A regular expression that finds the answer.", panel=FILES)
    ] = None,
    name: Annotated[
        str | None, _option("--name", help="What tables and figures call the model. Default: as the files do.")
    ] = None,
    dataset: Annotated[
        str | None, _option("--dataset", "-d", help="What they call the questions. Default: as the files do.")
    ] = None,
    scores: Annotated[
        list[str] | None,
        _option(
            "--score",
            metavar="NAME=KIND",
            help="What a score means: 0..1 (default), LEAST..SUREST, or higher or lower for its order alone. Of "
            "Inspect, lm-eval and DeepEval only scores that are named here are taken.",
            panel=FILES,
        ),
    ] = None,
    over: Annotated[
        str,
        _option("--scores-over", help="Scores of responses: mean over all, or those of the mode.", panel=FILES),
    ] = "all",
) -> None:
    """Measure samples you have already: rows with question, references and answers, or the files of another tool.

    Example: [bold]semece score logs/popularity.eval[/bold]
    """
    from semece.cli.reading_commands import print_summary
    from semece.runs import SamplesReading, makes_table, tabulate
    from semece.runs import score as store_samples

    tabled = makes_table(files, output)
    path = output or Path("runs") / f"{files[0].stem}.{'parquet' if tabled else 'db'}"
    kinds = {name: kind or None for name, _, kind in (text.partition("=") for text in scores or ())}
    reading = SamplesReading(form, skip_bad, questions, model, scorer, pattern, kinds, over, name, dataset)
    measure = tabulate if tabled else store_samples
    for hint in measure(files, path, judge=judge, reading=reading):
        typer.echo(f"semece: {hint}", err=True)
    print_summary([path])
    typer.echo(f"\n{path}")


COMMANDS = {"run": run, "score": score}
