"""The judge without a model: rules that a reader would accept as general knowledge of English.

First honest version: words with number words read as digits; equality, and containment unless a number differs.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from semece.judges.text import is_non_answer, normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.records import Question, Verdict

_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty",
        ]
    )
}


class RulesJudge:
    """Rules without a model; a :class:`semece.judges.RuleJudge`.

    Examples
    --------
    >>> from semece.records import Question
    >>> judge = RulesJudge()
    >>> judge.partition(Question("1", "?"), ["Paris", "Paris, France", "Rome"])
    [0, 0, 1]
    >>> judge.grade(Question("1", "?", ("5",)), "five")
    'correct'
    """

    name = "rules"
    id = "rules-0"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group distinct non-empty strings by meaning; labels by first appearance, whatever the order."""
        del question
        heads: list[tuple[str, ...]] = []
        for words in sorted({_words(answer) for answer in answers}, key=lambda words: (len(words), words)):
            if not any(_agree(head, words) for head in heads):
                heads.append(words)
        labels: dict[tuple[str, ...], int] = {}
        found = [next(head for head in heads if _agree(head, _words(answer))) for answer in answers]
        return [labels.setdefault(head, len(labels)) for head in found]

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Correct if a reference agrees with the answer; a non-answer is not attempted."""
        words = _words(answer)
        if any(_agree(_words(reference), words) for reference in question.references):
            return "correct"
        return "not_attempted" if is_non_answer(answer) else "incorrect"


@lru_cache(maxsize=65536)
def _words(text: str) -> tuple[str, ...]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", normalise(text)) if not unicodedata.combining(c))
    return tuple(_NUMBER_WORDS.get(word, word) for word in plain.split())


def _agree(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Equal, or one contained in the other as a run of words while no number or negation differs."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if not short or _vetoes(short) != _vetoes(long):
        return False
    return any(long[start : start + len(short)] == short for start in range(len(long) - len(short) + 1))


def _vetoes(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if word[0].isdigit() or word in {"not", "never", "no", "without"})
