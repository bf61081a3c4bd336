"""Keep RAG answers faithful to their context.

    framework event -> Exchange -> Claim -> Verdict | Failure -> Report -> Decision -> Record
         adapter        capture    claims     verifiers          scorer    policy      sinks

`check(answer, context)` says which claims of an answer its context supports. A framework's
watcher (`faithguard_langchain.FaithfulnessCallback`) does so for every run of a chain, and its
guard (`faithguard_langchain.guard`) holds back what does not pass. `guarded` does so for a plain
function.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from faithguard._version import __version__

if TYPE_CHECKING:
    from faithguard._cache import VerdictCache
    from faithguard._check import acheck, check
    from faithguard.errors import (
        CaptureError,
        ConfigError,
        FaithguardError,
        JudgeError,
        MissingExtraError,
        UnfaithfulAnswerError,
        VerifierError,
    )
    from faithguard.functions import guarded, saw
    from faithguard.policy import Policy
    from faithguard.scorer import Scorer
    from faithguard.sinks import SqliteSink
    from faithguard.types import (
        Claim,
        Decision,
        Evidence,
        Exchange,
        Failure,
        Passage,
        Record,
        Report,
        Verdict,
    )
    from faithguard.verifiers.judge import Judge, OpenAIJudge

__all__ = [
    "CaptureError",
    "Claim",
    "ConfigError",
    "Decision",
    "Evidence",
    "Exchange",
    "Failure",
    "FaithguardError",
    "Judge",
    "JudgeError",
    "MissingExtraError",
    "OpenAIJudge",
    "Passage",
    "Policy",
    "Record",
    "Report",
    "Scorer",
    "SqliteSink",
    "UnfaithfulAnswerError",
    "Verdict",
    "VerdictCache",
    "VerifierError",
    "__version__",
    "acheck",
    "check",
    "guarded",
    "saw",
]

# Names are loaded when they are first used: a program that only may check an answer starts
# without the libraries that checking needs.
_HOMES = {
    "_cache": ["VerdictCache"],
    "_check": ["acheck", "check"],
    "errors": [
        "CaptureError",
        "ConfigError",
        "FaithguardError",
        "JudgeError",
        "MissingExtraError",
        "UnfaithfulAnswerError",
        "VerifierError",
    ],
    "functions": ["guarded", "saw"],
    "policy": ["Policy"],
    "scorer": ["Scorer"],
    "sinks": ["SqliteSink"],
    "types": [
        "Claim",
        "Decision",
        "Evidence",
        "Exchange",
        "Failure",
        "Passage",
        "Record",
        "Report",
        "Verdict",
    ],
    "verifiers.judge": ["Judge", "OpenAIJudge"],
}


def __getattr__(name: str) -> object:
    for module, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"faithguard.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'faithguard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
