"""Run work that keeps a core busy away from the event loop, and several calls at once in it.

In: a function and its arguments, or coroutines. Out: an awaitable of what comes of them. The
threads are our own: the loop's default ones may all be busy with callers that wait for what runs
here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

__all__ = ["all_of", "offload"]

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool for a process: threads do not survive a fork."""
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix=f"faithguard-{process}")


async def offload(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Await `function(*args, **kwargs)`, run in a thread with the caller's context."""
    run = partial(copy_context().run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool(os.getpid()), run)


async def all_of(*coroutines: Coroutine[Any, Any, T]) -> list[T]:
    """Await coroutines at once; when one fails or the caller is cancelled, none goes on."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
