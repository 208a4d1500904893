"""What is said of a run: two questions kept apart, in the words of its numbers."""

from dataclasses import replace

import numpy as np
import pytest

from semece.runs.sentences import (
    CALIBRATED,
    KNOWS,
    confidence_sentences,
    model_sentence,
    refusal_sentence,
    says,
    verdict_sentence,
)
from semece.runs.sentences import regime_sentence as regime
from tests.synthetic import make_page, make_views, with_estimate

MODEL = {
    "model_claim": None,
    "model_basis": "held-out gap",
    "model_questions": 100,
    **{f"held_out_gap{end}": x for end, x in (("", 0.01), ("_low", -0.03), ("_high", 0.05))},
    **{f"semx_ece{end}": x for end, x in (("", 0.03), ("_low", 0.0), ("_high", 0.08), ("_n_select", 5))},
    "judge": "rules",
    "overturning_verdicts": 7,
    "graded_classes": 350,
}
SEM1 = {
    "questions": 100,
    "refused": 0,
    "model_claim": None,
    **{f"{name}_questions": 0 for name in ("ver", "sem2")},
    **{f"sem1_{end}": x for end, x in (("questions", 100), ("confidence", 0.6), ("accuracy", 0.5))},
    **{f"sem1_ece{end}": x for end, x in (("", 0.12), ("_low", 0.04), ("_high", 0.2))},
    **{f"sem1_gap{end}": x for end, x in (("", 0.1), ("_low", 0.02), ("_high", 0.18))},
}
ECES = {
    "jensen_dominated": 0.5,
    "low_margin": 0.2,
    "large_margin": 0.3,
    "sem1_ece": 0.2,
    "sem2_ece": 0.1,
    "ece_difference_low": 0.02,
    "ece_difference_high": 0.2,
    "ece_difference_note": None,
}


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"model_claim": "over-confident"}, "It is over-confident: its answers agree with one another more often"),
        ({"model_claim": "under-confident"}, "It is under-confident: its answers are right more often"),
        ({"model_claim": "right on average"}, "It is miscalibrated, though right on average: too sure of some"),
        ({"model_claim": "miscalibrated"}, "It is miscalibrated; whether it is too sure or not sure enough on average"),
        ({}, "No miscalibration is seen in how often its answers agree: calibrated within 0.08 ("),
        (
            {"semx_ece_high": 0.2},
            "Cannot tell: no miscalibration is seen in how often its answers agree; 'calibrated within 0.20' is all",
        ),
        (
            {"semx_ece_n_select": 1},
            "No miscalibration is seen in how often its answers agree on average, and so few answers show",
        ),
        (
            {"model_questions": 9},
            "Cannot tell, fewer than 10 questions (held-out gap 0.01, 95 % interval -0.03 to 0.05",
        ),
        ({"model_questions": 0}, "Nothing can be said: no question has two answers that are no refusals."),
    ],
)
def test_the_model_is_claimed_what_the_rule_claims_and_nothing_else(changes, wanted):
    text = model_sentence(MODEL | changes)
    assert text.startswith(f"{KNOWS} {wanted}")
    assert ("would not hold if" in text) == ("model_claim" in changes)


def test_one_bin_is_not_printed_as_an_error_of_its_own():
    assert "SemX-ECE" in model_sentence(MODEL)
    assert "SemX-ECE" not in model_sentence(MODEL | {"semx_ece_n_select": 1})


def test_the_bracket_says_what_is_known_and_claims_only_what_is_sure():
    ends = {f"bracket_{end}": x for end, x in (("least", -0.02), ("most", 0.14), ("low", -0.06), ("high", 0.19))}
    text = model_sentence(MODEL | ends | {"model_basis": "bracket"})
    assert text.startswith(f"{KNOWS} Cannot tell: neither over- nor under-confidence is sure (only the most frequent")
    assert "its gap is only known to lie between -0.02 and 0.14, 95 % interval -0.06 to 0.19; 100 questions)." in text
    over = ends | {"bracket_low": 0.004, "model_claim": "over-confident"}
    assert "0.004 to 0.19" in model_sentence(MODEL | over | {"model_basis": "bracket"})  # 0.00 would deny the claim


def test_the_judge_is_named_and_the_verdicts_on_which_the_claim_rests():
    text = model_sentence(MODEL | {"model_claim": "over-confident"})
    wanted = "It rests on the judge (rules): it would not hold if 7 of 350 graded classes (2 %) were graded wrong"
    assert wanted in text
    given = model_sentence(MODEL | {"model_claim": "over-confident", "judge": "given"})
    assert "It rests on the grades that came with the samples: it would not hold if 7" in given
    unknown = model_sentence(MODEL | {"model_claim": "right on average", "overturning_verdicts": None})
    assert unknown.endswith("It rests on the judge (rules), and no audit has looked at its verdicts.")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Sem1 is too high: 60 % on average, right 50 % of the time (ECE 0.12, 95 % interval 0.04 to 0.20)."),
        ({"sem1_gap_low": -0.2, "sem1_gap_high": -0.01}, "Sem1 is too low: "),
        ({"sem1_ece_low": 0.0}, "Sem1 is probably too high: "),
        ({"sem1_gap": 0.05, "sem1_gap_low": -0.05}, "Sem1 is off, though right on average: "),
        ({"sem1_gap": 0.1, "sem1_gap_low": -0.05}, "Sem1 is off: "),
        ({"sem1_gap": 0.12, "sem1_gap_low": -0.05}, "Sem1 is too high: "),
        ({"sem1_gap": -0.12, "sem1_gap_low": -0.2, "sem1_gap_high": 0.1}, "Sem1 is too low: "),
        ({"sem1_gap_low": -0.05, "sem1_ece_low": 0.0}, "Sem1 is calibrated within 0.20: "),
        ({"sem1_questions": 9}, "Sem1 is not judged, with fewer than 10 questions: "),
        ({"sem1_questions": 30}, "0.04 to 0.20; 30 questions)."),
        ({"sem1_confidence": 0.997, "sem1_accuracy": 0.003}, "over 99 % on average, right under 1 % of the time"),
    ],
)
def test_a_confidence_is_said_to_be_what_its_intervals_say(changes, words):
    text = confidence_sentences(SEM1 | changes)
    assert text.startswith(CALIBRATED)
    assert words in text


def test_sem1_is_too_high_by_construction_where_the_model_is_not_called_over_confident():
    by_construction = "Sem1 of few answers is too high by construction."
    assert by_construction in confidence_sentences(SEM1)
    assert by_construction not in confidence_sentences(SEM1 | {"model_claim": "over-confident"})
    assert by_construction not in confidence_sentences(SEM1 | {"sem1_gap_low": -0.05})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Sem2-ECE (0.10) is smaller than Sem1-ECE (0.20); the difference is more than chance (95 % interval of"),
        ({"sem2_ece": 0.3, "ece_difference_low": -0.2}, "Sem2-ECE (0.30) is larger than Sem1-ECE (0.20); that may be"),
        ({"ece_difference_low": 1e-17}, "that may be chance (95 % interval of Sem1-ECE - Sem2-ECE: 0.00 to 0.20)."),
        ({"sem2_ece": 0.2004}, "Sem1-ECE and Sem2-ECE are alike (0.20)."),
        ({"ece_difference_note": "near zero"}, "; whether by more than chance cannot be said, since the error of one"),
        (
            {"ece_difference_low": None},
            "50 % of the questions are jensen-dominated: two answers nearly tie. Sem2-ECE (0.1",
        ),
    ],
)
def test_the_regime_predicts_nothing_and_the_printed_numbers_are_compared(changes, words):
    assert words in regime(ECES | changes)


def drawn(views, seed, power):
    """The views with exactly one right class each: drawn with the model's own chances, to a power."""
    rng = np.random.default_rng(seed)
    out = []
    for view in views:
        shares = np.bincount(view.partition.labels) / len(view.partition.labels)
        right = rng.choice(len(shares) + 1, p=[*(shares**power), max(0.0, 1 - (shares**power).sum())])
        grades = {k: "correct" if k == right else "incorrect" for k in range(len(shares))}
        out.append(with_estimate(replace(view, grades=grades)))
    return out


def test_an_over_confident_model_is_called_so_and_the_verdicts_that_would_overturn_it_do():
    views = drawn(make_views(300), 1, 2)
    row = make_page(views).summary
    assert row["model_claim"] == "over-confident"
    wrong = row["overturning_verdicts"]
    assert 0 < wrong < row["graded_classes"]
    share = f"would not hold if {wrong:,} of {row['graded_classes']:,} graded classes"
    assert share in says(row)["model"]


def calibrated(questions, n, seed):
    """Views of a model whose class probabilities are its chances of being right."""
    rng = np.random.default_rng(seed)
    out = []
    for view in make_views(questions, n=n):
        pmf = rng.dirichlet([0.5] * 4)
        classes, right = rng.choice(4, n, p=pmf).tolist(), rng.choice(4, p=pmf)
        names = list(dict.fromkeys(classes))
        partition = replace(
            view.partition, labels=tuple(map(names.index, classes)), representatives=tuple(map(str, names))
        )
        grades = {k: "correct" if name == right else "incorrect" for k, name in enumerate(names)}
        out.append(with_estimate(replace(view, partition=partition, grades=grades)))
    return out


def test_a_model_that_is_calibrated_class_by_class_is_not_called_over_confident_though_sem1_is_too_high():
    row = make_page(calibrated(300, 5, 2)).summary
    assert row["model_claim"] is None
    assert row["sem1_gap_low"] > 0
    said = says(row)
    assert "over-confident" not in said["model"]
    assert "Sem1 is too high" in said["confidences"]


def refusing(views, count):
    """The views, in the first of which the deployed class is no answer."""
    out = []
    for q, view in enumerate(views):
        mode = max(view.grades, key=view.partition.labels.count)
        grades = view.grades | {mode: "not_attempted"}
        changed = with_estimate(replace(view, grades=grades))
        changed = replace(changed, estimate=replace(changed.estimate, refused=True))
        out.append(changed if q < count else view)
    return out


def test_refusals_are_counted_and_sentences_are_about_the_attempted_questions():
    views = refusing(make_views(60), 12)
    page = make_page(views)
    row, estimates = page.summary, page.estimates
    assert row["refused"] == 12
    said = says(row)
    rest = "what is said of confidences is about the other 48."
    assert said["refusals"] == f"To 12 of 60 questions the most frequent answer is none; {rest}"
    attempted = estimates.filter(~estimates["refused"])
    assert row["sem1_attempted_confidence"] == pytest.approx(attempted["sem1"].mean())
    assert row["sem1_attempted_accuracy"] == pytest.approx(attempted["correct"].mean())
    assert f"{round(100 * attempted['sem1'].mean())} % on average, right" in said["confidences"]
    assert row["sem1_ece"] != pytest.approx(row["sem1_attempted_ece"])
    from semece.runs.summary_rows import headline, summary_frame

    assert {"refused", "sem1_attempted_ece", "sem1_ece"} <= set(headline(summary_frame([row])).columns)


def test_a_run_that_refuses_everything_says_so():
    assert refusal_sentence({"questions": 1, "refused": 1}).endswith("so nothing is said of confidences.")
    row = make_page(refusing(make_views(12), 12)).summary
    assert says(row)["confidences"] == ""


@pytest.mark.parametrize(
    ("questions", "gap", "wanted"),
    [
        (100, (0.2, 0.12, 0.28), " The confidence that it states is too high: 70 % on average."),
        (100, (-0.2, -0.28, -0.12), " The confidence that it states is too low: 70 % on average."),
        (100, (0.02, -0.06, 0.1), ""),
        (9, (0.2, 0.12, 0.28), ""),
    ],
)
def test_the_verdict_tells_of_a_stated_confidence_that_is_surely_off(questions, gap, wanted):
    value, low, high = gap
    stated = {"ver_questions": questions, "ver_confidence": 0.7, "ver_gap": value, "ver_gap_low": low}
    stated |= {"ver_gap_high": high, "ver_ece": abs(value), "ver_ece_low": 0.1 if wanted else 0.0, "ver_ece_high": 0.3}
    accuracy = {"accuracy": 0.5, "accuracy_low": 0.4, "accuracy_high": 0.6}
    assert verdict_sentence({**MODEL, **SEM1, **stated, **accuracy}).partition("60 %).")[2] == wanted
