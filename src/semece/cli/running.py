"""Commands that make runs or add to them: ``run``, ``score`` and ``elicit``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from semece.cli.reading_commands import AsJson  # noqa: TC001 - read as it runs
from semece.cli.typer_options import ELICITING, RUN, Handling, Told, with_options

FILES = "Files"


@with_options(RUN)
def run(told: Told, as_json: AsJson = False) -> None:
    """Draw answers, group and grade them, and say how calibrated the model is. Run it again to continue.

    Example: [bold]semece run --model local/smollm2 --dataset starter[/bold]
    """
    from semece.cli.run_command import run_command

    run_command(told, as_json=as_json)


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:  # noqa: A002, ANN401 - as Typer's
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=more.pop("show_default", False), **more)


def score(  # noqa: PLR0913, PLR0917 - one parameter per option
    files: Annotated[
        list[Path], typer.Argument(help="Samples of one format: files, a folder, or a pattern in quotes.")
    ],
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
    engine: Annotated[
        str, _option("--engine", help="Who counts into a table: local, or daft or ray (extra 'scale').", panel=FILES)
    ] = "local",
    as_json: AsJson = False,
) -> None:
    """Measure samples you have already: rows with question, references and answers, or the files of another tool.

    Example: [bold]semece score logs/popularity.eval[/bold]
    """
    from semece.cli.reading_commands import print_made
    from semece.runs import SamplesReading, makes_table, scored_name, tabulate
    from semece.runs import score as store_samples

    tabled = makes_table(files, output, engine)
    path = output or Path("runs") / f"{scored_name(files)}.{'parquet' if tabled else 'db'}"
    kinds = {name: kind or None for name, _, kind in (text.partition("=") for text in scores or ())}
    reading = SamplesReading(form, skip_bad, questions, model, scorer, pattern, kinds, over, name, dataset)
    measure = partial(tabulate, engine=engine) if tabled else store_samples
    hints = list(measure(files, path, judge=judge, reading=reading))
    for hint in hints:
        typer.echo(f"semece: {hint}", err=True)
    print_made(path, as_json=as_json, notes=hints)
    if not as_json:
        typer.echo(f"\n{path}")


@with_options(ELICITING)
def elicit(
    run: Annotated[Path, typer.Argument(help="A run file.")],
    elicitations: Annotated[
        list[str], typer.Argument(help="linguistic, linguistic-mielke, top-k, two-stage or p-true; one or several.")
    ],
    draws: Annotated[
        int | None,
        _option(
            "--draws",
            help="Replies per question. Default: 1; 10 of p-true without log probabilities.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    *,
    told: Told,
) -> None:
    """Ask a run's model how sure it is of the answers that it gave most often. No answer is drawn again.

    What a model says becomes a score of the run with the elicitation's name. The same command again asks only for what
    is missing.

    Example: [bold]semece elicit RUN.db p-true top-k --dry-run[/bold]
    """
    from dataclasses import asdict
    from functools import partial

    from semece.cli.judging import ask_to_end
    from semece.cli.reading_commands import print_found
    from semece.cli.run_command import again, leave
    from semece.runs import elicit as ask
    from semece.runs import elicitation_notes, elicited, plan_elicitations, plural
    from semece.sampling import plan_text

    handling, calls = told.record(Handling), told.calls()
    for sentence in elicitation_notes(run, elicitations, draws=draws):
        typer.echo(f"note: {sentence}", err=True)
    if handling.dry_run:
        expected = handling.expected_tokens
        planned = plan_elicitations(run, elicitations, draws=draws, calls=calls, expected_tokens=expected)
        print_found([plan_text(planned)], lambda: asdict(planned), as_json=as_json)
        return
    asking = partial(ask, run, elicitations, draws=draws, calls=calls)
    missing = ask_to_end(asking, quiet=handling.quiet, timeout=calls.timeout)
    found = elicited(run, elicitations)
    facts = {"run": str(run), "missing": missing, "scores": [each._asdict() for each in found]}
    print_found((each.sentence for each in found), lambda: facts, as_json=as_json)
    if missing:
        leave(f"semece: {plural(missing, 'reply', 'is')} missing; {again()}", 3)


def merge(
    files: Annotated[list[Path], typer.Argument(help="Run files of 'semece run --shard k/K'.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The run file of all their questions.")],
    as_json: AsJson = False,
) -> None:
    """Put the run files of shards together into one, which continues like any other.

    Example: [bold]semece merge runs/starter--local-smollm2--*.db -o runs/all.db[/bold]
    """
    from semece.cli.reading_commands import print_made
    from semece.cli.run_command import leave
    from semece.runs import merge_shards

    missing = merge_shards(files, output)
    notes = [f"{missing}; merge {output} with them when they are there"] if missing else []
    print_made(output, as_json=as_json, notes=notes)
    if not as_json:
        typer.echo(f"\n{output}")
    if missing:
        leave(f"semece: {notes[0]}", 3)


COMMANDS = {"run": run, "score": score, "elicit": elicit, "merge": merge}
