"""The judge that is a classifier of natural language inference: two answers are the same if each entails the other.

The classifier is a cross-encoder that the user names by its folder: as ONNX (``model.onnx``) or as a checkpoint of
transformers. It sees the question before each answer, as Kuhn et al. 2023 and Farquhar et al. 2024 do.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from importlib.util import find_spec
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from semece.judges.answer_keys import check_answers, check_references
from semece.judges.judge_protocol import Absent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from semece.records import Question, Verdict

    Floats = NDArray[np.float64]

VERSION = 1
"""Of how pairs are put and how links become classes."""

LONGEST = 512
"""Most tokens of a pair, unless the model's own limit is less; what is longer is cut at the end of the longer text."""

CLIP = 1000
"""Characters of a question and of an answer that are shown."""

BATCH = 32
"""Pairs in one call of the classifier."""

SAMPLE = 1 << 20
"""Bytes at both ends of a file of weights that enter the judge's id, beside its size."""

Entailment = Literal["strict", "loose"]
WAYS: tuple[Entailment, ...] = ("strict", "loose")
CONTRADICTION, NEUTRAL, ENTAILMENT = 0, 1, 2
NAMES = ("contradict", "neutral", "entail")
"""What the labels of a model begin with, in our order."""


class NLIJudge:
    """Entailment both ways, by a classifier; a :class:`semece.judges.RuleJudge`.

    Two answers are linked if the classifier says so: under ``strict`` that each entails the other, under ``loose`` that
    neither contradicts the other and not both are neutral (Farquhar et al. 2024). Links are taken one after the other,
    the surest first, equals by the alphabet; a link joins two groups unless a member of one contradicts a member of the
    other, either way. So there is always a partition, and it depends on the set of answers alone.

    Parameters
    ----------
    path : str
        The folder of the model, or its ``.onnx`` file.
    entailment : {'strict', 'loose'}
        When two answers are the same.

    Raises
    ------
    Absent
        There is no such model, or what runs it is not installed.
    """

    def __init__(self, path: str, entailment: Entailment = "strict") -> None:
        self.entailment = entailment
        self._classifier = _Classifier(Path(path).expanduser())
        self.name = f"nli/{path}" if entailment == WAYS[0] else f"nli/{path}#{entailment}"
        self.id = f"nli-{VERSION};{entailment};{self._classifier.digest}"

    def partition(self, question: Question, answers: Sequence[str], /) -> list[int]:
        """Group non-empty strings by entailment; the same groups in whatever order they come."""
        check_answers(answers)
        texts = sorted(set(answers))
        pairs = list(permutations(range(len(texts)), 2))
        found = self._classifier.probabilities([_pair(question, texts[a], texts[b]) for a, b in pairs])
        said = dict(zip(pairs, found, strict=True))
        groups = _Groups(len(texts), {pair for pair, each in said.items() if each.argmax() == CONTRADICTION})
        links = {(a, b): self._link(said[a, b], said[b, a]) for a, b in combinations(range(len(texts)), 2)}
        for pair in sorted((pair for pair in links if links[pair] > 0), key=lambda pair: (-links[pair], pair)):
            groups.join(*pair)
        home = {text: groups.home[number] for number, text in enumerate(texts)}
        labels: dict[int, int] = {}
        return [labels.setdefault(home[text], len(labels)) for text in answers]

    def grade(self, question: Question, answer: str, /) -> Verdict:
        """Correct if linked to a reference.

        Raises
        ------
        ValueError
            If the question has no reference.
        """
        check_references(question)
        pairs = [(answer, reference) for reference in question.references]
        there = self._classifier.probabilities([_pair(question, *pair) for pair in pairs])
        back = self._classifier.probabilities([_pair(question, *pair[::-1]) for pair in pairs])
        return "correct" if any(self._link(*both) > 0 for both in zip(there, back, strict=True)) else "incorrect"

    def _link(self, there: Floats, back: Floats) -> float:
        """Say how sure it is that two answers are the same: the lower probability of entailment; 0 if they are not."""
        said = int(there.argmax()), int(back.argmax())
        strict = said == (ENTAILMENT, ENTAILMENT)
        loose = CONTRADICTION not in said and said != (NEUTRAL, NEUTRAL)
        linked = strict if self.entailment == "strict" else loose
        return max(float(min(there[ENTAILMENT], back[ENTAILMENT])), np.finfo(float).tiny) if linked else 0.0


def _pair(question: Question, premise: str, hypothesis: str) -> tuple[str, str]:
    """Put the question before both."""
    asked = _clipped(question.text)
    return f"{asked} {_clipped(premise)}", f"{asked} {_clipped(hypothesis)}"


def _clipped(text: str) -> str:
    """Cut a text that no classifier reads to its end; half a surrogate pair, which none can read, becomes a mark."""
    return text[:CLIP].encode("utf-8", "replace").decode()


class _Groups:
    """Groups that grow by links and refuse contradictions."""

    def __init__(self, n: int, contradicted: set[tuple[int, int]]) -> None:
        self.home = list(range(n))
        self._members = [[number] for number in range(n)]
        self._contradicted = contradicted

    def join(self, one: int, other: int) -> None:
        """Join the groups of two answers unless a member of one contradicts a member of the other."""
        left, right = self.home[one], self.home[other]
        across = [(a, b) for a in self._members[left] for b in self._members[right]]
        if left == right or any({(a, b), (b, a)} & self._contradicted for a, b in across):
            return
        for number in self._members[right]:
            self.home[number] = left
        self._members[left] += self._members[right]


class _Classifier:
    """A cross-encoder in a folder: pairs of texts in, probabilities of contradiction, neutral and entailment out."""

    def __init__(self, path: Path) -> None:
        self._folder = path.parent if path.suffix == ".onnx" else path
        onnx = [path] if path.suffix == ".onnx" else [path / "model.onnx", path / "onnx" / "model.onnx"]
        self._onnx = next((file for file in onnx if file.is_file()), None)
        weights = self._onnx or next(iter(sorted(self._folder.glob("*.safetensors"))), None)
        if weights is None:
            raise Absent(
                f"{path} holds no classifier: the judge nli/PATH names a folder with model.onnx or a file of "
                "safetensors, with tokenizer.json and config.json"
            )
        for name in ("tokenizer.json", "config.json"):
            if not (self._folder / name).is_file():
                raise Absent(f"{self._folder} has no {name}, which the judge nli needs beside the weights")
        self._order = _order(self._folder / "config.json")
        needed = ("onnxruntime", "tokenizers") if self._onnx else ("transformers", "torch")
        if any(find_spec(name) is None for name in needed):
            extra = "'semece[nli]'" if self._onnx else "transformers torch"
            raise Absent(f"the judge nli needs {' and '.join(needed)} for {weights.name}: pip install {extra}")
        self.digest = _digest([weights, self._folder / "tokenizer.json", self._folder / "config.json"])

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> list[Floats]:
        """Classify pairs of premise and hypothesis."""
        found: list[Floats] = []
        for start in range(0, len(pairs), BATCH):
            logits = self._run(list(pairs[start : start + BATCH]))[:, self._order].astype(float)
            weights = np.exp(logits - logits.max(axis=1, keepdims=True))
            found.extend(weights / weights.sum(axis=1, keepdims=True))
        return found

    def _run(self, pairs: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - an array of the runtime
        return self._run_onnx(pairs) if self._onnx else self._run_torch(pairs)

    def _run_onnx(self, pairs: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - an array of the runtime
        session, tokenizer = self._session
        rows = tokenizer.encode_batch(pairs)
        told = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [row.attention_mask for row in rows],
            "token_type_ids": [row.type_ids for row in rows],
        }
        inputs = {each.name: np.array(told[each.name], dtype=np.int64) for each in session.get_inputs()}
        return session.run(None, inputs)[0]

    @cached_property
    def _session(self) -> tuple[Any, Any]:
        """The ONNX session and the tokenizer, loaded at the first pair."""
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads sleep
        try:
            session = onnxruntime.InferenceSession(str(self._onnx), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        except Exception as error:
            raise Absent(f"{self._folder} cannot be loaded as a classifier: {error}") from None
        limit = json.loads((self._folder / "config.json").read_text(encoding="utf-8")).get("max_position_embeddings")
        tokenizer.enable_truncation(min(LONGEST, limit or LONGEST))
        pad = tokenizer.padding or {}
        tokenizer.enable_padding(pad_id=pad.get("pad_id", 0), pad_token=pad.get("pad_token", "[PAD]"))
        return session, tokenizer

    def _run_torch(self, pairs: list[tuple[str, str]]) -> Any:  # noqa: ANN401 - an array of the runtime
        import torch

        model, tokenizer = self._checkpoint
        with torch.inference_mode():
            inputs = tokenizer(pairs, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt")
            return model(**inputs).logits.numpy()

    @cached_property
    def _checkpoint(self) -> tuple[Any, Any]:
        """The checkpoint and its tokenizer, loaded at the first pair, from the folder alone."""
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        try:
            model = AutoModelForSequenceClassification.from_pretrained(self._folder, local_files_only=True)
            tokenizer = AutoTokenizer.from_pretrained(self._folder, local_files_only=True)
        except Exception as error:
            raise Absent(f"{self._folder} cannot be loaded as a classifier: {error}") from None
        return model.eval(), tokenizer


def _order(config: Path) -> list[int]:
    """Find which outputs are contradiction, neutral and entailment, by the labels of the model.

    Raises
    ------
    Absent
        Its labels are others.
    """
    try:
        labels = {int(k): str(v).lower() for k, v in json.loads(config.read_text(encoding="utf-8"))["id2label"].items()}
    except (ValueError, KeyError, AttributeError, UnicodeDecodeError):
        labels = {}
    places = [[place for place, label in labels.items() if label.startswith(name)] for name in NAMES]
    if any(len(each) != 1 for each in places):
        said = ", ".join(labels.values()) or "no id2label"
        raise Absent(f"{config} must label its outputs contradiction, neutral and entailment; got {said}")
    return [place for (place,) in places]


def _digest(files: Sequence[Path]) -> str:
    """Hash the sizes of files and what they begin and end with: all of a small file."""
    found = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        found.update(f"{file.suffix} {size}\n".encode())
        with file.open("rb") as stream:
            found.update(stream.read(SAMPLE))
            stream.seek(max(SAMPLE, size - SAMPLE))
            found.update(stream.read())
    return found.hexdigest()[:16]
