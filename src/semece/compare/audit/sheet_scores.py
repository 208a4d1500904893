"""Sheets that came back: how annotators agree, how good the judge is, and its numbers corrected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from semece.compare.audit.audit_tables import (
    AuditedAnswer,
    annotators_table,
    numbers_table,
    quality_table,
    strata_table,
    thresholds_table,
)
from semece.compare.audit.draws import deployed_answers, ids_hash
from semece.compare.audit.row_codes import Key, read_code
from semece.errors import ParseError, SemeceError
from semece.runs import AuditedRow, Correction, KeptAudit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from semece.compare.audit.draws import AuditPlan
    from semece.compare.audit.sheets import Sheet, SheetRow
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
        ``gone`` (rows whose question enters no number now), ``disputed`` (with verdicts that differ).
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
    names = {letters: question.id for letters, question in questions.items()}
    for sheet in sheets:
        _check_questions({letters: question.text for letters, question in questions.items()}, sheet)
    judged, lost = _match(key, plan, names, answers, sheets)
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
        notes=tuple(_notes(plan, shown, counts)),
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


def _read(key: Key, plan: AuditPlan, names: Mapping[str, str], entry: SheetRow, path: Path) -> tuple[str, int, str]:
    """Give question, stratum and the answer's letters of a row; names are the questions' ids by their letters."""
    code = read_code(entry.code)
    identity = names.get(code.question) if code else None
    stratum = key.stratum(plan, identity, code) if code and identity is not None else None
    if code is None or identity is None or stratum is None:
        raise ParseError(f"{path}, row {entry.place}: {entry.code[:40]!r} is no row of this audit")
    return identity, stratum, code.answer


def _letters(text: str) -> str:
    """Give what no spreadsheet and no encoding changes in the beginning of a question."""
    return "".join(c for c in text.casefold() if c.isascii() and c.isalnum())[:200]


def _check_questions(texts: Mapping[str, str], sheet: Sheet) -> None:
    """Refuse a sheet whose codes stand beside other questions than they were written for; texts by a code's letters."""
    coded = [(entry, read_code(entry.code)) for entry in sheet.entries]
    there = [(entry, texts[code.question]) for entry, code in coded if code and code.question in texts]
    moved = [str(entry.place) for entry, text in there if _letters(entry.question) not in {"", _letters(text)}]
    if moved:
        some = ", ".join(moved[:5]) + (", ..." if len(moved) > 5 else "")
        rows = f"row {some}" if len(moved) == 1 else f"{len(moved):,} rows ({some})"
        raise ParseError(
            f"{sheet.path}, {rows}: the question is not the one that the column 'row' was written for; sort whole "
            "rows, and leave 'row' and 'question' as they were"
        )


def _match(
    key: Key, plan: AuditPlan, names: Mapping[str, str], answers: Sequence[Deployed], sheets: Sequence[Sheet]
) -> tuple[list[AuditedAnswer], dict[str, int]]:
    """Find the answers of the sheets' rows; rows whose answer is not what it was count for nothing."""
    now = {each.question.id: each for each in answers}
    found: dict[str, AuditedAnswer] = {}
    lost: dict[str, set[str]] = {"changed": set(), "gone": set()}
    for number, sheet in enumerate(sheets):
        for entry in sheet.entries:
            identity, stratum, letters = _read(key, plan, names, entry, sheet.path)
            answer = now.get(identity)
            if answer is None:
                lost["gone"].add(identity)
            elif letters != key.answer(plan, identity, answer.answer):
                lost["changed"].add(identity)
            elif entry.verdict is not None:
                found.setdefault(identity, AuditedAnswer(answer, stratum, {})).verdicts[number] = entry.verdict
    strata = Counter(one.stratum for one in found.values())
    if any(strata[h] > drawn for h, drawn in enumerate(plan.drawn)):
        raise ParseError(f"{sheets[0].path}: there are more rows than were drawn; the column 'row' must be as written")
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
    "disputed": "answers with verdicts that differ: {} (they count the share of 'correct')",
    "blank": "deployed answers that are empty: {} (on no sheet; they count as not correct)",
}
"""What counts mean, in words."""


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
    """Give the answers on which people are of one mind, as ``semece judge-eval`` reads them."""
    for one in scored.judged:
        if one.people in {0.0, 1.0}:
            yield {"id": one.answer.question.id, **_shown(one.answer), "correct": one.people == 1.0}


def _shown(one: Deployed) -> dict[str, Any]:
    """Give what people saw."""
    return {"question": one.question.text, "references": list(one.question.references), "answer": one.answer}
