"""The deeds that a claim tells, and those of the sentences near to it.

In: a scene. Out: deeds; those of the context are read once, and "it" stands for what was named
before.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from faithguard.verifiers._values._words import language
from faithguard.verifiers.rules._deeds import Deed, deeds_of
from faithguard.verifiers.rules._reading import read
from faithguard.verifiers.rules._scene import Near, Scene

__all__ = ["known_deeds", "told"]


def told(scene: Scene) -> tuple[Deed, ...]:
    """Return the deeds that an English claim tells."""
    return _told(scene.reading.text)


@lru_cache(maxsize=1_024)
def _told(text: str) -> tuple[Deed, ...]:
    return deeds_of(read(text)) if language(text) == "en" else ()


def known_deeds(scene: Scene, near: Near) -> tuple[Deed, ...]:
    """Return the deeds of a sentence of the context, read once; "it" is what stands before."""
    key = "deeds", near.number
    found: tuple[Deed, ...] | None = scene.pages.notes.get(key)
    if found is None:
        before = scene.pages.inherited(near.number)
        deeds = deeds_of(near.reading)
        found = scene.pages.notes[key] = tuple(_resolved(deed, before) for deed in deeds)
    return found


def _resolved(deed: Deed, before: frozenset[str]) -> Deed:
    if not deed.pronoun or not before:
        return deed
    if deed.passive or deed.adjective:
        return replace(deed, patients=deed.patients | before, subject=before)
    return replace(deed, agents=deed.agents | before, subject=before)
