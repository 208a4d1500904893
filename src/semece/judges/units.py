"""Quantities: numbers with a unit, converted to the base unit of what they measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semece.judges.words import Word


class Unit(NamedTuple):
    """A unit of measurement: ``value * factor + offset`` is the value in the base unit of its ``dimension``."""

    dimension: str
    factor: float
    offset: float = 0.0


_INCH = 0.0254
_FOOT = 0.3048
_MILE = 1609.344
_POUND = 0.45359237
_GALLON = 0.003785411784
_YEAR = 31557600.0

_TABLE: dict[str, dict[float, str]] = {
    "length": {
        1.0: "metre meter metres meters m", 1e3: "kilometre kilometer kilometres kilometers km kms",
        1e-2: "centimetre centimeter centimetres centimeters cm",
        1e-3: "millimetre millimeter millimetres millimeters mm",
        1e-6: "micrometre micrometer micrometres micrometers micron microns", 1e-9: "nanometre nanometer nanometers nm",
        _INCH: "inch inches", _FOOT: "foot feet ft", 3 * _FOOT: "yard yards yd", _MILE: "mile miles mi",
        1852.0: "nautical_mile nautical_miles", 9.4607304725808e15: "light_year light_years ly",
        149597870700.0: "astronomical_unit astronomical_units au", 3.0856775814913673e16: "parsec parsecs",
        6 * _FOOT: "fathom fathoms",
    },
    "mass": {
        1.0: "kilogram kilograms kilogramme kilogrammes kg kgs kilo kilos", 1e-3: "gram grams gramme grammes g",
        1e-6: "milligram milligrams mg", 1e-9: "microgram micrograms mcg",
        1e3: "tonne tonnes metric_ton metric_tons", _POUND: "pound pounds lb lbs", _POUND / 16: "ounce ounces oz",
        14 * _POUND: "stone stones", 2000 * _POUND: "ton tons",
    },
    "time": {
        1.0: "second seconds sec secs", 60.0: "minute minutes min mins", 3600.0: "hour hours hr hrs",
        86400.0: "day days", 7 * 86400.0: "week weeks", _YEAR / 12: "month months", _YEAR: "year years yr yrs",
        10 * _YEAR: "decade decades", 100 * _YEAR: "century centuries", 1000 * _YEAR: "millennium millennia",
        1e-3: "millisecond milliseconds ms", 14 * 86400.0: "fortnight fortnights",
    },
    "area": {
        1.0: "square_metre square_meter square_metres square_meters m2 sqm",
        1e6: "square_kilometre square_kilometer square_kilometres square_kilometers km2",
        _MILE**2: "square_mile square_miles mi2", 4046.8564224: "acre acres", 1e4: "hectare hectares ha",
        _FOOT**2: "square_foot square_feet ft2 sqft",
    },
    "volume": {
        1e-3: "litre liter litres liters l", 1e-6: "millilitre milliliter millilitres milliliters ml cc",
        _GALLON: "gallon gallons gal", _GALLON / 4: "quart quarts", _GALLON / 8: "pint pints",
        1.0: "cubic_metre cubic_meter cubic_metres cubic_meters m3", _GALLON / 16: "cup cups",
    },
    "speed": {
        1.0: "metre_per_second meters_per_second metres_per_second meter_per_second mps m_s",
        1 / 3.6: "kilometres_per_hour kilometers_per_hour kilometer_per_hour kmh kph kmph km_h km_per_hour",
        _MILE / 3600: "miles_per_hour mile_per_hour mph", 1852 / 3600: "knot knots",
        1e3: "kilometres_per_second kilometers_per_second km_s km_per_second",
        _MILE: "miles_per_second mile_per_second", _FOOT: "feet_per_second",
    },
    "energy": {
        1.0: "joule joules j", 1e3: "kilojoule kilojoules kj", 4184.0: "kilocalorie kilocalories kcal",
        3.6e6: "kilowatt_hour kilowatt_hours kwh",
    },
    "power": {1.0: "watt watts w", 1e3: "kilowatt kilowatts kw", 1e6: "megawatt megawatts mw",
              745.6998715822702: "horsepower hp"},
    "frequency": {1.0: "hertz hz", 1e3: "kilohertz khz", 1e6: "megahertz mhz", 1e9: "gigahertz ghz"},
    "electric tension": {1.0: "volt volts", 1e3: "kilovolt kilovolts kv"},
    "electric current": {1.0: "ampere amperes amp amps", 1e-3: "milliampere milliamps"},
    "pressure": {
        1.0: "pascal pascals pa", 1e3: "kilopascal kilopascals kpa", 1e5: "bar bars",
        101325.0: "atmosphere atmospheres atm", 6894.757293168362: "psi", 133.32236842105263: "mmhg mm_hg",
    },
    "data": {
        1.0: "byte bytes", 1e3: "kilobyte kilobytes kb", 1e6: "megabyte megabytes mb", 1e9: "gigabyte gigabytes gb",
        1e12: "terabyte terabytes tb", 0.125: "bit bits",
    },
    "angle": {1.0: "degree degrees °", 57.29577951308232: "radian radians"},
    "percentage": {1.0: "percent % per_cent percentage"},
    "dollar": {1.0: "dollar dollars $ usd us_dollar us_dollars american_dollars", 0.01: "cent cents"},
    "euro": {1.0: "euro euros € eur"},
    "sterling": {1.0: "£ gbp pound_sterling pounds_sterling british_pounds", 0.01: "pence"},
    "yen": {1.0: "yen ¥ jpy"},
    "rupee": {1.0: "rupee rupees ₹ rs inr"},
}  # fmt: skip
_TEMPERATURES = {
    "kelvin kelvins degree_kelvin degrees_kelvin °_k": Unit("temperature", 1.0),
    "celsius centigrade c °_c degree_celsius degrees_celsius degree_centigrade degrees_centigrade degrees_c °_celsius":
        Unit("temperature", 1.0, 273.15),
    "fahrenheit f °_f degree_fahrenheit degrees_fahrenheit degrees_f °_fahrenheit":
        Unit("temperature", 5 / 9, 459.67 * 5 / 9),
}  # fmt: skip
UNITS: dict[str, Unit] = {
    spelling: Unit(dimension, factor)
    for dimension, rows in _TABLE.items()
    for factor, spellings in rows.items()
    for spelling in spellings.split()
} | {spelling: unit for spellings, unit in _TEMPERATURES.items() for spelling in spellings.split()}
"""Spellings of units in lower case, the words of a spelling joined by ``_``."""

CURRENCIES = frozenset({"$", "€", "£", "¥", "₹"})


def read_unit(words: Sequence[Word], start: int) -> tuple[Unit, int] | None:
    """Read the unit that begins at a word and the number of words it takes; the longest spelling wins.

    Examples
    --------
    >>> from semece.judges.words import words_of
    >>> read_unit(words_of("miles per hour"), 0)
    (Unit(dimension='speed', factor=0.44704, offset=0.0), 3)
    """
    for size in (3, 2, 1):
        spelling = "_".join(word.text for word in words[start : start + size])
        if len(words) >= start + size and spelling in UNITS:
            return UNITS[spelling], size
    return None
