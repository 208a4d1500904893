"""People audit a judge: blinded sheets, however they come back, and what they say of judge and numbers."""

import codecs
import csv
import json
import random
import re
import sys
import zipfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.compare.audit import (
    COLUMNS,
    AuditDesign,
    Sheet,
    deployed_answers,
    draw,
    export_sheets,
    labelled_rows,
    read_sheet,
    score_sheets,
)
from semece.compare.audit.audit_tables import AuditedAnswer, numbers_table
from semece.compare.audit.draws import allocate, share_out
from semece.compare.audit.row_codes import Key
from semece.compare.audit.sheet_scores import kept_audit
from semece.compare.audit.sheets import csv_bytes
from semece.compare.judge_eval import Evaluation, verdict_rows
from semece.compare.labelled_files import Labelled, read_labelled
from semece.errors import ParseError, SemeceError
from semece.runs.corrections import Correction
from semece.runs.run import Run
from semece.runs.scored_samples import score as score_samples
from semece.show.tables.judge_tables import GRADING, grading_table
from semece.stats.correction import corrected_accuracy
from semece.stats.uncertainty.intervals import accuracy_interval, ece_interval

ENDS = ("", "_low", "_high")
NUMBERS = ["accuracy", "held_out_gap", "semx_ece", "sem1_ece", "sem2_ece", "ver_ece"]


def question(name, counts, *, judge, answers=None, stated=0.7):
    """A question whose classes were given so often, in this order; the first is called correct if the judge says so."""
    labels = [label for label, count in enumerate(counts) for _ in range(count)]
    answers = answers or [f"{name} answer {label}" for label in range(len(counts))]
    return {
        "id": name,
        "question": f"What is {name}?",
        "references": [f"{name} right", "alias"],
        "answers": [answers[label] for label in labels],
        "confidences": [stated] * len(labels),
        "labels": labels,
        "grades": {str(label): "correct" if label == 0 and judge else "incorrect" for label in range(len(counts))},
    }


def write_run(folder, questions, name="run"):
    source = folder / f"{name}.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in questions))
    score_samples([source], folder / f"{name}.db")
    return folder / f"{name}.db"


def simulated(n, seed=0, *, false_correct=0.1, missed=0.15):
    """Questions with ten answers, what people think of the largest class, and a judge that errs."""
    rng = random.Random(seed)
    questions, truth = [], {}
    for i in range(n):
        most = rng.randint(4, 10)
        right = rng.random() < 0.2 + 0.06 * most
        judge = rng.random() >= missed if right else rng.random() < false_correct
        stated = None if i % 5 == 0 else rng.random()
        rest = [min(most - 1, 10 - most), 10 - most - min(most - 1, 10 - most)]
        questions.append(question(f"q{i}", [most, *filter(None, rest)], judge=judge, stated=stated))
        truth[f"q{i}"] = right
    return questions, truth


class Large(NamedTuple):
    path: Path
    truth: dict[str, bool]
    run: Run


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A run of 300 questions and what people think."""
    questions, truth = simulated(300)
    path = write_run(tmp_path_factory.mktemp("large"), questions)
    with Run(path) as run:
        yield Large(path, truth, run)


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def asked(row):
    """The id of a row's question, which stands in its text."""
    return re.fullmatch(r"What is (.+)\?", row["question"])[1]


def fill(path, verdict):
    """Let somebody fill in a sheet: ``verdict`` gives the word for a row."""
    rows = table(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows({**row, "verdict": verdict(row)} for row in rows)
    return read_sheet(path)


def correction_of(plan, judged, answers):
    """What an audit without sheets changes."""
    sheet = Sheet(Path("audit-1.csv"), "stamp", ())
    return Correction.of(kept_audit(plan, [sheet], judged), answers)


def says(truth):
    return lambda row: "correct" if truth[asked(row)] else "incorrect"


# -- sheets


def test_a_sheet_shows_question_references_and_answer_and_nothing_else(large, tmp_path):
    run = large.run
    answers = {each.question.id: each for each in deployed_answers(run)}
    found = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=100, overlap=20))
    secrets = run.model, run.name, *run.judge_names
    text = "".join(sheet.read_text() for sheet in found.paths)
    for row in [row for sheet in found.paths for row in table(sheet)]:
        assert tuple(row) == COLUMNS
        shown = answers[asked(row)]
        assert row["answer"] == shown.answer
        assert row["references"] == f"{shown.question.id} right | alias"
        assert row["verdict"] == row["note"] == ""
    assert not any(secret in text for secret in secrets)
    assert len({row["audit"] for row in table(found.paths[0])}) == 1


def test_annotators_share_the_overlap_and_part_the_rest(large, tmp_path):
    run = large.run
    found = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=101, annotators=3, overlap=20))
    sheets = [[row["row"] for row in table(path)] for path in found.paths]
    assert [path.name for path in found.paths] == ["audit-1.csv", "audit-2.csv", "audit-3.csv"]
    assert found.rows == tuple(map(len, sheets)) == (47, 47, 47)
    times = Counter(code for sheet in sheets for code in sheet)
    assert Counter(times.values()) == {1: 81, 3: 20}
    assert found.shared == 20
    shared = [[code for code in sheet if times[code] == 3] for sheet in sheets]
    assert shared[0] != shared[1]


def test_order_and_codes_tell_nothing(large, tmp_path):
    """Neither neighbours in the run nor equal strata are to be seen."""
    run = large.run
    answers = {each.question.id: each for each in deployed_answers(run)}
    (path,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=300, annotators=1)).paths
    rows = table(path)
    places = [int(asked(row)[1:]) for row in rows]
    assert abs(np.corrcoef(places, np.arange(300))[0, 1]) < 4 / 300**0.5
    said = np.array([answers[asked(row)].said for row in rows])
    assert abs(np.corrcoef(said, np.arange(300))[0, 1]) < 4 / 300**0.5
    for verdict in (0, 1):
        letters = Counter(row["row"][-2:] for row, each in zip(rows, said, strict=True) if each == verdict)
        assert max(letters.values()) <= 6
    for row in rows:
        assert re.fullmatch(r"[bcdfghjkmnpqrstvwxz]{5}-[bcdfghjkmnpqrstvwxz]{5}-[a-z]{4}-[a-z]{2}", row["row"])


def test_the_same_seed_gives_the_same_sheets_and_another_one_others(large, tmp_path):
    run = large.run
    first = export_sheets(run, tmp_path / "a.csv", AuditDesign(size=50)).paths
    again = export_sheets(run, tmp_path / "a.csv", AuditDesign(size=50)).paths
    other = export_sheets(run, tmp_path / "b.csv", AuditDesign(size=50, seed=1)).paths
    assert first == again
    assert {asked(row) for row in table(first[0])} != {asked(row) for row in table(other[0])}


def test_a_sheet_that_is_there_is_never_overwritten(large, tmp_path):
    run = large.run
    paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=50)).paths
    fill(paths[1], lambda row: "correct")
    filled = paths[1].read_bytes()
    paths[0].unlink()
    with pytest.raises(SemeceError, match=r"audit-2.csv is there already and may hold verdicts; write to another"):
        export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=50))
    assert paths[1].read_bytes() == filled
    assert not paths[0].exists()


def test_of_tied_answers_the_one_given_first_is_shown(tmp_path):
    tied = question("tied", [3, 3], judge=True)
    tied |= {"labels": [0, 1, 1, 0, 1, 0], "answers": ["first", "second", "second", "first", "second", "first"]}
    with Run(write_run(tmp_path, [tied, question("plain", [5, 1], judge=False)])) as run:
        shown = {each.question.id: each for each in deployed_answers(run)}
    assert (shown["tied"].answer, shown["tied"].said, shown["tied"].correct) == ("first", 1.0, 0.5)
    assert (shown["plain"].said, shown["plain"].correct) == (0.0, 0.0)


def test_what_the_judge_calls_not_attempted_it_does_not_call_correct(tmp_path):
    questions = [question(f"q{i}", [5, 1], judge=i % 2) | {"grades": {"0": word, "1": "incorrect"}}
                 for i, word in enumerate(["not_attempted", "correct", "incorrect"])]  # fmt: skip
    with Run(write_run(tmp_path, questions)) as run:
        assert [each.said for each in deployed_answers(run)] == [0, 1, 0]


def test_questions_with_too_few_answers_are_not_drawn(semece):
    semece("run", "-m", "fake/?pmf=.6,.4", "-d", "starter", "-n", 6, "--min-responses", 7, "-o", "few.db", "-q")
    code, _, err = semece("audit", "export", "few.db")
    assert (code, err) == (2, "semece: no question is complete of 24; 'semece summary' says why\n")


def test_one_answer_can_be_drawn_for_one_person(large, tmp_path):
    found = export_sheets(large.run, tmp_path / "one.csv", AuditDesign(size=1, by="none", annotators=1))
    assert (found.rows, found.shared) == ((1,), 0)
    assert found.paths[0].read_bytes().startswith(codecs.BOM_UTF8)


def test_an_empty_answer_is_on_no_sheet_and_counts_as_not_correct(tmp_path):
    questions = [question(f"q{i}", [5, 1], judge=True) for i in range(60)]
    questions += [question(f"b{i}", [5, 1], judge=False, answers=["", "other"]) for i in range(30)]
    with Run(write_run(tmp_path, questions)) as run:
        found = export_sheets(run, tmp_path / "audit.csv", AuditDesign(annotators=1))
        scored = score_sheets(run, [fill(found.paths[0], lambda row: "correct")])
    assert (found.rows, found.blank) == ((60,), 30)
    assert scored.counts["blank"] == 30
    assert scored.numbers["corrected"][0] == pytest.approx(60 / 90)
    assert scored.quality["answers"][0] == 60
    assert "deployed answers that are empty: 30 (on no sheet; they count as not correct)" in scored.notes


@pytest.mark.parametrize("text", ["=1+1", "+1", "-5 °C", "@SUM(A1)", "\t=1", " =1", "\r=1", "\n=cmd", "＝1+1"])
def test_no_cell_is_a_formula(tmp_path, text):
    sheet = tmp_path / "a.csv"
    sheet.write_bytes(csv_bytes([("code", text, text, text, "", "", "stamp")]))
    (row,) = table(sheet)
    for name in ("question", "references", "answer"):
        assert row[name].startswith("'")
        assert row[name][1:].strip() == text.replace("\r", "").strip()


def test_texts_that_no_cell_can_hold_are_made_fit(tmp_path):
    sheet = tmp_path / "a.csv"
    sheet.write_bytes(csv_bytes([("code", "a\x00\x1bb\ud800", 'say "x", y;\nz', "é" * 40_000, "", "", "stamp")]))
    (row,) = table(sheet)
    assert row["question"] == "ab\\ud800"
    assert row["references"] == 'say "x", y;\nz'
    assert len(row["answer"]) == 30_000
    assert row["answer"].endswith("é…")


@given(st.lists(st.integers(1, 400), min_size=1, max_size=12), st.integers(1, 1000))
def test_half_is_spread_evenly_and_half_in_proportion(sizes, size):
    sizes = np.array(sizes)
    wanted = allocate(sizes, min(size, sizes.sum()))
    assert wanted.sum() == min(size, sizes.sum())
    assert (wanted <= sizes).all()
    assert (wanted >= np.minimum(sizes, size // (2 * len(sizes)))).all()
    assert (wanted + 1 >= np.minimum(sizes, size * sizes / sizes.sum() / 2)).all()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["verdict", "confidence", "both", "none"])
def test_answers_of_a_stratum_are_equally_likely_to_be_drawn(large, by):
    """200 seeds; 4.5 standard errors for the worst of 300 answers."""
    run = large.run
    answers = deployed_answers(run)
    times = Counter()
    for seed in range(200):
        plan, drawn = draw(answers, size=120, by=by, seed=seed)
        times.update(each.answer.question.id for each in drawn)
        assert Counter(each.stratum for each in drawn) == dict(enumerate(plan.drawn))
    assert sum(plan.sizes) == 300
    assert sum(plan.drawn) == 120
    for each, stratum in [(each.answer, each.stratum) for each in draw(answers, size=300, by=by, seed=0)[1]]:
        chance = plan.drawn[stratum] / plan.sizes[stratum]
        assert abs(times[each.question.id] / 200 - chance) <= 4.5 * (chance * (1 - chance) / 200) ** 0.5 + 1e-12


def test_strata_are_what_they_are_said_to_be(large):
    run = large.run
    answers = deployed_answers(run)
    kinds = {
        "verdict": lambda each: each.said,
        "confidence": lambda each: int(10 * each.sem1 + 1e-9) if each.sem1 < 1 else 9,
        "both": lambda each: (each.said, int(10 * each.sem1 + 1e-9) if each.sem1 < 1 else 9),
        "none": lambda each: 0,
    }
    for by, kind in kinds.items():
        _, drawn = draw(answers, size=300, by=by, seed=0)
        pairs = {(each.stratum, kind(each.answer)) for each in drawn}
        assert len(pairs) == len({stratum for stratum, _ in pairs}) == len({name for _, name in pairs})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"size": 0}, "size must be at least 1; got 0"),
        ({"annotators": 0}, "annotators must be at least 1; got 0"),
        ({"overlap": -1}, "overlap must be at least 0; got -1"),
        ({"by": "model"}, "the strata must be by verdict, confidence, both or none; got 'model'"),
        ({"output": "audit.ods"}, "the sheets' name must end in .csv or .xlsx; got 'audit.ods'"),
        ({"output": "no/where/audit.csv"}, "cannot write no/where/audit-1.csv: there is no folder no/where"),
        ({"by": "both", "size": 20}, "12 strata need a size of at least 48; got 20; or draw by fewer: --by none"),
    ],
)
def test_options_out_of_range_are_refused_in_a_sentence(large, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    output = options.get("output", "audit.csv")
    design = {name: value for name, value in options.items() if name != "output"}
    with pytest.raises(SemeceError, match=re.escape(sentence)):
        export_sheets(large.run, output, AuditDesign(**design))
    assert not list(tmp_path.iterdir())


def test_a_run_without_anything_to_judge_is_refused(tmp_path):
    with (
        Run(write_run(tmp_path, [question("a", [3], judge=False, answers=[""])])) as run,
        pytest.raises(SemeceError, match="all 1 deployed answers are empty: there is nothing to judge"),
    ):
        export_sheets(run, tmp_path / "audit.csv")
    with (
        Run(write_run(tmp_path, [question("a", [1], judge=False)], "few")) as run,
        pytest.raises(SemeceError, match="no question is complete of 1"),
    ):
        export_sheets(run, tmp_path / "audit.csv")


# -- scores


def test_people_who_say_what_the_judge_says_leave_every_number(large, tmp_path):
    run = large.run
    said = {each.question.id: each.said for each in deployed_answers(run)}
    paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=150)).paths
    scored = score_sheets(run, [fill(path, says(said)) for path in paths])
    for row in scored.numbers.iter_rows(named=True):
        assert row["corrected"] == pytest.approx(row["judge"], abs=1e-12)
        assert row["corrected_low"] <= row["judge_low"] + 1e-3
        assert row["corrected_high"] > row["judge_high"]
    assert scored.numbers["quantity"].to_list() == NUMBERS
    assert scored.numbers["questions"].to_list() == [300, 300, 300, 300, 300, 240]
    assert scored.quality.select("agreement", "kappa", "precision", "false_correct").row(0) == (1, 1, 1, 0)
    assert scored.disagreements == []
    assert scored.notes == ()


def test_with_all_judged_the_numbers_are_peoples_own(large, tmp_path):
    truth, run = large.truth, large.run
    answers = deployed_answers(run)
    (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=1000, annotators=1)).paths
    scored = score_sheets(run, [fill(sheet, says(truth))])
    right = np.array([float(truth[each.question.id]) for each in answers])
    stated = np.array([each.verbalized is not None for each in answers])
    numbers = {
        row["quantity"]: [row[f"corrected{end}"] for end in ENDS] for row in scored.numbers.iter_rows(named=True)
    }
    assert numbers["accuracy"] == pytest.approx(accuracy_interval(right))
    assert numbers["sem1_ece"] == pytest.approx(ece_interval([each.sem1 for each in answers], right), abs=1e-6)
    assert numbers["sem2_ece"] == pytest.approx(ece_interval([each.sem2 for each in answers], right), abs=1e-6)
    verbalized = [each.verbalized for each in answers if each.verbalized is not None]
    assert numbers["ver_ece"] == pytest.approx(ece_interval(verbalized, right[stated]), abs=1e-6)
    said = np.array([each.said for each in answers])
    assert scored.quality["precision"][0] == pytest.approx(right[said == 1].mean())
    assert scored.quality["recall"][0] == pytest.approx(said[right == 1].mean())
    cells = [int(((said == j) & (right == p)).sum()) for j, p in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert scored.quality.select("both", "judge_only", "people_only", "neither").row(0) == tuple(cells)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["verdict", "confidence", "both", "none"])
def test_the_corrected_accuracy_is_unbiased_whatever_the_strata(large, by):
    """300 draws of 80 answers, 4 standard errors; and it varies less than its interval says of other questions too."""
    truth, run = large.truth, large.run
    answers = deployed_answers(run)
    found = []
    for seed in range(300):
        plan, drawn = draw(answers, size=80, by=by, seed=seed)
        words = ("incorrect", "correct")
        judged = [AuditedAnswer(one.answer, one.stratum, {0: words[truth[one.answer.question.id]]}) for one in drawn]
        known = correction_of(plan, judged, answers).known
        found.append(corrected_accuracy([each.correct for each in answers], known.audited))
    value, low, high = np.array(found).T
    expected = np.mean(list(truth.values()))
    assert abs(np.mean([each.correct for each in answers]) - expected) > 0.03
    assert abs(value.mean() - expected) < 4 * value.std() / 300**0.5
    assert ((low <= expected) & (expected <= high)).mean() > 0.95


def test_two_annotators_are_compared_and_count_half_each_where_they_differ(large, tmp_path):
    truth, run = large.truth, large.run
    paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=100, overlap=40)).paths
    first, second = (dict.fromkeys(asked(row) for row in table(sheet)) for sheet in paths)
    shared = sorted(set(first) & set(second))
    turned = set(shared[:8])
    sheets = [
        fill(paths[0], says(truth)),
        fill(paths[1], lambda row: says(truth)(row) if asked(row) not in turned else "not_attempted"),
    ]
    scored = score_sheets(run, sheets)
    differ = sum(truth[name] for name in turned)
    assert scored.counts["disputed"] == differ > 0
    (row,) = scored.annotators.iter_rows(named=True)
    assert (row["first"], row["second"], row["answers"]) == (*map(str, paths), 40)
    assert row["agreement"] == pytest.approx(1 - differ / 40)
    assert row["agreement_low"] < row["kappa_high"]
    assert scored.quality["verdicts"][0] == 140
    assert {one.people for one in scored.judged if one.answer.question.id in turned} == {0.0, 0.5}
    assert f"answers with verdicts that differ: {differ} (they count the share of 'correct')" in scored.notes
    assert all(row["people"] for row in scored.disagreements)


def test_rows_without_a_verdict_are_counted(large, tmp_path):
    truth, run = large.truth, large.run
    (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=100, annotators=1)).paths
    kept = {asked(row) for row in table(sheet)[:60]}
    filled = fill(sheet, lambda row: says(truth)(row) if asked(row) in kept else "")
    scored = score_sheets(run, [filled])
    assert (scored.counts["drawn"], scored.counts["judged"], scored.counts["missing"]) == (100, 60, 40)
    assert scored.strata.sum().row(0) == (300, 100, 60)
    assert scored.numbers["audited"][0] == 60
    assert scored.numbers["reason"].to_list()[:3] == [None] * 3
    assert scored.notes == ("drawn answers without a verdict: 40 (taken to be like others of their stratum)",)
    half = score_sheets(run, [filled])
    assert half.numbers.equals(scored.numbers)


def test_too_few_verdicts_give_an_accuracy_and_no_calibration_error(large, tmp_path):
    truth, run = large.truth, large.run
    (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=49, annotators=1)).paths
    numbers = score_sheets(run, [fill(sheet, says(truth))]).numbers
    assert numbers["corrected"][0] is not None
    assert numbers["corrected"].to_list()[1:] == [None] * 5
    assert numbers["reason"][1] == "49 answers with a verdict; a corrected ECE needs 50"
    assert numbers["judge"].null_count() == 0
    (sheet,) = export_sheets(run, tmp_path / "more.csv", AuditDesign(size=50, annotators=1)).paths
    assert score_sheets(run, [fill(sheet, says(truth))]).numbers["corrected"][1] is not None


def test_few_questions_are_enough_if_all_of_them_are_judged(tmp_path):
    questions, truth = simulated(24)
    with Run(write_run(tmp_path, questions)) as run:
        (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(annotators=1)).paths
        numbers = score_sheets(run, [fill(sheet, says(truth))]).numbers
    assert numbers["corrected"].null_count() == 0


def test_a_stratum_without_a_verdict_leaves_no_corrected_number(large, tmp_path):
    truth, run = large.truth, large.run
    said = {each.question.id: each.said for each in deployed_answers(run)}
    (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=100, annotators=1)).paths
    scored = score_sheets(run, [fill(sheet, lambda row: says(truth)(row) if said[asked(row)] else "")])
    assert set(scored.numbers["reason"]) == {"no verdict yet in one of the strata"}
    assert scored.numbers["corrected"].null_count() == 6
    assert scored.quality["reason"][0] == "no verdict yet in one of the strata"
    assert scored.quality["agreement"][0] is None


def test_another_judge_of_the_same_answers_is_measured_by_the_same_sheets(large, tmp_path):
    """The strata stay those of the judge under which the sheets were written."""
    path, truth, run = large
    questions = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    for each in questions:
        each["grades"]["0"] = "correct" if truth[each["id"]] else "incorrect"
    (tmp_path / "other").mkdir()
    run = large.run
    with Run(write_run(tmp_path / "other", questions, "run")) as other:
        paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=150)).paths
        scored = score_sheets(other, [fill(each, says(truth)) for each in paths])
    assert scored.counts["judged"] == 150
    assert scored.quality["agreement"][0] == 1
    assert scored.numbers["corrected"][0] == pytest.approx(np.mean(list(truth.values())))


def test_answers_that_have_changed_and_questions_that_are_gone_or_new_are_counted(large, tmp_path):
    path, truth, run = large
    questions = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    (sheet,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=100, annotators=1)).paths
    names = [asked(row) for row in table(sheet)]
    filled = fill(sheet, says(truth))
    for each in questions:
        if each["id"] in names[:7]:
            each["answers"] = [f"{answer}, or so" for answer in each["answers"]]
        if each["id"] in names[7:10]:
            each |= {name: each[name][:1] for name in ("answers", "labels", "confidences")}
            each["grades"] = {"0": "correct"}
    (tmp_path / "later").mkdir()
    questions += simulated(305)[0][300:]
    with Run(write_run(tmp_path / "later", questions, "run")) as run:
        scored = score_sheets(run, [filled])
    counts = {name: scored.counts[name] for name in ("questions", "drawn", "judged", "changed", "gone", "missing")}
    assert counts == {"questions": 302, "drawn": 100, "judged": 90, "changed": 7, "gone": 3, "missing": 0}
    assert "answers that are others now than on the sheets: 7 (their verdicts are not used)" in scored.notes
    assert "questions of the sheets that enter no number now: 3 (their verdicts are not used)" in scored.notes
    assert scored.notes[-1].startswith("the sheets were drawn from 300 answers, 302 can be judged now")
    assert scored.numbers["corrected"].null_count() == 0


def test_a_confidence_that_is_missing_leaves_the_others_their_share(large):
    """Of each stratum as many are taken to be left as of the judged ones."""
    run = large.run
    answers = deployed_answers(run)
    plan, drawn = draw(answers, size=100, by="verdict", seed=3)
    judged = [AuditedAnswer(one.answer, one.stratum, {0: "correct"}) for one in drawn]
    correction = correction_of(plan, judged, answers)
    known = correction.known
    kept = np.array([each.verbalized is not None for each in answers])
    among = known.among(kept)
    assert among.judged == sum(one.answer.verbalized is not None for one in drawn)
    for h, size in enumerate(plan.sizes):
        share = np.mean([one.answer.verbalized is not None for one in drawn if one.stratum == h])
        assert among.sizes[h] == round(size * share)
    stated = [each for each in answers if each.verbalized is not None]
    ids = [stated[place].question.id for place in among.place]
    assert ids == [one.answer.question.id for one in drawn if one.answer.verbalized is not None]
    assert numbers_table(correction)["audited"].to_list() == [100, 100, 100, among.judged]


def test_peoples_verdicts_are_labelled_answers_for_other_judges(large, tmp_path):
    truth, run = large.truth, large.run
    paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=60, overlap=60)).paths
    names = [asked(row) for row in table(paths[0])]
    sheets = [
        fill(paths[0], says(truth)),
        fill(paths[1], lambda row: "correct" if asked(row) in names[:30] else ""),
    ]
    scored = score_sheets(run, sheets)
    output = tmp_path / "labelled.jsonl"
    output.write_text("".join(json.dumps(row) + "\n" for row in labelled_rows(scored)))
    graded = read_labelled(output).graded
    disputed = {name for name in names[:30] if not truth[name]}
    assert {row.question.id for row in graded} == set(names)
    assert len(graded) == len(names) + len(disputed) > len(names)
    assert all(row.correct == truth[row.question.id] for row in graded if row.question.id not in disputed)
    assert all(row.answer == f"{row.question.id} answer 0" for row in graded)
    assert sum(row.weight for row in graded) == pytest.approx(300)
    said = {each.question.id: each.said for each in deployed_answers(run)}
    verdicts = tuple("correct" if said[row.question.id] else "incorrect" for row in graded)
    rows = verdict_rows(Labelled(graded, ()), Evaluation("given", verdicts, (), {}))
    found = grading_table(rows, judge="given").row(0, named=True)
    quality = scored.quality.row(0, named=True)
    for name in ("answers", *(f"{each}{end}" for each in GRADING for end in ENDS)):
        assert found[name] == pytest.approx(quality[name], abs=1e-9)


# -- sheets that do not belong


@pytest.fixture
def sheet(large, tmp_path):
    """One filled sheet of the large run."""
    truth, run = large.truth, large.run
    (one,) = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=60, annotators=1)).paths
    fill(one, says(truth))
    return one


def edited(path, edit):
    rows = [list(row.values()) for row in table(path)]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *edit(rows)])
    return read_sheet(path)


def test_a_sheet_of_another_run_is_refused(sheet, tmp_path):
    questions, _ = simulated(20)
    with (
        Run(write_run(tmp_path, questions, "another")) as run,
        pytest.raises(SemeceError, match=r"audit-1.csv is a sheet of another run: another model or another dataset"),
    ):
        score_sheets(run, [read_sheet(sheet)])


def test_a_run_that_answers_otherwise_is_refused(sheet, large, tmp_path):
    questions = [json.loads(line) for line in large.path.with_suffix(".jsonl").read_text().splitlines()]
    for each in questions:
        each["answers"] = [f"{answer} {each['id']}" for answer in each["answers"]]
    (tmp_path / "other").mkdir()
    with (
        Run(write_run(tmp_path / "other", questions, "run")) as run,
        pytest.raises(SemeceError, match=r"none of the answers of .*audit-1.csv is what the run answers now"),
    ):
        score_sheets(run, [read_sheet(sheet)])


AS_WRITTEN = "the column 'audit' must be as it was written; got"
NO_ROW = "what is no row of this audit stands in the column 'row':"


def first(change):
    """Edit the first row only."""
    return lambda rows: [change(rows[0]), *rows[1:]]


def every(change):
    return lambda rows: [change(row) for row in rows]


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (first(lambda row: ["hello", *row[1:]]), f"{NO_ROW} 'hello' (row 2)"),
        (first(lambda row: [f"bbbbb-bbbbb{row[0][11:]}", *row[1:]]), NO_ROW),
        (first(lambda row: [row[0][:-2] + ("bb" if row[0][-2:] != "bb" else "cc"), *row[1:]]), NO_ROW),
        (every(lambda row: [*row[:6], row[6][:-2] + "00"]), AS_WRITTEN),
        (every(lambda row: [*row[:6], "hello"]), f"{AS_WRITTEN} 'hello'"),
        (every(lambda row: [*row[:6], row[6].replace("audit1", "audit2")]), "newer version of semece (format 2)"),
        (every(lambda row: [*row[:4], "", *row[5:]]), "no verdict yet; fill the column 'verdict' with correct"),
    ],
)
def test_rows_that_were_not_written_so_are_refused_in_a_sentence(sheet, large, edit, sentence):
    run = large.run
    with pytest.raises(SemeceError, match=re.escape(sentence)):
        score_sheets(run, [edited(sheet, edit)])


def swapped(rows):
    (a, *first), (b, *second), *rest = rows
    return [[b, *first], [a, *second], *rest]


@pytest.mark.parametrize(
    ("edit", "which"),
    [
        (swapped, "rows 2-3"),
        (
            lambda rows: [[code, *row[1:]] for code, row in zip(sorted(row[0] for row in rows), rows, strict=True)],
            "rows ",
        ),
        (first(lambda row: [row[0], "Who else?", *row[2:]]), "row 2"),
    ],
)
def test_a_row_whose_question_is_another_one_is_refused(sheet, large, edit, which):
    with pytest.raises(ParseError, match=rf"{re.escape(which)}.*the question is not the one that the column 'row' was"):
        score_sheets(large.run, [edited(sheet, edit)])


@pytest.mark.parametrize("column", [2, 3])
@pytest.mark.parametrize("places", [(0, 1), (3, 40)])
def test_answers_and_references_of_other_rows_are_refused(sheet, large, column, places):
    """A sheet that was sorted in part: each question stands where it was, and what was judged does not."""
    one, other = places

    def turned(rows):
        rows[one][column], rows[other][column] = rows[other][column], rows[one][column]
        return rows

    if column == 2:
        rows = [list(row.values()) for row in table(sheet)]
        assert rows[one][2] != rows[other][2]
    where = "rows 2-3" if places == (0, 1) else "rows 5, 42"
    with pytest.raises(
        ParseError, match=rf"audit-1.csv, {where}: the answer or the references are those of another row"
    ):
        score_sheets(large.run, [edited(sheet, turned)])


def test_an_answer_that_a_spreadsheet_has_altered_is_counted(sheet, large):
    read = edited(sheet, first(lambda row: [*row[:3], "01. Feb", *row[4:]]))
    scored = score_sheets(large.run, [read])
    assert (scored.counts["judged"], scored.counts["altered"]) == (60, 1)
    wanted = "answers or references that somebody or a spreadsheet has altered: 1 (their verdicts count)"
    assert wanted in scored.notes


def test_words_that_are_no_verdict_are_said_with_what_they_were_read_as(sheet, large):
    words = {"correct": "Y", "incorrect": "0"}
    read = edited(sheet, every(lambda row: [*row[:4], words[row[4]], *row[5:]]))
    scored = score_sheets(large.run, [read])
    assert scored.numbers.equals(score_sheets(large.run, [read_sheet(sheet)]).numbers)
    assert scored.notes[-1] == "verdicts were read: '0' as incorrect, 'Y' as correct"


@pytest.mark.parametrize("change", [str.upper, lambda text: f"  {text} ", lambda text: "'" + text, lambda text: ""])
def test_what_a_spreadsheet_does_to_a_question_is_no_reason_to_refuse(sheet, large, change):
    read = edited(sheet, every(lambda row: [row[0], change(row[1]), *row[2:]]))
    assert score_sheets(large.run, [read]).counts == score_sheets(large.run, [read_sheet(sheet)]).counts


def test_stamps_that_make_no_sense_are_refused(large):
    run = large.run
    key = Key(run)
    plan, _ = draw(deployed_answers(run), size=60, by="verdict", seed=0)
    assert key.read_stamp(key.stamp(plan), "here") == plan
    for text in (
        "0 verdict 9+1 9",
        "0 verdict 9 10 abc",
        "0 verdict 9+1 0+1 abc",
        "x verdict 9 9 abc",
        "0 verdict 9 9 9 9",
    ):
        stamp = f"{key.stamp(plan).rpartition('-')[0]}-{key._turned(text.encode()).hex()}"
        with pytest.raises(ParseError, match="here: the column 'audit' must be as it was written"):
            key.read_stamp(stamp, "here")


def test_more_rows_than_were_drawn_are_refused(sheet, large):
    run = large.run
    key, answers = Key(run), deployed_answers(run)
    few = draw(answers, size=60, by="verdict", seed=0)[0]
    every = draw(answers, size=300, by="verdict", seed=0)[1]
    rows = [[key.code(few, one), "", "", "", "correct", "", key.stamp(few)] for one in every]
    with pytest.raises(ParseError, match="there are more rows than were drawn"):
        score_sheets(run, [edited(sheet, lambda _: rows)])


def test_sheets_that_do_not_belong_together_are_refused(sheet, large, tmp_path):
    run = large.run
    (other,) = export_sheets(run, tmp_path / "other.csv", AuditDesign(size=60, annotators=1, seed=5)).paths
    with pytest.raises(SemeceError, match=r"audit-1.csv and .*other-1.csv are of different audits; score them apart"):
        score_sheets(run, [read_sheet(sheet), read_sheet(other)])
    with pytest.raises(SemeceError, match=r"audit-1.csv is named twice"):
        score_sheets(run, [read_sheet(sheet), read_sheet(sheet.parent / "." / "audit-1.csv")])


def test_a_sheet_shared_out_to_one_has_no_overlap(large):
    run = large.run
    _, drawn = draw(deployed_answers(run), size=30, by="none", seed=0)
    (only,) = share_out(drawn, annotators=1, overlap=10, seed=0)
    assert sorted(each.answer.question.id for each in only) == sorted(each.answer.question.id for each in drawn)


# -- XLSX


def test_xlsx_says_what_to_install(large, tmp_path, monkeypatch):
    for name in ("xlsxwriter", "openpyxl"):
        monkeypatch.setitem(sys.modules, name, None)
    with (
        Run(large.path) as run,
        pytest.raises(SemeceError, match=re.escape("xlsxwriter; install it with pip install 'semece[audit]'")),
    ):
        export_sheets(run, tmp_path / "audit.xlsx")
    with zipfile.ZipFile(tmp_path / "audit.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    with pytest.raises(
        SemeceError, match=re.escape("openpyxl; install it with pip install 'semece[audit]', or use CSV")
    ):
        read_sheet(tmp_path / "audit.xlsx")


@pytest.fixture
def openpyxl():
    """The package that reads XLSX; the one that writes it is there too."""
    pytest.importorskip("xlsxwriter")
    return pytest.importorskip("openpyxl")


def test_xlsx_sheets_hold_what_csv_sheets_hold(openpyxl, large, tmp_path):
    run = large.run
    paths = export_sheets(run, tmp_path / "audit.csv", AuditDesign(size=60)).paths
    books = export_sheets(run, tmp_path / "audit.xlsx", AuditDesign(size=60)).paths
    assert export_sheets(run, tmp_path / "audit.xlsx", AuditDesign(size=60)).paths == books
    for path, book in zip(paths, books, strict=True):
        rows = openpyxl.load_workbook(book).worksheets[0].iter_rows(values_only=True)
        cells = [["" if value is None else value for value in row] for row in rows]
        assert cells == [list(COLUMNS), *(list(row.values()) for row in table(path))]


def test_a_filled_xlsx_sheet_is_scored_and_not_overwritten(openpyxl, large, tmp_path):
    truth, run = large.truth, large.run
    (sheet,) = export_sheets(run, tmp_path / "audit.xlsx", AuditDesign(size=60, annotators=1)).paths
    book = openpyxl.load_workbook(sheet)
    for row in book.worksheets[0].iter_rows(min_row=2):
        row[4].value = says(truth)({"question": row[1].value})
    book.save(sheet)
    filled = sheet.read_bytes()
    scored = score_sheets(run, [read_sheet(sheet)])
    assert scored.counts["judged"] == 60
    with pytest.raises(SemeceError, match="is there already and may hold verdicts"):
        export_sheets(run, tmp_path / "audit.xlsx", AuditDesign(size=60, annotators=1))
    assert sheet.read_bytes() == filled


def test_no_cell_of_an_xlsx_sheet_is_a_formula_and_verdicts_are_chosen(openpyxl, tmp_path):
    formula = question("f", [5, 1], judge=True, answers=["=1+1", "b"])
    with Run(write_run(tmp_path, [formula])) as run:
        (sheet,) = export_sheets(run, tmp_path / "audit.xlsx", AuditDesign(annotators=1)).paths
    page = openpyxl.load_workbook(sheet).worksheets[0]
    assert (page["D2"].value, page["D2"].data_type) == ("=1+1", "s")
    (choice,) = page.data_validations.dataValidation
    assert choice.formula1 == '"correct,incorrect,not_attempted"'
    assert str(choice.sqref) == "E2"


def test_a_broken_xlsx_file_is_refused_in_a_sentence(openpyxl, tmp_path):
    broken = tmp_path / "a.xlsx"
    broken.write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(ParseError, match=r"a.xlsx cannot be read as XLSX: File is not a zip file"):
        read_sheet(broken)
    with pytest.raises(ParseError, match=r"no.xlsx cannot be read: it does not exist"):
        read_sheet(tmp_path / "no.xlsx")


# -- the command line


def test_sheets_are_exported_filled_and_scored(semece, large, tmp_path):
    path, truth = large.path, large.truth
    code, out, err = semece("audit", "export", path, "--size", 120, "--overlap", 40)
    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == [
        "audit-1.csv  80 rows",
        "audit-2.csv  80 rows",
        "120 of 300 answers were drawn in 2 strata, 40 of them on every sheet.",
    ]
    assert out.splitlines()[-1] == f"semece audit score {path} audit-1.csv audit-2.csv"
    for number in (1, 2):
        fill(tmp_path / f"audit-{number}.csv", says(truth))
    words = ("audit", "score", path, "audit-1.csv", "audit-2.csv")
    code, out, err = semece(*words, "--list", 2, "-o", "labelled.jsonl")
    assert (code, err) == (0, "")
    assert out.startswith("run · samples: 120 of 120 drawn answers judged; 300 questions enter the numbers\n")
    for text in (
        "People against each other",
        "The judge (given) against people",
        "Accuracy      300  120",
        "Held-out gap  300  120",
        "Sem1 ",
        "Sem1-ECE",
        "Ver-ECE",
    ):
        assert text in out
    assert out.count("; judge ") == 2
    assert len((tmp_path / "labelled.jsonl").read_text().splitlines()) == 120
    code, out, _ = semece(*words, "--json")
    found = json.loads(out)
    assert found["counts"]["judged"] == 120
    assert [sum(row[name] for row in found["strata"]) for name in ("answers", "drawn", "judged")] == [300, 120, 120]
    assert found["quality"]["answers"] == 120
    assert found["annotators"][0]["agreement"] == 1
    assert [row["quantity"] for row in found["numbers"]] == NUMBERS
    assert [row["target"] for row in found["thresholds"]] == [0.8, 0.9, 0.95]
    assert {row["questions"] for row in found["thresholds"]} == {300}
    assert all(row["people"] for row in found["disagreements"])


def test_empty_answers_and_notes_are_printed(semece, tmp_path):
    questions = [question(f"q{i}", [5, 1], judge=True) for i in range(20)]
    questions.append(question("blank", [5, 1], judge=False, answers=["", "other"]))
    path = write_run(tmp_path, questions)
    _, out, _ = semece("audit", "export", path, "--annotators", 1)
    assert out.splitlines()[:3] == [
        "audit-1.csv  20 rows",
        "20 of 20 answers were drawn.",
        "Deployed answers that are empty, on no sheet and counted as not correct: 1.",
    ]
    fill(tmp_path / "audit-1.csv", lambda row: "correct")
    _, out, _ = semece("audit", "score", path, "audit-1.csv")
    assert "People against each other" not in out
    assert "Note: deployed answers that are empty: 1 (on no sheet; they count as not correct)." in out


def test_what_cannot_be_done_is_one_sentence(semece, large, tmp_path):
    path = large.path
    assert semece("audit", "export", path, "-o", "a.ods")[::2] == (
        2,
        "semece: the sheets' name must end in .csv or .xlsx; got 'a.ods'\n",
    )
    assert semece("audit", "export", path, "--by", "model")[0] == 2
    assert semece("audit", "export", "no.db")[0] == 2
    assert semece("audit", "score", path)[0] == 2
    semece("audit", "export", path, "-o", "a.csv", "--judge", "given")
    code, out, err = semece("audit", "score", path, "a-1.csv", "a-2.csv")
    assert (code, out) == (2, "")
    assert err == (
        "semece: a-1.csv, a-2.csv: no verdict yet; fill the column 'verdict' with correct, incorrect or not_attempted\n"
    )


def test_another_judge_is_named_in_what_to_type(semece, large):
    _, out, _ = semece("audit", "export", large.path, "--judge", "exact", "--annotators", 1, "-o", "b.csv")
    assert out.splitlines()[-1] == f"semece audit score {large.path} b-1.csv --judge exact"
    assert "on every sheet" not in out
