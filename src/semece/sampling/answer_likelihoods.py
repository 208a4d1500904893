"""What replies tell of the probabilities of their tokens: of an answer, of an option, of true and false."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from semece.models import answer_tokens, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OPTIONS = tuple("ABCDEFGHIJ")
"""Letters that the options of a multiple choice have."""


class AnswerLikelihood(NamedTuple):
    """How likely a model was to write an answer.

    Parameters
    ----------
    logprob : float
        Of all its tokens together, <= 0.
    tokens : int
        How many there are.
    options : mapping of str to float
        If the answer is one letter: the log probabilities of the letters at its place.
    """

    logprob: float
    tokens: int
    options: Mapping[str, float] = {}


def answer_likelihood(raw: str, answer: str) -> AnswerLikelihood | None:
    """Read how likely an answer was; None if the reply does not tell, or the answer does not stand in it as it is.

    Parameters
    ----------
    raw, answer : str
        The reply as it came, and the answer that was read from it.

    Examples
    --------
    >>> answer_likelihood('{"logprobs": {"content": [{"token": " Paris", "logprob": -0.5}]}}', "Paris")
    AnswerLikelihood(logprob=-0.5, tokens=1, options={})
    """
    chosen = answer_tokens(tokens_of(raw), answer)
    if not chosen:
        return None
    options: dict[str, float] = {}
    if answer in OPTIONS and len(chosen) == 1:
        options = _letters({**chosen[0].top, chosen[0].text: chosen[0].logprob}, OPTIONS)
    return AnswerLikelihood(sum(token.logprob for token in chosen), len(chosen), options)


def truth_logprobs(raw: str) -> tuple[float, float] | None:
    """Read the log probabilities of true and false where a reply decides between (A) and (B), or the two words.

    Returns
    -------
    tuple of float or None
        Both <= 0; None if the reply does not tell those of both.
    """
    for token in tokens_of(raw):
        own = {**token.top, token.text: token.logprob}
        for pair in (("A", "B"), ("True", "False")):
            found = _letters(own, pair)
            if len(found) == 2:
                return found[pair[0]], found[pair[1]]
    return None


def _letters(tokens: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    """Find the log probabilities of names among tokens, with or without blank, bracket or full stop; the likeliest."""
    found: dict[str, float] = {}
    for text, logprob in tokens.items():
        name = text.strip(' ().\n"*')
        if name in names:
            found[name] = max(found.get(name, -inf), logprob)
    return found
