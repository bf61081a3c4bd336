"""Texts of any size, made from word lists: the same for the same seed.

In: a seed and sizes. Out: passages, and answers whose claims are half from the passages and half
changed, as a check would meet them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

PLACES = (
    "Aldmoor Brenwick Corvale Dunmere Eskholm Farrow Glenside Harrowby Inverley Kestwick".split()
)
THINGS = "library harbour museum clinic bakery station garden theatre workshop reservoir".split()
KINDS = "public northern restored quiet municipal covered modern seasonal private central".split()
DEEDS = "serves stores repairs welcomes supplies inspects records trains feeds protects".split()
OBJECTS = (
    "visitors boats engines students orchards archives bicycles lanterns maps turbines".split()
)
UNITS = "days kilometres litres members rooms euros hours tonnes".split()
MONTHS = "January March April June August September October December".split()


def sentence(rng: random.Random) -> str:
    """Return one sentence of 17 words with a number in it."""
    return (
        f"In {rng.choice(MONTHS)} the {rng.choice(KINDS)} {rng.choice(THINGS)} of "
        f"{rng.choice(PLACES)} {rng.choice(DEEDS)} the {rng.choice(KINDS)} {rng.choice(OBJECTS)} "
        f"and needs {rng.randint(2, 990)} {rng.choice(UNITS)} more."
    )


def sentences(rng: random.Random) -> Iterator[str]:
    """Yield sentences without end."""
    while True:
        yield sentence(rng)


def passage(rng: random.Random, words: int = 200) -> str:
    """Return sentences of this many words together, the last one cut."""
    text: list[str] = []
    for made in sentences(rng):
        text += made.split()
        if len(text) >= words:
            return " ".join(text[:words])
    raise AssertionError("sentences do not end")


def sized(rng: random.Random, size: int) -> str:
    """Return a text of `size` characters."""
    parts: list[str] = []
    length = 0
    for made in sentences(rng):
        parts.append(made)
        length += len(made) + 1
        if length > size:
            return " ".join(parts)[:size]
    raise AssertionError("sentences do not end")


def passages(seed: int, count: int, words: int = 200) -> list[str]:
    """Return passages of one seed; the first ones are the same for any count."""
    rng = random.Random(seed)
    return [passage(rng, words) for _ in range(count)]


_MADE = re.compile(
    r"In (?P<month>\w+) the (?P<who>.+? of \w+ \w+) the (?P<what>.+?)"
    r" and needs (?P<much>[^.]+) more\."
)


def reworded(text: str) -> str:
    """Return sentences as `sentence` makes them in another order and other words."""
    return _MADE.sub(
        lambda m: f"The {m['who']} {m['what']} in {m['month']}, needing {m['much']} more.",
        text,
    )


def answer(seed: int, context: list[str], claims: int = 5) -> str:
    """Return an answer of this many sentences, every second one from the context."""
    rng = random.Random(seed)
    said = [part + "." for text in context for part in text.split(". ") if part.startswith("In ")]
    made = [rng.choice(said) if n % 2 == 0 else sentence(rng) for n in range(claims)]
    return " ".join(text.rstrip(".") + "." for text in made)
