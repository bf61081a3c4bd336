"""Whose it is: a deed, a quality or a part that the context tells of another name.

In: a scene. Out: a veto where the context says it of one name and the claim of another that the
context knows and of which it does not say it; "hive A" and "hive B", "Paul Brandt" and "Lena
Brandt" are two; else None. English.
"""

from __future__ import annotations

from faithguard.types import Verdict
from faithguard.verifiers.rules._deeds import Deed
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._reading import Reading, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction
from faithguard.verifiers.rules._small_words import JOINS, PREPOSITIONS
from faithguard.verifiers.rules._swaps import SYMMETRIC, converse, short_sentences
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["bound_to_another"]

_BEARING = keys_of_all("be have come offer include feature contain get provide".split())
"""Verbs that only say whose a thing is."""
_HELD = 0.75
"""Share of what is said that must be said of the other."""
_SAID = 0.5
"""Share from which it is said of the claim's own name too."""
_MUCH = 0.35
"""Share of a claim that a sentence must hold where they share a verb without an object."""


def bound_to_another(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says of another name."""
    for mine in told(scene):
        who = _who(mine)
        if mine.denied or mine.verb in _TOGETHER:
            continue
        near = _to_another(scene, mine)
        named = (
            not (mine.pronoun or mine.guessed) and _names(who, scene) and all(map(scene.known, who))
        )
        if near is None and named and not _who_of_more(mine, scene.reading):
            near = _of_another(scene, mine, who)
        if near is not None:
            reason = f"the context says it of another: {near.sentence.text[:80]!r}"
            return contradiction(scene, name, reason, near)
    return None


_TOGETHER = SYMMETRIC - {"have"} | {"take"}


def _who(deed: Deed) -> frozenset[str]:
    """Return whom a deed is told of: who does it, or else to whom it is done."""
    return deed.agents or deed.subject


def _who_of_more(deed: Deed, reading: Reading) -> bool:
    """Whether "who" may mean what stands farther back: "Ann, a pupil of Bo, who"."""
    words = [t.lower for t in reading.tokens[max(0, deed.start - 1) : deed.start + 1]]
    return words[-1:] == ["who"] and words[0] == ","


def _names(keys: frozenset[str], scene: Scene) -> frozenset[str]:
    return frozenset(key for key in keys if _is_name(key, scene))


def _is_name(key: str, scene: Scene) -> bool:
    return " " not in key and scene.pages.named(key)


def _of_another(scene: Scene, mine: Deed, who: frozenset[str]) -> Near | None:
    rest = mine.sides - who
    bearing = mine.verb in _BEARING
    if not rest and bearing:
        return None
    against: Near | None = None
    for near in short_sentences(scene):
        for theirs in known_deeds(scene, near):
            other = _who(theirs)
            told_alike = _same_deed(mine, theirs)
            # that somebody "won" tells of no one thing
            much = float(told_alike and near.share >= _MUCH)
            share = _share(rest, theirs, near, scene) if rest else much
            if _one(who, other, scene) or _names(who, scene) & theirs.sides:
                if share >= _SAID and (told_alike or not bearing or share >= _HELD):
                    return None
                continue
            if not told_alike or theirs.denied or theirs.guessed or theirs.pronoun or not other:
                if told_alike and share >= _SAID and not theirs.denied:
                    return None  # of whom is not sure
                continue
            if bool(mine.agents) != bool(theirs.agents) and not bearing:
                continue
            if _joined(who, other, near.reading):
                return None
            if _short(who, scene.reading) or _short(other, near.reading):
                continue  # "the Regional Business Council" may be the RBC
            if share >= _HELD and _two(who, other, scene):
                against = against or near
    return against


def _same_deed(mine: Deed, theirs: Deed) -> bool:
    """Whether two verbs say the same, or both only whose a thing is."""
    if mine.verb == theirs.verb or (mine.verb in _BEARING and theirs.verb in _BEARING):
        return True
    return bool(alike((mine.verb,), (theirs.verb,))) and not converse(mine.verb, theirs.verb)


def _to_another(scene: Scene, mine: Deed) -> Near | None:
    """Return the sentence in which the same one does it to another name."""
    mine_to = _object(mine, scene.reading)
    if not _names(mine_to, scene) or not mine.agents or not all(map(scene.known, mine_to)):
        return None
    if mine.guessed or mine.conditional:
        return None
    against: Near | None = None
    for near in short_sentences(scene):
        for theirs in known_deeds(scene, near):
            if theirs.verb != mine.verb or theirs.denied:
                continue
            unsure = theirs.guessed and theirs.pronoun
            if mine_to & theirs.sides or not theirs.agents or unsure:
                return None
            if _goes_on(theirs, near.reading) and mine_to <= near.reading.keys:
                return None  # "reads CSV and JSON files"
            theirs_to = _object(theirs, near.reading)
            if alike(mine.agents, theirs.agents) and _two(mine_to, theirs_to, scene):
                against = against or near
    return against


def _goes_on(deed: Deed, reading: Reading) -> bool:
    """Whether what a deed is done to is joined to more of it."""
    ends = PREPOSITIONS | JOINS | {",", ";", "."}
    after = (t.lower for t in reading.tokens[deed.at + 1 :] if t.lower in ends)
    end = next(after, "")
    return end in JOINS or end == ","


def _object(deed: Deed, reading: Reading) -> frozenset[str]:
    """Return the words right behind a verb, up to a small word."""
    found: set[str] = set()
    if deed.passive or deed.adjective:
        return frozenset()
    for token in reading.tokens[deed.at + 1 : deed.end]:
        if token.lower in PREPOSITIONS | JOINS or (not token.key and token.lower in ",;"):
            break
        if token.key:
            found.add(token.key)
    return frozenset(found)


def _share(rest: frozenset[str], theirs: Deed, near: Near, scene: Scene) -> float:
    held, own = alike(rest, theirs.sides), theirs.sides - _who(theirs)
    if held and alike(own, rest) == own:
        return 1.0
    if not own and _alone(theirs, near, scene):
        held = alike(rest, near.reading.keys)
    behind = near.reading.tokens[theirs.at + 1 : theirs.at + 2]
    if not own and behind and behind[0].lower in _OBJECTS:
        return 1.0
    return scene.weight(held) / scene.weight(rest)


def _alone(deed: Deed, near: Near, scene: Scene) -> bool:
    """Whether a sentence tells of nobody else, so that all of it is of whom it tells."""
    whose = [_names(_who(d), scene) for d in known_deeds(scene, near)]
    return len({w for w in whose if w}) < _TWO


def _short(keys: frozenset[str], reading: Reading) -> bool:
    """Whether a name is written in capitals alone."""
    words = (reading.text[t.start : t.end] for t in reading.tokens if t.key in keys)
    return any(len(word) > 1 and word.isalpha() and word.isupper() for word in words)


_TWO = 2
_OBJECTS = frozenset("it them him her".split())


def _joined(who: frozenset[str], other: frozenset[str], reading: Reading) -> bool:
    """Whether a sentence joins two: "Ann and Bo managed it"."""
    tokens = reading.tokens
    return any(
        tokens[n - 1].key in one and {t.key for t in tokens[n + 1 : n + 1 + _TWO]} & two
        for n in range(1, len(tokens))
        if tokens[n].lower in ("and", "or")
        for one, two in ((who, other), (other, who))
    )


def _one(who: frozenset[str], other: frozenset[str], scene: Scene) -> bool:
    """Whether two may be one: they share a word, and none is told apart from the other."""
    return bool(who & other) and not _two(who, other, scene)


def _two(who: frozenset[str], other: frozenset[str], scene: Scene) -> bool:
    """Whether two have different names."""
    return bool(_names(who - other, scene)) and bool(_names(other - who, scene))
