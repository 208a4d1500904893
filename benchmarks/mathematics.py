"""References of MATH-500, changed so that their value changes and rewritten so that it does not, graded by math."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

from benchmarks._data import ABSENT, shared_rows
from benchmarks._tables import table
from semece.judges.math import MathJudge
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TITLE = "Mathematics judge"
TEXT = """The references of MATH-500, changed and rewritten, graded against themselves. A change counts only where sympy
finds another value at random points, or where the kind of a bracket is the change. The bars: at most 1 % of each kind
of change is graded correct, at most 5 % of each kind of rewriting is graded incorrect.
"""

_WORDS = re.compile(r"\\(?:text|mbox)\s*\{[^{}]*\}$")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")
_BETWEEN = re.compile(r"(?<=[\w)}])\s*([+-])\s*(?=[\w(\\])")
_PLAIN = re.compile(r"-?\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_RANGE = re.compile(r"[\[\]]")


def _minus(text: str) -> str | None:
    return (
        None if re.search(r"text|mbox|,|=|\\in\b|pmatrix|\{C\}", text) else text[1:] if text[0] == "-" else f"-{text}"
    )


def _swapped(text: str) -> str | None:
    found = _BETWEEN.search(text)
    return found and text[: found.start()] + ("-" if found[1] == "+" else "+") + text[found.end() :]


def _flipped(text: str) -> str | None:
    return _FRACTION.sub(r"\\frac{\2}{\1}", text, count=1) if _FRACTION.search(text) else None


def _unrooted(text: str) -> str | None:
    return _ROOT.sub(r"\1", text, count=1) if _ROOT.search(text) else None


def _rebracketed(text: str) -> str | None:
    return _RANGE.sub(lambda mark: "(" if mark[0] == "[" else ")", text) if _RANGE.search(text) else None


CHANGES: dict[str, Callable[[str], str | None]] = {
    "a minus before it": _minus,
    "+ for -, - for +": _swapped,
    "a fraction turned over": _flipped,
    "a root left out": _unrooted,
    "parentheses for brackets": _rebracketed,
}


def _slashed(text: str) -> str | None:
    return (
        _PLAIN.sub(lambda f: f[0][: f[0].startswith("-")] + f"{f[1]}/{f[2]}", text) if _PLAIN.fullmatch(text) else None
    )


def _decimal(text: str) -> str | None:
    found = _PLAIN.fullmatch(text)
    if not found:
        return None
    value = Fraction(int(found[1]), int(found[2]))
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return text[: text[0] == "-"] + f"{float(value)}" if rest == 1 else None


def _spaced(text: str) -> str:
    return re.sub(r"(?<![\\\[{(,])([-+=])(?=[\w\\(])", r" \1 ", text).strip()


def _fitted(text: str) -> str | None:
    if not re.match(r"[(\[]", text) or not re.search(r"[)\]]$", text):
        return None
    return f"\\left{text[0]}{text[1:-1]}\\right{text[-1]}"


REWRITINGS: dict[str, Callable[[str], str | None]] = {
    r"\dfrac for \frac": lambda text: text.replace("\\frac", "\\dfrac") if "\\frac" in text else None,
    "a/b for a fraction": _slashed,
    "a decimal for a fraction": _decimal,
    "dollar signs": lambda text: None if "$" in text else f"${text}$",
    "a box": lambda text: f"\\boxed{{{text}}}",
    "'The answer is'": lambda text: f"The answer is ${text}$." if "$" not in text else f"The answer is {text}.",
    "blanks around signs": _spaced,
    r"\left and \right": _fitted,
    "blanks taken out": lambda text: re.sub(r"(?<![A-Za-z]) +| +(?![A-Za-z])", "", text) if " " in text else None,
}


def changed(one: str, other: str) -> bool:
    """Whether sympy finds that two texts have different values, at three points."""
    from latex2sympy2_extended import latex2sympy
    from sympy import Basic, Integer

    def values(text: str) -> list[complex]:
        expression = latex2sympy(text)
        if not isinstance(expression, Basic) or not hasattr(expression, "evalf"):
            return []
        names = sorted(expression.free_symbols, key=str)
        points = [{name: Integer(3 + 2 * point + 5 * place) for place, name in enumerate(names)} for point in range(3)]
        return [complex(expression.subs(point).evalf()) for point in points]

    try:
        first, second = values(one), values(other)
    except Exception:
        return False
    return bool(first) and any(abs(a - b) > 1e-9 for a, b in zip(first, second, strict=True))


def variants(text: str) -> Iterator[tuple[str, str, str]]:
    """Give the changes and rewritings of a reference that differ from it."""
    for kind, change in CHANGES.items():
        other = change(text)
        if other and other != text and (change is _rebracketed or changed(text, other)):
            yield "changed", kind, other
    for kind, rewriting in REWRITINGS.items():
        other = rewriting(text)
        if other and other != text:
            yield "rewritten", kind, other


def measure(references: list[str]) -> tuple[dict[tuple[str, str], Counter[str]], list[tuple[str, str, str]]]:
    """Grade all variants; give the verdicts by kind, and the wrong ones."""
    judge = MathJudge()
    found: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    wrong = []
    for reference in references:
        for side, kind, other in variants(reference):
            verdict = judge.grade(Question("q", "What is it?", (reference,)), other)
            found[side, kind][verdict] += 1
            if (verdict == "correct") != (side == "rewritten"):
                wrong.append((kind, reference, other))
    return dict(found), wrong


def main() -> str:
    """Measure the shares of wrong verdicts."""
    references = list(dict.fromkeys(row["gold"][0] for row in shared_rows("questions/q_math500.jsonl")))
    if not references:
        return f"{TEXT}\n{ABSENT}"
    found, _ = measure(references)
    rows = []
    for (side, kind), verdicts in found.items():
        total = verdicts.total()
        wrong = verdicts["correct"] if side == "changed" else total - verdicts["correct"]
        rows.append([side, kind, f"{total:,}", f"{wrong:,}", f"{100 * wrong / total:.1f} %"])
    return f"{TEXT}\n{table(['what', 'kind', 'answers', 'wrong verdicts', 'share'], rows)}"
