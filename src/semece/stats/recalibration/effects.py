r"""What a map changes, on questions that it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.calibration.binned_errors import debiased_rms, ece
from semece.stats.calibration.bins import Bins, distinct, mass_bins, width_bins
from semece.stats.calibration.proper_scores import brier
from semece.stats.calibration.ranking import aurc, auroc
from semece.stats.diagnostics.resampling import resampled_values
from semece.stats.recalibration.logit_maps import FALLING
from semece.stats.rows import (
    CheckedRows,
    Floats,
    Seed,
    check_level,
    check_rows,
    check_same_length,
    check_unit,
)
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, NEAR_ZERO, Resampling
from semece.stats.uncertainty.intervals import (
    Interval,
    paired_draws,
    rejects_calibration,
    residual_moments,
    widening,
)
from semece.stats.written_numbers import decimal_text, end_text, number_text

if TYPE_CHECKING:
    from semece.stats.recalibration.maps import Recalibration

STEPPED = ("histogram", "scaling-binning")
"""Maps with few values, each of which has many questions: their calibration error can be verified."""


def mean_gap(confidence: Floats, correct: Floats) -> float:
    """Mean confidence - accuracy."""
    return float((confidence - correct).mean())


MEASURES: dict[str, Callable[[Floats, Floats], float]] = {
    "gap": mean_gap,
    "ece": ece,
    "brier": brier,
    "auroc": auroc,
    "aurc": aurc,
}
"""What is compared before and after."""
BY_ORDER = ("auroc", "aurc")
"""What only the order of a score decides."""


class Effect(NamedTuple):
    """One number before and after a recalibration.

    Parameters
    ----------
    name : str
        ``gap`` (mean confidence - accuracy), ``ece``, ``brier``, ``auroc`` or ``aurc``.
    before, after : float
        The number; nan for the AUROC of answers that are all right or all wrong.
    change : Interval
        After - before, paired by question; nan at its ends for fewer than 30 questions, and for answers that are all
        right or all wrong, which say nothing of their variance.
    note : str
        What to keep in mind of the interval, or empty.
    """

    name: str
    before: float
    after: float
    change: Interval
    note: str


class VerifiedError(NamedTuple):
    """Calibration error of a map on questions that it has not seen.

    Parameters
    ----------
    error : Interval
        Root mean square, debiased, with its interval.
    n_questions : int
        How many questions.
    n_values : int
        Of how many values, or bins, it is made.
    complete : bool
        Whether it is the whole error. A map whose values are all different hides some of it within bins: then it is a
        lower bound.
    """

    error: Interval
    n_questions: int
    n_values: int
    complete: bool


def recalibration_effects(
    before: ArrayLike,
    after: ArrayLike,
    correct: ArrayLike,
    *,
    ids: ArrayLike | None = None,
    ranked: bool = False,
    resampling: Resampling = DEFAULT,
) -> tuple[Effect, ...]:
    """Compare a confidence before and after it was recalibrated.

    Parameters
    ----------
    before, after : array_like, shape (N,)
        Confidences in [0, 1]; ``after`` from :func:`cross_fit`, or from a map that was fitted on other questions.
    correct : array_like, shape (N,)
        In [0, 1]; may be soft.
    ids : array_like, shape (N,), optional
        Question of each row; rows of one question are drawn together.
    ranked : bool
        Of ``before`` only the order means something: it has an AUROC and an AURC, and the other numbers are nan.
    resampling : Resampling
        Replicates, level and seed.

    Returns
    -------
    tuple of Effect
        In the order of :data:`MEASURES`.

    Raises
    ------
    ValueError
        For arrays that are empty, unequal in length or out of range.

    Notes
    -----
    Percentile intervals over resampled questions, with the map as it is: how the map would vary with other questions
    to fit it on is not in them. The change of the Brier score can be relied on; that of the ECE carries a note where
    calibration of either is not rejected.

    Examples
    --------
    >>> effects = recalibration_effects([0.9] * 40, [0.5] * 40, [1, 0] * 20)
    >>> effects[1].name, round(effects[1].before, 2), round(effects[1].after, 2), effects[1].note
    ('ece', 0.4, 0.0, 'interval unreliable near zero ECE')
    """
    rows = check_rows(before, correct, ids=ids)
    other = check_unit("after", after)
    check_same_length("before", rows.confidence, "after", other)
    sides = [(rows.confidence, rows.correct), (other, rows.correct)]
    unknown = Interval(*[float("nan")] * 3)
    near = any(_may_be_calibrated(rows._replace(confidence=c)) for c, _ in sides)
    found = []
    for name, measure in MEASURES.items():
        one, two = (measure(*side) for side in sides)
        if ranked and name not in BY_ORDER:
            found.append(Effect(name, float("nan"), two, unknown, ""))
            continue
        low, high = _change_ends(measure, sides, rows, resampling)
        note = NEAR_ZERO if near and name == "ece" else ""
        found.append(Effect(name, one, two, Interval(two - one, low, high), note))
    return tuple(found)


def _change_ends(
    measure: Callable[[Floats, Floats], float],
    sides: list[tuple[Floats, Floats]],
    rows: CheckedRows,
    resampling: Resampling,
) -> tuple[float, float]:
    """Resample questions; nan for too few of them, and for answers that are all alike: resampled, they stay alike."""
    if n_questions(rows) < MIN_QUESTIONS or np.ptp(rows.correct) == 0:
        return float("nan"), float("nan")
    values = resampled_values(measure, sides, resampling, rows.ids)
    low, high = resampling.ends(values[:, 1] - values[:, 0])
    return float(low), float(high)


def n_questions(rows: CheckedRows) -> int:
    """Count the questions of checked rows."""
    return len(rows.correct) if rows.ids is None else int(rows.ids.max()) + 1


def _may_be_calibrated(rows: CheckedRows) -> bool:
    return not rejects_calibration(residual_moments(rows, width_bins(rows.confidence, 10)))


def effect_sentence(effects: tuple[Effect, ...], notes: Sequence[str] = ()) -> str:
    """Say whether a recalibration helps, by the Brier score alone: where the interval of its change leaves 0 out.

    A map that reverses the order is not said to help where the AUROC surely rises by that: something else is wrong.

    Parameters
    ----------
    effects : tuple of Effect
        From :func:`recalibration_effects`.
    notes : sequence of str
        Of the map that was fitted to all.

    Returns
    -------
    str

    Examples
    --------
    >>> effect_sentence(recalibration_effects([0.9] * 40, [0.5] * 40, [1, 0] * 20)).split(". ")[0]
    'Recalibration helps: the Brier score falls from 0.410 to 0.250, a change of -0.160 [-0.280, -0.040]'
    """
    by_name = {each.name: each for each in effects}
    brier_score, error = by_name["brier"], by_name["ece"]
    change = brier_score.change
    if np.isnan(brier_score.before) and not np.isnan(by_name["auroc"].before):
        now = f"a Brier score of {decimal_text(brier_score.after, 3)} and an ECE of {decimal_text(error.after, 3)}"
        return f"A score that only ranked the answers is now a confidence, with {now}."
    if np.isnan(by_name["auroc"].before):
        start = "Answers that are all alike cannot show whether recalibration helps: the Brier score goes"
    elif np.isnan(change.low):
        start = f"Fewer than {MIN_QUESTIONS} questions cannot show whether recalibration helps: the Brier score goes"
    elif FALLING in notes and by_name["auroc"].change.low > 0:
        start = "The map reverses the order of the scores, so look at the questions first: the Brier score goes"
    elif change.high < 0:
        start = "Recalibration helps: the Brier score falls"
    elif change.low > 0:
        start = "Recalibration harms: the Brier score rises"
    else:
        start = "It cannot be told whether recalibration helps: the Brier score goes"
    scores = f"{start} from {decimal_text(brier_score.before, 3)} to {decimal_text(brier_score.after, 3)}"
    errors = f"the ECE{{}} goes from {decimal_text(error.before, 3)} to {decimal_text(error.after, 3)}"
    if np.isnan(change.low):
        return f"{scores}, and {errors.format('')}."
    value = number_text(change.value, 3, signed=True)
    interval = f"[{end_text(change.low, 3)}, {end_text(change.high, 3)}]"
    by_chance = FALLING in notes and by_name["auroc"].change.low <= 0
    blind = " The score is not seen to rank the answers." if by_chance else ""
    decides = f"This interval (95 %) decides, not {errors.format(', which')}."
    return f"{scores}, a change of {value} {interval}. {decides}{blind}"


def verified_error(
    fitted: Recalibration,
    score: ArrayLike,
    correct: ArrayLike,
    *,
    ids: ArrayLike,
    n_bins: int = 15,
    level: float = 0.95,
    rng: Seed = 0,
) -> VerifiedError:
    r"""Measure the calibration error of a map on questions that it has not seen.

    The error is the root mean square of confidence - accuracy, less what sampling adds to its square. A histogram or
    scaling-binning map has few values: each is a bin, and nothing is hidden within it. The values of any other map are
    cut into bins of about equal weight, and the error is a lower bound.

    Parameters
    ----------
    fitted : Recalibration
        Fitted with ``ids``.
    score : array_like, shape (N,)
        As the map takes it.
    correct : array_like, shape (N,)
        In [0, 1]; may be soft.
    ids : array_like, shape (N,)
        Question of each row.
    n_bins : int
        Bins of a map with many values.
    level : float
        Of the interval, in (0, 1).
    rng : int or Generator
        Seed of the interval's draws.

    Returns
    -------
    VerifiedError

    Raises
    ------
    ValueError
        If the map was fitted on one of these questions, or does not know on which it was; and as for other rows.

    Notes
    -----
    Source: Kumar, Liang & Ma (2019). The interval inverts :math:`\lVert \theta u + Z \rVert` along the direction u of
    the measured residuals, :math:`Z \sim N(0, V)`, so that it holds for a calibrated map, too.

    Examples
    --------
    >>> from semece.stats.recalibration.fitting import fit_recalibration
    >>> fitted = fit_recalibration([0.9, 0.6] * 50, [1, 0, 1, 1] * 25, method="histogram", ids=range(100))
    >>> found = verified_error(fitted, [0.9, 0.6] * 50, [0, 0, 1, 1] * 25, ids=range(100, 200))
    >>> round(found.error.value, 2), found.n_values, found.complete
    (0.35, 2, True)
    """
    refuse_known(fitted, ids)
    rows = check_rows(fitted(score), correct, ids=ids)
    complete = fitted.method in STEPPED
    bins = value_bins(rows.confidence) if complete else mass_bins(rows.confidence, rows.weights, n_bins)
    value = debiased_rms(rows, bins)
    low, high = _root_mean_square_ends(rows, bins, check_level(level), rng)
    return VerifiedError(Interval(value, min(low, value), max(high, value)), n_questions(rows), len(bins.low), complete)


def refuse_known(fitted: Recalibration, ids: ArrayLike) -> None:
    """Refuse to judge a map by a question that it was fitted on.

    Raises
    ------
    ValueError
        Naming the first such question and how many there are.
    """
    questions = np.asarray(ids).tolist()
    known = fitted.was_fitted_on(questions)
    if any(known):
        first = questions[known.index(True)]
        raise ValueError(
            f"the map was fitted on {sum(known)} of these {len(known)} rows, question {first!r} first; "
            "a map is judged by questions that it has not seen"
        )


def value_bins(confidence: Floats) -> Bins:
    """Make one bin of each distinct value."""
    values, place = distinct(confidence)
    return Bins(place, values, values)


def _root_mean_square_ends(rows: CheckedRows, bins: Bins, level: float, rng: Seed) -> tuple[float, float]:
    """Invert the distribution of the plug-in root mean square along the measured direction."""
    r, covariance, _ = residual_moments(rows, bins)
    if np.isnan(covariance).any():
        return 0.0, 1.0
    covariance = covariance * widening(rows.ids, level) ** 2
    scale = np.sqrt(bins.total(rows.weights) / rows.weights.sum())
    measured = float(np.linalg.norm(r / scale))
    direction = (r / scale / measured if measured else scale)[:, None]
    noise = paired_draws(covariance, rng) / scale[:, None]

    def end(quantile: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = (low + high) / 2
            below = float(np.quantile(np.linalg.norm(middle * direction + noise, axis=0), quantile)) < measured
            low, high = (middle, high) if below else (low, middle)
        return high if low else 0.0

    return end(0.5 + level / 2), end(0.5 - level / 2)
