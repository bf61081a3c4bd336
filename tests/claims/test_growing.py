"""Where the units of an answer end while it is still being written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard.claims import LocalClaims
from faithguard.claims._growing import GrowingAnswer, Unit

MOST = 400

EXAMPLES: dict[str, Sequence[str]] = {
    "sentences": ["The mill grinds rye.", " It stands by the brook.", " Visitors pay 4 EUR."],
    "abbreviations": [
        "It opens approx. 20 March.",
        " See No. 5 and e.g. the barn.",
        " Dr. Ek runs it.",
    ],
    "decimals": ["Flour costs 2.40 EUR a kg.", " Version 3.5 of the mill turns."],
    "citations": ["The mill grinds rye. [1]", " It is old.[2]", " It turns [3]."],
    "a link": ["See [the mill](https://mill.example/a.b).", " It is open."],
    "quotes": ['"It grinds rye."', " She said so."],
    "a quotation after it": ["The mill grinds rye.", ' "It turns," she said.', " It is old."],
    "marks after it": [
        "The mill grinds rye.",
        " `mill --start` turns it.",
        " “It turns,” he said.",
        " (It turns day and night, as you see.)",
        " It is old.",
    ],
    "an apostrophe after it": ["The mill grinds rye.", " 'It turns,' she said."],
    "spaced marks": ["Elle dit : « Le moulin tourne. »", " « Il est vieux », dit-il."],
    "sentences in quotes": ['"The mill grinds rye.', ' It turns."', " It is old."],
    "sentences in a report": ['He said: "It grinds rye.', ' It turns."', " We left."],
    "sentences in curly quotes": ["“The mill grinds rye.", " It turns.”", " It is old."],
    "sentences in low quotes": ["„The mill grinds rye.", " It turns.“", " It is old."],
    "sentences in angles": ["«The mill grinds rye.", " It turns.»", " It is old."],
    "sentences in single quotes": ["'The mill grinds rye.", " It turns.'", " It is old."],
    "sentences in brackets": ["(The mill grinds rye.", " It turns.)", " It is old."],
    "sentences in a link": [
        "[The mill grinds rye.",
        " It turns.](https://mill.example/a.b)",
        " It is old.",
    ],
    "lines": ["The mill grinds rye.", "\nThe barn stores hay.", "\n\nBoth are open."],
    "wrapped lines": [
        "The mill by the brook grinds rye and wheat on every second day of the working week,\n"
        "and oats on all the other days.",
        " It rests in winter.",
    ],
    "Windows lines": ["The mill grinds rye.", "\r\n\r\n- The barn stores hay", "\r\n- It is open"],
    "items": ["- The mill grinds rye", "\n- The barn stores hay", "\n  - It is dry there"],
    "numbered items": ["1. The mill grinds rye", "\n2. The barn stores hay."],
    "items in a sentence": ["Steps: 1. Open the gate.", " 2. Fill the hopper.", " 3. Wait."],
    "a lead-in": ["We sell:\n\n- rye for 2 EUR", "\n- oats for 3 EUR", "\n\nCome and see."],
    "headings": ["# The mill\n\n## Hours\n\nIt opens at 9.", "\n\n## Fees\n\nEntry is free."],
    "a bold title": ["**Hours**\n\nIt opens at 9.", "\n\nEntry is free."],
    "a table": [
        "Fees:\n\n| Who | Fee |\n|---|---|\n| Adults | 4 EUR |",
        "\n| Children | free |",
        "\n\nBring coins.",
    ],
    "code": ["Run it.", "\n\n```sh\nmill --start. Now\n\nmill --stop\n```", "\n\nIt turns."],
    "prose in a fence": ["```markdown\nThe mill grinds rye.", " It turns.\n```"],
    "a bare yes": ["Yes. The mill is open."],
    "Japanese": ["水車は粉をひきます。", "入場料は400円です。", "「静かです。」と彼は言った。"],
    "Chinese": ["磨坊每天开放。", "门票四元！", "欢迎光临。"],
    "JSON": ['{"answer": "It opens at 9. It is free.", "sure": true}'],
    "nothing": [],
    "white space": [" \n\n "],
}


def units(pieces: Sequence[str], most: int = MOST) -> list[Unit]:
    """Return the units of an answer that comes in these pieces."""
    growing = GrowingAnswer(most)

    def all_units() -> Iterator[Unit]:
        for piece in pieces:
            yield from growing.add(piece)
        if (rest := growing.rest()) is not None:
            yield rest

    return list(all_units())


@pytest.mark.parametrize("wanted", EXAMPLES.values(), ids=EXAMPLES)
def test_units(wanted: Sequence[str]) -> None:
    """Letter by letter and in one piece."""
    text = "".join(wanted)

    assert [unit.text for unit in units(list(text))] == list(wanted)
    assert [unit.text for unit in units([text])] == list(wanted)


@pytest.mark.parametrize("text", ["".join(some) for some in EXAMPLES.values()], ids=EXAMPLES)
def test_no_claim_of_the_whole_answer_is_divided(text: str) -> None:
    """Where a claim stands there is a unit that holds it."""
    ends: list[int] = []
    for unit in units([text]):
        ends.append(len(unit.text) + (ends[-1] if ends else 0))

    for claim in LocalClaims().extract(text):
        assert not [end for end in ends if claim.span[0] < end < claim.span[1]], claim


LEADS = {
    "We sell:\n\n- rye for 2 EUR\n- oats": "We sell:",
    "# The mill\n\nIt opens at 9. It": "# The mill",
    "## Fees\n\nWe sell:\n\n- rye\n- oats": "## Fees\n\nWe sell:",
    "| Who | Fee |\n|---|---|\n| Adults | 4 EUR |\n| Children ": "| Who | Fee |\n|---|---|",
    "- The mill grinds rye\n- It": "",
}


@pytest.mark.parametrize(("text", "lead"), LEADS.items(), ids=LEADS.values())
def test_what_leads_to_a_unit_is_told_apart(text: str, lead: str) -> None:
    """It stays for the next one where the unit itself is left out."""
    first = next(iter(units([text])))

    assert first.text[: first.lead] == lead


def test_a_unit_is_over_before_the_answer_is() -> None:
    """Once the next word is there."""
    growing = GrowingAnswer(MOST)

    assert list(growing.add("The mill grinds rye. ")) == []
    assert list(growing.add("It")) == []
    assert [unit.text for unit in growing.add(" ")] == ["The mill grinds rye."]
    assert growing.held == " It "


PAUSES: dict[str, tuple[str, str]] = {
    "a sentence": ("The mill grinds rye.", ""),
    "a number": ("Entry is 4.", ""),
    "a paragraph": ("The mill grinds rye.\n\n", "\n\n"),
    "a cited one": ("The mill grinds rye. [1]", ""),
    "a quoted one": ('She said: "It grinds rye."', ""),
    "the beginning of another": ("The mill grinds rye. It", " It"),
    "the beginning of a quotation": ('The mill grinds rye. "', ' "'),
    "a bare yes": ("Yes.", ""),
    "a question": ("Is it open?", ""),
    "under a heading": ("# Hours\n\nIt opens at 9.", ""),
    "an item before another": ("- rye for 2 EUR\n- oats", "\n- oats"),
    "the last item": ("- rye for 2 EUR\n\n", "\n\n"),
    "a row": ("| Who | Fee |\n|---|---|\n| Adults | 4 EUR |\n", "\n"),
    "code": ("```sh\nmill --start\n```", ""),
    "Chinese": ("磨坊每天开放。", ""),
    "JSON": ('{"answer": "It opens at 9."}', ""),
}


@pytest.mark.parametrize(("text", "held"), PAUSES.values(), ids=PAUSES)
def test_what_has_ended_in_a_pause_is_a_unit(text: str, held: str) -> None:
    """For all that can be seen; what begins after it is held on."""
    growing = GrowingAnswer(MOST)
    assert list(growing.add(text)) == []

    unit = growing.paused()

    assert unit is not None
    assert unit.whole
    assert (unit.text, growing.held) == (text.removesuffix(held), held)
    assert growing.paused() is None


@pytest.mark.parametrize(
    "text",
    [
        "The mill grinds",
        "It opens approx.",
        "We sell:\n\n",
        "We sell:\n\n- rye",
        "- rye for 2 EUR\n",
        "# Hours\n\n",
        "| Who | Fee |\n|---|---|\n",
        "| Who | Fee |\n|---|---|\n| Adults | 4",
        "```sh\nmill --start.\n",
        '{"answer": "It opens at 9. ',
        "See [the mill](https://mill.",
    ],
)
def test_what_has_not_ended_in_a_pause_is_none(text: str) -> None:
    """It goes on being held."""
    growing = GrowingAnswer(MOST)
    assert list(growing.add(text)) == []

    assert growing.paused() is None
    assert growing.held == text


def test_a_unit_without_end_is_cut() -> None:
    """At the same place however the text comes."""
    text = "and so on " * 100

    cut = units([text], 64)

    assert [len(unit.text) for unit in cut[:2]] == [64, 64]
    assert [unit.whole for unit in cut] == [False] * (len(cut) - 1) + [True]
    assert units(list(text), 64) == cut


PIECES = st.one_of(
    st.sampled_from("abZ09.!?:;-–|#*_`~[]()\"'「」。！？、 \n\r"),
    st.sampled_from(["\n\n", "\r\n", "```", "```py\n", "~~~\n", "- ", "1. ", "# ", "> "]),
    st.sampled_from(["| a | b |\n", "|---|---|\n", "[1]", "[x](y)", " [", "【", "{", '"k": ']),
    st.sampled_from(["The ", "It", " is ", "approx. ", "Dr. ", "No. ", "3.5", ".The ", "..."]),
    st.sampled_from(["水車", "です", "と", "\ud800", "é", "Yes. ", "**", "a" * 70]),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(PIECES, max_size=60), st.lists(st.integers(0, 1000), max_size=30))
def test_units_do_not_depend_on_how_a_text_is_cut(parts: list[str], places: list[int]) -> None:
    """Any text, any cuts: the same units, whose texts make the text."""
    text = "".join(parts)
    whole = units([text])

    cuts = sorted(place * len(text) // 1000 for place in places)
    pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    assert "".join(unit.text for unit in whole) == text
    assert units(pieces) == whole == units(list(text))
    assert max((len(unit.text) for unit in whole), default=0) <= MOST


@settings(deadline=None, max_examples=200)
@given(st.lists(PIECES, max_size=60), st.sets(st.integers(0, 1000), max_size=8))
def test_no_pause_loses_or_doubles_a_byte(parts: list[str], places: set[int]) -> None:
    """Wherever it falls; without one in the middle of it, the text after it is divided as ever."""
    text = "".join(parts)
    cuts = sorted(place * len(text) // 1000 for place in places)
    growing, found = GrowingAnswer(MOST), list[Unit]()
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += growing.add(text[begin:end])
        while (unit := growing.paused()) is not None:
            found.append(unit)
    if (rest := growing.rest()) is not None:
        found.append(rest)

    assert "".join(unit.text for unit in found) == text
    assert all(unit.text and 0 <= unit.lead <= len(unit.text) <= MOST for unit in found)
