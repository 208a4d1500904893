# The names of this door, and where they are.

from .bounds import bias_bound as bias_bound
from .bounds import confidence_error_bound_sem1 as confidence_error_bound_sem1
from .bounds import confidence_error_bound_sem2 as confidence_error_bound_sem2
from .bounds import ece_bound as ece_bound
from .bounds import selection_error_bound as selection_error_bound
from .expectations import expected_sem1 as expected_sem1
from .expectations import expected_sem2 as expected_sem2
from .expectations import population_selection_probability as population_selection_probability
from .leading import crossover as crossover
from .leading import direct_gap as direct_gap
from .leading import jensen_bias as jensen_bias
from .leading import oracle_gap as oracle_gap
from .leading import selection_bias as selection_bias
from .predictions import PREDICTIONS as PREDICTIONS
from .predictions import expected_gap as expected_gap
from .predictions import minimal_n as minimal_n
from .predictions import predicted_bias as predicted_bias
from .predictions import predicted_gap as predicted_gap
from .regimes import REGIMES as REGIMES
from .regimes import Boundaries as Boundaries
from .regimes import RegimeSummary as RegimeSummary
from .regimes import regime as regime
from .regimes import regime_boundaries as regime_boundaries
from .regimes import regime_summary as regime_summary
