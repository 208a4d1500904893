"""What calls cost: prices, what was spent, and caps that hold under concurrency.

A call reserves the most it can cost before it is sent and settles what it did cost when it is back, so that the sum
of settled and reserved amounts never passes a cap. A call for which there is no room waits for those under way: they
seldom cost what they reserved.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

from semece.canonical_json import canonical
from semece.errors import BudgetError, ParseError, SemeceError, in_dollars
from semece.models import Usage, check_model, service_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from semece.models import Message, Request
    from semece.store import Store


@dataclass(frozen=True, slots=True)
class Price:
    """USD per token.

    Parameters
    ----------
    input, output : float
        USD per input token and per output token, >= 0.
    """

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        """USD for a usage."""
        return self.input * usage.input_tokens + self.output * usage.output_tokens


def read_prices(table: Mapping[str, object], where: str) -> dict[str, Price]:
    """Read the table ``[prices]`` of a file: by model, USD per million tokens.

    Parameters
    ----------
    table : mapping
        Spelling to ``{"input": USD, "output": USD}``.
    where : str
        The file, for the error.

    Raises
    ------
    ParseError
        A price is not spelled so, or negative.

    Examples
    --------
    >>> read_prices({"openai-api/ours/m": {"input": 0.5, "output": 2}}, "run.toml")
    {'openai-api/ours/m': Price(input=5e-07, output=2e-06)}
    """
    prices = {}
    for name, value in table.items():
        numbers = (
            [value["input"], value["output"]] if isinstance(value, dict) and set(value) == {"input", "output"} else []
        )
        if not numbers or not all(type(number) in {int, float} and 0 <= number < inf for number in numbers):
            raise ParseError(
                f"{where}: [prices] {name!r} must be {{ input = USD, output = USD }} per million tokens; got {value}"
            )
        prices[name] = Price(numbers[0] / 1e6, numbers[1] / 1e6)
    return prices


def known_price(spelling: str, overrides: Mapping[str, Price] | None = None, *, batch: bool = False) -> Price | None:
    """Look the price of a model up: the user's own, what runs here is free, else ``genai-prices``.

    Parameters
    ----------
    spelling : str
        The model.
    overrides : mapping of str to Price, optional
        By spelling.
    batch : bool
        The price in batches; an override holds for both.

    Returns
    -------
    Price or None
        None if nobody knows it.

    Examples
    --------
    >>> known_price("fake/?pmf=1")
    Price(input=0.0, output=0.0)
    """
    if overrides and spelling in overrides:
        return overrides[spelling]
    cost = service_of(spelling).cost
    if cost != "listed":
        return Price(0.0, 0.0) if cost == "free" else None
    service, _, name = spelling.partition("/")
    try:
        live = _listed_price(service, name)
        if not batch:
            return live
        cheaper = _listed_price(service, name, {"processing": "batch"})
    except LookupError:
        return None
    # a context that the price list does not know is ignored in silence: the live price then means unknown
    return None if cheaper == live else cheaper


def _listed_price(service: str, name: str, context: dict[str, str] | None = None) -> Price:
    """Look a price up for a prompt of a usual size: long prompts have their own."""
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    tokens = 1000
    bought, sold = (
        calc_price(PricedUsage(**usage), model_ref=name, provider_id=service, price_context=context).total_price
        for usage in ({"input_tokens": tokens, "output_tokens": 0}, {"input_tokens": 0, "output_tokens": tokens})
    )
    return Price(float(bought) / tokens, float(sold) / tokens)


def estimated_tokens(text: str) -> int:
    """Estimate the tokens of a text: UTF-8 bytes / 4, one per character for CJK.

    Examples
    --------
    >>> estimated_tokens("What is the capital of France?"), estimated_tokens("日本の首都")
    (8, 5)
    """
    wide = sum(1 for character in text if "\u3040" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3")
    rest = len(text.encode("utf-8", "replace")) - 3 * wide
    return wide + (rest + 3) // 4


def prompt_tokens(messages: tuple[Message, ...]) -> int:
    """Estimate the tokens of a prompt, with four for each message's frame."""
    return sum(estimated_tokens(message.content) + 4 for message in messages)


def most_tokens(request: Request) -> Usage:
    """Bound the tokens of a request: a token per byte of its prompt and schema, and the most of every choice.

    Examples
    --------
    >>> from semece.models import Decoding, Message, Request
    >>> most_tokens(Request((Message("user", "Capital of France?"),), Decoding(max_tokens=100), n=8))
    Usage(input_tokens=26, output_tokens=800)
    """
    texts = [message.content for message in request.messages]
    if request.decoding.schema is not None:
        texts.append(canonical(dict(request.decoding.schema)))
    asked = sum(len(text.encode("utf-8", "replace")) + 8 for text in texts)
    return Usage(asked, request.n * request.decoding.max_tokens)


@dataclass(slots=True, kw_only=True, eq=False)
class Budget:
    """Hard caps on money and tokens.

    Parameters
    ----------
    max_cost : float or None
        USD; needs a known price.
    max_total_tokens : int or None
        Input and output tokens together.
    spent_cost, spent_tokens : float, int
        What was spent on the same run, by earlier invocations and so far.

    Examples
    --------
    >>> budget = Budget(max_total_tokens=100, spent_tokens=40)
    >>> budget.tokens
    40
    """

    max_cost: float | None = None
    max_total_tokens: int | None = None
    spent_cost: float = 0.0
    spent_tokens: int = 0
    _reserved_cost: float = field(default=0.0, init=False)
    _reserved_tokens: int = field(default=0, init=False)
    _calls: int = field(default=0, init=False)
    _landed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    @property
    def cost(self) -> float | None:
        """USD spent, if money is capped."""
        return self.spent_cost if self.max_cost is not None else None

    @property
    def tokens(self) -> int:
        """Tokens spent."""
        return self.spent_tokens

    def reserve(self, request: Request, price: Price | None) -> tuple[float, int]:
        """Set the most a request can cost aside.

        Raises
        ------
        BudgetError
            It could pass a cap.
        """
        most = most_tokens(request)
        tokens = most.input_tokens + most.output_tokens
        cost = 0.0 if price is None else price.of(most)
        taken = self.spent_tokens + self._reserved_tokens + tokens
        if self.max_total_tokens is not None and taken > self.max_total_tokens:
            raise BudgetError(
                f"the cap of {self.max_total_tokens:,} tokens is reached: {self.spent_tokens:,} are spent and the "
                f"next call may take {tokens:,}",
                tokens=taken,
            )
        dollars = self.spent_cost + self._reserved_cost + cost
        if self.max_cost is not None and dollars > self.max_cost:
            raise BudgetError(
                f"the cap of ${self.max_cost:g} is reached: {in_dollars(self.spent_cost, 4)} are spent and the next "
                f"call may cost {in_dollars(cost, 4)}",
                cost=dollars,
            )
        self.hold((cost, tokens))
        return cost, tokens

    def hold(self, reserved: tuple[float, int]) -> None:
        """Set aside again what was reserved for something that is still under way."""
        self._reserved_cost += reserved[0]
        self._reserved_tokens += reserved[1]

    def settle(self, reserved: tuple[float, int], cost: float | None, tokens: int | None) -> None:
        """Replace a reservation by what the call did cost; what is unknown counts as reserved."""
        self._reserved_cost -= reserved[0]
        self._reserved_tokens -= reserved[1]
        self.spent_cost += reserved[0] if cost is None else cost
        self.spent_tokens += reserved[1] if tokens is None else tokens

    async def admit(self, request: Request, price: Price | None) -> tuple[float, int]:
        """Reserve for a call that is sent now; :meth:`land` must follow. Waits while calls under way may leave room.

        Raises
        ------
        BudgetError
            It could pass a cap although no call is under way.
        """
        while True:
            try:
                reserved = self.reserve(request, price)
            except BudgetError:
                if not self._calls:
                    raise
                await self._landed.wait()
            else:
                self._calls += 1
                return reserved

    def land(self, reserved: tuple[float, int], cost: float | None, tokens: int | None) -> None:
        """Settle a call that was admitted, and wake those that wait for room."""
        self.settle(reserved, cost, tokens)
        self._calls -= 1
        landed, self._landed = self._landed, asyncio.Event()
        landed.set()


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices that a run goes by.

    Parameters
    ----------
    own : mapping of str to Price
        The user's, by model; they come before the known ones.
    required : bool
        Whether there is a budget in USD, which cannot be kept without a price.

    Examples
    --------
    >>> PriceList({"x/m": Price(1e-6, 2e-6)}).of("x/m").output
    2e-06
    """

    own: Mapping[str, Price] = field(default_factory=dict)
    required: bool = False

    def known(self, spelling: str, *, batch: bool = False) -> Price | None:
        """Look up a price; None if nobody knows it."""
        return known_price(spelling, self.own, batch=batch)

    def of(self, spelling: str) -> Price | None:
        """Look up the live price of a model that will be asked.

        Raises
        ------
        SemeceError
            There is a budget in USD and no price.
        """
        price = self.known(spelling)
        if self.required and price is None:
            raise SemeceError(
                f"the price of {spelling} is not known, so a budget in USD cannot be kept; cap tokens with "
                "--max-total-tokens"
            )
        return price

    def check(self, spelling: str) -> None:
        """Refuse a model that nobody knows, and a budget in USD without its price.

        Raises
        ------
        SemeceError
            There is no such model, or there is a budget in USD and no price.
        """
        check_model(spelling)
        self.of(spelling)


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
    >>> from semece.store.run_store import Store, StoredReply
    >>> with Store(":memory:", write=True) as store:
    ...     store.set_meta("identity", {"model": "x/m"})
    ...     store.append([StoredReply(b"k", "respond", "q", 0, "ok", call="c", input_tokens=100, output_tokens=10)])
    ...     store.flush()
    ...     spent_at_most(store, {"x/m": Price(0.01, 0.1)}.get)
    (2.0, 110)
    """
    from semece.sampling.batch.ledger import Ledger, request_of  # a run file is not needed to know the options

    cost, tokens = Ledger(store).held("lost")
    responds = (store.meta("identity") or {}).get("model", "")

    def priced(judge: str | None, usage: Usage) -> float:
        price = price_of(responds if judge is None else judging_model(judge))
        return 0.0 if price is None else price.of(usage)

    for judge, known, counted, asked, answered in store.bills():
        tokens += counted
        cost += known + (priced(judge, Usage(asked, answered)) if asked or answered else 0.0)
    for judge, request, choices in store.unbilled():
        most = most_tokens(replace(request_of(store.request(request)), n=choices))
        tokens += most.input_tokens + most.output_tokens
        cost += priced(judge, most)
    return cost, tokens


def judging_model(judge: str) -> str:
    """Give the model of a judge from the id that stands beside its replies, whatever its prompt was."""
    return judge.removeprefix("llm:").rsplit(";", 3)[0]
