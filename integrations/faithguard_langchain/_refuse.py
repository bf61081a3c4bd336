"""What a guard cannot protect, found before the first call.

In: a chain. Out: a `ConfigError` that names the part and what to use instead, or nothing.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableBinding
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tracers import context

from faithguard import ConfigError
from faithguard_langchain._tree import AnyRunnable, parts

__all__ = [
    "carries_text",
    "is_global",
    "listens_to_tokens",
    "refuse",
    "refuse_handlers",
    "refuse_stream",
]


def refuse(chain: AnyRunnable) -> None:
    """Raise if an answer would leave the chain, or be stored in it, before it is verified."""
    for part in parts(chain):
        if isinstance(part, RunnableWithMessageHistory):
            raise ConfigError(
                "RunnableWithMessageHistory inside the guard would store an answer before it is "
                "verified: put the guard inside, RunnableWithMessageHistory(guard(chain), ...)"
            )
        if getattr(part, "checkpointer", None):
            raise ConfigError(
                "a graph with a checkpointer stores an answer before it is verified: make "
                "guard(chain) a node of the graph, in the place of the chain that writes the answer"
            )
        if getattr(part, "memory", None) is not None and hasattr(part, "callback_manager"):
            raise ConfigError(
                f"{type(part).__name__} has a memory that stores an answer before it is verified: "
                "leave it out, and keep history outside: "
                "RunnableWithMessageHistory(guard(chain), ...)"
            )
        refuse_handlers(part)


def refuse_stream(chain: AnyRunnable) -> None:
    """Raise if a chain does not stream its answer, so that none can be released claim by claim."""
    if any(kind.__name__ == "Pregel" for kind in type(chain).__mro__):
        raise ConfigError(
            "stream='claims' needs a chain that streams its answer, and a graph streams its "
            "steps: guard the chain that writes the answer, inside the graph, or leave `stream` "
            "out"
        )


def refuse_handlers(part: AnyRunnable) -> None:
    """Raise if a part brings a handler along that gets tokens before they are verified."""
    for handler in _attached(part):
        if carries_text(handler) or listens_to_tokens(handler):
            raise ConfigError(
                f"{type(handler).__name__} is attached inside the chain and gets tokens before "
                "they are verified: pass it with the call, guarded.invoke(..., "
                "config={'callbacks': [...]}), where the guard can hold them back"
            )


def _attached(part: AnyRunnable) -> list[Any]:
    """Return the handlers that a part brings along, in its constructor or by `with_config`."""
    sources = [getattr(part, "callbacks", None)]
    if isinstance(part, RunnableBinding):
        sources.append(part.config.get("callbacks"))
    found: list[Any] = []
    for source in sources:
        handlers = getattr(source, "handlers", source)
        if isinstance(handlers, list):
            found += cast("list[Any]", handlers)
    return found


def carries_text(handler: object) -> bool:
    """Say whether a handler is how LangChain or LangGraph carries a stream to the caller.

    They share a base class that has been private since it exists; LangGraph asks for it too.
    """
    return any(kind.__name__ == "_StreamingCallbackHandler" for kind in type(handler).__mro__)


def listens_to_tokens(handler: object) -> bool:
    """Say whether a handler of the user's takes single tokens or events of the chain's own.

    So does one that feeds a page; LangChain's own tracers take them for their times.
    """
    if not isinstance(handler, BaseCallbackHandler):
        return False
    return any(
        name in vars(handler) or not _langchains_own(getattr(type(handler), name, None))
        for name in ("on_llm_new_token", "on_custom_event")
    )


def _langchains_own(method: object) -> bool:
    return method is None or getattr(method, "__module__", "").startswith("langchain_core.")


def is_global(handler: object) -> bool:
    """Say whether LangChain itself adds a handler to every run, as it does usage counters.

    It would add it again beside a stand-in, and everything would be counted twice.
    """
    hooks = cast("list[tuple[Any, ...]]", getattr(context, "_configure_hooks", []))
    return any(variable.get() is handler for variable, *_ in hooks)
