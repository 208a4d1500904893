"""The command line: parse, call one function, print.

Exit codes: 0 done; 1 a check that failed; 2 wrong input of any kind; 3 incomplete or stopped by a cap (the same command
continues); 4 refused by a provider or by the file system; 130 and 143 after Ctrl-C and SIGTERM.

With ``--json`` stdout holds one JSON document: what was found, or ``{"error": {"message", "exit"}}``, whose message is
the sentence on stderr.
"""

from __future__ import annotations

import gc
import json
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

import typer
from typer.exceptions import TyperException

from semece.cli import (
    auditing,
    comparing,
    deciding,
    judging,
    reading_commands,
    recalibrating,
    running,
    showing,
    studying,
    theory_commands,
)
from semece.cli.streams import clean_streams

app = typer.Typer(
    name="semece",
    help="Does this language model know when it is wrong? Calibration for open-ended questions, from samples alone.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    running,
    studying,
    reading_commands,
    showing,
    recalibrating,
    deciding,
    comparing,
    judging,
    theory_commands,
):
    for name, command in module.COMMANDS.items():
        app.command(name)(command)
app.add_typer(auditing.app, name="audit")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"semece {version('semece')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Show events on stderr."),
) -> None:
    """Apply what holds for every command."""
    del version
    if verbose:
        show_events()


def show_events() -> None:
    """Write what semece logs, a run's events among it, to stderr, beside the bars that may be there."""
    import logging

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            typer.echo(self.format(record), err=True)

    log = logging.getLogger("semece")
    log.setLevel(logging.INFO)
    if not log.handlers:
        log.addHandler(Lines())


_ended: list[int] = []
"""The exit code of a signal that came; an import that it interrupts may fail with an error of its own instead."""


def _end(*_: object) -> NoReturn:
    _ended.append(143)
    sys.exit(143)


def main() -> NoReturn:
    """Run the command line; whatever ends a command is one line on stderr, without secrets and terminal codes."""
    with suppress(ValueError):  # not in a thread of somebody else's program
        signal.signal(signal.SIGTERM, _end)
    gc.set_threshold(
        20_000, 20, 20
    )  # records by the million live to the end: less often is garbage looked for among them
    with clean_streams() as (out, err):
        code = _typed()
        if code in {130, 143} and not err.last_line:
            _say("stopped", code)
        if code and "--json" in sys.argv[1:] and not out.last_line:
            said = err.last_line.removeprefix("semece: ")
            typer.echo(json.dumps({"error": {"message": said, "exit": code}}, ensure_ascii=False))
        sys.exit(code)


def _typed() -> int:
    """Do what was typed, and give the exit code."""
    try:
        return app(standalone_mode=False) or 0
    except SystemExit:
        if not _ended:
            raise
        return _ended[0]
    except TyperException as error:
        said = _refused(error) or "name a command; 'semece --help' lists them"
        return _say(said.replace("Option '--judges' requires 2 arguments.", comparing.TWO_JUDGES), 2)
    except (KeyboardInterrupt, typer.Abort):
        return _say("stopped", 130)
    except BrokenPipeError:  # who read it has gone
        return 4
    except Exception as error:
        return _ended[0] if _ended else _failed(error)


_TYPED = {"int": "a whole number", "float": "a number", "bool": "true or false"}
"""What an option takes, by how the kind of a fault begins."""


def _refused(error: TyperException) -> str:
    """Say what Typer refused: of a value that is no number the option, what it takes, and what came."""
    cause: Any = error.__cause__
    if not isinstance(error, typer.BadParameter) or error.param is None or not hasattr(cause, "errors"):
        return error.format_message()
    fault = cause.errors()[0]
    wanted = _TYPED.get(fault["type"].partition("_")[0])
    if wanted is None:
        return error.format_message()
    hint = "".join(error.param.get_error_hint()).replace("'", "")
    return f"{hint} must be {wanted}; got {fault['input']!r}"


def _failed(error: Exception) -> int:
    """Say why a command failed, and give the exit code."""
    from semece.errors import BudgetError, DiskError, ProviderError, SemeceError

    match error:
        case BudgetError():
            return _say(str(error), 3)
        case ProviderError() | DiskError():
            return _say(str(error), 4)
        case SemeceError():
            return _say(str(error), 2)
        case OSError():
            return _say(f"{error.filename or 'the output'} cannot be written: {_reason(error)}", 4)
        case _:
            return _unforeseen(error)


def _reason(error: OSError) -> str:
    """Say why a file cannot be written: where its folder is not there, that."""
    from pathlib import Path

    folder = Path(str(error.filename or "")).parent
    return str(error.strerror or error) if folder.is_dir() else f"there is no folder {folder}"


def _unforeseen(error: Exception) -> int:
    """Say in one line what nobody foresaw; with ``-v`` where it happened, too."""
    import logging
    import traceback

    logging.getLogger("semece").info("".join(traceback.format_exception(error)).rstrip())
    said = " ".join(f"{error}".split())[:300]
    return _say(f"an error that nobody foresaw: {type(error).__name__}: {said}; 'semece -v ...' says where", 2)


def _say(sentence: str, code: int) -> int:
    typer.echo(f"semece: {sentence}", err=True)
    return code
