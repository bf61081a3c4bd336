"""The doubles are real LlamaIndex objects: the rest of the framework cannot tell."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
import time
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs the extra: pip install '.[llama-index]'")

from llama_index.core import Document, SummaryIndex, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore
from llama_index_instrumentation import get_dispatcher

from faithguard import Passage
from faithguard_llama_index.testing import PassageRetriever, ScriptedLLM, WordEmbedding

ANSWER = "  The mill grinds on Tuesdays.\n\nA sack costs 7 euros. \n"
WORDS = ["  The", " mill", " grinds", " on", " Tuesdays.", "\n\nA", " sack", " costs"]
REST = [" 7", " euros.", " \n"]
TEXTS = [
    "The mill grinds on Tuesdays.",
    "A sack of flour costs 7 euros.",
    "Parking is behind the bakery.",
]
USER = [ChatMessage(role=MessageRole.USER, content="When?")]


class Seen(BaseEventHandler):
    """Keep the names of the events that a call emits."""

    names: list[str] = []  # noqa: RUF012 - pydantic copies it

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Keep a name."""
        self.names.append(event.class_name())


@pytest.fixture
def seen() -> Any:
    """Listen to all events."""
    handler = Seen()
    handlers = get_dispatcher().event_handlers
    handlers.append(handler)
    yield handler.names
    handlers.remove(handler)


async def _whole(llm: ScriptedLLM, way: str) -> tuple[str, Any]:
    if way == "chat":
        response: Any = llm.chat(USER)
    elif way == "achat":
        response = await llm.achat(USER)
    elif way == "complete":
        response = llm.complete("When?")
    else:
        response = await llm.acomplete("When?")
    text = response.message.content if "chat" in way else response.text
    return text, response.raw


async def _parts(llm: ScriptedLLM, way: str) -> list[Any]:
    if way == "stream_chat":
        return list(llm.stream_chat(USER))
    if way == "astream_chat":
        return [part async for part in await llm.astream_chat(USER)]
    if way == "stream_complete":
        return list(llm.stream_complete("When?"))
    return [part async for part in await llm.astream_complete("When?")]


@pytest.mark.parametrize("way", ["chat", "achat", "complete", "acomplete"])
def test_a_whole_answer_is_what_the_script_says(way: str, seen: list[str]) -> None:
    """Every way of asking gives the text, why it ended and what it used, and emits one pair."""
    asked: list[list[ChatMessage]] = []

    def reply(messages: list[ChatMessage]) -> str:
        asked.append(messages)
        return ANSWER

    text, raw = asyncio.run(_whole(ScriptedLLM(reply=reply), way))
    assert text == ANSWER
    assert raw["choices"][0]["finish_reason"] == "stop"
    assert raw["usage"]["total_tokens"] == 1 + 10
    assert [[(m.role, m.content) for m in messages] for messages in asked] == [
        [(MessageRole.USER, "When?")]
    ]
    kind = "LLMChat" if "chat" in way else "LLMCompletion"
    assert seen == [f"{kind}StartEvent", f"{kind}EndEvent"]


@pytest.mark.parametrize(
    "way", ["stream_chat", "astream_chat", "stream_complete", "astream_complete"]
)
def test_a_stream_comes_word_by_word(way: str, seen: list[str]) -> None:
    """The words' sum is the answer, each part holds all so far, and only the last says why."""
    parts = asyncio.run(_parts(ScriptedLLM(reply=lambda _: ANSWER), way))
    assert [part.delta for part in parts] == WORDS + REST
    texts = [part.message.content if "chat" in way else part.text for part in parts]
    assert texts == ["".join((WORDS + REST)[:n]) for n in range(1, 12)]
    assert [part.raw is None for part in parts] == [True] * 10 + [False]
    kind = "LLMChat" if "chat" in way else "LLMCompletion"
    between = [f"{kind}InProgressEvent"] * 11
    assert seen == [f"{kind}StartEvent", *between, f"{kind}EndEvent"]


def test_the_legacy_callbacks_hear_of_it_too() -> None:
    """A callback manager on the model gets its start and end."""
    debug = LlamaDebugHandler(print_trace_on_end=False)
    llm = ScriptedLLM(reply=lambda _: ANSWER, callback_manager=CallbackManager([debug]))
    llm.chat(USER)
    list(llm.stream_complete("When?"))
    pairs = debug.get_event_pairs(CBEventType.LLM)
    assert [len(pair) for pair in pairs] == [2, 2]


def test_an_empty_answer_streams_one_empty_word() -> None:
    """There is a last part even of nothing, so that its end is heard of."""
    parts = list(ScriptedLLM(reply=lambda _: "").stream_chat(USER))
    assert [(part.delta, part.message.content) for part in parts] == [("", "")]


def test_pauses_pass_between_words_and_leave_the_loop_free() -> None:
    """A stream takes its time word by word; async answers do not block each other."""
    slow = ScriptedLLM(reply=lambda _: "one two three", pause=0.02)

    async def both() -> None:
        await asyncio.gather(*(slow.achat(USER) for _ in range(20)))

    started = time.monotonic()
    asyncio.run(both())
    assert 0.06 <= time.monotonic() - started < 1.0
    moments: list[float] = []
    for _ in slow.stream_chat(USER):
        moments.append(time.monotonic())
    assert all(later - earlier >= 0.02 for earlier, later in itertools.pairwise(moments))


def test_a_scripts_error_is_the_callers() -> None:
    """What the script raises comes out of the call, or of the stream as it is read."""

    def reply(messages: list[ChatMessage]) -> str:
        raise LookupError("no line for this")

    with pytest.raises(LookupError):
        ScriptedLLM(reply=reply).chat(USER)
    stream = ScriptedLLM(reply=reply).stream_complete("When?")
    with pytest.raises(LookupError):
        next(stream)


@pytest.mark.parametrize("is_chat_model", [True, False])
def test_metadata_is_as_it_was_set(is_chat_model: bool, seen: list[str]) -> None:
    """LlamaIndex reads the window and the kind of the model, and asks it accordingly."""
    llm = ScriptedLLM(
        reply=lambda _: "Yes.", is_chat_model=is_chat_model, context_window=1000, num_output=50
    )
    assert llm.metadata.context_window == 1000
    assert llm.metadata.num_output == 50
    index: Any = SummaryIndex.from_documents([Document(text=text * 60) for text in TEXTS])
    index.as_query_engine(llm=llm).query("When does the mill grind?")
    asked = [name for name in seen if name.startswith("LLM") and name.endswith("StartEvent")]
    asked = [name for name in asked if "Predict" not in name]
    assert len(asked) > 1  # it did not fit into one call
    assert set(asked) == {"LLMChatStartEvent" if is_chat_model else "LLMCompletionStartEvent"}


def test_the_retriever_finds_by_shared_words() -> None:
    """It returns the best first, with source, metadata and falling scores, at most `k`."""
    passages = [
        Passage(text=TEXTS[0], source="mill.md", metadata={"page": 3}),
        Passage(text=TEXTS[1]),
        Passage(text=TEXTS[2]),
    ]
    retriever = PassageRetriever(passages, k=2)
    found = retriever.retrieve("On which day does the mill grind, and what does a sack cost?")
    assert {node.text for node in found} == set(TEXTS[:2])
    assert [node.score for node in found] == [1.0, 0.5]
    first = next(node for node in found if node.text == TEXTS[0])
    assert first.metadata == {"page": 3, "source": "mill.md"}
    assert asyncio.run(retriever.aretrieve("Where is parking?"))[0].text == TEXTS[2]
    assert retriever.retrieve("zebra") == []
    passages.append(Passage(text="A zebra lives beside the mill."))
    assert [node.text for node in retriever.retrieve("zebra")] == [passages[-1].text]


def test_the_retriever_serves_a_query_engine_with_postprocessors() -> None:
    """A real engine over it, with a cut by score, answers from what is left."""
    prompts: list[str] = []

    def reply(messages: list[ChatMessage]) -> str:
        prompts.append(str(messages[-1].content))
        return TEXTS[1]

    engine = RetrieverQueryEngine.from_args(
        PassageRetriever([Passage(text=text) for text in TEXTS]),
        llm=ScriptedLLM(reply=reply),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.9)],
    )
    response = engine.query("What does a sack of flour at the mill cost?")
    assert str(response) == TEXTS[1]
    assert TEXTS[1] in prompts[0]
    assert TEXTS[0] not in prompts[0]


def _score(found: list[NodeWithScore]) -> float:
    assert found[0].score is not None
    return found[0].score


@pytest.mark.filterwarnings("error")
def test_a_real_vector_index_works_on_words() -> None:
    """The nearest text shares the words, whatever their form; texts without any are no trouble."""
    documents = [Document(text=text) for text in [*TEXTS, "?", "of the"]]
    embedding = WordEmbedding()
    index = VectorStoreIndex.from_documents(documents, embed_model=embedding)
    retriever = index.as_retriever(similarity_top_k=1)
    for question, text in [("grinding mills", 0), ("sacks and flour", 1), ("the bakery", 2)]:
        found = retriever.retrieve(question)
        assert found[0].text == TEXTS[text]
        assert 0.3 < _score(found) <= 1.0
    assert _score(asyncio.run(retriever.aretrieve("?"))) == pytest.approx(1.0)


def test_vectors_are_of_length_one_and_of_the_dimension() -> None:
    """Long, short and empty texts alike; the same for a query and a text."""
    embedding = WordEmbedding(dim=64)
    for text in [*TEXTS, "", "mill " * 500, "磨坊在星期二开门"]:
        vector = embedding.get_text_embedding(text)
        assert len(vector) == 64
        assert sum(value * value for value in vector) == pytest.approx(1.0)
        assert vector == embedding.get_query_embedding(text)


def test_vectors_are_the_same_in_every_process() -> None:
    """No hash of this process's own is in them."""
    code = (
        "from faithguard_llama_index.testing import WordEmbedding\n"
        f"print(WordEmbedding(dim=16).get_text_embedding({TEXTS[0]!r}))"
    )
    path = [*sys.path, "integrations"]
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{code}"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "7"},
    )
    assert said.stdout.strip() == str(WordEmbedding(dim=16).get_text_embedding(TEXTS[0]))
