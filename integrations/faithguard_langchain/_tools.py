"""A tool of a guarded agent.

In: an agent's call to a tool. Out: its result, with whether a model wrote it, inside the tool;
and what of it has to be verified, if the tool's result ends the turn: what a model wrote, and all
that is said of an error. Nothing of such a run reaches the caller before that. An error that is
raised through the agent is the user's own, and goes on as one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import (
    get_async_callback_manager_for_config,
    get_callback_manager_for_config,
    patch_config,
)
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest

from faithguard import Record
from faithguard_langchain._call import marked
from faithguard_langchain._isolation import Caught, GuardCapture, detached, heard, silenced
from faithguard_langchain._turn import WRITTEN, Turn
from faithguard_langchain._values import fields_of, text_of

__all__ = ["ToolRun", "messages_of"]


class ToolRun:
    """One call of a tool, without I/O.

    Attributes:
        turn: What it belongs to.
        request: What to run.
        result: What the tool returned: a message, or a command.
    """

    result: Any

    def __init__(self, turn: Turn, request: ToolCallRequest) -> None:
        self.turn = turn
        self._capture = GuardCapture(turn.trace)
        self._ends = request.tool is not None and request.tool.return_direct
        if request.tool is not None:
            request = request.override(tool=_Observed.of(request.tool, self._config, self._failed))
        if self._ends:
            request = replace(request, runtime=silenced(cast(Any, request).runtime))
        self.request = request

    def _config(self, manager: BaseCallbackManager, config: RunnableConfig) -> RunnableConfig:
        if self._ends:
            inner = detached(manager, config)
        else:
            inner = patch_config(config, callbacks=manager.copy())
        return heard(inner, self._capture)

    def _failed(self, error: Exception) -> None:
        if not isinstance(error, GraphBubbleUp):  # LangGraph asks a person, or the parent, so
            self.turn.failed(str(error))

    @property
    def caught(self) -> Caught:
        """A context for the tool's run."""
        return Caught(self.turn.trace if self._ends else None)

    @property
    def text(self) -> str:
        """All that the tool says."""
        return "\n\n".join(text_of(message) for message in _said_in(self.result))

    def texts(self) -> list[str]:
        """Return what of a result that ends the turn a model wrote, or tells of an error."""
        if not self._ends:
            return []
        said = _said_in(self.result)
        if self._capture.models:
            return [text for message in said if (text := text_of(message)).strip()]
        return [part for message in said for part in self.turn.open_in(message)]

    def close(self, record: Record | None, text: str | None) -> Any:
        """Return the result with what is known of it, and with another text if there is one."""
        result = self.result
        if record is None and not self._capture.models:
            return result
        if isinstance(result, ToolMessage):
            return self._known(result, record, text)
        new = [
            self._known(m, record, text) if isinstance(m, ToolMessage) else m
            for m in messages_of(result.update)
        ]
        return replace(result, update={**result.update, "messages": new})

    def _known(self, message: ToolMessage, record: Record | None, text: str | None) -> ToolMessage:
        update: dict[str, Any] = {} if text is None else {"content": text, "artifact": None}
        if self._capture.models:
            update["response_metadata"] = {**message.response_metadata, WRITTEN: True}
        message = message.model_copy(update=update)
        return message if record is None else cast(ToolMessage, marked(message, record))


class _Observed(BaseTool):
    """A tool that runs with another config."""

    inner: BaseTool
    change: Callable[[BaseCallbackManager, RunnableConfig], RunnableConfig]
    failed: Callable[[Exception], None]

    @classmethod
    def of(cls, tool: BaseTool, change: Any, failed: Callable[[Exception], None]) -> _Observed:
        """Return a tool that is called like another one.

        Args:
            tool: The other one.
            change: Makes its config of the one that it would be called with.
            failed: Is told of what it raises.
        """
        same = ("name", "description", "args_schema", "return_direct", "response_format")
        held = {name: getattr(tool, name) for name in same}
        return cls(inner=tool, change=change, failed=failed, **held)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the tool."""
        given = ensure_config(config)
        changed = self.change(get_callback_manager_for_config(given), given)
        try:
            return self.inner.invoke(input, changed, **kwargs)
        except Exception as error:
            self.failed(error)
            raise

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do the same, awaiting."""
        given = ensure_config(config)
        changed = self.change(get_async_callback_manager_for_config(given), given)
        try:
            return await self.inner.ainvoke(input, changed, **kwargs)
        except Exception as error:
            self.failed(error)
            raise

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        return self.inner._run(*args, **kwargs)  # pyright: ignore[reportPrivateUsage]


def messages_of(state: Any) -> list[BaseMessage]:
    """Return the messages of a state, or of an update of it."""
    messages: Any = (fields_of(state) or {}).get("messages")
    return [m for m in cast("list[Any]", messages or []) if isinstance(m, BaseMessage)]


def _said_in(result: Any) -> list[ToolMessage]:
    if isinstance(result, ToolMessage):
        return [result]
    return [m for m in messages_of(getattr(result, "update", None)) if isinstance(m, ToolMessage)]
