"""From tables and questions to the text of the page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from semece.runs import cells, scores_in, shown
from semece.show import figures
from semece.show.report.entries import STATUS_WORDS, make_entries, short, status_list
from semece.show.report.sections import sections
from semece.show.tables import (
    NOTE,
    bounds_text,
    excluded_text,
    headline,
    plural,
    reliability,
    says,
    summary_frame,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jinja2 import Template
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from semece.runs import QuestionView
    from semece.show.report.sections import Section
    from semece.show.tables.paper_tables import PooledQuestions

MARK = '<meta name="generator" content="semece">'
"""Stands in the first lines of every page of ours."""

LARGEST = 13_000_000
"""Bytes that all questions of a page should take; detail is left out to keep to it."""

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

_ESTIMATORS: dict[str, str] = {
    "sem1": "Sem1, the share of the largest class",
    "sem2": "Sem2, its share in answers that did not select it",
    "verbalized": "Verbalized, the mean stated confidence",
}


VARIABLES: dict[str, str] = {
    figures.INK: "var(--ink)",
    figures.MUTED: "var(--muted)",
    figures.FAINT: "var(--faint)",
    **{color: f"var(--{name})" for name, color in figures.COLORS.items()},
    **{color: f"var(--score-{place})" for place, (color, _) in enumerate(figures.OTHERS, start=1)},
}
"""Which colour of a figure is which variable of the page's style, so that figures follow light and dark."""


@dataclass(frozen=True, slots=True)
class Page:
    """What the report says of one run.

    Parameters
    ----------
    summary : mapping
        A row of :func:`semece.show.tables.summary_table`.
    judges : tuple of str
        Who made the partition, who graded.
    estimates : DataFrame
        One row per selected question.
    views : sequence of QuestionView
        The same questions with their responses.
    counts : mapping of str to int
        Responses by status, and ``missing``.
    complete : tuple of int
        How many questions are complete, how many are selected.
    facts : mapping of str to str
        What else to say, in order.
    events : tuple of str
        What the run noticed.
    group : PooledQuestions or None
        Its complete questions, pooled; None if there is none.
    recalibrated : Section or None
        What the map changes that recalibrates it; None if none does.
    """

    summary: Mapping[str, Any]
    judges: tuple[str, str]
    estimates: pl.DataFrame
    views: Sequence[QuestionView]
    counts: Mapping[str, int]
    complete: tuple[int, int]
    facts: Mapping[str, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    group: PooledQuestions | None = None
    recalibrated: Section | None = None


def render(pages: Sequence[Page], *, title: str | None = None) -> str:
    """Write the report of runs as one page.

    Parameters
    ----------
    pages : sequence of Page
        One or more.
    title : str, optional
        The heading; the run's name, or how many they are, by default.

    Returns
    -------
    str
        HTML that encodes as UTF-8: what cannot be shown is replaced by U+FFFD.

    Raises
    ------
    ValueError
        If there is no page.
    """
    if not pages:
        raise ValueError("a report needs at least one run; got none")
    room = LARGEST / max(1, sum(len(page.views) for page in pages))
    script = _own("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = _template().render(
        title=title or (pages[0].summary["run"] if len(pages) == 1 else plural(len(pages), "run")),
        style=_ours(_own("style.css")),
        script=_ours(script),
        script_hash=f"sha256-{digest}",
        summary=_frame(headline(summary_frame(page.summary for page in pages)), upright=True),
        note=NOTE,
        runs=[_run(page, prefix=f"r{i}", room=room) for i, page in enumerate(pages)],
    )
    return _UNPRINTABLE.sub("\ufffd", text)


def _ours(text: str) -> Markup:
    """Mark a text as ours: style, script, or a figure whose labels are ours. Nothing from outside comes here."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - the one place where escaping is left out


def _own(name: str) -> str:
    """Read a file that lies beside this one."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


def _template() -> Template:
    """Read the page's template: everything is escaped, an unknown name is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, loader=FileSystemLoader(Path(__file__).parent), trim_blocks=True
    )
    environment.filters["shorten"] = short
    return environment.get_template("template.html")


def _run(page: Page, *, prefix: str, room: float) -> dict[str, Any]:
    """Prepare the section of one run."""
    return {
        "name": page.summary["run"],
        **says(page.summary),
        "ruled": _ruled(page.judges),
        "partial": _partial(*page.complete),
        "figures": _figures(page.estimates, _words(page.summary), prefix=prefix),
        "sections": [_section(section, prefix=prefix) for section in _sections(page)],
        "facts": _facts(page),
        "entries": make_entries(page.views, largest=round(room * len(page.views))),
    }


def _sections(page: Page) -> Iterator[Section]:
    """Give the parts of a run's page, the recalibration first."""
    yield from filter(None, [page.recalibrated])
    yield from sections(page.group) if page.group else ()


def _ruled(judges: tuple[str, str]) -> str:
    """Warn where rules grouped or graded the answers; empty where none did."""
    work = [what for what, judge in zip(("grouped", "graded"), judges, strict=True) if judge == "rules"]
    if not work:
        return ""
    return (
        f"The answers were {' and '.join(work)} by rules, not by a model or a person. "
        "Look at some classes below before relying on the numbers."
    )


def _partial(complete: int, selected: int) -> str:
    """Say that a run is unfinished; empty if it is finished."""
    if complete == selected:
        return ""
    return f"{complete:,} of {plural(selected, 'question')} complete. The numbers are about these only."


def _facts(page: Page) -> list[tuple[str, str]]:
    """List what went in, what was dropped and why."""
    selected, asked = plural(page.complete[1], "question"), page.summary["n"] * page.complete[1]
    facts = [
        *page.facts.items(),
        ("Questions", f"{selected} selected, {page.summary['questions']:,} enter the numbers"),
        ("Excluded", ". ".join(filter(None, [excluded_text(page.summary), bounds_text(page.summary)])) or "none"),
        ("Answers", f"{page.summary['n']} asked of each question, {asked:,} in all"),
        ("Read", status_list(page.counts, of=("parsed", "concluded", "fallback", "non_answer")) or "none"),
        ("Not usable", status_list(page.counts, of=[*STATUS_WORDS][3:]) or "none"),
        ("Judge", page.summary["judge"]),
        ("Alarms", _alarms(page.views)),
    ]
    return facts + [("Noticed", event) for event in page.events]


def _alarms(views: Sequence[QuestionView]) -> str:
    """Say how many questions have an alarm."""
    count = sum(bool(view.alarms) for view in views)
    return f"{plural(count, 'question')} to look at: show those with alarms below" if count else "none"


def _words(summary: Mapping[str, Any]) -> dict[str, str]:
    """Say what each confidence is: our own, and those that the run was given."""
    given = [each.column for each in scores_in(summary) if not each.ranked and not each.attempted]
    return _ESTIMATORS | {name: f"{name}, which came with the answers" for name in given}


def _figures(estimates: pl.DataFrame, words_of: Mapping[str, str], *, prefix: str) -> list[dict[str, Any]]:
    """Draw a reliability diagram of each estimator that has numbers."""
    drawn = []
    for place, (name, words) in enumerate(words_of.items()):
        table = reliability(estimates, name)
        if table is None:
            continue
        fig, (ax,) = figures.figure()
        figures.plot_reliability(table, ax=ax, estimator=name)
        caption = f"{words}. {plural(int(table['count'].sum()), 'question')}; error bars are 95 % intervals."
        own = name if name in figures.NAMES else f"score{place}"
        svg = inline_svg(fig, prefix=f"{prefix}{own}", title=f"Reliability diagram. {caption}")
        drawn.append({"name": figures.NAMES.get(name, name), "caption": caption, "svg": svg, "table": _bins(table)})
    return drawn


def inline_svg(fig: Figure, *, prefix: str, title: str) -> Markup:
    """Draw a figure for a page.

    Parameters
    ----------
    fig : Figure
        What to draw.
    prefix : str
        Letters and digits that set its ids apart from those of the page's other figures.
    title : str
        Read aloud in place of the figure; escaped here.

    Returns
    -------
    Markup
        One ``<svg>`` element.

    Examples
    --------
    >>> text = inline_svg(figures.figure()[0], prefix="a", title="x < y")
    >>> text.startswith("<svg"), 'aria-label="x &lt; y"' in text, "#1b1b1f" in text
    (True, True, False)
    """
    buffer = io.StringIO()
    with figures.style({"svg.fonttype": "none"}):
        fig.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="none")
    text = buffer.getvalue().partition("<svg")[2]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    head, _, body = text.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None  # noqa: S101 - matplotlib always writes one
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return _ours(f'<svg role="img" aria-label="{escape(title)}" {box.group()} {spaces}>{body}')


def _section(section: Section, *, prefix: str) -> dict[str, Any]:
    """Prepare a section: its sentences, figures, and the numbers behind them."""
    drawn = [
        {"caption": each.caption, "svg": inline_svg(each.figure, prefix=f"{prefix}{each.name}", title=each.caption)}
        for each in section.drawings
    ]
    table = section.table[[column.name for column in section.table if column.null_count() < column.len()]]
    return {"title": section.title, "sentences": section.sentences, "figures": drawn, "table": _frame(table)}


def _bins(table: pl.DataFrame) -> dict[str, Any]:
    """Show bins with their range in one column."""
    ranges = [f"{low:.1f} to {high:.1f}" for low, high in table.select("low", "high").iter_rows()]
    return _frame(table.select(pl.Series("bin", ranges), pl.col("count").alias("questions"), *table.columns[3:]))


def _frame(table: pl.DataFrame, *, upright: bool = False) -> dict[str, Any]:
    """Give a table's texts, and which columns hold numbers; an upright table has a column for each row."""
    head, rows = cells(table)
    if upright:
        return {"head": [], "numeric": [False] * (1 + len(rows)), "rows": list(zip(head, *rows, strict=True))}
    return {"head": head, "numeric": [table.schema[name].is_numeric() for name in shown(table.columns)], "rows": rows}
