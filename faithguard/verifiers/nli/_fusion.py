"""What the model, words and values say -> one calibrated probability.

In: the scores of a claim's premises and the lexical features. Out: named features, and the
probability that the context supports the claim: a logistic regression whose few weights stand
in a JSON file that can be read. Source: Platt (1999), for a mix of models.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithguard.errors import ConfigError
from faithguard.verifiers._context import Selection
from faithguard.verifiers._lexical import features as lexical_features
from faithguard.verifiers._terms import VALUE, Terms, analyse
from faithguard.verifiers._values import Value
from faithguard.verifiers.nli._model import Scores

__all__ = ["Fusion", "features", "says_plainly"]

_LONG = 40.0
"""Words of a claim from which its length tells no more."""


_WHOLE = 0.999
"""Share of a claim's content."""


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of features, and what is added to their sum."""

    weights: Mapping[str, float]
    intercept: float

    def probability(self, values: Mapping[str, float]) -> float:
        """Return the probability in [0, 1]; 0.5 decides."""
        logit = self.intercept + math.fsum(w * values[name] for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, logit))))

    @classmethod
    def read(cls, path: Path) -> Fusion:
        """Read what `faithguard train` wrote.

        Raises:
            ConfigError: If the file is missing or holds something else.
        """
        try:
            held: dict[str, Any] = json.loads(path.read_text("utf-8"))
            return cls({k: float(v) for k, v in held["weights"].items()}, float(held["intercept"]))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ConfigError(
                f"{str(path)!r} holds no fusion weights: have `faithguard train` write the model "
                "again"
            ) from error


_BEARING = re.compile(
    r"\b(?:if|unless|except|excluding|only|not|no|never|without|provided|until|when|may|might|could|"
    r"some|few|rarely|hardly|nearly|almost|claim(?:s|ed)?|believe[sd]?|but)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words that the truth of what stands beside them hangs on."""


def features(
    claim: str, terms: Terms, selection: Selection, scores: Sequence[Scores]
) -> dict[str, float]:
    """Return what the probability rests on.

    Args:
        claim: Its text.
        terms: Of the claim.
        selection: The sentences that bear on it.
        scores: Of its premises, the best sentence's first; not empty.
    """
    lexical = lexical_features(terms, selection)
    entailed = max(_log_odds(s.entailment) for s in scores)
    return {
        "entailed": entailed,
        "entailed_best": _log_odds(scores[0].entailment),
        "contradicted": max(_log_odds(s.contradiction) for s in scores),
        "contradicted_best": _log_odds(scores[0].contradiction),
        **lexical,
        "entailed_coverage": entailed * lexical["coverage"],
        "together": float(any(_together(terms, s.terms) for s in selection.sentences)),
        "restricted": float(_restricted(claim, terms, selection)),
        "length": min(1.0, len(terms.words) / _LONG),
        "values": min(1.0, len(terms.values) / 4.0),
    }


def _together(claim: Terms, sentence: Terms) -> bool:
    """Whether a sentence says the words and values of a claim in one piece."""
    mine, theirs = [*_in_order(claim)], [*_in_order(sentence)]
    return bool(mine) and any(
        all(map(_same, mine, theirs[at:])) for at in range(len(theirs) - len(mine) + 1)
    )


def _restricted(claim: str, terms: Terms, selection: Selection) -> bool:
    """Whether the context says a claim word for word, and always on a condition it leaves out."""
    whole = [s for s in selection.sentences if _runs_through(terms, s.terms)]
    said = _bearing(claim)
    return bool(whole) and all(_bearing(_of_it(claim, s.words)) - said for s in whole)


_ANOTHER = re.compile(r"\s*;|,?\s+and\s", re.IGNORECASE)


def _of_it(claim: str, sentence: str) -> str:
    """Return a sentence without what it goes on to say once a claim is said in full.

    "Books are lent for a month and can be renewed, unless they are reserved" lends them anyway.
    """
    said = claim.strip(" .!")
    opens = sentence.casefold().startswith(said.casefold())
    return said if opens and _ANOTHER.match(sentence, len(said)) else sentence


def says_plainly(claim: str, selection: Selection) -> bool:
    """Whether one sentence holds all of a claim, and where it does denies, hedges, limits nothing.

    Of that, words and rules know more than a small model, which trips over two values in one
    sentence: "adults pay 5 euros, children 3".
    """
    if selection.best <= _WHOLE or _bearing(claim):
        return False
    said = {*analyse(claim).words}
    parts = _PART.split(selection.sentences[0].words)
    held = next((part for part in parts if said <= {*analyse(part).words}), None)
    return not _bearing(held or selection.sentences[0].words) - {"only"}


_PART = re.compile(r";|,? but ")


def _runs_through(claim: Terms, sentence: Terms) -> bool:
    """Whether all words and values of a claim stand in a sentence, in their order."""
    rest = iter(_in_order(sentence))
    return all(any(_same(mine, other) for other in rest) for mine in _in_order(claim))


def _in_order(terms: Terms) -> Iterator[str | Value]:
    values = iter(terms.values)
    for key in terms.sequence:
        if key not in terms.labels:
            yield next(values, key) if key == VALUE else key


def _same(one: str | Value, other: str | Value) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return one.agrees(other)


def _bearing(text: str) -> set[str]:
    return {word.casefold() for word in _BEARING.findall(text)}


def _log_odds(p: float) -> float:
    """Return log odds within [-6, 6]: beyond, one overconfident premise would decide alone."""
    p = min(max(p, 1e-6), 1.0 - 1e-6)
    return max(-6.0, min(6.0, math.log(p / (1.0 - p))))
