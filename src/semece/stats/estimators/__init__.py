"""Confidence from the class frequencies of a question's responses.

Every function takes the labels of one question positionally, or class counts as ``counts=``: of one question as a
sequence, or of many as :class:`semece.stats.counts.Counts`. Labels are integers from 0, numbered by first appearance;
counts are listed by label.
"""

from semece.stats.estimators.estimate_table import estimate
from semece.stats.estimators.frequencies import (
    half_margin,
    margin,
    mode,
    n_classes,
    pmf,
    sem1,
    standardized_margin,
    top_two_mass,
)
from semece.stats.estimators.held_out import selection_probability, sem2
from semece.stats.estimators.pairing import correctness
from semece.stats.estimators.stated import verbalized

__all__ = [
    "correctness",
    "estimate",
    "half_margin",
    "margin",
    "mode",
    "n_classes",
    "pmf",
    "selection_probability",
    "sem1",
    "sem2",
    "standardized_margin",
    "top_two_mass",
    "verbalized",
]
