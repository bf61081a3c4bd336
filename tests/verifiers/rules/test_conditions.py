"""What the context says on a condition is not said without it."""

from __future__ import annotations

import pytest

from faithguard import Claim, check


def first(answer: str, context: str, question: str | None = None) -> Claim:
    """Return the first claim of an answer, checked."""
    return check(answer, [context], question=question).facts[0]


@pytest.mark.parametrize(
    ("context", "dropped", "kept"),
    [
        (
            "Premium customers get free shipping.",
            "Customers get free shipping.",
            "Premium customers are shipped to for free.",
        ),
        ("Registered nurses may sign.", "Nurses may sign.", "A registered nurse may sign."),
        (
            "Children under 6 travel free.",
            "Children travel free.",
            "Under 6, children travel free.",
        ),
        (
            "Guests who book online get breakfast.",
            "All guests get breakfast.",
            "Guests get breakfast if they book online.",
        ),
        (
            "Refunds are paid within 10 days unless the card has expired.",
            "Refunds are paid within 10 days.",
            "Unless the card has expired, refunds are paid within 10 days.",
        ),
        (
            "If the parcel is insured, lost goods are replaced.",
            "Lost goods are replaced.",
            "Lost goods are replaced when the parcel is insured.",
        ),
        (
            "Dogs are welcome, except in the dining room.",
            "Dogs are welcome.",
            "Except in the dining room, dogs are welcome.",
        ),
        ("The pool is free for hotel guests only.", "The pool is free.", "Hotel guests swim free."),
        (
            "The key may be used only by members.",
            "The key may be used.",
            "Members may use the key.",
        ),
        (
            "Take the tablets only after meals.",
            "Take the tablets.",
            "Take the tablets after meals.",
        ),
        (
            "Photography is not permitted during the service.",
            "Photography is not permitted.",
            "During the service photography is not permitted.",
        ),
        (
            "A visa is required for stays of more than 90 days.",
            "A visa is required.",
            "A visa is required for a stay of over 90 days.",
        ),
    ],
)
def test_a_dropped_condition_is_told(context: str, dropped: str, kept: str) -> None:
    """In the words of the context; what keeps it is no concern of the rule."""
    claim = first(dropped, context)

    assert claim.label == "not_mentioned"
    assert claim.reason.startswith("the context ties it to a condition: ")
    assert "condition" not in first(kept, context).reason


@pytest.mark.parametrize(
    ("context", "claim"),
    [
        ("The tour is free for everyone.", "The tour is free."),
        ("Breakfast is included with every room.", "Breakfast is included."),
        ("Admission to the park is free.", "Admission to the park is free."),
        ("Young children are waving flags at the coach.", "Children are waving flags."),
        ("Pupils get a grant if they are poor. Pupils get a grant.", "Pupils get a grant."),
        ("Only members may use the archive.", "Members may use the archive."),
        ("The shop sells bread, but takes cards only if asked.", "The shop sells bread."),
        ("The lamp glows even if the door is shut.", "The lamp glows."),
        ("The warden checks if the gate is shut.", "The warden checks the gate."),
        ("Add salt if needed.", "Add salt."),
        ("A late fee of 5 euros is due if the book is lost.", "The late fee due is 5 euros."),
        ("Office hours are 9 to 17.", "Hours are 9 to 17."),
        (
            "Keys are lent for a day and kept longer unless others ask.",
            "Keys are lent for a day.",
        ),
        ("A group of girls rode to the mill.", "Girls rode to the mill."),
    ],
)
def test_what_is_no_condition(context: str, claim: str) -> None:
    """A place, everybody, an indirect question, another statement."""
    assert "condition" not in first(claim, context).reason


def test_a_condition_that_was_asked_about_need_not_be_said_again() -> None:
    """The answer is read with its question."""
    context, asked = "Parking is free for hotel guests.", "Do hotel guests pay for parking?"

    assert first("Parking is free.", context, asked).label == "supported"
    assert first("Yes.", context, "Is parking free?").label == "not_mentioned"
