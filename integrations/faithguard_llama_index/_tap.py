"""LlamaIndex's events and spans -> the events of `faithguard.capture`.

In: what the instrumentation tells while engines run, from any thread or task. Out: calls on the
traces of the scopes that are open where it is told. A scope travels in a context variable, as
LlamaIndex's own tags do, so that concurrent queries never mix. Nothing raises into the host.

One event handler and one span handler serve all watchers and guards of the process.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Any, Protocol

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from faithguard.capture import Message, Trace, without
from faithguard.watch import never_raise
from faithguard_llama_index._values import (
    Snapshot,
    arguments_in,
    finish_reason_of,
    given_in,
    message_of,
    model_text,
    passages_of,
    query_text,
    snapshots,
)

__all__ = ["Roots", "Scope", "attach", "capturing", "detach", "enter", "leave", "open_scopes"]

_UUID = 37  # characters of an id behind the name of what runs: a dash and a UUID

_MODEL_CALLS = frozenset(
    f"{start}{name}" for start in ("", "a", "stream_", "astream_") for name in ("chat", "complete")
)


class Scope:
    """Something that wants to know what happens here: its trace takes it until it is closed.

    Args:
        trace: What takes it.
        roots: The watcher that opened it; it ends where that is detached, at the latest.
    """

    def __init__(self, trace: Trace, roots: Roots | None = None) -> None:
        self.trace = trace
        self.roots = roots
        self.closed = False
        self.inner: set[str] = set()
        """Model calls inside another call of the same model, which makes the same call."""
        self.brought: set[str] = set()
        """The texts of nodes that retrievers brought."""
        self.known: set[str] = set()
        """The ids of these nodes; a postprocessor may change a node's text, but not its id."""
        self.parents: dict[str, str | None] = {}
        """The spans here, each with the one around it."""
        self.inside: dict[str, list[str]] = {}
        """The spans of retrievers that are at work, each with what models wrote inside it, and
        what engines were asked there."""


_scopes: ContextVar[tuple[Scope, ...]] = ContextVar("faithguard_scopes", default=())


def open_scopes() -> tuple[Scope, ...]:
    """Return the scopes that are open here."""
    return tuple(scope for scope in _scopes.get() if _is_open(scope))


def _is_open(scope: Scope) -> bool:
    """Say whether a scope still takes what happens.

    The thread of a call in which its watcher was detached is never told of the call's end.
    """
    return not scope.closed and (scope.roots is None or scope.roots in _roots)


@contextmanager
def capturing(scope: Scope) -> Generator[None]:
    """Have what happens inside go to a scope as well."""
    token = _scopes.set((*open_scopes(), scope))
    try:
        yield
    finally:
        _scopes.reset(token)


def enter(scope: Scope) -> None:
    """Open a scope from here on, where no block can say until when."""
    _scopes.set((*open_scopes(), scope))


def leave(scope: Scope) -> None:
    """Have nothing more of what happens here go to a scope; what was begun in it goes on."""
    _scopes.set(tuple(other for other in open_scopes() if other is not scope))


# -- what events mean -------------------------------------------------------------------------


def _asked(scope: Scope, event: Any) -> None:
    trace = scope.trace
    trace.queries.append(query_text(event.str_or_query_bundle))
    trace.query = trace.query or trace.queries[0]
    scope.inside[event.span_id] = []


def _retrieved(scope: Scope, event: Any) -> None:
    """Take what a retriever brought; what a model wrote as a whole is none of it.

    Some retrievers ask an engine, and make nodes of what it answers; that is taken out.
    """
    told = frozenset(text.strip() for text in scope.trace.told)
    nodes = [node for node in snapshots(event.nodes) if node.text.strip() not in told]
    scope.brought.update(node.text for node in nodes)
    scope.known.update(node.id for node in nodes)
    wrote = scope.inside.pop(event.span_id, [])
    scope.trace.retrieved("", passages_of(_less(scope.trace, nodes, wrote)))


def _given(scope: Scope, nodes: Iterable[Any], run: str) -> None:
    """Take what a synthesizer is given beside that: what stands in for what was retrieved.

    Some engines make nodes of what a model wrote on the way; that is taken out. Where a node
    was retrieved and has another text now, only what a model may have stated is.
    """
    new = [node for node in snapshots(nodes) if node.text not in scope.brought]
    if new:
        told = scope.trace.told
        scope.trace.asked(run, told)
        changed = [node for node in new if node.id in scope.known]
        made = [node for node in new if node.id not in scope.known]
        scope.trace.retrieved(run, passages_of(chain(changed, _less(scope.trace, made, told))))


def _less(trace: Trace, nodes: Iterable[Snapshot], wrote: Sequence[str]) -> Iterable[Snapshot]:
    """Return nodes less what models wrote into them, and the question that they put beside it.

    The work waits until the nodes are read, off the engine's path.
    """
    if not wrote:
        return nodes
    asked = [text for text in (trace.inputs, trace.query) if isinstance(text, str)]
    return (
        node._replace(text=without(node.text, asked, written=wrote, every=True)) for node in nodes
    )


def _chat_started(scope: Scope, event: Any) -> None:
    _begun(scope, event)
    for message in event.messages:
        scope.trace.prompted([message_of(message)])
        scope.trace.gave(given_in(message))


def _completion_started(scope: Scope, event: Any) -> None:
    _begun(scope, event)
    scope.trace.prompted([Message("user", str(event.prompt))])


def _begun(scope: Scope, event: Any) -> None:
    if event.span_id not in scope.inner:
        scope.trace.started(event.id_, None, "model")


def _model_ended(scope: Scope, event: Any) -> None:
    if event.response is not None:
        text = model_text(event.response)
        scope.trace.wrote(text, finish_reason_of(event.response))
        _inside(scope, event.span_id, text)
        scope.trace.passed(arguments_in(event.response))


def _structured(scope: Scope, event: Any) -> None:
    dump: Callable[[], str] | None = getattr(event.output, "model_dump_json", None)
    if dump is not None:
        scope.trace.wrote(dump())


def _inside(scope: Scope, span: str | None, text: str) -> None:
    """Note a text with the retrievers inside which it came up."""
    while scope.inside and span is not None:
        if span in scope.inside and text.strip():
            scope.inside[span].append(text)
        span = scope.parents.get(span)


_NOTES: Mapping[str, Callable[[Scope, Any], None]] = {
    "RetrievalStartEvent": _asked,
    "RetrievalEndEvent": _retrieved,
    "ReRankEndEvent": _retrieved,
    "LLMChatStartEvent": _chat_started,
    "LLMCompletionStartEvent": _completion_started,
    "LLMChatEndEvent": _model_ended,
    "LLMCompletionEndEvent": _model_ended,
    "LLMStructuredPredictEndEvent": _structured,
}


class _Events(BaseEventHandler):
    @classmethod
    def class_name(cls) -> str:
        return "FaithguardEventHandler"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        if not (scopes := _scopes.get()):
            return
        note = _NOTES.get(type(event).__name__)
        if note is not None:
            for scope in scopes:
                if _is_open(scope):
                    _note(note, scope, event)


@never_raise
def _note(note: Callable[[Scope, Any], None], scope: Scope, event: BaseEvent) -> None:
    note(scope, event)


@never_raise
def _tell(told: Callable[..., None], *what: Any) -> None:
    """Tell one of several: what one of them raises must not keep it from the others."""
    told(*what)


# -- spans ------------------------------------------------------------------------------------


class Roots(Protocol):
    """Who wants to know when calls begin and end: a watcher."""

    def entered(
        self, run: str, method: str, arguments: Mapping[str, Any], instance: Any, tags: Any
    ) -> None:
        """Take the start of a call of a method."""

    def left(self, run: str, method: str, instance: Any, result: Any) -> None:
        """Take the end of a call, and what it returned."""

    def failed(self, run: str, method: str, instance: Any) -> None:
        """Take that a call raised, or was cancelled."""


_roots: tuple[Roots, ...] = ()


class _Spans(BaseSpanHandler[Any]):
    @classmethod
    def class_name(cls) -> str:
        return "FaithguardSpanHandler"

    @never_raise
    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        owner, _, method = id_[:-_UUID].rpartition(".")
        for roots in _roots:
            _tell(roots.entered, id_, method, bound_args.arguments, instance, tags)
        for scope in open_scopes():
            scope.parents[id_] = parent_id
        if method in ("synthesize", "asynthesize"):
            nodes: list[Any] = bound_args.arguments.get("nodes") or []
            for scope in open_scopes():
                _tell(_given, scope, nodes, id_)
        elif method in ("query", "aquery"):
            asked = next(iter(bound_args.arguments.values()), "")
            for scope in open_scopes():
                if scope.inside:
                    _inside(scope, parent_id, query_text(asked))
        elif method in _MODEL_CALLS and parent_id:
            above, _, outer = parent_id[:-_UUID].rpartition(".")
            if outer in _MODEL_CALLS and above == owner:
                for scope in open_scopes():
                    scope.inner.add(id_)

    @never_raise
    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> None:
        for roots in _roots:
            _tell(roots.left, id_, id_[:-_UUID].rpartition(".")[2], instance, result)

    @never_raise
    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        for roots in _roots:
            _tell(roots.failed, id_, id_[:-_UUID].rpartition(".")[2], instance)

    # Spans of our own are none: nothing is kept here.

    def new_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> None:
        return None

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> None:
        return None


_EVENTS = _Events()
_SPANS = _Spans()
_lock = threading.Lock()  # protects the dispatcher's lists, and the two below
_guarded = False


def attach(roots: Roots | None = None) -> None:
    """Have LlamaIndex tell us what happens; calling it again changes nothing.

    Handlers are looked for each time: an app may have set the dispatcher's lists anew.

    Args:
        roots: A watcher; a guard attaches without one.
    """
    global _roots, _guarded
    root: Any = get_dispatcher()
    with _lock:
        if not any(handler is _EVENTS for handler in root.event_handlers):
            root.add_event_handler(_EVENTS)
        if not any(handler is _SPANS for handler in root.span_handlers):
            root.add_span_handler(_SPANS)
        if roots is None:
            _guarded = True
        elif roots not in _roots:
            _roots = (*_roots, roots)


def detach(roots: Roots) -> None:
    """Tell a watcher nothing more; without watchers and guards nothing of ours stays attached."""
    global _roots
    root: Any = get_dispatcher()
    with _lock:
        _roots = tuple(other for other in _roots if other is not roots)
        if not _roots and not _guarded:
            root.event_handlers[:] = [h for h in root.event_handlers if h is not _EVENTS]
            root.span_handlers[:] = [h for h in root.span_handlers if h is not _SPANS]
