"""The questions of a run with their scores: Sem1, Sem2, Ver, and those that the run was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semece.runs.named_scores import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semece.runs.named_scores import Kinds
    from semece.runs.question_views import QuestionView


class ScoredQuestions(NamedTuple):
    """The questions of a run, and what their scores depend on.

    Parameters
    ----------
    views : sequence of QuestionView
        The questions.
    kinds : mapping of str to ScoreKind
        What the scores mean that it was given, as they came, by name.
    facts : mapping of str to str
        Who answered what how often, and who judged: ``model``, ``dataset``, ``judge``, ``answers``.
    """

    views: Sequence[QuestionView]
    kinds: Kinds
    facts: Mapping[str, str]


class NamedScore(NamedTuple):
    """A score of those questions of a run that are complete and have it.

    Parameters
    ----------
    name, title : str
        ``sem1``, ``sem2``, ``verbalized`` or the name that it came with; and how people call it.
    ranked : bool
        Only its order means something: there are AUROC, AURC and risk-coverage, and no ECE or threshold until it is
        recalibrated.
    value : ndarray, shape (Q,)
        More is surer; in [0, 1] unless ranked.
    correct : ndarray, shape (Q,)
        Correctness of the most frequent answer, in [0, 1].
    place : ndarray of int, shape (Q,)
        Where the questions stand among the views.
    """

    name: str
    title: str
    ranked: bool
    value: NDArray[np.float64]
    correct: NDArray[np.float64]
    place: NDArray[np.intp]


def named_scores(views: Sequence[QuestionView]) -> list[NamedScore]:
    """Give every score that a complete question has: Sem1, Sem2, Ver, and those that the run was given.

    Parameters
    ----------
    views : sequence of QuestionView
        Of a run. Questions whose most frequent answer is none are among them: ``view.estimate.refused``.

    Returns
    -------
    list of NamedScore
        In that order.
    """
    import numpy as np

    entering = [(place, view) for place, view in enumerate(views) if view.estimate.status == "complete"]
    ranked = score_names(view for _, view in entering)
    found = []
    for name in (*TITLES, *ranked):
        rows = [(place, v.score(name), v.estimate.correct) for place, v in entering if v.score(name) is not None]
        if rows:
            places, values, correct = (np.array(column) for column in zip(*rows, strict=True))
            title, order = TITLES.get(name, name), ranked.get(name, False)
            found.append(NamedScore(name, title, order, values.astype(float), correct.astype(float), places))
    return found


def score_names(views: Iterable[QuestionView]) -> dict[str, bool]:
    """Name the scores that some questions were given, in order, and say of each whether it is ranked."""
    names: dict[str, bool] = {}
    for view in views:
        names |= dict.fromkeys(view.scores.confidences, False) | dict.fromkeys(view.scores.ranked, True)
    return names
