"""A small query engine of LlamaIndex to measure on: retrieve, prompt, model.

In: an answer and its context. Out: an engine. A question that starts with "fail" makes the model
raise, one that starts with "slow" makes it sleep.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span_handlers import BaseSpanHandler

from faithguard_llama_index.testing import ScriptedLLM

__all__ = ["detach_clocks", "rag_engine", "timed_handlers"]

SLOW = 0.005
"""Seconds that a slow model sleeps before each word of its answer."""


class GivenNodes(BaseRetriever):
    """Return the same texts for any question."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text=text), score=1.0) for text in self._texts]


def rag_engine(
    answer: str, context: Sequence[str], *, streaming: bool = False, slow: bool = False
) -> Any:
    """Return the engine; its model has room for all of the context."""

    def reply(messages: list[ChatMessage]) -> str:
        if "Query: fail" in str(messages[-1].content):
            raise RuntimeError("the model fails, as it was asked to")
        return answer

    llm = ScriptedLLM(reply=reply, pause=SLOW if slow else 0.0, context_window=200_000)
    return RetrieverQueryEngine.from_args(GivenNodes(context), llm=llm, streaming=streaming)


Seconds = dict[str, list[float]]


class _Events(BaseEventHandler):
    """Pass events on to another handler, and note how long it takes."""

    inner: Any
    seconds: Any

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        """Note."""
        started = time.perf_counter()
        self.inner.handle(event, **kwargs)
        self.seconds[type(event).__name__].append(time.perf_counter() - started)


def _spans(inner: Any, seconds: Seconds) -> BaseSpanHandler[Any]:
    def noted(name: str) -> Callable[..., None]:
        method = getattr(inner, name)

        def note(self: Any, id_: str, *args: Any, **kwargs: Any) -> None:
            started = time.perf_counter()
            method(id_, *args, **kwargs)
            seconds[name.replace("_", " ")].append(time.perf_counter() - started)

        return note

    names = ("span_enter", "span_exit", "span_drop")
    fields = {"__module__": __name__, **{name: noted(name) for name in names}}
    kind = type("Spans", (type(inner),), fields)
    made: BaseSpanHandler[Any] = kind()
    return made


def timed_handlers() -> Seconds:
    """Put a clock around our handlers, which must be attached; return what it notes."""
    seconds: Seconds = defaultdict(list)
    root: Any = get_dispatcher()
    for handlers, clock in (
        (root.event_handlers, lambda inner, s: _Events(inner=inner, seconds=s)),
        (root.span_handlers, _spans),
    ):
        for at, handler in enumerate(handlers):
            if type(handler).__module__.startswith("faithguard"):
                handlers[at] = clock(handler, seconds)
    return seconds


def detach_clocks() -> None:
    """Take the clocks out again."""
    root: Any = get_dispatcher()
    for handlers in (root.event_handlers, root.span_handlers):
        handlers[:] = [h for h in handlers if type(h).__module__ != __name__]
