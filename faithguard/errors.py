"""What can go wrong, and the one thing that is not a fault.

    Exception
    ├── FaithguardError             a fault: a setting, a capture, a verifier
    │   ├── ConfigError             a setting that cannot be used; says which and what to use
    │   ├── CaptureError            an input or output in which no answer or context is found
    │   ├── VerifierError           a verifier could not do its work
    │   │   └── JudgeError          an LLM judge could not, or its words could not be used
    │   └── MissingExtraError       an optional package is not installed; names the extra
    └── UnfaithfulAnswerError       a guard held an answer back: not a fault

No message holds text of an answer or a passage: messages end up in logs, and agents feed
them back to models.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faithguard.types import Decision, FailureKind, Record, Report

__all__ = [
    "CaptureError",
    "ConfigError",
    "FaithguardError",
    "JudgeError",
    "MissingExtraError",
    "UnfaithfulAnswerError",
    "VerifierError",
    "describe",
    "require",
]


class FaithguardError(Exception):
    """A fault in what faithguard was given or could do."""


class ConfigError(FaithguardError):
    """A setting cannot be used; the message names the value and the remedy."""


class CaptureError(FaithguardError):
    """No answer or context can be found where one must be."""


class VerifierError(FaithguardError):
    """A verifier could not do its work; the scorer turns it into a `Failure`."""


class JudgeError(VerifierError):
    """An LLM judge could not be asked, or what it said cannot be used.

    Attributes:
        kind: Why, as a `Failure` says it.
    """

    def __init__(self, message: str, kind: FailureKind = "error") -> None:
        super().__init__(message)
        self.kind: FailureKind = kind

    def __reduce__(self) -> tuple[type[JudgeError], tuple[str, FailureKind]]:
        return JudgeError, (str(self), self.kind)


class MissingExtraError(FaithguardError):
    """An optional package is missing; the message is the command that installs it."""

    def __init__(self, extra: str) -> None:
        super().__init__(f"this needs an extra: pip install 'faithguard[{extra}]'")
        self.extra = extra

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str]]:
        return MissingExtraError, (self.extra,)


class UnfaithfulAnswerError(Exception):
    """A guard held an answer back.

    Not a `FaithguardError`, so that a handler for faults never swallows a block; neither a
    ValueError nor a TypeError, since frameworks turn those into empty answers.

    Attributes:
        decision: Why the answer did not pass.
        report: The claims and their verdicts. It holds the text of the answer: show it to
            a developer, not to the reader whom the guard protects.
        record: The same of all attempts, where a guard raised this. It, too, holds the texts.
    """

    def __init__(self, decision: Decision, report: Report, record: Record | None = None) -> None:
        super().__init__(f"answer held back: {decision.reason}")
        self.decision = decision
        self.report = report
        self.record = record

    def __repr__(self) -> str:
        return f"UnfaithfulAnswerError({self.args[0]!r})"

    def __reduce__(
        self,
    ) -> tuple[type[UnfaithfulAnswerError], tuple[Decision, Report, Record | None]]:
        return UnfaithfulAnswerError, (self.decision, self.report, self.record)


def describe(error: BaseException) -> str:
    """Return what a log line may say of an error: our own message, else kind and place.

    The text of any other error may hold an answer or a passage. "ValueError at app.py:12" names
    the innermost frame.
    """
    kind, frame = type(error).__name__, error.__traceback__
    if isinstance(error, FaithguardError):
        return f"{kind}: {error}"
    if frame is None:
        return kind
    while frame.tb_next is not None:
        frame = frame.tb_next
    return f"{kind} at {os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}"


def require(module: str, *, extra: str) -> Any:
    """Import `module`, or say which extra brings it; a fault inside it passes unchanged.

    Raises:
        MissingExtraError: If the module, or a package that it lies in, is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module}.".startswith(f"{error.name}."):
            raise MissingExtraError(extra) from error
        raise
