"""What local verifiers have in common: each claim is decided by itself, without I/O.

In: claims and context. Out: what `verdict` says of each. Deciding keeps a core busy, so the
awaiting form runs off the event loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from faithguard._offload import offload
from faithguard.types import Claim, Verdict
from faithguard.verifiers._asked import settled
from faithguard.verifiers._context import Context

__all__ = ["EachClaim"]


class EachClaim:
    """A verifier that decides claim by claim; a member adds `name` and `verdict`."""

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a verdict, or None for silence."""
        raise TypeError(f"{type(self).__name__} does not say how it decides")

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Verdict | None]:
        """Return what is said of each claim, in order."""
        return [settled(claim, lambda one: self.found(one, context), context) for claim in claims]

    def found(self, claim: Claim, context: Context) -> Verdict | None:
        """Return what is said of a claim that is to be taken as it stands."""
        return self.verdict(claim, context)

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Verdict | None]:
        """Do the same off the event loop."""
        return await offload(self.verify, claims, context)
