# The names of this door, and where they are.

from .audit import AuditDesign as AuditDesign
from .audit import Exported as Exported
from .audit import Scored as Scored
from .audit import export_sheets as export_sheets
from .audit import labelled_rows as labelled_rows
from .audit import read_sheet as read_sheet
from .audit import score_sheets as score_sheets
from .judge_comparison import Comparison as Comparison
from .judge_comparison import ask_judges as ask_judges
from .judge_comparison import check_judged as check_judged
from .judge_comparison import check_two as check_two
from .judge_comparison import compare_judges as compare_judges
from .judge_comparison import judge_shortfall as judge_shortfall
from .judge_eval import LENGTHS as LENGTHS
from .judge_eval import Evaluation as Evaluation
from .judge_eval import answers_of_questions as answers_of_questions
from .judge_eval import evaluate_judge as evaluate_judge
from .judge_eval import groups_of as groups_of
from .judge_eval import verdict_rows as verdict_rows
from .labelled_files import Labelled as Labelled
from .labelled_files import narrowed as narrowed
from .labelled_files import read_labelled as read_labelled
from .labelled_files import without_reference as without_reference
from .limits import check_run as check_run
from .standings import Standings as Standings
from .standings import compare_runs as compare_runs
