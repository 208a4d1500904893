"""Classifiers of entailment, small enough to be built in a test: bags of characters, real ONNX graphs."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz0123456789", *"'?.,!-"]
LABELS = {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}


def tokenizer():
    """A word is a character; of a pair the second text has type 1."""
    made = Tokenizer(models.WordLevel({letter: place for place, letter in enumerate(LETTERS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), behavior="isolated")]
    )
    ends = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return made


def build(folder, kind="bags", *, labels=LABELS, seed=0):
    """Write a classifier.

    ``bags``: a text entails one whose characters it all has, as often; each contradicts the other if both have digits
    that the other lacks.
    ``random``: random weights on the two bags, so that what it says is no equivalence.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"id2label": labels, "max_position_embeddings": 64}))
    nodes, weights, size = _counts(), {"table": np.eye(len(LETTERS), dtype=np.float32)}, len(LETTERS)
    weights["table"][: len(SPECIAL)] = 0
    weights |= {"one": np.array(1.0, dtype=np.float32), "last": np.array([-1]), "middle": np.array([1])}
    if kind == "random":
        rng = np.random.default_rng(seed)
        weights["w"] = rng.normal(size=(2 * size, 3)).astype(np.float32)
        nodes += [("Concat", ["first", "second"], "both", {"axis": 1}), ("MatMul", ["both", "w"], "logits", {})]
    else:
        digits = np.zeros((size, 1), dtype=np.float32)
        digits[[LETTERS.index(digit) for digit in "0123456789"]] = 1
        weights |= {"all": np.ones((size, 1), dtype=np.float32), "digits": digits}
        weights["k"] = np.array(-8.0, dtype=np.float32)
        weights |= {"four": np.array(4.0, dtype=np.float32), "minus": np.array(-4.0, dtype=np.float32)}
        weights["eight"] = np.array(8.0, dtype=np.float32)
        nodes += [
            ("Sub", ["second", "first"], "more", {}),
            ("Relu", ["more"], "new", {}),
            ("MatMul", ["new", "all"], "lacking", {}),
            ("Mul", ["lacking", "k"], "penalty", {}),
            ("Add", ["penalty", "four"], "entails", {}),
            ("Sub", ["first", "second"], "less", {}),
            ("Relu", ["less"], "old", {}),
            ("MatMul", ["new", "digits"], "new_digits", {}),
            ("MatMul", ["old", "digits"], "old_digits", {}),
            ("Mul", ["new_digits", "old_digits"], "other", {}),
            ("Mul", ["other", "eight"], "weight", {}),
            ("Add", ["weight", "minus"], "contradicts", {}),
            ("Sub", ["lacking", "lacking"], "neither", {}),
            ("Concat", ["contradicts", "neither", "entails"], "logits", {"axis": 1}),
        ]
    made = [helper.make_node(name, inputs, [output], **options) for name, inputs, output, options in nodes]
    constants = [numpy_helper.from_array(value, name) for name, value in weights.items()]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 3])]
    graph = helper.make_graph(made, "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def _counts():
    """Count the characters of the first text and of the second."""
    return [
        ("Gather", ["table", "input_ids"], "rows", {"axis": 0}),
        ("Cast", ["token_type_ids"], "types", {"to": TensorProto.FLOAT}),
        ("Unsqueeze", ["types", "last"], "mask", {}),
        ("Sub", ["one", "mask"], "rest", {}),
        ("Mul", ["rows", "rest"], "rows_first", {}),
        ("Mul", ["rows", "mask"], "rows_second", {}),
        ("ReduceSum", ["rows_first", "middle"], "first", {"keepdims": 0}),
        ("ReduceSum", ["rows_second", "middle"], "second", {"keepdims": 0}),
    ]
