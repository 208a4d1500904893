"""No sentence contradicts a number on its page and no interval excludes its own value: random runs of every kind."""

import pytest
from benchmarks.sentences import KINDS, check, make_run, wrong_words

from semece.runs.run import Run
from semece.runs.summary_rows import headline, summary_table
from semece.show import tables

PER_TEST = 4


@pytest.mark.parametrize("first", range(0, len(KINDS), PER_TEST))
def test_no_sentence_contradicts_a_number_and_no_interval_excludes_its_value(tmp_path, first):
    numbers = range(10_000 + first, 10_000 + first + PER_TEST)  # others than those of the benchmark
    found = {number: check(tmp_path, number, page=number == 10_000) for number in numbers}
    assert not {number: wrong for number, (_, wrong) in found.items() if wrong}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("model", "It is under-confident", "It is over-confident"),
        ("model", "It is under-confident", "Cannot tell"),
        ("confidences", "too low", "too high"),
        ("confidences", "right 7", "right 8"),
        ("regime", "larger", "smaller"),
        ("regime", "Sem1-ECE (0.", "Sem1-ECE (1."),
        ("refusals", "", "To 1 of 41 questions the most frequent answer is none"),
    ],
)
def test_a_false_word_is_noticed(tmp_path, name, old, new):
    with Run(make_run(tmp_path, "under-confident", 102)) as run:
        summary = summary_table([run])
    row = summary.row(0, named=True)
    head, (cells,) = tables.cells(headline(summary))
    printed, said = dict(zip(head, cells, strict=True)), tables.says(row)
    assert not list(wrong_words(printed, said, row))
    assert old in said[name]
    assert list(wrong_words(printed, said | {name: said[name].replace(old, new, 1)}, row))
