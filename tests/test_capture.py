"""What a run tree's events make of an exchange, and what counts as evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from faithguard.capture import Assembler, Message, Trace, handed_in, new_id, passages_of
from faithguard.errors import CaptureError
from faithguard.testing import Clock
from faithguard.types import Exchange, Passage

OVEN = "The baker lights the oven at four each morning and bakes rye bread until noon."
MILL = "The mill grinds spelt on Tuesdays and is closed to visitors during the flood season."


def fetched(
    *texts: str, prompt: str | None = None, role: Any = "system", origin: Any = "retriever"
) -> Exchange:
    """Return the exchange of one retrieval and one model call."""
    trace = Trace()
    trace.retrieved("r", [Passage(text=text, origin=origin) for text in texts])
    if prompt is not None:
        trace.prompted([Message(role, prompt)])
    return trace.exchange("An answer.")


def evidence(exchange: Exchange) -> list[str]:
    """Return the texts that may serve as evidence."""
    return [passage.text for passage in exchange.passages if passage.seen]


def hidden(exchange: Exchange) -> list[str]:
    """Return the texts that never reached a prompt."""
    return [passage.text for passage in exchange.passages if not passage.seen]


# What a caller passes as context --------------------------------------------------------------


@dataclass
class Document:
    """A framework's document."""

    page_content: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Node:
    """A framework's node, with its text behind a method."""

    def __init__(self, text: str, **metadata: Any) -> None:
        self._text = text
        self.metadata = metadata

    def get_content(self, metadata_mode: str = "none") -> str:
        """Return the text."""
        return self._text


def generated() -> Iterator[str]:
    """Yield context lazily."""
    yield OVEN
    yield MILL


@pytest.mark.parametrize(
    ("context", "texts"),
    [
        (OVEN, [OVEN]),
        ([OVEN, MILL], [OVEN, MILL]),
        ((OVEN,), [OVEN]),
        (generated(), [OVEN, MILL]),
        (Document(OVEN), [OVEN]),
        ([Document(OVEN), MILL, Node(MILL)], [OVEN, MILL, MILL]),
        (Node(OVEN), [OVEN]),
        (SimpleNamespace(node=Node(OVEN), score=0.4), [OVEN]),
        (SimpleNamespace(text=OVEN), [OVEN]),
        ({"text": OVEN}, [OVEN]),
        ([{"page_content": OVEN}, {"content": MILL, "score": 1}], [OVEN, MILL]),
        (Passage(text=OVEN), [OVEN]),
        ([Passage(text=OVEN, seen=False)], [OVEN]),
        ([(Document(OVEN), 0.41), (Document(MILL), 1)], [OVEN, MILL]),
        ([(Node(OVEN), 0.41), (MILL, 0.2)], [OVEN, MILL]),
        ([], []),
        ("", [""]),
    ],
    ids=[
        "str",
        "list",
        "tuple",
        "generator",
        "document",
        "mixed",
        "node",
        "node-with-score",
        "text-attribute",
        "dict",
        "dicts",
        "passage",
        "passages",
        "documents-with-scores",
        "nodes-and-texts-with-scores",
        "empty-list",
        "empty-str",
    ],
)
def test_context_is_read_in_every_form(context: Any, texts: list[str]) -> None:
    """Strings, documents, nodes, mappings, passages, and any iterable of them."""
    assert [passage.text for passage in passages_of(context)] == texts


def test_a_passage_is_taken_as_it_is() -> None:
    """The caller's own marks win over the fields that a framework's adapter adds."""
    mine = Passage(text=OVEN, seen=False, origin="tool", hop=3)

    assert passages_of([mine, MILL], origin="retriever")[0] is mine
    assert passages_of([mine, MILL], origin="retriever")[1].origin == "retriever"


@pytest.mark.parametrize(
    ("metadata", "source"),
    [
        ({"source": "oven.md", "id": 7}, "oven.md"),
        ({"file_name": "mill.pdf"}, "mill.pdf"),
        ({"url": "https://example.org"}, "https://example.org"),
        ({"id": 7}, "7"),
        ({"source": None}, None),
        ({}, None),
    ],
)
def test_the_source_comes_from_the_metadata(metadata: dict[str, Any], source: str | None) -> None:
    """Under the names that loaders give it; the rest of the metadata is kept."""
    (document,) = passages_of(Document(OVEN, metadata))
    (mapping,) = passages_of({"text": OVEN, "metadata": metadata})

    assert document.source == mapping.source == source
    assert document.metadata == metadata


@pytest.mark.parametrize(
    ("context", "named"),
    [
        (None, "NoneType"),
        (17, "int"),
        (b"bytes", "bytes"),
        (Path("oven.md"), "PosixPath"),
        (object(), "object"),
        ([OVEN, 17], "int"),
        ([None], "NoneType"),
        ([[OVEN]], "list"),
        ([(OVEN, MILL)], "tuple"),
        ([(Document(OVEN), 0.5, 1)], "tuple"),
        ([(0.5, 0.5)], "float"),
        ({"body": OVEN}, "dict"),
        ([Document(17)], "Document"),  # type: ignore[arg-type]
        ([b"bytes"], "bytes"),
    ],
)
def test_what_has_no_text_is_refused_by_its_type(context: Any, named: str) -> None:
    """The message names the type and what to pass instead, and shows no content."""
    with pytest.raises(CaptureError, match=rf"of type {named}\b.*pass") as caught:
        passages_of(context)

    assert "oven" not in str(caught.value).lower()


def test_ids_are_fresh() -> None:
    """No two exchanges share an id."""
    assert len({new_id() for _ in range(1_000)}) == 1_000


# The run tree ---------------------------------------------------------------------------------


def test_runs_of_one_tree_share_a_trace() -> None:
    """Children, and their children, belong to the root that they hang on."""
    runs = Assembler()
    trace = runs.start("root", None, "chain")

    assert runs.start("child", "root", "chain") is trace
    assert runs.start("leaf", "child", "model") is trace
    assert runs.trace("leaf") is trace
    assert runs.is_root("root")
    assert not runs.is_root("leaf")


def test_two_trees_do_not_mix() -> None:
    """State is keyed by run, however their events alternate."""
    runs = Assembler()
    for name, text in (("a", OVEN), ("b", MILL)):
        runs.start(name, None, "chain")
        runs.start(f"{name}-get", name, "retriever").retrieved(f"{name}-get", [Passage(text=text)])
    for name in ("a", "b"):
        runs.start(f"{name}-write", name, "model").wrote(f"From {name}.")

    first, second = runs.end("a"), runs.end("b")

    assert first is not None
    assert second is not None
    assert [p.text for p in first.exchange("x").passages] == [OVEN]
    assert [p.text for p in second.exchange("x").passages] == [MILL]
    assert (first.answer, second.answer) == ("From a.", "From b.")


def test_many_threads_do_not_mix() -> None:
    """Two hundred trees over eight threads, none with another's passage, nothing left."""
    runs = Assembler()

    def tree(number: int) -> list[str]:
        root = f"root{number}"
        runs.start(root, None, "chain")
        for hop in range(3):
            run = f"{root}-{hop}"
            runs.start(run, root, "retriever").retrieved(run, [Passage(text=f"{number}.{hop}")])
        trace = runs.end(root)
        assert trace is not None
        return [passage.text for passage in trace.exchange("x").passages]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(tree, range(200)))

    assert found == [[f"{n}.{hop}" for hop in range(3)] for n in range(200)]
    assert len(runs) == 0


def test_a_run_under_an_unknown_parent_is_a_root() -> None:
    """A callback that is attached to a part of a chain sees only that part."""
    runs = Assembler()
    runs.start("part", "never-seen", "chain")

    assert runs.is_root("part")
    assert runs.end("part") is not None


def test_an_event_that_is_told_twice_is_noted_once() -> None:
    """Two managers may tell the same handler of one run."""
    runs = Assembler()
    trace = runs.start("root", None, "chain")
    for _ in range(2):
        runs.start("call", "root", "model")

    assert trace.models == 1
    assert runs.start("root", None, "chain") is trace


def test_the_end_of_the_root_drops_everything() -> None:
    """Nothing of a tree is left when its root ends; ending it again is harmless."""
    runs = Assembler()
    runs.start("root", None, "chain")
    runs.start("child", "root", "chain")

    assert runs.end("child") is None
    assert runs.end("never-seen") is None
    assert len(runs) == 3
    assert runs.end("root") is not None
    assert runs.end("root") is None
    assert len(runs) == 0
    assert runs.trace("child") is None


def test_a_late_child_of_an_ended_tree_leaves_nothing() -> None:
    """A thread that goes on after its root's end starts no tree of its own."""
    runs = Assembler()
    runs.start("root", None, "chain")
    runs.end("root")
    runs.start("late", "root", "model")

    assert len(runs) == 0
    assert runs.end("late") is None


def test_a_tree_that_never_ends_leaves_by_its_age() -> None:
    """A cancelled call tells nobody; what is old is dropped when the next run starts."""
    clock = Clock()
    runs = Assembler(max_age=60.0, clock=clock)
    runs.start("lost", None, "chain")
    runs.start("lost-child", "lost", "model")
    clock.pass_(30.0)
    runs.start("young", None, "chain")
    clock.pass_(31.0)
    runs.start("new", None, "chain")

    assert runs.trace("lost") is None
    assert runs.trace("lost-child") is None
    assert runs.trace("young") is not None
    assert len(runs) == 4


def test_too_many_trees_push_out_the_oldest() -> None:
    """However many runs never end, no more than `max_runs` trees are held."""
    runs = Assembler(max_runs=10)
    for number in range(1_000):
        runs.start(f"root{number}", None, "chain")
        runs.start(f"root{number}-call", f"root{number}", "model")

    assert len(runs) <= 30  # of ten trees: the tree, its root and its child
    assert runs.trace("root0") is None
    assert runs.trace("root999") is not None


def test_a_child_pushes_nobody_out() -> None:
    """As many trees as are allowed can go on side by side: a child is no further tree."""
    runs = Assembler(max_runs=2)
    runs.start("a", None, "chain")
    runs.start("b", None, "chain")
    runs.start("b-call", "b", "model")

    assert runs.trace("a") is not None


def test_the_time_of_day_is_an_argument() -> None:
    """A test can repeat a run."""
    noon = datetime(2024, 5, 6, 12, tzinfo=UTC)

    assert Assembler(now=lambda: noon).start("r", None, "chain").started_at == noon


# Passages -------------------------------------------------------------------------------------


def test_a_passage_in_the_prompt_is_evidence() -> None:
    """Retrieved text that the model saw; the rest of what was retrieved is marked unseen."""
    exchange = fetched(OVEN, MILL, prompt=f"Answer from this: {OVEN} Be brief.")

    assert evidence(exchange) == [OVEN]
    assert hidden(exchange) == [MILL]
    assert exchange.context_source == "retrieval"


def test_a_template_may_change_layout_and_case() -> None:
    """Line breaks, bullets and capitals around the same words do not hide a passage."""
    shouted = "- " + OVEN.upper().replace(" ", "\n  ")

    assert evidence(fetched(OVEN, prompt=shouted)) == [OVEN]


def test_only_the_part_before_the_cut_is_evidence() -> None:
    """A passage that a budget cut short is split where the prompt ends."""
    text = OVEN + " " + MILL
    exchange = fetched(text, prompt="Context: " + text[: text.index("spelt")])

    assert evidence(exchange) == [OVEN + " The mill grinds"]
    assert "spelt on Tuesdays" in "".join(hidden(exchange))
    assert "rye bread" not in "".join(hidden(exchange))


def test_a_cut_inside_a_number_hides_the_number() -> None:
    """A model that saw "25" of "2500" did not see 2500."""
    text = "The permit for a stall on the autumn market costs 2500 crowns for the season."
    exchange = fetched(text, prompt=text[: text.index("00 crowns")])

    assert "2500" not in " ".join(evidence(exchange))
    assert "2500" in " ".join(hidden(exchange))


def test_both_ends_of_a_passage_may_be_missing() -> None:
    """What a trimmer took from the middle is evidence, and nothing around it."""
    text = f"Preface words that nobody will ever get to read here. {OVEN} {MILL}"
    exchange = fetched(text, prompt=f"<doc>{OVEN}</doc>")

    assert [piece.strip() for piece in evidence(exchange)] == [OVEN[:-1]]
    assert len(hidden(exchange)) == 2


def test_pieces_of_a_passage_keep_its_words() -> None:
    """Splitting loses no word and invents none."""
    text = f"{MILL} {OVEN} {MILL[::-1]}"
    exchange = fetched(text, prompt=OVEN)

    pieces = " ".join(passage.text for passage in exchange.passages)
    assert re.findall(r"\w+", pieces) == re.findall(r"\w+", text)


def test_a_few_shared_words_are_not_a_passage() -> None:
    """A prompt that is about the same thing does not hold the passage."""
    assert evidence(fetched(OVEN, prompt="When does the baker light the oven?")) == []


def test_without_a_model_call_everything_fetched_counts() -> None:
    """A handler on a retriever alone cannot know the prompt."""
    assert evidence(fetched(OVEN, MILL)) == [OVEN, MILL]


def test_blank_passages_are_left_out() -> None:
    """An empty page is neither evidence nor lost."""
    assert fetched("  \n", OVEN, prompt=OVEN).passages[0].text == OVEN


def test_a_passage_that_comes_twice_is_kept_once() -> None:
    """Two hops may fetch the same text; the first keeps its place and its hop."""
    trace = Trace()
    trace.retrieved("one", [Passage(text=OVEN), Passage(text=MILL)])
    trace.started("call", None, "model")
    trace.retrieved("two", [Passage(text=OVEN)])

    assert sorted((p.text, p.hop) for p in trace.exchange("x").passages) == [(OVEN, 0), (MILL, 0)]


def test_hops_count_the_model_calls_before() -> None:
    """A second retrieval, after the model asked for it, is hop one."""
    runs = Assembler()
    trace = runs.start("agent", None, "chain")
    runs.start("get1", "agent", "retriever")
    trace.retrieved("get1", [Passage(text=OVEN, origin="retriever")])
    runs.start("think", "agent", "model")
    trace.prompted([Message("system", OVEN)])
    runs.start("get2", "agent", "tool")
    trace.retrieved("get2", [Passage(text=MILL, origin="tool")])
    runs.start("write", "agent", "model")
    trace.prompted([Message("system", OVEN), Message("tool", MILL)])

    found = trace.exchange("x").passages

    assert [(p.hop, p.origin, p.seen) for p in found] == [
        (0, "retriever", True),
        (1, "tool", True),
    ]


@pytest.mark.parametrize("depth", [1, 3])
def test_what_a_model_wrote_inside_a_tool_is_no_evidence(depth: int) -> None:
    """A sub-agent's summary comes back as a tool's result, but a model made it."""
    runs = Assembler()
    trace = runs.start("root", None, "chain")
    runs.start("tool", "root", "tool")
    parent = "tool"
    for level in range(depth):
        runs.start(f"inner{level}", parent, "chain" if level < depth - 1 else "model")
        parent = f"inner{level}"
    trace.retrieved("tool", [Passage(text=MILL, origin="tool")])
    runs.start("plain", "root", "tool")
    trace.retrieved("plain", [Passage(text=OVEN, origin="tool")])
    runs.start("write", "root", "model")
    trace.prompted([Message("tool", MILL), Message("tool", OVEN)])

    assert [p.text for p in trace.exchange("x").passages] == [OVEN]


def test_what_an_assistant_said_does_not_make_a_passage_seen() -> None:
    """An earlier answer that repeats a passage is no prompt that shows it."""
    trace = Trace()
    trace.retrieved("r", [Passage(text=OVEN)])
    trace.prompted([Message("system", "Be kind."), Message("assistant", OVEN)])

    assert evidence(trace.exchange("x")) == []


@pytest.mark.parametrize("ascii_only", [False, True], ids=["utf-8", "escaped"])
@pytest.mark.parametrize(
    "text",
    [
        'The sign says "no dogs"\nand the gate opens at ten for all the other guests.',
        "Die Mühle öffnet für Gäste täglich um zehn und schließt über die Mittagszeit früher.",
        "面包房每天早上六点开门，下午三点关门，星期一休息。",
        "Le café près de la forêt est fermé à Noël et rouvre à l'été après les fêtes.",
    ],
    ids=["quotes", "german", "chinese", "french"],
)
def test_context_that_was_dumped_as_json_is_seen(text: str, ascii_only: bool) -> None:
    """`json.dumps(docs)` in a prompt escapes quotes, line breaks and letters."""
    prompt = "Context: " + json.dumps([{"text": text}], ensure_ascii=ascii_only)

    assert evidence(fetched(text, MILL, prompt=prompt)) == [text]


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        (
            'Set the option sep="\\t" before the reader opens a tab-separated file.',
            'Context: Set the option sep="\\t" before the reader opens a tab-separated file.',
        ),
        (
            "The R&D team meets in the smaller hall of the old mill on Fridays.",
            "<doc>The R&amp;D team meets in the smaller hall of the old mill on Fridays.</doc>",
        ),
    ],
    ids=["backslash", "xml"],
)
def test_characters_that_look_like_escapes_are_seen(text: str, prompt: str) -> None:
    """A passage about code or with an ampersand is whole in a prompt that holds it."""
    assert evidence(fetched(text, prompt=prompt)) == [text]


def test_a_text_without_spaces_is_cut_by_its_characters() -> None:
    """Chinese and Japanese passages are seen and cut like others."""
    text = "面包房每天早上六点开门，下午三点关门。磨坊星期二碾磨斯佩尔特小麦，洪水季节不接待游客。"
    exchange = fetched(text, prompt="资料：" + text[:30])

    assert evidence(exchange)[0].startswith("面包房每天早上六点开门，下午三点关门")
    assert "游客" not in "".join(evidence(exchange))
    assert "游客" in "".join(hidden(exchange))


# The question ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "question"),
    [
        ("When is the mill open?", "When is the mill open?"),
        ({"question": "When?", "lang": "en"}, "When?"),
        ({"input": "When?"}, "When?"),
        ({"query": "When?"}, "When?"),
        ({"messages": [Message("user", "Old?"), Message("user", "When?")]}, "When?"),
        ([Message("user", "When?"), Message("assistant", "At ten.")], "When?"),
        ({"messages": [Message("system", "Be kind.")]}, None),
        ({}, None),
        (None, None),
        ("", None),
    ],
)
def test_the_question_is_what_the_root_was_asked(inputs: Any, question: str | None) -> None:
    """Under the usual names, the last user message of a list."""
    trace = Trace(inputs=inputs)

    assert trace.question() == question


def test_the_question_falls_back_to_the_retrieval_and_the_prompt() -> None:
    """Where the root's input tells none."""
    asked = Trace(query="mill hours")
    prompted = Trace()
    prompted.prompted([Message("user", "First?"), Message("user", "Last?")])

    assert asked.question() == "mill hours"
    assert prompted.question() == "Last?"
    assert prompted.exchange("x", question="Mine?").question == "Mine?"


def test_the_exchange_carries_what_the_trace_knows() -> None:
    """Domain, tags, time, and how the model stopped."""
    trace = Trace(domain="legal", tags=("beta",), started_at=datetime(2024, 1, 1, tzinfo=UTC))
    trace.wrote("Cut off in the mid", "length")
    exchange = trace.exchange(trace.answer or "", id="mine")

    assert (exchange.id, exchange.domain, exchange.tags) == ("mine", "legal", ("beta",))
    assert exchange.finish_reason == "length"
    assert exchange.started_at == trace.started_at
    assert exchange.context_source == "none"


# The prompt, where nothing was fetched --------------------------------------------------------

ASSERTED = "Visitors may bring their own flour"


def prompted(inputs: Any, *messages: Message, wrote: tuple[str, ...] = ()) -> Exchange:
    """Return the exchange of a chain that puts its context into the prompt itself."""
    trace = Trace(inputs=inputs)
    for text in wrote:
        trace.wrote(text)
    trace.prompted(messages)
    return trace.exchange("An answer.")


def test_the_prompt_serves_where_nothing_was_fetched() -> None:
    """The system's text and a template around the question; the report says so."""
    exchange = prompted(
        {"question": "When does the oven start?"},
        Message("system", OVEN),
        Message("user", f"Use this: {MILL}\nQuestion: When does the oven start?"),
    )

    assert exchange.context_source == "prompt"
    assert {p.origin for p in exchange.passages} == {"prompt"}
    assert OVEN in evidence(exchange)
    assert any(MILL in text for text in evidence(exchange))
    assert not any("oven start" in text for text in evidence(exchange))


HISTORY = [
    Message("user", f"{ASSERTED}, I was told."),
    Message("assistant", f"{ASSERTED}, that is right."),
]
QUESTION = f"{ASSERTED}, true?"


@pytest.mark.parametrize(
    ("inputs", "messages", "wrote"),
    [
        (QUESTION, [Message("user", f"Q: {QUESTION}")], ()),
        ({"question": QUESTION}, [Message("user", f"Q: {QUESTION}")], ()),
        ({"question": f" {QUESTION}\n"}, [Message("user", f"Q: {QUESTION}")], ()),
        ([Message("user", QUESTION)], [Message("user", QUESTION)], ()),
        (None, [Message("user", QUESTION)], ()),
        ({"q": "May they?", "chat_history": HISTORY}, HISTORY, ()),
        ({"q": "May they?", "chat_history": HISTORY[0].text}, [HISTORY[0]], ()),
        ({"q": "May they?"}, [HISTORY[1]], ()),
        ({"question": "May they?"}, [*HISTORY, Message("user", "May they?")], ()),
        (
            {"messages": [Message("user", "May they?")]},
            [*HISTORY, Message("user", "May they?")],
            (),
        ),
        ({"q": "May they?"}, [Message("user", f"Q: {QUESTION}")], (QUESTION,)),
        ({"q": "May they?"}, [Message("user", f"Q: {QUESTION}")], (f"{QUESTION}\n",)),
        ({"q": "May they?"}, [Message("system", f"So far: {HISTORY[1].text}")], (HISTORY[1].text,)),
    ],
    ids=[
        "question",
        "question-in-a-template",
        "question-trimmed-by-a-template",
        "messages",
        "unknown-input",
        "chat-history",
        "chat-history-as-text",
        "assistant-turn",
        "user-turn-from-a-memory",
        "user-turn-from-a-checkpoint",
        "rewrite",
        "rewrite-trimmed-by-a-parser",
        "summary",
    ],
)
def test_what_users_and_models_say_is_never_evidence(
    inputs: Any, messages: list[Message], wrote: tuple[str, ...]
) -> None:
    """A user who asserts a thing does not make it so, nor does a model that repeats it."""
    exchange = prompted(inputs, Message("system", OVEN), *messages, wrote=wrote)

    assert OVEN in evidence(exchange)
    assert not any(ASSERTED in text for text in evidence(exchange))


@pytest.mark.parametrize("setting", ["en", "at", "light"])
def test_short_inputs_cut_no_holes_into_the_context(setting: str) -> None:
    """A setting such as a language is no text whose every occurrence is the user's."""
    exchange = prompted({"question": "When?", "language": setting}, Message("system", OVEN))

    assert evidence(exchange) == [OVEN]


def test_context_that_the_caller_passes_in_is_evidence() -> None:
    """An input that is named as context is no word of the user."""
    exchange = prompted(
        {"question": "When?", "context": OVEN}, Message("user", f"{OVEN}\nQuestion: When?")
    )

    assert any(OVEN in text for text in evidence(exchange))


@pytest.mark.parametrize("where", ["fetched", "prompt"])
def test_a_guards_own_feedback_is_never_evidence(where: str) -> None:
    """Feedback names the claims that failed; it must not make them true in the next attempt."""
    feedback = f"These statements are not supported:\n- {MILL}"
    trace = Trace(inputs={"question": "When?"})
    trace.added(feedback)
    if where == "fetched":
        trace.retrieved("r", [Passage(text=OVEN), Passage(text=MILL)])
    trace.prompted([Message("system", OVEN), Message("user", f"When?\n{feedback}")])

    exchange = trace.exchange("x")

    assert OVEN in evidence(exchange)
    assert not any("spelt" in text for text in evidence(exchange))


def test_a_text_that_quotes_a_model_is_known() -> None:
    """An error's message may hold what a model of this run wrote."""
    trace = Trace()
    trace.wrote("The oven is lit at four in the morning. Yes.")

    assert trace.quoted_in("could not parse: The oven is lit at four in the morning.")
    assert not trace.quoted_in("could not parse: Yes.")
    assert not Trace().quoted_in("anything")


ASKED = "When does the oven burn?"


def recalling(*messages: Message, prompt: list[Message]) -> list[str]:
    """Return the evidence of a prompt, where a memory brought some messages."""
    trace = Trace(inputs=ASKED)
    trace.recalled(messages)
    trace.prompted(prompt)
    return evidence(trace.exchange("x"))


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_what_a_memory_brings_is_no_evidence(role: Any) -> None:
    """Earlier turns and summaries of them, whatever role they are sent under."""
    summary, asked = Message(role, f"{ASKED} {MILL}"), Message("user", ASKED)
    assert recalling(summary, prompt=[Message("system", OVEN), summary, asked]) == [OVEN]


def test_earlier_turns_that_are_written_out_are_no_evidence() -> None:
    """A completion model gets them inside of its one prompt."""
    turn = Message("user", f"I was told: {MILL}")
    (left,) = recalling(turn, prompt=[Message("user", f"{OVEN}\nuser: {turn.text}\nuser: {ASKED}")])
    assert OVEN in left
    assert "spelt" not in left


def test_an_earlier_answer_takes_nothing_from_what_it_was_made_of() -> None:
    """It is a message of its own; the system prompt that says the same stays whole."""
    turn = Message("assistant", OVEN)
    prompt = [Message("system", f"{OVEN} {MILL}"), turn, Message("user", ASKED)]
    assert recalling(turn, prompt=prompt) == [f"{OVEN} {MILL}"]


def test_a_short_passage_inside_a_line_was_seen() -> None:
    """A row of a table is too short to be known by six words in a row."""
    exchange = fetched("[('rye', 4)]", "[('spelt', 9)]", prompt="The database says: [('rye', 4)].")
    assert evidence(exchange) == ["[('rye', 4)]"]
    assert hidden(exchange) == ["[('spelt', 9)]"]


def test_what_an_answer_names_as_its_source_may_be_a_models() -> None:
    """Only what stood in a prompt before a model wrote it counts as brought."""
    trace = Trace()
    trace.prompted([Message("user", f"Notes: {OVEN}")])
    trace.wrote(f"{OVEN} {MILL}")
    trace.handed_out([Passage(text=OVEN), Passage(text=MILL)])
    assert [trace.writing().parts(text) for text in (OVEN, MILL)] == [[], [MILL]]
    assert trace.writing(beside=[MILL]).parts(MILL) == []
    assert evidence(trace.exchange("x")) == [OVEN]


# What tools give back --------------------------------------------------------------------------

LIE = "Geese guard the granary."
QUERY = "opening hours mill"


def given_back(
    result: str, *, here: tuple[str, ...] = (), earlier: tuple[str, ...] = (), said: str = ""
) -> str:
    """Return what counts of a tool's result after calls with these arguments."""
    trace = Trace()
    trace.gave(earlier, said=said)
    trace.gave(here)
    trace.asked("read", here)
    trace.retrieved("read", [Passage(text=result, origin="tool")])
    return "\n".join(evidence(trace.exchange("x")))


@pytest.mark.parametrize(
    ("result", "given"),
    [
        (LIE, {"earlier": (LIE,)}),
        (LIE.removesuffix("."), {"earlier": (LIE.removesuffix("."),)}),
        (f"Note 1: {LIE}", {"earlier": (LIE,)}),
        (f"- {LIE}\n- {OVEN}", {"earlier": (LIE.removesuffix("."),)}),
        (f"{OVEN} {LIE} {OVEN}", {"earlier": (f"{LIE} They never sleep.",)}),
        (f"Found {MILL} in the notes", {"earlier": (MILL,)}),
        (MILL[:40], {"earlier": (f"{OVEN} {MILL}",)}),
        (json.dumps({"text": MILL}), {"earlier": (MILL,)}),
        (MILL, {"said": MILL}),
        (f"Noted: {LIE}", {"here": (LIE.removesuffix("."),)}),
        ("500", {"here": ("500",)}),
        ('{"result": 500}', {"here": ("500", "amount")}),
        ("磨坊今天不对外开放。", {"earlier": ("磨坊今天不对外开放。",)}),
        (LIE, {"earlier": ("Geese", "guard", "the granary.")}),
        (LIE, {"here": ("Geese", "guard", "the granary.")}),
        ("Saved: geese, are, safe", {"earlier": ("safe", "are", "geese")}),
        (f"- Geese | are - safe\n- {OVEN}", {"earlier": ("are", "Geese", "safe")}),
        (f"{OVEN} Geese are safe. {OVEN}", {"earlier": ("Geese are", "safe.", "the")}),
        (
            f"{OVEN} Noted: Geese lay 40 eggs daily. ",
            {"here": ("Geese", "lay", "40 eggs", "daily")},
        ),
        (json.dumps({"id": "oven", "t": "Geese are safe"}), {"here": ("Geese", "are", "safe")}),
    ],
)
def test_what_models_handed_to_tools_is_no_evidence_when_it_comes_back(
    result: str, given: dict[str, Any]
) -> None:
    """Whole or in part, alone or among others, from the same tool or from another one."""
    left = given_back(result, **given)
    assert not any(word in left for word in ("geese", "Geese", "spelt", "500", "磨坊"))
    assert left == "" or "oven" in left or "Found" in left


@pytest.mark.parametrize(
    ("result", "given"),
    [
        ("The opening hours of the mill are 9 to 5.", {"here": (QUERY,), "earlier": (QUERY,)}),
        ("Opening hours mill: 9 to 5", {"here": (QUERY,), "earlier": (QUERY,)}),
        ("The opening hours mill and bakery share.", {"earlier": (QUERY,)}),
        ('{"name": "Ada Lind", "dose": "5 mg"}', {"here": ("Ada Lind",), "earlier": ("Ada Lind",)}),
        (MILL, {"earlier": ("the flood season", "spelt", "Tuesdays")}),
        ("The dose is 500 mg.", {"here": ("500",)}),
        ("500", {"here": ("250 * 2",), "earlier": ("250 * 2",)}),
        ("500", {"earlier": ("500",)}),
        (f"{MILL} {OVEN}", {"said": MILL}),
        ("The mill is open until 5.", {"earlier": ("the", "mill", "is", "open")}),
        ("Rye flour is 40 kg.", {"here": ("rye", "flour", "kg"), "earlier": ("rye", "flour")}),
        ("Booked: Ada Lind, 3 May, 2 sacks. It is paid.", {"here": ("Ada Lind", "3 May", "2")}),
    ],
)
def test_what_a_tool_says_of_what_it_was_asked_is_evidence(
    result: str, given: dict[str, Any]
) -> None:
    """The words of a query, names, and values stay where the tool has something to say of them."""
    assert given_back(result, **given) == result


SHORT = ["Geese: 40 eggs", "Geese 40 eggs", "Geese are safe", "No geese", "Geese free"]


@pytest.mark.parametrize("lie", SHORT)
@pytest.mark.parametrize(
    "notes",
    [
        "{rest}\n{lie}",
        "- {lie}\n- {rest}",
        "1. {lie}\n2. {rest}",
        "Note 1: {lie}. Note 2: {rest}",
        "[2024-05-01] {lie}\n[2024-05-02] {rest}",
        '["{lie}", "{rest}"]',
        "note_1={lie}; note_2={rest}",
        "<note>{lie}</note><note>{rest}</note>",
        "| 1 | {lie} |\n| 2 | {rest} |",
    ],
)
def test_a_few_words_that_a_model_noted_are_no_evidence_when_it_reads_its_notes(
    notes: str, lie: str
) -> None:
    """However short they are; what stands beside them stays."""
    left = given_back(notes.replace("{lie}", lie).replace("{rest}", OVEN), earlier=(lie,))
    assert "eese" not in left
    assert OVEN in left


@pytest.mark.parametrize(
    ("result", "given"),
    [
        ("Rye: 40 kg", {"here": ("rye",), "earlier": ("rye",)}),
        ("The rye flour is 40 kg.", {"here": ("rye flour",), "earlier": ("rye flour",)}),
        ("Rye flour\n40 kg", {"here": ("rye flour",), "earlier": ("rye flour",)}),
        ('{"name": "rye flour", "weight": "40 kg"}', {"earlier": ("rye flour",)}),
        ('{"name": "rye", "kind": "flour", "weight": "40 kg"}', {"earlier": ("40 kg",)}),
        ("Rye 40 kg: two sacks", {"here": ("rye 40 kg",), "earlier": ("rye 40 kg",)}),
    ],
)
def test_a_few_words_stay_where_a_tool_says_more_of_them(
    result: str, given: dict[str, Any]
) -> None:
    """A query, a name, a value under a name that no model gave."""
    assert given_back(result, **given) == result


def test_a_value_under_the_name_with_which_a_model_kept_it_is_no_evidence() -> None:
    """A record gives back what it was made of."""
    kept = ("weight", "40 kg")
    left = given_back('{"id": "a7-21-x", "weight": "40 kg", "by": "mill"}', earlier=kept)
    assert "40" not in left
    assert "a7-21-x" in left


def test_what_a_tool_brought_stays_evidence_when_a_model_hands_it_on() -> None:
    """A statement that came from elsewhere is no model's own, the second time neither."""
    trace = Trace()
    trace.retrieved("find", [Passage(text=f"{OVEN} {MILL}", origin="tool")])
    trace.gave([MILL])
    trace.asked("file", [MILL])
    trace.retrieved("file", [Passage(text=f"Filed: {MILL} {LIE}", origin="tool")])
    trace.gave([MILL])
    trace.retrieved("read", [Passage(text=f"{MILL} {LIE}", origin="tool")])
    assert evidence(trace.exchange("x")) == [
        f"{OVEN} {MILL}",
        f"Filed: {MILL} {LIE}",
        f"{MILL} {LIE}",
    ]


def test_what_no_tool_brought_gives_nothing_back() -> None:
    """Documents of a state are an app's own, though a model said the same."""
    trace = Trace()
    trace.gave([MILL])
    trace.retrieved("", [Passage(text=MILL)])
    assert evidence(trace.exchange("x")) == [MILL]


@pytest.mark.parametrize(
    "arguments",
    [
        {"q": {"any": ["ferry", 40]}, "when to go": True},
        '{"q": {"any": ["ferry", 40]}, "when to go": true}',
    ],
)
def test_all_that_a_call_hands_over_is_read(arguments: Any) -> None:
    """The name of the tool, and of arguments, their texts and numbers; in JSON as well."""
    found = set(handed_in("look up", arguments))
    assert found == {"look up.", "q", "any", "ferry", "40", "when to go."}


def test_arguments_that_are_no_json_are_read_as_far_as_they_go() -> None:
    """Its strings, and all of it; and of what is no text nothing."""
    broken = '{"q": "ferry", "r": "car'
    assert list(handed_in("f", broken)) == ["f", "q", "ferry", "r", broken]
    assert "[" * 100_000 in handed_in("f", "[" * 100_000)
    assert list(handed_in(None, "ferry")) == ["ferry"]
    assert list(handed_in(3, None)) == []
