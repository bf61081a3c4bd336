"""Rows become examples like those that are met in serving."""

from __future__ import annotations

import pytest

from faithguard.train._examples import Composer, Example
from faithguard.train._rows import Row, Target

SENTENCES = [
    f"The house number {n} of the long street was sold to a family of {n % 7 + 2} in the spring."
    for n in range(60)
]


def row(context: tuple[str, ...], claim: str, target: Target = "e", dataset: str = "a") -> Row:
    """Return a row."""
    return Row(context=context, claim=claim, target=target, dataset=dataset)


ROWS = [
    *(row((f"{a} {b}",), a) for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)),
    row((" ".join(SENTENCES[:30]), " ".join(SENTENCES[30:])), SENTENCES[41]),
    row(("The fee is 12 euros.", "It is due on 3 May."), "The fee of 12 euros is due on 3 May."),
]


def composed(of: Row, epochs: int = 60) -> list[Example]:
    """Return the examples of a row over many epochs."""
    composer = Composer(ROWS, seed=3)
    return [e for n in range(epochs) for e in composer.compose(of, epoch=n, place=9)]


def test_a_long_context_gives_the_sentences_that_bear_on_the_claim() -> None:
    """They fit, and the one that supports it is among them."""
    own = [e for e in composed(ROWS[-2]) if not e.made]

    assert all(SENTENCES[41] in e.premise for e in own)
    assert all(len(e.premise.split()) <= 100 for e in own)


def test_a_short_context_stays_whole_and_often_stands_among_foreign_passages() -> None:
    """Also in between its sentences, in either order."""
    own = [e.premise for e in composed(ROWS[-1]) if not e.made]

    assert all("The fee is 12 euros." in p and "It is due on 3 May." in p for p in own)
    assert 0.2 < sum("house" in p for p in own) / len(own) < 0.6
    assert any(p.index("It is due") < p.index("The fee is") for p in own)
    assert any(
        p.find("house", p.find("The fee is"), p.find("It is due")) > 0
        for p in own
        if p.index("The fee is") < p.index("It is due")
    )


def test_some_rows_bring_a_made_pair_of_every_kind() -> None:
    """Changed, said elsewhere, left out, and answers of several claims."""
    pairs = [e for e in composed(ROWS[-1], epochs=400) if e.made]

    assert {e.target for e in pairs} == {"e", "n", "c", "nc"}
    assert any(e.claim == ROWS[-1].claim and "fee" not in e.premise for e in pairs)
    assert any("fee" in e.claim and "house" in e.claim for e in pairs)
    assert any(e.claim in SENTENCES and e.claim not in e.premise for e in pairs)


def test_some_made_pairs_keep_to_the_wording() -> None:
    """A sentence as it stands beside another's value, a shorter one, and notices."""
    pairs = [e for e in composed(ROWS[-1], epochs=600) if e.made]

    assert any(e.claim in SENTENCES and e.claim in e.premise and e.target == "e" for e in pairs)
    assert any(
        any(len(e.claim) < len(s) and s.startswith(e.claim[:40]) for s in SENTENCES)
        for e in pairs
        if e.target == "e" and "house" in e.claim
    )
    assert any("house" not in e.premise and "fee is" not in e.premise for e in pairs)


@pytest.mark.parametrize("target", ["n", "c", "nc"])
def test_a_row_that_is_not_entailed_is_never_called_so(target: Target) -> None:
    """Whatever it stands among."""
    own = [e for e in composed(row(ROWS[-1].context, "It costs 13 euros.", target)) if not e.made]

    assert {e.target for e in own} == {target}


def test_examples_follow_from_seed_epoch_and_place() -> None:
    """So a run can go on anywhere."""
    one, two = Composer(ROWS, seed=3), Composer(ROWS, seed=3)
    late = [list(one.compose(r, epoch=4, place=n)) for n, r in enumerate(ROWS)][20:]

    assert late == [list(two.compose(r, epoch=4, place=n)) for n, r in enumerate(ROWS) if n >= 20]
    assert composed(ROWS[-1]) != [
        e for n in range(60) for e in Composer(ROWS, seed=4).compose(ROWS[-1], epoch=n, place=9)
    ]


def test_one_row_is_enough() -> None:
    """There may be nothing foreign to take."""
    alone = row(("The fee is 12 euros.",), "The fee is 12 euros.")
    composer = Composer([alone], seed=0)

    assert all(list(composer.compose(alone, epoch=n, place=0)) for n in range(50))


def test_a_claim_beside_another_context_is_not_entailed() -> None:
    """For fusion: the context that it came from is not the premise."""
    rows = [
        row((f"The {thing} costs {n} euros.",), f"A {thing} is {n} euros.")
        for n, thing in enumerate("tent lamp rope boat map stove axe bell".split(), start=3)
    ]
    own = {r.claim: r.context[0] for r in rows}
    moved = list(Composer(rows, seed=3).moved(40))

    assert moved
    assert {e.target for e in moved} == {"n"}
    assert all(own[e.claim] not in e.premise for e in moved)
    puzzles = [Row(context=r.context, claim=r.claim, target="e", dataset="snli") for r in rows]
    assert not list(Composer(puzzles, seed=3).moved(40))
