"""The run of a guarded chain, from which nothing reaches the caller before it is verified.

In: the callbacks and the config of a call. Out: those of the chain's own run: handlers that
would carry text to the caller are detached, those that take single tokens get none, LangGraph's
stream and checkpointer are left out; tracers and usage counters stay. And a handler that
captures all that happens in it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableConfig, patch_config

from faithguard.capture import Assembler, RunKind, Trace
from faithguard.guard import withheld
from faithguard_langchain._capture import Capture
from faithguard_langchain._refuse import carries_text, is_global, listens_to_tokens
from faithguard_langchain._scalars import listed_in

__all__ = [
    "Caught",
    "GuardCapture",
    "Stopped",
    "Stops",
    "carriers",
    "detached",
    "heard",
    "nowhere",
    "silenced",
]

T = TypeVar("T", bound=BaseCallbackManager)


class GuardCapture(Capture):
    """Capture for one guarded call: whatever happens belongs to its one trace.

    Attributes:
        models: Model calls that this handler was told of.
        listed: What the schemas list that models were called with.
    """

    def __init__(self, trace: Trace) -> None:
        super().__init__(_OneTrace(trace))
        self.models = 0
        self.listed: set[str] = set()

    def _start(self, run: UUID, parent: UUID | None, kind: RunKind, inputs: Any, kw: Any) -> Trace:
        if kind == "model":
            self.models += 1
            chosen = listed_in(kw.get("invocation_params") or {})
            self.listed |= {value for value in chosen if isinstance(value, str)}
        return super()._start(run, parent, kind, inputs, kw)


class _OneTrace(Assembler):
    """An assembler that knows one tree, whose root is the guard's own run."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._only = trace

    def start(self, run: str, parent: str | None, kind: RunKind) -> Trace:
        self._only.started(run, parent, kind)
        return self._only

    def trace(self, run: str) -> Trace | None:
        return self._only

    def is_root(self, run: str) -> bool:
        return False

    def end(self, run: str) -> Trace | None:
        return None


class Caught:
    """A context that keeps an error which carries what a model wrote from getting out.

        with Caught(trace) as caught:
            ...
        caught.check()

    Args:
        trace: Knows what models wrote; None to let every error out.
    """

    def __init__(self, trace: Trace | None) -> None:
        self._trace = trace
        self._fault: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if error is not None and self._trace is not None:
            self._fault = withheld(error, self._trace)
        return self._fault is not None

    def check(self) -> None:
        """Raise what stands for the error, where nothing of that hangs on to it.

        Raises:
            CaptureError: If there was one.
        """
        if self._fault is not None:
            raise self._fault


class _Withheld(BaseCallbackHandler):
    """A handler of the user's that sees everything but tokens, which are not verified yet."""

    def __init__(self, inner: BaseCallbackHandler) -> None:
        self._inner = inner

    def __getattribute__(self, name: str) -> Any:
        if name in ("on_llm_new_token", "on_stream_event", "on_custom_event"):
            return getattr(super(), name)
        if name.startswith(("on_", "ignore_", "raise_", "run_")):
            return getattr(super().__getattribute__("_inner"), name)
        return super().__getattribute__(name)


class Stopped(GeneratorExit):
    """Ends a model's stream; nothing that catches errors may go on with it.

    Of the kind that a generator may end with which nobody closes: the inner ones of a sequence are
    left to the garbage collector, and it would print anything else.
    """


class Stops(BaseCallbackHandler):
    """A handler that ends the models of a chain whose stream nobody reads any more.

    Whoever closes a blocking stream of LangChain's waits until the model has written it all.
    """

    raise_error = True

    def __init__(self) -> None:
        self._stopped = False

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        """Raise where the model is to stop."""
        if self._stopped:
            raise Stopped

    def close(self, stream: Any) -> None:
        """Close a stream."""
        self._stopped = True
        try:
            stream.close()
        except Stopped:
            pass
        finally:
            self._stopped = False


_OF_INTERRUPTS = (
    "__pregel_runtime",
    "__pregel_scratchpad",
    "__pregel_send",
    "checkpoint_ns",
)
"""What `interrupt()` needs to ask a person, and to find the reply when the node runs again."""


def detached(child: BaseCallbackManager, config: RunnableConfig) -> RunnableConfig:
    """Return the config of the chain's run, from which nothing reaches the caller's streams."""
    manager = child.copy()
    manager.handlers = _held(manager.handlers)
    manager.inheritable_handlers = _held(manager.inheritable_handlers)
    inner = patch_config(config, callbacks=manager)
    # LangGraph hands a node's inner graphs its own stream and checkpointer by these keys
    inner["configurable"] = {
        key: silenced(value) if key == "__pregel_runtime" else value
        for key, value in inner.get("configurable", {}).items()
        if key in _OF_INTERRUPTS or not key.startswith(("__pregel_", "checkpoint_"))
    }
    return inner


def carriers(manager: T) -> T:
    """Return a manager of those handlers alone that `detached` leaves out: the caller's streams."""
    alone = manager.copy()
    alone.handlers = [h for h in manager.handlers if carries_text(h)]
    alone.inheritable_handlers = [h for h in manager.inheritable_handlers if carries_text(h)]
    return alone


def heard(config: RunnableConfig, handler: BaseCallbackHandler) -> RunnableConfig:
    """Return a config whose runs a handler is told of, whatever they start."""
    cast(BaseCallbackManager, config.get("callbacks")).add_handler(handler, inherit=True)
    return config


def _held(handlers: list[BaseCallbackHandler]) -> list[BaseCallbackHandler]:
    return [
        _Withheld(handler) if listens_to_tokens(handler) and not is_global(handler) else handler
        for handler in handlers
        if not carries_text(handler)
    ]


def silenced(runtime: Any) -> Any:
    """Return LangGraph's runtime without its custom stream, which shows what is not verified."""
    if dataclasses.is_dataclass(runtime) and hasattr(runtime, "stream_writer"):
        return dataclasses.replace(cast(Any, runtime), stream_writer=nowhere)
    return runtime


def nowhere(chunk: object) -> None:
    """Take what is not to be shown."""
