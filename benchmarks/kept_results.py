"""What reading a run costs with its judge's results stored, against deriving them."""

import contextlib
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks._data import ABSENT, SHARED_DATA
from benchmarks._tables import table
from semece.cli.reading_commands import print_summary
from semece.cli.showing import question_lines
from semece.runs.run import Run
from semece.runs.scored_samples import score

TITLE = "Reading a run whose judge's results are stored"
TEXT = """The {questions} TriviaQA questions with {n} real answers each, stored by `semece score` and judged by `rules`:
CPU time in one process, after everything is imported and another run was read. At first nothing is stored but the
answers; that reading stores partitions, verdicts and alarms, {kilobytes:,.0f} kB, and the others are medians of five
afterwards.
"""
WARM = "samples/dates_359x40.jsonl"
MEASURED = "samples/triviaqa_500x20.jsonl"


def seconds(what: Callable[[], object]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    what()
    return time.process_time() - start


def summary(path: Path) -> str:
    """Print what ``semece summary`` prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        print_summary([path])
    return said.getvalue()


def show(path: Path, question: str) -> list[str]:
    """Lay out what ``semece show`` prints."""
    with Run(path) as run:
        return list(question_lines(run.question(question), run.judge_replies(question), raw=False))


def main() -> str:
    """Measure before and after the results are stored."""
    if not (SHARED_DATA / MEASURED).is_file():
        return ABSENT
    lines = (SHARED_DATA / MEASURED).read_text(encoding="utf-8").splitlines()
    first = json.loads(lines[0])
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("warm.db", "measured.db")]
        for path, source in zip(paths, (WARM, MEASURED), strict=True):
            score([SHARED_DATA / source], path, judge="rules")
        summary(paths[0])
        path = paths[1]
        size = path.stat().st_size
        found = {"`summary`, nothing stored": seconds(lambda: summary(path))}
        kilobytes = (path.stat().st_size - size) / 1000
        for name, what in (
            ("`summary`, results stored", lambda: summary(path)),
            ("`show` of one question, results stored", lambda: show(path, first["id"])),
        ):
            found[name] = statistics.median(seconds(what) for _ in range(5))
    slowest = max(found.values())
    rows = [[name, f"{1000 * took:,.0f}", f"{took / slowest:.3f}"] for name, took in found.items()]
    text = TEXT.format(questions=len(lines), n=len(first["answers"]), kilobytes=kilobytes)
    return text + "\n" + table(["", "ms", "ratio"], rows)
