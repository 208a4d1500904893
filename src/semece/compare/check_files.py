"""Checks as files for others: JUnit XML for the pages of a build server, and a badge."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from semece.errors import visible
from semece.runs import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.compare.limits import Check


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
    >>> from semece.compare.limits import Check
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
    >>> from semece.compare.limits import Check
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
