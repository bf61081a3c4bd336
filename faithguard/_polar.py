"""A short answer to a yes/no question -> whether it says yes or no.

In: words. Out: yes, no, something between them, or neither, by closed lists; and what an answer
says besides. The splitter makes a claim of such an answer and its question; the verifiers read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "Led",
    "agrees",
    "asked",
    "asked_and_said",
    "asks_what",
    "denies",
    "echoes",
    "led",
    "sentences_of",
    "wavers",
]

_BEFORE = (
    r"(?:(?:oh|well|ah|so|sorry|unfortunately|sadly|regrettably|i['’]m afraid|i am afraid|"
    r"i['’]m sorry|leider|malheureusement|lamentablemente|purtroppo|infelizmente|"
    r"helaas)[,.!:…]*\s)*"
)
_HOW = r"(?:absolutely|definitely|certainly|clearly|surely|of course|generally|usually|simply|just)"
_HOW_SURE = r"(?:most |quite |very )?(?:absolutely|definitely|certainly|clearly|surely|indeed)"
_ECHOED = (
    rf"(?:it|they|he|she|you|we|i|there|this|that|these|those) (?:{_HOW_SURE} )?"
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|may|must|should|am)"
    r"(?: to)?"
)
_DENIED = (
    rf"(?:{_ECHOED}(?:n?['’]t| not|not)(?: (?:have|need) to)?|(?:it|they|he|she|you|we|i) won['’]t|"
    r"(?:it|that|they)['’](?:s|re) not)"
)
_THINKING = r"i (?:do not|don['’]t) (?:think|believe) so"
_YES = (
    r"(?:yes|yep|yup|yeah|aye|sure(?: thing)?|of course|certainly|absolutely|definitely|indeed|"
    r"correct|"
    r"true|right|exactly|ok|okay|affirmative|naturally|by all means|that['’]s (?:right|correct|"
    r"true|so)|"
    r"that is (?:right|correct|true|so)|confirmed|agreed|very much so|without (?:a )?doubt|"
    r"no doubt|undoubtedly|sure (?:is|are|does|do|can|will)|i can confirm (?:that|this|it)|"
    r"(?:all|both|each)(?: of them)?|they all (?:are|do|can|have|will)|"
    r"all(?: of them)? (?:are|do|can|have|will)|ja|jawohl|klar|nat[üu]rlich|"
    r"selbstverst[äa]ndlich|genau|stimmt|"
    r"s[iíì]|claro(?: que s[iíì])?|por supuesto|correcto|oui|bien s[ûu]r|certo|certamente|sim|"
    r"com certeza|"
    r"natuurlijk|zeker|evet|tabii|はい|そうです|是的?|对|對|当然|當然|可以|نعم|أجل|हाँ|हां|जी हाँ|да)"
)
_NO = (
    r"(?:no|nope|nah|no way|never|not at all|by no means|under no circumstances|in no (?:case|way)|"
    r"on no account|not in the (?:least|slightest)|far from it|anything but|hardly|scarcely|barely|"
    r"(?:none|neither)(?: of them)?(?: (?:is|are|does|do|can|has|have|will))?|not a chance|"
    r"not a bit|"
    rf"{_THINKING}|negative|false|incorrect|wrong|"
    r"not (?:really|yet|currently|now|any ?more|true|so)|none at all|"
    r"that['’]s (?:not (?:right|correct|true|so|the case)|false|wrong|incorrect)|"
    r"that is (?:not (?:right|correct|true|so|the case)|false|wrong|incorrect)|"
    rf"(?:most )?(?:{_HOW}|unfortunately|sadly|regrettably|i['’]m afraid|i am afraid|apparently) "
    r"not|"
    r"nein|niemals|nie|keineswegs|auf keinen fall|(?:leider|bestimmt|sicher|gar|überhaupt) nicht|"
    r"nunca|jamás|claro que no|de ninguna manera|non|jamais|pas du tout|absolument pas|mai|"
    r"assolutamente no|n[ãa]o|nee|nooit|zeker niet|hayır|asla|いいえ|違います|"
    r"不是|不|不行|不可以|没有|"
    r"沒有|从不|否|لا|كلا|أبدا|नहीं|जी नहीं|нет|никогда)"
)
_END = r"[\s.,!:;…。！，、।۔]*"
_AGREES = re.compile(
    rf"{_BEFORE}(?:(?:{_YES}|{_HOW_SURE}),? )?(?:{_YES}|{_ECHOED})"
    rf"(?:[,.!]?\s(?:{_YES}|{_HOW}|{_ECHOED}|please))*{_END}",
    re.IGNORECASE,
)
_DENIES = re.compile(
    rf"{_BEFORE}(?:{_NO}|{_DENIED})(?:[,.!]?\s(?:{_NO}|sorry|unfortunately|{_DENIED}))*{_END}",
    re.IGNORECASE,
)
_WAVERS = re.compile(
    rf"{_BEFORE}(?:(?:that|this|it)(?: all| really)? depends(?: on .+)?|depends|"
    r"(?:some|most|many|few|several|a few|not all|not every\w*|only some|half)(?: of (?:them|it))?"
    r"(?: (?:is|are|does|do|did|can|has|have|will|may))?(?: not|n['’]t)?|"
    r"(?:only |not )?(?:sometimes|always|usually|often|occasionally|rarely|seldom|partly|partially|"
    r"entirely|completely|necessarily|quite|exactly|normally|generally|mostly)|"
    r"(?:maybe|perhaps|possibly|probably|presumably|likely|potentially)(?: not)?|"
    r"i (?:think|believe|guess|suppose|hope|assume)(?: so| not)|it (?:may|might|could)(?: be)?|"
    r"yes and no|more or less|kind of|sort of|to (?:some|a certain) extent|in part|in a way|"
    r"no longer|not any ?more|vielleicht|manchmal|teilweise|kommt drauf an|es kommt darauf an|doch|"
    r"peut-être|parfois|[çc]a dépend|si|quizás?|tal vez|a veces|depende|forse|a volte|dipende|"
    rf"talvez|às vezes|misschien|soms|たぶん|時々|也许|有时|ربما|أحيانا|शायद|कभी-कभी){_END}",
    re.IGNORECASE,
)
"""What says neither yes nor no of all that is asked."""

_LED = re.compile(
    rf"\W*(?P<before>{_BEFORE})(?P<polar>{_YES}|{_NO})"
    r"(?P<parted>[*_\s]*(?:[,.;:!，、。！—–]|\s-)[*_]*)\s*(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_NOT_SO = re.compile(
    r"\W*(?P<polar>not) (?P<rest>(?:for|on|in|at|with|to|by|during|under|before|after|until|from) "
    r"[^,;]{1,60})",
    re.IGNORECASE,
)
_ENDS_SO = re.compile(
    rf"(?P<rest>(?:for|on|in|at|with|without|during|under|from|to|if|when) [^,.;]{{1,60}}),\s"
    rf"(?P<polar>{_YES}|{_NO}){_END}",
    re.IGNORECASE,
)
_LONGEST = 80
"""Characters of a bare yes or no."""

_ASKED = re.compile(r"(?s)(?P<asked>.*[?？؟])\s+(?P<said>[^?？؟]+)")
_MARK = re.compile(r"[?？؟]\W*$")


_WHAT = re.compile(
    r"^\W*(?:(?:and|but|so|or|then|please|hi|hello|ok(?:ay)?|(?:can|could|would|will) you|tell|let|"
    r"me|us|know|do|i(?: would|['’]d) like to know|(?:of|in|at|for|on|to|from|by|since|until|with|"
    r"um|bis|seit|ab|a|de|en|con|para|por|à|pour|di|da|per|em|com|op|met|voor|van)),? )*"
    r"(?:who|whom|whose|what|(?:when|where)(?![^?]*, (?:is|are|was|were|do|does|did|can|will|may|"
    r"must|has|have) )|why|how|which|wer|wem|wen|wann|wo|warum|wie|"
    r"was(?=.*\b(?:der|das|ist|sind|eine?|kostet|für|ich|wir|kann|mit|auf|zu|passiert|bedeutet|"
    r"gilt|muss|soll|wird|gibt|heißt|enthält)\b)|"
    r"welche[rsmn]?|wieso|weshalb|woher|wohin|womit|qui|quoi|quand|où|pourquoi|comment|quels?|quelles?|combien|chi|"
    r"cosa|quando|dove|perché|come|quale|quali|quanto|qué|quién|cuándo|dónde|cómo|cuál|cuánt[oa]s?|"
    r"quem|onde|qual|quais|quantos?|wat|wanneer|waar|waarom|hoe|welke?)\b|"
    r"什|多少|几|幾|哪|谁|誰|怎|如何|何[?？時日年人度]|いつ|どこ|どの|どれ|どう|なに|だれ|いくら|なぜ|"
    r"(?:^|\s)(?:ما|ماذا|متى|كم|أين|كيف|من|لماذا|أي)\s|कौन|कब|कहाँ|कहां|कैसे|कितन|क्यों|"
    r"(?:^|\s)(?:кто|что|где|когда|как|сколько|как\w{2,3}|почему)\s",
    re.IGNORECASE,
)
"""What a question asks for that a yes or a no does not give."""

_STOPS = re.compile(
    r"(?<=[.!?؟])(?<!\b(?:Dr|Mr|Ms|St|No)\.)(?<!\bMrs\.)(?<!\bProf\.)\s+(?=\S)|(?<=[。！？])(?=.)"
)


def sentences_of(question: str) -> list[str]:
    """Return what is said before a question, sentence by sentence, and the question."""
    return _STOPS.split(question.strip())


def asks_what(question: str) -> bool:
    """Say whether a question asks for more than a yes or a no."""
    return _WHAT.search(sentences_of(question)[-1].rpartition(": ")[2]) is not None


def agrees(text: str) -> bool:
    """Say whether words say yes, and nothing else: "Yes.", "Of course!", "Yes, it is."."""
    bare = text.strip()
    return len(bare) <= _LONGEST and _AGREES.fullmatch(bare) is not None


def denies(text: str) -> bool:
    """Say whether words say no, and nothing else: "No.", "Definitely not.", "It isn't."."""
    bare = text.strip()
    return len(bare) <= _LONGEST and _DENIES.fullmatch(bare) is not None


_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_DENYING = re.compile("^[不没沒未]")


def echoes(question: str, said: str) -> str:
    """Return "yes" or "no" where an answer repeats or denies a verb of its question: "不需要"."""
    bare = said.strip(" .。！!")
    if not bare or _UNSPACED.search(bare) is None:
        return ""
    plain = _DENYING.sub("", bare)
    if not plain or plain not in question:
        return ""
    return "yes" if plain == bare else "no"


def wavers(text: str) -> bool:
    """Say whether words say neither yes nor no of all that is asked: "Some do.", "It depends."."""
    bare = text.strip()
    return len(bare) <= _LONGEST and _WAVERS.fullmatch(bare) is not None


@dataclass(frozen=True, slots=True)
class Led:
    """An answer that says yes or no, and more."""

    polar: str
    rest: str
    start: int
    """Where the rest begins."""


def led(text: str) -> Led | None:
    """Part what says yes or no from what else an answer says; None if it has only one of them.

    "No, it is closed.", "Yes. It is open.", "For adults, no.".
    """
    match = _LED.fullmatch(text)
    numbered = match is not None and "." in match["parted"] and match["rest"][0].isdigit()
    if match is not None and not numbered:
        return Led(match["polar"], match["rest"], match.start("rest"))
    match = _ENDS_SO.fullmatch(text.strip())
    if match is not None:
        return Led(match["polar"], match["rest"], 0)
    match = _NOT_SO.fullmatch(text)
    return None if match is None else Led("no", match["rest"], 0)


def asked(question: str) -> str:
    """Return a question that ends with its mark: "pets allowed", "Tell me if pets are allowed."."""
    return question if _MARK.search(question) else f"{question.rstrip(' .!。！')}?"


def asked_and_said(claim: str) -> tuple[str, str] | None:
    """Return the question and the answer of a claim that is made of both; None if it is not."""
    match = _ASKED.fullmatch(claim)
    return None if match is None else (match["asked"], match["said"])
