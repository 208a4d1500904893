"""A run in one call, for Python users: ``evaluate``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from semece.canonical import canonical
from semece.datasets import Dataset, open_dataset, with_unique_ids
from semece.datasets.files import question_from
from semece.errors import ModelError
from semece.models import Call, Model, Reply, Request
from semece.records import Question
from semece.run import Run
from semece.settings import Settings
from semece.store import Store
from semece.work import execute

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path


class CallableModel:
    """A function of your own as a model: one text in, one text out, awaited.

    Parameters
    ----------
    answer : async callable
        From the prompt's text to the reply's text.
    name : str
        What it is called in the run file.
    """

    max_choices = 1

    def __init__(self, answer: Callable[[str], Awaitable[str]], *, name: str = "") -> None:
        self.answer = answer
        self.name = name or f"callable/{getattr(answer, '__name__', type(answer).__name__)}"

    async def __call__(self, request: Request, /) -> Call:
        """Ask the function; what it raises is a connection that failed, unless semece knows it."""
        text = await self.answer("\n\n".join(message.content for message in request.messages))
        if not isinstance(text, str):
            raise ModelError(f"{self.name} must return text; got {type(text).__name__}")
        return Call((Reply(text, "ok", None, canonical({"text": text})),))

    async def aclose(self) -> None:
        """Nothing to give back."""


async def evaluate(
    model: str | Model | Callable[[str], Awaitable[str]],
    questions: str | Sequence[Question] | Sequence[Mapping[str, Any]],
    *,
    n: int = 50,
    judge: str | None = None,
    path: str | Path | None = None,
    **options: Any,  # noqa: ANN401 - the fields of Settings
) -> Run:
    r"""Draw answers, group and grade them, and return the run.

    Parameters
    ----------
    model : str, Model or async callable
        A spelling, an object of the :class:`semece.models.Model` protocol, or an async function from prompt to text.
    questions : str or sequence
        A dataset's name, or questions, or mappings with ``question``, ``references`` and perhaps ``id``.
    n : int
        Responses per question.
    judge : str, optional
        ``rules``, ``exact`` or a model's spelling. None: ``rules`` for a callable and for models that run here.
    path : str or Path, optional
        Keep it in a run file, which a second call continues. None: only in memory.
    **options
        Other fields of :class:`semece.settings.Settings`.

    Returns
    -------
    Run
        Open; close it, or use it in a ``with`` statement.

    Raises
    ------
    SemeceError
        Something you must change; with `path`, what was delivered is stored.

    Examples
    --------
    >>> import asyncio
    >>> async def parrot(prompt):
    ...     return "Answer: Paris\\nConfidence: 80%"
    >>> questions = [{"question": "What is the capital of France?", "references": ["Paris"]}]
    >>> with asyncio.run(evaluate(parrot, questions, n=4)) as run:
    ...     run.estimates()["sem2"].to_list()
    [1.0]
    """
    asked = None if isinstance(model, str) else model if isinstance(model, Model) else CallableModel(model)
    name = model if isinstance(model, str) else asked.name if asked else ""
    data = await asyncio.to_thread(open_dataset, questions) if isinstance(questions, str) else _dataset(questions)
    settings = Settings(name, data.name, n=n, judge=judge or (None if isinstance(model, str) else "rules"), **options)
    if path is not None:
        await execute(settings, path, dataset=data, model=asked)
        return Run(path)
    store = Store(":memory:", write=True)
    await execute(settings, store, dataset=data, model=asked)
    return Run(store)


def evaluate_sync(*arguments: Any, **options: Any) -> Run:  # noqa: ANN401 - those of evaluate
    """Do what :func:`evaluate` does, outside an event loop."""
    return asyncio.run(evaluate(*arguments, **options))


def _dataset(questions: Sequence[Question] | Sequence[Mapping[str, Any]]) -> Dataset:
    made = [
        q if isinstance(q, Question) else question_from(cast("Mapping[str, Any]", q), f"question {i}")
        for i, q in enumerate(questions)
    ]
    return Dataset("questions", with_unique_ids(made, "questions"))
