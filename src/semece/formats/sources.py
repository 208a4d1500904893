"""A file of samples, opened: what it begins with, and its rows, with file and place in every error."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from semece.datasets import check_memory, most_memory, parquet_schema, read_rows, separator_of
from semece.errors import ParseError, ordinary, visible
from semece.formats.json_stream import Json, JsonStream, read_json, unreadable
from semece.records import ScoreKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from semece.records import Question

P = ParamSpec("P")
T = TypeVar("T")

TABLES = frozenset({".csv", ".tsv", ".parquet"})
_HEAD = 1 << 20
_MAGIC: dict[bytes, Literal["zip", "parquet", "gzip"]] = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    b"PAR1": "parquet",
    b"\x1f\x8b": "gzip",
}


@dataclass(slots=True)
class Findings:
    """What a reader left out, and what deserves to be said.

    Parameters
    ----------
    skipped : list of str
        What was wrong with each bad row that was left out.
    failed : Counter
        Attempts that delivered nothing, by what the file says happened.
    notes : list of str
        One sentence each.
    models, datasets : dict of str to str
        Whose responses to what these are, as far as the files tell, and where that stands.
    kinds : dict of str to str
        What the files' scores mean, by name, as :class:`semece.records.ScoreKind` is written; others are ``0..1``.
    skip_bad : bool
        Leave out bad rows instead of refusing the file.
    scores : tuple of str
        Which numbers of scorers are scores, where a tool's file does not tell them from grades.
    """

    skip_bad: bool = False
    scores: tuple[str, ...] = ()
    skipped: list[str] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    models: dict[str, str] = field(default_factory=dict)
    datasets: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def note(self, sentence: str) -> None:
        """Add a sentence once."""
        if visible(sentence) not in self.notes:
            self.notes.append(visible(sentence))

    def add_model(self, name: str, where: str) -> str:
        """Write down a model; give its name as it is printed and asked for."""
        self.models.setdefault(visible(name), where)
        return visible(name)

    def add_dataset(self, name: str, where: str) -> None:
        """Write down a dataset."""
        self.datasets.setdefault(visible(name), where)

    def add_kind(self, name: str, kind: object, where: str) -> None:
        """Write down what a file says of the kind of a score.

        Raises
        ------
        ParseError
            It is no kind, or another one than was said before.
        """
        try:
            text = ScoreKind.of(str(kind)).text
        except ValueError as error:
            raise ParseError(f"{where}: score_kinds, {name}: {error}") from None
        if self.kinds.setdefault(name, text) != text:
            raise ParseError(f"{where}: the kind of {name} must be {self.kinds[name]} as before; got {text}")

    def scores_of(self, found: Mapping[Any, Json]) -> dict[str, float]:
        """Take the scores that were asked for among what scorers said; what is no finite number is none.

        Examples
        --------
        >>> Findings(scores=("p_true", "f1")).scores_of({"p_true": 0.8, "f1": None, "accuracy": 1})
        {'p_true': 0.8}
        """
        numbers = {name: found.get(name) for name in self.scores}
        return {
            name: float(value)
            for name, value in numbers.items()
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }

    def tried(self, read: Callable[P, T | None], *args: P.args, **options: P.kwargs) -> list[T]:
        """Read a row into a list; it is empty if the row holds nothing, or is bad and bad rows are left out.

        Raises
        ------
        ParseError
            The row is bad, and bad rows are not left out.
        """
        try:
            found = read(*args, **options)
        except ParseError as error:
            self.leave_out(error)
            return []
        return [] if found is None else [found]

    def leave_out(self, error: ParseError) -> None:
        """Note a bad row that is left out.

        Raises
        ------
        ParseError
            The error itself: bad rows are not left out.
        """
        if not self.skip_bad:
            raise error
        self.skipped.append(visible(str(error)))


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for beside the files.

    Parameters
    ----------
    questions : mapping of str to Question
        Texts and references from elsewhere, by id.
    model : str or None
        Only responses of this one.
    scores : tuple of str
        Which numbers of scorers are scores, where a tool's file does not tell them from grades.
    """

    questions: Mapping[str, Question] = field(default_factory=dict)
    model: str | None = None
    scores: tuple[str, ...] = ()

    def leaves_out(self, model: str) -> bool:
        """Whether the responses of a model are not asked for."""
        return self.model not in {None, model}


@dataclass(frozen=True, slots=True)
class Opening:
    """What a file begins with.

    Parameters
    ----------
    kind : {'zip', 'parquet', 'gzip', 'json', 'text', 'empty'}
        By its first bytes.
    names : frozenset of str
        Names of the first JSON object and, after a dot, of the objects in it, as far as they stand in the first
        megabyte; the columns of a table.
    suffix : str
        Of the file's name, in small letters.
    is_array : bool
        The rows are the objects of a JSON array.
    """

    kind: Literal["zip", "parquet", "gzip", "json", "text", "empty"]
    names: frozenset[str]
    suffix: str
    is_array: bool = False

    @property
    def is_table(self) -> bool:
        """Whether it is a table: CSV, TSV or Parquet."""
        return self.kind == "parquet" or (self.kind == "text" and self.suffix in TABLES)

    def has(self, *names: str) -> bool:
        """Whether all of these names are there."""
        return self.names.issuperset(names)

    def described(self) -> str:
        """Say what came, for people."""
        if self.names:
            names = sorted(name for name in self.names if "." not in name)
            return f"{'a table' if self.is_table else 'an object'} with {', '.join(names[:12])}"
        told = {"gzip": "a file packed with gzip", "text": "text that is no JSON", "json": "JSON without a row"}
        return told.get(self.kind, self.kind)


class SampleFile:
    """A file of samples.

    Parameters
    ----------
    path : Path
        The file.
    findings : Findings
        Where it is written down what is left out.
    """

    def __init__(self, path: Path, findings: Findings) -> None:
        self.path, self.findings, self.name = path, findings, str(path)

    @cached_property
    def opening(self) -> Opening:
        """What the file begins with.

        Raises
        ------
        ParseError
            It cannot be read.
        """
        with self.reading(), ordinary(self.path).open("rb") as stream:
            head = stream.read(_HEAD)
        suffix = self.path.suffix.lower()
        for magic, kind in _MAGIC.items():
            if head.startswith(magic):
                return Opening(
                    kind, frozenset(parquet_schema(self.path)) if kind == "parquet" else _first_member(head), suffix
                )
        text = head.decode("utf-8-sig", "replace").lstrip()
        is_array = text.startswith("[")
        names = _names(text[1:] if is_array else text)
        if not names and self.findings.skip_bad:
            names = next(filter(None, map(_names, text.splitlines()[1:])), frozenset())
        if names or text[:1] in {"{", "["}:
            return Opening("json", names, suffix, is_array)
        if suffix in TABLES:
            names = _header(text, suffix)
        return Opening("text" if text else "empty", names, suffix)

    @cached_property
    def most(self) -> int:
        """Bytes of memory that a value in it may take."""
        return most_memory(self.path)

    def check(self, text: str | bytes) -> None:
        """Measure a value before it is read; a ValueError says that it may take more memory than it may have."""
        check_memory(text, self.most)

    def where(self, place: str) -> str:
        """File and place."""
        return f"{self.name}, {place}"

    def check_first(self) -> None:
        """Make sure that the file begins with a row that is a JSON object.

        Raises
        ------
        ParseError
            It does not.
        """
        next(self.rows(), None)

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the objects of a JSON Lines file or of a JSON array, with their places; blank lines are none.

        Raises
        ------
        ParseError
            One is no JSON object, unless bad rows are left out.
        """
        for place, value in self._items() if self.opening.is_array else self._lines():
            try:
                row = self._row(value, place)
            except ParseError as error:
                self.findings.leave_out(error)
            else:
                if row is not None:
                    yield place, row

    def _row(self, line: Json, place: str) -> dict[str, Any] | None:
        """Make a row of a line of bytes, or of a value that was decoded."""
        row = line
        if type(line) is bytes:
            if not line or line.isspace():
                return None
            row = self._decoded(line, place)
        if type(row) is not dict:
            raise ParseError(f"{self.where(place)}: expected a JSON object; got {type(row).__name__}")
        return row

    def _decoded(self, line: bytes, place: str) -> Json:
        try:
            check_memory(line, self.most)
            return read_json(line)
        except UnicodeDecodeError as error:
            expected = f"UTF-8 text; got other bytes from byte {error.start} on"
        except json.JSONDecodeError as error:
            expected = f"a JSON object; {error}"
        except (ValueError, RecursionError) as error:
            expected = f"a JSON object that can be read; {unreadable(error)}"
        raise ParseError(f"{self.where(place)}: expected {expected}")

    def _items(self) -> Iterator[tuple[str, Json]]:
        with self.stream() as stream:
            for number in stream.items():
                yield f"item {number + 1}", stream.value()
            stream.end()

    def _lines(self) -> Iterator[tuple[str, bytes]]:
        with self.reading(), self.path.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                yield f"line {number}", line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line

    def table_rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Give the rows of a table, or of whatever :meth:`rows` reads, with their places.

        Raises
        ------
        ParseError
            The table cannot be read, or a row is no JSON object.
        """
        if not self.opening.is_table:
            yield from self.rows()
            return
        for line, row in read_rows(self.path):
            yield f"line {line}", row

    def entries(self, *paths: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
        """Give the items of the arrays that stand at some paths of a JSON document, with their places.

        Raises
        ------
        ParseError
            The document is broken or cut, or there is no array at any of these paths.
        """
        found = False
        with self.stream() as stream:
            for place, value in _items_at(stream, paths):
                found = True
                if place:
                    yield place, value
            stream.end()
        if not found:
            raise fault(self.path, f"a list in {' or '.join('.'.join(path) for path in paths)}", "none")

    @contextlib.contextmanager
    def stream(self) -> Iterator[JsonStream]:
        """Open a JSON document to be read piece by piece."""
        with self.reading(), self.path.open(encoding="utf-8-sig") as text:
            yield JsonStream(text, str(self.path), self.check)

    def document(self) -> Json:
        """Read a JSON document whole.

        Raises
        ------
        ParseError
            It is no JSON.
        """
        with self.stream() as stream:
            value = stream.value()
            stream.end()
        return value

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Say which file cannot be read.

        Raises
        ------
        ParseError
            Instead of what the operating system raises.
        """
        try:
            yield
        except OSError as error:
            raise ParseError(f"{self.path} cannot be read: {error.strerror or error}") from None


def fault(where: object, expected: str, came: object = None) -> ParseError:
    """Make an error of what stands somewhere: what was expected there, and what came.

    Examples
    --------
    >>> str(fault("a.json, line 3", "a number in doc_id", repr("x")))
    "a.json, line 3: expected a number in doc_id; got 'x'"
    """
    return ParseError(f"{where}: expected {expected}" + ("" if came is None else f"; got {came}"))


def text_in(row: Json, where: str, *names: str | int) -> str:
    """Follow names into a JSON value and give the text that is there.

    Raises
    ------
    ParseError
        A name is missing or there is no text.

    Examples
    --------
    >>> text_in({"message": {"content": "Paris"}}, "here", "message", "content")
    'Paris'
    """
    value = value_in(row, where, *names)
    if not isinstance(value, str):
        raise ParseError(f"{where}: expected text in {_path(names)}; got {_came(value)}")
    return value


def value_in(row: Json, where: str, *names: str | int) -> Json:
    """Follow names into a JSON value.

    Raises
    ------
    ParseError
        A name is missing.
    """
    for depth, name in enumerate(names):
        fits = isinstance(row, list) if isinstance(name, int) else isinstance(row, dict)
        try:
            row = row[name] if fits else None
        except (KeyError, IndexError):
            fits = False
        if not fits:
            raise ParseError(f"{where}: expected {_path(names[: depth + 1])}; got {_came(row)}")
    return row


def list_in(row: Json, where: str, *names: str | int) -> list[Any]:
    """Follow names into a JSON value and give the list that is there.

    Raises
    ------
    ParseError
        A name is missing or there is no list.
    """
    value = value_in(row, where, *names)
    if not isinstance(value, list):
        raise ParseError(f"{where}: expected a list in {_path(names)}; got {_came(value)}")
    return value


def _items_at(stream: JsonStream, paths: Sequence[tuple[str, ...]], before: str = "") -> Iterator[tuple[str, Json]]:
    """Give the items of the arrays at some paths, each array announced by an empty place."""
    for name in stream.members():
        rest = [path[1:] for path in paths if path[0] == name]
        if () in rest and stream.peek() == "[":
            yield "", None
            for place in stream.items():
                yield f"{before}{name}[{place}]", stream.value()
        elif any(rest) and stream.peek() == "{":
            yield from _items_at(stream, [path for path in rest if path], f"{before}{name}.")


def _first_member(head: bytes) -> frozenset[str]:
    """Name the first member of a zip archive by its own header; none of other files."""
    if not head.startswith(b"PK\x03\x04"):
        return frozenset()
    return frozenset({head[30 : 30 + int.from_bytes(head[26:28], "little")].decode("utf-8", "replace")})


def _header(text: str, suffix: str) -> frozenset[str]:
    """Name the columns of a table of text."""
    with contextlib.suppress(csv.Error):
        head = text.split("\n", 1)[0]
        return frozenset(next(csv.reader([head], delimiter=separator_of(head, suffix)), ()))
    return frozenset()


def _names(text: str) -> frozenset[str]:
    """Name the members of the first object and of the objects in it, as far as the text goes."""
    found: list[str] = []
    stream = JsonStream(io.StringIO(text), "")
    with contextlib.suppress(ParseError):
        for name in stream.members():
            found.append(name)
            if stream.peek() == "{":
                found.extend(f"{name}.{inner}" for inner in _seen(stream))
    return frozenset(found)


def _seen(stream: JsonStream) -> Iterator[str]:
    """Name the members of the object that comes next; what was seen counts even if it is cut."""
    with contextlib.suppress(ParseError):
        yield from stream.members()


def _path(names: tuple[str | int, ...]) -> str:
    """Write names as a reader of JSON would.

    Examples
    --------
    >>> _path(("choices", 0, "message"))
    'choices[0].message'
    """
    return "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in names).removeprefix(".")


def _came(value: object) -> str:
    """Say in few words what is there."""
    if isinstance(value, dict):
        return f"an object with {', '.join(map(str, list(value)[:8])) or 'nothing in it'}"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return repr(value)[:60]
