"""Random half-splits that exact values are compared with: vectorised in three ways, and as the authors' loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks._tables import median_seconds
from semece.stats.simulation import dirichlet_mixture

if TYPE_CHECKING:
    from collections.abc import Callable

N_RESPONSES = 50


def seconds_of_many(call: Callable[[], object], n: int = 20) -> float:
    """Median over repeats of the mean of n calls: single ones are too short to be timed on a busy machine."""
    return median_seconds(lambda: [call() for _ in range(n)]) / n


def draw_labels(n_questions: int, seed: int = 0) -> np.ndarray:
    """Labels of shape (Q, 50): K ~ U{2..12}, Dirichlet(alpha) with alpha in {.15, .4, 1, 3}, in order of drawing."""
    rng = np.random.default_rng(seed)
    pmf = dirichlet_mixture(n_questions, rng=rng).pmf
    labels = (rng.random((n_questions, N_RESPONSES, 1)) > np.cumsum(pmf, axis=1)[:, None, :]).sum(axis=2)
    return np.minimum(labels, (pmf > 0).sum(axis=1)[:, None] - 1)


def held_out(selection: np.ndarray, evaluation: np.ndarray, n_classes: int) -> np.ndarray:
    """Frequency in the evaluation block of the class with the largest count in the selection block."""
    places = selection + n_classes * np.arange(len(selection))[:, None]
    counts = np.bincount(places.ravel(), minlength=n_classes * len(selection)).reshape(-1, n_classes)
    return (evaluation == counts.argmax(axis=1)[:, None]).mean(axis=1)


def own_splits(labels: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Every question has its own splits."""
    size, n_classes = labels.shape[1] // 2, int(labels.max()) + 1
    total = np.zeros(len(labels))
    for _ in range(n_splits):
        turned = rng.permuted(labels, axis=1)
        total += held_out(turned[:, :size], turned[:, size:], n_classes)
    return total / n_splits


def shared_splits(labels: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """All questions share a split, as under a seed that starts anew at every question."""
    size, n_classes = labels.shape[1] // 2, int(labels.max()) + 1
    total = np.zeros(len(labels))
    for _ in range(n_splits):
        order = rng.permutation(labels.shape[1])
        total += held_out(labels[:, order[:size]], labels[:, order[size:]], n_classes)
    return total / n_splits


def shared_splits_in_bytes(labels: np.ndarray, n_splits: int, rng: np.random.Generator) -> np.ndarray:
    """Share a split among all questions and count by adding up bytes, classes outermost."""
    n_responses, n_classes = labels.shape[1], int(labels.max()) + 1
    size = n_responses // 2
    is_class = labels.T[None].astype(np.uint8) == np.arange(n_classes, dtype=np.uint8)[:, None, None]
    counts = is_class.sum(axis=1, dtype=np.uint8)
    total = np.zeros(len(labels))
    for _ in range(n_splits):
        block = is_class[:, rng.permutation(n_responses)[:size]].sum(axis=1, dtype=np.uint8)
        selected = block.argmax(axis=0)[None]
        total += (np.take_along_axis(counts, selected, axis=0)[0] - block.max(axis=0)) / (n_responses - size)
    return total / n_splits


def authors_loop(labels: np.ndarray, n_splits: int = 10) -> np.ndarray:
    """One question and one split at a time, seed 0 for every question: what the authors' program does."""
    size = labels.shape[1] // 2
    out = np.empty(len(labels))
    for q, row in enumerate(labels):
        rng = np.random.default_rng(0)
        values = []
        for _ in range(n_splits):
            order = rng.permutation(len(row))
            counts = np.bincount(row[order[:size]], minlength=int(row.max()) + 1)
            values.append(float(np.mean(row[order[size:]] == counts.argmax())))
        out[q] = float(np.mean(values))
    return out
