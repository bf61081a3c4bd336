"""A statement and its own negation: the same words, and one "not".

In: a scene. Out: a veto where a sentence of the context, or a clause of one, has the words of the
claim and differs from it in nothing but a negation; None where none has, or where another says it
as the claim does. What the words mean is not asked, so nothing can be misread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from faithguard.types import Verdict
from faithguard.verifiers.rules._parts import negates
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Scene, contradiction

__all__ = ["own_negation"]

_FEWEST = 2
"""Words that a statement must have, apart from those that only link."""
_ENOUGH = 0.7
"""Share of the claim's content that a sentence must hold to be looked at."""
_LINKS = frozenset("do does did a an the any to that this and or , . ; : ! ? ( )".split())
_SHORT = {"ca": "can", "wo": "will", "sha": "shall"}

_Said = tuple[frozenset[tuple[str, int]], bool]
"""How often it has each word, and whether it is denied."""


def own_negation(scene: Scene, name: str) -> Verdict | None:
    """Veto a claim whose own negation the context states, and which it states nowhere."""
    first = scene.near[:1]
    if not first or first[0].share < _ENOUGH:
        return None
    mine = _said(scene.reading, scene.reading.tokens)
    if mine is None:
        return None
    words, denied = mine
    against = None
    for near in scene.near:
        if near.share < _ENOUGH:
            break
        for other, theirs in _statements(near.reading):
            if other == words:
                if theirs is denied:
                    return None
                against = against or near
    if against is None:
        return None
    reason = "the context says it without the negation" if denied else "the context denies it"
    return contradiction(scene, name, reason, against)


def _statements(reading: Reading) -> Iterator[_Said]:
    parts = [reading.tokens, *map(reading.words, reading.clauses)]
    for said in map(_said, [reading] * len(parts), parts):
        if said is not None:
            yield said


def _said(reading: Reading, tokens: Sequence[Token]) -> _Said | None:
    """Return the words of a statement without its negations, and whether their number is odd."""
    words: Counter[str] = Counter()
    negations = content = 0
    for token in tokens:
        word = token.lower.replace("’", "'")
        if negates(token, reading.text):
            negations += 1
            bare = word.removesuffix("n't") if word.endswith("n't") else ""
            word = "can" if word == "cannot" else _SHORT.get(bare, bare)
        elif token.key:
            content += 1
            word = token.key
        if word and word not in _LINKS:
            words[word] += 1
    return (frozenset(words.items()), negations % 2 == 1) if content >= _FEWEST else None
