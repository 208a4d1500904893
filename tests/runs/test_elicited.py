"""Confidences that are asked for after a run, about the answers that it has."""

import asyncio
import shutil
from dataclasses import replace
from itertools import cycle

import pytest

from semece.errors import BudgetError, SemeceError
from semece.models import CallableModel
from semece.models.embedded.llama_cpp import open_smollm2
from semece.models.embedded.weights import SMOLLM2, find
from semece.runs import Run, elicit, elicitation_notes, elicited_scores, plan_elicitations
from semece.sampling import BatchPatience, CallSettings, Settings
from semece.store import Store
from tests.conftest import absent
from tests.making_runs import execute

MODEL = "fake/?pmf=.6,.3,.1&correct=0&confidence=.8,.5,.2"
NAMES = ("p-true", "top-k", "two-stage", "linguistic", "linguistic-mielke")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("elicited") / "run.db"
    asyncio.run(execute(Settings(MODEL, "starter", n=10, limit=5), path))
    return path


@pytest.fixture
def path(made, tmp_path):
    return shutil.copy(made, tmp_path / "run.db")


def ask(path, *names, **options):
    return asyncio.run(elicit(path, names, **options))


def scores(path):
    with Store(path) as store:
        return elicited_scores(store, Run(store).question_views())


def rows(path, stage):
    with Store(path) as store:
        replies = [reply for question in store.questions() for reply in store.replies(stage, question.id)]
        return [(reply.key, reply.text, reply.time) for reply in replies if reply.delivered]


def kept(path):
    """What was paid for, and what was chosen."""
    with Store(path) as store:
        return store.count("respond"), store.count("p_true"), store.meta("elicitations")


def test_each_elicitation_says_what_the_model_says_of_its_most_frequent_answer(path):
    assert ask(path, *NAMES) == 0
    with Run(path) as run:
        deployed = [view.partition.representatives[0] for view in run.question_views()]
    found = scores(path)
    assert len(deployed) == 5
    first = {name: next(iter(values.values())) for name, values in found.items()}
    assert first["two_stage"] == 0.8
    assert first["linguistic"] == 0.9  # .8 is in the last of five bins
    assert first["linguistic_mielke"] == pytest.approx(5 / 6)
    assert first["top_k"] == 0.6
    assert first["top_k_avg_conf"] == pytest.approx(0.6)
    assert first["top_k_pair_rank"] > 0.5
    assert 0 <= first["p_true"] <= 1
    with Run(path) as run:
        assert set(found) <= set(run.estimates().columns)
        assert run.given == dict.fromkeys(found, False)
        whole, one = run.question_views()[0], run.question(run.question_views()[0].question.id)
    assert whole.scores == one.scores


def test_an_elicited_confidence_stands_beside_the_stated_one(semece, path):
    ask(path, "two-stage")
    code, out, _ = semece("summary", path, "--json")
    assert code == 0
    assert "two_stage_auroc" in out
    assert "two_stage_ece" in out


def test_a_bare_1_is_read_as_the_other_replies_of_its_stage_say(tmp_path):
    path = tmp_path / "bare.db"
    said = iter(["1", "95%", "90%", "80%", "85%"])

    async def sure(prompt):
        return "Answer: Paris" if "Answer:" in prompt else next(said)

    model = CallableModel(sure)
    asyncio.run(execute(Settings(model.name, "starter", n=2, limit=5, judge="rules"), path, model=model))
    ask(path, "two-stage", model=model)
    assert next(iter(scores(path)["two_stage"].values())) == 0.01
    with Run(path) as run:
        name = run.question_views()[0].question.id
        assert run.question(name).scores.confidences["two_stage"] == 0.01


def test_no_answer_is_drawn_again_and_nothing_asked_twice(path):
    before = rows(path, "respond")
    ask(path, "p-true", "two-stage")
    once = rows(path, "p_true"), rows(path, "two_stage")
    with Run(path) as run:
        estimates = run.estimates()
    ask(path, "p-true", "two-stage", "top-k")
    assert rows(path, "respond") == before
    assert (rows(path, "p_true"), rows(path, "two_stage")) == once
    with Run(path) as run:
        assert run.estimates().select(estimates.columns).equals(estimates)


def test_more_draws_are_added_to_those_that_are_there(path, made):
    ask(path, "p-true", draws=4)
    few = rows(path, "p_true")
    ask(path, "p-true", draws=10)
    many = rows(path, "p_true")
    assert set(few) <= set(many)
    assert (len(few), len(many)) == (20, 50)
    other = path.parent / "other.db"
    shutil.copy(made, other)
    ask(other, "p-true", draws=10)
    assert [row[:2] for row in rows(other, "p_true")] == [row[:2] for row in many]
    ask(path, "p-true", draws=4)
    assert len(rows(path, "p_true")) == 50  # nothing is deleted; four of them count


def test_without_log_probabilities_p_true_is_the_share_of_its_replies(tmp_path):
    path = tmp_path / "shares.db"
    said = cycle(["(A)", "(A)", "(A)", "(B) False", "who knows?"])

    async def sure(prompt):
        return next(said) if "(B) False" in prompt else "Answer: Paris"

    model = CallableModel(sure)
    asyncio.run(execute(Settings(model.name, "starter", n=2, limit=3, judge="rules"), path, model=model))
    assert plan_elicitations(path, ["p-true"]).wanted == 30
    assert elicitation_notes(path, ["p-true", "top-k"]) == [
        f"{model.name} tells no log probabilities: p_true is the share of 10 replies that say true"
    ]
    ask(path, "p-true", model=model)
    assert list(scores(path)["p_true"].values()) == [0.75] * 3


def test_a_cap_stops_it_and_the_same_call_goes_on(path):
    with Run(path) as run:
        spent = sum(run.spent[1:])
    with pytest.raises(BudgetError):
        ask(path, "two-stage", "top-k", calls=CallSettings(max_total_tokens=spent + 1_700))
    some = len(rows(path, "two_stage")) + len(rows(path, "top_k"))
    assert some < 10
    assert ask(path, "two-stage", "top-k") == 0
    assert len(rows(path, "two_stage")) + len(rows(path, "top_k")) == 10


def test_it_is_costed_before_anything_is_asked(path):
    before = kept(path)
    plan = plan_elicitations(path, ["p-true", "top-k"], draws=3)
    assert [(stage.name, stage.calls) for stage in plan.stages] == [("p_true", 5), ("top_k", 5)]
    assert (plan.missing, plan.wanted) == (30, 30)
    assert all(stage.input_tokens > 100 for stage in plan.stages)
    assert kept(path) == before
    ask(path, "p-true", draws=3)
    assert plan_elicitations(path, ["p-true", "top-k"], draws=3).missing == 15


def test_batches_store_the_same_replies_as_live_calls(path, made):
    other = path.parent / "batch.db"
    shutil.copy(made, other)
    ask(path, "p-true", "two-stage")
    ask(other, "p-true", "two-stage", calls=CallSettings(batch=True, batch_patience=BatchPatience(0.01, 0.02)))
    assert sorted(row[:2] for row in rows(other, "p_true")) == sorted(row[:2] for row in rows(path, "p_true"))
    assert scores(other) == scores(path)


def test_calls_that_fail_leave_the_rest_and_are_made_again(tmp_path):
    path = tmp_path / "faulty.db"
    settings = Settings(f"{MODEL}&fault=429:.2", "starter", n=10, limit=5)
    asyncio.run(execute(settings, path))
    patience = replace(CallSettings().patience, attempts=1)
    left = ask(path, "p-true", "top-k", calls=CallSettings(patience=patience))
    for _ in range(20):
        left = left and ask(path, "p-true", "top-k")
    assert left == 0
    assert len(rows(path, "top_k")) == 5


def test_a_refusal_that_is_most_frequent_is_not_asked_about(tmp_path):
    path = tmp_path / "unsure.db"

    async def unsure(prompt):
        return "Answer: I don't know\nConfidence: 10%"

    model = CallableModel(unsure)
    asyncio.run(execute(Settings(model.name, "starter", n=4, limit=2, judge="rules"), path, model=model))
    assert plan_elicitations(path, ["two-stage"]).wanted == 0


@pytest.mark.parametrize(
    ("names", "draws", "said"),
    [
        (["words"], None, r"must be one of linguistic, .*; got 'words'$"),
        (["p-true"], 0, "draws must be from 1 to 20,000; got 0"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_written(path, names, draws, said):
    before = kept(path)
    with pytest.raises(SemeceError, match=said):
        ask(path, *names, draws=draws)
    assert kept(path) == before


def test_samples_of_another_program_cannot_be_asked_about(tmp_path):
    from semece.runs import score

    file = tmp_path / "samples.jsonl"
    file.write_text(
        '{"id": "q", "question": "Capital of France?", "references": ["Paris"], "answers": ["Paris", "Rome"]}\n'
    )
    score([file], tmp_path / "samples.db", judge="rules")
    with pytest.raises(SemeceError, match="samples of another program cannot be asked about"):
        ask(tmp_path / "samples.db", "p-true")


def test_the_command_says_what_it_read_and_what_it_would_cost(semece, path):
    code, out, _ = semece("elicit", path, "p-true", "two-stage", "--dry-run")
    assert code == 0
    assert "p_true     fake/" in out
    code, out, _ = semece("elicit", path, "two-stage")
    assert (code, out.splitlines()) == (0, ["two_stage: 5 of 5 questions read, mean 0.80"])
    code, _, err = semece("elicit", path, "words")
    assert code == 2
    assert "an elicitation must be one of" in err


def test_words_may_be_asked_for_with_the_answer(tmp_path):
    path = tmp_path / "words.db"

    async def sure(prompt):
        return "Answer: Paris\nConfidence: high"

    model = CallableModel(sure)
    settings = Settings(model.name, "starter", n=4, limit=2, judge="rules", elicit="linguistic")
    asyncio.run(execute(settings, path, model=model))
    with Run(path) as run:
        assert run.estimates()["verbalized"].to_list() == pytest.approx([0.7, 0.7])
    with pytest.raises(SemeceError, match="was made with prompt"):
        asyncio.run(execute(replace(settings, elicit="percent"), path, model=model))


@pytest.mark.slow
@pytest.mark.weights
def test_every_elicitation_runs_on_the_embedded_model(tmp_path, one_by_one):
    if find(SMOLLM2) is None:
        absent("the embedded model's weights (semece fetch-model)")
    path = tmp_path / "local.db"
    model = open_smollm2()
    settings = Settings(model.name, "starter", n=2, limit=1, elicit="linguistic")
    asyncio.run(execute(settings, path, model=model))
    assert ask(path, *NAMES, draws=1, model=model) == 0
    found = scores(path)
    assert set(found) == {name.replace("-", "_") for name in NAMES} | {"top_k_avg_conf", "top_k_pair_rank"}
    assert all(value is not None and 0 <= value <= 1 for values in found.values() for value in values.values())
    with Run(path) as run:
        assert run.confidences[0] > 0
