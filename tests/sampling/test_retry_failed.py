"""A judge's replies that came without a text: asked again when that is wanted, with more room, and nothing else is."""

import asyncio
import shlex
import sys
from dataclasses import replace

import pytest

from semece.cli import main
from semece.errors import BudgetError, SemeceError
from semece.judges.known import open_judge
from semece.judges.llm import JUDGE_TOKENS
from semece.models import Call, Reply
from semece.models.fakes.fake_model import parse_fake
from semece.runs.health import examine
from semece.runs.run import Run
from semece.sampling import connections
from semece.sampling.options import check_options
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute

RUN = Settings("fake/?pmf=.6,.4&correct=0", "starter", n=4, limit=3, judge="fake/judge")


class Thinker:
    """A judge that thinks before it speaks: with little room its reply is cut short, of one stage or of both."""

    max_choices = 1
    name = "fake/judge"

    def __init__(self, needs, only="answer"):
        self.judge, self.needs, self.only, self.asked = parse_fake("fake/judge"), needs, only, []

    async def __call__(self, request, /):
        self.asked.append(request.decoding.max_tokens)
        if request.decoding.max_tokens < self.needs and f'"{self.only}"' in request.messages[-1].content:
            return Call((Reply("", "truncated", "length", "{}"),))
        return await self.judge(request)

    async def aclose(self):
        """Nothing to give back."""


@pytest.fixture
def judge(monkeypatch):
    """Open a thinker in the place of the fake judge."""

    def begin(needs, only="answer"):
        thinker, real = Thinker(needs, only), connections.open_model
        monkeypatch.setattr(
            connections, "open_model", lambda name, **more: thinker if name == thinker.name else real(name, **more)
        )
        return thinker

    return begin


def do(path, settings=RUN, **changes):
    return asyncio.run(execute(replace(settings, **changes), path))


def statuses(path):
    with Run(path) as run:
        return run.estimates()["status"].to_list()


@pytest.mark.parametrize("only", ["answer", "answers"])
def test_a_judges_reply_that_was_cut_short_is_asked_again_when_that_is_wanted(tmp_path, judge, only):
    path = tmp_path / "a.db"
    judge(JUDGE_TOKENS + 1, only)
    assert do(path).missing == 0
    cut = set(statuses(path))
    assert cut in ({"ungraded"}, {"unpartitioned"})
    sound = judge(0)
    assert do(path).missing == 0
    assert set(statuses(path)) == cut
    assert not sound.asked
    assert do(path, retry_failed=True).missing == 0
    assert statuses(path) == ["complete"] * 3
    assert sound.asked


def test_more_room_buys_nothing_that_is_there(tmp_path, judge):
    path = tmp_path / "a.db"
    first = judge(JUDGE_TOKENS + 1)
    do(path)
    grouped = len(first.asked) - len(statuses(path)) * 2
    assert set(first.asked) == {JUDGE_TOKENS}
    second = judge(JUDGE_TOKENS + 1)
    do(path, retry_failed=True, judge_max_tokens=8192)
    assert statuses(path) == ["complete"] * 3
    assert second.asked == [8192] * (len(first.asked) - grouped)
    third = judge(0)
    do(path)
    do(path, judge_max_tokens=100)
    assert not third.asked


def test_setting_aside_leaves_another_judges_replies_and_every_text(tmp_path, judge):
    path = tmp_path / "a.db"
    judge(JUDGE_TOKENS + 1)
    do(path)
    with Store(path) as store:
        before = store.count("grade", open_judge("fake/judge").id)
    assert before == {"truncated": 6}
    do(path, retry_failed=True, judge="rules")
    do(path, retry_failed=True, judge="fake/judge?invalid=0")
    with Store(path) as store:
        assert store.count("grade", open_judge("fake/judge").id) == before


def test_the_room_that_was_given_is_in_the_stored_request(tmp_path, judge):
    judge(0)
    do(tmp_path / "a.db", judge_max_tokens=5000)
    with Store(tmp_path / "a.db") as store:
        rows = [row for q in store.questions() for row in store.replies("grade", q.id)]
        assert {store.request(row.request)["decoding"]["max_tokens"] for row in rows} == {5000}


def test_the_room_is_part_of_a_spelling_and_of_no_name():
    roomy, plain = open_judge("openai/o4-mini#strict,max-tokens=9000"), open_judge("openai/o4-mini#strict")
    assert (roomy.max_tokens, plain.max_tokens) == (9000, JUDGE_TOKENS)
    assert (roomy.id, roomy.name) == (plain.id, plain.name)
    for wrong in ("max-tokens=0", "max-tokens=many", "max-tokens"):
        with pytest.raises(SemeceError, match="max-tokens=NUMBER"):
            open_judge(f"openai/o4-mini#{wrong}")


@pytest.mark.parametrize(
    ("judge", "spelled"),
    [
        ("rules", "rules"),
        ("openai/x", "openai/x#max-tokens=9000"),
        ("openai/x#order=1", "openai/x#max-tokens=9000,order=1"),
        ("openai/x#max-tokens=5", "openai/x#max-tokens=5"),
    ],
)
def test_the_option_gives_room_to_judges_that_are_models_and_a_spelling_wins(judge, spelled):
    assert Settings("fake/x", "d", judge=judge, judge_max_tokens=9000).judges() == (spelled, spelled)
    assert Settings("fake/x", "d", judge=judge).judges() == (judge, judge)
    room = {"rules": None, "openai/x#max-tokens=5": 5}.get(judge, 9000)
    assert room is None or open_judge(spelled).max_tokens == room


def test_no_room_is_refused():
    with pytest.raises(SemeceError, match="judge-max-tokens must be at least 1; got 0"):
        check_options(replace(RUN, judge_max_tokens=0))


def test_the_command_line_gives_room_and_the_doctor_repeats_it(tmp_path, judge, monkeypatch, capsys):
    path = tmp_path / "a.db"
    thinker = judge(0)
    words = f"run -m {RUN.model} -d starter --limit 3 -n 4 -j fake/judge --judge-max-tokens 7000 -q -o {path}"
    monkeypatch.setattr(sys, "argv", ["semece", *shlex.split(words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    assert set(thinker.asked) == {7000}
    with Store(path) as store:
        assert store.meta("options")[-2:] == ["--judge-max-tokens", "7000"]


def test_the_doctor_says_what_came_without_a_text(tmp_path, judge):
    judge(JUDGE_TOKENS + 1)
    do(tmp_path / "a.db")
    well, lines = examine(tmp_path / "a.db")
    assert well
    assert lines[-1] == (
        "delivered by the judge without a text: 6 truncated (--retry-failed asks again; "
        "--judge-max-tokens gives a judge more room)"
    )


def test_the_doctor_and_the_run_count_what_the_judge_lacks(tmp_path, monkeypatch, capsys):
    path = tmp_path / "a.db"
    do(path, judge="rules")
    with Run(path) as run:
        assert run.missing == 0
    with Run(path, judge="fake/judge") as run:
        assert run.missing == 3  # the partitions; what is to be graded is not known before
    with Store(path, write=True) as store:
        store.set_meta("view", store.meta("view") | {"partition_judge": "fake/judge", "grade_judge": "fake/judge"})
        store.set_meta("options", ["-n", "4", "--limit", "3", "--judge", "fake/judge"])
    well, lines = examine(path)
    assert not well
    assert lines[1:3] == ["3 of 3 questions complete, 0 responses missing", "replies of the judge missing: 3"]
    command = lines[-1].removeprefix("to continue: ")
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code, capsys.readouterr().err
    assert examine(path)[0]


def test_what_a_judge_lacks_of_questions_without_all_their_responses_is_not_known(tmp_path):
    path = tmp_path / "a.db"
    do(path, judge="rules")
    with Store(path, write=True) as store:
        store.set_meta("view", store.meta("view") | {"n": 6})
    with Run(path, judge="fake/judge") as run:
        assert run.missing == run.counts["missing"] == 6


def test_a_cap_in_the_judges_stage_says_how_many_replies_are_missing(tmp_path, monkeypatch, capsys):
    path = tmp_path / "a.db"
    do(path, judge="rules")
    with pytest.raises(BudgetError):
        do(path, max_total_tokens=500)
    words = f"semece run -m {RUN.model} -d starter --limit 3 -n 4 -j fake/judge --max-total-tokens 500 -q -o {path}"
    monkeypatch.setattr(sys, "argv", shlex.split(words))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    assert "semece: 3 replies are missing" in capsys.readouterr().err
