"""How often the rules agree with people, on the questions they were written looking at and on the others."""

from __future__ import annotations

import hashlib
import re
import string
from collections import Counter, defaultdict
from itertools import combinations
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from benchmarks._data import ABSENT, shared_rows
from benchmarks._small_judge import grade as small_grade
from benchmarks._tables import table
from semece.compare.judge_eval import LENGTHS
from semece.judges.rules import grouping
from semece.judges.rules.rules_judge import RulesJudge
from semece.judges.rules.values.dates import contains
from semece.judges.rules.values.same_value import same_date
from semece.records import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from semece.judges.rules.values.dates import Date

    Row = dict[str, Any]
    Rows = Sequence[Row]
    Alike = Callable[[str, list[str]], list[list[bool]]]

TITLE = "Judges against people"
TEXT = """Of `human/nq301` and `human/evouna_nq_800`. The rules were written looking at the questions whose sha256(id)
is even (seen); all answers to a question are in one half. `python -m benchmarks judges` measures this again. After ±
stands the bootstrap standard error, questions drawn with all their answers. Published for nq301, all questions: a
trained model (BEM) 0.806, GPT-4 0.847, two people 0.869. A judge of 40 lines is `benchmarks/_small_judge.py`.
"""
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
FILES = ("nq301", *SYSTEMS)
FEWEST = 20
"""Shares of fewer answers say nothing, and too much about each."""
HALVES = ("unseen", "seen", "all")
DRAWS = 1000
"""Bootstrap samples of questions."""
RULES = RulesJudge()


def is_unseen(row: Row) -> bool:
    """Whether a row is of the half that the rules were not written on."""
    return int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 == 1


def plain(text: str) -> str:
    """Normalise as the published baselines do: no case, punctuation, articles."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def token_f1(one: str, other: str) -> float:
    """Harmonic mean of the shares of words that two texts have in common."""
    a, b = plain(one).split(), plain(other).split()
    common = sum((Counter(a) & Counter(b)).values())
    return 2 * common / (len(a) + len(b)) if common else 0.0


def either_way(one: str, other: str) -> bool:
    """Whether one text contains the other."""
    a, b = plain(one), plain(other)
    return bool(a and b) and (a in b or b in a)


GRADERS: dict[str, Callable[[Row], bool]] = {
    "equal to a reference": lambda row: any(plain(gold) == plain(row["answer"]) for gold in row["gold"]),
    "token F1 at least 0.5": lambda row: any(token_f1(gold, row["answer"]) >= 0.5 for gold in row["gold"]),
    "contains a reference": lambda row: any(plain(gold) in plain(row["answer"]) for gold in row["gold"]),
    "containment either way": lambda row: any(either_way(gold, row["answer"]) for gold in row["gold"]),
    "a judge of 40 lines": lambda row: small_grade(row["answer"], row["gold"]),
    "**rules**": lambda row: row["rules"],
}


def load() -> dict[str, list[Row]]:
    """Read all rows by file or system, each with what every grader says."""
    found: dict[str, list[Row]] = defaultdict(list)
    for name in ("nq301", "evouna_nq_800"):
        for row in shared_rows(f"human/{name}.jsonl"):
            question = Question(row["id"], row["question"], tuple(row["gold"]))
            row["rules"] = RULES.grade(question, row["answer"]) == "correct"
            row |= {name: grader(row) for name, grader in GRADERS.items()}
            found[row.get("system", name)].append(row)
    return found


def halves(rows: Rows) -> dict[str, list[Row]]:
    """Split rows by question."""
    return {
        "unseen": [row for row in rows if is_unseen(row)],
        "seen": [row for row in rows if not is_unseen(row)],
        "all": list(rows),
    }


def agreement(rows: Rows, grader: Callable[[Row], bool]) -> float:
    """Share of the answers of which a grader and people say the same."""
    return fmean(grader(row) == row["human_correct"] for row in rows)


def false_correct(rows: Rows, grader: Callable[[Row], bool]) -> float:
    """Share of the wrong answers that a grader calls correct."""
    return fmean(grader(row) for row in rows if not row["human_correct"])


def with_error(rows: Rows, grader: Callable[[Row], bool], measure: Callable[..., float]) -> str:
    """Write a measure with its bootstrap standard error: questions are drawn, all answers of one together."""
    wrong_only = measure is false_correct
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        if wrong_only and row["human_correct"]:
            continue
        sums[row["id"]][0] += grader(row) if wrong_only else grader(row) == row["human_correct"]
        sums[row["id"]][1] += 1
    table_of = np.array(list(sums.values()))
    drawn = np.random.default_rng(0).integers(0, len(table_of), (DRAWS, len(table_of)))
    hits, counts = table_of[drawn].sum(axis=1).T
    return f"{measure(rows, grader):.3f} ± {np.std(hits / counts):.3f}"


def graders_table(data: dict[str, dict[str, list[Row]]], measure: Callable[..., float]) -> str:
    """Tabulate a measure: a row per grader and half, a column per file."""
    lines = [
        [name, half, *(with_error(data[file][half], itemgetter(name), measure) for file in FILES)]
        for name in GRADERS
        for half in HALVES
    ]
    return table(["grader", "half", *FILES], lines)


def confusion_table(data: dict[str, dict[str, list[Row]]]) -> str:
    """Tabulate what the rules say against what people say."""
    lines = []
    for name, files in (("nq301", ("nq301",)), ("five systems", SYSTEMS)):
        for half in HALVES:
            rows = [row for file in files for row in data[file][half]]
            for human, said in ((True, "correct"), (False, "not")):
                mine = [row["rules"] for row in rows if row["human_correct"] == human]
                lines.append([f"{name}, people: {said}", half, str(sum(mine)), str(len(mine) - sum(mine))])
    return table(["answers", "half", "rules: correct", "rules: not"], lines)


def length_table(data: dict[str, dict[str, list[Row]]]) -> str:
    """Tabulate the rules by the length of the answer."""
    lines = []
    for name, files in (("nq301", ("nq301",)), ("five systems", SYSTEMS)):
        for half in HALVES:
            groups: dict[str, list[Row]] = defaultdict(list)
            for row in (row for file in files for row in data[file][half]):
                words = len(row["answer"].split())
                groups[next(group for group, most in LENGTHS.items() if most is None or words <= most)].append(row)
            for group in LENGTHS:
                rows = groups[group]
                shares = (measure(rows, GRADERS["**rules**"]) for measure in (agreement, false_correct))
                if len(rows) >= FEWEST:
                    lines.append([f"{name}, {group}", half, f"{len(rows):,}", *(f"{share:.3f}" for share in shares)])
    return table(["answers", "half", "number", "agreement", "wrong called correct"], lines)


def reach_table(data: dict[str, dict[str, list[Row]]]) -> str:
    """Count in nq301 what no rule about words can know, and what no grader by the references could call wrong."""
    lines = []
    for half in HALVES:
        rows = data["nq301"][half]
        missed = [row for row in rows if row["human_correct"] and not row["rules"]]
        strange = [row for row in missed if not any(token_f1(gold, row["answer"]) for gold in row["gold"])]
        wrong = [row for row in rows if row["rules"] and not row["human_correct"]]
        same = sum(GRADERS["equal to a reference"](row) for row in wrong)
        longer = sum(GRADERS["contains a reference"](row) for row in wrong)
        best = (len(rows) - len(wrong) - len(strange)) / len(rows)
        lines.append(
            [half, *map(str, (len(missed), len(strange))), f"{best:.3f}", *map(str, (len(wrong), same, longer))]
        )
    head = ["half", "right, missed", "of these without a word of a reference", "agreement with all others found"]
    return table([*head, "wrong, called correct", "of these equal to a reference", "of these with one in them"], lines)


def by_rules(text: str, strings: list[str]) -> list[list[bool]]:
    """Say which strings the rules put together."""
    labels = RULES.partition(Question("q", text), strings)
    return [[one == other for other in labels] for one in labels]


def same_year(one: Date, other: Date) -> bool:
    """Whether two dates are equal, or one is a year and the other a part of it."""
    whole = (one.precision == "year" and contains(one, other)) or (other.precision == "year" and contains(other, one))
    return whole or same_date(one, other)


def by_rules_of_years(text: str, strings: list[str]) -> list[list[bool]]:
    """Say which strings the rules would put together if a year were the same answer as a day of it."""
    with mock.patch.object(grouping, "same_date", same_year):
        return by_rules(text, strings)


def by_containment(_: str, strings: list[str]) -> list[list[bool]]:
    """Say which strings contain another."""
    return [[either_way(a, b) for b in strings] for a in strings]


def by_words(_: str, strings: list[str]) -> list[list[bool]]:
    """Say which strings share a word or contain another: more than any rule about words can join."""
    return [[token_f1(a, b) > 0 or either_way(a, b) for b in strings] for a in strings]


GROUPERS: dict[str, Alike] = {
    "containment either way": by_containment,
    "a word in common, or containment": by_words,
    "**rules**": by_rules,
    "rules, if a year were the same answer as a day of it": by_rules_of_years,
}


def merged(rows: Rows, most: int, alike: Alike) -> tuple[float, float]:
    """Shares of the pairs of answers of at most so many words in one group: of opposite verdicts, of two correct."""
    answers: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(dict)
    for row in rows:
        if row["answer"].strip() and len(row["answer"].split()) <= most:
            answers[row["id"], row["question"]].setdefault(row["answer"], []).append(row["human_correct"])
    pairs, joined = Counter[int](), Counter[int]()
    for (_, text), strings in answers.items():
        together = alike(text, list(strings))
        said = [(place, human) for place, humans in enumerate(strings.values()) for human in humans]
        for (place, human), (other, other_human) in combinations(said, 2):
            pairs[human + other_human] += 1
            joined[human + other_human] += place == other or together[place][other]
    return joined[1] / pairs[1], joined[2] / pairs[2]


def groups_table(rows: dict[str, list[Row]], most: int) -> str:
    """Tabulate which pairs of answers are put together."""
    lines = [
        [name, half, *(f"{share:.3f}" for share in merged(rows[half], most, alike))]
        for name, alike in GROUPERS.items()
        for half in HALVES
    ]
    return table(["groups", "half", "opposite verdicts, one group", "both correct, one group"], lines)


def main() -> str:
    """Lay out every table for both halves and all questions."""
    loaded = load()
    if not loaded:
        return ABSENT
    data = {name: halves(rows) for name, rows in loaded.items()}
    five = {half: [row for name in SYSTEMS for row in data[name][half]] for half in HALVES}
    over_five = ", ".join(f"{half} {false_correct(five[half], GRADERS['**rules**']):.3f}" for half in HALVES)
    return "\n\n".join(
        [
            TEXT.strip(),
            "Agreement with people on correct / not correct:",
            graders_table(data, agreement),
            "Wrong answers called correct:",
            graders_table(data, false_correct),
            f"By the rules over the five systems together: {over_five}. The rules' confusion with people:",
            confusion_table(data),
            "The rules by the length of the answer:",
            length_table(data),
            "What is out of reach in nq301:",
            reach_table(data),
            "Pairs of answers of at most 8 words to one question, nq301:",
            groups_table(data["nq301"], 8),
            "Pairs of answers of at most 40 words, five systems:",
            groups_table(five, 40),
        ]
    )
