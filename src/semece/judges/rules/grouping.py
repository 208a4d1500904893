"""A symmetric relation between strings, made transitive so that the order of the strings never matters."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from semece.judges.rules.asked_values import read_answer
from semece.judges.rules.english.clauses import BRIEF, denied, main_clause
from semece.judges.rules.english.commitment import committed
from semece.judges.rules.english.names import same_person
from semece.judges.rules.english.phrases import (
    asks_work,
    find,
    goes_on,
    is_sentence,
    opposed,
    related,
    same_words,
    specifies,
)
from semece.judges.rules.english.regimens import clash, is_dose
from semece.judges.rules.formulas import told_apart
from semece.judges.rules.prepared import prepare
from semece.judges.rules.seen import LONGEST, affirming, read
from semece.judges.rules.values.dates import YEAR, Date
from semece.judges.rules.values.quantities import Quantity
from semece.judges.rules.values.same_value import is_year, same_date, same_quantity
from semece.judges.rules.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semece.judges.rules.prepared import Form

PERSON = frozenset({"who", "whom", "whose"})
"""Words that ask for a person."""

EQUAL, NAMED, DETAILED, HELD = 4, 3, 2, 1
"""How strongly two strings are linked: same words or values, two names of one thing, one with more detail, one in a
sentence of the other."""


def group(question: str, answers: Sequence[str]) -> list[int]:
    """Group strings by meaning.

    Links are drawn between all pairs and taken one after the other: first those between equals and names of one thing,
    then those between less and more detail; each time those of strings with many links first, then by the alphabet. A
    link joins two groups unless a member of one contradicts a member of the other. So the result depends on the set of
    strings alone.

    Examples
    --------
    >>> group("Who was it?", ["Nixon", "President Richard Nixon", "J. F. Kennedy", "John Kennedy", "Abraham Lincoln"])
    [0, 0, 1, 1, 2]
    """
    asks = asks_of(question)
    texts = sorted(set(answers))
    forms = forms_of(question, texts)
    links = _links(forms, asks)
    groups = _Groups(forms, links, asks)
    for pair in (pair for pair in links if links[pair] > DETAILED):
        groups.join(*pair)
    groups.share_names()
    for strength in (DETAILED, HELD):
        for pair in (pair for pair in links if links[pair] == strength):
            groups.join(*pair)
    place = {text: number for number, text in enumerate(texts)}
    labels: dict[int, int] = {}
    return [labels.setdefault(groups.home[place[text]], len(labels)) for text in answers]


def asks_of(question: str) -> frozenset[str]:
    """Say what a question asks for, as far as that decides what two answers are to each other."""
    asked = read(question)
    asks = frozenset(item.key for item in asked.items) & {"year", "numeral", "when", "many", "or", *PERSON}
    return asks | ({"work"} if asks_work(asked) else frozenset())


def forms_of(question: str, texts: Sequence[str]) -> list[Form]:
    """Read answers to a question, to compare them."""
    asked = read(question)
    return [prepare(text, affirming(read_answer(committed(text, question), question), asked), asked) for text in texts]


class _Groups:
    """Strings in groups that grow by links and refuse contradictions."""

    def __init__(self, forms: Sequence[Form], links: Mapping[tuple[int, int], int], asks: frozenset[str]) -> None:
        self.forms = forms
        self.links = links
        self.asks = asks
        self.home = list(range(len(forms)))
        self.members = [[number] for number in range(len(forms))]
        self.names: list[list[int]] = []

    def join(self, one: int, other: int) -> None:
        """Join the groups of two strings unless a member of one contradicts a member of the other."""
        left, right = self.home[one], self.home[other]
        if left == right or any(self._contradict(a, b) for a in self.members[left] for b in self.members[right]):
            return
        for number in self.members[right]:
            self.home[number] = left
        self.members[left] += self.members[right]

    def share_names(self) -> None:
        """Fix the names of each string: all that are joined to it so far."""
        self.names = [list(self.members[home]) for home in self.home]

    def _contradict(self, one: int, other: int) -> bool:
        """Whether two strings cannot be in one group.

        They have different values, or no names of theirs are linked and they share no word, or each has its own detail.
        """
        first, second = self.forms[one], self.forms[other]
        if differ(first, second, self.asks):
            return True
        pairs = [(min(a, b), max(a, b)) for a in self.names[one] for b in self.names[other]] if self.names else []
        if not self.names or any(pair in self.links for pair in pairs):
            return False
        keys = [{item.key for name in self.names[number] for item in self.forms[name].core} for number in (one, other)]
        shared = keys[0] & keys[1]
        person = bool(self.asks & PERSON)
        return not shared or (_adds(first, shared, person=person) and _adds(second, shared, person=person))


def _links(forms: Sequence[Form], asks: frozenset[str]) -> dict[tuple[int, int], int]:
    strengths = {
        (one, other): strength
        for one, other in combinations(range(len(forms)), 2)
        if not forms[one].traces.isdisjoint(forms[other].traces) and (strength := link(forms[one], forms[other], asks))
    }
    degrees = Counter(number for pair in strengths for number in pair)
    return dict(sorted(strengths.items(), key=lambda row: (-degrees[row[0][0]] - degrees[row[0][1]], row[0])))


def link(one: Form, other: Form, asks: frozenset[str]) -> int:
    """Return how strongly two strings are linked: 0, HELD, DETAILED, NAMED or EQUAL."""
    if max(len(one.text), len(other.text)) > LONGEST or differ(one, other, asks):
        return 0
    if one.yes is not None and other.yes is not None:
        return EQUAL if max(len(one.reading.items), len(other.reading.items)) <= BRIEF else DETAILED
    if same_words(one.core, other.core) or same_words(one.whole, other.whole) or _same_values(one, other):
        return EQUAL
    pairs = ((one, other), (other, one)) if asks & PERSON and (one.aside or other.aside) else ()
    asides = any(len(left.aside) > 1 and related(left.aside, right.core) for left, right in pairs)
    if asides or related(one.core, other.core):
        return NAMED
    told = bool(asks & PERSON) and min(len(one.name), len(other.name)) > 1 and related(one.name, other.name)
    if told or _same_lead(one, other) or _told_value(one, other, asks):
        return DETAILED
    return _mentions(one, other, asks)


def _mentions(one: Form, other: Form, asks: frozenset[str]) -> int:
    if one.traces & other.traces <= {"#"} or _turned_down(one, other) or _turned_down(other, one):
        return 0
    if _details(one, other) or _details(other, one):
        return DETAILED
    return HELD if "or" not in asks and (_holds(one, other) or _holds(other, one)) else 0


def _turned_down(long: Form, short: Form) -> bool:
    """Whether a string names what the other says only to turn it down: 'anything but Paris'."""
    items = long.reading.items
    found = find(short.core, long.reading.content) if len(items) > len(short.reading.items) else None
    if found is None:
        return False
    first, last = (long.reading.content[place] for place in (found[0], found[1] - 1))
    places = [number for number, item in enumerate(items) if item is first or item is last]
    return denied(items, places[0], places[-1], long.asked)


def _holds(long: Form, short: Form) -> bool:
    """Whether the first sentence of a string holds the words of another as a run that is not within a longer name."""
    if not short.informs or len(long.core) <= len(short.core) or not long.prose:
        return False
    main = {id(item) for item in main_clause(long.reading.items)}
    first = [item for item in long.reading.content if item.sentence == 0 and id(item) in main]
    found = find(short.core, first)
    if found is None:
        return False
    place, end = found
    if place and first[place - 1].text in vocabulary("modifiers"):
        return False
    return end == len(first) or first[end].gap != " " or not (first[end].named and first[end - 1].named)


def _same_values(one: Form, other: Form) -> bool:
    pure = all(item.value is not None for form in (one, other) for item in form.core)
    return pure and len(one.values) == len(other.values)


def _same_lead(one: Form, other: Form) -> bool:
    """Whether both begin with a value, and do not count different things: '4', '4 of them', '4 symphonies'.

    That the values agree is known.
    """
    if one.core[0].value is None or other.core[0].value is None:
        return False
    counted = [form.core[1].key for form in (one, other) if len(form.core) > 1 and form.core[1].gap in {" ", "-"}]
    return len(set(counted)) < 2


def _told_value(one: Form, other: Form, asks: frozenset[str]) -> bool:
    if "when" in asks:
        return all(sum(isinstance(value, Date) for value in form.values) == 1 for form in (one, other))
    if "many" in asks:
        return all(len(form.values) == 1 and isinstance(form.values[0], Quantity) for form in (one, other))
    return False


def _details(long: Form, short: Form) -> bool:
    """Whether one string says what the other does with more detail."""
    items = long.reading.items
    if not short.informs:
        return False
    if len(long.core) > len(short.core) and specifies(long.core, short.core, items):
        return True
    if is_sentence(long.reading) or len(long.whole) <= len(short.whole):
        return False
    if specifies(long.whole, short.whole, items):
        return True
    counted = any(isinstance(item.value, Quantity) for item in (*short.whole, *long.whole))
    return len(short.whole) > 1 and not counted and {item.key for item in short.whole} <= long.reading.keys


def differ(one: Form, other: Form, asks: frozenset[str]) -> bool:
    """Whether values, a negation or opposite words keep two strings apart whatever else they share."""
    if told_apart(one.text, other.text):
        return True
    if one.yes is not None and other.yes is not None:
        return one.yes != other.yes
    return (
        one.negated != other.negated
        or _other_person(one, other)
        or _other_aside(one, other)
        or ("work" in asks and _other_work(one, other))
        or opposed(one.core, other.core)
        or _is_part(one, other)
        or clash(one.regimen, other.regimen)
        or _other_dose(one, other, asks)
        or (bool(one.values and other.values) and _other_values(one, other, asks))
    )


def _other_values(one: Form, other: Form, asks: frozenset[str]) -> bool:
    if one.core[0].value is not None and other.core[0].value is not None:
        size = len(one.values) if _same_values(one, other) else 1
        return not all(_same_value(a, b, asks) for a, b in zip(one.values[:size], other.values[:size], strict=True))
    fewer, more = sorted((_told(form, asks) for form in (one, other)), key=len)
    return not all(any(_same_value(a, b, asks) for b in more) for a in fewer)


def _other_dose(one: Form, other: Form, asks: frozenset[str]) -> bool:
    if one.prose or other.prose or not (is_dose(one.core) and is_dose(other.core)):
        return False
    fewer, more = sorted((one.values, other.values), key=len)
    same = len(fewer) == len(more) and all(any(_same_value(a, b, asks) for b in more) for a in fewer)
    return not same or one.regimen.keys() != other.regimen.keys()


def _other_person(one: Form, other: Form) -> bool:
    """Whether two names share a first and a family name, and no person has both: 'George W. and George H. W. Bush'."""
    first, second = one.core, other.core
    names = all(len(name) > 2 and all(item.named for item in name) for name in (first, second))
    alike = names and first[0].key == second[0].key and first[-1].key == second[-1].key
    return alike and not same_person(first, second)


def _other_aside(one: Form, other: Form) -> bool:
    """Whether brackets tell two strings apart: 'Mercury (element)', 'Mercury (planet)'; names in them do not."""
    first, second = one.aside, other.aside
    if len(first) != 1 or len(second) != 1 or first[0].key == second[0].key:
        return False
    return not (first[0].named and second[0].named) or (first[0].form.isupper() and second[0].form.isupper())


def _other_work(one: Form, other: Form) -> bool:
    """Whether two titles are those of different works: one goes on in capitals, or is the plural of the other."""
    if len(one.whole) == len(other.whole) == 1:
        return one.whole[0].text != other.whole[0].text and one.whole[0].key == other.whole[0].key
    short, long = sorted((one, other), key=lambda form: len(form.whole))
    found = find(short.whole, long.whole)
    if found is None or not short.whole or len(short.whole) == len(long.whole):
        return False
    return goes_on(long.reading.items, long.whole[found[1] - 1], short.reading)


def _is_part(one: Form, other: Form) -> bool:
    """Whether one string is a list, and the other is one of its parts, in one of them, or a list of other parts."""
    if one.parts and other.parts and not (one.prose or other.prose):
        return len(one.parts) != len(other.parts)
    if bool(one.parts) == bool(other.parts):
        return False
    parts, part = (one.parts, other.core) if one.parts else (other.parts, one.core)
    if part[0].value is not None:
        return len(part) == 1 and any(len(each) == 1 and part[0].key == each[0].key for each in parts)
    return any(find(part, each) for each in parts)


def _told(form: Form, asks: frozenset[str]) -> tuple[Quantity | Date, ...]:
    if form.prose and asks & {*PERSON, "where"}:
        return ()
    kind = Date if asks & {"when", "year"} else Quantity if "many" in asks else None
    if kind is not None and form.prose and any(isinstance(value, kind) for value in form.values):
        return tuple(value for value in form.values if isinstance(value, kind))
    return tuple(value for value in form.values if not (asks & PERSON and isinstance(value, Date)))


def _same_value(one: Quantity | Date, other: Quantity | Date, asks: frozenset[str]) -> bool:
    if isinstance(one, Date) and isinstance(other, Date):
        if "year" in asks and not (one.yearless or other.yearless):
            return one.low // YEAR == other.low // YEAR and one.high // YEAR == other.high // YEAR
        return same_date(one, other)
    if isinstance(one, Date):
        return isinstance(other, Quantity) and is_year(other, one)
    if isinstance(other, Date):
        return is_year(one, other)
    numeral = "numeral" in asks and (one.number.form == "roman") != (other.number.form == "roman")
    return not numeral and same_quantity(one, other)


def _adds(form: Form, shared: set[str], *, person: bool) -> bool:
    """Whether a string has a name or a number beyond the shared words; of a person, every word is a name.

    Of a sentence, only names count that stand next to a shared one.
    """
    if form.prose:
        return any(
            one.named and other.named and other.gap == " " and (one.key in shared) != (other.key in shared)
            for one, other in pairwise(form.reading.items)
        )
    known = vocabulary("kinds") | vocabulary("relations")
    extra = [item for item in form.core if item.key not in shared and item.key not in known]
    if person:
        extra = [item for item in extra if not isinstance(item.value, Date)]
    return any(person or item.value is not None or (item.named and item is not form.reading.items[0]) for item in extra)
