"""Asking only the model again.

In: a chain. Out: the same chain whose models, retrievers and tools remember, for one guarded
call, what they returned. When the answer does not pass, the chain runs again: what was fetched
and what was written on the way is given back as it was, and only the call that wrote the answer
is made again, with the answer that failed and the feedback at the end of its prompt. So tools
do not act twice, retrieval stays what it was, and no cache can return the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseLanguageModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.tools import BaseTool

from faithguard_langchain._tree import AnyRunnable, replaced
from faithguard_langchain._values import text_of

__all__ = ["Memory", "has_model", "remembering"]

Key = tuple[int, str]


@dataclass(slots=True)
class Memory:
    """What the parts of a chain returned in one guarded call, and what to say to its model."""

    kept: dict[Key, Any] = field(default_factory=dict[Key, Any])
    models: dict[Key, str] = field(default_factory=dict[Key, str])
    """The text of each model call's output, in the order in which they ended."""
    answering: Key | None = None
    """The model call that wrote the answer: the last one whose text is in it."""
    said: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """For each attempt that failed, the model's text and the feedback."""

    def ask_again(self, answer: str, feedback: str) -> None:
        """Have the next run ask the model that wrote an answer again."""
        wrote = self.models.items()
        close = [key for key, text in wrote if text and (text in answer or answer in text)]
        if self.answering is None:
            self.answering = next(reversed(close or list(self.models)), None)
        text = self.models.get(self.answering, answer) if self.answering else answer
        self.said.append((text, feedback))


def _unit(part: AnyRunnable) -> bool:
    """Whether a part is called as one: a model, a retriever, a tool, or a configurable one."""
    if isinstance(part, DynamicRunnable):
        return _unit(cast(AnyRunnable, part.default))
    return isinstance(part, BaseLanguageModel | BaseRetriever | BaseTool)


def _is_model(part: AnyRunnable) -> bool:
    if isinstance(part, DynamicRunnable):
        return _is_model(cast(AnyRunnable, part.default))
    return isinstance(part, BaseLanguageModel)


def has_model(chain: AnyRunnable) -> bool:
    """Say whether a model of the chain can be asked again."""
    found: list[AnyRunnable] = []

    def look(part: AnyRunnable) -> AnyRunnable | None:
        if _is_model(part):
            found.append(part)
        return part if _unit(part) else None

    replaced(chain, look)
    return bool(found)


def remembering(chain: AnyRunnable) -> AnyRunnable:
    """Return the chain with parts that remember."""
    units: dict[int, _Remembering] = {}

    def swap(part: AnyRunnable) -> AnyRunnable | None:
        if not _unit(part):
            return None
        return units.setdefault(id(part), _Remembering(part, len(units)))

    return replaced(chain, swap)


class _Remembering(Runnable[Any, Any]):
    """A model, retriever or tool that gives back what it returned before in the same call."""

    def __init__(self, unit: AnyRunnable, number: int) -> None:
        self._unit = unit
        self._number = number
        self._model = _is_model(unit)

    def __getattr__(self, name: str) -> Any:
        """Be the part in all else; what it makes of itself (`bind_tools`) remembers, too."""
        value = getattr(self._unit, name)
        return self._own_version(value) if callable(value) else value

    def _own_version(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            made = method(*args, **kwargs)
            if not isinstance(made, Runnable):
                return made
            return replaced(
                cast(AnyRunnable, made), lambda part: self if part is self._unit else None
            )

        return call

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return what is remembered, or call the part."""
        memory = _memory_of(config)
        key, asked, known = self._look_up(memory, input, kwargs)
        if known:
            return memory.kept[key] if memory else None
        return self._keep(memory, key, self._unit.invoke(asked, config, **kwargs))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do the same, awaiting."""
        memory = _memory_of(config)
        key, asked, known = self._look_up(memory, input, kwargs)
        if known:
            return memory.kept[key] if memory else None
        return self._keep(memory, key, await self._unit.ainvoke(asked, config, **kwargs))

    def _look_up(self, memory: Memory | None, input: Any, kwargs: Any) -> tuple[Key, Any, bool]:
        """Return the key of a call, what to ask instead of its input, and whether it is known."""
        key = self._number, repr((input, sorted(kwargs.items(), key=lambda item: item[0])))
        if memory is None or not memory.said:
            return key, input, False
        # a prompt that differs from run to run is not known again: then the feedback goes to
        # whatever the model is newly asked
        new = self._model and key not in memory.kept
        if self._model and (key == memory.answering or new):
            return key, self._prompt(input, memory.said), False
        return key, input, key in memory.kept

    def _keep(self, memory: Memory | None, key: Key, output: Any) -> Any:
        if memory is not None:
            memory.kept[key] = output
            if self._model:
                memory.models.pop(key, None)
                memory.models[key] = text_of(output)
        return output

    def _prompt(self, input: Any, said: Sequence[tuple[str, str]]) -> Any:
        if isinstance(self._unit, BaseLLM):
            start = input.to_string() if isinstance(input, PromptValue) else str(input)
            return start + "".join(f"\n{answer}\n\n{feedback}\n" for answer, feedback in said)
        messages: list[BaseMessage] = _messages(input)
        for answer, feedback in said:
            messages += [AIMessage(content=answer), HumanMessage(content=feedback)]
        return messages


def _messages(input: Any) -> list[BaseMessage]:
    if isinstance(input, PromptValue):
        return list(input.to_messages())
    if isinstance(input, str):
        return [HumanMessage(content=input)]
    return list(convert_to_messages(input))


class Remembers(BaseCallbackHandler):
    """A handler that carries the memory of one guarded call to the parts of its chain."""

    def __init__(self, memory: Memory | None) -> None:
        super().__init__()
        self.memory = memory


def _memory_of(config: RunnableConfig | None) -> Memory | None:
    callbacks = ensure_config(config).get("callbacks")
    handlers = getattr(callbacks, "handlers", callbacks) or []
    carriers = [h for h in cast("list[Any]", handlers) if isinstance(h, Remembers)]
    return carriers[-1].memory if carriers else None
