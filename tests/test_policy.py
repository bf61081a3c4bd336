"""Decisions: what a policy makes of every outcome, and what its reasons say."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithguard.config import VARIABLES
from faithguard.errors import ConfigError
from faithguard.policy import ALIASES, DEFAULT_DOMAIN, DOMAINS, Policy, decide, resolve
from faithguard.types import (
    Claim,
    Evidence,
    Exchange,
    Failure,
    FailureKind,
    Kind,
    Label,
    Outcome,
    Passage,
    Report,
    Usage,
)

TEXT = "The lighthouse keeper owes 41 herrings."
EVIDENCE = Evidence(passage=0, start=0, end=3, quote="The")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def claim(label: Label, kind: Kind = "fact", evidence: tuple[Evidence, ...] = ()) -> Claim:
    """Build a claim whose texts must never show."""
    return Claim(
        id=f"{label}-{kind}",
        text=TEXT,
        span=(0, 3),
        kind=kind,
        label=label,
        reason=TEXT,
        evidence=evidence,
    )


def report(
    supported: int = 0,
    not_mentioned: int = 0,
    contradicted: int = 0,
    conflicting: int = 0,
    failed: int = 0,
    *,
    outcome: Outcome | None = None,
    others: tuple[Claim, ...] = (),
    failures: tuple[FailureKind, ...] = (),
    domain: str | None = None,
) -> Report:
    """Build the report that a scorer makes of so many claims of each label."""
    labels: list[tuple[Label, int]] = [
        ("supported", supported),
        ("not_mentioned", not_mentioned),
        ("contradicted", contradicted),
        ("conflicting", conflicting),
        ("failed", failed),
    ]
    claims = tuple(claim(label) for label, count in labels for _ in range(count))
    total, good = len(claims), supported + conflicting
    if outcome is None:
        outcome = "incomplete" if failed else "scored" if total else "no_claims"
    return Report(
        outcome=outcome,
        score=good / total if outcome == "scored" else None,
        bounds=(good / total, (good + failed) / total) if outcome == "incomplete" else None,
        supported=good,
        total=total,
        claims=(*claims, *others),
        failures=tuple(Failure(kind=kind, stage="t@1", message=TEXT) for kind in failures),
        versions={},
        usage=Usage(),
        exchange=Exchange(
            id="e", answer=TEXT, question=TEXT, passages=(Passage(text=TEXT),), domain=domain
        ),
    )


def policy(safe: float = 0.85, warning: float = 0.70, **fields: Any) -> Policy:
    """Build an open policy of no built-in domain."""
    return Policy(domain="harbour", safe=safe, warning=warning, **fields)


# The table of domains


@pytest.mark.parametrize(
    ("domain", "safe", "warning", "on_contradiction", "on_conflict"),
    [
        ("medical", 0.98, 0.90, "fail", "unsupported"),
        ("legal", 0.95, 0.85, "fail", "unsupported"),
        ("financial", 0.95, 0.85, "fail", "unsupported"),
        ("customer_support", 0.85, 0.70, "count", "supported"),
        ("educational", 0.80, 0.65, "count", "supported"),
        ("conversational", 0.70, 0.50, "count", "supported"),
    ],
)
def test_built_in_domains(
    domain: str, safe: float, warning: float, on_contradiction: str, on_conflict: str
) -> None:
    """Each built-in domain has the thresholds and rules that are documented, and fails closed."""
    found = Policy.for_domain(domain, environ={})

    assert (found.domain, found.safe, found.warning) == (domain, safe, warning)
    assert (found.on_contradiction, found.on_conflict) == (on_contradiction, on_conflict)
    assert (found.on_failure, found.on_warning, found.on_fail) == ("closed", "fail", "block")
    assert found == DOMAINS[domain]


def test_no_other_domains() -> None:
    """There are six built-in domains, one alias and one default."""
    assert len(DOMAINS) == 6
    assert dict(ALIASES) == {"support": "customer_support"}
    assert Policy.for_domain("support", environ={}) == DOMAINS[DEFAULT_DOMAIN]
    assert Policy.for_domain(environ={}) == DOMAINS["customer_support"]


# Construction


def test_direct_construction_is_pure_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy built by hand is what its arguments say, whatever the environment holds."""
    monkeypatch.setenv("FAITHGUARD_SAFE", "0.99")

    made = Policy(domain="x", safe=0.9, warning=0.8)

    assert (made.safe, made.warning, made.on_contradiction) == (0.9, 0.8, "count")
    assert resolve(made) is made


def test_a_closed_domain_keeps_its_rules_when_built_by_hand() -> None:
    """New thresholds for a closed domain drop no rule about contradictions unless told to."""
    assert Policy(domain="legal", safe=0.9, warning=0.8).on_contradiction == "fail"
    assert Policy(domain="legal", safe=0.9, warning=0.8).on_conflict == "unsupported"
    told = Policy(domain="legal", safe=0.9, warning=0.8, on_contradiction="count")
    assert told.on_contradiction == "count"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"safe": 1.2}, ["`safe` = 1.2", "from 0 to 1"]),
        ({"safe": -0.1, "warning": -0.2}, ["`safe` = -0.1", "`warning` = -0.2"]),
        ({"safe": float("nan")}, ["`safe` = nan", "from 0 to 1"]),
        ({"warning": float("inf")}, ["`warning` = inf"]),
        ({"safe": True}, ["`safe` = True", "number"]),
        ({"safe": "0.9"}, ["`safe` = '0.9'", "number"]),
        ({"safe": None}, ["`safe` = None"]),
        ({"warning": 0.95}, ["`warning` 0.95", "above `safe` 0.9", "at most"]),
        ({"saef": 0.9}, ["`saef`", "did you mean `safe`"]),
        ({"colour": "red"}, ["`colour`", "not a setting", "on_contradiction"]),
        ({"on_fail": "shout"}, ["`on_fail` = 'shout'", "'repair'", "'regenerate'"]),
        ({"on_failure": "Open"}, ["`on_failure` = 'Open'", "'closed' or 'open'"]),
        ({"domain": ""}, ["`domain` = ''"]),
        ({"domain": 3}, ["`domain` = 3"]),
    ],
)
def test_a_bad_value_is_a_config_error_with_value_and_remedy(
    fields: dict[str, Any], words: list[str]
) -> None:
    """What cannot be used is named with its value and what to use, however it is passed in."""
    values = {"domain": "x", "safe": 0.9, "warning": 0.8, **fields}

    for build in (lambda: Policy(**values), lambda: Policy.model_validate(values)):
        with pytest.raises(ConfigError) as caught:
            build()
        for word in words:
            assert word in str(caught.value)


def test_missing_thresholds_are_named() -> None:
    """A new domain says which of its two thresholds is missing."""
    with pytest.raises(ConfigError, match="`warning` is missing"):
        Policy(domain="x", safe=0.9)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="`domain` is missing"):
        Policy(safe=0.9, warning=0.1)  # type: ignore[call-arg]


def test_what_is_no_table_is_a_config_error() -> None:
    """JSON of the wrong shape is refused like any other setting."""
    with pytest.raises(ConfigError, match="policy: "):
        Policy.model_validate_json('"medical"')


def test_a_copy_is_validated() -> None:
    """Changing a field of a copy cannot smuggle in what construction refuses."""
    made = policy()

    assert made.model_copy(update={"safe": 0.9}).safe == 0.9
    assert made.model_copy() == made
    with pytest.raises(ConfigError, match="did you mean `safe`"):
        made.model_copy(update={"saef": 0.99})


def test_a_policy_travels() -> None:
    """A policy survives JSON, pickle and copies, and can be a key."""
    made = policy(on_fail="repair")

    assert Policy.model_validate_json(made.model_dump_json()) == made
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - our own bytes
    assert copy.deepcopy(made) == made
    assert {made: 1}[made] == 1


def test_a_policy_cannot_be_changed() -> None:
    """A policy in use stays as it was validated."""
    with pytest.raises(Exception, match="frozen"):
        policy().safe = 0.1  # type: ignore[misc]


# resolve and for_domain


@pytest.mark.parametrize(
    ("name", "near"), [("medcal", "medical"), ("MEDICAL", "medical"), ("suport", "support")]
)
def test_an_unknown_domain_lists_the_known_ones(name: str, near: str) -> None:
    """A typo in a domain never falls back to a looser one; the message names the nearest."""
    with pytest.raises(ConfigError, match=f"did you mean {near!r}") as caught:
        decide(report(1), name)
    listed = str(caught.value).partition("Known: ")[2].partition(". A policy")[0]
    assert set(listed.split(", ")) == {*DOMAINS, "support"}


def test_a_name_like_nothing_gets_no_suggestion() -> None:
    """A name that resembles no domain is listed against all, and none is guessed."""
    with pytest.raises(ConfigError) as caught:
        Policy.for_domain("zzzz", environ={})
    assert "did you mean" not in str(caught.value)
    assert "'zzzz'" in str(caught.value)


@pytest.mark.parametrize("wrong", [0.9, {"safe": 1.0}, ["medical"]])
def test_a_policy_of_the_wrong_type_is_a_config_error(wrong: Any) -> None:
    """What is neither a policy nor a name is refused."""
    with pytest.raises(ConfigError, match="a policy is a Policy"):
        resolve(wrong, environ={})


def test_code_overrides_win() -> None:
    """Fields passed in code change what the domain says, also downwards."""
    found = Policy.for_domain("medical", environ={}, safe=0.5, warning=0.4, on_fail="flag")

    assert (found.safe, found.warning, found.on_fail) == (0.5, 0.4, "flag")
    assert found.on_contradiction == "fail"


def test_overrides_are_validated() -> None:
    """An override that contradicts the rest, or is misspelt, is refused and traced to code."""
    with pytest.raises(ConfigError, match=r"`safe` 0.5 \(from code\); set both"):
        Policy.for_domain("medical", environ={}, safe=0.5)
    with pytest.raises(ConfigError, match="did you mean `on_warning`"):
        Policy.for_domain("medical", environ={}, on_warnings="flag")


def test_a_domain_passed_as_an_override_is_refused() -> None:
    """`for_domain(domain="medical")` cannot give loose thresholds a strict name."""
    with pytest.raises(ConfigError, match="first argument"):
        Policy.for_domain(environ={}, domain="medical")


def test_a_file_beside_a_ready_policy_is_refused(tmp_path: Any) -> None:
    """A file that would change nothing is not swallowed."""
    with pytest.raises(ConfigError, match="'harbour'"):
        resolve(policy(), file=tmp_path / "p.toml")


def test_the_domain_of_the_exchange_is_used() -> None:
    """Without a policy, the domain that the exchange carries decides."""
    found = report(19, 1, domain="medical")

    assert decide(found).domain == "medical"
    assert decide(found) == found.decide() == decide(found, "medical")
    assert decide(found, "support").domain == "customer_support"
    assert decide(report(1)).domain == DEFAULT_DOMAIN


# Scored


def test_reason_has_both_counts() -> None:
    """A reason says the counts, the score and the threshold that it missed."""
    found = decide(report(6, 1), "medical")

    assert found.reason.startswith("6 of 7 claims supported: 0.86 < 0.98")
    assert (found.passed, found.level, found.action) == (False, "block", "block")
    assert (found.domain, found.safe, found.warning) == ("medical", 0.98, 0.90)


@pytest.mark.parametrize(
    ("supported", "total", "level"),
    [
        (20, 20, "safe"),
        (17, 20, "safe"),
        (16, 20, "warning"),
        (14, 20, "warning"),
        (13, 20, "block"),
    ],
)
def test_levels(supported: int, total: int, level: str) -> None:
    """Both thresholds belong to the better level, and only `safe` passes."""
    found = decide(report(supported, total - supported), policy())

    assert found.level == level
    assert found.passed == (level == "safe")
    assert found.action == ("deliver" if level == "safe" else "block")


@given(st.integers(1, 400), st.data())
def test_thresholds_are_compared_exactly(total: int, data: st.DataObject) -> None:
    """A score equal to a threshold reaches it, and one claim less does not."""
    supported = data.draw(st.integers(1, total))
    exact = policy(safe=supported / total, warning=0.0)

    assert decide(report(supported, total - supported), exact).level == "safe"
    assert decide(report(supported - 1, total - supported + 1), exact).level == "warning"


@given(st.integers(1, 300), st.integers(0, 100), st.data())
def test_two_decimals_mean_what_they_say(total: int, percent: int, data: st.DataObject) -> None:
    """A threshold of so many percent is passed exactly where the fraction reaches it."""
    supported = data.draw(st.integers(0, total))

    found = decide(report(supported, total - supported), policy(percent / 100, 0.0))

    assert found.passed == (Fraction(supported, total) >= Fraction(percent, 100))


def test_the_traps_of_floats() -> None:
    """49 of 50 reach 0.98, and 9 of 10 reach a threshold that was computed as 0.3 * 3."""
    assert decide(report(49, 1), policy(0.98, 0.9)).passed
    assert decide(report(9, 1), policy(1.1 - 0.2, 0.5)).passed
    assert "0.90 >= 0.90" in decide(report(9, 1), policy(1.1 - 0.2, 0.5)).reason


def test_warning_band_passes_only_when_told_to() -> None:
    """The warning band fails by default; `on_warning="flag"` delivers it flagged, and says so."""
    found = decide(report(8, 2), policy(on_warning="flag"))

    assert (found.passed, found.level, found.action) == (True, "warning", "flag")
    assert "0.80 < 0.85; at or above 0.70, so a person should look" in found.reason
    assert not decide(report(8, 2), policy()).passed
    assert not decide(report(6, 4), policy(on_warning="flag")).passed


@pytest.mark.parametrize("on_fail", ["flag", "block", "repair", "regenerate"])
def test_the_action_of_an_answer_that_fails(on_fail: Any) -> None:
    """What fails gets the action that the policy names; what passes is delivered."""
    rules = policy(on_fail=on_fail)

    assert decide(report(1, 9), rules).action == on_fail
    assert decide(report(10), rules).action == "deliver"


def test_few_claims_leave_no_room() -> None:
    """Under 1 / (1 - safe) claims the reason says that not one may be unsupported."""
    words = "means no unsupported claim at all"

    assert f"with 7 claims, 0.98 {words}" in decide(report(6, 1), "medical").reason
    assert words in decide(report(48, 1), "medical").reason
    assert words not in decide(report(49, 1), "medical").reason
    assert f"with 1 claim, 0.85 {words}" in decide(report(0, 1), "support").reason
    assert words not in decide(report(7), "medical").reason


@given(st.integers(1, 120), st.integers(1, 100))
def test_no_room_is_said_where_it_is_true(total: int, percent: int) -> None:
    """The words stand exactly where one unsupported claim would fail the answer."""
    rules = policy(percent / 100, 0.0)

    found = decide(report(total - 1, 1), rules)

    assert ("no unsupported claim at all" in found.reason) == (not found.passed)


def test_one_contradiction_fails_a_closed_domain() -> None:
    """99 of 100 do not help a medical answer with a contradicted claim."""
    found = decide(report(99, contradicted=1), "medical")

    assert (found.passed, found.level, found.action) == (False, "block", "block")
    assert "99 of 100 claims supported: 0.99 >= 0.98" in found.reason
    assert "1 contradicted, which always fails in medical" in found.reason


def test_a_contradiction_counts_as_one_in_an_open_domain() -> None:
    """In an open domain it is one unsupported claim, and is still named."""
    found = decide(report(99, contradicted=1), "support")

    assert (found.passed, found.action) == (True, "deliver")
    assert "1 contradicted" in found.reason
    assert "always" not in found.reason


def test_what_is_not_a_fact_does_not_count() -> None:
    """A contradicted opinion is no contradicted fact."""
    opinion = claim("contradicted", kind="opinion")

    assert decide(report(3, others=(opinion,)), "medical").passed


def test_conflicts_in_an_open_domain_pass_flagged() -> None:
    """Where passages conflict, an open domain delivers the answer and flags it."""
    found = decide(report(3, conflicting=1), "support")

    assert (found.passed, found.level, found.action) == (True, "safe", "flag")
    assert "4 of 4 claims supported" in found.reason
    assert "1 where passages conflict" in found.reason


def test_conflicts_in_a_closed_domain_count_unsupported() -> None:
    """A closed domain takes the same claim out of the supported ones, and says so."""
    found = decide(report(3, conflicting=1), "legal")

    assert (found.passed, found.level) == (False, "block")
    assert "3 of 4 claims supported: 0.75 < 0.95" in found.reason
    assert "1 where passages conflict, counted as unsupported in legal" in found.reason


def test_a_conflict_that_a_closed_domain_survives_is_flagged() -> None:
    """With enough supported claims the answer passes, and a person is still told."""
    found = decide(report(99, conflicting=1), "medical")

    assert (found.passed, found.action) == (True, "flag")
    assert "99 of 100" in found.reason


# Incomplete


def test_the_lower_bound_decides() -> None:
    """Missing verdicts count as unsupported, and the reason names both bounds."""
    found = decide(report(6, 3, failed=3), policy())

    assert (found.passed, found.level, found.action) == (False, "block", "block")
    assert "6 of 12 claims supported, 3 without a verdict: between 0.50 and 0.75" in found.reason
    assert "the lower bound decides: 0.50 < 0.85" in found.reason


def test_open_takes_the_upper_bound_and_flags() -> None:
    """`on_failure="open"` gives the benefit of the doubt, never without a flag."""
    found = decide(report(6, failed=6), policy(on_failure="open"))

    assert (found.passed, found.level, found.action) == (True, "safe", "flag")
    assert "the upper bound decides: 1.00 >= 0.85" in found.reason
    assert "passes with claims unchecked" in found.reason
    assert not decide(report(6, 3, failed=3), policy(on_failure="open")).passed


def test_enough_support_needs_no_more_verdicts() -> None:
    """If the lower bound is safe, no missing verdict could change a thing: it is delivered."""
    found = decide(report(19, failed=1), policy())

    assert (found.passed, found.level, found.action) == (True, "safe", "deliver")


def test_an_unchecked_claim_of_a_closed_domain_is_flagged() -> None:
    """Where one contradiction would fail the answer, a missing verdict is worth a flag."""
    found = decide(report(99, failed=1), "medical")

    assert (found.passed, found.level, found.action) == (True, "safe", "flag")
    assert "passes with claims unchecked" in found.reason


@pytest.mark.parametrize("on_failure", ["open", "closed"])
def test_contradictions_fail_incomplete_answers_too(on_failure: Any) -> None:
    """A known contradiction is not forgotten because other verdicts are missing."""
    rules = Policy.for_domain("medical", environ={}, on_failure=on_failure)

    found = decide(report(199, contradicted=1, failed=1), rules)

    assert (found.passed, found.level) == (False, "block")
    assert "always fails in medical" in found.reason


def test_conflicts_lower_both_bounds() -> None:
    """A closed domain takes conflicting claims out of both bounds."""
    found = decide(report(4, conflicting=2, failed=4), "legal")

    assert "4 of 10 claims supported, 4 without a verdict: between 0.40 and 0.80" in found.reason


def test_missing_bounds_mean_nothing_is_known() -> None:
    """Without bounds, anything may be true; closed takes the worst of it."""
    unbounded = replace(report(3, failed=1), bounds=None)

    assert decide(unbounded, policy()).level == "block"
    assert decide(unbounded, policy(on_failure="open")).action == "flag"


# Without a score


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("outcome", ["abstained", "no_claims"])
def test_answers_without_facts_are_delivered(domain: str, outcome: Any) -> None:
    """An abstention or small talk has nothing to check and passes without a level."""
    silent = claim("not_checked", kind="abstention")

    found = decide(report(outcome=outcome, others=(silent,)), domain)

    assert (found.passed, found.level, found.action) == (True, None, "deliver")


def test_an_abstention_that_the_context_answers_is_flagged() -> None:
    """Evidence on an abstention means the context holds the answer: pass, flag and say so."""
    silent = claim("not_checked", kind="abstention", evidence=(EVIDENCE,))

    found = decide(report(outcome="abstained", others=(silent,)), "medical")

    assert (found.passed, found.level, found.action) == (True, None, "flag")
    assert "the context seems to answer the question" in found.reason


@pytest.mark.parametrize("on_failure", ["open", "closed"])
def test_no_context_never_passes(on_failure: Any) -> None:
    """Facts with nothing to check them against do not pass; that is no failure to forgive."""
    rules = policy(on_failure=on_failure, on_fail="regenerate")
    unchecked = replace(report(outcome="no_context"), total=2)

    found = decide(unchecked, rules)

    assert (found.passed, found.level, found.action) == (False, None, "regenerate")
    assert found.reason == "2 claims and no context to check them against"


def test_a_failed_check_fails_closed() -> None:
    """No verdict, no pass; the reason names the kinds of failure."""
    failed = report(failed=2, outcome="failed", failures=("timeout", "error", "timeout"))

    found = decide(failed, "support")

    assert (found.passed, found.level, found.action) == (False, None, "block")
    assert found.reason == "the check failed (error, timeout) for 2 claims"


def test_a_failed_check_passes_flagged_when_open() -> None:
    """`on_failure="open"` lets it through, flagged, and the reason says which setting did."""
    found = decide(report(failed=2, outcome="failed"), policy(on_failure="open"))

    assert (found.passed, found.level, found.action) == (True, None, "flag")
    assert 'on_failure="open"' in found.reason


def test_a_contradiction_outlives_a_failed_check() -> None:
    """Not even open lets a known contradiction of a closed domain pass."""
    rules = Policy.for_domain("medical", environ={}, on_failure="open")

    found = decide(report(contradicted=1, failed=2, outcome="failed"), rules)

    assert (found.passed, found.level) == (False, None)
    assert "always fails" in found.reason


def test_a_score_without_claims_is_a_failure() -> None:
    """A report that claims a score over no claims is not believed."""
    empty = replace(report(), outcome="scored", score=1.0)

    assert not decide(empty, policy()).passed


# Words


@pytest.mark.parametrize(
    ("supported", "total", "safe", "words"),
    [
        (8499, 10_000, 0.85, "0.8499 < 0.85"),
        (6, 7, 0.86, "0.857 < 0.86"),
        (5, 6, 0.8331, "0.8333 >= 0.8331"),
        (499, 500, 0.98, "0.998 >= 0.98"),
        (999, 1000, 1.0, "0.999 < 1.00"),
        (1, 1000, 0.5, "0.001 < 0.50"),
        (3, 4, 0.755, "0.75 < 0.755"),
    ],
)
def test_rounding_never_tells_a_lie(supported: int, total: int, safe: float, words: str) -> None:
    """A score gets as many decimals as its comparison needs, and 1.00 is kept for all."""
    assert words in decide(report(supported, total - supported), policy(safe, 0.0)).reason


COUNTS = st.integers(0, 12)
REPORTS = st.builds(report, COUNTS, COUNTS, st.integers(0, 2), st.integers(0, 3), st.integers(0, 4))
THRESHOLDS = st.tuples(
    st.floats(0, 1) | st.integers(0, 100).map(lambda percent: percent / 100),
    st.floats(0, 1) | st.integers(0, 20).map(lambda part: part / 20),
)


NAMES = ("on_contradiction", "on_conflict", "on_failure", "on_warning", "on_fail")


def _policies() -> st.SearchStrategy[Policy]:
    def build(thresholds: tuple[float, float], choices: tuple[Any, ...]) -> Policy:
        return policy(max(thresholds), min(thresholds), **dict(zip(NAMES, choices, strict=True)))

    options = (st.sampled_from(get_args(Policy.model_fields[name].annotation)) for name in NAMES)
    return st.builds(build, THRESHOLDS, st.tuples(*options))


POLICIES = _policies()


@given(REPORTS, POLICIES)
def test_shown_comparisons_hold(found: Report, rules: Policy) -> None:
    """Every comparison that a reason prints is true of the numbers as printed."""
    reason = decide(found, rules).reason

    for left, sign, right in re.findall(r"([\d.]+) (<|>=) ([\d.]+)", reason):
        assert (Decimal(left) >= Decimal(right)) == (sign == ">=")


@given(REPORTS, POLICIES)
def test_decide_is_repeatable_and_silent_about_texts(found: Report, rules: Policy) -> None:
    """The same report and policy give the same decision, and no text leaks into the reason."""
    first = decide(found, rules)

    assert first == decide(found, rules)
    assert not any(word in first.reason for word in ("lighthouse", "keeper", "herring"))


@given(REPORTS, POLICIES)
def test_what_passes_is_safe_or_flagged(found: Report, rules: Policy) -> None:
    """A delivery without a flag means a safe level, or nothing to check."""
    decision = decide(found, rules)

    if decision.passed:
        assert decision.action in ("deliver", "flag")
        assert decision.action == "flag" or decision.level == "safe" or not found.total
    else:
        assert decision.action == rules.on_fail
    if rules.on_contradiction == "fail" and any(c.label == "contradicted" for c in found.facts):
        assert not decision.passed


ORDER = {"block": 0, "warning": 1, "safe": 2}


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 2), st.integers(0, 3), POLICIES)
def test_more_support_never_hurts(
    supported: int, missing: int, contradicted: int, failed: int, rules: Policy
) -> None:
    """Turning an unsupported claim into a supported one never lowers a decision."""
    worse = decide(report(supported, missing, contradicted, 0, failed), rules)
    better = decide(report(supported + 1, missing - 1, contradicted, 0, failed), rules)

    assert better.passed >= worse.passed
    assert ORDER[str(better.level)] >= ORDER[str(worse.level)]


@given(REPORTS, POLICIES)
def test_closed_never_passes_what_open_fails(found: Report, rules: Policy) -> None:
    """Failing closed is at least as strict as failing open, whatever is missing."""
    closed = decide(found, rules.model_copy(update={"on_failure": "closed"}))
    opened = decide(found, rules.model_copy(update={"on_failure": "open"}))

    assert closed.passed <= opened.passed


def test_import_is_light() -> None:
    """Policies need pydantic and nothing heavier: no framework, no terminal, no model."""
    heavy = "('rich', 'typer', 'langchain_core', 'numpy', 'markdown_it', 'onnxruntime')"
    code = f"import faithguard.policy, sys; print([m for m in {heavy} if m in sys.modules])"

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "[]"
