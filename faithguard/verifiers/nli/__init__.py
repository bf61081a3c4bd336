"""Claims and context -> verdicts of a model that reads meaning, not words.

    claim, Context -> sentences that bear on it -> a few premises -> three probabilities each
                   -> one probability, beside what words and values say -> Verdict

In: claims and the `Context` of their exchange, and a model: the shipped one, another that
`faithguard train` wrote, or any NLI model. Out: a verdict for each claim; a `Failure` where the
model does not know the language, or the claim is longer than it can read.
"""

from faithguard.verifiers.nli._model import Model
from faithguard.verifiers.nli._premises import premises
from faithguard.verifiers.nli._served import served
from faithguard.verifiers.nli._verifier import SHIPPED, Nli, read

__all__ = ["SHIPPED", "Model", "Nli", "premises", "read", "served"]
