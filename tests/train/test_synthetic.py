"""Made pairs: what becomes false is told from what stays true."""

from __future__ import annotations

import random

import pytest

from faithguard.train._synthetic import Made, beside, names_in, true_twin, untrue

FOREIGN = "The old bridge over the Marrow was closed by Brenna Holm."


def made(change: object, premise: str, claim: str, seeds: int = 300) -> list[Made]:
    """Return all different pairs that a change makes."""
    found = [change(premise, claim, FOREIGN, random.Random(seed)) for seed in range(seeds)]  # type: ignore[operator]
    return list({(one.premise, one.claim): one for one in found if one is not None}.values())


def claims(change: object, premise: str, claim: str) -> set[str]:
    """Return the claims that a change makes of one, without what says who says it."""
    pairs = made(change, premise, claim)
    return {one.claim for one in pairs}


@pytest.mark.parametrize(
    ("premise", "claim", "one_of"),
    [
        # a value of the same kind that stands beside it
        ("It opens at 9:00 and closes at 18:00.", "It opens at 9:00.", {"It opens at 18:00."}),
        # a unit
        ("It lasts 30 minutes.", "It lasts 30 minutes.", {"It lasts 30 hours."}),
        ("It costs $40.", "It costs $40.", {"It costs €40.", "It costs £40."}),
        # a date
        (
            "It began on 3 May 1999.",
            "It began on 3 May 1999.",
            {"It began on 3 June 1999.", "It began on 3 July 1999."},
        ),
        # a name of the context, a foreign one, and roles
        (
            "In 1990 Ada Lunn sued Per Holt in the court.",
            "That year Ada Lunn sued Per Holt in court.",
            {"That year Per Holt sued Ada Lunn in court."},
        ),
        # a negation, put in and taken out
        ("The fee is refundable.", "The fee is refundable.", {"The fee is not refundable."}),
        ("The fee is not due.", "The fee is not due.", {"The fee is due."}),
        # an opposite and a quantifier
        ("Prices rose before noon.", "Prices rose before noon.", {"Prices rose after noon."}),
        ("Some rooms have a view.", "Some rooms have a view.", {"All rooms have a view."}),
        # a word, and an end, that have nothing to do with it
        (
            "Guests may borrow a rowing boat from the warden.",
            "Guests may borrow a rowing boat.",
            {"Guests may borrow a rowing bridge."},
        ),
        (
            "Guests may borrow a rowing boat from the warden.",
            "Guests may borrow a rowing boat.",
            {"Guests may was closed by Brenna Holm.", "Guests may borrow by Brenna Holm."},
        ),
        # what nobody said
        (
            "It rains here.",
            "It rains here.",
            {"It rains here, while the old bridge over the Marrow was closed by Brenna Holm."},
        ),
    ],
)
def test_each_kind_of_fault_is_made(premise: str, claim: str, one_of: set[str]) -> None:
    """Numbers, units, dates, roles, negations, opposites, quantifiers, additions."""
    found = claims(untrue, premise, claim)

    assert found & one_of


@pytest.mark.parametrize(
    ("claim", "twin"),
    [
        ("It holds 1,200 people.", "It holds 1200 people."),
        ("It holds twelve people.", "It holds 12 people."),
        ("It holds 12 people.", "It holds twelve people."),
        ("It grew by 5%.", "It grew by 5 percent."),
        ("It began on 3 May 1999.", "It began on May 3, 1999."),
        ("It began on May 3, 1999.", "It began on 3 May 1999."),
        ("It lasts 3 weeks.", "It lasts 21 days."),
        ("It is not due.", "It isn't due."),
        ("It rains (as always) in the valley.", "It rains in the valley."),
        ("It rains.", "It rains"),
    ],
)
def test_each_kind_of_twin_is_made(claim: str, twin: str) -> None:
    """The same number, date or negation, written another way."""
    assert twin in claims(true_twin, claim, claim)


def test_a_premise_changes_too() -> None:
    """So that a claim alone does not tell whether it was changed."""
    text = "The Tarn ferry carries 60 people to Ada Lunn's island."
    pairs = made(untrue, text, "The Tarn ferry carries 60 people.")

    assert any(one.premise != text and "60" not in one.premise for one in pairs)


def test_a_strange_word_is_no_fault_where_both_have_it() -> None:
    """Else an odd word alone would tell that a claim is false."""
    premise, claim = "The mill lends a boat to guests.", "A boat is lent to guests."

    found = {(one.premise, one.claim): one.target for one in made(true_twin, premise, claim)}

    twin = ("The mill lends a bridge to guests.", "A bridge is lent to guests.")
    assert found[twin] == "e"
    assert {one.target for one in made(untrue, premise, claim)} <= {"n", "nc", "c"}


def test_a_value_of_something_else_stands_beside_a_claim() -> None:
    """It leaves the claim true, and makes it false where the claim takes it over."""
    text, foreign = "The ferry costs 6 euros.", "A map of the island costs 11 euros."
    pairs = [beside(text, text, foreign, random.Random(seed)) for seed in range(40)]

    assert {(one.claim, one.target) for one in pairs if one} == {
        ("The ferry costs 6 euros.", "e"),
        ("The ferry costs 11 euros.", "c"),
    }
    assert {one.premise for one in pairs if one} == {f"{text} {foreign}", f"{foreign} {text}"}
    assert beside(text, text, "A map is 6 euros.", random.Random(1)) is None
    assert beside(text, text, "It lasts 11 hours.", random.Random(1)) is None


def test_targets_are_right() -> None:
    """Twins stay entailed; nothing untrue is."""
    text = "On 3 May 1999 Ada Lunn sold 1,200 of the 5,000 shares to Per Holt, and most rose."

    assert {one.target for one in made(true_twin, text, text)} == {"e"}
    assert "e" not in {one.target for one in made(untrue, text, text)}
    assert all((one.premise, one.claim) != (text, text) for one in made(untrue, text, text))


def test_a_number_is_never_replaced_by_itself() -> None:
    """Nor by another writing of it."""
    for value in ("3", "10", "1999", "1,200", "2.5"):
        text = f"There were {value} of them."
        for one in made(untrue, text, text):
            assert one.claim != text or one.premise != text


def test_chance_is_given() -> None:
    """The same seed makes the same pair."""
    text = "On 3 May 1999 Ada Lunn sold 1,200 shares to Per Holt."

    assert untrue(text, text, FOREIGN, random.Random(4)) == untrue(
        text, text, FOREIGN, random.Random(4)
    )


def test_names_are_found_inside_sentences() -> None:
    """Not words that only begin one, nor months and days."""
    text = "There Ada Lunn met Per. Boats left on Monday in May for the Tarn Islands."

    assert names_in(text) == ["Ada Lunn", "Per", "Tarn Islands"]
