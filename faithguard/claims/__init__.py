"""Answer -> claims.

In: an answer and its question. Out: claims with ids, kinds and spans in the answer, in the
order of the answer; labels are still `not_checked`.

`LocalClaims` is deterministic and needs no model; `ModelClaims` asks one. To add an extractor,
write a class with a `name` and the two methods of `Extractor`, and pass it to
`Scorer(extractor=...)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from faithguard.claims._anchored import Anchored, anchored, parts_of, statements_of
from faithguard.claims._local import LocalClaims
from faithguard.claims._model import ModelClaims, Splits
from faithguard.types import Claim

__all__ = [
    "Anchored",
    "Extractor",
    "LocalClaims",
    "ModelClaims",
    "Splits",
    "anchored",
    "parts_of",
    "statements_of",
]


class Extractor(Protocol):
    """Split an answer into claims."""

    @property
    def name(self) -> str:
        """`name@version`: part of every report."""
        ...

    def extract(self, answer: str, question: str | None = None) -> Sequence[Claim]:
        """Return the claims of an answer, in its order; blocking."""
        ...

    async def aextract(self, answer: str, question: str | None = None) -> Sequence[Claim]:
        """Do the same without blocking the event loop."""
        ...
