"""The verbs of an English sentence, each with its auxiliaries: what a deed is built around.

In: the reading of a sentence. Out: its verb groups in order: which word is the verb, whether it is
passive, denied, possible or demanded. There is no grammar here: closed lists of small words, the
form of words and their order decide, and what they do not decide is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from faithguard._verbs import base_of, is_participle, is_past
from faithguard.verifiers.rules._reading import Reading, Token
from faithguard.verifiers.rules._small_words import (
    ADVERBS,
    BE,
    BEFORE_NOUNS,
    BID,
    BIDDING,
    BOUNDS,
    CALLED,
    DETERMINERS,
    DO,
    FINITE,
    GERUND_LEADS,
    HAVE,
    JOINS,
    LIGHT,
    LIKEWISE,
    MODALS,
    NO_ADVERBS,
    NOT,
    PLAIN,
    PLURAL,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SELDOM,
    SHORT,
    THEN,
    TITLES,
    TO,
)

__all__ = ["Group", "Groups"]

# joined once: these are asked of every word
_NO_DESCRIPTION = BOUNDS | RELATIVE | JOINS | PRONOUNS | THEN | {",", "to"}
_BEHIND_INFINITIVE = DETERMINERS | PRONOUNS | BOUNDS | PREPOSITIONS | {",", "and"}
_BEHIND_VERB = DETERMINERS | PRONOUNS | {"to", "that", "not", "no"}
_BEFORE_VERB = PRONOUNS | RELATIVE | JOINS | {",", ")", "both", "but", "yet"}
_BEHIND_ORDER = DETERMINERS | PRONOUNS | PREPOSITIONS
_NO_SUBJECT = PREPOSITIONS | DETERMINERS | {"to"}
_CLAUSE_ENDS = BOUNDS | RELATIVE | {",", "and"}
_VERB_ENDS = BOUNDS | RELATIVE | {",", "to"}
_CLAUSE_OPENS = BOUNDS | RELATIVE | {","}
_SURE_AUXILIARIES = BE | HAVE | DO | MODALS.keys() - {"need"}
_AUXILIARIES = BE | HAVE | DO | MODALS.keys()
_HELPING = _AUXILIARIES | {"cannot"}
_OPENINGS = BOUNDS | JOINS | {",", ""}
_PARTINGS = BOUNDS | JOINS | {","}
_SUBJECTS = RELATIVE | PRONOUNS | JOINS
_STAND_INS = RELATIVE | PRONOUNS
_NOUN_LEADS = DETERMINERS | PREPOSITIONS
_COMPOUND_LEADS = _NOUN_LEADS | {"not", "no"}
_NOUN_OPENS = DETERMINERS | PRONOUNS
_NO_VERBS = BOUNDS | CALLED
_ENDS = BOUNDS | {","}


@dataclass(slots=True)
class Group:
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
    inverted: bool = False
    """"and so are exports": who does it stands behind."""


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
        if token.lower != "." or not number or tokens[number - 1].lower not in TITLES:
            yield token


class Groups:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.tokens = reading.tokens
        if any(token.lower in TITLES for token in self.tokens):
            self.tokens = tuple(_without_titles(self.tokens))
        # "kinase A" is no article
        self.words = [t.key if t.key and t.key.isupper() else t.lower for t in self.tokens]
        for number, word in enumerate(self.words[:-1]):
            then = self.words[number + 1]
            if word == "provided" and (then == "that" or then in _NOUN_OPENS):
                self.words[number] = "if" if self._word(number - 1) not in PLAIN else word
        self.groups = list(self._groups())
        self.heads = {n for g in self.groups for n in range(g.start, g.head + 1)}

    def _groups(self) -> Iterator[Group]:
        number = 0
        while number < len(self.tokens):
            group = self._opening(number)
            if group is None:
                number += 1
                continue
            yield group
            number = max(group.head, number) + 1 if group.head >= 0 else self._after + 1

    def _opening(self, number: int) -> Group | None:
        """Return the group that a word opens; most words tell by themselves that they open none."""
        word, previous = self.words[number], self._word(number - 1)
        group = None
        if word in _HELPING or word.endswith("n't") or previous in LIKEWISE:
            group = self._auxiliary(number)
        if group is None and (base_of(word) is not None or previous == "to"):
            group = self._full(number)
        return group

    _after = 0

    def _base(self, number: int) -> tuple[str, bool]:
        """Return a word without its "n't", and whether it had one."""
        word = self.words[number]
        if word.endswith("n't"):
            return word[:-3], True
        return ("can", True) if word == "cannot" else (word, False)

    def _auxiliary(self, number: int) -> Group | None:
        if self._word(number - 1) in LIKEWISE and self._opens(number - 1):
            if self.words[number] not in PLAIN and self.words[number] not in MODALS:
                return None
            self._after = number
            return Group(number, -1, inverted=True)
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
        if self._word(number - 1) == "without" and self._word(number) == "having":
            denied = not denied  # "without having to say why"
            modal = "need" if modal == "must" else modal
        if self._word(number - 1) in SELDOM:  # "drilling never is"
            number, denied = number - 1, not denied
        return self._with_head(number, place, last, denied, modal)

    def _step(self, place: int, last: str) -> _Step | None:
        """Read one word of a group of auxiliaries."""
        word, denies = self._base(place)
        following = self._word(place + 1)
        if word in PLAIN:
            return _Step(PLAIN[word], denies=denies)
        if word in MODALS:
            bare = word == "need" and not denies and (last or following != "not")
            month = word == "may" and self.tokens[place].capital and place
            return None if bare or month else _Step("modal", MODALS[word], denies=denies)
        if not last:
            return None
        if word == "yet" and following == "to" and last == "have":
            return _Step("modal", denies=True, words=2)  # "has yet to begin"
        if word in ("since", "yet") and last == "have":
            return _Step(last)
        if word == "in" and following == "any" and self._word(place + 2) == "case":
            return _Step(last, words=3)
        if word == "no" and following == "longer":
            return _Step(last, denies=True, words=2)
        if word in NOT or word in ADVERBS or (word.endswith("ly") and len(word) > SHORT):
            return _Step(last, denies=word in NOT)
        if last != "modal" and word in TO and following == "to":
            kind = TO[word]
            return _Step("modal", kind or "can", denies=not kind, words=2)
        if last == "be" and word == "to" and base_of(following or "") == following:
            return _Step("modal", "should")  # "is not to be used"
        if last == "be" and word == "to" and following == "be":
            return _Step("modal", "should")
        return _Step("modal", "must") if last == "have" and word == "to" else None

    def _with_head(
        self, start: int, place: int, last: str, denied: bool, modal: str
    ) -> Group | None:
        self._after = place - 1
        if place >= len(self.tokens) or self.words[place] in _PARTINGS:
            return Group(start, -1, denied=denied, modal=modal)
        token, word = self.tokens[place], self.words[place]
        if last == "be":
            if is_participle(word) and not token.capital:
                return Group(start, place, passive=True, denied=denied, modal=modal)
            if word.endswith("ing") and base_of(word):
                return Group(start, place, denied=denied, modal=modal)
            if token.key and token.value < 0 and not token.capital and self._is_adjective(place):
                return Group(start, place, adjective=True, denied=denied, modal=modal)
            return Group(start, place - 1, denied=denied, modal=modal, linking="be")
        if last == "modal" or (last == "do" and base_of(word) == word):
            if token.value < 0 and (token.key or base_of(word) == word):
                return Group(start, place, denied=denied, modal=modal)
            return Group(start, -1, denied=denied, modal=modal)
        if last == "have" and (is_participle(word) or word in ("been",)):
            return Group(start, place, denied=denied, modal=modal)
        return Group(start, place - 1, denied=denied, modal=modal, linking=last)

    def _is_adjective(self, place: int) -> bool:
        after = self._word(place + 1)
        return (
            place + 1 >= len(self.tokens)
            or not self.tokens[place + 1].key
            or after in PREPOSITIONS
            or after in ADVERBS
            or after.endswith("ly")
        )

    def _word(self, number: int) -> str:
        return self.words[number] if 0 <= number < len(self.words) else ""

    def _full(self, number: int) -> Group | None:
        token, word = self.tokens[number], self.words[number]
        no_word = token.value >= 0 or (token.key or "#")[0] == "#" or word in _NO_VERBS
        if no_word and base_of(word) not in LIGHT:
            return None
        if token.capital and number and self._word(number - 1) not in BOUNDS:
            return None
        base = base_of(word)
        after = self._word(number + 1)
        if base is None and not (self._word(number - 1) == "to" and after in _NOUN_OPENS):
            return None
        before = number - 1
        while before >= 0 and (self.words[before] in ADVERBS or self._is_adverb(before)):
            before -= 1
        longer = self._word(before) == "longer" and self._word(before - 1) == "no"
        before -= 2 * longer
        previous = self._word(before)
        if previous == "to":
            return self._infinitive(number, before)
        if (
            previous in BEFORE_NOUNS and not (word.endswith("ing") and previous in GERUND_LEADS)
        ) or (previous.endswith(("'s", "s'")) and previous[:-2] not in PRONOUNS):
            return None
        denied = longer or any(w in NOT for w in self.words[before + 1 : number])
        if is_past(word) or (word != base and not word.endswith(("s", "ing"))):
            return self._past(number, before, denied)
        if word.endswith("ing"):
            return self._gerund(number, before)
        if word != base and word.endswith("s"):
            return self._third_person(number, before, denied)
        return self._plain(number, before, denied)

    def _follows_subject(self, before: int) -> bool:
        return before >= 0 and (
            bool(self.tokens[before].key)
            or self.tokens[before].capital
            or self.tokens[before].value >= 0
            or self.words[before] in _BEFORE_VERB
        )

    def _past(self, number: int, before: int, denied: bool) -> Group | None:
        previous = self._word(before)
        behind = number + 1 + self._word(number + 1).endswith("ly")  # "collected daily by"
        if self._word(behind) == "by" and before >= 0 and previous not in _STAND_INS:
            joined = previous in JOINS
            return Group(number, number, passive=True, denied=denied, reduced=not joined)
        if denied and is_participle(self.words[number]) and self._opens(before + 1):
            # "recommended, though not required"
            return Group(before + 1, number, passive=True, denied=True, infinitive=True)
        if not self._follows_subject(before):
            return None
        if is_participle(self.words[number]) and self._finite_later(number):
            return None
        return Group(before + 1, number, denied=denied)

    def _gerund(self, number: int, before: int) -> Group | None:
        """Read "after outbidding Nordvolt": who does it is who does the rest."""
        leads = self._word(before)
        follows = number + 1 < len(self.tokens) and (
            self.tokens[number + 1].key or self.words[number + 1] in DETERMINERS
        )
        if leads not in GERUND_LEADS or not follows:
            return None
        return Group(before, number, denied=leads == "without", infinitive=True)

    def _third_person(self, number: int, before: int, denied: bool) -> Group | None:
        """Read a word in "s" as a verb, unless it is a plural: "the rods absorb"."""
        previous, following = self._word(before), self._word(number + 1)
        if self._base(before - 1)[0] in DO and before and base_of(previous) == previous:
            return None  # "does not cover drops"
        near = self.words[max(0, before - 2) : before]
        finite = number + 1 < len(self.words) and self._base(number + 1)[0] in FINITE
        if finite and RELATIVE.isdisjoint(near):
            return None  # "train lines were halted"
        opens = following in _BEHIND_VERB
        content = number + 1 < len(self.tokens) and bool(self.tokens[number + 1].key)
        if content and not opens and base_of(following) and not following.endswith("ing"):
            return None
        compound = self._word(before - 1) in _COMPOUND_LEADS
        compound = compound or is_past(previous)  # "awarded damages"
        if compound and (number + 1 == len(self.tokens) or following in _ENDS):
            return None  # "in straight sets."
        named = before >= 0 and (self.tokens[before].capital or previous in _SUBJECTS)
        inside = not RELATIVE.isdisjoint(self.words[max(0, before - 2) : before])
        verb = inside or opens or named or content or not compound or not self._verb_later(number)
        subject = self._follows_subject(before)
        return Group(before + 1, number, denied=denied) if subject and verb else None

    def _plain(self, number: int, before: int, denied: bool) -> Group | None:
        """Read a base form: after a plural, or as an order at the start of a clause."""
        start = before + 1
        previous, following = self._word(before), self._word(number + 1)
        opens = before < 0 or previous in BOUNDS
        token = self.tokens[number]
        if opens or (previous in {",", "and", "then", "please"} and not token.capital):
            if opens and token.capital and base_of(following):
                return None  # a name: "Rovers beat"
            if opens and following in PREPOSITIONS and self._rules_later(number):
                return None  # "demand for bread rose"
            object_ = following in _BEHIND_ORDER or (
                number + 1 < len(self.tokens) and bool(self.tokens[number + 1].key)
            )
            return Group(start, number, denied=denied) if object_ or not opens else None
        plural = previous in PLURAL or (
            bool(self.tokens[before].key) and previous.endswith("s") and not previous.endswith("ss")
        )
        joined = self.tokens[before].capital and self._word(before - 1) == "and"
        verb = plural or joined or self._lone(number, before)
        return Group(start, number, denied=denied) if verb else None

    def _rules_later(self, number: int) -> bool:
        """Whether another word of the same clause is a verb beyond doubt."""
        for place in range(number + 2, len(self.tokens)):
            word = self._base(place)[0]
            if word in BOUNDS | RELATIVE | JOINS | {",", "to"}:
                return False
            if word in BE | HAVE | DO | MODALS.keys() or (
                is_past(word) and self._word(place - 1) not in DETERMINERS | PREPOSITIONS
            ):
                return True
        return False

    def _lone(self, number: int, before: int) -> bool:
        """Whether no other word of a clause can be its verb: "lynx take hares"."""
        if before < 0 or not self.tokens[before].key or self._is_adverb(before):
            return False
        low = number
        while low > 0 and self.words[low - 1] not in _CLAUSE_OPENS:
            low -= 1
        high = number + 1
        while high < len(self.words) and self.words[high] not in _CLAUSE_ENDS:
            high += 1
        others = (*range(low, before + 1), *range(number + 1, high))
        opens = self.words[low] not in _NO_SUBJECT
        follows = high > number + 1 and not self.words[number + 1].endswith("ing")
        return (
            opens
            and follows
            and not any(
                self._base(n)[0] in _AUXILIARIES
                or self.words[n] == "to"
                or is_past(self.words[n])
                or (self.words[n][-1:] == "s" and base_of(self.words[n]) is not None)
                for n in others
            )
        )

    def _opens(self, number: int) -> bool:
        """Whether a place stands behind a comma, a conjunction or nothing."""
        return self._word(number - 1) in _OPENINGS

    def _is_adverb(self, number: int) -> bool:
        word = self.words[number]
        return (word.endswith("ly") and word not in NO_ADVERBS) or word in NOT

    def _finite_later(self, number: int) -> bool:
        """Whether a participle only describes its noun: "items marked so cannot be returned"."""
        for place in range(number + 1, len(self.tokens)):
            word = self._base(place)[0]
            if word in _NO_DESCRIPTION:
                return False
            if word in _SURE_AUXILIARIES:
                return True
        return False

    def _bids(self, number: int, before: int) -> bool:
        """Whether somebody is told to do it: "ordered Vetra to pay Dorn"."""
        if before < 1 or not self.tokens[before - 1].key or base_of(self._word(before - 1)):
            return False
        low, far = before - 1, before - BID
        while low > 0 and self.tokens[low].key and self.tokens[low].capital:
            low -= 1
        if self.words[low] == "and":  # "ordered Ann to pay and Bo to leave"
            far -= BID
        if not any(base_of(w) in BIDDING for w in self.words[max(0, far) : before - 1]):
            return False
        after = self._word(number + 1)
        content = number + 1 < len(self.tokens) and (
            self.tokens[number + 1].key is not None or self.tokens[number + 1].value >= 0
        )
        return base_of(self.words[number]) == self.words[number] and (
            content or after in _NOUN_OPENS
        )

    def _verb_later(self, number: int) -> bool:
        """Whether another word of the clause can be its verb: "staff costs in May rose"."""
        for place in range(number + 1, len(self.tokens)):
            word = self._base(place)[0]
            if word in _VERB_ENDS:
                return False
            if word in _AUXILIARIES or (base_of(word) and self._word(place - 1) not in _NOUN_LEADS):
                return True
        return True

    def _infinitive(self, number: int, before: int) -> Group | None:
        """Read "agreed to buy", and not "sold to customers"."""
        after = number + 1
        leads = self._word(before - 1)
        if self._bids(number, before):
            return Group(before, number, infinitive=True, bidden=True)
        if leads and base_of(leads) is None and leads not in TO:
            return None
        if after < len(self.tokens) and not (
            self.words[after] in _BEHIND_INFINITIVE or self.tokens[after].key
        ):
            return None
        denied = leads in ("refused", "refuses", "refuse", "failed", "fails", "fail", "unable")
        denied = denied or self._word(before - 1) in NOT or self._word(before - 2) == "no"
        return Group(before, number, denied=denied, infinitive=True)
