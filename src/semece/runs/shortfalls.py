"""What a judge left without a verdict or a partition, and why: in words that say what to do."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from semece.judges import Missing, Undelivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

AGAIN = "--retry-failed asks for them again"
"""How to ask again for what came without a text."""

ROOM = ", --judge-max-tokens or #max-tokens=N after the judge's name gives it more room"
"""What helps a judge whose replies are cut."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Verdicts and partitions that a judge owes.

    Parameters
    ----------
    judge : str
        Its spelling.
    undelivered : int
        Those of which no reply came; another invocation may get them.
    unreadable : int
        Those whose replies cannot be read, twice in a row; another invocation asks again.
    without_text : mapping of str to int
        Those whose reply came without a text, by the reason (``refusal``, ``content_filter``, ``truncated``); they are
        not asked again unless that is wanted.
    last_failure, last_fault : str or None
        The newest sentence of a call that delivered nothing, and of a reply that cannot be read.
    """

    judge: str
    undelivered: int = 0
    unreadable: int = 0
    without_text: Mapping[str, int] = field(default_factory=dict)
    last_failure: str | None = None
    last_fault: str | None = None

    @property
    def missing(self) -> int:
        """How many another invocation may still get."""
        return self.undelivered + self.unreadable

    def sentences(self) -> Iterator[str]:
        """Say what is not there and why, one sentence for each reason.

        Examples
        --------
        >>> next(Shortfall("openai/x", without_text={"refusal": 2}).sentences())
        'openai/x: 2 of its verdicts and partitions came without a text (refusal 2); --retry-failed asks for them again'
        """
        what = "of its verdicts and partitions"
        if self.undelivered:
            last = "" if self.last_failure is None else f" (the last failure: {self.last_failure})"
            yield f"{self.judge}: {self.undelivered:,} {what} did not come{last}"
        if self.unreadable:
            yield f"{self.judge}: {self.unreadable:,} {what} cannot be read (the last: {self.last_fault})"
        if self.without_text:
            reasons = ", ".join(f"{reason} {count:,}" for reason, count in self.without_text.items())
            room = ROOM if "truncated" in self.without_text else ""
            count = sum(self.without_text.values())
            yield f"{self.judge}: {count:,} {what} came without a text ({reasons}); {AGAIN}{room}"

    def as_dict(self) -> dict[str, Any]:
        """Give the fields by name."""
        return asdict(self)


def shortfall_of(judge: str, faults: Iterable[Exception], last_failure: str | None) -> Shortfall:
    """Count why a judge has not judged.

    Parameters
    ----------
    judge : str
        Its spelling.
    faults : iterable of Exception
        ParseError, Undelivered or Missing: one for each verdict or partition that is not there, the newest last.
    last_failure : str or None
        The newest sentence of a call of the judge that delivered nothing.

    Examples
    --------
    >>> found = shortfall_of("openai/x", [Missing(), Undelivered("refusal"), Undelivered("refusal")], "openai/x: 500")
    >>> found.missing, found.without_text
    (1, {'refusal': 2})
    """
    undelivered, unreadable = 0, []
    without: Counter[str] = Counter()
    for fault in faults:
        if isinstance(fault, Missing):
            undelivered += 1
        elif isinstance(fault, Undelivered):
            without[fault.status] += 1
        else:
            unreadable.append(str(fault))
    return Shortfall(
        judge,
        undelivered,
        len(unreadable),
        dict(sorted(without.items())),
        last_failure if undelivered else None,
        unreadable[-1] if unreadable else None,
    )
