"""Whether an answer says what a reference says."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from semece.judges.dates import Date, contains
from semece.judges.names import alike, same_given_name, same_root
from semece.judges.phrases import core, find, is_list, is_sentence, opposed, related, same_words, specifies, whole
from semece.judges.quantities import Quantity
from semece.judges.reading import Reading, reading_of
from semece.judges.values import fits, is_year, same_quantity, within
from semece.judges.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.reading import Item

Value = TypeVar("Value", Date, Quantity)

SHORT = 10
"""A single sentence with at most this many informing words is a short answer, compared as a whole."""

LISTED = 6
"""A list of names has at most this many informing words."""

_YES_OR_NO = {"yes": True, "no": False}

NEAR = 4
"""How many words before the reference a negation is looked for."""


def answers(answer: Reading, references: Sequence[Reading], question: Reading) -> bool:
    """Whether an answer meets one of the references, with every part if it is a list, and misdates none.

    Parameters
    ----------
    answer : Reading
        The answer, read.
    references : sequence of Reading
        What would be right, read; none of them empty.
    question : Reading
        The question, read.

    Examples
    --------
    >>> from semece.judges.reading import read
    >>> question = read("What does a barista make?")
    >>> [answers(read(text), [read("coffee")], question) for text in ("Coffee", "Coffee or tea", "a cup of coffee")]
    [True, False, True]
    """
    if not any(meets(answer, reference, question) for reference in references) or misdates(answer, references):
        return False
    parts = parts_of(answer, question)
    if len(parts) < 2 or any(_holds(answer, reference) for reference in references if is_list(reference)):
        return True
    return all(any(meets(part, reference, question) for reference in references) for part in parts)


def parts_of(answer: Reading, question: Reading) -> list[Reading]:
    """Split a list of names at 'and', 'or' and commas; a name shared by all is given to each ('Ann and Tom Lee').

    A string with more words, with a verb, or with words of the question is no list of names: it stays whole.
    """
    if len(answer.content) > LISTED or answer.keys & question.keys or is_sentence(answer) or not is_list(answer):
        return [answer]
    parts: list[list[Item]] = [[]]
    for item in answer.items:
        if item.text in {"and", "or"} or "," in item.gap or "&" in item.gap:
            parts.append([])
        if item.text not in {"and", "or"}:
            parts[-1].append(item)
    parts = [part for part in parts if part]
    shared = parts[-1][-1:] if len(parts[-1]) == 2 else []
    return [reading_of([*part, *shared] if len(part) == 1 and part[0].named else part) for part in parts]


def _holds(answer: Reading, reference: Reading) -> bool:
    """Whether all words of a reference outside parentheses are in the answer, in any order."""
    return {item.key for item in whole(reference)} <= answer.keys


def misdates(answer: Reading, references: Sequence[Reading]) -> bool:
    """Whether the answer gives a day or a month, references do too, and none agrees.

    'January 26, 1788' does not answer where the references are '18 January 1788' and '1788'.
    """
    for precision in ("day", "month"):
        wanted = [date for reference in references for date in reference.dates if date.precision == precision]
        given = [date for date in answer.dates if date.precision in {"day", "month"}]
        if wanted and given:
            return not any(contains(a, b) or contains(b, a) for a in wanted for b in given)
    return False


def meets(answer: Reading, reference: Reading, question: Reading) -> bool:
    """Whether an answer says what one reference says.

    Parameters
    ----------
    answer, reference, question : Reading
        The three strings, read.

    Examples
    --------
    >>> from semece.judges.reading import read
    >>> question = read("When was it released?")
    >>> [meets(read(text), read("March 5, 2015"), question) for text in ("5 March 2015", "in 2015", "March 6, 2015")]
    [True, True, False]
    """
    wanted = core(reference, question)
    if (yes := _YES_OR_NO.get(wanted[0].text)) is not None and len(wanted) == 1:
        return _affirms(answer, question) is yes
    dates = [item.value for item in wanted if isinstance(item.value, Date)]
    if len(dates) == len(wanted):
        return _dated(answer, dates, question)
    first = wanted[0].value
    if isinstance(first, Quantity) and len(wanted) <= 4 and not any(item.named for item in wanted):
        return _numbered(answer, first, question)
    given = core(answer, question)
    if answer.sentences == 1 and len(given) <= SHORT and _short(answer, given, reference, wanted):
        return True
    if any(item.text == "where" for item in question.items):
        place = _around(reference)
        if _surrounds(given, wanted) or (place and _long(answer, place, question)):
            return True
    return _long(answer, wanted, question)


def _affirms(answer: Reading, question: Reading) -> bool | None:
    """Whether an answer says yes or no: by its first word, or by a first sentence that repeats the question."""
    first = [item for item in answer.items if item.sentence == 0]
    if first[0].text in _YES_OR_NO:
        return _YES_OR_NO[first[0].text]
    asks = bool(question.items) and question.items[0].text in vocabulary("auxiliaries")
    if not asks or 2 * len({item.key for item in first} & question.keys) < len(question.keys):
        return None
    return not any(item.text in vocabulary("negations") for item in first)


def _dated(answer: Reading, wanted: Sequence[Date], question: Reading) -> bool:
    """Whether every date of a reference is met by the first sentence that gives dates.

    A coarser date will do, down to what the question asks for.
    """
    given = _first_values(answer, question, Date)
    if not given:
        return any(is_year(number, date) for number in answer.quantities for date in wanted)
    words = {item.text for item in question.items}
    coarsest = "day" if words & {"date", "day"} else "month" if "month" in words else "year"
    return all(any(fits(date, target, coarsest=coarsest) for date in given) for target in wanted)


def _numbered(answer: Reading, wanted: Quantity, question: Reading) -> bool:
    """Whether a quantity is the wanted one in the first sentence that gives some; those in its unit count first.

    Asked for a numeral, a Roman one must be answered by a Roman one.
    """
    given = _first_values(answer, question, Quantity) or answer.quantities
    if wanted.number.form == "roman" and "numeral" in question.keys:
        given = [quantity for quantity in given if quantity.number.form == "roman"]
    in_unit = [quantity for quantity in given if wanted.unit and quantity.unit == wanted.unit] or given
    if any(same_quantity(quantity, wanted) or within(quantity, wanted) for quantity in in_unit):
        return True
    return any(is_year(wanted, date) for date in answer.dates)


def _first_values(answer: Reading, question: Reading, kind: type[Value]) -> list[Value]:
    """List the values of a kind in the first sentence that gives one which is not in the question."""
    asked = {item.key for item in question.items}
    given = [(item.sentence, item.value) for item in answer.content if item.key not in asked]
    values = [(sentence, value) for sentence, value in given if isinstance(value, kind)]
    return [value for sentence, value in values if sentence == values[0][0]]


def _short(answer: Reading, given: Sequence[Item], reference: Reading, wanted: Sequence[Item]) -> bool:
    if answer.negated != reference.negated or opposed(given, wanted):
        return False
    if related(given, wanted) or same_words(whole(answer), whole(reference)):
        return True
    if len(given) <= len(wanted):
        return specifies(wanted, given, reference.items, strict=True)
    return specifies(given, wanted, answer.items, strict=True)


def _surrounds(given: Sequence[Item], wanted: Sequence[Item]) -> bool:
    """Whether a place is the end of a longer place: asked where, 'Italy' does for 'Milan, Italy'."""
    found = find(given, wanted)
    return (
        found is not None and found[1] == len(wanted) and wanted[found[0]].named and bool(wanted[found[0]].gap.strip())
    )


def _around(reference: Reading) -> tuple[Item, ...]:
    """Pick what stands after the last 'in' of a place: 'Orlando' of 'the stadium in Orlando'."""
    places = [place for place, item in enumerate(reference.items) if place and item.text == "in"]
    if not places:
        return ()
    inside = reference.items[places[-1] + 1 :]
    return tuple(inside) if inside and all(item.named for item in inside) else ()


def _long(answer: Reading, wanted: Sequence[Item], question: Reading) -> bool:
    """Whether a sentence of the answer holds the reference and nothing before it denies it."""
    for number in range(answer.sentences):
        sentence = [item for item in answer.content if item.sentence == number]
        place = _place(sentence, wanted)
        if place is not None and not _negated_before(answer, sentence[place]):
            return number == 0 or not _denies(answer, question)
    return False


def _negated_before(answer: Reading, item: Item) -> bool:
    """Whether a negation stands shortly before an item in its sentence."""
    place = next(number for number, other in enumerate(answer.items) if other is item)
    before = answer.items[max(0, place - NEAR) : place]
    return any(other.text in vocabulary("negations") and other.sentence == item.sentence for other in before)


def _denies(answer: Reading, question: Reading) -> bool:
    """Whether the first sentence says that what the question asks for is not so; 'I do not know' says nothing."""
    first = [item for item in answer.items if item.sentence == 0]
    words = {item.text for item in first}
    if not words & vocabulary("negations") or words & {"i", "ai"}:
        return False
    return 2 * len({item.key for item in first} & question.keys) >= len(question.keys)


def _place(sentence: Sequence[Item], wanted: Sequence[Item]) -> int | None:
    """Find the reference in a sentence.

    As a run of words, as the words of an acronym, as a name with other middle names, or scattered: all its words, three
    of four if it has four or more, in any order and form.
    """
    found = find(wanted, sentence)
    if found is not None:
        place = found[0]
        return None if place and sentence[place - 1].text in vocabulary("modifiers") else place
    if len(wanted) == 1:
        return _spelled_out(sentence, wanted[0])
    named = _named(sentence, wanted)
    return _scattered(sentence, wanted) if named is None else named


def _scattered(sentence: Sequence[Item], wanted: Sequence[Item]) -> int | None:
    if any(item.value is not None for item in wanted):
        return None
    places = [next((n for n, item in enumerate(sentence) if same_root(item.key, word.key)), None) for word in wanted]
    found = [place for place in places if place is not None]
    return min(found) if 4 * len(found) >= 3 * len(wanted) else None


def _spelled_out(sentence: Sequence[Item], wanted: Item) -> int | None:
    if wanted.value is not None or not wanted.form.isupper() or not 3 <= len(wanted.text) <= 6:
        return None
    place = "".join(item.text[0] for item in sentence).find(wanted.text)
    return place if place >= 0 else None


def _named(sentence: Sequence[Item], wanted: Sequence[Item]) -> int | None:
    """Find a family name up to three words after a given name of the same person."""
    if not all(item.named for item in wanted):
        return None
    for place, item in enumerate(sentence):
        start = place
        while start and place - start < 3 and not sentence[start].gap.strip(" .-\"'"):
            start -= 1
            if same_given_name(sentence[start].text, wanted[0].text) and alike(item, wanted[-1]):
                return place
    return None
