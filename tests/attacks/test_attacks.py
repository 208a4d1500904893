"""Attacks on the readers of replies and responses, and on what is put to a judge; the cases are in attacks.jsonl."""

import json
import unicodedata
from pathlib import Path

import pytest

from semece.errors import ParseError
from semece.judges.exact import ExactJudge
from semece.judges.judged_questions import run_procedure
from semece.judges.llm import CLIP, LLMJudge
from semece.judges.rules.rules_judge import RulesJudge
from semece.prompts.replies import read_grade, read_partition
from semece.prompts.responses import read_response
from semece.records import Question

ATTACKS = [json.loads(line) for line in Path(__file__).with_name("attacks.jsonl").read_text().splitlines()]
QUESTION = Question("q1", "What is the capital of France?", ("Paris",))


def of_kind(kind):
    return [pytest.param(attack, id=attack["what"]) for attack in ATTACKS if attack["kind"] == kind]


def reply(attack):
    """Give the reply; a long one is kept as pieces and how often each is repeated."""
    given = attack["reply"]
    return given if isinstance(given, str) else "".join(piece * times for piece, times in given)


def asked(procedure):
    """Give the messages that a judge's procedure puts to its model, which answers with a valid reply."""
    seen = []

    def ask(query):
        seen.append(query.messages)
        data = json.loads(query.messages[-1].content)
        n = len(data.get("answers", ()))
        return query.read(json.dumps({"classes": [[i + 1] for i in range(n)]} if n else {"verdict": "incorrect"}))

    run_procedure(procedure, ask)
    return seen


def test_there_are_at_least_120_different_attacks():
    assert len({json.dumps([a["kind"], a.get("reply"), a.get("answer"), a.get("n")]) for a in ATTACKS}) >= 120
    assert len({(a["kind"], a["what"]) for a in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("attack", of_kind("partition"))
def test_a_reply_is_accepted_only_if_it_is_a_partition(attack):
    if isinstance(attack["expect"], list):
        assert read_partition(reply(attack), attack["n"]) == attack["expect"]
    else:
        with pytest.raises(ParseError) as raised:
            read_partition(reply(attack), attack["n"])
        assert attack["expect"] in str(raised.value)
        assert len(str(raised.value)) < 500, "the fault goes back to the judge and must be short"


@pytest.mark.parametrize("attack", of_kind("grade"))
def test_a_verdict_is_taken_only_from_the_field_and_only_if_it_is_one_of_the_three_words(attack):
    if attack["expect"] in ("correct", "incorrect", "not_attempted"):
        assert read_grade(reply(attack)) == attack["expect"]
    else:
        with pytest.raises(ParseError) as raised:
            read_grade(reply(attack))
        assert attack["expect"] in str(raised.value)
        assert len(str(raised.value)) < 500


@pytest.mark.parametrize("attack", of_kind("response"))
def test_a_response_gives_an_answer_and_a_confidence_only_where_they_are_certain(attack):
    answer, confidence = attack["expect"]
    reading = read_response(reply(attack))
    assert (reading.answer, reading.confidence) == (answer, pytest.approx(confidence))


@pytest.mark.parametrize("attack", of_kind("answer"))
def test_an_answer_stays_data_in_a_partition(attack):
    """It arrives as one JSON string with its text, between its neighbours, and the instructions do not change."""
    answers = ["Paris", attack["answer"], "Marseille"]
    (harmless,) = asked(LLMJudge("m").partition(QUESTION, ["Paris", "Lyon", "Marseille"]))
    (messages,) = asked(LLMJudge("m").partition(QUESTION, answers))
    assert messages[0] == harmless[0]
    rows = json.loads(messages[1].content)["answers"]
    assert [number for number, _ in rows] == [1, 2, 3]
    shown = {text if len(text) <= CLIP else text[:CLIP] for _, text in rows}
    assert shown == {answer[:CLIP] for answer in answers}


@pytest.mark.parametrize("attack", of_kind("answer"))
def test_an_answer_stays_data_in_a_grade(attack):
    (harmless,) = asked(LLMJudge("m").grade(QUESTION, "Lyon"))
    (messages,) = asked(LLMJudge("m").grade(QUESTION, attack["answer"]))
    assert messages[0] == harmless[0]
    data = json.loads(messages[1].content)
    assert list(data) == ["question", "references", "answer"]
    assert data["answer"].startswith(attack["answer"][: 4 * CLIP])


@pytest.mark.parametrize("attack", of_kind("answer"))
def test_an_answer_can_neither_hide_text_nor_open_a_turn(attack):
    """Format and control characters, surrogates and the signs of chat templates are shown by their code."""
    (messages,) = asked(LLMJudge("m").grade(QUESTION, attack["answer"]))
    content = messages[1].content
    content.encode()  # can be sent
    assert not {unicodedata.category(c) for c in content} & {"Cc", "Cf", "Cs"}
    assert "<" not in content
    assert "[INST]" not in content


@pytest.mark.parametrize("attack", of_kind("answer"))
@pytest.mark.parametrize("judge", [RulesJudge(), ExactJudge()], ids=["rules", "exact"])
def test_no_instruction_makes_an_answer_correct_for_a_judge_without_a_model(judge, attack):
    elsewhere = Question("q2", "What is the capital of Iceland?", ("Reykjavik",))
    assert judge.grade(elsewhere, attack["answer"]) != "correct"
