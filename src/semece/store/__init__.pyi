# The names of this door, and where they are.

from .derived import source_of as source_of
from .judge_replies import JudgeReplies as JudgeReplies
from .judge_replies import KeptJudge as KeptJudge
from .judge_replies import keys_of as keys_of
from .judge_replies import read_stored as read_stored
from .keys import Keys as Keys
from .keys import Slot as Slot
from .keys import set_failed_aside as set_failed_aside
from .run_store import FINAL as FINAL
from .run_store import Store as Store
from .run_store import StoredReply as StoredReply
