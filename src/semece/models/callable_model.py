"""A function of your own as a model."""

from __future__ import annotations

import json
from inspect import isawaitable
from typing import TYPE_CHECKING

from semece.errors import ModelError, SemeceError, TransientError
from semece.models.protocol import Call, Reply, Request
from semece.models.shared.secrets import clear

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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
        self._failures = self._started = self._waited_for = 0
        self._under_way: set[int] = set()

    async def __call__(self, request: Request, /) -> Call:
        """Ask the function.

        Raises
        ------
        ModelError
            It is not async, returns something else than text, or has never answered.
        TransientError
            It raised.
        """
        self._started += 1
        number = self._started
        self._under_way.add(number)
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
            raise self._raised(number, error) from error
        finally:
            self._under_way.discard(number)
        if not isinstance(text, str):
            raise ModelError(f"{self.name} must return text; got {type(text).__name__}")
        self._answered = True
        return Call((Reply(text, "ok", None, json.dumps({"text": text}, ensure_ascii=False)),))

    def _raised(self, number: int, error: Exception) -> ModelError:
        """Say what the function raised, in one line; calls that began before its last chance may still answer."""
        self._failures += 1
        if self._failures == NEVER:
            self._waited_for = self._started
        said = f"{self.name} raised {type(error).__name__}: {clear(str(error), ())}"
        if self._failures >= NEVER and not self._answered and not self._before(number):
            return ModelError(f"{said}; it has not answered once")
        return TransientError(said, status="connection", maybe_paid=True)

    def _before(self, number: int) -> bool:
        """Whether another call is under way that is waited for; calls that began later do not put the end off."""
        return any(other != number and other <= self._waited_for for other in self._under_way)

    async def aclose(self) -> None:
        """Nothing to give back."""
