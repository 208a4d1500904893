"""The metric table: what is measured of a run, a row each.

The summary, ``table``, ``check``, ``compare`` and the report read this table. A new metric is a function of
:mod:`semece.stats` and a row of :data:`METRICS`; nothing else has to know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from semece.stats import Closed, ComparedQuantity, Counts, ErrorTerms, Interval, SemX

    Floats = NDArray[np.float64]

Table = Literal["summary", "headline", "ece", "compare", "baselines"]


class Confidence(NamedTuple):
    """A confidence and the correctness it is held against.

    Parameters
    ----------
    prefix : str
        What the columns of the summary start with.
    title : str
        Heading of a metric of it; ``{}`` is the metric's own.
    column, correct : str
        Columns of the estimates.
    attempted : bool
        Whether questions whose deployed answer is none are left out. Then there are numbers only if there are such.
    given : bool
        Whether the run was given it: a score with a name of its own.
    ranked : bool
        Only its order means something.
    """

    prefix: str
    title: str
    column: str
    correct: str = "correct"
    attempted: bool = False
    given: bool = False
    ranked: bool = False

    @property
    def pooled(self) -> bool:
        """Whether it is about all questions and the largest class of all answers, as the paper's tables are."""
        return self.correct == "correct" and not self.attempted


CONFIDENCES: tuple[Confidence, ...] = (
    Confidence("ver", "Ver-{}", "verbalized"),
    Confidence("sem1", "Sem1-{}", "sem1"),
    Confidence("sem2", "Sem2-{}", "sem2"),
    Confidence("sem2_split", "Sem2-{} (split)", "sem2", "correct_split"),
    Confidence("ver_attempted", "Ver-{} (attempted)", "verbalized", attempted=True),
    Confidence("sem1_attempted", "Sem1-{} (attempted)", "sem1", attempted=True),
    Confidence("sem2_attempted", "Sem2-{} (attempted)", "sem2", attempted=True),
)
"""In the order of the paper's table."""

ATTEMPTED = "_attempted"
"""What the prefix ends in of a confidence on the questions that are attempted."""
RESERVED = frozenset(
    {
        *("run", "judge", "n", "questions", "incomplete", "too_few", "unpartitioned", "ungraded", "not_attempted"),
        *(
            "refused",
            "model",
            "bracket",
            "accuracy",
            "oracle",
            "oracle_n",
            "held_out",
            "held_out_gap",
            "held_out_gap_n",
            "semx",
            "semx_ece",
        ),
        *("semx_ece_n", "overturning", "graded", "ver", "verbalized", "sem1", "sem2", "sem2_split", "ece"),
        *("jensen_dominated", "low_margin", "large_margin", "unusable", "missing", "question_id", "text", "status"),
        *("n_responses", "n_classes", "margin", "top_two_mass", "correct", "correct_split", "regime", "excluded"),
        *("regimes", "failures", "outcomes", "right", "wrong"),
    }
)
"""What a score cannot be called: its columns would be those of a number of our own."""
LONGEST_NAME = 80


def check_score_name(name: str) -> str:
    """Check what a score is called.

    Raises
    ------
    ValueError
        Naming the rule and the name.

    Examples
    --------
    >>> check_score_name("p_true")
    'p_true'
    """
    if name in RESERVED or name.endswith(ATTEMPTED):
        raise ValueError(f"a score cannot be called {name!r}, which is the name of another number: rename it")
    if not (name.strip() == name != "" and name.isprintable() and "=" not in name and len(name) <= LONGEST_NAME):
        rule = f"1 to {LONGEST_NAME} printable characters without '=' and without blanks at its ends"
        raise ValueError(f"the name of a score must be {rule}; got {name!r}")
    return name


def given_scores(names: Mapping[str, bool]) -> tuple[Confidence, ...]:
    """Make a run's own scores of their names, each with whether only its order means something.

    Examples
    --------
    >>> [each.prefix for each in given_scores({"p_true": False, "entropy": True})]
    ['p_true', 'entropy', 'p_true_attempted', 'entropy_attempted']
    """
    every = [Confidence(name, f"{name}-{{}}", name, given=True, ranked=ranked) for name, ranked in names.items()]
    some = (
        each._replace(prefix=each.prefix + ATTEMPTED, title=f"{each.title} (attempted)", attempted=True)
        for each in every
    )
    return (*every, *some)


def scores_in(columns: Iterable[str]) -> tuple[Confidence, ...]:
    """Find the scores that the runs of a summary were given, by its columns.

    Examples
    --------
    >>> [each.prefix for each in scores_in(["sem1_auroc", "p_true_auroc", "p_true_ece"])]
    ['p_true', 'p_true_attempted']
    """
    present = dict.fromkeys(columns)
    own = {each.prefix for each in CONFIDENCES}
    prefixes = [name.removesuffix("_auroc") for name in present if name.endswith("_auroc")]
    names = [name for name in prefixes if name not in own and not name.endswith(ATTEMPTED)]
    return given_scores({name: f"{name}_ece" not in present for name in names})


EVERY = tuple(each.prefix for each in CONFIDENCES)
SHOWN: tuple[Table, ...] = ("summary", "headline", "ece", "compare")
"""The tables of a metric that people compare runs by; ``check`` takes those of the summary that have a direction."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A row of the metric table.

    Parameters
    ----------
    name : str
        In columns and limits, behind the confidence's: ``sem1_ece``.
    title : str
        In headings; ``''``: its columns are headed by their names.
    function : str
        ``module:function`` in :mod:`semece.stats`. Given ``confidence, correct``, arrays of shape (N,), or ``correct``
        alone, SemX's ``residuals``, or the class ``counts``; gives a number, whose interval then comes from resampled
        questions, or a tuple that begins with the number and the ends of its interval.
    better : {'higher', 'lower'} or None
        Direction; None: neither is better, so it has no ranks.
    confidences : tuple of str
        Of which confidences, by prefix; none for a metric that needs correctness alone.
    tables : tuple of {'summary', 'headline', 'ece', 'compare', 'baselines'}
        Where it stands. ``headline`` is what ``semece summary`` and the report show of the summary.
    needs : tuple of str
        What the function takes, by name: ``confidence`` and ``correct``, ``correct``, ``residuals``, or ``counts``.
    options : tuple of str
        Keyword arguments the function takes of ``ids``, ``weights``, ``n_bins`` and ``closed``.
    terms : str
        ``module:function`` of the terms that the metric is made of (:class:`semece.stats.ErrorTerms`): with them runs
        are compared. Without it the function is called on resampled questions.
    more : tuple of str
        Further fields of the tuple that the summary has, each in a column with the metric's name before it.
    of_order : bool
        Whether only the order of the confidences counts, so that a ranked score has it, too.
    limited : bool
        Whether it may have a limit without a direction.
    """

    name: str
    title: str
    function: str
    better: Literal["higher", "lower"] | None
    confidences: tuple[str, ...] = EVERY
    tables: tuple[Table, ...] = SHOWN
    needs: tuple[str, ...] = ("confidence", "correct")
    options: tuple[str, ...] = ()
    terms: str = ""
    more: tuple[str, ...] = ()
    of_order: bool = False
    limited: bool = False

    @property
    def of_classes(self) -> bool:
        """Whether it is measured on all classes of the questions, and so of no confidence."""
        return self.needs[0] in {"residuals", "counts"}

    def measure(self, confidence: Floats, correct: Floats, **options: Any) -> Any:  # noqa: ANN401
        """Give what the function gives; options that it does not take are left out."""
        return self._call({"confidence": confidence, "correct": correct}, options)

    def measure_classes(self, given: SemX | Counts, **options: Any) -> Any:  # noqa: ANN401 - a tuple of the function's
        """Give what the function gives for SemX's residuals or for counts; ``ids`` are of all questions of the run."""
        return self._call({self.needs[0]: given}, options)

    def _call(self, given: dict[str, Any], options: dict[str, Any]) -> Any:  # noqa: ANN401 - what the function gives
        taken = {name: value for name, value in options.items() if name in self.options}
        return stats_function(self.function)(**{name: given[name] for name in self.needs}, **taken)

    def value(self, confidence: Floats, correct: Floats) -> float:
        """Give the number alone."""
        found = self.measure(confidence, correct)
        return float(found[0] if isinstance(found, tuple) else found)

    def interval(self, confidence: Floats, correct: Floats, **options: Any) -> Interval:  # noqa: ANN401
        """Give the value with its 95 % interval; nan at its ends for too few questions."""
        from semece.stats import Interval, resampled_interval

        found = self.measure(confidence, correct, **options)
        if isinstance(found, tuple):
            return Interval(*found[:3])
        return resampled_interval(self.value, confidence, correct, ids=options.get("ids"))

    def columns(self, given: Sequence[Confidence] = ()) -> Iterator[tuple[str, Confidence | None]]:
        """Give its columns in a summary, each with its confidence; `given` are a run's own scores."""
        if "confidence" not in self.needs:
            yield self.name, None
        else:
            yield from ((f"{each.prefix}_{self.name}", each) for each in (*CONFIDENCES, *given) if self.applies(each))

    def applies(self, confidence: Confidence) -> bool:
        """Whether it is measured of a confidence: of a score that a run was given if it is of every one."""
        if confidence.given:
            return self.confidences == EVERY and (self.of_order or not confidence.ranked)
        return confidence.prefix in self.confidences


class Binning(NamedTuple):
    """How the bins of an ECE are made.

    Parameters
    ----------
    n_bins : int
        How many, at least 1.
    closed : {'left', 'right', 'guo', 'linspace-digitize'}
        Where a value on an edge belongs; see :func:`semece.ece`.
    """

    n_bins: int = 10
    closed: Closed = "left"

    @classmethod
    def checked(cls, n_bins: int, closed: str) -> Binning:
        """Check what a person wrote.

        Raises
        ------
        ValueError
            Naming the option, its rule and its value.
        """
        from semece.stats import CLOSED

        if n_bins < 1:
            raise ValueError(f"bins must be at least 1; got {n_bins}")
        if closed not in CLOSED:
            raise ValueError(f"closed must be {', '.join(CLOSED)}; got {closed!r}")
        return cls(n_bins, closed)


ECE_OPTIONS = ("ids", "weights", "n_bins", "closed")
BESIDE: tuple[Table, ...] = ("baselines",)
RANKING: tuple[Table, ...] = ("summary", "baselines")
SCORES: tuple[tuple[str, str, str, Literal["higher", "lower"], tuple[Table, ...], bool], ...] = (
    ("smooth_ece", "Smooth ECE", "adaptive_intervals:smooth_ece", "lower", BESIDE, False),
    ("ece_sweep", "ECE (sweep)", "adaptive_intervals:ece_sweep", "lower", BESIDE, False),
    ("brier", "Brier score", "score_intervals:brier", "lower", BESIDE, False),
    ("auroc", "AUROC", "score_intervals:auroc", "higher", RANKING, True),
    ("aurc", "AURC", "score_intervals:aurc", "lower", RANKING, True),
)
"""What stands beside the ECE of other confidences: name, heading, function without ``_interval``, direction, tables,
and whether only the order of the confidences counts."""
METRICS: tuple[Metric, ...] = (
    Metric(
        "accuracy",
        "Accuracy",
        "uncertainty.intervals:accuracy_interval",
        "higher",
        needs=("correct",),
        options=("ids", "weights"),
        terms="diagnostics.changes:correctness_terms",
    ),
    Metric(
        "oracle",
        "Oracle confidence",
        "uncertainty.oracle_brackets:oracle_bracket",
        None,
        tables=("summary", "headline", "ece"),
        needs=("counts",),
        options=("ids", "weights"),
        more=("lower", "upper", "sem2", "sem1", "n_questions"),
        limited=True,
    ),
    Metric(
        "held_out_gap",
        "Held-out gap",
        "uncertainty.held_out_errors:held_out_gap",
        None,
        needs=("residuals",),
        options=("ids", "weights"),
        terms="uncertainty.paired_errors:held_out_gap_terms",
        more=("least", "n_questions"),
    ),
    Metric(
        "semx_ece",
        "SemX-ECE",
        "uncertainty.held_out_errors:semx_ece",
        "lower",
        needs=("residuals",),
        options=("ids", "weights"),
        terms="uncertainty.paired_errors:held_out_terms",
        more=("least", "debiased", "p_value", "n_questions", "n_select"),
    ),
    Metric(
        "ece",
        "ECE",
        "uncertainty.intervals:ece_interval",
        "lower",
        tables=(*SHOWN, "baselines"),
        options=ECE_OPTIONS,
        terms="uncertainty.paired_errors:binned_terms",
    ),
    Metric(
        "gap",
        "",
        "uncertainty.held_out_errors:gap_interval",
        None,
        tables=("summary", "compare"),
        options=("ids", "weights"),
        terms="uncertainty.paired_errors:gap_terms",
    ),
    *(
        Metric(
            name,
            title,
            f"uncertainty.{place}_interval",
            better,
            tables=tables,
            options=("ids", "weights"),
            of_order=of_order,
        )
        for name, title, place, better, tables, of_order in SCORES
    ),
)
"""The metrics, in the order of columns."""
RANKED = tuple(each for each in METRICS if each.name == "auroc")
"""By what scores are compared of which only the order means something."""


def stats_function(place: str) -> Any:  # noqa: ANN401 - whatever stands there
    """Load a function of the statistics, which are slow to import, when it is needed.

    Examples
    --------
    >>> round(stats_function("calibration.proper_scores:brier")([0.5, 1.0], [0, 1]), 3)
    0.125
    """
    module, _, name = place.partition(":")
    return getattr(import_module(f"semece.stats.{module}"), name)


def metrics_of(table: Table) -> list[Metric]:
    """List the metrics that stand in a table."""
    return [metric for metric in METRICS if table in metric.tables]


def limited_names(given: Sequence[Confidence] = ()) -> tuple[str, ...]:
    """Name the numbers of a summary that can have a limit; `given` are a run's own scores.

    Examples
    --------
    >>> limited_names()[:3]
    ('accuracy', 'oracle', 'semx_ece')
    """
    limited = (metric for metric in metrics_of("summary") if metric.better or metric.limited)
    return tuple(name for metric in limited for name, _ in metric.columns(given))


def quantities(given: Sequence[Confidence] = ()) -> tuple[ComparedQuantity, ...]:
    """Give what runs are compared by that is about a confidence or correctness, as the statistics take it."""
    from semece.stats import ComparedQuantity

    names = tuple(each.column for each in given if each.ranked and each.pooled)
    orders = [ComparedQuantity(each.name, each.value, None, (), each.better, names) for each in RANKED if names]
    return tuple(
        ComparedQuantity(
            metric.name,
            metric.value,
            stats_function(metric.terms) if metric.terms else None,
            tuple(each.column for _, each in metric.columns(given) if each and each.pooled),
            metric.better,
        )
        for metric in metrics_of("compare")
        if not metric.of_classes
    ) + tuple(orders)


def residual_quantities() -> dict[str, Callable[[SemX | ErrorTerms], ErrorTerms]]:
    """Give what runs are compared by that is about the model: the terms of each number, made of SemX's residuals.

    Examples
    --------
    >>> list(residual_quantities())
    ['held_out_gap', 'semx_ece']
    """
    return {metric.name: stats_function(metric.terms) for metric in metrics_of("compare") if metric.of_classes}


def directions(given: Sequence[Confidence] = ()) -> dict[str, Literal["higher", "lower"]]:
    """Say of each compared quantity that has a direction which is better; `given` are the runs' own scores.

    Examples
    --------
    >>> directions()["accuracy"], directions()["sem1_ece"]
    ('higher', 'lower')
    """
    own = {
        metric.name if each is None else f"{each.column}_{metric.name}": metric.better
        for metric in metrics_of("compare")
        for _, each in metric.columns(given)
        if metric.better and (each is None or each.pooled)
    }
    names = [each.column for each in given if each.ranked and each.pooled]
    return own | {f"{name}_{each.name}": each.better for each in RANKED for name in names if each.better}


def titles() -> dict[str, str]:
    """Give the headings of metrics: alone, and with each confidence under either of its names."""
    found = {metric.name: metric.title for metric in METRICS if metric.title}
    headed = [each for each in METRICS if each.title and "headline" in each.tables]
    columns = [(metric, name, each) for metric in headed for name, each in metric.columns() if each is not None]
    found |= {name: each.title.format(metric.title) for metric, name, each in columns}
    pooled = [(metric, each) for metric, _, each in columns if each.pooled]
    return found | {f"{each.column}_{metric.name}": each.title.format(metric.title) for metric, each in pooled}
