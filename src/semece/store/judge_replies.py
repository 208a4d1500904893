"""What a run file holds of judges: replies, as a judge's procedure asks for them, and results, as they were derived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import ParseError
from semece.judges import Missing, Undelivered, run_procedure
from semece.records import Partition
from semece.store.derived import source_of
from semece.store.keys import Keys
from semece.store.schema import FINAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from semece.judges import Judge, Procedure, Query
    from semece.records import Question, Verdict
    from semece.store.derived import Derived
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


class KeptJudge:
    """A judge whose results are kept: what is stored of them is not derived again.

    Parameters
    ----------
    judge : Judge
        Who judges where nothing is stored.
    derived : Derived
        The derived rows of a run file.
    """

    def __init__(self, judge: Judge, derived: Derived) -> None:
        self._judge, self._derived = judge, derived
        self.name, self.id, self.derived_id, self.model = judge.name, judge.id, judge.derived_id, judge.model

    @property
    def makers(self) -> tuple[str, ...]:
        """Under which ids its partitions and verdicts stand; none if they are stored as they came."""
        return () if self.derived_id is None else (f"partition {self.derived_id}", f"verdict {self.derived_id}")

    def classes(self, question: Question, answers: Sequence[str], /) -> Procedure[Partition]:
        """Group the usable answers of a question."""
        if not self.makers:
            return (yield from self._judge.classes(question, answers))
        # a model's replies are of one question, though another may have the same text
        maker, source = self.makers[0], source_of(question.id, question.text, answers)
        kept = self._derived.get(maker, source)
        if kept is not None:
            return Partition(question.id, tuple(kept[0]), tuple(kept[1]), self.id)
        made = yield from self._judge.classes(question, answers)
        self._derived.put(maker, source, [made.labels, made.representatives])
        return made

    def verdict(self, question: Question, classes: Partition, label: int, /) -> Procedure[Verdict | None]:
        """Grade one class."""
        answer = classes.representatives[label]
        if not self.makers or not answer or not question.references:
            return (yield from self._judge.verdict(question, classes, label))
        maker, source = self.makers[1], source_of(question.id, question.text, question.references, answer)
        kept: Verdict | None = self._derived.get(maker, source)
        if kept is not None:
            return kept
        made = yield from self._judge.verdict(question, classes, label)
        if made is not None:
            self._derived.put(maker, source, made)
        return made
