"""Examples -> batches of word pieces, each of about the same number of tokens.

In: the rows of a run and a position in it. Out: batches in a fixed order from that position on,
each with the position behind it. A chunk of rows is made into examples, sorted by length and
cut by a budget of tokens, so that little is padded; the batches of a chunk are shuffled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faithguard.errors import ConfigError, require
from faithguard.train._examples import Composer, Example
from faithguard.train._rows import Row, Target, epoch

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Batch", "Encoder", "Position", "batches_of", "stream"]

_CHUNK = 2_048
"""Rows that are sorted by length together."""

_MOST = 96
"""Examples of a batch, however short they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a run stands: the next batch of a chunk of an epoch."""

    epoch: int = 0
    chunk: int = 0
    batch: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Encoded pairs of similar length.

    Attributes:
        pieces: For each pair its word pieces and segment numbers (0 premise, 1 claim), of the
            same length for both.
        targets: What each label allows.
        after: The position behind this batch.
        progress: Epochs done behind this batch, as a fraction.
    """

    pieces: tuple[tuple[list[int], list[int]], ...]
    targets: tuple[Target, ...]
    datasets: tuple[str, ...]
    after: Position = Position()
    progress: float = 0.0

    @property
    def length(self) -> int:
        """Word pieces of the longest pair."""
        return max(len(ids) for ids, _ in self.pieces)

    @property
    def tokens(self) -> int:
        """Word pieces of all pairs, padding left out."""
        return sum(len(ids) for ids, _ in self.pieces)


class Encoder:
    """Turn pairs of texts into word pieces; only the premise is ever cut.

    Args:
        path: A `tokenizer.json`.
        longest: Word pieces of a pair, those of its frame included.
    """

    def __init__(self, path: Path, *, longest: int) -> None:
        tokenizers: Any = require("tokenizers", extra="train")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # it has no class of its own
            raise ConfigError(
                f"the tokenizer {str(path)!r} cannot be read; name a folder with one of the "
                "tokenizers package"
            ) from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._longest = longest

    def encode(self, examples: Sequence[Example]) -> list[tuple[list[int], list[int]]]:
        """Return word pieces and segments of each pair.

        A claim that leaves no room is cut at its end: what follows must not be judged by a part,
        so serving windows such claims, and training sees few of them.
        """
        found = self._tokenizer.encode_batch([(e.premise, e.claim) for e in examples])
        return [self._cut(list(one.ids), list(one.type_ids)) for one in found]

    def _cut(self, ids: list[int], kinds: list[int]) -> tuple[list[int], list[int]]:
        """Take word pieces off the premise, before the separator behind it."""
        over = len(ids) - self._longest
        if over <= 0:
            return ids, kinds
        separator = kinds.index(1) - 1
        start = max(2, separator - over)
        ids, kinds = ids[:start] + ids[separator:], kinds[:start] + kinds[separator:]
        return ids[: self._longest - 1] + ids[-1:], kinds[: self._longest - 1] + kinds[-1:]


def stream(
    rows: Sequence[Row],
    composer: Composer,
    encoder: Encoder,
    *,
    budget: int,
    seed: int,
    start: Position,
) -> Iterator[Batch]:
    """Yield the batches of a run without end, from a position on."""
    at = start
    while True:
        order = epoch(rows, at.epoch, seed)
        chunks = [order[n : n + _CHUNK] for n in range(0, len(order), _CHUNK)]
        for number in range(at.chunk, len(chunks)):
            examples = [
                example
                for place, row in enumerate(chunks[number], start=number * _CHUNK)
                for example in composer.compose(row, epoch=at.epoch, place=place)
            ]
            rng = random.Random(f"{seed}:{at.epoch}:{number}:order")  # noqa: S311
            made = list(batches_of(examples, encoder, budget=budget, rng=rng))
            for place in range(at.batch, len(made)):
                last = place + 1 == len(made)
                yield Batch(
                    pieces=made[place].pieces,
                    targets=made[place].targets,
                    datasets=made[place].datasets,
                    after=Position(
                        epoch=at.epoch,
                        chunk=number + 1 if last else number,
                        batch=0 if last else place + 1,
                    ),
                    progress=at.epoch + (number + (place + 1) / len(made)) / len(chunks),
                )
            at = Position(epoch=at.epoch, chunk=number + 1)
        at = Position(epoch=at.epoch + 1)


def batches_of(
    examples: Sequence[Example],
    encoder: Encoder,
    *,
    budget: int,
    rng: random.Random | None = None,
) -> Iterator[Batch]:
    """Yield examples in batches of at most `budget` word pieces, padding counted.

    Without a source of chance they come in order of length.
    """
    pieces = encoder.encode(examples)
    order = sorted(range(len(examples)), key=lambda n: (len(pieces[n][0]), n))
    groups: list[list[int]] = [[]]
    for n in order:
        if (len(groups[-1]) + 1) * len(pieces[n][0]) > budget or len(groups[-1]) == _MOST:
            groups.append([])
        groups[-1].append(n)
    groups = [group for group in groups if group]
    if rng is not None:
        rng.shuffle(groups)
    for group in groups:
        yield Batch(
            pieces=tuple(pieces[n] for n in group),
            targets=tuple(examples[n].target for n in group),
            datasets=tuple(examples[n].dataset for n in group),
        )
