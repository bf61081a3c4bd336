"""A label over a list and its items: the sentences that both make."""

from __future__ import annotations

import pytest

import faithguard
from faithguard.claims import LocalClaims
from faithguard.claims._labels import statement_of

PASSAGE = (
    "The player runs on Linux and Android; Haiku is not supported. "
    "Vouchers and engraved rings cannot be returned."
)


def passes(answer: str, question: str | None = None) -> bool:
    """Check an answer by the rules and the words alone."""
    report = faithguard.check(answer=answer, context=[PASSAGE], question=question)
    return report.decide("support").passed


@pytest.mark.parametrize(
    ("label", "item", "said"),
    [
        ("Supported platforms:", "Linux", "Linux is supported."),
        ("Platforms not supported:", "Haiku", "Haiku is not supported."),
        ("Non-returnable items:", "Vouchers", "Vouchers are non-returnable."),
        ("The following items cannot be returned:", "Vouchers", "Vouchers cannot be returned."),
        ("These are accepted:", "Cards and cash", "Cards and cash are accepted."),
        ("Which systems are supported?", "Linux", "Linux is supported."),
    ],
)
def test_a_label_and_its_item_are_one_statement(label: str, item: str, said: str) -> None:
    """What is said of each of "the following" is said of the item."""
    assert statement_of(label, item) == said


@pytest.mark.parametrize(
    ("label", "item"),
    [
        ("Opening hours:", "Monday to Friday"),
        ("Supported platforms:", "None"),
        ("Supported platforms:", "Linux 5.4"),
        ("Supported platforms:", "Linux: since May"),
        ("Supported platforms:", "It runs on Linux"),
        ("The following fees apply:", "Postage"),
        ("Which systems do you like?", "Linux"),
    ],
)
def test_other_labels_stay_before_their_items(label: str, item: str) -> None:
    """A label that names something of its own must be read as it stands."""
    assert statement_of(label, item) is None


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Supported platforms:\n\n- Linux\n- Android", None),
        ("Supported platforms:\n\n✅ Linux\n✅ Android\n❌ Haiku", None),
        ("The following items cannot be returned:\n\n- Vouchers\n- Engraved rings", None),
        ("- ✅ Linux\n- ❌ Haiku", "Which platforms are supported?"),
    ],
)
def test_right_items_pass_under_a_label(answer: str, question: str | None) -> None:
    """The words for their kind need not stand in the context."""
    assert passes(answer, question)


@pytest.mark.parametrize(
    ("answer", "question"),
    [
        ("Supported platforms:\n\n- Linux\n- Haiku", None),
        ("Supported platforms:\n\n- Linux\n- Plan 9", None),
        ("Supported platforms:\n\n- Linux\n- Inferno", None),
        ("Supported platforms:\n\n❌ Linux\n✅ Android", None),
        ("The following items can be returned:\n\n- Engraved rings\n- Vouchers", None),
        ("The following items cannot be returned:\n\n- Vouchers\n- Books", None),
        ("- ✅ Linux\n- ✅ Haiku", "Which platforms are supported?"),
    ],
)
def test_wrong_items_are_found_under_a_label(answer: str, question: str | None) -> None:
    """Each item is a statement that can be wrong."""
    assert not passes(answer, question)


def test_items_keep_their_places() -> None:
    """The statement is the label's and the item's; the span is the item's."""
    answer = "Supported platforms:\n\n- Linux\n- Android"
    claims = LocalClaims().extract(answer)
    assert [answer[slice(*claim.span)] for claim in claims] == ["Linux", "Android"]
