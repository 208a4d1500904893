"""Everything about one question of a run: its responses, classes, grades, and the numbers that follow."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semece.judges import ALARMS, alarms_of, classes_to_grade, judge_question, open_judge, run_procedure
from semece.prompts import is_short
from semece.records import Alarm, Estimate, Response
from semece.runs.named_scores import NO_SCORES, OVER, STAGE, TITLES, kinds_of, largest_class, read_scores
from semece.runs.run_columns import RunColumns, grade_code, one_each
from semece.sampling import (
    AnswerLikelihood,
    answer_likelihood,
    decided,
    follow_up,
    read_guesses,
    read_responses,
    scale_of,
    usable_answers,
)
from semece.store import KeptJudge, read_stored, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from semece.judges import Judge, JudgedQuestion
    from semece.records import Partition, Question, Verdict
    from semece.runs.named_scores import QuestionScores
    from semece.sampling import Asked, Guesses
    from semece.stats import WeightedTable
    from semece.store import Store, StoredReply


@dataclass(frozen=True, slots=True)
class QuestionView:
    """Everything about one question of a run.

    Parameters
    ----------
    question : Question
        The question.
    responses : tuple of Response
        Those delivered, by index.
    partition : Partition or None
        None if there is nothing to group or the judge gave none.
    grades : dict of int to str
        Verdict per label.
    estimate : Estimate
        The numbers.
    alarms : tuple of Alarm
        What deserves a look.
    missing : int
        Responses still missing.
    lacking : int
        Replies of a judge's model that another invocation may still get; unknown, and 0, while responses are missing.
    scores : QuestionScores
        What it was given beside Sem1, Sem2 and the stated confidence.
    """

    question: Question
    responses: tuple[Response, ...]
    partition: Partition | None
    grades: dict[int, Verdict]
    estimate: Estimate
    alarms: tuple[Alarm, ...] = ()
    missing: int = 0
    lacking: int = 0
    scores: QuestionScores = NO_SCORES

    def score(self, name: str) -> float | None:
        """Give ``sem1``, ``sem2``, ``verbalized`` or a score that came with the question; more is surer."""
        found: float | None = getattr(self.estimate, name) if name in TITLES else self.scores.get(name)
        return found


@dataclass(frozen=True, slots=True)
class Deployed:
    """The deployed answer of a question that enters the numbers.

    Parameters
    ----------
    question : Question
        The question.
    answer : str
        The most frequent wording of the most frequent class, of tied classes that given first; ``''`` for a non-answer.
    said : float
        The judge's verdict on it: 1 if correct, else 0.
    correct : float
        The question's correctness by the judge, in [0, 1]: under a tie the mean over the tied classes.
    sem1, sem2 : float
        Confidences in [0, 1].
    verbalized : float or None
        Mean stated confidence.
    label : int
        The class of the answer.
    refused : bool
        Whether it counts as no answer: a non-answer, or not attempted in the judge's eyes.
    given : mapping of str to float
        Confidences that the question was given, by name.
    """

    question: Question
    answer: str
    said: float
    correct: float
    sem1: float
    sem2: float
    verbalized: float | None
    label: int
    refused: bool
    given: Mapping[str, float] = field(default_factory=dict)

    def confidence(self, name: str) -> float | None:
        """Give a confidence by its column: one of its own, or a given one; None if there is none."""
        own = {"sem1": self.sem1, "sem2": self.sem2, "verbalized": self.verbalized}
        return own[name] if name in own else self.given.get(name)

    @property
    def blank(self) -> bool:
        """Whether there is nothing to judge."""
        return not self.answer.strip()


def answers_of(views: Iterable[QuestionView]) -> tuple[Deployed, ...]:
    """Give the deployed answers of the complete ones of some questions, in their order."""
    return tuple(each for view in views if (each := _deployed(view)) is not None)


def _deployed(view: QuestionView) -> Deployed | None:
    """Read one off; None if the question enters no number."""
    e, classes = view.estimate, view.partition
    if e.status != "complete" or classes is None or e.correct is None or e.sem1 is None or e.sem2 is None:
        return None
    from semece.stats import mode

    label = int(mode(classes.labels))
    said = float(view.grades.get(label) == "correct")
    answer, numbers = classes.representatives[label], (e.correct, e.sem1, e.sem2, e.verbalized)
    return Deployed(view.question, answer, said, *numbers, label, e.refused, view.scores.confidences)


class ReplyReader(NamedTuple):
    """How stored replies become responses.

    Parameters
    ----------
    read : callable
        From a stored reply to a response.
    id : str
        Changes whenever a reading may change.
    whole : bool
        Whether it reads the reply as it came (``raw``) and not its text alone.
    """

    read: Callable[[StoredReply], Response]
    id: str
    whole: bool = False


LIKELIHOODS = "likelihoods-1"
"""What reads how likely answers were."""

AT_ONCE = 64
"""Questions whose replies are in memory together: long ones take megabytes a question."""

_READ = tuple(field.name for field in fields(Response))[3:]
"""What a reading finds; the rest of a response is the reply itself."""


class ViewReader:
    """Reads questions of a run: what is stored of them, and what is derived where it is not.

    Parameters
    ----------
    store : Store
        The run file.
    view : dict
        The run's view: ``ids``, ``n``, ``grade_classes``, ``min_responses``, ``not_attempted``, perhaps ``sizes``.
    judges : tuple of Judge
        Who groups, and who grades.
    reader : ReplyReader
        How replies are read.
    """

    def __init__(self, store: Store, view: dict[str, Any], judges: tuple[Judge, Judge], reader: ReplyReader) -> None:
        self._store, self._view, self._reader, self._kinds = store, view, reader, kinds_of(view)
        self._likelihoods = f"{LIKELIHOODS} {reader.id}" if store.meta("logprobs") is not None else None
        self._readings, self._scales = f"readings {reader.id}", f"confidence scale {reader.id}"
        kept = [KeptJudge(judge, store.derived) for judge in judges]
        self._judges = kept[0], kept[1]

    @property
    def scored(self) -> bool:
        """Whether the questions were given scores, or have some that follow from more than the counts of answers."""
        return bool(self._kinds or self._likelihoods or self._store.meta("elicitations"))

    def all(self) -> tuple[QuestionView, ...]:
        """Read every selected question; columns at once."""
        for maker in (self._readings, ALARMS, *self._judges[0].makers[:1], *self._judges[1].makers[1:]):
            self._store.derived.load(maker)
        questions = list(self._store.questions(self._view["ids"]))
        bare = [view for at in range(0, len(questions), AT_ONCE) for view in self._block(questions[at : at + AT_ONCE])]
        return self._finished(bare, self._counted(response for view in bare for response in view.responses))

    def one(self, question_id: str) -> QuestionView | None:
        """Read one question, and nothing of the others; None if it is not selected."""
        if question_id not in self._view["ids"]:
            return None
        bare = [self._bare(question) for question in self._store.questions([question_id])]
        ambiguous = any(r.stated and r.confidence is None for view in bare for r in view.responses)
        views = self._finished(bare, self._scale() if ambiguous else (0, 0))
        return views[0] if views else None

    def _finished(self, bare: Sequence[QuestionView], scale: tuple[int, int]) -> tuple[QuestionView, ...]:
        read = [replace(view, responses=tuple(decided(r, scale) for r in view.responses)) for view in bare]
        views = tuple(_with_elicited(self._store, list(with_estimates(read, self._view))))
        self._store.keep_derived()
        return views

    def _scale(self) -> tuple[int, int]:
        """Give the two counters of the run, which are stored; counted if there are more replies now."""
        kept = self._store.derived.get(self._scales, self._counted_of())
        if kept is not None:
            return kept[0], kept[1]
        questions = self._store.questions(self._view["ids"])
        return self._counted(r for question in questions for r in self._responses(question)[0])

    def _counted(self, responses: Iterable[Response]) -> tuple[int, int]:
        """Count the confidences of the run, and keep what was counted."""
        scale = scale_of(responses)
        if any(scale):
            source = self._counted_of()
            if self._store.derived.get(self._scales, source) != list(scale):
                self._store.derived.put(self._scales, source, list(scale))
        return scale

    def _counted_of(self) -> bytes:
        return source_of(self._view["n"], self._view["ids"], sorted(self._store.count("respond").items()))

    def _block(self, questions: Sequence[Question]) -> list[QuestionView]:
        """Read some questions, their replies at once."""
        stages = ("respond", "partition", "grade", *([STAGE] if self._kinds else []))
        with self._store.read_ahead(stages, [question.id for question in questions]):
            return [self._bare(question) for question in questions]

    def _bare(self, question: Question) -> QuestionView:
        responses, missing = self._responses(question)
        procedure = judge_question(question, usable_answers(responses), self._judges, which=self._view["grade_classes"])
        judged = read_stored(procedure, self._store)
        return QuestionView(
            question,
            responses,
            judged.classes,
            {grade.label: grade.verdict for grade in judged.grades},
            Estimate(question.id, "incomplete", 0, 0),
            self._alarms(question, judged),
            missing,
            0 if missing else judged.lacking,
            self._scores(question, responses, judged.classes),
        )

    def _scores(self, question: Question, responses: Sequence[Response], classes: Partition | None) -> QuestionScores:
        """Read what a question was given beside its responses; runs that were given nothing are not asked."""
        likely = self._likelihood_scores(question, responses, classes)
        if not self._kinds:
            return likely
        every = self._view.get("scores_over", OVER[0]) == OVER[0]
        chosen = [r.index for r in responses] if every else largest_class(responses, classes)
        rows = [reply.raw for reply in self._store.replies(STAGE, question.id)]
        return read_scores(rows, self._kinds, responses, chosen)

    def _likelihood_scores(
        self, question: Question, responses: Sequence[Response], classes: Partition | None
    ) -> QuestionScores:
        """Give the scores that follow from the log probabilities of a question's answers, if its replies tell them."""
        if self._likelihoods is None or classes is None:
            return NO_SCORES
        answers = {r.index: r.answer for r in responses if r.usable}
        source = source_of(question.id, sorted(answers.items()))
        kept = self._store.derived.get(self._likelihoods, source)
        if kept is None:
            raws = {r.index: r.raw for r in self._store.replies("respond", question.id) if r.delivered}
            kept = [answer_likelihood(raws[index], answer) for index, answer in answers.items()]
            self._store.derived.put(self._likelihoods, source, kept)
        return likelihood_scores([each and AnswerLikelihood(*each) for each in kept], classes)

    def _responses(self, question: Question) -> tuple[tuple[Response, ...], int]:
        """Read the replies to a question, together: what is found in them is one row."""
        sizes, n = self._view.get("sizes"), self._view["n"]
        wanted = min(n, sizes[question.id]) if sizes else n
        replies, derived = self._store.replies("respond", question.id), self._store.derived
        known = derived.has(self._readings)
        kept = derived.get(self._readings, self._source(question, replies, wanted)) if known else None
        if kept is not None:
            found = iter(kept)
            return read_responses(
                replies, wanted, lambda reply: Response(reply.question_id, reply.index, reply.text, *next(found))
            )
        responses, missing = read_responses(replies, wanted, self._reader.read)
        if any(r.answer != r.text for r in responses):  # else nothing had to be found
            rows = [[getattr(r, name) for name in _READ] for r in responses]
            derived.put(self._readings, self._source(question, replies, wanted), rows)
        return responses, missing

    def _source(self, question: Question, replies: Sequence[StoredReply], wanted: int) -> bytes:
        """Hash what the readings of a question's replies are made of."""
        whole = self._reader.whole
        made_of = [(r.index, r.status, r.text, r.raw if whole else "") for r in replies if r.delivered]
        return source_of(question.id, wanted, made_of)

    def _alarms(self, question: Question, judged: JudgedQuestion) -> tuple[Alarm, ...]:
        if judged.classes is None:
            return ()
        said = [(grade.label, grade.verdict) for grade in judged.grades]
        made_of = (question.id, question.text, question.references, judged.classes.representatives, said)
        source = source_of(*made_of)
        kept = self._store.derived.get(ALARMS, source)
        if kept is not None:
            return tuple(Alarm(*alarm) for alarm in kept)
        found = alarms_of(question, judged.classes, judged.grades)
        self._store.derived.put(ALARMS, source, [(alarm.kind, alarm.text) for alarm in found])
        return found


def with_estimates(views: Sequence[QuestionView], settings: dict[str, Any]) -> Iterator[QuestionView]:
    """Add the numbers.

    Parameters
    ----------
    views : sequence of QuestionView
        Without them.
    settings : dict
        The run's view: ``n``, ``min_responses``, ``not_attempted``, perhaps ``sizes``.

    Yields
    ------
    QuestionView
        With the core's numbers if the question has classes, and the reason why it enters no metric if it does not.
    """
    numbers = columns_of(views, settings).numbers(exclude=settings["not_attempted"] == "exclude")
    rows = numbers.drop("weight", "regime").iter_rows(named=True)
    for view, row in zip(views, rows, strict=True):
        yield replace(view, estimate=Estimate(**{**row, "question_id": view.question.id}))


def columns_of(views: Sequence[QuestionView], settings: dict[str, Any]) -> RunColumns:
    """Put what the numbers need of some questions in columns; `settings` is as in :func:`with_estimates`."""
    usable = [[r for r in view.responses if r.usable] for view in views]
    enough = settings["min_responses"] or max(2, -(-settings["n"] // 2))
    sizes = settings.get("sizes", {})
    responses = [r for view in views for r in view.responses]
    stated = [r for some in usable for r in some if r.stated or r.confidence is not None]
    whole = [r.text for r in responses if r.status == "fallback" and not is_short(r.text)]
    counted = (
        (len(some), min(enough, sizes.get(view.question.id, enough)), view.missing, view.lacking)
        for view, some in zip(views, usable, strict=True)
    )
    m, least, missing, lacking = np.array(list(counted), dtype=np.int64).reshape(-1, 4).T
    return RunColumns(
        table=tallied(views),
        usable=m,
        least=least,
        missing=missing,
        lacking=lacking,
        statuses=Counter(r.status for r in responses),
        confidences=(len(stated), sum(r.confidence is None for r in stated)),
        unlabelled=(len(whole), whole[0] if whole else ""),
        identical=_identical(views),
    )


def tallied(views: Sequence[QuestionView]) -> WeightedTable:
    """Count the responses of questions by class, a row a question; one without classes has an empty row."""
    from semece.stats import Counts

    parts = [view.partition for view in views]
    codes = [
        grade_code(view.grades.get(label), name)
        for view, part in zip(views, parts, strict=True)
        for label, name in enumerate(part.representatives if part else ())
    ]
    stated = [
        [r.confidence for r in view.responses if part and r.usable and r.confidence is not None]
        for view, part in zip(views, parts, strict=True)
    ]
    counts = Counts.from_labels([part.labels if part else () for part in parts])
    sizes, sums = np.array([len(each) for each in stated], dtype=np.int64), np.array([np.sum(each) for each in stated])
    return one_each(counts, np.array(codes, dtype=np.int64), sizes, sums.astype(np.float64))


def _identical(views: Sequence[QuestionView]) -> int:
    """Count the questions with five responses and more if the texts of each are identical; else 0."""
    texts = [[r.text for r in view.responses] for view in views]
    full = [each for each in texts if len(each) >= 5]
    return len(full) if all(len(set(each)) == 1 and each[0].strip() for each in full) else 0


def copies_alarm(identical: int, repeated_ids: int) -> str | None:
    """Notice a cache that serves one answer many times.

    Two signs: request ids of the provider come twice; or the texts of every question, at least five of at least five
    questions, are identical to the letter although they were drawn at random.

    Parameters
    ----------
    identical : int
        Questions with five responses and more, if the texts of each are identical; else 0.
    repeated_ids : int
        Calls that came back under the id of an earlier call.

    Returns
    -------
    str or None
        One sentence.
    """
    if repeated_ids:
        return f"{repeated_ids:,} calls came back under the request id of an earlier call: a cache may serve copies"
    if identical >= 5:
        said = f"all texts of each of {identical:,} questions are identical"
        return f"{said}: a cache may serve copies, or the model is that sure"
    return None


def likelihood_scores(likelihoods: Sequence[AnswerLikelihood | None], classes: Partition) -> QuestionScores:
    """Give the scores that follow from how likely a question's answers were.

    Parameters
    ----------
    likelihoods : sequence of length M
        Of its usable responses, in index order; None where a reply does not tell.
    classes : Partition
        Their classes.

    Returns
    -------
    QuestionScores
        ``sequence_probability`` and ``token_probability``: the mean over the responses with the most frequent answer of
        the probability of its tokens together, and of their geometric mean. ``choice_softmax``: where that answer is
        one letter, its share of the letters' probability. Ranked, and turned so that more is surer:
        ``likelihood_entropy``, by the lengths normalized.
    """
    from semece.stats import choice_softmax, likelihood_entropy, sequence_probability

    told = [(row, label) for row, label in zip(likelihoods, classes.labels, strict=True) if row is not None]
    deployed = classes_to_grade(classes, "mode")[0]
    own = [row for row, label in told if label == deployed]
    if not own:
        return NO_SCORES
    scores = {
        "sequence_probability": fmean(sequence_probability([row.logprob]) for row in own),
        "token_probability": fmean(sequence_probability([row.logprob / row.tokens]) for row in own),
    }
    letter = classes.representatives[deployed]
    if letters := [row.options for row in own if letter in row.options and len(row.options) > 1]:
        shares = (choice_softmax(list(row.values()))[list(row).index(letter)] for row in letters)
        scores["choice_softmax"] = fmean(map(float, shares))
    spread = likelihood_entropy([label for _, label in told], [row.logprob / row.tokens for row, _ in told])
    return NO_SCORES._replace(confidences=scores, ranked={"likelihood_entropy": -spread})


def answers_asked(views: Iterable[QuestionView]) -> dict[str, Asked]:
    """Give what a model can be asked about, by the questions' ids: the answer that it gave most often.

    Of several that are equally frequent, the one that came first. A question with responses missing is left out, since
    more of them may change it; so is one whose most frequent answer is none.
    """
    found: dict[str, Asked] = {}
    for view in views:
        if view.missing or view.partition is None:
            continue
        answer = view.partition.representatives[classes_to_grade(view.partition, "mode")[0]]
        if answer:
            found[view.question.id] = (view.question.text, answer, usable_answers(view.responses))
    return found


def elicited_scores(
    store: Store, views: Sequence[QuestionView], names: Sequence[str] | None = None
) -> dict[str, dict[str, float | None]]:
    """Read the confidences that a run's model was asked for after the run.

    Parameters
    ----------
    store : Store
        The run file.
    views : sequence of QuestionView
        Its questions.
    names : sequence of str, optional
        Only these elicitations.

    Returns
    -------
    dict of str to dict
        By name of the score, per question that was asked about: in [0, 1], or None where no reply can be read.
        ``top-k`` gives three: the mean stated probability, Avg-Conf and Pair-Rank (``top_k``, ``top_k_avg_conf``,
        ``top_k_pair_rank``).
    """
    identity, chosen = store.meta("identity"), store.meta("elicitations", {})
    asked = answers_asked(views) if chosen else {}
    questions = {view.question.id: view.question for view in views if view.question.id in asked}
    found: dict[str, dict[str, float | None]] = {}
    for name, options in chosen.items():
        if names is not None and name not in names:
            continue
        template = follow_up(identity, name, options, asked)
        for key, replies in read_guesses(store, template, questions.values(), options["draws"]).items():
            readable = [reply for reply in replies if reply]
            for ending, value in _scores_of(store, questions[key], asked[key][1], readable).items():
                found.setdefault(f"{template.stage}{ending}", {})[key] = value
    return found


def lacking_elicitations(store: Store, views: Sequence[QuestionView]) -> Iterator[str]:
    """Say of which questions a confidence is lacking that was asked for: their answers are others now, or not asked."""
    chosen = store.meta("elicitations", {})
    asked = answers_asked(views) if chosen else {}
    for name in chosen:
        found = elicited_scores(store, views, [name]).values()
        lacking = len(asked) - len(set().union(*found))
        if lacking:
            yield (
                f"{name} is lacking for {lacking:,} of {len(asked):,} questions, which have other answers now than "
                f"were asked about: semece elicit {shlex.quote(store.path)} {name}"
            )


def _with_elicited(store: Store, views: Sequence[QuestionView]) -> Iterator[QuestionView]:
    """Add the confidences that were asked for after the run to the scores of its questions."""
    found = elicited_scores(store, views)
    for view in views:
        values = {name: said.get(view.question.id) for name, said in found.items()}
        read = {name: value for name, value in values.items() if value is not None}
        confidences = {**view.scores.confidences, **read}
        yield replace(view, scores=view.scores._replace(confidences=confidences)) if read else view


def _scores_of(store: Store, question: Question, answer: str, replies: Sequence[Guesses]) -> dict[str, float | None]:
    """Give the scores of one question by what their names end in."""
    from semece.stats import pair_rank, stated_share, weighted_share

    if not replies:
        return {"": None}
    strings = [answer, *(guess for reply in replies for guess, _ in reply if guess is not None)]
    judge = KeptJudge(open_judge("rules"), store.derived)
    classes = iter(run_procedure(judge.classes(question, strings)).labels[1:]) if len(strings) > 1 else iter(())
    labels = [[0 if guess is None else next(classes) for guess, _ in reply] for reply in replies]
    stated = [[value for _, value in reply] for reply in replies]
    scores: dict[str, float | None] = {"": stated_share(labels, stated)}
    if len(strings) > 1:
        scores |= {"_avg_conf": weighted_share(labels, stated), "_pair_rank": pair_rank(labels)}
    return scores
