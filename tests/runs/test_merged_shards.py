"""Shards put together: the run that was drawn at once, and nothing of another run among it."""

import json
from itertools import chain

import pytest

from semece.datasets import Dataset, open_dataset
from semece.errors import SemeceError, StoreError
from semece.runs import Run, merge_shards, shards_together, summary_table
from semece.sampling import Settings
from semece.sampling.job import choose_questions
from semece.store import Store

MODEL = "fake/?pmf=.6,.3,.1"


@pytest.fixture
def drawn(semece, tmp_path):
    """Draw a shard, or the whole, into a file of that name."""

    def draw(name, *words):
        code, _, err = semece("run", "-m", MODEL, "-d", "starter", "-n", "4", "-j", "rules", "-o", name, *words)
        assert code == 0, err
        return tmp_path / name

    return draw


def test_shards_are_the_whole_each_question_once():
    data = open_dataset("starter")
    parts = [[q.id for _, q in choose_questions(Settings(MODEL, "starter", shard=f"{k}/3"), data)] for k in (1, 2, 3)]
    assert sorted(chain(*parts)) == sorted(q.id for q in data.questions)
    assert all(parts)
    fewer = Dataset(data.name, data.questions[::2])
    again = [q.id for _, q in choose_questions(Settings(MODEL, "starter", shard="2/3"), fewer)]
    assert again == [q.id for q in fewer.questions if q.id in parts[1]]


def test_merged_shards_are_the_run_that_was_drawn_at_once(drawn, semece, tmp_path):
    shards = [drawn(f"{k}.db", "--shard", f"{k}/3") for k in (3, 1, 2)]
    one = drawn("one.db")
    merge_shards(shards, tmp_path / "all.db")
    with Run(one) as whole, Run(tmp_path / "all.db") as merged:
        assert summary_table([merged]).equals(summary_table([whole]))
        assert [v.question.id for v in merged.question_views()] == [v.question.id for v in whole.question_views()]
        assert merged.responses().equals(whole.responses())
        assert merged.spent == pytest.approx(whole.spent)
    code, out, _ = semece("doctor", "all.db")
    assert (code, "all.db is whole" in out) == (0, True)
    before = Store(tmp_path / "all.db").count("respond")
    drawn("all.db")
    assert Store(tmp_path / "all.db").count("respond") == before


def test_what_is_no_part_of_the_run_is_refused_and_nothing_is_left(drawn, tmp_path):
    first, second = drawn("1.db", "--shard", "1/2"), drawn("2.db", "--shard", "2/2")
    other, again = drawn("o.db", "--shard", "2/2", "--temperature", "0.5"), drawn("a.db", "--shard", "1/3")
    cases = {
        "o.db is of another run than .*1.db: temperature differs": [first, other],
        "shards of one run are k of one K; got files of 2 and of 3": [first, again],
        "at least two different run files are merged": [first, first],
    }
    for said, paths in cases.items():
        with pytest.raises(StoreError, match=said):
            merge_shards(paths, tmp_path / "all.db")
    with Store(second, write=True), pytest.raises(SemeceError, match=r"2\.db is being written"):
        merge_shards([first, second], tmp_path / "all.db")
    with Store(second, write=True) as store:
        store.put_batch("b", "submitted", "batch-1", "{}", 1.0)
    with pytest.raises(StoreError, match=r"2\.db has a batch under way: 'semece doctor .*2.db' says how to go on"):
        merge_shards([first, second], tmp_path / "all.db")
    assert not list(tmp_path.glob("*all.db*"))
    with pytest.raises(StoreError, match=r"1\.db exists; name another file with -o"):
        merge_shards([second, again], first)


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/1" + "0" * 5000])
def test_a_shard_is_k_of_n(shard, semece):
    code, _, err = semece("run", "-m", MODEL, "-d", "starter", "-j", "rules", f"--shard={shard}")
    assert (code, err) == (2, f"semece: shard must be k/K with 1 <= k <= K, such as 3/20; got {shard}\n")


@pytest.mark.parametrize("shard", ["1/25", "7/1" + "0" * 20])
def test_more_shards_than_questions_are_refused(shard, semece, tmp_path):
    code, _, err = semece("run", "-m", MODEL, "-d", "starter", "-j", "rules", "--shard", shard, "-o", "a.db")
    said = f"K in --shard k/K must be at most 24, the number of questions; got {shard}, which leaves shards without a"
    assert (code, err) == (2, f"semece: {said} question\n")
    assert not (tmp_path / "a.db").exists()


def test_a_file_that_is_missing_or_foreign_is_refused_and_nothing_is_made(drawn, tmp_path):
    first = drawn("1.db", "--shard", "1/2")
    (tmp_path / "text.db").write_text("hello")
    before = {path.name for path in tmp_path.iterdir()}
    for name, said in (("nope.db", "does not exist"), ("text.db", "is not a semece run file")):
        with pytest.raises(StoreError, match=said):
            merge_shards([tmp_path / name, first], tmp_path / "all.db")
    assert {path.name for path in tmp_path.iterdir()} == before


def test_shards_are_read_as_one_run_and_what_is_missing_is_said(drawn, semece, tmp_path):
    drawn("one.db")
    for k in (1, 2, 3):
        drawn(f"s{k}.db", "--shard", f"{k}/3")
    apart, whole = semece("summary", "s2.db", "s3.db", "s1.db", "--json")[1], semece("summary", "one.db", "--json")[1]
    assert json.loads(apart) == json.loads(whole)
    code, out, err = semece("merge", "s3.db", "s1.db", "-o", "two.db")
    said = "1 of 3 shards missing when it was put together: 2"
    assert (code, f"Noticed: {said}." in out) == (3, True)
    assert err == f"semece: {said}; merge two.db with them when they are there\n"
    assert semece("merge", "two.db", "s2.db", "-o", "three.db")[0] == 0
    assert json.loads(semece("summary", "three.db", "--json")[1]) == json.loads(whole)
    drawn("other.db", "--shard", "1/3", "--temperature", "0.5")
    assert [row["questions"] for row in json.loads(semece("summary", "s1.db", "other.db", "s2.db", "--json")[1])]
    with shards_together([tmp_path / "s1.db", tmp_path / "other.db", tmp_path / "s2.db"]) as found:
        assert [path.parent == tmp_path for path in found] == [False, True]


def test_what_the_shards_kept_is_not_derived_again(drawn, tmp_path, monkeypatch):
    shards = [drawn(f"{k}.db", "--shard", f"{k}/2") for k in (1, 2)]
    for shard in shards:
        with Run(shard) as run:
            run.question_views()
    merge_shards(shards, tmp_path / "all.db")
    monkeypatch.setattr("semece.judges.judged_questions.FreeJudge.partition", lambda *_: pytest.fail("derived again"))
    with Run(tmp_path / "all.db") as run:
        assert run.complete[0] == run.complete[1] > 0
