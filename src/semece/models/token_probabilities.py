"""Log probabilities of tokens, as they stand in a raw reply: OpenAI's form, which llama.cpp has too."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDING = 1e-3
"""Services that compute with few bits tell log probabilities that are above 0 by less."""


class Token(NamedTuple):
    """A token of a reply.

    Parameters
    ----------
    text : str
        What it adds to the text.
    logprob : float
        Natural logarithm of its probability given what came before, <= 0.
    top : mapping of str to float
        The likeliest tokens at its place with theirs; empty if they were not asked for.
    """

    text: str
    logprob: float
    top: Mapping[str, float] = {}


def tokens_of(raw: str) -> tuple[Token, ...]:
    """Read the tokens of a raw reply; none if it has no log probabilities, or they cannot be read.

    Examples
    --------
    >>> tokens_of('{"logprobs": {"content": [{"token": "Paris", "logprob": -0.5}]}}')
    (Token(text='Paris', logprob=-0.5, top={}),)
    >>> tokens_of('{"message": {"content": "Paris"}}')
    ()
    """
    try:
        content = json.loads(raw)["logprobs"]["content"]
        return tuple(_token(each) for each in content)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return ()


def _token(each: Mapping[str, Any]) -> Token:
    top = {_text(one["token"]): _logprob(one["logprob"]) for one in each.get("top_logprobs") or ()}
    return Token(_text(each["token"]), _logprob(each["logprob"]), top)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a token is a text")
    return value


def _logprob(value: object) -> float:
    """Read a logarithm of a probability above 0; what is above 1 by more than rounding is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a log probability is a number")
    if not math.isfinite(value) or value > ROUNDING:
        raise ValueError("a log probability is finite and at most 0")
    return min(float(value), 0.0)


def answer_tokens(tokens: Sequence[Token], answer: str) -> tuple[Token, ...]:
    """Choose the tokens that write an answer: those that share a character with its last occurrence in the text.

    Returns
    -------
    tuple of Token
        None if the answer does not stand in the text as it is.

    Examples
    --------
    >>> tokens = [Token("Answer:", -0.1), Token(" Par", -0.2), Token("is", -0.3), Token("!", -0.4)]
    >>> [token.text for token in answer_tokens(tokens, "Paris")]
    [' Par', 'is']
    """
    start = "".join(token.text for token in tokens).rfind(answer) if answer else -1
    if start < 0:
        return ()
    chosen, place, end = [], 0, start + len(answer)
    for token in tokens:
        if place < end and place + len(token.text) > start:
            chosen.append(token)
        place += len(token.text)
    return tuple(chosen)
