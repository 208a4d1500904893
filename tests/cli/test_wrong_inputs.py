"""Wrong input of every kind: one sentence that names what is wrong and the cure, exit code 2, and JSON that says so."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from semece.cli import main

FAKE = "run -d starter -n 4 --limit 3 -q -o new.db -m"

GOOD = '{"id": "a", "question": "Capital of France?", "references": ["Paris"], "answers": ["Paris", "Rome"]}\n'
ROWS = {
    "no_question.jsonl": '{"questoin": "Capital of France?", "answers": ["Paris"]}\n',
    "no_answers.jsonl": '{"question": "Capital of France?", "references": ["Paris"]}\n',
    "answer_text.jsonl": '{"question": "Capital of France?", "answers": "Paris"}\n',
    "percent.jsonl": '{"question": "?", "answers": ["a", "b"], "confidences": [0.5, 90]}\n',
    "percent_text.jsonl": '{"question": "?", "answers": ["a", "b"], "confidences": [0.5, "80%"]}\n',
    "short.jsonl": '{"question": "?", "answers": ["a", "b"], "confidences": [0.5]}\n',
    "grades.jsonl": '{"question": "?", "answers": ["a", "b"], "grades": {"0": "correct"}}\n',
    "verdict.jsonl": '{"question": "?", "answers": ["a"], "labels": [0], "grades": {"0": "corect"}}\n',
    "twice.jsonl": GOOD + GOOD,
    "cut.jsonl": GOOD + GOOD[:40],
    "wide.csv": "question,reference,answer1,answer2\nCapital of France?,Paris,Paris,Rome\n",
    "unclear.csv": "question,answer\nCapital of France?,Paris\n",
    "unknown.csv": "frage,antwort\nHauptstadt?,Paris\n",
    "lists.jsonl": '{"question": "Capital of France?", "answres": ["Paris"]}\n',
    "pipes.csv": "id|question|answers\na|Capital of France?|x\n",
    "columns.csv": "id,question,answers\na,Capital of France?\n",
    "empty.jsonl": "",
    "latin.jsonl": None,
    "score.jsonl": '{"question": "?", "answers": ["a", "b"], "scores": {"p_true": [0.1, 2]}}\n',
    "partly.jsonl": GOOD + '{"question": "x?", "answers": ["a", "b"], "labels": [0, 1], "grades": {}}\n',
}
TOML = {
    "option.toml": "[run]\ntemprature = 0.5\n",
    "kind.toml": '[run]\nlimit = "three"\n',
    "table.toml": "[runs]\nlimit = 3\n",
    "broken.toml": "[run\n",
    "study_table.toml": '[study]\nname = "x"\n[[modles]]\nmodel = "fake/?pmf=1"\n',
    "study_option.toml": '[study]\nname = "x"\n[[models]]\nmodel = "fake/?pmf=1"\n'
    '[[datasets]]\ndataset = "starter"\nlimti = 3\n',
    "study_empty.toml": '[study]\nname = "x"\n',
}

WRONG = [
    # names that nobody knows
    ("run -d starter -m opnai/gpt-4o-mini", "did you mean 'openai/"),
    ("run -d starter -m local/smolm2", "did you mean 'local/smollm2'?"),
    ("run -m fake/?pmf=1 -d simpelqa", "did you mean 'simpleqa'?"),
    ("run -m fake/?pmf=1 -d rows.jsnl", "did you mean 'rows.jsonl'?"),
    (f"{FAKE} fake/?pmf=1 -j exakt", "did you mean 'exact'?"),
    (f"{FAKE} fake/?pmf=1 -j fake/judge#strickt", "did you mean 'strict'?"),
    (f"{FAKE} fake/?pfm=1", "did you mean 'pmf'?"),
    (f"{FAKE} fake/?pmf=1 --elicit percnt", "did you mean 'percent'?"),
    (f"{FAKE} fake/?pmf=1 --judge-prompt strickt", "did you mean 'strict'?"),
    (f"{FAKE} fake/?pmf=1 --ids ids.txt", "did you mean 'capital-france'?"),
    ("table abstension a.db", "did you mean 'abstention'?"),
    ("table ece a.db --format latx", "did you mean 'latex'?"),
    ("table ece a.db --by bugdet", "budget"),
    ("figure relability a.db -o f.svg", "did you mean 'reliability'?"),
    ("figure reliability a.db -o f.svg --score sem11", "did you mean 'sem1'?"),
    ("figure reliability a.db -o f.bmp", ".pdf, .svg or .png"),
    ("show a.db capital-frence", "did you mean 'capital-france'?"),
    ("show a.db --raw", "name its id"),
    (
        "export a.db --what sampels -o x.jsonl",
        "--what must be samples, responses, estimates; got 'sampels' (did you mean 'samples'?)",
    ),
    ("export a.db --to parqet -o x.txt", "--to must be jsonl, csv, parquet; got 'parqet' (did you mean 'parquet'?"),
    ("elicit a.db linguistik", "did you mean 'linguistic'?"),
    ("recalibrate a.db --score sem3", "--score must be one of 'sem1', 'sem2'"),
    ("recalibrate a.db --method plat", "got 'plat' (did you mean 'platt'?)"),
    ("recalibrate a.db --score sem11", "(did you mean 'sem1'?)"),
    ("check a.db --max sem_1_ece=0.2", "did you mean 'sem1_ece'?"),
    ("abstain tagged.db --by tpoic", "did you mean 'topic'?"),
    ("judge-eval labelled.jsonl -j rules --by topik", "did you mean 'topic'?"),
    ("simulate --family zippf", "zipf"),
    ("abstain a.db --score sem3", "did you mean 'sem2'?"),
    ("compare a.db --judges rules", "takes two judges of one run or more, such as: semece compare"),
    ("compare a.db --judges rules exakt", "did you mean 'exact'?"),
    ("sumary a.db", "summary"),
    ("summary a.db --jugde rules", "--judge"),
    # files
    ("summary aa.db", "did you mean 'a.db'?"),
    ("summary folder", "it is a folder; expected a file"),
    ("summary no/a.db", "there is no folder no"),
    ("summary rowz.db", "rowz.db does not exist; 'semece run' makes run files"),
    ("summary rows.jsonl", "is not a semece run file"),
    ("score rows.json", "did you mean 'rows.jsonl'?"),
    ("score folder", "a folder without samples"),
    ("score no_question.jsonl -o x.db", "rename 'questoin' if it is meant"),
    ("score no_answers.jsonl -o x.db", "expected a list 'answers'"),
    (
        "score wide.csv -o x.db",
        "name the columns 'question' and 'response'; several: a list 'answers'",
    ),
    ("score unclear.csv -o x.db", "one answer a row: name the columns 'question' and 'response'"),
    ("score unknown.csv -o x.db", "got frage, antwort; one answer a row: name the columns 'question' and 'response'"),
    ("score lists.jsonl -o x.db", "rename 'answres' if it is meant"),
    ("score answer_text.jsonl -o x.db", "answers must be a list"),
    ("score percent_text.jsonl -o x.db", "got '80%' at index 1 (percent? divide by 100)"),
    ("score percent.jsonl -o x.db", "divide by 100"),
    ("score short.jsonl -o x.db", "one confidence per answer"),
    ("score grades.jsonl -o x.db", "grades need labels"),
    ("score verdict.jsonl -o x.db", "correct, incorrect"),
    ("score twice.jsonl -o x.db", "'a'"),
    ("score cut.jsonl -o x.db", "line 2"),
    ("score pipes.csv -o x.db", "a comma, a semicolon or a tab separates columns"),
    ("score columns.csv -o x.db", "expected 3 columns"),
    ("score empty.jsonl -o x.db", "the file is empty"),
    ("score latin.jsonl -o x.db", "UTF-8"),
    ("score score.jsonl -o x.db", "p_true"),
    ("score partly.jsonl -o x.db", "--judge rules"),
    ("score rows.jsonl -o x.db --format inspct", "did you mean 'inspect'?"),
    ("score rows.jsonl -o x.db --score p_true=higher", "they have none"),
    (f"{FAKE} fake/?pmf=1 --config option.toml", "did you mean 'temperature'?"),
    (f"{FAKE} fake/?pmf=1 --config kind.toml", "limit must be a whole number"),
    (f"{FAKE} fake/?pmf=1 --config table.toml", "did you mean 'run'?"),
    (f"{FAKE} fake/?pmf=1 --config broken.toml", "is not TOML"),
    ("study study_table.toml", "did you mean 'models'?"),
    ("study study_option.toml", "did you mean 'limit'?"),
    ("study study_empty.toml", "[[models]]"),
    # numbers
    (f"{FAKE} fake/?pmf=1 -n 0", "n must be from 1 to 20,000; got 0"),
    (f"{FAKE} fake/?pmf=1 -n ten", "-n must be a whole number; got 'ten'"),
    (f"{FAKE} fake/?pmf=1 -n 4.5", "-n must be a whole number; got '4.5'"),
    (f"{FAKE} fake/?pmf=1 --budget -1", "above 0"),
    ("check a.db --max sem1_ece=20", "must be a number in [0, 1]"),
    ("check a.db", "give --max NAME=VALUE"),
    ("plan", "--width"),
    ("plan --width wide", "--width must be a number; got 'wide'"),
    ("plan a.db --width 0.1 --accuracy 0.8", "--accuracy is a guess for a plan without a pilot"),
    ("abstain a.db --target-accuracy 95", "--target-accuracy must lie strictly between 0 and 1; got 95.0 (percent?"),
    ("simulate -Q 0", "--questions must be a whole number of at least 1; got 0"),
    ("simulate -Q 3 --seed -1", "--seed must be"),
    ("theory --margin 1.5", "[0, 1]"),
    ("audit score a.db", "sheets"),
    ("audit export a.db --by verdikt", "verdict"),
    ("compare a.db", "at least two runs"),
    ("merge a.db -o m.db", "at least two"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with a small run, and files each wrong in one way."""
    folder = tmp_path_factory.mktemp("wrong")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        for name, text in {**ROWS, **TOML}.items():
            Path(name).write_text(text or "", encoding="utf-8")
        Path("latin.jsonl").write_bytes(b'{"question": "\xe9?", "answers": ["a"]}\n')
        Path("rows.jsonl").write_text(GOOD)
        Path("ids.txt").write_text("capital-frence\n")
        Path("labelled.jsonl").write_text(
            '{"question": "?", "references": ["a"], "answer": "a", "correct": true, "topic": "x"}\n'
        )
        Path("tagged.jsonl").write_text(GOOD.replace("}", ', "topic": "cities"}'))
        Path("folder").mkdir()
        for words in ("run -d starter -n 4 --limit 3 -q -o a.db -m fake/?pmf=.6,.4", "score tagged.jsonl -o tagged.db"):
            patched.setattr(sys, "argv", ["semece", *words.split()])
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code
    return folder


def test_there_are_more_than_fifty():
    assert len({words for words, _ in WRONG}) == len(WRONG) >= 55


@pytest.mark.parametrize(("words", "cure"), WRONG, ids=[words for words, _ in WRONG])
def test_wrong_input_is_one_sentence_with_its_cure(files, monkeypatch, capsys, words, cure):
    """On stderr one line; on stdout nothing, or with --json the same sentence; and no file appears or changes."""
    monkeypatch.chdir(files)
    before = {path.name: path.stat().st_mtime_ns for path in files.iterdir() if path.suffix not in {".db-wal", ".lock"}}
    said = []
    for more in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["semece", *words.split(), *more])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert ended.value.code == 2, err
        lines = [line for line in err.splitlines() if line.startswith("semece: ")]
        assert len(lines) == 1, err
        assert "Traceback" not in err
        assert cure in lines[0]
        said.append((out, lines[0].removeprefix("semece: ")))
    (plain, _), (document, sentence) = said
    found = json.loads(document)
    assert plain == ""
    if words.startswith("check a.db --max"):  # what was checked is told
        assert found[0]["passed"] is None
    else:
        assert found == {"error": {"message": sentence, "exit": 2}}
    after = {path.name: path.stat().st_mtime_ns for path in files.iterdir() if path.suffix not in {".db-wal", ".lock"}}
    shutil.rmtree(files / "runs", ignore_errors=True)
    assert after.keys() - {"runs"} == before.keys()


@pytest.mark.parametrize(
    "words",
    [
        "table ece a.db -o nowhere/t.md",
        "figure reliability a.db -o nowhere/f.svg",
        "export a.db -o nowhere/e.csv",
        "check a.db --max accuracy=1 --junit nowhere/j.xml",
        "audit export a.db -o nowhere/s.csv",
    ],
)
def test_a_folder_that_is_not_there_is_named(files, monkeypatch, capsys, words):
    monkeypatch.chdir(files)
    monkeypatch.setattr(sys, "argv", ["semece", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    assert capsys.readouterr().err.endswith("there is no folder nowhere\n")
