"""Run files of the parts of a run, put together into one."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from semece.canonical_json import canonical, replacing
from semece.errors import DiskError, StoreError
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

UNDER_WAY = ("submitting", "submitted")
"""Statuses of batches whose results are still to come."""


def merge_shards(paths: Sequence[Path], output: Path) -> str | None:
    """Write one run file of several that hold different questions of one run.

    Parameters
    ----------
    paths : sequence of Path
        The run files, at least two. They are brought up to date if they are of an older format, and else left alone.
    output : Path
        The run file to be made.

    Returns
    -------
    str or None
        Which shards of the run are missing, in a sentence; None if none is known to be.

    Raises
    ------
    StoreError
        A file is busy or damaged, is of another run, shares a question with another or has a batch under way; or the
        output exists.
    """
    if output.is_dir():
        raise DiskError(f"cannot write {output}: it is a folder")
    if output.exists():
        raise StoreError(f"{output} exists; name another file with -o")
    if len({os.path.realpath(path) for path in paths}) < max(len(paths), 2):
        raise StoreError(f"at least two different run files are merged; got {', '.join(map(str, paths))}")
    for path in paths:
        Store(path).close()  # what is missing or foreign is refused before a file or a lock is made
    output.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        parts = [stack.enter_context(Store(path, write=True)) for path in paths]
        _check_parts(parts)
        with replacing(output) as draft, Store(draft, write=True, lock=False) as whole:
            for part in parts:
                whole.take_in(part)
            return _write_selection(whole, parts)


@contextmanager
def shards_together(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Give run files to read: those that are shards of one run as one file, which is there as long as it is read.

    Parameters
    ----------
    paths : sequence of Path
        Run files, tables and whatever else is opened.

    Yields
    ------
    list of Path
        In the order of the first shards; two files and more are put together if they are shards of one run.
    """
    runs: dict[str, list[Path]] = {}
    for path in paths:
        runs.setdefault((_run_of(path) if len(paths) > 1 else None) or f"{len(runs)} {path}", []).append(path)
    with TemporaryDirectory(prefix="semece-") as folder:
        found = []
        for place, parts in enumerate(runs.values()):
            whole = parts[0] if len(parts) == 1 else Path(folder) / str(place) / _without_shard(parts[0])
            if len(parts) > 1:
                merge_shards(parts, whole)
            found.append(whole)
        yield found


def _run_of(path: Path) -> str | None:
    """Give what tells the run of a shard from others; None if it is no shard of a run."""
    if path.suffix == ".parquet" or not path.is_file():
        return None
    with Store(path) as store:
        return canonical(_told(store)) if _shards(store) else None


def _without_shard(path: Path) -> str:
    """Name what shards are part of as :func:`semece.sampling.default_path` would."""
    return f"{path.stem.rpartition('--')[0] or path.stem}{path.suffix}"


def _shards(store: Store) -> tuple[set[int], int] | None:
    """Give the numbers of the shards that a run file holds, and of how many; None if it is no shard."""
    if (kept := store.meta("shards")) is not None:
        return set(kept[0]), kept[1]
    words = store.meta("options", [])
    if "--shard" not in words:
        return None
    part, parts = map(int, words[words.index("--shard") + 1].split("/"))
    return {part}, parts


def _check_parts(parts: Sequence[Store]) -> None:
    """Refuse files of different runs, with common questions, or with a batch under way."""
    first, seen = _told(parts[0]), dict[str, str]()
    sizes = {of for part in parts if (found := _shards(part)) for of in found[1:]}
    if len(sizes) > 1:
        raise StoreError(f"shards of one run are k of one K; got files of {' and of '.join(map(str, sorted(sizes)))}")
    for part in parts:
        told = _told(part)
        differing = [name for name in first.keys() | told.keys() if first.get(name) != told.get(name)]
        if differing:
            raise StoreError(f"{part.path} is of another run than {parts[0].path}: {min(differing)} differs")
        for question in part.questions():
            if question.id in seen:
                raise StoreError(f"question {question.id!r} is in {seen[question.id]} and in {part.path}")
            seen[question.id] = part.path
        if any(status in UNDER_WAY for _, status, *_ in part.batches()):
            raise StoreError(f"{part.path} has a batch under way: 'semece doctor {part.path}' says how to go on")


def _told(part: Store) -> dict[str, Any]:
    """Give what the parts of one run have in common."""
    identity, view = part.meta("identity"), part.meta("view")
    if identity is None or view is None or "sizes" in view:
        raise StoreError(f"{part.path} must be a file of 'semece run'; samples are scored together instead")
    return {**identity, **{name: value for name, value in view.items() if name != "ids"}}


def _write_selection(whole: Store, parts: Sequence[Store]) -> str | None:
    """Select the questions of all parts, in the dataset's order; the command that continues names no shard.

    Says which shards are missing, and notes it in the run file.
    """
    chosen = {name for part in parts for name in part.meta("view")["ids"]}
    ids = [question.id for question in whole.questions(chosen)]
    whole.set_meta("view", {**parts[0].meta("view"), "ids": ids})
    words = parts[0].meta("options", [])
    at = words.index("--shard") if "--shard" in words else len(words)
    whole.set_meta("options", [*words[:at], *words[at + 2 :]])
    known = [found for part in parts if (found := _shards(part)) is not None]
    if not known:
        return None
    there, of = set().union(*(some for some, _ in known)), known[0][1]
    whole.set_meta("shards", [sorted(there), of])
    missing = [str(number) for number in range(1, of + 1) if number not in there]
    if not missing:
        return None
    said = f"{len(missing)} of {of} shards missing when it was put together: {', '.join(missing)}"
    whole.add_event("shards", said)
    return said
