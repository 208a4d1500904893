"""Checksums of rows: a byte that changed on the disk is found by whoever reads its row."""

from __future__ import annotations

import struct
from math import nan
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBERS = struct.Struct("<4q3d").pack
_NOTHING = "\x01"
_NO_ROW = -1
"""What no CRC is: a row whose values are of other kinds than those that were stored."""


def row_checksum(*values: str | float | None) -> int:
    """Give the CRC-32 of the texts and numbers of a row.

    Examples
    --------
    >>> row_checksum("q1", 0, "Why?") == row_checksum("q1", 0, "why?")
    False
    """
    return crc32("\0".join(map(str, values)).encode("utf-8", "surrogatepass"))


def reply_checksum(row: Sequence[Any]) -> int:
    """Give the CRC-32 of a reply: of all its values and whether it was set aside; what follows is not looked at.

    This is done for each reply that is read, so it is written for speed: the numbers are packed at once.
    """
    key, stage, place, position, status, text, raw, judge, request, finish, call, *more = row
    asked, answered, cost, latency, provider_id, time, superseded, *_ = more
    try:
        numbers = _NUMBERS(
            position,
            superseded,
            -1 if asked is None else asked,
            -1 if answered is None else answered,
            nan if cost is None else cost,
            nan if latency is None else latency,
            time,
        )
        judge = _NOTHING if judge is None else judge
        finish = _NOTHING if finish is None else finish
        call = _NOTHING if call is None else call
        provider_id = _NOTHING if provider_id is None else provider_id
        texts = "\0".join((stage, place, status, text, raw, judge, finish, call, provider_id)).encode()
        return crc32(texts, crc32(numbers, crc32(request or b"", crc32(key))))
    except (struct.error, TypeError, ValueError):
        return _NO_ROW


def reply_checksum_of_format_3(row: Sequence[Any]) -> int:
    """Give the checksum that replies had before: of what they say and where they belong."""
    key, stage, question_id, position, _, text, raw, *_ = row
    try:
        return crc32(f"{stage}\0{question_id}\0{position}\0{text}\0{raw}".encode(), crc32(key))
    except (TypeError, ValueError):
        return _NO_ROW
