"""How sure, and how much of a duty: may, should, must, will.

In: a scene. Out: a veto where the context says it more weakly; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard.types import Verdict
from faithguard.verifiers.rules._exceptions import FEW_NEAR
from faithguard.verifiers.rules._parts import CLOSE, negates
from faithguard.verifiers.rules._reading import Reading, keys_of_all
from faithguard.verifiers.rules._scene import Scene, contradiction, unmentioned
from faithguard.verifiers.rules._told import known_deeds, told

__all__ = ["duty_or_not", "demanded_instead", "stronger"]

_MODALS = {
    "may": "can", "might": "can", "can": "can", "could": "can", "must": "must", "shall": "must",
    "required": "must", "obliged": "must", "mandatory": "must", "will": "will",
    "should": "should", "recommended": "should", "optional": "can",
}  # fmt: skip
_TO_BE_DONE = re.compile(r"\b(?:has|have|need|needs)\s+to\s+$", re.I)


def _modal_verbs(reading: Reading) -> Iterator[tuple[str, str, str]]:
    """Yield modals with the verb that they govern: its key."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        kind = _MODALS.get(token.lower)
        if token.lower == "to" and _TO_BE_DONE.search(reading.text[: token.start + 3][-12:]):
            kind = "must"
        if kind is None or (token.lower == "may" and token.capital and number):
            continue
        after = tokens[number + 1 : number + 6]
        if _BOUND.search(reading.text, token.end, token.end + 60) or any(
            negates(t, reading.text) for t in after[:1]
        ):
            continue
        verb = next((t.key for t in after if t.key), None)
        if verb is not None:
            yield token.lower, kind, verb


# "may weigh up to 5 kg" and "must weigh no more than 5 kg" are one rule
_BOUND = re.compile(
    r"\b(?:up\s+to|at\s+most|no\s+(?:more|later|longer)|not\s+exceed|at\s+least|only)\b", re.I
)
_WEAKER = frozenset({("can", "must"), ("will", "can"), ("must", "can"), ("must", "should")})
"""(what the answer says, what the context says) that are not the same."""


_GENERAL = keys_of_all("consider carry offer perform do undertake conduct give".split())
"""Verbs that say little more than that something is done."""


def demanded_instead(scene: Scene, name: str) -> Verdict | None:
    """Veto "imaging must be done" where the context says "imaging may be considered"."""
    for mine in told(scene):
        if mine.modal != "must" or not mine.passive or mine.verb not in _GENERAL or mine.denied:
            continue
        for near in scene.near[:FEW_NEAR]:
            for theirs in known_deeds(scene, near):
                milder = theirs.modal in ("can", "should") and not theirs.denied
                if milder and theirs.verb in _GENERAL and mine.subject & theirs.subject:
                    reason = f"the context says {theirs.modal!r}, the answer 'must'"
                    return contradiction(scene, name, reason, near)
    return None


def stronger(scene: Scene, name: str) -> Verdict | None:
    """Veto "must" where the context says "may", and "will" where it says "might"."""
    mine = [] if _AIM.match(scene.reading.text) else list(_modal_verbs(scene.reading))
    for near in scene.near if mine else ():
        if near.share < CLOSE * 0.8:
            break
        theirs = list(_modal_verbs(near.reading))
        for word, kind, verb in mine:
            same = [(w, k) for w, k, other in theirs if other == verb]
            if same and all((kind, k) in _WEAKER for _, k in same):
                reason = f"the context says {same[0][0]!r}, the answer {word!r}"
                if kind == "will":
                    return unmentioned(scene, name, reason)
                return contradiction(scene, name, reason, near)
    return None


_AIM = re.compile(r"\s*(?:to|in\s+order\s+to|if)\s\w", re.I)
"""What must be done for an aim need not be done at all."""


def duty_or_not(scene: Scene, name: str) -> Verdict | None:
    """Veto "the course is voluntary" where everyone must attend it, and the other way round."""
    for mine in told(scene):
        if not mine.adjective or mine.denied or mine.word not in _FREE | _BOUND_TO:
            continue
        for near in scene.near[:FEW_NEAR]:
            for theirs in known_deeds(scene, near):
                whole = mine.subject and mine.subject <= theirs.sides and not theirs.conditional
                duty = theirs.modal == "must" and not theirs.denied
                clash = duty if mine.word in _FREE else theirs.modal == "need"
                if whole and clash:
                    reason = f"the context says {'must' if duty else 'need not'!r} of it"
                    return contradiction(scene, name, reason, near)
    return None


_FREE = frozenset(("voluntary", "optional"))
_BOUND_TO = frozenset(("mandatory", "compulsory", "obligatory"))
