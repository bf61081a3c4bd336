"""Texts in pieces: what the page shows is what was written, whatever the spans are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from faithguard._render import visible
from faithguard.ui._view import difference, pieces, record_view
from tests.ui.scene import mixed, rewritten

TEXTS = st.text(st.sampled_from("ab é\U0001f4da\u0634.\n "), max_size=40)
SPANS = st.lists(st.tuples(st.integers(-3, 45), st.integers(-3, 45)), max_size=6)


@given(TEXTS, SPANS)
def test_pieces_add_up_and_know_who_covers_them(text: str, spans: list[tuple[int, int]]) -> None:
    """Each character lies in one piece, under exactly the spans that hold it."""
    found = pieces(text, spans)

    assert "".join(piece for piece, _ in found) == text
    assert all(piece for piece, _ in found)
    place = 0
    for piece, covering in found:
        for at in range(place, place + len(piece)):
            holding = [n for n, (start, end) in enumerate(spans) if start <= at < end]
            assert list(covering) == holding
        place += len(piece)


@given(TEXTS, TEXTS)
def test_a_difference_holds_both_texts(before: str, after: str) -> None:
    """What was kept and taken out is the old one; what was kept and added, the new one."""
    found = difference(before, after)

    for text, kind in ((before, "out"), (after, "in")):
        kept = "".join(part["text"] for part in found if part["kind"] in ("kept", kind))
        assert kept == visible(text)


def test_a_difference_of_huge_texts_is_the_two() -> None:
    """No word is looked for in a book."""
    one, other = "a " * 20_000, "b " * 20_000

    assert difference(one, other) == [
        {"kind": "out", "text": one},
        {"kind": "in", "text": other},
    ]


def test_attempts_end_with_what_was_delivered() -> None:
    """A record may hold its last attempt, or only those before it."""
    record = rewritten()
    first, last = (record_view(1, record, ())["attempts"][n]["answer"] for n in (0, -1))

    assert first != last
    assert len(record_view(1, record, ())["attempts"]) == 2
    assert len(record_view(1, mixed(), ())["attempts"]) == 1
