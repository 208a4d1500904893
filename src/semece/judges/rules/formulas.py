"""Mathematics in answers: what an equation says, and signs, brackets and operators that keep two texts apart."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from semece.judges.rules.values.found import read_values
from semece.judges.rules.words import phrases, vocabulary, words_of

LONGEST = 1000
"""Characters of a text in which formulas are looked for; what is longer is prose."""

_NUMBER = r"[-+]?[(\[]*[$€£]?\d+(?:,\d{3})*(?:\.\d+)?%?(?: [a-z]+(?= ?[-+*/x×÷·=]))?[)\]]*"
_OPERATOR = r"(?:\*\*|x(?=\s?\d)|[-+*/^×÷·]|of|times|plus|minus|divided by)"
_SIDE = rf"{_NUMBER}(?:\s*{_OPERATOR}\s*{_NUMBER})*"
_EQUATION = re.compile(
    rf"(?<![\w.,$\\^)])(?:{_SIDE}(?:\s*=\s*{_SIDE})*|[a-zA-Z](?:_?\d|\([a-z]\))?)\s*=\s*(?=[-+\\$€£(\[]*[\w√π])"
)
_DELIMITERS = re.compile(
    r"\$(?!\s?\d[\d,.]*\s*(?:$|[a-z]))|\\[()\[\],;!]|\\(?:left|right|displaystyle)\b|\\boxed|[.\s]+$"
)
_TOKEN = re.compile(r"\\[a-zA-Z]+|\d+(?:\.\d+)?|[^\W\d_]+|\S")
_SIGN = re.compile("|".join(phrases("signs")))
minuses = re.compile(r"(?<!\w)[-−](?=[$€£.\d])").findall
_SPELLED = str.maketrans("−–×·⋅÷∗", "--***/*")


class Formulas(NamedTuple):
    """The formulas of a text without blanks, and whether the text is nothing else."""

    found: tuple[str, ...]
    whole: bool


_NONE = Formulas((), whole=False)


def solved(text: str) -> str:
    """Keep only the last side of equations between numbers, or of what a letter is: '17 + 25 = 42' says 42."""
    return _EQUATION.sub("", text) if "=" in text and len(text) <= LONGEST else text


@lru_cache(maxsize=65536)
def formulas(text: str) -> Formulas:
    """Find the formulas in a text: runs of numbers, letters and signs that are no number, date or range."""
    if len(text) > LONGEST or not _SIGN.search(text.translate(_SPELLED).replace(" ", "")):
        return _NONE
    runs: list[list[str]] = [[]]
    for token in _TOKEN.findall(_DELIMITERS.sub("", solved(text)).translate(_SPELLED)):
        if token.isalpha() and len(token) > 1 and token not in vocabulary("functions"):
            runs.append([])
        else:
            runs[-1].append(token)
    joined = ["".join(run).strip(".,;:?") for run in runs]
    found = tuple(run for run in joined if _is_formula(run, whole=len(runs) == 1))
    return Formulas(found, whole=bool(found) and len(runs) == 1)


def _is_formula(run: str, *, whole: bool) -> bool:
    if not _SIGN.search(run) and not (whole and re.fullmatch(r"\|.+\||.*[\w)]!", run)):
        return False
    words = words_of(run)
    values = read_values(words)
    return not (run[-1] != "!" and len(values) == 1 and 0 in values and values[0].size == len(words))


def told_apart(one: str, other: str) -> bool:
    """Whether two texts have different formulas, or one is a formula and the other has none."""
    first, second = formulas(one), formulas(other)
    if not first.found or not second.found:
        return first.whole or second.whole
    return not (set(first.found) <= set(second.found) or set(second.found) <= set(first.found))
