"""Who is ahead on the same questions, and how surely; 'cannot be told apart' is a result."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from semece.stats.diagnostics.changes import QUANTITIES
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.resampling import resampled_values
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling
from semece.stats.uncertainty.paired_errors import paired_mean, surely_less

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from semece.stats.diagnostics.changes import ComparedQuantity, Quantities, Sides
    from semece.stats.diagnostics.pools import Pool
    from semece.stats.rows import Floats, Integers
    from semece.stats.uncertainty.paired_errors import ErrorTerms

SURE = 0.95
"""How surely one arm must be ahead of another to be called so."""
RANKS: dict[str, type] = {
    "questions": int,
    **dict.fromkeys(("value", "debiased"), float),
    **dict.fromkeys(("rank", "rank_low", "rank_high"), int),
    "ahead": float,
}
"""Columns of a rank."""


def rank_arms(
    arms: Mapping[str, Pool], *, resampling: Resampling = DEFAULT, quantities: Quantities = QUANTITIES
) -> pl.DataFrame:
    """Rank arms, prompts or models on the questions that enter in all of them.

    Parameters
    ----------
    arms : mapping of str to Pool
        At least two; questions are matched by their position.
    resampling : Resampling
        Replicates and seed; all arms share the draws of questions.
    quantities : sequence of ComparedQuantity
        What they are ranked by; those without a direction are left out.

    Returns
    -------
    polars.DataFrame
        One row per quantity and arm, the best first: ``quantity`` (``accuracy``, and the ``_ece`` of each confidence
        that every arm has, unless others are named), ``arm``, ``questions``, ``value``; ``debiased`` (an ECE with less
        upward bias; else the value); ``rank`` by it (1: highest accuracy or least ECE; ties share the smaller one);
        ``rank_low`` and ``rank_high``: one more than the arms that are surely better, and the arms that are not surely
        worse; ``ahead``: how surely the arm is ahead of every other, in [0, 1]. Arms whose ``rank_low`` is 1 cannot be
        told apart from the best one. Only values and ranks for fewer than 30 questions.

    Raises
    ------
    ValueError
        For fewer than two arms, and arms without a question in common.

    Notes
    -----
    'Surely' is at 95 % for all statements about one quantity together: the p-values of all pairs of arms are adjusted
    (Holm 1979). So of equal arms, however many, any is called better than any other in at most 5 % of the data sets;
    with two arms nothing is adjusted. Error rates are in the documentation's benchmarks.

    Examples
    --------
    >>> import polars as pl
    >>> from semece.stats.diagnostics import pool
    >>> good, bad = pool([[0, 0, 1, 2]] * 40, [1, 0] * 20), pool([[0, 0, 0, 0]] * 40, [1, 0] * 20)
    >>> table = rank_arms({"bad": bad, "good": good}).filter(quantity="sem1_ece")
    >>> table.select("arm", pl.col("debiased").round(3), "rank", "rank_high").rows()
    [('good', 0.0, 1, 1), ('bad', 0.5, 2, 2)]
    """
    if len(arms) < 2:
        raise ValueError(f"at least two arms are needed to rank; got {len(arms)}")
    common = reduce(np.intersect1d, [each.question for each in arms.values()])
    if not len(common):
        raise ValueError("arms must have a question in common; got none")
    pools = [each.take(np.searchsorted(each.question, common)) for each in arms.values()]
    found = _ranked(pools, [each for each in quantities if each.better])
    rows = [row for name, each, sides in found for row in _ranks((name, each), list(arms), sides, resampling)]
    return frame(rows, {"quantity": str, "arm": str, **RANKS})


def _ranked(pools: Sequence[Pool], quantities: Quantities) -> Iterator[tuple[str, ComparedQuantity, Sides]]:
    """Give each quantity by its name, with confidence and correctness of every arm."""
    for quantity in (each for each in quantities if each.of_correctness):
        yield quantity.name, quantity, [(each.correct, each.correct) for each in pools]
    known = [{**dict(each.confidences()), **dict(each.orders())} for each in pools]
    for name in (each for each in known[0] if all(each in found for found in known)):
        values = np.stack([found[name] for found in known], axis=1)
        kept = ~np.isnan(values).any(axis=1)
        sides = [(column, each.correct[kept]) for column, each in zip(values[kept].T, pools, strict=True)]
        for quantity in (each for each in quantities if kept.any() and name in each.confidences + each.ranked):
            yield f"{name}_{quantity.name}", quantity, sides


def _ranks(
    named: tuple[str, ComparedQuantity], arms: Sequence[str], sides: Sides, resampling: Resampling
) -> Iterator[dict[str, Any]]:
    """Rank the arms by one quantity."""
    name, quantity = named
    higher = quantity.better == "higher"
    if quantity.terms is not None:
        yield from ranks_of_terms(name, arms, [quantity.terms(*side) for side in sides], higher=higher)
        return
    value = np.array([quantity.function(*side) for side in sides])
    chance = None
    if len(sides[0][1]) >= MIN_QUESTIONS:
        resampled = resampled_values(quantity.function, sides, resampling)
        chance = (1 + (resampled[:, :, None] >= resampled[:, None, :]).sum(axis=0)) / (len(resampled) + 1)
    yield from _rows(name, arms, (value, value), (chance, higher, len(sides[0][1])))


def ranks_of_terms(
    name: str, arms: Sequence[str], terms: Sequence[ErrorTerms], *, higher: bool = False
) -> Iterator[dict[str, Any]]:
    """Give the rows of a number that is made of terms.

    Parameters
    ----------
    name : str
        What it is called.
    arms : sequence of str
        What the arms are called.
    terms : sequence of ErrorTerms
        Of each arm, on the same questions in the same order.
    higher : bool
        Whether more is better; only of a mean.

    Yields
    ------
    dict
        The columns of :func:`rank_arms`.
    """
    n = len(terms[0].value)
    values = np.array([each.total for each in terms]), np.array([each.debiased for each in terms])
    chance = _chances(terms) if n >= MIN_QUESTIONS else None
    yield from _rows(name, arms, values, (chance, higher, n))


def _chances(terms: Sequence[ErrorTerms]) -> Floats:
    """P-value of 'the arm of the row is less than the arm of the column'."""
    chance = np.ones((len(terms), len(terms)))
    for i, one in enumerate(terms):
        for j in range(i + 1, len(terms)):
            other = terms[j]
            if one.value.shape[1] == 1:
                chance[i, j], chance[j, i] = paired_mean((other.value - one.value)[:, 0])[3:]
            else:
                chance[i, j], chance[j, i] = surely_less(one, other)
    return chance


def _rows(
    name: str, arms: Sequence[str], values: tuple[Floats, Floats], known: tuple[Floats | None, bool, int]
) -> Iterator[dict[str, Any]]:
    """Lay ranks out, the best first."""
    value, debiased = values
    chance, higher, n = known
    rank = rank_of((-1 if higher else 1) * debiased.round(12)[None])[0]
    found: dict[str, Floats | Integers] = {}
    if chance is not None:
        first = (debiased[:, None] > debiased) if higher else (debiased[:, None] < debiased)
        sure = _sureness(np.where(first, np.minimum(2 * (chance.T if higher else chance), 1.0), 1.0))
        better = sure > SURE
        np.fill_diagonal(sure, 1.0)
        low, high = 1 + better.sum(axis=0), len(arms) - better.sum(axis=1)
        found = {"rank_low": np.minimum(low, rank), "rank_high": np.maximum(high, rank), "ahead": sure.min(axis=1)}
    for i in np.lexsort((np.arange(len(arms)), rank)):
        row = {"quantity": name, "arm": arms[i], "questions": n, "value": value[i], "debiased": debiased[i]}
        yield row | {"rank": rank[i]} | {key: column[i] for key, column in found.items()}


def _sureness(p_values: Floats) -> Floats:
    """One minus the p-value of 'the row is better than the column', adjusted for all pairs; 0 the other way round."""
    upper = np.triu_indices(len(p_values), 1)
    pairs = holm(np.minimum(p_values, p_values.T)[upper])
    adjusted = np.ones_like(p_values)
    adjusted[upper] = pairs
    adjusted = np.minimum(adjusted, adjusted.T)
    return np.where(p_values <= p_values.T, 1 - adjusted, 0.0)


def holm(p_values: Floats) -> Floats:
    r"""Adjust p-values of statements that are made together: :math:`\max_{j \le i} (m - j + 1)\, p_{(j)}` (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, 0.9])).round(6).tolist()
    [0.08, 0.03, 0.9]
    """
    order = np.argsort(p_values)
    found = np.empty_like(p_values)
    found[order] = np.minimum(np.maximum.accumulate(p_values[order] * np.arange(len(p_values), 0, -1)), 1.0)
    return found


def rank_of(values: Floats) -> Integers:
    """Rank the entries of each row, 1 for the least; ties share the smaller rank.

    Examples
    --------
    >>> rank_of(np.array([[0.3, 0.1, 0.3]])).tolist()
    [[2, 1, 2]]
    """
    return np.asarray(1 + (values[:, None, :] < values[:, :, None]).sum(axis=-1))
