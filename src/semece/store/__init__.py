"""The run file: its tables, the texts in it, the keys of its rows.

What the other rooms need is here: the store, where replies belong, and what a judge's procedure finds in it.
"""

from semece.store.derived import source_of
from semece.store.judge_replies import JudgeReplies, KeptJudge, keys_of, read_stored
from semece.store.keys import Keys, RequestTemplate, Slot, missing_slots, seed_base, set_failed_aside
from semece.store.run_store import FINAL, Store, StoredReply

__all__ = [
    "FINAL",
    "JudgeReplies",
    "KeptJudge",
    "Keys",
    "RequestTemplate",
    "Slot",
    "Store",
    "StoredReply",
    "keys_of",
    "missing_slots",
    "read_stored",
    "seed_base",
    "set_failed_aside",
    "source_of",
]
