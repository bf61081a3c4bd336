"""What of an engine's response a model wrote, and what the caller gets of it.

In: a response, streams read to their end. Out: every text in it that must be verified, the
answer first; the response as it was, to be read once more; or one of the same form in which
another text stands in the place of the answer, and nothing is left that a model may have
written.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Generator, Iterator, Mapping
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
from llama_index.core.tools import ToolOutput

from faithguard import CaptureError
from faithguard.capture import Trace
from faithguard_llama_index._values import answer_of, node_texts, strings_in

__all__ = ["Drained", "adrain", "delivered", "drain", "texts_of", "with_answer"]

_KNOWN = (
    Response,
    PydanticResponse,
    StreamingResponse,
    AsyncStreamingResponse,
    AgentChatResponse,
    StreamingAgentChatResponse,
)


class Drained(NamedTuple):
    """A response and all of its answer."""

    output: Any
    answer: str


# -- streams, read to their end ---------------------------------------------------------------


def drain(output: Any) -> Drained:
    """Return a response with its whole answer.

    Raises:
        CaptureError: If it is no response of LlamaIndex's, or streams asynchronously.
    """
    if isinstance(output, StreamingResponse) and output.response_txt is None:
        return Drained(output, "".join(output.response_gen))
    if isinstance(output, StreamingAgentChatResponse) and output.achat_stream is None:
        return Drained(output, "".join(output.response_gen))
    return Drained(output, _whole(output))


async def adrain(output: Any) -> Drained:
    """Do the same, awaiting."""
    if isinstance(output, AsyncStreamingResponse) and output.response_txt is None:
        return Drained(output, "".join([token async for token in output.async_response_gen()]))
    if isinstance(output, StreamingAgentChatResponse) and output.achat_stream is not None:
        return Drained(output, "".join([token async for token in output.async_response_gen()]))
    return drain(output)


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
        writing = trace.writing()
        for text in dict.fromkeys(_others(drained.output)):
            if text.strip() and text.strip() != known:
                found += writing.parts(text)
    return list(dict.fromkeys(text for text in found if text.strip())) or [drained.answer]


def _others(output: Any) -> Iterator[str]:
    """Yield the texts of a response beside its answer."""
    for node in getattr(output, "source_nodes", None) or ():
        yield from node_texts(node)
    yield from strings_in(getattr(output, "metadata", None))
    for source in getattr(output, "sources", None) or ():
        yield from _said_by(source)


def _said_by(source: ToolOutput) -> Iterator[str]:
    raw: Any = source.raw_output
    for item in cast("list[Any]", raw) if isinstance(raw, list) else [raw]:
        if isinstance(item, _KNOWN):
            yield answer_of(item) or ""
            yield from _others(item)
        elif hasattr(item, "node"):
            yield from node_texts(item)
        else:
            yield from strings_in(item)


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
        output = dataclasses.replace(output)
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
    writing = trace.writing()

    def clean(texts: Iterator[str]) -> bool:
        return not any(writing.parts(part) for part in texts)

    nodes = [node for node in output.source_nodes if clean(node_texts(node))]
    if isinstance(output, AgentChatResponse | StreamingAgentChatResponse):
        sources = [s for s in output.sources if clean(_everything_in(s))]
        changes: dict[str, Any] = {"source_nodes": nodes, "sources": sources}
    else:
        metadata: dict[str, Any] = output.metadata or {}
        kept = {k: v for k, v in metadata.items() if clean(strings_in({k: v}))}
        changes = {"source_nodes": nodes, "metadata": kept}
    if isinstance(output, PydanticResponse):
        output = Response(None, **changes)
    elif not isinstance(output, StreamingAgentChatResponse):
        output = dataclasses.replace(output, **changes)
    else:
        output = StreamingAgentChatResponse(**changes)
    if isinstance(output, Response | AgentChatResponse):
        output.response = text
    return delivered(Drained(output, text), note)


def _everything_in(source: ToolOutput) -> Iterator[str]:
    yield from _said_by(source)
    yield str(source.content)
    yield from strings_in(source.raw_input)


def _streaming(
    output: StreamingResponse | AsyncStreamingResponse, answer: str
) -> StreamingResponse | AsyncStreamingResponse:
    if isinstance(output, StreamingResponse):
        return dataclasses.replace(output, response_gen=_tokens(answer), response_txt=None)
    return dataclasses.replace(output, response_gen=_atokens(answer), response_txt=None)


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
