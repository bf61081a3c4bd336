"""Text made to be slow to read is read in steps that grow with its length."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from faithguard.types import Claim, Passage
from faithguard.verifiers import Context
from faithguard.verifiers._values import find_values
from faithguard.verifiers.rules import RULES
from faithguard.verifiers.rules._identifiers_in import find_identifiers

from ...growth import LINEAR, growth

PIECES = [
    "1", "1,", "1.", "1 000 ", "9:", "a.b", "a@", "_", "-", "--a", "/", "0 ", "+1 ", "1/", "one ",
    "twenty-", "and ", "one and ", "( ", '"', "[1]", "|", ";a", ",", "not ", "A", "A ", "Ann ",
    "百", "万", "年", "不", "١", "half a ", "Monday to ", "1 May ", "million ", "\u00bd", "$", "€1",
    "http://a", "x.y/", "DE12 ", "AB-", "a_", "§", "1:2 ", "ten past ", " \n", "K:V\n", "a,b,c\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_the_length(piece: str) -> None:
    """No pattern goes back over what it has read."""

    def work(size: int) -> None:
        text = piece * (size // len(piece)) + "." * (size % len(piece))
        find_values(text)
        find_identifiers(text)

    assert growth(work, 20_000) < LINEAR


@pytest.mark.parametrize(
    "piece",
    [
        "Ann paid 12 EUR. ",
        "not 1 mg, ",
        "| 1 | a ",
        "K: 3 May\n",
        "Ann, who paid Bo, and ",
        "- EUR: mg, May\n",
        "EUR except mg, ",
        "more than mg ",
    ],
)
def test_steps_grow_with_the_length(piece: str) -> None:
    """Four times the context, about four times the calls, not sixteen."""
    one, four = steps(piece * 100), steps(piece * 400)

    assert four < 8 * one


def steps(context: str) -> int:
    """Return how many calls the rules make for a claim and its context."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    claim = Claim(id="c", text="Ann paid 13 EUR and 1 mg on 4 May.", span=(0, 0))
    sys.setprofile(count)
    try:
        scene = Context([Passage(text=context)])
        for rule in RULES:
            rule().verdict(claim, scene)
    finally:
        sys.setprofile(None)
    return calls
