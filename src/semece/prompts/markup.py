"""What encloses an answer and is no part of it: markdown, LaTeX, a full stop at its end."""

from __future__ import annotations

import re

_WRAPPERS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"```[\w-]*\n((?:(?!```).)+?)\n?```",
        r"\*\*((?:(?!\*\*).)+)\*\*",
        r"__(?![a-z0-9_]+__\Z)((?:(?!__).)+)__",
        r"\*([^*]+)\*",
        r"_([^_]+)_",
        r"`([^`]+)`",
        r"\$\$([^$]+)\$\$",
        r"\$([^$]+)\$",
        r"\\\(((?:(?!\\\)).)+)\\\)",
        r"\\\[((?:(?!\\\]).)+)\\\]",
        r"\\(?:boxed|fbox|text|textbf|textit|textrm|mathrm|mathbf|emph)\s*\{(.*)\}",
    )
)

_OPENERS = frozenset("`*_$\\")
"""What a wrapper begins with; most texts begin with none and are done at once."""

_DEEPEST = 20
"""Layers that are taken off; no answer has as many, and a text of nothing but openers is done in linear time."""

_ABBREVIATED = re.compile(
    r"(?:(?<![^\W\d_])[^\W\d_]|\.[^\W\d_]{1,3}|(?<![^\W\d_])(?:Jr|Sr|Inc|Ltd|Co|Corp|Bros|St|Ave|Rd|Mt|Dr|Mr|Mrs|etc|al|vs|No|"
    r"Ph\.D|approx|ca|Esq|Dept|Univ|Gov|Gen|Col|Lt|Sgt|Capt|Rev|Prof|Jan|Feb|Aug|Sept|Oct|Nov|Dec|min|sec|hr|in|ft|"
    r"lb|lbs|oz))\.\Z"
)
"""Words that end in a full stop of their own."""

_BRACE = re.compile(r"[{}]")


def unwrap(text: str) -> str:
    r"""Strip white space and the markdown or LaTeX that encloses the whole text, layer by layer.

    Examples
    --------
    >>> unwrap("**Paris**"), unwrap(r"$\boxed{\text{Paris}}$"), unwrap("A* and B*")
    ('Paris', 'Paris', 'A* and B*')
    """
    inner = text.strip()
    for _ in range(_DEEPEST):
        if inner[:1] not in _OPENERS:
            return inner
        found = next((m[1].strip() for w in _WRAPPERS if (m := w.fullmatch(inner)) and _is_balanced(m[1])), None)
        if found is None:
            return inner
        inner = found
    return inner


def _is_balanced(text: str) -> bool:
    """Whether no closing brace comes before its opening one."""
    depth = 0
    for mark in _BRACE.findall(text):
        depth += 1 if mark == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def bare(text: str) -> str:
    r"""Strip what encloses an answer, and the full stop at its end unless it belongs to an abbreviation.

    Examples
    --------
    >>> bare("**Paris.**"), bare("$72$."), bare("Washington, D.C."), bare("Wait..."), bare(r"\$5.")
    ('Paris', '72', 'Washington, D.C.', 'Wait...', '\\$5')
    """
    inner = unwrap(text)
    while inner.endswith((".", "。")) and not inner.endswith("..") and not _ABBREVIATED.search(inner[-24:]):
        stopped = unwrap(inner[:-1])
        if not stopped or stopped == inner:
            break
        inner = stopped
    return inner


_BOX = re.compile(r"\\(?:boxed|fbox)\s*")


def last_box(text: str) -> tuple[int, int, str] | None:
    r"""Find the last ``\boxed{...}``: where it begins and ends, and what is in it; braces may be nested.

    Examples
    --------
    >>> last_box(r"So \boxed{12}, no: \boxed{\frac{1}{2}}.")
    (19, 38, '\\frac{1}{2}')
    """
    for found in reversed(list(_BOX.finditer(text))[-_DEEPEST:]):
        place = found.end()
        if text[place : place + 1] != "{":
            token = re.compile(r"[^\s{}$.,;]{1,40}").match(text, place)
            if token:
                return found.start(), token.end(), token[0]
            continue
        end = closing(text, place)
        if end is not None and text[place + 1 : end].strip():
            return found.start(), end + 1, text[place + 1 : end]
    return None


def closing(text: str, place: int) -> int | None:
    """Find the brace that closes the one at a place; None if there is none."""
    depth = 0
    for mark in _BRACE.finditer(text, place):
        if text[mark.start() - 1] == "\\":
            continue
        depth += 1 if mark[0] == "{" else -1
        if depth == 0:
            return mark.start()
    return None


_HALVES = re.compile("[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Replace halves of characters, which no file can hold."""
    return _HALVES.sub("\ufffd", text)
