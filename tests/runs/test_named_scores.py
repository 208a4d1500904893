"""Scores with a name of their own: how they are read, kept, averaged, measured, refused."""

import json
import os
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from semece.compare.limits import Limit, check_run
from semece.compare.standings import compare_runs
from semece.errors import ParseError, SemeceError
from semece.records import ScoreKind
from semece.runs import export
from semece.runs.metrics import RESERVED, check_score_name, metrics_of
from semece.runs.run import Run
from semece.runs.scored_samples import SamplesReading, score
from semece.runs.summary_rows import summary_table
from semece.show.tables import decide, paper_table
from semece.stats import in_order
from semece.stats.calibration.binned_errors import ece
from semece.stats.calibration.ranking import auroc
from tests import tool_files


def rows(n=80, seed=0, **more):
    """Give questions with a confidence per response and an entropy per question."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        share = rng.uniform(0.3, 1.0)
        count = int(rng.binomial(6, share))
        p_true = np.clip(rng.normal(share, 0.1, 6), 0, 1).round(3).tolist()
        yield {
            "id": f"q{i}",
            "question": f"Question {i}?",
            "references": ["yes" if rng.random() < share else "no"],
            "answers": ["yes"] * count + [f"other {k}" for k in range(6 - count)],
            "scores": {"p_true": p_true, "entropy": round(2 - 2 * share, 3)},
            "score_kinds": {"entropy": "lower"},
        } | more


def write(path, data):
    path.write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")
    return path


@pytest.fixture
def made(tmp_path):
    """Make a run of some rows."""

    def make(data, name="a", **reading):
        path = tmp_path / f"{name}.db"
        score([write(tmp_path / f"{name}.jsonl", data)], path, judge="exact", reading=SamplesReading(**reading))
        return Run(path)

    return make


def test_every_table_limit_and_comparison_has_them(made):
    data = list(rows())
    run = made(data)
    found = {each.name: each for each in run.scores()}
    assert list(found) == ["sem1", "sem2", "p_true", "entropy"]
    assert found["p_true"].value.tolist() == pytest.approx([np.mean(row["scores"]["p_true"]) for row in data])
    assert found["entropy"].value.tolist() == [-row["scores"]["entropy"] for row in data]
    assert (found["entropy"].ranked, found["p_true"].ranked) == (True, False)
    correct = found["p_true"].correct
    row = summary_table([run]).row(0, named=True)
    assert row["p_true_ece"] == pytest.approx(ece(found["p_true"].value, correct))
    assert row["entropy_auroc"] == pytest.approx(auroc(in_order(found["entropy"].value), correct))
    assert "entropy_ece" not in row
    table = paper_table("ece", [run]).row(0, named=True)
    names = [f"p_true_ece{end}" for end in ("", "_low", "_high")]
    assert [table[name] for name in names] == pytest.approx([row[name] for name in names])
    assert not [name for name in table if name.startswith("entropy") or "attempted" in name]
    assert [
        each.passed for each in check_run(run, [Limit("max", "p_true_ece=0.9"), Limit("min", "entropy_auroc=0.99")])
    ] == [
        True,
        False,
    ]
    (wrong,) = check_run(run, [Limit("max", "entropy_ece=0.1")])
    assert re.search(r"a limit is NAME=VALUE; got 'entropy_ece=0.1' \(did you mean 'entropy_\w+'\?\)", wrong.sentence)
    (wrong,) = check_run(run, [Limit("max", "zzz=0.1")])
    assert re.search("a limit is NAME=VALUE; got 'zzz=0.1'; the names are .*p_true_ece", wrong.sentence)
    table = paper_table("baselines", [run])
    ranked = table.filter(score="entropy").row(0, named=True)
    assert ranked["ece"] is None
    assert ranked["auroc"] == row["entropy_auroc"]
    assert 0 <= ranked["recalibrated_ece"] <= 1
    assert ranked["tokens"] is None
    assert "p_true" in paper_table("abstention", [run])["score"].to_list()
    assert "entropy" not in paper_table("abstention", [run])["score"].to_list()
    other = made([r | {"scores": r["scores"] | {"p_true": 0.99}} for r in data], "b")
    standings = compare_runs([run, other])
    assert standings.ranking.filter(quantity="p_true_ece", rank=1)["run"].to_list() == ["a"]
    change = standings.changes.filter(quantity="p_true").row(0, named=True)
    assert change["second"] == pytest.approx(0.99)
    by_order = standings.changes.filter(quantity="entropy_auroc").row(0, named=True)
    assert by_order["first"] == pytest.approx(row["entropy_auroc"])
    assert by_order["change_low"] <= by_order["change"] == 0 <= by_order["change_high"]
    assert "entropy_auroc" in standings.ranking["quantity"].to_list()
    assert {"p_true_ece", "entropy_auroc"} <= {each.name for each in check_run(other, baseline=run)}
    estimates = run.estimates()
    assert estimates["p_true"].to_list() == pytest.approx(found["p_true"].value.tolist())


def test_scores_of_responses_are_averaged_over_all_or_over_the_most_frequent_answer(made):
    data = [
        {"question": "A?", "answers": ["x", "x", "y", ""], "scores": {"p": [0.9, None, 0.1, 0.5]}},
        {"question": "B?", "answers": ["x", "x", "y", "y"], "scores": {"p": [1, 0.8, 0.2, 0]}},
        {"question": "C?", "answers": ["x", "x", "y", "y"], "scores": {"p": [None, None, None, None]}},
        {"question": "D?", "answers": ["x", "x", "y", "z"], "scores": {"p": [None, None, 0.4, 0.4]}},
    ]
    for over, expected in (("all", [0.5, 0.5, None, 0.4]), ("mode", [0.9, 0.5, None, None])):
        with made(data, scores_over=over) as run:
            assert [view.score("p") for view in run.question_views()] == [pytest.approx(each) for each in expected]
    with pytest.raises(ParseError, match="--scores-over must be all or mode; got 'some'"):
        made(data, "c", scores_over="some")


def test_tables_hold_scores_in_columns(tmp_path):
    data = list(rows(6))
    flat = [
        {"id": r["id"], "question": r["question"], "references": json.dumps(r["references"])}
        | {"answers": json.dumps(r["answers"]), "score:p_true": json.dumps(r["scores"]["p_true"])}
        | {"score:entropy": r["scores"]["entropy"]}
        for r in data
    ]
    pl.DataFrame(flat).write_csv(tmp_path / "a.csv")
    lists = [r | {"answers": d["answers"], "references": d["references"]} for r, d in zip(flat, data, strict=True)]
    lists = [r | {"score:p_true": d["scores"]["p_true"]} for r, d in zip(lists, data, strict=True)]
    pl.DataFrame(lists).write_parquet(tmp_path / "a.parquet")
    single = [
        {"id": r["id"], "question": r["question"], "reference": r["references"][0], "response": answer}
        | {"score:p_true": p, "score:entropy": r["scores"]["entropy"]}
        for r in data
        for answer, p in zip(r["answers"], r["scores"]["p_true"], strict=True)
    ]
    pl.DataFrame(single).write_csv(tmp_path / "rows.csv")
    expected = [(np.mean(r["scores"]["p_true"]), -r["scores"]["entropy"]) for r in data]
    for name in ("a.csv", "a.parquet", "rows.csv"):
        path = tmp_path / f"{name}.db"
        score([tmp_path / name], path, judge="exact", reading=SamplesReading(scores={"entropy": "lower"}))
        with Run(path) as run:
            found = [(view.score("p_true"), view.score("entropy")) for view in run.question_views()]
            assert found == [pytest.approx(each) for each in expected], name
            assert not any(view.question.metadata for view in run.question_views())


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("0..1", 0.2, 0.2),
        ("1..0", 0.2, 0.8),
        ("0..100", 30, 0.3),
        ("5..1", 2, 0.75),
        ("higher", -7, -7),
        ("lower", 3, -3),
    ],
)
def test_a_kind_turns_a_value(kind, value, expected):
    assert ScoreKind.of(kind).oriented(value) == pytest.approx(expected)
    assert ScoreKind.of(ScoreKind.of(kind).text) == ScoreKind.of(kind)


@pytest.mark.parametrize("kind", ["", "up", "1..1", "nan..1", "0..inf", "a..b", "0-1"])
def test_what_is_no_kind_is_said(kind):
    with pytest.raises(ValueError, match=r"the kind of a score must be LEAST\.\.SUREST"):
        ScoreKind.of(kind)


def test_rounding_errors_at_the_ends_are_let_pass():
    kind = ScoreKind()
    assert kind.holds(1 + 1e-7)
    assert kind.oriented(1 + 1e-7) == 1
    assert not kind.holds(1.01)


WRONG = [
    ({"scores": {"p_true": 1.2}}, {}, r"line 1: the score p_true must lie in 0..1; got 1.2: say what it means"),
    ({"scores": {"p_true": "0.5"}}, {}, r"line 1: the score p_true must be a finite number or null; got '0.5'"),
    ({"scores": {"p_true": float("nan")}}, {}, "the score p_true must be a finite number or null; got nan"),
    ({"scores": {"p_true": True}}, {}, "the score p_true must be a finite number or null; got True"),
    ({"scores": {"p_true": [0.1]}}, {}, "there must be one p_true per answer; got 1 for 6"),
    ({"scores": [0.5]}, {}, "scores must be an object of numbers or lists of numbers by name"),
    ({"scores": {"sem1": 0.5}}, {}, "a score cannot be called 'sem1', which is the name of another number"),
    ({"scores": {"a=b": 0.5}}, {}, "the name of a score must be 1 to 80 printable characters"),
    ({"score_kinds": {"entropy": "up"}}, {}, "score_kinds, entropy: the kind of a score must be"),
    ({}, {"scores": {"p": None}}, "there is no score 'p' in the files; they have entropy, p_true"),
    ({}, {"scores": {"p_true": "up"}}, "the kind of a score must be"),
]


@pytest.mark.parametrize(("more", "reading", "sentence"), WRONG)
def test_what_is_no_score_is_one_sentence(made, more, reading, sentence):
    with pytest.raises(ParseError, match=sentence) as error:
        made(rows(2, **more), **reading)
    assert "\n" not in str(error.value)


def test_no_score_takes_the_columns_of_another_number(made):
    """Every column of a summary without scores: whatever a score's columns end in, the name before it is reserved."""
    bare = [{k: v for k, v in row.items() if not k.startswith("score")} for row in rows(40)]
    run = made(bare)
    ends = {"_questions", "_confidence", "_accuracy"}
    ends |= {f"_{each.name}{end}" for each in metrics_of("summary") for end in ("", "_low", "_high")}
    columns = [*summary_table([run]).columns, *run.estimates().columns]
    names = {column.removesuffix(end) for column in columns for end in {*ends, ""} if column.endswith(end)}
    for name in names - {""}:
        if any(f"{name}{end}" in columns for end in ends) or name in run.estimates().columns:
            assert name in RESERVED or name.endswith("_attempted"), name
    assert RESERVED
    for name in ("", " p", "p ", "p\n", "x" * 81, "p_attempted"):
        with pytest.raises(ValueError, match="score"):
            check_score_name(name)


def test_a_reversed_score_is_said(made):
    data = [row | {"scores": {"doubt": 1 - np.mean(row["scores"]["p_true"])}, "score_kinds": {}} for row in rows(200)]
    with made(data) as wrong, made(data, "b", scores={"doubt": "1..0"}) as right:
        from semece.runs.sentences import says

        told = [says(summary_table([run]).row(0, named=True))["confidences"] for run in (wrong, right)]
    assert "Its order is reversed, wrong answers have the surer doubt: check its kind (--score)." in told[0]
    assert "reversed" not in told[1]


def test_exported_samples_bring_their_scores_along(made, tmp_path):
    with made(rows(10)) as run:
        export(run, output=tmp_path / "out.jsonl")
    score([tmp_path / "out.jsonl"], tmp_path / "again.db", judge="exact")
    with made(rows(10)) as run, Run(tmp_path / "again.db") as again:
        assert [v.scores for v in again.question_views()] == [v.scores for v in run.question_views()]
        kinds = [each.scored_questions().kinds["entropy"] for each in (again, run)]
        assert kinds == [ScoreKind.of("lower")] * 2


def test_the_files_of_uqlm_and_polygraph_bring_their_scores(tmp_path):
    (tmp_path / "u.json").write_bytes(tool_files.uqlm())
    (tmp_path / "r.man").write_bytes(tool_files.polygraph())
    for name in ("u.json", "r.man"):
        score([tmp_path / name], tmp_path / f"{name}.db")
    with Run(tmp_path / "u.json.db") as run:
        assert [view.score("semantic_negentropy") for view in run.question_views()] == [0.5] * 3
        assert run.given == {"semantic_negentropy": False}
    with Run(tmp_path / "r.man.db") as run:
        assert [view.score("SemanticEntropy") for view in run.question_views()] == [-0.2, -0.4, None]
        assert [view.score("Perplexity") for view in run.question_views()] == [0.25, -0.5, -1.5]
        assert run.given == {"Perplexity": True, "SemanticEntropy": True}
        assert run.estimates()["correct"].to_list() == [1, 1, 0]


class Command:
    """Would run a command if it were built."""

    def __reduce__(self):
        return os.system, ("touch built",)


def test_nothing_in_a_file_of_polygraph_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.man").write_bytes(tool_files.polygraph(tool_files.polygraph_result(images=[Command()])))
    score([tmp_path / "r.man"], tmp_path / "r.db")
    assert not (tmp_path / "built").exists()


def test_scores_of_scorers_are_taken_only_where_they_are_named(tmp_path):
    samples = list(tool_files.inspect_samples())
    for place, sample in enumerate(samples):
        sample["scores"]["judge"] = {"value": {"sure": place / 20, "text": "x"}}
    (tmp_path / "log.json").write_bytes(tool_files.inspect_json(samples))
    lm = [json.loads(line) for line in tool_files.lm_eval().splitlines()]
    (tmp_path / "lm.jsonl").write_bytes(tool_files.lines(row | {"sure": 0.25} for row in lm))
    deep = json.loads(tool_files.deepeval())
    for case in deep["testRunData"]["testCases"]:
        case["metricsData"] = [{"name": "sure", "score": 0.75, "success": True}]
    (tmp_path / "deep.json").write_text(json.dumps(deep))
    for file, name, expected in (
        ("log.json", "judge.sure", [0.075, 0.275, 0.475]),
        ("lm.jsonl", "sure", [0.25] * 3),
        ("deep.json", "sure", [0.75] * 3),
    ):
        score([tmp_path / file], tmp_path / f"{file}.db", judge="rules", reading=SamplesReading(scores={name: None}))
        score([tmp_path / file], tmp_path / f"{file}.bare.db", judge="rules")
        with Run(tmp_path / f"{file}.db") as run, Run(tmp_path / f"{file}.bare.db") as bare:
            assert [view.score(name) for view in run.question_views()] == pytest.approx(expected), file
            assert bare.given == {}


def test_a_score_of_a_changed_row_is_noticed(made):
    run = made(rows(3))
    run.close()
    import sqlite3

    with sqlite3.connect(run.path) as connection:
        connection.execute("UPDATE replies SET raw = replace(raw, '0.', '1.') WHERE stage = 'scores'")
    with Run(run.path) as again, pytest.raises(SemeceError, match="a reply is not what was stored"):
        again.question_views()


def test_a_view_without_scores_has_none(made):
    with made([{k: v for k, v in row.items() if not k.startswith("score")} for row in rows(3)]) as run:
        view = run.question_views()[0]
        assert view.score("p_true") is None
        assert replace(view).scores.confidences == {}


def test_a_score_that_only_ranks_is_told_how_it_becomes_a_confidence(made):
    run = made(list(rows()))
    with pytest.raises(SemeceError, match=r"of the score 'entropy' only the order means something: fit a map"):
        decide(run, scores=["entropy"])
    assert decide(run, scores=["p_true"]).table["score"].to_list() == ["p_true"]
