"""Claim + context -> verdict.

In: fact claims and the `Context` of their exchange. Out: for each claim a `Verdict`, a
`Failure`, or None where the verifier has nothing to say.

To add one, write a class with a `name` and the two methods of `Verifier`, and pass it to
`Scorer(verifiers=[...])`; `faithguard.testing.check_verifier` is its contract suite.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from faithguard.types import Claim, Failure, Verdict
from faithguard.verifiers._context import Context

__all__ = ["Context", "Finding", "Verifier"]

Finding: TypeAlias = Verdict | Failure | None


class Verifier(Protocol):
    """Say which claims the context supports."""

    @property
    def name(self) -> str:
        """`name@version`: part of cache keys and reports, so it changes with behaviour."""
        ...

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Return one finding for each claim, in order; blocking.

        Raises:
            VerifierError: If none can be had; the scorer makes it a `Failure` of each claim.
        """
        ...

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Do the same without blocking the event loop."""
        ...
