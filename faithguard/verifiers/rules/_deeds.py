"""Who does what to whom, said by a sentence: its deeds.

In: the reading of an English sentence. Out: its deeds in order, each a verb (or the adjective
after "is") with the words for who does it, those for whom or what it is done to, and whether it is
denied, only possible, or demanded. Active and passive, relative clauses, joined and cut verbs
("exports are not") are read alike. There is no grammar here: closed lists of small words, the form
of words and their order decide, and what they do not decide is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from faithguard.verifiers._verbs import base_of, is_participle, is_past
from faithguard.verifiers.rules._reading import Reading, Token, key_of

__all__ = ["Deed", "deeds_of"]


@dataclass(frozen=True, slots=True)
class Deed:
    """A verb with its two sides."""

    verb: str
    """The key of its base form, or of the adjective."""
    word: str
    agents: frozenset[str]
    patients: frozenset[str]
    denied: bool = False
    modal: str = ""
    """"can", "must", "should", "will", "need" ("need not", "do not have to") or nothing."""
    at: int = 0
    """The number of its token."""
    start: int = 0
    end: int = 0
    """The tokens that it spans with its sides."""
    pronoun: bool = False
    """Whether who does it, or to whom it is done, stands in an earlier sentence."""
    guessed: bool = False
    """Whether who does it is carried over from what stands before."""
    adjective: bool = False
    passive: bool = False
    conditional: bool = False
    """Whether it is what something else hangs on: "if goods are damaged"."""
    particle: str = ""
    """"up" of "edged up"."""
    only: bool = False
    """Whether nobody else does it: "the board alone may change it"."""
    subject: frozenset[str] = frozenset()
    """Which of its sides stands before the verb."""
    without: frozenset[str] = frozenset()
    """What it is said to be done without, or in contrast to."""

    @property
    def sides(self) -> frozenset[str]:
        """All words around the verb."""
        return self.agents | self.patients


_BE = frozenset("is are was were be been being am 're isn aren wasn weren".split())
_HAVE = frozenset("has have had having hasn haven hadn".split())
_DO = frozenset("do does did don doesn didn".split())
_PLAIN = {
    **dict.fromkeys(_BE, "be"), **dict.fromkeys(_HAVE, "have"), **dict.fromkeys(_DO, "do")
}  # fmt: skip
_SHORT = 4
"""Letters; a longer word in "ly" is an adverb."""
_MODALS = {
    "can": "can", "could": "can", "may": "can", "might": "can", "ca": "can", "couldn": "can",
    "must": "must", "shall": "must", "mustn": "must", "should": "should", "shouldn": "should",
    "will": "will", "would": "will", "wo": "will", "wouldn": "will", "need": "need",
}  # fmt: skip
_TO = {"able": "can", "allowed": "can", "permitted": "can", "free": "can", "unable": "",
       "required": "must", "obliged": "must", "supposed": "should", "forbidden": "",
       "due": "will", "likely": "can", "expected": "can"}  # fmt: skip
_NOT = frozenset("not n't never cannot no-longer hardly rarely seldom scarcely barely".split())
_ADVERBS = frozenset(
    "also only still already just again now then often always usually both later once soon"
    " previously currently thereby therefore however instead even ever first today alone much very"
    " more less far quite rather too so almost nearly well best"
    " immediately partly largely mainly all either".split()
)
_DETERMINERS = frozenset(
    "the a an this these those his her its their our your my no each every some any all both"
    " another such what whose one most many few several".split()
)
_NONE = frozenset("no none nobody nothing neither nor".split())
_PREPOSITIONS = frozenset(
    "of in on at to from by for with about into onto over between through during since until till"
    " up down out off under above below after before against among around as than via per without"
    " within towards toward near across along behind beyond despite except like unlike upon".split()
)
_RELATIVE = frozenset("who which whom that whose".split())
_PRONOUNS = frozenset("he she it they we you i this these those one who someone everyone".split())
_PLURAL = frozenset(
    "people children men women police staff they we you both who which that".split()
)
_BOUNDS = frozenset('.;:!?()–—|"“”') | frozenset(
    "but while whereas although though because since if unless when where so however until"
    " whether".split()
)
_CONDITIONS = frozenset("if unless whether when until".split())
_PARTICLES = frozenset("up down in out on off".split())
_JOINS = frozenset("and or".split())
_CONTRAST = frozenset("without except unlike than".split())
_TITLES = frozenset("dr mr mrs ms prof st sgt capt col gen lt rev".split())
_NO_SUCH = frozenset("longer matter more less fewer later earlier doubt".split())
_BEFORE_NOUNS = (_DETERMINERS | _PREPOSITIONS) - frozenset("both one this these those to".split())
_THEN = frozenset(("after", "before"))
_SMALL = _PREPOSITIONS | _ADVERBS | _TITLES
_BIDDING = frozenset(
    "order tell ask require allow force oblige advise instruct permit invite request enable want"
    " urge command persuade encourage expect".split()
)
_BID = 6
_CALLED = frozenset(("named", "called", "known", "titled"))
_APPOSED = 6
"""Tokens between two commas that say again who is meant."""
_LONGEST = 80
"""Tokens; what is longer is no sentence."""


@dataclass(slots=True)
class _Group:
    """A verb with its auxiliaries."""

    start: int
    head: int
    """Its token; -1 where the verb is left out."""
    passive: bool = False
    adjective: bool = False
    denied: bool = False
    modal: str = ""
    linking: str = ""
    """"be", "have" or "do" where it stands as a verb of its own."""
    reduced: bool = False
    """"referred by": a participle behind its noun."""
    infinitive: bool = False
    bidden: bool = False
    """"told Ann to pay": who does it stands right before."""


@dataclass(frozen=True, slots=True)
class _Step:
    """What a word adds to a group of auxiliaries."""

    last: str
    modal: str = ""
    denies: bool = False
    words: int = 1


def _without_titles(tokens: tuple[Token, ...]) -> Iterator[Token]:
    """Yield all but the stops that end a title and no sentence: "Dr. Brun"."""
    for number, token in enumerate(tokens):
        if token.lower != "." or not number or tokens[number - 1].lower not in _TITLES:
            yield token


def deeds_of(reading: Reading) -> tuple[Deed, ...]:
    """Return the deeds of a sentence, in order."""
    tokens = reading.tokens
    if not 1 < len(tokens) <= _LONGEST or reading.row:
        return ()
    return tuple(_Parse(reading).deeds())


class _Parse:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tokens = tuple(_without_titles(reading.tokens))
        self.words = [token.lower for token in self.tokens]
        for number, word in enumerate(self.words[:-1]):
            if word == "provided" and self.words[number + 1] == "that":
                self.words[number] = "if"
        self.groups = list(self._groups())
        self.heads = {n for g in self.groups for n in range(g.start, g.head + 1)}

    def deeds(self) -> Iterator[Deed]:
        """Yield what the groups say, each with its two sides."""
        found: list[Deed] = []
        for place, group in enumerate(self.groups):
            deed = self._deed(place, group, found)
            if deed is not None:
                found.append(deed)
        yield from found

    # -- verbs ---------------------------------------------------------------------------------

    def _groups(self) -> Iterator[_Group]:
        number = 0
        while number < len(self.tokens):
            group = self._auxiliary(number) or self._full(number)
            if group is None:
                number += 1
                continue
            yield group
            number = max(group.head, number) + 1 if group.head >= 0 else self._after + 1

    _after = 0

    def _base(self, number: int) -> tuple[str, bool]:
        """Return a word without its "n't", and whether it had one."""
        word = self.words[number]
        if word.endswith("n't"):
            return word[:-3], True
        return ("can", True) if word == "cannot" else (word, False)

    def _auxiliary(self, number: int) -> _Group | None:
        place, last, denied, modal = number, "", False, ""
        while place < len(self.tokens):
            step = self._step(place, last)
            if step is None:
                break
            last, modal = step.last, step.modal or modal
            denied = denied != step.denies
            place += step.words
        if not last:
            return None
        if denied and modal == "must" and self._word(place - 1) == "to":
            modal = "need"
        return self._with_head(number, place, last, denied, modal)

    def _step(self, place: int, last: str) -> _Step | None:
        """Read one word of a group of auxiliaries."""
        word, denies = self._base(place)
        following = self._word(place + 1)
        if word in _PLAIN:
            return _Step(_PLAIN[word], denies=denies)
        if word in _MODALS:
            bare = word == "need" and not denies and (last or following != "not")
            month = word == "may" and self.tokens[place].capital and place
            return None if bare or month else _Step("modal", _MODALS[word], denies=denies)
        if not last:
            return None
        if word == "no" and following == "longer":
            return _Step(last, denies=True, words=2)
        if word in _NOT or word in _ADVERBS or (word.endswith("ly") and len(word) > _SHORT):
            return _Step(last, denies=word in _NOT)
        if last != "modal" and word in _TO and following == "to":
            kind = _TO[word]
            return _Step("modal", kind or "can", denies=not kind, words=2)
        return _Step("modal", "must") if last == "have" and word == "to" else None

    def _with_head(
        self, start: int, place: int, last: str, denied: bool, modal: str
    ) -> _Group | None:
        self._after = place - 1
        if place >= len(self.tokens) or self.words[place] in _BOUNDS | _JOINS | {","}:
            return _Group(start, -1, denied=denied, modal=modal)
        token, word = self.tokens[place], self.words[place]
        if last == "be":
            if is_participle(word) and not token.capital:
                return _Group(start, place, passive=True, denied=denied, modal=modal)
            if word.endswith("ing") and base_of(word):
                return _Group(start, place, denied=denied, modal=modal)
            if token.key and token.value < 0 and not token.capital and self._is_adjective(place):
                return _Group(start, place, adjective=True, denied=denied, modal=modal)
            return _Group(start, place - 1, denied=denied, modal=modal, linking="be")
        if last == "modal" or (last == "do" and base_of(word) == word):
            if token.value < 0 and (token.key or base_of(word) == word):
                return _Group(start, place, denied=denied, modal=modal)
            return _Group(start, -1, denied=denied, modal=modal)
        if last == "have" and (is_participle(word) or word in ("been",)):
            return _Group(start, place, denied=denied, modal=modal)
        return _Group(start, place - 1, denied=denied, modal=modal, linking=last)

    def _is_adjective(self, place: int) -> bool:
        after = self._word(place + 1)
        return (
            place + 1 >= len(self.tokens)
            or not self.tokens[place + 1].key
            or after in _PREPOSITIONS
            or after in _ADVERBS
            or after.endswith("ly")
        )

    def _word(self, number: int) -> str:
        return self.words[number] if 0 <= number < len(self.words) else ""

    def _full(self, number: int) -> _Group | None:
        token, word = self.tokens[number], self.words[number]
        if not token.key or token.value >= 0 or token.key[0] == "#" or word in _BOUNDS | _CALLED:
            return None
        if token.capital and number and self._word(number - 1) not in _BOUNDS:
            return None
        base = base_of(word)
        if base is None and self._word(number - 1) != "to":
            return None
        before = number - 1
        while before >= 0 and (self.words[before] in _ADVERBS or self._is_adverb(before)):
            before -= 1
        longer = self._word(before) == "longer" and self._word(before - 1) == "no"
        before -= 2 * longer
        previous = self._word(before)
        if previous == "to":
            return self._infinitive(number, before)
        if previous in _BEFORE_NOUNS:
            return None
        denied = longer or any(w in _NOT for w in self.words[before + 1 : number])
        if is_past(word) or (word != base and not word.endswith(("s", "ing"))):
            return self._past(number, before, denied)
        if word.endswith("ing"):
            return None
        if word != base and word.endswith("s"):
            return self._third_person(number, before, denied)
        return self._plain(number, before, denied)

    def _follows_subject(self, before: int) -> bool:
        return before >= 0 and (
            bool(self.tokens[before].key)
            or self.tokens[before].value >= 0
            or self.words[before] in _PRONOUNS | _RELATIVE | _JOINS | {",", ")", "both"}
        )

    def _past(self, number: int, before: int, denied: bool) -> _Group | None:
        previous = self._word(before)
        if self._word(number + 1) == "by" and before >= 0 and previous not in _RELATIVE | _PRONOUNS:
            joined = previous in _JOINS
            return _Group(number, number, passive=True, denied=denied, reduced=not joined)
        if not self._follows_subject(before):
            return None
        if is_participle(self.words[number]) and self._finite_later(number):
            return None
        return _Group(before + 1, number, denied=denied)

    def _third_person(self, number: int, before: int, denied: bool) -> _Group | None:
        """Read a word in "s" as a verb, unless it is a plural: "the rods absorb"."""
        previous, following = self._word(before), self._word(number + 1)
        opens = following in _DETERMINERS | _PRONOUNS | {"to", "that", "not", "no"}
        content = number + 1 < len(self.tokens) and bool(self.tokens[number + 1].key)
        if content and not opens and base_of(following) and not following.endswith("ing"):
            return None
        compound = self._word(before - 1) in _DETERMINERS | _PREPOSITIONS
        if compound and (number + 1 == len(self.tokens) or following in _BOUNDS | {","}):
            return None  # "in straight sets."
        named = before >= 0 and (
            self.tokens[before].capital or previous in _RELATIVE | _PRONOUNS | _JOINS
        )
        inside = not _RELATIVE.isdisjoint(self.words[max(0, before - 2) : before])
        verb = inside or opens or named or content or not compound or not self._verb_later(number)
        subject = self._follows_subject(before)
        return _Group(before + 1, number, denied=denied) if subject and verb else None

    def _plain(self, number: int, before: int, denied: bool) -> _Group | None:
        """Read a base form: after a plural, or as an order at the start of a clause."""
        start = before + 1
        previous, following = self._word(before), self._word(number + 1)
        opens = before < 0 or previous in _BOUNDS
        token = self.tokens[number]
        if opens or (previous in {",", "and", "then", "please"} and not token.capital):
            if opens and token.capital and base_of(following):
                return None  # a name: "Rovers beat"
            object_ = following in _DETERMINERS | _PRONOUNS | _PREPOSITIONS or (
                number + 1 < len(self.tokens) and bool(self.tokens[number + 1].key)
            )
            return _Group(start, number, denied=denied) if object_ or not opens else None
        plural = previous in _PLURAL or (
            bool(self.tokens[before].key) and previous.endswith("s") and not previous.endswith("ss")
        )
        joined = self.tokens[before].capital and self._word(before - 1) == "and"
        return _Group(start, number, denied=denied) if plural or joined else None

    def _is_adverb(self, number: int) -> bool:
        return self.words[number].endswith("ly") or self.words[number] in _NOT

    def _finite_later(self, number: int) -> bool:
        """Whether a participle only describes its noun: "items marked so cannot be returned"."""
        for place in range(number + 1, len(self.tokens)):
            word = self._base(place)[0]
            if word in _BOUNDS | _RELATIVE | _JOINS | _PRONOUNS | _THEN | {",", "to"}:
                return False
            if word in _BE | _HAVE | _DO | _MODALS.keys() - {"need"}:
                return True
        return False

    def _bids(self, number: int, before: int) -> bool:
        """Whether somebody is told to do it: "ordered Vetra to pay Dorn"."""
        if before < 1 or not self.tokens[before - 1].key or base_of(self._word(before - 1)):
            return False
        if not any(base_of(w) in _BIDDING for w in self.words[max(0, before - _BID) : before - 1]):
            return False
        after = self._word(number + 1)
        content = number + 1 < len(self.tokens) and (
            self.tokens[number + 1].key is not None or self.tokens[number + 1].value >= 0
        )
        return base_of(self.words[number]) == self.words[number] and (
            content or after in _DETERMINERS | _PRONOUNS
        )

    def _verb_later(self, number: int) -> bool:
        """Whether another word of the clause can be its verb: "staff costs in May rose"."""
        for place in range(number + 1, len(self.tokens)):
            word = self._base(place)[0]
            if word in _BOUNDS | _RELATIVE | {",", "to"}:
                return False
            if word in _BE | _HAVE | _DO | _MODALS.keys() or (
                base_of(word) and self._word(place - 1) not in _DETERMINERS | _PREPOSITIONS
            ):
                return True
        return True

    def _infinitive(self, number: int, before: int) -> _Group | None:
        """Read "agreed to buy", and not "sold to customers"."""
        after = number + 1
        leads = self._word(before - 1)
        if self._bids(number, before):
            return _Group(before, number, infinitive=True, bidden=True)
        if leads and base_of(leads) is None and leads not in _TO:
            return None
        if after < len(self.tokens) and not (
            self.words[after] in _DETERMINERS | _PRONOUNS | _BOUNDS | _PREPOSITIONS | {",", "and"}
            or self.tokens[after].key
        ):
            return None
        denied = leads in ("refused", "refuses", "refuse", "failed", "fails", "fail", "unable")
        denied = denied or self._word(before - 1) in _NOT
        return _Group(before, number, denied=denied, infinitive=True)

    # -- sides ---------------------------------------------------------------------------------

    def _deed(self, place: int, group: _Group, found: list[Deed]) -> Deed | None:
        last = found[-1] if found else None
        if group.head < 0:
            return self._cut(group, last)
        if group.reduced:
            noun = group.start - (self._word(group.start - 1) == ",")
            subject, pronoun, low, extra = self._noun_before(noun), False, group.start, None
        else:
            subject, pronoun, low, extra = self._subject(group, last)
        start = group.head + 1
        stop = self._stop(place, start)
        right = list(range(start, stop))
        by: list[int] = []
        if group.passive:
            at = next((n for n in right if self.words[n] == "by"), None)
            if at is not None:
                by = right[right.index(at) + 1 :]
                right = right[: right.index(at)]
        lone = next((n for n in right if self.words[n] in _CONTRAST), None)
        without = frozenset[str]()
        if lone is not None and self.words[lone] != "than":
            without = self._keys(right[right.index(lone) + 1 :])
            right = right[: right.index(lone)]
        objects = self._keys(right) | (extra or frozenset())
        denied = group.denied
        if any(self.words[n] in _NOT for n in range(low, group.start)):
            return None  # "items not from the sale": what is denied is no deed
        if any(map(self._none, (*range(low, group.start), *right[:3]))):
            denied = not denied
        if denied and "until" in self.words[start - 1 : stop + 1]:
            return None  # "does not start until May" starts
        verb, word = self._verb(group)
        if verb == "lack":
            verb, denied = "have", not denied
        agents, patients = (self._keys(by), subject | objects) if group.passive else (
            subject, objects
        )  # fmt: skip
        if group.adjective:
            agents, patients = frozenset[str](), subject | objects
        return Deed(
            verb, word, agents, patients, denied, group.modal, group.head, low, stop, pronoun,
            pronoun or self.words[low] in _PRONOUNS or self._word(group.start - 1) == ",",
            group.adjective, group.passive, self._word(low - 1) in _CONDITIONS,
            self._word(start) if self._word(start) in _PARTICLES else "",
            any(self.words[n] in ("alone", "only") for n in range(low, max(group.head, low))),
            subject, without,
        )  # fmt: skip

    def _none(self, number: int) -> bool:
        return self.words[number] in _NONE and self._word(number + 1) not in _NO_SUCH

    def _verb(self, group: _Group) -> tuple[str, str]:
        if group.linking:
            return group.linking, group.linking
        word = self.words[group.head]
        base = base_of(word)
        negative = group.adjective or (group.passive and base is not None and base[:2] == "un")
        if negative or base is None:
            return self.tokens[group.head].key or word, word
        return key_of(base) or base, word

    def _cut(self, group: _Group, last: Deed | None) -> Deed | None:
        """Read "backups are encrypted, but exports are not": what is left out stands before."""
        if last is None:
            return None
        subject, _, low, _ = self._subject(group, last)
        active = last.subject <= last.agents
        return replace(
            last,
            agents=subject if active else last.agents,
            patients=last.patients if active else subject | (last.patients - last.subject),
            subject=subject,
            denied=group.denied,
            modal=group.modal or last.modal,
            at=group.start,
            start=low,
            end=self._after + 1,
        )

    def _keys(self, numbers: list[int] | range) -> frozenset[str]:
        found: set[str] = set()
        for number in numbers:
            token = self.tokens[number]
            if token.key and not self._is_adverb(number) and token.lower not in _SMALL:
                found.add(token.key)
            elif token.value >= 0 and number and self._names_one(number):
                # "unit 2" is not "unit 1"
                found.add(f"{self.tokens[number - 1].key} {token.lower}")
        return frozenset(found)

    def _names_one(self, number: int) -> bool:
        before = self.tokens[number - 1]
        return before.key is not None and self.words[number].isdigit() and before.value < 0

    def _noun_before(self, number: int) -> frozenset[str]:
        """Return the words of the noun that stands right before a place."""
        place = number - 1
        while (
            place >= 0
            and place not in self.heads
            and (
                self.tokens[place].key
                or self.tokens[place].value >= 0
                or self.words[place] in _DETERMINERS | {"of"}
            )
        ):
            place -= 1
        return self._keys(range(place + 1, number))

    def _subject(
        self, group: _Group, last: Deed | None
    ) -> tuple[frozenset[str], bool, int, frozenset[str] | None]:
        """Return who stands before a verb, whether it is a pronoun, where, and what "which" is."""
        place = group.start - 1
        while place >= 0 and self.words[place] in _ADVERBS:
            place -= 1
        word = self._word(place)
        if place < 0:
            return frozenset(), False, group.start, None
        if group.bidden:
            return self._noun_before(group.start), False, group.start, None
        if last is not None and self._carries_on(group, place):
            return last.subject, last.pronoun, group.start, None
        if word in _RELATIVE:
            at = place - (self._word(place - 1) == ",")
            return self._noun_before(at), False, place, None
        if place in self.heads:
            return self._before_relative(place), False, group.start, None
        if word in _PRONOUNS:
            inherited = last.subject if last else frozenset[str]()
            asked = word in ("you", "we", "i")
            return frozenset[str]() if asked else inherited, not (asked or inherited), place, None
        if word in _BOUNDS | {","}:
            first = self._insertion(place) if word == "," else 0
            return self._noun_before(first), False, first or group.start, None
        low = self._low(place)
        extra = None
        if low - 1 in self.heads and (outer := self._before_relative(low - 1)):
            return outer, False, low, None  # "staff who finished the course may"
        if self._word(low - 1) in _RELATIVE:
            extra = self._noun_before(low - 1 - (self._word(low - 2) == ","))
        return self._keys(range(low, group.start)), False, low, extra

    def _carries_on(self, group: _Group, place: int) -> bool:
        """Whether who does it is who did the last: "checks it and informs", "agreed to buy"."""
        word = self.words[place]
        joined = word in _JOINS or (word == "," and not self._insertion(place))
        return group.infinitive or joined

    def _before_relative(self, place: int) -> frozenset[str]:
        """Return the noun that a relative clause around a place belongs to."""
        at = next(
            (n for n in range(place, self._wall(place) - 1, -1) if self.words[n] in _RELATIVE), 0
        )
        return self._noun_before(at - (self._word(at - 1) == ",")) if at else frozenset()

    def _low(self, place: int) -> int:
        """Return where the words of a subject begin."""
        low = place
        while low >= 0:
            word = self.words[low]
            if word in _BOUNDS | _RELATIVE or word == "," or low in self.heads:
                break
            if word in _JOINS and any(n in self.heads for n in range(self._wall(low), low)):
                break
            low -= 1
        return self._after_phrase(low + 1, place)

    def _after_phrase(self, low: int, place: int) -> int:
        """Return where a subject begins behind a phrase: "in the final Lomax beat"."""
        if self._word(low) not in _PREPOSITIONS:
            return low
        at = low + 1 + (self._word(low + 1) in _DETERMINERS)
        while at < place and self.tokens[at].key and not self.tokens[at].capital:
            at += 1
        begins = self.tokens[at].capital or self.words[at] in _DETERMINERS
        return at if low + 1 < at <= place and begins else low

    def _wall(self, place: int) -> int:
        while place > 0 and self.words[place - 1] not in _BOUNDS:
            place -= 1
        return place

    def _insertion(self, comma: int) -> int:
        """Return where the comma stands that opens what another closes; 0 if there is none."""
        for place in range(comma - 1, 0, -1):
            if self.words[place] in _BOUNDS:
                return 0
            if self.words[place] == ",":
                opens = self.words[place + 1]
                inside = opens in _RELATIVE | _DETERMINERS or is_participle(opens)
                noun = not self.heads & set(range(place, comma)) and comma - place <= _APPOSED
                return place if inside or noun else 0
        return 0

    def _stop(self, place: int, start: int) -> int:
        """Return where what follows a verb ends."""
        stop = len(self.tokens)
        for number in range(start, len(self.tokens)):
            word = self.words[number]
            if word in _BOUNDS | _RELATIVE | _THEN or (word == "," and not self._apposed(number)):
                stop = number
                break
        following = self.groups[place + 1] if place + 1 < len(self.groups) else None
        if following is not None and following.start < stop and not following.reduced:
            before = following.start - 1
            if self._word(before) in _JOINS:
                stop = before
            elif following.infinitive:
                stop = following.start
            else:
                stop = max(start, min(stop, self._after_join(start, following.start)))
        return stop

    def _apposed(self, comma: int) -> bool:
        """Whether a name follows that says who is meant: "the mayor, Anton Reik, which"."""
        end = comma + 1
        while end < len(self.tokens) and self.tokens[end].capital and self.tokens[end].key:
            end += 1
        return comma + 1 < end and (end == len(self.tokens) or self.words[end] in _BOUNDS | {","})

    def _after_join(self, start: int, end: int) -> int:
        """Return the last "and" before the subject of the next verb, or that verb."""
        return max((n for n in range(start, end) if self.words[n] in _JOINS), default=end)
