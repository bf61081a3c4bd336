"""Show a report or a record to a person.

    Report -> _sheet  (what is shown, in words) -> _terminal | _html | _listing
    Record -> _record (and what was asked, found and done)   | _page, a file for a browser

In: a Report or a Record. Out: rich renderables for a terminal, an HTML fragment for a notebook,
lines for a failed test, or a whole page.

Answers, passages and what judges say are hostile text. They are shown, never interpreted:
no markup, no tag, no terminal sequence and no invisible character in them has an effect, and
none of them, however long, takes more than its place, but in the lines, where none is cut.
"""

from faithguard._render._html import html, record_html
from faithguard._render._listing import listed
from faithguard._render._page import page
from faithguard._render._sheet import visible
from faithguard._render._terminal import record_terminal, terminal, text

__all__ = [
    "html",
    "listed",
    "page",
    "record_html",
    "record_terminal",
    "terminal",
    "text",
    "visible",
]
