"""What watches the inner runs. Tracers and usage counters see all of them, token handlers no lie.

A token handler is a channel to the caller (it may feed a websocket), a tracer is not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackHandler,
    BaseCallbackHandler,
    CallbackManager,
    UsageMetadataCallbackHandler,
    get_usage_metadata_callback,
)
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.tracers import BaseTracer
from langchain_core.tracers.schemas import Run

from faithguard import UnfaithfulAnswerError
from faithguard_langchain import guard

from . import graphs, ways
from .cells import BLOCK, COLUMNS, REGENERATE, Column
from .chains import LAMBDAS, STREAMING, TEXT, Shape
from .scene import MODEL_NAME, QUESTION, TOKENS_PER_CALL, faithful, leaks, unfaithful

Configured = Callable[[Runnable[Any, Any], Any, RunnableConfig], Any]


async def _exhaust(chunks: AsyncIterator[Any]) -> None:
    async for _ in chunks:
        pass


CALLS: Mapping[str, Configured] = {
    "invoke": lambda chain, value, config: chain.invoke(value, config),
    "ainvoke": lambda chain, value, config: asyncio.run(chain.ainvoke(value, config)),
    "stream": lambda chain, value, config: list(chain.stream(value, config)),
    "astream": lambda chain, value, config: asyncio.run(_exhaust(chain.astream(value, config))),
    "batch": lambda chain, value, config: chain.batch([value], config),
    "abatch": lambda chain, value, config: asyncio.run(chain.abatch([value], config)),
}


class Recorder(BaseCallbackHandler):
    """A plain handler that notes which events it gets."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_chat_model_start(self, serialized: Any, messages: Any, **kwargs: Any) -> None:
        """Note the start of a model run."""
        self.events.append("model start")

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        """Note the end of a model run."""
        self.events.append("model end")

    def on_retriever_end(self, documents: Any, **kwargs: Any) -> None:
        """Note the end of a retriever run."""
        self.events.append("retriever end")


class Tracer(BaseTracer):
    """A tracer that keeps the trees of runs it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.roots: list[Run] = []

    def _persist_run(self, run: Run) -> None:
        self.roots.append(run)

    def count(self, *run_types: str) -> int:
        """Count the runs of some types in all trees."""
        return sum(run.run_type in run_types for root in self.roots for run in _tree(root))


def _tree(run: Run) -> Iterator[Run]:
    yield run
    for child in run.child_runs:
        yield from _tree(child)


class Tokens(BaseCallbackHandler):
    """A handler that passes each token on, as one that feeds a websocket does."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Send a token."""
        self.sent.append(str(token))


class AsyncTokens(AsyncCallbackHandler):
    """The same for the event loop."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Send a token."""
        self.sent.append(str(token))


def observed(call: Configured, column: Column) -> Iterator[str]:
    """Check that recorder, tracer and usage counter see every attempt, in one tree."""
    recorder, tracer, usage = Recorder(), Tracer(), UsageMetadataCallbackHandler()
    guarded = guard(TEXT.build(TEXT.model(column.script)), **column.options)
    with suppress(UnfaithfulAnswerError):
        call(guarded, QUESTION, {"callbacks": [recorder, tracer, usage]})

    counts = {
        "model starts at the recorder": recorder.events.count("model start"),
        "model ends at the recorder": recorder.events.count("model end"),
        "model runs at the tracer": tracer.count("llm", "chat_model"),
        "calls at the usage counter": _calls_in(usage),
    }
    for what, count in counts.items():
        if count != column.attempts:
            yield f"{what}: {count} instead of {column.attempts}"
    if "retriever end" not in recorder.events or not tracer.count("retriever"):
        yield "the retriever was not seen"
    if len(tracer.roots) != 1:
        yield f"{len(tracer.roots)} trees at the tracer instead of one"
    elif bool(tracer.roots[0].error) != (column.due is None):
        yield f"the outermost run ended with {tracer.roots[0].error!r}"


def _calls_in(usage: UsageMetadataCallbackHandler) -> float:
    counted = usage.usage_metadata.get(MODEL_NAME)
    return counted["total_tokens"] / TOKENS_PER_CALL if counted else 0


def counted_around(column: Column) -> Iterator[str]:
    """Check that a usage counter opened around the call counts every attempt."""
    guarded = guard(TEXT.build(TEXT.model(column.script)), **column.options)
    with get_usage_metadata_callback() as usage, suppress(UnfaithfulAnswerError):
        guarded.invoke(QUESTION)
    if (calls := _calls_in(usage)) != column.attempts:
        yield f"{calls} calls counted instead of {column.attempts}"


Place = Callable[[Configured, Runnable[Any, Any], BaseCallbackHandler], Any]


def in_list(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Hand the handler over in the config of the call."""
    return call(chain, QUESTION, {"callbacks": [handler]})


def in_manager(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Hand the handler over in a callback manager."""
    manager = CallbackManager(handlers=[handler], inheritable_handlers=[handler])
    return call(chain, QUESTION, {"callbacks": manager})


def bound(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Bind the handler around the guard."""
    return call(chain.with_config(callbacks=[handler]), QUESTION, {})


def around(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Hand the handler to a larger chain."""
    return call(ways.piped(chain), QUESTION, {"callbacks": [handler]})


def in_function(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Hand the handler to a function that calls the guard and passes no config on."""
    return call(ways.from_function(chain), QUESTION, {"callbacks": [handler]})


def in_graph(call: Configured, chain: Runnable[Any, Any], handler: BaseCallbackHandler) -> Any:
    """Hand the handler to a graph with the guard in a node."""
    flow = graphs.graph(graphs.direct, chain)
    return call(flow, {"question": QUESTION}, {"callbacks": [handler]})


PLACES: tuple[Place, ...] = (in_list, in_manager, bound, around, in_function, in_graph)


def overheard(
    name: str, place: Place, shape: Shape, make: type[Tokens] | type[AsyncTokens]
) -> Iterator[str]:
    """Check that a token handler gets no token of the lie, and would without the guard."""
    plain = make()
    place(CALLS[name], shape.build(shape.model(unfaithful)), plain)
    if not leaks("".join(plain.sent)):
        yield "no marker among the tokens without a guard"
    for column in (BLOCK, REGENERATE):
        handler = make()
        guarded = guard(shape.build(shape.model(column.script)), **column.options)
        with suppress(UnfaithfulAnswerError):
            place(CALLS[name], guarded, handler)
        if markers := leaks("".join(handler.sent)):
            yield f"{column.name}: {', '.join(markers)} among the tokens"


class Lines(logging.Handler):
    """Keep every record, formatted with its exception."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.lines.append(self.format(record))


def logged(way: ways.Way) -> Iterator[str]:
    """Check that no log line of any logger carries the lie."""
    root, lines = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(lines)
    root.setLevel(logging.DEBUG)
    try:
        for column in COLUMNS:
            way.receive(guard(TEXT.build(TEXT.model(column.script)), **column.options), QUESTION)
    finally:
        root.setLevel(level)
        root.removeHandler(lines)
    yield from (f"{', '.join(leaks(line))} in a log line" for line in lines.lines if leaks(line))


def unheard_only_when_bad() -> Iterator[str]:
    """Check that a guard leaves the user's handler alone once the call is over."""
    handler = Tokens()
    chain = STREAMING.build(STREAMING.model(faithful))
    guard(chain).invoke(QUESTION, {"callbacks": [handler]})
    handler.sent.clear()
    chain.invoke(QUESTION, {"callbacks": [handler]})
    if not handler.sent:
        yield "the handler is deaf in a later call without a guard"


TALKATIVE = (STREAMING, replace(LAMBDAS, name="lambdas, streaming=True", streaming=True))
"""Shapes whose model tells its tokens in every way of calling."""

SYNC_CALLS = ("invoke", "stream", "batch")

CHECKS: Mapping[str, Callable[[], Iterator[str]]] = {
    **{
        f"observers see every attempt: {name}, {column.name}": (
            lambda call=call, column=column: observed(call, column)
        )
        for name, call in CALLS.items()
        for column in COLUMNS
    },
    **{
        f"usage is counted around the call: {column.name}": (
            lambda column=column: counted_around(column)
        )
        for column in COLUMNS
    },
    **{
        f"{make.__name__} hear no lie: {name}, {place.__name__}, {shape.name}": (
            lambda name=name, place=place, shape=shape, make=make: overheard(
                name, place, shape, make
            )
        )
        for make in (Tokens, AsyncTokens)
        for name in CALLS
        for place in PLACES
        for shape in TALKATIVE
        if make is Tokens or name not in SYNC_CALLS
        if shape is STREAMING or place is in_list
    },
    **{f"no lie in the logs: {way.name}": (lambda way=way: logged(way)) for way in ways.CORE},
    "handlers are whole after the call": unheard_only_when_bad,
}
