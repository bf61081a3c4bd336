"""Streams by claim of a guarded client: what comes when, in the SDK's own types."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseCompletedEvent

from faithguard import ConfigError, Record, Report, UnfaithfulAnswerError
from faithguard._protocols import events as events_of
from faithguard.testing import ChatServer
from faithguard_openai import guard
from faithguard_openai._events import Event, EventReader, encoded, events_in

from .scene import BAD, DOC, FALLBACK, GOOD, QUESTION, client, system
from .streams import (
    EventServer,
    Told,
    asked,
    each,
    endless,
    entered,
    played,
    reading,
    saying,
    settled,
    text_in,
    texts,
)

CARS = " The ferry carries 40 cars."
LATE = " The ferry leaves Ulvo at 9:45."
LONG = (
    f"{GOOD}{CARS}\n\n## Prices\n\n- A ticket for a car costs 14 crowns.\n"
    "- The ferry carries 40 cars. 🚗\n\n| What | How many |\n|---|---|\n| cars | 40 |\n"
)
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
ITEM = {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": "{}"}
TOOLS: dict[bool, dict[str, Any]] = {
    True: {"tools": [{"type": "function", "function": {"name": "look_up", "parameters": {}}}]},
    False: {"tools": [{"type": "function", "name": "look_up", "parameters": {}}]},
}

both = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
apis = pytest.mark.parametrize("chats", [True, False], ids=["chat", "responses"])


def called(chats: bool, text: str | None) -> list[dict[str, Any]]:
    """Return what a model says that calls a tool beside a text."""
    if chats:
        return [{"content": text, "tool_calls": [CALL]}]
    return [*([{"content": text}] if text else []), ITEM]


def last_of(items: list[Any]) -> Any:
    """Return what bears the note."""
    return getattr(items[-1], "response", items[-1])


def test_events_are_the_same_however_their_bytes_are_cut() -> None:
    """Also amid a letter, and with every end of a line."""
    said = events_of({"input": ""}, "8:15 – 🚗 Malmö\u2028 \r x")
    plain = encoded(Event(name, data) for name, data in said).replace(b"\\u20", "–".encode())
    for ends in (b"\n", b"\r\n", b"\r"):
        body = plain.replace(b"\n", ends)
        whole = events_in(body)
        assert len(whole) > 3
        for size in (1, 2, 3, 7, 64):
            reader = EventReader()
            parts = [body[start : start + size] for start in range(0, len(body), size)]
            read = [event for part in parts for event in reader.read(part)]
            assert [*read, *reader.rest()] == whole


@both
@apis
@pytest.mark.parametrize("size", [1, 3, 40, 1000])
def test_what_passes_comes_byte_for_byte(chats: bool, is_async: bool, size: int) -> None:
    """In whole units, however the model's text is cut; with all that stands beside it."""
    more = {"stream_options": {"include_usage": True}} if chats else {}
    with EventServer(saying(LONG, size)) as server:
        items, error = played(server, reading(chats, **more), is_async=is_async)

    assert error is None
    assert "".join(texts(items)) == LONG
    assert texts(items)[:2] == [GOOD, CARS]
    assert len(texts(items)) == 5
    last = last_of(items)
    assert last.faithguard["passed"] is True
    assert last.usage.total_tokens > 0
    if chats:
        assert {type(item) for item in items} == {ChatCompletionChunk}
        ends = [item.choices[0].finish_reason for item in items if item.choices]
        assert ends == [None] * (len(ends) - 1) + ["stop"]
        assert {item.id for item in items} == {"chat-1"}
    else:
        assert isinstance(items[-1], ResponseCompletedEvent)
        assert last.output_text == LONG
        assert [item.sequence_number for item in items] == list(range(len(items)))


@both
@apis
def test_the_first_sentence_comes_while_the_model_writes(chats: bool, is_async: bool) -> None:
    """And what comes before all text, before that."""
    seen, begun = threading.Event(), threading.Event()

    def script(body: dict[str, Any]) -> Iterator[Told]:
        for place, event in enumerate(events_of(body, f"{GOOD}{CARS}")):
            if place == (1 if chats else 3):
                assert begun.wait(10)
            yield event
        assert seen.wait(10)

    async def use(safe: Any) -> str:
        text = ""
        async for item in each(await asked(chats)(safe)):
            begun.set()
            text += "".join(texts([item]))
            if text == GOOD:
                seen.set()
        return text

    with EventServer(script) as server:
        assert played(server, use, is_async=is_async) == f"{GOOD}{CARS}"


@both
@apis
def test_a_bad_sentence_ends_the_stream_at_once(chats: bool, is_async: bool) -> None:
    """With the fallback after what was released; the server sees its stream closed."""
    records: list[Record] = []
    with EventServer(endless(GOOD + LATE)) as server:
        items, error = played(
            server, reading(chats), is_async=is_async, fallback=FALLBACK, sinks=[records.append]
        )
        assert server.left.wait(10)

    assert error is None
    assert texts(items) == [GOOD, f"\n\n{FALLBACK}"]
    assert last_of(items).faithguard["action"] == "block"
    assert [record.decision.action for record in records] == ["block"]
    assert (records[0].released, records[0].exchange.answer) == (GOOD, GOOD + LATE)
    assert (records[0].report.supported, records[0].report.total) == (1, 2)
    if chats:
        assert items[-1].choices[0].finish_reason == "content_filter"
    else:
        agree(items, f"{GOOD}\n\n{FALLBACK}")


@both
@apis
def test_a_bad_beginning_is_all_fallback(chats: bool, is_async: bool) -> None:
    """Told by the SDK's own objects."""
    with EventServer(saying(BAD + CARS)) as server:
        items, error = played(server, reading(chats), is_async=is_async, fallback=FALLBACK)

    assert error is None
    assert texts(items) == [FALLBACK]
    if not chats:
        agree(items, FALLBACK)


@both
@apis
def test_without_a_fallback_it_raises(chats: bool, is_async: bool) -> None:
    """What was released stays; the report is of all that was written."""
    with EventServer(endless(GOOD + LATE)) as server:
        items, error = played(server, reading(chats), is_async=is_async)
        assert server.left.wait(10)

    assert texts(items) == [GOOD]
    assert isinstance(error, UnfaithfulAnswerError)
    assert error.record is not None
    assert error.record.released == GOOD
    assert error.record.report == error.report
    assert [claim.text for claim in error.report.unsupported] == [LATE.strip()]


def agree(events: list[Any], text: str) -> None:
    """Check that all events of a response that hold its text hold this one."""
    assert "".join(texts(events)) == text
    held = {event.type: event for event in events}
    assert held["response.output_text.done"].text == text
    assert held["response.content_part.done"].part.text == text
    assert held["response.output_item.done"].item.content[0].text == text
    response = held["response.completed"].response
    assert response.output_text == text
    assert response.status == "completed"
    assert events[-1].type == "response.completed"


@both
@apis
def test_a_mended_stream_goes_on(chats: bool, is_async: bool) -> None:
    """All that tells its text tells what was released."""
    with EventServer(saying(f"{GOOD} The pool is heated.{CARS}")) as server:
        items, _ = played(server, reading(chats), is_async=is_async, on_fail="repair")
    with EventServer(saying(f"{BAD}{CARS}")) as server:
        others, _ = played(server, reading(chats), is_async=is_async, on_fail="repair")

    assert texts(items) == [GOOD, CARS]
    assert texts(others) == [GOOD, CARS]
    assert last_of(items).faithguard["action"] == "repair"
    if not chats:
        agree(items, GOOD + CARS)
        agree(others, GOOD + CARS)


@both
@apis
def test_a_bad_beginning_is_written_again(chats: bool, is_async: bool) -> None:
    """Nothing of the first attempt is told, neither its text nor its id."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = "not supported" in json.dumps(body)
        source: Iterator[Told] = iter(saying(GOOD + CARS)(body) if told else endless(BAD)(body))
        for name, data in source:
            named = {"id": f"id-{told}"}
            if "response" in data:
                yield name, {**data, "response": {**data["response"], **named}}
            else:
                yield name, {**data, **named} if chats else data

    with EventServer(script) as server:
        items, error = played(server, reading(chats), is_async=is_async, on_fail="regenerate")
        assert server.left.wait(10)

    assert error is None
    assert texts(items) == [GOOD, CARS]
    assert len(server.requests) == 2
    assert BAD in json.dumps(server.requests[1])
    assert last_of(items).faithguard["attempts"] == 2
    assert "id-False" not in str(items)
    if not chats:
        assert [item.type for item in items].count("response.created") == 1
        agree(items, GOOD + CARS)


@both
@apis
def test_an_attempt_that_ended_gives_its_connection_back(chats: bool, is_async: bool) -> None:
    """A client of one connection can ask again, and then for something else."""

    def script(body: dict[str, Any]) -> Any:
        return events_of(body, GOOD if "not supported" in json.dumps(body) else BAD)

    async def use(safe: Any) -> None:
        for _ in range(2):
            items, error = await reading(chats)(safe)
            assert error is None
            assert texts(items) == [GOOD]

    with EventServer(script) as server:
        played(server, use, is_async=is_async, on_fail="regenerate", connections=1)


@both
@apis
def test_what_was_released_is_not_written_again(chats: bool, is_async: bool) -> None:
    """Then the fallback ends it; also where no further attempt is better."""
    options = {"on_fail": "regenerate", "fallback": FALLBACK}
    with EventServer(endless(GOOD + LATE)) as server:
        items, _ = played(server, reading(chats), is_async=is_async, **options)
    with EventServer(endless(BAD)) as worse:
        others, _ = played(worse, reading(chats), is_async=is_async, **options)

    assert texts(items) == [GOOD, f"\n\n{FALLBACK}"]
    assert len(server.requests) == 1
    assert texts(others) == [FALLBACK]
    assert len(worse.requests) == 2
    if not chats:
        agree(others, FALLBACK)


@both
@apis
def test_a_stream_that_is_closed_is_closed_to_the_server(chats: bool, is_async: bool) -> None:
    """At once, with nothing of it left; what was released is on record."""
    records: list[Record] = []

    async def use(safe: Any) -> int:
        stream = await asked(chats)(safe)
        async for item in each(stream):
            if texts([item]):
                break
        await settled(stream.close())
        assert await asyncio.to_thread(server.left.wait, 10)
        return len(asyncio.all_tasks())

    with EventServer(endless(GOOD + CARS)) as server:
        assert played(server, use, is_async=is_async, sinks=[records.append]) == 1
    [record] = records
    assert record.exchange.answer == GOOD
    assert "its reader left before the end" in record.decision.reason


@apis
@pytest.mark.parametrize("lingers", [False, True])
def test_a_cancelled_reader_closes_the_stream(chats: bool, lingers: bool) -> None:
    """One that waits for the model, and one that does something else."""

    async def use(safe: Any) -> int:
        reached = asyncio.Event()

        async def read() -> None:
            async with await asked(chats)(safe) as stream:
                async for item in stream:
                    if texts([item]):
                        reached.set()
                        await asyncio.sleep(60 if lingers else 0)

        task = asyncio.create_task(read())
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 10)
        return len(asyncio.all_tasks())

    with EventServer(endless(GOOD + CARS)) as server:
        assert played(server, use, is_async=True) == 1


def test_a_stream_that_another_thread_closes_ends() -> None:
    """While it is being read."""
    gate = threading.Event()

    def script(body: dict[str, Any]) -> Iterator[Told]:
        yield from list(events_of(body, GOOD))[:3]
        gate.wait(10)
        yield from endless(GOOD)(body)

    with EventServer(script) as server, client(server) as inner:  # type: ignore[arg-type]
        safe = guard(inner, domain="support", sinks=[], stream="claims")
        stream = safe.chat.completions.create(model="m", messages=system(), stream=True)  # type: ignore[arg-type]
        next(stream)
        with ThreadPoolExecutor(1) as pool:
            reader = pool.submit(lambda: [*stream])
            stream.close()
            gate.set()
            assert reader.exception(10) is not None or reader.result() == []
        assert server.left.wait(10)


def test_a_stream_that_another_task_closes_ends() -> None:
    """While it is being read; and nothing is left."""
    gate = threading.Event()

    def script(body: dict[str, Any]) -> Iterator[Told]:
        yield from list(events_of(body, GOOD))[:3]
        gate.wait(10)
        yield from endless(GOOD)(body)

    async def use(safe: Any) -> int:
        stream = await asked(True)(safe)
        await anext(stream)
        reader = asyncio.create_task(anext(stream, None))
        await asyncio.sleep(0.05)
        await stream.close()
        await asyncio.wait([reader], timeout=10)
        assert reader.done()
        assert not reader.cancelled()
        gate.set()
        return len(asyncio.all_tasks())

    with EventServer(script) as server:
        assert played(server, use, is_async=True) == 1
        assert server.left.wait(10)


@both
@pytest.mark.parametrize("on_fail", ["block", "repair"])
def test_the_helper_of_chat_gives_the_right_completion(is_async: bool, on_fail: str) -> None:
    """Its events, its snapshots and its final object."""
    text = GOOD + (LATE if on_fail == "block" else " The pool is heated.") + CARS
    due = f"{GOOD}\n\n{FALLBACK}" if on_fail == "block" else GOOD + CARS

    async def use(safe: Any) -> Any:
        manager = safe.chat.completions.stream(model="m", messages=system())
        async with entered(manager) as stream:
            events = [event async for event in each(stream)]
            return events, await settled(stream.get_final_completion())

    with EventServer(saying(text)) as server:
        events, final = played(server, use, is_async=is_async, on_fail=on_fail, fallback=FALLBACK)

    assert "".join(e.delta for e in events if e.type == "content.delta") == due
    assert [e.content for e in events if e.type == "content.done"] == [due]
    assert final.choices[0].message.content == due
    assert final.choices[0].message.role == "assistant"
    notes = [e.chunk.faithguard for e in events if e.type == "chunk" and e.chunk.model_extra]
    assert [note["action"] for note in notes] == [on_fail]


@both
@pytest.mark.parametrize("on_fail", ["block", "repair"])
def test_the_helper_of_responses_gives_the_right_response(is_async: bool, on_fail: str) -> None:
    """Its events, its snapshots and its final object."""
    text = GOOD + (LATE if on_fail == "block" else " The pool is heated.") + CARS
    due = f"{GOOD}\n\n{FALLBACK}" if on_fail == "block" else GOOD + CARS

    async def use(safe: Any) -> Any:
        told = f"<document>{DOC}</document>"
        manager = safe.responses.stream(model="m", instructions=told, input=QUESTION)
        async with entered(manager) as stream:
            events = [event async for event in each(stream)]
            return events, await settled(stream.get_final_response())

    with EventServer(saying(text)) as server:
        events, final = played(server, use, is_async=is_async, on_fail=on_fail, fallback=FALLBACK)

    agree(events, due)
    snapshots = [e.snapshot for e in events if e.type == "response.output_text.delta"]
    assert snapshots[-1] == due
    assert final.output_text == due
    assert final.faithguard["action"] == on_fail


# -- beside the text ------------------------------------------------------------------------------


@both
@apis
def test_calls_of_tools_pass(chats: bool, is_async: bool) -> None:
    """After a text, which is verified, and alone, when nothing is."""
    for text in (GOOD, None):
        reports: list[Report] = []
        with EventServer(saying(called(chats, text))) as server:
            items, error = played(
                server, reading(chats, **TOOLS[chats]), is_async=is_async, on_report=reports.append
            )
        assert error is None
        assert texts(items) == ([text] if text else [])
        assert len(reports) == bool(text)
        assert names_called(items) == ["look_up"]
        assert hasattr(last_of(items), "faithguard") is bool(text)


def names_called(items: list[Any]) -> list[str]:
    """Return the names of the tools that a stream calls, and how it ends."""
    if isinstance(items[-1], ChatCompletionChunk):
        assert items[-1].choices[0].finish_reason == "tool_calls"
        calls = [call for item in items for call in item.choices[0].delta.tool_calls or ()]
        return [call.function.name for call in calls]  # type: ignore[union-attr]
    return [item.name for item in last_of(items).output if item.type == "function_call"]


@both
@apis
def test_a_bad_text_beside_calls_is_left_out(chats: bool, is_async: bool) -> None:
    """The calls pass: the caller answers them, and gets no fallback."""
    with EventServer(saying(called(chats, GOOD + LATE))) as server:
        for options in ({}, {"fallback": FALLBACK}):
            use = reading(chats, **TOOLS[chats])
            items, error = played(server, use, is_async=is_async, **options)
            assert error is None
            assert texts(items) == [GOOD]
            assert names_called(items) == ["look_up"]
            assert last_of(items).faithguard["passed"] is False
            assert "9:45" not in str(items)


@both
@apis
def test_calls_that_come_late_pass_beside_a_bad_text(chats: bool, is_async: bool) -> None:
    """The model has not called when its text is held back, and is waited for."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = list(events_of(body, called(chats, GOOD + LATE + CARS)))
        last = max(place for place, (_, data) in enumerate(told) if text_in(data))
        yield from told[: last + 1]
        threading.Event().wait(0.3)
        yield from told[last + 1 :]

    with EventServer(script) as server:
        use = reading(chats, **TOOLS[chats])
        items, error = played(server, use, is_async=is_async, fallback=FALLBACK)

    assert error is None
    assert texts(items) == [GOOD]
    assert names_called(items) == ["look_up"]


@both
@apis
def test_another_attempt_may_call_a_tool(chats: bool, is_async: bool) -> None:
    """Then nothing was said that could be verified, as without a stream."""

    def script(body: dict[str, Any]) -> Any:
        told = "not supported" in json.dumps(body)
        return events_of(body, called(chats, None) if told else BAD)

    with EventServer(script) as server:
        use = reading(chats, **TOOLS[chats])
        items, error = played(server, use, is_async=is_async, on_fail="regenerate")

    assert error is None
    assert names_called(items) == ["look_up"]
    assert len(server.requests) == 2
    assert "9:45" not in str(items)


@apis
def test_calls_come_as_they_are_written(chats: bool) -> None:
    """Not only once the model has ended."""
    seen = threading.Event()

    def script(body: dict[str, Any]) -> Iterator[Told]:
        *events, last = events_of(body, called(chats, None))
        yield from events
        assert seen.wait(10)
        yield last

    def calls(item: Any) -> bool:
        if chats:
            return bool(item.choices[0].delta.tool_calls)
        return bool(item.type == "response.function_call_arguments.done")

    async def use(safe: Any) -> None:
        async for item in each(await asked(chats, **TOOLS[chats])(safe)):
            if calls(item):
                seen.set()

    with EventServer(script) as server:
        played(server, use, is_async=False)
    assert seen.is_set()


@both
@apis
def test_reasoning_is_withheld(chats: bool, is_async: bool) -> None:
    """Its item keeps its place, and what is encrypted in it."""
    thought = {"type": "summary_text", "text": BAD}
    item = {"type": "reasoning", "summary": [thought], "encrypted_content": "abc"}
    said: list[dict[str, Any]] = [{"reasoning_content": BAD, "content": GOOD}]
    with EventServer(saying(said if chats else [item, {"content": GOOD}])) as server:
        items, error = played(server, reading(chats), is_async=is_async)

    assert error is None
    assert texts(items) == [GOOD]
    assert "9:45" not in str(items)
    if not chats:
        reasoning, message = last_of(items).output
        assert reasoning.encrypted_content == "abc"
        assert message.content[0].text == GOOD


@both
@apis
def test_refusals_are_verified_where_they_stand(chats: bool, is_async: bool) -> None:
    """What does not pass ends with the fallback as text, which a reader looks for."""

    def told(refusal: str) -> Any:
        part = {"type": "refusal", "refusal": refusal}
        said = [{"content": None, "refusal": refusal}] if chats else [{"content": [part]}]
        with EventServer(saying(said)) as server:
            items, error = played(server, reading(chats), is_async=is_async, fallback=FALLBACK)
        assert error is None
        if not chats:
            return texts(items), [
                getattr(part, "refusal", None) or part.text
                for item in last_of(items).output
                for part in item.content
            ]
        deltas = [item.choices[0].delta for item in items]
        return texts(items), [delta.refusal for delta in deltas if delta.refusal]

    assert told(GOOD) == ([], [GOOD])
    refused = told(GOOD + LATE)
    assert refused == ([f"\n\n{FALLBACK}"], [GOOD]) if chats else ([FALLBACK], [GOOD, FALLBACK])


@both
def test_messages_of_one_response_keep_their_texts(is_async: bool) -> None:
    """What a search between them finds is evidence from then on."""
    search = {
        "type": "file_search_call",
        "status": "completed",
        "queries": ["quay"],
        "results": [{"file_id": "f", "filename": "q.md", "score": 0.9, "text": "Dogs ride free."}],
    }
    first, second = f"{GOOD}\n", f"Dogs ride free.{CARS}"
    said = [{"content": first}, search, {"content": second}]
    told = {"instructions": "Answer.", "input": QUESTION}

    def ask(**options: Any) -> list[Any]:
        with EventServer(saying(said)) as server:
            use = reading(False, **told)
            items, error = played(server, use, is_async=is_async, **options)
        assert error is None
        return items

    def check(items: list[Any], *due: str) -> None:
        kinds = [item.type for item in last_of(items).output]
        assert kinds == ["message", "file_search_call", "message"][: len(kinds)]
        messages = [item for item in last_of(items).output if item.type == "message"]
        done = [item.item for item in items if item.type == "response.output_item.done"]
        for output in (messages, [item for item in done if item.type == "message"]):
            assert [message.content[0].text for message in output] == list(due)
        ends = [item.text for item in items if item.type == "response.output_text.done"]
        assert ends == list(due)
        assert "".join(texts(items)) == "".join(due)

    said[0]["content"] = first = "I will look it up.\n"
    check(ask(fallback=FALLBACK), first, f"Dogs ride free.\n\n{FALLBACK}")
    check(ask(on_fail="repair"), first, "Dogs ride free.")
    said[2]["content"] = second = "Dogs ride free. So dogs ride free."
    check(ask(fallback=FALLBACK), first, second)


@both
def test_annotations_stay_with_a_text_that_is_the_models(is_async: bool) -> None:
    """They tell places in it."""
    note = {"type": "file_citation", "file_id": "f", "filename": "ferry.md", "index": 3}

    def script(text: str) -> Callable[[dict[str, Any]], Iterator[Told]]:
        def told(body: dict[str, Any]) -> Iterator[Told]:
            part = {"type": "output_text", "text": text, "annotations": [note], "logprobs": []}
            for name, data in events_of(body, [{"content": [part]}]):
                if name == "response.output_text.done":
                    kind = "response.output_text.annotation.added"
                    at = {n: data[n] for n in ("output_index", "content_index", "item_id")}
                    yield kind, {"type": kind, **at, "annotation_index": 0, "annotation": note}
                yield name, data

        return told

    def found(text: str) -> tuple[int, int]:
        with EventServer(script(text)) as server:
            items, _ = played(server, reading(False), is_async=is_async, on_fail="repair")
        added = [item for item in items if item.type == "response.output_text.annotation.added"]
        return len(added), len(last_of(items).output[0].content[0].annotations)

    assert found(GOOD + CARS) == (1, 1)
    assert found(GOOD + LATE) == (0, 0)


@both
@apis
def test_an_error_amid_a_stream_is_the_servers(chats: bool, is_async: bool) -> None:
    """What is held is not told."""
    fault = {"message": "overloaded", "code": "busy", "param": None}

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = list(events_of(body, GOOD + LATE))
        last = max(place for place, (_, data) in enumerate(told) if text_in(data))
        yield from told[:last]
        if chats:
            yield None, {"error": fault}
        else:
            yield "error", {"type": "error", "sequence_number": 9, **fault}

    with EventServer(script) as server:
        items, error = played(server, reading(chats), is_async=is_async, fallback=FALLBACK)

    assert texts(items) == [GOOD]
    assert "overloaded" in str(error if chats else items[-1])


@both
@apis
def test_a_stream_that_breaks_off_is_verified_as_far_as_it_came(
    chats: bool, is_async: bool
) -> None:
    """And nothing makes up its end; its record says so."""
    records: list[Record] = []

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = list(events_of(body, GOOD + CARS))
        yield from told[: max(place for place, (_, data) in enumerate(told) if text_in(data))]

    with EventServer(script) as server:
        items, error = played(server, reading(chats), is_async=is_async, sinks=[records.append])

    assert error is None
    assert "".join(texts(items)) == (GOOD + CARS)[: len("".join(texts(items)))]
    assert texts(items)[0] == GOOD
    assert [record.exchange.answer for record in records] == ["".join(texts(items))]
    assert records[0].decision.reason.endswith("the model did not say that this is the end")


@both
@apis
@pytest.mark.parametrize("after", ["", "\n"])
def test_the_record_says_why_the_model_ended(chats: bool, is_async: bool, after: str) -> None:
    """Also where that comes after all sentences were verified."""
    records: list[Record] = []
    with EventServer(saying(GOOD + after)) as server:
        played(server, reading(chats), is_async=is_async, sinks=[records.append])

    [record] = records
    assert record.exchange.finish_reason == ("stop" if chats else "completed")
    assert record.attempts[-1].exchange.finish_reason == record.exchange.finish_reason
    assert "did not say" not in record.decision.reason


def test_text_that_comes_only_at_the_end_is_verified() -> None:
    """Some servers send no deltas, and some no other event than the last."""

    def script(only: tuple[str, ...]) -> Callable[[dict[str, Any]], Iterator[Told]]:
        def told(body: dict[str, Any]) -> Iterator[Told]:
            said = events_of(body, [{"content": GOOD + LATE}])
            return ((name, data) for name, data in said if str(name).startswith(only))

        return told

    for only in (
        ("response.created", "response.completed"),
        ("response.created", "response.output_item", "response.completed"),
        ("response.created", "response.content", "response.output_text.done", "response.comp"),
    ):
        with EventServer(script(only)) as server:
            items, _ = played(server, reading(False), is_async=False, fallback=FALLBACK)
            agree(items, f"{GOOD}\n\n{FALLBACK}")
            items, _ = played(server, reading(False), is_async=False, on_fail="repair")
            agree(items, GOOD)


def test_items_are_known_by_their_ids() -> None:
    """A server may count them from another number than the list does."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        for name, data in events_of(body, GOOD + CARS):
            moved = {"output_index": data["output_index"] + 1} if "output_index" in data else {}
            yield name, {**data, **moved}

    with EventServer(script) as server:
        items, _ = played(server, reading(False), is_async=False)
    agree(items, GOOD + CARS)


# -- held whole -----------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(
    "more",
    [
        {"n": 2},
        {"logprobs": True},
        {"response_format": {"type": "json_object"}},
        {"modalities": ["text", "audio"]},
    ],
)
def test_some_streams_are_held_whole(is_async: bool, more: dict[str, Any]) -> None:
    """They are verified as ever, by the policy's threshold."""
    said = [{"content": GOOD + LATE}] * (more.get("n") or 1)
    with EventServer(saying(said)) as server:
        items, error = played(server, reading(True, **more), is_async=is_async, fallback=FALLBACK)

    assert error is None
    assert texts(items) == [FALLBACK] * len(said)


@both
def test_what_does_not_stream_is_held_whole(is_async: bool) -> None:
    """As by any other guard."""

    async def use(safe: Any) -> Any:
        return await settled(safe.chat.completions.create(model="m", messages=system()))

    with ChatServer(lambda messages: GOOD + LATE) as server:
        completion = played(server, use, is_async=is_async, fallback=FALLBACK)
    assert completion.choices[0].message.content == FALLBACK


@both
def test_raw_streams_come_alike(is_async: bool) -> None:
    """The bytes of a streamed HTTP reply are those of the verified events."""

    async def use(safe: Any) -> Any:
        completions = safe.chat.completions
        made: Any = completions.with_streaming_response.create(
            model="m", messages=system(), stream=True
        )
        async with entered(made) as reply:
            lines = [line async for line in each(reply.iter_lines())]
        raw = await settled(
            completions.with_raw_response.create(model="m", messages=system(), stream=True)
        )
        return lines, [item async for item in each(raw.parse())]

    with EventServer(endless(GOOD + LATE)) as server:
        lines, items = played(server, use, is_async=is_async, fallback=FALLBACK)

    data = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert [text for text in map(text_in, data) if text] == [GOOD, f"\n\n{FALLBACK}"]
    assert texts(items) == [GOOD, f"\n\n{FALLBACK}"]


def test_settings_that_cannot_be_used_are_refused() -> None:
    """With a remedy."""
    with ChatServer(lambda messages: GOOD) as server, client(server) as inner:
        with pytest.raises(ConfigError, match="on_fail='flag'"):
            guard(inner, stream="claims", on_fail="flag")
        with pytest.raises(ConfigError, match="stream='claims'"):
            guard(inner, max_hold_chars=100)


@apis
def test_what_does_not_end_is_not_held_for_ever(chats: bool) -> None:
    """It blocks."""
    with EventServer(saying(f"{GOOD} and{' on' * 200}")) as server:
        items, _ = played(
            server, reading(chats), is_async=False, fallback=FALLBACK, max_hold_chars=100
        )
    assert texts(items) == [FALLBACK]
    assert "100 characters" in last_of(items).faithguard["reason"]


# -- many at once ---------------------------------------------------------------------------------


def echo(body: dict[str, Any]) -> Any:
    """Say how many cars there are as the question says, and something else after that."""
    asked = body["messages"][-1]["content"]
    return events_of(body, f"The ferry carries {asked} cars. It leaves Ulvo at {asked}:59.")


def due(number: int) -> str:
    """Return what a caller gets."""
    return f"The ferry carries {number} cars.\n\n{FALLBACK}"


def test_tasks_at_once_get_their_own() -> None:
    """Each with its own context, on one client."""

    async def use(safe: Any) -> list[str]:
        async def one(number: int) -> str:
            twin = safe.with_context(f"The ferry carries {number} cars.")
            messages = [{"role": "user", "content": str(number)}]
            stream = await twin.chat.completions.create(model="m", messages=messages, stream=True)
            return "".join(texts([chunk async for chunk in stream]))

        return list(await asyncio.gather(*map(one, range(100, 120))))

    with EventServer(echo) as server:
        got = played(server, use, is_async=True, fallback=FALLBACK)
    assert got == [due(number) for number in range(100, 120)]


def test_threads_at_once_get_their_own() -> None:
    """The same."""
    with EventServer(echo) as server, client(server) as inner:  # type: ignore[arg-type]
        safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[], stream="claims")

        def one(number: int) -> str:
            twin = safe.with_context(f"The ferry carries {number} cars.")
            messages: Any = [{"role": "user", "content": str(number)}]
            chunks = twin.chat.completions.create(model="m", messages=messages, stream=True)
            return "".join(texts(chunks))

        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(one, range(100, 120)))
    assert got == [due(number) for number in range(100, 120)]


def test_a_slow_reader_holds_the_model_up() -> None:
    """Of a stream that nobody reads on, not much more than what the sockets hold is read."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        told = list(events_of(body, GOOD + CARS))
        texts_of = [event for event in told if text_in(event[1])]
        padded = [(name, {**data, "pad": "x" * 2000}) for name, data in texts_of]
        while True:
            yield from padded

    async def use(safe: Any) -> tuple[int, int]:
        stream = await asked(True)(safe)
        async for item in stream:
            if texts([item]):
                break
        before = -1
        while before != server.told:  # until the sockets are full
            before = server.told
            await asyncio.sleep(0.5)
        await stream.close()
        return before, len(asyncio.all_tasks())

    with EventServer(script) as server:
        told, tasks = played(server, use, is_async=True)
        assert server.left.wait(10)
    assert told > 10
    assert tasks == 1


@pytest.mark.parametrize("stream", ["answer", "claims"])
def test_a_choice_of_another_number_is_no_way_around(stream: str) -> None:
    """One was asked for; it is verified, and ends, under whatever number it comes."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        for name, data in events_of(body, BAD):
            yield name, {**data, "choices": [{**c, "index": 1} for c in data["choices"]]}

    async def use(safe: Any) -> list[Any]:
        made = await settled(
            safe.chat.completions.create(model="m", messages=system(), stream=True)
        )
        return [choice async for chunk in each(made) for choice in chunk.choices]

    with EventServer(script) as server:
        choices = played(server, use, is_async=False, stream=stream, fallback=FALLBACK)
    assert "".join(choice.delta.content or "" for choice in choices) == FALLBACK
    assert choices[-1].finish_reason == "content_filter"


@pytest.mark.parametrize("stream", ["answer", "claims"])
def test_words_in_places_of_a_chunk_that_are_not_read_are_left_out(stream: str) -> None:
    """The answer passes, so nothing of a chunk, a choice or a delta may ride along."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        for name, data in events_of(body, GOOD):
            choices = [
                {**c, "remark": BAD, "delta": {**c["delta"], "note": BAD}} for c in data["choices"]
            ]
            yield name, {**data, "note": [BAD], "choices": choices}

    async def use(safe: Any) -> str:
        made = await settled(
            safe.chat.completions.create(model="m", messages=system(), stream=True)
        )
        return "".join([chunk.to_json() async for chunk in each(made)])

    with EventServer(script) as server:
        got = played(server, use, is_async=False, stream=stream, fallback=FALLBACK)
    assert FALLBACK not in got
    assert '"passed": true' in got
    assert "9:45" not in got
