"""Text -> the numbers, times, days and dates in it, in one form each.

In: a sentence. Out: `Value`s with spans, comparable whatever the wording: "9am", "9:00" and
"nine in the morning" are one value, so are "24 months" and "2 years", "1.234,50 €" and
"EUR 1,234.50", "3 May 2024" and "2024年5月3日". Where a writing can be read in two ways ("1.234",
"3/5/2024"), both readings are kept and one that agrees is enough. Ten languages; digits of every
script.

    _find -> _calendar, _clock, _numbers -> Value
             (_names: months and days; _words: spelled numbers; _units: what is measured)
"""

from faithguard.verifiers._values._find import find_values
from faithguard.verifiers._values._value import Value

__all__ = ["Value", "find_values"]
