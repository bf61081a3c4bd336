"""LlamaIndex's values -> plain ones.

In: queries, messages, nodes, responses of models and engines. Out: their texts and roles, and
passages. Light: nothing of `llama_index.core` is imported, and shapes are known by their
attributes, so that a watcher can be set up before LlamaIndex is.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from faithguard import Passage
from faithguard.capture import Message, Role, handed_in

__all__ = [
    "Snapshot",
    "answer_of",
    "arguments_in",
    "copy_of",
    "finish_reason_of",
    "given_in",
    "is_chat_stream",
    "message_of",
    "model_text",
    "passages_of",
    "query_text",
    "snapshots",
    "strings_in",
]

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "assistant": "assistant",
    "chatbot": "assistant",
    "model": "assistant",
}

# Where a reader would look for the text of a node, by the names that readers of files give.
_SOURCES = ("source", "file_name", "file_path", "url")


def query_text(value: Any) -> str:
    """Return the words of a query, which may be a bundle."""
    return str(getattr(value, "query_str", value))


def message_of(message: Any) -> Message:
    """Return a message of a prompt with the role that faithguard knows it by."""
    role = str(getattr(message.role, "value", message.role))
    return Message(_ROLES.get(role, "user"), message.content or "")


def model_text(response: Any) -> str:
    """Return what a model wrote: the text of a chat's message, or of a completion."""
    message = getattr(response, "message", None)
    if message is not None:
        return str(message.content or "")
    return str(getattr(response, "text", None) or "")


def arguments_in(response: Any) -> Iterator[str]:
    """Yield the arguments that a model's message hands to tools."""
    message = getattr(response, "message", None)
    for block in getattr(message, "blocks", ()):
        if (given := getattr(block, "tool_kwargs", None)) is not None:
            yield from strings_in(given)
    kwargs: dict[str, Any] = getattr(message, "additional_kwargs", None) or {}
    for call in kwargs.get("tool_calls") or ():
        yield from strings_in(_get(_get(call, "function"), "arguments"))


def given_in(message: Any) -> list[str]:
    """Return what a model's message hands to tools."""
    calls = [
        (getattr(block, "tool_name", None), block.tool_kwargs)
        for block in getattr(message, "blocks", ())
        if hasattr(block, "tool_kwargs")
    ]
    kwargs: dict[str, Any] = getattr(message, "additional_kwargs", None) or {}
    for call in kwargs.get("tool_calls") or ():
        function = _get(call, "function")
        calls.append((_get(function, "name"), _get(function, "arguments")))
    return [text for name, arguments in calls for text in handed_in(name, arguments)]


def finish_reason_of(response: Any) -> str | None:
    """Return why a model ended, where its response says so."""
    raw = getattr(response, "raw", None)
    choices: Any = _get(raw, "choices")
    places: list[Any] = [
        getattr(response, "additional_kwargs", None),
        raw,
        choices[0] if isinstance(choices, list) and choices else None,
    ]
    for place in places:
        for name in ("finish_reason", "stop_reason", "done_reason"):
            if reason := _get(place, name):
                return str(reason)
    return None


def _get(holder: Any, name: str) -> Any:
    """Return what a provider's object holds by a name; not all can be read at any time."""
    if isinstance(holder, Mapping):
        return cast(Mapping[str, Any], holder).get(name)
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def strings_in(value: Any, depth: int = 6) -> Iterator[str]:
    """Yield the strings in a value of plain data."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, Mapping):
        for item in cast(Mapping[Any, Any], value).values():
            yield from strings_in(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in cast(Sequence[Any], value):
            yield from strings_in(item, depth - 1)


def copy_of(value: Any) -> Any:
    """Return a shallow copy of an object.

    `copy.copy` asks the copy for methods before it has any attributes, which those who look all
    others up in one of their own do not survive: LlamaIndex's `PydanticResponse`, engines around
    engines.
    """
    kind = cast("type[Any]", type(value))
    slots = any(getattr(base, "__slots__", ()) for base in kind.__mro__)
    if slots or hasattr(kind, "__copy__") or not hasattr(value, "__dict__"):
        return copy.copy(value)
    twin: Any = object.__new__(kind)
    twin.__dict__.update(value.__dict__)
    return twin


# -- nodes ------------------------------------------------------------------------------------


def _content(node: Any) -> str:
    """Return what a synthesizer shows a model of a node: its text, under its metadata."""
    get: Callable[..., str] = node.get_content
    kind = cast(Any, type(node))
    if not hasattr(kind, "model_fields"):  # only a node of LlamaIndex's own knows modes
        return str(get())
    from llama_index.core.schema import MetadataMode

    return str(get(metadata_mode=MetadataMode.LLM))


class Snapshot(NamedTuple):
    """What a node holds now; postprocessors change nodes in place."""

    text: str
    source: str | None
    metadata: Mapping[str, Any]
    id: str


def snapshots(nodes: Iterable[Any]) -> list[Snapshot]:
    """Return what nodes hold now, but for those without text."""
    now: list[Snapshot] = []
    for scored in nodes:
        node = getattr(scored, "node", scored)
        metadata: Mapping[str, Any] = getattr(node, "metadata", None) or {}
        source = next((metadata[key] for key in _SOURCES if metadata.get(key)), None)
        id = str(getattr(node, "node_id", None) or "")
        source = str(source or id) or None
        if (text := _content(node)).strip():
            now.append(Snapshot(text, source, dict(metadata), id))
    return now


def passages_of(nodes: Iterable[Snapshot]) -> Iterator[Passage]:
    """Yield nodes as passages; making them can wait until they are needed."""
    for text, source, metadata, _ in nodes:
        if text.strip():
            yield Passage(text=text, source=source, metadata=metadata, origin="retriever")


# -- responses --------------------------------------------------------------------------------


def is_chat_stream(response: Any) -> bool:
    """Say whether a response is a chat's that streams."""
    kinds = cast(Any, type(response)).__mro__
    return any(kind.__name__ == "StreamingAgentChatResponse" for kind in kinds)


def answer_of(response: Any) -> str | None:
    """Return the text of an engine's response that is all there; None while it streams."""
    if is_chat_stream(response):
        return str(response.response) if response.is_done else None
    if "Streaming" in type(response).__name__:
        return cast("str | None", response.response_txt)
    if isinstance(response, str):
        return response
    held = getattr(response, "response", None)
    if held is None:
        return ""
    dump: Callable[[], str] | None = getattr(held, "model_dump_json", None)
    return str(held) if dump is None else dump()
