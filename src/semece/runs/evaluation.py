"""A run in one call, for Python users: ``evaluate``."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from semece.datasets import Dataset, open_dataset, question_from, storable, with_unique_ids
from semece.errors import SemeceError, nearest, visible
from semece.records import Question
from semece.runs.run import Run
from semece.sampling import Settings, make_run, options_of, own_model, resolve
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from semece.sampling import GivenModel


async def evaluate(
    model: GivenModel,
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
    name, asked = own_model(model)
    data = await asyncio.to_thread(open_dataset, questions) if isinstance(questions, str) else _dataset(questions)
    _check_names(options)
    told = {name: value.item() if hasattr(value, "item") else value for name, value in {"n": n, **options}.items()}
    settings = Settings(name, data.name, judge=judge or ("rules" if asked else None), **told)
    kept = Store(":memory:", write=True) if path is None else path
    await make_run(resolve(settings, kept, dataset=data, model=asked))
    return Run(kept)


def evaluate_sync(
    model: GivenModel,
    questions: str | Sequence[Question] | Sequence[Mapping[str, Any]],
    *,
    n: int = 50,
    judge: str | None = None,
    path: str | Path | None = None,
    **options: Any,  # noqa: ANN401 - the fields of Settings
) -> Run:
    """Do what :func:`evaluate` does, outside an event loop.

    Raises
    ------
    SemeceError
        An event loop is running, as in a notebook: ``await se.evaluate(...)`` there.
    """
    with suppress(RuntimeError):
        asyncio.get_running_loop()
        raise SemeceError("an event loop is running, as in a notebook: write 'await se.evaluate(...)' there")
    return asyncio.run(evaluate(model, questions, n=n, judge=judge, path=path, **options))


def _check_names(options: Mapping[str, Any]) -> None:
    """Refuse options that there are not; where the command line calls one otherwise, the field is what is meant."""
    known = {row.name: row.field for row in options_of(Settings)} | {each.name: each.name for each in fields(Settings)}
    for name in options:
        if name not in known.values():
            found = nearest(name, known)
            near = "" if found is None else f" (did you mean {known[found]!r}?)"
            raise SemeceError(f"there is no option {visible(name)!r}{near}: the options are the fields of Settings")


def _dataset(questions: Sequence[Question] | Sequence[Mapping[str, Any]]) -> Dataset:
    made = [
        storable(q) if isinstance(q, Question) else question_from(cast("Mapping[str, Any]", q), f"question {i}")
        for i, q in enumerate(questions)
    ]
    return Dataset("questions", with_unique_ids(made, "questions"))
