"""The process in which two mathematical texts are compared; run as a module, it answers one line with one line.

A comparison may take for ever, or more memory than there is, whatever is done to prevent it: sympy is asked about texts
that a model wrote. So it runs where it can be killed, with a limit of processor time and of memory, and without the
environment of the process that asks.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

SECONDS = 5
"""Processor time of one comparison."""

MEMORY = 2 * 1024**3
"""Bytes of the process."""


@lru_cache(maxsize=512)
def parsed(text: str) -> list[Any]:
    """Parse LaTeX or a plain formula; decimals become exact fractions. Empty if it cannot be parsed."""
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse

    found = parse(f"${text}$", [LatexExtractionConfig(), ExprExtractionConfig()], parsing_timeout=None)
    return [_exact(one) for one in found if not isinstance(one, str)]


def _exact(expression: Any) -> Any:  # noqa: ANN401 - whatever sympy makes of a text
    """Replace decimals by the fractions that they are."""
    import sympy

    if isinstance(expression, sympy.Float):
        return sympy.Rational(str(expression))
    with suppress(Exception):  # what cannot be rebuilt is compared as it is
        floats = expression.atoms(sympy.Float)
        return expression.xreplace({one: sympy.Rational(str(one)) for one in floats}) if floats else expression
    return expression


def equal(one: str, other: str) -> bool | None:
    """Whether two texts are the same mathematics; None if one of them cannot be parsed."""
    from math_verify import verify

    first, second = parsed(one), parsed(other)
    if not first or not second:
        return None
    return bool(
        verify(first, second, timeout_seconds=None, float_rounding=15)
        or verify(second, first, timeout_seconds=None, float_rounding=15)
    )


def _limit(seconds: float | None = None) -> None:
    """Let the system end this process if it takes more memory, or more processor time, than it may."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        if seconds is None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime + seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def serve() -> None:
    """Answer each line, a pair of texts, with a line: whether they are equal."""
    logging.disable(logging.CRITICAL)
    _limit()
    equal("1", "2")  # what is slow at first is done before the first pair
    answer = sys.stdout
    sys.stdout = sys.stderr
    answer.write("ready\n")
    answer.flush()
    for line in sys.stdin:
        _limit(SECONDS)
        try:
            found = equal(*json.loads(line))
        except Exception:
            found = None
        answer.write(json.dumps(found) + "\n")
        answer.flush()


if __name__ == "__main__":
    serve()
