"""One door to every map: scores and correctness in, a fitted map out."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.recalibration.logit_maps import (
    Fitted,
    LogitScale,
    fit_beta,
    fit_platt,
    fit_scaling_binning,
    fit_temperature,
)
from semece.stats.recalibration.maps import CLIP, Domain, Recalibration, check_clip, check_score, question_mark
from semece.stats.recalibration.step_maps import fit_histogram, fit_isotonic, fit_venn_abers
from semece.stats.rows import (
    CheckedRows,
    check_choice,
    check_correct,
    check_count,
    check_ids,
    check_same_length,
    check_weights,
)

Method = Literal["isotonic", "platt", "temperature", "beta", "histogram", "scaling-binning", "venn-abers"]

METHODS: tuple[Method, ...] = get_args(Method)
"""Maps of one score; the Dirichlet map takes the shares of all classes, see :func:`fit_dirichlet`."""
UNIT_ONLY = ("temperature", "beta")
ENOUGH: dict[str, int] = {
    "isotonic": 200,
    "platt": 100,
    "temperature": 50,
    "beta": 100,
    "histogram": 500,
    "scaling-binning": 100,
    "venn-abers": 200,
    "dirichlet": 200,
}
"""From about so many questions on a map is within 9 points of the accuracy, root mean square, in our benchmarks.

Temperature only where the spread alone is wrong.
"""


class FitOptions(NamedTuple):
    """What kind of map is fitted, and how; see :func:`fit_recalibration`."""

    method: Method
    n_bins: int
    clip: float
    domain: Domain


def fit_recalibration(
    score: ArrayLike,
    correct: ArrayLike,
    *,
    method: Method = "platt",
    ids: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    n_bins: int = 10,
    clip: float = CLIP,
    domain: Domain = "unit",
) -> Recalibration:
    r"""Fit a map from a score to a confidence.

    Parameters
    ----------
    score : array_like, shape (N,)
        In [0, 1]; any finite numbers with ``domain="real"``. More is better.
    correct : array_like, shape (N,)
        In [0, 1]; may be soft.
    method : {'isotonic', 'platt', 'temperature', 'beta', 'histogram', 'scaling-binning', 'venn-abers'}
        What kind of map. ``temperature`` and ``beta`` take scores in [0, 1] only.
    ids : array_like, shape (N,), optional
        Question of each row. The map remembers them, and is then never judged on them.
    weights : array_like, shape (N,), optional
        Frequency weights >= 0.
    n_bins : int
        Bins of ``histogram`` and ``scaling-binning``.
    clip : float
        Scores are moved into [clip, 1 - clip] before a logarithm is taken, in (0, 0.5).
    domain : {'unit', 'real'}
        Whether scores lie in [0, 1], or are any finite numbers.

    Returns
    -------
    Recalibration
        Call it with scores. Its ``notes`` say what was unusual.

    Raises
    ------
    ValueError
        For arrays that are empty, unequal in length or out of range, and for options that do not fit the method.

    Notes
    -----
    Every input within the ranges gives a map. All answers right, all wrong, or separated by the score: Platt's targets
    keep the logistic maps finite; the others say 1, 0 or both. Equal scores: the level alone is fitted. Sources: see
    the functions of each map.

    Examples
    --------
    >>> found = fit_recalibration([0.9] * 10 + [0.6] * 10, [1] * 7 + [0] * 3 + [1] * 5 + [0] * 5, method="temperature")
    >>> found([0.9, 0.6]).round(2).tolist()
    [0.69, 0.54]
    """
    options = FitOptions(method, n_bins, clip, domain)
    _check_options(options)
    rows = _checked(score, correct, weights, domain)
    found = _fitted(rows, options)
    questions = frozenset() if ids is None else _marks(ids, len(np.asarray(score)))
    return Recalibration(
        method,
        found.parameters,
        domain=domain,
        clip=float(clip),
        n_rows=len(rows.correct),
        questions=questions,
        notes=_notes(rows, found),
    )


def _notes(rows: CheckedRows, found: Fitted) -> tuple[str, ...]:
    """Say what was unusual; where all answers are alike, that alone."""
    if np.ptp(rows.correct) or rows.correct[0] not in {0, 1}:
        return found.notes
    kind = "right" if rows.correct[0] else "wrong"
    return (f"all answers it was fitted on are {kind}, so it has seen no other kind",)


def _check_options(options: FitOptions) -> None:
    """Check how a map is fitted."""
    check_choice("method", options.method, METHODS)
    check_count("n_bins", options.n_bins)
    check_choice("domain", options.domain, ("unit", "real"))
    check_clip(options.clip)
    if options.domain == "real" and options.method in UNIT_ONLY:
        raise ValueError(f"{options.method} takes the logarithm of scores in [0, 1]; choose another method")


def _checked(score: ArrayLike, correct: ArrayLike, weights: ArrayLike | None, domain: Domain) -> CheckedRows:
    """Check what a map is fitted to."""
    values, right = check_score(score, domain), check_correct(correct)
    check_same_length("score", values, "correct", right)
    if weights is None:
        return CheckedRows(values, right, np.ones(len(values)), None)
    weight = check_weights(weights, len(values))
    kept = weight > 0
    return CheckedRows(values[kept], right[kept], weight[kept], None)


def _fitted(rows: CheckedRows, options: FitOptions) -> Fitted:
    """Fit checked rows."""
    method, scale = options.method, LogitScale(options.domain, options.clip)
    if method == "isotonic":
        return Fitted(fit_isotonic(rows))
    if method == "histogram":
        return Fitted(fit_histogram(rows, options.n_bins))
    if method == "venn-abers":
        return Fitted(fit_venn_abers(rows))
    if method == "scaling-binning":
        return fit_scaling_binning(rows, scale, options.n_bins)
    return {"platt": fit_platt, "temperature": fit_temperature, "beta": fit_beta}[method](rows, scale)


def _marks(ids: ArrayLike, n: int) -> frozenset[str]:
    """Mark the questions of the rows."""
    check_ids(ids, n)
    return frozenset(map(question_mark, np.asarray(ids).tolist()))
