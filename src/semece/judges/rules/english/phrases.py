"""When two phrases are the same answer: the words that inform, in which order, around which head."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from semece.judges.answer_keys import ARTICLES
from semece.judges.rules.english.clauses import opening
from semece.judges.rules.english.names import alike, same_person
from semece.judges.rules.values.dates import Date
from semece.judges.rules.values.quantities import Quantity
from semece.judges.rules.words import opposites, verb, vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.judges.rules.items import Item, Seen

NAMING = vocabulary("naming")
JOINTS = frozenset({"and", "or"})
"""Words that join the parts of a list."""

ECHO = 3
"""A phrase of at most this many words loses only its last words to the question."""


def whole(reading: Seen) -> tuple[Item, ...]:
    """Pick the content outside parentheses; everything if nothing else is left."""
    return tuple(item for item in reading.content if not item.aside) or reading.content


def is_sentence(reading: Seen) -> bool:
    """Whether a string has an auxiliary verb."""
    return not vocabulary("auxiliaries").isdisjoint([item.text for item in reading.items])


def core(reading: Seen, question: Seen) -> tuple[Item, ...]:
    """Pick the words of a string that inform: not those of the question, not what stands in parentheses.

    A phrase of up to three words loses only its last words to the question ('Kanawha River', but 'British Indian
    Association' stays whole), a sentence or a longer string every word that does not begin a name with a new word in
    it. Where nothing is left, everything counts.
    """
    outside = _unlabelled(whole(reading), question)
    if len(outside) > ECHO or is_sentence(reading):
        return _news(outside, question) or outside
    end = len(outside)
    while end and outside[end - 1].key in question.keys and not is_list(reading):
        end -= 1
    return outside[:end] or outside


def _unlabelled(items: tuple[Item, ...], question: Seen) -> tuple[Item, ...]:
    """Cut off a label of the question's words: 'Organ: liver', 'Symphony No. 9' where a symphony is asked for."""
    for place, item in enumerate(items):
        ranked = place == 1 and isinstance(item.value, Quantity) and item.value.number.form == "ordinal"
        if place and (":" in item.gap or ranked):
            return items[place:]
        if not _echoes(item, question):
            return items
    return items


def _echoes(item: Item, question: Seen) -> bool:
    """Whether a word is in the question, or another form of the verb: 'changed' where it has 'change'."""
    return item.key in question.keys or (item.value is None and verb(item.key) in _verbs(question.keys))


@lru_cache(maxsize=1024)
def _verbs(keys: frozenset[str]) -> frozenset[str]:
    return frozenset(map(verb, keys))


def _news(items: Sequence[Item], question: Seen) -> tuple[Item, ...]:
    kept: list[Item] = []
    following: Item | None = None
    for item in reversed(items):
        begins = bool(kept) and kept[-1] is following and item.named and following.named and following.gap == " "
        if begins or not _echoes(item, question):
            kept.append(item)
        following = item
    return tuple(reversed(kept))


def same_words(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether two phrases hold the same words in any order, or the same letters without their spaces."""
    if len(one) == len(other) and _covered(one, other) and _covered(other, one):
        return True
    return "".join([item.text for item in one]) == "".join([item.text for item in other])


def _covered(ones: Sequence[Item], others: Sequence[Item]) -> bool:
    keys = {item.key for item in others}
    return all(one.key in keys or any(alike(one, other) for other in others) for one in ones)


def acronym_of(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether a phrase is one word of three to six letters with which the words of the other begin."""
    if len(one) != 1 or one[0].value is not None or not 3 <= len(one[0].text) <= 6 or len(other) < 3:
        return False
    return one[0].text in {
        "".join(item.text[0] for item in other),
        "".join(item.text[0] for item in other if item.text not in vocabulary("particles")),
    }


def opposed(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether a word of one phrase excludes a word of the other ('left' and 'right')."""
    table, others = opposites(), [item.key for item in other]
    return any(item.key in table and table[item.key] in others and item.key not in others for item in one)


def find(short: Sequence[Item], long: Sequence[Item]) -> tuple[int, int] | None:
    """Find where a phrase stands in another as a run of words or of the same letters."""
    for place in range(len(long) - len(short) + 1):
        if all(map(alike, short, long[place : place + len(short)])):
            return place, place + len(short)
    letters = "".join(item.text for item in short)
    spelled = len(letters) > 5 and letters in "".join([item.text for item in long])
    if not spelled or any(item.value is not None for item in short):
        return None
    for place in range(len(long)):
        joined, end = "", place
        while end < len(long) and len(joined) < len(letters) and letters.startswith(joined):
            joined, end = joined + long[end].text, end + 1
        if joined == letters:
            return place, end
    return None


def specifies(long: Sequence[Item], short: Sequence[Item], items: Sequence[Item], *, strict: bool = False) -> bool:
    """Whether a longer phrase names what the shorter one does, with detail.

    The shorter one must be a run of its words. What follows must not make it another thing: a number ('Apollo 11'), a
    word such as 'dioxide'. If ``strict``, the shorter one must hold the head: what follows is detail after a comma, a
    bracket or a preposition, a date, an epithet ('Louis the Beloved'), or the noun of its kind ('the Nile River'); so
    'Richard' is not enough for 'Richard Nixon'. What stands before may describe, but not change the thing ('West
    Virginia', 'the wife of') nor be one by itself ('a pain in the knee'); a sentence ('It was released in 1983')
    answers with its end.
    """
    found = find(short, long)
    if found is None:
        return False
    place, end = found
    if not _front_describes(long, place, items):
        return False
    if end == len(long):
        return True
    return _tail_is_detail(long, end, items) if strict else _tail_keeps(long, end, items)


def _tail_keeps(long: Sequence[Item], end: int, items: Sequence[Item]) -> bool:
    following = long[end]
    if isinstance(following.value, Quantity):
        return bool(following.gap.strip()) or bool(_between(long[end - 1], following, items))
    return following.key not in vocabulary("changers") or bool(following.gap.strip())


def _tail_is_detail(long: Sequence[Item], end: int, items: Sequence[Item]) -> bool:
    following = long[end]
    if isinstance(following.value, Date) or following.key in vocabulary("kinds") | vocabulary("suffixes"):
        return True
    inner = _inner(long[end - 1], following, items)
    gaps = "".join(item.gap for item in inner) + following.gap
    if any(mark in gaps for mark in ',;:(/"') or following.gap in {" - ", ". "}:
        return not isinstance(following.value, Quantity) or "(" in following.gap
    between = _between(long[end - 1], following, items)
    if between == {"the"}:
        return following.named and long[end - 1].form[0].isupper()
    return bool(between - {"the", "a", "an"}) and not between & {"and", "or"}


def _front_describes(long: Sequence[Item], place: int, items: Sequence[Item]) -> bool:
    if place == 0:
        return True
    before = long[place - 1]
    if before.text in vocabulary("modifiers") or isinstance(before.value, Quantity):
        return False
    if any(mark in item.gap for item in long[1 : place + 1] for mark in ",;:(/") or long[place].gap == " - ":
        return False
    between = _between(before, long[place], items) - {"the", "a", "an"}
    if "of" in between:
        return before.key in vocabulary("kinds")
    return not between - NAMING or "by" in between or any(item.text in vocabulary("auxiliaries") for item in items)


def _between(one: Item, other: Item, items: Sequence[Item]) -> set[str]:
    return {item.text for item in _inner(one, other, items)} - vocabulary("titles")


def _inner(one: Item, other: Item, items: Sequence[Item]) -> Sequence[Item]:
    places = [place for place, item in enumerate(items) if item is one or item is other]
    return items[places[0] + 1 : places[-1]]


def related(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Whether two phrases can be two names of one thing: same words, acronym, or names of one person."""
    if same_words(one, other) or acronym_of(one, other) or acronym_of(other, one):
        return True
    return all(1 < len(name) <= 5 and all(item.value is None for item in name) for name in (one, other)) and (
        same_person(one, other)
    )


def asks_work(question: Seen) -> bool:
    """Whether a question asks for the title of a work: 'Which film won?', 'What album is it on?'."""
    texts = [item.text for item in question.items]
    places = [place for place, text in enumerate(texts[:-1]) if text in {"which", "what"}]
    return any(question.items[place + 1].key in vocabulary("works") for place in places)


def goes_on(items: Sequence[Item], last: Item, title: Seen) -> bool:
    """Whether a title goes on after a word, with another capital or number: 'The Dark Knight Rises'."""
    place = next(number for number, item in enumerate(items) if item is last) + 1
    if place == len(items) or items[place].gap != " " or items[place].text in {item.text for item in title.items}:
        return False
    return items[place].named or isinstance(items[place].value, Quantity)


def is_list(reading: Seen) -> bool:
    """Whether 'and', 'or' or three commas join parts of what a string says."""
    ends = reading.content[0], reading.content[-1]
    places = [place for place, item in enumerate(reading.items) if item is ends[0] or item is ends[1]]
    inner = reading.items[places[0] + 1 : places[-1] + 1]
    joined = any(item.text in JOINTS or "&" in item.gap for item in inner)
    commas = sum("," in item.gap for item in inner)
    listed = enumerated(reading)
    return joined or commas > 2 or len(listed) > 2 or bool(listed and listed[0][0].value is not None)


def enumerated(reading: Seen) -> list[tuple[Item, ...]]:
    """List the parts of a string that is nothing but names or words with commas, semicolons or slashes between.

    None if the last one is a state or a country: 'Austin, Texas' is one place.
    """
    if not any(mark in item.gap for item in reading.items[1:] for mark in ",;/"):
        return []
    other = vocabulary("function") | vocabulary("auxiliaries") | vocabulary("negations") | vocabulary("denials")
    other = other.difference(ARTICLES) | vocabulary("affirmations")
    parts: list[list[Item]] = [[]]
    for item in reading.items[opening(reading.items) :]:
        mark = item.gap.strip() if parts[-1] else ""
        if mark in {",", ";", "/"}:
            parts.append([])
        elif mark or item.aside or (item.text in other and item.value is None):
            return []
        parts[-1].append(item)
    kinds = {(type(part[-1].value), part[-1].named) for part in parts} if parts[-1] else set()
    valued = bool(kinds) and any(item.value is not None for part in parts for item in part)
    if len(parts) < 2 or len(kinds) > 1 or any(len(part) > (1 if valued else ECHO) for part in parts):
        return []
    last, letter = parts[-1][-1], any(len(part[0].text) < 2 for part in parts)
    placed = not vocabulary("regions").isdisjoint({last.key, last.text}) or len(last.text) < 3
    return [tuple(part) for part in parts] if valued or not (placed or letter) else []


def list_parts(reading: Seen, informing: Sequence[Item]) -> list[tuple[Item, ...]]:
    """List the parts of the lists in a string, those with words that inform; none if there is one part or less.

    The parts of a list stand side by side, joined by commas and once by 'and', 'or' or '&', or by three commas. Two
    words joined by 'and' are no list if one is written like a name and the other is not ('by Hale and published').
    """
    listed = enumerated(reading)
    if (
        len(listed) > 2
        or (listed and listed[0][0].value is not None)
        or "/" in "".join(item.gap for item in reading.items[1:])
    ):
        return listed
    ids = {id(item) for item in informing}
    found: list[tuple[Item, ...]] = []
    for chain, marks in _chains([item for item in reading.items if not item.aside]):
        parts = [tuple(part) for part in chain if any(id(item) in ids for item in part)]
        if len(parts) > 1 and ("and" in marks or len(marks) > 2):
            found += parts
    return found


def _chains(items: Sequence[Item]) -> Iterator[tuple[list[list[Item]], list[str]]]:
    parts: list[list[Item]] = [[]]
    marks: list[str] = []
    for item in items:
        mark = _mark(item, empty=not parts[-1])
        if mark == "and" and not parts[-1] and marks:
            marks[-1] = mark
        elif mark == "," or (mark == "and" and parts[-1]):
            parts.append([])
            marks.append(mark)
        elif mark:
            yield parts, marks
            parts, marks = [[]], []
        if _is_small(item):
            continue
        if marks[-1:] == ["and"] and not parts[-1] and not _match(parts[-2], item, items):
            yield parts[:-1], marks[:-1]
            parts, marks = [[]], []
        parts[-1].append(item)
    yield parts, marks


def _mark(item: Item, *, empty: bool) -> str:
    if item.text in JOINTS or "&" in item.gap:
        return "and"
    if "," in item.gap:
        return ","
    if _is_small(item):
        return "" if empty and item.text in ARTICLES else "."
    return "" if empty or item.gap in {"", " ", "-"} else "."


def _is_small(item: Item) -> bool:
    return item.text in vocabulary("function") and item.key == item.text


def _match(part: Sequence[Item], item: Item, items: Sequence[Item]) -> bool:
    last = part[-1] if part else item
    return not last.named or last is items[0] or item.named or item.value is not None
