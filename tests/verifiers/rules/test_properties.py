"""Whatever the value: another writing never changes a verdict, another value always does."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faithguard.types import Claim, Passage, Verdict
from faithguard.verifiers import Context
from faithguard.verifiers.rules import RULES

PROFILE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)
LANGUAGE_OF_MONTH = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre "
    "dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro "
    "dezembro",
}


def ruled(claim: str, context: str) -> Verdict | None:
    """Return the first veto of the rules."""
    scene = Context([Passage(text=context)])
    found = (rule().verdict(Claim(id="c", text=claim, span=(0, 0)), scene) for rule in RULES)
    return next((verdict for verdict in found if verdict is not None), None)


def writings(number: int) -> list[str]:
    """Return an integer as different people write it."""
    grouped = f"{number:,}"
    arabic = str(number).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    return [
        str(number),
        grouped,
        grouped.replace(",", "."),
        grouped.replace(",", "\u00a0"),
        grouped.replace(",", "'"),
        arabic,
    ]


UNITS = [
    (("kg", "kilograms"), ("g", "grams"), 1000),
    (("km", "kilometres"), ("m", "metres"), 1000),
    (("litres", "l"), ("ml", "millilitres"), 1000),
    (("hours", "h"), ("minutes", "min"), 60),
    (("years", "years"), ("months", "months"), 12),
    (("MW", "megawatts"), ("kW", "kilowatts"), 1000),
]


@PROFILE
@given(st.integers(2, 10**7), st.data())
def test_another_writing_of_an_amount_changes_nothing(number: int, data: st.DataObject) -> None:
    """Separators, digits of another script, names of units."""
    one, two = (data.draw(st.sampled_from(writings(number))) for _ in range(2))
    unit, other = data.draw(st.sampled_from([("kg", "kilograms"), ("€", "euros"), ("km", "km")]))

    assert (
        ruled(f"The tower needs {one} {unit} of it.", f"The tower needs {two} {other} of it.")
        is None
    )


@PROFILE
@given(st.integers(2, 5_000), st.sampled_from(UNITS), st.data())
def test_a_converted_amount_changes_nothing(
    number: int, units: tuple[tuple[str, str], tuple[str, str], int], data: st.DataObject
) -> None:
    """And with another number it is vetoed."""
    large, small, factor = units
    said = f"The test takes {number} {data.draw(st.sampled_from(large))}."
    context = f"The test takes {number * factor} {data.draw(st.sampled_from(small))}."
    wrong = f"The test takes {number + data.draw(st.integers(1, 9_999))} {large[0]}."

    assert ruled(said, context) is None
    assert ruled(wrong, context) is not None


@PROFILE
@given(st.integers(13, 10**7), st.integers(1, 10**7))
def test_another_amount_is_vetoed(number: int, more: int) -> None:
    """By however little."""
    context = f"The tower needs {number:,} kg of steel."

    assert ruled(f"The tower needs {number + more:,} kg of steel.", context) is not None
    assert ruled(f"The tower needs {number} g of steel.", context) is not None


@PROFILE
@given(st.integers(10**4, 10**8), st.sampled_from(["about", "roughly", "nearly"]))
def test_about_grants_a_twentieth(number: int, about: str) -> None:
    """Within it there is no veto, and far outside there is one."""
    context = f"The town has {number:,} residents."
    near, far = round(Fraction(number) * 103 / 100), number * 2

    assert ruled(f"The town has {about} {near:,} residents.", context) is None
    assert ruled(f"The town has {about} {far:,} residents.", context) is not None


DAYS = st.dates(date(1950, 1, 1), date(2049, 12, 31))


@PROFILE
@given(DAYS, st.data())
def test_another_writing_of_a_date_changes_nothing(day: date, data: st.DataObject) -> None:
    """Six languages' months, ISO, Chinese; in figures it may be read either way."""
    one, two = (data.draw(st.sampled_from(dated(day))) for _ in range(2))

    assert ruled(f"The gate was closed on {one}.", f"The gate was closed on {two}.") is None


@PROFILE
@given(DAYS, st.integers(1, 20_000), st.data())
def test_another_date_is_vetoed(day: date, days: int, data: st.DataObject) -> None:
    """Unless it is ambiguous."""
    other = day + timedelta(days)
    one = data.draw(st.sampled_from(dated(day)[:-1]))
    two = data.draw(st.sampled_from(dated(other)[:-1]))

    assert ruled(f"The gate was closed on {one}.", f"The gate was closed on {two}.") is not None


def dated(day: date) -> list[str]:
    """Return a date as it is written; the last one in figures that have two readings."""
    months = {name: words.split()[day.month - 1] for name, words in LANGUAGE_OF_MONTH.items()}
    return [
        day.isoformat(),
        f"{day.day} {months['en']} {day.year}",
        f"{months['en']} {day.day}, {day.year}",
        f"{day.day}. {months['de']} {day.year}",
        f"{day.day} {months['fr']} {day.year}",
        f"{day.day} de {months['es']} de {day.year}",
        f"{day.day} {months['it']} {day.year}",
        f"{day.day} de {months['pt']} de {day.year}",
        f"{day.day}.{day.month}.{day.year}",
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.day:02}/{day.month:02}/{day.year}",
    ]


@PROFILE
@given(st.integers(0, 1439), st.integers(1, 1439))
def test_times_of_the_day(minutes: int, later: int) -> None:
    """In twelve hours and in twenty-four they are one, and every other minute is another."""
    hour, minute = divmod(minutes, 60)
    twelve = f"{(hour + 11) % 12 + 1}:{minute:02} {'am' if hour < 12 else 'pm'}"
    other = (minutes + later) % 1440
    context = f"The kiosk closes at {hour}:{minute:02}."

    assert ruled(f"The kiosk closes at {twelve}.", context) is None
    assert ruled(f"The kiosk closes at {other // 60}:{other % 60:02}.", context) is not None


@PROFILE
@given(st.text(max_size=120), st.text(max_size=300))
def test_no_text_breaks_a_rule(claim: str, context: str) -> None:
    """Whatever stands in an answer or a passage."""
    ruled(claim, context)


@PROFILE
@given(st.sampled_from(["mg", "EUR", "%", "days", "a.m.", "[1]", "|", ";", "not", "and", "-", "1"]),
       st.lists(st.sampled_from(["Ann", "12", "mg", "on", "3 May", "|", ",", "not", ".", "no"]),
                max_size=40))  # fmt: skip
def test_no_scramble_breaks_a_rule(first: str, words: list[str]) -> None:
    """Values and marks in any order; and a text never contradicts itself."""
    text = " ".join([first, *words])
    ruled(text, text)
