"""Large report pages in a real browser: their size, how long until they can be used, and how fast they react."""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright
from tests.synthetic import make_page, make_views

from benchmarks._tables import table
from semece.runs import Names
from semece.show import report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

TITLE = "Report pages in a browser"
SIZES = ((1, 4326), (20, 500), (20, 4326))
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
STEPS = {"sort": ("gap", "change"), "search": ("number 17", "input"), "filter": ("wrong", "change")}
STEP = """async ([name, value, event]) => {
    const element = document.querySelector(`[name=${name}]`);
    const now = () => document.querySelector(".shown").textContent + document.querySelector(".questions").textContent;
    const before = now(), start = performance.now();
    element.value = value;
    element.dispatchEvent(new Event(event));
    while (now() === before) await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""


def views_of(questions: int) -> list[Any]:
    """Make many questions of few, each with an id of its own."""
    some = make_views(206, n=50, words=[f"a rather long answer with several words {i}" for i in range(30)])
    return [replace(some[i % 206], question=replace(some[i % 206].question, id=f"q{i}")) for i in range(questions)]


def pages(runs: int, questions: int) -> Iterator[report.Page]:
    """Give pages of runs that differ in their names and in the order of their questions."""
    views = views_of(questions)
    first = make_page(views)
    for number in range(runs):
        names = Names(f"dataset {number % 4}", f"vendor/model-{number}")
        turned = views[number:] + views[:number]
        yield replace(first, views=turned, names=names, summary={**first.summary, "run": names.title})


def measure(page: Page, path: Path) -> list[str]:
    """Open a page and use it."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url) if request.url != path.as_uri() else None)
    start = time.perf_counter()
    page.goto(path.as_uri())
    page.locator("ol.questions > li").first.wait_for()
    opened = time.perf_counter() - start
    page.locator("[name=search]").focus()
    page.wait_for_timeout(1500)
    steps = [page.evaluate(STEP, [name, *rest]) for name, rest in STEPS.items()]
    page.evaluate("location.hash = '#page=3'")
    page.wait_for_timeout(300)
    first = page.locator("ol.questions > li summary").first
    start = time.perf_counter()
    first.click()
    page.locator("ol.questions details[open] table").first.wait_for()
    row = 1000 * (time.perf_counter() - start)
    return [f"{opened:.2f}", *(f"{step:.0f}" for step in steps), f"{row:.0f}", str(len(heard))]


def main() -> str:
    """Measure each size once."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for runs, questions in SIZES:
            path = Path(folder) / f"{runs}-{questions}.html"
            report.write(report.render(pages(runs, questions), room=report.room_of(runs)), path)
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            rows.append([f"{runs} x {questions:,}", f"{path.stat().st_size / 1e6:.1f}", *measure(page, path)])
            page.close()
        browser.close()
    head = ["runs x questions", "MB", "opened in s", "order ms", "search ms", "filter ms", "open a row ms", "console"]
    return (
        "50 answers a question. Opened: from disk, until the first questions can be read. Search over questions, "
        "references and all answers, a second after its field was entered. Console: messages, errors and requests.\n\n"
        f"{table(head, rows)}"
    )
