"""A chain's parts: to look at, and to replace.

In: a Runnable. Out: every Runnable inside it, as far as LangChain lets one see (the steps of
sequences, the values of bindings, what a function closes over or finds in its module); or the
same chain with some of its parts replaced, which works for all of these but the module's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel

__all__ = ["parts", "replaced"]

AnyRunnable = Runnable[Any, Any]

_DEEPEST, _WIDEST, _MOST = 5, 100, 5_000
"""How deep, how wide and at how many values one looks for what a part holds."""


def parts(runnable: AnyRunnable) -> Iterator[AnyRunnable]:
    """Yield a Runnable and all that it is made of, each once."""
    seen: set[int] = set()
    open_: list[AnyRunnable] = [runnable]
    while open_:
        part = open_.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        open_ += _inside(part)


def _inside(part: AnyRunnable) -> list[AnyRunnable]:
    values = [value for _, value in _fields(part)] if isinstance(part, BaseModel) else []
    values += list(getattr(part, "__dict__", {}).values())
    return [found for value in values for found in _runnables(value)]


def _fields(part: object) -> Iterator[tuple[str, Any]]:
    if isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield name, getattr(part, name, None)


def _runnables(value: Any) -> Iterator[AnyRunnable]:
    """Yield the Runnables in a value: in a container, a function, a method, an object."""
    seen: set[int] = set()
    open_: list[tuple[Any, int]] = [(value, _DEEPEST)]
    while open_ and len(seen) < _MOST:
        item, depth = open_.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Runnable):
            yield cast(AnyRunnable, item)
        elif depth:
            open_ += [(part, depth - 1) for part in _held(item)]


def _held(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(cast(Mapping[Any, Any], value).values())[:_WIDEST]
    if isinstance(value, list | tuple | set | frozenset):
        return list(cast("list[Any]", value))[:_WIDEST]
    if isinstance(value, partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, FunctionType):
        return _known_to(value)
    if isinstance(value, type | ModuleType) or type(value).__module__ == "builtins":
        return []
    return list(getattr(value, "__dict__", {}).values())[:_WIDEST]


def _known_to(function: FunctionType) -> list[Any]:
    """What a function closes over, its defaults, and what of its module it names."""
    found: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # not filled yet
            found.append(cell.cell_contents)
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes += [const for const in code.co_consts if isinstance(const, CodeType)]
    module = function.__globals__
    return found + [module[name] for name in names if name in module]


def replaced(
    runnable: AnyRunnable, swap: Callable[[AnyRunnable], AnyRunnable | None]
) -> AnyRunnable:
    """Return the chain with parts swapped; the chain itself is left as it is.

    Args:
        runnable: The chain.
        swap: Returns what stands in for a part, or None to look inside the part.
    """
    new = swap(runnable)
    if new is not None:
        return new
    if isinstance(runnable, RunnableLambda):
        return _with_functions(runnable, swap)
    update = {
        name: other
        for name, value in _fields(runnable)
        if (other := _swapped(value, swap)) is not value
    }
    if not update:
        return runnable
    return cast(AnyRunnable, cast(BaseModel, runnable).model_copy(update=update))


def _with_functions(
    step: RunnableLambda[Any, Any], swap: Callable[[AnyRunnable], AnyRunnable | None]
) -> AnyRunnable:
    """Return a function step with what its functions close over replaced."""
    update = {
        name: other
        for name in ("func", "afunc")
        if (function := getattr(step, name, None)) is not None
        and (other := _closed_over(function, swap)) is not function
    }
    if not update:
        return step
    other_step = copy(step)
    for name, function in update.items():
        setattr(other_step, name, function)
    vars(other_step).pop("deps", None)  # cached from the step it was copied from
    return other_step


def _closed_over(function: Any, swap: Callable[[AnyRunnable], AnyRunnable | None]) -> Any:
    """Return a function that closes over the same cells, but for those with a swapped part."""
    if not isinstance(function, FunctionType) or not function.__closure__:
        return function
    cells: list[CellType] = []
    for cell in function.__closure__:
        try:
            value = cell.cell_contents
        except ValueError:  # not filled yet
            cells.append(cell)
            continue
        other = _swapped(value, swap)
        cells.append(cell if other is value else CellType(other))
    if all(a is b for a, b in zip(cells, function.__closure__, strict=True)):
        return function
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


def _swapped(value: Any, swap: Callable[[AnyRunnable], AnyRunnable | None], depth: int = 3) -> Any:
    """Return a field's value with its Runnables replaced; the very value if none was."""
    if isinstance(value, Runnable):
        return replaced(cast(AnyRunnable, value), swap)
    if depth and isinstance(value, dict):
        mapping = cast(dict[Any, Any], value)
        new = {key: _swapped(item, swap, depth - 1) for key, item in mapping.items()}
        return new if any(new[key] is not mapping[key] for key in mapping) else mapping
    if depth and isinstance(value, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", value)
        others = [_swapped(item, swap, depth - 1) for item in items]
        if all(a is b for a, b in zip(others, items, strict=True)):
            return items
        return tuple(others) if isinstance(items, tuple) else others
    return value
