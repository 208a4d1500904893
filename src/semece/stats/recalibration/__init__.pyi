# The names of this door, and where they are.

from .cross_fitting import CrossFit as CrossFit
from .cross_fitting import cross_fit as cross_fit
from .dirichlet import fit_dirichlet as fit_dirichlet
from .dirichlet import ranked_frequencies as ranked_frequencies
from .effects import Effect as Effect
from .effects import effect_sentence as effect_sentence
from .effects import recalibration_effects as recalibration_effects
from .effects import verified_error as verified_error
from .fitting import ENOUGH as ENOUGH
from .fitting import METHODS as METHODS
from .fitting import fit_recalibration as fit_recalibration
from .maps import Domain as Domain
from .maps import Recalibration as Recalibration
