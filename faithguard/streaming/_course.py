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
from itertools import pairwise
from typing import Any, NamedTuple

from faithguard._plan import part_to_read
from faithguard._reasoning import without_reasoning
from faithguard.claims._growing import GrowingAnswer, Unit
from faithguard.claims._local import Reading, hangs, readings
from faithguard.claims._plain import has_words
from faithguard.errors import ConfigError, UnfaithfulAnswerError
from faithguard.guard import Course, Hold, Settings, feedback
from faithguard.policy import BROKE_OFF, CUT, LEFT, decide
from faithguard.repair import Rewrite
from faithguard.repair._antecedents import is_replaceable, leans
from faithguard.repair._cuts import balanced
from faithguard.scorer import Progress, standing, tallied
from faithguard.streaming._leads import Lead, choices, narrowed, wider
from faithguard.streaming._numbering import Mark, Numbering
from faithguard.streaming._written import Stand, Written
from faithguard.types import Attempt, Claim, Decision, Exchange, Passage, Record, Report
from faithguard.verifiers.judge import Judge

__all__ = ["Again", "Move", "StreamCourse"]

_PLACE = re.compile(r"\(?\d{1,3}[.)][ \t]+")
_MARKER = re.compile(rf"[*+•▪●◦‣–—-][ \t]+|{_PLACE.pattern}")

_HALF = "what does not pass shares quotation marks, brackets or mark-up with what is kept"

_CODE = 4
"""Spaces from which a line that begins a text is code."""


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
    kept: list[Lead]
    written: Stand


class _Bit(NamedTuple):
    """A piece of what was written, and what is released in its place."""

    own: int
    """Where it was written."""
    before: str
    after: str


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
        self._growing = GrowingAnswer(self._hold.chars, self._hangs)
        self._written = Written()
        self._since: float | None = None
        self._last: Report | None = None
        self._bad: Report | None = None
        """Of the answer up to the last unit that did not pass and was left out."""
        self._kept: list[Lead] = []
        """What leads to a unit that was left out."""
        self._gone, self._gap = False, ""
        """Whether the last unit was left out, and the white space before it."""
        self._marker, self._marker_marks = "", list[Mark]()
        """Of the item that began with what was left out, and may go on; and its number."""
        self._numbering = Numbering()
        self._under: int | None = None
        """How many lists a unit lies in that was left out, and of which all that follows lies
        in more."""

    def _hangs(self, text: str) -> bool | None:
        return hangs(without_reasoning(text), self._exchange("").question)

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
        begin = self._written.wrote(unit.text)
        changed = bool(self._kept or self._written.repairs)
        misled = changed and self._numbering.misleads(unit.text, self.text)
        marks = self._numbering.read(unit.text, fresh=self._begins_line(begin))
        astray = self.mends and changed and (misled or not self._fits(unit, begin, marks))
        bits, lead, used = self._bits(unit, begin, marks)
        at, text = len(self.text), ""
        for bit in bits:
            self._written.follows(at + len(text), bit.own)
            text += bit.after
        if self.progress.report is not None and not text.strip():
            return self._changed(bits, text, self.progress.report, used)
        report: Report = yield self._exchange(self.text + text)
        self._last = self._timed(report)
        claims = self._claims_since(report)
        self._written.found(claims)
        course = Course(self._strict, max_attempts=1)
        step = course.settle(report, judge=self._judge)
        if not unit.whole and self._strict.on_failure == "closed":
            return self._stop(report, begin, why=self._too_long())
        astray = astray or self._leans(unit, claims)
        if step.action == "deliver":
            if astray:
                return self._leave_out(unit, begin, marks, report)
            return self._changed(bits, text, report, used)
        if not self.mends or report.outcome != "scored":
            return self._stop(report, begin)
        while step.call is not None and not astray:
            if isinstance(step.call, Rewrite):
                step = course.rewritten(step.call, (yield step.call))
            elif step.call.answer.startswith(self.text):
                step = course.settle(self._timed((yield step.call)))
            else:
                break
        mended = "" if step.answer is None else step.answer[len(self.text) :]
        if has_words(mended.removeprefix(text[:lead])):
            record = course.record()
            first = self._kept[0].own if self._kept else begin
            for bit in bits:
                self._written.changed_to(*bit)
            self._written.changed(record.repairs, first, mended)
            return self._release(mended, record.report, used)
        self._bad = report
        return self._leave_out(unit, begin, marks, report)

    def _claims_since(self, report: Report) -> Sequence[Claim]:
        """Return the claims of a report that were not in what was released."""
        known = self.progress.report
        return report.claims[0 if known is None else len(known.claims) :]

    def moved(self) -> None:
        """Say that what `check` returned is being done."""
        self._stood = None

    def _timed(self, report: Report) -> Report:
        known = self.progress.report
        self._seconds += report.usage.seconds - (known.usage.seconds if known is not None else 0.0)
        return report

    def _leans(self, unit: Unit, claims: Sequence[Claim]) -> bool:
        """Say whether a unit means, by a word in it, what was left out before it."""
        if not self._gone or unit.text[:1] in "\r\n" or not leans(unit.text):
            return False
        if not is_replaceable(unit.text):
            return True
        before = () if self.progress.report is None else self.progress.report.claims[-1:]
        # where both rest on one passage, it means what that is about
        first, second = (
            {evidence.passage for claim in some for evidence in claim.evidence[:1]}
            for some in (before, claims)
        )
        return not first & second

    def _fits(self, unit: Unit, begin: int, marks: Sequence[Mark]) -> bool:
        """Choose what leads to a unit; return whether it is then read as it was written.

        It is not where what it stood under was left out.

        Args:
            unit: The last one that was written.
            begin: Where it begins.
            marks: The numbers of items in it.
        """
        wanted = self._read(self._written.text, begin, self._written.claims)
        under, self._under = self._under, None
        if under is not None and wanted and wanted[0].depth > under:
            self._under = under
            return False
        known = () if self.progress.report is None else self.progress.report.claims
        above = wanted[0].lead if wanted else ()
        for leads in choices(self._kept, unit, above):
            kept, gap = narrowed(self._kept, leads, self._gap)
            text = self.text + "".join(lead.space + lead.text for lead in kept)
            text += "".join(self._spaced(unit, gap))
            used = [mark for lead in kept for mark in lead.marks]
            numbers = list(self._numbering.closed_up([*used, *marks], text))[len(used) :]
            closed = _closed_up(begin, unit.text, unit.text, marks, iter(numbers))
            own = "".join(bit.after for bit in closed)
            if self._read(text + own.lstrip(), len(text), known) == wanted:
                self._keep(kept, gap)
                return True
        return False

    def _keep(self, kept: list[Lead], gap: str) -> None:
        """Leave out what led to a unit that was left out, but for some of it."""
        stays = {lead.own for lead in kept}
        for lead in self._kept:
            if lead.own not in stays:
                self._written.left_out(lead.own, lead.end)
        self._kept, self._gap = kept, gap

    @staticmethod
    def _read(answer: str, known: int, claims: Sequence[Claim]) -> list[Reading]:
        """Return how that of an answer is read which stands behind a place."""
        answer = without_reasoning(answer)
        part = part_to_read(answer, known, claims)
        return readings(part.of(answer), part.at(known))

    def _begins_line(self, place: int) -> bool:
        return not place or self._written.text[place - 1] in "\r\n"

    def _spaced(self, unit: Unit, gap: str) -> tuple[str, str]:
        """Return the white space before a unit, and the marker of the item that it goes on.

        Args:
            unit: The unit.
            gap: The white space before what was left out before it.
        """
        own, text = _parted(unit.text)
        if not self._gone:
            return own, ""
        goes_on = not unit.leads and not _lines(own) and not _PLACE.match(text)
        return wider(own, gap), self._marker if goes_on else ""

    def _bits(
        self, unit: Unit, begin: int, marks: Sequence[Mark]
    ) -> tuple[list[_Bit], int, list[Mark]]:
        """Return what is released if a unit is.

        With it comes how much of that only leads to the rest, and the numbers of items in it.

        Args:
            unit: The last one that was written.
            begin: Where it begins.
            marks: The numbers of items in it.
        """
        space, marker = self._spaced(unit, self._gap)
        gap = len(_parted(unit.text)[0])
        # a place in what was written, what is there and what is to be, and the numbers in that
        parts: list[tuple[int, str, str, Sequence[Mark]]] = []
        for lead in self._kept:
            parts.append((lead.own, lead.gap, lead.space, ()))
            parts.append((lead.own + len(lead.gap), lead.text, lead.text, lead.marks))
        parts.append((begin, unit.text[:gap], space, ()))
        if marker:
            parts.append((begin + gap, "", marker, self._marker_marks))
        leads = len(parts) if unit.lead else 2 * len(self._kept)
        for start, end in pairwise((gap, max(gap, unit.lead), len(unit.text))):
            text = unit.text[start:end]
            within = [mark.moved(-start) for mark in marks if start <= mark.start < end]
            parts.append((begin + start, text, text, within))
        leads += bool(unit.lead)
        if self._gone and not self.text:
            # nothing stands before it; an item keeps the margin that those after it have
            _, line, margin = parts[0][2].rpartition("\n")
            keeps = line and _MARKER.match("".join(after for _, _, after, _ in parts[1:]))
            parts[0] = (*parts[0][:2], margin if keeps and len(margin) < _CODE else "", ())
        said = self.text + "".join(after for _, _, after, _ in parts)
        used = [mark for part in parts for mark in part[3]]
        numbers = self._numbering.closed_up(used, said)
        bits: list[_Bit] = []
        leading = 0
        for number, (place, before, after, own) in enumerate(parts, 1):
            bits += _closed_up(place, before, after, own, numbers)
            if number == leads:
                leading = sum(len(bit.after) for bit in bits)
        return bits, leading, used

    def _leave_out(self, unit: Unit, begin: int, marks: Sequence[Mark], report: Report) -> Move:
        """Release nothing of a unit, and go on; stop where half of a pair of marks would go."""
        if not balanced(unit.text[unit.lead :]):
            return self._stop(report, begin, why=_HALF)
        claims = self._claims_since(report)
        evidence = dict.fromkeys(
            found for claim in claims if claim.label == "contradicted" for found in claim.evidence
        )
        self._written.left_out(begin + unit.lead, begin + len(unit.text), tuple(evidence))
        if self._under is None:
            found = self._read(self._written.text, begin, self._written.claims)
            self._under = found[-1].depth or None if found else None
        start = 0
        for end in unit.leads:
            gap, text = _parted(unit.text[start:end])
            space = wider(gap, self._gap) if self._gone and not start else gap
            place = start + len(gap)
            own = [mark.moved(-place) for mark in marks if place <= mark.start < end]
            self._kept.append(Lead(text, begin + start, gap, space, tuple(own)))
            start = end
        gap, text = _parted(unit.text[start:])
        place = start + len(gap)
        numbered = any(mark.start - place in (0, 1) for mark in marks)
        if _lines(gap) or self._begins_line(begin + start) or numbered:
            marker = _MARKER.match(text)
            end = place + (marker.end() if marker else 0)
            self._marker = unit.text[place:end]
            self._marker_marks = [mark.moved(-place) for mark in marks if place <= mark.start < end]
        self._gap = wider(gap, self._gap) if self._gone and not unit.lead else gap
        self._gone = True
        return Move()

    def _changed(
        self, bits: Sequence[_Bit], text: str, report: Report, marks: Sequence[Mark]
    ) -> Move:
        for bit in bits:
            self._written.changed_to(*bit)
        return self._release(text, report, marks)

    def _release(self, text: str, report: Report, marks: Sequence[Mark]) -> Move:
        self._numbering.released(text, marks)
        self.text += text
        exchange = replace(report.exchange, answer=self.text)
        self.progress.report = replace(report, exchange=exchange)
        self._kept, self._gone, self._marker, self._marker_marks = [], False, "", []
        return Move(text)

    def _too_long(self) -> str:
        most = f"{self._hold.chars} characters and {self._hold.seconds:g} seconds"
        return f"no sentence, item or row ended within {most}"

    # -- the end ----------------------------------------------------------------------------------

    def finish(self) -> Move:
        """Return what to do once all units are settled."""
        self._keep([], self._gap)
        report = self.progress.report
        if self._bad is not None and (report is None or not report.facts):
            left = "no fact" if has_words(self.text) else "nothing"
            return self._stop(self._bad, len(self._written.text), told=f"; {left} is left of it")
        if report is None:
            raise ConfigError("the stream has not begun: read it first")
        # why the model ended may have come after its last sentence
        reason = self._exchange(self.text).finish_reason
        if self._last is not None:
            self._last = _ended_by(self._last, reason)
        tail = self._last_lines()
        self._end(_ended_by(self.progress.report or report, reason), CUT if self.cut else "")
        return Move(tail, ends=True)

    def _last_lines(self) -> str:
        """Release the ends of lines behind a last unit that was left out."""
        written = self._written.text
        tail = written[len(written.rstrip("\r\n")) :]
        if not (self._gone and self.text and tail and self._written.keeps_end(len(tail))):
            return ""
        self._written.follows(len(self.text), len(written) - len(tail))
        self.text += tail
        if (report := self.progress.report) is not None:
            exchange = replace(report.exchange, answer=self.text)
            self.progress.report = replace(report, exchange=exchange)
        return tail

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
        told = LEFT if _is_leaving(error) else BROKE_OFF
        if self._last is not None:
            self._keep([], self._gap)
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
            self._keep([], self._gap)
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
        repairs = self._written.repairs
        if any(has_words(repair.before) for repair in repairs):
            changes = len(repairs)
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


def _parted(text: str) -> tuple[str, str]:
    """Return the white space before a text, and the text."""
    bare = text.lstrip()
    return text[: len(text) - len(bare)], bare


def _closed_up(
    place: int, before: str, after: str, marks: Sequence[Mark], numbers: Iterator[str]
) -> Iterator[_Bit]:
    """Yield a piece of what was written, apart at the numbers of its items.

    Args:
        place: Where it was written.
        before: What was.
        after: What is to be.
        marks: The numbers in that.
        numbers: What is to stand in their place.
    """
    if before != after:
        for mark in marks:  # one at most: a marker's
            after = after[: mark.start] + next(numbers) + after[mark.end :]
        yield _Bit(place, before, after)
        return
    at = 0
    for mark in marks:
        yield _Bit(place + at, before[at : mark.start], before[at : mark.start])
        yield _Bit(place + mark.start, before[mark.start : mark.end], next(numbers))
        at = mark.end
    yield _Bit(place + at, before[at:], before[at:])


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
