"""Everything a run is told: what a file may not change under its answers, and which questions it selects."""

import asyncio
from dataclasses import replace

import pytest

from semece.datasets import Dataset, open_dataset
from semece.errors import StoreError
from semece.models import Call, Reply
from semece.records import Question
from semece.sampling.job import choose_questions, identity_of
from semece.sampling.settings import Settings
from semece.store.run_store import Store
from tests.making_runs import execute

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
    assert field in {
        name for name, value in identity_of(RUN, DATA).items() if identity_of(changed, DATA)[name] != value
    }
    with pytest.raises(StoreError, match=r"was made with .*another file with -o"):
        do(tmp_path / "a.db", replace(changed, limit=1))


def chosen(settings, path=None):
    return [question.id for _, question in choose_questions(settings, DATA, path)]


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


def test_a_sample_of_other_ids_is_drawn_anew(tmp_path):
    """What a file of ids holds may change under its name."""
    begun = replace(RUN, sample=2, ids=("q1", "q2", "q3"))
    do(tmp_path / "a.db", begun)
    assert set(chosen(replace(begun, ids=("q7", "q8", "q9")), tmp_path / "a.db")) <= {"q7", "q8", "q9"}


def test_another_dataset_is_refused_and_not_sampled_by_the_files_ids(tmp_path):
    do(tmp_path / "a.db", replace(RUN, sample=4))
    with pytest.raises(StoreError, match="was made with dataset many"):
        do(tmp_path / "a.db", replace(RUN, sample=4, dataset="starter"), open_dataset("starter"))


class Placed:
    """A model that says where it is."""

    name, max_choices = "my/model", 8

    def __init__(self, base_url=None):
        if base_url:
            self.base_url = base_url

    async def __call__(self, request, /):
        return Call(tuple(Reply("Answer: a", "ok", "stop", "{}") for _ in range(request.n)))

    async def aclose(self):
        """Nothing to give back."""


@pytest.mark.parametrize("shown", ["http://127.0.0.1:1/v1", None])
def test_where_a_model_was_asked_is_recorded_without_a_key_and_may_change(tmp_path, shown):
    path, secret = tmp_path / "a.db", "sk-secret-1234"
    told = f"http://me:{secret}@127.0.0.1:2/v1?key={secret}"
    settings = Settings("my/model", "many", n=2, limit=2, judge="exact")
    for n, address in ((2, None), (3, told)):
        asked = replace(settings, n=n, base_url=address)
        asyncio.run(execute(asked, path, dataset=DATA, model=Placed(shown)))
        with Store(path) as store:
            wanted = shown or (address and "http://***@127.0.0.1:2/v1?***")
            assert store.meta("base_url", {}) == ({"my/model": wanted} if wanted else {})
    assert secret.encode() not in path.read_bytes()


def test_mathematics_is_judged_by_math_if_no_judge_is_named_and_a_begun_run_keeps_its_judge(tmp_path):
    from semece.sampling import resuming
    from semece.store import Store

    settings = Settings("openai/gpt-4o-mini", "math-500")
    assert settings.judges() == ("math", "math")
    with Store(tmp_path / "a.db", write=True) as store:
        store.set_meta("view", {"partition_judge": "rules", "grade_judge": "rules"})
    assert resuming(settings, tmp_path / "a.db").judges() == ("rules", "rules")
    assert resuming(settings, tmp_path / "absent.db").judges() == ("math", "math")


def test_an_answer_pattern_is_a_regular_expression():
    from semece.errors import SemeceError
    from semece.sampling import check_options

    with pytest.raises(SemeceError, match="a regular expression"):
        check_options(Settings("fake/?pmf=1", "starter", answer_pattern="("))
    prompt = Settings("fake/?pmf=1", "starter", answer_pattern="=> (.*)").response_prompt
    assert prompt.read("=> Oslo").answer == "Oslo"
    assert prompt.hash == Settings("fake/?pmf=1", "starter").response_prompt.hash, "responses are not bought again"
