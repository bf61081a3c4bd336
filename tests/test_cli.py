"""The command line as a script and a person meet it: words, exit codes, streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from faithguard import __version__
from faithguard.cli import app
from faithguard.errors import VerifierError
from faithguard.types import Report

CONTEXT = "The Tarn ferry leaves at 09:15 and carries 60 passengers. A ticket costs 8 euros."
TRUE = "The Tarn ferry carries 60 passengers."
FALSE = "The Tarn ferry carries 95 passengers."

Files = Callable[..., str]


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the settings of whoever runs the tests out of them."""
    for name in [*os.environ]:
        if name.startswith("FAITHGUARD_") or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def put(tmp_path: Path) -> Files:
    """Write a file and return its path."""

    def write(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    return write


def ran(*args: str, stdin: str | bytes | None = None) -> Result:
    """Run the app in this process."""
    return CliRunner().invoke(app, list(args), input=stdin, prog_name="faithguard")


def process(*args: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the module as its own process."""
    command = [sys.executable, "-m", "faithguard.cli", *args]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, **options)  # type: ignore[call-overload, no-any-return]


def complaint(result: Result) -> str:
    """Return the one line that a failed run says, and check that it is one and all."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("faithguard: ")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.stderr
    return result.stderr


# check


def test_a_faithful_answer_exits_0_and_shows_why(put: Files) -> None:
    """The report, the decision's reason, and exit 0."""
    result = ran("check", "--context", put("ferry.txt", CONTEXT), "--answer", put("a.txt", TRUE))

    assert result.exit_code == 0, result.output
    assert "1 of 1 claim supported: 1.00" in result.stdout
    assert "✓ supported" in result.stdout
    assert "ferry.txt" in "".join(result.stdout.split())  # a long path is wrapped
    assert "\npassed: 1 of 1 claim" in result.stdout
    assert result.stderr == ""


def test_an_unfaithful_answer_exits_1_and_shows_which_claim(put: Files) -> None:
    """A made-up number is shown, and the exit code stops a script."""
    result = ran("check", "--context", put("ferry.txt", CONTEXT), "--answer", put("a.txt", FALSE))

    assert result.exit_code == 1, result.output
    assert "✗ contradicted" in result.stdout
    assert "not passed: 0 of 1 claim" in result.stdout


def test_json_is_the_report_with_the_decision_and_nothing_else(put: Files) -> None:
    """Stdout is one ASCII JSON object that is read back as a report."""
    answer = put("a.txt", "The Tarn ferry – “Möwe” – carries 95 passengers.")

    result = ran("check", "--context", put("ferry.txt", CONTEXT), "--answer", answer, "--json")

    assert result.exit_code == 1, result.output
    assert result.stdout.isascii()
    assert result.stderr == ""
    data = json.loads(result.stdout)
    assert data["decision"]["passed"] is False
    assert data["decision"]["domain"] == "customer_support"
    report = Report.from_json(result.stdout)
    assert "Möwe" in report.exchange.answer
    assert (report.supported, report.total) == (data["supported"], data["total"])


def test_each_context_file_is_a_passage_with_its_name(put: Files) -> None:
    """Several files are several passages, in order, with the files as sources."""
    files = [put("times.txt", "The ferry leaves at 09:15."), put("fares.txt", CONTEXT)]

    result = ran(
        "check", "--context", files[0], "--context", files[1], "--answer", put("a", TRUE), "--json"
    )

    passages = Report.from_json(result.stdout).exchange.passages
    assert [passage.source for passage in passages] == files
    assert [passage.text for passage in passages] == ["The ferry leaves at 09:15.", CONTEXT]


def test_the_answer_can_come_from_stdin(put: Files) -> None:
    """`--answer -` reads the answer from a pipe."""
    result = ran("check", "--context", put("c", CONTEXT), "--answer", "-", "--json", stdin=TRUE)

    assert result.exit_code == 0, result.output
    assert Report.from_json(result.stdout).exchange.answer == TRUE


def test_a_question_makes_a_short_answer_a_claim(put: Files) -> None:
    """The question is part of what is checked."""
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", "95 passengers."))

    result = ran(*args, "--question", "How many passengers does the Tarn ferry carry?", "--json")

    report = Report.from_json(result.stdout)
    assert report.exchange.question == "How many passengers does the Tarn ferry carry?"
    assert result.exit_code == 1


def test_the_domain_decides_by_its_thresholds(put: Files) -> None:
    """An alias, a named domain and none at all lead to the thresholds of DESIGN section 7."""
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", TRUE), "--json")

    named = {
        name: json.loads(ran(*args, "--domain", name).stdout)["decision"]
        for name in ("medical", "support")
    }

    assert (named["medical"]["domain"], named["medical"]["safe"]) == ("medical", 0.98)
    assert (named["support"]["domain"], named["support"]["safe"]) == ("customer_support", 0.85)
    assert json.loads(ran(*args).stdout)["decision"] == named["support"]


def test_a_policy_file_decides(put: Files) -> None:
    """A file can define a domain and change a threshold; both views grade by it."""
    policy = put("p.toml", "[domains.harbour]\nsafe = 0.6\nwarning = 0.4\n")
    answer = put("a", f"{TRUE} A ticket costs 8 euros. The Tarn ferry leaves at 11:40.")
    args = ("check", "--context", put("c", CONTEXT), "--answer", answer)

    result = ran(*args, "--policy", policy, "--domain", "harbour")
    assert result.exit_code == 0, result.output
    assert "safe for harbour (safe from 0.6)" in " ".join(result.stdout.split())

    assert ran(*args).exit_code == 1


@pytest.mark.parametrize(
    ("context", "answer"), [(CONTEXT, ""), ("", TRUE), ("", ""), (" \n", "\n")]
)
def test_empty_texts_are_outcomes_not_errors(put: Files, context: str, answer: str) -> None:
    """An empty answer says nothing false; facts without context do not pass."""
    result = ran("check", "--context", put("c", context), "--answer", put("a", answer), "--json")

    report = Report.from_json(result.stdout)
    assert report.outcome == ("no_context" if answer.strip() else "no_claims")
    assert result.exit_code == (1 if answer.strip() else 0)


def test_a_byte_order_mark_is_no_part_of_a_text(put: Files) -> None:
    """What some editors put before a text does not get into passages and answers."""
    result = ran(
        "check",
        *("--context", put("c", b"\xef\xbb\xbf" + CONTEXT.encode())),
        *("--answer", put("a", b"\xef\xbb\xbf" + TRUE.encode()), "--json"),
    )

    exchange = Report.from_json(result.stdout).exchange
    assert (exchange.answer, exchange.passages[0].text) == (TRUE, CONTEXT)


def test_hostile_files_are_shown_not_interpreted(put: Files) -> None:
    """Neither an answer nor a passage nor a file's name can write to the terminal."""
    hostile = "\x1b[2J\x1b]0;owned\x07 [bold]The Tarn ferry[/] carries 95 passengers. \u202e"

    result = ran(
        "check", "--context", put("c\x1b[31m", CONTEXT + hostile), "--answer", put("a", hostile)
    )

    assert result.exit_code in (0, 1), result.output
    assert not {"\x1b", "\x07", "\u202e"} & {*result.stdout}
    assert "[bold]" in result.stdout


# Bad input


def test_a_missing_file_is_named(put: Files, tmp_path: Path) -> None:
    """The message names the file, what it was for and what to do."""
    missing = str(tmp_path / "nowhere.txt")

    line = complaint(ran("check", "--context", missing, "--answer", put("a", TRUE)))
    assert f"context file {missing!r} does not exist; check the path" in line
    assert "answer file" in complaint(
        ran("check", "--context", put("c", CONTEXT), "--answer", missing)
    )


def test_a_directory_is_not_a_file(put: Files, tmp_path: Path) -> None:
    """A folder is refused with a remedy."""
    line = complaint(ran("check", "--context", str(tmp_path), "--answer", put("a", TRUE)))

    assert "is a directory; name a file in it" in line


@pytest.mark.parametrize(
    ("content", "place", "source"),
    [
        ("café".encode("latin-1"), "byte 3 is 0xe9", "CP1252"),
        (b"\xef\xbb\xbfab\xff", "byte 5 is 0xff", "CP1252"),
        ("ferry".encode("utf-16"), "byte 0 is 0xff", "UTF-16"),
    ],
)
def test_a_file_that_is_not_utf8_says_where(
    put: Files, content: bytes, place: str, source: str
) -> None:
    """The file, the byte's offset and value, and a command that converts it."""
    file = put("old.txt", content)

    line = complaint(ran("check", "--context", file, "--answer", put("a", TRUE)))

    assert f"context file {file!r} is not UTF-8: {place}" in line
    assert f"iconv -f {source} -t UTF-8" in line


def test_stdin_that_is_not_utf8_says_where(put: Files) -> None:
    """A pipe is read as strictly as a file."""
    result = ran("check", "--context", put("c", CONTEXT), "--answer", "-", stdin=b"ab\xe9")

    assert "the answer on stdin is not UTF-8: byte 2 is 0xe9" in complaint(result)


@pytest.mark.parametrize("answer", ["-", "a.txt"])
def test_stdin_is_for_the_answer_only(answer: str) -> None:
    """One pipe cannot be both texts."""
    line = complaint(ran("check", "--context", "-", "--answer", answer, stdin=TRUE))

    assert "'-' reads stdin for --answer only" in line


def test_an_unknown_domain_lists_the_known_ones(put: Files) -> None:
    """A typo never loosens a threshold."""
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", TRUE))

    line = complaint(ran(*args, "--domain", "medcal"))

    assert "'medcal'" in line
    assert "medical" in line
    assert "customer_support" in line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot read"),
        ("safe = [", "not valid TOML"),
        ("[domains.medical]\nsafe = 7", "safe"),
    ],
)
def test_a_policy_that_cannot_be_used_is_named(
    put: Files, tmp_path: Path, content: str | None, words: str
) -> None:
    """Missing, broken and nonsensical policy files exit 2 in one line."""
    file = str(tmp_path / "p.toml") if content is None else put("p.toml", content)
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", TRUE))

    line = complaint(ran(*args, "--policy", file, "--domain", "medical"))

    assert words in line


@pytest.mark.parametrize(
    "args",
    [
        ("check",),
        ("check", "--answer", "a.txt"),
        ("check", "--context", "c.txt"),
        ("check", "--nonsense"),
        ("nonsense",),
    ],
)
def test_wrong_usage_exits_2(args: tuple[str, ...]) -> None:
    """What the parser refuses goes to stderr, with exit 2."""
    result = ran(*args)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Error" in result.stderr


def test_an_unexpected_fault_is_one_line_with_a_hint(
    put: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug is no wall of text, and the hint leads to the traceback."""

    def broken(*_: object, **__: object) -> Report:
        raise RuntimeError("the wheel\ncame off \x1b[31m")

    monkeypatch.setattr("faithguard._check.check", broken)
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", TRUE))

    line = complaint(ran(*args))
    assert "unexpected RuntimeError: the wheel came off \\x1b[31m" in line
    assert "FAITHGUARD_DEBUG=1" in line

    monkeypatch.setenv("FAITHGUARD_DEBUG", "1")
    result = ran(*args)
    assert result.exit_code == 2
    assert "Traceback" in result.stderr


def test_a_fault_of_ours_has_no_hint(put: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that names its remedy needs no traceback."""

    def broken(*_: object, **__: object) -> Report:
        raise VerifierError("the verifier is out of order")

    monkeypatch.setattr("faithguard._check.check", broken)

    line = complaint(ran("check", "--context", put("c", CONTEXT), "--answer", put("a", TRUE)))

    assert line == "faithguard: the verifier is out of order\n"


# demo


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Install a distribution whose demo of the framework `toy` has the given source."""
    site = tmp_path / "site"
    info = site / "toy_demo-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-demo\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[faithguard.demos]\ntoy = toy_demo_module:main\n")
    monkeypatch.syspath_prepend(str(site))

    yield lambda source: (site / "toy_demo_module.py").write_text(source) and None

    sys.modules.pop("toy_demo_module", None)


def test_a_demo_is_found_by_its_entry_point(toy: Callable[[str], None], tmp_path: Path) -> None:
    """The command line imports no adapter; it calls what the entry point names."""
    toy("def main(corpus):\n    print('corpus is', corpus)\n")

    assert ran("demo", "--framework", "toy").stdout == "corpus is None\n"
    result = ran("demo", "--framework", "toy", "--corpus", str(tmp_path))
    assert (result.exit_code, result.stdout) == (0, f"corpus is {tmp_path}\n")


def test_the_code_of_a_demo_is_the_exit_code(toy: Callable[[str], None]) -> None:
    """A demo can say that its answer did not pass."""
    toy("def main(corpus):\n    return 1\n")

    assert ran("demo", "--framework", "toy").exit_code == 1


@pytest.mark.parametrize(
    "source",
    [
        "import toy_core\n",
        "def main(corpus):\n    import toy_core.callbacks\n",
        "from faithguard.errors import require\nrequire('toy_core', extra='toy')\n",
    ],
)
def test_a_missing_framework_names_its_extra(toy: Callable[[str], None], source: str) -> None:
    """What is not installed is said with the command that installs it."""
    toy(source)

    line = complaint(ran("demo", "--framework", "toy"))

    assert line == "faithguard: this needs an extra: pip install 'faithguard[toy]'\n"


def test_another_missing_module_is_not_blamed_on_the_framework(toy: Callable[[str], None]) -> None:
    """An extra that would not help is not advised."""
    toy("import surely_not_installed\n")

    line = complaint(ran("demo", "--framework", "toy"))

    assert "No module named 'surely_not_installed'" in line
    assert "extra" not in line


def test_an_unknown_framework_lists_the_known_ones() -> None:
    """The message names the value and what there is."""
    line = complaint(ran("demo", "--framework", "fortran"))

    assert "'fortran'" in line
    assert "langchain" in line


def test_a_corpus_must_be_a_folder(put: Files, tmp_path: Path) -> None:
    """Neither a file nor a missing path is a corpus."""
    assert "is not a folder" in complaint(ran("demo", "--corpus", put("file.txt", "text")))
    assert "is not a folder" in complaint(ran("demo", "--corpus", str(tmp_path / "no")))


def test_the_langchain_demo_without_langchain_names_the_extra() -> None:
    """`pip install faithguard` alone has the command; it says what it lacks."""
    code = (
        "import sys; sys.modules['langchain_core'] = None; sys.argv = ['faithguard', 'demo'];"
        "from faithguard.cli import main; main()"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60
    )

    assert done.returncode == 2
    assert done.stderr == "faithguard: this needs an extra: pip install 'faithguard[langchain]'\n"


# As a process


def test_the_version_is_that_of_the_package() -> None:
    """`--version` prints one line."""
    done = process("--version")

    assert (done.returncode, done.stdout) == (0, f"faithguard {__version__}\n")


def test_help_is_quick_to_load() -> None:
    """Beyond the package itself, `--help` imports no checker, framework, pydantic or rich."""
    heavy = "('pydantic', 'rich.console', 'langchain_core', 'faithguard.guard', 'sentencex')"
    code = (
        "import sys, faithguard\nbefore = {*sys.modules}\nfrom faithguard.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n"
        f"    print([name for name in {heavy} if name in {{*sys.modules}} - before])"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=60
    )

    assert done.stdout.splitlines()[-1] == "[]"
    assert "check" in done.stdout
    assert "demo" in done.stdout


def test_the_console_script_checks(put: Files) -> None:
    """The installed command is the module's `main`."""
    script = Path(sys.executable).with_name("faithguard")
    if not script.exists():
        pytest.skip("the console script is not installed beside this Python")

    done = subprocess.run(
        [script, "check", "--context", put("c", CONTEXT), "--answer", "-"],
        capture_output=True,
        input=FALSE,
        encoding="utf-8",
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )

    assert done.returncode == 1, done.stderr
    assert "✗ contradicted" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(("answer", "code"), [(TRUE, 0), (FALSE, 1)])
def test_exit_codes_are_those_of_the_process(put: Files, answer: str, code: int) -> None:
    """A shell sees 0 and 1, and JSON alone on stdout."""
    done = process("check", "--context", put("c", CONTEXT), "--answer", put("a", answer), "--json")

    assert done.returncode == code, done.stderr
    assert json.loads(done.stdout)["decision"]["passed"] is (code == 0)
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_encoding_of_stdout_will_do(put: Files, encoding: str) -> None:
    """A terminal without Unicode is no failure, whatever texts and names hold."""
    policy = put("p.toml", "[domains.'häfen→']\nextends = 'medical'\n")
    files = ("--context", put("höhe→.txt", CONTEXT), "--answer", put("a", f"“Fähre” → {FALSE}"))

    done = process(
        *("check", *files, "--policy", policy, "--domain", "häfen→"),
        env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        errors="replace",
    )

    assert done.returncode == 1, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize(("answer", "code"), [(TRUE, 0), (FALSE, 1)])
def test_a_reader_that_goes_away_is_not_heard_and_changes_nothing(
    put: Files, answer: str, code: int, more: tuple[str, ...]
) -> None:
    """`faithguard check ... | head` is silent and keeps the exit code of the check."""
    args = ("check", "--context", put("c", CONTEXT), "--answer", put("a", answer), *more)
    read, write = os.pipe()
    os.close(read)

    try:
        done = subprocess.run(
            [sys.executable, "-m", "faithguard.cli", *args],
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=60,
        )
    finally:
        os.close(write)

    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_a_failure(put: Files) -> None:
    """A report that could not be written is not passed over in silence."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "faithguard.cli", "check"),
                *("--context", put("c", CONTEXT), "--answer", put("a", TRUE)),
            ],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=60,
        )

    assert done.returncode == 2
    assert done.stderr == "faithguard: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_exits_130_without_a_word(put: Files) -> None:
    """An interrupt while the answer is awaited ends quietly, as shells expect."""
    running = subprocess.Popen(
        [
            *(sys.executable, "-m", "faithguard.cli"),
            *("check", "--context", put("c", CONTEXT), "--answer", "-"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # what starts the tests may ignore it, and a process inherits that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with running:
        deadline = time.monotonic() + 30
        while running.poll() is None and time.monotonic() < deadline:
            if _waits_for_input(running.pid):
                running.send_signal(signal.SIGINT)
                break
            time.sleep(0.05)
        output = running.communicate(timeout=30)

    assert (running.returncode, *output) == (130, b"", b"")


def _waits_for_input(pid: int) -> bool:
    """Say whether the process sits in a read of its stdin; where that is unknown, give it time."""
    try:
        call = Path(f"/proc/{pid}/syscall").read_text().split()
    except OSError:
        time.sleep(3)
        return True
    return call[:2] == ["0", "0x0"]
