"""What an answer commits itself to: corrections, conclusions, reasons, alternatives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semece.judges.rules.words import phrases, verb, vocabulary, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.words import Word

LONGEST = 2000
"""Characters of an answer in which corrections and conclusions are looked for."""

_FLAGS = re.IGNORECASE | re.DOTALL


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases(name)), _FLAGS)


_LABEL = _pattern("labels")
_CONCLUSION = _pattern("conclusions")
_CORRECTION = _pattern("corrections")
_REASON = _pattern("reasons")
_ALTERNATIVE = _pattern("alternatives")
_DENIED_ASIDE = _pattern("denied_asides")
_DIGIT = re.compile(r"\d")
_TWICE = re.compile(r"\b(possibly|maybe|perhaps|probably|either|likely)\b([^.;]{1,60}?)[,;] *(?:or )?\1\b", _FLAGS)
_JOINT = re.compile(r"[,;] but (?:rather )?|[,;] (?:while|whereas|although|though) | and ", re.IGNORECASE)


def committed(text: str, question: str) -> str:
    """Cut an answer down to what it commits itself to.

    What is corrected goes ('Sydney, no wait, Canberra'), as does what comes before a conclusion ('... The answer is
    7.'), and the reasons after it ('Canberra, because Sydney ...'), unless the question asks for reasons. Other words
    for 'or' become it. Of clauses joined by 'but' or 'and' those count that take up the question's words.

    Examples
    --------
    >>> asked = "What is the capital of Australia?"
    >>> texts = ("Sydney, no wait, Canberra", "Perth. Alternatively, Sydney.", "Canberra, since Sydney is large")
    >>> [committed(text, asked) for text in texts]
    ['Canberra', 'Perth or Sydney.', 'Canberra']
    """
    if len(text) > LONGEST:
        return text
    text = _LABEL.split(text, maxsplit=1)[0].strip() or text
    cued = any(cue in text for cue in phrases("cues"))
    for pattern in (_CORRECTION, _CONCLUSION) if cued else ():
        last = pattern.split(text)[-1].strip()
        text = last if re.search(r"\w", last) else text
    if vocabulary("explaining").isdisjoint(question.lower().replace("?", " ").split()):
        text = _REASON.sub("", text) if re.search(r"\w", _REASON.sub("", text)) else text
    text = _ALTERNATIVE.sub(" or ", _DENIED_ASIDE.sub(" ", text))
    return _taken_up(_TWICE.sub(r"\1\2 or", _ticked(text)), question)


def _ticked(text: str) -> str:
    """Keep the names of the rows of a table that say yes, where others say no."""
    rows = [[cell.strip() for cell in line.strip(" |").split("|")] for line in text.splitlines() if "|" in line]
    said = {name: any(cell.lower() in vocabulary("affirmations") for cell in cells) for name, *cells in rows if cells}
    ticked = [name for name, yes in said.items() if yes]
    denied = any(cell.lower() in vocabulary("denials") for row in rows for cell in row)
    return " and ".join(ticked) if ticked and denied else text


def _taken_up(text: str, question: str) -> str:
    """Keep the clause that takes up words of the question, where the clause before or after it takes up none.

    'It was begun in 1929 and finished in 1931', asked when it was finished; 'Saturn is large, but Jupiter is the
    largest'.
    """
    joints = [found for found in _JOINT.finditer(text) if found[0] != " and " or _DIGIT.search(text, found.end())]
    if len(joints) != 1 or re.search(r"[.!?]\s", text):
        return text
    halves = text[: joints[0].start()], text[joints[0].end() :]
    clauses = [not vocabulary("auxiliaries").isdisjoint(word.text for word in words_of(half)) for half in halves]
    if not all(clauses) and joints[0][0] != " and ":
        return text
    asked = _content(words_of(question))
    shared = [len(_said(half) & asked) for half in halves]
    if joints[0][0] == " and " and (not _DIGIT.search(halves[0]) or min(shared) or "between" in halves[0].lower()):
        return text
    return text if shared[0] == shared[1] else halves[shared[1] > shared[0]]


def _said(text: str) -> set[str]:
    words = words_of(text)
    start = next((place for place, word in enumerate(words) if word.form in vocabulary("auxiliaries")), 0)
    return _content(words[start:])


def _content(words: Sequence[Word]) -> set[str]:
    small = [word for place, word in enumerate(words) if word.form.islower() or place == 0]
    return {verb(word.text) for word in small} - {verb(word) for word in vocabulary("function")}
