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
