"""Words for the state of an order, a task or an account, and which of them exclude each other.

In: two of them. Out: whether what is in the one can be said to be in the other. English.
"""

from __future__ import annotations

import re

__all__ = ["STATE", "excludes", "still_to_come"]

_STEPS = (
    "pending|placed|processing|being processed|being prepared|preparing|accepted",
    "packed|being packed",
    "shipped|dispatched|sent out|in transit|en route|on its way|on the way",
    "out for delivery",
    "delivered",
    "returned",
)
"""What an order goes through; what has come to a step has gone through those before it."""
_STEP = {word: place for place, words in enumerate(_STEPS) for word in words.split("|")}
_GOES_ON = frozenset(
    "pending|processing|being processed|being prepared|preparing|being packed|in transit|en route"
    "|on its way|on the way|out for delivery".split("|")
)
"""What is no longer so at a later step."""
_CALLED_OFF = frozenset(("cancelled", "canceled"))
_OTHERS = tuple(
    frozenset(words.split())
    for words in (
        "open closed",
        "open resolved",
        "active inactive suspended expired paused disabled deactivated cancelled canceled",
        "approved rejected declined denied pending",
        "failed succeeded successful completed running queued pending",
        "paid unpaid overdue",
        "online offline",
        "enabled disabled",
        "confirmed cancelled canceled declined",
        "draft published archived",
    )
)
_ALIKE = (
    frozenset({"cancelled", "canceled"}),
    frozenset({"inactive", "deactivated", "disabled", "paused", "suspended", "expired"}),
    frozenset({"rejected", "declined", "denied"}),
    frozenset({"succeeded", "successful", "completed"}),
    frozenset({"unpaid", "overdue"}),
    frozenset({"inactive", "deactivated", "disabled", "cancelled", "canceled"}),
    frozenset({"queued", "pending"}),
    frozenset({"published", "archived"}),
)
"""What can be said of one thing at once."""
_WORDS = sorted(
    {*_STEP, *_CALLED_OFF, *(w for words in _OTHERS for w in words)}, key=len, reverse=True
)
STATE = re.compile(rf"(?<![\w-])(?:{'|'.join(_WORDS)})(?![\w-])", re.IGNORECASE)
"""A word for a state."""


def excludes(said: str, state: str) -> bool:
    """Say whether what is in a state is not in another; both in lower case."""
    if said == state or any({said, state} <= words for words in _ALIKE):
        return False
    if {said, state} & _CALLED_OFF and {said, state} & _STEP.keys():
        return True
    if said in _STEP and state in _STEP:
        mine, theirs = _STEP[said], _STEP[state]
        return mine > theirs or (said in _GOES_ON and mine < theirs)
    return any({said, state} <= words for words in _OTHERS)


def still_to_come(said: str, state: str) -> bool:
    """Say whether "not yet" is wrong of a state: what is delivered has been shipped."""
    if said in _STEP and state in _STEP and said not in _GOES_ON:
        return 0 < _STEP[said] <= _STEP[state]
    return said == state
