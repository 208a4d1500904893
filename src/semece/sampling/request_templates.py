"""How a model is asked: for responses, and again about them; the keys that follow, and which slots are still empty."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import exp
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from semece.canonical_json import digest
from semece.errors import SemeceError, meant
from semece.models import Decoding, Message, Request, service_of
from semece.prompts import ELICITATIONS, AskedAnswer, Guess, Scale, Stated, load_text
from semece.sampling.answer_likelihoods import truth_logprobs
from semece.sampling.settings import MOST_RESPONSES
from semece.store import Keys, Slot

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from semece.prompts import Elicitation, ResponsePrompt
    from semece.records import Question
    from semece.store import Store


class Puts(Protocol):
    """What puts questions to a model: a prompt."""

    def messages(self, question: Question) -> tuple[Message, ...]:
        """Put a question."""
        ...


P = TypeVar("P", bound=Puts)


@dataclass(frozen=True, slots=True)
class RequestTemplate(Generic[P]):
    """How a model is asked: everything that enters the keys of its replies.

    Parameters
    ----------
    model : str
        Its spelling.
    prompt : ResponsePrompt or FollowUp
        What is put to it, and how its replies are read.
    decoding : Decoding
        Options.
    seed : int
        The run's seed; None: requests carry none.
    stage : str
        ``respond``, or the name of what is asked about the responses.
    logprobs : int or None
        Whether replies are to tell the log probabilities of their tokens, and of how many likely ones.
    """

    model: str
    prompt: P
    decoding: Decoding
    seed: int | None = 0
    stage: str = "respond"
    logprobs: int | None = None

    def keys(self, question: Question) -> Keys:
        """Keys of the replies to a question."""
        return Keys(self.stage, question.id, self.model, self.prompt.messages(question), self.decoding)

    def request(self, question: Question, index: int = 0, n: int = 1) -> Request:
        """Ask for `n` responses to a question, from an index on: the seeds follow from both."""
        seed = None if self.seed is None else seed_base(self.seed, question.id) + index
        return Request(self.prompt.messages(question), self.decoding, n, seed, self.logprobs)


def seed_base(seed: int, question_id: str) -> int:
    """Give the seed of a question's first response: a multiple of 50 from SHA-256(run seed, question id).

    The first 30 bits, rounded down. The seed of a request is this plus its first index; models that draw in blocks at
    round seeds (the embedded one) then waste nothing.

    Examples
    --------
    >>> seed_base(0, "q1") == seed_base(0, "q1") != seed_base(1, "q1")
    True
    """
    bits = int.from_bytes(digest([seed, question_id])[:4], "big") >> 2
    return bits - bits % 50


def missing_slots(
    store: Store, template: RequestTemplate[P], question: Question, n: int, *, besides: Container[bytes] = ()
) -> list[list[Slot]]:
    """List the slots of one question that hold no delivered reply, in runs of consecutive indices.

    Slots with a key in `besides` are left out: they are under way.
    """
    keys = template.keys(question)
    delivered = {reply.key for reply in store.replies(template.stage, question.id) if reply.delivered}
    wanted = [index for index in range(n) if keys[index] not in delivered and keys[index] not in besides]
    runs = groupby(enumerate(wanted), key=lambda pair: pair[1] - pair[0])
    return [[Slot(keys[i], template.stage, question.id, i, None, keys.request) for _, i in run] for _, run in runs]


ResponseTemplate: TypeAlias = "RequestTemplate[ResponsePrompt]"

Asked = tuple[str, str, "Sequence[str]"]
"""A question, the answer that is asked about, and what was answered, in the order in which it was drawn."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What is asked about the answers that a model has given.

    Parameters
    ----------
    elicitation : Elicitation
        In which way.
    style : {'chat', 'completion'}
        How the model is asked.
    asked : mapping of str to tuple
        About what, by the questions' ids: the question, the answer, and what was answered, as drawn.
    """

    elicitation: Elicitation
    style: Literal["chat", "completion"]
    asked: Mapping[str, Asked]

    def messages(self, question: Question) -> tuple[Message, ...]:
        """Put it to the model for one question."""
        text = load_text(self.elicitation.text_name(self.style))
        turns = self.elicitation.turns(AskedAnswer(*self.asked[question.id]), text, style=self.style)
        return tuple(Message(role, content) for role, content in turns)  # type: ignore[arg-type]


ROOM = 192
"""Least tokens of a reply about an answer: the four guesses of an embedded model need them."""


def drawn_as(identity: Mapping[str, Any], name: str, draws: int | None = None) -> dict[str, Any]:
    """Say how replies about answers are drawn: how many, and as the responses were; at temperature 1 what is counted.

    Parameters
    ----------
    identity : mapping
        Of the run.
    name : str
        Of the elicitation.
    draws : int or None
        Replies per question; None: its own number.

    Raises
    ------
    SemeceError
        There is no such elicitation, `draws` is below 1 or too large, or the file holds samples of another program.
    """
    if name not in ELICITATIONS:
        raise SemeceError(
            f"an elicitation must be one of {', '.join(ELICITATIONS)}; got {name!r}{meant(name, ELICITATIONS)}"
        )
    if draws is not None and not 1 <= draws <= MOST_RESPONSES:
        raise SemeceError(f"draws must be from 1 to {MOST_RESPONSES:,}; got {draws}")
    if "temperature" not in identity:
        raise SemeceError(
            "samples of another program cannot be asked about: an elicitation asks the model that gave the answers; it "
            "needs a file of 'semece run'"
        )
    row = ELICITATIONS[name]
    heat = {"temperature": 1.0, "top_p": 1.0} if row.sampled else {k: identity[k] for k in ("temperature", "top_p")}
    most = service_of(identity["model"]).top_logprobs if row.sampled else None
    own = row.draws if most is None else 1  # the probability is told, so one reply is enough
    return {"draws": draws or own, "reasoning_effort": identity["reasoning effort"], "logprobs": most, **heat}


def follow_up(
    identity: Mapping[str, Any], name: str, options: Mapping[str, Any], asked: Mapping[str, Asked]
) -> RequestTemplate[FollowUp]:
    """Say what a run's model is asked about its answers.

    Parameters
    ----------
    identity, name : mapping, str
        Of the run, and of the elicitation.
    options : mapping
        As :func:`drawn_as` gives them.
    asked : mapping of str to tuple
        About what, as :class:`FollowUp` takes it.
    """
    row, model = ELICITATIONS[name], identity["model"]
    service = service_of(model)
    decoding = Decoding(
        options["temperature"],
        options["top_p"],
        max(ROOM, service.default_tokens),
        options["reasoning_effort"],
        row.grammar if service.continues else None,
    )
    prompt = FollowUp(row, "completion" if service.continues else "chat", asked)
    return RequestTemplate(model, prompt, decoding, identity["seed"], row.score, options["logprobs"])


Guesses = list[tuple[str | None, float]]
"""Answers with their confidences; None: the answer that was asked about."""


def read_guesses(
    store: Store, template: RequestTemplate[FollowUp], questions: Iterable[Question], n: int
) -> dict[str, list[Guesses]]:
    """Read what a model has replied about its answers.

    Returns
    -------
    dict of str to list
        Per question that has a reply, by id: its replies' guesses, empty where a reply cannot be read. A confidence
        that is ambiguous alone is read as the others of the stage say. Where a reply tells the probabilities of true
        and false, they stand for all replies.
    """
    read, found = template.prompt.elicitation.read, {}
    for question in questions:
        keys = template.keys(question)
        wanted = {keys[index] for index in range(n)}
        rows = [row for row in store.replies(template.stage, question.id) if row.delivered and row.key in wanted]
        if rows:
            exact = truth_logprobs(rows[0].raw) if template.prompt.elicitation.sampled else None
            told = None if exact is None else ((Guess(None, sure(*exact)),),)
            found[question.id] = list(told or (read(row.text) if row.status == "ok" else () for row in rows))
    said = [guess.said for replies in found.values() for reply in replies for guess in reply]
    scale = _scale(store, template) if any(each.percent != each.decimal for each in said) else Scale()
    return {name: [_decided(reply, scale) for reply in replies] for name, replies in found.items()}


def sure(true: float, false: float) -> Stated:
    """Give P(True) of two log probabilities: the softmax of Kadavath et al. 2022."""
    p = 1 / (1 + exp(min(false - true, LARGEST)))
    return Stated(p, p)


LARGEST = 700.0
"""Above it the exponential has no number."""


def _scale(store: Store, template: RequestTemplate[FollowUp]) -> Scale:
    """Count what all replies of a stage state, in percent or as decimals."""
    read = template.prompt.elicitation.read
    rows = (row for question in store.questions() for row in store.replies(template.stage, question.id))
    return Scale.counted(guess.said for row in rows for guess in read(row.text))


def _decided(reply: tuple[Guess, ...], scale: Scale) -> Guesses:
    """Give the confidences of a reply; nothing unless all of them are certain."""
    values = [(guess.answer, scale.decide(guess.said)) for guess in reply]
    certain = [(answer, value) for answer, value in values if value is not None]
    return certain if len(certain) == len(values) else []
