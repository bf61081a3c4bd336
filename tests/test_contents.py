"""What a value holds: the one way in which all guards look for texts beside an answer."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
from collections import UserDict, UserString, deque
from collections.abc import AsyncGenerator, Callable
from datetime import date
from enum import Enum
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.base import Runnable
from pydantic import BaseModel, ConfigDict, PrivateAttr

from faithguard import CaptureError, guarded
from faithguard.contents import texts_in
from faithguard.scorer import Scorer
from faithguard.testing import TableVerifier
from faithguard_langchain import guard, verify_node

GOOD = "The kiln is fired on Mondays."
BESIDE = "Clay costs four crowns a bag."
FALLBACK = "Please ask the potter."


class _Slots:
    __slots__ = ("__hidden",)

    def __init__(self) -> None:
        self.__hidden = BESIDE


class _Extra(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Private(BaseModel):
    _kept: str = PrivateAttr(BESIDE)


@dataclasses.dataclass(slots=True)
class _Slotted:
    text: str = BESIDE


class _Told(Exception):
    def __init__(self) -> None:
        super().__init__("told")
        self.text = BESIDE


_Chosen = Enum("_Chosen", {"ONE": BESIDE})

DATA: dict[str, Any] = {
    "key": {BESIDE: 1},
    "key in a list": [{BESIDE: None}],
    "tuple as a key": {(1, BESIDE): 1},
    "bytes": BESIDE.encode(),
    "bytearray": bytearray(BESIDE.encode()),
    "memoryview": memoryview(BESIDE.encode()),
    "set": {BESIDE},
    "deque": deque([BESIDE]),
    "keys": {BESIDE: 1}.keys(),
    "values": {1: BESIDE}.values(),
    "items": {1: BESIDE}.items(),
    "exception": ValueError(BESIDE),
    "mapping": MappingProxyType({"a": UserDict(b=[BESIDE])}),
    "string": UserString(BESIDE),
    "extra": _Extra(**{"other": BESIDE}),
    "private": _Private(),
    "dataclass": _Slotted(),
    "enum": _Chosen["ONE"],
    "attribute of an exception": _Told(),
}
OBJECTS: dict[str, Any] = {
    "slots": _Slots(),
    "namespace": SimpleNamespace(text=BESIDE),
    "partial": functools.partial(print, BESIDE),
}
ONCE: dict[str, Callable[[], Any]] = {
    "generator": lambda: (text for text in [BESIDE]),
    "map": lambda: map(str, [BESIDE]),
    "in a list": lambda: [iter([BESIDE])],
}


def _settings() -> dict[str, Any]:
    """Return what a guard needs to hold back `BESIDE`, and nothing else."""
    verifier = TableVerifier({"*": 1.0, BESIDE: 0.0})
    return {"domain": "support", "sinks": [], "scorer": Scorer(verifiers=[verifier])}


def _guards() -> list[Callable[[Any], Any]]:
    """Return the three guards around something that puts a value beside an answer."""

    def output(beside: Any) -> dict[str, Any]:
        return {"answer": GOOD, "context": [GOOD], "beside": beside}

    def node(state: dict[str, Any]) -> dict[str, Any]:
        return output(state["make"]())

    def chain(beside: Any) -> Any:
        made: Runnable[Any, Any] = RunnableLambda(lambda _: output(beside))
        return guard(made, fallback=FALLBACK, **_settings()).invoke("What of clay?")

    def in_a_node(beside: Any) -> Any:
        verified = verify_node(node, fallback=FALLBACK, **_settings())
        return verified({"context": [GOOD], "make": lambda: beside})

    return [guarded(fallback=FALLBACK, **_settings())(output), chain, in_a_node]


@pytest.mark.parametrize("value", [*DATA.values(), *OBJECTS.values()], ids=[*DATA, *OBJECTS])
def test_texts_are_found_wherever_they_stand(value: Any) -> None:
    """In keys, items, fields, slots and arguments."""
    assert BESIDE in list(texts_in({"beside": value}))


@pytest.mark.parametrize("value", DATA.values(), ids=DATA)
@pytest.mark.parametrize("way", [0, 1, 2], ids=["function", "chain", "node"])
def test_all_guards_hold_back_a_text_beside_the_answer(way: int, value: Any) -> None:
    """The answer itself is fine."""
    told = _guards()[way](value)

    assert told["answer"] == FALLBACK
    assert "beside" not in told


@pytest.mark.parametrize("make", ONCE.values(), ids=ONCE)
@pytest.mark.parametrize("way", [0, 1, 2], ids=["function", "chain", "node"])
def test_all_guards_refuse_what_can_be_read_only_once(way: int, make: Callable[[], Any]) -> None:
    """Nobody could verify it and leave it whole."""
    with pytest.raises(CaptureError, match="read only once"):
        _guards()[way](make())


def test_a_generator_holds_nothing_at_its_end_only() -> None:
    """One that has begun can be read on; whether it blocks or is awaited makes no difference."""
    words = (word for word in [BESIDE])
    for _ in range(2):
        with pytest.raises(CaptureError, match="read only once"):
            list(texts_in([words]))
        next(words, None)
    assert next(words, None) is None
    assert list(texts_in([words])) == []

    async def told() -> AsyncGenerator[str, None]:
        yield BESIDE

    async def read() -> None:
        words = told()
        for _ in range(2):
            with pytest.raises(CaptureError, match="read only once"):
                list(texts_in([words]))
            await anext(words, None)
        assert await anext(words, None) is None
        assert list(texts_in([words])) == []

    asyncio.run(read())


@pytest.mark.parametrize("value", OBJECTS.values(), ids=OBJECTS)
def test_a_function_hands_out_data_only(value: Any) -> None:
    """An object of whatever kind is refused, by its type."""
    with pytest.raises(CaptureError, match=f"type {type(value).__name__} stands beside"):
        _guards()[0](value)


@pytest.mark.parametrize("value", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("way", [1, 2], ids=["chain", "node"])
def test_chains_and_nodes_read_objects(way: int, value: Any) -> None:
    """Their states may hold any."""
    assert _guards()[way](value)["answer"] == FALLBACK


def test_plain_names_numbers_and_dates_hold_no_text() -> None:
    """A name is no statement; neither is what has no words."""
    assert list(texts_in({"price": 3, "day": date(2024, 5, 1), "of": [None, True, 2.5]})) == []
    assert list(texts_in({"price": "3"}, but=["price"])) == []


def test_what_holds_itself_is_read_once() -> None:
    """No text is lost or told twice."""
    ring: list[Any] = [BESIDE]
    ring.append(ring)

    assert list(texts_in(ring)) == [BESIDE]
