"""Records of what the rules see in a string."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from semece.judges.rules.values.dates import Date
from semece.judges.rules.values.quantities import Quantity


class Item(NamedTuple):
    """A word, a quantity or a date of a text.

    Parameters
    ----------
    key : str
        What is compared: a stem, the key of a quantity or the days of a date.
    text : str
        Its letters in lower case, without spaces.
    form, gap : str
        Of its first word, as in :class:`semece.judges.rules.words.Word`.
    sentence : int
        The number of its sentence, from 0.
    aside : bool
        Whether it stands in parentheses.
    value : Quantity, Date or None
        None for a word.
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

    Parameters
    ----------
    items : tuple of Item
        Everything in order.
    content : tuple of Item
        Without function words and titles; everything if nothing else is left.
    keys : frozenset of str
        The keys of the content.
    negated : bool
        Whether a negation is in its first clause.
    sentences : int
        How many sentences it has, at least 1.
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
