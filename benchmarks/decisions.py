"""How often decisions are wrong: thresholds to answer from, in slices too; alarms of a model that drifts; planned runs.

Questions are drawn with replacement from pools whose own values are the truth: K ~ U{2..12} classes with
Dirichlet(alpha) probabilities, alpha in {.15, .4, 1, 3}, or nearly certain ones (the leading class has .8 to 1), with
10 answers each. The leading class is right with its own probability c (calibrated), c squared (over-confident), or
.25 + .5 c (crossing). The stated confidence is the square root of c with some noise, in steps of .05.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from benchmarks._tables import table
from semece.stats import (
    Counts,
    abstention_threshold,
    change_at_look,
    fewest_answers,
    fit_recalibration,
    semx,
    slice_thresholds,
)
from semece.stats.calibration.abstention import lower_limit
from semece.stats.estimators.semx import SemX
from semece.stats.simulation import dirichlet_mixture, easy, simulate, softmax_normal
from semece.stats.uncertainty.drift import TAIL
from semece.stats.uncertainty.held_out_errors import held_out_gap
from semece.stats.uncertainty.paired_errors import paired_mean
from semece.stats.uncertainty.planning import SUBSAMPLES, ResidualSpread, pilot_spread, plan_questions, worst_spread

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = "Decisions"
REPLICATIONS = int(os.environ.get("DECISIONS_REPLICATIONS", "2000"))
POOL = 100_000
N_ANSWERS, DELTA = 10, 0.05
POPULATIONS = {
    "calibrated": (dirichlet_mixture, "calibrated"),
    "over-confident": (dirichlet_mixture, "over-confident"),
    "crossing": (dirichlet_mixture, "crossing"),
    "nearly certain": (easy, "calibrated"),
}
SCORES = ("sem1", "sem2", "verbalized", "p_true", "entropy")
TARGETS = (0.7, 0.9, 0.95)
SIZES = (300, 1000)
SLICES, EACH = 12, 250
LOOKS, DRAWS = 100, 500
"""Looks after the baseline, and how often the answers to each question are drawn: looks take one of these."""
SERIES = (("mixed", 50, 5), ("mixed", 200, 4), ("mixed", 200, 10), ("mixed", 1000, 10), ("nearly certain", 200, 10))
MOVED = (0.1, 0.3)
PILOTS, WIDTHS = (50, 200, 500), (0.1, 0.05)
PLANNED = {
    "mixed": (dirichlet_mixture, 1),
    "leading .5 to 1": (partial(easy, confidence=(0.5, 1.0)), 1),
    "leading .8 to 1": (easy, 1),
    "leading .95 to 1": (partial(easy, confidence=(0.95, 1.0)), 1),
    "five even classes": (partial(dirichlet_mixture, n_classes=(5, 5), alphas=(1.0,)), 1),
    "far logits": (partial(softmax_normal, n_classes=(3, 6), scales=(2.0, 5.0)), 1),
    "leading .3 to .9, squared": (partial(easy, confidence=(0.3, 0.9)), 2),
    "far logits, squared": (partial(softmax_normal, n_classes=(3, 6), scales=(2.0, 5.0)), 2),
}
"""Families, and by which power of its own probabilities a class is right: 1 is calibrated."""

ABOUT_THRESHOLDS = """\
Thresholds (`abstention_threshold`, delta .05) of the run's own scores and of named ones. p_true: ten replies on a noisy
confidence. entropy: only its order means something, and a Platt map of 300 other questions makes it a confidence, in
each run another one. In percent of the runs: a threshold is found / the accuracy of the
answers above it is below the target (at most 5)."""
ABOUT_SLICES = f"""\
{SLICES} slices of {EACH} questions (`slice_thresholds`, delta .05). In percent of the runs: some slice has a
threshold / some slice that has one misses the target (at most 5) / some slice would miss it if each had 5 % of its own.
'Just below': all confidences are 1, and in every slice the accuracy is .001 below the target: the worst case."""
ABOUT_DRIFT = f"""\
{LOOKS} looks at the same questions after a baseline (`change_at_look`; accuracy and the held-out gap share 5 %). In
percent of the series, where nothing has changed: an alarm at any look (at most 5) / an alarm of accuracy if each look
has the usual paired 95 % interval / an alarm of accuracy if the mean of all looks so far is held against the baseline,
whose rows are taken as independent and whose own noise is forgotten. Where a share of the questions has other answers
from look {LOOKS // 10} on, in a tenth of the series: all intervals of accuracy, and of the gap, hold the true change
at all looks (at least 97.5 each) / the change is found at the first look that has it / within ten."""

ABOUT_PLANS = f"""\
Runs of models, calibrated ones and ('squared') over-confident ones, that are planned by a pilot of {N_ANSWERS} answers
(`plan_questions`) or, without one, by the worst case, and then made with new questions; {{:,}} runs a cell. The rule
was chosen on other families. N: mean number of questions planned. In percent of the runs: the
pilot's own spread is planned with / then the width of the run is within 10 % of the planned one (at least 90)
/ otherwise, with the upper limit of the spread or the worst case, it is at most the planned one (at least 90) / what is
promised of the plan that was made, one or the other, is kept."""


class Pool(NamedTuple):
    """Questions of a population: in which step of the grid of thresholds each score lies, and whether it is right.

    ``shares`` has shape (STEPS + 1, 2): of the questions that the k-th threshold adds, those wrong and those right.
    """

    shares: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, shares: np.ndarray) -> Pool:
        """Put confidences on the grid; ``shares`` has shape (N, 2)."""
        added = STEPS - np.floor(values * STEPS + 1e-7).astype(int)
        return cls(np.stack([np.bincount(added, part, STEPS + 1) for part in shares.T], axis=1))

    @property
    def accuracy(self) -> np.ndarray:
        """Accuracy of the answers at or above each threshold; 0 above all answers."""
        wrong, right = np.cumsum(self.shares, axis=0).T
        return np.where(right > 0, right / np.maximum(wrong + right, 1e-12), 0.0)

    def draw(self, rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Draw runs: how many answers each threshold leaves, and how many of them are right."""
        drawn = rng.multinomial(size, self.shares.ravel(), shape).reshape(*shape, STEPS + 1, 2)
        left = np.cumsum(drawn, axis=-2)
        return left.sum(axis=-1), left[..., 1]


RANKS, PILOT = 500, 300
"""Distinct values of the score that has only an order, and questions of the run that its map is fitted on."""
STEPS, CHECKED = 20, 3
"""Steps of the grid, and how many runs of a cell go through the public function, which must say the same."""


def drawn_scores(name: str, score: str) -> tuple[np.ndarray, np.ndarray]:
    """Draw the questions of a population: a score, and whether the most frequent answer is right; half is wrong.

    ``p_true`` is the mean of what the replies of a sampled P(True) say, ``entropy`` has only an order.
    """
    family, correctness = POPULATIONS[name]
    rng = np.random.default_rng(len(name))
    study = simulate(family(POOL, rng=rng), N_ANSWERS, correctness=correctness, rng=rng)
    c, noise = study.oracle_confidence, rng.normal(size=POOL)
    values = {
        "sem1": study.sem1,
        "sem2": study.sem2,
        "verbalized": np.round(np.clip(c**0.5 + 0.05 * noise, 0, 1) * 20) / 20,
        "p_true": np.random.default_rng(1).binomial(N_ANSWERS, np.clip(c + 0.2 * noise, 0, 1)) / N_ANSWERS,
        "entropy": np.log(np.maximum(study.sem1, 0.05)) + 0.3 * noise,
    }
    return values[score], np.floor(study.correct).astype(int)


def draw_pool(name: str, score: str) -> Pool:
    """Draw the questions of a population, and their answers."""
    values, correct = drawn_scores(name, score)
    return Pool.of(values, np.bincount(np.arange(POOL) * 2 + correct, minlength=2 * POOL).reshape(-1, 2) / POOL)


def mapped(replications: int, name: str, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Do runs of a score that has only an order, each recalibrated by a map of a pilot of its own.

    Returns how many answers each threshold leaves, how many of them are right, and what share of the population is.
    """
    values, correct = drawn_scores(name, "entropy")
    step = np.argsort(np.argsort(values)) * RANKS // POOL
    shares = np.bincount(2 * step + correct, minlength=2 * RANKS).reshape(-1, 2) / POOL
    middle = np.bincount(step, values) / np.bincount(step)
    rng = np.random.default_rng([len(name), size])
    runs = []
    for _ in range(replications):
        drawn = rng.multinomial(PILOT, shares.ravel())
        rows = np.repeat(np.repeat(middle, 2), drawn), np.repeat(np.tile([0.0, 1.0], RANKS), drawn)
        pool = Pool.of(fit_recalibration(*rows, domain="real")(middle), shares)
        runs.append((*pool.draw(rng, size, ()), pool.accuracy))
    n, right, accuracy = (np.array(column) for column in zip(*runs, strict=True))
    return n, right, accuracy


def places_of(n: np.ndarray, right: np.ndarray, target: float, delta: float) -> np.ndarray:
    """Find the place of the threshold of each run on the grid, from the top; -1 where there is none."""
    enough = n >= fewest_answers(target, delta)
    holds = lower_limit(right.astype(float), np.maximum(n, 1), delta) >= target
    kept = np.logical_and.accumulate(~enough | holds, axis=-1) & enough
    return np.where(kept.any(axis=-1), STEPS - np.argmax(kept[..., ::-1], axis=-1), -1)


def rows_of(n: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make confidences and correctness of what a run has on the grid."""
    added, hits = np.diff(n, prepend=0), np.diff(right, prepend=0)
    grid = np.arange(STEPS, -1, -1) / STEPS
    pieces = [np.repeat([1.0, 0.0], [hit, all_ - hit]) for hit, all_ in zip(hits, added, strict=True)]
    return np.repeat(grid, added), np.concatenate(pieces)


def thresholds(replications: int) -> str:
    """Tabulate how often a threshold is found, and how often its promise is missed."""
    rows = []
    for name, score in product(POPULATIONS, SCORES):
        for size in SIZES:
            if score == "entropy":
                n, right, accuracy = mapped(replications, name, size)
            else:
                pool = draw_pool(name, score)
                rng = np.random.default_rng([len(name), len(score), size])
                n, right = pool.draw(rng, size, (replications,))
                accuracy = np.broadcast_to(pool.accuracy, n.shape)
            row = [name, score, f"{size:,}"]
            for target in TARGETS:
                found = places_of(n, right, target, DELTA)
                for at in range(CHECKED):
                    threshold = abstention_threshold(*rows_of(n[at], right[at]), target=target).threshold
                    assert (threshold is None) == (found[at] < 0)
                    assert threshold is None or round(STEPS * (1 - threshold)) == found[at]
                row.append(percents(np.array([(found >= 0).mean(), misses(found, accuracy, target).mean()])))
            rows.append(said(row))
    return table(["population", "score", "N", *(f"target {target:g}" for target in TARGETS)], rows)


def misses(places: np.ndarray, accuracy: np.ndarray, target: float) -> np.ndarray:
    """Say which thresholds leave answers that are right less often than promised; ``accuracy`` has shape (..., K)."""
    at = np.take_along_axis(accuracy, np.maximum(places, 0)[..., None], axis=-1)[..., 0]
    return (places >= 0) & (at < target)


def slices(replications: int) -> str:
    """Tabulate how often some slice misses its target, with the shared risk and without."""
    rows = []
    for name, target in product((*POPULATIONS, "just below"), TARGETS):
        pool = draw_pool(name, "sem1") if name in POPULATIONS else just_below(target)
        rng = np.random.default_rng([len(name), int(1000 * target)])
        n, right = pool.draw(rng, EACH, (replications, SLICES))
        shared, own = (places_of(n, right, target, delta) for delta in (DELTA / SLICES, DELTA))
        for at in range(CHECKED):
            check_slices(n[at], right[at], shared[at], target)
        accuracy = np.broadcast_to(pool.accuracy, n.shape)
        missed = [misses(each, accuracy, target).any(axis=1).mean() for each in (shared, own)]
        rows.append(said([name, f"{target:g}", percents(np.array([(shared >= 0).any(axis=1).mean(), *missed]))]))
    return table(["population", "target", "found / missed / without sharing"], rows)


def check_slices(n: np.ndarray, right: np.ndarray, places: np.ndarray, target: float) -> None:
    """Hold the places of a run in slices against the public function."""
    parts = [rows_of(*each) for each in zip(n, right, strict=True)]
    names = np.repeat([f"slice {k:02d}" for k in range(SLICES)], [len(c) for c, _ in parts])
    c, a = (np.concatenate(column) for column in zip(*parts, strict=True))
    for k, (_, each) in enumerate(sorted(slice_thresholds(c, a, names, target=target).items())):
        assert (each.found.threshold is None) == (places[k] < 0)
        assert each.found.threshold is None or round(STEPS * (1 - each.found.threshold)) == places[k]


def just_below(target: float) -> Pool:
    """Questions that are right a little less often than wanted, all with confidence 1."""
    shares = np.zeros((STEPS + 1, 2))
    shares[0] = 1 - target + 0.001, target - 0.001
    return Pool(shares)


def drift(replications: int) -> str:
    """Tabulate false alarms where nothing has changed, and what is found where something has."""
    rows = []
    for name, size, n in SERIES:
        family = easy if name == "nearly certain" else dirichlet_mixture
        still = drawn_questions(family(size, rng=0).pmf, n)
        rng = np.random.default_rng([size, n])
        row = [name, f"{size:,}", str(n)]
        row.append(percents(np.mean([false_alarms(rng, still) for _ in range(replications)], axis=0)))
        for moved in MOVED:
            other = drawn_questions(family(size, rng=0).pmf, n, moved=moved)
            found = [found_changes(rng, still, other) for _ in range(replications // 10)]
            row.append(percents(np.mean(found, axis=0)))
        rows.append(said(row))
    header = [
        "questions",
        "N",
        "n",
        "alarm / paired / independent",
        *(f"{m:.0%} other: held, held, found" for m in MOVED),
    ]
    return table(header, rows)


def drawn_questions(pmf: np.ndarray, n: int, moved: float = 0.0) -> np.ndarray:
    """Draw the answers to each question many times: correctness and residual, shape (2, Q, DRAWS).

    The right class is drawn once from the question's own probabilities, which a share of the questions has reversed.
    """
    rng = np.random.default_rng([len(pmf), n])
    right = np.array([rng.multinomial(1, p) for p in pmf]).astype(float)
    some = rng.permutation(len(pmf))[: round(moved * len(pmf))]
    pmf = pmf.copy()
    pmf[some] = np.sort(pmf[some], axis=1)[np.arange(len(some))[:, None], np.argsort(np.argsort(-pmf[some], axis=1))]
    counts = Counts.from_counts(np.concatenate([rng.multinomial(n, p, DRAWS) for p in pmf]))
    grades = np.repeat(right, DRAWS, axis=0).ravel()
    correct = np.add.reduceat(counts.mode_weights * grades, counts.offsets[:-1])
    found = semx(correct=grades, counts=counts)
    return np.stack([correct, np.bincount(found.question, found.value, len(correct))]).reshape(2, len(pmf), DRAWS)


def series(rng: np.random.Generator, drawn: np.ndarray, looks: int) -> np.ndarray:
    """Draw looks at the questions; shape (2, looks, Q)."""
    place = rng.integers(0, DRAWS, (looks, drawn.shape[1]))
    return drawn[:, np.arange(drawn.shape[1]), place]


def false_alarms(rng: np.random.Generator, drawn: np.ndarray) -> tuple[bool, bool, bool]:
    """Draw a series in which nothing changes, and say which rule has an alarm."""
    every = series(rng, drawn, LOOKS + 1)
    differences = every[:, 1:] - every[:, :1]
    ours = [intervals(part) for part in differences]
    paired = (paired_mean(d) for d in differences[0])
    mean = every[0].mean(axis=1)
    so_far = np.cumsum(mean[1:]) / np.arange(1, LOOKS + 1)
    spread = np.sqrt(mean[0] * (1 - mean[0]) / (drawn.shape[1] * np.arange(1, LOOKS + 1)))
    alarm = any(bool(((low > 0) | (high < 0)).any()) for low, high in ours)
    return alarm, any(map(off, paired)), bool((np.abs(so_far - mean[0]) > 1.96 * spread).any())


def intervals(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the ends of `change_at_look` at all looks at once; the last is held against the function."""
    looks, n = np.arange(1, len(differences) + 1), differences.shape[1]
    x = -ndtri(DELTA / 2 / (looks * (looks + 1)) / (2 * TAIL))
    mean = differences.mean(axis=1)
    half = x * np.sqrt((((differences - mean[:, None]) ** 2).sum(axis=1) + 1) / (n * (n - x**2)))
    last = change_at_look(differences[-1], len(differences), alarms=DELTA / 2)
    assert np.allclose((last.low, last.high), (mean[-1] - half[-1], mean[-1] + half[-1]))
    return mean - half, mean + half


def off(found: Any) -> bool:
    """Whether an interval leaves 0 out."""
    return bool(found.low > 0 or found.high < 0)


def found_changes(rng: np.random.Generator, still: np.ndarray, other: np.ndarray) -> tuple[bool, bool, bool, bool]:
    """Draw a series that changes: whether all intervals hold, of accuracy and gap, and how soon an alarm comes."""
    first = LOOKS // 10
    every = np.concatenate([series(rng, still, first), series(rng, other, LOOKS + 1 - first)], axis=1)
    changed = (other.mean(axis=2) - still.mean(axis=2)).mean(axis=1)
    held, alarms = [], np.zeros(LOOKS + 1, dtype=bool)
    for part, change in zip(every[:, 1:] - every[:, :1], changed, strict=True):
        low, high = intervals(part)
        truth = np.where(np.arange(1, LOOKS + 1) < first, 0.0, change)
        held.append(bool(((low <= truth) & (truth <= high)).all()))
        alarms[1:] |= (low > 0) | (high < 0)
    return held[0], held[1], bool(alarms[first]), bool(alarms[first : first + 10].any())


class Answered(NamedTuple):
    """Questions of a pool with so many answers each: residuals and held-out frequencies of some subsamples of them.

    Arrays have shape (subsamples, Q).
    """

    residual: np.ndarray
    held_out: np.ndarray

    def spread(self, n_answers: int, index: np.ndarray) -> ResidualSpread:
        """Do what `pilot_spread` does for some of the questions."""
        r, h = self.residual[:, index], self.held_out[:, index]
        off = r - r.mean(axis=1, keepdims=True)
        variance, fourth = (off**2).mean(axis=1), (off**4).mean(axis=1)
        kurtosis = np.where(variance > 1e-12, fourth / np.maximum(variance, 1e-12) ** 2, np.inf)
        means = (part.mean(axis=1) for part in (r, h))
        gap, held_out = next(means), next(means)
        return ResidualSpread(n_answers, len(index), *(float(x.mean()) for x in (gap, variance, kurtosis, held_out)))

    def width(self, index: np.ndarray) -> float:
        """Make a run of some of the questions, and give the width of the interval of its held-out gap."""
        r, h, zero, one = self.residual[0, index], self.held_out[0, index], np.zeros(len(index)), np.ones(len(index))
        each = np.arange(len(index))
        found = held_out_gap(SemX(each, 0 * each, r, zero, one, h, each, one.astype(int), zero[:1], one[:1]))
        return found.high - found.low


def answered(pmf: np.ndarray, right: np.ndarray, n: int, rng: np.random.Generator) -> Answered:
    """Draw the answers of a pilot to each question, and take n of them, several times where there are more."""
    classes = (rng.random((len(pmf), N_ANSWERS, 1)) > np.cumsum(pmf, axis=1)[:, None]).sum(axis=2)
    classes = np.minimum(classes, (pmf > 0).sum(axis=1)[:, None] - 1)
    parts = []
    for _ in range(1 if n == N_ANSWERS else SUBSAMPLES):
        some = np.take_along_axis(classes, np.argsort(rng.random(classes.shape), axis=1)[:, :n], axis=1)
        place = (some + np.arange(len(pmf))[:, None] * pmf.shape[1]).ravel()
        counts = Counts.from_counts(np.bincount(place, minlength=pmf.size).reshape(pmf.shape))
        found = semx(correct=right.ravel().astype(float), counts=counts)
        parts.append([np.bincount(found.question, part, len(pmf)) for part in (found.value, found.held_out)])
    return Answered(*np.array(parts).swapaxes(0, 1))


def plans(replications: int) -> str:
    """Tabulate how near the width of a run comes to the planned one."""
    rows = []
    for name, (family, power) in PLANNED.items():
        rng = np.random.default_rng(len(name))
        pmf = -np.sort(-family(POOL // 2, rng=rng).pmf, axis=1)
        right = np.array([rng.multinomial(1, np.append(p**power, max(1 - (p**power).sum(), 0)))[:-1] for p in pmf])
        for n in (4, N_ANSWERS):
            pool = answered(pmf, right, n, rng)
            if n == N_ANSWERS:
                check_spread(pool, pmf, right)
            for pilot, width in product((0, *PILOTS), WIDTHS):
                found = np.array([planned(rng, pool, (pilot, width, n)) for _ in range(replications)])
                own, ratio = found[:, 0] == 1, found[:, 1]
                near, narrow = np.abs(ratio - 1) <= 0.1, ratio <= 1
                shares = own.mean(), share(near[own]), share(narrow[~own]), np.where(own, near, narrow).mean()
                row = [name, f"{pilot:,}" if pilot else "none", f"{width:g}", str(n), f"{found[:, 2].mean():,.0f}"]
                rows.append(said([*row, *(f"{100 * x:.1f}" if np.isfinite(x) else "" for x in shares)]))
    names = ["questions", "pilot", "width", "n", "N", "by the pilot", "within 10 %", "otherwise at most", "kept"]
    return table(names, rows)


def share(kept: np.ndarray) -> float:
    """Share of the runs; nan of none."""
    return float(kept.mean()) if len(kept) else np.nan


def check_spread(pool: Answered, pmf: np.ndarray, right: np.ndarray) -> None:
    """Hold the sums of precomputed residuals against the public functions, on answers drawn anew."""
    rng = np.random.default_rng(0)
    index = rng.integers(0, len(pmf), 500)
    counts = Counts.from_counts(rng.multinomial(N_ANSWERS, pmf[index]))
    grades = right[index].ravel().astype(float)
    found = semx(correct=grades, counts=counts)
    each = [np.bincount(found.question, part, 500)[None] for part in (found.value, found.held_out)]
    some, every = Answered(*each), np.arange(500)
    assert np.allclose(some.spread(N_ANSWERS, every), pilot_spread(counts, grades, n_answers=N_ANSWERS))
    gap = held_out_gap(found)
    assert np.isclose(some.width(every), gap.high - gap.low)
    assert abs(pool.residual.mean() - some.residual.mean()) < 4 * some.residual.std() / 500**0.5


def planned(rng: np.random.Generator, pool: Answered, cell: tuple[int, float, int]) -> tuple[bool, float, int]:
    """Plan a run by a pilot, or by none, and make it: whether it has the pilot's own spread, achieved / planned, N."""
    pilot, width, n = cell
    size = pool.residual.shape[1]
    spread = pool.spread(n, rng.integers(0, size, pilot)) if pilot else worst_spread(n)
    made = plan_questions(spread, width=width)
    return made.basis == "pilot", pool.width(rng.integers(0, size, made.questions)) / width, made.questions


def percents(shares: np.ndarray) -> str:
    """Write shares as percentages."""
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def said(row: list[str]) -> list[str]:
    """Print a row while the others are being made."""
    print(*row, sep=" | ", file=sys.stderr, flush=True)
    return row


PARTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "thresholds": (ABOUT_THRESHOLDS, thresholds),
    "slices": (ABOUT_SLICES, slices),
    "drift": (ABOUT_DRIFT, drift),
    "plans": (ABOUT_PLANS, plans),
}


def main(replications: int = REPLICATIONS) -> str:
    start = time.perf_counter()
    made = [part for about, make in PARTS.values() for part in (about.format(replications), make(replications))]
    minutes = (time.perf_counter() - start) / 60
    setting = f"{replications:,} runs a cell, pools of {POOL:,} questions, {minutes:.0f} minutes."
    return "\n\n".join([" ".join((__doc__ or "").split("\n\n", 1)[1].split()), setting, *made])


if __name__ == "__main__":
    print(PARTS[sys.argv[1]][1](REPLICATIONS) if sys.argv[1:] else main())
