"""The report in a real browser: it fetches nothing, can be searched and sorted, is accessible, and stays quick."""

import json
import re
import time
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from tests.show.test_report import HOSTILE, hostile_view
from tests.synthetic import make_page, make_views

from semece.records import Estimate
from semece.runs import Names
from semece.show import report

pytestmark = pytest.mark.browser

QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
ARGUMENTS = ["--no-sandbox", *QUIET, "--disable-component-update", "--disable-sync"]


STEP = """async ([name, value, event]) => {
    const start = performance.now(), element = document.querySelector(`[name=${name}]`);
    const before = document.querySelector(".shown").textContent + document.querySelector(".questions").textContent;
    element.focus();
    element.value = value;
    element.dispatchEvent(new Event(event));
    const now = () => document.querySelector(".shown").textContent + document.querySelector(".questions").textContent;
    while (now() === before) await new Promise(requestAnimationFrame);
    return performance.now() - start;
}"""

BROKEN = """() => {
    const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        if (node.parentElement.closest("svg, script, style, noscript, option, .skip")) continue;
        for (const { index, 0: word } of node.data.matchAll(/[^\\s\\/-]+/g)) {
            const range = document.createRange();
            range.setStart(node, index);
            range.setEnd(node, index + word.length);
            if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word);
        }
    }
    return broken;
}"""
"""Words that stand on two lines, though they have no place to break at."""


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def views():
    topics = ("art", "law")
    made = [
        replace(view, question=replace(view.question, metadata={"topic": topics[i % 2]}))
        for i, view in enumerate(make_views(29))
    ]
    excluded = replace(made[0], estimate=Estimate("q29", "incomplete", 3, 0), partition=None)
    return [*made, replace(excluded, question=replace(made[0].question, id="q29")), hostile_view()]


@pytest.fixture(scope="module")
def path(views, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return report.write(report.render([make_page(views)]), path)


NAMES = (
    Names("starter", "openai-api/service/a-model-of-a-rather-long-name"),
    Names("starter", "fake/?pmf=.7,.2,.1&confidence=.9"),
)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    pages = [make_page(make_views(30, seed=place), name=names.title, names=names) for place, names in enumerate(NAMES)]
    path = tmp_path_factory.mktemp("two") / "report.html"
    return pages, report.write(report.render(pages), path)


@pytest.fixture(scope="module")
def opened(browser):
    """Open a page; what it says on the console, asks or requests is heard."""
    contexts = []

    def opened(path, **options):
        context = browser.new_context(**({"viewport": {"width": 1100, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.heard = []
        page.on("console", lambda message: page.heard.append(message.text))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("dialog", lambda dialog: page.heard.append(dialog.message))
        page.on("request", lambda request: page.heard.append(request.url) if request.url != path.as_uri() else None)
        page.goto(path.as_uri())
        if options.get("java_script_enabled", True):
            rows(page).first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def shared(opened, path):
    return opened(path)


@pytest.fixture
def page(shared):
    """One page for all tests that leave it as it was: its address says what is seen."""
    at(shared, "#page=1")
    yield shared
    assert shared.heard == []


def rows(page):
    return page.locator("ol.questions > li")


def at(page, place):
    """Go to a place of the page, and wait until it is seen."""
    page.evaluate("place => { location.hash = place }", place)
    page.wait_for_timeout(60)


def until(check):
    """Wait for what the page's script does later."""
    deadline = time.monotonic() + 20
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def said(page):
    return page.locator(".shown").text_content()


def positions(page):
    return page.eval_on_selector_all("ol.questions > li", "all => all.map((row) => Number(row.dataset.position))")


def open_all(page):
    """Open everything outside the list, and a question."""
    page.evaluate("document.querySelectorAll('.run details, .reading').forEach((each) => { each.open = true })")
    rows(page).last.locator("summary").first.click()
    rows(page).last.locator("table").wait_for()


def test_hostile_text_runs_nothing_and_nothing_is_fetched(page, views):
    open_all(page)
    assert page.locator("img, iframe").count() == 0
    last = rows(page).nth(len(views) - 1)
    shown = HOSTILE.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
    assert last.locator("summary bdi").first.text_content() == shown
    assert last.locator("td bdi").first.text_content() == shown
    assert page.heard == []


def test_a_row_opens_to_its_classes_counts_grades_answers_and_metadata(page, views):
    row, view = rows(page).nth(3), views[3]
    assert row.locator("td").count() == 0
    row.locator("summary").click()
    row.locator("table").wait_for()
    counts = sorted((view.partition.labels.count(label) for label in view.grades), reverse=True)
    assert [int(cell.text_content()) for cell in row.locator("tbody td.number").all()] == counts
    assert row.locator("tbody tr").first.locator("td").last.text_content() in {"correct", "wrong"}
    said = row.locator("tbody").text_content()
    assert all(response.answer in said for response in view.responses)
    assert row.locator("dl.facts").text_content() == "topiclaw"
    row.locator("details.replies summary").first.click()
    assert row.locator("details.replies li").first.text_content().startswith("Answer: ")


def test_every_question_is_reached_and_opened_by_keyboard(page, views):
    first = rows(page).first.locator("summary")
    first.focus()
    for _ in range(len(views) - 1):
        page.keyboard.press("ArrowDown")
    focused = page.locator("ol.questions summary:focus-visible")
    assert rows(page).last.locator("summary:focus-visible").count() == 1
    assert focused.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    rows(page).last.locator("table").wait_for()
    page.keyboard.press("Enter")
    until(lambda: page.locator("ol.questions > li > details[open]").count() == 0)
    page.keyboard.press("Shift+Tab")
    assert page.locator("ol.questions summary:focus").count() == 1


def test_an_address_opens_its_question_and_the_back_button_closes_it(page):
    at(page, "#q=q7")
    rows(page).nth(7).locator("table").wait_for()
    assert rows(page).nth(7).locator("summary:focus").count() == 1
    assert page.evaluate("document.querySelectorAll('ol.questions > li > details[open]').length") == 1
    rows(page).nth(9).locator("summary").click()
    rows(page).nth(9).locator("table").wait_for()
    assert page.evaluate("location.hash") == "#q=q9"
    page.go_back()
    rows(page).nth(7).locator("details[open] table").wait_for()
    page.go_back()
    until(lambda: page.locator("ol.questions > li > details[open]").count() == 0)
    at(page, "#q=nobody")
    assert page.locator(".shown").text_content() == "No question has the id nobody."


def test_a_question_that_a_filter_hides_is_shown_when_its_address_is_opened(page, views):
    right = next(i for i, view in enumerate(views) if view.estimate.correct == 1)
    at(page, f"#filter=wrong&q=q{right}")
    rows(page).nth(right).locator("table").wait_for()
    assert page.locator("[name=filter]").input_value() == "all"


def test_search_finds_questions_answers_and_metadata_but_no_markup(page, views):
    found = {
        "country number 7": [7],
        "kyiv": [i for i, v in enumerate(views) if v.partition and "Kyiv" in v.partition.representatives],
        "law": list(range(1, 29, 2)),
        "class=": [],
    }
    for text, wanted in found.items():
        page.fill("[name=search]", text)
        until(lambda wanted=wanted: positions(page) == wanted)
    page.fill("[name=search]", "country number 7")
    until(lambda: said(page) == "1 question of 31")


FILTERS = {
    "wrong": lambda e: e.correct is not None and e.correct < 0.5,
    "right": lambda e: e.correct is not None and e.correct >= 0.5,
    "confident": lambda e: e.correct is not None and e.correct < 0.5 and e.sem1 >= 0.5,
    "excluded": lambda e: e.status != "complete",
}


def test_filters_keep_what_they_say(page, views):
    for value, keep in FILTERS.items():
        page.select_option("[name=filter]", value)
        page.wait_for_timeout(60)
        assert positions(page) == [i for i, view in enumerate(views) if keep(view.estimate)], value
    page.select_option("[name=filter]", "alarm")
    page.wait_for_timeout(60)
    assert positions(page) == [30]


def test_a_slice_keeps_the_questions_of_its_value(page):
    page.select_option("[name=by]", "topic")
    page.wait_for_timeout(60)
    page.select_option("[name=slice]", "art")
    page.wait_for_timeout(60)
    assert positions(page) == [*range(0, 29, 2), 29]


ORDERS = {
    "sem1": lambda e: -e.sem1,
    "unsure": lambda e: e.sem1,
    "gap": lambda e: e.correct - e.sem1,
    "difficulty": lambda e: e.sem2 - e.sem1,
}


def test_orders_are_by_the_number_they_name_and_questions_without_it_come_last(page, views):
    for value, key in ORDERS.items():
        page.select_option("[name=sort]", value)
        page.wait_for_timeout(60)
        known = [i for i, view in enumerate(views) if view.estimate.sem1 is not None]
        assert positions(page) == [*sorted(known, key=lambda i: (round(key(views[i].estimate), 6), i)), 29], value


def test_without_a_script_all_but_the_list_of_questions_can_be_read(opened, path):
    page = opened(path, java_script_enabled=False)
    assert not page.locator(".controls").is_visible()
    assert page.locator("noscript").text_content().startswith("The list of questions needs JavaScript.")
    assert page.locator(".wrong-answers li").count() > 5
    assert page.locator("figure svg").count() == 5


def test_numbers_on_the_page_are_those_of_the_json(two, opened):
    from semece.show import tables

    pages, path = two
    rows = json.loads(tables.to_json(tables.summary_frame(each.summary for each in pages)))
    page = opened(path)
    for card, numbers in zip(page.locator(".card").all(), rows, strict=True):
        texts = [pair.text_content() for pair in card.locator("dt, dd").all()]
        shown = dict(zip(texts[::2], texts[1::2], strict=True))
        for name, column in (("Sem1-ECE", "sem1_ece"), ("Accuracy", "accuracy"), ("Held-out gap", "held_out_gap")):
            value, low, high = (numbers[f"{column}{end}"] for end in ("", "_low", "_high"))
            assert [float(x) for x in re.findall(r"-?[0-9.]+", shown[name])] == pytest.approx(
                [value, low, high], abs=0.006
            )
        assert shown["N"] == str(numbers["questions"])


def test_one_of_two_runs_is_chosen_by_its_name_and_by_an_address(two, opened):
    pages, path = two
    page = opened(path)
    page.select_option("[name=run]", "2")
    until(lambda: page.evaluate("location.hash") == "#run=2")
    page.wait_for_timeout(100)
    shown = rows(page).nth(4).locator("summary .numbers span").all_text_contents()
    e = pages[1].views[4].estimate
    assert shown == [f"{x:.2f}" for x in (e.sem1, e.sem2, e.verbalized, e.margin)]
    page.locator("#r2 .wrong-answers a").first.click()
    page.locator("ol.questions details[open] table").wait_for()
    assert page.evaluate("location.hash").startswith("#run=2&q=")
    assert page.heard == []


@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (380, "dark")])
def test_axe_finds_nothing(opened, path, two, width, scheme):
    for each in (path, two[1]):
        page = opened(each, color_scheme=scheme, viewport={"width": width, "height": 900})
        open_all(page)
        found = Axe().run(page).response["violations"]
        assert [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found] == []


def test_the_page_fits_every_window_and_breaks_no_word(opened, path, two):
    for each in (path, two[1]):
        page = opened(each)
        open_all(page)
        for width in (320, 390, 768, 1280, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (each, width)
            if each != path:  # whose hostile texts are words longer than a line
                assert page.evaluate(BROKEN) == [], width


def test_dark_and_light_differ_in_figures_too_and_print_is_dark_on_white(opened, path):
    page, colors = opened(path), set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        get = "e => getComputedStyle(e)."
        background = page.locator("body").evaluate(get + "backgroundColor")
        text = page.locator("figure svg text").first.evaluate(get + "fill")
        colors.add((background, text))
    assert len({b for b, _ in colors}) == len({t for _, t in colors}) == 2
    page.emulate_media(media="print", color_scheme="dark")
    color = page.locator("body").evaluate("e => getComputedStyle(e).color")
    assert all(int(part) < 64 for part in re.findall(r"\d+", color))


def test_print_has_what_matters_and_no_list_of_all_questions(opened, two):
    page = opened(two[1])
    page.emulate_media(media="print")
    for selector in (".controls", "ol.questions", ".contents"):
        assert not page.locator(selector).is_visible()
    for selector in (".verdict", ".card", ".wrong-answers", ".reading p"):
        assert page.locator(selector).first.is_visible(), selector
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 10


@pytest.mark.slow
def test_the_whole_of_simpleqa_is_shown_page_by_page(opened, tmp_path_factory):
    some = make_views(206, n=50, words=[f"a rather long answer with several words {i}" for i in range(30)])
    views = [
        replace(view, question=replace(view.question, id=f"{turn}-{view.question.id}"))
        for turn in range(21)
        for view in some
    ]
    path = tmp_path_factory.mktemp("all") / "r.html"
    report.write(report.render([make_page(views)]), path)
    assert path.stat().st_size < 15_000_000
    start = time.perf_counter()
    page = opened(path)
    ready = time.perf_counter() - start
    steps = {}
    for name, value, event in (
        ("sort", "gap", "change"),
        ("search", "number 17", "input"),
        ("filter", "wrong", "change"),
    ):
        steps[name] = round(page.evaluate(STEP, [name, value, event]))
    print(f"{path.stat().st_size / 1e6:.1f} MB, opened in {ready:.2f} s, {steps} ms")
    at(page, "#page=2")
    until(lambda: said(page) == "101 to 200 of 4,326 questions")
    assert positions(page) == list(range(100, 200))
    page.locator(".pages a", has_text="Next").click()
    until(lambda: said(page).startswith("201 to 300 "))
    page.go_back()
    until(lambda: said(page).startswith("101 to 200 "))
    at(page, "#q=20-q205")
    rows(page).last.locator("table").wait_for()
    assert positions(page) == list(range(4300, 4326))
    assert page.heard == []
