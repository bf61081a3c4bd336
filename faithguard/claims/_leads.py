"""Units -> units with what leads to them.

In: the units of an answer. Out: those that can be claims, each with the titles and lead-ins that
it cannot be read without: "The plan includes:" over the items of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from faithguard._denied import denies_items, lists_faults, statements_denied
from faithguard.claims._announced import stated_end
from faithguard.claims._content import title_tells
from faithguard.claims._empty import only_announces, sense_of
from faithguard.claims._finite import names_page, states_by_verb
from faithguard.claims._kinds import kind_of
from faithguard.claims._labels import is_predicate, statement_of
from faithguard.claims._plain import has_words, words_of
from faithguard.claims._units import SIGNS, Unit, depth_of
from faithguard.claims._verbs import UNSURE, has_verb, verb_at

__all__ = [
    "GENERIC",
    "announces",
    "has_title_form",
    "is_title",
    "leads_to",
    "led_units",
    "with_leads",
]

# Words of a title or a lead-in that say nothing about what comes under it.
_GENERIC_WORDS = (
    "the a an of and in on for to key main some all answer answers summary overview details "
    "detail features facts fact points point information info steps step following notes note "
    "conclusion introduction highlights here is are what i found list other more important also "
    "response"
)
GENERIC = frozenset(_GENERIC_WORDS.split())
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
# A count or a year makes no statement of a title: "Top 5 reasons", "Results of 2024".
_AMOUNT = re.compile(
    r"(?!(?:1?\d|20|(?:19|20)\d\d)\b(?![.,]\d))\d+|[€$£¥]|\d\s?(?:%|EUR|USD|GB|MB|TB|km|kg|days?|"
    r"hours?|"
    r"weeks?|months?|years?|minutes?)\b|[:=]\s*\d"
)


_MOST_LEADS = 8
"""The innermost, that a unit is read with; with all of them the claims of a list nested over and
over grow as the square of its depth."""


def announces(words: str) -> bool:
    """Say whether words end in a colon, or in one and the number of the first item."""
    return _COLON.search(words) is not None or _FIRST_PLACE.search(words) is not None


def led_units(units: list[Unit]) -> Iterator[Unit]:
    """Drop titles and lead-ins; hand lead-ins to the units that they lead to."""
    # The lead-ins in force, with the list depth of their items.
    leads: list[tuple[int, str]] = []
    denying = above = telling = ""
    """The titles in force that deny, or say, what stands under them, and the last one."""
    for index, unit in enumerate(units):
        following = units[index + 1] if index + 1 < len(units) else None
        depth = depth_of(unit)
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
        if following is not None and leads_to(unit, following):
            if _speaks(unit, following):
                yield unit
                continue
            end = stated_end(unit.source, unit.words, lists=not _tells(following.words))
            if end:
                yield _stating(unit, end)
            if following.block.kind != "code":
                level = depth_of(following)
                while leads and leads[-1][0] >= max(level, 1):
                    leads.pop()
                leads.append((level, _HERE.sub("", sense_of(unit.words))))
            continue
        lead = tuple(text for _, text in leads[-_MOST_LEADS:] if text)
        lead = lead or _from_title(unit, following, denying, telling)
        unit = replace(unit, lead=lead)
        yield _as_meant(unit, above)
        if depth == 0:
            leads.clear()
            telling = ""


def _stating(unit: Unit, end: int) -> Unit:
    """Return what a lead-in states itself as a unit of its own."""
    source = unit.source[:end]
    words = words_of(source)
    words = words if _FINAL.search(words) else f"{words}."
    return replace(unit, source=source, words=words, leading=True)


def _tells(words: str) -> bool:
    return has_verb(words) or states_by_verb(words)


def _from_title(unit: Unit, following: Unit | None, denying: str, telling: str) -> tuple[str, ...]:
    """Return the title in force as the lead-in of what it denies, or says something of."""
    if denying and _stands_under(unit, following, denying):
        return (f"{denying.rstrip('?:：. ')}:",)
    if telling and depth_of(unit) > 0 and unit.first and not has_verb(unit.words):
        return (f"{telling.rstrip('?:：. ')}:",)
    return ()


def _as_meant(unit: Unit, above: str) -> Unit:
    """Return a unit as a title, or as said after all: under "Cons" a cross says that it is bad."""
    if unit.denied and SIGNS.search(unit.block.text):
        unit = replace(unit, denied=not any(map(lists_faults, (above, *unit.lead))))
    return replace(unit, title=True) if has_title_form(unit) else unit


def _entitles(unit: Unit, following: Unit | None) -> bool:
    """Say whether a unit is the title of what comes, also one that denies it and has a verb."""
    if is_title(unit, following):
        return True
    if following is None or following.index == unit.index or unit.block.kind == "row":
        return False
    bold = unit.source.startswith(("**", "__")) and unit.source.rstrip(":").endswith(("**", "__"))
    titled = unit.block.kind == "heading" or (bold and not unit.item)
    return (
        titled
        and denies_items(unit.words)
        and not (_COLON.search(unit.words) and leads_to(unit, following))
    )


def _tells_of_items(unit: Unit, following: Unit | None) -> bool:
    """Say whether a title says of the items of a list what they are: "Items you can return"."""
    bold = unit.source.startswith(("**", "__")) and unit.source.endswith(("**", "__"))
    if unit.block.kind != "heading" and (not bold or unit.item):
        return False
    if following is None or depth_of(following) <= depth_of(unit) or following.block.kind == "row":
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


def _stands_under(unit: Unit, following: Unit | None, title: str) -> bool:
    """Say whether a title that denies what is listed under it denies a unit."""
    if not unit.first:
        return False
    if depth_of(unit) > 0:
        return unit.block.kind != "row"
    alone = following is None or following.index != unit.index
    return alone and bool(statements_denied(title, unit.words))


def _speaks(unit: Unit, following: Unit) -> bool:
    """Say whether a lead-in is worth a claim of its own rather than a place before others."""
    if following.block.kind == "code":
        return _number(unit.words)
    if depth_of(following) and (denies_items(unit.words) or is_predicate(unit.words)):
        return False  # "Not available:" over a list is no silence of the documents
    announced = _HERE.match(unit.words) or _ANNOUNCED.search(unit.words)
    return not announced and kind_of(unit.words) not in ("fact", "question", "opinion", "action")


def leads_to(unit: Unit, following: Unit) -> bool:
    """Say whether a unit only leads to the next one: "The plan includes:"."""
    if unit.block.kind == "row":
        return False
    deeper = depth_of(following) > depth_of(unit)
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
    label = unit.item and unit.first and not _tells(unit.words)
    return label or _OPEN_END.search(unit.words) is not None


def is_title(unit: Unit, following: Unit | None) -> bool:
    """Say whether a unit only names what comes: a heading, or a paragraph all in bold."""
    text = _PLACE_NUMBER.sub("", unit.words).strip()
    if unit.block.kind == "heading":
        if _COLON.search(unit.words) and following is not None and leads_to(unit, following):
            return False
        if following is None and unit.index == 0:
            return False
        if only_announces(text):
            return True
        if text.endswith(("?", "？")):
            return kind_of(text) == "question"
        return not (_has_predicate(text) or _AMOUNT.search(text) or title_tells(text))
    bold = unit.source.startswith(("**", "__")) and unit.source.rstrip(":").endswith(("**", "__"))
    if not bold or unit.item or following is None or not _below(following, unit):
        return False
    if unit.source.count("**") > 2 or _COLON.search(unit.words):
        return False
    return only_announces(text) or not (
        _has_predicate(text) or _AMOUNT.search(text) or _FINAL.search(text) or title_tells(text)
    )


def _below(following: Unit, unit: Unit) -> bool:
    """Say whether a unit stands in another block than the one before it, or on another line."""
    if following.index != unit.index:
        return True
    at = unit.block.start
    return "\n" in unit.block.text[unit.end - at : following.start - at]


def has_title_form(unit: Unit) -> bool:
    """Say whether a unit has the form of a title, and no verb or amount."""
    bold = unit.source.startswith(("**", "__")) and unit.source.endswith(("**", "__"))
    if unit.block.kind != "heading" and (not bold or unit.item):
        return False
    return not (_has_predicate(unit.words) or _AMOUNT.search(unit.words))


def _has_predicate(title: str) -> bool:
    """Say whether a title has a verb; "Returns and refunds", "Key features" have none."""
    if states_by_verb(title):
        return True
    if not has_verb(title):
        return False
    verb = verb_at(title)
    if verb is None or verb[0].casefold() not in UNSURE:
        return True
    rest = title[verb.end() :]
    return verb.start() > 0 and has_words(rest) and not names_page(verb[0], rest)


def _number(text: str) -> bool:
    return any(map(str.isdigit, text))


def with_leads(unit: Unit, words: str, *, statement: bool = False) -> str:
    """Put the lead-ins of a unit before its words, where they help them to stand alone."""
    if not unit.lead or (statement and not unit.first):
        return words
    if unit.block.kind != "row" and (stated := statement_of(unit.lead[-1], words)) is not None:
        return stated
    kept = [
        lead
        for lead in unit.lead
        if not (statement and set(re.findall(r"\w+", lead.lower())) <= GENERIC)
    ]
    return " ".join([*(lead if _COLON.search(lead) else f"{lead}:" for lead in kept), words])
