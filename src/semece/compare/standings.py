"""Several runs on the same questions: what changes from the first to the others, and who is ahead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semece.errors import SemeceError
from semece.runs import names_of, pool_of, quantities
from semece.stats import compare_arms, rank_arms

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from semece.runs import QuestionView, Run


@dataclass(frozen=True, slots=True)
class Standings:
    """Runs on the same questions.

    Parameters
    ----------
    runs : tuple of str
        Their names.
    questions : int
        How many are complete in all of them: only these are compared.
    left_out : dict of str to int
        Per run the questions that are complete there and not everywhere.
    changes : polars.DataFrame
        Each later run against the first: ``run``, ``quantity``, ``questions``, ``first``, ``second``, ``change`` with
        ``change_low`` and ``change_high``, ``reason``, ``note`` (:func:`semece.stats.diagnostics.compare_arms`).
    ranking : polars.DataFrame
        ``quantity``, ``run``, ``questions``, ``value``, ``rank`` with ``rank_low`` and ``rank_high``, ``best``
        (:func:`semece.stats.diagnostics.rank_arms`).
    """

    runs: tuple[str, ...]
    questions: int
    left_out: dict[str, int]
    changes: pl.DataFrame
    ranking: pl.DataFrame


def compare_runs(runs: Sequence[Run]) -> Standings:
    """Compare runs on the questions that are complete in all of them.

    Parameters
    ----------
    runs : sequence of Run
        At least two, all with the same number of responses per question.

    Returns
    -------
    Standings

    Raises
    ------
    SemeceError
        Fewer than two runs, different numbers of responses, an id whose question has another text elsewhere, or no
        question in common.
    """
    if len(runs) < 2:
        raise SemeceError(f"at least two runs are needed to compare (or --judges and two judges); got {len(runs)}")
    _check_sizes(runs)
    names = names_of(runs)
    complete = [_complete(run) for run in runs]
    common = sorted(set(complete[0]).intersection(*complete[1:]))
    if not common:
        raise SemeceError(f"no question is complete in all of {', '.join(str(run.path) for run in runs)}")
    _check_texts(runs, complete, common)
    pools = {name: pool_of([views[i] for i in common]) for name, views in zip(names, complete, strict=True)}
    compared = quantities()
    changes = compare_arms(pools, quantities=compared).rename({"low": "change_low", "high": "change_high"})
    ranking = rank_arms(pools, quantities=compared)
    left_out = {name: len(views) - len(common) for name, views in zip(names, complete, strict=True)}
    return Standings(
        tuple(names), len(common), left_out, changes.rename({"arm": "run"}), ranking.rename({"arm": "run"})
    )


def _complete(run: Run) -> dict[str, QuestionView]:
    return {view.question.id: view for view in run.question_views() if view.estimate.status == "complete"}


def _check_sizes(runs: Sequence[Run]) -> None:
    """Refuse runs with different numbers of responses: Sem1 and Sem2 depend on them."""
    for run in runs[1:]:
        if run.n != runs[0].n:
            sizes = f"{runs[0].n} in {runs[0].path} and {run.n} in {run.path}"
            raise SemeceError(f"runs that are compared must have as many responses per question; got {sizes}")


def _check_texts(runs: Sequence[Run], complete: Sequence[dict[str, QuestionView]], common: Sequence[str]) -> None:
    """Refuse an id that is another question in another run."""
    for run, views in zip(runs[1:], complete[1:], strict=True):
        for i in common:
            one, other = complete[0][i].question.text, views[i].question.text
            if one != other:
                texts = f"{one[:60]!r} in {runs[0].path} and {other[:60]!r} in {run.path}"
                raise SemeceError(f"runs are compared on the same questions; question {i!r} is {texts}")
