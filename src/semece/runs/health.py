"""The health of a run file: is it whole, is somebody writing it, what is missing, how to continue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from semece.runs.renderers import plural
from semece.runs.run import Run
from semece.sampling import Ledger, typed_again, where_asked
from semece.store import FINAL, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def examine(path: str | Path, *, set_aside: bool = False) -> tuple[bool, list[str]]:
    """Look a run file over.

    Parameters
    ----------
    path : str or Path
        The run file.
    set_aside : bool
        Set replies that are damaged aside first, so that they are asked for again. Otherwise nothing is changed.

    Returns
    -------
    tuple of bool and list of str
        Whether all is complete, and what to say, a sentence a line.

    Raises
    ------
    StoreError
        It is not a run file, or it is damaged.
    """
    lines = list(_put_aside(path)) if set_aside else []
    with Store(path) as store:
        store.check_whole()
        lines += [f"{path} is whole", *_state(store)]
        if store.meta("source") == "judge-eval":
            return True, [*lines, "it holds no run, but a judge's replies to labelled answers, for semece judge-eval"]
        if store.meta("view") is None:
            return False, [*lines, "it holds no run yet"]
        under_way = len(Ledger(store).open())
        with Run(store) as run:
            lines += _contents(run)
            if under_way:
                lines.append(f"batches under way at the provider: {under_way}; to continue waits for them")
            complete = run.missing == 0
            if not complete:
                lines.append(f"to continue: {continuing(run, store)}")
    return complete, lines


def _put_aside(path: str | Path) -> Iterator[str]:
    with Store(path, write=True) as store:
        count = store.set_damaged_aside()
    if count:
        yield f"damaged rows set aside: {count:,}; what they held is asked for again"


def _state(store: Store) -> Iterator[str]:
    busy, path = store.is_busy(), Path(store.path)
    if busy:
        yield "it is being written now"
    elif busy is None:
        yield "whether it is being written now cannot be told here"
    if Path(f"{path}-wal").exists():
        yield (
            f"{path.name}-wal holds replies that are not folded into it yet: copy {path.name}, {path.name}-wal and "
            f"{path.name}-shm together, or wait until the run has ended"
        )


def _contents(run: Run) -> Iterator[str]:
    done, selected = run.complete
    yield f"{done:,} of {plural(selected, 'question')} complete, {plural(run.counts['missing'], 'response')} missing"
    if lacking := sum(view.lacking for view in run.question_views()):
        yield f"replies of the judge missing: {lacking:,}"
    if unusable := {name: count for name, count in run.counts.items() if name in FINAL}:
        yield f"delivered without a usable answer: {_listed(unusable)} (--retry-failed asks again)"
    if unjudged := run.undelivered:
        more = "; --judge-max-tokens gives a judge more room" if "truncated" in unjudged else ""
        yield f"delivered by the judge without a text: {_listed(unjudged)} (--retry-failed asks again{more})"
    failed, paid = run.failed_calls
    if failed:
        yield f"{plural(failed, 'call')} delivered nothing, {paid:,} of them may have been paid for"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def continuing(run: Run, store: Store) -> str:
    """Spell the command that continues a run, or the storing of samples."""
    if store.meta("source") == "samples":
        words = ["semece", "score", *store.meta("files", ["THE_SAME_FILES"])]
    else:
        before, where = where_asked(store)
        dataset = store.meta("dataset", run.dataset)
        words = [*before, "semece", "run", "--model", run.model, "--dataset", dataset, *where]
    return typed_again([*words, *store.meta("options", []), "-o", str(run.path)])
