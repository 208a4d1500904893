"""The documentation says what the code does."""

import json
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

from semece.cli import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def test_the_command_line_page_is_current():
    text = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))["text"]()
    assert (ROOT / "docs" / "cli.md").read_text() == text, "run python docs/make_cli.py"


def test_the_command_line_page_lists_every_command_once_in_reading_order():
    page = (ROOT / "docs" / "cli.md").read_text()
    sections = re.findall(r"^## semece (.+)$", page, flags=re.MULTILINE)
    listed = re.findall(r"^\* \[`semece (.+?)`\]\(#semece-(.+?)\): .+\.$", page, flags=re.MULTILINE)
    assert listed == [(name, name.replace(" ", "-")) for name in sections]
    assert len(set(sections)) == len(sections)
    places = [
        sections.index(name) for name in ("fetch-model", "run", "summary", "check", "compare", "audit export", "plan")
    ]
    assert places == sorted(places)
    assert "\n**More**\n" not in page, "name the new command in a part of docs/make_cli.py"


def test_the_pages_of_services_formats_and_datasets_are_current():
    made = runpy.run_path(str(ROOT / "docs" / "make_tables.py"))
    for name, write in made["PAGES"].items():
        page = (ROOT / "docs" / name).read_text()
        assert write(page) == page, "run python docs/make_tables.py"


def test_every_service_has_a_section_with_its_key_and_a_command():
    made = runpy.run_path(str(ROOT / "docs" / "make_tables.py"))
    page = (ROOT / "docs" / "providers.md").read_text()
    for title, (words, service) in made["documented"]().items():
        section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        assert f"--model {words[0]}/{service.example}" in section, title
        assert (service.cost == "free" or service.spelled != "NAME") or f"export {service.keys[0]}=" in section, title


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_shows_the_two_commands():
    text = (ROOT / "README.md").read_text()
    assert "make demo" in text
    assert "make test" in text


def test_the_readme_shows_what_the_demo_prints():
    """Word for word; digits may differ a little on another processor."""
    number = re.compile(r"\d+\.\d+")
    shown, now = (ROOT / "README.md").read_text(), runpy.run_path(str(ROOT / "docs" / "make_readme.py"))["text"]()
    assert number.sub("0", shown) == number.sub("0", now), "run python docs/make_readme.py"
    assert [float(each) for each in number.findall(shown)] == pytest.approx(
        [float(each) for each in number.findall(now)], abs=0.02
    )


@pytest.mark.parametrize("page", ["README.md", "docs/elicitations.md"])
def test_python_in_a_page_runs(tmp_path, monkeypatch, page):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), {})


def test_the_map_for_contributors_names_every_room_and_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rooms = {path.parent.name for path in (ROOT / "src" / "semece").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)) == rooms
    for named in re.findall(r"`((?:src|tests)/[\w./]+)`", text):
        assert (ROOT / named).exists(), named
    for target in re.findall(r"^    make (\w+)", text, flags=re.MULTILINE):
        assert f"\n{target}:" in (ROOT / "Makefile").read_text(), target


def test_versions_agree():
    version = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)[1]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


def test_what_the_paper_names_is_where_the_page_says():
    import semece

    page = (ROOT / "docs" / "paper.md").read_text()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and "`tests/" in line]
    assert len(rows) >= 20
    commands = set(get_command(app).commands)
    for _, where, test in rows:
        for path in re.findall(r"`(tests/[\w/]+\.py)`", test):
            assert (ROOT / path).exists(), path
        named = re.findall(r"`semece\.(\w+)", where)
        words = re.findall(r"`semece (\w[\w-]*)", where)
        assert named or words, where
        assert all(hasattr(semece, name) for name in named), where
        assert set(words) <= commands, where


def uqlm(path, first, last):
    """Write a result of uqlm and its questions; the score is too low throughout, and reliably so."""
    rng = np.random.default_rng(first)
    columns = {"prompts": [], "responses": [], "sampled_responses": [], "semantic_negentropy": []}
    questions = []
    for number in range(first, last):
        share = rng.uniform(0.3, 1.0)
        answers = ["yes" if rng.random() < share else f"other {k}" for k in range(6)]
        columns["prompts"].append(f"Question {number}?")
        columns["responses"].append(answers[0])
        columns["sampled_responses"].append(answers[1:])
        columns["semantic_negentropy"].append(share / 2)
        reference = "yes" if rng.random() < share else "no"
        questions.append({"id": number - first, "question": f"Question {number}?", "references": [reference]})
    metadata = {"temperature": 1.0, "sampling_temperature": 1.0}
    Path(f"{path}.json").write_text(json.dumps({"data": columns, "metadata": metadata}))
    Path(f"{path}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))


def test_the_way_from_a_result_of_uqlm_to_a_threshold_runs(semece):
    page = (ROOT / "docs" / "scores.md").read_text()
    uqlm("pilot", 0, 120)
    uqlm("new", 200, 300)
    said = {}
    for command in re.findall(r"^    semece (.*)$", page, flags=re.MULTILINE):
        code, said[command.partition(" -")[0]], err = semece(*shlex.split(command))
        assert code == 0, err
    assert "Recalibration helps" in said["recalibrate pilot.db"]
    assert "semantic_negentropy" in said["abstain new.db"]
    assert "Sem1" not in said["abstain new.db"]
    assert "other runs" not in said["abstain new.db"]
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(block, "scores.md", "exec"), {})


def test_the_page_of_trained_models_names_commands_and_options_that_exist(semece):
    page = (ROOT / "docs" / "fine_tuning.md").read_text()
    commands = re.findall(r"^    semece (.*)$", page, flags=re.MULTILINE)
    assert len(commands) == 4
    for name, first, last in (("before", 0, 60), ("after", 0, 60)):
        uqlm(name, first, last)
        assert semece("score", f"{name}.json", "--questions", f"{name}.jsonl", "-o", f"{name}.db")[0] == 0
    assert semece(*shlex.split(commands[2]))[0] == 0
    known = get_command(app).commands
    for command in commands:
        word, *rest = shlex.split(command)
        options = {name for option in known[word].params for name in option.opts}
        assert {each for each in rest if each.startswith("-")} <= options, command
