"""Which sentence of this answer is made up? Try `python examples/check_an_answer.py`."""

from rich import print

import faithguard

CONTEXT = [
    "The night train leaves Graz at 22:15 and reaches Zagreb at 05:40. It runs every day.",
    "Bicycles travel free of charge but need a reservation. Dogs need a muzzle.",
]
ANSWER = (
    "The night train to Zagreb leaves Graz at 10:15 pm. Bicycles are free, but they need a "
    "reservation. Breakfast is served in every compartment."
)

report = faithguard.check(ANSWER, CONTEXT, question="When does the night train leave?")
print(report)
for claim in report.unsupported:
    print(f"{claim.label}: {claim.text} ({claim.cause})")
print(report.decide("support").reason)
