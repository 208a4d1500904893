"""The summary of runs, its words, and how tables are written."""

import csv
import io
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.runs.graded_classes import graded_classes
from semece.runs.renderers import MISSING, cells, shown
from semece.runs.run import Names
from semece.runs.summary_rows import RunFacts
from semece.show import tables
from semece.stats import REGIMES, gap_interval
from semece.stats.calibration.binned_errors import ece
from semece.stats.uncertainty.intervals import accuracy_interval, ece_interval
from tests.synthetic import estimates_of, make_page, make_views


def summary_of(estimates, **more):
    options = {"run": "a", "judges": ("rules", "rules"), "n": 20, "counts": {"parsed": 100, "missing": 0}} | more
    return tables.summary_row(estimates, RunFacts(**options))


@pytest.fixture(scope="module")
def estimates():
    return estimates_of(make_views(120))


def test_every_number_of_a_summary_is_the_cores(estimates):
    row = summary_of(estimates)
    correct = estimates["correct"].to_numpy()
    assert (row["accuracy"], row["accuracy_low"], row["accuracy_high"]) == pytest.approx(accuracy_interval(correct))
    for name, column, against in (
        ("sem1", "sem1", "correct"),
        ("sem2", "sem2", "correct"),
        ("ver", "verbalized", "correct"),
        ("sem2_split", "sem2", "correct_split"),
    ):
        c, a = estimates[column].to_numpy(), np.clip(estimates[against].to_numpy(), 0, 1)
        wanted = ece_interval(c, a)
        assert (row[f"{name}_ece"], row[f"{name}_ece_low"], row[f"{name}_ece_high"]) == pytest.approx(wanted, abs=1e-9)
        assert row[f"{name}_gap"] == pytest.approx(c.mean() - a.mean())
        assert row[f"{name}_confidence"] == pytest.approx(c.mean())
        assert row[f"{name}_questions"] == 120


def test_only_complete_questions_enter_and_the_others_are_counted_by_reason(estimates):
    reasons = ["complete"] * 116 + ["incomplete", "too_few", "ungraded", "unpartitioned"]
    row = summary_of(estimates.with_columns(pl.Series("status", reasons)))
    assert row["questions"] == 116
    assert [row[name] for name in tables.REASONS] == [1, 1, 1, 1, 0]
    kept = estimates[:116]
    assert row["sem1_ece"] == pytest.approx(ece(kept["sem1"].to_numpy(), kept["correct"].to_numpy()))


def test_an_unknown_reason_is_refused_rather_than_dropped(estimates):
    with pytest.raises(ValueError, match=r"status must be complete or one of .*; got 'lost'"):
        summary_of(estimates.with_columns(status=pl.lit("lost")))


def test_verbalized_has_its_own_n_and_is_null_when_nothing_was_stated(estimates):
    some = estimates.with_columns(
        verbalized=pl.when(pl.int_range(pl.len()) < 30).then("verbalized"),
    )
    row = summary_of(some)
    assert (row["ver_questions"], row["sem1_questions"]) == (30, 120)
    kept = some.filter(pl.col("verbalized").is_not_null())
    assert row["ver_ece"] == pytest.approx(ece(kept["verbalized"].to_numpy(), kept["correct"].to_numpy()))
    row = summary_of(estimates.with_columns(verbalized=pl.lit(None, dtype=pl.Float64)))
    assert (row["ver_questions"], row["ver_ece"], row["ver_ece_low"], row["ver_gap"]) == (0, None, None, None)


def test_a_run_without_a_complete_question_has_nulls_and_says_why(estimates):
    row = summary_of(estimates.with_columns(status=pl.lit("ungraded")))
    assert row["accuracy"] is None
    assert row["sem2_ece"] is None
    assert row["jensen_dominated"] is None
    nothing = "Nothing can be said: no question enters (120 ungraded)."
    empty = dict.fromkeys(("confidences", "refusals", "audit", "regime"), "")
    assert tables.says(row) == {"model": nothing, "verdict": nothing} | empty
    assert MISSING in tables.to_markdown(tables.headline(tables.summary_frame([row])))


def test_excluded_questions_bound_the_numbers_whatever_their_grades(estimates):
    reasons = ["complete"] * 100 + ["ungraded"] * 20
    some = estimates.with_columns(pl.Series("status", reasons))
    row = summary_of(some)
    right = estimates["correct"][:100].sum()
    assert (row["accuracy_least"], row["accuracy_most"]) == pytest.approx((right / 120, (right + 20) / 120))
    rng = np.random.default_rng(0)
    for _ in range(20):
        correct = np.concatenate([estimates["correct"][:100].to_numpy(), rng.random(20) < rng.random()])
        assert row["accuracy_least"] <= correct.mean() + 1e-12 <= row["accuracy_most"] + 2e-12
        for name in ("sem1", "sem2"):
            value = ece(estimates[name].to_numpy(), correct)
            assert row[f"{name}_ece_least"] - 1e-12 <= value <= row[f"{name}_ece_most"] + 1e-12
    wanted = f"accuracy lies in {row['accuracy_least']:.2f} to {row['accuracy_most']:.2f}, Sem1-ECE in"
    assert wanted in tables.bounds_text(row)


def test_nothing_excluded_means_no_bounds_in_words(estimates):
    row = summary_of(estimates)
    assert row["sem1_ece_least"] == row["sem1_ece_most"] == pytest.approx(row["sem1_ece"])
    assert tables.bounds_text(row) == ""


def test_an_empty_selection_is_summarised_too(estimates):
    row = summary_of(estimates.clear())
    assert tables.says(row)["model"] == "Nothing can be said: no question enters (none was selected)."


def test_regime_shares_sum_to_one_and_the_sentence_names_the_largest(estimates):
    row = summary_of(estimates)
    shares = {name: row[name] for name in REGIMES}
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["low_margin"] == pytest.approx((estimates["regime"] == "low_margin").mean())
    text = tables.says(row)["regime"]
    assert text.startswith(f"{100 * max(shares.values()):.0f} % of the questions")


def test_failures_are_counted_apart_from_missing_responses(estimates):
    counts = {"parsed": 90, "fallback": 3, "truncated": 2, "refusal": 1, "content_filter": 4, "missing": 7}
    row = summary_of(estimates, counts=counts)
    assert (row["unusable"], row["missing"]) == (7, 7)
    assert tables.headline(tables.summary_frame([row]))["failures"].to_list() == ["7 unusable, 7 missing"]


def test_the_judge_is_named_once_or_by_stage(estimates):
    assert summary_of(estimates)["judge"] == "rules"
    assert summary_of(estimates, judges=("given", "openai/x"))["judge"] == "given (classes), openai/x (grades)"


def test_a_summary_of_runs_reads_what_a_run_offers(estimates):
    class Fake:
        names, path = Names("a", "b"), "x.db"
        name, judge_names, n, counts, given = "a · b", ("rules", "exact"), 20, {"missing": 1}, {}
        correction = None

        def estimates(self):
            return estimates

        def classes(self):
            return graded_classes(make_views(120))

    table = tables.summary_table([Fake(), Fake()])
    assert table.height == 2
    assert table["run"].to_list() == ["a · x.db"] * 2
    assert table["missing"].to_list() == [1, 1]
    assert table["semx_ece_n_questions"].to_list() == [120, 120]


def test_the_gap_interval_covers_the_truth():
    rng, covered, trials = np.random.default_rng(5), 0, 1000
    for _ in range(trials):
        c = rng.beta(3, 2, 60)
        a = (rng.random(60) < c**2).astype(float)
        _, low, high = gap_interval(c, a)
        covered += low <= 0.6 - (0.6 * 0.4 / 6 + 0.36) <= high
    assert covered / trials > 0.95 - 4 * np.sqrt(0.95 * 0.05 / trials)


def test_the_gap_interval_does_not_collapse_when_all_answers_are_right():
    value, low, high = gap_interval(np.ones(20), np.ones(20))
    assert (value, low) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert high > 0.1
    assert gap_interval(np.array([0.7]), np.array([1.0]))[1:] == (-1.0, 1.0)


def test_the_headline_leaves_out_what_no_run_has(estimates):
    page = make_page(make_views(30))
    full = tables.headline(tables.summary_frame([page.summary]))
    assert "sem2_split_ece" in full.columns
    assert "ver_questions" not in full.columns
    bare = estimates.with_columns(
        correct_split=pl.lit(None, dtype=pl.Float64), verbalized=pl.lit(None, dtype=pl.Float64)
    )
    narrow = tables.headline(tables.summary_frame([summary_of(bare)]))
    assert "sem2_split_ece" not in narrow.columns
    assert narrow["ver_questions"].to_list() == [0]


def test_a_number_and_its_interval_are_one_cell():
    table = pl.DataFrame({"x": [0.5], "x_low": [0.25], "x_high": [0.755], "y_low": [1.0]})
    assert shown(table.columns) == ["x", "y_low"]
    assert cells(table)[1] == [["0.50 [0.25, 0.76]", "1.00"]]


def test_nothing_is_printed_as_minus_zero_and_nan_as_a_dash():
    assert cells(pl.DataFrame({"x": [-0.001, float("nan"), None, -0.2]}))[1] == [["0.00"], ["—"], ["—"], ["-0.20"]]


@given(st.text(max_size=40))
def test_a_markdown_cell_stays_one_cell(text):
    out = tables.to_markdown(pl.DataFrame({"run": [text], "questions": [3]}))
    lines = out.split("\n")
    assert len(lines) == 4
    bare = lines[2].replace("\\\\", "").replace("\\|", "")
    assert bare.count("|") == 3


def test_markdown_shows_html_as_text():
    out = tables.to_markdown(pl.DataFrame({"run": ["<b>*x*</b> `y` | z\nw"]}))
    assert r"\<b\>\*x\*\</b\> \`y\` \| z w" in out


LATEX_SPECIALS = r"a_b & 50% #1 $x$ {y} ~ ^ \cmd"


def test_latex_escapes_every_special_character():
    line = tables.to_latex(pl.DataFrame({"run": [LATEX_SPECIALS]})).splitlines()[-3]
    wanted = r"a\_b \& 50\% \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}cmd \\"
    assert line == wanted


@given(st.text(alphabet=st.sampled_from(list('\\{}$&#%_^~ab"|<>')), max_size=20))
def test_latex_braces_balance_whatever_the_text(text):
    line = tables.to_latex(pl.DataFrame({"run": [text]})).splitlines()[-3]
    bare = line.replace(r"\{", "").replace(r"\}", "")
    assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize("name", ["[1cm]", "*[9cm]", "*", "a\x1b[31m\u202e\x00b"])
def test_a_latex_row_does_not_take_the_next_cell_for_an_option(name):
    text = tables.to_latex(pl.DataFrame({"run": ["first", name]}))
    row = text.splitlines()[-3]
    assert not row.startswith(("[", "*"))
    assert row.isprintable()


def test_latex_marks_the_smallest_bold_and_the_second_underlined():
    table = pl.DataFrame(
        {
            "run": ["a"],
            "ver_ece": [0.3],
            "sem1_ece": [0.1],
            "sem1_ece_low": [0.05],
            "sem1_ece_high": [0.2],
            "sem2_ece": [0.2],
        }
    )
    lines = tables.to_latex(table).splitlines()
    assert lines[-3] == r"a & 0.30 & \textbf{0.10} [0.05, 0.20] & \underline{0.20} \\"
    assert r">{\columncolor{semonetint}}r>{\columncolor{semtwotint}}r" in lines[4]
    assert lines[2].startswith(r"\definecolor{semonetint}{HTML}")


def test_latex_gives_equal_marks_to_numbers_that_print_equal_and_none_to_a_single_one():
    table = pl.DataFrame({"ver_ece": [0.201, None], "sem1_ece": [0.199, 0.1], "sem2_ece": [0.3, None]})
    lines = tables.to_latex(table).splitlines()
    assert lines[-4] == r"\textbf{0.20} & \textbf{0.20} & \underline{0.30} \\"
    assert lines[-3] == r"--- & 0.10 & --- \\"


def test_csv_and_json_keep_every_digit_and_column(estimates):
    summary = tables.summary_frame([summary_of(estimates, run='a "b", c\nd')])
    read = next(csv.DictReader(io.StringIO(tables.to_csv(summary))))
    assert read["run"] == 'a "b", c\nd'
    assert float(read["sem2_ece_low"]) == summary["sem2_ece_low"][0]
    assert json.loads(tables.to_json(summary)) == summary.to_dicts()


def test_a_number_that_is_not_there_is_ranked_nowhere():
    table = pl.DataFrame({"run": ["a"], "ver_ece": [float("nan")], "sem1_ece": [0.1], "sem2_ece": [0.2]})
    line = tables.to_latex(table).splitlines()[-3]
    assert line == r"a & --- & \textbf{0.10} & \underline{0.20} \\"
    alone = table.with_columns(sem1_ece=pl.lit(None, pl.Float64))
    assert tables.to_latex(alone).splitlines()[-3] == r"a & --- & --- & 0.20 \\"


def test_json_has_no_nan():
    assert tables.to_json(pl.DataFrame({"x": [float("nan"), 1.5]})) == '[{"x": null}, {"x": 1.5}]'
    with pytest.raises(ValueError, match="not JSON compliant"):
        tables.to_json(pl.DataFrame({"x": [float("inf")]}))


@pytest.mark.parametrize("form", ["md", "latex", "csv", "json"])
def test_a_format_is_chosen_by_name(form, estimates):
    table = tables.summary_frame([summary_of(estimates)])
    writer = {"md": tables.to_markdown, "latex": tables.to_latex, "csv": tables.to_csv, "json": tables.to_json}[form]
    assert tables.render(table, form) == writer(table)
