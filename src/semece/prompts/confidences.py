"""Confidences as models state them, and what the whole run says about those that are ambiguous alone."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from semece.prompts.markup import unwrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LONGEST = 200
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A stated confidence.

    Parameters
    ----------
    percent, decimal : float or None
        What it is, in [0, 1], in a run whose confidences are percents, and in one whose are decimals up to 1. None
        where it cannot be read. They differ for a bare ``1`` and for ``0.95%``.
    scale : {'percent', 'decimal', ''}
        What it says about its run: that confidences are percents, that they are decimals, or nothing.
    """

    percent: float | None
    decimal: float | None
    scale: Literal["percent", "decimal", ""] = ""

    @property
    def certain(self) -> float | None:
        """What it is whatever the run; None if that depends on the run."""
        return self.percent if self.percent == self.decimal else None


UNREAD = Stated(None, None)


class Scale(NamedTuple):
    """How many stated confidences of a run are percents, and how many are decimals up to 1."""

    percents: int = 0
    decimals: int = 0

    @classmethod
    def of(cls, texts: Iterable[str]) -> Scale:
        """Count the confidences of a run.

        Examples
        --------
        >>> Scale.of(["90%", "0.9", "1", "80"])
        Scale(percents=2, decimals=1)
        """
        return cls.counted(read_stated(text) for text in texts if text)

    @classmethod
    def counted(cls, stated: Iterable[Stated]) -> Scale:
        """Count confidences that are read."""
        found = [each.scale for each in stated]
        return cls(found.count("percent"), found.count("decimal"))

    def read(self, text: str) -> float | None:
        """Read a stated confidence as one of this run; None if even the run does not decide it.

        The run decides if at most a tenth of what it states is of the other kind.

        Examples
        --------
        >>> Scale(percents=0, decimals=7).read("1"), Scale(percents=7).read("1"), Scale(7, 7).read("1")
        (1.0, 0.01, None)
        """
        return self.decide(read_stated(text))

    def decide(self, stated: Stated) -> float | None:
        """Give the value of a confidence that was read as far as it can be alone."""
        if stated.percent == stated.decimal:
            return stated.percent
        if 9 * self.decimals < self.percents:
            return stated.percent
        return stated.decimal if 9 * self.percents < self.decimals else None


_NUMBER = re.compile(
    r"(?P<sign>[-−–+]\s?)?(?P<number>\d+(?:\.\d+|,\d{1,2}(?!\d))?(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)"
    r"(?:\s*(?P<percent>[%٪]|per ?cent\b|pct\b|percentage points?\b)"
    r"|\s*(?:/|⁄|(?:out )?of)\s*(?P<whole>\d+(?:\.\d+)?)(?P<wholes>\s*[%٪])?)?",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"[<>≤≥+±]|\b(?:at (?:least|most)|(?:more|less|greater|higher|lower|fewer) than"
    r"|or (?:more|less|higher|lower|above|below)|above|below|over|under|up to|between|minimum|maximum|not|n't|no"
    r"|nearly|almost|to|or)\b",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(r"\b(approx|ca)\.(?=\s)", re.IGNORECASE)
_ODDS = re.compile(r"\d\s?:\s?\d")
_FOLLOWING = re.compile(
    r"\s*(?:(?:confident|confidence|certain|certainty|sure|likely|likelihood|probability|chance|that|based|because|since|"
    r"given|as|for|in|segur[oa]|sicher|sûre?|sicur[oa])\b.*|of (?:certainty|confidence|probability)\b.*|[^\w\s%/+].*)?",
    re.IGNORECASE | re.DOTALL,
)
_REASON = re.compile(r"[.;!](?=\s)|\n|,?\s\b(?:because|since|given|based|as)\b|\s[-–—]\s(?!\d)")
_ERROR = re.compile(
    r"\b(?:errors?|err|wrong(?:ly)?|incorrect(?:ly|ness)?|mistak\w+|inaccura\w+|false(?:ly|hood)?|untrue|unlikely|improbable|"
    r"uncertain(?:ty)?|unsure|doubt\w*|risk|fail\w*)\b|(?:n['’]t|\bnot)\s+(?:\w+\s+)?(?:correct|right|true|accurate)\b",
    re.IGNORECASE,
)
"""Words of being wrong: a number beside one is not how sure somebody is to be right."""
_CHANCE = re.compile(r"\b(?:chances?|probability|possibility|likelihood|odds|likely)\b", re.IGNORECASE)
_OF_ERROR = re.compile(
    r"[^\w.;!?]*(?:(?:(?:an?|the|its)\s+)?(?:chance|probability|possibility|likelihood|odds|of|for|that|being|to)\b[^.;!?]{0,40}?)?"
    rf"(?:{_ERROR.pattern})",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(r"[,:(\[]|\s[-–—]\s|\b(?:because|since|as|given|based)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"(?:n['’]t|\b(?:cannot|never|hardly|far from|short of|unable|neither|nor|without|if|unless|nothing|nobody|wish))\b"
    r"(?:(?!\bbut\b)[^,;:])*\Z",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"\W*(?:certain(?:ty)?|sure|confident|confidence)\b[^,;:]{0,20}?(?:n['’]t|\bcannot|\bnever|\bimpossible|\bunattainable)\b",
    re.IGNORECASE,
)
_QUOTES = " \t\r\n\"'“”‘’«»[](){}|~≈≃"


@lru_cache(maxsize=4096)
def read_stated(text: str) -> Stated:
    r"""Read a stated confidence.

    ``90%``, ``90 percent``; a decimal up to 1 as it is; a number above 10 and up to 100 is a percent; ``95/100`` and
    ``8 out of 10`` are what they say; ``~90%``, ``9e-1``, numbers in quotes or brackets. A range, a bound, two
    different numbers and words are not read; nor is how likely an error is, nor a certainty that is denied. Nothing is
    clamped. ``50/50``, ``40/60`` and ``50:50`` are odds.

    Examples
    --------
    >>> [read_stated(text).certain for text in ("90%", "0.9", "95/100", "8 out of 10", "~90%", "[90]", "100.0")]
    [0.9, 0.9, 0.95, 0.8, 0.9, 0.9, 1.0]
    >>> [read_stated(text).certain for text in ("1", "7", "0.95%", "150%", "80-90%", "50/50", ">90%")]
    [None, None, None, None, None, None, None]
    >>> [read_stated(text).certain for text in ("10% chance of being wrong", "I can't be 100% certain")]
    [None, None]
    """
    plain = _ABBREVIATED.sub(r"\1", _unquoted(text[:_LONGEST]))
    told, *reason = _REASON.split(plain, maxsplit=1)
    numbers = list(_NUMBER.finditer(told))
    if not numbers or _ODDS.search(told) or _BOUND.search(_NUMBER.sub("", told)) or not _is_plain(told, numbers):
        return UNREAD
    if any(found["percent"] or _one(found).scale == "decimal" for found in _NUMBER.finditer("".join(reason))):
        return UNREAD
    before, after = plain[: numbers[0].start()], plain[numbers[-1].end() :]
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after) or is_of_error(before, after):
        return UNREAD
    values = [_one(found) for found in numbers]
    return values[0] if len({(one.percent, one.decimal) for one in values}) == 1 else UNREAD


def is_of_error(before: str, after: str = "") -> bool:
    """Whether what stands before and after a number makes it the chance of an error.

    Words of being wrong count in the clause of the number; in the whole sentence if it speaks of a chance; and where a
    bracket or a dash adds no more than them.

    Examples
    --------
    >>> is_of_error("Probability of error: "), is_of_error("", " chance that, as a rule, I am wrong")
    (True, True)
    >>> is_of_error("", ", though I may be wrong"), is_of_error("I may be wrong, but I would say ")
    (False, False)
    """
    sentence = re.split(r"[.;!?](?=\s|$)|\n", after, maxsplit=1)[0]
    behind = sentence if _CHANCE.match(sentence.strip()) else _CLAUSE_ENDS.split(sentence, maxsplit=1)[0]
    ahead = before if _CHANCE.search(before) else re.split(r"[,;]|\bbut\b", before)[-1]
    return any(found is not None for found in (_ERROR.search(behind), _ERROR.search(ahead), _OF_ERROR.match(after)))


def without_errors(texts: Sequence[str]) -> Sequence[str]:
    """Leave out the texts that say how likely an error is, if there are others.

    Examples
    --------
    >>> without_errors(["10% chance of being wrong", "90%"]), without_errors(["5% error"])
    (['90%'], ['5% error'])
    """
    parted = [(text, _NUMBER.search(text)) for text in texts]
    return [t for t, found in parted if not (found and is_of_error(t[: found.start()], t[found.end() :]))] or texts


def _unquoted(text: str) -> str:
    """Take off markdown, quotes and brackets."""
    plain = unwrap(unicodedata.normalize("NFKC", text.replace("\\%", "%")))
    plain = plain.replace("**", "").replace("__", "").replace("$", "").strip(_QUOTES).rstrip(".")
    return plain[1:-1] if plain.startswith("<") and plain.endswith(">") else plain


def _is_plain(told: str, numbers: list[re.Match[str]]) -> bool:
    """Whether what stands around the numbers leaves no doubt that they are the confidence."""
    before, after = told[: numbers[0].start()], told[numbers[-1].end() :]
    signed = any(found["percent"] or found["whole"] for found in numbers)
    if before.strip(_QUOTES) and not (signed or before.strip().lower() in APPROXIMATELY):
        return False
    return (
        len(before) <= 60 and not before[-1:].isalnum() and _FOLLOWING.fullmatch(after.lstrip("*_`\"')]}>")) is not None
    )


APPROXIMATELY = frozenset(
    {"about", "around", "approximately", "approx.", "approx", "roughly", "circa", "ca.", "ca", "c."}
)
"""Words before a number that leave it as it is."""


def _one(found: re.Match[str]) -> Stated:
    """Read one number."""
    number = float(found["number"].replace(",", "."))
    if found["sign"] or number == float("inf"):
        return UNREAD
    if found["percent"]:
        return _percent(number)
    if found["whole"]:
        return _share(number, float(found["whole"]))
    return _small(number, is_integer=found["number"].isdecimal()) if number <= 10 else _large(number)


def _large(number: float) -> Stated:
    """Read a bare number above 10: a percent."""
    return Stated(number / 100, number / 100, "percent") if number <= 100 else UNREAD


def _share(number: float, whole: float) -> Stated:
    """Read '8 out of 10'; two parts that add up to 100, as in '50/50', are odds and no share."""
    odds = number > 0 and number + whole == 100
    value = number / whole if whole >= 1 and number <= whole and not odds else None
    return Stated(value, value)


def _small(number: float, *, is_integer: bool) -> Stated:
    """Read a bare number up to 10: a decimal up to 1 is one; an integer is a percent, or 1 is certainty."""
    if number == 0:
        return Stated(0.0, 0.0)
    if is_integer:
        return Stated(number / 100, 1.0 if number == 1 else None)
    return Stated(number, number, "decimal") if number <= 1 else UNREAD


def _percent(number: float) -> Stated:
    """Read a number with a percent sign; one below 1 may be a decimal with a sign too many."""
    if number > 100:
        return UNREAD
    if 0 < number < 1:
        return Stated(number / 100, number)
    return Stated(number / 100, number / 100, "percent" if number > 1 else "")


def read_confidence(text: str) -> float | None:
    r"""Read a stated confidence that is certain whatever the rest of its run says; see :func:`read_stated`.

    Returns
    -------
    float or None
        In [0, 1].

    Examples
    --------
    >>> [read_confidence(t) for t in ("90%", "0.9", "90", r"**90\%**", "0", "1")]
    [0.9, 0.9, 0.9, 0.9, 0.0, None]
    """
    return read_stated(text).certain
