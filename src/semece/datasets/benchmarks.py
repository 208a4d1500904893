"""Published benchmarks: where each comes from, and how a row of its file becomes a question.

A converter takes a row in the benchmark's own columns and gives one in ours (``id``, ``question``, ``references``, the
rest metadata), or None for a row that is left out. Without ``id`` the position is the id.
"""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from semece.datasets.files import read_questions
from semece.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from semece.records import Question

Row = dict[str, Any]
HUB = "https://huggingface.co/datasets"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark that can be fetched.

    Parameters
    ----------
    count : int
        Its questions.
    licence : str
        As its owners state it.
    about : str
        What it asks, in a line.
    url : str
        Where its file is, at a fixed revision where there are revisions.
    columns : tuple of str
        What the converter reads: a file without them is not in the original format.
    convert : callable
        From a row to ours; None leaves it out.
    sha256 : str, optional
        Of the file; None if no hash of exactly these bytes is known.
    gate : str, optional
        The page where access must be asked for.
    judge : str, optional
        Who judges the answers if nobody is named.
    """

    count: int
    licence: str
    about: str
    url: str
    columns: tuple[str, ...]
    convert: Callable[[Row], Row | None]
    sha256: str | None = None
    gate: str | None = None
    judge: str | None = None

    @property
    def suffix(self) -> str:
        """The ending of its file, which says how it is read."""
        return PurePosixPath(urlsplit(self.url).path).suffix


def read_benchmark(name: str, path: Path, *, strict: bool = False) -> tuple[Question, ...]:
    """Read a benchmark's file; rows in other columns are those of a file of questions.

    Parameters
    ----------
    name : str
        One of :data:`BENCHMARKS`.
    path : Path
        The file.
    strict : bool
        Refuse rows that are not in the original columns, and another number of questions than there must be.

    Returns
    -------
    tuple of Question
        In the file's order.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    benchmark = BENCHMARKS[name]

    def convert(row: Row, where: str) -> Row | None:
        if not row.keys() >= set(benchmark.columns):
            if strict:
                raise ParseError(f"{where}: expected the columns {_listed(benchmark.columns)}; got {_listed(row)}")
            return row
        try:
            return benchmark.convert(row)
        except (LookupError, TypeError, ValueError, AttributeError, SyntaxError, RecursionError, MemoryError) as error:
            said = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or "it cannot be read"
            raise ParseError(f"{where} is not a row of {name}: {said}") from None

    read = read_questions(path, convert=convert)
    questions = tuple(replace(question, references=_distinct(question.references)) for question in read)
    if strict and len(questions) != benchmark.count:
        raise ParseError(f"{path}: expected {benchmark.count:,} questions; got {len(questions):,}")
    if strict and (bare := [q.id for q in questions if not q.references]):
        raise ParseError(f"{path}: expected a reference to every question; question {bare[0]} has none")
    return questions


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Drop blanks around texts, empty ones and repetitions; keep the order."""
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def columns(question: str, references: str, *, id: str | None = None, keep: Sequence[str] = ()) -> Callable[[Row], Row]:  # noqa: A002
    """Make a converter of rows whose columns hold what ours do, under other names.

    Parameters
    ----------
    question, references, id : str
        The benchmark's names of these columns; without `id` the position is the id.
    keep : sequence of str
        What is kept as metadata, where it is there.

    Examples
    --------
    >>> columns("problem", "answer", id="key", keep=("level",))({"problem": "2 + 2?", "answer": "4", "key": "a"})
    {'id': 'a', 'question': '2 + 2?', 'references': '4'}
    """

    def convert(row: Row) -> Row:
        named = {"id": row[id]} if id in row else {}
        kept = {name: row[name] for name in keep if name in row}
        return {**named, "question": row[question], "references": row[references], **kept}

    return convert


def _simpleqa(row: Row) -> Row:
    """Read a row whose metadata is a Python dict literal."""
    read = columns("problem", "answer", keep=("topic", "answer_type"))
    return read({**ast.literal_eval(row["metadata"]), "problem": row["problem"], "answer": row["answer"]})


def _popqa(row: Row) -> Row:
    """Read a row whose possible answers are a JSON list; 'id' tells apart the questions that share a text."""
    numbers: Row = {name: int(row[name]) for name in ("s_pop", "o_pop") if name in row}
    answers = json.loads(row["possible_answers"])
    read = columns("question", "possible_answers", id="id", keep=("subj", "prop", "obj", *numbers))
    return read({**row, **numbers, "possible_answers": answers})


def _triviaqa(row: Row) -> Row:
    answers = [row["answer"]["value"], *row["answer"]["aliases"]]
    return columns("question", "answer", id="question_id")({**row, "answer": answers})


def _hle(row: Row) -> Row | None:
    """Leave out questions with an image."""
    read = columns("question", "answer", id="id", keep=("answer_type", "category", "raw_subject"))
    return None if row["image"] else read(row)


def _medxpertqa(row: Row) -> Row:
    """Give the letter and the text of the right option; the options are part of what is asked."""
    options, text = row["options"], row["question"]
    if any(option not in text for option in options.values()):
        listed = " ".join(f"({letter}) {option}" for letter, option in options.items())
        text = f"{text}\nAnswer Choices: {listed}"
    read = columns("question", "label", id="id", keep=("medical_task", "body_system", "question_type"))
    return read({**row, "question": text, "label": [row["label"], options[row["label"]]]})


BENCHMARKS = {
    "simpleqa": Benchmark(
        4326,
        "MIT",
        "short factual questions with one answer",
        "https://openaipublic.blob.core.windows.net/simple-evals/simple_qa_test_set.csv",
        ("metadata", "problem", "answer"),
        _simpleqa,
        "feee3f7e7db3617e94e8fcf1977b756ec420ef8568f4e0fcbbe0e92e9d5fc032",
    ),
    "simpleqa-verified": Benchmark(
        1000,
        "MIT",
        "SimpleQA, checked and thinned out by Google",
        f"{HUB}/google/simpleqa-verified/resolve/0dc97e0d28d8233463e005cdc4475cc2a13ba2dc/simpleqa_verified.csv",
        ("original_index", "problem", "answer"),
        columns(
            "problem",
            "answer",
            id="original_index",
            keep=("topic", "answer_type", "multi_step", "requires_reasoning"),
        ),
        "b5db21155444763543fe31b67e7cf28ce2bb225742a5b889421c5f182e2f92f5",
    ),
    "popqa": Benchmark(
        14267,
        "MIT",
        "facts about entities of all degrees of popularity",
        f"{HUB}/akariasai/PopQA/resolve/098765c79ea10a2cb19c828324e33281b8336ec0/test.tsv",
        ("id", "question", "possible_answers"),
        _popqa,
        "9a5227f41bff0e4c331d4a774d946b12f95307892b58f860a9606ef356e6089b",
    ),
    "nq-open": Benchmark(
        3610,
        "CC BY-SA 3.0",
        "what people asked Google (the dev split)",
        "https://raw.githubusercontent.com/google-research-datasets/natural-questions/"
        "fb26a3073b1fe636c97302890a27b491d6530130/nq_open/NQ-open.dev.jsonl",
        ("question", "answer"),
        columns("question", "answer", id="id"),
        "f15567f38099f3615f5b8a685c0aef449c11ad90d3da3735e8d1b98115b40616",
    ),
    "triviaqa": Benchmark(
        11313,
        "not stated",
        "trivia with aliases (the validation split, without documents)",
        f"{HUB}/mandarjoshi/trivia_qa/resolve/0f7faf33a3908546c6fd5b73a660e0f8ff173c2f/"
        "unfiltered.nocontext/validation-00000-of-00001.parquet",
        ("question_id", "question", "answer"),
        _triviaqa,
    ),
    "math-500": Benchmark(
        500,
        "MIT",
        "competition mathematics; references are LaTeX",
        f"{HUB}/HuggingFaceH4/MATH-500/resolve/6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be/test.jsonl",
        ("unique_id", "problem", "answer"),
        columns("problem", "answer", id="unique_id", keep=("subject", "level")),
        "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132",
        judge="math",
    ),
    "aime": Benchmark(
        30,
        "Apache-2.0 (its card)",
        "AIME I and II of 2025; references are whole numbers",
        f"{HUB}/math-ai/aime25/resolve/563bb8404243c5f09de6ec262f2db674fe5bce9b/test.jsonl",
        ("id", "problem", "answer"),
        columns("problem", "answer", id="id"),
        "b4e273c02d3e7fe1b74b59eae768fc8230bfb0f79539890cb56f4361caac0331",
        judge="math",
    ),
    "hle": Benchmark(
        2158,
        "MIT, on request",
        "Humanity's Last Exam, the questions without an image",
        f"{HUB}/cais/hle/resolve/5a81a4c7271a2a2a312b9a690f0c2fde837e4c29/data/test-00000-of-00001.parquet",
        ("id", "question", "answer", "image"),
        _hle,
        "6d0ee0602e8aea6b159509577e884f48ecac7b8e3f6822a35f51335a446c726a",
        gate=f"{HUB}/cais/hle",
    ),
    "medxpertqa": Benchmark(
        2450,
        "MIT",
        "medical multiple choice with ten options (the Text test split)",
        f"{HUB}/TsinghuaC3I/MedXpertQA/resolve/7e7c465a68eb2b866926bfa59c8c9d17a8daba65/Text/test.jsonl",
        ("id", "question", "options", "label"),
        _medxpertqa,
    ),
}
