"""Which answers people see: drawn at random within strata, by numbers that depend on seed and question alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from semece.canonical_json import digest
from semece.errors import SemeceError
from semece.runs import answers_of
from semece.stats import bin_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from semece.runs import Deployed, Run

By = Literal["verdict", "confidence", "both", "none"]
BY: tuple[By, ...] = get_args(By)
"""What strata are made of."""


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What was drawn from what.

    Parameters
    ----------
    seed : int
        Of the draw, the order and the codes.
    by : {'verdict', 'confidence', 'both', 'none'}
        What the strata are made of.
    sizes, drawn : tuple of int
        Answers in each stratum, and drawn ones.
    questions : str
        Hash of the ids that could be drawn.
    """

    seed: int
    by: str
    sizes: tuple[int, ...]
    drawn: tuple[int, ...]
    questions: str


class DrawnAnswer(NamedTuple):
    """A drawn answer and its stratum."""

    answer: Deployed
    stratum: int


def deployed_answers(run: Run) -> tuple[Deployed, ...]:
    """Give the deployed answers of the complete questions, in the run's order.

    Raises
    ------
    SemeceError
        No question is complete.
    """
    views = run.question_views()
    found = answers_of(views)
    if not found:
        raise SemeceError(f"no question is complete of {len(views):,}; 'semece summary' says why")
    return found


def draw(answers: Sequence[Deployed], *, size: int, by: By, seed: int) -> tuple[AuditPlan, list[DrawnAnswer]]:
    """Draw answers for people to judge.

    Half of them are spread evenly over the strata, half in proportion to their sizes; a stratum gives no more than it
    has.

    Parameters
    ----------
    answers : sequence of Deployed
        Those that could be drawn, none of them blank; at least one.
    size : int
        How many, >= 1; all if there are not so many.
    by : {'verdict', 'confidence', 'both', 'none'}
        Strata: the judge's verdict, the bin of Sem1 as in the ECE, both, or none.
    seed : int
        The same seed and answers draw the same answers.

    Returns
    -------
    tuple of AuditPlan and list of DrawnAnswer

    Raises
    ------
    SemeceError
        There are too many strata for so few answers.
    """
    stratum = _strata(answers, by)
    sizes = np.bincount(stratum)
    wanted = allocate(sizes, min(size, len(answers)))
    if len(sizes) > 1 and (wanted < np.minimum(sizes, 2)).any():
        raise SemeceError(
            f"{len(sizes)} strata need a size of at least {4 * len(sizes)}; got {size}; or draw by fewer: --by none"
        )
    order = sorted(range(len(answers)), key=lambda at: audit_hash(seed, "draw", answers[at].question.id))
    ranked = {h: [at for at in order if stratum[at] == h][: wanted[h]] for h in range(len(sizes))}
    found = [DrawnAnswer(answers[at], h) for h, places in ranked.items() for at in places]
    counts = tuple(map(int, sizes)), tuple(map(len, ranked.values()))
    return AuditPlan(seed, by, *counts, ids_hash(answers)), found


def _strata(answers: Sequence[Deployed], by: By) -> NDArray[np.intp]:
    """Give the number of each answer's stratum, from 0, none without answers."""
    verdict = np.array([int(each.said) for each in answers])
    bins = bin_index([each.sem1 for each in answers])
    kinds = {"verdict": verdict, "confidence": bins, "both": 2 * bins + verdict, "none": 0 * verdict}
    return np.unique(kinds[by], return_inverse=True)[1]


def allocate(sizes: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """Say how many to draw of each stratum: half evenly, half in proportion, `size` in all and at most all.

    Examples
    --------
    >>> allocate(np.array([900, 90, 10]), 120).tolist()
    [85, 25, 10]
    """
    wanted = np.minimum(sizes, size // (2 * len(sizes)))
    room = sizes - wanted
    share = (size - wanted.sum()) * room / max(room.sum(), 1)
    wanted = wanted + np.floor(share).astype(np.intp)
    last = np.argsort(np.floor(share) - share, kind="stable")[: size - wanted.sum()]
    wanted[last] += 1
    return np.asarray(wanted)


def share_out(drawn: Sequence[DrawnAnswer], *, annotators: int, overlap: int, seed: int) -> list[list[DrawnAnswer]]:
    """Give each annotator the shared answers and a part of the others, each in an order of its own."""
    order = _shuffled(drawn, seed, "share")
    shared, rest = (order[:overlap], order[overlap:]) if annotators > 1 else ([], order)
    parts = [[*shared, *rest[one::annotators]] for one in range(annotators)]
    return [_shuffled(part, seed, f"order {one}") for one, part in enumerate(parts)]


def _shuffled(drawn: Sequence[DrawnAnswer], seed: int, what: str) -> list[DrawnAnswer]:
    """Order answers at random, for a purpose."""
    return sorted(drawn, key=lambda each: audit_hash(seed, what, each.answer.question.id))


def audit_hash(*parts: object) -> bytes:
    """Hash what an audit keeps apart from everything else: a random number that depends on nothing but the parts."""
    return digest(["audit", *parts])


def ids_hash(answers: Iterable[Deployed]) -> str:
    """Tell whether other questions can be drawn."""
    return digest(sorted(each.question.id for each in answers)).hex()[:8]
