"""What is stored of judges' replies, as a judge's procedure asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import ParseError
from semece.judges import Missing, Undelivered, run_procedure
from semece.store.keys import Keys
from semece.store.schema import FINAL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from semece.judges import Procedure, Query
    from semece.store.run_store import Store, StoredReply

T = TypeVar("T")


class JudgeReplies:
    """The replies of judges that a run file holds; those of one question and stage are read once.

    Parameters
    ----------
    store : Store
        The run file.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[tuple[str, str], dict[bytes, list[StoredReply]]] = {}

    def find(self, query: Query) -> Any:  # noqa: ANN401 - what the query's reader gives
        """Give the reading of the first stored reply that can be read.

        Raises
        ------
        Missing
            Nothing is stored.
        Undelivered
            The reply was delivered without a text.
        ParseError
            What is stored cannot be read.
        """
        fault: ParseError | None = None
        for row in self.rows(query):
            if row.status in FINAL:
                raise Undelivered(row.status)
            if row.status in {"ok", "unparseable"}:
                try:
                    return query.read(row.text)
                except ParseError as error:
                    fault = error
        raise fault or Missing

    def rows(self, query: Query) -> list[StoredReply]:
        """List the replies to a query, oldest first."""
        return self._rows(query.stage, query.question_id).get(query.key or keys_of(query)[query.index], [])

    def _rows(self, stage: str, question_id: str) -> dict[bytes, list[StoredReply]]:
        place = stage, question_id
        if place not in self._known:
            self._known[place] = {}
            for row in self._store.replies(*place):
                self._known[place].setdefault(row.key, []).append(row)
        return self._known[place]

    def add(self, rows: Iterable[StoredReply]) -> None:
        """Take note of replies that have just come."""
        for row in rows:
            self._rows(row.stage, row.question_id).setdefault(row.key, []).append(row)


def keys_of(query: Query) -> Keys:
    """Give the keys of what a judge asks its model.

    Raises
    ------
    Missing
        It has no model to ask.
    """
    if query.decoding is None:
        raise Missing
    return Keys(query.stage, query.question_id, query.judge, query.messages, query.decoding)


def read_stored(procedure: Procedure[T], store: Store) -> T:
    """Run a judge's procedure on what is stored; nobody is asked.

    Raises
    ------
    ParseError, Missing
        Those that the procedure lets pass.
    """
    return run_procedure(procedure, JudgeReplies(store).find)
