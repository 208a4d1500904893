"""Where questions come from: the bundled set, published benchmarks, or any file.

``open_dataset`` turns a name or a path into a :class:`Dataset`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semece.canonical_json import digest
from semece.datasets.batch_requests import asked_text, content_text, request_id
from semece.datasets.benchmarks import BENCHMARKS, read_benchmark
from semece.datasets.download import cache_folder, cached_file, fetch
from semece.datasets.files import (
    LEAST_MEMORY,
    REFERENCE_NAMES,
    TEXT_NAMES,
    check_memory,
    final_reference,
    most_memory,
    question_from,
    question_in,
    read_questions,
    read_rows,
    renaming,
    separator_of,
    shown,
    storable,
    with_unique_ids,
)
from semece.datasets.parquet_sizes import check_parquet, parquet_schema
from semece.errors import ParseError, beside, meant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question

__all__ = [
    "BENCHMARKS",
    "BUNDLED",
    "LEAST_MEMORY",
    "REFERENCE_NAMES",
    "TEXT_NAMES",
    "Dataset",
    "asked_text",
    "cache_folder",
    "catalogue",
    "check_memory",
    "check_parquet",
    "content_text",
    "final_reference",
    "most_memory",
    "open_dataset",
    "parquet_schema",
    "question_from",
    "question_in",
    "read_rows",
    "renaming",
    "request_id",
    "separator_of",
    "shown",
    "storable",
    "with_unique_ids",
]

BUNDLED = {"starter": "easy factual questions of our own with aliases"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions under a name.

    Parameters
    ----------
    name : str
        What the user calls it.
    questions : tuple of Question
        With unique ids.
    """

    name: str
    questions: tuple[Question, ...]

    @property
    def hash(self) -> str:
        """SHA-256 of ids, texts and references: what a run may not change under its answers."""
        return digest([[q.id, q.text, list(q.references)] for q in self.questions]).hex()

    def select(
        self, *, limit: int | None = None, sample: int | None = None, ids: Sequence[str] | None = None, seed: int = 0
    ) -> list[tuple[int, Question]]:
        """Choose questions, with their positions, in the dataset's order.

        Parameters
        ----------
        limit : int, optional
            The first so many.
        sample : int, optional
            So many at random under `seed`; a larger sample contains a smaller one.
        ids : sequence of str, optional
            Exactly these.
        seed : int
            For `sample`.

        Raises
        ------
        ParseError
            An id is not in the dataset.
        """
        chosen = list(enumerate(self.questions))
        if ids is not None:
            known = {q.id for q in self.questions}
            if unknown := [i for i in ids if i not in known]:
                raise ParseError(
                    f"dataset {self.name} has no question with id {unknown[0]!r}{meant(unknown[0], known)}"
                )
            wanted = set(ids)
            chosen = [pair for pair in chosen if pair[1].id in wanted]
        if sample is not None and sample < len(chosen):
            chosen = [chosen[place] for place in _places(len(chosen), sample, seed)]
        return chosen if limit is None else chosen[:limit]


def _places(count: int, sample: int, seed: int) -> list[int]:
    """Draw places below `count`, in order: those of a smaller sample and then others, one by one."""
    rng = random.Random(seed)
    drawn: set[int] = set()
    while len(drawn) < sample:
        drawn.add(rng.randrange(count))
    return sorted(drawn)


def open_dataset(spelling: str) -> Dataset:
    """Open a dataset by name, by path, or as ``name=path``.

    Parameters
    ----------
    spelling : str
        ``starter``; a benchmark's name, which fetches it if it is not in the cache; the path of a JSONL, CSV, TSV or
        Parquet file of questions; or ``name=path``, where a benchmark's name says that the file may be in the
        benchmark's own format.

    Raises
    ------
    ParseError
        There is no such dataset, or the file is not one.
    SemeceError
        A benchmark cannot be fetched.

    Examples
    --------
    >>> len(open_dataset("starter").questions)
    24
    """
    if spelling in BUNDLED:
        with resources.as_file(resources.files(__package__) / f"{spelling}.jsonl") as path:
            return Dataset(spelling, read_questions(path))
    if spelling in BENCHMARKS:
        return Dataset(spelling, read_benchmark(spelling, fetch(spelling)))
    name, _, path_text = spelling.rpartition("=")
    path = Path(path_text).expanduser()
    if not path.is_file() and not path.is_symlink() and not path.exists():
        names = [*BUNDLED, *BENCHMARKS]
        near = meant(spelling, names) or beside(path)
        known = f"give one of {', '.join(names)}, or the path of a file of questions"
        raise ParseError(f"there is no dataset {spelling!r}{near}: {known}")
    return Dataset(name or path.stem, read_benchmark(name, path) if name in BENCHMARKS else read_questions(path))


def catalogue() -> list[dict[str, Any]]:
    """List the datasets that have a name.

    Returns
    -------
    list of dict
        ``name``, ``questions`` (how many), ``licence``, ``about``, ``url`` (None: bundled), ``file`` (its place in the
        cache, None if it is not there), ``sha256`` (None: noted when it is first fetched).

    Examples
    --------
    >>> [row["name"] for row in catalogue()][:3]
    ['starter', 'simpleqa', 'simpleqa-verified']
    """
    empty = {"url": None, "file": None, "sha256": None}
    rows: list[dict[str, Any]] = []
    for name, about in BUNDLED.items():
        count = len(open_dataset(name).questions)
        rows.append({"name": name, "questions": count, "licence": "MIT", "about": about, **empty})
    for name, one in BENCHMARKS.items():
        path = cached_file(name)
        row = {"name": name, "questions": one.count, "licence": one.licence, "about": one.about, "url": one.url}
        rows.append({**row, "file": str(path) if path.is_file() else None, "sha256": one.sha256})
    return rows
