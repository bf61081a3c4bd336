"""Near misses are vetoed, and their faithful twins are not."""

from __future__ import annotations

import pytest

from faithguard import Claim, Passage, Scorer
from faithguard.types import Exchange, Report
from faithguard.verifiers import Context
from faithguard.verifiers.rules import RULES
from tests.verifiers.rules.cases import CASES, Case
from tests.verifiers.rules.passages import PASSAGES, Told

SCORER = Scorer(verifiers=[rule() for rule in RULES], cache=None)


def ruled(case: Case, answer: str) -> Report:
    """Return what the rules alone say of an answer."""
    texts = (case.context,) if isinstance(case.context, str) else case.context
    passages = tuple(Passage(text=text) for text in texts)
    return SCORER.score(Exchange(id="e", answer=answer, passages=passages))


def vetoed(report: Report) -> list[Claim]:
    """Return the claims that a rule vetoes."""
    return [claim for claim in report.facts if claim.label in ("contradicted", "not_mentioned")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.wrong}")
def test_a_near_miss_is_vetoed_in_words(case: Case) -> None:
    """And the reason says what disagrees."""
    found = vetoed(ruled(case, case.wrong))

    assert found
    assert all(claim.reason for claim in found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.faithful}")
def test_a_faithful_twin_is_left_alone(case: Case) -> None:
    """However it is worded."""
    assert vetoed(ruled(case, case.faithful)) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.family}: {case.context}")
def test_the_context_itself_is_never_vetoed(case: Case) -> None:
    """What stands in the context word for word is supported by it."""
    if isinstance(case.context, str) and "\n" not in case.context:
        assert vetoed(ruled(case, case.context)) == []


@pytest.mark.parametrize(
    "told", PASSAGES, ids=lambda told: f"{told.family}: {told.context[0][:40]}"
)
def test_claims_about_a_passage_of_several_sentences(told: Told) -> None:
    """Those that it supports are left alone, and those a small step away are vetoed."""
    cases = {c: Case(told.family, told.context, c, c) for c in (*told.faithful, *told.wrong)}
    found = [claim for claim, case in cases.items() if vetoed(ruled(case, claim))]

    assert found == list(told.wrong)


def test_evidence_of_a_contradiction_is_the_sentence_that_says_otherwise() -> None:
    """Word for word, from its passage."""
    case = Case("", ("The bay is calm.", "Give 250 mg of the syrup. Shake it."), "", "")
    [claim] = vetoed(ruled(case, "Give 250 g of the syrup."))

    assert claim.reason == "the context says '250 mg', the answer '250 g'"
    assert [evidence.quote for evidence in claim.evidence] == ["Give 250 mg of the syrup."]
    assert claim.evidence[0].passage == 1


CITED = ("The ferry takes 40 minutes.", "Bicycles travel free in winter.")


@pytest.mark.parametrize(
    ("passages", "why"),
    [
        ([Passage(text=CITED[0]), Passage(text=CITED[1], hop=1)], "two rounds of retrieval"),
        ([Passage(text=CITED[0] + " [1]"), Passage(text=CITED[1])], "numbers of its own"),
        ([Passage(text=" ".join(CITED))], "one passage, which may be all of them"),
        (
            [Passage(text="Unseen.", seen=False), *(Passage(text=text) for text in CITED)],
            "one that the model did not see",
        ),
    ],
)
def test_a_citation_that_cannot_be_resolved_is_left_alone(
    passages: list[Passage], why: str
) -> None:
    """Where it cannot be known which passage the model knew by a number."""
    answer = "The ferry takes 40 minutes [2]."
    report = SCORER.score(Exchange(id="e", answer=answer, passages=tuple(passages)))

    assert vetoed(report) == [], why


def test_claims_know_what_they_cite() -> None:
    """Each mark with the words that it stands behind."""
    answer = "The ferry takes 40 minutes [1], and bicycles travel free [2, 3]."
    report = SCORER.score(Exchange(id="e", answer=answer, passages=(Passage(text="x"),)))
    cites = [cite for claim in report.claims for cite in claim.cites]

    assert [number for _, number in cites] == [1, 2, 3]
    assert cites[0][0] == "The ferry takes 40 minutes"


@pytest.mark.parametrize(
    ("context", "claim", "silent"),
    [
        ("About it: Remove any blank line. There is no other use.", "Remove any blank line.", True),
        ("Fees of 5 and of 7 crowns are due.\n\nLate fees are 9.", "Late fees are 9.", True),
        ("No dogs are allowed in the hall.", "Dogs are allowed in the hall.", False),
    ],
)
def test_what_stands_word_for_word_is_no_near_miss(context: str, claim: str, silent: bool) -> None:
    """A whole sentence of the context is supported, whatever else stands beside it."""
    found = [
        rule().verify([Claim(id="1", text=claim, span=(0, 1))], Context([Passage(text=context)]))
        for rule in RULES
    ]

    assert all(one == [None] for one in found) is silent
