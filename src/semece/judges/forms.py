"""Distinct answers of one question, and the partition that follows from their labels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from semece.judges.answer_keys import kept_key
from semece.records import Partition

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Forms:
    """The answers of one question with identical strings merged.

    Parameters
    ----------
    strings : tuple of str
        Per distinct answer its most frequent surface form (tie: the longest, then by the alphabet), by first
        appearance.
    places : tuple of int or None
        Per answer the place of its string in `strings`; None for a non-answer.
    """

    strings: tuple[str, ...]
    places: tuple[int | None, ...]


def distinct(answers: Sequence[str]) -> Forms:
    """Merge answers that are the same after normalisation; set non-answers apart.

    Examples
    --------
    >>> distinct(["Paris", "paris.", "I don't know", "Rome", "paris."])
    Forms(strings=('paris.', 'Rome'), places=(0, 0, None, 1, 0))
    """
    known: dict[str, str | None] = {}
    for answer in answers:
        if answer not in known:
            known[answer] = kept_key(answer)
    keys = [known[answer] for answer in answers]
    order: dict[str, int] = {}
    places = tuple(None if key is None else order.setdefault(key, len(order)) for key in keys)
    return Forms(tuple(_most_frequent(answers, places, place) for place in range(len(order))), places)


def _most_frequent(answers: Sequence[str], places: Sequence[int | None], place: int | None) -> str:
    """Find the most frequent surface form at a place; which one does not depend on the order of the answers."""
    here = Counter(answer for answer, p in zip(answers, places, strict=True) if p == place)
    return min(here, key=lambda form: (-here[form], -len(form), form))


def assemble(question_id: str, answers: Sequence[str], forms: Forms, labels: Sequence[int], *, judge: str) -> Partition:
    """Turn the labels of the distinct strings into the partition of all answers.

    Parameters
    ----------
    question_id : str
        The question.
    answers : sequence of str, length M
        The usable answers in index order.
    forms : Forms
        What :func:`distinct` made of them.
    labels : sequence of int, one per string of `forms`
        The judge's labels.
    judge : str
        The judge's id.

    Returns
    -------
    Partition
        Labels numbered by first appearance; the class of non-answers has the representative ``''``.

    Examples
    --------
    >>> answers = ["idk", "Paris", "City of Paris", "Paris"]
    >>> assemble("q", answers, distinct(answers), [0, 0], judge="rules").labels
    (0, 1, 1, 1)
    """
    classes = [None if place is None else labels[place] for place in forms.places]
    order: dict[int | None, int] = {}
    numbered = tuple(order.setdefault(label, len(order)) for label in classes)
    representatives = tuple(
        "" if label is None else _most_frequent(answers, numbered, number) for label, number in order.items()
    )
    return Partition(question_id, numbered, representatives, judge)
