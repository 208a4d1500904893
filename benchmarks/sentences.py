"""Whether a sentence ever contradicts a number on its page, and an interval its own value: small random run files.

Every run is stored by `semece score` and read as `semece summary`, `semece table` and `semece report` read it. What is
said is compared with what is printed, as a reader would: the words with the printed digits.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks._tables import table
from semece.compare.audit.draws import allocate
from semece.errors import SemeceError
from semece.runs.corrections import AuditedRow, KeptAudit
from semece.runs.question_views import answers_of
from semece.runs.run import Run
from semece.runs.scored_samples import SamplesReading, score
from semece.runs.summary_rows import headline, summary_table
from semece.show import tables
from semece.show.report import build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

TITLE = "Sentences and numbers"
RUNS = int(os.environ.get("SENTENCES_RUNS", "1000"))
PAGES = 10
"""One run in so many is also read from its report."""
SEED = int(os.environ.get("SENTENCES_SEED", "0"))
"""Number of the first run: other numbers are other runs."""
TEXT = """{runs:,} random run files of {kinds} kinds, 1 to 90 questions, 2 to 50 answers, {pages:,} with their report.
Compared: every sentence with the numbers printed beside it (values, ends, counts, which of two is larger, on which side
of 0, what is 'within', what a threshold takes and promises), and every value with the ends of its interval, in full
digits and as printed, in tables, of one run in four in all of them. 'Pooled': two runs of the same questions, also
together; 'audited': people judged some of the answers, as many as a correction takes, few, or all.
"""
WORDS = ("Paris", "Rome", "Oslo", "Bern", "Riga", "Kyiv")
NAMES = ("ece", "semx", "bootstrap", "abstention")
MORE_NAMES = ("baselines", "margin", "sweep", "rate", "slope", "alignment")
"""Tables without a sentence about them, of one run in four."""


def pmf_of(kind: str, k: int, rng: np.random.Generator) -> np.ndarray:
    """Class probabilities of a question."""
    if kind in {"unanimous", "one bin"}:
        return np.eye(k)[0]
    if kind == "ties":
        return np.array([0.5, 0.5, *np.zeros(k - 2)])
    if kind == "nearly certain":
        return np.array([0.97, 0.03, *np.zeros(k - 2)])
    return rng.dirichlet(np.full(k, rng.choice([0.2, 0.6, 2.0])))


KINDS = (
    *("calibrated", "over-confident", "under-confident", "crossing", "unanimous", "ties", "nearly certain"),
    *("all wrong", "refusals", "only refusals", "deployed graded", "some ungraded", "no references", "unequal"),
    *("failures", "silent", "two answers", "three answers", "one question", "few questions"),
    *("many answers", "one bin", "given scores", "pooled", "audited", "audited crossing", "few audited", "all audited"),
)
AUDITED = {"audited": 50, "audited crossing": 60, "few audited": 20, "all audited": 1000}
"""How many answers people judge."""
SCORES = {"p_true": None, "doubt": "lower"}
"""Scores of the kind with its own, and what their numbers mean."""


def right_class(kind: str, pmf: np.ndarray, rng: np.random.Generator) -> int:
    """Draw which class is right, -1 for none: by the question's own probabilities where the kind says nothing else."""
    own, best = int(rng.choice(len(pmf), p=pmf)), int(pmf.argmax())
    if kind == "over-confident":
        return -1 if rng.random() < 0.4 else own
    if kind == "one bin":
        return own if rng.random() < 0.7 else -1
    if "crossing" in kind:
        return best if pmf.max() < 0.6 else int(rng.integers(-1, len(pmf)))
    return {"all wrong": -1, "under-confident": best}.get(kind, own)


def rows_of(kind: str, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Draw the samples of a run."""
    sizes = [30, 40, 50] if kind == "many answers" else [2, 4, 5, 8, 12, 20]
    n = {"two answers": 2, "three answers": 3}.get(kind, int(rng.choice(sizes)))
    least, most = (60, 91) if kind in AUDITED else (10, 61)
    count = {"one question": 1, "few questions": 6}.get(kind, int(rng.integers(least, most)))
    for q in range(count):
        k = len(WORDS)
        pmf = pmf_of(kind, k, rng)
        drawn = rng.choice(k, n - int(rng.integers(0, n // 2 + 1)) * (kind == "unequal"), p=pmf)
        yield sample(kind, q, drawn.tolist(), right_class(kind, pmf, rng), rng)


def sample(kind: str, q: int, drawn: list[int], right: int, rng: np.random.Generator) -> dict[str, Any]:
    """One question with its answers, and with classes and grades unless rules are to judge it."""
    row: dict[str, Any] = {"id": f"q{q}", "question": f"Which city is number {q}?", "references": [WORDS[right]]}
    refused = {"refusals": 0, "only refusals": drawn[0]}.get(kind)
    answers = ["" if each == refused else WORDS[each] for each in drawn]
    row["answers"] = answers
    if kind != "silent":
        row["confidences"] = [round(float(rng.uniform(0.3, 1)), 2) for _ in drawn]
    if kind == "given scores":
        row["scores"] = {"p_true": round(float(rng.uniform(0, 1)), 2), "doubt": round(float(rng.normal()), 1)}
    if kind == "failures":
        return row | {"answers": [answer if rng.random() < 0.8 else "" for answer in answers]}
    if kind == "no references":
        row["references"] = []
    order = list(dict.fromkeys(drawn))
    grades = {str(label): "correct" if each == right else "incorrect" for label, each in enumerate(order)}
    grades |= {str(order.index(refused)): "not_attempted"} if refused in order else {}
    if kind == "deployed graded":
        most = max(map(drawn.count, order))
        grades = {label: said for label, said in grades.items() if drawn.count(order[int(label)]) == most}
    if kind == "some ungraded":
        grades = {label: said for label, said in grades.items() if rng.random() < 0.97}
    if kind == "no references":
        grades = {}
    return row | {"labels": [order.index(each) for each in drawn], "grades": grades}


class Shown(HTMLParser):
    """The words of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.words: list[str] = []
        self.feed(text)

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.words.append(data)

    @property
    def text(self) -> str:
        """All of them on one line."""
        return " ".join(" ".join(self.words).split())


def make_run(folder: Path, kind: str, seed: int) -> Path:
    """Store a random run."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    source, path = folder / f"{seed}.jsonl", folder / f"{seed}.db"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows_of(kind, rng)), encoding="utf-8")
    kinds = SCORES if kind == "given scores" else {}
    score([source], path, reading=SamplesReading(scores=kinds, name=path.stem, dataset="cities"))
    source.unlink()
    if kind in AUDITED:
        audit(path, AUDITED[kind], rng)
    return path


def audit(path: Path, size: int, rng: np.random.Generator) -> None:
    """Keep an audit: people differ from the judge on some of the deployed answers, drawn by its verdict."""
    with Run(path) as run:
        answers = [each for each in answers_of(run.question_views()) if not each.blank]
        said = np.array([int(each.said) for each in answers])
        strata = [np.flatnonzero(said == side) for side in (0, 1)]
        wanted = allocate(np.array([len(each) for each in strata]), min(size, len(answers)))
        wrong = rng.uniform(0.0, 0.3)
        rows = tuple(
            AuditedRow(answers[i].question.id, answers[i].answer, side, float(said[i] ^ (rng.random() < wrong)))
            for side, (inside, n) in enumerate(zip(strata, wanted, strict=True))
            for i in rng.permutation(inside)[:n].tolist()
        )
        run.keep_audit(KeptAudit("one", ("audit-1.csv",), "verdict", tuple(map(len, strata)), rows))


def complaints(path: Path, others: Sequence[Path] = (), *, page: bool = False) -> Iterator[str]:
    """Say what contradicts what in a run, and in the tables of it and others."""
    with Run(path) as run, ExitStack() as stack:
        every = [run, *(stack.enter_context(Run(other)) for other in others)]
        summary = summary_table([run])
        row = summary.row(0, named=True)
        yield from outside(summary, "summary")
        best = row["semx_ece_debiased"]
        if best is not None and not row["semx_ece_low"] - 1e-12 <= best <= row["semx_ece_high"] + 1e-12:
            yield f"summary: the debiased SemX-ECE {best} is outside {row['semx_ece_low']} to {row['semx_ece_high']}"
        bracket = [row[f"oracle_{end}"] for end in ("low", "lower", "upper", "high")]
        if row["oracle"] is not None and bracket != sorted(bracket):
            yield f"summary: the ends of the oracle confidence are out of order: {bracket}"
        for name in (*NAMES, *(MORE_NAMES if page or path.stem[-1] in "37" else ())):
            yield from every_table(every, name)
        yield from wrong_thresholds(run)
        head, (cells,) = tables.cells(headline(summary))
        printed, said = dict(zip(head, cells, strict=True)), tables.says(row)
        yield from wrong_words(printed, said, row)
        if page:
            yield from on_page(build([run], path.with_suffix(".html")), printed, said)


def wrong_thresholds(run: Run) -> Iterator[str]:
    """Compare what a threshold takes and promises with its numbers, without slices."""
    for target in (0.5, 0.9):
        try:
            found = tables.decide(run, target=target)
        except SemeceError:  # no question is complete, and that is said
            return
        said, promises = " ".join(found.needs), " ".join(found.notes)
        for row in found.table.to_dicts():
            corrected = row["audit"] is not None
            if f"at least {row['needed']:,} answers" not in said or corrected != ("that the audit corrects" in said):
                yield f"abstain: {said} beside {row}"
            if row["threshold"] is None:
                few = re.match(r"fewer than (\d+) answers", row["reason"])
                if few and int(few.group(1)) != row["needed"]:
                    yield f"abstain: {row['reason']} beside {said}"
            elif row["promise"] not in promises or not target <= row["accuracy_low"] <= row["accuracy"]:
                yield f"abstain: {promises} beside {row}"
            elif row["answered"] < row["needed"] or row["answered"] > row["questions"]:
                yield f"abstain: {said} beside {row}"


def every_table(runs: Sequence[Run], name: str) -> Iterator[str]:
    """Check the intervals of a table, by budget too."""
    for by in ("bin", "budget") if name == "semx" else ("bin",):
        try:
            found = tables.paper_table(name, runs, by=by)
        except SemeceError:  # there is no such table of this run, and it says so
            continue
        yield from outside(found, f"table {name} by {by}")


NUMBER = r"-?\d[\d.,]*\d|-?\d"


def outside(found: pl.DataFrame, where: str) -> Iterator[str]:
    """Find numbers outside their intervals, in full digits and as printed."""
    for name in found.columns:
        ends = [f"{name}_low", f"{name}_high"]
        if not set(ends) <= set(found.columns):
            continue
        for value, low, high in found.select(name, *ends).iter_rows():
            if None not in {value, low, high} and not low - 1e-12 <= value <= high + 1e-12:
                yield f"{where}: {name} {value} is outside {low} to {high}"
    for digits in (2, 3):
        head, rows = tables.cells(found, digits=digits)
        for row in rows:
            for name, text in zip(head, row, strict=True):
                if ends := re.fullmatch(rf"({NUMBER}) \[({NUMBER}), ({NUMBER})\]", text):
                    value, low, high = (float(each.replace(",", "")) for each in ends.groups())
                    if not low <= value <= high and not (value == 0 and max(abs(low), abs(high)) < 0.5 * 10**-digits):
                        yield f"{where}: {name} is printed as {text}"


def triple(text: str) -> tuple[float, float, float]:
    """Read a printed number with its interval."""
    value, low, high = re.findall(NUMBER, text)
    return float(value), float(low), float(high)


def wrong_words(printed: dict[str, str], said: dict[str, str], row: dict[str, Any]) -> Iterator[str]:
    """Compare sentences with the printed table."""
    if not row["questions"]:
        if "Nothing can be said" not in said["model"]:
            yield f"something is said of no question: {said}"
        return
    yield from wrong_model(printed, said["model"], row)
    yield from wrong_confidences(printed, said["confidences"], row)
    yield from wrong_regime(printed, said["regime"])
    counted = re.match(r"To ([\d,]+) of ([\d,]+) question", said["refusals"])
    shown = (printed.get("Not answered", "0"), printed["N"])
    if (counted.groups() if counted else ("0", printed["N"])) != shown:
        yield f"refusals: {said['refusals']!r} beside {shown}"


def wrong_model(printed: dict[str, str], said: str, row: dict[str, Any]) -> Iterator[str]:
    """Compare what is said of the model with the held-out gap, SemX-ECE or the bracket."""
    found = re.search(rf"held-out gap ({NUMBER}), 95 % interval ({NUMBER}) to ({NUMBER})", said)
    bracket = re.search(rf"between ({NUMBER}) and ({NUMBER}), 95 % interval ({NUMBER}) to ({NUMBER})", said)
    if "Nothing can be said" in said:
        if printed["Held-out gap"] != "—":
            yield f"model: {said} beside {printed['Held-out gap']}"
    elif found is not None:
        value, low, high = map(float, found.groups())
        if triple(printed["Held-out gap"]) != (value, low, high):
            yield f"model: {found.group()} beside {printed['Held-out gap']}"
        yield from wrong_error(printed, said, row)
        yield from wrong_claim(said, row, low, high)
    elif bracket is not None:
        least, most, low, high = map(float, bracket.groups())
        if not low <= least <= most <= high:
            yield f"model: the bracket {least} to {most} is outside {low} to {high}"
        yield from wrong_claim(said, row, low, high)
    else:
        yield f"model: no number in {said}"


def wrong_claim(said: str, row: dict[str, Any], low: float, high: float) -> Iterator[str]:
    """Compare a claim with the side of 0 on which its interval lies, and with the judge."""
    enough = row["model_questions"] >= 10
    claims = ("It is over-confident" in said, "It is under-confident" in said)
    undecided = "cannot tell" in said.lower() or "No miscalibration" in said
    if claims != (enough and low > 0, enough and high < 0) or (undecided and enough and not low <= 0 <= high):
        yield f"model: {said}"
    if row["model_claim"] and row["judge"] != "given" and f"({row['judge']})" not in said:
        yield f"model: no judge in {said}"
    if overturn := re.search(r"would not hold if ([\d,]+) of ([\d,]+) graded", said):
        some, every = (int(each.replace(",", "")) for each in overturn.groups())
        if not 0 < some <= every:
            yield f"model: {overturn.group()}"


def wrong_error(printed: dict[str, str], said: str, row: dict[str, Any]) -> Iterator[str]:
    """Compare what is said of SemX-ECE with its cell, and with what the test says."""
    value, low, high = triple(printed["SemX-ECE"])
    if found := re.search(rf"SemX-ECE ({NUMBER}), ({NUMBER}) to ({NUMBER})", said):
        if tuple(map(float, found.groups())) != (value, low, high):
            yield f"model: {found.group()} beside {printed['SemX-ECE']}"
    elif row["semx_ece_n_select"] > 1:
        yield f"model: no SemX-ECE in {said}"
    within = re.search(rf"calibrated within ({NUMBER})", said)
    if within and float(within.group(1)) != high:
        yield f"model: {within.group()} beside {printed['SemX-ECE']}"
    yield from wrong_hidden(triple(printed["Held-out gap"]), (value, low, high), said, row)


def wrong_hidden(
    gap: tuple[float, float, float], error: tuple[float, float, float], said: str, row: dict[str, Any]
) -> Iterator[str]:
    """Compare what is said of an error that the average does not show with the gap and SemX-ECE as printed."""
    (middle, least, most), (value, low, high) = gap, error
    if high < max(most, -least):
        yield f"model: SemX-ECE is at most {high} beside a gap of {least} to {most}"
    if "It is miscalibrated" in said and not (low > 0 and least <= 0 <= most and row["semx_ece_n_select"] > 1):
        yield f"model: {said}"
    if "though right on average" in said and (low < max(most, -least) or value <= abs(middle)):
        yield f"model: {said}"
    if low > 0 and not re.search("It is (over|under|mis)", said) and row["model_questions"] >= 10:
        yield f"model: nothing is claimed, though SemX-ECE leaves out 0: {said}"
    if low < max(least, -most):
        yield f"model: SemX-ECE begins at {low} beside a gap of {least} to {most}"
    if abs(middle) > value + 1e-9:
        yield f"model: the gap {middle} is larger than SemX-ECE {value}"


ROUNDED = 0.016
"""How far a gap of two rounded percentages and half of a rounded error may be apart."""

PERCENT = rf"(?:under |over )?({NUMBER}) %"
CONFIDENCE = re.compile(
    rf"(Ver|Sem1|Sem2|p_true) is ([^:]+): {PERCENT} on average, right {PERCENT} of the time "
    rf"\(ECE ({NUMBER}), 95 % interval ({NUMBER}) to ({NUMBER})(?:; ([\d,]+) questions?)?(?:; by the judge alone)?\)"
)


def wrong_confidences(printed: dict[str, str], said: str, row: dict[str, Any]) -> Iterator[str]:
    """Compare what is said of each confidence with its cells."""
    found = list(CONFIDENCE.finditer(said))
    kind = " (attempted)" if row["refused"] else ""
    wanted = [name for name in ("Ver", "Sem1", "Sem2", "p_true") if printed.get(f"{name}-ECE{kind}", "—") != "—"]
    if [each.group(1) for each in found] != wanted:
        yield f"confidences: {[each.group(1) for each in found]} instead of {wanted}: {said}"
    for each in found:
        name, level = each.group(1), each.group(2)
        average, right, value, low, high = (float(each.group(place)) for place in range(3, 8))
        if triple(printed[f"{name}-ECE{kind}"]) != (value, low, high):
            yield f"{name}: {each.group()} beside {printed[f'{name}-ECE{kind}']}"
        if not kind and each.group(8) is None and round(100 * triple(printed["Accuracy"])[0]) != right:
            yield f"{name}: {each.group()} beside an accuracy of {printed['Accuracy']}"
        gap = abs(average - right) / 100
        right_words = {
            "too high": average > right and low > 0,
            "too low": average < right and low > 0,
            "probably too high": average > right and low == 0,
            "probably too low": average < right and low == 0,
            "off, though right on average": low > 0 and gap <= value / 2 + ROUNDED,
            "off": low > 0 and gap >= value / 2 - ROUNDED,
            f"calibrated within {each.group(7)}": low == 0,
        }
        few = level.startswith("not judged") and row[f"{name.lower()}{'_attempted' if kind else ''}_questions"] < 10
        if not (few or right_words.get(level, False)):
            yield f"{name}: {each.group()}"
        if gap > high + 0.011:
            yield f"{name}: an average gap of {average} - {right} above the ECE's end {high}"


def wrong_regime(printed: dict[str, str], said: str) -> Iterator[str]:
    """Compare the regime's sentence with the shares and the two ECEs."""
    if not said:
        return
    shares = [int(each) for each in re.findall(r"\d+", printed["Jensen / low / large margin"])]
    if int(said.partition(" %")[0]) != max(shares):
        yield f"regime: {said} beside {shares}"
    one, two = (triple(printed[f"{name}-ECE"])[0] for name in ("Sem1", "Sem2"))
    if found := re.search(rf"Sem2-ECE \(({NUMBER})\) is (larger|smaller) than Sem1-ECE \(({NUMBER})\)", said):
        second, side, first = float(found.group(1)), found.group(2), float(found.group(3))
        if (first, second) != (one, two) or (side == "larger") != (second > first) or first == second:
            yield f"regime: {said} beside {one} and {two}"
    elif one != two or f"alike ({printed['Sem1-ECE'].partition(' ')[0]})" not in said:
        yield f"regime: {said} beside {one} and {two}"
    if ends := re.search(rf"Sem1-ECE - Sem2-ECE: ({NUMBER}) to ({NUMBER})", said):
        low, high = map(float, ends.groups())
        if ("may be chance" in said) != (low <= 0 <= high):
            yield f"regime: {said}"
        if found and not low <= one - two <= high and min(abs(one - two - low), abs(one - two - high)) > 0.011:
            yield f"regime: {said}"


def on_page(path: Path, printed: dict[str, str], said: dict[str, str]) -> Iterator[str]:
    """Find what the summary says and prints on the page of the report, and check what only the page says."""
    text = Shown(path.read_text(encoding="utf-8")).text
    for words in filter(None, said.values()):
        if words not in text:
            yield f"page: lacks {words}"
    for name, cell in printed.items():
        if " ".join(f"{name} {cell}".split()) not in text:
            yield f"page: lacks {name} {cell}"
    for target, here in re.findall(r"at least (\d+) % of the answers are right \(.*?here (\d+) %", text):
        if int(here) < int(target):
            yield f"page: promises {target} % right answers where {here} % are"


OTHER = 10**6
"""Added to the number of a run for the one that it is pooled with."""


def check(folder: Path, number: int, *, page: bool) -> tuple[str, list[str]]:
    """Make the run of a number, and list what is wrong with it."""
    kind = KINDS[number % len(KINDS)]
    path = make_run(folder, kind, number)
    others = [make_run(folder, kind, OTHER + number)] if kind == "pooled" else []
    found = list(complaints(path, others, page=page))
    for made in (*folder.glob(f"{number}.*"), *folder.glob(f"{OTHER + number}.*")):
        made.unlink()
    return kind, found


def main() -> str:
    """Check all runs."""
    runs, wrong = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(SEED, SEED + RUNS):
            kind, found = check(Path(folder), number, page=number // len(KINDS) % PAGES == 0)
            runs[kind] += 1
            wrong[kind] += bool(found)
            for each in found:
                print(f"run {number} ({kind}): {each}", flush=True)
    pages = sum(number // len(KINDS) % PAGES == 0 for number in range(SEED, SEED + RUNS))
    text = TEXT.format(runs=RUNS, kinds=len(KINDS), pages=pages)
    return (
        text
        + "\n"
        + table(["kind", "runs", "with a contradiction"], [[k, f"{runs[k]:,}", str(wrong[k])] for k in KINDS])
    )
