# The names of this door, and where they are.

from .callable_model import CallableModel as CallableModel
from .embedded.weights import fetch as fetch
from .protocol import BatchFailedError as BatchFailedError
from .protocol import BatchModel as BatchModel
from .protocol import BatchState as BatchState
from .protocol import Call as Call
from .protocol import Decoding as Decoding
from .protocol import EncodedLine as EncodedLine
from .protocol import LineResult as LineResult
from .protocol import Message as Message
from .protocol import Model as Model
from .protocol import Reply as Reply
from .protocol import ReplyStatus as ReplyStatus
from .protocol import Request as Request
from .protocol import UnknownBatchError as UnknownBatchError
from .protocol import Usage as Usage
from .providers import PROVIDERS as PROVIDERS
from .providers import check_model as check_model
from .providers import open_batches as open_batches
from .providers import open_model as open_model
from .providers import service_of as service_of
from .providers import spellings as spellings
from .shared.secrets import clear as clear
