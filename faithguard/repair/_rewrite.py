"""Asking a judge's model for the words of what cannot be corrected from the evidence alone.

In: the units to write again, their exchange and a judge. Out: one call to make, and from its
reply a text for each unit, if it has the form that the unit's place asks for. Whether it is true
is not decided here: whatever a model writes is verified like any answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from faithguard.chat import Completion, Message, as_data, objects_in, visible
from faithguard.errors import JudgeError
from faithguard.prompts import REWRITE_SCHEMA, rewrite_prompt, user_message
from faithguard.repair._layout import Unit
from faithguard.types import Claim, Exchange
from faithguard.verifiers import Context
from faithguard.verifiers.judge import Judge
from faithguard.verifiers.judge._excerpts import excerpts
from faithguard.verifiers.judge._plan import tokens_of

__all__ = ["Rewrite", "rewrite_of", "texts_in"]

_CELL = re.compile(r"(?<!\\)\|")
_MARKER = re.compile(r"\s*(?:[-*+>#|]|\d{1,3}[.)])\s")
_LONGEST = 200
"""Characters that a text may have beside three times those of what it replaces."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One call to make."""

    judge: Judge
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    units: Mapping[str, Unit]
    """By the id that each has in the call."""

    def ask(self) -> Completion | JudgeError:
        """Make the call, blocking."""
        try:
            return self.judge.chat.complete(self.messages, **self._how())
        except JudgeError as error:
            return error

    async def aask(self) -> Completion | JudgeError:
        """Do the same, awaiting."""
        try:
            return await self.judge.chat.acomplete(self.messages, **self._how())
        except JudgeError as error:
            return error

    def _how(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "max_tokens": self.judge.settings.max_tokens,
            "deadline": self.judge.clock() + self.judge.timeout,
        }


def rewrite_of(
    judge: Judge,
    exchange: Exchange,
    context: Context,
    wanted: Sequence[tuple[Unit, Sequence[Claim]]],
) -> Rewrite | None:
    """Return the call that asks for units again; None if the judge's budget forbids it."""
    settings = judge.settings
    claims = [claim for _, own in wanted for claim in own]
    texts = dict(zip(context.numbers, context.passages, strict=True))
    passages = [
        {"number": number, "pieces": [visible(texts[x.passage].text[a:b]) for a, b in x.spans]}
        for number, x in enumerate(excerpts(context, claims), 1)
    ]
    units = {f"u{number}": unit for number, (unit, _) in enumerate(wanted, 1)}
    data: dict[str, Any] = {"passages": passages}
    if exchange.question:
        data["question"] = visible(exchange.question)
    data["answer"] = visible(exchange.answer)
    data["parts"] = [
        {
            "id": name,
            "text": visible(exchange.answer[unit.start : unit.end]),
            "unsupported": [visible(claim.text) for claim in own],
        }
        for name, (unit, own) in zip(units, wanted, strict=True)
    ]
    mark = f"{settings.random.getrandbits(64):016x}"
    messages = (
        Message("system", rewrite_prompt(mark, settings.rubric)),
        Message("user", user_message(mark, as_data(data))),
    )
    limit = settings.budget.tokens
    if limit is not None and tokens_of(messages, settings.max_tokens) > limit:
        return None
    return Rewrite(judge, messages, REWRITE_SCHEMA, units)


def texts_in(call: Rewrite, reply: Completion, answer: str) -> dict[int, str]:
    """Return the texts of a reply by the index of their unit, those that fit into their place.

    A unit for which the model says that nothing is left has an empty text.
    """
    found: dict[int, str] = {}
    if reply.declined:
        return found
    for entry in _entries(reply.text):
        unit, text = call.units.get(str(entry.get("id"))), entry.get("text")
        if unit is None or not isinstance(text, str) or unit.index in found:
            continue
        said = visible(text).strip()
        if not said or _fits(said, answer[unit.start : unit.end]):
            found[unit.index] = said
    return found


def _entries(reply: str) -> Iterator[dict[str, Any]]:
    """Yield what a reply says of single parts."""
    for held in objects_in(reply):
        parts = cast("dict[str, Any]", held).get("parts") if isinstance(held, dict) else None
        for entry in cast("list[Any]", parts) if isinstance(parts, list) else []:
            if isinstance(entry, dict):
                yield cast("dict[str, Any]", entry)


def _fits(text: str, source: str) -> bool:
    """Say whether a text may stand in the place of another one: one that changes no layout."""
    return (
        text != source
        and len(text) <= 3 * len(source) + _LONGEST
        and "\n" not in text
        and "\t" not in text
        and "```" not in text
        and len(_CELL.findall(text)) == len(_CELL.findall(source))
        and bool(_MARKER.match(text)) == bool(_MARKER.match(source))
    )
