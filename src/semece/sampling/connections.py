"""The models of one invocation: each is opened when it is first needed, and all are closed at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.models import open_batches, open_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semece.models import BatchModel, Model
    from semece.records import Question
    from semece.sampling.settings import Settings


class Connections:
    """Opens models as the settings say, once each.

    Parameters
    ----------
    settings : Settings
        Time-out, and the base URL of the model they name; others are where their service is.
    questions : iterable of Question
        What the fake model knows the answers to.
    """

    def __init__(self, settings: Settings, questions: Iterable[Question]) -> None:
        self._settings = settings
        self._references = {q.text: q.references[0] for q in questions if q.references}
        self._live: dict[str, Model] = {}
        self._batches: dict[str, BatchModel] = {}

    def live(self, spelling: str) -> Model:
        """Give a model.

        Raises
        ------
        ModelError
            As :func:`semece.models.open_model`.
        """
        if spelling not in self._live:
            self._live[spelling] = open_model(
                spelling,
                base_url=self._base_url(spelling),
                timeout=self._settings.timeout,
                references=self._references,
            )
        return self._live[spelling]

    def batches(self, spelling: str) -> BatchModel:
        """Give the batch interface of a model.

        Raises
        ------
        ModelError
            As :func:`semece.models.open_batches`.
        """
        if spelling not in self._batches:
            self._batches[spelling] = open_batches(
                spelling,
                base_url=self._base_url(spelling),
                timeout=self._settings.timeout,
                references=self._references,
            )
        return self._batches[spelling]

    def open(self, spelling: str) -> None:
        """Open what this invocation asks, live or in batches; one that cannot be used is refused now."""
        if self._settings.batch:
            self.batches(spelling)
        else:
            self.live(spelling)

    def _base_url(self, spelling: str) -> str | None:
        return self._settings.base_url if spelling == self._settings.model else None

    async def aclose(self) -> None:
        """Close what was opened."""
        opened: list[Model | BatchModel] = [*self._live.values(), *self._batches.values()]
        for model in opened:
            await model.aclose()
