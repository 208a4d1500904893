"""From which confidence on to answer, by a judge's verdicts corrected by those of people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semece.stats.calibration.abstention import Abstention, Threshold, fewest_answers, lower_limit, lowest_threshold
from semece.stats.correction.audited_sample import check_audited
from semece.stats.rows import check_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from semece.stats.correction.audited_sample import Audited


def corrected_threshold(
    confidence: ArrayLike,
    judge: ArrayLike,
    audited: Audited,
    *,
    target: float,
    delta: float = 0.05,
    steps: int = 20,
    asked: int | None = None,
) -> Abstention:
    r"""Find the smallest threshold above which answers are right often enough, however the judge errs.

    As :func:`semece.abstention_threshold`, with another lower limit of the accuracy of the answers that are left. With
    q the share that the judge calls correct, p of those the share that people call so, and r of the others,

    .. math:: q_{low}\, p_{low} + (1 - q_{low})\, r_{low}

    with one-sided Clopper-Pearson limits at 0.2, 0.7 and 0.1 `delta`. The first threshold tried is one that leaves
    about twice as many judged answers as would do if all were right.

    Parameters
    ----------
    confidence, judge : array_like, shape (N,)
        Confidence in [0, 1]; the judge's verdict, 0 or 1.
    audited : Audited
        The questions that people judged, drawn without regard to anything but the judge's verdict. An answer on which
        people are not of one mind counts as wrong.
    target, delta, steps, asked
        As in :func:`semece.abstention_threshold`.

    Returns
    -------
    Abstention

    Raises
    ------
    ValueError
        As :func:`semece.abstention_threshold` and :func:`semece.corrected_accuracy`.

    Notes
    -----
    The accuracy at the threshold is below the target with probability at most `delta`, for questions like these.

    Examples
    --------
    >>> from semece.stats.correction import Audited
    >>> people = np.array([1.0] * 180 + [0.0] * 20)
    >>> audited = Audited(np.arange(0, 200, 2), people[::2])
    >>> found = corrected_threshold([0.95] * 180 + [0.3] * 20, [1] * 182 + [0] * 18, audited, target=0.9)
    >>> found.threshold, found.answered, round(found.accuracy_low, 2)
    (0.35, 180, 0.94)
    """
    rows = check_rows(confidence, judge, binary=True)
    sample = check_audited(audited, rows.correct)
    people, said = np.floor(sample.people), np.floor(sample.judge) == 1

    def judged(kept: np.ndarray) -> Threshold:
        n, q = float(kept.sum()), float(rows.correct[kept].sum())
        inside = kept[sample.place]
        sides = [_Side.of(people[inside & side]) for side in (said, ~said)]
        share, low = q / n, _low(q, n, 0.2 * delta)
        right, missed = (
            _low(each.right, each.judged, part * delta) for each, part in zip(sides, (0.7, 0.1), strict=True)
        )
        accuracy = share * sides[0].share + (1 - share) * sides[1].share
        return Threshold(accuracy, low * right + (1 - low) * min(missed, right))

    least = fewest_corrected(len(sample.place), len(rows.correct), target=target, delta=delta)
    return lowest_threshold(rows.confidence, judged, target=target, steps=steps, least=least, asked=asked)


def fewest_corrected(audited: int, answers: int, *, target: float, delta: float = 0.05) -> int:
    """Fewest answers at the first threshold that :func:`corrected_threshold` tries.

    Parameters
    ----------
    audited, answers : int
        How many answers people judged, of how many.
    target, delta
        As there.

    Examples
    --------
    >>> fewest_corrected(80, 120, target=0.95)
    198
    """
    return int(np.ceil(2 * fewest_answers(target, 0.7 * delta) * answers / audited))


class _Side(NamedTuple):
    """Answers that people judged, and called right."""

    judged: float
    right: float

    @classmethod
    def of(cls, people: np.ndarray) -> _Side:
        return cls(float(len(people)), float(people.sum()))

    @property
    def share(self) -> float:
        return self.right / self.judged if self.judged else 0.0


def _low(right: float, n: float, delta: float) -> float:
    return float(lower_limit(np.array([right]), np.array([n]), delta)[0]) if n else 0.0
