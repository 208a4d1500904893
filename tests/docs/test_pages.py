"""What the pages tell people to type works, in the order of the page, in an empty folder."""

import re
import shlex
from pathlib import Path

import pytest

from tests import tool_files
from tests.servers.openai_server import OpenAIServer

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```(\w+)(?: title=\"(.+?)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if "```sh\n" in page.read_text(encoding="utf-8")]
NUMBER = re.compile(r"\d[\d,.]*")


def files(page):
    """Write the files that the reader of a page has already."""
    if page.stem == "gate":
        rows = ({"question": f"What is {k} + {k}?", "references": [str(2 * k)]} for k in range(40))
        Path("questions.jsonl").write_bytes(tool_files.lines(rows))
    if page.stem == "migrating":
        for name, content in {
            "uqlm.json": tool_files.uqlm(),
            "questions.jsonl": tool_files.questions_file(),
            "results.json": tool_files.promptfoo(),
            "capitals_clustered.jsonl": tool_files.clustered(),
            "capitals_graded.jsonl": tool_files.graded(),
            "popularity.eval": tool_files.inspect_eval(),
            "samples_popularity.jsonl": tool_files.lm_eval(),
        }.items():
            Path(name).write_bytes(content)


@pytest.fixture
def typed(semece, monkeypatch):
    """Type a line of a page; give what it prints. A server of the reader's own is one of ours, on a free port."""
    with OpenAIServer() as server:

        def one(line):
            word, *rest = shlex.split(line)
            if word == "export":
                monkeypatch.setenv(*rest[0].split("=", 1))
                return ""
            assert word == "semece", line
            few = ["--limit", "2"] if "local/smollm2" in rest else []  # a test has less time than a reader
            code, out, err = semece(*(part.replace("http://127.0.0.1:8080", server.url) for part in rest), *few)
            assert code == 0, f"{line}\n{err}"
            return out

        yield one


def run(page, typed):
    """Do what a page says, block by block."""
    files(page)
    printed = ""
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if title:
            Path(title).write_text(text, encoding="utf-8")
        elif language == "sh":
            printed = "".join(typed(line) for line in text.splitlines())
        elif language == "python":
            exec(compile(text, page.name, "exec"), {})
        elif language == "text":
            assert text in printed, page.name


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "tutorial"], ids=lambda page: page.stem)
def test_what_a_page_says_works(page, typed):
    run(page, typed)


@pytest.mark.weights
@pytest.mark.slow
def test_the_tutorial_works_on_the_embedded_model(typed):
    run(DOCS / "tutorial.md", typed)


def test_the_pages_are_there():
    assert {"tutorial", "own_samples", "own_server", "gate", "migrating", "signing"} <= {page.stem for page in PAGES}
