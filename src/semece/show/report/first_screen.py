"""What a person sees first: of one run the verdict, one picture and what to do; of several runs pictures of all."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semece.runs import end_text, plural, spread, stated_sentence, told_confidences, value_text
from semece.show import figures
from semece.show.report.sections import Drawing, Section, threshold_sentence
from semece.show.tables.paper_tables import abstention_rows
from semece.stats import FEW, Drawn, accuracy_interval, frame, gap_interval, share_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.runs import Names, QuestionView
    from semece.show.tables.paper_tables import PooledQuestions

LESS = 0.8
"""A share that may be reached where that is not."""
TARGET = 0.9
"""The share of right answers that the first screen looks for a threshold of."""

LESS_SENTENCE = "There is one that promises less: 'semece abstain RUN --target-accuracy {}' says which."
STATED = (
    "Do not take the confidence that the model states for a chance: 'semece recalibrate RUN --score verbalized' says "
    "whether a map repairs it."
)

NAMED: dict[str, str] = {
    "ver": "stated (Ver)",
    "sem1": "agreement (Sem1)",
    "sem2": "agreement,\nheld out (Sem2)",
}
"""What a confidence is called beside the first picture."""


def overview(summary: Mapping[str, Any], estimates: pl.DataFrame) -> Drawing | None:
    """Draw the mean confidences and the accuracy with intervals, and the gaps; None without a number.

    Parameters
    ----------
    summary : mapping
        A row of :func:`semece.runs.summary_table`.
    estimates : DataFrame
        The questions it is of.
    """
    rows = list(_means(summary, estimates)) if summary["questions"] else []
    if not rows or summary["accuracy"] is None:
        return None
    accuracy = tuple(summary[f"accuracy{end}"] for end in ("", "_low", "_high"))
    ax = figures.plot_overview(rows, accuracy=accuracy)
    return Drawing("overview", ax.figure, f"{plural(summary['questions'], 'question')}. {SEEN}")  # type: ignore[arg-type]


SEEN = (
    "How often it is right, how sure it is on average, and the gap between them, with 95 % intervals. A bar to the "
    "right of the dashed line is over-confidence."
)
"""What the first picture shows."""


def _means(summary: Mapping[str, Any], estimates: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Give the mean of each confidence that is one, with its interval, and the gap of the summary."""
    complete = estimates.filter(pl.col("status") == "complete")
    attempted = complete.filter(~pl.col("refused")) if summary["refused"] else complete
    for each in told_confidences(summary):
        values = attempted.drop_nulls([each.column, "correct"])[each.column].to_numpy()
        if each.ranked or not values.size:
            continue
        mean = share_interval(values, Drawn(np.ones_like(values), None, 0.95))
        gap = f"{each.prefix}_gap"
        low, high = (end_text(summary[f"{gap}_{end}"]) for end in ("low", "high"))
        yield {
            "estimator": each.column,
            "name": NAMED.get(each.prefix.removesuffix("_attempted"), each.column),
            **mean._asdict(),
            "gap": summary[gap],
            "text": f"gap {value_text(summary, gap)} [{low}, {high}]",
        }


def advice(
    summary: Mapping[str, Any], group: PooledQuestions | None, complete: tuple[int, int], *, score: str = "sem1"
) -> list[str]:
    """Say what to do: from which confidence on to answer, and what is missing.

    Parameters
    ----------
    summary : mapping
        A row of :func:`semece.runs.summary_table`.
    group : PooledQuestions or None
        Its complete questions.
    complete : tuple of int
        How many questions are complete, how many are selected.
    score : str
        The confidence by which to answer or to abstain.
    """
    found = []
    if group is not None:
        for row in abstention_rows(group, [TARGET]).filter(score=score).to_dicts():
            found.append(threshold_sentence(row))
            less = abstention_rows(group, [LESS]).filter(score=score).to_dicts() if row["threshold"] is None else []
            found += [LESS_SENTENCE.format(LESS) for each in less if each["threshold"] is not None]
    if stated_sentence(summary):
        found.append(STATED)
    if complete[0] < complete[1]:
        rest = plural(complete[1] - complete[0], "question")
        found.append(f"{rest} of {complete[1]:,} are not complete: run the same command again to complete them.")
    if summary["model_claim"] is None and summary["model_questions"] < FEW * FEW:
        found.append("More questions say more: 'semece plan RUN --width 0.1' says how many.")
    return found


class Compared(NamedTuple):
    """What pictures of several runs need of one.

    Parameters
    ----------
    names : Names
        Dataset and model.
    summary : mapping
        Its row of the summary.
    curve : DataFrame or None
        Its reliability by Sem1.
    """

    names: Names
    summary: Mapping[str, Any]
    curve: pl.DataFrame | None


def compared_verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Count what is claimed of several runs.

    Examples
    --------
    >>> claims = ["over-confident", "over-confident", None, "right on average"]
    >>> compared_verdict([{"model_claim": claim} for claim in claims])
    'Of 4 runs, 2 are over-confident, 1 is miscalibrated though right on average, and 1 shows no sure miscalibration.'
    """
    counts = Counter(row["model_claim"] for row in rows)
    told = {
        "over-confident": "over-confident",
        "under-confident": "under-confident",
        "right on average": "miscalibrated though right on average",
        "miscalibrated": "miscalibrated to an unknown side",
    }
    parts = [f"{counts[c]:,} {'is' if counts[c] == 1 else 'are'} {words}" for c, words in told.items() if counts[c]]
    rest = f"{counts[None]:,} show{'s' if counts[None] == 1 else ''} no sure miscalibration"
    parts += [rest] if counts[None] else []
    off = sum(bool(stated_sentence(row)) for row in rows)
    stated = f" What the model states of its confidence is surely off in {off:,}." if off else ""
    of_all = f"Of {plural(len(rows), 'run')}, {', '.join(parts[:-1])}{', and ' if len(parts) > 1 else ''}{parts[-1]}."
    return of_all + stated


MOST_CURVES = 6
"""Most curves of an overlaid picture: more cannot be told apart, and each run has a picture of its own below."""


def comparison(runs: Sequence[Compared]) -> Iterator[Drawing]:
    """Draw several runs together: gaps, calibration errors, and reliability."""
    rows = [
        {**run.summary, "dataset": _drawable(run.names.dataset), "model": _drawable(run.names.model)}
        for run in runs
        if run.summary["questions"]
    ]
    if rows:
        yield from _dots(pl.DataFrame(rows, infer_schema_length=None))
    curves = {run.names.title: run.curve for run in runs if run.curve is not None}
    if 0 < len(curves) <= MOST_CURVES:
        yield _curves(curves)


def _drawable(name: str) -> str:
    """Let a dollar sign begin no formula; what has no glyph is a question mark."""
    return "".join(letter if letter.isprintable() else "?" for letter in name).replace("$", r"\$")


def _dots(table: pl.DataFrame) -> Iterator[Drawing]:
    """Draw the gaps and the errors, each on a figure of its own that a phone can show."""
    (one, (gaps,)), (two, (errors,)) = (figures.figure(height=figures.dots_height(table)) for _ in range(2))
    figures.dots_of_runs(table, axes=(gaps, errors))
    gaps.set_xlabel("frequency − accuracy")
    errors.set_yticks(gaps.get_yticks(), [text.get_text() for text in gaps.get_yticklabels()])
    for ours, theirs in zip(errors.get_yticklabels(), gaps.get_yticklabels(), strict=True):
        ours.set_fontweight(theirs.get_fontweight())
    errors.tick_params(axis="y", length=0)
    yield Drawing("gaps", one, "How much surer each model is than it is right; lines are 95 % intervals.")
    yield Drawing("errors", two, "The calibration error of each confidence, with 95 % intervals; 0 is perfect.")


def _curves(curves: Mapping[str, pl.DataFrame]) -> Drawing:
    """Overlay the reliability by Sem1."""
    shown = {textwrap.fill(_drawable(name), 38): curve for name, curve in curves.items()}
    fig, (ax,) = figures.figure(height=3.3 + 0.14 * sum(1 + name.count("\n") for name in shown))
    figures.plot_reliability_curves(shown, ax=ax).set_title("")
    if legend := ax.get_legend():
        legend.remove()
    colors = [*figures.COLORS.values(), *(color for color, _ in figures.OTHERS)]
    lines = dict(zip(shown, ax.get_lines()[1:], strict=True))
    for line, color in zip(lines.values(), colors, strict=False):
        line.set_color(color)
    with figures.style():
        figures.shared_legend(fig, lines, most=1)
    return Drawing("curves", fig, "Accuracy against Sem1; below the diagonal a model is over-confident.")


def surest_wrong(views: Sequence[QuestionView], *, most: int) -> list[QuestionView]:
    """Give the wrong answers that a model is surest of by Sem1, of a tie the earlier question first.

    Parameters
    ----------
    views : sequence of QuestionView
        Those that are complete, have a grade of 0 and are no refusals enter.
    most : int
        How many.
    """
    wrong = [
        view
        for view in views
        if view.estimate.status == "complete" and view.estimate.correct == 0 and not view.estimate.refused
    ]
    return sorted(wrong, key=lambda view: -(view.estimate.sem1 or 0))[:most]


SLICED = (
    "Differences between slices may be chance: there are many columns to look at, and each interval is 95 % sure by "
    "itself."
)


def slices_section(views: Sequence[QuestionView], columns: Mapping[str, Sequence[str]]) -> Section | None:
    """Give accuracy and gap of the questions by metadata; None where no column has a few values.

    Parameters
    ----------
    views : sequence of QuestionView
        Questions.
    columns : mapping of str to sequence of str
        By column of metadata the value of each question.
    """
    rows = [row for name, values in columns.items() for row in _slice_rows(name, views, values)]
    if not rows:
        return None
    ends = [f"{name}{end}" for name in ("accuracy", "sem1_gap") for end in ("", "_low", "_high")]
    schema = {"column": str, "slice": str, "questions": int} | dict.fromkeys(ends, float)
    return Section("By metadata", (SLICED,), (), frame(rows, schema))


def _slice_rows(name: str, views: Sequence[QuestionView], values: Sequence[str]) -> Iterator[dict[str, Any]]:
    members: dict[str, list[tuple[float, float]]] = {value: [] for value in sorted({*values})}
    for view, value in zip(views, values, strict=True):
        e = view.estimate
        if e.status == "complete" and e.sem1 is not None and e.correct is not None:
            members[value].append((e.sem1, e.correct))
    for value, pairs in members.items():
        row: dict[str, Any] = {"column": name, "slice": value, "questions": len(pairs)}
        if pairs:
            sem1, correct = np.array(pairs).T
            row |= spread("accuracy", accuracy_interval(correct)) | spread("sem1_gap", gap_interval(sem1, correct))
        yield row
