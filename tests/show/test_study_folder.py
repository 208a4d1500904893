"""``semece paper``: all tables and figures of a study, and LaTeX that fits."""

import json
import re
import shutil
import subprocess
from collections import Counter

import numpy as np
import polars as pl
import pytest

from semece.runs import Names, Run
from semece.runs.scored_samples import SamplesReading, score
from semece.show.figures.run_figures import FIGURES
from semece.show.paper import OURS, THEIR_FIGURES, THEIR_TABLES, THEIRS, figure_caption, figure_float, read_runs
from semece.show.tables.captions import PAPER_TABLES, fitted
from semece.show.tables.study_grid import groups_of_views
from semece.show.tables.typeset import ACROSS, COLUMN, PAGE, floats
from semece.stats.calibration.binned_errors import ece
from semece.stats.estimators import estimate

MODELS, DATASETS = ("a-model", "another-model"), ("nq", "hard")


def samples(rng, number):
    """Questions with classes, grades and stated confidences of which some are missing."""
    for i in range(number):
        labels = rng.choice(4, size=10, p=rng.dirichlet([0.6] * 4)).tolist()
        labels = [list(dict.fromkeys(labels)).index(label) for label in labels]
        grades = {str(k): "correct" if k == 0 and rng.random() < 0.6 else "incorrect" for k in set(labels)}
        confidences = [None if rng.random() < 0.2 else 0.7 for _ in labels]
        row = {"id": f"q{i}", "question": f"Question {i}?", "references": ["a"], "labels": labels, "grades": grades}
        yield row | {"answers": [f"a{k}" for k in labels], "confidences": confidences}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study of two models and two datasets whose runs are there, but for one."""
    folder = tmp_path_factory.mktemp("study")
    lines = ['study = { name = "small", n = 10, output = "OUT" }', 'judge = { judge = "rules" }']
    lines.append("models = [" + ", ".join(f'{{ model = "fake/{m}", name = "{m}" }}' for m in MODELS) + "]")
    lines.append("datasets = [" + ", ".join(f'{{ dataset = "{d}" }}' for d in DATASETS) + "]")
    (folder / "study.toml").write_text("\n".join(lines).replace("OUT", str(folder)), encoding="utf-8")
    for place, (dataset, model) in enumerate((d, m) for d in DATASETS for m in MODELS):
        if place < 3:
            rows = list(samples(np.random.default_rng(place), 36))[place:]
            source = folder / "samples.jsonl"
            source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            reading = SamplesReading(name=model, dataset=dataset)
            score([source], folder / f"{dataset}--{model}.db", reading=reading)
    return folder


@pytest.fixture(scope="module")
def read(study):
    return read_runs([(Names(d, m), study / f"{d}--{m}.db") for d in DATASETS for m in MODELS])


def test_the_papers_conventions_are_those_of_the_estimators(read, study):
    """Ten halves, a missing confidence is 1, the earliest of tied classes: as `estimate` has them."""
    with Run(study / "nq--a-model.db") as run:
        views = run.question_views()
    labels = [view.partition.labels for view in views]
    grades = [
        [float(view.grades[k] == "correct") for k in range(max(own) + 1)]
        for view, own in zip(views, labels, strict=True)
    ]
    stated = [[response.confidence for response in view.responses] for view in views]
    wanted = estimate(labels, grades, stated, method="splits", missing="one", ties="earliest")
    ours, theirs = ([view.estimate for view in members[0][1]] for members in (read.ours, read.theirs))
    for name in ("sem2", "verbalized", "correct"):
        assert [getattr(one, name) for one in theirs] == pytest.approx(wanted[name].to_list())
    assert [one.verbalized for one in ours] != [one.verbalized for one in theirs]
    assert not any(view.responses for _, views in (*read.ours, *read.theirs) for view in views)


@pytest.mark.slow
def test_a_folder_holds_every_table_and_figure_and_says_what_is_missing(semece, study, tmp_path):
    """A run that is not there is a sentence, and the rest is written; both conventions, and the common questions."""
    out = tmp_path / "out"
    code, printed, err = semece("paper", study / "study.toml", "-o", out, "--json")
    assert code == 0, err
    assert json.loads(printed)["folder"] == str(out)
    assert "hard · another-model: there is no " in err
    readme = (out / "README.md").read_text(encoding="utf-8")
    for conventions, tables, figures in ((OURS, PAPER_TABLES, FIGURES), (THEIRS, THEIR_TABLES, THEIR_FIGURES)):
        for name in tables:
            files = (f"{name}.csv", f"{name}.md", f"one-column/{name}.tex", f"two-columns/{name}.tex")
            assert all((out / conventions / "tables" / file).stat().st_size for file in files), name
            assert f"`{conventions}/tables/{name}`" in readme
        for name in figures:
            there = [out / conventions / "figures" / f"{name}.{ending}" for ending in ("pdf", "svg", "png", "tex")]
            assert all(file.stat().st_size for file in there), name
            assert re.match(r"\\begin\{figure\*?\}\[tp\]\n", there[-1].read_text(encoding="utf-8")), name
    assert r"\usepackage{graphicx}" in readme
    assert r"\graphicspath{{" in readme
    table = pl.read_csv(out / THEIRS / "tables" / "ece.csv")
    assert table["model"].to_list() == ["a-model", "another-model", "pooled", "a-model"]
    views = read_runs([(Names("nq", "a-model"), study / "nq--a-model.db")]).theirs[0][1]
    c, a = (np.array([getattr(view.estimate, name) for view in views]) for name in ("sem2", "correct"))
    assert table["sem2_ece"][0] == pytest.approx(ece(c, a, closed="linspace-digitize"))
    shared = pl.read_csv(out / OURS / "tables" / "ece-common.csv")
    assert shared.select("dataset", "model", "questions").rows() == [
        ("nq", "a-model", 35),  # the other model lacks the first question
        ("nq", "another-model", 35),
        ("nq", "pooled", 70),
    ]


def test_the_caption_of_reliability_says_what_is_drawn(read):
    """ECEs above the panels of many runs only; a heavy line only where runs are pooled; a strip of one run only."""
    every = list(groups_of_views(read.ours))
    (nq, hard) = ([group for group in every if group.dataset == dataset] for dataset in DATASETS)
    many = [nq[0]._replace(model=f"m{i}") for i in range(5)]
    for groups, said in ((hard, "strip"), (every, "marker"), (nq, "heavy"), (many, "ECEs")):
        caption = figure_caption("reliability", groups)
        fig = FIGURES["reliability"](groups)
        lines = [line.get_label() for ax in fig.axes for line in ax.lines]
        assert ("strip" in caption) == any(ax.child_axes for ax in fig.axes) == (said == "strip")
        assert ("heavy" in caption) == ("pooled" in lines) == (said == "heavy")
        assert ("ECEs" in caption) == any(text.get_text() == "ECE" for ax in fig.axes for text in ax.texts)
        assert ("ECEs" in caption) == (said == "ECEs")


def test_a_figure_is_a_float_across_both_columns_if_it_is_wide():
    narrow, wide = (figure_float("rate", "50 % & more.", width=width) for width in (3.35, 6.7))
    assert wide == narrow.replace("{figure}", "{figure*}")
    inside = r"\includegraphics[width=\linewidth]{rate}" "\n" r"\caption{50 \% \& more.}\label{fig:rate}"
    assert narrow == rf"\begin{{figure}}[tp]{chr(10)}\centering{chr(10)}{inside}{chr(10)}\end{{figure}}{chr(10)}"


def test_each_run_is_read_once(study, monkeypatch):
    """Tables and figures of both conventions come from one reading."""
    from semece.runs.question_views import ViewReader

    count = Counter()
    whole = ViewReader.all

    def counted(self):
        count["read"] += 1
        return whole(self)

    monkeypatch.setattr(ViewReader, "all", counted)
    read_runs([(Names(d, m), study / f"{d}--{m}.db") for d in DATASETS for m in MODELS])
    assert count == {"read": 3}


def wide_table(runs=15):
    """A table of many runs with a long name that has no place to break it."""
    names = [f"provider/model-{i}-20251101" if i else "m" * 60 for i in range(runs)]
    numbers = {f"{name}_ece{end}": [-0.123] * runs for name in ("ver", "sem1", "sem2") for end in ("", "_low", "_high")}
    numbers |= {f"long_heading_of_a_column_{i}": [1234567.891] * runs for i in range(9)}
    return pl.DataFrame({"dataset": ["simple & hard_qa"] * runs, "model": names, **numbers})


def compiled(tmp_path, tables, *, two):
    """What pdfLaTeX says of floats in one column of 5.5 inches, or two of 3.03."""
    geometry = "textwidth=6.3in,columnsep=0.24in" if two else "textwidth=5.5in"
    text = rf"\documentclass[10pt{',twocolumn' if two else ''}]{{article}}"
    text += rf"\usepackage[{geometry},textheight=9in]{{geometry}}"
    body = "\n\\clearpage\n".join(tables)
    text += rf"\usepackage{{booktabs}}\begin{{document}}{body}\end{{document}}"
    (tmp_path / "t.tex").write_text(text, encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "t.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    log = (tmp_path / "t.log").read_text(encoding="utf-8", errors="replace")
    return made.returncode, re.findall(r"Overfull.*|Float too large.*|LaTeX Error.*", log)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("two", [True, False])
def test_tables_fit_the_page(read, tmp_path, two):
    """No box is overfull and no float too large: wide, long, with names that nothing can break."""
    places = (COLUMN, ACROSS) if two else (PAGE,)
    long = pl.concat([wide_table(40).with_columns(n=pl.lit(n)) for n in range(3)])
    tables = [
        floats(table, caption="A caption & more.", name=f"t{i}", places=places)
        for i, table in enumerate((wide_table(), long))
    ]
    assert compiled(tmp_path, tables, two=two) == (0, [])


def test_a_table_that_is_too_wide_is_seen(tmp_path):
    """The measure notices a table that does not fit."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    text = floats(wide_table(3), caption="x", name="x", places=(PAGE._replace(width=9.0),))
    assert compiled(tmp_path, [text], two=False)[1]


def test_every_part_of_a_table_has_its_rows_and_its_first_columns():
    table = wide_table()
    text = floats(table, caption="x", name="x", places=(PAGE,))
    parts = text.count(r"\begin{tabular}")
    assert parts > 1
    assert text.count("simple \\& hard\\_qa") == parts
    assert text.count(r"\label{tab:x}") == 1
    assert text.count("1,234,567") + text.count("1234567.891") == 9 * 15


def test_a_table_of_one_run_is_written_for_a_width(semece, study):
    code, out, _ = semece("table", "ece", study / "nq--a-model.db", "-f", "latex", "--width", "3.03")
    assert (code, out.startswith("% \\usepackage{booktabs}\n\\begin{table}[tp]")) == (0, True)
    wide = fitted("ece", pl.DataFrame({"dataset": ["d"], "model": ["m"], "accuracy": [0.5]}), width=6.3)
    assert r"\begin{table*}" in wide
