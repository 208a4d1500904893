# The names of this door, and where they are.

from .estimate_table import estimate as estimate
from .estimate_table import weighted_estimates as weighted_estimates
from .frequencies import half_margin as half_margin
from .frequencies import margin as margin
from .frequencies import mode as mode
from .frequencies import n_classes as n_classes
from .frequencies import pmf as pmf
from .frequencies import sem1 as sem1
from .frequencies import standardized_margin as standardized_margin
from .frequencies import top_two_mass as top_two_mass
from .held_out import selection_probability as selection_probability
from .held_out import sem2 as sem2
from .pairing import correctness as correctness
from .stated import verbalized as verbalized
