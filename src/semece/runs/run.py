"""A run, read: its numbers, its questions, what failed."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from semece.errors import ParseError, SemeceError, StoreError, meant, plural
from semece.judges import STAGES, Missing, as_asked, open_judges, run_procedure
from semece.prompts import reader_id
from semece.runs.corrections import Correction, KeptAudit
from semece.runs.graded_classes import ENTERING, GradedClasses, classes_in
from semece.runs.named_scores import STAGE, kinds_of, numbers_as_given
from semece.runs.question_views import (
    QuestionView,
    ReplyReader,
    ViewReader,
    answers_of,
    columns_of,
    copies_alarm,
    lacking_elicitations,
)
from semece.runs.recalibrated import applied_effects, recalibrated, recalibration_text, warning_of
from semece.runs.run_columns import MAKER, RunColumns
from semece.runs.scored_questions import NamedScore, ScoredQuestions, named_scores, score_names
from semece.runs.scored_samples import read_sample
from semece.sampling import Settings, read_reply, usable_answers
from semece.store import FINAL, JudgeReplies, Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from semece.judges import Query
    from semece.records import Question
    from semece.stats import Effect, Pool, Recalibration

__all__ = ["Names", "QuestionView", "Run", "all_names", "names_of", "pool_of"]


class Names(NamedTuple):
    """What people call a run: the same in every table, figure and title.

    Parameters
    ----------
    dataset, model : str
        Each for itself.
    """

    dataset: str
    model: str

    @property
    def title(self) -> str:
        """Both in one text."""
        return f"{self.dataset} · {self.model}"


class JudgeReply(NamedTuple):
    """What a judge sent back.

    Parameters
    ----------
    judge : str
        The judge's id.
    stage : {'partition', 'grade'}
        What it was asked for.
    answer : str or None
        The answer that stands for the class which it was to grade; None where it was not about one class of the run.
    text : str
        The reply, whole.
    """

    judge: str
    stage: str
    answer: str | None
    text: str

    @property
    def asked(self) -> str:
        """The stage, and of a grade the class, in one text."""
        return self.stage if self.answer is None else f"{self.stage} of {self.answer!r}"


class Run:
    """A run file, read.

    Parameters
    ----------
    path : str, Path or Store
        The file.
    judge, partition_judge, grade_judge : str, optional
        Instead of the run's own; the first sets both.
    recalibration : Recalibration, optional
        A map of other questions: its confidences stand in the place of the score that it takes, and questions that it
        was fitted on are left out.
    corrected : bool
        Whether an audit of the judge that the file holds corrects the numbers (:attr:`correction`).

    Raises
    ------
    StoreError
        The file is missing or not a run file.

    Attributes
    ----------
    path : str
        The file.
    model, dataset : str
        The model's spelling, and the dataset's name.
    names : Names
        What people call dataset and model: as the study file or ``semece score`` says, else as they are spelled.
    name : str
        Both in one text.
    answered_by : str
        Two runs that share it are of one model, whatever they are called.
    n : int
        Responses asked for, per question.
    judges : tuple of Judge
        Who partitions, and who grades.
    judge_names : tuple of str
        Their names.
    """

    def __init__(
        self,
        path: str | Path | Store,
        *,
        judge: str | None = None,
        partition_judge: str | None = None,
        grade_judge: str | None = None,
        recalibration: Recalibration | None = None,
        corrected: bool = True,
    ) -> None:
        self.recalibration, self._corrected = recalibration, corrected
        self._store = path if isinstance(path, Store) else Store(path)
        self.path = self._store.path
        try:
            self._view, self._identity = self._store.meta("view"), self._store.meta("identity")
            if self._view is None or self._identity is None:
                raise StoreError(f"{self.path} holds no run yet; 'semece run' or 'semece score' fills it")
            grouping, grading = open_judges(
                partition_judge or judge or self._view["partition_judge"],
                grade_judge or judge or self._view["grade_judge"],
                prompt=self._view["judge_prompt"],
            )
            known = [partial(self._store.judges, stage) for stage in STAGES]
            self.judges = as_asked(grouping, known[0]), as_asked(grading, known[1])
        except BaseException:
            if self._store is not path:  # a store that was open before stays so
                self._store.close()
            raise
        self.model, self.dataset = str(self._identity["model"]), str(self._identity["dataset"])
        called = self._store.meta("names") or {}
        self.names = Names(str(called.get("dataset", self.dataset)), str(called.get("model", self.model)))
        self.name = self.names.title
        scored = self._store.meta("source") == "samples"
        self.answered_by = self.names.model if scored else self.model
        self.n = int(self._view["n"])
        self.judge_names = self.judges[0].name, self.judges[1].name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Say what it is of; nothing is read for it."""
        judges = " and ".join(dict.fromkeys(self.judge_names))
        return f"<Run {self.name}: n = {self.n}, judge {judges}, {self.path!r}{', closed' * self._store.closed}>"

    def _repr_html_(self) -> str:
        """Show what it is of, how far it is, and how often it is right and sure; numbers by its judge alone."""
        from html import escape

        judges = " and ".join(dict.fromkeys(self.judge_names))
        closed = {"Closed": "open it again with <code>semece.Run</code> to see its numbers"}
        rows = closed if self._store.closed else self._shown_numbers()
        rows |= {"Answers per question": f"{self.n:,}", "Judge": escape(judges), "File": escape(self.path)}
        lines = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows.items())
        return f"<table><caption>{escape(self.name)}</caption>{lines}</table>"

    def _shown_numbers(self) -> dict[str, str]:
        """Give what a notebook shows of its numbers, as HTML by name."""
        from semece.stats import accuracy_interval, gap_interval, interval_html

        done = self.estimates().filter(status="complete").drop_nulls(["sem1", "correct"])
        complete, selected = self.complete
        rows = {"Questions": f"{complete:,} complete of {selected:,}"}
        if done.height:
            rows["Accuracy"] = interval_html(*accuracy_interval(done["correct"].to_numpy()))
        for name, column in (("Sem1", "sem1"), ("Sem2", "sem2"), ("Ver", "verbalized")):
            some = done.drop_nulls(column)
            if some.height:
                found = gap_interval(some[column].to_numpy(), some["correct"].to_numpy())
                rows[f"{name} − accuracy"] = interval_html(*found)
        return rows

    def close(self) -> None:
        """Close the file, and keep in it what was derived, if it can be written now."""
        if not self._store.closed:
            self._store.keep_derived()
        self._store.close()

    def forget(self) -> None:
        """Let go of the questions that were read; they are read again when they are asked for."""
        for name in ("_as_read", "_views", "_questions", "recalibration_effects", "correction"):
            self.__dict__.pop(name, None)

    @property
    def events(self) -> tuple[str, ...]:
        """What the run noticed, and what a reader notices now."""
        copies = copies_alarm(self._columns.identical, self._store.repeated_provider_ids())
        recorded = self._store.events()
        noticed = tuple(dict.fromkeys(text for name, text in recorded if name != "pace"))
        noticed += tuple(lacking_elicitations(self._store, self._views))
        if slowed := sum(name == "pace" for name, _ in recorded):
            noticed += (f"rate limited: slowed down {plural(slowed, 'time')}",)
        if self.recalibration:
            noticed = (*filter(None, (self.recalibration_note, self.recalibration_warning)), *noticed)
        if damaged := len(self._store.derived.damaged):
            said = (
                f"{damaged:,} derived results in {self.path} were not what was stored (the first: "
                f"{self._store.derived.damaged[0]}), and were derived again; 'semece doctor' tests the other rows"
            )
            noticed += (said,)
        drawn = self._store.meta("source") != "samples" and self._identity["temperature"] != 0
        return (*noticed, copies) if copies and drawn else noticed

    @property
    def recalibration_note(self) -> str | None:
        """Say that a score is recalibrated and what is left out for it; None if none is."""
        if self.recalibration is None:
            return None
        return recalibration_text(self.recalibration, len(self._view["ids"]) - len(self._views))

    @property
    def recalibration_warning(self) -> str | None:
        """Say where the run differs from what its map was fitted on; None if it has none or does not differ."""
        return None if self.recalibration is None else warning_of(self.recalibration, self._facts)

    @cached_property
    def recalibration_effects(self) -> tuple[Effect, ...]:
        """What its map changes on its complete questions, none of which the map has seen; empty without a map."""
        return () if self.recalibration is None else applied_effects(self._as_read, self._views, self.recalibration)

    def numbers_as_given(self, view: QuestionView) -> dict[str, float | list[float | None]]:
        """Give the scores of a question as they came: a number, or a list with one per usable response."""
        rows = (reply.raw for reply in self._store.replies(STAGE, view.question.id))
        return numbers_as_given(rows, [r.index for r in view.responses if r.usable])

    def scored_questions(self) -> ScoredQuestions:
        """Give its questions as they were read, with the kinds of the scores that it was given, and what it is of."""
        return ScoredQuestions(self._as_read, kinds_of(self._view), self._facts)

    @property
    def _facts(self) -> dict[str, str]:
        grouping, grading = (judge.id for judge in self.judges)
        judge = grouping if grouping == grading else f"{grouping} (classes), {grading} (grades)"
        return {"model": self.answered_by, "dataset": self.names.dataset, "judge": judge, "answers": str(self.n)}

    @property
    def failed_calls(self) -> tuple[int, int]:
        """How many calls delivered nothing, and how many of them may have been paid for."""
        return self._store.failed_calls()

    @property
    def spent(self) -> tuple[float | None, int, int]:
        """USD (None if a price is unknown), input tokens and output tokens so far, all stages."""
        stages = self._store.spent().values()
        costs = [cost for _, _, cost in stages]
        total = None if None in costs else sum(cost for cost in costs if cost is not None)
        return total, sum(asked for asked, _, _ in stages), sum(answered for _, answered, _ in stages)

    @cached_property
    def _as_read(self) -> tuple[QuestionView, ...]:
        return self._reading.all()

    @cached_property
    def _views(self) -> tuple[QuestionView, ...]:
        views = self._as_read
        return views if self.recalibration is None else recalibrated(self.scored_questions(), self.recalibration)

    @cached_property
    def _reading(self) -> ViewReader:
        return ViewReader(self._store, self._view, self.judges, self.reader)

    @property
    def tokens(self) -> dict[str, int]:
        """Input and output tokens so far by stage, of all judges; stages without a count are not there."""
        found = {stage: asked + answered for stage, (asked, answered, _) in self._store.spent().items()}
        return {stage: count for stage, count in found.items() if count}

    @cached_property
    def correction(self) -> Correction | None:
        """What an audit of its judge changes; None without one, or if it was opened with ``corrected=False``."""
        body = self._store.audit(self.judges[1].id) if self._corrected else None
        answers = answers_of(self._views) if body else ()
        return Correction.of(KeptAudit.read(body), answers) if body and answers else None

    def keep_audit(self, audit: KeptAudit) -> None:
        """Keep in its file what people said of its judge's verdicts, in the place of an earlier audit of the sample.

        Raises
        ------
        SemeceError
            The file cannot be written now.
        """
        self._store.keep_audit(self.judges[1].id, audit.stamp, audit._asdict())
        self.__dict__.pop("correction", None)

    def forget_audit(self) -> tuple[str, ...]:
        """Use no audit of its judge from now on; give the sheets of the one that was used.

        What people said stays in the file, but is not read any more; scoring the sheets again brings it back.

        Raises
        ------
        SemeceError
            There is no audit, or the file cannot be written now.
        """
        judge = self.judges[1].id
        if (body := self._store.audit(judge)) is None:
            raise SemeceError(f"{self.path}: there is no audit of the judge {judge} to forget")
        self._store.keep_audit(judge, "", {})
        self.__dict__.pop("correction", None)
        return KeptAudit.read(body).sheets

    def settings(self) -> Settings:
        """Give what decides how its replies are read and judged; samples of somebody else have no prompt."""
        return Settings(
            self.model,
            self.dataset,
            n=self.n,
            judge_prompt=self._view["judge_prompt"],
            grade_classes=self._view["grade_classes"],
            prompt=self._store.meta("prompt"),
            elicit=self._identity.get("elicitation", "percent"),
            answer_pattern=self._view.get("answer_pattern"),
        )

    @cached_property
    def reader(self) -> ReplyReader:
        """How its replies are read: as its prompt says, or as samples."""
        if self._store.meta("source") == "samples":
            pattern = self._view.get("answer_pattern")
            return ReplyReader(partial(read_sample, pattern=pattern), f"samples;{reader_id(pattern)}", whole=True)
        prompt = self.settings().response_prompt
        return ReplyReader(partial(read_reply, prompt), prompt.reading_id)

    def question_views(self) -> tuple[QuestionView, ...]:
        """Every selected question with its responses, classes, grades and numbers."""
        return self._views

    def question(self, question_id: str) -> QuestionView:
        """One question; the others are not looked at.

        Raises
        ------
        SemeceError
            The run has no such question.
        """
        view = self._reading.one(question_id)
        if view is None:
            ids = self._view["ids"]
            near = meant(question_id, ids)
            raise SemeceError(f"{self.path} has no question {question_id!r}{near} among its {len(ids)}")
        return view

    def judge_replies(self, question_id: str) -> list[JudgeReply]:
        """Raw replies of judges about one question: those of its own judges by stage and class, then of others."""
        view, known = self.question(question_id), JudgeReplies(self._store)
        classes = view.partition
        found: dict[bytes, JudgeReply] = {}

        def find(answer: str | None, query: Query) -> Any:  # noqa: ANN401 - what the query reads
            rows = known.rows(query)
            found.update({row.key: JudgeReply(query.judge, row.stage, answer, row.text) for row in rows})
            return known.find(query)

        answers, (grouping, grading) = usable_answers(view.responses), self.judges
        with suppress(ParseError, Missing):
            run_procedure(grouping.classes(view.question, answers), partial(find, None))
        asked = [] if classes is None else [(classes, *pair) for pair in enumerate(classes.representatives)]
        for some, label, answer in asked:
            with suppress(ParseError, Missing):
                run_procedure(grading.verdict(view.question, some, label), partial(find, answer))
        rest = (row for stage in STAGES for row in self._store.replies(stage, question_id) if row.key not in found)
        return [*found.values(), *(JudgeReply(row.judge or "", row.stage, None, row.text) for row in rest)]

    @property
    def _by_question(self) -> bool:
        """Whether something in its numbers is read question by question: scores, a recalibration."""
        return self.recalibration is not None or self._reading.scored

    @cached_property
    def _columns(self) -> RunColumns:
        """What the numbers need: kept in the file, and made of its questions again if a row has changed since."""
        if self._by_question or "_views" in self.__dict__:
            return columns_of(self._views, self._view)
        maker = " ".join((MAKER, self.reader.id, *(f"{judge.id} {judge.derived_id}" for judge in self.judges)))
        kept = self._store.kept(maker, self._view, lambda: columns_of(self._views, self._view).packed())
        return RunColumns.unpacked(kept)

    @cached_property
    def _questions(self) -> list[Question] | None:
        """Its questions, in the order of its columns; None: it has none."""
        if self._by_question or "_views" in self.__dict__:
            return [view.question for view in self._views]
        return list(self._store.questions(self._view["ids"]))

    @property
    def complete(self) -> tuple[int, int]:
        """How many of the selected questions have all their responses, and how many there are."""
        found = self._columns
        return found.count(found.missing == 0), found.table.n_questions

    @property
    def counts(self) -> dict[str, int]:
        """Responses by status, and ``missing``."""
        return {**self._columns.statuses, "missing": self._columns.count(self._columns.missing)}

    @property
    def confidences(self) -> tuple[int, int]:
        """How many usable responses state a confidence, and how many of those cannot be read."""
        return self._columns.confidences

    @property
    def unlabelled(self) -> tuple[int, str]:
        """How many responses were read whole, without an answer line or a conclusion, and are no short answers.

        And the first of them.
        """
        return self._columns.unlabelled

    @property
    def missing(self) -> int:
        """Replies that another invocation may still get: responses, and what the judges lack of complete questions."""
        return self._columns.count(self._columns.missing + self._columns.lacking)

    @property
    def undelivered(self) -> dict[str, int]:
        """How many of the judges' replies came without a text (filtered, cut short, refused), by status."""
        judges = zip(STAGES, self.judges, strict=True)
        found = sum((Counter(self._store.count(stage, judge.id)) for stage, judge in judges), Counter[str]())
        return {status: found[status] for status in sorted(FINAL) if found[status]}

    def estimates(self) -> pl.DataFrame:
        """One row per selected question: id, text, status, the numbers, the regime, the scores that it was given.

        More is surer in the columns of scores; they are in [0, 1] but where only their order means something.
        """
        import polars as pl

        found, questions = self._numbers, self._questions
        if questions is None:
            return found.with_columns(pl.col("question_id").cast(pl.String), text=pl.lit(""))
        named = {"question_id": [q.id for q in questions], "text": [q.text for q in questions]}
        columns = [pl.Series(name, values, dtype=pl.String) for name, values in named.items()]
        columns += [pl.Series(name, values, dtype=pl.Float64) for name, values in self._read_off().items()]
        first = ("question_id", "text", "status")
        return found.drop("weight").with_columns(columns).select(*first, pl.all().exclude(first))

    def _read_off(self) -> dict[str, list[float | None]]:
        """Give the scores that do not follow from the counts of its answers, by name."""
        if not self._by_question:
            return {}
        mapped = [] if self.recalibration is None else [self.recalibration.score]
        return {name: [view.score(name) for view in self._views] for name in (*score_names(self._views), *mapped)}

    @cached_property
    def _numbers(self) -> pl.DataFrame:
        return self._columns.numbers(exclude=self._view["not_attempted"] == "exclude")

    @property
    def given(self) -> dict[str, bool]:
        """The scores that it was given, by name, each with whether only its order means something."""
        return score_names(self._views) if self._by_question else {}

    @property
    def laid_out(self) -> RunColumns | None:
        """Columns of questions that were counted and are not there themselves; None: they are there."""
        return None

    def scores(self) -> list[NamedScore]:
        """Give every score of the complete questions: Sem1, Sem2, Ver, and those that the run was given."""
        return named_scores(self._views)

    def pool(self) -> Pool:
        """Class counts, correctness and stated confidences of the complete questions, for ``semece.diagnostics``.

        Returns
        -------
        Pool
            Positions are those of :meth:`question_views`.

        Raises
        ------
        SemeceError
            No question is complete.
        """
        return pool_of(self._views)

    def classes(self) -> GradedClasses:
        """Class counts with the grade of every class, for SemX: ungraded questions are among them."""
        import numpy as np

        entering = np.flatnonzero(self._numbers["status"].is_in(list(ENTERING)).to_numpy())
        ids = None if self._questions is None else [self._questions[place].id for place in entering.tolist()]
        return classes_in(self._columns.table.take(entering), ids)

    def questions(self) -> pl.DataFrame:
        """One row per selected question: id, text, references."""
        import polars as pl

        rows = [(q.id, q.text, list(q.references)) for q in self._questions or ()]
        schema: dict[str, Any] = {"question_id": pl.String, "text": pl.String, "references": pl.List(pl.String)}
        return pl.DataFrame(rows, schema=schema, orient="row")

    def responses(self) -> pl.DataFrame:
        """One row per delivered response, with its class and that class's verdict."""
        import polars as pl

        names = ("question_id", "index", "status", "answer", "confidence", "label", "verdict", "text")
        kinds: tuple[Any, ...] = (pl.String, pl.Int64, pl.String, pl.String, pl.Float64, pl.Int64, pl.String, pl.String)
        rows = [row for view in self._views for row in _response_rows(view)]
        return pl.DataFrame(rows, schema=dict(zip(names, kinds, strict=True)), orient="row")

    def failures(self) -> pl.DataFrame:
        """One row per selected question that enters no metric, with the reason."""
        import polars as pl

        return self.estimates().filter(pl.col("status") != "complete").select("question_id", "text", "status")


def names_of(runs: Sequence[Run]) -> list[str]:
    """Name runs of one dataset: by their model, by their file where several are called alike."""
    models, files = [run.names.model for run in runs], [Path(run.path).stem for run in runs]
    names = [model if models.count(model) == 1 else file for model, file in zip(models, files, strict=True)]
    return [name if names.count(name) == 1 else str(run.path) for name, run in zip(names, runs, strict=True)]


def all_names(runs: Sequence[Run]) -> list[Names]:
    """Name runs so that no two of a dataset are called alike: by their file where their models are."""
    found: dict[int, str] = {}
    for dataset in {run.names.dataset for run in runs}:
        places = [place for place, run in enumerate(runs) if run.names.dataset == dataset]
        found |= dict(zip(places, names_of([runs[place] for place in places]), strict=True))
    return [Names(run.names.dataset, found[place]) for place, run in enumerate(runs)]


def pool_of(views: Sequence[QuestionView]) -> Pool:
    """Pool the complete ones of some questions, of one run or several; positions are those in `views`.

    Raises
    ------
    SemeceError
        None is complete.
    """
    import numpy as np

    from semece.stats import pool

    entering = [v.partition if v.estimate.status == "complete" else None for v in views]
    if not any(entering):
        raise SemeceError(f"no question is complete of {len(views):,}; 'semece summary' says why")
    labels = [part.labels if part else () for part in entering]
    found = pool(labels, [v.estimate.correct for v in views], [v.estimate.verbalized for v in views])
    names, columns = score_names(views), score_columns([views[place] for place in found.question])
    given = {name: np.array(values, dtype=float) for name, values in columns.items()}
    return found._replace(
        scores={name: values for name, values in given.items() if not names[name]},
        ranked={name: values for name, values in given.items() if names[name]},
    )


def score_columns(views: Sequence[QuestionView]) -> dict[str, list[float | None]]:
    """Give the scores that some questions were given, by name, with one value per question."""
    return {name: [view.score(name) for view in views] for name in score_names(views)}


def _response_rows(view: QuestionView) -> Iterator[tuple[Any, ...]]:
    labels = iter(view.partition.labels if view.partition else ())
    for r in view.responses:
        label = next(labels, None) if r.usable else None
        verdict = None if label is None else view.grades.get(label)
        yield (r.question_id, r.index, r.status, r.answer, r.confidence, label, verdict, r.text)
