"""Commands that are printed to be typed again: whole, so that they continue the run, and without secrets."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from semece.models import address_variable, service_of, shown_address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.store import Store


def typed_again(words: Sequence[str]) -> str:
    """Write a command as it is typed; a base URL that holds a secret is left to a variable, which is said.

    Parameters
    ----------
    words : sequence of str
        The command.

    Examples
    --------
    >>> typed_again(["semece", "run", "--base-url", "http://127.0.0.1:8000/v1", "-o", "my run.db"])
    "semece run --base-url http://127.0.0.1:8000/v1 -o 'my run.db'"
    >>> typed_again(["semece", "run", "--base-url", "http://me:word-1@127.0.0.1:8000/v1"])
    'semece run --base-url "$BASE_URL"  # first set BASE_URL to the address: its secret parts are not printed'
    """
    written = [_written(word, before) for word, before in zip(words, ["", *words], strict=False)]
    note = "  # first set BASE_URL to the address: its secret parts are not printed"
    return " ".join(written) + (note if any('"$BASE_URL"' in word for word in written) else "")


def _written(word: str, before: str) -> str:
    """Write a word for a shell."""
    flag, _, address = word.partition("=")
    if before == "--base-url" and "***" in shown_address(word):
        return '"$BASE_URL"'
    if flag == "--base-url" and address and "***" in shown_address(address):
        return '--base-url="$BASE_URL"'
    return shlex.quote(word)


def where_asked(store: Store) -> tuple[list[str], list[str]]:
    """Say where the models of a run file were asked, where that is not their service's own address.

    Parameters
    ----------
    store : Store
        The run file.

    Returns
    -------
    tuple of list of str
        The environment that other models than the run's own need, as ``NAME=address``, and the option for its own.
    """
    own, before, words = (store.meta("identity") or {}).get("model"), [], []
    for model, address in sorted(store.meta("base_url", {}).items()):
        if address == service_of(model).address:
            continue
        if model == own:
            words += ["--base-url", address]
        elif "***" not in address:
            before.append(f"{address_variable(model)}={address}")
    return before, words
