"""Files in the schemas of other tools, with the same three questions and their responses in each."""

import collections
import csv
import io
import json
import pickle
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import polars as pl

QUESTIONS = [
    ("0", "What is the capital of France?", "Paris", ["Paris", "Lyon", "Paris", "Paris"]),
    ("1", "What is two plus two?", "4", ["4", "4", "5", "4"]),
    ("2", "Who wrote the play Hamlet?", "Shakespeare", ["Marlowe", "Shakespeare", "Marlowe", "Bacon"]),
]
"""Id, text, reference, responses."""


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def own():
    return lines({"id": i, "question": q, "references": [r], "answers": a} for i, q, r, a in QUESTIONS)


def questions_file():
    return lines({"id": i, "question": q, "references": [r]} for i, q, r, _ in QUESTIONS)


def verdict(reference, response):
    return "C" if response == reference else "I"


def inspect_samples(**more):
    for name, text, reference, responses in QUESTIONS:
        for epoch, response in enumerate(responses, start=1):
            message = {"role": "assistant", "content": response, "source": "generate"}
            score = {"value": verdict(reference, response), "answer": response, "explanation": response}
            yield {
                "id": int(name),
                "epoch": epoch,
                "input": text,
                "target": reference,
                "messages": [{"role": "user", "content": text, "source": "input"}, message],
                "output": {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}]},
                "scores": {"match": score},
                "metadata": {},
                "uuid": f"{more.get('run', 'a')}-{name}-{epoch}",
            }


def inspect_header(**more):
    about = {"run_id": "r", "task": "quiz", "dataset": {"sample_ids": [0, 1, 2]}, "config": {"epochs": 4}}
    return {"version": 2, "status": "success", "eval": {**about, "model": "mock/model", **more}, "plan": {}}


def inspect_eval(samples=None, header=None, compress=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compress) as archive:
        archive.writestr("_journal/start.json", json.dumps(inspect_header()))
        for sample in reversed(list(inspect_samples() if samples is None else samples)):
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample, indent=2))
        archive.writestr("summaries.json", "[]")
        archive.writestr("header.json", json.dumps(inspect_header() if header is None else header))
    return buffer.getvalue()


def inspect_json(samples=None, header=None):
    log = inspect_header() if header is None else header
    return json.dumps({**log, "samples": list(inspect_samples() if samples is None else samples)}, indent=2).encode()


def zstandard(text, folder):
    """Pack a text as Zstandard does, with the encoder that polars brings."""
    path = Path(folder) / "packed"
    table = pl.DataFrame({"line": text.split("\n")})
    options = {"include_header": False, "quote_style": "never", "separator": "\x01", "check_extension": False}
    table.write_csv(path, compression="zstd", **options)
    return path.read_bytes()


def zstandard_zip(members, folder):
    """Write an archive whose members are packed with method 93, as Inspect writes them today."""
    out, directory = io.BytesIO(), io.BytesIO()
    for name, text in members.items():
        data, packed = text.encode(), zstandard(text, folder)
        about = (93, 0, 33, zlib.crc32(data), len(packed), len(data), len(name), 0)
        place = out.tell()
        out.write(struct.pack("<4sHHHHHLLLHH", b"PK\x03\x04", 63, 0, *about) + name.encode() + packed)
        head = struct.pack("<4sHHHHHHLLLHHHHHLL", b"PK\x01\x02", 63, 63, 0, *about, 0, 0, 0, 0, place)
        directory.write(head + name.encode())
    start, count = out.tell(), len(members)
    out.write(directory.getvalue())
    out.write(struct.pack("<4sHHHHLLH", b"PK\x05\x06", 0, 0, count, count, len(directory.getvalue()), start, 0))
    return out.getvalue()


def lm_eval_rows(filters=("none", "strict-match"), flat=False):
    for kind in filters:
        for name, text, reference, responses in QUESTIONS:
            yield {
                "doc_id": int(name),
                "doc": {"question": text, "answer": [reference]},
                "target": repr([reference]),
                "arguments": {"gen_args_0": {"arg_0": f"Q: {text}\nA:", "arg_1": {"until": ["\n"]}}},
                "resps": responses if flat else [responses],
                "filtered_resps": [responses[0]],
                "filter": kind,
                "metrics": ["exact_match"],
                "doc_hash": "0",
                "prompt_hash": "1",
                "target_hash": "2",
                "exact_match": 1.0,
            }


def lm_eval(**more):
    return lines(lm_eval_rows(**more))


def uqlm_result(**more):
    return {
        "data": {
            "prompts": [text for _, text, _, _ in QUESTIONS],
            "responses": [responses[0] for *_, responses in QUESTIONS],
            "sampled_responses": [responses[1:] for *_, responses in QUESTIONS],
            "semantic_negentropy": [0.5, 0.5, 0.5],
        },
        "metadata": {"temperature": 1.0, "sampling_temperature": 1.0, "num_responses": 3, **more},
    }


def uqlm():
    return json.dumps(uqlm_result()).encode()


def polygraph_result(**stats):
    """Give what UEManager.save saves of the questions."""
    numpy_list = [np.float64(-0.25), np.float64(0.5), np.float64(1.5)]
    estimations = collections.defaultdict(list, {("sequence", "SemanticEntropy"): [0.2, 0.4, float("nan")]})
    estimations |= {("sequence", "Perplexity"): numpy_list, ("token", "MaximumTokenProbability"): [0.5] * 9}
    found = {
        "input_texts": [text for _, text, _, _ in QUESTIONS],
        "target_texts": [reference for _, _, reference, _ in QUESTIONS],
        "greedy_texts": [responses[0] for *_, responses in QUESTIONS],
        "greedy_tokens": [np.arange(3)] * 3,
        "sample_texts": [responses for *_, responses in QUESTIONS],
    }
    metrics = {("sequence", "SemanticEntropy", "Accuracy", "prr"): np.float64(0.5)}
    about = {"state": "finished", "metrics": metrics, "gen_metrics": collections.defaultdict(list)}
    return about | {"estimations": estimations, "stats": collections.defaultdict(list, found | stats)}


def polygraph(result=None):
    """Write it as torch.save does: an archive with a pickle of protocol 2."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("result/data.pkl", pickle.dumps(polygraph_result() if result is None else result, protocol=2))
        archive.writestr("result/version", "3\n")
    return buffer.getvalue()


def promptfoo_results(provider="openai:gpt-4.1-mini", prompt="p"):
    test = 0
    for name, text, reference, responses in QUESTIONS:
        for response in responses:
            right = response == reference
            yield {
                "promptIdx": 0,
                "testIdx": test,
                "testCase": {"vars": {"question": text}, "assert": [{"type": "equals", "value": reference}]},
                "promptId": prompt,
                "provider": {"id": provider, "label": ""},
                "prompt": {"raw": f"Answer: {text}", "label": "Answer: {{question}}"},
                "vars": {"id": name, "question": text},
                "response": {"output": response, "tokenUsage": {}, "cached": False, "finishReason": "stop"},
                "success": right,
                "score": float(right),
                "failureReason": 0 if right else 1,
                "latencyMs": 1,
                "namedScores": {},
                "gradingResult": {"pass": right, "score": float(right), "reason": "", "componentResults": [{}]},
            }
            test += 1


def promptfoo(results=None):
    found = list(promptfoo_results() if results is None else results)
    summary = {"version": 3, "timestamp": "2026-01-01", "prompts": [], "results": found, "stats": {}}
    return json.dumps({"evalId": "e", "results": summary, "config": {}, "shareableUrl": None}, indent=1).encode()


def promptfoo_rows():
    return lines(promptfoo_results())


def openai_line(custom_id, texts, **choice):
    choices = [
        {"index": i, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}
        | choice
        for i, text in enumerate(texts)
    ]
    body = {"id": "c", "object": "chat.completion", "model": "gpt-4o-mini-2024-07-18", "choices": choices}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": f"b-{custom_id}", "custom_id": custom_id, "response": response, "error": None}


def openai_batch():
    """Two requests a question, with two choices each, in the order in which they happened to end."""
    pairs = [(f"{i}-{part}", a[2 * part : 2 * part + 2]) for i, _, _, a in QUESTIONS for part in (1, 0)]
    return lines(openai_line(*pair) for pair in pairs)


def anthropic_line(custom_id, text, stop="end_turn"):
    message = {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet",
        "content": [{"type": "thinking", "thinking": "Rome?", "signature": "s"}, {"type": "text", "text": text}],
        "stop_reason": stop,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    return {"custom_id": custom_id, "result": {"type": "succeeded", "message": message}}


def anthropic_batch():
    return lines(anthropic_line(f"{i}__sample{k}", a[k]) for i, _, _, a in QUESTIONS for k in (3, 1, 0, 2))


def simple_evals():
    convos, htmls = [], []
    for k in range(4):
        for _, text, reference, responses in QUESTIONS:
            convos.append([{"role": "user", "content": text}, {"role": "assistant", "content": responses[k]}])
            htmls.append(
                f"<h3>Prompt conversation</h3>\n\n<pre>{text}</pre>\n\n<h3>Results</h3>\n"
                f"<p>Correct Answer: {reference}</p>\n"
                f"<p>Extracted Answer: {responses[k]}</p>\n<p>Score: {responses[k] == reference}</p>"
            )
    found = {"score": 0.5, "metrics": {"score:std": 0.5}, "htmls": htmls, "convos": convos, "metadata": None}
    return json.dumps(found, indent=2).encode()


def clustered_rows():
    for name, text, reference, answers in QUESTIONS:
        names = list(dict.fromkeys(answers))
        names.sort(key=answers.count, reverse=True)
        yield {
            "id": name,
            "question": text,
            "gold_answer": reference,
            "model": "openai",
            "n_samples": 4,
            "results": [f"Answer: {answer}\nConfidence: 80%" for answer in answers],
            "answer_extracted": answers,
            "extraction_method": ["answer_line"] * 4,
            "confidence_verbalized": [0.8, None, 0.8, 0.8],
            "n_clusters": len(names),
            "cluster_labels": names,
            "cluster_assignments": [names.index(answer) for answer in answers],
            "cluster_sizes": [answers.count(each) for each in names],
            "modal_cluster": 0,
            "modal_cluster_label": names[0],
            "raw_judge_response": "{}",
        }


def graded_rows():
    for row in clustered_rows():
        grade = "CORRECT" if row["modal_cluster_label"] == row["gold_answer"] else "INCORRECT"
        keys = ("id", "model", "question", "gold_answer", "modal_cluster_label")
        said = {"grade": grade, "Y": int(grade == "CORRECT"), "raw_judge_response": json.dumps({"grade": grade})}
        yield {key: row[key] for key in keys} | said


def clustered():
    return lines(clustered_rows())


def graded():
    return lines(graded_rows())


def response_rows():
    for k in range(4):
        for name, text, reference, responses in QUESTIONS:
            yield {"id": name, "question": text, "response": responses[k], "reference": reference, "seed": k}


def rows():
    return lines(response_rows())


def ragas():
    """A table as ragas writes it: no ids, and metrics and contexts of their own in every row."""
    out = io.StringIO()
    columns = ["user_input", "retrieved_contexts", "response", "reference", "answer_correctness"]
    table = csv.DictWriter(out, columns)
    table.writeheader()
    for row in response_rows():
        values = (row["question"], f"['{row['seed']}']", row["response"], row["reference"], row["seed"] / 10)
        table.writerow(dict(zip(columns, values, strict=True)))
    return out.getvalue().encode()


def deepeval():
    cases = [
        {
            "name": f"test_case_{order}",
            "input": row["question"],
            "actualOutput": row["response"],
            "expectedOutput": row["reference"],
            "success": row["response"] == row["reference"],
            "metricsData": [{"name": "Correctness", "score": 1.0, "threshold": 0.5, "success": True}],
            "order": order,
        }
        for order, row in enumerate(response_rows())
    ]
    run = {"testCases": cases, "conversationalTestCases": [], "metricsScores": [], "testPassed": 1, "testFailed": 0}
    return json.dumps({"testRunData": run, "testRunLink": None}).encode()


def evals_rows():
    yield {"spec": {"completion_fns": ["gpt-4"], "eval_name": "quiz.dev.v0", "run_id": "r", "split": "dev"}}
    event = {"run_id": "r", "created_by": "", "created_at": "2026-01-01"}
    for number, (name, text, reference, responses) in enumerate(QUESTIONS):
        prompt = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]
        named = {**event, "event_id": 3 * number, "sample_id": name}
        yield {**named, "type": "match", "data": {"correct": True, "expected": reference, "picked": responses[0]}}
        yield {**named, "type": "sampling", "data": {"prompt": prompt, "sampled": responses}}
        grader = {"prompt": [{"role": "user", "content": "Grade it."}], "sampled": ["C"]}
        yield {**named, "type": "sampling", "data": grader}
    yield {"final_report": {"accuracy": 1.0}}


def evals():
    return lines(evals_rows())


def gemini_response(text, end="STOP"):
    parts = [{"text": "Rome?", "thought": True}, {"text": text}]
    candidate = {"content": {"parts": parts, "role": "model"}, "finishReason": end, "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 1}, "modelVersion": "gemini-2.5-flash"}


def gemini():
    return lines(
        {"key": f"{i}-{k}", "response": gemini_response(a[k])} for i, _, _, a in QUESTIONS for k in (2, 0, 1, 3)
    )


def vertex():
    """Lines without a key: what was asked stands in the request."""
    for k in range(4):
        for _, text, _, answers in QUESTIONS:
            request = {"contents": [{"role": "user", "parts": [{"text": f"Answer briefly. {text}"}]}]}
            yield {"status": "", "processed_time": "2026", "request": request, "response": gemini_response(answers[k])}


def vertex_batch():
    return lines(vertex())


BEDROCK = {
    "claude": lambda text: {"model": "claude", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"},
    "titan": lambda text: {"inputTextTokenCount": 8, "results": [{"outputText": text, "completionReason": "FINISH"}]},
    "llama": lambda text: {"generation": text, "generation_token_count": 2, "stop_reason": "stop"},
    "mistral": lambda text: {"outputs": [{"text": text, "stop_reason": "stop"}]},
    "chat": lambda text: {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]},
    "converse": lambda text: {
        "output": {"message": {"role": "assistant", "content": [{"text": text}]}},
        "stopReason": "end_turn",
    },
}
"""What the families of models write as output."""


def bedrock():
    return lines(
        {
            "recordId": f"{i}-{k}",
            "modelInput": {"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]},
            "modelOutput": BEDROCK["claude"](a[k]),
        }
        for i, text, _, a in QUESTIONS
        for k in (3, 1, 0, 2)
    )


def hle(k=0, judged=False):
    found = {}
    for name, _, reference, responses in QUESTIONS:
        found[name] = {"model": "gpt-5", "response": responses[k], "usage": {"completion_tokens": 3}}
        if judged:
            said = "yes" if responses[k] == reference else "no"
            found[name]["judge_response"] = {"correct_answer": reference, "correct": said, "confidence": 90}
    return json.dumps(found, indent=4).encode()


FILES = {
    "own.jsonl": ("samples", own),
    "log.eval": ("inspect", inspect_eval),
    "log.json": ("inspect", inspect_json),
    "samples_quiz_2026-01-01T00-00-00.000000.jsonl": ("lm-eval", lm_eval),
    "uqlm.json": ("uqlm", uqlm),
    "result.man": ("lm-polygraph", polygraph),
    "promptfoo.json": ("promptfoo", promptfoo),
    "promptfoo.jsonl": ("promptfoo", promptfoo_rows),
    "openai.jsonl": ("openai-batch", openai_batch),
    "anthropic.jsonl": ("anthropic-batch", anthropic_batch),
    "quiz_gpt-4o_20260101_000000_allresults.json": ("simple-evals", simple_evals),
    "openai_quiz_clustered.jsonl": ("sem-ece", clustered),
    "rows.jsonl": ("rows", rows),
    "ragas.csv": ("rows", ragas),
    "deepeval.json": ("deepeval", deepeval),
    "evals.jsonl": ("openai-evals", evals),
    "gemini.jsonl": ("google-batch", gemini),
    "vertex.jsonl": ("google-batch", vertex_batch),
    "bedrock.jsonl": ("bedrock-batch", bedrock),
}
"""By file name: the format and what writes it."""

NEED_QUESTIONS = {"openai.jsonl", "anthropic.jsonl", "gemini.jsonl", "vertex.jsonl", "bedrock.jsonl"}
NEED_REFERENCES = {*NEED_QUESTIONS, "uqlm.json"}
