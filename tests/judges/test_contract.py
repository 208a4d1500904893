"""What every judge of the table promises, whoever it is; and that its results change only under a new version."""

import asyncio
import json
from functools import cache

import pytest

from semece.canonical_json import digest
from semece.judges import STAGES, Missing
from semece.judges.alarms import ALARMS, alarms
from semece.judges.judged_questions import judge_question, run_procedure
from semece.judges.known import JUDGES, MODEL, NLI, open_judge, open_judges, row_of, spelling_of
from semece.models import Request
from semece.models.fakes.fake_model import parse_fake
from semece.records import VERDICTS, Question
from tests.judges.case_rows import CASES, cases

SPELLINGS = {MODEL: "fake/judge"}
"""How a row of the table is spelled here, where it stands for many."""

CLASSIFIER = f"{NLI}PATH"

QUESTION = Question("q", "What is the capital of France?", ("Paris",))
ANSWERS = ["Paris", "Lyon", "paris", "I don't know", "Lyon"]
CAME = {"labels": [5, 7, 5, 9, 7], "grades": {"5": "correct", "7": "incorrect", "9": "not_attempted"}}
RESULTS = CASES / "results.json"
"""By the id of who derives: the digest of its results on the cases."""


@pytest.fixture(params=JUDGES)
def row(request):
    return JUDGES[request.param]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    pytest.importorskip("onnxruntime")
    from tests.judges.tiny_classifiers import build

    return f"{NLI}{build(tmp_path_factory.mktemp('nli'))}"


@pytest.fixture
def spelling(row, request):
    [name] = [name for name, each in JUDGES.items() if each is row]
    return request.getfixturevalue("classifier") if name == CLASSIFIER else SPELLINGS.get(name, name)


@pytest.fixture
def judges(spelling):
    return open_judges(spelling, spelling)


def answered(query):
    """Answer a query: as the fake judge does, or with what came with the samples."""
    if query.key is not None:
        return query.read(json.dumps(CAME))
    reply = asyncio.run(parse_fake("fake/judge")(Request(query.messages, query.decoding))).replies[0]
    return query.read(reply.text)


def test_it_is_opened_by_its_own_name_and_by_the_id_that_files_hold(row, spelling):
    judge = open_judge(spelling)
    assert row_of(judge.name) is row
    assert (open_judge(judge.name).id, open_judge(judge.name).derived_id) == (judge.id, judge.derived_id)
    if row.asks_model or row.came_with_samples:  # replies stand in files under its id
        assert spelling_of(judge.id) == judge.name


def test_the_table_says_what_it_is(row, spelling):
    judge = open_judge(spelling)
    assert row.asks_model == (judge.model is not None)
    assert row.came_with_samples == (judge.derived_id is None), "what came is stored as it came"
    assert row.about


def test_its_classes_are_numbered_by_first_appearance_and_each_has_what_stands_for_it(judges):
    classes = run_procedure(judges[0].classes(QUESTION, ANSWERS), answered)
    assert classes.labels == (0, 1, 0, 2, 1)
    assert len(classes.representatives) == 3
    assert classes.representatives[0].lower() == "paris"
    assert (classes.question_id, classes.judge) == ("q", judges[0].id)
    assert run_procedure(judges[0].classes(QUESTION, ANSWERS), answered) == classes


def test_each_class_has_a_verdict_and_none_where_there_is_nothing_to_grade_against(row, judges):
    judged = run_procedure(judge_question(QUESTION, ANSWERS, judges), answered)
    assert [grade.verdict for grade in judged.grades] == ["correct", "incorrect", "not_attempted"]
    assert {grade.verdict for grade in judged.grades} <= set(VERDICTS)
    assert not judged.faults
    assert not judged.lacking
    bare = run_procedure(judge_question(Question("q", QUESTION.text), ANSWERS, judges), answered)
    if not row.came_with_samples:
        assert [grade.label for grade in bare.grades] == [2], "a non-answer needs no reference"


def test_only_the_most_frequent_classes_are_graded_where_that_is_asked_for(judges):
    judged = run_procedure(judge_question(QUESTION, ANSWERS, judges, which="mode"), answered)
    assert [grade.label for grade in judged.grades] == [0, 1]


def test_what_it_asks_names_itself_the_question_and_the_stage(row, judges):
    asked = []

    def seen(query):
        asked.append(query)
        return answered(query)

    run_procedure(judge_question(QUESTION, ANSWERS, judges), seen)
    assert bool(asked) == (row.asks_model or row.came_with_samples)
    assert {query.judge for query in asked} <= {judge.id for judge in judges}
    assert {query.question_id for query in asked} <= {"q"}
    assert {query.stage for query in asked} <= set(STAGES)
    assert all((query.key is None) == row.asks_model == bool(query.messages) for query in asked)


def test_a_reply_that_is_not_there_is_a_fault_and_owed_by_a_model_alone(row, judges):
    def missing(_):
        raise Missing

    judged = run_procedure(judge_question(QUESTION, ANSWERS, judges), missing)
    assert (judged.classes is None) == (row.asks_model or row.came_with_samples) == bool(judged.faults)
    assert judged.lacking == int(row.asks_model)


def test_a_question_without_a_usable_answer_is_not_judged(judges):
    judged = run_procedure(judge_question(QUESTION, [], judges), answered)
    assert (judged.classes, judged.grades, judged.faults, judged.lacking) == (None, (), {}, 0)


# -- versions


@cache
def pairs():
    return [(question, one, other) for rows in cases("pairs.tsv").values() for question, one, other, *_ in rows]


@cache
def graded():
    rows = [row for rows in cases("grades.tsv").values() for row in rows]
    return [(Question("1", text, tuple(references.split("|"))), answer) for text, references, answer, *_ in rows]


def results(judge):
    """What a judge says of the cases: labels of pairs, and verdicts."""
    found = []
    for text, one, other in pairs():
        found.append(run_procedure(judge.classes(Question("1", text), [one, other]), answered).labels)
    for question, answer in graded():
        classes = run_procedure(judge.classes(question, [answer]), answered)
        found.append(run_procedure(judge.verdict(question, classes, 0), answered))
    return found


def check(identity, found):
    """Compare with what is stored; say what is to be done."""
    stored, made = json.loads(RESULTS.read_text()), digest(found).hex()[:16]
    assert identity in stored, f'a new version: add "{identity}": "{made}" to {RESULTS.name}'
    assert made == stored[identity], (
        f"what {identity} says of the cases has changed ({made}): results that are stored in run files under this id "
        "would stay as they were. Give it a new version, and a new line here"
    )


def test_results_on_the_cases_change_only_with_the_version(row, spelling):
    if spelling.startswith(NLI):
        pytest.skip("its version is that of its weights")
    if not row.came_with_samples:
        judge = open_judge(spelling)
        check(judge.derived_id, results(judge))


def test_alarms_on_the_cases_change_only_with_their_version():
    found = [[(alarm.kind, alarm.text) for alarm in alarms(q, [answer], ["correct"])] for q, answer in graded()]
    assert any(found)
    check(ALARMS, found)
