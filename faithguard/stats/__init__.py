"""Reports and decisions -> figures over many answers, each with its counts and its uncertainty.

In: what became of each answer (`Tally.add`). Out: a `Summary`; and intervals (`wilson`). The
answer is the unit: claims of one answer share its context, so they are no independent trials.
"""

from faithguard.stats._intervals import wilson
from faithguard.stats._tally import Summary, Tally

__all__ = ["Summary", "Tally", "wilson"]
