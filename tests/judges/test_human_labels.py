"""How often the rules agree with people, on questions they were not tuned on and on all.

Tuned on the questions whose sha256(id) is even, all answers of a question together; the floors below are for the others
and for the whole files. ``docs/benchmarks.md`` has the table that these tests keep true.
"""

import hashlib
import json
import re
import string
from collections import Counter, defaultdict
from itertools import combinations
from statistics import fmean

import pytest

from semece.judges.rules.rules_judge import RulesJudge
from semece.records import Question

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]

JUDGE = RulesJudge()
SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")


def odd(row):
    return int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 == 1


def plain(text):
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def equal(row):
    return any(plain(gold) == plain(row["answer"]) for gold in row["gold"])


def contains(row):
    return any(plain(gold) in plain(row["answer"]) for gold in row["gold"])


def rules(row):
    return JUDGE.grade(Question(row["id"], row["question"], tuple(row["gold"])), row["answer"]) == "correct"


@pytest.fixture(scope="module")
def rows(shared_data):
    """All rows by file or system, each with the verdicts of the rules."""
    found = defaultdict(list)
    for name in ("nq301", "evouna_nq_800"):
        for line in (shared_data / "human" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            row["rules"] = rules(row)
            found[row.get("system", name)].append(row)
    return found


def agreement(rows, verdict):
    return fmean(verdict(row) == row["human_correct"] for row in rows)


def false_correct(rows):
    """Share of the wrong answers that the rules call correct."""
    return fmean(row["rules"] for row in rows if not row["human_correct"])


def by_rules(row):
    return row["rules"]


def test_the_baselines_are_those_of_the_data(rows):
    assert agreement(rows["nq301"], equal) == pytest.approx(0.655, abs=0.005)
    assert agreement(rows["nq301"], contains) == pytest.approx(0.750, abs=0.005)
    assert agreement(rows["fid"], contains) == pytest.approx(0.904, abs=0.005)


def test_short_answers_of_many_systems(rows):
    """All questions: 0.813, wrong ones called correct 0.059. Unseen ones: 0.778 and 0.067, containment 0.747.

    Of the 149 right answers that are missed on unseen questions, 110 share no word with a reference; 12 of the 23 wrong
    answers called correct are a reference.
    """
    unseen = [row for row in rows["nq301"] if odd(row)]
    assert agreement(rows["nq301"], by_rules) >= 0.80
    assert false_correct(rows["nq301"]) <= 0.06
    assert agreement(unseen, by_rules) >= 0.775
    assert agreement(unseen, by_rules) > agreement(unseen, contains) + 0.02
    assert false_correct(unseen) <= 0.07


def test_short_answers_of_one_reader(rows):
    unseen = [row for row in rows["fid"] if odd(row)]
    assert agreement(unseen, by_rules) >= 0.94
    assert agreement(rows["fid"], by_rules) >= 0.94
    assert false_correct(unseen) <= 0.06


def test_long_answers(rows):
    """Unseen questions: gpt35 0.893, chatgpt 0.849, gpt4 0.888; newbing 0.851."""
    unseen = {name: [row for row in rows[name] if odd(row)] for name in SYSTEMS}
    assert fmean(agreement(unseen[name], by_rules) for name in ("gpt35", "chatgpt", "gpt4")) >= 0.86
    assert agreement(unseen["newbing"], by_rules) >= 0.79
    for name in SYSTEMS:
        assert agreement(unseen[name], by_rules) > agreement(unseen[name], contains)


def test_false_correct_over_all_long_answers(rows):
    unseen = [row for name in SYSTEMS for row in rows[name] if odd(row)]
    assert false_correct(unseen) <= 0.06


def merged(rows, most):
    """Shares of the pairs of answers of at most so many words that share a group: opposite verdicts, both correct."""
    answers = defaultdict(dict)
    pairs, joined = Counter(), Counter()
    for row in rows:
        if row["answer"].strip() and len(row["answer"].split()) <= most:
            answers[row["id"], row["question"]].setdefault(row["answer"], []).append(row["human_correct"])
    for (name, text), strings in answers.items():
        labels = JUDGE.partition(Question(name, text), list(strings))
        said = [(label, human) for label, humans in zip(labels, strings.values(), strict=True) for human in humans]
        for (label, human), (other_label, other_human) in combinations(said, 2):
            pairs[human + other_human] += 1
            joined[human + other_human] += label == other_label
    return joined[1] / pairs[1], joined[2] / pairs[2]


@pytest.mark.parametrize(("keep", "opposite", "both"), [(lambda row: True, 0.02, 0.48), (odd, 0.025, 0.42)])
def test_short_answers_are_grouped_as_people_grade_them(rows, keep, opposite, both):
    """At most 0.04 of the opposite verdicts, reached; 0.55 of the correct pairs is not: 0.483, unseen 0.427.

    Many correct pairs are two right answers: unseen, 0.65 share a word at all. A year and a day of it are two answers
    by rule; as one they would give 0.517 and 0.469, more than containment with half its errors.
    """
    merges = merged([row for row in rows["nq301"] if keep(row)], 8)
    assert merges[0] <= opposite <= 0.04
    assert merges[1] >= both


def test_sentences_are_grouped_as_people_grade_them(rows):
    """Answers of five systems of at most 40 words, unseen: 0.077 and 0.609; containment 0.074 and 0.390."""
    opposite, both = merged([row for name in SYSTEMS for row in rows[name] if odd(row)], 40)
    assert opposite <= 0.08
    assert both >= 0.595
