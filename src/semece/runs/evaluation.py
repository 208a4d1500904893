"""A run in one call, for Python users: ``evaluate``."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

from semece.canonical_json import canonical
from semece.datasets import Dataset, open_dataset, question_from, storable, with_unique_ids
from semece.errors import ModelError, SemeceError, TransientError
from semece.models import Call, Model, Reply, Request, clear
from semece.records import Question
from semece.runs.run import Run
from semece.sampling import Settings, make_run, resolve
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from pathlib import Path


NEVER = 4
"""After so many failures a function that has not answered once is taken for a broken one."""


class CallableModel:
    """A function of your own as a model: one text in, one text out, awaited.

    What it raises is a connection that failed and is asked again, unless semece knows it. One that has raised several
    times, has never answered and is not about to ends the run.

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
        self._answered = False
        self._failures = self._under_way = 0

    async def __call__(self, request: Request, /) -> Call:
        """Ask the function.

        Raises
        ------
        ModelError
            It is not async, returns something else than text, or has never answered.
        TransientError
            It raised.
        """
        self._under_way += 1
        try:
            waiting = self.answer("\n\n".join(message.content for message in request.messages))
            if not isawaitable(waiting):
                raise ModelError(
                    f"{self.name} must be async: expected something to await; got {type(waiting).__name__}"
                )
            text = await waiting
        except SemeceError:
            raise
        except Exception as error:
            raise self._raised(error) from error
        finally:
            self._under_way -= 1
        if not isinstance(text, str):
            raise ModelError(f"{self.name} must return text; got {type(text).__name__}")
        self._answered = True
        return Call((Reply(text, "ok", None, canonical({"text": text})),))

    def _raised(self, error: Exception) -> ModelError:
        """Say what the function raised, in one line."""
        self._failures += 1
        said = f"{self.name} raised {type(error).__name__}: {clear(str(error), ())}"
        if self._failures >= NEVER and not self._answered and self._under_way == 1:
            return ModelError(f"{said}; it has not answered once")
        return TransientError(said, status="connection", maybe_paid=True)

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
        Other fields of :class:`semece.sampling.settings.Settings`.

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
    kept = Store(":memory:", write=True) if path is None else path
    await make_run(resolve(settings, kept, dataset=data, model=asked))
    return Run(kept)


def evaluate_sync(*arguments: Any, **options: Any) -> Run:  # noqa: ANN401 - those of evaluate
    """Do what :func:`evaluate` does, outside an event loop."""
    return asyncio.run(evaluate(*arguments, **options))


def _dataset(questions: Sequence[Question] | Sequence[Mapping[str, Any]]) -> Dataset:
    made = [
        storable(q) if isinstance(q, Question) else question_from(cast("Mapping[str, Any]", q), f"question {i}")
        for i, q in enumerate(questions)
    ]
    return Dataset("questions", with_unique_ids(made, "questions"))
