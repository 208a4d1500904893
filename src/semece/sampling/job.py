"""From settings to a job, and what a person should know of it before anything is paid.

Names are opened, judges and prompt made, questions chosen, prices known, the identity computed.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from semece.canonical_json import digest
from semece.datasets import REFERENCE_NAMES, Dataset, open_dataset
from semece.errors import ModelError, SemeceError, StoreError, plural, shortened
from semece.judges import models_of, open_judges, row_of
from semece.models import address_variable, service_of
from semece.sampling.connections import Connections
from semece.sampling.options import check_options
from semece.sampling.request_templates import RequestTemplate
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.judges import Judge
    from semece.models import Model
    from semece.records import Question
    from semece.sampling.request_templates import ResponseTemplate
    from semece.sampling.settings import CallSettings, Settings


@dataclass(frozen=True, slots=True)
class Job:
    """All that a run needs, opened and checked; from here on the settings are not read any more.

    Parameters
    ----------
    path : str, Path or Store
        The run file; or a store open for writing.
    template : RequestTemplate
        The model's name, prompt and options.
    n : int
        Responses per question.
    chosen : tuple of (int, Question)
        The questions, with their positions in the dataset.
    judges : tuple of Judge
        Who groups, and who grades.
    grade_classes : {'all', 'mode'}
        Which classes are graded.
    calls : CallSettings
        How models are asked.
    identity : dict
        What the run file may not change under its answers.
    view : dict
        What its tables depend on and another invocation may change.
    told : dict
        What else the run file keeps of the settings: prompt, dataset, and the options to repeat.
    own : Model or None
        The model itself, if the caller has opened it.
    """

    path: str | Path | Store
    template: ResponseTemplate
    n: int
    chosen: tuple[tuple[int, Question], ...]
    judges: tuple[Judge, Judge]
    grade_classes: str
    calls: CallSettings
    identity: dict[str, Any]
    view: dict[str, Any]
    told: dict[str, Any]
    own: Model | None = None

    @property
    def model(self) -> str:
        """Spelling of the model."""
        return self.template.model

    @property
    def questions(self) -> list[Question]:
        """The questions, in the order of the dataset."""
        return [question for _, question in self.chosen]

    @property
    def begun(self) -> bool:
        """Whether there is a run file."""
        return isinstance(self.path, Store) or Path(self.path).exists()


def resolve(
    settings: Settings, path: str | Path | Store, *, dataset: Dataset | None = None, model: Model | None = None
) -> Job:
    """Make a job of settings, once.

    Parameters
    ----------
    settings : Settings
        What a person wants.
    path : str, Path or Store
        The run file, made if absent; or a store open for writing, which stays open.
    dataset, model : Dataset, Model, optional
        Instead of those that `settings` spell.

    Returns
    -------
    Job

    Raises
    ------
    SemeceError
        An option breaks its rule, a judge or dataset cannot be opened, a budget has no price, or no question is
        selected.

    Examples
    --------
    >>> from semece.sampling.settings import Settings
    >>> job = resolve(Settings("fake/?pmf=1", "starter", n=4, limit=3), "absent.db")
    >>> job.n, len(job.questions), [judge.name for judge in job.judges]
    (4, 3, ['rules', 'rules'])
    """
    settings = resuming(settings, path)
    judges = open_names(settings)
    data = dataset or open_dataset(settings.dataset)
    chosen = choose_questions(settings, data, path)
    if not chosen:
        where = "selected" if settings.shard is None else f"in shard {settings.shard}"
        raise SemeceError(f"no question of {data.name} is {where}")
    return Job(
        path,
        RequestTemplate(
            settings.model, settings.response_prompt, settings.decoding, settings.seed, logprobs=settings.logprobs
        ),
        settings.n,
        tuple(chosen),
        judges,
        settings.grade_classes,
        settings.calls,
        identity_of(settings, data),
        {"ids": [question.id for _, question in chosen], **view_of(settings)},
        {"prompt": settings.prompt, "dataset": settings.dataset, "options": settings.words(), **_kept(settings)},
        model,
    )


def _kept(settings: Settings) -> dict[str, Any]:
    """Say that replies tell the log probabilities of their tokens; what was once told stays so."""
    return {} if settings.logprobs is None else {"logprobs": settings.logprobs}


class Datasets:
    """Datasets that several jobs share: each is opened once, and one that cannot be is refused again each time."""

    def __init__(self) -> None:
        self._opened: dict[str, Dataset | SemeceError] = {}

    def open(self, spelling: str) -> Dataset:
        """Open a dataset.

        Raises
        ------
        SemeceError
            It cannot be opened.
        """
        if spelling not in self._opened:
            try:
                self._opened[spelling] = open_dataset(spelling)
            except SemeceError as error:
                self._opened[spelling] = error
        found = self._opened[spelling]
        if isinstance(found, SemeceError):
            raise found
        return found


def resuming(settings: Settings, path: str | Path | Store) -> Settings:
    """Keep the judges of a run file where none is named: what is the default may have changed since.

    Parameters
    ----------
    settings : Settings
        What a person wants.
    path : str, Path or Store
        The run file; what is not there, or no file, changes nothing.
    """
    if settings.judge is not None or (settings.partition_judge is not None and settings.grade_judge is not None):
        return settings
    if not isinstance(path, Store):
        if not Path(path).is_file():
            return settings
        with Store(path) as store:
            return resuming(settings, store)
    view = path.meta("view") or {}
    return replace(
        settings,
        partition_judge=settings.partition_judge or view.get("partition_judge"),
        grade_judge=settings.grade_judge or view.get("grade_judge"),
    )


def open_names(settings: Settings, *, what: str = "a run") -> tuple[Judge, Judge]:
    """Open the judges of a run, and refuse settings that cannot be meant; nothing is fetched for it.

    Parameters
    ----------
    settings, what : Settings, str
        Whose they are, and what it is called in a refusal.

    Raises
    ------
    SemeceError
        An option breaks its rule, no judge is named, a judge is unknown or judges samples alone, or there is a budget
        in USD and a price is not known.
    """
    check_options(settings)
    spelled = settings.judges()
    judges = open_judges(*spelled, prompt=settings.judge_prompt)
    if any(row_of(spelling).came_with_samples for spelling in spelled):
        raise SemeceError(
            f"the judge 'given' reads labels that came with samples: 'semece score'; {what} needs another"
        )
    for spelling in (settings.model, *models_of(judges)):
        settings.price_list.of(spelling)
    return judges


def choose_questions(
    settings: Settings, dataset: Dataset, path: str | Path | Store | None = None
) -> list[tuple[int, Question]]:
    """Select questions, with their positions.

    Parameters
    ----------
    settings, dataset : Settings, Dataset
        Which, and from which.
    path : str, Path or Store, optional
        The run file: one that was begun with the same ``sample`` keeps its questions, whichever version drew them.
    """
    if path is not None and settings.sample is not None and settings.ids is None:
        begun = _begun(settings, path)
        if begun and {question.id for question in dataset.questions}.issuperset(begun):
            return dataset.select(ids=begun)
    chosen = dataset.select(limit=settings.limit, sample=settings.sample, ids=settings.ids, seed=settings.seed or 0)
    return chosen if settings.shard is None else _of_shard(chosen, settings.shard)


def _of_shard(chosen: list[tuple[int, Question]], shard: str) -> list[tuple[int, Question]]:
    """Keep the questions of a shard: a hash of the id says which, whatever else is selected.

    Raises
    ------
    SemeceError
        There are more shards than questions.
    """
    part, parts = map(int, shard.split("/"))
    if chosen and parts > len(chosen):
        raise SemeceError(
            f"K in --shard k/K must be at most {len(chosen):,}, the number of questions; got {shard}, "
            "which leaves shards without a question"
        )
    return [pair for pair in chosen if int.from_bytes(digest(["shard", pair[1].id])[:8]) % parts == part - 1]


def _begun(settings: Settings, path: str | Path | Store) -> list[str]:
    """Give the ids of a run file that was begun with the same selection; none if it was not."""
    if not isinstance(path, Store):
        if not Path(path).exists():
            return []
        with Store(path) as store:
            return _begun(settings, store)
    view, told = path.meta("view"), path.meta("options", [])
    return list(view["ids"]) if view and _selecting(told) == _selecting(settings.words()) else []


def _selecting(words: Sequence[str]) -> list[tuple[str, str]]:
    """Keep the options that select questions."""
    return [pair for pair in pairwise(words) if pair[0] in {"--limit", "--sample", "--seed", "--ids", "--shard"}]


def identity_of(settings: Settings, dataset: Dataset) -> dict[str, Any]:
    """List what a run file may not change under its answers."""
    return {
        "model": settings.model,
        "dataset": dataset.name,
        "dataset content": dataset.hash,
        "prompt": settings.response_prompt.hash,
        "elicitation": settings.elicit,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max tokens": settings.decoding.max_tokens,
        "reasoning effort": settings.reasoning_effort,
        "seed": settings.seed,
    }


def view_of(settings: Settings) -> dict[str, Any]:
    """List what the tables of a run depend on beside its questions, and another invocation may change."""
    partition_judge, grade_judge = settings.judges()
    return {
        "n": settings.n,
        "partition_judge": partition_judge,
        "grade_judge": grade_judge,
        "answer_pattern": settings.answer_pattern,
        "judge_prompt": settings.judge_prompt,
        "grade_classes": settings.grade_classes,
        "not_attempted": settings.not_attempted,
        "min_responses": settings.min_responses,
    }


def check_identity(store: Store, identity: dict[str, Any], *, instead: str = "write to another file with -o") -> None:
    """Fix the identity of a new run file; refuse another one on an old file.

    Parameters
    ----------
    store, identity : Store, dict
        The run file, and what it may not change.
    instead : str
        What a person can do who wants the other value.

    Raises
    ------
    StoreError
        A field differs.
    """
    known = store.meta("identity")
    if known is None:
        store.set_meta("identity", identity)
        return
    for name, value in identity.items():
        if known.get(name) != value:
            raise StoreError(
                f"{store.path} was made with {name} {_short(known.get(name))}, not {_short(value)}; give the same "
                f"value, or {instead}"
            )


def _short(value: object) -> str:
    return shortened(str(value), 60, mark="...", kept=12)


def cautions(job: Job) -> list[str]:
    """List what may be meant otherwise than it is written, where it costs money or an answer.

    Parameters
    ----------
    job : Job
        The run.

    Returns
    -------
    list of str
        One sentence each: questions that cannot be graded, or that are there twice; one answer a question; who is
        asked where.

    Examples
    --------
    >>> from semece.sampling.settings import Settings
    >>> cautions(resolve(Settings("fake/?pmf=1", "starter", n=1), "absent.db"))
    ['one answer per question (-n 1): whether answers agree with each other cannot be seen']
    """
    found = [*_references(job.questions), *_duplicates(job.questions)]
    if job.n == 1:
        found.append("one answer per question (-n 1): whether answers agree with each other cannot be seen")
    return [*found, *_untold(job), *_hosts(job)]


def _references(questions: Sequence[Question]) -> Iterator[str]:
    """Say how many questions cannot be graded, and which column may have been meant."""
    without = [question for question in questions if not question.references]
    if not without:
        return
    named = {str(name) for question in without for name in question.metadata}
    close = [
        name for name in sorted(named) if difflib.get_close_matches(name.strip().lower(), REFERENCE_NAMES, cutoff=0.75)
    ]
    meant = f"; is the column {shortened(close[0], 40)!r} meant? Its name must be 'references'" if close else ""
    if len(without) == len(questions):
        yield f"no question has a reference, so they are asked and grouped but not graded{meant}"
    else:
        some = f"{len(without):,} of {plural(len(questions), 'question', 'has')} no reference"
        yield f"{some}, so they are asked and grouped but not graded (the first: {shortened(without[0].id, 40)}){meant}"


def _duplicates(questions: Sequence[Question]) -> Iterator[str]:
    """Say how many questions have the text of another one."""
    counts = Counter(question.text for question in questions)
    again = len(questions) - len(counts)
    if again:
        text = shortened(next(question.text for question in questions if counts[question.text] > 1), 60)
        twice = plural(again, "question", "is")
        yield f"{twice} there again under another id, and paid for again (the first: {text!r})"


def _untold(job: Job) -> Iterator[str]:
    """Say that log probabilities are asked of a service that tells none, or fewer."""
    asked, most = job.template.logprobs, service_of(job.model).top_logprobs
    if asked is not None and most is None:
        yield f"{job.model} tells no log probabilities: --logprobs keeps none, and there will be no scores from them"
    elif asked is not None and most is not None and asked > most:
        yield f"{job.model} tells the log probabilities of at most {most} tokens at a place; got --logprobs {asked}"


def _hosts(job: Job) -> Iterator[str]:
    """Say where models are asked that do not run here, and that the base URL is for one of them alone."""
    spellings = dict.fromkeys((job.model, *models_of(job.judges)))
    places = {spelling: host_of(spelling, job) for spelling in spellings if _is_elsewhere(spelling)}
    hosts = {host for host in places.values() if host}
    if len(hosts) > 1 or (job.calls.base_url and len(places) > 1):
        listed = ", ".join(f"{spelling} at {host or 'no address'}" for spelling, host in places.items())
        alone = "; --base-url is for the model alone" if job.calls.base_url else ""
        yield f"prompts and answers go to several places: {listed}{alone}"


def _is_elsewhere(spelling: str) -> bool:
    """Whether a model is of a known service that does not run here."""
    service = service_of(spelling)
    return bool(service.title) and not service.runs_here


def host_of(spelling: str, job: Job) -> str:
    """Name the host at which a model of a job is asked; its service where that knows the address itself."""
    service = service_of(spelling)
    own = job.calls.base_url if spelling == job.model else None
    address = own or os.environ.get(address_variable(spelling)) or service.address
    return urlsplit(address).netloc.rpartition("@")[2] if address else service.title if service.cost == "listed" else ""


async def cannot_be_asked(job: Job) -> list[str]:
    """List the models of a job that cannot be asked now, such as for a missing key; nothing is sent.

    Parameters
    ----------
    job : Job
        The run.
    """
    connections, found = Connections(job.calls, job.model, job.questions, own=job.own), []
    for spelling in dict.fromkeys((job.model, *models_of(job.judges))):
        try:
            connections.open(spelling)
        except ModelError as error:
            found.append(f"{spelling} cannot be asked now: {error}")
    await connections.aclose()
    return found
