"""Identifiers: phone numbers, addresses, links, versions, codes, files, variables, commands.

In: a claim and its context. Out: a veto where an identifier stands nowhere in the context although
others of its kind do, or belongs to something else; else silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers.rules._commands import Command, commands_in, foreign, programs_in
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._identifiers_in import Identifier, find_identifiers
from faithguard.verifiers.rules._reading import Reading
from faithguard.verifiers.rules._scene import (
    Near,
    Scene,
    contradiction,
    grant,
    scene_of,
    squeezed,
    unmentioned,
)
from faithguard.verifiers.rules._slots import Slot, displaced, misbound, says_same
from faithguard.verifiers.rules.fields import is_title

__all__ = ["Identifiers"]

_ALIKE = 0.7
"""Share of the pairs of characters that one identifier must have of another to be its misprint."""


class Identifiers(Family):
    """Veto an identifier that the context does not hold, or holds of something else."""

    name = "identifiers@7"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every identifier is held."""
        scene = scene_of(claim, context)
        if (quoted := _misquoted(scene, self.name)) is not None:
            return quoted
        if (ordered := _ordered(scene, context, self.name)) is not None:
            return ordered
        if (spanned := _spanned(scene, self.name)) is not None:
            return spanned
        if not scene.reading.identifiers:
            return None
        asked = {one.plain for one in find_identifiers(context.question or "")}
        for one in scene.reading.identifiers:
            if any(one.plain == other.plain for _, other in scene.pages.identified):
                verdict = None if _is_flag(one, scene) else _misplaced(scene, self.name, one)
            elif one.plain in asked or _inside_another(one, scene):
                verdict = None
            else:
                verdict = _absent(scene, self.name, one)
            if verdict is not None:
                return verdict
        return None


def _ordered(scene: Scene, context: Context, name: str) -> Verdict | None:
    """Veto a command in a code span that the context does not have."""
    mine = [one for span in scene.claim.code for one in commands_in(span)]
    if not mine:
        return None
    texts = context.asserted
    if _PROGRAMS not in context.memo:
        context.memo[_PROGRAMS] = programs_in(texts)
    for one in mine:
        other = foreign(one, context.memo[_PROGRAMS], texts)
        if other is None:
            continue
        if isinstance(other, str):
            return unmentioned(scene, name, f"the context nowhere has the command {one.text!r}")
        reason = f"the context has the command {other.text!r}, the answer {one.text!r}"
        near = next((n for n in scene.near if other.text in n.sentence.text), None)
        return contradiction(scene, name, reason, near)
    if scene.claim.code != (scene.claim.text,):
        return None
    return _held(scene, name, mine, context.memo[_PROGRAMS])


def _held(
    scene: Scene, name: str, mine: Sequence[Command], known: Mapping[str, Sequence[Command]]
) -> Verdict | None:
    """Return that a claim which is nothing but commands is supported, if the context has them."""
    found: list[Near] = []
    for one in mine:
        near = next(
            (
                near
                for near in scene.near
                for other in known.get(one.program, ())
                if other.holds(one) and other.text in near.sentence.text
            ),
            None,
        )
        if near is None:
            return None
        found.append(near)
    return grant(
        scene, name, "the context has the command", {near.number: near for near in found}.values()
    )


def _spanned(scene: Scene, name: str) -> Verdict | None:
    """Veto a name in a code span that the context writes otherwise: `X-Auth-Key`, `X-Api-Key`."""
    for span in scene.claim.code:
        bare = squeezed(span)
        if not _NAME.fullmatch(span) or any(bare in text for text in scene.pages.squeezed):
            continue
        others = [
            (_likeness(bare, word.lower()), near, word)
            for near in scene.near
            for word in _NAMES.findall(near.reading.text)
        ]
        best = max(others, key=lambda other: other[0], default=None)
        if best is not None and best[0] >= _ALIKE:
            reason = f"the context says {best[2]!r}, the answer {span!r}"
            return contradiction(scene, name, reason, best[1])
    return None


_NAME = re.compile(r"[A-Za-z][\w.:/@-]*[-_./:@A-Z][\w.:/@-]*", re.A)
_NAMES = re.compile(r"(?<![\w.:/@-])[A-Za-z][\w.:/@-]*[-_./:@A-Z][\w.:/@-]*\w", re.A)
"""Names of code: with a mark or a capital inside."""


def _is_flag(one: Identifier, scene: Scene) -> bool:
    """Whether it is a flag of a command, which was compared as a whole."""
    return one.kind == "variable" and any(
        one.plain in command.flags for span in scene.claim.code for command in commands_in(span)
    )


_PROGRAMS = "programs"

_QUOTE = re.compile(
    r"\b(?:said|says|wrote|writes|stated|states|declared|remarked|slogan(?:\s+was)?|asked|replied"
    r"|quoted|sagte|schrieb|dit|a\s+dit|dijo|disse|ha\s+detto)\b[^\"“”«»„.]{0,24}[\"“«„]([^\"“”«»„]{12,300})[\"”»“]",
    re.I,
)
_FEWEST_WORDS = 4
_QUOTED = 0.75
"""Share of the words of a quotation that one sentence must hold to be what is quoted."""


def _misquoted(scene: Scene, name: str) -> Verdict | None:
    """Veto words in quotation marks that the context does not have."""
    for match in _QUOTE.finditer(scene.claim.text):
        words = re.findall(r"\w+", match[1].lower())
        if len(words) < _FEWEST_WORDS or any(squeezed(match[1]) in t for t in scene.pages.squeezed):
            continue
        shares = (
            sum(word in held for word in words) / len(words)
            for held in ({t.lower for t in near.reading.tokens} for near in scene.near)
        )
        if max(shares, default=0.0) < _QUOTED:
            return unmentioned(scene, name, f"the context nowhere says {match[1][:80]!r}")
    return None


def _inside_another(one: Identifier, scene: Scene) -> bool:
    """Whether the context writes it as a part of something longer, or in other words."""
    bare = squeezed(one.text)
    return any(bare in text for text in scene.pages.squeezed)


def _absent(scene: Scene, name: str, one: Identifier) -> Verdict | None:
    others = [pair for pair in scene.pages.identified if pair[1].kind == one.kind]
    if _in_series(one, scene):
        return None
    if others:
        number, other = max(others, key=lambda pair: _likeness(one.plain, pair[1].plain))
        if _likeness(one.plain, other.plain) >= _ALIKE:
            reason = f"the context says {other.text!r}, the answer {one.text!r}"
            return contradiction(scene, name, reason, scene.at(number))
    if one.kind in ("mail", "link", "phone", "iban"):
        return unmentioned(scene, name, f"the context nowhere says {one.text!r}")
    if others and one.kind in ("version", "file", "variable", "section"):
        return unmentioned(scene, name, f"the context nowhere says {one.text!r}")
    return None


def _in_series(one: Identifier, scene: Scene) -> bool:
    """Whether it lies between two that the context gives as the ends of a series."""
    for (number, low), (following, high) in pairwise(scene.pages.identified):
        text = scene.all[number].text[low.end : high.start]
        alike = len(low.plain) == len(one.plain) == len(high.plain)
        if number == following and alike and _TO.fullmatch(text):
            return low.plain <= one.plain <= high.plain
    return False


_TO = re.compile(r"\s*(?:to|-|–|—|until|through|bis|à|hasta|a|até)\s*", re.I)


def _negated(reading: Reading) -> bool:
    return any(t.lower in _NEGATIONS or t.lower.endswith("n't") for t in reading.tokens)


_NEGATIONS = frozenset("not no never without except unlike nor neither".split())


def _likeness(one: str, other: str) -> float:
    """Return the share of characters that two identifiers have in common, whatever their order."""
    if len(one) == len(other) and sum(a != b for a, b in zip(one, other, strict=True)) == 1:
        return 1.0 - 1 / (2 * len(one))
    rest = list(other)
    common = 0
    for character in one:
        if character in rest:
            rest.remove(character)
            common += 1
    return 2 * common / max(1, len(one) + len(other))


def _misplaced(scene: Scene, name: str, one: Identifier) -> Verdict | None:
    if is_title(one.text, scene):
        return None  # the fields beside it are compared with the claim
    own: list[Slot] = []
    rivals: list[Slot] = []
    for number, other in scene.pages.identified:
        if not _of_one_kind(one, other):
            continue
        slot = _slot(scene.at(number), other)
        if slot is not None:
            (own if other.plain == one.plain else rivals).append(slot)
    if _negated(scene.reading) and any(_negated(slot.near.reading) for slot in own):
        return None  # "OK-175 is not": what is said of the others is denied of it
    rivals = [r for r in rivals if all(r.text != i.text for i in scene.reading.identifiers)]
    like = [i.start for i in scene.reading.identifiers if i is not one and _of_one_kind(one, i)]

    def kin(near: Near) -> list[int]:
        return [i.start for i in near.reading.identifiers if _of_one_kind(one, i)]

    ignored = {f"#{one.plain}"} | _kind_words(scene.reading, one)
    rival = displaced(scene, one.start, own, rivals, ignored={f"#{one.plain}"}) or misbound(
        scene, one.start, like, own, rivals, ignored=ignored, kin=kin
    )
    if rival is None or any(says_same(slot) for slot in own):
        return None
    reason = f"the context says {rival.text!r} of this, and {one.text!r} of something else"
    return contradiction(scene, name, reason, rival.near)


def _of_one_kind(one: Identifier, other: Identifier) -> bool:
    """Whether two look alike, or are codes that begin alike: "NET-5G", "NET-GUEST"."""
    if one.shape == other.shape:
        return True
    heads = [re.split(r"[-_./]", i.text.lower())[0] for i in (one, other)]
    return one.kind == other.kind == "code" and heads[0] == heads[1] and len(heads[0]) > 1


def _kind_words(reading: Reading, one: Identifier) -> set[str]:
    """Return what an identifier is called: "policy number HM-4", "room B12"."""
    before = [token for token in reading.tokens if token.end <= one.start][-2:]
    return {token.key for token in before if token.key and not token.capital}


def _slot(near: Near, one: Identifier) -> Slot | None:
    clause = near.reading.clause_at(one.start)
    return Slot(near, clause, one.start, one.text) if clause is not None else None
