"""The study file: TOML that names models, datasets, a judge, prices and how to analyse."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from semece.errors import ParseError
from semece.sampling.budget import read_prices
from semece.sampling.live_calls import Patience
from semece.sampling.settings import Settings, dataset_name, file_name, safe_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.stats.calibration.bins import Closed

TEXT, WHOLE, NUMBER, SWITCH = "text", "a whole number", "a number", "true or false"
KINDS: dict[str, tuple[type, ...]] = {TEXT: (str,), WHOLE: (int,), NUMBER: (int, float), SWITCH: (bool,)}

OPTIONS: dict[str, dict[str, str]] = {
    "study": {"name": TEXT, "n": WHOLE, "seed": WHOLE, "output": TEXT},
    "models": dict.fromkeys(("model", "name", "reasoning_effort", "elicit", "prompt", "base_url"), TEXT)
    | dict.fromkeys(("temperature", "top_p", "timeout"), NUMBER)
    | dict.fromkeys(("max_tokens", "concurrency", "attempts"), WHOLE)
    | {"batch": SWITCH},
    "datasets": {"dataset": TEXT, "limit": WHOLE, "sample": WHOLE, "ids": TEXT},
    "judge": dict.fromkeys(("judge", "partition", "grade", "prompt", "grade_classes", "not_attempted"), TEXT)
    | dict.fromkeys(("max_tokens", "min_responses"), WHOLE),
    "analysis": {"bins": WHOLE, "closed": TEXT},
}
"""What each table takes."""

LISTS = {"models": ("model", "local/smollm2"), "datasets": ("dataset", "starter")}
"""Tables that may be repeated, the option that each must have, and an example of it."""

AS_SETTING = {
    "partition": "partition_judge",
    "grade": "grade_judge",
    "prompt": "judge_prompt",
    "max_tokens": "judge_max_tokens",
}
"""Options of the judge that a run calls otherwise."""


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
    n_bins, closed : int, str
        Bins of its table, as in :func:`semece.ece`.
    """

    source: Path
    text: bytes
    name: str
    output: Path
    cells: tuple[Cell, ...]
    n_bins: int = 10
    closed: Closed = "left"

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        return hashlib.sha256(self.text).hexdigest()

    @property
    def copy(self) -> Path:
        """Where a copy of the file is kept, beside the runs."""
        return self.output / f"{safe_name(self.name)}--{self.sha256[:12]}.toml"

    def told(self, **options: Any) -> Self:  # noqa: ANN401 - the fields of Settings
        """Give the same study with other settings in every cell."""
        cells = tuple(replace(cell, settings=replace(cell.settings, **options)) for cell in self.cells)
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
    text, tables = _read_toml(source)
    if unknown := sorted(set(tables) - {*OPTIONS, "prices"}):
        names = ", ".join(f"[[{name}]]" if name in LISTS else f"[{name}]" for name in (*OPTIONS, "prices"))
        raise ParseError(f"{where}: expected the tables {names}; got {unknown[0]}")
    head, judge, analysis = (_table(where, tables, name) for name in ("study", "judge", "analysis"))
    models, datasets = (_rows(where, tables, name) for name in LISTS)
    if "name" not in head:
        raise ParseError(f'{where}: [study] must have a name, for example name = "{source.stem}"')
    shared: dict[str, Any] = {name: value for name, value in head.items() if name in {"n", "seed"}}
    shared |= {AS_SETTING.get(name, name): value for name, value in judge.items()}
    shared["prices"] = read_prices(_mapping(where, tables, "prices"), where)
    output = Path(head.get("output", Path("runs") / safe_name(head["name"]))).expanduser()
    cells = tuple(_cells(where, output, shared, models, datasets))
    _check_paths(where, cells)
    return Study(source, text, head["name"], output, cells, *_bins(where, analysis))


def _read_toml(path: Path) -> tuple[bytes, dict[str, Any]]:
    try:
        text = path.read_bytes()
        return text, tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ParseError(f"{path} is not TOML: {error}") from None


def _mapping(where: str, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Give a table, empty if it is not there."""
    found = tables.get(name, {})
    if not isinstance(found, dict):
        raise ParseError(f"{where}: {name} must be one table [{name}]; got {_short(found)}")
    return found


def _table(where: str, tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    return _checked(f"{where}: [{name}]", _mapping(where, tables, name), OPTIONS[name])


def _rows(where: str, tables: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Give the tables of a list, with the option that each must have."""
    option, example = LISTS[name]
    found = tables.get(name, [])
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise ParseError(f"{where}: {name} must be tables [[{name}]]; got {_short(found)}")
    if not found:
        raise ParseError(f'{where}: name at least one {option}: [[{name}]] with {option} = "{example}"')
    rows = []
    for place, row in enumerate(found, 1):
        here = f"{where}: [[{name}]] {place}"
        rows.append(_checked(here, row, OPTIONS[name]))
        if option not in rows[-1]:
            raise ParseError(f'{here} must name a {option}, for example {option} = "{example}"')
    return rows


def _checked(here: str, table: Mapping[str, Any], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Refuse options that are not there, and values of another kind."""
    options = {name.replace("-", "_"): value for name, value in table.items()}
    for name, value in options.items():
        if name not in kinds:
            raise ParseError(f"{here} has no option {name!r}; its options are {', '.join(kinds)}")
        if type(value) not in KINDS[kinds[name]] or value == "":
            wanted = "text, not empty" if kinds[name] == TEXT else kinds[name]
            raise ParseError(f"{here}: {name} must be {wanted}; got {_short(value)}")
    return options


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _cells(
    where: str,
    output: Path,
    shared: Mapping[str, Any],
    models: Sequence[dict[str, Any]],
    datasets: Sequence[dict[str, Any]],
) -> Iterator[Cell]:
    """Cross models and datasets."""
    hints = {
        "models": 'give it another: name = "..."',
        "datasets": 'give a file another name: dataset = "NAME=FILE"',
    }
    model_names = [row.pop("name", row["model"]) for row in models]
    dataset_names = [dataset_name(row["dataset"]) for row in datasets]
    for table, names in (("models", model_names), ("datasets", dataset_names)):
        for place, name in enumerate(names):
            if (first := names.index(name)) < place:
                raise ParseError(
                    f"{where}: [[{table}]] {place + 1} is named {name!r} like [[{table}]] {first + 1}; {hints[table]}"
                )
    asked = [_asked(f"{where}: [[models]] {place}", row) for place, row in enumerate(models, 1)]
    taken = [_taken(f"{where}: [[datasets]] {place}", row) for place, row in enumerate(datasets, 1)]
    for dataset, which in zip(dataset_names, taken, strict=True):
        for model, how in zip(model_names, asked, strict=True):
            path = output / file_name(dataset, model)
            yield Cell(dataset, model, Settings(**shared, **which, **how), path)


def _asked(here: str, row: dict[str, Any]) -> dict[str, Any]:
    """Turn the options of a model into settings."""
    settings = dict(row)
    if "base_url" in settings:
        parts = urlsplit(settings["base_url"])
        if parts.username or parts.password or parts.query:
            raise ParseError(
                f"{here}: base_url must hold no key, because the file is copied beside the runs; keys come from the "
                "environment or --env-file"
            )
    if "prompt" in settings:
        settings["prompt"] = _text_of(here, "prompt", settings["prompt"])
    if "attempts" in settings:
        settings["patience"] = Patience(attempts=settings.pop("attempts"))
    return settings


def _taken(here: str, row: dict[str, Any]) -> dict[str, Any]:
    """Turn the options of a dataset into settings."""
    if "ids" not in row:
        return row
    lines = _text_of(here, "ids", row["ids"]).splitlines()
    return {**row, "ids": tuple(line.strip() for line in lines if line.strip())}


def _text_of(here: str, option: str, path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8")
    except OSError as error:
        raise ParseError(f"{here}: {option} {path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ParseError(f"{here}: {option} {path} is not UTF-8 text") from None


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


def _bins(where: str, analysis: Mapping[str, Any]) -> tuple[int, Closed]:
    """Read how the table is made."""
    from semece.stats.calibration.bins import CLOSED

    n_bins, closed = analysis.get("bins", 10), analysis.get("closed", "left")
    if n_bins < 1:
        raise ParseError(f"{where}: [analysis] bins must be at least 1; got {n_bins}")
    if closed not in CLOSED:
        raise ParseError(f"{where}: [analysis] closed must be {', '.join(CLOSED)}; got {closed!r}")
    return n_bins, closed
