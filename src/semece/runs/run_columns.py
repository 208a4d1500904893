"""What the numbers of a run need, in columns: each question's classes, and what there is to say of its replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.stats import NO_ANSWER, UNGRADED, Counts, WeightedTable, per_question, regime, weighted_estimates

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MAKER = "columns-1"
"""What makes them; another name when they change."""


class RunColumns(NamedTuple):
    """Questions in columns; arrays have shape (Q,).

    Parameters
    ----------
    table : WeightedTable
        A row a question, in the run's order; or distinct questions and how many are like each.
    usable : ndarray of int
        M of each question, whether or not its responses have classes.
    least : ndarray of int
        Fewest usable responses with which it enters.
    missing, lacking : ndarray of int
        Responses, and replies of a judge's model, that are still to come.
    statuses : mapping of str to int
        Responses by status.
    confidences : tuple of int
        How many usable responses state a confidence, and how many of those cannot be read.
    unlabelled : tuple of int and str
        How many responses were read whole and are no short answers, and the first of them.
    identical : int
        Questions with five responses and more, if the texts of each are identical; else 0.
    """

    table: WeightedTable
    usable: Integers
    least: Integers
    missing: Integers
    lacking: Integers
    statuses: Mapping[str, int]
    confidences: tuple[int, int]
    unlabelled: tuple[int, str]
    identical: int

    @property
    def refused(self) -> NDArray[np.bool_]:
        """Whether a most frequent class of a question is no answer."""
        counts = self.table.counts
        return np.asarray(per_question(np.maximum, counts.is_mode & self.table.refused, counts.offsets))

    def count(self, chosen: NDArray[np.bool_] | Integers) -> int:
        """Add up over questions."""
        return int(chosen @ self.table.weights)

    def numbers(self, *, exclude: bool) -> pl.DataFrame:
        """Give the numbers of each question.

        Parameters
        ----------
        exclude : bool
            Whether a question whose most frequent answer is none enters nothing.

        Returns
        -------
        DataFrame
            The columns of :func:`semece.stats.weighted_estimates`, ``refused`` and ``regime``, in which ``status`` says
            why a question enters no metric.
        """
        import polars as pl

        found, refused = weighted_estimates(self.table), self.refused
        status = np.where(np.diff(self.table.counts.offsets) > 0, found["status"].to_numpy(), "unpartitioned")
        status = np.where(refused & (status == "complete") & exclude, "not_attempted", status.astype("U13"))
        status = np.where(self.usable < np.maximum(self.least, 2), "too_few", status)
        status = np.where(self.missing > 0, "incomplete", status)
        own = {"n_responses": self.usable, "status": status, "refused": refused}
        return with_regimes(found.with_columns(pl.Series(name, values) for name, values in own.items()))

    def packed(self) -> list[Any]:
        """Lay them out as JSON has it."""
        counts, grades, _, stated, total, *_ = self.table
        arrays = (counts.values, np.diff(counts.offsets), grades, stated, total, *self[1:5])
        return [*(array.tolist() for array in arrays), *self[5:]]

    @classmethod
    def unpacked(cls, laid_out: list[Any]) -> RunColumns:
        """Read them from what :meth:`packed` gave."""
        values, sizes, grades, stated = (np.array(column, dtype=np.int64) for column in laid_out[:4])
        table = one_each(Counts(values, _offsets(sizes)), grades, stated, np.array(laid_out[4], dtype=np.float64))
        usable, least, missing, lacking = (np.array(column, dtype=np.int64) for column in laid_out[5:9])
        statuses, confidences, unlabelled, identical = laid_out[9:]
        said = statuses, tuple(confidences), tuple(unlabelled), identical
        return cls(table, usable, least, missing, lacking, *said)


def one_each(counts: Counts, grades: Integers, stated: Integers, total: NDArray[np.float64]) -> WeightedTable:
    """Make a table with a row a question."""
    n = len(counts)
    return WeightedTable(counts, grades, np.zeros(n, int), stated, total, np.zeros(n, int), np.ones(n, int))


def _offsets(sizes: Integers) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def grade_code(verdict: str | None, name: str) -> int:
    """Give the number of what a class is, by its verdict and the answer that stands for it."""
    if verdict == "not_attempted" or not name:
        return NO_ANSWER
    return UNGRADED if verdict is None else int(verdict == "correct")


def with_regimes(table: pl.DataFrame) -> pl.DataFrame:
    """Add the regime of each question with a margin; as a run computes its estimators."""
    import polars as pl

    known = table.select(pl.col("margin").is_not_null() & (pl.col("n_responses") >= 2)).to_series()
    names = np.full(len(table), None, dtype=object)
    rows = table.filter(known)
    if len(rows):
        columns = (rows[name].to_numpy() for name in ("margin", "top_two_mass", "n_classes", "n_responses"))
        names[known.to_numpy()] = regime(*columns, design="as-run")
    return table.with_columns(pl.Series("regime", names.tolist(), dtype=pl.String))
