"""Every figure of few, of many and of odd runs: nothing is cut, no text lies on another, no legend on data."""

from itertools import combinations, product

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from semece.errors import SemeceError
from semece.runs.graded_classes import GradedClasses
from semece.show import figures
from semece.show.figures.run_figures import FIGURES
from semece.show.tables.paper_tables import POOLED, PooledQuestions
from semece.stats import Counts, pool

PAGE = figures.ACROSS * figures.PANEL
SHORT = ("small", "medium", "large", "tiny", "older")
LONG = tuple(f"provider-{i}/a-rather-long-model-name-{i}b-instruct-2026-11-28" for i in range(5))


def questions(dataset, model, seed, *, number=300, n=20, stated=True, spread=1.0, scores=(), every_right=False):
    """Questions of a run that is drawn; a spread near 0 makes it unanimous."""
    rng = np.random.default_rng(seed)
    counts = [rng.multinomial(n, rng.dirichlet([spread] * 5)) for _ in range(number)]
    counts = Counts.from_counts([each[each > 0] for each in counts])
    right = np.zeros(len(counts.values))
    for q in range(number):
        first, last = counts.offsets[q : q + 2]
        chosen = first + rng.choice(last - first, p=counts.values[first:last] / n)
        right[chosen] = every_right or rng.random() < 0.8
    grades = [right[first:last] for first, last in zip(counts.offsets, counts.offsets[1:], strict=False)]
    found = pool(correct=grades, counts=counts, verbalized=rng.beta(9, 2, number) if stated else None)
    found = found._replace(scores={name: rng.random(number) for name in scores})
    ids = np.array([f"q{i}" for i in range(number)])
    classes = GradedClasses(counts, right, np.zeros(len(right)), ids)
    nobody = np.zeros(number, bool)
    return PooledQuestions(dataset, model, n, found, ids, classes, nobody, number, {}, None, {})


def pooled(some):
    """All runs of a dataset: drawn anew, since the figures look at numbers alone."""
    one = questions(some[0].dataset, POOLED, 99, stated=not np.isnan(some[0].pool.verbalized).all())
    return [*some, one]


CASES = {
    "one": lambda: [questions("simpleqa", LONG[0], 0)],
    "two": lambda: pooled([questions("simpleqa", name, i) for i, name in enumerate(LONG[:2])]),
    "four": lambda: pooled([questions("simpleqa", name, i) for i, name in enumerate(LONG[:4])]),
    "two by two": lambda: [
        each
        for place, dataset in enumerate(("simpleqa", "triviaqa"))
        for each in pooled([questions(dataset, name, 2 * place + i) for i, name in enumerate(SHORT[:2])])
    ],
    "other budgets": lambda: [questions("simpleqa", SHORT[i], i, number=150, n=n) for i, n in enumerate((52, 100, 8))],
    "five": lambda: pooled([questions("simpleqa", name, i) for i, name in enumerate(LONG)]),
    "unstated": lambda: [questions("simpleqa", name, i, stated=False) for i, name in enumerate(SHORT[:3])],
    "scores": lambda: [questions("simpleqa", "a", 3, scores=("p_true",))],
    "unanimous": lambda: [questions("simpleqa", "sure", 0, spread=1e-6, every_right=True)],
    "two answers": lambda: [questions("simpleqa", "pairs", 0, n=2)],
    "twelve questions": lambda: [questions("simpleqa", name, i, number=12) for i, name in enumerate(SHORT)],
    "fifteen": lambda: [
        each
        for place, dataset in enumerate(("simpleqa", "humanity's last exam", "triviaqa"))
        for each in pooled([questions(dataset, name, 5 * place + i) for i, name in enumerate(LONG)])
    ],
}


def drawn(name, case):
    """The figure, laid out as for a file, with what measures it; None if there is nothing to draw, which is said."""
    try:
        fig = FIGURES[name](CASES[case]())
    except SemeceError:
        return None
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    return fig, canvas.get_renderer()


def ticks(axis, interval):
    low, high = sorted(interval)
    room = 1e-9 + 1e-6 * (high - low)
    shown = [tick for tick in axis.get_major_ticks() if low - room <= tick.get_loc() <= high + room]
    return [tick.label1 for tick in shown if tick.label1.get_visible()]


def texts_of(fig):
    """All texts that are seen."""
    found = [*fig.texts, *(text for legend in fig.legends for text in legend.get_texts())]
    found += [text for text in (fig._supylabel, fig._supxlabel) if text is not None and text not in found]
    for ax in [each for one in fig.axes for each in (one, *one.child_axes)]:
        found += [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]
        found += [*ticks(ax.xaxis, ax.get_xlim()), *ticks(ax.yaxis, ax.get_ylim())]
        found += ax.get_legend().get_texts() if ax.get_legend() else []
    return [text for text in found if isinstance(text, Text) and text.get_visible() and text.get_text().strip()]


def shrunk(box, by=1.0):
    return box.x0 + by, box.y0 + by, box.x1 - by, box.y1 - by


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def cut(fig, boxes):
    width, height = fig.bbox.width, fig.bbox.height
    for words, box in boxes:
        if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1:
            yield f"{words!r} is cut"


def overlapping(boxes):
    for (words, box), (others, other) in combinations(boxes, 2):
        if meet(shrunk(box), shrunk(other)):
            yield f"{words!r} lies on {others!r}"


def covering(fig, renderer):
    for legend in [*fig.legends, *(ax.get_legend() for ax in fig.axes if ax.get_legend())]:
        box = shrunk(legend.get_window_extent(renderer))
        if any(meet(box, shrunk(ax.get_window_extent(renderer))) for ax in fig.axes):
            yield "the legend lies on data"


def on_points(fig, renderer):
    for ax in fig.axes:
        marked = [line for line in ax.lines if line.get_marker() not in {"", "None", None}]
        places = [line.get_transform().transform(np.column_stack(line.get_data()).astype(float)) for line in marked]
        for text, points in product([text for text in ax.texts if text.get_text().strip()], places):
            x0, y0, x1, y1 = shrunk(text.get_window_extent(renderer))
            if ((points > [x0, y0]) & (points < [x1, y1])).all(axis=1).any():
                yield f"{text.get_text()!r} lies on a point"


def faults(fig, renderer):
    """Say what a reader would complain about."""
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts_of(fig)]
    wide = ["the figure is wider than a page"] if fig.get_figwidth() > PAGE else []
    return [*wide, *cut(fig, boxes), *overlapping(boxes), *covering(fig, renderer), *on_points(fig, renderer)]


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES][:-1])
def test_no_text_is_cut_or_hidden_and_no_legend_lies_on_data(case):
    wrong = {}
    for name in FIGURES:
        found = drawn(name, case)
        if found is not None and (said := faults(*found)):
            wrong[name] = said
    assert wrong == {}


@pytest.mark.slow
def test_fifteen_runs_are_readable():
    test_no_text_is_cut_or_hidden_and_no_legend_lies_on_data("fifteen")


def test_panels_without_data_have_the_axes_of_one_with_data():
    """Some run has too few questions with a low margin; no scale is set from its empty axes, and names are level."""
    some = [questions("simpleqa", "near", 0), questions("simpleqa", "sure", 0, spread=1e-6)]
    near, sure = FIGURES["rate"](some).axes
    assert [text.get_text() for text in sure.texts] == ["too few\nlow-margin\nquestions"]
    assert (sure.get_xscale(), sure.get_xlim(), sure.get_ylim()) == ("log", near.get_xlim(), near.get_ylim())
    assert sure.get_xticks().tolist() == near.get_xticks().tolist() == [10, 20]
    FigureCanvasAgg(near.figure).draw()
    where = [ax.transAxes.inverted().transform(ax.transData.transform((12, 0.15))) for ax in (near, sure)]
    assert where[0].tolist() == pytest.approx(where[1].tolist(), abs=1e-6)
    heights = [ax.xaxis.label.get_window_extent().y0 for ax in (near, sure)]
    assert heights[0] == pytest.approx(heights[1], abs=0.5)


def test_faults_are_seen():
    """The measure notices a legend on data, a text on another, and one that is cut."""
    fig = FIGURES["sweep"](CASES["one"]())
    fig.set_layout_engine("none")
    fig.text(0.5, 0.5, "one")
    fig.text(0.5, 0.5, "other")
    fig.text(0.99, 0.5, "much too far to the right")
    fig.legend(*fig.axes[0].get_legend_handles_labels(), loc="center")
    canvas = FigureCanvasAgg(fig)
    canvas.draw()
    found = set(faults(fig, canvas.get_renderer()))
    assert {"'one' lies on 'other'", "'much too far to the right' is cut", "the legend lies on data"} <= found
