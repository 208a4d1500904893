"""Parquet files whose footers or pages say what is not so: Thrift's compact protocol, taken apart and put together."""

from __future__ import annotations

import io

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
SCHEMA, ROWS, GROUPS, GROUP_COLUMNS, GROUP_ROWS, META = 2, 3, 4, 1, 3, 3
TYPE, VALUES, UNPACKED, PACKED, DATA, DICTIONARY = 1, 5, 6, 7, 9, 11
PAGE_PACKED, PAGE_DICTIONARY = 3, 7


def taken_apart(data):
    """Give what stands before the footer, and the footer: structs as dicts of number to (kind, value)."""
    size = int.from_bytes(data[-8:-4], "little")
    return data[: -8 - size], struct_in(io.BytesIO(data[-8 - size : -8]))


def put_together(body, footer):
    """Give the bytes of a file."""
    written = struct_out(footer)
    return body + written + len(written).to_bytes(4, "little") + b"PAR1"


def chunks(footer):
    """Give the metadata of every chunk of every column."""
    for group in footer[GROUPS][1][1]:
        for chunk in group[GROUP_COLUMNS][1][1]:
            yield chunk[META][1]


def with_pages(body, footer, change):
    """Change the head of every page; give the body that has the changed ones, at which the footer now points."""
    out = body[:4]
    for chunk in chunks(footer):
        begun, data = len(out), chunk[DATA][1]
        place = min(data, chunk.get(DICTIONARY, (0, data))[1])
        end = place + chunk[PACKED][1]
        while place < end:
            stream = io.BytesIO(body[place:end])
            page = struct_in(stream)
            number = DICTIONARY if PAGE_DICTIONARY in page else DATA
            if number == DICTIONARY or chunk[DATA][1] == data:
                chunk[number] = 6, len(out)
            content = stream.read(page[PAGE_PACKED][1])
            place += stream.tell()
            change(page)
            out += struct_out(page) + content
        chunk[PACKED] = 6, len(out) - begun
    return out


class Endless:
    """A list of nothing, said to be endless."""

    def __len__(self):
        return 1 << 60

    def __iter__(self):
        return iter(())


def varint_in(stream):
    value = shift = 0
    while True:
        byte = stream.read(1)[0]
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value


def varint_out(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def integer_in(stream):
    value = varint_in(stream)
    return (value >> 1) ^ -(value & 1)


def integer_out(value):
    return varint_out(2 * value if value >= 0 else -2 * value - 1)


def struct_in(stream):
    fields, number = {}, 0
    while head := stream.read(1)[0]:
        number = number + (head >> 4) if head >> 4 else integer_in(stream)
        kind = head & 15
        fields[number] = kind, None if kind in {TRUE, FALSE} else value_in(stream, kind)
    return fields


def struct_out(fields):
    out, before = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        step = number - before
        out += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + integer_out(number)
        out += b"" if kind in {TRUE, FALSE} else value_out(kind, value)
        before = number
    return out + b"\0"


def value_in(stream, kind):
    if kind in {LIST, SET}:
        head = stream.read(1)[0]
        count = varint_in(stream) if head >> 4 == 15 else head >> 4
        return head & 15, [value_in(stream, head & 15) for _ in range(count)]
    if kind == STRUCT:
        return struct_in(stream)
    if kind == BINARY:
        return stream.read(varint_in(stream))
    return stream.read({DOUBLE: 8}.get(kind, 1)) if kind in {TRUE, FALSE, BYTE, DOUBLE} else integer_in(stream)


def value_out(kind, value):
    if kind in {LIST, SET}:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([240 | inner]) + varint_out(len(items))
        return head + b"".join(value_out(inner, item) for item in items)
    if kind == STRUCT:
        return struct_out(value)
    if kind == BINARY:
        return varint_out(len(value)) + value
    return value if kind in {TRUE, FALSE, BYTE, DOUBLE} else integer_out(value)
