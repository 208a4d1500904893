"""From tables and questions to the text of the page."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import warnings
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import polars as pl

from semece.runs import Names, cells, number_text, scores_in, shown
from semece.show import figures
from semece.show.report.entries import (
    PAGE,
    STATUS_WORDS,
    answer_of,
    metadata_columns,
    pack_questions,
    printable,
    short,
    status_list,
)
from semece.show.report.first_screen import (
    SEEN,
    Compared,
    advice,
    compared_verdict,
    comparison,
    overview,
    slices_section,
    surest_wrong,
)
from semece.show.report.sections import Drawing, sections
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from jinja2 import Template
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from semece.runs import QuestionView
    from semece.show.report.sections import Section
    from semece.show.tables.paper_tables import PooledQuestions

MARK = '<meta name="generator" content="semece">'
"""Stands in the first lines of every page of ours."""

LARGEST = 11_000_000
"""Bytes that all questions of a page should take; detail is left out to keep to it."""

SMALLEST = 450
"""Bytes that a question is given even where they are more than that."""

_ESTIMATORS: dict[str, str] = {
    "sem1": "Sem1, the share of the largest class",
    "sem2": "Sem2, its share in answers that did not select it",
    "verbalized": "Ver, the mean stated confidence",
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
    advised : str
        The confidence by which to answer or to abstain: the one that a map recalibrates, or Sem1.
    names : Names or None
        What dataset and model are called; the summary's ``run`` if None.
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
    advised: str = "sem1"
    names: Names | None = None


def render(pages: Iterable[Page], *, title: str | None = None, room: float = LARGEST) -> str:
    """Write the report of runs as one page.

    Parameters
    ----------
    pages : iterable of Page
        One or more; each is let go before the next is asked for.
    title : str, optional
        The heading; the run's name, or how many they are, by default.
    room : float
        Bytes that the questions of one run should take.

    Returns
    -------
    str
        HTML that encodes as UTF-8: what cannot be shown is replaced by U+FFFD.

    Raises
    ------
    ValueError
        If there is no page.
    """
    runs = [_run(page, number, room=room) for number, page in enumerate(pages, start=1)]
    if not runs:
        raise ValueError("a report needs at least one run; got none")
    script = _own("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = _template().render(
        title=title or (runs[0]["name"] if len(runs) == 1 else plural(len(runs), "run")),
        style=_ours(_own("style.css")),
        script=_ours(script),
        script_hash=f"sha256-{digest}",
        note=NOTE,
        runs=runs,
        seen=SEEN,
        page_size=PAGE,
        **_together(runs),
    )
    return printable(text)


def room_of(runs: int) -> float:
    """Say how many bytes the questions of one of some runs should take."""
    return LARGEST / max(1, runs)


def _together(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Prepare what is said of all runs: the numbers of each, notes once, and pictures of several."""
    head, rows = cells(headline(summary_frame(run["compared"].summary for run in runs)))
    notes: dict[str, list[str]] = {}
    for run in runs:
        for text in filter(None, (run["ruled"], run["partial"])):
            notes.setdefault(text, []).append(run["name"])
    found: dict[str, Any] = {"numbers": [list(zip(head, row, strict=True))[1:] for row in rows]}
    found["notes"] = [(text, [] if len(names) == len(runs) else names) for text, names in notes.items()]
    if len(runs) > 1:
        every = [run["compared"] for run in runs]
        found["verdict"] = compared_verdict([each.summary for each in every])
        found["pictures"] = [_drawn(drawing, prefix="all") for drawing in comparison(every)]
    return found


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
    environment.filters |= {"shorten": short, "number": number_text, "breakable": breakable}
    environment.filters |= {"deep_link": deep_link, "said": said}
    return environment.get_template("template.html")


def said(text: str) -> str:
    r"""Keep a number and its unit on one line.

    Examples
    --------
    >>> said("95 % of 24 answers")
    '95\xa0% of 24 answers'
    """
    return re.sub(r"(?<=\d) %", "\xa0%", text)


def breakable(text: str) -> Markup:
    """Let a long name break after its punctuation, and nowhere else.

    Examples
    --------
    >>> breakable("a/<b>")
    Markup('a/<wbr>&lt;b&gt;')
    """
    return _ours(re.sub(r"([/_:.,?=-])(?=.)", r"\1<wbr>", escape(text)))


def deep_link(question_id: str, number: int) -> str:
    """Give the place of a question of a run, as the page's script reads it.

    Examples
    --------
    >>> deep_link("q 1&2", 1), deep_link("q1", 3)
    ('q=q%201%262', 'run=3&q=q1')
    """
    name = quote(printable(question_id), safe="")
    return f"q={name}" if number == 1 else f"run={number}&q={name}"


def _run(page: Page, number: int, *, room: float) -> dict[str, Any]:
    """Prepare what the page says of one run."""
    summary, views, prefix = page.summary, page.views, f"r{number}"
    names = page.names or Names("runs", summary["run"])
    first, curve = overview(summary, page.estimates), reliability(page.estimates, "sem1")
    return {
        "name": summary["run"],
        "number": number,
        "prefix": prefix,
        "compared": Compared(names, summary, curve),
        **says(summary),
        "ruled": _ruled(page.judges),
        "partial": _partial(*page.complete),
        "advice": advice(summary, page.group, page.complete, score=page.advised),
        "picture": first and _drawn(first, prefix=prefix),
        "figures": _figures(page.estimates, _words(summary), prefix=prefix) + _counts(curve, prefix=prefix),
        "sections": [_section(section, prefix=prefix) for section in _sections(page)],
        "facts": _facts(page),
        "wrong": [(view, answer_of(view)) for view in surest_wrong(views, most=MOST_WRONG)],
        "questions": pack_questions(views, room=round(max(room, SMALLEST * len(views)))),
    }


MOST_WRONG = 20
"""How many of the surest wrong answers are listed."""


def _sections(page: Page) -> Iterator[Section]:
    """Give the parts of a run's page, the recalibration first, slices last."""
    yield from filter(None, [page.recalibrated])
    yield from sections(page.group) if page.group else ()
    yield from filter(None, [slices_section(page.views, metadata_columns(page.views))])


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
    drawn: list[dict[str, Any]] = []
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


def _counts(table: pl.DataFrame | None, *, prefix: str) -> list[dict[str, Any]]:
    """Draw the right and the wrong answers by Sem1, if it has numbers."""
    if table is None:
        return []
    fig, (ax,) = figures.figure()
    figures.plot_right_and_wrong(table, ax=ax)
    caption = "Questions by Sem1: those answered right upwards, those answered wrong downwards."
    return [_drawn(Drawing("counts", fig, caption), prefix=prefix)]


def _drawn(drawing: Drawing, *, prefix: str) -> dict[str, Any]:
    """Prepare a figure with its caption."""
    svg = inline_svg(drawing.figure, prefix=f"{prefix}{drawing.name}", title=drawing.caption)
    return {"caption": drawing.caption, "svg": svg, "table": None}


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
    with figures.style({"svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # texts stay texts, in the fonts of who reads the page
        if engine := fig.get_layout_engine():  # once here; saving would draw everything a second time for it
            engine.execute(fig)
            fig.set_layout_engine("none")
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
    drawn = [_drawn(each, prefix=prefix) for each in section.drawings]
    table = section.table[[column.name for column in section.table if column.null_count() < column.len()]]
    place = re.sub(r"[^a-z]+", "-", section.title.lower()).strip("-")
    words = {"title": section.title, "place": place, "sentences": section.sentences}
    return words | {"figures": drawn, "table": _frame(table)}


def _bins(table: pl.DataFrame) -> dict[str, Any]:
    """Show bins with their range in one column."""
    ranges = [f"{low:.1f} to {high:.1f}" for low, high in table.select("low", "high").iter_rows()]
    return _frame(table.select(pl.Series("bin", ranges), pl.col("count").alias("questions"), *table.columns[3:]))


def _frame(table: pl.DataFrame) -> dict[str, Any]:
    """Give a table's texts, and which columns hold numbers."""
    head, rows = cells(table)
    return {"head": head, "numeric": [table.schema[name].is_numeric() for name in shown(table.columns)], "rows": rows}
