"""What the page says beyond reliability: where to abstain, margins, fewer answers, the theory."""

import re

import numpy as np
import pytest

from semece.runs.run import Run
from semece.show.report import build
from semece.show.report.first_screen import advice
from semece.show.report.sections import sections
from semece.show.tables.paper_tables import abstention_rows, group_of
from tests.show.test_figure_layout import questions
from tests.show.test_paper_commands import sampled
from tests.show.test_report import Reader

TITLES = ["Does the model know?", "When to abstain", "Along the margin", "With fewer answers", "Beside the theory"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with Run(sampled(tmp_path_factory.mktemp("run"), seed=1, short=(3,))) as found:
        yield found


def test_a_run_of_many_questions_has_all_sections_in_order(run):
    assert [section.title for section in sections(group_of("m", [run]))] == TITLES


@pytest.mark.parametrize(
    ("questions", "n", "expected"), [(29, 20, TITLES[:2]), (30, 7, TITLES[:3]), (30, 8, [*TITLES[:3], TITLES[4]])]
)
def test_few_questions_or_few_answers_have_few_sections(tmp_path, questions, n, expected):
    with Run(sampled(tmp_path, seed=2, questions=questions, n=n)) as run:
        assert [section.title for section in sections(group_of("m", [run]))] == expected


def test_the_threshold_is_said_with_what_it_promises_and_what_it_costs(tmp_path):
    rng = np.random.default_rng(0)
    with Run(sampled(tmp_path, seed=7, questions=150, n=10)) as run:
        group = group_of("m", [run])
    sem1 = group.pool.sem1
    certain = group._replace(pool=group.pool._replace(correct=(sem1 > rng.uniform(0.2, 0.5, 150)).astype(float)))
    section = list(sections(certain))[1]
    row = abstention_rows(certain).filter(score="sem1", target=0.9).to_dicts()[0]
    assert row["threshold"] is not None
    assert section.sentences[1] == (
        f"Answer where Sem1 is at least {row['threshold']:.2f}: at least 90 % of the answers are right: 95 % sure, if "
        f"the judge is right and future questions are like these. Here {100 * row['accuracy']:.0f} % of them are, and "
        f"{100 * row['coverage']:.0f} % of all 150 questions asked are answered."
    )
    assert row["promise"].endswith("if the judge is right and future questions are like these")
    many = abstention_rows(certain._replace(asked=600)).filter(score="sem1", target=0.9).to_dicts()[0]
    assert many["coverage"] == pytest.approx(row["coverage"] / 4)
    silent = abstention_rows(certain._replace(refused=sem1 >= 0.0))
    assert silent.height == 0
    hopeless = group._replace(pool=group.pool._replace(correct=np.zeros(150)))
    assert (
        list(sections(hopeless))[1]
        .sentences[0]
        .startswith("No threshold on Sem1 is sure to leave 80 % right answers: of")
    )


def test_fewer_answers_are_told_with_the_questions_they_are_of(run):
    section = list(sections(group_of("m", [run])))[3]
    assert re.fullmatch(
        r"With 20 answers per question the mean Sem1 is 0\.\d\d and Sem2 0\.\d\d; with 10 it would be 0\.\d\d and Sem2 "
        r"0\.\d\d\.",
        section.sentences[0],
    )
    assert section.sentences[1] == "On the 79 questions with 20 usable answers."


def test_the_page_shows_every_section_with_its_figures_and_numbers(run, tmp_path):
    text = build([run], tmp_path / "report.html").read_text(encoding="utf-8")
    page = Reader(text)
    words = " ".join(page.words).replace("\xa0", " ")
    for section in sections(group_of("m", [run])):
        assert section.title in words
        assert all(sentence in words for sentence in section.sentences)
        assert all(drawing.caption in words for drawing in section.drawings)
    assert text.count("<svg") == 1 + 4 + 2 + 1 + 2 + 2 + 1
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_a_run_without_a_complete_question_has_no_section(tmp_path):
    path = sampled(tmp_path, seed=3, questions=2, n=1)
    with Run(path) as run:
        text = build([run], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "When to abstain" not in text


@pytest.mark.parametrize(("right", "promises_less"), [(0.2, 0), (0.88, 1)])
def test_a_lower_target_is_named_only_where_it_has_a_threshold(right, promises_less):
    group = questions("d", "m", 3, number=400, spread=0.01)
    correct = np.where(np.arange(400) < 400 * right, 1.0, 0.0)
    told = group._replace(pool=group.pool._replace(correct=correct))
    summary = {"model_claim": "over-confident", "model_questions": 400}
    said = " ".join(advice(summary, told, (400, 400)))
    assert said.count("No threshold on Sem1 is sure to leave 90 %") == 1
    assert said.count("promises less") == promises_less
