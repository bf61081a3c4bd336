"""Lead-ins and titles: which of them state something themselves, and what."""

from __future__ import annotations

import pytest

from faithguard import check
from faithguard.claims import LocalClaims


def facts(answer: str) -> list[str]:
    """Return the texts of the facts."""
    return [one.text for one in LocalClaims().extract(answer) if one.kind == "fact"]


@pytest.mark.parametrize(
    ("lead", "said"),
    [
        ("Nettle tea cures gout:", "Nettle tea cures gout."),
        ("**Nettle tea cures gout:**", "Nettle tea cures gout."),
        ("Nettle tea cures gout, and also:", "Nettle tea cures gout."),
        ("Nettle tea harms the liver for two reasons:", "Nettle tea harms the liver."),
        ("Nettle tea is dangerous for infants:", "Nettle tea is dangerous for infants."),
        ("Since nettle tea cures gout, note:", "Since nettle tea cures gout."),
        ("It cures gout:", "It cures gout."),
        ("Guests may swim in the lake, for example:", "Guests may swim in the lake."),
        ("When the tide is low, the cave is open:", "When the tide is low, the cave is open."),
    ],
)
def test_a_lead_in_that_states_something_is_a_claim(lead: str, said: str) -> None:
    """And gives its sense to what it leads to all the same."""
    answer = f"{lead}\n- drink it daily\n"
    own, item = facts(answer)
    assert own == said
    assert item == f"{lead.strip('*')} drink it daily"
    nested = f"- {lead}\n  - drink it daily\n"
    assert facts(nested) == [own, item]
    first, second = LocalClaims().extract(nested)
    assert nested[slice(*first.span)] == lead
    assert first.span[1] <= second.span[0]


@pytest.mark.parametrize(
    "lead",
    [
        "The steps are:",
        "Doses:",
        "The pass includes:",
        "There are three passes:",
        "Members get the following benefits:",
        "You need to bring:",
        "What you need:",
        "To open the gate, do this:",
        "If you are late, note the following:",
        "You can pay in several ways:",
        "The prices for adults are listed below:",
        "It depends on your pass:",
        "The gym has facilities:",
        "The main reasons are simple:",
        "The kit contains everything you need:",
        "This is how it works:",
        "The pass does not cover:",
    ],
)
def test_a_lead_in_that_only_announces_is_none(lead: str) -> None:
    """It is said with each of its items."""
    assert len(facts(f"{lead}\n- towel\n- locker\n")) == 2


def test_a_lead_in_to_code_may_state_something() -> None:
    """What comes after it is no statement, and does not take it along."""
    assert facts("The tool is free of charge here:\n```\nx = f(1)\n```") == [
        "The tool is free of charge."
    ]
    assert facts("Run this command:\n```\nx = f(1)\n```") == []


TITLES = [
    "Nettle tea kills infants",
    "Nettle tea lowers blood pressure",
    "Children tolerate nettle tea well",
    "Nettle tea gave patients relief",
    "Nettle tea leads to gout",
    "Nettle tea is dangerous",
    "Guests can swim in the lake",
    "Never drink nettle tea",
]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("form", ["# {}\n\n", "**{}**\n\n", "- {}\n  - ", "{}\n===\n"])
def test_a_title_that_is_a_sentence_is_a_claim(title: str, form: str) -> None:
    """Whatever its verb, and as a heading, a line in bold or the label of a list."""
    assert facts(f"{form.format(title)}The lake is deep.") == [title, "The lake is deep."]


@pytest.mark.parametrize(
    "title",
    [
        "Opening hours",
        "Garden walks in summer",
        "Student loans guide",
        "Customer returns policy",
        "Dose limits for adults",
        "Frequently asked questions",
        "How nettle tea kills infants",
        "Reasons why nettle tea helps",
        "Ways to receive money",
        "Museum tours start",
        "Blood test results",
        "Tickets sold at the door",
        "Building works",
    ],
)
def test_a_title_that_names_a_topic_is_none(title: str) -> None:
    """Also where a word in it may be a verb elsewhere."""
    for form in ("# {}\n\n", "**{}**\n\n"):
        assert facts(f"{form.format(title)}The lake is deep.") == ["The lake is deep."]


CONTEXT = (
    "Nettle tea is sold in the shop at the mill. Nettle tea must not be given to infants. "
    "The mill opens at 10:15. Parking at the mill is free of charge."
)


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ("Nettle tea is sold in the shop at the mill:\n- Parking is free of charge.", True),
        ("Nettle tea cures gout:\n- Parking at the mill is free of charge.", False),
        ("- Nettle tea cures gout:\n  - The mill opens at 10:15.", False),
        ("# Nettle tea kills infants\n\nThe mill opens at 10:15.", False),
        ("**Nettle tea poisons guests**\n\nThe mill opens at 10:15.", False),
        ("# The mill and its shop\n\nThe mill opens at 10:15.", True),
    ],
)
def test_lead_ins_and_titles_are_checked(answer: str, passes: bool) -> None:
    """A false one does not pass, and a true one does."""
    assert check(answer, [CONTEXT]).decide("medical").passed is passes
