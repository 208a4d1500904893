"""How often a run is called ahead, or an alarm is given, and how often that is wrong.

Pairs of runs on the same questions, whose true errors are known. Confidences are Sem1 of 20 answers to questions with
K ~ U{2..12} classes, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}; a unanimous run is always certain. Correctness is
Bernoulli of a function of the confidence, and of half of the questions the same luck decides in both runs. Questions
are drawn with replacement from a pool, whose own values are the truth.
"""

from __future__ import annotations

import os
import sys
import time
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from benchmarks._tables import table
from semece.compare.limits import ALARMS
from semece.stats.calibration.binned_errors import ece
from semece.stats.counts import Counts
from semece.stats.diagnostics.arm_ranks import SURE as SURELY
from semece.stats.diagnostics.arm_ranks import ranks_of_terms
from semece.stats.diagnostics.changes import correctness_terms
from semece.stats.estimators import sem2
from semece.stats.estimators.semx import semx
from semece.stats.simulation import dirichlet_mixture
from semece.stats.uncertainty.bootstrap import MIN_QUESTIONS
from semece.stats.uncertainty.drift import change_at_look
from semece.stats.uncertainty.paired_errors import (
    ErrorTerms,
    binned_terms,
    gap_terms,
    paired_error,
    paired_mean,
    surely_less,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TITLE = "Who is ahead"
POOL = 200_000
REPLICATIONS = int(os.environ.get("RANKING_REPLICATIONS", "2000"))
N_ANSWERS = 20
CHUNK = 50_000
MOST = 5
"""Most runs that are ranked together."""
WIDTHS = 10
"""Intervals take most of the time: one run in so many has them."""
SURE = 0.025
"""One-sided p-value below which a run is called ahead with more than 95 %."""

ABOUT_RANKS = """\
Percent of the data sets in which one of two runs is called ahead with more than 95 % (of equal runs either may be; a
truly worse one at most 5 together), and in which the interval of the change holds the true change."""


ABOUT_GROUPS = """\
Three runs and five, in percent of the data sets: 'wrong': a run is called better than one that is truly as good or
better (at most 5, all statements of a data set together); 'best ahead': the truly best one is called ahead of all the
others. 500 questions."""


class Model(NamedTuple):
    """A run: the confidence and the chance of being right at each question of the pool."""

    confidence: np.ndarray
    accuracy: np.ndarray


def draw_confidences(size: int) -> np.ndarray:
    """Draw Sem1 of runs on the same questions; shape (MOST, size)."""
    rng = np.random.default_rng(0)
    parts = []
    for start in range(0, size, CHUNK):
        pmf = dirichlet_mixture(min(CHUNK, size - start), rng=rng).pmf
        parts.append([rng.multinomial(N_ANSWERS, pmf).max(axis=1) / N_ANSWERS for _ in range(MOST)])
    return np.concatenate(parts, axis=1)


SHAPES = {
    "over-confident": lambda c, x: np.clip(c - x, 0, 1),
    "crossing": lambda c, x: 0.5 + (1 - x) * (c - 0.5),
    "over-confident from .7": lambda c, x: np.where(c < 0.7, c, np.clip(c - x, 0, 1)),
}
"""Accuracy as a function of the confidence and of a size that makes the error what it should be."""

PAIRS = (
    ("calibrated", 0, "calibrated", 0),
    ("calibrated", 0, "over-confident", 0.02),
    ("over-confident", 0.05, "over-confident", 0.05),
    ("over-confident", 0.1, "over-confident", 0.1),
    ("over-confident", 0.1, "crossing", 0.1),
    ("over-confident from .7", 0.05, "over-confident", 0.05),
    ("over-confident from .7", 0.1, "over-confident", 0.1),
    ("crossing", 0.1, "over-confident from .7", 0.1),
    ("unanimous", 0.002, "calibrated", 0),
    ("unanimous", 0.03, "over-confident", 0.03),
    ("unanimous", 0.1, "crossing", 0.1),
    ("unanimous", 0.02, "unanimous", 0.02),
    ("calibrated", 0, "over-confident", 0.15),
    ("over-confident", 0.05, "over-confident", 0.15),
    ("crossing", 0.05, "crossing", 0.15),
    ("unanimous", 0.01, "over-confident", 0.1),
)
"""Shape and true error of both runs."""
GROUPS = (
    *((("over-confident", 0.1),) * k for k in (3, MOST)),
    (("over-confident from .7", 0.1), ("over-confident", 0.1), ("crossing", 0.1)),
    (("unanimous", 0.02),) * 3,
    (("over-confident", 0.05), ("over-confident from .7", 0.1), ("over-confident", 0.1)),
    (("calibrated", 0), ("over-confident", 0.15), ("over-confident", 0.15)),
)
"""Shape and true error of each of several runs, the best first."""
ACCURACIES = ((0.7,) * 3, (0.7,) * MOST, (0.75, 0.7, 0.7), (0.8, 0.7, 0.7, 0.7, 0.7), (0.98,) * MOST)
"""True accuracies of several runs, the best first."""


def model(shape: str, error: float, confidence: np.ndarray) -> Model:
    """Make a run with a true error."""
    if shape == "unanimous":
        return Model(np.ones_like(confidence), np.full_like(confidence, 1 - error))
    if error == 0:
        return Model(confidence, confidence)
    size = brentq(lambda x: ece(confidence, SHAPES[shape](confidence, x)) - error, 0, 1)
    return Model(confidence, SHAPES[shape](confidence, size))


def drawn(models: Sequence[Model], size: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Draw runs on the same questions: confidence and correctness."""
    index, luck = rng.integers(0, len(models[0].accuracy), size), rng.random(size)
    others = [np.where(rng.random(size) < 0.5, luck, rng.random(size)) for _ in models[1:]]
    pairs = zip(models, [luck, *others], strict=True)
    return [(each.confidence[index], (u < each.accuracy[index]).astype(float)) for each, u in pairs]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def rank_row(confidences: np.ndarray, pair: tuple[str, float, str, float], size: int, replications: int) -> list[str]:
    """How often either run is called ahead, and how often the interval of the change holds."""
    shapes, errors = pair[::2], pair[1::2]
    models = tuple(map(model, shapes, errors, confidences))
    truth = errors[1] - errors[0]
    rng = np.random.default_rng([size, *(len(shape) for shape in shapes), *(round(1000 * error) for error in errors)])
    ahead, held = [], []
    for replication in range(replications):
        one, other = (binned_terms(*side) for side in drawn(models, size, rng))
        ahead.append(np.array(surely_less(one, other, rng=rng)) < SURE)
        if replication % WIDTHS == 0:
            change = paired_error(one, other, rng=rng)
            held.append([change.low <= truth <= change.high, change.high - change.low])
    (first, second), (covered, width) = np.mean(ahead, axis=0), np.mean(held, axis=0)
    row = [f"{shapes[0]} {errors[0]:g}", f"{shapes[1]} {errors[1]:g}", str(size)]
    print(*row, first, second, covered, width, sep=" | ", file=sys.stderr, flush=True)
    return [*row, percent(first), percent(second), percent(covered), f"{width:.3f}"]


def group_row(models: Sequence[Model], errors: Sequence[float], name: str, replications: int) -> list[str]:
    """How often something wrong is said of several runs, and how often the best is ahead; by errors or accuracies."""
    higher = name == "accuracy"
    rng = np.random.default_rng([len(models), *(round(1000 * error) for error in errors)])
    best, worst = (errors == pick(errors) for pick in ((np.max, np.min) if higher else (np.min, np.max)))
    wrong, ahead = [], []
    for _ in range(replications):
        sides = drawn(models, 500, rng)
        terms = [(correctness_terms if higher else binned_terms)(*side) for side in sides]
        rows = sorted(ranks_of_terms(name, range(len(models)), terms, higher=higher), key=itemgetter("arm"))
        low, high, sure = (np.array([row[key] for row in rows]) for key in ("rank_low", "rank_high", "ahead"))
        wrong.append((low[best] > 1).any() or (high[worst] < len(models)).any() or (sure[~best] > SURELY).any())
        ahead.append((sure[best] > SURELY).any())
    row = [name, ", ".join(f"{error:g}" for error in errors), percent(np.mean(wrong))]
    row.append(percent(np.mean(ahead)) if best.sum() == 1 else "")
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


def group_rows(confidences: np.ndarray, replications: int) -> Iterator[list[str]]:
    """Rank several runs, by ECE and by accuracy."""
    for group in GROUPS:
        models = [model(*each, c) for each, c in zip(group, confidences, strict=False)]
        shapes = " / ".join(dict.fromkeys(shape for shape, _ in group))
        row = group_row(models, np.array([error for _, error in group]), "ece", replications * 3 // len(group) ** 2)
        yield [f"ECE, {shapes}", *row[1:]]
    for some in ACCURACIES:
        models = [Model(c, np.full_like(c, p)) for p, c in zip(some, confidences, strict=False)]
        yield group_row(models, np.array(some), "accuracy", replications)


ABOUT_ALARMS = """\
Alarms of `semece check --baseline` in percent of the runs. Same: the same model on the same questions, with new answers
(at most 5). Flipped: the same answers, and right ones of .15 of all questions are wrong now (at least 90 at N = 150,
n = 20, calibrated). The alarms are those of accuracy, held-out gap, SemX-ECE, Sem1-ECE, Sem2-ECE, Ver-ECE and mean Ver
minus accuracy; they share 5 %. Below 30 questions only accuracy and the gaps are compared: their intervals are exact
for a run that has not changed, and wide (2,000 runs of the same model, 600 flipped)."""
FALLEN = 0.15
ASKED = 20_000
"""Questions that a run is drawn from, with replacement."""
SETTINGS = (
    ("calibrated", 4, 500),
    ("calibrated", 20, 150),
    ("calibrated", 20, 500),
    ("over-confident", 20, 150),
    ("over-confident", 20, 500),
    ("unanimous", 20, 150),
    ("calibrated", 20, 24),
    ("over-confident", 20, 24),
    ("over-confident", 4, 12),
)


class Questions(NamedTuple):
    """Class probabilities, which class is right (in a fifth none, if over-confident), and stated confidence."""

    pmf: np.ndarray
    right: np.ndarray
    stated: np.ndarray


def draw_questions(kind: str, size: int, rng: np.random.Generator) -> Questions:
    """Draw questions to a model."""
    pmf = -np.sort(-dirichlet_mixture(size, rng=rng).pmf, axis=1)
    if kind == "unanimous":
        pmf = np.tile([0.998, 0.002], (size, 1))
    ticket, until = rng.random((size, 1)), np.cumsum(pmf, axis=1)
    right = ((ticket < until) & (ticket >= until - pmf)).astype(float)
    if kind == "over-confident":
        right[rng.random(size) < 0.2] = 0.0
    return Questions(pmf, right, np.clip(pmf[:, 0] + rng.normal(0, 0.1, size), 0, 1).round(2))


class Answered(NamedTuple):
    """Questions answered by a run: confidences and correctness, and the residuals of SemX by bin with their masses."""

    sem1: np.ndarray
    sem2: np.ndarray
    stated: np.ndarray
    correct: np.ndarray
    value: np.ndarray
    chance: np.ndarray
    held_out: np.ndarray


def answered(counts: np.ndarray, questions: Questions) -> Answered:
    """Read off all questions at once; some are drawn from them later."""
    ragged, n = Counts.from_counts(counts), len(counts)
    found = semx(correct=questions.right.ravel(), counts=ragged)
    cell = found.question * len(found.low) + found.bin
    rows = [
        np.bincount(cell, getattr(found, name), n * len(found.low)).reshape(n, -1)
        for name in ("value", "chance", "held_out")
    ]
    correct = questions.right[np.arange(n), counts.argmax(axis=1)]
    return Answered(counts.max(axis=1) / counts.sum(axis=1), sem2(counts=ragged), questions.stated, correct, *rows)


def numbers_of(some: Answered) -> dict[str, ErrorTerms]:
    """Give the terms of every number that a baseline is compared by."""
    right, wrong = (some.held_out - some.chance).mean(axis=0), some.held_out.mean(axis=0)
    every = np.concatenate([some.value, [right, wrong, right, wrong]])
    return {
        "accuracy": correctness_terms(some.sem1, some.correct),
        "held_out_gap": ErrorTerms(some.value.sum(axis=1, keepdims=True), np.zeros(1)),
        "ver_gap": gap_terms(some.stated, some.correct),
        "semx_ece": ErrorTerms(some.value, every.var(axis=0) / len(some.value)),
        "sem1_ece": binned_terms(some.sem1, some.correct),
        "sem2_ece": binned_terms(some.sem2, some.correct),
        "ver_ece": binned_terms(some.stated, some.correct),
    }


def alarm(name: str, before: ErrorTerms, after: ErrorTerms, share: float, rng: np.random.Generator) -> bool:
    """Whether a number has become worse, as `semece check --baseline` decides."""
    few = len(before.value) < MIN_QUESTIONS
    if name.endswith("ece"):
        return not few and surely_less(before, after, rng=rng)[0] < share
    if few:
        found = change_at_look((after.value - before.value)[:, 0], 1, alarms=4 * share)
        if name == "accuracy":
            return found.high < 0
        return (found.low > 0 or found.high < 0) and abs(after.total) > abs(before.total)
    change = paired_mean((after.value - before.value)[:, 0])
    if name == "accuracy":
        return change.second_less < share
    return min(change[3:]) < share and abs(after.total) > abs(before.total)


def alarm_row(setting: tuple[str, int, int], *, flipped: bool, replications: int) -> list[str]:
    """How often any alarm is given, and which."""
    kind, n, size = setting
    rng = np.random.default_rng([len(kind), n, size, flipped])
    questions = draw_questions(kind, ASKED, rng)
    counts = rng.multinomial(n, questions.pmf)
    later, again = questions, rng.multinomial(n, questions.pmf)
    if flipped:
        share = FALLEN / questions.right[np.arange(ASKED), counts.argmax(axis=1)].mean()
        right = np.where(rng.random((ASKED, 1)) < share, 0.0, questions.right)
        again, later = counts, questions._replace(right=right)
    pools = answered(counts, questions), answered(again, later)
    given = []
    for _ in range(replications):
        index = rng.integers(0, ASKED, size)
        before, after = (numbers_of(Answered(*(part[index] for part in pool))) for pool in pools)
        level = ALARMS / len(before) / 2
        given.append([alarm(name, before[name], after[name], level, rng) for name in before])
    shares = np.mean(given, axis=0)
    row = [kind, "flipped" if flipped else "same", str(n), str(size), percent(np.any(given, axis=1).mean())]
    print(*row, *map(percent, shares), sep=" | ", file=sys.stderr, flush=True)
    return [*row, *map(percent, shares)]


def main(replications: int = REPLICATIONS) -> str:
    start = time.perf_counter()
    confidences = draw_confidences(POOL)
    ranks = [rank_row(confidences, pair, size, replications) for size in (150, 500, 2000) for pair in PAIRS]
    groups = list(group_rows(confidences, replications))
    alarms = [
        alarm_row(each, flipped=flipped, replications=replications) for flipped in (False, True) for each in SETTINGS
    ]
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} replications a cell, a pool of {POOL:,} questions, {minutes:.0f} minutes."
    names = ["accuracy", "held-out gap", "Ver − accuracy", "SemX-ECE", "Sem1-ECE", "Sem2-ECE", "Ver-ECE"]
    header = ["first", "second", "N", "first ahead", "second ahead", "change covered", "mean width"]
    return "\n\n".join(
        [
            " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
            setting,
            ABOUT_RANKS,
            table(header, ranks),
            ABOUT_GROUPS,
            table(["ranked by", "truth", "wrong", "best ahead"], groups),
            ABOUT_ALARMS,
            table(["model", "change", "n", "N", "any alarm", *names], alarms),
        ]
    )


if __name__ == "__main__":
    print(main())
