"""The deeds that a claim tells, and those of the sentences near to it.

In: a scene. Out: deeds; those of the context are read once, and "it" stands for what was named
before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from faithguard.verifiers._values import Value
from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._deeds import Deed, deeds_of
from faithguard.verifiers.rules._reading import Reading, Token, keys_of_all, read
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = ["deeds_in", "joined", "known_deeds", "told", "values_of"]


def told(scene: Scene) -> tuple[Deed, ...]:
    """Return the deeds that an English claim tells."""
    return _told(scene.reading.text)


@lru_cache(maxsize=1_024)
def _told(text: str) -> tuple[Deed, ...]:
    return deeds_in(text) if language(text) == "en" else ()


@lru_cache(maxsize=1_024)
def deeds_in(text: str) -> tuple[Deed, ...]:
    """Return the deeds of a text, whatever its language."""
    return deeds_of(read(text))


def known_deeds(scene: Scene, near: Near) -> tuple[Deed, ...]:
    """Return the deeds of a sentence of the context, read once; "it" is what stands before."""
    key = "deeds", near.number
    found: tuple[Deed, ...] | None = scene.pages.notes.get(key)
    if found is None:
        before = scene.pages.inherited(near.number)
        deeds = deeds_of(near.reading)
        found = scene.pages.notes[key] = tuple(
            each for deed in deeds for each in _each(_resolved(deed, before), near.reading)
        )
    return found


def values_of(reading: Reading, deed: Deed) -> list[Value]:
    """Return the values among the words of a deed, each once."""
    numbers = dict.fromkeys(t.value for t in reading.tokens[deed.start : deed.end] if t.value >= 0)
    return [reading.values[n] for n in numbers]


def _each(deed: Deed, reading: Reading) -> Iterator[Deed]:
    """Yield a deed, and the same of each of its joined subjects: "dogs and cats may not"."""
    yield deed
    if (not deed.passive and not deed.adjective) or deed.pronoun or deed.verb in _TOGETHER:
        return
    tokens = reading.tokens[deed.start : deed.at]
    if any(token.lower in _OF_BOTH for token in tokens):
        return
    parts = joined(tokens)
    last = len(parts) - 1
    for number, part in enumerate(parts if last else ()):
        # "black and white dogs" are no "black"
        alone = len(part) == 1 and number < last and not part[0].lower.endswith("s")
        keys = frozenset(token.key for token in part if token.key) & deed.subject
        if keys and not (alone and len(parts[last]) > 1):
            patients = (deed.patients - deed.subject) | keys
            yield replace(deed, patients=patients, subject=keys)


def joined(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the words of each noun of "a, b and c"; one list where nothing is joined."""
    parts: list[list[Token]] = [[]]
    joined = False
    for token in tokens:
        if token.lower in _JOINS or token.lower == ",":
            joined = joined or token.lower in _JOINS
            parts.append([])
        elif token.key:
            parts[-1].append(token)
    kept = [part for part in parts if part]
    return kept if joined else [[token for part in kept for token in part]]


_JOINS = frozenset(("and", "or", "nor"))
_OF_BOTH = frozenset("together between combination combined mix mixture both".split())
_TOGETHER = keys_of_all("combine mix merge join link swap compare same different equal".split())
"""What is said of two together is not said of each."""


def _resolved(deed: Deed, before: frozenset[str]) -> Deed:
    if not deed.pronoun or not before:
        return deed
    if deed.passive or deed.adjective:
        return replace(deed, patients=deed.patients | before, subject=before)
    return replace(deed, agents=deed.agents | before, subject=before)
