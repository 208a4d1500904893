"""Mathematical texts as models write them: the formula, its unit, a letter of a choice, or words."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from semece.prompts import bare, last_box, said

LONGEST = 1000
"""Characters; a longer text is no formula."""


class Formula(NamedTuple):
    r"""A mathematical text.

    Parameters
    ----------
    text : str
        The formula, in LaTeX.
    unit : str
        In its short spelling; ``''`` if it has none.
    choice : str
        The letter, if it names an option: 'C' of ``\text{(C)}``.
    """

    text: str
    unit: str = ""
    choice: str = ""


_TEXT = re.compile(r"\\(?:text|mbox|textrm|textbf|textit|mathrm|mathbf|mathit|operatorname)\s*\{([^{}]*)\}")
_CHOICE = re.compile(r"\(?\s*([A-H])\s*\)?(?:[.):]\s.*)?", re.DOTALL)
_MATH = re.compile(r"[\d\\^_=+*/<>|{}\[\]√π∞±×÷½¼¾²³]|-\s*[a-z]|\b[a-z]\b")
_FUNCTION = (
    r"(?:sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|log|ln|lg|exp|max|min|gcd|lcm|mod|pi|sqrt|det|deg)"
)
_SPAN = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_SPACES = re.compile(r"\\[ ,;:!]|\\q?quad\b|~|\\left\b|\\right\b|\\[bB]ig+[lr]?\b|\\displaystyle\b|\\limits\b")
_PLAIN_UNIT = re.compile(
    rf"(?P<value>.*(?:[\d)}}]|\\pi|(?<![A-Za-z])i(?![A-Za-z])))\s*(?P<unit>(?!{_FUNCTION}\b)(?:(?:square|cubic|sq\.?)\s+)?"
    r"[A-Za-z]{2,}\.?(?:[ -][A-Za-z]{2,})*"
    r"(?:\s*(?:\^\{?[23]\}?|[²³]))?|[mgLhs](?:\s*(?:\^\{?[23]\}?|[²³]))?)",
    re.DOTALL,
)
_UNITS: dict[str, str] = {
    name: short
    for short, names in {
        "deg": "degree degrees deg ° \\circ circ",
        "in": "inch inches in",
        "ft": "foot feet ft",
        "cm": "centimeter centimeters centimetre centimetres cm",
        "mm": "millimeter millimeters millimetre millimetres mm",
        "m": "meter meters metre metres m",
        "km": "kilometer kilometers kilometre kilometres km",
        "mi": "mile miles mi",
        "yd": "yard yards yd",
        "h": "hour hours hr hrs h",
        "min": "minute minutes min mins",
        "s": "second seconds sec secs s",
        "$": "dollar dollars usd",
        "cent": "cent cents ¢",
        "mph": "mph",
        "": "unit units",
    }.items()
    for name in names.split()
} | {"units": "", "unit": ""}
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("−–‐‑‒—", "-"),
        "×": r"\times ",
        "·": r"\cdot ",
        "⋅": r"\cdot ",
        "÷": "/",
        "∞": r"\infty ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "≠": r"\ne ",
        "±": r"\pm ",
        "∪": r"\cup ",
        "∩": r"\cap ",
        "∈": r"\in ",
        "π": r"\pi ",
        "θ": r"\theta ",
        "°": r"^\circ ",
        "∅": r"\emptyset ",
        "ℝ": r"\mathbb{R}",
    }
)
_RAISED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_LOWERED = re.compile("[₀₁₂₃₄₅₆₇₈₉]+")
_ROOT = re.compile(r"√\s*(?:\(([^()]*)\)|(\d+|[a-z]))|\bsqrt\s*(?:\(([^()]*)\)|\{([^{}]*)\})")
_VULGAR = re.compile("(?P<whole>\\d)?\\s?(?P<sign>[¼-¾⅐-⅞])")
_THOUSANDS = re.compile(r"(?<![\w.,(\[{])(\d{1,3}(?:,(?:\\!)?\s?\d{3})+)(?![\d,)\]}])")
_CURRENCY = re.compile(r"^\s*-?\s*(?:\\?\$|€|£|USD|US\\?\$)\s*(?=[\d.\\-])")
_SCIENTIFIC = re.compile(r"(?<=\d)[eE]([-+]?\d{1,3})(?![\w.])")
_BASE = re.compile(r"(?P<value>[0-9A-F]+)\s*_\s*\{?(?P<base>\d{1,2})\}?")
_SHORT_FRACTION = re.compile(r"\\[dt]?frac\s*(\d)\s*(\d)(?!\d)")
_HALF_FRACTION = re.compile(r"\\([dt]?frac)\s*(?:(\d)\s*(\{)|(\{[^{}]*\})\s*(\d))")


def is_words(text: str) -> bool:
    r"""Whether a text is words and no mathematics.

    Examples
    --------
    >>> is_words(r"\text{even}"), is_words("Evelyn"), is_words("x"), is_words(r"\pi"), is_words("72 clips")
    (True, True, False, False, False)
    """
    plain = _TEXT.sub(r"\1", text).strip(" .$()")
    letters = re.sub(rf"\b{_FUNCTION}\b", "", plain)
    return not _MATH.search(plain) and re.search(r"[^\W\d_]{2}", letters) is not None


def plain_words(text: str) -> str:
    r"""Give a text without the LaTeX around its words.

    Examples
    --------
    >>> plain_words(r"\text{Evelyn}"), plain_words(r"$\text{east}$.")
    ('Evelyn', 'east')
    """
    return bare(_TEXT.sub(r"\1", bare(text)))


def formula(text: str) -> Formula | None:
    r"""Find the formula of a text; None if the text is too long to be one, or a sentence with several.

    Examples
    --------
    >>> formula(r"The answer is $\dfrac12$."), formula("90 degrees")
    (Formula(text='\\frac{1}{2}', unit='', choice=''), Formula(text='90', unit='deg', choice=''))
    >>> formula(r"\text{(C)}")
    Formula(text='C', unit='', choice='C')
    >>> formula("We add 5 and then 6, so we get more than before") is None
    True
    """
    inner = _inner(text)
    if inner is None:
        return None
    choice = _CHOICE.fullmatch(_TEXT.sub(r"\1", inner).strip(" $"))
    if choice:
        return Formula(choice[1], "", choice[1])
    value, unit = _split_unit(_rewritten(_result(inner)))
    return Formula(value, unit)


def _result(text: str) -> str:
    """Take the last side of a calculation: what is equal to a number, without a variable, is that number."""
    sides = text.split("=")
    return sides[-1] if len(sides) > 1 and sides[-1].strip() and not re.search(r"[^\W\d_]|[<>!\\]", text) else text


def _inner(text: str) -> str | None:
    """Take a formula out of what stands around it: 'the answer is', a box, dollar signs, a sentence with one formula.

    A sentence with several has none.
    """
    if len(text) > LONGEST:
        return None
    inner = bare(said(text) or text)
    if box := last_box(inner):
        start, end, inside = box
        around = inner[:start] + inner[end:]
        inner = bare(inside if _is_prose(around) or "=" in around else inner[:start] + inside + inner[end:])
    if not _is_prose(_TEXT.sub(" ", inner)):
        return inner.replace("$$", "").strip() if inner.count("$") > 1 else inner
    spans = [next(part for part in found if part) for found in _SPAN.findall(inner)]
    return spans[0].strip() if len(spans) == 1 else None


def _is_prose(text: str) -> bool:
    """Whether words stand in a text that are more than a unit."""
    words = re.findall(r"(?<![\\A-Za-z])[A-Za-z]{2,}", _SPAN.sub(" ", text))
    return len([word for word in words if not re.fullmatch(_FUNCTION, word)]) > 3


def _rewritten(text: str) -> str:
    """Write signs as LaTeX and fractions in full; drop what only spaces."""
    plain = _RAISED.sub(lambda run: "^{" + unicodedata.normalize("NFKC", run[0]).replace("−", "-") + "}", text)
    plain = _LOWERED.sub(lambda run: "_{" + unicodedata.normalize("NFKC", run[0]) + "}", plain)
    plain = _SCIENTIFIC.sub(r"\\times 10^{\1}", _VULGAR.sub(_fraction, plain))
    plain = _ROOT.sub(lambda found: r"\sqrt{" + next(part for part in found.groups() if part is not None) + "}", plain)
    plain = _THOUSANDS.sub(lambda found: re.sub(r"[^\d]", "", found[1]), plain)
    plain = _SPACES.sub(" ", _CURRENCY.sub(_without_currency, plain.translate(_SIGNS)))
    plain = re.sub(r"\\[dt]frac", r"\\frac", _SHORT_FRACTION.sub(r"\\frac{\1}{\2}", plain))
    plain = _HALF_FRACTION.sub(_full_fraction, plain).replace("\\%", "%")
    return re.sub(r"\s+", " ", plain).strip().removesuffix(".").replace("%", r"\%")


def _fraction(found: re.Match[str]) -> str:
    """Write '2½' as a sum that needs no reading."""
    above, below = unicodedata.normalize("NFKC", found["sign"]).split("⁄")
    return f"{found['whole'] or ''}\\frac{{{above}}}{{{below}}}"


def _full_fraction(found: re.Match[str]) -> str:
    command = "\\" + found[1]
    return f"{command}{{{found[2]}}}{{" if found[2] else f"{command}{found[4]}{{{found[5]}}}"


def _without_currency(found: re.Match[str]) -> str:
    return "-" if "-" in found[0] else ""


def _split_unit(text: str) -> tuple[str, str]:
    """Split a formula into its value and its unit; the base of a numeral is one."""
    if found := _BASE.fullmatch(text):
        return found["value"], f"base {found['base']}"
    if found := re.fullmatch(r"(?P<value>.*?)\s*\^\s*\{?\s*\\circ\s*\}?\s*", text, re.DOTALL):
        return found["value"], "deg"
    if found := re.fullmatch(
        rf"(?P<value>.*?\S)\s*(?P<unit>{_TEXT.pattern}\s*(?:\^\s*\{{?[23]\}}?)?)\s*", text, re.DOTALL
    ):
        return found["value"], _short(_TEXT.sub(r"\1", found["unit"]))
    unlabelled = _TEXT.sub(r"\1", text)
    if found := _PLAIN_UNIT.fullmatch(unlabelled):
        return found["value"].strip(), _short(found["unit"])
    return text, ""


def _short(unit: str) -> str:
    """Spell a unit in its short form."""
    words = (
        unit.lower().replace(".", "").replace("²", "^2").replace("³", "^3").replace("{", "").replace("}", "").strip()
    )
    power = ""
    if found := re.match(r"(square|sq|cubic)\s+(.+)", words):
        power, words = "^3" if found[1] == "cubic" else "^2", found[2]
    if found := re.fullmatch(r"(.+?)\s*(\^[23])", words):
        words, power = found[1], found[2]
    short = _UNITS.get(words, words.removesuffix("s"))
    return short + power if short else ""
