"""A model of LlamaIndex's as a judge.

In: the model that an app already has. Out: a `Judge`. It is asked through a copy without the
app's callback manager, in a context that no scope of ours and no tag of the app's reaches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks import CallbackManager

from faithguard import ConfigError, Judge
from faithguard.chat import BorrowedChat, Completion, Message
from faithguard_llama_index._values import finish_reason_of

__all__ = ["LlamaIndexJudge"]


class LlamaIndexJudge(Judge):
    """A judge over a model of LlamaIndex's.

        watch(judge=LlamaIndexJudge(Settings.llm))

    Args:
        llm: The model. How long its replies may be is its own setting.
        max_in_flight: Calls at once.
        settings: As in `Judge`: `claims`, `timeout`, `votes`, `rubric`, ...

    Raises:
        ConfigError: If the model is none, or a setting cannot be used.
    """

    def __init__(self, llm: BaseLLM, *, max_in_flight: int = 8, **settings: Any) -> None:
        given: Any = llm
        if not isinstance(given, BaseLLM):
            raise ConfigError(
                f"`llm` is of type {type(given).__name__}: pass a model of LlamaIndex's; a model "
                "by its name is faithguard.OpenAIJudge(name)"
            )
        manager = CallbackManager([])
        manager.set_handlers([])  # a new manager has the global handler
        asked = given.model_copy(update={"callback_manager": manager})

        def ask(messages: Sequence[Message]) -> Completion:
            return _completion(asked.chat(_messages(messages)))

        async def aask(messages: Sequence[Message]) -> Completion:
            return _completion(await asked.achat(_messages(messages)))

        super().__init__(
            BorrowedChat(_name(given), ask, aask, max_in_flight=max_in_flight), **settings
        )


def _messages(messages: Sequence[Message]) -> list[ChatMessage]:
    roles = {"system": MessageRole.SYSTEM, "user": MessageRole.USER}
    return [ChatMessage(role=roles[m.role], content=m.content) for m in messages]


def _completion(response: ChatResponse) -> Completion:
    told: Mapping[str, Any] = cast(Any, response).additional_kwargs or {}
    refusal = response.message.additional_kwargs.get("refusal")
    return Completion(
        text=response.message.content or "",
        finish_reason=finish_reason_of(response),
        refusal=refusal if isinstance(refusal, str) else None,
        input_tokens=_count(told.get("prompt_tokens")),
        output_tokens=_count(told.get("completion_tokens")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _name(llm: BaseLLM) -> str:
    """Return a name that two models share only if they are asked in the same way."""
    settings = repr((llm.class_name(), sorted(llm.to_payload().items(), key=str), _dumped(llm)))
    digest = hashlib.sha256(settings.encode()).hexdigest()[:8]
    return f"{llm.metadata.model_name}#{digest}"


def _dumped(llm: BaseLLM) -> str:
    try:
        return repr(sorted(llm.to_dict().items()))
    except Exception:  # it holds what cannot be written down: it is like no other
        return str(id(llm))
