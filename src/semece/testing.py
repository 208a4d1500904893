"""A pytest plugin: a test passes if a question is answered rightly often enough. Installed with the package.

.. code-block:: python

    def test_the_capital(right_often):
        right_often(ask, "What is the capital of France?", "Paris", at_least=0.8, repeats=30)

Nothing is loaded but pytest until a test uses it.
"""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from semece import FrequencyGate

    Ask = Callable[[str], str | Awaitable[str]]
    Right = str | Sequence[str] | Callable[[str], bool]

__all__ = ["answer_often", "right_often"]

ROWS, WIDTH = 8, 80
"""Texts that a failure shows, and their characters."""


@pytest.fixture
def right_often() -> Callable[..., FrequencyGate]:
    """Give :func:`answer_often`, which here fails the test unless the answer is right often enough."""

    def asked(*arguments: Any, **options: Any) -> FrequencyGate:  # noqa: ANN401 - those of answer_often
        __tracebackhide__ = True
        found, said = answer_often(*arguments, **options)
        if not found.passed:
            pytest.fail(said, pytrace=False)
        return found

    return asked


def answer_often(
    ask: Ask,
    question: str,
    right: Right,
    *,
    at_least: float = 0.8,
    repeats: int = 30,
    level: float = 0.95,
) -> tuple[FrequencyGate, str]:
    """Ask a question again and again, and say how often its answer is right.

    Parameters
    ----------
    ask : callable
        From the question to a text; may be async. What it raises ends the test.
    question : str
        What is asked, each time anew.
    right : str, sequence of str or callable
        References, with which the judge ``rules`` compares the answers; or a function from the text to whether it is
        right.
    at_least : float
        Frequency wanted, in (0, 1).
    repeats : int
        How often the question is asked.
    level : float
        How sure it must be, in (0, 1): a question that is right less often passes in at most 1 - `level` of all times.

    Returns
    -------
    tuple of FrequencyGate and str
        Whether it passes (:func:`semece.frequency_gate`), and a sentence; if it does not pass, a table of the texts
        stands below.

    Raises
    ------
    ValueError
        For numbers out of range, and for so few repeats that nothing could pass: before anything is asked.

    Examples
    --------
    >>> found, sentence = answer_often(lambda question: "Paris, I think.", "Capital of France?", "Paris", repeats=14)
    >>> found.passed, sentence
    (True, "'Capital of France?' is right in 14 of 14 repeats: 95 % sure, in at least 81 %; wanted 80 %.")
    """
    from semece import frequency_gate

    __tracebackhide__ = True
    frequency_gate(0, repeats, at_least=at_least, level=level)
    texts = _texts(ask, question, repeats)
    verdicts = _verdicts(texts, question, right)
    found = frequency_gate(sum(verdicts), repeats, at_least=at_least, level=level)
    said = _sentence(question, found, (at_least, level))
    return found, said if found.passed else f"{said}\n\n{_table(texts, verdicts)}"


def _texts(ask: Ask, question: str, repeats: int) -> list[str]:
    """Ask; what the program raises shows the program's own lines alone."""
    __tracebackhide__ = True
    try:
        return asyncio.run(_asked(ask, question, repeats))
    except Exception as error:
        lines = error.__traceback__
        while lines and lines.tb_frame.f_globals.get("__name__", "").split(".")[0] in {"asyncio", "semece"}:
            lines = lines.tb_next
        raise error.with_traceback(lines) from error.__cause__


async def _asked(ask: Ask, question: str, repeats: int) -> list[str]:
    """Ask, one time after the other."""
    texts = []
    for _ in range(repeats):
        text = ask(question)
        texts.append(await text if isawaitable(text) else text)
    return texts


def _verdicts(texts: Sequence[str], question: str, right: Right) -> list[bool]:
    """Say which answers are right."""
    __tracebackhide__ = True
    if callable(right):
        return [bool(right(text)) for text in texts]
    from semece import evaluate_sync

    left = iter(texts)

    async def given(_: str) -> str:
        return next(left)

    references = [right] if isinstance(right, str) else list(right)
    asked = [{"question": question, "references": references}]
    with evaluate_sync(given, asked, n=len(texts), judge="rules", prompt="{question}", grade_classes="all") as run:
        return (run.responses().sort("index")["verdict"] == "correct").to_list()


def _sentence(question: str, found: FrequencyGate, wanted: tuple[float, float]) -> str:
    """Say what came of it."""
    at_least, level = (f"{100 * share:g} %" for share in wanted)
    how = f"{question!r} is right in {found.right} of {found.repeats} repeats"
    if found.passed:
        return f"{how}: {level} sure, in at least {100 * found.low:.0f} %; wanted {at_least}."
    return f"{how}, and {found.needed} must be right to be {level} sure that it is right {at_least} of the time."


def _table(texts: Sequence[str], verdicts: Sequence[bool]) -> str:
    """Tabulate what was said, the most frequent texts first."""
    from collections import Counter

    counts = Counter(zip(texts, verdicts, strict=True)).most_common()
    rows = [(str(n), "yes" if right else "no", " ".join(text.split())[:WIDTH]) for (text, right), n in counts[:ROWS]]
    if left := sum(n for _, n in counts[ROWS:]):
        rows.append((str(left), "", "other texts"))
    return "\n".join(f"{n:>5}  {right:5}  {text}" for n, right, text in [("times", "right", "text"), *rows])
