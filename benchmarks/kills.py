"""A run with a model as judge, killed with -9 again and again: final rows, and what was paid for twice."""

import tempfile
import time
from collections import Counter
from pathlib import Path

TITLE = "Twenty-five kills with -9 over responses, partitions and grades (live calls)"
KILLS, QUESTIONS, N, CONCURRENCY = 25, 150, 20, 4


def main() -> str:
    """Kill at moments spread over the replies; compare the rows with those of a run that nobody disturbed."""
    from tests.killed_runs import Client, questions, references
    from tests.servers.openai_server import OpenAIServer

    data, start, landed = questions(QUESTIONS), time.perf_counter(), []
    words = ["-d", "made.jsonl", "-n", str(N), "-j", "openai-api/test/judge", "--concurrency", str(CONCURRENCY)]
    with tempfile.TemporaryDirectory() as made, OpenAIServer(references=references(data), latency=0.02) as server:
        whole, killed = (Client(Path(made) / name, server, data, *words) for name in ("whole", "killed"))
        whole.finish()
        rows, once = whole.rows(), server.account.paid.total()
        for i in range(KILLS):
            count = killed.kill_after(int(len(rows) * (0.05 + 0.9 * i / KILLS)) + 1)
            if 0 < count < len(rows):
                landed.append(stage_of(killed.rows()))
        killed.finish()
        same, twice = killed.rows() == rows, server.account.paid.total() - 2 * once
    where = ", ".join(f"{count} {stage}" for stage, count in Counter(landed).most_common())
    return (
        f"{len(landed)} of {KILLS} kills landed before the end ({where}), in a run of {QUESTIONS} questions x {N} with "
        f"{len(rows):,} replies: the final rows are {'those' if same else 'NOT those'} of the run that nobody "
        f"disturbed, and {twice} of {once:,} choices were paid for twice; at most {KILLS} x {CONCURRENCY} calls of up "
        f"to 8 were in flight. {time.perf_counter() - start:.0f} s."
    )


def stage_of(rows: list[tuple[str, str, int, str, str]]) -> str:
    """Name the last stage that has begun."""
    seen = {row[0] for row in rows}
    return next(f"while {stage}ing" for stage in ("grade", "partition", "respond") if stage in seen).replace(
        "eing", "ing"
    )


if __name__ == "__main__":
    print(main())
