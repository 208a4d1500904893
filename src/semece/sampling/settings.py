"""The option table: everything a run is told, one field a row, and the names of run files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from semece.datasets import BENCHMARKS
from semece.errors import SemeceError
from semece.judges import METHODS, PROMPTS, with_method, with_room
from semece.models import Decoding, check_model, is_address, keep_secret, secrets_of, service_of, shown_address
from semece.prompts import ELICITS, ResponsePrompt, response_prompt
from semece.sampling.budget import Budget, PriceList
from semece.sampling.options import Rule, at_least, lines_in, one_of, option, options_of, text_in
from semece.sampling.patience import BatchPatience, Patience

if TYPE_CHECKING:
    from collections.abc import Mapping

    from semece.sampling.budget import Price

WHICH, ASK, JUDGES, CALLS, CAPS = "Which questions", "How to ask", "Judges", "Calls", "Caps"
"""Headings of the help."""

AUTO = "auto"
"""The spelling of as many calls at once as bring most answers a second."""

MOST_RESPONSES = 20_000
"""The most responses to a question: the estimators treat no more exactly."""

MOST_CALLS = 10_000
"""The most calls at once that may be asked for: each open call is a connection, which the system counts as a file."""

asking = partial(option, panel=ASK, study="models", repeated=True)
"""Make a row of what is asked, and so must be repeated to continue a run."""

judging = partial(option, panel=JUDGES, study="judge", repeated=True)
"""Make a row of who judges, and how."""


LONGEST_SHARD = 200
"""Characters; longer numbers count nothing."""


def _is_shard(text: str) -> bool:
    """Whether a text is k/K with 1 <= k <= K."""
    part, _, parts = text.partition("/")
    numbers = part.isdecimal() and parts.isdecimal() and len(text) <= LONGEST_SHARD
    return numbers and 1 <= int(part) <= int(parts)


def _seed_of(typed: str | int) -> int | None:
    """Read a seed: a whole number, or none."""
    if typed == "none":
        return None
    try:
        return int(typed)
    except ValueError:
        raise SemeceError(f"seed must be a whole number or none; got {typed}") from None


def _is_calls(calls: int | str) -> bool:
    """Whether there may be so many calls at once."""
    return calls == AUTO or (isinstance(calls, int) and 1 <= calls <= MOST_CALLS)


def _calls_of(typed: str | int) -> int | str:
    """Read how many calls at once: a whole number, or auto; what is neither is refused by the rule."""
    try:
        return int(typed)
    except ValueError:
        return AUTO if str(typed).casefold() == AUTO else typed


def _is_pattern(text: str) -> bool:
    """Whether a text is a regular expression."""
    try:
        re.compile(text)
    except re.error:
        return False
    return True


def _with_its_secrets_kept(address: str) -> str:
    """Take an address; what is secret in it will not be printed."""
    keep_secret(secrets_of(address, ""))
    return address


def _as_it_may_be_seen(address: str | None) -> str | None:
    """Write an address as an error may name it."""
    return None if address is None else shown_address(address)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How models are asked, whatever they are asked for.

    Parameters
    ----------
    base_url, timeout, patience
        How the calls are made.
    concurrency : int or 'auto'
        How many calls at once, from 1 to 10,000; ``'auto'`` finds out how many bring most answers a second.
    batch : bool
        Ask through the provider's batch interface.
    no_lock : bool
        Write the run file without locks.
    retry_failed : bool
        Ask again for what was delivered without a usable answer.
    max_cost, max_total_tokens : float or None, int or None
        Hard caps, USD and tokens.
    prices : mapping of str to Price
        The user's own prices by model, before the known ones.
    batch_patience : BatchPatience
        How long to wait for batches.
    """

    base_url: str | None = option(
        None,
        help="Where an OpenAI-compatible service is.",
        panel=CALLS,
        study="models",
        rule=Rule("http:// or https:// and a host", is_address),
        read=_with_its_secrets_kept,
        write=_as_it_may_be_seen,
    )
    concurrency: int | str = option(
        32,
        help="Calls at once; auto: as many as bring most answers a second.",
        panel=CALLS,
        rule=Rule(f"from 1 to {MOST_CALLS:,}, or auto", _is_calls),
        study="models",
        kind=str,
        also=int,
        read=_calls_of,
    )
    timeout: float = option(
        600.0, help="Seconds per call.", panel=CALLS, rule=Rule("above 0", lambda s: s > 0), study="models"
    )
    patience: Patience = option(
        Patience(),
        help="Failures in a row before a call is left.",
        panel=CALLS,
        rule=at_least(1),
        study="models",
        name="attempts",
        kind=int,
        read=Patience,
        write=attrgetter("attempts"),
    )
    batch: bool = option(False, help="In batches: about half the price, up to a day.", panel=CALLS, study="models")
    no_lock: bool = option(False, help="Where the disk has no locks, and nobody else writes the file.", panel=CALLS)
    retry_failed: bool = option(False, help="Ask again where a reply held no usable answer.", panel=CALLS)
    max_cost: float | None = option(
        None, help="Most USD in all.", panel=CAPS, rule=Rule("above 0 (USD)", lambda usd: 0 < usd < inf), name="budget"
    )
    max_total_tokens: int | None = option(None, help="Most tokens in all.", panel=CAPS, rule=at_least(1))
    prices: Mapping[str, Price] = field(default_factory=dict)
    batch_patience: BatchPatience = field(default_factory=BatchPatience)

    @property
    def price_list(self) -> PriceList:
        """The prices, which a budget in USD needs."""
        return PriceList(self.prices, required=self.max_cost is not None)

    def budget(self, cost: float, tokens: int) -> Budget:
        """Cap what is spent, with the USD and tokens that were spent before."""
        return Budget(
            max_cost=self.max_cost, max_total_tokens=self.max_total_tokens, spent_cost=cost, spent_tokens=tokens
        )

    @property
    def address(self) -> str | None:
        """The base URL as it may be seen, without user name, password, query and keys in its path.

        Examples
        --------
        >>> CallSettings(base_url="http://me:secret@127.0.0.1:8000/v1?key=secret").address
        'http://***@127.0.0.1:8000/v1?***'
        """
        return _as_it_may_be_seen(self.base_url)


@dataclass(frozen=True, slots=True)
class Settings(CallSettings):
    """Everything a run is told.

    Parameters
    ----------
    model, dataset : str
        Spellings.
    n : int
        Responses per question.
    limit, sample, ids
        Which questions: the first so many, so many at random, exactly these; None means all.
    shard : str or None
        ``k/K``: of those only a K-th, the k-th, chosen by a hash of the question's id; K runs make the whole.
    seed : int
        Of the responses (and of `sample`).
    prompt : str or None
        Text of the user's own prompt.
    elicit : {'percent', 'none', 'linguistic', 'linguistic-mielke'}
        Whether a confidence is asked for, and how.
    answer_pattern : str or None
        A regular expression that finds the answer in a response; the last match counts. It may change on resume.
    temperature, top_p, max_tokens, reasoning_effort
        Decoding; max_tokens None means 1024, and 64 for the embedded model.
    logprobs : int or None
        Whether replies keep the log probability of each token, and of how many likely ones at its place.
    judge, partition_judge, grade_judge : str or None
        Spellings; the first sets both stages. None: ``rules`` for models that run here.
    judge_prompt : str
        Which texts instruct a judge that is a model.
    partition_method : {'classes', 'pairs'}
        How a judge that is a model groups: a call lists the classes of all answers, or each compares two.
    judge_max_tokens : int or None
        Most tokens of one reply of a judge that is a model; None: 2,048. One that reasons first may need more.
    grade_classes : {'all', 'mode'}
        Which classes are graded.
    not_attempted : {'incorrect', 'exclude'}
        What a non-answer counts as.
    min_responses : int or None
        Least usable responses of a question that enters the metrics; None: half of n, at least 2.
    """

    model: str = option(
        help="A model's spelling, such as local/smollm2; see 'semece models'.", short="-m", study="models"
    )
    dataset: str = option(
        help="A name such as simpleqa, a file, or NAME=FILE; see 'semece datasets'.", short="-d", study="datasets"
    )
    n: int = option(
        50,
        help="Responses per question.",
        rule=Rule(f"from 1 to {MOST_RESPONSES:,}", lambda n: 1 <= n <= MOST_RESPONSES),
        study="study",
        repeated=True,
    )
    limit: int | None = option(
        None, help="Only the first so many.", panel=WHICH, rule=at_least(1), study="datasets", repeated=True
    )
    sample: int | None = option(
        None, help="So many at random.", panel=WHICH, rule=at_least(1), study="datasets", repeated=True
    )
    ids: tuple[str, ...] | None = option(
        None, help="A file with one id a line.", panel=WHICH, study="datasets", kind=Path, read=lines_in
    )
    shard: str | None = option(
        None,
        help="k/K: only the k-th of K parts; each has a run file of its own.",
        panel=WHICH,
        rule=Rule("k/K with 1 <= k <= K, such as 3/20", _is_shard),
        repeated=True,
    )
    seed: int | None = option(
        0,
        help="Of responses and of --sample; none: send none, as servers that draw many at once like it.",
        panel=WHICH,
        study="study",
        repeated=True,
        kind=str,
        also=int,
        read=_seed_of,
        write=lambda seed: "none" if seed is None else str(seed),
    )
    prompt: str | None = option(
        None, help="Your own prompt: a text with {question}.", panel=ASK, study="models", kind=Path, read=text_in
    )
    elicit: str = asking(
        "percent",
        help="percent: ask for a confidence; linguistic, linguistic-mielke: in words; none: do not.",
        rule=one_of(*ELICITS),
    )
    answer_pattern: str | None = asking(
        None,
        help="A regular expression that finds the answer: its group 'answer', its first group, or all of it.",
        rule=Rule("a regular expression", _is_pattern),
    )
    temperature: float | None = asking(
        1.0, help="Sampling temperature.", short="-t", rule=Rule("0 to 2", lambda heat: 0 <= heat <= 2)
    )
    top_p: float | None = asking(
        1.0, help="Nucleus mass.", rule=Rule("above 0 and at most 1", lambda mass: 0 < mass <= 1)
    )
    max_tokens: int | None = asking(None, help="Per response; 1024, embedded models 64.", rule=at_least(1))
    reasoning_effort: str | None = asking(None, help="Passed to the provider.")
    logprobs: int | None = asking(
        None,
        help="Keep each token's log probability, and of so many likely ones: 0 to 20.",
        rule=Rule("0 to 20", lambda top: 0 <= top <= 20),
    )
    judge: str | None = judging(None, help="rules, exact, math, or a model's spelling.", short="-j")
    partition_judge: str | None = judging(None, help="Only for grouping.", study="judge.partition")
    grade_judge: str | None = judging(None, help="Only for grading.", study="judge.grade")
    judge_prompt: str = judging(
        "default", help="default, strict or loose.", rule=one_of(*PROMPTS), study="judge.prompt"
    )
    partition_method: str = judging(
        "classes",
        help="How a model groups: classes lists all, pairs compares two answers a call.",
        rule=one_of(*METHODS),
        study="judge.method",
    )
    judge_max_tokens: int | None = judging(
        None, help="Per reply of a judge; 2048.", rule=at_least(1), study="judge.max_tokens"
    )
    grade_classes: str = judging("all", help="all, or mode: only the most frequent.", rule=one_of("all", "mode"))
    not_attempted: str = judging("incorrect", help="incorrect, or exclude.", rule=one_of("incorrect", "exclude"))
    min_responses: int | None = judging(None, help="Least usable responses; half of n.", rule=at_least(2))

    @property
    def calls(self) -> CallSettings:
        """The part that says how models are asked."""
        return CallSettings(**{each.name: getattr(self, each.name) for each in fields(CallSettings)})

    @property
    def embedded(self) -> bool:
        """Whether the model continues text instead of chatting."""
        return service_of(self.model).continues

    @property
    def decoding(self) -> Decoding:
        """The options of every response, with the grammar of the prompt."""
        tokens = self.max_tokens or service_of(self.model).default_tokens
        grammar = self.response_prompt.grammar
        return Decoding(self.temperature, self.top_p, tokens, self.reasoning_effort, grammar)

    @property
    def response_prompt(self) -> ResponsePrompt:
        """The prompt of every response."""
        style = "completion" if self.embedded else "chat"
        prompt = response_prompt(self.elicit, style=style, text=self.prompt)  # type: ignore[arg-type]
        return replace(prompt, pattern=self.answer_pattern)

    def judges(self) -> tuple[str, str]:
        """Spell the judges of the two stages; a model with how it groups and the limit on its replies, if they are set.

        Raises
        ------
        SemeceError
            None is named, the dataset has none of its own, and the model does not run here.
        """
        fallback = self.judge
        if fallback is None and (self.partition_judge is None or self.grade_judge is None):
            fallback = default_judge(self.model, self.dataset)
        grouping, grading = self.partition_judge or str(fallback), self.grade_judge or str(fallback)
        grouping = with_method(grouping, self.partition_method)
        return with_room(grouping, self.judge_max_tokens), with_room(grading, self.judge_max_tokens)

    def words(self) -> list[str]:
        """Spell the options that are not the defaults, as the command line takes them.

        Prompt and ids come from files that only their owner knows; the base URL may hold a key and is left out.

        Examples
        --------
        >>> Settings("fake/?pmf=1", "starter", limit=2, temperature=0.5).words()
        ['--limit', '2', '--temperature', '0.5']
        """
        words = []
        for row in sorted(options_of(Settings), key=lambda row: row.panel == ASK):  # how to ask is spelled last
            value = row.write(getattr(self, row.field))
            if row.repeated and value != row.default:
                words += [row.flags[0], str(value)]
        words += ["--prompt", "THE_SAME_PROMPT_FILE"] if self.prompt is not None else []
        words += ["--ids", "THE_SAME_IDS_FILE"] if self.ids is not None else []
        return words


def default_judge(model: str, dataset: str = "") -> str:
    """Name the judge of a dataset that has one, or else of a model that runs here; for others it must be named.

    Raises
    ------
    SemeceError
        The model does not run here.

    Examples
    --------
    >>> default_judge("openai/gpt-4o-mini", "math-500"), default_judge("fake/?pmf=1", "starter")
    ('math', 'rules')
    """
    check_model(model)
    known = BENCHMARKS.get(dataset.partition("=")[0])
    if known is not None and known.judge is not None:
        return known.judge
    if service_of(model).runs_here:
        return "rules"
    raise SemeceError(f"name a judge: --judge rules (free) or --judge {model}")


def default_path(settings: Settings) -> Path:
    """Name the run file after dataset, model and shard.

    Examples
    --------
    >>> str(default_path(Settings("openai/gpt-4o", "starter")))
    'runs/starter--openai-gpt-4o.db'
    >>> str(default_path(Settings("openai/gpt-4o", "starter", shard="3/20")))
    'runs/starter--openai-gpt-4o--3-20.db'
    """
    part = f"--{settings.shard}" if settings.shard else ""
    return Path("runs") / file_name(dataset_name(settings.dataset), settings.model + part)


def dataset_name(spelling: str) -> str:
    """Name a dataset by its spelling.

    Examples
    --------
    >>> dataset_name("simpleqa"), dataset_name("mine=data/questions.jsonl"), dataset_name("data/questions.jsonl")
    ('simpleqa', 'mine', 'questions')
    """
    named, _, path = spelling.rpartition("=")
    return named or Path(path).stem


def file_name(dataset: str, model: str) -> str:
    """Name a run file; other characters than letters, digits and ``._-`` become ``-``.

    Examples
    --------
    >>> file_name("starter", "fake/?pmf=1")
    'starter--fake--pmf-1.db'
    """
    return f"{safe_name(f'{dataset}--{model}')}.db"


def safe_name(text: str) -> str:
    """Replace what may not be part of a file's name everywhere."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in text)
