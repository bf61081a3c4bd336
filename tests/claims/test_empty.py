"""Lead-ins that only announce what comes: no claims, and no part of the items under them."""

from __future__ import annotations

import pytest

from faithguard import check
from faithguard.claims import LocalClaims

ITEMS = ("The tower opens at 9:30.", "Lockers cost 2 euros a day.")
CONTEXT = f"Visiting the Brook Tower. {' '.join(ITEMS)} The stairs have 214 steps."


def facts(answer: str) -> list[str]:
    """Return the texts of the facts."""
    return [one.text for one in LocalClaims().extract(answer) if one.kind == "fact"]


@pytest.mark.parametrize(
    "lead",
    [
        "Key facts:",
        "In short:",
        "At a glance:",
        "TL;DR:",
        "Quick overview:",
        "Based on the documents, here's a summary:",
        "According to the provided context:",
        "Sure! Here's a breakdown of the fees:",
        "Here is what you need to know about the tower:",
        "Here is everything you should know before your visit:",
        "Here are the answers to your questions:",
        "Here is a list of the things you asked about:",
        "Here is how everything works:",
        "So, here is the deal:",
        "As requested, here is the information:",
        "Everything you need to know about the Brook Tower:",
        "All you need to know about your visit:",
        "What visitors should know:",
        "What to expect at the Brook Tower:",
        "To help you plan your visit, here are the main points:",
        "For your visit, please note the following:",
        "Before you arrive, keep the following in mind:",
        "When planning your trip, keep these points in mind:",
        "Remember the following before you travel:",
        "Please be aware of the following:",
        "Keep in mind:",
        "You should know the following:",
        "You'll want to keep these in mind:",
        "There are a few things to keep in mind:",
        "It is important to note the following:",
        "It’s good to know the following:",
        "The most important things to know are as follows:",
        "The following applies to your visit:",
        "The context mentions the following:",
        "This is what I found in the visitor guide:",
        "From what I can see in the documents:",
        "I've summarized the key information below:",
        "Let me walk you through the main points:",
        "Below you will find the rules of the tower:",
        "Below is a summary of the visitor information:",
        "In answer to your question, these are the key details:",
        "Just so you know:",
        "**What you need to know**",
        "**What to know before you go**",
        "### What you need to know",
    ],
)
def test_what_only_announces_is_no_part_of_the_items(lead: str) -> None:
    """Each item is a claim by itself, and nothing else is one."""
    answer = f"{lead}\n\n" + "".join(f"- {item}\n" for item in ITEMS)
    assert facts(answer) == list(ITEMS)
    assert check(answer, [CONTEXT], question="What should I know?").decide("support").passed


@pytest.mark.parametrize(
    "lead",
    [
        "The pass includes:",
        "You cannot bring:",
        "You need to bring:",
        "Visitors under six may not enter:",
        "Points that cost extra:",
    ],
)
def test_what_says_something_of_the_items_stays_with_them(lead: str) -> None:
    """The items of another lead-in are other claims."""
    assert facts(f"{lead}\n\n- towel\n- lamp\n")[-2:] == [f"{lead} towel", f"{lead} lamp"]


@pytest.mark.parametrize(
    ("lead", "kept"),
    [
        ("Here is what you need to know about the evening tour:", "the evening tour:"),
        ("For school classes, please note the following:", "For school classes:"),
    ],
)
def test_a_topic_or_a_condition_stays(lead: str, kept: str) -> None:
    """What is said of one of several is not said of all of them."""
    assert facts(f"{lead}\n\n- {ITEMS[1]}\n") == [f"{kept} {ITEMS[1]}"]
