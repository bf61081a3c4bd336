"""Comparisons and superlatives: which of two is more, and what is the first.

In: a scene. Out: a veto where two are compared the other way round, or where the context knows no
"the first" or only "one of the first"; else None.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from faithguard.types import Verdict
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._parts import CLOSE, SAME_STATEMENT
from faithguard.verifiers.rules._reading import Reading, Token, key_of
from faithguard.verifiers.rules._scene import Near, Scene, contradiction, unmentioned

__all__ = ["compared_alike", "first_of_some", "other_way_round", "superlative", "than_after"]

_IS_THE = re.compile(
    r"\b(?:is|are|was|were|became|remains?|as)\s+(?:\w+\s+)?the\s+(first|only|sole|best|worst|\w{3,}est"
    r"|(?:most|least)\s+\w+)\b(?!\s+(?:of\s+)?(?:month|day|week|year|time)s?\b)",
    re.I,
)
_UTMOST = re.compile(
    r"\b(?:\w{3,}est|most|least|first|only|sole|solely|alone|best|worst|top|record|unique|leading|no\s+other"
    r"|never\s+before|inaugural|original|last|\w+er\s+than\s+any|unrivalled|maiden|debut|pioneer\w*)\b",
    re.I,
)


_BUT_FOR = re.compile(r"\b(?:except\w*|apart\s+from|other\s+than|save\s+for|none\s+but)\b", re.I)


def superlative(scene: Scene, name: str) -> Verdict | None:
    """Veto "was the first" where the sentence that says the rest speaks of no first."""
    match = _IS_THE.search(scene.reading.text)
    if match is None or not scene.near or scene.near[0].share < SAME_STATEMENT:
        return None
    if any(near.reading.row or near.reading.is_field for near in scene.near):
        return None  # the writer may compare what a table lists
    if any(_says_utmost(match[1], near) for near in scene.near if near.share >= CLOSE):
        return None
    return unmentioned(scene, name, f"the context does not say 'the {match[1]}'")


def _says_utmost(word: str, near: Near) -> bool:
    """Whether a sentence says that something is the utmost, "-est" in the very word or its like."""
    found = [match[0].lower() for match in _UTMOST.finditer(near.reading.text)]
    word = word.lower()
    if word in ("only", "sole") and _BUT_FOR.search(near.reading.text):
        return True  # "none but", "forbidden, except for"
    if not word.endswith("est") or not found:
        return bool(found)
    stem = key_of(word.removesuffix("est")) or word
    return any(
        not other.endswith("est")
        or other == word
        or alike((stem,), (key_of(other.removesuffix("est")) or other,))
        or opposite(other) & opposite(word)
        for other in found
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is compared, in what, and which is more of it: "X is older than Y"."""

    left: frozenset[str]
    right: frozenset[str]
    what: str
    less: bool


def _comparisons(reading: Reading) -> Iterator[_Comparison]:
    """Yield the comparisons of a text; the right side is empty where it is left out."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        before = tokens[number - 1].lower if number else ""
        if token.key is None:
            continue
        if before in ("more", "less") or (
            token.lower.endswith("er") and (opposite(token.lower) or than_after(tokens, number))
        ):
            what = token.lower
        else:
            continue
        than = than_after(tokens, number)
        first = max((n + 1 for n in range(number) if tokens[n].lower in _STOPS), default=0)
        end = next((n for n in range(than, len(tokens)) if tokens[n].lower in _STOPS), len(tokens))
        left = _designated(tokens, first, number)
        right = _designated(tokens, than + 1, end) if than else frozenset[str]()
        if left:
            yield _Comparison(left - right, right - left, what, before == "less")


_STOPS = frozenset(".;:,!?()") | frozenset("but while whereas because which who although".split())
_FAR = 6


def than_after(tokens: tuple[Token, ...], number: int) -> int:
    """Return where "than" follows a comparative; 0 if it does not."""
    return next(
        (
            n
            for n in range(number + 1, min(number + _FAR, len(tokens)))
            if tokens[n].lower == "than"
        ),
        0,
    )


def _designated(tokens: tuple[Token, ...], first: int, last: int) -> frozenset[str]:
    """Return the words of a stretch; "unit 2" is one of them."""
    found: set[str] = set()
    for number in range(first, last):
        token = tokens[number]
        if token.key:
            found.add(token.key)
        elif token.value >= 0 and number and (key := tokens[number - 1].key):
            found.add(f"{key} {token.lower}")
    return frozenset(found)


def other_way_round(scene: Scene, name: str) -> Verdict | None:
    """Veto "A is older than B" where the context says that B is."""
    for mine in _comparisons(scene.reading):
        for near in scene.near if mine.right else ():
            for theirs in _comparisons(near.reading):
                turned = _turned_round(mine, theirs, near.reading)
                if turned is None:
                    continue
                if not turned or (theirs.what != mine.what and _has(near.reading, mine.what)):
                    return None  # it may compare two others in the word of the claim
                reason = "the context compares them the other way round"
                return contradiction(scene, name, reason, near)
    return None


def _has(reading: Reading, word: str) -> bool:
    return any(token.lower == word for token in reading.tokens)


def compared_alike(scene: Scene, near: Near) -> bool:
    """Whether both compare two things, and agree: "A is weaker than B", "B is stronger than A"."""
    return any(
        _turned_round(mine, theirs, near.reading) is False
        for mine in _comparisons(scene.reading)
        for theirs in _comparisons(near.reading)
    )


def _turned_round(mine: _Comparison, theirs: _Comparison, reading: Reading) -> bool | None:
    """Return whether two comparisons clash; None where they do not compare the same."""
    if mine.what == theirs.what:
        less = mine.less != theirs.less
    elif theirs.what in opposite(mine.what):
        less = mine.less == theirs.less
    else:
        return None
    straight = mine.left & theirs.left and (mine.right & theirs.right or not theirs.right)
    crossed = mine.right & theirs.left and (
        mine.left & theirs.right or (not theirs.right and mine.left & reading.keys)
    )
    if bool(straight) == bool(crossed):
        return None
    return bool(straight) == less


_ONE_OF = re.compile(r"\b(?:one\s+of|among|some\s+of)\s+the\s+((?:most\s+|least\s+)?\w+)\b", re.I)
_THE = re.compile(
    r"\bthe\s+(first|last|only|sole|best|worst|\w{3,}est|(?:most|least)\s+\w+)\b", re.I
)


def first_of_some(scene: Scene, name: str) -> Verdict | None:
    """Veto "the first" where the context says "one of the first"."""
    if _ONE_OF.search(scene.reading.text):
        return None
    said = {match[1].lower() for match in _THE.finditer(scene.reading.text)}
    for near in scene.near if said else ():
        if near.share < CLOSE * 0.8:
            break
        shared = {match[1].lower() for match in _ONE_OF.finditer(near.reading.text)} & said
        if shared:
            word = min(shared)
            reason = f"the context says 'one of the {word}', the answer 'the {word}'"
            return unmentioned(scene, name, reason)
    return None
