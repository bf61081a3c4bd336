"""Block -> sentences.

In: the text of a block. Out: the spans of its sentences, without list markers and white space;
together they hold every letter and digit of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sentencex import get_sentence_boundaries

from faithguard.claims._plain import CITATION, ORDINAL, has_words
from faithguard.claims._verbs import has_verb
from faithguard.types import Span

_BULLET = "[•▪●◦‣·○■□➤➢→✓✔✅❌–—*+-]"
_TASK = r"\[[ xX]\]\s+"
# Several answers that were put together, as LlamaIndex's "accumulate" does.
_NUMBERED = r"(?:Response|Answer) \d{1,3}:"
MARKER = re.compile(
    rf"[ \t]*(?:(?:{_BULLET}|\(?\d{{1,3}}[.)]|\(?[a-z]\)|{_NUMBERED})\s+(?:{_TASK})?|{_TASK}|"
    r"[•▪●◦‣])\s*(?=\S)"
)
# What a number is put behind where it says which one it is: "Step 1. Open it.".
_COUNTED = (
    r"(?:steps?|schritt|étape|paso|passo|stap|phase|stage|tip|option|question|answer|frage|antwort|"
    r"[qa]|part|section|chapter|article|clause|rule|paragraph|point|item|figure|table|level|week|"
    r"day)"
)
PLACE = re.compile(r"(?<!\S)\(?(?P<number>\d{1,2})[.)]\s+(?=\w|\*\*)")
"""The number of an item in a line: "Steps: 1. Open it. 2. Close it."."""
_LISTS = re.compile(
    r"(?:s|following|below|so|this|folgende\w*|folgt|suivante?s?|siguientes?)[*_]*[:：]\s*\Z",
    re.IGNORECASE,
)
"""What a first item may stand behind in its line, also where no other has been written yet."""
_BEFORE_PLACE = re.compile(rf"\b{_COUNTED}\s*\Z", re.IGNORECASE)
_ONLY_PLACE = re.compile(
    rf"[\s*_(>#\"'“]*(?:<\w{{1,8}}>\s*)*(?:{_COUNTED}\s?)?"
    r"(?:\d{1,3}(?:\.\d{1,2}){0,3}|[IVX]{1,5}|[a-z])[.)][\s*_]*",
    re.IGNORECASE,
)
"""The number of an item, and what stands around it."""
_CLOSERS = re.compile(
    r"(?:\]\([^()\s]{0,500}\)|[ \u00a0\u202f][»›](?!\w)|[*_)\]\"'“”‘’«»‹›」』）】`~]|</\w{1,10}>)+"
)
"""What may close behind a stop; "“", "‘" and "«" do in some languages."""
_QUOTED = re.compile("[)\\]\"'“”‘’«»‹›]")
_FORMAT = r"</?[a-zA-Z][^<>]{0,300}>|(?<![^\W_])[*_]{1,3}|[*_]{1,3}(?![^\W_])"
_KEPT = rf"(?P<kept>`[^`\n]{{1,300}}`|{CITATION.pattern})"
_FORMATTED = re.compile(f"{_KEPT}|{_FORMAT}", re.IGNORECASE)
_WRAPPED = re.compile(
    rf"{_KEPT}|{_FORMAT}|\]\([^()\s]{{0,500}}\)|[\"“”„‟«»‹›()\[\]]|"
    r"(?<![^\W_])['‘’‚]|['‘’‚](?![^\W_])",
    re.IGNORECASE,
)
"""Marks around what is said; code and citations are kept as they stand."""
_PARTNERS = {")": "(", "]": "[", "”": "“„", "“": "„", "’": "‘", "‘": "‚", "»": "«", "«": "»"}
_GOES_ON_BEHIND = re.compile(r"[\W_]*(?:[a-zß-öø-ÿ]|\Z)|[,;:–—-]")
"""What a sentence goes on with behind a quotation in it."""
_BEGUN = re.compile(r"(?:[.!?…:。！？][\W_]*|\s*)\Z")
"""What stands before a quotation that begins no later than its sentence."""
_NAMED = re.compile(r"(?:[A-Z][\w'’-]*\s){0,2}[A-Z][\w'’-]*[!?]\s+[A-Z][\w'’-]*\s+[A-Z]")
"""A title with a stop in it: "Mamma Mia! Here We Go Again"."""
_WIDE_STOP = re.compile(
    r"(?<![。！？])[。！？]++[」』）】”\"]*+(?!と|って|[\s\[」』）】”\"。！？])"
)
_ONLY_CITED = re.compile(rf"(?:\s|{CITATION.pattern})+", re.IGNORECASE)
_LAST = re.compile(r"(\S+?)\s*$")
_OPENERS = re.compile(r"\A(?:<[^<>]{1,300}>|[(\"'“„«‚‘*_\[])+")
_LEADING_WORDS = (
    "approx. ca. incl. excl. bzw. ggf. evtl. inkl. exkl. zzgl. vgl. nr. fig. eq. rs. vs. cf. e.g. "
    "i.e. z.b. d.h. u.a. p.ex. p.ej. bijv. resp. núm. örn."
)
_LEADING = frozenset(_LEADING_WORDS.split())
"""Abbreviations that never end a sentence."""
_NUMBERED_WORDS = (
    "no. art. abs. sec. ch. vol. pp. p. max. min. est. jan. feb. mar. apr. jun. jul. aug. sep. "
    "sept. oct. okt. nov. dec. dez. mär. tel. par. núm. n."
)
_BEFORE_NUMBER = frozenset(_NUMBERED_WORDS.split())
"""Abbreviations that end no sentence where a number follows."""
_STARTERS = (
    "The|It|Its|This|That|These|Those|They|We|You|He|She|If|In|On|At|For|However|There|Please|"
    "But|And|Each|All|Every|When|With|A|An|As|To|Our|Your|Also|Additionally|No|Yes"
)
TIGHT = re.compile(rf"(?<=[^\W_][^\W_])[.!?](?=(?:{_STARTERS})\s)|(?<=\d)\.(?=(?:{_STARTERS})\s)")
_CONJUNCTION = re.compile(r"\s*(?:and|or|und|oder|sowie|y|et|ou|ed|en|ve)\s")
_STOPS = ".!?…。！？؟।:;"
_RUN = re.compile(r"([^\w\s])\1{7,}")
_LONGEST_PLACE = 30
"""Characters of the number of an item with what stands around it."""
_MOST_AT_ONCE = 4000
"""Characters that the splitter is given."""
_STOP_AND_SPACE = re.compile(r"[.!?]\s+(?=[A-Z])")
# Narrower text is not wrapped by an editor: its line breaks are meant.
_WRAP = 50


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a block."""

    start: int
    end: int
    item: bool
    """Whether it starts an item of a list that the block holds."""


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a block in their order."""
    found: list[Sentence] = []
    for start, end in _places(text, _lines(text)):
        marker = MARKER.match(text, start, end)
        if marker is not None and has_words(text[marker.end() : end]):
            start = marker.end()
        item = marker is not None
        for left, right in _split(text[start:end]):
            piece = _trimmed(text, start + left, start + right)
            if piece is not None:
                place = _place_before(text, *piece) if left else piece[0]
                item = item or place > piece[0]
                found.append(Sentence(place, piece[1], item))
                item = False
    return found


def _place_before(text: str, start: int, end: int) -> int:
    """Return where a sentence begins behind its place in a list that goes on in its line."""
    place = PLACE.match(text, start, end)
    return start if place is None or ORDINAL.match(text, place.end(), end) else place.end()


def _trimmed(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    if not has_words(piece):
        return None
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _lines(text: str) -> list[Span]:
    """Return the runs of lines that belong together."""
    lines: list[Span] = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line)))
        at += len(line) + 1
    width = max(len(text[start:end].strip()) for start, end in lines)
    runs: list[Span] = []
    for index, (start, end) in enumerate(lines):
        if index and not _breaks(text[slice(*lines[index - 1])], text[start:end].strip(), width):
            runs[-1] = (runs[-1][0], end)
        else:
            runs.append((start, end))
    return runs


def _breaks(before: str, after: str, width: int) -> bool:
    """Say whether a line break inside a paragraph ends what was being said."""
    line = before.strip()
    if not line or not after:
        return False
    if before.endswith(("  ", "\\")) or line.endswith(":") or MARKER.match(after):
        return True
    if line[-1] in _STOPS + ",":
        return False  # it goes on, or a stop already tells
    if after[0].islower():
        return width < _WRAP and has_verb(line) and has_verb(after)
    wrapped = width >= _WRAP and len(line) + 1 + len(after.split(None, 1)[0]) > width
    return not wrapped


def _places(text: str, runs: list[Span]) -> Iterator[Span]:
    """Cut runs before each item of an inline list: "Steps: 1. Open it. 2. Close it."."""
    for start, end in runs:
        cuts: list[int] = []
        for match in PLACE.finditer(text, start, end):
            counted = _BEFORE_PLACE.search(text, max(start, match.start() - 20), match.start())
            if int(match["number"]) == len(cuts) + 1 and not counted:
                cuts.append(match.start())
        if len(cuts) < 2 and not (cuts and _LISTS.search(text, start, cuts[0])):
            cuts = []
        yield from pairwise([start, *(cut for cut in cuts if cut > start), end])


def _split(text: str) -> Iterator[Span]:
    """Yield the sentences of one run, lossless.

    Wide stops are cut here: on them alone the splitter's time grows with the square.
    """
    wide = [match.end() for match in _WIDE_STOP.finditer(text)]
    for begin, end in pairwise([0, *(cut for cut in wide if cut < len(text)), len(text)]):
        for left, right in _narrow_split(text[begin:end]):
            yield begin + left, begin + right


def _narrow_split(text: str) -> Iterator[Span]:
    starts = _boundaries(text)
    starts |= {match.end() for match in TIGHT.finditer(text) if not _in_address(text, match)}
    begin = seen = 0
    spoken = False
    cuts = sorted({cut for cut in starts if 0 < cut < len(text)} | {len(text)})
    for cut, following in pairwise(cuts):
        if cut <= begin:
            continue
        if not text[cut - 1].isspace():
            closers = _CLOSERS.match(text, cut, following)
            cut = closers.end() if closers else cut
        spoken = spoken or has_words(text[seen:cut])
        seen = cut
        if spoken and not _goes_on(text, begin, cut, following):
            yield begin, cut
            begin, spoken = cut, False
    yield begin, len(text)


def _boundaries(text: str) -> set[int]:
    """Return where sentences begin, also those inside quotation marks, brackets and links."""
    bare = _blanked(_FORMATTED, text)
    inner = _blanked(_WRAPPED, text)
    found = {_behind_closers(text, bare, start) for start in _seen(bare)}
    if inner == bare:
        return found
    within = {_behind_closers(text, inner, start) for start in _seen(inner)}
    # a title, or an initial, that the splitter does not know behind a quotation mark
    found = {cut for cut in found if cut in within or not _after_mark(text, inner, cut)}
    for cut in sorted(within - found):
        if _ends_within(text, cut, found):
            found.add(cut)
    return found


def _blanked(marks: re.Pattern[str], text: str) -> str:
    """Return a text of the same length with blanks in the place of marks."""
    return marks.sub(lambda match: match["kept"] or " " * len(match[0]), text)


def _behind_closers(text: str, blanked: str, start: int) -> int:
    """Return where a sentence begins with its opening marks, behind what closes the one before."""
    stop = len(blanked[:start].rstrip())
    if text[stop:start] == blanked[stop:start]:
        return start
    closers = _CLOSERS.match(text, stop)
    end = closers.end() if closers else stop
    return end + len(text[end:]) - len(text[end:].lstrip())


def _after_mark(text: str, blanked: str, cut: int) -> bool:
    """Say whether the word before a place begins with a mark that was blanked."""
    last = _LAST.search(text[max(0, cut - _LONGEST_PLACE) : cut])
    if last is None:
        return False
    start = max(0, cut - _LONGEST_PLACE) + last.start()
    return text[start] != blanked[start]


def _ends_within(text: str, cut: int, known: set[int]) -> bool:
    """Say whether a sentence ends before a place that the splitter passes over in a quotation.

    One that closes with the quotation ends only if the quotation is of whole sentences.
    """
    before = text[:cut].rstrip()
    bare = before.rstrip("*_)]\"'“”‘’«»‹›`~")
    link = re.search(r"\]\([^()\s]{0,500}\)\Z", before)
    if link is not None:
        bare = before[: link.start()]
    if link is None and not _QUOTED.search(before, len(bare)):
        opened = max(bare.rfind(mark) for mark in '"“„«‹([‘‚')
        begun = max((one for one in known if one < cut), default=0)
        return _NAMED.match(text, max(opened + 1, begun)) is None
    if _GOES_ON_BEHIND.match(text, cut):
        return False
    mark = "]" if link is not None else before[len(bare)]
    opened = max(bare.rfind(one) for one in _PARTNERS.get(mark, mark))
    whole = _BEGUN.search(bare, max(0, opened - 20), max(0, opened)) is not None
    return opened >= 0 and (whole or any(opened < one < cut for one in known))


def _seen(text: str) -> set[int]:
    """Return where the splitter sees sentences begin.

    Its time grows with the square of runs of one mark, and of what it finds no stop in.
    """
    text = _RUN.sub(lambda match: "x" * (len(match[0]) - 3) + match[1] * 3, text)
    starts: set[int] = set()
    at = 0
    while at < len(text):
        end = at + _MOST_AT_ONCE
        if end < len(text):
            stops = list(_STOP_AND_SPACE.finditer(text, end - _MOST_AT_ONCE // 4, end))
            if stops:
                end = stops[-1].end()
                starts.add(end)
        piece = text[at:end]
        found = (bound["start_index"] for bound in get_sentence_boundaries("en", piece))
        starts.update(at + start for start in found if start)
        at = end
    return starts


def _in_address(text: str, match: re.Match[str]) -> bool:
    """Say whether a stop lies in a URL or a mail address."""
    token = text[max(0, match.start() - 300) : match.start()].rsplit(None, 1)[-1]
    return any(mark in token for mark in ("/", "@", "www."))


def _goes_on(text: str, begin: int, cut: int, following: int) -> bool:
    """Say whether the sentence that begins at `begin` goes on after `cut`."""
    after = text[cut:following]
    if not has_words(after) or _ONLY_CITED.fullmatch(after):
        return True
    if text[cut - 1] in "」』" and after.startswith(("と", "って")):
        return True
    tail = text[max(begin, cut - 40) : cut]
    last = _LAST.search(tail)
    if last is None:
        return True
    word = _OPENERS.sub("", last[1]).casefold()
    if word in _LEADING or (word in _BEFORE_NUMBER and re.match(r"\s*\d", after)):
        return True
    if word.endswith(".") and _CONJUNCTION.match(after):
        return True
    if re.fullmatch(r"\d{1,2}\.", word) and ORDINAL.match(after.lstrip()):
        return True
    return cut - begin < _LONGEST_PLACE and _ONLY_PLACE.fullmatch(text, begin, cut) is not None
