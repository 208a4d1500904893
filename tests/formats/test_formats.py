"""Readers of other tools' files: the same responses give the same table, and what is broken is named with its place."""

import json
import re
import zipfile
import zlib
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semece.datasets import open_dataset
from semece.errors import ParseError
from semece.formats import collect
from semece.formats.sources import Wanted
from semece.runs.run import Run
from semece.runs.scored_samples import SamplesReading, score
from semece.store.run_store import Store
from tests import tool_files
from tests.tool_files import FILES, NEED_QUESTIONS, NEED_REFERENCES, QUESTIONS, lines

COLUMNS = ["question_id", "n_responses", "n_classes", "margin", "sem1", "sem2", "correct", "correct_split"]
EXPECTED_CORRECT = [1.0, 1.0, 0.0]


@pytest.fixture
def put(tmp_path, monkeypatch):
    """Write a file into an empty folder, where we are; give its path."""
    monkeypatch.chdir(tmp_path)

    def written(name, data):
        path = Path(name)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return written


@pytest.fixture
def questions(put):
    """A file of the questions, and they by their ids."""
    put("questions.jsonl", tool_files.questions_file())
    return {q.id: q for q in open_dataset("questions.jsonl").questions}


def needed(name):
    return ["--questions", "questions.jsonl"] if name in NEED_REFERENCES else []


def estimates(path="a.db"):
    with Run(path) as run:
        return run.estimates()


def read_all(path, **more):
    """What is read, as plain values."""
    return {s.question.id: (s.question.text, s.question.references, s.answers) for s in collect([path], **more).samples}


def fault(path, **more):
    """The one error of a file."""
    with pytest.raises(ParseError) as raised:
        collect([path], **more)
    assert str(path) in str(raised.value)
    return str(raised.value)


# ---- the same responses, the same table


@pytest.mark.parametrize("name", FILES)
def test_the_same_responses_give_the_same_table_in_every_format_twice(semece, put, questions, name):
    put("own.jsonl", tool_files.own())
    assert semece("score", "own.jsonl", "-o", "own.db", "-j", "rules")[0] == 0
    path = put(name, FILES[name][1]())
    first = semece("score", path, "-o", "a.db", "-j", "rules", *needed(name))
    assert first[0] == 0
    assert "Sem2-ECE" in first[1]
    ours = estimates("own.db").select(COLUMNS)
    assert estimates().select(COLUMNS).equals(ours)
    assert ours["correct"].to_list() == EXPECTED_CORRECT
    assert ours["sem1"].to_list() == [0.75, 0.75, 0.5]
    assert semece("score", path, "-o", "a.db", "-j", "rules", *needed(name)) == first


@pytest.mark.parametrize("name", FILES)
def test_a_format_is_known_by_what_is_in_the_file_and_may_be_named(put, questions, name):
    form, write = FILES[name]
    path = put(name, write())
    wanted = Wanted(questions if name in NEED_QUESTIONS else {})
    assert collect([path], wanted=wanted).format == form
    assert collect([path], wanted=wanted, form=form).samples == collect([path], wanted=wanted).samples
    renamed = put(f"renamed{path.suffix}", write())
    assert collect([renamed], wanted=wanted).format == form


@pytest.mark.parametrize("name", FILES)
def test_responses_keep_their_order_and_questions_theirs(put, questions, name):
    path = put(name, FILES[name][1]())
    found = read_all(path, wanted=Wanted(questions if name in NEED_QUESTIONS else {}))
    assert list(found) == ["0", "1", "2"]
    assert [answers for _, _, answers in found.values()] == [tuple(a) for *_, a in QUESTIONS]
    if name not in NEED_REFERENCES:
        assert [references for _, references, _ in found.values()] == [(r,) for _, _, r, _ in QUESTIONS]


def test_other_content_is_refused_and_the_default_path_is_the_files_name(semece, put):
    put("log.eval", tool_files.inspect_eval())
    code, out, _ = semece("score", "log.eval")
    assert (code, out.splitlines()[-1]) == (0, "runs/log.db")
    samples = list(tool_files.inspect_samples())
    samples[0]["output"]["choices"][0]["message"]["content"] = "Nice"
    put("log.eval", tool_files.inspect_eval(samples))
    code, _, err = semece("score", "log.eval")
    assert code == 2
    assert "runs/log.db holds other samples" in err


def test_runs_are_named_after_the_model_and_the_task_that_the_files_tell(put, questions):
    told = {
        "log.eval": ("mock/model", "quiz"),
        "log.json": ("mock/model", "quiz"),
        "samples_quiz_2026-01-01T00-00-00.000000.jsonl": ("samples", "quiz"),
        "promptfoo.json": ("openai:gpt-4.1-mini", "promptfoo"),
        "quiz_gpt-4o_20260101_000000_allresults.json": ("gpt-4o", "quiz"),
        "openai_quiz_clustered.jsonl": ("openai", "quiz"),
        "own.jsonl": ("samples", "own"),
    }
    for number, (name, names) in enumerate(told.items()):
        score([put(name, FILES[name][1]())], f"{number}.db")
        with Run(f"{number}.db") as run:
            assert (run.model, run.dataset) == names
    score([put("openai.jsonl", tool_files.openai_batch())], "b.db", reading=SamplesReading(questions="questions.jsonl"))
    with Run("b.db") as run:
        assert (run.model, run.dataset) == ("gpt-4o-mini-2024-07-18", "questions")


# ---- what is broken


def cut_files():
    return [name for name in FILES if name != "own.jsonl"] + ["own.csv", "own.parquet", "own.jsonl"]


def own_table(suffix, path):
    rows = [{"id": i, "question": q, "references": r, "answers": json.dumps(a)} for i, q, r, a in QUESTIONS]
    table = pl.DataFrame(rows)
    table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", cut_files())
def test_a_cut_at_any_byte_is_an_error_with_file_and_place_or_falls_between_two_lines(put, questions, name):
    path = Path(name)
    data = own_table(path.suffix, path) if name in {"own.csv", "own.parquet"} else FILES[name][1]()
    rows = path.suffix in {".jsonl", ".csv"}
    wanted = Wanted(questions if name in NEED_QUESTIONS else {})
    path.write_bytes(data)
    whole = read_all(path, wanted=wanted)

    @settings(max_examples=25)
    @given(st.integers(0, len(data.rstrip()) - 1))
    def cut(size):
        path.write_bytes(data[:size])
        try:
            found = read_all(path, wanted=wanted)
        except ParseError as error:
            message = str(error)
            assert name in message
            assert re.search(r", (line|byte|after line) \d|no samples|not a Parquet file|columns", message), message
        else:
            assert rows
            assert b"\n" in data[size - 1 : size + 1] or name.endswith(".csv")
            for key, (text, references, answers) in found.items():
                assert (text, references) == whole[key][:2]
                assert set(answers) <= set(whole[key][2])

    cut()


JSON_DOCUMENTS = {
    "log.json": tool_files.inspect_json,
    "uqlm.json": tool_files.uqlm,
    "promptfoo.json": tool_files.promptfoo,
    "quiz_gpt-4o_20260101_000000_allresults.json": tool_files.simple_evals,
}


@pytest.mark.parametrize("name", JSON_DOCUMENTS)
def test_a_document_that_is_cut_anywhere_is_never_a_shorter_document(put, name):
    data = JSON_DOCUMENTS[name]()
    for size in range(1, len(data) - 1, 41):
        fault(put(name, data[:size]))


ODD = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"a": 1}, ["x"], float("nan"), 10**30, "\ud800"]
)


@st.composite
def mutated(draw, value):
    """A JSON value with one part replaced, dropped or doubled."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 9)):
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        copy = value.copy()
        if draw(st.integers(0, 5)) == 0:
            del copy[key]
        else:
            copy[key] = draw(mutated(value[key]))
        return copy
    return draw(ODD)


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith((".json", ".jsonl"))])
@pytest.mark.parametrize("skip_bad", [False, True])
def test_whatever_is_odd_in_a_file_is_read_or_is_one_sentence(put, questions, name, skip_bad):
    data = FILES[name][1]()
    path = Path(name)
    is_rows = path.suffix == ".jsonl"
    value = [json.loads(line) for line in data.splitlines()] if is_rows else json.loads(data)
    reading = SamplesReading(skip_bad=skip_bad, questions="questions.jsonl" if name in NEED_REFERENCES else None)

    @settings(max_examples=25)
    @given(mutated(value), st.sampled_from([None, "given"]))
    def odd(changed, judge):
        rows = is_rows and isinstance(changed, list)
        path.write_bytes(lines(changed) if rows else json.dumps(changed).encode())
        try:
            score([path], ":memory:", judge=judge, reading=reading)
        except ParseError as error:
            said = str(error)
            assert "\n" not in said

    odd()


@settings(max_examples=100)
@given(st.data())
def test_whatever_bytes_are_changed_in_an_archive_it_is_read_or_is_one_sentence(tmp_path_factory, data):
    log = bytearray(tool_files.inspect_eval(list(tool_files.inspect_samples())[:3]))
    place = data.draw(st.integers(0, len(log) - 1))
    log[place : place + data.draw(st.integers(1, 4))] = data.draw(st.binary(min_size=1, max_size=4))
    path = tmp_path_factory.getbasetemp() / "changed.eval"
    path.write_bytes(log)
    whole = {"0": ("What is the capital of France?", ("Paris",), ("Paris", "Lyon", "Paris"))}
    try:
        found = read_all(path)
    except ParseError as error:
        said = str(error)
        assert "changed.eval" in said
    else:
        assert found.keys() <= whole.keys()
        assert all(set(found[key][2]) <= set(whole[key][2]) for key in found)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.jsonl", "", "no samples; the file is empty"),
        ("a.jsonl", '{"foo": 1, "bar": 2}\n', "line 1: expected one of the formats .* got an object with bar, foo"),
        ("a.jsonl", "hello\n", "line 1: expected one of the formats .* got text that is no JSON"),
        ("a.jsonl.gz", b"\x1f\x8b\x08\x00", "got a file packed with gzip"),
        ("a.json", '[{"question": "?"}]', "item 1: expected a list 'answers'"),
        ("a.json", "[3]", "item 1: expected a JSON object; got int"),
        ("a.json", '[{"question": "?", "answers": ["a"]}', "line 1: expected ',' or '\\]'"),
        ("a.txt", "id,question,answers\n", "line 1: expected one of the formats"),
        ("a.jsonl", b'{"question": "?", "answers": ["\xff"]}\n', "line 1: expected UTF-8 text"),
        ("a.json", b'{"evalId": 1, "results": {"results": [{"promptIdx": "\xff"}]}}', "expected UTF-8 text"),
        ("a.jsonl", '{"question": "?", "answers": ' + "[" * 100_000, "line 1: .*nested too deeply"),
        ("a.jsonl", '{"question": "?", "answers": ["a"], "n": ' + "9" * 5000 + "}", "line 1: .*too many digits"),
    ],
)
def test_a_file_that_is_none_of_ours_is_named_with_what_was_expected_and_what_came(put, name, data, said):
    assert re.search(said, fault(put(name, data)))


def test_a_file_is_refused_by_the_reader_that_is_named(put):
    path = put("own.jsonl", tool_files.own())
    assert "line 1: expected doc_id; got an object with id, question" in fault(path, form="lm-eval")
    assert "expected the end of a zip" not in fault(path, form="inspect")
    with pytest.raises(ParseError, match=r"format must be one of lm-polygraph, inspect, .*samples; got 'excel'"):
        collect([path], form="excel")


def test_files_of_two_formats_a_file_named_twice_and_a_folder_are_refused(put):
    one, two = put("own.jsonl", tool_files.own()), put("log.eval", tool_files.inspect_eval())
    with pytest.raises(
        ParseError, match=r"log\.eval: expected a file of the format of own\.jsonl, samples; got inspect"
    ):
        collect([one, two])
    with pytest.raises(ParseError, match=r"own\.jsonl is named twice"):
        collect([one, Path("./own.jsonl")])
    Path("folder").mkdir()
    assert "folder cannot be read" in fault(Path("folder"))


# ---- bad rows


BAD_ROWS = {
    "own.jsonl": lambda rows: rows[1].update(answers=[1]),
    "samples_quiz_2026-01-01T00-00-00.000000.jsonl": lambda rows: [rows[i].update(resps=[[]]) for i in (1, 4)],
    "promptfoo.jsonl": lambda rows: [row.pop("vars") for row in rows[4:8]],
    "openai.jsonl": lambda rows: [row.update(custom_id="x") for row in rows[2:4]],
    "anthropic.jsonl": lambda rows: [row["result"].update(type="odd") for row in rows[4:8]],
    "openai_quiz_clustered.jsonl": lambda rows: rows[1]["cluster_assignments"].pop(),
}
"""What makes every row of the second question bad."""


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_rows_are_errors_or_left_out_and_counted(semece, put, questions, name):
    rows = [json.loads(line) for line in FILES[name][1]().splitlines()]
    BAD_ROWS[name](rows)
    path = put(name, lines(rows))
    code, _, err = semece("score", path, "-o", "a.db", *needed(name))
    assert code == 2
    assert re.search(rf"{name}, line \d", err)
    assert not Path("a.db").exists()
    code, out, _ = semece("score", path, "-o", "a.db", "--skip-bad", *needed(name))
    assert code == 0
    assert re.search(rf"Noticed: bad rows left out: \d; the first: {name}, line \d", out)
    assert estimates()["question_id"].to_list() == ["0", "2"]
    with Store("a.db") as store:
        noted = store.events()
    assert semece("score", path, "-o", "a.db", "--skip-bad", *needed(name))[1] == out
    assert "bad rows left out" in semece("summary", "a.db")[1]
    with Store("a.db") as store:
        assert store.events() == noted


@pytest.mark.parametrize("name", FILES)
def test_a_byte_order_mark_is_no_part_of_a_text_file(put, questions, name):
    if not name.endswith((".eval", ".man")):
        data, wanted = FILES[name][1](), Wanted(questions if name in NEED_QUESTIONS else {})
        assert read_all(put(name, b"\xef\xbb\xbf" + data), wanted=wanted) == read_all(put(name, data), wanted=wanted)


@pytest.mark.parametrize("first", ["{", '{"question": 7', "\xff\xfe"])
def test_a_bad_first_line_does_not_hide_what_the_file_is(put, first):
    path = put("own.jsonl", first.encode("latin-1") + b"\n" + tool_files.own())
    assert "own.jsonl, line 1" in fault(path)
    collected = collect([path], skip_bad=True)
    assert (len(collected.samples), len(collected.findings.skipped)) == (3, 1)


def test_bad_samples_of_a_document_and_of_an_archive_are_left_out_one_by_one(put):
    samples = list(tool_files.inspect_samples())
    del samples[5]["output"]["choices"][0]["message"]
    for name, write, place in (
        ("log.json", tool_files.inspect_json, "samples[5]"),
        ("log.eval", tool_files.inspect_eval, "samples/1_epoch_2.json"),
    ):
        path = put(name, write(samples))
        assert f"{name}, {place}: expected message" in fault(path)
        collected = collect([path], skip_bad=True)
        assert [len(sample.drawn) for sample in collected.samples] == [4, 3, 4]
        assert len(collected.findings.skipped) == 1


def test_an_archive_that_is_damaged_inside_names_the_member(put):
    log = tool_files.inspect_eval(compress=zipfile.ZIP_STORED)
    path = put("log.eval", log.replace(b'"Lyon"', b'"Lyo!"', 1))
    assert "samples/0_epoch_2.json: expected a whole member of a zip archive; got a damaged one" in fault(path)
    assert len(collect([path], skip_bad=True).findings.skipped) == 1


def test_a_file_of_bad_rows_alone_is_refused(put):
    path = put("own.jsonl", '{"question": "?"}\n' * 3)
    assert "no samples; all of 3 rows are bad, the first: own.jsonl, line 1" in fault(path, skip_bad=True)


def test_ids_that_come_twice_are_refused_or_the_later_one_is_left_out(put):
    path = put("own.jsonl", tool_files.own() + tool_files.own())
    with pytest.raises(ParseError, match="ids must be unique; '0' is the id of rows 1 and 4"):
        score([path], "a.db")
    score([path], "a.db", reading=SamplesReading(skip_bad=True))
    assert estimates().height == 3
    with Run("a.db") as run:
        assert any("bad rows left out: 3; the first: own.jsonl, line 4: ids must be unique" in e for e in run.events)


# ---- unequal numbers, failures, statuses


def test_unequal_numbers_one_response_and_none_are_defined(put, questions):
    samples = [s for s in tool_files.inspect_samples() if not (s["id"] == 1 and s["epoch"] > 1)]
    for sample in samples:
        if sample["id"] == 2:
            sample["error"] = {"message": "m", "traceback": "t"}
    score([put("log.eval", tool_files.inspect_eval(samples))], "a.db")
    table = estimates()
    assert table["n_responses"].to_list() == [4, 1, 0]
    assert table["status"].to_list() == ["complete", "too_few", "too_few"]
    with Run("a.db") as run:
        assert "attempts that delivered no response, left out: 4 (error 4)" in run.events
        assert "log.eval has 9 of 12 samples" in run.events


def test_one_response_to_each_question_says_why_nothing_can_be_estimated(semece, put):
    put("log.eval", tool_files.inspect_eval([s for s in tool_files.inspect_samples() if s["epoch"] == 1]))
    code, out, err = semece("score", "log.eval", "-o", "a.db")
    assert code == 0
    assert "3 with too few usable answers" in out
    assert "no question has more than one response" in err


def test_a_file_in_which_everything_failed_is_refused(put, questions):
    rows = [{"custom_id": i, "result": {"type": "expired"}} for i, *_ in QUESTIONS]
    with pytest.raises(ParseError, match=r"a\.jsonl, line 1: expected at least one response; every attempt failed"):
        score([put("a.jsonl", lines(rows))], "a.db", reading=SamplesReading(questions="questions.jsonl"))
    assert not Path("a.db").exists()


def statuses(path, questions):
    (sample, *_) = collect([path], wanted=Wanted(questions)).samples
    return [one.status for one in sample.drawn]


def test_responses_that_hold_no_usable_answer_are_what_the_file_says_they_are(put, questions):
    ends = ["stop", "length", "content_filter", "stop"]
    rows = [tool_files.openai_line(f"0-{k}", ["Paris"], finish_reason=end) for k, end in enumerate(ends)]
    rows[3]["response"]["body"]["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "No."}
    expected = ["ok", "truncated", "content_filter", "refusal"]
    assert statuses(put("a.jsonl", lines(rows)), questions) == expected
    stops = ["end_turn", "max_tokens", "refusal", "model_context_window_exceeded"]
    rows = [tool_files.anthropic_line(f"0-{k}", "Paris", stop) for k, stop in enumerate(stops)]
    assert statuses(put("b.jsonl", lines(rows)), questions) == ["ok", "truncated", "refusal", "truncated"]
    results = list(tool_files.promptfoo_results())[:4]
    for result, end in zip(results, ends, strict=True):
        result["response"]["finishReason"] = end
    results[3]["response"]["isRefusal"] = True
    assert statuses(put("c.json", tool_files.promptfoo(results)), {}) == expected
    samples = list(tool_files.inspect_samples())[:4]
    for sample, end in zip(samples, ["stop", "max_tokens", "content_filter", "model_length"], strict=True):
        sample["output"]["choices"][0]["stop_reason"] = end
    samples[0]["output"]["choices"][0]["message"]["content"] = [{"type": "text", "text": "No.", "refusal": True}]
    path = put("d.eval", tool_files.inspect_eval(samples))
    assert statuses(path, {}) == ["refusal", "truncated", "content_filter", "truncated"]
    score([path], "a.db")
    table = estimates()
    assert (table["n_responses"].item(), table["status"].item()) == (0, "too_few")
    with Run("a.db") as run:
        assert run.counts == {"refusal": 1, "truncated": 2, "content_filter": 1, "missing": 0}


def test_answers_are_found_in_whole_responses_as_in_replies_to_our_own_prompt(put, questions):
    texts = [
        "Well, Lyon?\nAnswer: Paris\nConfidence: 90%",
        "paris",
        "<think>Rome</think>Answer: Lyon\nConfidence: 0.4",
        "",
    ]
    score(
        [put("a.jsonl", lines([tool_files.openai_line("0", texts)]))],
        "a.db",
        reading=SamplesReading(questions="questions.jsonl"),
    )
    with Run("a.db") as run:
        table = run.responses()
    assert table["answer"].to_list() == ["Paris", "paris", "Lyon", ""]
    assert table["confidence"].to_list() == [0.9, None, 0.4, None]
    assert table["status"].to_list() == ["parsed", "fallback", "parsed", "empty"]
    assert table["text"].to_list() == texts
    rows = [{"question": "?", "answers": ["Answer: Paris\nConfidence: 90%", " b "]}]
    score([put("own.jsonl", lines(rows))], "own.db")
    with Run("own.db") as run:
        assert run.responses()["answer"].to_list() == ["Answer: Paris\nConfidence: 90%", "b"]


# ---- scores that came with the responses


def test_scores_grade_the_classes_whose_responses_they_agree_on(semece, put):
    put("log.eval", tool_files.inspect_eval())
    code, out, err = semece("score", "log.eval", "-o", "rules.db")
    assert code == 0
    assert "the files have scores (match); --judge given grades with them" in err
    code, out, _ = semece("score", "log.eval", "-o", "a.db", "-j", "given")
    assert code == 0
    assert "Noticed: grouped by rules-2; the grades are the scores named match." in out
    assert estimates().select(COLUMNS).equals(estimates("rules.db").select(COLUMNS))
    assert semece("score", "log.eval", "-o", "a.db", "-j", "given")[1] == out
    assert "holds other samples" in semece("score", "log.eval", "-o", "a.db", "-j", "rules")[2]


def test_a_class_whose_scores_disagree_has_no_grade_and_is_counted(put):
    samples = list(tool_files.inspect_samples())
    samples[0]["scores"]["match"]["value"] = "I"
    samples[8]["scores"]["match"]["value"] = "P"
    samples[4]["scores"]["match"]["value"] = float("nan")
    score([put("log.eval", tool_files.inspect_eval(samples))], "a.db", judge="given")
    table = estimates()
    assert table["status"].to_list() == ["ungraded", "complete", "ungraded"]
    assert table["correct"].to_list()[1] == 1.0
    with Run("a.db") as run:
        assert any(
            "disagree in 2 of 3 questions: these classes have no grade; the first is in '0'" in e for e in run.events
        )


def test_a_class_that_is_partial_throughout_has_no_grade(put):
    samples = [s for s in tool_files.inspect_samples() if s["id"] == 0]
    for sample in samples:
        sample["scores"]["match"]["value"] = "P" if sample["scores"]["match"]["value"] == "C" else "I"
    score([put("log.eval", tool_files.inspect_eval(samples))], "a.db", judge="given")
    assert estimates()["status"].to_list() == ["ungraded"]


@pytest.mark.parametrize(
    ("value", "said"),
    [("C", 1.0), ("I", 0.0), ("N", 0.0), (1, 1.0), (0, 0.0), (1.0, 1.0), (True, 1.0), (False, 0.0)],
)
def test_scores_with_one_meaning_are_verdicts(put, value, said):
    samples = [s for s in tool_files.inspect_samples() if s["id"] == 0]
    for sample in samples:
        sample["scores"]["match"]["value"] = value
        sample["output"]["choices"][0]["message"]["content"] = "Paris"
    score([put("log.json", tool_files.inspect_json(samples))], "a.db", judge="given")
    assert estimates()["correct"].to_list() == [said]


@pytest.mark.parametrize("value", [0.37, "yes", "correct", {"a": 1}, [1], 2, None, "c"])
def test_scores_without_one_meaning_are_refused_with_the_place(put, value):
    samples = list(tool_files.inspect_samples())
    samples[1]["scores"]["match"]["value"] = value
    path = put("log.eval", tool_files.inspect_eval(samples))
    with pytest.raises(
        ParseError, match=r"log\.eval, samples/0_epoch_2\.json: expected a score of match that is a verd"
    ):
        score([path], "a.db", judge="given")
    score([path], "a.db")


def test_one_of_several_scorers_is_chosen_by_name(semece, put):
    samples = list(tool_files.inspect_samples())
    for sample in samples:
        sample["scores"]["model_graded_qa"] = {"value": "C"}
    put("log.eval", tool_files.inspect_eval(samples))
    said = semece("score", "log.eval", "-j", "given")[2]
    assert "needs one kind of scores; got match, model_graded_qa: choose one with --scorer" in said
    assert (
        "no scores named 'f1'; the files have match, model_graded_qa"
        in semece("score", "log.eval", "--scorer", "f1")[2]
    )
    assert "--scorer chooses the grades" in semece("score", "log.eval", "--scorer", "match", "-j", "rules")[2]
    assert semece("score", "log.eval", "--scorer", "model_graded_qa", "-o", "a.db")[0] == 0
    assert estimates()["correct"].to_list() == [1.0, 1.0, 1.0]


def test_given_needs_labels_or_scores(semece, put):
    put("own.jsonl", tool_files.own())
    code, _, err = semece("score", "own.jsonl", "-j", "given", "-o", "a.db")
    assert code == 2
    assert "--judge given needs labels or scores, and the files have none" in err
    assert not Path("a.db").exists()


def test_promptfoo_scores_only_results_of_tests_with_assertions(put):
    results = list(tool_files.promptfoo_results())
    path = put("p.json", tool_files.promptfoo(results))
    score([path], "a.db", judge="given")
    assert estimates()["correct"].to_list() == EXPECTED_CORRECT
    for result in results:
        result["gradingResult"] = {"pass": True, "score": 1, "reason": "No assertions"}
    results[0]["gradingResult"] = None
    path = put("q.json", tool_files.promptfoo(results))
    with pytest.raises(ParseError, match="needs labels or scores"):
        score([path], "b.db", judge="given")


def test_simple_evals_scores_and_references_stand_at_the_end_of_each_report(put):
    document = json.loads(tool_files.simple_evals())
    name = "math_o4-mini-high_20260101_000000_allresults.json"
    document["htmls"][0] = document["htmls"][0].replace(
        "Correct Answer: Paris", "Correct Answer: &lt;b&gt; &amp; Paris"
    )
    with pytest.raises(ParseError, match=r"convos\[3\]: expected the question and references that .*convos\[0\] has"):
        collect([put(name, json.dumps(document))])
    for i in (3, 6, 9):
        document["htmls"][i] = document["htmls"][i].replace("Answer: Paris", "Answer: &lt;b&gt; &amp; Paris", 1)
    assert read_all(put(name, json.dumps(document)))["0"][1] == ("<b> & Paris",)
    for i in range(len(document["htmls"])):
        document["htmls"][i] = "<p>another report</p>"
    assert read_all(put(name, json.dumps(document)))["0"][1] == ()
    document["convos"][0][-1]["content"] = "No response (bad request)."
    collected = collect([put(name, json.dumps(document))])
    assert [len(sample.drawn) for sample in collected.samples] == [3, 4, 4]
    assert collected.findings.failed == {"bad request": 1}
    assert list(collected.findings.models) == ["o4-mini-high"]


# ---- Inspect


@pytest.mark.shared_data
def test_the_real_logs_are_read(semece, shared_data):
    logs = shared_data / "logs"
    assert semece("score", logs / "inspect_log_streaming.eval", "-o", "a.db")[0] == 0
    with Run("a.db") as run:
        table, responses = run.estimates(), run.responses()
        assert (run.model, run.dataset) == ("azureai/Meta-Llama-3-1-405B-Instruct-jqf", "popularity")
        assert run.questions()["references"].to_list() == [["Yes"], ["No"]]
    assert table["question_id"].to_list() == ["1", "2"]
    assert table["correct"].to_list() == [0.5, 1.0]
    assert table["sem1"].to_list() == [0.5, 1.0]
    assert responses["answer"].to_list() == ["No", "Yes", "No.", "No"]
    assert semece("score", logs / "inspect_log_streaming.eval", "-o", "g.db", "-j", "given")[0] == 0
    assert estimates("g.db")["correct"].to_list() == [0.5, 1.0]


@pytest.mark.shared_data
def test_the_real_logs_with_one_epoch_and_with_deduplicated_messages_are_read(shared_data):
    found = {log.stem: read_all(log) for log in sorted((shared_data / "logs").glob("*.eval"))}
    assert found["inspect_log_message_deduplication"] == {"0": ("Guess the number", ("42.7",), ("done",))}
    assert list(found["inspect_popularity"]) == [str(i) for i in range(1, 11)]
    assert {a for _, _, a in found["inspect_popularity"].values()} <= {("Yes",), ("No",)}
    (one,) = found["inspect_log_formats"].values()
    assert one[1:] == (("Yes",), ("No",))
    both = [shared_data / "logs" / f"inspect_{name}.eval" for name in ("popularity", "log_formats")]
    with pytest.raises(ParseError, match=r"expected responses of one model; got openai/gpt-4o-mini, ollama/llama3\.1"):
        collect(both)
    assert len(collect(both, wanted=Wanted(model="ollama/llama3.1")).samples) == 1


def test_logs_of_one_task_and_model_add_up_and_a_retried_sample_counts_once(put):
    one = put("a.eval", tool_files.inspect_eval())
    two = put("b.eval", tool_files.inspect_eval(tool_files.inspect_samples(run="b")))
    again = put("c.json", tool_files.inspect_json())
    assert [len(sample.drawn) for sample in collect([one, two]).samples] == [8, 8, 8]
    collected = collect([one, again])
    assert [len(sample.drawn) for sample in collected.samples] == [4, 4, 4]
    assert "a retried log repeats samples of an earlier one; they count once" in collected.findings.notes
    other = put("d.eval", tool_files.inspect_eval(header=tool_files.inspect_header(task="other")))
    with pytest.raises(ParseError, match=r"d\.eval: expected samples of one task; got quiz, other"):
        collect([one, other])


def test_a_log_that_was_not_finished_is_read_and_said_to_be(put):
    header = {**tool_files.inspect_header(), "status": "cancelled"}
    samples = list(tool_files.inspect_samples())[:10]
    notes = collect([put("log.eval", tool_files.inspect_eval(samples, header))]).findings.notes
    assert notes == ["the status of log.eval is cancelled: samples may be missing", "log.eval has 10 of 12 samples"]
    path = Path("log.eval")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({k: header[k] for k in ("version", "eval", "plan")}))
        archive.writestr("samples/0_epoch_1.json", json.dumps(samples[0]))
    assert "the status of log.eval is started: samples may be missing" in collect([path]).findings.notes


def test_of_two_members_with_one_name_the_later_counts(put):
    samples = list(tool_files.inspect_samples())
    path = put("log.eval", tool_files.inspect_eval(samples))
    samples[0]["output"]["choices"][0]["message"]["content"] = "Nice"
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/0_epoch_1.json", json.dumps(samples[0]))
    collected = collect([path])
    assert collected.samples[0].answers == ("Nice", "Lyon", "Paris", "Paris")
    assert collected.findings.notes == []


def test_inputs_and_contents_of_several_parts_and_attachments_are_resolved(put):
    (sample, *_) = tool_files.inspect_samples()
    sample["input"] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "An example?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": [{"type": "text", "text": "attachment://q"}, {"type": "image", "image": "data:"}]},
    ]
    sample["target"] = ["Paris", " City of Light "]
    content = [
        {"type": "reasoning", "reasoning": "Rome?"},
        {"type": "text", "text": "attachment://a"},
        {"type": "text", "text": "Really."},
    ]
    sample["output"]["choices"][0]["message"]["content"] = content
    sample["attachments"] = {"q": "What is the capital of France?", "a": "Paris."}
    expected = {"0": ("What is the capital of France?", ("Paris", "City of Light"), ("Paris.\nReally.",))}
    assert read_all(put("log.json", tool_files.inspect_json([sample]))) == expected
    assert read_all(put("log.eval", tool_files.inspect_eval([sample]))) == expected
    del sample["attachments"]["a"]
    assert "expected attachments.a" in fault(put("log.eval", tool_files.inspect_eval([sample])))


def test_samples_that_are_stored_in_chunks_are_read_with_their_attachments(put):
    (sample, *_) = tool_files.inspect_samples()
    sample["output"]["choices"][0]["message"]["content"] = "attachment://3"
    del sample["messages"]
    path = Path("log.eval")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(tool_files.inspect_header()))
        archive.writestr("samples/0_epoch_1/sample.json", json.dumps(sample))
        archive.writestr("samples/0_epoch_1/messages/0.json", "[]")
        archive.writestr("samples/0_epoch_1/attachments/0.json", json.dumps(["a", "b"]))
        archive.writestr("samples/0_epoch_1/attachments/2.json", json.dumps(["c", "Paris"]))
    assert read_all(path) == {"0": ("What is the capital of France?", ("Paris",), ("Paris",))}
    for reference in ("7", "x", ""):
        sample["output"]["choices"][0]["message"]["content"] = f"attachment://{reference}"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", json.dumps(tool_files.inspect_header()))
            archive.writestr("samples/0_epoch_1/sample.json", json.dumps(sample))
            archive.writestr("samples/0_epoch_1/attachments/2.json", json.dumps(["c", "Paris"]))
        assert "log.eval, samples/0_epoch_1/sample.json: expected" in fault(path)


def test_samples_that_were_invalidated_or_halted_are_no_answers(put):
    samples = list(tool_files.inspect_samples())[:4]
    samples[0]["invalidation"] = {"author": "me", "reason": "broken"}
    samples[1]["limit"] = {"type": "token", "limit": 10}
    del samples[2]["output"]
    collected = collect([put("log.json", tool_files.inspect_json(samples))])
    assert [one.status for one in collected.samples[0].drawn] == ["truncated", "ok"]
    assert collected.findings.failed == {"invalidated": 1, "no output": 1}


def test_choices_of_one_output_are_responses_and_only_the_first_is_scored(put):
    (sample, *_) = tool_files.inspect_samples()
    sample["output"]["choices"] *= 3
    (found,) = collect([put("log.json", tool_files.inspect_json([sample]))]).samples
    assert [one.scores for one in found.drawn] == [(("match", "correct"),), (), ()]


def test_archives_that_are_packed_with_zstandard_are_read(put, tmp_path):
    members = {"header.json": json.dumps(tool_files.inspect_header())}
    for sample in tool_files.inspect_samples():
        members[f"samples/{sample['id']}_epoch_{sample['epoch']}.json"] = json.dumps(
            sample, indent=2, ensure_ascii=False
        )
    data = tool_files.zstandard_zip(members, tmp_path)
    assert read_all(put("log.eval", data)) == read_all(put("plain.eval", tool_files.inspect_eval()))
    place = data.index(b"\x28\xb5\x2f\xfd", 2000) + 30
    damaged = put("damaged.eval", data[:place] + b"\0\0\0\0" + data[place + 4 :])
    assert "got a damaged one" in fault(damaged)
    start = zlib.crc32(members["header.json"].encode()).to_bytes(4, "little")
    other = put("other.eval", data.replace(start, b"\1\2\3\4"))
    assert "header.json: expected a whole member of a zip archive; got a damaged one (Bad CRC-32" in fault(other)


def test_a_zip_archive_of_something_else_says_what_is_in_it(put):
    path = Path("a.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
    assert "expected a log of Inspect, with header.json; got an archive with [Content_Types].xml" in fault(path)


def test_a_log_without_samples_is_refused(put):
    assert "no samples" in fault(put("log.json", tool_files.inspect_json([])))


# ---- the others


@pytest.mark.parametrize("flat", [False, True])
def test_documents_of_lm_eval_count_once_whatever_the_filters(put, flat):
    rows = list(tool_files.lm_eval_rows(filters=("none", "strict", "flexible"), flat=flat))
    path = put("s.jsonl", lines(rows))
    assert [len(answers) for _, _, answers in read_all(path).values()] == [4, 4, 4]
    rows[4]["resps"] = [["other"]]
    assert "line 5: expected the resps that document 1 has elsewhere" in fault(put("s.jsonl", lines(rows)))


def test_a_row_of_lm_eval_that_is_there_twice_counts_once(put):
    rows = list(tool_files.lm_eval_rows(filters=("none",)))
    assert read_all(put("t.jsonl", lines([*rows, rows[1], rows[0]]))) == read_all(put("s.jsonl", lines(rows)))


def test_lm_eval_targets_are_texts_or_spelled_lists_of_texts(put):
    row = next(tool_files.lm_eval_rows())
    for target, references in [
        ("['Paris', \"l'Arc\"]", ("Paris", "l'Arc")),
        ("[0, 1]", ("[0, 1]",)),
        ("[broken", ("[broken",)),
        ("48 + 24 = 72\n#### 72", ("72",)),
        ("#### 72", ("72",)),
        ("['Paris' \"l'Arc\"\n 'Lyon']", ("Paris", "l'Arc", "Lyon")),
        (None, ()),
        ("", ()),
        ("[]", ()),
    ]:
        assert read_all(put("s.jsonl", lines([{**row, "target": target}])))["0"][1] == references
    del row["doc"]["question"]
    assert read_all(put("s.jsonl", lines([row])))["0"][0] == "Q: What is the capital of France?\nA:"
    row["arguments"] = [["the prompt", {}]]
    assert read_all(put("s.jsonl", lines([row])))["0"][0] == "the prompt"


def test_a_multiple_choice_task_of_lm_eval_has_no_samples(put):
    row = {**next(tool_files.lm_eval_rows()), "resps": [[["-1.5", "False"]], [["-0.5", "True"]]]}
    assert "got log-likelihoods: a multiple-choice task draws no answers" in fault(put("s.jsonl", lines([row])))


def test_uqlm_joins_the_original_response_only_if_it_was_drawn_alike(put):
    for metadata, count in [
        ({}, 4),
        ({"temperature": 0.0}, 3),
        ({"temperature": None}, 3),
        ({"parameters": {"temperature": 0.7, "sampling_temperature": 0.7}}, 4),
    ]:
        path = put("u.json", json.dumps(tool_files.uqlm_result(**metadata)))
        collected = collect([path])
        assert [len(sample.drawn) for sample in collected.samples] == [count] * 3
        assert bool(collected.findings.notes) == (count == 3)


@pytest.mark.parametrize("sampled", [None, [None] * 3])
def test_a_result_of_uqlm_with_one_answer_to_each_prompt_is_refused_in_one_sentence(put, sampled):
    """As WhiteBoxUQ, LLMPanel and UQEnsemble without a scorer that samples save it."""
    result = tool_files.uqlm_result()
    del result["data"]["sampled_responses"]
    result["data"] |= {} if sampled is None else {"sampled_responses": sampled}
    said = fault(put("one.json", json.dumps(result)))
    assert "expected sampled_responses: a result of a scorer that draws several answers to each prompt; got one" in said


def test_uqlm_without_prompts_takes_the_questions_by_their_places(put, questions):
    result = tool_files.uqlm_result()
    del result["data"]["prompts"]
    path = put("u.json", json.dumps(result))
    assert "expected prompts, which to_dict() leaves out" in fault(path)
    assert list(read_all(path, wanted=Wanted(questions))) == ["0", "1", "2"]
    bare = put("bare.json", json.dumps(tool_files.uqlm_result()["data"]))
    assert [len(answers) for _, _, answers in read_all(bare).values()] == [3, 3, 3]
    result["data"]["responses"].append("x")
    assert "expected 4 sampled_responses" in fault(
        put("u.json", json.dumps(result)), wanted=Wanted({**questions, "3": questions["0"]})
    )


def test_promptfoo_responses_of_several_providers_are_scored_one_at_a_time(semece, put):
    results = [*tool_files.promptfoo_results(), *tool_files.promptfoo_results("xai:grok-4")]
    put("p.json", tool_files.promptfoo(results))
    said = semece("score", "p.json")[2]
    assert "expected responses of one model; got openai:gpt-4.1-mini, xai:grok-4: choose one with --model" in said
    assert semece("score", "p.json", "--model", "xai:grok-4", "-o", "a.db")[0] == 0
    assert estimates()["correct"].to_list() == EXPECTED_CORRECT
    assert "there are no responses of gpt" in semece("score", "p.json", "--model", "gpt")[2]
    results = [*tool_files.promptfoo_results(), *tool_files.promptfoo_results(prompt="q")]
    assert "expected a result of the prompt that p.json, results.results[0] is of" in fault(
        put("p.json", tool_files.promptfoo(results))
    )


def test_promptfoo_takes_ids_from_the_variables_or_the_numbers_of_the_tests(put):
    results = list(tool_files.promptfoo_results())
    for result in results:
        result["vars"]["id"] = f"q{result['vars']['id']}"
    assert list(read_all(put("p.json", tool_files.promptfoo(results)))) == ["q0", "q1", "q2"]
    for result in results:
        del result["vars"]["id"]
    assert list(read_all(put("p.json", tool_files.promptfoo(results[::-1])))) == ["0", "4", "8"]
    for result in results:
        result["vars"]["body"] = result["vars"].pop("question")
    assert read_all(put("p.json", tool_files.promptfoo(results)))["4"][0] == "Answer: What is two plus two?"


def test_promptfoo_errors_are_no_responses_and_copies_of_its_cache_are_told(put):
    results = list(tool_files.promptfoo_results())
    for result in results:
        result["response"]["cached"] = True
    results[0].update(response=None, error="timed out", failureReason=2)
    results[4].update(error="timed out", failureReason=2)
    collected = collect([put("p.json", tool_files.promptfoo(results))])
    assert [len(sample.drawn) for sample in collected.samples] == [3, 3, 4]
    assert collected.findings.failed == {"error": 2}
    assert "promptfoo's cache" in collected.findings.notes[0]


def test_batches_need_the_questions_and_find_them_by_custom_id(put, questions):
    path = put("o.jsonl", tool_files.openai_batch())
    assert "name it with --questions" in fault(path)
    for custom_id, found in [("0", "0"), ("0-17", "0"), ("0__chunk3", "0"), ("0:3", "0"), ("0/a1", "0")]:
        one = put("one.jsonl", lines([tool_files.openai_line(custom_id, ["Paris"])]))
        assert list(read_all(one, wanted=Wanted(questions))) == [found]
    for custom_id in ("00", "0x", "", "7-1", "x-0"):
        one = put("one.jsonl", lines([tool_files.openai_line(custom_id, ["Paris"])]))
        assert f"got {custom_id!r}" in fault(one, wanted=Wanted(questions))
    both = {**questions, "0-1": questions["0"]}
    one = put("one.jsonl", lines([tool_files.openai_line("0-1", ["Paris"])]))
    assert "got '0-1', which may be '0-1' or '0'" in fault(one, wanted=Wanted(both))


def test_lines_of_a_batch_that_failed_are_counted_by_what_happened(put, questions):
    good = tool_files.openai_line("0", ["Paris", "Lyon"])
    expired = {"id": "b", "custom_id": "1", "response": None, "error": {"code": "batch_expired", "message": "late"}}
    busy = {"id": "c", "custom_id": "2", "response": {"status_code": 429, "body": {"error": {}}}, "error": None}
    collected = collect([put("o.jsonl", lines([good, expired, busy]))], wanted=Wanted(questions))
    assert [len(sample.drawn) for sample in collected.samples] == [2, 0, 0]
    assert collected.findings.failed == {"batch_expired": 1, "status 429": 1}
    kinds = ["errored", "canceled", "expired"]
    rows = [{"custom_id": f"0-{i}", "result": {"type": kind}} for i, kind in enumerate(kinds)]
    rows.append(tool_files.anthropic_line("0-3", "Paris"))
    collected = collect([put("a.jsonl", lines(rows))], wanted=Wanted(questions))
    assert collected.findings.failed == dict.fromkeys(kinds, 1)
    assert collected.samples[0].answers == ("Paris",)


def test_bodies_of_the_responses_interface_and_of_completions_are_read(put, questions):
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paris"}]}
    body = {"object": "response", "model": "gpt-5", "status": "completed", "output": [{"type": "reasoning"}, text]}
    row = tool_files.openai_line("0", [])
    row["response"]["body"] = body
    (sample,) = collect([put("o.jsonl", lines([row]))], wanted=Wanted(questions)).samples
    assert (sample.answers, sample.drawn[0].status) == (("Paris",), "ok")
    row["response"]["body"] = {**body, "status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    assert statuses(put("o.jsonl", lines([row])), questions) == ["content_filter"]
    row["response"]["body"] = {**body, "output": [{**text, "content": [{"type": "refusal", "refusal": "No."}]}]}
    assert statuses(put("o.jsonl", lines([row])), questions) == ["refusal"]
    row["response"]["body"] = {
        "object": "text_completion",
        "model": "davinci",
        "choices": [{"text": " Paris", "finish_reason": "length"}],
    }
    assert statuses(put("o.jsonl", lines([row])), questions) == ["truncated"]


def test_questions_from_elsewhere_must_be_in_what_was_asked(semece, put, questions):
    rows = [json.loads(line) for line in tool_files.lm_eval().splitlines()]
    for row in rows:
        row["doc"] = {}
    put("s.jsonl", lines(rows))
    assert semece("score", "s.jsonl", "--questions", "questions.jsonl", "-o", "a.db")[0] == 0
    with Run("a.db") as run:
        assert run.questions()["text"].to_list() == [q for _, q, _, _ in QUESTIONS]
        assert run.dataset == "questions"
    put("q.jsonl", tool_files.questions_file().replace(b"France", b"Spain"))
    assert (
        "expected the text of question '0' in what was asked" in semece("score", "s.jsonl", "--questions", "q.jsonl")[2]
    )
    put("few.jsonl", tool_files.questions_file().splitlines(keepends=True)[0])
    assert "expected the id of one of the 1 question" in semece("score", "s.jsonl", "--questions", "few.jsonl")[2]
    put("many.jsonl", tool_files.questions_file() + lines([{"id": "9", "question": "And?"}]))
    assert "Noticed: 1 of 4 questions have no samples" in semece("score", "s.jsonl", "--questions", "many.jsonl")[1]


def test_the_authors_files_together_bring_labels_and_the_grade_of_the_mode(semece, put):
    put("a_clustered.jsonl", tool_files.clustered())
    put("a_graded.jsonl", tool_files.graded())
    assert semece("score", "a_clustered.jsonl", "a_graded.jsonl", "-o", "a.db")[0] == 0
    with Run("a.db") as run:
        assert run.judge_names == ("given", "given")
        table = run.estimates()
    assert table["correct"].to_list() == EXPECTED_CORRECT
    assert table["verbalized"].to_list() == pytest.approx([0.8] * 3)
    assert table["n_classes"].to_list() == [2, 2, 3]
    assert semece("score", "a_clustered.jsonl", "-o", "b.db")[0] == 0
    with Run("b.db") as run:
        assert run.judge_names == ("given", "rules")
    assert "expected a clustered file beside the graded one" in semece("score", "a_graded.jsonl")[2]


def test_the_authors_grades_are_not_taken_against_the_judges_own_words(put):
    rows = list(tool_files.graded_rows())
    put("a_clustered.jsonl", tool_files.clustered())
    files = [Path("a_clustered.jsonl"), Path("a_graded.jsonl")]

    def said(change):
        changed = [dict(row) for row in rows]
        change(changed)
        put("a_graded.jsonl", lines(changed))
        with pytest.raises(ParseError) as raised:
            collect(files)
        return str(raised.value)

    found = said(lambda rows: rows[2].update(grade="CORRECT", raw_judge_response="The answer is INCORRECT."))
    assert "a_graded.jsonl, line 3: expected the grade that raw_judge_response says; got CORRECT" in found
    assert "got 'RIGHT'" in said(lambda rows: rows[0].update(grade="RIGHT"))
    assert "expected one graded row for '0'" in said(lambda rows: rows.append(rows[0]))
    assert "line 2: expected the modal_cluster_label that was graded, '5'; got '4'" in said(
        lambda rows: rows[1].update(modal_cluster_label="5")
    )
    rows[1].update(grade="PARSE_ERROR", Y=None, raw_judge_response="hm")
    del rows[2]
    put("a_graded.jsonl", lines(rows))
    score(files, "a.db")
    assert estimates()["status"].to_list() == ["complete", "ungraded", "ungraded"]


# ---- one response a row, and the records of other tools


def test_rows_of_a_question_belong_together_by_ids_that_come_twice_or_else_by_text(put):
    rows = list(tool_files.response_rows())
    expected = {i: (q, (r,), tuple(a)) for i, q, r, a in QUESTIONS}
    assert read_all(put("a.jsonl", lines(rows))) == expected
    assert read_all(put("a.json", json.dumps(rows, indent=1))) == expected
    for number, row in enumerate(rows):
        row["id"] = f"r{number}"
    assert list(read_all(put("a.jsonl", lines(rows)))) == ["r0", "r1", "r2"]
    rows[3]["reference"] = "Lutetia"
    assert [len(a) for _, _, a in read_all(put("a.jsonl", lines(rows))).values()] == [3, 4, 4, 1]
    rows[3]["id"] = rows[0]["id"]
    assert "expected the question and references" in fault(put("a.jsonl", lines(rows)))
    rows[3] = {**rows[0], "id": None}
    rows[4]["id"] = rows[1]["id"]
    assert "a.jsonl, line 4: expected an id, as in other rows" in fault(put("a.jsonl", lines(rows)))


def test_a_row_of_one_response_has_its_confidence_its_model_and_what_all_rows_of_its_question_share(put):
    rows = [{**row, "topic": row["id"], "confidence": 0.25, "model": "m1"} for row in tool_files.response_rows()]
    rows += [{**row, "model": "m2", "response": None} for row in rows]
    path = put("a.jsonl", lines(rows))
    assert "expected responses of one model; got m1, m2" in fault(path)
    (sample, *_) = collect([path], wanted=Wanted(model="m1")).samples
    assert (sample.question.metadata, {one.confidence for one in sample.drawn}) == ({"topic": "0"}, {0.25})
    assert collect([path], wanted=Wanted(model="m2")).samples[0].answers == ("",) * 4
    table = "question,response,reference,confidence\n2+2?,4,4,0.9\n2+2?,5,4,\n"
    (sample,) = collect([put("a.csv", table)]).samples
    assert [one.confidence for one in sample.drawn] == [0.9, None]
    assert "a confidence must lie in [0, 1]; got 90.0 in confidence (percent? divide by 100)" in fault(
        put("a.csv", table.replace("0.9", "90"))
    )


def test_an_old_table_of_ragas_has_its_responses_under_answer(put):
    path = put("old.csv", "question,answer,contexts,ground_truth\n2+2?,4,x,four\n2+2?,5,y,four\n")
    assert read_all(path) == {"0": ("2+2?", ("four",), ("4", "5"))}
    own = put("own.jsonl", lines([{"question": "2+2?", "answer": "4", "answers": ["5"]}]))
    assert read_all(own) == {"": ("2+2?", ("4",), ("5",))}


@pytest.mark.parametrize("column", ["references", "reference", "gold", "target"])
def test_beside_references_the_column_answer_is_the_response(put, column):
    path = put("rows.csv", f"question,{column},answer\n2+2?,four,4\n2+2?,four,5\n")
    assert read_all(path) == {"0": ("2+2?", ("four",), ("4", "5"))}
    with pytest.raises(ParseError, match="name the columns 'question' and 'response'"):
        read_all(put("alone.csv", "question,answer\n2+2?,4\n2+2?,5\n"))


def test_a_missing_response_is_lost_alone_in_every_format(put, questions):
    lost = {
        "own.jsonl": lambda row: row["answers"].__setitem__(1, None),
        "samples_quiz_2026-01-01T00-00-00.000000.jsonl": lambda row: row["resps"][0].__setitem__(1, None),
        "uqlm.json": lambda row: row["data"]["sampled_responses"][0].__setitem__(0, None),
        "log.json": lambda row: row["samples"][1]["output"]["choices"][0].update(message=None),
        "promptfoo.json": lambda row: row["results"]["results"][1]["response"].update(output=None),
        "quiz_gpt-4o_20260101_000000_allresults.json": lambda row: row["convos"][3][-1].update(content=None),
        "deepeval.json": lambda row: row["testRunData"]["testCases"][3].pop("actualOutput"),
    }
    for name, lose in lost.items():
        text = FILES[name][1]().decode()
        rows = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else [json.loads(text)]
        if name.startswith("samples"):
            rows = rows[:3]
        lose(rows[0])
        path = put(name, lines(rows))
        assert read_all(path)["0"][2] == ("Paris", "", "Paris", "Paris"), name


def test_outputs_of_promptfoo_that_are_no_texts_are_their_json(put):
    results = list(tool_files.promptfoo_results())[:2]
    results[0]["response"]["output"] = {"answer": "Paris"}
    results[1]["response"]["output"] = 42
    assert read_all(put("p.json", tool_files.promptfoo(results)))["0"][2] == ('{"answer": "Paris"}', "42")


def test_the_question_of_a_chat_is_what_the_user_said_last(put):
    chat = [{"role": "user", "content": "An example?"}, {"role": "assistant", "content": "Yes."}]
    chat += [{"role": "user", "content": "What is the capital of France?"}]
    row = next(tool_files.lm_eval_rows())
    del row["doc"]["question"]
    for put_as in (json.dumps(chat), [json.dumps(chat)], chat):
        row["arguments"] = {"gen_args_0": {"arg_0": put_as, "arg_1": {}}}
        assert read_all(put("s.jsonl", lines([row])))["0"][0] == "What is the capital of France?"


def requests():
    for name, text, _, answers in QUESTIONS:
        for k in range(len(answers)):
            yield f"{name}-{k}", [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


REQUESTS = {
    "openai": ("openai.jsonl", lambda name, said: {"custom_id": name, "method": "POST", "body": {"messages": said}}),
    "anthropic": (
        "anthropic.jsonl",
        lambda name, said: {"custom_id": name.replace("-", "__sample"), "params": {"messages": said}},
    ),
    "gemini": (
        "gemini.jsonl",
        lambda name, said: {"key": name, "request": {"contents": [{"parts": [{"text": said[-1]["content"]}]}]}},
    ),
    "bedrock": ("bedrock.jsonl", lambda name, said: {"recordId": name, "modelInput": {"messages": said}}),
}


@pytest.mark.parametrize("service", REQUESTS)
def test_the_file_of_a_batchs_requests_tells_its_questions(semece, put, service):
    name, request = REQUESTS[service]
    put("requests.jsonl", lines(request(*each) for each in requests()))
    path = put(name, FILES[name][1]())
    code, _, err = semece("score", path, "--questions", "requests.jsonl", "-o", "a.db")
    assert (code, "no question has a reference" in err) == (0, True)
    table = estimates()
    assert table["question_id"].to_list() == ["0", "1", "2"]
    assert table["sem1"].to_list() == [0.75, 0.75, 0.5]
    with Run("a.db") as run:
        assert run.questions()["text"].to_list() == [text for _, text, _, _ in QUESTIONS]


def test_requests_whose_ids_say_nothing_are_one_question_by_their_text(put):
    named = [(f"request-{number}", said) for number, (_, said) in enumerate(requests())]
    request = REQUESTS["openai"][1]
    put("requests.jsonl", lines(request(*each) for each in named))
    answers = [text for *_, some in QUESTIONS for text in some]
    rows = [tool_files.openai_line(name, [text]) for (name, _), text in zip(named, answers, strict=True)]
    known = {q.id: q for q in open_dataset("requests.jsonl").questions}
    assert list(known) == ["request-0", "request-4", "request-8"]
    found = read_all(put("o.jsonl", lines(rows)), wanted=Wanted(known))
    assert [a for _, _, a in found.values()] == [tuple(a) for *_, a in QUESTIONS]
    put("requests.jsonl", lines([request("a", [])]))
    with pytest.raises(ParseError, match=r"requests\.jsonl, line 1: expected a request with a text of the user"):
        open_dataset("requests.jsonl")


def test_lines_that_repeat_their_requests_need_no_file_of_questions(put, questions):
    for name in ("vertex.jsonl", "bedrock.jsonl"):
        path = put(name, FILES[name][1]())
        found = list(read_all(path).values())
        assert [text.removeprefix("Answer briefly. ") for text, _, _ in found] == [q for _, q, _, _ in QUESTIONS]
        assert [len(a) for _, _, a in found] == [4, 4, 4]
    few = {"2": questions["2"]}
    assert "expected in custom_id the id of one of the questions" in fault(
        put("v.jsonl", tool_files.vertex_batch()), wanted=Wanted(few)
    )


@pytest.mark.parametrize("family", tool_files.BEDROCK)
def test_outputs_of_every_family_of_models_on_bedrock_are_read(put, questions, family):
    output = tool_files.BEDROCK[family]("Paris")
    row = {"recordId": "0-1", "modelInput": {}, "modelOutput": output}
    cut = json.loads(re.sub('"(end_turn|FINISH|stop)"', '"length"', json.dumps(row)))
    failed = {"recordId": "0-2", "modelInput": {}, "error": {"errorCode": 400, "errorMessage": "bad request"}}
    collected = collect([put("b.jsonl", lines([row, cut, failed]))], wanted=Wanted(questions))
    assert [(one.text, one.status) for one in collected.samples[0].drawn] == [("Paris", "ok"), ("Paris", "truncated")]
    assert collected.findings.failed == {"error 400": 1}
    row["modelOutput"] = {"embedding": [0.1]}
    assert "expected what a model wrote in modelOutput; got an object with embedding" in fault(
        put("b.jsonl", lines([row])), wanted=Wanted(questions)
    )


def test_lines_of_gemini_that_hold_no_text_are_what_they_say_they_are(put, questions):
    rows = [{"key": f"0-{k}", "response": tool_files.gemini_response("Paris")} for k in range(5)]
    rows[0]["response"]["candidates"][0].update(content={"role": "model"}, finishReason="MAX_TOKENS")
    rows[1]["response"]["candidates"][0].update(content=None, finishReason="PROHIBITED_CONTENT")
    rows[2]["response"] = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "gemini-2.5-flash"}
    del rows[3]["response"]
    rows[3]["error"] = {"code": 503, "message": "busy"}
    collected = collect([put("g.jsonl", lines(rows))], wanted=Wanted(questions))
    assert [one.status for one in collected.samples[0].drawn] == ["truncated", "content_filter", "content_filter", "ok"]
    assert collected.findings.failed == {"error 503": 1}


def test_predictions_of_several_files_are_responses_and_verdicts_are_scores(semece, put):
    put("questions.jsonl", tool_files.questions_file())
    paths = [put(f"hle_{k}.json", tool_files.hle(k, judged=True)) for k in range(4)]
    assert "name them with --questions hle" in fault(paths[0])
    code, _, err = semece("score", *paths, "--questions", "questions.jsonl", "-o", "a.db")
    assert code == 0
    assert "the files have scores (judge_response)" in err
    assert estimates()["sem1"].to_list() == [0.75, 0.75, 0.5]
    assert semece("score", *paths, "--questions", "questions.jsonl", "-o", "b.db", "-j", "given")[0] == 0
    assert estimates("b.db")["correct"].to_list() == EXPECTED_CORRECT
    with Run("a.db") as run:
        assert run.model == "gpt-5"


def test_what_a_grader_was_asked_is_no_response_of_a_sample_of_evals(put):
    path = put("evals.jsonl", tool_files.evals())
    collected = collect([path])
    assert collected.samples[0].answers == tuple(QUESTIONS[0][3])
    assert "what a sample was asked beside its question, as by a grader, is left out" in collected.findings.notes
    assert list(collected.findings.models) == ["gpt-4"]
    rows = list(tool_files.evals_rows())
    rows[2]["data"]["sampled"] = "Lyon"
    rows[1]["data"].update(correct=False, expected=["Paris", "Lutetia"])
    rows.insert(3, {"run_id": "r", "event_id": 99, "sample_id": "0", "type": "error", "data": {"type": "APIError"}})
    collected = collect([put("evals.jsonl", lines(rows))])
    (first, *_) = collected.samples
    assert (first.question.references, first.drawn[0].scores) == (("Paris", "Lutetia"), (("match", "incorrect"),))
    assert collected.findings.failed == {"error": 1}


def test_a_test_run_of_conversations_is_refused_in_a_sentence(put):
    path = put("d.json", json.dumps({"testCases": [], "conversationalTestCases": [{"turns": []}]}))
    assert "no samples" in fault(path)
    path = put("d.json", json.dumps({"testRunData": {"conversationalTestCases": []}}))
    assert "d.json: expected a list in testCases or testRunData.testCases; got none" in fault(path)


def test_scores_without_a_verdict_are_not_recommended(semece, put):
    samples = list(tool_files.inspect_samples())
    for sample in samples:
        sample["scores"]["f1"] = {"value": {"acc": 1, "f1": 0.5}}
    put("log.json", tool_files.inspect_json(samples))
    assert "the files have scores (match); --judge given" in semece("score", "log.json", "-o", "a.db")[2]
    for sample in samples:
        del sample["scores"]["match"]
    put("log.json", tool_files.inspect_json(samples))
    assert "scores" not in semece("score", "log.json", "-o", "b.db")[2]


def test_questions_may_stand_in_a_json_array(put):
    rows = [{"id": i, "question": q, "references": [r]} for i, q, r, _ in QUESTIONS]
    put("q.json", json.dumps(rows, indent=2))
    assert [q.id for q in open_dataset("q.json").questions] == ["0", "1", "2"]
    put("q.json", json.dumps([*rows, 3]))
    with pytest.raises(ParseError, match=r"q\.json, item 4: expected a JSON object; got int"):
        open_dataset("q.json")
    put("q.json", json.dumps(rows)[:-3])
    with pytest.raises(ParseError, match=r"q\.json: expected a JSON array of objects; "):
        open_dataset("q.json")


def test_a_reference_that_gsm8k_ends_with_its_mark_is_what_follows_the_mark(put):
    put("gsm8k.jsonl", lines([{"question": "?", "answer": "48 / 2 = <<48/2=24>>24\nTogether 72.\n#### 72"}]))
    assert open_dataset("gsm8k.jsonl").questions[0].references == ("72",)


# ---- our own columns as tables


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_tables_with_our_columns_are_read_like_rows(put, suffix):
    rows = [
        {
            "id": i,
            "question": q,
            "references": json.dumps([r]),
            "answers": json.dumps(a),
            "confidences": json.dumps([0.5, None, 0.25, 1]),
            "labels": json.dumps([0, 1, 0, 2]),
            "grades": json.dumps({"0": "correct", "2": "incorrect"}),
        }
        for i, q, r, a in QUESTIONS
    ]
    path = Path(f"own{suffix}")
    table = pl.DataFrame(rows)
    table.write_parquet(path) if suffix == ".parquet" else table.write_csv(
        path, separator="\t" if suffix == ".tsv" else ","
    )
    score([path], "a.db")
    put(
        "own.jsonl", lines({k: v if k in {"id", "question"} else json.loads(v) for k, v in row.items()} for row in rows)
    )
    score([Path("own.jsonl")], "b.db")
    assert estimates("a.db").equals(estimates("b.db"))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_file_may_be_separated_by_commas_semicolons_or_tabs(put, separator):
    """Spreadsheets of countries with a decimal comma write semicolons."""
    table = pl.DataFrame([{"id": i, "question": f"{q}, or; not", "answers": json.dumps(a)} for i, q, _, a in QUESTIONS])
    table.write_csv("own.CSV", separator=separator)
    table.with_columns(response=pl.lit("a")).drop("answers").write_csv("rows.csv", separator=separator)
    read = collect([Path("own.CSV")]).samples
    assert [(one.question.text, one.answers) for one in read] == [
        (f"{q}, or; not", tuple(a)) for _, q, _, a in QUESTIONS
    ]
    assert collect([Path("rows.csv")]).format == "rows"


def test_columns_of_lists_and_objects_in_parquet_are_read_and_empty_cells_are_absent(put):
    rows = [
        {
            "question": "a?",
            "answers": ["x", "y"],
            "labels": [0, 1],
            "grades": {"0": "correct", "1": None},
            "day": "2026-01-01",
        },
        {
            "question": "b?",
            "answers": ["x", "x"],
            "labels": [4, 4],
            "grades": {"0": None, "4": "incorrect"},
            "day": None,
        },
    ]
    table = pl.DataFrame(rows).with_columns(pl.col("day").str.to_date())
    table.write_parquet("own.parquet")
    score([Path("own.parquet")], "a.db")
    table = estimates()
    assert table["correct"].to_list() == [None, 0.0]
    assert table["status"].to_list() == ["ungraded", "complete"]
    put("own.csv", 'question,answers,confidences,labels,grades\na?,"[""x"",""y""]",,,\n')
    (sample,) = collect([Path("own.csv")]).samples
    assert (sample.labels, sample.grades, sample.drawn[0].confidence) == (None, None, None)


def test_an_old_run_of_own_samples_goes_on(put):
    """The hash of plain samples is that of the list of their fields, whatever more a sample can hold now."""
    from semece.canonical_json import digest

    path = put("own.jsonl", tool_files.own())
    score([path], "a.db")
    fields = [[i, q, [r], a, [None] * 4, None, None] for i, q, r, a in QUESTIONS]
    with Run("a.db") as run:
        assert run._identity["dataset content"] == digest(fields).hex()


def test_columns_of_questions_are_read_from_inspect_and_lm_eval(put):
    samples = [{**sample, "metadata": {"topic": "cities"}} for sample in tool_files.inspect_samples()]
    rows = [{**row, "doc": row["doc"] | {"topic": "cities"}} for row in tool_files.lm_eval_rows()]
    log = collect([put("log.json", tool_files.inspect_json(samples))]).samples
    assert [one.question.metadata for one in log] == [{"topic": "cities"}] * 3
    documents = collect([put("samples_quiz_2026.jsonl", lines(rows))]).samples
    assert [one.question.metadata["topic"] for one in documents] == ["cities"] * 3
    assert "question" not in documents[0].question.metadata
