"""What a judge has not judged is said, with the reason, by judge-eval and by compare; nothing drops out in silence."""

import asyncio
import json
import re

import pytest

from semece.compare.judge_comparison import ask_judges, compare_judges, judge_shortfall
from semece.compare.judge_eval import evaluate_judge
from semece.compare.labelled_files import read_labelled
from semece.judges import Missing, Undelivered
from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.runs.shortfalls import Shortfall, shortfall_of
from semece.sampling.patience import Patience
from semece.sampling.settings import CallSettings
from tests.servers.openai_server import OpenAIServer

QUICK = Patience(attempts=2, first_wait=0.001, longest_wait=0.002)
JUDGE = "openai-api/local/judge"
LABELLED = [
    {"id": "1", "question": "Who wrote Hamlet?", "references": ["Shakespeare"], "answer": "Marlowe", "correct": False},
    {
        "id": "1",
        "question": "Who wrote Hamlet?",
        "references": ["Shakespeare"],
        "answer": "Shakespeare",
        "correct": True,
    },
    {"id": "2", "question": "Who wrote Emma?", "answers": ["Austen", "Jane Austen", "Brontë"], "labels": [0, 0, 1]},
]
SAMPLES = [
    {"id": "a", "question": "Who wrote Hamlet?", "references": ["Shakespeare"], "answers": ["Shakespeare", "Marlowe"]},
    {"id": "b", "question": "Who wrote Emma?", "references": ["Austen"], "answers": ["Austen", "Austen"]},
    {"id": "c", "question": "Who wrote Ulysses?", "references": ["Joyce"], "answers": ["Joyce", "Homer", "Homer"]},
]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def labelled(tmp_path):
    return write(tmp_path / "a.jsonl", LABELLED)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "a.db"
    score([write(tmp_path / "samples.jsonl", SAMPLES)], path, judge="rules")
    return path


@pytest.fixture
def served(monkeypatch):
    """Start a service whose every call or reply has one fault."""
    servers = []

    def begin(fault=None):
        server = OpenAIServer(faults={fault: 1.0} if fault else None)
        servers.append(server.__enter__())
        monkeypatch.setenv("LOCAL_BASE_URL", server.base_url)
        return server

    yield begin
    for server in servers:
        server.__exit__(None, None, None)


def test_the_reasons_are_counted_and_only_two_of_them_are_worth_another_run():
    faults = [Missing(), Undelivered("refusal"), Undelivered("truncated"), Undelivered("refusal"), Missing()]
    found = shortfall_of("m", faults, "m: 500")
    assert (found.undelivered, found.unreadable, found.missing) == (2, 0, 2)
    assert found.without_text == {"refusal": 2, "truncated": 1}
    first, second = found.sentences()
    assert first == "m: 2 of its verdicts and partitions did not come (the last failure: m: 500)"
    assert "m: 3 of its verdicts and partitions came without a text (refusal 2, truncated 1); --retry-failed" in second
    assert list(shortfall_of("m", [], "m: 500 of another question").sentences()) == []


REASONS = {
    "500": (
        3,
        r"3 of its .* did not come \(the last failure: openai-api/local/judge at [0-9.:]+: 500 ",
    ),
    "429": (
        3,
        r"3 of its verdicts and partitions did not come \(the last failure: openai-api/local/judge at [0-9.:]+: 429 ",
    ),
    "html": (
        3,
        r"last failure: openai-api/local/judge at [0-9.:]+: the reply was broken: a web page in its place\)",
    ),
    "refusal": (0, r"3 of its verdicts and partitions came without a text \(refusal 3\); --retry-failed asks for them"),
    "content_filter": (0, r"came without a text \(content_filter 3\); --retry-failed asks"),
    "length": (0, r"came without a text \(truncated 3\); --retry-failed asks"),
}


@pytest.mark.parametrize("fault", REASONS)
def test_judge_eval_says_why_nothing_was_judged(semece, labelled, served, fault):
    served(fault)
    missing, sentence = REASONS[fault]
    code, out, err = semece("judge-eval", labelled, "-j", JUDGE, "--attempts", 1, "-o", "r.db")
    assert code == (3 if missing else 0)
    assert re.search(sentence, err), err
    assert ("run it again to continue: semece judge-eval" in err) == bool(missing)
    code, out, _ = semece("judge-eval", labelled, "-j", JUDGE, "--attempts", 1, "-o", "r.db", "--json")
    (found,) = json.loads(out)["shortfalls"]
    assert (found["judge"], found["undelivered"]) == (JUDGE, missing)
    assert sum(found["without_text"].values()) == 3 - missing


def test_judge_eval_quotes_a_reply_that_cannot_be_read_and_one_that_no_request_can_carry(semece, labelled):
    code, _, err = semece("judge-eval", labelled, "-j", "fake/judge?invalid=1", "-o", "r.db")
    assert code == 3
    assert re.search(r"fake/judge\?invalid=1: 3 of its verdicts and partitions cannot be read \(the last: \w", err)
    again = semece("judge-eval", labelled, "-j", "fake/judge?invalid=1", "-o", "r.db")[2]
    assert "3 of its verdicts and partitions cannot be read (the last: " in again


@pytest.mark.parametrize("fault", [None, "500"])
def test_nothing_is_said_where_all_is_there_whatever_failed_before(semece, labelled, served, fault):
    if fault:
        served(fault)
        semece("judge-eval", labelled, "-j", JUDGE, "--attempts", 1, "-o", "r.db")
    served()
    code, out, err = semece("judge-eval", labelled, "-j", JUDGE, "-j", "rules", "-o", "r.db", "--json")
    assert (code, err, json.loads(out)["shortfalls"]) == (0, "", [])


def test_judge_eval_asks_again_for_what_came_without_a_text_where_that_is_wanted(semece, labelled, served):
    refusing = served("refusal")
    for _ in range(2):
        semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db")
    assert refusing.summary()["paid"] == 3
    sound = served()
    assert semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db")[0] == 0
    assert sound.summary()["paid"] == 0
    code, _, err = semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db", "--retry-failed")
    assert (code, err) == (0, "")
    assert sound.summary()["paid"] == 3
    semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db", "--retry-failed")
    assert sound.summary()["paid"] == 3, "what has a text stays"


def test_a_judge_that_cannot_be_opened_sets_nothing_aside(labelled, served, monkeypatch, semece):
    served("refusal")
    semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db")
    monkeypatch.delenv("LOCAL_BASE_URL")
    assert semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db", "--retry-failed")[0] == 2
    sound = served()
    assert "(refusal 3)" in semece("judge-eval", labelled, "-j", JUDGE, "-o", "r.db")[2]
    assert sound.summary()["paid"] == 0


# -- compare


def test_compare_gives_the_services_fault_and_the_same_command_goes_on(semece, tmp_path, served):
    score([write(tmp_path / "samples.jsonl", [SAMPLES[0], SAMPLES[2]])], tmp_path / "b.db", judge="rules")
    served("500")
    words = ("compare", tmp_path / "b.db", "--judges", JUDGE, "rules", "--attempts", 1)
    code, out, err = semece(*words)
    assert (code, out) == (3, "")
    assert (
        "2 of its verdicts and partitions did not come (the last failure: openai-api/local/judge at 127.0.0.1:" in err
    )
    assert "run it again to continue: semece compare" in err
    served()
    code, out, err = semece(*words)
    assert (code, err) == (0, "")
    assert out.startswith("samples · samples: 2 questions, first openai-api/local/judge, second rules\n\n")


def test_questions_that_drop_out_are_counted_with_the_judge_that_gave_no_classes(semece, run, served):
    served("length")
    code, out, err = semece("compare", run, "--judges", JUDGE, "rules")
    assert code == 0
    first, second, *_ = out.splitlines()
    assert first == "samples · samples: 1 of 3 questions, first openai-api/local/judge, second rules"
    assert second == "Left out: 2 without classes by openai-api/local/judge."
    assert "3 of its verdicts and partitions came without a text (truncated 3); --retry-failed asks" in err
    found = json.loads(semece("compare", run, "--judges", JUDGE, "rules", "--json")[1])
    assert found["left_out"] == {"without classes by openai-api/local/judge": 2}
    assert found["shortfalls"][0]["without_text"] == {"truncated": 3}
    assert semece("compare", run, "--judges", JUDGE, "rules", "--retry-failed")[0] == 0


def test_retry_failed_asks_a_judge_of_a_run_again(run, served):
    served("refusal")
    assert asyncio.run(ask_judges(run, [JUDGE], calls=CallSettings(patience=QUICK))) == 0
    sound = served()
    assert asyncio.run(ask_judges(run, [JUDGE], calls=CallSettings(patience=QUICK))) == 0
    assert sound.summary()["paid"] == 0
    assert judge_shortfall(run, JUDGE).without_text == {"refusal": 3}
    assert asyncio.run(ask_judges(run, [JUDGE], calls=CallSettings(patience=QUICK, retry_failed=True))) == 0
    assert sound.summary()["paid"] == 7, "two partitions and five verdicts"
    assert list(judge_shortfall(run, JUDGE).sentences()) == []


def test_questions_without_labels_are_counted(semece, tmp_path):
    rows = [{**SAMPLES[0], "labels": [0, 1]}, *SAMPLES[1:]]
    score([write(tmp_path / "samples.jsonl", rows)], tmp_path / "b.db", judge="rules")
    code, out, err = semece("compare", tmp_path / "b.db", "--judges", "rules", "given")
    assert (code, err) == (0, "")
    assert out.splitlines()[:2] == [
        "samples · samples: 1 of 3 questions, first rules, second given",
        "Left out: 2 without classes by given.",
    ]


def test_every_question_that_is_left_out_has_one_reason(tmp_path):
    rows = [*SAMPLES, {**SAMPLES[0], "id": "d", "answers": ["Shakespeare", "Marlowe"], "labels": [0, 1]}]
    path = tmp_path / "b.db"
    score([write(tmp_path / "samples.jsonl", rows)], path, judge="rules")
    asyncio.run(ask_judges(path, ["fake/judge?invalid=1"], calls=CallSettings(patience=QUICK)))
    with Run(path, judge="fake/judge?invalid=1") as one, Run(path, judge="rules") as two:
        assert compare_judges(one, two).left_out == {"without classes by fake/judge?invalid=1": 3}
    with Run(path, judge="given") as one, Run(path, judge="rules") as two:
        assert compare_judges(one, two).left_out == {"without classes by given": 3}


@pytest.mark.parametrize("judges", [("rules", "rules"), (JUDGE, f"{JUDGE}#default"), (JUDGE, f"{JUDGE}#order=0")])
def test_one_judge_under_two_spellings_is_refused_before_it_is_asked(semece, run, served, judges):
    server = served()
    code, out, err = semece("compare", run, "--judges", *judges)
    assert (code, out) == (2, "")
    assert f"name two different judges to compare; got {judges[0]} twice" in err
    assert server.summary()["paid"] == 0


# -- what is said of a file of labelled answers


def test_bad_rows_are_left_out_and_counted_on_demand(semece, labelled):
    with labelled.open("a") as stream:
        stream.write('{"question": \n[1]\n')
    code, _, err = semece("judge-eval", labelled, "-j", "rules")
    assert (code, "line 4: expected a JSON object; Expecting value at character" in err) == (2, True)
    code, out, err = semece("judge-eval", labelled, "-j", "rules", "--skip-bad", "--json")
    assert (code, json.loads(out)["grading"][0]["answers"]) == (0, 2)
    assert f"semece: bad rows left out: 2; the first: {labelled}, line 4: expected a JSON object" in err


def test_a_row_with_one_answer_says_nothing_about_grouping(semece, tmp_path):
    alone = {"question": "Who?", "answers": ["Austen"], "labels": [0]}
    path = write(tmp_path / "b.jsonl", [*LABELLED, alone, alone | {"question": "Whose?"}])
    code, out, err = semece("judge-eval", path, "-j", "exact", "--json")
    (found,) = json.loads(out)["partition"]
    assert (code, found["questions"], found["adjusted_rand"]) == (0, 1, 0.0)
    assert err == "semece: rows with one answer, which has nothing to be grouped with: 2\n"
    only = write(tmp_path / "c.jsonl", [alone])
    assert json.loads(semece("judge-eval", only, "-j", "exact", "--json")[1]).keys() == {
        "disagreements",
        "recommendations",
        "shortfalls",
    }


def test_references_that_hold_nothing_are_said(semece, tmp_path):
    rows = [LABELLED[0], {**LABELLED[1], "references": [""]}]
    err = semece("judge-eval", write(tmp_path / "b.jsonl", rows), "-j", "rules")[2]
    assert err == "semece: no judge can find 1 answer right: no reference (line 2)\n"
    err = semece("judge-eval", write(tmp_path / "b.jsonl", [*rows, rows[1]]), "-j", "rules")[2]
    assert err == "semece: no judge can find 2 answers right: no reference (the first on line 2)\n"


def test_answers_that_no_table_can_hold_are_judged(semece, tmp_path):
    rows = [{**LABELLED[0], "answer": "\ud800"}]
    code, out, _ = semece("judge-eval", write(tmp_path / "b.jsonl", rows), "-j", "rules", "--list", 1)
    assert code == 0
    assert "Traceback" not in out


def test_a_reply_that_no_request_can_carry_is_asked_about(labelled, monkeypatch):
    """The second question repeats the reply."""
    from semece.models.fakes import fake_model as fake

    monkeypatch.setattr(fake, "_judgement", lambda data: '{"verdict": "\ud800"}')
    found = asyncio.run(evaluate_judge(read_labelled(labelled), "fake/judge"))
    assert found.shortfall.unreadable == 3
    found.shortfall.last_fault.encode()


def test_a_run_says_what_its_judge_could_not_judge(semece):
    words = ("--model", "fake/?pmf=.5,.5", "--dataset", "starter", "-n", 5, "--limit", 4, "-o", "a.db", "--quiet")
    code, _, err = semece("run", *words, "--judge", "fake/?fault=refusal")
    assert code == 0
    assert "came without a text (refusal 4); --retry-failed asks for them again" in err
    assert "came without" not in semece("run", *words[:-2], "b.db", "--quiet", "--judge", "rules")[2]


def test_room_is_offered_where_replies_were_cut():
    (sentence,) = Shortfall("openai/x", without_text={"truncated": 1}).sentences()
    assert sentence.endswith("--judge-max-tokens or #max-tokens=N after the judge's name gives it more room")
