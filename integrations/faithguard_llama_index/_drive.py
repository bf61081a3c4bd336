"""The two drivers of a guarded call: blocking and awaiting.

In: a call, how to ask an engine, and how to ask the fallback. Out: what the caller gets. All
that is decided stands in `Call`; here are only the calls, and the reading of what they stream.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from faithguard import Record
from faithguard_llama_index._outputs import adrain, drain
from faithguard_llama_index._settings import Call
from faithguard_llama_index._tap import attach, capturing

__all__ = ["arun", "receipt", "run"]

T = TypeVar("T")

_receipt: ContextVar[list[Record] | None] = ContextVar("faithguard_receipt", default=None)


@contextmanager
def receipt() -> Generator[list[Record]]:
    """Collect the record of the guarded call that is made inside, but not those within it."""
    records: list[Record] = []
    token = _receipt.set(records)
    try:
        yield records
    finally:
        _receipt.reset(token)


@contextmanager
def _handing_in() -> Generator[list[Record]]:
    """Yield where the record of this call goes; what is guarded inside has nowhere to hand it."""
    records = _receipt.get()
    token = _receipt.set(None)
    try:
        yield [] if records is None else records
    finally:
        _receipt.reset(token)


def run(call: Call, ask: Callable[[Any], T]) -> T:
    """Make the call, blocking.

    Args:
        call: What is decided on the way.
        ask: Asks an engine: the guarded one, or the fallback.
    """
    attach()
    with _handing_in() as records:
        while True:
            drained = fault = None
            try:
                with capturing(call.scope):
                    drained = drain(ask(call.engine()))
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if drained is None:  # raised here, where nothing of the error hangs on to it
                raise fault or AssertionError
            step = call.settle(call.settings.scorer.score(call.exchange(drained)))
            if step.action == "regenerate":
                continue
            fallback = drain(ask(call.settings.fallback)) if call.falls_back(step) else None
            turn = call.turn(step, fallback)
            for memory in call.memories:
                memory.release(turn) if turn else memory.undo()
            reported = call.close(step, fallback)
            records.append(reported.record)
            return cast("T", reported.output)


async def arun(call: Call, ask: Callable[[Any], Awaitable[T]]) -> T:
    """Do the same, awaiting."""
    attach()
    with _handing_in() as records:
        while True:
            drained = fault = None
            try:
                with capturing(call.scope):
                    drained = await adrain(await ask(call.engine()))
            except BaseException as error:
                if (fault := call.fault(error)) is None:
                    raise
            if drained is None:  # raised here, where nothing of the error hangs on to it
                raise fault or AssertionError
            step = call.settle(await call.settings.scorer.ascore(call.exchange(drained)))
            if step.action == "regenerate":
                continue
            fallback = None
            if call.falls_back(step):
                fallback = await adrain(await ask(call.settings.fallback))
            turn = call.turn(step, fallback)
            for memory in call.memories:
                await (memory.arelease(turn) if turn else memory.aundo())
            reported = call.close(step, fallback)
            records.append(reported.record)
            return cast("T", reported.output)
