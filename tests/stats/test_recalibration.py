"""Maps from scores to confidences: what they give at the edges, how they are kept, on which rows they are judged."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.stats.recalibration.cross_fitting import cross_fit
from semece.stats.recalibration.dirichlet import fit_dirichlet, ranked_frequencies
from semece.stats.recalibration.effects import effect_sentence, recalibration_effects, verified_error
from semece.stats.recalibration.fitting import METHODS, fit_recalibration
from semece.stats.recalibration.maps import CLIP, Recalibration
from semece.stats.uncertainty.bootstrap import Resampling

QUICK = Resampling(n_resamples=100)
PROBES = np.linspace(0, 1, 21)
FALLING = "higher scores went with fewer right answers"


def answers(n, seed=0, steps=20, power=2.0):
    """Over-confident scores on a grid with 0 and 1, and binary correctness."""
    rng = np.random.default_rng([seed, n])
    score = rng.integers(0, steps + 1, n) / steps
    return score, (rng.random(n) < score**power).astype(float)


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


class TestMap:
    def test_a_map_comes_back_from_json_bit_by_bit(self, method):
        rng = np.random.default_rng(1)
        fitted = fit_recalibration(rng.random(60), rng.integers(0, 2, 60), method=method, ids=range(60))
        fitted = replace(fitted, score="sem1")
        again = Recalibration.from_json(fitted.to_json())
        assert again == fitted
        assert hash(again) == hash(fitted)
        for name, values in fitted.parameters.items():
            assert again.parameters[name].tobytes() == values.tobytes()
        assert again(PROBES).tobytes() == fitted(PROBES).tobytes()
        assert (again.score, again.n_rows, again.questions) == ("sem1", 60, fitted.questions)

    def test_a_map_cannot_be_changed(self, method):
        fitted = fit_recalibration(*answers(40), method=method)
        with pytest.raises(AttributeError):
            fitted.method = "other"
        with pytest.raises(ValueError, match="read-only"):
            next(iter(fitted.parameters.values()))[...] = 0

    @given(st.lists(st.tuples(st.integers(0, 10), st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=12))
    def test_any_rows_give_a_map_into_the_unit_interval(self, rows):
        score, correct = np.array(rows).T
        for method in METHODS:
            confidence = fit_recalibration(score / 10, correct, method=method)(PROBES)
            assert np.isfinite(confidence).all()
            assert ((confidence >= 0) & (confidence <= 1)).all()

    def test_the_order_of_rows_and_frequency_weights_do_not_matter(self, method):
        score, correct = answers(60)
        weights = np.random.default_rng(3).integers(1, 4, 60)
        other = np.random.default_rng(2).permutation(np.repeat(np.arange(60), weights))
        fitted = fit_recalibration(score, correct, method=method, weights=weights)
        again = fit_recalibration(score[other], correct[other], method=method)
        np.testing.assert_allclose(fitted(PROBES), again(PROBES), atol=1e-9)

    def test_a_map_of_confidences_does_not_turn_their_order_round(self, method):
        confidence = fit_recalibration(*answers(400), method=method)(PROBES)
        assert (np.diff(confidence) >= -1e-12).all() or method == "histogram"

    def test_scores_outside_the_domain_are_refused(self, method):
        with pytest.raises(ValueError, match=r"score must lie in \[0, 1\]; got 1.2 at index 1"):
            fit_recalibration([0.5, 1.2], [0, 1], method=method)
        with pytest.raises(ValueError, match=r"score must lie in \[0, 1\]; got -0.1"):
            fit_recalibration(*answers(30), method=method)([-0.1])
        with pytest.raises(ValueError, match="score and correct must have the same length"):
            fit_recalibration([0.5], [0, 1], method=method)

    def test_scores_on_the_real_line_are_told_apart_from_confidences(self, method):
        score, correct = answers(200)
        if method in {"temperature", "beta"}:
            with pytest.raises(ValueError, match="takes the logarithm of scores in"):
                fit_recalibration(score, correct, method=method, domain="real")
            return
        fitted = fit_recalibration(40 * score - 30, correct, method=method, domain="real")
        confidence = fitted([-1000.0, -30.0, -10.0, 10.0, 1000.0])
        assert (np.diff(confidence) >= 0).all()
        if method not in {"platt", "scaling-binning"}:
            unit = fit_recalibration(score, correct, method=method)
            np.testing.assert_allclose(fitted(40 * PROBES - 30), unit(PROBES), atol=1e-9)

    def test_scores_on_the_real_line_may_be_of_any_size_that_can_be_added(self, method):
        if method in {"temperature", "beta"}:
            return
        rng = np.random.default_rng(0)
        for size in (1e-300, 1e-9, 1e99):
            confidence = fit_recalibration(
                size * rng.normal(size=80), rng.random(80) < 0.5, method=method, domain="real"
            )
            assert np.isfinite(confidence([-size, 0.0, size])).all()
        with pytest.raises(ValueError, match=r"score must lie within 1e\+100 of 0; got 1e\+200 at index 1"):
            fit_recalibration([0.0, 1e200], [0, 1], method=method, domain="real")

    def test_options_that_make_no_sense_are_refused(self):
        rows = answers(20)
        for options, sentence in (
            ({"n_bins": 0}, "n_bins must be a whole number of at least 1"),
            ({"clip": 0.0}, "clip must lie strictly between 0 and 0.5"),
            ({"domain": "other"}, "domain must be one of"),
        ):
            with pytest.raises(ValueError, match=sentence):
                fit_recalibration(*rows, **options)
        with pytest.raises(ValueError, match="method must be one of"):
            fit_recalibration(*rows, method="magic")

    def test_applying_needs_numpy_alone(self, tmp_path):
        path = tmp_path / "maps.txt"
        path.write_text("\n".join(fit_recalibration(*answers(60), method=each).to_json() for each in METHODS))
        code = (
            "import sys\n"
            "for name in ('scipy', 'polars', 'numba', 'matplotlib', 'typer', 'rich', 'openai', 'jinja2', 'filelock'):\n"
            "    sys.modules[name] = None\n"
            "from semece.stats.recalibration import Recalibration\n"
            f"for line in open({str(path)!r}):\n"
            "    print(Recalibration.from_json(line)([0.0, 0.5, 1.0]).shape)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stdout == "(3,)\n" * len(METHODS), done.stderr

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "one JSON object"),
            ("[1]", "begins with its format"),
            ('{"format": "semece recalibration 1", "method": "magic"}', "method of a recalibration must be one of"),
            ('{"format": "semece recalibration 1", "method": "platt"}', "missing or damaged"),
            (fit_recalibration([0.5, 0.9], [0, 1]).to_json().replace('"unit"', '"other"'), "missing or damaged"),
            (fit_recalibration([0.5, 0.9], [0, 1]).to_json().replace('"slope": ', '"slope": "x", "s": '), "damaged"),
        ],
    )
    def test_a_file_that_holds_no_map_is_refused(self, text, sentence):
        with pytest.raises(ValueError, match=sentence):
            Recalibration.from_json(text)


class TestEdges:
    """One class, constant scores, ties, scores of exactly 0 and 1, few rows: a defined result."""

    @pytest.mark.parametrize(("answer", "kind"), [(1, "right"), (0, "wrong")])
    def test_answers_that_are_all_alike(self, method, answer, kind):
        fitted = fit_recalibration([0.2, 0.6, 0.9, 1.0, 0.0], [answer] * 5, method=method)
        assert fitted.notes == (f"all answers it was fitted on are {kind}, so it has seen no other kind",)
        expected = {
            "isotonic": answer,
            "histogram": answer,
            "platt": (1 + 5 * answer) / 7,
            "beta": (1 + 5 * answer) / 7,
        }
        if method in expected:
            np.testing.assert_allclose(fitted(PROBES), expected[method], atol=1e-8)

    @pytest.mark.parametrize("score", [0.0, 0.3, 0.5, 1.0])
    def test_scores_that_are_all_equal(self, method, score):
        fitted = fit_recalibration([score] * 8, [1, 0, 1, 1] * 2, method=method)
        smoothed = (0.75 * 7 / 8 + 0.25 / 4) if method in {"platt", "scaling-binning"} else 0.75
        if method == "venn-abers":
            assert fitted.interval([score])[0].tolist() == pytest.approx([6 / 9, 7 / 9])
        elif method != "temperature":
            assert fitted([score])[0] == pytest.approx(smoothed, abs=1e-9)
        elif score == 1.0:
            assert fitted([score])[0] == pytest.approx(0.75, abs=1e-9)
        else:
            assert fitted([score])[0] == pytest.approx(0.5, abs=1e-9)

    def test_zero_and_one_are_clipped_where_a_logarithm_is_taken(self):
        score, correct = answers(300)
        for method in ("platt", "temperature", "beta"):
            fitted = fit_recalibration(score, correct, method=method)
            assert fitted.clip == CLIP == 0.01
            np.testing.assert_array_equal(fitted([0.0, 1.0]), fitted([CLIP, 1 - CLIP]))
            wider = fit_recalibration(score, correct, method=method, clip=0.02)
            np.testing.assert_array_equal(wider([0.0, 1.0]), wider([0.02, 0.98]))

    def test_separated_answers_have_finite_maps(self):
        score, correct = [0.1, 0.2, 0.7, 0.8, 0.9], [0, 0, 1, 1, 1]
        for method in ("temperature", "beta"):
            fitted = fit_recalibration(score, correct, method=method)
            assert "separated" in fitted.notes[0]
            assert 0.001 < fitted([0.2])[0] < 0.5 < fitted([0.8])[0] < 0.999

    def test_answers_the_wrong_way_round_are_said(self):
        score, correct = [0.1, 0.2, 0.7, 0.8, 0.9] * 4, [1, 1, 0, 0, 1] * 4
        assert FALLING in fit_recalibration(score, correct, method="platt").notes[0]
        for method in ("temperature", "beta"):
            fitted = fit_recalibration(score, correct, method=method)
            assert "constant" in fitted.notes[-1]
            assert np.ptp(fitted(PROBES)) == 0

    def test_the_level_of_a_flat_platt_map_is_not_noise(self):
        fitted = fit_recalibration([0.2, 0.8] * 10, [1, 1, 0, 0] * 5, method="platt")
        assert float(fitted.parameters["slope"]) == 0
        assert "constant" in fitted.notes[0]

    def test_rounding_errors_of_averages_are_ties(self, method):
        score, correct = answers(100)
        noisy = np.clip(score + np.random.default_rng(0).uniform(-1, 1, 100) * 1e-15, 0, 1)
        fitted, again = (fit_recalibration(each, correct, method=method) for each in (score, noisy))
        for each in (score, noisy):
            np.testing.assert_allclose(fitted(each), again(each), atol=1e-7)


class TestVennAbers:
    def test_the_interval_holds_the_confidence_and_narrows_with_more_answers(self):
        widths = []
        for n in (50, 500):
            fitted = fit_recalibration(*answers(n), method="venn-abers")
            interval = fitted.interval(PROBES)
            assert (interval[:, 0] <= fitted(PROBES)).all()
            assert (fitted(PROBES) <= interval[:, 1]).all()
            widths.append((interval[:, 1] - interval[:, 0]).mean())
        assert widths[1] < widths[0] / 2

    def test_other_maps_have_no_interval(self):
        with pytest.raises(ValueError, match="only a venn-abers map has an interval; this one is platt"):
            fit_recalibration(*answers(20)).interval([0.5])


class TestCrossFit:
    def test_a_question_is_never_in_the_map_that_is_applied_to_it(self, method):
        score, correct = answers(120)
        ids = [f"q{row // 3}" for row in range(120)]
        found = cross_fit(score, correct, method=method, ids=ids, n_folds=5)
        for row, question in enumerate(ids):
            own = found.maps[found.fold[row]]
            assert own.was_fitted_on([question]) == [False]
            assert found.confidence[row] == own(score[row : row + 1])[0]
            assert all(other.was_fitted_on([question]) == [True] for other in found.maps if other is not own)

    def test_a_planted_leak_shows(self):
        """Scores that say nothing: a map judged by its own rows seems to know, and a cross-fitted one does not."""
        rng = np.random.default_rng(0)
        score, correct = rng.random(400), rng.integers(0, 2, 400)
        for method in ("isotonic", "histogram", "venn-abers"):
            leaking = fit_recalibration(score, correct, method=method, n_bins=50)(score)
            honest = cross_fit(score, correct, method=method, n_bins=50).confidence
            assert np.mean((leaking - correct) ** 2) < 0.25 < np.mean((honest - correct) ** 2)

    def test_rows_of_one_question_leak_unless_they_are_kept_together(self):
        rng = np.random.default_rng(0)
        score, correct = np.repeat(rng.random(60), 5), np.repeat(rng.integers(0, 2, 60), 5)
        apart = cross_fit(score, correct, method="isotonic").confidence
        together = cross_fit(score, correct, method="isotonic", ids=np.repeat(np.arange(60), 5)).confidence
        assert np.mean((apart - correct) ** 2) < np.mean((together - correct) ** 2)

    def test_folds_hold_about_equal_shares_of_right_answers(self):
        score, correct = answers(203)
        found = cross_fit(score, correct, n_folds=10)
        assert np.ptp(np.bincount(found.fold)) <= 1
        assert np.ptp(np.bincount(found.fold, correct)) <= 1

    def test_the_order_of_rows_does_not_matter(self):
        score, correct = answers(90)
        other = np.random.default_rng(4).permutation(90)
        ids = np.arange(90) // 2
        first, second = cross_fit(score, correct, ids=ids), cross_fit(score[other], correct[other], ids=ids[other])
        np.testing.assert_allclose(second.confidence, first.confidence[other], atol=1e-12)
        alone, mixed = cross_fit(score, correct), cross_fit(score[other], correct[other])
        np.testing.assert_allclose(np.sort(mixed.confidence), np.sort(alone.confidence), atol=1e-12)

    def test_five_rows_are_five_folds(self, method):
        found = cross_fit([0.0, 0.5, 0.5, 1.0, 1.0], [0, 1, 0, 1, 1], method=method)
        assert sorted(found.fold) == [0, 1, 2, 3, 4]
        assert np.isfinite(found.confidence).all()

    def test_one_question_cannot_be_cross_fitted(self):
        with pytest.raises(ValueError, match="cross-fitting needs at least 2 questions; got 1"):
            cross_fit([0.5, 0.6], [0, 1], ids=["a", "a"])
        with pytest.raises(ValueError, match="n_folds must be a whole number of at least 2; got 1"):
            cross_fit([0.5, 0.6], [0, 1], n_folds=1)


class TestEffects:
    def test_an_over_confident_score_is_helped_and_a_calibrated_one_is_not(self):
        score, correct = answers(600, power=3)
        effects = recalibration_effects(score, cross_fit(score, correct).confidence, correct, resampling=QUICK)
        named = {each.name: each for each in effects}
        assert list(named) == ["gap", "ece", "brier", "auroc", "aurc"]
        assert named["brier"].change.high < 0
        assert named["ece"].after < named["ece"].before / 2
        assert abs(named["auroc"].change.value) < 0.02
        said, change = effect_sentence(effects), named["brier"].change
        assert said.startswith("Recalibration helps: the Brier score falls")
        assert (
            f"a change of {change.value:.3f} [{change.low:.3f}, {change.high:.3f}]. This interval (95 %) decides"
            in said
        )
        assert "not the ECE, which goes from" in said
        score, correct = answers(600, power=1)
        effects = recalibration_effects(score, cross_fit(score, correct).confidence, correct, resampling=QUICK)
        assert effect_sentence(effects).startswith("It cannot be told whether recalibration helps")

    def test_a_bad_map_harms(self):
        score, correct = answers(300, power=1)
        assert "harms" in effect_sentence(recalibration_effects(score, 1 - score, correct, resampling=QUICK))

    def test_few_questions_have_no_interval(self):
        effects = recalibration_effects([0.5] * 40, [0.6] * 40, [0, 1] * 20, ids=np.arange(40) // 2)
        assert np.isnan(effects[1].change.low)
        assert effect_sentence(effects).startswith("Fewer than 30 questions cannot show")

    def test_answers_that_are_all_alike_show_nothing(self):
        effects = recalibration_effects([1.0] * 40, [0.9] * 40, [1] * 40)
        assert all(np.isnan(each.change.low) for each in effects)
        assert effect_sentence(effects).startswith("Answers that are all alike cannot show whether recalibration helps")


class TestVerifiedError:
    def test_a_planted_leak_is_found(self):
        score, correct = answers(80)
        fitted = fit_recalibration(score, correct, ids=[f"q{i}" for i in range(80)])
        fresh = [f"r{i}" for i in range(80)]
        verified_error(fitted, score, correct, ids=fresh)
        fresh[41], fresh[60] = "q7", "q8"
        with pytest.raises(ValueError, match=r"the map was fitted on 2 of these 80 rows, question 'q7' first"):
            verified_error(fitted, score, correct, ids=fresh)

    def test_a_map_that_does_not_know_its_questions_is_not_judged(self):
        fitted = fit_recalibration(*answers(30))
        with pytest.raises(ValueError, match="does not know its questions"):
            verified_error(fitted, *answers(30), ids=range(30))

    def test_a_stepped_map_is_measured_whole_and_any_other_from_below(self):
        score, correct = answers(300)
        for method, complete in (("histogram", True), ("scaling-binning", True), ("platt", False), ("isotonic", False)):
            fitted = fit_recalibration(score, correct, method=method, ids=range(300))
            found = verified_error(fitted, score, correct, ids=range(300, 600))
            assert found.complete is complete
            assert found.n_questions == 300
            assert found.error.low <= found.error.value <= found.error.high

    def test_its_interval_covers_for_calibrated_and_for_biased_maps(self):
        fitted = Recalibration(
            "histogram", {"edges": np.array([0.5]), "confidence": np.array([0.3, 0.8])}, questions=frozenset({"x"})
        )
        for shift in (0.0, 0.1):
            rng = np.random.default_rng(5)
            covered = 0
            for _ in range(40):
                score = rng.random(200)
                correct = rng.random(200) < fitted(score) - shift
                low, high = verified_error(fitted, score, correct, ids=range(200)).error[1:]
                covered += low <= shift <= high
            assert covered >= 34


class TestDirichlet:
    def test_two_classes_are_the_beta_map(self):
        score, correct = answers(500)
        score = 0.05 + 0.9 * score  # shares are scaled to sum to 1 after they are clipped, a score is not
        shares = np.column_stack([score, 1 - score])
        beta = fit_recalibration(score, correct, method="beta")
        both = fit_dirichlet(shares, (1 - correct).astype(int), penalty=0)
        np.testing.assert_allclose(both(shares), beta(score), atol=1e-8)

    def test_it_comes_back_from_json_bit_by_bit(self):
        shares = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
        fitted = fit_dirichlet(shares, np.arange(50) % 3, ids=range(50))
        again = Recalibration.from_json(fitted.to_json())
        assert again == fitted
        assert again(shares).tobytes() == fitted(shares).tobytes()

    def test_the_runner_up_tells_it_more_than_the_largest_class(self):
        """Right where the second class is small, wrong where it is large, at the same largest share."""
        rng = np.random.default_rng(0)
        second = rng.choice([0.02, 0.38], 400)
        shares = np.column_stack([np.full(400, 0.6), second, 0.4 - second])
        right = rng.random(400) < np.where(second > 0.2, 0.2, 0.9)
        target = np.where(right, 0, 1)
        fitted = cross_fit(shares, np.eye(3)[target], method="dirichlet").confidence
        assert abs(fitted[second > 0.2].mean() - 0.2) < 0.08
        assert abs(fitted[second < 0.2].mean() - 0.9) < 0.08

    def test_ranks_do_not_depend_on_the_order_of_classes(self):
        one = ranked_frequencies([[2, 5, 2, 1]], [[1, 0, 0, 0]], n_ranks=2)
        other = ranked_frequencies([[1, 2, 2, 5]], [[0, 0, 1, 0]], n_ranks=2)
        for first, second in zip(one, other, strict=True):
            np.testing.assert_allclose(first, second)
        np.testing.assert_allclose(one.shares, [[0.5, 0.2, 0.3]])
        np.testing.assert_allclose(one.target, [[0.0, 0.5, 0.5]])

    def test_the_first_component_is_whether_the_largest_class_is_right(self):
        """Also where other classes are right, too, and where the largest is tied."""
        found = ranked_frequencies(
            [[5, 3, 2], [5, 3, 2], [4, 4, 2], [2, 2, 2]], [[1, 1, 0], [0, 1, 1], [0, 1, 0], [1, 1, 0]]
        )
        expected = [[1, 0, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0], [2 / 3, 1 / 3, 0, 0]]
        np.testing.assert_allclose(found.target, expected, atol=1e-12)

    def test_separated_classes_have_a_finite_map(self):
        shares = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 3)
        fitted = fit_dirichlet(shares, [0, 1, 2] * 3, penalty=0)
        assert "separated" in fitted.notes[0]
        assert 0.5 < fitted(shares[:1])[0] < 1

    @pytest.mark.parametrize(
        ("shares", "target", "sentence"),
        [
            ([[0.5, 0.6]], [0], "must sum to 1; got 1.1"),
            ([[1.5, -0.5]], [0], r"shares must lie in \[0, 1\]"),
            ([0.5], [0], "one row per question and at least 2 columns"),
            ([[0.5, 0.5]], [2], "whole numbers below 2"),
            ([[0.5, 0.5]], [0.5], "whole numbers below 2"),
        ],
    )
    def test_shares_and_targets_that_are_none_are_refused(self, shares, target, sentence):
        with pytest.raises(ValueError, match=sentence):
            fit_dirichlet(shares, target)

    def test_bad_options_are_refused(self):
        with pytest.raises(ValueError, match="penalty must be a number of at least 0; got -1"):
            fit_dirichlet([[0.5, 0.5]], [0], penalty=-1)
        with pytest.raises(ValueError, match="clip must lie strictly between"):
            fit_dirichlet([[0.5, 0.5]], [0], clip=0.7)
        with pytest.raises(ValueError, match="one entry per question; got 1 and 2"):
            ranked_frequencies([[1]], [[1], [0]])
        with pytest.raises(ValueError, match="not all 0"):
            ranked_frequencies([[0]], [[1]])


@pytest.mark.parametrize("method", METHODS)
def test_a_map_takes_one_number_and_gives_one(method):
    fitted = fit_recalibration([0.9] * 30 + [0.4] * 30, ([1] * 20 + [0] * 10) + ([1] * 10 + [0] * 20), method=method)
    for one in (0.9, np.float64(0.4), 1):
        found = fitted(one)
        assert type(found) is float
        assert found == fitted([one])[0]
    with pytest.raises(ValueError, match=r"score must lie in \[0, 1\]; got 1\.2"):
        fitted(1.2)


def test_a_map_that_reverses_the_order_is_not_said_to_help():
    score = np.repeat([0.2, 0.9], 200)
    fitted = fit_recalibration(score, np.r_[np.ones(200), np.zeros(200)], method="platt")
    effects = recalibration_effects(score, fitted(score), np.r_[np.ones(200), np.zeros(200)], resampling=QUICK)
    assert "reverses the order" in effect_sentence(effects, fitted.notes)
    assert "helps" not in effect_sentence(effects, fitted.notes)


def test_a_score_of_noise_whose_map_happens_to_fall_is_not_said_to_be_reversed():
    """Over 40 scores that tell nothing of correctness, about half of the maps fall; 'reversed' is said of few."""
    fell, said = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        score, correct = rng.uniform(0.9, 1.0, 200), (rng.random(200) < 0.5).astype(float)
        fitted = fit_recalibration(score, correct, method="platt")
        fell += any(FALLING in note for note in fitted.notes)
        after = cross_fit(score, correct).confidence
        told = effect_sentence(recalibration_effects(score, after, correct, resampling=QUICK), fitted.notes)
        said += "reverses the order" in told
    assert fell >= 10
    assert said <= 3
