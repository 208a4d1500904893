"""Bring what README.md says of the demo up to date: ``python docs/make_readme.py``.

The answers are those of one demo, as ``semece export`` wrote them; what is printed of them is printed anew.
"""

import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
SAMPLES = ROOT / "tests" / "docs" / "demo_samples.jsonl"
FIRST, LAST = "```\nstarter", "\nSpent"
WIDTH = 120


def printed() -> str:
    """Give what semece prints of the answers, in lines that fit the page."""
    named = ["--judge", "rules", "--name", "local/smollm2", "--dataset", "starter"]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "semece", "score", str(SAMPLES), *named, "-o", f"{folder}/demo.db"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603
    lines = said.splitlines()[:-1]  # the last one is the path
    return "\n".join(textwrap.fill(line, WIDTH) if len(line) > WIDTH else line for line in lines)


def text() -> str:
    """Write the whole README."""
    page = README.read_text(encoding="utf-8")
    before, _, rest = page.partition(FIRST)
    return f"{before}```\n{printed().rstrip()}\n{LAST}{rest.partition(LAST)[2]}"


if __name__ == "__main__":
    README.write_text(text(), encoding="utf-8")
