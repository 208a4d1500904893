"""A run without texts: a table of distinct questions and how often each occurs, in a Parquet file.

Reading commands take it as a run. What joins questions, or shows one, needs the run file.
"""

from __future__ import annotations

import json
import os
from functools import cached_property
from functools import partial as partial_function
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from semece.canonical_json import canonical, replacing
from semece.datasets import parquet_schema
from semece.errors import ParseError, SemeceError
from semece.formats import (
    Wanted,
    check_labels,
    is_labelled,
    is_pattern,
    labelled_answers,
    name_of,
    open_samples,
    sample_files,
)
from semece.judges import GivenJudge, judge_question, open_judges, read_given, run_procedure
from semece.runs.engines import check_engine, mapped
from semece.runs.run import Names, Run
from semece.runs.run_columns import RunColumns, grade_code
from semece.runs.scored_samples import SamplesReading, check_judge, responses_of, sentences_of
from semece.stats import Counts, WeightedTable, merge, partial, pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from semece.formats import FileQuestion
    from semece.runs.question_views import QuestionView
    from semece.stats import Pool, Recalibration

ABOUT = "semece"
"""The key of the file's metadata that says what it is."""
FORMAT = 1
MOST_COUNTED = 1 << 31
"""Answers of a class; more would not have fitted into a file of labels."""
MOST_LAID_OUT = 3_000_000
"""Most questions of a table of which tables and figures are made."""
_AT_ONCE = 2_000
"""Questions with texts that are judged and counted at once."""
_WAITING = 4
"""Tables of pieces are added to the whole when together they have a row for every so many of its own."""


def makes_table(paths: Sequence[Path], output: Path | None, engine: str = "local") -> bool:
    """Whether a table comes of files that are scored: that is asked for, or they have no texts.

    Raises
    ------
    SemeceError
        The engine is unknown, what it counts into is no table, or the files are not of one kind.
    """
    check_engine(engine)
    if all(map(is_labelled, sample_files(paths))):
        if output is not None and output.suffix != ".parquet":
            raise ParseError(f"labelled answers without texts are counted into a table: -o X.parquet; got {output}")
        return True
    tabled = output is not None and output.suffix == ".parquet"
    if not tabled and engine != "local":
        raise ParseError(f"--engine {engine} counts into a table: -o X.parquet; got {output}")
    return tabled


def scored_name(paths: Sequence[Path]) -> str:
    """Name what is made of files that are scored: as the first of them, or its folder, or that of a pattern's files."""
    if not is_pattern(paths[0]):
        return Path(os.path.realpath(paths[0])).stem  # a link to itself is told by who opens it
    first, *more = sample_files(paths[:1])
    return first.resolve().parent.name if more else first.stem


def tabulate(
    paths: Sequence[Path],
    output: Path,
    *,
    judge: str | None = None,
    reading: SamplesReading | None = None,
    engine: str = "local",
) -> list[str]:
    """Count answers into a table, piece by piece: no more than a piece is held in memory.

    Parameters
    ----------
    paths : sequence of Path
        Parquet files of labelled answers (:mod:`semece.formats.labelled_parquet`), or files of samples with texts;
        folders and patterns stand for the files of one kind in them. Ids of questions are not looked at: every row is
        a question.
    output : Path
        The table. The same questions in any order give the same numbers.
    judge : str or None
        ``rules``, ``exact``, ``math`` or ``given`` for texts; None: ``rules``. Labelled answers have ``given``.
    reading : SamplesReading, optional
        How files with texts are read.
    engine : {'local', 'daft', 'ray'}
        Who counts (:func:`semece.runs.engines.mapped`): the table is the same. A labelled file is a part, or 2,000
        questions with texts.

    Returns
    -------
    list of str
        What was left out, one sentence each.

    Raises
    ------
    ParseError
        A file cannot be read, or a row breaks a rule.
    """
    files, how = sample_files(paths), reading or SamplesReading()
    if all(map(is_labelled, files)):
        if judge not in {None, GivenJudge.name}:
            raise ParseError(f"labelled answers have no texts: their judge is {GivenJudge.name}; got {judge}")
        tables = _labelled(files) if engine == "local" else mapped(engine, _counted, files)
        write_table(_merged(tables), output, _about_of(files, GivenJudge.name, how))
        return []
    check_judge(judge)
    judge = judge or "rules"
    if how.questions is not None or how.scorer is not None or how.scores:
        raise ParseError("a table of counts takes no --questions, --scorer or --score: write a run file, X.db")
    opened = open_samples(files, form=how.form, skip_bad=how.skip_bad, wanted=Wanted(model=how.model))
    pieces = iter(lambda: list(islice(opened.samples, _AT_ONCE)), [])
    count = partial_function(_judged, judge=judge, pattern=how.answer_pattern)
    table = _merged(mapped(engine, count, pieces))
    write_table(table, output, {"model": next(iter(opened.findings.models), None)} | _about_of(files, judge, how))
    return list(sentences_of(opened.findings))


def _about_of(files: Sequence[Path], judge: str, how: SamplesReading) -> dict[str, Any]:
    told = how.name or how.model
    about = {"files": [file.name for file in files], "name": how.dataset or name_of(files), "judge": judge}
    return about | ({} if told is None else {"model": told})


def _labelled(files: Sequence[Path]) -> Iterator[WeightedTable]:
    """Count files of labelled answers, piece by piece."""
    for file in files:
        for piece in labelled_answers(file):
            try:
                yield partial(*piece[1:5], stated=piece.stated)
            except ValueError as error:
                raise ParseError(f"{file}, rows from {piece.first:,}: {error}") from None


def _counted(file: Path) -> WeightedTable:
    """Count one file of labelled answers."""
    return _merged(_labelled([file]))


def _judged(samples: Sequence[FileQuestion], judge: str, pattern: str | None) -> WeightedTable:
    """Group and grade the answers of some questions, and count them."""
    judges = open_judges(judge, judge)
    labels: list[list[int]] = []
    grades: list[list[int]] = []
    stated = np.zeros((2, len(samples)))
    for place, sample in enumerate(samples):
        responses = list(responses_of(sample, pattern))
        usable = [r for r in responses if r.usable]
        procedure = judge_question(sample.question, [r.answer for r in usable], judges)
        judged = run_procedure(procedure, lambda _, sample=sample: _given(sample))  # type: ignore[misc]
        if usable and judged.classes is None:
            raise ParseError(f"{sample.where}: {next(iter(judged.faults.values()))}")
        failed = [-1] * (len(responses) - len(usable))
        labels.append([*judged.classes.labels, *failed] if judged.classes else failed)
        names = judged.classes.representatives if judged.classes else ()
        verdicts = {grade.label: grade.verdict for grade in judged.grades}
        grades.append([grade_code(verdicts.get(label), name) for label, name in enumerate(names)])
        confidences = [r.confidence for r in usable if r.confidence is not None]
        stated[:, place] = len(confidences), sum(confidences)
    flat = (array for lists in (labels, grades) for array in _end_to_end(lists))
    return partial(*flat, stated=(stated[0].astype(np.int64), stated[1]))


def _given(sample: FileQuestion) -> Any:  # noqa: ANN401 - what the judge of given labels reads
    if sample.labels is None:
        raise ParseError("no labels came with the question; choose --judge rules")
    return read_given(sample.labels, sample.grades, n=len(sample.drawn))


def _end_to_end(lists: Sequence[Sequence[int]]) -> Iterator[NDArray[np.int64]]:
    """Values of lists end to end, and where each begins."""
    yield np.array([value for one in lists for value in one], dtype=np.int64)
    yield np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])


def _merged(tables: Iterable[WeightedTable]) -> WeightedTable:
    """Add up tables of pieces, those that wait as often as they are as many rows as the whole has a share of."""
    whole: list[WeightedTable] = []
    waiting: list[WeightedTable] = []
    for table in tables:
        waiting.append(table)
        if _rows(waiting) * _WAITING > _rows(whole):
            whole, waiting = [merge([*whole, *waiting])], []
    return merge([*whole, *waiting])


def _rows(tables: Sequence[WeightedTable]) -> int:
    return sum(len(table.weights) for table in tables)


def write_table(table: WeightedTable, output: Path, about: dict[str, Any]) -> None:
    """Write a table with what is known of it; at once, or not at all."""
    import polars as pl

    frame = pl.DataFrame(
        {
            "counts": _lists(table.counts, table.counts.values),
            "grades": _lists(table.counts, table.grades),
            "failed": table.failed,
            "stated": table.stated,
            "stated_sum": table.stated_sum,
            "group": table.group,
            "weight": table.weights,
        }
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    with replacing(output) as draft:
        frame.write_parquet(draft, metadata={ABOUT: canonical({**about, "format": FORMAT})})


def _lists(counts: Counts, values: Any) -> pl.Series:  # noqa: ANN401 - an array
    """Make a column of lists."""
    import polars as pl

    frame = pl.DataFrame({"q": counts.question, "value": values})
    lists = frame.group_by("q", maintain_order=True).agg("value")
    every = pl.DataFrame({"q": np.arange(len(counts))}).join(lists, on="q", how="left", maintain_order="left")
    return every["value"].fill_null(pl.Series([[]], dtype=pl.List(pl.Int64)))


def is_table(path: Path) -> bool:
    """Whether a file is a table of counts."""
    return path.suffix == ".parquet" and path.is_file() and _about(path) is not None


def _about(path: Path) -> dict[str, Any] | None:
    import polars as pl

    if not parquet_schema(path):  # damaged, or no Parquet file
        return None
    try:
        text = pl.read_parquet_metadata(path).get(ABOUT)
        return None if text is None else dict(json.loads(text))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError, RecursionError):
        return None


def read_table(path: Path) -> WeightedTable:
    """Read a table.

    Raises
    ------
    ParseError
        The file is no table of counts, of another format, or may take too much memory.
    """
    import polars as pl

    about = _about(path)
    if about is None or about.get("format") != FORMAT:
        raise ParseError(f"{path} must be a table that 'semece score -o X.parquet' of this version writes")
    check_labels(path, whole=True)
    try:
        frame = pl.read_parquet(path)
        is_ours = _is_ours(frame)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        is_ours = False
    if not is_ours:
        raise ParseError(f"{path} is not what 'semece score -o X.parquet' wrote: it is damaged or was changed")
    sizes = frame["counts"].list.len().to_numpy().astype(np.int64)
    full = frame.filter(pl.col("counts").list.len() > 0)
    counts, grades = (full[name].explode().to_numpy().astype(np.int64) for name in ("counts", "grades"))
    columns = (frame[name].to_numpy() for name in ("failed", "stated", "stated_sum", "group", "weight"))
    return WeightedTable(Counts(counts, np.concatenate([[0], np.cumsum(sizes)])), grades, *columns)


def _is_ours(frame: pl.DataFrame) -> bool:
    """Whether a table has the columns that :func:`write_table` writes, and in them what may be there."""
    import polars as pl

    lists, numbers = ("counts", "grades"), ("failed", "stated", "stated_sum", "group", "weight")
    kinds = frame.schema
    if any(not isinstance(kinds.get(name), pl.List) or not kinds[name].inner.is_integer() for name in lists):  # type: ignore[attr-defined]
        return False
    if any(name not in kinds or not kinds[name].is_numeric() for name in numbers):
        return False
    counts, grades = (frame[name].explode().drop_nulls() for name in lists)
    return (
        not any(frame[name].null_count() for name in (*lists, *numbers))
        and bool((frame["counts"].list.len() == frame["grades"].list.len()).all())
        and len(counts) == len(grades) == int(frame["counts"].list.len().sum())
        and bool(counts.is_between(0, MOST_COUNTED).all() and grades.is_between(0, 3).all())
        and bool((frame.select(numbers).min_horizontal() >= 0).all())
        and bool(frame["stated_sum"].is_finite().all())
    )


class TabledRun(Run):
    """A table of counts as a run without texts.

    Parameters
    ----------
    path : Path
        From :func:`tabulate`.

    Raises
    ------
    ParseError
        The file is no such table.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.recalibration, self._corrected = str(path), None, False
        table, about = read_table(path), _about(path) or {}
        self.model, self.dataset = str(about.get("model") or "samples"), str(about.get("name", path.stem))
        self.names = Names(self.dataset, self.model)
        self.name, self.answered_by = self.names.title, self.model
        self.n = int((table.counts.responses + table.failed).max(initial=0))
        self.judge_names = (str(about.get("judge", "given")),) * 2
        self._view = {"not_attempted": "incorrect"}
        self.__dict__ |= {"_columns": _columns_of(table), "_questions": None}

    @property
    def _by_question(self) -> bool:
        """Nothing is: there are no questions."""
        return False

    def close(self) -> None:
        """Nothing is open."""

    @property
    def events(self) -> tuple[str, ...]:
        """Nothing was noticed."""
        return ()

    @property
    def failed_calls(self) -> tuple[int, int]:
        """No call was made."""
        return 0, 0

    @property
    def spent(self) -> tuple[float | None, int, int]:
        """Nothing was spent."""
        return 0.0, 0, 0

    @property
    def tokens(self) -> dict[str, int]:
        """Nothing was spent."""
        return {}

    @cached_property
    def laid_out(self) -> RunColumns:
        """Its questions one by one, in an order that depends on the table alone: what tables and figures are made of.

        Raises
        ------
        SemeceError
            They are too many.
        """
        table = self._columns.table
        if table.n_questions > MOST_LAID_OUT:
            raise SemeceError(
                f"{self.path} counts {table.n_questions:,} questions, and tables and figures are of at most "
                f"{MOST_LAID_OUT:,}: score fewer of its files together"
            )
        every = table.take(np.repeat(np.arange(len(table.weights)), table.weights))
        return _columns_of(every._replace(weights=np.ones(len(every.weights), dtype=np.int64)))

    def pool(self) -> Pool:
        """Give counts, correctness and stated confidences of its questions, one by one.

        Raises
        ------
        SemeceError
            No question is complete.
        """
        table, numbers = self.laid_out.table, self.laid_out.numbers(exclude=False)
        stated: Any = table.verbalized  # an array of means
        try:
            return pool(counts=table.counts, correct=numbers["correct"].fill_null(np.nan).to_numpy(), verbalized=stated)
        except ValueError as error:
            raise SemeceError(f"{self.path}: {error}") from None

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what reads the run file, or asks a judge: a table has neither."""
        if name in {"_store", "judges"}:
            self._refuse()
        raise AttributeError(name)

    def question_views(self) -> tuple[QuestionView, ...]:
        """Refuse: a table has no questions."""
        self._refuse()

    def question(self, question_id: str) -> QuestionView:
        """Refuse: a table has no questions."""
        del question_id
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise SemeceError(
            f"{self.path} is a table of counts without questions; what lists or joins questions needs the run file"
        )


def _columns_of(table: WeightedTable) -> RunColumns:
    """Put a table in columns; every question is there with all its responses."""
    usable, nothing = table.counts.responses, np.zeros(len(table.weights), dtype=np.int64)
    failed, stated = int(table.failed @ table.weights), int(table.stated @ table.weights)
    statuses = {"parsed": table.n_answers, "empty": failed}
    return RunColumns(table, usable, nothing, nothing, nothing, statuses, (stated, 0), (0, ""), 0)


def open_run(
    path: Path, *, judge: str | None = None, recalibration: Recalibration | None = None, corrected: bool = True
) -> Run:
    """Open a run file, or a table of counts as a run.

    Parameters
    ----------
    path : Path
        The file.
    judge, recalibration, corrected
        As in :class:`semece.Run`; a table takes none of the first two, since it has no questions, and has no audit.

    Returns
    -------
    Run

    Raises
    ------
    SemeceError
        The file is neither, or a table is asked for another judge or a recalibration.
    """
    if not is_table(path):
        return Run(path, judge=judge, recalibration=recalibration, corrected=corrected)
    if judge not in {None, "given"} or recalibration is not None:
        raise SemeceError(f"{path} is a table of counts: another judge or a recalibration needs the run file")
    return TabledRun(path)
