"""Rules: verifiers that are certain or silent.

In: claims and context. Out: for each claim a `Verdict` that vetoes "supported", or None. They
run before any model; each family is a file of its own.
"""

from faithguard.verifiers.rules._negation import Negation
from faithguard.verifiers.rules._numbers import Numbers

RULES = (Numbers, Negation)

__all__ = ["RULES", "Negation", "Numbers"]
