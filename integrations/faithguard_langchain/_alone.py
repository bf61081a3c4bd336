"""A Runnable of the app's -> one of which the app hears nothing.

In: a Runnable, whatever it is made of. Out: a copy without handlers, listeners and cache, all the
way down; the app's is not changed. And a context in which our own watchers hear nothing, for what
no copy reaches: a model that a function calls by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.language_models import BaseLanguageModel
from langchain_core.runnables import Runnable
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import RunnableConfigurableAlternatives
from pydantic import BaseModel

__all__ = ["alone", "is_unheard", "unheard"]

_unheard: ContextVar[bool] = ContextVar("faithguard_langchain_unheard", default=False)

_DEEPEST = 64


@contextmanager
def unheard() -> Generator[None]:
    """Let our watchers hear nothing of what is run inside."""
    token = _unheard.set(True)
    try:
        yield
    finally:
        _unheard.reset(token)


def is_unheard() -> bool:
    """Say whether what runs now is none of a watcher's."""
    return _unheard.get()


def alone(runnable: Runnable[Any, Any]) -> Runnable[Any, Any]:
    """Return a Runnable without handlers, listeners and cache of its own, or of its parts."""
    return cast("Runnable[Any, Any]", _copied(runnable, 0))


def _copied(value: Any, depth: int) -> Any:
    """Return a value with all Runnables in it alone."""
    if depth > _DEEPEST:
        return value
    if _has_parts(value):
        return _parts_alone(value, depth)
    kind = cast(Any, type(value))
    if kind is list or kind is tuple:
        return _each_copied(value, kind, depth)
    if kind is dict:
        named: dict[Any, Any] = value
        copies = {key: _copied(item, depth + 1) for key, item in named.items()}
        return value if all(copies[key] is item for key, item in named.items()) else copies
    return value


def _each_copied(held: Any, kind: Any, depth: int) -> Any:
    items: list[Any] = [_copied(item, depth + 1) for item in held]
    same = all(one is other for one, other in zip(held, items, strict=True))
    return held if same else kind(items)


def _has_parts(value: object) -> bool:
    return isinstance(value, Runnable) and isinstance(value, BaseModel)


def _parts_alone(runnable: Any, depth: int) -> Any:
    kind = cast(Any, type(runnable))
    names: list[str] = list(kind.model_fields)
    changed: dict[str, Any] = {}
    for name in names:
        value: Any = getattr(runnable, name)
        copied = _copied(value, depth + 1)
        if copied is not value:
            changed[name] = copied
    if "callbacks" in names:
        changed["callbacks"] = None
    if issubclass(kind, BaseLanguageModel):
        changed |= {"cache": False, "verbose": False}
    if issubclass(kind, RunnableBindingBase):
        changed["config"] = _unlistened(runnable.config)
        changed["config_factories"] = [_quiet(one) for one in runnable.config_factories]
    if issubclass(kind, RunnableConfigurableAlternatives):
        made: dict[str, Any] = changed.get("alternatives", runnable.alternatives)
        changed["alternatives"] = {key: _made_alone(item) for key, item in made.items()}
    return runnable.model_copy(update=changed)


def _unlistened(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key != "callbacks"}


def _quiet(factory: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what makes the same config without handlers: listeners are such."""
    return lambda config: _unlistened(factory(config))


def _made_alone(alternative: Any) -> Any:
    """Return an alternative that is made when it is first needed, alone."""
    if _has_parts(alternative) or not callable(alternative):
        return alternative
    make = cast("Callable[[], Runnable[Any, Any]]", alternative)
    return lambda: alone(make())
