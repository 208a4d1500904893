"""Recalibration of a run: a map fitted to its questions, and a map of other questions applied to it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.errors import meant, ordinary, plural
from semece.runs.named_scores import TITLES
from semece.runs.scored_questions import score_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.runs.metrics import Floats
    from semece.runs.question_views import QuestionView
    from semece.runs.scored_questions import ScoredQuestions
    from semece.stats import Domain, Effect, Recalibration

MEASURES = {"gap": "Confidence − accuracy", "ece": "ECE", "brier": "Brier score", "auroc": "AUROC", "aurc": "AURC"}

KEEP_ORDER = ("temperature", "platt", "beta")
"""Maps that rise everywhere (platt: unless its notes say otherwise)."""


class RunRecalibration(NamedTuple):
    """A map fitted to a run, and what it changes on questions that it has not seen.

    Parameters
    ----------
    fitted : Recalibration
        Fitted to all questions, for others.
    effects : tuple of Effect
        Before and after, cross-fitted.
    n_questions : int
        Different questions that the map was fitted on.
    n_folds : int
        Folds of the cross-fitting.
    enough : int
        From about how many questions on this kind of map is good.
    n_refused : int
        Complete questions that were left out, because their most frequent answer is none.
    """

    fitted: Recalibration
    effects: tuple[Effect, ...]
    n_questions: int
    n_folds: int
    enough: int
    n_refused: int = 0

    @property
    def says(self) -> str:
        """Whether it helps, in a sentence."""
        from semece.stats import effect_sentence

        return effect_sentence(self.effects, self.fitted.notes)

    def lines(self) -> Iterator[str]:
        """Say it for people: a sentence, the table, what to know."""
        of = plural(self.n_questions, "question")
        yield f"{title_of(self.fitted.score)}, {self.fitted.method}, {of}: {self.says}"
        if self.n_refused:
            yield f"Left out: {plural(self.n_refused, 'question')} whose most frequent answer is none."
        yield ""
        yield from effect_lines(self.effects)
        yield ""
        yield f"Each 'after' comes from a map that has not seen its question ({self.n_folds} folds); brackets are 95 %."
        if self.n_questions < self.enough:
            yield f"A map of this kind ({self.fitted.method}) needs about {self.enough:,} questions; here are fewer."
        if self.fitted.method in KEEP_ORDER and not self.fitted.notes:
            yield "AUROC and AURC change only because maps of several folds are mixed: one map keeps the order."
        yield from (f"Note: {note}." for note in self.fitted.notes)
        noted = (each for each in self.effects if each.note and each.change.low == each.change.low)
        yield from (f"{MEASURES[each.name]}: {each.note}." for each in noted)

    def facts(self) -> dict[str, Any]:
        """Give it as plain data."""
        head = {"score": self.fitted.score, "method": self.fitted.method, "questions": self.n_questions}
        head["refused"] = self.n_refused
        effects = [effect_facts(each) for each in self.effects]
        more = {"folds": self.n_folds, "enough": self.enough, "notes": list(self.fitted.notes), "effects": effects}
        return {**head, "says": self.says, **more}


def recalibrate(run: ScoredQuestions, *, score: str = "sem1", method: str = "platt") -> RunRecalibration:
    """Fit a map to the complete questions of a run, and say what it changes by cross-fitting.

    Parameters
    ----------
    run : ScoredQuestions
        Of a run. Those that are complete, have the score and are not refused enter. Questions with one text are kept
        together.
    score : str
        What is recalibrated: ``sem1``, ``sem2``, ``verbalized``, or a score that the run was given.
    method : str
        One of :data:`semece.stats.recalibration.fitting.METHODS`, or ``dirichlet`` for ``sem1``: a map of the shares of
        the three largest classes, fitted to the questions of which every class is graded.

    Returns
    -------
    RunRecalibration

    Raises
    ------
    ValueError
        For a score or a method that is none, and for fewer than two questions.
    """
    import numpy as np

    from semece.stats import ENOUGH, check_choice, cross_fit, in_order, recalibration_effects

    given = score_names(run.views)
    check_choice("score", score, (*TITLES, *given))
    check_choice("method", method, tuple(ENOUGH))
    if method == "dirichlet" and score != "sem1":
        raise ValueError(f"dirichlet gives the confidence of the largest class, so its score is sem1; got {score!r}")
    complete = [view for view in run.views if view.estimate.status == "complete" and enters(view, score, method)]
    rows = [view for view in complete if not view.estimate.refused]
    if not rows:
        needed = "every class graded" if method == "dirichlet" else title_of(score)
        raise ValueError(f"no question is complete and has {needed}, so there is nothing to recalibrate")
    values = np.array([view.score(score) for view in rows])
    correct = np.array([view.estimate.correct for view in rows], dtype=float)
    questions = [identity_of(view) for view in rows]
    inputs, target = ranked(rows) if method == "dirichlet" else (values, correct)
    domain: Domain = "real" if given.get(score, False) else "unit"
    crossed = cross_fit(inputs, target, method=method, ids=questions, domain=domain)  # type: ignore[arg-type] # checked above
    fitted = fit_any(inputs, target, questions, (method, domain))
    ends = run.kinds[score][:2] if score in run.kinds else fitted.ends
    before = in_order(values) if domain == "real" else values
    return RunRecalibration(
        replace(fitted, score=score, ends=ends, fitted_on=dict(run.facts)),
        recalibration_effects(before, crossed.confidence, correct, ids=questions, ranked=domain == "real"),
        len(set(questions)),
        len(crossed.maps),
        ENOUGH[method],
        len(complete) - len(rows),
    )


def warning_of(fitted: Recalibration, now: Mapping[str, str]) -> str | None:
    """Say where a run differs from what a map was fitted on; None if it does not, as far as is known."""
    others = [name for name, what in fitted.fitted_on.items() if name in now and now[name] != what]
    if not others:
        return None
    told = ", ".join(f"{name} {fitted.fitted_on[name]} (here {now[name]})" for name in others)
    return f"the map was fitted on other runs, and may not hold here: {told}"


def title_of(score: str) -> str:
    """Say how a score is called."""
    return TITLES.get(score, score)


def enters(view: QuestionView, score: str, method: str) -> bool:
    """Whether a complete question has what a map of this kind is fitted to."""
    if method != "dirichlet":
        return view.score(score) is not None
    return view.partition is not None and set(view.partition.labels) <= set(view.grades)


def ranked(views: Sequence[QuestionView]) -> tuple[Floats, Floats]:
    """Give the shares of each question's classes by rank, and which is right; without grades none is."""
    from semece.stats import ranked_frequencies

    labels = [view.partition.labels if view.partition else () for view in views]
    counts = [Counter(each) for each in labels]
    right = [[view.grades.get(k) == "correct" for k in each] for view, each in zip(views, counts, strict=True)]
    found = ranked_frequencies([list(each.values()) for each in counts], right)
    return found.shares, found.target


def fit_any(given: Floats, target: Floats, questions: Sequence[str], how: tuple[str, Domain]) -> Recalibration:
    """Fit a map of any kind."""
    from semece.stats import fit_dirichlet, fit_recalibration

    method, domain = how
    if method == "dirichlet":
        return fit_dirichlet(given, target, ids=questions)
    return fit_recalibration(given, target, method=method, ids=questions, domain=domain)  # type: ignore[arg-type] # checked before


def load_recalibration(path: str | Path) -> Recalibration:
    """Read a map that ``semece recalibrate`` or :meth:`Recalibration.to_json` wrote; it needs numpy alone.

    Parameters
    ----------
    path : str or Path
        A JSON file.

    Returns
    -------
    Recalibration
        Call it with scores.

    Raises
    ------
    ValueError
        If the file cannot be read, is something else, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from semece import fit_recalibration
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "map.json"
    ...     _ = path.write_text(fit_recalibration([0.9] * 5, [1, 1, 0, 0, 1], method="histogram").to_json())
    ...     load_recalibration(path)([0.9, 0.5]).tolist()
    [0.6, 0.6]
    """
    from semece.stats import Recalibration

    try:
        return Recalibration.from_json(ordinary(Path(path)).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a map of 'semece recalibrate': it is not UTF-8 text") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def recalibrated(run: ScoredQuestions, fitted: Recalibration) -> tuple[QuestionView, ...]:
    """Put a map's confidences into the questions of a run, and leave out those that the map was fitted on.

    Raises
    ------
    ValueError
        The map takes no score of the run, or one of another kind, does not know its questions, or was fitted on all of
        these.
    """
    views = run.views
    _check_score(run, fitted)
    known = fitted.was_fitted_on(map(identity_of, views))
    first = fitted.was_fitted_on(map(first_identity_of, views))  # maps of the first format know their questions so
    known = [one or other for one, other in zip(known, first, strict=True)]
    kept = [view for view, seen in zip(views, known, strict=True) if not seen]
    if views and not kept:
        raise ValueError(
            f"the map was fitted on all {len(views):,} questions that this run has; "
            "what it changes is said, cross-fitted, by 'semece recalibrate'"
        )
    there = [view for view in kept if view.score(fitted.score) is not None]
    values = iter(replace(fitted, ends=(0.0, 1.0))(inputs_of(there, fitted)).tolist() if there else ())
    found = [None if view.score(fitted.score) is None else next(values) for view in kept]
    return tuple(with_value(view, fitted.score, value) for view, value in zip(kept, found, strict=True))


def _check_score(run: ScoredQuestions, fitted: Recalibration) -> None:
    """Refuse a map of a score that the run has not, or has with another meaning."""
    names = (*TITLES, *score_names(run.views))
    if fitted.score not in names:
        raise ValueError(
            f"the map takes {fitted.score!r}, and a run has {', '.join(names)}{meant(fitted.score, names)}"
        )
    kind = run.kinds.get(fitted.score)
    taken = (*fitted.ends, fitted.domain == "real")
    if kind is not None and kind != taken:
        was = type(kind)(*taken).text
        raise ValueError(f"the map takes {fitted.score} as {was}, and the kind of the run's is {kind.text}")


def applied_effects(
    before: Sequence[QuestionView], after: Sequence[QuestionView], fitted: Recalibration
) -> tuple[Effect, ...]:
    """Say what a map changes on the complete questions that it was applied to, but for those without an answer.

    Returns
    -------
    tuple of Effect
        Empty if there is no such question.
    """
    import numpy as np

    from semece.stats import in_order, recalibration_effects

    was = {view.question.id: view.score(fitted.score) for view in before}
    rows = [
        (was[view.question.id], view.score(fitted.score), view.estimate.correct, identity_of(view))
        for view in after
        if view.estimate.status == "complete" and not view.estimate.refused and view.score(fitted.score) is not None
    ]
    if not rows:
        return ()
    values, now, correct, questions = (np.array(column) for column in zip(*rows, strict=True))
    order = fitted.domain == "real"
    values = in_order(values.astype(float)) if order else values
    return recalibration_effects(values, now, correct, ids=questions, ranked=order)


def effect_lines(effects: Sequence[Effect]) -> Iterator[str]:
    """Lay effects out for people: a row each, before, after and the change."""
    yield from columns([("", "before", "after", "change"), *(effect_cells(each) for each in effects)])


def inputs_of(views: Sequence[QuestionView], fitted: Recalibration) -> Floats:
    """Give what a map takes of questions; more is surer."""
    import numpy as np

    if fitted.method == "dirichlet":
        return ranked(views)[0]
    return np.array([view.score(fitted.score) for view in views], dtype=float)


def recalibration_text(fitted: Recalibration, left_out: int) -> str:
    """Say that a score is recalibrated, and what is left out for it."""
    text = (
        f"{title_of(fitted.score)} is recalibrated by a map ({fitted.method}) that was fitted on "
        f"{plural(fitted.n_questions, 'question')}; numbers made from the counts of answers are as before"
    )
    return f"{text}; left out: {plural(left_out, 'question')} that the map was fitted on" if left_out else text


_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")


def identity_of(view: QuestionView) -> str:
    """Name a question by its text, however it is wrapped and typed, so that it is known in another run.

    Unicode's compatible spellings, case, invisible signs and blanks do not count.
    """
    text = unicodedata.normalize("NFKC", view.question.text)
    return " ".join(_INVISIBLE.sub("", text).casefold().split())


def first_identity_of(view: QuestionView) -> str:
    """Name a question as the first maps did: by its text, but for blanks."""
    return " ".join(view.question.text.split())


def with_value(view: QuestionView, score: str, value: float | None) -> QuestionView:
    """Put a confidence in the place of a score."""
    if score not in TITLES:
        return replace(view, scores=view.scores.recalibrated(score, value))
    changed: dict[str, Any] = {score: value}
    return replace(view, estimate=replace(view.estimate, **changed))


def effect_cells(effect: Effect) -> tuple[str, str, str, str]:
    """Write an effect for people."""
    from semece.stats import end_text, number_text

    value, low, high = effect.change
    interval = "" if low != low else f" [{end_text(low, 3)}, {end_text(high, 3)}]"  # noqa: PLR0124 - nan
    change = f"{number_text(value, 3, signed=True)}{interval}"
    return MEASURES[effect.name], number_text(effect.before, 3), number_text(effect.after, 3), change


def effect_facts(effect: Effect) -> dict[str, Any]:
    """Give an effect as plain data; what is no number is null."""
    numbers = {"before": effect.before, "after": effect.after, "change": effect.change.value}
    numbers |= {"change_low": effect.change.low, "change_high": effect.change.high}
    plain = {name: None if value != value else value for name, value in numbers.items()}  # noqa: PLR0124 - nan
    return {"name": effect.name, **plain, "note": effect.note or None}


def columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lay cells out in columns, the first to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()
