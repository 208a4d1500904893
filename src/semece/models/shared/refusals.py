"""Refusals that name an option: whether a service does not take it at all, or only not the value it was given."""

from __future__ import annotations

import re

NOT_CHOSEN = frozenset({"seed", "random_seed", "n", "response_format", "schema"})
"""Options that do not change what the replies are drawn from: left out whatever a refusal says of them."""

_NOT_TAKEN = re.compile(
    r"unsupported|(?:not|n't)(?: be)? (?:supported|permitted|allowed|available|enabled|accepted)"
    r"|(?:not|n't) (?:support|accept|take|allow)|(?:unknown|unrecognized|unexpected) (?:request )?"
    r"(?:name|parameter|argument|field|property|option)|unknown_parameter|extra (?:inputs|fields)|extra_forbidden"
    r"|cannot both|deprecated|\b(?:is|are) unknown",
    re.IGNORECASE,
)
"""How services say that they do not take an option."""

_OTHER_VALUES = re.compile(
    r"\b(?:supported|valid|allowed|accepted|possible|other) (?:\w+ )?(?:values?|levels?|range)\b|\bone of\b.*,"
    r"|\bbetween\b|\bat (?:most|least)\b|\b(?:less|greater|lower|higher) than\b|\bvalues? (?:above|below|outside)\b",
    re.IGNORECASE,
)
"""How services say which values of it they would take."""


def may_leave_out(name: str, sentence: str) -> bool:
    """Tell whether an option that a refusal names may be left out.

    A value that a person chose must not give way to the service's default in silence: it may only if the service takes
    no other value either.

    Parameters
    ----------
    name : str
        The option.
    sentence : str
        The service's sentence, its codes before it if there are any.

    Examples
    --------
    >>> may_leave_out("temperature", "Unsupported parameter: 'temperature' is not supported with this model.")
    True
    >>> may_leave_out("temperature", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2")
    False
    """
    if name in NOT_CHOSEN:
        return True
    return _NOT_TAKEN.search(sentence) is not None and _OTHER_VALUES.search(sentence) is None
