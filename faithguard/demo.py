"""What the demos of all frameworks share: a small library's leaflets, and what is shown of them.

In: a folder of texts, the bundled one by default; a framework's way to ask its engine, watched
and guarded. Out, on the terminal: the reports and what a reader gets. The model is scripted: it
is faithful on the first question, adds a detail of its own on the second, contradicts on the
third and abstains on the fourth. What is printed about its answers comes from the reports of
this very run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from faithguard.errors import ConfigError
from faithguard.guard import Reported
from faithguard.types import Passage, Report

__all__ = ["FALLBACK", "QUESTIONS", "leaflets", "reply", "show"]

FALLBACK = "I cannot answer that reliably. Please ask at the desk."

# question, first answer, answer after feedback
_SCRIPT = (
    (
        "When is the library open?",
        "The library is open from Tuesday to Saturday, 10am to 7pm. It is closed on Sundays and "
        "Mondays.",
        None,
    ),
    (
        "How many books can I borrow?",
        "You may borrow up to 8 books at a time. Books are lent for 28 days. Members of the "
        "Friends Circle also get a free tote bag.",
        "You may borrow up to 8 books at a time. Books are lent for 28 days.",
    ),
    (
        "What does a late book cost?",
        "A late book costs 0.50 euros per day. The fee for one book is never more than 6 euros.",
        "A late book costs 0.20 euros per day. The fee for one book is never more than 6 euros.",
    ),
    (
        "Is there a car park?",
        "I could not find any information about a car park.",
        None,
    ),
)

QUESTIONS = tuple(question for question, _, _ in _SCRIPT)


def leaflets(folder: Path | None = None) -> list[Passage]:
    """Read the texts to answer from.

    Args:
        folder: A folder of `.md` or `.txt` files; the bundled one by default.

    Raises:
        ConfigError: If the folder holds no such files.
    """
    folder = folder or Path(__file__).parent / "demo_corpus"
    files = sorted(f for f in folder.glob("*") if f.suffix in (".md", ".txt"))
    if not files:
        raise ConfigError(f"no .md or .txt files in {str(folder)!r}: name a folder that has some")
    return [Passage(text=f.read_text("utf-8").strip(), source=f.name) for f in files]


def reply(asked: Sequence[str]) -> str:
    """Return what the model writes: the second answer once it has been given feedback.

    Args:
        asked: The user's messages, the first of which holds one of the questions.
    """
    first, better = next((a, b) for question, a, b in _SCRIPT if question in asked[0])
    return better if better is not None and len(asked) > 1 else first


def show(
    watched: tuple[str, Sequence[Report]],
    guarded: Mapping[str, Callable[[str], Reported]],
) -> None:
    """Print the reports of a watcher, and what guards give a reader.

    Args:
        watched: How it was watched, as code, and the reports on `QUESTIONS`.
        guarded: How it is guarded, as code, and the guard.
    """
    console = Console()
    title, reports = watched
    console.print(Rule(Text(f"watched: {title}")))
    for report in reports:
        console.print(Text(f"\nQ: {report.exchange.question}", style="bold"))
        console.print(report)
        console.print(Text(f"decision: {report.decide().reason}", style="italic"))
    console.print()
    console.print(Rule("guarded: what the reader gets"))
    table = Table("question", *guarded, show_lines=True)
    for question in QUESTIONS:
        table.add_row(Text(question), *(_told(ask(question)) for ask in guarded.values()))
    console.print(table)


def _told(reported: Reported) -> Text:
    record = reported.record
    note = f"\n[{record.decision.action}, {len(record.attempts)} attempt"
    note += "s" if len(record.attempts) > 1 else ""
    return Text.assemble(str(reported.output), (f"{note}: {record.decision.reason}]", "dim"))
