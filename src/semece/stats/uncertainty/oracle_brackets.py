r"""Between which numbers the mean oracle confidence E c\* lies: what calibration would be held against.

c\* is the probability of the most probable class. Sem2 is too low for it and Sem1 too high, on average and for any
probabilities: E Sem2 <= c\* <= E Sem1. That is the bracket. A narrower one takes more of what M answers tell exactly:
the expectations E Sem1(m) for m <= M answers, and E pi_z(m), the probability of the class that m <= M - 1 of them
select, each an average over all subsamples. Two combinations of these, with weights of at most 1 in size, were chosen
by linear programs so that one is at most c\* and the other at least c\* on a net of distributions
(``benchmarks/_oracle_weights.py``). They hold for the tested nets only: up to 20 classes, with or without a tail of
answers none of which ever comes twice, and up to 200 equal classes. Each side is widened by twice the worst violation
on 20,000 fresh distributions.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.counts import Counts, blocks_of_every_size, is_much, once_per_counts, subset_selection
from semece.stats.estimators.estimate_table import counts_of_many
from semece.stats.rows import check_choice, check_ids, check_level, check_weights
from semece.stats.uncertainty.skewed_means import Drawn, share_interval
from semece.stats.written_numbers import interval_html

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike

    from semece.stats.estimators.estimate_table import Labels
    from semece.stats.rows import Floats

    Method = Literal["narrow", "means"]

METHODS = ("narrow", "means")
WIDENED = 2.0
"""Each side is moved outwards by so many times its worst violation."""
AT_ONCE = 5
"""So many sizes of blocks one by one take as long as all at once in numpy, where compiled code does not pay yet."""
LEAST = 2
"""Fewest answers of a question that enters."""


class OracleBracket(NamedTuple):
    r"""Between which numbers the mean oracle confidence lies.

    Parameters
    ----------
    value : float
        The middle of the bracket.
    low, high : float
        The ends of the bracket with sampling error, one-sided at (1 + level) / 2 each; in [0, 1].
    lower, upper : float
        The ends of the bracket: what infinitely many such questions would leave open; in [0, 1].
    sem2, sem1 : float
        Means of Sem2 and Sem1: the plain bracket.
    n_questions : int
        Questions that enter.
    """

    value: float
    low: float
    high: float
    lower: float
    upper: float
    sem2: float
    sem1: float
    n_questions: int

    def _repr_html_(self) -> str:
        return interval_html(*self[:3])


class Weights(NamedTuple):
    """Weights of the lower and of the upper bound for M answers, and how much each is moved outwards.

    Parameters
    ----------
    sem1 : ndarray, shape (2, M)
        Of E Sem1(m), m = 1 .. M.
    selected : ndarray, shape (2, M - 1)
        Of E pi_z(m), m = 1 .. M - 1.
    outwards : ndarray, shape (2,)
        Negative for the lower bound.
    """

    sem1: Floats
    selected: Floats
    outwards: Floats


def oracle_bracket(
    labels: Labels | None = None,
    *,
    counts: Counts | None = None,
    method: Method = "narrow",
    level: float = 0.95,
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> OracleBracket:
    r"""Bracket the mean oracle confidence E c\*, with sampling error.

    Parameters
    ----------
    labels : sequence of Q label sequences, or integer array of shape (Q, M)
        Classes of each question's responses; the lengths may differ.
    counts : Counts, optional
        Class counts instead of labels.
    method : {'narrow', 'means'}
        ``"means"``: mean Sem2 and mean Sem1, which hold for any probabilities. ``"narrow"``: combinations of exact
        expectations with weights that were tested on distributions of up to 20 classes and a tail of answers that never
        repeat. A question with M answers takes the weights of the largest table that does not exceed M; with fewer
        answers than the smallest, 4, Sem2 and Sem1.
    level : float
        In (0, 1).
    ids : array_like, shape (Q,), optional
        Cluster of each question; without them every question is its own.
    weights : array_like, shape (Q,), optional
        Frequency weights >= 0, whole numbers: how often each question occurs.

    Returns
    -------
    OracleBracket
        Of the questions with at least two answers. The narrow ends are never outside the plain ones.

    Raises
    ------
    ValueError
        If no question has two answers, for an unknown method, and for ids or weights that are not one per question.

    Notes
    -----
    All answers count, refusals too: leave them out of the counts first. Coverage and width, beside the plain bracket,
    are in the documentation's benchmarks.

    Examples
    --------
    >>> labels = [[0, 0, 1, 0, 2, 0, 0, 1, 0, 0]] * 40 + [[0, 1, 0, 1, 1, 0, 2, 0, 1, 0]] * 40
    >>> plain, narrow = (oracle_bracket(labels, method=method) for method in ("means", "narrow"))
    >>> bool(plain.lower <= narrow.lower <= narrow.upper <= plain.upper)
    True
    """
    check_choice("method", method, METHODS)
    check_level(level)
    every = counts_of_many(labels, counts)
    known = None if ids is None else check_ids(ids, len(every))
    times = np.ones(len(every)) if weights is None else check_weights(weights, len(every))
    questions = np.flatnonzero((every.responses >= LEAST) & (times > 0))
    if len(questions) == 0:
        raise ValueError(
            f"at least one question must have {LEAST} answers; got at most {every.responses.max(initial=0)}"
        )
    clusters = None if known is None else np.unique(known[questions], return_inverse=True)[1]
    different, number = every.take(questions)[0].distinct()
    plain, *narrower = _bounds(different, method)
    narrow = narrower[0] if narrower else plain
    return bracket_of(plain[:, number], narrow[:, number], Drawn(times[questions], clusters, level))


def bracket_of(plain: Floats, narrow: Floats, drawn: Drawn) -> OracleBracket:
    """Bracket of bounds by question, each of shape (2, Q), unchecked: on each side the tighter of plain and narrow."""
    means, ends = _ends(plain, drawn)
    tighter, tighter_ends = (means, ends) if narrow is plain else _ends(narrow, drawn)
    lower, upper = max(means[0], tighter[0]), min(means[1], tighter[1])
    if lower > upper:  # narrow bounds of few questions may cross
        lower, upper = means
    low, high = max(ends[0], tighter_ends[0]), min(ends[1], tighter_ends[1])
    sem2, sem1 = means
    middle = (lower + upper) / 2
    return OracleBracket(middle, min(low, lower), max(high, upper), lower, upper, sem2, sem1, int(drawn.weights.sum()))


def _ends(bounds: Floats, drawn: Drawn) -> tuple[list[float], list[float]]:
    """Means of the lower and of the upper bound, and the low end of the one and the high end of the other."""
    lower, upper = (share_interval(values, drawn) for values in bounds)
    return [lower.value, upper.value], [lower.low, upper.high]


@once_per_counts
def _bounds(counts: Counts, method: Method) -> tuple[Floats, ...]:
    """Bounds of each question, each of shape (2, Q): plain ones, and narrow ones by that method."""
    plain = plain_bounds(counts)
    return (plain, narrow_bounds(counts, plain)) if method == "narrow" else (plain,)


def plain_bounds(counts: Counts) -> Floats:
    """Sem2 and Sem1 of each question; shape (2, Q). Sem2 is at most Sem1, also after rounding."""
    total = counts.responses
    found = subset_selection(counts, total // 2)
    most = counts.largest / total
    return np.stack([np.minimum((found.selected - found.largest) / (total - total // 2), most), most])


def narrow_bounds(counts: Counts, plain: Floats) -> Floats:
    """Lower and upper bound of each question by the weights of its table, moved outwards; shape (2, Q)."""
    bounds, sizes = plain.copy(), np.array(sorted(tables()))
    which = np.searchsorted(sizes, counts.responses, side="right") - 1
    for at in np.unique(which[which >= 0]):
        questions = np.flatnonzero(which == at)
        bounds[:, questions] = _weighted(counts.take(questions)[0], tables()[int(sizes[at])])
    return bounds


def _weighted(counts: Counts, weights: Weights) -> Floats:
    """Combine the exact expectations over subsamples of each question; shape (2, Q)."""
    most, total = weights.sem1.shape[1], counts.responses
    bounds = np.repeat(weights.outwards[:, None], len(counts), axis=1)
    if not is_much(total, max(most // AT_ONCE, 1)):
        sizes = np.arange(1, most + 1)
        largest, selected = blocks_of_every_size(counts, most)
        bounds += weights.sem1 @ (largest / sizes).T
        held_out = (selected - largest)[:, :-1] / (total[:, None] - sizes[:-1])
        return np.asarray(bounds + weights.selected @ held_out.T)
    for m in range(1, most + 1):
        found = subset_selection(counts, m, calls=most)
        bounds += np.outer(weights.sem1[:, m - 1], found.largest / m)
        if m < most:
            bounds += np.outer(weights.selected[:, m - 1], (found.selected - found.largest) / (total - m))
    return bounds


@lru_cache(maxsize=1)
def tables() -> dict[int, Weights]:
    """Read the weights by number of answers.

    Examples
    --------
    >>> [len(tables()[20].selected[0]), min(tables())]
    [19, 4]
    """
    found: dict[int, list[list[float]]] = {}
    for line in resources.files(__package__).joinpath("oracle_weights.tsv").read_text(encoding="utf-8").splitlines():
        size, _, *numbers = line.split("\t")
        found.setdefault(int(size), []).append([float(number) for number in numbers])
    outwards = np.array([-WIDENED, WIDENED])
    return {
        size: Weights(rows[:, 1 : size + 1], rows[:, size + 1 :], outwards * rows[:, 0])
        for size, rows in ((size, np.array(pair)) for size, pair in found.items())
    }
