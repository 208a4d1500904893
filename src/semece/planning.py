"""What a run will ask and cost, before it does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from semece.budget import estimated_tokens, known_price, prompt_tokens
from semece.datasets import open_dataset
from semece.judges.llm import LLMJudge
from semece.opening import open_judges
from semece.pipeline import Asking, missing_slots
from semece.settings import Settings, check_settings
from semece.store import Store

if TYPE_CHECKING:
    from semece.records import Question

ANSWER_TOKENS = 60
"""Tokens of a response, until some are stored."""

DISTINCT_SHARE, CLASSES, STRING_TOKENS = 0.4, 6, 10
"""Share of distinct strings among the answers, classes of a question, tokens of a string: for judges that cost."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage will ask.

    Parameters
    ----------
    name : str
        ``respond``, ``partition`` or ``grade``.
    model : str
        Who is asked.
    calls : int
        Requests, without retries.
    input_tokens, output_tokens : int
        Estimates.
    cost : float or None
        USD, live; None if the price is not known.
    """

    name: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will ask.

    Parameters
    ----------
    stages : tuple of Stage
        In order; a judge that costs nothing has none.
    answer_tokens : int
        Tokens per response that were assumed.
    measured : bool
        Whether that is the median of stored replies.
    """

    stages: tuple[Stage, ...]
    answer_tokens: int
    measured: bool


def plan(settings: Settings, path: str | Path, *, expected_tokens: int | None = None) -> Plan:
    """Plan what is missing of a run; nothing is asked and nothing written.

    Parameters
    ----------
    settings : Settings
        The run.
    path : str or Path
        Its file; what is stored there is not asked again.
    expected_tokens : int, optional
        Tokens per response, instead of the median of stored replies.

    Returns
    -------
    Plan
        Per stage.
    """
    check_settings(settings)
    judges = open_judges(*settings.judges(), prompt=settings.judge_prompt)
    data = open_dataset(settings.dataset)
    chosen = [
        q for _, q in data.select(limit=settings.limit, sample=settings.sample, ids=settings.ids, seed=settings.seed)
    ]
    exists = Path(path).exists()
    with Store(path) if exists else Store(":memory:", write=True) as store:
        stored = _stored_tokens(store, chosen)
        tokens = expected_tokens or stored or min(ANSWER_TOKENS, settings.decoding.max_tokens)
        stages = [_respond(store, settings, chosen, tokens)]
    for name, judge in zip(("partition", "grade"), judges, strict=True):
        if isinstance(judge, LLMJudge):
            stages.append(_judge(name, judge.model, settings, chosen))
    return Plan(tuple(stages), tokens, stored is not None and expected_tokens is None)


def _stored_tokens(store: Store, questions: list[Question]) -> int | None:
    """Median tokens of the first replies that are stored."""
    texts = [reply.text for q in questions[:50] for reply in store.replies("respond", q.id) if reply.status == "ok"]
    return round(median(map(estimated_tokens, texts))) if texts else None


def _respond(store: Store, settings: Settings, questions: list[Question], tokens: int) -> Stage:
    asking = Asking(settings.model, settings.response_prompt, settings.decoding, settings.seed)
    size = choices_per_request(settings.model)
    calls = asked = answers = 0
    for question in questions:
        missing = sum(map(len, missing_slots(store, asking, question, settings.n)))
        requests = -(-missing // size)
        calls += requests
        asked += requests * prompt_tokens(asking.prompt.messages(question))
        answers += missing
    cost = _cost(settings, settings.model, asked, answers * tokens)
    return Stage("respond", settings.model, calls, asked, answers * tokens, cost)


def choices_per_request(spelling: str) -> int:
    """How many choices a service gives in one request.

    Examples
    --------
    >>> choices_per_request("openai/gpt-4o-mini"), choices_per_request("anthropic/claude-sonnet-4-5")
    (8, 1)
    """
    service = spelling.partition("/")[0]
    if service in {"local", "gguf", "fake"}:
        return 50
    from semece.models.openai_compatible import OTHER, SERVICES

    if service == "openai-api":
        return OTHER.max_choices
    return SERVICES[service].max_choices if service in SERVICES else 1


def _judge(name: str, model: str, settings: Settings, questions: list[Question]) -> Stage:
    strings = max(1, round(settings.n * DISTINCT_SHARE))
    head = {"partition": 250, "grade": 300}[name]
    texts = sum(estimated_tokens(q.text) + sum(map(estimated_tokens, q.references)) for q in questions)
    if name == "partition":
        calls = len(questions)
        asked, answered = texts + calls * (head + strings * STRING_TOKENS), calls * strings * 3
    else:
        classes = CLASSES if settings.grade_classes == "all" else 1
        calls = len(questions) * classes
        asked, answered = texts * classes + calls * head, calls * 10
    return Stage(name, model, calls, asked, answered, _cost(settings, model, asked, answered))


def _cost(settings: Settings, model: str, asked: int, answered: int) -> float | None:
    price = known_price(model, settings.prices)
    return None if price is None else price.input * asked + price.output * answered


def plan_text(made: Plan) -> str:
    """Say a plan: a line per stage, the total, the assumption."""
    lines = [
        f"{s.name:9s}  {s.model}: {s.calls:,} calls, {s.input_tokens:,} tokens in, {s.output_tokens:,} out, "
        f"{_usd(s.cost)}"
        for s in made.stages
    ]
    costs = [s.cost for s in made.stages]
    total = None if None in costs else sum(cost for cost in costs if cost is not None)
    how = "the median of the stored replies" if made.measured else "an assumption; --expected-tokens sets it"
    return "\n".join([*lines, f"together   {_usd(total)}", f"{made.answer_tokens} tokens per response: {how}"])


def _usd(cost: float | None) -> str:
    return "price unknown" if cost is None else f"${cost:,.2f}"
