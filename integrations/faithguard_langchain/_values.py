"""LangChain's values -> plain ones, and back.

In: what chains take and return: strings, messages, dicts, documents. Out: the text of the
answer and where it stands, the prompt's messages, the passages of a retrieval; and outputs in
which the answer is another one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.outputs import ChatGeneration, Generation, LLMResult
from langchain_core.prompt_values import PromptValue
from pydantic import BaseModel

from faithguard import CaptureError, Passage
from faithguard.capture import Message, handed_in, passages_of

__all__ = [
    "ANSWER_KEYS",
    "CONTEXT_KEYS",
    "Whole",
    "answer_of",
    "answers_in",
    "arguments_in",
    "arguments_of",
    "calls_in",
    "context_of",
    "documents_of",
    "fields_of",
    "finish_reason_of",
    "given_in",
    "is_error",
    "message_of",
    "plain_input",
    "prompt_in",
    "text_of",
    "texts_in",
]

T = TypeVar("T")

# Fields of content blocks that hold no words for a reader.
_NO_TEXT = frozenset(
    "type id index signature mime_type media_type url data base64 source image_url file_id "
    "annotations citations extras name status".split()
)

ANSWER_KEYS = (
    "answer",
    "result",
    "output",
    "output_text",
    "response",
    "text",
    "generation",
    "messages",
)
CONTEXT_KEYS = ("context", "source_documents", "documents", "docs")


def text_of(value: Any) -> str:
    """Return the text of a message, its content blocks, or a generation."""
    if isinstance(value, BaseMessage):
        return text_of(value.content)
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        return "".join(_block_text(block) for block in cast(Sequence[Any], value))
    return ""


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return ""
    fields = cast(Mapping[str, Any], block)
    if isinstance(text := fields.get("text"), str):
        return text
    # a kind of block that is not known may hold text under any name; reasoning is not shown
    if fields.get("type") in (
        "reasoning",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_call",
    ):
        return ""
    return " ".join(texts_in({k: v for k, v in fields.items() if k not in _NO_TEXT}))


def message_of(message: BaseMessage) -> Message:
    """Return a message of a prompt with the role that faithguard knows it by."""
    text = text_of(message)
    if isinstance(message, AIMessage):
        return Message("assistant", text)
    if isinstance(message, ToolMessage | FunctionMessage):
        return Message("tool", text)
    if isinstance(message, HumanMessage):
        return Message("user", text)
    if isinstance(message, SystemMessage):
        return Message("system", text)
    role = str(getattr(message, "role", message.type))
    return Message("assistant" if role in ("assistant", "ai") else "user", text)


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """Return the fields of a mapping or of an object that holds data; None for anything else."""
    if isinstance(value, Mapping):
        return cast(Mapping[Any, Any], value)
    if isinstance(value, BaseModel):
        return dict(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if type(value).__module__ != "builtins" and isinstance(getattr(value, "__dict__", None), dict):
        return dict(vars(value))
    return None


def plain_input(value: Any, depth: int = 6) -> Any:
    """Return a run's input as strings, lists, mappings and `Message`s."""
    if isinstance(value, BaseMessage):
        return message_of(value)
    if isinstance(value, PromptValue):
        return [message_of(message) for message in value.to_messages()]
    if isinstance(value, Document) or not depth:
        return None  # what a caller passes as documents is context, not words
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple):
        items = cast(Sequence[Any], value)
        if len(items) == 2 and isinstance(items[0], str) and items[0] in ("human", "user"):
            return Message("user", str(items[1]))  # a message as a pair
        return [plain_input(item, depth - 1) for item in items]
    if (fields := fields_of(value)) is not None:
        return {str(name): plain_input(item, depth - 1) for name, item in fields.items()}
    return None


def texts_in(value: Any, depth: int = 6, *, messages: bool = False) -> Iterator[str]:
    """Yield the strings in a value, such as a tool's arguments; of messages only if asked."""
    if isinstance(value, str):
        yield str(value)
    elif messages and isinstance(value, BaseMessage):
        yield text_of(value)
    elif depth and isinstance(value, Mapping):
        for item in cast(Mapping[Any, Any], value).values():
            yield from texts_in(item, depth - 1, messages=messages)
    elif depth and isinstance(value, list | tuple):
        for item in cast(Sequence[Any], value):
            yield from texts_in(item, depth - 1, messages=messages)


def documents_of(value: Any, **fields: Any) -> tuple[Passage, ...]:
    """Return the documents in a retriever's or a tool's output as passages."""
    if isinstance(value, Document):
        return passages_of(value, **fields)
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = cast(Sequence[Any], value)
        return tuple(p for item in items for p in documents_of(item, **fields))
    return ()


def context_of(output: Any, key: str | None) -> tuple[Passage, ...]:
    """Return the documents that a chain hands out beside its answer."""
    if not isinstance(output, Mapping):
        return ()
    mapping = cast(Mapping[str, Any], output)
    if key is not None:
        if key not in mapping:
            raise CaptureError(f"`context_key` is {key!r}, but the output has {sorted(mapping)!r}")
        value = mapping[key]
        return passages_of(value, origin="retriever") if value else ()
    for name in CONTEXT_KEYS:
        if found := documents_of(mapping.get(name), origin="retriever"):
            return found
    return ()


def answer_of(output: Any, key: str | None = None) -> str | None:
    """Return the text of the answer in a chain's output; None if there is none to be found."""
    if isinstance(output, str):
        return str(output)
    if isinstance(output, AIMessage):
        return text_of(output)
    if isinstance(output, BaseMessage):
        return None
    if isinstance(output, Mapping):
        mapping = cast(Mapping[str, Any], output)
        for name in (key,) if key is not None else ANSWER_KEYS:
            if name in mapping and (found := answer_of(mapping[name])) is not None:
                return found
        return None
    if key is not None and hasattr(output, key):
        return answer_of(getattr(output, key))
    if isinstance(output, list):
        last = next(
            (m for m in reversed(cast(list[Any], output)) if isinstance(m, AIMessage)), None
        )
        return None if last is None else text_of(last)
    return None


def finish_reason_of(result: LLMResult) -> tuple[str, str | None]:
    """Return the text of a model's output and why it ended."""
    generation: Generation | None = next(
        (g for candidates in result.generations for g in candidates), None
    )
    if generation is None:
        return "", None
    info = dict(generation.generation_info or {})
    text = generation.text
    if isinstance(generation, ChatGeneration):
        text = text_of(generation.message)
        info |= generation.message.response_metadata
    reason = next(
        (info[k] for k in ("finish_reason", "stop_reason", "done_reason") if info.get(k)), None
    )
    return text, None if reason is None else str(reason)


def arguments_of(message: AIMessage, answered: Container[object] = ()) -> Iterator[str]:
    """Yield the arguments of a message's tool calls, those that cannot be read included."""
    for call in message.tool_calls:
        if call.get("id") not in answered:
            yield "; ".join(f"{name}: {value}" for name, value in call["args"].items())
    for broken in message.invalid_tool_calls:
        yield broken.get("args") or ""


def arguments_in(result: LLMResult) -> Iterator[str]:
    """Yield the arguments that a model's output hands to tools, one by one."""
    for message in answers_in(result):
        for call in message.tool_calls:
            yield from texts_in(call["args"])
            yield from _values_in(call["args"])
        yield from (broken.get("args") or "" for broken in message.invalid_tool_calls)


def answers_in(result: LLMResult) -> Iterator[AIMessage]:
    """Yield the messages that a model's output holds."""
    for candidates in result.generations:
        for generation in candidates:
            message = generation.message if isinstance(generation, ChatGeneration) else None
            if isinstance(message, AIMessage):
                yield message


def calls_in(message: AIMessage) -> Iterator[tuple[str | None, list[str]]]:
    """Yield the calls of tools that a message holds: their ids, and all that they hand over."""
    for call in message.tool_calls:
        yield call["id"], list(handed_in(call["name"], call["args"]))
    for broken in message.invalid_tool_calls:
        yield broken["id"], list(handed_in(broken["name"], broken["args"] or ""))


def given_in(message: AIMessage) -> list[str]:
    """Return what a message hands to tools."""
    return [text for _, texts in calls_in(message) for text in texts]


def is_error(message: BaseMessage) -> bool:
    """Say whether a tool's message tells of an error."""
    return isinstance(message, ToolMessage) and message.status == "error"


def prompt_in(messages: Iterable[BaseMessage]) -> Iterator[tuple[Message, list[str]]]:
    """Yield the messages of a model call, each with what it hands to tools.

    What a tool says of an error, or where no model asked it, is worth no more than a model's words.
    """
    ids: set[str | None] = set()
    for message in messages:
        plain, given = message_of(message), list[str]()
        if isinstance(message, AIMessage):
            ids |= {key for key, _ in calls_in(message)}
            given += given_in(message)
        elif isinstance(message, ToolMessage) and (
            is_error(message) or message.tool_call_id not in ids
        ):
            plain = Message("assistant", plain.text)
        yield plain, given


def _values_in(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments that are no strings of several words, by their names."""
    for name, value in arguments.items():
        if isinstance(value, Mapping):
            yield from _values_in(cast("Mapping[str, Any]", value))
        elif not isinstance(value, str) or len(value.split()) == 1:
            yield json.dumps({name: value}, default=str)


class Whole(Generic[T]):
    """What the chunks of a stream add up to; the last one where they cannot be added."""

    def __init__(self) -> None:
        self.empty = True
        self.value: T = cast(T, None)

    def add(self, chunk: T) -> None:
        """Take a chunk."""
        if self.empty:
            self.value, self.empty = chunk, False
            return
        try:
            self.value = cast(Any, self.value) + chunk
        except TypeError:
            self.value = chunk
