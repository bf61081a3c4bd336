"""How do I use faithguard where I use LlamaIndex's FaithfulnessEvaluator?

    pip install "faithguard[llama-index]"
    python examples/evaluate_with_llama_index.py

One import changes; no model is asked, so it costs nothing and says the same each time.
"""

from faithguard_llama_index import FaithfulnessEvaluator

evaluator = FaithfulnessEvaluator(domain="support")
contexts = ["The sauna is open from 14:00 to 21:00. Towels cost 3 euros."]

for response in (
    "The sauna opens at 2pm.",
    "The sauna opens at 2pm. Towels are free for members.",
    "I could not find that.",
):
    result = evaluator.evaluate(
        query="When does the sauna open, and what is a towel?",
        response=response,
        contexts=contexts,
    )
    print(result.passing, result.score, result.feedback)
