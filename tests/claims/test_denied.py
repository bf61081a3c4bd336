"""What an answer denies as a whole is a claim that it is not so."""

from __future__ import annotations

import pytest

from faithguard.claims import LocalClaims


def said(answer: str, question: str | None = None) -> list[str]:
    """Return the texts of the facts of an answer."""
    found = LocalClaims().extract(answer, question)
    return [claim.text for claim in found if claim.kind == "fact"]


NOT = "It is not true that "


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        ("The lift is open. ❌", [f"{NOT}the lift is open."]),
        ("❌ The lift is open.", [f"{NOT}the lift is open."]),
        ("- 👎 The lift is open\n- 👍 The stairs are open", [f"{NOT}the lift is open", "👍 The"]),
        ("The lift is open. ✗ The ramp is wet. ✓", [f"{NOT}the lift is open.", "✗ The ramp"]),
        ("✘ The lift is open. ✔ The ramp is wet.", [f"{NOT}the lift is open.", "✔ The ramp"]),
        ("- [ ] The lift is open\n- [x] The ramp is wet", [f"{NOT}the lift is open", "The ramp"]),
        ("☒ The lift is open\n☑ The ramp is wet", [f"{NOT}the lift is open", "☑ The ramp"]),
        ("~~The lift is open.~~", [f"{NOT}the lift is open."]),
        ("~~The lift is open. The ramp is wet.~~", [f"{NOT}the lift", f"{NOT}the ramp"]),
        ("<s>The lift is open.</s> It is shut.", [f"{NOT}the lift is open.", "It is shut."]),
        ("L\u0336i\u0336f\u0336t\u0336s\u0336 \u0336a\u0336r\u0336e\u0336 up", ["What is so? up"]),
        ("The lift is open. This is wrong.", [f"{NOT}the lift is open."]),
        ("The lift is open. That isn't true!", [f"{NOT}the lift is open."]),
        ("Is the lift open? No.", ["Is the lift open? No."]),
        ("The lift is open? Wrong.", [f"{NOT}the lift is open."]),
        ("## Not covered\n\n- Hail\n- Rust", ["Not covered: Hail", "Not covered: Rust"]),
        ("## What it does not cover\n\n- Hail", ["What it does not cover: Hail"]),
        ("**Don'ts**\n\n- Wash it hot", ["Don'ts: Wash it hot"]),
        ("## Common myths\n\n1. The lift is open. It was shut in May.", ["Common myths: ", "It"]),
        ("Excluded: hail, rust and theft.", ["Excluded: hail", "Excluded: rust", "Excluded: t"]),
    ],
)
def test_denied(answer: str, facts: list[str]) -> None:
    """Signs, strokes, verdicts behind it and titles above it deny a statement."""
    found = said(answer, "What is so?")
    assert len(found) == len(facts)
    assert all(text.startswith(fact) for text, fact in zip(found, facts, strict=True))


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("❌ No dogs are allowed.", "No dogs are allowed."),  # the sign says it once more
        ("🚫 Do not wash it hot.", "🚫 Do not wash it hot."),
        ("- [ ] The lift is open\n- [ ] The ramp is wet", "The lift is open"),  # a list to do
        ("- ✅ The lift is open", "The lift is open"),
        ("## Drawbacks\n\n- ❌ The lift is slow", "The lift is slow"),  # bad, and so
        ("Cons:\n- ❌ The lift is slow", "Cons: The lift is slow"),
        ("It must ~~not~~ be wet.", "It must be wet."),
        ("## Dos and don'ts\n\n- Wash it cold", "Wash it cold"),
        ("## What to know\n\n- The lift is open", "The lift is open"),
        ("The lift is not open. It is wet.", "The lift is not open."),
    ],
)
def test_not_denied(answer: str, fact: str) -> None:
    """A sign beside a denial is no second one; what only looks alike denies nothing."""
    assert said(answer)[0] == fact


def test_denied_fragment_goes_with_its_question() -> None:
    """A crossed-out word denies the answer that it would be."""
    assert said("☒ Hail", "What is covered?") == [f"{NOT}What is covered? Hail"]


def test_span_of_what_is_struck_holds_its_marks() -> None:
    """Who leaves the claim out leaves no stray mark."""
    (claim,) = LocalClaims().extract("~~The lift is open.~~")
    assert claim.span == (0, 21)
