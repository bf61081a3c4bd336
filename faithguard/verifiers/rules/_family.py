"""What all families but citations have in common: they are silent on what stands word for word.

In: claims and context. Out: what `verdict` says of each claim that is not a whole sentence of
the context.
"""

from __future__ import annotations

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers.rules._scene import scene_of

__all__ = ["Family"]


class Family(EachClaim):
    """A rule; a member adds `name` and `verdict`."""

    def found(self, claim: Claim, context: Context) -> Verdict | None:
        """Return what is said of a claim that does not stand in the context word for word."""
        return None if scene_of(claim, context).stands else self.verdict(claim, context)
