"""People judge some of a run's answers: blinded sheets for them, and what their verdicts say of the judge.

What is audited is the judge's verdict on the answer that would be deployed: the most frequent class, under a tie the
one that was given first, by its most frequent wording. A sheet says nothing of the model, the judge, the confidence or
the order; what it is a sample of is written in every row of it, so no key can be lost.
"""

from __future__ import annotations

from semece.compare.audit.audited_answers import Deployed, deployed_answers
from semece.compare.audit.draws import BY, AuditPlan, draw
from semece.compare.audit.sheet_exports import AuditDesign, Exported, export_sheets
from semece.compare.audit.sheet_scores import Scored, labelled_rows, score_sheets
from semece.compare.audit.sheets import COLUMNS, Sheet, read_sheet

__all__ = [
    "BY",
    "COLUMNS",
    "AuditDesign",
    "AuditPlan",
    "Deployed",
    "Exported",
    "Scored",
    "Sheet",
    "deployed_answers",
    "draw",
    "export_sheets",
    "labelled_rows",
    "read_sheet",
    "score_sheets",
]
