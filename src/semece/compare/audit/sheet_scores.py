"""Sheets that came back: how annotators agree, how good the judge is, and its numbers corrected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from semece.compare.audit.audit_tables import (
    AuditedAnswer,
    annotators_table,
    numbers_table,
    quality_table,
    strata_table,
    thresholds_table,
)
from semece.compare.audit.draws import deployed_answers, ids_hash
from semece.compare.audit.filled_sheets import rows_text
from semece.compare.audit.row_codes import Key, read_code
from semece.compare.audit.sheets import MOST
from semece.errors import ParseError, SemeceError, shortened
from semece.runs import AuditedRow, Correction, KeptAudit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from semece.compare.audit.draws import AuditPlan
    from semece.compare.audit.filled_sheets import Sheet, SheetRow
    from semece.runs import Deployed, Run


@dataclass(frozen=True, slots=True)
class Scored:
    """What sheets say.

    Parameters
    ----------
    run : str
        The run's name.
    judge : str
        Who graded.
    counts : dict of str to int
        ``questions`` that enter the numbers, ``blank`` ones that no sheet can hold, ``drawn``, ``judged`` (with a
        verdict that counts), ``missing`` (drawn, without one), ``changed`` (rows whose answer is another one now),
        ``gone`` (rows whose question enters no number now), ``disputed`` (with verdicts that differ), ``altered`` (rows
        whose answer or references are not quite what was written).
    strata : polars.DataFrame
        Per stratum: ``answers`` it had, ``drawn`` ones, ``judged`` ones.
    numbers : polars.DataFrame
        Per ``quantity`` (``accuracy``, ``held_out_gap`` and ``semx_ece`` where every class is graded, ``sem1_ece``,
        ``sem2_ece``, ``ver_ece``): ``questions``, ``audited``, the
        ``judge``'s value and the ``corrected`` one, each with ``_low`` and ``_high``; the judge's and the corrected ECE
        with less bias, ``judge_debiased`` and ``corrected_debiased``; ``reason`` where there is no corrected number.
    thresholds : polars.DataFrame
        Per ``target``: ``questions`` asked; ``judge_threshold``, from which Sem1 on so many answers are right if the
        judge is; and the columns of :func:`semece.abstention_threshold` with the judge's errors corrected.
    quality : polars.DataFrame
        One row: judged ``answers``; ``verdicts`` on them, by what judge and people say: ``both`` correct,
        ``judge_only``, ``people_only``, ``neither``; and over all answers that are not blank ``agreement``, ``kappa``,
        ``precision``, ``recall``, ``false_correct``, each with ``_low`` and ``_high``; ``reason`` where they are not.
    annotators : polars.DataFrame
        Per pair of sheets that share answers: ``first``, ``second``, ``answers``, ``agreement`` and ``kappa`` with
        ``_low`` and ``_high``.
    disagreements : list of dict
        Answers on which people do not say what the judge says, or differ.
    judged : list of AuditedAnswer
        Every answer with a verdict that counts.
    audit : KeptAudit
        The same as a run file keeps it.
    notes : tuple of str
        What deserves a look, one sentence each.
    """

    run: str
    judge: str
    counts: dict[str, int]
    strata: pl.DataFrame
    numbers: pl.DataFrame
    thresholds: pl.DataFrame
    quality: pl.DataFrame
    annotators: pl.DataFrame
    disagreements: list[dict[str, Any]]
    judged: list[AuditedAnswer]
    audit: KeptAudit
    notes: tuple[str, ...]


def score_sheets(run: Run, sheets: Sequence[Sheet]) -> Scored:
    """Say what people's verdicts mean for a run's judge and numbers.

    Parameters
    ----------
    run : Run
        The run the sheets were written of, under the judge that is to be measured.
    sheets : sequence of Sheet
        One for each annotator; at least one.

    Returns
    -------
    Scored

    Raises
    ------
    SemeceError
        The sheets are of another run or of different audits, a row is no row of theirs, or there is no verdict yet.
    """
    _check_sheets(sheets)
    key = Key(run)
    plan = key.read_stamp(sheets[0].stamp, str(sheets[0].path))
    answers = deployed_answers(run)
    questions = {key.question(plan, view.question.id): view.question for view in run.question_views()}
    known = {each.question.id: each for each in answers}
    found = [_coded(key, plan, {letters: q.id for letters, q in questions.items()}, sheet) for sheet in sheets]
    texts = {question.id: question.text for question in questions.values()}
    altered = 0
    for sheet, rows in zip(sheets, found, strict=True):
        _check_questions(sheet, rows, texts)
        altered += _check_answers(sheet, [row for row in rows if _unchanged(key, plan, row, known)], known)
    judged, lost = _match(key, plan, known, found)
    strata = Counter(one.stratum for one in judged)
    if any(strata[h] > drawn for h, drawn in enumerate(plan.drawn)):
        raise ParseError(f"{sheets[0].path}: there are more rows than were drawn; the column 'row' must be as written")
    if not judged:
        raise SemeceError(_nothing(sheets, lost))
    shown = [each for each in answers if not each.blank]
    counts = {
        "questions": len(answers),
        "blank": len(answers) - len(shown),
        "drawn": sum(plan.drawn),
        "judged": len(judged),
        "missing": max(sum(plan.drawn) - len(judged) - sum(lost.values()), 0),
        **lost,
        "disputed": sum(0 < each.people < 1 for each in judged),
        "altered": altered,
    }
    audit = kept_audit(plan, sheets, judged)
    correction = Correction.of(audit, answers)
    return Scored(
        run=run.name,
        judge=run.judge_names[1],
        counts=counts,
        strata=strata_table(plan, judged),
        numbers=numbers_table(correction, run.classes()),
        thresholds=thresholds_table(correction, len(run.question_views())),
        quality=quality_table(audit, shown, judged),
        annotators=annotators_table(sheets, judged),
        disagreements=[_disagreement(each, sheets) for each in judged if each.people != each.answer.said],
        judged=judged,
        audit=audit,
        notes=(*_notes(plan, shown, counts), *_readings(sheets)),
    )


def kept_audit(plan: AuditPlan, sheets: Sequence[Sheet], judged: Sequence[AuditedAnswer]) -> KeptAudit:
    """Put people's verdicts together as the run file keeps them."""
    rows = [AuditedRow(one.answer.question.id, one.answer.answer, one.stratum, one.people) for one in judged]
    names = tuple(sheet.path.name for sheet in sheets)
    return KeptAudit(sheets[0].stamp, names, plan.by, plan.sizes, tuple(rows))


def _check_sheets(sheets: Sequence[Sheet]) -> None:
    """Refuse sheets that do not belong together."""
    paths = [sheet.path.resolve() for sheet in sheets]
    for sheet, path in zip(sheets, paths, strict=True):
        if paths.count(path) > 1:
            raise SemeceError(f"{sheet.path} is named twice")
        if sheet.stamp != sheets[0].stamp:
            raise SemeceError(f"{sheets[0].path} and {sheet.path} are of different audits; score them apart")


class _Coded(NamedTuple):
    """A row of a sheet, and what its code says: the question, the stratum, the letters of its answer."""

    entry: SheetRow
    identity: str
    stratum: int
    letters: str


def _coded(key: Key, plan: AuditPlan, names: Mapping[str, str], sheet: Sheet) -> list[_Coded]:
    """Read the codes of a sheet; names are the questions' ids by their letters."""
    found, bad = [], []
    for entry in sheet.entries:
        code = read_code(entry.code)
        identity = names.get(code.question) if code else None
        stratum = key.stratum(plan, identity, code) if code and identity is not None else None
        if code is None or identity is None or stratum is None:
            bad.append(entry)
        else:
            found.append(_Coded(entry, identity, stratum, code.answer))
    if bad:
        said = ", ".join(f"{entry.code[:40]!r} (row {entry.place})" for entry in bad)
        raise ParseError(f"{sheet.path}: what is no row of this audit stands in the column 'row': {said}")
    return found


def _unchanged(key: Key, plan: AuditPlan, row: _Coded, known: Mapping[str, Deployed]) -> bool:
    """Whether the answer of a row is the one that the run gives now."""
    return row.identity in known and row.letters == key.answer(plan, row.identity, known[row.identity].answer)


def _core(text: str, *, exact: bool, marks: str = "") -> str:
    """Give what no spreadsheet changes in a text; where the encoding has lost letters, of those that it keeps."""
    plain = normalize("NFKC", text).casefold()
    kept = "".join(c for c in plain if c.isalnum() or c in marks)
    return kept if exact else "".join(c for c in kept if c.isascii())


def _alike(seen: str, written: str, *, exact: bool, marks: str = "") -> bool:
    """Whether a text in a sheet is the one that was written there; an empty one says nothing."""
    exact = exact and "\ufffd" not in seen
    one, other = _core(seen, exact=exact, marks=marks), _core(shortened(written, MOST), exact=exact, marks=marks)
    return one in {"", other}


def _check_questions(sheet: Sheet, rows: Sequence[_Coded], texts: Mapping[str, str]) -> None:
    """Refuse a sheet whose codes stand beside other questions than they were written for."""
    moved = [
        row.entry.place
        for row in rows
        if not _alike(row.entry.texts.get("question", ""), texts[row.identity], exact=sheet.exact)
    ]
    if moved:
        raise ParseError(
            f"{sheet.path}, {rows_text(moved)}: the question is not the one that the column 'row' was written for; "
            "sort whole rows, and leave 'row' and 'question' as they were"
        )


MARKS = "+-−.,/%"
"""Signs that tell one short answer from another."""


def _check_answers(sheet: Sheet, rows: Sequence[_Coded], known: Mapping[str, Deployed]) -> int:
    """Refuse a sheet with an answer, or references, of another row; give how many were altered otherwise.

    A spreadsheet makes a date of ``1/2``; that is no reason to refuse.
    """
    altered: set[int] = set()
    moved: set[int] = set()
    for name in ("answer", "references"):
        written = {row.identity: _written(known[row.identity], name) for row in rows}
        cores = {identity: _core(text, exact=sheet.exact, marks=MARKS) for identity, text in written.items()}
        others = Counter(cores.values())
        for row in rows:
            seen = row.entry.texts.get(name, "")
            if not _alike(seen, written[row.identity], exact=sheet.exact, marks=MARKS):
                (moved if others[_core(seen, exact=sheet.exact, marks=MARKS)] else altered).add(row.entry.place)
    if moved:
        raise ParseError(
            f"{sheet.path}, {rows_text(moved)}: the answer or the references are those of another row; sort "
            "whole rows, and leave 'row', 'references' and 'answer' as they were"
        )
    return len(altered)


def _written(answer: Deployed, name: str) -> str:
    """Give what was written in a column of an answer's row."""
    return answer.answer if name == "answer" else " | ".join(answer.question.references)


def _match(
    key: Key, plan: AuditPlan, known: Mapping[str, Deployed], sheets: Sequence[Sequence[_Coded]]
) -> tuple[list[AuditedAnswer], dict[str, int]]:
    """Find the answers of the sheets' rows; rows whose answer is not what it was count for nothing."""
    found: dict[str, AuditedAnswer] = {}
    lost: dict[str, set[str]] = {"changed": set(), "gone": set()}
    for number, rows in enumerate(sheets):
        for row in rows:
            if row.identity not in known:
                lost["gone"].add(row.identity)
            elif not _unchanged(key, plan, row, known):
                lost["changed"].add(row.identity)
            elif row.entry.verdict is not None:
                one = found.setdefault(row.identity, AuditedAnswer(known[row.identity], row.stratum, {}))
                one.verdicts[number] = row.entry.verdict
    return list(found.values()), {name: len(each) for name, each in lost.items()}


def _nothing(sheets: Sequence[Sheet], lost: Mapping[str, int]) -> str:
    """Say why nothing can be scored."""
    names = ", ".join(str(sheet.path) for sheet in sheets)
    if any(entry.verdict for sheet in sheets for entry in sheet.entries) and any(lost.values()):
        return f"none of the answers of {names} is what the run answers now: another judge, another n or another run?"
    return f"{names}: no verdict yet; fill the column 'verdict' with correct, incorrect or not_attempted"


def _disagreement(one: AuditedAnswer, sheets: Sequence[Sheet]) -> dict[str, Any]:
    """Say of what people and the judge speak, and what each says."""
    return {
        "question_id": one.answer.question.id,
        **_shown(one.answer),
        "judge": "correct" if one.answer.said else "not correct",
        "people": {str(sheets[number].path): verdict for number, verdict in one.verdicts.items()},
    }


NOTES: dict[str, str] = {
    "missing": "drawn answers without a verdict: {} (taken to be like others of their stratum)",
    "changed": "answers that are others now than on the sheets: {} (their verdicts are not used)",
    "gone": "questions of the sheets that enter no number now: {} (their verdicts are not used)",
    "altered": "answers or references that somebody or a spreadsheet has altered: {} (their verdicts count)",
    "disputed": "answers with verdicts that differ: {} (they count the share of 'correct')",
    "blank": "deployed answers that are empty: {} (on no sheet; they count as not correct)",
}
"""What counts mean, in words."""


def _readings(sheets: Sequence[Sheet]) -> Iterator[str]:
    """Say how words were read that are not those of a verdict."""
    read = {word: verdict for sheet in sheets for word, verdict in sheet.read_as.items()}
    if read:
        yield "verdicts were read: " + ", ".join(f"{word!r} as {verdict}" for word, verdict in sorted(read.items()))


def _notes(plan: AuditPlan, shown: Sequence[Deployed], counts: Mapping[str, int]) -> Iterator[str]:
    """Say what the numbers take for granted."""
    for name, text in NOTES.items():
        if counts[name]:
            yield text.format(f"{counts[name]:,}")
    if plan.questions != ids_hash(shown):
        yield (
            f"the sheets were drawn from {sum(plan.sizes):,} answers, {len(shown):,} can be judged now; the audit is "
            "taken to speak for them too"
        )


def labelled_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    """Give people's verdicts as ``semece judge-eval`` reads them, with how many answers each stands for.

    An answer on which people differ has a row for each of their verdicts, which share its weight.
    """
    sizes = scored.strata["answers"] / scored.strata["judged"]
    for one in scored.judged:
        for correct, share in ((True, one.people), (False, 1 - one.people)):
            if share:
                row = {"id": one.answer.question.id, **_shown(one.answer), "correct": correct}
                yield row | {"audit_weight": share * sizes[one.stratum], "audit_stratum": str(one.stratum)}


def _shown(one: Deployed) -> dict[str, Any]:
    """Give what people saw."""
    return {"question": one.question.text, "references": list(one.question.references), "answer": one.answer}
