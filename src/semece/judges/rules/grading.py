"""Whether an answer says what a reference says."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from semece.judges.rules.english.clauses import denied, says_yes
from semece.judges.rules.english.names import alike, same_given_name, same_person, same_root
from semece.judges.rules.english.phrases import (
    ECHO,
    NAMING,
    asks_work,
    core,
    enumerated,
    find,
    goes_on,
    is_list,
    is_sentence,
    list_parts,
    opposed,
    related,
    same_words,
    specifies,
    whole,
)
from semece.judges.rules.english.regimens import clash, is_dose, regimen
from semece.judges.rules.seen import seen_of
from semece.judges.rules.values.dates import Date, contains
from semece.judges.rules.values.quantities import Quantity
from semece.judges.rules.values.same_value import answers_quantity, fits, is_year, measures
from semece.judges.rules.words import verb, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.items import Item, Seen
    from semece.judges.rules.values.units import Unit

Value = TypeVar("Value", Date, Quantity)

SHORT = 10
"""A single sentence with at most this many informing words is a short answer, compared as a whole."""

LISTED = 6
"""A list of names has at most this many informing words."""

MOST_LINES = 40
"""More lines are no list of names."""

_YES_OR_NO = {"yes": True, "no": False}


def answers(answer: Seen, references: Sequence[Seen], question: Seen) -> bool:
    """Whether an answer meets one of the references, with every part if it is a list, and misdates none.

    Examples
    --------
    >>> from semece.judges.rules.seen import read
    >>> question = read("What does a barista make?")
    >>> [answers(read(text), [read("coffee")], question) for text in ("Coffee", "Coffee or tea", "a cup of coffee")]
    [True, False, True]
    """
    line = seen_of([item._replace(sentence=0) for item in answer.items]) if _lines(answer) else answer
    if not any(meets(line, reference, question) for reference in references) or misdates(answer, references):
        return False
    parts = parts_of(answer, question) or choices_of(answer, question)
    for reference in references if parts else ():
        most = len(list_parts(reference, reference.content)) or len(reference.items)
        if is_list(reference) and {item.key for item in whole(reference)} <= answer.keys and len(parts) <= most:
            return True
    return all(any(meets(part, reference, question) for reference in references) for part in parts)


def choices_of(answer: Seen, question: Seen) -> list[Seen]:
    """List what a sentence offers to choose from: 'It is either Sydney or Canberra'; nothing if it commits itself.

    What the question offers is a choice, too: 'Italy or France' does not say who won, Italy or France.
    """
    informing, words = core(answer, question), {item.text for item in answer.items}
    if "or" not in words or words & {*NAMING, "referred"} or len(informing) > LISTED:
        return []
    offered = any(item.text == "or" for item in question.items)
    if offered and is_sentence(answer):
        return []
    return [seen_of(part) for part in list_parts(answer, answer.content if offered else informing)]


def parts_of(answer: Seen, question: Seen) -> list[Seen]:
    """Split a list of names at 'and', 'or', commas and lines; a name shared by all is given to each.

    'Ann and Tom Lee' are Ann Lee and Tom Lee.

    A string with more words, with a verb, or with words of the question is no list of names: it has no parts.
    """
    lines = _lines(answer)
    if lines and not {item.text for item in question.items} & {"are", "were", "some", "list", "name"}:
        return lines
    asked = {item.text for item in question.items}
    rivals = enumerated(answer)
    single = all(len(part) == 1 and (part[0].named or part[0].value is not None) for part in rivals)
    inverted = bool(rivals) and rivals[1][0].gap.strip() == "," and not asked.isdisjoint({"who", "whom", "whose"})
    if len(rivals) > 2 or (rivals and single and "where" not in asked and not inverted):
        return [seen_of(part) for part in rivals]
    if len(answer.content) > LISTED or answer.keys & question.keys or is_sentence(answer) or not is_list(answer):
        return []
    parts: list[list[Item]] = [[]]
    for item in answer.items:
        if item.text in {"and", "or"} or "," in item.gap or "&" in item.gap:
            parts.append([])
        if item.text not in {"and", "or"}:
            parts[-1].append(item)
    parts = [part for part in parts if part]
    shared = parts[-1][-1:] if len(parts[-1]) == 2 else []
    found = [seen_of([*part, *shared] if len(part) == 1 and part[0].named else part) for part in parts]
    return found if len(found) > 1 else []


def _lines(answer: Seen) -> list[Seen]:
    """Split names on lines of their own."""
    if answer.sentences > MOST_LINES:
        return []
    lines = [[item for item in answer.items if item.sentence == number] for number in range(answer.sentences)]
    short = all(len(line) <= ECHO and line[0].named for line in lines)
    broken = sum("\n" in line[0].gap for line in lines[1:]) == len(lines) - 1
    return [seen_of(line) for line in lines] if len(lines) > 1 and short and broken and not is_sentence(answer) else []


def misdates(answer: Seen, references: Sequence[Seen]) -> bool:
    """Whether the answer gives a day or a month, references do too, and none agrees.

    'January 26, 1788' does not answer where the references are '18 January 1788' and '1788'.
    """
    for precision in ("day", "month"):
        wanted = [date for reference in references for date in reference.dates if date.precision == precision]
        given = [date for date in answer.dates if date.precision in {"day", "month"}]
        if wanted and given:
            return not any(contains(a, b) or contains(b, a) for a in wanted for b in given)
    return False


def meets(answer: Seen, reference: Seen, question: Seen) -> bool:
    """Whether an answer says what one reference says."""
    wanted = core(reference, question)
    if (yes := _YES_OR_NO.get(wanted[0].text)) is not None and len(wanted) == 1:
        return says_yes(answer, question) is yes
    if not _same_regimen(answer, reference, question):
        return False
    dates = [item.value for item in wanted if isinstance(item.value, Date)]
    if len(dates) == len(wanted):
        return _dated(answer, dates, question)
    first = wanted[0].value
    if len(wanted) == 2 and all(isinstance(item.value, Quantity) and item.value.unit is None for item in wanted):
        return _scored(answer, wanted)
    if isinstance(first, Quantity) and len(wanted) <= 4 and not any(item.named for item in wanted):
        return _numbered(answer, first, question)
    given = core(answer, question)
    brief = answer.sentences == 1 and len(given) <= SHORT
    return (
        _is_short_for(given, reference)
        or (brief and _short(answer, given, reference, wanted, question))
        or _is_around(answer, given, reference, wanted, question)
        or _long(answer, wanted, reference, question)
    )


def _same_regimen(answer: Seen, reference: Seen, question: Seen) -> bool:
    """Whether an answer contradicts no route or form of a reference, and of a dose gives every part.

    All its values, route, form and release; and where both name something, such as the drug, they share a word.
    """
    given, wanted = regimen(answer.content), regimen(reference.content)
    if clash(given, wanted):
        return False
    medical = any(item.text in vocabulary("medication") for item in question.items)
    if not (is_dose(reference.content) or (medical and reference.quantities)):
        return True
    if not wanted.keys() <= given.keys():
        return False
    if not all(any(answers_quantity(one, value) for one in answer.quantities) for value in reference.quantities):
        return False
    known = question.keys.union(*wanted.values(), *given.values())
    words = [{item.key for item in seen.content if item.value is None} - known for seen in (answer, reference)]
    return is_sentence(answer) or words[0] <= words[1] or words[1] <= words[0]


def _is_around(answer: Seen, given: Sequence[Item], reference: Seen, wanted: Sequence[Item], question: Seen) -> bool:
    """Whether an answer names, asked where, the place that a reference lies in.

    'Italy' does for 'Milan, Italy', 'Orlando, Florida' for 'the stadium in Orlando'.
    """
    if all(item.text != "where" for item in question.items):
        return False
    found = find(given, wanted)
    if found is not None and found[1] == len(wanted) and wanted[found[0]].named and wanted[found[0]].gap.strip():
        return True
    places = [place for place, item in enumerate(reference.items) if place and item.text == "in"]
    inside = reference.items[places[-1] + 1 :] if places else ()
    return bool(inside) and all(item.named for item in inside) and _long(answer, inside, reference, question)


def _dated(answer: Seen, wanted: Sequence[Date], question: Seen) -> bool:
    """Whether every date of a reference is met by the first sentence that gives dates.

    A coarser date will do, down to what the question asks for.
    """
    given = _first_values(answer, question, Date)
    if not given:
        return any(is_year(number, date) for number in _first_values(answer, question, Quantity) for date in wanted)
    words = {item.text for item in question.items}
    coarsest = "day" if words & {"date", "day"} else "month" if "month" in words else "year"
    return all(any(fits(date, target, coarsest=coarsest) for date in given) for target in wanted)


def _numbered(answer: Seen, wanted: Quantity, question: Seen) -> bool:
    """Whether a quantity is the wanted one in the first sentence that gives some; those in its unit count first.

    Asked for a numeral, a Roman one must be answered by a Roman one.
    """
    given = _first_values(answer, question, Quantity, wanted.unit)
    if not given:
        held = [(place, item.value) for place, item in enumerate(answer.items) if isinstance(item.value, Quantity)]
        given = [value for place, value in held if not denied(answer.items, place, place, question.items)]
    if wanted.number.form == "roman" and "numeral" in question.keys:
        given = [quantity for quantity in given if quantity.number.form == "roman"]
    in_unit = [quantity for quantity in given if wanted.unit and quantity.unit == wanted.unit] or given
    if any(answers_quantity(quantity, wanted) for quantity in in_unit):
        return True
    return any(is_year(wanted, date) for date in answer.dates)


def _scored(answer: Seen, wanted: Sequence[Item]) -> bool:
    score = [item.key for item in wanted]
    values = [[item for item in answer.content if item.sentence == number] for number in range(answer.sentences)]
    pairs = ([one.key, other.key] for line in values for one, other in pairwise(line))
    return score in pairs


def _first_values(answer: Seen, question: Seen, kind: type[Value], unit: Unit | None = None) -> list[Value]:
    """List the values of a kind in the first sentence that gives one which is not in the question.

    Where a unit is wanted, only quantities count that measure the same, or have none.
    """
    asked = {item.key for item in question.items}
    inside = {id(item) for item in answer.content if item.value is not None}
    values = [
        (item.sentence, item.value)
        for place, item in enumerate(answer.items)
        if id(item) in inside
        and isinstance(item.value, kind)
        and item.key not in asked
        and measures(item.value, unit)
        and not denied(answer.items, place, place, question.items)
    ]
    chosen = _telling(answer, sorted({sentence for sentence, _ in values}), question)
    return [value for sentence, value in values if sentence in chosen]


def _telling(answer: Seen, sentences: Sequence[int], question: Seen) -> Sequence[int]:
    """Pick the first sentence, and if it shares no word that is asked with, names apart, the first that does."""
    if len(sentences) < 2:
        return sentences
    asked = {verb(item.key) for item in question.content if not item.named}
    shared = {item.sentence for item in answer.content if verb(item.key) in asked}
    first = sentences[0]
    return [first] if first in shared else [first, *[number for number in sentences if number in shared][:1]]


def _short(answer: Seen, given: Sequence[Item], reference: Seen, wanted: Sequence[Item], question: Seen) -> bool:
    found = find(wanted, answer.content)
    here = answer.content[found[0] : found[1]] if found else given
    denies = _turned_down(answer, here[0], here[-1], question)
    if answer.negated != reference.negated or opposed(given, wanted) or denies:
        return False
    if asks_work(question) and len(given) == len(wanted) == 1 and given[0].named and wanted[0].named:
        return given[0].text == wanted[0].text or alike(given[0], wanted[0]) > (given[0].key == wanted[0].key)
    if related(given, wanted) or same_words(whole(answer), whole(reference)):
        return True
    if len(given) <= len(wanted):
        return _says_enough(given, wanted, reference, question)
    if asks_work(question) and any(
        goes_on(answer.items, item, reference) for item in given if item.key == wanted[-1].key
    ):
        return False
    return specifies(given, wanted, answer.items, strict=True)


def _says_enough(given: Sequence[Item], wanted: Sequence[Item], reference: Seen, question: Seen) -> bool:
    if all(item.key in vocabulary("kinds") for item in given):
        return False
    if any(find(given, part) or find(part, given) for part in list_parts(reference, wanted)):
        return False
    if asks_work(question) and given[0].key != wanted[0].key:
        return False
    return specifies(wanted, given, reference.items, strict=True)


def _is_short_for(given: Sequence[Item], reference: Seen) -> bool:
    """Whether an answer is the acronym that a reference has in parentheses: 'ADP' of 'adenosine diphosphate (ADP)'."""
    aside = [item for item in reference.items if item.aside]
    return len(aside) == len(given) == 1 and aside[0].form.isupper() and aside[0].key == given[0].key


def _long(answer: Seen, wanted: Sequence[Item], reference: Seen, question: Seen) -> bool:
    for number in range(answer.sentences):
        sentence = [item for item in answer.content if item.sentence == number]
        place = _place(sentence, wanted)
        if place is not None and asks_work(question) and goes_on(answer.items, sentence[place[1]], reference):
            continue
        if place is not None and not _turned_down(answer, sentence[place[0]], sentence[place[1]], question):
            return number == 0 or not _denies(answer, question)
    return False


def _turned_down(answer: Seen, first: Item, last: Item, question: Seen) -> bool:
    places = [number for number, item in enumerate(answer.items) if item is first or item is last]
    return denied(answer.items, places[0], places[-1], question.items)


def _denies(answer: Seen, question: Seen) -> bool:
    """Whether the first sentence says that what the question asks for is not so; 'I do not know' says nothing."""
    first = [item for item in answer.items if item.sentence == 0]
    words = {item.text for item in first}
    if not words & vocabulary("negations") or words & {"i", "ai"}:
        return False
    return 2 * len({item.key for item in first} & question.keys) >= len(question.keys)


def _place(sentence: Sequence[Item], wanted: Sequence[Item]) -> tuple[int, int] | None:
    """Find the first and the last word of the reference in a sentence.

    As a run of words, as the words of an acronym, as a name with other middle names, or scattered: all its words, three
    of four if it has four or more, in any order and form.
    """
    found = find(wanted, sentence)
    if found is not None:
        place, end = found
        return None if place and sentence[place - 1].text in vocabulary("modifiers") else (place, end - 1)
    if len(wanted) == 1:
        return _spelled_out(sentence, wanted[0])
    named = _named(sentence, wanted)
    return _scattered(sentence, wanted) if named is None else named


def _scattered(sentence: Sequence[Item], wanted: Sequence[Item]) -> tuple[int, int] | None:
    if any(item.value is not None for item in wanted):
        return None
    places = [next((n for n, item in enumerate(sentence) if same_root(item.key, word.key)), None) for word in wanted]
    found = [place for place in places if place is not None]
    return (min(found), max(found)) if 4 * len(found) >= 3 * len(wanted) else None


def _spelled_out(sentence: Sequence[Item], wanted: Item) -> tuple[int, int] | None:
    if wanted.value is not None or not wanted.form.isupper() or not 3 <= len(wanted.text) <= 6:
        return None
    place = "".join(item.text[0] for item in sentence).find(wanted.text)
    return (place, place + len(wanted.text) - 1) if place >= 0 else None


def _named(sentence: Sequence[Item], wanted: Sequence[Item]) -> tuple[int, int] | None:
    if not all(item.named for item in wanted):
        return None
    for place, item in enumerate(sentence):
        start = place
        while start and place - start < 3 and not sentence[start].gap.strip(" .-\"'"):
            start -= 1
            if (
                same_given_name(sentence[start].text, wanted[0].text)
                and alike(item, wanted[-1])
                and (len(wanted) < 2 or same_person(sentence[start : place + 1], wanted))
            ):
                return start, place
    return None
