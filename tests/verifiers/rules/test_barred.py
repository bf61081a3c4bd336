"""What the context denies of a thing, or keeps to one, and answers that say it of it all the same.

In: a context with answers that must not pass, and with twins that must. Out: the decision of the
default checker.
"""

from __future__ import annotations

import pytest

from faithguard import check

GATE = "The gate opens with a card or a key. Coins are not accepted. Tokens are accepted."
FERRY = "Bicycles are carried free. Trailers and quad bikes are not carried. Prams are carried."
LAMP = "The lamp runs on solar cells and batteries; gas is not supported."
CLUB = (
    "The Silver card costs 20 EUR. The sauna is only open to holders of the Gold card."
    " Lessons (swim school) are only offered with the Gold card. All cards include a locker."
)
POOL = (
    "The pool is open from 9:00 to 17:00 on Tuesday to Saturday."
    " We are closed on Mondays. The kiosk is open on Sundays from 10:00 to 12:00."
)
ROOMS = "| Room | Balcony | Bath |\n|---|---|---|\n| Ivy | ✅ | ❌ |\n| Oak | ❌ | ✅ |\n"
STAY = "Breakfast is included. Parking is not included. Towels are included."
SHARED = "Canoes and rafts cannot be reserved. Tents and huts can be reserved."

DENIED = [
    (GATE, "✅ Coins\n✅ Tokens"),
    (GATE, "Accepted:\n\n- Tokens\n- Coins"),
    (GATE, "Accepted:\n\n- ✅ Tokens\n- ✅ Coins"),
    (GATE, "❌ Tokens"),
    (LAMP, "The lamp runs on gas."),
    (LAMP, "The lamp runs on batteries and gas."),
    (LAMP, "## Supported sources\n\n- Batteries\n- Gas"),
    (CLUB, "Lessons are offered with the Silver card."),
    (CLUB, "Lessons are offered with all cards."),
    (CLUB, "The swim school is offered with the Silver card."),
    (CLUB, "The Silver card includes lessons."),
    (CLUB, "| Card | Lessons |\n|---|---|\n| Silver | ✅ |\n"),
    (POOL, "Monday from 9:00 to 17:00."),
    (POOL, "Hours:\n\n- Tuesday to Saturday: 9:00 to 17:00\n- Monday: 9:00 to 17:00"),
    (ROOMS, "The Oak room has a balcony."),
    (ROOMS, "Ivy has a bath."),
    (ROOMS, "| Room | Balcony |\n|---|---|\n| Oak | ✅ |\n"),
    (STAY, "## Included\n\n- Breakfast\n- Parking"),
    (STAY, "**What is included**\n\n- Towels\n- Parking"),
    (STAY, "- Breakfast ✅\n- Parking ✅"),
    (STAY, "❌ Breakfast\n❌ Parking"),
    (SHARED, "Rafts can be reserved."),
    (SHARED, "Canoes can be reserved."),
    (SHARED, "Huts cannot be reserved."),
    (SHARED, "## Things you can reserve\n\n- Tents\n- Rafts"),
    (FERRY, "Quad bikes are carried."),
]
SAID = [
    (GATE, "❌ Coins\n✅ Tokens"),
    (GATE, "Accepted:\n\n- Tokens"),
    (GATE, "Coins are not accepted."),
    (LAMP, "The lamp runs on batteries and solar cells."),
    (LAMP, "## Supported sources\n\n- Batteries"),
    (CLUB, "Lessons are offered with the Gold card."),
    (CLUB, "All cards include a locker."),
    (CLUB, "The Silver card costs 20 EUR."),
    (CLUB, "| Card | Lessons |\n|---|---|\n| Gold | ✅ |\n"),
    (POOL, "The pool is closed on Mondays."),
    (POOL, "Hours:\n\n- Tuesday to Saturday: 9:00 to 17:00\n- Monday: closed"),
    (POOL, "The kiosk is open on Sundays from 10:00 to 12:00."),
    (ROOMS, "The Ivy room has a balcony."),
    (ROOMS, "Oak has a bath."),
    (ROOMS, "| Room | Balcony |\n|---|---|\n| Ivy | ✅ |\n| Oak | ❌ |\n"),
    (STAY, "## Included\n\n- Breakfast\n- Towels\n\n## Not included\n\n- Parking"),
    (STAY, "- Breakfast ✅\n- Parking ❌"),
    (SHARED, "Rafts cannot be reserved."),
    (SHARED, "Tents can be reserved."),
    (SHARED, "## Things you cannot reserve\n\n- Canoes\n- Rafts"),
    (FERRY, "Quad bikes are not carried."),
    ("Maps and guides cannot be combined. Maps can be kept.", "Maps can be kept."),
    ("Black and white prints are not sold. Colour prints are sold.", "Colour prints are sold."),
]


@pytest.mark.parametrize(("context", "answer"), DENIED)
def test_what_is_denied_does_not_pass(context: str, answer: str) -> None:
    """A sign, a title, a row or another verb says it as a sentence does."""
    assert not check(answer, [context]).decide("support").passed


@pytest.mark.parametrize(("context", "answer"), SAID)
def test_what_is_said_passes(context: str, answer: str) -> None:
    """The twins, which the context says."""
    assert check(answer, [context]).decide("support").passed


@pytest.mark.parametrize(
    ("question", "answer", "passes"),
    [
        ("Can rafts be reserved?", "No.", True),
        ("Can rafts be reserved?", "Yes.", False),
        ("Can I reserve canoes?", "No.", True),
        ("Can I reserve canoes?", "Yes.", False),
        ("Can huts be reserved?", "Yes.", True),
        ("Can huts be reserved?", "No.", False),
    ],
)
def test_short_answers_of_joined_subjects(question: str, answer: str, passes: bool) -> None:
    """What is said of two is said of each, also to a question."""
    report = check(answer, [SHARED], question=question)
    assert report.decide("support").passed is passes


PAIRS = {
    "ja": ("入場料は払い戻されます。", "入場料は払い戻されません。"),
    "zh": ("这里可以停车。", "这里不可以停车。"),
    "zh-short": ("可以拍照。", "不可以拍照。"),
    "ko": ("자전거는 허용됩니다.", "자전거는 허용되지 않습니다."),
    "ko-can": ("표를 바꿀 수 있습니다.", "표를 바꿀 수 없습니다."),
    "th": ("สวนเปิดวันจันทร์", "สวนไม่เปิดวันจันทร์"),
    "ar": ("يمكن تغيير التذكرة.", "لا يمكن تغيير التذكرة."),
    "hi": ("टिकट बदला जा सकता है।", "टिकट बदला नहीं जा सकता है।"),
    "ru": ("Билеты обмениваются в кассе.", "Билеты не обмениваются в кассе."),
    "ru-can": ("Билет можно обменять.", "Билет нельзя обменять."),
    "nl": ("De kaartjes worden omgeruild.", "De kaartjes worden niet omgeruild."),
    "nl-no": ("Er is een lift.", "Er is geen lift."),
    "pt": ("Os bilhetes podem ser trocados.", "Os bilhetes não podem ser trocados."),
    "fr": ("Il y a un vestiaire.", "Il n'y a pas de vestiaire."),
    "tr": ("Bilet değiştirilir.", "Bilet değiştirilmez."),
    "tr-is": ("Otopark ücretsizdir.", "Otopark ücretsiz değildir."),
    "pl": ("Bilety można wymienić.", "Biletów nie można wymienić."),
    "sv": ("Cyklar är tillåtna på bron.", "Cyklar är inte tillåtna på bron."),
    "vi": ("Vé có thể đổi được.", "Vé không có thể đổi được."),
    "el": ("Τα εισιτήρια αλλάζουν.", "Τα εισιτήρια δεν αλλάζουν."),
}


@pytest.mark.parametrize("language", PAIRS)
def test_a_sentence_and_its_negation(language: str) -> None:
    """Each supports itself, and neither the other."""
    plain, denied = PAIRS[language]
    for said, held in ((plain, denied), (denied, plain)):
        assert not check(said, [held]).decide("support").passed
        assert check(said, [said]).decide("support").passed


def test_both_said() -> None:
    """Where the context says a sentence and, elsewhere, its negation, no rule decides."""
    report = check("De lift is open.", ["De lift is open.", "De lift is niet open."])
    assert report.claims[0].label != "contradicted"
