"""Other people's middleware, to stand before and behind the guard. In: an agent. Out: the same.

They do what real ones do: write to the custom stream, copy into the state, count, retrieve.
Imported only where an agent is built, because `langchain` is an extra.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, SystemMessage, ToolMessage

from .chains import joined
from .scene import QUESTION, PoolRetriever

Handler = Callable[[ModelRequest], ModelResponse]
AsyncHandler = Callable[[ModelRequest], Awaitable[ModelResponse]]


class Narrator(AgentMiddleware):
    """Write what the model said to the custom stream."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelResponse:
        """Call, and tell."""
        return self._tell(request, handler(request))

    async def awrap_model_call(self, request: ModelRequest, handler: AsyncHandler) -> ModelResponse:
        """Call, and tell."""
        return self._tell(request, await handler(request))

    def _tell(self, request: ModelRequest, response: ModelResponse) -> ModelResponse:
        for message in response.result:
            if isinstance(message, AIMessage) and message.text:
                request.runtime.stream_writer(message.text)
        return response


class Ledger(AgentState):
    """The state of an agent with a clerk."""

    ledger: NotRequired[str]
    closed: NotRequired[str]


class Clerk(AgentMiddleware):
    """Copy the last message into keys of its own, after each model call and at the end."""

    state_schema = Ledger

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Copy after the model."""
        return {"ledger": state["messages"][-1].text}

    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Copy at the end."""
        return {"closed": state["messages"][-1].text}


class Porter(AgentMiddleware):
    """Pass each model call on as it is, as a retry or a cache that has nothing to do does."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelResponse:
        """Call."""
        return handler(request)

    async def awrap_model_call(self, request: ModelRequest, handler: AsyncHandler) -> ModelResponse:
        """Call."""
        return await handler(request)


class Librarian(AgentMiddleware):
    """Retrieve for the question and append the passages to the system prompt."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelResponse:
        """Retrieve, and call."""
        found = PoolRetriever().invoke(QUESTION)
        return handler(self._with(request, joined(found)))

    async def awrap_model_call(self, request: ModelRequest, handler: AsyncHandler) -> ModelResponse:
        """Retrieve, and call."""
        found = await PoolRetriever().ainvoke(QUESTION)
        return await handler(self._with(request, joined(found)))

    def _with(self, request: ModelRequest, passages: str) -> ModelRequest:
        rules = request.system_message.text if request.system_message else ""
        return request.override(system_message=SystemMessage(f"{rules}\n\n{passages}"))


class Censor(AgentMiddleware):
    """Blank what tools said before the model sees it, as a middleware that saves tokens does."""

    def wrap_model_call(self, request: ModelRequest, handler: Handler) -> ModelResponse:
        """Blank, and call."""
        return handler(self._blanked(request))

    async def awrap_model_call(self, request: ModelRequest, handler: AsyncHandler) -> ModelResponse:
        """Blank, and call."""
        return await handler(self._blanked(request))

    def _blanked(self, request: ModelRequest) -> ModelRequest:
        messages = [
            m.model_copy(update={"content": "[cleared]", "artifact": None})
            if isinstance(m, ToolMessage)
            else m
            for m in request.messages
        ]
        return request.override(messages=messages)
