"""Records -> one HTML file that shows them: no script, nothing that is fetched from anywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heappushpop
from html import escape
from typing import TYPE_CHECKING

from faithguard._render._html import record_html
from faithguard._render._sheet import line
from faithguard._render._summary import summary_rows
from faithguard.stats import Tally

if TYPE_CHECKING:
    from faithguard.store import Opinion
    from faithguard.types import Record

__all__ = ["page"]

_QUESTION = 160

# Whatever a text holds, nothing runs and nothing is fetched.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76em; margin: 0 auto; padding: 1em;
  background: Canvas; color: CanvasText; overflow-wrap: anywhere; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin: 1em 0 .4em; }
table.plain { border-collapse: collapse; font-size: 14px; }
table.plain th, table.plain td { text-align: left; vertical-align: top; padding: .25em .8em .25em 0;
  border-bottom: 1px solid rgba(128, 128, 128, .3); overflow-wrap: normal; }
table.plain td:last-child { overflow-wrap: anywhere; }
article { border-top: 2px solid rgba(128, 128, 128, .5); margin-top: 2em; padding-top: 1em; }
summary { cursor: pointer; padding: .2em 0; }
:focus-visible { outline: 2px solid Highlight; outline-offset: 2px; }
@media (max-width: 45em) {
  article table, article tbody, article tr, article td { display: block; width: auto !important; }
  article thead { display: none; }
  article td { border-bottom: 0 !important; padding: .1em 0 !important; }
  article tr { border-bottom: 1px solid rgba(128, 128, 128, .4); padding: .4em 0; }
}
"""


def page(
    records: Iterable[tuple[Record, Sequence[Opinion]]], *, title: str, limit: int
) -> Iterator[str]:
    """Yield the parts of a page: figures over all records, a list, and each record.

    Args:
        records: In the order in which they are to stand, each with what people said of its
            claims. They are read once.
        title: What they are.
        limit: How many are shown at most: of more, those that did not pass before those that
            did, and later ones before earlier ones. The figures are over all.
    """
    tally, kept = Tally(), _Kept(limit)
    for record, opinions in records:
        tally.add(record.report, record.decision)
        kept.add(record, opinions)
    shown = kept.records()
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>"
        f"<h1><bdi>{escape(title)}</bdi></h1>"
    )
    yield "<h2>Figures</h2>" + _table(
        ("what", "count", "of"), ((a, b, c) for a, b, c in summary_rows(tally.summary()))
    )
    left_out = kept.seen - len(shown)
    yield f'<h2 id="records">Records</h2>{_list(shown)}'
    if left_out:
        yield f"<p><b>{left_out:,} more records are counted above and not shown.</b></p>"
    for number, record, opinions in shown:
        yield (
            f'<article id="r{number}" aria-labelledby="h{number}"><h2 id="h{number}">'
            f"{number:,} · {_word(record)}</h2>{record_html(record, opinions)}"
            '<p><a href="#records">back to the list</a></p></article>\n'
        )
    yield "</main></body></html>\n"


@dataclass(slots=True)
class _Kept:
    """The most telling of many records, without holding all of them."""

    limit: int
    seen: int = 0
    _heap: list[tuple[bool, int, Record, Sequence[Opinion]]] = field(
        default_factory=list["tuple[bool, int, Record, Sequence[Opinion]]"]
    )

    def add(self, record: Record, opinions: Sequence[Opinion]) -> None:
        self.seen += 1
        entry = (not record.decision.passed, self.seen, record, opinions)  # numbers differ
        if len(self._heap) < self.limit:
            heappush(self._heap, entry)
        else:
            heappushpop(self._heap, entry)

    def records(self) -> list[tuple[int, Record, Sequence[Opinion]]]:
        return sorted((entry[1:] for entry in self._heap), key=lambda e: e[0])


def _word(record: Record) -> str:
    return "✓ passed" if record.decision.passed else "✗ not passed"


def _list(shown: Sequence[tuple[int, Record, Sequence[Opinion]]]) -> str:
    rows = (
        (
            f'<a href="#r{number}">{number:,}</a>',
            _word(record),
            f"{record.report.supported:,} of {record.report.total:,}",
            f"<bdi>{escape(line(record.exchange.question or record.exchange.answer, _QUESTION))}"
            "</bdi>",
        )
        for number, record, _ in shown
    )
    return _table(("number", "passed", "claims supported", "question or answer"), rows, raw=True)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, raw: bool = False) -> str:
    parts = ['<table class="plain"><thead><tr>']
    parts += [f'<th scope="col">{head}</th>' for head in heads]
    parts.append("</tr></thead><tbody>")
    for row in rows:
        cells = row if raw else [escape(cell) for cell in row]
        parts.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "".join(parts) + "</tbody></table>"
