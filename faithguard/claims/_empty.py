"""Lead-in or title -> what of it the items under it need for their sense.

In: its words. Out: the same where it says something, nothing where it only announces what comes
("Here is what you need to know about your stay:"), and the topic or the condition where an
announcement names one: "the evening tour:" of "All you need to know about the evening tour:".

The lists are closed: a lead-in with a word of its own is kept whole.
"""

from __future__ import annotations

import re
from functools import lru_cache

from faithguard.claims._phrases import DOCUMENTS

__all__ = ["only_announces", "sense_of"]

_PAPERS = (
    rf"(?:{DOCUMENTS}|(?:the|your|this|our) (?:[a-z-]+ ){{0,2}}(?:information|guide|leaflet|manual|"
    r"handbook|brochure|notice|page|website|faq|article|document|documents|text|context|policy))"
)
_HOW = (
    r"(?:(?:the|a|an|some|any|all|both|my|your|our|their|few|several|many|number|couple|of|very|most|"
    r"more|key|main|important|essential|quick|short|brief|practical|useful|helpful|additional|"
    r"other|general|basic|relevant|full|complete|detailed|concise|simple|clear|handy|major|core|"
    r"crucial|critical|good|interesting|specific|exact|requested|following|final|direct|"
    r"step-by-step|high-level|two|three|four|five|six|seven|eight|nine|ten|top|necessary)"
    r"(?:,? (?:and )?| & ))"
)
_NOUN = (
    r"(?:facts?|points?|details?|information|info|summary|overview|breakdown|rundown|run-through|"
    r"highlights?|essentials|basics|take-?aways?|answers?|list|recap|things|notes?|tips|items|"
    r"outline|particulars|specifics|findings|aspects|considerations|insights|deal|gist|"
    r"explanation|guide|response|rules|conditions|data|look|reminders?|pointers|pieces)"
)
_WHO = r"(?:you|guests|visitors|customers|users|travell?ers|readers|people|everyone|we|i)"
_MAY = (
    r"(?:(?:(?:may|might|must|should|will|can|could|would|need to|want to|have to|ought to|"
    r"(?:would |'d )like to|'ll|'d)(?: also| probably| likely)? ?)+)"
)
_LEARN = (
    r"(?:know|expect|remember|consider|note|understand|be aware of|keep in mind|bear in mind|"
    r"watch out for|look out for|say|tell you|see|find|find out|learn|share|gather|offer)"
)
_FOUND = r"(?:found|know|have|gathered|learned|learnt|see|could find|was able to find|have found)"
_YOUR = (
    r"(?:(?:your|the|a|any|this|our|each|every) )?(?:next |upcoming |planned )?(?:stay|visit|"
    r"trip|journey|arrival|booking|holiday|vacation|travels?|flight|appointment|tour|order|"
    r"purchase|departure|day|reservation|question|request|enquiry|inquiry|query|reference|"
    r"convenience|information|peace of mind|questions|planning|hotel|place|topic|subject|"
    r"product|service|matter|app|company|event)"
)
_GO = (
    r"(?:arrive|go|travel|visit|leave|start|begin|book|come|set off|set out|stay|check in|head out|"
    r"decide|order|buy|sign up|plan)"
)
_TOPIC = r"(?P<topic{n}>[^\W\d_][\w'’&-]*(?: [\w'’&-]+){{0,7}}?)"
_ENDS = (
    r"(?: (?:below|here|again|briefly|in (?:short|brief|full|detail|a nutshell|mind)|as follows|"
    r"for you|to (?:know|note|remember|consider|keep in mind|bear in mind|get you started|help)|"
    rf"worth (?:knowing|noting)|(?:that )?{_WHO} (?:{_MAY}{_LEARN}|requested|wanted|"
    r"asked(?: for| about)?|were (?:looking|asking) for|need)|"
    r"(?:that|which) (?:may|might|could|should|will) (?:also )?(?:help|be (?:useful|helpful|of "
    rf"help|of interest))(?: (?:to )?you)?|(?:that|which) (?:apply|applies) to {_YOUR}|"
    rf"(?:that )?i {_FOUND}|(?:based on|according to|from|in|of) {_PAPERS}|"
    rf"of what {_PAPERS} (?:says?|states?)|"
    rf"(?:before|when|while|if|once|as) you(?:'re| are)? (?:{_GO}|planning|travelling|visiting)|"
    rf"before (?:booking|travelling|arriving|visiting|you)|"
    rf"(?:for|about|on|regarding|during|before|at|of|to|from|in|concerning) {_YOUR}|"
    r"(?:for|about) (?:guests|visitors|customers|you|it|them|this|that)))*"
)


def _about(number: int) -> str:
    topic = _TOPIC.format(n=number)
    return rf"(?: (?:about|on|of|for|at|in|regarding|concerning|from) {topic})??{_ENDS}"


_WHAT = (
    rf"(?:what|everything|all|anything|things|(?:{_HOW})+{_NOUN})(?: that)? "
    rf"(?:{_WHO}(?: {_MAY}|'ll |'d | )(?:{_LEARN})|to {_LEARN}|i(?:'ve)? {_FOUND}|"
    rf"i can (?:tell you|say|share))"
)
_SAYS = r"(?:says?|states?|mentions?|tells? (?:us|you)|provides?|contains?|gives?|shows?|offers?)"
_NAMED = rf"(?:(?:{_HOW})*{_NOUN}|{_WHAT}|what {_PAPERS} {_SAYS})"
_BARE = (
    r"(?:at a glance|tl;?dr|good to know|worth (?:knowing|noting)|just so you know|fyi|"
    r"(?:please )?note(?: that)?|important|remember|here (?:you go|they are|it is|we go|goes)|"
    r"(?:how|why) (?:it|this|that|everything|things) (?:works?|matters?)|"
    r"where (?:things|we|you) stand|why|how|"
    r"(?:on|over) to the (?:details|facts|points|answers?)|"
    r"(?:in|to) (?:short|brief|summary|conclusion|a nutshell|sum up|recap|summari[sz]e))"
)
_THESE = rf"(?:(?:(?:all )?(?:of )?(?:the following|these|this)|(?:{_HOW})+)(?: {_NOUN})?)"
_HEED = (
    rf"(?:(?:(?:note|remember|consider|know|be aware of|be mindful of|take note of|mind|"
    rf"have a look at|take a look at|see)(?: that)?(?: {_THESE})?)|"
    rf"(?:keep|bear)(?: in mind)?(?: {_THESE})?(?: in mind)?)"
)
_CORES = (
    _BARE + _ENDS,
    rf"(?:here|below|the following|these|those|this|that)(?:'s| is| are|'re) "
    rf"(?:{_NAMED}{_about(1)}|{_BARE}{_ENDS})(?:,? straight from {_PAPERS})?",
    rf"(?:here|below),? (?:you'll|you will|you can|you may)(?: also)? (?:find|see) "
    rf"{_NAMED}{_about(2)}",
    rf"(?:please |kindly |do |also |just )*{_HEED}{_ENDS}",
    rf"(?:please )?(?:make sure|be sure)(?: that)? (?:you |to )?{_HEED}{_ENDS}",
    rf"{_WHO}(?: {_MAY}|'ll | )(?:want to |need to )?{_HEED}{_ENDS}",
    rf"it(?:'s| is) (?:also |very )?(?:important|worth|good|useful|helpful|essential|best|"
    rf"advisable)(?: to)? (?:{_HEED}|noting|knowing|remembering|keeping|mentioning)"
    rf"(?: {_THESE})?{_ENDS}",
    rf"there (?:are|'re) (?:{_HOW})+{_NOUN}{_ENDS}",
    rf"{_NAMED}{_about(3)}(?: (?:is|are)(?: (?:as follows|the following|these|below))?)?",
    rf"{_PAPERS} {_SAYS} (?:us |you )?{_THESE}{_about(4)}",
    rf"i(?:'ve| have|'ll| will| can| could)?(?: also)? (?:summari[sz]ed?|listed|list|put together|"
    rf"gathered|compiled|compile|share|found|find|broken down|outlined?|collected|provided?|"
    rf"give you|offer)(?: {_NAMED}| {_THESE}){_about(5)}",
    rf"let(?: me|'s| us) (?:explain|break (?:it|this|that|things) down|(?:quickly |briefly )?"
    rf"(?:summari[sz]e|list|outline|share|go (?:through|over)|walk (?:you )?through|look at|recap)"
    rf" {_NAMED}){_about(6)}",
    rf"the following(?: {_NOUN})? (?:(?:may|might|can|could|should) be (?:helpful|useful|said)|"
    rf"appl(?:y|ies)|is important|are important){_ENDS}",
)
_CORE = tuple(re.compile(core, re.IGNORECASE) for core in _CORES)
_OPENS = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|so|now|ok(?:ay)?|great|well|alright|"
    r"(?:i'm |i am )?(?:happy|glad) to help|as (?:requested|you asked)|"
    r"in (?:short|brief|summary|conclusion|a nutshell)|in general|overall|"
    r"to (?:sum up|recap|(?:summari[sz]e|answer|address)(?: (?:your|the) (?:question|request))?)|"
    r"(?:in (?:answer|response|reply) to|regarding|concerning|about|with regard to|as for|"
    rf"as regards|for|during|before|on|when it comes to) {_YOUR}|"
    r"to (?:help|assist|make|give|ensure|plan|prepare|get|enjoy)(?: you)?"
    rf"(?: (?:to )?(?:plan|prepare(?: for)?|get|with|understand|sure|the most of|out|ready for|"
    rf"most of|it|things|easier|easy|for|organi[sz]e|enjoy|a smooth|ready|started)){{0,5}}"
    rf"(?: {_YOUR})?|"
    rf"(?:before|when|while|if|once|as) you(?:'re| are)? (?:{_GO}|planning|travelling|visiting|"
    rf"staying)(?: (?:to|at|in|with))?(?: {_YOUR})?|"
    rf"(?:when|while|before) (?:planning|booking|preparing(?: for)?) {_YOUR}|"
    rf"(?:based on|according to|as per|per|from) {_PAPERS}(?: provided)?|"
    rf"(?:based on|from) what i (?:can see|{_FOUND})(?: (?:in|from) {_PAPERS})?)"
    r"(?:\s?[,!.:;–—-]+\s*|\s*$)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?P<held>(?:for|if|when|as|to|in|on|at|during|with|before|after|until)\b[^,:;]{2,100}),\s+"
    r"(?P<rest>(?:here|below|please|the following|these|keep|note|bear|remember)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
# One of several: what is said of it is not said of the others.
_ONE_OF = re.compile(
    r"(?:plan|tariff|tier|package|option|edition|version|ticket|pass|rooms?|suite|class|membership|"
    r"subscription|model|course|tour|card|account|licen[cs]e|policy|route|line|programme?|insurance|"
    r"offer|rate|adults?|children|kids|infants?|students?|seniors?|members?|residents?|groups?|"
    r"famil(?:y|ies)|dogs?|pets|men|women|patients)s?\b|\b(?:and|or|with|without)\b",
    re.IGNORECASE,
)
_QUOTES = str.maketrans({"’": "'", "‘": "'"})
_MARKS = "\\s:：*_.!–—-"
_EDGES = re.compile(rf"^[#{_MARKS}]+|[{_MARKS}]+$")
_MOST_OPENINGS = 3
_LONGEST = 200
"""Characters of an announcement."""


def only_announces(words: str) -> bool:
    """Say whether a lead-in or a title says nothing of what comes under it."""
    return sense_of(words) == ""


@lru_cache(maxsize=1_024)  # an answer that grows is read again and again
def sense_of(words: str) -> str:
    """Return what of a lead-in its items need for their sense; "" if it only announces them."""
    if len(words) > _LONGEST:
        return words
    bare = _EDGES.sub("", words.translate(_QUOTES))
    for _ in range(_MOST_OPENINGS):
        opening = _OPENS.match(bare)
        if opening is None or not opening.end():
            break
        bare = bare[opening.end() :].lstrip()
    if not bare:
        return ""
    topic = _topic_of(bare)
    if topic is not None:
        return f"{topic}:" if topic else ""
    held = _CONDITION.fullmatch(bare)
    if held is not None and _topic_of(held["rest"]) == "":
        return f"{held['held']}:"
    return words


def _topic_of(bare: str) -> str | None:
    """Return what an announcement is about, "" if nothing of its own; None if it is none."""
    for core in _CORE:
        found = core.fullmatch(bare)
        if found is not None:
            topic = next((held for held in found.groupdict().values() if held), "")
            return topic if _ONE_OF.search(topic) else ""
    return None
