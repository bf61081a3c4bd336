"""Two control claims for each call: one that is known to be so, and one that is known not to be.

In: chance and the claims of a call. Out: a passage of our own about people who do not exist, a
claim that it supports, and a claim about the subjects of the others that nothing supports. Their
names are made for the call, so no text can know them. A judge that says yes to everything, no to
everything, or whatever a passage tells it to say, gets one wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from faithguard.verifiers._terms import analyse

__all__ = ["Controls", "controls"]

_STARTS = "B D F G K L M N P R S T V Z Br Dr Kr Pl St Tr".split()
_VOWELS = "a e i o u".split()
_MIDDLES = "b d g k l m n r s t v nd rk lm st".split()
_ENDS = "n r l s k m th nd".split()
_THINGS = "lanterns kettles ladders violins saddles globes anchors looms".split()
_PLACES = "mill quarry orchard foundry granary boathouse".split()
_LONG = 4
_MOST_SUBJECTS = 8
_MOST_READ = 2_000
_WORD = re.compile(r"[^\W_]{2,40}")


@dataclass(frozen=True, slots=True)
class Controls:
    """The control claims of a call."""

    passage: str
    supported: str
    """Said by the passage."""
    unsupported: str
    """Said by nothing."""


def controls(random: Random, texts: Sequence[str]) -> Controls:
    """Return controls for a call about some claims."""
    known = " ".join(texts).casefold()
    names = [_name(random, known) for _ in range(5)]
    keeper, place = f"{names[0]} {names[1]}", random.choice(_PLACES)
    count, thing = random.randrange(13, 97), random.choice(_THINGS)
    return Controls(
        passage=f"{keeper} keeps {count} {thing} in the {place} of {names[2]}.",
        supported=f"{keeper} keeps {count} {thing}.",
        unsupported=f"{_subjects(random, texts)} named after {names[3]} {names[4]}.",
    )


def _name(random: Random, known: str) -> str:
    """Return a name that no claim has."""
    while True:
        syllables = [_STARTS, _VOWELS, _MIDDLES, _VOWELS, _ENDS]
        name = "".join(random.choice(part) for part in syllables)
        if name.casefold() not in known:
            return name


def _subjects(random: Random, texts: Sequence[str]) -> str:
    """Return what the others are about: an order about one of them is about this as well."""
    words = dict.fromkeys(word for text in texts if (word := _subject(random, text)))
    chosen = random.sample(list(words), min(len(words), _MOST_SUBJECTS)) or ["place"]
    named = [f"the {word}" for word in chosen]
    listed = (
        f"{', '.join(named[:-1])} and {named[-1]} were" if len(named) > 1 else f"{named[0]} was"
    )
    return f"T{listed[1:]}"


def _subject(random: Random, text: str) -> str | None:
    """Return a word that tells a claim apart: a name, else a long one."""
    terms = analyse(text[:_MOST_READ])
    pairs = zip(terms.words, terms.starts, strict=True)
    found = [_WORD.match(text, start) for key, start in pairs if len(key) >= _LONG]
    words = [match.group() for match in found if match]
    named = [word for word in words if word[:1].isupper()]
    return random.choice(named or words) if words else None
