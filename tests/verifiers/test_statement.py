"""What a yes to a question says, what a sentence tells, and whether it tells the one plainly.

In: questions, statements and sentences of a context. Out: statements, facts and reasons.
"""

from __future__ import annotations

import pytest

import faithguard
from faithguard import Passage
from faithguard._polar import agrees, asked, asks_what, denies, echoes, led, wavers
from faithguard.claims import LocalClaims
from faithguard.verifiers._context import Context
from faithguard.verifiers._facts import facts_of
from faithguard.verifiers._measured import measured
from faithguard.verifiers._statement import chosen, stated
from faithguard.verifiers._withheld import withheld


def context(*texts: str) -> Context:
    """Return a context of passages."""
    return Context([Passage(text=text) for text in texts])


@pytest.mark.parametrize(
    ("question", "text", "parts"),
    [
        ("Does fever cause infection?", "Infection causes fever.", ["Fever causes infection."]),
        ("Did Lena teach Marek?", "Lena taught Marek.", ["Lena taught Marek."]),
        ("Is the east gate open?", "The east gate is open.", ["The east gate is open."]),
        ("Isn't the gate open?", "The gate is open.", ["The gate is open."]),
        ("The gate is open, isn't it?", "The gate is open.", ["The gate is open."]),
        ("Tell me whether the gate is open.", "The gate is shut.", ["The gate is open."]),
        ("I'd like to know if the gate is open", "The gate is shut.", ["The gate is open."]),
        ("gate open", "The gate is open.", ["Gate open."]),
        ("Are tea and milk free?", "Tea is free.", ["Tea are free.", "Milk are free."]),
        ("Are tea and milk free?", "Tea and milk are free.", ["Tea and milk are free."]),
        (
            "Has it showers and a kitchen?",
            "It has showers.",
            ["It has showers.", "It has a kitchen."],
        ),
        ("I own a Lumo lamp. Is it dry?", "The Lumo lamp is dry.", ["Lumo lamp is dry."]),
        ("Do I need a permit?", "A permit is required.", ["A permit is required."]),
        ("Ist der Kurs frei?", "Im Mai ist der Kurs frei.", ["Der kurs ist frei."]),
        ("博物馆开放吗？", "博物馆开放。", ["博物馆开放."]),
    ],
)
def test_what_a_yes_says(question: str, text: str, parts: list[str]) -> None:
    """It is a statement in the order of one, or several."""
    said = stated(question, context(text))
    assert [part.casefold() for part in said.parts] == [part.casefold() for part in parts]
    assert said.clear


@pytest.mark.parametrize(
    "question",
    [
        "Is the gate not open?",
        "The gate isn't open, is it?",
        "Is there no gate?",
        "Is the gate red or blue?",
        "Is the gate " + "very " * 200 + "old?",
    ],
)
def test_what_a_yes_means_may_not_be_clear(question: str) -> None:
    """Then nothing is made of it."""
    assert not stated(question, context("The gate is open.")).clear


def test_one_side_of_an_or_is_a_statement() -> None:
    """What is none of the sides is not."""
    known = context("The sign is blue.")
    assert chosen("Is the sign blue or red?", "Red.", known) == "The sign is Red."
    assert chosen("Can I pay by card or cash?", "By card.", known) == "I can pay by card."
    assert chosen("Is the sign blue or red?", "Green.", known) is None
    assert chosen("Is the sign blue?", "Blue.", known) is None


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("The gym closes at 9 pm and the pool at 8 pm.", 2),
        ("Lakes are patrolled in summer, rivers in spring.", 2),
        ("Berit runs the bakery, Olaf the mill.", 2),
        ("It takes place in Turku in May and in Oulu in September.", 2),
        ("The front door is green and the back door is white.", 2),
        ("Dr. Amsel, who was born in Ghent, teaches chemistry in Lund.", 2),
        ("Refunds are paid by card and by cheque within 14 days.", 1),
        ("The app runs on Linux, macOS and Windows.", 1),
        ("Tea and coffee are free.", 1),
    ],
)
def test_facts_beside_each_other(text: str, facts: int) -> None:
    """A list, or what goes on with the same thing, is one fact."""
    known = context(text)
    assert len(facts_of(known.sentences[0], known)) == facts


@pytest.mark.parametrize(
    ("statement", "text", "true"),
    [
        ("The pack holds more than 5 tablets.", "The pack holds 5 tablets.", False),
        ("The pack holds at least 5 tablets.", "The pack holds 5 tablets.", True),
        ("The desk opens before 9 am.", "The desk opens at 8 am.", True),
        ("A ticket costs under 10 euros.", "A ticket costs 12 euros.", False),
        ("The pack holds more than 5 tablets.", "The pack holds up to 8 tablets.", None),
        ("The pack holds more than 5 tablets.", "The pack holds about 8 tablets.", None),
    ],
)
def test_a_bound_is_measured(statement: str, text: str, true: bool | None) -> None:
    """By the one value that the context has in its place, where that is exact."""
    found = measured(statement, context(text))
    assert found is not None
    assert found.true is true


def test_a_bound_that_the_context_has_too_stays() -> None:
    """There is nothing to measure where the two say the same, or no value is there."""
    same = "The pack holds more than 5 tablets."
    assert measured(same, context(same)) is None
    assert measured(same, context("The pack is blue.")) is None
    assert measured("The pack is blue.", context(same)) is None


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Can orders be cancelled?", "Orders can be cancelled if they are new."),
        ("Can members book the sauna?", "Only premium members can book the sauna."),
        ("Can members book the sauna?", "Premium members can book the sauna."),
        ("Is the cinema open?", "The cinema was open until 2020."),
        ("Is the bridge open?", "The bridge will open in 2030."),
        ("Does the drug cause rashes?", "The drug may cause rashes."),
        ("Is the dam unsafe?", "Critics say that the dam is unsafe."),
        ("Is entry free?", "Entry is free for children under 6."),
        ("Do rooms have a balcony?", "Some rooms have a balcony."),
        ("Do mice chase cats?", "Cats chase mice."),
        ("Was the grant given by the choir?", "The grant was given by the city to the choir."),
        ("Is Siv older than Kari?", "Kari is older than Per. Per is older than Siv."),
        ("Can I enter without a visa?", "Everybody can enter with a visa."),
        ("Is the back door green?", "The front door is green and the back door is white."),
        ("Can staff park in lot A4?", "Staff park in lot B. Visitors park in lot A4."),
        ("Does the plan cover theft?", "The plan covers theft from a locked car."),
    ],
)
def test_what_the_context_says_is_less(question: str, text: str) -> None:
    """A yes claims more than it."""
    known = context(text)
    said = stated(question, known)
    assert withheld(said.parts[0], said, known) is not None
    report = faithguard.check("Yes.", text, question=question)
    assert [claim.label for claim in report.facts] != ["supported"]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Can orders be cancelled if they are new?", "Orders can be cancelled if they are new."),
        ("Can the drug cause rashes?", "The drug may cause rashes."),
        ("Is the museum open on Sundays?", "The museum is open on Sundays and holidays."),
        ("Does the hotel take dogs?", "The Harbour Hotel has 9 rooms. It takes dogs."),
        ("Was the grant given by the city?", "The grant was given by the city to the choir."),
        ("Did net sales rise?", "Net sales rose by 4 percent."),
    ],
)
def test_what_the_context_says_plainly(question: str, text: str) -> None:
    """Nothing is held against it."""
    known = context(text)
    said = stated(question, known)
    assert withheld(said.parts[0], said, known) is None


def test_what_an_answer_says_beside_its_yes_or_no() -> None:
    """It is parted from it; a number after "No." is none."""
    parted = led("No, it is closed.")
    assert parted is not None
    assert (parted.polar, parted.rest) == ("No", "it is closed.")
    behind = led("For adults, yes.")
    assert behind is not None
    assert (behind.polar, behind.rest) == ("yes", "For adults")
    assert led("No. 7 is free.") is None
    assert led("Nobody, it is said, knows.") is None


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("It is.", "yes"),
        ("They can't.", "no"),
        ("They don't have to.", "no"),
        ("Very much so.", "yes"),
        ("Hardly.", "no"),
        ("In no case.", "no"),
        ("It certainly is not.", "no"),
        ("It depends.", "between"),
        ("Some do.", "between"),
        ("Only sometimes.", "between"),
        ("Sì.", "yes"),
        ("हाँ।", "yes"),
        ("The mill.", "neither"),
    ],
)
def test_what_short_words_say(said: str, kind: str) -> None:
    """Each says one thing."""
    found = {"yes": agrees(said), "no": denies(said), "between": wavers(said)}
    assert [name for name, holds in found.items() if holds] == [kind] * (kind != "neither")


def test_a_verb_repeated_in_a_script_without_spaces_answers() -> None:
    """With a denial before it it says no."""
    assert echoes("需要报名吗？", "需要。") == "yes"
    assert echoes("需要报名吗？", "不需要。") == "no"
    assert echoes("需要报名吗？", "免费。") == ""
    assert echoes("Is it free?", "free") == ""


def test_what_is_asked_for() -> None:
    """A word such as "who" asks for more than a yes; English "was" is no German "what"."""
    assert asks_what("Who runs the mill?")
    assert asks_what("Was kostet der Kurs?")
    assert not asks_what("Was the mill built in 1820?")
    assert not asks_what("When it rains, is the pool open?")
    assert asked("pets allowed") == "pets allowed?"
    assert asked("Is it so?") == "Is it so?"


def test_a_no_before_a_sentence_is_a_claim_of_its_own() -> None:
    """Each stands where it is said; a question for company has none."""
    answer = "**No**, the museum is open. It is big."
    claims = LocalClaims().extract(answer, "Is the museum closed?")
    assert [(claim.text, answer[slice(*claim.span)]) for claim in claims] == [
        ("Is the museum closed? No, the museum is open.", "**No**,"),
        ("the museum is open.", "the museum is open."),
        ("It is big.", "It is big."),
    ]
    (claim,) = LocalClaims().extract("Yes, they are based in Ulm.", "Do you like the Rovers?")
    assert claim.text == "Yes, they are based in Ulm."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Are " + " and ".join(["tea"] * 9_000) + " free?", "Yes."),
        ("can you tell me please " * 4_000 + "if it is free?", "No."),
        ("Is it" + " " * 90_000 + "free?", "No."),
        ("I have a dog. " * 7_000 + "Is it allowed?", "Yes."),
        ("Is it free?", "No, " * 20_000),
        ("Is it free?", "Sorry, " * 14_000 + "no."),
    ],
)
def test_what_is_long_is_still_read(question: str, answer: str) -> None:
    """It supports nothing, and ends."""
    report = faithguard.check(answer, "The pool is free. Tea is free.", question=question)
    assert report.outcome == "scored"
    assert report.score == 0.0
