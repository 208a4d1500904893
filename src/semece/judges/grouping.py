"""A symmetric relation between strings, made transitive so that the order of the strings never matters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from semece.judges.dates import YEAR, Date
from semece.judges.names import alike, sound
from semece.judges.phrases import core, is_list, opposed, related, same_words, specifies, whole
from semece.judges.quantities import Quantity
from semece.judges.reading import Item, Reading, read
from semece.judges.values import is_year, same_date, same_quantity
from semece.judges.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EQUAL, NAMED, DETAILED = 3, 2, 1
"""How strongly two strings are linked: same words or values, two names of one thing, one with more detail."""


@dataclass(frozen=True, slots=True)
class Form:
    """A string prepared for comparison with the others of its question.

    Parameters
    ----------
    reading : Reading
        What is read in it.
    core, whole, aside : tuple of Item
        What informs, everything outside parentheses, and what stands in them.
    values : tuple of Quantity or Date
        The values of the core.
    traces : frozenset of str
        Strings without a common trace have no link.
    """

    reading: Reading
    core: tuple[Item, ...]
    whole: tuple[Item, ...]
    aside: tuple[Item, ...]
    values: tuple[Quantity | Date, ...]
    traces: frozenset[str]


def group(question: str, answers: Sequence[str]) -> list[int]:
    """Group strings by meaning.

    Links are drawn between all pairs and taken strongest first, ties by the number of links of their ends, then by the
    alphabet. A link joins two groups unless a member of one contradicts a member of the other. So the result depends
    on the set of strings alone.

    Parameters
    ----------
    question : str
        Its words do not inform, and it says whether a year is asked for, or a person.
    answers : sequence of str
        The strings; equal ones share a group.

    Returns
    -------
    list of int
        One label per string, numbered from 0 by first appearance.

    Examples
    --------
    >>> group("Who was it?", ["Nixon", "President Richard Nixon", "J. F. Kennedy", "John Kennedy", "Abraham Lincoln"])
    [0, 0, 1, 1, 2]
    """
    asked = read(question)
    asks = frozenset(item.text for item in asked.items) & {"year", "who", "whom", "whose"}
    texts = sorted(set(answers))
    forms = [prepare(text, asked) for text in texts]
    members = [[number] for number in range(len(forms))]
    home = list(range(len(forms)))
    for one, other in _links(forms, asks):
        left, right = home[one], home[other]
        if left == right or any(contradict(forms[a], forms[b], asks) for a in members[left] for b in members[right]):
            continue
        for number in members[right]:
            home[number] = left
        members[left] += members[right]
    place = {text: number for number, text in enumerate(texts)}
    labels: dict[int, int] = {}
    return [labels.setdefault(home[place[text]], len(labels)) for text in answers]


def prepare(text: str, question: Reading) -> Form:
    """Read a string as an answer to a question."""
    reading = read(text)
    informing = core(reading, question)
    aside = tuple(item for item in reading.content if item.aside)
    return Form(reading, informing, whole(reading), aside, _values(informing), frozenset(_traces(reading.content)))


def _values(items: Sequence[Item]) -> tuple[Quantity | Date, ...]:
    """List the values of a phrase; two bare years and nothing else are the span between them."""
    values = [item.value for item in items if item.value is not None]
    if len(values) == len(items) == 2:
        first, last = values
        if isinstance(first, Date) and isinstance(last, Date) and first.bare and last.bare and first.low < last.low:
            return (first._replace(high=last.high, precision="span", bare=False),)
    return tuple(values)


def _traces(content: Sequence[Item]) -> Iterator[str]:
    """List what a linked string must share one of: words, their sound or beginning, letters, initials, any value."""
    yield "".join(item.text for item in content)[:4]
    yield "".join(item.text[0] for item in content)
    for item in content:
        yield item.key
        if item.value is not None:
            yield "#"
        elif len(item.text) >= 4:
            yield sound(item.text)
            yield item.text[:3]


def _links(forms: Sequence[Form], asks: frozenset[str]) -> list[tuple[int, int]]:
    strengths = {
        (one, other): strength
        for one, other in combinations(range(len(forms)), 2)
        if not forms[one].traces.isdisjoint(forms[other].traces) and (strength := link(forms[one], forms[other], asks))
    }
    degrees = [0] * len(forms)
    for one, other in strengths:
        degrees[one] += 1
        degrees[other] += 1
    return sorted(strengths, key=lambda pair: (-strengths[pair], -degrees[pair[0]] - degrees[pair[1]], pair))


def link(one: Form, other: Form, asks: frozenset[str]) -> int:
    """Return how strongly two strings are linked: 0, DETAILED, NAMED or EQUAL.

    Parameters
    ----------
    one, other : Form
        The strings.
    asks : frozenset of str
        'year' if the question asks for one: then dates of one year are equal. 'who' if it asks for a person: then a
        given name alone, and a name in parentheses, are names of that person.
    """
    if differ(one, other, asks):
        return 0
    if same_words(one.core, other.core) or same_words(one.whole, other.whole) or _same_values(one, other):
        return EQUAL
    if related(one.core, other.core):
        return NAMED
    if asks - {"year"} and (_given_name(one, other) or _given_name(other, one) or _other_name(one, other)):
        return DETAILED
    return DETAILED if _details(one, other) or _details(other, one) else 0


def _same_values(one: Form, other: Form) -> bool:
    """Whether nothing but values inform, as many in one as in the other; that they agree is known."""
    pure = all(item.value is not None for form in (one, other) for item in form.core)
    return pure and len(one.values) == len(other.values)


def _given_name(one: Form, other: Form) -> bool:
    """Whether one string is the given name with which the other begins."""
    if len(one.core) != 1 or not 1 < len(other.core) <= 4 or is_list(other.reading):
        return False
    return alike(one.core[0], other.core[0]) and all(item.value is None for item in other.core)


def _other_name(one: Form, other: Form) -> bool:
    """Whether what one string has in parentheses is the other: 'Eric Matthews (Will Friedle)'."""
    pairs = ((one, other), (other, one))
    return any(len(left.aside) > 1 and related(left.aside, right.core) for left, right in pairs)


def _details(long: Form, short: Form) -> bool:
    """Whether one string says what the other does with more detail; a list is no detail of one of its parts."""
    items = long.reading.items
    if is_list(long.reading) and not is_list(short.reading):
        return False
    if isinstance(short.core[0].value, Quantity) and isinstance(long.core[0].value, Quantity) and len(short.core) > 1:
        return False
    return any(
        len(more) > len(less) and specifies(more, less, items)
        for more, less in ((long.core, short.core), (long.whole, short.whole))
    )


def differ(one: Form, other: Form, asks: frozenset[str]) -> bool:
    """Whether values, a negation or opposite words keep two strings apart whatever else they share."""
    if one.reading.negated != other.reading.negated or opposed(one.core, other.core):
        return True
    if not one.values or not other.values:
        return False
    fewer, more = sorted((one.values, other.values), key=len)
    return not all(any(_same_value(a, b, asks) for b in more) for a in fewer)


def _same_value(one: Quantity | Date, other: Quantity | Date, asks: frozenset[str]) -> bool:
    if isinstance(one, Date) and isinstance(other, Date):
        if "year" in asks and not (one.yearless or other.yearless):
            return one.low // YEAR == other.low // YEAR and one.high // YEAR == other.high // YEAR
        return same_date(one, other)
    if isinstance(one, Date):
        return isinstance(other, Quantity) and is_year(other, one)
    return is_year(one, other) if isinstance(other, Date) else same_quantity(one, other)


def contradict(one: Form, other: Form, asks: frozenset[str]) -> bool:
    """Whether two strings cannot be in one group: different values, or a different detail of the same thing."""
    if differ(one, other, asks):
        return True
    shared = {item.key for item in one.core} & {item.key for item in other.core}
    if not shared or not (_adds(one, shared) and _adds(other, shared)):
        return False
    return not link(one, other, asks)


def _adds(form: Form, shared: set[str]) -> bool:
    """Whether a string has informing words beyond the shared ones that are no kind or relation."""
    known = vocabulary("kinds") | vocabulary("relations")
    return any(item.key not in shared and item.text not in known for item in form.core)
