"""The course of one guarded stream, without I/O.

In: the pieces of text that a model writes, and the reports of the units that they make. Out: what
to verify, and a `Move` for each unit: what to release, and whether the stream goes on.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from faithguard.claims._growing import GrowingAnswer, Unit
from faithguard.claims._plain import has_words
from faithguard.errors import ConfigError, UnfaithfulAnswerError
from faithguard.guard import Course, Hold, Settings, feedback
from faithguard.policy import decide
from faithguard.repair import Rewrite
from faithguard.repair._antecedents import leans
from faithguard.scorer import Progress, standing, tallied
from faithguard.streaming._written import Stand, Written
from faithguard.types import Attempt, Claim, Decision, Exchange, Passage, Record, Report
from faithguard.verifiers.judge import Judge

__all__ = ["Again", "Move", "StreamCourse"]

_LEFT = "; its reader left before the end"
_BROKE_OFF = "; it broke off before the end"
_CUT = "; the model did not say that this is the end"
_HEADING = re.compile(r"[ \t>]*(#{1,6})\s")
_ENTRY = re.compile(r"\s*\n[ \t>]*(?:[*+•▪●◦‣–—|-]|\d{1,3}[.)]\s)")


class Again(NamedTuple):
    """What a model is asked again with."""

    feedback: str
    """What was wrong; `guard.with_passages` adds the passages to it."""
    passages: tuple[Passage, ...]
    """What `more_context` found since: evidence from now on."""


@dataclass(frozen=True, slots=True)
class Move:
    """What is done after a unit."""

    text: str = ""
    """To be released."""
    ends: bool = False
    """Whether the model's stream is to be closed; `text` is then its fallback, if any."""
    feedback: str | None = None
    """What to ask the model again with, if that is to be done."""


class _Stood(NamedTuple):
    """A course as it stood when a unit began."""

    text: str
    report: Report | None
    last: Report | None
    bad: Report | None
    kept: list[tuple[str, int]]
    written: Stand


class StreamCourse:
    """The course of one guarded stream.

    Args:
        settings: Of the guard; `hold` says what may be held.
        exchange: Returns the exchange that an answer makes with the evidence seen so far.
        may_ask: Whether the model can be asked again.
        run: The call's run in the callbacks of its framework, if it is one.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        settings: Settings,
        exchange: Callable[[str], Exchange],
        *,
        may_ask: bool = True,
        run: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.progress = Progress()
        """What is known of what was released."""
        self.text = ""
        """What was released."""
        self.blocked = False
        """Whether the stream ended with something else than the answer."""
        self.cut = False
        """Whether the model's stream has ended and did not say so; set by who reads it."""
        policy = settings.policy
        self.mends = policy.on_fail == "repair"
        # a bad sentence is not made good by the others
        self._strict = policy.model_copy(
            update={"safe": 1.0, "warning": 1.0, "on_fail": "repair" if self.mends else "block"}
        )
        self._hold = settings.hold or Hold()
        self._exchange = exchange
        self._run = run
        self._clock = clock
        asks = may_ask and policy.on_fail == "regenerate"
        self._most = settings.max_attempts if asks else 1
        self._judge = next((v for v in settings.scorer.verifiers if isinstance(v, Judge)), None)
        self._attempts: list[Attempt] = []
        self._record: Record | None = None
        self._seconds = 0.0
        self._stood: _Stood | None = None
        """Before the unit that is being checked."""
        self.restart()

    def restart(self) -> None:
        """Forget what was written in this attempt, of which nothing may have been released."""
        self._growing = GrowingAnswer(self._hold.chars)
        self._written = Written()
        self._since: float | None = None
        self._last: Report | None = None
        self._bad: Report | None = None
        """Of the answer up to the last unit that did not pass and was left out."""
        self._kept: list[tuple[str, int]] = []
        """What leads to a unit that was left out, and where it was written."""
        self._gone, self._gap = False, ""
        """Whether the last unit was left out, and the white space before it."""

    @property
    def written(self) -> str:
        """What the model wrote in this attempt, what is held included."""
        return self._written.text + self._growing.held

    @property
    def settled(self) -> int:
        """How many characters of `written` have been released or left out."""
        return len(self._written.text)

    def origin(self, place: int) -> int:
        """Return where in `written` what stands at a place of `text` comes from."""
        return self._written.place(place)

    @property
    def report(self) -> Report:
        """The report of all that was written in the last attempt that has ended."""
        return self._attempts[-1].report

    @property
    def record(self) -> Record:
        """What became of the stream, once it has ended.

        Raises:
            ConfigError: If it has not.
        """
        if self._record is None:
            raise ConfigError("the stream has not ended: read it to its end first")
        return self._record

    # -- units ------------------------------------------------------------------------------------

    def add(self, piece: str) -> Iterator[Unit]:
        """Take what the model wrote; yield the units that are over."""
        yield from self._growing.add(piece)
        if not self._growing.holds:
            self._since = None
        elif self._since is None:
            self._since = self._clock()

    def rest(self) -> Iterator[Unit]:
        """Yield what is left when the model has ended."""
        unit = self._growing.rest()
        if unit is not None or not self._written.text:
            yield unit or Unit("")

    def waits(self) -> None:
        """Say that the model is waited for from now on."""
        if self._since is not None:
            self._since = self._clock()

    def patience(self) -> float:
        """Return the seconds for which it may be waited for."""
        waited = 0.0 if self._since is None else self._clock() - self._since
        return self._hold.seconds - waited

    def overdue(self) -> Unit | None:
        """Return what is held if it has been for too long: a unit that is over, or all of it."""
        if self._since is None or self.patience() > 0:
            return None
        unit = self._growing.paused()
        # what began after a unit that is over has not been held for as long
        self._since = self._clock() if unit is not None and self._growing.holds else None
        return unit or self._growing.rest(whole=False)

    # -- one unit ---------------------------------------------------------------------------------

    def check(self, unit: Unit) -> Generator[Exchange | Rewrite, Any, Move]:
        """Yield what to verify (after `progress`) or to ask a judge's model; return what to do.

        Who has the move calls `moved`; if that does not come about, the unit was not checked.
        """
        self._stood = _Stood(
            self.text,
            self.progress.report,
            self._last,
            self._bad,
            self._kept[:],
            self._written.stand(),
        )
        self._leads_still(unit)
        begin = self._written.wrote(unit.text)
        bare = unit.text.lstrip()
        gap = unit.text[: len(unit.text) - len(bare)]
        space = self._spaced(gap)
        lead = sum(len(piece) for piece, _ in self._kept)
        lead += len(space) - len(gap) + unit.lead if unit.lead else 0
        at, text = len(self.text), ""
        for piece, own in [*self._kept, (space, begin), (bare, begin + len(gap))]:
            self._written.follows(at + len(text), own)
            text += piece
        if self.progress.report is not None and not text.strip():
            self._written.changed_space(begin, gap, space)
            return self._release(text, self.progress.report)
        report: Report = yield self._exchange(self.text + text)
        self._last = self._timed(report)
        known = self.progress.report
        claims = report.claims[0 if known is None else len(known.claims) :]
        self._written.found(claims)
        course = Course(self._strict, max_attempts=1)
        step = course.settle(report, judge=self._judge)
        if not unit.whole and self._strict.on_failure == "closed":
            return self._stop(report, begin, why=self._too_long())
        leans_on_nothing = self._leans(unit, claims)
        if step.action == "deliver":
            if leans_on_nothing:
                return self._leave_out(unit, begin, claims)
            self._written.changed_space(begin, gap, space)
            return self._release(text, report)
        if not self.mends or report.outcome != "scored":
            return self._stop(report, begin)
        while step.call is not None and not leans_on_nothing:
            if isinstance(step.call, Rewrite):
                step = course.rewritten(step.call, (yield step.call))
            elif step.call.answer.startswith(self.text):
                step = course.settle(self._timed((yield step.call)))
            else:
                break
        mended = "" if step.answer is None else step.answer[len(self.text) :]
        if has_words(mended.removeprefix(text[:lead])):
            record = course.record()
            self._written.changed_space(begin, gap, space)
            first = self._kept[0][1] if self._kept else begin
            self._written.changed(record.repairs, first, mended)
            return self._release(mended, record.report)
        self._bad = report
        return self._leave_out(unit, begin, claims)

    def moved(self) -> None:
        """Say that what `check` returned is being done."""
        self._stood = None

    def _timed(self, report: Report) -> Report:
        known = self.progress.report
        self._seconds += report.usage.seconds - (known.usage.seconds if known is not None else 0.0)
        return report

    def _leans(self, unit: Unit, claims: Sequence[Claim]) -> bool:
        """Say whether a unit begins with a word that meant what was left out before it."""
        if not self._gone or unit.text[:1] in "\r\n" or not leans(unit.text):
            return False
        before = () if self.progress.report is None else self.progress.report.claims[-1:]
        # where both rest on one passage, it means what that is about
        first, second = (
            {evidence.passage for claim in some for evidence in claim.evidence[:1]}
            for some in (before, claims)
        )
        return not first & second

    def _leads_still(self, unit: Unit) -> None:
        """Leave out what led to a unit that was left out, unless it leads to the next one too."""
        if not self._kept:
            return
        last = self._kept[-1][0]
        title, own = _HEADING.match(last.lstrip()), _HEADING.match(unit.text[: unit.lead].lstrip())
        if title is not None:
            stays = own is None or len(own[1]) > len(title[1])
        else:  # a head of a table, "The plan includes:"
            stays = not unit.lead and (
                "\n" not in unit.text.rstrip() or _ENTRY.match(unit.text) is not None
            )
        if not stays:
            self._forget_leads()

    def _forget_leads(self) -> None:
        for text, own in self._kept:
            self._written.left_out(own, own + len(text))
        self._kept = []

    def _spaced(self, gap: str) -> str:
        """Return the white space before a unit; what was left out before it may have had more."""
        if not self._gone:
            return gap
        if not self.text and not self._kept:
            return ""
        return max(gap, self._gap, key=_lines)

    def _leave_out(self, unit: Unit, begin: int, claims: Sequence[Claim]) -> Move:
        """Release nothing of a unit, and go on."""
        evidence = dict.fromkeys(
            found for claim in claims if claim.label == "contradicted" for found in claim.evidence
        )
        self._written.left_out(begin + unit.lead, begin + len(unit.text), tuple(evidence))
        if unit.lead:
            self._kept.append((unit.text[: unit.lead], begin))
        body = unit.text[unit.lead :]
        gap = body[: len(body) - len(body.lstrip())]
        self._gap = max(gap, self._gap, key=_lines) if self._gone and not unit.lead else gap
        self._gone = True
        return Move()

    def _release(self, text: str, report: Report) -> Move:
        self.text += text
        exchange = replace(report.exchange, answer=self.text)
        self.progress.report = replace(report, exchange=exchange)
        self._kept, self._gone = [], False
        return Move(text)

    def _too_long(self) -> str:
        most = f"{self._hold.chars} characters and {self._hold.seconds:g} seconds"
        return f"no sentence, item or row ended within {most}"

    # -- the end ----------------------------------------------------------------------------------

    def finish(self) -> Move:
        """Return what to do once all units are settled."""
        self._forget_leads()
        report = self.progress.report
        if self._bad is not None and not has_words(self.text):
            return self._stop(self._bad, len(self._written.text), told="; nothing is left of it")
        if report is None:
            raise ConfigError("the stream has not begun: read it first")
        # why the model ended may have come after its last sentence
        reason = self._exchange(self.text).finish_reason
        if self._last is not None:
            self._last = _ended_by(self._last, reason)
        self._end(_ended_by(report, reason), _CUT if self.cut else "")
        return Move(ends=True)

    def left(self, error: BaseException) -> Record | None:
        """Take that the stream ends before its time; return the record of what was checked.

        There is none where no unit was done with.

        Args:
            error: What ended it, on the side of its reader or of its model.
        """
        if self._record is not None:
            return self._record
        if (stood := self._stood) is not None:
            self.text, self.progress.report, self._last, self._bad, self._kept, written = stood
            self._written.back(written)
        told = _LEFT if _is_leaving(error) else _BROKE_OFF
        if self._last is not None:
            self._forget_leads()
            nothing = tallied(replace(self._last, claims=(), failures=()))
            self._end(self.progress.report or nothing, told)
        elif self._attempts:
            self._record_block("", told)
        return self._record

    def _stop(self, report: Report, begin: int, *, why: str = "", told: str = "") -> Move:
        """Do what is to be done about a unit that does not pass.

        Args:
            report: Of the answer up to its end.
            begin: Where, of what was written, it begins.
            why: Why it does not pass, if the report does not say so.
            told: What else is to be said of that.
        """
        if self.mends:
            self._forget_leads()
            self._written.left_out(begin, len(self._written.text))
        self._tried(report)
        if not self.text and len(self._attempts) < self._most:
            self.restart()
            return Move(ends=True, feedback=feedback(report))
        told += f" after {len(self._attempts)} attempts" if len(self._attempts) > 1 else ""
        told += "; what came before it was released" if self.text else ""
        self.blocked = True
        self._record_block(why, told)
        fallback = self.settings.fallback
        if not isinstance(fallback, str):
            return Move(ends=True)
        apart = "\n\n" if self.text.strip() else ""
        return Move(apart + fallback, ends=True)

    def _end(self, report: Report, told: str = "") -> None:
        """Note what became of a stream of which nothing was held back."""
        decision = decide(report, self._strict)
        if changes := sum(has_words(r.before) for r in self._written.repairs):
            mended = f"; mended by {changes} change{'' if changes == 1 else 's'}"
            decision = replace(decision, action="repair", reason=decision.reason + mended)
        self._tried(self._last or report)
        exchange = replace(report.exchange, answer=self.text)
        self._record_as(
            tallied(replace(report, exchange=exchange)),
            replace(decision, reason=decision.reason + told),
        )

    def _record_block(self, why: str, told: str) -> None:
        """Note that what was checked last did not pass."""
        decision = decide(self.report, self._strict)
        reason = (why or decision.reason) + told
        self._record_as(
            self.report,
            replace(decision, passed=False, action="block", reason=reason),
            released=self.text,
        )

    def _tried(self, report: Report) -> None:
        """Note an attempt: all that was written, with its claims."""
        exchange = replace(report.exchange, answer=self._written.text)
        claims = tuple(
            replace(claim, evidence=standing(claim.evidence, exchange))
            for claim in self._written.claims
        )
        told = tallied(replace(report, exchange=exchange, claims=claims))
        if report.outcome == "failed" != tallied(report).outcome:
            # a stage failed before there were claims to tell it
            told = replace(told, outcome="failed", score=None, bounds=None)
        self._attempts.append(Attempt(exchange=exchange, report=told))

    def _record_as(
        self, report: Report, decision: Decision, *, released: str | None = None
    ) -> None:
        self._record = Record(
            exchange=report.exchange,
            report=report,
            decision=decision,
            attempts=tuple(self._attempts),
            repairs=tuple(
                replace(repair, evidence=standing(repair.evidence, report.exchange))
                for repair in self._written.repairs
            ),
            released=released,
            versions=report.versions,
            timings={"verify": self._seconds},
        )
        self.settings.outbox.tell(self._record, self._run)

    def raise_if_blocked(self) -> None:
        """Raise where a blocked caller gets nothing else.

        Raises:
            UnfaithfulAnswerError: If the stream was blocked and there is no fallback.
        """
        if self.blocked and self.settings.fallback is None:
            record = self.record
            raise UnfaithfulAnswerError(record.decision, record.report, record)


def _lines(space: str) -> int:
    return space.count("\n")


def _ended_by(report: Report, reason: str | None) -> Report:
    return replace(report, exchange=replace(report.exchange, finish_reason=reason))


def _is_leaving(error: BaseException) -> bool:
    """Say whether what ended a stream came from its reader; models are cancelled, too."""
    if not isinstance(error, asyncio.CancelledError):
        return isinstance(error, GeneratorExit)
    try:
        task = asyncio.current_task()
    except RuntimeError:  # there is no event loop
        return False
    return task is not None and task.cancelling() > 0
