"""Judges: who groups answers by meaning, and who grades the groups.

What the other rooms need is here: the protocol, the table of judges, and one question before its judges.
"""

from semece.judges.alarms import ALARMS, alarms_of
from semece.judges.forms import distinct
from semece.judges.judge_protocol import STAGES, Judge, Missing, Procedure, Query, RuleJudge, Undelivered
from semece.judges.judged_questions import (
    JudgedQuestion,
    classes_to_grade,
    grade_classes,
    judge_question,
    run_procedure,
)
from semece.judges.known import (
    ALWAYS,
    JUDGES,
    models_of,
    open_judge,
    open_judges,
    row_of,
    spelling_of,
    with_room,
)
from semece.judges.llm import JUDGE_TOKENS, PROMPTS

__all__ = [
    "ALARMS",
    "ALWAYS",
    "JUDGES",
    "JUDGE_TOKENS",
    "PROMPTS",
    "STAGES",
    "Judge",
    "JudgedQuestion",
    "Missing",
    "Procedure",
    "Query",
    "RuleJudge",
    "Undelivered",
    "alarms_of",
    "classes_to_grade",
    "distinct",
    "grade_classes",
    "judge_question",
    "models_of",
    "open_judge",
    "open_judges",
    "row_of",
    "run_procedure",
    "spelling_of",
    "with_room",
]
