"""Agents as people write them: tools of the observatory, a model that follows a script.

In: what the model says, in turn. Out: guarded agents, and the ways of running them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from faithguard_langchain import FaithfulnessMiddleware

from .scene import HOURS, PRICE, QUESTION, call, says

ASK = {"messages": [("user", QUESTION)]}
MODES = ["values", "updates", "messages", "custom", "tasks", "debug"]
HOPS = (call("look_up_hours", "hop-1", day="Friday"), call("look_up_price", "hop-2", what="tour"))


@tool
def look_up_hours(day: str) -> str:
    """Return when the observatory is open."""
    return HOURS


@tool
def look_up_price(what: str) -> str:
    """Return what a thing costs."""
    return PRICE


TOOLS: Sequence[BaseTool] = (look_up_hours, look_up_price)


def keeper(**settings: Any) -> FaithfulnessMiddleware:
    """Return a middleware that logs nothing."""
    return FaithfulnessMiddleware(**{"sinks": [], **settings})


def agent(
    *lines: str | AIMessage,
    hops: Sequence[AIMessage] = HOPS,
    tools: Sequence[Any] = TOOLS,
    before: Sequence[Any] = (),
    after: Sequence[Any] = (),
    guarding: FaithfulnessMiddleware | None = None,
    saver: Any = None,
    **settings: Any,
) -> Any:
    """Return an agent that asks its tools, then says these lines; `model` is in it.

    Args:
        lines: What the model says after the hops.
        hops: What it asks for first.
        tools: The agent's.
        before: Middleware in front of the guard.
        after: Middleware behind it.
        guarding: The guard, if it is not a new one.
        saver: A checkpointer.
        settings: The guard's, and `response_format`.
    """
    made = {key: settings.pop(key) for key in ("response_format",) if key in settings}
    model = says(*hops, *lines)
    safe = create_agent(
        model,
        list(tools),
        middleware=[*before, guarding or keeper(**settings), *after],
        checkpointer=saver,
        **made,
    )
    object.__setattr__(safe, "model", model)
    return safe


def said(result: Mapping[str, Any]) -> str:
    """Return the text of the last message of a result."""
    message: BaseMessage = result["messages"][-1]
    return str(message.text)


def _events(version: Any) -> Callable[[Any, Any, Any], list[Any]]:
    def way(safe: Any, given: Any, config: Any) -> list[Any]:
        async def run() -> list[Any]:
            return [e async for e in safe.astream_events(given, config, version=version)]

        return asyncio.run(run())

    return way


def _astream(safe: Any, given: Any, config: Any) -> list[Any]:
    async def run() -> list[Any]:
        stream = safe.astream(given, config, stream_mode=MODES, subgraphs=True)
        return [chunk async for chunk in stream]

    return asyncio.run(run())


async def _of_v3(run: Any) -> list[Any]:
    return [event async for event in run]


WAYS: Mapping[str, Callable[[Any, Any, Any], list[Any]]] = {
    "invoke": lambda safe, given, config: [safe.invoke(given, config)],
    "ainvoke": lambda safe, given, config: [asyncio.run(safe.ainvoke(given, config))],
    "stream": lambda safe, given, config: list(
        safe.stream(given, config, stream_mode=MODES, subgraphs=True)
    ),
    "stream v2": lambda safe, given, config: list(
        safe.stream(given, config, stream_mode=MODES, version="v2")
    ),
    "astream": _astream,
    "batch": lambda safe, given, config: safe.batch([given], config),
    "astream_events v2": _events("v2"),
}
