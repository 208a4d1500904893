"""A string prepared for comparison with the others of its question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from semece.judges.rules.english.clauses import main_clause, says_yes
from semece.judges.rules.english.names import sound
from semece.judges.rules.english.phrases import core, is_sentence, list_parts, whole
from semece.judges.rules.english.regimens import regimen
from semece.judges.rules.values.dates import Date
from semece.judges.rules.words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.judges.rules.english.regimens import Regimen
    from semece.judges.rules.items import Item, Seen
    from semece.judges.rules.values.quantities import Quantity

PHRASE = 8
"""A string with more informing words than this is no phrase."""


@dataclass(frozen=True, slots=True)
class Form:
    """A string prepared for comparison with the others of its question.

    The string and what is read in it; what informs, everything outside parentheses, and what stands in them; the
    values of the core and the parts of the lists; whether it is a sentence or too long for a phrase (`prose`), has a
    negation (one in a sentence says nothing if the question has one, too), has a word that is not in the question
    (`informs`); `traces`, one of which linked strings share; the question; the one new name in the main clause of a
    sentence; how a dose is given; whether it says yes or no to a question that asks for that.
    """

    text: str
    reading: Seen
    core: tuple[Item, ...]
    whole: tuple[Item, ...]
    aside: tuple[Item, ...]
    values: tuple[Quantity | Date, ...]
    parts: tuple[tuple[Item, ...], ...]
    prose: bool
    negated: bool
    informs: bool
    traces: frozenset[str]
    asked: tuple[Item, ...]
    name: tuple[Item, ...]
    regimen: Regimen
    yes: bool | None


def prepare(text: str, reading: Seen, question: Seen) -> Form:
    """Prepare what is read in a string as an answer to a question."""
    informing = core(reading, question)
    aside = tuple(item for item in reading.content if item.aside)
    informs = not reading.keys <= question.keys or any(item.text == "or" for item in question.items)
    yes = (
        says_yes(reading, question) if question.items and question.items[0].text in vocabulary("auxiliaries") else None
    )
    traces = frozenset([*_traces(reading.content), *(() if yes is None else ("yes or no",))])
    parts = tuple(list_parts(reading, informing))
    prose = is_sentence(reading) or len(reading.content) > PHRASE
    quotes = prose and any(item.text in vocabulary("negations") for item in question.items)
    return Form(
        text,
        reading,
        informing,
        whole(reading),
        aside,
        _values(informing),
        parts,
        prose,
        reading.negated and not quotes,
        informs,
        traces,
        question.items,
        _name(reading, informing) if prose else (),
        regimen(reading.content),
        yes,
    )


def _name(reading: Seen, informing: Sequence[Item]) -> tuple[Item, ...]:
    runs: list[list[Item]] = []
    new = {id(item) for item in informing}
    for item in main_clause(reading.items):
        if not item.named or id(item) not in new or item.sentence:
            continue
        if runs and item.gap in {" ", ". "} and reading.items.index(item) == reading.items.index(runs[-1][-1]) + 1:
            runs[-1].append(item)
        else:
            runs.append([item])
    return tuple(runs[0]) if len(runs) == 1 else ()


def _values(items: Sequence[Item]) -> tuple[Quantity | Date, ...]:
    values = [item.value for item in items if item.value is not None]
    if len(values) == len(items) == 2:
        first, last = values
        if isinstance(first, Date) and isinstance(last, Date) and first.bare and last.bare and first.low < last.low:
            return (first._replace(high=last.high, precision="span", bare=False),)
    return tuple(values)


def _traces(content: Sequence[Item]) -> Iterator[str]:
    yield "".join(item.text for item in content)[:4]
    yield "".join(item.text[0] for item in content)
    yield "".join(item.text[0] for item in content if item.text not in vocabulary("particles"))
    for item in content:
        yield item.key
        if item.value is not None:
            yield "#"
        elif len(item.text) >= 4:
            yield sound(item.text)
            yield item.text[:3]
