"""Unit -> claims.

In: a sentence, title or row with its lead-ins. Out: what it says, in words that stand alone, each
with its place, its kind, and whether it needs the question to say something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from faithguard._denied import parted
from faithguard._polar import agrees, denies, wavers
from faithguard._verbs import base_of
from faithguard.claims._attribution import attribution_end, without_attribution
from faithguard.claims._blocks import cells
from faithguard.claims._clauses import Clause, clauses
from faithguard.claims._finite import states_by_verb
from faithguard.claims._kinds import form_of, is_formula, kind_of
from faithguard.claims._leads import with_leads
from faithguard.claims._plain import citations, has_words, words_of
from faithguard.claims._service import addresses_asked
from faithguard.claims._units import Unit
from faithguard.claims._verbs import has_verb
from faithguard.types import Kind

__all__ = ["CJK", "Found", "claims_of", "is_short"]

# "The answer is 50 EUR": the question says of what.
_ANSWERED = re.compile(
    r"(?:(?:the|my|your) )?(?:(?:correct|final|short|right|exact) )?answer(?: to (?:your|the|this) "
    r"question)?(?: is|:) |die antwort (?:lautet|ist):? |la respuesta es:? |la r[eé]ponse est:? |"
    r"la risposta è:? |a resposta é:? |het antwoord is:? ",
    re.IGNORECASE,
)
# "Yes, it is." says what "Yes." says.
_ECHO = re.compile(
    r"(?:(?P<yes>yes|yep|yeah)|(?P<no>no|nope)),? (?:it|they|he|she|you|we|i|there|this|that|these|"
    r"those) "
    r"(?:is|are|was|were|does|do|did|has|have|can|could|will|would|may|must|should|am)"
    r"(?(no)(?:n['’]t|not| not))[.!]*",
    re.IGNORECASE,
)
# Three plain words or more between a capital and a stop: its verb is one that no list knows.
_PHRASE = (
    r"(?:A|An|The|In|On|At|By|For|From|With|Only|About|No|Not|Under|Over|Between|After|Before|"
    r"Up|Until|Every|Each|All|Some|Any|Both|Almost|Nearly|More|Less|Most|Yes)\b"
)
_PAYS = (
    r"(?:pay|cost|carry|carries|get|hold|seat|fit|take|charge|earn|receive|save|need|last|weigh|"
    r"sell|owe|total|span|average|rise|fall|drop|grow|lose|win|use|keep|house|host|employ|draw)s?"
)
# Sentences whose verb is in no list: by their form, or by a verb before an amount.
_SENTENCE = re.compile(
    rf"(?!{_PHRASE})"
    r"(?:[A-Z][a-z]+|(?:[A-Z][\w'’-]+ ){2,3}[a-z'’-]+)(?: (?!and\b|or\b|of\b)[a-z'’-]+){2,}[.!]|"
    rf"(?:(?:A|An|The|Each|Every|All) )?(?!{_PHRASE})[A-Za-z][\w'’-]*(?: [\w'’-]+){{0,3}} {_PAYS} "
    r"(?:up to |about |at least |only |just )?[€$£]?\d.*[.!]"
)
_SPEAKER = re.compile(r"[\s*_>]*(?:A|Ans|Answer)[\s*_]*[:：][\s*_]*(?=(?:yes|no)\b)", re.IGNORECASE)
"""Who speaks, before a yes or a no: "A: No, they are not."."""
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LONGEST_FRAGMENT = 8
"""In words."""
_LONGEST_CJK_FRAGMENT = 12
"""In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A claim without its id."""

    start: int
    end: int
    text: str
    kind: Kind
    fragment: bool = False
    """Whether it needs the question to say something."""
    short: str = ""
    """What then follows the question."""
    denied: bool = False
    """Whether its words are not so."""
    title: bool = False
    """Whether it is a title that says something without a verb."""
    cites: tuple[tuple[str, int], ...] = ()
    """The passages that it cites, each with the words for which it does."""
    code: tuple[str, ...] = ()
    """What it tells to type, where no backticks tell that."""


def claims_of(unit: Unit) -> Iterator[Found]:
    """Yield the claims of one unit."""
    unit = _unspoken(unit)
    if unit.names:
        yield Found(
            start=unit.start,
            end=unit.end,
            text=f"{'See' if unit.points else 'Source'}: {unit.names}",
            kind="meta",
            cites=citations(unit.source),
        )
        return
    if unit.block.command:
        text = unit.block.command
        yield Found(start=unit.start, end=unit.end, text=text, kind="fact", code=(text,))
        return
    if unit.block.kind == "row":
        text = with_leads(unit, unit.block.said or _row_text(unit.source, unit.block.header))
        yield Found(
            start=unit.start,
            end=unit.end,
            text=text,
            kind="fact",
            cites=citations(unit.source),
            denied=unit.denied,
        )
        return
    listed = parted(unit.words)
    if len(listed) > 1 and not unit.lead:
        yield from _items_denied(unit, listed)
        return
    whole = kind_of(unit.words)
    reached = "" if whole != "fact" or unit.denied else addresses_asked(unit.words)
    if reached:
        # the rest is a request
        yield Found(start=unit.start, end=unit.end, text=reached, kind="fact")
        return
    pieces = _pieces(unit.source, form_of(unit.words) if whole == "fact" else whole)
    for index, clause in enumerate(pieces):
        source = unit.source[clause.start : clause.end]
        if not has_words(source):
            continue
        start = unit.start + clause.start + len(source) - len(source.lstrip())
        words = unit.words if len(pieces) == 1 else words_of(source)
        if clause.subject:
            words = f"{words_of(clause.subject)} {words}"
        kind = whole if len(pieces) == 1 else kind_of(words)
        short = ""
        if kind == "fact":
            words = words if index else without_attribution(words)
            echo = _ECHO.fullmatch(words)
            words = f"{echo['yes'] or echo['no']}." if echo else words
            answered = None if unit.lead else _ANSWERED.match(words)
            short = words[answered.end() :] if answered else words
            polar = agrees(words) or denies(words) or wavers(words)
            short = short if polar or (not has_verb(short) and is_short(short)) else ""
        fragment = kind == "fact" and not (unit.lead or listed) and bool(short)
        if kind == "fact":
            words = with_leads(unit, words, statement=has_verb(words))
        end = start + len(source.strip())
        if (unit.denied or unit.leading) and len(pieces) == 1:
            start, end = unit.start, unit.end  # with its marks, or what it announces
        yield Found(
            start=start,
            end=end,
            text=words,
            kind=kind,
            fragment=fragment,
            short=short or words,
            title=unit.title,
            cites=citations(source) if kind == "fact" else (),
            denied=unit.denied and kind == "fact",
        )


def _unspoken(unit: Unit) -> Unit:
    """Return a unit without who speaks in it."""
    found = _SPEAKER.match(unit.source)
    if found is None or unit.block.kind == "row":
        return unit
    source = unit.source[found.end() :]
    return replace(unit, start=unit.start + found.end(), source=source, words=words_of(source))


def _items_denied(unit: Unit, items: tuple[str, ...]) -> Iterator[Found]:
    """Yield a claim for each item of "Excluded: a, b and c"."""
    title = unit.words.partition(":")[0].strip()
    at = unit.source.find(":") + 1
    for item in items:
        found = unit.source.find(item, at)
        begin, end = (found, found + len(item)) if found >= 0 else (0, len(unit.source))
        at = max(at, end if found >= 0 else at)
        yield Found(
            start=unit.start + begin,
            end=unit.start + end,
            text=f"{title}: {item}",
            kind="fact",
            cites=citations(unit.source),
            denied=unit.denied,
        )


def _pieces(source: str, kind: Kind) -> list[Clause]:
    """Return the clauses of a sentence; "According to the context, " is part of its first."""
    if kind == "courtesy" and is_formula(words_of(source)):
        return [Clause(0, len(source))]
    begin = attribution_end(source) if kind == "fact" else 0
    if not begin:
        return clauses(source, kind)
    return [
        replace(one, start=one.start + begin if number else 0, end=one.end + begin)
        for number, one in enumerate(clauses(source[begin:], kind))
    ]


def _row_text(source: str, header: tuple[str, ...]) -> str:
    """Return a table row as words: "Plan: Basic; Fee: 5 EUR"."""
    parts: list[str] = []
    for index, cell in enumerate(cells(source)):
        words = words_of(cell)
        name = words_of(header[index]) if index < len(header) else ""
        if words:
            parts.append(f"{name.rstrip(':')}: {words}" if has_words(name) else words)
    return "; ".join(parts)


def is_short(words: str) -> bool:
    """Whether words without a known verb are few enough to be a fragment, and look like one."""
    if CJK.search(words):
        return len(words) <= _LONGEST_CJK_FRAGMENT
    return len(words.split()) <= _LONGEST_FRAGMENT and not (
        _SENTENCE.fullmatch(words) or states_by_verb(words) or _many_do(words)
    )


def _many_do(words: str) -> bool:
    """Whether a sentence begins with a plural and its verb: "Children enter free of charge."."""
    match = _MANY.fullmatch(words)
    return match is not None and base_of(match["verb"]) == match["verb"]


_MANY = re.compile(
    r"(?:[A-Z][a-z]{2,}(?<![su])s|Children|Men|Women|People) (?P<verb>[a-z]{3,})"
    r"(?: [a-z'’-]+){2,}[.!]"
)
