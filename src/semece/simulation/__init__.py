"""Simulation: populations with known class probabilities, runs drawn from them, and what the theory says of both."""

from __future__ import annotations

from semece.simulation.draws import CORRECTNESS, Simulation, simulate
from semece.simulation.populations import (
    FAMILIES,
    Population,
    dirichlet_mixture,
    easy,
    given_pmf,
    near_tie,
    softmax_normal,
    zipf,
)

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
    "softmax_normal",
    "zipf",
]
