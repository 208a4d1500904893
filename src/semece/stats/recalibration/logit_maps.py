r"""Maps that are straight lines in the log-odds: Platt, temperature, beta; and Platt's line cut into bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.recalibration.logistic import logistic_fit, platt_targets
from semece.stats.recalibration.maps import Domain, expit, logit
from semece.stats.recalibration.step_maps import Parameters, binned
from semece.stats.rows import sums

if TYPE_CHECKING:
    from semece.stats.rows import CheckedRows, Floats

SEPARATED = (
    "right and wrong answers are separated by the score, so one imagined answer of each kind keeps the fit finite"
)
CONSTANT = "all scores are equal, so only the level was fitted and not the slope"
TWO_SCORES = "there are only two different scores, so both exponents are equal"
FALLING = "higher scores went with fewer right answers here, so the map reverses the order"
FLAT = "higher scores do not go with more right answers, so the map is constant"
ROUNDING = 1e-9
"""A slope below this, over the largest distance of the log-odds from their mean, is zero."""


class LogitScale(NamedTuple):
    """How scores come to the scale on which a line is fitted.

    Parameters
    ----------
    domain : {'unit', 'real'}
        Whether the log-odds are taken, or the score itself.
    clip : float
        Scores are moved into [clip, 1 - clip] before.
    """

    domain: Domain
    clip: float

    def values(self, score: Floats) -> Floats:
        """Put scores on the scale."""
        return score if self.domain == "real" else logit(score, self.clip)


class Fitted(NamedTuple):
    """Parameters of a map and what a user should know of them."""

    parameters: Parameters
    notes: tuple[str, ...] = ()


def fit_platt(rows: CheckedRows, scale: LogitScale) -> Fitted:
    """Fit a line to the log-odds, with Platt's targets, so that it always exists.

    Source: Platt (1999) on the score itself, Lin, Lin & Weng (2007) for the targets; on the log-odds as in Kumar et al.
    (2019), so that 'no change' is among the maps.
    """
    target = platt_targets(rows)
    value, place = np.unique(scale.values(rows.confidence), return_inverse=True)
    if np.ptp(value) == 0:
        return Fitted({"slope": np.array(1.0), "intercept": np.array(_level(rows, target) - value[0])}, (CONSTANT,))
    weight, right = sums(place, rows.weights), sums(place, rows.weights * target)  # rows of equal scores are one
    middle = value.mean()
    spread = np.abs(value - middle).max()  # a standard deviation would underflow
    line = logistic_fit(np.column_stack([np.ones_like(value), (value - middle) / spread]), right / weight, weight)
    if line is None:  # not reached with targets inside (0, 1), but for scores that differ by rounding alone
        return Fitted({"slope": np.array(1.0), "intercept": np.array(_level(rows, target) - middle)}, (CONSTANT,))
    slope = line[1] / spread if abs(line[1]) > ROUNDING else 0.0
    parameters = {"slope": np.array(slope), "intercept": np.array(line[0] - slope * middle)}
    return Fitted(parameters, () if slope > 0 else (FALLING if slope < 0 else FLAT,))


def fit_temperature(rows: CheckedRows, scale: LogitScale) -> Fitted:
    """Fit one temperature by maximum likelihood. Source: Guo et al. (2017)."""
    value = scale.values(rows.confidence)
    if not value.any():
        return Fitted({"slope": np.array(1.0)}, (CONSTANT,))
    separated = np.where(value > 0, rows.correct == 1, (value == 0) | (rows.correct == 0)).all()
    target = platt_targets(rows) if separated else rows.correct
    slope = _inverse_temperature(value, target, rows.weights)
    return Fitted({"slope": np.array(slope)}, ((SEPARATED,) if separated else ()) + (() if slope else (FLAT,)))


def fit_beta(rows: CheckedRows, scale: LogitScale) -> Fitted:
    """Fit both exponents and the level by maximum likelihood, an exponent below 0 left out.

    Source: Kull, Silva Filho & Flach (2017) and their program.
    """
    found = _beta(rows, rows.correct, scale)
    if found is not None:
        return found
    forced = _beta(rows, platt_targets(rows), scale)
    notes = (SEPARATED, *(forced.notes if forced else ()))
    return Fitted(forced.parameters if forced else _beta_parameters(1.0, 1.0, 0.0), notes)


def fit_scaling_binning(rows: CheckedRows, scale: LogitScale, n_bins: int) -> Fitted:
    """Fit Platt's line and replace its values by their mean in bins of about equal weight.

    Source: Kumar et al. (2019).
    """
    line, notes = fit_platt(rows, scale)
    value = expit(line["slope"] * scale.values(rows.confidence) + line["intercept"])
    return Fitted(line | binned(rows._replace(confidence=value), value, n_bins), notes)


def _level(rows: CheckedRows, target: Floats) -> float:
    """Log-odds of the mean target."""
    mean = float(np.average(target, weights=rows.weights))
    return float(np.log(mean) - np.log1p(-mean))


def _inverse_temperature(value: Floats, target: Floats, weight: Floats) -> float:
    """Find the slope of at least 0 at which the score of the likelihood is zero, by bisection to the last bit."""

    def excess(slope: float) -> float:
        return float(weight @ (value * (expit(slope * value) - target)))

    if excess(0.0) >= 0:
        return 0.0
    low, high = 0.0, 1.0
    while excess(high) < 0:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    return high


def _beta(rows: CheckedRows, target: Floats, scale: LogitScale) -> Fitted | None:
    """Fit the exponents; None where there is no finite maximum of the likelihood."""
    kept = np.clip(rows.confidence, scale.clip, 1 - scale.clip)
    logs = np.column_stack([np.log(kept), -np.log1p(-kept)])
    n_scores = len(np.unique(kept))
    if n_scores < 3:
        return _tied_beta(rows, target, logs.sum(axis=1), n_scores)
    free = [0, 1]
    while free:
        line = logistic_fit(np.column_stack([np.ones(len(kept)), logs[:, free]]), target, rows.weights)
        if line is None:
            return None
        below = [place for place, exponent in zip(free, line[1:], strict=True) if exponent < 0]
        if not below:
            exponents = dict(zip(free, line[1:].tolist(), strict=True))
            return Fitted(_beta_parameters(exponents.get(0, 0.0), exponents.get(1, 0.0), float(line[0])))
        free.remove(below[0])
    mean = float(np.average(target, weights=rows.weights))
    return Fitted(_beta_parameters(0.0, 0.0, float(np.log(mean) - np.log1p(-mean))), (FLAT,)) if 0 < mean < 1 else None


def _tied_beta(rows: CheckedRows, target: Floats, value: Floats, n_scores: int) -> Fitted | None:
    """Fit one exponent for both sides, or the level alone if all scores are equal."""
    if n_scores == 1:
        mean = float(np.average(target, weights=rows.weights))
        level = float(np.log(mean) - np.log1p(-mean) - value[0]) if 0 < mean < 1 else None
        return None if level is None else Fitted(_beta_parameters(1.0, 1.0, level), (CONSTANT,))
    line = logistic_fit(np.column_stack([np.ones_like(value), value]), target, rows.weights)
    if line is None:
        return None
    if line[1] < 0:
        return Fitted(_beta_parameters(0.0, 0.0, _level(rows, target)), (FLAT,))
    return Fitted(_beta_parameters(float(line[1]), float(line[1]), float(line[0])), (TWO_SCORES,))


def _beta_parameters(a: float, b: float, c: float) -> Parameters:
    return {"a": np.array(a), "b": np.array(b), "c": np.array(c)}
