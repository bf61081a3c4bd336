"""What a model makes of an answer -> claims that stand in it.

In: the statements of a reply, the answer, and the claims of the local splitter. Out: claims with
spans; for each that the model made, what it said with it.

The model reads the answer in parts, one for each claim of the local splitter, and says by its
number where a statement stands: that costs no words, and cannot go wrong by a letter. It can be
wrong in all else, and an answer can tell it what to leave out, so it may make claims better, and
never fewer. A statement counts if its words come from the answer. What the local splitter calls
a fact stays one, whatever kind the model gives it; and it stands for itself unless the statements
of its part say the same: its words in their order, its numbers, its negation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast, get_args

from faithguard._denied import denied_in, is_negative
from faithguard.claims._kept import says_the_same
from faithguard.types import Claim, Kind

__all__ = ["Anchored", "anchored", "parts_of", "statements_of"]

_KINDS: frozenset[str] = frozenset(get_args(Kind))

_PLAIN = frozenset({"abstention", "question", "courtesy", "meta"})
"""Kinds that the local splitter tells by their form; a model that calls one a fact is wrong."""

_FOREIGN = 0.4
"""Share of a statement's words that may be neither the answer's nor the question's: forms of
words, names for pronouns."""

_STEM = 5
_DEEPEST = 4
_MOST_LONGER = 3
_LONGEST_NUMBER = 7
_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]{2,}")


@dataclass(frozen=True, slots=True)
class Anchored:
    """A claim, and what a model said with it; nothing where it is the local splitter's."""

    claim: Claim
    said: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class _Statement:
    part: int
    """Index of the local claim."""
    text: str
    kind: Kind
    said: Mapping[str, Any]


def parts_of(answer: str, local: Sequence[Claim]) -> list[str]:
    """Return an answer in parts that end where the local claims do; together they are all of it."""
    ends = [claim.span[1] for claim in local[:-1]]
    return [answer[a:b] for a, b in pairwise([0, *ends, len(answer)])]


def statements_of(value: object, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the statements in a reply, whatever their frame: objects with a part and a text.

    The number of the part is an int.
    """
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in cast("list[object]", value):
            yield from statements_of(item, depth + 1)
    elif isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        part = str(held.get("part")).strip()
        if isinstance(held.get("text"), str) and part.isdecimal() and len(part) < _LONGEST_NUMBER:
            yield {**held, "part": int(part)}
            return
        for item in held.values():
            yield from statements_of(item, depth + 1)


def anchored(
    said: Sequence[Mapping[str, Any]], answer: str, question: str | None, local: Sequence[Claim]
) -> list[Anchored]:
    """Return the claims of an answer, in its order, with new ids."""
    by_part: dict[int, list[_Statement]] = {n: [] for n in range(len(local))}
    for one in _standing(said, answer, question, local):
        if _may_say(one, local[one.part]):
            by_part[one.part].append(one)
    kept: list[Anchored] = []
    for part, claim in enumerate(local):
        statements = by_part[part]
        if len(statements) > max(_MOST_LONGER, len(_keys(claim.text)) // 2):
            statements = []  # so many would dilute a score
        if not _covered(claim, answer, statements):
            kept.append(Anchored(claim, None))
            continue
        kept += [
            Anchored(replace(claim, text=one.text, kind=one.kind), one.said) for one in statements
        ]
    kept.sort(key=lambda one: one.claim.span)
    return [
        replace(one, claim=replace(one.claim, id=f"c{number}"))
        for number, one in enumerate(kept, 1)
    ]


def _standing(
    said: Sequence[Mapping[str, Any]], answer: str, question: str | None, local: Sequence[Claim]
) -> Iterator[_Statement]:
    """Yield the statements that are made of the answer's words, each once."""
    known = _keys(f"{answer} {question or ''}")
    seen: set[tuple[int, str]] = set()
    for entry in said:
        part: int = entry["part"] - 1
        if not 0 <= part < len(local):
            continue
        text = " ".join(str(entry["text"]).split())
        # a part that stands for itself is the splitter's claim, with what leads in to it
        key = (-1, text.casefold()) if text else (part, "")
        if key in seen or (text and not _made_of(text, known)):
            continue
        seen.add(key)
        kind = str(entry.get("kind", "fact")).strip().casefold()
        yield _Statement(
            part,
            text or local[part].text,
            cast(Kind, kind) if kind in _KINDS else "fact",
            entry,
        )


def _made_of(text: str, known: set[str]) -> bool:
    keys = _keys(text)
    foreign = keys - known
    few = len(foreign) <= _FOREIGN * len(keys)
    return bool(keys) and few and not any(key[0].isdigit() for key in foreign)


def _may_say(statement: _Statement, claim: Claim) -> bool:
    """Say whether a statement's kind is one that it may have where it stands."""
    return claim.kind not in _PLAIN if statement.kind == "fact" else claim.kind != "fact"


def _covered(claim: Claim, answer: str, statements: Sequence[_Statement]) -> bool:
    """Say whether the statements of its part say what a local claim says."""
    if claim.kind != "fact" or all(one.text == claim.text for one in statements):
        return bool(statements)
    if denied_in(claim.text) is not None and not all(is_negative(one.text) for one in statements):
        return False  # its sign, or the title above it, is in no word of the part
    source = answer[slice(*claim.span)]
    # what stands for itself is the whole of it
    said = [source if one.text == claim.text else one.text for one in statements]
    return says_the_same(source, claim.text, said)


def _keys(text: str) -> set[str]:
    """Return what a text is made of: numbers, the beginnings of words, pairs of characters."""
    keys: set[str] = set()
    for token in _TOKEN.findall(text.casefold()):
        runs = _UNSPACED.findall(token)
        keys.update(run[n : n + 2] for run in runs for n in range(len(run) - 1))
        if not runs and (len(token) > 2 or token[0].isdigit()):
            keys.add(token if token[0].isdigit() else token[:_STEM])
    return keys
