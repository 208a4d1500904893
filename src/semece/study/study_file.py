"""The study file: TOML that names models, datasets, a judge, prices and how to analyse."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from semece.errors import ParseError, meant, shortened
from semece.runs import Binning
from semece.sampling import (
    CallSettings,
    Option,
    Settings,
    dataset_name,
    file_name,
    options_of,
    read_prices,
    safe_name,
    toml_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.sampling import CallSettings

NAME, OUTPUT, CLOSED = (Option(name=name, help="", kind=str) for name in ("name", "output", "closed"))
BINS = Option(name="bins", help="", kind=int)
LISTS = {
    "models": ("model", "local/smollm2", 'give it another: name = "..."'),
    "datasets": ("dataset", "starter", 'give a file another name: dataset = "NAME=FILE"'),
}
"""Tables that may be repeated: the option that each must have, an example, and what to do about equal names."""


def _tables() -> dict[str, dict[str, Option]]:
    """Say what each table takes: what is the study's own, and the rows of the option table that name it."""
    tables = {"study": {"name": NAME, "output": OUTPUT}, "models": {"name": NAME}, "datasets": {}, "judge": {}}
    for row in options_of(Settings):
        if row.study is not None:
            table, _, name = row.study.partition(".")
            tables[table][name or row.name] = row
    return tables | {"analysis": {"bins": BINS, "closed": CLOSED}}


TABLES = _tables()


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of a study.

    Parameters
    ----------
    dataset, model : str
        What the study calls them.
    settings : Settings
        What the run is told.
    path : Path
        Its file.
    """

    dataset: str
    model: str
    settings: Settings
    path: Path

    @property
    def name(self) -> str:
        """Dataset and model, for people."""
        return f"{self.dataset} · {self.model}"


@dataclass(frozen=True, slots=True)
class Study:
    """A study, read.

    Parameters
    ----------
    source : Path
        The file.
    text : bytes
        What is in it.
    name : str
        What it calls itself.
    output : Path
        The folder of its runs.
    cells : tuple of Cell
        Its runs: for each dataset all models.
    binning : Binning
        Bins of its table, as in :func:`semece.ece`.
    """

    source: Path
    text: bytes
    name: str
    output: Path
    cells: tuple[Cell, ...]
    binning: Binning = field(default_factory=Binning)

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def copy(self) -> Path:
        """Where a copy of the file is kept, beside the runs."""
        return self.output / f"{safe_name(self.name)}--{self.sha256[:12]}.toml"

    def told(self, calls: CallSettings) -> Self:
        """Give the same study with the caps of the command line in every cell, and failed replies asked again if so."""
        caps = {name: getattr(calls, name) for name in ("max_cost", "max_total_tokens", "retry_failed")}
        cells = tuple(replace(cell, settings=replace(cell.settings, **caps)) for cell in self.cells)
        return replace(self, cells=cells)


def read_study(path: str | Path) -> Study:
    """Read a study file; nothing else is opened but the prompts and lists of ids that it names.

    Parameters
    ----------
    path : str or Path
        A TOML file. Paths in it start where the command is typed.

    Returns
    -------
    Study

    Raises
    ------
    ParseError
        Naming the file and the table, what was expected and what came.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> lines = [
    ...     "study = { name = 'small', n = 4 }",
    ...     "models = [{ model = 'fake/?pmf=.9,.1', name = 'sure' }]",
    ...     "datasets = [{ dataset = 'starter', limit = 3 }]",
    ... ]
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "small.toml")
    ...     _ = file.write_text(chr(10).join(lines))
    ...     [(cell.name, cell.path.name) for cell in read_study(file).cells]
    [('starter · sure', 'starter--sure.db')]
    """
    source, where = Path(path), str(path)
    text, tables = toml_in(source)
    if unknown := sorted(set(tables) - {*TABLES, "prices"}):
        names = ", ".join(f"[[{name}]]" if name in LISTS else f"[{name}]" for name in (*TABLES, "prices"))
        raise ParseError(
            f"{where}: expected the tables {names}; got {unknown[0]}{meant(unknown[0], (*TABLES, 'prices'))}"
        )
    head, judge, analysis = (_table(where, tables, name) for name in ("study", "judge", "analysis"))
    models, datasets = (_rows(where, tables, name) for name in LISTS)
    if "name" not in head:
        raise ParseError(f'{where}: [study] must have a name, for example name = "{source.stem}"')
    shared = _settings(f"{where}: [study]", head, "study") | _settings(f"{where}: [judge]", judge, "judge")
    shared["prices"] = read_prices(_mapping(where, tables, "prices"), where)
    output = Path(head.get("output", Path("runs") / safe_name(head["name"]))).expanduser()
    cells = tuple(_cells(where, output, shared, models, datasets))
    _check_paths(where, cells)
    return Study(source, text, head["name"], output, cells, _binning(where, analysis))


def _mapping(where: str, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Give a table, empty if it is not there."""
    found = tables.get(name, {})
    if not isinstance(found, dict):
        raise ParseError(f"{where}: {name} must be one table [{name}]; got {_short(found)}")
    return found


def _table(where: str, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _checked(f"{where}: [{name}]", _mapping(where, tables, name), TABLES[name])


def _rows(where: str, tables: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Give the tables of a list, with the option that each must have."""
    option, example, _ = LISTS[name]
    found = tables.get(name, [])
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ParseError(f"{where}: {name} must be tables [[{name}]]; got {_short(found)}")
    if not found:
        raise ParseError(f'{where}: name at least one {option}: [[{name}]] with {option} = "{example}"')
    rows = []
    for place, row in enumerate(found, 1):
        here = f"{where}: [[{name}]] {place}"
        rows.append(_checked(here, row, TABLES[name]))
        if option not in rows[-1]:
            raise ParseError(f'{here} must name a {option}, for example {option} = "{example}"')
    return rows


def _checked(here: str, table: Mapping[str, Any], rows: Mapping[str, Option]) -> dict[str, Any]:
    """Refuse options that are not there, and values of another kind."""
    options = {name.replace("-", "_"): value for name, value in table.items()}
    for name, value in options.items():
        if name not in rows:
            raise ParseError(f"{here} has no option {name!r}{meant(name, rows)}; its options are {', '.join(rows)}")
        if not rows[name].takes(value) or value == "":
            wanted = "text, not empty" if rows[name].wanted == "text" else rows[name].wanted
            raise ParseError(f"{here}: {name} must be {wanted}; got {_short(value)}")
    return options


def _settings(here: str, table: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Turn the options of a table into fields of the settings."""
    rows, fields = TABLES[name], {}
    for option, typed in table.items():
        if rows[option].field:
            try:
                fields[rows[option].field] = rows[option].value(typed)
            except ParseError as error:
                raise ParseError(f"{here}: {option} {error}") from None
    return fields


def _short(value: object) -> str:
    return shortened(repr(value), 60, mark="...")


def _cells(
    where: str,
    output: Path,
    shared: Mapping[str, Any],
    models: Sequence[dict[str, Any]],
    datasets: Sequence[dict[str, Any]],
) -> Iterator[Cell]:
    """Cross models and datasets."""
    model_names = [row.get("name", row["model"]) for row in models]
    dataset_names = [dataset_name(row["dataset"]) for row in datasets]
    for table, names in (("models", model_names), ("datasets", dataset_names)):
        for place, name in enumerate(names):
            if (first := names.index(name)) < place:
                raise ParseError(
                    f"{where}: [[{table}]] {place + 1} is named {name!r} like [[{table}]] {first + 1}; "
                    f"{LISTS[table][2]}"
                )
    for place, row in enumerate(models, 1):
        _check_address(f"{where}: [[models]] {place}", row)
    asked, taken = (
        [_settings(f"{where}: [[{name}]] {place}", row, name) for place, row in enumerate(rows, 1)]
        for name, rows in (("models", models), ("datasets", datasets))
    )
    for dataset, which in zip(dataset_names, taken, strict=True):
        for model, how in zip(model_names, asked, strict=True):
            path = output / file_name(dataset, model)
            yield Cell(dataset, model, Settings(**shared, **which, **how), path)


def _check_address(here: str, row: Mapping[str, Any]) -> None:
    """Refuse a base URL with a key in it."""
    if "***" in (Settings("", "", base_url=row.get("base_url")).address or ""):
        raise ParseError(
            f"{here}: base_url must hold no key, because the file is copied beside the runs; keys come from the "
            "environment or --env-file"
        )


def _check_paths(where: str, cells: Sequence[Cell]) -> None:
    """Refuse two cells that would write to one file, on a disk that does not tell cases apart either."""
    owners: dict[str, Cell] = {}
    for cell in cells:
        first = owners.setdefault(str(cell.path).casefold(), cell)
        if first is not cell:
            raise ParseError(
                f"{where}: {first.name} and {cell.name} would both be written to {cell.path}; give models names that "
                "differ in more than case and characters other than letters, digits and ._-"
            )


def _binning(where: str, analysis: Mapping[str, Any]) -> Binning:
    """Read how the table is made."""
    try:
        return Binning.checked(analysis.get("bins", 10), analysis.get("closed", "left"))
    except ValueError as error:
        raise ParseError(f"{where}: [analysis] {error}") from None
