"""Paired differences: the same as a loop over replicates, and how often their intervals hold."""

import numpy as np
import pytest

from semece.stats.calibration.binned_errors import ece
from semece.stats.uncertainty import bootstrap
from semece.stats.uncertainty.bootstrap import NEAR_ZERO, Resampling, is_low_margin, paired_bootstrap


def questions(n, seed=0, power=2.0):
    """Two confidences on a grid, correctness of the first to a power, and low margins."""
    rng = np.random.default_rng(seed)
    first = rng.integers(10, 51, n) / 50
    second = np.round(np.clip(first - rng.random(n) * 0.1, 0, 1), 2)
    return first, second, (rng.random(n) < first**power).astype(float), rng.random(n) < 0.4


def statistics(first, second, correct, low, **options):
    def pair(kept):
        difference = ece(first[kept], correct[kept], **options) - ece(second[kept], correct[kept], **options)
        return [(first - second)[kept].mean(), difference]

    return [*pair(slice(None)), *pair(low)]


def intervals(result):
    return np.array(
        [
            result.overall.mean_difference,
            result.overall.ece_difference,
            result.low_margin.mean_difference,
            result.low_margin.ece_difference,
        ]
    )


@pytest.mark.parametrize("options", [{}, {"closed": "guo", "n_bins": 4}, {"closed": "right"}])
def test_replicates_are_those_of_a_loop_over_the_same_draws(options):
    first, second, correct, low = questions(300)
    first[:20], second[:15], correct[:20] = 0.0, 0.0, 1.0
    in_order = np.lexsort([first, second, correct, low])
    first, second, correct, low = (column[in_order] for column in (first, second, correct, low))
    drawn = np.random.default_rng(7).integers(0, 300, (500, 300))
    loop = np.array([statistics(first[i], second[i], correct[i], low[i], **options) for i in drawn])
    resampling = Resampling(500, 0.9, 7)
    result = paired_bootstrap(first, second, correct, low_margin=low, resampling=resampling, **options)
    expected = np.column_stack(
        [statistics(first, second, correct, low, **options), *np.quantile(loop, [0.05, 0.95], 0)]
    )
    np.testing.assert_allclose(intervals(result), expected, atol=1e-12)
    assert (result.overall.n_questions, result.low_margin.n_questions) == (300, low.sum())


def test_questions_with_several_rows_are_drawn_whole():
    first, second, correct, low = questions(300)
    ids = np.array([f"q{k}" for k in np.random.default_rng(3).integers(0, 60, 300)])
    places = [np.flatnonzero(ids == name) for name in np.unique(ids)]
    drawn = np.random.default_rng(0).integers(0, len(places), (1000, len(places)))
    rows = [np.concatenate([places[j] for j in replicate]) for replicate in drawn]
    loop = np.array([statistics(first[i], second[i], correct[i], low[i]) for i in rows])
    result = paired_bootstrap(first, second, correct, low_margin=low, ids=ids)
    expected = np.column_stack([statistics(first, second, correct, low), *np.quantile(loop, [0.025, 0.975], axis=0)])
    np.testing.assert_allclose(intervals(result), expected, atol=1e-12)
    assert result.overall.n_questions == len(places)
    assert result.low_margin.n_questions == len(np.unique(ids[low]))


def test_few_distinct_rows_are_drawn_by_their_counts():
    """Four distinct rows of 400: multinomial counts, whose quantiles agree with index draws to a step or two."""
    sizes = [160, 120, 80, 40]
    columns = ([0.9, 0.9, 0.6, 0.6], [0.8, 0.7, 0.5, 0.2], [1, 0, 1, 0])
    first, second, correct = (np.repeat(column, sizes) for column in columns)
    many = paired_bootstrap(first, second, correct, resampling=Resampling(20_000)).overall
    everything = np.ones(400, bool)
    drawn = np.random.default_rng(1).integers(0, 400, (4000, 400))
    found = np.array([statistics(first[i], second[i], correct[i], everything)[:2] for i in drawn])
    expected = np.quantile(found, [0.025, 0.975], axis=0)
    spread = found.std(axis=0)
    assert many.mean_difference[1:] == pytest.approx(expected[:, 0], abs=0.2 * spread[0])
    assert many.ece_difference[1:] == pytest.approx(expected[:, 1], abs=0.2 * spread[1])


@pytest.mark.parametrize("held", ["CHUNK", "BLOCK"])
@pytest.mark.parametrize("size", [1, 1000, 10**7])
def test_results_do_not_depend_on_what_is_held_in_memory(monkeypatch, held, size):
    data = questions(100)[:3]
    whole = paired_bootstrap(*data)
    monkeypatch.setattr(bootstrap, held, size)
    assert paired_bootstrap(*data).overall.ece_difference == pytest.approx(whole.overall.ece_difference, abs=1e-14)


@pytest.mark.parametrize("n", [60, 2000])
def test_the_order_of_rows_does_not_matter(n):
    first, second, correct, _ = questions(n)
    order = np.random.default_rng(0).permutation(n)
    here, there = (paired_bootstrap(first[o], second[o], correct[o]).overall for o in (np.arange(n), order))
    assert here.ece_difference == pytest.approx(there.ece_difference, abs=1e-12)
    assert here.mean_difference == pytest.approx(there.mean_difference, abs=1e-12)


def test_equal_input_gives_equal_output():
    data = questions(200)[:3]
    assert paired_bootstrap(*data) == paired_bootstrap(*data, resampling=Resampling(rng=np.random.default_rng(0)))
    assert paired_bootstrap(*data) != paired_bootstrap(*data, resampling=Resampling(rng=1))


def test_fewer_than_thirty_low_margins_have_no_statistics():
    first, second, correct, _ = questions(200)
    low = np.arange(200) < 29
    assert paired_bootstrap(first, second, correct, low_margin=low).low_margin is None
    low[29] = True
    assert paired_bootstrap(first, second, correct, low_margin=low).low_margin.n_questions == 30
    assert paired_bootstrap(first, second, correct, low_margin=low, ids=np.arange(200) // 2).low_margin is None
    assert paired_bootstrap(first, second, correct).low_margin is None


def test_the_note_says_when_either_confidence_is_not_told_from_calibrated():
    first, second, correct, low = questions(1500)
    assert paired_bootstrap(first, second, correct).overall.note == ""
    calibrated = (np.random.default_rng(5).random(1500) < first).astype(float)
    for pair in ((first, second - 0.2), (second - 0.2, first)):
        one, two = np.clip(pair, 0, 1)
        assert paired_bootstrap(one, two, calibrated).overall.note == NEAR_ZERO
    only_low = np.where(low, calibrated, correct)
    result = paired_bootstrap(first, np.clip(second - 0.2, 0, 1), only_low, low_margin=low)
    assert (result.overall.note, result.low_margin.note) == ("", NEAR_ZERO)


def test_the_note_counts_a_question_once_however_many_rows_it_has():
    rng = np.random.default_rng(8)
    first = rng.integers(0, 51, 60) / 50
    correct = (rng.random(60) < first).astype(float)
    copies = [np.tile(values, 20) for values in (first, first, correct)]
    assert paired_bootstrap(*copies).overall.note == ""
    assert paired_bootstrap(*copies, ids=np.tile(np.arange(60), 20)).overall.note == NEAR_ZERO


def test_soft_correctness_is_allowed():
    result = paired_bootstrap([0.9] * 50, [0.8] * 50, [0.5, 0.25] * 25)
    assert result.overall.ece_difference.value == pytest.approx(0.1)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="at least 2 questions are needed to resample; got 1"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], ids=["a", "a"])
    with pytest.raises(ValueError, match=r"low_margin must be 2 booleans, one per row; got int64 of shape \(2,\)"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], low_margin=[1, 0])
    with pytest.raises(ValueError, match=r"low_margin must be 2 booleans, one per row; got bool of shape \(1,\)"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], low_margin=[True])
    with pytest.raises(ValueError, match="n_resamples must be a whole number of at least 1; got 0"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], resampling=Resampling(0))
    with pytest.raises(ValueError, match="level must lie strictly between 0 and 1; got 95"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], resampling=Resampling(level=95))
    with pytest.raises(ValueError, match=r"second must lie in \[0, 1\]; got 1\.5 at index 1"):
        paired_bootstrap([0.5, 0.6], [0.4, 1.5], [1, 0])
    with pytest.raises(ValueError, match=r"first must be numbers; got None at index 1"):
        paired_bootstrap([0.5, None], [0.4, 0.5], [1, 0])
    with pytest.raises(ValueError, match="second and correct must have the same length; got 1 and 2"):
        paired_bootstrap([0.5, 0.6], [0.4], [1, 0])
    with pytest.raises(ValueError, match="first and correct must have the same length; got 1 and 2"):
        paired_bootstrap([0.5], [0.4], [1, 0])
    with pytest.raises(ValueError, match=r"resampling must be a Resampling\(n_resamples, level, rng\); got 10"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], resampling=10)
    with pytest.raises(ValueError, match="rng must be a whole number of at least 0 or a numpy Generator; got 'x'"):
        paired_bootstrap([0.5, 0.6], [0.4, 0.5], [1, 0], resampling=Resampling(rng="x"))


@pytest.mark.parametrize(
    ("n", "message"),
    [
        (0, "n must be at least 1; got 0.0 at index 0"),
        ([25, -1], "n must be at least 1; got -1.0 at index 1"),
        (float("nan"), "n must be finite; got nan at index 0"),
        ("many", "n must be numbers; got 'many' at index 0"),
        ([25], "n must be one number or have one value per row; got 1 for 2 rows"),
    ],
)
def test_a_low_margin_needs_a_number_of_responses(n, message):
    with pytest.raises(ValueError, match=message):
        is_low_margin([0.1, 0.2], n)


def test_a_margin_on_the_boundary_is_not_low():
    assert is_low_margin([0.199, 5 / 25, 0.2 - 1e-12, 0.0], 25).tolist() == [True, False, False, True]
    assert is_low_margin([0.15, 0.15], [25, 100]).tolist() == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize("population", ["calibrated", "over-confident", "crossing"])
def test_the_mean_difference_is_covered_everywhere_and_the_error_difference_under_over_confidence(population):
    """200 replications of 500 questions from a pool whose own values are the truth; 4 standard errors."""
    rng = np.random.default_rng(0)
    first = rng.integers(10, 51, 50_000) / 50
    second = np.clip(first - rng.beta(1, 6, 50_000) * (1 - first) * 2, 0, 1)
    accuracy = {"calibrated": first, "over-confident": first**2, "crossing": 0.25 + 0.5 * first}[population]
    truth = (first - second).mean(), ece(first, accuracy) - ece(second, accuracy)
    hits = []
    for _ in range(200):
        index = rng.integers(0, 50_000, 500)
        correct = rng.random(500) < accuracy[index]
        result = paired_bootstrap(first[index], second[index], correct, resampling=Resampling(rng=rng)).overall
        hits.append([low <= value <= high for value, (_, low, high) in zip(truth, result[1:3], strict=True)])
    for place, share in enumerate(np.mean(hits, axis=0)):
        if place == 0 or population == "over-confident":
            error = 4 * max(share * (1 - share), 0.02) ** 0.5 / 200**0.5
            assert 0.93 - error <= share <= 0.97 + error
