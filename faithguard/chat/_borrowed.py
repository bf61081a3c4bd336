"""A chat model that an app already has, asked so that the app does not notice.

In: two functions that ask it, blocking and awaiting. Out: a `ChatModel`. Each call runs in an
empty context: whatever the host keeps in context variables (callbacks, streams, spans, counters,
our own capture) is not there. What the model does about retries and formats is its own; the
deadline and the limit on calls in flight are ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import Context
from typing import Any

from faithguard.chat._meter import spend
from faithguard.chat._slots import Slots
from faithguard.chat._threads import in_thread
from faithguard.chat._types import Completion, Message
from faithguard.errors import JudgeError
from faithguard.types import FailureKind

__all__ = ["BorrowedChat"]

_DOWN = ("RateLimit", "Connection", "Unavailable", "Overloaded", "InternalServer", "APIStatus")


class BorrowedChat:
    """A chat model behind functions.

    Args:
        name: The model and whatever changes what it says.
        ask: Messages -> what the model says, blocking.
        aask: The same, awaiting.
        max_in_flight: Calls at once; the others wait in order.
    """

    def __init__(
        self,
        name: str,
        ask: Callable[[Sequence[Message]], Completion],
        aask: Callable[[Sequence[Message]], Coroutine[Any, Any, Completion]],
        *,
        max_in_flight: int = 8,
    ) -> None:
        self._name = name
        self._ask = ask
        self._aask = aask
        self._slots = Slots(max_in_flight)

    @property
    def name(self) -> str:
        """The model and whatever changes what it says."""
        return self._name

    @property
    def in_flight(self) -> int:
        """Calls that are being made now."""
        return self._slots.taken

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Return what the model says, blocking; see `ChatModel`.

        A call that takes too long is left alone in its thread: nothing can stop it.
        """
        try:
            with self._slots.slot(_left(deadline)):
                call = in_thread(Context(), self._ask, messages)
                completion = call.result(timeout=_left(deadline))
        except (Exception, asyncio.CancelledError) as error:
            raise _fault(error) from None
        spend(completion)
        return completion

    async def acomplete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        deadline: float,
    ) -> Completion:
        """Do the same without blocking the event loop."""
        try:
            async with asyncio.timeout(_left(deadline)), self._slots.aslot():
                # a task that is awaited is cancelled with whoever awaits it
                completion = await asyncio.create_task(self._aask(messages), context=Context())
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            raise _fault(error) from None  # nobody cancelled us: it is the model's own
        except Exception as error:
            raise _fault(error) from None
        spend(completion)
        return completion


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0.0:
        raise TimeoutError
    return seconds


def _fault(error: BaseException) -> JudgeError:
    """Return what an exception of anybody's means; its text may hold anything."""
    if isinstance(error, JudgeError):
        return error
    if isinstance(error, TimeoutError | FutureTimeout):
        return JudgeError("no reply in time: raise `timeout`", "timeout")
    name = type(error).__name__
    kind: FailureKind = "unavailable" if any(word in name for word in _DOWN) else "error"
    if "Timeout" in name:
        kind = "timeout"
    spend(None)
    return JudgeError(f"the model raised {name}", kind)
