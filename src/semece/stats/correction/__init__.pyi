# The names of this door, and where they are.

from .audited_sample import Audited as Audited
from .corrected_errors import MIN_AUDITED as MIN_AUDITED
from .corrected_errors import corrected_accuracy as corrected_accuracy
from .corrected_errors import corrected_debiased_ece as corrected_debiased_ece
from .corrected_errors import corrected_ece as corrected_ece
from .corrected_errors import corrected_gap as corrected_gap
from .corrected_errors import corrected_outcomes as corrected_outcomes
from .corrected_held_out import CorrectedHeldOut as CorrectedHeldOut
from .corrected_held_out import HeldOutMasses as HeldOutMasses
from .corrected_held_out import corrected_held_out as corrected_held_out
from .corrected_held_out import corrected_held_out_terms as corrected_held_out_terms
from .corrected_held_out import held_out_masses as held_out_masses
from .corrected_thresholds import corrected_threshold as corrected_threshold
from .corrected_thresholds import fewest_corrected as fewest_corrected
