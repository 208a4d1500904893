"""The command line: parse, call one function, print.

Exit codes: 0 done; 1 wrong input, refused key or failed check; 2 what the parser rejects; 3 incomplete or stopped by a
cap (the same command continues); 130 and 143 after Ctrl-C and SIGTERM.
"""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from semece.cli import auditing, comparing, judging, reading_commands, running, studying, theory_commands

app = typer.Typer(
    name="semece",
    help="Does this language model know when it is wrong? Calibration for open-ended questions, from samples alone.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (running, studying, reading_commands, comparing, judging, theory_commands):
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


def main() -> NoReturn:
    """Run the command line; turn what semece raises on purpose into one line on stderr."""
    from semece.errors import BudgetError, SemeceError

    try:
        app()
    except BudgetError as error:
        code = _say(str(error), 3)
    except SemeceError as error:
        code = _say(str(error), 1)
    except OSError as error:
        code = _say(f"the output cannot be written: {error.strerror or error}", 1)
    else:
        code = 0
    sys.exit(code)


def _say(sentence: str, code: int) -> int:
    typer.echo(f"semece: {sentence}", err=True)
    return code
