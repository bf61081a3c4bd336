"""A guarded chain whose stream is released claim by claim."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing
from operator import itemgetter
from typing import Any

import pytest
from langchain_core._api import LangChainDeprecationWarning
from langchain_core.callbacks import BaseCallbackHandler, UsageMetadataCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import (
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)

from faithguard import CaptureError, ConfigError, Record, UnfaithfulAnswerError
from faithguard_langchain import Reported, guard
from faithguard_langchain.testing import ScriptedChatModel

from .scene import (
    BAD,
    FALLBACK,
    HOURS,
    LIE,
    MIRROR,
    PRICE,
    PROMPT,
    QUESTION,
    TEXTS,
    TRUE,
    Chain,
    calls_of,
    finds,
    graph,
    says,
)

CONTEXT = {"context": finds(*TEXTS), "question": RunnablePassthrough()}


def ends_in_message(model: Chain) -> Chain:
    """Return a chain that streams chunks of a message."""
    return CONTEXT | PROMPT | model


def ends_in_text(model: Chain) -> Chain:
    """Return a chain that streams strings."""
    return ends_in_message(model) | StrOutputParser()


def ends_in_dict(model: Chain) -> Chain:
    """Return a chain that streams dicts: the question, the documents, then the answer."""
    answer = PROMPT | model | StrOutputParser()
    return RunnableParallel(CONTEXT) | RunnablePassthrough.assign(answer=answer)


def read(chain: Chain, **config: Any) -> list[Any]:
    """Return the chunks of a stream; what is awaited gives the same."""

    async def aread() -> list[Any]:
        return [chunk async for chunk in chain.astream(QUESTION, config)]

    got = list(chain.stream(QUESTION, config))
    assert list(map(shown, asyncio.run(aread()))) == list(map(shown, got))
    return got


class Counted(ScriptedChatModel):
    """A model that tells its name and its tokens after the last one, as providers do."""

    def _stream(self, messages: Any, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        yield from super()._stream(messages, *args, **kwargs)
        yield ChatGenerationChunk(message=self._last())

    async def _astream(
        self, messages: Any, *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for chunk in super()._astream(messages, *args, **kwargs):
            yield chunk
        yield ChatGenerationChunk(message=self._last())

    def _last(self) -> AIMessageChunk:
        logprobs = {"content": [{"token": LIE}]}
        return AIMessageChunk(
            "",
            usage_metadata={"input_tokens": 20, "output_tokens": 10, "total_tokens": 30},
            response_metadata={"model_name": "counted-1", "logprobs": logprobs},
            chunk_position="last",
        )


def shown(chunk: Any) -> Any:
    """Return what two runs have in common: a run's message has an id of its own."""
    return chunk.model_copy(update={"id": None}) if isinstance(chunk, AIMessageChunk) else chunk


def claims(chain: Chain, **options: Any) -> Chain:
    """Guard a chain."""
    return guard(chain, **{"sinks": [], "stream": "claims", **options})


def test_strings_come_sentence_by_sentence() -> None:
    """Joined they are the answer."""
    assert read(claims(ends_in_text(says(TRUE)))) == [HOURS, f" {PRICE}"]


def test_a_message_keeps_its_id_its_metadata_and_its_usage() -> None:
    """They come once, at the end, with the note of the decision."""
    chain = ends_in_message(Counted(reply=lambda messages: TRUE))
    plain = list(chain.stream(QUESTION))
    whole: AIMessageChunk = sum(plain[1:], plain[0])

    chunks = read(claims(chain))

    assert [chunk.content for chunk in chunks] == [HOURS, f" {PRICE}", ""]
    assert {chunk.id for chunk in chunks} == {chunks[0].id}
    assert all(type(chunk) is AIMessageChunk for chunk in chunks)
    joined: AIMessageChunk = sum(chunks[1:], chunks[0])
    note = joined.response_metadata.pop("faithguard")
    assert joined.content == TRUE
    assert joined.response_metadata == whole.response_metadata
    assert joined.usage_metadata == whole.usage_metadata
    assert (note["action"], note["supported"], note["total"]) == ("deliver", 2, 2)
    assert chunks[-1].chunk_position == "last"


def test_what_stands_beside_the_answer_comes_with_it() -> None:
    """The question and the documents, as the chain streams them; once."""
    plain = list(ends_in_dict(says(TRUE)).stream(QUESTION))
    safe = claims(ends_in_dict(says(TRUE)))

    for chunks in (list(safe.stream(QUESTION)), asyncio.run(drained(safe))):
        assert [chunk["answer"] for chunk in chunks if "answer" in chunk] == [HOURS, f" {PRICE}"]
        # what runs at the same time ends in any order
        beside = sorted(repr(chunk) for chunk in chunks if "answer" not in chunk)
        assert beside == sorted(repr(chunk) for chunk in plain if "answer" not in chunk)


def test_a_blocked_message_carries_the_note_and_nothing_else_of_it() -> None:
    """Providers put tokens, and their probabilities, into a message's metadata."""
    chain = ends_in_message(Counted(reply=lambda messages: f"{HOURS} {LIE}"))

    chunks = read(claims(chain, fallback=FALLBACK))

    assert [chunk.content for chunk in chunks] == [HOURS, f"\n\n{FALLBACK}", ""]
    assert list(chunks[-1].response_metadata) == ["faithguard"]
    assert chunks[-1].response_metadata["faithguard"]["action"] == "block"
    assert "Quillfeather" not in repr(chunks)


def test_a_fallback_that_is_a_runnable() -> None:
    """In the form of the stream; alone it comes as it is."""
    fallback = RunnableLambda(lambda question: f"{FALLBACK} ({len(question)})")
    told = f"{FALLBACK} ({len(QUESTION)})"

    assert read(claims(ends_in_text(says(BAD)), fallback=fallback)) == [HOURS, f"\n\n{told}"]
    assert read(claims(ends_in_text(says(LIE)), fallback=fallback)) == [told]
    chunks = read(claims(ends_in_message(says(BAD)), fallback=fallback))
    assert [chunk.content for chunk in chunks] == [HOURS, f"\n\n{told}", ""]


def test_without_a_fallback_it_raises_after_what_passed() -> None:
    """The error tells what was released."""
    stream = claims(ends_in_text(says(BAD))).stream(QUESTION)

    assert next(stream) == HOURS
    with pytest.raises(UnfaithfulAnswerError) as error:
        next(stream)
    assert error.value.record is not None
    assert error.value.record.released == HOURS
    assert error.value.record.exchange.answer.startswith(f"{HOURS} ")
    assert error.value.record.report.unsupported == error.value.report.unsupported != ()


def test_only_the_model_is_asked_again() -> None:
    """What was retrieved stays; the feedback names what failed, and it is streamed as well."""
    model = says(f"{LIE} {HOURS}", TRUE)
    asked: list[str] = []

    class Listening(BaseCallbackHandler):
        def on_retriever_start(self, serialized: Any, query: str, **kwargs: Any) -> None:
            asked.append(query)

    safe = claims(ends_in_text(model), on_fail="regenerate")

    assert list(safe.stream(QUESTION, {"callbacks": [Listening()]})) == [HOURS, f" {PRICE}"]
    first, second = calls_of(model)
    assert [message.text for message in second[: len(first)]] == [m.text for m in first]
    assert second[-2].text.startswith(LIE)
    assert LIE in second[-1].text
    assert len(asked) == 1


def test_a_second_attempt_is_released_while_it_is_written() -> None:
    """What remembers the first one streams."""
    model = says(LIE, TRUE)
    seen: list[int] = []

    class Counting(BaseCallbackHandler):
        def on_llm_end(self, response: Any, **kwargs: Any) -> None:
            seen.append(len(read_so_far))

    read_so_far: list[Any] = []
    safe = claims(ends_in_text(model), on_fail="regenerate")
    for chunk in safe.stream(QUESTION, {"callbacks": [Counting()]}):
        read_so_far.append(chunk)

    assert read_so_far == [HOURS, f" {PRICE}"]
    assert seen[-1] == 1


def test_repair_in_a_stream() -> None:
    """What is left out leaves no trace in the message."""
    chunks = read(claims(ends_in_message(says(f"{HOURS} {LIE} {PRICE}")), on_fail="repair"))

    assert "".join(chunk.content for chunk in chunks) == TRUE
    note = chunks[-1].response_metadata["faithguard"]
    assert (note["action"], note["passed"]) == ("repair", True)


def test_events_and_logs_show_nothing_unverified() -> None:
    """Whatever version; and what is released they show while the model writes."""
    safe = claims(ends_in_text(says(BAD)), fallback=FALLBACK)

    async def watch(version: Any) -> list[Any]:
        return [event async for event in safe.astream_events(QUESTION, version=version)]

    async def follow() -> list[Any]:
        return [patch.ops async for patch in safe.astream_log(QUESTION)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangChainDeprecationWarning)
        runs = [asyncio.run(watch("v1")), asyncio.run(watch("v2")), asyncio.run(follow())]
    for seen in runs:
        assert "Quillfeather" not in repr(seen)
        assert PRICE not in repr(seen)
        assert HOURS in repr(seen)
        assert FALLBACK in repr(seen)


def test_other_calls_hold_the_whole_answer() -> None:
    """Also `with_report`, whose stream is one chunk."""
    safe = claims(ends_in_text(says(TRUE)))

    assert safe.invoke(QUESTION) == TRUE
    assert safe.batch([QUESTION]) == [TRUE]
    got = list(safe.with_report().stream(QUESTION))  # type: ignore[attr-defined]
    assert [type(chunk) for chunk in got] == [Reported]
    assert got[0].output == TRUE


def test_the_record_names_the_run() -> None:
    """And is told once."""
    records: list[Record] = []
    safe = claims(ends_in_text(says(TRUE)), sinks=[records.append])

    read(safe)

    assert safe.wait()  # type: ignore[attr-defined]
    assert [record.exchange.answer for record in records] == [TRUE, TRUE]
    assert records[0].exchange.question == QUESTION
    assert [passage.text for passage in records[0].exchange.passages] == list(TEXTS[:3])


def test_usage_counters_count() -> None:
    """They stay attached, once."""
    plain, guarded = UsageMetadataCallbackHandler(), UsageMetadataCallbackHandler()
    chain = ends_in_text(Counted(reply=lambda messages: TRUE))
    list(chain.stream(QUESTION, {"callbacks": [plain]}))

    list(claims(chain).stream(QUESTION, {"callbacks": [guarded]}))

    assert plain.usage_metadata
    assert guarded.usage_metadata == plain.usage_metadata


@pytest.mark.parametrize("after", [0, 1])
def test_a_reader_that_leaves_closes_the_chain(after: int) -> None:
    """The innermost generator ends, and not with the event loop."""
    ended: list[str] = []
    text = f"{TRUE} {MIRROR}"

    def write(chunks: Iterator[Any]) -> Iterator[str]:
        list(chunks)
        try:
            yield from text.split()
        finally:
            ended.append("sync")

    async def awrite(chunks: AsyncIterator[Any]) -> AsyncIterator[str]:
        async for _ in chunks:
            pass
        try:
            for word in text.split():
                await asyncio.sleep(0)
                yield f"{word} "
        finally:
            ended.append("async")

    records: list[Record] = []
    writing: Chain = RunnableParallel(CONTEXT) | RunnableGenerator(spaced(write), awrite)
    safe = claims(writing, sinks=[records.append])

    async def leave() -> None:
        stream = safe.astream(QUESTION)
        for _ in range(after):
            await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        for _ in range(1_000):  # LangChain leaves it to the loop to close its own generators
            if "async" in ended:
                break
            await asyncio.sleep(0.001)
        ended.append("left")

    stream = safe.stream(QUESTION)
    for _ in range(after):
        next(stream)
    stream.close()  # type: ignore[attr-defined]
    ended.append("left")
    asyncio.run(leave())

    assert ended == (["sync", "left", "async", "left"] if after else ["left", "left"])
    assert safe.wait()
    assert [record.exchange.answer for record in records] == [HOURS, HOURS][: 2 * after]
    assert all("its reader left" in record.decision.reason for record in records)


@pytest.mark.parametrize("ends", ["left", "blocked"])
def test_a_model_stops_where_nobody_reads_on(ends: str) -> None:
    """LangChain itself would wait until it has written everything."""
    tokens: list[str] = []
    errors: list[BaseException] = []

    class Listening(BaseCallbackHandler):
        def on_llm_new_token(self, token: str, **kwargs: Any) -> None:
            tokens.append(token)

        def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
            errors.append(error)

    written: list[str] = []

    class Noting(ScriptedChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
            for chunk in super()._stream(*args, **kwargs):
                written.append(chunk.text)
                yield chunk

    model = Noting(reply=lambda messages: " ".join([HOURS, LIE, PRICE, *[MIRROR] * 20]))
    safe = claims(ends_in_text(model), fallback=FALLBACK)
    stream = safe.stream(QUESTION, {"callbacks": [Listening()]})
    assert next(stream) == HOURS
    if ends == "left":
        stream.close()  # type: ignore[attr-defined]
    else:
        assert list(stream) == [f"\n\n{FALLBACK}"]

    assert len(written) < len(f"{HOURS} {LIE} {PRICE}".split()) + 5
    assert len(errors) == 1
    assert tokens == []


def spaced(write: Callable[[Iterator[Any]], Iterator[str]]) -> Callable[..., Iterator[str]]:
    """Put a space behind each word."""

    def pieces(chunks: Iterator[Any]) -> Iterator[str]:
        with closing(write(chunks)) as words:  # type: ignore[type-var]
            for word in words:
                yield f"{word} "

    return pieces


def calling(messages: Any) -> AIMessage:
    """Ask for a tool."""
    return AIMessage(HOURS, tool_calls=[{"name": "book", "args": {"who": LIE}, "id": "1"}])


def copied(model: Chain) -> Chain:
    """Return a chain that hands out what its model writes twice."""
    answer = PROMPT | model | StrOutputParser()
    return RunnableParallel(CONTEXT) | RunnablePassthrough.assign(answer=answer, copy=answer)


REFUSED: dict[str, tuple[Chain, str]] = {
    "a call of a tool": (ends_in_message(ScriptedChatModel(reply=calling)), "a call of a tool"),
    "a second text": (copied(says("One tour costs 12 euros.")), "wrote something beside it"),
    "an object": (ends_in_text(says(TRUE)) | RunnableLambda(lambda text: [text]), "output, a list"),
}


@pytest.mark.parametrize(("chain", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_released_by_claim_is_an_error(chain: Chain, told: str) -> None:
    """It names the remedy, and nothing of it was delivered."""
    safe = claims(chain)
    for reads in (lambda: list(safe.stream(QUESTION)), lambda: asyncio.run(drained(safe))):
        with pytest.raises(CaptureError, match=told) as error:
            reads()
        assert "Quillfeather" not in str(error.value)


def in_json(**fields: Any) -> Chain:
    """Return a chain whose parser streams, again and again, all of a model's JSON so far."""
    return ends_in_text(says(json.dumps(fields))) | JsonOutputParser()


def in_a_field(**fields: Any) -> Chain:
    """Return a chain that streams such an object as the answer in a dict."""
    return RunnablePassthrough.assign(answer=itemgetter("question") | in_json(**fields))


def asked(chain: Chain, given: Any = QUESTION) -> list[Any]:
    """Return the chunks of a stream; what is awaited, and events, give the same."""

    async def awaiting() -> tuple[list[Any], list[Any]]:
        events = [event async for event in chain.astream_events(given, version="v2")]
        told = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream"]
        return [chunk async for chunk in chain.astream(given)], told

    got = list(chain.stream(given))
    assert asyncio.run(awaiting()) == (got, got)
    return got


def test_an_object_is_held_whole_and_comes_once() -> None:
    """Its pieces are no parts of a text: each holds all that came before it."""
    records: list[Record] = []
    said = {"answer": HOURS, "note": PRICE}
    safe = claims(in_json(**said), fallback=FALLBACK, sinks=[records.append])
    assert asked(safe) == [said]
    assert safe.wait()
    assert [(r.decision.passed, r.exchange.answer) for r in records] == [(True, HOURS)] * 3
    field = claims(in_a_field(**said), fallback=FALLBACK)
    assert asked(field, {"question": QUESTION}) == [{"question": QUESTION, "answer": said}]


@pytest.mark.parametrize("fields", [{"answer": BAD}, {"answer": HOURS, "note": LIE}])
def test_an_object_that_does_not_pass_is_blocked_or_mended(fields: dict[str, Any]) -> None:
    """As `invoke` does it."""
    assert asked(claims(in_json(**fields), fallback=FALLBACK)) == [{"answer": FALLBACK}]
    mended = claims(in_json(**fields), fallback=FALLBACK, on_fail="repair")
    assert asked(mended) == [{"answer": HOURS}]
    with pytest.raises(UnfaithfulAnswerError):
        list(claims(in_json(**fields)).stream(QUESTION))


@pytest.mark.parametrize(
    "chain", [in_json(conclusion=LIE), RunnableParallel(conclusion=ends_in_text(says(LIE)))]
)
def test_an_object_without_an_answer_is_not_delivered(chain: Chain) -> None:
    """Under whatever name a model puts it."""
    safe = claims(chain, fallback=FALLBACK)
    for reads in (lambda: list(safe.stream(QUESTION)), lambda: asyncio.run(drained(safe))):
        with pytest.raises(CaptureError, match="answer_key"):
            reads()


def test_a_named_field_of_an_object_is_the_answer() -> None:
    """Held, and blocked."""
    named = claims(in_json(conclusion=LIE), fallback=FALLBACK, answer_key="conclusion")
    assert asked(named) == [{"conclusion": FALLBACK}]


def test_an_object_is_written_again() -> None:
    """By the model alone; the second attempt is held whole, too."""
    model = says(json.dumps({"answer": BAD}), json.dumps({"answer": HOURS}))
    safe = claims(ends_in_text(model) | JsonOutputParser(), on_fail="regenerate")
    assert list(safe.stream(QUESTION)) == [{"answer": HOURS}]


async def drained(chain: Chain) -> list[Any]:
    """Read a stream, awaiting."""
    return [chunk async for chunk in chain.astream(QUESTION)]


def test_a_graph_is_refused() -> None:
    """It streams its steps."""
    with pytest.raises(ConfigError, match="inside the graph"):
        claims(graph(says(TRUE)))


@pytest.mark.parametrize("build", [ends_in_message, ends_in_text, ends_in_dict])
def test_a_stream_that_ends_early_says_nothing(
    build: Callable[[Chain], Chain], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocked or left, it leaves no generator behind that the collector complains of."""
    said: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    more = " ".join([MIRROR] * 5)
    settings: dict[str, Any] = {"stream": "claims", "fallback": FALLBACK, "sinks": []}
    list(guard(build(says(f"{BAD} {more}")), **settings).stream(QUESTION))
    with closing(guard(build(says(f"{TRUE} {more}")), **settings).stream(QUESTION)) as pieces:
        next(pieces)
    gc.collect()
    assert said == []
