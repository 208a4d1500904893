"""What a run may cost and has cost at most: the price that a cap needs, and where a cap starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from semece.errors import SemeceError
from semece.models import Usage, check_model
from semece.sampling.batch.ledger import Ledger, request_of
from semece.sampling.budget import known_price, most_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from semece.sampling.budget import Price
    from semece.sampling.settings import Settings
    from semece.store.run_store import Store


def price_of(settings: Settings, spelling: str) -> Price | None:
    """Look up the live price of a model; a budget in USD needs one.

    Raises
    ------
    SemeceError
        There is a budget in USD and no price.
    """
    price = known_price(spelling, settings.prices)
    if settings.max_cost is not None and price is None:
        raise SemeceError(
            f"the price of {spelling} is not known, so a budget in USD cannot be kept; cap tokens with "
            "--max-total-tokens"
        )
    return price


def check_priced(settings: Settings, spelling: str) -> None:
    """Refuse a model that nobody knows, and a budget in USD without its price.

    Raises
    ------
    SemeceError
        There is no such model, or there is a budget in USD and no price.
    """
    check_model(spelling)
    price_of(settings, spelling)


def spent_at_most(store: Store, price_of: Callable[[str], Price | None]) -> tuple[float, int]:
    """Add up what was paid, and the most of what may have been paid.

    What no price was known for counts at today's price of live calls. A call of which nobody said what it took, or that
    may have been served although no reply came, counts as the most that it could take; so does a batch whose results
    are lost. What is under way in batches is not in it.

    Parameters
    ----------
    store : Store
        The run file.
    price_of : callable
        From a model's spelling to its price; None: it counts as free.

    Returns
    -------
    tuple of float and int
        USD, and input and output tokens together.

    Examples
    --------
    >>> from semece.sampling.budget import Price
    >>> from semece.store.run_store import Store, StoredReply
    >>> with Store(":memory:", write=True) as store:
    ...     store.set_meta("identity", {"model": "x/m"})
    ...     store.append([StoredReply(b"k", "respond", "q", 0, "ok", call="c", input_tokens=100, output_tokens=10)])
    ...     store.flush()
    ...     spent_at_most(store, {"x/m": Price(0.01, 0.1)}.get)
    (2.0, 110)
    """
    cost, tokens = Ledger(store).held("lost")
    responds = (store.meta("identity") or {}).get("model", "")

    def priced(judge: str | None, usage: Usage) -> float:
        price = price_of(responds if judge is None else _model_of(judge))
        return 0.0 if price is None else price.of(usage)

    for judge, known, counted, asked, answered in store.bills():
        tokens += counted
        cost += known + (priced(judge, Usage(asked, answered)) if asked or answered else 0.0)
    for judge, request, choices in store.unbilled():
        most = most_tokens(replace(request_of(store.request(request)), n=choices))
        tokens += most.input_tokens + most.output_tokens
        cost += priced(judge, most)
    return cost, tokens


def _model_of(judge: str) -> str:
    """Give the model of a judge from the id that stands beside its replies, whatever its prompt was."""
    return judge.removeprefix("llm:").rsplit(";", 3)[0]
