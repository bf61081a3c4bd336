"""What stands around a value and makes it another one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from faithguard import check
from faithguard.verifiers._values import find_values

CONTEXT = (
    "The syrup is for cats. The dose of the syrup is 250 mg. The vat holds 4000 litres. "
    "Of the syrup 250 ml are sold daily. A bottle costs 17 euros."
)


@pytest.mark.parametrize(
    "written",
    [
        "250 mg/kg", "250 mg per kg", "250-mg-per-kg", "250 mg/ml", "250 mg/m²", "250 mg/kg/week",
        "250e3 mg", "250E3 mg", ".250 mg", "250k mg", "2 50 mg", "250-2500 mg", "250–2500 mg",
        "250 mg-900 mg", "250⁶ mg", "10⁶ mg", "250² mg", "250^2 mg", "250 × 10 mg", "250x10 mg",
        "3 × 250 mg", "250 mg × 3", "250+ mg", "250 mg+", "±250 mg", "≥250 mg", "> 250 mg",
        "<250 mg", "≤ 250 mg", "–250 mg", "250₀ mg", "250 mg %", "250M mg", "250,000 mg",
        "1/250 mg", "2500 mg", "2.50 mg", "250 mcg", "250½ mg",
    ],
)  # fmt: skip
def test_another_value_does_not_pass(written: str) -> None:
    """A sign beside a right value makes a wrong one."""
    report = check(f"The dose of the syrup is {written}.", [CONTEXT])
    assert not report.decide("medical").passed
    assert report.claims[0].label in ("contradicted", "not_mentioned")


@pytest.mark.parametrize(
    "written",
    [
        "250mg", "250 mg", "0.25 g", ".25 g", "250.0 mg", "250 milligrams", "2.5e2 mg", "250-mg",
        "2.5 × 10² mg", "2.5 x 10^2 mg", "250\u202fmg", "**250** mg", "250,000 mcg",
    ],
)  # fmt: skip
def test_the_same_value_passes(written: str) -> None:
    """However it is written."""
    assert check(f"The dose of the syrup is {written}.", [CONTEXT]).decide("medical").passed


@pytest.mark.parametrize(
    ("context", "faithful", "wrong"),
    [
        ("Give 15 mg per kilogram.", "Give 15 mg/kg.", "Give 15 mg/ml."),
        ("The daily limit is 900 mg.", "The limit is 900 mg/day.", "The limit is 900 mg/hour."),
        ("Wait at least 15 minutes.", "Wait ≥15 minutes.", "Wait ≤15 minutes."),
        ("Guests must be 16 years or older.", "Guests must be 16+ years.", "Guests: <16 years."),
        ("Use boards of 30 × 60 cm.", "Use boards of 30 × 60 cm.", "Use boards of 30 × 90 cm."),
        ("The length is 250 ± 5 mm.", "The length is 250 ± 5 mm.", "The length is 250 ± 9 mm."),
        ("It has 3 × 10⁶ cells.", "It has 3,000,000 cells.", "It has 3 × 10⁵ cells."),
    ],
)
def test_what_the_context_says_in_words_may_be_written_in_signs(
    context: str, faithful: str, wrong: str
) -> None:
    """And what it writes in signs is compared as such."""
    assert check(faithful, [context]).facts[0].label == "supported"
    assert check(wrong, [context]).facts[0].label != "supported"


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("2e3", Fraction(2000)),
        ("1.5E-2", Fraction(15, 1000)),
        ("10⁶", Fraction(10**6)),
        ("2^10", Fraction(1024)),
        ("4 × 10⁻²", Fraction(4, 100)),
        ("4 x 10^3", Fraction(4000)),
        (".75", Fraction(3, 4)),
    ],
)
def test_powers_and_points_are_read(written: str, number: Fraction) -> None:
    """As the one number that they write."""
    (value,) = find_values(f"It is {written}, so far.")
    assert (value.readings, value.text) == (frozenset({number}), written)


@pytest.mark.parametrize("text", ["It ends.5 people came.", "See 2e3a and b2e3.", "Take page 3e."])
def test_what_is_no_power_is_read_as_before(text: str) -> None:
    """A stop before a number and a letter behind it are part of neither."""
    assert all(Fraction(1, 2) not in value.readings for value in find_values(text))
    assert all(Fraction(2000) not in value.readings for value in find_values(text))
