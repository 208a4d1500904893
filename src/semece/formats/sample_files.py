"""Which files are meant: a file is itself, a folder stands for the samples in it, a pattern for what it matches."""

from __future__ import annotations

import glob
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from semece.errors import ParseError
from semece.formats.labelled_parquet import is_labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ENDINGS = (".csv", ".eval", ".json", ".jsonl", ".man", ".ndjson", ".parquet", ".tsv")
"""How the names of files of samples end; others in a folder are passed over."""

_FEW = 3
"""Files whose names make the name of all."""


def sample_files(paths: Sequence[Path]) -> list[Path]:
    """Give the files that are named, those of a folder or a pattern in the order of their names.

    Parameters
    ----------
    paths : sequence of Path
        Files; folders, without the folders in them; patterns with ``*``, ``**``, ``?`` or ``[...]``.

    Raises
    ------
    ParseError
        A folder or pattern stands for no file or for files of several kinds, or a file is named twice.
    """
    files = [file for path in paths for file in _meant(path)]
    seen: set[Path] = set()
    for file in files:
        own = Path(os.path.realpath(file))  # a link to itself is told by who opens it
        if own in seen:
            raise ParseError(f"{file} is named twice")
        seen.add(own)
    labelled = [is_labelled(file) for file in files]
    if any(labelled) and not all(labelled):
        one, other = files[labelled.index(True)], files[labelled.index(False)]
        raise ParseError(f"{one} has labels without texts, and {other} has not: score them apart")
    return files


def _meant(path: Path) -> list[Path]:
    if path.is_dir():
        return _of_one_kind(path, (file for file in path.iterdir() if file.suffix.lower() in ENDINGS))
    if is_pattern(path):
        found = glob.glob(str(path), recursive=True)  # noqa: PTH207 - of pathlib it takes no absolute pattern
        return _of_one_kind(path, map(Path, found))
    return [path]


def _of_one_kind(path: Path, found: Iterable[Path]) -> list[Path]:
    files = sorted(file for file in found if file.is_file() and not file.name.startswith((".", "_")))
    kinds = Counter(file.suffix.lower() for file in files)
    if not files:
        what = f"is a folder without samples ({', '.join(ENDINGS)})" if path.is_dir() else "matches no file"
        raise ParseError(f"{path} {what}")
    if len(kinds) > 1:
        counted = ", ".join(f"{count:,} {kind or 'without an ending'}" for kind, count in sorted(kinds.items()))
        example = path / f"*{min(kinds)}" if path.is_dir() else path.with_name(f"*{min(kinds)}")
        raise ParseError(f"{path} stands for files of several kinds ({counted}): name one kind, such as '{example}'")
    return files


def is_pattern(path: Path) -> bool:
    """Whether a path stands for the files that match it: it has such signs, and nothing is called so."""
    return glob.has_magic(str(path)) and not path.exists()


def name_of(files: Sequence[Path]) -> str:
    """Name what is in some files: by their names, or by that of their folder where they are many.

    Examples
    --------
    >>> name_of([Path("a.jsonl"), Path("b.jsonl")]), name_of([Path(f"runs/x/{k}.csv") for k in range(9)])
    ('a+b', 'x')
    """
    folders = {Path(os.path.realpath(file)).parent for file in files}
    if len(files) <= _FEW or len(folders) > 1:
        return "+".join(file.stem for file in files[:_FEW])
    return folders.pop().name
