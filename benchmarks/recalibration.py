"""How many questions a recalibration needs, what the clip does, and what the verified error's interval covers."""

from __future__ import annotations

import sys

import numpy as np

from benchmarks._tables import table
from semece.stats.recalibration.cross_fitting import cross_fit
from semece.stats.recalibration.effects import verified_error
from semece.stats.recalibration.fitting import METHODS, fit_recalibration
from semece.stats.recalibration.maps import CLIP, Recalibration

TITLE = "Recalibration"
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
CLIPS = (1e-12, 1e-6, 1e-3, 0.005, 0.01, 0.02)
REPLICATIONS = 400
Population = tuple[np.ndarray, np.ndarray, np.ndarray]


def sem1(n: int, right, draws: int = 400_000) -> Population:
    """Values of Sem1 of n answers, their chances, and their accuracy, given that of the leading answer's share."""
    rng = np.random.default_rng(n)
    share = np.maximum(rng.beta(0.8, 0.5, draws), 1 / rng.integers(2, 7, draws))
    count = rng.binomial(n, share)
    accuracy = np.where(2 * count >= n, right(share), 0.1)  # another answer leads: rarely right
    values, place = np.unique(np.maximum(count, n - count) / n, return_inverse=True)
    weight = np.bincount(place)
    return values, weight / draws, np.bincount(place, accuracy) / weight


STATED = np.array([0.2, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0])
STATED_CHANCES = np.array([0.01, 0.03, 0.03, 0.06, 0.12, 0.15, 0.2, 0.25, 0.05, 0.1])
EXACT = sem1(50, lambda share: share)
POPULATIONS: dict[str, Population] = {
    "Sem1, n = 10, over-confident": sem1(10, lambda share: share**2),
    "Sem1, n = 50, over-confident": sem1(50, lambda share: share**2),
    "Sem1, n = 50, crossing": sem1(50, lambda share: 0.25 + 0.5 * share),
    "Sem1, n = 50, calibrated": (EXACT[0], EXACT[1], EXACT[0]),
    "stated, over-confident": (STATED, STATED_CHANCES, 0.1 + 0.6 * STATED**3),
}
NULL, NULL_REPLICATIONS = "Sem1, n = 50, calibrated", 1000
"""A population in which no map helps: what is fitted can only be farther from the accuracy."""


def distance(population: Population, method: str, size: int, clip: float = CLIP, replications: int = REPLICATIONS):
    """Root mean square distance of fitted maps from the accuracy, in points, and how often no map is farther."""
    values, chances, accuracy = population
    none = chances @ (values - accuracy) ** 2
    found = np.empty(replications)
    for seed in range(replications):
        rng = np.random.default_rng([seed, size])
        at = rng.choice(len(values), size, p=chances)
        right = (rng.random(size) < accuracy[at]).astype(float)
        fitted = fit_recalibration(values[at], right, method=method, clip=clip)
        found[seed] = chances @ (fitted(values) - accuracy) ** 2
    return 100 * found.mean() ** 0.5, float((found < none).mean())


def of_size(name: str, population: Population) -> str:
    """Distance of every map by the number of questions."""
    values, chances, accuracy = population
    none = 100 * (chances @ (values - accuracy) ** 2) ** 0.5
    rows = []
    for method in METHODS:
        cells = [distance(population, method, size) for size in SIZES]
        shares = ["" if better > 0.99 or not none else f" ({better:.0%})" for _, better in cells]
        rows.append([f"`{method}`", *(f"{d:.1f}{share}" for (d, _), share in zip(cells, shares, strict=True))])
    return f"**{name}**; without a map {none:.1f}\n\n" + table(["", *map(str, SIZES)], rows)


def of_clip() -> str:
    """Distance of the maps that take logarithms by the clip, at 300 questions."""
    rows = [
        [f"`{method}`, {name}", *(f"{distance(population, method, 300, clip, 200)[0]:.1f}" for clip in CLIPS)]
        for method in ("platt", "beta")
        for name, population in POPULATIONS.items()
    ]
    return table(["clip", *(f"{clip:g}" for clip in CLIPS)], rows)


def coverage(n: int, shift: float, replications: int = 1000) -> float:
    """How often the interval of the verified error holds the true one."""
    centres = np.linspace(0.05, 0.95, 10)
    fitted = Recalibration(
        "histogram", {"edges": np.arange(1, 10) / 10, "confidence": centres}, questions=frozenset({"another"})
    )
    true = np.sqrt(np.mean((np.clip(centres - shift, 0, 1) - centres) ** 2))
    held = 0
    for seed in range(replications):
        rng = np.random.default_rng([seed, n])
        score = rng.random(n)
        right = rng.random(n) < np.clip(fitted(score) - shift, 0, 1)
        found = verified_error(fitted, score, right, ids=range(n)).error
        held += found.low <= true <= found.high
    return held / replications


def brier_change(before: np.ndarray, after: np.ndarray, right: np.ndarray, rng) -> np.ndarray:
    """Ends of the interval of the change of the Brier score, as the sentence on a recalibration takes them."""
    change = (after - right) ** 2 - (before - right) ** 2
    means = change[rng.integers(0, len(change), (400, len(change)))].mean(axis=1)
    return np.quantile(means, [0.025, 0.975])


def said(population: Population, method: str, size: int, replications: int = 300) -> tuple[float, float, float, float]:
    """Mean true change of the Brier score; how often it is said to fall, to rise; how often the interval holds it."""
    values, chances, accuracy = population
    found = np.empty((replications, 4))
    for seed in range(replications):
        rng = np.random.default_rng([seed, size])
        at = rng.choice(len(values), size, p=chances)
        right = (rng.random(size) < accuracy[at]).astype(float)
        crossed = cross_fit(values[at], right, method=method)
        low, high = brier_change(values[at], crossed.confidence, right, rng)
        after = np.mean([chances @ (each(values) - accuracy) ** 2 for each in crossed.maps])
        true = after - chances @ (values - accuracy) ** 2
        found[seed] = true, high < 0, low > 0, low <= true <= high
    return tuple(found.mean(axis=0).tolist())


def of_claims() -> str:
    """What is said of maps that harm, because the model is calibrated, and of maps that help."""
    cells = [(NULL, method, 100, NULL_REPLICATIONS) for method in METHODS]
    cells += [(NULL, method, size, NULL_REPLICATIONS) for method in ("platt", "isotonic") for size in (30, 300)]
    cells += [
        ("Sem1, n = 50, over-confident", method, size, 300)
        for method in ("platt", "venn-abers", "isotonic")
        for size in (30, 100, 300)
    ]
    rows = []
    for name, method, size, replications in cells:
        true, helps, harms, held = said(POPULATIONS[name], method, size, replications)
        rows.append([f"{name}, `{method}`, {size}", f"{true:+.4f}", *(f"{x:.3f}" for x in (helps, harms, held))])
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    return table(["", "true change", "'helps'", "'harms'", "interval holds it"], rows)


def main() -> str:
    covered = [[f"{n:,}", *(f"{coverage(n, shift):.3f}" for shift in (0.0, 0.05, 0.1, 0.2))] for n in (100, 300, 1000)]
    head = f"""
Root mean square distance of a fitted map from the accuracy at each score, in points of a hundred, by the number of
questions it was fitted on; {REPLICATIONS} replications. In brackets how often the map is nearer than no map, where that
is below 99 %."""
    of_clips = "The same at 300 questions by the clip of the maps that take logarithms, 200 replications."
    of_coverage = (
        "How often the 95 % interval of the verified error holds the true error: ten values, each this much too high; "
        "1,000 replications."
    )
    sizes = [of_size(name, population) for name, population in POPULATIONS.items()]
    shifts = table(["questions", "0", ".05", ".1", ".2"], covered)
    of_sentence = (
        "What is said of a cross-fitted map by the interval of the change of its Brier score; "
        f"{NULL_REPLICATIONS:,} replications of calibrated confidences, which no map helps, and 300 of the others."
    )
    parts = [head, *sizes, of_clips, of_clip(), of_sentence, of_claims(), of_coverage, shifts]
    return "\n\n".join(part.strip() for part in parts)
