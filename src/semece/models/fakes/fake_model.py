"""A model that draws from a known distribution and misbehaves on request: for tests, ours and the users'.

``fake/?pmf=.5,.3,.2&correct=0&fault=429:.1`` answers every question with one of three classes of answers, the first
of them correct, and refuses a tenth of the calls. Nothing leaves the machine, nothing is random between runs: the same
request gets the same choices, and the same attempt the same fault.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from math import isnan, log, nan
from typing import TYPE_CHECKING, Any, Unpack
from urllib.parse import parse_qsl

from semece.errors import ModelError, meant
from semece.models.fakes.faults import FakeService, Faults, Misbehaviour, prompt_of, uniform

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semece.models.protocol import Model, Request


_SYLLABLES = ("ba", "de", "fi", "go", "ku", "lam", "nev", "por", "sut", "zin")
"""For digits: a wrong answer with a number or a letter in it would be right for some question."""


class FakeModel(FakeService):
    r"""A model that answers each question with a class drawn from `pmf`, and judges as :class:`FakeJudge` does.

    Choice i of a request with seed s is drawn from (s + i, prompt), so it equals choice 0 of seed s + i: chunks,
    top-ups and reruns give what one request gives. A request without a seed counts as seed 0.

    Parameters
    ----------
    pmf : sequence of float
        Probability of each class of answers, summing to 1.
    correct : int or None
        The class that says the question's reference; None if no class does.
    confidence : float, sequence of float or None
        What it states, in [0, 1]: always, per class, or never. It states none if the prompt does not say 'confidence'.
    references : mapping of str to str
        Question text to the correct answer. Other classes then say words that nobody takes for it: ``wrongba``,
        ``wrongde``, ``wrongfi``, ...; without, ``answer 0``, ``answer 1``, ...
    faults : Faults or None
        Misbehaviour; not part of the name.
    max_choices : int
        Most choices of one request.
    latency : float
        Seconds that every call takes.

    Raises
    ------
    ValueError
        If `pmf` is not a distribution, or `correct` or `confidence` do not fit it.

    Examples
    --------
    >>> import asyncio
    >>> from semece.models import Message, Request
    >>> model = FakeModel((1.0,), references={"Capital of France?": "Paris"})
    >>> request = Request((Message("user", "State a confidence.\nQuestion: Capital of France?"),), n=2, seed=7)
    >>> [reply.text for reply in asyncio.run(model(request)).replies]
    ['Answer: Paris\nConfidence: 70%', 'Answer: Paris\nConfidence: 70%']
    """

    def __init__(
        self,
        pmf: Sequence[float] = (0.5, 0.3, 0.2),
        *,
        correct: int | None = 0,
        confidence: float | Sequence[float] | None = 0.7,
        references: Mapping[str, str] | None = None,
        **service: Unpack[Misbehaviour],
    ) -> None:
        _check_pmf(pmf)
        if correct is not None and not 0 <= correct < len(pmf):
            raise ValueError(f"correct must be a class of pmf, 0 to {len(pmf) - 1}, or None; got {correct}")
        self._pmf = tuple(pmf)
        self._cumulative = list(accumulate(pmf))[:-1]
        self._correct = correct
        self._confidence = _confidence_per_class(confidence, len(pmf))
        self._references = {_first_line(text): answer for text, answer in (references or {}).items()}
        service.setdefault("max_choices", 50)
        super().__init__(**service)

    @property
    def name(self) -> str:
        """The spelling without its misbehaviour, which is not part of what the model is."""
        correct = "none" if self._correct is None else self._correct
        parts = [f"pmf={','.join(f'{p:g}' for p in self._pmf)}", f"correct={correct}"]
        if self._confidence != (0.7,) * len(self._pmf):
            parts.append(f"confidence={_spell_confidence(self._confidence)}")
        return f"fake/?{'&'.join(parts)}"

    def text(self, request: Request, seed: int, fault: str | None) -> str:
        """Say the answer of the class that is drawn, and how sure it is; judge if it is asked to."""
        prompt = prompt_of(request)
        if request.decoding.schema is not None and (data := _judged(request)):
            return _judgement(data)
        if fault is None and (again := self._about(request, uniform("about", seed, prompt))):
            return again
        kind = bisect_right(self._cumulative, uniform("class", 0 if fault == "identical" else seed, prompt))
        answer = self._answer(_first_line(question_of(request)), kind)
        if fault == "off_format":
            return f"I would say that it is {answer}"
        text = f" {answer}" if request.messages[-1].role == "completion" else f"Answer: {answer}"
        stated = self._confidence[kind] if self._confidence else None
        if stated is None or fault == "no_confidence" or "confidence" not in prompt.casefold():
            return text
        return f"{text}\nConfidence: {100 * stated:g}%"

    def tokens(self, request: Request, said: str) -> list[dict[str, Any]]:
        """Give the tokens of a text: of an answer its class's probability, of (A) or (B) how sure it is."""
        question, begins = _first_line(question_of(request)), said.split("\n", 1)[0]
        for kind, p in enumerate(self._pmf):
            answer = self._answer(question, kind)
            if p > 0 and begins.endswith(answer):
                place = len(begins) - len(answer)
                parts = (said[:place], 0.0), (answer, log(p)), (said[len(begins) :], 0.0)
                return [{"token": text, "logprob": each, "top_logprobs": []} for text, each in parts if text]
        if said in {"(A)", "(B)"}:
            sure = self._sure_of(request)
            top = [{"token": each, "logprob": log(p)} for each, p in (("A", sure), ("B", 1 - sure)) if p > 0]
            own = next(one for one in top if one["token"] == said[1])
            return [{"token": "(", "logprob": 0.0, "top_logprobs": []}, own | {"top_logprobs": top}]
        return super().tokens(request, said)

    def _sure_of(self, request: Request) -> float:
        """Say how sure it is of the answer that it is asked about; nan if it is no answer of its own."""
        asked, question = request.messages[-1].content, _first_line(question_of(request))
        given = [line.removeprefix("Possible answer: ") for line in asked.splitlines() if "Possible answer: " in line]
        given += [message.content for message in request.messages if message.role == "assistant"]
        answers = [self._answer(question, kind) for kind in range(len(self._pmf))]
        known = bool(given) and given[0] in answers
        return (self._confidence or self._pmf)[answers.index(given[0])] if known else nan

    def _about(self, request: Request, draw: float) -> str:
        """Say how sure it is of an answer it gave, in the way that is asked for; nothing if none is."""
        asked = request.messages[-1].content
        question = _first_line(question_of(request))
        if "P4: N%" in asked:
            kinds = sorted(range(len(self._pmf)), key=lambda kind: -self._pmf[kind])[:4]
            pairs = [(self._answer(question, kind), 100 * self._pmf[kind]) for kind in kinds]
            return "\n".join(f"G{n}: {answer}\nP{n}: {p:g}%" for n, (answer, p) in enumerate(pairs, 1))
        if isnan(sure := self._sure_of(request)):
            return ""
        if "(B) False" in asked:
            return "(A)" if draw < sure else "(B)"
        forms = re.search(r"Confidence: one of the \w+ (?:words|forms) (.*)", asked)
        words = forms[1].split(", ") if forms else []
        return f"Confidence: {words[min(int(sure * len(words)), len(words) - 1)] if words else f'{100 * sure:g}%'}"

    def _answer(self, question: str, kind: int) -> str:
        if question not in self._references:
            return f"answer {kind}"
        if kind == self._correct:
            return self._references[question]
        place = kind if self._correct is None or kind < self._correct else kind - 1
        return "wrong" + "".join(_SYLLABLES[int(digit)] for digit in str(place))


class FakeJudge(FakeService):
    r"""A model that answers the prompts of an LLM judge.

    It groups answers that are equal but for case, and calls correct what equals a reference but for case.

    Parameters
    ----------
    invalid : float
        Probability that a reply is no valid partition or verdict, drawn from the prompt.
    faults : Faults or None
        Misbehaviour of its calls.
    latency : float
        Seconds that every call takes.

    Raises
    ------
    ValueError
        If `invalid` is no probability.

    Examples
    --------
    >>> import asyncio
    >>> from semece.models import Message, Request
    >>> data = '{"question": "Capital of France?", "references": ["Paris"], "answer": "paris"}'
    >>> asyncio.run(FakeJudge()(Request((Message("user", data),)))).replies[0].text
    '{"verdict": "correct"}'
    """

    name = "fake/judge"

    def __init__(self, *, invalid: float = 0.0, faults: Faults | None = None, latency: float = 0.0) -> None:
        if not 0 <= invalid <= 1:
            raise ValueError(f"invalid must lie in [0, 1]; got {invalid}")
        self._invalid = invalid
        super().__init__(faults=faults, latency=latency)

    def text(self, request: Request, seed: int, fault: str | None) -> str:
        """Judge what is shown, or reply with something that is no judgement."""
        data = _judged(request)
        draw = uniform("invalid", seed, prompt_of(request))
        if fault in ("off_format", "no_confidence") or draw < self._invalid:
            return ("They look much alike to me.", '{"classes": [[1], [1]]}', '{"verdict": "CORRECT, I think')[
                int(draw * 1e6) % 3
            ]
        return _judgement(data)


def _judgement(data: Mapping[str, Any]) -> str:
    """Group what is equal but for case; call correct what equals a reference but for case."""
    if "answers" in data and all(isinstance(answer, str) for answer in data["answers"]):
        return json.dumps({"comparison": "same" if len(set(map(str.lower, data["answers"]))) == 1 else "different"})
    if "answers" in data:
        return json.dumps({"classes": _groups(data["answers"])})
    references = [reference.casefold() for reference in data.get("references", ())]
    right = str(data.get("answer", "")).casefold() in references
    return json.dumps({"verdict": "correct" if right else "incorrect"})


def _judged(request: Request) -> dict[str, Any]:
    """Find the JSON object with what is to be judged."""
    for message in request.messages:
        try:
            data = json.loads(message.content)
        except ValueError:
            continue
        if isinstance(data, dict):
            return data
    return {}


def _groups(answers: Sequence[tuple[int, str]]) -> list[list[int]]:
    """Group numbered answers that are equal but for case."""
    groups: dict[str, list[int]] = {}
    for number, answer in answers:
        groups.setdefault(answer.casefold(), []).append(number)
    return list(groups.values())


def parse_fake(spelling: str, *, references: Mapping[str, str] | None = None) -> Model:
    """Open a fake model or judge by its spelling.

    Parameters
    ----------
    spelling : str
        ``fake/?NAME=VALUE&...`` with the names ``pmf``, ``correct``, ``confidence``, ``choices``, ``latency``,
        ``fault`` (``FAULT:RATE``, several separated by commas), ``fault_seed``, ``retry_after``, ``slow_seconds``;
        or ``fake/judge?...`` with ``invalid`` and those from ``latency`` on.
    references : mapping of str to str
        Question text to the correct answer.

    Returns
    -------
    Model
        A :class:`FakeModel` or a :class:`FakeJudge`.

    Raises
    ------
    ModelError
        One sentence that names the unknown or unreadable part.

    Examples
    --------
    >>> parse_fake("fake/?pmf=.5,.3,.2&correct=0&fault=429:.1").name
    'fake/?pmf=0.5,0.3,0.2&correct=0'
    """
    kind, _, query = spelling.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    try:
        if kind == "fake/judge":
            return FakeJudge(**_options(given, "invalid"))
        if kind == "fake/":
            return FakeModel(references=references, **_options(given, "pmf", "correct", "confidence", "choices"))
    except ValueError as error:
        raise ModelError(f"{error}, in {spelling!r}") from None
    raise ModelError(f"a fake model is spelled fake/?pmf=.5,.3,.2&correct=0, or fake/judge; got {spelling!r}")


_SHARED = ("latency", "fault", "fault_seed", "retry_after", "slow_seconds")


def _options(given: Mapping[str, str], *own: str) -> dict[str, Any]:
    """Read what a fake is told, and what every fake takes: faults and latency."""
    known = (*own, *_SHARED)
    if unknown := [name for name in given if name not in known]:
        raise ValueError(f"a fake model takes {', '.join(known)}; got {unknown[0]!r}{meant(unknown[0], known)}")
    read = {name: _READ[name](name, text) for name, text in given.items()}
    about = {"fault": "rates", "fault_seed": "seed", "retry_after": "retry_after", "slow_seconds": "slow_seconds"}
    faults = Faults(**{field: read.pop(name) for name, field in about.items() if name in read})
    return {"faults": faults, **{{"choices": "max_choices"}.get(name, name): value for name, value in read.items()}}


def question_of(request: Request) -> str:
    r"""Find the question's text: the last line ``Question: ...`` of the prompt, else its last message.

    Examples
    --------
    >>> from semece.models import Message, Request
    >>> question_of(Request((Message("user", "Answer briefly.\nQuestion: Capital of France?\n"),)))
    'Capital of France?'
    """
    for message in reversed(request.messages):
        for line in reversed(message.content.splitlines()):
            if line.startswith("Question:"):
                return line.removeprefix("Question:").strip()
    return request.messages[-1].content


def _check_pmf(pmf: Sequence[float]) -> None:
    for place, p in enumerate(pmf):
        if not 0 <= p <= 1:
            raise ValueError(f"pmf must lie in [0, 1]; got {p} at index {place}")
    if abs(sum(pmf) - 1) > 1e-9:
        raise ValueError(f"pmf must sum to 1; got {sum(pmf):g}")


def _confidence_per_class(confidence: float | Sequence[float] | None, classes: int) -> tuple[float, ...]:
    """Give the stated confidence of each class; empty if none is stated."""
    if confidence is None:
        return ()
    stated = (float(confidence),) * classes if isinstance(confidence, int | float) else tuple(confidence)
    if len(stated) != classes:
        raise ValueError(f"confidence must have one value or one per class of pmf ({classes}); got {len(stated)}")
    for place, value in enumerate(stated):
        if not 0 <= value <= 1:
            raise ValueError(f"confidence must lie in [0, 1]; got {value} at index {place}")
    return stated


def _spell_confidence(stated: tuple[float, ...]) -> str:
    if not stated:
        return "none"
    return f"{stated[0]:g}" if len(set(stated)) == 1 else ",".join(f"{value:g}" for value in stated)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} of a fake model must be a number; got {text!r}") from None


def _integer(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{name} of a fake model must be a whole number; got {text!r}")
    return int(text)


def _floats(name: str, text: str) -> tuple[float, ...]:
    return tuple(_number(name, part) for part in text.split(","))


def _class(name: str, text: str) -> int | None:
    return None if text == "none" else _integer(name, text)


def _stated(name: str, text: str) -> float | tuple[float, ...] | None:
    stated = () if text == "none" else _floats(name, text)
    return stated if len(stated) > 1 else next(iter(stated), None)


def _rates(name: str, text: str) -> dict[str, float]:
    parts = (part.partition(":") for part in filter(None, text.split(",")))
    return {fault: _number(name, rate) if colon else 1.0 for fault, colon, rate in parts}


_READ: Mapping[str, Callable[[str, str], Any]] = {
    "pmf": _floats,
    "correct": _class,
    "confidence": _stated,
    "choices": _integer,
    "invalid": _number,
    "latency": _number,
    "fault": _rates,
    "fault_seed": _integer,
    "retry_after": _number,
    "slow_seconds": _number,
}
"""How each part of a spelling is read."""


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()
