"""The mathematics judge: two answers are the same if they are equal as mathematics, with the library math-verify.

Formulas, equations, intervals, sets, units, percents and letters of a choice; words go to the rules of English.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, TYPE_CHECKING

from semece.judges.answer_keys import answer_key, check_answers, check_references, kept_key
from semece.judges.judge_protocol import Absent, Undecided
from semece.judges.math_texts import formula, is_words, plain_words
from semece.judges.rules.rules_judge import RulesJudge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.math_texts import Formula
    from semece.records import Question, Verdict

PATIENCE = 60.0
"""Seconds that a comparison may take at most; the process ends it after fewer seconds of work."""

_RULES = RulesJudge()


class MathJudge:
    r"""Equality as mathematics; a :class:`semece.judges.RuleJudge`.

    Raises
    ------
    Absent
        The extra is not installed.

    Examples
    --------
    >>> from semece.records import Question
    >>> judge = MathJudge()
    >>> judge.partition(Question("1", "?"), ["1/2", "0.5", r"\frac{1}{3}", r"\boxed{\frac12}"])
    [0, 0, 1, 0]
    >>> judge.grade(Question("1", "?", (r"\sqrt{12}",)), r"$2\sqrt{3}$")
    'correct'
    """

    name = "math"
    id = "math-1"

    def __init__(self) -> None:
        if find_spec("math_verify") is None:
            raise Absent("the judge math needs math-verify: pip install 'semece[math]'")

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group non-empty strings by equality; words by the rules. The same groups in whatever order they come."""
        check_answers(answers)
        texts = sorted(set(answers))
        home = {text: number for number, text in enumerate(texts)}
        words = [text for text in texts if _of_words(text)]
        for text, label in zip(words, _RULES.partition(question, [plain_words(w) for w in words]), strict=True):
            home[text] = -1 - label
        heads: list[str] = []
        for text in (text for text in texts if not _of_words(text)):
            head = next((head for head in heads if _same(head, text, question) is True), None)
            home[text] = home[head or text]
            heads += [] if head else [text]
        labels: dict[int, int] = {}
        return [labels.setdefault(home[text], len(labels)) for text in answers]

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Correct if equal to a reference.

        Raises
        ------
        Undecided
            The comparison did not end: there is no verdict.
        ValueError
            There are no references.
        """
        check_references(question)
        if kept_key(answer) is None:
            return "not_attempted"
        found = [_same(reference, answer, question) for reference in question.references if reference.strip()]
        if True in found:
            return "correct"
        if None in found:
            raise Undecided(f"the answer could not be compared within {PATIENCE:.0f} s: {answer[:60]!r}")
        return "incorrect"


def _of_words(text: str) -> bool:
    """Whether a text is words, and no letter of a choice."""
    found = formula_of(text)
    return is_words(text) and not (found is not None and found.choice)


@lru_cache(maxsize=4096)
def formula_of(text: str) -> Formula | None:
    """Find the formula of a text, once."""
    return formula(text)


def _same(reference: str, answer: str, question: Question) -> bool | None:
    """Whether an answer says what a reference says; None if that could not be found out."""
    if answer_key(reference) == answer_key(answer):
        return True
    wanted, given = formula_of(reference), formula_of(answer)
    if _of_words(reference):
        return _RULES.grade(replace(question, references=(plain_words(reference),)), plain_words(answer)) == "correct"
    if wanted is None or given is None:
        return False
    if wanted.choice or given.choice:
        return wanted.choice == given.choice
    if wanted.unit != given.unit and wanted.unit and given.unit:
        return False
    return wanted.text == given.text or compare(wanted.text, given.text)


@lru_cache(maxsize=65536)
def compare(one: str, other: str) -> bool | None:
    """Whether two formulas are equal; None if the comparison did not end. What cannot be parsed is not equal.

    Examples
    --------
    >>> compare("(x+1)^2", "x^2+2x+1"), compare("1/3", "0.333333"), compare("(0,1)", "[0,1]")
    (True, False, False)
    """
    with _LOCK:
        return _PROCESS.ask(one, other)


class _Process:
    """The process that compares: started when it is first needed, ended when a comparison does not end."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str] = SimpleQueue()

    def ask(self, one: str, other: str) -> bool | None:
        """Compare two formulas."""
        running = self._running or self._start()
        try:
            running.stdin.write(json.dumps([one, other]) + "\n")  # type: ignore[union-attr]
            running.stdin.flush()  # type: ignore[union-attr]
            line = self._lines.get(timeout=PATIENCE)
        except (OSError, Empty):
            line = ""
        if not line:
            self.end()
            return None
        return json.loads(line) is True

    def _start(self) -> subprocess.Popen[str]:
        """Start the process without the keys in this one's environment, and wait until it can compare."""
        kept = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}
        running = subprocess.Popen(
            [sys.executable, "-m", "semece.judges.math_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env=kept,
        )
        self._running, self._lines = running, SimpleQueue()
        Thread(target=_forward, args=(running.stdout, self._lines), daemon=True).start()
        with suppress(Empty):
            if self._lines.get(timeout=PATIENCE):
                return running
        self.end()
        raise Absent("the judge math could not start the process in which it compares")

    def end(self) -> None:
        """End the process, if there is one."""
        if self._running is None:
            return
        self._running.kill()
        self._running.wait()
        for pipe in (self._running.stdin, self._running.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self._running = None


def _forward(lines: IO[str], queue: SimpleQueue[str]) -> None:
    """Hand over what a process writes, line by line; an empty line when it has ended."""
    with suppress(ValueError, OSError):
        for line in lines:
            queue.put(line)
    queue.put("")


_ENVIRONMENT = frozenset(
    {"PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "HOME"}
)
_LOCK = Lock()
_PROCESS = _Process()
atexit.register(_PROCESS.end)
