"""The benchmarks of judges: they run where only the package is installed, and the page shows what they measure."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "judges.md"
CLOSE = 0.03


def test_the_benchmarks_need_no_development_tools():
    blocked = "import sys; sys.modules.update(dict.fromkeys(['pytest', 'hypothesis'])); "
    names = ", ".join(f"benchmarks.{name}" for name in ("judge_tokens", "judges", "rules"))
    code = f"{blocked}import {names}; benchmarks.judge_tokens.main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_the_real_data_they_say_so():
    from benchmarks import _data

    assert _data.shared_rows("absent.jsonl") == []
    assert "SEMECE_TEST_DATA" in _data.ABSENT


def tables(text):
    """Give the tables of a page of Markdown as rows of cells."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in line.split("|")[1:-1]] for line in block.splitlines()] for block in blocks]


def on_the_page():
    """Numbers of the page by grader or grouper and column: of the unseen half and, in parentheses, of all."""
    found = []
    for head, _, *rows in tables(PAGE.read_text(encoding="utf-8")):
        if any("(." in cell for row in rows for cell in row):
            found.append(
                {(row[0].strip("*"), name): cell for row in rows for name, cell in zip(head[1:], row[1:], strict=True)}
            )
    return found


def measured():
    """The same of the benchmark: by grader or grouper and column, a dict by half."""
    from benchmarks import judges

    found = []
    for head, _, *rows in tables(judges.main()):
        cells = {}
        for name, half, *values in rows:
            for column, value in zip(head[2:], values, strict=True):
                cells.setdefault((name.strip("*"), column), {})[half] = float(value.replace(",", ""))
        found.append(cells)
    return found


@pytest.mark.slow
@pytest.mark.shared_data
def test_the_page_shows_what_the_benchmark_measures(shared_data):
    """Agreement, wrong answers called correct, groups of short answers, groups of sentences."""
    now = measured()
    shown = on_the_page()
    assert len(shown) == 4
    for page, benchmark in zip(shown, (now[0], now[1], now[-2], now[-1]), strict=True):
        for (name, column), cell in page.items():
            numbers = [float(number) for number in re.findall(r"(?<!\d)\.\d{3}|\b0\b", cell)]
            if name.startswith(("published", "two people")) or not numbers:
                continue
            halves = benchmark[name, column]
            assert numbers == pytest.approx([halves["unseen"], halves["all"]], abs=CLOSE), (name, column)
