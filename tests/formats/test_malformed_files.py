"""Files from outside that are broken, hostile or no files at all: one sentence each, and nothing half imported."""

import gzip
import io
import json
import os
import re
import zipfile
from pathlib import Path

import polars as pl
import pytest

from tests import tool_files as made
from tests.formats import lying_parquet as lying

DEEP = b"[" * 100_000
LONG = b"9" * 5_000


def spliced(data, piece):
    """Put a piece of JSON where the first value of an object stands."""
    place = data.index(b":", data.index(b"{")) + 1
    return data[:place] + piece + b"," + data[place:]


BYTES = {
    "empty": lambda data: b"",
    "blank": lambda data: b" \n\n\t\n",
    "cut": lambda data: data[: len(data) // 2],
    "nul": lambda data: data[:20] + b"\0" * 40 + data[60:],
    "not-utf8": lambda data: data[:30] + b"\xff\xfe\xfd" + data[30:],
    "deep": lambda data: spliced(data, DEEP),
    "long-number": lambda data: spliced(data, LONG),
    "garbage": lambda data: bytes(range(256)) * 40,
    "gzip": gzip.compress,
    "zstd": lambda data: b"\x28\xb5\x2f\xfd" + data,
    "a-number": lambda data: b"5\n",
    "scalars": lambda data: b'[1, null, "a"]\n',
}
"""By name: what is done to the bytes of a file that can be read."""

JSON_READERS = {
    "own.jsonl": made.own,
    "rows.jsonl": made.rows,
    "inspect.json": made.inspect_json,
    "lm_eval.jsonl": made.lm_eval,
    "uqlm.json": made.uqlm,
    "promptfoo.json": made.promptfoo,
    "openai.jsonl": made.openai_batch,
    "deepeval.json": made.deepeval,
    "simple_evals.json": made.simple_evals,
    "clustered.jsonl": made.clustered,
}
"""By name: a file that can be read, of JSON."""


def csv_file():
    return b'id,question,references,answers\n1,Why?,because,"[""a"", ""b""]"\n'


def parquet_file(**columns):
    buffer = io.BytesIO()
    pl.DataFrame({"id": ["1"], "question": ["Why?"], "answers": [["a", "b"]], **columns}).write_parquet(buffer)
    return buffer.getvalue()


def archive(**members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/") + ".json", content)
    return buffer.getvalue()


def bomb(**columns):
    """Pack columns into a row group, however large they are."""
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, row_group_size=1 << 24, compression="zstd")
    assert len(buffer.getvalue()) < 1_000_000
    return buffer.getvalue()


def labels(rows, each):
    return pl.zeros(rows * each, pl.Int8, eager=True).reshape((rows, each)).arr.to_list()


BOMBS = {
    "one-row-of-labels.parquet": lambda: bomb(labels=labels(1, 20_000_000), grades=[[1]]),
    "rows-of-labels.parquet": lambda: bomb(labels=labels(200_000, 100), grades=labels(200_000, 1)),
    "one-cell.parquet": lambda: bomb(question=["x" * 320_000_000], answers=[["a"]]),
    "answers.parquet": lambda: bomb(question=["Why?"], answers=labels(1, 20_000_000).cast(pl.List(pl.String))),
    "one-text-in-every-row.parquet": lambda: bomb(question=["x" * 1_000_000] * 400, answers=[["a"]] * 400),
}
"""By name: what small files of Parquet unpack to more than 300 MB."""


def lie(data, *changes):
    """Change the footer of a Parquet file, or a page's head, which gives another body."""
    body, footer = lying.taken_apart(data)
    assert lying.put_together(body, footer) == data
    for change in changes:
        body = change(body, footer) or body
    return lying.put_together(body, footer)


def chunks_say(**said):
    """Let every chunk say other numbers."""

    def change(body, footer):
        for chunk in lying.chunks(footer):
            for name, value in said.items():
                number = getattr(lying, name)
                chunk[number] = chunk[number][0], value

    return change


def rows_say(count, *, group=True):
    """Let the file say another number of rows, and its row groups, too."""

    def change(body, footer):
        footer[lying.ROWS] = footer[lying.ROWS][0], count
        for each in footer[lying.GROUPS][1][1] if group else ():
            each[lying.GROUP_ROWS] = each[lying.GROUP_ROWS][0], count

    return change


def texts_begin_alike(body, footer):
    """Let pages say that each text begins like the one before: their values may be as long as the page, each."""
    return lying.with_pages(body, footer, lambda page: page.get(5, (0, {}))[1].update({2: (5, 7)}))


def pages_hold(count):
    """Let pages say that they hold so many values."""
    change = lambda page: page.get(5, (0, {}))[1].update({1: (5, count)})  # noqa: E731 - short
    return lambda body, footer: lying.with_pages(body, footer, change)


def one_length(body, footer):
    """Let all values be of one length, and as long as the schema says."""
    for element in footer[lying.SCHEMA][1][1]:
        element[2] = 5, 1_000_000_000
    chunks_say(TYPE=7)(body, footer)


def endless(body, footer):
    """End the footer in a list that is said to have more items than there are."""
    footer[9] = lying.LIST, (lying.BYTE, lying.Endless())


PLAIN = {"question": ["Why?"] * 1000, "answers": [["a" * 500, "b"]] * 1000}
LIES = {
    "rows.parquet": lambda: lie(bomb(**PLAIN), rows_say(1 << 50)),
    "rows-of-the-file.parquet": lambda: lie(bomb(**PLAIN), rows_say(1 << 50, group=False)),
    "rows-below-0.parquet": lambda: lie(bomb(**PLAIN), rows_say(-5)),
    "rows-and-values.parquet": lambda: lie(bomb(**PLAIN), rows_say(1 << 40), chunks_say(VALUES=1 << 40)),
    "values-of-pages.parquet": lambda: lie(bomb(**PLAIN), pages_hold(1 << 30)),
    "texts-begin-alike.parquet": lambda: lie(bomb(**PLAIN), texts_begin_alike),
    "one-length.parquet": lambda: lie(bomb(**PLAIN), one_length),
    "beyond-the-end.parquet": lambda: lie(bomb(**PLAIN), chunks_say(PACKED=1 << 40)),
    "before-the-start.parquet": lambda: lie(bomb(**PLAIN), chunks_say(DATA=-7)),
    "endless.parquet": lambda: lie(bomb(**PLAIN), endless),
    "null-arrays.parquet": lambda: bomb(
        **PLAIN, x=pl.Series([None], dtype=pl.Array(pl.Int8, 200_000)).new_from_index(0, 1000)
    ),
}
"""By name: files of Parquet that say what is not so, or take more than they say."""
BOMBS |= {
    "lying-labels.parquet": lambda: lie(BOMBS["one-row-of-labels.parquet"](), chunks_say(VALUES=1, UNPACKED=10)),
    "lying-cell.parquet": lambda: lie(BOMBS["one-cell.parquet"](), chunks_say(UNPACKED=10)),
}


HEADER = json.dumps(made.inspect_header())
TABLES = {
    "broken-quotes.csv": b'id,question,answers\n1,Why?,"["a\n',
    "too-few-columns.csv": b"id,question,answers\n1,Why?\n",
    "too-many-columns.csv": b"id,question,answers\n1,Why?,[],5\n",
    "a-column-twice.csv": b'id,question,question,answers\n1,a,b,"[""a""]"\n',
    "not-utf8.csv": csv_file().replace(b"Why", b"Wh\xff"),
    "no-list.csv": csv_file().replace(b'"[""a"", ""b""]"', b"a"),
    "deep.csv": csv_file().replace(b'"[""a"", ""b""]"', DEEP),
    "long-number.csv": csv_file().replace(b'"[""a"", ""b""]"', b"[" + LONG + b"]"),
    "empty.csv": b"",
    "head-alone.csv": b"id,question,answers\n",
    "semicolon-no-columns.csv": b"a;b;c\n1;2;3\n",
    "nul.tsv": csv_file().replace(b",", b"\t").replace(b"Why", b"W\0y"),
    "cut.parquet": parquet_file()[:-20],
    "head-alone.parquet": b"PAR1",
    "garbage.parquet": b"PAR1" + bytes(range(256)) * 9 + b"PAR1",
    "no-columns.parquet": parquet_file().replace(b"question", b"quastion"),
    "numbers.parquet": parquet_file(answers=[5]),
    "text.parquet": csv_file(),
    "nan.jsonl": made.own().replace(b'"answers"', b'"confidences": [NaN, NaN, NaN, NaN], "answers"'),
    "infinity.jsonl": made.own().replace(b'"answers"', b'"confidences": [Infinity, 1, 1, 1], "answers"'),
    "huge.jsonl": made.own().replace(b'"answers"', b'"confidences": [1e999, 1, 1, 1], "answers"'),
    "large-confidence.jsonl": made.own().replace(
        b'"answers"', b'"confidences": [' + b"9" * 400 + b', 1, 1, 1], "answers"'
    ),
    "labels-of-lists.jsonl": made.own().replace(b'"answers"', b'"labels": [[1], [2], [1], [1]], "answers"'),
    "labels-nan.jsonl": made.own().replace(b'"answers"', b'"labels": [NaN, 1, 1, 1], "answers"'),
    "answers-are-numbers.jsonl": b'{"question": "Why?", "answers": [1, 2]}\n',
    "question-is-a-list.jsonl": b'{"question": ["Why?"], "answers": ["a"]}\n',
    "references-are-objects.jsonl": b'{"question": "Why?", "references": [{"a": 1}], "answers": ["a"]}\n',
    "grades-are-a-list.jsonl": b'{"question": "Why?", "answers": ["a"], "labels": [0], "grades": [1]}\n',
    "ids-twice.jsonl": made.own() + made.own(),
    "two-documents.json": made.inspect_json() + made.inspect_json(),
}
"""By name: files that no reader can read."""

ARCHIVES = {
    "nothing.eval": archive(),
    "other.eval": archive(other="{}"),
    "header-no-json.eval": archive(header="{"),
    "header-deep.eval": archive(header=DEEP),
    "header-long-number.eval": archive(header=b'{"eval": ' + LONG + b"}"),
    "header-a-list.eval": archive(header="[]"),
    "sample-no-json.eval": archive(header=HEADER, samples__1_epoch_1="{"),
    "sample-deep.eval": archive(header=HEADER, samples__1_epoch_1=DEEP),
    "sample-a-number.eval": archive(header=HEADER, samples__1_epoch_1="5"),
    "sample-nan.eval": archive(header=HEADER, samples__1_epoch_1='{"id": NaN, "epoch": 1}'),
    "header-large.eval": archive(header=b'{"a": "' + b"x" * 120_000_000 + b'"}'),
    "sample-large.eval": archive(header=HEADER, samples__1_epoch_1=b" " * 120_000_000),
    "sample-dense.eval": archive(header=HEADER, samples__1_epoch_1=b"[" + b"{}," * 8_000_000 + b"{}]"),
    "says-too-little.eval": archive(header=HEADER, samples__1_epoch_1=b" " * 10_000_000).replace(
        (10_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little")
    ),
    "cut.eval": made.inspect_eval()[:-30],
    "middle-changed.eval": made.inspect_eval().replace(b"PK\x01\x02", b"PK\x01\x09", 1),
}
"""By name: zip archives that are no logs, or too much of one."""


def folder(path):
    path.mkdir()


def pipe(path):
    os.mkfifo(path)


def circle(path):
    path.symlink_to(path.name)


def device(path):
    path.symlink_to("/dev/zero")


def nothing(path):
    path.symlink_to("nowhere")


KINDS = (folder, pipe, circle, device, nothing)


def contents():
    """Give every name with its bytes."""
    for reader, whole in JSON_READERS.items():
        for fault, change in BYTES.items():
            yield f"{fault}-{reader}", lambda whole=whole, change=change: change(whole())
    for name, data in (TABLES | ARCHIVES).items():
        yield name, lambda data=data: data


def check(said, name):
    """Make sure that a command refused a file in one line that names it."""
    code, out, err = said
    assert code in {2, 4}, (out, err)
    assert out == ""
    assert err.startswith("semece: ")
    assert err.count("\n") == 1, err
    assert name in err
    assert "nobody foresaw" not in err
    assert not any(word in err for word in ("Traceback", "KeyError", "RecursionError", "ValueError", "TypeError"))
    assert len(err) < 1500


def test_there_are_at_least_100_malformed_files():
    assert len(dict(contents())) + len(KINDS) >= 100


@pytest.mark.parametrize(("name", "content"), list(contents()), ids=[name for name, _ in contents()])
def test_a_malformed_file_is_one_sentence_and_nothing_is_imported(semece, name, content):
    Path(name).write_bytes(content())
    check(semece("score", name, "-o", "a.db"), name)
    assert {path.name for path in Path().iterdir()} == {name}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's account of memory")
@pytest.mark.parametrize("name", BOMBS)
def test_what_a_parquet_file_unpacks_to_is_measured_before(semece, name):
    Path(name).write_bytes(BOMBS[name]())
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = memory("VmRSS")
    said = semece("score", name, "-o", "a.parquet" if "labels" in name else "a.db")
    if "labels" not in name:
        check(semece("run", "-m", "fake/?pmf=1", "-d", f"./{name}", "-o", "a.db"), name)
    assert memory("VmHWM") - before < 300_000_000
    check(said, name)
    assert re.search(r"may take [\d,.]+ MB of memory; 300.0 MB are allowed", said[2])
    assert {path.name for path in Path().iterdir()} == {name}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's account of memory")
@pytest.mark.parametrize("name", LIES)
def test_what_a_parquet_file_says_is_not_believed(semece, name):
    Path(name).write_bytes(LIES[name]())
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    check(semece("score", name, "-o", "a.db"), name)
    check(semece("run", "-m", "fake/?pmf=1", "-d", f"./{name}", "-o", "a.db"), name)
    assert memory("VmHWM") - before < 300_000_000
    assert {path.name for path in Path().iterdir()} == {name}


def test_a_footer_that_is_put_together_again_is_read(semece):
    Path("a.parquet").write_bytes(
        lie(bomb(**PLAIN), lambda body, footer: lying.with_pages(body, footer, lambda page: None))
    )
    assert semece("score", "a.parquet", "-o", "a.db")[0] == 0


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's account of memory")
def test_a_member_is_not_unpacked_beyond_what_it_says(semece):
    size, name = 70_000_000, "lying.eval"
    lies = archive(header=HEADER, samples__1_epoch_1=b" " * size)
    Path(name).write_bytes(lies.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little")))
    check(semece("score", "absent.eval", "-o", "a.db"), "absent.eval")  # what is imported is there
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    check(semece("score", name, "-o", "a.db"), name)
    assert memory("VmHWM") - before < 60_000_000


def memory(name):
    """Bytes of memory that this process has, or had at most."""
    said = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", said)[1]) * 1024


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "words",
    [
        ("score", "x.jsonl"),
        ("score", "x.eval"),
        ("score", "x.csv"),
        ("score", "x.parquet"),
        ("run", "-m", "fake/?pmf=1", "-d", "./x.jsonl"),
        ("run", "-m", "fake/?pmf=1", "-d", "starter", "--prompt", "x"),
        ("run", "-m", "fake/?pmf=1", "-d", "starter", "--ids", "x"),
        ("run", "--config", "x.toml"),
        ("run", "-m", "fake/?pmf=1", "-d", "starter", "--env-file", "x.env"),
        ("judge-eval", "x.jsonl", "--judge", "exact"),
        ("study", "x.toml"),
        ("summary", "x.db"),
        ("doctor", "x.db"),
    ],
    ids=" ".join,
)
def test_what_is_no_file_is_one_sentence(semece, words, kind):
    name = next(word for word in words if word.split(".")[0] in {"x", "/x"} or word.startswith("./x"))
    kind(Path(name))
    check(semece(*words), Path(name).name)
