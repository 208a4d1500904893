"""People's verdicts on some questions put a judge's numbers right: without bias, and with intervals that hold."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from semece.stats.calibration.abstention import abstention_threshold
from semece.stats.calibration.binned_errors import ece, wilson
from semece.stats.calibration.bins import width_bins
from semece.stats.correction import (
    Audited,
    corrected_accuracy,
    corrected_debiased_ece,
    corrected_ece,
    corrected_gap,
    corrected_held_out,
    corrected_outcomes,
    corrected_threshold,
    held_out_masses,
)
from semece.stats.correction.corrected_errors import corrected_residuals
from semece.stats.counts import Counts
from semece.stats.diagnostics.audited_quality import audited_quality
from semece.stats.diagnostics.judge_quality import cohen_kappa, grading_quality
from semece.stats.estimators.semx import semx
from semece.stats.rows import check_rows
from semece.stats.simulation import CORRECTNESS
from semece.stats.uncertainty.held_out_errors import gap_interval, held_out_gap, semx_ece
from semece.stats.uncertainty.intervals import accuracy_interval, debiased_ece, ece_interval
from semece.stats.uncertainty.paired_errors import binned_terms

QUALITIES = ("agreement", "precision", "recall", "false_correct")
ROWS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=40)


def judged(rng, people, false_correct, missed):
    """A judge that calls so many of the wrong answers correct, and misses so many of the right ones."""
    return np.where(people == 1, rng.random(len(people)) >= missed, rng.random(len(people)) < false_correct).astype(
        float
    )


def drawn(rng, people, stratum, sizes, *, judge=None):
    """So many of each stratum, drawn at random, as an audit."""
    place = np.concatenate([rng.permutation(np.flatnonzero(stratum == h))[:size] for h, size in enumerate(sizes)])
    every = np.bincount(stratum, minlength=len(sizes))
    return Audited(place, people[place], None if judge is None else judge[place], stratum[place], every)


def residuals_of(confidence, judge, audited, **options):
    rows = check_rows(confidence, judge)
    return corrected_residuals(rows, width_bins(rows.confidence, 10), audited, **options)


def sample(rng, size, population="calibrated", false_correct=0.05, missed=0.15):
    confidence = rng.integers(0, 51, size) / 50
    people = (rng.random(size) < CORRECTNESS[population](confidence)).astype(float)
    return confidence, people, judged(rng, people, false_correct, missed)


# -- exact


def test_the_accuracy_is_the_judges_plus_the_weighted_mean_difference():
    judge = [1] * 60 + [0] * 40
    strata = Audited([0, 1, 2, 3, 60, 61], [1, 1, 1, 0, 0, 1], stratum=[0] * 4 + [1] * 2, sizes=[60, 40])
    assert corrected_accuracy(judge, strata).value == pytest.approx(0.6 + 0.6 * -1 / 4 + 0.4 * 1 / 2)
    simple = Audited([0, 1, 2, 3, 60, 61], [1, 1, 1, 0, 0, 1])
    assert corrected_accuracy(judge, simple).value == pytest.approx(0.6 + (-1 + 1) / 6)


def test_residuals_are_corrected_in_the_bin_of_the_audited_question():
    confidence, judge = [0.9] * 50 + [0.2] * 50, [1] * 50 + [0] * 50
    audited = Audited(range(0, 100, 10), [1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
    residuals = residuals_of(confidence, judge, audited)
    np.testing.assert_allclose(residuals.value, [-0.1 + 2 / 10, 0.05 - 1 / 10])
    assert corrected_ece(confidence, judge, audited).value == pytest.approx(0.15)


@given(ROWS)
def test_with_all_audited_the_judge_does_not_matter(rows):
    k, people, judge = (np.array(column) for column in zip(*rows, strict=True))
    strata = Audited(range(len(k)), people, stratum=judge, sizes=np.bincount(judge, minlength=2))
    for audited in (Audited(range(len(k)), people), strata):
        np.testing.assert_allclose(corrected_accuracy(judge, audited), accuracy_interval(people), atol=1e-12)
        np.testing.assert_allclose(corrected_ece(k / 20, judge, audited), ece_interval(k / 20, people), atol=1e-6)
        assert corrected_debiased_ece(k / 20, judge, audited) == pytest.approx(debiased_ece(k / 20, people), abs=1e-6)


@pytest.mark.parametrize("closed", ["left", "right", "guo", "linspace-digitize"])
def test_the_bins_are_those_that_were_asked_for(closed):
    confidence, judge = [0.3, 0.0, 0.6, 1.0] * 10, [1, 0, 1, 1] * 10
    people = [1, 1, 0, 1] * 10
    audited = Audited(range(40), people)
    for n_bins in (3, 10):
        found = corrected_ece(confidence, judge, audited, n_bins=n_bins, closed=closed)
        expected = ece_interval(confidence, people, n_bins=n_bins, closed=closed)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_with_all_audited_the_shares_are_those_of_the_answers():
    rng = np.random.default_rng(0)
    _, people, judge = sample(rng, 200, false_correct=0.2)
    ours, theirs = audited_quality(judge, Audited(range(200), people)), grading_quality(people, judge)
    for name in QUALITIES:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12)
    assert ours.kappa.value == pytest.approx(theirs.kappa.value)
    np.testing.assert_allclose(ours.kappa[1:], theirs.kappa[1:], atol=0.03)


def test_strata_that_were_drawn_more_densely_do_not_weigh_more():
    """Ten of 90 called correct, all ten of those called incorrect."""
    judge = [1] * 90 + [0] * 10
    people = [1] * 9 + [0] + [1] * 2 + [0] * 8
    audited = Audited([*range(10), *range(90, 100)], people, stratum=[0] * 10 + [1] * 10, sizes=[90, 10])
    quality = audited_quality(judge, audited)
    both, missed, false, neither = 0.9 * 0.9, 0.1 * 0.2, 0.9 * 0.1, 0.1 * 0.8
    assert quality.agreement.value == pytest.approx(both + neither)
    assert quality.precision.value == pytest.approx(0.9)
    assert quality.recall.value == pytest.approx(both / (both + missed))
    assert quality.false_correct.value == pytest.approx(false / (false + neither))
    chance = 0.9 * (both + missed) + 0.1 * (false + neither)
    assert quality.kappa.value == pytest.approx((both + neither - chance) / (1 - chance))


def test_of_tied_answers_people_see_one_and_the_question_counts_the_mean():
    judge = np.array([0.5] * 10 + [1.0] * 10)
    shown = np.array([1.0, 0.0] * 5 + [1.0] * 10)
    audited = Audited(range(20), shown, judge=shown)
    assert corrected_accuracy(judge, audited).value == pytest.approx(0.75)
    wrong = Audited(range(20), np.zeros(20), judge=shown)
    assert corrected_accuracy(judge, wrong).value == pytest.approx(0.0)
    assert corrected_accuracy(judge, Audited(range(20), shown)).value == pytest.approx(0.75)


def test_a_judge_of_which_no_error_was_seen_is_not_taken_to_be_perfect():
    rng = np.random.default_rng(1)
    confidence, people, _ = sample(rng, 400)
    for size in (20, 50, 200):
        audited = drawn(rng, people, np.zeros(400, dtype=int), [size])
        value, low, high = corrected_accuracy(people, audited)
        plain = accuracy_interval(people)
        assert value == plain.value
        assert low < plain.low - 0.3 / size
        assert high > plain.high + 0.3 / size
        assert corrected_ece(confidence, people, audited).value == pytest.approx(ece(confidence, people))
        assert corrected_ece(confidence, people, audited).high > ece_interval(confidence, people).high + 0.1 / size


def test_where_strata_hold_one_verdict_each_only_its_errors_can_be_found():
    judge = np.repeat([1, 0], [80, 20])
    place = np.array([*range(10), *range(80, 90)])
    people, stratum = judge[place], 1 - judge[place]
    pure = corrected_accuracy(judge, Audited(place, people, stratum=stratum, sizes=[80, 20]))
    mixed = corrected_accuracy(judge, Audited(place, people, stratum=stratum, sizes=[79, 21]))
    assert pure.value == pytest.approx(0.8)
    assert pure.high < mixed.high == pytest.approx(1.0, abs=0.05)
    z = float(ndtri(0.975))
    odd = z * z / (10 + z * z)  # Wilson's upper end for 0 of 10
    plain = accuracy_interval(judge)
    downwards = (0.8 - plain.low) ** 2 + 0.64 * (1 - 10 / 80) * odd**2
    assert pure.low == pytest.approx(0.8 - downwards**0.5)


def test_a_tied_question_may_be_in_a_stratum_of_either_verdict():
    judge = np.array([1.0] * 79 + [0.5] + [0.0] * 20)
    place = [*range(10), *range(80, 90)]
    audited = Audited(place, judge[place], stratum=[0] * 10 + [1] * 10, sizes=[80, 20])
    assert corrected_accuracy(judge, audited).high < 0.94
    assert corrected_accuracy(judge, audited._replace(sizes=[82, 20])).high > 0.97


def test_errors_of_both_kinds_in_a_stratum_repel_each_other():
    """Of 10 answers three that only people, two that only the judge calls correct."""
    judge, people = np.array([0, 0, 0, 1, 1, 1, 1, 0, 0, 1] * 10), np.array([1, 1, 1, 0, 0, 1, 1, 0, 0, 1])
    ends = []
    for count in (3, 2):
        share, z = count / 10, float(ndtri(0.975))
        middle, half = share + z * z / 20, z * (share * (1 - share) / 10 + z * z / 400) ** 0.5
        ends.append([share - (middle - half) / (1 + z * z / 10), (middle + half) / (1 + z * z / 10) - share])
    plain = accuracy_interval([1] * 60 + [0] * 40)
    correlation = (0.3 * 0.2 / (0.7 * 0.8)) ** 0.5
    (down, up), (judge_down, judge_up) = ends
    squares = down**2 + judge_up**2 + 2 * correlation * down * judge_up
    found = corrected_accuracy(judge, Audited(range(10), people))
    assert found.value == pytest.approx(0.6)
    assert found.low == pytest.approx(0.6 - ((0.6 - plain.low) ** 2 + 0.9 * squares) ** 0.5)
    squares = up**2 + judge_down**2 + 2 * correlation * up * judge_down
    assert found.high == pytest.approx(0.6 + ((plain.high - 0.6) ** 2 + 0.9 * squares) ** 0.5)


def test_the_covariance_is_that_of_the_questions_and_that_of_the_audit():
    """One bin, two strata; four of 80 and two of 20 audited, one error in the first."""
    confidence, judge = [0.75] * 100, [1] * 80 + [0] * 20
    audited = Audited([0, 1, 2, 3, 80, 81], [0, 1, 1, 1, 0, 0], stratum=[0] * 4 + [1] * 2, sizes=[80, 20])
    value, covariance, _ = residuals_of(confidence, judge, audited, floored=False)
    assert value == pytest.approx([0.8 - 0.75 - 0.8 / 4])
    square = (80 * 0.0625 + 20 * 0.5625) / 100 + 0.8 / 4 * (0.5625 - 0.0625)
    of_audit = 0.64 * (1 - 4 / 80) / 4 * 0.25
    assert covariance == pytest.approx(np.array([[(square - 0.15**2) / 99 + of_audit]]))
    pseudo = 0.64 * (1 - 4 / 80) / 4 * (1 / 6 * 5 / 6) + 0.04 * (1 - 2 / 20) / 2 * (1 / 4 * 3 / 4)
    assert residuals_of(confidence, judge, audited).covariance - covariance == pytest.approx(pseudo)


def test_ties_on_which_all_agree_change_nothing():
    rng = np.random.default_rng(5)
    confidence, shown = rng.integers(0, 51, 60) / 50, rng.integers(0, 2, 60).astype(float)
    judge = np.where(np.arange(60) % 3 == 0, 0.5, shown)
    found = corrected_ece(confidence, judge, Audited(range(60), shown, judge=shown))
    np.testing.assert_allclose(found, ece_interval(confidence, judge), atol=1e-6)


def test_an_audit_that_happened_to_fall_in_one_bin_gives_no_negative_variance():
    confidence, judge = [0.9] * 50 + [0.2] * 50, [0] * 100
    audited = Audited(range(5), [1] * 5)
    covariance = residuals_of(confidence, judge, audited, floored=False).covariance
    assert np.linalg.eigvalsh(covariance).min() >= -1e-12
    assert covariance[1, 1] > 0


def test_the_error_is_at_most_one():
    confidence, judge = [0.1] * 90 + [0.95] * 10, [0] * 90 + [1] * 10
    found = corrected_ece(confidence, judge, Audited([90, 91], [0, 0]))
    assert found.value == found.high == 1
    assert corrected_accuracy(judge, Audited([90, 91], [0, 0])).value == 0


def test_the_interval_of_a_share_is_that_of_as_many_answers_as_give_its_variance():
    judge = [1] * 80 + [0] * 20
    audited = Audited([0, 1, 2, 3, 80, 81], [0, 1, 1, 1, 0, 0], stratum=[0] * 4 + [1] * 2, sizes=[80, 20])
    quality = audited_quality(judge, audited)
    share = 0.8 * 0.75 + 0.2
    assert quality.agreement.value == pytest.approx(share)
    spread = 0.8 * (0.25 * (1 - share) ** 2 * 0 + 0.25 * share**2 + 0.75 * (1 - share) ** 2) + 0.2 * (1 - share) ** 2
    size = share * (1 - share) / (spread / 100 + 0.64 * (1 - 4 / 80) / 4 * 0.25)
    z = float(ndtri(0.975))
    half = z * (share * (1 - share) / size + (z / (2 * size)) ** 2) ** 0.5
    expected = (share + z * z / (2 * size) - half) / (1 + z * z / size)
    assert size < 6
    assert quality.agreement.low == pytest.approx(expected)
    # two answers called incorrect, both rightly: Wilson's end for 0 of 2, and for 3 of 3 called correct
    assert quality.recall[1:] == pytest.approx((3 / (3 + z * z), 1.0))


def test_one_question_says_nothing():
    audited = Audited([0], [1])
    assert corrected_ece([0.7], [0], audited) == (pytest.approx(0.3), 0.0, 1.0)
    assert corrected_debiased_ece([0.7], [0], audited) == pytest.approx(0.3)
    quality = audited_quality([1], audited)
    assert np.isnan(quality.kappa.value)
    assert np.isnan(quality.false_correct).all()
    assert quality.precision.value == 1


def test_kappa_has_no_interval_below_thirty_questions():
    judge, people = [1, 0] * 50, [1, 0] * 14 + [0]
    assert np.isnan(audited_quality(judge, Audited(range(29), people)).kappa.low)
    value, low, high = audited_quality(judge, Audited(range(30), [*people, 0])).kappa
    assert low < value < high < 1


def test_the_interval_of_kappa_has_the_variance_that_its_derivative_gives():
    """All of 60 questions audited; the derivative by moving a little weight to each."""
    people, judge = np.array([1] * 9 + [0] * 51), np.array([1] * 7 + [0] * 2 + [1] * 6 + [0] * 45)
    cells = np.stack([judge & people, judge & (1 - people), (1 - judge) & people, (1 - judge) & (1 - people)], axis=1)
    share, step = cells.mean(axis=0), 1e-6
    slope = (cohen_kappa(share + step * (cells - share)) - cohen_kappa(share)) / step
    observed, kappa = share[0] + share[3], float(cohen_kappa(share))
    room = (1 - observed) / (1 - kappa)
    size = observed * (1 - observed) / ((slope * room) ** 2).mean() * 60
    ends = (np.array(wilson(observed, size, 0.95)) - (1 - room)) / room
    found = audited_quality(judge, Audited(range(60), people)).kappa
    assert found == (pytest.approx(kappa), pytest.approx(ends[0], abs=1e-5), pytest.approx(ends[1], abs=1e-5))


def test_a_stratum_without_questions_is_none():
    judge, people = [1] * 50 + [0] * 50, [1] * 9 + [0]
    found = corrected_accuracy(judge, Audited(range(45, 55), people, stratum=[2] * 10, sizes=[0, 0, 100]))
    assert found == corrected_accuracy(judge, Audited(range(45, 55), people))


# -- properties


def test_the_order_of_the_audited_questions_never_matters():
    rng = np.random.default_rng(2)
    confidence, people, judge = sample(rng, 300)
    audited = drawn(rng, people, judge.astype(int), [30, 50])
    order = rng.permutation(80)
    turned = Audited(audited.place[order], audited.people[order], None, audited.stratum[order], audited.sizes)
    np.testing.assert_allclose(corrected_ece(confidence, judge, turned), corrected_ece(confidence, judge, audited))
    np.testing.assert_allclose(corrected_accuracy(judge, turned), corrected_accuracy(judge, audited))
    np.testing.assert_allclose(np.array(audited_quality(judge, turned)), np.array(audited_quality(judge, audited)))


def test_fewer_audited_make_wider_intervals():
    rng = np.random.default_rng(3)
    confidence, people, judge = sample(rng, 1000, "over-confident")
    stratum = np.zeros(1000, dtype=int)
    widths = []
    for size in (50, 150, 450, 1000):
        audits = [drawn(rng, people, stratum, [size]) for _ in range(20)]
        ends = [[corrected_accuracy(judge, a), corrected_ece(confidence, judge, a)] for a in audits]
        widths.append(np.array([[high - low for _, low, high in pair] for pair in ends]).mean(axis=0))
    assert (np.diff(widths, axis=0) < 0).all()


def test_a_higher_level_makes_wider_intervals():
    rng = np.random.default_rng(4)
    confidence, people, judge = sample(rng, 300)
    audited = drawn(rng, people, np.zeros(300, dtype=int), [100])
    for function in (
        lambda level: corrected_accuracy(judge, audited, level=level),
        lambda level: corrected_ece(confidence, judge, audited, level=level),
        *(lambda level, name=name: getattr(audited_quality(judge, audited, level=level), name) for name in QUALITIES),
        lambda level: audited_quality(judge, audited, level=level).kappa,
    ):
        half, most = function(0.5), function(0.99)
        assert most.low <= half.low <= half.value <= half.high < most.high


# -- statistical


DESIGNS = {"simple": (0.0, [60]), "by verdict": (1.0, [40, 20])}


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize(("false_correct", "missed"), [(0.1, 0.1), (0.4, 0.02), (0.0, 0.5)])
def test_accuracy_and_residuals_are_unbiased_and_vary_as_they_say(design, false_correct, missed):
    """Questions and audit drawn 2,000 times, 4 standard errors; few of what the judge calls correct are audited."""
    rng = np.random.default_rng([len(design), int(100 * missed)])
    by_verdict, sizes = DESIGNS[design]
    values, covariances = [], []
    for _ in range(2000):
        confidence = rng.choice([0.25, 0.55, 0.85], 150)
        people = (rng.random(150) < 0.1 + 0.8 * confidence).astype(float)
        judge = judged(rng, people, false_correct, missed)
        audited = drawn(rng, people, (by_verdict * judge).astype(int), sizes)
        residuals = residuals_of(confidence, judge, audited, floored=False)
        values.append(residuals.value)
        covariances.append(residuals.covariance)
    values, expected = np.array(values), (0.1 - 0.2 * np.array([0.25, 0.55, 0.85])) / 3
    error = values.std(axis=0) / 2000**0.5
    assert (np.abs(values.mean(axis=0) - expected) < 4 * error).all()
    accuracy, spread = values.sum(axis=1), np.cov(values.T)
    assert abs(accuracy.mean() - expected.sum()) < 4 * accuracy.std() / 2000**0.5
    scale = np.sqrt(np.outer(np.diag(spread), np.diag(spread)))
    assert np.abs((np.mean(covariances, axis=0) - spread) / scale).max() < 4 * (2 / 2000) ** 0.5


@pytest.mark.parametrize("by_verdict", [0, 1])
@pytest.mark.parametrize(("correct", "false_correct"), [(0.4, 0.5), (0.15, 0.12)])
def test_shares_and_kappa_vary_as_their_intervals_say(by_verdict, correct, false_correct):
    """One right answer in ten is missed; half widths against the spread over 1,000 audits, within a tenth."""
    rng, found = np.random.default_rng(by_verdict), []
    for _ in range(1000):
        people = (rng.random(900) < correct).astype(float)
        judge = judged(rng, people, false_correct, 0.1)
        audited = drawn(rng, people, (by_verdict * judge).astype(int), [150, 150] if by_verdict else [300])
        found.append(audited_quality(judge, audited))
    found, wrong = np.array(found), 1 - correct
    called = 0.9 * correct + false_correct * wrong
    agreement = 0.9 * correct + (1 - false_correct) * wrong
    chance = called * correct + (1 - called) * wrong
    truth = [agreement, (agreement - chance) / (1 - chance), 0.9 * correct / called, 0.9, false_correct]
    spread = found[:, :, 0].std(axis=0)
    assert (np.abs(found[:, :, 0].mean(axis=0) - truth) < 4 * spread / 1000**0.5 + 0.005).all()
    half = (found[:, :, 2] - found[:, :, 1]).mean(axis=0) / 2
    np.testing.assert_allclose(half / spread, float(ndtri(0.975)), rtol=0.1)


def coverage(population, by_verdict, *, size, audited, replications=200):
    """Shares of intervals that hold: accuracy, ECE; and whether the ECE is less biased when debiased."""
    rng = np.random.default_rng([size, audited, int(by_verdict)])
    c = np.arange(51) / 50
    accuracy = CORRECTNESS[population](c)
    truth, mean = ece(c, accuracy), accuracy.mean()
    found = []
    for _ in range(replications):
        confidence, people, judge = sample(rng, size, population)
        stratum = judge.astype(int) if by_verdict else np.zeros(size, dtype=int)
        wanted = [audited - audited // 2, audited // 2] if by_verdict else [audited]
        sheet = drawn(rng, people, stratum, wanted)
        ends = corrected_accuracy(judge, sheet), corrected_ece(confidence, judge, sheet, rng=rng)
        inside = [low <= true + 1e-12 <= high + 2e-12 for (_, low, high), true in zip(ends, (mean, truth), strict=True)]
        found.append([*inside, ends[1].value - truth, corrected_debiased_ece(confidence, judge, sheet) - truth])
    return np.mean(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("by_verdict", [False, True])
@pytest.mark.parametrize("population", ["calibrated", "over-confident", "crossing"])
@pytest.mark.parametrize(("size", "audited"), [(500, 50), (2000, 100)])
def test_intervals_hold(population, by_verdict, size, audited):
    """200 replications; at least 93 % less 4 standard errors."""
    accuracy, error, plug_in, debiased = coverage(population, by_verdict, size=size, audited=audited)
    least = 0.93 - 4 * (0.93 * 0.07 / 200) ** 0.5
    assert accuracy >= least
    assert error >= least
    assert abs(debiased) < max(abs(plug_in), 0.01)


# -- bad input


@pytest.mark.parametrize(
    ("audited", "sentence"),
    [
        (Audited([], []), "people must not be empty"),
        (Audited([0], [2]), "people must lie in [0, 1]; got 2.0 at index 0"),
        (Audited([0, 4], [1, 1]), "place must be below 4, the number of rows; got 4 at index 1"),
        (Audited([-1], [1]), "place must be >= 0; got -1 at index 0"),
        (Audited([2, 1, 2], [1, 1, 0]), "place must name each row once; got 2 2 times"),
        (Audited([0, 1], [1]), "place and people must have the same length; got 2 and 1"),
        (Audited([0], [1], judge=[1, 1]), "place and judge must have the same length; got 1 and 2"),
        (Audited([0], [1], judge=[-1]), "judge must lie in [0, 1]; got -1.0 at index 0"),
        (Audited([0], [1], stratum=[0]), "stratum and sizes belong together: give both or neither"),
        (Audited([0], [1], sizes=[4]), "stratum and sizes belong together: give both or neither"),
        (Audited([0], [1], stratum=[0, 0], sizes=[4]), "stratum must have one value per audited question; got 2 for 1"),
        (Audited([0], [1], stratum=[1], sizes=[4]), "sizes must have one value per stratum; got 1 for stratum 1"),
        (
            Audited([0, 1], [1, 1], None, [0, 0], [1]),
            "sizes must not be below the audited rows; got 1 for 2 at index 0",
        ),
        (Audited([0], [1], None, [0], [2, 2]), "every stratum needs audited questions; got none of the 2 of stratum 1"),
    ],
)
def test_a_bad_audit_is_refused_in_a_sentence(audited, sentence):
    for function in (corrected_accuracy, audited_quality):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            function([1, 0, 1, 1], audited)
    for function in (corrected_ece, corrected_debiased_ece):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            function([0.5] * 4, [1, 0, 1, 1], audited)


def test_bad_numbers_and_options_are_refused():
    audited = Audited([0], [1])
    with pytest.raises(ValueError, match=r"correct must lie in \[0, 1\]"):
        corrected_accuracy([1.5], audited)
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1; got 1"):
        corrected_accuracy([1], audited, level=1)
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1; got 1"):
        audited_quality([1], audited, level=1)
    with pytest.raises(ValueError, match="same length"):
        corrected_ece([0.5, 0.5], [1], audited)
    with pytest.raises(ValueError, match="n_bins must be a whole number of at least 1"):
        corrected_ece([0.5], [1], audited, n_bins=0)


# -- numbers about the model, and thresholds


def judged_run(seed, *, size=400, rates=(0.1, 0.2)):
    """Counts, which class is right, what the judge says of it, and the deployed class."""
    rng = np.random.default_rng(seed)
    pmf = -np.sort(-rng.dirichlet([0.6] * 4, size), axis=1)
    counts = rng.multinomial(6, pmf)
    right = np.eye(4)[(rng.random((size, 1)) > np.cumsum(pmf, axis=1)).sum(axis=1).clip(max=3)]
    chance = rng.random(right.shape)
    said = np.where(right == 1, chance >= rates[1], chance < rates[0]).astype(float)
    return counts, right, said, counts.argmax(axis=1)


def masses_of(counts, said, deployed):
    own = np.eye(4)[deployed]
    every, mine, others = (
        semx(correct=values.ravel(), counts=Counts.from_counts(counts)) for values in (said, own, said * (1 - own))
    )
    return held_out_masses(every, mine, others, said[np.arange(len(said)), deployed]), every


def test_with_a_perfect_judge_and_all_audited_the_numbers_about_the_model_stay():
    counts, right, _, deployed = judged_run(0)
    masses, every = masses_of(counts, right, deployed)
    found = corrected_held_out(masses, Audited(np.arange(400), masses.judge))
    assert found.gap.value == pytest.approx(held_out_gap(every).value)
    assert found.error.value == pytest.approx(semx_ece(every).value)
    assert found.gap.low == pytest.approx(held_out_gap(every).low, abs=0.01)


def test_the_judges_errors_are_taken_out_of_the_held_out_gap():
    corrected, alone, truth = [], [], []
    for seed in range(20):
        counts, right, said, deployed = judged_run(seed)
        masses, every = masses_of(counts, said, deployed)
        people = right[np.arange(400), deployed]
        corrected.append(corrected_held_out(masses, Audited(np.arange(0, 400, 2), people[::2])).gap.value)
        alone.append(held_out_gap(every).value)
        truth.append(held_out_gap(masses_of(counts, right, deployed)[1]).value)
    error = np.subtract(corrected, truth)
    assert abs(error.mean()) < 4 * error.std() / 20**0.5
    assert abs(np.subtract(alone, truth).mean()) > 0.03


def test_an_audit_without_a_wrong_answer_says_nothing_of_how_the_judge_errs():
    counts, right, _, deployed = judged_run(1)
    masses, _ = masses_of(counts, right, deployed)
    assert corrected_held_out(masses, Audited(np.arange(50), np.ones(50))) is None


def test_a_corrected_threshold_promises_less_than_a_lenient_judge():
    rng = np.random.default_rng(2)
    confidence = np.repeat([1.0, 0.9, 0.5], [300, 300, 300])
    people = (rng.random(900) < np.repeat([0.97, 0.7, 0.3], 300)).astype(float)
    judge = np.maximum(people, rng.random(900) < 0.7)
    audited = Audited(np.arange(0, 900, 2), people[::2])
    alone = abstention_threshold(confidence, judge, target=0.8)
    found = corrected_threshold(confidence, judge, audited, target=0.8, asked=1200)
    assert alone.threshold < 0.9 < found.threshold
    assert (found.answered, found.coverage) == (300, 0.25)
    assert people[confidence >= found.threshold].mean() >= 0.8


# -- the mean gap, and outcomes to compare by


def test_the_corrected_gap_is_mean_confidence_less_corrected_accuracy():
    rng = np.random.default_rng(0)
    confidence, judge = rng.random(200), (rng.random(200) < 0.6).astype(float)
    audited = Audited(range(0, 200, 2), (rng.random(100) < 0.5).astype(float))
    value, low, high = corrected_gap(confidence, judge, audited)
    accuracy = corrected_accuracy(judge, audited)
    assert value == pytest.approx(confidence.mean() - accuracy.value)
    plain = gap_interval(confidence, judge)
    assert high - low > plain.high - plain.low
    assert -1 <= low < value < high <= 1


def test_with_all_audited_the_gap_is_peoples_own():
    rng = np.random.default_rng(1)
    confidence, people = rng.random(300), (rng.random(300) < 0.7).astype(float)
    found = corrected_gap(confidence, 1 - people, Audited(range(300), people))
    plain = gap_interval(confidence, people)
    assert found.value == pytest.approx(plain.value)
    assert found.low <= plain.low + 1e-12
    assert found.high >= plain.high - 1e-12
    assert found.high - found.low < 1.05 * (plain.high - plain.low)


def test_a_single_question_says_nothing_of_the_gap():
    assert corrected_gap([0.5], [1], Audited([0], [1]))[1:] == (-1, 1)


@pytest.mark.parametrize("judge", [(0.05, 0.15), (0.25, 0.0)])
def test_the_interval_of_the_corrected_gap_holds(judge):
    """300 runs of 300 questions, 60 of them audited by verdict; 4 standard errors."""
    rng, held = np.random.default_rng(2), []
    for _ in range(300):
        confidence = rng.beta(3, 1, 300)
        people = (rng.random(300) < confidence**2).astype(float)
        chance = rng.random(300)
        said = np.where(people == 1, chance >= judge[1], chance < judge[0]).astype(float)
        stratum, sizes = said.astype(int), np.bincount(said.astype(int))
        place = np.concatenate([rng.permutation(np.flatnonzero(stratum == h))[:30] for h in (0, 1)])
        found = corrected_gap(confidence, said, Audited(place, people[place], None, stratum[place], sizes))
        held.append(found.low <= 0.75 - 0.6 <= found.high)
    assert np.mean(held) > 0.95 - 4 * (0.95 * 0.05 / 300) ** 0.5


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_outcomes_have_the_corrected_means_of_any_bin(seed):
    rng = np.random.default_rng(seed)
    confidence, judge = rng.random(120), (rng.random(120) < 0.6).astype(float)
    stratum, sizes = judge.astype(int), np.bincount(judge.astype(int), minlength=2)
    place = np.concatenate([np.flatnonzero(stratum == h)[:25] for h in (0, 1)])
    audited = Audited(place, (rng.random(len(place)) < 0.5).astype(float), None, stratum[place], sizes)
    outcomes = corrected_outcomes(judge, audited)
    assert np.clip(outcomes.mean(), 0, 1) == pytest.approx(corrected_accuracy(judge, audited).value)
    assert binned_terms(confidence, outcomes).total == pytest.approx(corrected_ece(confidence, judge, audited).value)
    untouched = np.setdiff1d(np.arange(120), place)
    assert (outcomes[untouched] == judge[untouched]).all()
