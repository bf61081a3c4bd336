"""Responses by a guarded client: what is delivered, in the SDK's own types."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from openai.types.responses import Response
from pydantic import BaseModel

from faithguard import ConfigError, UnfaithfulAnswerError
from faithguard._protocols import events as events_of
from faithguard.testing import ChatServer
from faithguard_openai import GuardedOpenAI, guard
from faithguard_openai._events import Event, encoded
from faithguard_openai._reply import Manner
from faithguard_openai._responses import ResponseEvents

from .scene import BAD, DOC, FALLBACK, GOOD, QUESTION, better, client, guarded
from .streams import EventServer, Told, each, played, settled

TOLD = f"<document>{DOC}</document>"
SEARCH = {
    "type": "file_search_call",
    "id": "fs_1",
    "status": "completed",
    "queries": ["ferry"],
    "results": [{"file_id": "f", "filename": "ferry.md", "score": 0.9, "text": DOC}],
}
CALL = {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": "{}"}


class Departure(BaseModel):
    """A structured answer."""

    answer: str


def ask(safe: GuardedOpenAI, **options: Any) -> Any:
    """Ask for a response."""
    return safe.responses.create(
        **{"model": "m", "instructions": TOLD, "input": QUESTION, **options}
    )


def test_a_response_is_the_sdks_own() -> None:
    """Delivered as it was, or with the fallback in the place of all that was said."""
    with guarded(GOOD) as safe:
        response = ask(safe)
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": BAD}]}
    with guarded(lambda items: [reasoning, {"content": BAD}], fallback=FALLBACK) as safe:
        blocked = ask(safe)

    assert isinstance(response, Response)
    assert isinstance(blocked, Response)
    assert response.output_text == GOOD
    assert response.faithguard["passed"] is True  # type: ignore[attr-defined]
    assert blocked.output_text == FALLBACK
    assert blocked.status == "completed"
    assert blocked.faithguard["action"] == "block"  # type: ignore[attr-defined]
    assert "9:45" not in blocked.to_json()


def test_a_model_is_asked_again_by_items() -> None:
    """The input becomes a list; the id of the held-back response is not sent."""
    with ChatServer(better) as server, client(server) as inner:
        response = ask(guard(inner, domain="support", on_fail="regenerate", sinks=[]))

    assert response.output_text == GOOD
    assert response.usage is not None
    assert response.usage.output_tokens > 6
    assert server.requests[1]["input"][:2] == [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": BAD},
    ]
    assert "previous_response_id" not in server.requests[1]


def test_a_conversation_of_the_servers_is_not_asked_twice() -> None:
    """It would keep the held-back answer."""
    with guarded(GOOD, on_fail="regenerate") as safe, pytest.raises(ConfigError, match="input"):
        ask(safe, conversation="conv_1")


def test_results_of_a_file_search_are_evidence() -> None:
    """Where the response carries them; they stay beside a fallback."""
    with guarded(lambda items: [SEARCH, {"content": GOOD}]) as safe:
        good = ask(safe, instructions="")
    with guarded(lambda items: [SEARCH, {"content": BAD}], fallback=FALLBACK) as safe:
        blocked = ask(safe, instructions="")
    bare = {**SEARCH, "results": None}
    with guarded(lambda items: [bare, {"content": GOOD}], fallback=FALLBACK) as safe:
        unseen = ask(safe, instructions="")

    assert good.output_text == GOOD
    assert [item.type for item in blocked.output] == ["file_search_call", "message"]
    assert blocked.output_text == FALLBACK
    assert unseen.output_text == FALLBACK


def test_events_come_as_they_were() -> None:
    """After the last of them was held; each response in them has the note."""
    with ChatServer(lambda messages: GOOD) as server, client(server) as inner:
        plain = list(ask(inner, stream=True))  # type: ignore[arg-type]
        events = list(ask(guard(inner, domain="support", sinks=[]), stream=True))

    assert [event.type for event in events] == [event.type for event in plain]
    assert [type(event) for event in events] == [type(event) for event in plain]
    assert events[-1].response.faithguard["passed"] is True
    assert events[-1].response.output == plain[-1].response.output


def test_blocked_events_tell_the_fallback() -> None:
    """The SDK's helper puts them together like any others."""
    with guarded(BAD, fallback=FALLBACK) as safe:
        events = list(ask(safe, stream=True))
        with safe.responses.stream(model="m", instructions=TOLD, input=QUESTION) as stream:
            told = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
            final = stream.get_final_response()

    assert "9:45" not in "".join(event.to_json() for event in events)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert told == final.output_text == FALLBACK


@pytest.mark.parametrize("kind", ["delta", "text.done", "part.done", "item.done", "completed"])
def test_what_any_event_says_is_verified(kind: str) -> None:
    """A server may say by one kind of event what it does not say by the others."""
    body = {"input": QUESTION}
    sent = [
        Event(
            name, json.loads(json.dumps(data).replace(GOOD, BAD)) if kind in data["type"] else data
        )
        for name, data in events_of(body, [{"content": GOOD}])
    ]
    if kind == "delta":  # the pieces are too short to be replaced one by one
        pieces = [event for event in sent if kind in event.data["type"]]
        pieces[0].data["delta"] = BAD
    (answer,) = ResponseEvents(encoded(sent), Manner(False, "stop")).answers

    assert BAD in answer.text


def test_function_calls_pass_and_a_bad_text_beside_them_does_not() -> None:
    """In both forms."""
    with guarded(lambda items: [{"content": BAD}, CALL], fallback=FALLBACK) as safe:
        response = ask(safe)
        events = list(ask(safe, stream=True))
    with guarded(lambda items: [CALL]) as safe:
        plain = ask(safe)

    assert [item.type for item in response.output] == ["function_call"]
    assert "9:45" not in "".join(event.to_json() for event in events)
    assert [item.type for item in events[-1].response.output] == ["function_call"]
    assert [item.type for item in plain.output] == ["function_call"]
    assert not hasattr(plain, "faithguard")


def test_a_parsed_response_is_verified_before_it_is_parsed() -> None:
    """A blocked one has no parsed object; its text is the fallback."""

    def reply(items: list[dict[str, Any]]) -> str:
        return json.dumps({"answer": better(items)})

    def parse(**options: Any) -> Any:
        with guarded(reply, **options) as safe:
            return safe.responses.parse(
                model="m", instructions=TOLD, input=QUESTION, text_format=Departure
            )

    good, blocked = parse(on_fail="regenerate"), parse(fallback=FALLBACK)
    assert good.output_parsed == Departure(answer=GOOD)
    assert blocked.output_parsed is None
    assert blocked.output_text == FALLBACK
    with pytest.raises(UnfaithfulAnswerError):
        parse()


def test_a_parsing_stream_refuses() -> None:
    """Its helper would parse any other text as JSON."""
    said = json.dumps({"answer": BAD})
    with (
        guarded(said, fallback=FALLBACK) as safe,
        safe.responses.stream(
            model="m", instructions=TOLD, input=QUESTION, text_format=Departure
        ) as stream,
    ):
        events = list(stream)
        final = stream.get_final_response()

    # the SDK's own serializer warns of what it has parsed
    assert "9:45" not in "".join(event.to_json(warnings=False) for event in events)
    assert final.output_parsed is None
    message: Any = final.output[-1]
    assert message.content[0].refusal == FALLBACK


def test_raw_responses_are_guarded() -> None:
    """Bytes and lines."""
    with guarded(BAD, fallback=FALLBACK) as safe:
        raw = safe.responses.with_raw_response.create(model="m", instructions=TOLD, input=QUESTION)
        assert "9:45" not in raw.text
        assert raw.parse().output_text == FALLBACK
        streaming = safe.responses.with_streaming_response
        with streaming.create(model="m", instructions=TOLD, input=QUESTION, stream=True) as reply:
            assert "9:45" not in "".join(reply.iter_lines())


def test_repair_leaves_out_what_failed() -> None:
    """In one piece, in events, and beside calls."""
    both = f"{GOOD} Dogs travel free of charge."
    with guarded(both, on_fail="repair") as safe:
        response = ask(safe)
        events = list(ask(safe, stream=True))
    with guarded(lambda items: [{"content": both}, CALL], on_fail="repair") as safe:
        beside = ask(safe)

    assert response.output_text == GOOD
    assert response.faithguard["action"] == "repair"
    assert "Dogs" not in "".join(event.to_json() for event in events)
    assert events[-1].response.output_text == GOOD
    assert [item.type for item in beside.output] == ["message", "function_call"]
    assert beside.output_text == GOOD


@pytest.mark.parametrize("stream", ["answer", "claims"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "events"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_citation_keeps_its_link_and_loses_its_title(
    is_async: bool, streams: bool, stream: str
) -> None:
    """The title is a text that goes to the reader, and nothing has verified it."""
    cited = {"type": "url_citation", "url": "https://quay.example", "title": BAD}
    part = {"type": "output_text", "text": GOOD, "annotations": [cited]}
    note = {"annotation_index": 0, "annotation": cited, "output_index": 0, "content_index": 0}

    def script(body: dict[str, Any]) -> Iterator[Told]:
        kind = "response.output_text.annotation.added"
        for name, data in events_of(body, [{"content": [part]}]):
            if name == "response.output_text.done":
                yield kind, {"type": kind, "item_id": data["item_id"], **note}
            yield name, data

    async def use(safe: Any) -> str:
        asked = {"model": "m", "instructions": TOLD, "input": QUESTION, "stream": streams}
        made = await settled(safe.responses.create(**asked))
        if not streams:
            return str(made.to_json())
        return "".join([event.to_json() async for event in each(made)])

    server: Any = EventServer(script) if streams else ChatServer(lambda _: [{"content": [part]}])
    with server:
        got = played(server, use, is_async=is_async, stream=stream)
    assert GOOD in got
    assert "quay.example" in got
    assert "9:45" not in got


@pytest.mark.parametrize("stream", ["answer", "claims"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "events"])
def test_words_in_places_that_are_not_read_are_left_out(streams: bool, stream: str) -> None:
    """The answer passes, so nothing of an item or a part may ride along."""
    part = {"type": "output_text", "text": GOOD, "annotations": [], "note": BAD}
    said = [{"content": [part], "remark": BAD, "id": "msg_1"}]

    async def use(safe: Any) -> str:
        asked = {"model": "m", "instructions": TOLD, "input": QUESTION, "stream": streams}
        made = await settled(safe.responses.create(**asked))
        return "".join([e.to_json() async for e in each(made)]) if streams else made.to_json()

    with ChatServer(lambda _: said) as server:
        got = played(server, use, is_async=False, stream=stream, fallback=FALLBACK)
    assert GOOD in got
    assert "9:45" not in got


@pytest.mark.filterwarnings("ignore:Pydantic serializer:UserWarning")  # the SDK's, of its kind
@pytest.mark.parametrize("stream", ["answer", "claims"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "events"])
def test_an_item_of_a_kind_that_is_not_known_says_nothing_unverified(
    streams: bool, stream: str
) -> None:
    """Held as a whole it blocks like an unknown part; by claim its words are left out."""
    said = [{"content": [{"type": "output_text", "text": GOOD, "annotations": []}]}]
    said += [{"type": "announcement", "id": "x", "text": BAD}]

    async def use(safe: Any) -> str:
        asked = {"model": "m", "instructions": TOLD, "input": QUESTION, "stream": streams}
        made = await settled(safe.responses.create(**asked))
        return "".join([e.to_json() async for e in each(made)]) if streams else made.to_json()

    with ChatServer(lambda _: said) as server:
        got = played(server, use, is_async=False, stream=stream, fallback=FALLBACK)
    by_claim = streams and stream == "claims"
    assert "9:45" not in got
    assert (GOOD in got) == by_claim
    assert (FALLBACK in got) != by_claim
