"""What a helpdesk says around its answer: requests, set phrases, pointers and addresses."""

from __future__ import annotations

import pytest

import faithguard
from faithguard.claims import LocalClaims

PASSAGE = (
    "Refunds are booked within 9 working days. Helpdesk: care@lumo.example, +44 20 5550 1234. "
    "The rules are at https://lumo.example/rules."
)


def kinds(answer: str) -> list[str]:
    """Return what the claims of an answer are."""
    return [claim.kind for claim in LocalClaims().extract(answer)]


def passes(answer: str, question: str | None = None) -> bool:
    """Check an answer by the rules and the words alone."""
    report = faithguard.check(answer=answer, context=[PASSAGE], question=question)
    return report.decide("support").passed


@pytest.mark.parametrize(
    "answer",
    [
        "Please double-check the tracking number and try again.",
        "Please try again later.",
        "Could you tell me your order number so I can look it up?",
        "Please share your customer number with us.",
        "Please send me your email address so that we can find your order.",
        "Please bear with me while I check this for you.",
        "One moment, please.",
        "We're always happy to help!",
        "We sincerely apologise for the delay.",
        "I completely understand your frustration.",
        "I understand how annoying this must be.",
        "I'm sorry to hear that your parcel hasn't arrived yet.",
        "We appreciate your patience and understanding.",
        "No worries!",
        "Good news!",
        "I'll connect you with a human agent now.",
        "Let me transfer you to one of our colleagues.",
        "I can help you with orders, refunds and returns.",
        "Here’s how it works:",
        "According to our refund policy:",
        "For more details, see our help center.",
        "Bitte überprüfen Sie die Bestellnummer und versuchen Sie es erneut.",
        "Einen Moment, bitte.",
        "Wir bitten die Unannehmlichkeiten zu entschuldigen.",
        "Ich verstehe Ihren Ärger.",
        "Je comprends votre frustration.",
        "Nous nous excusons pour la gêne occasionnée.",
        "Un instant, s'il vous plaît.",
        "Lamentamos las molestias.",
        "Un momento, por favor.",
        "Gracias por su paciencia.",
    ],
)
def test_set_phrases_are_no_facts(answer: str) -> None:
    """They ask, thank or lead on, and tell nothing."""
    assert "fact" not in kinds(answer)
    assert passes(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Please note that refunds take 12 days.",
        "Please send it back within 45 days.",
        "Please provide a doctor's certificate.",
        "Please share your order number with Maria.",
        "Please check the number on page 12.",
        "Please tick the box named Priority.",
        "Please bring the parcel to 12 Mill Lane.",
        "One minute.",
        "Just a few minutes.",
        "Anytime.",
        "You bet.",
        "We apologise for the delay and will pay the postage.",
        "I understand your frustration, but vouchers can be returned.",
        "I'm sorry to hear that your guarantee has ended.",
        "We appreciate your patience; returns are free.",
        "Good news: your refund was approved.",
        "I'll connect you with Professor Stern now.",
        "I can help you with free returns.",
        "Here's how it works: returns are free.",
        "According to our policy, vouchers can be returned.",
        "See our lifetime guarantee page.",
        "For more details, see our help center, which opens on Sundays.",
        "Bitte schicken Sie das Paket innerhalb von 45 Tagen zurück.",
        "Veuillez renvoyer le colis sous 45 jours.",
        "Por favor, devuelva el paquete en 45 días.",
    ],
)
def test_what_tells_something_is_a_fact(answer: str) -> None:
    """A term, a name, a place or a promise is checked however politely it is said."""
    assert "fact" in kinds(answer)
    assert not passes(answer)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("Please contact us by email at care@lumo.example.", "care@lumo.example"),
        ("Feel free to write to us at care@lumo.example!", "care@lumo.example"),
        (
            "If you have any questions, please call us at +44 20 5550 1234 or email "
            "care@lumo.example.",
            "+44 20 5550 1234, care@lumo.example",
        ),
        ("Bitte kontaktieren Sie uns per E-Mail unter care@lumo.example.", "care@lumo.example"),
        ("Veuillez nous contacter par e-mail à care@lumo.example.", "care@lumo.example"),
        ("Por favor, escríbanos a care@lumo.example.", "care@lumo.example"),
    ],
)
def test_request_to_get_in_touch_is_its_address(answer: str, asked: str) -> None:
    """Its words are a request; what it says is where."""
    claims = LocalClaims().extract(f"I don't know. {answer}", "Do you deliver to Mars?")
    assert [claim.text for claim in claims if claim.kind == "fact"] == [asked]
    assert passes(f"I don't know. {answer}", "Do you deliver to Mars?")
    for right, wrong in (("care@lumo", "cure@lumo"), ("1234", "1243")):
        if right in answer:
            assert not passes(f"I don't know. {answer.replace(right, wrong)}")


def test_request_with_hours_is_checked_as_a_whole() -> None:
    """When the phone is answered is no part of the address."""
    answer = "Please call us on Sundays from 8:00 to 20:00 at +44 20 5550 1234."
    assert [claim.text for claim in LocalClaims().extract(answer)] == [answer]
    assert not passes(answer)


@pytest.mark.parametrize(
    "pointer",
    [
        "See also: Returns and refunds",
        "Learn more: [Returns](https://lumo.example/rules)",
        "Learn more:\n- [Returns](https://lumo.example/rules)\n- Shipping costs",
        "Siehe auch: Rückgabe und Erstattung",
    ],
)
def test_pointers_are_no_facts(pointer: str) -> None:
    """They name pages to go on with."""
    answer = f"Refunds are booked within 9 working days.\n\n{pointer}"
    assert kinds(answer).count("fact") == 1
    assert passes(answer)


@pytest.mark.parametrize(
    "pointer",
    [
        "Learn more: [Returns](https://lumo.example/made-up)",
        "Learn more:\n- [Returns](https://lumo.example/made-up)",
        "More information: https://lumo.example/made-up",
        "See also: Refunds within 2 days",
        "See also: the mill is open at night",
        "Learn more: free returns for all",
    ],
)
def test_pointers_that_tell_something_are_found(pointer: str) -> None:
    """An address that no passage has, a term and a statement are findings."""
    assert not passes(f"Refunds are booked within 9 working days.\n\n{pointer}")
