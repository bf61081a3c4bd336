"""Tables of HTML in answers and passages: each row is read under the heads of its columns."""

from __future__ import annotations

import pytest

from faithguard import check
from faithguard.claims import LocalClaims

CONTEXT = "A day pass costs 18 euros. A week pass costs 70 euros and includes the sauna."
HEADED = (
    "<table>\n<thead><tr><th>Pass</th><th>Price</th></tr></thead>\n<tbody>\n"
    "<tr><td>Day pass</td><td>18 euros</td></tr>\n"
    "<tr><td><b>Week pass</b></td><td>{} euros</td></tr>\n</tbody>\n</table>"
)
OPEN = (
    "<table><tr><th>Pass<th>Price<tr><td>Day pass<td>18 euros<tr><td>Week pass<td>{} euros</table>"
)


def facts(answer: str) -> list[str]:
    """Return the texts of the facts."""
    return [one.text for one in LocalClaims().extract(answer) if one.kind == "fact"]


@pytest.mark.parametrize("table", [HEADED, OPEN, f"Prices:\n\n{HEADED}\n\nHave a nice day!"])
def test_an_answer_in_a_table_is_checked_row_by_row(table: str) -> None:
    """A right one passes; a wrong one is contradicted, at its row."""
    right, wrong = (
        check(table.format(price), [CONTEXT], question="What do passes cost?") for price in (70, 55)
    )
    assert [one.text.removeprefix("Prices: ") for one in right.facts] == [
        "Pass: Day pass; Price: 18 euros",
        "Pass: Week pass; Price: 70 euros",
    ]
    assert right.decide("support").passed
    (bad,) = wrong.unsupported
    assert bad.label == "contradicted"
    begin, end = bad.span
    assert table.format(55)[begin:end].startswith("<tr><td>")
    assert "55 euros" in table.format(55)[begin:end]
    assert "18 euros" not in table.format(55)[begin:end]


def test_a_passage_may_be_a_table() -> None:
    """Its rows support and contradict."""
    table = HEADED.format(70)
    assert check("A week pass costs 70 euros.", [table]).decide("support").passed
    assert not check("A week pass costs 18 euros.", [table]).decide("support").passed
    (bad,) = check("A week pass costs 71 euros.", [table]).unsupported
    assert bad.label == "contradicted"
    for piece in bad.evidence:
        assert table[piece.start : piece.end] == piece.quote


def test_no_text_of_a_table_is_lost() -> None:
    """Neither a caption, nor a row without heads, nor one whose head stands beside it."""
    assert facts(
        "<table><caption>The sauna is free.</caption><tr><td>A</td><td>B</td></tr></table>"
    ) == [
        "The sauna is free.",
        "A; B",
    ]
    assert facts("<table><tr><th>Day pass</th><td>18 euros</td></tr></table>") == [
        "Day pass: 18 euros"
    ]
    assert facts("<table><tr><th>A</th><th>B</th></tr><tr>Tea heals.<td>C</td></tr></table>") == [
        "A: Tea heals.; B: C"
    ]
    assert facts(
        "<table><tr><th>The fee is 90 EUR</th><th>B</th></tr><tr><td>C</td></tr></table>"
    ) == [
        "The fee is 90 EUR",
        "C",
    ]
    assert facts("A <table> has rows. Tea heals.") == ["A has rows.", "Tea heals."]
