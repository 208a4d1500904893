"""The documentation says what the code does."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def test_the_command_line_page_is_current():
    text = runpy.run_path(str(ROOT / "docs" / "make_cli.py"))["text"]()
    assert (ROOT / "docs" / "cli.md").read_text() == text, "run python docs/make_cli.py"


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
