"""Several ways of looking at the same questions: how every number changes, with what is uncertain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.resampling import resampled_values
from semece.stats.rows import Floats
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling, resampled_sums
from semece.stats.uncertainty.drift import change_at_look
from semece.stats.uncertainty.paired_errors import ErrorTerms, binned_terms, paired_error, paired_mean

if TYPE_CHECKING:
    import polars as pl

    from semece.stats.diagnostics.pools import Pool

Sides = Sequence[tuple[Floats, Floats]]

FEW = f"no interval for fewer than {MIN_QUESTIONS} questions"


class ComparedQuantity(NamedTuple):
    """A number that arms are compared by.

    Parameters
    ----------
    name : str
        ``accuracy``; with a confidence's name before it, such as ``sem1_ece``, if it is of confidences.
    function : callable
        Given confidence and correctness, arrays of shape (Q,), gives the number.
    terms : callable or None
        Gives the :class:`.ErrorTerms` of the number: with several columns it is an error, with one a mean. Without it
        the number is computed on resampled questions.
    confidences : tuple of str
        Of which confidences; none if it needs correctness alone.
    better : {'higher', 'lower'} or None
        Which is ranked first; None: it is not ranked.
    ranked : tuple of str
        Of which scores of which only the order means something.
    """

    name: str
    function: Callable[[Floats, Floats], float]
    terms: Callable[[Floats, Floats], ErrorTerms] | None = None
    confidences: tuple[str, ...] = ()
    better: Literal["higher", "lower"] | None = None
    ranked: tuple[str, ...] = ()

    @property
    def of_correctness(self) -> bool:
        """Whether it needs correctness alone."""
        return not self.confidences and not self.ranked


Quantities = Sequence[ComparedQuantity]


def correctness_terms(_confidence: Floats, correct: Floats) -> ErrorTerms:
    """Give what accuracy is the mean of."""
    return ErrorTerms(correct[:, None], np.zeros(1))


def total_of(terms: Callable[[Floats, Floats], ErrorTerms]) -> Callable[[Floats, Floats], float]:
    """Give the number that terms sum up to."""
    return lambda confidence, correct: terms(confidence, correct).total


QUANTITIES: tuple[ComparedQuantity, ...] = (
    ComparedQuantity("accuracy", total_of(correctness_terms), correctness_terms, (), "higher"),
    ComparedQuantity("ece", total_of(binned_terms), binned_terms, ("sem1", "sem2", "verbalized"), "lower"),
)
"""What arms are compared by unless other quantities are named."""


def compare_arms(
    arms: Mapping[str, Pool], *, resampling: Resampling = DEFAULT, quantities: Quantities = QUANTITIES
) -> pl.DataFrame:
    """Compare decoding arms, prompts or judges on the same questions: each with the first.

    Parameters
    ----------
    arms : mapping of str to Pool
        At least two. The questions that enter in both of a pair are compared; they are matched by their position.
    resampling : Resampling
        Replicates, level and seed; both sides of a pair share the draws of questions.
    quantities : sequence of ComparedQuantity
        What they are compared by, beside the mean of each confidence.

    Returns
    -------
    polars.DataFrame
        One row per later arm and quantity: ``arm``, ``quantity`` (``accuracy``, and per confidence ``sem1``, ``sem2``,
        ``verbalized`` its mean and its ``_ece``, unless others are named), ``questions``, ``first``, ``second``,
        ``change`` (second - first), ``low``, ``high``, ``reason``. No interval for fewer than 30 questions.

    Raises
    ------
    ValueError
        For fewer than two arms.

    Notes
    -----
    The interval of an ECE's change also holds where one of the two is nearly calibrated, and is wider there
    (:func:`semece.stats.uncertainty.paired_errors.paired_error`).

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> hot = pool([[0, 0, 1, 2]] * 40, [1, 0] * 20)
    >>> cold = pool([[0, 0, 0, 1]] * 40, [1, 0] * 20)
    >>> compare_arms({"hot": hot, "cold": cold}).filter(quantity="sem1").select("arm", "change", "low").rows()
    [('cold', 0.25, 0.25)]
    """
    if len(arms) < 2:
        raise ValueError(f"at least two arms are needed to compare; got {len(arms)}")
    (_, first), *others = arms.items()
    rows = [{"arm": name} | row for name, second in others for row in changes(first, second, resampling, quantities)]
    return frame(rows, {"arm": str, "quantity": str, **CHANGE})


CHANGE: dict[str, type] = {
    "questions": int,
    **dict.fromkeys(("first", "second", "change", "low", "high"), float),
    "reason": str,
}
"""Columns of a change."""


def changes(
    first: Pool, second: Pool, resampling: Resampling = DEFAULT, quantities: Quantities = QUANTITIES
) -> Iterator[dict[str, Any]]:
    """Give a row per quantity for the questions that two pools share."""
    _, here, there = np.intersect1d(first.question, second.question, return_indices=True)
    if len(here) == 0:
        yield {"quantity": "accuracy", "questions": 0, "reason": "no question in common"}
        return
    a, b = first.correct[here], second.correct[there]
    for quantity in (each for each in quantities if each.of_correctness):
        yield _row(quantity.name, quantity, ((a, a), (b, b)), resampling)
    known = {**dict(second.confidences()), **dict(second.orders())}
    for name, values in (*first.confidences(), *first.orders()):
        if name not in known:
            continue
        c, d = values[here], known[name][there]
        kept = ~np.isnan(c) & ~np.isnan(d)
        if not kept.any():
            yield {"quantity": name, "questions": 0, "reason": "no question in common"}
            continue
        sides = (c[kept], a[kept]), (d[kept], b[kept])
        if name in first.ranked or name in second.ranked:
            ranked = (each for each in quantities if name in each.ranked)
            yield from (_row(f"{name}_{each.name}", each, sides, resampling) for each in ranked)
            continue
        yield _mean_row(name, sides, resampling)
        for quantity in (each for each in quantities if name in each.confidences):
            yield _row(f"{name}_{quantity.name}", quantity, sides, resampling)


def _row(name: str, quantity: ComparedQuantity, sides: Sides, resampling: Resampling) -> dict[str, Any]:
    """Values, change and interval of one quantity."""
    if quantity.terms is not None:
        return change_of_terms(name, *(quantity.terms(*side) for side in sides), resampling=resampling)
    (one, two), n = (quantity.function(*side) for side in sides), len(sides[0][1])
    row = {"quantity": name, "questions": n, "first": one, "second": two, "change": two - one}
    if n < MIN_QUESTIONS:
        return row | {"reason": FEW}
    resampled = resampled_values(quantity.function, sides, resampling)
    return row | _ends(resampling.ends_around(two - one, resampled[:, 1] - resampled[:, 0]))


def _mean_row(name: str, sides: Sides, resampling: Resampling) -> dict[str, Any]:
    """Values, change and percentile interval of the mean of a confidence."""
    values = np.stack([confidence for confidence, _ in sides], axis=1)
    one, two = values.mean(axis=0)
    row = {"quantity": name, "questions": len(values), "first": one, "second": two, "change": two - one}
    if len(values) < MIN_QUESTIONS:
        return row | {"reason": FEW}
    resampled = resampled_sums(values[:, 1:] - values[:, :1], resampling)[:, 0] / len(values)
    return row | _ends(resampling.ends_around(two - one, resampled))


def _ends(ends: Sequence[Floats]) -> dict[str, float]:
    return {"low": float(ends[0]), "high": float(ends[1])}


def change_of_terms(
    name: str, first: ErrorTerms, second: ErrorTerms, *, resampling: Resampling = DEFAULT
) -> dict[str, Any]:
    """Give the row of a number that is made of terms: a calibration error, or a mean of values in [0, 1].

    Parameters
    ----------
    name : str
        What it is called.
    first, second : ErrorTerms
        Of the same questions in the same order.
    resampling : Resampling
        Level and seed.

    Returns
    -------
    dict
        The columns of :func:`compare_arms` but for ``arm``. A mean of fewer than 30 questions has the interval of one
        look of :func:`semece.change_at_look`, which leaves 0 out no oftener than it says for any number of questions.
    """
    n = len(first.value)
    row = {"quantity": name, "questions": n, "first": first.total, "second": second.total}
    row["change"] = second.total - first.total
    is_mean = first.value.shape[1] == 1
    if n < MIN_QUESTIONS:
        return row | (_of_few((second.value - first.value)[:, 0], resampling.level) if is_mean else {"reason": FEW})
    if is_mean:
        found = paired_mean((second.value - first.value)[:, 0], level=resampling.level)
    else:
        found = paired_error(first, second, level=resampling.level, rng=resampling.rng)
    return row | {"low": found.low, "high": found.high}


def _of_few(difference: Floats, level: float) -> dict[str, Any]:
    """Give the interval of a mean of few differences, or say that there are too few for any."""
    found = change_at_look(difference, 1, alarms=2 * (1 - level))  # the first look spends half
    if np.isinf(found.low):
        return {"reason": f"no interval for so few questions ({len(difference)})"}
    return {"low": found.low, "high": found.high}
