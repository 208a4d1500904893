"""Someone else's samples as a run: stored as replies at no cost, with file and place, then judged like our own."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from semece.canonical_json import canonical, digest
from semece.datasets import open_dataset, with_unique_ids
from semece.errors import ParseError, StoreError, meant, plural, visible
from semece.formats import PARTIAL, FileQuestion, FileResponse, Wanted, collect, fault, name_of, sample_files
from semece.judges import JUDGES, GivenJudge, given_key, open_judge, read_given, run_procedure
from semece.prompts import is_blank, is_non_answer, read_response
from semece.records import CONFIDENCE_KIND, VERDICTS, Response, ScoreKind
from semece.runs.metrics import check_score_name
from semece.runs.named_scores import OVER, STAGE, scores_row
from semece.store import Store, StoredReply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from semece.formats import FileStatus, Findings
    from semece.records import Question, ResponseStatus

_AT_ONCE = 200
"""Questions per commit."""
_SCORES = frozenset({*VERDICTS, PARTIAL})
"""What a score of a response can say."""
ONE_EACH = (
    "no question has more than one response, which says nothing about confidence: draw more (--epochs in Inspect, "
    "repeats in lm-evaluation-harness, --repeat in promptfoo)"
)
FORMULAS = "many references are formulas: --judge math compares answers as mathematics"
_FORMULA = re.compile(r"\\[A-Za-z]{2,}|[\^_]\{")
"""What only LaTeX has."""
_MANY_FORMULAS = 0.1
"""Above this share of questions with a formula as reference the mathematics judge is named."""
UNNAMED = "samples"
"""What a model is called that nobody names."""
NO_REFERENCE = (
    "no question has a reference, so no answer is right or wrong: name a dataset or file that has them with --questions"
)


@dataclass(frozen=True, slots=True)
class SamplesReading:
    """How files of samples are read.

    Parameters
    ----------
    form : str or None
        A name of :data:`semece.formats.FORMATS`; None: by what is in the files.
    skip_bad : bool
        Leave out bad rows and count them.
    questions : str or None
        A dataset, by name or path: texts and references, by id, instead of those in the files.
    model : str or None
        Only responses of this model, where the files name several; what it is called, where they name none.
    scorer : str or None
        Which scores are the grades, where the files have several.
    answer_pattern : str or None
        A regular expression that finds the answer in whole responses; the last match counts. It may change.
    scores : mapping of str to str or None
        Kinds of scores, by name (:class:`semece.records.ScoreKind`); None: what the file says, else ``0..1``. Of what
        the scorers of Inspect, lm-evaluation-harness and DeepEval say only what is named here is a score.
    scores_over : {'all', 'mode'}
        Over which responses scores of responses are averaged: all, or those with the most frequent answer. It may
        change.
    name, dataset : str or None
        What tables call the model, and the questions; None: as the files do. They may change.
    """

    form: str | None = None
    skip_bad: bool = False
    questions: str | None = None
    model: str | None = None
    scorer: str | None = None
    answer_pattern: str | None = None
    scores: Mapping[str, str | None] = field(default_factory=dict)
    scores_over: str = OVER[0]
    name: str | None = None
    dataset: str | None = None


class _Judged(NamedTuple):
    """Samples with the labels and grades that are used, and who partitions and grades."""

    samples: list[FileQuestion]
    judges: tuple[str, str]


def score(
    paths: Sequence[Path], path: str | Path, *, judge: str | None = None, reading: SamplesReading | None = None
) -> list[str]:
    """Store samples in a run file and fix who judges them.

    Parameters
    ----------
    paths : sequence of Path
        Files of samples of one format; the questions of all of them. A folder or pattern stands for the files in it.
    path : str or Path
        The run file; the same content again changes nothing, other content is refused.
    judge : str or None
        ``rules``, ``exact``, ``math`` or ``given``. None: labels and grades that every question brings are used, else
        ``rules``. ``given`` where there are scores but no labels: rules make the classes, and a class has the verdict
        that the scores of all its responses agree on.
    reading : SamplesReading, optional
        How the files are read.

    Returns
    -------
    list of str
        What the person who scores may want to know, one sentence each. What was left out is noted in the run.

    Raises
    ------
    ParseError
        A file is not one of samples, or the judge is none of those.
    StoreError
        The run file holds something else.
    """
    check_judge(judge)
    if judge is not None:
        open_judge(judge)  # what it needs is missed before anything is stored
    reading, paths = reading or SamplesReading(), sample_files(paths)
    dataset = None if reading.questions is None else open_dataset(reading.questions)
    known = {q.id: q for q in dataset.questions} if dataset else {}
    wanted = Wanted(known, reading.model, tuple(reading.scores))
    read = collect(paths, form=reading.form, skip_bad=reading.skip_bad, wanted=wanted)
    findings = read.findings
    samples = _checked(read.samples, known, findings)
    kinds = _kinds(samples, reading, findings)
    _check_pattern(reading.answer_pattern, samples)
    judged, hints = _judged(samples, judge, reading, findings)
    content = _hash(judged.samples)
    questions = with_unique_ids([sample.question for sample in judged.samples], str(paths[0]))
    whole = [replace(sample, question=q) for sample, q in zip(judged.samples, questions, strict=True)]
    identity = {
        "model": reading.model or next(iter(findings.models), UNNAMED),
        "dataset": dataset.name if dataset else next(iter(findings.datasets), name_of(paths)),
        "dataset content": content,
    }
    names = _names(reading, identity)
    view = _view(whole, judged.judges, reading.answer_pattern)
    view |= {"scores": kinds, "scores_over": reading.scores_over} if kinds else {}
    with Store(path, write=True) as store:
        known_identity = store.meta("identity")
        if known_identity is not None and known_identity.get("dataset content") != content:
            raise StoreError(f"{path} holds other samples; write to another file with -o")
        store.set_meta("identity", identity)
        store.set_meta("names", names)
        store.set_meta("source", "samples")
        store.set_meta("files", [str(file) for file in paths])
        store.set_meta("options", _words(reading, judge))
        store.add_questions(enumerate(sample.question for sample in whole))
        store.set_meta("view", view)
        _store(store, whole, list(sentences_of(findings)))
    hints += [ONE_EACH] if view["n"] == 1 else []
    hints += [FORMULAS] if judge is None and "rules" in judged.judges and _has_formulas(samples) else []
    unknown = not any(sample.question.references or sample.grades for sample in judged.samples)
    return [*hints, NO_REFERENCE] if unknown else hints


def _names(reading: SamplesReading, identity: Mapping[str, str]) -> dict[str, str]:
    """Choose what the model and the questions are called.

    Raises
    ------
    ParseError
        A name is blank.
    """
    told = {"model": ("--name", reading.name), "dataset": ("--dataset", reading.dataset)}
    for option, name in told.values():
        if name is not None and not name.strip():
            raise ParseError(f"{option} must be a name, not blank; got {name!r}")
    return {what: identity[what] if name is None else visible(name.strip()) for what, (_, name) in told.items()}


def _has_formulas(samples: Sequence[FileQuestion]) -> bool:
    """Whether many questions have a formula in LaTeX as a reference."""
    found = sum(any(map(_FORMULA.search, sample.question.references)) for sample in samples)
    return found > _MANY_FORMULAS * len(samples)


def check_judge(judge: str | None) -> None:
    """Refuse a judge that would have to be asked."""
    if judge is None or (judge in JUDGES and not JUDGES[judge].asks_model) or judge.startswith("nli/"):
        return
    *names, last = (name for name, row in JUDGES.items() if not row.asks_model)
    hint = f"; a model judges them once they are stored: semece compare RUN --judges rules {judge}"
    said = f"the judge of samples must be {', '.join(names)} or {last}; got {judge!r}"
    raise ParseError(f"{said}{hint if '/' in str(judge) else ''}")


def _check_pattern(pattern: str | None, samples: Sequence[FileQuestion]) -> None:
    """Refuse a pattern that is no regular expression, or that nothing is read by."""
    if pattern is None:
        return
    try:
        re.compile(pattern)
    except re.error as error:
        raise ParseError(f"--answer-pattern must be a regular expression; got {pattern!r}: {error}") from None
    if not any(sample.whole for sample in samples):
        raise ParseError("--answer-pattern finds answers in whole responses; those of these files are answers already")


def _words(reading: SamplesReading, judge: str | None) -> list[str]:
    """Spell what differs from the defaults, as the command line takes it."""
    told = {"--judge": judge, "--format": reading.form, "--questions": reading.questions}
    told |= {"--model": reading.model, "--scorer": reading.scorer, "--answer-pattern": reading.answer_pattern}
    told |= {"--name": reading.name, "--dataset": reading.dataset}
    told |= {"--scores-over": None if reading.scores_over == OVER[0] else reading.scores_over}
    words = [word for name, value in told.items() if value is not None for word in (name, value)]
    words += [word for name, kind in reading.scores.items() for word in ("--score", f"{name}={kind}" if kind else name)]
    return [*words, "--skip-bad"] if reading.skip_bad else words


def _store(store: Store, samples: Sequence[FileQuestion], sentences: Sequence[str]) -> None:
    noted = {text for _, text in store.events()}
    for sentence in sentences:
        if sentence not in noted:
            store.add_event("samples", sentence)
    for place, sample in enumerate(samples, start=1):
        store.append(_rows(sample))
        if place % _AT_ONCE == 0:
            store.flush()
    store.flush()


def _checked(samples: Sequence[FileQuestion], known: Mapping[str, Question], findings: Findings) -> list[FileQuestion]:
    """Check labels and grades, take questions from elsewhere, and refuse an id that comes twice."""
    checked: list[FileQuestion] = []
    names: set[str] = set()
    for sample in samples:
        for good in findings.tried(_check, sample, known):
            name = good.question.id
            if findings.skip_bad and name in names:
                findings.skipped.append(f"{good.where}: ids must be unique; {name!r} came before")
                continue
            names |= {name} if name else set()
            checked.append(good)
    if unused := len(known.keys() - names):
        findings.note(f"{unused:,} of {plural(len(known), 'question', 'has')} no samples")
    if not checked:
        raise ParseError(f"no samples are left; the first bad one: {findings.skipped[0]}")
    return checked


def _check(sample: FileQuestion, known: Mapping[str, Question]) -> FileQuestion:
    if sample.labels is not None:
        try:
            read_given(sample.labels, sample.grades, n=len(sample.drawn))
        except ParseError as error:
            raise ParseError(f"{sample.where}: {error}") from None
    return replace(sample, question=_from_elsewhere(sample, known)) if known else sample


def _from_elsewhere(sample: FileQuestion, known: Mapping[str, Question]) -> Question:
    """Take the question with the sample's id, whose text must be in what was asked."""
    question = known.get(sample.question.id)
    if question is None:
        expected = f"the id of one of the {plural(len(known), 'question')} of --questions"
        raise fault(sample.where, expected, repr(sample.question.id))
    if " ".join(question.text.split()) not in " ".join(sample.question.text.split()):
        expected = f"the text of question {question.id!r} in what was asked, {question.text[:60]!r}"
        raise fault(sample.where, expected, repr(sample.question.text[:60]))
    return question


def _kinds(samples: Sequence[FileQuestion], reading: SamplesReading, findings: Findings) -> dict[str, str]:
    """Give the kinds of the samples' scores, by name in the order in which they come; check every value."""
    if reading.scores_over not in OVER:
        raise ParseError(f"--scores-over must be {' or '.join(OVER)}; got {reading.scores_over!r}")
    names = dict.fromkeys(name for s in samples for each in (s.numbers, *(r.numbers for r in s.drawn)) for name in each)
    for name in reading.scores:
        if name not in names:
            known = ", ".join(names) or "none"
            raise ParseError(f"there is no score {name!r}{meant(name, names)} in the files; they have {known}")
    kinds = {name: reading.scores.get(name) or findings.kinds.get(name, CONFIDENCE_KIND.text) for name in names}
    try:
        read = {check_score_name(name): ScoreKind.of(kind) for name, kind in kinds.items()}
    except ValueError as error:
        raise ParseError(str(error)) from None
    for sample in samples:
        for each in (sample.numbers, *(response.numbers for response in sample.drawn)):
            for name, value in each.items():
                if not read[name].holds(value):
                    raise ParseError(OUTSIDE.format(sample.where, name, kinds[name], value))
    return {name: kind.text for name, kind in read.items()}


OUTSIDE = (
    "{0}: the score {1} must lie in {2}; got {3:g}: say what it means with --score '{1}=LEAST..SUREST', such as "
    "0..100, or with --score {1}=higher or {1}=lower if only its order means something"
)


def _judged(
    samples: list[FileQuestion], judge: str | None, reading: SamplesReading, findings: Findings
) -> tuple[_Judged, list[str]]:
    """Choose who judges: what the files bring where that was asked for or every question has it, else the rules."""
    scorer = reading.scorer
    if scorer is not None and judge not in {None, GivenJudge.name}:
        raise ParseError(f"--scorer chooses the grades of --judge given; got --judge {judge}")
    names = list(dict.fromkeys(name for sample in samples for one in sample.drawn for name, _ in one.scores))
    labelled = any(sample.labels is not None for sample in samples)
    if judge == GivenJudge.name or scorer is not None:
        if labelled:
            return _Judged(samples, _judges(samples)), []
        chosen = _scorer(names, scorer)
        return _Judged(
            _graded(samples, chosen, findings, reading.answer_pattern), (GivenJudge.name, GivenJudge.name)
        ), []
    if judge is not None:
        return _Judged(samples, (judge, judge)), []
    unclear = {name for sample in samples for one in sample.drawn for name, said in one.scores if said not in _SCORES}
    clear = [name for name in names if name not in unclear]
    hint = f"the files have scores ({', '.join(clear)}); --judge given grades with them instead of the rules"
    return _Judged(samples, _judges(samples)), [hint] if clear else []


def _judges(samples: Sequence[FileQuestion]) -> tuple[str, str]:
    """Let the file's own labels and grades stand where every question has them, and rules where none has.

    Raises
    ------
    ParseError
        Some questions have them and others have not.
    """
    chosen = []
    for name in ("labels", "grades"):
        count = sum(getattr(sample, name) is not None for sample in samples)
        if 0 < count < len(samples):
            raise ParseError(
                f"{count} of {len(samples)} questions bring {name}: give them for all, or choose --judge rules"
            )
        chosen.append(GivenJudge.name if count else "rules")
    return chosen[0], chosen[1]


def _scorer(names: Sequence[str], wanted: str | None) -> str:
    """Choose the scores that are the grades."""
    if not names:
        raise ParseError("--judge given needs labels or scores, and the files have none; choose --judge rules")
    if wanted is None and len(names) > 1:
        raise ParseError(f"--judge given needs one kind of scores; got {', '.join(names)}: choose one with --scorer")
    if wanted is not None and wanted not in names:
        near = meant(wanted, names)
        raise ParseError(f"there are no scores named {wanted!r}{near}; the files have {', '.join(names)}")
    return wanted or names[0]


def _graded(
    samples: Sequence[FileQuestion], scorer: str, findings: Findings, pattern: str | None
) -> list[FileQuestion]:
    """Group by rules, and grade the classes whose responses all have the same verdict."""
    rules = open_judge("rules")
    graded, split = [], []
    for sample in samples:
        usable = [(r, said) for r, said in zip(responses_of(sample, pattern), sample.drawn, strict=True) if r.usable]
        answers = [response.answer for response, _ in usable]
        labels = run_procedure(rules.classes(sample.question, answers)).labels
        said: dict[int, set[str]] = {}
        for label, (_, drawn) in zip(labels, usable, strict=True):
            said.setdefault(label, set()).update(_verdict(sample, drawn, scorer))
        grades = {str(label): min(all_said) for label, all_said in said.items() if len(all_said) == 1}
        graded.append(replace(sample, labels=labels, grades={k: v for k, v in grades.items() if v != PARTIAL}))
        split += [sample.question.id] if any(len(all_said) > 1 for all_said in said.values()) else []
    findings.note(f"grouped by {rules.id}; the grades are the scores named {scorer}")
    if split:
        findings.note(
            f"the scores of responses in one class disagree in {len(split):,} of "
            f"{plural(len(samples), 'question')}: these classes have no grade; the first is in {split[0]!r}"
        )
    return graded


def _verdict(sample: FileQuestion, drawn: FileResponse, scorer: str) -> Iterator[str]:
    """Give what a scorer says of a response, if anything."""
    for name, said in drawn.scores:
        if name == scorer:
            if said not in _SCORES:
                expected = f"a score of {scorer} that is a verdict (C, I, N, P, 1, 0, true or false)"
                raise fault(f"{sample.file}, {drawn.place}", expected, said)
            yield said


def _hash(samples: Sequence[FileQuestion]) -> str:
    """SHA-256 of the canonical JSON of everything that counts, a question at a time."""
    content = hashlib.sha256(b"[")
    for place, sample in enumerate(samples):
        content.update((b"," if place else b"") + canonical(_content(sample)).encode("utf-8", "surrogatepass"))
    content.update(b"]")
    return content.hexdigest()


def _content(sample: FileQuestion) -> list[Any]:
    q = sample.question
    confidences = [one.confidence for one in sample.drawn]
    content: list[Any] = [q.id, q.text, q.references, sample.answers, confidences, sample.labels, sample.grades]
    more = [sample.whole, [one.status for one in sample.drawn], [one.scores for one in sample.drawn]]
    plain = not sample.whole and all(one.status == "ok" and not one.scores for one in sample.drawn)
    read = content if plain else [*content, more]
    return [*read, _scores(sample)] if _has_scores(sample) else read


def _has_scores(sample: FileQuestion) -> bool:
    return bool(sample.numbers) or any(one.numbers for one in sample.drawn)


def _scores(sample: FileQuestion) -> dict[str, Any]:
    return scores_row(sample.numbers, [one.numbers for one in sample.drawn])


def _view(samples: Sequence[FileQuestion], judges: tuple[str, str], pattern: str | None) -> dict[str, Any]:
    sizes = {sample.question.id: len(sample.drawn) for sample in samples}
    n = max(sizes.values())
    if n == 0:
        raise ParseError(f"{samples[0].where}: expected at least one response; every attempt failed")
    return {
        "ids": list(sizes),
        "n": n,
        "sizes": sizes,
        "partition_judge": judges[0],
        "grade_judge": judges[1],
        "judge_prompt": "default",
        "grade_classes": "all",
        "not_attempted": "incorrect",
        "min_responses": 2,
        "answer_pattern": pattern,
    }


def sentences_of(findings: Findings) -> Iterator[str]:
    """Say what was left out and what was noted."""
    if findings.skipped:
        yield f"bad rows left out: {len(findings.skipped):,}; the first: {findings.skipped[0]}"
    if failed := findings.failed.total():
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in findings.failed.most_common() if count)
        yield visible(f"attempts that delivered no response, left out: {failed:,} ({reasons})")
    yield from findings.notes


def _rows(sample: FileQuestion) -> Iterator[StoredReply]:
    name = sample.question.id
    for i, one in enumerate(sample.drawn):
        about: dict[str, Any] = {"confidence": one.confidence, "file": sample.file, "place": one.place or sample.place}
        about |= {"whole": True} if sample.whole else {}
        about |= {"labelled": True} if sample.labels is not None else {}
        about |= {"scores": one.scores} if one.scores else {}
        key = digest(["respond", name, "samples", i])
        yield StoredReply(key, "respond", name, i, one.status, one.text, canonical(about))
    if _has_scores(sample):
        yield StoredReply(digest([STAGE, name, "samples"]), STAGE, name, 0, "ok", raw=canonical(_scores(sample)))
    if sample.labels is not None:
        body = canonical({"labels": sample.labels, "grades": sample.grades})
        yield StoredReply(given_key(name), "partition", name, 0, "ok", body, judge=GivenJudge.id)


def responses_of(sample: FileQuestion, pattern: str | None) -> Iterator[Response]:
    """Read the responses to a question."""
    about = _About(sample.whole, sample.labels is not None, pattern)
    for i, one in enumerate(sample.drawn):
        yield Response(sample.question.id, i, one.text, *_found(one.text, one.confidence, one.status, about))


class _About(NamedTuple):
    """How a response is read: as a whole text in which the answer is found, by which pattern; with a class given."""

    whole: bool
    labelled: bool
    pattern: str | None


_Found: TypeAlias = "tuple[str, float | None, ResponseStatus, str]"
"""Of a response: its answer, stated confidence, status, and the confidence in its words."""


def _found(text: str, confidence: float | None, status: FileStatus, about: _About) -> _Found:
    """Read one response; a confidence that the file gives beside it counts, not one in its text."""
    found = _read(text, status, about)
    return found if confidence is None or status != "ok" else (found[0], confidence, found[2], "")


@lru_cache(maxsize=256)
def _read(text: str, status: FileStatus, about: _About) -> _Found:
    """Read a text, which is the answer, or in which it is found as in a reply to our own prompt; many come again.

    A text that is blank is no answer; where the file gives it a class it stays in it, as a non-answer.
    """
    if status != "ok":
        return "", None, status, ""
    if about.whole:
        found = read_response(text, pattern=None if about.pattern is None else re.compile(about.pattern))
        return found.answer, found.confidence, found.status, found.stated
    read_as: ResponseStatus = "non_answer" if is_non_answer(text) else "parsed"
    if is_blank(text):
        read_as = "non_answer" if about.labelled else "empty"
    return text.strip(), None, read_as, ""


_json = json.JSONDecoder().raw_decode
"""Reads what this program wrote, in half the time of ``json.loads``."""


def read_sample(reply: StoredReply, pattern: str | None = None) -> Response:
    """Read one stored sample; `pattern` finds the answer in whole responses."""
    about, _ = _json(reply.raw)
    how = _About(about.get("whole", False), about.get("labelled", False), pattern)
    found = _found(reply.text, about["confidence"], cast("FileStatus", reply.status), how)
    return Response(reply.question_id, reply.index, reply.text, *found)
