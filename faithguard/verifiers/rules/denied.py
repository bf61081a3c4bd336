"""What a passage states only to deny it: a myth, an item under "Not covered", a crossed-out line.

In: a claim and its context. Out: a veto where the claim says what the context says is not so; the
verdict that it is supported where it denies the very same; else silence. Such a sentence is no
evidence for any other verifier.
"""

from __future__ import annotations

from collections.abc import Collection

from faithguard._denied import is_negative
from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context, Sentence
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers.rules._antonyms import opposite
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all, read
from faithguard.verifiers.rules._scene import Scene, scene_of

__all__ = ["Denied"]

_SAID = 0.8
"""Share of what is denied that a claim must say."""
_SAYS = 0.7
"""Share of a claim that what is denied must hold."""
_OF_ALL = frozenset(
    "all every each always any anyone everyone only most some both many few never no none nobody"
    " nothing either neither sometimes usually must may might".split()
)
"""To deny what is said of all, or of some, is not to say the opposite of it."""


_PART = "cover"
_PARTS = keys_of_all("cover include insure reimburse pay".split())


class Denied(EachClaim):
    """Veto what the context says is not so."""

    name = "denied@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a verdict, or None where nothing of the kind is denied."""
        if not context.denied:
            return None
        scene = scene_of(claim, context)
        for sentence in context.denied:
            for statement in sentence.denied:
                told = _same(scene, read(statement))
                if told is not None:
                    return _verdict(claim, self.name, sentence, denied=told)
        return None


def _verdict(claim: Claim, name: str, sentence: Sentence, *, denied: bool) -> Verdict:
    return Verdict(
        claim=claim.id,
        label="contradicted" if denied else "supported",
        p_supported=0.02 if denied else 0.95,
        verifier=name,
        reason="the context says that it is not so" if denied else "the context denies the same",
        evidence=(sentence.evidence(),),
    )


def _same(scene: Scene, said: Reading) -> bool | None:
    """Return whether a claim says what is denied, or the opposite; None if neither is told."""
    mine = scene.reading
    opposites = _opposites(mine, said)
    own = _plain((mine.keys - opposites.keys()) | frozenset(opposites.values()))
    theirs = _plain(said.keys)
    common = own & theirs
    if not common:
        return None
    held = scene.weight(common)
    if held < _SAYS * scene.weight(own) or held < _SAID * scene.weight(theirs):
        return None
    if not (_agrees(mine, said) and _agrees(said, mine)):
        return None
    turned = _negative(mine, opposites.keys()) != _negative(said, opposites.values())
    turned = turned != (len(opposites) % 2 == 1)
    if turned and not _OF_ALL.isdisjoint(t.lower for r in (mine, said) for t in r.tokens):
        return None
    return not turned


def _plain(keys: Collection[str]) -> frozenset[str]:
    """Return keys, those of being part of something as one."""
    return frozenset(_PART if key in _PARTS else key for key in keys)


def _negative(reading: Reading, but: Collection[str]) -> bool:
    """Whether a text denies something by other words than some."""
    return any(is_negative(t.lower) for t in reading.tokens if t.key not in but or t.key is None)


def _agrees(mine: Reading, theirs: Reading) -> bool:
    return all(any(value.agrees(other) for other in theirs.values) for value in mine.values)


def _opposites(mine: Reading, said: Reading) -> dict[str, str]:
    """Return words of a claim in whose place what is denied has an opposite."""
    found: dict[str, str] = {}
    words = {token.lower: token.key for token in said.tokens if token.key}
    for token in mine.tokens:
        if token.key is None or token.key in said.keys:
            continue
        other = next((w for w in opposite(token.lower) if w in words), None)
        if other is not None and (key := key_of(other)):
            found[token.key] = key
    return found
