"""Made-up runs for the tests of what is shown: questions, responses, classes and grades drawn from a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from semece.records import Estimate, Partition, Question, Response
from semece.runs import QuestionView, RunFacts, graded_classes
from semece.show.report import Page
from semece.show.tables import summary_row
from semece.stats.estimators import estimate
from semece.stats.theory import regime


def make_view(i, rng, *, n=20, skill=0.5, words=("Paris", "Lyon", "Rome", "Bonn", "Oslo", "Bern", "Riga", "Kyiv")):
    """One question whose classes are words, of which the first is right."""
    pmf = rng.dirichlet(np.full(len(words), 0.4))
    if rng.random() < skill:
        pmf = np.sort(pmf)[::-1]
    drawn = rng.choice(len(words), size=n, p=pmf)
    order = list(dict.fromkeys(drawn.tolist()))
    labels = tuple(order.index(k) for k in drawn)
    answers = [words[k] if rng.random() < 0.8 else words[k].lower() for k in drawn]
    question = Question(f"q{i}", f"What is the capital of country number {i}?", (words[0], words[0].upper()))
    responses = tuple(
        Response(
            question.id, j, f"Answer: {a}", a, None if rng.random() < 0.1 else float(rng.uniform(0.5, 1)), "parsed"
        )
        for j, a in enumerate(answers)
    )
    partition = Partition(question.id, labels, tuple(words[k] for k in order), "rules/1")
    grades = {label: "correct" if k == 0 else "incorrect" for label, k in enumerate(order)}
    return with_estimate(
        QuestionView(question, responses, partition, grades, Estimate(question.id, "incomplete", 0, 0))
    )


def with_estimate(view):
    """Fill in the numbers of a view as a run does."""
    correct = [float(view.grades[k] == "correct") for k in range(len(view.grades))]
    row = estimate([view.partition.labels], [correct], [[r.confidence for r in view.responses]]).to_dicts()[0]
    return replace(view, estimate=Estimate(**{**row, "question_id": view.question.id}))


def estimates_of(views):
    """The table that a run makes of these views."""
    names = list(Estimate.__dataclass_fields__)
    rows = [{name: plain(getattr(view.estimate, name)) for name in names} for view in views]
    schema = {name: pl.String if name in {"question_id", "status"} else pl.Float64 for name in names}
    schema |= {"n_responses": pl.Int64, "n_classes": pl.Int64, "refused": pl.Boolean}
    regimes = [
        None if e.margin is None else str(regime(e.margin, e.top_two_mass, e.n_classes, e.n_responses, design="as-run"))
        for e in (view.estimate for view in views)
    ]
    return pl.DataFrame(rows, schema=schema).with_columns(
        pl.Series("text", [plain(view.question.text) for view in views], dtype=pl.String),
        pl.Series("regime", regimes, dtype=pl.String),
    )


def plain(value):
    """A text that a table can hold: no lone surrogates."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def make_views(count, *, seed=0, **options):
    """Many questions."""
    rng = np.random.default_rng(seed)
    return [make_view(i, rng, **options) for i in range(count)]


def make_page(views, *, name="starter · local/smollm2", judges=("rules", "rules"), n=20, **more):
    """The page of a run made of these views."""
    estimates = estimates_of(views)
    statuses = [response.status for view in views for response in view.responses]
    counts = {status: statuses.count(status) for status in set(statuses)} | {"missing": 0} | more.pop("counts", {})
    complete = more.pop("complete", (len(views), len(views)))
    summary = summary_row(estimates, RunFacts(name, judges, n, counts), classes=graded_classes(views))
    return Page(summary, judges, estimates, views, counts, complete, **more)
