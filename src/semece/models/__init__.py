"""Language models behind one protocol, opened by their spelling.

What the other rooms need is here: the protocol, and what the table of services says of a spelling.
"""

from semece.models.protocol import (
    BatchFailedError,
    BatchModel,
    BatchState,
    Call,
    Decoding,
    EncodedLine,
    LineResult,
    Message,
    Model,
    Reply,
    ReplyStatus,
    Request,
    UnknownBatchError,
    Usage,
)
from semece.models.providers import PROVIDERS, check_model, open_batches, open_model, service_of, spellings
from semece.models.shared.secrets import clear

__all__ = [
    "PROVIDERS",
    "BatchFailedError",
    "BatchModel",
    "BatchState",
    "Call",
    "Decoding",
    "EncodedLine",
    "LineResult",
    "Message",
    "Model",
    "Reply",
    "ReplyStatus",
    "Request",
    "UnknownBatchError",
    "Usage",
    "check_model",
    "clear",
    "open_batches",
    "open_model",
    "service_of",
    "spellings",
]
