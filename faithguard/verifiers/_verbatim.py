"""What the context says word for word, as a whole sentence, it supports.

In: claims and context. Out: for each claim that stands in the context a verdict, else None. It
stands behind the rules and before the model: nothing needs to be read, in any language.
"""

from __future__ import annotations

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._each import EachClaim
from faithguard.verifiers._lexical import rival_in
from faithguard.verifiers._terms import analyse
from faithguard.verifiers.rules._scene import scene_of

__all__ = ["Verbatim"]

_SURE = 0.99
"""Not 1: a sentence that stands somewhere may be quoted there to be denied."""


class Verbatim(EachClaim):
    """Certain of what is copied, silent on the rest."""

    name = "verbatim@1"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a verdict, or None."""
        if not scene_of(claim, context).stands:
            return None
        selection = context.select(claim.text)
        if not selection.sentences:
            return None
        rival = rival_in(analyse(claim.text), selection, context)
        return Verdict(
            claim=claim.id,
            label="conflicting" if rival else "supported",
            p_supported=_SURE,
            verifier=self.name,
            reason="passages disagree on it" if rival else "the context says it word for word",
            evidence=(
                *(sentence.evidence() for sentence in selection.sentences[:1]),
                *((rival,) if rival else ()),
            ),
        )
