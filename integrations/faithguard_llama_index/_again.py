"""Asking only the models again that wrote what failed, and keeping memory out of reach till then.

In: an engine. Out: for one attempt of one guarded call, the same engine in which stand-ins take
the places of its models, retrievers and memory. They call the parts themselves, so whatever
state these have stays theirs; models and retrievers give back what they returned in an earlier
attempt (`faithguard.replay`), and the memory takes nothing before the answer is verified. What
lies between engine and parts is copied; the engine is left as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Sequence
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any, cast

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.callbacks import CallbackManager
from llama_index.core.memory import BaseMemory
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import BaseNode, QueryBundle

from faithguard import ConfigError
from faithguard.replay import Key, Replay, Turn
from faithguard_llama_index._flow import Flow
from faithguard_llama_index._values import arguments_in, copy_of, model_text, query_text

__all__ = ["MemoryStandIn", "TellingModel", "holds", "replaced", "replaying", "told"]

Swap = Callable[[Any], Any]
"""Returns what takes the place of a part, or None to look inside it."""

_DEEPEST = 8
_WIDEST = 64  # of a list or a mapping; an index's thousands of nodes are none of ours

_OPAQUE = (
    bool,
    int,
    float,
    type,
    CallbackManager,
    BasePromptTemplate,
    BaseNode,
    QueryBundle,
    ChatMessage,
    str,
    bytes,
)
_OPAQUE_BASES = frozenset(
    "BaseIndex BasePydanticVectorStore BaseDocumentStore StorageContext BaseEmbedding "
    "BaseIndexStore Scorer".split()
)


# -- the engine with parts swapped ------------------------------------------------------------


def replaced(engine: Any, swap: Swap) -> Any:
    """Return an engine with parts swapped; the very engine if none was.

    Raises:
        ConfigError: If something between engine and parts cannot be copied.
    """
    return _Copier(engine, swap).copied(engine)


def holds(engine: Any, *kinds: type) -> bool:
    """Say whether an engine has a part of a kind that a stand-in could take the place of."""
    return _Copier(engine, lambda part: part if isinstance(part, kinds) else None).found


class _Copier:
    """A copy of an engine in which parts are swapped.

    What holds a swapped part is copied, however it comes to it; so what refers back to the
    engine, a function that closes over it for one, refers to the copy. Nothing else is.
    """

    def __init__(self, engine: Any, swap: Swap) -> None:
        self._others: dict[int, Any] = {}
        """By the id of a part, what takes its place."""
        self._changed: set[int] = set()
        """The ids of what is to be copied."""
        self._alive: list[Any] = []  # so that no id is another's in the meantime
        holders: dict[int, list[Any]] = {}
        level: list[tuple[Any, Any]] = [(engine, None)]
        for _ in range(_DEEPEST + 1):
            entered: list[Any] = []
            for part, holder in level:
                if part is None or isinstance(part, _OPAQUE):
                    continue
                if id(part) not in holders:
                    self._alive.append(part)
                    if (other := swap(part)) is None:
                        entered.append(part)
                    else:
                        self._others[id(part)] = other
                holders.setdefault(id(part), []).append(holder)
            level = [(inner, part) for part in entered for inner in _held(part)]
        self.found = bool(self._others)
        open_ = [holder for place in self._others for holder in holders[place]]
        while open_:
            part = open_.pop()
            if part is not None and id(part) not in self._changed:
                self._changed.add(id(part))
                open_ += holders[id(part)]

    def copied(self, part: Any) -> Any:
        if id(part) not in self._others:
            if id(part) not in self._changed:
                return part
            self._copy(part)
        return self._others[id(part)]

    def _copy(self, part: Any) -> None:
        """Make the copy; it is known before it is filled, to what refers back to it."""
        place = id(part)
        if isinstance(part, dict):
            mapping: dict[Any, Any] = {}
            self._others[place] = mapping
            mapping.update((name, self.copied(item)) for name, item in _items(part))
        elif isinstance(part, list):
            items: list[Any] = []
            self._others[place] = items
            items += [self.copied(item) for item in _held(part)]
        elif isinstance(part, tuple):
            self._others[place] = tuple(self.copied(item) for item in _held(part))
        elif isinstance(part, MethodType):
            owner = self.copied(part.__self__)
            # of a stand-in, the method that stands in
            made = getattr(owner, part.__name__, None) if _stands_in(owner) else None
            self._others[place] = made or MethodType(part.__func__, owner)
        elif isinstance(part, partial):
            known = cast("partial[Any]", part)
            given = {name: self.copied(item) for name, item in known.keywords.items()}
            self._others[place] = partial(
                self.copied(known.func), *map(self.copied, known.args), **given
            )
        elif isinstance(part, FunctionType):
            self._function(part)
        else:
            self._object(part)

    def _function(self, part: FunctionType) -> None:
        old = part.__closure__ or ()
        cells = [CellType() if self._is_changed(cell) else cell for cell in old]
        code, names, defaults = part.__code__, part.__globals__, part.__defaults__
        twin = FunctionType(code, names, part.__name__, defaults, tuple(cells))
        twin.__kwdefaults__ = part.__kwdefaults__
        twin.__dict__.update(part.__dict__)
        self._others[id(part)] = twin
        for cell, before in zip(cells, old, strict=True):
            if cell is not before:
                cell.cell_contents = self.copied(before.cell_contents)

    def _is_changed(self, cell: CellType) -> bool:
        return any(id(item) in self._others or id(item) in self._changed for item in _in(cell))

    def _object(self, part: Any) -> None:
        try:
            twin = copy_of(part)
        except Exception:
            twin = part
        pairs = list(zip(_fields(twin), _fields(part), strict=True))
        if twin is part or any(new is old for new, old in pairs):
            raise ConfigError(
                f"a {type(part).__name__} inside the engine cannot be copied, so nothing can "
                "stand in for what it holds: give it a `__copy__` that makes another one, or "
                "guard an engine inside"
            )
        self._others[id(part)] = twin
        for new, old in pairs:
            new.update({name: self.copied(value) for name, value in old.items()})


def _held(part: Any) -> list[Any]:
    """Return what a part holds, as far as it is a chain's own."""
    if isinstance(part, dict):
        return [item for _, item in _items(part)]
    if isinstance(part, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", part)
        plain = cast(Any, type(items)) in (list, tuple) and len(items) <= _WIDEST
        return list(items) if plain else []
    if isinstance(part, MethodType):
        return [part.__self__]
    if isinstance(part, partial):
        known = cast("partial[Any]", part)
        return [known.func, *known.args, *known.keywords.values()]
    if isinstance(part, FunctionType):
        return [item for cell in part.__closure__ or () for item in _in(cell)]
    if _is_opaque(cast(Any, type(part))):
        return []
    return [value for held in _fields(part) for value in list(held.values())]


def _items(part: Any) -> list[tuple[Any, Any]]:
    plain = cast(Any, type(part)) is dict and len(part) <= _WIDEST
    return list(part.items()) if plain else []


def _in(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # not filled yet
        return []


def _fields(part: Any) -> list[dict[str, Any]]:
    """Return the dicts that hold an object's attributes; pydantic keeps private ones apart."""
    dicts = [getattr(part, "__dict__", None), getattr(part, "__pydantic_private__", None)]
    return [held for held in dicts if isinstance(held, dict)]


def _is_opaque(kind: type) -> bool:
    """Whether what is inside is not a chain's: builtins, indexes, stores."""
    return kind.__module__.partition(".")[0] in ("builtins", "threading", "asyncio") or any(
        base.__name__ in _OPAQUE_BASES for base in kind.__mro__
    )


# -- stand-ins --------------------------------------------------------------------------------


class _StandIn:
    """Something that is, to everybody, another object, but for a few methods.

    Its own methods are called with the stand-in as `self`, so that what they call of these few
    comes here as well; all that is set is set on the other object.
    """

    def __init__(self, part: Any) -> None:
        object.__setattr__(self, "_part", part)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Be an instance of what the other is one of."""
        kind: type[Any] = object.__getattribute__(self, "_part").__class__
        return kind

    def __getattr__(self, name: str) -> Any:
        part = object.__getattribute__(self, "_part")
        kind: type = cast(Any, type(part))
        static = inspect.getattr_static(kind, name, None)
        if callable(static) and not isinstance(static, type) and hasattr(static, "__get__"):
            return cast(Any, static).__get__(self, kind)
        return getattr(part, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_part"), name, value)


def _stands_in(part: Any) -> bool:
    return issubclass(cast(Any, type(part)), _StandIn)


def replaying(replay: Replay, flow: Flow) -> Swap:
    """Return what puts stand-ins in the places of models and retrievers; numbered as found.

    Args:
        replay: What they returned before in the same call.
        flow: What the streams of the models go through.
    """
    numbers: dict[int, Any] = {}

    def swap(part: Any) -> Any:
        if isinstance(part, BaseLLM):
            return numbers.setdefault(id(part), _Model(part, len(numbers), replay, flow))
        if isinstance(part, BaseRetriever):
            return numbers.setdefault(id(part), _Retriever(part, len(numbers), replay))
        return None

    return swap


class _Retriever(_StandIn):
    """A retriever that gives back what it returned before in the same call."""

    def __init__(self, part: Any, number: int, replay: Replay) -> None:
        super().__init__(part)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_replay", replay)

    def retrieve(self, str_or_query_bundle: Any) -> Any:
        key = self._number, query_text(str_or_query_bundle)
        if self._replay.turns(key, model=False) is None:
            return list(self._replay.kept(key))
        nodes = self._part.retrieve(str_or_query_bundle)
        return list(self._replay.keep(key, nodes))

    async def aretrieve(self, str_or_query_bundle: Any) -> Any:
        key = self._number, query_text(str_or_query_bundle)
        if self._replay.turns(key, model=False) is None:
            return list(self._replay.kept(key))
        nodes = await self._part.aretrieve(str_or_query_bundle)
        return list(self._replay.keep(key, nodes))


class _Model(_StandIn):
    """A model that gives back what it returned before in the same call, or is told why not."""

    def __init__(self, part: Any, number: int, replay: Replay, flow: Flow) -> None:
        super().__init__(part)
        object.__setattr__(self, "_number", number)
        object.__setattr__(self, "_replay", replay)
        object.__setattr__(self, "_flow", flow)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return self._once(self._part.chat, messages, kwargs)

    def complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        return self._once(self._part.complete, prompt, kwargs, args)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return self._stream(self._part.stream_chat, messages, kwargs)

    def stream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        return self._stream(self._part.stream_complete, prompt, kwargs, args)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await self._aonce(self._part.achat, messages, kwargs)

    async def acomplete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        return await self._aonce(self._part.acomplete, prompt, kwargs, args)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await self._astream(self._part.astream_chat, messages, kwargs)

    async def astream_complete(self, prompt: str, *args: Any, **kwargs: Any) -> Any:
        return await self._astream(self._part.astream_complete, prompt, kwargs, args)

    # What follows is said once for chats and completions.

    def _turns(self, prompt: Any, kwargs: Any) -> tuple[Key, list[Turn] | None]:
        key = self._number, repr((prompt, sorted(kwargs.items(), key=lambda item: item[0])))
        return key, self._replay.turns(key, model=True)

    def _once(self, call: Callable[..., Any], prompt: Any, kwargs: Any, args: Any = ()) -> Any:
        key, turns = self._turns(prompt, kwargs)
        if turns is None:
            return _last(self._replay.kept(key))
        return self._keep(key, call(told(prompt, turns), *args, **kwargs))

    async def _aonce(
        self, call: Callable[..., Any], prompt: Any, kwargs: Any, args: Any = ()
    ) -> Any:
        key, turns = self._turns(prompt, kwargs)
        if turns is None:
            return _last(self._replay.kept(key))
        return self._keep(key, await call(told(prompt, turns), *args, **kwargs))

    def _stream(
        self, call: Callable[..., Any], prompt: Any, kwargs: Any, args: Any = ()
    ) -> Generator[Any, None, None]:
        key, turns = self._turns(prompt, kwargs)
        if turns is None:
            yield from self._replay.kept(key)
            return
        chunks: list[Any] = []
        whole = False
        try:
            for chunk in self._flow.through(call(told(prompt, turns), *args, **kwargs)):
                chunks.append(chunk)
                yield chunk
            whole = not self._flow.stopped
        finally:
            self._keep_stream(key, chunks, whole)

    async def _astream(
        self, call: Callable[..., Any], prompt: Any, kwargs: Any, args: Any = ()
    ) -> AsyncGenerator[Any, None]:
        key, turns = self._turns(prompt, kwargs)

        async def chunks_of() -> AsyncGenerator[Any, None]:
            if turns is None:
                for chunk in self._replay.kept(key):
                    yield chunk
                return
            chunks: list[Any] = []
            whole = False
            try:
                stream = await call(told(prompt, turns), *args, **kwargs)
                async for chunk in self._flow.athrough(stream):
                    chunks.append(chunk)
                    yield chunk
                whole = not self._flow.stopped
            finally:
                self._keep_stream(key, chunks, whole)

        return chunks_of()

    def _keep(self, key: Key, output: Any) -> Any:
        return _last(self._replay.keep(key, [output], _written(output)))

    def _keep_stream(self, key: Key, chunks: list[Any], whole: bool) -> None:
        text = _written(chunks[-1]) if chunks else ""
        if whole:
            self._replay.keep(key, chunks, text)
        else:
            self._replay.keep_part(key, text)
            self._flow.wrote(text)


def _last(kept: list[Any]) -> Any:
    return kept[-1]


def _written(output: Any) -> str:
    """Return what a model wrote; where it only called tools, what it handed to them."""
    return model_text(output) or "\n".join(arguments_in(output))


def told(prompt: Any, turns: Sequence[Turn]) -> Any:
    """Return a prompt with what was written before and what is said of it at its end."""
    if not turns:
        return prompt
    if isinstance(prompt, str):
        return prompt + "".join(f"\n{answer}\n\n{feedback}\n" for answer, feedback in turns)
    messages = list(cast("Sequence[ChatMessage]", prompt))
    for answer, feedback in turns:
        messages += [
            ChatMessage(role=MessageRole.ASSISTANT, content=answer),
            ChatMessage(role=MessageRole.USER, content=feedback),
        ]
    return messages


class TellingModel(_StandIn):
    """A chat model that is told, at the end of each prompt, what is said of its earlier answers.

    Args:
        part: The model.
        turns: Its answers, each with what is said of it.
    """

    def __init__(self, part: Any, turns: Sequence[Turn]) -> None:
        super().__init__(part)
        object.__setattr__(self, "_turns", turns)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await self._part.achat(told(messages, self._turns), **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
        return await self._part.astream_chat(told(messages, self._turns), **kwargs)


class MemoryStandIn(_StandIn):
    """A memory that is read as it is, and takes what is put into it only when it is released.

    A history that the caller passes in is the caller's own and is set at once; what was there
    before comes back if the turn is undone.

    Args:
        part: The memory.
        recalled: Told what the memory brings: words of users and models, and no evidence.
    """

    def __init__(self, part: BaseMemory, recalled: Callable[[Iterable[ChatMessage]], None]) -> None:
        super().__init__(part)
        object.__setattr__(self, "put_since", [])
        object.__setattr__(self, "_before", None)
        object.__setattr__(self, "_recalled", recalled)

    put_since: list[ChatMessage]
    """The messages of this turn, which the memory does not have yet."""

    def put(self, message: ChatMessage) -> None:
        self.put_since.append(message)

    async def aput(self, message: ChatMessage) -> None:
        self.put_since.append(message)

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        self.put_since.extend(messages)

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        self.put_since.extend(messages)

    def get(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        return self._with_this_turn(self._part.get(*args, **kwargs))

    async def aget(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        return self._with_this_turn(await self._part.aget(*args, **kwargs))

    def get_all(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        return self._with_this_turn(self._part.get_all(*args, **kwargs))

    async def aget_all(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        return self._with_this_turn(await self._part.aget_all(*args, **kwargs))

    def set(self, messages: list[ChatMessage]) -> None:
        if self._before is None:
            object.__setattr__(self, "_before", list(self._part.get_all()))
        self._part.set(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        if self._before is None:
            object.__setattr__(self, "_before", list(await self._part.aget_all()))
        await self._part.aset(messages)

    # Its own methods, which no engine calls.

    def _with_this_turn(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        self._recalled(messages)
        return [*messages, *self.put_since]

    def forget(self) -> None:
        """Drop what was put; another attempt follows."""
        self.put_since.clear()

    def release(self, messages: Sequence[ChatMessage]) -> None:
        """Give the memory a turn."""
        for message in messages:
            self._part.put(message)

    async def arelease(self, messages: Sequence[ChatMessage]) -> None:
        """Do the same, awaiting."""
        for message in messages:
            await self._part.aput(message)

    def undo(self) -> None:
        """Leave the memory as it was before the call."""
        if self._before is not None:
            self._part.set(self._before)

    async def aundo(self) -> None:
        """Do the same, awaiting."""
        if self._before is not None:
            await self._part.aset(self._before)
