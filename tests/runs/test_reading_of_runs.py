"""What a run says of how its replies were read, and what it decides for a single one."""

import json

import pytest

from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.runs.sentences import reading_lines
from tests import tool_files


@pytest.fixture
def scored(tmp_path):
    """Score replies to one question, as a batch of OpenAI's brought them."""

    def put(texts):
        questions, file = tmp_path / "q.jsonl", tmp_path / "replies.jsonl"
        questions.write_text(json.dumps({"id": "0", "question": "?", "references": ["Oslo"]}) + "\n")
        file.write_text(json.dumps(tool_files.openai_line("0", texts)) + "\n")
        from semece.runs.scored_samples import SamplesReading

        score([file], tmp_path / "a.db", reading=SamplesReading(questions=str(questions)))
        return tmp_path / "a.db"

    return put


def stated(*texts):
    return [f"Answer: Oslo\nConfidence: {text}" for text in texts]


@pytest.mark.parametrize(
    ("texts", "read"),
    [
        (("90%", "80%", "1"), [0.9, 0.8, 0.01]),
        (("0.9", "0.6", "1"), [0.9, 0.6, 1.0]),
        (("0.9", "80%", "1"), [0.9, 0.8, None]),
        (("0.9", "0.8", "0.95%"), [0.9, 0.8, 0.95]),
        (("1", "1", "high"), [None, None, None]),
    ],
)
def test_a_bare_one_is_read_as_the_other_confidences_of_the_run_are(scored, texts, read):
    path = scored(stated(*texts))
    with Run(path) as run:
        assert run.responses()["confidence"].to_list() == read
        assert run.confidences == (3, read.count(None))
    with Run(path) as run:
        assert [response.confidence for response in run.question("0").responses] == read, "one question alone"


def test_a_reply_without_text_is_a_failure_and_no_answer(scored):
    with Run(scored(["Answer: Oslo", "", "<think>Oslo?", " \n"])) as run:
        assert run.counts == {"parsed": 1, "empty": 3, "missing": 0}
        (view,) = run.question_views()
        assert view.estimate.n_responses == 1


def test_many_answers_that_were_read_whole_are_a_warning_with_an_example():
    few = list(reading_lines({"parsed": 10, "fallback": 1}, (10, 0), (1, "Oslo, I think")))
    many = list(reading_lines({"parsed": 9, "fallback": 2}, (10, 0), (2, "Oslo, I think")))
    assert not any("Warning" in line for line in few)
    assert "'Oslo, I think'" in many[-1]


def test_short_replies_that_are_answers_as_a_whole_are_no_reason_for_a_warning(scored):
    with Run(scored(["Oslo", "It is Oslo.", "Bergen"])) as run:
        assert run.counts["fallback"] == 3
        assert run.unlabelled[0] == 0
    long = "Let me think. The capital of Norway has moved more than once, but today it is Oslo\nif I am not mistaken"
    assert list(reading_lines({"fallback": 3}, (0, 0), (1, long)))[-1].startswith("Warning: 33 % of the answers")


def test_a_pattern_finds_the_answers_of_samples_and_may_change(semece, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": "?", "references": ["Oslo"], "responses": ["=> Oslo !", "=> Oslo ?", "=> Bergen !"]}]
    (tmp_path / "a.jsonl").write_text(json.dumps(rows[0]) + "\n")
    words = ("score", "a.jsonl", "-o", "a.db", "--answer-pattern")
    assert semece(*words, r"=> (\w+)")[0] == 0
    with Run("a.db") as run:
        assert run.responses()["answer"].to_list() == ["Oslo", "Oslo", "Bergen"]
        assert run.responses()["status"].to_list() == ["parsed"] * 3
        assert run.estimates()["correct"].to_list() == [1.0]
    assert semece(*words, r"\w+ (.)$")[0] == 0
    with Run("a.db") as run:
        assert run.responses()["answer"].to_list() == ["!", "?", "!"]
    assert "--answer-pattern must be a regular expression; got '('" in semece(*words, "(")[2]
    (tmp_path / "b.jsonl").write_text(json.dumps({"question": "?", "answers": ["Oslo"]}) + "\n")
    code, _, err = semece("score", "b.jsonl", "--answer-pattern", "x")
    assert (code, "those of these files are answers already" in err) == (2, True)


def test_samples_may_be_judged_as_mathematics(semece, tmp_path, monkeypatch):
    pytest.importorskip("math_verify")
    monkeypatch.chdir(tmp_path)
    texts = [r"so \\boxed{\\frac{1}{2}}", "The answer is 0.5", "Answer: 1/3"]
    row = '{"question": "?", "references": ["1/2"], "responses": ["' + '", "'.join(texts) + '"]}'
    (tmp_path / "a.jsonl").write_text(row + "\n")
    assert semece("score", "a.jsonl", "-o", "a.db", "-j", "math")[0] == 0
    with Run("a.db") as run:
        assert run.judge_names == ("math", "math")
        (one,) = run.estimates().to_dicts()
    assert (one["n_classes"], one["correct"]) == (2, 1.0)


def test_the_mathematics_judge_is_named_where_references_are_formulas(semece, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, reference, named in (("a", r"\frac{1}{2}", True), ("b", "C:/temp costs $5", False)):
        row = {"question": "?", "references": [reference], "responses": ["Answer: 1/2", "Answer: 2"]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
        code, _, err = semece("score", f"{name}.jsonl", "-o", f"{name}.db")
        assert (code, "--judge math" in err) == (0, named)
    assert "--judge math" not in semece("score", "a.jsonl", "-o", "c.db", "-j", "rules")[2]
