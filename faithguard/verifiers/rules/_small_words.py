"""The small words of English from which the verbs of a sentence and their sides are told.

In: nothing. Out: closed lists: auxiliaries, modals, prepositions, conjunctions, pronouns.
"""

from __future__ import annotations

__all__ = [
    "ADVERBS",
    "APPOSED",
    "BE",
    "BEFORE_NOUNS",
    "BID",
    "BIDDING",
    "BOUNDS",
    "CALLED",
    "CONDITIONS",
    "CONTRAST",
    "DETERMINERS",
    "DO",
    "EACH",
    "FINITE",
    "GERUND_LEADS",
    "HAVE",
    "JOINS",
    "LIGHT",
    "LIKEWISE",
    "LONGEST",
    "MEANING",
    "PHRASES",
    "MODALS",
    "NO_ADVERBS",
    "NONE",
    "NOT",
    "NO_SUCH",
    "PARTICLES",
    "PLAIN",
    "PLURAL",
    "PREPOSITIONS",
    "PRONOUNS",
    "RELATIVE",
    "SELDOM",
    "SHORT",
    "SMALL",
    "THEN",
    "TITLES",
    "TO",
]


BE = frozenset("is are was were be been being am 're isn aren wasn weren".split())


HAVE = frozenset("has have had having hasn haven hadn".split())


DO = frozenset("do does did don doesn didn".split())


PLAIN = {
    **dict.fromkeys(BE, "be"), **dict.fromkeys(HAVE, "have"), **dict.fromkeys(DO, "do")
}  # fmt: skip


SHORT = 4
"""Letters; a longer word in "ly" is an adverb."""
MODALS = {
    "can": "can", "could": "can", "may": "can", "might": "can", "ca": "can", "couldn": "can",
    "must": "must", "shall": "must", "mustn": "must", "should": "should", "shouldn": "should",
    "will": "will", "would": "will", "wo": "will", "wouldn": "will", "need": "need",
}  # fmt: skip


TO = {"able": "can", "allowed": "can", "permitted": "can", "free": "can", "unable": "",
       "required": "must", "obliged": "must", "supposed": "should", "forbidden": "",
       "due": "will", "likely": "can", "expected": "can"}  # fmt: skip


FINITE = BE | HAVE | DO | (MODALS.keys() - {"need"})


NOT = frozenset(
    "not n't never neither nor cannot no-longer hardly rarely seldom scarcely barely".split()
)


ADVERBS = frozenset(
    "also only still already just again now then often always usually both later once soon"
    " previously currently thereby therefore however instead even ever first today alone much very"
    " more less far quite rather too so almost nearly well best"
    " altogether outright immediately meanwhile partly largely mainly all either".split()
)


NO_ADVERBS = frozenset(
    "family supply reply assembly july italy ally bully belly jelly lily rally fly monopoly anomaly"
    " butterfly daily weekly monthly hourly nightly elderly friendly costly deadly disorderly"
    " orderly lively lonely lovely melancholy panoply homily bodily apply comply imply multiply"
    " rely holly folly fully dolly trolley gully billy emily sally molly polly kelly reilly"
    " ugly".split()
)
"""They end as an adverb does."""


DETERMINERS = frozenset(
    "the a an this these those his her its their our your my no each every some any all both"
    " another such what whose one most many few several".split()
)


EACH = frozenset("all any both each every".split())
"""What says a thing of each of a kind."""


NONE = frozenset("no none nobody nothing neither nor".split())


PREPOSITIONS = frozenset(
    "of in on at to from by for with about into onto over between through during since until till"
    " up down out off under above below after before against among around as than via per without"
    " within towards toward near across along behind beyond despite except like unlike upon".split()
)


RELATIVE = frozenset("who which whom that whose".split())


PRONOUNS = frozenset("he she it they we you i this these those one who someone everyone".split())


PLURAL = frozenset("people children men women police staff they we you both who which that".split())


BOUNDS = frozenset('.;:!?()–—|"“”') | frozenset(
    "but while whereas although though because since if unless when where so however until"
    " whether".split()
)


CONDITIONS = frozenset("if unless whether when until".split())


PARTICLES = frozenset("up down in out on off".split())


PHRASES = {
    "turn down": "reject", "throw away": "discard", "throw out": "discard", "call off": "cancel",
    "put off": "postpone", "set up": "establish", "lay off": "dismiss", "carry out": "perform",
    "leave out": "omit", "rule out": "exclude", "hand over": "give", "pull out": "withdraw",
    "go up": "rise", "go down": "fall", "give away": "donate", "shut down": "close",
    "point out": "show", "give up": "abandon", "take over": "acquire", "break down": "fail",
    "find out": "discover", "pay back": "repay", "bring back": "restore", "cut back": "reduce",
    "look after": "manage", "pick up": "collect", "hand in": "submit", "send in": "submit",
    "take off": "remove", "make up": "invent", "take place": "happen", "take part": "participate",
    "back down": "withdraw",
}  # fmt: skip
"""What a verb says with a small word behind it."""


MEANING = frozenset(phrase.split()[1] for phrase in PHRASES)


JOINS = frozenset("and or".split())


CONTRAST = frozenset("without except unlike than".split())


TITLES = frozenset("dr mr mrs ms prof st sgt capt col gen lt rev".split())


NO_SUCH = frozenset("longer matter more less fewer later earlier doubt".split())


BEFORE_NOUNS = (DETERMINERS | PREPOSITIONS) - frozenset("both one this these those to".split())


THEN = frozenset(("after", "before"))


SMALL = PREPOSITIONS | ADVERBS | TITLES | {"inside", "outside"}
BIDDING = frozenset(
    "order tell ask require allow force oblige advise instruct permit invite request enable want"
    " urge command persuade encourage expect".split()
)


BID = 6
GERUND_LEADS = frozenset(("after", "before", "by", "while", "without"))


LIKEWISE = frozenset(("so", "nor", "neither"))


SELDOM = frozenset(("never", "rarely", "seldom", "hardly"))


LIGHT = frozenset(("make", "take", "use"))
"""Verbs that tell nothing by themselves, and are looked for all the same."""


CALLED = frozenset(("named", "called", "known", "titled"))


APPOSED = 6
"""Tokens between two commas that say again who is meant."""
LONGEST = 80
"""Tokens; what is longer is no sentence."""
