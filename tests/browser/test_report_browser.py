"""The report in a real browser: it fetches nothing, can be searched and sorted, is accessible, and stays quick."""

import json
import re
import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright
from tests.show.test_report import HOSTILE, hostile_view
from tests.synthetic import make_page, make_views

from semece.show import report

pytestmark = pytest.mark.browser

QUIET = ("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
ARGUMENTS = ["--no-sandbox", *QUIET, "--disable-component-update", "--disable-sync"]


STEP = """([name, value, event]) => {
    const start = performance.now(), element = document.querySelector(`[name=${name}]`);
    element.value = value;
    element.dispatchEvent(new Event(event));
    document.body.offsetHeight;
    return performance.now() - start;
}"""


@pytest.fixture(scope="module")
def browser(chromium):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def views():
    failing = hostile_view()
    return [*make_views(30), failing]


@pytest.fixture(scope="module")
def path(views, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    return report.write(report.render([make_page(views)]), path)


@pytest.fixture
def open_page(browser):
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
        return page

    yield opened
    for context in contexts:
        context.close()


def rows(page):
    return page.locator(".questions > li:visible")


def open_all(page):
    """Open everything outside the list, and the last rows of it."""
    for summary in [*page.locator("summary").all()][:4] + [*page.locator(".questions summary").all()][-4:]:
        summary.click()
    rows(page).last.locator("table").wait_for()


def test_hostile_text_runs_nothing_and_nothing_is_fetched(open_page, path, views):
    page = open_page(path)
    open_all(page)
    assert page.heard == []
    assert page.locator("img, iframe").count() == 0
    last = rows(page).nth(len(views) - 1)
    shown = HOSTILE.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
    assert last.locator("summary bdi").first.text_content() == shown
    assert last.locator("td bdi").first.text_content() == shown


def test_a_row_opens_to_its_classes_counts_and_grades(open_page, path, views):
    page = open_page(path)
    row = rows(page).nth(3)
    assert row.locator("td").count() == 0
    row.locator("summary").click()
    row.locator("table").wait_for()
    view = views[3]
    shown = [cell.text_content() for cell in row.locator("tbody td.number").all()]
    counts = sorted((view.partition.labels.count(label) for label in view.grades), reverse=True)
    assert [int(text) for text in shown] == counts
    assert row.locator("tbody tr").first.locator("td").last.text_content() in {"correct", "wrong"}


def test_a_row_opens_by_keyboard(open_page, path):
    page = open_page(path)
    page.locator(".questions summary").first.focus()
    page.keyboard.press("Enter")
    rows(page).first.locator("table").wait_for()


def test_search_finds_questions_and_answers_but_no_markup(open_page, path, views):
    page = open_page(path)
    page.fill("[name=search]", "country number 7")
    assert [r.locator("summary bdi").first.text_content() for r in rows(page).all()] == [views[7].question.text]
    assert page.locator(".shown").text_content() == "1 of 31 questions shown"
    page.fill("[name=search]", "kyiv")
    assert rows(page).count() == sum("Kyiv" in view.partition.representatives for view in views)
    page.fill("[name=search]", "class=")
    assert rows(page).count() == 0
    page.fill("[name=search]", "")
    assert rows(page).count() == 31


@pytest.mark.parametrize(
    ("value", "keep"),
    [
        ("wrong", lambda e: e.correct < 0.5),
        ("right", lambda e: e.correct >= 0.5),
        ("confident", lambda e: e.correct < 0.5 and e.sem1 >= 0.5),
        ("excluded", lambda e: e.status != "complete"),
    ],
)
def test_filters_keep_what_they_say(open_page, path, views, value, keep):
    page = open_page(path)
    page.select_option("[name=filter]", value)
    wanted = [i for i, view in enumerate(views) if keep(view.estimate)]
    assert [int(r.get_attribute("data-position")) for r in rows(page).all()] == wanted


def test_the_alarm_filter_keeps_the_alarmed(open_page, path):
    page = open_page(path)
    page.select_option("[name=filter]", "alarm")
    assert [r.get_attribute("data-position") for r in rows(page).all()] == ["30"]


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("sem1", lambda e: -e.sem1),
        ("unsure", lambda e: e.sem1),
        ("gap", lambda e: e.correct - e.sem1),
        ("difficulty", lambda e: e.sem2 - e.sem1),
    ],
)
def test_orders_are_by_the_number_they_name(open_page, path, views, value, key):
    page = open_page(path)
    page.select_option("[name=sort]", value)
    shown = [int(r.get_attribute("data-position")) for r in rows(page).all()]
    assert shown == sorted(range(len(views)), key=lambda i: (float(f"{key(views[i].estimate):.4g}"), i))
    page.select_option("[name=sort]", "position")
    assert [int(r.get_attribute("data-position")) for r in rows(page).all()] == list(range(len(views)))


def test_questions_without_a_number_come_last_in_every_order(open_page, tmp_path):
    from dataclasses import replace

    from semece.records import Estimate

    views = make_views(5)
    views[0] = replace(views[0], estimate=Estimate("q0", "incomplete", 3, 0), partition=None)
    page = open_page(report.write(report.render([make_page(views)]), tmp_path / "r.html"))
    for value in ("sem1", "unsure", "gap", "difficulty"):
        page.select_option("[name=sort]", value)
        assert rows(page).last.get_attribute("data-position") == "0"
    page.select_option("[name=filter]", "excluded")
    assert rows(page).count() == 1


def test_everything_can_be_read_without_a_script(open_page, path, views):
    page = open_page(path, java_script_enabled=False)
    assert not page.locator(".controls").is_visible()
    page.locator(".questions summary").nth(2).click()
    row = rows(page).nth(2)
    assert row.locator("tbody tr").count() == len(views[2].grades)
    assert row.locator("table").is_visible()


def test_numbers_on_the_page_are_those_of_the_json(open_page, path, views):
    from semece.show import tables

    numbers = json.loads(tables.to_json(tables.summary_frame([make_page(views).summary])))[0]
    page = open_page(path)
    cell = page.locator("tr", has=page.locator("th", has_text=re.compile("^Sem1-ECE$"))).locator("td")
    low, high = numbers["sem1_ece_low"], numbers["sem1_ece_high"]
    assert cell.text_content() == f"{numbers['sem1_ece']:.2f} [{low:.2f}, {high:.2f}]"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 380])
def test_axe_finds_nothing(open_page, path, scheme, width):
    page = open_page(path, color_scheme=scheme, viewport={"width": width, "height": 900})
    open_all(page)
    found = Axe().run(page).response["violations"]
    assert [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found] == []


@pytest.mark.parametrize("width", [1100, 380, 320])
def test_the_page_is_never_wider_than_the_window(open_page, path, width):
    page = open_page(path, viewport={"width": width, "height": 900})
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1100, 400])
def test_the_numbers_of_two_runs_are_seen_without_scrolling_sideways(open_page, tmp_path, width):
    names = ("starter · openai-api/service/a-model-of-a-rather-long-name", "starter · fake/?pmf=.7,.2,.1&confidence=.9")
    pages = [make_page(make_views(30, seed=place), name=name) for place, name in enumerate(names)]
    page = open_page(report.write(report.render(pages), tmp_path / "r.html"), viewport={"width": width, "height": 900})
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    wide = "all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.getAttribute('aria-label'))"
    assert page.locator(".scroll:visible").evaluate_all(wide) == []
    lines = [line.locator("th, td").all_text_contents() for line in page.locator("h2 + .scroll tr").all()]
    assert lines[0] == ["Run", *names]
    for one, place in zip(pages, (1, 2), strict=True):
        shown = {line[0]: line[place] for line in lines}
        assert shown["Sem1-ECE"].startswith(f"{one.summary['sem1_ece']:.2f} [")


def test_dark_and_light_differ_in_figures_too(open_page, path):
    colors = set()
    for scheme in ("light", "dark"):
        page = open_page(path, color_scheme=scheme)
        get = "e => getComputedStyle(e)."
        background = page.locator("body").evaluate(get + "backgroundColor")
        text = page.locator("figure svg text").first.evaluate(get + "fill")
        colors.add((background, text))
    assert len({b for b, _ in colors}) == len({t for _, t in colors}) == 2


def test_print_shows_all_rows_and_no_controls(open_page, path, views):
    page = open_page(path)
    page.emulate_media(media="print")
    assert not page.locator(".controls").is_visible()
    assert rows(page).count() == len(views)
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_print_is_dark_on_white_even_from_a_dark_screen(open_page, path):
    page = open_page(path, color_scheme="dark")
    page.emulate_media(media="print")
    color = page.locator("body").evaluate("e => getComputedStyle(e).color")
    assert all(int(part) < 64 for part in re.findall(r"\d+", color))


@pytest.mark.slow
def test_the_whole_of_simpleqa_can_be_used_within_two_seconds(open_page, tmp_path):
    views = make_views(206, n=50, words=[f"a rather long answer with several words {i}" for i in range(30)]) * 21
    path = report.write(report.render([make_page(views)]), tmp_path / "r.html")
    start = time.perf_counter()
    page = open_page(path)
    opened = time.perf_counter() - start
    steps = {}
    for name, value, event in (("sort", "gap", "change"), ("filter", "confident", "change"), ("search", "w", "input")):
        steps[name] = page.evaluate(STEP, [name, value, event])
    print(f"{path.stat().st_size / 1e6:.1f} MB, opened in {opened:.2f} s, {steps} ms")
    assert page.locator(".questions > li").count() == 4326
    assert page.locator(".shown").text_content().endswith("of 4,326 questions shown")
