"""Refusals of options: one that is not taken is left out, a value that a person chose never is."""

import pytest

from semece.models.shared.refusals import Noticed, may_leave_out

NOT_TAKEN = [
    "Unsupported parameter: 'temperature' is not supported with this model.",
    "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
    "Unrecognized request argument supplied: reasoning_effort",
    "unknown_parameter Unknown parameter: 'top_p'.",
    "Argument not supported on this model: reasoningEffort",
    "Model grok-4 does not support parameter reasoningEffort.",
    "`temperature` is deprecated for this model.",
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    "temperature: Extra inputs are not permitted",
    '{"detail": [{"type": "extra_forbidden", "loc": ["body", "top_p"]}]}',
    "Invalid JSON payload received. Unknown name \"topP\" at 'generation_config': Cannot find field.",
    "Thinking level is not supported for this model.",
    "This model does not support the effort parameter.",
    "Thinking is not enabled for models/gemini-2.0-flash",
    "temperature isn't supported when thinking is enabled",
]
ONLY_THE_VALUE = [
    "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    "Unsupported value: 'reasoning_effort' does not support 'hi' with this model. Supported values are: 'low', 'high'.",
    "Invalid value: 'hi'. Supported values are: 'low', 'medium', and 'high'.",
    "`reasoning_effort` must be one of `none` or `default`",
    "reasoning_effort 'hi' is not supported: one of none, low, high",
    "Invalid temperature value, the valid range of temperature is [0, 2.0]",
    "temperature above 1.5 is not supported: choose a value between 0 and 1.5",
    "temperature: Input should be less than or equal to 1",
    "temperature values above 2 are not supported",
    "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
    "Unable to submit request because it has a temperature value of 3 but the supported range is from 0 to 2.0",
    "The thinking budget 64 is invalid. Please choose a value between 512 and 24576.",
    "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.",
    "max_tokens is too large: 200000. This model supports at most 16384 completion tokens",
    "top_p must be in (0, 1]",
]


@pytest.mark.parametrize("sentence", NOT_TAKEN)
def test_an_option_that_is_not_taken_may_be_left_out(sentence):
    assert may_leave_out("temperature", sentence)


@pytest.mark.parametrize("sentence", ONLY_THE_VALUE)
def test_a_value_that_is_refused_is_not_given_up_for_the_default(sentence):
    assert not may_leave_out("temperature", sentence)
    assert may_leave_out("seed", sentence), "nothing a reply is drawn from"


def test_a_copy_is_known_however_many_replies_came_meanwhile():
    """A connection on which it lies may be left unused for some seconds."""
    noticed = Noticed()
    for number in range(5000):
        assert not noticed.is_copy(f"reply {number}", number, "no name is read before".upper)
        noticed.heard(f"id {number}")
    assert noticed.is_copy("reply 0", "another request", lambda: "id 0")
    assert noticed.is_copy("reply 0", "a third request", lambda: "id 0")
    assert not noticed.is_copy("reply 1", 1, lambda: "id 1"), "the same request may be answered from a cache"
    assert not noticed.is_copy("reply 1", "another request", lambda: None), "a reply without a name is none"


def test_a_copy_is_known_at_once_before_any_reply_was_looked_at():
    noticed = Noticed()
    assert not noticed.is_copy("reply", "first", lambda: "id 0")
    assert noticed.is_copy("reply", "second", lambda: "id 0")


def test_a_service_that_gives_one_name_to_all_replies_is_doubted_once():
    noticed = Noticed()
    noticed.heard("chat")
    assert not noticed.is_copy("yes", "first", lambda: "chat")
    assert noticed.is_copy("yes", "second", lambda: "chat")
    assert not noticed.is_copy("yes", "second", lambda: "chat")
    assert not noticed.is_copy("yes", "third", lambda: "chat")
    noticed.heard("another")
    assert noticed.is_copy("yes", "third", lambda: "chat")


def test_replies_are_not_remembered_for_ever(monkeypatch):
    monkeypatch.setattr("semece.models.shared.refusals.REMEMBERED", 10)
    noticed = Noticed()
    for number in range(20):
        assert not noticed.is_copy(f"reply {number}", number, lambda: "id")
    noticed.heard("another")
    assert not noticed.is_copy("reply 0", "another request", lambda: "id")
    assert noticed.is_copy("reply 19", "another request", lambda: "id")
