"""A run against limits and against another run, for continuous integration: checks, JUnit XML, a badge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from xml.etree import ElementTree as ET

from semece.compare.standings import changes_of, common_questions
from semece.errors import SemeceError, if_percent, meant, visible
from semece.runs import directions, given_scores, label, limited_names, number_text, summary_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semece.compare.standings import Arms
    from semece.runs import Run

LIMITS = {
    "max": ("high", "at most", ""),
    "min": ("low", "at least", ""),
    "max_value": ("", "at most", " (the value alone, so chance may decide)"),
    "min_value": ("", "at least", " (the value alone, so chance may decide)"),
}
"""What a limit holds: an end of the 95 % interval or the value, and how that is said."""


class Limit(NamedTuple):
    """A limit, as it was typed.

    Parameters
    ----------
    kind : {'max', 'min', 'max_value', 'min_value'}
        What it holds; see :data:`LIMITS`.
    text : str
        ``name=value``.
    """

    kind: Literal["max", "min", "max_value", "min_value"]
    text: str


class Check(NamedTuple):
    """One check.

    Parameters
    ----------
    name : str
        One of :func:`semece.runs.metrics.limited_names`; of a comparison, its quantity; of a limit that is none, what
        was typed.
    passed : bool or None
        Whether it holds; None: it could not be made.
    sentence : str
        What was wanted and what is, or why it could not be made.
    audit : str or None
        The sheets by which the judge's errors are corrected in it.
    wrong : bool
        Whether it could not be made because what was asked for is wrong; else the questions are too few for it.
    number : str
        What came out, with its interval; empty where nothing did.
    """

    name: str
    passed: bool | None
    sentence: str
    audit: str | None = None
    wrong: bool = False
    number: str = ""

    @property
    def outcome(self) -> str:
        """In one word for people."""
        return {True: "passed", False: "FAILED", None: "not checked"}[self.passed]


def check_run(run: Run, limits: Sequence[Limit] = (), *, baseline: Run | None = None) -> list[Check]:
    """Check a run.

    Parameters
    ----------
    run : Run
        What is checked.
    limits : sequence of Limit
        Of ``max`` and ``min`` the end of a number's 95 % interval decides: a run whose true number is beyond the limit
        passes in at most 3 of 100 cases. Of ``max_value`` and ``min_value`` the number itself decides: no error
        rate is promised, and at the limit it is half.
    baseline : Run, optional
        A run on the same questions: accuracy must not be surely lower, no ECE surely higher, and no gap between mean
        confidence and accuracy surely farther from 0. A run that has not changed fails at most once in 20 times.
        Numbers whose change has no interval for fewer than 30 questions are not checked there.

    Returns
    -------
    list of Check
        One for each limit, even if another cannot be checked, and for each number that is compared.

    Raises
    ------
    SemeceError
        There is nothing to check.
    """
    if not (limits or baseline):
        raise SemeceError(
            "there is nothing to check: give --max NAME=VALUE, --min NAME=VALUE, --max-value, --min-value or "
            "--baseline RUN"
        )
    row = summary_table([run]).row(0, named=True) if limits else {}
    names = limited_names(given_scores(run.given)) if limits else ()
    found = [_limited(row, names, limit) for limit in limits]
    return [*found, *(_compared(run, baseline) if baseline else ())]


def _limited(row: dict[str, Any], names: Sequence[str], limit: Limit) -> Check:
    """Make one check of a limit; what is wrong with it is its sentence."""
    try:
        return _within(row, *_read(limit.text, names), limit)
    except SemeceError as error:
        return Check(limit.text, None, str(error), wrong=True)


def _read(text: str, names: Sequence[str]) -> tuple[str, float]:
    """Read ``name=value``."""
    name, _, number = text.partition("=")
    if name not in names:
        known = meant(name, names) or f"; the names are {', '.join(names)}"
        raise SemeceError(f"a limit is NAME=VALUE; got {text!r}{known}")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 1:
        raise SemeceError(f"the limit of {name} must be a number in [0, 1]; got {number!r}{if_percent(value)}")
    return name, value


def _within(row: dict[str, Any], name: str, value: float, limit: Limit) -> Check:
    """Compare a number, or one end of its interval, with a limit."""
    number, low, high = (row[f"{name}{suffix}"] for suffix in ("", "_low", "_high"))
    end, wanted, remark = LIMITS[limit.kind]
    if number is None:
        raise SemeceError(f"the run has no {label(name)}: no complete question has one")
    if end and (low is None or high is None):
        option = f"--{limit.kind}-value"
        raise SemeceError(
            f"{label(name)} has no interval that a limit could hold: there are too few questions; {option} holds the "
            "value alone"
        )
    decisive = {"high": high, "low": low, "": number}[end]
    digits = next(n for n in range(3, 18) if n == 17 or round(decisive, n) == decisive or round(decisive - value, n))
    interval = "" if low is None or high is None else f" [{number_text(low, digits)}, {number_text(high, digits)}]"
    audit = row["audit"] if name in (row["corrected"] or ()) else None
    by = f" (corrected by {audit})" if audit else ""
    shown = f"{number_text(number, digits)}{interval}"
    text = f"{label(name)} {shown}{by}, wanted {wanted} {value:g}{remark}"
    passed = decisive <= value if wanted == "at most" else decisive >= value
    return Check(name, bool(passed), text, audit, number=shown)


ALARMS = 0.05
"""How often all comparisons with a baseline together may fail a run that has not changed."""


def _compared(run: Run, baseline: Run) -> list[Check]:
    """Compare with a baseline; what is wrong with the pair is a check of its own."""
    try:
        found = list(_regressions(run, baseline))
    except SemeceError as error:
        return [Check("baseline", None, str(error), wrong=True)]
    if all(each.passed is None for each in found):
        return [found[0]._replace(wrong=True)]
    return found


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
            yield Check(name, None, f"{label(name)} cannot be compared with {baseline.path}: {row['reason']}")
            continue
        change, least, most = (number_text(each, 3, signed=True) for each in (row["change"], low, high))
        shown = f"{change} [{least}, {most}]"
        ends = " to ".join(number_text(row[side], 3) for side in ("first", "second"))
        rule = "; worse is farther from 0" if judged[name] is None else ""
        text = f"{label(name)} changed by {shown}{by}, from {ends}{rule}"
        yield Check(name, not _worse(judged[name], row), text, audit, number=shown)


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


def junit(name: str, checks: Sequence[Check]) -> bytes:
    """Write checks as JUnit XML, which the pages of GitHub, GitLab and Jenkins show: a test case for each.

    Parameters
    ----------
    name : str
        What was checked.
    checks : sequence of Check
        What came out.

    Returns
    -------
    bytes
        UTF-8. A check that fails is a ``failure``, a wrong one an ``error``, and one for which there are too few
        questions is ``skipped``.

    Examples
    --------
    >>> text = junit("starter", [Check("accuracy", False, "Accuracy 0.5, wanted at least 0.7")]).decode()
    >>> text.splitlines()[1]
    '<testsuites name="semece" tests="1" failures="1" errors="0" skipped="0">'
    """
    counts = {"tests": len(checks), "failures": sum(each.passed is False for each in checks)}
    counts["errors"] = sum(each.wrong for each in checks)
    counts["skipped"] = sum(each.passed is None and not each.wrong for each in checks)
    shown = {key: str(count) for key, count in counts.items()}
    root = ET.Element("testsuites", {"name": "semece", **shown})
    suite = ET.SubElement(root, "testsuite", {"name": visible(name), **shown})
    for place, each in enumerate(checks, 1):
        of = {"classname": f"semece.{visible(name)}", "name": f"{place}. {visible(each.name)}"}
        case = ET.SubElement(suite, "testcase", of)
        said = visible(each.sentence)
        if each.passed:
            ET.SubElement(case, "system-out").text = said
        else:
            kind = "error" if each.wrong else "skipped" if each.passed is None else "failure"
            ET.SubElement(case, kind, {"message": said}).text = None if kind == "skipped" else said
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


_WIDE = 6.6
"""Width of a character of a badge in 11 px sans-serif, on average and rather more."""
_COLORS = {True: "#2c7a3f", False: "#b3261e", None: "#5f6368"}
"""On white letters all have a contrast above 5."""


def badge(checks: Sequence[Check]) -> bytes:
    """Draw a badge of what came out: of one check its number, of several how many passed.

    Parameters
    ----------
    checks : sequence of Check
        At least one.

    Returns
    -------
    bytes
        An SVG of 20 px height, which needs no font or file from elsewhere: green if all passed, red if one failed, else
        grey.

    Examples
    --------
    >>> one = Check("sem1_ece", True, "", number="0.05 [0.03, 0.09]")
    >>> b"<title>Sem1-ECE: 0.05 [0.03, 0.09]</title>" in badge([one])
    True
    """
    failed = any(each.passed is False for each in checks)
    passed = False if failed else True if all(each.passed for each in checks) else None
    what, said = "semece check", f"{sum(each.passed is True for each in checks)} of {len(checks)} passed"
    if len(checks) == 1 and checks[0].number:
        what, said = visible(label(checks[0].name)), visible(checks[0].number)
    left, right = (round(_WIDE * len(text) + 12) for text in (what, said))
    size = {"width": str(left + right), "height": "20"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **size, "role": "img"})
    root.set("aria-label", f"{what}: {said}")
    ET.SubElement(root, "title").text = f"{what}: {said}"
    for text, start, wide, color in ((what, 0, left, "#3c4043"), (said, left, right, _COLORS[passed])):
        ET.SubElement(root, "rect", {"x": str(start), "width": str(wide), "height": "20", "fill": color})
        font = {"font-family": "Verdana,DejaVu Sans,sans-serif", "font-size": "11", "fill": "#fff"}
        place = {"x": f"{start + wide / 2:g}", "y": "14", "text-anchor": "middle", "textLength": str(wide - 12)}
        ET.SubElement(root, "text", {**place, **font}).text = text
    return f"{ET.tostring(root, encoding='unicode')}\n".encode()
