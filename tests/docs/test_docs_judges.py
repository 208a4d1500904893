"""The page on judges shows what the commands print; rules that change a little need not change the page each time."""

import re
import sys
from pathlib import Path

import pytest

from semece.cli import main

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]

PAGE = Path(__file__).parents[2] / "docs" / "judges.md"
SHOWN = re.compile(r"```console\n\$ semece (.*?)\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?\d+\.\d\d")
CLOSE, FEWEST = 0.03, 100


@pytest.fixture
def semece(monkeypatch, capsys, tmp_path):
    """Type a command in an empty folder; give what it prints."""
    monkeypatch.chdir(tmp_path)

    def typed(*words):
        monkeypatch.setattr(sys, "argv", ["semece", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return capsys.readouterr().out

    return typed


def rows(text):
    """Numbers of each row of a table by its first two cells; rows of a few answers are left out."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r" {2,}", line)
        count = next((int(cell.replace(",", "")) for cell in cells if re.fullmatch(r"[\d,]+", cell)), 0)
        numbers = [float(number) for number in NUMBER.findall(line)]
        if count >= FEWEST and numbers:
            found[tuple(cells[:2])] = numbers
    return found


def commands():
    return SHOWN.findall(PAGE.read_text(encoding="utf-8"))


def test_the_page_shows_both_commands():
    assert {words.split()[0] for words, _ in commands()} == {"judge-eval", "compare"}
    assert sum(len(rows(text)) for _, text in commands()) > 25


@pytest.mark.parametrize(("words", "text"), commands(), ids=[words for words, _ in commands()])
def test_the_page_shows_what_the_command_prints(words, text, semece, shared_data):
    if words.startswith("compare trivia.db"):
        semece("score", shared_data / "samples" / "triviaqa_500x20.jsonl", "-o", "trivia.db")
    files = {path.name: path for path in (shared_data / "human").iterdir()}
    now = rows(semece(*(files.get(word, word) for word in words.split())))
    then = rows(text)
    assert then.keys() <= now.keys()
    for name, numbers in then.items():
        # the number of classes, alone above 1, may move more
        assert now[name] == pytest.approx(numbers, abs=CLOSE if max(numbers) <= 1 else 0.5), name
