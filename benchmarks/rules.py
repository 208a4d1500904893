"""Distinct strings per second that the rules judge groups and grades, in questions of 25, nothing cached."""

import random
from itertools import cycle

from benchmarks._data import shared_rows
from benchmarks._tables import median_seconds, table
from semece.judges.answer_keys import normalise
from semece.judges.forms import distinct
from semece.judges.rules import asked_values as asked
from semece.judges.rules import seen as reading
from semece.judges.rules import words
from semece.judges.rules.english import names
from semece.judges.rules.rules_judge import RulesJudge
from semece.records import Question

TITLE = "Rules judge"
TEXT = """Distinct strings per second in questions of {size} strings, read for the first time: every cache is emptied
before each run. The bar is 5,000 per second for partition.
"""
SIZE = 25
QUESTIONS = 200
GIVEN = ["John", "Mary", "Keeley", "Hugh Samuel", "J. R.", "Robert", "Élodie", "Anna Maria", "Fyodor", "Will"]
FAMILY = ["Nixon", "Hawes", "Johnson", "Tolkien", "Ångström", "Medvedeva", "Smith", "Dostoevsky", "Harrison", "Lee"]
PLACES = ["Paris", "Vienna", "New Mexico", "West Virginia", "Lake Constance", "the Nile", "Springfield", "São Paulo"]
MONTHS = ["January", "March", "May", "July", "September", "December"]


def made_up(rng: random.Random) -> str:
    """One answer: a name, a place, a number, a date, a quantity or a sentence with one of them."""
    name = f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
    place = f"{rng.choice(PLACES)}, {rng.choice(PLACES)}"
    date = f"{rng.choice(MONTHS)} {rng.randint(1, 28)}, {rng.randint(1500, 2020)}"
    number = f"{rng.randint(2, 9_999):,} {rng.choice(['km', 'miles', 'kg', 'years', 'seasons', 'million'])}"
    short = rng.choice([name, place, date, number, f"{name} ({rng.randint(1, 99)})", f"about {number}"])
    return rng.choice([short, short, short, f"It was {short}.", f"The answer to this question is {short}, I think."])


def made_up_questions() -> list[tuple[str, list[str]]]:
    """Questions with their distinct strings."""
    rng = random.Random(0)
    questions = []
    for _ in range(QUESTIONS):
        strings: dict[str, str] = {}
        while len(strings) < SIZE:
            answer = made_up(rng)
            strings.setdefault(normalise(answer), answer)
        questions.append(("Who or what was it, and when?", list(strings.values())))
    return questions


def real_questions() -> list[tuple[str, list[str]]]:
    """TriviaQA: the distinct strings of all questions, dealt out in questions of 25; empty if the data is not here."""
    rows = shared_rows("samples/triviaqa_500x20.jsonl")
    pool = [string for row in rows for string in distinct(row["answers"]).strings]
    parts = [pool[start : start + SIZE] for start in range(0, len(pool) - SIZE, SIZE)]
    return list(zip(cycle(row["question"] for row in rows), parts, strict=False))


def forget() -> None:
    """Empty every cache of what was read."""
    for function in (reading.read, asked.read_answer, words.stem, names.sound, names.spelled_alike):
        function.cache_clear()


def partition_all(questions: list[tuple[str, list[str]]]) -> None:
    forget()
    for text, strings in questions:
        RulesJudge().partition(Question("q", text), strings)


def grade_all(questions: list[tuple[str, list[str]]]) -> None:
    forget()
    for text, strings in questions:
        question = Question("q", text, (strings[0], strings[1]))
        for string in strings:
            RulesJudge().grade(question, string)


def main() -> str:
    """Time both stages on made-up and on real strings."""
    rows = []
    for kind, questions in (("made up", made_up_questions()), ("TriviaQA", real_questions())):
        if not questions:
            continue
        strings = sum(len(part) for _, part in questions)
        for stage, work in (("partition", partition_all), ("grade", grade_all)):
            seconds = median_seconds(lambda work=work, questions=questions: work(questions), repeats=5)
            rows.append([f"{stage}, {kind}", f"{strings:,}", f"{strings / seconds:,.0f}"])
    return TEXT.format(size=SIZE) + "\n" + table(["stage", "strings", "per second"], rows)
