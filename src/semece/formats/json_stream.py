"""A JSON document read piece by piece: a log of hundreds of megabytes needs the memory of one of its entries.

It reads what Python's ``json`` reads. A streaming library (ijson 3.6) does not: it refuses NaN and Infinity, which logs
hold, and large whole numbers, replaces lone surrogates, names no line, and has no limit to the depth of nesting.
"""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import jiter

from semece.errors import ParseError, on_one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

T = TypeVar("T")

Json: TypeAlias = Any
"""Any JSON value."""

_CHUNK = 1 << 20
_DECODER = json.JSONDecoder()
_NUMBER = re.compile(r"[-+.eE0-9]*")
_BLANK = re.compile(r"[ \t\n\r]*")
_EXCERPT = 40
_LONGEST_WORD = 16
"""More than the length of any JSON word: an error so near to the end of what was read may be a cut, not a fault."""


def read_json(line: bytes) -> Json:
    """Read a line of JSON as Python's ``json`` does, in less time.

    What jiter takes it reads as ``json`` does: NaN, large whole numbers, a name that comes twice. What it refuses,
    such as lone surrogates and deep nesting, is given to ``json``, which reads it or says what is wrong.

    Raises
    ------
    ValueError, RecursionError
        As ``json`` raises them.

    Examples
    --------
    >>> read_json(b'{"a": [1, NaN, 123456789012345678901234567890]}')
    {'a': [1, nan, 123456789012345678901234567890]}
    """
    try:
        return jiter.from_json(line)
    except ValueError:
        return json.loads(line.decode("utf-8"))


def unreadable(error: Exception) -> str:
    """Say why Python cannot read JSON that is well formed."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it has a whole number with too many digits" if "digits" in str(error) else on_one_line(str(error), 200)


class JsonStream:
    """Where one is in a JSON document.

    Parameters
    ----------
    stream : TextIO
        The document's text.
    name : str
        The file's name, for messages.
    check : callable, optional
        Called with a text before a value is read from it; raises where that would take too much memory.

    Examples
    --------
    >>> import io
    >>> stream = JsonStream(io.StringIO('{"a": {"b": [1, 2]}, "c": 3}'), "x.json")
    >>> [(name, stream.value()) for name in stream.members() if name == "c"]
    [('c', 3)]
    """

    def __init__(self, stream: TextIO, name: str, check: Callable[[str], None] = lambda _: None) -> None:
        self._stream, self._name, self._check = stream, name, check
        self._text, self._at, self._gone, self._line, self._ended = "", 0, 0, 1, False

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self._line + self._text.count("\n", 0, self._at)

    def members(self) -> Iterator[str]:
        """Give the names of the object that comes next; a value that was not taken is passed over.

        Raises
        ------
        ParseError
            With file and line: there is no object, or it is broken or cut.
        """
        for _ in self._entries("{}", "an object"):
            if self.peek() != '"':
                raise self.fault("expected a name in quotes")
            name = self.value()
            self._take(":", "':'")
            yield from self._passed(str(name))

    def items(self) -> Iterator[int]:
        """Give the places, from 0, of the array that comes next; an item that was not taken is passed over.

        Raises
        ------
        ParseError
            With file and line: there is no array, or it is broken or cut.
        """
        for place in self._entries("[]", "an array"):
            yield from self._passed(place)

    def _entries(self, brackets: str, what: str) -> Iterator[int]:
        """Count what stands between brackets, separated by commas; the caller takes it."""
        self._take(brackets[0], what)
        if self._took(brackets[1]):
            return
        for place in count():
            yield place
            if self._took(brackets[1]):
                return
            self._take(",", f"',' or '{brackets[1]}'")

    def _passed(self, entry: T) -> Iterator[T]:
        """Give an entry, then pass over its value if nobody took it."""
        before = self._position()
        yield entry
        if self._position() == before:
            self.value()

    def value(self) -> Json:
        """Take the value that comes next, whole.

        Raises
        ------
        ParseError
            With file and line: it is no JSON, or cut.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                cut = "Unterminated" in error.msg or error.pos > len(self._text) - _LONGEST_WORD
                if cut and self._fill(len(self._text)):
                    self._measure()
                    continue
                self._at = min(error.pos, len(self._text))
                raise self.fault(f"expected JSON; {error.msg}") from None
            except (ValueError, RecursionError) as error:
                raise self.fault(f"expected JSON that can be read; {unreadable(error)}") from None
            if isinstance(value, int | float) and _NUMBER.fullmatch(self._text, end) and self._fill():
                continue  # the number may go on
            self._at = end
            return value

    def _measure(self) -> None:
        """Make sure that a value which is longer than what was read may be read on."""
        try:
            self._check(self._text)
        except ValueError as error:
            raise self.fault(f"expected less at once; {error}") from None

    def peek(self) -> str:
        """Look at the next character that is not blank; empty at the end."""
        while True:
            blank = _BLANK.match(self._text, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._text) or not self._fill():
                return self._text[self._at : self._at + 1]

    def end(self) -> None:
        """Make sure that nothing follows.

        Raises
        ------
        ParseError
            Something does.
        """
        if self.peek():
            raise self.fault("expected the end of the file")

    def fault(self, message: str) -> ParseError:
        """Make an error of what is wrong here."""
        while len(self._text) < self._at + _EXCERPT and self._fill():
            pass
        came = repr(self._text[self._at : self._at + _EXCERPT]) if self._at < len(self._text) else "the end of the file"
        return ParseError(f"{self._name}, line {self.line}: {message}; got {came}")

    def _take(self, mark: str, what: str) -> None:
        if not self._took(mark):
            raise self.fault(f"expected {what}")

    def _took(self, mark: str) -> bool:
        found = self.peek() == mark
        self._at += found
        return found

    def _position(self) -> int:
        """Go to what comes next and count the characters before it."""
        self.peek()
        return self._gone + self._at

    def _fill(self, least: int = 0) -> bool:
        """Read on; false at the end of the file."""
        if self._ended:
            return False
        try:
            more = self._stream.read(max(_CHUNK, least))
        except UnicodeDecodeError:
            raise ParseError(f"{self._name}, after line {self.line}: expected UTF-8 text; got other bytes") from None
        self._ended = not more
        self._line += self._text.count("\n", 0, self._at)
        self._gone += self._at
        self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)
