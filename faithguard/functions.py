"""A function that answers -> the same function, which lets an answer through once it is verified.

In: a function, coroutine function, generator or async generator of yours that returns or yields
an answer, with no framework. Out: one that is called alike. Evidence is what the function is
handed as context, what it hands out beside its answer, and what it says that it `saw`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from faithguard.capture import Trace, new_id, passages_of, time_now
from faithguard.contents import texts_in
from faithguard.errors import CaptureError, ConfigError, UnfaithfulAnswerError
from faithguard.guard import (
    MoreContext,
    OnFail,
    Reported,
    Settings,
    Stream,
    Verify,
    adrive,
    drive,
    with_passages,
    withheld,
)
from faithguard.policy import Policy
from faithguard.scorer import Scorer
from faithguard.sinks import AnySink
from faithguard.streaming import Again, StreamCourse, areleased, released
from faithguard.types import Exchange, Passage, Report
from faithguard.verifiers.judge import Judge

__all__ = ["GuardedFunction", "guarded", "saw"]

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

_QUESTIONS = ("question", "query", "user_input")

_seen: ContextVar[list[Passage] | None] = ContextVar("faithguard_seen", default=None)
"""What the guarded function that is running has said that it saw."""


class GuardedFunction(Protocol[P, R]):
    """A function with a guard around it; made by `guarded`."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the verified answer, or do what `on_fail` says."""
        ...

    @property
    def with_report(self) -> Callable[P, Any]:
        """The same function, which returns a `Reported`: what the caller gets, and its record.

        That of a coroutine function or an async generator is awaited; that of a generator
        returns its answer in one piece. That of a method takes the object first.
        """
        ...

    @property
    def wait(self) -> Callable[..., bool]:
        """Waits until all records are in the sinks; returns whether it was in time (seconds)."""
        ...


def saw(passages: Any) -> None:
    """Say inside a guarded function what its own retrieval found, and its model was shown.

        docs = search(question)
        faithguard.saw(docs)

    It is told to the innermost guarded function that is running, also from tasks that it
    started and from `asyncio.to_thread`; a thread of your own starts without. Outside of all
    guarded functions it does nothing.

    Args:
        passages: Whatever `check` takes as context: strings, Documents, nodes, Passages.

    Raises:
        CaptureError: If a piece has no text.
    """
    found = passages_of(passages, origin="retriever")
    if (seen := _seen.get()) is not None:
        seen += found


def guarded(
    bare: None = None,
    /,
    *,
    domain: str | Policy | None = None,
    on_fail: OnFail | None = None,
    fallback: str | None = None,
    max_attempts: int | None = None,
    more_context: MoreContext | None = None,
    on_report: Callable[[Report], object] | None = None,
    sinks: Sequence[AnySink] | None = None,
    scorer: Scorer | None = None,
    judge: Judge | None = None,
    sample: float | None = None,
    context: str = "context",
    question: str | None = None,
    feedback: str = "feedback",
    stream: Stream = "answer",
    max_hold_chars: int | None = None,
    max_hold_seconds: float | None = None,
) -> Callable[[Callable[P, R]], GuardedFunction[P, R]]:
    """Guard a function that answers: its answer goes out only once it is verified.

        @faithguard.guarded(domain="support", fallback="Please ask at the desk.")
        def answer(question: str) -> str:
            docs = search(question)
            faithguard.saw(docs)
            return ask_model(question, docs)

    The function returns its answer as a string, as a pair of it and the passages, or as a dict
    with "answer" and perhaps "context"; every other text in the dict is verified, too. A
    generator yields strings, which are held back and delivered in one piece, or one of the
    others; with `stream="claims"` it yields strings, and each sentence, item or row of them is
    delivered once it is verified. What the question says is never evidence.

    Args:
        bare: Nothing; the decorator is always called, `@guarded()` where all defaults do.
        domain: The domain, or a policy, whose thresholds decide.
        on_fail: "block": deliver the fallback, or raise; "regenerate": call the function again
            with the claims that failed, then block; "repair": correct or leave out the
            sentences, items or rows that failed, verify again, else block; "flag": deliver. The
            policy's, which is "block" unless it says otherwise, if it is not given.
        fallback: The text that a blocked caller gets in the place of the answer. Not with "flag".
        max_attempts: Answers to have written at most, 2 by default; only with "regenerate".
        more_context: Called with the claims that failed before the function is called again;
            what it returns (strings, Documents, Passages; a coroutine function where the
            function is one) is handed over with the feedback and is evidence. Only with
            "regenerate".
        on_report: Called with the report of each call's last attempt.
        sinks: Where records go; one log line for each call by default. The store that
            FAITHGUARD_STORE names gets them, too, but with an empty list, which keeps none.
        scorer: The cascade; the local one by default.
        judge: An LLM that decides what the local cascade leaves open.
        sample: The share of calls that are checked, from 0 to 1; the others pass as they are,
            but for those of `with_report`. Only with "flag"; all of them by default.
        context: The function's parameter that takes the passages, if it has one.
        question: The function's parameter that takes the question. If it is not named: one that
            is called `question`, `query` or `user_input`; no other text is taken for one, since
            a one-word answer is read as an answer to it.
        feedback: The function's parameter that takes, with "regenerate", what was wrong with
            the last answer; not passed at the first attempt.
        stream: "answer": hold the whole answer; "claims", for generators: hold each sentence,
            item or row until all of its claims are supported. One that is not ends the stream
            with the fallback, or is repaired or left out with "repair"; "regenerate" works until
            something was delivered; not with "flag".
        max_hold_chars: With "claims": characters without the end of a sentence, item or row
            that are held; more block the stream unless the policy fails open. 4000 by default.
        max_hold_seconds: With "claims": seconds to wait for that end, 60 by default.

    Raises:
        ConfigError: If a setting cannot be used, or names a parameter that is not there.
    """
    if bare is not None:
        raise ConfigError(
            f"`guarded` got an object of type {type(bare).__name__}: write @faithguard.guarded() "
            "above the function, with brackets and perhaps settings by name in them"
        )
    settings = Settings.of(
        domain=domain,
        on_fail=on_fail,
        fallback=fallback,
        max_attempts=max_attempts,
        more_context=more_context,
        on_report=on_report,
        sinks=sinks,
        scorer=scorer,
        judge=judge,
        sample=sample,
        stream=stream,
        max_hold_chars=max_hold_chars,
        max_hold_seconds=max_hold_seconds,
    )
    names = _Names(context, question, feedback)

    def decorate(function: Callable[P, R]) -> GuardedFunction[P, R]:
        return cast("GuardedFunction[P, R]", _wrapped(function, settings, names))

    return decorate


@dataclass(frozen=True, slots=True)
class _Names:
    """What the parameters of a function are called."""

    context: str = "context"
    question: str | None = None
    feedback: str = "feedback"

    def check(self, signature: inspect.Signature, settings: Settings) -> None:
        """Refuse names that the function does not have, but for the usual ones.

        Raises:
            ConfigError: If there is one.
        """
        known, usual = signature.parameters, _Names()
        for kind in ("context", "question", "feedback"):
            name: str | None = getattr(self, kind)
            needed = kind == "feedback" and settings.policy.on_fail == "regenerate"
            if name not in known and (needed or name != getattr(usual, kind)):
                others = ", ".join(known) or "none"
                if needed:
                    told = (
                        f"the function has no parameter {name!r}, by which on_fail='regenerate' "
                        f"hands it what was wrong: give it one, or name one of its own ({others}) "
                        "by feedback=..."
                    )
                else:
                    told = (
                        f"the function has no parameter {name!r}, which {kind}={name!r} names: "
                        f"give it one, or name one of its own ({others})"
                    )
                raise ConfigError(told)


def _wrapped(function: Callable[..., Any], settings: Settings, names: _Names) -> Any:
    """Return a function of the same kind."""
    if not callable(function):
        kind = type(function).__name__
        raise ConfigError(f"`guarded` decorates a function, not an object of type {kind}")
    signature = inspect.signature(function)
    names.check(signature, settings)

    def start(args: Any, kwargs: Any) -> _Call:
        return _Call(settings, names, signature.bind(*args, **kwargs))

    made: Any
    if settings.hold is not None:
        made, reported = _by_claim(function, settings, start)
    elif inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        reported = _awaiting(function, settings, start)
        if inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
                yield (await reported(*args, **kwargs)).output

            made = stream
        else:

            @functools.wraps(function)
            async def answer(*args: Any, **kwargs: Any) -> Any:
                return (await reported(*args, **kwargs)).output

            made = answer
    else:
        reported = _blocking(function, settings, start)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def pieces(*args: Any, **kwargs: Any) -> Iterator[Any]:
                yield reported(*args, **kwargs).output

            made = pieces
        else:

            @functools.wraps(function)
            def whole(*args: Any, **kwargs: Any) -> Any:
                return reported(*args, **kwargs).output

            made = whole
    if settings.share < 1:
        made = _sampled(function, made, settings)
    made.with_report = reported
    made.wait = settings.outbox.queue.wait
    return made


def _sampled(function: Callable[..., Any], guarded: Any, settings: Settings) -> Any:
    """Return a function of the same kind that calls one of the two, each time anew."""

    def chosen() -> Any:
        return guarded if settings.checks() else function

    made: Any
    if inspect.isasyncgenfunction(function):

        async def stream(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
            async with aclosing(chosen()(*args, **kwargs)) as pieces:
                async for piece in pieces:
                    yield piece

        made = stream
    elif inspect.iscoroutinefunction(function):

        async def answer(*args: Any, **kwargs: Any) -> Any:
            return await chosen()(*args, **kwargs)

        made = answer
    elif inspect.isgeneratorfunction(function):

        def pieces(*args: Any, **kwargs: Any) -> Iterator[Any]:
            yield from chosen()(*args, **kwargs)

        made = pieces
    else:

        def whole(*args: Any, **kwargs: Any) -> Any:
            return chosen()(*args, **kwargs)

        made = whole
    return functools.wraps(function)(made)


# -- the two drivers ------------------------------------------------------------------------------


def _blocking(
    function: Callable[..., Any], settings: Settings, start: Callable[[Any, Any], _Call]
) -> Callable[..., Any]:
    yields = inspect.isgeneratorfunction(function)

    @functools.wraps(function)
    def reported(*args: Any, **kwargs: Any) -> Reported:
        call = start(args, kwargs)

        def ask(feedback: str | None) -> Any:
            bound = call.arguments(feedback)
            output = fault = None
            try:
                with call.collecting():
                    output = function(*bound.args, **bound.kwargs)
                    if yields:
                        output = call.drained(output)
            except BaseException as error:
                if (fault := withheld(error, call.trace)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            return output

        return drive(call.steps(), settings, ask)

    return reported


def _awaiting(
    function: Callable[..., Any], settings: Settings, start: Callable[[Any, Any], _Call]
) -> Callable[..., Awaitable[Reported]]:
    yields = inspect.isasyncgenfunction(function)

    @functools.wraps(function)
    async def reported(*args: Any, **kwargs: Any) -> Reported:
        call = start(args, kwargs)

        async def ask(feedback: str | None) -> Any:
            bound = call.arguments(feedback)
            output = fault = None
            try:
                with call.collecting():
                    output = function(*bound.args, **bound.kwargs)
                    output = await (call.adrained(output) if yields else output)
            except BaseException as error:
                if (fault := withheld(error, call.trace)) is None:
                    raise
            if fault is not None:  # raised here, where nothing of the error hangs on to it
                raise fault
            return output

        return await adrive(call.steps(), settings, ask)

    return reported


def _by_claim(
    function: Callable[..., Any], settings: Settings, start: Callable[[Any, Any], _Call]
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return a generator whose stream is released claim by claim, and its `with_report`."""
    if inspect.isasyncgenfunction(function):

        def abegin(args: Any, kwargs: Any) -> tuple[StreamCourse, AsyncGenerator[str]]:
            call = start(args, kwargs)
            course = StreamCourse(settings, call.exchange)
            return course, areleased(course, functools.partial(call.apieces, function, course))

        @functools.wraps(function)
        async def astream(*args: Any, **kwargs: Any) -> AsyncIterator[str]:
            async with aclosing(abegin(args, kwargs)[1]) as texts:
                async for text in texts:
                    yield text

        @functools.wraps(function)
        async def areported(*args: Any, **kwargs: Any) -> Reported:
            course, texts = abegin(args, kwargs)
            async with aclosing(texts):
                output = "".join([text async for text in texts])
            return Reported(output, course.record)

        return astream, areported
    if not inspect.isgeneratorfunction(function):
        raise ConfigError(
            "stream='claims' needs a generator or an async generator, which yields the answer "
            "piece by piece: make the function one, or leave `stream` out"
        )

    def begin(args: Any, kwargs: Any) -> tuple[StreamCourse, Generator[str]]:
        call = start(args, kwargs)
        course = StreamCourse(settings, call.exchange)
        return course, released(course, functools.partial(call.pieces, function, course))

    @functools.wraps(function)
    def stream(*args: Any, **kwargs: Any) -> Iterator[str]:
        yield from begin(args, kwargs)[1]

    @functools.wraps(function)
    def reported(*args: Any, **kwargs: Any) -> Reported:
        course, texts = begin(args, kwargs)
        return Reported("".join(texts), course.record)

    return stream, reported


# -- one call, without I/O ------------------------------------------------------------------------


class _Call:
    """One call: what the function is given, and what becomes of what it returns."""

    def __init__(self, settings: Settings, names: _Names, bound: inspect.BoundArguments) -> None:
        self._settings = settings
        self._names = names
        self._bound = bound
        self._found: list[Passage] = []
        self.trace = Trace(started_at=time_now())
        """What the function has written so far, so that no error carries it out."""
        whole = inspect.BoundArguments(bound.signature, bound.arguments.copy())
        whole.apply_defaults()
        given: Any = whole.arguments.get(names.context)
        if isinstance(given, Iterator):  # to be read twice: here, and by the function
            given = bound.arguments[names.context] = list(cast("Iterator[Any]", given))
        self._given = () if given is None else passages_of(given, origin="caller")
        asked = _QUESTIONS if names.question is None else (names.question,)
        texts = (whole.arguments.get(name) for name in asked)
        self._question = next((text for text in texts if isinstance(text, str)), None)
        self._own = frozenset(v for v in whole.arguments.values() if isinstance(v, str))

    def arguments(self, feedback: str | None) -> inspect.BoundArguments:
        """Return what to call the function with."""
        if feedback is not None:
            self._bound.arguments[self._names.feedback] = feedback
        return self._bound

    @contextmanager
    def collecting(self) -> Generator[None]:
        """Take what `saw` is told inside."""
        token = _seen.set(self._found)
        try:
            yield
        finally:
            _seen.reset(token)

    def drained(self, pieces: Generator[Any]) -> Any:
        """Return what a generator yields, in one piece."""
        held: list[Any] = []
        with closing(pieces):
            for piece in pieces:
                self._hold(held, piece)
        return _joined(held)

    async def adrained(self, pieces: AsyncGenerator[Any]) -> Any:
        """Do the same, awaiting."""
        held: list[Any] = []
        async with aclosing(pieces):
            async for piece in pieces:
                self._hold(held, piece)
        return _joined(held)

    def _hold(self, held: list[Any], piece: Any) -> None:
        held.append(piece)
        if isinstance(piece, str):  # should the generator fail, its error may quote it
            self.trace.wrote(piece)

    def pieces(
        self, function: Callable[..., Any], course: StreamCourse, again: Again | None
    ) -> Iterator[str]:
        """Yield the pieces of text of a generator, for a stream by claim."""
        bound, fault = self._bound_again(again), None
        try:
            with self.collecting(), closing(function(*bound.args, **bound.kwargs)) as texts:
                for text in texts:
                    yield _checked_text(text)
        except BaseException as error:
            if (fault := self._withheld(error, course)) is None:
                raise
        if fault is not None:  # raised here, where nothing of the error hangs on to it
            raise fault

    async def apieces(
        self, function: Callable[..., Any], course: StreamCourse, again: Again | None
    ) -> AsyncIterator[str]:
        """Do the same, awaiting."""
        bound, fault = self._bound_again(again), None
        try:
            with self.collecting():
                async with aclosing(function(*bound.args, **bound.kwargs)) as texts:
                    async for text in texts:
                        yield _checked_text(text)
        except BaseException as error:
            if (fault := self._withheld(error, course)) is None:
                raise
        if fault is not None:  # raised here, where nothing of the error hangs on to it
            raise fault

    def _bound_again(self, again: Again | None) -> inspect.BoundArguments:
        if again is None:
            return self.arguments(None)
        self._found += again.passages
        return self.arguments(with_passages(*again))

    def _withheld(self, error: BaseException, course: StreamCourse) -> CaptureError | None:
        self.trace.wrote(course.written)
        return withheld(error, self.trace)

    def exchange(self, text: str) -> Exchange:
        """Return the exchange that a part of a stream makes with what was seen so far."""
        return self._make_exchange(text, ())

    def steps(self) -> Generator[Any, Any, Reported]:
        """Yield what to call the function with, and what to verify; return what goes out.

        Raises:
            UnfaithfulAnswerError: If the answer is held back and there is no fallback.
        """
        course = self._settings.course()
        feedback: str | None = None
        while True:
            output = yield feedback
            texts, beside = self._read(output)
            step, more = yield Verify(course, self._exchange(texts, beside), texts[0])
            if step.action != "regenerate":
                break
            feedback = step.feedback
            self._found += more
        record = course.record()
        self._settings.outbox.tell(record)
        if step.action == "block":
            if self._settings.fallback is None:
                raise UnfaithfulAnswerError(record.decision, record.report, record)
            output = self._with_answer(output, self._settings.fallback)
        elif step.answer is not None:
            output = self._with_answer(output, step.answer)
        return Reported(output, record)

    def _exchange(self, texts: Sequence[str], beside: Sequence[Passage]) -> Exchange:
        for text in texts:
            self.trace.wrote(text)
        return self._make_exchange("\n\n".join(texts), beside)

    def _make_exchange(self, answer: str, beside: Sequence[Passage]) -> Exchange:
        found = [*self._given, *self._found, *beside]
        passages = tuple({passage.text: passage for passage in reversed(found)}.values())[::-1]
        return Exchange(
            id=new_id(),
            answer=answer,
            passages=passages,
            question=self._question,
            context_source=("caller" if self._given else "retrieval") if passages else "none",
            started_at=self.trace.started_at,
        )

    def _read(self, output: Any) -> tuple[list[str], tuple[Passage, ...]]:
        """Return the texts to verify, the answer first, and the passages beside it."""
        if isinstance(output, str):
            return [output], ()
        if _is_pair(output):
            return [output[0]], passages_of(output[1], origin="retriever")
        if _is_answer(output):
            rest = {k: v for k, v in output.items() if k not in ("answer", "context")}
            others = [
                text
                for text in texts_in(rest, strict=True)
                if text.strip() and text not in self._own
            ]
            context: Any = output.get("context")
            beside = () if context is None else passages_of(context, origin="retriever")
            return [output["answer"], *others], beside
        raise CaptureError(
            f"the guarded function returned an object of type {type(output).__name__}: return the "
            "answer as a str, (answer, passages), or a dict with 'answer' and 'context'; a "
            "function that hands on a generator or a coroutine must be one itself"
        )

    def _with_answer(self, output: Any, text: str) -> Any:
        """Return an output of the same form that holds `text`, and nothing that was written."""
        if isinstance(output, str):
            return text
        if _is_pair(output):
            return text, output[1]
        kept = {
            name: value
            for name, value in cast("Mapping[Any, Any]", output).items()
            if name == "context" or self._own.issuperset(texts_in({name: value}))
        }
        return {**kept, "answer": text}


def _is_pair(output: Any) -> bool:
    pair = cast("tuple[Any, ...]", output) if type(output) is tuple else ()
    return len(pair) == 2 and isinstance(pair[0], str)


def _is_answer(output: Any) -> bool:
    return isinstance(output, Mapping) and isinstance(
        cast("Mapping[Any, Any]", output).get("answer"), str
    )


def _checked_text(piece: Any) -> str:
    if not isinstance(piece, str):
        raise CaptureError(
            f"the guarded generator yielded an object of type {type(piece).__name__}: with "
            "stream='claims' it yields strings; its passages are told by faithguard.saw"
        )
    return piece


def _joined(pieces: list[Any]) -> Any:
    """Return what a generator yielded as one answer."""
    if len(pieces) == 1:
        return pieces[0]
    odd = next((piece for piece in pieces if not isinstance(piece, str)), None)
    if odd is not None:
        raise CaptureError(
            f"the guarded generator yielded an object of type {type(odd).__name__} among others: "
            "yield strings, which are joined, or one answer"
        )
    return "".join(pieces)
