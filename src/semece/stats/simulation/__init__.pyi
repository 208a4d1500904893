# The names of this door, and where they are.

from .drawn_runs import CORRECTNESS as CORRECTNESS
from .drawn_runs import Simulation as Simulation
from .drawn_runs import simulate as simulate
from .populations import FAMILIES as FAMILIES
from .populations import Population as Population
from .populations import dirichlet_mixture as dirichlet_mixture
from .populations import easy as easy
from .populations import given_pmf as given_pmf
from .populations import near_tie as near_tie
from .populations import softmax_normal as softmax_normal
from .populations import zipf as zipf
from .simulated_studies import simulate_study as simulate_study
from .simulated_studies import study_table as study_table
