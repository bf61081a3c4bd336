"""What of an engine's response a model wrote, and what the caller gets of it.

In: a response, streams read to their end. Out: every text in it that must be verified, the
answer first; the response as it was, to be read once more; or one of the same form in which
another text stands in the place of the answer, and nothing is left that a model may have
written.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Container, Generator, Iterable, Mapping
from queue import Queue
from typing import Any, NamedTuple, cast

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.base.response.schema import (
    AsyncStreamingResponse,
    PydanticResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse

from faithguard import CaptureError
from faithguard.capture import Trace
from faithguard.contents import texts_in
from faithguard_llama_index._values import answer_of, copy_of

__all__ = [
    "Drained",
    "adrain",
    "astreams",
    "delivered",
    "drain",
    "known_beside",
    "streams",
    "texts_of",
    "what_stays",
    "with_answer",
]

_STREAMING = (StreamingResponse, AsyncStreamingResponse, StreamingAgentChatResponse)
_KNOWN = (Response, PydanticResponse, AgentChatResponse, *_STREAMING)

_ANSWER = ("response", "response_gen", "response_txt")
"""The fields of a response in which its answer stands."""

_HANDED_ON = frozenset(("raw_input", "selector_result", "sql_query"))
"""Where LlamaIndex notes what a model handed to a tool, a router or a database."""


class Drained(NamedTuple):
    """A response and all of its answer."""

    output: Any
    answer: str

    def __repr__(self) -> str:
        # whoever logs a traceback with its variables must not get the answer by it
        return f"Drained({type(self.output).__name__}, ...)"


# -- streams, read to their end ---------------------------------------------------------------


def drain(output: Any) -> Drained:
    """Return a response with its whole answer.

    Raises:
        CaptureError: If it is no response of LlamaIndex's, or streams asynchronously.
    """
    if streams(output):
        return Drained(output, _joined(output.response_gen or ()))
    return Drained(output, _whole(output))


async def adrain(output: Any) -> Drained:
    """Do the same, awaiting."""
    if astreams(output):
        return Drained(output, _joined([t async for t in output.async_response_gen()]))
    return drain(output)


def streams(output: Any) -> bool:
    """Say whether the answer of a response is still to be read, blocking."""
    if isinstance(output, StreamingAgentChatResponse):
        return output.achat_stream is None
    return isinstance(output, StreamingResponse) and output.response_txt is None


def astreams(output: Any) -> bool:
    """Say whether it is still to be read, awaiting."""
    if isinstance(output, StreamingAgentChatResponse):
        return output.achat_stream is not None
    return isinstance(output, AsyncStreamingResponse) and output.response_txt is None


def _joined(tokens: Iterable[Any]) -> str:
    """Return a stream's text; models and engines of users' own yield None for no text."""
    return "".join(str(token) for token in tokens if token is not None)


def _whole(output: Any) -> str:
    if not isinstance(output, (*_KNOWN, str)) or (answer := answer_of(output)) is None:
        raise CaptureError(
            f"no answer can be read from what the engine returned, a {type(output).__name__}: "
            "return one of LlamaIndex's responses; one that streams asynchronously comes from "
            "aquery or astream_chat"
        )
    return answer


# -- what was written -------------------------------------------------------------------------


def texts_of(drained: Drained, trace: Trace) -> list[str]:
    """Return the texts to verify, the answer first.

    What a model handed to tools and retrievers, such as a condensed question, is a question and
    no part of the answer; it is not verified.
    """
    found = [drained.answer]
    if trace.told:
        # the answer itself stands in the record of the tool that gave it, too
        known = drained.answer.strip()
        writing = trace.writing(beside=trace.queries)
        for text in dict.fromkeys(texts_in(_beside(drained.output), but=_HANDED_ON)):
            if text.strip() and text.strip() != known:
                found += writing.parts(text)
    return list(dict.fromkeys(text for text in found if text.strip())) or [drained.answer]


def known_beside(output: Any, trace: Trace) -> dict[str, Any]:
    """Return what a response holds beside its answer, and no model wrote, by the names of fields.

    It is handed out before the answer is verified. What a model handed to tools stays.
    """
    fields = _beside(output)
    if sources := fields.get("sources"):
        fields["sources"] = list(map(_without_stream, sources))
    return {
        name: what_stays(value, trace, beside=trace.queries, but=_HANDED_ON)
        for name, value in fields.items()
    }


def _without_stream(source: Any) -> Any:
    """Return what a tool gave, less a stream that says what the response does."""
    raw = source.raw_output
    if not isinstance(raw, _STREAMING):
        return source
    still = Response(None, raw.source_nodes, getattr(raw, "metadata", None))
    return source.model_copy(update={"raw_output": still})


def _beside(output: Any) -> dict[str, Any]:
    """Return what a response holds beside its answer, by the names of its fields."""
    if isinstance(output, str):
        return {}
    if isinstance(output, StreamingAgentChatResponse):  # the rest of it is how it streams
        return {"sources": output.sources, "source_nodes": output.source_nodes}
    fields: dict[str, Any] = output.__dict__
    return {name: value for name, value in fields.items() if name not in _ANSWER}


# -- what the caller gets ---------------------------------------------------------------------


def delivered(drained: Drained, note: Mapping[str, Any]) -> Any:
    """Return a verified response, its streams to be read as if nobody had, with the decision."""
    output, answer = drained
    if isinstance(output, str):
        return output
    if isinstance(output, StreamingResponse | AsyncStreamingResponse):
        output = _streaming(output, answer)
    elif isinstance(output, StreamingAgentChatResponse):
        output = _chat_stream(output, answer)
    else:
        output = copy_of(output)
    metadata: dict[str, Any] = getattr(output, "metadata", None) or {}
    # a chat's stream has no such field, but is read like the other responses
    cast(Any, output).metadata = {**metadata, "faithguard": dict(note)}
    return output


def with_answer(drained: Drained, text: str, trace: Trace, note: Mapping[str, Any]) -> Any:
    """Return a response of the same form that holds `text` and nothing of a model's.

    A pydantic object cannot be made of a text: there it is a plain `Response`.
    """
    output = drained.output
    if isinstance(output, str):
        return text
    beside = _beside(output)
    kept = {name: what_stays(value, trace) for name, value in beside.items()}
    if isinstance(output, PydanticResponse):
        output = Response(None, kept["source_nodes"], kept["metadata"])
    elif isinstance(output, StreamingAgentChatResponse):
        output = StreamingAgentChatResponse(**kept)
    else:
        output = copy_of(output)
        for name, value in kept.items():
            setattr(output, name, value)
    if isinstance(output, Response | AgentChatResponse):
        output.response = text
    return delivered(Drained(output, text), note)


def what_stays(
    value: Any, trace: Trace, *, beside: Iterable[str] = (), but: Container[Any] = ()
) -> Any:
    """Return a value, or the items of it, if no model wrote anything in there.

    Args:
        value: Held by a response.
        trace: Of the call.
        beside: Texts that do not count as a model's.
        but: Keys and fields that are not looked at.
    """
    writing = trace.writing(beside)

    def stays(item: Any) -> bool:
        return not any(writing.parts(text) for text in texts_in(item, but))

    if isinstance(value, list):
        return [item for item in cast("list[Any]", value) if stays(item)]
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return {name: item for name, item in items if stays({name: item})}
    return value if stays(value) else None


def _streaming(
    output: StreamingResponse | AsyncStreamingResponse, answer: str
) -> StreamingResponse | AsyncStreamingResponse:
    twin: StreamingResponse | AsyncStreamingResponse = copy_of(output)
    twin.response_txt = None
    if isinstance(twin, StreamingResponse):
        twin.response_gen = _tokens(answer)
    else:
        twin.response_gen = _atokens(answer)
    return twin


def _tokens(answer: str) -> Generator[str, None, None]:
    yield answer


async def _atokens(answer: str) -> AsyncGenerator[str, None]:
    yield answer


def _chat_stream(output: StreamingAgentChatResponse, answer: str) -> StreamingAgentChatResponse:
    """Return a stream whose reader finds the whole answer there, however it is read."""
    queue: Queue[Any] = Queue()
    queue.put_nowait(answer)
    aqueue: asyncio.Queue[Any] = asyncio.Queue()
    aqueue.put_nowait(answer)
    whole = ChatResponse(
        message=ChatMessage(role=MessageRole.ASSISTANT, content=answer), delta=answer
    )

    async def achunks() -> AsyncGenerator[ChatResponse, None]:
        yield whole

    made = StreamingAgentChatResponse(
        response=answer,
        sources=output.sources,
        source_nodes=output.source_nodes,
        chat_stream=(chunk for chunk in [whole]),
        achat_stream=achunks(),
        queue=queue,
        aqueue=aqueue,
        is_function=False,
    )
    made.is_done = True
    return made
