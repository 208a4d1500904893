"""Where replies belong: keys, seeds, and what is set aside."""

import pytest

from semece.judges.llm import JUDGE_TOKENS
from semece.models import Decoding, Message
from semece.store.keys import Keys, set_failed_aside
from semece.store.run_store import Store, StoredReply

MESSAGES = (Message("system", "Group."), Message("user", "é\n\u2028"))
SCHEMA = {"type": "object", "properties": {"classes": {"type": "array"}}}


def test_keys_are_what_they_were_in_the_first_version():
    """What is stored is found by its key: these were computed by version 0.1.0."""
    respond = Keys("respond", "q1", "openai/x", MESSAGES, Decoding())
    judged = Keys("grade", "q1", "llm:x", MESSAGES, Decoding(0.0, None, 2048, schema=SCHEMA))
    assert [keys[3].hex()[:16] for keys in (respond, judged)] == ["7e5a0a4f690dbe61", "c63ddee208114dff"]
    assert [keys.request.hex()[:16] for keys in (respond, judged)] == ["7a7368b6ae4a76bf", "e6ef8ebf932839cb"]


def test_a_judges_room_is_in_the_request_and_not_in_the_keys():
    def keys(stage, tokens):
        return Keys(stage, "q", "x", MESSAGES, Decoding(max_tokens=tokens))

    assert keys("grade", 9000)[0] == keys("grade", JUDGE_TOKENS)[0]
    assert keys("grade", 9000).request != keys("grade", JUDGE_TOKENS).request
    assert keys("grade", 9000).body["decoding"]["max_tokens"] == 9000
    assert keys("respond", 9000)[0] != keys("respond", JUDGE_TOKENS)[0]


@pytest.mark.parametrize("judge", [None, "llm:a"])
def test_only_the_failed_replies_of_one_stage_and_judge_are_set_aside(judge):
    places = [(stage, who) for stage in ("respond", "grade") for who in (None, "llm:a", "llm:b")]
    with Store(":memory:", write=True) as store:
        for place, (stage, who) in enumerate(places):
            for index, status in enumerate(("ok", "truncated")):
                store.append([StoredReply(bytes([place, index]), stage, "q", index, status, judge=who)])
        store.flush()
        set_failed_aside(store, "q", "grade", judge)
        left = [(r.stage, r.judge, r.status) for stage in ("respond", "grade") for r in store.replies(stage, "q")]
    aside = {(*place, status) for place in places for status in ("ok", "truncated")} - set(left)
    assert aside == {("grade", judge, "truncated")}
