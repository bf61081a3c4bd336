"""The pytest plugin as somebody else's test suite meets it: fixtures, failures, JUnit, weight."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

import faithguard
from faithguard import ConfigError, Policy, Scorer, VerifierError
from faithguard.pytest_plugin import aassert_faithful, assert_faithful
from faithguard.testing import TableVerifier

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parent.parent
CONTEXT = "The Tarn ferry leaves at 09:15 and carries 60 passengers. A ticket costs 8 euros."
TRUE = "The Tarn ferry carries 60 passengers."
FALSE = "The Tarn ferry carries 60 passengers. A ticket costs 9 euros."

HEAD = f"""
from faithguard.pytest_plugin import assert_faithful as checked
CONTEXT, TRUE, FALSE = {CONTEXT!r}, {TRUE!r}, {FALSE!r}
"""


@pytest.fixture
def suite(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pytest.RunResult]:
    """Run a test file of somebody's with our plugin and no other."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(code: str, *args: str) -> pytest.RunResult:
        pytester.makepyfile(HEAD + code)
        return pytester.runpytest_inprocess("-p", "faithguard.pytest_plugin", *args)

    return run


# The function -----------------------------------------------------------------------------------


def test_a_faithful_answer_gives_its_report() -> None:
    """For a test that wants more than a pass."""
    report = assert_faithful(TRUE, CONTEXT, domain="medical")

    assert (report.outcome, report.supported, report.total) == ("scored", 1, 1)
    assert report.exchange.domain == "medical"


def test_an_unfaithful_answer_fails_with_every_claim() -> None:
    """What failed comes first, with reason, cause and evidence; the first line says why."""
    with pytest.raises(AssertionError) as failed:
        assert_faithful(FALSE, CONTEXT, question="What does it cost?")

    lines = str(failed.value).splitlines()
    assert lines[0].startswith("not faithful (customer_support): 1 of 2 claims supported: 0.50 < ")
    assert "question: What does it cost?" in lines
    assert f"  {FALSE}" in lines
    claims = [line for line in lines if line[0] in "✗✓?"]
    assert claims == ["✗ 2. contradicted: A ticket costs 9 euros.", f"✓ 1. supported: {TRUE}"]
    assert any(line.startswith("    why: ") and "8 euros" in line for line in lines)
    assert any(line.startswith("    cause: generation") for line in lines)
    assert "    evidence: “A ticket costs 8 euros.” (passage 1)" in lines


def test_the_twin_does_the_same() -> None:
    """The same report, the same message."""
    ours = asyncio.run(aassert_faithful(TRUE, CONTEXT, domain="legal"))
    assert ours.claims == assert_faithful(TRUE, CONTEXT, domain="legal").claims

    messages = []
    with pytest.raises(AssertionError) as failed:
        asyncio.run(aassert_faithful(FALSE, CONTEXT))
    messages.append(str(failed.value))
    with pytest.raises(AssertionError) as failed:
        assert_faithful(FALSE, CONTEXT)
    assert [*messages] == [str(failed.value)]


@pytest.mark.parametrize("function", [assert_faithful, aassert_faithful])
def test_the_domain_decides(function: Callable[..., object]) -> None:
    """A policy of one's own may let pass what the default does not."""
    lenient = Policy(domain="drafts", safe=0.5, warning=0.2)
    outcome = function(FALSE, CONTEXT, domain=lenient)
    report = asyncio.run(outcome) if asyncio.iscoroutine(outcome) else outcome

    assert report.exchange.domain == "drafts"
    with pytest.raises(ConfigError, match="unknown domain 'medicine'"):
        assert_faithful(TRUE, CONTEXT, domain="medicine")


def test_missing_verdicts_fail() -> None:
    """A verifier that is down lets nothing pass, and the message says who was down."""
    scorer = Scorer(verifiers=[TableVerifier({"*": VerifierError("the server is asleep")})])

    with pytest.raises(AssertionError, match=r"(?s)the check failed.*∅ 1. failed.*asleep"):
        assert_faithful(TRUE, CONTEXT, scorer=scorer)


def test_a_stage_that_fails_as_a_whole_is_named() -> None:
    """Without claims there is still a reason."""

    class Broken:
        name = "broken@1"

        def extract(self, answer: str, question: str | None) -> list[faithguard.Claim]:
            raise VerifierError("no words")

        async def aextract(self, answer: str, question: str | None) -> list[faithguard.Claim]:
            raise VerifierError("no words")

    with pytest.raises(AssertionError, match=r"missing \(error, broken@1\): no words"):
        assert_faithful(TRUE, CONTEXT, scorer=Scorer(Broken()))


def test_an_answer_without_context_fails_and_one_that_abstains_passes() -> None:
    """As before a guard."""
    with pytest.raises(AssertionError, match="no context to check"):
        assert_faithful(TRUE, [])

    assert assert_faithful("I do not know.", CONTEXT).outcome == "abstained"


def test_nothing_is_cut_and_nothing_acts() -> None:
    """However long and hostile: each character is there, and none of them does anything."""
    long = "The Tarn ferry carries 95 " + "and 95 " * 400 + "passengers."
    hostile = f"{long} It is \x1b[31mred\x1b[0m and \u202eeerf\u202c, \x00 <b>[bold]."

    with pytest.raises(AssertionError) as failed:
        assert_faithful(hostile, CONTEXT)

    message = str(failed.value)
    assert message.count(long) >= 2  # in the answer, and as a claim
    assert r"It is \x1b[31mred\x1b[0m and \u202eeerf\u202c, \x00 <b>[bold]." in message
    assert message.isprintable() or set("\n") == {c for c in message if not c.isprintable()}


# In a suite of somebody's -----------------------------------------------------------------------


def test_a_failure_is_readable(suite: Callable[..., pytest.RunResult]) -> None:
    """The traceback ends in the test, the claims are all there, the summary says why."""
    result = suite(
        "def test_it(assert_faithful):\n    assert_faithful(FALSE, CONTEXT, domain='medical')\n"
    )

    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            ">*assert_faithful(FALSE, CONTEXT, domain='medical')",
            "E*AssertionError: not faithful (medical): 1 of 2 claims supported: 0.50 < 0.98*",
            "E*✗ 2. contradicted: A ticket costs 9 euros.",
            "E*evidence: “A ticket costs 8 euros.” (passage 1)",
            "E*✓ 1. supported: The Tarn ferry carries 60 passengers.",
            "FAILED *::test_it - AssertionError: not faithful *",
        ]
    )
    assert "pytest_plugin.py" not in text


def test_the_function_and_both_fixtures_pass(suite: Callable[..., pytest.RunResult]) -> None:
    """Imported or asked for, blocking or awaiting."""
    result = suite(
        "import asyncio\n"
        "def test_function():\n"
        "    assert checked(TRUE, CONTEXT).score == 1.0\n"
        "def test_fixture(assert_faithful):\n"
        "    assert assert_faithful(TRUE, [CONTEXT], question='How many?').total == 1\n"
        "def test_twin(aassert_faithful):\n"
        "    assert asyncio.run(aassert_faithful(TRUE, CONTEXT)).score == 1.0\n"
    )

    result.assert_outcomes(passed=3)


def test_a_session_has_one_scorer_of_its_own(
    suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    """`faithguard_scorer` is overridden in a conftest; a call may still name another."""
    pytester.makeconftest(
        "import pytest\n"
        "from faithguard import Scorer\n"
        "from faithguard.testing import TableVerifier\n"
        "@pytest.fixture(scope='session')\n"
        "def faithguard_scorer():\n"
        "    return Scorer(verifiers=[TableVerifier({'*': 0.9}, 'mine@1')])\n"
    )
    result = suite(
        "from faithguard import Scorer\n"
        "def test_theirs(assert_faithful):\n"
        "    assert assert_faithful(FALSE, CONTEXT).versions['verifiers'] == 'mine@1'\n"
        "def test_named(assert_faithful):\n"
        "    assert_faithful(FALSE, CONTEXT, scorer=Scorer())\n"
    )

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED *::test_named - *"])


def properties(path: Path) -> dict[str, dict[str, str]]:
    """Return the properties of each test of a JUnit file."""
    cases = ElementTree.parse(path).getroot().iter("testcase")  # noqa: S314 - our own file
    return {
        case.attrib["name"]: {
            one.attrib["name"]: one.attrib["value"] for one in case.iter("property")
        }
        for case in cases
    }


def test_figures_are_junit_properties(
    suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    """Of the test that made the call, also if it fails; calls are counted; no warning."""
    result = suite(
        "import pytest\n"
        "@pytest.fixture\n"
        "def given():\n"
        "    return checked(TRUE, CONTEXT)\n"
        "def test_two(given):\n"
        "    checked(FALSE, CONTEXT, domain='legal')\n"
        "def test_none():\n"
        "    pass\n"
        "def test_abstains(assert_faithful):\n"
        "    assert_faithful('I do not know.', CONTEXT)\n",
        *("--junit-xml=out.xml", "-Werror"),
    )

    result.assert_outcomes(passed=2, failed=1)
    found = properties(pytester.path / "out.xml")
    assert found["test_two"] == {
        "faithguard.passed": "True",
        "faithguard.outcome": "scored",
        "faithguard.score": "1.0",
        "faithguard.supported": "1",
        "faithguard.total": "1",
        "faithguard.level": "safe",
        "faithguard.domain": "customer_support",
        "faithguard.2.passed": "False",
        "faithguard.2.outcome": "scored",
        "faithguard.2.score": "0.5",
        "faithguard.2.supported": "1",
        "faithguard.2.total": "2",
        "faithguard.2.level": "block",
        "faithguard.2.domain": "legal",
    }
    assert found["test_none"] == {}
    assert found["test_abstains"] == {
        "faithguard.passed": "True",
        "faithguard.outcome": "abstained",
        "faithguard.supported": "0",
        "faithguard.total": "0",
        "faithguard.domain": "customer_support",
    }


def test_hostile_text_leaves_the_junit_file_whole(
    suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    """What XML cannot hold comes as escapes, and nothing is lost."""
    suite(
        "def test_it():\n"
        "    checked('The ferry carries 95 \\x00 ]]></failure> \\x1b[31m cats.', CONTEXT)\n",
        "--junit-xml=out.xml",
    )

    (failure,) = ElementTree.parse(pytester.path / "out.xml").iter("failure")  # noqa: S314
    assert r"95 \x00 ]]></failure> \x1b[31m cats." in (failure.text or "")


def test_without_the_plugin_the_function_works(
    suite: Callable[..., pytest.RunResult], pytester: pytest.Pytester
) -> None:
    """`-p no:faithguard` takes the fixtures, not the function."""
    pytester.makepyfile(HEAD + "def test_it():\n    assert checked(TRUE, CONTEXT).score == 1.0\n")

    pytester.runpytest_inprocess("--junit-xml=out.xml").assert_outcomes(passed=1)
    assert properties(pytester.path / "out.xml")["test_it"] == {}


def test_a_suite_that_does_not_use_it_pays_nothing(pytester: pytest.Pytester) -> None:
    """Nothing of ours but the plugin is loaded, and nothing that only we need."""
    pytester.makepyfile(
        "import sys\n"
        "def test_it():\n"
        "    ours = {m for m in sys.modules if m.startswith('faithguard')}\n"
        "    assert ours == {'faithguard', 'faithguard._version', 'faithguard.pytest_plugin'}\n"
        "    assert not {'pydantic', 'rich', 'typer', 'cachetools', 'Stemmer'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "faithguard.pytest_plugin", "-q"],
        cwd=pytester.path,
        env={
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": str(Path(faithguard.__file__).parent.parent),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout


def test_installed_it_is_found(tmp_path: Path) -> None:
    """From a wheel: pytest loads the plugin by its entry point and offers the fixtures."""
    pytest.importorskip("hatchling", reason="pip install 'faithguard[dev]' brings it")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=100)
    (wheel,) = tmp_path.glob("*.whl")
    site, work = tmp_path / "site", tmp_path / "work"
    zipfile.ZipFile(wheel).extractall(site)
    work.mkdir()
    (work / "test_it.py").write_text(
        f"{HEAD}def test_it(assert_faithful):\n    assert_faithful(FALSE, CONTEXT)\n"
    )

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:langsmith"],
        cwd=work,
        env={"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 1, done.stdout + done.stderr
    assert "E       AssertionError: not faithful (customer_support)" in done.stdout
