"""From which confidence on to answer: the thresholds of a run, of all its questions or of slices of them."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.errors import SemeceError, meant
from semece.runs import label, plural
from semece.show.tables.paper_tables import ABSTENTION, abstention_rows, attempted, group_of, promise_text
from semece.stats import fewest_answers, frame, slice_thresholds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import polars as pl

    from semece import Question, Run
    from semece.show.tables.paper_tables import PooledQuestions

NOTHING = "(none)"
"""The slice of questions that lack the column."""


class Decision(NamedTuple):
    """Thresholds, and what they promise.

    Parameters
    ----------
    needs : tuple of str
        What a threshold takes, said before any is looked for.
    table : DataFrame
        A row per score, with slices one per score and slice: ``score``, ``target``, ``questions`` (asked), ``needed``
        (fewest answers of a threshold), ``threshold``, ``answered``, ``coverage`` (share of the questions asked),
        ``accuracy``, ``accuracy_low``, ``promise``, ``audit``, ``reason``; of slices also ``slice`` and ``answers``.
    notes : tuple of str
        What is promised, and under which conditions.
    group : PooledQuestions
        The questions.
    """

    needs: tuple[str, ...]
    table: pl.DataFrame
    notes: tuple[str, ...]
    group: PooledQuestions


def decide(
    run: Run, *, target: float = 0.95, delta: float = 0.05, by: str | None = None, scores: Sequence[str] = ()
) -> Decision:
    """Find from which confidence on to answer, for every score of a run or for those named.

    Parameters
    ----------
    run : Run
        An opened run file.
    target : float
        Share of right answers wanted among those given, in (0, 1).
    delta : float
        How often a promise may be wrong, in (0, 1).
    by : str, optional
        A column of the questions' metadata: a threshold for each of its values, one promise for all of them.
    scores : sequence of str
        Only these: ``sem1``, ``sem2``, ``verbalized`` or a score of the run.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        For numbers out of range, and a column that no question has.
    SemeceError
        No question is complete, or there is no such score.
    """
    group = group_of(run.model, [run])
    if by is None:
        table = _of_scores(abstention_rows(group, [target], delta=delta), scores, group.pool.ranked)
        notes = (*_promises(table), *_notes(group, table), *_uncorrected(group, table))
        return Decision(tuple(_needs(table, target, delta)), table, notes, group)
    slices = slices_of([view.question for view in run.question_views()], by)
    table = _of_scores(slice_rows(group, slices, target=target, delta=delta), scores, group.pool.ranked)
    column = f"Choose the column before you look: {by} is one of many that slices can be made by."
    notes = (*_promises(table), *_notes(group, table), *([column] if _promised(table) else []), *_alone(group, by))
    needs = PLAIN_NEED.format("A", fewest_answers(target, delta), _percent(target))
    return Decision((needs, *_shared(table, by)), table, notes, group)


def _of_scores(table: pl.DataFrame, scores: Sequence[str], ranked: Collection[str]) -> pl.DataFrame:
    """Keep the rows of some scores; all of them if none is named."""
    known = table["score"].unique(maintain_order=True).to_list()
    for name in scores:
        if name in ranked:
            fit = f"semece recalibrate PILOT --score {shlex.quote(name)}"
            cure = f"fit a map on other questions ({fit}) and give it with --recalibrate"
            raise SemeceError(f"of the score {name!r} only the order means something: {cure}")
        if name not in known:
            raise SemeceError(
                f"there is no score {name!r}{meant(name, known)} to answer by; there are {', '.join(known)}"
            )
    return table.filter(table["score"].is_in(list(scores))) if scores else table


PLAIN_NEED = "{} threshold takes at least {:,} answers, all of them right, to promise {}."


def _needs(table: pl.DataFrame, target: float, delta: float) -> Iterator[str]:
    """Say what a threshold takes: of all scores, or of those that an audit corrects and of the others."""
    plain, audited = (table.filter(kept) for kept in (table["audit"].is_null(), table["audit"].is_not_null()))
    if plain.height or not table.height:
        which = f"Of {_names(plain)} a" if audited.height else "A"
        yield PLAIN_NEED.format(which, fewest_answers(target, delta), _percent(target))
    if audited.height:
        least, *_, most = sorted([*audited["needed"], *audited["needed"]])
        count = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        which = f"Of {_names(audited)} a" if plain.height else "A"
        yield (
            f"{which} threshold that the audit corrects takes at least {count} answers to promise {_percent(target)}: "
            "so many that people have judged enough of them."
        )


def _names(table: pl.DataFrame) -> str:
    """List the scores of a table."""
    return ", ".join(map(label, dict.fromkeys(table["score"])))


def _uncorrected(group: PooledQuestions, table: pl.DataFrame) -> Iterator[str]:
    """Say which scores the audit does not correct, and why, where there is one."""
    if group.correction is None:
        return
    reasons: dict[str, list[str]] = {}
    for score, target in table.filter(table["audit"].is_null()).select("score", "target").iter_rows():
        reason = group.correction.threshold(score, target=target, asked=group.asked)
        reasons.setdefault(str(reason), []).append(label(score))
    sheets = ", ".join(group.correction.audit.sheets)
    for reason, scores in reasons.items():
        yield (
            f"Thresholds of {', '.join(dict.fromkeys(scores))} are by the judge alone: "
            f"the audit ({sheets}) does not correct them ({reason})."
        )


def _alone(group: PooledQuestions, by: str) -> tuple[str, ...]:
    """Say that slices are not corrected, where there is an audit."""
    if group.correction is None:
        return ()
    sheets = ", ".join(group.correction.audit.sheets)
    return (f"Thresholds by {by} are by the judge alone: the audit ({sheets}) does not correct them.",)


def slices_of(questions: Sequence[Question], by: str) -> dict[str, str]:
    """Say of each question's id which slice it is in.

    Raises
    ------
    ValueError
        No question has the column.
    """
    found = {question.id: text_of_value(metadata_of(question.metadata).get(by)) for question in questions}
    if all(value is None for value in found.values()):
        names = sorted({name for question in questions for name in metadata_of(question.metadata)})
        known = f"they have {', '.join(names)}" if names else "they have no metadata"
        raise ValueError(f"the questions must have a column {by!r} to be sliced by{meant(by, names)}; {known}")
    return {name: NOTHING if value is None else value for name, value in found.items()}


def metadata_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Give the columns of a question, those of a field ``metadata`` among them."""
    inner = metadata.get("metadata")
    if not isinstance(inner, dict):
        return dict(metadata)
    return {**inner, **{name: value for name, value in metadata.items() if name != "metadata"}}


def text_of_value(value: object) -> str | None:
    """Write the value of a column as a text; None where there is none."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def slice_rows(
    group: PooledQuestions, slices: Mapping[str, str], *, target: float, delta: float = 0.05
) -> pl.DataFrame:
    """Give the threshold of each score in each slice (:func:`semece.slice_thresholds`).

    Parameters
    ----------
    group : PooledQuestions
        The questions of one run.
    slices : mapping of str to str
        The slice of each question that was asked, by its id.
    target, delta
        As in :func:`decide`.

    Returns
    -------
    DataFrame
        See :class:`Decision`.
    """
    rows, asked = [], Counter(slices.values())
    for score, c, a, ids in attempted(group):
        places = [slices[name] for name in ids.tolist()]
        for name, each in slice_thresholds(c, a, places, target=target, delta=delta, asked=asked).items():
            promise = None if each.found.threshold is None else promise_text(target, delta)
            row = {"score": score, "slice": name, "target": target, "questions": asked[name], "promise": promise}
            rows.append(row | {"answers": each.answers, "needed": each.needed} | each.found._asdict())
    head = {"score": str, "slice": str, "target": float, "questions": int, "answers": int}
    return frame(rows, head | ABSTENTION)


def _shared(table: pl.DataFrame, by: str) -> tuple[str, ...]:
    """Say what slices take together, score by score where that differs."""
    said = []
    for (score,), rows in table.group_by("score", maintain_order=True):
        judged = rows.filter(rows["answers"] >= rows["needed"])
        few = rows.height - judged.height
        left = f"; {few:,} of {rows.height:,} slices by {by} have fewer and are not judged" if few else ""
        if judged.height:
            each = f"{judged['needed'][0]:,} right answers in each of the {judged.height:,} slices that share the risk"
            said.append((str(score), f"{each}{left}"))
        else:
            said.append((str(score), f"{rows['needed'][0]:,} right answers in a slice alone{left}"))
    if len({text for _, text in said}) == 1:
        return (f"By {by} it takes at least {said[0][1]}.",)
    return tuple(f"By {by}, {label(score)}: at least {text}." for score, text in said)


def _promised(table: pl.DataFrame) -> bool:
    return table["threshold"].null_count() < table.height


def _promises(table: pl.DataFrame) -> tuple[str, ...]:
    """Say once what every threshold of a table promises, or which scores promise what."""
    if not _promised(table):
        return ("No threshold: nothing can be promised.",)
    every = ", in all slices of a score together" if "slice" in table.columns else ""
    found = table.filter(table["promise"].is_not_null())
    groups = {promise: found.filter(promise=promise) for promise in dict.fromkeys(found["promise"])}
    return tuple(
        f"What a threshold{f' of {_names(rows)}' if len(groups) > 1 else ''} promises{every}: {promise}."
        for promise, rows in groups.items()
    )


def _notes(group: PooledQuestions, table: pl.DataFrame) -> tuple[str, ...]:
    """Say what a reader must know beside the promise."""
    notes = ["The share answered is of all questions asked: failed and refused ones are not answered."]
    if len(set(table["score"])) > 1 and _promised(table):
        notes.append("Each score has a promise of its own: choose one before you look, not the best of them after.")
    half = int(((group.pool.correct % 1) > 0).sum())
    if half:
        notes.append(f"Counted as wrong: {plural(half, 'answer')} right in part, because answers tie.")
    return tuple(notes)


def _percent(share: float) -> str:
    return f"{100 * share:.6g} %"
