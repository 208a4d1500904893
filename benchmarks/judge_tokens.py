"""What an LLM judge is paid for per question when only distinct strings are listed, against listing all answers."""

import json
import math
from statistics import fmean

from benchmarks._data import ABSENT, shared_rows
from benchmarks._tables import table
from semece.judges.forms import distinct
from semece.judges.llm import LLMJudge
from semece.prompts import load_text
from semece.records import Question

TITLE = "Tokens of the LLM judge"
TEXT = """Partition of one question, mean over the {questions} TriviaQA questions with {n} real answers each; tokens are
UTF-8 bytes / 4. {share:.0f} % of the strings go to the judge. A reply is taken at its longest, every string a class of
its own. n = {more} is extrapolated: twice as many answers gave {factor:.2f} times as many distinct strings.
"""
N, MORE = 20, 50


def tokens(text: str) -> float:
    """Count as the budget does."""
    return len(text.encode()) / 4


def data_tokens(question: str, strings: list[str]) -> float:
    """Tokens of what a partition call carries besides its instructions."""
    messages = LLMJudge("m")._partition_messages(Question("q", question), strings)
    return tokens(messages[1].content)


def replies(n: int) -> dict[str, float]:
    """Tokens of a reply about n strings, by format."""
    return {
        "classes": tokens(json.dumps({"classes": [[i + 1] for i in range(n)]})),
        "labels": tokens(json.dumps({"labels": list(range(n))})),
    }


def measure(rows: list[tuple[str, list[str]]]) -> dict[str, float]:
    """Mean tokens per question: data of all answers and of distinct ones, replies, and how many are distinct."""
    found = []
    for question, answers in rows:
        strings = list(distinct(answers).strings)
        every = [answer for answer in answers if answer]
        found.append(
            {
                "distinct": len(strings),
                "data, all": data_tokens(question, every),
                "data, distinct": data_tokens(question, strings),
                "reply, all": replies(len(every))["classes"],
                "reply, distinct": replies(len(strings))["classes"],
                "reply, labels of all": replies(len(every))["labels"],
                "reply, labels of distinct": replies(len(strings))["labels"],
                "reply, strings of all": tokens(json.dumps([[answer] for answer in every], ensure_ascii=False)),
            }
        )
    return {name: fmean(row[name] for row in found) for name in found[0]}


def main() -> str:
    """Measure at 20, extrapolate to 50."""
    rows = [(row["question"], row["answers"]) for row in shared_rows("samples/triviaqa_500x20.jsonl")]
    if not rows:
        return ABSENT
    at = measure(rows)
    half = measure([(question, answers[: N // 2]) for question, answers in rows])
    factor = at["distinct"] / half["distinct"]
    growth = {"all": MORE / N, "distinct": (MORE / N) ** math.log2(factor)}
    instructions = tokens(load_text("partition-default-v2"))
    kinds = [
        ("all answers, reply lists the strings", "all", "reply, strings of all"),
        ("all answers, reply lists a label each", "all", "reply, labels of all"),
        ("all answers, reply lists classes of numbers", "all", "reply, all"),
        ("distinct strings, reply lists a label each", "distinct", "reply, labels of distinct"),
        ("distinct strings, reply lists classes of numbers (ours)", "distinct", "reply, distinct"),
    ]
    lines = []
    for name, which, reply in kinds:
        lines.append([name, f"{instructions:.0f}"])
        for scale in (1, growth[which]):
            lines[-1] += [f"{scale * at[f'data, {which}']:.0f}", f"{scale * at[reply]:.0f}"]
    head = ["listed", "instructions", *(f"{what}, n = {n}" for n in (N, MORE) for what in ("data", "reply"))]
    share = 100 * at["distinct"] / N
    return TEXT.format(questions=len(rows), n=N, share=share, more=MORE, factor=factor) + "\n" + table(head, lines)
