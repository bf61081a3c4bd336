"""A label that says something of its items, a yes or no to a thing, and signs before either."""

from __future__ import annotations

import pytest

import faithguard
from faithguard.claims import LocalClaims
from faithguard.claims._labels import statement_of

CLUB = (
    "The loft is available to all tenants. Barbecues are permitted. Cats are not allowed in the "
    "cellar. The laundry is closed. The rent includes heating."
)
HALL = (
    "The hall opens at 9:00. Scooters are not allowed in the foyer. It is closed on Tuesdays. "
    "Students enter free of charge. The bar is on the second floor."
)
OPEN = "What do I need to know?"


def passes(answer: str, context: str = CLUB, question: str | None = OPEN) -> bool:
    """Check as `check` does by default."""
    report = faithguard.check(answer, [context], question=question)
    return report.decide("support").passed


@pytest.mark.parametrize(
    ("label", "item", "said"),
    [
        ("No longer available:", "Loft", "Loft is no longer available."),
        ("Not open:", "Loft and cellar", "Loft and cellar are not open."),
        ("Included:", "Heating", "Heating is included."),
        ("Out of order:", "Lifts", "Lifts are out of order."),
        ("Closed:", "Tuesdays", None),
        ("Not allowed:", "Cats", None),
        ("Opening hours:", "Loft", None),
    ],
)
def test_what_a_predicate_says_of_its_item(label: str, item: str, said: str | None) -> None:
    """Days are when, not what; of what denies its items others make statements."""
    assert statement_of(label, item) == said


@pytest.mark.parametrize(
    "label",
    [
        "Not available:",
        "**Not available:**",
        "No longer available:",
        "Not open:",
        "Not free:",
        "Closed:",
        "Not allowed:",
        "Forbidden:",
        "Prohibited:",
        "You cannot use:",
    ],
)
@pytest.mark.parametrize("item", ["Loft", "Barbecues"])
def test_nothing_true_passes_under_a_label_that_denies_it(label: str, item: str) -> None:
    """That something else is denied beside it is no evidence."""
    assert not passes(f"{label}\n- {item}")
    assert not passes(f"{label} {item}")


@pytest.mark.parametrize("label", ["Open:", "Available:", "Included:", "You can use:", "Allowed:"])
@pytest.mark.parametrize("item", ["Laundry", "Cats in the cellar"])
def test_nothing_closed_passes_under_a_label_that_grants_it(label: str, item: str) -> None:
    """What is closed can be used by nobody."""
    assert not passes(f"{label}\n- {item}")


@pytest.mark.parametrize(
    "answer",
    [
        "Available:\n- Loft",
        "Closed:\n- Laundry",
        "Not open:\n- Laundry",
        "Included:\n- Heating",
        "Allowed:\n- Barbecues",
        "Not allowed:\n- Cats in the cellar",
        "Forbidden: cats in the cellar",
        "You can use:\n- The loft",
        "Cats in the cellar: no",
        '{"cats_allowed_in_cellar": false}',
    ],
)
def test_right_items_pass(answer: str) -> None:
    """Each says what the context says."""
    assert passes(answer)


@pytest.mark.parametrize(
    "answer", ["Cats in the cellar: yes", '{"cats_allowed_in_cellar": true}', "Barbecues: no"]
)
def test_a_wrong_yes_or_no_to_a_thing_is_found(answer: str) -> None:
    """The context says the opposite of that thing."""
    assert not passes(answer)


def test_a_label_over_a_list_is_no_silence() -> None:
    """That it is "not available" is said of what is listed, not of the documents."""
    claims = LocalClaims().extract("Not available:\n- Loft")
    assert [(claim.text, claim.kind) for claim in claims] == [("Not available: Loft", "fact")]


@pytest.mark.parametrize(
    ("answer", "question", "right"),
    [
        ("🚫 **Closed:** Tuesdays", OPEN, True),
        ("🚫 **Closed:** Fridays", OPEN, False),
        ("A: No, scooters are not allowed in the foyer.", "Are scooters allowed there?", True),
        ("A: Yes, scooters are allowed in the foyer.", "Are scooters allowed there?", False),
        ("The bar is on the 2nd floor.", OPEN, True),
        ("The bar is on the 1st floor.", OPEN, False),
        ("Students enter free of charge.", "Give me an outline of the hall, please.", True),
        ("Students enter free of charge.", "hall prices", True),
        ("Students pay nine euros there.", "hall prices", False),
    ],
)
def test_how_an_answer_is_put(answer: str, question: str, right: bool) -> None:
    """A sign beside a label that denies, who speaks, figures for words, a request before it."""
    assert passes(answer, HALL, question) is right
