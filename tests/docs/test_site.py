"""The site is built from the pages as they are, without a warning, a dead link or anything from elsewhere."""

import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
NEXT = re.compile(r"^## Next$", re.MULTILINE)


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.add(given["href"])
        if tag in {"img", "script", "iframe"} and given.get("src"):
            self.loads.add(given["src"])
        if tag == "link" and "canonical" not in (given.get("rel") or "") and given.get("href"):
            self.loads.add(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site of a copy of the pages, where nothing outside is reached."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    made = runpy.run_path(str(ROOT / "docs" / "make_python.py"))
    (folder / "docs" / "python.md").write_text(made["text"](), encoding="utf-8")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    build = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, env=nowhere | {"PATH": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.glob("*.html") if path.name != "404.html"}


def test_every_page_is_in_the_navigation(site):
    named = set(re.findall(r"\b([\w]+\.md)$", (ROOT / "mkdocs.yml").read_text(), flags=re.MULTILINE))
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")} | {"python.md"}
    assert {path.stem for path in site.glob("*.html")} - {"404"} == {name.removesuffix(".md") for name in named}


def test_links_lead_to_pages_and_anchors_that_are_there(pages):
    assert sum(len(page.links) for page in pages.values()) > 500
    dead = []
    for path, page in pages.items():
        for link in page.links | page.loads:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors | {""} if target in pages else {parts.fragment}
            if not target.exists() or unquote(parts.fragment) not in anchors:
                dead.append((path.name, link))
    assert not dead


def test_nothing_is_loaded_from_elsewhere(pages, site):
    outside = {load for page in pages.values() for load in page.loads if urlsplit(load).scheme or load.startswith("//")}
    assert not outside
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", text), style.name


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_a_page_ends_with_what_to_do_next(page):
    _, *last = NEXT.split(page.read_text(encoding="utf-8"))
    assert len(last) == 1, "a page ends with the section 'Next'"
    assert re.search(r"\]\(|`semece ", last[0]), "'Next' names a page or a command"
    assert "\n## " not in last[0]


def test_the_page_of_python_has_every_public_name():
    import semece

    made = runpy.run_path(str(ROOT / "docs" / "make_python.py"))["text"]()
    entries = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", made, flags=re.MULTILINE | re.DOTALL))
    modules = {"diagnostics", "figures", "simulation", "tables", "theory"}
    assert entries.keys() == set(semece.__all__) - modules
    for name, entry in entries.items():
        assert re.search(r"```text\n\w", entry), name
