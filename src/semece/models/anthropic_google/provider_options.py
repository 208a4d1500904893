"""Options that a service does not take: which one a refusal names, and what is left out from then on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from semece.models.shared.refusals import may_leave_out

if TYPE_CHECKING:
    from collections.abc import Sequence

OPTIONS = ("top_p", "temperature", "seed", "thinking", "schema")
"""Options that may be left out, in the order in which a refusal that names several is read."""

_WORDS = {
    "top_p": r"top_?p\b",
    "temperature": r"temperature\b",
    "seed": r"seed\b",
    "thinking": r"(thinking|reasoning|effort)",
    "schema": r"(output_config|output_format|json_?schema|response_?(json_?)?schema|response_?mime_?type|schema)",
}
"""How services write the options that may be left out."""


def named_option(sentence: str, sent: Sequence[str]) -> str | None:
    """Find the option that a service does not take, among those that were sent.

    Parameters
    ----------
    sentence : str
        The service's sentence.
    sent : sequence of str
        Names of options, in the order in which a sentence that names several is read.

    Returns
    -------
    str or None
        None if it names none, or refuses only its value.

    Examples
    --------
    >>> named_option("`temperature` and `top_p` cannot both be specified", ["top_p", "temperature"])
    'top_p'
    """
    for name in sent:
        if re.search(rf"(?<![a-z]){_WORDS[name]}", sentence, re.IGNORECASE):
            return name if may_leave_out(name, sentence) else None
    return None


@dataclass(slots=True)
class Dropped:
    """Options a service does not take, and what of that has not been told yet.

    Parameters
    ----------
    names : set of str
        From :data:`OPTIONS`.
    news : list of str
        One sentence for each, and for what else was noticed, until it is told.
    known : set of str
        What was news once.
    """

    names: set[str] = field(default_factory=set)
    news: list[str] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def add(self, name: str, reason: str) -> None:
        """Leave an option out from now on."""
        if name not in self.names:
            self.names.add(name)
            self.news.append(f"{name} is left out: {reason}")

    def tell(self, sentence: str) -> None:
        """Make a sentence news if it never was."""
        if sentence not in self.known:
            self.known.add(sentence)
            self.news.append(sentence)

    def told(self) -> tuple[str, ...]:
        """Give the news once."""
        news, self.news = tuple(self.news), []
        return news
