"""A simulated study: what the estimators report, how far that is from the truth, and what the theory says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from semece.stats.calibration.binned_errors import ece
from semece.stats.counts import Counts
from semece.stats.estimators.semx import semx
from semece.stats.rows import Floats, Integers, Seed, check_choice, check_rng
from semece.stats.simulation.drawn_runs import Accuracy, Given, Simulation, simulate
from semece.stats.simulation.populations import FAMILIES, Population
from semece.stats.theory import bounds
from semece.stats.theory.predictions import PREDICTIONS, expected_gap, predicted_gap
from semece.stats.theory.regimes import DESIGNS, REGIMES, regime

if TYPE_CHECKING:
    import polars as pl

Row = tuple[str, str, str | None, str | None, float | None, str | None]

READINGS: tuple[tuple[str, str], ...] = (("sem1", "pooled"), ("sem2", "pooled"), ("sem2", "split"))
"""Estimators and pairings of a study's table. Sem1 has only one: its class is the mode of all responses."""


def simulate_study(
    family: str = "dirichlet-mixture",
    n_questions: int = 20_000,
    n: int = 50,
    *,
    correctness: str | Accuracy = "over-confident",
    given: Given = "oracle",
    n_select: int | None = None,
    expected: bool = False,
    rng: Seed = 0,
) -> pl.DataFrame:
    """Simulate a run on a known population and compare it with the truth and the theory.

    Parameters
    ----------
    family : {'dirichlet-mixture', 'zipf', 'softmax-normal', 'near-tie', 'easy'}
        The population.
    n_questions : int
        Q >= 1.
    n : int
        Responses per question, M >= 2.
    correctness, given, n_select
        As in :func:`simulate`.
    expected : bool
        Add the exact expectation of Sem1 - Sem2, which takes most of the time (under a millisecond a question).
    rng : int or Generator
        Equal seeds give equal output. Population and run have separate streams.

    Returns
    -------
    polars.DataFrame
        Columns ``section``, ``quantity``, ``estimator``, ``pairing``, ``value``, ``reason``; see :func:`study_table`.

    Raises
    ------
    ValueError
        For options out of range or unknown.

    Examples
    --------
    >>> table = simulate_study("near-tie", 500)
    >>> table.filter(table["section"] == "ece")["quantity"].to_list()
    ['ECE*', 'ECE', 'ECE', 'ECE']
    """
    check_choice("family", family, tuple(FAMILIES))
    first, second = check_rng(rng).spawn(2)
    population = FAMILIES[family](n_questions, rng=first)
    study = simulate(population, n, correctness=correctness, given=given, n_select=n_select, rng=second)
    return study_table(study, expected=expected)


def study_table(study: Simulation, *, expected: bool = False, n_bins: int = 10) -> pl.DataFrame:
    r"""Tabulate a simulated run.

    Parameters
    ----------
    study : Simulation
        From :func:`simulate`.
    expected : bool
        Add the exact expectation of Sem1 - Sem2.
    n_bins : int
        Bins of the ECEs.

    Returns
    -------
    polars.DataFrame
        One row per number, null with a reason where it cannot be had. Sections: ``mean`` (confidence, accuracy),
        ``ece`` (ECE* of :math:`(c^*, a^*)`, and the estimators'), ``distance`` (ECE - ECE*, bias, mean absolute errors
        epsilon and delta), ``bound`` (thm. ece-bound with the realised epsilon and delta, and with their a-priori
        bounds; a bound of 1 and more says nothing), ``semx`` (held-out gap and SemX-ECE: 0 but for noise where every
        class is right with its own probability, which is ``correctness="calibrated"`` with ``given="oracle"``),
        ``regime`` (shares at the true margins), ``gap`` (realised, of the ECEs, and the predictions).

    Examples
    --------
    >>> from semece.stats.simulation import easy
    >>> table = study_table(simulate(easy(200), rng=1))
    >>> table.filter(table["section"] == "regime")["value"].sum()
    2.0
    """
    import polars as pl

    rows = [*_means(study), *_eces(study, n_bins), *_distances(study, n_bins), *_bounds(study, n_bins)]
    rows += [*_semx(study, n_bins), *_regimes(study), *_gaps(study, n_bins), _expected(study, asked=expected)]
    names = ("section", "quantity", "estimator", "pairing", "value", "reason")
    schema: dict[str, Any] = {name: pl.Float64 if name == "value" else pl.String for name in names}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _columns(study: Simulation) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Estimator, pairing, confidence, correctness."""
    confidence = {"sem1": study.sem1, "sem2": study.sem2}
    correct = {"pooled": study.correct, "split": study.correct_split}
    for estimator, pairing in READINGS:
        yield estimator, pairing, confidence[estimator], correct[pairing]


def _means(study: Simulation) -> Iterator[Row]:
    for name, c in (("oracle", study.oracle_confidence), ("sem1", study.sem1), ("sem2", study.sem2)):
        yield "mean", "confidence", name, None, float(c.mean()), None
    yield "mean", "accuracy", "oracle", None, float(study.oracle_correct.mean()), None
    for pairing, a in (("pooled", study.correct), ("split", study.correct_split)):
        yield "mean", "accuracy", None, pairing, float(a.mean()), None


def _eces(study: Simulation, n_bins: int) -> Iterator[Row]:
    yield "ece", "ECE*", "oracle", None, ece(study.oracle_confidence, study.oracle_correct, n_bins=n_bins), None
    for estimator, pairing, c, a in _columns(study):
        yield "ece", "ECE", estimator, pairing, ece(c, a, n_bins=n_bins), None


def _semx(study: Simulation, n_bins: int) -> Iterator[Row]:
    counts = Counts.from_counts(study.counts)
    found = semx(correct=study.right.ravel(), counts=counts, n_select=study.n_select, n_bins=n_bins)
    mean = np.bincount(found.bin, found.value, n_bins) / len(found.questions)
    yield "semx", "held-out gap", None, "split", float(mean.sum()), None
    yield "semx", "SemX-ECE", None, "split", float(np.abs(mean).sum()), None


def _errors(study: Simulation, confidence: Floats, correct: Floats) -> tuple[float, float]:
    """Mean absolute error of confidence and of correctness."""
    epsilon = np.abs(confidence - study.oracle_confidence).mean()
    return float(epsilon), float(np.abs(correct - study.oracle_correct).mean())


def _distances(study: Simulation, n_bins: int) -> Iterator[Row]:
    target = ece(study.oracle_confidence, study.oracle_correct, n_bins=n_bins)
    for estimator, pairing, c, a in _columns(study):
        yield "distance", "ECE - ECE*", estimator, pairing, ece(c, a, n_bins=n_bins) - target, None
    for estimator, c in (("sem1", study.sem1), ("sem2", study.sem2)):
        yield "distance", "bias", estimator, None, float((c - study.oracle_confidence).mean()), None
    for estimator, pairing, c, a in _columns(study):
        epsilon, delta = _errors(study, c, a)
        yield "distance", "epsilon", estimator, pairing, epsilon, None
        yield "distance", "delta", estimator, pairing, delta, None


def _bounds(study: Simulation, n_bins: int) -> Iterator[Row]:
    oracle, population = study.oracle_confidence, study.population
    n, s = int(study.counts[0].sum()), study.n_select
    margins = _margins(population)
    most = {"sem2": bounds.confidence_error_bound_sem2(*margins, s, n - s, sharp=True)}
    margin, mass, n_classes = margins
    most["sem1"] = bounds.confidence_error_bound_sem1(n_classes, n, margin=margin, top_two_mass=mass)
    for estimator, pairing, c, a in _columns(study):
        epsilon, delta = _errors(study, c, a)
        realised = bounds.ece_bound(delta, epsilon, oracle_confidence=oracle, n_bins=n_bins)
        yield "bound", "realised", estimator, pairing, realised, None
        error = np.minimum(bounds.selection_error_bound(*margins, n if pairing == "pooled" else s), 1.0)
        most_delta, most_epsilon = float(error.mean()), float(most[estimator].mean())
        value = bounds.ece_bound(most_delta, most_epsilon, oracle_confidence=oracle, n_bins=n_bins)
        yield "bound", "a priori", estimator, pairing, value, None


def _margins(population: Population) -> tuple[Floats, Floats, Integers]:
    """Margin, top-two mass and number of classes, which bounds and regimes take in this order."""
    return population.margin, population.top_two_mass, population.n_classes


def _regimes(study: Simulation) -> Iterator[Row]:
    population, n = study.population, int(study.counts[0].sum())
    for design in DESIGNS:
        names = regime(*_margins(population), n, design=design, n_select=study.n_select)
        for name in REGIMES:
            yield "regime", f"{name}, {design}", None, None, float((names == name).mean()), None


def _gaps(study: Simulation, n_bins: int) -> Iterator[Row]:
    population, n = study.population, int(study.counts[0].sum())
    yield "gap", "Sem1 - Sem2", None, None, float((study.sem1 - study.sem2).mean()), None
    first, second, _ = (ece(c, a, n_bins=n_bins) for _, _, c, a in _columns(study))
    yield "gap", "Sem1-ECE - Sem2-ECE", None, "pooled", first - second, None
    two = np.sort(study.counts, axis=1)[:, :-3:-1] / n
    pool = two[:, 0] - two[:, 1:].sum(axis=1), two.sum(axis=1)
    for design in PREDICTIONS:
        margin, mass = pool if design == "given-pool" else (population.margin, population.top_two_mass)
        value = predicted_gap(margin, mass, n, design=design, n_select=study.n_select)
        yield "gap", design, None, None, float(np.mean(value)), None


def _expected(study: Simulation, *, asked: bool) -> Row:
    if not asked:
        return "gap", "expected", None, None, None, "not asked for"
    value = expected_gap(study.population.pmf, int(study.counts[0].sum()), n_select=study.n_select)
    return "gap", "expected", None, None, float(value.mean()), None
