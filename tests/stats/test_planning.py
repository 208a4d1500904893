"""How many questions a width takes."""

import numpy as np
import pytest

from semece.stats import Counts, held_out_gap, semx
from semece.stats.simulation import easy
from semece.stats.uncertainty.planning import (
    ResidualSpread,
    pilot_spread,
    plan_questions,
    width_to_find,
    worst_spread,
)


def drawn(size, n, *, seed, least=0.5):
    """Draw questions, n answers to each, and the right class from their own probabilities."""
    rng = np.random.default_rng(seed)
    pmf = easy(size, rng=rng, confidence=(least, 1.0)).pmf
    right = np.array([rng.multinomial(1, p) for p in pmf], dtype=float)
    return Counts.from_counts(rng.multinomial(n, pmf)), right.ravel()


def width_of(counts, right):
    found = held_out_gap(semx(correct=right, counts=counts))
    return found.high - found.low


def test_a_large_pilot_plans_a_run_that_is_about_as_wide_as_wanted():
    for n in (4, 10):
        made = plan_questions(pilot_spread(*drawn(2000, 10, seed=1), n_answers=n), width=0.03)
        assert made.basis == "pilot"
        assert width_of(*drawn(made.questions, n, seed=2)) == pytest.approx(0.03, rel=0.1)


def test_fewer_answers_of_a_pilot_spread_as_so_many_answers_do():
    counts, right = drawn(1500, 10, seed=3)
    few = pilot_spread(*drawn(1500, 4, seed=4), n_answers=4)
    of_many = pilot_spread(counts, right, n_answers=4)
    assert of_many.variance == pytest.approx(few.variance, rel=0.1)
    assert abs(pilot_spread(counts, right, n_answers=10).variance / few.variance - 1) > 0.1
    assert pilot_spread(counts, right, n_answers=4, rng=5) == pilot_spread(counts, right, n_answers=4, rng=5)


def test_a_small_pilot_plans_with_an_upper_limit_and_is_seldom_too_narrow():
    wider = 0
    for seed in range(20):
        made = plan_questions(pilot_spread(*drawn(60, 10, seed=seed), n_answers=10), width=0.1)
        assert made.basis == "upper limit"
        wider += width_of(*drawn(made.questions, 10, seed=1000 + seed)) > 0.1
    assert wider <= 2


def test_a_pilot_that_is_small_or_nearly_always_right_is_not_taken_at_its_word():
    """With residuals of one size, whose spread any pilot seems to know."""
    bases = [
        plan_questions(ResidualSpread(10, size, gap, 0.2, 1.0, 0.8), width=0.05).basis
        for size, gap in ((200, 0.0), (200, -0.1), (199, 0.0), (200, -0.11))
    ]
    assert bases == ["pilot", "pilot", "upper limit", "upper limit"]


def test_pilots_that_seem_to_know_an_uneven_spread_are_few_and_not_far_off():
    """Of pilots of 200 of these questions 3 % were taken at their word, and of the runs 4 in 10 came out too narrow."""
    counts, right = drawn(20_000, 10, seed=7)
    found = semx(correct=right, counts=counts)
    r, h = (np.bincount(found.question, part, 20_000) for part in (found.value, found.held_out))
    rng, own = np.random.default_rng(8), []
    for _ in range(400):
        x = r[rng.integers(0, len(r), 200)]
        kurtosis = ((x - x.mean()) ** 4).mean() / x.var() ** 2
        made = plan_questions(ResidualSpread(10, 200, x.mean(), x.var(), kurtosis, h.mean()), width=0.05)
        own += [2 * 1.96 * (r.var() / made.questions) ** 0.5 / 0.05] * (made.basis == "pilot")
    assert len(own) <= 4
    assert sum(abs(ratio - 1) > 0.1 for ratio in own) <= 0.1 * len(own) + 1


def test_rare_large_residuals_make_an_interval_wider_than_their_spread_says():
    wider = 0
    for seed in range(40):
        made = plan_questions(pilot_spread(*drawn(200, 10, seed=seed, least=0.95), n_answers=10), width=0.1)
        assert made.basis == "upper limit"
        wider += width_of(*drawn(made.questions, 10, seed=1000 + seed, least=0.95)) > 0.1
    assert wider <= 4


def test_a_width_that_nobody_can_pay_is_refused():
    with pytest.raises(ValueError, match="width must be one that 1,000,000,000 questions can have, at least"):
        plan_questions(worst_spread(4), width=1e-9)


def test_without_a_pilot_the_plan_is_the_worst_case():
    made = plan_questions(worst_spread(4), width=0.1)
    assert (made.basis, made.questions) == ("worst case", 767)
    assert plan_questions(worst_spread(4, accuracy=0.9), width=0.1).questions < made.questions
    for seed in range(3):
        assert width_of(*drawn(made.questions, 4, seed=seed)) <= 0.1


def test_a_gap_is_found_as_often_as_planned():
    """By definition: the distance from 0 is the half width and as many standard errors as the power takes."""
    width = width_to_find(0.1, 0.9)
    error = width / (2 * 1.959964)
    assert 0.1 / error == pytest.approx(1.959964 + 1.281552, abs=1e-5)
    assert width_to_find(0.1, 0.5) == pytest.approx(0.2)


def test_labels_of_people_add_what_they_leave_open():
    spread = pilot_spread(*drawn(500, 10, seed=6), n_answers=10)
    trusted = plan_questions(spread, width=0.1)
    every, some = (plan_questions(spread, width=0.1, overturned=0.05, labelled=share) for share in (1.0, 0.2))
    assert trusted.labels == 0
    assert trusted.questions < every.questions < some.questions
    assert every.labels == every.questions
    assert some.labels == int(np.ceil(0.2 * some.questions))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: plan_questions(worst_spread(4), width=0), "width must lie between 0 and 2; got 0"),
        (lambda: plan_questions(worst_spread(4), width=0.1, overturned=1.0), "overturned must lie in"),
        (lambda: worst_spread(1), "n_answers must be a whole number of at least 2; got 1"),
        (lambda: worst_spread(4, accuracy=1.0), "accuracy must lie strictly between 0 and 1; got 1.0"),
        (lambda: width_to_find(0.0, 0.9), "gap must be a number in"),
        (lambda: width_to_find(0.1, 0.4), "power must lie in"),
        (
            lambda: pilot_spread(Counts.from_counts([[2, 2]]), [1, 0], n_answers=4),
            "a pilot must have at least 2 questions with 4 answers; got 1",
        ),
    ],
)
def test_bad_input_is_named(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
