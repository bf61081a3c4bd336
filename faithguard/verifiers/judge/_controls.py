"""Control claims for each call: one that is known to be so, and some that are known not to be.

In: chance and the claims of a call. Out: a passage of our own about people who do not exist, a
claim that it supports, and claims about the subjects of the others that nothing supports. Their
names are made for the call, so no text can know them. A judge that says yes to everything, no to
everything, or whatever a passage tells it to say, gets one wrong. An order about the statements at
certain places must miss each of the untrue ones: with few claims there are more of them, and many
where there is doubt: a text speaks of labels, or a judge that got one wrong is asked again. An
order about one place misses them more often than not, so where it would mean a claim too often,
claims are asked twice: it cannot mean both places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from faithguard.verifiers._terms import analyse

__all__ = ["TOKENS_EACH", "Controls", "controls", "how_many", "twice"]

_TOKENS = 40
"""Of a verdict without a quote."""

TOKENS_EACH = 120
"""Of a verdict with one."""

_FEW = 3
"""Untrue controls for up to so many claims; one less for as many more claims, down to one: an order
by place must name nearly all of many places."""

_WARY = 10
"""Untrue controls where there is reason for doubt: three places of statements about three claims
miss all of them in 1 of 91 draws."""

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
    unsupported: tuple[str, ...]
    """Said by nothing. The first is about the subjects of all claims, the others of one each."""

    def __len__(self) -> int:
        """Return how many claims there are."""
        return 1 + len(self.unsupported)


def how_many(claims: int, room: int, *, doubt: bool) -> int:
    """Return how many untrue controls a call has, at least 1.

    Args:
        claims: How many the call is about.
        room: Tokens of the reply that the verdicts on claims and the true control leave.
        doubt: Whether a text speaks of labels, or a judge is asked again that got one wrong.
    """
    wanted = _WARY if doubt else _FEW - (claims - 1) // _FEW
    return max(1, min(wanted, room // _TOKENS))


def twice(claims: int, untrue: int, room: int, *, doubt: bool) -> bool:
    """Say whether each claim is asked twice in a call with so many untrue controls."""
    fits = untrue * _TOKENS + claims * TOKENS_EACH <= room
    return fits and claims <= (_FEW if doubt else 1)


def controls(random: Random, texts: Sequence[str], untrue: int) -> Controls:
    """Return controls for a call about some claims, `untrue` (1 or more) of them not so."""
    known = " ".join(texts).casefold()
    names = [_name(random, known) for _ in range(3 + 2 * untrue)]
    keeper, place = f"{names[0]} {names[1]}", random.choice(_PLACES)
    count, thing = random.randrange(13, 97), random.choice(_THINGS)
    return Controls(
        passage=f"{keeper} keeps {count} {thing} in the {place} of {names[2]}.",
        supported=f"{keeper} keeps {count} {thing}.",
        unsupported=tuple(
            f"{_subjects(random, texts, 1 if n else _MOST_SUBJECTS)} named after {first} {last}."
            for n, (first, last) in enumerate(zip(names[3::2], names[4::2], strict=True))
        ),
    )


def _name(random: Random, known: str) -> str:
    """Return a name that no claim has."""
    while True:
        syllables = [_STARTS, _VOWELS, _MIDDLES, _VOWELS, _ENDS]
        name = "".join(random.choice(part) for part in syllables)
        if name.casefold() not in known:
            return name


def _subjects(random: Random, texts: Sequence[str], most: int) -> str:
    """Return what the others are about: an order about one of them is about this as well."""
    words = dict.fromkeys(word for text in texts if (word := _subject(random, text)))
    chosen = random.sample(list(words), min(len(words), most)) or ["place"]
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
