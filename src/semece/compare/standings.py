"""Several runs on the same questions: what changes from the first to the others, who is ahead, and what drifts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from semece.errors import SemeceError
from semece.runs import (
    Binning,
    directions,
    given_scores,
    graded_classes,
    names_of,
    number_text,
    percent_text,
    pool_of,
    quantities,
    residual_quantities,
)
from semece.stats import (
    CHANGE,
    RANKS,
    SURE,
    Resampling,
    change_at_look,
    change_of_terms,
    compare_arms,
    frame,
    rank_arms,
    ranks_of_terms,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.runs import Confidence, Correction, GradedClasses, QuestionView, Run
    from semece.stats import ErrorTerms, Pool, SemX


@dataclass(frozen=True, slots=True)
class Standings:
    """Runs on the same questions.

    Parameters
    ----------
    runs : tuple of str
        Their names.
    questions : int
        How many are complete in all of them: only these are compared.
    left_out : dict of str to int
        Per run the questions that are complete there and not everywhere.
    audits : dict of str to str
        Per run the sheets of the audit that corrects the errors of its judge; runs without one are not here.
    changes : polars.DataFrame
        Each later run against the first: ``run``, ``quantity``, ``questions``, ``first``, ``second``, ``change`` with
        ``change_low`` and ``change_high``, ``reason`` (:func:`semece.stats.diagnostics.compare_arms`).
    ranking : polars.DataFrame
        ``quantity``, ``run``, ``questions``, ``value``, ``debiased``, ``rank`` with ``rank_low`` and ``rank_high``,
        ``ahead`` (:func:`semece.stats.diagnostics.rank_arms`).
    """

    runs: tuple[str, ...]
    questions: int
    left_out: dict[str, int]
    audits: dict[str, str]
    changes: pl.DataFrame
    ranking: pl.DataFrame


class Arms(NamedTuple):
    """Runs on the questions that are complete in all of them.

    Parameters
    ----------
    pools : dict of str to Pool
        The questions of each run, by its name.
    residuals : dict of str to SemX or ErrorTerms
        SemX's residuals of the same questions, or what they sum up to once an audit has corrected them; empty unless
        every run has a grade for every class.
    left_out : dict of str to int
        Per run the questions that are complete there and not everywhere.
    audits : dict of str to str
        Per run the sheets of the audit that corrects the errors of its judge.
    """

    pools: dict[str, Pool]
    residuals: dict[str, SemX | ErrorTerms]
    left_out: dict[str, int]
    audits: dict[str, str]

    @property
    def questions(self) -> int:
        """How many are compared."""
        return len(next(iter(self.pools.values())).question)

    @property
    def given(self) -> tuple[Confidence, ...]:
        """The scores that all runs were given beside their own, and as the same kind."""
        scores = [dict.fromkeys(each.scores, False) | dict.fromkeys(each.ranked, True) for each in self.pools.values()]
        first = scores[0].items()
        return given_scores({name: kind for name, kind in first if all(each.get(name) == kind for each in scores)})

    def terms(self) -> Iterator[tuple[str, list[ErrorTerms]]]:
        """Give the numbers about the model, with their terms in each run."""
        for name, made in residual_quantities().items() if self.residuals else ():
            yield name, [made(each) for each in self.residuals.values()]


def compare_runs(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> Standings:
    """Compare runs on the questions that are complete in all of them.

    Parameters
    ----------
    runs : sequence of Run
        At least two, all with the same number of responses per question.
    names : sequence of str, optional
        What to call them, each otherwise. Without it the models, or the files where models are called alike.

    Returns
    -------
    Standings

    Raises
    ------
    SemeceError
        Fewer than two runs, one run twice, different numbers of responses, an id whose question has another text
        elsewhere, or no question in common.
    """
    arms = common_questions(runs, names=names)
    head = tuple(arms.pools), arms.questions, arms.left_out, arms.audits
    return Standings(*head, changes_of(arms), _ranking(arms))


def common_questions(runs: Sequence[Run], *, names: Sequence[str] | None = None) -> Arms:
    """Take the questions that are complete in all runs; raises as :func:`compare_runs`."""
    if len(runs) < 2:
        raise SemeceError(f"at least two runs are needed to compare (or --judges and two judges); got {len(runs)}")
    names, (shared, more) = names or names_of(runs), _shared(runs)
    views = dict(zip(names, shared, strict=True))
    pools = {name: pool_of(some) for name, some in views.items()}
    arms = Arms(pools, _residuals(views), dict(zip(names, more, strict=True)), {})
    common = [view.question.id for view in shared[0]]
    corrections = {name: run.correction.among(common) for name, run in zip(names, runs, strict=True) if run.correction}
    for name, correction in corrections.items():
        arms = _corrected(arms, name, correction, graded_classes(views[name]))
    return arms


def _shared(runs: Sequence[Run]) -> tuple[list[list[QuestionView]], list[int]]:
    """Give each run's questions that are complete in all runs, and how many more are complete in it."""
    paths = [Path(run.path).resolve() for run in runs]
    for path in paths:
        if paths.count(path) > 1:
            raise SemeceError(f"a run cannot be compared with itself; {path.name} is named {paths.count(path)} times")
    _check_sizes(runs)
    complete = [_complete(run) for run in runs]
    common = sorted(set(complete[0]).intersection(*complete[1:]))
    if not common:
        raise SemeceError(f"no question is complete in all of {', '.join(str(run.path) for run in runs)}")
    _check_texts(runs, complete, common)
    return [[every[i] for i in common] for every in complete], [len(every) - len(common) for every in complete]


def reference_note(runs: Sequence[Run]) -> str | None:
    """Say that the references of common questions differ between runs, since part of a change may be theirs.

    Parameters
    ----------
    runs : sequence of Run
        As for :func:`compare_runs`, or :func:`compare_over_time`.

    Returns
    -------
    str or None
        One sentence; None where all common questions have the same references.
    """
    known = [{view.question.id: set(view.question.references) for view in run.question_views()} for run in runs]
    differ = sorted({name for some in known[1:] for name in some if some[name] != known[0].get(name, some[name])})
    if not differ:
        return None
    of = "1 question differ" if len(differ) == 1 else f"{len(differ):,} questions differ"
    where = f"{differ[0]!r}" if len(differ) == 1 else f"the first is {differ[0]!r}"
    return f"The references of {of} between the runs ({where}): part of a change may be theirs."


class Drift(NamedTuple):
    """Runs of the same questions over time, each against the first.

    Parameters
    ----------
    runs : tuple of str
        Their names; the first is the baseline.
    looks : polars.DataFrame
        Per later run and quantity, ``accuracy`` and ``held_out_gap``: ``look`` (from 1), ``run``, ``quantity``,
        ``questions``, ``first``, ``second``, ``change`` with ``change_low`` and ``change_high``, ``alarm`` (whether
        the interval leaves 0 out), ``reason`` (why there is no interval).
    left_out : dict of str to int
        Per later run the questions that are complete there or at the baseline, and not in both.
    """

    runs: tuple[str, ...]
    looks: pl.DataFrame
    left_out: dict[str, int]


LOOK: dict[str, type] = {
    "look": int,
    "run": str,
    "quantity": str,
    "questions": int,
    **dict.fromkeys(("first", "second", "change", "change_low", "change_high"), float),
    "alarm": bool,
    "reason": str,
}
"""Columns of a look."""

FALSE_ALARMS = 0.05
"""How often a model that has not changed may have an alarm, at all looks and in both quantities together."""


def compare_over_time(runs: Sequence[Run]) -> Drift:
    """Say at each look whether a model has changed since the first run, on the same questions.

    Parameters
    ----------
    runs : sequence of Run
        The baseline, then every later run in the order of time: a run that is left out would let the others spend its
        share of false alarms.

    Returns
    -------
    Drift
        Intervals of :func:`semece.change_at_look`; accuracy and the held-out gap share :data:`FALSE_ALARMS`.

    Raises
    ------
    SemeceError
        As :func:`compare_runs`.
    """
    if len(runs) < 2:
        raise SemeceError(f"at least two runs are needed, the baseline first and then each look; got {len(runs)}")
    names, left_out = names_of(runs), dict[str, int]()
    rows: list[dict[str, Any]] = []
    for look, (name, run) in enumerate(zip(names[1:], runs[1:], strict=True), 1):
        views, more = _shared([runs[0], run])
        left_out[name] = sum(more)
        sides = {"accuracy": [_correctness(some) for some in views], "held_out_gap": [_gaps(some) for some in views]}
        rows += [{"look": look, "run": name, "quantity": each} | _look(look, *sides[each]) for each in sides]
    return Drift(tuple(names), frame(rows, LOOK), left_out)


def _look(look: int, then: dict[str, float], now: dict[str, float]) -> dict[str, Any]:
    """Compare what questions have at a look with what they had at the baseline."""
    common = [name for name in then if name in now]
    if not common:
        return {"questions": 0, "reason": "no question in common whose classes are graded"}
    first, second = (np.array([side[name] for name in common]) for side in (then, now))
    change, low, high = change_at_look(second - first, look, alarms=FALSE_ALARMS / 2)
    row = {"questions": len(common), "first": first.mean(), "second": second.mean(), "change": change}
    if np.isinf(low):
        return row | {"alarm": False, "reason": f"{len(common)} questions are too few for an interval at look {look}"}
    return row | {"change_low": low, "change_high": high, "alarm": low > 0 or high < 0}


def _correctness(views: Sequence[QuestionView]) -> dict[str, float]:
    """Give how right the most frequent answer to each question is."""
    return {view.question.id: view.estimate.correct for view in views if view.estimate.correct is not None}


def _gaps(views: Sequence[QuestionView]) -> dict[str, float]:
    """Give each question's residual of SemX, summed over bins; nothing where only some classes are graded."""
    found = graded_classes(views)
    residuals = found.residuals()
    if residuals is None or residuals.ungraded.any():
        return {}
    sums = np.bincount(residuals.question, residuals.value, len(found.ids))
    return {str(found.ids[place]): float(sums[place]) for place in residuals.questions}


def _corrected(arms: Arms, name: str, correction: Correction, classes: GradedClasses) -> Arms:
    """Correct the judge's errors in one run, by an audit of it, where that can be done.

    SemX has to be corrected in it too, or it is compared in no run: its numbers would be of two kinds.
    """
    outcomes = correction.outcomes()
    if outcomes is None:
        return arms
    pools = arms.pools | {name: arms.pools[name]._replace(correct=outcomes)}
    terms = correction.held_out_terms(classes, Binning()) if arms.residuals else None
    residuals = {} if terms is None else arms.residuals | {name: terms}
    return arms._replace(
        pools=pools, residuals=residuals, audits=arms.audits | {name: ", ".join(correction.audit.sheets)}
    )


def _residuals(views: Mapping[str, Sequence[QuestionView]]) -> dict[str, SemX | ErrorTerms]:
    """Give SemX's residuals of each run; nothing unless all have them, of the same questions and fully graded."""
    found = {name: graded_classes(some).residuals() for name, some in views.items()}
    known = {name: each for name, each in found.items() if each is not None and not each.ungraded.any()}
    questions = [each.questions for each in known.values()]
    alike = len(known) == len(views) and all(np.array_equal(questions[0], each) for each in questions)
    return {**known} if alike else {}


def changes_of(arms: Arms, *, level: float = 0.95) -> pl.DataFrame:
    """Tabulate how each later run differs from the first; see :class:`Standings`."""
    resampling = Resampling(level=level)
    found = compare_arms(arms.pools, resampling=resampling, quantities=quantities(arms.given))
    names = list(arms.pools)[1:]
    rows = [
        {"arm": name} | change_of_terms(quantity, terms[0], second, resampling=resampling)
        for quantity, terms in arms.terms()
        for name, second in zip(names, terms[1:], strict=True)
    ]
    parts = [found] if not rows else [found, frame(rows, {"arm": str, "quantity": str, **CHANGE})]
    columns = {"arm": "run", "low": "change_low", "high": "change_high"}
    order = pl.col("arm").replace_strict({name: place for place, name in enumerate(names)}, return_dtype=pl.Int64)
    return pl.concat(parts).sort(order, maintain_order=True).rename(columns)


def _ranking(arms: Arms) -> pl.DataFrame:
    """Rank the runs; see :class:`Standings`."""
    better = directions(arms.given)
    found = rank_arms(arms.pools, quantities=quantities(arms.given))
    rows = [
        row
        for name, terms in arms.terms()
        if name in better
        for row in ranks_of_terms(name, list(arms.pools), terms, higher=better[name] == "higher")
    ]
    parts = [found] if not rows else [found, frame(rows, {"quantity": str, "arm": str, **RANKS})]
    return pl.concat(parts).rename({"arm": "run"})


def _complete(run: Run) -> dict[str, QuestionView]:
    return {view.question.id: view for view in run.question_views() if view.estimate.status == "complete"}


def _check_sizes(runs: Sequence[Run]) -> None:
    """Refuse runs with different numbers of responses: Sem1 and Sem2 depend on them."""
    for run in runs[1:]:
        if run.n != runs[0].n:
            sizes = f"{runs[0].n} in {runs[0].path} and {run.n} in {run.path}"
            raise SemeceError(f"runs that are compared must have as many responses per question; got {sizes}")


def _check_texts(runs: Sequence[Run], complete: Sequence[dict[str, QuestionView]], common: Sequence[str]) -> None:
    """Refuse an id that is another question in another run."""
    for run, views in zip(runs[1:], complete[1:], strict=True):
        for i in common:
            one, other = complete[0][i].question.text, views[i].question.text
            if one != other:
                texts = f"{one[:60]!r} in {runs[0].path} and {other[:60]!r} in {run.path}"
                raise SemeceError(f"runs are compared on the same questions; question {i!r} is {texts}")


def leader(title: str, ranks: pl.DataFrame) -> str:
    """Say who is ahead in a quantity and how surely, or which runs cannot be told apart."""
    first = ranks.row(0, named=True)
    if first["rank_low"] is None:
        return f"{title}: too few questions to say who is ahead."
    equal = ranks.filter(ranks["rank_low"] == 1)
    if equal.height > 1:
        behind = "" if equal.height == ranks.height else "; the others are surely behind one of them"
        return f"{title}: {', '.join(equal['run'][:-1])} and {equal['run'][-1]} cannot be told apart{behind}."
    if first["ahead"] <= SURE:
        return f"{title}: no run is surely ahead of all the others."
    second = ranks.row(1, named=True)
    against = f"{number_text(first['debiased'])} against {number_text(second['debiased'])} of {second['run']}"
    return f"{title}: {first['run']} is ahead ({against}; {sureness(first['ahead'])} sure)."


def sureness(share: float) -> str:
    """Write how sure something is, without calling 99.6 % certain.

    Examples
    --------
    >>> sureness(0.968), sureness(0.9995)
    ('97 %', 'over 99 %')
    """
    return "over 99 %" if share > 0.99 else percent_text(share)
