"""The scores of a run's questions: those that it was given beside Sem1, Sem2 and the stated confidence.

A score is a number with a name and a kind (:class:`semece.records.ScoreKind`). It comes with a question, or with each
of its responses; then the question's is a mean. Inside a run more is always surer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.records import ScoreKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semece.records import Partition, Response
    from semece.runs.question_views import QuestionView

STAGE = "scores"
"""The stage under which scores rest in a run file."""

OVER = ("all", "mode")
"""Over which responses scores that come with responses are averaged: all usable ones, or the most frequent answer's."""

TITLES = {"sem1": "Sem1", "sem2": "Sem2", "verbalized": "Ver"}
"""What a run has of its own, and how that is called."""


class QuestionScores(NamedTuple):
    """The scores of one question; more is surer.

    Parameters
    ----------
    confidences : mapping of str to float
        In [0, 1].
    ranked : mapping of str to float
        Those of which only the order means something.
    """

    confidences: Mapping[str, float] = {}
    ranked: Mapping[str, float] = {}

    def get(self, name: str) -> float | None:
        """Give a score; None if there is none."""
        return {**self.ranked, **self.confidences}.get(name)

    def recalibrated(self, name: str, confidence: float | None) -> QuestionScores:
        """Put a confidence in the place of a score."""
        confidences, ranked = dict(self.confidences), {k: v for k, v in self.ranked.items() if k != name}
        confidences.pop(name, None)
        return QuestionScores(confidences | ({} if confidence is None else {name: confidence}), ranked)


NO_SCORES = QuestionScores()


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


def read_scores(
    rows: Iterable[str], kinds: Mapping[str, str], responses: Sequence[Response], chosen: Sequence[int]
) -> QuestionScores:
    """Read the scores of a question.

    Parameters
    ----------
    rows : iterable of str
        What is stored of them (:func:`scores_row`), oldest first; a later one of a name takes its place.
    kinds : mapping of str to str
        Their kinds, by name, as they are written.
    responses : sequence of Response
        The question's; only usable ones count.
    chosen : sequence of int
        Over which indices of responses a mean is taken.

    Returns
    -------
    QuestionScores
        A mean is of the responses that have a number; a question of which none has has no such score.

    Examples
    --------
    >>> from semece.records import Response
    >>> some = [Response("q", i, "a", "a", None, "parsed") for i in range(3)]
    >>> row = scores_row({"entropy": 2.0}, [{"p_true": 0.9}, {}, {"p_true": 0.5}])
    >>> read_scores([row], {"entropy": "lower", "p_true": "0..1"}, some, [0, 1, 2])
    QuestionScores(confidences={'p_true': 0.7}, ranked={'entropy': -2.0})
    """
    usable = {r.index for r in responses if r.usable} & set(chosen)
    values: dict[str, float] = {}
    for row in map(json.loads, rows):
        values |= row["question"]
        own = [each for index, each in enumerate(row["responses"]) if index in usable]
        for name in dict.fromkeys(name for each in row["responses"] for name in each):
            known = [each[name] for each in own if name in each]
            values |= {name: sum(known) / len(known)} if known else {}
    oriented = {name: (kind, kind.oriented(values[name])) for name, kind in _kinds(kinds) if name in values}
    return QuestionScores(
        {name: value for name, (kind, value) in oriented.items() if not kind.ranked},
        {name: value for name, (kind, value) in oriented.items() if kind.ranked},
    )


def _kinds(kinds: Mapping[str, str]) -> Iterator[tuple[str, ScoreKind]]:
    yield from ((name, ScoreKind.of(text)) for name, text in kinds.items())


def scores_row(question: Mapping[str, float], responses: Sequence[Mapping[str, float]]) -> str:
    """Write the scores of a question, and those of each of its responses, as they rest in a run file."""
    from semece.canonical_json import canonical

    return canonical({"question": dict(question), "responses": [dict(each) for each in responses]})


def largest_class(responses: Sequence[Response], partition: Partition | None) -> list[int]:
    """Give the indices of the responses with the most frequent answer, of all that tie; without classes of none."""
    if partition is None:
        return []
    labels = list(partition.labels)
    most = max(map(labels.count, labels))
    usable = [r.index for r in responses if r.usable]
    return [index for index, label in zip(usable, labels, strict=True) if labels.count(label) == most]


def plain_kinds(view: Mapping[str, Any]) -> dict[str, str]:
    """Give the kinds of a run's scores by name, from its view; older run files have none."""
    return dict(view.get("scores") or {})
