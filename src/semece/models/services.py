"""What is known of a service: where it is, what it needs, what it can do."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Service:
    """A row of :data:`semece.models.providers.PROVIDERS`.

    Parameters
    ----------
    title : str
        Its name for people, and of its section in ``docs/providers.md``.
    example : str
        A model of it.
    address : str or None
        Where it is; None: only the environment or the user says.
    keys : tuple of str
        Environment variables that may hold its key; the first that is set counts. In a row of the table, where none
        are named, ``SERVICE_API_KEY`` under its own word.
    spelled : str
        How a model of it is spelled, after its word and a slash.
    about : str
        What ``semece models`` says of it; empty: its title, keys and extra.
    adapter : str
        Which adapter speaks to it.
    address_variable : str
        The environment variable of another address.
    extra : str or None
        The extra of this package that its adapter needs.
    choices : int
        Most choices of one request.
    cost : {'listed', 'free', 'unknown'}
        Whether ``genai-prices`` lists it, its calls cost nothing, or nobody knows.
    runs_here : bool
        Whether it runs in this process; the judge ``rules`` is its default.
    continues : bool
        Whether it continues a text instead of chatting.
    default_tokens : int
        Most tokens of a response if nothing is said.
    batches : bool
        Whether it has a batch interface that its adapter knows.
    one_model : bool
        Whether it has the model that is spelled so and no other.
    needs_name : bool
        Whether a spelling needs something after the slash.
    max_tokens, seed : str or None
        What it calls the most tokens of a reply, and the seed; None: it takes no seed.
    temperature_or_top_p : bool
        Whether it refuses the two together.
    top_logprobs : int or None
        Of how many likely tokens at a place it tells the log probabilities; None: it tells none.
    organizations : bool
        Whether ``OPENAI_ORG_ID`` and ``OPENAI_PROJECT_ID`` are about it.
    """

    title: str
    example: str = ""
    address: str | None = None
    keys: tuple[str, ...] = ()
    spelled: str = "NAME"
    about: str = ""
    adapter: Literal["openai", "anthropic", "google", "embedded", "fake"] = "openai"
    address_variable: str = ""
    extra: str | None = None
    choices: int = 1
    cost: Literal["listed", "free", "unknown"] = "listed"
    runs_here: bool = False
    continues: bool = False
    default_tokens: int = 1024
    batches: bool = False
    one_model: bool = False
    needs_name: bool = True
    max_tokens: str = "max_tokens"
    seed: str | None = "seed"
    temperature_or_top_p: bool = False
    top_logprobs: int | None = None
    organizations: bool = False

    @property
    def described(self) -> str:
        """What ``semece models`` says of it.

        Examples
        --------
        >>> Service("xAI", keys=("XAI_API_KEY",)).described
        'xAI (XAI_API_KEY)'
        """
        needs = [*self.keys[:1], *([f"extra '{self.extra}'"] if self.extra else [])]
        return self.about or f"{self.title} ({'; '.join(needs)})"


def is_loopback(address: str) -> bool:
    """Whether an address is on this machine.

    Examples
    --------
    >>> is_loopback("http://127.0.0.1:8000/v1"), is_loopback("http://localhost/v1"), is_loopback("https://api.x.ai/v1")
    (True, True, False)
    """
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
