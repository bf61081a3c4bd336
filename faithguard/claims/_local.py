"""Answer -> claims, without a model.

In: an answer, markdown or plain text, and its question. Out: claims in the order of the
answer, each with its span there, words that stand alone, and a kind.

    blocks -> sentences -> clauses -> kinds -> claims
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from faithguard._denied import (
    Boxes,
    boxes_of,
    denies_items,
    lists_faults,
    not_so,
    parted,
    retracts,
    signed_no,
    statements_denied,
    struck,
    unstruck,
)
from faithguard._polar import agrees, asked, denies, echoes, led, wavers
from faithguard.claims._attribution import attribution_end, without_attribution
from faithguard.claims._blocks import Block, blocks, cells
from faithguard.claims._clauses import Clause, clauses
from faithguard.claims._content import title_tells
from faithguard.claims._json import ANSWER_KEYS, leaves
from faithguard.claims._kinds import form_of, is_absence, is_formula, is_polar, kind_of
from faithguard.claims._labels import statement_of
from faithguard.claims._plain import (
    CITATION,
    citations,
    code_in,
    has_words,
    in_plain_letters,
    words_of,
)
from faithguard.claims._references import (
    announces_pages,
    announces_sources,
    name_of_pointer,
    name_of_source,
    names_source,
    with_links,
)
from faithguard.claims._sentences import Sentence, sentences
from faithguard.claims._service import addresses_asked
from faithguard.claims._verbs import UNSURE, has_verb, verb_at
from faithguard.types import Claim, Kind

# Words of a title or a lead-in that say nothing about what comes under it.
_GENERIC_WORDS = (
    "the a an of and in on for to key main some all answer answers summary overview details "
    "detail features facts fact points point information info steps step following notes note "
    "conclusion introduction highlights here is are what i found list other more important also "
    "response"
)
_GENERIC = frozenset(_GENERIC_WORDS.split())
_HERE = re.compile(r"^(?:here|below|these|the following) (?:is|are) (?=\S)", re.IGNORECASE)
_ANNOUNCED = re.compile(r"\b(?:as follows|the following|below)\W*$", re.IGNORECASE)
_COLON = re.compile(r"[:：][^\w:：]*$")
# "Steps: 1." is not all of a list.
_FIRST_PLACE = re.compile(r"[:：]\s*\(?1[.)]$")
_PLACE_NUMBER = re.compile(
    r"^(?:(?:step|section|chapter|part|option|day|phase|question|q|item|no|nr)\.?\s*)?"
    r"\(?[\dIVX]{1,3}(?:\.\d{1,2}){0,4}[.):]?(?=\s|$)",
    re.IGNORECASE,
)
_FINAL = re.compile(r"[.!?。！？…][^\w.!?。！？…]*$")
_OPEN_END = re.compile(
    r"\b(?:following|includes?|are|is|contains?|offers?|provides?|supports?|requires?)$",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"(?:yes|no|yep|nope|ja|nein|s[ií]|oui|non|no|sim|n[aã]o|nee|evet|hayır|はい|いいえ|是的?|不是|否|"
    r"نعم|لا|हाँ|हां|नहीं|correct|true|false|indeed)",
    re.IGNORECASE,
)
# "The answer is 50 EUR": the question says of what.
_ANSWERED = re.compile(
    r"(?:(?:the|my|your) )?(?:(?:correct|final|short|right|exact) )?answer(?: to (?:your|the|this) "
    r"question)?(?: is|:) |die antwort (?:lautet|ist):? |la respuesta es:? |la r[eé]ponse est:? |"
    r"la risposta è:? |a resposta é:? |het antwoord is:? ",
    re.IGNORECASE,
)
# "Yes, it is." says what "Yes." says.
_ECHO = re.compile(
    r"(?:(?P<yes>yes|yep|yeah)|(?P<no>no|nope)),? (?:it|they|he|she|you|we|i|there|this|that|these|"
    r"those) "
    r"(?:is|are|was|were|does|do|did|has|have|can|could|will|would|may|must|should|am)"
    r"(?(no)(?:n['’]t|not| not))[.!]*",
    re.IGNORECASE,
)
# An answer of signs alone, to a question.
_SIGNS = re.compile("[❌✗✘✖❎👎🚫⛔🙅☒☐]\ufe0f?")
_AGREES = re.compile("[👍✅✔✓☑👌🆗💯⭕🙆]")
_DISAGREES = re.compile("[👎❌✗✘✖❎🚫⛔🙅]")
_REQUEST = re.compile(
    r"\W*(?:please |hi,? |hello,? )*(?:can|could|will|would) you\b|.*\bplease\b", re.IGNORECASE
)
"""A question that asks for a deed."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
# Three plain words or more between a capital and a stop: its verb is one that no list knows.
_PHRASE = (
    r"(?:A|An|The|In|On|At|By|For|From|With|Only|About|No|Not|Under|Over|Between|After|Before|"
    r"Up|Until|Every|Each|All|Some|Any|Both|Almost|Nearly|More|Less|Most|Yes)\b"
)
_PAYS = (
    r"(?:pay|cost|carry|carries|get|hold|seat|fit|take|charge|earn|receive|save|need|last|weigh|"
    r"sell|owe|total|span|average|rise|fall|drop|grow|lose|win|use|keep|house|host|employ|draw)s?"
)
# Sentences whose verb is in no list: by their form, or by a verb before an amount.
_SENTENCE = re.compile(
    rf"(?!{_PHRASE})"
    r"(?:[A-Z][a-z]+|(?:[A-Z][\w'’-]+ ){2,3}[a-z'’-]+)(?: (?!and\b|or\b|of\b)[a-z'’-]+){2,}[.!]|"
    rf"(?:(?:A|An|The|Each|Every|All) )?(?!{_PHRASE})[A-Za-z][\w'’-]*(?: [\w'’-]+){{0,3}} {_PAYS} "
    r"(?:up to |about |at least |only |just )?[€$£]?\d.*[.!]"
)
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# A count or a year makes no statement of a title: "Top 5 reasons", "Results of 2024".
_AMOUNT = re.compile(
    r"(?!(?:1?\d|20|(?:19|20)\d\d)\b(?![.,]\d))\d+|[€$£¥]|\d\s?(?:%|EUR|USD|GB|MB|TB|km|kg|days?|"
    r"hours?|"
    r"weeks?|months?|years?|minutes?)\b|[:=]\s*\d"
)
_NEAR = 10
"""Claims after a title in which its words are looked for."""
_MOST_CONTENT = 2000
_MOST_SIGNS = 100
_LONGEST_FRAGMENT = 8
"""In words."""
_LONGEST_CJK_FRAGMENT = 12
"""In characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """A sentence, title or row on its way to claims."""

    start: int
    end: int
    source: str
    words: str
    block: Block
    index: int
    """Of the block."""
    first: bool
    """Whether it starts a block or an item."""
    item: bool
    """Whether it is, or is part of, an item of a list."""
    lead: tuple[str, ...] = ()
    title: bool = False
    """Whether it is a title that says something without a verb."""
    denied: bool = False
    """Whether it is crossed out, by a sign or by a stroke."""
    names: str = ""
    """The source that it names, and of which it says nothing."""
    points: bool = False
    """Whether it names it for further reading, not as what was said comes from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A claim without its id."""

    start: int
    end: int
    text: str
    kind: Kind
    fragment: bool = False
    """Whether it needs the question to say something."""
    short: str = ""
    """What then follows the question."""
    denied: bool = False
    """Whether its words are not so."""
    title: bool = False
    """Whether it is a title that says something without a verb."""
    cites: tuple[tuple[str, int], ...] = ()
    """The passages that it cites, each with the words for which it does."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A sentence, title, row or block of code of an answer; code is where it starts."""

    start: int
    end: int
    leads: bool
    """Whether it only leads to what comes next, so far as that can be seen."""
    joined: bool
    """Whether it says nothing without what comes next."""
    row: bool


def stretches(answer: str) -> list[Stretch]:
    """Return what an answer is split into before its claims are made, in its order."""
    answer = _SURROGATES.sub("\ufffd", answer)
    units = list(_units(in_plain_letters(answer)))
    found: list[Stretch] = []
    for number, unit in enumerate(units, 1):
        following = units[number] if number < len(units) else None
        row = unit.block.kind == "row"
        leads = not row and (
            unit.block.kind == "heading"
            or _COLON.search(unit.words) is not None
            or _FIRST_PLACE.search(unit.words) is not None
            or _names(unit)
            or (following is not None and _leads(unit, following))
            or _is_title(unit, following)
        )
        bare = _YES_NO.fullmatch(unit.words.rstrip(".!。！ ,")) is not None
        found.append(Stretch(unit.start, unit.end, leads, leads or bare, row))
    return found


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sentence, item or row of an answer is read with."""

    lead: tuple[str, ...]
    """The lead-ins that it stands under."""
    header: tuple[str, ...]
    """The head of its table."""
    denied: bool
    """Whether it is crossed out, by a sign or by a stroke."""
    depth: int = field(compare=False)
    """How many lists it lies in."""


def readings(answer: str, begin: int) -> list[Reading]:
    """Return how the sentences, items and rows are read that end behind a place, in order."""
    answer = _SURROGATES.sub("\ufffd", answer)
    return [
        Reading(unit.lead, unit.block.header, unit.denied, _depth(unit))
        for unit in _led(list(_units(in_plain_letters(answer))))
        if unit.end > begin
    ]


class LocalClaims:
    """Split an answer by its markup, its sentences and closed lists of words.

    Needs no model, and gives the same claims each time.
    """

    @property
    def name(self) -> str:
        """`name@version`: part of every report."""
        return "local-claims@5"

    def extract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims of an answer, in its order."""
        answer = _SURROGATES.sub("\ufffd", answer)  # the sentence splitter takes UTF-8 only
        found = _in_json(answer)
        if found is None:
            found = _in_text(answer)
        if not found and CITATION.fullmatch(answer.strip()):
            # Where nothing else is said, a number in brackets is no citation.
            start = len(answer) - len(answer.lstrip())
            text = answer.strip()
            found = [
                _Found(start=start, end=start + len(text), text=text, kind="fact", fragment=True)
            ]
        asks = (question or "").strip()
        found = _asked(_parted(found, asks, answer), asks) or _signed(answer, question)
        return [
            Claim(
                id=f"c{number}",
                text=not_so(one.text) if one.denied else one.text,
                span=(one.start, one.end),
                kind=one.kind,
                cites=one.cites,
                code=code_in(answer[one.start : one.end]) if one.kind == "fact" else (),
            )
            for number, one in enumerate(found, 1)
        ]

    async def aextract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Do the same without blocking the event loop."""
        return await asyncio.to_thread(self.extract, answer, question)


def _in_text(answer: str) -> list[_Found]:
    answer = in_plain_letters(answer)
    units = list(_with_sources(_units(answer)))
    found = [claim for unit in _led(units) for claim in _claims(unit)]
    return _without_repeated_titles(_retracted(found, answer))


def _retracted(found: list[_Found], answer: str) -> list[_Found]:
    """Join what is said with the verdict behind it: "Tea heals. This is false."."""
    kept: list[_Found] = []
    for one in found:
        last = kept[-1] if kept else None
        if last is None or one.kind not in ("fact", "courtesy", "opinion"):
            kept.append(one)
        elif last.kind == "question" and _settles_asked(one, answer[last.end : one.start]):
            said = "No." if retracts(one.text) else one.short or one.text
            text = f"{last.text} {said}"
            kept[-1] = replace(last, kind="fact", end=one.end, text=text, cites=one.cites)
        elif last.kind == "fact" and has_verb(last.text) and _takes_back(one, last):
            text = last.text[:-1] + "." if last.text.endswith("?") else last.text
            cites = (*last.cites, *one.cites)
            kept[-1] = replace(
                last, end=one.end, text=text, denied=True, fragment=False, cites=cites
            )
        else:
            kept.append(one)
    return kept


def _settles_asked(one: _Found, between: str) -> bool:
    """Say whether a sentence is the answer to the question before it in the same paragraph."""
    bare = retracts(one.text) or agrees(one.text) or denies(one.text)
    return bare and "\n\n" not in between


def _takes_back(one: _Found, last: _Found) -> bool:
    return retracts(one.text) and not (agrees(last.text) or denies(last.text) or last.denied)


def _without_repeated_titles(found: list[_Found]) -> list[_Found]:
    """Drop a title whose words a sentence near it says as well."""
    kept: list[_Found] = []
    for index, one in enumerate(found):
        words = _content(one.text) if one.title else frozenset[str]()
        near = found[index + 1 : index + 1 + _NEAR]
        if words and any(
            other.kind == "fact" and not other.title and words <= _content(other.text)
            for other in near
        ):
            continue
        kept.append(one)
    return kept


def _content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text[:_MOST_CONTENT].casefold())) - _GENERIC


def _signed(answer: str, question: str | None) -> list[_Found]:
    """Return what a thumb or a tick says of a question."""
    text, asked = answer.strip(), (question or "").strip()
    if not text or not asked or has_words(answer) or len(text) > _MOST_SIGNS:
        return []
    agrees, disagrees = _AGREES.search(text), _DISAGREES.search(text)
    if not (agrees or disagrees):
        return []
    said = text if agrees and disagrees else "Yes." if agrees else "No."
    start = len(answer) - len(answer.lstrip())
    return [_Found(start=start, end=start + len(text), text=f"{asked} {said}", kind="fact")]


def _in_json(answer: str) -> list[_Found] | None:
    """Return the claims of an answer that is JSON: its leaves, after their keys."""
    held = leaves(answer)
    if held is None:
        return None
    found: list[_Found] = []
    for leaf in held:
        lead = [key for key in leaf.keys if has_words(key)]
        bare = not lead or {key.lower().replace(" ", "_") for key in lead} <= ANSWER_KEYS
        for one in _in_text(_SURROGATES.sub("\ufffd", leaf.text)):
            text = ": ".join([*lead, one.text]) if one.kind == "fact" else one.text
            start, end = leaf.places[one.start], leaf.places[one.end]
            found.append(
                replace(one, start=start, end=end, text=text, fragment=one.fragment and bare)
            )
    return found


def _units(answer: str) -> Iterator[_Unit]:
    """Yield what can be a claim, and titles and lead-ins."""
    strokes, signs = struck(answer), boxes_of(answer)
    for index, block in enumerate(blocks(answer)):
        found = (
            [Sentence(0, len(block.text), False)] if block.kind == "row" else sentences(block.text)
        )
        item = block.item
        signed = _signed_no(block, found, signs)
        at = block.start
        own = [(start - at, end - at) for start, end in strokes]
        for number, sentence in enumerate(found):
            source, crossed = unstruck(block.text, sentence.start, sentence.end, own)
            words = words_of(_SIGNS.sub("", source) if signed[number] else source)
            if not has_words(words):
                continue
            item = item or sentence.item
            yield _Unit(
                start=block.start + sentence.start,
                end=block.start + sentence.end,
                source=source,
                words=words,
                block=block,
                index=index,
                first=number == 0 or sentence.item,
                item=item,
                denied=crossed != signed[number],
            )
        if block.kind == "code":
            yield _Unit(
                start=block.start,
                end=block.start,
                source="",
                words="",
                block=block,
                index=index,
                first=True,
                item=False,
            )


def _with_sources(units: Iterable[_Unit]) -> Iterator[_Unit]:
    """Yield units, those that only name a source of what is said before them as such."""
    told = listed = pointing = False
    for unit in units:
        pointed = name_of_pointer(unit.words) or (unit.words if pointing and unit.item else "")
        entry = name_of_source(unit.words) or (unit.words if listed else "")
        if announces_pages(unit.words):
            pointing, listed = True, False
        elif pointed and names_source(pointed):
            unit = replace(unit, names=with_links(pointed, unit.source), points=True)
        elif announces_sources(unit.words):
            listed, pointing = told, False
        elif told and entry and names_source(entry):
            unit = replace(unit, names=with_links(entry, unit.source))
        elif unit.block.kind == "heading":
            listed = pointing = False
        else:
            pointing = False
            told = told or (unit.block.kind == "row" or kind_of(unit.words) == "fact")
        yield unit


def _signed_no(block: Block, found: list[Sentence], signs: Boxes) -> list[bool]:
    """Say of each sentence of a block whether a sign says no to it."""
    no = [False] * len(found)
    if block.kind == "row":
        return no
    begin = 0
    for number in range(1, len(found) + 1):
        # each line, or item, has its own signs
        if number < len(found) and "\n" not in _between(block, found, number):
            continue
        group = found[begin:number]
        start = block.text.rfind("\n", 0, group[0].start) + 1
        end = block.text.find("\n", group[-1].end)
        line = block.text[start : end if end >= 0 else len(block.text)]
        spans = [(one.start - start, one.end - start) for one in group]
        no[begin:number] = signed_no(line, spans, signs)
        begin = number
    return no


def _between(block: Block, found: list[Sentence], number: int) -> str:
    return block.text[found[number - 1].end : found[number].start]


def _led(units: list[_Unit]) -> Iterator[_Unit]:
    """Drop titles and lead-ins; hand lead-ins to the units that they lead to."""
    # The lead-ins in force, with the list depth of their items.
    leads: list[tuple[int, str]] = []
    denying = above = telling = ""
    """The titles in force that deny, or say, what stands under them, and the last one."""
    for index, unit in enumerate(units):
        following = units[index + 1] if index + 1 < len(units) else None
        depth = _depth(unit)
        while leads and leads[-1][0] > depth:
            leads.pop()
        if unit.block.kind == "code":
            leads.clear()
            continue
        tells = _tells_of_items(unit, following)
        if tells or _entitles(unit, following):
            leads.clear()
            above = unit.words
            denying = above if denies_items(above) else ""
            telling = above if tells and not denying else ""
            continue
        if following is not None and _leads(unit, following):
            if _speaks(unit, following):
                yield unit
            elif following.block.kind != "code":
                level = _depth(following)
                while leads and leads[-1][0] >= max(level, 1):
                    leads.pop()
                leads.append((level, _HERE.sub("", unit.words)))
            continue
        lead = tuple(text for _, text in leads) or _from_title(unit, following, denying, telling)
        unit = replace(unit, lead=lead)
        yield _as_meant(unit, above)
        if depth == 0:
            leads.clear()
            telling = ""


def _from_title(
    unit: _Unit, following: _Unit | None, denying: str, telling: str
) -> tuple[str, ...]:
    """Return the title in force as the lead-in of what it denies, or says something of."""
    if denying and _stands_under(unit, following, denying):
        return (f"{denying.rstrip('?:：. ')}:",)
    if telling and _depth(unit) > 0 and unit.first and not has_verb(unit.words):
        return (f"{telling.rstrip('?:：. ')}:",)
    return ()


def _as_meant(unit: _Unit, above: str) -> _Unit:
    """Return a unit as a title, or as said after all: under "Cons" a cross says that it is bad."""
    if unit.denied and _SIGNS.search(unit.block.text):
        unit = replace(unit, denied=not any(map(lists_faults, (above, *unit.lead))))
    return replace(unit, title=True) if _names(unit) else unit


def _entitles(unit: _Unit, following: _Unit | None) -> bool:
    """Say whether a unit is the title of what comes, also one that denies it and has a verb."""
    if _is_title(unit, following):
        return True
    if following is None or following.index == unit.index or unit.block.kind == "row":
        return False
    bold = unit.source.startswith(("**", "__")) and unit.source.rstrip(":").endswith(("**", "__"))
    titled = unit.block.kind == "heading" or (bold and not unit.item)
    return (
        titled
        and denies_items(unit.words)
        and not (_COLON.search(unit.words) and _leads(unit, following))
    )


def _tells_of_items(unit: _Unit, following: _Unit | None) -> bool:
    """Say whether a title says of the items of a list what they are: "Items you can return"."""
    bold = unit.source.startswith(("**", "__")) and unit.source.endswith(("**", "__"))
    if unit.block.kind != "heading" and (not bold or unit.item):
        return False
    if following is None or _depth(following) <= _depth(unit) or following.block.kind == "row":
        return False
    if has_verb(following.words) or _COLON.search(unit.words):
        return False
    return _OF_ITEMS.fullmatch(_PLACE_NUMBER.sub("", unit.words).strip()) is not None


_OF_ITEMS = re.compile(
    r"(?:what|(?:(?:the|all|our) )?(?:[\w-]+ ){1,3}(?:that|which|who|you|we|they)) "
    r"(?:(?:you|we|they) )?"
    r"(?:is|are|can|cannot|can['’]t|may|must|do|does|don['’]t|doesn['’]t|have|has)\b[^.!?:;]{0,60}|"
    r"(?:(?:the|all|our) )?(?:currently |not |un)?(?:supported|available|included|accepted|covered|"
    r"allowed|permitted|eligible|refundable|returnable|required|compatible|insured)"
    r"(?: [\w-]+){0,3}",
    re.IGNORECASE,
)


def _stands_under(unit: _Unit, following: _Unit | None, title: str) -> bool:
    """Say whether a title that denies what is listed under it denies a unit."""
    if not unit.first:
        return False
    if _depth(unit) > 0:
        return unit.block.kind != "row"
    alone = following is None or following.index != unit.index
    return alone and bool(statements_denied(title, unit.words))


def _speaks(unit: _Unit, following: _Unit) -> bool:
    """Say whether a lead-in is worth a claim of its own rather than a place before others."""
    if following.block.kind == "code":
        return _number(unit.words)
    announces = _HERE.match(unit.words) or _ANNOUNCED.search(unit.words)
    return not announces and kind_of(unit.words) not in ("fact", "question", "opinion", "action")


def _depth(unit: _Unit) -> int:
    """Return how deep in lists a unit lies; a row or an item in a paragraph lies in one."""
    return unit.block.depth + (
        1 if unit.block.kind == "row" or (unit.item and not unit.block.item) else 0
    )


def _leads(unit: _Unit, following: _Unit) -> bool:
    """Say whether a unit only leads to the next one: "The plan includes:"."""
    if unit.block.kind == "row":
        return False
    deeper = _depth(following) > _depth(unit)
    if _COLON.search(unit.words):
        return (
            deeper
            or following.block.kind == "code"
            or (not has_verb(following.words) and following.block.kind != "heading")
        )
    if not deeper or following.index == unit.index or _FINAL.search(unit.words):
        return False
    if any(map(str.isdigit, unit.words)):
        return False
    label = unit.item and unit.first and not has_verb(unit.words)
    return label or _OPEN_END.search(unit.words) is not None


def _is_title(unit: _Unit, following: _Unit | None) -> bool:
    """Say whether a unit only names what comes: a heading, or a paragraph all in bold."""
    text = _PLACE_NUMBER.sub("", unit.words).strip()
    if unit.block.kind == "heading":
        if _COLON.search(unit.words) and following is not None and _leads(unit, following):
            return False
        if following is None and unit.index == 0:
            return False
        if text.endswith(("?", "？")):
            return kind_of(text) == "question"
        return not (_has_predicate(text) or _AMOUNT.search(text) or title_tells(text))
    bold = unit.source.startswith(("**", "__")) and unit.source.rstrip(":").endswith(("**", "__"))
    if not bold or unit.item or following is None or following.index == unit.index:
        return False
    if unit.source.count("**") > 2 or _COLON.search(unit.words):
        return False
    return not (
        _has_predicate(text) or _AMOUNT.search(text) or _FINAL.search(text) or title_tells(text)
    )


def _names(unit: _Unit) -> bool:
    """Say whether a unit has the form of a title, and no verb or amount."""
    bold = unit.source.startswith(("**", "__")) and unit.source.endswith(("**", "__"))
    if unit.block.kind != "heading" and (not bold or unit.item):
        return False
    return not (_has_predicate(unit.words) or _AMOUNT.search(unit.words))


def _has_predicate(title: str) -> bool:
    """Say whether a title has a verb; "Returns and refunds", "Key features" have none."""
    if not has_verb(title):
        return False
    verb = verb_at(title)
    if verb is None or verb[0].casefold() not in UNSURE:
        return True
    return verb.start() > 0 and has_words(title[verb.end() :])


def _number(text: str) -> bool:
    return any(map(str.isdigit, text))


def _claims(unit: _Unit) -> Iterator[_Found]:
    """Yield the claims of one unit."""
    if unit.names:
        yield _Found(
            start=unit.start,
            end=unit.end,
            text=f"{'See' if unit.points else 'Source'}: {unit.names}",
            kind="meta",
            cites=citations(unit.source),
        )
        return
    if unit.block.kind == "row":
        text = _lead_text(unit, unit.block.said or row_text(unit.source, unit.block.header))
        yield _Found(
            start=unit.start,
            end=unit.end,
            text=text,
            kind="fact",
            cites=citations(unit.source),
            denied=unit.denied,
        )
        return
    listed = parted(unit.words)
    if len(listed) > 1 and not unit.lead:
        yield from _items_denied(unit, listed)
        return
    whole = kind_of(unit.words)
    reached = "" if whole != "fact" or unit.denied else addresses_asked(unit.words)
    if reached:
        # the rest is a request
        yield _Found(start=unit.start, end=unit.end, text=reached, kind="fact")
        return
    pieces = _pieces(unit.source, form_of(unit.words) if whole == "fact" else whole)
    for index, clause in enumerate(pieces):
        source = unit.source[clause.start : clause.end]
        if not has_words(source):
            continue
        start = unit.start + clause.start + len(source) - len(source.lstrip())
        words = unit.words if len(pieces) == 1 else words_of(source)
        if clause.subject:
            words = f"{words_of(clause.subject)} {words}"
        kind = whole if len(pieces) == 1 else kind_of(words)
        short = ""
        if kind == "fact":
            words = words if index else without_attribution(words)
            echo = _ECHO.fullmatch(words)
            words = f"{echo['yes'] or echo['no']}." if echo else words
            answered = None if unit.lead else _ANSWERED.match(words)
            short = words[answered.end() :] if answered else words
            polar = agrees(words) or denies(words) or wavers(words)
            short = short if polar or (not has_verb(short) and _short(short)) else ""
        fragment = kind == "fact" and not (unit.lead or listed) and bool(short)
        if kind == "fact":
            words = _lead_text(unit, words, statement=has_verb(words))
        end = start + len(source.strip())
        if unit.denied and len(pieces) == 1:
            start, end = unit.start, unit.end  # with the marks that cross it out
        yield _Found(
            start=start,
            end=end,
            text=words,
            kind=kind,
            fragment=fragment,
            short=short or words,
            title=unit.title,
            cites=citations(source) if kind == "fact" else (),
            denied=unit.denied and kind == "fact",
        )


def _items_denied(unit: _Unit, items: tuple[str, ...]) -> Iterator[_Found]:
    """Yield a claim for each item of "Excluded: a, b and c"."""
    title = unit.words.partition(":")[0].strip()
    at = unit.source.find(":") + 1
    for item in items:
        found = unit.source.find(item, at)
        begin, end = (found, found + len(item)) if found >= 0 else (0, len(unit.source))
        at = max(at, end if found >= 0 else at)
        yield _Found(
            start=unit.start + begin,
            end=unit.start + end,
            text=f"{title}: {item}",
            kind="fact",
            cites=citations(unit.source),
            denied=unit.denied,
        )


def _pieces(source: str, kind: Kind) -> list[Clause]:
    """Return the clauses of a sentence; "According to the context, " is part of its first."""
    if kind == "courtesy" and is_formula(words_of(source)):
        return [Clause(0, len(source))]
    begin = attribution_end(source) if kind == "fact" else 0
    if not begin:
        return clauses(source, kind)
    return [
        replace(one, start=one.start + begin if number else 0, end=one.end + begin)
        for number, one in enumerate(clauses(source[begin:], kind))
    ]


def row_text(source: str, header: tuple[str, ...]) -> str:
    """Return a table row as words: "Plan: Basic; Fee: 5 EUR"."""
    parts: list[str] = []
    for index, cell in enumerate(cells(source)):
        words = words_of(cell)
        name = words_of(header[index]) if index < len(header) else ""
        if words:
            parts.append(f"{name.rstrip(':')}: {words}" if has_words(name) else words)
    return "; ".join(parts)


def _lead_text(unit: _Unit, words: str, *, statement: bool = False) -> str:
    """Put the lead-ins of a unit before its words, where they help them to stand alone."""
    if not unit.lead or (statement and not unit.first):
        return words
    if unit.block.kind != "row" and (stated := statement_of(unit.lead[-1], words)) is not None:
        return stated
    kept = [
        lead
        for lead in unit.lead
        if not (statement and set(re.findall(r"\w+", lead.lower())) <= _GENERIC)
    ]
    return " ".join([*(lead if _COLON.search(lead) else f"{lead}:" for lead in kept), words])


def _short(words: str) -> bool:
    """Whether words without a known verb are few enough to be a fragment, and look like one."""
    if _CJK.search(words):
        return len(words) <= _LONGEST_CJK_FRAGMENT
    return len(words.split()) <= _LONGEST_FRAGMENT and not _SENTENCE.fullmatch(words)


def _parted(found: list[_Found], question: str, answer: str) -> list[_Found]:
    """Make two claims of "No, it is closed.": its no says something of what was asked."""
    first = next((index for index, one in enumerate(found) if one.kind == "fact"), None)
    if first is None or not question or not is_polar(question, said=True):
        return found
    one = found[first]
    if echoes(question, one.text):
        found[first] = replace(one, fragment=True, short=one.text)
        return found
    both = None if _bare_polar(one.text) else led(one.text)
    if both is None:
        return found
    put = f"{asked(question)} {one.text}"
    source = answer[one.start : one.end]
    inside = led(source)
    if _depends(both.rest) or inside is None or not inside.start:
        return [*found[:first], replace(one, text=put, fragment=False), *found[first + 1 :]]
    end = one.start + len(source[: inside.start].rstrip())
    polar = replace(one, end=end, text=put, fragment=False, cites=())
    rest = replace(
        one,
        start=one.start + inside.start,
        text=_JOINS.sub("", both.rest),
        kind=kind_of(both.rest),
        fragment=False,
    )
    return [*found[:first], polar, rest, *found[first + 1 :]]


_JOINS = re.compile(r"^(?:and|but|so|however|though),?\s+", re.IGNORECASE)


def _bare_polar(text: str) -> bool:
    return agrees(text) or denies(text) or wavers(text)


# "if you are a member": no statement of its own.
_HANGS = re.compile(
    r"(?:but |and |though )?(?:only |not |just )?(?:if|unless|when|provided|providing|as long as|"
    r"except|only|because|since|as|wenn|falls|nur|außer|si|sauf|salvo|solo|sólo|se|tranne|exceto)\b",
    re.IGNORECASE,
)


def _depends(rest: str) -> bool:
    """Whether what stands beside a yes or a no says nothing without the question."""
    if _HANGS.match(rest) or not (_CJK.search(rest) or " " in rest):
        return True
    return not has_verb(rest) and _short(rest)


def _asked(found: list[_Found], question: str) -> list[_Found]:
    """Let the question speak where the answer alone does not.

    A fragment takes the question where it is the first fact ("Berlin."), or where all facts
    are fragments (a bare list of cities). An answer that tells nothing but that the documents
    are silent is an abstention.
    """
    facts = [index for index, one in enumerate(found) if one.kind == "fact"]
    if not question:
        return _glued(found)
    if not facts and is_polar(question):
        found = [
            replace(one, kind="fact", text=f"{asked(question)} {one.text}")
            if _settles(one, question)
            else one
            for one in found
        ]
        if any(one.kind == "fact" for one in found):
            return found
    if not facts:
        return [
            replace(one, kind="abstention") if one.kind == "meta" and is_absence(one.text) else one
            for one in found
        ]
    found = [
        replace(one, fragment=False) if one.fragment and _repeats(one.text, question) else one
        for one in found
    ]
    all_fragments = all(found[index].fragment for index in facts)
    return [
        replace(one, text=_put(question, one.short or one.text))
        if one.fragment and (all_fragments or index == facts[0])
        else one
        for index, one in enumerate(found)
    ]


def hangs(answer: str, question: str | None) -> bool | None:
    """Say whether how the end of an answer is read hangs on what follows it.

    A second fragment takes the question only if no sentence comes, and a courtesy answers one
    only if no fact does.

    Args:
        answer: As far as it is written, to the end of a sentence, an item or a row.
        question: What was asked.

    Returns:
        None if nothing that follows can change how any of it is read.
    """
    asks = (question or "").strip()
    answer = _SURROGATES.sub("\ufffd", answer)
    found = _parted(_in_text(answer), asks, answer)
    facts = [one for one in found if one.kind == "fact"]
    if not asks:
        waits = len(found) == 1 and _YES_NO.fullmatch(found[0].text.rstrip(".!。！ ,")) is not None
        return waits if waits or not found else None
    if not facts:
        return is_polar(asks) and any(_settles(one, asks) for one in found)
    if not all(one.fragment and not _repeats(one.text, asks) for one in facts):
        return None
    return len(facts) > 1


def _put(question: str, said: str) -> str:
    """Return a question and what was said to it as one text."""
    if _bare_polar(said) or echoes(question, said):
        return f"{asked(question)} {said}"
    return statement_of(question, said) or f"{question} {said}"


def _settles(one: _Found, question: str) -> bool:
    """Whether a courtesy answers a question: "Of course.", but not to "Can you tell me ...?"."""
    if denies(one.text) or wavers(one.text):
        return True
    return agrees(one.text) and _REQUEST.match(question) is None


def _repeats(text: str, question: str) -> bool:
    """Whether words say again what was asked about, so that they stand without the question."""
    said, asked = ({w[:5] for w in _LONG_WORD.findall(t.casefold())} for t in (text, question))
    return len(said & asked) > 1


def _glued(found: list[_Found]) -> list[_Found]:
    """Join a bare "Yes." with the sentence after it, since there is no question to go with."""
    if len(found) < 2 or found[1].kind != "fact":
        return found
    first, second = found[0], found[1]
    if not _YES_NO.fullmatch(first.text.rstrip(".!。！ ,")):
        return found
    joined = replace(second, start=first.start, text=f"{first.text} {second.text}")
    return [joined, *found[2:]]
