# The names of this door, and where they are.

from .audited_sample import Audited as Audited
from .corrected_errors import MIN_AUDITED as MIN_AUDITED
from .corrected_errors import corrected_accuracy as corrected_accuracy
from .corrected_errors import corrected_debiased_ece as corrected_debiased_ece
from .corrected_errors import corrected_ece as corrected_ece
