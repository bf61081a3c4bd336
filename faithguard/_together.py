"""Answer + context -> claims and verdicts, in one call.

In: an exchange and a judge. Out: the claims of the answer, and a verdict of each that holds; the
others are open, and are asked like any claim. The control claims stand in the answer, as parts of
their own at random places. They are told apart there more easily than in a list of statements: of
the three ways to get claims, this one is the least sure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from faithguard._offload import offload
from faithguard.chat import Completion, Message, as_data, objects_in, visible
from faithguard.claims import Anchored, LocalClaims, anchored, parts_of, statements_of
from faithguard.prompts import TOGETHER_SCHEMA, together_prompt, user_message
from faithguard.types import Claim, Evidence, Exchange, Verdict
from faithguard.verifiers import Context, Finding
from faithguard.verifiers._orders import of_labels
from faithguard.verifiers.judge import Judge
from faithguard.verifiers.judge._controls import Controls, controls, how_many
from faithguard.verifiers.judge._excerpts import Excerpt, excerpts, passages_as_read, read_texts
from faithguard.verifiers.judge._plan import room_for, verdict_of
from faithguard.verifiers.judge._quotes import Evidences
from faithguard.verifiers.judge._verdicts import label_of, quotes_of

__all__ = ["Judged", "Together"]


@dataclass(frozen=True, slots=True)
class Judged:
    """The claims of an answer, and what is known of them already, by id."""

    claims: Sequence[Claim]
    findings: Mapping[str, Finding]


class Together:
    """A judge that splits an answer as it judges it.

    Args:
        judge: Whose model is asked.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._local = LocalClaims()

    @property
    def name(self) -> str:
        """`name@version`: part of every report."""
        return f"{self.judge.name}+together"

    def judged(self, exchange: Exchange, context: Context) -> Judged:
        """Return claims and verdicts; blocking.

        Raises:
            JudgeError: If the model cannot be asked.
        """
        course = self._course(exchange, context)
        if not course.local:
            return Judged((), {})
        return course.read(self.judge.chat.complete(course.messages, **self._how()))

    async def ajudged(self, exchange: Exchange, context: Context) -> Judged:
        """Do the same without blocking the event loop."""
        course = await offload(self._course, exchange, context)
        if not course.local:
            return Judged((), {})
        return course.read(await self.judge.chat.acomplete(course.messages, **self._how()))

    def _course(self, exchange: Exchange, context: Context) -> _Course:
        local = self._local.extract(exchange.answer, exchange.question)
        return _Course(exchange, context, local, self.judge)

    def _how(self) -> dict[str, Any]:
        return {
            "schema": TOGETHER_SCHEMA,
            "max_tokens": self.judge.settings.max_tokens,
            "deadline": self.judge.clock() + self.judge.timeout,
        }


class _Course:
    """One call, without I/O."""

    def __init__(
        self, exchange: Exchange, context: Context, local: Sequence[Claim], judge: Judge
    ) -> None:
        settings = judge.settings
        self._exchange = exchange
        self._context = context
        self.local = local
        self._name = judge.name
        found = excerpts(context, local)
        read = [exchange.answer, *read_texts(context, found)]
        room = room_for(len(local), settings.max_tokens)
        untrue = how_many(len(local), room, doubt=of_labels(read))
        control = controls(settings.random, [claim.text for claim in local], untrue)
        passages, shown = passages_as_read(context, found, control.passage, settings.random)
        self._shown: dict[int, Excerpt] = shown
        data: dict[str, Any] = {"passages": passages}
        if exchange.question:
            data["question"] = visible(exchange.question)
        mixed = _mixed(parts_of(exchange.answer, local), control, settings.random)
        data["parts"] = [
            {"part": number, "text": visible(text)} for number, (text, _) in enumerate(mixed, 1)
        ]
        self._right = {n: right for n, (_, right) in enumerate(mixed, 1) if right is not None}
        own = (n for n, (_, right) in enumerate(mixed, 1) if right is None)
        self._own = {shown: number for number, shown in enumerate(own, 1)}
        mark = f"{settings.random.getrandbits(64):016x}"
        self.messages = (
            Message("system", together_prompt(mark, settings.rubric)),
            Message("user", user_message(mark, as_data(data))),
        )

    def read(self, reply: Completion) -> Judged:
        """Return what a reply says; where it cannot be used, the local claims, all open."""
        said = list(statements_of(objects_in(reply.text)))
        if reply.declined or not self._trusted(said):
            return Judged(self.local, {})
        own = [{**e, "part": self._own[e["part"]]} for e in said if e["part"] in self._own]
        found = anchored(own, self._exchange.answer, self._exchange.question, self.local)
        evidences = Evidences(self._context, self._shown)
        findings = {one.claim.id: self._verdict(one, evidences) for one in found}
        return Judged(
            [one.claim for one in found], {id_: v for id_, v in findings.items() if v is not None}
        )

    def _trusted(self, said: Sequence[Mapping[str, Any]]) -> bool:
        """Say whether all controls came back, and right."""
        for part, right in self._right.items():
            labels = [label_of(e.get("label")) for e in said if e["part"] == part]
            if not labels or any((label == "supported") != right for label in labels):
                return False
        return True

    def _verdict(self, one: Anchored, evidences: Evidences) -> Verdict | None:
        """Return a verdict that holds, or None: then the claim is asked about."""
        if one.said is None or one.claim.kind != "fact":
            return None
        label = label_of(one.said.get("label"))
        if label is None:
            return None
        evidence: tuple[Evidence, ...] | None = ()
        if label != "not_mentioned":
            evidence = evidences.of(one.claim, quotes_of(one.said))
        return None if evidence is None else verdict_of(one.claim.id, label, evidence, self._name)


def _mixed(
    parts: Sequence[str], control: Controls, random: Random
) -> list[tuple[str, bool | None]]:
    """Return the parts of an answer with the controls among them, where a sentence may begin.

    Returns:
        Texts; for a control, whether it is supported.
    """
    mixed: list[tuple[str, bool | None]] = [(part, None) for part in parts]
    given = [(control.supported, True), *((text, False) for text in control.unsupported)]
    for text, right in random.sample(given, len(given)):
        places = [0, *(n for n, (part, _) in enumerate(mixed, 1) if _ends(part)), len(mixed)]
        mixed.insert(random.choice(places), (f" {text}", right))
    return mixed


def _ends(part: str) -> bool:
    return part.rstrip(" \"'”’)]*_|").endswith((".", "!", "?", "。", "！", "？", "\n"))
