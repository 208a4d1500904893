"""A run as a file for other programs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from semece.canonical_json import replacing
from semece.errors import DiskError, SemeceError, meant, plural
from semece.runs.named_scores import declared
from semece.runs.sentences import REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from semece.runs.run import QuestionView, Run


FORMS = ("jsonl", "csv", "parquet")
WHAT = ("samples", "responses", "estimates")


def export(run: Run, *, what: str = "samples", form: str | None = None, output: Path | None = None) -> tuple[str, ...]:
    """Write samples, responses or estimates.

    Parameters
    ----------
    run : Run
        From where.
    what : {'samples', 'responses', 'estimates'}
        ``samples``: one question a line with its metadata, answers, confidences, scores, labels and grades, as ``semece
        score`` reads them. Questions that enter no number are left out, so that the samples give the same numbers;
        ungraded ones stay, and so do all with a usable answer where no question has classes.
    form : {'jsonl', 'csv', 'parquet'}, optional
        How. By default what the ending of `output` says, or JSONL. A table of samples has lists as JSON in its cells.
    output : Path or None
        None: standard output.

    Returns
    -------
    tuple of str
        What was left out, one sentence each.

    Raises
    ------
    SemeceError
        There is no such thing or form, the file's ending is that of another form, or the file cannot be written.
    """
    form = _form(form, output)
    if what == "samples":
        views, left_out = _samples(run.question_views())
        rows = [_sample(run, v) | run.names._asdict() for v in views]
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write("".join(lines).encode() if form == "jsonl" else _bytes(_table(rows), form), output)
        return left_out
    if what not in WHAT:
        raise SemeceError(f"--what must be {', '.join(WHAT)}; got {what!r}{meant(what, WHAT)}")
    table = run.responses() if what == "responses" else run.estimates()
    write(_bytes(table, form), output)
    return ()


def _form(form: str | None, output: Path | None) -> str:
    """Say in which form a file is written; an ending that is that of another form is refused."""
    ending = "" if output is None else output.suffix.lower().removeprefix(".")
    if form is None:
        if ending and ending not in FORMS:
            raise SemeceError(
                f"the output must end in .jsonl, .csv or .parquet, or --to must say what it is; got {str(output)!r}"
            )
        return ending or "jsonl"
    if ending in FORMS and form in FORMS and ending != form:
        raise SemeceError(f"{output} ends like a {ending} file, and --to says {form}: change one of them")
    return form


def _samples(views: Sequence[QuestionView]) -> tuple[list[QuestionView], tuple[str, ...]]:
    """Keep the questions that a file of samples can hold with the same numbers; say how many it cannot, and why."""
    usable = [view for view in views if any(r.usable for r in view.responses)]
    whys: Counter[str] = Counter({"without a usable answer": len(views) - len(usable)})
    kept = usable
    if any(view.partition is not None for view in usable):
        kept = [view for view in usable if view.estimate.status in {"complete", "ungraded"}]
        out = Counter(view.estimate.status for view in usable) - Counter(view.estimate.status for view in kept)
        whys.update({REASONS[status]: count for status, count in out.items()})
    said = (f"left out: {count:,} of {plural(len(views), 'question')} {why}" for why, count in whys.items() if count)
    return kept, tuple(said)


def _table(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Put samples into a table: a column a field; a cell that is no text, number or truth value holds JSON."""
    import polars as pl

    names = dict.fromkeys(name for row in rows for name in row)
    return pl.DataFrame([pl.Series(name, _cells([row.get(name) for row in rows])) for name in names])


def _cells(values: Sequence[Any]) -> Sequence[Any]:
    """Give the cells of a column: as they are if all are of one plain kind."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 and kinds <= {str, float, bool}:
        return values
    if kinds == {int} and all(abs(value or 0) < 1 << 63 for value in values):
        return values
    return [
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values
    ]


def _sample(run: Run, view: QuestionView) -> dict[str, Any]:
    q, usable = view.question, [r for r in view.responses if r.usable]
    sample: dict[str, Any] = {
        **q.metadata,
        "id": q.id,
        "question": q.text,
        "references": list(q.references),
        "answers": [r.answer for r in usable],
        "confidences": [r.confidence for r in usable],
    }
    if given := run.numbers_as_given(view) if run.given else {}:
        kinds = declared(run.scored_questions().kinds)
        sample["scores"] = given
        sample["score_kinds"] = {name: kind for name, kind in kinds.items() if name in given}
    if view.partition is not None:
        sample["labels"] = list(view.partition.labels)
        sample["grades"] = {str(label): verdict for label, verdict in view.grades.items()}
    return sample


def _bytes(table: pl.DataFrame, form: str) -> bytes:
    import io

    if form == "jsonl":
        return table.write_ndjson().encode()
    if form == "csv":
        from semece.runs.renderers import guarded

        return guarded(table).write_csv().encode()
    if form == "parquet":
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        return buffer.getvalue()
    raise SemeceError(f"--to must be {', '.join(FORMS)}; got {form!r}{meant(form, FORMS)}")


def _is_database(path: Path) -> bool:
    """Whether a file is one of SQLite's."""
    with suppress(OSError), path.open("rb") as stream:
        return stream.read(16) == b"SQLite format 3\x00"
    return False


def write(data: bytes, output: Path | None) -> None:
    """Write all of it or nothing; to standard output without a path.

    Raises
    ------
    SemeceError
        The file cannot be written, or is a database, such as a run file.
    """
    if output is not None and _is_database(output):
        raise SemeceError(f"{output} is a run file or another database, and stays: name another file with -o")
    if output is None:
        if sys.stdout.isatty():  # where what it holds is cleaned
            sys.stdout.write(data.decode("utf-8", "replace"))
        else:
            sys.stdout.buffer.write(data)
        return
    try:
        with replacing(output) as part:
            part.write_bytes(data)
    except OSError as error:
        raise DiskError(f"cannot write {output}: {error.strerror}") from None
