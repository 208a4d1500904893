"""How good a judge is on labelled answers: a row per group of graded answers, one for its classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semece.runs import spread_all, spread_columns
from semece.stats import Audited, audited_quality, frame, grading_quality, pair_quality, partition_quality

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl


ALL = "all"
"""The group of all answers."""

GRADING: tuple[str, ...] = ("agreement", "kappa", "precision", "recall", "false_correct")
"""Numbers of a group of graded answers."""

PARTITION: tuple[str, ...] = ("false_merges", "false_splits", "rand", "adjusted_rand", "modal_jaccard", "same_mode")
"""Numbers of a judge's classes."""


def grading_table(rows: pl.DataFrame, *, judge: str, order: Sequence[str] = ()) -> pl.DataFrame:
    """Tabulate how good a judge's verdicts are, for all answers and for each group of them.

    Parameters
    ----------
    rows : DataFrame
        One row per answer: ``group``, ``question_id``, ``people`` (whether they call it correct), ``verdict`` (null:
        none was given). Perhaps ``answer``, ``weight`` and ``stratum``: if all have a weight, they were drawn in an
        audit, and the numbers are those of all answers that they were drawn from.
    judge : str
        What to call it.
    order : sequence of str
        Groups in the order of the rows; others follow as they come.

    Returns
    -------
    DataFrame
        ``judge``, ``group``, ``answers``, ``questions``; ``agreement``, ``kappa``, ``precision``, ``recall``,
        ``false_correct`` (:class:`~semece.stats.diagnostics.judge_quality.GradingQuality`), each with ``_low`` and
        ``_high``; the confusion ``both``, ``judge_only``, ``people_only``, ``neither``; ``not_attempted`` verdicts
        (they count as not correct), and answers that are ``ungraded`` (they enter nothing). A number that cannot be
        had is null.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"group": ["short"] * 4, "question_id": ["a", "a", "b", "b"],
    ...     "people": [True, True, False, False], "verdict": ["correct", "incorrect", "incorrect", "not_attempted"]})
    >>> grading_table(rows, judge="rules").select("group", "agreement", "precision", "recall").rows()
    [('all', 0.75, 1.0, 0.5), ('short', 0.75, 1.0, 0.5)]
    """
    groups = list(dict.fromkeys([*(name for name in order if (rows["group"] == name).any()), *rows["group"]]))
    parts = {ALL: rows} | {name: rows.filter(group=name) for name in groups}
    found = [{"judge": judge, "group": name} | _graded(part) for name, part in parts.items()]
    counts = ("both", "judge_only", "people_only", "neither", "not_attempted", "ungraded")
    schema = {"judge": str, "group": str, "answers": int, "questions": int}
    return frame(found, schema | spread_columns(*GRADING) | dict.fromkeys(counts, int))


def _graded(rows: pl.DataFrame) -> dict[str, Any]:
    """Measure one group."""
    graded = rows.drop_nulls("verdict")
    found: dict[str, Any] = {"answers": graded.height, "questions": graded["question_id"].n_unique()}
    found |= {"ungraded": rows.height - graded.height, "not_attempted": graded.filter(verdict="not_attempted").height}
    if not graded.height:
        return found
    if "weight" in graded.columns and not graded["weight"].null_count():
        return found | _drawn(graded)
    people, said = graded["people"].to_numpy(), (graded["verdict"] == "correct").to_numpy()
    quality = grading_quality(people, said, ids=graded["question_id"].to_numpy().astype(str))
    return found | spread_all(quality._asdict()) | quality.confusion._asdict()


def _drawn(rows: pl.DataFrame) -> dict[str, Any]:
    """Measure a group of answers that were drawn in an audit; rows of one answer share its weight."""
    import numpy as np
    import polars as pl

    weight, right, said = pl.col("weight"), pl.col("people"), pl.col("verdict") == "correct"
    each = rows.group_by("question_id", "answer", "stratum", maintain_order=True).agg(
        weight.sum(), people=(weight * right).sum() / weight.sum(), said=said.first()
    )
    strata = each["stratum"].rank("dense").to_numpy().astype(np.int64) - 1
    sizes = np.rint(np.bincount(strata, each["weight"].to_numpy())).astype(np.int64)
    judge = each["said"].to_numpy().astype(float)
    audited = Audited(np.arange(each.height), each["people"].to_numpy(), judge, strata, sizes)
    everyone = np.zeros(max(int(sizes.sum()), each.height))
    cells = {"both": right & said, "judge_only": ~right & said, "people_only": right & ~said, "neither": ~right & ~said}
    counts = {name: rows.filter(cell).height for name, cell in cells.items()}
    return {"answers": each.height} | spread_all(audited_quality(everyone, audited)._asdict()) | counts


def partition_table(
    people: Sequence[Sequence[int]], judged: Sequence[Sequence[int] | None], *, judge: str
) -> pl.DataFrame:
    """Tabulate how good a judge's classes are.

    Parameters
    ----------
    people : sequence of label sequences
        People's classes of each question's answers.
    judged : sequence of (label sequence or None)
        The judge's classes of the same answers; None where it gave none.
    judge : str
        What to call it.

    Returns
    -------
    DataFrame
        One row: ``judge``, ``questions``, ``pairs``; ``false_merges``, ``false_splits``, ``rand``, ``adjusted_rand``,
        ``modal_jaccard``, ``same_mode`` (:class:`~semece.stats.diagnostics.judge_quality.PartitionQuality`), each with
        ``_low`` and ``_high``; questions that are ``unpartitioned`` (they enter nothing).

    Examples
    --------
    >>> partition_table([[0, 0, 1]], [[0, 1, 2]], judge="exact").select("false_merges", "false_splits").rows()
    [(0.0, 1.0)]
    """
    return _one_row(partition_quality, (people, judged), ("pairs",), PARTITION, judge=judge)


def pairs_table(
    people: Sequence[Sequence[bool]], judged: Sequence[Sequence[int] | None], *, judge: str
) -> pl.DataFrame:
    """Tabulate what a judge's classes do with answers that people have graded.

    Parameters
    ----------
    people : sequence of sequences of bool
        Whether people call each of a question's answers correct.
    judged : sequence of (label sequence or None)
        The judge's classes of the same answers; None where it gave none.
    judge : str
        What to call it.

    Returns
    -------
    DataFrame
        One row: ``judge``, ``questions``, ``opposite_pairs``, ``correct_pairs``; ``opposite_merged``,
        ``correct_merged`` (:class:`~semece.stats.diagnostics.judge_quality.PairQuality`), each with ``_low`` and
        ``_high``; ``unpartitioned``.

    Examples
    --------
    >>> pairs_table([[True, True, False]], [[0, 0, 0]], judge="lax").select("opposite_merged", "correct_merged").rows()
    [(1.0, 1.0)]
    """
    counts, numbers = ("opposite_pairs", "correct_pairs"), ("opposite_merged", "correct_merged")
    return _one_row(pair_quality, (people, judged), counts, numbers, judge=judge)


def _one_row(
    quality: Callable[..., Any],
    sides: tuple[Sequence[Any], Sequence[Any]],
    counts: Sequence[str],
    numbers: Sequence[str],
    *,
    judge: str,
) -> pl.DataFrame:
    """Measure a judge where it gave classes, in a table of one row: counts, numbers with their intervals."""
    both = [(ours, theirs) for ours, theirs in zip(*sides, strict=True) if theirs is not None]
    row: dict[str, Any] = {"judge": judge, "questions": len(both), "unpartitioned": len(sides[0]) - len(both)}
    row |= dict.fromkeys(counts, 0)
    if both:
        row |= spread_all(quality([ours for ours, _ in both], [theirs for _, theirs in both])._asdict())
    schema = {"judge": str, **dict.fromkeys(("questions", *counts), int)}
    return frame([row], schema | spread_columns(*numbers) | {"unpartitioned": int})
