"""The watcher: every answer of every engine of the process is reported on.

In: LlamaIndex's spans and events. Out: reports and records, made off the engines' path. It never
raises into an engine and holds nothing back; `guard` does. A stream is handed through token by
token and reported on when it has ended.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, cast

from faithguard import ConfigError, Judge, Policy, Report, Scorer
from faithguard.capture import Assembler, Trace
from faithguard.sinks import AnySink
from faithguard.watch import Watch, never_raise
from faithguard_llama_index._tap import Scope, attach, capturing, detach, enter, leave, open_scopes
from faithguard_llama_index._values import (
    answer_of,
    is_chat_stream,
    passages_of,
    query_text,
    snapshots,
)

__all__ = ["Watcher", "unwatch", "watch"]

_ENGINES = frozenset("query aquery chat achat stream_chat astream_chat".split())
_SYNTHESIZERS = frozenset("synthesize asynthesize".split())
_WRITERS = frozenset("write_response_to_history awrite_response_to_history".split())
_END = object()


class _Run(Scope):
    """A call of an engine from outside: what is answered by it is one answer."""

    def __init__(self, trace: Trace, root: str, owner: Watcher) -> None:
        super().__init__(trace, owner)
        self.root = root
        self.owner = owner
        self.streams: Any = None
        """A chat's response that is still being written."""


class Watcher:
    """What `watch` returns: the last reports, and how to wait for them."""

    def __init__(
        self,
        domain: str | Policy | None,
        *,
        sinks: Sequence[AnySink] | None,
        scorer: Scorer | None,
        judge: Judge | None,
        keep: int,
        sample: float | None,
    ) -> None:
        self._watch = Watch(
            domain, sinks=sinks, scorer=scorer, judge=judge, keep=keep, sample=sample
        )
        self._assembler = Assembler()
        self._gone: deque[str] = deque()
        """Roots whose stream was thrown away; told by the garbage collector, which may come at
        any moment and must not wait for a lock."""

    def __repr__(self) -> str:
        return f"Watcher(domain={self._watch.policy.domain!r}, reports={len(self.reports)})"

    @property
    def reports(self) -> tuple[Report, ...]:
        """The last reports, oldest first; `wait` for those that are still being made."""
        return self._watch.reports

    @property
    def dropped(self) -> int:
        """Answers that were not checked because too many were waiting."""
        return self._watch.dropped

    @property
    def open_runs(self) -> int:
        """Entries held for calls that are going on; 0 when nothing runs."""
        self._sweep()
        return len(self._assembler)

    def wait(self, timeout: float | None = 10.0) -> bool:
        """Wait until every answer so far is reported; return whether it was in time (seconds)."""
        return self._watch.wait(timeout)

    def stop(self) -> None:
        """Take nothing more, and forget the calls that are going on: their ends are not told."""
        detach(self)
        self._assembler = Assembler()

    # -- calls --------------------------------------------------------------------------------

    def entered(
        self, run: str, method: str, arguments: Mapping[str, Any], instance: Any, tags: Any
    ) -> None:
        """Open a scope for a call of an engine, unless it is part of another one."""
        if method not in _ENGINES and method not in _SYNTHESIZERS:
            return
        if self._mine() is not None or not _answers(cast(Any, type(instance)), method):
            return
        self._sweep()
        # read before anything is held: what a user's own objects raise must leave nothing behind
        asked = query_text(next(iter(arguments.values()), ""))
        tags = dict(tags or {})
        domain = tags.pop("faithguard_domain", None)
        written = tuple(f"{name}={value}" for name, value in tags.items())
        trace = self._assembler.start(run, None, "chain")
        trace.inputs, trace.domain, trace.tags = asked, domain, written
        enter(_Run(trace, run, self))

    def left(self, run: str, method: str, instance: Any, result: Any) -> None:
        """Take what a call returned: the answer, or the stream that is going to be it."""
        scope = self._mine()
        if scope is None:
            return
        if run == scope.root:
            leave(scope)
            try:
                self._returned(scope, result)
            except Exception:
                self._drop(scope)
                raise
        elif method in _WRITERS and scope.streams is instance:
            self._finish(scope, str(instance.response), instance)

    def failed(self, run: str, method: str, instance: Any) -> None:
        """Forget a call that raised or was cancelled, or whose stream did."""
        scope = self._mine()
        if scope is None:
            return
        if run == scope.root:
            leave(scope)
            self._drop(scope)
        elif method in _WRITERS and scope.streams is instance:
            self._drop(scope)

    def _mine(self) -> _Run | None:
        for scope in open_scopes():
            if isinstance(scope, _Run) and scope.owner is self:
                return scope
        return None

    def _returned(self, scope: _Run, result: Any) -> None:
        metadata: dict[str, Any] | None = getattr(result, "metadata", None)
        if _is_fallback(metadata):
            self._drop(scope)  # a guard has reported what it held back, and no model wrote this
            return
        scope.streams = result  # before it is asked whether it has ended: its thread does it after
        if (answer := answer_of(result)) is not None:
            self._finish(scope, answer, result)
        elif not is_chat_stream(result):
            self._follow(scope, result, "response_gen", metadata)
        elif not result.is_writing_to_memory:
            name = "chat_stream" if result.achat_stream is None else "achat_stream"
            self._follow(scope, result, name, metadata)
        elif result.exception is not None:
            self._drop(scope)
        else:
            weakref.finalize(result, self._gone.append, scope.root)

    def _follow(self, scope: _Run, result: Any, name: str, metadata: dict[str, Any] | None) -> None:
        """Put a stream that is followed in the place of one that a response holds by a name."""
        made, told = getattr(result, name), _Told(result.source_nodes, metadata)
        if made is None:
            self._drop(scope)
            return
        # an engine of the user's may stream anything that can be iterated over
        if hasattr(made, "__aiter__"):
            followed: Any = self._afollowed(scope, aiter(made), told)
        else:
            followed = self._followed(scope, iter(made), told)
        setattr(result, name, followed)
        weakref.finalize(followed, self._gone.append, scope.root)

    def _finish(self, scope: _Run, answer: str, result: Any) -> None:
        nodes = () if scope.trace.fetched else getattr(result, "source_nodes", None) or ()
        self._end(scope, answer, nodes)

    def _end(self, scope: _Run, answer: str, nodes: Sequence[Any]) -> None:
        scope.closed = True
        trace = self._assembler.end(scope.root)
        if trace is None or not self._watch.checks(scope.root):
            return
        if not trace.fetched and nodes:
            # fetched without a retriever's events, but handed out
            trace.retrieved("", passages_of(snapshots(nodes)))
        self._watch.submit(lambda: trace.exchange(answer))

    def _drop(self, scope: _Run) -> None:
        scope.closed = True
        self._assembler.end(scope.root)

    def _sweep(self) -> None:
        while self._gone:
            try:
                root = self._gone.popleft()
            except IndexError:  # another thread was faster
                return
            self._assembler.end(root)

    # -- streams ------------------------------------------------------------------------------

    def _followed(
        self, scope: _Run, tokens: Iterator[Any], told: _Told
    ) -> Generator[Any, None, None]:
        """Hand a stream through; what runs to make its tokens belongs to the call."""
        parts: list[str] = []
        try:
            while True:
                with capturing(scope):
                    token = next(tokens, _END)
                if token is _END:
                    break
                parts.append(_text_of(token))
                yield token
        except BaseException:
            self._forget(scope)
            raise
        finally:
            if hasattr(tokens, "close"):
                cast("Generator[Any, None, None]", tokens).close()
        self._report(scope, parts, told)

    async def _afollowed(
        self, scope: _Run, tokens: AsyncIterator[Any], told: _Told
    ) -> AsyncGenerator[Any, None]:
        parts: list[str] = []
        try:
            while True:
                with capturing(scope):
                    token = await anext(tokens, _END)
                if token is _END:
                    break
                parts.append(_text_of(token))
                yield token
        except BaseException:
            self._forget(scope)
            raise
        finally:
            if hasattr(tokens, "aclose"):
                await cast("AsyncGenerator[Any, None]", tokens).aclose()
        self._report(scope, parts, told)

    @never_raise
    def _report(self, scope: _Run, parts: Sequence[str], told: _Told) -> None:
        if _is_fallback(told.metadata):
            self._drop(scope)
        else:
            self._end(scope, "".join(parts), told.nodes)

    @never_raise
    def _forget(self, scope: _Run) -> None:
        self._drop(scope)


class _Told(NamedTuple):
    """What a response says beside its stream."""

    nodes: Sequence[Any]
    metadata: dict[str, Any] | None


def _text_of(token: Any) -> str:
    """Return the text of a piece of a stream; a chat's pieces are responses of its model."""
    text: Any = token if isinstance(token, str) else getattr(token, "delta", None)
    return text if isinstance(text, str) else ""


def _is_fallback(metadata: dict[str, Any] | None) -> bool:
    """Say whether a guard put its fallback in the place of the answer."""
    note: Any = (metadata or {}).get("faithguard")
    return isinstance(note, dict) and cast("dict[str, Any]", note).get("action") == "block"


@cache
def _answers(kind: type, method: str) -> bool:
    """Say whether a method of a class answers: engines and synthesizers do, models do not."""
    bases = {base.__name__ for base in kind.__mro__}
    if method in _SYNTHESIZERS:
        return "BaseSynthesizer" in bases
    return not bases.isdisjoint(("BaseQueryEngine", "BaseChatEngine"))


# -- once for a process -----------------------------------------------------------------------

_lock = threading.Lock()  # protects the two below
_current: Watcher | None = None
_settings: tuple[Any, ...] = ()


def watch(
    domain: str | Policy | None = None,
    *,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    keep: int = 100,
    sample: float | None = None,
    on_fail: str = "flag",
) -> Watcher:
    """Report, from now on, which claims of the answers of all engines are not supported.

        watcher = watch(domain="support")
        engine.query(question)
        watcher.wait()
        print(watcher.reports[-1])

    Query engines, chat engines and synthesizers are seen in every way of calling; the outermost
    one that is called gives one answer. An answer is delivered whatever is found; to hold one
    back, wrap the engine: `guard`.

    There is one watcher for a process: calling this again with the same settings returns it,
    with others it takes its place, as after `unwatch`. A call may name a domain of its own:
    `with instrument_tags({"faithguard_domain": "medical"}): engine.query(...)`.

    Args:
        domain: The domain, or a policy, whose thresholds decide.
        sinks: Where records go: objects with `write(record)`, or functions; one log line for
            each answer by default. The store that FAITHGUARD_STORE names gets them, too, but with
            an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        keep: Reports that `reports` keeps.
        sample: The share of calls whose answers are checked, from 0 to 1, chosen by a hash of the
            id of the call's span; all of them by default.
        on_fail: Only "flag": an event handler cannot hold an answer back.

    Raises:
        ConfigError: If the domain is unknown, another setting cannot be used, or it is asked to
            block.
    """
    global _current, _settings
    if on_fail != "flag":
        raise ConfigError(
            f"a watcher cannot do {on_fail!r}: LlamaIndex delivers the answer whatever an event "
            "handler raises; wrap the engine with faithguard_llama_index.guard(engine, ...)"
        )
    if hasattr(domain, "query") or hasattr(domain, "chat"):
        raise ConfigError("`watch` takes no engine: it sees all engines of the process")
    settings = (domain, None if sinks is None else tuple(sinks), scorer, judge, keep, sample)
    with _lock:
        if _current is None or settings != _settings:
            made = Watcher(
                domain, sinks=sinks, scorer=scorer, judge=judge, keep=keep, sample=sample
            )
            if _current is not None:
                _current.stop()
            _current, _settings = made, settings
        attach(_current)
        return _current


def unwatch() -> None:
    """Report no more; without a watcher nothing is changed.

    Answers that are complete are still reported; those that are being written are not.
    """
    global _current
    with _lock:
        if _current is not None:
            _current.stop()
            _current = None
