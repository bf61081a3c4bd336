"""A sentence that denies a statement as a whole -> the statement.

In: the words of a sentence, a title or an item, of an answer or of a passage. Out: what is denied
by a frame ("It is a myth that X"), a label ("Myth: X", "Not covered: X"), a verdict behind it ("X
is a myth", "X – this is wrong.") or a sign ("X ❌"). What is said of the statement itself, "X is
not so", is no such frame. Closed lists, in English; signs are of no language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

__all__ = [
    "Boxes",
    "all_denied",
    "boxes_of",
    "denied_in",
    "denies_items",
    "is_negative",
    "lists_faults",
    "negated",
    "not_so",
    "parted",
    "retracts",
    "signed_no",
    "statements_denied",
    "struck",
    "unstruck",
]

_NOT_SO = "It is not true that "
"""Before a statement that a sign denies."""

_LONGEST = 600
_LONGEST_TITLE = 100
_MOST_ITEMS = 12

_HOW = (
    r"(?:(?:simply|completely|totally|entirely|absolutely|just|plainly|actually|really|also|"
    r"clearly|definitely|quite|of course|in fact|therefore|all|both) )*"
)
_FALSE = (
    r"(?:false|untrue|wrong|incorrect|inaccurate|mistaken|erroneous|fictitious|nonsense|"
    r"unfounded|baseless|bogus|debunked|(?:not|n['’]t) (?:at all )?(?:really |actually |quite )?"
    r"(?:true|correct|right|accurate|the case|a fact|so)|"
    r"(?:an? |the )?(?:(?:common|popular|widespread|frequent|persistent|total|complete|old|urban|"
    r"well-known) )*(?:myth|misconception|fallacy|falsehood|lie|misunderstanding|untruth)s?)"
)
_IS = r"(?:is|are|was|were|would be|['’]s|['’]re|has been|have been)"
_OPENING = (
    r"(?:(?:no|yes|well|but|and|so|however|also|note|remember|actually|in fact|indeed|of course|"
    r"fact|first|finally)[,:]? (?:that )?)*"
)
_SAYING = r"(?:say|think|believe|claim|assume|state|suggest|conclude|maintain|suppose|imagine)"
_THAT = r"(?: to (?:" + _SAYING + r"))? that,? "
_STATED = r"(?P<said>\S.*\S)"
_CLAIM = (
    r"(?:claim|idea|belief|notion|statement|assertion|view|myth|rumou?r|suggestion|assumption|"
    r"saying|theory|allegation|misconception|opinion)s?"
)
_HINTS = (
    "not,n't,n’t,nobod,no one,no-one,none,no truth,never,cannot,false,untru,wrong,incorrect,"
    "mistake,inaccura,erroneous,ficti,nonsense,unfound,baseless,bogus,debunk,myth,misconcep,fallac,lie,"
    "misunderst,exclu,prohibit,forbid,banned,donts,avoid"
).split(",")
"""Without one of these nothing is denied; most sentences have none."""


def _may_deny(text: str) -> bool:
    # asked of every sentence, so without a loop of Python's
    return any(map(text.lower().__contains__, _HINTS))


_FRAMES = tuple(
    re.compile(rf"(?is)\W*{_OPENING}{frame}\W*")
    for frame in (
        rf"(?:it|that|this)(?:\s?{_IS} ?|(?<=\w)){_HOW}{_FALSE}{_THAT}{_STATED}",
        rf"(?:it|this) (?:is|was)n['’]t {_HOW}(?:true|correct|right|accurate|the case|a fact|so)"
        rf"{_THAT}{_STATED}",
        rf"(?:nobody|no one|no-one|none of you) (?:should |must |can |may |could )?(?:ever )?"
        rf"{_SAYING}s? that {_STATED}",
        rf"(?:(?:you|one|we|people|everyone|please) )?(?:should not|shouldn['’]t|must not|"
        rf"mustn['’]t|do not|don['’]t|never) (?:ever )?(?:{_SAYING}|fall for)s? "
        rf"(?:(?:the|this|any) {_CLAIM} )?that {_STATED}",
        rf"(?:some|many|most|few|other|lots of)(?: people| users| customers| patients| sources)? "
        rf"(?:wrongly|falsely|mistakenly|incorrectly|erroneously) {_SAYING} that {_STATED}",
        rf"people (?:wrongly|falsely|mistakenly|incorrectly|erroneously) {_SAYING} that {_STATED}",
        rf"(?:the |this |any )?{_CLAIM} that {_STATED},? {_IS} {_HOW}{_FALSE}",
        rf"there is no truth (?:in|to) the {_CLAIM} that {_STATED}",
        rf"that {_STATED},? {_IS} {_HOW}{_FALSE}",
    )
)
_LABEL = re.compile(
    r"(?is)\W*(?:the |a )?(?:(?:common|popular|widespread|false|wrong|old) )*(?:myth|misconception|"
    r"fallacy|fiction|falsehood|untruth|lie|false(?: claim| statement| belief)?|untrue|not true|"
    r"incorrect(?: claim| statement)?|wrong (?:claim|statement))"
    rf"(?: (?:no\.? ?|#)?\d{{1,2}})?\s?[:：]\W*{_STATED}\W*"
)
_THIS = (
    r"(?:(?:no|but|and|well|however)[,:]? )?(?:(?:this|that|it|which|these|those|the "
    r"(?:claim|statement|above|former))(?: (?:claim|statement|is a statement that))? ?"
    rf"{_IS} {_HOW}|(?:this|that|it) (?:is|was)n['’]t {_HOW}(?=true|correct|right|accurate))"
)
_BEHIND = re.compile(
    rf"(?is){_STATED}(?:\s?[–—]\s?|\s-+\s|\s?\(|\s?[,;…]\s|(?<=[.!?])\s(?=\W*(?:this|that|it)\b)|"
    rf"\s?:\s?(?=(?:{_FALSE})\W*$))\W*(?P<verdict>{_THIS}{_FALSE}|{_FALSE})\W*"
)
_RETRACTS = re.compile(
    rf"(?is)\W*(?:{_THIS}{_FALSE}|(?:no[,:]? )?(?:{_FALSE})|(?:this|that|it) "
    r"(?:is|was)n['’]t (?:true|correct|right|so|the case|accurate))\W*"
)

_NEGATIVE = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|avoid\w*|except\w*|"
    r"exclu\w+|forbid\w*|forbidden|prohibit\w*|banned|denie[sd]|refus\w+|unable|impossible|lacks?|"
    r"lacking|fail\w*|false|wrong|untrue|incorrect|unavailable|unsafe|uncovered|ineligible|invalid|"
    r"unsupported|disallowed|unacceptable|stop|don['’]?ts?|beware|missing|error|myth\w*|"
    r"disabled|absent|non-\w+|nonrefundable|kein\w*|nicht|nie|ohne|pas|jamais|sans|aucun\w*|nunca|"
    r"sin|non|senza|não|sem|niet|geen|zonder)\b|n['’]t\b|[不没沒無无]|ない|ません|नहीं|لا\s"
)

# -- titles over items ----------------------------------------------------------------------------

_ABOUT = (
    r"(?: (?:about|on|around|regarding|concerning|of|for|in|with|from|by|under|to|at) .{1,60})?"
)
_UNTRUE_TITLE = re.compile(
    rf"(?is)(?:(?:here are |these are |the following (?:are|statements are|claims are) |"
    rf"(?:these|the following)(?: (?:statements|claims))?(?: below)? are {_HOW})?"
    r"(?:\d{1,2} |some |the |several |common |popular |widespread |frequent |top |most |other |"
    r"typical )*(?:myths|myth|misconceptions?|fallac(?:y|ies)|falsehoods?|lies|untruths?|"
    r"(?:false|wrong|untrue|incorrect|mistaken)(?: (?:claims?|statements?|beliefs?|ideas?|"
    r"assumptions?))?|not true|not correct)|what is (?:not true|false|wrong|untrue)|"
    r"none of (?:these|the following|this)(?: (?:statements|claims))?(?: is| are)?(?: true| "
    rf"correct)?|it is {_FALSE} that){_ABOUT}"
)
_DEED_TITLE = re.compile(
    r"(?is)(?:please )?(?:(?:the )?don['’]?ts|do not|don['’]t|never|avoid|what (?:not|never) to do|"
    r"things (?:not to do|to avoid)|what to avoid|what (?:you|one) (?:should not|shouldn['’]t|must "
    r"not) do|you (?:should not|shouldn['’]t|must not|mustn['’]t|may not|cannot|can['’]t))"
)
_DONE = (
    r"(?:covered|included|insured|eligible|allowed|permitted|available|supported|refundable|"
    r"refunded|accepted|recommended|required|necessary|needed|provided|offered|safe|suitable|"
    r"possible|part of .{1,40}|affected|reimbursed|paid)"
)
_THING_TITLE = re.compile(
    rf"(?is)(?:what(?: is|['’]s| are)?|which .{{1,30}} (?:is|are)|items?|things?|the following "
    rf"(?:is|are))? ?(?:not (?:currently |yet )?(?P<done>{_DONE})|(?P<out>exclusions?|excluded|"
    rf"prohibited|forbidden|banned))(?P<rest>(?: .{{1,60}})?)"
)
_OUT = {
    "excluded": "included",
    "exclusion": "included",
    "exclusions": "included",
    "prohibited": "allowed",
    "forbidden": "allowed",
    "banned": "allowed",
}
_THINGS = re.compile(r"(?i) (?:items?|things?|goods|articles?|uses?|services?)")
_NEGATED = re.compile(
    r"(?is)(?P<before>(?:what |which )?[^,;:.!?]{0,60}?)(?P<verb>\b(?:do|does|did|is|are|was|were|"
    r"can|could|may|must|should|will|would|has|have|had))(?P<not> ?not\b|n['’]t\b)"
    r"(?P<after> [^,;.!?]{1,60})"
)
_PART_OF = re.compile(
    r"(?is)(?P<verb>cover|include|insure|accept|support|offer|provide|allow)(?P<rest>(?: .+)?)"
)
_ASKS = re.compile(r"(?i)^(?:what|which) ?")
_WHOLE = re.compile(
    r"(?is)(?:it|this|that|we|you|they|(?:the|this|your|our) (?:policy|plan|cover|insurance|"
    r"contract|price|fee|ticket|package|warranty|guarantee|service|offer|product|agreement)) "
)
"""Of which a list says what is no part of it, and which its items need not name."""
_CONDITION = re.compile(
    r"(?i)\b(?:if|when|unless|because|while|only|until|who|whose|why|how|necessarily|whether|"
    r"before|after|since|though|although|just|merely|more|less|yet)\b"
)
_MIXED = re.compile(r"(?i)\b(?:facts?|truth|vs|versus|reality|do['’]?s)\b")
_MARKUP = re.compile(r"^[\s#>*_`~•▪‣–-]*(?:\(?\d{1,2}[.)]\s)?[\s*_`]*|[\s*_`:：.!]*$")
_PARTS = re.compile(r"\s*(?:;|,(?!\d))\s*(?:and |or )?|\s+(?:and|or)\s+")
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|has|have|had|can|could|will|would|may|might|must|shall|"
    r"should|does|do|did|includes?|covers?|costs?|requires?|applies|apply|gets?|takes?)\b|['’]s\b"
)


def denies_items(title: str) -> bool:
    """Say whether a title or a lead-in denies what is listed under it: "Not covered:"."""
    return _positive(title) is not None


_FAULTS = re.compile(
    r"(?i)\b(?:cons|drawbacks?|disadvantages?|downsides?|limitations?|weaknesses|risks?|warnings?|"
    r"problems?|issues|pitfalls?|mistakes?|errors?|symptoms?|side effects?|nachteile|risiken)\b"
)


def lists_faults(title: str) -> bool:
    """Say whether a cross under a title marks what is bad rather than what is not so: "Cons:"."""
    return len(title) <= _LONGEST_TITLE and _FAULTS.search(title) is not None


def statements_denied(title: str, item: str) -> tuple[str, ...]:
    """Return what is denied of an item under such a title; nothing if it is said to be so anyway.

    Args:
        title: That `denies_items`.
        item: What stands under it, without its marker.
    """
    said = _positive(title)
    item = item.strip().rstrip(".;,")
    if said is None or not item or is_negative(item) or retracts(item):
        return ()
    if not said:
        return (item,)
    if said.startswith("*"):
        if _VERB.search(item):
            return ()  # no thing: why, or when
        return (f"{item[:1].upper()}{item[1:]} {said[1:]}.",)
    return (f"{said} {item}.",)


def _positive(title: str) -> str | None:
    """Return a title without its denial; None where it denies nothing.

    It is empty where the title denies what its items state, and begins with a star where it says
    of them as things that they are not so.
    """
    if len(title) > _LONGEST_TITLE or not _may_deny(title):
        return None
    bare = _MARKUP.sub("", title)
    if _MIXED.search(bare):
        return None
    if _UNTRUE_TITLE.fullmatch(bare):
        return ""
    if _DEED_TITLE.fullmatch(bare):
        return "You can" if bare.lower().startswith("you") else "You should"
    thing = _THING_TITLE.fullmatch(bare)
    if thing is None:
        return _of_verb(bare, leads=title.rstrip(" *_").endswith((":", "：")))
    if _CONDITION.search(thing["rest"]) or _VERB.search(thing["rest"]):
        return None
    done = thing["done"] or _OUT[thing["out"].lower()]
    rest = "" if _THINGS.fullmatch(thing["rest"]) else thing["rest"]
    return f"*is {done}{rest}"


def _of_verb(bare: str, *, leads: bool) -> str | None:
    """Return the same of a title with a verb: "What it does not cover", "You cannot bring:".

    Args:
        bare: The title.
        leads: Whether it ends with a colon; otherwise it may be a statement of its own.
    """
    negated = _NEGATED.fullmatch(bare)
    if negated is None or _CONDITION.search(bare) or is_negative(negated["after"]):
        return None
    before = _ASKS.sub("", negated["before"])
    asks = before != negated["before"]
    verb, after = negated["verb"].lower(), negated["after"].strip()
    if asks and not before.strip():
        return f"*{verb} {after}"
    part = _PART_OF.fullmatch(after)
    if asks and part is not None and _WHOLE.fullmatch(before):
        return f"*is {part['verb'].rstrip('e')}ed{part['rest']}"
    if not asks and not leads:
        return None
    if verb == "does":
        first, _, rest = after.partition(" ")
        after = f"{first}s {rest}".strip()
    elif verb not in ("do", "did"):
        before += f"{verb} "
    return f"{before}{after}"


# -- sentences ------------------------------------------------------------------------------------


def denied_in(text: str) -> str | None:
    """Return the statement that a sentence denies as a whole; None if it does not."""
    bare = text.strip()
    if not bare or len(bare) > _LONGEST or not _may_deny(bare):
        return None
    if bare.startswith(_NOT_SO) and not bare[len(_NOT_SO)].isspace() and "?" in bare:
        return bare[len(_NOT_SO) :]  # a question and its answer
    for frame in (*_FRAMES, _LABEL):
        match = frame.fullmatch(bare)
        if match is not None:
            return _one(match["said"])
    title, found, item = _parted(bare)
    if found:
        said = statements_denied(f"{title}:", item) if len(parted(bare)) == 1 else ()
        return said[0] if said else None
    match = _BEHIND.fullmatch(bare)
    if match is not None and _VERB.search(match["said"]) and not match["said"].endswith("?"):
        return _one(match["said"])
    return None


def _one(said: str) -> str | None:
    """Return a statement, unless another one comes after it that is not denied."""
    said = said.strip()
    if re.search(r"[.!?;]\s+\w|,? but\b|\bin fact\b|\brather\b|\binstead\b", said):
        return None
    return f"{said[:1].upper()}{said[1:].rstrip('.,;:')}."


def _parted(text: str) -> tuple[str, bool, str]:
    title, mark, item = text.partition(":")
    item = item.strip(" *_")
    found = bool(mark) and bool(item) and item[:2] != "//" and denies_items(f"{title}:")
    return title.strip(" *_"), found, item


def negated(text: str) -> str | None:
    """Return what a label and its one item deny as a sentence: "Gym is not allowed."; or None."""
    title, found, item = _parted(text.strip())
    said = _positive(f"{title}:") if found else None
    if not said or len(parted(text)) > 1:
        return None
    item = item.rstrip(".;, ")
    if not said.startswith("*"):
        return f"{title} {item}." if _NEGATED.match(title) else None
    verb, _, rest = said[1:].partition(" ")
    return f"{item[:1].upper()}{item[1:]} {verb} not {rest}."


def parted(text: str) -> tuple[str, ...]:
    """Return the items that a line denies by its label, as it writes them: "Excluded: a, b"."""
    title, found, item = _parted(text.strip())
    if not found or _positive(f"{title}:") == "" or _VERB.search(item):
        return (item,) if found else ()
    items = [part.strip(" .") for part in _PARTS.split(item.rstrip("."))]
    return tuple(part for part in items if part) if len(items) <= _MOST_ITEMS else (item,)


def all_denied(text: str) -> tuple[str, ...]:
    """Return every statement that a sentence denies: one, or one for each item behind a label."""
    if not _may_deny(text):
        return ()
    title, found, _ = _parted(text.strip())
    items = parted(text) if found else ()
    if len(items) > 1:
        return tuple(said for item in items for said in statements_denied(f"{title}:", item))
    said = denied_in(text)
    return () if said is None else (said,)


def not_so(statement: str) -> str:
    """Return the sentence that denies a statement; `denied_in` gives it back."""
    said = statement.strip()
    first = said[:1]
    if said[1:2].islower() and said.split(None, 1)[0].lower() in _SMALL:
        first = first.lower()
    return f"{_NOT_SO}{first}{said[1:]}"


_SMALL = frozenset(
    "the a an it its they their this that these those you your we our he she".split()
)


@lru_cache(maxsize=2_048)
def is_negative(text: str) -> bool:
    """Say whether words deny or forbid something themselves."""
    return _NEGATIVE.search(text) is not None


def retracts(text: str) -> bool:
    """Say whether a sentence says that what stands before it is not so: "This is wrong."."""
    short = len(text) <= _LONGEST_TITLE and _may_deny(text)
    return short and _RETRACTS.fullmatch(text.strip()) is not None


# -- signs ----------------------------------------------------------------------------------------

_NO = "❌✗✘✖❎👎🚫⛔🙅"
_YES = "✅✔✓👍☑"
_MARK = re.compile(rf"[{_NO}{_YES}☒☐]|\[[ xX]\](?=\s)")
_TICKED = ("☑", "[x]", "[X]", "✅", "✓", "✔")
_OPEN = ("☐", "[ ]")


@dataclass(frozen=True, slots=True)
class Boxes:
    """What boxes mean in a text: an open one is a no only beside ticked ones."""

    open_is_no: bool
    crossed_is_no: bool


def boxes_of(text: str) -> Boxes:
    """Return what the boxes of a text mean."""
    ticked = any(mark in text for mark in _TICKED)
    return Boxes(open_is_no=ticked, crossed_is_no="☑" in text or "☐" not in text)


def signed_no(text: str, spans: Sequence[tuple[int, int]], boxes: Boxes) -> list[bool]:
    """Say of each sentence of a line whether a sign before or behind it says no to it.

    Args:
        text: The line.
        spans: Of its sentences, in order.
        boxes: Of the text that it is part of.
    """
    if not spans or _MARK.search(text) is None:
        return [False] * len(spans)
    edges = [(_first(text, *span), _last(text, *span)) for span in spans]
    ends = [0, *(last for _, last in edges)]
    begins = [*(first for first, _ in edges), len(text)]
    between = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    behind = _MARK.search(between[0]) is None and _MARK.search(between[-1]) is not None
    marks = between[1:] if behind else between[:-1]
    return [
        _says_no(mark, boxes) and not _says_no_itself(text[slice(*edge)])
        for mark, edge in zip(marks, edges, strict=True)
    ]


def _says_no_itself(words: str) -> bool:
    """Whether a sign only goes with what words say: a cross before "Closed: Mondays"."""
    return is_negative(words) or _SHUT.match(words) is not None


_SHUT = re.compile(
    r"(?i)\W*(?:(?:currently|temporarily|permanently|always) )?(?:closed|shut|cancelled|canceled|"
    r"sold out|out of (?:order|service|stock))\b(?=\W*(?:$|[:：]|(?:on|from|for|until|during|over|"
    r"all) ))"
)


def _says_no(marks: str, boxes: Boxes) -> bool:
    kinds: set[bool] = set()
    for match in _MARK.finditer(marks):
        sign = match[0]
        if sign in _OPEN:
            kinds.add(boxes.open_is_no)
        elif sign == "☒":
            kinds.add(boxes.crossed_is_no)
        else:
            kinds.add(sign in _NO)
    return kinds == {True}


def _first(text: str, start: int, end: int) -> int:
    while start < end and not text[start].isalnum():
        box = _MARK.match(text, start)
        start = box.end() if box else start + 1
    return start


def _last(text: str, start: int, end: int) -> int:
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return end


# -- what is struck through -----------------------------------------------------------------------

_STROKES = "\u0335\u0336"
_STRUCK = re.compile(
    r"~~(?=\S)[^~]{1,2000}(?<=\S)~~|"
    rf"(?:\S[{_STROKES}]|[ \t](?=[{_STROKES}]|\S[{_STROKES}])[{_STROKES}]?)+"
)
_TAG = re.compile(r"<(?P<ends>/?)(?P<tag>s|del|strike)\b[^<>]{0,100}>", re.IGNORECASE)
_STRIKES = re.compile(r"~~|</?(?:s|del|strike)\b[^<>]{0,100}>", re.IGNORECASE)


def struck(text: str) -> list[tuple[int, int]]:
    """Return where a text is struck through."""
    if "~~" not in text and "<" not in text and not any(mark in text for mark in _STROKES):
        return []
    found = [match.span() for match in _STRUCK.finditer(text) if match.end() - match.start() > 2]
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        if not tag["ends"]:
            opened = opened or tag
        elif opened is not None and opened["tag"].lower() == tag["tag"].lower():
            found.append((opened.start(), tag.end()))
            opened = None
    return sorted(found)


def unstruck(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> tuple[str, bool]:
    """Return what stands in a stretch without what is struck through, and whether all of it is.

    It keeps its length; what is struck as a whole keeps its words, without the marks.
    """
    inside = [(max(a, start), min(b, end)) for a, b in spans if a < end and start < b]
    source = text[start:end]
    if not inside:
        return source, False
    left = source
    for a, b in inside:
        left = f"{left[: a - start]}{' ' * (b - a)}{left[b - start :]}"
    if any(map(str.isalnum, left)):
        return left, False
    return _STRIKES.sub(lambda match: " " * len(match[0]), source), True
