"""The command line: check an answer, score files, compare two, show what was recorded, train.

In: files and options. Out: a report on stdout, errors on stderr, and an exit code that a
script can act on: 0 the answer passed, 1 it did not, 2 bad input or a failure.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, ParamSpec, TextIO, cast

import typer

from faithguard.errors import ConfigError, FaithguardError, MissingExtraError, UnfaithfulAnswerError
from faithguard.train._command import train_command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from rich.console import RenderableType

    from faithguard.stats import PairBy
    from faithguard.types import Decision, Passage, Record, Report

__all__ = ["app", "main"]

_P = ParamSpec("_P")

_NOT_PASSED = 1
_FAILED = 2
_INTERRUPTED = 130

_DEMOS = "faithguard.demos"
_BOM = b"\xef\xbb\xbf"
_LONGEST = 600  # characters of a message
_BAD_TOLD = 5  # bad lines of a file that stderr names, where another file names all
_REFUSED_TOLD = 100

app = typer.Typer(
    name="faithguard",
    help="Check that an answer says only what its context says.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        app(prog_name="faithguard")
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _version(asked: bool) -> None:
    if asked:
        from faithguard import __version__

        typer.echo(f"faithguard {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Check that an answer says only what its context says."""


def _orderly(command: Callable[_P, int]) -> Callable[_P, None]:
    """Exit with what `command` returns, and turn what it raises into one line and a code."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            code = command(*args, **kwargs)
        except typer.Exit:
            raise
        except KeyboardInterrupt:
            raise typer.Exit(_INTERRUPTED) from None
        except UnfaithfulAnswerError as held:
            _complain(str(held))
            code = _NOT_PASSED
        except FaithguardError as error:
            _complain(str(error))
            code = _FAILED
        except Exception as error:
            _complain(
                f"unexpected {type(error).__name__}: {error}",
                " (FAITHGUARD_DEBUG=1 shows the traceback)",
            )
            code = _FAILED
        raise typer.Exit(code)

    return run


def _complain(message: str, hint: str = "") -> None:
    """Say on one line of stderr what is wrong; with FAITHGUARD_DEBUG=1 also where."""
    from faithguard._render import visible

    if os.environ.get("FAITHGUARD_DEBUG", "") not in ("", "0"):
        import traceback

        traceback.print_exc()
    line = " ".join(visible(message).split())
    if len(line) > _LONGEST:
        line = f"{line[:_LONGEST]}... {len(line) - _LONGEST:,} more characters"
    _note(f"{line}{hint}")


def _note(line: str) -> None:
    if sys.stderr is None:
        return
    with _pipe(sys.stderr):
        print(f"faithguard: {line}", file=sys.stderr, flush=True)


@contextmanager
def _pipe(stream: TextIO) -> Generator[None]:
    """Let a reader that went away, as `head` does, neither be heard nor change the exit code."""
    try:
        yield
    except OSError as error:
        # Python flushes the stream once more at exit; what is left in it must go somewhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise ConfigError(f"the output cannot be written: {error.strerror}") from error


def _print(text: str) -> None:
    if sys.stdout is None:  # closed by the caller, who wants the exit code only
        return
    with _pipe(sys.stdout):
        sys.stdout.write(text)
        sys.stdout.flush()


# check


@app.command()
@_orderly
def check(
    context: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="A passage of context; may be given several times."),
    ],
    answer: Annotated[str, typer.Option(metavar="FILE", help="The answer; - reads stdin.")],
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The question that was answered.")
    ] = None,
    domain: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose thresholds decide: medical, legal, support, ..."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="A TOML file with thresholds of your own.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="An LLM for what is in doubt; OPENAI_API_KEY has its key."
        ),
    ] = None,
    judge_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The judge's server, if it is not OpenAI's."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report and the decision as JSON.")
    ] = False,
) -> int:
    """Check an answer against its context. Exit 0: it passed; 1: it did not; 2: bad input."""
    from faithguard.policy import Policy

    rules = Policy.for_domain(domain, file=Path(policy) if policy is not None else None)
    passages = [_passage(file) for file in context]
    text = _stdin() if answer == "-" else _read(answer, "answer")
    from faithguard.guard import check as check_answer  # late: bad input is told at once
    from faithguard.scorer import named_scorer

    scorer = named_scorer(judge, judge_url)
    report = check_answer(text, passages, question=question, scorer=scorer)
    # Not given to `check`, which does not know the domains of the policy file.
    report = replace(report, exchange=replace(report.exchange, domain=rules.domain))
    decision = report.decide(rules)
    _print(_as_json(report, decision) if as_json else _as_text(report, decision))
    return 0 if decision.passed else _NOT_PASSED


def _passage(file: str) -> Passage:
    from faithguard.types import Passage

    if file == "-":
        raise ConfigError("'-' reads stdin for --answer only; name a file for --context")
    return Passage(text=_read(file, "context"), source=os.fsencode(file).decode(errors="replace"))


def _read(file: str, what: str) -> str:
    try:
        data = Path(file).read_bytes()
    except IsADirectoryError:
        raise ConfigError(f"{what} {file!r} is a directory; name a file in it") from None
    except FileNotFoundError:
        raise ConfigError(f"{what} file {file!r} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{what} file {file!r} cannot be read ({reason}); name a file that can"
        ) from error
    return _decoded(data, f"{what} file {file!r}")


def _stdin() -> str:
    return _decoded(_stdin_bytes("the answer", " for --answer").read(), "the answer on stdin")


def _stdin_bytes(what: str = "exchanges", option: str = "") -> BinaryIO:
    if sys.stdin is None:
        raise ConfigError(f"stdin is closed; pipe {what} in, or name a file{option}")
    return sys.stdin.buffer


def _decoded(data: bytes, name: str) -> str:
    skipped = len(_BOM) if data.startswith(_BOM) else 0
    try:
        return data[skipped:].decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start + skipped
        source = "UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "CP1252"
        raise ConfigError(
            f"{name} is not UTF-8: byte {place} is 0x{data[place]:02x}; convert it, "
            f"if it is {source} with: iconv -f {source} -t UTF-8"
        ) from None


def _as_json(report: Report, decision: Decision) -> str:
    from faithguard.types import to_json

    both = json.loads(report.to_json()) | {"decision": json.loads(to_json(decision))}
    return json.dumps(both) + "\n"


def _as_text(report: Report, decision: Decision) -> str:
    from faithguard._render import terminal

    return _page(terminal(report, decision))


def _page(parts: Iterable[RenderableType]) -> str:
    from rich.console import Console

    # In memory, since rich would end the process with a code of its own when a reader goes away.
    stdout = sys.stdout
    encoding = "utf-8" if stdout is None else stdout.encoding
    page = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(file=page, force_terminal=(stdout is not None and stdout.isatty()) or None)
    for part in parts:
        console.print(part)
    page.seek(0)
    return page.read()


# score


@app.command()
@_orderly
def score(
    exchanges: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON lines, gzip too; - reads stdin."),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="Takes a record for each line.")
    ],
    domain: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Whose thresholds decide, whatever the lines name."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="A TOML file with thresholds of your own.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="An LLM for what is in doubt; OPENAI_API_KEY has its key."
        ),
    ] = None,
    judge_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The judge's server, if it is not OpenAI's."),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, help="Worker processes; 0: one for each core.")
    ] = 1,
    rejects: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Takes bad lines, each with its number and the reason."),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Begin anew and replace what OUT holds.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> int:
    """Score a file of exchanges. The same command goes on where a run was interrupted.

    Each line is an object with an answer, a question and its context, named as RAGAS, DeepEval
    or faithguard do. Exit 0: every answer passed; 1: one did not; 2: a bad line, or a
    check that failed, as where the judge cannot be reached.
    """
    from rich.console import Console

    from faithguard._render._summary import Bar, summary_table
    from faithguard.exchanges import CONTEXT
    from faithguard.files import rejects_path, score_file
    from faithguard.types import to_json

    if out == "-":
        raise ConfigError("-o - is no file: a run that can go on needs one; name it")
    source = _stdin_bytes() if exchanges == "-" else exchanges
    with Bar(Console(stderr=True)) as bar:
        try:
            summary = score_file(
                source,
                out,
                domain=domain,
                policy=policy,
                judge=judge,
                judge_url=judge_url,
                jobs=jobs or _cores(),
                rejects=rejects,
                restart=restart,
                watch=bar,
            )
        except KeyboardInterrupt:
            bar.close()
            _complain(f"interrupted after line {bar.lines:,}; the same command goes on from there")
            raise
    _note(bar.told())
    if summary.stating and summary.outcomes.get("no_context") == summary.stating:
        _note(f"no line has a context, which is looked for in {', '.join(CONTEXT)}")
    if summary.bad:
        _tell_bad(summary.bad, Path(rejects) if rejects else rejects_path(out))
    _print(to_json(summary) + "\n" if as_json else _page([summary_table(summary)]))
    unchecked = sum(summary.outcomes.get(outcome, 0) for outcome in ("failed", "incomplete"))
    if unchecked:
        _complain(
            f"{unchecked:,} {'answer lacks' if unchecked == 1 else 'answers lack'} verdicts, since "
            "a check failed; the same command keeps them as they are, --restart asks again"
        )
    if summary.bad or unchecked:
        return _FAILED
    return 0 if summary.passed == summary.stating else _NOT_PASSED


def _cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _tell_bad(count: int, file: Path) -> None:
    """Say which lines were bad, and why: the first ones, and where the others are."""
    with file.open(encoding="ascii") as rows:
        for row in islice(rows, _BAD_TOLD):
            bad = json.loads(row)
            _complain(f"line {bad['line']:,}: {bad['reason']}")
    more = f"{count - _BAD_TOLD:,} more bad lines are" if count > _BAD_TOLD else "bad lines are"
    _complain(f"{more} in {str(file)!r}, with the reasons")


# gate


@app.command()
@_orderly
def gate(
    baseline: Annotated[
        str, typer.Argument(metavar="BASELINE", help="Records of the earlier answers.")
    ],
    current: Annotated[
        str, typer.Argument(metavar="CURRENT", help="Records of answers to the same questions.")
    ],
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What pairs them: id or question, if not what pairs more."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Of comparisons without a change that pass.")
    ] = 0.95,
    markdown: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Takes the same for the comment of a pull request."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> int:
    """Say whether answers got less faithful by more than chance.

    Both files hold records, as `faithguard score` and JSON lines sinks write them. Exit 0: they
    did not; 1: they did; 2: the files cannot be compared, or what is missing could hide a drop.
    """
    from faithguard._render._comparison import comparison_markdown, comparison_page
    from faithguard.files import read_records
    from faithguard.stats import compare
    from faithguard.types import to_json

    if os.path.realpath(baseline) == os.path.realpath(current):
        raise ConfigError(f"{baseline!r} is both files: a file is never worse than itself")
    found = compare(
        read_records(baseline),
        read_records(current),
        by=cast("PairBy | None", by),
        confidence=confidence,
    )
    if markdown is not None:
        _write(markdown, [comparison_markdown(found)], read=(baseline, current))
    _print(to_json(found) + "\n" if as_json else _page(comparison_page(found)))
    return {"held": 0, "worse": _NOT_PASSED, "unknown": _FAILED}[found.verdict]


# show, report, store

_FROM = typer.Option(
    "--store",
    metavar="FILE",
    help="A store or a file of records; FAITHGUARD_STORE or your own store if not given.",
)


@app.command()
@_orderly
def show(
    id: Annotated[
        str,
        typer.Argument(metavar="ID", help="Of the exchange, its beginning will do; or last."),
    ] = "last",
    store: Annotated[str | None, _FROM] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> int:
    """Show a recorded answer with its claims, attempts and context."""
    from faithguard._recorded import one_of
    from faithguard._render import record_terminal

    record, opinions = one_of(store, id)
    _print(record.to_json() + "\n" if as_json else _page(record_terminal(record, opinions)))
    return 0


@app.command()
@_orderly
def report(
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page; - prints it.")],
    records: Annotated[
        str | None,
        typer.Argument(metavar="RECORDS", help="A store or a file of records; else your store."),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only this exchange; as show takes it.")
    ] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only answers that did not pass.")
    ] = False,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only records with it.")] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Records that are shown; figures are of all.")
    ] = 200,
) -> int:
    """Write recorded answers as one HTML file, which needs nothing else to be read."""
    from faithguard._recorded import one_of, records_in
    from faithguard._render import page

    def wanted(record: Record) -> bool:
        left_out = failed and record.decision.passed
        return not left_out and (tag is None or tag in record.exchange.tags)

    chosen = records_in(records, wanted) if id is None else [one_of(records, id)]
    title = f"faithguard: {os.path.basename(records) if records else 'recorded answers'}"
    parts = page(chosen, title=title, limit=limit)
    if out == "-":
        _print("".join(parts))
    else:
        _write(out, parts, read=(records,) if records else ())
        _note(f"written to {out!r}")
    return 0


def _write(file: str, parts: Iterable[str], *, read: Sequence[str]) -> None:
    """Write a file of recorded texts, which are for its owner; a file that fails is as it was.

    Args:
        file: To be written.
        parts: Its text.
        read: The files that this is made of.
    """
    if any(os.path.exists(file) and os.path.samefile(file, one) for one in read):
        raise ConfigError(f"{file!r} is what is read: name another file to write to")

    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    try:
        target = os.path.realpath(file)
        if os.path.islink(target):
            raise ConfigError(f"{file!r} is a link that leads to itself: name another file")
        # a pipe or a device is written to as it is
        whole = not os.path.exists(target) or os.path.isfile(target)
        place = f"{target}.{os.getpid()}.part" if whole else target
        try:
            with open(place, "w", encoding="utf-8", errors="replace", opener=private) as stream:
                stream.writelines(parts)
            if whole:
                os.replace(place, target)
        except BaseException:
            if whole and os.path.exists(place):
                os.unlink(place)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{file!r} cannot be written ({reason}); name another file") from error


_store = typer.Typer(help="Carry records out of a store, into one, or away.", no_args_is_help=True)
app.add_typer(_store, name="store")

_STORE = typer.Option(
    "--store", metavar="FILE", help="The store; FAITHGUARD_STORE or your own if not given."
)


@_store.command("export")
@_orderly
def export_command(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="JSON lines; - prints them.")
    ] = "-",
    store: Annotated[str | None, _STORE] = None,
) -> int:
    """Write all records as JSON lines, with what was said of them."""
    from faithguard._recorded import exported
    from faithguard.store import Store

    with Store(store) as opened:
        if out == "-":
            for line in exported(opened):
                _print(line)
        else:
            _write(out, exported(opened), read=(str(opened.path),))
    return 0


@_store.command("import")
@_orderly
def import_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON lines of records.")],
    store: Annotated[str | None, _STORE] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Who gave its labels, if they do not say; else the file's name."
        ),
    ] = None,
) -> int:
    """Add the records of a file to a store, and labels to those that are there already.

    A line that is no record of a check is named and left out. Exit 0: there is none; 2: there is.
    """
    from faithguard._recorded import imported
    from faithguard.store import Store

    told = 0

    def refuse(number: int, reason: str) -> None:
        nonlocal told
        told += 1
        if told <= _REFUSED_TOLD:
            _complain(f"line {number:,}: {reason}")

    with Store(store, read_only=False) as opened:
        done = imported(file, opened, refuse, author=by)
        labels = f"; {_are(done.labels, 'label')} new"
        _note(
            f"{_records(done.added)} added to {str(opened.path)!r}, "
            f"{done.there:,} {'was' if done.there == 1 else 'were'} there already"
            f"{labels if done.labels else ''}"
        )
    if not done.refused:
        return 0
    lines = "1 line was" if done.refused == 1 else f"{done.refused:,} lines were"
    _complain(f"{lines} left out of {file!r}; `faithguard score` makes records of exchanges")
    return _FAILED


@_store.command("prune")
@_orderly
def prune_command(
    days: Annotated[
        float | None, typer.Option(metavar="N", min=0, help="Records older than this go.")
    ] = None,
    megabytes: Annotated[
        float | None, typer.Option(metavar="N", min=1, help="The oldest go until all take less.")
    ] = None,
    store: Annotated[str | None, _STORE] = None,
) -> int:
    """Delete old records, and what was said of them, for good."""
    from datetime import UTC, datetime, timedelta

    from faithguard.store import Store

    if days is None and megabytes is None:
        raise ConfigError("nothing says what is old: name --days, --megabytes or both")
    before = None if days is None else datetime.now(UTC) - timedelta(days=days)
    most = None if megabytes is None else int(megabytes * 2**20)
    with Store(store) as there:  # a typo makes no new one
        path = there.path
    gone = 0
    with Store(path, read_only=False) as opened:
        while step := opened.prune(before=before, max_bytes=most):
            gone += step
    _note(f"{_records(gone)} deleted from {str(path)!r}")
    return 0


def _are(count: int, what: str) -> str:
    return f"{count:,} {what} is" if count == 1 else f"{count:,} {what}s are"


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


# demo


@app.command()
@_orderly
def demo(
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of text files to ask about, instead of ours."),
    ] = None,
    framework: Annotated[
        str, typer.Option(metavar="NAME", help="The framework to show.")
    ] = "langchain",
) -> int:
    """Run a small RAG chain and watch what faithguard says of its answers."""
    if corpus is not None and not corpus.is_dir():
        raise ConfigError(f"--corpus {str(corpus)!r} is not a folder; name one with text files")
    entry = _demo(framework)
    try:
        code = entry.load()(corpus=corpus)
    except ModuleNotFoundError as error:
        package = framework.replace("-", "_")
        if (error.name or "").partition(".")[0] in (package, f"{package}_core"):
            raise MissingExtraError(framework) from error
        raise
    return code if isinstance(code, int) else 0


def _demo(framework: str) -> EntryPoint:
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=_DEMOS)}
    if framework not in found:
        known = ", ".join(sorted(found)) or "none; reinstall faithguard"
        raise ConfigError(f"no demo for the framework {framework!r}; known: {known}")
    return found[framework]


# ui


@app.command()
@_orderly
def ui(
    store: Annotated[str | None, _STORE] = None,
    port: Annotated[
        int, typer.Option(metavar="N", help="Where to listen on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    label: Annotated[
        bool, typer.Option("--label", help="Let the page write what you say of verdicts.")
    ] = False,
) -> int:
    """Show recorded answers on a page of this machine, until Ctrl-C."""
    from faithguard.ui import Server

    with Server(store, port=port, label=label) as server:
        _note(f"showing {str(server.store.path)!r} until Ctrl-C; the address is a key to it:")
        _print(f"{server.url}\n")
        try:
            server.wait()
        except KeyboardInterrupt:
            _note("the page is closed")
    return 0


# train

app.command("train")(_orderly(train_command))


if __name__ == "__main__":
    main()
