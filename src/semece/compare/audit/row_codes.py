"""What a sheet's rows carry, so that they and the run are all that scoring needs.

A row's code names its question, its answer and its stratum; its stamp says what was drawn from how many. Both are
legible to whoever has the run, and hide the judge's verdicts from whoever has not. The judge may change and other
questions may be completed: the verdicts still count for what they were drawn for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from semece.compare.audit.draws import AuditPlan, audit_hash
from semece.errors import ParseError, SemeceError

if TYPE_CHECKING:
    from semece.compare.audit.draws import DrawnAnswer
    from semece.runs import Run

FORMAT = "1"
ALPHABET = "bcdfghjkmnpqrstvwxz"
"""Letters that make no word, no month and no number, so that a spreadsheet leaves them alone."""

STRATA = len(ALPHABET) ** 2
"""How many strata two letters can name."""

CODE = re.compile(rf"([{ALPHABET}]{{5}}-[{ALPHABET}]{{5}})-([{ALPHABET}]{{4}})-([{ALPHABET}]{{2}})")
STAMP = re.compile(r"audit(\d+)-([0-9a-f]{8})-((?:[0-9a-f]{2})+)")


class Code(NamedTuple):
    """A row's code, taken apart: letters for question, answer and stratum."""

    question: str
    answer: str
    stratum: str


class Key:
    """What makes codes and stamps legible: model and dataset of a run.

    Parameters
    ----------
    run : Run
        The run.
    """

    def __init__(self, run: Run) -> None:
        self._secret = audit_hash(run.model, run.dataset)

    def _hash(self, *parts: object) -> bytes:
        return audit_hash(self._secret.hex(), *parts)

    @property
    def run(self) -> str:
        """Tells runs of other models and datasets apart without naming them."""
        return self._hash("run").hex()[:8]

    def question(self, plan: AuditPlan, identity: str) -> str:
        """Name a question."""
        text = _letters(self._hash("question", plan.seed, identity), 10)
        return f"{text[:5]}-{text[5:]}"

    def answer(self, plan: AuditPlan, identity: str, answer: str) -> str:
        """Tell whether a question's answer is still the same."""
        return _letters(self._hash("answer", plan.seed, identity, answer), 4)

    def code(self, plan: AuditPlan, drawn: DrawnAnswer) -> str:
        """Name a row."""
        q = drawn.answer.question
        first, second = divmod((drawn.stratum + self._offset(plan, q.id)) % STRATA, len(ALPHABET))
        answer = self.answer(plan, q.id, drawn.answer.answer)
        return f"{self.question(plan, q.id)}-{answer}-{ALPHABET[first]}{ALPHABET[second]}"

    def stratum(self, plan: AuditPlan, identity: str, code: Code) -> int | None:
        """Read the stratum of a question's row; None if the plan has no such stratum."""
        first, second = (ALPHABET.index(letter) for letter in code.stratum)
        number = (len(ALPHABET) * first + second - self._offset(plan, identity)) % STRATA
        return number if number < len(plan.sizes) else None

    def _offset(self, plan: AuditPlan, identity: str) -> int:
        return int.from_bytes(self._hash("stratum", plan.seed, identity)[:8])

    def stamp(self, plan: AuditPlan) -> str:
        """Say what was drawn from what."""
        sizes, drawn = ("+".join(map(str, counts)) for counts in (plan.sizes, plan.drawn))
        text = f"{plan.seed} {plan.by} {sizes} {drawn} {plan.questions}"
        return f"audit{FORMAT}-{self.run}-{self._turned(text.encode()).hex()}"

    def read_stamp(self, stamp: str, where: str) -> AuditPlan:
        """Read what was drawn from what.

        Raises
        ------
        ParseError
            It is not a stamp, or one of a newer version.
        SemeceError
            It is one of another run.
        """
        match = STAMP.fullmatch(stamp)
        if match and match[1] != FORMAT:
            raise ParseError(f"{where} was written by a newer version of semece (format {match[1]}); update semece")
        if match and match[2] != self.run:
            raise SemeceError(f"{where} is a sheet of another run: another model or another dataset")
        plan = _plan(self._turned(bytes.fromhex(match[3]))) if match else None
        if plan is None:
            raise ParseError(f"{where}: the column 'audit' must be as it was written; got {stamp[:40]!r}")
        return plan

    def _turned(self, data: bytes) -> bytes:
        """Hide, or show again."""
        blocks = (self._hash("stamp", number) for number in range(len(data) // 32 + 1))
        return bytes(one ^ other for one, other in zip(data, b"".join(blocks), strict=False))


def read_code(text: str) -> Code | None:
    """Take a row's code apart; None if it is none.

    Examples
    --------
    >>> read_code("bcdfg-hjkmn-pqrs-tv")
    Code(question='bcdfg-hjkmn', answer='pqrs', stratum='tv')
    """
    match = CODE.fullmatch(text)
    return None if match is None else Code(*match.groups())


def _plan(data: bytes) -> AuditPlan | None:
    """Make a plan of what a stamp hides; None if it makes no sense."""
    try:
        seed, by, *counts, questions = data.decode().split(" ")
        sizes, drawn = (tuple(int(n) for n in each.split("+")) for each in counts)
        plan = AuditPlan(int(seed), by, sizes, drawn, questions)
    except ValueError:
        return None
    possible = len(sizes) == len(drawn) and all(0 < n <= size for n, size in zip(drawn, sizes, strict=True))
    return plan if possible else None


def _letters(hashed: bytes, length: int) -> str:
    number, text = int.from_bytes(hashed), ""
    for _ in range(length):
        number, place = divmod(number, len(ALPHABET))
        text += ALPHABET[place]
    return text
