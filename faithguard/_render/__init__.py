"""Show a report to a person.

    Report -> _sheet (what is shown, in words) -> _terminal | _html | _listing

In: a Report. Out: rich renderables for a terminal, an HTML fragment for a notebook, or lines for
a failed test.

Answers, passages and what judges say are hostile text. They are shown, never interpreted:
no markup, no tag, no terminal sequence and no invisible character in them has an effect, and
none of them, however long, takes more than its place, but in the lines, where none is cut.
"""

from faithguard._render._html import html
from faithguard._render._listing import listed
from faithguard._render._sheet import visible
from faithguard._render._terminal import terminal, text

__all__ = ["html", "listed", "terminal", "text", "visible"]
