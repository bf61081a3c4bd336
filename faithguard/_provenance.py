"""Which stretches of one text stand in others, however they were formatted on the way.

In: texts that were said (prompts; the words of users and models), and a text. Out: its
stretches, each with whether it was said. Texts are compared by their words, so that line
breaks, markup and the escapes of JSON and HTML do not matter. Linear in all lengths.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

__all__ = [
    "SHORTEST_CJK",
    "Brought",
    "Handed",
    "Said",
    "Stretch",
    "Wording",
    "holds",
    "shares",
    "unescaped",
    "without",
    "wordings",
]

_SHINGLE = 6
"""Words in a row that two texts must share before one counts as taken from the other."""

_TELLING = 4
"""Words in a row by which a text is known again."""

_SHORTEST = 8
SHORTEST_CJK = 3
"""Characters from which a text can assert anything; to take out a shorter one ("en", "When?")
would cut holes into what is not its own."""

_STATED, _STATED_CHARS = 5, 24
"""Words from which, or characters above which, what a tool is handed may be a statement; what is
shorter names what to look up, and what the tool says of it needs its name."""

_LONG = 12
"""Words from which a text is known by any six of them in a row."""

_CJK = "\\u0e00-\\u0eff\\u3040-\\u30ff\\u3400-\\u9fff"
_TOKEN = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])\w)+")
_UNSPACED = re.compile(rf"[{_CJK}]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_JSON_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([nrtbf])|(["/\\]))')
_MOST_LAYERS = 3
_STATES = frozenset(
    "is are was were be been am has have had can cannot could may might must shall should will "
    "would do does did not no never none nothing only always isn aren wasn weren don doesn didn "
    "won ist sind war nicht kein keine nie hat haben est sont pas jamais sin es son nunca non sono "
    "mai não são".split()
)
"""Words with which even a few state something; names and queries have none of them."""
_STATED_UNSPACED = 4
"""Signs from which a text without spaces may be a statement."""
_STOP = re.compile(r"[.!?。！？][\"'”’»)\]]*\s*$")
_ELEMENT = re.compile(r"(?:\[|[\"'],)\s*[\"']$")
_PARTS = re.compile(r"(?<!\d\.)(?<=[.!?;。！？；])\s+|\n")
_OPENS = re.compile(r"[.!?:;,\n\"'“”‘«»`()\[\]{}<>|=。！？：，]|[-*•–—]\s")
_CLOSES = re.compile(r"[.!?;\n\"'”’»`)\]}<>|。！？；]")
_LABELS = re.compile(r"[:=：]")
_LISTS = re.compile(r"[,:](?!\d)|[;|\n]")
_MOST_LABEL = 4
_LONGEST_LINE = 400
"""Characters of a line that are looked at on each side of some words."""
_NAMES_NOTHING = frozenset(
    "result results output outputs answer answers value values response content text data message "
    "input query returned echo noted saved stored you asked said ok".split()
)
"""Words beside which a value says no more than alone."""
_KEEPS = _NAMES_NOTHING | frozenset(
    "note notes memo memory item entry file line id date time".split()
)
"""Words, beside numbers, that only say which of several texts one is."""

Place = Literal["anywhere", "apart", "alone"]
"""Where what was handed over is known again: in any sentence, as one of its own or a value, or as
all that an item, a line or an element holds."""


class Stretch(NamedTuple):
    """A part of a text: from `start` to `stop`, and whether it was said."""

    start: int
    stop: int
    said: bool


class Said:
    """Texts, to be asked which stretches of another text they hold.

    A stretch of six words or more counts wherever it stands; a shorter sentence as a whole.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: dict[int, set[int]] = defaultdict(set)  # length in words -> hashes
        self._flat: list[str] = []
        for text in texts:
            for form in dict.fromkeys((text, unescaped(text))):
                tokens = _tokens(form)
                self._flat.append(_flat(tokens))
                self._runs[_SHINGLE].update(_hashes(tokens, _SHINGLE))
                for sentence in _sentences(form):
                    if len(sentence) < _SHINGLE:
                        self._runs[len(sentence)].add(hash(tuple(sentence)))

    @property
    def empty(self) -> bool:
        """Whether there are no texts at all."""
        return not self._flat

    def hold_all(self, text: str) -> bool:
        """Say whether a text that is too short to be known by a stretch stands there as a whole."""
        tokens = _tokens(text)
        whole = _flat(tokens)
        return 0 < len(tokens) < _SHINGLE and any(whole in flat for flat in self._flat)

    def stretches(self, text: str) -> Iterator[Stretch]:
        """Yield the parts of a text, in order and without gaps."""
        matches = list(_TOKEN.finditer(text))
        yield from _parts(text, matches, self.marks([m[0].casefold() for m in matches]))

    def marks(self, tokens: Sequence[str]) -> list[bool]:
        """Say of each word of a text whether it was said."""
        said = [False] * len(tokens)
        for length, hashes in self._runs.items():
            for i, run in enumerate(_hashes(tokens, length)):
                if run in hashes:
                    said[i : i + length] = [True] * length
        return said


def without(
    text: str,
    words: Iterable[str],
    *,
    written: Iterable[str] = (),
    every: bool = False,
    brought: Said | None = None,
) -> str:
    """Return a text with the words of users and models taken out.

    Each is taken out once: a passage that says the same beside it stays. Where a text does not
    stand there as a whole, its sentences are looked for.

    Args:
        text: Perhaps escaped, as a template or a dump made it.
        words: What users said.
        written: What models wrote; of these any six words in a row are taken, too.
        every: Whether each of these is taken as often as it stands there.
        brought: What came from elsewhere; what stands in the middle of a longer stretch of it
            is its own, though a model may have written the same before.
    """
    rest = _Rest(unescaped(text), brought)
    for own in sorted(words, key=len, reverse=True):
        if _asserts(own) and not rest.take(_tokens(unescaped(own))):
            for sentence in _sentences(unescaped(own)):
                rest.take(sentence)
    for own in sorted(written, key=len, reverse=True):
        whole = unescaped(own)
        found = rest.take(_tokens(whole))
        while found and every and rest.take(_tokens(whole)):
            pass
        if not found and not any([rest.take(s) for s in _sentences(whole)]):
            rest.take_runs(_tokens(whole))
    return rest.text() if any(rest.taken) else text


class Wording(NamedTuple):
    """A text that was handed over, or a sentence of it."""

    tokens: list[str]
    place: Place | None
    """Where it is known again; None if only where there is nothing else."""
    whole: bool


def wordings(text: str, *, handed: bool = True) -> Iterator[Wording]:
    """Yield a text and its sentences, as they are looked for in what another call gives back.

    Args:
        text: Of a model.
        handed: Whether it went to a tool. What was only said no tool gives back, but one that reads
            the conversation; any other one that says it, too, confirms it.
    """
    text = unescaped(text)
    parts = [part for part in _SENTENCE.split(text) if part.strip()]
    for part in dict.fromkeys([text, *parts]):
        tokens = _tokens(part)
        stops = len(parts) > 1 or _STOP.search(part) is not None
        place: Place | None = None
        if handed and _size(tokens) >= _STATED:
            place = "anywhere" if stops else "apart"
        elif handed and len(tokens) > 1:
            place = "apart" if stops or _says(part, tokens) else "alone"
        if tokens:
            yield Wording(tokens, place, handed and part == text)


class Brought:
    """What came from elsewhere so far."""

    def __init__(self) -> None:
        self._new: list[str] = []
        self._flat: list[str] = []

    def add(self, text: str) -> None:
        """Take a text; it is read when it is asked for."""
        self._new.append(text)

    def holds(self, tokens: Sequence[str]) -> bool:
        """Say whether words stand in a row in any of it."""
        self._flat += [_flat(_tokens(unescaped(text))) for text in self._new]
        self._new.clear()
        words = _flat(tokens)
        return any(words in flat for flat in self._flat)


class Handed:
    """What models handed to tools, to be taken out of what these give back.

    A tool's text is no evidence where it holds nothing but what was handed over. Else statements
    are taken out; words that were looked for and that the tool has something to say of stay.

    Args:
        here: What this call was made with, the names of tool and arguments included.
        earlier: What other calls were made with, and what models wrote beside them.
        brought: What has come from elsewhere by now; that is nobody's own.
    """

    def __init__(self, here: Iterable[str], earlier: Sequence[Wording], brought: Brought) -> None:
        self._here = list(here)
        self._earlier = earlier
        self._brought = brought

    def rest(self, text: str) -> str:
        """Return what is left of a tool's text."""
        if not text.strip() or not (self._here or self._earlier):
            return text
        rest = _Rest(unescaped(text), None)
        here = [wording.tokens for own in self._here for wording in wordings(own)]
        more = [wording.tokens for wording in self._earlier if len(wording.tokens) > 1]
        names = {wording.tokens[0] for wording in self._earlier if len(wording.tokens) == 1}
        if rest.is_all([*here, *more]):
            return ""
        pieces = [*here, *(wording.tokens for wording in self._earlier if wording.whole)]
        if rest.is_joined(pieces) and not self._brought.holds(_tokens(text)):
            return ""
        for own in sorted(self._here, key=len, reverse=True):
            plain = unescaped(own)
            if self._brought.holds(tokens := _tokens(plain)):
                continue
            if _states(own):
                rest.take_text(plain)
            elif len(tokens) > 1 and _says(plain, tokens):
                rest.take_each(tokens, "apart")
        for tokens, place, _ in self._earlier:
            if place is not None and rest.has(tokens) and not self._brought.holds(tokens):
                rest.take_each(tokens, place, names)
        rest.take_joined(pieces, but=self._brought.holds)
        long = [one.tokens for one in self._earlier if one.whole and len(one.tokens) >= _LONG]
        if long:
            rest.take_runs(*long, but=self._brought.holds)
        return rest.text() if any(rest.taken) else text


def _states(text: str) -> bool:
    """Say whether what a tool is handed may be a statement."""
    tokens = _tokens(text)
    long = len(text) > _STATED_CHARS or _size(tokens) >= _STATED
    return len(tokens) > 1 and (long or _STOP.search(text) is not None)


def _says(text: str, tokens: Sequence[str]) -> bool:
    """Say whether a few words state something, and do not only name what to look up.

    They do with a verb, a negation, or a number that is of something; "500 mg" alone is a value.
    """
    if not _STATES.isdisjoint(tokens):
        return True
    if text.strip() and _UNSPACED.match(text.strip()):
        return len(tokens) >= _STATED_UNSPACED
    numbers = [place for place, token in enumerate(tokens) if token[:1].isdigit()]
    named = any(not token[:1].isdigit() for token in tokens)
    value = numbers[:1] == [0] and _size(tokens[len(numbers) :]) <= 1
    return named and (_LABELS.search(text) is not None or (bool(numbers) and not value))


def _size(tokens: Sequence[str]) -> float:
    """Return how many words there are; those that are written without spaces have two letters."""
    return sum(0.5 if _UNSPACED.match(token) else 1 for token in tokens)


class _Rest:
    """A text from which others are being taken, but for what is in the middle of a longer run."""

    def __init__(self, text: str, brought: Said | None) -> None:
        self._text = text
        self._matches = list(_TOKEN.finditer(text))
        self._tokens = [match[0].casefold() for match in self._matches]
        self._places: dict[str, list[int]] = defaultdict(list)
        for place, token in enumerate(self._tokens):
            self._places[token].append(place)
        self.taken = [False] * len(self._tokens)
        self._runs = {} if brought is None else dict(_runs(brought.marks(self._tokens)))

    def take(self, own: list[str]) -> bool:
        """Take one occurrence; return whether there was one."""
        for place in self._places.get(own[0], ()) if own else ():
            end = place + len(own)
            if self._tokens[place:end] == own and not any(self.taken[place:end]):
                if self._within_more(place, end):
                    continue
                self.taken[place:end] = [True] * len(own)
                return True
        return False

    def has(self, own: list[str]) -> bool:
        """Say whether words stand there in a row, taken or not."""
        return any(True for _ in self._stand(own))

    def _stand(self, own: list[str]) -> Iterator[int]:
        size = len(own)
        for place in self._places.get(own[0], ()) if own else ():
            if self._tokens[place : place + size] == own:
                yield place

    def take_text(self, whole: str) -> None:
        """Take a text as often as it stands there; else its sentences, else six words in a row."""
        found = False
        while self.take(_tokens(whole)):
            found = True
        if not found and not any([self.take(s) for s in _sentences(whole)]):
            self.take_runs(_tokens(whole))

    def take_each(self, own: list[str], place: Place, names: Container[str] = frozenset()) -> None:
        """Take words as often as they stand there in a row, and in their place.

        Args:
            own: The words.
            place: Where they are known again.
            names: What was handed over, too; under such a name they say no more than it did.
        """
        for start in self._stand(own):
            stop = start + len(own)
            named = (
                start > 0
                and _LABELS.search(self._beside(start, stop)[0]) is not None
                and self._tokens[start - 1] in names
            )
            if place == "anywhere" or (
                self._ends(stop)
                and self._begins(start)
                and (place == "apart" or named or self._alone(start, stop))
            ):
                self.taken[start:stop] = [True] * len(own)

    def _begins(self, start: int) -> bool:
        """Say whether a sentence, a line or a value begins with a word."""
        return not start or _OPENS.search(self._beside(start, start + 1)[0]) is not None

    def _ends(self, stop: int) -> bool:
        """Say whether one ends before a word."""
        after = self._beside(stop - 1, stop)[1]
        return (
            stop == len(self._tokens)
            or (_CLOSES.search(after) is not None and _LABELS.search(after) is None)
            or (after.strip() in ("", ",") and self._matches[stop][0][0].isupper())
        )

    def _alone(self, start: int, stop: int) -> bool:
        """Say whether words are all that an item, a line or an element of an array holds.

        A line above others may be their title, and a value under a name belongs to that.
        """
        begin, end = self._matches[start].start(), self._matches[stop - 1].end()
        before = _PARTS.split(self._text[self._line_begin(begin) : begin])[-1]
        if _ELEMENT.search(before):
            return True
        rest = self._text[end : end + _LONGEST_LINE]
        after = "" if rest.startswith("</") else _PARTS.split(rest, maxsplit=1)[0]
        beside = [*_tokens(before), *_tokens(after)]
        if not all(token in _KEEPS or not token.isalpha() for token in beside):
            return False
        return bool(before.strip()) or not self._text[end:].strip(" \t\r\n.!?\"'`)]}")

    def _line_begin(self, place: int) -> int:
        first = max(place - _LONGEST_LINE, 0)
        return max(self._text.rfind("\n", first, place) + 1, first)

    def _beside(self, place: int, end: int) -> tuple[str, str]:
        """Return what stands between some words and those before and after them."""
        start = self._matches[place - 1].end() if place else 0
        stop = self._matches[end].start() if end < len(self._matches) else len(self._text)
        return (
            self._text[start : self._matches[place].start()],
            self._text[self._matches[end - 1].end() : stop],
        )

    def is_all(self, given: Iterable[list[str]]) -> bool:
        """Say whether there is nothing but some texts, and what only names them."""
        there = [own for own in given if self.has(own)]
        many = any(len(own) > 1 for own in there)
        return bool(there) and self._only_names(self._pieced(there), labels=many)

    def is_joined(self, pieces: Iterable[list[str]]) -> bool:
        """Say whether there is nothing but several texts, and what only names them."""
        marks = self._pieced(pieces)
        return sum(marks) > 1 and self._only_names(marks, labels=True)

    def take_joined(
        self, pieces: Iterable[list[str]], but: Callable[[Sequence[str]], bool]
    ) -> None:
        """Take the sentences and values that are made of nothing but several texts.

        A list without a verb stays: names, dates and amounts, which a tool confirms.
        """
        for begin, end in {run for _, run in _runs(self._pieced(pieces))}:
            start = next((at for at in range(begin, end) if self._begins(at)), end)
            stop = next((at for at in range(end, start, -1) if self._ends(at)), start)
            words = self._tokens[start:stop]
            if len(words) > 1 and self._tells(start, stop) and not but(words):
                self.taken[start:stop] = [True] * len(words)

    def _tells(self, start: int, stop: int) -> bool:
        """Say whether some words may be a statement, and are no list of values."""
        words = self._tokens[start:stop]
        if not _STATES.isdisjoint(words):
            return True
        text = self._text[self._matches[start].start() : self._matches[stop - 1].end()]
        return _size(words) >= _STATED and _LISTS.search(text) is None

    def _pieced(self, pieces: Iterable[list[str]]) -> list[bool]:
        """Say of each word whether it belongs to one of some texts that stands there whole."""
        marks = [False] * len(self._tokens)
        for own in pieces:
            for place in self._stand(own):
                marks[place : place + len(own)] = [True] * len(own)
        return marks

    def _only_names(self, marks: Sequence[bool], *, labels: bool) -> bool:
        """Say whether the words that are not marked only name the others."""
        left = {run for _, run in _runs([not mark for mark in marks])}
        return all(
            _NAMES_NOTHING.issuperset(self._tokens[start:stop])
            or (labels and self._labels(start, stop))
            for start, stop in left
        )

    def _labels(self, start: int, stop: int) -> bool:
        """Say whether words only say what the next ones are."""
        after = self._beside(start, stop)[1]
        return (
            stop - start <= _MOST_LABEL
            and stop < len(self._tokens)
            and _LABELS.search(after) is not None
        )

    def take_runs(
        self, *owns: list[str], but: Callable[[Sequence[str]], bool] = lambda _: False
    ) -> None:
        """Take whatever shares six words in a row with any, but for what somebody knows."""
        hashes = {run for own in owns for run in _hashes(own, _SHINGLE)}
        marks = [False] * len(self._tokens)
        for i, run in enumerate(_hashes(self._tokens, _SHINGLE)):
            if run in hashes:
                marks[i : i + _SHINGLE] = [True] * _SHINGLE
        for start, stop in {run for _, run in _runs(marks)}:
            if not self._within_more(start, stop) and not but(self._tokens[start:stop]):
                self.taken[start:stop] = [True] * (stop - start)

    def _within_more(self, start: int, stop: int) -> bool:
        run = self._runs.get(start)
        return run is not None and stop <= run[1] and run[1] - run[0] > stop - start

    def text(self) -> str:
        """Return what is left."""
        kept = (part for part in _parts(self._text, self._matches, self.taken) if not part.said)
        return "\n".join(self._text[part.start : part.stop] for part in kept)


def _runs(marks: Sequence[bool]) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield each marked place with the run that it is in."""
    start = None
    for place, marked in enumerate([*marks, False]):
        if marked and start is None:
            start = place
        elif not marked and start is not None:
            yield from ((inside, (start, place)) for inside in range(start, place))
            start = None


def _parts(text: str, matches: Sequence[re.Match[str]], said: Sequence[bool]) -> Iterator[Stretch]:
    if not any(said):
        yield Stretch(0, len(text), False)
        return
    begins = [i for i in range(len(said)) if not i or said[i] != said[i - 1]]
    for begin, end in zip(begins, [*begins[1:], len(said)], strict=True):
        start = matches[begin].start() if begin else 0
        if end == len(said):
            stop = len(text)
        elif said[begin]:
            stop = matches[end - 1].end()  # nothing of what follows was said
        else:
            stop = matches[end].start()
        yield Stretch(start, stop, said[begin])


def shares(text: str, others: Iterable[str]) -> bool:
    """Say whether a reader would know some text again: four words in a row, or all of a few."""
    tokens = _tokens(text)
    runs = {size: set(_hashes(tokens, size)) for size in range(1, _TELLING + 1)}
    for other in others:
        own = _tokens(other)
        size = min(_TELLING, len(own))
        if own and not runs[size].isdisjoint(_hashes(own, size)):
            return True
    return False


def holds(text: str, words: Iterable[str]) -> bool:
    """Say whether any of some texts stands in another, however short."""
    flat = " ".join(text.split())
    return any(" ".join(own.split()) in flat for own in words if own.strip())


def unescaped(text: str) -> str:
    """Return a text as it was before it was put into JSON (in JSON, ...), XML or HTML."""
    for _ in range(_MOST_LAYERS):
        plain = _JSON_ESCAPE.sub(_character, text) if "\\" in text else text
        plain = html.unescape(plain) if "&" in plain else plain
        if plain == text:
            break
        text = plain
    return text


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else match[3] or " "


def _asserts(text: str) -> bool:
    return len(text.strip()) >= (_SHORTEST if text.isascii() else SHORTEST_CJK)


def _sentences(text: str) -> Iterator[list[str]]:
    """Yield the words of the sentences and lines that are long enough to assert anything."""
    for sentence in _SENTENCE.split(text):
        if _asserts(sentence) and (tokens := _tokens(sentence)):
            yield tokens


def _tokens(text: str) -> list[str]:
    return [token.casefold() for token in _TOKEN.findall(text)]


def _flat(tokens: Sequence[str]) -> str:
    return f" {' '.join(tokens)} "


def _hashes(tokens: Sequence[str], length: int) -> Iterator[int]:
    for i in range(len(tokens) - length + 1):
        yield hash(tuple(tokens[i : i + length]))
