"""Where the real data is, which is no part of the package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

SHARED_DATA = Path(os.environ.get("SEMECE_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))
"""The folder that the tests read, too."""

ABSENT = "The real data is not here: SEMECE_TEST_DATA names its folder."


def shared_rows(name: str) -> list[dict[str, Any]]:
    """Read a JSONL file of the real data; nothing if it is not here."""
    file = SHARED_DATA / name
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line] if file.is_file() else []
