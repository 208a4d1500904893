"""What the theory says, as tables to print and to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from semece.stats import direct_gap, jensen_bias, oracle_gap, regime_boundaries, selection_bias

if TYPE_CHECKING:
    from semece.stats import Design


def constants_table(*, largest: float = 3.0, points: int = 121) -> pl.DataFrame:
    """Tabulate the leading constants of the two biases.

    Parameters
    ----------
    largest : float
        Last standardised margin, > 0.
    points : int
        Rows, >= 2.

    Returns
    -------
    DataFrame
        ``standardized_margin, jensen_bias, selection_bias, direct_gap, oracle_gap``.

    Examples
    --------
    >>> constants_table(points=3)["direct_gap"].round(4).to_list()
    [0.3989, 0.1295, 0.0044]
    """
    m = np.linspace(0, largest, points)
    functions = {"jensen_bias": jensen_bias, "selection_bias": selection_bias}
    functions |= {"direct_gap": direct_gap, "oracle_gap": oracle_gap}
    return pl.DataFrame({"standardized_margin": m} | {name: f(m / 2) for name, f in functions.items()})


def regime_table(n: int, *, n_classes: float, design: Design = "as-run", points: int = 91) -> pl.DataFrame:
    """Tabulate the margins at which the regime changes.

    Parameters
    ----------
    n : int
        Responses per question, >= 2.
    n_classes : float
        K >= 1; a mean over questions need not be whole.
    design : {'as-run', 'same-n'}
        As in :func:`semece.stats.theory.regime_boundaries`.
    points : int
        Rows, >= 2.

    Returns
    -------
    DataFrame
        ``top_two_mass`` from 0.1 to 1, ``crossover``, ``low_margin``.

    Examples
    --------
    >>> regime_table(50, n_classes=5, design="same-n", points=2)["crossover"].round(4).to_list()
    [0.0274, 0.0866]
    """
    mass = np.linspace(0.1, 1, points)
    edges = regime_boundaries(n_classes, n, top_two_mass=mass, design=design)
    return pl.DataFrame({"top_two_mass": mass, "crossover": edges.crossover, "low_margin": edges.low_margin})
