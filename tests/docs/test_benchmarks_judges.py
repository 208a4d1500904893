"""The benchmarks of judges: they run where only the package is installed, and the page shows what they measure."""

import re
import subprocess
import sys
from operator import itemgetter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
CLOSE = 0.005


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


def test_the_page_on_judges_repeats_no_number_of_the_benchmark():
    """Two tables of one measurement drift apart; the page points to the one that is written by the benchmark."""
    page = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
    assert "benchmarks.md#judges-against-people" in page
    rules = page[page.index("## Rules judge") : page.index("### Why no small embedding model")]
    assert not re.findall(r"\b0?\.\d{3}\b", rules)


@pytest.mark.slow
@pytest.mark.shared_data
def test_the_benchmarks_page_shows_what_is_measured(shared_data):
    """Agreement with people and wrong answers called correct, of every grader, half and file."""
    from benchmarks import judges

    page = BENCHMARKS.read_text(encoding="utf-8")
    shown = tables(page[page.index(f"## {judges.TITLE}") :])[:2]
    data = {name: judges.halves(rows) for name, rows in judges.load().items()}
    for then, measure in zip(shown, (judges.agreement, judges.false_correct), strict=True):
        assert then[0] == ["grader", "half", *judges.FILES]
        assert [row[:2] for row in then[2:]] == [[name, half] for name in judges.GRADERS for half in judges.HALVES]
        for name, half, *cells in then[2:]:
            now = [measure(data[file][half], itemgetter(name)) for file in judges.FILES]
            assert [float(cell.split()[0]) for cell in cells] == pytest.approx(now, abs=CLOSE), (name, half)
