"""Rows -> examples: pairs of texts as the model will see them when it serves.

In: rows of one part. Out: `Example`s: a premise of a few sentences and a claim. A long context
gives what evidence selection finds in it, a short one often stands among foreign passages, and
some rows bring a made pair along: a value, name or word changed, a sentence of a passage said
with and without that sentence, said as it stands or shorter, an invented notice, a foreign context,
an answer of several claims. Everything
follows from the seed, the epoch and the place of the row, so that a run can go on anywhere.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from faithguard.train._notices import notice
from faithguard.train._rows import Row, Target
from faithguard.train._shorter import shorter
from faithguard.train._synthetic import Made, beside, true_twin, untrue
from faithguard.types import Passage
from faithguard.verifiers import Context
from faithguard.verifiers.nli import premises

__all__ = ["PUZZLES", "Composer", "Example"]

_ROOM = 85
"""Words of a premise and a claim together: several short premises serve better than a long one,
and cost less."""

_SHORTEST = 40
"""Words that a premise may have however long the claim is."""

_FOREIGN_ROOM = 55
"""Words up to which foreign passages fill a premise."""

_LONG = 40
"""Words of a passage that sentences are taken from."""

_PLAIN, _NOTICES = 0.74, 0.86
"""Chances up to which a row brings nothing of its own wording, and up to which no notice."""

_TRIES = 6

PUZZLES = frozenset(
    ("snli", "cad_nli", "med", "mnli", "negnli", "conjnli", "folio", "entbank", "fever_sym")
)
"""Sets whose texts are so general that a foreign one of the same set may entail the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A pair of texts and what its label allows."""

    premise: str
    claim: str
    target: Target
    dataset: str
    made: bool = False


class Composer:
    """Make examples of rows.

    Args:
        rows: All rows of the part: foreign passages and claims come from them.
        seed: Of all that is left to chance.
    """

    def __init__(self, rows: Sequence[Row], *, seed: int) -> None:
        self._seed = seed
        self._texts = list(dict.fromkeys(text for row in rows for text in row.context))
        self._passages = [t for t in self._texts if len(t.split()) >= _LONG] or self._texts
        self._by_set: dict[str, list[Row]] = defaultdict(list)
        self._entailed: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._by_set[row.dataset].append(row)
            if row.target == "e" and len(row.claim.split()) > 3:
                self._entailed[row.dataset].append(row)

    def compose(self, row: Row, *, epoch: int, place: int) -> Iterator[Example]:
        """Yield the row's own example and, for some rows, a made one."""
        rng = random.Random(f"{self._seed}:{epoch}:{place}")  # noqa: S311
        premise = self._premise(row, rng)
        if rng.random() < 0.4:
            premise = self._among_foreign(premise, row, rng)
        yield Example(premise=premise, claim=row.claim, target=row.target, dataset=row.dataset)
        made = self._made(row, premise, rng)
        if made is not None:
            yield _example(made, row.dataset)

    def kept(self, count: int) -> Iterator[Example]:
        """Yield up to `count` made pairs that keep to the wording of their context.

        Half of them are of sentences of the rows, half invented notices.
        """
        rng = random.Random(f"{self._seed}:kept")  # noqa: S311
        rows = [row for group in self._by_set.values() for row in group]
        for number in range(count):
            made = _of_a_notice(rng) if number % 2 else self._kept(rng.choice(rows), rng)
            if made is not None:
                yield _example(made, "made")

    def moved(self, count: int) -> Iterator[Example]:
        """Yield up to `count` claims that are entailed elsewhere, beside what is alike."""
        rng = random.Random(f"{self._seed}:moved")  # noqa: S311
        rows = [
            row for name, group in self._entailed.items() if name not in PUZZLES for row in group
        ]
        for row in rng.choices(rows, k=count) if rows else ():
            made = self._elsewhere(row, rng)
            if made is not None:
                yield _example(made, "made")

    # -- premises -----------------------------------------------------------------------------

    def _premise(self, row: Row, rng: random.Random) -> str:
        """Return the context, or those sentences of it that bear on the claim."""
        whole = " ".join(row.context)
        room = _room(row.claim)
        if len(whole.split()) <= room:
            texts = list(row.context)
            if len(texts) > 1 and rng.random() < 0.5:
                rng.shuffle(texts)
            return " ".join(texts)
        return _selected(row, rng.choice((2, 3, 3, 4, 6)), rng.random() < 0.4, room)

    def _among_foreign(self, premise: str, row: Row, rng: random.Random) -> str:
        """Return a premise with foreign passages before, behind or between its sentences."""
        room = min(_room(row.claim), _FOREIGN_ROOM) - len(premise.split())
        pieces = [premise]
        if rng.random() < 0.3:
            pieces = list(_sentences(premise)) or pieces
        for _ in range(rng.randint(1, 4)):
            foreign = self._foreign(row, rng)
            words = len(foreign.split())
            if words > room:
                continue
            room -= words
            pieces.insert(rng.randint(0, len(pieces)), foreign)
        return " ".join(pieces)

    def _foreign(self, row: Row, rng: random.Random) -> str:
        """Return one or two sentences of another context."""
        texts: Sequence[str] = self._passages
        if row.dataset not in PUZZLES and rng.random() < 0.5:
            texts = rng.choice(self._by_set[row.dataset]).context
        text = rng.choice(texts)
        if text in row.context:
            return rng.choice(self._passages)[:0]
        sentences = _sentences(text)
        if not sentences:
            return ""
        start = rng.randrange(len(sentences))
        return " ".join(sentences[start : start + rng.randint(1, 2)])

    # -- made pairs ---------------------------------------------------------------------------

    def _made(self, row: Row, premise: str, rng: random.Random) -> Made | None:
        """Return a pair made from the row or beside it; most rows have none."""
        way = rng.random()
        if way < 0.14:
            return self._of_a_sentence(row, rng)
        if way > _PLAIN:
            return self._kept(row, rng) if way < _NOTICES else _of_a_notice(rng)
        if row.target != "e" or len(row.claim.split()) < 4:
            return None
        if way < 0.46:
            change = untrue if rng.random() < 0.55 else true_twin
            return change(premise, row.claim, self._foreign(row, rng), rng)
        if way < 0.54 and row.dataset not in PUZZLES:
            return self._elsewhere(row, rng)
        if way < 0.62:
            return self._several(row, premise, rng)
        return None

    def _of_a_sentence(self, row: Row, rng: random.Random) -> Made | None:
        """Return a sentence of some passage as the claim: said, changed, or left out there."""
        sentences = _sentences(rng.choice(self._passages))
        fitting = [n for n, text in enumerate(sentences) if 6 <= len(text.split()) <= 35]
        if not fitting:
            return None
        at = rng.choice(fitting)
        claim = sentences[at]
        around = [*sentences[max(0, at - rng.randint(0, 2)) : at]]
        behind = [*sentences[at + 1 : at + 1 + rng.randint(0, 2)]]
        room = _room(claim)
        foreign = self._foreign(row, rng)
        way = rng.random()
        if way < 0.25 and (around or behind):
            kept = _within([*around, *behind, *([foreign] if rng.random() < 0.3 else [])], room)
            return Made(premise=" ".join(kept), claim=claim, target="n")
        premise = " ".join(_within([claim, *around, *behind], room))
        if len(around) + len(behind) and len(premise.split()) < room:
            premise = " ".join([*around, claim, *behind])
        change = untrue if way < 0.65 else true_twin
        return change(premise, claim, foreign, rng)

    def _kept(self, row: Row, rng: random.Random) -> Made | None:
        """Return a sentence of some passage as it stands or shorter, right or wrong."""
        for _ in range(_TRIES):
            sentences = _sentences(rng.choice(self._passages))
            fitting = [n for n, text in enumerate(sentences) if 6 <= len(text.split()) <= 40]
            if not fitting:
                continue
            at = rng.choice(fitting)
            made = self._of_one(row, sentences[at], rng)
            if made is not None:
                room = _room(made.claim) - len(made.premise.split())
                before = sentences[at - 1] if at else ""
                if before and len(before.split()) <= room and rng.random() < 0.4:
                    return replace(made, premise=f"{before} {made.premise}")
                return made
        return None

    def _of_one(self, row: Row, sentence: str, rng: random.Random) -> Made | None:
        """Return a pair of a sentence; None where it does not lend itself to what chance asks."""
        way = rng.random()
        if way < 0.3:
            return beside(sentence, sentence, self._foreign(row, rng), rng)
        left = shorter(sentence, rng, true=way < 0.85)
        if left is None:
            return None
        claim, target = left
        foreign = self._foreign(row, rng)
        if target == "e" and rng.random() < 0.45:
            return beside(sentence, claim, foreign, rng) or untrue(sentence, claim, foreign, rng)
        texts = [sentence, foreign] if rng.random() < 0.4 else [sentence]
        texts = _within(texts, _room(claim))
        return Made(premise=" ".join(rng.sample(texts, len(texts))), claim=claim, target=target)

    def _elsewhere(self, row: Row, rng: random.Random) -> Made | None:
        """Return the claim with the most alike of a few contexts of other rows."""
        words = set(row.claim.lower().split())
        others = [rng.choice(self._by_set[row.dataset]) for _ in range(8)]
        others = [other for other in others if not set(other.context) & set(row.context)]
        if not others:
            return None
        # what shares nearly everything may well be about the same and entail it
        shares = [
            (len(words & set(" ".join(o.context).lower().split())) / len(words), n)
            for n, o in enumerate(others)
        ]
        share, best = max(shares)
        if share > 0.8:
            return None
        other = others[best]
        moved = Row(context=other.context, claim=row.claim, target="n", dataset=row.dataset)
        return Made(premise=self._premise(moved, rng), claim=row.claim, target="n")

    def _several(self, row: Row, premise: str, rng: random.Random) -> Made | None:
        """Return an answer of two or three claims of which at most one is not entailed."""
        pairs = [(premise, row.claim)]
        others = self._entailed[row.dataset]
        for _ in range(rng.randint(1, 2)):
            other = rng.choice(others)
            text = " ".join(other.context)
            words = sum(len(p.split()) + len(c.split()) for p, c in pairs)
            if words + len(text.split()) + len(other.claim.split()) < _ROOM:
                pairs.append((text, other.claim))
        target: Target = "e"
        if rng.random() < 0.6:
            at = rng.randrange(len(pairs))
            wrong = untrue(*pairs[at], self._foreign(row, rng), rng)
            if wrong is None:
                return None
            pairs[at], target = (wrong.premise, wrong.claim), "nc"
        if len(pairs) == 1:
            return None
        texts = [text for text, _ in rng.sample(pairs, len(pairs))]
        claims = [claim if claim.endswith((".", "!", "?")) else f"{claim}." for _, claim in pairs]
        return Made(premise=" ".join(texts), claim=" ".join(claims), target=target)


def _example(made: Made, dataset: str) -> Example:
    return Example(
        premise=made.premise, claim=made.claim, target=made.target, dataset=dataset, made=True
    )


def _of_a_notice(rng: random.Random) -> Made | None:
    """Return an invented notice, or what serving would choose of it, and a claim about it."""
    made = notice(rng)
    context = Context([Passage(text=made.text)])
    found = premises(made.claim, context.select(made.claim), context)
    if not found:
        return None
    text = made.text if rng.random() < 0.3 and "\n" not in made.text else rng.choice(found).text
    return Made(premise=text, claim=made.claim, target=made.target)


def _room(claim: str) -> int:
    """Return how many words a premise may have beside a claim."""
    return max(_SHORTEST, _ROOM - len(claim.split()))


def _within(texts: Sequence[str], room: int) -> list[str]:
    """Return the first texts that fit into a room of words; at least one."""
    kept: list[str] = []
    for text in texts:
        words = len(text.split())
        if not kept or words <= room:
            kept.append(text)
            room -= words
    return kept


@lru_cache(maxsize=50_000)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in Context([Passage(text=text)]).sentences)


@lru_cache(maxsize=30_000)
def _chosen(row: Row, most: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the numbers of the best sentences, the best first, and all sentences."""
    context = Context([Passage(text=text) for text in row.context])
    number = {sentence: n for n, sentence in enumerate(context.sentences)}
    found = context.select(row.claim, most=most).sentences
    texts = tuple(sentence.text for sentence in context.sentences)
    return tuple(number[sentence] for sentence in found), texts


def _selected(row: Row, most: int, neighbours: bool, room: int) -> str:
    """Return the best sentences in their order, some with their left neighbours.

    Evidence selection finds what shares words with the claim, so what is left out may have
    been needed: a claim that only the whole of a long context supports stays a false example,
    as it does in serving.
    """
    best, texts = _chosen(row, 6)
    kept: set[int] = set()
    for n in best[:most] or (0,):
        for at in (n, n - 1) if neighbours else (n,):
            words = len(texts[at].split()) if at >= 0 else room + 1
            if at not in kept and (words <= room or not kept):
                kept.add(at)
                room -= words
    return " ".join(texts[n] for n in sorted(kept))
