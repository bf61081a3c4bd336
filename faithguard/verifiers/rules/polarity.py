"""Polarity: negation, antonyms, quantifiers, modality, conditions, superlatives.

In: a claim and its context. Out: a veto where a clause of the context says the same as one of the
claim but denies it, says the opposite word, says it of fewer, only allows it, or ties it to a
condition that the claim drops, or keeps it to another; what says so in fewer words is granted; else
silence. Negation in some twenty languages, the rest in English.
"""

from __future__ import annotations

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers.rules._barred import barred, on_closed_days
from faithguard.verifiers.rules._bygone import bygone
from faithguard.verifiers.rules._comparatives import first_of_some, other_way_round, superlative
from faithguard.verifiers.rules._conditions import condition_dropped
from faithguard.verifiers.rules._exceptions import excepted, left_out, waived
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._kept import kept_to
from faithguard.verifiers.rules._limits import limit_ignored
from faithguard.verifiers.rules._modality import demanded_instead, duty_or_not, stronger
from faithguard.verifiers.rules._negated import own_negation
from faithguard.verifiers.rules._negation import denied_or_not, gainsaid, none_such
from faithguard.verifiers.rules._only_denied import only_denied
from faithguard.verifiers.rules._open_days import by_open_days
from faithguard.verifiers.rules._opposites import opposite_said
from faithguard.verifiers.rules._quantifiers import counted_otherwise
from faithguard.verifiers.rules._scene import Scene, scene_of, unmentioned
from faithguard.verifiers.rules._scope import unbound
from faithguard.verifiers.rules._shut import shut
from faithguard.verifiers.rules._stances import taken_back
from faithguard.verifiers.rules._widened import widened

__all__ = ["Polarity"]


class Polarity(Family):
    """Veto a claim that the context denies, or states more weakly."""

    name = "polarity@6"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where polarity agrees or is not clear."""
        scene = scene_of(claim, context)
        for check in (
            on_closed_days,
            by_open_days,
            own_negation,
            only_denied,
            gainsaid,
            denied_or_not,
            none_such,
            barred,
            taken_back,
            limit_ignored,
            widened,
            kept_to,
            excepted,
            waived,
            superlative,
            other_way_round,
            opposite_said,
            shut,
            counted_otherwise,
            stronger,
            demanded_instead,
            duty_or_not,
            left_out,
            unbound,
            _tied,
            first_of_some,
            bygone,
        ):
            verdict = check(scene, self.name)
            if verdict is not None:
                return verdict
        return None


def _tied(scene: Scene, name: str) -> Verdict | None:
    """Veto what the context says on a condition alone."""
    dropped = condition_dropped(scene)
    if dropped is None:
        return None
    return unmentioned(scene, name, f"the context ties it to a condition: {dropped[0]!r}")
