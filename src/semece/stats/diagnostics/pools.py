"""The pooled responses of a run's questions: what every diagnostic starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.bins import distinct
from semece.stats.counts import Counts
from semece.stats.estimators import estimate

if TYPE_CHECKING:
    from semece.stats.rows import Floats, Integers

FEW = 30
"""Fewest questions for which a mean over questions is given."""


class Pool(NamedTuple):
    """Questions that enter, with what was read off their pooled responses; arrays have shape (Q,).

    Parameters
    ----------
    counts : Counts
        Class counts.
    question : ndarray of int
        Position of each question in what :func:`pool` was given.
    n_responses, n_classes : ndarray of int
        M >= 2 and K of each question.
    margin, top_two_mass : ndarray
        Delta and p, in [0, 1].
    sem1, sem2, correct : ndarray
        Confidences and correctness (pooled pairing), in [0, 1].
    verbalized : ndarray
        Mean stated confidence, in [0, 1]; nan where there is none.
    excluded : dict of str to int
        How many questions do not enter, by reason: ``'too_few'`` responses, or ``'ungraded'``.
    scores, ranked : dict of str to ndarray
        Further confidences in [0, 1], and scores of which only the order means something, more being surer; nan where
        there is none.
    """

    counts: Counts
    question: Integers
    n_responses: Integers
    n_classes: Integers
    margin: Floats
    top_two_mass: Floats
    sem1: Floats
    sem2: Floats
    correct: Floats
    verbalized: Floats
    excluded: dict[str, int]
    scores: Mapping[str, Floats] = {}
    ranked: Mapping[str, Floats] = {}

    def take(self, questions: ArrayLike) -> Pool:
        """Select some of the questions, by number or by a mask of shape (Q,); ``excluded`` stays.

        Examples
        --------
        >>> some = pool([[0, 0, 1], [0, 1]], [1, 0])
        >>> some.take(some.n_responses >= 3).question.tolist()
        [0]
        """
        chosen = np.arange(len(self.question))[np.asarray(questions)]
        arrays = {name: values[chosen] for name, values in self._asdict().items() if isinstance(values, np.ndarray)}
        some = self._replace(counts=self.counts.take(chosen)[0], **arrays)
        scores, ranked = ({k: v[chosen] for k, v in each.items()} for each in (self.scores, self.ranked))
        return some._replace(scores=scores, ranked=ranked)

    def confidences(self) -> Iterator[tuple[str, Floats]]:
        """Give each confidence that some question has, by name."""
        own = {"sem1": self.sem1, "sem2": self.sem2, "verbalized": self.verbalized}
        yield from ((name, values) for name, values in {**own, **self.scores}.items() if not np.isnan(values).all())

    def orders(self) -> Iterator[tuple[str, Floats]]:
        """Give each score of which only the order means something, by name, as numbers in [0, 1] of the same order.

        Examples
        --------
        >>> some = pool([[0, 0, 1], [0, 1]], [1, 0])._replace(ranked={"entropy": np.array([-0.2, -3.0])})
        >>> [(name, values.tolist()) for name, values in some.orders()]
        [('entropy', [1.0, 0.5])]
        """
        yield from ((name, in_order(values)) for name, values in self.ranked.items() if not np.isnan(values).all())


def in_order(values: Floats) -> Floats:
    """Give numbers in (0, 1] of the same order; those that agree to nine significant digits are equal, nan stays.

    Examples
    --------
    >>> in_order(np.array([-7.0, 0.1 + 0.2, 0.3, np.nan, 1e9])).round(3).tolist()
    [0.333, 0.667, 0.667, nan, 1.0]
    """
    there = ~np.isnan(values)
    found = np.full(len(values), np.nan)
    if there.any():
        known, place = distinct(values[there])
        found[there] = (place + 1) / len(known)
    return found


def pool(
    labels: Sequence[ArrayLike] | None = None,
    correct: Sequence[Any] | Floats | None = None,
    verbalized: Sequence[Any] | None = None,
    *,
    counts: Counts | None = None,
) -> Pool:
    """Read off the pooled responses of many questions what the diagnostics need.

    Parameters
    ----------
    labels : sequence of Q label sequences
        Classes of each question's responses; the lengths may differ.
    correct : sequence of length Q
        Per question the correctness of its deployed answer in [0, 1] (None: not graded), or one value per class.
    verbalized : sequence of length Q, optional
        Per question its stated confidences, or their mean.
    counts : Counts, optional
        Class counts instead of labels.

    Returns
    -------
    Pool
        The questions with at least two responses and a grade; the others are counted in ``excluded``.

    Raises
    ------
    ValueError
        If no question enters, and as :func:`semece.estimate`.

    Examples
    --------
    >>> some = pool([[0, 0, 1], [0], [0, 1]], [1, 1, None])
    >>> some.question.tolist(), some.excluded
    ([0], {'too_few': 1, 'ungraded': 1})
    """
    table = estimate(labels, correct, verbalized, counts=counts)
    status = table["status"].to_numpy()
    kept = np.flatnonzero(status == "complete")
    excluded = {reason: int((status == reason).sum()) for reason in ("too_few", "ungraded")}
    if len(kept) == 0:
        reasons = ", ".join(f"{number} {reason}" for reason, number in excluded.items())
        raise ValueError(f"at least one question must have two responses and a grade; got {reasons}")
    every = counts if counts is not None else Counts.from_labels(() if labels is None else labels)

    def column(name: str) -> Floats:
        return np.asarray(table[name].cast(float).fill_null(float("nan")).to_numpy()[kept])

    columns: dict[str, Any] = {name: column(name) for name in _COLUMNS}
    return Pool(
        counts=every.take(kept)[0],
        question=kept,
        n_responses=table["n_responses"].to_numpy()[kept],
        n_classes=table["n_classes"].to_numpy()[kept],
        excluded=excluded,
        **columns,
    )


_COLUMNS = ("margin", "top_two_mass", "sem1", "sem2", "correct", "verbalized")
