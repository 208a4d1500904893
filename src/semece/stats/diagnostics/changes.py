"""Several ways of looking at the same questions: how every number changes, and who is best, with what is uncertain."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from semece.stats.calibration.bins import bin_index, width_bins
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.resampling import resampled_sums
from semece.stats.rows import check_level, check_rows
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, NEAR_ZERO, Resampling
from semece.stats.uncertainty.intervals import rejects_calibration, residual_moments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from semece.stats.diagnostics.pools import Pool

    Floats = NDArray[np.float64]

N_BINS = 10


def compare_arms(arms: Mapping[str, Pool], *, resampling: Resampling = DEFAULT) -> pl.DataFrame:
    """Compare decoding arms, prompts or judges on the same questions: each with the first.

    Parameters
    ----------
    arms : mapping of str to Pool
        At least two. The questions that enter in both of a pair are compared; they are matched by their position.
    resampling : Resampling
        Replicates, level and seed; both sides of a pair share the draws of questions.

    Returns
    -------
    polars.DataFrame
        One row per later arm and quantity: ``arm``, ``quantity`` (``accuracy``, and per confidence ``sem1``, ``sem2``,
        ``verbalized`` its mean and its ``_ece``), ``questions``, ``first``, ``second``, ``change`` (second - first),
        ``low``, ``high``, ``reason``, ``note``. No interval for fewer than 30 questions.

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
    rows = [{"arm": name} | row for name, second in others for row in changes(first, second, resampling)]
    return frame(rows, {"arm": str, "quantity": str, **CHANGE})


CHANGE: dict[str, type] = {
    "questions": int,
    "first": float,
    "second": float,
    "change": float,
    "low": float,
    "high": float,
    "reason": str,
    "note": str,
}
"""Columns of a change."""


def changes(first: Pool, second: Pool, resampling: Resampling = DEFAULT) -> Iterator[dict[str, Any]]:
    """Give a row per quantity for the questions that two pools share."""
    _, here, there = np.intersect1d(first.question, second.question, return_indices=True)
    if len(here) == 0:
        yield {"quantity": "accuracy", "questions": 0, "reason": "no question in common"}
        return
    a, b = first.correct[here], second.correct[there]
    yield _row("accuracy", (a[:, None], b[:, None]), resampling, binned=False)
    known = dict(second.confidences())
    for name, values in first.confidences():
        if name not in known:
            continue
        c, d = values[here], known[name][there]
        kept = ~np.isnan(c) & ~np.isnan(d)
        if not kept.any():
            yield {"quantity": name, "questions": 0, "reason": "no question in common"}
            continue
        yield _row(name, (c[kept, None], d[kept, None]), resampling, binned=False)
        sides = (c[kept], a[kept]), (d[kept], b[kept])
        row = _row(f"{name}_ece", (_residuals(*sides[0]), _residuals(*sides[1])), resampling, binned=True)
        yield row | {"note": NEAR_ZERO if "low" in row and any(_may_be_calibrated(*side) for side in sides) else None}


def _may_be_calibrated(confidence: Floats, correct: Floats) -> bool:
    """Whether calibration is not rejected; a mean of ones can be 1 + 2e-16."""
    rows = check_rows(np.minimum(confidence, 1.0), correct)
    return not rejects_calibration(residual_moments(rows, width_bins(rows.confidence, N_BINS, "left")))


def _residuals(confidence: Floats, correct: Floats) -> Floats:
    """Residual of each question in the column of its bin; shape (Q, bins)."""
    out = np.zeros((len(confidence), N_BINS))
    out[np.arange(len(confidence)), bin_index(confidence, n_bins=N_BINS)] = correct - confidence
    return out


def _row(name: str, sides: tuple[Floats, Floats], resampling: Resampling, *, binned: bool) -> dict[str, Any]:
    """Values, change and interval of one quantity: a mean, or a sum of absolute mean residuals."""
    n, width = sides[0].shape
    features = np.concatenate(sides, axis=1)

    def values(sums: Floats) -> tuple[Floats, Floats]:
        parts = sums[..., :width] / n, sums[..., width:] / n
        one, two = (np.abs(part).sum(axis=-1) if binned else part[..., 0] for part in parts)
        return one, two

    one, two = values(features.sum(axis=0))
    row = {"quantity": name, "questions": n, "first": one, "second": two, "change": two - one}
    if n < MIN_QUESTIONS:
        return row | {"reason": f"no interval for fewer than {MIN_QUESTIONS} questions"}
    before, after = values(resampled_sums(features, resampling))
    level = check_level(resampling.level)
    low, high = np.quantile(after - before, [0.5 - level / 2, 0.5 + level / 2])
    return row | {"low": low, "high": high}


def rank_arms(arms: Mapping[str, Pool], *, resampling: Resampling = DEFAULT) -> pl.DataFrame:
    """Rank arms, prompts or models on the questions that enter in all of them.

    Parameters
    ----------
    arms : mapping of str to Pool
        At least two; questions are matched by their position.
    resampling : Resampling
        Replicates, level and seed; all arms share the draws of questions.

    Returns
    -------
    polars.DataFrame
        One row per quantity and arm, the best first: ``quantity`` (``accuracy``, and the ``_ece`` of each confidence
        that every arm has), ``arm``, ``questions``, ``value``, ``rank`` (1: highest accuracy or least ECE; ties share
        the smaller one), ``rank_low``, ``rank_high`` (ends of the ranks in the resamples) and ``best`` (share of the
        resamples in which the arm is first; ties share it). No ranks in resamples for fewer than 30 questions.

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
    rows = [row for name, features in _ranked(pools) for row in _ranks(name, list(arms), features, resampling)]
    numbers = {"questions": int, "value": float, "rank": int, "rank_low": int, "rank_high": int, "best": float}
    return frame(rows, {"quantity": str, "arm": str, **numbers})


def _ranked(pools: Sequence[Pool]) -> Iterator[tuple[str, Floats]]:
    """Give each quantity with what its value sums up, shape (Q, arms, bins)."""
    yield "accuracy", np.stack([each.correct for each in pools], axis=1)[..., None]
    for name, _ in pools[0].confidences():
        values = np.stack([getattr(each, name) for each in pools], axis=1)
        kept = ~np.isnan(values).any(axis=1)
        if kept.any():
            sides = zip(values[kept].T, (each.correct[kept] for each in pools), strict=True)
            yield f"{name}_ece", np.stack([_residuals(*side) for side in sides], axis=1)


def _ranks(name: str, arms: Sequence[str], features: Floats, resampling: Resampling) -> Iterator[dict[str, Any]]:
    """Rank the arms by one quantity."""
    n, *shape = features.shape
    sign = -1 if name == "accuracy" else 1

    def values(sums: Floats) -> Floats:
        return np.asarray(np.abs(sums.reshape(-1, *shape) / n).sum(axis=-1)).round(12)

    value = values(features.sum(axis=0))[0]
    rank = rank_of(sign * value[None])[0]
    found: dict[str, Floats] = {}
    if n >= MIN_QUESTIONS:
        ranks = rank_of(sign * values(resampled_sums(features.reshape(n, -1), resampling)))
        level = check_level(resampling.level)
        ends = np.quantile(ranks, [0.5 - level / 2, 0.5 + level / 2], axis=0, method="inverted_cdf")
        first = ranks == 1
        found = {"rank_low": ends[0], "rank_high": ends[1], "best": (first / first.sum(axis=1)[:, None]).mean(axis=0)}
    for i in np.lexsort((np.arange(len(arms)), rank)):
        row = {"quantity": name, "arm": arms[i], "questions": n, "value": value[i], "rank": rank[i]}
        yield row | {key: column[i] for key, column in found.items()}


def rank_of(values: Floats) -> NDArray[np.int64]:
    """Rank the entries of each row, 1 for the least; ties share the smaller rank.

    Examples
    --------
    >>> rank_of(np.array([[0.3, 0.1, 0.3]])).tolist()
    [[2, 1, 2]]
    """
    return np.asarray(1 + (values[:, None, :] < values[:, :, None]).sum(axis=-1))
