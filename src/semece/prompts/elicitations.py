"""Elicitations: ways to ask a model how sure it is of an answer it has given, and the readers of its replies.

Each is a pair of texts, for models that chat and for those that continue a text, with a version and a source. A run's
own prompt asks for a confidence with the answer; these ask afterwards, about the answer that was given most often.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from semece.prompts.confidences import UNREAD, Stated, is_of_error, read_stated, without_errors
from semece.prompts.final_message import final_message
from semece.prompts.markup import bare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

VERSION = "elicited-4"
"""The id of what reads these replies: changes whenever a reading may change."""

GUESSES = 4
"""How many guesses ``top-k`` asks for."""

IDEAS = 5
"""How many sampled answers ``p-true`` shows, as Kadavath et al. did."""

SCALES: Mapping[str, Mapping[str, float]] = {
    "linguistic": {"lowest": 0.1, "low": 0.3, "medium": 0.5, "high": 0.7, "highest": 0.9},
    "linguistic-mielke": {"do not know": 1 / 6, "uncertain": 0.5, "certain": 5 / 6},
}
"""Scales of words: Lin et al.'s five words and Mielke et al.'s three levels, with the middles of equal bins as values.

What the words mean in numbers is a convention; a recalibration finds it out for one model.
"""


class Guess(NamedTuple):
    """An answer and how likely the reply says it is.

    Parameters
    ----------
    answer : str or None
        None: the answer that was asked about.
    said : Stated
        The confidence, as far as it can be read from this reply alone.
    """

    answer: str | None
    said: Stated


class AskedAnswer(NamedTuple):
    """What an elicitation is about.

    Parameters
    ----------
    question, answer : str
        The question, and the answer the model gave most often.
    ideas : sequence of str
        Answers it gave, in the order in which they were drawn.
    """

    question: str
    answer: str
    ideas: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A way to ask for a confidence.

    Parameters
    ----------
    name : str
        ``linguistic``, ``linguistic-mielke``, ``top-k``, ``two-stage`` or ``p-true``.
    source : str
        Where it comes from.
    read : callable
        From a reply to its guesses; none if it states nothing that can be read with certainty.
    grammar : str
        A GBNF grammar of the reply, for models that continue a text and take one.
    draws : int
        How many replies are drawn for a question if nothing is said.
    about_answer : bool
        Whether it asks about the answer; else it asks the question anew.
    sampled : bool
        Whether the shares of the replies estimate a probability, so that they are drawn at temperature 1.
    """

    name: str
    source: str
    read: Callable[[str], tuple[Guess, ...]] = field(repr=False)
    grammar: str = field(repr=False)
    draws: int = 1
    about_answer: bool = True
    sampled: bool = False

    @property
    def score(self) -> str:
        """The name of its confidence in tables."""
        return self.name.replace("-", "_")

    def text_name(self, style: str) -> str:
        """Name its text, with the version."""
        return f"elicit-{self.name}-{style}-v1"

    def turns(self, asked: AskedAnswer, text: str, *, style: str) -> tuple[tuple[str, str], ...]:
        r"""Put it to a model: roles and contents.

        Parameters
        ----------
        asked : AskedAnswer
            What it is about.
        text : str
            Its text in this style. A line ``---`` parts the turns of a conversation, which a person begins.
        style : {'chat', 'completion'}
            A conversation, or one text to be continued.

        Examples
        --------
        >>> asked = AskedAnswer("Capital of France?", "Paris")
        >>> ELICITATIONS["two-stage"].turns(asked, "Q: {question}\n---\nA: {answer}\n---\nSure?", style="chat")
        (('user', 'Q: Capital of France?'), ('assistant', 'A: Paris'), ('user', 'Sure?'))
        """
        values = {"question": asked.question.strip(), "answer": _on_one_line(asked.answer)}
        values["ideas"] = "\n".join(map(_on_one_line, asked.ideas[:IDEAS]))
        filled = [_filled(part, values) for part in re.split(r"\n---\n", text)]
        roles = ("completion",) if style == "completion" else ("user", "assistant", "user")
        return tuple(zip(roles, filled, strict=False))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a text; one that stands in a value is left alone."""
    return re.sub(r"\{(question|answer|ideas)\}", lambda found: values[found[1]], text)


# -- readers

_LONGEST = 80
"""Characters of a reply that is all statement."""

_BEGINS = (
    r"(?:^|(?<=[.!?;,|])[ \t]+)[^\w\n(]{0,20}(?P<so>(?:so|thus|therefore|hence|overall),?\s+)?"
    r"(?P<put>i(?:['’]d| would| will)? (?:rate|put|state|estimate) )?"
    r"(?:(?:the|my|our|final|overall|estimated|level of)\s+){0,3}"
)
_ABOUT = (
    r"(?:\s+(?:level|score|rating|in\s+(?:my|this|the)\s+answer|that\s+(?:my|this|the)\s+answer\s+is\s+(?:correct|right|true)))?"
    r"(?:\s*\([^()\n]{0,40}\))?"
)
_SAYS = r"(?P<says>(?(put)(?:as|at)(?!\s+(?:least|most|\w+\s+as)\b)|is))\b\s*[:：]?"
_VALUE = rf"[^\w\n(]{{0,6}}?(?:\s*(?:[:：→]+|[-=]>|=)|\s+{_SAYS}|\s+[-–—](?=\s)|\s*$)[ \t]*(?P<value>[^\n]*)"
_TAG = re.compile(
    r"<(?:confidence|probability)>\s*(?P<value>[^<>\n]{1,80})</(?:confidence|probability)>", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-•][ \t]+", re.MULTILINE)
_BRACKETS = re.compile(r"^[ \t]*\(([^()\n]+)\)[ \t]*$", re.MULTILINE)
_TABLE = re.compile(
    r"^[ \t]*\|(?P<heads>[^\n]*\bconfidence\b[^\n]*)\n[ \t]*\|[-:| \t]*-[-:| \t]*\n"
    r"[ \t]*\|(?P<row>[^\n]*)(?=\s*\Z|\n\s*\n)",
    re.IGNORECASE | re.MULTILINE,
)
_QUESTION = re.compile(r"(?<=\n)[ \t]*(?:next |new )?question(?: ?\d{1,4})?[:：]", re.IGNORECASE)
_CORRECTS = re.compile(
    r"(?:^|(?<=[.!?]))[^\w\n]{0,8}(?:hm+\W{1,4}|oh\W{1,4}|no\W{1,4})?"
    r"(?:wait|actually|on (?:second thoughts?|reflection)|correction|"
    r"let me (?:revise|correct|reconsider|change))\b",
    re.IGNORECASE | re.MULTILINE,
)
_CORRECTIONS = 8
"""Words of correction that are tried, from the last."""
_MARKS = re.compile(r"</?(?:b|strong|i|em)>|\*{1,3}|`|(?<![\w\\])_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")


def _statement(words: str) -> re.Pattern[str]:
    return re.compile(f"{_BEGINS}(?:{words}){_ABOUT}{_VALUE}", re.IGNORECASE | re.MULTILINE)


_CONFIDENCE = _statement("confidence|certainty")
_CONFIDENCE_ELSEWHERE = _statement(
    "konfidenz|vertrauen|sicherheit|confiance|confianza|confiança|fiducia|confidenza|vertrouwen|уверенность|置信度|確信度|信頼度|신뢰도"
)
_PROBABILITY = _statement("confidence|certainty|probability|likelihood|p")
_ANSWER = _statement(r"(?:possible|proposed|correct|given)?[ _]?answer")


def _plain(text: str) -> str:
    """Give the final message without the marks of markdown."""
    plain = _BULLET.sub("", _MARKS.sub("", _FENCE.sub("", final_message(text))))
    return re.sub(r"</?answer>", "", _TABLE.sub(_cell, plain), flags=re.IGNORECASE).strip()


def _cell(table: re.Match[str]) -> str:
    """Write a row below the heads of a table as lines with labels."""
    heads, values = ([cell.strip() for cell in table[part].strip("| \t").split("|")] for part in ("heads", "row"))
    if len(heads) != len(values):
        return table[0]
    return "\n".join(f"{head}: {value}" for head, value in zip(heads, values, strict=True))


def _first_asked(text: str, read: Callable[[str], tuple[Guess, ...]]) -> tuple[Guess, ...]:
    """Read what a reply states before it goes on to another question; all of it if it states nothing there."""
    asked = _QUESTION.search(text)
    return (asked and read(text[: asked.start()].strip())) or read(text)


def _settled(text: str, read: Callable[[str], list[Stated]]) -> list[Stated]:
    """Read what stands behind words of correction, if a confidence stands before and behind them; else all."""
    for found in reversed(list(_CORRECTS.finditer(text))[-_CORRECTIONS:]):
        last = read(text[found.end() :])
        if last and read(text[: found.start()]):
            return last
    return read(text)


def _labelled(text: str, statement: re.Pattern[str], read: Callable[[str], Stated]) -> list[Stated]:
    """Read what follows the label of a statement: in its line or, where that is empty, in the next line with a text.

    A sentence in which the label 'is' something that cannot be read is prose.
    """
    stated = [(match["value"], False) for match in _TAG.finditer(text)]
    for match in statement.finditer(text):
        if is_of_error(match[0][: match.start("value") - match.start()]):
            continue
        value = match["value"].strip(" \t\"'{}#")
        following = text[match.end() :].strip().split("\n", 1)[0]
        stated.append((value or following.strip(), bool(match["says"] or match["so"])))
    kept = without_errors([value for value, _ in stated])
    found = [(read(value), prose) for value, prose in stated if value in kept]
    return [value for value, prose in found if not (prose and value == UNREAD)]


def _one(values: Iterable[Stated]) -> tuple[Guess, ...]:
    """Take the one confidence that a reply states; none if it states none, or several that differ."""
    different = list({(value.percent, value.decimal): value for value in values}.values())
    return (Guess(None, different[0]),) if len(different) == 1 and different[0] != UNREAD else ()


_ITS_TRUTH = (
    r"\s(?:that|whether|if)\s(?:it|(?:my|this|the)\sanswer)\sis\s(?:correct|right|true)"
    r"|\s(?:about|of)\s(?:it|(?:my|this|the)\sanswer)"
)
_ENDS = re.compile(
    rf"\s*(?:[.,;(!<|}}\]]|\s[-–—/]\s|\s(?=because\b|since\b|as\b)|(?:{_ITS_TRUTH})(?=\W*$)|$)", re.IGNORECASE
)
_WRAPPED = re.compile(r"\$?\\(?:boxed|text(?:bf|it)?|mathrm)\{([^\\{}\n]*)\}\$?")
_NOT_KNOWN = re.compile(r"\b(?:do[ _-]not|don['’]?t)[ _-]know\b")
_HAS = re.compile(
    r"(?:i have (?P<have>[\w ]+?) confidence (?:in (?:this|my|the) answer\b"
    r"|that (?:it|this|(?:my|this|the) answer) is (?:correct|right|true)(?=\W*$|[.,;])))",
    re.IGNORECASE,
)
_ITS_CONFIDENCE = r"\s+confidence(?: in (?:this|my|the) answer)?(?=\W*$|\s+[-–—]\s|[.,;]\s)"
_FRANKLY = re.compile(r"^\W*(?:honestly|frankly|to be honest),?\s+", re.IGNORECASE)
_TELLS = re.compile(
    r"(?:^|(?<=[.,;:!?…)])[ \t]+)[^\w\n]{0,8}(?:(?:so )?(?:so|overall|thus|therefore):[ \t]*|(?:so,? |overall,? )?"
    r"i(?:['’]d| would|['’]ll| will)(?: have to)? (?:say|go with)[:,]?[ \t]+(?:i(?: am|['’]m) )?)"
    r"(?P<value>[^\w\n]{0,4}\w[\w ]{2,12}?[^\w\n]{0,4})"
    r"(?:[ \t]+(?:here|(?:for|on) this (?:one|answer|question)))?\W*\Z",
    re.IGNORECASE | re.MULTILINE,
)
"""A last clause that tells the word: 'I'd say medium', 'so: high'."""
_LONGEST_TELLING = 400
"""Characters of a reply whose last clause is looked at."""
_LAYERS = 3
_ECHO = re.compile(
    r"(?:one of the (?:five words|three forms) |\b(?:on|of|from) the scale )?"
    r"\(?(?:lowest, low, medium, high, highest|do not know, uncertain, certain)\)?[:,]?(?=[ \t]*[\w*(])",
    re.IGNORECASE,
)
"""The scale as the prompt writes it, in front of what is chosen of it."""
_OTHER_SENSE = re.compile(
    r"\bdo not know (?=(?:which|what|who|whose|whom|when|where|why|how)\b)"
    r"|\b(?:high|low|medium|certain) "
    r"(?!confidence|certainty|probability|level|enough|because|since|that|about|as|and|or|but|to|for|in|on|of|with|by|at|i\b)"
    r"(?=[a-z]{3})"
)
"""Words of a scale that say something else: 'I do not know which', 'high school'."""


def read_words(text: str, scale: str = "linguistic", *, alone: bool = True) -> tuple[Guess, ...]:
    """Read a confidence in the words of a scale.

    Parameters
    ----------
    text : str
        The reply.
    scale : str
        A name of :data:`SCALES`.
    alone : bool
        Whether a reply that is the word alone states it; in a response that gives an answer too, only a labelled line
        does.

    Returns
    -------
    tuple of Guess
        One, or none: a word that is not of the scale, two words, or a negation are not read.

    Examples
    --------
    >>> read_words("Confidence: high")[0].said.certain, read_words("Highest.")[0].said.certain
    (0.7, 0.9)
    >>> read_words("Confidence: medium to high"), read_words("not high")
    ((), ())
    """
    plain = _ECHO.sub("", _BRACKETS.sub(r"\1", _unwrapped(_plain(text))))
    return _first_asked(plain, partial(_words, words=SCALES[scale], alone=alone))


def _words(plain: str, words: Mapping[str, float], *, alone: bool) -> tuple[Guess, ...]:
    """Read a plain text: a labelled word or, if there is none, the word that it is or concludes with."""
    read = partial(_word, words=words)
    values = _settled(plain, partial(_labelled, statement=_CONFIDENCE, read=read))
    values = values or _labelled(plain, _CONFIDENCE_ELSEWHERE, read)
    if not values and alone:
        values = [value for value in (_alone(plain, words),) if value != UNREAD]
    return _one(values)


def _alone(plain: str, words: Mapping[str, float]) -> Stated:
    """Read a reply without a label: one word, 'I have low confidence', or a last clause that tells the word."""
    if "\n" not in plain and len(plain) <= _LONGEST:
        has = _HAS.match(plain)
        told = has["have"] if has else re.sub(_ITS_CONFIDENCE, "", _FRANKLY.sub("", plain), flags=re.IGNORECASE)
        if (stated := _word(told, words)) != UNREAD:
            return stated
    found = _TELLS.search(plain) if len(plain) <= _LONGEST_TELLING else None
    if found is None or any(re.search(rf"\b{word}\b", plain[: found.start()], re.IGNORECASE) for word in words):
        return UNREAD
    return _word(found["value"], words)


def _unwrapped(text: str) -> str:
    """Take off LaTeX around words, layer by layer."""
    for _ in range(_LAYERS):
        text = _WRAPPED.sub(r"\1", text)
    return text


def _word(value: str, words: Mapping[str, float]) -> Stated:
    """Read one word of a scale; what follows it must be apart from it and name no other."""
    told = _NOT_KNOWN.sub("do not know", value.strip(" \t\"'“”[](){}<>").lower())
    told = re.sub(r"^i(?: am|['’]m)?\s+", "", told)
    ends = _ENDS.search(told)
    word, rest = (told[: ends.start()], told[ends.end() :]) if ends else (told, "")
    number = words.get(re.sub(r"[^\w?]+$", "", word))
    rest = _OTHER_SENSE.sub(" ", rest)
    if number is None or any(re.search(rf"\b{other}\b", rest) for other in words):
        return UNREAD
    return Stated(number, number)


def read_probability(text: str) -> tuple[Guess, ...]:
    r"""Read a probability that is all that a reply states, or that it states in a labelled line.

    Returns
    -------
    tuple of Guess
        One, or none; a bare ``1`` is read as its run says (:class:`semece.prompts.Scale`).

    Examples
    --------
    >>> read_probability("Probability: 0.85")[0].said.certain, read_probability("I am 85% sure.")[0].said.certain
    (0.85, 0.85)
    >>> read_probability("Confidence: 80-90%"), read_probability("In 1985 he was 30.")
    ((), ())
    """
    return _first_asked(_plain(text).replace("\\%", "%"), _probability)


def _probability(plain: str) -> tuple[Guess, ...]:
    boxed = re.fullmatch(r"\$*\\boxed\{([^{}]*)\}\$*\.?", plain)
    values = _settled(plain, partial(_labelled, statement=_PROBABILITY, read=_behind_label))
    if not values:
        lines = (boxed[1] if boxed else plain).split("\n")
        bare_ones = [found["value"] for found in map(_ALONE.fullmatch, lines) if found and not is_of_error(found[0])]
        whole = len(lines) == 1 and len(lines[0]) <= _LONGEST and not bare_ones
        values = [_as_stated(value) for value in (lines if whole else bare_ones) if value]
    return _one(values)


_ALONE = re.compile(
    r"(?:(?!\W*(?:answer|guess|final)\b)[^\n]{1,80}[;,:])?[^\w.;-]*(?P<value>(?:0?\.\d{1,20}|[01]\.0|\d{1,3}\s?%))\W*",
    re.IGNORECASE,
)
"""A line that is a decimal or a percentage alone, or ends in one after an answer and a comma, colon or semicolon."""


_ASIDE = re.compile(r"(?P<value>[^\w\s]{0,3}\d[\d.,]*\s?(?:%|percent\b)?)\s*\((?P<aside>[^()\n]*)\)\W*", re.IGNORECASE)
_ELSE = re.compile(
    r"\W*(?:(?:there(?:['’]s| is)|with|i see|maybe|perhaps|about|an?|the|"
    r"remaining|other|small|roughly|around|some|only)\s+)*"
    r"\d[\d.,]*\s?(?:%|percent)\s+(?:\w+\s+)?(?:chance|probability|likelihood|possibility|risk)\b",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\W*N\s?%?(?:[,;]?\s*\(?(?:where|with)\s+N)?\s*(?:=|:|\bis\b|\bequals\b)\s*(?P<value>\d[\d.]*)\s?%?\W*",
    re.IGNORECASE,
)
"""The form that the prompt asks for, filled behind it: 'N%, where N is 90'."""


def _behind_label(value: str) -> Stated:
    """Read what stands behind a label: a remark in brackets about the chance of something else leaves it as it is."""
    form, aside = _FORM.fullmatch(value), _ASIDE.fullmatch(value)
    if form:
        return _as_stated(form["value"] + "%" * ("%" in value))
    is_else = (
        aside is not None and _ELSE.match(aside["aside"]) and not re.search(r"\b(?:correct|right)\b", aside["aside"])
    )
    return _as_stated(aside["value"] if aside and is_else else value)


def _as_stated(value: str) -> Stated:
    return read_stated(value.strip(" \t\"'}"))


_CHOICE = re.compile(
    r"[^\w(]{0,8}(?:it(?: is|['’]s)|i (?:would )?(?:choose|pick|say)(?: option)?|option|choice)?[^\w(]{0,4}"
    r"(?:(?P<letter>\([ABab]\)|(?:[AB](?=\s*(?:[).:\]}\"'<]|[-–—]\s|$)))[).:]?)[^\w(]{0,4}(?P<after>true\b|false\b)?"
    r"|(?P<word>true|false)\b)",
    re.IGNORECASE,
)
_THE_ANSWER = r"(?:it|that|this|(?:(?:the|my|this)\s+)?(?:(?:possible|proposed|given)\s+)?(?:answer|statement))"
_VERDICT = re.compile(
    rf"(?:^\W*(?:(?P<yes>yes|no)\b[,.!]?\s*)?|(?<=[.!?\n])\s*)(?:{_THE_ANSWER}(?:\s+is|['’]s)\s+(?P<not>not\s+)?)?"
    r"(?P<verdict>true|false|correct|incorrect|right|wrong)\b(?=\s*(?:[.!\n]|$)|\W*$|\s+(?:because|since)\b)",
    re.IGNORECASE,
)
"""A sentence that is a verdict: 'The possible answer is incorrect', 'It is not true', 'Wrong'."""
_NEGATED = re.compile(
    r"n['’]t\b|\b(?:not|never|cannot|if|whether|neither|nor|no|should|would|could|may|might|maybe|perhaps|either|or|"
    r"options|candidates|choices|between)\b",
    re.IGNORECASE,
)
_LETTER = r"[^\w\n(]{0,6}(?:\((?P<letter>[ABab])\)|(?P<bare>(?-i:[AB]))(?![\w'’]))"
_CONCLUDES = re.compile(
    r"(?:(?:\b(?:is|it['’]s|therefore|thus|so|choose|select|pick|go with|option|choice|ist|est|es|è)|[:：是])[ \t]*)"
    rf"{_LETTER}(?:[^\w\n]{{1,4}}(?P<after>true|false))?\W*\Z",
    re.IGNORECASE,
)
_ANSWER_IS = re.compile(rf"\b(?:answer|option|choice)(?: is| is therefore| is thus)[:]?{_LETTER}", re.IGNORECASE)
_REMARK = re.compile(
    r"[^\w(]{0,8}(?:\((?P<letter>[AB])\)?|(?P<bare>[AB])(?:[).:]|(?=\s[-–—]\s)))"
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
    told = _plain(text).translate(_WIDE)
    return _first_asked(re.sub(r"\\boxed\{(?:\\text\{)?([^{}]*)\}*", r"\1", told), _truth)


_WIDE = str.maketrans("（）：．", "():.")


def _truth(plain: str) -> tuple[Guess, ...]:
    """Read one reply of a plain text."""
    return _one(_settled(plain, _truths))


def _truths(plain: str) -> list[Stated]:
    """Read what a text says of the possible answer; none where it names both and nothing tells which."""
    values = _labelled(plain, _ANSWER, _choice)
    if not values:
        lines = [line for line in plain.split("\n") if line.strip()]
        values = [stated for stated in map(_choice, lines[:1] + lines[-1:]) if stated is not UNREAD]
    found = _one(values)
    if values and UNREAD not in values and not found:
        return values
    other = r"\(b\)|\bfalse\b" if found and found[0].said == _YES else r"\(a\)|\btrue\b"
    if found and any(_said(verdict) != found[0].said for verdict in _VERDICT.finditer(plain)):
        return []
    if found and not re.search(other, plain, re.IGNORECASE):
        return [found[0].said]
    others = (_remarked,) if _REMARK.match(plain) else (_concluded, _verdict)
    return [stated for stated in (read(plain) for read in others) if stated != UNREAD]


def _remarked(plain: str) -> Stated:
    """Read the letter that a reply begins with, if the remark behind it takes nothing back and concludes no other."""
    found = _REMARK.match(plain)
    if found is None:
        return UNREAD
    remark, letter = found["remark"], (found["letter"] or found["bare"]).lower()
    told, begins = _TRUE[letter], re.sub(r"^[\W_]+", "", remark)
    if _AGAINST[letter].match(begins) or _REVISES.match(begins) or _CORRECTS.search(remark):
        return UNREAD
    named = [place.start() for place in re.finditer(r"\(b\)" if letter == "a" else r"\(a\)", remark, re.IGNORECASE)]
    if named and ("\n" not in found["apart"] or not all(_is_dismissed(remark, place) for place in named)):
        return UNREAD
    return told if all(_said(verdict) == told for verdict in _VERDICT.finditer(remark)) else UNREAD


def _is_dismissed(text: str, place: int) -> bool:
    """Whether the letter at a place begins a sentence that says why it is not the one."""
    before = re.sub(r"\b(?:explanation|reason|note)\b", "", _sentence(text, place), flags=re.IGNORECASE)
    return not re.search(r"\w", before) and bool(_DISMISSED.match(text[place:]))


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
    said = [found for found in _ANSWER_IS.finditer(plain) if not _NEGATED.search(_sentence(plain, found.start()))]
    letters = {(found["letter"] or found["bare"]).lower() for found in said}
    found = _CONCLUDES.search(plain)
    if found and found["bare"] and not _ASKED_FOR.search(_sentence(plain, found.end())):
        found = None
    if not letters and found and len(named) <= 1 and not _NEGATED.search(_sentence(plain, found.start())):
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


_ASKED_FOR = re.compile(r"\b(?:answer|option|choice)\b", re.IGNORECASE)


def _sentence(plain: str, place: int) -> str:
    """Give what stands before a place in its sentence."""
    return re.split(r"[.!?]\s|\n", plain[max(place - _LONGEST_TELLING, 0) : place])[-1]


def _verdict(plain: str) -> Stated:
    """Read the one verdict of a reply that names no letter."""
    first = _VERDICT.match(plain)
    if first is None or re.search(r"\([ABab]\)", plain) or _REVISES.search(plain):
        return UNREAD
    told = {_said(found) for found in _VERDICT.finditer(plain)}
    if first["yes"]:
        told.add(_YES if first["yes"].lower() == "yes" else _NO)
    return told.pop() if len(told) == 1 else UNREAD


def _said(found: re.Match[str]) -> Stated:
    """Give what a verdict says."""
    is_true = (found["verdict"].lower() in {"true", "correct", "right"}) != bool(found["not"])
    return _YES if is_true else _NO


def _choice(value: str) -> Stated:
    """Read the choice with which a text begins."""
    found = _CHOICE.match(value)
    if found is None or re.match(r"(?!\s*(?:[-–—]\s|because\b|since\b))\s*\w", value[found.end() :]):
        return UNREAD
    if found["letter"] in {"a", "b"} and value.strip(" \t.") != found["letter"]:  # a word, not a choice
        return UNREAD
    letter, word = (found["letter"] or "").strip("().:").lower(), (found["word"] or found["after"] or "").lower()
    said = {_TRUE[each] for each in (letter, word) if each}
    return said.pop() if len(said) == 1 else UNREAD


_YES, _NO = Stated(1.0, 1.0), Stated(0.0, 0.0)
_TRUE = {"a": _YES, "true": _YES, "b": _NO, "false": _NO}


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
    plain = _plain(text)
    if re.match(r"[^\n:]+\n+P1:", plain):  # goes on where the prompt ends, behind G1:
        plain = f"G1: {plain}"
    pairs = _marked(plain) if re.search(r"\bg(?:uess)?\s?\d[\"']?\s*[:=：]", plain, re.IGNORECASE) else _in_list(plain)
    guesses = [Guess(bare(answer.strip(" \t\n,;|\"'}")), _as_stated(said)) for answer, said in pairs]
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


# -- the table of elicitations


def choices(words: Iterable[str]) -> str:
    """Write words as alternatives of a grammar."""
    return " | ".join(f'"{word}"' for word in words)


_LINE = r"[^\n]{1,40}"
_PERCENT = '"100%" | [1-9]? [0-9] "%"'
_LISTING = " ".join(
    f'{"" if k == 1 else f"""{chr(34)}G{k}: {chr(34)}"""} line "\\nP{k}: " num "\\n"' for k in range(1, GUESSES + 1)
)

ELICITATIONS: Mapping[str, Elicitation] = {
    each.name: each
    for each in (
        Elicitation(
            "linguistic",
            "Lin, Hilton and Evans 2022, Teaching models to express their uncertainty in words",
            partial(read_words, scale="linguistic"),
            f'root ::= " " ({choices(SCALES["linguistic"])})\n',
        ),
        Elicitation(
            "linguistic-mielke",
            "Mielke et al. 2022, Reducing conversational agents' overconfidence through linguistic calibration",
            partial(read_words, scale="linguistic-mielke"),
            f'root ::= " " ({choices(SCALES["linguistic-mielke"])})\n',
        ),
        Elicitation(
            "top-k",
            "Tian et al. 2023, Just ask for calibration; Xiong et al. 2024, Can LLMs express their uncertainty?",
            read_guesses,
            f'root ::= " " {_LISTING}\nline ::= {_LINE}\nnum ::= {_PERCENT}\n',
            about_answer=False,
        ),
        Elicitation(
            "two-stage",
            "Tian et al. 2023, Just ask for calibration (2S); Xiong et al. 2024, Can LLMs express their uncertainty?",
            read_probability,
            f'root ::= " " ({_PERCENT})\n',
        ),
        Elicitation(
            "p-true",
            "Kadavath et al. 2022, Language models (mostly) know what they know",
            read_true,
            'root ::= "A)" | "B)"\n',
            draws=10,
            sampled=True,
        ),
    )
}
"""By name. Adding an elicitation is adding a row and its two texts."""
