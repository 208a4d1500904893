"""The report: everything is said, nothing from outside is markup, and the page stays small."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from semece.errors import SemeceError
from semece.records import Alarm, Estimate, Partition, Question, Response
from semece.runs import Names, QuestionView, graded_classes
from semece.show import report, tables
from semece.show.report.entries import DETAILS, Detail, make_entries, make_entry
from tests.synthetic import make_page, make_views, plain, with_estimate

HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)></noscript></details>&amp;\ud800\x00 {{ 7*7 }}\u202e"
)


class Reader(HTMLParser):
    """Lists elements with their attributes, and text with the element it lies in."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


def text_of(page):
    return " ".join(" ".join(Reader(page).words).split())


def hostile_view():
    """A question, its reference, its answers and its alarm, all of them attacks."""
    question = Question(HOSTILE, HOSTILE, (HOSTILE, "x"))
    answers = [HOSTILE, HOSTILE.lower(), "plain"]
    responses = tuple(Response(HOSTILE, i, a, a, None, "parsed") for i, a in enumerate(answers))
    partition = Partition(HOSTILE, (0, 0, 1), (HOSTILE, "plain"), "rules/1")
    grades, alarms = {0: "incorrect", 1: "correct"}, (Alarm("instruction", HOSTILE),)
    estimate = Estimate(HOSTILE, "x", 0, 0)
    return with_estimate(QuestionView(question, responses, partition, grades, estimate, alarms))


@pytest.fixture(scope="module")
def views():
    return make_views(12)


@pytest.fixture(scope="module")
def html(views):
    facts = {"Model": "local/smollm2"}
    return report.render([make_page(views, facts=facts, events=("temperature was dropped",))])


@pytest.fixture(scope="module")
def hostile(views):
    return report.render([make_page([hostile_view(), *views])])


def test_what_the_numbers_mean_comes_first_in_the_words_of_the_summary(views, html):
    said = tables.says(make_page(views).summary)
    text = text_of(html)
    places = [text.index(said[name]) for name in ("model", "confidences", "regime")]
    assert places == sorted(places)
    assert places[-1] < text.index("Accuracy")


def test_the_table_on_the_page_is_the_headline(views, html):
    from semece.runs.renderers import cells

    head, rows = cells(tables.headline(tables.summary_frame([make_page(views).summary])))
    text = text_of(html)
    for name, value in zip(head, rows[0], strict=True):
        assert f"{name} {value}" in text
    assert tables.NOTE in text


def test_every_question_shows_its_numbers_classes_counts_and_grades(views, html):
    rows = re.findall(r"<li data-position.*?</li>", html, flags=re.DOTALL)
    assert len(rows) == len(views)
    for view, row in zip(views, rows, strict=True):
        text = text_of(row)
        e = view.estimate
        shown = re.search(r"(\S+) (\S+) (\S+) (\S+) Reference:", text).groups()
        assert shown == tuple(f"{x:.2f}" for x in (e.sem1, e.sem2, e.verbalized, e.margin))
        assert view.question.text in text
        assert f"{e.n_responses} usable answers in {e.n_classes} classes" in text
        for label, verdict in view.grades.items():
            form, count = view.partition.representatives[label], view.partition.labels.count(label)
            word = "correct" if verdict == "correct" else "wrong"
            assert re.search(rf"\b{count} {form} (also \d+ × \w+ )?{word}\b", text)


def test_the_largest_class_stands_first_and_ties_go_to_the_earlier(views):
    for view in views:
        entry = make_entry(view)
        counts = [c.count for c in entry.classes]
        assert counts == sorted(counts, reverse=True)
        labels = [view.partition.representatives.index(c.form) for c in entry.classes]
        tied = [(a, b) for a, b, m, n in zip(labels, labels[1:], counts, counts[1:], strict=False) if m == n]
        assert all(a < b for a, b in tied)


def test_the_outcome_is_that_of_the_deployed_answer(views):
    words = {1.0: "right", 0.0: "wrong"}
    for view in views:
        entry = make_entry(view)
        assert entry.outcome == words.get(view.estimate.correct, "tied")
        assert entry.gap == view.estimate.sem1 - view.estimate.correct
        assert entry.difficulty == view.estimate.sem1 - view.estimate.sem2


@pytest.mark.parametrize(
    ("status", "word"),
    [("incomplete", "incomplete"), ("too_few", "with too few usable answers"), ("ungraded", "ungraded")],
)
def test_an_excluded_question_says_why(views, status, word):
    view = replace(views[0], estimate=Estimate("q0", status, 1, 1), partition=None, responses=(), grades={})
    page = make_page([view, *views[1:]], complete=(11, 12))
    text = text_of(report.render([page]))
    assert f"Excluded 1 {word}" in text
    assert "11 of 12 questions complete" in text
    assert "Whatever their grades, accuracy lies in" in text
    assert re.search(rf"{word} What is the capital of country number 0\? — — — —", text)


def test_failed_responses_are_counted_on_the_page_and_at_the_question(views):
    failed = Response("q0", 20, "", "", None, "truncated")
    page = make_page([replace(views[0], responses=(*views[0].responses, failed)), *views[1:]], counts={"missing": 3})
    text = text_of(report.render([page]))
    assert "Not usable 1 cut off, 3 missing" in text
    assert "margin 0.00 · 1 cut off" in text or re.search(r"margin \d\.\d\d · 1 cut off", text)


def test_events_and_facts_are_told(html):
    text = text_of(html)
    assert "Noticed temperature was dropped" in text
    assert "Model local/smollm2" in text
    assert "Answers 20 asked of each question, 240 in all" in text


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        (("rules", "rules"), "grouped and graded by rules"),
        (("openai/x", "rules"), "were graded by rules"),
        (("rules", "given"), "were grouped by rules"),
    ],
)
def test_work_done_by_rules_is_said_to_be(views, judges, words):
    assert words in text_of(report.render([make_page(views, judges=judges)]))


def test_other_judges_carry_no_such_note(views):
    assert "by rules" not in text_of(report.render([make_page(views, judges=("openai/x", "openai/x"))]))


def test_nothing_from_outside_becomes_markup(views):
    page = make_page(
        [hostile_view(), *views],
        name=plain(HOSTILE),
        judges=(plain(HOSTILE), plain(HOSTILE)),
        facts={"Model": HOSTILE},
        events=(HOSTILE,),
    )
    text = report.render([page, page])
    reader = Reader(text)
    assert [tag for tag, _ in reader.tags].count("script") == 1
    assert not [tag for tag, _ in reader.tags if tag in {"img", "iframe", "object", "link", "base"}]
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]
    assert text.count("<script") == text.count("</script") == 1


def test_hostile_text_is_still_shown_as_it_is(hostile):
    text = text_of(hostile)
    assert "<script>alert(1)</script>\"'><img src=x onerror=alert(2)></noscript></details>&amp;" in text
    assert "{{ 7*7 }}" in text


def test_what_cannot_be_encoded_is_replaced(hostile, tmp_path):
    path = report.write(hostile, tmp_path / "r.html")
    data = path.read_bytes().decode("utf-8")
    assert "\x00" not in data
    assert "&amp;amp;\ufffd\ufffd" in data


def test_text_that_turns_around_stays_in_its_place(hostile):
    row = re.search(r"<li data-position.*?</li>", hostile, re.DOTALL).group()
    pieces = row.split("\u202e")
    assert len(pieces) > 5
    assert all(piece.rfind("<bdi>") > piece.rfind("</bdi>") for piece in pieces[:-1])


def test_the_page_fetches_nothing(html):
    reader = Reader(html)
    addresses = [
        v for _, attrs in reader.tags for k, v in attrs.items() if k in {"src", "href", "xlink:href", "action"}
    ]
    assert all(address.startswith("#") for address in addresses)
    assert "url(http" not in html
    assert "@import" not in html


def test_the_policy_allows_our_script_alone(html):
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(attrs for _, attrs in Reader(html).tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_ids_are_unique_and_every_reference_has_its_target(views):
    html = report.render([make_page(views), make_page(views)])
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"|aria-labelledby="([^"]*)"', html)
    assert {a or b or c for a, b, c in targets} <= set(ids)


def test_figures_use_the_pages_colours_and_have_names(html):
    svgs = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(svgs) == 3
    for svg, name in zip(svgs, ("sem1", "sem2", "verbalized"), strict=True):
        assert f"var(--{name})" in svg
        assert 'role="img" aria-label="Reliability diagram.' in svg
        assert set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= {"#000000", "#ffffff"}


def test_an_estimator_without_numbers_has_no_figure(views):
    silent = [replace(view, estimate=replace(view.estimate, verbalized=None)) for view in views]
    html = report.render([make_page(silent)])
    assert html.count("<svg") == 2
    assert re.search(r"Ver-ECE —", text_of(html))


def test_the_numbers_of_a_figure_are_the_reliability_table(views, html):
    from semece.stats.calibration.binned_errors import reliability_table

    estimates = make_page(views).estimates
    table = reliability_table(estimates["sem1"].to_numpy(), estimates["correct"].to_numpy())
    text = text_of(html)
    for i in range(10):
        if table.count[i]:
            wanted = f"{i / 10:.1f} to {(i + 1) / 10:.1f} {table.count[i]} {table.confidence[i]:.2f}"
            assert wanted in text


def test_a_page_of_no_complete_question_can_be_read(views):
    empty = [replace(v, estimate=Estimate(v.question.id, "incomplete", 0, 0), partition=None) for v in views]
    text = text_of(report.render([make_page(empty, complete=(0, 12))]))
    assert "Nothing can be said: no question enters (12 incomplete)." in text


def test_several_runs_stand_in_one_table_and_in_sections(views):
    html = report.render([make_page(views, name="first"), make_page(make_views(5, seed=3), name="second")])
    text = text_of(html)
    assert "2 runs" in text
    assert html.count('class="explorer"') == 2
    assert text.index("first . ") < text.index("second . ") < text.index("Run first second")


def test_no_run_is_refused():
    with pytest.raises(ValueError, match="a report needs at least one run; got none"):
        report.render([])


def test_detail_is_left_out_to_keep_the_page_small():
    words = [f"an answer {'that goes on ' * 20}{i}" for i in range(40)]
    views = make_views(40, n=50, words=words)
    full = make_entries(views, largest=10**9)
    assert full == [make_entry(view, detail=DETAILS[0]) for view in views]
    tight = make_entries(views, largest=sum(e.size for e in full) // 3)
    assert sum(e.size for e in tight) <= sum(e.size for e in full) // 3
    for entry in tight:
        hidden, answers = entry.hidden
        assert sum(c.count for c in entry.classes) + answers == 50
        assert len(entry.classes) + hidden == entry.view.estimate.n_classes


def test_the_size_of_an_entry_is_about_its_size_on_the_page():
    for views in (
        make_views(60, n=50, words=[f"word {i}" for i in range(30)]),
        make_views(60, words=["日本" * 40, "<&>" * 20]),
    ):
        html = report.render([make_page(views)])
        real = sum(len(row.encode()) for row in re.findall(r"<li data-position.*?</li>", html, flags=re.DOTALL))
        assert 0.8 < sum(e.size for e in make_entries(views, largest=10**9)) / real < 1.25


def test_hidden_classes_and_spellings_are_counted(views, html):
    entry = make_entry(views[0], detail=Detail(classes=1, forms=1))
    assert entry.hidden == (views[0].estimate.n_classes - 1, 20 - entry.classes[0].count)
    text = text_of(html)
    assert "smaller classes" not in text


@pytest.mark.slow
def test_the_whole_of_simpleqa_stays_under_fifteen_megabytes():
    views = make_views(206, n=50, words=[f"a rather long answer with several words {i}" for i in range(30)]) * 21
    assert len(views) == 4326
    assert len(report.render([make_page(views)]).encode()) < 15_000_000


def test_a_report_is_overwritten_and_another_file_is_not(html, tmp_path):
    path = tmp_path / "report.html"
    report.write(html, path)
    report.write(html, path)
    assert path.read_text(encoding="utf-8") == html
    path.write_text("<p>my own page</p>")
    with pytest.raises(SemeceError, match="is there and is not a report of semece; name another file with -o"):
        report.write(html, path)
    assert path.read_text() == "<p>my own page</p>"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(SemeceError, match=r"cannot write .*: No such file or directory"):
        report.write("x", tmp_path / "nowhere" / "report.html")
    with pytest.raises(SemeceError, match="is not a report"):
        report.write("x", tmp_path)


def test_a_page_that_cannot_take_its_place_leaves_nothing(tmp_path, monkeypatch):
    def refuse(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(SemeceError, match=r"cannot write .*report.html: Permission denied"):
        report.write("x", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_build_asks_a_run_and_refuses_before_it_works(views, tmp_path):
    page = make_page(views)

    class Fake:
        name, judge_names, n, counts = "a", ("rules", "rules"), 20, {"missing": 0}
        model, dataset, spent, events, complete = "m", "d", (None, 12, 3), (), (12, 12)
        names, path = Names("d", "m"), "m.db"
        given, tokens, recalibration_effects, correction = {}, {}, (), None

        def estimates(self):
            return page.estimates

        def question_views(self):
            return tuple(views)

        def classes(self):
            return graded_classes(views)

    path = report.build([Fake()], tmp_path / "r.html")
    assert "Cost price unknown; 12 tokens in, 3 out" in text_of(path.read_text(encoding="utf-8"))
    (tmp_path / "foreign.html").write_text("mine")

    class Never:
        def estimates(self):
            raise AssertionError("must not be asked")

    with pytest.raises(SemeceError, match="is not a report"):
        report.build([Never()], tmp_path / "foreign.html")


def test_the_page_shows_the_numbers_that_json_gives(views, html):
    numbers = json.loads(tables.to_json(tables.summary_frame([make_page(views).summary])))[0]
    wanted = f"Sem2-ECE {numbers['sem2_ece']:.2f} [{numbers['sem2_ece_low']:.2f}, {numbers['sem2_ece_high']:.2f}]"
    assert wanted in text_of(html)
