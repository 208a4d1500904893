"""A run against limits and against another run, for continuous integration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from semece.compare.standings import compare_runs
from semece.errors import SemeceError
from semece.runs import directions, label, limited_names, summary_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """

    name: str
    passed: bool
    sentence: str


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
        A run on the same questions: accuracy must not be surely lower, no ECE surely higher.

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
    limits = [(_limit(text), "high") for text in most] + [(_limit(text), "low") for text in least]
    row = summary_table([run]).row(0, named=True) if limits else {}
    found = [_within(row, name, value, end) for (name, value), end in limits]
    return [*found, *(_regressions(run, baseline) if baseline else ())]


def _limit(text: str) -> tuple[str, float]:
    """Read ``name=value``."""
    name, _, number = text.partition("=")
    if name not in limited_names():
        raise SemeceError(f"a limit is NAME=VALUE with a name of {', '.join(limited_names())}; got {text!r}")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise SemeceError(f"the limit of {name} must be a number in [0, 1]; got {number!r}")
    return name, value


def _within(row: dict[str, float | None], name: str, value: float, end: str) -> Check:
    """Compare one end of an interval with a limit."""
    number, low, high = (row[f"{name}{suffix}"] for suffix in ("", "_low", "_high"))
    if number is None:
        raise SemeceError(f"the run has no {label(name)}: no complete question has one")
    if low is None or high is None:
        raise SemeceError(f"{label(name)} has no interval that a limit could hold: there are too few questions")
    passed = high <= value if end == "high" else low >= value
    wanted = "at most" if end == "high" else "at least"
    return Check(name, passed, f"{label(name)} {number:.3f} [{low:.3f}, {high:.3f}], wanted {wanted} {value:g}")


def _regressions(run: Run, baseline: Run) -> Iterator[Check]:
    """Give a check per quantity whose change has a direction."""
    better = directions()
    for row in compare_runs([baseline, run]).changes.to_dicts():
        name, low, high = row["quantity"], row["change_low"], row["change_high"]
        if name not in better:
            continue
        if low is None:
            raise SemeceError(f"{label(name)} cannot be compared with {baseline.path}: {row['reason']}")
        worse = high < 0 if better[name] == "higher" else low > 0
        text = f"{label(name)} changed by {row['change']:+.3f} [{low:+.3f}, {high:+.3f}]"
        doubt = f", but not surely: {row['note']}" if worse and row["note"] else ""
        yield Check(name, bool(doubt) or not worse, text + doubt)
