"""Confidences from the log probabilities of what was written, for models that tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from semece.stats.rows import check_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from semece.stats.rows import Floats

Estimator = Literal["rao-blackwell", "monte-carlo"]


def sequence_probability(logprobs: ArrayLike, *, normalized: bool = False) -> float:
    r"""Probability of a sequence of tokens.

    .. math:: p(s) = \exp \sum_{i=1}^{T} \log p(t_i \mid t_{<i}) \qquad\text{or, normalized,}\qquad p(s)^{1/T}

    Parameters
    ----------
    logprobs : array_like, shape (T,)
        Log probabilities of its tokens, <= 0.
    normalized : bool
        By its length: the geometric mean of the tokens' probabilities, as Malinin and Gales 2021.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no token, or a log probability is above 0 or nan.

    Examples
    --------
    >>> round(sequence_probability([-0.1, -0.3]), 6), round(sequence_probability([-0.1, -0.3], normalized=True), 6)
    (0.67032, 0.818731)
    """
    values = _checked(logprobs)
    return float(np.exp(values.mean() if normalized else values.sum()))


def likelihood_entropy(labels: Sequence[int], logprobs: ArrayLike, *, estimator: Estimator = "rao-blackwell") -> float:
    r"""Semantic entropy with classes weighted by the likelihoods of their responses, in nats.

    With :math:`p(c) = \sum_{s \in c} p(s) / \sum_s p(s)` over the responses that were drawn, Farquhar et al. 2024 take
    :math:`-\sum_c p(c) \log p(c)` (``rao-blackwell``). Kuhn et al. 2023 take the mean over the classes of
    :math:`-\log \sum_{s \in c} p(s)`, not normalized (``monte-carlo``).

    Parameters
    ----------
    labels : sequence of int, length M
        Classes of the responses.
    logprobs : array_like, shape (M,)
        Log probabilities of the responses, <= 0; both papers divide them by the number of tokens.
    estimator : {'rao-blackwell', 'monte-carlo'}
        Which.

    Returns
    -------
    float
        The first at least 0 and at most log K for K classes.

    Raises
    ------
    ValueError
        If the lengths differ, there is no response, or a log probability is above 0 or nan.

    Examples
    --------
    >>> round(likelihood_entropy([0, 0, 1], np.log([0.3, 0.3, 0.2])), 6)
    0.562335
    """
    check_choice("estimator", estimator, ("rao-blackwell", "monte-carlo"))
    values = _checked(logprobs)
    if len(labels) != len(values):
        raise ValueError(f"labels and logprobs must have one length; got {len(labels)} and {len(values)}")
    _, places = np.unique(np.asarray(labels), return_inverse=True)
    top = values.max()
    if np.isneginf(top):
        raise ValueError("logprobs must not all be -inf")
    masses = np.bincount(places, weights=np.exp(values - top))
    if estimator == "monte-carlo":
        return float(-np.mean(np.log(masses) + top))
    shares = masses[masses > 0] / masses.sum()
    return float(max(0.0, -np.sum(shares * np.log(shares))))


def choice_softmax(logprobs: ArrayLike) -> Floats:
    r"""Probabilities of the options of a multiple choice: the softmax over their log probabilities at one place.

    .. math:: p_k = e^{\ell_k} / \sum_j e^{\ell_j}

    Of the two options true and false it is P(True) of Kadavath et al. 2022.

    Parameters
    ----------
    logprobs : array_like, shape (K,)
        Log probability of each option's token, <= 0; -inf for one that is not among the likeliest.

    Returns
    -------
    ndarray, shape (K,)
        Sums to 1.

    Raises
    ------
    ValueError
        If there is no option, all are -inf, or one is above 0 or nan.

    Examples
    --------
    >>> choice_softmax(np.log([0.6, 0.2])).round(6).tolist()
    [0.75, 0.25]
    """
    values = _checked(logprobs)
    if np.isneginf(values.max()):
        raise ValueError("logprobs must not all be -inf")
    weights = np.exp(values - values.max())
    shares: Floats = weights / weights.sum()
    return shares


def _checked(logprobs: ArrayLike) -> Floats:
    values = np.asarray(logprobs, dtype=float).ravel()
    if not len(values):
        raise ValueError("logprobs must hold at least one number; got none")
    if np.isnan(values).any() or (values > 0).any():
        bad = int(np.flatnonzero(np.isnan(values) | (values > 0))[0])
        raise ValueError(f"logprobs must be at most 0; got {values[bad]:g} at index {bad}")
    return values
