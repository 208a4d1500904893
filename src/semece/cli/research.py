"""Commands that need no model and no run: ``theory`` and ``simulate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def theory(  # noqa: PLR0917 - one parameter per option
    margin: Annotated[float, typer.Option("--margin", help="Difference of the two largest probabilities, in [0, 1].")],
    top_two_mass: Annotated[float, typer.Option("--mass", help="Their sum p, in (0, 1].")] = 1.0,
    classes: Annotated[float, typer.Option("--classes", "-K", help="Number of classes.")] = 2,
    n: Annotated[int, typer.Option("-n", help="Responses per question.")] = 50,
    bias: Annotated[Optional[float], typer.Option("--bias", help="Print the least n for this bias.")] = None,  # noqa: UP045
    as_json: AsJson = False,
) -> None:
    """Say what the theory says of a margin: regime, biases, estimator gap, and how many responses a bias needs.

    Example: [bold]semece theory --margin 0.08 --mass 1 --classes 2 -n 50 --bias 0.01[/bold]
    """
    from semece.errors import SemeceError

    try:
        facts = dict(facts_of(margin, top_two_mass, classes, n, bias))
    except ValueError as error:
        raise SemeceError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{name:44s} {value if isinstance(value, str | int) else format(value, '.4f')}")


def facts_of(margin: float, mass: float, classes: float, n: int, bias: float | None) -> Iterator[tuple[str, Any]]:
    """Compute each fact under its name."""
    from semece import theory as t
    from semece.theory.predictions import PREDICTIONS

    s = max(1, n // 2)
    for design in ("same-n", "as-run"):
        yield f"regime ({design})", str(t.regime(margin, mass, classes, n, design=design))
    yield "bias of Sem1 (n responses)", float(t.predicted_bias(margin, mass, n))
    yield "bias of Sem2 (selected on n // 2)", float(t.predicted_bias(margin, mass, s, estimator="sem2"))
    for name in PREDICTIONS:
        yield f"estimator gap ({name})", float(t.predicted_gap(margin, mass, n, design=name))
    if bias is not None:
        yield f"least n for a bias of Sem1 of {bias:g}", t.minimal_n(bias, margin, mass)
        yield f"least n for a bias of Sem2 of {bias:g}", 2 * t.minimal_n(bias, margin, mass, estimator="sem2")


COMMANDS = {"theory": theory}
