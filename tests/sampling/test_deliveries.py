"""Rows of the run file from what a call brought."""

import json

from semece.models import Call, Reply
from semece.prompts.replies import LONGEST_REPLY
from semece.sampling.deliveries import MOST_KEPT, delivered_rows
from semece.store.keys import Slot

SLOT = Slot(b"key", "grade", "q1", 0, "llm:m", b"request")


def row(text, status):
    raw = json.dumps({"message": {"content": text}})
    (made,) = delivered_rows(Call((Reply(text, "ok", "stop", raw),)), [SLOT], "call", None, lambda _: status)
    return made


def test_of_a_judges_reply_that_ran_away_the_beginning_is_kept_once():
    """It is as unreadable when it is read again."""
    made = row("x" * 10_000_000, "unparseable")
    assert made.text == "x" * MOST_KEPT
    assert json.loads(made.raw) == {"characters": 10_000_000}
    assert MOST_KEPT > LONGEST_REPLY


def test_every_other_reply_is_kept_as_it_came():
    for text, status in (("x" * 10_000_000, "ok"), ("They are all the same.", "unparseable")):
        made = row(text, status)
        assert made.text == text
        assert json.loads(made.raw)["message"]["content"] == text


def test_a_reply_without_a_text_outside_its_thoughts_is_empty_whichever_adapter_brought_it():
    from semece.models import Call, Reply
    from semece.sampling.deliveries import delivered_rows
    from semece.store import FINAL, Slot

    texts = ["Answer: Oslo", "", " \n", "<think>Oslo?</think>", "\u200b"]
    slots = [Slot(bytes([i]), "respond", "q", i, None, b"r") for i in range(len(texts))]
    call = Call(tuple(Reply(text, "ok", "stop", "{}") for text in texts))
    assert [row.status for row in delivered_rows(call, slots, "c", None)] == ["ok", *["empty"] * 4]
    assert "empty" in FINAL, "--retry-failed asks for it again"
