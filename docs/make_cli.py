"""Write docs/cli.md from the commands themselves: ``python docs/make_cli.py``."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from semece.cli import app

HEAD = """# Command line

Written by `docs/make_cli.py` from the commands' own help.

Results go to stdout, progress and messages to stderr: one line for what went wrong, without terminal codes and without
secrets.

| exit code | means |
| --: | :-- |
| 0 | done |
| 1 | `check`: a limit is passed |
| 2 | wrong input of any kind: an option, a file, a name, a missing key |
| 3 | incomplete, or stopped by a cap: the same command (with a higher cap) continues |
| 4 | refused by a provider (key, model, quota, no reply) or by the file system (no space, no permission, locked) |
| 130, 143 | stopped by Ctrl-C or SIGTERM; the same command continues |
"""


TAIL = """## Next

Every command says the same with `--help`. The [tutorial](tutorial.md) has the first ones in order.
"""


def plain(text: str) -> str:
    """Help text without its markup; examples as code."""
    return re.sub(r"\[/?bold\]", "`", text.strip()).replace("|", "\\|")


def section(name: str, command: Any) -> str:
    """Write one command: help, arguments and options."""
    lines = [f"## semece {name}", "", plain(re.sub(r"\n +", "\n", command.help or "")), ""]
    rows = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            rows.append(f"| `{(parameter.name or '').upper()}` | {plain(parameter.help or '')} | |")
        elif "--help" not in parameter.opts:
            default = parameter.default if parameter.show_default and parameter.default not in (None, False) else ""
            rows.append(f"| `{', '.join(parameter.opts)}` | {plain(parameter.help or '')} | {default} |")
    if rows:
        lines += ["| option | what | default |", "| :-- | :-- | :-- |", *rows, ""]
    return "\n".join(lines)


def sections(commands: dict[str, Any], before: str = "") -> Iterator[str]:
    """Write commands, and those of groups under the group's name."""
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        yield from sections(inner, f"{before}{name} ") if inner else [section(f"{before}{name}", command)]


def text() -> str:
    """Write the whole page."""
    return "\n".join([HEAD, *sections(get_command(app).commands), TAIL])


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(text())
