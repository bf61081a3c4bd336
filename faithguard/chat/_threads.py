"""Call a function in a thread of its own, which does not keep a program from ending.

In: a function, its arguments, and the context that it runs in. Out: a future of its result. Nobody
who waits for it can stop it: who has waited long enough leaves it alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context
from typing import ParamSpec, TypeVar

__all__ = ["in_thread"]

P = ParamSpec("P")
T = TypeVar("T")


def in_thread(
    context: Context, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> Future[T]:
    """Return the future result of a call."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from here on nobody can cancel it

    def run() -> None:
        try:
            future.set_result(context.run(function, *args, **kwargs))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="faithguard-judge", daemon=True).start()
    return future
