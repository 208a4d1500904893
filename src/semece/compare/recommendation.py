"""Which of several judges to take, from how often each agrees with people."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from semece.judges import row_of
from semece.runs import end_text, number_text, percent_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.compare.judge_eval import Evaluation
    from semece.compare.labelled_files import Labelled

LEAST = 30
"""Questions below which no judge is recommended."""
UNUSABLE = 0.05
"""Above this share of partitions that cannot be used, another way of asking is recommended."""
_Z = 1.959963984540054


class _Agreement(NamedTuple):
    """How often a judge agrees with people: per question how often, and how often it could."""

    judge: str
    agreed: tuple[float, ...]
    asked: tuple[int, ...]

    @property
    def share(self) -> float:
        """Of all answers, or pairs of answers."""
        return sum(self.agreed) / sum(self.asked)


def recommendations(labelled: Labelled, found: Sequence[Evaluation]) -> Iterator[str]:
    """Say which of several judges to take, and which model should compare pairs.

    A judge is as good as the best if the interval of the difference, over questions, holds zero. Of these the first
    that asks no model is recommended, else the first. What a judge left without verdict or partition counts against it.

    Parameters
    ----------
    labelled : Labelled
        What people say.
    found : sequence of Evaluation
        What each judge says.

    Yields
    ------
    str
        One sentence for verdicts and one for classes, where at least two judges and 30 questions are there; and one for
        each model of whose partitions more than a twentieth cannot be used.
    """
    for what, measure in (("grade", _verdicts), ("group", _classes)):
        every = [measure(labelled, evaluation) for evaluation in found]
        if len(every) > 1 and len(every[0].asked) >= LEAST:
            yield _recommended(what, every)
    for evaluation in found:
        yield from _unusable(labelled, evaluation)


def _recommended(what: str, every: Sequence[_Agreement]) -> str:
    best = max(every, key=lambda one: one.share)
    alike = [one for one in every if one is best or _difference(best, one)[0] <= 0]
    chosen = next((one for one in alike if not row_of(one.judge).asks_model), alike[0])
    if chosen is best:
        return f"To {what}: {best.judge}, which agrees with people most often ({number_text(best.share)})."
    low, high = _difference(best, chosen)
    return (
        f"To {what}: {chosen.judge} ({number_text(chosen.share)}); {best.judge} agrees with people more often "
        f"({number_text(best.share)}), "
        "but the difference may be chance: "
        f"{number_text(best.share - chosen.share)} [{end_text(low)}, {end_text(high)}]."
    )


def _difference(one: _Agreement, other: _Agreement) -> tuple[float, float]:
    """Give the 95 % interval of the difference of two shares, paired by question."""
    total, count = sum(one.asked), len(one.asked)
    by_question = [a - b for a, b in zip(one.agreed, other.agreed, strict=True)]
    mean = sum(by_question) / total
    squares = sum((d - mean * n) ** 2 for d, n in zip(by_question, one.asked, strict=True))
    half = _Z * math.sqrt(squares * count / (count - 1)) / total
    return mean - half, mean + half


def _verdicts(labelled: Labelled, evaluation: Evaluation) -> _Agreement:
    """Count the answers whose verdict is people's, by question."""
    agreed: dict[str, float] = {}
    asked: dict[str, int] = {}
    for row, verdict in zip(labelled.graded, evaluation.verdicts, strict=True):
        name = row.question.id
        asked[name] = asked.get(name, 0) + 1
        agreed[name] = agreed.get(name, 0.0) + (verdict is not None and (verdict == "correct") == row.correct)
    return _Agreement(evaluation.judge, tuple(agreed.values()), tuple(asked.values()))


def _classes(labelled: Labelled, evaluation: Evaluation) -> _Agreement:
    """Count the pairs of answers that are put together or kept apart as people do it, by question."""
    rows = [
        (row.labels, classes)
        for row, classes in zip(labelled.grouped, evaluation.classes, strict=True)
        if len(row.labels) > 1
    ]
    asked = tuple(len(people) * (len(people) - 1) // 2 for people, _ in rows)
    agreed = tuple(0.0 if classes is None else _pairs_alike(people, classes) for people, classes in rows)
    return _Agreement(evaluation.judge, agreed, asked)


def _pairs_alike(one: Sequence[int], other: Sequence[int]) -> float:
    places = combinations(range(len(one)), 2)
    return float(sum((one[i] == one[j]) == (other[i] == other[j]) for i, j in places))


def _unusable(labelled: Labelled, evaluation: Evaluation) -> Iterator[str]:
    """Say that a model's lists of classes often cannot be used."""
    several = [
        classes for row, classes in zip(labelled.grouped, evaluation.classes, strict=True) if len(row.labels) > 1
    ]
    several += list(evaluation.pairs.values())
    share = sum(classes is None for classes in several) / max(len(several), 1)
    name, _, variant = evaluation.judge.partition("#")
    if share > UNUSABLE and row_of(evaluation.judge).asks_model and "pairs" not in variant.split(","):
        spelled = f"{name}#{','.join(filter(None, ('pairs', variant)))}"
        yield f"{percent_text(share)} of the classes that {evaluation.judge} lists cannot be used: try {spelled}."
