"""What is missing of a run is drawn and stored: settings become a job, and the job's stages ask.

What the other rooms need is here.
"""

from semece.sampling.batch.ledger import OPEN, Ledger
from semece.sampling.budget import Budget, Price, PriceList, read_prices, spent_at_most
from semece.sampling.connections import Callers, Connections
from semece.sampling.job import Job, check_identity, resolve, view_of
from semece.sampling.judge_calls import run_asking
from semece.sampling.live_calls import Caller, SlotFiller, in_parallel
from semece.sampling.options import (
    Option,
    check_options,
    in_order,
    named,
    option,
    options_of,
    record_of,
    text_in,
)
from semece.sampling.patience import BatchPatience, Patience
from semece.sampling.price_plan import CLASSES, DISTINCT_SHARE, PricePlan, check_judges, plan, plan_text
from semece.sampling.settings import (
    CALLS,
    CAPS,
    CallSettings,
    Settings,
    dataset_name,
    default_path,
    file_name,
    safe_name,
)
from semece.sampling.stages import (
    JudgeStage,
    Outcome,
    Progress,
    make_run,
    read_reply,
    read_responses,
    silent,
    stored_answers,
    usable_answers,
)

__all__ = [
    "CALLS",
    "CAPS",
    "CLASSES",
    "DISTINCT_SHARE",
    "OPEN",
    "BatchPatience",
    "Budget",
    "CallSettings",
    "Caller",
    "Callers",
    "Connections",
    "Job",
    "JudgeStage",
    "Ledger",
    "Option",
    "Outcome",
    "Patience",
    "Price",
    "PriceList",
    "PricePlan",
    "Progress",
    "Settings",
    "SlotFiller",
    "check_identity",
    "check_judges",
    "check_options",
    "dataset_name",
    "default_path",
    "file_name",
    "in_order",
    "in_parallel",
    "make_run",
    "named",
    "option",
    "options_of",
    "plan",
    "plan_text",
    "read_prices",
    "read_reply",
    "read_responses",
    "record_of",
    "resolve",
    "run_asking",
    "safe_name",
    "silent",
    "spent_at_most",
    "stored_answers",
    "text_in",
    "usable_answers",
    "view_of",
]
