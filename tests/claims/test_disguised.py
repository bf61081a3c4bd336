"""Words that are written so that a machine may miss them: what a reader sees is checked."""

from __future__ import annotations

import pytest

from faithguard import check
from faithguard._alike import in_latin
from faithguard.claims import LocalClaims

from ..growth import LINEAR, growth

CONTEXT = "The sauna is safe for guests. Towels are sold at the desk. The pool is 40 m long."


def read(answer: str) -> str:
    """Return how an answer of one claim reads."""
    (claim,) = LocalClaims().extract(answer)
    return claim.text


NOT = [
    "n-o-t",
    "n.o.t",
    "n o t",
    "N_O_T",
    "n*o*t",
    "n·o·t",
    "no-t",
    "n0t",
    "n<!-- -->ot",
    "n<b></b>ot",
    "**n**ot",
    "n\u200bo\u2060t",
    "n\u00adot",
    "n\u034fot",
    "n\ufe0fot",
    "n\U000e0041ot",
    "ɴᴏᴛ",
    "ⁿᵒᵗ",
    "ｎｏｔ",
    "n\u043et",
    "n\u03bft",
    "\u0578\u0585t",
    "n\u200b\u043et",
    "n\u0332o\u0332t\u0332",
    "no\u0338t",
    "&#110;ot",
    "n&shy;ot",
    "\u202eton\u202c",
]


@pytest.mark.parametrize("word", NOT, ids=ascii)
def test_a_not_is_read_however_it_is_written(word: str) -> None:
    """As the word that it is, and so it turns the sentence around."""
    answer = f"The sauna is {word} safe for guests."
    assert read(answer).casefold() == "the sauna is not safe for guests."
    assert check(answer, [CONTEXT]).claims[0].label == "contradicted"


@pytest.mark.parametrize(
    "word", ["un-safe", "un<!-- -->safe", "u\u0332n\u0332safe", "uns\u0430fe", "ᴜɴꜱᴀꜰᴇ"], ids=ascii
)
def test_a_word_that_denies_itself_is_read_as_one(word: str) -> None:
    """Also where a sign parts it."""
    answer = f"The sauna is {word} for guests."
    assert read(answer) == "The sauna is unsafe for guests."
    assert not check(answer, [CONTEXT]).decide("medical").passed


@pytest.mark.parametrize(
    "answer",
    [
        "The s\u0430una is safe for guests.",
        "The sauna is s\u00adafe for gu\u200bests.",
        "The sauna is ꜱᴀꜰᴇ for guests.",
        "\u0422he sauna is safe for guests.",
        "Towels are ｓｏｌｄ at the desk.",
        "The pool is 40&nbsp;m long.",
    ],
    ids=ascii,
)
def test_a_true_word_in_disguise_is_no_false_one(answer: str) -> None:
    """What a reader sees is what the context says."""
    assert check(answer, [CONTEXT]).decide("medical").passed


@pytest.mark.parametrize(
    "text",
    [
        "Он сказал нет, а она — да.",
        "Η σάουνα είναι ασφαλής και ανοικτή.",
        "Le mot russe «сок» et le mot «вода».",
        "TNF\u03b1 and IFN\u03b3 rise by 5 \u03bcg.",
        "\u03b1-blockers help.",
        "kapal\u0131 kap\u0131",
        "x\u207f grows.",
        "Яндex",
    ],
)
def test_words_of_other_scripts_stay(text: str) -> None:
    """Russian, Greek and Turkish are no English in disguise, and a formula is none."""
    assert in_latin(text) == text


@pytest.mark.parametrize(
    "words",
    [
        "The U.S.A. opens at 9 a.m.",
        "Plans A, B and C",
        "The A-B-C of it is old.",
        "A UN-backed plan is old.",
        "The A4 and B5 forms are old.",
        "The I/O is old.",
    ],
)
def test_letters_that_stand_apart_for_their_own_sake_stay(words: str) -> None:
    """Abbreviations, grades and sizes are no hidden words."""
    assert read(words) == words


@pytest.mark.parametrize(
    "unit", ["\u043e", "a\u043e", "n-", "n o ", "\u207f", "a\u0332", "&#8203;", "\u0430 "]
)
def test_time_grows_as_the_text_does(unit: str) -> None:
    """Disguises are taken off in one pass."""
    assert growth(lambda size: LocalClaims().extract(unit * (size // len(unit))), 20_000) < LINEAR
