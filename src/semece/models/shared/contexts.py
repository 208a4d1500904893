"""Prompts that are longer than a model's context: a failure of that request, not of the model."""

from __future__ import annotations

import json
import re

from semece.models import Call, Reply, Usage

CODE = "context_length_exceeded"
"""OpenAI's word for it, and the finish reason of such replies whoever refused."""

_WORDS = re.compile(
    r"maximum (?:context|prompt) length|context (?:length|window|limit|size)|prompt is too long"
    r"|(?:input token count|number of tokens allowed)|reduce the length of the (?:messages|prompt|input)",
    re.IGNORECASE,
)
"""How services say it that have no code for it."""

_LIMIT = re.compile(r"maximum (?:context|prompt) length (?:is|of) (\d[\d,]*)", re.IGNORECASE)


def is_too_long(sentence: str, *, max_tokens: int = 0) -> bool:
    """Tell whether a refusal is about the length of this prompt.

    Parameters
    ----------
    sentence : str
        The service's sentence, its code before it if there is one.
    max_tokens : int
        What was asked for: if no prompt leaves room for so many, the option is at fault and not this prompt.

    Examples
    --------
    >>> is_too_long("prompt is too long: 210000 tokens > 200000 maximum")
    True
    >>> is_too_long("This model's maximum context length is 4,096 tokens; you requested 5,020", max_tokens=5000)
    False
    """
    if CODE not in sentence and not _WORDS.search(sentence):
        return False
    limit = _LIMIT.search(sentence)
    return limit is None or max_tokens < int(limit[1].replace(",", ""))


def too_long(name: str, sentence: str, *, n: int = 1) -> Call:
    """Make n replies without a text of a refusal; nothing was paid for them.

    Parameters
    ----------
    name : str
        The model's spelling.
    sentence : str
        The service's sentence without secrets.
    n : int
        How many choices were asked for.

    Examples
    --------
    >>> too_long("openai/gpt-4o", "too long").replies[0].status
    'truncated'
    """
    reply = Reply("", "truncated", CODE, json.dumps({"error": sentence}, ensure_ascii=False))
    return Call((reply,) * n, Usage(0, 0), events=(f"{name}: a prompt is too long for its context: no answer",))
