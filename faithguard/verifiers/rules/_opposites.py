"""Opposite words in one place: open and closed.

In: a scene. Out: a veto where the context has the opposite of a word of the claim; else None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from faithguard.types import Verdict
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._comparatives import compared_alike, than_after
from faithguard.verifiers.rules._denials import two_of_a_kind
from faithguard.verifiers.rules._exceptions import is_excepted
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._negation import only_planned
from faithguard.verifiers.rules._parts import CLOSE, Part, known_parts, parts_of
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["opposite_said"]


def opposite_said(scene: Scene, name: str) -> Verdict | None:
    """Veto where the opposite of a word stands in its place."""
    against = {other for token in scene.reading.tokens for other in opposite(token.lower)}
    left = [
        near
        for near in (scene.near if against else ())
        if not against.isdisjoint(_places(near, scene))
        and not (is_excepted(scene, near) or compared_alike(scene, near))
    ]
    own = {token.lower for token in scene.reading.tokens} if left else set[str]()
    for mine in parts_of(scene.reading, None) if left else ():
        for near in left:
            for theirs in known_parts(near, scene):
                pair = _opposites(mine, theirs, scene, near, own)
                if pair is not None:
                    reason = f"the context says {pair[1]!r}, the answer {pair[0]!r}"
                    return contradiction(scene, name, reason, near)
    return None


def _opposites(
    mine: Part, theirs: Part, scene: Scene, near: Near, own: Set[str]
) -> tuple[str, str] | None:
    if bool(mine.denied) != bool(theirs.denied):
        return None
    shared = mine.keys & theirs.keys
    if not shared or len(shared) < CLOSE * (len(mine.keys) - 1):
        return None
    said = _places(near, scene)
    known = near.reading.keys
    for number in range(mine.clause.first, mine.clause.last):
        token = scene.reading.tokens[number]
        word = token.lower
        if word in ("more", "less", "fewer") and than_after(scene.reading.tokens, number):
            continue  # see above
        if word in _BESIDES and _no_opposite(scene.reading, number, near.reading):
            continue
        if word in _ENDS_OF_TIME and mine.clause.values:
            continue  # "it closes at 4" is "it is open until 4"
        for other in opposite(word) & said.keys() - own if token.key not in known else ():
            if _degree(word) != _degree(other):
                continue  # "late January" and "earlier in the year"
            inside = theirs.clause.first <= said[other] < theirs.clause.last
            if not inside or _of_another_thing(scene, number, near, said[other]):
                continue
            own_sides = _beside(scene.reading, number)
            beside = own_sides & _beside(near.reading, said[other])
            if word in _ORDER and beside != own_sides:
                continue  # what comes first of three need not be said of all
            if beside and not _elsewhere(token, other, beside, scene):
                return word, other
    return None


def _of_another_thing(scene: Scene, number: int, near: Near, place: int) -> bool:
    """Whether what two opposite words are said of, or the cases in which, are not one."""
    mine, theirs = scene.reading, near.reading
    word = mine.tokens[number].lower
    if word in _HOW_MUCH and _has_noun(mine.tokens, number) != _has_noun(theirs.tokens, place):
        return True  # "more patients" and "$61 per patient less"
    if word in _FOLLOWED:
        own, other = _behind(mine.tokens, number), _behind(theirs.tokens, place)
        length = word in _BESIDES and "#" in (
            own,
            other,
        )  # "without notice", "with two days' notice"
        if own and other and own != other and not (length or alike((own,), (other,))):
            return True  # "under a bandage" and "over the wound"
        if own == other == "#" and not _one_value(mine, number, theirs, place):
            return True  # "before ten" and "after five"
    if _ASKED.match(theirs.text, theirs.tokens[place].start):
        return True
    if word.endswith("ly") and _OR.search(theirs.text, theirs.tokens[place].start):
        return True  # "automatically at night, or by hand"
    return _in_another_case(scene, number, near, place) or _deeds_differ(scene, number, near, place)


_ASKED = re.compile(r"[^.!?]*\?")
_OR = re.compile(r"\bor\b", re.I)


def _one_value(mine: Reading, number: int, theirs: Reading, place: int) -> bool:
    """Whether the values behind two words agree."""
    own = next((t.value for t in mine.tokens[number + 1 :] if t.value >= 0), -1)
    other = next((t.value for t in theirs.tokens[place + 1 :] if t.value >= 0), -1)
    return own >= 0 and other >= 0 and mine.values[own].agrees(theirs.values[other])


def _in_another_case(scene: Scene, number: int, near: Near, place: int) -> bool:
    """Whether one of two opposite words stands in a case that the other is not of."""
    mine, theirs = scene.reading, near.reading
    word = mine.tokens[number].lower
    if not _conditional(mine, number) and _conditional(theirs, place):
        return True  # what is so if it is "above" says nothing of what is below
    cased = word in _FOLLOWED or _IF.search(mine.text)
    if cased and _OTHER_CASE.search(theirs.text):
        return True
    if _EVEN.search(_clause_before(mine, number)) or _EVEN.search(_clause_before(theirs, place)):
        return True
    seems = _SEEMS.search(_clause_before(theirs, place))
    return seems is not None and not _SEEMS.search(mine.text)


def _deeds_differ(scene: Scene, number: int, near: Near, place: int) -> bool:
    """Whether two opposite verbs are of two subjects, or of two objects."""
    one = next((deed for deed in told(scene) if deed.at == number), None)
    two = next((deed for deed in known_deeds(scene, near) if deed.at == place), None)
    if two is not None and only_planned(two, near.reading):
        return True
    if one is None or two is None:
        return False
    if one.subject and two.subject and not two.pronoun:
        if two_of_a_kind(one.subject, two.subject, scene):
            return True
        named = two.sides | scene.pages.inherited(near.number)
        if not alike(one.subject, named) and not alike(two.subject, one.sides):
            return True
    if one.passive != two.passive:
        return False
    own_side, other_side = one.patients - one.subject, two.patients - two.subject
    return bool(own_side and other_side) and not alike(own_side, other_side)


def _has_noun(tokens: Sequence[Token], number: int) -> bool:
    after = tokens[number + 1 : number + 2]
    return bool(after) and after[0].key is not None


def _conditional(reading: Reading, number: int) -> bool:
    """Whether a word stands in what something else hangs on: "if it is above 4"."""
    return _IF.search(_clause_before(reading, number)) is not None


def _clause_before(reading: Reading, number: int) -> str:
    """Return the text of a clause, up to a word of it."""
    end = reading.tokens[number].start
    cuts = [match.end() for match in _CUTS.finditer(reading.text, 0, end)]
    return reading.text[cuts[-1] if cuts else 0 : end]


_CUTS = re.compile(r"[,;:.](?!\d)\s|\s(?:but|while|whereas)\s", re.I)
_IF = re.compile(r"\b(?:if|unless|whenever|in\s+case|provided)\b", re.I)
_OTHER_CASE = re.compile(
    r"\b(?:otherwise|without\s+(?:it|them|one|this|that)|if\s+not|unless)\b", re.I
)
"""What a text says of the case that it has not named."""
_EVEN = re.compile(r"\b(?:even\s+(?:if|when|though)|however|no\s+matter|whether)\b", re.I)
_SEEMS = re.compile(
    r"\b(?:show(?:s|ed|n)?|displa(?:ys?|yed)|report(?:s|ed)?|list(?:s|ed)?|seem(?:s|ed)?"
    r"|appear(?:s|ed)?|look(?:s|ed)?)\s(?:\w+\s){0,2}(?:as|to\s+be|like)\b",
    re.I,
)


def _behind(tokens: Sequence[Token], number: int) -> str:
    """Return the first content word behind a word of its phrase; empty if none follows."""
    for token in tokens[number + 1 : number + 4]:
        if token.value >= 0:
            return "#"
        if token.key:
            return token.key
        if not token.lower.isalpha():
            return ""
    return ""


_HOW_MUCH = ("more", "less", "fewer")
_FOLLOWED = frozenset(
    (*"before after over under above below inside outside with without".split(), *_HOW_MUCH)
)
"""Words that say nothing without the word behind them."""
_ORDER = ("before", "after")
_BESIDES = ("with", "without")


def _no_opposite(claim: Reading, number: int, sentence: Reading) -> bool:
    """Whether "with no signs" is "without", or what is "with" is another case."""
    after = claim.tokens[number + 1 : number + 2]
    if claim.tokens[number].lower == "with" and after and after[0].lower in ("no", "out"):
        return True
    return _of_another_case(claim, number, sentence)


def _of_another_case(claim: Reading, number: int, sentence: Reading) -> bool:
    """Whether what a claim says of one case has values, and that of the other has others."""
    if number and claim.tokens[number - 1].lower not in _PARTINGS:
        return False
    words = [n for n, token in enumerate(sentence.tokens) if token.lower in _BESIDES]
    opens = [n for n in words if not n or sentence.tokens[n - 1].lower in _PARTINGS]
    there = [v for n in opens for v in sentence.values if v.start > sentence.tokens[n].start]
    alike = [v for v in claim.values if any(v.comparable(other) for other in there)]
    return bool(there) and not any(v.agrees(other) for v in alike for other in there)


_PARTINGS = frozenset(";,.:")
_ENDS_OF_TIME = frozenset(
    "closes close closing opens opening shuts starts started ends ended begins began finished"
    " completed".split()
)


_IRREGULAR = {"worse": "er", "worst": "est", "more": "er", "less": "er", "most": "est",
              "least": "est"}  # fmt: skip


def _degree(word: str) -> str:
    if word in ("after", "lower", "over", "under", "upper", "outer", "inner"):
        return ""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    return word[-3:] if word.endswith("est") else word[-2:] if word.endswith("er") else ""


def _places(near: Near, scene: Scene) -> dict[str, int]:
    """Return the words of a sentence of the context with their places."""
    key = "places", near.number
    found: dict[str, int] | None = scene.pages.notes.get(key)
    if found is None:
        words = enumerate(near.reading.tokens)
        found = scene.pages.notes[key] = {token.lower: number for number, token in words}
    return found


def _beside(reading: Reading, number: int) -> set[str]:
    """Return the nearest content words on both sides of a word."""
    before = [t.key for t in reading.tokens[max(0, number - 5) : number] if t.key]
    after = [t.key for t in reading.tokens[number + 1 : number + 6] if t.key]
    following = reading.tokens[number + 1 : number + 2]
    ends = not following or not following[0].lower.isalnum()
    return {*before[-2 if ends else -1 :], *after[:1]}


def _elsewhere(word: Token, other: str, beside: set[str], scene: Scene) -> bool:
    """Whether the context says it somewhere with the claim's word, or one that says the same."""
    return any(
        (
            word.key in near.reading.keys
            or any(t.lower == word.lower or other in opposite(t.lower) for t in near.reading.tokens)
        )
        and beside & (near.reading.keys | scene.pages.inherited(near.number))
        for near in scene.near
    )
