"""What a run says of how its replies were read, and what it decides for a single one."""

import json

import pytest

from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.runs.verdicts import reading_lines
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
    few = list(reading_lines({"parsed": 10, "fallback": 1}, (10, 0), "Oslo, I think"))
    many = list(reading_lines({"parsed": 9, "fallback": 2}, (10, 0), "Oslo, I think"))
    assert not any("Warning" in line for line in few)
    assert "'Oslo, I think'" in many[-1]
