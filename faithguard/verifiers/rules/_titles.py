"""Who is what: the mayor, Lisa Hahn; Ben Osei (treasurer); the chemist Agnes Morrow.

In: a scene. Out: a veto where the claim gives one person's office or part to another whom the
context names; else None. English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from faithguard._verbs import base_of, is_past
from faithguard.types import Verdict
from faithguard.verifiers.rules._reading import Reading, Token, keys_of_all
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["another_title"]

_Title = tuple[frozenset[str], frozenset[str]]
"""The words of an office, and those of the name of who has it."""
_MOST_WORDS = 3
_ARTICLES = frozenset(("the", "its", "their", "his", "her", "our"))
_IS = frozenset(("is", "was", "became", "remains"))


def another_title(scene: Scene, name: str) -> Verdict | None:
    """Veto "the treasurer is Carla Mont" where the context says Ben Osei (treasurer)."""
    return _of_whom(scene, name) or _by_whom(scene, name)


def _of_whom(scene: Scene, name: str) -> Verdict | None:
    """Veto "Mira Kost is Alder's coach" where she is Hazel's."""
    for owner, office, who in _owned(scene.reading):
        if not all(map(scene.known, owner | who)):
            continue
        found = [(near, pair) for near in scene.near for pair in _owned(near.reading)]
        alike = [(near, o) for near, (o, work, w) in found if work == office and w & who]
        if alike and all(o.isdisjoint(owner) for _, o in alike):
            near = alike[0][0]
            reason = f"the context says whose it is: {near.sentence.text[:80]!r}"
            return contradiction(scene, name, reason, near)
    return None


def _owned(reading: Reading) -> Iterator[tuple[frozenset[str], frozenset[str], frozenset[str]]]:
    """Yield whose, what and who: "Hazel's coach, Mira Kost", "the insurer of Brill, Sella"."""
    for pattern in (
        _WHOSE if "'s" in reading.text or "’s" in reading.text or " of " in reading.text else ()
    ):
        for match in pattern.finditer(reading.text):
            keys = [keys_of_all(match[part].split()) for part in ("owner", "work", "who")]
            if all(keys):
                yield keys[0], keys[1], keys[2]


_NAME = r"[A-Z][\w&.-]{0,24}(?:\s[A-Z][\w&.-]{0,24}){0,3}"
_WORK = r"(?P<work>[a-z]{3,20}(?:\s[a-z]{3,20})?)"
_WHOSE = tuple(
    map(
        re.compile,
        (
            rf"(?P<owner>{_NAME})['’]s\s{_WORK},?\s(?P<who>{_NAME})",
            rf"(?P<who>{_NAME})\s(?:is|was)\s(?P<owner>{_NAME})['’]s\s{_WORK}(?=[.,;]|$)",
            rf"[Tt]he\s{_WORK}\sof\s(?P<owner>{_NAME}),\s(?P<who>{_NAME})(?=,|\.|$)",
            rf"(?P<who>{_NAME})\s(?:is|was)\sthe\s{_WORK}\sof\s(?P<owner>{_NAME})(?=[.,;]|$)",
            rf"(?P<who>{_NAME}),\sthe\s{_WORK}\sof\s(?P<owner>{_NAME})(?=[.,;]|$)",
        ),
    )
)


def _by_whom(scene: Scene, name: str) -> Verdict | None:
    for office, who in _titles(scene.reading):
        if not all(map(scene.known, who)) or not all(map(scene.known, office)):
            continue
        against: Near | None = None
        for near in scene.near:
            for other_office, other in _known_titles(near, scene):
                if other_office != office:
                    continue
                if other & who:
                    against = None
                    break
                against = against or near
            else:
                continue
            break
        if against is not None:
            reason = f"the context says it of another: {against.sentence.text[:80]!r}"
            return contradiction(scene, name, reason, against)
    return None


def _known_titles(near: Near, scene: Scene) -> tuple[_Title, ...]:
    key = "titles", near.number
    found: tuple[_Title, ...] | None = scene.pages.notes.get(key)
    if found is None:
        found = scene.pages.notes[key] = tuple(_titles(near.reading))
    return found


def _titles(reading: Reading) -> Iterator[_Title]:
    """Yield the offices that a sentence gives to names."""
    tokens = reading.tokens
    for first, last in reading.names:
        while first < last and tokens[first].lower in _ARTICLES:
            first += 1
        who = frozenset(t.key for t in tokens[first:last] if t.key)
        if not who or reading.row:
            continue
        found = (
            _in_brackets(tokens, last)
            or _before(tokens, first)
            or _after(tokens, last)
            or _is_the(tokens, first, last)
        )
        if found:
            yield found, who


def _in_brackets(tokens: tuple[Token, ...], last: int) -> frozenset[str] | None:
    """Read "Ben Osei (treasurer)"."""
    if last + 1 >= len(tokens) or tokens[last].lower != "(":
        return None
    end = next((n for n in range(last + 1, len(tokens)) if tokens[n].lower == ")"), 0)
    return _office(tokens[last + 1 : end]) if end else None


def _before(tokens: tuple[Token, ...], first: int) -> frozenset[str] | None:
    """Read "the mayor, Lisa Hahn," and "the mayor Lisa Hahn"."""
    end = first - (first > 0 and tokens[first - 1].lower == ",")
    begin = end
    while begin > 0 and tokens[begin - 1].key and not tokens[begin - 1].capital:
        begin -= 1
    if begin == 0 or tokens[begin - 1].lower not in _ARTICLES:
        return None
    return _office(tokens[begin:end])


def _after(tokens: tuple[Token, ...], last: int) -> frozenset[str] | None:
    """Read "Lisa Hahn, the mayor"."""
    if last + 2 >= len(tokens) or tokens[last].lower != ",":
        return None
    if tokens[last + 1].lower not in _ARTICLES:
        return None
    end = last + 2
    while end < len(tokens) and tokens[end].key and not tokens[end].capital:
        end += 1
    closed = end == len(tokens) or tokens[end].lower in {",", ".", ";"}
    return _office(tokens[last + 2 : end]) if closed else None


def _is_the(tokens: tuple[Token, ...], first: int, last: int) -> frozenset[str] | None:
    """Read "the mayor is Lisa Hahn" and "Lisa Hahn is the mayor"."""
    if first > 1 and tokens[first - 1].lower in _IS:
        begin = first - 1
        while begin > 0 and tokens[begin - 1].key and not tokens[begin - 1].capital:
            begin -= 1
        if begin > 0 and tokens[begin - 1].lower in _ARTICLES:
            return _office(tokens[begin : first - 1])
    if last + 1 < len(tokens) and tokens[last].lower in _IS and tokens[last + 1].lower in _ARTICLES:
        end = last + 2
        while end < len(tokens) and tokens[end].key and not tokens[end].capital:
            end += 1
        if end == len(tokens) or tokens[end].lower in {",", ".", ";"}:
            return _office(tokens[last + 2 : end])
    return None


def _office(tokens: tuple[Token, ...]) -> frozenset[str] | None:
    """Return the words of an office, if they can be one: few, and no verb."""
    words = [t for t in tokens if t.key]
    if not 0 < len(words) <= _MOST_WORDS or any(t.value >= 0 or not t.key for t in tokens):
        return None
    if is_past(words[-1].lower) or (base_of(words[-1].lower) and words[-1].lower.endswith("ing")):
        return None
    if words[-1].lower in _NO_OFFICE or any(t.capital for t in words):
        return None
    return frozenset(t.key for t in words if t.key)


_NO_OFFICE = frozenset(
    "man woman boy girl person company firm town city village river film book novel song play"
    " sister brother son daughter cousin friend member one other others same first last"
    " young".split()
)
"""What more than one can be, or what is no office."""
