"""The reader of whether a reply calls an answer true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semece.prompts.confidences import UNREAD, Stated
from semece.prompts.statements import (
    CORRECTS,
    Guess,
    first_asked,
    labelled_values,
    one_guess,
    plain_text,
    sentence_before,
    settled,
    statement,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


_ANSWER = statement("(?:(?:possible|proposed|correct|given)?[ _]?answer|choice|verdict|conclusion)")
_CHOICE = re.compile(
    r"[^\w(]{0,8}(?:(?P<yes>yes|no)\b[^\w(]{1,4})?"
    r"(?:it(?: is|['’]s)|i (?:would )?(?:choose|pick|say|think|believe)(?: option)?|option|choice)?[^\w(]{0,4}"
    r"(?:(?:(?:most |very )?(?:likely|probably)[^\w(]{1,4})?(?P<letter>\([ABab]\)"
    r"|(?:[AB](?=\s*(?:[).:\]}\"'<>]|[-–—]\s|$)|,\s(?:true|false)\b|\s\((?:true|false)\)))[).:]?)[^\w(]{0,4}\(?(?P<after>true\b|false\b)?"
    r"|(?P<word>true|false)\b)",
    re.IGNORECASE,
)
_THE_ANSWER = r"(?:it|that|this|(?:(?:the|my|this)\s+)?(?:(?:possible|proposed|given)\s+)?(?:answer|statement))"
_CLAIM = (
    rf"{_THE_ANSWER}(?:,?\s+[\"“'][^\"”\n]{{1,60}}[\"”'],?)?"
    r"(?:(?:\s+is|['’]s)(?P<not>\s+not)?|\s+is(?P<isnt>n['’]t))\s+"
)
_WORD = r"(?P<verdict>true|false|correct|incorrect|right|wrong)\b"
_VERDICT = re.compile(
    rf"(?:^\W*(?:(?P<yes>yes|no)\b[,.!]?\s*)?|(?<=[.!?\n])\s*)"
    rf"(?:i (?:believe|think)(?: that)? |(?:so|thus|therefore|hence),? )?(?:{_CLAIM})?{_WORD}"
    r"(?=\s*(?:[.!\n,;:]|$)|\W*$|\s+(?:because|since)\b)",
    re.IGNORECASE,
)
"""A sentence that is a verdict: 'The possible answer is incorrect', 'It is not true', 'Wrong'."""
_CLAIMED = re.compile(rf"\b{_CLAIM}{_WORD}(?!\s+that\b)", re.IGNORECASE)
"""What a reply says anywhere of the answer."""
_YES_OR_NO = re.compile(r"\W*(?P<yes>yes|no)\b[^\w\s]", re.IGNORECASE)
_NEGATED = re.compile(
    r"n['’]t\b|(?<!\bi )\bwould\b|\b(?:not|never|cannot|if|whether|neither|nor|no|should|could|may|might|maybe|perhaps|"
    r"either|or|options|candidates|choices|between)\b",
    re.IGNORECASE,
)
_LETTER = r"[^\w\n(]{0,6}(?:\((?P<letter>[ABab])\)|(?P<bare>(?-i:[AB]))(?![\w'’]))"
_CONCLUDES = re.compile(
    r"(?:(?:\b(?:is|it['’]s|therefore|thus|so|hence|say|choose|select|pick|go with|go for|must be|option|choice|"
    r"(?:i['’]d|i would) answer|ist|lautet|est|es|è)|but|[:：是→])[ \t]*,?|(?:^|[.!?;,\n])\s{0,4}(?=\W{0,4}\())"
    rf"{_LETTER}(?:[^\w\n]{{1,4}}(?P<after>true|false))?\W*\Z",
    re.IGNORECASE,
)
_ANSWER_IS = re.compile(rf"\b(?:answer|option|choice)(?: is| is therefore| is thus)[:]?{_LETTER}", re.IGNORECASE)
_IS_RIGHT = re.compile(
    r"(?:\((?P<letter>[AB])\)|(?:option|choice) (?P<bare>[AB]))(?: (?:true|false))? is "
    r"(?:(?:the )?(?:correct|right)(?: (?:answer|choice|option|one))?|the answer)(?=\W{0,8}(?:\n|\Z)|[.,;!])",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"[^\w(]{0,8}(?i:(?:final )?answer[:：][^\w(]{0,4})?(?:\((?P<letter>[AB])\)?|(?P<bare>[AB])(?:[).:]|(?=\s[-–—]\s)))"
    r"(?P<apart>[.:]?\s*(?:\n|[-–—:]\s)|(?<=\))[.:]\s|[*_ \t]+(?=(?i:true|false)\b)"
    r"|(?<=[.:])\s(?=\S+(?:\s+\S+){3}|(?i:correct|incorrect|right|wrong)\b)|(?<=\))\s(?=\w+\W*\Z)|\W*\Z)"
    r"(?P<remark>.*)",
    re.DOTALL,
)
"""A reply that begins with the letter and goes on with a remark."""
_REVISES = re.compile(
    r"\b(?:wait|actually|on (?:reflection|second thoughts?)|rather|instead|however|correction|let me|"
    r"but|both|neither|depends)\b",
    re.IGNORECASE,
)


def read_true(text: str) -> tuple[Guess, ...]:
    r"""Read whether a reply calls the possible answer true: ``(A)``, ``True``, or both.

    The letter that a reply begins with counts, whatever a remark behind it names; so do a last sentence that concludes
    with a letter, and a sentence that is a verdict: 'The possible answer is correct'.

    Returns
    -------
    tuple of Guess
        One with the confidence 1 (true) or 0 (false), or none: where letter and word disagree, or both are named.

    Examples
    --------
    >>> read_true("(A) True")[0].said.certain, read_true("The possible answer is: (B)")[0].said.certain
    (1.0, 0.0)
    >>> read_true("(A) - the novel")[0].said.certain, read_true("It is not true.")[0].said.certain
    (1.0, 0.0)
    >>> read_true("(A) False"), read_true("True or False")
    ((), ())
    """
    told = _ELSEWHERE.sub(_in_english, plain_text(text).translate(_WIDE))
    told = _OPTIONS.sub("", told)
    return first_asked(re.sub(r"\$*\\boxed\{(?:\\text\{)?([^{}]*)\}*\$*", r"\1", told), _truth)


_OPTIONS = re.compile(
    r"\A\s*(?:is the possible answer:\s*)?\(?A\) True[\s,;]*\(?B\) False\s*\n\s*(?=\S)", re.IGNORECASE
)
"""The two options as the prompt writes them, in front of a reply."""
_ELSEWHERE = re.compile(
    r"(?P<letter>\([AB]\)|\b[AB][).:])(?P<apart>\s*)(?:(?P<true>vrai|vero|verdade?i?ro|wahr|richtig|correcto|正确|真|正しい)"
    r"|(?P<false>faux|fals[oa]|falsch|incorrecto|错误|假|間違い))(?!\w)",
    re.IGNORECASE,
)


def _in_english(found: re.Match[str]) -> str:
    """Write the word behind a letter in English."""
    return f"{found['letter']}{found['apart']}{'True' if found['true'] else 'False'}"


_WIDE = str.maketrans("（）：．", "():.")


def _truth(plain: str) -> tuple[Guess, ...]:
    """Read one reply of a plain text."""
    return one_guess(settled(plain, _truths))


def _truths(plain: str) -> list[Stated]:
    """Read what a text says of the possible answer; none where it names both and nothing tells which."""
    if plain.endswith("?") and "\n" not in plain:
        return []
    values = labelled_values(plain, _ANSWER, _choice)
    if not values:
        lines = [line for line in plain.split("\n") if line.strip()]
        values = [stated for stated in map(_choice, lines[:1] + lines[-1:]) if stated is not UNREAD]
    found = one_guess(values)
    if values and UNREAD not in values and not found:
        return values
    other = r"\(b\)|\bfalse\b" if found and found[0].said == _YES else r"\(a\)|\btrue\b"
    if found and not re.search(other, plain, re.IGNORECASE):
        told = [found[0].said]
    elif found and any(_said(verdict) != found[0].said for verdict in _VERDICT.finditer(plain)):
        return []
    else:
        others = (_remarked,) if _REMARK.match(plain) else (_concluded, _verdict)
        told = [stated for stated in (read(plain) for read in others) if stated != UNREAD]
    return [stated for stated in told if not _contradicted(plain, stated)]


def _contradicted(plain: str, stated: Stated) -> bool:
    """Whether a reply says anything else of the answer anywhere, or begins with the other of yes and no."""
    begins = _YES_OR_NO.match(plain)
    says = [_said(found) for found in (*_VERDICT.finditer(plain), *_CLAIMED.finditer(plain))]
    return any(said != stated for said in says + ([_TRUE[begins["yes"].lower()]] if begins else []))


def _remarked(plain: str) -> Stated:
    """Read the letter that a reply begins with, if the remark behind it takes nothing back and concludes no other."""
    found = _REMARK.match(plain)
    if found is None:
        return UNREAD
    remark, letter = found["remark"], (found["letter"] or found["bare"]).lower()
    told, begins = _TRUE[letter], re.sub(r"^[\W_]+", "", remark)
    if _AGAINST[letter].match(begins) or _UNDONE.match(begins) or _REVISES.match(begins) or CORRECTS.search(remark):
        return UNREAD
    named = [place.start() for place in re.finditer(r"\(b\)" if letter == "a" else r"\(a\)", remark, re.IGNORECASE)]
    if named and (
        "\n" not in found["apart"] + remark[: named[0]] or not all(_is_dismissed(remark, place) for place in named)
    ):
        return UNREAD
    return told if all(_said(verdict) == told for verdict in _VERDICT.finditer(remark)) else UNREAD


def _is_dismissed(text: str, place: int) -> bool:
    """Whether the letter at a place begins a sentence that says why it is not the one."""
    before = re.sub(r"\b(?:explanation|reason|note)\b", "", sentence_before(text, place), flags=re.IGNORECASE)
    return not re.search(r"\w", before) and bool(_DISMISSED.match(text[place:]))


_UNDONE = re.compile(r"(?:true|false)\s+(?:is|would|or)\b", re.IGNORECASE)
_DISMISSED = re.compile(r"\([AB]\)\s+(?:would|could|is (?:wrong|incorrect|not))\b", re.IGNORECASE)


_AGAINST: Mapping[str, re.Pattern[str]] = {
    "a": re.compile(r"(?:false|wrong|incorrect|not|no|untrue|fals[oa]|faux|falsch|or|and|b|is|would)\b", re.IGNORECASE),
    "b": re.compile(
        r"(?:true|correct|right|yes|vrai|verdade?i?ro|vero|wahr|richtig|or|and|a|is|would)\b", re.IGNORECASE
    ),
}
"""Words that, right behind a letter, make something else of it."""


def _concluded(plain: str) -> Stated:
    """Read the letter that the answer is said to be, or that the last sentence concludes with if no other is named."""
    named = {letter.lower() for letter in re.findall(r"\(([ABab])\)", plain)}
    named_so = [*_ANSWER_IS.finditer(plain), *_IS_RIGHT.finditer(plain)]
    said = [found for found in named_so if not _is_negated(sentence_before(plain, found.start()))]
    letters = {(found["letter"] or found["bare"]).lower() for found in said}
    found = _CONCLUDES.search(plain)
    if found and found["bare"] and not _ASKED_FOR.search(sentence_before(plain, found.end())):
        found = None
    begin = max(found.start("letter"), found.start("bare")) if found else 0
    if not letters and found and len(named) <= 1 and not _is_negated(sentence_before(plain, begin)):
        letters = {(found["letter"] or found["bare"]).lower()} | named
    rest = plain[said[-1].end() :] if said else ""
    if (
        len(letters) != 1
        or _REVISES.search(rest)
        or re.match(r"[^.!?\n]*\b(?:if|only|unless|when)\b", rest)
        or re.search(r"\([ABab]\)", rest)
    ):
        return UNREAD
    letter = letters.pop()
    word = re.match(r"\W{0,4}(true|false)\b", rest, re.IGNORECASE) if said else found and found["after"]
    told = {_TRUE[letter], *([_TRUE[(word if isinstance(word, str) else word[1]).lower()]] if word else [])}
    return UNREAD if len(told) > 1 else _TRUE[letter]


def _is_negated(before: str) -> bool:
    """Whether what stands before a letter in its sentence takes it back; what leads to a 'so' does not."""
    return bool(_IF.search(before) or _NEGATED.search(re.split(r"\b(?:so|hence|thus|therefore|but)\b|→", before)[-1]))


_IF = re.compile(r"\b(?:if|whether)\b", re.IGNORECASE)
_ASKED_FOR = re.compile(r"\b(?:answer|option|choice)\b", re.IGNORECASE)


def _verdict(plain: str) -> Stated:
    """Read the one verdict of a reply that names no letter."""
    first = _VERDICT.match(plain)
    if first is None or re.search(r"\([ABab]\)", plain) or _REVISES.search(plain):
        return UNREAD
    told = {_said(found) for found in _VERDICT.finditer(plain)}
    if first["yes"]:
        told.add(_TRUE[first["yes"].lower()])
    return told.pop() if len(told) == 1 else UNREAD


def _said(found: re.Match[str]) -> Stated:
    """Give what a verdict says."""
    is_true = (found["verdict"].lower() in {"true", "correct", "right"}) != bool(found["not"] or found["isnt"])
    return _YES if is_true else _NO


def _choice(value: str) -> Stated:
    """Read the choice with which a text begins."""
    found = _CHOICE.match(value)
    if found is None or re.match(r"(?!\s*(?:[-–—]\s|because\b|since\b))\s*\w", value[found.end() :]):
        return UNREAD
    if found["letter"] in {"a", "b"} and value.strip(" \t.") != found["letter"]:  # a word, not a choice
        return UNREAD
    letter, word = (found["letter"] or "").strip("().:").lower(), (found["word"] or found["after"] or "").lower()
    said = {_TRUE[each] for each in (letter, word, (found["yes"] or "").lower()) if each}
    return said.pop() if len(said) == 1 else UNREAD


_YES, _NO = Stated(1.0, 1.0), Stated(0.0, 0.0)
_TRUE = {"a": _YES, "true": _YES, "yes": _YES, "b": _NO, "false": _NO, "no": _NO}
