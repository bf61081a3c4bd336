"""Events of a run tree -> Exchange.

In: what a framework tells while a chain runs: retrievals, tool results, prompts, model outputs,
each under a run id. Out: the `Exchange`: question, answer, and the passages, each marked
whether it reached a prompt. Evidence is retrieved or tool text that the model saw; the user's
words, earlier answers and what a model wrote on the way never are.

`Assembler` keeps one `Trace` for each root run, until the root ends, or is too old, or there
are too many. `passages_of` reads what a caller passes as context.
"""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from numbers import Real
from typing import Any, Literal, cast

from cachetools import TTLCache

from faithguard._fork import reset_in_child
from faithguard._provenance import Brought, Handed, Said, holds, shares, without, wordings
from faithguard._writing import Writing
from faithguard.errors import CaptureError
from faithguard.types import ContextSource, Exchange, Passage

__all__ = [
    "Assembler",
    "Message",
    "Trace",
    "handed_in",
    "new_id",
    "passages_of",
    "time_now",
    "without",
]

Role = Literal["system", "user", "assistant", "tool"]
RunKind = Literal["chain", "retriever", "tool", "model"]

_ENDED, _LATE = 4_096, 60.0
"""How many run ids, and for how many seconds, are known to have ended."""

_DEEPEST = 8
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

_CONTEXT_KEYS = frozenset(
    {
        "context",
        "contexts",
        "documents",
        "docs",
        "passages",
        "source_documents",
        "retrieved_contexts",
    }
)


def new_id() -> str:
    """Return a fresh exchange id."""
    return uuid.uuid4().hex


def time_now() -> datetime:
    """Return the time of day, which says when an exchange began."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt, its text only."""

    role: Role
    text: str


@dataclass(slots=True)
class _Fetched:
    """What one retriever or tool run brought."""

    run: str
    hop: int
    passages: Iterable[Passage]
    before: int
    """How many texts models had given by then that tools may give back."""

    def read(self) -> Iterable[Passage]:
        """Return the passages; a generator is read once and kept."""
        if not isinstance(self.passages, tuple):
            self.passages = tuple(self.passages)
        return self.passages


@dataclass(slots=True)
class Trace:
    """What happened in one run tree, in order; collecting is cheap, `exchange` does the work."""

    domain: str | None = None
    tags: tuple[str, ...] = ()
    started_at: datetime | None = None
    answer: str | None = None
    """The text of the last model output."""
    finish_reason: str | None = None
    models: int = 0
    """Model calls started so far."""
    inputs: Any = None
    """What the root was given, as plain strings, lists, mappings and `Message`s."""
    query: str | None = None
    """What the first retriever was asked."""
    queries: list[str] = field(default_factory=list[str])
    """What retrievers were asked, by those who tell of each."""
    root: str | None = None
    """The run with which it began."""
    _found: list[_Fetched] = field(default_factory=list["_Fetched"])
    _since: list[Passage] = field(default_factory=list[Passage])
    """What was fetched after an attempt, beside what the chain fetches."""
    _handed_out: bool = False
    _prompts: dict[Message, tuple[int, int]] = field(
        default_factory=dict[Message, "tuple[int, int]"]
    )
    """Each message, with how many texts had been told, and given, when it was first sent."""
    _told: dict[str, None] = field(default_factory=dict[str, None])
    """What models wrote and guards added, in order."""
    _recalled: dict[Message, None] = field(default_factory=dict[Message, None])
    """What a memory brought."""
    _passed: dict[str, None] = field(default_factory=dict[str, None])
    """What models handed to tools."""
    _given: dict[tuple[str, bool], None] = field(default_factory=dict["tuple[str, bool]", None])
    """What tools may give back of models' words, and whether it was handed to one; in order."""
    _asked: dict[str, Sequence[str]] = field(default_factory=dict[str, "Sequence[str]"])
    """What each tool was asked with, often by a model."""
    _parents: dict[str, str | None] = field(default_factory=dict[str, str | None])
    _holds_model: set[str] = field(default_factory=set[str])
    _made: tuple[tuple[Any, ...], tuple[Passage, ...], ContextSource] | None = None
    """The last evidence, and what had happened by then."""

    def started(self, run: str, parent: str | None, kind: RunKind) -> None:
        """Note a run of the tree."""
        self.root = self.root or run
        self._parents[run] = parent
        if kind == "model":
            self.models += 1
            above = parent
            while above is not None and above not in self._holds_model:
                self._holds_model.add(above)
                above = self._parents.get(above)

    def retrieved(self, run: str, passages: Iterable[Passage]) -> None:
        """Take what a retriever or a tool returned; a generator is read by `exchange`."""
        self._found.append(_Fetched(run, self.models, passages, len(self._given)))

    def handed_out(self, passages: Iterable[Passage]) -> None:
        """Take what an answer names as its sources, where nothing else is known of them.

        A model may have written them; what stood in a prompt before it did is none of its own.
        """
        self._handed_out = True
        self.retrieved("", passages)

    def asked(self, run: str, texts: Sequence[str]) -> None:
        """Take what a tool is asked with; what it gives back of that is no evidence.

        Args:
            run: The tool's.
            texts: The tool's name where a model chose it, the names of arguments, and their values.
        """
        self._asked[run] = texts

    def gave(self, texts: Iterable[str] = (), *, said: str = "") -> None:
        """Take words of models that tools may give back from here on: those are no evidence.

        Args:
            texts: What was handed to tools. Another one may have kept it.
            said: What was said beside that, or before.
        """
        given = [*((text, True) for text in texts), (said, False)]
        self._given |= dict.fromkeys(pair for pair in given if pair[0].strip())

    def prompted(self, messages: Iterable[Message]) -> None:
        """Take the exact messages of a model call; a repeated one is kept once."""
        for message in messages:
            self._prompts.setdefault(message, (len(self._told), len(self._given)))

    def wrote(self, text: str, finish_reason: str | None = None) -> None:
        """Take a model's output."""
        self.answer = text
        self.finish_reason = finish_reason
        if text.strip():
            self._told[text] = None

    def passed(self, texts: Iterable[str]) -> None:
        """Take what a model handed to tools."""
        self._passed |= dict.fromkeys(text for text in texts if text.strip())

    def recalled(self, messages: Iterable[Message]) -> None:
        """Take what a memory brought of earlier turns, summaries of them included."""
        self._recalled |= dict.fromkeys(messages)

    def found_since(self, passages: Iterable[Passage]) -> None:
        """Take what was fetched for a further attempt, beside what the first one had."""
        self._since += [replace(passage, hop=self.models) for passage in passages]

    def added(self, text: str) -> None:
        """Take what a guard itself put into a prompt: it names claims, and is no evidence."""
        self._told[text] = None

    @property
    def told(self) -> list[str]:
        """What models wrote so far, answers and what they handed to tools, and guards added."""
        return [*self._told, *self._passed]

    def quoted_in(self, text: str) -> bool:
        """Say whether a text holds something that a model of this run wrote.

        What a model handed to a tool may be the user's own words, which anybody may quote.
        """
        own = list(_user_words(self.inputs))
        passed = (t for t in self._passed if not any(holds(words, [t]) for words in own))
        return shares(text, [*self._told, *passed])

    def writing(self, beside: Iterable[str] = ()) -> Writing:
        """Return what models of this run wrote, beside what retrievers brought.

        Args:
            beside: Further texts that are not to count as a model's.
        """
        fetched = self.fetched_passages()
        if self._handed_out:
            fetched = (passage for passage in self._passages()[0] if passage.seen)
        brought = (passage.text for passage in [*fetched, *self._since])
        return Writing(self.told, [*beside, *brought])

    @property
    def fetched(self) -> bool:
        """Whether a retriever or a tool returned anything."""
        return bool(self._found)

    @property
    def runs(self) -> Iterable[str]:
        """The ids of all runs of the tree."""
        return self._parents.keys()

    def question(self) -> str | None:
        """Return the question: of the root's input, else of the retrieval, else of the prompt."""
        users = [message.text for message in self._prompts if message.role == "user"]
        return _question(self.inputs) or self.query or (users[-1] if users else None)

    def exchange(
        self, answer: str, *, id: str | None = None, question: str | None = None
    ) -> Exchange:
        """Return the exchange that these events make with an answer."""
        passages, source = self._evidence()
        return Exchange(
            id=id or new_id(),
            answer=answer,
            passages=passages,
            question=question or self.question(),
            domain=self.domain,
            context_source=source,
            finish_reason=self.finish_reason,
            tags=self.tags,
            started_at=self.started_at,
        )

    def _evidence(self) -> tuple[tuple[Passage, ...], ContextSource]:
        """Return the passages and what they rest on; made again only if something happened."""
        events = (
            len(self._found),
            len(self._since),
            len(self._prompts),
            len(self._told),
            len(self._recalled),
            len(self._passed),
            len(self._given),
            len(self._asked),
            len(self._holds_model),
            id(self.inputs),
            self.query,
        )
        made = self._made
        if made is None or made[0] != events:
            passages, source = self._passages()
            if self._since:
                sent = Said(m.text for m in self._prompts if m.role != "assistant")
                passages += [piece for passage in self._since for piece in _split(passage, sent)]
                source = "caller" if source == "none" else source
            made = self._made = events, tuple(passages), source
        return made[1:]

    def _passages(self) -> tuple[list[Passage], ContextSource]:
        found = list(self.fetched_passages())
        if found:
            unique = list({passage.text: passage for passage in reversed(found)}.values())
            brought = Said(passage.text for passage in unique)
            prompts = Said(
                without(message.text, (), written=self._told_before(before), brought=brought)
                if before
                else message.text
                for message, (before, _) in self._prompts.items()
                if message.role != "assistant"
            )
            return [piece for p in reversed(unique) for piece in _split(p, prompts)], "retrieval"
        if self.query is not None:
            return [], "none"  # a retriever was asked, and found nothing
        texts = [Passage(text=t, origin="prompt") for t in self._prompt_texts() if t.strip()]
        return (texts, "prompt") if texts else ([], "none")

    def fetched_passages(self) -> Iterator[Passage]:
        """Yield what retrievers and tools returned, less what a model put into it."""
        given = [list(wordings(text, handed=handed)) for text, handed in self._given]
        brought = Brought()
        for fetched in self._found:
            if fetched.run in self._holds_model:
                continue  # a tool in which a model ran returns that model's writing
            # what no tool brought, such as documents in a state, gives nothing back
            earlier = [w for one in given[: fetched.before] for w in one] if fetched.run else []
            handed = Handed(self._asked.get(fetched.run, ()), earlier, brought)
            for passage in fetched.read():
                text = handed.rest(passage.text)
                if text.strip():
                    brought.add(text)
                    yield replace(passage, text=text, hop=fetched.hop, seen=False)

    def _prompt_texts(self) -> Iterator[str]:
        """Yield the prompt's text outside the user's and the models' words.

        A user's message is a template around the user's words only if these stand in it; any
        other one is an earlier turn, or all the user's own.
        """
        own = [*_user_words(self.inputs)]
        # a completion model gets the earlier turns in its prompt, others as messages of their own
        written_out = [m.text for m in self._recalled if m not in self._prompts]
        # a model that was called with messages was called with the user's own words
        templated = isinstance(self.inputs, str | Mapping)
        given = [list(wordings(text, handed=handed)) for text, handed in self._given]
        brought = Brought()
        for message, (before, by_then) in self._prompts.items():
            if message in self._recalled:
                continue
            if message.role in ("system", "tool") or (
                message.role == "user" and templated and holds(message.text, own)
            ):
                words = [*own, *written_out]
                text = without(message.text, words, written=self._told_before(before))
                if message.role == "tool":
                    earlier = [w for one in given[:by_then] for w in one]
                    text = Handed((), earlier, brought).rest(text)
                    brought.add(text)
                yield text

    def _told_before(self, before: int) -> list[str]:
        """Return what models and guards had written by then.

        What was sent before a model wrote the same is where the model has it from.
        """
        return list(self._told)[:before]


def handed_in(name: object, arguments: Any) -> Iterator[str]:
    """Yield what a model hands to a tool by a call: each text, each number, and what names them.

    Args:
        name: The tool's, as the model has it; one of several words is a statement.
        arguments: Plain data, or the JSON of it, which may be broken off.
    """
    if isinstance(name, str):
        yield _naming(name)
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = [*_STRING.findall(arguments), arguments]
    yield from _handed(arguments, _DEEPEST)


def _handed(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif depth and isinstance(value, Mapping):
        for key, item in cast(Mapping[Any, Any], value).items():
            yield _naming(str(key))
            yield from _handed(item, depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in cast(Sequence[Any], value):
            yield from _handed(item, depth - 1)


def _naming(name: str) -> str:
    """Return a name; if it has several words, as the sentence that a model makes of it."""
    return f"{name}." if len(name.split()) > 1 else name


def _split(passage: Passage, prompts: Said) -> Iterator[Passage]:
    """Yield a passage in the pieces that reached a prompt and those that did not."""
    if prompts.empty or prompts.hold_all(passage.text):
        # where no model call was observed, what was fetched is the best that is known
        yield replace(passage, seen=True)
        return
    for start, stop, said in prompts.stretches(passage.text):
        yield replace(passage, text=passage.text[start:stop], seen=said)


def _question(inputs: Any) -> str | None:
    if isinstance(inputs, str):
        return inputs or None
    if isinstance(inputs, Mapping):
        mapping = cast(Mapping[str, Any], inputs)
        for key in ("question", "input", "query", "user_input", "prompt", "messages"):
            if found := _question(mapping.get(key)):
                return found
        return None
    if isinstance(inputs, Message):
        return inputs.text if inputs.role == "user" else None
    if isinstance(inputs, list):
        items = cast(list[Any], inputs)
        return next((q for item in reversed(items) if (q := _question(item))), None)
    return None


def _user_words(inputs: Any) -> Iterator[str]:
    """Yield the strings that the caller passed in, but for what is passed as context."""
    if isinstance(inputs, str):
        yield inputs
    elif isinstance(inputs, Message):
        if inputs.role in ("user", "assistant"):
            yield inputs.text
    elif isinstance(inputs, Mapping):
        for key, value in cast(Mapping[str, Any], inputs).items():
            if key not in _CONTEXT_KEYS:
                yield from _user_words(value)
    elif isinstance(inputs, list | tuple):
        for item in cast(Sequence[Any], inputs):
            yield from _user_words(item)


class Assembler:
    """Keep the traces of the run trees that are going on.

    State is keyed by run id, gone when the root ends, and bounded: a tree that is never ended
    (a cancelled model call does not tell) leaves after `max_age`, or when there are too many.

    Args:
        max_runs: Trees at once.
        max_age: Seconds after which a tree that has not ended is dropped.
        clock: Seconds, monotonic.
        now: The time of day.
    """

    def __init__(
        self,
        *,
        max_runs: int = 10_000,
        max_age: float = 900.0,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = time_now,
    ) -> None:
        self._max_runs = max_runs
        self._max_age = max_age
        self._clock = clock
        self._now = now
        self._roots: OrderedDict[str, tuple[float, Trace]] = OrderedDict()
        self._root_of: dict[str, str] = {}
        self._ended: TTLCache[str, None] = TTLCache(_ENDED, _LATE, clock)
        self._lock = threading.Lock()  # protects all three
        reset_in_child(self)

    def after_fork(self) -> None:
        """Forget in a forked child the runs of its parent."""
        self._lock = threading.Lock()
        self._roots = OrderedDict()
        self._root_of = {}

    def __len__(self) -> int:
        """Return how many entries are held; 0 when nothing runs."""
        return len(self._roots) + len(self._root_of)

    def start(self, run: str, parent: str | None, kind: RunKind) -> Trace:
        """Note that a run started; return the trace of its tree.

        A run whose parent is not known is a root: a callback may be attached to a part of a
        chain only. A run that is told of twice is noted once.
        """
        with self._lock:
            if parent in self._ended:
                return Trace()  # told after its root's end, by a thread that went on
            root = self._root_of.get(parent or "") or self._root_of.get(run) or run
            if root not in self._roots:
                self._drop_old()
                self._roots[root] = self._clock(), Trace(started_at=self._now())
            trace = self._roots[root][1]
            if run not in self._root_of:
                self._root_of[run] = root
                trace.started(run, parent, kind)
            return trace

    def trace(self, run: str) -> Trace | None:
        """Return the trace of the tree that a run belongs to, if it is still going on."""
        with self._lock:
            root = self._root_of.get(run)
            return self._roots[root][1] if root is not None else None

    def is_root(self, run: str) -> bool:
        """Say whether a run is the root of a tree that is going on."""
        with self._lock:
            return run in self._roots

    def end(self, run: str) -> Trace | None:
        """Return the trace, and forget it, if the run is a root."""
        with self._lock:
            return self._drop(run) if run in self._roots else None

    def _drop_old(self) -> None:
        oldest = self._clock() - self._max_age
        while self._roots:
            root, (started, _) = next(iter(self._roots.items()))
            if started > oldest and len(self._roots) < self._max_runs:
                return
            self._drop(root)

    def _drop(self, root: str) -> Trace:
        _, trace = self._roots.pop(root)
        for run in trace.runs:
            self._root_of.pop(run, None)
            self._ended[run] = None
        return trace


def passages_of(context: Any, **fields: Any) -> tuple[Passage, ...]:
    """Read context: a string, a passage, a framework's document or node, or several of them.

    A pair of one and its score, as similarity searches return, is read without the score.

    Args:
        context: What a caller has; an empty list is no context.
        fields: Fields of the passages that are made, such as `origin`.

    Raises:
        CaptureError: If a part of it has no text.
    """
    if isinstance(context, str | Passage | Mapping) or _text_of(context) is not None:
        return (_passage(context, fields),)
    if context is None or isinstance(context, bytes) or not isinstance(context, Iterable):
        raise CaptureError(
            f"`context` is of type {type(context).__name__}: pass a string, a list of strings, "
            "Documents, nodes or Passages; [] for no context"
        )
    return tuple(_passage(item, fields) for item in cast(Iterable[Any], context))


def _passage(item: Any, fields: Mapping[str, Any]) -> Passage:
    if isinstance(item, tuple):
        item = _scoreless(cast("tuple[Any, ...]", item))
    if isinstance(item, Passage):
        return item
    text = item if isinstance(item, str) else _text_of(item)
    if text is None:
        raise CaptureError(
            f"a piece of context is of type {type(item).__name__}, which has no text: "
            "pass strings, Documents, nodes or Passages"
        )
    passage = Passage(text=text, metadata=_metadata_of(item), **fields)
    known = (passage.metadata.get(key) for key in ("source", "file_name", "url", "id"))
    source = next((value for value in known if value is not None), None)
    return passage if source is None else replace(passage, source=str(source))


def _scoreless(pair: tuple[Any, ...]) -> Any:
    return pair[0] if len(pair) == 2 and isinstance(pair[1], Real) else pair


def _text_of(item: Any) -> str | None:
    """Return the text of a document or node by the names that frameworks use."""
    values: list[Any]
    if isinstance(item, Mapping):
        mapping = cast(Mapping[str, Any], item)
        values = [mapping.get(key) for key in ("text", "page_content", "content")]
    else:
        node = getattr(item, "node", None)  # a node with its score
        if node is not None:
            return _text_of(node)
        values = [getattr(item, "page_content", None), getattr(item, "text", None)]
        if callable(content := getattr(item, "get_content", None)):
            values.append(content())
    return next((str(value) for value in values if isinstance(value, str)), None)


def _metadata_of(item: Any) -> Mapping[str, Any]:
    item = getattr(item, "node", None) or item
    if isinstance(item, Mapping):
        found = cast(Mapping[str, Any], item).get("metadata")
    else:
        found = getattr(item, "metadata", None)
    return cast(Mapping[str, Any], found) if isinstance(found, Mapping) else {}
