"""What a run shows beyond its reliability: where to abstain, margins, fewer answers, the theory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from semece.show import figures
from semece.show.figures.run_figures import PANELS
from semece.show.tables import KNOWS, MEASURES, end_text, label, number_text, percent_text, plural, value_text
from semece.show.tables.paper_tables import abstention_rows, by_budget, margin_rows, semx_budget_rows, semx_rows
from semece.stats import FEW, alignment, effect_sentence, sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

    from semece.show.tables.paper_tables import PooledQuestions
    from semece.stats import Effect


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure of a section.

    Parameters
    ----------
    name : str
        One of :data:`semece.show.figures.run_figures.PANELS`.
    figure : Figure
        What is drawn.
    caption : str
        Said below it.
    """

    name: str
    figure: Figure
    caption: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Parameters
    ----------
    title : str
        Its heading.
    sentences : tuple of str
        What to know first.
    drawings : tuple of Drawing
        What to look at.
    table : DataFrame
        The numbers behind it.
    """

    title: str
    sentences: tuple[str, ...]
    drawings: tuple[Drawing, ...]
    table: pl.DataFrame


def sections(group: PooledQuestions) -> Iterator[Section]:
    """Give the sections of a run in order; few questions have few sections.

    Parameters
    ----------
    group : PooledQuestions
        A run's complete questions (:func:`semece.show.tables.paper_tables.group_of`).

    Yields
    ------
    Section
    """
    if group.classes.residuals() is not None:
        yield _model(group)
    yield _abstention(group)
    if len(group.pool.correct) >= FEW:
        yield _margin(group)
        if (n := int(group.pool.n_responses.max())) >= FEWEST:
            if len(by_budget(sweep, group)) > 1:
                yield _sweep(group, n)
            yield _theory(group)


FEWEST = 8
"""Fewest responses per question for which smaller numbers of them say something."""


def _draw(name: str, group: PooledQuestions, caption: str) -> Drawing:
    fig, (ax,) = figures.figure()
    PANELS[name](ax, group)
    return Drawing(name, fig, caption)


MEANING = (
    "One half of a question's answers chooses an answer, and the other half says how frequent it is, averaged over all "
    "halves. A model that knows its chances is right as often as that frequency says, however few answers there are."
)
"""What SemX is, in plain words."""


def _model(group: PooledQuestions) -> Section:
    budgets = semx_budget_rows(group)
    bins = _draw("semx", group, "Below the diagonal the model is over-confident; error bars are 95 % intervals.")
    if budgets.height <= 2:
        return Section(KNOWS, (MEANING,), (bins,), semx_rows(group))
    some = " and ".join(map(_gap_text, (budgets.row(0, named=True), budgets.row(-1, named=True))))
    caption = "What fewer answers per question would have shown; error bars are 95 % intervals."
    sentences = (MEANING, f"The held-out gap, with its 95 % interval, is {some}.")
    return Section(KNOWS, sentences, (bins, _draw("semx-budget", group, caption)), semx_rows(group))


UNSEEN = (
    "The confidence before and after recalibration, on questions that the map has not seen; brackets are 95 % "
    "intervals of the change, paired by question."
)


def recalibration_section(effects: tuple[Effect, ...]) -> Section | None:
    """Show what a map changes; None where nothing does."""
    if not effects:
        return None
    names = ("before", "after", "change", "change_low", "change_high")
    rows = [(MEASURES[each.name], each.before, each.after, *each.change) for each in effects]
    table = pl.DataFrame(rows, schema={"number": pl.String} | dict.fromkeys(names, pl.Float64), orient="row")
    return Section("Recalibrated", (UNSEEN, effect_sentence(effects)), (), table.fill_nan(None))


def _gap_text(row: dict[str, Any]) -> str:
    """Write the held-out gap at a number of answers."""
    low, high = (end_text(row[f"held_out_gap{end}"]) for end in ("_low", "_high"))
    return f"{value_text(row, 'held_out_gap')} ({low} to {high}) with {row['n']} answers"


def _abstention(group: PooledQuestions) -> Section:
    table = abstention_rows(group)
    sentences = tuple(map(threshold_sentence, table.filter(score="sem1").to_dicts()))
    caption = "The share of wrong answers if only the most confident questions are answered."
    half = int(((group.pool.correct % 1) > 0).sum())
    if half:
        sentences += (
            f"Counted as wrong in these promises: {plural(half, 'answer')} right in part, because answers tie.",
        )
    return Section("When to abstain", sentences, (_draw("risk-coverage", group, caption),), table)


def threshold_sentence(row: dict[str, object]) -> str:
    """Say from which value of a score on to answer, or why nothing can be promised."""
    target, name = f"{number_text(100 * float(str(row['target'])), 0)} %", label(str(row["score"]))
    if row["threshold"] is None:
        return f"No threshold on {name} is sure to leave {target} right answers: {row['reason']}."
    shares = [percent_text(float(str(row[name]))) for name in ("coverage", "accuracy")]
    return (
        f"Answer where {name} is at least {number_text(row['threshold'])}: {row['promise']}. Here {shares[1]} of them "
        f"are, and {shares[0]} of all {plural(int(str(row['questions'])), 'question')} asked are answered."
    )


def _margin(group: PooledQuestions) -> Section:
    sentence = (
        "The margin is the lead of the largest class over the second. Where it is small, Sem1 is too high by chance "
        "and Sem2 too low; where it is large they agree."
    )
    caption = f"Distance of confidence and accuracy; strata with fewer than {FEW} questions are left out."
    drawings = _draw("margin", group, caption), _draw("regime", group, "Questions and the theory's regimes.")
    return Section("Along the margin", (sentence,), drawings, margin_rows(group))


def _sweep(group: PooledQuestions, n: int) -> Section:
    table = by_budget(sweep, group)
    first, last = table.row(0, named=True), table.row(-1, named=True)
    many, few = (f"{number_text(row['sem1'])} and Sem2 {number_text(row['sem2'])}" for row in (last, first))
    sentences = [
        f"With {plural(last['n'], 'answer')} per question the mean Sem1 is {many}; with {first['n']} it would be {few}."
    ]
    if first["questions"] < len(group.pool.correct):
        sentences.append(f"On the {plural(first['questions'], 'question')} with {plural(n, 'usable answer')}.")
    drawings = (
        _draw("sweep", group, "Expected confidences. What more answers change is what fewer got wrong by chance."),
        _draw("sweep-ece", group, "Calibration errors of one choice of fewer answers, and of expected confidences."),
    )
    return Section("With fewer answers", tuple(sentences), drawings, table)


def _theory(group: PooledQuestions) -> Section:
    sentence = (
        "The gap between Sem1 and Sem2 at the regimes' boundaries, as counted and as predicted: with the same n for "
        "both, with n as in this run, given the pooled answers, and exactly."
    )
    drawing = _draw("rate", group, "The gap between Sem1 and Sem2 of low-margin questions; the theory's slope is -0.5.")
    return Section("Beside the theory", (sentence,), (drawing,), alignment(group.pool))
