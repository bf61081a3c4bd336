"""Which English words say nearly the same, and which the opposite: a cut of WordNet 3.0.

In: keys of words. Out: the numbers of the groups of synonyms and of words made of one another
("agree", "agreement") that a key is in, whether two keys are in one, and the keys that say the
opposite. The files hold stems of the common senses of WordNet (see `LICENSE`);
`python -m tests.verifiers.rules.lexicon` writes them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from importlib.resources import files

from faithguard.verifiers.rules._synonyms import SYNONYMS

__all__ = ["alike", "lexical_opposites", "sisters"]


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(_lines("groups.txt")):
        stems = line.split()
        for stem in stems:
            key = SYNONYMS.get(stem, stem)
            if key == stem or key in stems:  # "decline" stands for "decrease", not for "refuse"
                found[key].add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


@cache
def _kinds() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for number, line in enumerate(_lines("sisters.txt")):
        for stem in line.split():
            found[SYNONYMS.get(stem, stem)].add(number)
    return {stem: frozenset(numbers) for stem, numbers in found.items()}


@cache
def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for line in _lines("opposites.txt"):
        one, other = (SYNONYMS.get(stem, stem) for stem in line.split())
        found[one].add(other)
        found[other].add(one)
    return {stem: frozenset(others) for stem, others in found.items()}


def _lines(name: str) -> list[str]:
    return files(__name__).joinpath(name).read_text("utf-8").splitlines()


def alike(keys: Collection[str], others: Collection[str]) -> frozenset[str]:
    """Return those of some keys that are among others, or say nearly the same as one of them."""
    table = _groups()
    known, asked = set[str](), dict[str, frozenset[int]]()
    for key in keys:
        if key in others:
            known.add(key)
        elif key in table:
            asked[key] = table[key]
    if asked:
        held = {number for key in others for number in table.get(key, ())}
        known.update(key for key, numbers in asked.items() if not held.isdisjoint(numbers))
    return frozenset(known)


def sisters(one: str, other: str) -> bool:
    """Whether two keys stand for two things of one kind: "glass", "wool"."""
    table = _kinds()
    return not table.get(one, _NONE).isdisjoint(table.get(other, _NONE))


_NONE = frozenset[int]()


def lexical_opposites(key: str) -> frozenset[str]:
    """Return the keys that say the opposite of one; empty for most."""
    return _opposites().get(key, frozenset())
