"""Two judges of the same responses: how alike their classes are, and what the difference changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.counts import integers
from semece.stats.diagnostics.changes import CHANGE, QUANTITIES, Quantities, changes
from semece.stats.diagnostics.frames import frame
from semece.stats.diagnostics.pools import Pool, pool
from semece.stats.estimators import mode
from semece.stats.uncertainty.bootstrap import DEFAULT, MIN_QUESTIONS, Resampling, resampled_sums

if TYPE_CHECKING:
    import polars as pl

    from semece.stats.rows import Floats, Integers


class Agreement(NamedTuple):
    """How alike two partitions of the same responses are.

    Parameters
    ----------
    rand : float
        Share of pairs of responses that both put together or both keep apart, in [0, 1].
    adjusted_rand : float
        Rand index corrected for chance; 1 for equal partitions, about 0 for unrelated ones.
    modal_jaccard : float
        Responses in both modal classes over responses in either, in [0, 1].
    same_mode : float
        1 if the modal classes share at least half of the smaller one, else 0.
    """

    rand: float
    adjusted_rand: float
    modal_jaccard: float
    same_mode: float


def partition_agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    r"""Compare two partitions of the responses of one question.

    Parameters
    ----------
    first, second : array_like of int, shape (M,)
        Labels of the same responses in the same order.

    Returns
    -------
    Agreement
        All 1 for a single response.

    Raises
    ------
    ValueError
        For no response, labels that are not integers, and unequal lengths.

    Notes
    -----
    With :math:`n_{ij}` responses in class i of the first and j of the second partition and
    :math:`\binom{n}{2}` pairs, the adjusted Rand index is

    .. math:: \frac{\sum_{ij} \binom{n_{ij}}{2} - E}{\tfrac12(A + B) - E}, \qquad
              A = \sum_i \binom{n_{i\cdot}}{2},\ B = \sum_j \binom{n_{\cdot j}}{2},\ E = AB / \tbinom{n}{2}

    Source: Hubert & Arabie (1985).

    Examples
    --------
    >>> partition_agreement([0, 0, 1, 1], [0, 0, 1, 2])
    Agreement(rand=0.8333333333333334, adjusted_rand=0.571..., modal_jaccard=1.0, same_mode=1.0)
    """
    a, b = integers(first, "first"), integers(second, "second")
    table = contingency(a, b)
    pairs, both, rows, columns = counted_pairs(table)
    here, there = a == mode(a), b == mode(b)
    common = (here & there).sum()
    jaccard = float(common / (here | there).sum())
    same = float(2 * common >= min(here.sum(), there.sum()))
    if pairs == 0:
        return Agreement(1.0, 1.0, jaccard, same)
    expected, most = rows * columns / pairs, (rows + columns) / 2
    adjusted = 1.0 if most == expected else (both - expected) / (most - expected)
    return Agreement(float((pairs + 2 * both - rows - columns) / pairs), float(adjusted), jaccard, same)


def contingency(a: Integers, b: Integers) -> Floats:
    """Count the responses of each class of one partition in each class of another.

    Examples
    --------
    >>> contingency(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"both partitions must be of the same responses, at least one; got {len(a)} and {len(b)}")
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    return table


class Pairs(NamedTuple):
    """How many pairs of responses there are, and how many are together in both, in the first, in the second."""

    every: float
    both: float
    first: float
    second: float


def counted_pairs(table: Floats) -> Pairs:
    """Count the pairs of responses that two partitions put together.

    Examples
    --------
    >>> counted_pairs(np.array([[2.0, 1.0], [0.0, 1.0]]))
    Pairs(every=6.0, both=1.0, first=3.0, second=2.0)
    """
    counts = (table.sum(), table, table.sum(axis=1), table.sum(axis=0))
    return Pairs(*(float((c * (c - 1) / 2).sum()) for c in counts))


class JudgedRun(NamedTuple):
    """What one judge says of a run.

    Parameters
    ----------
    labels : sequence of Q label sequences
        Classes of the responses.
    correct : sequence of length Q
        Correctness of the deployed answer, or one value per class; None where it is not graded.
    verbalized : sequence of length Q, optional
        Stated confidences, the same for every judge.
    scores, ranked : mapping of str to sequence of length Q
        Further confidences, and scores of which only the order means something, more being surer; None where a question
        has none.
    """

    labels: Sequence[ArrayLike]
    correct: Sequence[Any]
    verbalized: Sequence[Any] | None = None
    scores: Mapping[str, Sequence[float | None]] = {}
    ranked: Mapping[str, Sequence[float | None]] = {}

    def pool(self) -> Pool:
        """Pool the questions that enter, with their scores."""
        found = pool(self.labels, self.correct, self.verbalized)
        scores, ranked = (
            {name: np.array(values, dtype=np.float64)[found.question] for name, values in each.items()}
            for each in (self.scores, self.ranked)
        )
        return found._replace(scores=scores, ranked=ranked)


def judge_agreement(
    first: JudgedRun, second: JudgedRun, *, resampling: Resampling = DEFAULT, quantities: Quantities = QUANTITIES
) -> pl.DataFrame:
    """Compare two judges on the same responses: partitions, modes, and the change of every calibration error.

    Parameters
    ----------
    first, second : JudgedRun
        The same questions with the same responses in the same order.
    resampling : Resampling
        Replicates, level and seed.
    quantities : sequence of ComparedQuantity
        As in :func:`semece.stats.diagnostics.compare_arms`.

    Returns
    -------
    polars.DataFrame
        ``quantity``, ``questions``, ``first``, ``second``, ``change``, ``low``, ``high``, ``reason``. First
        ``rand``, ``adjusted_rand``, ``modal_jaccard``, ``same_mode``: means over questions in ``change``, with
        intervals. Then ``classes`` and the rows of :func:`semece.stats.diagnostics.compare_arms`.

    Raises
    ------
    ValueError
        If the judges do not speak of the same responses, or no question is graded by one of them.

    Examples
    --------
    >>> strict = JudgedRun([[0, 0, 1, 2]] * 40, [1, 0] * 20)
    >>> loose = JudgedRun([[0, 0, 1, 1]] * 40, [1, 0] * 20)
    >>> table = judge_agreement(strict, loose)
    >>> table.filter(quantity="same_mode")["change"].to_list(), table.filter(quantity="classes")["change"].to_list()
    ([1.0], [-1.0])
    """
    if len(first.labels) != len(second.labels):
        raise ValueError(f"judges must speak of the same questions; got {len(first.labels)} and {len(second.labels)}")
    alike = np.array([partition_agreement(a, b) for a, b in zip(first.labels, second.labels, strict=True)])
    rows = list(index_rows(alike, resampling))
    sizes = [np.array([len(np.unique(np.asarray(row))) for row in judge.labels]).mean() for judge in (first, second)]
    means = {"first": sizes[0], "second": sizes[1], "change": sizes[1] - sizes[0]}
    rows.append({"quantity": "classes", "questions": len(alike)} | means)
    rows += changes(first.pool(), second.pool(), resampling, quantities)
    return frame(rows, {"quantity": str, **CHANGE})


def partition_stability(judged: Mapping[str, JudgedRun], *, resampling: Resampling = DEFAULT) -> pl.DataFrame:
    """Compare every pair of several judgements of the same responses: shuffled answer orders, prompt variants.

    Parameters
    ----------
    judged : mapping of str to JudgedRun
        At least two.
    resampling : Resampling
        Replicates, level and seed.

    Returns
    -------
    polars.DataFrame
        The rows of :func:`judge_agreement` for each pair, with the names in ``pair`` (``'a / b'``).

    Raises
    ------
    ValueError
        For fewer than two, and as in :func:`judge_agreement`.

    Examples
    --------
    >>> same = JudgedRun([[0, 1, 0]] * 3, [1, 0, 1])
    >>> table = partition_stability({"order 1": same, "order 2": same})
    >>> table.filter(quantity="rand").select("pair", "change").rows()
    [('order 1 / order 2', 1.0)]
    """
    import polars as pl

    if len(judged) < 2:
        raise ValueError(f"at least two judgements are needed to compare; got {len(judged)}")
    return pl.concat(
        judge_agreement(one, two, resampling=resampling).select(pl.lit(f"{a} / {b}").alias("pair"), pl.all())
        for (a, one), (b, two) in combinations(judged.items(), 2)
    )


def index_rows(alike: Floats, resampling: Resampling = DEFAULT) -> Iterator[dict[str, Any]]:
    """Mean of each index over questions, with a percentile interval.

    Parameters
    ----------
    alike : ndarray, shape (Q, 4)
        An :class:`Agreement` per question.
    resampling : Resampling
        Replicates, level and seed.

    Yields
    ------
    dict
        ``quantity``, ``questions``, ``change`` (the mean), ``low``, ``high``, ``reason``.
    """
    n = len(alike)
    enough = n >= MIN_QUESTIONS
    means = resampled_sums(alike, resampling) / n if enough else np.full((1, alike.shape[1]), np.nan)
    low, high = resampling.ends_around(alike.mean(axis=0), means)
    reason = None if enough else f"no interval for fewer than {MIN_QUESTIONS} questions"
    for i, name in enumerate(Agreement._fields):
        row = {"quantity": name, "questions": n, "change": alike[:, i].mean()}
        yield row | {"low": low[i], "high": high[i], "reason": reason}
