"""Judges: who groups answers by meaning, and who grades the groups.

A judge that costs nothing (``rules``, ``exact``, ``given``) is a pair of pure functions; ``llm`` asks a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question, Verdict


class RuleJudge(Protocol):
    """A judge without a model: pure, deterministic, independent of the order of the strings."""

    @property
    def name(self) -> str:
        """Its spelling, such as ``rules``."""
        ...

    @property
    def id(self) -> str:
        """Name and version: changes whenever a result may change."""
        ...

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group distinct non-empty strings by meaning; labels numbered from 0 by first appearance."""
        ...

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Grade one answer against ``question.references``."""
        ...
