"""Asking only the model again.

In: a chain. Out: the same chain whose models, retrievers and tools remember, for one guarded
call, what they returned (`faithguard.replay`). When the answer does not pass, the chain runs
again: what was fetched and what was written on the way is given back as it was, and only the
calls that wrote what failed are made again, with that and the feedback at the end of their
prompts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseLanguageModel, BaseLLM
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.tools import BaseTool

from faithguard.replay import Key, Replay, Turn
from faithguard_langchain._tree import AnyRunnable, replaced
from faithguard_langchain._values import Whole, text_of

__all__ = ["Remembers", "has_model", "remembering"]


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
        replay = _replay_of(config)
        if replay is None:
            return self._unit.invoke(input, config, **kwargs)
        key, turns = self._turns(replay, input, kwargs)
        if turns is None:
            return replay.kept(key)
        return self._keep(
            replay, key, self._unit.invoke(self._prompt(input, turns), config, **kwargs)
        )

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Do the same, awaiting."""
        replay = _replay_of(config)
        if replay is None:
            return await self._unit.ainvoke(input, config, **kwargs)
        key, turns = self._turns(replay, input, kwargs)
        if turns is None:
            return replay.kept(key)
        return self._keep(
            replay, key, await self._unit.ainvoke(self._prompt(input, turns), config, **kwargs)
        )

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Yield what is remembered, or what the part does."""
        replay = _replay_of(config)
        if replay is None:
            yield from self._unit.stream(input, config, **kwargs)
            return
        key, turns = self._turns(replay, input, kwargs)
        if turns is None:
            yield replay.kept(key)
            return
        whole = Whole[Any]()
        try:
            made = self._unit.stream(self._prompt(input, turns), config, **kwargs)
            with closing(cast(Any, made)) as chunks:
                for chunk in chunks:
                    whole.add(chunk)
                    yield chunk
        except BaseException:
            self._keep_part(replay, key, whole)
            raise
        self._keep(replay, key, whole.value)

    async def astream(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Do the same, awaiting."""
        replay = _replay_of(config)
        if replay is None:
            async with aclosing(cast(Any, self._unit.astream(input, config, **kwargs))) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        key, turns = self._turns(replay, input, kwargs)
        if turns is None:
            yield replay.kept(key)
            return
        whole = Whole[Any]()
        try:
            made = self._unit.astream(self._prompt(input, turns), config, **kwargs)
            async with aclosing(cast(Any, made)) as chunks:
                async for chunk in chunks:
                    whole.add(chunk)
                    yield chunk
        except BaseException:
            self._keep_part(replay, key, whole)
            raise
        self._keep(replay, key, whole.value)

    def _keep_part(self, replay: Replay, key: Key, whole: Whole[Any]) -> None:
        """Keep what a model wrote until it was stopped; to be asked again, not to be given back."""
        if self._model and not whole.empty:
            replay.keep_part(key, text_of(whole.value))

    def _turns(self, replay: Replay, input: Any, kwargs: Any) -> tuple[Key, list[Turn] | None]:
        key = self._number, repr((input, sorted(kwargs.items(), key=lambda item: item[0])))
        return key, replay.turns(key, model=self._model)

    def _keep(self, replay: Replay, key: Key, output: Any) -> Any:
        return replay.keep(key, output, text_of(output) if self._model else None)

    def _prompt(self, input: Any, turns: Sequence[Turn]) -> Any:
        if not turns:
            return input
        if isinstance(self._unit, BaseLLM):
            start = input.to_string() if isinstance(input, PromptValue) else str(input)
            return start + "".join(f"\n{answer}\n\n{feedback}\n" for answer, feedback in turns)
        messages: list[BaseMessage] = _messages(input)
        for answer, feedback in turns:
            messages += [AIMessage(content=answer), HumanMessage(content=feedback)]
        return messages


def _messages(input: Any) -> list[BaseMessage]:
    if isinstance(input, PromptValue):
        return list(input.to_messages())
    if isinstance(input, str):
        return [HumanMessage(content=input)]
    return list(convert_to_messages(input))


class Remembers(BaseCallbackHandler):
    """A handler that carries the replay of one guarded call to the parts of its chain."""

    def __init__(self, replay: Replay | None) -> None:
        super().__init__()
        self.replay = replay


def _replay_of(config: RunnableConfig | None) -> Replay | None:
    callbacks = ensure_config(config).get("callbacks")
    handlers = getattr(callbacks, "handlers", callbacks) or []
    carriers = [h for h in cast("list[Any]", handlers) if isinstance(h, Remembers)]
    return carriers[-1].replay if carriers else None
