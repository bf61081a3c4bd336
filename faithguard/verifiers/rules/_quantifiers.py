"""How many: all, most, some, few, none.

In: a scene. Out: a veto where the context says it of fewer or of more; else None. English.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from faithguard._verbs import base_of
from faithguard.types import Verdict
from faithguard.verifiers.rules._exceptions import SCOPE
from faithguard.verifiers.rules._lexicon import alike
from faithguard.verifiers.rules._parts import CLOSE, NEGATORS
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._scene import Near, Scene, contradiction

__all__ = ["counted_otherwise"]

_QUANTIFIERS = {
    "all": 4, "every": 4, "each": 4, "any": 4, "everyone": 4, "always": 4, "most": 3,
    "majority": 3, "usually": 3, "many": 2, "often": 2, "some": 1, "sometimes": 1, "several": 1,
    "few": 0, "rarely": 0, "seldom": 0, "hardly": 0, "none": -1, "no": -1, "never": -1,
}  # fmt: skip
_ONLY, _NOT_ALL = 8, 9
_CLASH = frozenset(
    {(4, _ONLY), (4, _NOT_ALL), (4, 3), (4, 2), (4, 1), (4, 0), (4, -1), (3, 1), (3, 0), (3, -1),
     (2, 0), (2, -1), (1, -1), (0, 2), (0, 3), (0, 4), (-1, 0), (-1, 1), (-1, 2), (-1, 3), (-1, 4)}
)  # fmt: skip
"""(what the answer says, what the context says) of one thing that cannot both be meant."""


_LIMITING = NEGATORS | frozenset(
    "fail failed fails without if refuse refused unable lacks missing absent".split()
)
_NEARLY = ("hardly", "almost", "barely", "scarcely", "virtually", "practically")
_NEARLY_NONE = ("any", "no", "none", "never", "nobody", "ever")
_COUNTING = frozenset((*_QUANTIFIERS, *_NEARLY_NONE, "only"))


def _quantified(reading: Reading) -> Iterator[tuple[str, int, frozenset[str], frozenset[str]]]:
    """Yield quantifiers with the nouns after them, and what else their clauses say."""
    tokens = reading.tokens
    for number, token in enumerate(tokens):
        if token.lower not in _COUNTING:
            continue
        strength = _QUANTIFIERS.get(token.lower)
        before = [other.lower for other in tokens[max(0, number - SCOPE) : number]]
        if before[-1:] and before[-1] in _NEARLY and token.lower in _NEARLY_NONE:
            strength = 0
        elif token.lower in ("any", "every") and (
            not _LIMITING.isdisjoint(before) or any(w.endswith("n't") for w in before)
        ):
            continue  # "failed to win any" says none
        if token.lower == "only":
            strength = _ONLY
        if before[-1:] == ["not"] and strength == _QUANTIFIERS["all"]:
            strength = _NOT_ALL
        elif strength is None or (
            number
            and tokens[number - 1].lower in ("at", "the", "than", "not")
            and token.lower != "majority"
        ):
            continue
        of_them = [t.lower for t in tokens[number + 1 : number + 3]]
        pointed = of_them[:1] == ["of"] and of_them[1:] and of_them[1] in _THEM
        keys = frozenset((_ANY,)) if pointed else frozenset(_noun(tokens[number + 1 : number + 9]))
        if keys:
            clause = reading.clause_at(token.start)
            yield token.lower, strength, keys, (clause.keys if clause else keys) - keys


_Quantified = tuple[tuple[str, int, frozenset[str], frozenset[str]], ...]


def _known(scene: Scene, near: Near) -> _Quantified:
    key = "quantified", near.number
    found: _Quantified | None = scene.pages.notes.get(key)
    if found is None:
        found = scene.pages.notes[key] = tuple(_quantified(near.reading))
    return found


def _noun(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the words of the noun that a quantifier stands before: "of the 12 visiting teams"."""
    found = 0
    for number, token in enumerate(tokens):
        if token.key is None or token.value >= 0:
            if found or not (token.lower in _BEFORE_NOUN or token.value >= 0):
                return
            continue
        after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        if found and base_of(token.lower) and not (base_of(after) or after in _AUXILIARIES):
            return  # "each vial holds", but "few wine samples contained"
        found += 1
        yield token.key
        if found > 1:
            return


_THEM = frozenset("them these those which whom it".split())
_ANY = "*"
"""Stands for the noun that "of them" points at."""
_AUXILIARIES = frozenset("is are was were has have had can may must will do does did".split())
_BEFORE_NOUN = frozenset("of the its their these those our such other".split())


_LEAST = 0.3
"""Share of a claim that a sentence must hold whose noun and what is said of it are the claim's."""
_NONE = frozenset(("no", "none", "never", "nobody"))


def _none_of(strength: int) -> bool:
    return strength == _QUANTIFIERS["none"]


def counted_otherwise(scene: Scene, name: str) -> Verdict | None:
    """Veto "all teams" where the context says "most teams"."""
    mine = list(_quantified(scene.reading))
    for near in scene.near if mine else ():
        if "without" in near.reading.text:  # "no passenger without a passport": each needs one
            continue
        theirs = _known(scene, near)
        for word, strength, noun, rest in mine:
            same = [
                (w, s)
                for w, s, other, said in theirs
                if (other & noun or (_ANY in other and 2 * len(alike(rest, said)) > len(rest)))
                and (alike(rest, said) or not (rest and said))
            ]
            told = alike(rest, frozenset[str]().union(*(q[3] for q in theirs)))
            least = _LEAST if 3 * len(told) > len(rest) else CLOSE
            if not same or near.share < least or any(s == strength for _, s in same):
                continue
            if _none_of(strength) and any(t.lower in _NONE for t in near.reading.tokens):
                continue
            if all((strength, s) in _CLASH for _, s in same):
                reason = f"the context says {same[0][0]!r} of it, the answer {word!r}"
                return contradiction(scene, name, reason, near)
    return None
