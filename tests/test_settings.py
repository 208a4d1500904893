"""Everything a run is told: what a file may not change under its answers, and which questions it selects."""

import asyncio
from dataclasses import replace

import pytest

from semece.datasets import Dataset, open_dataset
from semece.errors import StoreError
from semece.records import Question
from semece.settings import Settings
from semece.store import Store
from semece.work import execute

DATA = Dataset("many", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(60)))
RUN = Settings("fake/?pmf=1", "many", n=2)


def do(path, settings, data=DATA):
    return asyncio.run(execute(settings, path, dataset=data))


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("model", {"model": "fake/?pmf=.5,.5"}),
        ("elicitation", {"elicit": "none"}),
        ("prompt", {"prompt": "Well? {question}\nAnswer: ...\nConfidence: N%"}),
        ("temperature", {"temperature": 0.5}),
        ("top_p", {"top_p": 0.5}),
        ("max tokens", {"max_tokens": 7}),
        ("reasoning effort", {"reasoning_effort": "low"}),
        ("seed", {"seed": 1}),
    ],
)
def test_a_file_may_not_change_under_its_answers(tmp_path, field, change):
    do(tmp_path / "a.db", replace(RUN, limit=1))
    changed = replace(RUN, **change)
    assert field in {name for name, value in RUN.identity(DATA).items() if changed.identity(DATA)[name] != value}
    with pytest.raises(StoreError, match=r"was made with .*another file with -o"):
        do(tmp_path / "a.db", replace(changed, limit=1))


def chosen(settings, path=None):
    return [question.id for _, question in settings.choose(DATA, path)]


def test_a_file_keeps_the_questions_that_its_sample_had_when_it_was_begun(tmp_path):
    """Whichever version drew them: here the file's own are others than those drawn now."""
    sampled = replace(RUN, sample=40)
    do(tmp_path / "a.db", sampled)
    others = [f"q{i}" for i in range(40)]
    assert chosen(sampled) != others
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("view", store.meta("view") | {"ids": others})
        assert chosen(sampled, store) == others
    assert chosen(sampled, tmp_path / "a.db") == others
    assert chosen(replace(sampled, n=5, judge="exact"), tmp_path / "a.db") == others
    assert chosen(sampled, tmp_path / "absent.db") == chosen(sampled)


@pytest.mark.parametrize("change", [{"sample": 41}, {"seed": 1}, {"limit": 3}, {"ids": ("q1", "q2")}, {"sample": None}])
def test_another_selection_is_drawn_anew(tmp_path, change):
    do(tmp_path / "a.db", replace(RUN, sample=40))
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("view", store.meta("view") | {"ids": [f"q{i}" for i in range(40)]})
    other = replace(RUN, sample=40) if change.get("sample", 40) == 40 else RUN
    assert chosen(replace(other, **change), tmp_path / "a.db") == chosen(replace(other, **change))


def test_another_dataset_is_refused_and_not_sampled_by_the_files_ids(tmp_path):
    do(tmp_path / "a.db", replace(RUN, sample=4))
    with pytest.raises(StoreError, match="was made with dataset many"):
        do(tmp_path / "a.db", replace(RUN, sample=4, dataset="starter"), open_dataset("starter"))
