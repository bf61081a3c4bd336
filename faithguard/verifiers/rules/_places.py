"""What stands right around a value, and whether a claim says it.

In: a scene, and two places of the context: where it holds a value of the claim, and where another
that the claim may have confused it with. Out: whether the claim says what tells the first place
from the second: "private parties" of "deposit £100, private parties £200".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from faithguard._verbs import base_of
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Scene
from faithguard.verifiers.rules._slots import Slot

__all__ = ["is_at_home"]

_WALLS = frozenset(", ; . ! ? ( ) | – — / [ ] and or but while whereas otherwise then".split())
_LIGHT = frozenset("be have cost pay charge last run get come make take".split())


def is_at_home(scene: Scene, own: Slot, rival: Slot, taken: Collection[int]) -> bool:
    """Whether a claim says what stands around its value rather than what does around the other.

    Args:
        scene: The claim and its context.
        own: Where the context holds the value.
        rival: Where it holds the other.
        taken: Where values of the kind begin in the two sentences; what stands behind one of them
            is not said of the next.
    """
    mine, theirs = (_around(slot, taken) for slot in (own, rival))
    told = _told(scene, own, mine), _told(scene, rival, theirs)
    alone = mine - theirs
    if len(alone & told[0]) > 1 and not told[1] - mine:
        return True  # nothing speaks for the other
    if not alone or not alone <= told[0]:
        return False
    others = theirs - mine
    # what stands before the first of several is said of all: "Deposit £100, private parties £200"
    if _stand_together(rival, own):
        return True
    gained, kept = (
        scene.weight([one for one in told if isinstance(one, str)])
        for told in (told[1] - mine, alone)
    )
    return not others <= told[1] and kept >= gained


def _stand_together(first: Slot, second: Slot) -> bool:
    """Whether a place follows another before the next semicolon or stop."""
    if first.near.number != second.near.number or second.at < first.at:
        return False
    between = (t for t in first.near.reading.tokens if first.at < t.start < second.at)
    return not any(token.lower in ".;!?" for token in between)


_Anchor = str | int


def _told(scene: Scene, slot: Slot, anchors: Collection[_Anchor]) -> frozenset[_Anchor]:
    """Return which words and values around a place the claim says."""
    words = frozenset(one for one in anchors if isinstance(one, str))
    said = alike(words, scene.reading.keys)
    values = slot.near.reading.values
    return frozenset(said) | {
        one
        for one in anchors
        if isinstance(one, int) and any(values[one].agrees(v) for v in scene.reading.values)
    }


def _around(slot: Slot, taken: Collection[int]) -> frozenset[_Anchor]:
    """Return the words and values of the stretch in which a value stands."""
    reading = slot.near.reading
    tokens = reading.tokens
    here = next((n for n, t in enumerate(tokens) if t.end > slot.at), len(tokens) - 1)
    before = _up_to_wall(reading, range(here - 1, -1, -1), slot, taken)
    after = _up_to_wall(reading, range(here + 1, len(tokens)), slot, taken)
    return frozenset((*before, *after))


def _up_to_wall(
    reading: Reading, places: range, slot: Slot, taken: Collection[int]
) -> Iterator[_Anchor]:
    aside = 0
    for place in places:
        token = reading.tokens[place]
        # "Ann Roe (Labour) on 8,120": what stands in brackets beside it parts nothing
        if token.lower in "()" and (aside or (token.lower == ")") == (places.step < 0)):
            aside += 1 if (token.lower == ")") == (places.step < 0) else -1
            continue
        if aside:
            continue
        value = reading.values[token.value] if token.value >= 0 else None
        if value is not None and value.start <= slot.at < value.end:
            continue
        if value is not None and value.start in taken and not _numbers_a_name(reading, place):
            return
        if value is None and token.lower in _WALLS:
            return
        if value is not None:
            yield token.value
        elif token.key and not _says_little(token):
            yield token.key


def _numbers_a_name(reading: Reading, place: int) -> bool:
    """Whether a number ends a name: "Box 7"."""
    before = reading.tokens[max(0, place - 1) : place]
    return bool(before) and before[0].capital and before[0].key is not None


def _says_little(token: Token) -> bool:
    """Whether a word only says that something has a value."""
    return (base_of(token.lower) or token.lower) in _LIGHT
