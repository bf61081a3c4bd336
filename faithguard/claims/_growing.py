"""An answer that is still being written -> the units of it that are over.

In: its text, in pieces cut anyhow. Out: `Unit`s in its order; joined they are the text, and they
are the same however it is cut. A unit is a sentence, an item of a list, a row of a table or a
block of code, with the white space before it and with what only leads to it: a heading, "The
plan includes:", the head of a table.

A unit is over once the next word after it is there: then abbreviations, numbers and citations
behind a full stop can be told. A few words that begin an answer are one unit with what follows
them, where that says whether they are read with the question. Each place where one may end is
looked at once, on the text up to that word and from the beginning of its line; what is over is
not split again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from faithguard.claims._local import Stretch, stretches
from faithguard.claims._plain import CITATION, has_words
from faithguard.claims._sentences import TIGHT

__all__ = ["TABLE_RULE", "GrowingAnswer", "Unit"]

_PLACE = re.compile(r"[.!?…؟।。！？]+|\r\n?|\n")
_WIDE = frozenset("。！？")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_WORD = re.compile(r"\w+")
_MARKER = re.compile(r"(?:\d{1,3}|[^\W\d_])[.)]")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] |\d{1,3}[.)] )?[ \t]*(`{3,}|~{3,})[ \t]*([^\s`]*)[ \t]*")
_PROSE_FENCES = frozenset({"markdown", "md"})
_JSON = re.compile(r"\s*(?:\{|\[\s*[\"{\[])")
_OPENS = "«‹„‚“"
_MARKS = _OPENS + "»›”‟‘’\"'`´([*_~"
"""What may open a quotation, code or emphasis; the first do nothing else."""
_ENDS = re.compile(
    rf"(?:[.!?…؟।。！？][\"'`´“”’»›」』）】)*_~\]]*(?:\s*{CITATION.pattern})*|"
    r"[|\n][ \t]*\r?\n)\s*\Z",
    re.IGNORECASE,
)
"""What stands at the end of a text that ends in a sentence, a paragraph or a row."""
_TARGET = re.compile(r"\]\([^()\s]{0,500}(?:\)|\Z)")
_OPEN_LINK = re.compile(r"\]\([^)\s]*\Z")
TABLE_RULE = re.compile(r"^[ \t>]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t:-]*$", re.MULTILINE)
"""The line under the head of a table."""
_BRACKETS = {"[": "]", "【": "】"}
_LONGEST_CITATION = 100
_LONGEST_WAIT = 600
"""Characters of a bare list, or of pleasantries, that are held until it is clear what they say."""
_LONGEST_LINE = 1_500
"""Characters of a line that are read again to see where its next sentence ends."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of an answer that is released, or not, as a whole."""

    text: str
    leads: tuple[int, ...] = ()
    """Where in it each heading, lead-in or head of a table ends that only leads to the rest."""
    whole: bool = True
    """Whether it has ended; else it is what was held when that became too much."""

    @property
    def lead(self) -> int:
        """Of its characters, how many at its beginning only lead to the rest."""
        return self.leads[-1] if self.leads else 0


class GrowingAnswer:
    """The part of an answer that is not over yet.

    Args:
        most: Characters that are held at most.
        hangs: Says of an answer up to the end of a unit whether how that is read hangs on what
            follows: then they are one unit. None once that can no longer be.
    """

    def __init__(self, most: int, hangs: Callable[[str], bool | None] = lambda _: None) -> None:
        self._most = most
        self._hangs: Callable[[str], bool | None] | None = hangs
        """None once no unit hangs on another."""
        self._over = ""
        """The units so far, as long as one may."""
        self._text = ""
        """From the beginning of the line, or of the table, in which what is held begins."""
        self._done = 0
        """Where that begins."""
        self._at = 0
        """Where to look for the next place at which a unit may end."""
        self._line = 0
        """Where the line begins that holds it."""
        self._fence = ""
        """The mark that closes the code in which it lies."""
        self._json: bool | None = None
        self._pauses = False
        """Whether what comes next is not waited for."""

    @property
    def held(self) -> str:
        """What is held."""
        return self._text[self._done :]

    @property
    def holds(self) -> bool:
        """Whether anything is held but white space."""
        return bool(self.held.strip())

    def add(self, piece: str) -> Iterator[Unit]:
        """Take a piece, and yield the units that are over."""
        self._text += piece
        while (unit := self._next()) is not None:
            yield unit

    def paused(self) -> Unit | None:
        """Return the first unit of what is held, if it is over for all that can be seen.

        It is where it is followed by the beginning of another, or would be if one began here:
        the end of a sentence, a row or a paragraph, but no abbreviation, and nothing that only
        leads to what comes next.
        """
        if self._json or (self._json is None and _JSON.match(self._text)):
            return self.rest() if _is_json(self._text) else None
        more = "\n" if self._fence else "It " if _begins(self._text) else " It "
        ahead = copy(self)
        ahead._pauses = True
        ahead._text += more
        unit = ahead._next()
        if unit is None or not unit.whole or len(unit.text) > len(self.held):
            return None
        rest = self.held[len(unit.text) :]
        ended = _ENDS.search(self.held) and not _OPEN_LINK.search(self.held)
        if not (rest.strip() or self._fence or ended):
            return None
        vars(self).update(vars(ahead))
        self._pauses = False
        self._text = self._text.removesuffix(more)
        self._at = min(self._at, len(self._text))
        return unit

    def rest(self, *, whole: bool = True) -> Unit | None:
        """Return all that is held as a unit; None if nothing is.

        Args:
            whole: Whether the answer ends here.
        """
        if self._done == len(self._text):
            return None
        over = [one for one in stretches(self._text) if one.end > self._done]
        return self._taken(len(self._text), over, whole=whole)

    # -- where a unit ends ------------------------------------------------------------------------

    def _next(self) -> Unit | None:
        limit = self._done + self._most
        while (place := _PLACE.search(self._text, self._at)) is not None:
            if self._fence or self._json:
                if place.end() > limit:
                    break
                closes = self._passed(place)
                if closes and has_words(self._text[self._done : place.start()]):
                    return self._taken(place.start())
                continue
            word = _next_word(self._text, place.end())
            if word is None or word[1] > limit:
                break
            if self._json is None:
                self._json = _JSON.match(self._text) is not None
                continue
            unit = self._ended(place, *word)
            if unit is not None:
                return unit
            self._passed(place)
        return self._taken(limit, whole=False) if len(self._text) >= limit else None

    def _passed(self, place: re.Match[str]) -> bool:
        """Go on behind a place; return whether it ends a line that closes code."""
        self._at = place.end()
        if place[0][0] not in "\r\n":
            return False
        fence = _FENCE.fullmatch(self._text, self._line, place.start())
        self._line = place.end()
        if fence is None:
            return False
        if not self._fence:
            self._fence = "" if fence[2].lower() in _PROSE_FENCES else fence[1]
            return False
        closes = fence[1].startswith(self._fence) and not fence[2]
        self._fence = "" if closes else self._fence
        return closes

    def _ended(self, place: re.Match[str], word: int, seen: int) -> Unit | None:
        """Return the unit that ends at a place, if one does.

        Args:
            place: A stop, or the end of a line.
            word: Where the next word begins.
            seen: Up to where the text is looked at.
        """
        if not has_words(self._text[self._done : place.start()]):
            return None
        between = self._text[place.end() : word]
        if not (
            place[0].isspace()
            or any(map(str.isspace, between))
            or not _WIDE.isdisjoint(place[0])
            or TIGHT.match(self._text, place.end() - 1)
        ):
            return None
        found = stretches(self._text[:seen])
        if not found or found[-1].start < place.end():
            return None
        over = [one for one in found[:-1] if self._done < one.end <= found[-1].start]
        if not over or (over[-1].leads if self._pauses else over[-1].joined):
            return None
        end = _before_mark(self._text, place.end(), over[-1].end)
        return None if self._waits(end) else self._taken(end, over)

    def _waits(self, end: int) -> bool:
        """Say whether what ends at a place is read as what comes next says."""
        if self._hangs is None or self._pauses or end - self._done > _LONGEST_WAIT:
            return False
        hangs = self._hangs(self._over + self._text[self._done : end])
        if hangs is None:
            self._hangs = None
        return hangs is True

    def _taken(self, end: int, over: Sequence[Stretch] = (), *, whole: bool = True) -> Unit:
        """Return what is held up to a place, and hold what comes after it."""
        unit = Unit(self._text[self._done : end], self._leads(over), whole)
        self._over = "" if self._hangs is None else self._over + unit.text
        row = bool(over) and over[-1].row
        if row and (rules := [*TABLE_RULE.finditer(self._text, 0, end)]):
            return self._row_taken(unit, rules[-1].end(), end)
        keep = 0 if row else max(self._text.rfind(mark, 0, end) for mark in "\r\n") + 1
        if end - keep > _LONGEST_LINE and not row:
            keep = end
        self._text = self._text[keep:]
        self._done = end - keep
        self._at = max(self._at - keep, self._done)
        self._line = max(self._line - keep, 0)
        return unit

    def _row_taken(self, unit: Unit, head: int, end: int) -> Unit:
        """Hold what comes after a row, and keep of its table the head."""
        self._text = self._text[:head] + self._text[end:]
        self._at = max(self._at - (end - head), head)
        self._done = self._line = head
        return unit

    def _leads(self, over: Sequence[Stretch]) -> tuple[int, ...]:
        """Return where in what is held that ends which only leads to the rest."""
        first = next((place for place, one in enumerate(over) if not one.leads), None)
        if first is None:
            return ()
        ends = [one.end for one in over[:first]]
        if over[first].row:
            line = self._text.rfind("\n", 0, over[first].start)
            lead = ends[-1] if ends else self._done
            if line > lead and has_words(self._text[lead:line]):
                ends.append(line)  # the head of its table
        return tuple(end - self._done for end in ends)


def _begins(text: str) -> bool:
    """Say whether a word that is put to the end of a text is a new one."""
    return text.rstrip(_MARKS)[-1:].isspace()


def _before_mark(text: str, begin: int, end: int) -> int:
    """Return where a sentence ends that is followed by a mark whose partner is not there yet.

    Args:
        text: Of which the mark may be taken for one that closes the sentence.
        begin: Where its stop ends.
        end: Where the mark ends, if there is one.
    """
    bare = text[begin:end].rstrip(_MARKS)
    mark = text[begin + len(bare) : end]
    opens = mark[:1] in _OPENS or not text[end : end + 1].isspace()
    return begin + len(bare.rstrip()) if mark and opens and bare[-1:].isspace() else end


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _next_word(text: str, at: int) -> tuple[int, int] | None:
    """Return where the next word begins, and up to where one must read to know it.

    Citations and addresses of links are none, and a number that marks an item is one with what
    comes after it. None if that is not there yet.
    """
    begin = None
    while at < len(text):
        sign = text[at]
        if text.startswith("](", at):
            target = _TARGET.match(text, at)
            if target is not None and target.end() == len(text):
                return None  # it goes on
            at = at + 2 if target is None else target.end()
        elif sign in _BRACKETS:
            after = _citation_end(text, at)
            if after is None:
                return None
            at = after
        elif sign == "_" or not _WORD.match(sign):
            at += 1
        elif _UNSPACED.match(sign):
            begin = at if begin is None else begin
            return (begin, at + 2) if at + 2 <= len(text) else None
        else:
            word = _WORD.match(text, at)
            begin = at if begin is None else begin
            if word is None or word.end() == len(text):
                return None
            marker = _MARKER.match(text, at)
            if marker is None:
                return begin, word.end() + 1
            at = marker.end()
    return None


def _citation_end(text: str, at: int) -> int | None:
    """Return where a citation ends; the next place if there is none, None if that is open."""
    close = text.find(_BRACKETS[text[at]], at, at + _LONGEST_CITATION)
    if close < 0:
        return at + 1 if len(text) >= at + _LONGEST_CITATION else None
    if close + 1 == len(text):
        return None  # it may be a link
    cited = CITATION.match(text, at)
    return at + 1 if cited is None else cited.end()
