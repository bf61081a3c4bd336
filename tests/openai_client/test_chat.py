"""Chat completions by a guarded client: what is delivered, in the SDK's own types."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from faithguard import Claim, ConfigError, Record, Report, UnfaithfulAnswerError
from faithguard.testing import ChatServer
from faithguard_openai import GuardedOpenAI, guard

from .scene import BAD, DOC, FALLBACK, GOOD, QUESTION, better, client, guarded, run, system
from .streams import EventServer, Told, each, played, settled


class Departure(BaseModel):
    """A structured answer."""

    answer: str


CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}


def ask(safe: OpenAI, **options: Any) -> Any:
    """Ask for a completion."""
    return safe.chat.completions.create(model="m", messages=system(), **options)  # type: ignore[call-overload]


def test_a_faithful_completion_is_the_sdks_own() -> None:
    """All of it as it was sent, and the note."""
    with guarded(GOOD) as safe:
        completion = ask(safe)

    assert isinstance(completion, ChatCompletion)
    assert completion.choices[0].message.content == GOOD
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    note = completion.faithguard  # type: ignore[attr-defined]
    assert (note["passed"], note["action"], note["supported"], note["total"]) == (
        True,
        "deliver",
        1,
        1,
    )


def test_a_blocked_completion_holds_the_fallback_and_nothing_else() -> None:
    """Also not its log probabilities, its reasoning or whatever else stood beside it."""
    said = [{"content": BAD, "reasoning_content": BAD, "audio": {"transcript": BAD}}]
    with guarded(lambda messages: said, fallback=FALLBACK) as safe:
        completion = ask(safe)

    assert completion.choices[0].message.content == FALLBACK
    assert completion.choices[0].finish_reason == "content_filter"
    assert "9:45" not in completion.to_json()
    assert completion.faithguard["action"] == "block"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": BAD},
        {"content": [{"type": "text", "text": BAD}]},
        {"content": [{"type": "of_tomorrow", "said": BAD}]},
        {"content": {"said": BAD}},
        {"content": None, "audio": {"transcript": BAD}},
    ],
    ids=["refusal", "parts", "unknown part", "object", "spoken"],
)
def test_whatever_a_message_says_is_verified(message: dict[str, Any]) -> None:
    """Servers have more forms than the SDK knows; none comes past."""
    with guarded(lambda messages: [message], fallback=FALLBACK) as safe:
        completion = ask(safe)

    assert completion.choices[0].message.content == FALLBACK
    assert "9:45" not in completion.to_json(warnings=False)


def test_without_a_fallback_the_block_is_raised() -> None:
    """With report and record; no text of the answer stands in it."""
    reports: list[Report] = []
    with guarded(BAD, on_report=reports.append) as safe, pytest.raises(UnfaithfulAnswerError) as e:
        ask(safe)

    assert "9:45" not in str(e.value)
    assert e.value.report is reports[0]
    assert e.value.record is not None
    assert e.value.record.exchange.started_at is not None
    assert e.value.report.exchange.answer == BAD
    assert e.value.report.exchange.question == QUESTION


def test_a_model_is_asked_again_with_what_was_wrong() -> None:
    """After the answer that did not pass; the tokens of both attempts are counted."""
    with ChatServer(better) as server, client(server) as inner:
        completion = ask(guard(inner, domain="support", on_fail="regenerate", sinks=[]))
        first, second = (request["messages"] for request in server.requests)

    assert completion.choices[0].message.content == GOOD
    assert completion.faithguard["attempts"] == 2  # type: ignore[attr-defined]
    assert second[: len(first)] == first
    assert second[-2] == {"role": "assistant", "content": BAD}
    assert BAD in second[-1]["content"]
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 12


def test_flag_delivers_and_says_so() -> None:
    """The answer is the caller's, and so is the note."""
    with guarded(BAD, on_fail="flag") as safe:
        completion = ask(safe)

    assert completion.choices[0].message.content == BAD
    assert completion.faithguard["passed"] is False  # type: ignore[attr-defined]


def test_each_choice_is_verified() -> None:
    """One is held back, the others are not; each has its own note."""
    said = [{"content": GOOD}, {"content": BAD}, {"content": GOOD}]
    with guarded(lambda messages: said, fallback=FALLBACK) as safe:
        completion = ask(safe, n=3)

    contents = [choice.message.content for choice in completion.choices]
    assert contents == [GOOD, FALLBACK, GOOD]
    assert [c.finish_reason for c in completion.choices] == ["stop", "content_filter", "stop"]
    assert [c.faithguard["passed"] for c in completion.choices] == [True, False, True]
    assert completion.faithguard["passed"] is False


def test_each_choice_is_asked_for_again_alone() -> None:
    """One request for each that did not pass, for one choice."""

    def reply(messages: list[dict[str, Any]]) -> Any:
        said = better(messages)
        return said if said == GOOD else [{"content": GOOD}, {"content": BAD}]

    with ChatServer(reply) as server, client(server) as inner:
        completion = ask(guard(inner, domain="support", on_fail="regenerate", sinks=[]), n=2)

    assert [c.message.content for c in completion.choices] == [GOOD, GOOD]
    assert [c.index for c in completion.choices] == [0, 1]
    assert [request.get("n") for request in server.requests] == [2, None]


def test_a_stream_is_held_and_then_comes_as_it_was() -> None:
    """Chunk by chunk, the usage chunk included; a block comes as two chunks."""
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
    with ChatServer(lambda messages: GOOD) as server, client(server) as inner:
        plain = list(ask(inner, **options))
        chunks = list(ask(guard(inner, domain="support", sinks=[]), **options))
    with guarded(BAD, fallback=FALLBACK) as safe:
        blocked = list(ask(safe, **options))

    assert all(isinstance(chunk, ChatCompletionChunk) for chunk in [*chunks, *blocked])
    assert [c.choices for c in chunks] == [c.choices for c in plain]
    assert chunks[-1].usage == plain[-1].usage
    texts = [c.choices[0].delta.content for c in blocked if c.choices]
    assert texts == [FALLBACK, None]
    assert blocked[1].choices[0].finish_reason == "content_filter"
    assert blocked[-1].usage is not None
    assert blocked[0].faithguard["passed"] is False  # type: ignore[attr-defined]


def test_a_stream_of_choices_holds_back_one() -> None:
    """The others' chunks stay."""
    said = [{"content": BAD}, {"content": GOOD}]
    with guarded(lambda messages: said, fallback=FALLBACK) as safe:
        texts = {0: "", 1: ""}
        for chunk in ask(safe, n=2, stream=True):
            for choice in chunk.choices:
                texts[choice.index] += choice.delta.content or ""

    assert texts == {0: FALLBACK, 1: GOOD}


def test_a_stream_asks_again_before_it_says_anything() -> None:
    """The second answer's chunks, with the tokens of both."""
    with guarded(better, on_fail="regenerate") as safe:
        chunks = list(ask(safe, stream=True, stream_options={"include_usage": True}))

    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == GOOD
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens == 12


def test_a_stream_that_breaks_off_is_verified_as_far_as_it_came() -> None:
    """Half an answer may be as wrong as a whole one."""
    with guarded(lambda messages: ("cut", f"{BAD} {BAD} {BAD}"), fallback=FALLBACK) as safe:
        chunks = list(ask(safe, stream=True))

    assert [c.choices[0].delta.content for c in chunks] == [FALLBACK, None]


def test_a_stream_that_nobody_reads_asks_for_no_verdict() -> None:
    """It is closed, and its connection with it."""
    reports: list[Report] = []
    with guarded(BAD, on_report=reports.append) as safe:
        with ask(safe, stream=True) as stream:
            pass

        assert stream.response.is_closed
    assert reports == []


def test_tool_calls_pass_and_a_bad_text_beside_them_does_not() -> None:
    """In both forms; the caller's tools are not held up by a preamble."""
    said = [{"content": BAD, "tool_calls": [CALL]}]
    with guarded(lambda messages: said, fallback=FALLBACK) as safe:
        message = ask(safe).choices[0].message
        chunks = list(ask(safe, stream=True))
    with guarded(lambda messages: [{"tool_calls": [CALL]}]) as safe:
        plain = ask(safe)
    with ChatServer(lambda messages: said) as server, client(server) as inner:
        again = ask(guard(inner, on_fail="regenerate", sinks=[]))
        assert len(server.requests) == 1

    assert again.choices[0].message.content is None
    assert message.content is None
    assert [call.id for call in message.tool_calls or []] == ["call_1"]
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert not any(delta.content for delta in deltas)
    assert [c.id for delta in deltas for c in delta.tool_calls or []] == ["call_1"]
    assert chunks[-1].choices[0].finish_reason == "tool_calls"
    assert plain.choices[0].finish_reason == "tool_calls"
    assert not hasattr(plain, "faithguard")


def test_a_parsed_answer_is_verified_before_it_is_parsed() -> None:
    """A blocked one has no parsed object; its content is the fallback."""

    def reply(messages: list[dict[str, Any]]) -> str:
        return json.dumps({"answer": better(messages)})

    def parse(**options: Any) -> Any:
        with guarded(reply, **options) as safe:
            return safe.chat.completions.parse(
                model="m",
                messages=system(),  # type: ignore[arg-type]
                response_format=Departure,
            )

    good, blocked = parse(on_fail="regenerate"), parse(fallback=FALLBACK)
    assert good.choices[0].message.parsed == Departure(answer=GOOD)
    assert blocked.choices[0].message.parsed is None
    assert blocked.choices[0].message.content == FALLBACK
    assert blocked.choices[0].finish_reason == "content_filter"
    with pytest.raises(UnfaithfulAnswerError):
        parse()


def test_a_truncated_answer_is_parsed_as_the_sdk_does() -> None:
    """Its error carries a completion that was verified."""
    with guarded('{"answer": "The ferry', on_fail="flag") as safe, pytest.raises(ValueError):  # noqa: PT011 - pydantic's
        safe.chat.completions.parse(
            model="m",
            messages=system(),  # type: ignore[arg-type]
            response_format=Departure,
        )


@pytest.mark.parametrize("structured", [False, True])
def test_the_stream_helper_gives_the_fallback(structured: bool) -> None:
    """As text, or, where it would be parsed as JSON, as a refusal."""
    options: dict[str, Any] = {"response_format": Departure} if structured else {}
    said = json.dumps({"answer": BAD}) if structured else BAD
    with (
        guarded(said, fallback=FALLBACK) as safe,
        safe.chat.completions.stream(
            model="m",
            messages=system(),  # type: ignore[arg-type]
            **options,
        ) as stream,
    ):
        events = list(stream)
        message = stream.get_final_completion().choices[0].message

    assert "9:45" not in "".join(event.to_json() for event in events)
    assert (message.refusal if structured else message.content) == FALLBACK
    assert getattr(message, "parsed", None) is None


def test_raw_replies_are_guarded() -> None:
    """Their bytes, their text, their lines and what they parse to; headers stay."""
    with guarded(BAD, fallback=FALLBACK) as safe:
        completions = safe.chat.completions
        raw = completions.with_raw_response.create(model="m", messages=system())  # type: ignore[arg-type]
        assert raw.status_code == 200
        assert raw.headers["content-type"] == "application/json"
        assert "9:45" not in raw.text + raw.http_response.text + str(raw.content)
        assert raw.elapsed.total_seconds() > 0
        assert raw.parse().choices[0].message.content == FALLBACK
        streaming = completions.with_streaming_response
        with streaming.create(model="m", messages=system()) as reply:  # type: ignore[arg-type]
            assert "9:45" not in "".join(reply.iter_text())
        with streaming.create(model="m", messages=system(), stream=True) as reply:  # type: ignore[arg-type]
            lines = list(reply.iter_lines())
        raw_stream = completions.with_raw_response.create(
            model="m",
            messages=system(),  # type: ignore[arg-type]
            stream=True,
        )
        chunks = list(raw_stream.parse())

    assert "9:45" not in "".join(lines)
    assert FALLBACK in "".join(lines)
    assert chunks[0].choices[0].delta.content == FALLBACK


@pytest.mark.parametrize(
    ("fault", "error"),
    [("error", openai.InternalServerError), ("busy", openai.RateLimitError)],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_are_the_sdks(fault: str, error: type[Exception], stream: bool) -> None:
    """As without a guard, also before a stream."""
    with guarded(lambda messages: (fault, "")) as safe, pytest.raises(error):
        ask(safe, stream=stream)


def test_retries_are_the_sdks() -> None:
    """It asks again by itself, and the guard sees the last reply only."""
    replies: list[Any] = [("busy", ""), GOOD]
    with ChatServer(lambda messages: replies.pop(0)) as server, client(server) as inner:
        safe = guard(inner, domain="support", sinks=[]).with_options(max_retries=2)
        raw = safe.chat.completions.with_raw_response.create(model="m", messages=system())  # type: ignore[arg-type]

    assert raw.retries_taken == 1
    assert raw.parse().choices[0].message.content == GOOD


def test_a_timeout_is_the_sdks() -> None:
    """For a whole answer, and for one in a stream, while it is read."""
    with ChatServer(lambda messages: ("slow", GOOD), pause=1.0) as server, client(server) as inner:
        safe = guard(inner, domain="support", sinks=[]).with_options(timeout=0.2)
        with pytest.raises(openai.APITimeoutError):
            ask(safe)


@pytest.mark.parametrize("fault", ["html", "garbage"])
def test_a_reply_that_cannot_be_read_is_withheld(fault: str) -> None:
    """It may hold anything; nothing of it stands in the error."""
    from faithguard import CaptureError

    with guarded(lambda messages: (fault, "")) as safe, pytest.raises(CaptureError) as error:
        ask(safe)

    assert "gateway" not in str(error.value)
    assert error.value.__context__ is None


def test_the_request_may_be_completed_by_an_extra_body() -> None:
    """What stands there is sent, so it is what counts."""
    extra = {"messages": system(f"<context>{DOC}</context>")}
    with guarded(GOOD) as safe:
        completion = safe.chat.completions.create(
            model="m", messages=[{"role": "user", "content": QUESTION}], extra_body=extra
        )

    assert completion.choices[0].message.content == GOOD


def test_the_client_is_one_of_the_sdks_and_its_options_stay_guarded() -> None:
    """By `with_options` and `copy`, which keep policy and context."""
    with guarded(BAD, fallback=FALLBACK) as safe:
        assert isinstance(safe, OpenAI)
        assert isinstance(safe, GuardedOpenAI)
        assert safe.policy.domain == "customer_support"
        for twin in (safe.with_options(timeout=9), safe.copy(max_retries=1)):
            assert ask(twin).choices[0].message.content == FALLBACK
        told = safe.with_context(BAD).with_options(timeout=9)
        assert ask(told).choices[0].message.content == BAD


def test_the_client_inside_is_left_as_it_was() -> None:
    """Also what it has already made of itself is not the guarded one's."""
    with ChatServer(lambda messages: BAD) as server, client(server) as inner:
        before = inner.chat, inner.responses
        safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[])

        assert ask(inner).choices[0].message.content == BAD
        assert ask(safe).choices[0].message.content == FALLBACK
        assert (inner.chat, inner.responses) == before


def test_a_subclass_of_ones_own_keeps_its_methods() -> None:
    """And so does Azure's client, which is one."""

    class Office(openai.AzureOpenAI):
        def name(self) -> str:
            return "office"

    with ChatServer(lambda messages: BAD) as server:
        office = Office(
            base_url=server.url, api_key="none", api_version="2024-10-21", max_retries=0
        )
        safe = guard(office, domain="support", fallback=FALLBACK, sinks=[])
        with office:
            assert isinstance(safe, Office)
            assert safe.name() == "office"
            assert ask(safe.with_options(timeout=9)).choices[0].message.content == FALLBACK


def test_what_cannot_be_guarded_is_refused() -> None:
    """With what to pass instead."""
    with pytest.raises(ConfigError, match="has no policy"):
        ask(GuardedOpenAI(api_key="none"))
    with guarded(GOOD) as safe:
        with pytest.raises(ConfigError, match="guarded already"):
            guard(safe)
        with pytest.raises(ConfigError, match=r"openai\.OpenAI"):
            guard(object())  # type: ignore[call-overload]
        with pytest.raises(ConfigError, match="`fallback` is of type int"):
            guard(OpenAI(api_key="x"), fallback=3)  # type: ignore[call-overload]
        with pytest.raises(ConfigError, match="would never be used"):
            guard(OpenAI(api_key="x"), fallback="x", on_fail="flag")


BOTH = f"{GOOD} Dogs travel free of charge."


def test_repair_leaves_out_what_failed() -> None:
    """In one piece, in a stream, in one choice of two, and beside tool calls."""
    said = [{"content": BOTH, "reasoning_content": BAD, "logprobs": None}]
    with guarded(lambda messages: said, on_fail="repair") as safe:
        completion = ask(safe)
        chunks = list(ask(safe, stream=True))
    choices = [{"content": GOOD}, {"content": BOTH, "tool_calls": [CALL]}]
    with guarded(lambda messages: choices, on_fail="repair") as safe:
        two = ask(safe, n=2)

    assert completion.choices[0].message.content == GOOD
    assert completion.choices[0].finish_reason == "stop"
    assert "9:45" not in completion.to_json()
    assert completion.faithguard["action"] == "repair"
    assert [c.choices[0].delta.content for c in chunks] == [GOOD, None]
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert [c.message.content for c in two.choices] == [GOOD, GOOD]
    assert [call.id for call in two.choices[1].message.tool_calls or []] == ["call_1"]
    assert two.choices[1].finish_reason == "tool_calls"


def test_a_structured_answer_is_not_mended() -> None:
    """Its JSON is another's to make; the next action is taken."""
    said = json.dumps({"answer": BOTH})
    with guarded(said, on_fail="repair", fallback=FALLBACK) as safe:
        completion = safe.chat.completions.parse(
            model="m",
            messages=system(),  # type: ignore[arg-type]
            response_format=Departure,
        )

    assert completion.choices[0].message.content == FALLBACK


def test_more_context_is_evidence_and_is_sent_along() -> None:
    """For the claims that failed."""
    asked: list[str] = []

    def more(claims: tuple[Claim, ...]) -> list[str]:
        asked.extend(claim.text for claim in claims)
        return ["Dogs travel free of charge."]

    def reply(messages: list[dict[str, Any]]) -> str:
        told = "Dogs travel free" in str(messages[-1]["content"])
        return BOTH if told else f"{GOOD} Dogs pay double."

    with guarded(reply, on_fail="regenerate", more_context=more) as safe:
        assert ask(safe).choices[0].message.content == BOTH
    assert asked == ["Dogs pay double."]


@pytest.mark.parametrize("share", [0, 1])
@pytest.mark.parametrize("stream", [False, True])
def test_a_request_is_checked_or_not(share: float, stream: bool) -> None:
    """A reply that nobody checks is the server's own, and its stream is not held back."""
    records: list[Record] = []
    with guarded(BAD, on_fail="flag", sample=share, sinks=[records.append]) as safe:
        reply = ask(safe, stream=stream)
        notes = [chunk.model_extra for chunk in (reply if stream else [reply])]
        assert safe.wait()
    assert len(records) == share
    assert any("faithguard" in note for note in notes) is bool(share)


def test_sampling_is_for_those_who_only_flag() -> None:
    """A client that holds back is refused."""
    with (
        pytest.raises(ConfigError, match=r"`sample` is 0\.1, but on_fail='block'"),
        guarded(BAD, sample=0.1),
    ):
        pass


CITED = {
    "type": "url_citation",
    "url_citation": {"url": "https://quay.example", "title": BAD, "start_index": 0, "end_index": 3},
}


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("place", ["message", "delta", "text"])
def test_a_choice_says_something_in_one_place_only(
    place: str, streams: bool, is_async: bool
) -> None:
    """In others nothing is read, and nothing goes out; a citation keeps its link."""

    def script(body: dict[str, Any]) -> Iterator[Told]:
        said = {"role": "assistant", "content": GOOD, "annotations": [CITED]}
        elsewhere = BAD if place == "text" else {"role": "assistant", "content": BAD}
        own = {"delta": said, "finish_reason": "stop"}
        head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        yield None, {**head, "choices": [{place: elsewhere, "index": 0, **own}]}

    async def use(safe: Any) -> str:
        made = await settled(
            safe.chat.completions.create(model="m", messages=system(), stream=True)
        )
        return "".join([chunk.to_json() async for chunk in each(made)])

    def whole(request: httpx.Request) -> dict[str, Any]:
        message = {"role": "assistant", "content": GOOD, "annotations": [CITED]}
        elsewhere = BAD if place == "text" else {"content": BAD}
        return {place: elsewhere, "index": 0, "finish_reason": "stop", "message": message}

    async def ask_whole() -> str:
        if is_async:
            async with httpx.AsyncClient(transport=Ready(whole)) as http:
                safe: Any = guard(AsyncOpenAI(http_client=http, **AWAY), sinks=[])
                made = await safe.chat.completions.create(model="m", messages=system())
        else:
            with httpx.Client(transport=Ready(whole)) as http:
                safe = guard(OpenAI(http_client=http, **AWAY), sinks=[])
                made = safe.chat.completions.create(model="m", messages=system())
        return str(made.to_json())

    if streams:
        with EventServer(script) as server:
            got = played(server, use, is_async=is_async, stream="answer")
    else:
        got = run(ask_whole())
    assert GOOD in got
    assert "quay.example" in got
    assert "9:45" not in got


AWAY: dict[str, Any] = {"base_url": "http://quay.example", "api_key": "none"}


def good(request: httpx.Request) -> dict[str, Any]:
    """Answer well."""
    message = {"role": "assistant", "content": GOOD}
    return {"index": 0, "finish_reason": "stop", "message": message}


class Ready(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """A transport that returns a body already read, as those of recorded replies do."""

    def __init__(self, choice: Callable[[httpx.Request], dict[str, Any]]) -> None:
        self._choice = choice

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer."""
        head = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
        return httpx.Response(200, json={**head, "choices": [self._choice(request)]})

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Do the same, awaiting."""
        return self.handle_request(request)


def test_a_body_that_is_already_read_is_a_reply_like_any_other() -> None:
    """It took no time that could be told."""
    options: dict[str, Any] = {"domain": "support", "sinks": []}
    asked: dict[str, Any] = {"model": "m", "messages": system()}
    with httpx.Client(transport=Ready(good)) as http:
        safe = guard(OpenAI(http_client=http, **AWAY), **options)
        assert safe.chat.completions.create(**asked).choices[0].message.content == GOOD

    async def ask_awaiting() -> Any:
        async with httpx.AsyncClient(transport=Ready(good)) as http:
            safe = guard(AsyncOpenAI(http_client=http, **AWAY), **options)
            return await safe.chat.completions.create(**asked)

    assert run(ask_awaiting()).choices[0].message.content == GOOD
