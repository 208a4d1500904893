# The names of this door, and where they are.

from .cells import CellPlan as CellPlan
from .cells import Ended as Ended
from .cells import make_runs as make_runs
from .cells import plan_cells as plan_cells
from .cells import prepare as prepare
from .cells import writing as writing
from .study_file import Cell as Cell
from .study_file import Study as Study
from .study_file import read_study as read_study
