"""A chat model of LangChain's as a judge.

In: the model that an app already has. Out: a `Judge`. Its calls are none of the app's: no
callbacks, no tracing, no stream, no cache; the handlers of the model, and of whatever it is part
of, are left out as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable

from faithguard import ConfigError, Judge
from faithguard.chat import BorrowedChat, Completion, Message
from faithguard_langchain._alone import alone, unheard

__all__ = ["LangChainJudge"]


class LangChainJudge(Judge):
    """A judge over a chat model of LangChain's.

        guard(chain, judge=LangChainJudge(ChatAnthropic(model="...")))

    Args:
        model: A chat model, or a Runnable that takes messages and returns one (a model with
            settings bound to it, with fallbacks, or in a sequence). How long its replies may be is
            its own setting. Handlers are left out of all its parts; of a model that a function
            of yours calls by itself only our own watchers hear nothing.
        max_in_flight: Calls at once.
        settings: As in `Judge`: `claims`, `timeout`, `votes`, `rubric`, ...

    Raises:
        ConfigError: If the model is none, or a setting cannot be used.
    """

    def __init__(
        self, model: Runnable[Any, Any], *, max_in_flight: int = 8, **settings: Any
    ) -> None:
        given: Any = model
        if not isinstance(given, Runnable):
            raise ConfigError(
                f"`model` is of type {type(given).__name__}: pass a chat model of LangChain's; a "
                "model by its name is faithguard.OpenAIJudge(name)"
            )
        # late: it takes long to load, and few watch or guard with a model of LangChain's
        from langsmith import run_helpers

        tracing_context: Any = cast(Any, run_helpers).tracing_context

        asked = alone(cast("Runnable[Any, Any]", given))

        def ask(messages: Sequence[Message]) -> Completion:
            with unheard(), tracing_context(enabled=False):
                return _completion(asked.invoke(_messages(messages), {"callbacks": []}))

        async def aask(messages: Sequence[Message]) -> Completion:
            with unheard(), tracing_context(enabled=False):
                return _completion(await asked.ainvoke(_messages(messages), {"callbacks": []}))

        super().__init__(
            BorrowedChat(_name(given), ask, aask, max_in_flight=max_in_flight), **settings
        )


def _messages(messages: Sequence[Message]) -> list[BaseMessage]:
    kinds = {"system": SystemMessage, "user": HumanMessage}
    return [kinds[message.role](content=message.content) for message in messages]


def _completion(message: object) -> Completion:
    if not isinstance(message, AIMessage):
        return Completion(text=message if isinstance(message, str) else "")
    usage: Mapping[str, Any] = message.usage_metadata or {}
    told: Mapping[str, Any] = message.response_metadata
    finish = told.get("finish_reason") or told.get("stop_reason") or told.get("done_reason")
    refusal = message.additional_kwargs.get("refusal")
    return Completion(
        text=_text(message.content),
        finish_reason=str(finish) if finish else None,
        refusal=refusal if isinstance(refusal, str) else None,
        input_tokens=int(usage.get("input_tokens") or 0),
        output_tokens=int(usage.get("output_tokens") or 0),
    )


def _text(content: object) -> str:
    """Return what was said; blocks of reasoning are no part of it."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in cast("list[object]", content) if isinstance(content, list) else []:
        held: dict[str, Any] = cast(Any, block) if isinstance(block, dict) else {"text": block}
        if held.get("type", "text") == "text" and isinstance(held.get("text"), str):
            parts.append(held["text"])
    return "".join(parts)


def _name(model: Any) -> str:
    """Return a name that two models share only if they are asked in the same way."""
    inner: Any = getattr(model, "bound", model)
    title = str(getattr(inner, "model_name", None) or getattr(inner, "model", type(inner).__name__))
    try:
        settings = f"{inner._get_llm_string()}{getattr(model, 'kwargs', '')}"
    except Exception:  # not a model that knows its settings: it is like no other
        settings = uuid4().hex
    return f"{title}#{hashlib.sha256(settings.encode()).hexdigest()[:8]}"
