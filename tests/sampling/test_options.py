"""The option table: command line, TOML file, study file, checks and page follow from the fields of the settings."""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest

from semece.cli.run_command import run_options
from semece.cli.typer_options import RUN, Handling, Told
from semece.errors import ParseError, SemeceError
from semece.sampling import settings
from semece.sampling.options import at_least, check_options, in_order, option, options_of, record_of
from semece.sampling.patience import Patience
from semece.sampling.settings import CallSettings, Settings
from semece.stats.counts import blocks
from semece.study.study_file import TABLES

ROOT = Path(__file__).parents[2]
ASKED = Settings("fake/?pmf=1", "starter")


@dataclass(frozen=True, slots=True)
class Small:
    """Two options, one of them spelled otherwise."""

    times: int = option(2, help="How often.", rule=at_least(1), name="again")
    file: Path | None = option(None, help="Which.")


def test_a_field_is_a_row_with_its_name_kind_and_default():
    times, file = options_of(Small)
    assert (times.name, times.field, times.flags, times.kind, times.default) == ("again", "times", ("--again",), int, 2)
    assert (file.name, file.kind, file.default) == ("file", Path, None)


def test_a_record_is_filled_by_the_names_that_are_typed():
    assert record_of(Small, {"again": 5, "other": 1}) == Small(5)


def test_a_rule_names_the_option_as_it_is_typed():
    check_options(Small())
    with pytest.raises(SemeceError, match=r"^again must be at least 1; got 0$"):
        check_options(Small(0))


def test_the_settings_have_a_row_for_every_field_but_what_only_files_and_python_give():
    named = {row.field for row in options_of(Settings)}
    assert {each.name for each in fields(Settings)} - named == {"prices", "batch_patience"}
    assert {row.field for row in options_of(CallSettings)} < named


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 0}, "n must be from 1 to 20,000; got 0"),
        ({"n": 10**11}, "n must be from 1 to 20,000; got 100000000000"),
        ({"patience": Patience(attempts=0)}, "attempts must be at least 1; got 0"),
        ({"max_cost": 0.0}, r"budget must be above 0 \(USD\); got 0.0"),
        ({"temperature": 2.5}, "temperature must be 0 to 2; got 2.5"),
        ({"top_p": 0.0}, "top-p must be above 0 and at most 1; got 0.0"),
        ({"judge_prompt": "kind"}, "judge-prompt must be default, strict, loose; got kind"),
        ({"elicit": "words"}, "elicit must be percent, none, linguistic, linguistic-mielke; got words"),
        ({"min_responses": 1}, "min-responses must be at least 2; got 1"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_row(change, said):
    check_options(ASKED)
    with pytest.raises(SemeceError, match=said):
        check_options(replace(ASKED, **change))


def test_the_command_line_and_a_file_take_the_same_options():
    for row in RUN:
        if row.name == "config":
            continue
        value = {bool: True, int: 1, float: 1.5}.get(row.kind, "text")
        assert run_options({row.name.replace("_", "-"): value}) == {
            row.name: Path(value) if row.kind is Path else value
        }
        with pytest.raises(ParseError, match=rf"\[run\] {row.name} must be {row.wanted}; got \[\]"):
            run_options({row.name: []})


def test_what_is_typed_wins_over_the_file_and_the_file_over_defaults():
    told = Told({row.name: row.default for row in RUN} | {"n": 7, "model": "m", "dataset": "d"}, frozenset({"n"}))
    settings = told.over({"n": 9, "seed": 3, "attempts": 2}).record(Settings)
    assert (settings.n, settings.seed, settings.patience.attempts) == (7, 3, 2)


def test_rows_of_the_command_stand_behind_the_rows_that_they_name():
    names = [row.name for row in in_order(options_of(Settings), options_of(Handling))]
    assert names[:5] == ["model", "dataset", "n", "output", "quiet"]
    assert names[-1] == "config"


def test_the_page_and_the_study_file_name_every_row():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert all(f"| `{', '.join(row.flags)}` | {row.help} |" in page for row in RUN)
    taken = {row.field for table in TABLES.values() for row in table.values() if row.field}
    assert taken == {row.field for row in options_of(Settings) if row.study}


def test_a_run_may_have_as_many_responses_as_the_estimators_take():
    assert settings.MOST_RESPONSES == blocks.MOST_RESPONSES
