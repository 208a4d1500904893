"""Right, wrong, not answered and failed stand wherever accuracy does, and add up to the selected questions."""

import json

import pytest

from semece.runs.run import Run
from semece.runs.sentences import outcomes_of, outcomes_text
from semece.show.tables import headline, summary_table

ROWS = (
    ("right", ["a"] * 4, {"0": "correct"}),
    ("wrong", ["b"] * 4, {"0": "incorrect"}),
    ("silent", [""] * 4, {"0": "not_attempted"}),
    ("tied", ["a", "a", "b", "b"], {"0": "correct", "1": "incorrect"}),
    ("ungraded", ["b"] * 4, {}),
)


@pytest.fixture
def scored(semece, tmp_path):
    lines = []
    for name, answers, grades in ROWS:
        labels = [sorted(set(answers)).index(answer) for answer in answers]
        row = {"id": name, "question": f"{name}?", "references": ["a"], "answers": answers, "labels": labels}
        lines.append(json.dumps(row | {"grades": grades}) + "\n")
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    assert semece("score", "rows.jsonl", "-o", "a.db")[0] == 0
    return semece


def test_outcomes_add_up_and_agree_with_accuracy(scored):
    with Run("a.db") as run:
        table = summary_table([run])
    row = table.row(0, named=True)
    found = outcomes_of(row)
    assert found == {"right": 1.5, "wrong": 1.5, "refused": 1, "failed": 1}
    assert row["accuracy"] == pytest.approx(found["right"] / row["questions"])
    assert headline(table)["outcomes"].to_list() == [outcomes_text(row)] == ["1.5 / 1.5 / 1 / 1"]
    assert "Right / wrong / not answered / failed  1.5 / 1.5 / 1 / 1" in scored("summary", "a.db")[1]


def test_a_study_has_them_for_every_run(semece, tmp_path):
    (tmp_path / "study.toml").write_text(
        '[study]\nname = "s"\nn = 4\n[[models]]\nmodel = "fake/?pmf=1"\nname = "sure"\n'
        '[[datasets]]\ndataset = "starter"\nlimit = 3\n'
    )
    assert semece("study", "study.toml", "-q")[::2] == (0, ""), "no progress"
    lines = semece("study", "study.toml", "-q")[1].splitlines()
    place = next(place for place, line in enumerate(lines) if line.split()[:3] == ["Dataset", "Model", "right"])
    assert lines[place + 1].split() == ["starter", "sure", *["3", "/", "0", "/", "0", "/", "0"]]
    (cell,) = json.loads(semece("study", "study.toml", "-q", "--json")[1])["cells"]
    assert cell["outcomes"] == {"right": 3.0, "wrong": 0.0, "refused": 0, "failed": 0}
