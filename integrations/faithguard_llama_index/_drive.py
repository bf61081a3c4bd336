"""The two drivers of a guarded call: blocking and awaiting.

In: a call, how to ask an engine, and how to ask the fallback. Out: what the caller gets. All
that is decided stands in `Call`; here are only the calls, and the reading of what they stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from llama_index.core.schema import NodeWithScore

from faithguard import Record
from faithguard.guard import Step, amore_passages, asettled, more_passages, settled
from faithguard_llama_index._outputs import Drained, adrain, drain
from faithguard_llama_index._settings import Call
from faithguard_llama_index._tap import attach, capturing

__all__ = ["arun", "receipt", "reporting", "retrieved", "run"]

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


def reporting() -> bool:
    """Say whether the record of the call that begins is collected."""
    return _receipt.get() is not None


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
        try:
            step = _attempts(call, ask)
            fallback = drain(ask(call.fallback())) if call.falls_back(step) else None
            reported = call.close(step, fallback)
        except BaseException:
            for memory in call.memories:
                memory.undo()
            raise
        for memory in call.memories:
            memory.release(call.turn(step, fallback, memory))
        records.append(reported.record)
        return cast("T", reported.output)


def _attempts(call: Call, ask: Callable[[Any], Any]) -> Step:
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
        exchange = call.exchange(drained)
        step = settled(call.course, call.settings.scorer, exchange, answer=call.mends)
        if step.feedback is None:
            call.end(step)
            return step
        failed = call.course.report.unsupported
        call.again(step.feedback, more_passages(call.settings.more_context, failed))


async def arun(call: Call, ask: Callable[[Any], Awaitable[T]]) -> T:
    """Do the same, awaiting."""
    attach()
    with _handing_in() as records:
        try:
            step = await _aattempts(call, ask)
            fallback = None
            if call.falls_back(step):
                fallback = await adrain(await ask(call.fallback()))
            reported = call.close(step, fallback)
        except BaseException:
            for memory in call.memories:
                await memory.aundo()
            raise
        await _whole(_arelease(call, step, fallback))
        records.append(reported.record)
        return cast("T", reported.output)


async def _aattempts(call: Call, ask: Callable[[Any], Awaitable[Any]]) -> Step:
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
        exchange = call.exchange(drained)
        step = await asettled(call.course, call.settings.scorer, exchange, answer=call.mends)
        if step.feedback is None:
            call.end(step)
            return step
        failed = call.course.report.unsupported
        call.again(step.feedback, await amore_passages(call.settings.more_context, failed))


async def _arelease(call: Call, step: Step, fallback: Drained | None) -> None:
    for memory in call.memories:
        await memory.arelease(call.turn(step, fallback, memory))


async def _whole(work: Coroutine[Any, Any, None]) -> None:
    """Do something to its end, cancelled or not: half a turn in a memory is none."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def retrieved(call: Call, retrieve: Callable[[], list[NodeWithScore]]) -> list[NodeWithScore]:
    """Return what an engine retrieves, but for nodes that a model wrote something into."""
    attach()
    with capturing(call.scope):
        return call.brought(retrieve())
