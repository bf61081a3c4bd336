"""Errors: a tree of faults, and a block that is none."""

from __future__ import annotations

import copy
import logging
import pickle
import re
import sys
import traceback
from pathlib import Path

import pytest

from faithguard import errors
from faithguard.errors import (
    CaptureError,
    ConfigError,
    FaithguardError,
    JudgeError,
    MissingExtraError,
    UnfaithfulAnswerError,
    VerifierError,
    describe,
    require,
)
from faithguard.policy import Policy, decide
from faithguard.scorer import Scorer
from faithguard.testing import TableVerifier
from faithguard.types import Exchange, Passage, Record

ANSWER = "The weir has three gates. The gates are painted crimson. Eels pass them at night."


def block() -> UnfaithfulAnswerError:
    """Hold back an answer of which one claim in three is supported."""
    exchange = Exchange(id="e1", answer=ANSWER, passages=(Passage(text="A weir with gates."),))
    table = TableVerifier({"The weir has three gates.": 1.0, "*": 0.0})
    report = Scorer(verifiers=[table]).score(exchange)
    return UnfaithfulAnswerError(
        decide(report, Policy(domain="river", safe=0.9, warning=0.5)), report
    )


def test_every_fault_is_a_faithguard_error() -> None:
    """One `except FaithguardError` catches all that went wrong on our side."""
    for fault in (CaptureError, ConfigError, JudgeError, MissingExtraError, VerifierError):
        assert issubclass(fault, FaithguardError)
    assert issubclass(JudgeError, VerifierError)


def test_the_tree_at_the_top_names_every_error() -> None:
    """What the module's docstring draws is what it defines."""
    drawn = errors.__doc__ or ""

    assert all(name in drawn for name in errors.__all__ if name.endswith("Error"))


def test_a_block_is_not_a_fault() -> None:
    """Handlers for faults, and frameworks that mend ValueErrors, must not swallow it."""
    assert not isinstance(block(), FaithguardError | ValueError | TypeError | RuntimeError)
    assert isinstance(block(), Exception)


def test_a_block_says_why_in_counts() -> None:
    """The message holds the decision's reason, and both objects are within reach."""
    error = block()

    assert str(error) == f"answer held back: {error.decision.reason}"
    assert "1 of 3 claims supported" in str(error)
    assert error.report.total == 3
    assert not error.decision.passed


def test_a_block_shows_no_text(caplog: pytest.LogCaptureFixture) -> None:
    """Neither `str`, `repr`, a traceback nor a log line holds words of the answer."""
    try:
        raise block()
    except UnfaithfulAnswerError as error:
        logging.getLogger("app").exception("failed: %r", error)
        shown = [str(error), repr(error), repr(error.args), traceback.format_exc(), caplog.text]

    # where a checkout lies is no text of ours, whatever its folders are called
    told = re.sub(r'File "[^"]*"', "File", " ".join(shown))
    assert not any(word in told for word in ("weir", "gates", "crimson", "Eels"))
    assert repr(block()).startswith("UnfaithfulAnswerError('answer held back: ")


def test_a_block_survives_pickle_and_copy() -> None:
    """A worker process can raise it to its parent with report and decision."""
    error = block()

    record = Record(exchange=error.report.exchange, report=error.report, decision=error.decision)
    told = UnfaithfulAnswerError(error.decision, error.report, record)

    for one in (error, told):
        for twin in (pickle.loads(pickle.dumps(one)), copy.copy(one)):  # noqa: S301 - our bytes
            assert type(twin) is UnfaithfulAnswerError
            assert (twin.decision, twin.report) == (error.decision, error.report)
            assert twin.record == one.record
            assert (str(twin), repr(twin)) == (str(error), repr(error))


def test_a_foreign_error_is_described_by_kind_and_place() -> None:
    """A developer finds the line; the text, which may quote an answer, stays out."""

    def inner() -> None:
        raise ValueError(ANSWER)

    try:
        inner()
    except ValueError as error:
        described = describe(error)

    line = inner.__code__.co_firstlineno + 1
    assert described == f"ValueError at test_errors.py:{line}"
    assert describe(ValueError(ANSWER)) == "ValueError"
    assert describe(ConfigError("ours")) == "ConfigError: ours"


def test_a_missing_extra_says_what_to_type() -> None:
    """The message is the command, also after a trip to another process."""
    error = MissingExtraError("langchain")

    for one in (error, pickle.loads(pickle.dumps(error))):  # noqa: S301 - our bytes
        assert "pip install 'faithguard[langchain]'" in str(one)
        assert one.extra == "langchain"


def test_require_gives_the_module() -> None:
    """A module that is there is returned, also one inside a package."""
    assert require("json.decoder", extra="any") is sys.modules["json.decoder"]


@pytest.mark.parametrize("module", ["no_such_package_here", "no_such_package_here.deep.part"])
def test_require_names_the_extra(module: str) -> None:
    """A package that is not installed is told as the extra that brings it."""
    with pytest.raises(MissingExtraError, match=r"faithguard\[ui\]"):
        require(module, extra="ui")


def test_a_fault_inside_a_module_passes_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed package that itself misses another is not said to be missing."""
    (tmp_path / "broken_inside_xyz.py").write_text("import another_missing_xyz\n")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ModuleNotFoundError, match="another_missing_xyz"):
        require("broken_inside_xyz", extra="ui")
