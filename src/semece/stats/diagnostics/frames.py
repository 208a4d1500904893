"""How diagnostics become tables: nan is null, and a number that cannot be had carries a reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import polars as pl


def frame(rows: Iterable[Mapping[str, Any]], schema: Mapping[str, type]) -> pl.DataFrame:
    """Make a table of rows; a key that a row lacks and a float that is nan are null.

    Examples
    --------
    >>> frame([{"n": 1, "x": float("nan")}], {"n": int, "x": float, "reason": str}).rows()
    [(1, None, None)]
    """
    import polars as pl

    columns = {name: [_plain(row.get(name)) for row in rows] for rows in [list(rows)] for name in schema}
    return pl.DataFrame(columns, schema=dict(schema))


def _plain(value: object) -> object:
    """Give a Python value for a numpy one, None for nan."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and np.isnan(value) else value
