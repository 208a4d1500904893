"""Any text in plain Latin letters: accents, ligatures, other alphabets, typographic marks."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from importlib import resources

_TABLES = tomllib.loads(resources.files(__package__).joinpath("folding.toml").read_text(encoding="utf-8"))
_LETTERS = str.maketrans(dict(pair.rpartition("=")[::2] for pair in _TABLES["letters"].split()))
_LATIN = dict(pair.rpartition("=")[::2] for pair in _TABLES["alphabets"].split())
_TRANSLITERATION = str.maketrans(_LATIN | {letter.upper(): latin.capitalize() for letter, latin in _LATIN.items()})
_LATIN_LETTERS = _LETTERS | _TRANSLITERATION
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_EXPONENT = re.compile("(?<=[0-9])[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_UNIT_POWER = re.compile("(?<=[a-z])[²³]")
_SYMBOL = re.compile(r"(?<=\d)(\s?)(?:([kKMGm]?)[ΩΩ]|[µμ](?=[A-Za-z])|º(?=\s?[CF]\b))")
_FOOTNOTE = re.compile("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_MOJIBAKE = re.compile("[ÂÃâ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")


def fold(text: str) -> str:
    """Write a text in plain Latin letters, keeping case.

    Accents go ('Bäumer' and 'Baumer' are one spelling), ligatures and Nordic letters are written out, Cyrillic and
    Greek are transliterated, typographic quotes and dashes become plain, UTF-8 that was read as Windows-1252
    ('DÃ¡in') is repaired. An exponent is written with ``^``; a superscript after a word is a footnote and goes.
    """
    if text.isascii():
        return text
    if _MOJIBAKE.search(text):
        text = _reread(text)
    text = _SYMBOL.sub(_spelled_symbol, text)
    text = _EXPONENT.sub(lambda power: "^" + power[0].translate(_SUPERSCRIPTS), _VULGAR.sub(" ", text))
    text = _FOOTNOTE.sub(" ", _UNIT_POWER.sub(lambda power: power[0].translate(_SUPERSCRIPTS), text))
    plain = unicodedata.normalize("NFKD", text.translate(_LATIN_LETTERS))
    return "".join(c for c in plain if not unicodedata.combining(c)).translate(_LATIN_LETTERS)


def _spelled_symbol(symbol: re.Match[str]) -> str:
    """Write the symbols of units that are Greek letters after a number in Latin ones: '5 kohm', '5 microm'."""
    if symbol[0][-1] == "º":
        return f"{symbol[1]}°"
    return f"{symbol[1]}micro" if symbol[0][-1] in "µμ" else f"{symbol[1]}{symbol[2]}ohm"


def _reread(text: str) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return text
