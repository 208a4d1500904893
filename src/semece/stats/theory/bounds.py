r"""Bounds that hold for every number of responses, without any separation of classes.

Which n: in a run of M responses Sem1 chooses from M, so its bounds take ``n = M``. Sem2 chooses on a selection block of
s and is read off the other M - s, so its bounds take ``n_select = s`` and ``n_evaluate = M - s``. The error of the
deployed answer is that of M under pooled pairing and that of s under split pairing.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from semece.stats.rows import Floats, check_choice, check_count
from semece.stats.theory.number_arguments import check_margin, check_numbers, check_single, check_size, plain, together

BiasOf = Literal["sem1", "sem2", "sum"]


def selection_error_bound(margin: ArrayLike, top_two_mass: ArrayLike, n_classes: ArrayLike, n: ArrayLike) -> Floats:
    r"""Bound on the probability that the most frequent of n responses is not the most probable class.

    .. math:: P(\hat z \ne z^*) \le (K - 1) \exp\!\left(-\frac{n \Delta^2}{2p}\right)

    Parameters
    ----------
    margin : array_like
        :math:`\Delta` in [0, 1], of the true probabilities.
    top_two_mass : array_like
        p in (0, 1], at least the margin.
    n_classes : array_like
        K >= 1.
    n : array_like
        Responses that choose the class, >= 1: M for the deployed answer of a run (pooled pairing), s for the class
        that Sem2 selects (split pairing).

    Returns
    -------
    ndarray
        >= 0, not capped at 1. A number for numbers.

    Raises
    ------
    ValueError
        For values outside these ranges.

    Notes
    -----
    Source: the paper's selection lemma. It holds for every rule for ties, because each rival k wins or ties with
    probability at most :math:`(1 - (\sqrt{\pi_1} - \sqrt{\pi_k})^2)^n` (Chernoff).

    Examples
    --------
    >>> round(float(selection_error_bound(0.5, 0.9, 4, 50)), 6)
    0.002892
    """
    delta, mass = check_margin(margin, top_two_mass)
    classes = check_numbers("n_classes", n_classes, low=1.0)
    size = check_size(n, margin=delta, n_classes=classes)
    return plain((classes - 1) * np.exp(-size * delta**2 / (2 * mass)))


def bias_bound(
    margin: ArrayLike,
    top_two_mass: ArrayLike,
    n_classes: ArrayLike,
    n: ArrayLike,
    *,
    estimator: BiasOf = "sem1",
    sharp: bool = False,
) -> Floats:
    r"""Bound on the absolute bias :math:`|E\hat c - c^*|` of an estimator.

    .. math:: \min\!\left(C \sqrt{\frac{\log 2K}{2n}},\ (K-1) \exp\!\left(-\frac{n\Delta^2}{2p}\right)\right),
              \qquad C = 1\ (\text{Sem1}),\ 2\ (\text{Sem2})

    With ``sharp=True`` the first term is :math:`\sqrt{\log K / (2n)}` for either estimator, and for the sum of both
    absolute biases when they choose from the same number of responses.

    Parameters
    ----------
    margin, top_two_mass, n_classes
        As in :func:`selection_error_bound`.
    n : array_like
        Responses that choose the class: M for Sem1, s for Sem2.
    estimator : {'sem1', 'sem2', 'sum'}
        Whose bias; ``'sum'``: of both at the same n.
    sharp : bool
        The paper's constant, or the sharp one.

    Returns
    -------
    ndarray
        >= 0. A number for numbers.

    Raises
    ------
    ValueError
        For values outside these ranges or an unknown estimator.

    Notes
    -----
    Source: the paper's marginal bias theorem. Sharp form: the sum of both absolute biases is
    :math:`E[\hat\pi_{\hat z} - \pi_{\hat z}] \le E \max_k (\hat\pi_k - \pi_k)`, and each term of the maximum is
    sub-Gaussian with variance factor 1/(4n). Each bias is also at most the probability of choosing another class.

    Examples
    --------
    >>> [round(float(bias_bound(0.0, 0.5, 4, 50, estimator=e)), 4) for e in ("sem1", "sem2")]
    [0.1442, 0.2884]
    >>> round(float(bias_bound(0.0, 0.5, 4, 50, estimator="sum", sharp=True)), 4)
    0.1177
    """
    check_choice("estimator", estimator, ("sem1", "sem2", "sum"))
    error = selection_error_bound(margin, top_two_mass, n_classes, n)
    classes, size = check_numbers("n_classes", n_classes), check_numbers("n", n)
    if sharp:
        return plain(np.minimum(np.sqrt(np.log(classes) / (2 * size)), error * (2 if estimator == "sum" else 1)))
    unit = np.sqrt(np.log(2 * classes) / (2 * size))
    first, second = np.minimum(unit, error), np.minimum(2 * unit, error)
    return plain({"sem1": first, "sem2": second, "sum": first + second}[estimator])


def confidence_error_bound_sem1(
    n_classes: ArrayLike,
    n: ArrayLike,
    *,
    margin: ArrayLike | None = None,
    top_two_mass: ArrayLike | None = None,
    average: bool = False,
) -> Floats:
    r"""Bound on the expected distance of Sem1 from the oracle confidence.

    .. math:: E|\hat c_1 - c^*| \le E\max_k |\hat\pi_k - \pi_k| \le \sqrt{\log(2K)/(2n)}

    With a margin the smaller of this and of the margin branch, with :math:`\pi_1 = (p + \Delta)/2`,

    .. math:: \sqrt{\pi_1 (1 - \pi_1) / n} + (K - 1) \exp\!\left(-\frac{n \Delta^2}{2p}\right)

    Parameters
    ----------
    n_classes : array_like
        K >= 1.
    n : array_like
        Responses, >= 1: M in a run.
    margin, top_two_mass : array_like, optional
        As in :func:`selection_error_bound`; both or neither.
    average : bool
        Mean over the questions instead of one value each.

    Returns
    -------
    ndarray
        >= 0. A number for numbers or with ``average=True``.

    Raises
    ------
    ValueError
        For values outside these ranges, or one of margin and mass without the other.

    Notes
    -----
    Source: thm. boundc1; the first step is the paper's pointwise bound. Margin branch: where the most probable class is
    chosen Sem1 is its frequency, elsewhere the distance is at most 1.

    Examples
    --------
    >>> round(float(confidence_error_bound_sem1(4, 50)), 4)
    0.1442
    >>> round(float(confidence_error_bound_sem1(3, 50, margin=0.92, top_two_mass=0.98)), 4)
    0.0308
    """
    classes = check_numbers("n_classes", n_classes, low=1.0)
    size = check_size(n, n_classes=classes)
    bound = np.sqrt(np.log(2 * classes) / (2 * size))
    if (margin is None) != (top_two_mass is None):
        raise ValueError("give both margin and top_two_mass, or neither; got one of them")
    if margin is not None and top_two_mass is not None:
        bound = np.minimum(bound, _margin_branch(margin, top_two_mass, classes, size, size))
    return _averaged(bound, average=average)


def _margin_branch(
    margin: ArrayLike, top_two_mass: ArrayLike, classes: Floats, n_select: Floats, n_evaluate: Floats
) -> Floats:
    """Add the spread of the most probable class's frequency and the probability that another is selected."""
    delta, mass = check_margin(margin, top_two_mass)
    first = (mass + delta) / 2
    error = selection_error_bound(delta, mass, classes, n_select)
    return np.asarray(np.sqrt(np.maximum(first * (1 - first), 0.0) / n_evaluate) + error)


def confidence_error_bound_sem2(
    margin: ArrayLike,
    top_two_mass: ArrayLike,
    n_classes: ArrayLike,
    n_select: ArrayLike,
    n_evaluate: ArrayLike,
    *,
    sharp: bool = False,
    average: bool = False,
) -> Floats:
    r"""Bound on the expected distance of Sem2 from the oracle confidence.

    .. math:: E|\hat c_2 - c^*| \le \min\Bigl\{\frac{1}{2\sqrt{m}} + \text{bias\_bound}(n = s),\;
              \sqrt{\frac{\pi_1 (1 - \pi_1)}{m}} + (K - 1) \exp\!\left(-\frac{s \Delta^2}{2p}\right)\Bigr\}

    The first term of each is the evaluation noise given the selected class, the second what the selection loses;
    :math:`\pi_1 = (p + \Delta)/2`.

    Parameters
    ----------
    margin, top_two_mass, n_classes
        As in :func:`selection_error_bound`.
    n_select : array_like
        s, responses that choose the class, >= 1.
    n_evaluate : array_like
        m = M - s, responses that give its frequency, >= 1.
    sharp : bool
        As in :func:`bias_bound`.
    average : bool
        Mean over the questions instead of one value each.

    Returns
    -------
    ndarray
        > 0. A number for numbers or with ``average=True``.

    Raises
    ------
    ValueError
        For values outside these ranges.

    Notes
    -----
    Source: thm. bound-c2. It holds for one pair of blocks, and by Jensen's inequality for the average over all pairs.

    Examples
    --------
    >>> round(float(confidence_error_bound_sem2(0.5, 0.9, 4, 25, 25)), 4)
    0.1848
    """
    bias = bias_bound(margin, top_two_mass, n_classes, n_select, estimator="sem2", sharp=sharp)
    evaluated = check_numbers("n_evaluate", n_evaluate, low=1.0)
    together(margin=bias, n_evaluate=evaluated)
    classes, selecting = check_numbers("n_classes", n_classes), check_numbers("n_select", n_select)
    clear = _margin_branch(margin, top_two_mass, classes, selecting, evaluated)
    return _averaged(np.minimum(0.5 / np.sqrt(evaluated) + bias, clear), average=average)


def _averaged(values: Floats, *, average: bool) -> Floats:
    """Give the values or their mean."""
    return plain(np.asarray(np.mean(values))) if average else plain(values)


def ece_bound(
    delta: float,
    epsilon: float,
    *,
    oracle_confidence: ArrayLike | None = None,
    density_bound: float | None = None,
    n_bins: int = 10,
) -> float:
    r"""Bound on the distance of a binned ECE from ECE*, |ECE(c, a) - ECE(c*, a*)|.

    With the oracle confidences, minimised over :math:`\eta`:

    .. math:: \delta + \varepsilon + 2\Bigl(\frac{\varepsilon}{\eta} + P(d(c^*) < \eta)\Bigr)

    where d is the distance to the nearest interior edge of the bins; :math:`\delta` alone if :math:`\varepsilon = 0`.
    With a bound B on the density of :math:`c^*`:

    .. math:: \delta + \varepsilon + 4\sqrt{2 B (L - 1) \varepsilon}

    Parameters
    ----------
    delta : float
        Mean :math:`|a - a^*|`, or a bound on it; >= 0.
    epsilon : float
        Mean :math:`|c - c^*|`, or a bound on it; >= 0.
    oracle_confidence : array_like, shape (Q,), optional
        :math:`c^*` in [0, 1].
    density_bound : float, optional
        B > 0, instead of the oracle confidences.
    n_bins : int
        L >= 1 bins of equal width.

    Returns
    -------
    float
        >= 0. It may exceed 1, where it says nothing.

    Raises
    ------
    ValueError
        For values outside these ranges, or if not exactly one of ``oracle_confidence`` and ``density_bound`` is given.

    Notes
    -----
    Source: thm. ece-bound. With the realised delta, epsilon and P of a sample it holds for that sample, without
    expectations: a question changes its bin only if it moved by at least its distance to an edge, and then changes the
    sum by at most 2/Q.

    Examples
    --------
    >>> round(ece_bound(0.0, 0.001, oracle_confidence=[0.25, 0.55, 0.75]), 6)
    0.041
    >>> round(ece_bound(0.01, 0.0001, density_bound=2.0), 6)
    0.2501
    """
    move = check_single("delta", delta) + check_single("epsilon", epsilon)
    edges = np.arange(1, check_count("n_bins", n_bins)) / n_bins
    if (oracle_confidence is None) == (density_bound is None):
        given = "neither" if oracle_confidence is None else "both"
        raise ValueError(f"give either oracle_confidence or density_bound; got {given}")
    if density_bound is not None:
        bound = check_single("density_bound", density_bound)
        return float(move + 4 * np.sqrt(2 * bound * len(edges) * epsilon))
    c = np.atleast_1d(check_numbers("oracle_confidence", np.asarray(oracle_confidence), high=1.0))
    if len(edges) == 0 or epsilon == 0:
        return move
    distance = np.abs(c[:, None] - edges).min(axis=1)
    eta, counts = np.unique(distance, return_counts=True)
    nearer = np.append(np.cumsum(counts) - counts, len(c)) / len(c)
    moved = np.append(np.divide(epsilon, eta, out=np.full_like(eta, np.inf), where=eta > 0), 0.0)
    return float(move + 2 * np.min(moved + nearer))
