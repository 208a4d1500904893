"""Figures: what is drawn is what the table says, and files look alike everywhere."""

import inspect
import re
import runpy
import shutil
import subprocess
from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

from semece.show import figures, tables
from semece.stats.calibration.binned_errors import reliability_table
from semece.stats.calibration.ranking import risk_coverage
from semece.stats.counts import Counts
from semece.stats.diagnostics import alignment, budget_spread, margin_strata, pool, rate, rate_slope, sweep
from semece.stats.estimators.semx import semx
from semece.stats.simulation import near_tie, simulate
from semece.stats.theory import jensen_bias, regime, selection_bias
from semece.stats.uncertainty.held_out_errors import semx_table
from tests.conftest import absent


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    confidence = rng.beta(3, 1.5, 60)
    return reliability_table(confidence, rng.random(60) < confidence**2)


def points(ax):
    return ax.lines[1].get_xydata()


def test_reliability_points_are_the_occupied_bins(table):
    ax = figures.plot_reliability(table)
    keep = table.count > 0
    assert keep.sum() < len(keep)
    assert np.allclose(points(ax), np.column_stack([table.confidence, table.accuracy])[keep])


def test_another_name_is_a_score_and_has_a_look_of_its_own(table):
    curve = risk_coverage([0.9, 0.5], [1, 0])
    assert figures.plot_reliability_curves({"pooled": table}, estimator="p_true").get_title() == "p_true"
    ax = figures.plot_reliability(table, estimator="p_true")
    assert ax.lines[0].get_color() != figures.COLORS["sem1"]
    for name in ("sem1", "cost in $ and $", "entropy"):
        ax = figures.plot_risk_coverage(curve, ax=None if name == "sem1" else ax, estimator=name)
    assert len({line.get_color() for line in ax.get_lines()}) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Sem1", r"cost in \$ and \$", "entropy"]


def test_a_missing_column_is_said(table):
    curve = risk_coverage([0.9, 0.5], [1, 0])
    for wrong in (curve, curve._asdict(), pl.DataFrame(curve._asdict())):
        with pytest.raises(ValueError, match="the table must have a column 'low'; got threshold, coverage, risk"):
            figures.plot_reliability(wrong)


def test_reliability_intervals_end_where_the_table_says(table):
    ax = figures.plot_reliability(table)
    segments = np.array(ax.collections[1].get_segments())
    keep = table.count > 0
    assert np.allclose(segments[:, 0, 1], table.accuracy_low[keep])
    assert np.allclose(segments[:, 1, 1], table.accuracy_high[keep])


def test_the_strip_shows_the_counts(table):
    strip = figures.plot_reliability(table).child_axes[0]
    assert [text.get_text() for text in strip.texts] == [str(n) for n in table.count if n]
    assert [bar.get_height() for bar in strip.patches] == [n for n in table.count if n]


def test_a_dataframe_a_mapping_and_a_namedtuple_draw_the_same(table):
    frame = pl.DataFrame(table._asdict())
    drawn = [points(figures.plot_reliability(t)) for t in (table, frame, table._asdict())]
    assert np.array_equal(drawn[0], drawn[1])
    assert np.array_equal(drawn[0], drawn[2])


def test_estimators_differ_in_colour_and_in_marker(table):
    assert len({*figures.COLORS.values()}) == len({*figures.MARKERS.values()}) == 4
    for name in figures.COLORS:
        line = figures.plot_reliability(table, estimator=name).lines[1]
        assert (line.get_color(), line.get_marker()) == (figures.COLORS[name], figures.MARKERS[name])


def linear(color):
    rgb = np.array(mpl.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return linear(color) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("color", [*figures.COLORS.values(), *figures.RUN_COLORS, figures.INK, figures.MUTED])
def test_colours_stand_out_on_white(color):
    wanted = 4.5 if color in {figures.INK, figures.MUTED} else 3.0
    assert 1.05 / (luminance(color) + 0.05) >= wanted


def lab(color, matrix):
    """CIELAB of a colour as a dichromat sees it (matrices of Machado et al. 2009, severity 1)."""
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(matrix @ linear(color), 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


PROTANOPIA = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
)
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
)
TRITANOPIA = np.array(
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
)


@pytest.mark.parametrize("matrix", [np.eye(3), PROTANOPIA, DEUTERANOPIA, TRITANOPIA])
@pytest.mark.parametrize("colors", [figures.COLORS.values(), (*figures.RUN_COLORS, figures.INK)])
def test_estimators_and_runs_are_told_apart_without_full_colour_vision(matrix, colors):
    shown = [lab(color, matrix) for color in colors]
    distances = [np.linalg.norm(a - b) for i, a in enumerate(shown) for b in shown[i + 1 :]]
    assert min(distances) > 25


def test_drawing_leaves_no_global_setting_and_no_open_figure(table):
    before = dict(mpl.rcParams)
    figures.plot_reliability(table)
    assert dict(mpl.rcParams) == before
    assert "matplotlib.pyplot" not in vars(figures)


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_the_same_figure_gives_the_same_bytes(table, ending, tmp_path):
    paths = [figures.save(figures.plot_reliability(table).figure, tmp_path / f"{i}.{ending}") for i in range(2)]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def assert_embedded(program, path):
    """All fonts of a file are TrueType and embedded."""
    lines = subprocess.run([program, str(path)], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert lines
    for line in lines:
        assert "TrueType" in line
        assert re.search(r"\b(yes|no) +(yes|no) +(yes|no) +\d+ +\d+$", line).group(1) == "yes"


def test_pdf_embeds_truetype_fonts(table, tmp_path):
    program = shutil.which("pdffonts")
    if program is None:
        absent("pdffonts")
    assert_embedded(program, figures.save(figures.plot_reliability(table).figure, tmp_path / "a.pdf"))


def test_svg_files_hold_outlines_and_stay_small(table, tmp_path):
    path = figures.save(figures.plot_reliability(table).figure, tmp_path / "a.svg")
    assert "<text" not in path.read_text()
    assert path.stat().st_size < 60_000


def test_text_is_legible_at_column_width(table):
    ax = figures.plot_reliability(table)
    width = ax.figure.get_size_inches()[0]
    assert width <= 3.5
    texts = [*ax.texts, *ax.child_axes[0].texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label]
    assert min(text.get_size() for text in texts) >= 6


def test_an_unknown_ending_is_refused(table, tmp_path):
    with pytest.raises(ValueError, match=r"a figure is written as .pdf, .svg or .png; got '.*a.gif'"):
        figures.save(figures.figure()[0], tmp_path / "a.gif")


@pytest.fixture(scope="module")
def simulated():
    """A simulated run and its pool: some strata are empty, some questions are near ties."""
    study = simulate(near_tie(300, rng=1), 30, rng=2)
    return study, pool(counts=Counts.from_counts(study.counts), correct=study.correct)


def drawn(ax, label):
    """The points of the line with this label."""
    (line,) = (line for line in ax.lines if line.get_label() == label)
    return line.get_xydata()


def test_curves_of_models_hold_their_occupied_bins(table):
    ax = figures.plot_reliability_curves({"a": table, "pooled": table})
    keep = table.count > 0
    wanted = np.column_stack([table.confidence, table.accuracy])[keep]
    assert np.allclose(drawn(ax, "a"), wanted)
    assert np.allclose(drawn(ax, "pooled"), wanted)


def test_curves_of_models_differ_in_colour_and_marker_and_one_bin_is_seen(table):
    one = {"count": [9], "confidence": [0.95], "accuracy": [1.0], "accuracy_low": [0.7], "accuracy_high": [1.0]}
    ax = figures.plot_reliability_curves({**dict.fromkeys("abcd", one), "pooled": one})
    runs = ax.lines[1:]
    assert len({line.get_color() for line in runs}) == len({line.get_marker() for line in runs}) == 5
    assert all(line.get_linestyle() == "-" and line.get_marker() not in {"", "None"} for line in runs)
    assert ax.collections[0].get_segments()[0].tolist() == [[0.95, 0.7], [0.95, 1.0]]


def test_risk_is_drawn_against_coverage_and_the_threshold_is_marked_at_its_last_question():
    curve = risk_coverage([0.9, 0.8, 0.7, 0.2], [1, 1, 0, 0])
    ax = figures.plot_risk_coverage(curve, threshold=0.75)
    assert np.allclose(drawn(ax, "Sem1"), np.column_stack([curve.coverage, curve.risk]))
    assert ax.lines[1].get_xydata().tolist() == [[0.5, 0], [0.5, 0], [0, 0]]
    assert ax.texts[0].get_text() == "answer from 0.75"
    assert figures.plot_risk_coverage(curve, threshold=0.8).lines[1].get_xydata()[0].tolist() == [0.5, 0]
    assert not figures.plot_risk_coverage(curve, threshold=0.95).texts


def test_two_estimators_share_one_axes():
    curve = risk_coverage([0.9, 0.2], [1, 0])
    ax = figures.plot_risk_coverage(curve)
    assert figures.plot_risk_coverage(curve, ax=ax, estimator="sem2") is ax
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Sem1", "Sem2"]


def test_constants_are_those_of_the_theory_and_cross_at_the_root():
    ax = figures.plot_constants(tables.constants_table(points=61))
    first, second = drawn(ax, "Sem1 too high, J"), drawn(ax, "Sem2 too low, S")
    assert np.allclose(first[:, 1], jensen_bias(first[:, 0] / 2))
    assert np.allclose(second[:, 1], selection_bias(second[:, 0] / 2))
    assert ax.texts[0].get_text().strip() == "0.612"


def test_every_question_lies_in_the_region_of_its_regime_and_in_no_other():
    rng = np.random.default_rng(0)
    mass = rng.uniform(0.1, 1, 2000)
    margin = np.minimum(rng.uniform(0, 0.5, 2000), mass)
    sides = [regime(np.clip(margin + d, 0, mass), mass, 4.0, 30, design="as-run") for d in (-0.003, 0.003)]
    sure = (sides[0] == sides[1]) & (margin < mass - 0.003) & (margin > 0.003)
    places = np.column_stack([margin, mass])[sure]
    questions = {"margin": places[:5, 0], "top_two_mass": places[:5, 1]}
    ax = figures.plot_regimes(tables.regime_table(30, n_classes=4.0, design="as-run"), questions=questions)
    for region, name in zip(ax.collections, figures.theory_figures.REGIME_COLORS, strict=True):
        inside = region.get_paths()[0].contains_points(places)
        assert (inside == (sides[0][sure] == name)).all()
        assert inside.any()


def test_larger_dots_are_more_questions():
    questions = {"margin": [0.1, 0.1, 0.1, 0.5, np.nan], "top_two_mass": [0.8, 0.8, 0.8, 0.9, 1.0]}
    ax = figures.plot_regimes(tables.regime_table(50, n_classes=3), questions=questions)
    sizes = {tuple(place): line.get_markersize() for line in ax.lines[2:] for place in line.get_xydata()}
    assert set(sizes) == {(0.1, 0.8), (0.5, 0.9)}
    assert sizes[0.1, 0.8] > sizes[0.5, 0.9]


def test_margin_strata_without_numbers_leave_a_hole(simulated):
    table = margin_strata(simulated[1])
    ax = figures.plot_margin(table, boundaries=alignment(simulated[1]))
    for name, label in (("sem1", "Sem1"), ("sem2", "Sem2")):
        rows = table.filter(pl.col("estimator") == name)
        assert rows["ece"].null_count() > 0
        assert np.allclose(drawn(ax, label)[:, 1], rows["ece"].to_numpy(), equal_nan=True)
        assert np.allclose(drawn(ax, label)[:, 0], (np.arange(12) + 0.5) / 12)
    shares = [bar.get_height() for bar in ax.child_axes[0].patches]
    assert sum(shares) == pytest.approx(1)
    marked = [line.get_xdata()[0] for line in ax.lines if line.get_label().endswith(" ends")]
    assert marked == alignment(simulated[1])["margin"].to_list()


def test_sweeps_and_budgets_show_their_columns(simulated):
    some = simulated[1]
    table, spread = sweep(some, budgets=(10, 20, 40)), budget_spread(some, budgets=(10, 20))
    ax = figures.plot_sweep(table)
    assert np.allclose(drawn(ax, "Sem2"), table.select("n", "sem2").to_numpy(), equal_nan=True)
    assert np.isnan(drawn(ax, "Sem1")[2, 1])
    ax = figures.plot_sweep_ece(table)
    wanted = table.select("n", "ece_of_one_subsample_sem1").to_numpy()
    assert np.allclose(drawn(ax, "Sem1, one subsample"), wanted, equal_nan=True)
    ax = figures.plot_budget(spread)
    assert np.allclose(drawn(ax, "share with a low margin"), spread.select("n", "low_margin").to_numpy())
    wanted = spread.select("n", "sem1_within").to_numpy()
    assert np.allclose(drawn(ax, "Sem1, spread between subsamples"), wanted)
    assert np.allclose(drawn(ax, "Sem2, spread between questions"), spread.select("n", "sem2_between").to_numpy())


def ticks_of(ax):
    """The budgets that have a tick, and the labels that are written."""
    return ax.get_xticks().tolist(), [text for label in ax.get_xticklabels() if (text := label.get_text())]


def test_ticks_are_the_budgets_and_one_budget_shows_the_accuracy(simulated):
    some = simulated[1]
    for table, plot in (
        (sweep, figures.plot_sweep),
        (sweep, figures.plot_sweep_ece),
        (budget_spread, figures.plot_budget),
    ):
        for budgets in ((8,), (10, 12), (10, 20, 30)):
            assert ticks_of(plot(table(some, budgets=budgets))) == ([*budgets], [str(n) for n in budgets])
    ends = {f"{name}{end}": [0.1] * 4 for name in ("held_out_gap", "semx_ece") for end in ("", "_low", "_high")}
    ax = figures.plot_semx_budgets({"n": [2, 20, 50, 51], **ends})
    assert ticks_of(ax) == ([2, 20, 50, 51], ["2", "20", "51"])  # 50 and 51 would meet
    ax = figures.plot_sweep(sweep(some, budgets=(8,)))
    low, high = ax.get_ylim()
    accuracy = drawn(ax, "accuracy")
    assert accuracy[:, 0].tolist() == [0, 1]  # the whole width
    assert accuracy[0, 1] == pytest.approx(some.correct.mean())
    assert low < accuracy[0, 1] < high


def test_the_strip_of_semx_stands_over_its_points_and_adds_up():
    """Next to nothing is not written; 0.09 + 0.65 + 4.55 + 18.71 are 24, in whole numbers too."""
    columns = {name: [0.5] * 5 for name in ("accuracy", "accuracy_low", "accuracy_high")}
    table = {"questions": [0.09, 0.65, 4.55, 8.0, 10.71], "held_out": [0.15, 0.38, 0.48, 0.52, 0.5]}
    strip = figures.plot_semx(table | columns).child_axes[0]
    assert [(text.get_position()[0], text.get_text()) for text in strip.texts] == [
        (pytest.approx(0.35), "1"),
        (pytest.approx(0.45), "4"),
        (pytest.approx(0.55), "19"),
    ]


def test_the_rate_tells_its_slope_and_its_interval(simulated):
    study, some = simulated
    pmf = study.population.pmf
    given = {"budgets": (10, 20, 30), "pmf": pmf, "margin": np.ptp(np.sort(pmf, axis=1)[:, -2:], axis=1)}
    table, slope = rate(some, **given), rate_slope(some, **given)
    ax = figures.plot_rate(table, slope=slope)
    run, exact, half = (text.get_text() for text in ax.get_legend().get_texts())
    first = slope.row(0, named=True)
    wanted = f"this run, slope {first['slope']:.2f} [{first['low']:.2f}, {first['high']:.2f}]"
    assert run == wanted.replace("-", "−")
    assert exact.startswith("exact expectation, slope −0.")
    assert half == "slope −0.5"
    assert np.allclose(drawn(ax, run), table.select("n", "gap").to_numpy())
    line = np.log(drawn(ax, half))
    assert np.allclose(np.diff(line[:, 1]) / np.diff(line[:, 0]), -0.5)


def test_a_rate_without_numbers_says_so():
    few = pool([[0, 1, 0, 1]] * 3, [1, 0, 1])
    ax = figures.plot_rate(rate(few, budgets=(2, 4)), slope=rate_slope(few, budgets=(2, 4)))
    assert [text.get_text() for text in ax.texts] == ["too few\nlow-margin\nquestions"]
    ax.figure.canvas.draw()


def test_predictions_lie_where_the_table_says(simulated):
    table = alignment(simulated[1])
    ax = figures.plot_predictions(table)
    assert np.allclose(drawn(ax, "given the pool"), table.select("exact", "given_pool").to_numpy())
    assert ax.get_xlim() == ax.get_ylim()


def plots(simulated, table):
    some = simulated[1]
    yield figures.plot_reliability(table)
    yield figures.plot_reliability_curves({"pooled": table})
    yield figures.plot_reliability_together({"sem1": table, "sem2": table})
    yield figures.plot_regime_map([0.2, 1.0, 5.0], [4, 4, 1], crossover=0.53)
    yield figures.plot_risk_coverage(risk_coverage(some.sem1, some.correct), threshold=0.5)
    yield figures.plot_constants(tables.constants_table())
    yield figures.plot_regimes(tables.regime_table(30, n_classes=4), questions={"margin": [0.1], "top_two_mass": [0.9]})
    yield figures.plot_margin(margin_strata(some), boundaries=alignment(some))
    yield figures.plot_sweep(sweep(some, budgets=(10, 20)))
    yield figures.plot_sweep_ece(sweep(some, budgets=(10, 20)))
    yield figures.plot_budget(budget_spread(some, budgets=(10, 20)))
    yield figures.plot_rate(rate(some, budgets=(10, 20)))
    yield figures.plot_predictions(alignment(some))
    held_out = semx_table(semx([[0, 0, 1, 0, 2], [0, 1, 1, 1, 1]] * 20, [[1, 0, 0], [0, 1]] * 20))._asdict()
    yield figures.plot_semx(held_out | {"questions": 40 * held_out["chance"]})
    ends = ("held_out_gap", "held_out_gap_low", "held_out_gap_high", "semx_ece", "semx_ece_low", "semx_ece_high")
    yield figures.plot_right_and_wrong(table)
    row = {"estimator": "sem1", "name": "Sem1", "value": 0.8, "low": 0.7, "high": 0.9, "gap": 0.2, "text": "+0.20"}
    yield figures.plot_overview([row], accuracy=(0.6, 0.5, 0.7))
    yield figures.plot_semx_budgets({"n": [2, 5]} | {end: [0.1, 0.2] for end in ends})


def test_every_figure_has_labelled_axes_and_legible_text_at_column_width(simulated, table):
    for ax in plots(simulated, table):
        assert ax.figure.get_size_inches()[0] <= 3.5
        assert ax.get_xlabel()
        named = any(label.get_text().strip("0123456789.−") for label in ax.get_yticklabels())
        assert ax.get_ylabel() or named  # rows with names say themselves what they are
        texts = [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label]
        texts += ax.get_legend().get_texts() if ax.get_legend() else []
        assert min(text.get_size() for text in texts) >= 6


def test_every_plot_function_is_among_those():
    functions = [name for name in figures.__all__ if name.startswith("plot_")]
    source = inspect.getsource(plots)
    assert all(f"figures.{name}(" in source for name in functions)
    assert len(functions) == source.count("yield")


@pytest.mark.slow
def test_every_figure_embeds_its_fonts(simulated, table, tmp_path):
    program = shutil.which("pdffonts")
    if program is None:
        absent("pdffonts")
    for i, ax in enumerate(plots(simulated, table)):
        path = figures.save(ax.figure, tmp_path / f"{i}.pdf")
        assert_embedded(program, path)


DOCS = Path(__file__).parents[2] / "docs"


def test_the_gallery_shows_the_figures_that_are_there_and_they_are_small():
    shown = re.findall(r"\(figures/([a-z-]+)\.svg\)", (DOCS / "figures.md").read_text())
    files = {path.stem: path for path in (DOCS / "figures").glob("*.svg")}
    assert sorted(shown) == sorted(files)
    assert all(path.stat().st_size < 70_000 for path in files.values())
    assert all("<text" not in path.read_text() for path in files.values())


@pytest.mark.slow
def test_the_gallery_can_be_drawn_again():
    """Of fewer questions than on the page, which takes a tenth of the time."""
    script = runpy.run_path(str(DOCS / "make_figures.py"))
    assert sorted(script["draw"](300)) == sorted(path.stem for path in (DOCS / "figures").glob("*.svg"))


def test_a_rate_without_a_gap_says_so_instead_of_failing():
    ax = figures.plot_rate(rate(pool([[0, 0, 0, 0]] * 40, [1] * 40), budgets=[2, 4]))
    assert [text.get_text() for text in ax.texts] == ["too few\nlow-margin\nquestions"]
    ax.figure.canvas.draw()


def test_one_number_is_rounded_alike_in_tables_sentences_and_figures():
    """Halves go away from 0 in every renderer: .7875, and .285, which is a little less as a float."""
    frame = pl.DataFrame({"ece": [0.7875, 0.285]})
    for digits, first, second in ((2, "0.79", "0.29"), (3, "0.788", "0.285")):
        assert tables.cells(frame, digits=digits)[1] == [[first], [second]]
        for written in (tables.to_markdown(frame, digits=digits), tables.to_latex(frame, digits=digits)):
            assert re.findall(r"0\.\d+", written) == [first, second]
    said = tables.percent_text(0.7875), tables.end_text(0.285), tables.end_text(0.7875, 3)
    assert said == ("79 %", "0.29", "0.788")
    one = {"count": [8], "confidence": [0.7875], "accuracy": [0.0], "accuracy_low": [0.0], "accuracy_high": [0.1]}
    assert [text.get_text() for text in figures.plot_reliability_together({"sem1": one}).texts] == ["ECE", ".79"]
    ax = figures.plot_risk_coverage(risk_coverage([0.9, 0.2], [1, 0]), threshold=0.285)
    assert ax.texts[0].get_text() == "answer from 0.29"
