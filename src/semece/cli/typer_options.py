"""From rows of the option table to a command's options, and from what is typed to the records that they fill."""

from __future__ import annotations

import inspect
import io
import os
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path  # noqa: TC003 - read as it runs
from typing import TYPE_CHECKING, Annotated, Any, Optional, TypeVar

import typer

from semece import SemeceError
from semece.cli.streams import keep_secrets_of
from semece.sampling import (
    CALLS,
    CAPS,
    CallSettings,
    Settings,
    check_options,
    in_order,
    named,
    option,
    options_of,
    record_of,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semece.sampling import Option

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Handling:
    """What a command is told beside the settings of a run: where to write, how loud, whether only to plan.

    Parameters
    ----------
    output : Path or None
        The run file.
    quiet : bool
        Whether no progress is shown.
    env_file : Path or None
        A file with keys.
    expected_tokens : int or None
        Tokens per response that a plan assumes.
    dry_run : bool
        Whether nothing is asked.
    config : Path or None
        A TOML file with the same options.
    """

    output: Path | None = option(None, help="The run file. Default: runs/<dataset>--<model>.db.", short="-o", after="n")
    quiet: bool = option(False, help="No progress bar.", short="-q", after="output")
    env_file: Path | None = option(None, help="A file with keys.", panel=CALLS, after="timeout")
    expected_tokens: int | None = option(None, help="Per response, for --dry-run.", panel=CAPS)
    dry_run: bool = option(False, help="Only say what it would ask and cost.", panel=CAPS)
    config: Path | None = option(None, help="TOML with the same names, in a table named run.")


RUN = in_order(options_of(Settings), options_of(Handling))
"""The options of ``semece run``."""

CALLING = [
    *named(Settings, "base_url", help="Where an OpenAI-compatible judge is."),
    *named(Settings, "concurrency", "timeout", "attempts"),
    *named(Handling, "env_file"),
    *named(Settings, "budget", "max_total_tokens"),
    *named(Settings, "retry_failed", help="Ask again where a reply came without a text."),
]
"""How a judge that is a model is asked."""

COMPARING = named(Settings, "batch", help="Ask in batches: about half the price, up to a day.") + CALLING
"""How judges of one run are asked."""

ELICITING = [
    *named(Settings, "base_url", "concurrency", "timeout", "attempts", "batch", "no_lock"),
    *named(Handling, "env_file"),
    *named(Settings, "budget", "max_total_tokens"),
    *named(Settings, "retry_failed", help="Ask again where a reply came without a text."),
    *named(Handling, "quiet", "expected_tokens", "dry_run"),
]
"""How a model is asked about its answers."""

STUDY = [
    *named(Handling, "dry_run", help="Only say what is missing and costs what."),
    *named(Settings, "budget", "max_total_tokens"),
    *named(Handling, "expected_tokens"),
    *named(Settings, "retry_failed", panel=None),
    *named(Handling, "env_file"),
]
"""What a study is told beside its file."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a command was told.

    Parameters
    ----------
    values : mapping of str to object
        What its options hold, by their names.
    chosen : frozenset of str
        Options that were typed; the others hold their defaults.
    """

    values: Mapping[str, object]
    chosen: frozenset[str] = frozenset()

    def over(self, values: Mapping[str, object]) -> Told:
        """Let the values of a file stand where nothing was typed."""
        return replace(self, values={**self.values, **{k: v for k, v in values.items() if k not in self.chosen}})

    def record(self, record: type[R], **more: object) -> R:
        """Fill a settings record, with fields that are no options besides."""
        return record_of(record, self.values, **more)

    def calls(self) -> CallSettings:
        """Give how models are asked, once the keys are loaded.

        Raises
        ------
        SemeceError
            A value breaks the rule of its option, or the file with keys cannot be read.
        """
        load_keys(self.record(Handling).env_file)
        calls = self.record(CallSettings)
        check_options(calls)
        return calls


def load_keys(path: Path | None) -> None:
    """Put the keys of a file into the environment; the environment wins.

    Raises
    ------
    SemeceError
        The file is not there, or cannot be read.
    """
    if path is None:
        return
    from dotenv import load_dotenv

    if not path.is_file():
        raise SemeceError(f"{path} does not exist; --env-file names a file with lines NAME=value")
    try:
        load_dotenv(stream=io.StringIO(text_in(path)))
    except ValueError as error:
        raise SemeceError(f"{path}: expected lines NAME=value; {error}") from None
    keep_secrets_of(os.environ)


def with_options(rows: Sequence[Option]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options; they stand where its parameter ``told`` does, and come to it as one record."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        taken: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            if parameter.name == "told":
                taken += map(_parameter, rows)
            else:
                taken.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @wraps(command)
        def called(context: typer.Context, **given: Any) -> None:  # noqa: ANN401 - what Typer has read
            values = {row.name: given.pop(row.name) for row in rows}
            sources = {name: context.get_parameter_source(name) for name in values}
            chosen = frozenset(n for n, source in sources.items() if source and source.name == "COMMANDLINE")
            command(told=Told(values, chosen), **given)

        asked = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
        called.__signature__ = signature.replace(parameters=[asked, *taken])  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in (asked, *taken)}
        return called

    return decorated


def _parameter(row: Option) -> inspect.Parameter:
    """Make the parameter that Typer reads an option from."""
    shown = row.default not in {None, ""} and row.default is not False
    told = typer.Option(*row.flags, help=row.help, rich_help_panel=row.panel, show_default=shown)
    kind: Any = row.kind if row.default is not None else Optional[row.kind]  # noqa: UP045 - made as it runs
    annotation = Annotated[kind, told]
    return inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=row.default, annotation=annotation)
