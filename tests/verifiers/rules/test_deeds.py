"""Who does what to whom is read alike, however it is said."""

from __future__ import annotations

import pytest

import faithguard
from faithguard._verbs import base_of
from faithguard.verifiers.rules._deeds import deeds_of
from faithguard.verifiers.rules._reading import key_of, read

ACTIVE = "The baker feeds the geese."


@pytest.mark.parametrize(
    "sentence",
    [
        ACTIVE,
        "The geese are fed by the baker.",
        "The baker, who lives next door, feeds the geese.",
        "It is the baker who feeds the geese.",
        "The baker has always fed the geese.",
        "The geese that the baker feeds are white.",
        "The baker opens the gate and feeds the geese.",
        "The smith shoes horses, and the baker feeds the geese.",
        "The mayor asked the baker to feed the geese.",
        "Geese fed by the baker grow fat.",
        "The baker may feed the geese.",
    ],
)
def test_one_deed_in_many_wordings(sentence: str) -> None:
    """The doer and the one to whom it is done are the same, and nothing is denied."""
    [deed] = [deed for deed in deeds_of(read(sentence)) if deed.verb == key_of("feed")]

    assert key_of("baker") in deed.agents - deed.patients
    assert key_of("geese") in deed.patients - deed.agents
    assert not deed.denied


@pytest.mark.parametrize(
    "sentence",
    [
        "The baker does not feed the geese.",
        "The baker doesn't feed the geese.",
        "The baker never feeds the geese.",
        "The geese are not fed by the baker.",
        "The baker no longer feeds the geese.",
        "No baker feeds the geese.",
        "The baker feeds no geese.",
        "The baker refused to feed the geese.",
        "The baker is unable to feed the geese.",
        "The smith feeds the geese, but the baker does not.",
    ],
)
def test_a_denied_deed(sentence: str) -> None:
    """Wherever the denial stands."""
    deeds = [deed for deed in deeds_of(read(sentence)) if deed.verb == key_of("feed")]

    assert deeds[-1].denied
    assert key_of("baker") in deeds[-1].agents


@pytest.mark.parametrize(
    ("sentence", "modal"),
    [
        ("The baker must feed the geese.", "must"),
        ("The baker has to feed the geese.", "must"),
        ("The baker is allowed to feed the geese.", "can"),
        ("The baker need not feed the geese.", "need"),
        ("The baker does not have to feed the geese.", "need"),
        ("The baker will feed the geese.", "will"),
        (ACTIVE, ""),
    ],
)
def test_how_sure_or_how_needed_a_deed_is(sentence: str, modal: str) -> None:
    """A duty, a right and the lack of a duty are kept apart."""
    [deed] = [deed for deed in deeds_of(read(sentence)) if deed.verb == key_of("feed")]

    assert deed.modal == modal


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("fed", "feed"), ("supplies", "supply"), ("stopped", "stop"), ("written", "write"),
        ("using", "use"), ("hundred", None), ("seed", None), ("table", None),
    ],
)  # fmt: skip
def test_the_base_form_of_a_verb(form: str, base: str | None) -> None:
    """A noun has none."""
    assert base_of(form) == base


def test_a_deed_of_a_pronoun_alone_is_denied() -> None:
    """All that it says is the deed, which the context denies."""
    context = "Vouchers are sold at the desk and are not exchanged."
    report = faithguard.check("It is exchanged.", context)
    assert [claim.label for claim in report.facts] == ["contradicted"]
