"""Settings from files and variables: what they change, and how a mistake in them is met."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithguard.config import FIELDS, VARIABLES, layers, nearest
from faithguard.errors import ConfigError
from faithguard.policy import DOMAINS, Policy, resolve

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a policy file and return its path."""

    def write(text: str | bytes, name: str = "policy.toml") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def refused(*words: str, name: str | None = None, file: Path | None = None, **env: str) -> str:
    """Expect the settings to be refused with these words; return the message."""
    environ = {f"FAITHGUARD_{key}": value for key, value in env.items()}
    with pytest.raises(ConfigError) as caught:
        Policy.for_domain(name, file=file, environ=environ)
    for word in words:
        assert word in str(caught.value)
    return str(caught.value)


def found(name: str | None = None, file: Path | None = None, **env: str) -> Policy:
    """Return the policy under a file and FAITHGUARD_* variables."""
    return Policy.for_domain(
        name, file=file, environ={f"FAITHGUARD_{key}": value for key, value in env.items()}
    )


def test_fields_are_those_of_a_policy() -> None:
    """A file can set every field of a policy but its name, which is the table's."""
    assert {*FIELDS, "domain"} == set(Policy.model_fields)
    assert set(VARIABLES.values()) <= {*Policy.model_fields, "policy"}


# Files


def test_a_file_changes_a_built_in_domain(write: Write) -> None:
    """A file named in code may tighten and loosen; what it does not name stays."""
    file = write("[domains.medical]\nsafe = 0.8\nwarning = 0.5\non_fail = 'repair'\n")

    changed = found("medical", file)

    assert (changed.safe, changed.warning, changed.on_fail) == (0.8, 0.5, "repair")
    assert changed.on_contradiction == "fail"
    assert found("legal", file) == DOMAINS["legal"]


def test_a_file_defines_a_new_domain(write: Write) -> None:
    """A new domain needs both thresholds; whole numbers are numbers too."""
    file = write("[domains.museum]\nsafe = 1\nwarning = 0.5\n")

    assert found("museum", file) == Policy(domain="museum", safe=1.0, warning=0.5)
    assert resolve("museum", file=file, environ={}).safe == 1.0


def test_a_new_domain_extends_another(write: Write) -> None:
    """`extends` takes over all that is not named, as the same file leaves it, in any order."""
    file = write(
        """
        [domains.ward]
        extends = "clinic"
        on_fail = "regenerate"

        [domains.clinic]
        extends = "medical"
        safe = 0.99

        [domains.medical]
        warning = 0.95
        """
    )

    ward = found("ward", file)

    assert (ward.domain, ward.safe, ward.warning) == ("ward", 0.99, 0.95)
    assert (ward.on_contradiction, ward.on_fail) == ("fail", "regenerate")


def test_a_known_domain_can_extend_another(write: Write) -> None:
    """A built-in domain may be rebuilt on a stricter one."""
    strict = found("support", write("[domains.support]\nextends = 'legal'\n"))

    assert (strict.domain, strict.safe, strict.on_contradiction) == (
        "customer_support",
        0.95,
        "fail",
    )


def test_an_alias_names_the_same_domain(write: Write) -> None:
    """`support` in a file changes customer_support; naming both is refused."""
    assert found(None, write("[domains.support]\nsafe = 0.9\n")).safe == 0.9
    both = write("[domains.support]\nsafe = 0.9\n[domains.customer_support]\nsafe = 0.7\n")
    refused("[domains.support]", "[domains.customer_support]", "keep one", file=both)


def test_default_domain_of_a_file(write: Write) -> None:
    """A file named in code chooses the domain used when none is named, even a looser one."""
    file = write('default_domain = "conversational"\n')

    assert found(None, file) == DOMAINS["conversational"]
    assert found("legal", file) == DOMAINS["legal"]


def test_unknown_domains_list_those_of_the_file(write: Write) -> None:
    """The list of known domains holds those that a file defines."""
    file = write("[domains.museum]\nsafe = 0.9\nwarning = 0.5\n")

    refused("'musuem'", "did you mean 'museum'", "medical", name="musuem", file=file)


def test_a_changed_file_is_seen_at_once(write: Write) -> None:
    """A running process sees a file of the same size change under it."""
    file = write("[domains.legal]\nsafe = 0.96\n")
    assert found("legal", file).safe == 0.96
    write("[domains.legal]\nsafe = 0.97\n")
    assert found("legal", file).safe == 0.97


def test_a_byte_order_mark_and_line_ends_of_windows_are_read(write: Write) -> None:
    """A file saved by Windows is read like any other."""
    assert found("legal", write(b"\xef\xbb\xbf[domains.legal]\r\nsafe = 0.96\r\n")).safe == 0.96


def test_an_empty_file_changes_nothing(write: Write) -> None:
    """An empty file is a file without settings."""
    assert found(None, write("")) == DOMAINS["customer_support"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = = 1\n", ["not valid TOML", "line 1"]),
        ("\n\n[domains.legal]\nsafe = 0,9\n", ["not valid TOML", "line 4"]),
        (f"default_domain = {'9' * 5000}\n", ["not valid TOML"]),
        (f"default_domain = {'[' * 20_000}\n", ["not valid TOML"]),
        (b"[domains.legal]\n# caf\xe9\nsafe = 0.9\n", ["not UTF-8", "line 2", "save it as UTF-8"]),
        ("default_domian = 'legal'\n", ["'default_domian'", "did you mean 'default_domain'"]),
        ("[medical]\nsafe = 0.9\n", ["'medical'", "[domains.NAME]"]),
        ("[domains.legal]\nsaef = 0.9\n", ["[domains.legal]", "'saef'", "did you mean 'safe'"]),
        ("[domains.legal]\ndomain = 'medical'\n", ["'domain'", "on_contradiction"]),
        ("[domains.legal.safe]\nx = 1\n", ["`safe`", "[domains.legal]", "from 0 to 1"]),
        ("domains = 3\n", ["`domains`", "= 3", "not a table"]),
        ("domains.legal = 'strict'\n", ["[domains.legal]", "'strict'", "not a table"]),
        ("[[domains]]\nsafe = 1\n", ["not a table"]),
        ("default_domain = 1\n", ["`default_domain` = 1", "quote one"]),
        ("default_domain = 'leagl'\n", ["'leagl'", "`default_domain`", "did you mean 'legal'"]),
        ("[domains.legal]\nsafe = '0.99'\n", ["`safe` = '0.99'", "[domains.legal]"]),
        ("[domains.legal]\nsafe = true\n", ["`safe` = True"]),
        ("[domains.legal]\nsafe = nan\n", ["`safe` = nan"]),
        ("[domains.legal]\nsafe = 98\n", ["`safe` = 98", "from 0 to 1"]),
        ("[domains.legal]\nsafe = 2020-01-01\n", ["`safe`", "[domains.legal]"]),
        ("[domains.legal]\non_fail = 'shout'\n", ["`on_fail` = 'shout'", "'repair'"]),
        (
            "[domains.museum]\nsafe = 0.9\n",
            ["'museum'", "[domains.museum]", "`warning` is missing"],
        ),
        ("[domains.museum]\nextends = 'leagl'\n", ["'leagl'", "[domains.museum]", "'legal'"]),
        ("[domains.museum]\nextends = 4\n", ["`extends` = 4", "quote one"]),
        ("[domains.museum]\nextends = 'museum'\n", ["leads back to itself"]),
        ("[domains.a]\nextends = 'b'\n[domains.b]\nextends = 'a'\n", ["leads back to itself"]),
        ("[domains.'']\nsafe = 0.9\nwarning = 0.5\n", ["`domain` = ''"]),
    ],
)
def test_a_mistake_in_a_file_is_named(text: str | bytes, words: list[str], write: Write) -> None:
    """A mistake anywhere in a file is met with the file, the place, the value and the remedy."""
    file = write(text)

    refused(str(file), *words, name="medical", file=file)
    refused(str(file), "named by FAITHGUARD_POLICY", *words, POLICY=str(file))


def test_a_file_that_cannot_be_read_is_named(write: Write, tmp_path: Path) -> None:
    """A path that is missing, a folder or nonsense is named with the reason."""
    refused("'nowhere.toml'", "No such file", "name a TOML file", file=Path("nowhere.toml"))
    refused("Is a directory", str(tmp_path), file=tmp_path)
    refused("Not a directory", file=write("") / "policy.toml")
    refused("cannot read", "null", file=Path("a\0b"))
    refused("cannot read", "nowhere.toml", "named by FAITHGUARD_POLICY", POLICY="nowhere.toml")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root reads every file: run as another user to run this",
)
def test_a_file_without_permission_is_named(write: Write) -> None:
    """A file that the process may not read is named with the reason."""
    file = write("")
    file.chmod(0)

    refused("Permission denied", str(file), file=file)


def test_a_tilde_is_the_home_folder(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path may start with ~, since no shell expands it in a variable."""
    monkeypatch.setenv("HOME", str(write("[domains.legal]\nsafe = 0.97\n").parent))

    assert found("legal", POLICY="~/policy.toml").safe == 0.97


# Variables


@pytest.mark.parametrize(
    ("variable", "value", "field"),
    [
        ("SAFE", "0.95", "safe"),
        ("SAFE", " 1 ", "safe"),
        ("WARNING", "0.8", "warning"),
        ("ON_CONTRADICTION", "fail", "on_contradiction"),
        ("ON_CONFLICT", " unsupported", "on_conflict"),
        ("ON_FAILURE", "closed", "on_failure"),
        ("ON_WARNING", "fail", "on_warning"),
    ],
)
def test_a_variable_tightens(variable: str, value: str, field: str) -> None:
    """Each variable may ask for as much as the domain does, or more."""
    policy = found(**{variable: value})

    wanted: object = float(value) if field in ("safe", "warning") else value.strip()
    assert policy == DOMAINS["customer_support"].model_copy(update={field: wanted})


@pytest.mark.parametrize(
    ("variable", "value", "domain", "old"),
    [
        ("SAFE", "0.9", "medical", "0.98"),
        ("WARNING", "0.5", "support", "0.7"),
        ("ON_CONTRADICTION", "count", "legal", "'fail'"),
        ("ON_CONFLICT", "supported", "financial", "'unsupported'"),
        ("ON_FAILURE", "open", "support", "'closed'"),
        ("ON_WARNING", "flag", "support", "'fail'"),
    ],
)
def test_a_variable_never_loosens(variable: str, value: str, domain: str, old: str) -> None:
    """Loosening from outside is refused: which variable, its value, what it loosens, a remedy."""
    message = refused(f"FAITHGUARD_{variable}", value, old, name=domain, **{variable: value})

    assert "may only tighten" in message
    assert "unset it" in message
    assert "Policy.for_domain(" in message


@given(st.sampled_from(sorted(DOMAINS)), st.floats(0, 1), st.floats(0, 1))
def test_variables_tighten_or_are_refused(domain: str, safe: float, warning: float) -> None:
    """Whatever the two thresholds are set to, no domain ends up looser than it was."""
    environ = {"FAITHGUARD_SAFE": repr(safe), "FAITHGUARD_WARNING": repr(warning)}

    try:
        policy = Policy.for_domain(domain, environ=environ)
    except ConfigError:
        before = DOMAINS[domain]
        assert safe < before.safe or warning < before.warning or warning > safe
    else:
        assert policy.safe == safe >= DOMAINS[domain].safe
        assert policy.warning == warning >= DOMAINS[domain].warning


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0,9", ["FAITHGUARD_SAFE='0,9'", "with a point"]),
        ("98%", ["'98%'", "not a number"]),
        ("high", ["'high'", "not a number"]),
        ("98", ["`safe` = 98.0", "FAITHGUARD_SAFE", "from 0 to 1"]),
        ("nan", ["`safe` = nan", "FAITHGUARD_SAFE"]),
        ("inf", ["`safe` = inf", "FAITHGUARD_SAFE"]),
        ("-1", ["`safe` = -1.0", "FAITHGUARD_SAFE"]),
    ],
)
def test_a_bad_number_in_a_variable_is_named(value: str, words: list[str]) -> None:
    """A number that cannot be used is named with its variable and the form to use."""
    refused(*words, SAFE=value)


def test_a_bad_choice_in_a_variable_is_named() -> None:
    """A word that is no choice lists the choices and its variable."""
    refused("'Closed'", "FAITHGUARD_ON_FAILURE", "'closed' or 'open'", ON_FAILURE="Closed")
    refused("`warning` 0.9 (from FAITHGUARD_WARNING)", "above `safe` 0.85", WARNING="0.9")


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_unset(value: str) -> None:
    """An empty variable is as good as none, misspelt or not."""
    names = (*VARIABLES, "FAITHGUARD_SAEF", "FAITHGUARD_ON_FAIL")

    assert Policy.for_domain(environ=dict.fromkeys(names, value)) == DOMAINS["customer_support"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("FAITHGUARD_SAEF", "FAITHGUARD_SAFE"),
        ("faithguard_safe", "FAITHGUARD_SAFE"),
        ("FAITHGUARD_WARNINGS", "FAITHGUARD_WARNING"),
        ("FAITHGUARD_ON_FALIURE", "FAITHGUARD_ON_FAILURE"),
        ("FAITHGUARD_POLCY", "FAITHGUARD_POLICY"),
        ("FAITHGUARD_DOMIAN", "FAITHGUARD_DOMAIN"),
        ("FAITHGUARD_ON_CONTRADICT", "FAITHGUARD_ON_CONTRADICTION"),
        ("FAITHGUARD_STOER", "FAITHGUARD_STORE"),
    ],
)
def test_a_misspelt_variable_is_refused(wrong: str, right: str) -> None:
    """A near miss would silently set nothing, so it is refused with the right name."""
    with pytest.raises(ConfigError, match=f"{wrong}='x' sets nothing; did you mean {right}"):
        layers(None, {wrong: "x"})


@pytest.mark.parametrize(
    "name", ["STORE", "DEBUG", "JUDGE_MODEL", "JUDGE_URL", "CACHE", "LOG", "MODEL", "TIMEOUT"]
)
def test_other_variables_are_left_alone(name: str) -> None:
    """Variables of other parts, and of other programs, are not taken for typos."""
    assert layers(None, {f"FAITHGUARD_{name}": "x", "SAFE": "0", "DOMAIN": "?"}) == ()


def test_on_fail_has_no_variable() -> None:
    """FAITHGUARD_ON_FAIL is not mistaken for ON_FAILURE: the message says where it is set."""
    message = refused("in code or in a policy file", ON_FAIL="block")

    assert "did you mean" not in message


# FAITHGUARD_DOMAIN


def test_the_variable_names_the_default_domain() -> None:
    """FAITHGUARD_DOMAIN stands in where code names no domain, and only there."""
    assert found(DOMAIN="medical") == DOMAINS["medical"]
    assert found("conversational", DOMAIN="medical") == DOMAINS["conversational"]
    assert found(DOMAIN="support") == DOMAINS["customer_support"]


def test_the_default_domain_is_not_loosened_from_outside(write: Write) -> None:
    """It must be at least as strict as the domain that it replaces, be that a file's."""
    refused("FAITHGUARD_DOMAIN", "'educational'", "0.85", "0.8", "tighten", DOMAIN="educational")
    strict = write('default_domain = "medical"\n')
    refused("'legal'", "'medical'", "0.98", "0.95", file=strict, DOMAIN="legal")
    loose = write('default_domain = "conversational"\n')
    assert found(None, loose, DOMAIN="educational") == DOMAINS["educational"]


def test_an_unknown_default_domain_names_the_variable() -> None:
    """A typo in FAITHGUARD_DOMAIN is an error that names it."""
    refused("'medcal'", "FAITHGUARD_DOMAIN", "did you mean 'medical'", DOMAIN="medcal")


# FAITHGUARD_POLICY


def test_a_file_from_outside_tightens(write: Write) -> None:
    """The file that the environment names may tighten, and may define new domains freely."""
    file = write(
        """
        default_domain = "museum"
        [domains.legal]
        safe = 0.97
        [domains.museum]
        safe = 0.9
        warning = 0.8
        [domains.playground]
        safe = 0.1
        warning = 0.0
        on_failure = "open"
        """
    )

    assert found("legal", POLICY=str(file)).safe == 0.97
    assert found(POLICY=str(file)).domain == "museum"
    assert found("playground", POLICY=str(file)).on_failure == "open"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[domains.legal]\nsafe = 0.9\n", ["`safe` = 0.9", "has 0.95", "at least 0.95"]),
        ("[domains.support]\nwarning = 0.1\n", ["`warning` = 0.1", "'customer_support'"]),
        ("[domains.legal]\non_fail = 'flag'\n", ["`on_fail` = 'flag'", "'block'"]),
        ("[domains.legal]\non_fail = 'repair'\n", ["`on_fail` = 'repair'", "'block'"]),
        ("[domains.legal]\nextends = 'educational'\n", ["'legal'", "has 0.95"]),
        ("default_domain = 'educational'\n", ["`default_domain`", "'educational'", "0.85"]),
    ],
)
def test_a_file_from_outside_never_loosens(table: str, words: list[str], write: Write) -> None:
    """What code may do by a file, the environment may not, whichever domain is used."""
    file = write(table)

    refused("named by FAITHGUARD_POLICY", "may only tighten", *words, POLICY=str(file))
    found(None, file)


def test_a_threshold_below_the_other_is_told_as_what_it_is(write: Write) -> None:
    """A `safe` under the domain's `warning` loosens: nobody is told to lower `warning` as well."""
    file = write("[domains.legal]\nsafe = 0.8\n")

    for message in (
        refused("`safe` = 0.5 from FAITHGUARD_SAFE would loosen", "has 0.85", SAFE="0.5"),
        refused("`warning` = 0.5 from FAITHGUARD_WARNING would loosen", WARNING="0.5"),
        refused("`safe` = 0.3", "would loosen", SAFE="0.3", WARNING="0.4"),
        refused("`safe` = 0.8 from [domains.legal]", "would loosen 'legal'", POLICY=str(file)),
    ):
        assert "may only tighten" in message
        assert "above" not in message
    message = refused("safe=0.5, warning=0.5)", SAFE="0.5")
    assert Policy.for_domain("support", environ={}, safe=0.5, warning=0.5).safe == 0.5, message
    # code may loosen, and is told that both belong together
    refused("`warning` 0.85", "above `safe` 0.8", "set both", name="legal", file=file)


def test_no_loosening_through_two_files(write: Write) -> None:
    """A domain that the file of the code defines is no new one for the environment's file."""
    ours = write("[domains.museum]\nsafe = 0.9\nwarning = 0.8\n", "ours.toml")
    theirs = write("[domains.museum]\nsafe = 0.6\nwarning = 0.5\n", "theirs.toml")

    refused("theirs.toml", "'museum'", "has 0.9", name="museum", file=ours, POLICY=str(theirs))


# Order


def test_code_over_environment_over_file(write: Write) -> None:
    """File, then the environment's file, then variables, then code: the last word counts."""
    ours = write("[domains.legal]\nsafe = 0.7\nwarning = 0.6\n", "ours.toml")
    theirs = write("[domains.legal]\nsafe = 0.8\n", "theirs.toml")
    environ = {"FAITHGUARD_POLICY": str(theirs), "FAITHGUARD_SAFE": "0.9"}

    def safe(**overrides: float) -> float:
        return Policy.for_domain("legal", file=ours, environ=environ, **overrides).safe

    assert safe() == 0.9
    assert safe(safe=0.65) == 0.65
    assert Policy.for_domain("legal", file=ours, environ={}).safe == 0.7


def test_the_real_environment_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument the variables of the process count, as they are at that moment."""
    monkeypatch.setenv("FAITHGUARD_SAFE", "0.9")
    assert resolve("support").safe == 0.9
    monkeypatch.setenv("FAITHGUARD_SAFE", "0.95")
    assert resolve("support").safe == 0.95
    monkeypatch.delenv("FAITHGUARD_SAFE")
    assert resolve("support") == DOMAINS["customer_support"]


def test_nearest_ignores_case_and_strangers() -> None:
    """A suggestion is a near miss or none at all."""
    assert nearest("MEDICAL", DOMAINS) == "medical"
    assert nearest("qqq", DOMAINS) is None


def test_config_imports_only_errors() -> None:
    """Settings are read below everything else: the module needs no other part of the package."""
    code = (
        "import sys, faithguard; before = set(sys.modules); import faithguard.config; "
        "print(sorted(m for m in set(sys.modules) - before if m.startswith(('faithguard', 'pyd'))))"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "['faithguard.config', 'faithguard.errors']"
