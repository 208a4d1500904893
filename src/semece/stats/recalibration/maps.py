r"""A fitted map from scores to confidences: what it is, how it is applied, how it is written down.

Applying needs numpy alone. With :math:`\sigma` the logistic function, and :math:`s` clipped into [clip, 1 - clip] where
a logarithm is taken:

===================  ==============================================================================================
method               map
===================  ==============================================================================================
``isotonic``         linear interpolation between the ends of the blocks, constant outside
``histogram``        the accuracy of the bin
``platt``            :math:`\sigma(a \operatorname{logit} s + b)`; :math:`\sigma(a s + b)` for scores on the real line
``temperature``      :math:`\sigma(\operatorname{logit}(s) / T)`
``beta``             :math:`\sigma(a \ln s - b \ln(1 - s) + c)`, :math:`a, b \ge 0`
``scaling-binning``  the mean Platt value of the bin into which the Platt value falls
``venn-abers``       :math:`p_1 / (1 - p_0 + p_1)`
``dirichlet``        the first component of :math:`\operatorname{softmax}(W \ln q + b)`
===================  ==============================================================================================
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import NUMBERS, Floats, check_finite, check_unit, refuse

Domain = Literal["unit", "real"]

CLIP = 0.01
"""Least distance of a score from 0 and from 1 before its logarithm is taken, unless another is given."""
LARGEST = 1e100
"""Largest size of a score on the real line: sums and differences of larger ones overflow."""
TIE = 1e-9
"""Share of a score by which another may differ and still be the same: averages carry rounding errors."""
FORMAT, FIRST = "semece recalibration 2", "semece recalibration 1"
"""What a file of a map begins with; the first format knew neither ends nor what the map was fitted on."""


def expit(value: Floats) -> Floats:
    """Logistic function, without overflow.

    Examples
    --------
    >>> expit(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(0.5 * (1 + np.tanh(0.5 * value)))


def logit(score: Floats, clip: float) -> Floats:
    """Log-odds of scores clipped into [clip, 1 - clip]."""
    kept = np.clip(score, clip, 1 - clip)
    return np.asarray(np.log(kept) - np.log1p(-kept))


@lru_cache(maxsize=2**16, typed=True)
def question_mark(question: object) -> str:
    """Give twelve hexadecimal digits by which a map remembers a question.

    Examples
    --------
    >>> question_mark("capital-france")
    'a0016cd8bdc2'
    """
    return blake2b(str(question).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Recalibration:
    """A map from a score to a confidence. Call it with scores.

    Parameters
    ----------
    method : str
        See the module's table.
    parameters : mapping of str to ndarray
        What was fitted; read-only.
    domain : {'unit', 'real'}
        Whether scores must lie in [0, 1], or are any finite numbers.
    clip : float
        Scores are moved into [clip, 1 - clip] before a logarithm is taken.
    score : str
        What goes in, for people: ``sem1``.
    n_rows : int
        How many rows it was fitted on.
    questions : frozenset of str
        Marks of the questions it was fitted on; empty if they had no ids.
    notes : tuple of str
        What a user should know of the fit; a sentence each.
    ends : tuple of float
        The score's values of an answer that is surely wrong, and of one that is surely right: (0, 100) of percents,
        (1, 0) of an uncertainty. With the domain ``'real'`` (0, 1) where more is surer and (0, -1) where less is.
    fitted_on : mapping of str to str
        What the questions were answered and judged by: ``model``, ``dataset``, ``judge``, ``answers`` (how many per
        question), as far as that is known.

    Examples
    --------
    >>> from semece.stats.recalibration.fitting import fit_recalibration
    >>> found = fit_recalibration([0.9] * 10 + [0.4] * 10, [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6, method="isotonic")
    >>> found([0.9, 0.4, 0.65]).round(3).tolist()
    [0.6, 0.4, 0.5]
    >>> round(found(0.65), 3)
    0.5
    >>> Recalibration.from_json(found.to_json()) == found
    True
    """

    method: str
    parameters: Mapping[str, Floats]
    domain: Domain = "unit"
    clip: float = CLIP
    score: str = "confidence"
    n_rows: int = 0
    questions: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    ends: tuple[float, float] = (0.0, 1.0)
    fitted_on: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_questions(self) -> int:
        """How many different questions it was fitted on; 0 if they had no ids."""
        return len(self.questions)

    def __post_init__(self) -> None:
        for values in self.parameters.values():
            values.setflags(write=False)

    @overload
    def __call__(self, score: float) -> float: ...

    @overload
    def __call__(self, score: ArrayLike) -> Floats: ...

    def __call__(self, score: ArrayLike) -> Floats | float:
        """Give the confidence of each score, or of one.

        Parameters
        ----------
        score : array_like, shape (N,), or float
            As it comes: between the ends, or any finite numbers if the domain is ``'real'``. For a Dirichlet map shape
            (N, K): shares.

        Returns
        -------
        ndarray, shape (N,), or float
            In [0, 1].

        Raises
        ------
        ValueError
            For scores outside the domain.
        """
        if self.method != "dirichlet" and isinstance(score, NUMBERS):
            return float(self(np.array([score]))[0])
        return np.asarray(np.clip(KINDS[self.method].apply(self, self._checked(score)), 0.0, 1.0))

    def interval(self, score: ArrayLike) -> Floats:
        """Give both Venn-Abers probabilities of each score, of which one is calibrated.

        Parameters
        ----------
        score : array_like, shape (N,)
            As for a call.

        Returns
        -------
        ndarray, shape (N, 2)
            p0 <= p1: the accuracy as it were if the new answer were wrong, and if it were right.

        Raises
        ------
        ValueError
            If the map is not of Venn-Abers.
        """
        if self.method != "venn-abers":
            raise ValueError(f"only a venn-abers map has an interval; this one is {self.method}")
        return np.column_stack(_venn_abers_pair(self, self._checked(score)))

    def _checked(self, score: ArrayLike) -> Floats:
        if self.method == "dirichlet":
            return check_shares(score, len(self.parameters["intercept"]))
        if self.ends != (0.0, 1.0):
            least, surest = self.ends
            score = (check_finite("score", score) - least) / (surest - least)
        return check_score(score, self.domain)

    def was_fitted_on(self, questions: Iterable[object]) -> list[bool]:
        """Say of each question whether the map was fitted on it.

        Raises
        ------
        ValueError
            If the map does not know its questions, because it was fitted without ids.
        """
        if not self.questions:
            raise ValueError("this map does not know its questions, so no rows are known to be new; fit it with ids=")
        return [question_mark(each) in self.questions for each in questions]

    def to_json(self) -> str:
        """Write it as one line of JSON; every number comes back bit by bit."""
        facts = {
            "format": FORMAT,
            "method": self.method,
            "score": self.score,
            "domain": self.domain,
            "clip": self.clip,
            "ends": list(self.ends),
            "rows": self.n_rows,
            "fitted_on": dict(self.fitted_on),
            "parameters": {name: values.tolist() for name, values in self.parameters.items()},
            "notes": list(self.notes),
            "questions": sorted(self.questions),
        }
        return json.dumps(facts, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Recalibration:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        ValueError
            If the text is something else, or is damaged.
        """
        try:
            facts = json.loads(text)
        except ValueError:
            raise ValueError(f"a recalibration is one JSON object; got {text[:40]!r}") from None
        if not isinstance(facts, dict) or facts.get("format") not in {FORMAT, FIRST}:
            raise ValueError(f"a recalibration begins with its format {FORMAT!r}; got {text[:40]!r}")
        return cls(**_read(facts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recalibration) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())


class MapKind(NamedTuple):
    """What a kind of map holds, and how it is applied."""

    names: tuple[str, ...]
    apply: Callable[[Recalibration, Floats], Floats]


def check_score(score: ArrayLike, domain: Domain) -> Floats:
    """Check scores of a domain."""
    if domain == "unit":
        return check_unit("score", score)
    values = check_finite("score", score)
    refuse(f"score must lie within {LARGEST:g} of 0", values, np.abs(values) > LARGEST)
    return values


def check_clip(clip: float) -> float:
    """Check how far from 0 and 1 a logarithm is taken."""
    if not isinstance(clip, NUMBERS) or not 0 < clip < 0.5:
        raise ValueError(f"clip must lie strictly between 0 and 0.5; got {clip!r}")
    return float(clip)


def check_shares(shares: ArrayLike, n_classes: int | None = None) -> Floats:
    """Check rows of shares that sum to 1; shape (N, K)."""
    try:
        array = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or not len(array) or array.shape[1] < 2 or n_classes not in {None, array.shape[1]}:
        wanted = "at least 2" if n_classes is None else n_classes
        raise ValueError(f"shares must have one row per question and {wanted} columns; got shape {array.shape}")
    refuse("shares must lie in [0, 1]", array, ~((array >= 0) & (array <= 1)))
    total = array.sum(axis=1)
    refuse("shares of a question must sum to 1", total, np.abs(total - 1) > 1e-6)
    return array


def _read(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Check what a file holds; it may have been edited."""
    method = facts.get("method")
    if method not in KINDS:
        raise ValueError(f"the method of a recalibration must be one of {', '.join(KINDS)}; got {method!r}")
    try:
        parameters = {name: np.array(facts["parameters"][name], dtype=np.float64) for name in KINDS[method].names}
        text = {"score": str(facts["score"]), "domain": facts["domain"], "method": method}
        numbers = {"clip": check_clip(facts["clip"]), "n_rows": int(facts["rows"])}
        sets = {"questions": frozenset(facts["questions"]), "notes": tuple(facts["notes"])}
        told = {str(name): str(what) for name, what in facts.get("fitted_on", {}).items()}
        ends = _ends(facts.get("ends", (0, 1)))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"a part of this {method} recalibration is missing or damaged") from None
    sound = all((np.abs(values) <= LARGEST).all() for values in parameters.values()) and numbers["n_rows"] > 0
    if not sound or text["domain"] not in {"unit", "real"}:
        raise ValueError(f"a part of this {method} recalibration is missing or damaged")
    return {**text, **numbers, **sets, "parameters": parameters, "ends": ends, "fitted_on": told}


def _ends(given: Iterable[Any]) -> tuple[float, float]:
    """Check the ends of a score."""
    least, surest = map(float, given)
    if least == surest or not np.isfinite([least, surest]).all():
        raise ValueError("the ends of a score must be two different numbers")
    return least, surest


def _isotonic(fitted: Recalibration, score: Floats) -> Floats:
    return np.interp(score, fitted.parameters["score"], fitted.parameters["confidence"])


def _histogram(fitted: Recalibration, score: Floats) -> Floats:
    edges, confidence = fitted.parameters["edges"], fitted.parameters["confidence"]
    return np.asarray(confidence[np.searchsorted(edges, score)])


def _platt(fitted: Recalibration, score: Floats) -> Floats:
    value = score if fitted.domain == "real" else logit(score, fitted.clip)
    return expit(fitted.parameters["slope"] * value + fitted.parameters["intercept"])


def _temperature(fitted: Recalibration, score: Floats) -> Floats:
    return expit(fitted.parameters["slope"] * logit(score, fitted.clip))


def _beta(fitted: Recalibration, score: Floats) -> Floats:
    a, b, c = (fitted.parameters[name] for name in ("a", "b", "c"))
    kept = np.clip(score, fitted.clip, 1 - fitted.clip)
    return expit(a * np.log(kept) - b * np.log1p(-kept) + c)


def _scaling_binning(fitted: Recalibration, score: Floats) -> Floats:
    return _histogram(fitted, _platt(fitted, score))


def _venn_abers_pair(fitted: Recalibration, score: Floats) -> tuple[Floats, Floats]:
    """Give p0 and p1: between two known scores a right answer joins the next one, a wrong one the one before."""
    known, low, high = (fitted.parameters[name] for name in ("score", "low", "high"))
    near = TIE * np.abs(known)
    p0, p1 = low[np.searchsorted(known - near, score, "right")], high[np.searchsorted(known + near, score, "left")]
    return np.minimum(p0, p1), p1


def _venn_abers(fitted: Recalibration, score: Floats) -> Floats:
    p0, p1 = _venn_abers_pair(fitted, score)
    return np.asarray(p1 / (1 - p0 + p1))


def softmax(value: Floats) -> Floats:
    """Exponentials over their sum, along the last axis."""
    power = np.exp(value - value.max(axis=-1, keepdims=True))
    return np.asarray(power / power.sum(axis=-1, keepdims=True))


def log_shares(shares: Floats, clip: float) -> Floats:
    """Logarithms of shares that are at least ``clip`` and sum to 1."""
    kept = np.maximum(shares, clip)
    return np.asarray(np.log(kept / kept.sum(axis=1, keepdims=True)))


def _dirichlet(fitted: Recalibration, score: Floats) -> Floats:
    value = log_shares(score, fitted.clip) @ fitted.parameters["weights"].T + fitted.parameters["intercept"]
    return np.asarray(softmax(value)[:, 0])


KINDS: dict[str, MapKind] = {
    "isotonic": MapKind(("score", "confidence"), _isotonic),
    "platt": MapKind(("slope", "intercept"), _platt),
    "temperature": MapKind(("slope",), _temperature),
    "beta": MapKind(("a", "b", "c"), _beta),
    "histogram": MapKind(("edges", "confidence"), _histogram),
    "scaling-binning": MapKind(("slope", "intercept", "edges", "confidence"), _scaling_binning),
    "venn-abers": MapKind(("score", "low", "high"), _venn_abers),
    "dirichlet": MapKind(("weights", "intercept"), _dirichlet),
}
"""Every kind of map."""
