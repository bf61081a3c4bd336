"""The two drivers of a guarded call: blocking and awaiting.

In: a call, how to ask an engine, and how to ask the fallback. Out: what the caller gets. All
that is decided stands in `Call`; here are only the calls, and the reading of what they stream.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar, cast

from llama_index.core.schema import NodeWithScore

from faithguard import Record
from faithguard.guard import Reported, Step, amore_passages, asettled, more_passages, settled
from faithguard_llama_index._live import alive, live, to_the_end
from faithguard_llama_index._outputs import (
    Drained,
    adrain,
    astreams,
    delivered,
    drain,
    streams,
)
from faithguard_llama_index._settings import Call
from faithguard_llama_index._tap import attach, capturing

__all__ = ["areported", "arun", "receipt", "reported", "reporting", "retrieved", "run"]

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
            if isinstance(step, _Unread):
                return cast("T", live(call, step.output, ask, records))
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


class _Unread(NamedTuple):
    """A response that is to come out claim by claim."""

    output: Any


def _attempts(call: Call, ask: Callable[[Any], Any]) -> Step | _Unread:
    while True:
        drained = fault = None
        try:
            with capturing(call.scope):
                output = ask(call.engine())
                if call.by_claim and streams(output):
                    return _Unread(output)
                drained = drain(output)
        except BaseException as error:
            if (fault := call.fault(error)) is None:
                raise
        if drained is None:  # raised here, where nothing of the error hangs on to it
            raise fault or AssertionError
        exchange = call.exchange(drained)
        step = settled(call.course, call.settings.scorer, exchange, answer=call.mends)
        if step.feedback is None:
            call.end(as_written=step.action != "block" and step.answer is None)
            return step
        failed = call.course.report.unsupported
        more = more_passages(call.settings.more_context, failed)
        call.again(step.feedback, more, call.answer, call.course.report)


async def arun(call: Call, ask: Callable[[Any], Awaitable[T]]) -> T:
    """Do the same, awaiting."""
    attach()
    with _handing_in() as records:
        try:
            step = await _aattempts(call, ask)
            if isinstance(step, _Unread):
                return cast("T", await alive(call, step.output, ask, records))
            fallback = None
            if call.falls_back(step):
                fallback = await adrain(await ask(call.fallback()))
            reported = call.close(step, fallback)
        except BaseException:
            for memory in call.memories:
                await memory.aundo()
            raise
        await to_the_end(_arelease(call, step, fallback))
        records.append(reported.record)
        return cast("T", reported.output)


async def _aattempts(call: Call, ask: Callable[[Any], Awaitable[Any]]) -> Step | _Unread:
    while True:
        drained = fault = None
        try:
            with capturing(call.scope):
                output = await ask(call.engine())
                if call.by_claim and astreams(output):
                    return _Unread(output)
                drained = await adrain(output)
        except BaseException as error:
            if (fault := call.fault(error)) is None:
                raise
        if drained is None:  # raised here, where nothing of the error hangs on to it
            raise fault or AssertionError
        exchange = call.exchange(drained)
        step = await asettled(call.course, call.settings.scorer, exchange, answer=call.mends)
        if step.feedback is None:
            call.end(as_written=step.action != "block" and step.answer is None)
            return step
        failed = call.course.report.unsupported
        more = await amore_passages(call.settings.more_context, failed)
        call.again(step.feedback, more, call.answer, call.course.report)


async def _arelease(call: Call, step: Step, fallback: Drained | None) -> None:
    for memory in call.memories:
        await memory.arelease(call.turn(step, fallback, memory))


def reported(output: Any, records: list[Record]) -> Reported:
    """Return what a guarded call returned, with its record; a stream is read for that.

    Args:
        output: What it returned.
        records: What `receipt` has collected, or is to.
    """
    if not records:
        output = _to_read_again(drain(output))
    return Reported(output, records[0])


async def areported(output: Any, records: list[Record]) -> Reported:
    """Do the same, awaiting."""
    if not records:
        output = _to_read_again(await adrain(output))
    return Reported(output, records[0])


def _to_read_again(drained: Drained) -> Any:
    return delivered(drained, drained.output.metadata["faithguard"])


def retrieved(call: Call, retrieve: Callable[[], list[NodeWithScore]]) -> list[NodeWithScore]:
    """Return what an engine retrieves, but for nodes that a model wrote something into."""
    attach()
    with capturing(call.scope):
        return call.brought(retrieve())
