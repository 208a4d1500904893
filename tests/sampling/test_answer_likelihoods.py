"""Log probabilities: asked for, kept in the reply, read for the answer, and scores of a run."""

import asyncio
import json
from math import exp, log
from pathlib import Path

import polars as pl
import pytest

from semece.models import tokens_of
from semece.models.embedded.weights import SMOLLM2, find
from semece.models.openai.chat_completions import OpenAICompatible
from semece.models.protocol import Message, Request
from semece.models.providers import service_of
from semece.runs import Run, elicit
from semece.sampling import Settings, cautions, resolve
from semece.sampling.answer_likelihoods import answer_likelihood, truth_logprobs
from semece.store import Store
from tests.conftest import absent
from tests.making_runs import execute

MODEL = "fake/?pmf=.6,.3,.1&correct=0&confidence=.8"


def raw(*tokens):
    return json.dumps({"logprobs": {"content": [{"token": t, "logprob": p, "top_logprobs": []} for t, p in tokens]}})


def test_only_the_tokens_of_the_answer_count():
    told = raw(("Answer", -0.5), (":", -0.1), (" Par", -0.2), ("is", -0.3), ("\nConfidence: 90%", -2.0))
    assert answer_likelihood(told, "Paris")[:2] == (pytest.approx(-0.5), 2)
    assert answer_likelihood(told, "Rome") is None
    assert answer_likelihood('{"message": {}}', "Paris") is None


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"logprobs": 3}', '{"logprobs": {"content": [{"token": "a"}]}}'])
def test_what_tells_no_log_probabilities_has_none(broken):
    assert tokens_of(broken) == ()


def test_a_letter_has_its_share_of_the_letters():
    top = [{"token": t, "logprob": log(p)} for t, p in ((" B", 0.5), (" C", 0.25), (" the", 0.2))]
    told = json.dumps({"logprobs": {"content": [{"token": " B", "logprob": log(0.5), "top_logprobs": top}]}})
    found = answer_likelihood(told, "B")
    assert {name: exp(p) for name, p in found.options.items()} == pytest.approx({"B": 0.5, "C": 0.25})


def test_true_and_false_are_found_where_the_reply_decides():
    top = [{"token": t, "logprob": log(p)} for t, p in (("A", 0.6), ("B", 0.2), ("C", 0.1))]
    rows = [{"token": "(", "logprob": 0.0}, {"token": "A", "logprob": log(0.6), "top_logprobs": top}]
    told = json.dumps({"logprobs": {"content": rows}})
    assert truth_logprobs(told) == pytest.approx((log(0.6), log(0.2)))
    assert truth_logprobs(raw(("A", -0.1))) is None


def test_a_run_keeps_them_and_has_their_scores(tmp_path):
    path = tmp_path / "told.db"
    asyncio.run(execute(Settings(MODEL, "starter", n=20, limit=4, logprobs=0), path))
    with Run(path) as run:
        table = run.estimates()
        assert table["sequence_probability"].to_list() == pytest.approx([0.6] * 4)
        assert table["token_probability"].to_list() == pytest.approx([0.6] * 4)
        assert run.given["likelihood_entropy"] is True
        assert all(value <= 0 for value in table["likelihood_entropy"])
        again = run.question(table["question_id"][0]).scores
        assert again == run.question_views()[0].scores
    with Run(path) as run:  # from what is kept
        assert run.estimates().equals(table)


def test_they_change_no_key_and_no_answer(tmp_path):
    for name, told in (("told.db", 0), ("plain.db", None)):
        asyncio.run(execute(Settings(MODEL, "starter", n=5, limit=2, logprobs=told), tmp_path / name))
    found = []
    for name in ("told.db", "plain.db"):
        with Store(tmp_path / name) as store:
            rows = [row for question in store.questions() for row in store.replies("respond", question.id)]
            found.append([(row.key, row.text) for row in rows])
            assert all(('"logprobs"' in row.raw) == (name == "told.db") for row in rows)
    assert found[0] == found[1]
    with Run(tmp_path / "plain.db") as run:
        assert "sequence_probability" not in run.estimates().columns


def test_p_true_is_exact_with_one_reply(tmp_path):
    path = tmp_path / "run.db"
    asyncio.run(execute(Settings(MODEL, "starter", n=10, limit=3), path))
    asyncio.run(elicit(path, ["p-true"]))
    with Run(path) as run:
        assert run.estimates()["p_true"].to_list() == pytest.approx([0.8] * 3)
    with Store(path) as store:
        assert store.count("p_true") == {"ok": 3}


def test_a_service_without_them_is_named_before_anything_is_paid(monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    settings = Settings("anthropic/claude-haiku-4-5", "starter", n=2, limit=1, judge="rules", logprobs=0)
    assert any("tells no log probabilities" in said for said in cautions(resolve(settings, tmp_path / "a.db")))
    settings = Settings("xai/grok-4", "starter", n=2, limit=1, judge="rules", logprobs=20)
    assert any("at most 8 tokens at a place; got" in said for said in cautions(resolve(settings, tmp_path / "b.db")))


def test_a_service_is_asked_as_it_takes_them():
    model = OpenAICompatible("openai/x", "x", service_of("openai/x"), address="http://127.0.0.1:1/v1")
    body = model._body(Request((Message("user", "Why?"),), logprobs=5))
    assert (body["logprobs"], body["top_logprobs"]) == (True, 5)
    assert "top_logprobs" not in model._body(Request((Message("user", "Why?"),), logprobs=0))
    assert "logprobs" not in model._body(Request((Message("user", "Why?"),)))


LETTERS = """Question: Which planet is the largest?
Answer Choices: (A) Mars (B) Jupiter (C) Venus (D) Mercury
Answer: B

Question: Which gas do plants take in?
Answer Choices: (A) Helium (B) Neon (C) Carbon dioxide (D) Argon
Answer: C

Question: Which metal is liquid at room temperature?
Answer Choices: (A) Mercury (B) Iron (C) Gold (D) Zinc
Answer: A

Question: {question}
Answer:
"""


@pytest.mark.slow
@pytest.mark.weights
def test_a_multiple_choice_has_the_softmax_of_its_letters_in_the_summary(semece, one_by_one):
    if find(SMOLLM2) is None:
        absent("the embedded model's weights (semece fetch-model)")
    Path("letters.txt").write_text(LETTERS)
    rows = [
        ("Which organ makes insulin?\nAnswer Choices: (A) Liver (B) Pancreas (C) Kidney (D) Spleen", ["B", "Pancreas"]),
        ("What prevents scurvy?\nAnswer Choices: (A) Vitamin C (B) Iron (C) Vitamin K (D) Zinc", ["A", "Vitamin C"]),
    ]
    lines = [json.dumps({"id": str(i), "question": text, "references": known}) for i, (text, known) in enumerate(rows)]
    Path("choices.jsonl").write_text("\n".join(lines))
    asked = ("--model", "local/smollm2", "--dataset", "choices.jsonl", "-n", 4, "--logprobs", 10)
    code, out, _ = semece("run", *asked, "--elicit", "none", "--prompt", "letters.txt", "-o", "run.db")
    assert code == 0
    assert "choice_softmax-ECE" in out
    with Run("run.db") as run:
        told = run.estimates().filter(pl.col("choice_softmax").is_not_null())
        answers = run.responses()
    with Store("run.db") as store:
        raws = {name: [row.raw for row in store.replies("respond", name)] for name in told["question_id"]}
    for name, found in told.select("question_id", "choice_softmax").iter_rows():
        own = answers.filter(question_id=name, status="parsed")
        letter = own["answer"].value_counts(sort=True).filter(pl.col("count") == pl.col("count").max())["answer"]
        shares = {each: [] for each in letter}
        for raw, answer in zip(raws[name], own.sort("index")["answer"], strict=True):
            first = json.loads(raw)["logprobs"]["content"][0]["top_logprobs"]
            chances = {
                t["token"].strip(): exp(t["logprob"])
                for t in reversed(first)
                if t["token"].strip() in set("ABCDEFGHIJ")
            }
            if answer in shares:
                shares[answer].append(chances[answer] / sum(chances.values()))
        assert any(found == pytest.approx(sum(each) / len(each)) for each in shares.values() if each)


@pytest.mark.slow
@pytest.mark.weights
def test_the_embedded_model_tells_them(tmp_path, one_by_one):
    if find(SMOLLM2) is None:
        absent("the embedded model's weights (semece fetch-model)")
    for name, told in (("told.db", 2), ("plain.db", None)):
        asyncio.run(execute(Settings("local/smollm2", "starter", n=2, limit=1, logprobs=told), tmp_path / name))
    asyncio.run(elicit(tmp_path / "told.db", ["p-true"], draws=1))
    with Run(tmp_path / "told.db") as told, Run(tmp_path / "plain.db") as plain:
        assert told.responses().equals(plain.responses())
        table = told.estimates()
        assert all(
            0 < p <= q <= 1 for p, q in zip(table["sequence_probability"], table["token_probability"], strict=True)
        )
        assert all(0 < p < 1 for p in table["p_true"])


@pytest.mark.parametrize(
    "content",
    [
        '{"token": "x"}',
        '"abc"',
        "7",
        "[null]",
        '[{"token": " Paris", "logprob": null}]',
        '[{"token": " Paris", "logprob": NaN}]',
        '[{"token": " Paris", "logprob": Infinity}]',
        '[{"token": " Paris", "logprob": -Infinity}]',
        '[{"token": " Paris", "logprob": 1e308}]',
        '[{"token": " Paris", "logprob": 0.7}]',
        '[{"token": " Paris", "logprob": true}]',
        '[{"token": " Paris", "logprob": "-0.5"}]',
        f'[{{"token": " Paris", "logprob": -1{"0" * 400}}}]',
        '[{"token": null, "logprob": -0.5}]',
        '[{"token": " Paris", "logprob": -0.5, "top_logprobs": [null]}]',
        '[{"token": " Paris", "logprob": -0.5, "top_logprobs": 5}]',
        '[{"token": " Par", "logprob": -0.5}]',
        '[{"token": "None", "logprob": -0.5}]',
    ],
)
def test_what_is_no_log_probability_gives_no_number(content):
    raw = f'{{"logprobs": {{"content": {content}}}}}'
    assert answer_likelihood(raw, "Paris") is None
    assert truth_logprobs(raw) is None


def test_a_token_that_is_null_is_not_the_word_none():
    assert answer_likelihood('{"logprobs": {"content": [{"token": null, "logprob": -0.5}]}}', "None") is None


def test_what_is_above_0_by_rounding_is_0():
    raw = '{"logprobs": {"content": [{"token": "Paris", "logprob": 1e-7}]}}'
    assert answer_likelihood(raw, "Paris").logprob == 0.0
