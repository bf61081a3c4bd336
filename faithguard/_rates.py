"""What the local verifiers hold back and let through, said once to who leans on them alone.

In: the policy and the scorer of a guard. Out: one warning in a process, where the domain is one
that must not err (medical, legal, financial) and no judge stands last. The figures come from
`rates.json`, which `python -m tests.bench.answers DATA --write` writes; of other verifiers than
those it measured none are given.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

from faithguard.policy import CLOSED, Policy
from faithguard.scorer import Scorer
from faithguard.verifiers.judge import Judge

__all__ = ["Rates", "rates", "warn_of_rates"]

log = logging.getLogger("faithguard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How a cascade did on composed answers.

    Attributes:
        verifiers: Their names with versions.
        answers: How many of each kind and length were judged.
        domains: By domain and number of claims: shares in [0, 1] of faithful answers that were held
            back ("false_blocks") and of answers with one unsupported claim that passed ("misses").
    """

    verifiers: Sequence[str]
    answers: int
    domains: Mapping[str, Mapping[str, Mapping[str, float]]]

    def are_of(self, verifiers: Sequence[str]) -> bool:
        """Say whether these verifiers were measured, the rules perhaps in another version.

        Rules only veto, each a claim here and there; what supports a claim makes the figures.
        """

        def known(names: Sequence[str]) -> list[str]:
            return [*(name.partition("@")[0] for name in names[:-1]), *names[-1:]]

        return known(verifiers) == known(self.verifiers)


@cache
def rates() -> Rates:
    """Return what was measured with the default verifiers."""
    held: dict[str, Any] = json.loads(files("faithguard").joinpath("rates.json").read_text("utf-8"))
    return Rates(**held)


def warn_of_rates(policy: Policy, scorer: Scorer) -> None:
    """Say once what to expect of local verifiers in a closed domain."""
    domain = policy.domain.casefold()
    alone = not any(isinstance(verifier, Judge) for verifier in scorer.verifiers)
    if alone and domain in CLOSED and next(_times) == 0:
        log.warning(
            "a guard for %r checks with local verifiers alone%s; a judge= reads more",
            domain,
            _told(domain, [verifier.name for verifier in scorer.verifiers]),
        )


_times = count()


def _told(domain: str, verifiers: Sequence[str]) -> str:
    """Return the figures of a domain, if they are of these verifiers."""
    measured = rates()
    if not measured.are_of(verifiers):
        return ""
    by_length = measured.domains[domain]

    def shares(name: str) -> str:
        return _listed([f"{100 * of[name]:.0f}%" for of in by_length.values()])

    return (
        f": on answers of {_listed([*by_length])} claims, made of claims that mislead, they held "
        f"back {shares('false_blocks')} of the faithful ones, and let {shares('misses')} of those "
        "with one unsupported claim pass"
    )


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}"
