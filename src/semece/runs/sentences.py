"""What the numbers of a run mean, in plain words: the only place where a sentence about a run is made.

Two questions are kept apart. 'Does the model know?' is about its own answers against its chances of being right; 'Are
its confidences calibrated?' is about the numbers that a person would use. Every sentence is made from a row of
:func:`semece.runs.summary_table`, and writes numbers as the tables do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semece.runs.graded_classes import FEW
from semece.runs.metrics import CONFIDENCES, scores_in
from semece.runs.renderers import label, plural, value_text
from semece.stats import REGIMES, end_text, number_text, regime_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.runs.metrics import Confidence

REASONS: dict[str, str] = {
    "incomplete": "incomplete",
    "too_few": "with too few usable answers",
    "unpartitioned": "without classes",
    "ungraded": "ungraded",
    "not_attempted": "not attempted",
}
"""Why a question enters no metric, in words."""

SMALL = 0.1
"""An error up to this is small: 'calibrated within' it is good news, above it is 'cannot tell'."""

ONE_SIDED = 0.99
"""From this share of the ECE on, the mean gap is all of it: every bin errs to one side. The ECE's interval decides."""

ROUNDING = 1e-6
"""An end of an interval up to this is 0 but for rounding."""

CHANCE = 0.5
"""AUROC of a score that tells nothing; surely below it the order is reversed."""

KNOWS, CALIBRATED = "Does the model know?", "Are its confidences calibrated?"
"""The two questions."""

_MODEL: dict[str | None, str] = {
    "over-confident": "It is over-confident: its answers agree with one another more often than they are right",
    "under-confident": "It is under-confident: its answers are right more often than they agree with one another",
    "right on average": "It is miscalibrated, though right on average: too sure of some answers and not sure enough "
    "of others",
    "miscalibrated": "It is miscalibrated; whether it is too sure or not sure enough on average is not known",
}
"""What is claimed of a model, by the summary's ``model_claim``."""


def says(row: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a summary row means.

    Parameters
    ----------
    row : mapping
        A row of :func:`semece.runs.summary_table`.

    Returns
    -------
    dict
        ``verdict`` (short), ``model``, ``confidences``, ``refusals``, ``audit`` and ``regime``: sentences, ``''`` where
        there is nothing to say.

    Examples
    --------
    >>> says({"questions": 0, "model_questions": 0, "ungraded": 3})["model"]
    'Nothing can be said: no question enters (3 ungraded).'
    """
    if not row["questions"]:
        nothing = f"Nothing can be said: no question enters ({excluded_text(row) or 'none was selected'})."
        return {"verdict": nothing, "model": nothing, "confidences": "", "refusals": "", "audit": "", "regime": ""}
    return {
        "verdict": verdict_sentence(row),
        "model": model_sentence(row),
        "confidences": confidence_sentences(row),
        "refusals": refusal_sentence(row),
        "audit": audit_sentence(row),
        "regime": regime_sentence(row),
    }


def verdict_sentence(row: Mapping[str, Any]) -> str:
    """Say in short what is claimed of the model, and how often it is right.

    Examples
    --------
    >>> row = {"model_claim": "over-confident", "model_questions": 240, "accuracy": 0.5, "accuracy_low": 0.44,
    ...     "accuracy_high": 0.56}
    >>> verdict_sentence(row).partition(". ")[2]
    '50 % of its answers are right (95 % interval 44 % to 56 %).'
    """
    if not row["model_questions"]:
        return model_sentence(row)
    value, low, high = (percent_text(row[f"accuracy{end}"]) for end in ("", "_low", "_high"))
    right = f"{value} of its answers are right (95 % interval {low} to {high})."
    return f"{_finding(row)}. {right} {stated_sentence(row)}".rstrip()


def stated_sentence(row: Mapping[str, Any]) -> str:
    """Say of the stated confidence that it is surely miscalibrated; empty else.

    Examples
    --------
    >>> stated_sentence({"ver_questions": 0})
    ''
    """
    prefix = "ver_attempted" if row.get("refused") else "ver"
    if row.get(f"{prefix}_questions", 0) < FEW:
        return ""
    level = _level(row, prefix)
    if level.startswith(("probably", "calibrated")):
        return ""
    return f"The confidence that it states is {level}: {percent_text(row[f'{prefix}_confidence'])} on average."


def model_sentence(row: Mapping[str, Any]) -> str:
    """Answer whether the model knows: over- or under-confident, miscalibrated without a side, or neither.

    Parameters
    ----------
    row : mapping
        A row of :func:`semece.runs.summary_table`.

    Returns
    -------
    str
        The question, what is claimed, the numbers it rests on, and how many verdicts of the judge.

    Examples
    --------
    >>> row = {"model_claim": "over-confident", "model_basis": "held-out gap", "model_questions": 240,
    ...     "held_out_gap": 0.12, "held_out_gap_low": 0.07, "held_out_gap_high": 0.17, "semx_ece": 0.13,
    ...     "semx_ece_low": 0.08, "semx_ece_high": 0.18, "semx_ece_n_select": 5, "judge": "rules",
    ...     "overturning_verdicts": 14, "graded_classes": 380}
    >>> said = model_sentence(row)
    >>> said.partition(" (")[0]
    'Does the model know? It is over-confident: its answers agree with one another more often than they are right'
    >>> said.partition(" (")[2].partition(". ")[0]
    'held-out gap 0.12, 95 % interval 0.07 to 0.17; SemX-ECE 0.13, 0.08 to 0.18; 240 questions)'
    >>> said.partition("). ")[2].partition(": ")[2]
    'it would not hold if 14 of 380 graded classes (4 %) were graded wrong in favour of it.'
    """
    if not row["model_questions"]:
        return f"{KNOWS} Nothing can be said: no question has two answers that are no refusals."
    return f"{KNOWS} {_finding(row)} ({_basis(row)}). {judge_sentence(row)}".rstrip()


def _finding(row: Mapping[str, Any]) -> str:
    """Give the words before the numbers."""
    if row["model_questions"] < FEW:
        return f"Cannot tell, fewer than {FEW} questions"
    if row["model_claim"] is not None:
        return _MODEL[row["model_claim"]]
    if row["model_basis"] == "bracket":
        return "Cannot tell: neither over- nor under-confidence is sure"
    within = end_text(row["semx_ece_high"])
    seen = "no miscalibration is seen in how often its answers agree"
    if row["semx_ece_n_select"] < 2:
        seen += " on average, and so few answers show no more"
    if row["semx_ece_high"] <= SMALL:
        return f"{seen.capitalize()}: calibrated within {within}"
    return f"Cannot tell: {seen}; 'calibrated within {within}' is all that is sure"


def _basis(row: Mapping[str, Any]) -> str:
    """Give the numbers of the model."""
    count = plural(row["model_questions"], "question")
    if row["model_basis"] == "bracket":
        least, most, low, high = (row[f"bracket_{end}"] for end in ("least", "most", "low", "high"))
        return (
            f"only the most frequent answers are graded, so its gap is only known to lie between {number_text(least)} "
            f"and {number_text(most)}, 95 % interval {end_text(low)} to {end_text(high)}; {count}"
        )
    error = f"; SemX-ECE {_interval(row, 'semx_ece')}" if row["semx_ece_n_select"] > 1 else ""
    return f"held-out gap {_interval(row, 'held_out_gap', '95 % interval ')}{error}; {count}"


def _interval(row: Mapping[str, Any], name: str, words: str = "") -> str:
    """Write a number and its interval."""
    return f"{value_text(row, name)}, {words}{end_text(row[f'{name}_low'])} to {end_text(row[f'{name}_high'])}"


def judge_sentence(row: Mapping[str, Any]) -> str:
    """Say how many verdicts of the judge a claim rests on; empty without a claim.

    Examples
    --------
    >>> judge_sentence({"model_claim": None, "judge": "rules"})
    ''
    """
    if row["model_claim"] is None:
        return ""
    if "held_out_gap" in corrected_names(row):
        return f"The errors of the judge ({row['judge']}) are corrected by an audit."
    given = row["judge"] == "given"
    judge = "the grades that came with the samples" if given else f"the judge ({row['judge']})"
    wrong, graded = row["overturning_verdicts"], row["graded_classes"]
    if wrong is None:
        unseen = f", and no audit has looked at {'them' if given else 'its verdicts'}" if not row.get("audit") else ""
        return f"It rests on {judge}{unseen}."
    share = f"{wrong:,} of {graded:,} graded classes ({percent_text(wrong / graded)})"
    return f"It rests on {judge}: it would not hold if {share} were graded wrong in favour of it."


def corrected_names(row: Mapping[str, Any]) -> Sequence[str]:
    """Name the numbers of a summary row that an audit has corrected."""
    return row.get("corrected") or ()


def audit_sentence(row: Mapping[str, Any]) -> str:
    """Say which numbers an audit has corrected, and why not the others; empty without an audit.

    Examples
    --------
    >>> row = {"audit": "a-1.csv", "audited": 80, "audit_reason": "a class has no grade", "judge": "rules",
    ...     "corrected": ["accuracy", "sem1_gap", "sem1_ece"]}
    >>> audit_sentence(row).partition("; all ")[0]
    'People judged 80 answers that the judge had judged (rules; a-1.csv). Corrected: Accuracy, Sem1-ECE'
    >>> audit_sentence(row).partition("; all ")[2]
    'other numbers are by the judge alone (held-out gap and SemX-ECE because a class has no grade).'
    """
    if not row.get("audit"):
        return ""
    answers = f"{plural(row['audited'], 'answer')} that the judge had judged"
    seen = f"People judged {answers} ({row['judge']}; {row['audit']})"
    if not row["corrected"]:
        return f"{seen}, but nothing is corrected by them: {row['audit_reason']}."
    titles = ", ".join(label(name) for name in row["corrected"] if name == "held_out_gap" or not name.endswith("_gap"))
    why = f" (held-out gap and SemX-ECE because {row['audit_reason']})" if row["audit_reason"] else ""
    return f"{seen}. Corrected: {titles}; all other numbers are by the judge alone{why}."


def confidence_sentences(row: Mapping[str, Any]) -> str:
    """Answer for each confidence whether it is calibrated; on the attempted questions if some are refused.

    Parameters
    ----------
    row : mapping
        A row of :func:`semece.runs.summary_table`.

    Returns
    -------
    str
        The question, and a sentence for each of Ver, Sem1 and Sem2 that there is, and for each score that was given.
    """
    found = [
        _given(row, each) if each.given else _confidence(row, each.prefix, each.title.partition("-")[0])
        for each in told_confidences(row)
    ]
    return " ".join([CALIBRATED, *found]) if found else ""


def told_confidences(row: Mapping[str, Any]) -> list[Confidence]:
    """Give the confidences that a person is told about: those there are, of attempted questions if some are refused."""
    every = (*CONFIDENCES, *scores_in(row))
    wanted = [each for each in every if each.correct == "correct" and each.attempted == bool(row["refused"])]
    return [each for each in wanted if row[f"{each.prefix}_questions"]]


def _given(row: Mapping[str, Any], score: Confidence) -> str:
    """Say of a score that a run was given what a confidence is told by, or if it is none how well it ranks."""
    told = _ranks(row, score) if score.ranked else _confidence(row, score.prefix, score.column)
    high = row[f"{score.prefix}_auroc_high"]
    if high is None or high >= CHANCE or row[f"{score.prefix}_questions"] < FEW:
        return told
    return f"{told} Its order is reversed, wrong answers have the surer {score.column}: check its kind (--score)."


def _ranks(row: Mapping[str, Any], score: Confidence) -> str:
    """Say how well a score of which only the order means something tells right from wrong answers."""
    if row[f"{score.prefix}_auroc"] is None:
        return f"{score.column} is no confidence, and cannot be judged where all answers are right or all are wrong."
    found = _interval(row, f"{score.prefix}_auroc", "95 % interval ")
    low, high = (row[f"{score.prefix}_auroc_{end}"] for end in ("low", "high"))
    ranks = (
        "it ranks the answers" if low is None or low > CHANCE or high < CHANCE else "it is not seen to rank the answers"
    )
    return f"{score.column} is no confidence until it is recalibrated; {ranks} (AUROC {found})."


def _confidence(row: Mapping[str, Any], prefix: str, name: str) -> str:
    """Say of one confidence whether it is too high, too low, off though right on average, or within what it is."""
    count, error = row[f"{prefix}_questions"], f"ECE {_interval(row, f'{prefix}_ece', '95 % interval ')}"
    average, right = (percent_text(row[f"{prefix}_{end}"]) for end in ("confidence", "accuracy"))
    own = "" if count == row["questions"] else f"; {plural(count, 'question')}"
    own += "; by the judge alone" if corrected_names(row) and f"{prefix}_ece" not in corrected_names(row) else ""
    level = _level(row, prefix)
    built = name == "Sem1" and level.endswith("too high") and row["model_claim"] != "over-confident"
    note = " Sem1 of few answers is too high by construction." if built else ""
    return f"{name} is {level}: {average} on average, right {right} of the time ({error}{own}).{note}"


def _level(row: Mapping[str, Any], prefix: str) -> str:
    """Say where a confidence lies, as far as its intervals are sure."""
    low, high = row[f"{prefix}_gap_low"], row[f"{prefix}_gap_high"]
    miscalibrated = row[f"{prefix}_ece_low"] > 0
    if row[f"{prefix}_questions"] < FEW:
        return f"not judged, with fewer than {FEW} questions"
    gap, error = row[f"{prefix}_gap"], row[f"{prefix}_ece"]
    sure = low > 0 or high < 0
    if sure or (miscalibrated and abs(gap) >= ONE_SIDED * error):
        above = low > 0 if sure else gap > 0
        return f"{'' if miscalibrated else 'probably '}too {'high' if above else 'low'}"
    if miscalibrated:
        return "off, though right on average" if abs(gap) <= error / 2 else "off"
    return f"calibrated within {end_text(row[f'{prefix}_ece_high'])}"


def outcomes_of(row: Mapping[str, Any]) -> dict[str, float]:
    """Give how many of the selected questions are right, wrong, not answered, and failed: in no number.

    Examples
    --------
    >>> outcomes_of({"right": 12.5, "wrong": 6.5, "refused": 1, "incomplete": 0, "too_few": 3})["failed"]
    3
    """
    failed = sum(row.get(reason) or 0 for reason in REASONS)
    return {"right": row["right"], "wrong": row["wrong"], "refused": row["refused"], "failed": failed}


def outcomes_text(row: Mapping[str, Any]) -> str:
    """Write them; a question whose answers are tied counts in parts.

    Examples
    --------
    >>> outcomes_text({"right": 1200.5, "wrong": 6.5, "refused": 1, "too_few": 3})
    '1,200.5 / 6.5 / 1 / 3'
    """
    return " / ".join(f"{count:,.2f}".rstrip("0").rstrip(".") for count in outcomes_of(row).values())


def refusal_sentence(row: Mapping[str, Any]) -> str:
    """Say how many questions get no answer; empty if there are none.

    Examples
    --------
    >>> refusal_sentence({"questions": 100, "refused": 12})
    'To 12 of 100 questions the most frequent answer is none; what is said of confidences is about the other 88.'
    """
    if not row["refused"]:
        return ""
    rest = row["questions"] - row["refused"]
    about = f"what is said of confidences is about the other {rest:,}" if rest else "so nothing is said of confidences"
    return f"To {row['refused']:,} of {plural(row['questions'], 'question')} the most frequent answer is none; {about}."


def regime_sentence(row: Mapping[str, Any]) -> str:
    """Say which regime dominates, and which ECE of the table is smaller, compared as they are printed.

    Examples
    --------
    >>> row = {"jensen_dominated": 0.2, "low_margin": 0.13, "large_margin": 0.67, "sem1_ece": 0.17, "sem2_ece": 0.19,
    ...     "ece_difference_low": -0.05, "ece_difference_high": 0.01, "ece_difference_note": None}
    >>> regime_sentence(row).partition(". ")[0]
    '67 % of the questions are in the large-margin regime: one answer clearly leads'
    >>> regime_sentence(row).partition(". ")[2].partition("; ")[0]
    'Sem2-ECE (0.19) is larger than Sem1-ECE (0.17)'
    >>> regime_sentence(row).partition("; ")[2]
    'that may be chance (95 % interval of Sem1-ECE - Sem2-ECE: -0.05 to 0.01).'
    """
    if row[REGIMES[0]] is None:
        return ""
    one, two = value_text(row, "sem1_ece"), value_text(row, "sem2_ece")
    side = "larger" if float(two) > float(one) else "smaller"
    compared = f"Sem2-ECE ({two}) is {side} than Sem1-ECE ({one}){_difference(row)}"
    alike = f"Sem1-ECE and Sem2-ECE are alike ({one})"
    return f"{regime_text(*(row[name] for name in REGIMES))}. {alike if one == two else compared}."


def _difference(row: Mapping[str, Any]) -> str:
    """Say whether the difference of the two ECEs may be chance."""
    low, high = row["ece_difference_low"], row["ece_difference_high"]
    if low is None:
        return ""
    if row["ece_difference_note"]:
        return "; whether by more than chance cannot be said, since the error of one of them may be 0"
    ends = f"(95 % interval of Sem1-ECE - Sem2-ECE: {end_text(low)} to {end_text(high)})"
    sure = low > ROUNDING or high < -ROUNDING
    return f"; the difference is more than chance {ends}" if sure else f"; that may be chance {ends}"


def excluded_text(row: Mapping[str, Any]) -> str:
    """List the questions of a summary row that do not enter, by reason; empty if there are none.

    Examples
    --------
    >>> excluded_text({"incomplete": 2, "ungraded": 1})
    '2 incomplete, 1 ungraded'
    """
    return ", ".join(f"{row[reason]} {text}" for reason, text in REASONS.items() if row.get(reason))


def bounds_text(row: Mapping[str, Any]) -> str:
    """Say what the excluded questions could do to the numbers; empty if none is excluded or nothing is known.

    Examples
    --------
    >>> bounds_text({"ungraded": 2, "accuracy_least": 0.5, "accuracy_most": 0.6, "sem1_ece_least": 0.1,
    ...     "sem1_ece_most": 0.3, "sem2_ece_least": 0.1, "sem2_ece_most": 0.2})
    'Whatever their grades, accuracy lies in 0.50 to 0.60, Sem1-ECE in 0.10 to 0.30, Sem2-ECE in 0.10 to 0.20'
    """
    if row["accuracy_least"] is None or not excluded_text(row):
        return ""
    names = {"accuracy": "accuracy lies", "sem1_ece": "Sem1-ECE", "sem2_ece": "Sem2-ECE"}
    known = {name: text for name, text in names.items() if row[f"{name}_least"] is not None}
    parts = [
        f"{text} in {number_text(row[name + '_least'])} to {number_text(row[name + '_most'])}"
        for name, text in known.items()
    ]
    return f"Whatever their grades, {', '.join(parts)}"


def percent_text(share: float) -> str:
    """Write a share as whole percent, rounded as a table's two decimals are, without calling 99.6 % all.

    Examples
    --------
    >>> percent_text(0.405), percent_text(0.997), percent_text(0.003), percent_text(1.0)
    ('41 %', 'over 99 %', 'under 1 %', '100 %')
    """
    percent = round(100 * float(number_text(share)))
    if 0 < share < 1 and percent in {0, 100}:
        return "under 1 %" if percent == 0 else "over 99 %"
    return f"{percent} %"


MANY = 0.1
"""Above this share of answers that were read by taking the whole reply, a person is warned."""

_HOW: dict[str, str] = {
    "parsed": "where an answer is given",
    "concluded": "by how they conclude",
    "fallback": "as a whole",
    "non_answer": "as saying nothing",
}


def reading_lines(
    counts: Mapping[str, int], confidences: tuple[int, int], unlabelled: tuple[int, str]
) -> Iterator[str]:
    r"""Say how answers were read, and how many confidences could not be.

    Parameters
    ----------
    counts : mapping of str to int
        Responses by status.
    confidences : tuple of int
        How many responses state one, and how many of those cannot be read.
    unlabelled : tuple of int and str
        How many responses were read whole and are no short answers, and one of them.

    Examples
    --------
    >>> for line in reading_lines({"parsed": 9, "fallback": 3, "empty": 1}, (10, 2), (3, "Lyon,\nI think")):
    ...     print(line)
    12 answers were read: 9 where an answer is given, 3 as a whole.
    1 reply was without any text: failed, no answer.
    2 of 10 stated confidences could not be read.
    Warning: 25 % of the answers were read whole, such as 'Lyon, I think'. Ask for a line 'Answer: ...', or say where
    the answer is: --answer-pattern REGEX.
    """
    read = {how: counts[status] for status, how in _HOW.items() if counts.get(status)}
    total = sum(read.values())
    if total:
        told = ", ".join(f"{count:,} {how}" for how, count in read.items())
        yield f"{plural(total, 'answer')} {'was' if total == 1 else 'were'} read: {told}."
    if empty := counts.get("empty", 0):
        yield f"{plural(empty, 'reply', 'was')} without any text: failed, no answer."
    if confidences[1]:
        yield f"{confidences[1]:,} of {plural(confidences[0], 'stated confidence')} could not be read."
    if unlabelled[0] > MANY * total:
        yield (
            f"Warning: {percent_text(unlabelled[0] / total)} of the answers were read whole, such as "
            f"{_shortened(unlabelled[1])}. "
            "Ask for a line 'Answer: ...', or say where the answer is: --answer-pattern REGEX."
        )


def _shortened(text: str) -> str:
    """Quote the end of a reply, where its answer should be."""
    line = "".join(c for c in " ".join(text[-400:].split()) if c.isprintable())
    return repr(line if len(line) <= 80 else f"...{line[-77:]}")
