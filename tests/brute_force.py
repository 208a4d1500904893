"""Selection on random blocks by going through all of them, in exact arithmetic."""

from fractions import Fraction
from itertools import product
from math import comb


def compositions(total):
    """All ordered lists of positive counts with this sum."""
    if total == 0:
        yield ()
    for first in range(1, total + 1):
        for rest in compositions(total - first):
            yield (first, *rest)


def partitions(total, most=None):
    """All lists of positive counts with this sum, largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, most or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def winners(block, ties):
    """Indices that share the selection of a block with these counts."""
    modes = [k for k, n in enumerate(block) if n == max(block)]
    return modes[:1] if ties == "lowest" else modes


def blocks(counts, ties="uniform"):
    """Yield every block by size: (size, counts in the block, how many blocks have them, who is selected)."""
    for block in product(*(range(c + 1) for c in counts)):
        ways = 1
        for c, n in zip(counts, block, strict=True):
            ways *= comb(c, n)
        yield sum(block), block, ways, winners(block, ties)


def selection(counts, ties="uniform"):
    """Per block size s = 1..M: (P(selected) per class, expected largest count, P(largest = j), Sem2 or None)."""
    total = sum(counts)
    chosen = {s: [Fraction(0)] * len(counts) for s in range(1, total + 1)}
    mass = {s: [Fraction(0)] * (s + 1) for s in range(1, total + 1)}
    held_out = dict.fromkeys(range(1, total + 1), Fraction(0))
    for s, block, ways, modes in blocks(counts, ties):
        if s == 0:
            continue
        share = Fraction(ways, comb(total, s) * len(modes))
        for k in modes:
            chosen[s][k] += share
            mass[s][block[k]] += share
            if s < total:
                held_out[s] += share * Fraction(counts[k] - block[k], total - s)
    return chosen, mass, held_out
