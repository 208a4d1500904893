"""What the rules say of two answers to one question, for a judge that asks a model about the rest."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from semece.judges.rules.grouping import EQUAL, asks_of, differ, forms_of, link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.prepared import Form


class Relations:
    """What is certain of two of some answers, by their places.

    Parameters
    ----------
    question : str
        What they answer.
    answers : sequence of str
        Distinct, not empty.

    Examples
    --------
    >>> relations = Relations("How many are there?", ["ten", "10", "11", "about a dozen"])
    >>> relations.equal(0, 1), relations.apart(0, 2), relations.near(0, 3)
    (True, True, True)
    """

    def __init__(self, question: str, answers: Sequence[str]) -> None:
        self._question, self._answers = question, answers

    @cached_property
    def _forms(self) -> list[Form]:
        return forms_of(self._question, self._answers)

    @cached_property
    def _asks(self) -> frozenset[str]:
        return asks_of(self._question)

    def equal(self, one: int, other: int) -> bool:
        """Whether two answers are equal in words or values."""
        return link(self._forms[one], self._forms[other], self._asks) == EQUAL

    def apart(self, one: int, other: int) -> bool:
        """Whether values, a negation or opposite words keep two answers apart whatever else they share."""
        return differ(self._forms[one], self._forms[other], self._asks)

    def near(self, one: int, other: int) -> bool:
        """Whether two answers share a word, or something like it."""
        return not self._forms[one].traces.isdisjoint(self._forms[other].traces)
