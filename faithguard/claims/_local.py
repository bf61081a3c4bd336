"""Answer -> claims, without a model.

In: an answer, markdown or plain text, and its question. Out: claims in the order of the
answer, each with its span there, words that stand alone, and a kind.

    blocks -> sentences -> clauses -> kinds -> claims
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, replace

from faithguard._denied import not_so, retracts
from faithguard._polar import agrees, denies
from faithguard.claims._answered import YES_NO, parted_at_first, signed, waits, with_question
from faithguard.claims._json import ANSWER_KEYS, leaves
from faithguard.claims._leads import (
    GENERIC,
    announces,
    has_title_form,
    is_title,
    leads_to,
    led_units,
)
from faithguard.claims._plain import CITATION, code_in, has_words, in_plain_letters
from faithguard.claims._said import Found, claims_of
from faithguard.claims._units import depth_of, units_of, with_sources
from faithguard.claims._verbs import has_verb
from faithguard.types import Claim

_SURROGATES = re.compile("[\ud800-\udfff]")
_NEAR = 10
"""Claims after a title in which its words are looked for."""
_MOST_CONTENT = 2000


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence, title, row or block of code of an answer; code is where it starts."""

    start: int
    end: int
    leads: bool
    """Whether it only leads to what comes next, so far as that can be seen."""
    joined: bool
    """Whether it says nothing without what comes next."""
    row: bool


def stretches(answer: str) -> list[Stretch]:
    """Return what an answer is split into before its claims are made, in its order."""
    answer = _SURROGATES.sub("\ufffd", answer)
    units = list(units_of(in_plain_letters(answer)))
    found: list[Stretch] = []
    for number, unit in enumerate(units, 1):
        following = units[number] if number < len(units) else None
        row = unit.block.kind == "row"
        leads = not row and (
            unit.block.kind == "heading"
            or announces(unit.words)
            or has_title_form(unit)
            or (following is not None and leads_to(unit, following))
            or is_title(unit, following)
        )
        bare = YES_NO.fullmatch(unit.words.rstrip(".!。！ ,")) is not None
        found.append(Stretch(unit.start, unit.end, leads, leads or bare, row))
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence, item or row of an answer is read with."""

    lead: tuple[str, ...]
    """The lead-ins that it stands under."""
    header: tuple[str, ...]
    """The head of its table."""
    denied: bool
    """Whether it is crossed out, by a sign or by a stroke."""
    depth: int = field(compare=False)
    """How many lists it lies in."""


def readings(answer: str, begin: int) -> list[Reading]:
    """Return how the sentences, items and rows are read that end behind a place, in order."""
    answer = _SURROGATES.sub("\ufffd", answer)
    return [
        Reading(unit.lead, unit.block.header, unit.denied, depth_of(unit))
        for unit in led_units(list(units_of(in_plain_letters(answer))))
        if unit.end > begin and not unit.leading
    ]


def hangs(answer: str, question: str | None) -> bool | None:
    """Say whether how the end of an answer is read hangs on what follows it.

    Args:
        answer: As far as it is written, to the end of a sentence, an item or a row.
        question: What was asked.

    Returns:
        None if nothing that follows can change how any of it is read.
    """
    asks = (question or "").strip()
    answer = _SURROGATES.sub("\ufffd", answer)
    return waits(parted_at_first(_in_text(answer), asks, answer), asks)


class LocalClaims:
    """Split an answer by its markup, its sentences and closed lists of words.

    Needs no model, and gives the same claims each time.
    """

    @property
    def name(self) -> str:
        """`name@version`: part of every report."""
        return "local-claims@9"

    def extract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims of an answer, in its order."""
        answer = _SURROGATES.sub("\ufffd", answer)  # the sentence splitter takes UTF-8 only
        found = _in_json(answer)
        if found is None:
            found = _in_text(answer)
        if not found and CITATION.fullmatch(answer.strip()):
            # Where nothing else is said, a number in brackets is no citation.
            start = len(answer) - len(answer.lstrip())
            text = answer.strip()
            found = [
                Found(start=start, end=start + len(text), text=text, kind="fact", fragment=True)
            ]
        asks = (question or "").strip()
        found = with_question(parted_at_first(found, asks, answer), asks) or signed(
            answer, question
        )
        return [
            Claim(
                id=f"c{number}",
                text=not_so(one.text) if one.denied else one.text,
                span=(one.start, one.end),
                kind=one.kind,
                cites=one.cites,
                code=one.code or _code_of(one, answer),
            )
            for number, one in enumerate(found, 1)
        ]

    async def aextract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.extract, answer, question)


def _code_of(one: Found, answer: str) -> tuple[str, ...]:
    return code_in(answer[one.start : one.end]) if one.kind == "fact" else ()


def _in_text(answer: str) -> list[Found]:
    answer = in_plain_letters(answer)
    units = list(with_sources(units_of(answer)))
    found = [claim for unit in led_units(units) for claim in claims_of(unit)]
    return _without_repeated_titles(_retracted(found, answer))


def _retracted(found: list[Found], answer: str) -> list[Found]:
    """Join what is said with the verdict behind it: "Tea heals. This is false."."""
    kept: list[Found] = []
    for one in found:
        last = kept[-1] if kept else None
        if last is None or one.kind not in ("fact", "courtesy", "opinion"):
            kept.append(one)
        elif last.kind == "question" and _settles_asked(one, answer[last.end : one.start]):
            said = "No." if retracts(one.text) else one.short or one.text
            text = f"{last.text} {said}"
            kept[-1] = replace(last, kind="fact", end=one.end, text=text, cites=one.cites)
        elif last.kind == "fact" and has_verb(last.text) and _takes_back(one, last):
            text = last.text[:-1] + "." if last.text.endswith("?") else last.text
            cites = (*last.cites, *one.cites)
            kept[-1] = replace(
                last, end=one.end, text=text, denied=True, fragment=False, cites=cites
            )
        else:
            kept.append(one)
    return kept


def _settles_asked(one: Found, between: str) -> bool:
    """Say whether a sentence is the answer to the question before it in the same paragraph."""
    bare = retracts(one.text) or agrees(one.text) or denies(one.text)
    return bare and "\n\n" not in between


def _takes_back(one: Found, last: Found) -> bool:
    return retracts(one.text) and not (agrees(last.text) or denies(last.text) or last.denied)


def _without_repeated_titles(found: list[Found]) -> list[Found]:
    """Drop a title whose words a sentence near it says as well."""
    kept: list[Found] = []
    for index, one in enumerate(found):
        words = _content(one.text) if one.title else frozenset[str]()
        near = found[index + 1 : index + 1 + _NEAR]
        if words and any(
            other.kind == "fact" and not other.title and words <= _content(other.text)
            for other in near
        ):
            continue
        kept.append(one)
    return kept


def _content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text[:_MOST_CONTENT].casefold())) - GENERIC


def _in_json(answer: str) -> list[Found] | None:
    """Return the claims of an answer that is JSON: its leaves, after their keys."""
    held = leaves(answer)
    if held is None:
        return None
    found: list[Found] = []
    for leaf in held:
        lead = [key for key in leaf.keys if has_words(key)]
        bare = not lead or {key.lower().replace(" ", "_") for key in lead} <= ANSWER_KEYS
        for one in _in_text(_SURROGATES.sub("\ufffd", leaf.text)):
            text = ": ".join([*lead, one.text]) if one.kind == "fact" else one.text
            start, end = leaf.places[one.start], leaf.places[one.end]
            found.append(
                replace(one, start=start, end=end, text=text, fragment=one.fragment and bare)
            )
    return found
