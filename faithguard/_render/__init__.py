"""Show a report to a person.

    Report -> _sheet (what is shown, in words) -> _terminal | _html

In: a Report. Out: rich renderables for a terminal, or an HTML fragment for a notebook.

Answers, passages and what judges say are hostile text. They are shown, never interpreted:
no markup, no tag, no terminal sequence and no invisible character in them has an effect, and
none of them, however long, takes more than its place.
"""

from faithguard._render._html import html
from faithguard._render._sheet import visible
from faithguard._render._terminal import terminal, text

__all__ = ["html", "terminal", "text", "visible"]
