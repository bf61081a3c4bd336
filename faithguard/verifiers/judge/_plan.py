"""One answer's way through a judge, without I/O.

In: claims and their context. Out: `Ask`s, and, once their outcomes are settled, a finding for each
claim. Who asks, blocking or awaiting, is not known here.

    claims -> batches -> verdicts that hold -> once more what is missing or void -> findings

What holds: every control claim of the batch is right, the id is one that was asked, and the quotes
are evidence. A batch with a wrong control counts for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from faithguard.chat import Completion, Message, as_data, objects_in, visible
from faithguard.errors import JudgeError
from faithguard.prompts import VERDICTS_SCHEMA, Rubric, user_message, verdicts_prompt
from faithguard.types import Claim, Evidence, Failure, FailureKind, Verdict
from faithguard.verifiers import Context, Finding
from faithguard.verifiers._orders import of_labels
from faithguard.verifiers.judge._controls import (
    TOKENS_EACH,
    controls,
    how_many,
    twice,
)
from faithguard.verifiers.judge._excerpts import Excerpt, excerpts, passages_as_read, read_texts
from faithguard.verifiers.judge._quotes import Evidences
from faithguard.verifiers.judge._verdicts import Label, Said, said_of

__all__ = [
    "P_SUPPORTED",
    "Ask",
    "Budget",
    "JudgePlan",
    "Settings",
    "room_for",
    "tokens_of",
    "verdict_of",
]

P_SUPPORTED: Mapping[Label, float] = {
    "supported": 0.97,
    "contradicted": 0.02,
    "not_mentioned": 0.04,
}
"""The probability that stands for one label: outside the band, so that a judge's verdict settles
a claim. With several votes it is the mean over the votes."""

_TOKENS_FRAME = 60

_INPUT = 60_000
"""Characters of statements in one call."""

_PER_TOKEN = 3.0
"""Characters, at least, in a token: an estimate before a call, on the safe side."""

_CONTROLS = 2
"""At least, in each call."""

_ID = "bcdfghjkmnpqrstvwxz"
_ID_LENGTH = 5
"""Letters that make no word; so few cost a token or two, and nobody guesses one of millions."""

_REASONS: Mapping[str, str] = {
    "supported": "the judge quotes a passage that says it",
    "contradicted": "the judge quotes a passage that says otherwise",
    "not_mentioned": "the judge finds nothing that says it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one answer may cost; None for no limit."""

    calls: int | None = None
    tokens: int | None = None
    """Of requests and replies together, as estimated before each call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a judge asks."""

    name: str
    """`name@version`, of verdicts and failures."""
    max_tokens: int
    """Of one reply."""
    votes: int
    budget: Budget
    rubric: Rubric | None
    random: Random


@dataclass(slots=True, kw_only=True, eq=False)
class Ask:
    """One call to make."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    max_tokens: int
    claims: Mapping[str, Claim]
    """By the id that they have in this call; a claim that is asked twice has two."""
    right: Mapping[str, bool]
    """The control claims: whether each is supported."""
    shown: Mapping[int, Excerpt]
    """By the number that a passage has in this call."""
    vote: int
    last: bool
    """Whether nothing is asked again after it."""

    @property
    def ids(self) -> Mapping[str, list[str]]:
        """The ids of each claim, by its own."""
        found: dict[str, list[str]] = {}
        for key, claim in self.claims.items():
            found.setdefault(claim.id, []).append(key)
        return found

    @property
    def asked(self) -> list[Claim]:
        """The claims, each once."""
        return [self.claims[keys[0]] for keys in self.ids.values()]

    @property
    def tokens(self) -> int:
        """What it may cost, estimated."""
        return tokens_of(self.messages, self.max_tokens)


def room_for(claims: int, max_tokens: int) -> int:
    """Return the tokens of a reply that the verdicts on claims and the true control leave."""
    return max_tokens - _TOKENS_FRAME - TOKENS_EACH * (claims + 1)


def tokens_of(messages: Sequence[Message], reply: int) -> int:
    """Return what a call may cost, estimated: what is asked, and the most of a reply."""
    return int(sum(len(message.content) for message in messages) / _PER_TOKEN) + reply


@dataclass(frozen=True, slots=True)
class _How:
    """How claims are asked about; those that are asked alike may share a call."""

    vote: int
    max_tokens: int
    """Of the reply."""
    plain: bool = False
    """Whether the form of the reply is left to the prompt."""
    wary: bool = False
    """Whether the judge got a control wrong, or left one out."""
    last: bool = False
    """Whether nothing is asked again after it."""


@dataclass(slots=True)
class _Ballot:
    """What the judge said of one claim, by vote."""

    votes: dict[int, Verdict] = field(default_factory=dict[int, Verdict])
    failure: Failure | None = None


class JudgePlan:
    """The state of one answer.

    Args:
        claims: To be judged.
        context: What they are judged by.
        settings: How to ask.
    """

    def __init__(self, claims: Sequence[Claim], context: Context, settings: Settings) -> None:
        self._claims = claims
        self._context = context
        self._settings = settings
        self._ballots = {claim.id: _Ballot() for claim in claims}
        self._steps = self._rounds()
        self._again: list[tuple[Claim, _How]] = []
        """Claims to ask once more."""
        self._calls = 0
        self._tokens = 0

    def todo(self) -> list[Ask]:
        """Return calls that can be made at once; none when the findings are there."""
        return next(self._steps, list[Ask]())

    def settle(self, ask: Ask, outcome: Completion | JudgeError) -> None:
        """Take what came of a call."""
        if isinstance(outcome, JudgeError):
            self._failed(ask, outcome)
        elif outcome.declined:
            self._fail(ask.asked, "refused", "the judge declined to answer")
        else:
            self._read(ask, outcome)

    def settle_all(self, asks: Sequence[Ask], outcomes: Sequence[Completion | JudgeError]) -> None:
        """Take what came of calls."""
        for ask, outcome in zip(asks, outcomes, strict=True):
            self.settle(ask, outcome)

    def findings(self) -> list[Finding]:
        """Return a finding for each claim, in order."""
        return [self._finding(claim) for claim in self._claims]

    # -- asking -------------------------------------------------------------------------------

    def _rounds(self) -> Iterator[list[Ask]]:
        votes = range(self._settings.votes)
        yield from self._within(
            [
                self._ask(batch, _How(vote, self._settings.max_tokens))
                for vote in votes
                for batch in self._batches(self._claims)
            ]
        )
        again = [entry for entry in self._again if self._ballots[entry[0].id].failure is None]
        groups: dict[_How, list[Claim]] = {}
        for claim, how in again:
            groups.setdefault(how, []).append(claim)
        yield from self._within(
            [
                self._ask(batch, how)
                for how, claims in groups.items()
                for batch in self._batches(claims)
            ]
        )

    def _batches(self, claims: Sequence[Claim]) -> Iterator[list[Claim]]:
        """Yield claims in lots whose verdicts fit into one reply."""
        most = max(1, (self._settings.max_tokens - _TOKENS_FRAME) // TOKENS_EACH - _CONTROLS)
        batch: list[Claim] = []
        size = 0
        for claim in claims:
            if len(claim.text) > _INPUT:
                told = f"a claim of {len(claim.text):,} characters is too long for the judge"
                self._fail([claim], "budget", told)
                continue
            if batch and (len(batch) == most or size + len(claim.text) > _INPUT):
                yield batch
                batch, size = [], 0
            batch.append(claim)
            size += len(claim.text)
        if batch:
            yield batch

    def _within(self, asks: Sequence[Ask]) -> Iterator[list[Ask]]:
        """Yield the calls that the budget allows; the claims of the others fail."""
        budget, allowed = self._settings.budget, list[Ask]()
        for ask in asks:
            calls, tokens = self._calls + 1, self._tokens + ask.tokens
            if budget.calls is not None and calls > budget.calls:
                self._fail(ask.asked, "budget", f"more than {budget.calls} calls")
            elif budget.tokens is not None and tokens > budget.tokens:
                told = f"about {tokens:,} tokens, more than the {budget.tokens:,} allowed"
                self._fail(ask.asked, "budget", told)
            else:
                self._calls, self._tokens = calls, tokens
                allowed.append(ask)
        if allowed:
            yield allowed

    def _ask(self, claims: Sequence[Claim], how: _How) -> Ask:
        random = self._settings.random
        found = excerpts(self._context, claims)
        texts = [claim.text for claim in claims]
        read = [*texts, *read_texts(self._context, found)]
        room, doubt = room_for(len(claims), how.max_tokens), how.wary or of_labels(read)
        untrue = how_many(len(claims), room, doubt=doubt)
        control = controls(random, texts, untrue)
        asked = [*claims] * (2 if twice(len(claims), untrue, room, doubt=doubt) else 1)
        ids = _ids(random, len(asked) + len(control))
        right = {key: not number for number, key in enumerate(ids[: len(control)])}
        named = dict(zip(ids[len(control) :], asked, strict=True))
        said = [control.supported, *control.unsupported, *(visible(c.text) for c in asked)]
        statements = [{"id": key, "text": text} for key, text in zip(ids, said, strict=True)]
        random.shuffle(statements)
        passages, shown = passages_as_read(self._context, found, control.passage, random)
        data: dict[str, Any] = {"passages": passages, "statements": statements}
        if self._context.question:
            data = {"question": visible(self._context.question), **data}
        mark = f"{random.getrandbits(64):016x}"
        return Ask(
            messages=(
                Message("system", verdicts_prompt(mark, self._settings.rubric)),
                Message("user", user_message(mark, as_data(data))),
            ),
            schema=None if how.plain else VERDICTS_SCHEMA,
            max_tokens=how.max_tokens,
            claims=named,
            right=right,
            shown=shown,
            vote=how.vote,
            last=how.last,
        )

    # -- what came back -----------------------------------------------------------------------

    def _read(self, ask: Ask, reply: Completion) -> None:
        said = said_of(objects_in(reply.text), [*ask.claims, *ask.right])
        if reply.cut and len(said) < len(ask.claims) + len(ask.right):
            told = "the judge's reply was cut off: raise `max_tokens`"
            self._in_halves(ask, "unparsable", told, 2 * ask.max_tokens)
        elif not said:
            told = "the judge's reply holds no verdict" if reply.text.strip() else "an empty reply"
            self._once_more(ask, ask.asked, "unparsable", told, plain=True)
        elif missing := [key for key in ask.right if key not in said]:
            told = f"{len(missing)} of {len(ask.right)} control claims came back without a verdict"
            self._once_more(ask, ask.asked, "untrusted", told, wary=True)
        elif any((said[key].label == "supported") != right for key, right in ask.right.items()):
            told = "the judge got a control claim wrong, so its verdicts are not used"
            self._once_more(ask, ask.asked, "untrusted", told, wary=True)
        else:
            self._take(ask, said)

    def _take(self, ask: Ask, said: Mapping[str, Said]) -> None:
        evidences = Evidences(self._context, ask.shown)
        for keys in ask.ids.values():
            claim, found = ask.claims[keys[0]], [said[key] for key in keys if key in said]
            labels: set[Label] = {one.label for one in found}
            if len(found) < len(keys):
                self._once_more(ask, [claim], "missing", "no verdict came back")
                continue
            if len(labels) > 1:
                told = "the judge says one thing of a claim here and another there"
                self._once_more(ask, [claim], "untrusted", told, wary=True)
                continue
            label = labels.pop()
            evidence: tuple[Evidence, ...] | None = ()
            if label != "not_mentioned":
                quoted = (evidences.of(claim, one.quotes) for one in found)
                evidence = next((held for held in quoted if held is not None), None)
            if evidence is None:
                told = "what the judge quotes is not evidence in the passages that it read"
                self._once_more(ask, [claim], "unparsable", told)
            else:
                verdict = verdict_of(claim.id, label, evidence, self._settings.name)
                self._ballots[claim.id].votes[ask.vote] = verdict

    def _failed(self, ask: Ask, error: JudgeError) -> None:
        """Ask again in halves what was too long for the model; all else stays a failure."""
        if error.kind == "budget" and len(ask.asked) > 1:
            self._in_halves(ask, error.kind, str(error), (ask.max_tokens + 1) // 2)
        else:
            self._fail(ask.asked, error.kind, str(error))

    def _in_halves(self, ask: Ask, kind: FailureKind, told: str, tokens: int) -> None:
        """Ask again what did not fit."""
        claims = ask.asked
        half = (len(claims) + 1) // 2
        for number, part in enumerate((claims[:half], claims[half:])):
            # one token more or less keeps the halves apart
            self._once_more(ask, part, kind, told, tokens=tokens + number)

    def _once_more(
        self,
        ask: Ask,
        claims: Iterable[Claim],
        kind: FailureKind,
        told: str,
        *,
        plain: bool = False,
        wary: bool = False,
        tokens: int | None = None,
    ) -> None:
        """Ask about claims again; the second time, what is still missing is a failure."""
        if ask.last:
            self._fail(claims, kind, told)
            return
        how = _How(ask.vote, tokens or ask.max_tokens, plain, wary, last=True)
        self._again += [(claim, how) for claim in claims]

    def _fail(self, claims: Iterable[Claim], kind: FailureKind, told: str) -> None:
        for claim in claims:
            self._ballots[claim.id].failure = Failure(
                kind=kind, stage=self._settings.name, message=told, claim=claim.id
            )

    # -- findings -----------------------------------------------------------------------------

    def _finding(self, claim: Claim) -> Finding:
        """Return the verdict of all votes; a claim that lacks one has none."""
        ballot = self._ballots[claim.id]
        if ballot.failure is not None:
            return ballot.failure
        votes = [ballot.votes[vote] for vote in sorted(ballot.votes)]
        if len(votes) < self._settings.votes:
            return Failure(
                kind="missing",
                stage=self._settings.name,
                message=f"{len(votes)} of {self._settings.votes} votes came back",
                claim=claim.id,
            )
        return votes[0] if len(votes) == 1 else _majority(votes)


def verdict_of(claim: str, label: Label, evidence: tuple[Evidence, ...], judge: str) -> Verdict:
    """Return the verdict that a label of a judge is."""
    return Verdict(
        claim=claim,
        label=label,
        p_supported=P_SUPPORTED[label],
        verifier=judge,
        reason=_REASONS[label],
        evidence=evidence,
    )


def _majority(votes: Sequence[Verdict]) -> Verdict:
    """Return what more than half of the votes say; without a majority nothing is supported."""
    counts = Counter(vote.label for vote in votes)
    leader = max(votes, key=lambda vote: counts[vote.label])
    label = leader.label if 2 * counts[leader.label] > len(votes) else "not_mentioned"
    ones = [vote for vote in votes if vote.label == label]
    return Verdict(
        claim=votes[0].claim,
        label=label,
        p_supported=sum(vote.p_supported for vote in votes) / len(votes),
        verifier=votes[0].verifier,
        reason=f"{len(ones)} of {len(votes)} votes: {_REASONS[label]}",
        evidence=ones[0].evidence if ones else (),
    )


def _ids(random: Random, count: int) -> list[str]:
    """Return ids that no text can know and that do not tell one another's place."""
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(random.choices(_ID, k=_ID_LENGTH))] = None
    return list(found)
