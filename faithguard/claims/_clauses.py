"""Sentence -> statements.

In: one sentence as it stands in the answer. Out: the pieces that each say one thing. Where it
is not plain what a piece is about, the sentence stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import islice

from faithguard.claims._content import gives_reason, has_own_clause
from faithguard.claims._kinds import form_of, kind_of
from faithguard.claims._plain import words_of
from faithguard.claims._verbs import FINITE, MODALS, UNSURE, has_verb, verb_at
from faithguard.types import Kind


@dataclass(frozen=True, slots=True)
class Clause:
    """One piece of a sentence."""

    start: int
    end: int
    subject: str = ""
    """What the piece is about, where its own words do not say so."""


_WHOLE = re.compile(
    r"\b(?:if|when|whenever|unless|because|although|though|while|whereas|only|either|neither|nor|"
    r"both|until|before|after|since|once|provided|whether|who|whom|whose|which|that|where|how|what|"
    r"why|as|than|so|wenn|falls|weil|obwohl|si|cuando|quand|se|quando|als|not|never|no|without)\b"
    r"|n't\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:sa(?:y|ys|id)|states?d?|thinks?|believes?|claims?|reports?|reported|means|shows?|"
    r"according|suggests?|between|from)\b",
    re.IGNORECASE,
)
_PROTECTED = re.compile(
    r"\"[^\"]{0,2000}\"|“[^”]{0,2000}”|„[^“”]{0,2000}[“”]|«[^»]{0,2000}»|\([^()]{0,2000}\)|"
    r"\[[^\[\]]{0,2000}\]|`[^`]{0,2000}`|https?://\S{1,2000}|(?<!\w)'[^']{0,300}'(?!\w)"
)
_JOIN = re.compile(r"(,?\s+and\s+|,\s+)(?=(?:also\s+|then\s+)?([a-z]+)\b)")
_INDEPENDENT = re.compile(
    r",\s+(?:and|but|while|yet)\s+(?=(?:it|they|he|she|we|you|this|these|there)\s+([a-z']+)\b|"
    r"(?:the|a|an|its|their|his|her|our|your|each|all|every)\s+(?:[\w'-]+\s+){1,4}?"
    r"(is|are|was|were|has|have|had|can|cannot|must|will|may|should|costs?|includes?|requires?|"
    r"supports?|offers?|covers?|lasts?|starts?|ends?|applies|apply)\b|"
    r"(?:[A-Z][\w'-]+\s+){1,4}(is|are|was|were|has|have|had|can|must|will|costs?|includes?|"
    r"requires?|"
    r"supports?|offers?|covers?)\b)"
)
_MAY_SPLIT = re.compile(r"\sand\s|;\s|,\s+(?:but|while|yet)\s")
_SEMICOLON = re.compile(r";\s+")
_BUTS = (
    r"but|however|though|although|yet|still|instead|aber|jedoch|allerdings|doch|obwohl|pero|sin "
    r"embargo|aunque|mais|cependant|toutefois|bien que|ma|però|tuttavia|anche se|mas|porém|contudo|"
    r"embora|maar|echter|hoewel|ancak|fakat|ama|لكن|ولكن|लेकिन|परंतु|किंतु"
)
_AFTER_DENIAL = re.compile(
    rf"(?:[,;:،]|\s[–—-])\s+(?:(?:and so|while|and|so|{_BUTS})\b,?\s*)?|"
    rf"\s+(?:while|and|because|{_BUTS})\b,?\s+|[，、,]\s*(?:但是?|不过|然而|しかし|ただし)|"
    r"(?<=です)が、|(?<=ません)が、"
)
# "I found no fee because it is free": strong ones lead to a statement whatever its verb.
_STRONG_REASONS = (
    r"because|which means(?: that)?|which implies(?: that)?|which suggests(?: that)?|meaning(?: "
    r"that)?|hence|therefore|thus|i\.e\.|that is to say|given that|seeing that|now that|weil|"
    r"parce que?|puisque|porque|ya que|puesto que|perch[eé]|poich[eé]|dato che|siccome|"
    r"pois|j[aá] que|omdat|aangezien|çünkü|क्योंकि"
)
_REASON = re.compile(
    rf"[,;]?\s+(?:and\s+|but\s+|simply\s+|just\s+)?(?P<strong>{_STRONG_REASONS})\b[,:]?\s+(?:that\s+)?|"
    r"[,;]?\s+(?:and\s+)?(?:since|as|so|so that|donc|así que|quindi|então|dus)\s+|"
    r",\s+(?:for|da)\s+|,?\s+denn\s+|,\s+(?:pues|want|car)\s+|"
    r"\s+car\s+(?=(?:les?|la|une?|il|elle|on|ce|cette|ces|vous|nous|tout|votre|leur|aucune?)\s|"
    r"[lc]')|"
    r"\s+want\s+(?=(?:de|het|een|dit|die|deze|er|je|u|alle|geen|men|elke|ze|hij|wij|uw|onze)\s)|"
    r"[，、,]?\s*(?P<wide>因为|因為|由于|所以)|[،,]?\s(?P<prefix>لأن)(?:ه|ها|هم)?\s|"
    r"(?<=\w)(?:--|[–—])(?=\w)",
    re.IGNORECASE,
)
_BUT = re.compile(rf"\b(?:{_BUTS})\b|但|不过|然而|しかし|ただし|が、")
_NO_CLAUSE = re.compile(
    r"(?:what|when|whether|how|why|who|where|if|or|nor|which of|ob|wie|was|wann|wo|oder|si|qu[eé]|"
    r"cu[aá]\w+|cómo|quand|comment|ou|se|quando|come|o|hoe|wat|wanneer|of)\b",
    re.IGNORECASE,
)
# "I searched it but could not find a date": the same one was unable.
_UNABLE = re.compile(
    r"(?:could|can|was|am|do|did|have)(?: not|n't|not)\b|found no\b", re.IGNORECASE
)
_ASKS = re.compile(r"(?:what|when|whether|how|why|who|where|if|or|nor)\b", re.IGNORECASE)
# What follows these is no statement, unless it holds a figure.
_NO_STATEMENT = re.compile(
    r"(?:please|that|as|because|since|feel|let|you (?:may|can|might|should|could) (?:also |always |"
    r"want to |wish to |need to |like to |try to |try )*(?:contact|ask|check|visit|try|reach|find|"
    r"call|consult|see|refer|look|write|e-?mail|speak|talk|get in touch|provide|share|let|review|"
    r"tell|send|search|read|view)|happy|glad|"
    r"thanks|thank|sorry|hopefully|here|i(?:'m|'d|'ll)?|we)\b",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"(?:it|maybe|perhaps|probably|likely|possibly|around|about|roughly|approximately|approx|ca|"
    r"circa|only|at least|up to|vielleicht|etwa|ungefähr|wohl|quiz[aá]s?|tal vez|peut-être|environ|"
    r"forse|talvez|cerca|misschien|ongeveer)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d")
_SUBJECT_STOP = re.compile(
    r"^(?:in|on|at|by|for|with|from|during|after|before|under|over|since|as|to|there|here|if|when|"
    r"however|also|then|thus|additionally|note|please|according|based|of|yes|no|what|who|it's|"
    r"that's)\b"
    r"|[,:;()]|\b(?:and|or)\s*$",
    re.IGNORECASE,
)
_PLAIN_OBJECT = re.compile(
    r"\s+(?:(?:a|an|the|its|their|his|her|our|up|over|more|about|around|at least|only|just|all|"
    r"each|every|any|no|both|from|between|in|on|by)\b|[€$£]?\d|[A-Z*\"“`])"
)
_PARTICIPLES = re.compile(r"\b(?:is|are|was|were|be|been|has|have|had)\b", re.IGNORECASE)
_MOST = 5000
"""A sentence longer than this is none: it is left whole."""
_MOST_JOINS = 20
_FEWEST = 3
"""Words of a statement whose verb no list knows."""
_DENIALS: frozenset[Kind] = frozenset({"abstention", "meta"})
_SILENT: frozenset[Kind] = frozenset({*_DENIALS, "courtesy", "hedge", "action"})


def clauses(source: str, kind: Kind) -> list[Clause]:
    """Return the pieces of a sentence of a kind; one if it does not split safely."""
    whole = [Clause(0, len(source))]
    if len(source) > _MOST or (
        kind == "fact" and _MAY_SPLIT.search(source) is None and _BUT.search(source) is None
    ):
        return whole
    masked = _PROTECTED.sub(lambda match: "\x01" * len(match[0]), source)
    if kind in _SILENT:
        return _after_denial(source, masked) or whole
    if kind != "fact":
        return whole
    denied = _after_denial(source, masked, _DENIALS) if _BUT.search(masked) else []
    if denied:
        return denied
    found: list[Clause] = []
    for piece in _statements(masked, 0, len(source)):
        found.extend(_coordinated(masked, piece))
    return found


def _after_denial(source: str, masked: str, kinds: Container[Kind] = _SILENT) -> list[Clause]:
    """Split "I could not find it, but the fee is 5 EUR" after what is no fact."""
    reasons = list(islice(_REASON.finditer(masked), _MOST_JOINS))
    taken = {match.start() for match in reasons}
    others = islice(_AFTER_DENIAL.finditer(masked), _MOST_JOINS)
    joins = [*reasons, *(match for match in others if match.start() not in taken)]
    for match in sorted(joins, key=lambda join: join.start()):
        right = masked[match.end() :]
        if match.re is _REASON:
            strong = any(match.groupdict().values())
            more = not _ASKS.match(right) and gives_reason(right, strong=strong)
        else:
            more = _states_more(right, match[0])
        if not more:
            continue
        left = form_of(words_of(source[: match.start()]))
        words = words_of(source[match.end() :])
        if _UNABLE.match(words):
            words = f"I {words}"
        if left not in kinds or kind_of(words) != "fact":
            continue
        rest = [
            Clause(piece.start + match.end(), piece.end + match.end(), piece.subject)
            for piece in clauses(source[match.end() :], "fact")
        ]
        return [Clause(0, match.start()), *rest]
    return []


def _states_more(right: str, join: str) -> bool:
    """Say whether what follows a denial can be a statement."""
    figure = _FIGURE.search(right) is not None
    if _NO_CLAUSE.match(right) or (_NO_STATEMENT.match(right) and not figure):
        return False
    if _opens_clause(right) or has_own_clause(right):
        return True
    if _BUT.search(join):
        return figure or len(right.split()) >= _FEWEST
    return figure and (
        _ROUGHLY.match(right) is not None
        or (join.strip()[:1] in (":", "–", "—", "-") and right[:1].isdecimal())
    )


def _opens_clause(text: str) -> bool:
    """Say whether a subject and a verb come before any comma."""
    head = re.split(r"[,;:，、]\s", text, maxsplit=1)[0]
    verb = verb_at(head)
    if verb is None:
        return has_verb(head) and not head.isascii()
    return verb.start() > 0 and len(head[: verb.start()].split()) <= 10


def _statements(masked: str, start: int, end: int) -> list[Clause]:
    """Split at semicolons and before clauses that have a subject and a verb of their own."""
    cuts: list[tuple[int, int]] = []
    begin = start
    joins = [*_SEMICOLON.finditer(masked), *_INDEPENDENT.finditer(masked)]
    if len(joins) > _MOST_JOINS:
        return [Clause(start, end)]
    for match in sorted(joins, key=lambda join: join.start()):
        left, right = masked[begin : match.start()], masked[match.end() : end]
        if match[0].startswith(";"):
            fits = not re.match(r"(?:if|then|otherwise|or|and|nor|else|when)\b", right, re.I)
            fits = fits and not re.match(r"(?:if|when|unless)\b", left, re.I)
            right = right.split(";", 1)[0]
        else:
            own = match[1]
            fits = (own is None or own in FINITE or "'" in own) and not _WHOLE.search(masked)
        if fits and has_verb(left) and has_verb(right):
            cuts.append(match.span())
            begin = match.end()
    bounds = [start, *(edge for cut in cuts for edge in cut), end]
    return [Clause(*pair) for pair in zip(bounds[::2], bounds[1::2], strict=True)]


def _coordinated(masked: str, piece: Clause) -> list[Clause]:
    """Split "X was founded in 1920, has 300 employees and is in Rome" at its verbs."""
    text = masked[piece.start : piece.end]
    verb = verb_at(text) if " and " in text else None
    if verb is None or _WHOLE.search(text) or _REPORT.search(text[: verb.end() + 1]):
        return [piece]
    subject = text[: verb.start()].strip()
    if not subject or len(subject.split()) > 8 or _SUBJECT_STOP.search(subject):
        return [piece]
    if verb[0].startswith("'") or "'" in verb[0]:
        return [piece]
    cuts = _verb_cuts(text, verb)
    if not cuts:
        return [piece]
    found: list[Clause] = []
    begin = 0
    for left, right in [*cuts, (len(text), len(text))]:
        found.append(Clause(piece.start + begin, piece.start + left, subject if found else ""))
        begin = right
    return found


def _verb_cuts(text: str, verb: re.Match[str]) -> list[tuple[int, int]]:
    """Return where the second and later predicates begin; empty if that is not safe."""
    modal = verb[0].lower() in MODALS | {"did", "does", "do"}
    cuts: list[tuple[int, int]] = []
    last_and = -1
    for match in _JOIN.finditer(text, verb.end()):
        if not _predicate(text, match, modal=modal):
            continue
        cuts.append(match.span())
        if "and" in match[1]:
            last_and = len(cuts)
    # Commas join predicates only where an "and" closes the list.
    return cuts[:last_and] if last_and > 0 else []


def _predicate(text: str, match: re.Match[str], *, modal: bool) -> bool:
    """Say whether a finite verb, and not a noun or a bare infinitive, follows."""
    word, after = match[2], text[match.end(2) :]
    if word not in FINITE:
        return False
    if modal and not (word in MODALS or word in ("is", "was", "has", "had", "are", "were")):
        return False
    if word in UNSURE and not _PLAIN_OBJECT.match(after):
        return False
    # "was bought and sold by X": a participle shares the verb before it.
    if word in UNSURE and word.endswith(("ed", "t", "n", "ld")):
        return _PARTICIPLES.search(text[: match.start()]) is None
    return True
