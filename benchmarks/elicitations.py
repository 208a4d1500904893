"""What each elicitation makes of the embedded model: replies read and not read, tokens, and how well it ranks."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks._tables import table
from semece import auroc
from semece.models.embedded.llama_cpp import open_smollm2
from semece.prompts.elicitations import ELICITATIONS
from semece.runs import Run, elicit
from semece.sampling import Settings, make_run, resolve
from semece.store import Store

if TYPE_CHECKING:
    from semece.models import Model

TITLE = "Elicitations on the embedded model"
QUESTIONS = int(os.environ.get("ELICITATIONS_QUESTIONS", "12"))
ANSWERS = 10
TEXT = """{questions} questions of the starter set, {answers} answers each, judged by the rules; each elicitation asks
about the most frequent answer, one reply a question. Read: replies from which a confidence is read. Where there is
none, the question has no such score. Tokens: of the prompt and of the reply, per question; beside them those of the
{answers} answers. AUROC of so small a model on so few questions says little. Processor seconds are per question. The
grammar of a local model lets it write what is asked for and nothing else; what services write is in the tests.
"""


async def asked(folder: Path, model: Model) -> list[list[str]]:
    """Make a run, ask for every confidence, and tabulate them."""
    path, start = folder / "run.db", time.process_time()
    settings = Settings(model.name, "starter", n=ANSWERS, limit=QUESTIONS, judge="rules")
    await make_run(resolve(settings, path, model=model))
    rows = [row_of(path, "percent, with the answer", "respond", time.process_time() - start)]
    for name, elicitation in ELICITATIONS.items():
        start = time.process_time()
        await elicit(path, [name], draws=1, model=model)
        rows.append(row_of(path, name, elicitation.score, time.process_time() - start))
    return rows


def row_of(path: Path, name: str, stage: str, seconds: float) -> list[str]:
    """Count the replies of a stage, what was read of them, and what they took."""
    with Store(path) as store:
        replies = sum(len(store.replies(stage, question.id)) for question in store.questions())
        spent = store.spent()[stage][:2]
    with Run(path) as run:
        scored = run.estimates().filter(pl.col("verbalized" if stage == "respond" else stage).is_not_null())
        read = run.confidences[0] if stage == "respond" else scored.height
    value, correct = scored["verbalized" if stage == "respond" else stage], np.floor(scored["correct"])
    ranks = f"{auroc(value, correct):.2f}" if len(set(correct)) == 2 else ""
    per = [f"{each / QUESTIONS:,.0f}" for each in spent]
    return [name, f"{replies:,}", f"{read:,}", f"{replies - read:,}", *per, f"{seconds / QUESTIONS:.1f}", ranks]


def main() -> str:
    with tempfile.TemporaryDirectory() as folder:
        rows = asyncio.run(asked(Path(folder), open_smollm2()))
    header = ["elicitation", "replies", "read", "not read", "tokens in", "tokens out", "seconds", "AUROC"]
    return f"{TEXT.format(questions=QUESTIONS, answers=ANSWERS)}\n{table(header, rows)}"


if __name__ == "__main__":
    print(main())
