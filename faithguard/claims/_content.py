"""Sentence that is no fact by its form -> whether it tells something all the same.

In: the words of a denial, an action, a courtesy, an opinion or a title. Out: whether there is
something to check in them. What is in doubt is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from faithguard.claims._phrases import DOCUMENTS
from faithguard.claims._verbs import has_verb, verb_at
from faithguard.types import Kind

_FLAGS = re.IGNORECASE
_NUMBER = re.compile(r"\d")
_FILE = re.compile(r"\b[\w-]{0,60}[A-Za-z_][\w-]{0,60}\.[A-Za-z]\w{1,4}\b")
"""A name of a file may hold digits."""

# Words that promise, forbid or judge: what they are said of can be checked.
_STRONG_WORDS = (
    r"safe(?:ly|ty|r|st)?|unsafe|harmless|harmful|dangerous|toxic|effective|ineffective|risk-?free|"
    r"unlimited|limitless|unrestricted|lifetime|lifelong|guaranteed|refundable|non-refundable|"
    r"waived|exempt|prohibited|forbidden|banned|permitted|mandatory|compulsory|never|always|"
    r"24/7|zero|"
    r"kostenlos\w*|kostenfrei\w*|unbegrenzt\w*|lebenslang\w*|unbedenklich\w*|ungefährlich\w*|"
    r"gratuit\w*|gratis|ilimitad\w+|illimit\w+|segur[oa]s?|seguro|sûre?s?|sicur[oaie]|veilig\w*|"
    r"siempre|toujours|sempre|altijd|niemals|nunca|jamais|ücretsiz\w*|güvenli\w*|"
)
_STRONG_TEXT = (
    r"免费|免費|无限|無限|無料|安全|مجاني|آمن|मुफ्त|मुफ़्त|सुरक्षित|"
    r"\bfree\b(?! to (?:ask|contact|reach|let|call|message|write|e-?mail|get|share|tell|use this))"
)
STRONG = re.compile(
    rf"\b(?:{_STRONG_WORDS.rstrip('|')})\b|(?<!feel )(?<!feeling )(?:{_STRONG_TEXT})", _FLAGS
)
_LIMITS = re.compile(
    r"\b(?:no|not|without|none|nothing|nobody|all|every|each|any|both|only|full|fully|total|"
    r"totally|complete|completely|entire|included|covered|required|allowed|accepted|approved|"
    r"recommended|protected|insured|certified|proven|tested|refunded|excluded|daily|weekly|monthly|"
    r"yearly|annual|half|double|twice|instant|immediate|permanent|legal|illegal|optional)\b",
    _FLAGS,
)

# --- denials -------------------------------------------------------------------------------

_INFO = (
    r"(?:information|info|details?|mentions?|answers?|references?|sources?|documents?|documentation|"
    r"passages?|context|texts?|articles?|results?|matches|match|records?|clue|indication|idea|"
    r"data(?= (?:about|on|regarding|concerning|for|in|that|available|to)\b|$)|evidence(?= in\b)|"
    r"(?:relevant|specific|further|additional|explicit|direct|useful)\b)"
)
_SEEN = (
    r"(?:aware of|find|see|locate|identify|detect|know of|think of|name|found|seen|saw|spot|"
    r"recall|discover)"
)
# "I am not aware of any risk": for its reader there is none.
_NONE = re.compile(
    rf"(?:not|n't|cannot|unable to|never)\b.{{0,30}}\b{_SEEN} (?:any|a single|even one)"
    rf"(?: (?:known|other|such|real|serious))? (?!(?:[\w-]+ ){{0,2}}{_INFO})|"
    rf"\b(?:i|we) (?:have |know of |can |could )?(?:find|found|see|saw|seen|know of|discovered) no "
    rf"(?!(?:[\w-]+ ){{0,2}}(?:{_INFO}|knowledge|reason to))|"
    r"\b(?:ning[uú]n|ninguna|nessun[oa]?|nenhuma?|aucune?)\s(?!(?:\w+ )?(?:informa|inform|"
    r"respuesta|r[eé]ponse|risposta|resposta|dato|datos|dados?|dati|donn|menci|mention|menzion|"
    r"detalle|d[eé]tail|dettagl|detalhe|id[eé]|refer|indica))|"
    r"(?:没有|沒有|未能?|无法)(?:找到|查到|获得)任何(?!.{0,8}(?:信息|資訊|资料|資料|内容|答案|文档))|"
    r"لم أجد أي (?!معلومات|إجابة|ذكر|تفاصيل)|"
    r"(?:मुझे|मैंने) .{0,60}कोई (?!.{0,12}(?:जानकारी|उत्तर|जवाब|उल्लेख))|"
    r"hiçbir (?!.{0,12}(?:bilgi|cevap|yanıt|belge)).{0,50}bulamadım|"
    r"^(?!.{0,40}(?:情報|記載|答|回答|資料|文書|内容|言及)).{2,40}(?:は|が)見つかり",
    _FLAGS,
)
_OF_MATERIAL = re.compile(rf"\b(?:in|within|from|by|on|of) (?:the |any )?(?:{DOCUMENTS})", _FLAGS)
_THAN = re.compile(
    r"\b(?:than|except|but|beyond|besides|only) (?:to say |to note )?(?:that|the fact)\b|"
    r"\bapart from the fact\b|"
    rf"[,–—-] ?(?:which|who|whose) (?!.{{0,60}}(?:{DOCUMENTS})).{{0,40}}\b(?:is|are|was|were|"
    r"costs?|has|have|can|must|will|takes?|covers?|lasts?|applies|apply)\b",
    _FLAGS,
)
_ASIDE = re.compile(r"\(([^()]{3,500})\)|\[([^\[\]]{6,500})\]|[\"“]([^\"“”]{6,500})[\"”]")

# --- what follows a denial ------------------------------------------------------------------

_UNIVERSAL = re.compile(
    r"\b(?:never|always|nothing|everything|everyone|nobody|unlimited|free|no|all|every)\b", _FLAGS
)
# Common verbs that are nouns as often: only behind a subject.
_BASE = (
    r"take|takes|expect|arrive|arrives|pay|pays|work|works|run|expire|cover|need|include|receive|"
    r"follow|remain|stay|return|start|end|begin|open|close|exist|qualify|get|gets|come|comes|go|"
    r"goes|happen|happens|require|vary|enter|travel|enjoy|leave|become|charge|accept|allow|offer|"
    r"cancel|refund|use|causes?|cures?|treats?|prevents?|kills?|helps?|works?|contain|cost|last|"
    r"apply|belong|deliver|ship|keep|keeps|own|grow|live|lives|die|dies|sell|sells|buy|make|makes"
)
_SUBJECT_AND_VERB = re.compile(
    rf"(?!to\b|for\b|of\b|in\b|on\b|with\b|from\b|by\b)(?:[\w'-]+ ){{1,5}}?(?:{_BASE})\b(?! of\b)",
    _FLAGS,
)
_IMPERATIVE = re.compile(
    r"(?:please )?(?:expect|note|remember|allow|wait|take|use|give|avoid|stop|pay|bring|book|call|"
    r"don't|do not|never|always)\b\s\S",
    _FLAGS,
)
_FINDING = re.compile(
    r"(?:(?:i|we) )?(?:(?:have|can|could|'ve|now|also|then) )*(?:found|find|saw|see|learn(?:ed|t)?|"
    r"confirm(?:ed)?|noticed?|discover(?:ed)?|verif(?:y|ied)|conclud(?:ed?|es)|determined?|"
    r"established|reali[sz]ed|think|believe|know|say)\b",
    _FLAGS,
)
_NO_REASON = re.compile(
    r"(?:it|this|that|they|these|those|the|your|its|no)\b.{0,60}\b(?:is|are|was|were|has|have|does|"
    r"do|did)(?: not|n't)(?: been)? (?:\w+ly )?(?:mention|specif|stat|provid|giv|list|describ|"
    r"discuss|found|find|there|clear|address|contain|includ|indicat|disclos|explain|answer|say|in "
    r"the\b|in my\b)|"
    rf"(?:{DOCUMENTS}) (?:only |just |mainly |also )?(?:do|does|is|are|was|were|has|have|discuss|"
    r"describe|cover|deal|talk|focus|contain|provide|concern|relate|refer|mention|end|stop|lack|"
    r"omit)\w*\b|"
    r"(?:(?:the|this|your|that) (?:question|request|query|topic|subject)|it|this|that) (?:is|was|"
    r"falls|lies|seems|goes|appears|requires?|needs?) (?:(?:too|very|not|far|well) )?(?:outside|"
    r"beyond|unclear|ambiguous|vague|unrelated|irrelevant|unknown|incomplete|out of|missing|"
    r"absent|relevant|clear|more|further)\b|"
    r"(?:much|many|far|long|soon|well|often|such)\b",
    _FLAGS,
)
_OWN = re.compile(r"(?:i|my|me)\b", _FLAGS)
_OWN_VIEW = re.compile(
    r"i(?:'m| am|'ve| have)? (?:sure|certain|read|heard|know|learned|think|believe|guess|was told|"
    r"found|saw)\b",
    _FLAGS,
)
_FEWEST = 3


def gives_reason(right: str, *, strong: bool) -> bool:
    """Say whether what follows "I don't know, because" is a statement about the subject."""
    figure = _NUMBER.search(right) is not None
    if _NO_REASON.match(right) and not (figure or STRONG.search(right)):
        return False
    if _OWN.match(right) and not figure and _OWN_VIEW.match(right) is None:
        return False
    return _asserts(right) or (strong and (len(right.split()) >= 2 or not right.isascii()))


def _asserts(text: str) -> bool:
    """Say whether a subject and a verb open a text, or a universal word stands in it."""
    head = re.split(r"[,;:，、]\s", text[:300], maxsplit=1)[0]
    verb = verb_at(head)
    if verb is not None and verb.start() > 0:
        return True
    if verb is None and not head.isascii() and has_verb(head):
        return True
    words = len(text.split())
    return words >= _FEWEST and (
        _UNIVERSAL.search(head) is not None or _SUBJECT_AND_VERB.match(head) is not None
    )


def _denial_tells(words: str) -> bool:
    if _THAN.search(words):
        return True
    if _NONE.search(words) and not _OF_MATERIAL.search(words):
        return True
    return _aside_tells(words)


def _aside_tells(words: str) -> bool:
    """Say whether brackets hold a statement: "not aware of any (it is safe)"."""
    for match in _ASIDE.finditer(words):
        inner = (match[1] or match[2] or match[3]).strip()
        if _NO_REASON.match(inner) or _OWN.match(inner):
            continue
        if _asserts(inner) or STRONG.search(inner):
            return True
    return False


# --- actions -------------------------------------------------------------------------------

_DEED_JOIN = re.compile(
    r"[,;]\s+(?:(?:and|so|but|then|which|where)\s+)?|\s+(?:and|so|but|as|or|und|y|et|e|en|ve|pero|"
    r"mais|aber|ma|maar)\s+|\s[–—-]+\s+|[–—]|\s*\("
)


def _deed_tells(words: str) -> bool:
    """Say whether more is told than what was done: "I cancelled it and refunds take a week"."""
    if _NUMBER.search(_FILE.sub("", words)) or STRONG.search(words):
        return True
    return any(
        has_own_clause(words[match.end() :]) for match in _DEED_JOIN.finditer(words[:600])
    ) or _aside_tells(words)


def has_own_clause(right: str) -> bool:
    """Say whether what follows a deed has a subject and a verb, tells to do or reports."""
    if _FINDING.match(right) or _IMPERATIVE.match(right):
        return True
    if re.match(r"i(?:'ve|'ll| have| will| can)? ", right, _FLAGS):
        return False
    return _asserts(right)


# --- talk about documents ---------------------------------------------------------------------

_INFORMATION = re.compile(
    r"\b(?:information|details?|an overview|overview|a summary|summary|an explanation)\b", _FLAGS
)
_DEFINITE = (
    r"(?:the|your|our|its|their|this|that|these|those|how to|information|details?|overview|"
    r"summary|history|various|different|several)"
)
_PLAIN = re.compile(
    rf"(?:(?:and|or|of|for|to|in|on|about|with|from|as well as|information|details|a summary|"
    rf"an overview)\s+)*{_DEFINITE} [\w'-]+(?:(?:,? (?:and|or|of|for|to|in|on|about|with|from) |, )"
    rf"{_DEFINITE} [\w'-]+){{0,4}}",
    _FLAGS,
)
_ABOUT_VERB = re.compile(
    r"^.{3,120}?\b(?:discuss|describe|talk(?:s)? about|focus(?:es)? on|deals? with|outline|"
    r"(?:is|are) about|relates? to|contain|provide|offer|include|cover|have|has|give|mention)"
    r"(?:e?s)?\b\s*",
    _FLAGS,
)
_RUNS_ON = re.compile(r"\b(?:being|having|that|which|is|are|was|were|can|must|will)\b", _FLAGS)


def _about_tells(words: str) -> bool:
    """Say whether the subject of a document is told with what is said of it."""
    if re.search(r"\bn[o']t\b|n't\b|\bno\b|\bnone\b", words, _FLAGS):
        return _denial_tells(words)
    verb = _ABOUT_VERB.match(words)
    if verb is None:
        return False
    rest = words[verb.end() :]
    if STRONG.search(rest) or _LIMITS.search(rest) or _NUMBER.search(rest):
        return True
    if _INFORMATION.match(rest) or _INFORMATION.match(rest.partition(" ")[2]):
        return _RUNS_ON.search(rest) is not None
    return _PLAIN.fullmatch(rest.rstrip(" .!")) is None


# --- courtesies -------------------------------------------------------------------------------

_NO = re.compile(
    r"\bno (?!problem|worries|matter|doubt|further|other|more|longer|need|one)", _FLAGS
)
_BELOW = re.compile(
    r"(?P<subject>.{1,80}?) (?:is|are) "
    r"(?:as follows|the following|(?:listed |shown |given )?below)",
    _FLAGS,
)
_NAMED_SUBJECT = re.compile(
    r"(?:(?:the|your|these|those|some|our|its|my|all|both|here) )[\w'-]+(?: [\w'-]+){0,7}|[\w'-]+",
    _FLAGS,
)
_TAIL = re.compile(
    r"(?<=\S )(?:that|which|who|as|since|because|knowing|know) (?!(?:if|whether|you|i|we|may|might|"
    r"it|this|what|when|where|which|how|more|about|much|well|soon|follows)\b).{0,60}?"
    r"\b(?:is|are|was|were|can|must|will|may|has|never|always|should)\b",
    _FLAGS,
)


def _courtesy_tells(words: str) -> bool:
    if STRONG.search(words) or _NO.search(words) or _TAIL.search(words):
        return True
    below = _BELOW.fullmatch(words)
    if below is not None and not _NAMED_SUBJECT.fullmatch(below["subject"].strip()):
        return True
    return _aside_tells(words)


# --- opinions ---------------------------------------------------------------------------------

_HEALTH = re.compile(
    r"\b(?:pregnan\w*|infants?|bab(?:y|ies)|child(?:ren)?|toddlers?|kids?|patients?|health\w*|"
    r"drugs?|medic\w*|dos(?:e|es|age)|pills?|tablets?|vaccin\w*|allerg\w*|diabet\w*|asthma\w*|"
    r"diseases?|symptoms?|pain|blood|heart|liver|kidneys?|skin|sleep|diet|smoking|alcohol|"
    r"taking|eating|drinking|driving|schwanger\w*|kinder\w*|säugling\w*|embaraz\w*|niños?|"
    r"enceinte|grossesse|enfants?|gravidanza|bambini|gravidez|crianças|zwanger\w*)\b",
    _FLAGS,
)
_SUITS = re.compile(
    r"\b(?:for|to (?!visit|read|watch|me\b))|\b(?:good|bad|perfect|great|excellent|terrible|best|"
    r"worst|nice) (?:idea|option|choice|solution|plan|way|deal)\b",
    _FLAGS,
)
_LOCATED = re.compile(
    r"(?:\w+ing\b|.{0,80}?\b(?:in|on|at|during|while|with|without|before|after|under|over|when|"
    r"von|während|bei|für|mit|im|durante|en|con|pendant|avec|para|sans|sin|op|voor|tijdens)\b)",
    _FLAGS,
)
_PRONOUN = re.compile(r"(?:it|this|that|they|these|those|he|she|what)\b", _FLAGS)
_JUDGED = re.compile(r"\b(?:is|are|was|were|looks|seems|sounds|feels|tastes|remains)\b", _FLAGS)
_USEFUL = re.compile(r"\b(?:good|bad|perfect|worth it)\W*$", _FLAGS)


def _opinion_tells(words: str) -> bool:
    """Say whether it is judged for whom or what something is good."""
    if _HEALTH.search(words) or STRONG.search(words) or _NUMBER.search(words):
        return True
    if re.match(r"(?:great|excellent|nice|good|wonderful|fantastic)\b", words, _FLAGS):
        return False
    if re.match(r"i\b", words, _FLAGS):
        return False
    if _PRONOUN.match(words):
        return re.search(r"\bfor\b", words, _FLAGS) is not None
    judged = _JUDGED.search(words)
    subject = words[: judged.start()] if judged else " ".join(words.split()[:-1])
    return (
        _SUITS.search(words) is not None
        or _USEFUL.search(words) is not None
        or _LOCATED.match(subject) is not None
    )


_TELLS: Mapping[Kind, Callable[[str], bool]] = {
    "abstention": _denial_tells,
    "meta": _about_tells,
    "courtesy": _courtesy_tells,
    "action": _deed_tells,
    "opinion": _opinion_tells,
}


def tells(words: str, kind: Kind) -> bool:
    """Say whether a sentence of a kind that is no fact holds something to check."""
    check = _TELLS.get(kind)
    return check is not None and check(words)


# --- titles -----------------------------------------------------------------------------------

_TITLE_WORDS = re.compile(
    r"\b(?:no|not|without|none|never|always|all|every|each|only|lifetime|unlimited|free|full|fully|"
    r"complete|zero|24/7|welcome|safe|unsafe|harmless|harmful|dangerous|effective|mandatory|"
    r"optional|compulsory|legal|illegal|waived|permanent|instant|"
    r"kein\w*|ohne|alle|immer|kostenlos\w*|inklusive|unbegrenzt\w*|sin|todos|todas|siempre|gratis|"
    r"incluid[oa]s?|sans|gratuit\w*|tous|toutes|inclus\w*|senza|tutti|tutte|inclus[oaie]|sem|"
    r"inclu[ií]d[oa]s?|zonder|altijd|inbegrepen|ücretsiz|dahil)\b",
    _FLAGS,
)
_TITLE_PARTICIPLE = re.compile(
    r"\s(?:included|covered|required|allowed|guaranteed|permitted|prohibited|forbidden|excluded|"
    r"accepted|refunded|approved|banned|recommended|needed|protected|proven|certified|insured|"
    r"offered|provided|granted|charged|paid|tested|tolerated|supported|reimbursed|waived)\b",
    _FLAGS,
)
_TITLE_CJK = re.compile(
    r"免费|免費|無料|无需|不需要|なし|不要|全部|所有|必須|必须|可能|无限|無制限"
)
_COUNTED = re.compile(
    r"\b\d{1,2} (?:\w+ )?(?:reasons|ways|steps|tips|things|points|options|facts|types|examples|"
    r"questions|methods|features|ideas|rules|parts|kinds|causes|benefits|places)\b|"
    r"\b(?:19|20)\d\d\b",
    _FLAGS,
)
_TITLE_ALL = re.compile(r"(?:all|everything) (?:about|you|the (?:details|facts|steps))\b", _FLAGS)
_TITLE_ASKS = re.compile(
    r"(?:what|how|when|where|who|which|was|wie|wann|wo|qué|cómo|cuándo|comment|quand|come|quando|"
    r"hoe|wat|wanneer|como)\b",
    _FLAGS,
)


def title_tells(title: str) -> bool:
    """Say whether a title without a known verb says something: "No side effects in infants"."""
    if _TITLE_CJK.search(title):
        return True
    if len(title.split()) < _FEWEST:
        return False
    if _NUMBER.search(_COUNTED.sub("", title)):
        return True
    if _TITLE_ASKS.match(title) and not STRONG.search(title):
        return False
    found = _TITLE_WORDS.search(title) or _TITLE_PARTICIPLE.search(title)
    return found is not None and _TITLE_ALL.match(title) is None
