"""Records of what the rules see in a string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from semece.judges.rules.values.dates import Date
from semece.judges.rules.values.quantities import Quantity


class Item(NamedTuple):
    """A word, a quantity or a date of a text.

    `key` is what is compared: a stem, the key of a quantity or the days of a date. `text` holds its letters in lower
    case, without spaces; `form` and `gap` are those of its first word. Then the number of its sentence, from 0, whether
    it stands in parentheses, and its value, None for a word.
    """

    key: str
    text: str
    form: str
    gap: str
    sentence: int = 0
    aside: bool = False
    value: Quantity | Date | None = None

    @property
    def named(self) -> bool:
        """Whether it is a word written like a name."""
        return self.value is None and self.form[0].isupper()


@dataclass(frozen=True, slots=True)
class Seen:
    """A string as the rules see it.

    Everything in order; the content, without function words and titles (everything if nothing else is left), and its
    keys; whether a negation is in its first clause; how many sentences it has, at least 1.
    """

    items: tuple[Item, ...]
    content: tuple[Item, ...]
    keys: frozenset[str]
    negated: bool
    sentences: int

    @property
    def dates(self) -> list[Date]:
        """The dates in order."""
        return [item.value for item in self.content if isinstance(item.value, Date)]

    @property
    def quantities(self) -> list[Quantity]:
        """The quantities in order."""
        return [item.value for item in self.content if isinstance(item.value, Quantity)]
