"""How the rules take values: numbers, bounds, shares, units, durations, currencies, dates, times of day."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semece.judges.alarms import alarms
from semece.judges.answer_keys import normalise
from semece.judges.rules.asked_values import asked_by
from semece.judges.rules.grouping import group
from semece.judges.rules.rules_judge import RulesJudge
from semece.judges.rules.seen import read
from semece.judges.rules.values.quantities import read_quantity
from semece.judges.rules.values.same_value import same_date, same_quantity
from semece.judges.rules.values.units import UNITS, read_units
from semece.judges.rules.words import words_of
from semece.records import Question

JUDGE = RulesJudge()

MANY = "How many are there?"
PLANETS = "How many planets are there?"
CHILDREN = "How many children does he have?"
LONG = "How long does it take?"
BIG = "How big is it?"
COST = "How much did it cost?"
SHARE = "What percentage of it is water?"
WHEN = "When did it happen?"
START = "What time does it start?"
WHICH = "Which one is it?"


def verdict(question, reference, answer):
    return JUDGE.grade(Question("1", question, (reference,)), answer)


def same(question, one, other):
    """Whether two strings share a class, whichever comes first and whatever stands beside them."""
    if normalise(one) == normalise(other):
        return True
    found = {group(question, [one, other])[1] == 0, group(question, [other, one])[1] == 0}
    assert len(found) == 1
    return found.pop()


CORRECT = {
    "none is zero where a number is asked for": [
        (CHILDREN, "0", "none", "None.", "zero", "No children", "He has no children.", "He has none"),
        (CHILDREN, "0", "He does not have any children.", "He has no children, but 2 dogs"),
        (SHARE, "0%", "none"),
    ],
    "letters after digits scale": [
        ("How many people live there?", "1.4 billion", "1.4B", "1.4 bn", "1400 million", "about 1.4 billion people"),
        (COST, "$15 million", "$15m", "15M USD", "$15M", "US$15 million", "fifteen million U.S. dollars"),
    ],
    "a more precise value answers where it rounds to the reference": [
        ("What share is nitrogen?", "78%", "78.08%", "78.1 per cent", "78", "0.78", "nearly 78%"),
        ("How long is a marathon?", "26 miles", "26.2 miles"),
    ],
    "shares": [("What fraction is it?", "1/2", "one in two", "half", "0.5", "50%", "one half", "one out of two")],
    "degrees are of the scale of the reference": [
        ("At what temperature does water boil?", "100 °C", "100 degrees", "373.15 K", "373 K", "212 °F", "100 ºC"),
    ],
    "an article is one": [
        (LONG, "1 hour", "an hour", "about an hour", "60 minutes", "1 h"),
        ("How long is a decade?", "10 years", "a decade", "120 months"),
        ("How long is a fortnight?", "14 days", "two weeks", "336 hours"),
    ],
    "ranks": [
        (
            "Which symphony is it?",
            "Symphony No. 9",
            "Symphony Number 9",
            "Beethoven's Ninth",
            "Symphony no 9",
            "the Ninth",
        ),
    ],
    "years in sentences": [
        ("When did WWII end?", "1945", "It began in 1939 and ended in 1945.", "'45", "nineteen forty-five"),
        ("When did it sink?", "1912", "The Titanic was built in 1909. It sank in 1912.", "It sank in 1912."),
    ],
    "decades in words": [
        ("In which decade?", "1960s", "the sixties", "nineteen-sixties", "the '60s", "the nineteen sixties")
    ],
    "the century or the month that is asked for": [
        ("In what century was it?", "16th century", "16th", "sixteenth", "XVI century", "the 1500s", "1550"),
        ("In which month?", "December", "the 12th month", "December 25"),
    ],
    "times of day": [(START, "3 pm", "15:00", "3:00 PM", "3 p.m.", "3", "three o'clock", "at 3 in the afternoon")],
    "a number not far beyond a bound, or a bound that goes further": [
        ("How many books are there?", "more than 80", "89", "more than 85", "80"),
    ],
    "a bound where the most or the least is asked for": [
        ("What is the minimum age?", "18", "at least 18", "18 or older"),
        ("How many votes are required?", "5", "at least five", "5"),
    ],
    "the unit that is asked for is supplied": [
        ("How old was he when he died?", "27", "27 years", "aged 27", "at the age of 27"),
        ("How many miles is it?", "5", "8 km", "5 miles"),
    ],
}

INCORRECT = {
    "a bound is no number": [
        (PLANETS, "8", "more than 8", "at least 8", "fewer than 8", ">8", "8+", "8 or more", "no more than 8"),
        ("When did WWII end?", "1945", "after 1945", "before 1945", "prior to 1945"),
        ("When did it sink?", "1912", "before 1912", "after 1912"),
        ("How many books are there?", "more than 80", "914", "56", "less than 85"),
    ],
    "a share, a rank or a measure is no count": [(PLANETS, "8", "8%", "8 out of 9", "8th", "8 km")],
    "a count is no share": [("What share is nitrogen?", "78%", "78 parts")],
    "halves of the day": [(START, "3 pm", "3 am", "03:00", "4 pm", "15:30")],
    "the unit that is asked for": [("How old was he when he died?", "27", "27 months", "27 days")],
    "another dollar is another currency": [
        (COST, "$15 million", "15 million Canadian dollars", "A$15 million", "€15 million", "$15", "£15 million"),
    ],
    "several years are no answer": [("When did it sink?", "1912", "1912, 1913, 1914", "1912 or 1913", "1911, 1912")],
    "a less precise value": [("How long is a marathon?", "26.2 miles", "26 miles", "26.2 km")],
    "temperatures are not near because zero is far": [("How cold is it?", "0 °C", "35 °F", "2 °C", "5 K")],
}

ONE = {
    "none is zero": (MANY, ["none", "nil", "0", "zero"]),
    "letters scale millions": (MANY, ["1.5M", "1.5m", "1,500,000", "1.5 million", "1.500.000"]),
    "letters scale thousands": (MANY, ["10k", "10K", "10,000", "ten thousand"]),
    "signs": (MANY, ["minus five", "negative five", "-5"]),
    "a million and a half": (MANY, ["a million and a half", "1.5 million", "one and a half million"]),
    "below": (MANY, ["fewer than 10", "under 10", "<10"]),
    "half of a scale": (MANY, ["half a dozen", "6", "six"]),
    "decimals in words": (MANY, ["one point five", "1.5", "one and a half"]),
    "thirds": (MANY, ["a third", "1/3", "one third", "one in three"]),
    "one in five": (MANY, ["one in five", "20%", "1 in 5", "1/5", "one out of five"]),
    "powers of ten as far as they are written": (MANY, ["6.02 × 10²³", "6.022 x 10^23", "6.02e23"]),
    "bounds": (MANY, ["at least 5", "5 or more", "5+", "≥5", "no fewer than 5"]),
    "numbering": (WHICH, ["No. 5", "number 5", "#5", "fifth"]),
    "ranges with a unit each": (SHARE, ["70-75%", "70% to 75%", "between 70% and 75%"]),
    "percentages are rounded": (SHARE, ["71%", "70.8%", "71 percent"]),
    "an hour": (LONG, ["an hour", "60 minutes", "1 hour"]),
    "an hour and a half": (LONG, ["an hour and a half", "90 minutes", "1.5 hours", "1h30", "1 h 30 m"]),
    "half an hour": (LONG, ["half an hour", "30 minutes", "half hour"]),
    "three quarters of an hour": (LONG, ["three quarters of an hour", "45 minutes"]),
    "a week": (LONG, ["a week", "7 days"]),
    "a month": (LONG, ["a month", "30 days"]),
    "a year": (LONG, ["a year", "12 months"]),
    "a decade": (LONG, ["a decade", "10 years"]),
    "a century": (LONG, ["a century", "100 years"]),
    "a fortnight": (LONG, ["a fortnight", "2 weeks"]),
    "half a year": (LONG, ["six months", "half a year"]),
    "degrees": (BIG, ["100 degrees", "100 °C"]),
    "kelvins": (BIG, ["273 K", "0 °C", "32 °F"]),
    "degrees below zero": (BIG, ["minus 40 degrees", "-40°", "-40 C", "-40 F"]),
    "miles an hour": (BIG, ["60 mph", "60 miles an hour", "60 miles per hour"]),
    "newtons": (BIG, ["50 N", "50 newtons", "50 kg m/s²"]),
    "ohms": (BIG, ["5 ohms", "5 Ω", "5 \u2126"]),
    "decibels": (BIG, ["25 dB", "25 decibels"]),
    "moles": (BIG, ["5 mol", "5 moles"]),
    "feet and inches": (BIG, ["5 ft 10", "5'10\"", "five foot ten", "5 feet 10 inches"]),
    "a day and a half": (LONG, ["a day and a half", "36 hours"]),
    "fuel": (BIG, ["30 mpg", "30 miles per gallon"]),
    "pressures": (BIG, ["1 atm", "1013 hPa", "1013 mbar"]),
    "spoons": (BIG, ["30 ml", "2 tablespoons", "2 tbsp"]),
    "micrometres": (BIG, ["5 μm", "5 µm", "5 micrometres", "0.005 mm"]),
    "densities": (BIG, ["1 g/cm³", "1,000 kg/m^3", "1000 kilograms per cubic metre"]),
    "energies": (BIG, ["1 cal", "4.184 J", "1 calorie"]),
    "acceleration": (BIG, ["9.8 m/s²", "9.8 metres per second squared", "980 cm/s^2"]),
    "no year where none is asked for": ("How long is it?", ["1000", "1,000 metres", "one thousand"]),
    "euros": (COST, ["€5", "EUR 5", "5 euros"]),
    "dollars": (COST, ["USD 5", "$5", "US$5", "5 U.S. dollars", "five bucks"]),
    "millions of dollars": (COST, ["$1.5M", "1.5 million dollars", "$1.5m", "$1,500,000"]),
    "fifteen million dollars": (COST, ["$15m", "$15 million", "15m USD"]),
    "ranges of prices": (COST, ["$5 to $10", "$5-$10", "5-10 dollars"]),
    "rupees": (COST, ["Rs. 500", "500 rupees", "₹500"]),
    "Canadian dollars": (COST, ["C$5", "CAD 5", "5 Canadian dollars"]),
    "pounds and pence": (COST, ["£2.50", "two pounds fifty"]),
    "trillions": (COST, ["$1.2tn", "$1.2 trillion", "1.2 trillion dollars"]),
    "coins": (COST, ["a dime", "10 cents", "$0.10", "10¢"]),
    "decades in words": (WHEN, ["the sixties", "1960s", "the nineteen sixties", "the '60s"]),
    "centuries": (WHEN, ["20th century", "1900s", "the twentieth century"]),
    "decades of other centuries": (WHEN, ["the eighteen-nineties", "the 1890s"]),
    "parts of a decade": (WHEN, ["mid-sixties", "the mid-1960s"]),
    "parts of a century": (WHEN, ["mid 16th century", "the mid-1500s"]),
    "years in words": (WHEN, ["nineteen oh five", "1905"]),
    "months in numbers": (WHEN, ["March 2020", "03/2020", "2020-03"]),
    "short years": (WHEN, ["July 20th '69", "20 July 1969"]),
    "times of day": (START, ["3 pm", "15:00", "3:00 PM", "3 p.m."]),
    "noon": (START, ["noon", "12 pm", "12:00 PM", "12 noon"]),
    "midnight": (START, ["midnight", "12 am", "0:00"]),
    "Roman numerals after a noun of numbering": (WHICH, ["Type 2 diabetes", "type II diabetes"]),
    "symphonies": (WHICH, ["Symphony No. 5", "Fifth Symphony"]),
    "series": (WHICH, ["iPhone X", "iPhone 10"]),
}

TWO = {
    "halves of the day": (START, "3 am", "3 pm"),
    "a time and a time span": (LONG, "1:30", "90 minutes"),
    "before a year": (WHEN, "before 1500", "1500"),
    "after a year": (WHEN, "after 1500", "1500"),
    "before and after": (WHEN, "after 1500", "before 1500"),
    "more than": (MANY, "more than 100", "100"),
    "less than": (MANY, "less than 10", "10"),
    "at least": (MANY, "at least 5", "5"),
    "at least and at most": (MANY, "at least 5", "at most 5"),
    "a rank and a count": (MANY, "12", "12th"),
    "Canadian and US dollars": (COST, "5 Canadian dollars", "5 US dollars"),
    "Australian and other dollars": (COST, "A$5", "$5"),
    "Australian dollars in words": (COST, "5 dollars", "5 Australian dollars"),
    "calories and kilocalories": (BIG, "100 calories", "100 kcal"),
    "metres and micrometres": (BIG, "5 m", "5 μm"),
    "a share and a half per cent": (SHARE, "1.4%", "1%"),
    "all and nearly all": (SHARE, "99.9%", "100%"),
    "a bound and the other bound": (MANY, "more than 5", "fewer than 5"),
    "verses": (WHICH, "John 3:16", "John 3:17"),
    "directions are no units": (BIG, "5 km N of Rome", "5 N"),
    "sums are not rounded": ("How old was she?", "12 years 251 days", "13 years"),
    "percentage points": (SHARE, "10 percentage points", "10%"),
    "ages are no decades": (WHEN, "in his sixties", "1960s"),
    "a range of years and a month": (WHEN, "2001-03", "March 2001"),
    "lists of years": (WHEN, "1912, 1913, 1914", "1912"),
}


def claims(cases):
    """One case per question and answer, named by its rule."""
    return [
        pytest.param(question, reference, answer, id=f"{rule}: {answer}")
        for rule, rows in cases.items()
        for question, reference, *answers in rows
        for answer in answers
    ]


@pytest.mark.parametrize(("question", "reference", "answer"), claims(CORRECT))
def test_a_value_that_is_the_reference_is_correct(question, reference, answer):
    assert verdict(question, reference, answer) == "correct"


@pytest.mark.parametrize(("question", "reference", "answer"), claims(INCORRECT))
def test_a_value_that_is_another_is_incorrect(question, reference, answer):
    assert verdict(question, reference, answer) == "incorrect"


@pytest.mark.parametrize(("question", "answers"), ONE.values(), ids=ONE)
def test_values_that_are_the_same_share_a_class(question, answers):
    for pair in permutations(answers, 2):
        assert same(question, *pair), pair
    assert set(group(question, answers)) == {0}


@pytest.mark.parametrize(("question", "one", "other"), TWO.values(), ids=TWO)
def test_values_that_differ_are_two_classes(question, one, other):
    assert not same(question, one, other)


def test_numbers_in_digits_and_words_raise_no_alarm():
    question = Question("1", "How many metres are there in a kilometre?", ("1000", "1,000 metres", "one thousand"))
    answers = ["1000", "one thousand", "1,000 m"]
    assert JUDGE.partition(question, answers) == [0, 0, 0]
    assert alarms(question, ["1000"], ["correct"]) == ()
    assert alarms(question, ["one thousand (1000)"], ["correct"]) == ()


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A Day in the Life", 0),
        ("an apple a day", 0),
        ("twice a day", 1),
        ("an hour glass", 0),
        ("it took an hour", 1),
        ("in 1945 C. S. Lewis", 0),
        ("the 1980s", 0),
        ("More Than a Woman", 0),
        ("a second chance", 1),
        ("High Noon", 0),
        ("Midnight Cowboy", 0),
    ],
)
def test_words_that_only_look_like_values_are_none(text, count):
    assert len(read(text).quantities) == count


@pytest.mark.parametrize("spelling", ["3 bags", "4 points", "12 players", "2 hands", "7 chains"])
def test_things_are_no_units(spelling):
    assert read(spelling).quantities[0].unit is None


QUANTITIES = ["5", "8%", "about 5", "5 km", "3.1 miles", "more than 5", "at least 5", "5 pounds", "£5", "5 lb", "1.5m"]
QUANTITIES += ["1.5 million", "273K", "0 °C", "3:30", "3:30 pm", "a third", "33.3%", "12th", "XII", "12 players", "<5"]


@settings(deadline=None)
@given(st.sampled_from(QUANTITIES), st.sampled_from(QUANTITIES))
def test_the_relation_between_quantities_is_symmetric_and_holds_with_itself(one, other):
    first, second = (next(iter(read(text).quantities)) for text in (one, other))
    assert same_quantity(first, second) == same_quantity(second, first)
    assert same_quantity(first, first)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from([*QUANTITIES, "none", "5,000", "1905", "the sixties"]), min_size=2, max_size=6, unique=True
    )
)
def test_classes_of_values_do_not_depend_on_the_order(texts):
    def classes(order):
        labels = group("How many are there?", order)
        return {frozenset(text for text, label in zip(order, labels, strict=True) if label == k) for k in labels}

    assert classes(texts) == classes(texts[::-1]) == classes(sorted(texts))


def test_a_bound_is_all_that_lies_beyond_it():
    assert read_quantity(words_of("more than 8"), 0)[0].ends == (8.0, float("inf"))
    assert read_quantity(words_of("under $10"), 0)[0].ends == (-float("inf"), 10.0)
    assert read("after 1945").dates[0].low == read("1946").dates[0].low


def test_centuries_are_the_hundreds():
    (century,), (hundreds,) = read("the 19th century").dates, read("the 1800s").dates
    assert same_date(century, hundreds)
    assert not same_date(read("the 2000s").dates[0], read("21st century").dates[0])


@pytest.mark.parametrize(
    ("question", "dimension", "thing"),
    [
        ("How many square miles is it?", "length^2", ""),
        ("How many planets are there?", "", "planet"),
        ("How many gold medals did she win?", "", "medal"),
        ("How tall is it in feet?", "length", ""),
        ("Who is it?", "", ""),
        ("How old is she?", "time", ""),
    ],
)
def test_a_question_says_what_it_wants(question, dimension, thing):
    asked = asked_by(question)
    assert (asked.units[0].dimension if asked.units else "") == dimension
    assert asked.thing == thing


PINT = {"[substance]": "amount"}
"""Base quantities that are called otherwise in pint."""

OTHERWISE = {"kilos", "barrel", "barrels", "bbls", "kmph", "amps", "gauss", "kilogauss", "kbps", "Mbps", "Gbps", "mbps"}
OTHERWISE |= {"unit", "units", "drop", "drops", "equivalent", "equivalents"}
"""What pint takes for another unit: kiloseconds, barrels of wine, kilomiles, ..., or for another system of units."""


def test_units_agree_with_a_library_of_units():
    """pint, where it knows a name; a word may have several meanings here."""
    pint = pytest.importorskip("pint")
    registry = pint.UnitRegistry()
    compared = 0
    for spelling, unit in UNITS.items():
        short = len(spelling.removeprefix("micro")) < 4
        if unit.offset or unit.dimension.isupper() or not spelling.isalpha() or spelling in OTHERWISE or short:
            continue
        try:
            theirs = (1 * registry.parse_units(spelling)).to_base_units()
        except (pint.UndefinedUnitError, pint.OffsetUnitCalculusError):
            continue
        if theirs.dimensionless:
            continue
        compared += 1
        powers = {PINT.get(name, name.strip("[]")): int(power) for name, power in theirs.dimensionality.items()}
        named = [name if power == 1 else f"{name}^{power}" for name, power in sorted(powers.items())]
        meanings = [one for one in read_units(words_of(spelling), 0)[0] if one.dimension == " ".join(named)]
        assert any(theirs.magnitude == pytest.approx(one.factor, rel=1e-5) for one in meanings), spelling
    assert compared > 300
