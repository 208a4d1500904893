"""What a run will ask and cost, before it does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from operator import add
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from semece.errors import SemeceError, in_dollars, plural
from semece.judges import STAGES, Undelivered, distinct, grade_classes, judge_question, run_procedure, spelling_of
from semece.models import Message, check_model, service_of
from semece.records import Partition
from semece.sampling.budget import estimated_tokens, judging_model, prompt_tokens
from semece.sampling.job import check_identity, resolve
from semece.sampling.options import check_options
from semece.sampling.request_templates import missing_slots
from semece.sampling.stages import read_reply, read_responses, usable_answers
from semece.store import FINAL, Store, read_stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semece.judges import Judge, Query
    from semece.records import Question
    from semece.sampling.job import Job
    from semece.sampling.request_templates import FollowUp, P, RequestTemplate
    from semece.sampling.settings import CallSettings, Settings
    from semece.store import StoredReply

ANSWER_TOKENS = 60
"""Tokens of a response, until some are stored."""

MEASURED, ENOUGH = 50, 20
"""Questions whose stored calls are measured, and calls from which on the estimate of prompts is scaled to the count."""

DISTINCT_SHARE, CLASSES = 0.45, 6
"""Share of distinct strings among the answers, and classes of a question: what judges that cost are shown."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage will ask.

    Parameters
    ----------
    name : str
        ``respond``, ``partition``, ``grade``, or what is asked about responses.
    model : str
        Who is asked.
    calls : int
        Requests, without retries.
    input_tokens, output_tokens : int
        Estimates.
    cost, batch_cost : float or None
        USD, live and in batches; None if the price is not known.
    """

    name: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    batch_cost: float | None = None


@dataclass(frozen=True, slots=True)
class PricePlan:
    """What a run will ask.

    Parameters
    ----------
    stages : tuple of Stage
        In order; a judge that costs nothing has none.
    answer_tokens : int
        Tokens per response that were assumed.
    measured : bool
        Whether that is what stored replies took.
    missing, wanted : int
        Responses that are missing, of how many.
    """

    stages: tuple[Stage, ...]
    answer_tokens: int
    measured: bool
    missing: int
    wanted: int


def plan(job: Job, *, expected_tokens: int | None = None) -> PricePlan:
    """Plan what is missing of a run; nothing is asked and nothing written.

    Parameters
    ----------
    job : Job
        The run; what its file holds is not asked again.
    expected_tokens : int, optional
        Tokens per response, instead of what stored replies took.

    Returns
    -------
    PricePlan
        Per stage.

    Raises
    ------
    SemeceError
        The file holds a run that was asked in another way.
    """
    with Store(str(job.path)) if job.begun else Store(":memory:", write=True) as store:
        if store.meta("identity") is not None:
            check_identity(store, job.identity)
        taken = _taken(store, "respond", None, job.questions)
        stored = _stored_tokens(store, job.questions) if taken is None else max(1, round(taken.answered))
        tokens = expected_tokens or stored or min(ANSWER_TOKENS, job.template.decoding.max_tokens)
        missing = _missing(store, job)
        scale = 1.0 if taken is None else taken.scale
        responding = _asking(job.template, job.questions, missing, Taken(scale, tokens), job.calls)
        stages = (responding, *_judging(store, job))
    measured = stored is not None and expected_tokens is None
    return PricePlan(stages, tokens, measured, sum(missing), job.n * len(job.chosen))


class Taken(NamedTuple):
    """What stored calls of a stage took, as their provider counted.

    Parameters
    ----------
    scale : float
        Input tokens over what their prompts were estimated at; 1 until there are enough calls to tell.
    answered : float
        Mean output tokens of a reply.
    """

    scale: float
    answered: float


def _taken(store: Store, stage: str, judge: str | None, questions: list[Question]) -> Taken | None:
    """Measure the calls of the first questions; None if no provider has counted one."""
    rows = [row for q in questions[:MEASURED] for row in store.replies(stage, q.id) if row.judge == judge]
    counted = [row for row in rows if row.input_tokens is not None and row.output_tokens is not None]
    if not counted:
        return None
    calls = {row.call for row in counted}
    replies = sum(row.call in calls for row in rows)
    estimated = sum(_estimated(store, row) for row in counted)
    asked, answered = (sum(getattr(row, name) for row in counted) for name in ("input_tokens", "output_tokens"))
    return Taken(asked / estimated if len(counted) >= ENOUGH and estimated else 1.0, answered / replies)


def _estimated(store: Store, row: StoredReply) -> int:
    """Estimate the prompt of a stored call."""
    body = {} if row.request is None else store.request(row.request)
    return prompt_tokens(tuple(Message(**message) for message in body.get("messages", ())))


def check_judges(settings: Settings) -> None:
    """Refuse a run for which a judge must be named, and say what its own model would cost as one.

    Parameters
    ----------
    settings : Settings
        The run.

    Raises
    ------
    SemeceError
        No judge is named and the model does not run here, or something else of the settings cannot be meant.
    """
    check_options(settings)
    check_model(settings.model)
    try:
        settings.judges()
    except SemeceError as error:
        with Store(":memory:", write=True) as store:
            stages = _judging(store, resolve(replace(settings, judge=settings.model, max_cost=None), store))
        raise SemeceError(f"{error}{_about([s.batch_cost if settings.batch else s.cost for s in stages])}") from None


def _about(costs: list[float | None]) -> str:
    """Say in parentheses what stages cost together; nothing if one of them has no known price."""
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return ""
    total = sum(known)
    return " (free)" if total == 0 else f" (about {_usd(total)} for this run)"


def judged_anew(job: Job) -> list[str]:
    """Say which judges will judge a run again that they have judged with other texts or options, and what it takes.

    Parameters
    ----------
    job : Job
        The run; nothing is asked and nothing written.

    Returns
    -------
    list of str
        One sentence for each such model.
    """
    if not job.begun or not any(judge.model for judge in job.judges):
        return []
    with Store(str(job.path)) as store:
        before = {
            judge.model: known
            for stage, judge in zip(STAGES, job.judges, strict=True)
            for known in sorted(store.judges(stage))
            if judge.id not in store.judges(stage) and judging_model(known) == judge.model
        }
    return [_anew(model, known, job) for model, known in before.items()] if before else []


def _anew(model: str, known: str, job: Job) -> str:
    """Say what judging again with a model takes, and how to keep what it said."""
    stages = [stage for stage in plan(job).stages if stage.name in STAGES and stage.model == model]
    old, costs = spelling_of(known), [s.batch_cost if job.calls.batch else s.cost for s in stages]
    keeping = "" if old is None else f"; --judge '{old}' keeps what it said"
    return (
        f"{model} judged this run with other texts or options, and judges it again: {sum(s.calls for s in stages):,} "
        f"calls{_about(costs) or ', price unknown'}{keeping}"
    )


class ToJudge(NamedTuple):
    """What judges have to do for one question.

    Parameters
    ----------
    question : Question
        The question.
    strings : sequence of str
        Distinct answers to group; empty if they are grouped.
    classes : sequence of str
        Answers to grade, one per class.
    """

    question: Question
    strings: Sequence[str]
    classes: Sequence[str]


def _judging(store: Store, job: Job) -> list[Stage]:
    """Plan the stages of judges that cost something."""
    if not any(judge.model for judge in job.judges):
        return []
    count = min(CLASSES, job.n) if job.grade_classes == "all" else 1
    strings = [f"a string of usual length, {i}" for i in range(max(2, round(job.n * DISTINCT_SHARE)))]
    expected = partial(ToJudge, strings=strings, classes=strings[:1] * count)
    if store.meta("identity") is None:
        todo = [expected(question) for question in job.questions]
    else:
        todo = [_to_judge(store, job, expected(question)) for question in job.questions]
    return [
        _judge(name, judge, job, todo, _taken(store, name, judge.id, job.questions))
        for name, judge in zip(STAGES, job.judges, strict=True)
        if judge.model is not None
    ]


def _to_judge(store: Store, job: Job, expected: ToJudge) -> ToJudge:
    """Look up what judges have done of a question; what they see is known only once all its responses are there."""
    question, nothing = expected.question, ToJudge(expected.question, (), ())
    read = partial(read_reply, job.template.prompt)
    responses, missing = read_responses(store.replies("respond", question.id), job.n, read)
    again = job.calls.retry_failed
    if missing or (again and not all(response.usable for response in responses)):
        return expected
    answers = usable_answers(responses)
    if not answers:
        return nothing
    judged = read_stored(judge_question(question, answers, job.judges, which=job.grade_classes), store)
    if judged.classes is None:
        asked = again or judged.lacking
        return expected._replace(strings=distinct(answers).strings) if asked else nothing
    faults = judged.faults.items()
    ungraded = [label for label, fault in faults if again or not isinstance(fault, Undelivered)]
    return nothing._replace(classes=[judged.classes.representatives[label] for label in ungraded])


def _stored_tokens(store: Store, questions: list[Question]) -> int | None:
    """Median tokens of the texts of the first replies that are stored, where their provider counts none."""
    texts = [
        reply.text for q in questions[:MEASURED] for reply in store.replies("respond", q.id) if reply.status == "ok"
    ]
    return round(median(map(estimated_tokens, texts))) if texts else None


def _missing(store: Store, job: Job) -> list[int]:
    """Count the responses that each question lacks."""
    if store.meta("identity") is None:
        return [job.n] * len(job.chosen)
    missing = [sum(map(len, missing_slots(store, job.template, question, job.n))) for question in job.questions]
    if not job.calls.retry_failed:
        return missing
    stored = (store.replies("respond", question.id) for question in job.questions)
    failed = [sum(row.index < job.n and row.status in FINAL for row in rows) for rows in stored]
    return list(map(add, missing, failed))  # what holds no usable answer is asked again on demand


def _asking(
    template: RequestTemplate[P],
    questions: Sequence[Question],
    missing: Sequence[int],
    taken: Taken,
    calls: CallSettings,
) -> Stage:
    """Plan the replies that questions lack."""
    size, prompt = service_of(template.model).choices, template.prompt
    requests = [-(-count // size) for count in missing]
    asked = sum(count * prompt_tokens(prompt.messages(q)) for q, count in zip(questions, requests, strict=True))
    counts = sum(requests), round(taken.scale * asked), round(sum(missing) * taken.answered)
    return _stage(calls, template.stage, template.model, counts)


def plan_follow_ups(
    store: Store,
    asked: Sequence[tuple[RequestTemplate[FollowUp], int]],
    questions: list[Question],
    *,
    calls: CallSettings,
    expected_tokens: int | None = None,
) -> PricePlan:
    """Plan what a model will be asked about its answers; nothing is asked.

    Parameters
    ----------
    store : Store
        The run file: what it holds is not asked again.
    asked : sequence of (RequestTemplate, int)
        What, and how many replies per question.
    questions : list of Question
        About which answers.
    calls : CallSettings
        With the prices.
    expected_tokens : int, optional
        Tokens per reply, instead of what stored replies took.
    """
    stages, missing, tokens, measured = [], 0, [], expected_tokens is None
    for template, draws in asked:
        taken = _taken(store, template.stage, None, questions)
        measured = measured and taken is not None
        taken = taken or Taken(1.0, ANSWER_TOKENS)
        assumed = taken if expected_tokens is None else taken._replace(answered=expected_tokens)
        lacking = [sum(map(len, missing_slots(store, template, question, draws))) for question in questions]
        stages.append(_asking(template, questions, lacking, assumed, calls))
        tokens.append(assumed.answered)
        missing += sum(lacking)
    wanted = sum(draws for _, draws in asked) * len(questions)
    return PricePlan(tuple(stages), round(max(tokens, default=0)), measured, missing, wanted)


def _judge(name: str, judge: Judge, job: Job, todo: Iterable[ToJudge], taken: Taken | None) -> Stage:
    """Count the judge's real prompts; stand-ins are the answers that nobody has drawn yet."""
    calls = asked = answered = 0

    def count(query: Query) -> list[int] | str:
        nonlocal calls, asked, answered
        calls, asked = calls + 1, asked + prompt_tokens(query.messages)
        if query.stage == "grade":
            answered += 10
            return "correct"
        answered += 3 * query.shown
        return [number % CLASSES for number in range(query.shown)]

    for question, strings, classes in todo:
        if name == "partition" and strings:
            run_procedure(judge.classes(question, strings), count)
        elif name == "grade":
            alone = Partition(question.id, tuple(range(len(classes))), tuple(classes), judge.id)
            run_procedure(grade_classes(question, alone, judge, alone.labels), count)
    if taken is not None:
        asked, answered = round(taken.scale * asked), round(taken.answered * calls)
    return _stage(job.calls, name, str(judge.model), (calls, asked, answered))


def _stage(settings: CallSettings, name: str, model: str, counts: tuple[int, int, int]) -> Stage:
    """Price a stage, live and in batches."""
    calls, asked, answered = counts
    prices = [settings.price_list.known(model, batch=batch) for batch in (False, True)]
    live, batch = (None if p is None else p.input * asked + p.output * answered for p in prices)
    return Stage(name, model, calls, asked, answered, live, batch)


def plan_text(made: PricePlan) -> str:
    """Say a plan: a line per stage, the total, the assumption."""
    lines = [
        f"{s.name:9s}  {s.model}: {plural(s.calls, 'call')}, {s.input_tokens:,} tokens in, {s.output_tokens:,} out, "
        f"{_usd(s.cost)} live, {'batch price unknown' if s.batch_cost is None else _usd(s.batch_cost) + ' in batches'}"
        for s in made.stages
    ]
    how = "what the stored replies took" if made.measured else "an assumption; --expected-tokens sets it"
    assumed = [f"{plural(made.answer_tokens, 'token')} per response: {how}"]
    if any(stage.name in STAGES for stage in made.stages):
        assumed.append(
            f"judges: {DISTINCT_SHARE:.0%} of the answers distinct, at most {CLASSES} classes a question: assumptions"
        )
    return "\n".join([*lines, f"together   {_together(made.stages)}", *assumed])


def _together(stages: Sequence[Stage]) -> str:
    """Say what stages cost together, and the price of which models nobody knows."""
    known = [stage.cost for stage in stages if stage.cost is not None]
    unknown = sorted({stage.model for stage in stages if stage.cost is None})
    if not unknown:
        return f"{_usd(sum(known))} live"
    part = f"{_usd(sum(known))} live, and " if known else ""
    return f"{part}what {' and '.join(unknown)} takes: its price is not known ([prices] in a --config file says it)"


def _usd(cost: float | None) -> str:
    return "price unknown" if cost is None else in_dollars(cost)
