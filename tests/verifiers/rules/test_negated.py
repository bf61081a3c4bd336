"""A statement and its own negation never both pass, whatever its nouns could be read as."""

from __future__ import annotations

import pytest

from faithguard import check

PAIRS = [
    ("Parcel costs are refunded.", "Parcel costs are not refunded."),
    ("Night calls are logged.", "Night calls are not logged."),
    ("Sample returns are weighed.", "Sample returns aren't weighed."),
    ("The policy covers storm damage.", "The policy does not cover storm damage."),
    ("The lease covers garden damage.", "The lease doesn't cover garden damage."),
    ("Luggage labels are printed here.", "Luggage labels are not printed here."),
    ("Season passes can be swapped.", "Season passes cannot be swapped."),
    ("Season passes can be lent.", "Season passes can't be lent."),
    ("Late fees will be waived.", "Late fees won't be waived."),
    ("Room plans include parking.", "Room plans do not include parking."),
    ("Flight changes are free of charge.", "Flight changes are never free of charge."),
    ("The ferry runs on holidays.", "The ferry does not run on holidays."),
    ("Guest reviews are checked by hand.", "Guest reviews are not checked by hand."),
    ("Report drafts must be signed.", "Report drafts must not be signed."),
    ("Credit checks have been needed since May.", "Credit checks have not been needed since May."),
    ("Die Kosten werden erstattet.", "Die Kosten werden nicht erstattet."),
    ("Los perros pueden entrar.", "Los perros no pueden entrar."),
]


@pytest.mark.parametrize(("plain", "denied"), PAIRS)
def test_a_statement_and_its_negation_contradict_each_other(plain: str, denied: str) -> None:
    """Either way round, and beside other sentences; each is supported by itself."""
    beside = "The office is in Lindow Street. {} Ask at the desk for the keys."
    for said, other in ((plain, denied), (denied, plain)):
        assert [claim.label for claim in check(said, [other]).facts] == ["contradicted"]
        assert [c.label for c in check(said, [beside.format(other)]).facts] == ["contradicted"]
        assert check(said, [beside.format(said)]).score == 1.0


def test_what_is_said_both_ways_is_left_to_others() -> None:
    """No veto where the context also says it as the claim does."""
    report = check("Night calls are logged.", ["Night calls are not logged.", PAIRS[1][0]])

    assert report.facts[0].label != "contradicted"
