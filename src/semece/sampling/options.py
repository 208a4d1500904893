"""An option: how it is written on the command line and in files, what it takes, and its rule.

A row of the option table is a field of a settings record, made by :func:`option`. The command line with its help, the
tables of TOML files, the checks and the documentation follow from the row.
"""

from __future__ import annotations

import tomllib
from dataclasses import MISSING, dataclass, field, fields, replace
from inspect import get_annotations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import ParseError, SemeceError, meant, ordinary, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    Kind = type[str | int | float | bool | Path]

R = TypeVar("R")

WANTED: dict[Kind, str] = {
    str: "text",
    Path: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
"""What an option takes, in words."""

NUMBERS: dict[Kind, tuple[type, ...]] = {int: (int,), float: (int, float)}
"""What a number of each kind is."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What the value of an option must be.

    Parameters
    ----------
    text : str
        The rule, for people.
    holds : callable
        Whether a value keeps it.
    names : tuple of str
        The values that keep it, if they are a few names.
    """

    text: str
    holds: Callable[[Any], bool]
    names: tuple[str, ...] = ()


def at_least(least: int) -> Rule:
    """Make the rule of a least value."""
    return Rule(f"at least {least}", lambda value: value >= least)


def one_of(*names: str) -> Rule:
    """Make the rule of a few names."""
    return Rule((" or " if len(names) == 2 else ", ").join(names), lambda value: value in names, names)


def _same(value: Any) -> Any:  # noqa: ANN401 - any value
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One row of the option table.

    Parameters
    ----------
    help : str
        What it is, on the command line and in the documentation.
    panel : str or None
        Under which heading of the help it stands.
    short : str or None
        Its short form, such as ``-m``.
    rule : Rule or None
        What a value that is not None must be.
    study : str or None
        The table of a study file that takes it, and after a dot its name there if that is another.
    repeated : bool
        Whether the command that continues a run must repeat it.
    after : str or None
        The option behind which it stands in the help, where that is another record's.
    also : type
        What a TOML file may give too.
    read, write : callable
        From what is typed to the value of the field, and back.
    name, field, kind, default
        What it is called where it is typed, its field, the type that is typed, and the default that is typed; known
        from the field where they are not given.
    """

    help: str
    panel: str | None = None
    short: str | None = None
    rule: Rule | None = None
    study: str | None = None
    repeated: bool = False
    after: str | None = None
    read: Callable[[Any], Any] = _same
    write: Callable[[Any], Any] = _same
    also: Kind | None = None
    name: str = ""
    field: str = ""
    kind: Kind | None = None
    default: Any = None

    @property
    def flags(self) -> tuple[str, ...]:
        """How the command line spells it."""
        if len(self.name) == 1:
            return (f"-{self.name}",)
        long = f"--{self.name.replace('_', '-')}"
        return (long,) if self.short is None else (long, self.short)

    @property
    def wanted(self) -> str:
        """What a file may give, in words."""
        own = WANTED[self.kind or str]
        return own if self.also is None else f"{WANTED[self.also]} or {own}"

    def takes(self, value: object) -> bool:
        """Whether a value of a TOML file is of the option's kind."""
        kinds: dict[Kind, tuple[type, ...]] = {Path: (str,), float: (int, float)}
        return type(value) in (*kinds.get(self.kind or str, (self.kind,)), self.also)

    def counts(self, value: object) -> bool:
        """Whether a value is a number of the option's kind."""
        return isinstance(value, NUMBERS[self.kind or str]) and not isinstance(value, bool)

    def value(self, typed: object) -> Any:  # noqa: ANN401 - of the field's type
        """Give the field's value for what is typed; None stays None."""
        return None if typed is None else self.read(typed)


def option(default: Any = MISSING, *, help: str, **row: Any) -> Any:  # noqa: A002, ANN401 - a field of any type
    """Make a field of a settings record a row of the option table.

    Parameters
    ----------
    default
        Of the field; one without a default must be given.
    help : str
        What it is.
    **row
        More of :class:`Option`.
    """
    return field(default=default, metadata={"option": Option(help=help, **row)})


def options_of(record: type) -> tuple[Option, ...]:
    """List the rows of a settings record: its own first, then those it inherits."""
    made = {each.name: each for each in fields(record) if "option" in each.metadata}
    order = [(name, kind) for kin in record.__mro__ for name, kind in get_annotations(kin).items() if name in made]
    return tuple(_row(made[name], kind.__name__ if isinstance(kind, type) else str(kind)) for name, kind in order)


def _row(made: Any, annotation: str) -> Option:  # noqa: ANN401 - dataclasses.Field is generic for type checkers alone
    """Complete a row by its field."""
    row: Option = made.metadata["option"]
    kinds: dict[str, Kind] = {kind.__name__: kind for kind in WANTED}
    kind = row.kind or kinds[annotation.partition(" |")[0].rpartition(".")[2]]
    default = kind() if made.default is MISSING else row.write(made.default)
    return replace(row, name=row.name or made.name, field=made.name, kind=kind, default=default)


def named(record: type, *names: str, **changed: str | None) -> list[Option]:
    """Choose rows of a record by their names, in this order, with something changed for another command."""
    rows = {row.name: row for row in options_of(record)}
    return [replace(rows[name], **changed) for name in names]  # type: ignore[arg-type]


def in_order(rows: Iterable[Option], others: Iterable[Option]) -> list[Option]:
    """Put rows of another record where they stand in the help."""
    placed = list(rows)
    for other in others:
        names = [row.name for row in placed]
        placed.insert(len(placed) if other.after is None else names.index(other.after) + 1, other)
    return placed


def record_of(record: type[R], typed: Mapping[str, object], **more: object) -> R:
    """Make a settings record of what was typed.

    Parameters
    ----------
    record : type
        Which.
    typed : mapping of str to object
        By the options' names; names of other records' options are passed over.
    **more
        Fields that are no options.
    """
    rows = options_of(record)
    return record(**{row.field: row.value(typed[row.name]) for row in rows if row.name in typed}, **more)


def check_options(settings: object) -> None:
    """Refuse values that are of another kind than their option takes, or break its rule.

    Raises
    ------
    SemeceError
        Naming the option, its rule and its value.
    """
    for row in options_of(type(settings)):
        value = row.write(getattr(settings, row.field))
        if value is not None and row.kind in NUMBERS and not row.counts(value):
            raise SemeceError(f"{row.name.replace('_', '-')} must be {row.wanted}; got {value!r}")
        if row.rule is not None and value is not None and not row.rule.holds(value):
            raise SemeceError(
                f"{row.name.replace('_', '-')} must be {row.rule.text}; got {value}{meant(str(value), row.rule.names)}"
            )


def text_in(path: str | Path) -> str:
    """Read a file that an option names.

    Raises
    ------
    ParseError
        It is not there, or not UTF-8 text.
    """
    try:
        return ordinary(Path(path).expanduser()).read_text(encoding="utf-8")
    except OSError as error:
        if "{question}" in str(path):
            said = shortened(str(path), 80)
            raise ParseError(f"--prompt names a file that holds the text; got {said!r}") from None
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ParseError(f"{path} is not UTF-8 text") from None


def toml_in(path: str | Path) -> tuple[bytes, dict[str, Any]]:
    """Read a TOML file: its content, and its tables.

    Raises
    ------
    ParseError
        It is not there, or not TOML.
    """
    try:
        content = ordinary(Path(path)).read_bytes()
        return content, tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ParseError(f"{path} is not TOML: {error}") from None


def lines_in(path: str | Path) -> tuple[str, ...]:
    """Read a file with one value a line; blank lines count nothing.

    Raises
    ------
    ParseError
        As :func:`text_in`.
    """
    return tuple(line.strip() for line in text_in(path).splitlines() if line.strip())
