# The names of this door, and where they are.

from . import figures as figures
from . import tables as tables
from .figures.run_figures import draw as draw
from .paper import read_runs as read_runs
from .paper import write_paper as write_paper
from .report import build as build
from .report import cost_text as cost_text
from .tables.study_grid import CellNumbers as CellNumbers
from .tables.study_grid import apart as apart
from .tables.study_grid import grid_table as grid_table
from .tables.study_grid import read_cell as read_cell
