"""The doubles and contract suites that we hand to others."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from faithguard.sinks import AnySink
from faithguard.testing import (
    ChatServer,
    Clock,
    TableVerifier,
    check_sink,
    example_record,
    ids,
)
from faithguard.types import Claim, Record
from faithguard.verifiers import Context


def test_a_clock_goes_only_when_told() -> None:
    """By hand, or by a step at each look."""
    still, ticking = Clock(5.0), Clock(step=0.5)
    assert (still(), still()) == (5.0, 5.0)
    still.pass_(2.5)

    assert still() == 7.5
    assert [ticking() for _ in range(3)] == [0.5, 1.0, 1.5]


def test_ids_can_be_repeated() -> None:
    """Each source counts for itself."""
    one, other = ids(), ids("run")

    assert [one(), one(), other()] == ["x1", "x2", "run1"]


def claims(*texts: str) -> list[Claim]:
    """Return claims with ids."""
    return [Claim(id=f"c{n}", text=text, span=(0, 0)) for n, text in enumerate(texts)]


def test_a_table_says_what_it_says() -> None:
    """A number, silence, or everything else; and what was asked is known."""
    table = TableVerifier({"yes": 0.9, "half": 0.5, "no": 0.1, "hush": None, "*": 0.0}, "t@9")
    findings = table.verify(claims("yes", "half", "no", "hush", "else"), Context([]))

    assert [f and f.label for f in findings] == [  # type: ignore[union-attr]
        "supported",
        "supported",
        "not_mentioned",
        None,
        "not_mentioned",
    ]
    assert table.asked == ["yes", "half", "no", "hush", "else"]
    assert table.name == "t@9"


def test_a_table_raises_what_it_holds() -> None:
    """In both forms."""
    table = TableVerifier({"*": LookupError("no")})
    with pytest.raises(LookupError):
        table.verify(claims("x"), Context([]))
    with pytest.raises(LookupError):
        asyncio.run(table.averify(claims("x"), Context([])))


def test_a_slow_table_blocks_a_thread_but_no_loop() -> None:
    """Ten awaited calls of 0.2 s take no two seconds."""
    table = TableVerifier({"*": 1.0}, seconds=0.2)

    async def run() -> None:
        await asyncio.gather(*(table.averify(claims("x"), Context([])) for _ in range(10)))

    started = time.perf_counter()
    asyncio.run(run())

    assert 0.15 < time.perf_counter() - started < 1.5


def test_the_example_shows_what_a_sink_must_take() -> None:
    """Supported and unsupported claims, and characters that break careless code."""
    record = example_record()

    assert {"supported", "not_mentioned"} <= {claim.label for claim in record.report.claims}
    assert "\x1b" in record.exchange.answer
    assert "<script>" in record.exchange.answer
    assert not record.decision.passed


def losing(kept: list[Record]) -> AnySink:
    """Keep every other record."""
    calls: list[int] = []

    def sink(record: Record) -> None:
        calls.append(1)
        if len(calls) % 2:
            kept.append(record)

    return sink


def doubling(kept: list[Record]) -> AnySink:
    """Keep each record twice."""

    def sink(record: Record) -> None:
        kept.extend([record, record])

    return sink


def racing(kept: list[Record]) -> AnySink:
    """Forget what others keep meanwhile."""

    def sink(record: Record) -> None:
        mine = list(kept)
        time.sleep(0.05)
        kept[:] = [*mine, record]

    return sink


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda kept: lambda record: None, "not one record stored"),
        (doubling, "not one record stored"),
        (losing, "are lost"),
        (racing, "are lost"),
    ],
    ids=["forgetful", "doubling", "losing", "racing"],
)
def test_a_wrong_sink_is_found_out(make: Callable[[list[Record]], AnySink], message: str) -> None:
    """One that loses, doubles, or is not safe for threads."""
    kept: list[Record] = []

    with pytest.raises(AssertionError, match=message):
        check_sink(make(kept), lambda: len(kept))


def test_a_sink_with_a_write_method_is_asked_by_it() -> None:
    """An object, not only a function."""

    class Locked:
        def __init__(self) -> None:
            self.kept: list[Record] = []
            self._lock = threading.Lock()

        def write(self, record: Record) -> None:
            with self._lock:
                self.kept.append(record)

    sink = Locked()
    check_sink(sink, lambda: len(sink.kept))


# The chat server ------------------------------------------------------------------------------


def post(server: ChatServer, text: str, **more: Any) -> tuple[int, str, str]:
    """Return status, content type and body of one request."""
    body = {"model": "any", "messages": [{"role": "user", "content": text}], **more}
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{server.url}/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310 - loopback
            return response.status, response.headers["content-type"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["content-type"], error.read().decode()


def test_a_chat_server_answers_in_the_protocol() -> None:
    """With the reply, a stop, and usage; and remembers what it was asked."""
    with ChatServer(lambda messages: f"You said {messages[-1]['content']}.") as server:
        status, kind, body = post(server, "ahoy")
        answer = json.loads(body)

        assert (status, kind) == (200, "application/json")
        assert answer["choices"][0]["message"]["content"] == "You said ahoy."
        assert answer["choices"][0]["finish_reason"] == "stop"
        assert answer["usage"]["total_tokens"] == 4
        assert server.requests[0]["messages"][0]["content"] == "ahoy"


def test_a_chat_server_streams_the_same_text() -> None:
    """In pieces that add up, ended by a stop and [DONE]."""
    text = "The pier is closed for repairs until spring."
    with ChatServer(lambda messages: text) as server:
        _, kind, body = post(server, "x", stream=True)
    *chunks, end = [line.removeprefix("data: ") for line in body.splitlines() if line]
    deltas = [json.loads(chunk)["choices"][0] for chunk in chunks]

    assert kind == "text/event-stream"
    assert end == "[DONE]"
    assert "".join(delta["delta"].get("content", "") for delta in deltas) == text
    assert [delta["finish_reason"] for delta in deltas][-1] == "stop"


@pytest.mark.parametrize(
    ("fault", "status", "holds"),
    [
        ("error", 500, "not well"),
        ("busy", 429, "slow down"),
        ("html", 200, "<html>"),
        ("garbage", 200, '{"choices"'),
        ("empty", 200, '"content": ""'),
        ("slow", 200, "late but whole"),
    ],
)
def test_a_chat_server_misbehaves_as_told(fault: Any, status: int, holds: str) -> None:
    """Each fault is what its name says."""
    with ChatServer(lambda messages: (fault, "late but whole"), pause=0.05) as server:
        got, _, body = post(server, "x")

    assert got == status
    assert holds in body


def test_a_chat_server_says_each_choice_and_calls_tools() -> None:
    """Whole messages, in one piece and in pieces that add up; and usage where it is asked for."""
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = [{"content": "The pier is closed."}, {"tool_calls": [call]}]
    with ChatServer(lambda messages: said) as server:
        whole = json.loads(post(server, "x")[2])
        _, _, body = post(server, "x", stream=True, stream_options={"include_usage": True})
    *chunks, _ = [line.removeprefix("data: ") for line in body.splitlines() if line]
    *parts, last = [json.loads(chunk) for chunk in chunks]
    choices = [part["choices"][0] for part in parts]

    assert [c["message"]["content"] for c in whole["choices"]] == ["The pier is closed.", None]
    assert whole["choices"][1]["message"]["tool_calls"] == [call]
    assert [c["finish_reason"] for c in whole["choices"]] == ["stop", "tool_calls"]
    texts = [c["delta"].get("content") or "" for c in choices if c["index"] == 0]
    assert "".join(texts) == "The pier is closed."
    calls = [c["delta"]["tool_calls"] for c in choices if "tool_calls" in c["delta"]]
    assert calls == [[{"index": 0, **call}]]
    assert [c["delta"]["role"] for c in choices if "role" in c["delta"]] == ["assistant"] * 2
    assert last["choices"] == []
    assert last["usage"] == whole["usage"]


def respond(server: ChatServer, **body: Any) -> str:
    """Return the body of one reply of the responses API."""
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{server.url}/responses", json.dumps({"model": "any", **body}).encode()
    )
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310 - loopback
        return str(response.read().decode())


def test_a_chat_server_answers_by_the_responses_api() -> None:
    """In one piece and in numbered events; instructions and input come as messages."""

    def reply(messages: list[dict[str, Any]]) -> Any:
        return [{"content": f"{messages[0]['content']} {messages[-1]['content']}"}]

    with ChatServer(reply) as server:
        whole = json.loads(respond(server, instructions="Answer.", input="When?"))
        body = respond(server, instructions="Answer.", input="When?", stream=True)
    names = [line.removeprefix("event: ") for line in body.splitlines() if "event: " in line]
    events = [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ")]

    assert whole["output"][0]["content"][0]["text"] == "Answer. When?"
    assert [event["type"] for event in events] == names
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
    assert "".join(deltas) == "Answer. When?"
    assert events[-1]["type"] == "response.completed"
    assert events[-1]["response"]["output"] == whole["output"]


def test_a_stream_that_is_cut_has_no_end() -> None:
    """Half of the pieces, neither a stop nor [DONE]."""
    with ChatServer(lambda messages: ("cut", "one two three four five six")) as server:
        _, _, body = post(server, "x", stream=True)

    assert "one" in body
    assert "six" not in body
    assert "[DONE]" not in body
    assert '"stop"' not in body
