"""Citations: "[2]" must point at a passage that says what it is cited for.

In: a claim with its citations and its context. Out: a veto where a cited passage does not exist,
or where another says it, or one clause of it, and the cited one does not; else silence. Passages
are numbered from 1 in the order in which the model saw them. Where that order cannot be known
(several rounds of retrieval, passages that were left out, text that brings its own numbers)
nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._reading import Reading, read
from faithguard.verifiers.rules._scene import Scene, contradiction, scene_of, unmentioned

__all__ = ["Citations"]

_SAYS = 0.5
"""Share of what is cited that another passage must hold to be the right one."""
_BETTER = 0.25
"""By how much it must hold more than the cited ones do."""
_SAYS_PART, _BETTER_PART = 0.7, 0.4
"""The same for one clause of what is cited, which says less and so must be held better."""
_FEWEST = 2
"""Words and values of a clause that says something."""
_LARGEST = 99
"""A larger number in brackets is no citation."""
_OWN_NUMBERS = re.compile(
    r"\[\d{1,3}\]|^\s*(?:document|source|passage|doc)\s*#?\d+\b", re.I | re.MULTILINE
)


class Citations(EachClaim):
    """Veto a claim whose citation points at nothing, or at the wrong passage."""

    name = "citations@3"

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Verdict | None]:
        """Return what is said of each claim; a wrong citation is wrong whatever is denied."""
        return [self.verdict(claim, context) for claim in claims]

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where citations fit or cannot be resolved."""
        if not claim.cites or not _numbered(context):
            return None
        scene = scene_of(claim, context)
        cited: dict[str, list[int]] = {}
        for words, number in claim.cites:
            cited.setdefault(words, []).append(number)
        for words, numbers in cited.items():
            verdict = self._missing(scene, numbers) or self._wrong(scene, words, numbers)
            if verdict is not None:
                return verdict
        return None

    def _missing(self, scene: Scene, numbers: list[int]) -> Verdict | None:
        count = len(scene.context.passages)
        for number in numbers:
            if not 1 <= number <= count and number <= _LARGEST:
                reason = f"the answer cites passage {number}, and there are {count}"
                return unmentioned(scene, self.name, reason)
        return None

    def _wrong(self, scene: Scene, words: str, numbers: list[int]) -> Verdict | None:
        part = read(words)
        if not part.keys:
            return None
        best = self._better(_shares(scene, part.keys, part.values), numbers, _SAYS, _BETTER)
        for keys, values in _parts(part) if not best else ():
            best = best or self._better(
                _shares(scene, keys, values), numbers, _SAYS_PART, _BETTER_PART
            )
        if not best:
            return None
        near = next(near for near in scene.near if scene.pages.place[near.sentence.passage] == best)
        named = ", ".join(map(str, numbers))
        reason = f"the answer cites passage {named} for it, and passage {best} says it"
        return contradiction(scene, self.name, reason, near)

    def _better(
        self, shares: Mapping[int, float], numbers: list[int], says: float, better: float
    ) -> int:
        """Return the passage that says what the cited ones do not; 0 if there is none."""
        held = max((shares.get(number, 0.0) for number in numbers), default=0.0)
        best = max(shares, key=lambda number: (shares[number], -number), default=0)
        if best in numbers or shares.get(best, 0.0) < says or shares[best] - held < better:
            return 0
        return best


def _parts(part: Reading) -> Iterator[tuple[frozenset[str], tuple[Value, ...]]]:
    """Yield the clauses of what is cited, if there are several that say something."""
    found = [
        (clause.keys, tuple(part.values[n] for n in clause.values))
        for clause in part.clauses
        if len(clause.keys) + len(clause.values) >= _FEWEST
    ]
    yield from found if len(found) > 1 else ()


def _numbered(context: Context) -> bool:
    """Whether the n-th passage is the one that the model knew as [n]."""
    passages = context.passages
    return (
        len(passages) > 1
        and context.numbers == tuple(range(len(passages)))
        and all(p.hop == passages[0].hop and p.origin != "prompt" for p in passages)
        and not any(_OWN_NUMBERS.search(p.text) for p in passages)
    )


def _shares(scene: Scene, wanted: frozenset[str], stated: tuple[Value, ...]) -> Mapping[int, float]:
    """Return how much of a part each passage holds, by its number from 1."""
    whole = scene.weight(wanted) + 2.0 * len(stated)
    keys: dict[int, set[str]] = {}
    values: dict[int, set[int]] = {}
    for near in scene.near:
        number = scene.pages.place[near.sentence.passage]
        keys.setdefault(number, set()).update(wanted & near.reading.keys)
        values.setdefault(number, set()).update(
            n
            for n, value in enumerate(stated)
            if any(value.agrees(other) for other in near.reading.values)
        )
    return {
        number: (scene.weight(held) + 2.0 * len(values[number])) / whole
        for number, held in keys.items()
    }
