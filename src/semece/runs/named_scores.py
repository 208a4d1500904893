"""The scores of a run's questions: those that it was given beside Sem1, Sem2 and the stated confidence.

A score is a number with a name and a kind (:class:`semece.records.ScoreKind`). It comes with a question, or with each
of its responses; then the question's is a mean. Inside a run more is always surer.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from semece.records import CONFIDENCE_KIND, ScoreKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from semece.records import Partition, Response

Kinds: TypeAlias = "Mapping[str, ScoreKind]"
"""What scores mean, by name."""

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


def read_scores(
    rows: Iterable[str], kinds: Mapping[str, ScoreKind], responses: Sequence[Response], chosen: Sequence[int]
) -> QuestionScores:
    """Read the scores of a question.

    Parameters
    ----------
    rows : iterable of str
        What is stored of them (:func:`scores_row`), oldest first; a later one of a name takes its place.
    kinds : mapping of str to ScoreKind
        Their kinds, by name.
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
    >>> row = json.dumps(scores_row({"entropy": 2.0}, [{"p_true": 0.9}, {}, {"p_true": 0.5}]))
    >>> read_scores([row], {"entropy": ScoreKind.of("lower"), "p_true": ScoreKind()}, some, [0, 1, 2])
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
    oriented = {name: (kind, kind.oriented(values[name])) for name, kind in kinds.items() if name in values}
    return QuestionScores(
        {name: value for name, (kind, value) in oriented.items() if not kind.ranked},
        {name: value for name, (kind, value) in oriented.items() if kind.ranked},
    )


def scores_row(question: Mapping[str, float], responses: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Lay out the scores of a question, and those of each of its responses, as they rest in a run file."""
    return {"question": dict(question), "responses": [dict(each) for each in responses]}


def numbers_as_given(rows: Iterable[str], usable: Sequence[int]) -> dict[str, float | list[float | None]]:
    """Give the scores of a question as they came: a number, or a list with one per usable response.

    Examples
    --------
    >>> numbers_as_given([json.dumps(scores_row({"entropy": 2.0}, [{"p_true": 0.9}, {}, {"p_true": 0.5}]))], [0, 1])
    {'entropy': 2.0, 'p_true': [0.9, None]}
    """
    found: dict[str, float | list[float | None]] = {}
    for row in map(json.loads, rows):
        found |= row["question"]
        responses = row["responses"]
        for name in dict.fromkeys(name for each in responses for name in each):
            found[name] = [responses[i].get(name) if i < len(responses) else None for i in usable]
    return found


def largest_class(responses: Sequence[Response], partition: Partition | None) -> list[int]:
    """Give the indices of the responses with the most frequent answer, of all that tie; without classes of none."""
    if partition is None:
        return []
    labels = list(partition.labels)
    most = max(map(labels.count, labels))
    usable = [r.index for r in responses if r.usable]
    return [index for index, label in zip(usable, labels, strict=True) if labels.count(label) == most]


def kinds_of(view: Mapping[str, Any]) -> dict[str, ScoreKind]:
    """Give the kinds of a run's scores by name, from its view; older run files have none."""
    return {name: ScoreKind.of(text) for name, text in (view.get("scores") or {}).items()}


def declared(kinds: Mapping[str, ScoreKind]) -> dict[str, str]:
    """Write the kinds of scores that are not confidences from 0 to 1."""
    return {name: kind.text for name, kind in kinds.items() if kind != CONFIDENCE_KIND}
