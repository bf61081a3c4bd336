"""Conditions that a claim drops: "only if the hall is left clean", "members with a pass".

In: the scene of an English claim. Out: the condition on which alone the context says it, in the
context's words, or None where the context also says it without one, where the claim keeps some
of it, or where it is not plain. A condition counts where the words of the claim stand outside it.
"""

from __future__ import annotations

import re

from faithguard.verifiers.rules._reading import Reading, read
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = ["condition_dropped"]

_ALL = 0.85
"""Share of a claim's words that a sentence must hold outside the condition to say the claim."""

_MARK = re.compile(
    r"(?:\b(?:only|solely|exclusively)\s+(?:if|when|where|while|for|to|with|after|before"
    r"|during|on|in|at|by|from|until|within|upon|because)\b)"
    r"|\b(?:if(?!\s+and\s+only)|unless|provided(?=\s+(?:that|the|they|it|you|a|an|there)\b)|providing\s+that"
    r"|(?:as|so)\s+long\s+as|on\s+(?:the\s+)?condition\s+that|subject\s+to|except\s+(?:for|on|in"
    r"|at|when|if|where|during))\b"
    r"|\b(?:for|to|by|on|at|in|with|during|after)(?=\s[^,.;:]{2,60}\sonly\s*(?:[,.;]|$))",
    re.I,
)
_GRANTED = re.compile(
    r"\b(?:is|are|was|were|be|remains?)\s+(?:not\s+)?(?:free(?:\s+of\s+charge)?|allowed|permitted"
    r"|required|mandatory|compulsory|forbidden|prohibited|covered|included|refundable|refunded"
    r"|exempt|admitted|entitled|eligible|tax-free)\s*[.!]?$",
    re.I,
)
"""What somebody is granted or owes: of whom, and when, is all of it."""
_FOR_WHOM = re.compile(
    r"\b(?:for|to|when|during|with|after|before|on|between|from|until)\b"
    r"(?!\s+(?:every(?:one|body)?|any(?:one|body)?|all|each|both|the\s+(?:general\s+)?public)\b)",
    re.I,
)
_NEXT = re.compile(r"[;:]\s|[.!?][\"”')]*\s|;|\b(?:but|whereas|although|however)\b", re.I)
_JOINT = re.compile(r",|\b(?:and|or|then)\b", re.I)
_NO_CONDITION = re.compile(
    r"\b(?:even|as|what|or|and|ask\w*|see|check\w*|know|wonder\w*|decid\w+|determin\w+|test\w*|whether"
    r"|find\s+out|not|sure|say|tell\w*|asked|unclear|doubt\w*)\s+$",
    re.I,
)
_OFFERED = re.compile(
    r"\b(?:offered|promised|agreed|proposed|suggested|undertook|threatened|asked|demanded|vowed)\b",
    re.I,
)
_WEAK = re.compile(
    r"if\s+(?:necessary|needed|required|possible|desired|any|so|not|available|applicable"
    r"|(?:everything|all)\s+(?:is|goes|was)\s+(?:fine|well|right|ok(?:ay)?|in\s+order|correct)"
    r"|(?:you|they|we)\s+(?:like|wish|want|prefer|have\s+(?:any\s+)?(?:questions?|problems?)))\b",
    re.I,
)
_KEPT = re.compile(
    r"\b(?:are|were|is|was)\s+(?:not\s+)?\w+ing\b|\b(?:if|unless|only|when|whenever|where|while|provided|providing|as\s+long\s+as|so\s+long\s+as"
    r"|not\s+(?:all|every|each|always)|condition\w*|subject\s+to|except\w*|in\s+case|some|depend\w*|sometimes"
    r"|certain|eligible|after|once|until|with|for\s+those|who)\b",
    re.I,
)
_ALL_OF = frozenset("all every any".split())
_PLURALS = frozenset("children people men women".split())
_COMPARED = ("unlike", "like")
_FRONT = 4
"""Tokens; the noun of a subject stands among the first ones."""
_HEDGES = frozenset("may might can could".split())
_HOLDING = frozenset("with who whose holding aged over under having without that".split())


def condition_dropped(scene: Scene) -> tuple[str, Near] | None:
    """Return the condition that a claim drops, and the sentence that makes it."""
    mine = scene.reading
    first = scene.near[:1]
    if not first or first[0].share < _ALL or scene.stands or _KEPT.search(mine.text):
        return None
    asked = read(scene.context.question or "")
    found: tuple[str, Near] | None = None
    for near in scene.near:
        if near.share < _ALL:
            break
        if any(t.lower in _HEDGES for t in mine.tokens) > any(
            t.lower in _HEDGES for t in near.reading.tokens
        ):
            return None
        condition = _condition(mine, near.reading) or _of_whom(mine, near.reading)
        if condition is None or _says(asked, mine, read(condition)):
            return None  # said without one, or the one that was asked about
        found = found or (condition, near)
    return found


def _says(asked: Reading, mine: Reading, condition: Reading) -> bool:
    return condition.keys <= asked.keys | mine.keys and all(
        any(value.agrees(other) for other in asked.values) for value in condition.values
    )


def _condition(mine: Reading, theirs: Reading) -> str | None:
    """Return the condition in a sentence that says a claim beside it."""
    marks = [*_MARK.finditer(theirs.text)]
    if _GRANTED.search(mine.text):
        marks += _FOR_WHOM.finditer(theirs.text)
    for mark in marks:
        if _NO_CONDITION.search(theirs.text[: mark.start()]) or _WEAK.match(
            theirs.text, mark.start()
        ):
            continue
        if _OFFERED.search(theirs.text[: mark.start()]):
            continue  # on what terms, not whether: "he offered the tank if"
        if mine.values and mark[0].lower() in ("if", "provided"):
            continue  # how much it is, not whether: "the fee is 5 euros"
        if re.search(rf"\bor\s+{mark[0]}\b", theirs.text[mark.end() :], re.I):
            continue  # "from a shop, or from the maker": one of two ways
        end = _end(theirs, mark.start())
        inside = _keys(theirs, mark.end(), end)
        start, stop = _statement(theirs.text, mark.start())
        outside = _keys(theirs, start, mark.start()) | _keys(theirs, end, stop)
        beside = _beside(theirs, start, mark.start()) or _keys(theirs, end, stop)
        if (
            inside
            and not inside & mine.keys
            and not _holds_value(mine, theirs, mark.end(), end)
            and (beside & mine.keys or not beside)
            and len(mine.keys - outside) <= (1.0 - _ALL) * len(mine.keys)
            and (len(mine.keys) > 1 or _words(mine) <= _words(theirs))
        ):
            return theirs.text[mark.start() : end].strip(" ,;.")
    return None


def _holds_value(mine: Reading, theirs: Reading, start: int, end: int) -> bool:
    """Whether a claim says a value of a condition: "five hours" of "for 300 minutes"."""
    inside = [value for value in theirs.values if start <= value.start < end]
    return any(own.agrees(value) for own in mine.values for value in inside)


def _statement(text: str, at: int) -> tuple[int, int]:
    """Return where the statement around an offset begins and ends."""
    ends = [0, *(found.end() for found in _NEXT.finditer(text)), len(text)]
    after = next(n for n, end in enumerate(ends) if end > at)
    return ends[after - 1], ends[after]


def _beside(theirs: Reading, start: int, at: int) -> set[str]:
    """Return the words of what is joined last before an offset: a condition there is its own."""
    joined = [found.end() for found in _JOINT.finditer(theirs.text, start, at)]
    return next(
        (keys for s in [*joined[::-1], start] if (keys := _keys(theirs, s, at))), set[str]()
    )


def _end(theirs: Reading, start: int) -> int:
    """Return where a condition ends: where it opens the sentence at its comma."""
    first = theirs.tokens[0].start == start if theirs.tokens else False
    for token in theirs.tokens:
        if token.start > start and token.lower in (",;." if first else ";."):
            return token.start
    return len(theirs.text)


def _words(reading: Reading) -> set[str]:
    return {token.lower for token in reading.tokens if token.lower.isalnum()}


def _keys(reading: Reading, start: int, end: int) -> set[str]:
    return {t.key for t in reading.tokens if t.key and start <= t.start < end}


def _of_whom(mine: Reading, theirs: Reading) -> str | None:
    """Return which of its plural subject a sentence speaks of, where a claim speaks of all."""
    own, other = mine.tokens, theirs.tokens
    start = 1 if own and own[0].lower in _ALL_OF else 0
    if len(own) < start + 3 or not own[start].key or not _is_plural(own[start].lower):
        return None
    at = next((n for n, token in enumerate(other[:_FRONT]) if token.key == own[start].key), None)
    if at is None or at + 2 >= len(other) or own[start + 1].key == other[at].key:
        return None
    if other[0].lower in _COMPARED:
        return None  # "Unlike hawks, owls ..."
    if own[start + 2].value >= 0:
        return None  # what they are, not which: "hours are 9 to 5"
    before = {t.key for t in other[:at] if t.key}
    if at and all(t.key and t.value < 0 for t in other[:at]) and not before & mine.keys:
        return theirs.text[other[0].start : other[at].end]
    if at > 0 or other[at + 1].lower not in _HOLDING:
        return None
    last = next(
        (n for n, t in enumerate(other) if n > at + 1 and t.lower == own[start + 1].lower), 0
    )
    dropped = {t.key for t in other[at + 1 : last] if t.key or t.value >= 0}
    return theirs.text[: other[last - 1].end] if dropped and not dropped & mine.keys else None


def _is_plural(word: str) -> bool:
    return word in _PLURALS or (word.endswith("s") and not word.endswith("ss"))
