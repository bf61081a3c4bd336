"""Exchange -> Report.

In: an exchange. Out: a report, never an exception for what a claim, a passage or a verifier may
be: whatever fails is a `Failure` in the report, and a policy says what it means. `score` and
`ascore` make the same calls; `_plan` decides which.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from dataclasses import replace
from functools import cache as once
from functools import lru_cache
from typing import cast

from faithguard._cache import Key, Ticket, VerdictCache
from faithguard._plan import Both, Extract, Plan, Progress, Verify, matched, standing, tallied
from faithguard._together import Judged, Together
from faithguard.chat import metered
from faithguard.claims import Extractor, LocalClaims, ModelClaims, Splits
from faithguard.errors import ConfigError, JudgeError, VerifierError
from faithguard.types import Claim, Exchange, Failure, FailureKind, Report, Verdict
from faithguard.verifiers import Finding, Verifier
from faithguard.verifiers.judge import Judge, OpenAIJudge
from faithguard.verifiers.nli import Nli
from faithguard.verifiers.rules import RULES

__all__ = [
    "Progress",
    "Scorer",
    "chosen_scorer",
    "default_scorer",
    "named_scorer",
    "standing",
    "tallied",
]

_PATIENCE = 30.0
"""Seconds to wait for another's finding; its event loop may have been stopped for good."""


class Scorer:
    """Split answers into claims and verify them by a cascade.

    One scorer serves any number of threads and tasks.

    Args:
        extractor: Splits answers; the deterministic local one by default.
        verifiers: The cascade, cheap to dear; the local ones by default.
        judge: Stands last, and sees what the others leave open. For a judge that sees every
            claim, pass `verifiers=[judge]`.
        band: The open interval in [0, 1] of a claim's probability in which it is still open for
            the next verifier; a verdict outside it settles the claim. The default has
            the best mean accuracy over judges of three strengths in `tests/bench/cascade.py`.
        cache: Where verdicts are shared; one of its own by default, None for none.
        clock: Seconds, monotonic.

    Raises:
        ConfigError: If the band is not an interval in [0, 1], there is no verifier, or what is
            said to be a judge, a verifier or an extractor is none.
    """

    def __init__(
        self,
        extractor: Extractor | None = None,
        verifiers: Sequence[Verifier] | None = None,
        *,
        judge: Judge | None = None,
        band: tuple[float, float] = (0.1, 0.9),
        cache: VerdictCache | bool | None = True,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if not 0.0 <= band[0] <= band[1] <= 1.0:
            raise ConfigError(f"`band` must be two ascending numbers in [0, 1], got {band!r}")
        self.verifiers: tuple[Verifier, ...]
        self.extractor: Extractor = LocalClaims() if extractor is None else extractor
        _check_member("extractor", self.extractor, ("extract", "aextract"), "LocalClaims()")
        if verifiers is None:
            self.verifiers = (*(rule() for rule in RULES), Nli(words=True))
        else:
            self.verifiers = _checked_verifiers(verifiers)
        if judge is not None:
            self.verifiers += (_checked(judge),)
        self._together: Together | None = None
        for member in self.verifiers:
            if isinstance(member, Judge) and member.claims != "local":
                self._split_by(member, given=extractor is not None)
        self._band = band
        # an empty cache is a cache
        self._cache = VerdictCache() if cache is True else None if cache is False else cache
        self._clock = clock

    def _split_by(self, judge: Judge, *, given: bool) -> None:
        """Let a judge's model split the answers."""
        if given:
            raise ConfigError(
                f"an `extractor` is given, and a judge with claims={judge.claims!r}: leave one out"
            )
        if judge.claims == "together":
            self._together = Together(judge)
        else:
            self.extractor = ModelClaims(
                judge.chat, timeout=judge.timeout, samples=judge.splits, clock=judge.clock
            )

    def _plan(self, exchange: Exchange, after: Progress | None) -> Plan:
        return Plan(
            exchange,
            self.extractor,
            self.verifiers,
            band=self._band,
            together=self._together,
            after=after,
        )

    def score(self, exchange: Exchange, *, after: Progress | None = None) -> Report:
        """Score, blocking; safe inside a running event loop because it starts none.

        Args:
            exchange: What to check.
            after: What is known of the beginning of an answer that is still being written. Its
                claims stand, and are in the report; only those beyond it are checked.
        """
        started = self._clock()
        plan = self._plan(exchange, after)
        with metered() as spent:
            while (call := plan.todo()) is not None:
                if isinstance(call, Extract):
                    plan.extracted(_extracted(call))
                elif isinstance(call, Both):
                    plan.judged(_judged_at_once(call))
                else:
                    plan.verified(*self._verified(call))
        return plan.report(self._clock() - started, spent)

    async def ascore(self, exchange: Exchange, *, after: Progress | None = None) -> Report:
        """Score, awaiting."""
        started = self._clock()
        plan = self._plan(exchange, after)
        with metered() as spent:
            while (call := plan.todo()) is not None:
                if isinstance(call, Extract):
                    plan.extracted(await _aextracted(call))
                elif isinstance(call, Both):
                    plan.judged(await _ajudged_at_once(call))
                else:
                    plan.verified(*await self._averified(call))
        return plan.report(self._clock() - started, spent)

    def _verified(self, call: Verify) -> tuple[dict[str, Finding], int]:
        if self._cache is None:
            return _asked(call, call.claims), 0
        shared = _Shared(call, self._cache)
        while claims := shared.open():
            with self._cache.take(claims, blocking=True) as ticket:
                ours = shared.ours(ticket)
                shared.land(ticket, ours, _asked(call, ours) if ours else {})
            wait(ticket.others.values(), timeout=_patience(call))
            if late := shared.take_over(ticket):
                shared.land(ticket, late, _asked(call, late))
        return shared.findings(), shared.cached

    async def _averified(self, call: Verify) -> tuple[dict[str, Finding], int]:
        if self._cache is None:
            return await _aasked(call, call.claims), 0
        shared = _Shared(call, self._cache)
        while claims := shared.open():
            with self._cache.take(claims, blocking=False) as ticket:
                ours = shared.ours(ticket)
                shared.land(ticket, ours, await _aasked(call, ours) if ours else {})
            # `wait` leaves them alone when we are cancelled: the findings are for all
            if waits := [asyncio.wrap_future(future) for future in ticket.others.values()]:
                await asyncio.wait(waits, timeout=_patience(call))
            if late := shared.take_over(ticket):
                shared.land(ticket, late, await _aasked(call, late))
        return shared.findings(), shared.cached


def _patience(call: Verify) -> float:
    """Return the seconds to wait for another's finding: no longer than for one's own."""
    own: object = getattr(call.verifier, "timeout", None)
    return min(_PATIENCE, own) if isinstance(own, int | float) else _PATIENCE


def _checked_verifiers(verifiers: object) -> tuple[Verifier, ...]:
    if isinstance(verifiers, str) or not isinstance(verifiers, Iterable):
        value = repr(verifiers) if isinstance(verifiers, str | type) else _kind_of(verifiers)
        raise ConfigError(f"`verifiers` is {value}: pass a list of verifiers, such as [Nli()]")
    members = tuple(cast("Iterable[Verifier]", verifiers))
    if not members:
        raise ConfigError("`verifiers` is empty: name at least one, or leave it out")
    for place, member in enumerate(members):
        _check_member(f"verifiers[{place}]", member, ("verify", "averify"), "Nli()")
    return members


def _check_member(where: str, member: object, methods: tuple[str, str], like: str) -> None:
    """Refuse what can be no stage of a cascade, while whoever passed it can still mend that."""
    if isinstance(member, type):
        name = member.__name__
        raise ConfigError(f"`{where}` is the class {name}: pass an object of it, {name}()")
    if not all(callable(getattr(member, name, None)) for name in methods) or not isinstance(
        getattr(member, "name", None), str
    ):
        value = repr(member) if isinstance(member, str) else _kind_of(member)
        raise ConfigError(
            f"`{where}` is {value}: pass an object with `name`, `{methods[0]}` and "
            f"`{methods[1]}`, such as {like}"
        )


def _kind_of(value: object) -> str:
    return f"of type {type(value).__name__}"


def _checked(judge: object) -> Judge:
    if isinstance(judge, Judge):
        return judge
    if isinstance(judge, str):
        raise ConfigError(f"`judge` is {judge!r}: pass OpenAIJudge({judge!r}), or a Judge")
    raise ConfigError(
        f"`judge` is of type {type(judge).__name__}: pass a Judge; any other verifier goes into "
        "`verifiers`"
    )


class _Shared:
    """One call whose claims are partly known, partly asked by others: the logic of both drivers."""

    def __init__(self, call: Verify, cache: VerdictCache) -> None:
        self._keys: dict[Key, Claim] = {}
        self._key_of: list[tuple[Claim, Key]] = []
        for claim in call.claims:
            key = call.key(claim)
            self._keys.setdefault(key, claim)  # the same words twice are asked once
            self._key_of.append((claim, key))
        self._found: dict[Key, Finding] = {}
        self._lost: set[Key] = set()
        self.cached = 0

    def open(self) -> list[Key]:
        """Return the keys that nothing is known of yet."""
        return [key for key in self._keys if key not in self._found and key not in self._lost]

    def ours(self, ticket: Ticket) -> tuple[Claim, ...]:
        """Take what is known; return the claims to ask about."""
        self._found |= ticket.known
        self.cached += sum(isinstance(finding, Verdict) for finding in ticket.known.values())
        return tuple(self._keys[key] for key in [*ticket.mine, *ticket.alone])

    def land(self, ticket: Ticket, asked: tuple[Claim, ...], found: dict[str, Finding]) -> None:
        """Take what a verifier said about our claims, and pass it on to those who wait."""
        keys = [*ticket.mine, *ticket.alone]
        for key, claim in zip(keys, asked, strict=True):
            if claim.id not in found:
                self._lost.add(key)
                continue
            self._found[key] = found[claim.id]
            ticket.land(key, found[claim.id])

    def take_over(self, ticket: Ticket) -> tuple[Claim, ...]:
        """Take what others found out; return the claims about which they take too long.

        What others could not find out is open again.
        """
        late: list[Key] = []
        for key, flight in ticket.others.items():
            if not flight.done():
                late.append(key)
            elif (finding := flight.result()) != "again":
                self._found[key] = finding
                self.cached += isinstance(finding, Verdict)
        ticket.alone = late
        return tuple(self._keys[key] for key in late)

    def findings(self) -> dict[str, Finding]:
        """Return what was found by claim, under its own id; fewer if some never came."""
        return {
            claim.id: _renamed(self._found[key], claim)
            for claim, key in self._key_of
            if key in self._found
        }


def _renamed(finding: Finding, claim: Claim) -> Finding:
    return None if finding is None else replace(finding, claim=claim.id)


def _fault(stage: str, error: BaseException) -> Failure:
    """Turn what a stage raised into a value; its text may hold an answer, so only its kind."""
    if isinstance(error, VerifierError):
        told = error.kind if isinstance(error, JudgeError) else "error"
        return Failure(kind=told, stage=stage, message=str(error))
    kind: FailureKind = "timeout" if isinstance(error, TimeoutError) else "error"
    return Failure(kind=kind, stage=stage, message=f"{type(error).__name__} in {stage}")


def _claims(extracted: object) -> list[Claim]:
    """Check what an extractor of anybody's returned."""
    claims = list(cast("Iterable[object]", extracted))
    if not all(isinstance(claim, Claim) for claim in claims):
        raise TypeError("an extractor returns claims")
    return extracted if isinstance(extracted, Splits) else cast("list[Claim]", claims)


# The six places where a stage is asked, and where alone its exceptions are caught; a cancellation
# that nobody asked for is one of them.


def _own(error: BaseException) -> bool:
    """Say whether what an awaited stage raised is its own, and no cancellation of its caller."""
    task = asyncio.current_task()
    return not isinstance(error, asyncio.CancelledError) or not (task is None or task.cancelling())


def _extracted(call: Extract) -> Sequence[Claim] | Failure:
    try:
        return _claims(call.extractor.extract(call.exchange.answer, call.exchange.question))
    except (Exception, asyncio.CancelledError) as error:
        return _fault(call.extractor.name, error)


async def _aextracted(call: Extract) -> Sequence[Claim] | Failure:
    try:
        return _claims(await call.extractor.aextract(call.exchange.answer, call.exchange.question))
    except (Exception, asyncio.CancelledError) as error:
        if not _own(error):
            raise
        return _fault(call.extractor.name, error)


def _judged_at_once(call: Both) -> Judged | Failure:
    try:
        return call.together.judged(call.exchange, call.context)
    except (Exception, asyncio.CancelledError) as error:
        return _fault(call.together.name, error)


async def _ajudged_at_once(call: Both) -> Judged | Failure:
    try:
        return await call.together.ajudged(call.exchange, call.context)
    except (Exception, asyncio.CancelledError) as error:
        if not _own(error):
            raise
        return _fault(call.together.name, error)


def _asked(call: Verify, claims: Sequence[Claim]) -> dict[str, Finding]:
    try:
        return matched(claims, call.verifier.verify(claims, call.context))
    except (Exception, asyncio.CancelledError) as error:
        return matched(claims, _fault(call.verifier.name, error))


async def _aasked(call: Verify, claims: Sequence[Claim]) -> dict[str, Finding]:
    try:
        return matched(claims, await call.verifier.averify(claims, call.context))
    except (Exception, asyncio.CancelledError) as error:
        if not _own(error):
            raise
        return matched(claims, _fault(call.verifier.name, error))


@once
def default_scorer() -> Scorer:
    """Return the local scorer that `check`, callbacks and guards share, with one cache."""
    return Scorer()


@lru_cache(maxsize=32)
def _judged(judge: Judge) -> Scorer:
    return Scorer(judge=judge)


def chosen_scorer(scorer: Scorer | None, judge: Judge | None) -> Scorer:
    """Return the scorer that somebody who may name one, or a judge, means.

    A judge has one scorer, whoever names it, so that its verdicts are shared.

    Raises:
        ConfigError: If both are named, or what is said to be one of them is none.
    """
    if not isinstance(cast(object, scorer), Scorer | None):
        raise ConfigError(
            f"`scorer` is of type {type(scorer).__name__}: pass a Scorer, or leave it out"
        )
    if judge is None:
        return scorer or default_scorer()
    if scorer is not None:
        raise ConfigError("`scorer` and `judge` are both given: pass scorer=Scorer(judge=judge)")
    return _judged(_checked(judge))


@lru_cache(maxsize=32)
def named_scorer(model: str | None, url: str | None) -> Scorer:
    """Return the scorer whose judge is a model by its name: what a command line can say.

    Raises:
        ConfigError: If there is a server without a model, or no key for it.
        MissingExtraError: If `openai` is not installed.
    """
    if model is not None:
        return Scorer(judge=OpenAIJudge(model, url))
    if url is not None:
        raise ConfigError(f"there is a judge's server, {url!r}, but no model: name it as well")
    return default_scorer()
