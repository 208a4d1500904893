"""Members of a zip archive, also those compressed with Zstandard, which Python's zipfile reads from 3.14 on only."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, Self

from semece.errors import ParseError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from semece.formats.json_stream import Json

ZSTANDARD = 93
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_SEPARATOR = "\x01"
"""A character that no JSON text contains."""


class Archive:
    """A zip archive of JSON documents. A context manager.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    ParseError
        It is no zip archive, or its end is missing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, struct.error):
            size = path.stat().st_size
            raise ParseError(
                f"{path}, byte {size}: expected the end of a zip archive; got the end of the file: it is cut, damaged "
                "or still being written"
            ) from None
        self.names = list(dict.fromkeys(info.filename for info in self._zip.infolist()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def json(self, name: str) -> Json:
        """Read a member; of several with one name the last, which is the newest.

        Raises
        ------
        ParseError
            Naming file and member: it is damaged, encrypted, or no JSON.
        """
        try:
            return json.loads(self._bytes(name))
        except UnicodeDecodeError:
            fault = "expected UTF-8 text; got other bytes"
        except json.JSONDecodeError as error:
            fault = f"expected JSON; {error}"
        except (ValueError, RecursionError) as error:
            fault = f"expected JSON that can be read; {type(error).__name__}"
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error, OSError) as error:
            fault = f"expected a whole member of a zip archive; got a damaged one ({error})"
        except (RuntimeError, NotImplementedError) as error:
            fault = f"expected a member that can be unpacked; {error}"
        raise ParseError(f"{self._path}, {name}: {fault}")

    def _bytes(self, name: str) -> bytes:
        info = self._zip.getinfo(name)
        if info.compress_type != ZSTANDARD or hasattr(zipfile, "ZIP_ZSTANDARD"):
            return self._zip.read(info)
        text = unpacked(self._raw(info)).encode()
        if info.CRC not in {zlib.crc32(text), zlib.crc32(text + b"\n")}:
            raise zipfile.BadZipFile("its checksum is another one")
        return text

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """Read a member as it is stored: what follows its local header."""
        with self._path.open("rb") as stream:
            stream.seek(info.header_offset)
            mark, name_size, extra_size = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
            if mark != b"PK\x03\x04":
                raise zipfile.BadZipFile("no local header")
            stream.seek(name_size + extra_size, 1)
            data = stream.read(info.compress_size)
        if len(data) != info.compress_size:
            raise EOFError("it is cut")
        return data


def unpacked(data: bytes) -> str:
    """Unpack a JSON text with the decoder that polars brings: it reads compressed tables, here one of one column.

    Line breaks and blank lines, which mean nothing in JSON, may come out otherwise than they went in.
    """
    import polars as pl

    options: dict[str, Any] = {"has_header": False, "separator": _SEPARATOR, "quote_char": None, "infer_schema": False}
    try:
        return "\n".join(line or "" for line in pl.read_csv(data, **options).to_series())
    except pl.exceptions.PolarsError as error:
        raise zipfile.BadZipFile(str(error).splitlines()[0]) from None
