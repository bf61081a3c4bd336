"""A question that a yes or a no answers -> the statement that a yes makes.

In: a question in any form, and its context. Out: statements, each of which a yes says: "Tell me
whether tea and coffee are free" is "tea is free" and "coffee is free". English in full; of other
languages what marks a question is taken away, and a verb that opens it is put in its place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from faithguard._polar import sentences_of
from faithguard._verbs import base_of, past_of
from faithguard.verifiers._context import Context
from faithguard.verifiers._terms import analyse
from faithguard.verifiers._values._words import language

__all__ = ["NEGATIVE", "Stated", "chosen", "stated"]

NEGATIVE = re.compile(
    r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|nicht|kein\w*|nie|niemals|pas|"
    r"jamais|aucune?|non|nessun[oa]?|nunca|ning[uú]n[oa]?|n[ãa]o|nenhuma?|niet|geen)\b|n['’]t\b|"
    r"[不没沒]|(?<!か)ない|ません|なく|(?:^|\s)(?:لا|ليس|ليست|غير|لم|لن|नहीं|न|मत|не)(?=\s|$|[.!?؟।])|"
    r"(?<!\w)No\b"
)
"""What denies something."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a yes to a question says."""

    parts: tuple[str, ...]
    """Statements; a yes says all of them."""
    clear: bool = True
    """Whether it can be told what a yes, and what a no, means."""
    subject: str = ""
    """What the statement is about, where its verb could be told."""
    verb: str = ""
    """Its verb in its base form, after "do", "does" or "did"."""
    generic: bool = False
    """Whether the subject has no article, or stands for all of a kind."""


_POINTS = re.compile(
    r"\b(?:it|they|them|he|she|him|her|this|that|these|those|its|their)\b", re.IGNORECASE
)
"""Without one of these, what is said before a question is not asked about."""
_ENDS = " \t\n?？؟.!。！¿¡*_\"'“”"

_POLITE = re.compile(
    r"(?:(?:and|so|but|or|then|please|hi|hello|hey|ok(?:ay)?|also|well|just to (?:check|confirm)|"
    r"(?:quick|one) question|question)[,:]?\s+)+",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"(?:(?:can|could|would|will|do|does|you|anyone|anybody|someone|please|kindly|happen|to|tell|"
    r"inform|let|say|me|us|i|we|i['’]d|we['’]d|i['’]m|i['’]ve|would|like|want|need|love|know|find|"
    r"out|learn|understand|ask|asking|check|verify|confirm|explain|am|are|was|were|been|have|"
    r"just|also|trying|curious|unsure|not|sure|wonder|wondering|any|idea|is|it|true|correct|"
    r"right|the|case|think|believe|say|for|my|question|what|here|see|hear),?\s+){1,14}?"
    r"(?P<link>whether|if|that)(?: or not)?\s+(?P<rest>.+)",
    re.IGNORECASE | re.DOTALL,
)
"""What only asks to be told: "I'd like to know if"."""

_OR_NOT = re.compile(r",? or (?:not|no|are they not|is it not)\s*$", re.IGNORECASE)

_TAG = re.compile(
    r"(?P<said>.+?)(?:,|\s[–—-]|\.\.\.|…)\s*(?:(?P<aux>is|are|was|were|do|does|did|has|have|had|can|"
    r"could|will|would|should|must|ca|wo)(?P<not>n['’]t)? (?:it|they|he|she|you|we|i|that|there)|"
    r"right|correct|yes|true|oder(?: nicht)?|nicht wahr|richtig|stimmt['’]?s|n['’]est-ce pas|"
    r"verdad|cierto|vero|giusto|n[ãa]o é|né|certo|toch|nietwaar|对吗|對嗎|是吗|是吧|أليس كذلك|"
    r"है ना)",
    re.IGNORECASE | re.DOTALL,
)

_AUXILIARY = (
    r"is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|must|may|might"
)
_INVERTED = re.compile(
    rf"(?P<verb>{_AUXILIARY}|ca|wo)(?P<not>n['’]t)?\s+(?P<rest>\S+(?: .*)?)",
    re.IGNORECASE | re.DOTALL,
)
"""A question that begins with its verb, in English."""

_AFTER_COLON = re.compile(rf".*[:;–—,]\s*(?P<asked>(?:{_AUXILIARY}) .+)", re.IGNORECASE | re.DOTALL)

_HELPING = frozenset({"do", "does", "did"})
_ARTICLES = frozenset("a an the this that these those my your our their his her its".split())
_EACH = frozenset("all every each any".split())
_SHORTENED = {"ca": "can", "wo": "will"}

_ASKING_WORDS = re.compile(
    r"^(?:est-ce qu(?:e |['’])|هل\s+|أ(?=\w)|क्या\s+|ist es (?:so|wahr|richtig), dass |"
    r"es (?:verdad|cierto) que |è vero che |é verdade que )",
    re.IGNORECASE,
)
_ASKING_ENDS = re.compile(r"(?:吗|嗎|么|麼|吧|か|の)$")
_FRENCH = re.compile(r"\b(?P<verb>\w+)-(?:t-)?(?:il|elle|ils|elles|on|ce)\b", re.IGNORECASE)

_JOINED = re.compile(r"\s+(?P<join>and|or)\s+(?:also\s+)?", re.IGNORECASE)
_WALLS = frozenset(
    "of in on at to from by for with about into onto over between through during under above below"
    " as than per without within towards near via is are was were be been has have had can could"
    " will would shall should must may might not".split()
)
_MOST_PARTS = 4


def stated(question: str, context: Context) -> Stated:
    """Return what a yes to a question says.

    Args:
        question: With or without its mark.
        context: Its words tell where the subject of a question ends.
    """
    *before, last = sentences_of(question)
    last = last.strip(_ENDS)
    if len(last) > _LONGEST:
        return Stated((question,), clear=False)
    polite = _POLITE.match(last)
    last = _OR_NOT.sub("", last[polite.end() :] if polite else last)
    wrapped = _WRAPPED.fullmatch(last)
    said = _direct(last, context) if wrapped is None else _plain(wrapped["rest"])
    if not _POINTS.search(last):
        before = []
    elif before and (name := _named_in(" ".join(before), context)):
        said = replace(
            said, parts=tuple(_POINTS.sub(lambda _: name, p, count=1) for p in said.parts)
        )
        before = []
    found = [replace(said, parts=(part,)) for part in said.parts]
    parts = tuple(
        " ".join([*before, part[:1].upper() + part[1:] + "."])
        for one in found
        for part in _split(one, context)
    )
    either = any(_JOINED.search(part) and _OR.search(part) for part in parts)
    held = {sentence.text.casefold() for sentence in context.select(parts[0]).sentences}
    clear = said.clear and (not either or any(_OR.search(text) for text in held))
    return replace(said, parts=parts, clear=clear)


def _named_in(text: str, context: Context) -> str:
    """Return the longest run of words of a text that the context names: "the Lumo lamp"."""
    words = [word.strip(_ENDS + ",;:") for word in text.split()[-_MOST_WORDS:]]
    held = [sentence.text.casefold() for sentence in context.select(text, most=8).sentences]
    runs = (
        words[start : start + size]
        for size in range(_LONGEST_RUN, 0, -1)
        for start in range(len(words) - size + 1)
    )
    return next(
        (
            " ".join(run)
            for run in runs
            if analyse(" ".join(run)).words and any(_holds(t, run) for t in held)
        ),
        "",
    )


_LONGEST_RUN = 5
_MOST_WORDS = 60
_LONGEST = 400
"""Characters; what is longer is no question that a yes answers."""
_OR = re.compile(r"\bor\b", re.IGNORECASE)


def _plain(said: str) -> Stated:
    """Return a statement that stands in the order of one."""
    words = said.strip(_ENDS)
    return Stated((words,), clear=NEGATIVE.search(words) is None, generic=_is_generic(words))


def _direct(question: str, context: Context) -> Stated:
    tag = _TAG.fullmatch(question)
    if tag is not None:
        return _plain(tag["said"])
    colon = _AFTER_COLON.fullmatch(question)
    match = _INVERTED.fullmatch(question) or (
        _INVERTED.fullmatch(colon["asked"]) if colon is not None else None
    )
    if match is not None:
        return _put_right(match, context)
    return _elsewhere(question, context)


def _put_right(match: re.Match[str], context: Context) -> Stated:
    """Return a statement of a question that begins with its verb.

    "Is the east gate open on Mondays?" has the longest beginning that the context names as its
    subject: "the east gate is open on Mondays".
    """
    words = match["rest"].split()
    verb = _SHORTENED.get(match["verb"].casefold(), match["verb"].casefold())
    if (needed := _needed(words, context)) is not None:
        return Stated((needed,))
    most = _subject_of(words, context)
    while most < len(words) - 1 and words[most][:1].isupper():
        most += 1
    subject, rest = words[:most], words[most:]
    clear = NEGATIVE.search(" ".join(words)) is None
    if verb in _HELPING and rest:
        base = rest[0]
        said = [*subject, _in_form(base, verb), *rest[1:]]
    else:
        base = ""
        said = [*subject, verb, *rest]
    about = " ".join(subject)
    return Stated((" ".join(said),), clear, about, base.casefold(), generic=_is_generic(about))


def _needed(words: Sequence[str], context: Context) -> str | None:
    """Return "a deposit is required" of "do I need a deposit", as the context says it."""
    if len(words) < 3 or words[0].casefold() not in _ANYBODY or words[1] not in ("need", "require"):
        return None
    rest = " ".join(words[2:])
    held = " ".join(s.text.casefold() for s in context.select(rest).sentences)
    said = _REQUIRED.search(held)
    if said is None or re.search(r"\bneeds?\b", held) or rest.startswith("to "):
        return None
    return f"{rest} is {said[0]}"


_ANYBODY = frozenset("i you we one they people anyone everyone".split())
_REQUIRED = re.compile(r"\b(?:required|needed|necessary|mandatory|compulsory|obligatory)\b")


def _subject_of(words: Sequence[str], context: Context) -> int:
    """Return how many words the subject has that stands at the beginning of words."""
    held = [s.text.casefold() for s in context.select(" ".join(words), most=8).sentences]
    least = 2 if words[0].casefold() in _ARTICLES | _EACH else 1
    most = min(len(words), _LONGEST_SUBJECT)
    lengths = [n for n in range(1, most) if any(_holds(t, words[:n]) for t in held)]
    # "visitors" of "visitors park in lot A"
    followed = [n for n in lengths if any(_verb_follows(t, words[:n]) for t in held)]
    found = max(followed or lengths, default=0)
    if found < least:
        # the context may say "members" of what is asked of "all members"
        rest = words[1:] if least > 1 else words
        known = next(
            (
                n + least - 1
                for n in range(min(len(rest), _LONGEST_SUBJECT) - 1, 0, -1)
                if any(_holds(t, rest[:n]) for t in held)
            ),
            0,
        )
        found = max(known, least)
    join = next((n for n, word in enumerate(words) if word in ("and", "or")), 0)
    if found == join and 0 < join < len(words) - 2:
        # "tea and coffee"
        return join + 1 + _subject_of(words[join + 1 :], context)
    return min(found, len(words))


def _holds(text: str, words: Sequence[str]) -> bool:
    return re.search(rf"(?<!\w){re.escape(' '.join(words).casefold())}(?!\w)", text) is not None


_LONGEST_SUBJECT = 12
"""In words."""


def _verb_follows(text: str, words: Sequence[str]) -> bool:
    pattern = rf"(?<!\w){re.escape(' '.join(words).casefold())}\s+([^\W\d_]+)"
    found = re.search(pattern, text)
    return found is not None and (found[1] in _FINITE or base_of(found[1]) is not None)


_FINITE = frozenset(_AUXILIARY.split("|"))


def _is_generic(subject: str) -> bool:
    first = subject.partition(" ")[0]
    return first.islower() and first not in _ARTICLES


def _in_form(base: str, helping: str) -> str:
    """Return a verb as a statement has it: "does cause" is "causes"."""
    if helping == "did":
        return past_of(base)
    if helping == "do":
        return base
    if base == "have":
        return "has"
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{base}es"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}s"


def _elsewhere(question: str, context: Context) -> Stated:
    """Return a statement of a question in another language, or of words without a verb."""
    bare = _ASKING_ENDS.sub("", _ASKING_WORDS.sub("", question)).strip()
    bare = _FRENCH.sub(r"\g<verb>", bare)
    clear = NEGATIVE.search(bare) is None
    words = bare.split()
    if len(words) > 2 and language(question) != "en":
        held = [s.text.casefold() for s in context.select(bare, most=8).sentences]
        verb = words[0].casefold()
        if any(_holds(text, [verb]) and not text.startswith(verb) for text in held):
            most = max(
                (
                    n
                    for n in range(1, len(words) - 1)
                    if any(_holds(t, words[1 : n + 1]) for t in held)
                ),
                default=0,
            )
            if most:
                return Stated((" ".join([*words[1 : most + 1], verb, *words[most + 1 :]]),), clear)
    return Stated((bare,), clear)


# -- parts ------------------------------------------------------------------------------------


def _split(said: Stated, context: Context) -> list[str]:
    """Return the statements that "and" joins in one: "it has showers", "it has a kitchen"."""
    (text,) = said.parts
    match = next((m for m in _JOINED.finditer(text) if m["join"].lower() == "and"), None)
    if match is None:
        return [text]
    left, right = text[: match.start()].split(), text[match.end() :].split()
    if not left or not right or "between" in text.casefold() or _said_so(left, right, context):
        return [text]
    subject = len(said.subject.split())
    if subject > len(left):
        # what is joined are two subjects
        own = subject - len(left) - 1
        rest = right[own:]
        heads = [" ".join([*left, *rest]), " ".join(right)]
    else:
        begin = max((n + 1 for n, word in enumerate(left) if word.casefold() in _WALLS), default=0)
        begin = max(begin, min(subject + bool(subject), len(left)))
        if not begin:
            return [text]
        heads = [" ".join(left), " ".join([*left[:begin], *right])]
    heads[0] = re.sub(r"\bboth\s+", "", heads[0])
    parts = [heads[0], *_split(replace(said, parts=(heads[1],), subject=""), context)]
    return parts if len(parts) <= _MOST_PARTS else [text]


def _said_so(left: Sequence[str], right: Sequence[str], context: Context) -> bool:
    """Whether the context joins the same two words."""
    one, two = left[-1].casefold(), [w.casefold() for w in right[:3]]
    pattern = re.compile(
        rf"(?<!\w){re.escape(one)}\s+and\s+(?:\w+\s+)?(?:{'|'.join(map(re.escape, two))})(?!\w)"
    )
    return any(pattern.search(passage.text.casefold()) for passage in context.passages)


def chosen(question: str, said: str, context: Context) -> str | None:
    """Return what an answer states that takes one side of an "or"; None if it does not.

    "Is the sign blue or red?", "Red.": "the sign is red".
    """
    whole = stated(question, context)
    if len(whole.parts) != 1:
        return None
    text = whole.parts[0].rstrip(".")
    match = next((m for m in _JOINED.finditer(text) if m["join"].lower() == "or"), None)
    own = set(analyse(said).words)
    if match is None or not own:
        return None
    left, right = text[: match.start()].split(), text[match.end() :].split()
    begin = max((n + 1 for n, word in enumerate(left) if word.casefold() in _WALLS), default=0)
    sides = [set(analyse(" ".join(side)).words) for side in (left[begin:], right)]
    if not any(own <= side for side in sides):
        return None
    words = said.strip(_ENDS).split()
    if begin and words[0].casefold() == left[begin - 1].casefold():
        words = words[1:]
    return " ".join([*left[:begin], *words]) + "."
