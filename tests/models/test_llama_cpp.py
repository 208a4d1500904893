"""The embedded model gives the same texts however they are asked for, quietly, and says what is missing."""

import asyncio
import json
import subprocess
import sys

import pytest

from semece.errors import ModelError
from semece.models import Decoding, Message, Model, Request
from semece.models.embedded import llama_cpp, weights
from semece.models.embedded.llama_cpp import BLOCK, LlamaCpp, open_gguf, open_smollm2
from tests.conftest import absent

GRAMMAR = r"""root ::= " " [^\n]{1,40} "\nConfidence: " num "%"
num ::= "100" | [1-9]? [0-9]
"""
PROMPT = "Question: Which planet is the largest?\nAnswer: Jupiter\nConfidence: 95%\n\nQuestion: {}\nAnswer:"
AU = PROMPT.format("What is the chemical symbol for gold?")


def completion(n, seed, prompt=AU, **options):
    decoding = Decoding(grammar=GRAMMAR, **{"max_tokens": 40, **options})
    return Request((Message("completion", prompt),), decoding, n, seed)


@pytest.fixture(scope="module")
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def smollm2(loop):
    try:
        model = open_smollm2()
    except ModelError as error:
        absent(str(error))
    yield model
    loop.run(model.aclose())


@pytest.fixture
def ask(loop, smollm2):
    return lambda *arguments, **options: loop.run(smollm2(completion(*arguments, **options)))


needs_weights = pytest.mark.weights


@needs_weights
def test_it_is_a_model_that_answers_under_the_grammar(smollm2, ask):
    assert isinstance(smollm2, Model)
    call = ask(3, 5)
    assert len(call.replies) == 3
    for reply in call.replies:
        answer, confidence = reply.text.split("\n")
        assert (reply.status, reply.finish_reason) == ("ok", "stop")
        assert answer.startswith(" ")
        assert confidence.startswith("Confidence: ")
        assert json.loads(reply.raw) == {"text": reply.text, "finish_reason": "stop"}
    assert call.usage.input_tokens > 30
    assert call.usage.output_tokens >= 3 * 6
    assert call.latency > 0


@needs_weights
@pytest.mark.slow
def test_a_top_up_gives_what_one_go_gives(ask, monkeypatch):
    monkeypatch.setattr(llama_cpp, "CYCLE", (0, 3, 8, 50))  # small blocks; tests/sampling/test_embedded.py has the real
    prompt = PROMPT.format("Who wrote Faust?")
    whole = ask(8, 1000, prompt).replies
    assert ask(5, 1000, prompt).replies + ask(3, 1005, prompt).replies == whole
    assert len({reply.text for reply in whole}) > 4


@needs_weights
@pytest.mark.slow
def test_other_calls_before_and_beside_it_change_nothing(loop, smollm2, ask):
    first = ask(8, 50).replies

    async def together():
        return await asyncio.gather(*(smollm2(completion(n, 50)) for n in (8, 3, 1)))

    for call in loop.run(together()):
        assert call.replies == first[: len(call.replies)]


@needs_weights
def test_a_reply_cut_at_the_token_limit_is_truncated_and_keeps_its_text(ask):
    for reply in ask(2, 5, max_tokens=2).replies:
        assert (reply.status, reply.finish_reason) == ("truncated", "length")
        assert reply.text
        assert "%" not in reply.text


@needs_weights
@pytest.mark.slow
def test_the_reply_of_a_judge_does_not_depend_on_what_was_asked_before(loop, smollm2, ask):
    cold = Decoding(temperature=0.0, max_tokens=4)
    instructions = ("Say which of the words is a colour, and nothing else. " * 2, "Say which of the words is a town.")
    words = ("red, house", "Rome, green")
    judged = [Request((Message("system", one), Message("user", two)), cold) for one in instructions for two in words]

    def texts(requests):
        return [loop.run(smollm2(request)).replies[0].text for request in requests]

    first = texts(judged)
    assert texts(judged[::-1]) == first[::-1]
    assert smollm2._kept.keys() == set(instructions)
    drawn = ask(2, 50).replies
    assert not smollm2._kept
    assert texts(judged[1:2]) == first[1:2]
    assert ask(2, 50).replies == drawn


@needs_weights
def test_messages_go_through_the_chat_template(loop, smollm2):
    cold = Decoding(temperature=0.0, max_tokens=12)
    said = loop.run(smollm2(Request((Message("user", "Say hello."),), cold)))
    continued = loop.run(smollm2(Request((Message("completion", "Say hello."),), cold)))
    assert said.usage.input_tokens > continued.usage.input_tokens + 5
    assert json.loads(said.replies[0].raw)["message"] == {"role": "assistant", "content": said.replies[0].text}
    assert said.replies[0].text != continued.replies[0].text


@needs_weights
def test_a_schema_shapes_the_reply(loop, smollm2):
    schema = {"type": "object", "properties": {"verdict": {"enum": ["correct", "incorrect"]}}, "required": ["verdict"]}
    request = Request((Message("user", "Is 2 + 2 = 4? Reply in JSON."),), Decoding(max_tokens=60, schema=schema))
    assert json.loads(loop.run(smollm2(request)).replies[0].text)["verdict"] in ("correct", "incorrect")


@needs_weights
def test_a_prompt_beyond_the_context_is_choices_cut_short(loop, smollm2):
    call = loop.run(smollm2(Request((Message("user", "a " * 9000),), n=3)))
    assert [reply.status for reply in call.replies] == ["truncated"] * 3
    assert "8192 tokens" in call.replies[0].raw
    assert call.events == ("local/smollm2: a prompt is too long for its context: no answer",)


@needs_weights
def test_another_refusal_is_one_sentence(loop, smollm2):
    with pytest.raises(ModelError, match=r"^local/smollm2 refused the request: "):
        loop.run(smollm2(Request((Message("user", "a"),), Decoding(grammar="root ::= nothing"))))


@needs_weights
def test_the_loop_runs_on_while_it_draws(loop, smollm2):
    async def ticks():
        drawing, count = asyncio.ensure_future(smollm2(completion(BLOCK, 0))), 0
        while not drawing.done():
            await asyncio.sleep(0.01)
            count += 1
        return count

    assert loop.run(ticks()) > 5


@needs_weights
def test_llama_cpp_says_nothing_and_closes(smollm2):
    script = """
import asyncio
from semece.models import Decoding, Message, Request
from semece.models.embedded.llama_cpp import open_smollm2

async def main():
    model = open_smollm2()
    await model(Request((Message("completion", "1, 2, 3,"),), Decoding(max_tokens=4), n=2, seed=1))
    await model.aclose()

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_opening_loads_nothing(tmp_path, monkeypatch):
    path = tmp_path / "empty.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setattr(llama_cpp.LlamaCpp, "_server", property(lambda model: pytest.fail("nothing to load")))
    model = open_gguf(path)
    assert (model.name, model.max_choices) == (f"gguf/{path}", 50)
    asyncio.run(model.aclose())


def test_without_the_runtime_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(llama_cpp.importlib.util, "find_spec", lambda name: None)
    for open_it in (open_smollm2, lambda: open_gguf("x.gguf")):
        with pytest.raises(ModelError, match=r"^a local model needs xllamacpp: pip install 'semece\[local\]'$"):
            open_it()


@pytest.fixture
def runtime(monkeypatch):
    """Have the runtime there, whether it is or not."""
    monkeypatch.setattr(llama_cpp, "_require_runtime", lambda: None)


def test_without_weights_it_says_how_to_fetch_them(runtime, monkeypatch):
    monkeypatch.setattr(llama_cpp, "find", lambda package: None)
    with pytest.raises(ModelError, match=r"^the weights of local/smollm2 are not here: .* 'semece fetch-model'$"):
        open_smollm2()


def test_damaged_weights_are_refused_before_they_are_loaded(runtime, monkeypatch, tmp_path):
    path = tmp_path / weights.SMOLLM2.file
    path.write_bytes(b"GGUF, damaged")
    monkeypatch.setattr(llama_cpp, "find", lambda package: path)
    with pytest.raises(ModelError, match=r"is damaged: .*'semece fetch-model'$"):
        asyncio.run(open_smollm2()(completion(1, 0)))


@pytest.mark.parametrize(
    ("content", "sentence"), [(None, "^cannot read .*: No such file"), (b"PK\3\4", r"x\.gguf is not a GGUF file$")]
)
def test_a_file_of_another_kind_is_one_sentence(runtime, tmp_path, content, sentence):
    path = tmp_path / "x.gguf"
    if content:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=sentence):
        open_gguf(path)


def test_a_cut_gguf_file_is_one_sentence(tmp_path, capfd):
    pytest.importorskip("xllamacpp")
    path = tmp_path / "cut.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match=rf"^llama\.cpp cannot load {path}: .+"):
        asyncio.run(open_gguf(path)(completion(1, 0)))
    assert capfd.readouterr() == ("", "")


def test_a_completion_message_stands_alone(tmp_path):
    model = LlamaCpp(tmp_path / "none", "gguf/none")
    request = Request((Message("system", "x"), Message("completion", "y")))
    with pytest.raises(ValueError, match="a completion message must be the only one; got 2 messages"):
        asyncio.run(model(request))


@pytest.mark.parametrize("seed", [0, 3, 24, 25, 1007])
@pytest.mark.parametrize(("n", "max_tokens"), [(1, 40), (7, 40), (50, 40), (50, 1024), (3, 9000)])
def test_blocks_cover_what_is_asked_for_once_and_begin_at_fixed_seeds(seed, n, max_tokens):
    blocks = list(llama_cpp._blocks(completion(n, seed, max_tokens=max_tokens)))
    assert [block + i for block, size, kept in blocks for i in range(size)[kept]] == list(range(seed, seed + n))
    most = max(1, min(BLOCK, (8192 - len(AU)) // max_tokens))
    assert max(size for _, size, _ in blocks) <= most
    whole = list(llama_cpp._blocks(completion(200, seed - seed % 50, max_tokens=max_tokens)))
    assert {(block, size) for block, size, _ in blocks} <= {(block, size) for block, size, _ in whole}


@pytest.mark.parametrize(("n", "computed"), [(1, 10), (8, 10), (10, 10), (20, 25), (25, 25), (50, 50), (60, 60)])
def test_few_choices_more_than_asked_for_are_computed(n, computed):
    assert sum(size for _, size, _ in llama_cpp._blocks(completion(n, 100))) == computed


def test_without_a_seed_no_choice_is_thrown_away():
    blocks = list(llama_cpp._blocks(completion(30, None)))
    assert blocks == [(None, 25, slice(None)), (None, 5, slice(None))]
