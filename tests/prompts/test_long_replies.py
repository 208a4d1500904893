"""A reply may be long and repeat itself for ever: no reader takes longer than the reply is long."""

import time
from contextlib import suppress

import pytest

from semece.errors import SemeceError
from semece.judges.alarms import reads_like_an_order
from semece.judges.answer_keys import answer_key
from semece.prompts import is_non_answer, read_grade, read_pair, read_partition, read_response
from semece.prompts.confidences import read_confidence
from semece.prompts.listed_guesses import read_guesses
from semece.prompts.probabilities import read_probability
from semece.prompts.truths import read_true
from semece.prompts.word_scales import read_words

LENGTH, SECONDS = 40_000, 1.5
"""Time that grows with the square of the length takes more; time that grows with the length a tenth."""

REPEATED = [
    *(
        "a",
        "a ",
        "1 ",
        "1,",
        "0.9 ",
        "90% ",
        " ",
        "\n",
        "\t\n",
        "**",
        "__",
        "`",
        "```\n",
        "\\boxed{",
        "{",
        "}",
        "()",
        "(((",
    ),
    *(
        "[[",
        "<think>",
        "</think>",
        "<answer>",
        '"a" ',
        "Confidence: ",
        "Answer: ",
        "answer is ",
        "True ",
        "(A) ",
        "A. ",
    ),
    *(
        "not ",
        "I am not sure ",
        "very high, ",
        "low or high ",
        "G1: ",
        "P1: ",
        "1. ",
        "- ",
        "# ",
        "---\n",
        "a,",
        "$1$ ",
    ),
    *("\\(", "\\frac{", "1e", "percent ", "out of ", "5/5 ", "x: ", "-> ", "== ", "\u200b", "½", "I'd say ", "Wait, "),
    *("The possible answer is ", "correct ", "\\", '{"a":', '{"grade": "', '"groups": [[', "<|channel|>", "analysis"),
    *("assistantfinal", "&nbsp;", "...", "!?", "a\u0301", "--", "+1", "| ", "|a|b|\n"),
]
READERS = {
    "response": read_response,
    "partition": lambda text: read_partition(text, 3),
    "grade": read_grade,
    "pair": read_pair,
    "confidence": read_confidence,
    "words": read_words,
    "mielke": lambda text: read_words(text, "linguistic-mielke"),
    "probability": read_probability,
    "true": read_true,
    "guesses": read_guesses,
    "non-answer": is_non_answer,
    "key": answer_key.__wrapped__,
    "order": reads_like_an_order,
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_no_longer_than_a_reply_is_long(name):
    slow = {}
    for part in REPEATED:
        start = time.process_time()
        with suppress(SemeceError):  # what is no reply of a judge
            READERS[name](f"Answer: {part * (LENGTH // len(part))}!")
        took = time.process_time() - start
        if took > SECONDS:
            slow[part] = took
    assert not slow
