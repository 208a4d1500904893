# The names of this door, and where they are.

from .canvas import COLORS as COLORS
from .canvas import COLUMN_WIDTH as COLUMN_WIDTH
from .canvas import FAINT as FAINT
from .canvas import INK as INK
from .canvas import MARKERS as MARKERS
from .canvas import MUTED as MUTED
from .canvas import NAMES as NAMES
from .canvas import OTHERS as OTHERS
from .canvas import figure as figure
from .canvas import look_of as look_of
from .canvas import save as save
from .canvas import style as style
from .diagnostic_figures import plot_budget as plot_budget
from .diagnostic_figures import plot_margin as plot_margin
from .diagnostic_figures import plot_predictions as plot_predictions
from .diagnostic_figures import plot_rate as plot_rate
from .diagnostic_figures import plot_sweep as plot_sweep
from .diagnostic_figures import plot_sweep_ece as plot_sweep_ece
from .reliability import plot_reliability as plot_reliability
from .reliability import plot_reliability_curves as plot_reliability_curves
from .reliability import plot_risk_coverage as plot_risk_coverage
from .run_figures import draw_risk_coverage as draw_risk_coverage
from .semx_figures import plot_semx as plot_semx
from .semx_figures import plot_semx_budgets as plot_semx_budgets
from .theory_figures import plot_constants as plot_constants
from .theory_figures import plot_regimes as plot_regimes
