"""Class counts of many questions, and the exact combinatorics of choosing a class from a random block.

A block of responses is drawn, the class with most of them is selected, and a tie is broken either uniformly at random
or in favour of the lowest index.

:class:`Counts` holds many questions end to end. :func:`subset_selection`, :func:`subset_maximum` and
:func:`population_selection` treat many questions; :func:`subset_table` and :func:`selection_table` treat one, in plain
numpy, and are what the compiled code is tested against. Functions here trust their arguments;
:mod:`semece.stats.estimators` checks them.
"""

from semece.stats.counts.blocks import Selection, population_selection, subset_maximum, subset_selection
from semece.stats.counts.polynomials import (
    Ties,
    binomial_weights,
    circle_points,
    gauss,
    poisson_weights,
    selection_table,
    subset_table,
)
from semece.stats.counts.ragged import Counts, integers, per_question

__all__ = [
    "Counts",
    "Selection",
    "Ties",
    "binomial_weights",
    "circle_points",
    "gauss",
    "integers",
    "per_question",
    "poisson_weights",
    "population_selection",
    "selection_table",
    "subset_maximum",
    "subset_selection",
    "subset_table",
]
