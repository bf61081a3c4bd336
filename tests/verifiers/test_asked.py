"""A short answer and its question: a yes or a no is read, and the question's words support nothing.

In: an answer, a context and a question. Out: the label of the one claim that they make.
"""

from __future__ import annotations

import pytest

import faithguard
from faithguard import Report

LIFT = "Prams reach the upper deck by a ramp; the lower deck has only stairs."
BUILT = "Mara Quist drew the east gate in 1911. Otto Blom drew the west gate in 1920."
PATCH = "The patch is safe while driving."
UNSAFE = "The patch is not safe while driving."
ASKED = "Is the patch safe while driving?"


def checked(answer: str, context: str, question: str) -> Report:
    """Check an answer by the strictest policy."""
    return faithguard.check(answer, context, question=question, domain="medical")


def label(answer: str, context: str, question: str) -> str:
    """Return the label of the claim."""
    (claim,) = checked(answer, context, question).facts
    return claim.label


NO = (
    "No.",
    "No, it is not.",
    "Nope.",
    "Never.",
    "Not at all.",
    "Definitely not.",
    "Unfortunately not.",
    "No, sorry.",
    "No, it isn't.",
    "That's not true.",
)
YES = ("Yes.", "Yes, it is.", "Of course.", "Certainly.", "Sure.", "Absolutely!", "OK.", "Correct.")


@pytest.mark.parametrize("said", NO)
def test_a_no_is_measured_by_what_was_asked(said: str) -> None:
    """It is contradicted where the context says that it is so, and supported where it denies it."""
    assert label(said, PATCH, ASKED) == "contradicted"
    assert label(said, UNSAFE, ASKED) == "supported"
    assert not checked(said, "Ramps are open all day.", ASKED).decide("medical").passed


@pytest.mark.parametrize("said", YES)
def test_a_yes_is_measured_by_what_was_asked(said: str) -> None:
    """An agreement in any words is an answer to a question that has two."""
    assert label(said, PATCH, ASKED) == "supported"
    assert label(said, UNSAFE, ASKED) == "contradicted"


@pytest.mark.parametrize(
    ("said", "asked", "context"),
    [
        ("Nein.", "Ist das Becken beheizt?", "Das Becken ist beheizt."),
        ("Natürlich.", "Ist das Becken beheizt?", "Das Becken ist nicht beheizt."),
        ("Non.", "La piscine est-elle chauffée ?", "La piscine est chauffée."),
        ("No.", "¿La piscina está climatizada?", "La piscina está climatizada."),
    ],
)
def test_in_other_languages(said: str, asked: str, context: str) -> None:
    """What the context says the opposite of does not pass."""
    assert label(said, context, asked) != "supported"


@pytest.mark.parametrize("said", ["Sure.", "Of course!"])
def test_a_courtesy_before_a_deed_is_no_claim(said: str) -> None:
    """Whoever is asked to do something agrees to do it."""
    assert checked(said, PATCH, "Could you list the rules?").facts == ()
    assert checked(said, PATCH, "What are the rules?").facts == ()
    report = checked(f"{said} {PATCH}", PATCH, ASKED)
    assert [claim.text for claim in report.facts] == [PATCH]


def test_the_evidence_of_a_no_is_what_denies_it() -> None:
    """It stands in the passage."""
    report = checked("No.", UNSAFE, ASKED)
    (claim,) = report.facts
    assert [one.quote for one in claim.evidence] == [UNSAFE]
    assert claim.text == f"{ASKED} No."


@pytest.mark.parametrize("said", ["The lower deck.", "Lower.", "Both.", "Neither.", "None."])
def test_the_words_of_a_question_support_no_answer(said: str) -> None:
    """The part that says what was asked has to say the answer as well."""
    asked = "Which deck has a ramp?"
    assert label(said, LIFT, asked) in ("not_mentioned", "contradicted")
    assert label("The upper deck.", LIFT, asked) == "supported"


def test_a_name_is_looked_for_beside_what_was_asked() -> None:
    """A name that the context gives to something else, or to nothing, is no answer."""
    asked = "Who drew the west gate?"
    assert label("Otto Blom.", BUILT, asked) == "supported"
    assert label("Mara Quist.", BUILT, asked) == "not_mentioned"
    assert label("Mara Blom.", BUILT, asked) == "not_mentioned"
    assert label("Ines Varga.", BUILT, asked) != "supported"


def test_a_pronoun_stands_for_the_name_before_it() -> None:
    """The sentence that says what was asked need not repeat who it is about."""
    context = "Otto Blom came from the coast. He drew the west gate in 1920."
    assert label("Otto Blom.", context, "Who drew the west gate?") == "supported"


def test_letters_are_read_in_the_order_in_which_they_are_shown() -> None:
    """An override of direction shows 12 as 21."""
    turned = "Take \u202e12\u202c mg of the syrup."
    report = faithguard.check(turned, "Take 12 mg of the syrup.")
    assert [claim.label for claim in report.facts] == ["contradicted"]
    report = faithguard.check(turned, "Take 21 mg of the syrup.")
    assert [claim.label for claim in report.facts] == ["supported"]


@pytest.mark.parametrize(
    "asked", ["Isn't the patch safe while driving?", "The patch is safe while driving, isn't it?"]
)
def test_who_expects_a_yes_is_told_the_same(asked: str) -> None:
    """A question that holds that its answer is yes has the answers of the plain one."""
    assert label("Yes.", PATCH, asked) == "supported"
    assert label("No.", PATCH, asked) == "contradicted"
    assert label("Yes.", UNSAFE, asked) == "contradicted"


@pytest.mark.parametrize("said", ["No.", "Yes."])
@pytest.mark.parametrize("context", [PATCH, UNSAFE])
@pytest.mark.parametrize(
    "asked", ["Is the patch not safe while driving?", "The patch isn't safe while driving, is it?"]
)
def test_a_yes_or_no_to_a_denial_is_not_guessed(said: str, asked: str, context: str) -> None:
    """What it means cannot be told, so it does not pass, and nothing is held against it."""
    assert label(said, context, asked) == "not_mentioned"


def test_a_sentence_of_the_context_needs_no_question() -> None:
    """It is no answer by its form only."""
    context = "The tram leaves the square at 8:15. Strollers ride free of charge."
    assert label("Strollers ride free of charge.", context, "What about the tram?") == "supported"


BOILER = "The boiler is covered by an eight-year guarantee, its pump by two years."
GALLERY = (
    "The gallery is open from 11 am to 6 pm, on Fridays until 10 pm. It is closed on Tuesdays."
)
EIGHT_YEARS = "Yes, the boiler has an eight-year guarantee."
ON_FRIDAYS = "Yes, the gallery is open until 10 pm on Fridays."
RESERVING = "Guests may come at any hour; a reservation is not required."


@pytest.mark.parametrize(
    ("question", "context", "answer", "passes"),
    [
        ("Is the boiler under guarantee?", BOILER, EIGHT_YEARS, True),
        ("Is the boiler under guarantee?", BOILER, EIGHT_YEARS.replace("eight", "nine"), False),
        ("Is the gallery open late on Fridays?", GALLERY, ON_FRIDAYS, True),
        ("Is the gallery open on Tuesdays?", GALLERY, ON_FRIDAYS, False),
        ("Is the gallery open on Tuesdays?", GALLERY, "Yes, it is closed.", False),
        ("Is the gallery open on Tuesdays?", GALLERY, "Yes, it is closed on Tuesdays.", False),
        ("Do I need a reservation?", RESERVING, "No, a reservation is not required.", True),
        ("Do I need a reservation?", RESERVING, "Yes, a reservation is required.", False),
        ("Do I need a reservation?", RESERVING, "Yes, a reservation is not required.", False),
    ],
)
def test_a_yes_or_a_no_with_its_statement(
    question: str, context: str, answer: str, passes: bool
) -> None:
    """What restates the question is measured by what it says, and must agree with its polar."""
    assert checked(answer, context, question).decide("support").passed is passes


@pytest.mark.parametrize("between", [", ", ". "])
def test_a_no_without_a_question_denies_nothing_twice(between: str) -> None:
    """It says what its sentence says."""
    rule = "Barbecues are not allowed in the courtyard."
    answer = f"No{between}{rule}"
    assert faithguard.check(answer, rule).decide("medical").passed
    allowed = "Barbecues are allowed in the courtyard."
    assert not faithguard.check(answer, allowed).decide("support").passed


def test_a_sentence_that_repeats_the_question_is_one_claim() -> None:
    """The yes and what it stands for are counted once."""
    (claim,) = checked(EIGHT_YEARS, BOILER, "Is the boiler under guarantee?").facts
    assert claim.span == (0, len(EIGHT_YEARS))
