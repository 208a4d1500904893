"""Finding a batch whose creation was interrupted, if it was created at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semece.models import BatchFailedError

if TYPE_CHECKING:
    from semece.models import BatchModel, BatchState
    from semece.sampling.batch.ledger import Entry, Ledger


class Search:
    """Looks for the batches of ledger entries whose creation was interrupted.

    A provider that carries our id for a batch is asked for it. Otherwise a batch that was created since, that no entry
    knows and that has as many lines is a candidate; once it has ended, the names of its lines tell.

    Parameters
    ----------
    model, ledger : BatchModel, Ledger
        Where, and for whom.
    """

    def __init__(self, model: BatchModel, ledger: Ledger) -> None:
        self._model, self._ledger = model, ledger
        self._strangers: set[str] = set()

    async def find(self, entry: Entry) -> tuple[str | None, bool]:
        """Look once.

        Returns
        -------
        tuple of str or None and bool
            The provider's id if the batch is found, and whether a candidate is still under way.
        """
        known = self._ledger.known() | self._strangers
        waiting = False
        for state in await self._model.listed(entry.since):
            if state.mark is not None or self._model.marks:
                if state.mark == entry.id:
                    return state.id, False
                continue
            if state.id in known or state.requests not in {None, len(entry.slots)}:
                continue
            if state.ending is None:
                waiting = True
            elif await self._owns(entry, state):
                return state.id, False
            else:
                self._strangers.add(state.id)
        return None, waiting

    async def _owns(self, entry: Entry, state: BatchState) -> bool:
        """Whether the first line of a batch bears the entry's name."""
        try:
            async for result in self._model.results(state):
                return entry.owns(result.custom_id)
        except BatchFailedError:
            pass
        return False
