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
from semece.show.report.entries import (
    DETAILS,
    Detail,
    answer_of,
    detail_for,
    index_of,
    inside_of,
    metadata_columns,
    outcome_of,
    pack,
    pack_questions,
    unpack,
)
from semece.show.report.first_screen import slices_section, surest_wrong
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
    visible = re.sub(r"<wbr>|<script.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(" ".join(Reader(visible).words).split())


def packed_of(page, number=1):
    """What a page carries of a run's questions: the columns, and what opened rows show."""
    index = re.search(rf'id="index-{number}">([^<]*)<', page).group(1)
    blocks = re.findall(rf'id="block-{number}-[0-9]+">([^<]*)<', page)
    return unpack(index), [row for block in blocks for row in unpack(block)]


def hostile_view():
    """A question, its reference, its answers and its alarm, all of them attacks."""
    question = Question(HOSTILE, HOSTILE, (HOSTILE, "x"))
    answers = [HOSTILE, HOSTILE.lower(), "plain"]
    responses = tuple(Response(HOSTILE, i, a, a, None, "parsed") for i, a in enumerate(answers))
    partition = Partition(HOSTILE, (0, 0, 1), (HOSTILE, "plain"), "rules/1")
    grades, alarms = {0: "incorrect", 1: "correct"}, (Alarm("instruction", HOSTILE),)
    estimate = Estimate(HOSTILE, "incomplete", 0, 0)
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
    places = [text.index(said["verdict"]), text.index("Accuracy")]
    places += [text.index(said[name]) for name in ("model", "confidences", "regime")]
    assert places == sorted(places)


def test_the_table_on_the_page_is_the_headline(views, html):
    from semece.runs.renderers import cells

    head, rows = cells(tables.headline(tables.summary_frame([make_page(views).summary])))
    text = text_of(html)
    for name, value in zip(head, rows[0], strict=True):
        assert f"{name} {value}" in text
    assert tables.NOTE in text


def test_every_question_is_carried_with_its_numbers_classes_counts_grades_and_answers(views, html):
    index, rows = packed_of(html)
    assert index["id"] == [view.question.id for view in views]
    assert index["text"] == [view.question.text for view in views]
    for i, (view, row) in enumerate(zip(views, rows, strict=True)):
        e = view.estimate
        for name in ("sem1", "sem2", "verbalized", "margin"):
            assert index["texts"][name][i] == f"{getattr(e, name):.2f}"
            assert index[name][i] == pytest.approx(getattr(e, name), abs=1e-6)
        assert row["said"] == [f"{e.n_responses} usable answers in {e.n_classes} classes"]
        answers = [response.answer for response in view.responses]
        assert sorted((text, count) for c in row["classes"] for text, count, *_ in c[4]) == sorted(
            (answer, answers.count(answer)) for answer in set(answers)
        )
        words = {"correct": "correct", "incorrect": "wrong"}
        assert {c[0]: (c[1], c[3]) for c in row["classes"]} == {
            view.partition.representatives[k]: (view.partition.labels.count(k), words[verdict])
            for k, verdict in view.grades.items()
        }


def test_an_answer_has_its_stated_confidences_and_its_replies(views):
    view = views[0]
    same = [r for r in view.responses if r.answer == view.responses[0].answer]
    told = {text: rest for c in inside_of(view, Detail())["classes"] for text, *rest in c[4]}
    count, stated, replies, more = told[same[0].answer]
    assert count == len(same)
    wanted = sorted(f"{r.confidence:.2f}" for r in same if r.confidence is not None)
    found = [re.fullmatch(r"(?:(\d+)\s×\s)?(\d\.\d\d)", part).groups() for part in stated.split(", ")]
    assert sorted(value for times, value in found for _ in range(int(times or 1))) == wanted
    assert (replies, more) == ([f"Answer: {same[0].answer}"], 0)
    assert all(c[4][0][3] == [] for c in inside_of(view, Detail(replies=0))["classes"])


def test_the_largest_class_stands_first_and_ties_go_to_the_earlier(views):
    for view in views:
        classes = inside_of(view, Detail())["classes"]
        counts = [c[1] for c in classes]
        assert counts == sorted(counts, reverse=True)
        labels = [view.partition.representatives.index(c[0]) for c in classes]
        tied = [(a, b) for a, b, m, n in zip(labels, labels[1:], counts, counts[1:], strict=False) if m == n]
        assert all(a < b for a, b in tied)
        assert answer_of(view) == classes[0][0]


def test_the_outcome_is_that_of_the_answer_that_a_user_sees(views):
    words = {1.0: "right", 0.0: "wrong"}
    for view in views:
        assert outcome_of(view) == words.get(view.estimate.correct, "tied")


def test_the_surest_wrong_answers_are_listed_surest_first(views, html):
    wrong = [view for view in views if view.estimate.correct == 0]
    assert wrong
    found = surest_wrong(views, most=3)
    assert [v.estimate.sem1 for v in found] == sorted((v.estimate.sem1 for v in wrong), reverse=True)[:3]
    refused = [replace(v, estimate=replace(v.estimate, refused=True)) for v in views]
    assert surest_wrong(refused, most=3) == []
    part = html[html.index("Surest wrong answers</h3>") :]
    links = re.findall(r'<a href="#q=([^"]*)">', part)
    assert links == [v.question.id for v in surest_wrong(views, most=20)]
    assert f"Sem1 {found[0].estimate.sem1:.2f}" in text_of(part)


def test_slices_are_of_columns_with_a_few_values_and_hold_every_complete_question(views):
    metadata = [{"topic": "ab"[i % 2], "url": f"u{i}", "one": "x", "metadata": {"year": i % 3}} for i in range(12)]
    sliced = [
        replace(v, question=replace(v.question, metadata=m), estimate=replace(v.estimate, correct=float(i < 6)))
        for i, (v, m) in enumerate(zip(views, metadata, strict=True))
    ]
    columns = metadata_columns([*sliced, views[0]])
    assert {name: sorted(set(values)) for name, values in columns.items()} == {
        "year": ["(none)", "0", "1", "2"],
        "topic": ["(none)", "a", "b"],
        "one": ["(none)", "x"],
    }
    table = slices_section(sliced, {"topic": [m["topic"] for m in metadata]}).table
    assert table["questions"].to_list() == [6, 6]
    assert table["accuracy"].to_list() == [0.5, 0.5]
    mean = sum(v.estimate.sem1 for v in sliced[::2]) / 6
    assert table["sem1_gap"][0] == pytest.approx(mean - 0.5)
    assert slices_section(sliced, {}) is None
    index = index_of(sliced)["slices"]["topic"]
    assert [index["values"][place] for place in index["of"]] == [m["topic"] for m in metadata]
    assert ["topic", "a"] in inside_of(sliced[0], Detail())["metadata"]


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
    index, _ = packed_of(report.render([page]))
    assert (index["outcome"][0], index["excluded"][0]) == (word, 1)
    assert [index["texts"][name][0] for name in ("sem1", "sem2", "verbalized", "margin")] == ["—"] * 4


def test_failed_responses_are_counted_on_the_page_and_at_the_question(views):
    failed = Response("q0", 20, "", "", None, "truncated")
    page = make_page([replace(views[0], responses=(*views[0].responses, failed)), *views[1:]], counts={"missing": 3})
    text = text_of(report.render([page]))
    assert "Not usable 1 cut off, 3 missing" in text
    assert packed_of(report.render([page]))[1][0]["said"][1] == "1 cut off"


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
    scripts = [attributes.get("type") for tag, attributes in reader.tags if tag == "script"]
    assert [kind for kind in scripts if kind != "text/plain"] == [None]
    assert not [tag for tag, _ in reader.tags if tag in {"img", "iframe", "object", "link", "base"}]
    assert not [name for _, attrs in reader.tags for name in attrs if name.startswith("on")]
    assert text.count("<script") == text.count("</script") == len(scripts)


def test_hostile_text_is_still_carried_as_it_is(hostile):
    index, rows = packed_of(hostile)
    assert index["text"][0] == HOSTILE.replace("\ud800", "\ufffd").replace("\x00", "\ufffd")
    assert rows[0]["classes"][0][0] == index["text"][0]
    assert "<script>alert(1)</script>\"'><img src=x onerror=alert(2)></noscript></details>&amp;" in text_of(hostile)


def test_what_cannot_be_encoded_is_replaced(hostile, tmp_path):
    path = report.write(hostile, tmp_path / "r.html")
    data = path.read_bytes().decode("utf-8")
    assert "\x00" not in data
    assert "&amp;amp;\ufffd\ufffd" in data


def test_text_that_turns_around_stays_in_its_place(hostile):
    pieces = hostile.split("\u202e")
    assert len(pieces) > 3
    assert all(piece.rfind("<bdi>") > piece.rfind("</bdi>") for piece in pieces[:-1])


def test_the_page_fetches_nothing(html):
    reader = Reader(html)
    addresses = [
        v for _, attrs in reader.tags for k, v in attrs.items() if k in {"src", "href", "xlink:href", "action"}
    ]
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    assert "url(http" not in html
    assert "@import" not in html


def test_the_policy_allows_our_script_alone(html):
    script = re.search(r"<script>(.*?)</script>", html, re.DOTALL).group(1)
    assert html.count("<script>") == 1
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(attrs for _, attrs in Reader(html).tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy["content"] == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_ids_are_unique_and_every_reference_has_its_target(views):
    html = report.render([make_page(views), make_page(views)])
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(ids) == len(set(ids))
    targets = re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"|aria-labelledby="([^"]*)"', html)
    assert {a or b or c for a, b, c in targets if "=" not in b} <= set(ids)


def test_figures_use_the_pages_colours_and_have_names(html):
    svgs = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(svgs) == 5
    assert all(set(re.findall(r"#[0-9a-f]{6}\b", svg)) <= {"#000000", "#ffffff"} for svg in svgs)
    for svg, name in zip(svgs[1:4], ("sem1", "sem2", "verbalized"), strict=True):
        assert f"var(--{name})" in svg
        assert 'role="img" aria-label="Reliability diagram.' in svg


def test_an_estimator_without_numbers_has_no_figure(views):
    silent = [replace(view, estimate=replace(view.estimate, verbalized=None)) for view in views]
    html = report.render([make_page(silent)])
    assert html.count("<svg") == 4
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


def test_several_runs_are_pictures_then_cards_then_sections(views):
    html = report.render([make_page(views, name="first"), make_page(make_views(5, seed=3), name="second")])
    text = text_of(html)
    assert text.startswith("2 runs To the content")
    assert html.count('class="card"') == 2
    assert html.index("Of 2 runs, ") < html.index("How much surer") < html.index('class="card"') < html.index('id="r1"')
    assert len(packed_of(html, 2)[0]["id"]) == 5


def test_what_is_noted_of_all_runs_is_said_once_and_of_some_with_their_names(views):
    rules, partial = make_page(views, name="first"), make_page(views, name="second", complete=(11, 12))
    text = text_of(report.render([rules, partial]))
    assert text.count("grouped and graded by rules") == 1
    assert "second : 11 of 12 questions complete" in text


def test_no_run_is_refused():
    with pytest.raises(ValueError, match="a report needs at least one run; got none"):
        report.render([])


def test_detail_is_left_out_to_keep_the_page_small():
    words = [f"an answer {'that goes on ' * 20}{i}" for i in range(40)]
    views = make_views(40, n=50, words=words)
    full = len(pack([inside_of(view, DETAILS[0]) for view in views]))
    assert detail_for(views, full) == DETAILS[0]
    assert detail_for(views, full // 2) != DETAILS[0]
    assert detail_for(views, 0) == DETAILS[-1]
    packed = pack_questions(views, room=0)
    for row, view in zip(unpack(packed.blocks[0]), views, strict=True):
        assert sum(len(c[4]) for c in row["classes"]) == min(
            DETAILS[-1].answers, len({r.answer for r in view.responses})
        )
        assert sum(c[1] for c in row["classes"]) == 50
        assert sum(len(c[4]) + c[5] for c in row["classes"]) == len({r.answer for r in view.responses})


def test_a_long_reply_is_cut_at_300_characters():
    view = make_views(1)[0]
    long = replace(view, responses=tuple(replace(r, text="word " * 200) for r in view.responses))
    replies = [reply for c in inside_of(long, Detail())["classes"] for a in c[4] for reply in a[3]]
    assert replies
    assert all(len(reply) == 300 and reply.endswith("…") for reply in replies)


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
    with pytest.raises(SemeceError, match="Is a directory"):
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
        def forget(self):
            pass

        name, judge_names, n, counts = "a", ("rules", "rules"), 20, {"missing": 0}
        model, dataset, spent, events, complete = "m", "d", (None, 12, 3), (), (12, 12)
        names, path = Names("d", "m"), "m.db"
        given, tokens, recalibration_effects, correction, laid_out, recalibration = {}, {}, (), None, None, None

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
