"""A value that is made when it is first asked for.

In: a method without arguments. Out: an attribute. `functools.cached_property` does the same, but
in Python 3.11 under a lock for the whole class, which a fork can leave held for ever. Here two
threads may both make the value, which is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy"]

T = TypeVar("T")


class lazy(Generic[T]):
    """Make a method an attribute that is computed once for each object."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, subject: None, kind: type) -> lazy[T]: ...
    @overload
    def __get__(self, subject: object, kind: type) -> T: ...
    def __get__(self, subject: object | None, kind: type) -> T | lazy[T]:
        if subject is None:
            return self
        value = vars(subject)[self._name] = self._make(subject)
        return value
