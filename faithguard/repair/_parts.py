"""Leaving out a part of a sentence that is one claim: an aside, or what follows "and" or a comma.

In: a sentence that is unsupported as a whole, and the context. Out: edits that leave out the parts
that the context does not hold, where what is left is a sentence of which it holds all. What binds
the rest, a condition, an exception or a denial, never goes. Whether it then is true is verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from faithguard._denied import is_negative
from faithguard.claims._plain import CITATION, has_words
from faithguard.claims._verbs import has_verb, verb_at
from faithguard.repair._antecedents import leans
from faithguard.repair._edits import Edit, edited
from faithguard.repair._layout import Layout, Unit
from faithguard.types import Span
from faithguard.verifiers import Context
from faithguard.verifiers._terms import keys_in

__all__ = ["held_throughout", "is_held", "is_long", "part_cut"]

_HELD = 0.75
"""Share of a part that the context must hold to stay; below, it goes."""

_FEWEST = 3
"""Words that are left."""

_TWO = 2
_LONGEST = 1_000
_MOST = 8
"""Parts."""

_ASIDE = re.compile(r"\s*\([^()]{2,300}\)")
_JOINT = re.compile(r"\s*;\s+|\s*,\s+(?:and\s+|und\s+|et\s+|y\s+|e\s+|en\s+)?|\s+(?:and|und|et)\s+")
# "robes cost 9 euros": whatever its verb is
_AMOUNT = re.compile(r"[^\W\d]+ [^\W\d]+(?: [^\W\d]+){0,8} \W?\d")
_COMPLETE = re.compile(r"\s*(?:;|,\s+(?:and|und|et|y|e|en))\s+")
"""What joins two sentences, not two things."""
_END = re.compile(r"[.!?。！？]*(?:[\"”»)\]*_]|</\w+>)*\s*$")
_CLAUSES = re.compile(
    r"\s+[–—-]+\s+|:\s+|(?i:\s+(?:but|while|because|since|which|who|or|so|although|though|as|"
    r"aber|weil|oder|mais|ou|pero|porque|o)\s+)"
)
_SUBORDINATE = re.compile(
    r"\W*(?i:although|though|while|whereas|because|since|as|if|unless|when|whenever|once|until|"
    r"after|before|where|wherever|whether|provided|given that|assuming|in case|as long as|"
    r"(?:even|only|just) (?:if|when|though)|obwohl|während|weil|wenn|falls|da|bien que|puisque|si|"
    r"quand|aunque|porque|cuando|sebbene|perché|quando|embora)\b"
)
_KEY = re.compile(r"\"(?:[^\"\\]|\\.)*\"\s*:")
_BINDS = re.compile(
    r"(?i)\b(?:if|unless|except\w*|only|when|whenever|where|but|although|though|while|whereas|"
    r"until|till|before|after|because|since|provided|as long as|without|with|for|from|up to|at|"
    r"than|or|either|neither|which|who|that|including|excluding|between|both|wenn|falls|außer|nur|"
    r"aber|ohne|si|sauf|mais|sans|pero|sin|excepto|solo|se|ma|senza)\b"
)


def part_cut(layout: Layout, unit: Unit, context: Context) -> tuple[Edit, ...] | None:
    """Return the edits that leave unsupported parts of a sentence out; None if that is unsafe."""
    if unit.kind != "prose" or unit.fenced:
        return None
    made = _without(layout.text(unit), context)
    if not made:
        return None
    return tuple(
        replace(one, start=one.start + unit.start, end=one.end + unit.start) for one in made
    )


def held_throughout(
    layout: Layout, unit: Unit, edits: Sequence[Edit], context: Context
) -> tuple[Edit, ...] | None:
    """Return the edits of a sentence with those that leave out what stays unsupported in it.

    Args:
        layout: Of the answer.
        unit: The sentence.
        edits: What is changed in it.
        context: What each part of it must stand in: a long sentence that is true for the most
            part may be called supported as a whole.

    Returns:
        The same edits where the context holds each part; None if what it does not hold cannot go.
    """
    if unit.kind != "prose":
        return tuple(edits)
    old = layout.text(unit)
    mended = edited(
        old, [replace(e, start=e.start - unit.start, end=e.end - unit.start) for e in edits]
    )
    if mended is None:
        return None
    if is_held(_KEY.sub(" ", mended.text) if layout.is_json else mended.text, context):
        return tuple(edits)
    if layout.is_json:
        return None
    cut = _without(mended.text, context)
    made = edited(mended.text, cut) if cut else None
    if made is None:
        return None
    evidence = tuple(dict.fromkeys(found for edit in edits for found in edit.evidence))
    return (Edit(unit.start, unit.end, made.text, evidence),)


def is_held(text: str, context: Context) -> bool:
    """Say whether the context holds each part of a text; of a single one that is verified."""
    if is_long(text):
        return False
    parts = [text[slice(*span)] for span in _parts(text)]
    whole = len(parts) < 2 and not _CLAUSES.search(text)
    return whole or all(_held(part, context) for part in parts)


def is_long(text: str) -> bool:
    """Say whether a text is too long, or has too many parts, to be mended by its parts."""
    return len(text) > _LONGEST or len(list(islice(_parts(text), _MOST + 1))) > _MOST


def _without(text: str, context: Context) -> tuple[Edit, ...] | None:
    """Return the edits that leave parts of a text out which the context does not hold."""
    if is_long(text):
        return None
    parts = list(_parts(text))
    pairs = list(pairwise(parts))
    gone = [span for span in parts[1:] if not _held(text[slice(*span)], context)]
    if not _held(text[slice(*parts[0])], context):
        return None if gone else _begun(text, parts)
    if not gone:
        return None
    if any(_binds(text[slice(*span)]) for span in gone):
        return None
    if _SUBORDINATE.match(text) and parts[1] in gone:
        return None  # "Although it is safe" is no sentence
    if _strands(text, parts, gone):
        return None
    if any(two in gone and one not in gone and _shares(text, one, two) for one, two in pairs):
        return None
    edits = [
        Edit(start, _aside_end(text, parts[0], end) if start == parts[0][1] else end, "")
        for start, end in gone
    ]
    kept = [span for span in parts if span not in gone]
    joint = _joint(text, parts[-1])
    if parts[-1] in gone and len(kept) > 1 and joint.strip(" ,") and text[kept[-1][0]] == ",":
        # of "A, B and C" stays "A and B"
        comma = kept[-1][0]
        edits.append(Edit(comma, comma + len(_joint(text, kept[-1])), joint))
    made = edited(text, edits)
    if made is None or not has_verb(made.text) or len(made.text.split()) < _FEWEST:
        return None
    if is_negative(made.text) != is_negative(text):
        return None
    return made.edits


def _begun(text: str, parts: Sequence[Span]) -> tuple[Edit, ...] | None:
    """Return the edits that let a sentence begin with its second part.

    None unless that has a subject and a verb of its own, and means nothing of the first.
    """
    if len(parts) < _TWO:
        return None
    first = text[slice(*parts[0])]
    if not (has_verb(first) or _AMOUNT.match(first)):
        return None
    joint = _joint(text, parts[1])
    rest = text[parts[1][0] + len(joint) : parts[1][1]]
    verb = verb_at(rest)
    if not _COMPLETE.fullmatch(joint) or verb is None or not has_words(rest[: verb.start()]):
        return None
    if leans(rest) or _binds(first) or _CLAUSES.search(first):
        return None
    if _SUBORDINATE.match(text) or is_negative(first) or len(rest.split()) < _FEWEST:
        return None
    start = parts[1][0] + len(joint)
    return (Edit(parts[0][0], start + 1, text[start].upper()),)


def _shares(text: str, one: Span, two: Span) -> bool:
    """Say whether a part is what the next one says something of: "towels" of "and robes cost"."""
    rest = text[two[0] + len(_joint(text, two)) : two[1]]
    verb = verb_at(rest)
    own = _AMOUNT.match(rest) or (verb is not None and has_words(rest[: verb.start()]))
    return bool(own) and not has_verb(text[slice(*one)])


def _strands(text: str, parts: Sequence[Span], gone: Sequence[Span]) -> bool:
    """Say whether a subordinate clause would stay without the clause that it belongs to.

    Of "If you pay and cancel, you get it back" that is the one behind the comma.
    """
    hangs = False
    for part in parts:
        joint = _joint(text, part)
        rest = text[part[0] + len(joint) : part[1]]
        if part in gone:
            if hangs:
                return True
        elif _SUBORDINATE.match(rest):
            hangs = True
        elif hangs and joint.strip() == ",":
            verb = verb_at(rest)
            hangs = verb is None or not has_words(rest[: verb.start()])
    return False


def _aside_end(text: str, first: Span, end: int) -> int:
    """Return where "Ada, a painter," ends: with its second comma."""
    closes = text[end : end + 1] == "," and not has_verb(text[slice(*first)])
    return end + closes


def _joint(text: str, part: Span) -> str:
    match = _JOINT.match(text, part[0])
    return match[0] if match else ""


def _parts(text: str) -> Iterator[Span]:
    """Yield the first part of a sentence, and each other with what joins it to the one before."""
    end = match.start() if (match := _END.search(text)) else len(text)
    asides = [match.span() for match in _ASIDE.finditer(text, 0, end)]
    joints = [m.start() for m in _JOINT.finditer(text, 0, end) if not _inside(m.start(), asides)]
    places = sorted({0, end, *joints, *(place for span in asides for place in span)})
    for start, stop in pairwise(places):
        if any(map(str.isalnum, text[start:stop])):
            yield start, stop


def _inside(place: int, spans: list[Span]) -> bool:
    return any(start <= place < end for start, end in spans)


def _held(part: str, context: Context) -> bool:
    """Say whether the context holds each clause of a part."""
    found = [clause for clause in _CLAUSES.split(CITATION.sub(" ", part)) if keys_in(clause)]
    return all(context.select(clause).coverage >= _HELD for clause in found)


def _binds(part: str) -> bool:
    """Say whether what stays would say more without a part."""
    words = part.strip(" ,;()")
    opening = " ".join(words.split()[:2])
    return _BINDS.search(opening) is not None or is_negative(words)
