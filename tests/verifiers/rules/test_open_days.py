"""Days on which something is open by a rule with exceptions, and what follows from it.

In: contexts with answers that must pass, and with answers that must not. Out: the decision of the
default checker.
"""

from __future__ import annotations

import pytest

from faithguard import check

LEFT_OUT_MONDAY = [
    "The aquarium is open daily except Monday from 10 am to 6 pm.",
    "The aquarium is open every day but Monday, 10 am to 6 pm.",
    "The aquarium is open Tuesday to Sunday from 10 am to 6 pm.",
    "The aquarium is open Tuesday to Sunday, 10:00 to 18:00; the last entry is at 17:15.",
    "The aquarium is open daily, Mondays excepted, from 10 am to 6 pm.",
    "The aquarium is open seven days a week (except on Mondays).",
    "The aquarium opens each day apart from Mondays.",
]
TWO_OUT = "The archive is open every day except Sundays and Mondays. It has a reading room."
SEASON = "In winter the aquarium is open daily except Monday."
PARTLY = "The aquarium is open Tuesday to Sunday. On Mondays it opens for school classes."
HALLS = "The west hall is open daily except Friday. The east hall is open daily except Monday."


@pytest.mark.parametrize("context", LEFT_OUT_MONDAY)
def test_what_is_left_out_is_closed_and_the_rest_open(context: str) -> None:
    """By an exception before or behind the days, or by a span of days."""
    for answer in ("closed on Mondays", "not open on Mondays", "open on Wednesdays"):
        assert not check(f"The aquarium is {answer}.", [context]).unsupported, answer
    for answer in ("open on Mondays", "closed on Wednesdays", "not open on Sundays"):
        report = check(f"The aquarium is {answer}.", [context])
        assert [claim.label for claim in report.facts] == ["contradicted"], answer


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        (TWO_OUT, "The archive is closed on Sundays and Mondays."),
        (TWO_OUT, "The archive is closed on Mondays."),
        (TWO_OUT, "The archive is open on Fridays."),
        (HALLS, "The east hall is closed on Mondays."),
        (HALLS, "The west hall is open on Mondays."),
    ],
)
def test_what_follows_passes(context: str, answer: str) -> None:
    """Of several days, and of the one of two things that is meant."""
    assert not check(answer, [context]).unsupported


@pytest.mark.parametrize(
    ("context", "answer"),
    [
        (TWO_OUT, "The archive is open on Sundays."),
        (TWO_OUT, "The archive is closed on Saturdays and Sundays."),
        (TWO_OUT, "The reading room is closed on Fridays."),
        (HALLS, "The west hall is closed on Mondays."),
        (HALLS, "The east hall is open on Mondays."),
        (LEFT_OUT_MONDAY[0], "The aquarium opens at 10 am on Mondays."),
        (SEASON, "The aquarium is closed on Wednesdays."),
        (LEFT_OUT_MONDAY[0], "The planetarium is closed on Mondays."),
    ],
)
def test_what_does_not_follow_is_held(context: str, answer: str) -> None:
    """Of other days, of another thing, of what is open on the others."""
    assert check(answer, [context]).unsupported


def test_a_sentence_of_its_own_on_the_day_is_not_overruled() -> None:
    """It opens on Mondays for some: neither closed then, nor only open on the others."""
    for answer in ("The aquarium is closed on Mondays.", "On Mondays it opens for school classes."):
        report = check(answer, [PARTLY])
        reasons = [claim.reason for claim in report.facts]
        assert not any("follows from the days" in (reason or "") for reason in reasons)
        assert not any("leaves this day out" in (reason or "") for reason in reasons)
