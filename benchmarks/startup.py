"""How long the first things take: importing, and asking for help."""

import statistics
import subprocess
import sys
import time

TITLE = "Start-up"
CASES = {
    "python -c 'pass'": [sys.executable, "-c", "pass"],
    "import semece": [sys.executable, "-c", "import semece"],
    "semece --help": [
        sys.executable,
        "-c",
        "import sys; sys.argv = ['semece', '--help']; from semece.cli import main; main()",
    ],
}


def seconds(words: list[str]) -> float:
    """Median wall time of five."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> str:
    """Time every case."""
    rows = [f"| `{name}` | {seconds(words):.3f} |" for name, words in CASES.items()]
    return "\n".join(["| command | seconds |", "| :-- | --: |", *rows])


if __name__ == "__main__":
    print(main())
