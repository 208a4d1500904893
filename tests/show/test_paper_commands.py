"""The paper's tables and figures of runs, by name."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from semece.cli.reading_commands import FIGURE_NAMES, TABLE_NAMES
from semece.errors import SemeceError
from semece.runs.renderers import to_csv, to_latex
from semece.runs.run import Run
from semece.runs.scored_samples import SamplesReading, score
from semece.show.figures.run_figures import FIGURES, draw
from semece.show.tables.paper_tables import (
    BUDGET_TABLES,
    POOLED,
    TABLES,
    arms_of,
    groups,
    known,
    largest_budget,
    not_pooled,
    paper_table,
)
from semece.stats.calibration.abstention import abstention_threshold
from semece.stats.calibration.binned_errors import ece
from semece.stats.calibration.proper_scores import brier
from semece.stats.recalibration.cross_fitting import cross_fit
from semece.stats.uncertainty.bootstrap import NEAR_ZERO, is_low_margin, paired_bootstrap
from semece.stats.uncertainty.intervals import accuracy_interval, ece_interval

ENDS = ("", "_low", "_high")


def sampled(folder, *, seed, questions=80, n=20, short=(), stated=0.7, name=None):
    """Make a run of samples whose truth is drawn: 'questions' is the dataset's name."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(questions):
        labels = rng.choice(4, size=n - 5 * (i in short), p=rng.dirichlet([1.0] * 4)).tolist()
        labels = [sorted(set(labels), key=labels.index).index(label) for label in labels]
        mode = max(set(labels), key=labels.count)
        right = mode if rng.random() < 0.6 else -1
        grades = {str(label): "correct" if label == right else "incorrect" for label in set(labels)}
        row = {"id": f"q{i:03d}", "question": f"Question {i}?", "references": ["a"], "labels": labels, "grades": grades}
        rows.append(row | {"answers": [f"a{label}" for label in labels], "confidences": [stated] * len(labels)})
    source, path = folder / "questions.jsonl", folder / f"{name or f'seed{seed}'}.db"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score([source], path, reading=SamplesReading(name=path.stem))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        sampled(folder, seed=seed)
    sampled(folder, seed=1, name="copy")
    return folder


@pytest.fixture(scope="module")
def runs(folder):
    found = [Run(folder / "seed1.db"), Run(folder / "seed2.db")]
    yield found
    for run in found:
        run.close()


@pytest.fixture(scope="module")
def twice(folder):
    found = [Run(folder / "seed1.db"), Run(folder / "copy.db")]
    yield found
    for run in found:
        run.close()


def test_a_pool_holds_the_numbers_of_the_run(runs):
    pool, estimates = runs[0].pool(), runs[0].estimates()
    for name in ("sem1", "sem2", "margin", "top_two_mass", "correct", "verbalized"):
        assert getattr(pool, name).tolist() == estimates[name].to_list()


def test_a_pool_of_nothing_complete_says_so(tmp_path):
    path = sampled(tmp_path, seed=3, questions=2, n=1)
    with Run(path) as run, pytest.raises(SemeceError, match="no question is complete of 2"):
        run.pool()


def test_questions_are_taken_from_a_pool_by_mask_and_by_number(runs):
    pool = runs[0].pool()
    mask = pool.margin < 0.3
    by_mask, by_number = pool.take(mask), pool.take(np.flatnonzero(mask))
    assert by_mask.sem1.tolist() == by_number.sem1.tolist() == pool.sem1[mask].tolist()
    assert by_mask.counts.values.tolist() == by_number.counts.values.tolist()
    assert len(by_mask.counts) == mask.sum()


def test_the_table_of_calibration_errors_is_that_of_the_summary(runs):
    row = paper_table("ece", runs).to_dicts()[0]
    estimates = runs[0].estimates()
    c, a = estimates["sem2"].to_numpy(), estimates["correct"].to_numpy()
    assert (row["sem2_ece"], row["sem2_ece_low"], row["sem2_ece_high"]) == pytest.approx(ece_interval(c, a))
    assert (row["accuracy"], row["accuracy_low"], row["accuracy_high"]) == pytest.approx(accuracy_interval(a))
    assert row["ver_ece"] == pytest.approx(abs(0.7 - a.mean()))
    assert (row["questions"], row["ver_questions"]) == (80, 80)


def test_a_question_that_two_runs_answer_is_one_question(twice):
    """The same run twice, pooled, is as sure as the run once."""
    for name in ("ece", "bootstrap"):
        counts = ("questions", "ver_questions", "low_margin_questions")  # of the rows: two of a question
        first, _, pooled = paper_table(name, twice).drop("dataset", "model", *counts, strict=False).rows()
        assert pooled == pytest.approx(first, abs=0.004)  # an interval of twice the questions is 0.02 narrower


def test_pooled_rows_hold_the_answers_of_all_runs(runs):
    table = paper_table("ece", runs)
    assert table["model"].to_list() == ["seed1", "seed2", POOLED]
    assert table["questions"].to_list() == [80, 80, 160]
    parts = [run.estimates() for run in runs]
    c, a = (np.concatenate([part[name].to_numpy() for part in parts]) for name in ("sem1", "correct"))
    assert table["sem1_ece"].to_list()[2] == pytest.approx(ece(c, a))


def test_the_bootstrap_table_is_the_paired_bootstrap(runs):
    row = paper_table("bootstrap", runs[:1]).to_dicts()[0]
    pool = runs[0].pool()
    low = is_low_margin(pool.margin, pool.n_responses)
    found = paired_bootstrap(pool.sem1, pool.sem2, pool.correct, low_margin=low)
    assert tuple(row[f"mean_difference{e}"] for e in ENDS) == pytest.approx(found.overall.mean_difference)
    assert tuple(row[f"ece_difference{e}"] for e in ENDS) == pytest.approx(found.overall.ece_difference)
    assert row["low_margin_questions"] == low.sum()
    assert row["note"] == (found.overall.note or None)
    assert (row["low_margin_mean_difference"] is None) == (found.low_margin is None)


def test_latex_prints_a_difference_bold_only_if_its_interval_leaves_out_zero_and_can_be_trusted():
    numbers = {"mean_difference": 0.1, "ece_difference": -0.2}
    ends = {"mean_difference_low": 0.05, "mean_difference_high": 0.2}
    ends |= {"ece_difference_low": -0.3, "ece_difference_high": -0.1, "note": None}

    def line(**changed):
        return to_latex(pl.DataFrame([numbers | ends | changed]), digits=3).splitlines()[-3]

    assert line() == r"\textbf{0.100} [0.050, 0.200] & \textbf{-0.200} [-0.300, -0.100] & --- \\"
    assert line(note=NEAR_ZERO).startswith(r"\textbf{0.100} [0.050, 0.200] & -0.200 [")
    assert line(mean_difference_low=-0.01).startswith("0.100 [-0.010")
    assert line(mean_difference_low=0.0).startswith("0.100 [0.000")


def test_a_confidence_that_nobody_stated_has_no_row_and_no_number(tmp_path):
    path = sampled(tmp_path, seed=4, questions=20, stated=None)
    with Run(path) as run:
        assert "verbalized" not in paper_table("baselines", [run])["score"].to_list()
        row = paper_table("ece", [run]).to_dicts()[0]
    assert (row["ver_questions"], row["ver_ece"]) == (0, None)


def test_the_table_of_semx_is_its_reliability_and_adds_up_to_its_numbers(runs):
    table = paper_table("semx", runs[:1])
    summary = paper_table("ece", runs[:1]).to_dicts()[0]
    gaps = table["gap"].to_numpy() * table["questions"].to_numpy() / 80
    assert gaps.sum() == pytest.approx(summary["held_out_gap"])
    assert np.abs(gaps).sum() == pytest.approx(summary["semx_ece"])
    assert table["questions"].sum() == pytest.approx(80)
    assert paper_table("semx", runs)["model"].unique(maintain_order=True).to_list() == ["seed1", "seed2"]


def test_semx_by_budget_ends_with_the_run_and_needs_few_answers(runs):
    table = paper_table("semx", runs[:1], by="budget")
    assert table["n"].to_list() == [2, 4, 6, 10, 20]
    last, summary = table.to_dicts()[-1], paper_table("ece", runs[:1]).to_dicts()[0]
    for name in ("held_out_gap", "semx_ece"):
        assert [last[name + end] for end in ENDS] == pytest.approx([summary[name + end] for end in ENDS])
    first = table.to_dicts()[0]
    assert first["semx_ece"] == pytest.approx(abs(first["held_out_gap"]))  # one response selects: one bin


def test_a_table_without_rows_by_budget_and_a_run_without_grades_of_all_classes_say_so(runs, tmp_path):
    for name in {*TABLES} - {*BUDGET_TABLES}:
        with pytest.raises(ValueError, match="only the table semx has rows by budget; got"):
            paper_table(name, runs, by="budget")
    with pytest.raises(ValueError, match="by must be bin or budget; got 'n'"):
        paper_table("semx", runs, by="n")
    rows = [
        {"id": f"q{i}", "question": f"{i}?", "answers": list("aab"), "labels": [0, 0, 1], "grades": {"0": "correct"}}
        for i in range(12)
    ]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    score([tmp_path / "s.jsonl"], tmp_path / "s.db")
    with Run(tmp_path / "s.db") as run, pytest.raises(SemeceError, match="SemX needs a grade of every class"):
        paper_table("semx", [run])


def test_baselines_are_measured_on_the_same_answers(runs):
    table = paper_table("baselines", runs[:1])
    assert table["score"].to_list()[:4] == ["verbalized", "sem1", "sem2", "first-second distance"]
    margin = table.filter(score="first-second distance").to_dicts()[0]
    pool = runs[0].pool()
    assert margin["ece"] == pytest.approx(ece(pool.margin, pool.correct))
    assert table.filter(score="verbalized")["auroc"].to_list() == [0.5]
    after = cross_fit(pool.sem1, pool.correct).confidence
    sem1 = table.filter(score="sem1").to_dicts()[0]
    assert sem1["recalibrated_brier"] == pytest.approx(brier(after, pool.correct))
    for name in ("ece", "smooth_ece", "ece_sweep", "brier", "auroc", "aurc", "recalibrated_ece", "recalibrated_brier"):
        value, low, high = (table[f"{name}{end}"].to_numpy() for end in ENDS)
        assert ((low <= value) & (value <= high)).all()
    assert table.filter(pl.col("clipped") > 0)["score"].to_list() in ([], ["entropy agreement, Miller-Madow"])


def test_the_table_of_abstention_counts_half_right_answers_as_wrong(runs):
    table = paper_table("abstention", runs)
    assert table["model"].unique(maintain_order=True).to_list() == ["seed1", "seed2"]
    pool = runs[0].pool()
    assert (pool.correct % 1 > 0).sum() > 0
    found = abstention_threshold(pool.sem1, np.floor(pool.correct), target=0.8)
    row = table.filter(model="seed1", score="sem1", target=0.8).to_dicts()[0]
    assert {name: row[name] for name in found._fields} == found._asdict()
    assert row["promise"] is None


def test_strata_without_questions_are_left_out(runs):
    table = paper_table("margin", runs)
    assert table["questions"].min() > 0
    per_run = table.filter(estimator="sem1").group_by("model", maintain_order=True).agg(pl.col("questions").sum())
    assert per_run.rows() == [("seed1", 80), ("seed2", 80), (POOLED, 160)]


def test_a_sweep_is_on_the_questions_that_have_all_responses(tmp_path):
    path = sampled(tmp_path, seed=5, questions=30, short=(3, 4))
    with Run(path) as run:
        (group,) = groups([run])
        pool, budgets = largest_budget(group)
        table = paper_table("sweep", [run])
    assert (len(pool.correct), budgets) == (28, [10, 20])
    assert table["questions"].to_list() == [28, 28]
    assert table["sem1"].null_count() == 0


def test_slopes_and_gaps_have_intervals_for_one_run_and_for_several_together(runs):
    table = paper_table("slope", runs)
    assert table["model"].to_list() == ["seed1", "seed2", POOLED]
    assert set(table.columns) >= {"slope", "slope_low", "slope_high"}
    gaps = paper_table("rate", runs).drop_nulls("gap")
    assert (gaps["gap_low"] <= gaps["gap"]).all()
    assert (gaps["gap"] <= gaps["gap_high"]).all()


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_in_every_format(semece, folder, tmp_path, name):
    words = ("table", name, folder / "seed1.db", folder / "seed2.db")
    code, out, _ = semece(*words)
    assert code == 0
    assert out.startswith("| Dataset | Model |")
    assert "None" not in out
    code, out, _ = semece(*words, "--format", "json")
    rows = json.loads(out)
    assert len(rows) >= 2
    assert semece(*words, "--format", "latex", "-o", tmp_path / "t.tex")[0] == 0
    text = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 1
    code, out, _ = semece(*words, "--format", "csv")
    assert len(out.splitlines()) == len(rows) + 1


def test_digits_are_decimals(semece, folder):
    line = semece("table", "ece", folder / "seed1.db", "--digits", 1)[1].splitlines()[-1]
    assert "0.12" not in line
    assert all(len(part.split(".")[1].rstrip(" ,]|")) == 1 for part in line.split() if "." in part)


def test_a_list_is_one_field_of_csv():
    assert to_csv(pl.DataFrame({"margins": [[0.1, 0.25]]})) == "margins\n0.1 0.25\n"


def test_help_names_what_there_is():
    assert TABLE_NAMES.replace(" or ", ", ").split(", ") == list(TABLES)
    assert FIGURE_NAMES.replace(" or ", ", ").split(", ") == list(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_of_one_run_and_of_several(folder, runs, semece, tmp_path, name):
    for number in (1, 2):
        paths = [folder / "seed1.db", folder / "seed2.db"][:number]
        target = tmp_path / f"{number}.svg"
        assert semece("figure", name, *paths, "-o", target) == (0, f"{target}\n", "")
        first = target.read_bytes()
        assert semece("figure", name, *paths, "-o", target)[0] == 0
        assert target.read_bytes() == first
    assert draw(name, runs).axes


def test_reliability_of_several_runs_has_a_curve_each_and_the_pool(runs):
    figure = draw("reliability", runs)
    assert [ax.get_title() for ax in figure.axes] == ["Sem1", "Sem2", "Ver"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["seed1", "seed2", POOLED]


def test_panels_are_named_after_runs(runs):
    assert [ax.get_title() for ax in draw("sweep", runs).axes] == ["seed1", "seed2"]
    assert [ax.get_title() for ax in draw("sweep", runs[:1]).axes] == [""]


def test_rows_without_a_confidence_are_left_out():
    c, a = known(np.array([1.0, np.nan, 0.5]), np.array([1.0, 0.0, 0.0]))
    assert (c.tolist(), a.tolist()) == ([1.0, 0.5], [1.0, 0.0])


def test_runs_of_one_dataset_with_other_n_are_not_pooled(folder, tmp_path):
    with Run(folder / "seed1.db") as one, Run(sampled(tmp_path, seed=6, questions=4, n=6)) as other:
        assert paper_table("ece", [one, other])["model"].to_list() == ["seed1", "seed6"]
        why = "questions has no pooled row: its runs asked for 6 and 20 answers per question"
        assert not_pooled(arms_of([one, other])) == {"questions": why}


def test_runs_of_one_model_are_not_pooled_and_the_reason_is_said(semece, folder, tmp_path):
    """Two arms of a model would count it twice; those that nobody has named are told how to name them."""
    named, unnamed = (folder / "seed1.db", folder / "other.db"), []
    shutil.copy(*named)
    code, out, err = semece("table", "ece", *named)
    assert (code, out.count("\n")) == (0, 4)
    why = "note: questions has no pooled row: seed1 and other are runs of one model, seed1, which would count twice\n"
    assert err == why
    for seed in (1, 2):
        source = sampled(tmp_path, seed=seed, questions=4).parent / "questions.jsonl"
        score([source], tmp_path / f"unnamed{seed}.db")
        unnamed.append(tmp_path / f"unnamed{seed}.db")
    assert "'semece score --name NAME' names it" in semece("table", "ece", *unnamed)[2]


def test_a_name_is_the_same_everywhere_and_may_change(semece, tmp_path):
    """Summary, JSON, tables, figures, report and export call a run what it was told to be called."""
    path = sampled(tmp_path, seed=4, questions=4)
    words = ("score", tmp_path / "questions.jsonl", "-o", path, "--name", "model A", "--dataset", "lawyers")
    assert semece(*words)[1].startswith("lawyers · model A: ")
    assert json.loads(semece("summary", path, "--json")[1])[0]["run"] == "lawyers · model A"
    row = json.loads(semece("table", "ece", path, "-f", "json")[1])[0]
    assert (row["dataset"], row["model"]) == ("lawyers", "model A")
    semece("report", path, "-o", tmp_path / "report.html")
    assert "lawyers · model A" in (tmp_path / "report.html").read_text(encoding="utf-8")
    semece("export", path, "-o", tmp_path / "again.jsonl")
    assert semece("score", tmp_path / "again.jsonl", "-o", tmp_path / "again.db")[1].startswith("lawyers · model A: ")
    assert semece("score", tmp_path / "questions.jsonl", "-o", path, "--name", " ")[2].endswith("got ' '\n")


def test_rows_of_samples_say_whose_they_are(semece, tmp_path):
    rows = [{"id": m + i, "question": f"{m + i}?", "answers": ["a", "b"], "model": m} for m in "xy" for i in "12"]
    file = tmp_path / "two.jsonl"
    file.write_text("".join(json.dumps(row | {"dataset": "d"}) + "\n" for row in rows), encoding="utf-8")
    code, _, err = semece("score", file, "-o", tmp_path / "a.db")
    assert (code, err.endswith("expected responses of one model; got x, y: choose one with --model\n")) == (2, True)
    assert semece("score", file, "-o", tmp_path / "y.db", "--model", "y")[0] == 0
    with Run(tmp_path / "y.db") as run:
        assert (run.names, run.complete) == (("d", "y"), (2, 2))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("table", "ecee", "RUN"), "table must be one of ece, semx, bootstrap, "),
        (("table", "ece", "RUN", "--format", "xls"), "format must be one of md, latex, csv, json; got 'xls'"),
        (("figure", "margins", "RUN", "-o", "a.pdf"), "figure must be one of reliability, "),
        (("figure", "margin", "RUN", "-o", "a.bmp"), "a figure is written as .pdf, .svg or .png; got 'a.bmp'"),
        (("table", "ece", "RUN", "--width", "3.03"), "--width is for --format latex; got md"),
        (("table", "ece", "absent.db"), "absent.db"),
        (("figure", "margin", "RUN", "-o", "no/such/a.pdf"), "cannot be written"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(semece, folder, words, sentence):
    code, out, err = semece(*(folder / "seed1.db" if word == "RUN" else word for word in words))
    assert (code, out, err.count("\n")) == (4 if sentence == "cannot be written" else 2, "", 1)
    assert sentence in err
    assert not Path("a.pdf").exists()
