"""What the numbers of a run mean, in plain words: among others the first sentence of summary and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

REASONS: dict[str, str] = {
    "incomplete": "incomplete",
    "too_few": "with too few usable answers",
    "unpartitioned": "without classes",
    "ungraded": "ungraded",
    "not_attempted": "not attempted",
}
"""Why a question enters no metric, in words."""

FEW = 10
"""Below so many questions nothing is said about calibration."""


def verdict(row: Mapping[str, Any]) -> str:
    """Say in plain words what a summary row means for the deployed answers.

    Parameters
    ----------
    row : mapping
        A row of :func:`semece.runs.summary_table`.

    Returns
    -------
    str
        One sentence on Sem1: the direction if the interval of the gap leaves 0 out, else that it cannot tell or that
        nothing was seen.

    Examples
    --------
    >>> row = dict(questions=24, accuracy=0.41, sem1_confidence=0.62, sem1_ece=0.21, sem1_ece_low=0.15,
    ...     sem1_ece_high=0.28, sem1_gap=0.21, sem1_gap_low=0.02, sem1_gap_high=0.4)
    >>> verdict(row).split(" (")[0]
    'Over-confident: it is 62 % sure on average and right 41 % of the time'
    >>> verdict(row).split(" (")[1]
    'Sem1-ECE 0.21, 95 % interval 0.15 to 0.28, 24 questions).'
    """
    if not row["questions"] or row["sem1_ece"] is None:
        return f"Nothing can be said: no question enters ({excluded_text(row) or 'none was selected'})."
    numbers = (
        f"it is {_percent(row['sem1_confidence'])} sure on average and right {_percent(row['accuracy'])} of the time "
        f"(Sem1-ECE {row['sem1_ece']:.2f}, 95 % interval {row['sem1_ece_low']:.2f} to {row['sem1_ece_high']:.2f}, "
        f"{plural(row['questions'], 'question')})"
    )
    return f"{_finding(row)}: {numbers}."


def _finding(row: Mapping[str, Any]) -> str:
    """Find the words before the numbers: direction, doubt, or neither."""
    over, under = row["sem1_gap_low"] > 0, row["sem1_gap_high"] < 0
    certain = row["sem1_ece_low"] > 0
    if row["questions"] < FEW:
        return f"Cannot tell, fewer than {FEW} questions"
    if over or under:
        direction = "over-confident" if over else "under-confident"
        return direction.capitalize() if certain else f"Probably {direction}"
    if certain:
        return "Miscalibrated, too sure of some questions and not sure enough of others"
    if row["sem1_ece_high"] <= 0.1:
        return "No miscalibration seen, and at most a small one is compatible with the answers"
    return "Cannot tell, perfect calibration lies inside the interval"


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
    parts = [f"{text} in {row[name + '_least']:.2f} to {row[name + '_most']:.2f}" for name, text in names.items()]
    return f"Whatever their grades, {', '.join(parts)}"


def implication(estimates: pl.DataFrame) -> str:
    """Say which regime dominates a run and what that implies; empty if no question enters.

    Parameters
    ----------
    estimates : DataFrame
        ``status``, ``margin``, ``top_two_mass``, ``n_classes``, ``n_responses``, ``sem1``, ``correct``, one row per
        question.

    Returns
    -------
    str
        Plain sentences, from :func:`semece.stats.theory.regime_summary`.
    """
    import polars as pl

    from semece.stats import regime_summary

    names = ["margin", "top_two_mass", "n_classes", "n_responses"]
    rows = estimates.filter(pl.col("status") == "complete").select(*names, "sem1", "correct").drop_nulls()
    if not rows.height:
        return ""
    gap = float((rows["sem1"] - rows["correct"]).to_numpy().mean())
    return regime_summary(*(rows[name].to_numpy() for name in names), gap=gap).text


def _percent(share: float) -> str:
    """Write a share as whole percent, without calling 99.6 % all."""
    percent = 100 * share
    if 0 < percent < 0.5 or 99.5 <= percent < 100:
        return f"{'under 1' if percent < 50 else 'over 99'} %"
    return f"{percent:.0f} %"


def plural(count: int, noun: str) -> str:
    """Count a noun.

    Examples
    --------
    >>> plural(1, "question"), plural(4326, "question")
    ('1 question', '4,326 questions')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


MANY = 0.1
"""Above this share of answers that were read by taking the whole reply, a person is warned."""

_HOW: dict[str, str] = {
    "parsed": "where an answer is given",
    "concluded": "by how they conclude",
    "fallback": "whole, without either",
    "non_answer": "as saying nothing",
}


def reading_lines(counts: Mapping[str, int], confidences: tuple[int, int], unlabelled: Sequence[str]) -> Iterator[str]:
    r"""Say how answers were read, and how many confidences could not be.

    Parameters
    ----------
    counts : mapping of str to int
        Responses by status.
    confidences : tuple of int
        How many responses state one, and how many of those cannot be read.
    unlabelled : sequence of str
        Responses that were read whole and are no short answers.

    Examples
    --------
    >>> for line in reading_lines({"parsed": 9, "fallback": 3, "empty": 1}, (10, 2), ["Lyon,\nI think"] * 3):
    ...     print(line)
    12 answers were read: 9 where an answer is given, 3 whole, without either.
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
        yield f"{empty:,} {'reply was' if empty == 1 else 'replies were'} without any text: failed, no answer."
    if confidences[1]:
        yield f"{confidences[1]:,} of {plural(confidences[0], 'stated confidence')} could not be read."
    if len(unlabelled) > MANY * total:
        yield (
            f"Warning: {_percent(len(unlabelled) / total)} of the answers were read whole, such as "
            f"{_shortened(unlabelled[0])}. "
            "Ask for a line 'Answer: ...', or say where the answer is: --answer-pattern REGEX."
        )


def _shortened(text: str) -> str:
    """Quote the end of a reply, where its answer should be."""
    line = "".join(c for c in " ".join(text[-400:].split()) if c.isprintable())
    return repr(line if len(line) <= 80 else f"...{line[-77:]}")
