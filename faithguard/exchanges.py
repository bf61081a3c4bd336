"""A mapping, such as a line of a data set -> Exchange, whoever named its fields.

In: an object of JSON. Out: an `Exchange`, or a `CaptureError` that names fields and shows no
text. It is found by its answer, and each part may have one of several names:

| part | names |
|---|---|
| answer | `answer`; `response` (RAGAS, LlamaIndex); `actual_output` (DeepEval) |
| question | `question`; `user_input` (RAGAS); `input` (DeepEval); `query` (LlamaIndex) |
| context | `context`, `contexts`, `passages`, `documents`, `docs`, `source_documents`; \
`retrieved_contexts` (RAGAS); `retrieval_context` (DeepEval); `source_nodes` (LlamaIndex) |
| the rest | `id`, `domain`, `tags` |

A stored `Exchange`, `Report` or `Record` is read as the exchange in it, to be scored anew. Context
is a text, or texts and objects with a text (`text`, `page_content` or `content`) and what else a
`Passage` has. Without context there is an exchange without context, which does not pass; without
an answer there is none. Beside DeepEval's `retrieval_context`, which the model saw, its `context`
is what it should have seen, and no evidence. Other fields are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from faithguard.capture import new_id
from faithguard.errors import CaptureError
from faithguard.types import Exchange, Passage

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["CONTEXT", "QUESTION", "read_exchange"]

_ANSWER = ("answer", "response", "actual_output")
QUESTION = ("question", "user_input", "input", "query")
"""Names of the question."""

CONTEXT = (
    "context",
    "contexts",
    "passages",
    "documents",
    "docs",
    "source_documents",
    "retrieved_contexts",
    "retrieval_context",
    "source_nodes",
)
"""Names of the context."""

_TEXT = ("text", "page_content", "content")
_SOURCE = ("source", "file_name", "url", "id")
_OURS = ("context_source", "finish_reason", "started_at", "timings")
"""What only an `Exchange` of ours has: elsewhere the names may mean anything."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_OWN_NAMES = frozenset(part.name for noun in (Exchange, Passage) for part in fields(noun))


def read_exchange(mapping: Mapping[str, Any], *, id: str | None = None) -> Exchange:
    """Read an exchange from an object of JSON.

    Args:
        mapping: The object.
        id: For an exchange that has none of its own; a fresh one by default.

    Raises:
        CaptureError: If there is no answer, two fields say different things, or one of them is
            not what it must be. The message holds none of the texts.
    """
    inner = mapping.get("exchange")
    if isinstance(inner, Mapping) and not any(name in mapping for name in _ANSWER):
        mapping = cast("Mapping[str, Any]", inner)
    name, context = _found(mapping, _context_names(mapping))
    passages = [] if context is None else _pieces(context, name)
    ours = _OURS if name == "passages" else ()
    values = {key: mapping[key] for key in ours if mapping.get(key) is not None}
    return _validated(
        {
            "context_source": "caller" if passages else "none",
            **values,
            "id": _id(mapping) or id or new_id(),
            "answer": _answer(mapping),
            "question": _text(*_found(mapping, QUESTION)),
            "passages": passages,
            "domain": _text("domain", mapping.get("domain")),
            "tags": _tags(mapping.get("tags")),
        }
    )


def _found(mapping: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    """Return the one field of several names that says something, with its name."""
    said = [(name, mapping[name]) for name in names if mapping.get(name) is not None]
    if not said:
        return names[0], None
    for name, value in said[1:]:
        if value != said[0][1]:
            raise CaptureError(
                f"`{said[0][0]}` and `{name}` are names of the same and differ: keep one of them"
            )
    return said[0]


def _context_names(mapping: Mapping[str, Any]) -> Sequence[str]:
    if "retrieval_context" in mapping:
        return [name for name in CONTEXT if name != "context"]
    return CONTEXT


def _answer(mapping: Mapping[str, Any]) -> str:
    name, value = _found(mapping, _ANSWER)
    if value is None:
        null = [name for name in _ANSWER if name in mapping]
        if null:
            raise CaptureError(f"`{null[0]}` is null: there is no answer to check")
        raise CaptureError(
            f"there is no answer: name it {_names(_ANSWER)} (the question {_names(QUESTION)}, "
            f"the context {_names(CONTEXT)})"
        )
    return _text(name, value) or ""


def _names(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _text(name: str, value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise CaptureError(f"`{name}` is {_kind(value)}, not a text")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    return "an object" if isinstance(value, Mapping) else "a list"


def _id(mapping: Mapping[str, Any]) -> str:
    value = mapping.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text("id", value) or ""


def _tags(value: object) -> list[str]:
    if value is None or isinstance(value, str):
        return [value] if value else []
    tags = cast("list[object]", value) if isinstance(value, list) else [value]
    if not isinstance(value, list) or not all(isinstance(tag, str) for tag in tags):
        raise CaptureError("`tags` are not a list of texts")
    return cast("list[str]", tags)


def _pieces(context: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(context, list):
        return [_piece(context, f"`{name}`")]
    items = cast("list[object]", context)
    return [_piece(item, f"piece {n} of `{name}`") for n, item in enumerate(items, start=1)]


def _piece(item: object, where: str) -> dict[str, Any]:
    """Return the fields of a passage."""
    if isinstance(item, str):
        return {"text": item}
    if not isinstance(item, Mapping):
        raise CaptureError(f"{where} is {_kind(item)}, not a text")
    piece = cast("Mapping[str, Any]", item)
    node = piece.get("node")  # LlamaIndex puts a score beside it
    if isinstance(node, Mapping):
        piece = cast("Mapping[str, Any]", node)
    text = next((piece[key] for key in _TEXT if isinstance(piece.get(key), str)), None)
    if text is None:
        raise CaptureError(f"{where} has no text: name it {_names(_TEXT)}")
    stored = piece.get("metadata")
    metadata = cast("Mapping[str, Any]", stored if isinstance(stored, Mapping) else {})
    sources = (piece.get("source"), *(metadata.get(key) for key in _SOURCE))
    own = {key: piece[key] for key in ("hop", "origin", "seen") if piece.get(key) is not None}
    return {
        "text": text,
        "source": next((str(s) for s in sources if isinstance(s, str | int)), None),
        "metadata": metadata,
        **own,
    }


@cache
def _adapter() -> TypeAdapter[Exchange]:
    from pydantic import TypeAdapter

    return TypeAdapter(Exchange)


def _validated(values: dict[str, Any]) -> Exchange:
    from pydantic import ValidationError

    try:
        return _adapter().validate_python(values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        surrogates = any(problem["type"] == "string_unicode" for problem in problems)
        if surrogates and values != (mended := _mended(values)):
            return _validated(mended)
        first = problems[0]
        known = [str(p) for p in first["loc"] if isinstance(p, int) or p in _OWN_NAMES]
        message = f"`{'.'.join(known)}`: {first['msg']}"
        raise CaptureError(message) from None  # it quotes the text


def _mended(value: Any) -> Any:
    """Put U+FFFD for lone surrogates, as our own types do; pydantic lets none reach them."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return {_mended(key): _mended(item) for key, item in pairs}
    if isinstance(value, list):
        return [_mended(item) for item in cast("list[Any]", value)]
    return value
