"""What of a request is evidence, by the rule that the README tells.

In: the body of a request. Out: the passages and the question. Evidence is what tools returned,
and documents between delimiters; the user's other words, and whatever an assistant said, are
never evidence.

Results of tools: messages of role `tool` (`function`), items `..._call_output` and
`file_search_call`; less what a model handed to any tool before, or said beside that. One counts
only behind the call that it answers, or where the server keeps the conversation, call included.

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
from faithguard.capture import Trace, handed_in
from faithguard.types import ContextSource

__all__ = ["Evidence", "evidence_in", "found_in_files"]

_FUNCTION = "function"
"""Stands for the id that calls of the older functions do not have."""


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
    calls: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    """What tools were asked with, by the ids of the calls."""
    kept: bool = False
    """Whether the server keeps what was said before."""
    results: int = 0

    def called(self, id: str, call: Any, said: str = "") -> None:
        """Take a call of a tool, and what was said beside it."""
        held = next(_mappings([call]), cast("Mapping[str, Any]", {}))
        given = held.get("arguments") or held.get("input") or held.get("action")
        self.calls[id] = list(handed_in(held.get("name"), given))
        self.trace.gave(self.calls[id], said=said)

    def returned(self, id: str, text: str, name: str) -> None:
        """Take what a tool gave back."""
        if id in self.calls or self.kept:
            self.results += 1
            run = str(self.results)
            self.trace.asked(run, self.calls.get(id, ()))
            self.trace.retrieved(run, [Passage(text=text, source=name, origin="tool")])


def evidence_in(body: Mapping[str, Any]) -> Evidence:
    """Read a request for a chat completion or a response."""
    reading = _Reading(kept=bool(body.get("previous_response_id") or body.get("conversation")))
    reading.told += _documents(_text(body.get("instructions")))
    given = body.get("messages") or body.get("input")
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    held = list(_mappings(messages))
    turn = max((n for n, m in enumerate(held) if m.get("role") == "user"), default=0)
    for place, message in enumerate(held):
        _read(reading, message, now=place >= turn)
    # the model is sent all of it
    found = [replace(passage, seen=True) for passage in reading.trace.fetched_passages()]
    passages = _unique([*found, *reading.told] or reading.typed)
    source: ContextSource = "prompt" if passages else "none"
    return Evidence(passages, "retrieval" if found else source, reading.question)


def _unique(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    return tuple({passage.text: passage for passage in passages}.values())


def _read(reading: _Reading, message: Mapping[str, Any], *, now: bool) -> None:
    """Read a message or an item.

    Args:
        reading: What was read before.
        message: What to read.
        now: Whether it belongs to the last turn; answers of earlier ones may be the tools' words.
    """
    role, kind = message.get("role"), str(message.get("type") or "")
    if role in ("system", "developer"):
        reading.told += _documents(_text(message.get("content")))
    elif role == "user":
        text = _text(message.get("content"))
        reading.typed += _typed_documents(text)
        reading.question = _without_documents(text) or reading.question
    elif role == "assistant":
        said = _text(message.get("content"))
        if now:
            reading.trace.gave(said=said)
        for call in _mappings(message.get("tool_calls")):
            named: Any = call.get("function") or call.get("custom")
            reading.called(_id(call.get("id")), named, said)
        if function := message.get("function_call"):
            reading.called(_FUNCTION, function, said)
    elif role in ("tool", "function"):
        run = _id(message.get("tool_call_id")) if role == "tool" else _FUNCTION
        reading.returned(run, _text(message.get("content")), _id(message.get("name")) or "tool")
    elif kind.endswith("_call_output"):
        reading.returned(_id(message.get("call_id")), _text(message.get("output")), "tool")
    elif kind == "file_search_call":
        reading.trace.retrieved("", found_in_files(message))
    elif kind.endswith("_call"):
        reading.called(_id(message.get("call_id")), message)


def found_in_files(item: Mapping[str, Any]) -> list[Passage]:
    """Return the results that an item of a file search carries."""
    return [
        Passage(text=result["text"], source=_id(result.get("filename")) or None, origin="retriever")
        for result in _mappings(item.get("results"))
        if isinstance(result.get("text"), str)
    ]


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
