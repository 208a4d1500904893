"""All that a paper shows of a study, in one folder: every run is read once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from semece.errors import SemeceError
from semece.runs import Names, Run, escaped_latex, plural, to_csv, to_markdown, write
from semece.show import figures
from semece.show.figures.run_figures import FIGURES, on_one_panel
from semece.show.tables.captions import NOTES, PAPER_TABLES, PaperTable, for_latex, with_values
from semece.show.tables.paper_tables import (
    POOLED,
    TABLES,
    Arm,
    bootstrap_rows,
    calibration_rows,
    made_once,
    not_pooled,
    stacked,
)
from semece.show.tables.study_grid import groups_of_views
from semece.show.tables.typeset import ACROSS, COLUMN, PAGE, floats
from semece.stats import estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from semece.runs import QuestionView
    from semece.show.tables.paper_tables import PooledQuestions

    Rows = Callable[[PooledQuestions], pl.DataFrame]
    Member = tuple[Arm, tuple[QuestionView, ...]]

OURS, THEIRS = "ours", "paper"
"""Folders: our conventions, and the paper's own."""

CONVENTIONS = {
    OURS: "Sem2 exact over all splits; a missing stated confidence is left out; tied classes share the "
    "correctness; bins "
    "closed on the left; a low margin is below 1/sqrt(n).",
    THEIRS: "Sem2 from ten random halves; a missing stated confidence counts as 1; of tied classes the earliest "
    "counts; "
    "the bins of the authors' code (np.digitize on np.linspace); a low margin is below sqrt(log K / n); "
    "the predicted gap is the one for the same n.",
}
"""What the numbers of a folder rest on."""


class StudyRuns(NamedTuple):
    """The runs of a study, read.

    Parameters
    ----------
    ours, theirs : tuple of (Arm, tuple of QuestionView)
        Each run's questions without their responses, by our conventions and by the paper's.
    missing : tuple of str
        Runs that are not there or have no complete question, with the reason.
    """

    ours: tuple[Member, ...]
    theirs: tuple[Member, ...]
    missing: tuple[str, ...]


def read_runs(cells: Sequence[tuple[Names, Path]]) -> StudyRuns:
    """Read runs, each once, and keep what tables and figures need.

    Parameters
    ----------
    cells : sequence of (Names, Path)
        What to call each run, and its file.

    Returns
    -------
    StudyRuns

    Raises
    ------
    SemeceError
        No run has a complete question.
    """
    ours, theirs, missing = [], [], []
    for names, path in cells:
        if not path.exists():
            missing.append(f"{names.title}: there is no {path}; 'semece study' makes it")
            continue
        with Run(path) as run:
            views = run.question_views()
            arm = Arm(names, run.answered_by, run.n, run.correction)
        if not any(view.estimate.status == "complete" for view in views):
            missing.append(f"{names.title}: no question of {path} is complete; 'semece summary' says why")
            continue
        ours.append((arm, tuple(replace(view, responses=()) for view in views)))
        theirs.append((arm, by_the_paper(views)))
    if not ours:
        raise SemeceError(f"no run of the study can be shown: {missing[0]}")
    return StudyRuns(tuple(ours), tuple(theirs), tuple(missing))


def by_the_paper(views: Sequence[QuestionView]) -> tuple[QuestionView, ...]:
    """Give a run's questions with the numbers that the paper would have, without the responses."""
    usable = [[response.confidence for response in view.responses if response.usable] for view in views]
    stated = any(confidence is not None for some in usable for confidence in some)
    places = [place for place, view in enumerate(views) if view.estimate.status == "complete"]
    labels = [part.labels for place in places if (part := views[place].partition)]
    correct = [
        [_share(views[place], label) for label in range(max(some) + 1)]
        for place, some in zip(places, labels, strict=True)
    ]
    confidences = [usable[place] for place in places] if stated else None
    table = estimate(labels, correct, confidences, missing="one", method="splits", ties="earliest")
    numbers = dict(zip(places, table.select("sem2", "verbalized", "correct").iter_rows(named=True), strict=True))
    found = []
    for place, view in enumerate(views):
        changed = {name: value for name, value in numbers.get(place, {}).items() if value is not None}
        found.append(replace(view, responses=(), estimate=replace(view.estimate, **changed)))
    return tuple(found)


def _share(view: QuestionView, label: int) -> float | None:
    """Give the correctness of a class; None if it is not graded."""
    verdict = view.grades.get(label)
    return None if verdict is None else float(verdict == "correct")


def common(members: Sequence[Member]) -> list[Member]:
    """Keep the questions that are complete in all runs of their dataset; nothing of a dataset with none, or one run."""
    kept = []
    for _, some in members_of(members):
        ids = set.intersection(
            *({v.question.id for v in views if v.estimate.status == "complete"} for _, views in some)
        )
        if len(some) > 1 and ids:
            kept += [(arm, tuple(view for view in views if view.question.id in ids)) for arm, views in some]
    return kept


def common_groups(members: Sequence[Member], every: Sequence[PooledQuestions]) -> list[PooledQuestions]:
    """Group the common questions of each dataset: as they are grouped already where no run has others."""
    whole = dict(members_of(members))
    found: list[PooledQuestions] = []
    for dataset, some in members_of(common(members)):
        same = [len(views) for _, views in some] == [len(views) for _, views in whole[dataset]]
        found += [group for group in every if group.dataset == dataset] if same else groups_of_views(some)
    return found


def members_of(members: Sequence[Member]) -> Iterator[tuple[str, list[Member]]]:
    """Give the runs of each dataset."""
    for dataset in dict.fromkeys(arm.names.dataset for arm, _ in members):
        yield dataset, [member for member in members if member[0].names.dataset == dataset]


@made_once
def theirs_ece(group: PooledQuestions) -> pl.DataFrame:
    """Give the row of the paper's Table 1 in the bins of the authors' code."""
    return calibration_rows(group, closed="linspace-digitize")


def theirs_bootstrap(group: PooledQuestions) -> pl.DataFrame:
    """Give the paired differences, low margins being those below sqrt(log K / n)."""
    pool = group.pool
    low = pool.margin < np.sqrt(np.log(pool.n_classes) / pool.n_responses)
    return bootstrap_rows(group, low_margin=low, closed="linspace-digitize")


def theirs_alignment(group: PooledQuestions) -> pl.DataFrame:
    """Give the paper's columns: K, boundary, questions, gap, predicted gap, ratio."""
    names = ("boundary", "n_classes", "margin", "questions", "gap", "same_n", "ratio_same_n", "reason")
    return TABLES["alignment"](group).select(names)


THEIR_TABLES: dict[str, PaperTable] = {
    name: PAPER_TABLES[name]._replace(rows=rows)
    for name, rows in (
        ("ece", theirs_ece),
        ("ece-common", theirs_ece),
        ("bootstrap", theirs_bootstrap),
        ("alignment", theirs_alignment),
    )
}
"""The tables in which the paper's conventions make a difference."""

FIGURE_CAPTIONS = {
    "reliability": "Accuracy against confidence, both in [0, 1]: on the diagonal a confidence is calibrated, "
    "below it too "
    "high.",
    "reliability-pooled": "Accuracy against confidence of all models of a dataset, both in [0, 1], with the ECE "
    "of each "
    "confidence. Bars are 95 % intervals of a bin's accuracy.",
    "semx": "Accuracy against held-out frequency, both in [0, 1]: on the diagonal the model knows its chances. "
    "Bars are "
    "95 % intervals; the strip shows the number of questions in each tenth.",
    "semx-budget": "Held-out gap and SemX-ECE (shares) of fewer answers per question, with 95 % intervals.",
    "risk-coverage": "Share of wrong answers if only so large a share of the questions is answered, the most "
    "confident ones.",
    "margin": "Distance of mean confidence and accuracy (shares) by the margin between the two most frequent "
    "answers; the "
    "strip shows the number of questions.",
    "regime": "Margin and mass of the two most frequent answers (shares) of each question; the area of a dot is "
    "the number "
    "of questions.",
    "regime-map": "Standardised margin m (in standard errors) and number of classes K of each question of a "
    "dataset, all "
    "models pooled; the area of a dot is the number of questions. The solid line is where the biases of Sem1 "
    "and Sem2 are "
    "equal, the dashed one sqrt(log K).",
    "sweep": "Expected mean confidences of n answers per question, and the accuracy (shares).",
    "sweep-ece": "Calibration errors (shares) of n answers per question.",
    "rate": "Sem1 minus Sem2 of the questions with a low margin (shares) against the answers n, both logarithmic.",
    "budget": "Spread of the confidences (standard deviations of shares), and the share of questions with a low "
    "margin, of n "
    "answers per question.",
    "gaps": "Left: held-out frequency minus accuracy. Right: calibration errors (ECE). Shares, with 95 % intervals.",
    "predictions": "Predicted against exact mean of Sem1 minus Sem2 at the boundaries of the regimes (shares).",
}
"""What each figure shows, with its units; how many questions and answers it rests on is added."""


def figure_caption(name: str, every: Sequence[PooledQuestions]) -> str:
    """Say what a figure of runs shows; ``reliability`` is drawn differently of one run, of a few, and of many."""
    return f"{FIGURE_CAPTIONS[name]} {_reliability_words(every) if name == 'reliability' else ''}".rstrip()


def _reliability_words(every: Sequence[PooledQuestions]) -> str:
    """Say what the marks of the figure ``reliability`` are."""
    shown = on_one_panel(every)
    if not shown:
        return "The numbers above a panel are ECEs, in the order of the legend. Bars are 95 % intervals."
    if len(shown) == 1:
        return "Bars are 95 % intervals; the strip shows the number of questions."
    pooled = "; the heavy line is all runs pooled, its bars are 95 % intervals" if shown[-1].model == POOLED else ""
    return f"A run has one colour and one marker{pooled}."


def write_paper(study: StudyRuns, folder: Path, *, title: str) -> list[str]:
    """Write tables and figures of a study into a folder, with a README.

    Parameters
    ----------
    study : StudyRuns
        From :func:`read_runs`.
    folder : Path
        Made if it is not there; files of the same names are replaced.
    title : str
        The study's name.

    Returns
    -------
    list of str
        What cannot be shown, one sentence each.

    Raises
    ------
    SemeceError
        A file cannot be written.
    """
    lines, troubles = [], list(study.missing)
    troubles += not_pooled([arm for arm, _ in study.ours]).values()
    for conventions, members, made in ((OURS, study.ours, PAPER_TABLES), (THEIRS, study.theirs, THEIR_TABLES)):
        every = list(groups_of_views(members))
        shared = common_groups(members, every)
        size = size_text(every)
        lines += [f"## {HEADINGS[conventions]}", "", CONVENTIONS[conventions], "", "| file | what |", "| :-- | :-- |"]
        for name, table in made.items():
            some = shared if name.endswith("-common") else every
            found = tabulated(table.rows, some, name, troubles)
            if found is not None and found.height:
                caption = f"{table.caption} {size_text(some)} {NOTES}"
                write_table(found, table, folder / conventions / "tables", name=name, caption=caption)
                lines.append(f"| `{conventions}/tables/{name}` | {caption} |")
        for name in FIGURES if conventions == OURS else THEIR_FIGURES:
            caption = f"{figure_caption(name, every)} {size}"
            if width := drawn(every, name, folder / conventions / "figures", troubles):
                lines.append(f"| `{conventions}/figures/{name}` | {caption} |")
                text = figure_float(name, caption, width=width)
                write(text.encode(), folder / conventions / "figures" / f"{name}.tex")
        lines.append("")
    write(readme(title, lines, troubles).encode(), folder / "README.md")
    return troubles


HEADINGS = {OURS: "Our conventions: `ours`", THEIRS: "The paper's conventions: `paper`"}

THEIR_FIGURES = ("reliability", "reliability-pooled")
"""Figures in which the paper's conventions make a difference."""


def size_text(every: Sequence[PooledQuestions]) -> str:
    """Say how many runs, questions and answers numbers rest on."""
    single = [group for group in every if group.model != POOLED]
    answers = " or ".join(map(str, sorted({group.n for group in single})))
    questions = sum(len(group.pool.correct) for group in single)
    runs, graded = plural(len(single), "run"), plural(questions, "graded question")
    return f"{runs}, {graded} in all, n = {answers} answers per question."


def tabulated(rows: Rows, every: Sequence[PooledQuestions], name: str, troubles: list[str]) -> pl.DataFrame | None:
    """Make a table of the groups that have one; say of the others why not."""
    parts = []
    for group in every:
        try:
            parts.append(stacked(rows, [group]))
        except SemeceError as error:
            troubles.append(f"table {name}, {group.dataset} · {group.model}: {error}")
    return pl.concat(parts, how="diagonal_relaxed") if parts else None


def write_table(table: pl.DataFrame, how: PaperTable, folder: Path, *, name: str, caption: str) -> None:
    """Write a table as CSV, Markdown, and LaTeX for papers of one column and of two."""
    narrow = for_latex(table, how)
    files = {f"{name}.csv": to_csv(table), f"{name}.md": f"{caption}\n\n{to_markdown(with_values(table), digits=3)}"}
    for columns, places in (("one-column", (PAGE,)), ("two-columns", (COLUMN, ACROSS))):
        files[f"{columns}/{name}.tex"] = floats(narrow, caption=caption, name=name, places=places)
    for file, text in files.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        write(text.encode(), folder / file)


def figure_float(name: str, caption: str, *, width: float) -> str:
    r"""Write the float of a figure that is so many inches wide, across both columns where it is wider than one.

    Examples
    --------
    >>> print(figure_float("rate", "A gap.", width=3.35), end="")
    \begin{figure}[tp]
    \centering
    \includegraphics[width=\linewidth]{rate}
    \caption{A gap.}\label{fig:rate}
    \end{figure}
    """
    environment = "figure*" if width > figures.COLUMN_WIDTH else "figure"
    lines = [rf"\begin{{{environment}}}[tp]", r"\centering", rf"\includegraphics[width=\linewidth]{{{name}}}"]
    lines += [rf"\caption{{{escaped_latex(caption)}}}\label{{fig:{name}}}", rf"\end{{{environment}}}", ""]
    return "\n".join(lines)


def drawn(every: Sequence[PooledQuestions], name: str, folder: Path, troubles: list[str]) -> float:
    """Draw a figure in all formats and give its width in inches; 0 if it cannot be drawn, and say why."""
    try:
        fig = FIGURES[name](every)
    except SemeceError as error:
        troubles.append(f"figure {name}: {error}")
        return 0.0
    folder.mkdir(parents=True, exist_ok=True)
    if engine := fig.get_layout_engine():
        engine.execute(fig)
    fig.set_layout_engine(None)  # it is laid out: once for all files
    for ending in ("pdf", "svg", "png"):
        figures.save(fig, folder / f"{name}.{ending}")
    return float(fig.get_size_inches()[0])


README_HEAD = r"""Written by `semece paper`. Tables are `NAME.csv` (every column and digit), `NAME.md`, `NAME.tex`: in
`one-column` 5.5 inches wide, in `two-columns` 3.03 inches (`table`) or 6.3 inches (`table*`). They are floats with
caption and label `tab:NAME`; `\input` them. They need `\usepackage{booktabs}`. Figures are `NAME.pdf`, `NAME.svg`
and `NAME.png`; `NAME.tex` is a float with caption and label `fig:NAME` (`figure*` if it is wider than one column).
To `\input` it, load `\usepackage{graphicx}` and say where the figures are, with a slash at the end:
`\graphicspath{{paper/ours/figures/}}`.
"""


def readme(title: str, lines: Sequence[str], troubles: Sequence[str]) -> str:
    """Say what is what."""
    said = ["## What is missing", "", *(f"* {sentence}" for sentence in troubles), ""] if troubles else []
    return "\n".join([f"# Tables and figures of the study {title}", "", README_HEAD, *lines, *said])
