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


PARTS = {
    "Begin": ("fetch-model", "models", "datasets"),
    "Make runs": ("run", "score", "elicit", "study", "merge", "doctor"),
    "Read": ("summary", "show", "report", "table", "figure", "paper", "export"),
    "Check and compare": ("check", "compare", "judge-eval", "audit export", "audit score", "audit forget"),
    "Decide": ("plan", "recalibrate", "abstain"),
    "Without a run": ("simulate", "theory"),
}
"""Commands in the order in which a reader needs them; one that is in no part follows at the end."""

OTHERS = "More"
"""The part of commands that no part names."""


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


def every(commands: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Give commands by name, and those of groups under the group's name."""
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        yield from every(inner, f"{before}{name} ") if inner else [(f"{before}{name}", command)]


def parts() -> dict[str, list[str]]:
    """Give the names of all commands, part by part."""
    names = dict(every(get_command(app).commands))
    rest = [name for name in names if not any(name in part for part in PARTS.values())]
    return {part: list(some) for part, some in PARTS.items()} | ({OTHERS: rest} if rest else {})


def contents() -> str:
    """Write a list of all commands, each with what its help says first."""
    commands = dict(every(get_command(app).commands))
    lines = ["## Contents", ""]
    for part, names in parts().items():
        lines += [f"**{part}**", ""]
        for name in names:
            first = plain(re.split(r"[.:](?:\s|$)", (commands[name].help or "").strip(), maxsplit=1)[0])
            lines.append(f"* [`semece {name}`](#semece-{name.replace(' ', '-')}): {' '.join(first.split())}.")
        lines.append("")
    return "\n".join(lines)


def text() -> str:
    """Write the whole page."""
    commands = dict(every(get_command(app).commands))
    order = [name for names in parts().values() for name in names]
    return "\n".join([HEAD, contents(), *(section(name, commands[name]) for name in order), TAIL])


if __name__ == "__main__":
    Path(__file__).with_name("cli.md").write_text(text())
