"""What a model makes of an answer -> claims that stand in it.

In: the statements of a reply, the answer, and the claims of the local splitter. Out: claims with
spans; for each that the model made, what it said with it.

A model can be wrong, and an answer can tell it what to leave out, so it may make claims better,
and never fewer. A statement counts if its anchor stands in the answer and its words come from
there. What the local splitter calls a fact stays one, whatever kind the model gives it; and it
stands for itself unless the statements that are anchored in it say it: its words, its numbers,
its negation.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast, get_args

from faithguard.chat import find_quote
from faithguard.types import Claim, Kind

__all__ = ["Anchored", "anchored", "statements_of"]

_KINDS: frozenset[str] = frozenset(get_args(Kind))

_PLAIN = frozenset({"abstention", "question", "courtesy", "meta"})
"""Kinds that the local splitter tells by their form; a model that calls one a fact is wrong."""

_FOREIGN = 0.4
"""Share of a statement's words that may be neither the answer's nor the question's: forms of
words, names for pronouns."""

_LOST = 0.4
"""Share of a local claim's words that statements about it may lack."""

_STEM = 5
_DEEPEST = 4
_MOST_LONGER = 3
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")
_NEGATION = re.compile(
    r"\b(?:not?|never|none|nobody|nothing|neither|nor|without|cannot|\w+n['’]t|nicht|kein\w*|nie|"
    r"ohne|ni|nunca|ning[uú]n\w*|sin|ne|pas|jamais|aucune?|sans|non|nessun\w*|senza|n[aã]o|niet|"
    r"geen)\b|ない|ません|不|没|沒|未|無",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A claim, and what a model said with it; nothing where it is the local splitter's."""

    claim: Claim
    said: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Statement:
    start: int
    end: int
    text: str
    kind: Kind
    said: Mapping[str, Any]

    def meets(self, claim: Claim) -> bool:
        """Say whether it is anchored where a claim stands."""
        return self.start < claim.span[1] and claim.span[0] < self.end


def statements_of(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the statements in a reply, whatever their frame: objects with a text and an anchor."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from statements_of(item, depth + 1)
    elif isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        if isinstance(held.get("text"), str) and isinstance(held.get("anchor"), str):
            yield held
            return
        for item in held.values():
            yield from statements_of(item, depth + 1)


def anchored(
    said: Sequence[Mapping[str, Any]], answer: str, question: str | None, local: Sequence[Claim]
) -> list[Anchored]:
    """Return the claims of an answer, in its order, with new ids."""
    statements = list(_standing(said, answer, question))
    statements = [one for one in statements if _may_say(one, local)]
    padded = _padded(statements, local)
    statements = [one for one in statements if id(one) not in padded]
    kept = [
        Anchored(Claim(id="", text=s.text, span=(s.start, s.end), kind=s.kind), s.said)
        for s in statements
    ]
    kept += [Anchored(claim, None) for claim in local if not _covered(claim, answer, statements)]
    kept.sort(key=lambda one: one.claim.span)
    return [
        replace(one, claim=replace(one.claim, id=f"c{number}"))
        for number, one in enumerate(kept, 1)
    ]


def _standing(
    said: Sequence[Mapping[str, Any]], answer: str, question: str | None
) -> Iterator[_Statement]:
    """Yield the statements that stand in the answer and are made of its words, each once."""
    known = _keys(f"{answer} {question or ''}")
    seen: set[str] = set()
    after = 0
    for entry in said:
        text = " ".join(str(entry["text"]).split())
        place = _place(str(entry["anchor"]), answer, after)
        keys = _keys(text)
        foreign = keys - known
        if place is None or text.casefold() in seen or not keys:
            continue
        if len(foreign) > _FOREIGN * len(keys) or any(key[0].isdigit() for key in foreign):
            continue
        seen.add(text.casefold())
        after = place[0]
        kind = str(entry.get("kind", "fact")).strip().casefold()
        yield _Statement(*place, text, cast(Kind, kind) if kind in _KINDS else "fact", entry)


def _place(anchor: str, answer: str, after: int) -> tuple[int, int] | None:
    """Find an anchor, at best behind the one before, since statements come in order."""
    if (place := find_quote(anchor, answer[after:])) is not None:
        return after + place[0], after + place[1]
    return find_quote(anchor, answer)


def _may_say(statement: _Statement, local: Sequence[Claim]) -> bool:
    """Say whether a statement's kind is one that it may have where it stands."""
    there = {claim.kind for claim in local if statement.meets(claim)}
    if statement.kind != "fact":
        return "fact" not in there
    return not there or not there <= _PLAIN


def _padded(statements: Sequence[_Statement], local: Sequence[Claim]) -> set[int]:
    """Return the statements of claims of which there are too many: they would dilute a score."""
    places: list[tuple[int, int]] = []  # of a claim, the statement
    for statement in statements:
        first = next((n for n, claim in enumerate(local) if statement.meets(claim)), -1)
        places.append((first, id(statement)))
    counts = Counter(first for first, _ in places)
    most = {n: max(_MOST_LONGER, len(_keys(claim.text)) // 2) for n, claim in enumerate(local)}
    return {one for first, one in places if counts[first] > most.get(first, _MOST_LONGER)}


def _covered(claim: Claim, answer: str, statements: Sequence[_Statement]) -> bool:
    """Say whether statements say what a local claim says, so that it need not stand itself."""
    there = [one for one in statements if one.meets(claim)]
    if claim.kind != "fact":
        return bool(there)
    facts = " ".join(one.text for one in there if one.kind == "fact")
    source = answer[slice(*claim.span)]
    keys, held = _keys(source), _keys(facts)
    lost = keys - held
    if not facts or len(lost) > _LOST * len(keys) or any(key[0].isdigit() for key in lost):
        return False
    return not _NEGATION.search(source) or _NEGATION.search(facts) is not None


def _keys(text: str) -> set[str]:
    """Return what a text is made of: numbers, the beginnings of words, pairs of characters."""
    keys: set[str] = set()
    for token in _TOKEN.findall(text.casefold()):
        runs = _UNSPACED.findall(token)
        keys.update(run[n : n + 2] for run in runs for n in range(len(run) - 1))
        if not runs and (len(token) > 2 or token[0].isdigit()):
            keys.add(token if token[0].isdigit() else token[:_STEM])
    return keys
