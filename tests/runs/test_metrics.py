"""The metric table: each row loads, and a row more is enough for a metric to stand in all five places."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from semece.cli import app
from semece.compare.limits import Limit, check_run
from semece.compare.standings import compare_runs
from semece.runs import metrics
from semece.runs.metrics import CONFIDENCES, METRICS, Metric, directions, limited_names, stats_function, titles
from semece.runs.run import Run
from semece.runs.scored_samples import score
from semece.runs.summary_rows import headline, summary_table
from semece.show.report import build
from semece.show.tables import paper_table
from semece.stats.uncertainty.intervals import Interval
from semece.stats.uncertainty.oracle_brackets import oracle_bracket


def samples(folder, name, sure):
    """Make a run of 100 questions in which `sure` of 10 answers agree; half of the questions are right."""
    rows = [
        {
            "id": f"q{i}",
            "question": f"Question {i}?",
            "references": ["a"],
            "answers": [f"a{max(0, k - sure + 1)}" for k in range(10)],
            "labels": [max(0, k - sure + 1) for k in range(10)],
            "grades": {str(k): "correct" if i % 2 and not k else "incorrect" for k in range(11 - sure)},
        }
        for i in range(100)
    ]
    source = folder / "q.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score([source], folder / f"{name}.db")
    return folder / f"{name}.db"


@pytest.mark.parametrize("metric", [each for each in METRICS if not each.of_classes], ids=lambda metric: metric.name)
def test_every_row_gives_a_number_inside_its_interval(metric):
    rng = np.random.default_rng(3)
    confidence = rng.random(80)
    correct = (rng.random(80) < confidence).astype(float)
    value, low, high = metric.interval(confidence, correct)
    assert value == pytest.approx(metric.value(confidence, correct))
    assert low <= value <= high
    assert low < high
    if metric.terms:
        terms = stats_function(metric.terms)(confidence, correct)
        assert terms.total == pytest.approx(value)


def test_the_names_of_columns_and_headings():
    assert set(limited_names()) >= {"accuracy", "ver_ece", "sem1_ece", "sem2_ece", "sem2_split_ece"}
    assert not {"sem1_gap", "sem1_brier"} & set(limited_names())
    assert {name: titles()[name] for name in ("verbalized_ece", "sem2_split_ece", "brier")} == {
        "verbalized_ece": "Ver-ECE",
        "sem2_split_ece": "Sem2-ECE (split)",
        "brier": "Brier score",
    }
    assert {each.prefix for each in CONFIDENCES} >= {name for metric in METRICS for name in metric.confidences}


def test_a_row_more_is_a_metric_more_in_the_summary_tables_limits_comparisons_and_the_report(tmp_path, monkeypatch):
    timid, bold = (Run(samples(tmp_path, name, sure)) for name, sure in (("timid", 5), ("bold", 9)))
    row = Metric("blur", "Blur", "calibration.proper_scores:brier", "lower", ("sem1",), options=())
    monkeypatch.setattr(metrics, "METRICS", (*METRICS, row))
    summary = summary_table([timid, bold])
    assert summary["sem1_blur"].to_list() == pytest.approx([0.25, 0.41])
    assert "sem2_blur" not in summary.columns
    assert "sem1_blur" in headline(summary).columns
    assert paper_table("ece", [bold])["sem1_blur"].to_list() == pytest.approx([0.41])
    assert [
        each.passed for each in check_run(bold, [Limit("max", "sem1_blur=0.9"), Limit("max", "sem1_blur=0.3")])
    ] == [True, False]
    found = compare_runs([timid, bold])
    change = found.changes.filter(quantity="sem1_blur").row(0, named=True)
    assert change["change"] == pytest.approx(0.16)
    assert change["change_low"] <= 0.16 <= change["change_high"]
    assert found.ranking.filter(quantity="sem1_blur", rank=1)["run"].to_list() == ["timid"]
    worse = [each.name for each in check_run(bold, baseline=timid) if not each.passed]
    assert {"sem1_blur", "sem1_ece"} <= set(worse)
    assert "sem1 blur" in build([bold], tmp_path / "report.html").read_text(encoding="utf-8")
    shown = CliRunner().invoke(app, ["compare", str(timid.path), str(bold.path)])
    assert "sem1_blur: timid is ahead (0.25 against 0.41 of bold" in shown.output


def test_the_oracle_confidence_is_in_the_summary_the_tables_limits_and_the_report(tmp_path):
    run = Run(samples(tmp_path, "timid", 5))
    summary = summary_table([run])
    row = summary.row(0, named=True)
    wanted = oracle_bracket([[0] * 5 + list(range(1, 6))] * 100)
    names = ("oracle", *(f"oracle_{name}" for name in wanted._fields[1:]))
    assert [row[name] for name in names] == pytest.approx(list(wanted))
    assert headline(summary).row(0, named=True)["oracle"] == row["oracle"]
    assert paper_table("ece", [run])["oracle_high"].to_list() == [row["oracle_high"]]
    assert "Oracle confidence" in build([run], tmp_path / "report.html").read_text(encoding="utf-8")
    assert [each.passed for each in check_run(run, [Limit("max", "oracle=0.9"), Limit("min", "oracle=0.45")])] == [
        True,
        False,
    ]
    assert "oracle" not in directions()


def test_a_number_of_few_questions_has_no_interval_and_so_no_limit(tmp_path, monkeypatch):
    found = Metric("blur", "Blur", "calibration.proper_scores:brier", "lower").interval(np.full(29, 0.5), np.ones(29))
    assert isinstance(found, Interval)
    assert found.value == pytest.approx(0.25)
    assert np.isnan(found[1:]).all()


def test_rows_of_one_question_are_resampled_together():
    metric = Metric("blur", "Blur", "calibration.proper_scores:brier", "lower")
    rng = np.random.default_rng(5)
    confidence, correct = rng.random(50), rng.integers(0, 2, 50).astype(float)
    alone = metric.interval(confidence, correct)
    repeated = metric.interval(np.repeat(confidence, 4), np.repeat(correct, 4), ids=np.repeat(np.arange(50), 4))
    apart = metric.interval(np.repeat(confidence, 4), np.repeat(correct, 4))
    widths = [each.high - each.low for each in (alone, repeated, apart)]
    assert widths[1] == pytest.approx(widths[0], rel=0.1)
    assert widths[2] < 0.6 * widths[0]
