"""What the tables of a paper show, in a sentence each, and what a printed page has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semece.show.tables.paper_tables import BUDGET_TABLES, TABLES
from semece.show.tables.typeset import FloatPlace, floats

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from semece.show.tables.paper_tables import PooledQuestions

    Rows = Callable[[PooledQuestions], pl.DataFrame]


class PaperTable(NamedTuple):
    """A table of the folder.

    Parameters
    ----------
    rows : callable
        Its rows of one group.
    caption : str
        What it shows, with its units.
    dropped : tuple of str
        Columns that LaTeX leaves out; Markdown and CSV have them.
    pivot : str
        A column of numbers that stand side by side in LaTeX, a column for each estimator.
    """

    rows: Rows
    caption: str
    dropped: tuple[str, ...] = ()
    pivot: str = ""


def intervals_of(*names: str) -> tuple[str, ...]:
    """Name the columns of some numbers' intervals."""
    return tuple(f"{name}{end}" for name in names for end in ("_low", "_high"))


SCORED = ("ece", "smooth_ece", "ece_sweep", "brier", "auroc", "aurc", "recalibrated_ece", "recalibrated_brier")

BOLD = "In LaTeX the least ECE of a row is bold and the second underlined; the intervals say whether they differ."

PAPER_TABLES: dict[str, PaperTable] = {
    "ece": PaperTable(
        TABLES["ece"],
        f"Accuracy, held-out gap and calibration errors (ECE), as shares in [0, 1]. {BOLD}",
        ("audit", "corrected"),
    ),
    "ece-common": PaperTable(
        TABLES["ece"],
        f"Accuracy, held-out gap and calibration errors (ECE) on the questions that all models answered. {BOLD}",
        ("audit", "corrected"),
    ),
    "semx": PaperTable(
        TABLES["semx"],
        "SemX by bin: held-out frequency, accuracy and their difference. N is how many questions the halves that "
        "choose put into the bin, on average.",
    ),
    "semx-budget": PaperTable(BUDGET_TABLES["semx"], "Held-out gap and SemX-ECE of n answers per question."),
    "bootstrap": PaperTable(
        TABLES["bootstrap"],
        "Sem1 minus Sem2, of all questions and of those with a low margin. In LaTeX a difference is bold if its "
        "interval leaves out 0.",
        ("note", "low_margin_note"),
    ),
    "baselines": PaperTable(
        TABLES["baselines"],
        "Confidence scores: errors, Brier score, AUROC and AURC.",
        (*intervals_of(*SCORED), "clipped"),
    ),
    "abstention": PaperTable(
        TABLES["abstention"],
        "Thresholds above which at least the target share of the answers is right, with 95 % confidence; "
        "coverage is the "
        "share of all questions that is answered.",
        ("promise", "reason"),
    ),
    "margin": PaperTable(
        TABLES["margin"],
        "Mean confidence minus accuracy in strata of the margin between the two most frequent answers.",
        ("confidence", "ece", "reason"),
        pivot="gap",
    ),
    "sweep": PaperTable(
        TABLES["sweep"], "Expected confidences and calibration errors of n answers per question.", ("reason",)
    ),
    "rate": PaperTable(
        TABLES["rate"], "Sem1 minus Sem2 of the questions with a margin below the threshold, by answers n.", ("reason",)
    ),
    "slope": PaperTable(
        TABLES["slope"], "Slope of log(Sem1 minus Sem2) against log n, of questions with a low margin.", ("reason",)
    ),
    "alignment": PaperTable(
        TABLES["alignment"],
        "Sem1 minus Sem2 at the boundaries of the regimes, and what the formulas predict.",
        ("half_width", "margins", "reason"),
    ),
}
"""The tables by our conventions."""

NOTES = (
    "Brackets are 95 % intervals; N counts questions, in pooled rows those of each run; --- means that there is no "
    "number (the CSV file says why)."
)


def for_latex(table: pl.DataFrame, how: PaperTable) -> pl.DataFrame:
    """Leave out what a page has no room for and columns without a value; numbers of estimators side by side."""
    kept = table.drop(*how.dropped, strict=False)
    if {"questions", "ver_questions"} <= {*kept.columns} and kept["questions"].equals(kept["ver_questions"]):
        kept = kept.drop("ver_questions")
    if how.pivot:
        index = [column for column in kept.columns if column not in {"estimator", how.pivot}]
        kept = kept.pivot(on="estimator", index=index, values=how.pivot, maintain_order=True)
        kept = kept.rename({name: f"{name}_{how.pivot}" for name in kept.columns[len(index) :]})
    return with_values(kept)


def with_values(table: pl.DataFrame) -> pl.DataFrame:
    """Leave out the columns without a value."""
    return table.select(column for column in table.columns if table[column].null_count() < table.height)


def fitted(name: str, table: pl.DataFrame, *, width: float, digits: int = 3) -> str:
    """Write a table of :func:`semece.show.tables.paper_table` as floats of a width in inches, with its caption."""
    how = PAPER_TABLES[name]
    environment = "table*" if width > WIDEST_COLUMN else "table"
    caption = f"{how.caption} {NOTES}"
    return floats(
        for_latex(table, how), caption=caption, name=name, places=(FloatPlace(width, environment),), digits=digits
    )


WIDEST_COLUMN = 5.6
"""Inches: a wider float stands across two columns."""
