"""Run files of the parts of a run, put together into one."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from semece.canonical_json import replacing
from semece.errors import DiskError, StoreError
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

UNDER_WAY = ("submitting", "submitted")
"""Statuses of batches whose results are still to come."""


def merge_shards(paths: Sequence[Path], output: Path) -> None:
    """Write one run file of several that hold different questions of one run.

    Parameters
    ----------
    paths : sequence of Path
        The run files, at least two. They are brought up to date if they are of an older format, and else left alone.
    output : Path
        The run file to be made; what is derived is computed anew when it is read.

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
    if len({path.resolve() for path in paths}) < max(len(paths), 2):
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
            _write_selection(whole, parts)


def _check_parts(parts: Sequence[Store]) -> None:
    """Refuse files of different runs, with common questions, or with a batch under way."""
    first, seen = _told(parts[0]), dict[str, str]()
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


def _write_selection(whole: Store, parts: Sequence[Store]) -> None:
    """Select the questions of all parts, in the dataset's order; the command that continues names no shard."""
    chosen = {name for part in parts for name in part.meta("view")["ids"]}
    ids = [question.id for question in whole.questions(chosen)]
    whole.set_meta("view", {**parts[0].meta("view"), "ids": ids})
    words = parts[0].meta("options", [])
    at = words.index("--shard") if "--shard" in words else len(words)
    whole.set_meta("options", [*words[:at], *words[at + 2 :]])
