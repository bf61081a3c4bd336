"""Claims and their question -> claims that stand alone.

In: what an answer says, and the question. Out: the same, a "Berlin.", "Yes." or thumb with the
question that it answers; "No, it is closed." as two claims.
"""

from __future__ import annotations

import re
from dataclasses import replace

from faithguard._polar import agrees, asked, asks_what, denies, echoes, led, sentences_of, wavers
from faithguard.claims._kinds import is_absence, is_polar, kind_of
from faithguard.claims._labels import statement_of
from faithguard.claims._plain import has_words
from faithguard.claims._said import CJK, Found, is_short
from faithguard.claims._verbs import has_verb

__all__ = ["AGREES", "YES_NO", "parted_at_first", "signed", "waits", "with_question"]

YES_NO = re.compile(
    r"(?:yes|no|yep|nope|ja|nein|s[ií]|oui|non|no|sim|n[aã]o|nee|evet|hayır|はい|いいえ|是的?|不是|否|"
    r"نعم|لا|हाँ|हां|नहीं|correct|true|false|indeed)",
    re.IGNORECASE,
)
AGREES = re.compile("[👍✅✔✓☑👌🆗💯⭕🙆]")
_DISAGREES = re.compile("[👎❌✗✘✖❎🚫⛔🙅]")
_REQUEST = re.compile(
    r"\W*(?:please |hi,? |hello,? )*(?:can|could|will|would) you\b|.*\bplease\b", re.IGNORECASE
)
"""A question that asks for a deed."""
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_MOST_SIGNS = 100


def signed(answer: str, question: str | None) -> list[Found]:
    """Return what a thumb or a tick says of a question."""
    text, asked = answer.strip(), (question or "").strip()
    if not text or not asked or has_words(answer) or len(text) > _MOST_SIGNS:
        return []
    agrees, disagrees = AGREES.search(text), _DISAGREES.search(text)
    if not (agrees or disagrees):
        return []
    said = text if agrees and disagrees else "Yes." if agrees else "No."
    start = len(answer) - len(answer.lstrip())
    return [Found(start=start, end=start + len(text), text=f"{asked} {said}", kind="fact")]


def parted_at_first(found: list[Found], question: str, answer: str) -> list[Found]:
    """Make two claims of "No, it is closed.": its no says something of what was asked."""
    first = next((index for index, one in enumerate(found) if one.kind == "fact"), None)
    if first is None:
        return found
    one = found[first]
    if not question or not is_polar(question, said=True):
        plain = _unanswering(one.text)
        return [*found[:first], replace(one, text=plain), *found[first + 1 :]]
    if echoes(question, one.text):
        found[first] = replace(one, fragment=True, short=one.text)
        return found
    both = None if _bare_polar(one.text) else led(one.text)
    if both is None:
        return found
    put = f"{asked(question)} {one.text}"
    source = answer[one.start : one.end]
    inside = led(source)
    whole = _depends(both.rest) or _says_all(question, both.rest)
    if whole or inside is None or not inside.start:
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


def _unanswering(text: str) -> str:
    """Return a statement without its "No, " or "Yes, ", where no question is there to be denied.

    "No, smoking is not allowed." denies smoking once.
    """
    both = None if _bare_polar(text) else led(text)
    if both is None or not both.start or not has_verb(both.rest):
        return text
    said_no = _DENYING.search(both.rest) is not None
    return both.rest if said_no and denies(both.polar) else text


_DENYING = re.compile(r"(?i)\b(?:not|no|never|cannot|none|nobody|nothing)\b|n['’]t\b")
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
    if _HANGS.match(rest) or not (CJK.search(rest) or " " in rest):
        return True
    return not has_verb(rest) and is_short(rest)


def with_question(found: list[Found], question: str) -> list[Found]:
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
    if not (asks_what(question) or is_polar(question)):
        # "Tell me about the museum.": a key with its value says more without it
        found = [
            replace(one, fragment=False) if one.fragment and _KEYED.match(one.text) else one
            for one in found
        ]
    all_fragments = all(found[index].fragment for index in facts)
    return [
        replace(one, text=_put(question, one.short or one.text))
        if one.fragment and (all_fragments or index == facts[0])
        else one
        for index, one in enumerate(found)
    ]


_KEYED = re.compile(r"[^\W\d_][^\W\d_]{2,}(?: [\w'’-]+){0,4}\s?(?::|=|\s[–—-])\s\S")


def waits(found: list[Found], question: str) -> bool | None:
    """Say whether what follows may change how the last of these claims are read.

    A second fragment takes the question only if no sentence comes, and a courtesy answers one
    only if no fact does.

    Returns:
        None if nothing that follows can change how any of them is read.
    """
    facts = [one for one in found if one.kind == "fact"]
    if not question:
        alone = len(found) == 1 and YES_NO.fullmatch(found[0].text.rstrip(".!。！ ,")) is not None
        return alone if alone or not found else None
    if not facts:
        return is_polar(question) and any(_settles(one, question) for one in found)
    if not all(one.fragment and not _repeats(one.text, question) for one in facts):
        return None
    return len(facts) > 1


def _put(question: str, said: str) -> str:
    """Return a question and what was said to it as one text."""
    if _bare_polar(said) or echoes(question, said):
        return f"{asked(question)} {said}"
    return statement_of(question, said) or f"{question} {said}"


def _settles(one: Found, question: str) -> bool:
    """Whether a courtesy answers a question: "Of course.", but not to "Can you tell me ...?"."""
    if denies(one.text) or wavers(one.text):
        return True
    return agrees(one.text) and _REQUEST.match(question) is None


def _says_all(question: str, rest: str) -> bool:
    """Whether a sentence beside a yes or a no repeats what was asked: both say it once."""
    said, asked = (
        {w[:4] for w in _LONG_WORD.findall(t.casefold()) if w not in _HELPING}
        for t in (rest, sentences_of(question)[-1])
    )
    return has_verb(rest) and not _JOINED.search(rest) and bool(asked) and asked <= said


_HELPING = frozenset(
    "does have need needed must will would could should under there late evening evenings night "
    "with from that this your".split()
)
_JOINED = re.compile(r"[.;:]\s|,? (?:and|but|so|while|although|because)\b")
"""More than one statement."""


def _repeats(text: str, question: str) -> bool:
    """Whether words say again what was asked about, so that they stand without the question."""
    said, asked = ({w[:5] for w in _LONG_WORD.findall(t.casefold())} for t in (text, question))
    return len(said & asked) > 1


def _glued(found: list[Found]) -> list[Found]:
    """Join a bare "Yes." with the sentence after it, since there is no question to go with."""
    if len(found) < 2 or found[1].kind != "fact":
        return found
    first, second = found[0], found[1]
    if not YES_NO.fullmatch(first.text.rstrip(".!。！ ,")):
        return found
    text = _unanswering(f"{first.text} {second.text}")
    joined = replace(second, start=first.start, text=text)
    return [joined, *found[2:]]
