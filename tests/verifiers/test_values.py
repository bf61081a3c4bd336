"""Numbers, times, days and dates: one value, however it is written."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard.verifiers._values import Value, find_values

from ..growth import LINEAR, growth


def only(text: str) -> Value:
    """Return the one value of a text."""
    (value,) = find_values(text)
    return value


def agree(claim: str, context: str) -> bool:
    """Say whether a context that says one thing may say the other."""
    return only(claim).agrees(only(context))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7 am", "7:00"),
        ("7 a.m.", "07:00"),
        ("seven in the morning", "7:00"),
        ("7 pm", "19:00"),
        ("7:30 p.m.", "19:30"),
        ("nine in the evening", "21:00"),
        ("seven o'clock", "19:00"),
        ("noon", "12:00"),
        ("midnight", "0:00"),
        ("midnight", "24:00"),
        ("12 am", "0:00"),
        ("12 pm", "12:00"),
        ("19 Uhr", "19:00"),
        ("weekdays", "Monday to Friday"),
        ("weekdays", "Mon-Fri"),
        ("weekends", "Saturday to Sunday"),
        ("every day", "Monday through Sunday"),
        ("daily", "7 days a week"),
        ("2 years", "24 months"),
        ("two years", "24 months"),
        ("90 minutes", "1.5 hours"),
        ("half an hour", "30 minutes"),
        ("14 days", "two weeks"),
        ("1.7 litres", "1700 ml"),
        ("0.25 g", "250 mg"),
        ("250 mcg", "0.25 mg"),
        ("3 tonnes", "3,000 kg"),
        ("5%", "five per cent"),
        ("5 percent", "5 %"),
        ("€5", "5 EUR"),
        ("5 euros", "EUR 5"),
        ("$1.5 million", "1,500,000 dollars"),
        ("£3k", "3000 pounds"),
        ("a dozen", "12"),
        ("twenty-four", "24"),
        ("one hundred and five", "105"),
        ("two thousand three hundred", "2300"),
        ("1 234", "1234"),
        ("1,234", "1234"),
        ("1.234", "1234"),
        ("1.234,5", "1,234.5"),
        ("1'234", "1234"),
        ("½", "0.5"),
        ("2½", "2.5"),
        ("٣٤", "34"),
        ("５", "5"),
        ("3 May 2024", "2024-05-03"),
        ("May 3rd, 2024", "3 May 2024"),
        ("3 May", "May 3, 2024"),
        ("Sept. 9", "9 September"),
    ],
)
def test_two_writings_of_one_value_agree(one: str, other: str) -> None:
    """Either may be in the answer and the other in the context."""
    assert agree(one, other)
    assert agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7 am", "19:00"),
        ("7:30", "7:45"),
        ("noon", "midnight"),
        ("Saturday", "weekdays"),
        ("every day", "weekdays"),
        ("Monday to Saturday", "Monday to Friday"),
        ("5 mg", "5 g"),
        ("5 mg", "5 mcg"),
        ("5 EUR", "5 USD"),
        ("5%", "5 percentage points"),
        ("3 hours", "3 days"),
        ("5 business days", "5 days"),
        ("1,234", "1,235"),
        ("3 May 2024", "4 May 2024"),
        ("3 May 2024", "3 May 2023"),
        ("-5", "5"),
        ("1 million", "1 billion"),
        ("0.5", "5"),
    ],
)
def test_two_values_disagree(one: str, other: str) -> None:
    """Near is not equal."""
    assert not agree(one, other)


@pytest.mark.parametrize(
    ("claim", "context", "agrees"),
    [
        ("Tuesday", "weekdays", True),
        ("weekdays", "Tuesday", False),
        ("Monday to Wednesday", "Monday to Friday", True),
        ("Sunday", "Friday to Monday", True),
        ("Wednesday", "Friday to Monday", False),
        ("weekends", "every day", True),
    ],
)
def test_days_within_days_agree(claim: str, context: str, agrees: bool) -> None:
    """What holds on all weekdays holds on Tuesday, and not the other way round."""
    assert agree(claim, context) == agrees


@pytest.mark.parametrize(
    ("one", "other", "agrees"),
    [
        ("about 100 km", "103 km", True),
        ("about 100 km", "130 km", False),
        ("nearly 50%", "49 %", True),
        ("100 km", "103 km", False),
    ],
)
def test_about_grants_a_twentieth(one: str, other: str, agrees: bool) -> None:
    """A rounded value may stand for the exact one, if it says so."""
    assert agree(one, other) == agrees


@pytest.mark.parametrize(
    "text",
    [
        "",
        "No values here.",
        "vitamin B12",
        "COVID19",
        "version 3.11.2",
        "IPv4",
        "He may sit in the sun.",
        "one of them",
        "in a second",
        "under_3_scores",
    ],
)
def test_what_is_no_value_is_left_alone(text: str) -> None:
    """Names with digits and words that only look like values."""
    assert find_values(text) == ()


def test_values_know_where_they_stand() -> None:
    """In order, without overlaps, and each is the text at its span."""
    text = (
        "From Monday to Friday, 9:00 to 17:30, it costs $1,200.50 or 3 kg of salt until 3 May 2024."
    )
    values = find_values(text)

    assert [value.text for value in values] == [
        "Monday to Friday",
        "9:00",
        "17:30",
        "$1,200.50",
        "3 kg",
        "3 May 2024",
    ]
    assert all(text[value.start : value.end] == value.text for value in values)
    assert [value.family for value in values] == [
        "days",
        "clock",
        "clock",
        "number",
        "number",
        "date",
    ]


def test_only_values_of_one_kind_can_disagree() -> None:
    """A price is not in the place of a time."""
    assert only("5 mg").comparable(only("5 ml"))
    assert only("5 EUR").comparable(only("5 USD"))
    assert not only("5 EUR").comparable(only("5 kg"))
    assert not only("9:00").comparable(only("9 kg"))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_gives_sorted_values_without_overlap(text: str) -> None:
    """Whatever comes in, spans are true, ascending and apart."""
    values = find_values(text)

    assert all(text[value.start : value.end] == value.text for value in values)
    assert all(a.end <= b.start for a, b in pairwise(values))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**12))
def test_an_integer_agrees_with_its_grouped_writings(number: int) -> None:
    """With commas, points, spaces, apostrophes or nothing between the thousands."""
    grouped = f"{number:,}"
    for mark in (",", ".", "\u00a0", "'", ""):
        assert agree(f"{number} kg", grouped.replace(",", mark) + " kg")


@pytest.mark.parametrize("text", ["1.000.000 EUR", "12.500.000 EUR", "1,000,000 EUR"])
def test_millions_with_points_are_no_version(text: str) -> None:
    """Groups of three digits are an amount, as German and Spanish write it."""
    assert only(text).unit == "EUR"
    assert not agree(text, "2.000.000 EUR")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Register by 27 January. 4700 people came.", ["27 January", "4700 people"]),
        ("It was due in January. 5 people came.", ["5 people"]),
        ("It is due on 27 Jan. 1999 at last.", ["27 Jan. 1999"]),
    ],
)
def test_a_date_ends_with_its_sentence(text: str, values: list[str]) -> None:
    """Only behind a short name does a stop not end it."""
    assert [value.text for value in find_values(text)] == values


def test_twelve_may_is_not_always_a_date() -> None:
    """The verb after a count is no month."""
    assert [value.family for value in find_values("Up to 12 may attend.")] == ["number"]
    assert [value.family for value in find_values("It opens on 12 May.")] == ["date"]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 23), st.integers(0, 59))
def test_every_minute_agrees_with_its_twelve_hour_writing(hour: int, minute: int) -> None:
    """And with no other minute of the day."""
    half = "am" if hour < 12 else "pm"
    twelve = f"{(hour + 11) % 12 + 1}:{minute:02} {half}"

    assert agree(twelve, f"{hour}:{minute:02}")
    assert not agree(twelve, f"{(hour + 12) % 24}:{minute:02}")


@settings(max_examples=100, deadline=None)
@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_every_date_agrees_with_its_writings(day: date) -> None:
    """ISO, day first, month first."""
    writings = [
        day.isoformat(),
        f"{day.day} {day:%B} {day.year:04}",
        f"{day:%B} {day.day}, {day.year:04}",
    ]

    assert all(agree(a, b) for a in writings for b in writings)


def test_numbers_are_exact() -> None:
    """No binary fraction blurs 0.1."""
    assert only("0.1").readings == {Fraction(1, 10)}


def test_reading_values_takes_time_by_length() -> None:
    """Four times the text, about four times the time, not sixteen."""

    def read(count: int) -> None:
        text = " and ".join(f"{number} kg" for number in range(count))
        assert len(find_values(text)) == count

    assert growth(read, 3_200) < LINEAR
