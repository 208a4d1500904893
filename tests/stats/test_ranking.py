"""Ranking: brute force over pairs and over every order within ties."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from semece.stats.calibration.ranking import aurc, auroc, average_precision, eaurc, risk_coverage

FEW = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), min_size=1, max_size=6)
ROWS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=25)
METRICS = (auroc, average_precision, aurc, eaurc)


def pairs(rows):
    return tuple(np.array(column, float) for column in zip(*rows, strict=True))


@given(FEW)
def test_auroc_counts_pairs_and_half_of_the_ties(rows):
    c, a = pairs(rows)
    scores = [(x > y) + (x == y) / 2 for x in c[a == 1] for y in c[a == 0]]
    expected = np.mean(scores) if scores else math.nan
    assert auroc(c / 3, a) == pytest.approx(expected, nan_ok=True)


def mean_risk(correct):
    return np.mean(np.cumsum(1 - correct) / np.arange(1, len(correct) + 1))


@given(FEW)
def test_the_area_under_the_risk_coverage_curve_is_the_mean_over_all_orders_within_ties(rows):
    c, a = pairs(rows)
    orders = [o for o in itertools.permutations(range(len(c))) if (np.diff(c[list(o)]) <= 0).all()]
    expected = np.mean([mean_risk(a[list(order)]) for order in orders])
    assert aurc(c / 3, a) == pytest.approx(expected, abs=1e-12)
    assert eaurc(c / 3, a) == pytest.approx(expected - mean_risk(np.sort(a)[::-1]), abs=1e-12)


@given(ROWS, st.randoms(use_true_random=False))
def test_row_order_never_matters_and_weights_equal_replication(rows, random):
    shuffled = random.sample(rows, len(rows))
    c, a, w = pairs(rows)
    d, b, v = pairs(shuffled)
    for metric in METRICS:
        value = metric(c / 8, a / 4, weights=w)
        assert value == pytest.approx(metric(d / 8, b / 4, weights=v), abs=1e-12, nan_ok=True)
        replicated = metric(np.repeat(c, w.astype(int)) / 8, np.repeat(a, w.astype(int)) / 4)
        assert value == pytest.approx(replicated, abs=1e-12, nan_ok=True)


@given(ROWS)
def test_a_perfect_ranking_has_no_excess_area(rows):
    _, a, w = pairs(rows)
    assert eaurc(a / 4, a / 4, weights=w) == 0.0


def test_a_soft_answer_is_a_share_of_a_correct_and_of_a_wrong_one():
    soft = [metric([0.9, 0.5, 0.2], [1, 0.25, 0]) for metric in METRICS[:3]]
    split = [metric([0.9, 0.5, 0.5, 0.2], [1, 1, 0, 0], weights=[1, 0.25, 0.75, 1]) for metric in METRICS[:3]]
    assert soft == pytest.approx(split)


def test_only_auroc_is_undefined_where_all_answers_are_alike():
    assert math.isnan(auroc([0.1, 0.9], [1, 1]))
    assert math.isnan(auroc([0.1, 0.9], [0, 0]))
    assert (average_precision([0.1, 0.9], [1, 1]), average_precision([0.1, 0.9], [0, 0])) == (1.0, 0.0)
    assert (aurc([0.1, 0.9], [1, 1]), aurc([0.1, 0.9], [0, 0])) == (0.0, 1.0)
    assert (eaurc([0.1, 0.9], [1, 1]), eaurc([0.1, 0.9], [0, 0])) == (0.0, 0.0)


def test_the_curve_has_one_entry_per_threshold_from_the_highest_down():
    curve = risk_coverage([0.5, 0.9, 0.5, 0.1], [0, 1, 1, 0])
    assert curve.threshold.tolist() == [0.9, 0.5, 0.1]
    assert curve.coverage.tolist() == [0.25, 0.75, 1.0]
    assert curve.risk == pytest.approx([0, 1 / 3, 1 / 2])


@given(ROWS)
def test_the_last_entry_of_the_curve_answers_everything(rows):
    c, a, w = pairs(rows)
    curve = risk_coverage(c / 8, a / 4, weights=w)
    assert curve.coverage[-1] == 1.0
    assert curve.risk[-1] == pytest.approx(1 - np.average(a / 4, weights=w))


def test_rounding_errors_do_not_break_ties_and_small_probabilities_stay_apart():
    assert auroc([0.1 + 0.2, 0.3], [1, 0]) == 0.5
    assert len(risk_coverage([0.1 + 0.2, 0.3], [1, 0]).risk) == 1
    assert auroc([2e-30, 1e-30, 0.0], [1, 0, 0]) == 1.0


ULP_APART = {("Gpt-4.1-mini", "chemistry"), ("Gpt-4.1-mini", "physics")}
"""Cells with a confidence that is there in two spellings, one unit in the last place apart."""


@pytest.mark.shared_data
def test_published_aurocs_are_reproduced_but_where_they_take_a_rounding_error_for_an_order(shared_data):
    lines = (shared_data / "known_ece" / "mmlupro_half.jsonl").read_text(encoding="utf-8").splitlines()
    n_same, differs = 0, set()
    for cell in map(json.loads, lines):
        for kind, given_ in cell.items():
            if not isinstance(given_, dict):
                continue
            same = abs(auroc(given_["conf"], cell["correct"]) - given_["published_auroc"]) < 1e-9
            n_same += same
            if not same:
                differs.add((cell["model"], cell["category"], kind))
                assert np.diff(np.unique(given_["conf"])).min() < 1e-15
                assert roc_auc_score(cell["correct"], given_["conf"]) == pytest.approx(given_["published_auroc"])
                rounded = roc_auc_score(cell["correct"], np.round(given_["conf"], 9))
                assert auroc(given_["conf"], cell["correct"]) == pytest.approx(rounded, abs=1e-12)
    assert differs == {(*cell, "verbal_linguistic_confidence") for cell in ULP_APART}
    assert n_same == 88
