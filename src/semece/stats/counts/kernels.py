r"""The loops behind :mod:`semece.stats.counts` for many questions at once, compiled by numba.

Import this module inside a function: it loads numba. With ``NUMBA_DISABLE_JIT=1`` the same code runs as Python.

The integral of :func:`semece.stats.counts.selection_table` becomes a sum over *columns*: one per level j and node y.
In a column every class is a factor :math:`f_k = \sum_{i<j} w_k(i) x^i + y\, w_k(j) x^j` on the unit circle, and the
weight of 'class k is selected at j' is :math:`\prod_l f_l` times the ratio :math:`w_k(j) x^j / f_k`. Factors and
ratios depend on the class only through its weights, so they are tabulated once for all questions; what is left for a
question is one product and one sum. A product divided by one of its factors keeps its relative accuracy.
"""

from __future__ import annotations

from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast
from zlib import crc32

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

F = TypeVar("F", bound="Callable[..., object]")

LANES = 8
"""Points of a column are padded to a multiple of this, for vector instructions."""

START_CELLS = 2**17
"""Most numbers in which products start; they decide how many responses of small classes are treated at once."""


class Rows(NamedTuple):
    """Weights of classes: row r is ``weights[start[r]:start[r + 1]]``.

    ``certain[r, j]`` is P(the class has j of the block) for j above half the block, where no other can have as many.
    """

    weights: Floats
    start: Integers
    certain: Floats


class Columns(NamedTuple):
    """Levels j in increasing order, each with its quadrature nodes and their shares."""

    level: Integers
    node: Floats
    share: Floats


class Circle(NamedTuple):
    """Coefficient ``total`` is read from an odd number of points and divided by ``norm``.

    Of a ``pool``, the complete polynomials of classes with m responses together multiply to :math:`(1 - p + p x)^m`
    with p = total / pool. A pool of 0 stands for populations, whose classes are never complete.
    """

    n_points: int
    total: int
    norm: float
    pool: int


class Questions(NamedTuple):
    """Classes of question q are ``rows[offsets[q]:offsets[q + 1]]``, each the index of a row of weights.

    ``value`` is a number of each row, its count or probability.
    """

    rows: Integers
    offsets: Integers
    value: Floats


class Table(NamedTuple):
    """Factors and ratios, real and imaginary parts, each of shape (rows, columns * width)."""

    f_re: Floats
    f_im: Floats
    q_re: Floats
    q_im: Floats


class Found(NamedTuple):
    """What is added to: P(selected), aligned with ``Questions.rows``; per question the means of two numbers.

    ``largest`` is the mean largest count in the block, ``selected`` the mean value of the selected class.
    """

    probability: Floats
    largest: Floats
    selected: Floats


class Classes(NamedTuple):
    """What is summed over selected classes, by bin.

    ``values`` has two numbers of each class, aligned with ``Questions.rows``; ``bins[j]`` is the bin of j of the block,
    and does not fall with j. ``found[q, b]`` is added to: P(selected in bin b), the mean count that the selected class
    has outside the block, and the means of its two numbers, each 0 elsewhere.
    """

    values: Floats
    bins: Integers
    found: Floats


SOURCES = crc32(
    b"".join(resources.files(__package__).joinpath(f"{name}.py").read_bytes() for name in ("kernels", "tally_kernels"))
)
"""Of all kernels as they are written now."""


def compiled(function: F) -> F:
    """Compile on first call; kept beside the package, else in the user's cache folder, else in memory only.

    What is kept has the number of :data:`SOURCES` in its name. Numba unpickles what was kept before it looks whether
    the source has changed, and fails where a tuple class has another name since.
    """
    function.__qualname__ = f"{function.__qualname__}_{SOURCES:08x}"
    jit = partial(numba.njit, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
    try:
        return cast("F", jit(cache=True)(function))
    except RuntimeError:
        return cast("F", jit()(function))


@compiled
def fill_binomial(row: Floats, probability: float) -> None:
    """Write the probabilities of 0..len(row)-1 successes, outwards from the mode."""
    count = len(row) - 1
    odds = probability / (1.0 - probability)
    mode = min(count, int((count + 1) * probability))
    row[mode] = 1.0
    total = 1.0
    for i in range(mode + 1, count + 1):
        row[i] = row[i - 1] * (odds * (count - i + 1)) / i
        total += row[i]
    for i in range(mode - 1, -1, -1):
        row[i] = row[i + 1] * (i + 1) / (odds * (count - i))
        total += row[i]
    for i in range(count + 1):
        row[i] /= total


@compiled
def subset_rows(present: Integers, pool: int, size: int) -> tuple[Rows, float]:
    """Weights of classes with ``present`` of ``pool`` responses when ``size`` < ``pool`` are drawn.

    Returns the rows and the probability of drawing ``size``.
    """
    share = size / pool
    start = np.zeros(len(present) + 1, np.int64)
    start[1:] = np.cumsum(present + 1)
    weights, certain = np.empty(start[-1]), np.zeros((len(present), size + 1))
    everything, rest = np.empty(pool + 1), np.empty(pool + 1)
    fill_binomial(everything, share)
    for r in range(len(present)):
        count = present[r]
        row = weights[start[r] : start[r + 1]]
        fill_binomial(row, share)
        fill_binomial(rest[: pool - count + 1], share)
        for j in range(max(size // 2 + 1, size - pool + count), min(count, size) + 1):
            certain[r, j] = row[j] * rest[size - j] / everything[size]
    return Rows(weights, start, certain), everything[size]


@compiled
def starts(columns: Columns, circle: Circle, width: int) -> Floats:
    """Compute what products start from; shape (2, most + 1, columns * width), real and imaginary parts.

    That is share, norm and the phase that reads coefficient ``total``, times the complete polynomials of m = 0 .. most
    responses.
    """
    size = len(columns.level) * width
    most = min(circle.pool, START_CELLS // max(size, 1))
    out = np.zeros((2, most + 1, size))
    p = circle.total / max(circle.pool, 1)
    for i in range(circle.n_points // 2 + 1):
        turn = 2.0 * np.pi / circle.n_points
        value = np.exp(-1j * turn * (circle.total * i % circle.n_points)) / (circle.n_points * circle.norm)
        for m in range(most + 1):
            for column in range(len(columns.level)):
                scale = (2.0 if i > 0 else 1.0) * columns.share[column]
                out[0, m, column * width + i] = scale * value.real
                out[1, m, column * width + i] = scale * value.imag
            value *= 1.0 - p + p * np.exp(1j * turn * i)
    return out


@compiled
def tabulate(rows: Rows, columns: Columns, n_points: int, width: int) -> Table:
    """Compute factors and ratios of all rows in all columns."""
    n_rows, size = len(rows.start) - 1, len(columns.level) * width
    shape = (n_rows, size)
    table = Table(np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape))
    below = np.zeros((n_rows, 2, n_points // 2 + 1))
    power = np.zeros((2, n_points // 2 + 1))
    power[0] = 1.0
    level = 0
    for column in range(len(columns.level)):
        while level < columns.level[column]:
            for r in range(n_rows):
                add_power(below[r], power, weight_of(rows, r, level))
            level += 1
            raise_to(power, level, n_points)
        for r in range(n_rows):
            step = (weight_of(rows, r, level), columns.node[column])
            fill_cell(table, (r, column * width), below[r], power, step)
    return table


@compiled
def weight_of(rows: Rows, r: int, level: int) -> float:
    """Look up a weight; 0 beyond the row."""
    place = rows.start[r] + level
    return rows.weights[place] if place < rows.start[r + 1] else 0.0


@compiled
def add_power(below: Floats, power: Floats, weight: float) -> None:
    """Add one term of a polynomial."""
    if weight != 0.0:
        for m in range(power.shape[1]):
            below[0, m] += weight * power[0, m]
            below[1, m] += weight * power[1, m]


@compiled
def raise_to(power: Floats, level: int, n_points: int) -> None:
    """Write real and imaginary part of ``x**level`` on half the circle."""
    for m in range(power.shape[1]):
        angle = 2.0 * np.pi * (level * m % n_points) / n_points
        power[0, m] = np.cos(angle)
        power[1, m] = np.sin(angle)


@compiled
def fill_cell(table: Table, place: tuple[int, int], below: Floats, power: Floats, step: tuple[float, float]) -> None:
    """Write factor and ratio of one row in one column."""
    row, at = place
    weight, node = step
    for m in range(power.shape[1]):
        d_re, d_im = weight * power[0, m], weight * power[1, m]
        f_re, f_im = below[0, m] + node * d_re, below[1, m] + node * d_im
        squared = f_re * f_re + f_im * f_im
        if squared < 1e-200:
            f_re, f_im, squared = 1e-100, 0.0, 1e-200
        table.f_re[row, at + m] = f_re
        table.f_im[row, at + m] = f_im
        table.q_re[row, at + m] = (d_re * f_re + d_im * f_im) / squared
        table.q_im[row, at + m] = (d_im * f_re - d_re * f_im) / squared


@compiled
def sort_classes(order: Integers, questions: Questions, q: int) -> int:
    """Write places and rows of a question's classes, largest first: equal questions then give equal bits.

    Returns the number of classes.
    """
    first, last = questions.offsets[q], questions.offsets[q + 1]
    for z in range(first, last):
        row, at = questions.rows[z], z - first
        while at > 0 and order[1, at - 1] < row:
            order[0, at], order[1, at] = order[0, at - 1], order[1, at - 1]
            at -= 1
        order[0, at], order[1, at] = z, row
    return int(last - first)


@compiled
def first_level(sizes: Integers, rows: Integers, total: int) -> int:
    """Find the least j that the largest count can be: no class can hold more, and all together must hold ``total``."""
    full = len(rows)
    level = (total + full - 1) // full
    while sizes[rows[full - 1]] < level:
        full -= 1
        total -= int(sizes[rows[full]])
        level = int((total + full - 1) // full)
    return level


@compiled
def count_small(sizes: Integers, rows: Integers, level: int, most: int) -> tuple[int, int]:
    """Count the classes that are not small, and the responses of the small ones.

    Small classes have fewer than ``level`` responses, and all together at most ``most``. The largest is not small.
    """
    n_classes, held = len(rows), 0
    while sizes[rows[n_classes - 1]] < level and held + sizes[rows[n_classes - 1]] <= most:
        n_classes -= 1
        held += int(sizes[rows[n_classes]])
    return n_classes, held


@compiled
def begin_products(product: Floats, start: Floats, small: int, span: tuple[int, int]) -> None:
    """Set the running products to where they start."""
    # unsigned positions: numba then knows that no index counts from the end, and the loop becomes vector code
    b = np.uint64(span[0])
    for i in range(np.uint64(span[1]) - b):
        product[0, b + i] = start[0, small, b + i]
        product[1, b + i] = start[1, small, b + i]


@compiled
def multiply(product: Floats, table: Table, row: int, span: tuple[int, int]) -> None:
    """Multiply the running products by the factors of one class."""
    b = np.uint64(span[0])
    for i in range(np.uint64(span[1]) - b):
        re, im = product[0, b + i], product[1, b + i]
        product[0, b + i] = re * table.f_re[row, b + i] - im * table.f_im[row, b + i]
        product[1, b + i] = re * table.f_im[row, b + i] + im * table.f_re[row, b + i]


@compiled
def collect(product: Floats, table: Table, row: int, span: tuple[int, int], level: Floats) -> tuple[float, float]:
    """Sum the gains of one class over a span of positions, plain and times their level."""
    b = np.uint64(span[0])
    total, weighted = 0.0, 0.0
    for i in range(np.uint64(span[1]) - b):
        gain = product[0, b + i] * table.q_re[row, b + i] - product[1, b + i] * table.q_im[row, b + i]
        total += gain
        weighted += gain * level[b + i]
    return total, weighted


@compiled
def select(rows: Rows, columns: Columns, circle: Circle, questions: Questions, found: Found) -> None:
    """Add what a random block selects to ``found``.

    ``columns`` start at the least level that the largest count of any question can have, or below; some of them may be
    left to another call.
    """
    width = (circle.n_points // 2 + LANES) // LANES * LANES
    table = tabulate(rows, columns, circle.n_points, width)
    start, sizes = starts(columns, circle, width), np.diff(rows.start) - 1
    begins = width * np.searchsorted(columns.level, np.arange(circle.total + 1))
    ends = width * np.searchsorted(columns.level, sizes + 1)
    levels = np.repeat(columns.level, width).astype(np.float64)
    certain = rows.certain.sum(axis=1)
    certain_level = (rows.certain * np.arange(circle.total + 1)).sum(axis=1)
    product, order = np.empty((2, len(levels))), np.empty((2, np.max(np.diff(questions.offsets))), np.int64)
    for q in range(len(questions.offsets) - 1):
        n_classes = sort_classes(order, questions, q)
        level = first_level(sizes, order[1, :n_classes], circle.total)
        begin, end = begins[level], ends[order[1, 0]]
        if begin < end:
            n_large, small = count_small(sizes, order[1, :n_classes], level, start.shape[1] - 1)
            begin_products(product, start, small, (begin, end))
            for k in range(n_large):
                multiply(product, table, order[1, k], (begin, end))
        largest, selected = 0.0, 0.0
        for k in range(n_classes):
            row = order[1, k]
            chance, mean = certain[row], certain_level[row]
            if begin < ends[row]:
                more = collect(product, table, row, (begin, ends[row]), levels)
                chance, mean = chance + more[0], mean + more[1]
            found.probability[order[0, k]] += chance
            largest += mean
            selected += chance * questions.value[row]
        found.largest[q] += largest
        found.selected[q] += selected


@compiled
def select_by_bin(rows: Rows, columns: Columns, circle: Circle, questions: Questions, classes: Classes) -> None:
    """Add what a random block selects to ``classes.found``, in the bin of the selected class's share of the block.

    ``columns`` as for :func:`select`, whose terms these are.
    """
    width = (circle.n_points // 2 + LANES) // LANES * LANES
    table = tabulate(rows, columns, circle.n_points, width)
    start, sizes = starts(columns, circle, width), np.diff(rows.start) - 1
    begins = width * np.searchsorted(columns.level, np.arange(circle.total + 1))
    ends = width * np.searchsorted(columns.level, sizes + 1)
    bins = classes.bins[columns.level]
    stops = width * np.searchsorted(bins, np.arange(classes.found.shape[1]), side="right")
    levels = np.repeat(columns.level, width).astype(np.float64)
    product, order = np.empty((2, len(levels))), np.empty((2, np.max(np.diff(questions.offsets))), np.int64)
    for q in range(len(questions.offsets) - 1):
        n_classes = sort_classes(order, questions, q)
        level = first_level(sizes, order[1, :n_classes], circle.total)
        begin, end = begins[level], ends[order[1, 0]]
        if begin < end:
            n_large, small = count_small(sizes, order[1, :n_classes], level, start.shape[1] - 1)
            begin_products(product, start, small, (begin, end))
            for k in range(n_large):
                multiply(product, table, order[1, k], (begin, end))
        for k in range(n_classes):
            row, at = order[1, k], begin
            while at < ends[row]:
                place = bins[at // width]
                stop = min(stops[place], ends[row])
                add_to_bin(
                    classes, (q, place), order[:, k], collect(product, table, row, (at, stop), levels), questions
                )
                at = stop
            for j in range(circle.total // 2 + 1, min(circle.total, sizes[row]) + 1):
                chance = rows.certain[row, j]
                add_to_bin(classes, (q, classes.bins[j]), order[:, k], (chance, j * chance), questions)


@compiled
def add_to_bin(
    classes: Classes, cell: tuple[int, int], one: Integers, term: tuple[float, float], questions: Questions
) -> None:
    """Add the selection of class ``one`` (its place and its row), whose chance and mean count are ``term``."""
    chance, mean = term
    found = classes.found[cell[0], cell[1]]
    found[0] += chance
    found[1] += chance * questions.value[one[1]] - mean
    found[2] += chance * classes.values[0, one[0]]
    found[3] += chance * classes.values[1, one[0]]


@compiled
def cumulate(rows: Rows, columns: Columns, circle: Circle, questions: Questions, mass: Floats) -> None:
    """Write P(largest count = j) into ``mass``, of shape (questions, total + 1) and zero.

    ``columns`` are all levels up to half the block with node 1: the product of such factors is P(largest count <= j).
    """
    width = (circle.n_points // 2 + LANES) // LANES * LANES
    table = tabulate(rows, columns, circle.n_points, width)
    start, sizes = starts(columns, circle, width), np.diff(rows.start) - 1
    product = np.empty((2, len(columns.level) * width))
    order = np.empty((2, np.max(np.diff(questions.offsets))), np.int64)
    for q in range(len(questions.offsets) - 1):
        n_classes = sort_classes(order, questions, q)
        level = first_level(sizes, order[1, :n_classes], circle.total)
        begin, end = width * (level - 1), width * min(len(columns.level), sizes[order[1, 0]])
        if begin < end:
            n_large, small = count_small(sizes, order[1, :n_classes], level, start.shape[1] - 1)
            begin_products(product, start, small, (begin, end))
            for k in range(n_large):
                multiply(product, table, order[1, k], (begin, end))
        for k in range(n_classes):
            row = order[1, k]
            for j in range(circle.total // 2 + 1, min(circle.total, sizes[row]) + 1):
                mass[q, j] += rows.certain[row, j]
        below = 0.0
        for at in range(begin, end, width):
            here = product[0, at : at + width].sum()
            mass[q, at // width + 1] = here - below
            below = here


@compiled
def fill_poisson(row: Floats, mean: float) -> None:
    """Write the Poisson probabilities of 0..len(row)-1, outwards from the mode; the sum runs on beyond the row."""
    top = len(row) - 1
    mode = min(top, int(mean))
    row[mode] = 1.0
    total = 1.0
    for i in range(mode - 1, -1, -1):
        row[i] = row[i + 1] * (i + 1) / mean
        total += row[i]
    i, value = mode, 1.0
    while value > 1e-18 or i < top:
        i += 1
        value *= mean / i
        total += value
        if i <= top:
            row[i] = value
    for j in range(top + 1):
        row[j] /= total


@compiled
def population_rows(pmf: Floats, size: int) -> tuple[Rows, float]:
    """Weights of classes with probabilities ``pmf`` > 0 when ``size`` responses are drawn independently.

    Returns the rows and the probability that independent Poisson counts sum to ``size``.
    """
    start = np.arange(len(pmf) + 1) * (size + 1)
    weights, certain = np.zeros(start[-1]), np.zeros((len(pmf), size + 1))
    row = np.empty(size + 1)
    for r in range(len(pmf)):
        fill_poisson(weights[start[r] : start[r + 1]], size * pmf[r])
        row[:] = 0.0
        row[size] = 1.0
        if pmf[r] < 1.0:
            fill_binomial(row, pmf[r])
        certain[r, size // 2 + 1 :] = row[size // 2 + 1 :]
    fill_poisson(row, float(size))
    return Rows(weights, start, certain), row[size]
