"""Around a call that writes an answer, decide after each attempt what to do.

`Course`: the course of one guarded call, without I/O. In: the report of each attempt. Out: a
`Step`: deliver, block, mend, or ask again with feedback. `settled` and `asettled` take a course
from an answer to its next step: they verify, and mend where that is what is to be done.
Frameworks' guards make the other calls; what they share beside that (settings, drivers, what an
output is marked with, errors that would leak) is here too.
"""

from __future__ import annotations

import math
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable, iscoroutine
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar, cast

from faithguard._offload import offload
from faithguard._rates import warn_of_rates
from faithguard.capture import Trace, new_id, passages_of
from faithguard.chat import Completion
from faithguard.errors import CaptureError, ConfigError, JudgeError, UnfaithfulAnswerError
from faithguard.policy import Policy, decide, resolve
from faithguard.repair import Mending, Rewrite
from faithguard.sampling import checked_share, takes
from faithguard.scorer import Scorer, chosen_scorer
from faithguard.sinks import AnySink
from faithguard.types import Attempt, Claim, Decision, Exchange, Passage, Record, Report
from faithguard.verifiers.judge import Judge
from faithguard.watch import Outbox

__all__ = [
    "ATTEMPTS",
    "Course",
    "Hold",
    "MoreContext",
    "OnFail",
    "Reported",
    "Settings",
    "Step",
    "Stream",
    "Verify",
    "adrive",
    "amore_passages",
    "asettled",
    "attempts",
    "checked_fallback",
    "checked_more",
    "checked_stream",
    "course_policy",
    "drive",
    "feedback",
    "guard_scorer",
    "more_passages",
    "note_of",
    "settled",
    "with_passages",
    "withheld",
    "wrong_in",
]

OnFail = Literal["block", "flag", "regenerate", "repair"]
"""What a guard does with an answer that does not pass: hold it back, deliver it flagged, have it
written again, or correct or leave out what failed; what is written or mended is verified again."""

Stream = Literal["answer", "claims"]
"""What a stream holds back until it is verified: the whole answer, or each sentence, item or row
of it. The second is stricter than a score: every claim must be supported."""

ATTEMPTS = 2
"""Answers to have written at most, where the caller does not say."""

_MOST_NAMED = 20
"""Claims named in one feedback; more would be another answer."""

_MOST_QUOTES, _LONGEST_QUOTE = 2, 500
"""Of what the context says instead of one claim: how many, and in characters."""

_NONE: Mapping[str, type] = MappingProxyType({})

T = TypeVar("T")


def course_policy(
    domain: str | Policy | None, on_fail: str | None, *, repairs: bool = False
) -> Policy:
    """Return the policy of a guard, with `on_fail` from code if it is given.

    Args:
        domain: The domain, or a policy.
        on_fail: What to do with an answer that does not pass.
        repairs: Whether the guard delivers a mended answer (`Step.answer`).

    Raises:
        ConfigError: If the domain is unknown or the guard cannot do what `on_fail` says.
    """
    policy = resolve(domain)
    wanted = on_fail or policy.on_fail
    known = ("block", "flag", "regenerate", *(("repair",) if repairs else ()))
    if wanted not in known:
        told = ", ".join(map(repr, known[:-1]))
        raise ConfigError(f"`on_fail` is {wanted!r}: this guard can do {told} and {known[-1]!r}")
    return policy if on_fail is None else policy.model_copy(update={"on_fail": on_fail})


def guard_scorer(policy: Policy, scorer: Scorer | None, judge: Judge | None) -> Scorer:
    """Return the scorer of a guard; where local verifiers alone decide too much, say so once.

    Raises:
        ConfigError: If both are named, or what is said to be one of them is none.
    """
    chosen = chosen_scorer(scorer, judge)
    warn_of_rates(policy, chosen)
    return chosen


def attempts(given: object, policy: Policy) -> int:
    """Return how many answers a guard may have written.

    Raises:
        ConfigError: If `given` is no number for that, or the policy asks once.
    """
    if given is None:
        return ATTEMPTS
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise ConfigError(f"`max_attempts` is {given!r}: it must be a whole number, 1 or more")
    if policy.on_fail != "regenerate":
        raise ConfigError(
            f"`max_attempts` is {given!r}, but on_fail={policy.on_fail!r} asks once: leave it out, "
            "or use on_fail='regenerate'"
        )
    return given


def checked_fallback(given: object, policy: Policy, others: Mapping[str, type] = _NONE) -> None:
    """Check what a blocked caller is to get in the place of the answer.

    Args:
        given: The fallback, or None.
        policy: Of the guard.
        others: What the guard can deliver beside a text, by how a message calls it.

    Raises:
        ConfigError: If it is something else, or would never be used: with "flag", which delivers
            every answer.
    """
    if given is None:
        return
    if not isinstance(given, (str, *others.values())):
        wanted = " or ".join(["a str", *others])
        raise ConfigError(f"`fallback` is of type {type(given).__name__}: pass {wanted}")
    if policy.on_fail == "flag":
        raise ConfigError(
            "`fallback` would never be used: on_fail='flag' delivers every answer; leave it out, "
            "or use on_fail='block'"
        )


@dataclass(frozen=True, slots=True)
class Hold:
    """How much of an answer a stream by claim holds back that neither ends nor can be verified.

    What goes beyond it is a failure: the stream is blocked, unless the policy fails open; then
    what is held is verified as it stands. A sentence, item or row that has ended, for all that
    can be seen, and only waits for the word after it, is verified when its seconds are over.
    """

    chars: int = 4_000
    """Characters without the end of a sentence, item, row or block of code."""
    seconds: float = 60.0
    """Seconds to wait for that end; a blocking stream looks at them whenever the model writes."""


def checked_stream(
    stream: object, policy: Policy, max_hold_chars: object = None, max_hold_seconds: object = None
) -> Hold | None:
    """Check how a guard streams; return what one that releases claims may hold, None for others.

    Args:
        stream: "answer" or "claims".
        policy: Of the guard.
        max_hold_chars: See `Hold`.
        max_hold_seconds: See `Hold`.

    Raises:
        ConfigError: If a setting cannot be used, or would never be.
    """
    bounds = {"max_hold_chars": max_hold_chars, "max_hold_seconds": max_hold_seconds}
    given = {name: bound for name, bound in bounds.items() if bound is not None}
    if stream not in ("answer", "claims"):
        raise ConfigError(
            f"`stream` is {stream!r}: use 'answer', which holds the whole answer, or 'claims'"
        )
    if stream == "answer":
        for name, bound in given.items():
            raise ConfigError(
                f"`{name}` is {bound!r}, but the whole answer is held: leave it out, or use "
                "stream='claims'"
            )
        return None
    if policy.on_fail == "flag":
        raise ConfigError(
            "stream='claims' would hold nothing with on_fail='flag': leave `stream` out, or use "
            "on_fail='block' or on_fail='repair'"
        )
    for name, bound in given.items():
        whole = isinstance(bound, int) and not isinstance(bound, bool)
        if not (whole or (name == "max_hold_seconds" and isinstance(bound, float))) or not (
            0 < cast(float, bound) < math.inf
        ):
            kind = "a whole number" if name == "max_hold_chars" else "a number"
            raise ConfigError(f"`{name}` is {bound!r}: it must be {kind} above 0")
    return Hold(
        **{name.removeprefix("max_hold_"): cast(Any, bound) for name, bound in given.items()}
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """What a guard was told, checked."""

    policy: Policy
    fallback: Any
    """What a blocked caller gets in the place of the answer."""
    max_attempts: int
    more_context: MoreContext | None
    outbox: Outbox
    scorer: Scorer
    share: float
    """Of the calls that are checked; the others pass as they are."""
    hold: Hold | None = None
    """What may be held of a stream that is released claim by claim; None if it is held whole."""

    @classmethod
    def of(
        cls,
        *,
        domain: str | Policy | None,
        on_fail: OnFail | None,
        fallback: object,
        max_attempts: int | None,
        more_context: MoreContext | None,
        on_report: Callable[[Report], object] | None,
        sinks: Sequence[AnySink] | None,
        scorer: Scorer | None,
        judge: Judge | None,
        sample: float | None = None,
        fallbacks: Mapping[str, type] = _NONE,
        stream: Stream = "answer",
        max_hold_chars: int | None = None,
        max_hold_seconds: float | None = None,
    ) -> Self:
        """Check what a guard was told; `fallbacks` is what it can deliver as one beside a text.

        Raises:
            ConfigError: If a setting cannot be used.
        """
        policy = course_policy(domain, on_fail, repairs=True)
        checked_fallback(fallback, policy, fallbacks)
        checked_more(more_context, policy)
        return cls(
            policy=policy,
            fallback=fallback,
            max_attempts=attempts(max_attempts, policy),
            more_context=more_context,
            outbox=Outbox(sinks, on_report=on_report),
            scorer=guard_scorer(policy, scorer, judge),
            share=checked_share(sample, on_fail=policy.on_fail),
            hold=checked_stream(stream, policy, max_hold_chars, max_hold_seconds),
        )

    def checks(self, run: str | None = None) -> bool:
        """Say whether a run is checked; each call is a run of its own where there is no other."""
        return takes(self.share, run or new_id())

    def course(self, *, may_ask: bool = True) -> Course:
        """Return the course of one call."""
        return Course(self.policy, max_attempts=self.max_attempts, may_ask=may_ask)


class Verify(NamedTuple):
    """What a call without I/O yields to have an answer verified.

    It is sent the `Step`, and the passages that were found since for the claims that failed, if
    it is to ask again: they are evidence from then on.
    """

    course: Course
    exchange: Exchange
    answer: str | None = None
    """What a mended answer can stand in the place of; see `settled`."""


def drive(steps: Generator[Any, Any, T], settings: Settings, ask: Callable[[Any], Any]) -> T:
    """Make a guarded call, blocking.

    Args:
        steps: The call without I/O: yields a `Verify`, or anything else and is sent what `ask`
            returns for it.
        settings: Of the guard.
        ask: Calls what is guarded.
    """
    reply: Any = None
    while True:
        try:
            wanted = steps.send(reply)
        except StopIteration as end:
            return cast("T", end.value)
        if isinstance(wanted, Verify):
            course, exchange, answer = wanted
            step = settled(course, settings.scorer, exchange, answer=answer)
            more: tuple[Passage, ...] = ()
            if step.feedback is not None:
                more = more_passages(settings.more_context, course.report.unsupported)
            reply = _told(step, more), more
        else:
            reply = ask(wanted)


async def adrive(
    steps: Generator[Any, Any, T], settings: Settings, ask: Callable[[Any], Awaitable[Any]]
) -> T:
    """Do the same, awaiting."""
    reply: Any = None
    while True:
        try:
            wanted = steps.send(reply)
        except StopIteration as end:
            return cast("T", end.value)
        if isinstance(wanted, Verify):
            course, exchange, answer = wanted
            step = await asettled(course, settings.scorer, exchange, answer=answer)
            more: tuple[Passage, ...] = ()
            if step.feedback is not None:
                more = await amore_passages(settings.more_context, course.report.unsupported)
            reply = _told(step, more), more
        else:
            reply = await ask(wanted)


def _told(step: Step, more: Sequence[Passage]) -> Step:
    """Return a step whose feedback says, too, what was found since."""
    if step.feedback is None:
        return step
    return replace(step, feedback=with_passages(step.feedback, more))


class Reported(NamedTuple):
    """What `with_report()` returns: what the caller gets, and the record of how it came about."""

    output: Any
    record: Record

    @property
    def report(self) -> Report:
        """The report of the last attempt."""
        return self.record.report


@dataclass(frozen=True, slots=True)
class Step:
    """What to do after an attempt."""

    action: Literal["deliver", "block", "regenerate", "repair"]
    """`repair`: make `call`. `settled` and `asettled` do, and return one of the others."""
    decision: Decision
    feedback: str | None = None
    """What to tell the model, with `regenerate`."""
    answer: str | None = None
    """What to deliver in the place of the answer, with `deliver` after a repair."""
    call: Exchange | Rewrite | None = None
    """With `repair`: what to verify, or a question to a judge's model."""


class Course:
    """The attempts of one guarded call.

    Args:
        policy: Decides on each attempt.
        max_attempts: Answers to have written at most, the first one included.
        may_ask: Whether the guard can ask the model again.
    """

    def __init__(self, policy: Policy, *, max_attempts: int, may_ask: bool = True) -> None:
        self._policy = policy
        self._most = max_attempts if may_ask and policy.on_fail == "regenerate" else 1
        self._attempts: list[Attempt] = []
        self._decision: Decision | None = None
        self._mending: Mending | None = None
        self._mended: Report | None = None
        self._seconds = 0.0

    @property
    def report(self) -> Report:
        """The report of the last attempt."""
        return self._attempts[-1].report

    @property
    def mends(self) -> bool:
        """Whether an answer that does not pass is mended."""
        return self._policy.on_fail == "repair"

    def settle(
        self, report: Report, *, upto: int | None = None, judge: Judge | None = None
    ) -> Step:
        """Take a report and say what to do; every attempt comes here, and all that is mended.

        Args:
            report: Of an attempt, or of the exchange of the last step's `call`.
            upto: Where the part of the exchange's answer ends that can be delivered after a
                repair; all of it by default.
            judge: Whose model a repair may ask once.
        """
        self._seconds += report.usage.seconds
        if self._mending is not None:
            return self._settle_mended(self._mending, report)
        self._attempts.append(Attempt(exchange=report.exchange, report=report))
        decision = decide(report, self._policy)
        if decision.passed or self._policy.on_fail == "flag":
            self._decision = decision
            return Step("deliver", decision)
        if self.mends and report.outcome == "scored":
            conflicting = self._policy.on_conflict == "unsupported"
            self._mending = Mending(report, upto=upto, judge=judge, conflicting=conflicting)
            return self._mend(self._mending)
        if len(self._attempts) < self._most:
            return Step("regenerate", decision, feedback(report))
        # the last attempt is verified too, and does not pass
        tries = f" after {len(self._attempts)} attempts" if len(self._attempts) > 1 else ""
        return self._block(decision, tries)

    def rewritten(self, call: Rewrite, reply: Completion | JudgeError) -> Step:
        """Take what a judge's model wrote for the parts that the last step asked for."""
        if self._mending is None:
            raise ConfigError("nothing is being mended: settle a report first")
        self._mending.rewritten(call, reply)
        return self._mend(self._mending)

    def _mend(self, mending: Mending) -> Step:
        decision = decide(self._attempts[-1].report, self._policy)
        call = mending.todo()
        if call is None:
            return self._block(decision, "; it could not be mended")
        return Step("repair", decision, call=call)

    def _settle_mended(self, mending: Mending, report: Report) -> Step:
        decision = decide(report, self._policy)
        # stricter than the policy: nothing unsupported is left, nor anything lost
        if not mending.verified(report) or not decision.passed:
            return self._mend(mending)
        self._mended = report
        changes = len(mending.repairs)
        told = f"; mended by {changes} change{'' if changes == 1 else 's'}"
        self._decision = replace(decision, action="repair", reason=decision.reason + told)
        return Step("deliver", self._decision, answer=report.exchange.answer)

    def _block(self, decision: Decision, why: str) -> Step:
        self._decision = replace(decision, action="block", reason=decision.reason + why)
        return Step("block", self._decision)

    def record(self, timings: Mapping[str, float] | None = None) -> Record:
        """Return what is kept of the call; only after a step that ends it."""
        last = self._attempts[-1]
        if self._decision is None:
            raise ConfigError("the course has not ended: settle its last report first")
        report = self._mended or last.report
        mended = self._mending is not None and self._mended is not None
        return Record(
            exchange=report.exchange,
            report=report,
            decision=self._decision,
            attempts=tuple(self._attempts),
            repairs=self._mending.repairs if self._mending is not None and mended else (),
            versions=report.versions,
            timings=dict(timings or {}) | {"verify": self._seconds},
        )


def settled(
    course: Course, scorer: Scorer, exchange: Exchange, *, answer: str | None = None
) -> Step:
    """Verify an attempt, mend it where the policy says so, and return what to do; blocking.

    Args:
        course: Of the call.
        scorer: The cascade; its judge, if it has one, may be asked to write parts again.
        exchange: Of the attempt.
        answer: The part that the exchange's answer begins with and that a mended one replaces;
            all of it by default, none of it if empty. What stands after it is not delivered
            after a repair.
    """
    more = _more(course, scorer, answer)
    step = course.settle(scorer.score(exchange), **more)
    while step.call is not None:
        if isinstance(step.call, Rewrite):
            step = course.rewritten(step.call, step.call.ask())
        else:
            step = course.settle(scorer.score(step.call))
    return step


async def asettled(
    course: Course, scorer: Scorer, exchange: Exchange, *, answer: str | None = None
) -> Step:
    """Do the same without blocking the event loop."""
    report = await scorer.ascore(exchange)
    if not course.mends:
        return course.settle(report)
    # what to change keeps a core busy
    step = await offload(course.settle, report, **_more(course, scorer, answer))
    while step.call is not None:
        if isinstance(step.call, Rewrite):
            step = course.rewritten(step.call, await step.call.aask())
        else:
            step = await offload(course.settle, await scorer.ascore(step.call))
    return step


def _more(course: Course, scorer: Scorer, answer: str | None) -> dict[str, Any]:
    if not course.mends:
        return {}
    judge = next((v for v in scorer.verifiers if isinstance(v, Judge)), None)
    return {"upto": None if answer is None else len(answer), "judge": judge}


def feedback(report: Report) -> str:
    """Return what to tell a model whose answer did not pass: which claims, and why."""
    if report.outcome in ("failed", "incomplete", "no_context"):
        problem = "Your answer could not be verified against the context."
    else:
        problem = "The context does not support everything in your answer."
    named = [
        f"- {' '.join(claim.text.split())} ({_complaint(claim)})"
        for claim in report.unsupported[:_MOST_NAMED]
    ]
    return "\n".join(
        [
            problem,
            *(["These statements are not supported:", *named] if named else []),
            "Answer the question again, in the same language and form, with statements that the "
            "context makes, and with nothing else. If the context does not answer it, say so. "
            "Do not mention this request.",
        ]
    )


def _complaint(claim: Claim) -> str:
    if claim.label != "contradicted":
        return "the context does not say it"
    said = [" ".join(evidence.quote.split()) for evidence in claim.evidence[:_MOST_QUOTES]]
    told = " / ".join(quote for quote in said if len(quote) <= _LONGEST_QUOTE)
    return f"the context says otherwise: {told}" if told else "the context says otherwise"


MoreContext: TypeAlias = Callable[[tuple[Claim, ...]], Any]
"""Called with the unsupported claims before a model is asked again; what it returns, at once or
awaited, is read as `check` reads context, and None as nothing."""


def checked_more(hook: object, policy: Policy) -> None:
    """Check a guard's `more_context`.

    Raises:
        ConfigError: If it cannot be called, or is never to be.
    """
    if hook is None:
        return
    if not callable(hook):
        raise ConfigError(
            f"`more_context` is of type {type(hook).__name__}: pass a function that takes the "
            "unsupported claims and returns passages"
        )
    if policy.on_fail != "regenerate":
        raise ConfigError(
            f"`more_context` would never be called: on_fail={policy.on_fail!r} asks once; leave "
            "it out, or use on_fail='regenerate'"
        )


def more_passages(hook: MoreContext | None, claims: tuple[Claim, ...]) -> tuple[Passage, ...]:
    """Return the passages that a hook finds for unsupported claims; blocking.

    Raises:
        ConfigError: If the hook is to be awaited.
        CaptureError: If what it returns has no text.
    """
    found = hook(claims) if hook is not None else None
    if isawaitable(found):
        if iscoroutine(found):
            found.close()
        raise ConfigError(
            "`more_context` returns an awaitable, which a blocking call cannot await: call the "
            "guard asynchronously, or pass a plain function"
        )
    return _read_more(found)


async def amore_passages(
    hook: MoreContext | None, claims: tuple[Claim, ...]
) -> tuple[Passage, ...]:
    """Do the same without blocking the event loop; takes hooks of both kinds."""
    found = hook(claims) if hook is not None else None
    return _read_more(await found if isawaitable(found) else found)


def _read_more(found: Any) -> tuple[Passage, ...]:
    return () if found is None else passages_of(found, origin="retriever")


def with_passages(feedback: str, passages: Sequence[Passage]) -> str:
    """Return what to send a model: the feedback, and what was found since.

    A trace is told of the feedback alone (`Trace.added`): the passages are evidence.
    """
    texts = [passage.text for passage in passages if passage.text.strip()]
    return "\n\n".join([feedback, "More context:", *texts]) if texts else feedback


def wrong_in(report: Report) -> list[str]:
    """Return the stretches of an answer whose claims are not supported, to find their writer."""
    answer = report.exchange.answer
    return [answer[slice(*claim.span)] for claim in report.unsupported]


def note_of(record: Record) -> dict[str, Any]:
    """Return what an output may be marked with: the decision, and no text of the answer."""
    return {
        "passed": record.decision.passed,
        "action": record.decision.action,
        "level": record.decision.level,
        "domain": record.decision.domain,
        "attempts": len(record.attempts),
        "score": record.report.score,
        "supported": record.report.supported,
        "total": record.report.total,
        "reason": record.decision.reason,
    }


def withheld(error: BaseException, trace: Trace) -> CaptureError | None:
    """Return what to raise instead of an error that carries what a model wrote; None for others.

    A parser that fails puts the whole text into its message; causes, notes and attributes carry
    it as well.
    """
    if isinstance(error, UnfaithfulAnswerError | KeyboardInterrupt | CancelledError):
        return None
    try:
        quotes = trace.quoted_in(_everything_in(error))
    except Exception:  # what it holds cannot be told
        quotes = True
    if not quotes:
        return None
    return CaptureError(
        f"what is guarded raised {type(error).__name__}, which quotes an answer that was not "
        "verified and is withheld; run it without the guard to see it"
    )


def _everything_in(error: BaseException) -> str:
    """Return all texts that an error carries: its own, its attributes', causes' and members'."""
    seen: set[int] = set()
    open_: list[BaseException | None] = [error]
    texts: list[str] = []
    while open_:
        current = open_.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        texts += [str(current), repr(current.args), repr(vars(current))]  # may raise
        open_ += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            open_ += cast("BaseExceptionGroup[BaseException]", current).exceptions
    return "\n".join(texts)
