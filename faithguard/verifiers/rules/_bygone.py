"""What is so now, told as what was so once: "used to cost 12 euros" of "costs 12 euros".

In: a scene. Out: a veto where the claim says that something is over, the context says it of the
present, and no sentence near to it tells of the past or of a change; else None. English.
"""

from __future__ import annotations

import re

from faithguard.types import Verdict
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._measures import keys_between
from faithguard.verifiers.rules._scene import Scene, contradiction

__all__ = ["bygone"]

_OVER = re.compile(
    r"\b(?:used\s+to|formerly|no\s+longer|not\s+any\s?more"
    r"|(?:was|were)\s+(?:once|previously))\b|n['’]t\b[^.;,]{0,80}\bany\s?more\b",
    re.I,
)
_USED = re.compile(r"\b(?:is|are|was|were|been|being|has|have|must|can|may|should|will)\b", re.I)
"""What stands beside a tool that is used to do something."""
_PAST = re.compile(
    r"\b(?:was|were|had|has|have|did|been|until|till|used\s+to|former\w*|previous\w*|earlier|before|once|old|past|historic\w*"
    r"|no|not|never|longer|stop\w*|end(?:s|ing)?|abolish\w*|instead|replac\w*|now|currently|since|new|today|anymore"
    r"|\w+ed|\w+n['’]t)\b",
    re.I,
)
_SAID = 0.75
"""Share of the rest of the claim that a sentence must say."""
_NEAR = 0.3
"""Share from which a sentence may tell of a change of it."""


def bygone(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says of the present alone, and the claim of the past."""
    mine = scene.reading
    over = _OVER.search(mine.text)
    if over is None or language(mine.text) != "en":
        return None
    if over[0].lower().startswith("used") and _USED.search(mine.text):
        return None
    marks = keys_between(mine, over.start(), over.end())
    rest = mine.keys - marks
    whole = scene.weight(rest)
    if not whole or any(
        near.share >= _NEAR and _PAST.search(near.reading.text) for near in scene.near
    ):
        return None
    for near in scene.near[:1]:
        if scene.weight(rest & near.reading.keys) >= _SAID * whole:
            reason = f"the context says it of now, the answer {over[0].lower()!r}"
            return contradiction(scene, name, reason, near)
    return None
