"""Reports and decisions -> figures over many answers, each with its counts and its uncertainty.

In: what became of each answer (`Tally.add`), or the records of two runs (`compare`). Out: a
`Summary`, or a `Comparison`; and intervals (`wilson`) and tests (`mcnemar`, `paired_change`). The
answer is the unit: claims of one answer share its context, so they are no independent trials.
"""

from faithguard.stats._compare import Comparison, Drop, PairBy, compare
from faithguard.stats._intervals import wilson
from faithguard.stats._paired import Change, mcnemar, paired_change
from faithguard.stats._tally import Summary, Tally

__all__ = [
    "Change",
    "Comparison",
    "Drop",
    "PairBy",
    "Summary",
    "Tally",
    "compare",
    "mcnemar",
    "paired_change",
    "wilson",
]
