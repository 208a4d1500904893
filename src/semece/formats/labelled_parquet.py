"""Labelled answers without texts, in columns: Parquet files, read a piece at a time.

A row is a question. ``labels`` holds the class of each answer, a list of whole numbers; null is a response without a
usable answer. ``counts`` may stand in its place: how many answers each class has. ``grades`` (or ``correct``) holds
what each class is, by label: true or false, 1 or 0, or ``correct``, ``incorrect``, ``not_attempted``; null is ungraded.
``confidences`` may hold the stated ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from semece.datasets import LEAST_MEMORY, check_parquet, parquet_schema
from semece.errors import ParseError, ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

AT_ONCE = 3_000_000
"""Answers that are read at once: about 100 MB."""
MEMORY_PER_BYTE = 150
"""A class of real answers takes about a sixth of a byte in a file, and up to 20 bytes in memory."""
FIRST_LOOK = 1_000
"""Rows that say how many answers a question has."""
VERDICTS = {"incorrect": 0, "correct": 1, "not_attempted": 3}
"""The numbers of verdicts; 2 is ungraded."""
UNGRADED = 2
LABELS, GRADES, STATED = ("labels", "counts"), ("grades", "correct"), "confidences"
"""Columns that are read."""


class LabelledAnswers(NamedTuple):
    """Labels and grades of some questions, end to end: those of question q are ``[offsets[q]:offsets[q + 1]]``.

    Parameters
    ----------
    first : int
        Number of the first question in the file, from 0.
    labels, offsets : ndarray of int64
        Classes; -1 is a response without a usable answer.
    grades, grade_offsets : ndarray of int64
        0 wrong, 1 right, 2 without a grade, 3 no answer, by label.
    stated : tuple of ndarray, or None
        How many confidences each question states, and their sum.
    """

    first: int
    labels: Integers
    offsets: Integers
    grades: Integers
    grade_offsets: Integers
    stated: tuple[Integers, Floats] | None


def is_labelled(path: Path) -> bool:
    """Whether a file is Parquet with labels and grades, and without texts."""
    columns = {*parquet_schema(path)} if path.suffix == ".parquet" and path.is_file() else set()
    return bool(columns & {*LABELS}) and bool(columns & {*GRADES}) and not columns & {"answers", "responses"}


def labelled_answers(path: Path, *, at_once: int = AT_ONCE) -> Iterator[LabelledAnswers]:
    """Read a file piece by piece.

    Parameters
    ----------
    path : Path
        A Parquet file.
    at_once : int
        About so many answers in a piece.

    Yields
    ------
    LabelledAnswers

    Raises
    ------
    ParseError
        It is no Parquet file, lacks a column, may take more memory than 150 times its size (300 MB for small files), or
        a row breaks a rule; the row is named.
    """
    import polars as pl

    try:
        check_labels(path)
        schema = pl.read_parquet_schema(path)
        chosen = [_chosen(path, schema, LABELS), _chosen(path, schema, GRADES)]
        chosen += [STATED] if STATED in schema else []
        rows = pl.scan_parquet(path).select(chosen)
        step = _step(rows.head(FIRST_LOOK).select(chosen[0]).collect()[chosen[0]], f"{path}, row", at_once)
        n = rows.select(pl.len()).collect().item()
        for first in range(0, n, step):
            yield _piece(rows.slice(first, step).collect(), f"{path}, row", first)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ParseError(f"{path} is not a readable Parquet file: {str(error).splitlines()[0]}") from None


def check_labels(path: Path, *, whole: bool = False) -> None:
    """Measure a file of classes before it is read.

    Raises
    ------
    ParseError
        A row group, or the whole file if all is read at once, may take more memory than 150 times the file, and more
        than 300 MB.
    OSError
        It cannot be opened.
    """
    check_parquet(path, max(MEMORY_PER_BYTE * ordinary(path).stat().st_size, LEAST_MEMORY), whole=whole)


def _chosen(path: Path, schema: Any, names: Sequence[str]) -> str:  # noqa: ANN401 - polars' schema
    """Choose a column, which must hold lists."""
    import polars as pl

    name = next((name for name in names if name in schema), None)
    if name is None:
        raise ParseError(f"{path} must have a column {' or '.join(names)}; got {', '.join(sorted(schema)[:12])}")
    if not isinstance(schema[name], pl.List | pl.Array):
        raise ParseError(f"{path}: the column {name} must hold lists; got {schema[name]}")
    return name


def _step(first: pl.Series, where: str, at_once: int) -> int:
    """Rows that hold about so many answers, as the first ones do."""
    numbers, _ = _numbers(first, where, 0)
    answers = int(numbers.sum()) if first.name == "counts" else len(numbers)
    return max(1, at_once * len(first) // max(answers, 1))


def _piece(table: pl.DataFrame, where: str, first: int) -> LabelledAnswers:
    """Lay rows out end to end."""
    import numpy as np

    answers, graded, *confidences = table.get_columns()
    labels, offsets = _numbers(answers, where, first)
    if answers.name == "counts":
        labels, offsets = _from_counts(labels, offsets)
    stated = None
    for column in confidences:
        lists = column.list.drop_nulls().list
        n = lists.len().fill_null(0).to_numpy().astype(np.int64)
        stated = n, lists.sum().fill_null(0.0).to_numpy().astype(np.float64)
    return LabelledAnswers(first, labels, offsets, *_grades(graded, where, first), stated)


def _flat(column: pl.Series) -> tuple[pl.Series, Integers]:
    """Entries of a list column end to end, and where each row's begin."""
    import numpy as np
    import polars as pl

    lists = column.arr.to_list() if isinstance(column.dtype, pl.Array) else column
    sizes = lists.list.len().fill_null(0)
    some = lists.filter(sizes > 0) if (sizes == 0).any() else lists  # an empty list would become a null
    return some.explode(), np.concatenate([[0], np.cumsum(sizes.to_numpy(), dtype=np.int64)])


def _refuse(bad: pl.Series, offsets: Integers, where: str, said: str, entries: pl.Series) -> None:
    """Name the row of the first bad entry."""
    import numpy as np

    if bad.any():
        at = int(bad.fill_null(value=False).arg_max() or 0)
        row = int(np.searchsorted(offsets, at, side="right")) - 1
        place, _, first = where.rpartition(" ")
        raise ParseError(f"{place} {int(first) + row}: {said}; got {entries[at]!r}")


def _numbers(column: pl.Series, where: str, first: int) -> tuple[Integers, Integers]:
    """Whole numbers of a list column, null as -1, and where each row's begin."""
    import polars as pl

    entries, offsets = _flat(column)
    if not (entries.dtype.is_integer() or entries.dtype == pl.Null):
        raise ParseError(f"{where} {first}: {column.name} must be whole numbers; got {entries.dtype}")
    entries = entries.cast(pl.Int64)
    least = "a number of at least 0" + (" or null" if column.name == "labels" else "")
    bad = entries < 0 if column.name == "labels" else (entries < 0) | entries.is_null()
    _refuse(bad, offsets, f"{where} {first}", f"{column.name} must each be {least}", entries)
    return entries.fill_null(-1).to_numpy(), offsets


def _from_counts(counts: Integers, offsets: Integers) -> tuple[Integers, Integers]:
    """Labels of as many answers as the classes have."""
    import numpy as np

    label = np.arange(len(counts)) - np.repeat(offsets[:-1], np.diff(offsets))
    return np.repeat(label, counts), np.concatenate([[0], np.cumsum(counts)])[offsets]


def _grades(column: pl.Series, where: str, first: int) -> tuple[Integers, Integers]:
    """Numbers of the grades of a list column, and where each row's begin."""
    import polars as pl

    entries, offsets = _flat(column)
    if entries.dtype == pl.String:
        known: dict[Any, int] = {**VERDICTS, None: UNGRADED}
        coded = entries.replace_strict(known, default=-1, return_dtype=pl.Int64)
    else:
        numbers = entries.cast(pl.Float64)
        coded = numbers.replace_strict({0.0: 0, 1.0: 1, None: UNGRADED}, default=-1, return_dtype=pl.Int64)
    said = f"{column.name} must each be true, false, 1, 0, {', '.join(VERDICTS)} or null"
    _refuse(coded < 0, offsets, f"{where} {first}", said, entries)
    return coded.to_numpy(), offsets
