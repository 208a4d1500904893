"""A judge of some forty lines, beside which the rules must show what the other four thousand are for."""

import re
import unicodedata

_NUMBERS = dict(
    zip(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        range(13),
        strict=True,
    )
)
_EMPTY = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "at",
        "by",
        "to",
        "for",
        "is",
        "was",
        "are",
        "were",
        "it",
        "its",
        "he",
        "she",
        "they",
        "that",
        "this",
        "and",
    ]
)
_NOT = frozenset({"not", "no", "never", "except", "neither", "nor"})
NEAR, SHORT = 3, 6


def words(text: str) -> list[str]:
    """Letters and digits without accents, case, plural endings and small words; numbers in digits."""
    plain = unicodedata.normalize("NFKD", text.casefold()).replace("n't", " not")
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", "".join(c for c in plain if not unicodedata.combining(c)))
    plain = re.sub(r"(?<=[a-z]{3})\d{1,2}\b", "", plain.replace("'s", ""))  # footnotes
    found = [str(_NUMBERS.get(word, word)) for word in re.findall(r"[^\W_]+", plain)]
    singular = [re.sub(r"(?<=[^su\d]{3})s$", "", word) for word in found]
    return [word for word in singular if word not in _EMPTY] or singular


def place_of(short: list[str], long: list[str]) -> int:
    """Where one list of words stands in another as a run; -1 if nowhere."""
    size = len(short)
    return next((n for n in range(len(long) - size + 1) if long[n : n + size] == short), -1)


def says(answer: str, reference: str) -> bool:
    """Whether an answer holds a reference that it does not deny, or a short one is the end of a reference."""
    given, wanted = words(answer), words(reference)
    if not given or not wanted or (len(given) <= SHORT and "or" in given and "or" not in wanted):
        return False
    place = place_of(wanted, given)
    if place >= 0:
        return _NOT.isdisjoint(given[max(0, place - NEAR) : place]) or not _NOT.isdisjoint(wanted)
    if sorted(given) == sorted(wanted):
        return True
    numbers = {word for word in wanted if word.isdecimal()}
    return wanted[-len(given) :] == given and not given[0].isdecimal() and numbers <= set(given)


def grade(answer: str, references: list[str]) -> bool:
    """Whether an answer says what one of the references says."""
    return any(says(answer, reference) for reference in references)
