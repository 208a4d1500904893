"""An audit that a run file holds corrects the judge's errors, in every command, and every output says so."""

import csv
import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from semece.compare import compare_runs
from semece.compare.audit import AuditDesign, export_sheets, read_sheet, score_sheets
from semece.errors import StoreError
from semece.runs import Run, says
from semece.runs.corrections import AuditedRow, Correction, KeptAudit
from semece.runs.question_views import answers_of
from semece.runs.scored_samples import score as score_samples
from semece.runs.summary_rows import row_of_run, summary_table
from semece.show.report import build
from semece.show.tables import decide, paper_table
from semece.stats import corrected_held_out, corrected_held_out_terms, fewest_corrected

N = 120


def write_run(folder, name, *, lenient=0.4, confident=9, **more):
    """A run whose judge calls some of the wrong answers correct, and what people think of each question."""
    rng = np.random.default_rng(7)
    truth = {f"q{i}": bool(rng.random() < 0.6) for i in range(N)}
    lines = []
    for question, right in truth.items():
        said = right or rng.random() < lenient
        labels = [0] * confident + [1] * (10 - confident)
        grades = {"0": "correct" if said else "incorrect", "1": "incorrect"}
        row = {"id": question, "question": f"What is {question}?", "references": ["it"], "labels": labels}
        row |= more | {"answers": [f"{question} {label}" for label in labels], "grades": grades, "topic": "law"}
        lines.append(json.dumps(row))
    (folder / f"{name}.jsonl").write_text("\n".join(lines))
    score_samples([folder / f"{name}.jsonl"], folder / f"{name}.db")
    return folder / f"{name}.db", truth


def filled(folder, path, truth, *, name="audit", **design):
    """Sheets of a run with people's verdicts."""
    with Run(path) as run:
        asked = AuditDesign(**({"size": 80, "annotators": 1, "seed": 0} | design))
        (sheet,) = export_sheets(run, folder / f"{name}.csv", asked).paths
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["verdict"] = "correct" if truth[row["question"][8:-1]] else "incorrect"
    with sheet.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return sheet


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A run with an audit, its sheet, and the same run without one."""
    folder = tmp_path_factory.mktemp("audited")
    path, truth = write_run(folder, "run")
    sheet = filled(folder, path, truth)
    shutil.copy(path, folder / "bare.db")
    with Run(path) as run:
        scored = score_sheets(run, [read_sheet(sheet)])
        run.keep_audit(scored.audit)
    return path, folder / "bare.db", sheet, scored


def test_the_summary_has_the_numbers_of_the_audit(audited):
    path, bare, _, scored = audited
    with Run(path) as run, Run(bare) as other, Run(path, corrected=False) as plain:
        row, before, without = row_of_run(run), row_of_run(other), row_of_run(plain)
    for each in scored.numbers.iter_rows(named=True):
        name = each["quantity"]
        for end in ("", "_low", "_high"):
            assert row[f"{name}{end}"] == pytest.approx(each[f"corrected{end}"], abs=1e-12)
            assert before[f"{name}{end}"] == pytest.approx(each[f"judge{end}"], abs=1e-12)
        assert name in row["corrected"]
    assert without == before
    assert (row["audit"], row["audited"], before["audit"], before["corrected"]) == ("audit-1.csv", 80, None, None)
    assert row["sem1_accuracy"] == pytest.approx(row["accuracy"])
    assert row["sem1_gap"] == pytest.approx(row["sem1_confidence"] - row["accuracy"])
    assert row["sem1_gap_low"] < before["sem1_gap_low"] + 0.2
    assert (row["ece_difference"], row["ece_difference_low"]) == (
        pytest.approx(row["sem1_ece"] - row["sem2_ece"]),
        None,
    )
    assert row["sem1_ece_least"] is None
    assert row["accuracy_least"] == pytest.approx(row["accuracy"])


def test_a_score_of_the_users_own_is_corrected_as_sem1_is(tmp_path):
    path, truth = write_run(tmp_path, "given", scores={"own": 0.9, "rank": 3.0}, score_kinds={"rank": "lower"})
    with Run(path) as run:
        run.keep_audit(score_sheets(run, [read_sheet(filled(tmp_path, path, truth))]).audit)
    with Run(path) as run, Run(path, corrected=False) as plain:
        row, before = row_of_run(run), row_of_run(plain)
    for name in ("ece", "ece_low", "ece_high", "gap", "gap_low", "gap_high", "accuracy"):
        assert row[f"own_{name}"] == pytest.approx(row[f"sem1_{name}"])
        assert before[f"own_{name}"] == pytest.approx(before[f"sem1_{name}"])
    assert abs(row["own_ece"] - before["own_ece"]) > 0.05
    assert {"own_ece", "own_gap"} <= set(row["corrected"])
    assert not {"rank_ece", "rank_auroc"} & set(row["corrected"])
    assert "own" in says(row)["audit"]


def test_what_is_said_is_about_the_corrected_numbers(audited):
    path, bare, *_ = audited
    with Run(path) as run, Run(bare) as other:
        row, before = row_of_run(run), row_of_run(other)
    said, plain = says(row), says(before)
    assert "The errors of the judge (given) are corrected by an audit." in said["model"]
    assert "graded wrong in favour of it" in plain["model"] or before["model_claim"] is None
    assert row["overturning_verdicts"] is None
    assert f"held-out gap {row['held_out_gap']:.2f}" in said["model"]
    assert f"right {round(100 * row['accuracy'])} % of the time" in said["confidences"]
    assert said["audit"].startswith(
        "People judged 80 answers that the judge had judged (given; audit-1.csv). Corrected: Accuracy,"
    )
    assert plain["audit"] == ""
    assert "95 % interval of Sem1-ECE - Sem2-ECE" not in said["regime"]


def test_an_audit_that_is_too_small_corrects_nothing_and_says_why(tmp_path):
    path, truth = write_run(tmp_path, "small")
    sheet = filled(tmp_path, path, truth, size=40)
    with Run(path) as run:
        before = row_of_run(run)
        run.keep_audit(score_sheets(run, [read_sheet(sheet)]).audit)
        row = row_of_run(run)
    assert row["corrected"] == []
    assert says(row)["audit"].endswith(
        "but nothing is corrected by them: 40 answers with a verdict; a corrected ECE needs 50."
    )
    assert {name: row[name] for name in before if not name.startswith(("audit", "corrected"))} == {
        name: before[name] for name in before if not name.startswith(("audit", "corrected"))
    }
    assert says(row)["model"] == says(before)["model"]


def test_a_judge_that_nobody_audited_is_not_corrected(audited):
    with Run(audited[0], judge="exact") as run:
        assert run.correction is None


def test_commands_say_by_which_audit_they_are_corrected(audited, semece):
    path, bare, sheet, _ = audited
    code, out, err = semece("summary", path, "--json")
    assert (code, err) == (0, "")
    (row,) = json.loads(out)
    assert row["audit"] == sheet.name
    assert {"accuracy", "held_out_gap", "semx_ece", "sem1_ece", "sem2_ece", "sem1_gap"} <= set(row["corrected"])
    plain = json.loads(semece("summary", path, "--uncorrected", "--json")[1])
    assert plain == json.loads(semece("summary", bare, "--json")[1])
    _, out, _ = semece("check", path, "--max", "sem1_ece=0.9", "--json")
    assert [each["audit"] for each in json.loads(out)] == [sheet.name]
    assert f"(corrected by {sheet.name})" in semece("check", path, "--max", "sem1_ece=0.9")[1]
    assert "corrected" not in semece("check", path, "--max", "sem1_ece=0.9", "--uncorrected")[1]
    _, out, _ = semece("table", "abstention", path, "-f", "json")
    assert {each["audit"] for each in json.loads(out)} == {sheet.name}
    _, out, _ = semece("table", "abstention", path, "-f", "json", "--uncorrected")
    assert {each["audit"] for each in json.loads(out)} == {None}


def test_the_table_of_errors_has_the_numbers_of_the_audit_and_says_which(audited, semece):
    path, bare, sheet, scored = audited
    code, out, err = semece("table", "ece", path, "-f", "json")
    (row,) = json.loads(out)
    assert code == 0
    assert row["audit"] == sheet.name
    assert row["corrected"] == ["accuracy", "held_out_gap", "semx_ece", "sem1_ece", "sem2_ece"]
    wanted = {each["quantity"]: each for each in scored.numbers.to_dicts()}
    for name in row["corrected"]:
        for end in ("", "_low", "_high"):
            assert row[name + end] == pytest.approx(wanted[name][f"corrected{end}"], abs=1e-12)
    assert "an audit corrects the numbers that the column 'corrected' names (" in err
    plain = semece("table", "ece", path, "-f", "json", "--uncorrected")
    assert plain == semece("table", "ece", bare, "-f", "json")
    assert "by the judge alone: no audit corrects it" in semece("table", "margin", path)[2]


def test_slices_are_not_corrected_and_the_header_says_what_an_audited_threshold_takes(audited, semece):
    path, bare, sheet, _ = audited
    code, out, _ = semece("abstain", path, "--json")
    assert code == 0
    found = json.loads(out)
    assert {each["audit"] for each in found["thresholds"]} == {sheet.name}
    (needed,) = {each["needed"] for each in found["thresholds"]}
    assert needed == fewest_corrected(80, N, target=0.95) > 59
    (said,) = found["needs"]
    assert said.startswith(f"A threshold that the audit corrects takes at least {needed} answers to promise 95 %")
    assert {each["reason"] for each in found["thresholds"]} == {
        f"fewer than {needed} answers cannot show an accuracy of 0.95; got {N}"
    }
    alone = json.loads(semece("abstain", bare, "--json")[1])
    assert alone["needs"] == ["A threshold takes at least 59 answers, all of them right, to promise 95 %."]
    assert {each["needed"] for each in alone["thresholds"]} == {59}
    note = f"Thresholds by topic are by the judge alone: the audit ({sheet.name}) does not correct them."
    assert note in semece("abstain", path, "--by", "topic")[1]
    assert "audit" not in semece("abstain", bare, "--by", "topic")[1]


def test_a_threshold_of_an_audited_run_does_not_ask_that_the_judge_be_right(tmp_path):
    path, truth = write_run(tmp_path, "sure", lenient=0.0)
    for question in truth:
        truth[question] = True
    sheet = filled(tmp_path, path, truth, size=N)
    with Run(path) as run:
        before = paper_table("abstention", [run])
        run.keep_audit(score_sheets(run, [read_sheet(sheet)]).audit)
        after = paper_table("abstention", [run])
    assert before.filter(score="sem1")["threshold"].null_count() == 3
    promises = after.filter(score="sem1").drop_nulls("threshold")["promise"].to_list()
    assert promises
    assert all(
        "the judge's errors corrected by the audit, if future questions are like these" in one for one in promises
    )


def test_a_threshold_of_a_score_of_the_users_own_is_corrected_as_sem1s_is(tmp_path, semece):
    path, truth = write_run(tmp_path, "given", lenient=0.0, scores={"own": 0.9})
    with Run(path) as run:
        run.keep_audit(score_sheets(run, [read_sheet(filled(tmp_path, path, truth, size=N))]).audit)
    with Run(path) as run:
        found = decide(run, target=0.5)
    rows = {row.pop("score"): row for row in found.table.to_dicts()}
    assert rows["own"] == rows["sem1"]
    assert rows["own"]["audit"] == "audit-1.csv"
    assert "if the judge is right" not in " ".join(found.notes)
    assert "by the judge alone" not in semece("abstain", path, "--target-accuracy", 0.5)[1]


def test_thresholds_that_an_audit_cannot_correct_say_so(tmp_path, semece):
    path, truth = write_run(tmp_path, "by", scores={"own": 0.9})
    sheet = filled(tmp_path, path, truth, by="confidence")
    with Run(path) as run:
        run.keep_audit(score_sheets(run, [read_sheet(sheet)]).audit)
    printed = semece("abstain", path, "--target-accuracy", 0.5)[1]
    assert (
        "of Sem1, Sem2, own are by the judge alone: the audit (audit-1.csv) does not correct them (thresholds are"
        in printed
    )


def test_the_report_has_the_corrected_numbers(audited, tmp_path):
    with Run(audited[0]) as run:
        page = build([run], tmp_path / "report.html").read_text(encoding="utf-8")
        row = row_of_run(run)
    assert "The errors of the judge (given) are corrected by an audit." in page
    assert f"{row['accuracy']:.2f} [" in page


def test_thresholds_of_another_judge_than_drew_the_sheets_are_not_corrected(audited):
    with Run(audited[0]) as run:
        found = run.correction
        answers = list(found.answers)
    turned = [type(each)(each.question, each.answer, float(i % 2), *_rest(each)) for i, each in enumerate(answers)]
    assert (
        Correction.of(found.audit, turned).threshold("sem1", target=0.8, asked=N).startswith("thresholds are corrected")
    )


def _rest(each):
    return each.correct, each.sem1, each.sem2, each.verbalized, each.label, each.refused


# -- runs against each other


def test_compared_runs_have_the_accuracy_of_their_audits(audited, tmp_path):
    """Both runs are right as often; the judge of one of them is too kind."""
    path, _, _, scored = audited
    other, _ = write_run(tmp_path, "other", lenient=0.0, confident=8)
    with Run(path) as run, Run(other) as second, Run(path, corrected=False) as plain:
        found, before = compare_runs([second, run]), compare_runs([second, plain])
    assert list(found.audits.values()) == ["audit-1.csv"]
    assert before.audits == {}
    numbers = {row["quantity"]: row for row in scored.numbers.iter_rows(named=True)}
    for name in ("accuracy", "held_out_gap", "semx_ece", "sem1_ece"):
        (value,) = found.changes.filter(quantity=name)["second"]
        assert value == pytest.approx(numbers[name]["corrected"], abs=1e-9)
        (value,) = before.changes.filter(quantity=name)["second"]
        assert value == pytest.approx(numbers[name]["judge"], abs=1e-9)
    changed, plain = (each.changes.filter(quantity="accuracy").row(0, named=True) for each in (found, before))
    assert plain["change_low"] > 0.05
    assert changed["change_low"] < 0 < changed["change_high"]


def test_comparing_says_which_runs_are_corrected(audited, semece, tmp_path):
    other, _ = write_run(tmp_path, "other", confident=8)
    _, out, _ = semece("compare", audited[0], other)
    assert "Corrected by audits of the judge: " in out
    assert "The other runs are not corrected: part of a change may be their judge's errors." in out
    _, out, _ = semece("compare", audited[0], other, "--json")
    assert list(json.loads(out)["audits"].values()) == ["audit-1.csv"]
    assert json.loads(semece("compare", audited[0], other, "--json", "--uncorrected")[1])["audits"] == {}
    _, out, _ = semece("check", audited[0], "--baseline", other, "--json")
    assert all("audit-1.csv" in each["audit"] for each in json.loads(out))


def test_the_terms_of_a_corrected_error_sum_up_to_it(audited):
    with Run(audited[0]) as run:
        found = run.correction
        masses, sheet = found._masses(run.classes(), _bins())
    terms = corrected_held_out_terms(masses, sheet)
    assert terms.total == pytest.approx(corrected_held_out(masses, sheet).error.value)
    assert terms.value.sum(axis=1).mean() == pytest.approx(corrected_held_out(masses, sheet).gap.value)


def _bins():
    from semece.runs import Binning

    return Binning()


# -- in the run file


def test_the_audit_that_was_kept_last_is_used(tmp_path):
    path, truth = write_run(tmp_path, "run")
    sheets = [filled(tmp_path, path, truth, name=name, seed=seed) for name, seed in (("a", 0), ("b", 1))]
    with Run(path) as run:
        audits = [score_sheets(run, [read_sheet(sheet)]).audit for sheet in sheets]
        for audit in audits:
            run.keep_audit(audit)
            assert run.correction.audit == audit
        fewer = audits[0]._replace(rows=audits[0].rows[:60])
        run.keep_audit(fewer)
        assert len(run.correction.audit.rows) == 60
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM audits").fetchone() == (2,)
    connection.close()


def test_an_audit_comes_back_as_it_was(tmp_path):
    path, _ = write_run(tmp_path, "run")
    audit = KeptAudit("stamp", ("ä.csv",), "verdict", (100, 20), (AuditedRow("q1", "it's \ud800 \x00", 1, 0.5),))
    with Run(path) as run:
        run.keep_audit(audit)
    with Run(path) as run:
        assert run.correction.audit == audit


def test_a_damaged_audit_is_refused_in_a_sentence_and_counted(audited, semece, tmp_path):
    path = Path(shutil.copy(audited[0], tmp_path / "damaged.db"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE audits SET body = replace(body, ',1.0]', ',0.0]')")
    connection.close()
    with Run(path) as run, pytest.raises(StoreError, match="an audit is not what was stored"):
        summary_table([run])
    code, out, err = semece("summary", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert semece("summary", path, "--uncorrected")[0] == 0
    code, _, err = semece("doctor", path)
    assert code == 2
    assert "audits that are not what was stored: 1" in err


def test_scoring_keeps_the_audit_unless_it_is_told_not_to(audited, semece, tmp_path):
    _, bare, sheet, _ = audited
    path = Path(shutil.copy(bare, tmp_path / "run.db"))
    before = path.read_bytes()
    assert semece("audit", "score", path, sheet, "--no-keep")[0] == 0
    assert path.read_bytes() == before
    code, out, err = semece("audit", "score", path, sheet)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("Kept in ")
    assert "corrected by an audit" in semece("summary", path)[1]
    assert json.loads(semece("audit", "score", path, sheet, "--json")[1])["kept"] is True
    assert json.loads(semece("audit", "score", path, sheet, "--json", "--no-keep")[1])["kept"] is False


def test_an_audit_that_cannot_be_kept_is_printed_and_says_so(audited, semece, tmp_path):
    _, bare, sheet, _ = audited
    path = Path(shutil.copy(bare, tmp_path / "run.db"))
    with Run(path) as run:
        audit = score_sheets(run, [read_sheet(sheet)]).audit
    from semece.store import Store

    with Store(path, write=True):
        code, out, err = semece("audit", "score", path, sheet)
    assert code == 4
    assert "Numbers by the judge, and corrected" in out
    assert err.startswith("semece: the audit is not kept, so other commands do not use it: ")
    assert err.endswith("; or --no-keep\n")
    assert audit.rows


def test_a_forgotten_audit_corrects_nothing_until_it_is_scored_again(audited, semece, tmp_path):
    path, _, sheet, _ = audited
    path = Path(shutil.copy(path, tmp_path / "run.db"))
    corrected, plain = (semece("summary", path, "--json", *more)[1] for more in ((), ("--uncorrected",)))
    code, out, err = semece("audit", "forget", path)
    assert (code, err) == (0, "")
    assert f"the audit ({sheet.name}) is withdrawn" in out
    assert semece("summary", path, "--json")[1] == plain != corrected
    code, out, err = semece("audit", "forget", path)
    assert (code, out) == (2, "")
    assert "there is no audit of the judge" in err
    assert semece("doctor", path)[0] == 0
    assert semece("audit", "score", path, sheet)[0] == 0
    assert semece("summary", path, "--json")[1] == corrected


def test_answers_that_are_others_now_count_for_nothing(audited):
    with Run(audited[0]) as run:
        audit, answers = run.correction.audit, answers_of(run.question_views())
    other = audit._replace(rows=tuple(row._replace(answer="another one") for row in audit.rows))
    assert Correction.of(other, answers).known.reason == "none of the audited answers is an answer of the run now"
    some = audit._replace(rows=(*(row._replace(answer="another one") for row in audit.rows[:5]), *audit.rows[5:]))
    assert Correction.of(some, answers).known.judged == 75
