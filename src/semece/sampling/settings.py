"""Everything a run is told, and what of it a run file may not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from semece.errors import SemeceError
from semece.judges import PROMPTS, with_room
from semece.models import Decoding, check_model, service_of
from semece.prompts import ResponsePrompt, response_prompt
from semece.sampling.batch.courier import BatchPatience
from semece.sampling.budget import PriceList
from semece.sampling.live_calls import Patience
from semece.store.run_store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from semece.datasets import Dataset
    from semece.records import Question
    from semece.sampling.budget import Price


SPELLED = (
    *("n", "limit", "sample", "seed", "judge", "partition_judge", "grade_judge", "judge_prompt", "judge_max_tokens"),
    *("grade_classes", "not_attempted", "min_responses"),
    *("elicit", "temperature", "top_p", "max_tokens", "reasoning_effort"),
)
"""Fields that the command which continues a run must repeat."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is told.

    Parameters
    ----------
    model, dataset : str
        Spellings.
    n : int
        Responses per question.
    limit, sample, ids
        Which questions: the first so many, so many at random, exactly these; None means all.
    seed : int
        Of the responses (and of `sample`).
    judge, partition_judge, grade_judge : str or None
        Spellings; the first sets both stages. None: ``rules`` for models that run here.
    judge_prompt : str
        Which texts instruct a judge that is a model.
    judge_max_tokens : int or None
        Most tokens of one reply of a judge that is a model; None: 2,048. One that reasons first may need more.
    grade_classes : {'all', 'mode'}
        Which classes are graded.
    not_attempted : {'incorrect', 'exclude'}
        What a non-answer counts as.
    min_responses : int or None
        Least usable responses of a question that enters the metrics; None: half of n, at least 2.
    prompt : str or None
        Text of the user's own prompt.
    elicit : {'percent', 'none'}
        Whether a confidence is asked for.
    temperature, top_p, max_tokens, reasoning_effort
        Decoding; max_tokens None means 1024, and 64 for the embedded model.
    base_url, timeout, concurrency, patience
        How the calls are made.
    max_cost, max_total_tokens : float or None, int or None
        Hard caps, USD and tokens.
    prices : mapping of str to Price
        The user's own prices by model, before the known ones.
    batch : bool
        Ask through the provider's batch interface.
    batch_patience : BatchPatience
        How long to wait for batches.
    retry_failed : bool
        Ask again for what was delivered without a usable answer.
    """

    model: str
    dataset: str
    n: int = 50
    limit: int | None = None
    sample: int | None = None
    ids: tuple[str, ...] | None = None
    seed: int = 0
    judge: str | None = None
    partition_judge: str | None = None
    grade_judge: str | None = None
    judge_prompt: str = "default"
    judge_max_tokens: int | None = None
    grade_classes: str = "all"
    not_attempted: str = "incorrect"
    min_responses: int | None = None
    prompt: str | None = None
    elicit: str = "percent"
    temperature: float | None = 1.0
    top_p: float | None = 1.0
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    base_url: str | None = None
    timeout: float = 600.0
    concurrency: int = 32
    patience: Patience = field(default_factory=Patience)
    max_cost: float | None = None
    max_total_tokens: int | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    batch: bool = False
    batch_patience: BatchPatience = field(default_factory=BatchPatience)
    retry_failed: bool = False

    @property
    def price_list(self) -> PriceList:
        """The prices, which a budget in USD needs."""
        return PriceList(self.prices, required=self.max_cost is not None)

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
        return response_prompt(self.elicit, style=style, text=self.prompt)  # type: ignore[arg-type]

    @property
    def address(self) -> str | None:
        """The base URL without user name, password and query, where a key may stand.

        Examples
        --------
        >>> Settings("vllm/m", "starter", base_url="http://me:secret@127.0.0.1:8000/v1?key=secret").address
        'http://127.0.0.1:8000/v1'
        """
        if self.base_url is None:
            return None
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def judges(self) -> tuple[str, str]:
        """Spell the judges of the two stages, with the room that those which are models have.

        Raises
        ------
        SemeceError
            None is named and the model does not run here.
        """
        fallback = self.judge
        if fallback is None and (self.partition_judge is None or self.grade_judge is None):
            fallback = default_judge(self.model)
        grouping, grading = self.partition_judge or str(fallback), self.grade_judge or str(fallback)
        return with_room(grouping, self.judge_max_tokens), with_room(grading, self.judge_max_tokens)

    def choose(self, dataset: Dataset, path: str | Path | Store | None = None) -> list[tuple[int, Question]]:
        """Select the questions, with their positions.

        Parameters
        ----------
        dataset : Dataset
            From which.
        path : str, Path or Store, optional
            The run file: one that was begun with the same ``sample`` keeps its questions, whichever version drew them.
        """
        begun = self._begun(path) if path is not None and self.sample is not None and self.ids is None else []
        if begun and {q.id for q in dataset.questions}.issuperset(begun):
            return dataset.select(ids=begun)
        return dataset.select(limit=self.limit, sample=self.sample, ids=self.ids, seed=self.seed)

    def _begun(self, path: str | Path | Store) -> list[str]:
        """Give the ids of a run file that was begun with the same selection; none if it was not."""
        if not isinstance(path, Store):
            if not Path(path).exists():
                return []
            with Store(path) as store:
                return self._begun(store)
        view, told = path.meta("view"), path.meta("options", [])
        return list(view["ids"]) if view and _selecting(told) == _selecting(self.words()) else []

    def words(self) -> list[str]:
        """Spell the options that are not the defaults, as the command line takes them.

        Prompt and ids come from files that only their owner knows; the base URL may hold a key and is left out.

        Examples
        --------
        >>> Settings("fake/?pmf=1", "starter", limit=2, temperature=0.5).words()
        ['--limit', '2', '--temperature', '0.5']
        """
        words = []
        for name in SPELLED:
            value, default = getattr(self, name), getattr(Settings("", ""), name)
            if value != default:
                words += ["-n" if name == "n" else f"--{name.replace('_', '-')}", str(value)]
        words += ["--prompt", "THE_SAME_PROMPT_FILE"] if self.prompt is not None else []
        words += ["--ids", "THE_SAME_IDS_FILE"] if self.ids is not None else []
        return words

    def identity(self, dataset: Dataset) -> dict[str, Any]:
        """List what a run file may not change under its answers."""
        return {
            "model": self.model,
            "dataset": dataset.name,
            "dataset content": dataset.hash,
            "prompt": self.response_prompt.hash,
            "elicitation": self.elicit,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max tokens": self.decoding.max_tokens,
            "reasoning effort": self.reasoning_effort,
            "seed": self.seed,
        }


def default_judge(model: str) -> str:
    """Name the judge of a model that runs here; for others it must be named.

    Raises
    ------
    SemeceError
        The model does not run here.
    """
    check_model(model)
    if service_of(model).runs_here:
        return "rules"
    raise SemeceError(f"name a judge: --judge rules (free) or --judge {model}")


def _selecting(words: Sequence[str]) -> list[tuple[str, str]]:
    """Keep the options that select questions."""
    return [pair for pair in pairwise(words) if pair[0] in {"--limit", "--sample", "--seed", "--ids"}]


def check_settings(settings: Settings) -> None:
    """Refuse settings that cannot be meant.

    Raises
    ------
    SemeceError
        Naming the option, its rule and its value.
    """
    rules = (
        ("n", settings.n >= 1, "at least 1", settings.n),
        ("concurrency", settings.concurrency >= 1, "at least 1", settings.concurrency),
        ("limit", settings.limit is None or settings.limit >= 1, "at least 1", settings.limit),
        ("sample", settings.sample is None or settings.sample >= 1, "at least 1", settings.sample),
        ("attempts", settings.patience.attempts >= 1, "at least 1", settings.patience.attempts),
        ("temperature", settings.temperature is None or 0 <= settings.temperature <= 2, "0 to 2", settings.temperature),
        ("top-p", settings.top_p is None or 0 < settings.top_p <= 1, "above 0 and at most 1", settings.top_p),
        ("max-tokens", settings.max_tokens is None or settings.max_tokens >= 1, "at least 1", settings.max_tokens),
        ("timeout", settings.timeout > 0, "above 0", settings.timeout),
        (
            "judge-max-tokens",
            settings.judge_max_tokens is None or settings.judge_max_tokens >= 1,
            "at least 1",
            settings.judge_max_tokens,
        ),
        ("judge-prompt", settings.judge_prompt in PROMPTS, ", ".join(PROMPTS), settings.judge_prompt),
        ("budget", settings.max_cost is None or 0 < settings.max_cost < inf, "above 0 (USD)", settings.max_cost),
        (
            "max-total-tokens",
            settings.max_total_tokens is None or settings.max_total_tokens >= 1,
            "at least 1",
            settings.max_total_tokens,
        ),
        ("elicit", settings.elicit in {"percent", "none"}, "percent or none", settings.elicit),
        ("grade-classes", settings.grade_classes in {"all", "mode"}, "all or mode", settings.grade_classes),
        (
            "not-attempted",
            settings.not_attempted in {"incorrect", "exclude"},
            "incorrect or exclude",
            settings.not_attempted,
        ),
        (
            "min-responses",
            settings.min_responses is None or settings.min_responses >= 2,
            "at least 2",
            settings.min_responses,
        ),
    )
    for name, holds, rule, value in rules:
        if not holds:
            raise SemeceError(f"{name} must be {rule}; got {value}")


def default_path(settings: Settings) -> Path:
    """Name the run file after dataset and model.

    Examples
    --------
    >>> str(default_path(Settings("openai/gpt-4o", "starter")))
    'runs/starter--openai-gpt-4o.db'
    """
    return Path("runs") / file_name(dataset_name(settings.dataset), settings.model)


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
