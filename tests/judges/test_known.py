"""The table of judges: spellings, what may follow the hash, ids that old files hold."""

import pytest

from semece.errors import SemeceError
from semece.judges.known import JUDGES, MODEL, open_judge, spelling_of, with_room


@pytest.mark.parametrize(
    "variant",
    ["loose,strict", "strict,strict", "prompt=loose,strict", "order=1,order=2", "seed=1,order=2,seed=1"],
)
def test_what_follows_the_hash_says_each_thing_once(variant):
    with pytest.raises(SemeceError, match=f"says each thing once; got '{variant}'"):
        open_judge(f"openai/x#{variant}")


@pytest.mark.parametrize("number", ["9" * 19, "9" * 5000])
def test_a_number_that_no_order_has_is_refused(number):
    with pytest.raises(SemeceError, match="after # a judge's spelling takes"):
        open_judge(f"openai/x#order={number}")


def test_an_unknown_judge_is_refused_with_those_that_there_are():
    own = ", ".join(name for name in JUDGES if name != MODEL)
    with pytest.raises(
        SemeceError, match=f"no judge 'rule' .did you mean 'rules'..: a judge is one of {own}, or a model"
    ):
        open_judge("rule")
    with pytest.raises(
        SemeceError, match="rules has no variants: it always judges in the same way; got 'rules#strict'"
    ):
        open_judge("rules#strict")


def test_room_is_given_to_models_only_and_only_once():
    assert with_room("openai/o4-mini", 9000) == "openai/o4-mini#max-tokens=9000"
    assert with_room("openai/o4-mini#max-tokens=50,strict", 9000) == "openai/o4-mini#max-tokens=50,strict"
    assert with_room("given", 9000) == "given"


def test_ids_in_files_of_earlier_versions_are_understood():
    """What stood beside replies before judges had versions stands there still: nothing is asked again."""
    old = "llm:openai/gpt-4o-mini;prompt=strict@{};seed=0;order=2"
    hashed = open_judge("openai/gpt-4o-mini#strict").id.partition("@")[2][:12]
    assert spelling_of(old.format(hashed)) == "openai/gpt-4o-mini#strict,order=2"
    assert spelling_of(old.format("0" * 12)) is None
    assert spelling_of("given") == "given"
