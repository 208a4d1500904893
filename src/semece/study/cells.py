"""The runs of a study: what can be refused before anything is asked, what they would cost, and doing them.

Runs are done one after the other, so that a provider meets one run's pace at a time and one budget holds for all.
"""

from __future__ import annotations

import asyncio
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.errors import BudgetError, DiskError, ParseError, SemeceError, StoreError
from semece.runs import write
from semece.sampling import (
    OPEN,
    Datasets,
    Ledger,
    check_identity,
    check_options,
    make_run,
    open_names,
    plan,
    resolve,
    spent_at_most,
    view_of,
)
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from semece.sampling import Budget, Job, PricePlan, Progress, Settings
    from semece.study.study_file import Cell, Study

    Jobs = Mapping[Path, Job | str]


def prepare(study: Study) -> Jobs:
    """Make the jobs, and refuse what cannot be meant, before anything is asked.

    Parameters
    ----------
    study : Study
        With its caps.

    Returns
    -------
    dict of Path to Job or str
        By run file; the sentence that says why where a benchmark cannot be fetched now, or the file cannot be read:
        only that run fails.

    Raises
    ------
    SemeceError
        Naming the study file, the run, and what is wrong: an option, a model or judge that nobody knows, a budget
        without a price, a file that is missing or no dataset, a run file that was made in another way.
    """
    for cell in study.cells:
        with _about(study, cell):
            _check_settings(cell.settings)
    datasets = Datasets()
    jobs: dict[Path, Job | str] = {}
    for cell in study.cells:
        with _about(study, cell):
            jobs[cell.path] = _resolved(study, cell, datasets)
    return jobs


@contextmanager
def _about(study: Study, cell: Cell) -> Iterator[None]:
    """Put file and run before what is wrong with it."""
    try:
        yield
    except SemeceError as error:
        raise type(error)(f"{study.source}: {cell.name}: {error}") from None


def _check_settings(settings: Settings) -> None:
    """Refuse settings that cannot be meant, models and judges that nobody knows, and a budget without a price."""
    check_options(settings)
    settings.price_list.check(settings.model)
    try:
        settings.judges()
    except SemeceError:
        raise SemeceError(
            f'name a judge in the table [judge]: judge = "rules" (free) or judge = "{settings.model}"'
        ) from None
    for judge in open_names(settings, what="a study"):
        if judge.model is not None:
            settings.price_list.check(judge.model)


def _resolved(study: Study, cell: Cell, datasets: Datasets) -> Job | str:
    """Make the job of a run; a sentence if it cannot be done, which leaves the others to go on.

    Raises
    ------
    SemeceError
        No question is selected, or its file was made in another way.
    """
    try:
        data = datasets.open(cell.settings.dataset)
    except ParseError:
        raise
    except SemeceError as error:
        return str(error)
    try:
        job = resolve(cell.settings, cell.path, dataset=data)
        store = Store(cell.path) if job.begun else None
    except StoreError as error:
        return str(error)
    if store is not None:
        with store:
            if store.meta("identity") is not None:
                instead = f"give the model another name, or the study another output, in {study.source}"
                check_identity(store, job.identity, instead=instead)
    return replace(job, told=job.told | {"names": {"dataset": cell.dataset, "model": cell.model}})


@dataclass(frozen=True, slots=True)
class CellPlan:
    """What one run of a study would ask.

    Parameters
    ----------
    cell : Cell
        The run.
    plan : PricePlan or None
        None if it cannot be planned.
    trouble : str or None
        Why not.
    spent : float
        USD so far.
    """

    cell: Cell
    plan: PricePlan | None
    trouble: str | None
    spent: float

    @property
    def cost(self) -> float | None:
        """USD in the way the file asks, live or in batches; None if a price is not known."""
        return self._sum(batch=self.cell.settings.batch)

    @property
    def batch_cost(self) -> float | None:
        """USD in batches; None if a price is not known."""
        return self._sum(batch=True)

    def _sum(self, *, batch: bool) -> float | None:
        if self.plan is None:
            return None
        costs = [stage.batch_cost if batch else stage.cost for stage in self.plan.stages]
        return None if None in costs else sum(cost for cost in costs if cost is not None)


def plan_cells(study: Study, jobs: Jobs, *, expected_tokens: int | None = None) -> list[CellPlan]:
    """Plan what is missing of every run; nothing is asked and nothing written.

    Parameters
    ----------
    study, jobs : Study, dict
        The study, and what :func:`prepare` made.
    expected_tokens : int, optional
        Tokens per response, instead of the median of what is stored.

    Returns
    -------
    list of CellPlan
        One per run.

    Examples
    --------
    >>> from pathlib import Path
    >>> from semece.sampling.settings import Settings
    >>> from semece.study import Cell, Study
    >>> asked = Settings("fake/?pmf=1", "starter", n=4, limit=3)
    >>> made = Study(Path("s.toml"), b"", "s", Path("out"), (Cell("starter", "m", asked, Path("out/absent.db")),))
    >>> (each,) = plan_cells(made, prepare(made))
    >>> each.plan.missing, each.plan.wanted
    (12, 12)
    """
    return [_planned(cell, jobs[cell.path], expected_tokens) for cell in study.cells]


def _planned(cell: Cell, job: Job | str, expected_tokens: int | None) -> CellPlan:
    if isinstance(job, str):
        return CellPlan(cell, None, job, _spent(cell).cost)
    try:
        made = plan(job, expected_tokens=expected_tokens)
    except SemeceError as error:
        return CellPlan(cell, None, str(error), 0.0)
    return CellPlan(cell, made, None, _spent(cell).cost)


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of one run of a study.

    Parameters
    ----------
    cell : Cell
        The run.
    trouble : str or None
        Why it is not finished.
    capped : BudgetError or None
        The cap that stopped it.
    readable : bool
        Whether what its file holds is what the study asks for.
    """

    cell: Cell
    trouble: str | None = None
    capped: BudgetError | None = None
    readable: bool = True


@contextmanager
def writing(study: Study) -> Iterator[None]:
    """Keep other studies out of the output folder, and put a copy of the file there.

    Raises
    ------
    StoreError
        Another study is writing there, or nobody can.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(study.output / "study.lock")
    try:
        study.output.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise DiskError(f"{study.output} is being written by another study; wait for it") from None
    except OSError as error:
        raise DiskError(f"{study.output} cannot be written: {error.strerror or error}") from None
    try:
        if not study.copy.exists():
            write(study.text, study.copy)
        yield
    finally:
        lock.release()


async def make_runs(
    study: Study,
    jobs: Jobs,
    *,
    begun: Callable[[Cell], AbstractContextManager[Progress]],
    ended: Callable[[Ended], None],
) -> list[Ended]:
    """Do what is missing of every run, one after the other; one that fails does not stop the others.

    A cap of the settings holds for all runs together, with what earlier invocations spent on them. Where it is
    reached, a run whose calls still fit goes on.

    Parameters
    ----------
    study, jobs : Study, dict
        The study, and what :func:`prepare` made.
    begun : callable
        Called with each cell; what it gives is entered while the cell is done, and gives its progress.
    ended : callable
        Called with what became of each.

    Returns
    -------
    list of Ended
        One per run.
    """
    before = [_spent(cell) for cell in study.cells]
    cost, tokens = sum(spent.cost for spent in before), sum(spent.tokens for spent in before)
    under_way = [spent.held for spent in before]
    found = []
    for place, cell in enumerate(study.cells):
        await asyncio.sleep(0)  # a signal is heard between runs that have nothing to wait for
        budget = cell.settings.budget(cost, tokens)
        for held in under_way[:place] + under_way[place + 1 :]:  # a run holds what is under way in its own batches
            budget.hold(held)
        with begun(cell) as progress:
            one = await _done(cell, jobs[cell.path], progress, budget)
        cost, tokens, under_way[place] = budget.cost or 0.0, budget.tokens, _spent(cell).held
        ended(one)
        found.append(one)
    return found


async def _done(cell: Cell, job: Job | str, progress: Progress, budget: Budget) -> Ended:
    if isinstance(job, str):
        return Ended(cell, job, readable=_is_current(cell, view_of(cell.settings)))
    try:
        outcome = await make_run(job, progress=progress, budget=budget)
    except SemeceError as error:
        capped = error if isinstance(error, BudgetError) else None
        return Ended(cell, str(error), capped, _is_current(cell, job.view))
    return Ended(cell, outcome.left if outcome.missing else None)


def _is_current(cell: Cell, wanted: Mapping[str, Any]) -> bool:
    """Whether a run that was refused is about what the study asks for: a refusal leaves its file as it was."""
    view = None
    if cell.path.exists():
        with suppress(StoreError), Store(cell.path) as store:
            view = store.meta("view")
    return view is not None and all(view[name] == value for name, value in wanted.items())


class Spent(NamedTuple):
    """USD and tokens of a run so far, and both of what is under way in batches."""

    cost: float
    tokens: int
    held: tuple[float, int]


def _spent(cell: Cell) -> Spent:
    """Count what a run has cost at most; 0 for a file that cannot be read, since nothing is bought for it either."""
    if cell.path.exists():
        with suppress(StoreError), Store(cell.path) as store:
            cost, tokens = spent_at_most(store, cell.settings.price_list.known)
            return Spent(cost, tokens, Ledger(store).held(*OPEN))
    return Spent(0.0, 0, (0.0, 0))
