"""A run against limits and against another run, for continuous integration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.compare.standings import changes_of, common_questions
from semece.errors import SemeceError
from semece.runs import directions, given_scores, label, limited_names, number_text, summary_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.compare.standings import Arms
    from semece.runs import Run


class Check(NamedTuple):
    """One check.

    Parameters
    ----------
    name : str
        One of :func:`semece.runs.metrics.limited_names`; of a comparison, its quantity.
    passed : bool
        Whether it holds.
    sentence : str
        What was wanted and what is.
    audit : str or None
        The sheets by which the judge's errors are corrected in it.
    """

    name: str
    passed: bool
    sentence: str
    audit: str | None = None


def check_run(
    run: Run, *, most: Sequence[str] = (), least: Sequence[str] = (), baseline: Run | None = None
) -> list[Check]:
    """Check a run.

    Parameters
    ----------
    run : Run
        What is checked.
    most, least : sequence of str
        Limits ``name=value``: the upper end of a number's 95 % interval must not be above, the lower end not below.
    baseline : Run, optional
        A run on the same questions: accuracy must not be surely lower, no ECE surely higher, and no gap between mean
        confidence and accuracy surely farther from 0. A run that has not changed fails at most once in 20 times.

    Returns
    -------
    list of Check

    Raises
    ------
    SemeceError
        Nothing to check, a limit that is none, a number the run does not have, or as
        :func:`semece.compare.standings.compare_runs`.
    """
    if not (most or least or baseline):
        raise SemeceError("there is nothing to check: give --max NAME=VALUE, --min NAME=VALUE or --baseline RUN")
    names = limited_names(given_scores(run.given)) if most or least else ()
    limits = [(_limit(text, names), "high") for text in most] + [(_limit(text, names), "low") for text in least]
    row = summary_table([run]).row(0, named=True) if limits else {}
    found = [_within(row, name, value, end) for (name, value), end in limits]
    return [*found, *(_regressions(run, baseline) if baseline else ())]


def _limit(text: str, names: Sequence[str]) -> tuple[str, float]:
    """Read ``name=value``."""
    name, _, number = text.partition("=")
    if name not in names:
        raise SemeceError(f"a limit is NAME=VALUE with a name of {', '.join(names)}; got {text!r}")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise SemeceError(f"the limit of {name} must be a number in [0, 1]; got {number!r}")
    return name, value


def _within(row: dict[str, Any], name: str, value: float, end: str) -> Check:
    """Compare one end of an interval with a limit."""
    number, low, high = (row[f"{name}{suffix}"] for suffix in ("", "_low", "_high"))
    if number is None:
        raise SemeceError(f"the run has no {label(name)}: no complete question has one")
    if low is None or high is None:
        raise SemeceError(f"{label(name)} has no interval that a limit could hold: there are too few questions")
    passed = high <= value if end == "high" else low >= value
    wanted = "at most" if end == "high" else "at least"
    decisive = high if end == "high" else low
    digits = next(n for n in range(3, 18) if n == 17 or round(decisive, n) == decisive or round(decisive - value, n))
    shown, least, most = (number_text(each, digits) for each in (number, low, high))
    audit = row["audit"] if name in (row["corrected"] or ()) else None
    by = f" (corrected by {audit})" if audit else ""
    return Check(name, passed, f"{label(name)} {shown} [{least}, {most}]{by}, wanted {wanted} {value:g}", audit)


ALARMS = 0.05
"""How often all comparisons with a baseline together may fail a run that has not changed."""


def _regressions(run: Run, baseline: Run) -> Iterator[Check]:
    """Give a check per number that can have become worse; they share :data:`ALARMS`."""
    if Path(run.path).resolve() == Path(baseline.path).resolve():
        yield Check("baseline", True, f"the baseline is the run itself ({Path(run.path).name}): nothing has changed")
        return
    arms = common_questions([baseline, run])
    judged = _judged(arms)
    audit = "; ".join(f"{name}: {sheets}" for name, sheets in arms.audits.items()) or None
    by = f" (corrected by {audit})" if audit else ""
    for row in changes_of(arms, level=1 - ALARMS / len(judged)).to_dicts():
        name, low, high = row["quantity"], row["change_low"], row["change_high"]
        if name not in judged:
            continue
        if low is None:
            raise SemeceError(f"{label(name)} cannot be compared with {baseline.path}: {row['reason']}")
        change, least, most = (number_text(each, 3, signed=True) for each in (row["change"], low, high))
        text = f"{label(name)} changed by {change} [{least}, {most}]{by}"
        yield Check(name, not _worse(judged[name], row), text, audit)


def _judged(arms: Arms) -> dict[str, str | None]:
    """Name the numbers that are compared with a baseline, each with its better direction; None: nearer to 0 is better.

    The gap of the model is the held-out gap; where that is not known it is that of Sem1.
    """
    known = {name for pool in arms.pools.values() for name, _ in pool.confidences()}
    absent = {"sem1", "sem2", "verbalized"} - known
    numbers = {
        name: better for name, better in directions(arms.given).items() if name.removesuffix("_ece") not in absent
    }
    if not arms.residuals:
        del numbers["semx_ece"]
    gaps = ["held_out_gap" if arms.residuals else "sem1_gap", *(["verbalized_gap"] if "verbalized" in known else [])]
    return {**numbers, **dict.fromkeys(gaps)}


def _worse(better: str | None, row: dict[str, float]) -> bool:
    """Whether a number has surely become worse; the interval of its change leaves out 0 on the bad side."""
    low, high = row["change_low"], row["change_high"]
    if better is None:
        return (low > 0 or high < 0) and abs(row["second"]) > abs(row["first"])
    return high < 0 if better == "higher" else low > 0
