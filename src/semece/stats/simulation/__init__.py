"""Simulation: populations with known class probabilities, runs drawn from them, and what the theory says of both."""

from __future__ import annotations

from semece.stats.simulation.drawn_runs import CORRECTNESS, Simulation, simulate
from semece.stats.simulation.populations import (
    FAMILIES,
    Population,
    dirichlet_mixture,
    easy,
    given_pmf,
    near_tie,
    softmax_normal,
    zipf,
)
from semece.stats.simulation.simulated_studies import simulate_study, study_table

__all__ = [
    "CORRECTNESS",
    "FAMILIES",
    "Population",
    "Simulation",
    "dirichlet_mixture",
    "easy",
    "given_pmf",
    "near_tie",
    "simulate",
    "simulate_study",
    "softmax_normal",
    "study_table",
    "zipf",
]
