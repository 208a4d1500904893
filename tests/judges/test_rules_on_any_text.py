"""The rules on texts that nobody would write: no exception, whatever the script, the length and the marks."""

import random
import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.judges.forms import assemble, distinct
from semece.judges.rules import seen
from semece.judges.rules.rules_judge import RulesJudge
from semece.records import Question

JUDGE = RulesJudge()
SCRIPTS = [
    *((0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F)),
    *((0xE00, 0xE7F), (0x1100, 0x11FF), (0x2000, 0x206F), (0x2070, 0x209F), (0x20A0, 0x20CF), (0x2150, 0x218F)),
    *((0x2190, 0x22FF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xD800, 0xDFFF), (0xE000, 0xE0FF)),
    *((0xFB00, 0xFB4F), (0xFF00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0, 0x1F)),
]
"""Blocks of Unicode: letters of many scripts, marks, private and broken characters."""

MARKS = list(" ,;:.!?-–—/()[]{}<>|\\^_=+*%°$€£'\"`~#@&\n\t")
QUESTIONS = [
    "What is it?",
    "How many miles is it?",
    "In what year was it?",
    "Is it a dog?",
    "What is the dose?",
    "Who was it, Paris or Rome?",
    "How many million people, in feet?",
    "Which letters are they?",
    "",
]
REFERENCES = ("Paris", "5 miles", "yes", "3 May 1990", "5 mg daily", "red, blue and green", "[0, 1)")


def known_words():
    """Every word of the vocabulary of the rules."""
    text = resources.files(seen.__package__).joinpath("vocabulary.toml").read_text(encoding="utf-8")
    rows = [row for value in tomllib.loads(text).values() for row in ([value] if isinstance(value, str) else value)]
    return sorted({word.partition("=")[0] for row in rows for word in row.split()})


WORDS = known_words()


def any_text(rng):
    """Draw a text: characters of one script, characters of all, or known words with marks between them."""
    kind, length = rng.random(), int(10 ** rng.uniform(0, 2.3))
    if kind < 0.3:
        low, high = rng.choice(SCRIPTS)
        return "".join(rng.choice([chr(rng.randint(low, high)), rng.choice(MARKS)]) for _ in range(length))
    if kind < 0.45:
        return "".join(chr(rng.randint(*rng.choice(SCRIPTS))) for _ in range(length))
    pieces = [rng.choice([rng.choice(WORDS), str(rng.randint(0, 2100))]) for _ in range(1 + length // 8)]
    return "".join(piece + rng.choice([" ", " ", rng.choice(MARKS)]) for piece in pieces)


def judge_all(number, seed):
    """Take so many texts through partition and grade, eight to a question."""
    rng = random.Random(seed)
    for start in range(0, number, 8):
        question = Question(str(start), rng.choice(QUESTIONS), REFERENCES)
        answers = [text for text in (any_text(rng) for _ in range(8)) if text.strip()]  # blanks are no answers
        forms = distinct(answers)
        labels = JUDGE.partition(question, forms.strings) if forms.strings else []
        assert len(assemble(question.id, answers, forms, labels, judge="rules").labels) == len(answers)
        for answer in answers:
            assert JUDGE.grade(question, answer) in {"correct", "incorrect", "not_attempted"}


@given(st.integers(0, 2**32 - 1))
def test_any_text_is_judged(seed):
    judge_all(16, seed)


@pytest.mark.parametrize(
    "word", ["before ", "minus ", "A, A, and B ", "n't ", "1/2 of ", "Paris\n", "early monday ", "="]
)
def test_a_word_that_is_repeated_does_no_harm(word):
    answer = word * (2 * seen.LONGEST // len(word))
    assert JUDGE.grade(Question("1", "When was it?", REFERENCES), answer) in {"correct", "incorrect", "not_attempted"}
    assert JUDGE.partition(Question("1", "When was it?"), ["Paris", answer, answer[:-1]]) == [0, 1, 2]
