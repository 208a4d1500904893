"""The reader of guesses with their probabilities."""

from __future__ import annotations

import re

from semece.prompts.confidences import UNREAD
from semece.prompts.elicited import Guess, plain_text
from semece.prompts.markup import bare
from semece.prompts.probabilities import as_stated

_NUMBERED = re.compile(
    r"[\"']?(?<![\w.])(?:(?P<guess>g(?:uess)?)\s?(?P<g>\d)|(?P<probability>p(?:robability)?)\s?(?P<p>\d)?)[\"']?\s*[:=：]\s*",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\s*(?P<number>\d)[.)]\s+(?P<guess>.+?)\s*(?P<said>\(\s*[\d.]+\s*%\s*\)|[-–—:,]\s*[\d.]+\s*%)\s*\.?"
)
_INLINE = re.compile(r"(?P<guess>.+?)\s*\((?P<said>[^()]*\d[^()]*)\)\s*\.?")


def read_guesses(text: str) -> tuple[Guess, ...]:
    r"""Read guesses with their probabilities, the most likely first, as the reply has them.

    Returns
    -------
    tuple of Guess
        None where a guess has no probability that can be read, or two guesses have one number.

    Examples
    --------
    >>> [(one.answer, one.said.certain) for one in read_guesses("G1: Paris\nP1: 90%\nG2: Lyon\nP2: 5%")]
    [('Paris', 0.9), ('Lyon', 0.05)]
    >>> read_guesses("G1: Paris\nP1: high")
    ()
    """
    plain = plain_text(text)
    if re.match(r"[^\n:]+\n+P1:", plain):  # goes on where the prompt ends, behind G1:
        plain = f"G1: {plain}"
    pairs = _marked(plain) if re.search(r"\bg(?:uess)?\s?\d[\"']?\s*[:=：]", plain, re.IGNORECASE) else _in_list(plain)
    guesses = [Guess(bare(answer.strip(" \t\n,;|\"'}")), as_stated(said)) for answer, said in pairs]
    whole = all(guess.answer and guess.said != UNREAD for guess in guesses)
    return tuple(guesses) if whole else ()


def _marked(text: str) -> list[tuple[str, str]]:
    """Pair what follows ``G1:`` with what follows ``P1:``, or stands in brackets behind the guess."""
    marks = list(_NUMBERED.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    guesses: dict[str, str] = {}
    said: dict[str, str] = {}
    last = ""
    for mark, end in zip(marks, ends, strict=True):
        value = text[mark.end() : end].strip().split("\n", 1)[0].strip(" \t,;|")
        last = mark["g"] or last
        into, number = (guesses, last) if mark["guess"] else (said, mark["p"] or last)
        if number in into:
            return [("", "")]
        into[number] = value
    if not said:
        inline = {number: _INLINE.fullmatch(value) for number, value in guesses.items()}
        return [(found["guess"], found["said"]) if found else ("", "") for found in inline.values()]
    return [(guess, said.get(number, "")) for number, guess in guesses.items()]


def _in_list(text: str) -> list[tuple[str, str]]:
    """Read a numbered list whose every item ends in a percentage."""
    lines = [line for line in text.split("\n") if re.match(r"\s*\d[.)]\s", line)]
    found = [_LISTED.fullmatch(line) for line in lines]
    return [(one["guess"], one["said"].strip("()-–—:, ")) if one else ("", "") for one in found]
