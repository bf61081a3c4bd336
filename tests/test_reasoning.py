"""What a model thinks before its answer: no claim, no answer and no evidence."""

from __future__ import annotations

import pytest

import faithguard
from faithguard import Passage

from .streaming_scene import CARS, CHEAP, COSTS, DOGS, FALLBACK, LEAVES, both

HOURS = "The boathouse opens at 8:30."
RENT = "A canoe costs 14 euros an hour."
CONTEXT = [HOURS, RENT]
LIE = "A canoe costs 22 euros an hour."
TAGS = ["think", "thinking", "reasoning", "reflection", "THINK"]
QUESTION = "When does the boathouse open?"


@pytest.mark.parametrize("tag", TAGS)
def test_reasoning_before_an_answer_states_nothing(tag: str) -> None:
    """What comes after it is checked, and stands where it stands."""
    thought = f"<{tag}>The visitor asks about hours.\n\n- {LIE}</{tag}>"
    for begin in (thought, f"\n{thought}\n<think></think>"):
        answer = f"{begin}\n\n{HOURS} {LIE}"
        report = faithguard.check(answer, CONTEXT, question=QUESTION)
        assert [claim.text for claim in report.claims] == [HOURS, LIE]
        assert [claim.label == "supported" for claim in report.claims] == [True, False]
        assert [answer[slice(*claim.span)] for claim in report.claims] == [HOURS, LIE]
        assert faithguard.check(f"{begin}\n\n{HOURS}", CONTEXT).decide("support").passed


def test_reasoning_that_does_not_end_is_no_answer() -> None:
    """It is as if nothing had been said."""
    report = faithguard.check(f"<think>{LIE}\n\n{HOURS}", CONTEXT, question=QUESTION)
    assert report.claims == ()
    assert report.outcome == faithguard.check("", CONTEXT, question=QUESTION).outcome


@pytest.mark.parametrize(
    "answer",
    [
        f"{HOURS} <think>{LIE}</think>",
        f"{HOURS}\n\n<think>{LIE}",
        f"<think>Hm.</think> {HOURS}\n<think>{LIE}</think>",
        f"<thought>{LIE}</thought> {HOURS}",
        f"Hm.</think> {LIE}",
        f"<think>Hm.</think>{LIE}",
    ],
)
def test_what_looks_like_reasoning_elsewhere_is_checked(answer: str) -> None:
    """Nobody thinks in the middle of an answer."""
    assert not faithguard.check(answer, CONTEXT).decide("support").passed


@pytest.mark.parametrize(
    "text",
    [f"<think>{LIE}</think> {HOURS}", f"{HOURS}\n<reasoning>{LIE}</reasoning>", f"<think>{LIE}"],
)
def test_reasoning_in_a_passage_is_no_evidence(text: str) -> None:
    """A tool in which a model ran may hand it out."""
    assert not faithguard.check(LIE, [Passage(text=text)]).decide("support").passed
    if "</" in text:
        assert faithguard.check(HOURS, [Passage(text=text)]).decide("support").passed


THOUGHT = f"<think>They ask about the ferry. {CHEAP}\n\n1. {CHEAP}\n2. Is that so?\n</think>\n\n"


@pytest.mark.parametrize("thought", [THOUGHT, THOUGHT * 3, f"<think>{'Hm, well. ' * 400}</think> "])
def test_a_stream_by_claim_lets_reasoning_through(thought: str) -> None:
    """As it is written; what comes after it is checked."""
    text = f"{thought}{LEAVES} {CARS} {COSTS}"
    pieces = both(text)
    assert "".join(pieces) == text
    assert len(pieces) > 2
    assert "".join(both(f"{thought}{LEAVES} {CHEAP} {DOGS}", fallback=FALLBACK)) == (
        f"{thought}{LEAVES}\n\n{FALLBACK}"
    )
    mended = "".join(both(f"{thought}{LEAVES} {CHEAP} {DOGS}", on_fail="repair"))
    assert mended.startswith(f"{thought}{LEAVES}")
    assert "3 EUR" not in mended.removeprefix(thought)
    assert mended.endswith(DOGS)
