"""Sheets of a run, written where none is yet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from semece.compare.audit.draws import BY, deployed_answers, draw, share_out
from semece.compare.audit.row_codes import Key
from semece.compare.audit.sheets import csv_bytes, xlsx_bytes
from semece.errors import DiskError, SemeceError
from semece.runs import write

if TYPE_CHECKING:
    from semece.compare.audit.draws import AuditPlan, By, DrawnAnswer
    from semece.runs import Run

FORMS = {".csv": csv_bytes, ".xlsx": xlsx_bytes}


@dataclass(frozen=True, slots=True)
class Exported:
    """Sheets that were written.

    Parameters
    ----------
    paths : tuple of Path
        One for each annotator.
    rows : tuple of int
        Rows of each.
    plan : AuditPlan
        What was drawn from what.
    shared : int
        Answers that are on every sheet.
    blank : int
        Deployed answers that are empty and therefore on no sheet.
    """

    paths: tuple[Path, ...]
    rows: tuple[int, ...]
    plan: AuditPlan
    shared: int
    blank: int


@dataclass(frozen=True, slots=True)
class AuditDesign:
    """How an audit is laid out.

    Parameters
    ----------
    size : int
        Answers to draw in all, >= 1.
    by : {'verdict', 'confidence', 'both', 'none'}
        Strata; see :func:`semece.compare.audit.draw`.
    annotators : int
        Sheets, >= 1.
    overlap : int
        How many of the answers are on every sheet, >= 0.
    seed : int
        The same seed and run give the same sheets.

    Raises
    ------
    SemeceError
        A number is out of range, or there are no such strata.
    """

    size: int = 200
    by: By = "verdict"
    annotators: int = 2
    overlap: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        if self.by not in BY:
            raise SemeceError(f"the strata must be by {', '.join(BY[:-1])} or {BY[-1]}; got {self.by!r}")
        for name, least in (("size", 1), ("annotators", 1), ("overlap", 0)):
            if getattr(self, name) < least:
                raise SemeceError(f"{name} must be at least {least}; got {getattr(self, name)}")


def export_sheets(run: Run, output: str | Path = "audit.csv", design: AuditDesign | None = None) -> Exported:
    """Write sheets for people to judge a run's answers on.

    Parameters
    ----------
    run : Run
        Whose answers.
    output : str or Path
        ``audit.csv`` gives ``audit-1.csv``, ``audit-2.csv``; the ending, ``.csv`` or ``.xlsx``, says the format.
    design : AuditDesign, optional
        How many answers of which strata go on how many sheets.

    Returns
    -------
    Exported

    Raises
    ------
    SemeceError
        A sheet is there already and is another one, nothing can be judged, or a file cannot be written.
        No sheet is written then.
    """
    output, design = Path(output), design or AuditDesign()
    if output.suffix.lower() not in FORMS:
        raise SemeceError(f"the sheets' name must end in .csv or .xlsx; got {output.name!r}")
    answers = deployed_answers(run)
    shown = [each for each in answers if not each.blank]
    if not shown:
        raise SemeceError(f"all {len(answers):,} deployed answers are empty: there is nothing to judge")
    plan, drawn = draw(shown, size=design.size, by=design.by, seed=design.seed)
    parts = share_out(drawn, annotators=design.annotators, overlap=design.overlap, seed=design.seed)
    make, key = FORMS[output.suffix.lower()], Key(run)
    paths = tuple(output.with_name(f"{output.stem}-{one}{output.suffix}") for one in range(1, design.annotators + 1))
    contents = {path: make([_row(key, plan, each) for each in part]) for path, part in zip(paths, parts, strict=True)}
    for path, content in contents.items():
        _refuse_another(path, content)
    for path, content in contents.items():
        write(content, path)
    shared = min(design.overlap, len(drawn)) if design.annotators > 1 else 0
    return Exported(paths, tuple(map(len, parts)), plan, shared, len(answers) - len(shown))


def _row(key: Key, plan: AuditPlan, drawn: DrawnAnswer) -> tuple[str, ...]:
    q = drawn.answer.question
    return (key.code(plan, drawn), q.text, " | ".join(q.references), drawn.answer.answer, "", "", key.stamp(plan))


def _refuse_another(path: Path, content: bytes) -> None:
    """Keep what is there: it may hold verdicts."""
    try:
        there = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise DiskError(f"cannot write {path}: {error.strerror or error}") from None
    if there != content:
        raise SemeceError(f"{path} is there already and may hold verdicts; write to another name with -o")
