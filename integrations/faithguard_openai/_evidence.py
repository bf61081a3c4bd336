"""What of a request is evidence, by the rule that the README tells.

In: the body of a request. Out: the passages and the question. Evidence is what tools returned,
and documents between delimiters; the user's other words, and whatever an assistant said, are
never evidence.

Results of tools: messages of role `tool` (`function`), items `..._call_output` and
`file_search_call`; less what a model handed to that tool as a statement.

Documents: `<document>...</document>`, `<context>...</context>`, `<documents>...</documents>` and
blocks fenced as ```context. In system and developer messages each one. What a user's message
holds may have been typed by the user: it counts only where nothing else was found, and only if
it is one container, or documents in a row (with like labels between them) and no delimiter is
left over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from faithguard import Passage
from faithguard.capture import Trace
from faithguard.types import ContextSource

__all__ = ["Evidence", "evidence_in", "found_in_files"]


@dataclass(slots=True)
class Evidence:
    """What a request says of its context."""

    passages: tuple[Passage, ...] = ()
    source: ContextSource = "none"
    question: str | None = None


@dataclass(slots=True)
class _Reading:
    """What was read of a request so far."""

    trace: Trace = field(default_factory=Trace)
    told: list[Passage] = field(default_factory=list[Passage])
    """Documents of the developer's messages."""
    typed: list[Passage] = field(default_factory=list[Passage])
    """Documents of the user's messages."""
    question: str | None = None


def evidence_in(body: Mapping[str, Any]) -> Evidence:
    """Read a request for a chat completion or a response."""
    reading = _Reading()
    reading.told += _documents(_text(body.get("instructions")))
    given = body.get("messages") or body.get("input")
    messages: list[Any]
    if isinstance(given, str):
        messages = [{"role": "user", "content": given}]
    else:
        messages = cast("list[Any]", given) if isinstance(given, list) else []
    for message in messages:
        if isinstance(message, Mapping):
            _read(reading, cast("Mapping[str, Any]", message))
    # the model is sent all of it
    found = [replace(passage, seen=True) for passage in reading.trace.fetched_passages()]
    passages = _unique([*found, *reading.told] or reading.typed)
    source: ContextSource = "prompt" if passages else "none"
    return Evidence(passages, "retrieval" if found else source, reading.question)


def _unique(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    return tuple({passage.text: passage for passage in passages}.values())


def _read(reading: _Reading, message: Mapping[str, Any]) -> None:
    role, kind = message.get("role"), str(message.get("type") or "")
    trace = reading.trace
    if role in ("system", "developer"):
        reading.told += _documents(_text(message.get("content")))
    elif role == "user":
        text = _text(message.get("content"))
        reading.typed += _typed_documents(text)
        reading.question = _without_documents(text) or reading.question
    elif role == "assistant":
        for call in _mappings(message.get("tool_calls")):
            named: Any = call.get("function") or call.get("custom") or {}
            trace.asked(_id(call.get("id")), _arguments(named))
        trace.asked("function", _arguments(message.get("function_call") or {}))
    elif role in ("tool", "function"):
        run = _id(message.get("tool_call_id")) if role == "tool" else "function"
        name = _id(message.get("name")) or "tool"
        text = _text(message.get("content"))
        trace.retrieved(run, [Passage(text=text, source=name, origin="tool")])
    elif kind.endswith("_call_output"):
        text = _text(message.get("output"))
        trace.retrieved(
            _id(message.get("call_id")), [Passage(text=text, source="tool", origin="tool")]
        )
    elif kind == "file_search_call":
        trace.retrieved("", found_in_files(message))
    elif kind.endswith("_call"):
        trace.asked(_id(message.get("call_id")), _arguments(message))


def found_in_files(item: Mapping[str, Any]) -> list[Passage]:
    """Return the results that an item of a file search carries."""
    return [
        Passage(text=result["text"], source=_id(result.get("filename")) or None, origin="retriever")
        for result in _mappings(item.get("results"))
        if isinstance(result.get("text"), str)
    ]


def _arguments(call: Any) -> list[str]:
    """Return the texts that a model handed to a tool: those in its JSON, or all it wrote."""
    if not isinstance(call, Mapping):
        return []
    held = cast("Mapping[str, Any]", call)
    given = (held.get("arguments"), held.get("input"))
    texts = [text for text in given if isinstance(text, str)]
    return [part for text in texts for part in _STRING.findall(text) or [text]]


def _id(value: object) -> str:
    return value if isinstance(value, str) else ""


def _mappings(value: object) -> Iterator[Mapping[str, Any]]:
    for item in cast("list[Any]", value) if isinstance(value, list) else []:
        if isinstance(item, Mapping):
            yield cast("Mapping[str, Any]", item)


def _texts(content: object) -> list[str]:
    """Return the texts of a message's content: a string, or parts."""
    if isinstance(content, str):
        return [content]
    parts = (part.get("text") or part.get("refusal") for part in _mappings(content))
    return [text for text in parts if isinstance(text, str)]


def _text(content: object) -> str:
    return "\n".join(_texts(content))


# -- documents between delimiters -----------------------------------------------------------------

_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_TAG = re.compile(r"<(/?)(documents?|context)\b[^<>]*>", re.IGNORECASE)
_FENCE = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*context\b[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.M | re.S
)
_OPENED = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*context\b", re.M)
_INNER = re.compile(
    r"</?(?:document_?content|page_?content|content|text|title|source|metadata|id)\b[^<>]*>", re.I
)
_NUMBER = re.compile(r"\d+")
_MOST_LABEL = 40
"""Characters of what may stand before each of a row of documents."""


class _Block(NamedTuple):
    """A stretch of a message between delimiters: where it stands, and what is inside."""

    start: int
    stop: int
    kind: str
    inside: str


def _blocks(text: str) -> tuple[list[_Block], bool]:
    """Return the outermost blocks, in order, and whether no delimiter is left over."""
    blocks: list[_Block] = []
    clean, open_ = True, list[re.Match[str]]()
    for tag in _TAG.finditer(text):
        if not tag[1]:
            open_.append(tag)
        elif open_ and open_[-1][2].lower() == tag[2].lower():
            start = open_.pop()
            while blocks and blocks[-1].start > start.start():
                blocks.pop()  # inside this one
            blocks.append(
                _Block(start.start(), tag.end(), tag[2].lower(), text[start.end() : tag.start()])
            )
        else:
            clean = False
    fenced = [_Block(f.start(), f.end(), "context", f[2]) for f in _FENCE.finditer(text)]
    if open_ or len(fenced) != len(_OPENED.findall(text)):
        clean = False
    apart = [f for f in fenced if not any(b.start < f.start < b.stop for b in blocks)]
    outside = [b for b in blocks if not any(f.start < b.start < f.stop for f in apart)]
    return sorted([*outside, *apart]), clean


def _documents(text: str) -> Iterator[Passage]:
    """Yield the documents of a message that a developer wrote."""
    for block in _blocks(text)[0]:
        yield from _passages(block)


def _typed_documents(text: str) -> Iterator[Passage]:
    """Yield the documents of a user's message, if it is plain which these are."""
    blocks, clean = _blocks(text)
    blocks = [block for block in blocks if block.inside.strip()]
    if not clean or not blocks:
        return
    if len(blocks) > 1:
        ends = [0, *(block.stop for block in blocks)]
        labels = {
            _NUMBER.sub("", text[end : block.start]).strip()
            for end, block in zip(ends[1:], blocks[1:], strict=False)
        }
        label = next(iter(labels))
        alike = len(labels) == 1 and len(label) <= _MOST_LABEL and "\n" not in label
        before = _NUMBER.sub("", text[: blocks[0].start]).rstrip()
        if any(block.kind != "document" for block in blocks) or not alike:
            return
        if label and not before.endswith(label):
            return
    for block in blocks:
        yield from _passages(block)


def _without_documents(text: str) -> str:
    """Return a message's words outside its documents."""
    kept, end = list[str](), 0
    for block in _blocks(text)[0]:
        kept.append(text[end : block.start])
        end = block.stop
    return "\n".join(part.strip() for part in [*kept, text[end:]] if part.strip())


def _passages(block: _Block) -> Iterator[Passage]:
    """Yield the documents in a block, or what it holds as one."""
    inner: Sequence[_Block] = [] if block.kind == "document" else _blocks(block.inside)[0]
    for text in [part.inside for part in inner] or [block.inside]:
        text = _TAG.sub("\n", _INNER.sub("\n", text)).strip()
        if text:
            yield Passage(text=text, origin="prompt")
