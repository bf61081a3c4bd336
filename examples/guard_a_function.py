"""How do I guard a function of my own, with no framework? `python examples/guard_a_function.py`."""

import faithguard

LEAFLET = ["Adults take 500 mg twice a day, with water.", "Children under 12 do not take it."]


def search(question: str) -> list[str]:
    """Find what bears on a question."""
    words = set(question.lower().split())
    return [text for text in LEAFLET if words & set(text.lower().split())]


@faithguard.guarded(domain="medical", fallback="Please ask your pharmacist.", sinks=[])
def answer(question: str) -> str:
    """Answer from the leaflet; a model would do it here."""
    faithguard.saw(search(question))
    return "Adults take 500 g twice a day." if "adults" in question else "Children do not take it."


for asked in ("How much do adults take?", "How much do children take?"):
    output, record = answer.with_report(asked)
    print(f"{output} ({record.decision.reason})")
