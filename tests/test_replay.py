"""Asking again only whoever wrote what failed; and what a text is less what was said elsewhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithguard._provenance import Said, without
from faithguard.replay import Replay

HOURS = "The harbour museum opens at nine on weekdays and at ten on Sundays."
FARE = "The ferry to the island costs four crowns for a child."
LIE = "The captain keeps a tame walrus in the cellar of the museum."
FIRST, SECOND, SEARCH = (0, "first"), (1, "second"), (2, "search")


def failed(*kept: tuple[tuple[int, str], str], answer: str, wrong: list[str]) -> Replay:
    """Return a replay in which models wrote texts, and the answer did not pass."""
    replay = Replay()
    for key, text in kept:
        replay.keep(key, text.upper(), text)
    replay.ask_again(answer, wrong, "Say it again.")
    return replay


def asked_again(replay: Replay, *keys: tuple[int, str]) -> list[tuple[int, str]]:
    """Return those of some model calls that are made again."""
    return [key for key in keys if replay.turns(key, model=True) is not None]


# -- who is asked again -----------------------------------------------------------------------


def test_before_an_attempt_has_failed_every_call_is_made() -> None:
    """Nothing is added to its prompt, and nothing is given back, also not to an equal call."""
    replay = Replay()
    assert replay.turns(FIRST, model=True) == []
    replay.keep(FIRST, "output", "text")
    assert replay.turns(FIRST, model=True) == []
    assert replay.turns(SEARCH, model=False) == []


def test_keep_hands_the_output_on() -> None:
    """What was kept comes back, the last where a call was made twice."""
    replay = Replay()
    assert replay.keep(FIRST, [1], "one") == [1]
    assert replay.keep(FIRST, [2], "two") == [2]
    assert replay.kept(FIRST) == [2]


def test_only_the_writer_of_what_failed_is_asked_again() -> None:
    """Others give back what they wrote, and so do retrievers and tools."""
    replay = failed((FIRST, HOURS), (SECOND, LIE), answer=f"{HOURS} {LIE}", wrong=[LIE])
    replay.keep(SEARCH, "nodes")
    assert asked_again(replay, FIRST, SECOND) == [SECOND]
    assert replay.turns(SECOND, model=True) == [(LIE, "Say it again.")]
    assert replay.kept(FIRST) == HOURS.upper()
    assert replay.turns(SEARCH, model=False) is None


def test_each_writer_of_something_that_failed_is_asked_again() -> None:
    """Who wrote it, and who took it over."""
    replay = failed((FIRST, LIE), (SECOND, f"Yes. {LIE}"), answer=f"Yes. {LIE}", wrong=[LIE])
    assert asked_again(replay, FIRST, SECOND) == [FIRST, SECOND]
    assert replay.turns(FIRST, model=True) == [(LIE, "Say it again.")]


def test_a_retriever_that_was_not_asked_before_is_asked_plainly() -> None:
    """Feedback is for models only."""
    replay = failed((FIRST, LIE), answer=LIE, wrong=[LIE])
    assert replay.turns(SEARCH, model=False) == []


def test_a_model_that_gets_another_prompt_is_told_of_the_answer() -> None:
    """Its prompt holds what is being written again, so it was not made before."""
    replay = failed((FIRST, LIE), answer=f"Well: {LIE}", wrong=[LIE])
    assert replay.turns((1, "new"), model=True) == [(f"Well: {LIE}", "Say it again.")]


CHANGED: dict[str, tuple[str, list[str]]] = {
    "the answer is a part of the text": (HOURS, ["opens at noon"]),
    "the text is a part of the answer": (f"Response 1: {FARE} {HOURS}", ["opens at noon"]),
    "no stretch is known": (HOURS, []),
    "blank stretches": (HOURS, ["", " \n"]),
}


@pytest.mark.parametrize("name", CHANGED)
def test_where_nobody_wrote_the_stretch_the_nearest_is_asked(name: str) -> None:
    """The last whose text is in the answer, or the answer in it."""
    answer, wrong = CHANGED[name]
    replay = failed((FIRST, HOURS), (SECOND, "Nothing."), answer=answer, wrong=wrong)
    assert asked_again(replay, FIRST, SECOND) == [FIRST]


def test_where_nothing_is_near_the_last_is_asked() -> None:
    """An answer that a parser has made anew."""
    replay = failed((FIRST, HOURS), (SECOND, FARE), answer="[4]", wrong=["[4]"])
    assert asked_again(replay, FIRST, SECOND) == [SECOND]


def test_a_model_that_wrote_nothing_is_not_taken_for_the_writer() -> None:
    """The empty text stands in every answer."""
    replay = failed((FIRST, HOURS), (SECOND, ""), answer=HOURS, wrong=["no such words"])
    assert asked_again(replay, FIRST, SECOND) == [FIRST]


def test_without_any_model_nothing_is_asked_again() -> None:
    """What no model wrote cannot be written anew; nothing raises."""
    replay = Replay()
    replay.keep(SEARCH, "nodes")
    replay.ask_again(HOURS, [HOURS], "Say it again.")
    assert replay.turns(SEARCH, model=False) is None


def test_each_attempt_adds_a_turn() -> None:
    """A model hears of all that failed, in order, each with the text that it wrote then."""
    replay = failed((FIRST, "One."), answer="One.", wrong=["One."])
    replay.keep(FIRST, "TWO", "Two.")
    replay.ask_again("Two.", ["Two."], "And again.")
    assert replay.turns(FIRST, model=True) == [("One.", "Say it again."), ("Two.", "And again.")]


def test_who_has_mended_is_not_asked_a_third_time() -> None:
    """After the second attempt only those who failed in it are asked."""
    replay = failed((FIRST, LIE), (SECOND, HOURS), answer=f"{LIE} {HOURS}", wrong=[LIE])
    replay.keep(FIRST, FARE.upper(), FARE)
    replay.ask_again(f"{FARE} {HOURS}", [HOURS], "And again.")
    assert asked_again(replay, FIRST, SECOND) == [SECOND]
    assert replay.kept(FIRST) == FARE.upper()


@given(
    texts=st.lists(st.sampled_from([HOURS, FARE, LIE, "", "Yes."]), min_size=1, max_size=5),
    wrong=st.lists(st.sampled_from([LIE, "nowhere", " "]), max_size=2),
)
def test_somebody_is_always_asked_again(texts: list[str], wrong: list[str]) -> None:
    """Else an attempt would be the one before, answer and all."""
    keys = [(place, "") for place in range(len(texts))]
    kept = zip(keys, texts, strict=True)
    assert asked_again(failed(*kept, answer=" ".join(texts), wrong=wrong), *keys)


# -- what is a text's own, beside what was brought --------------------------------------------


def less(text: str, *written: str, brought: str | None = None) -> str:
    """Return a text less what was written, on one line."""
    said = None if brought is None else Said([brought])
    return " ".join(without(text, (), written=written, brought=said).split())


def test_what_a_model_wrote_is_taken_out() -> None:
    """Where it stands by itself, though a passage says the same."""
    assert less(f"Notes: {HOURS} {LIE}", LIE) == f"Notes: {HOURS}"
    assert less(f"Notes: {LIE}", LIE, brought=LIE) == "Notes:"


def test_what_stands_inside_of_what_was_brought_stays() -> None:
    """A model that wrote a sentence of a passage has not written the passage."""
    passage = f"{HOURS} {FARE}"
    assert less(f"Context: {passage}", HOURS, brought=passage) == f"Context: {passage}"
    assert less(f"Context: {passage}", HOURS) == f"Context: {FARE}".replace(": ", ": ")


def test_the_same_words_outside_of_it_are_taken() -> None:
    """Of two places, the one that is not the passage's."""
    passage = f"{HOURS} {FARE}"
    text = f"Earlier: {HOURS} Context: {passage}"
    assert less(text, HOURS, brought=passage) == f"Earlier: Context: {passage}"
    text = f"Context: {passage} Earlier: {HOURS}"
    assert less(text, HOURS, brought=passage) == f"Context: {passage} Earlier:"


def test_words_in_another_order_are_not_what_was_brought() -> None:
    """Only a stretch of six words in a row, or a sentence, is known as a passage's."""
    assert less(f"{LIE} Tail.", LIE, brought=" ".join(reversed(LIE.split()))) == "Tail."


def test_runs_that_a_model_took_from_elsewhere_stay_inside_of_it() -> None:
    """Six shared words are a model's only where no longer stretch was brought."""
    passage = f"{HOURS} {FARE}"
    wrote = "I think the ferry to the island costs four crowns, more or less."
    assert less(f"Context: {passage}", wrote, brought=passage) == f"Context: {passage}"
    assert "island" not in less(f"Context: {passage}", wrote)


WORDS = "boat pier fish nets crew deck mast sail rope tide gull bell lamp oars".split()


@st.composite
def passages(draw: st.DrawFn) -> str:
    """Make a text of sentences in which no word stands twice."""
    words = draw(st.permutations(WORDS))
    ends = {*draw(st.sets(st.sampled_from([3, 5, 8, 11]))), len(words)}
    return " ".join(word + "." * (place in ends) for place, word in enumerate(words, start=1))


def words_of(text: str) -> list[str]:
    """Return the words of a text."""
    return re.findall(r"\w+", text)


@given(text=passages(), written=st.lists(passages(), max_size=3))
def test_what_is_left_is_of_the_text(text: str, written: list[str]) -> None:
    """In order, and nothing else, whatever was brought."""
    for brought in (None, Said([text])):
        rest = iter(words_of(text))
        left = words_of(without(text, (), written=written, brought=brought))
        assert all(word in rest for word in left)


@given(passage=passages(), start=st.integers(0, 13), length=st.integers(1, 13))
def test_a_passage_loses_nothing_to_a_part_of_it(passage: str, start: int, length: int) -> None:
    """Whatever part of it a model wrote, too; what is equal to it is no part."""
    words = words_of(passage)
    part = words[start : start + length]
    left = without(passage, (), written=[" ".join(part)], brought=Said([passage]))
    assert words_of(left) == words
    assert words_of(without(passage, (), written=[passage], brought=Said([passage]))) == []


@given(whole=passages())
def test_a_text_that_a_model_wrote_is_gone(whole: str) -> None:
    """Every copy of it, where each is asked for."""
    assert words_of(without(f"{whole}\n{whole}", (), written=[whole], every=True)) == []


@given(words=st.lists(st.sampled_from(["boat", "pier", "fish"]), min_size=1, max_size=7))
def test_short_texts_are_found_within_a_line(words: list[str]) -> None:
    """Fewer than six words stand in another text if they stand there in a row."""
    said = Said([f"Result of the query: {' '.join(words)}, as the table says."])
    assert said.hold_all(" ".join(words)) is (len(words) < 6)
    assert not said.hold_all("boat result")
    assert not said.hold_all("")
