"""The command that shows questions of a run: ``show``, all of them in a list or one of them in full."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from semece.cli.reading_commands import AsJson, Judge, OneRun, open_runs, print_found

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.runs import JudgeReply, QuestionView

CLIPPED = 300
"""Characters of a reply that are shown without ``--raw``."""

Wanted = Annotated[str | None, typer.Argument(help="A question's id. Without one all questions are listed.")]
Whole = Annotated[bool, typer.Option("--raw", help="Print the model's and the judges' replies whole.")]


def show(
    run: OneRun, question: Wanted = None, raw: Whole = False, judge: Judge = None, as_json: AsJson = False
) -> None:
    """List a run's questions with verdict and confidence, or show one: its answers by class, grades, replies.

    One question begins with the answer that users would see, which is the most frequent one. Its classes follow by
    size, then the judges' replies with stage and class.

    Example: [bold]semece show runs/starter--local-smollm2.db[/bold]

    Example: [bold]semece show runs/starter--local-smollm2.db capital-france --raw[/bold]
    """
    from semece import SemeceError

    if question is None and raw:
        raise SemeceError("--raw is of one question: name its id; 'semece show RUN' lists the ids")
    with open_runs([run], judge) as (opened,):
        if question is None:
            views = opened.question_views()
            print_found(list_lines(views), lambda: list(map(row_of, views)), as_json=as_json)
            return
        identity = os.fsencode(question).decode("utf-8", "replace")
        view, replies = opened.question(identity), opened.judge_replies(identity)
        lines = question_lines(view, replies, raw=raw)
        print_found(lines, lambda: question_facts(view, replies), as_json=as_json)


def list_lines(views: Sequence[QuestionView]) -> Iterator[str]:
    """Lay questions out: a line each."""
    import polars as pl

    from semece.cli.judging import aligned
    from semece.errors import on_one_line

    rows = [row_of(view) for view in views]
    for row in rows:
        row |= {"answer": on_one_line(row["answer"] or "", 30), "question": on_one_line(row["question"], 60)}
    columns = {"id": pl.String, "verdict": pl.String, "sem1": pl.Float64, "sem2": pl.Float64, "verbalized": pl.Float64}
    if rows:
        yield aligned(pl.DataFrame(rows, schema={**columns, "answer": pl.String, "question": pl.String}))


def row_of(view: QuestionView) -> dict[str, Any]:
    """Give what a list says of a question; one that enters no number has the reason as its verdict."""
    from semece import tables

    e, first = view.estimate, next(iter(classes_of(view)), None)
    verdict = None if first is None else first["verdict"]
    return {
        "id": view.question.id,
        "status": e.status,
        "verdict": verdict if e.status == "complete" else tables.REASONS.get(e.status, e.status),
        "sem1": e.sem1,
        "sem2": e.sem2,
        "verbalized": e.verbalized,
        "answer": None if first is None else first["answer"],
        "question": view.question.text,
    }


def classes_of(view: QuestionView) -> list[dict[str, Any]]:
    """List the classes of a question: that of the answer which users would see, then the others by size."""
    if view.partition is None:
        return []
    usable = [r for r in view.responses if r.usable]
    members = Counter(view.partition.labels)
    return [
        {
            "label": label,
            "count": count,
            "verdict": view.grades.get(label),
            "answer": view.partition.representatives[label],
            "forms": Counter(
                r.answer for r, own in zip(usable, view.partition.labels, strict=True) if own == label
            ).most_common(),
        }
        for label, count in sorted(members.items(), key=lambda pair: (-pair[1], pair[0]))
    ]


def question_lines(view: QuestionView, replies: Sequence[JudgeReply], *, raw: bool) -> Iterator[str]:
    """Lay one question out."""
    from semece.errors import plural

    q, e = view.question, view.estimate
    yield f"{q.id}: {q.text}"
    yield f"references: {' | '.join(q.references) or 'none'}"
    yield from deployed_line(view)
    of = plural(len(view.responses), "response")
    yield f"status: {e.status}; {e.n_responses} usable of {of}, {view.missing} missing"
    yield ", ".join(f"{name} {'-' if value is None else format(value, '.3f')}" for name, value in numbers_of(view))
    yield from class_lines(view)
    for r in view.responses:
        if raw or not r.usable:
            yield f"\n   -  {r.status}: {r.text if raw else repr(r.text)}"
    for alarm in view.alarms:
        yield f"\nalarm: {alarm.text}"
    for reply in replies:
        yield f"\njudge {reply.judge}, {reply.asked}: {reply_text(reply.text, raw=raw)}"
    if q.metadata:
        yield "\n" + "\n".join(f"{name}: {value}" for name, value in q.metadata.items())


def deployed_line(view: QuestionView) -> Iterator[str]:
    """Say which answer users would see, how often it came, and what the judge says of it."""
    for first, *others in [classes_of(view)] if view.partition is not None else []:
        tied = sum(each["count"] == first["count"] for each in others)
        more = f"; {tied} others came as often" if tied > 1 else "; one other came as often" if tied else ""
        n = sum(each["count"] for each in (first, *others))
        verdict = first["verdict"] or "ungraded"
        yield f"most frequent answer: {first['answer'] or '(no answer)'} ({first['count']} of {n}, {verdict}{more})"


def class_lines(view: QuestionView) -> Iterator[str]:
    """Lay classes out by size, each with its wordings."""
    for each in classes_of(view):
        yield f"\n{each['count']:4d}  {each['verdict'] or 'ungraded':13s}  {each['answer'] or '(no answer)'}"
        for form, count in each["forms"]:
            yield f"      {count:4d} x {form!r}"


def numbers_of(view: QuestionView) -> list[tuple[str, float | None]]:
    """Give the numbers of a question by the names that people read."""
    from semece import tables

    e = view.estimate
    own = {tables.label(name): getattr(e, name) for name in ("sem1", "sem2", "verbalized", "margin", "correct")}
    return [*own.items(), *view.scores.confidences.items(), *view.scores.ranked.items()]


def reply_text(text: str, *, raw: bool) -> str:
    """Give a reply whole, or on one line and cut."""
    from semece.errors import on_one_line, visible

    return visible(text, keep="\n\t") if raw else on_one_line(visible(text, keep="\n\t"), CLIPPED)


def question_facts(view: QuestionView, replies: Sequence[JudgeReply]) -> dict[str, Any]:
    """Give one question as plain data, replies whole."""
    q, e = view.question, view.estimate
    scores = {**view.scores.confidences, **view.scores.ranked}
    numbers = {name: getattr(e, name) for name in ("sem1", "sem2", "verbalized", "margin", "correct")}
    responses = [
        {"index": r.index, "status": r.status, "answer": r.answer, "confidence": r.confidence, "text": r.text}
        for r in view.responses
    ]
    return {
        **row_of(view),
        "references": list(q.references),
        **numbers,
        "scores": scores,
        "missing": view.missing,
        "classes": [{**each, "forms": dict(each["forms"])} for each in classes_of(view)],
        "responses": responses,
        "alarms": [alarm.text for alarm in view.alarms],
        "judge_replies": [reply._asdict() for reply in replies],
        "metadata": dict(q.metadata),
    }


COMMANDS = {"show": show}
