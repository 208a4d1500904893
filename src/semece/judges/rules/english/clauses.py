"""What a sentence says of a name in it: that it is the answer, that it is not, that others take it for the answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from semece.judges.answer_keys import ARTICLES
from semece.judges.rules.words import pairs, phrases, verb, vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.rules.items import Item, Seen

NEAR = 4
"""How many words before a name a negation is looked for."""

CLOSE = 3
"""How many words before a name a word that turns it down is looked for, and how many after it a negation."""

LONGEST = 30
"""How many words on either side a clause is looked through."""

_OPENING = re.compile(phrases("openings")[0])


def opening(items: Sequence[Item]) -> int:
    """Count the words before an answer that say nothing: 'I think it's', 'Well,', 'I'm not sure, but'.

    A word in capitals ends them ('I Think We're Alone Now'), and something must follow.
    """
    small = next((n for n, item in enumerate(items) if n and not item.form.islower() and item.text != "i"), len(items))
    found = _OPENING.match(" ".join(item.text for item in items[:small]) + (" " if small < len(items) else ""))
    return len(found[0].split()) if found else 0


def negates(items: Sequence[Item], place: int) -> bool:
    """Whether a word is a negation.

    Not the 'No.' of a number, nor one of a title, capitalised within a string, nor one that affirms ('no doubt', 'none
    other than', 'not only').
    """
    item = items[place]
    if item.value is not None or item.text not in vocabulary("negations") or (place and item.form.istitle()):
        return False
    following = [other.text for other in items[place + 1 : place + 3]]
    if following[:1] in (["a"], ["any"], ["the"]):
        del following[0]
    if following and following[0] in vocabulary("affirming"):
        return False
    return item.text != "no" or place + 1 == len(items) or items[place + 1].value is None


def clause(items: Sequence[Item], place: int) -> tuple[int, int]:
    """Find the clause of a word: from the last comma, colon or 'but' before it to the next one, within its sentence."""

    def apart(n: int) -> bool:
        return items[n - 1].sentence != items[n].sentence or _begins(items, n)

    first, last = max(0, place - LONGEST), min(len(items), place + LONGEST)
    start = next((n for n in range(place, first, -1) if apart(n)), first)
    return start, next((n for n in range(place + 1, last) if apart(n)), last)


def _begins(items: Sequence[Item], place: int) -> bool:
    gap = items[place].gap
    return any(mark in gap for mark in ",;:?(!") or gap == " - " or items[place].text in vocabulary("contrasting")


def denied(items: Sequence[Item], first: int, last: int, question: Sequence[Item]) -> bool:
    """Whether the words from `first` to `last` of a text are turned down where they stand.

    By a negation shortly before them in their clause ('It is certainly not Paris'), or after them, of what is asked
    ('Paris is not the capital'), by a word such as 'except' or 'rather than', by 'Paris? No', or as what others believe
    ('Many think it is Paris, but ...'). A question with a negation is answered by sentences with negations.
    """
    if any(negates(question, n) for n in range(len(question))):
        return False
    start, _ = clause(items, first)
    _, end = clause(items, last)
    return (
        any(negates(items, n) for n in range(max(start, first - NEAR), first))
        or _rejected(items, start, first, question)
        or _denied_after(items, last, end, question)
        or _another(items, first, last, question)
        or _reported(items, start, end)
        or _taken_for(items, last)
    )


def _rejected(items: Sequence[Item], start: int, first: int, question: Sequence[Item]) -> bool:
    if start and items[start].text == "but" and first == start + 1 and items[start - 1].text in vocabulary("every"):
        return True
    asked = {item.text for item in question}
    for n in range(max(start, first - CLOSE), first):
        word = items[n].text
        if word not in vocabulary("rejecting") or word in asked:
            continue
        lost = word in vocabulary("beating") and not asked & {"won", "win", "wins", "winner"}
        completed = pairs("completed").get(word, "").split("_")
        following = [item.text for item in items[n + 1 : n + 1 + len(completed)]]
        affirms = n and items[n - 1].text in vocabulary("negations") | {"a"}  # 'no doubt', 'without a doubt'
        if not lost and not affirms and completed in ([""], following):
            return True
    return False


def _denied_after(items: Sequence[Item], last: int, end: int, question: Sequence[Item]) -> bool:
    """Whether what follows a name says that it is not what is asked for."""
    if last + 1 < len(items) and "?" in items[last + 1].gap and items[last + 1].text in vocabulary("denials"):
        return True
    following = items[last + 1 : end]
    if not following or following[0].text not in vocabulary("auxiliaries") | vocabulary("negations"):
        return False
    for n, item in enumerate(following[:CLOSE]):
        if n and item.text in vocabulary("dismissed"):
            return True
        if negates(following, n):
            rest = [other for other in following[n + 1 :] if other.text not in vocabulary("function")]
            asked = {verb(other.key) for other in question}
            return not rest or any(verb(other.key) in asked for other in rest)
    return False


def _another(items: Sequence[Item], first: int, last: int, question: Sequence[Item]) -> bool:
    """Whether a name says whose relative somebody is: 'the wife of Nixon', 'Nixon's wife', 'larger than Nixon'."""
    asked = {item.key for item in question}
    relatives = vocabulary("relatives") - asked
    before = items[max(0, first - 2) : first]
    if len(before) == 2 and before[1].text == "of" and before[0].key in relatives:
        return True
    if before and before[-1].text == "than" and before[0].text not in {"other", "else"}:
        return True
    following = items[last + 1] if last + 1 < len(items) else None
    if following is None or following.gap != " ":
        return False
    return following.key == "senior" or (following.form.islower() and following.key in relatives)


def _reported(items: Sequence[Item], start: int, end: int) -> bool:
    words = {item.text for item in items[start:end]}
    if not words & vocabulary("many") or not {verb(word) for word in words} & _reporting():
        return False
    sentence, around = items[start].sentence, items[max(0, start - LONGEST) : end + LONGEST]
    return any(item.text in vocabulary("contrasting") for item in around if item.sentence == sentence)


def _taken_for(items: Sequence[Item], last: int) -> bool:
    """Whether a relative clause says that many take a name for the answer: 'Sydney, which many think is it'."""
    following = items[last + 1 : last + 1 + 2 * NEAR]
    if not following or following[0].text not in RELATIVES or "," not in following[0].gap:
        return False
    words = {item.text for item in following}
    return bool(words & vocabulary("many")) and bool({verb(word) for word in words} & _reporting())


def main_clause(items: Sequence[Item]) -> Sequence[Item]:
    """Cut off the first relative clause of a sentence, and what follows, if there is a verb before it."""
    for place, item in enumerate(items):
        if item.text in RELATIVES and "," in item.gap:
            verbs = any(before.text in vocabulary("auxiliaries") for before in items[:place])
            return items[:place] if verbs else items
    return items


RELATIVES = frozenset({"who", "whom", "whose", "which", "where"})
"""Words that after a comma begin a relative clause."""


def _reporting() -> frozenset[str]:
    return frozenset(map(verb, vocabulary("reporting")))


def affirmed(items: Sequence[Item]) -> Sequence[Item]:
    """Cut off a first clause that only says what is not so: 'It is not Sydney, it is Canberra', 'not Rome but Lyon'."""
    if not items or items[-1].sentence:
        return items
    _, end = clause(items, 0)
    rest = items[end:]
    here = any(negates(items, n) for n in range(end))
    if not here or not rest or any(negates(rest, n) for n in range(len(rest))):
        return items
    kept = rest[1:] if rest[0].text in vocabulary("contrasting") else rest
    return kept if kept and all(item.text not in vocabulary("auxiliaries") for item in kept[2:]) else items


def says_yes(answer: Seen, question: Seen) -> bool | None:
    """Whether an answer says yes or no: in a word, in a short phrase, or by a sentence that repeats the question."""
    first = [item for item in answer.items if item.sentence == 0]
    texts = [item.text for item in first]
    asks = bool(question.items) and question.items[0].text in vocabulary("auxiliaries")
    negated = any(negates(first, n) for n in range(len(first)))
    for words in (texts[: clause(first, 0)[1]] if first else [], texts):
        said = _in_a_word(words, negated=asks and negated)
        if said is not None:
            return said
    if not asks:
        return None
    if all(text in vocabulary("function") | vocabulary("negations") for text in texts):
        return None if vocabulary("auxiliaries").isdisjoint(texts) else not negated
    if not negated and _is_another(first, question):
        return False
    repeats = 2 * len({item.key for item in first} & question.keys) >= len(question.keys)
    return not negated if repeats else None


def _in_a_word(words: Sequence[str], *, negated: bool) -> bool | None:
    """Whether a short clause is a yes or a no."""
    if not words or len(words) > BRIEF:
        return None
    clause = " ".join(words)
    if clause in phrases("dissent") or (words[0] in vocabulary("denials") and (words[0] != "never" or len(words) == 1)):
        return False
    if words[0] == "not" and len(words) == 2:
        return words[1] in vocabulary("denials")
    if words[-1] in vocabulary("denials") and len(words) == 2:
        return False
    return not negated if words[0] in vocabulary("affirmations") or clause in phrases("assent") else None


BRIEF = 5
"""Words of a clause that can be a yes or a no."""


def _is_another(first: Sequence[Item], question: Seen) -> bool:
    """Whether a sentence calls the subject another thing: 'Whales are mammals', asked whether they are fish.

    Both things must be named alike: with an article, or as words in the plural.
    """
    texts = [item.text for item in first]
    verbs = [place for place, text in enumerate(texts) if text in vocabulary("being")]
    if question.items[0].text not in vocabulary("being") or len(verbs) != 1 or not 0 < verbs[0] < len(first) - 1:
        return False
    if not all(item.key in question.keys or item.text in ARTICLES for item in first[: verbs[0]]):
        return False
    thing, asked = first[verbs[0] + 1 :], question.items[-2:]
    alike = len(thing) <= 3 and len(asked) == 2 and (thing[0].text in ARTICLES) == (asked[0].text in ARTICLES)
    plural = [items[-1].key != items[-1].text or items[0].text in ARTICLES for items in (thing, asked)]
    return alike and plural[0] and thing[-1].key not in question.keys
