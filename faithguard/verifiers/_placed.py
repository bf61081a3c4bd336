"""A claim without its place in a list that only the answer has: "Step 2: Pay at the desk.".

In: a claim and its context. Out: its words; those before the colon stay where the context counts
things so, since it may say them of another one.
"""

from __future__ import annotations

import re

from faithguard._polar import asked_and_said
from faithguard.verifiers._context import Context

__all__ = ["without_place"]

_PLACE = re.compile(
    r"(?:(?P<word>step|schritt|étape|etape|paso|passo|stap|tip|question|answer|frage|antwort|q|a|"
    r"point|item|punkt|reason|idea|takeaway|option)\.?[ ]?(?:no\.?[ ]|#)?(?:\d{1,2}|(?<= )[A-H])"
    r"(?:[.:)]|[ ][–—-](?=[ ]))|[A-H]\.(?=[ ][^\W\d][^:.]{0,40}:[ ]))\s+(?=[^\W\d]|[\"'“(])",
    re.IGNORECASE,
)


def without_place(claim: str, context: Context) -> str:
    """Return a claim without the place at its beginning, or at that of its answer."""
    parts = asked_and_said(claim)
    said = claim if parts is None else parts[1]
    place = _PLACE.match(said)
    if place is None or _counts(context, (place["word"] or "").casefold()):
        return claim
    rest = said[place.end() :]
    rest = rest[:1].upper() + rest[1:]
    return claim[: len(claim) - len(said)] + rest if claim.endswith(said) else claim


def _counts(context: Context, word: str) -> bool:
    """Say whether the context puts a number, or a letter, behind a word; or uses such letters."""
    known: dict[str, bool] = context.memo.setdefault("placed", {})
    if word not in known:
        counted = rf"(?<!\w){word}s?\W{{0,3}}(?:\d|[a-h]\b)" if word else r"(?<!\w)[a-h][.):]"
        pattern = re.compile(counted, re.IGNORECASE)
        known[word] = any(pattern.search(passage.text) for passage in context.passages)
    return known[word]
