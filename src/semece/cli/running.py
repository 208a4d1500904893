"""Commands that make runs: ``run`` and ``score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

WHICH, ASK, JUDGES, CALLS, CAPS = "Which questions", "How to ask", "Judges", "Calls", "Caps"
FILES = "Files"


def _option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:  # noqa: A002, ANN401 - as Typer's
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=more.pop("show_default", False), **more)


def run(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
    model: Annotated[
        str, _option("--model", "-m", help="A model's spelling, such as local/smollm2; see 'semece models'.")
    ] = "",
    dataset: Annotated[
        str, _option("--dataset", "-d", help="A name such as simpleqa, a file, or NAME=FILE; see 'semece datasets'.")
    ] = "",
    n: Annotated[int, _option("-n", help="Responses per question.", show_default=True)] = 50,
    output: Annotated[
        Optional[Path], _option("--output", "-o", help="The run file. Default: runs/<dataset>--<model>.db.")  # noqa: UP045
    ] = None,
    quiet: Annotated[bool, _option("--quiet", "-q", help="No progress bar.")] = False,
    limit: Annotated[Optional[int], _option("--limit", help="Only the first so many.", panel=WHICH)] = None,  # noqa: UP045
    sample: Annotated[Optional[int], _option("--sample", help="So many at random.", panel=WHICH)] = None,  # noqa: UP045
    ids: Annotated[Optional[Path], _option("--ids", help="A file with one id a line.", panel=WHICH)] = None,  # noqa: UP045
    seed: Annotated[int, _option("--seed", help="Of responses and of --sample.", panel=WHICH, show_default=True)] = 0,
    prompt: Annotated[
        Optional[Path], _option("--prompt", help="Your own prompt: a text with {question}.", panel=ASK)  # noqa: UP045
    ] = None,
    elicit: Annotated[
        str, _option("--elicit", help="percent: ask for a confidence; none: do not.", panel=ASK, show_default=True)
    ] = "percent",
    temperature: Annotated[
        float, _option("--temperature", "-t", help="Sampling temperature.", panel=ASK, show_default=True)
    ] = 1.0,
    top_p: Annotated[float, _option("--top-p", help="Nucleus mass.", panel=ASK, show_default=True)] = 1.0,
    max_tokens: Annotated[
        Optional[int], _option("--max-tokens", help="Per response; 1024, embedded models 64.", panel=ASK)  # noqa: UP045
    ] = None,
    reasoning_effort: Annotated[
        Optional[str], _option("--reasoning-effort", help="Passed to the provider.", panel=ASK)  # noqa: UP045
    ] = None,
    judge: Annotated[
        Optional[str], _option("--judge", "-j", help="rules, exact, or a model's spelling.", panel=JUDGES)  # noqa: UP045
    ] = None,
    partition_judge: Annotated[
        Optional[str], _option("--partition-judge", help="Only for grouping.", panel=JUDGES)  # noqa: UP045
    ] = None,
    grade_judge: Annotated[Optional[str], _option("--grade-judge", help="Only for grading.", panel=JUDGES)] = None,  # noqa: UP045
    judge_prompt: Annotated[
        str, _option("--judge-prompt", help="default, strict or loose.", panel=JUDGES, show_default=True)
    ] = "default",
    judge_max_tokens: Annotated[
        Optional[int], _option("--judge-max-tokens", help="Per reply of a judge; 2048.", panel=JUDGES)  # noqa: UP045
    ] = None,
    grade_classes: Annotated[
        str, _option("--grade-classes", help="all, or mode: only the most frequent.", panel=JUDGES, show_default=True)
    ] = "all",
    not_attempted: Annotated[
        str, _option("--not-attempted", help="incorrect, or exclude.", panel=JUDGES, show_default=True)
    ] = "incorrect",
    min_responses: Annotated[
        Optional[int], _option("--min-responses", help="Least usable responses; half of n.", panel=JUDGES)  # noqa: UP045
    ] = None,
    base_url: Annotated[
        Optional[str], _option("--base-url", help="Where an OpenAI-compatible service is.", panel=CALLS)  # noqa: UP045
    ] = None,
    concurrency: Annotated[int, _option("--concurrency", help="Calls at once.", panel=CALLS, show_default=True)] = 32,
    timeout: Annotated[float, _option("--timeout", help="Seconds per call.", panel=CALLS, show_default=True)] = 600.0,
    env_file: Annotated[Optional[Path], _option("--env-file", help="A file with keys.", panel=CALLS)] = None,  # noqa: UP045
    attempts: Annotated[
        int, _option("--attempts", help="Failures in a row before a call is left.", panel=CALLS, show_default=True)
    ] = 10,
    batch: Annotated[
        bool, _option("--batch", help="In batches: about half the price, up to a day.", panel=CALLS)
    ] = False,
    retry_failed: Annotated[
        bool, _option("--retry-failed", help="Ask again where a reply held no usable answer.", panel=CALLS)
    ] = False,
    budget: Annotated[Optional[float], _option("--budget", help="Most USD in all.", panel=CAPS)] = None,  # noqa: UP045
    max_total_tokens: Annotated[
        Optional[int], _option("--max-total-tokens", help="Most tokens in all.", panel=CAPS)  # noqa: UP045
    ] = None,
    expected_tokens: Annotated[
        Optional[int], _option("--expected-tokens", help="Per response, for --dry-run.", panel=CAPS)  # noqa: UP045
    ] = None,
    dry_run: Annotated[bool, _option("--dry-run", help="Only say what it would ask and cost.", panel=CAPS)] = False,
    config: Annotated[
        Optional[Path], _option("--config", help="TOML with the same names, in a table named run.")  # noqa: UP045
    ] = None,
) -> None:
    """Draw answers, group and grade them, and say how calibrated the model is. Run it again to continue.

    Example: [bold]semece run --model local/smollm2 --dataset starter[/bold]
    """
    from semece.cli.run_command import run_command

    given = {k: v for k, v in locals().items() if k != "run_command"}
    run_command(given)


def score(  # noqa: PLR0917 - one parameter per option
    files: Annotated[list[Path], typer.Argument(help="Samples of one format: our own, or another tool's.")],
    output: Annotated[Optional[Path], _option("--output", "-o", help="The run file.")] = None,  # noqa: UP045
    judge: Annotated[
        Optional[str],  # noqa: UP045
        _option("--judge", "-j", help="rules, exact, or given: labels, grades or scores of the files."),
    ] = None,
    form: Annotated[
        Optional[str], _option("--format", help="Whose files they are. Default: by what is in them.", panel=FILES)  # noqa: UP045
    ] = None,
    skip_bad: Annotated[bool, _option("--skip-bad", help="Leave bad rows out and count them.", panel=FILES)] = False,
    questions: Annotated[
        Optional[str],  # noqa: UP045
        _option("--questions", help="A dataset or file with the texts and references, by id.", panel=FILES),
    ] = None,
    model: Annotated[
        Optional[str], _option("--model", "-m", help="Only this model, where the files name several.", panel=FILES)  # noqa: UP045
    ] = None,
    scorer: Annotated[
        Optional[str], _option("--scorer", help="Whose scores are the grades of --judge given.", panel=FILES)  # noqa: UP045
    ] = None,
) -> None:
    """Measure samples you have already: rows with question, references and answers, or the files of another tool.

    Example: [bold]semece score logs/popularity.eval[/bold]
    """
    from semece.cli.run_readers import print_summary
    from semece.runs.scored_samples import SamplesReading
    from semece.runs.scored_samples import score as store_samples

    path = output or Path("runs") / f"{files[0].stem}.db"
    reading = SamplesReading(form, skip_bad, questions, model, scorer)
    for hint in store_samples(files, path, judge=judge, reading=reading):
        typer.echo(f"semece: {hint}", err=True)
    print_summary([path])
    typer.echo(f"\n{path}")


COMMANDS = {"run": run, "score": score}
