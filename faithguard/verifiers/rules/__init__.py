"""Rules: verifiers that are certain or silent.

In: claims and context. Out: for each claim a `Verdict` that vetoes "supported", or None; the
first and the last also say so where a claim denies what the context denies. They run before any
model; each family is a file of its own.
"""

from faithguard.verifiers.rules.citations import Citations
from faithguard.verifiers.rules.dates_times import DatesTimes
from faithguard.verifiers.rules.denied import Denied
from faithguard.verifiers.rules.fields import Fields
from faithguard.verifiers.rules.identifiers import Identifiers
from faithguard.verifiers.rules.polarity import Polarity
from faithguard.verifiers.rules.quantities import Quantities
from faithguard.verifiers.rules.roles import Roles
from faithguard.verifiers.rules.tables_lists import TablesLists
from faithguard.verifiers.rules.units_currency import UnitsCurrency

RULES = (
    Fields,
    Quantities,
    UnitsCurrency,
    DatesTimes,
    Identifiers,
    Polarity,
    Roles,
    TablesLists,
    Citations,
    Denied,
)
"""The families, in the order in which they are asked."""

__all__ = [
    "RULES",
    "Citations",
    "DatesTimes",
    "Denied",
    "Fields",
    "Identifiers",
    "Polarity",
    "Quantities",
    "Roles",
    "TablesLists",
    "UnitsCurrency",
]
