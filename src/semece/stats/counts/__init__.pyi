# The names of this door, and where they are.

from .blocks import Selection as Selection
from .blocks import is_much as is_much
from .blocks import population_selection as population_selection
from .blocks import subset_maximum as subset_maximum
from .blocks import subset_selection as subset_selection
from .every_size import blocks_of_every_size as blocks_of_every_size
from .kept import once_per_counts as once_per_counts
from .polynomials import Ties as Ties
from .polynomials import binomial_weights as binomial_weights
from .polynomials import circle_points as circle_points
from .polynomials import gauss as gauss
from .polynomials import poisson_weights as poisson_weights
from .polynomials import selection_table as selection_table
from .polynomials import subset_table as subset_table
from .ragged import Counts as Counts
from .ragged import integers as integers
from .ragged import per_question as per_question
from .weighted_table import NO_ANSWER as NO_ANSWER
from .weighted_table import UNGRADED as UNGRADED
from .weighted_table import WeightedTable as WeightedTable
from .weighted_table import merge as merge
from .weighted_table import partial as partial
