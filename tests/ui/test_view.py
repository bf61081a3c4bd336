"""Texts in pieces: what the page shows is what was written, whatever the spans are."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from faithguard._render import visible
from faithguard._render._record import record_sheet
from faithguard.ui._view import difference, pieces, record_view
from tests.ui.scene import faithful, mixed, repaired, rewritten, scored, watched, wordy

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


def test_what_became_of_an_answer_is_true() -> None:
    """Nothing was held back that was only scored or watched."""
    blocked = replace(mixed(), decision=replace(mixed().decision, action="block"))
    flagged = replace(faithful(), decision=replace(faithful().decision, action="flag"))
    mended = replace(repaired(), decision=replace(repaired().decision, action="repair"))
    became = {
        "held back": blocked,
        "not passed": scored(),
        "not passed, not held back": watched(),
        "passed": faithful(),
        "passed, flagged": flagged,
        "repaired": mended,
    }

    for word, record in became.items():
        assert record_view(1, record, ())["became"] == word
        assert word in record_sheet(record).about
    assert record_view(1, replace(faithful(), attempts=()), ())["became"] == "passed"


def test_names_of_whatever_length_are_cut() -> None:
    """And say so; texts of their own are whole."""
    view = record_view(1, wordy(), ())
    attempt = view["attempts"][0]
    names = [view["id"], *view["tags"], view["decision"]["domain"], *view["versions"].values()]
    names += [view["decision"]["reason"], attempt["claims"][0]["evidence"][0]["quote"]]
    names += [attempt["failures"][0]["message"], attempt["passages"][0]["source"]]
    names += [*view["timings"], *attempt["passages"][0]["metadata"]]

    assert all(len(name) < 700 and name.endswith("more characters") for name in names)
    assert view["question"] == "W" * 20_000
    assert attempt["passages"][0]["text"][0]["text"] == "W" * 20_000


def test_attempts_end_with_what_was_delivered() -> None:
    """A record may hold its last attempt, or only those before it."""
    record = rewritten()
    first, last = (record_view(1, record, ())["attempts"][n]["answer"] for n in (0, -1))

    assert first != last
    assert len(record_view(1, record, ())["attempts"]) == 2
    assert len(record_view(1, mixed(), ())["attempts"]) == 1
