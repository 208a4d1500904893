"""Two ways of looking at the same questions: how every number changes, with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semece.bins import bin_index
from semece.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling
from semece.diagnostics.frames import frame
from semece.diagnostics.resampling import resampled_sums
from semece.rows import check_level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from semece.diagnostics.pools import Pool

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
        ``low``, ``high``, ``reason``. No interval for fewer than 30 questions.

    Raises
    ------
    ValueError
        For fewer than two arms.

    Notes
    -----
    The interval of an ECE's change is a percentile interval: unreliable where one of the two is nearly calibrated.

    Examples
    --------
    >>> from semece.diagnostics import pool
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
        residuals = _residuals(c[kept], a[kept]), _residuals(d[kept], b[kept])
        yield _row(f"{name}_ece", residuals, resampling, binned=True)


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
