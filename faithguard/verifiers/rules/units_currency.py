"""Units and currencies: mg and g, km and miles, days and months, euros and dollars.

In: a claim and its context. Out: a veto where a measured value stands nowhere, in another unit or
currency, or belongs to something else; else silence. What can be converted is equal, and nothing
is converted between currencies.
"""

from __future__ import annotations

from faithguard.types import Claim, Verdict
from faithguard.verifiers._context import Context
from faithguard.verifiers._values import Value
from faithguard.verifiers.rules._crossed import crossed
from faithguard.verifiers.rules._dimensions import other_dimension
from faithguard.verifiers.rules._family import Family
from faithguard.verifiers.rules._scene import scene_of
from faithguard.verifiers.rules._stated import stated

__all__ = ["UnitsCurrency"]

_ELSEWHERE = (
    "",
    "%",
    "permille",
    "percentage point",
    "ratio",
    "person",
    "times",
    "second",
    "month",
)
"""Units that other families look after."""


class UnitsCurrency(Family):
    """Veto an amount that the context does not hold, or holds of something else."""

    name = "units_currency@7"

    def verdict(self, claim: Claim, context: Context) -> Verdict | None:
        """Return a veto, or None where every amount is held."""
        scene = scene_of(claim, context)
        if not scene.reading.values:
            return None
        return (
            stated(scene, self.name, _measured)
            or crossed(scene, self.name, _measured)
            or other_dimension(scene, self.name)
        )


def _measured(value: Value) -> bool:
    return value.family == "number" and value.unit not in _ELSEWHERE
