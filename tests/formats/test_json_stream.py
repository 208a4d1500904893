"""A JSON document read piece by piece is the document, whatever the pieces are."""

import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import ParseError
from semece.formats import json_stream
from semece.formats.json_stream import JsonStream, read_json

WORDS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
INDENTS = st.sampled_from([None, 0, 1])


def opened(text, chunk, monkeypatch):
    """A stream that reads so many characters at a time."""
    monkeypatch.setattr(json_stream, "_CHUNK", chunk)
    return JsonStream(io.StringIO(text), "x.json")


def walked(stream):
    """A value, taken apart as far as it can be."""
    match stream.peek():
        case "{":
            return {name: walked(stream) for name in stream.members()}
        case "[":
            return [walked(stream) for _ in stream.items()]
        case _:
            return stream.value()


@given(VALUES, INDENTS, st.integers(1, 40))
def test_a_document_taken_whole_or_apart_is_what_json_reads(value, indent, chunk):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    with pytest.MonkeyPatch.context() as patch:
        for take in (walked, JsonStream.value):
            stream = opened(f" {text}\n", chunk, patch)
            assert take(stream) == value
            stream.end()


@given(VALUES.filter(lambda value: isinstance(value, dict | list)), INDENTS, st.integers(1, 40), st.data())
def test_a_document_that_is_cut_is_an_error_with_a_line(value, indent, chunk, data):
    text = json.dumps(value, indent=indent)
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    with pytest.MonkeyPatch.context() as patch:
        for take in (walked, JsonStream.value):
            with pytest.raises(ParseError, match=r"^x\.json, line \d+: expected .*; got ") as raised:
                take(opened(cut, chunk, patch))
            line = int(str(raised.value).split("line ")[1].split(":")[0])
            assert 1 <= line <= cut.count("\n") + 1


@given(st.lists(VALUES, min_size=1, max_size=6), st.integers(1, 40), st.data())
def test_what_is_not_taken_is_passed_over(values, chunk, data):
    document = {str(i): value for i, value in enumerate(values)}
    wanted = data.draw(st.sets(st.sampled_from(sorted(document))))
    with pytest.MonkeyPatch.context() as patch:
        stream = opened(json.dumps([document, 7]), chunk, patch)
        found = []
        for place in stream.items():
            if place == 0:
                found = [(name, stream.value()) for name in stream.members() if name in wanted]
        stream.end()
    assert found == [(name, value) for name, value in document.items() if name in wanted]


@pytest.mark.parametrize("chunk", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2", r"line 1: expected ',' or '\]'; got the end of the file"),
        ('{"a": 1\n "b": 2}', "line 2: expected ',' or '}'; got '\"b\""),
        ("{1: 2}", "line 1: expected a name in quotes; got '1"),
        ('{"a" 2}', "line 1: expected ':'; got '2"),
        ("[truth]", "line 1: expected JSON; Expecting value"),
        ('\n\n["a]', "line 3: expected JSON; Unterminated string"),
        ("", "line 1: expected JSON; Expecting value; got the end of the file"),
        ("[1] 2", "line 1: expected the end of the file; got '2"),
        ("[" + "9" * 5000 + "]", "line 1: expected JSON that can be read; it has a whole number with too many digits"),
    ],
)
def test_an_error_says_where_and_what(monkeypatch, text, said, chunk):
    def whole(stream):
        walked(stream)
        stream.end()

    with pytest.raises(ParseError, match=said):
        whole(opened(text, chunk, monkeypatch))


def test_deep_nesting_and_bytes_that_are_no_text_are_one_sentence():
    with pytest.raises(ParseError, match="line 1: expected JSON that can be read; it is nested too deeply"):
        JsonStream(io.StringIO("[" * 100_000), "x.json").value()
    stream = io.TextIOWrapper(io.BytesIO(b'["a",\n"\xff"]'), encoding="utf-8")
    with pytest.raises(ParseError, match="expected UTF-8 text; got other bytes"):
        JsonStream(stream, "x.json").value()


def test_numbers_that_are_none_are_read_as_python_reads_them():
    found = JsonStream(io.StringIO('[NaN, -Infinity, 1e5, {"a": 0}]'), "x.json").value()
    assert math.isnan(found[0])
    assert found[1:] == [-math.inf, 100000.0, {"a": 0}]


def outcome(read, line):
    """What comes of a line: its value, exactly, or the error."""
    try:
        return repr(read(line))
    except (ValueError, RecursionError) as error:
        return type(error), str(error)


def by_json(line):
    return json.loads(line.decode("utf-8"))


MARKS = (bytes([mark]) for mark in b'{}[],:"\\+-.0123eE \n\t\x00\x0b\x80')
WORDS_AND_PARTS = [b'"a"', b'"b":', b"NaN", b"Infinity", b"null", b"true", b"\\u", b"d83d", b"\\ude00", "é".encode()]
PIECES = st.sampled_from([*MARKS, *WORDS_AND_PARTS, "😀".encode(), b"\xef\xbb\xbf", b"\xed\xa0\x80"])


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_a_line_of_anything_is_read_or_refused_as_json_does(line):
    assert outcome(read_json, line) == outcome(by_json, line)


@given(VALUES | st.floats())
def test_a_line_of_json_is_read_as_json_does(value):
    line = json.dumps(value).encode()
    assert outcome(read_json, line) == outcome(by_json, line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"a": 1, "b": 2, "a": 3}',
        b"[NaN, Infinity, -Infinity, -NaN]",
        b"[-0, -0.0, 1e400, 4.9e-324, 9007199254740993, 2.2250738585072011e-308]",
        b"1" * 4300,
        b"1" * 4301,
        b"0." + b"3" * 900,
        b'"\\ud800 \\ude00\\ud83d \\ud83d\\ude00"',
        b'"\\ud83d\\u0041"',
        b"[" * 300 + b"]" * 300,
        b"[" * 100_000 + b"]" * 100_000,
        b'"\x1f"',
        b'"\x7f"',
        b"[01]",
        b"[1.]",
        b"{} {}",
        b"{}\x00",
        b"\xef\xbb\xbf{}",
        b"\xc2\xa0{}",
    ],
    ids=lambda line: repr(line[:24]),
)
def test_a_line_at_an_edge_is_read_or_refused_as_json_does(line):
    assert outcome(read_json, line) == outcome(by_json, line)
