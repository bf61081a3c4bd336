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

from faithguard._verbs import base_of, is_participle
from faithguard.verifiers.rules._groups import Group, Groups
from faithguard.verifiers.rules._reading import Reading, key_of, keys_of_all
from faithguard.verifiers.rules._small_words import (
    ADVERBS,
    APPOSED,
    BOUNDS,
    CONDITIONS,
    CONTRAST,
    DETERMINERS,
    JOINS,
    LONGEST,
    MEANING,
    NO_SUCH,
    NONE,
    NOT,
    PARTICLES,
    PHRASES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SMALL,
    THEN,
)

__all__ = ["Deed", "deeds_of"]

# joined once: these are asked of every word
_NO_OBJECT = PREPOSITIONS | BOUNDS | JOINS | ADVERBS | {","}
_CLAUSE_ENDS = BOUNDS | RELATIVE | THEN
_PARTINGS = BOUNDS | JOINS | {","}
_NOUN_LEADS = RELATIVE | DETERMINERS
_JOINTS = JOINS | {","}
_ENDS = BOUNDS | {","}


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


_REFUSING = keys_of_all(("refuse", "fail"))
_GOVERNING = keys_of_all("allow permit let use ask tell need have require oblige".split())
"""Verbs whose denial is that of what they govern."""
_FORBIDDING = keys_of_all("forbid prohibit ban".split())
_NEEDED = keys_of_all("need have require oblige".split())
_WHEN = frozenset(("before", "after", "while"))
_YET = frozenset((",", "but", "and", "yet", "though"))
_DENYING = frozenset(("no", "not", "never"))
_MERELY = frozenset("only just merely even yet necessarily to if when until before".split())


def deeds_of(reading: Reading) -> tuple[Deed, ...]:
    """Return the deeds of a sentence, in order."""
    tokens = reading.tokens
    if not 1 < len(tokens) <= LONGEST or reading.row:
        return ()
    return tuple(_Deeds(reading).deeds())


class _Deeds(Groups):
    def deeds(self) -> Iterator[Deed]:
        """Yield what the groups say, each with its two sides."""
        found: list[Deed] = []
        for place, group in enumerate(self.groups):
            deed = self._deed(place, group, found)
            if deed is not None:
                if group.infinitive and deed.denied and found and found[-1].verb in _REFUSING:
                    found.pop()  # "refused to pay" is one deed, which is denied
                deed = self._governed(group, deed, found)
                found.append(deed)
                found.extend(self._but_not(deed))
        yield from found

    def _governed(self, group: Group, deed: Deed, found: list[Deed]) -> Deed:
        """Return a deed as the denied verb before it has it: "not allowed to enter"."""
        last = found[-1] if found else None
        near = last is not None and group.start - last.at <= 1
        if last is None or not near or not group.infinitive or deed.denied:
            return deed
        if self._word(group.start) != "to":
            return deed
        if last.verb in _FORBIDDING and not last.denied:
            return replace(deed, denied=True, modal="can")
        if last.verb not in _GOVERNING or not last.denied:
            return deed
        needed = last.verb in _NEEDED or last.modal == "need"
        return replace(deed, denied=True, modal="need" if needed else deed.modal)

    def _but_not(self, deed: Deed) -> Iterator[Deed]:
        """Yield what a deed is said not to be done to: "keeps cats but no dogs", "never in May"."""
        at = deed.end
        while self._word(at) in _YET:
            at += 1
        if at == deed.end or self._word(at) not in _DENYING or deed.denied:
            return
        if self._word(deed.start) in RELATIVE:
            return  # "is free at the Alba, which has a pool, but not at the Miro"
        if self._word(at + 1) in NO_SUCH | _MERELY:
            return
        end = at + 1
        while end < len(self.words) and self.words[end] not in _PARTINGS:
            end += 1
        denied = self._keys(range(at + 1, end))
        if not denied or self.heads & set(range(at + 1, end)):
            return
        objects = denied | (deed.subject & deed.patients)
        agents = deed.agents & deed.subject
        if self._word(at + 1) == "by":
            objects, agents = deed.patients, denied
        yield replace(
            deed, agents=agents, patients=objects, denied=True, start=at, end=end, modal=deed.modal
        )

    def _deed(self, place: int, group: Group, found: list[Deed]) -> Deed | None:
        last = found[-1] if found else None
        if group.head < 0:
            main = next((deed for deed in reversed(found) if not deed.conditional), last)
            return self._cut(group, main)
        if group.reduced:
            noun = group.start - (self._word(group.start - 1) == ",")
            subject, pronoun, low, extra = self._noun_before(noun), False, group.start, None
        else:
            subject, pronoun, low, extra = self._subject(group, last)
        if last is not None and self._shares_passive(group, last):
            group = replace(group, passive=True)
        start = group.head + 1
        stop = self._stop(place, start)
        right = list(range(start, stop))
        by: list[int] = []
        if group.passive:
            at = next((n for n in right if self.words[n] == "by"), None)
            if at is not None:
                by = right[right.index(at) + 1 :]
                right = right[: right.index(at)]
                end = next((n for n in by[1:] if self._leaves_agents(n)), stop)
                right += [n for n in by if n >= end]
                by = [n for n in by if n < end]
        lone = next((n for n in right if self.words[n] in CONTRAST), None)
        without = frozenset[str]()
        if lone is not None and self.words[lone] != "than":
            without = self._keys(right[right.index(lone) + 1 :])
            right = right[: right.index(lone)]
        objects = self._keys(right) | (extra or frozenset())
        denied = group.denied
        if self._denies_no_deed(range(low, group.start), right):
            return None
        if any(map(self._none, (*range(low, group.start), *right[:3]))):
            denied = not denied
        if denied and "until" in self.words[start - 1 : stop + 1]:
            return None  # "does not start until May" starts
        group = self._freed(group, denied)
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
            not by and (pronoun or self._unsure(low, subject) or self._far(group.start - 1)),
            group.adjective, group.passive,
            self._word(low - 1) in CONDITIONS or self._supposed(group),
            self._word(start) if self._word(start) in PARTICLES else "",
            any(self.words[n] in ("alone", "only") for n in range(low, max(group.head, low))),
            subject, without,
        )  # fmt: skip

    def _denies_no_deed(self, before: range, after: list[int]) -> bool:
        """Whether a denial is of something else: "items not from the sale", "repairs no"."""
        answers = any(self.words[n] == "no" and self._word(n + 1) in _ENDS for n in after[:3])
        return answers or any(self.words[n] in NOT for n in before)

    def _freed(self, group: Group, denied: bool) -> Group:
        """Return "need not" of "no one is obliged to"."""
        freed = denied and group.modal == "must" and self._word(group.head - 1) == "to"
        return replace(group, modal="need") if freed else group

    def _leaves_agents(self, at: int) -> bool:
        """Whether a word ends those by whom it is done; "by card and by cheque" goes on."""
        word = self.words[at]
        again = word == "by" and self.words[at - 1] in _JOINTS
        return word in PREPOSITIONS - {"of"} and not again

    def _unsure(self, low: int, subject: frozenset[str]) -> bool:
        """Whether a pronoun opens a subject, and it is not plain whom it means."""
        return self.words[low] in PRONOUNS and (self.words[low] not in RELATIVE or not subject)

    def _shares_passive(self, group: Group, last: Deed) -> bool:
        """Whether a participle shares the "was" of the one before: "was built and sold"."""
        if group.passive or group.adjective or group.linking or group.modal:
            return False
        if not last.passive and self._word(group.start - 1) != ",":
            return False  # "a plant, located under the hill"
        after = self._word(group.head + 1)
        alone = not after or after in _NO_OBJECT
        joined = self._word(group.start - 1) in _JOINTS
        return joined and alone and is_participle(self.words[group.head])

    def _supposed(self, group: Group) -> bool:
        """Whether a verb in "ing" only says when: "before taking it"."""
        return group.infinitive and self._word(group.start) in _WHEN

    def _none(self, number: int) -> bool:
        numbered = self._word(number + 1) == "." and self._word(number + 2).isdigit()  # "no. 3"
        return self.words[number] in NONE and self._word(number + 1) not in NO_SUCH and not numbered

    def _verb(self, group: Group) -> tuple[str, str]:
        if group.linking:
            return group.linking, group.linking
        word = self.words[group.head]
        base = base_of(word)
        after = next((w for w in self.words[group.head + 1 : group.head + 4] if w in MEANING), "")
        if after and (meant := PHRASES.get(f"{base} {after}")):
            return key_of(meant) or meant, word
        negative = group.adjective or (group.passive and base is not None and base[:2] == "un")
        if negative or base is None:
            return self.tokens[group.head].key or word, word
        return key_of(base) or base, word

    def _cut(self, group: Group, last: Deed | None) -> Deed | None:
        """Read "backups are encrypted, but exports are not": what is left out stands before."""
        if last is None:
            return None
        if group.inverted:
            stop = self._stop(len(self.groups), group.start + 1)
            subject, low = self._keys(range(group.start + 1, stop)), group.start
            if not subject:
                return None
            group = replace(group, denied=last.denied or self._word(low - 1) != "so")
        else:
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
            end=group.start + 1,
        )

    def _keys(self, numbers: list[int] | range) -> frozenset[str]:
        found: set[str] = set()
        for number in numbers:
            token = self.tokens[number]
            if token.key and not self._is_adverb(number) and token.lower not in SMALL:
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
                or self.words[place] in DETERMINERS | {"of"}
            )
        ):
            place -= 1
        return self._keys(range(place + 1, number))

    def _subject(
        self, group: Group, last: Deed | None
    ) -> tuple[frozenset[str], bool, int, frozenset[str] | None]:
        """Return who stands before a verb, whether it is a pronoun, where, and what "which" is."""
        place = group.start - 1
        while place >= 0 and self.words[place] in ADVERBS:
            place -= 1
        word = self._word(place)
        if place < 0:
            return frozenset(), False, group.start, None
        if group.bidden:
            return self._noun_before(group.start), False, group.start, None
        if last is not None and self._carries_on(group, place):
            return last.subject, last.pronoun, group.start, None
        if word in RELATIVE:
            at = place - (self._word(place - 1) == ",")
            return self._noun_before(at), False, place, None
        if place in self.heads:
            return self._before_relative(place), False, group.start, None
        if word in PRONOUNS:
            inherited = last.subject if last else frozenset[str]()
            asked = word in ("you", "we", "i")
            if word == "one" and self._word(place - 1) in NONE:
                return frozenset(), False, place - 1, None  # "no one may"
            return frozenset[str]() if asked else inherited, not (asked or inherited), place, None
        if word in _ENDS:
            first = self._insertion(place) if word == "," else 0
            renamed = self._renamed(first, place)
            again = self._keys(range(first + 1, place)) if renamed else frozenset[str]()
            return self._noun_before(first) | again, False, first or group.start, None
        low = self._low(place)
        extra = None
        if low - 1 in self.heads and (outer := self._before_relative(low - 1)):
            return outer, False, low, None  # "staff who finished the course may"
        if self._word(low - 1) in RELATIVE:
            extra = self._noun_before(low - 1 - (self._word(low - 2) == ","))
        return self._keys(range(low, group.start)), False, low, extra

    def _carries_on(self, group: Group, place: int) -> bool:
        """Whether who does it is who did the last: "checks it and informs", "agreed to buy"."""
        word = self.words[place]
        joined = word in JOINS | {"but", "yet"} or (word == "," and not self._insertion(place))
        return group.infinitive or joined

    def _before_relative(self, place: int) -> frozenset[str]:
        """Return the noun that a relative clause around a place belongs to."""
        at = next(
            (n for n in range(place, self._wall(place) - 1, -1) if self.words[n] in RELATIVE), 0
        )
        return self._noun_before(at - (self._word(at - 1) == ",")) if at else frozenset()

    def _low(self, place: int) -> int:
        """Return where the words of a subject begin."""
        low = place
        while low >= 0:
            word = self.words[low]
            if word in _CLAUSE_ENDS or word == "," or low in self.heads:
                break
            if word in JOINS and any(n in self.heads for n in range(self._comma(low), low)):
                break
            low -= 1
        return self._after_phrase(low + 1, place)

    def _after_phrase(self, low: int, place: int) -> int:
        """Return where a subject begins behind a phrase: "in the final Lomax beat"."""
        if self._word(low) not in PREPOSITIONS:
            return low
        at = low + 1 + (self._word(low + 1) in DETERMINERS)
        while at < place and self.tokens[at].key and not self.tokens[at].capital:
            at += 1
        begins = self.tokens[at].capital or self.words[at] in DETERMINERS
        return at if low + 1 < at <= place and begins else low

    def _comma(self, place: int) -> int:
        """Return where the part between commas begins that a place stands in."""
        while place > 0 and self.words[place - 1] not in _ENDS:
            place -= 1
        return place

    def _wall(self, place: int) -> int:
        while place > 0 and self.words[place - 1] not in BOUNDS:
            place -= 1
        return place

    def _far(self, place: int) -> bool:
        """Whether a comma parts a verb from who does it, and no other name of it."""
        return self._word(place) == "," and not self._renamed(self._insertion(place), place)

    def _renamed(self, first: int, comma: int) -> bool:
        """Whether what two commas enclose is another name: "the coach, Ivo Brand, praised"."""
        return (
            bool(first)
            and not self.heads & set(range(first, comma))
            and (self.words[first + 1] not in RELATIVE and not is_participle(self.words[first + 1]))
        )

    def _insertion(self, comma: int) -> int:
        """Return where the comma stands that opens what another closes; 0 if there is none."""
        for place in range(comma - 1, 0, -1):
            if self.words[place] in BOUNDS:
                return 0
            if self.words[place] == ",":
                opens = self.words[place + 1]
                inside = opens in _NOUN_LEADS or is_participle(opens)
                noun = not self.heads & set(range(place, comma)) and comma - place <= APPOSED
                return place if inside or noun else 0
        return 0

    def _stop(self, place: int, start: int) -> int:
        """Return where what follows a verb ends."""
        stop = len(self.tokens)
        for number in range(start, len(self.tokens)):
            word = self.words[number]
            if word in _CLAUSE_ENDS or (word == "," and not self._apposed(number)):
                stop = number
                break
        following = self.groups[place + 1] if place + 1 < len(self.groups) else None
        if following is not None and following.start < stop and not following.reduced:
            before = following.start - 1
            if self._word(before) in JOINS:
                stop = before
            elif following.infinitive:
                stop = (
                    self._before_bidden(start, following.start)
                    if following.bidden
                    else (following.start)
                )
            else:
                stop = max(start, min(stop, self._after_join(start, following.start)))
        return stop

    def _before_bidden(self, start: int, end: int) -> int:
        """Return where "and Brill" begins in "to pay half and Brill to repair it"."""
        at = end - 1
        while at > start and self.tokens[at].key and self.words[at] not in JOINS:
            at -= 1
        return at if self.words[at] in JOINS else end

    def _apposed(self, comma: int) -> bool:
        """Whether a name follows that says who is meant: "the mayor, Anton Reik, which"."""
        end = comma + 1
        while end < len(self.tokens) and self.tokens[end].capital and self.tokens[end].key:
            end += 1
        return comma + 1 < end and (end == len(self.tokens) or self.words[end] in _ENDS)

    def _after_join(self, start: int, end: int) -> int:
        """Return the last "and" before the subject of the next verb, or that verb."""
        return max((n for n in range(start, end) if self.words[n] in JOINS), default=end)
