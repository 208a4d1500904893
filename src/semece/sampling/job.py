"""Doing what is missing of a run: respond, then let the judges partition and grade."""

from __future__ import annotations

from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semece.datasets import Dataset, open_dataset
from semece.errors import SemeceError, StoreError, shortened
from semece.judges import models_of, open_judges, row_of
from semece.sampling.connections import Connections
from semece.sampling.invocation import Work
from semece.sampling.options import check_options
from semece.store.run_store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from semece.models import Model
    from semece.sampling.budget import Budget
    from semece.sampling.settings import Settings
    from semece.sampling.stages import Progress


def check_identity(store: Store, identity: dict[str, Any], *, instead: str = "write to another file with -o") -> None:
    """Fix the identity of a new run file; refuse another one on an old file.

    Parameters
    ----------
    store, identity : Store, dict
        The run file, and what it may not change.
    instead : str
        What a person can do who wants the other value.

    Raises
    ------
    StoreError
        A field differs.
    """
    known = store.meta("identity")
    if known is None:
        store.set_meta("identity", identity)
        return
    for name, value in identity.items():
        if known.get(name) != value:
            raise StoreError(
                f"{store.path} was made with {name} {_short(known.get(name))}, not {_short(value)}; give the same "
                f"value, or {instead}"
            )


def _short(value: object) -> str:
    return shortened(str(value), 60, mark="...", kept=12)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What ``execute`` leaves.

    Parameters
    ----------
    path : str
        The run file.
    missing : int
        Replies of the view that are still missing, judges' included.
    last_failure : str or None
        The sentence of the last call that delivered nothing.
    """

    path: str
    missing: int
    last_failure: str | None = None


async def execute(
    settings: Settings,
    path: str | Path | Store,
    *,
    dataset: Dataset | None = None,
    model: Model | None = None,
    progress: Progress | None = None,
    budget: Budget | None = None,
) -> Outcome:
    """Do what is missing of a run: respond, partition, grade.

    Parameters
    ----------
    settings : Settings
        What to do.
    path : str, Path or Store
        The run file, made if absent; or a store open for writing, which stays open.
    dataset, model : Dataset, Model, optional
        Instead of those that `settings` spell.
    progress : callable, optional
        Called with (stage, steps done): ``('respond', 8)``; first with a negative number for the steps of a stage.
    budget : Budget, optional
        Caps that several runs share, with what was spent on them before; None: the caps of `settings`, for this run.

    Returns
    -------
    Outcome
        With what is still missing: run again for it.

    Raises
    ------
    SemeceError
        Something a person must change; what was delivered is stored.
    """
    check_options(settings)
    data = dataset or open_dataset(settings.dataset)
    judges = open_judges(*settings.judges(), prompt=settings.judge_prompt)
    chosen = settings.choose(data, path)
    if not chosen:
        raise SemeceError(f"no question of {data.name} is selected")
    if any(row_of(spelling).came_with_samples for spelling in settings.judges()):
        raise SemeceError("the judge 'given' reads labels that came with samples: 'semece score'; a run needs another")
    asked = [settings.model, *models_of(judges)]
    for spelling in asked:
        settings.price_list.of(spelling)
    questions = [question for _, question in chosen]
    view = _view(settings, [question.id for question in questions])
    async with aclosing(Connections(settings, questions)) as connections:
        if not isinstance(path, Store) and not Path(path).exists():  # noqa: ASYNC240 - before anything runs
            for spelling in asked if model is None else models_of(judges):
                connections.open(spelling)  # one that cannot be used leaves no file
        with _opened(path) as store:
            check_identity(store, settings.identity(data))
            work = Work(store, settings, questions, progress, connections=connections, budget=budget)
            await work.collect()
            await work.prepare(view, judges, model)
            store.add_questions(chosen)
            told = {"prompt": settings.prompt, "dataset": settings.dataset, "options": settings.words(), "view": view}
            for name, value in told.items():
                store.set_meta(name, value)
            await work.respond(model)
            await work.judge(*judges)
            return Outcome(store.path, work.missing, store.last_failure() if work.missing else None)


@contextmanager
def _opened(path: str | Path | Store) -> Iterator[Store]:
    """Open a run file for writing; a store that is open already stays so."""
    if isinstance(path, Store):
        yield path
        path.flush()
    else:
        with Store(path, write=True) as store:
            yield store


def _view(settings: Settings, ids: list[str]) -> dict[str, Any]:
    partition_judge, grade_judge = settings.judges()
    return {
        "ids": ids,
        "n": settings.n,
        "partition_judge": partition_judge,
        "grade_judge": grade_judge,
        "judge_prompt": settings.judge_prompt,
        "grade_classes": settings.grade_classes,
        "not_attempted": settings.not_attempted,
        "min_responses": settings.min_responses,
    }
