"""Figures: what is drawn is what the table says, and files look alike everywhere."""

import shutil
import subprocess

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

from semece import figures
from semece.calibration import reliability_table
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
    assert len({*figures.COLORS.values()}) == len({*figures.MARKERS.values()}) == 3
    for name in figures.COLORS:
        line = figures.plot_reliability(table, estimator=name).lines[1]
        assert (line.get_color(), line.get_marker()) == (figures.COLORS[name], figures.MARKERS[name])


def linear(color):
    rgb = np.array(mpl.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def luminance(color):
    return linear(color) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("color", [*figures.COLORS.values(), figures.INK, figures.MUTED])
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
def test_estimators_are_told_apart_without_full_colour_vision(matrix):
    shown = [lab(color, matrix) for color in figures.COLORS.values()]
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


def test_pdf_embeds_truetype_fonts(table, tmp_path):
    program = shutil.which("pdffonts")
    if program is None:
        absent("pdffonts")
    path = figures.save(figures.plot_reliability(table).figure, tmp_path / "a.pdf")
    fonts = subprocess.run([program, str(path)], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert fonts
    assert all("TrueType" in font and font.split("Identity-H")[1].split()[0] == "yes" for font in fonts)


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
