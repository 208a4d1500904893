"""Readings are stored in run files under the id of the reader: they change only with it."""

import json
from pathlib import Path

from semece.canonical_json import digest
from semece.prompts import READER
from semece.prompts.responses import read_response

FOLDER = Path(__file__).parents[1]


def test_readings_of_the_attacks_change_only_with_the_id_of_the_reader():
    rows = map(json.loads, (FOLDER / "attacks" / "attacks.jsonl").read_text().splitlines())
    replies = [row["reply"] for row in rows if row["kind"] == "response"]
    texts = [reply if isinstance(reply, str) else "".join(piece * times for piece, times in reply) for reply in replies]
    found = [(reading.answer, reading.confidence, reading.status) for reading in map(read_response, texts)]
    stored, made = json.loads((FOLDER / "cases" / "results.json").read_text()), digest(found).hex()[:16]
    assert READER in stored, f'a new id: add "{READER}": "{made}" to results.json'
    assert stored[READER] == made, f"what {READER} reads has changed ({made}): give it a new id, and a new line there"
