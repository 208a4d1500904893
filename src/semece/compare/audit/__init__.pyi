# The names of this door, and where they are.

from .draws import BY as BY
from .draws import AuditPlan as AuditPlan
from .draws import deployed_answers as deployed_answers
from .draws import draw as draw
from .filled_sheets import Sheet as Sheet
from .filled_sheets import read_sheet as read_sheet
from .sheet_exports import AuditDesign as AuditDesign
from .sheet_exports import Exported as Exported
from .sheet_exports import export_sheets as export_sheets
from .sheet_scores import Scored as Scored
from .sheet_scores import labelled_rows as labelled_rows
from .sheet_scores import score_sheets as score_sheets
from .sheets import COLUMNS as COLUMNS
