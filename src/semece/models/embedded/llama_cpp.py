"""Models in a GGUF file, run in this process by llama.cpp (``xllamacpp``).

The same seed gives the same text on the same machine, however the choices are asked for. llama.cpp alone does not
promise that: its arithmetic differs in the last bits with the number of texts it extends at once, and one sampled
answer in twenty differs for it. So choices are drawn in blocks at fixed seeds (of 10, 15 and 25), one block at a time,
and those nobody asked for are thrown away.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semece.errors import ModelError
from semece.models.embedded.weights import SMOLLM2, check, find
from semece.models.protocol import Call, Reply, Usage
from semece.models.shared.refusals import is_too_long, too_long

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from semece.models.protocol import Decoding, Request

THREADS = 2
"""Always: another number gives other texts."""

CONTEXT = 8192
"""Tokens that the texts of a block share."""

BLOCK = 25
"""Most choices drawn at once."""

CYCLE = (0, 10, 25, 50)
"""Where blocks begin among 50 seeds, and where they end: 10 choices are one block, 50 are three."""

KEPT = 4
"""Most instructions of judges that are kept evaluated, each in a slot of its own."""

_INSTALL = "a local model needs xllamacpp: pip install 'semece[local]'"


def open_smollm2() -> LlamaCpp:
    """Open the embedded model, SmolLM2-135M-Instruct.

    Returns
    -------
    LlamaCpp
        Named ``local/smollm2``. Nothing is loaded before the first call.

    Raises
    ------
    ModelError
        One sentence if ``xllamacpp`` or the weights are not there.
    """
    _require_runtime()
    path = find(SMOLLM2)
    if path is None:
        raise ModelError("the weights of local/smollm2 are not here: fetch them with 'semece fetch-model'")
    return LlamaCpp(path, "local/smollm2", check=lambda: check(path, SMOLLM2))


def open_gguf(path: str | Path, name: str | None = None) -> LlamaCpp:
    """Open a model in a GGUF file.

    Parameters
    ----------
    path : str or Path
        The file.
    name : str, optional
        Its spelling; ``gguf/PATH`` by default.

    Returns
    -------
    LlamaCpp
        Nothing is loaded before the first call.

    Raises
    ------
    ModelError
        One sentence if ``xllamacpp`` is not there, or the file is none of its kind.
    """
    _require_runtime()
    file = Path(path).expanduser()
    try:
        with file.open("rb") as opened:
            magic = opened.read(4)
    except OSError as error:
        raise ModelError(f"cannot read {file}: {error.strerror}") from None
    if magic != b"GGUF":
        raise ModelError(f"{file} is not a GGUF file")
    return LlamaCpp(file, name or f"gguf/{path}")


class LlamaCpp:
    """A model in this process.

    One ``completion`` message is continued as it is, under the grammar if there is one; other messages go through the
    model's chat template. llama.cpp's own cuts (top-k 40, min-p 0.05) are off, so temperature 1 and top-p 1 are the
    model's own distribution. Calls wait for each other. ``reasoning_effort`` is ignored.

    Parameters
    ----------
    path : Path
        The GGUF file.
    name : str
        The spelling that opens it.
    check : callable, optional
        Run once before loading; raises ModelError if the file is damaged.
    """

    max_choices = 50

    def __init__(self, path: Path, name: str, *, check: Callable[[], None] | None = None) -> None:
        self.name = name
        self._path, self._check = path, check
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="llama.cpp")
        self._kept: dict[str, int] = {}

    async def __call__(self, request: Request, /) -> Call:
        """Draw the choices.

        Raises
        ------
        ValueError
            If a ``completion`` message is not the only one.
        ModelError
            If the model cannot be loaded, or refuses the request.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._draw, request)

    async def aclose(self) -> None:
        """Free the model."""
        await asyncio.get_running_loop().run_in_executor(self._thread, vars(self).pop, "_server", None)
        self._thread.shutdown(cancel_futures=True)

    def _draw(self, request: Request) -> Call:
        started = time.perf_counter()
        body = _body(request) | self._prepared(request)
        kept = request.logprobs is not None
        replies: list[Reply] = []
        prompt_tokens = output_tokens = 0
        for seed, n, wanted in _blocks(request):
            answer = self._ask(body | {"n": n} | ({} if seed is None else {"seed": seed}))
            if "error" in answer:
                said = str(answer["error"].get("message"))
                if is_too_long(said):
                    return too_long(self.name, said, n=request.n)
                raise ModelError(f"{self.name} refused the request: {said}")
            prompt_tokens = answer["usage"]["prompt_tokens"]
            choices = sorted(answer["choices"], key=lambda choice: int(choice["index"]))[wanted]
            output_tokens += sum(_count_tokens(choice, kept=kept) for choice in choices)
            replies += [_reply(choice) for choice in choices]
        usage = Usage(prompt_tokens, output_tokens)
        return Call(tuple(replies), usage=usage, latency=time.perf_counter() - started)

    def _prepared(self, request: Request) -> dict[str, Any]:
        """Have the instructions of a judge evaluated once; give what says that a request goes on from there.

        Before each request the slot is taken back to the end of the instructions, which were evaluated by themselves.
        So a reply depends on its request alone, not on what was asked before, as it would with llama.cpp's own cache.
        Requests with a seed, and those that sample, are evaluated whole.
        """
        several, decoding = len(request.messages) > 1, request.decoding
        if request.seed is not None or request.n != 1 or decoding.temperature != 0 or not several:
            self._kept.clear()
            return {}
        instructions = request.messages[0]
        if instructions.content not in self._kept and len(self._kept) == KEPT:
            self._kept.clear()
        slot = self._kept.get(instructions.content, len(self._kept))
        messages = [{"role": instructions.role, "content": instructions.content}, {"role": "user", "content": "-"}]
        body = {"messages": messages, "max_tokens": 1, "temperature": 0.0, "n": 1, "id_slot": slot}
        if "error" in self._ask(body | {"cache_prompt": instructions.content in self._kept}):
            return {}
        self._kept[instructions.content] = slot
        return {"cache_prompt": True, "id_slot": slot}

    def _ask(self, body: dict[str, Any]) -> dict[str, Any]:
        handle = self._server.handle_completions if "prompt" in body else self._server.handle_chat_completions
        answer: dict[str, Any] = handle(body)
        return answer

    @cached_property
    def _server(self) -> Any:  # noqa: ANN401 - xllamacpp is there only with the extra
        """The model, loaded at the first call."""
        if self._check is not None:
            self._check()
        # Waiting threads must sleep, not spin; read when the library is loaded.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import xllamacpp

        try:
            return xllamacpp.Server(_parameters(self._path))
        except Exception as error:
            raise ModelError(f"llama.cpp cannot load {self._path}: {error}") from None


def _require_runtime() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ModelError(_INSTALL)


def _parameters(path: Path) -> object:
    """Say how the model is loaded: everything that may change a text is fixed, every cache is off."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = BLOCK
    parameters.kv_unified = True
    parameters.fit_params = False
    parameters.cache_prompt = False
    parameters.cache_ram_mib = 0
    parameters.cpuparams.n_threads = THREADS
    parameters.cpuparams_batch.n_threads = THREADS
    parameters.verbosity = -1
    # It opens a port on 127.0.0.1 that nobody needs: nobody gets in.
    parameters.api_keys = [os.urandom(16).hex()]
    parameters.ui = False
    return parameters


def _blocks(request: Request) -> Iterator[tuple[int | None, int, slice]]:
    """Cut a request into blocks: seed, number of choices, which of them are wanted.

    Blocks begin at the same seeds whatever is asked for. As many texts as fit the context make a block; a token is at
    least one byte of the prompt.
    """
    prompt = sum(len(message.content.encode()) for message in request.messages)
    size = min(BLOCK, max(1, (CONTEXT - prompt) // request.decoding.max_tokens))
    if request.seed is None:
        for start in range(0, request.n, size):
            yield None, min(size, request.n - start), slice(None)
        return
    place, end = request.seed, request.seed + request.n
    while place < end:
        first, last = _block_of(place, size)
        yield first, last - first, slice(place - first, min(end, last) - first)
        place = last


def _block_of(seed: int, size: int) -> tuple[int, int]:
    """Give the first seed of the block that a seed is in, and the seed after its last.

    Examples
    --------
    >>> _block_of(7, 25), _block_of(57, 25), _block_of(33, 25), _block_of(22, 4)
    ((0, 10), (50, 60), (25, 50), (22, 25))
    """
    offset = seed % CYCLE[-1]
    number = sum(begin <= offset for begin in CYCLE)
    begin = seed - offset + CYCLE[number - 1]
    first = seed - (seed - begin) % size
    return first, min(first + size, seed - offset + CYCLE[number])


def _body(request: Request) -> dict[str, Any]:
    """Write the request as llama.cpp's server takes it."""
    body = _options(request.decoding)
    if any(message.role == "completion" for message in request.messages):
        if len(request.messages) > 1:
            raise ValueError(f"a completion message must be the only one; got {len(request.messages)} messages")
        return body | {"prompt": request.messages[0].content, "logprobs": max(1, request.logprobs or 1)}
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    return body | {"messages": messages, "logprobs": True, "top_logprobs": max(1, request.logprobs or 1)}


def _options(decoding: Decoding) -> dict[str, Any]:
    asked = {
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "grammar": decoding.grammar,
        "json_schema": dict(decoding.schema) if decoding.schema and not decoding.grammar else None,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return given | {"max_tokens": decoding.max_tokens, "top_k": 0, "min_p": 0.0, "cache_prompt": False}


def _count_tokens(choice: dict[str, Any], *, kept: bool) -> int:
    """Count the tokens of a choice, since the usage counts those of one choice only; take them out if nobody asked."""
    content = (choice.pop("logprobs", None) or {}).get("content") or ()
    if kept:
        choice["logprobs"] = {"content": [_bare_token(token) for token in content]}
    return len(content)


def _bare_token(token: dict[str, Any]) -> dict[str, Any]:
    """Leave out of a token what its text says."""
    top = [{"token": one["token"], "logprob": one["logprob"]} for one in token.get("top_logprobs") or ()]
    return {"token": token["token"], "logprob": token["logprob"], "top_logprobs": top}


def _reply(choice: dict[str, Any]) -> Reply:
    del choice["index"]  # its place in a block, which says nothing
    text = choice["text"] if "text" in choice else choice["message"].get("content")
    finish = choice.get("finish_reason")
    raw = json.dumps(choice, ensure_ascii=False)
    return Reply(text or "", "truncated" if finish == "length" else "ok", finish, raw)
