"""Several ways of looking at the same questions: how every number changes, and who is best, with what is uncertain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from semece.stats.calibration.bins import bin_index, width_bins
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.resampling import resampled_values
from semece.stats.rows import Floats, Integers, check_rows
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, NEAR_ZERO, Resampling, resampled_sums
from semece.stats.uncertainty.intervals import rejects_calibration, residual_moments

if TYPE_CHECKING:
    import polars as pl

    from semece.stats.diagnostics.pools import Pool

Sides = Sequence[tuple[Floats, Floats]]

N_BINS = 10


class ComparedQuantity(NamedTuple):
    """A number that arms are compared by.

    Parameters
    ----------
    name : str
        ``accuracy``; with a confidence's name before it, such as ``sem1_ece``, if it is of confidences.
    function : callable
        Given confidence and correctness, arrays of shape (Q,), gives the number.
    terms : callable or None
        Gives an array of shape (Q, k) whose column means, as absolute values, sum up to the number: quicker to
        resample. With several columns it is a sum of distances, whose interval is unreliable near zero.
    confidences : tuple of str
        Of which confidences; none if it needs correctness alone.
    better : {'higher', 'lower'} or None
        Which is ranked first; None: it is not ranked.
    """

    name: str
    function: Callable[[Floats, Floats], float]
    terms: Callable[[Floats, Floats], Floats] | None = None
    confidences: tuple[str, ...] = ()
    better: Literal["higher", "lower"] | None = None


Quantities = Sequence[ComparedQuantity]


def correctness_terms(_confidence: Floats, correct: Floats) -> Floats:
    """Give what accuracy is the mean of; shape (Q, 1)."""
    return correct[:, None]


def confidence_terms(confidence: Floats, _correct: Floats) -> Floats:
    """Give what the mean confidence is the mean of; shape (Q, 1)."""
    return confidence[:, None]


def bin_terms(confidence: Floats, correct: Floats) -> Floats:
    """Give the residual of each question in the column of its bin; shape (Q, bins)."""
    out = np.zeros((len(confidence), N_BINS))
    out[np.arange(len(confidence)), bin_index(confidence, n_bins=N_BINS)] = correct - confidence
    return out


def _sum_of_means(terms: Callable[[Floats, Floats], Floats]) -> Callable[[Floats, Floats], float]:
    return lambda confidence, correct: float(np.abs(terms(confidence, correct).mean(axis=0)).sum())


QUANTITIES: tuple[ComparedQuantity, ...] = (
    ComparedQuantity("accuracy", _sum_of_means(correctness_terms), correctness_terms, (), "higher"),
    ComparedQuantity("ece", _sum_of_means(bin_terms), bin_terms, ("sem1", "sem2", "verbalized"), "lower"),
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
        ``change`` (second - first), ``low``, ``high``, ``reason``, ``note``. No interval for fewer than 30 questions.

    Raises
    ------
    ValueError
        For fewer than two arms.

    Notes
    -----
    The interval of an ECE's change is a percentile interval: unreliable where one of the two is nearly calibrated. So
    it carries a note where calibration of either is not rejected at 5 %.

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
    **dict.fromkeys(("reason", "note"), str),
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
    for quantity in (each for each in quantities if not each.confidences):
        yield _row(quantity.name, quantity, ((a, a), (b, b)), resampling)
    known = dict(second.confidences())
    for name, values in first.confidences():
        if name not in known:
            continue
        c, d = values[here], known[name][there]
        kept = ~np.isnan(c) & ~np.isnan(d)
        if not kept.any():
            yield {"quantity": name, "questions": 0, "reason": "no question in common"}
            continue
        sides = (c[kept], a[kept]), (d[kept], b[kept])
        yield _row(name, ComparedQuantity(name, _sum_of_means(confidence_terms), confidence_terms), sides, resampling)
        for quantity in (each for each in quantities if name in each.confidences):
            yield _row(f"{name}_{quantity.name}", quantity, sides, resampling)


def _may_be_calibrated(confidence: Floats, correct: Floats) -> bool:
    """Whether calibration is not rejected; a mean of ones can be 1 + 2e-16."""
    rows = check_rows(np.minimum(confidence, 1.0), correct)
    return not rejects_calibration(residual_moments(rows, width_bins(rows.confidence, N_BINS, "left")))


def _row(name: str, quantity: ComparedQuantity, sides: Sides, resampling: Resampling) -> dict[str, Any]:
    """Values, change and interval of one quantity."""
    n = len(sides[0][1])
    (one, two), resampled = _measured(quantity, sides, resampling)
    row = {"quantity": name, "questions": n, "first": one, "second": two, "change": two - one}
    if resampled is None:
        return row | {"reason": f"no interval for fewer than {MIN_QUESTIONS} questions"}
    low, high = resampling.ends_around(two - one, resampled[:, 1] - resampled[:, 0])
    distance = quantity.terms is not None and quantity.terms(*sides[0]).shape[1] > 1
    near = distance and any(_may_be_calibrated(*side) for side in sides)
    return row | {"low": low, "high": high, "note": NEAR_ZERO if near else None}


def _measured(quantity: ComparedQuantity, sides: Sides, resampling: Resampling) -> tuple[Floats, Floats | None]:
    """Give the number on each side, and in each resample, shape (B, sides); None for too few questions."""
    n = len(sides[0][1])
    if quantity.terms is None:
        value = np.array([quantity.function(*side) for side in sides])
        return value, resampled_values(quantity.function, sides, resampling) if n >= MIN_QUESTIONS else None
    features = np.stack([quantity.terms(*side) for side in sides], axis=1)

    def values(sums: Floats) -> Floats:
        return np.asarray(np.abs(sums.reshape(-1, *features.shape[1:]) / n).sum(axis=-1))

    value = values(features.sum(axis=0))[0]
    return value, values(resampled_sums(features.reshape(n, -1), resampling)) if n >= MIN_QUESTIONS else None


def rank_arms(
    arms: Mapping[str, Pool], *, resampling: Resampling = DEFAULT, quantities: Quantities = QUANTITIES
) -> pl.DataFrame:
    """Rank arms, prompts or models on the questions that enter in all of them.

    Parameters
    ----------
    arms : mapping of str to Pool
        At least two; questions are matched by their position.
    resampling : Resampling
        Replicates, level and seed; all arms share the draws of questions.
    quantities : sequence of ComparedQuantity
        What they are ranked by; those without a direction are left out.

    Returns
    -------
    polars.DataFrame
        One row per quantity and arm, the best first: ``quantity`` (``accuracy``, and the ``_ece`` of each confidence
        that every arm has, unless others are named), ``arm``, ``questions``, ``value``, ``rank`` (1: highest accuracy
        or least ECE; ties share the smaller one), ``rank_low``, ``rank_high`` (ends of the ranks in the resamples) and
        ``best`` (share of the resamples in which the arm is first; ties share it). No ranks in resamples for fewer than
        30 questions.

    Raises
    ------
    ValueError
        For fewer than two arms, and arms without a question in common.

    Examples
    --------
    >>> from semece.stats.diagnostics import pool
    >>> good, bad = pool([[0, 0, 1, 2]] * 40, [1, 0] * 20), pool([[0, 0, 0, 0]] * 40, [1, 0] * 20)
    >>> rank_arms({"bad": bad, "good": good}).filter(quantity="sem1_ece").select("arm", "value", "rank", "best").rows()
    [('good', 0.0, 1, 1.0), ('bad', 0.5, 2, 0.0)]
    """
    if len(arms) < 2:
        raise ValueError(f"at least two arms are needed to rank; got {len(arms)}")
    common = reduce(np.intersect1d, [each.question for each in arms.values()])
    if not len(common):
        raise ValueError("arms must have a question in common; got none")
    pools = [each.take(np.searchsorted(each.question, common)) for each in arms.values()]
    found = _ranked(pools, [each for each in quantities if each.better])
    rows = [row for name, each, sides in found for row in _ranks((name, each), list(arms), sides, resampling)]
    numbers = {"questions": int, "value": float, "rank": int, "rank_low": int, "rank_high": int, "best": float}
    return frame(rows, {"quantity": str, "arm": str, **numbers})


def _ranked(pools: Sequence[Pool], quantities: Quantities) -> Iterator[tuple[str, ComparedQuantity, Sides]]:
    """Give each quantity by its name, with confidence and correctness of every arm."""
    for quantity in (each for each in quantities if not each.confidences):
        yield quantity.name, quantity, [(each.correct, each.correct) for each in pools]
    for name, _ in pools[0].confidences():
        values = np.stack([getattr(each, name) for each in pools], axis=1)
        kept = ~np.isnan(values).any(axis=1)
        sides = [(column, each.correct[kept]) for column, each in zip(values[kept].T, pools, strict=True)]
        for quantity in (each for each in quantities if kept.any() and name in each.confidences):
            yield f"{name}_{quantity.name}", quantity, sides


def _ranks(
    named: tuple[str, ComparedQuantity], arms: Sequence[str], sides: Sides, resampling: Resampling
) -> Iterator[dict[str, Any]]:
    """Rank the arms by one quantity."""
    name, quantity = named
    sign = -1 if quantity.better == "higher" else 1
    value, resampled = _measured(quantity, sides, resampling)
    value = value.round(12)
    rank = rank_of(sign * value[None])[0]
    found: dict[str, Floats] = {}
    if resampled is not None:
        ranks = rank_of(sign * resampled.round(12))
        ends = resampling.ends(ranks, "inverted_cdf")
        first = ranks == 1
        found = {"rank_low": ends[0], "rank_high": ends[1], "best": (first / first.sum(axis=1)[:, None]).mean(axis=0)}
    for i in np.lexsort((np.arange(len(arms)), rank)):
        row = {"quantity": name, "arm": arms[i], "questions": len(sides[0][1]), "value": value[i], "rank": rank[i]}
        yield row | {key: column[i] for key, column in found.items()}


def rank_of(values: Floats) -> Integers:
    """Rank the entries of each row, 1 for the least; ties share the smaller rank.

    Examples
    --------
    >>> rank_of(np.array([[0.3, 0.1, 0.3]])).tolist()
    [[2, 1, 2]]
    """
    return np.asarray(1 + (values[:, None, :] < values[:, :, None]).sum(axis=-1))
