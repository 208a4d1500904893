"""Selection on random blocks equals enumeration, in numpy and compiled, for few and for many questions."""

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from semece.stats.counts import (
    Counts,
    binomial_weights,
    blocks,
    circle_points,
    kernels,
    per_question,
    poisson_weights,
    population_selection,
    ragged,
    selection_table,
    subset_maximum,
    subset_selection,
    subset_table,
)
from semece.stats.theory import expected_sem2
from tests.brute_force import compositions, partitions, selection

NUMPY, COMPILED = 10**18, 0


@pytest.fixture(params=[NUMPY, COMPILED], ids=["numpy", "compiled"])
def path(request, monkeypatch):
    """Both ways to treat many questions."""
    monkeypatch.setattr(blocks, "COMPILED_FROM", request.param)
    return request.param


def agrees_with_brute_force(counts, ties):
    chosen, mass, _ = selection(counts, ties)
    for s in range(1, sum(counts) + 1):
        table = subset_table(np.array(counts), s, ties=ties)
        np.testing.assert_allclose(table.sum(axis=1), np.array(chosen[s], dtype=float), rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            table.sum(axis=0), np.array(mass[s], dtype=float)[: table.shape[1]], rtol=0, atol=1e-13
        )


# one question


@pytest.mark.parametrize("total", range(1, 9))
def test_table_equals_enumeration_for_all_counts_and_sizes(total):
    for counts in partitions(total):
        agrees_with_brute_force(counts, "uniform")


@pytest.mark.parametrize("total", range(1, 8))
def test_table_equals_enumeration_when_the_lowest_label_wins_ties(total):
    for counts in compositions(total):
        agrees_with_brute_force(counts, "lowest")


@pytest.mark.slow
@pytest.mark.parametrize("total", range(8, 11))
@pytest.mark.parametrize("ties", ["uniform", "lowest"])
def test_table_equals_enumeration_up_to_ten_responses(total, ties):
    for counts in compositions(total) if ties == "lowest" else partitions(total):
        agrees_with_brute_force(counts, ties)


def test_table_places_each_number_of_items():
    """Of (a, a, b) two are drawn: (a, a) once, (a, b) twice with a tie."""
    table = subset_table(np.array([2, 1]), 2)
    np.testing.assert_allclose(table, [[0, 1 / 3, 1 / 3], [0, 1 / 3, 0]], atol=1e-15)
    lowest = subset_table(np.array([2, 1]), 2, ties="lowest")
    np.testing.assert_allclose(lowest, [[0, 2 / 3, 1 / 3], [0, 0, 0]], atol=1e-15)


def test_table_for_any_weights_equals_the_sum_over_configurations():
    rng = np.random.default_rng(0)
    weights = [rng.random(n) for n in (4, 3, 6, 2)]
    for total in range(1, 12):
        for ties in ("uniform", "lowest"):
            expected = np.zeros((4, total + 1))
            for block in itertools.product(*(range(len(w)) for w in weights)):
                if sum(block) == total:
                    weight = math.prod(w[n] for w, n in zip(weights, block, strict=True))
                    modes = [k for k, n in enumerate(block) if n == max(block)]
                    modes = modes[:1] if ties == "lowest" else modes
                    for k in modes:
                        expected[k, block[k]] += weight / len(modes)
            table = selection_table(weights, total, ties=ties)
            np.testing.assert_allclose(table, expected[:, : table.shape[1]], atol=1e-14)


def test_weights_equal_exact_arithmetic():
    for count, top in ((0, 0), (1, 5), (7, 9), (400, 900)):
        exact = [math.comb(count, i) * 3**i * 5 ** (count - i) / 8**count for i in range(count + 1)]
        np.testing.assert_allclose(binomial_weights(count, 0.375), exact, rtol=2e-13)
        terms = [math.exp(-count + i * math.log(count) - math.lgamma(i + 1)) if count else i == 0 for i in range(top)]
        np.testing.assert_allclose(poisson_weights(count, top)[:-1], terms, rtol=1e-11)


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_weights_of_a_certain_event_are_one_point(probability):
    assert binomial_weights(3, probability)[round(3 * probability)] == 1
    assert binomial_weights(3, probability).sum() == 1


def test_fewer_points_change_nothing_that_can_be_seen():
    counts, size = np.array([90, 80, 70, 60]), 150
    weights = [binomial_weights(int(c), 0.5) for c in counts]
    n_points = circle_points(size, binomial_weights(300, 0.5))
    assert n_points < 151
    scale = binomial_weights(300, 0.5)[size]
    np.testing.assert_allclose(
        selection_table(weights, size, n_points=n_points) / scale, selection_table(weights, size) / scale, atol=1e-13
    )
    assert circle_points(1, binomial_weights(2, 0.5)) == 3


@pytest.mark.parametrize("counts", [[300, 250, 200, 150, 100], [20] * 50, [999, 1], [1000], [500, 500]])
def test_probabilities_of_a_thousand_responses_sum_to_one(counts, path):
    for size in (1, 50, 500, 999):
        found = subset_selection(Counts.from_counts([counts]), size)
        assert abs(found.probability.sum() - 1) < 1e-12


@pytest.mark.slow
def test_probabilities_of_a_thousand_classes_sum_to_one(path):
    for size in (1, 50, 500, 999):
        found = subset_selection(Counts.from_counts([[1] * 1000]), size)
        assert abs(found.probability.sum() - 1) < 1e-12
        np.testing.assert_allclose(found.probability, 1e-3, rtol=1e-12)


# many questions


@pytest.mark.parametrize("total", range(1, 11))
def test_many_questions_equal_enumeration(total, path):
    rows = list(partitions(total))
    many = Counts.from_counts(rows)
    truth = [selection(row) for row in rows]
    for s in range(1, total + 1):
        found = subset_selection(many, s)
        expected = np.concatenate([np.array(chosen[s], dtype=float) for chosen, _, _ in truth])
        np.testing.assert_allclose(found.probability, expected, rtol=0, atol=1e-13)
        mass = np.array([[float(p) for p in mass[s]] for _, mass, _ in truth])
        np.testing.assert_allclose(subset_maximum(many, s), mass, rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.largest, mass @ np.arange(s + 1), rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("total", [11, 12])
def test_many_questions_equal_enumeration_up_to_twelve_responses(total, path):
    test_many_questions_equal_enumeration(total, path)


def test_lowest_label_ties_of_many_questions_equal_the_table(path):
    rows = list(compositions(6))
    found = subset_selection(Counts.from_counts(rows), 3, ties="lowest")
    expected = [subset_table(np.array(row), 3, ties="lowest").sum(axis=1) for row in rows]
    np.testing.assert_allclose(found.probability, np.concatenate(expected), atol=1e-15)
    whole = subset_selection(Counts.from_counts([[1, 2, 2], [0, 1, 1]]), np.array([5, 2]), ties="lowest")
    assert whole.probability.tolist() == [0, 1, 0, 0, 1, 0]


def random_counts(rng, n_questions, most):
    return [
        rng.multinomial(rng.integers(1, most), rng.dirichlet(np.full(rng.integers(1, 9), 0.7)))
        for _ in range(n_questions)
    ]


def test_compiled_equals_numpy_for_unequal_questions_and_sizes(monkeypatch):
    rng = np.random.default_rng(1)
    many = Counts.from_counts(random_counts(rng, 120, 70))
    sizes = rng.integers(1, many.responses + 1)
    monkeypatch.setattr(blocks, "COMPILED_FROM", NUMPY)
    slow = subset_selection(many, sizes)
    monkeypatch.setattr(blocks, "COMPILED_FROM", COMPILED)
    fast = subset_selection(many, sizes)
    np.testing.assert_allclose(fast.probability, slow.probability, rtol=0, atol=2e-14)
    np.testing.assert_allclose(fast.largest, slow.largest, rtol=1e-13)


def test_pieces_and_groups_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    many = Counts.from_counts([rng.multinomial(40, rng.dirichlet(np.ones(6))) for _ in range(60)])
    monkeypatch.setattr(blocks, "COMPILED_FROM", COMPILED)
    whole, mass = subset_selection(many, 20), subset_maximum(many, 20)
    monkeypatch.setattr(blocks, "TABLE_BYTES", 100_000)
    monkeypatch.setattr(blocks, "BLOCK", 23)
    pieces = subset_selection(many, 20)
    np.testing.assert_allclose(pieces.probability, whole.probability, rtol=0, atol=1e-15)
    np.testing.assert_allclose(pieces.largest, whole.largest, rtol=1e-14)
    np.testing.assert_allclose(subset_maximum(many, 20), mass, rtol=0, atol=1e-15)


def test_order_of_questions_and_classes_does_not_matter(path):
    rng = np.random.default_rng(3)
    rows = [rng.multinomial(30, rng.dirichlet(np.ones(5))) for _ in range(20)]
    found = subset_selection(Counts.from_counts(rows), 15)
    turned = subset_selection(Counts.from_counts([row[::-1] for row in rows[::-1]]), 15)
    np.testing.assert_allclose(turned.probability[::-1], found.probability, rtol=0, atol=1e-14)
    np.testing.assert_allclose(turned.largest[::-1], found.largest, rtol=1e-14)


def test_labels_that_do_not_occur_are_never_selected(path):
    found = subset_selection(Counts.from_counts([[0, 2, 0, 1]]), 1)
    np.testing.assert_allclose(found.probability, [0, 2 / 3, 0, 1 / 3], atol=1e-15)


# populations


@pytest.mark.parametrize("pmf", [(1.0,), (0.5, 0.5), (0.6, 0.3, 0.1), (0.25, 0.25, 0.25, 0.25), (0.97, 0.01, 0.02)])
def test_population_equals_the_sum_over_all_draws(pmf, path):
    pmf = np.array(pmf)
    for size in range(1, 8):
        chosen, largest = np.zeros(len(pmf)), 0.0
        for draw in itertools.product(range(size + 1), repeat=len(pmf)):
            if sum(draw) == size:
                ways = math.factorial(size) / math.prod(map(math.factorial, draw))
                chance = ways * math.prod(p**n for p, n in zip(pmf, draw, strict=True))
                modes = np.array(draw) == max(draw)
                chosen += chance * modes / modes.sum()
                largest += chance * max(draw)
        found = population_selection(np.stack([pmf, pmf]), size)
        np.testing.assert_allclose(found.probability, [chosen, chosen], rtol=0, atol=1e-13)
        np.testing.assert_allclose(found.largest, largest, rtol=1e-13)


def test_population_takes_rows_with_zeros(path):
    found = population_selection(np.array([[0.5, 0.0, 0.5], [1.0, 0.0, 0.0], [0.2, 0.3, 0.5]]), 5)
    np.testing.assert_allclose(found.probability[:2], [[0.5, 0, 0.5], [1, 0, 0]], atol=1e-14)
    np.testing.assert_allclose(found.probability.sum(axis=1), 1, atol=1e-13)


def test_population_of_a_thousand_responses_sums_to_one(path):
    pmf = np.array([[0.3, 0.3, 0.2, 0.1, 0.1], [0.9, 0.1, 0.0, 0.0, 0.0]])
    assert np.abs(population_selection(pmf, 1000).probability.sum(axis=1) - 1).max() < 1e-12


def test_mean_over_draws_of_a_subset_is_the_population(path):
    """A subset of an independent draw is an independent draw."""
    pmf, n, s = np.array([0.5, 0.3, 0.2]), 6, 3
    draws = [d for d in itertools.product(range(n + 1), repeat=3) if sum(d) == n]
    chances = [
        math.factorial(n) / math.prod(map(math.factorial, d)) * math.prod(p**k for p, k in zip(pmf, d, strict=True))
        for d in draws
    ]
    found = subset_selection(Counts.from_counts(draws), s).probability.reshape(-1, 3)
    np.testing.assert_allclose(chances @ found, population_selection(pmf[None], s).probability[0], atol=1e-13)


def test_a_population_with_a_large_table_is_treated_some_columns_at_a_time(monkeypatch):
    pmf = np.random.default_rng(4).dirichlet(np.ones(12), size=2)
    tables = []
    real = kernels.select

    def select(rows, columns, circle, questions, found):
        width = circle.n_points // 2 + kernels.LANES
        tables.append(32 * len(rows.certain) * len(columns.level) * width)
        real(rows, columns, circle, questions, found)

    monkeypatch.setattr(kernels, "select", select)
    monkeypatch.setattr(blocks, "COMPILED_FROM", COMPILED)
    whole = population_selection(pmf, 60)
    assert len(tables) == 1
    monkeypatch.setattr(blocks, "TABLE_BYTES", tables.pop() // 8)
    parts = population_selection(pmf, 60)
    assert len(tables) > 4
    assert max(tables) <= blocks.TABLE_BYTES
    for part, one in zip(parts, whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-13)


def test_a_pool_with_a_large_table_is_treated_some_columns_at_a_time(monkeypatch):
    counts = Counts.from_counts([[9, 8, 7, 6, 5, 4, 3, 2, 1]])
    monkeypatch.setattr(blocks, "COMPILED_FROM", COMPILED)
    whole = subset_selection(counts, 22)
    monkeypatch.setattr(blocks, "TABLE_BYTES", 2**14)
    for part, one in zip(subset_selection(counts, 22), whole, strict=True):
        np.testing.assert_allclose(part, one, rtol=1e-13)


def test_weights_that_are_zero_in_every_class_are_no_fault():
    """A large population of rare classes has them: no float holds the chance that one class has 200 of 400."""
    found = selection_table([np.array([0.5, 0.5, 0.0])] * 6, 4)
    np.testing.assert_allclose(found[:, :2], selection_table([np.array([0.5, 0.5])] * 6, 4), rtol=1e-13)
    assert not found[:, 2].any()


@pytest.mark.parametrize(
    ("n_classes", "size", "message"),
    [
        (2, 20_001, "a population can be treated exactly with at most 20000 responses; got 20001"),
        (2000, 20_000, "at most 1677 classes at 20000 responses; got 2000"),
        (200_000, 1000, "at most 33554 classes at 1000 responses; got 200000"),
    ],
)
def test_a_population_that_would_fill_the_memory_is_refused(n_classes, size, message):
    pmf = np.full((1, n_classes), 1 / n_classes)
    with pytest.raises(ValueError, match=message):
        population_selection(pmf, size)
    with pytest.raises(ValueError, match=message):
        expected_sem2(pmf[0], size)


def test_classes_that_do_not_occur_count_for_nothing():
    pmf = np.zeros((1, 2**22))
    pmf[0, :2] = 0.5
    assert population_selection(pmf, 20).probability[0, :2].tolist() == pytest.approx([0.5, 0.5])


# counts of many questions


def test_counts_of_labels_and_of_an_array_agree():
    rows = [[0, 1, 0, 2], [1, 1, 1, 0], [3, 0, 0, 0]]
    from_lists, from_array = Counts.from_labels(rows), Counts.from_labels(np.array(rows, dtype=np.uint8))
    assert from_lists.values.tolist() == [2, 1, 1, 1, 3, 3, 0, 0, 1] == from_array.values.tolist()
    assert from_lists.offsets.tolist() == [0, 3, 5, 9] == from_array.offsets.tolist()
    assert len(from_lists) == 3


def test_counts_know_their_largest_and_second():
    many = Counts.from_counts([[3, 5, 5], [], [4], [1, 2, 0]])
    assert many.responses.tolist() == [13, 0, 4, 3]
    assert many.largest.tolist() == [5, 0, 4, 2]
    assert many.second.tolist() == [5, 0, 0, 1]
    assert many.is_mode.tolist() == [False, True, True, True, False, True, False]
    assert many.first_mode[[0, 2, 3]].tolist() == [1, 3, 5]
    nothing = Counts.from_counts([[0, 0]])
    assert nothing.is_mode.tolist() == [False, False]
    assert nothing.largest.tolist() == nothing.second.tolist() == [0]


def test_counts_in_blocks_equal_counts_at_once(monkeypatch):
    rng = np.random.default_rng(4)
    rows = [rng.integers(0, 4, rng.integers(0, 6)).tolist() for _ in range(25)]
    whole = Counts.from_labels(rows)
    monkeypatch.setattr(ragged, "BLOCK", 4)
    parts = Counts.from_labels(rows)
    assert parts.values.tolist() == whole.values.tolist()
    assert parts.offsets.tolist() == whole.offsets.tolist()


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 200), max_size=5), max_size=12))
def test_distinct_counts_stand_for_all(rows):
    different, number = Counts.from_counts(rows).distinct()
    kept = [sorted(different.values[a:b].tolist()) for a, b in itertools.pairwise(different.offsets)]
    assert [kept[i] for i in number] == [sorted(c for c in row if c) for row in rows]
    assert len({tuple(row) for row in kept}) == len(kept)


def test_no_question_is_no_counts():
    for none in (Counts.from_labels([]), Counts.from_counts([])):
        assert len(none) == 0
        assert none.responses.tolist() == none.second.tolist() == []
        assert subset_selection(none, 1).largest.tolist() == []
        assert subset_maximum(none, 1).shape == (0, 2)


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=8))
def test_counts_add_up(rows):
    many = Counts.from_labels(rows)
    assert many.responses.tolist() == [len(row) for row in rows]
    assert per_question(np.add, many.values, many.offsets).tolist() == [len(row) for row in rows]
    for q, row in enumerate(rows):
        assert many.values[many.offsets[q] : many.offsets[q + 1]].tolist() == np.bincount(row).tolist() if row else True


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Counts(np.array([1, -1]), np.array([0, 2])), "counts must be >= 0; got -1 at index 1"),
        (
            lambda: Counts(np.array([1.0]), np.array([0, 1])),
            r"counts must be .* got 1\.0 at index 0, dtype float64: convert to int first",
        ),
        (lambda: Counts(np.array([1, 2]), np.array([0, 1])), "offsets must rise from 0 to the number of counts"),
        (lambda: Counts(np.array([1, 2]), np.array([1, 2])), "offsets must rise from 0 to the number of counts"),
        (lambda: Counts(np.array([1, 2]), np.array([0, 2, 1, 2])), "offsets must rise from 0 to the number of counts"),
        (lambda: Counts(np.array([], dtype=int), np.array([], dtype=int)), "offsets must rise"),
        (lambda: Counts.from_labels([[0], [0, -2]]), "labels of question 1 must be >= 0; got -2 at index 1"),
        (lambda: Counts.from_labels([[0], [-2, 0]]), "labels of question 1 must be >= 0; got -2 at index 0"),
        (lambda: Counts.from_labels([[0], [0.5]]), r"labels of question 1 must be .* got 0\.5 at index 0$"),
        (lambda: Counts.from_labels([[0], ["a"]]), "labels of question 1 must be .* got 'a' at index 0$"),
        (lambda: Counts.from_labels([[0], [[0, 1], [0]]]), "labels of question 1 must be .* dtype object"),
        (lambda: Counts.from_labels([[0], [0, None]]), "labels of question 1 must be .* got None at index 1$"),
        (
            lambda: Counts.from_labels([[2**70]]),
            "labels of question 0 must be .* got 1180591620717411303424 at index 0$",
        ),
        (lambda: Counts.from_labels({"a": [0, 0]}), "labels must be a sequence of label sequences; got dict"),
        (lambda: Counts.from_labels(5), "labels must be a sequence of label sequences; got int"),
        (lambda: Counts.from_labels([0, 1]), r"labels of question 0 must be .* shape \(\)"),
        (
            lambda: Counts.from_labels([[0, 10**6]]),
            "labels must be numbered from 0 and stay below 1000000; got 1000000",
        ),
        (
            lambda: Counts.from_labels(np.array([[0, 1], [1, -3]])),
            "labels of question 1 must be >= 0; got -3 at index 1",
        ),
        (lambda: Counts.from_counts([[1], [float("nan")]]), "counts of question 1 must be .* got nan at index 0$"),
    ],
)
def test_wrong_counts_are_refused_with_their_place(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# compiled code


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


LARGE = """
import sys
from semece.stats.counts import Counts, subset_selection
subset_selection(Counts.from_counts([[3, 2]] * 10), 2)
print("numba" in sys.modules)
subset_selection(Counts.from_counts([[30, 20]] * 400), 25)
print("numba" in sys.modules)
"""


@pytest.mark.slow
def test_numba_is_loaded_for_many_questions_only_and_does_not_warn():
    done = run_python(LARGE)
    assert done.stdout.split() == ["False", "True"], done.stderr
    assert done.stderr == ""


def test_without_a_cache_folder_compiled_functions_stay_in_memory(monkeypatch):
    import numba

    def njit(*, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    def one():
        return 1

    monkeypatch.setattr(numba, "njit", njit)
    assert kernels.compiled(one) is one


@pytest.mark.slow
def test_compiled_functions_of_an_older_version_do_no_harm_after_their_tuples_were_renamed(tmp_path):
    more = "\n\n@compiled\ndef total(found: Found) -> float:\n    return found.largest.sum()\n"
    text = Path(kernels.__file__).read_text() + more
    (tmp_path / "copied").mkdir()
    (tmp_path / "copied" / "tally_kernels.py").touch()
    for name in ("Found", "Gathered"):
        (tmp_path / "copied" / "kernels.py").write_text(text.replace("Found", name))
        code = f"import numpy as np; from copied.kernels import {name}, total; print(total({name}(*np.ones((3, 2)))))"
        done = run_python(code, PYTHONPATH=str(tmp_path), NUMBA_CACHE_DIR=str(tmp_path / "cache"))
        assert (done.stdout, done.stderr) == ("2.0\n", "")
        assert list((tmp_path / "cache").rglob("*.nbi"))


def test_a_vanishing_factor_is_replaced_and_harms_nothing():
    """The factor of a class can be 0 on the circle; ratios are then taken to a number that is nearly 0."""
    table = kernels.Table(*(np.zeros((1, 8)) for _ in range(4)))
    kernels.fill_cell(table, (0, 0), np.zeros((2, 1)), np.array([[1.0], [0.0]]), (0.5, 0.0))
    assert table.f_re[0, 0] == 1e-100
    assert table.f_re[0, 0] * table.q_re[0, 0] == pytest.approx(0.5)


@pytest.mark.slow
def test_pure_python_and_compiled_kernels_agree():
    """Coverage measures the kernels as Python; this is the promise that it measures the same code."""
    code = """
import numpy as np
from semece.stats.counts import Counts, blocks, population_selection, subset_maximum, subset_selection
blocks.COMPILED_FROM = 0
many = Counts.from_counts([[3, 2, 1], [2, 2, 2], [6], [1] * 6, [4, 2], [3, 3]])
print(repr([subset_selection(many, s).probability.tolist() for s in (1, 2, 3, 6)]))
print(repr([subset_maximum(many, s).tolist() for s in (1, 3, 5, 6)]))
print(repr(population_selection(np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]), 4).probability.tolist()))
"""
    slow, fast = (run_python(code, NUMBA_DISABLE_JIT=switch) for switch in "10")
    assert slow.stderr == fast.stderr == ""
    for one, other in zip(slow.stdout.splitlines(), fast.stdout.splitlines(), strict=True):
        flat = [np.concatenate([np.ravel(row) for row in eval(text)]) for text in (one, other)]
        np.testing.assert_allclose(*flat, rtol=0, atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(arrays.arrays(np.int64, st.integers(1, 6), elements=st.integers(1, 12)), st.data())
def test_selection_grows_with_the_count(counts, data):
    size = data.draw(st.integers(1, int(counts.sum())))
    probability = subset_table(counts, size).sum(axis=1)
    order = np.argsort(counts, kind="stable")
    assert (np.diff(probability[order]) >= -1e-12).all()
    assert abs(probability.sum() - 1) < 1e-12


def test_labels_that_are_whole_numbers_in_an_object_array_are_labels():
    assert Counts.from_labels([np.array([0, 0, 1], dtype=object)]).values.tolist() == [2, 1]


def test_weights_that_several_share_cannot_be_changed():
    for share in (0.0, 0.3, 1.0):
        with pytest.raises(ValueError, match="read-only"):
            binomial_weights(3, share)[0] = 1.0
