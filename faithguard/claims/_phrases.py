"""The closed phrases of sentences that are not facts, by kind and language.

In: nothing. Out: compiled patterns for whole sentences, without their final stop, in
en, de, es, fr, it, pt, nl, tr, ja, zh, ar and hi.
"""

from __future__ import annotations

import re

from faithguard._lazy import lazy
from faithguard.types import Kind


class Phrases:
    """Alternatives, compiled when they are first asked for: importing must not cost that."""

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns

    @lazy
    def _compiled(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{pattern})" for pattern in self._patterns), re.IGNORECASE)

    def match(self, text: str) -> re.Match[str] | None:
        """Match at the start of a text."""
        return self._compiled.match(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return self._compiled.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        """Match anywhere in the text."""
        return self._compiled.search(text)


_NOUN = (
    r"(?:context(?: information)?|documents?|documentation|passages?|texts?|sources?|excerpts?|"
    r"articles?|snippets?|leaflets?|brochures?|manuals?|handbooks?|faqs?|"
    r"search results?|retrieved (?:data|content|chunks?)|knowledge base|"
    r"materials?|references?|(?:provided|given|available|retrieved|supplied|above|shared|"
    r"following) (?:information|data|content|files?|pages?|results?|details))"
)
_GIVEN = (
    r"(?: (?:that )?(?:was |were |is |are |have been )?(?:provided|given|above|available|supplied|"
    r"shared|retrieved|at hand|(?:you|i) (?:have )?(?:been )?(?:provided|shared|gave me|have|"
    r"given|have access to)))?(?: (?:here|above|to me|by you))?"
)
_DOC = (
    r"(?:(?:any of |all of |none of )?(?:the|this|these|those|your|my|our|any) )?"
    r"(?:(?:provided|given|available|retrieved|supplied|above|attached|source|uploaded|shared|"
    rf"relevant|current|existing|cited|reference|company|other) ){{0,3}}{_NOUN}{_GIVEN}"
)
DOCUMENTS = _DOC
"""What the documents at hand are called, as a pattern."""
# Papers of the subject matter: "the policy does not mention it" is about the paper, "the policy
# does not cover it" is not.
_PAPER = (
    r"(?:the|this|your|our|that) (?:[a-z-]+ ){0,2}(?:policy|contract|report|manual|handbook|guide|"
    r"agreement|terms|page|website|faq|e-?mail|letter|study|paper|file|brochure|summary|section)"
)
_ADV = r"(?:(?:explicitly|directly|specifically|actually|currently|clearly|really|ever|even) )?"
_NOT = rf"(?:does|do|did|would)(?: not|n't) {_ADV}"
_SAY = r"(?:mention|state|say|specify|indicate|discuss|address|describe|tell|name|talk about)"
_GIVE = (
    r"(?:contain|provide|include|give|cover|have|list|offer|explain|answer|reveal|define|detail|"
    r"disclose|clarify|refer to|go into|make (?:any )?(?:mention|reference)|appear to|seem to|"
    r"support an answer)"
)
_INFO = r"(?:information|info|details?|mention|answers?|data|references?|evidence|context)"
_WHAT = (
    r"(?:any|enough|sufficient|the|specific|relevant|that|this|an|further|more|much) "
    rf"[^.]{{0,30}}?{_INFO}"
)
_ASKED = r"(?:know|find|see|locate|determine|tell|say|confirm|verify|answer|recall|identify|"
_I_CANNOT = (
    r"i(?:'m| am| was)? (?:(?:do|did|could|can|would|was|am)(?: not|n't)|can't|cannot|not|"
    r"unable to)"
)

ABSTENTION = Phrases(
    r"empty response",
    r"n/?a|unknown|unanswerable|no idea|no answer(?: (?:found|available|possible))?|dunno",
    rf"(?:information )?not (?:mentioned|specified|stated|available|found|provided|given|known|"
    rf"disclosed)(?: (?:in|by) {_DOC})?",
    rf"{_I_CANNOT} (?:able to |currently |really |actually |be able to |to )*"
    rf"{_ASKED}provide|give|help|assist|access|be sure|speculate|respond|comply|fulfill|share|"
    r"discuss|comment|offer (?:an|any)|advise|be certain|retrieve|understand|get)\b.*",
    rf"(?:i|we) (?:currently )?(?:do not|don't|did not|didn't) (?:currently |actually )?have "
    rf"(?:access|{_WHAT}|information|info|details|data|an answer|the answer|that|a reliable)\b.*",
    rf"(?:i|we) (?:have|had|found|find|see|saw) no (?:\w+ ){{0,2}}(?:{_INFO}|idea|knowledge)\b.*",
    r"we (?:could not|couldn't|were unable to|are unable to|cannot|can't|do not|don't|were not able"
    r" to) (?:find|know|determine|answer|locate)\b.*",
    r"(?:i'm|i am|we are|we're) (?:not (?:sure|certain|aware|able)|unsure|unable|uncertain)\b.*",
    rf"(?:it|this|that)(?: is| was|'s) not (?:mentioned|specified|stated|covered|addressed)"
    rf"(?: (?:anywhere )?(?:in|by) {_DOC})?",
    r"(?:that is|that's|this is|it is|it's) not something (?:that )?(?:i|we) (?:can|could|was able "
    rf"to|were able to) find(?: (?:anywhere )?in {_DOC})?",
    r"(?:it is|it's|that is|that's|this is) (?:not clear|unclear|unknown|not known|not possible to "
    rf"(?:say|tell|determine|answer)|impossible to (?:say|tell|determine|answer))"
    rf"(?: (?:from|in|based on|given|with) {_DOC}.*)?",
    rf"{_DOC} (?:is|are) (?:insufficient|not sufficient|not enough|silent|unclear|not clear)\b.*",
    rf"there (?:is|was|isn't|is not) (?:not )?(?:enough|insufficient|sufficient) {_INFO}\b.*",
    rf"(?:not enough|insufficient) {_INFO}\b.*",
    rf"without (?:more|further|additional) {_INFO}\b.{{0,40}}(?:cannot|can't|unable|impossible).*",
    r"(?:the|an|your) (?:answer|question|exact answer)(?: to (?:your|the|this) question)? "
    r"(?:is not|isn't|cannot be|can't be|could not be|was not) "
    r"(?:available|found|known|clear|given|provided|answered|determined|stated|in\b).*",
    rf"(?:this|that|it) (?:cannot|can't|could not|can not) be "
    rf"(?:determined|answered|found|known)(?: (?:from|based on|using|in|with) {_DOC}.*)?",
    r"no (?:relevant |matching |useful )?(?:documents?|information|results?|answer|sources?|"
    r"passages?|context|data|details)(?: (?:was|were|is|are|could be))? "
    r"(?:found|available|provided|given|retrieved)\b.*",
    # de
    r"(?:das|dies|die antwort)?\s?(?:weiß ich (?:leider )?nicht|ist mir nicht bekannt).*",
    r"ich (?:weiß|weiss) (?:es |das )?(?:leider )?nicht\b.*|keine (?:ahnung|angabe|angaben)",
    r"(?:dazu |darüber |hierzu )?(?:kann ich|konnte ich|ich kann|ich konnte|ich habe|habe ich) "
    r".{0,80}"
    r"(?:keine (?:\w+ )?(?:informationen?|angaben?|antwort|auskunft)|nicht (?:finden|beantworten|"
    r"sagen|ermitteln|bestimmen|helfen|feststellen))\b.*",
    r"(?:es (?:gibt|liegen)|dazu (?:gibt es|liegen)|mir liegen) .{0,30}keine (?:\w+ )?"
    r"(?:informationen?|angaben?|daten)\b.*",
    # es
    r"no (?:lo )?s[eé](?: (?:la respuesta|cu[aá]l|qu[eé]|si|cu[aá]ndo|qui[eé]n|d[oó]nde)\b.*)?",
    r"no (?:he podido|pude|puedo|podemos|hemos podido|logr[eé]) "
    r"(?:encontrar|responder|determinar|hallar|ayudar|confirmar|saber)\w*\b.*",
    r"no (?:tengo|dispongo de|cuento con|hay|encontr[eé]|se encontr[oó]) "
    r"(?:\w+ )?(?:informaci[oó]n|datos|respuesta|detalles)\b.*",
    # fr
    r"je (?:ne |n')?(?:le )?sais pas\b.*|je l'ignore|aucune id[eé]e",
    r"je (?:ne |n')(?:peux|puis|suis|ai|trouve|dispose|parviens).{0,30}\b(?:pas|aucune?)\b.{0,40}"
    r"(?:trouv|r[eé]pon|d[eé]termin|inform|r[eé]ponse|donn[eé]e|aider|en mesure|capable).*",
    r"(?:il n'y a|aucune) .{0,20}information\b.*(?:disponible|sur|dans|trouv|concernant).*",
    # it
    r"non (?:lo )?so(?: (?:la risposta|quale|quando|se|chi|dove|cosa|quanto)\b.*)?",
    r"non (?:ho|sono|posso|riesco|è possibile)(?: \w+){0,3} (?:trova\w+|risponde\w+|determina\w+|"
    r"informazion\w+|risposta|dati|aiuta\w+)\b.*",
    r"non ci sono (?:\w+ )?informazion\w+\b.*",
    # pt
    r"(?:eu )?n[aã]o sei\b.*",
    r"(?:eu )?n[aã]o (?:consegui|consigo|posso|pude|foi poss[ií]vel|encontrei|tenho|h[aá]|disponho)"
    r"(?: \w+){0,3}? (?:encontrar|responder|determinar|informa\w+|resposta|dados|ajudar)\b.*",
    r"n[aã]o encontrei .*(?:documento|contexto|fonte|texto).*",
    # nl
    r"(?:dat |het )?(?:weet ik|ik weet) (?:het |dat )?(?:helaas )?niet\b.*|geen idee",
    r"(?:ik (?:kan|kon|heb)|er is|er zijn|hierover (?:heb ik|kan ik)) .{0,60}(?:geen (?:\w+ )?"
    r"(?:informatie|antwoord|gegevens)|niet (?:vinden|beantwoorden|bepalen|zeggen))\b.*",
    # tr
    r"(?:bunu |maalesef |üzgünüm,? )*bilm[iı]yorum|bilgim yok|.{0,60}(?:hakkında|ilgili|dair) "
    r"(?:\w+ )?(?:bir )?bilgi(?:m)? (?:yok|bulunmuyor|bulunamadı|bulunmamaktadır|bulamadım)",
    r".{0,60}(?:bulamadım|cevaplayamıyorum|yanıtlayamıyorum|cevap veremiyorum)",
    # ja
    r"(?:.{0,40}[はがを、])?(?:わかりません|分かりません|わからない|不明です|存じません|"
    r"お答えできません)",
    r".{0,60}(?:見つかりませんでした|見つけられませんでした|見つかりません|情報(?:は|"
    r"が)ありません(?:でした)?|"
    r"情報が含まれていません)",
    # zh
    r"(?:抱歉|对不起|很遗憾)?[，,]?(?:我)?(?:不知道|不清楚|不太清楚|无法回答|無法回答|无法确定|"
    r"無法確定)"
    r"[^，,但]{0,40}",
    r"(?:抱歉|对不起|很遗憾)?[，,]?我?(?:没有|沒有|未|未能|无法)(?:能够?)?(?:找到|查到|"
    r"获得)[^，,但]{0,40}",
    r"[^，,但]{0,30}(?:没有|沒有)(?:相关|足够的?|關於)?(?:的)?(?:信息|資訊|资料)[^，,但]{0,20}",
    # ar
    r"(?:عذر[اً]+،? ?|للأسف،? ?)?(?:أنا )?(?:لا أعرف|لا أعلم|لا أدري|لا أستطيع|لا يمكنني|لم أجد|"
    r"لم أتمكن)\b.*",
    r"(?:لا توجد|لا تتوفر|ليس لدي) (?:أي )?معلومات\b.*",
    # hi
    r"(?:मुझे|मैं|मैंने)?.{0,60}(?:नहीं पता|पता नहीं|नहीं जानता|नहीं जानती|नहीं मालूम|नहीं मिली|"
    r"नहीं मिला)(?: है| हूँ)?",
    r".{0,60}(?:की|कोई) जानकारी (?:उपलब्ध )?नहीं (?:है|मिली)",
)
"""The writer says that it has no answer."""

ABSENCE = Phrases(
    rf"{_DOC} {_NOT}(?:{_SAY}|{_GIVE})\b.*",
    rf"{_PAPER} {_NOT}(?:{_SAY}|(?:contain|provide|include|give|have|offer) {_WHAT}|"
    rf"(?:contain|provide|include|give|have) (?:information|details))\b.*",
    rf"none of {_DOC} (?:{_SAY}s?|{_GIVE}s?|contains?)\b.*",
    rf"{_DOC} (?:makes?|contains?|provides?|includes?|gives?|has|have|offers?) no "
    rf"(?:\w+ ){{0,2}}{_INFO}\b.*",
    r"there(?:'s| is| was| are| were)(?: not|n't)? (?:no|any) (?:\w+ ){0,2}(?:information|info|"
    r"details?|mention|answers?|references?)(?:,? (?:about|on|regarding|of|in|within|"
    r"concerning|to|that|which|available|provided|given|for|as to)\b.*|$)",
    r"there(?:'s| is| was| are| were) no (?:\w+ ){0,2}data (?:about|on|regarding|concerning|"
    r"available|"
    r"provided)\b.*",
    rf"there(?:'s| is| was| are) (?:no|nothing) (?:\w+ ){{0,2}}.{{0,60}}\b(?:in|within) {_DOC}\b.*",
    rf"no (?:\w+ ){{0,2}}(?:information|mention|details?|data|answers?|references?)\b.{{0,100}}"
    rf"(?:in|within|by|from) {_DOC}\b.*",
    rf"(?:no|nothing)\b.{{0,80}} (?:is|are|was|were) (?:mentioned|stated|said|given|provided|"
    rf"specified|found)\b.{{0,60}}(?:in|within|by) {_DOC}.*",
    rf".{{1,120}}? (?:(?:is|are|was|were)(?: not|n't)|(?:has|have) not been) {_ADV}(?:mentioned|"
    r"specified|stated|provided|given|included|discussed|described|available|found|covered|"
    r"addressed|contained|listed|present|indicated|disclosed|explained|in|part of)\b"
    rf"(?:.{{0,80}}\b(?:in|by|within|from))? ?{_DOC}.*",
    # de
    r"(?:der|die|das|den|in den|im|in dem|aus den|laut)?\s?(?:\w+en )?(?:kontext|dokumente?n?|text|"
    r"unterlagen|quellen?|passagen?|abschnitte?)\b.{0,60}(?:nicht (?:erwähn|genannt|angegeben|"
    r"enthalten|ersichtlich|hervor)\w*|kein\w* (?:\w+ )?(?:informationen?|angaben?|hinweise?|"
    r"antwort))\b.*",
    r"(?:der|die|das) (?:\w+en )?(?:kontext|dokumente?|text|unterlagen|quellen?) "
    r"(?:erwähn|nenn)\w* (?:dazu |hierzu )?kein\w* .{1,60}",
    r".{1,100}(?:wird|werden|ist|sind|geht) (?:im|in den|in dem|aus den|aus dem) (?:\w+en )?"
    r"(?:kontext|dokumenten|text|unterlagen|quellen?) nicht .*",
    # es, it, pt, fr
    r"(?:el|los|la|las|en el|en los) (?:contexto|documentos?|textos?|fuentes?|informaci[oó]n "
    r"(?:proporcionada|disponible))\b.{0,30}\bno (?:se )?(?:menciona|dice|contiene|especifica|"
    r"indica|incluye|proporciona|ofrece|hay)\w*\b.*",
    r"(?:le |la |les |dans le |dans les )(?:contexte|documents?|textes?|sources?|"
    r"passages?)\b.{0,30}"
    r"\bne (?:\w+ )?(?:mentionn|di[ts]|contien|pr[eé]cis|indiqu|fourni|parl)\w*\b.*",
    r"(?:il|i|nel|nei|le) (?:contesto|document[oi]|test[oi]|font[ei])\b.{0,30}\bnon (?:\w+ )?"
    r"(?:menzion|dic|contien|specific|indic|fornisc|contengo)\w*\b.*",
    r"(?:o|os|a|as|no|nos) (?:contexto|documentos?|textos?|fontes?)\b.{0,30}\bn[aã]o (?:\w+ )?"
    r"(?:mencion|diz|cont[eéê]m|especific|inform|fornec|indica)\w*\b.*",
    # nl, tr
    r"(?:de|het|in de|in het) (?:\w+ )?(?:context|documenten|document|tekst|"
    r"bronnen)\b.{0,60}(?:niet "
    r"(?:vermeld|genoemd|beschreven)\w*|(?:vermeld|noem|beva)\w+ .{0,40}(?:niet|geen)\b).*",
    r"(?:\w+ )?(?:bağlam|belge|metin|doküman|kaynak)\w*\b.{0,80}(?:belirtilm\w+|bahsedilm\w+|"
    r"bilgi (?:yok|bulunm\w+)|yer alm[ıi]yor)",
    # ja, zh, ar, hi
    r".{0,40}(?:文脈|コンテキスト|文書|資料|ドキュメント).{0,40}(?:記載|言及|書かれて|"
    r"含まれて).{0,12}"
    r"(?:ません|いない|ありません)(?:でした)?",
    r".{0,20}(?:上下文|文档|文檔|文件|资料|資料|文本)[^，,但]{0,20}(?:没有|沒有|未|并未)"
    r"(?:提到|提及|说明|說明|包含|提供|给出)[^，,但]{0,40}",
    r"(?:لا |لم )?(?:السياق|المستند|الوثيق|النص)?.{0,20}(?:لا|لم) (?:يذكر|تذكر|يحتوي|تحتوي|"
    r"يتضمن).{0,20}"
    r"(?:السياق|المستند|الوثائق|النص|معلومات).*|(?:السياق|المستندات?|الوثائق|النص) (?:لا|لم) .*",
    r"(?:संदर्भ|दस्तावेज़?ों?|दस्तावेज).{0,80}(?:उल्लेख|जानकारी|बताया) .{0,20}नहीं.*",
)
"""The documents do not say it."""

QUIET_ABSENCE = re.compile(
    r"(?:not|n't|none of .{1,40}?) (?:\w+ly )?(?:mention|discuss|describe|cover|address|talk about|"
    r"name|refer to|list|define|detail)\w*\b(?!.*\b(?:answer|question|enough|sufficient)\b)|"
    r"no (?:\w+ )?(?:mention|reference)|erwähn|menciona|mentionn|menzion|vermeld|genoemd|bahsed|"
    r"言及|提到|提及|يذكر|تذكر|उल्लेख",
    re.IGNORECASE,
)
"""Of `ABSENCE`, what speaks about the documents rather than about having no answer."""

_THANKS = r"(?:thanks|thank you|many thanks)"
_HELP = r"(?:help|assist|answer|explain|clarify|provide|elaborate|share|look|discuss|guide)"
# Whom to turn to; a number, a name or a reason would be more than that.
_STAFF = (
    r"(?:(?:the|our|your|a|an|their) )?(?:(?:front|help|information|service|customer|technical|"
    r"tech|local|qualified|relevant|hotel|site|camp|legal|medical|healthcare) )*"
    r"(?:reception|receptionist|desk|helpdesk|support|services?|staff|team|office|manager|"
    r"administrator|provider|supplier|professional|expert|doctor|pharmacist|lawyer|us|them)"
)
_TURN_TO = (
    r"(?:(?:so|then|otherwise|instead|for (?:more|further) (?:details|information|help)),? )?"
    r"(?:please |kindly |just |you (?:can|could|may|might|should|will)(?: also)?"
    r"(?: want to| wish to| like to| need to)? |"
    r"i(?: would|['’]d)? (?:suggest|recommend)(?: that you| you)? |"
    r"it(?: is|['’]s)? best to )?"
    r"(?:contact|ask|call|consult|check|speak|talk|reach out|get in touch|turn)(?:ing)? "
    rf"(?:(?:at|to|with) )?{_STAFF}(?: team)?(?: (?:directly|instead|for "
    r"(?:more |further )?(?:details|information|help|assistance|advice)|about (?:this|that|it)))*"
)

COURTESY = Phrases(
    _TURN_TO,
    r"sure(?: thing)?|of course|certainly|absolutely|great|gladly|okay|ok|alright|all right|"
    r"understood|got it|no problem|(?:that's |that is |what )?(?:a |an )?(?:great|good|excellent|"
    r"interesting|fantastic) question",
    rf"{_THANKS}(?: (?:so|very) much| a lot)?(?: (?:again|in advance))?"
    r"(?: for (?:your|the|asking|reaching|contacting|sharing|providing|letting|waiting)\b.{0,50})?",
    r"(?:hello|hi|hey|dear|good (?:morning|afternoon|evening|day)|greetings|welcome)"
    r"(?:,? (?:there|everyone|all|again|back|[A-Z]\w+|customer|user|sir|madam)){0,3}",
    r"you(?:'re| are) (?:very |most )?welcome|my pleasure|(?:i'm |i am )?(?:glad|happy) to help"
    r"(?: you)?(?: (?:with|further|out)\b.{0,40})?|i'm here to help.{0,40}|welcome",
    r"(?:i |we )?(?:really |sincerely )?hope (?:that |this |it |these |you ).{0,20}?(?:help|answer|"
    r"clarif|useful|enjoy|informati|day|well)[^:;]{0,60}",
    r"(?:please |just |so,? |and )*(?:let me know|(?:feel free|do not hesitate|don't hesitate) to "
    r"(?:ask|reach|contact|let|share|message|get in touch|provide|follow up|write|call)|ask away|"
    r"just "
    r"ask)\b[^:;,]{0,120}(?:, (?:or|and) [^:;,]{1,60})?",
    r"[^:;,]{1,60} (?:is|are) (?:as follows|the following|(?:listed |shown |given )?below)",
    r"if (?:you|there)(?:'d| would|'re| are| is)? [^:;,]{1,80},? (?:please |just |then )*(?:let me "
    r"know|feel free|just ask|ask|do not hesitate|don't hesitate|i'm here|i am here|i can help|"
    r"i'm happy|i'd be happy|i'll be happy|i would be happy)\b[^:;]{0,80}",
    r"(?:below|here|following)(?:'s| is| are)? (?:is |are )?(?:(?:a|an|the|your|some|what|my|"
    r"all) )?"
    r"(?:\w+ ){0,3}?(?:answer|summary|list|overview|information|info|details?|steps?|response|"
    r"breakdown|explanation|results?|points?|facts|table|rundown|i found|you need|asked for|"
    r"i know|we know|it|look)(?: (?:of|to|for|about|on|you|that|i|from|in|based)\b[^:;,]{0,60})?",
    r"here you (?:go|are)|here it is|here goes",
    r"(?:i(?:'d|'ll|'m| would| will| am) (?:be )?(?:happy|glad|pleased|delighted) to|i can "
    r"(?:also )?"
    rf"(?:certainly )?) ?{_HELP}\b[^:;]{{0,60}}",
    r"(?:let me|let's|allow me to|i'll|i will) (?:explain|help|summari[sz]e|break|walk|take a look|"
    r"dive|start|begin|answer|go through|outline|look)\b[^:;]{0,40}",
    r"(?:i'm |i am )?(?:very |so |really )?sorry(?: (?:for|about) (?:the|any|that|this)\b.{0,40}|"
    r" to "
    r"hear.{0,30})?|i apologi[sz]e(?: for (?:the|any)\b.{0,40})?|my apologies(?: for .{0,40})?",
    r"have a (?:great|nice|good|wonderful|lovely) \w+(?: ahead)?|(?:best|kind|warm|many)(?:est)? "
    r"(?:regards|wishes)|cheers|(?:good)?bye|take care|good luck(?: (?:with|on) .{0,40})?|"
    r"sincerely|"
    r"enjoy|yours (?:sincerely|faithfully)|your? .{0,20}(?:assistant|support team)",
    # de
    r"(?:hallo|guten (?:tag|morgen|abend)|sehr geehrte.{0,40}|liebe.? .{0,30}|gerne?|natürlich|"
    r"selbstverständlich|klar|gute frage|vielen dank.{0,40}|danke.{0,30}|bitte(?: sehr| schön)?|"
    r"gern "
    r"geschehen|mit freundlichen grüßen|viele grüße|einen schönen tag.{0,20})",
    r"(?:ich hoffe,?|hoffentlich) (?:dass )?(?:das|dies|ihnen|dir|diese|es)\b.{0,30}(?:hilf|helfen|"
    r"weiter)\w*.{0,20}|hier (?:ist|sind|finden sie) (?:die|der|das|eine?|ihre?|deine?) (?:\w+ )?"
    r"(?:antwort|zusammenfassung|übersicht|liste|informationen|schritte|details)\b.{0,40}",
    r"(?:bei|falls|wenn|sollten) .{0,60}(?:fragen|hilfe|unterstützung)\b.{0,60}(?:gern|verfügung|"
    r"melden|fragen|wissen)\w*.{0,40}",
    # es
    r"(?:¡?hola|buen[oa]s? (?:d[ií]as?|tardes|noches)|claro(?: que s[ií])?|por supuesto|con "
    r"(?:mucho )?"
    r"gusto|(?:muchas )?gracias.{0,40}|de nada|buena pregunta|saludos.{0,20}|desde luego)",
    r"espero que (?:esto|esta|le|te|la|el)\b.{0,40}|aqu[ií] (?:tienes?|est[aá]n?|va) (?:el|la|"
    r"los|las|"
    r"un|una) (?:respuesta|resumen|lista|informaci[oó]n|detalles)\b.{0,40}|si (?:tienes?|"
    r"necesitas?)"
    r"\b.{0,60}(?:d[ií]me|aqu[ií]|av[ií]same|dudes|preg[uú]nt\w+|h[aá]zmelo|ayudar\w*).{0,30}",
    # fr
    r"(?:bonjour|bonsoir|salut|bien s[uû]r|certainement|avec plaisir|merci.{0,40}|de rien|bonne "
    r"question|cordialement|bonne journ[eé]e|d'accord)",
    r"j'esp[eè]re que (?:cela|ça|cette|ces)\b.{0,40}|n'h[eé]sitez pas\b.{0,80}|si vous avez .{0,60}"
    r"(?:h[eé]sitez|savoir|aider|disposition).{0,40}|voici (?:la|le|les|une?|votre) (?:r[eé]ponse|"
    r"r[eé]sum[eé]|liste|informations?|d[eé]tails)\b.{0,40}",
    # it
    r"(?:ciao|buongiorno|buonasera|salve|certo|certamente|volentieri|grazie.{0,40}|prego|ottima "
    r"domanda|cordiali saluti|di nulla)|spero che (?:questo|ti|le|sia)\b.{0,40}|ecco (?:la|il|i|"
    r"le|un"
    r"[oa]?) (?:risposta|riassunto|lista|informazioni|dettagli)\b.{0,40}|(?:se hai|se ha) .{0,60}"
    r"(?:fammi|chied\w+|disposizione|aiutar\w+|esitare).{0,40}",
    # pt
    r"(?:ol[aá]|bom dia|boa (?:tarde|noite)|claro|com certeza|obrigad[oa].{0,40}|de nada|boa "
    r"pergunta|"
    r"atenciosamente)|espero (?:que isso|que esta|ter)\b.{0,40}|aqui est(?:á|ão) (?:a|o|os|as|um|"
    r"uma) "
    r"(?:resposta|resumo|lista|informaç\w+|detalhes)\b.{0,40}|se (?:tiver|"
    r"precisar)\b.{0,60}(?:avise|"
    r"disposição|ajudar|pergunt\w+|saber).{0,40}",
    # nl
    r"(?:hallo|hoi|goede(?:morgen|middag|navond)|natuurlijk|zeker|graag gedaan|bedankt.{0,40}|dank "
    r"(?:je|u).{0,40}|goede vraag|met vriendelijke groet(?:en)?)|(?:ik )?hoop(?: ik)? (?:dat )?"
    r"(?:dit|het)\b.{0,30}helpt.{0,20}|(?:laat het me weten|als (?:je|u) .{0,40}vragen).{0,60}",
    # tr
    r"(?:merhaba|selam|günaydın|iyi günler|elbette|tabii(?: ki)?|teşekkür(?:ler| ederim).{0,30}|"
    r"rica "
    r"ederim|güzel soru|kolay gelsin|saygılarımla)|umarım .{0,40}(?:yardımcı|faydalı|"
    r"işinize).{0,20}",
    # ja, zh
    r"(?:こんにちは|こんばんは|おはようございます|はじめまして|もちろんです|もちろん|"
    r"承知しました|かしこまりました|"
    r"ありがとうございます|ありがとうございました|どういたしまして|よろしくお願いします|"
    r"よろしくお願いいたします)",
    r".{0,30}(?:お役に立て(?:れば|ば)(?:幸いです|嬉しいです)|お気軽に(?:お尋ね|お問い合わせ|"
    r"ご質問|お知らせ)ください|"
    r"ご不明な点.{0,20}ください)",
    r"(?:你好|您好|当然(?:可以)?|當然|好的|没问题|谢谢.{0,10}|謝謝.{0,10}|不客气|不客氣|"
    r"很高兴为您服务|早上好)",
    r"希望(?:这|這|以上|我的|能|对|對).{0,20}(?:帮助|幫助|有用|帮到你|帮到您)|如果?(?:您|"
    r"你)?(?:还|還)?有.{0,20}"
    r"(?:问题|問題|疑问).{0,30}(?:告诉我|告訴我|联系|問我|问我|提问)|以下是.{0,12}(?:回答|摘要|"
    r"列表|信息|总结)",
    # ar, hi
    r"(?:مرحب[اً]+(?: بك(?:م)?)?|أهل[اً]+(?: وسهل[اً]+)?|السلام عليكم|بالتأكيد|بالطبع|"
    r"شكر[اً]+.{0,30}|عفو[اً]+|"
    r"على الرحب والسعة|سؤال جيد)|(?:آمل|أتمنى|نأمل) أن (?:يكون|تكون|يساعد).{0,40}",
    r"(?:नमस्ते|नमस्कार|ज़रूर|जरूर|बिल्कुल|धन्यवाद.{0,20}|शुक्रिया|स्वागत है)|(?:मुझे )?(?:आशा|"
    r"उम्मीद) "
    r"है .{0,40}"
    r"(?:मदद|सहाय|उपयोगी).{0,20}",
)
"""Greetings, thanks, announcements and offers of help."""

_VAGUE = (
    r"(?:a number of |many |several |various |different |other |a few |the )?(?:factors?|things|"
    r"circumstances?|situations?|needs?|preferences?|case|context|details|specifics|conditions)"
)
HEDGE = Phrases(
    rf"(?:it|that|this|well,? it) (?:really |all |often |mostly |largely )?depends"
    rf"(?: (?:on|upon) (?:your |the |its )?(?:individual |specific |personal |exact )?{_VAGUE})?",
    r"(?:it|this|that|things|results|prices|details|mileage|your mileage|(?:individual |actual |"
    r"your )?results|the answer|answers|costs|times|circumstances) (?:may|can|could|might|will|"
    r"tends? "
    r"to) (?:also |always |often )?(?:vary|differ|change|be different)"
    rf"(?: (?:a lot|greatly|widely|somewhat|over time|by case|from case to case|depending on "
    rf"(?:the |your |its )?(?:individual |specific )?{_VAGUE}))?",
    rf"(?:it|this) varies(?: (?:a lot|greatly|widely|depending on (?:your |the )?{_VAGUE}))?",
    r"(?:it|that|this) (?:is|'s) (?:hard|difficult|tricky) to (?:say|tell|generali[sz]e)(?: for "
    r"(?:sure|certain))?|it's complicated|maybe(?: not)?|perhaps(?: not)?|possibly|it could be|"
    r"that "
    r"may be|(?:that|it) (?:might|may|could) be (?:true|possible|the case|so)|not necessarily|who "
    r"knows|(?:that|it|this)(?: is|'s) possible|there are (?:many|several|various|multiple) "
    r"(?:factors|possibilities|opinions|ways to look at (?:it|this))(?: (?:to consider|at play))?",
    r"(?:i )?(?:could|may|might) be (?:wrong|mistaken)|probably(?: not)?|i (?:guess|suppose)(?: "
    r"so)?",
    r"(?:das |es )(?:kommt (?:ganz )?darauf an|hängt davon ab|kann variieren|ist schwer zu sagen)|"
    r"kommt (?:ganz )?darauf an|vielleicht|möglicherweise",
    r"depende|(?:eso|esto) (?:depende|puede variar)|puede variar|es dif[ií]cil (?:de "
    r")?decir(?:lo)?|"
    r"(?:quiz[aá]s?|tal vez)",
    r"(?:ça|cela) (?:d[eé]pend|peut varier)|peut-[eê]tre|c'est difficile à dire|dipende|può "
    r"variare|"
    r"forse|è difficile da dire|pode variar|talvez|é dif[ií]cil dizer|isso depende",
    r"(?:dat|het) (?:hangt ervan af|kan variëren|ligt eraan)|misschien|(?:duruma |koşullara )?"
    r"(?:göre )?değişebilir|duruma bağlı(?:dır)?|belki",
    r"場合によります|場合によって異なります|状況によります|かもしれません|看情况|视情况而定|"
    r"視情況而定|不一定|"
    r"可能会有所不同|يعتمد ذلك على الظروف|هذا يعتمد|ربما|قد يختلف|निर्भर करता है|यह निर्भर करता है|"
    r"शायद",
)
"""No content: it depends."""

_PRAISE = (
    r"(?:great|amazing|awesome|fantastic|wonderful|excellent|brilliant|beautiful|lovely|nice|"
    r"incredible|terrific|superb|impressive|outstanding|perfect|cool|fun|good|bad|terrible|awful|"
    r"horrible|boring|interesting|fascinating|delicious|stunning|elegant|remarkable|exciting|"
    r"disappointing|ugly|worth it|the best|the worst|a joy|a pleasure|a must)"
)
_THING = (
    r"(?:choice|option|idea|language|tool|product|place|way|solution|plan|book|movie|film|city|"
    r"feature|thing|deal|service|experience|company|team|library|framework|game|song|value)"
)
_VERY = r"(?:(?:really|very|quite|so|truly|absolutely|simply|just|pretty|a bit|rather|always) )*"
OPINION = Phrases(
    rf"(?:[^\s,:;]+ ){{1,6}}?(?:is|are|was|were|looks|seems|sounds|feels|tastes|remains) {_VERY}"
    rf"(?:(?:a|an|one of the|the) )?{_VERY}{_PRAISE}(?: (?:and|and also|but|,) {_VERY}{_PRAISE})?"
    rf"(?: {_THING}s?)?(?: (?:for (?:everyone|anyone|you|beginners|many)|indeed|overall|to use|to "
    r"(?:visit|work with|read|watch)|to me|in my opinion|i think))?",
    r"(?:what )?(?:an? )?(?:really |very )?(?:great|excellent|nice|good|wonderful|fantastic) "
    r"(?:choice|idea|pick|thinking)",
    rf"(?:it's|that's|this is|they're) {_VERY}(?:(?:a|an|the) )?{_VERY}{_PRAISE}(?: {_THING}s?)?",
    r"i (?:really |absolutely |just )?(?:love|like|enjoy|adore|hate|dislike|prefer)"
    r"(?: [^\s,:;]+){1,6}",
    r"(?:\w+ ){1,4}(?:ist|sind|war|es|son|est|sont|è|sono|é|são) (?:einfach |sehr |wirklich |"
    r"muy |"
    r"tr[eè]s |vraiment |molto |muito |realmente )?(?:toll|großartig|wunderbar|super|schön|klasse|"
    r"genial(?:e|es|is)?|excelente|maravillos[oa]|fant[aá]stic[oa]|incre[ií]ble|magnifique|"
    r"g[eé]nial|"
    r"superbe|formidable|meraviglios[oa]|fantastic[oa]|bellissim[oa]|maravilhos[oa]|[oó]tim[oa])",
    r".{1,12}(?:は|が)(?:素晴らしい|最高|とても良い|楽しい)(?:です)?|[^，。]{1,12}(?:很棒|太棒了|"
    r"非常好|真好|很好)",
)
"""Praise and blame that nothing can be checked in."""

_DONE = (
    r"(?:created|sent|updated|deleted|added|removed|saved|scheduled|booked|cancell?ed|submitted|"
    r"uploaded|downloaded|forwarded|opened|closed|moved|renamed|copied|written|wrote|generated|"
    r"attached|fixed|edited|modified|changed|replaced|installed|executed|ran|run|processed|placed|"
    r"ordered|refunded|reset|set|enabled|disabled|started|stopped|published|posted|shared|notified|"
    r"emailed|called|invited|assigned|prepared|drafted|made|filed|completed|merged|committed|"
    r"deployed|escalated|translated|searched|checked|looked|reviewed|summari[sz]ed|compiled|"
    r"formatted|listed|logged|registered|transferred)"
)
# What comes after may not open a clause that says something else.
_DEED = r"(?:(?!\b(?:that|which|because|since|where|whose|as|showing|saying|stating)\b)[^:;])*"
ACTION = Phrases(
    rf"i(?:'ve| have)?(?: (?:now|just|already|also|successfully|gone "
    rf"ahead and|then))* {_DONE}(?:\b{_DEED})?",
    rf"(?:done|all done|all set)(?:,? i(?:'ve| have)? {_DONE}\b{_DEED})?",
    r"ich habe .{1,100} (?:erstellt|gesendet|geschickt|aktualisiert|gelöscht|hinzugefügt|"
    r"gespeichert|"
    r"gebucht|storniert|angelegt|verschickt|geändert|hochgeladen)",
    r"(?:ya )?(?:he|hemos) (?:creado|enviado|actualizado|eliminado|añadido|guardado|reservado|"
    r"cancelado|modificado|borrado)\b[^:;]*",
    r"j'ai (?:bien )?(?:cr[eé][eé]|envoy[eé]|mis à jour|supprim[eé]|ajout[eé]|enregistr[eé]|"
    r"r[eé]serv[eé]|annul[eé]|modifi[eé])\b[^:;]*",
    r"ho (?:già )?(?:creato|inviato|aggiornato|eliminato|aggiunto|salvato|prenotato|"
    r"annullato)\b[^:;]*",
    r"(?:eu )?(?:criei|enviei|atualizei|excluí|adicionei|salvei|reservei|cancelei|apaguei)\b[^:;]*",
    r"ik heb .{1,100} (?:gemaakt|verzonden|gestuurd|bijgewerkt|verwijderd|toegevoegd|opgeslagen|"
    r"geboekt|geannuleerd|aangemaakt)",
    r".{1,80} (?:oluşturdum|gönderdim|güncelledim|sildim|ekledim|kaydettim)",
    r".{1,60}を(?:作成|送信|更新|削除|追加|保存|予約)しました|我?(?:已经?|已經)(?:为您|为你)?"
    r"(?:创建|发送|更新|删除|添加|保存|預訂|预订)[^，,：:]{0,40}|(?:لقد )?(?:أنشأت|أرسلت|حدّثت|"
    r"حذفت|أضفت)\b[^:]*|"
    r"मैंने .{1,80}(?:बनाया|भेजा|भेज दिया|अपडेट किया|हटा दिया|जोड़ा)(?: है)?",
)
"""What an agent says it did."""

ABOUT = Phrases(
    rf"{_DOC} (?:only |mainly |briefly |also |all )?(?:discuss|describe|talk about|focus on|"
    r"deal with|outline|is about|are about|relate to)(?:s|es)?\b(?!.*\b(?:that|as|how (?:many|"
    r"much)|"
    r"is|are|was|has)\b) [^,:;]{1,80}",
    rf"{_DOC} (?:talks about|focuses on|deals with|relates to) (?!that\b)[^,:;]{{1,80}}",
    rf"{_DOC} (?:only |mainly |also )?(?:contain|provide|offer|include|cover|have|has|give|"
    rf"mention)s? "
    r"(?:only )?(?:\w+ )?(?:information|details?|an overview|a summary|an explanation)"
    r"(?: (?:about|on|of|regarding|for) [^,:;]{1,60})?",
)
"""What a document is about."""

_PLACE = (
    r"(?:sections?|chapters?|pages?|figures?|tables?|appendix|articles?|paragraphs?|documents?|"
    r"sources?|passages?|context|links?|below|above|footnotes?|annex|docs|"
    r"documentation|manual|handbook|guide|faq|website|terms|policy|attachment)"
)
_BASED = (
    r"(?:based (?:on|upon)|according to|as per|per|from|in|given|as (?:stated|mentioned|described|"
    r"noted|outlined|shown|explained|specified|indicated) (?:in|by)|drawing on|going by|using)"
)
META = Phrases(
    rf"(?:please |for (?:more|further) (?:details|information),? )*(?:see|refer to|check|consult|"
    rf"cf|"
    rf"compare|read)(?: also)? (?:(?:the|this|also) )?{_PLACE}(?: [\w.()-]{{1,8}})?(?: (?:and|to|"
    rf"or) "
    r"[\d.]{1,8})?(?: (?:of|in|on) (?:the )?\w+(?: \w+){0,3})?(?: for (?:more |further |full |"
    r"all )?"
    r"(?:details?|information|info))?",
    rf"{_BASED} {_DOC}",
    rf"(?:(?:this|the|my) (?:answer|information|response|summary)|this|it) (?:is|comes|was) "
    rf"(?:based on|"
    rf"from|taken from|drawn from|according to) {_DOC}",
    r"(?:sources?|references?|citations?|quellen?|fuentes?|fonti?)",
    r"(?:laut|gemäß|nach|basierend auf|auf grundlage) (?:der|dem|den|des) (?:\w+en )?(?:kontext\w*|"
    r"dokument\w*|text\w*|unterlagen|quellen?|angaben|informationen)",
    r"(?:seg[uú]n|de acuerdo con|con base en) (?:el|la|los|las) (?:contexto|documentos?|textos?|"
    r"informaci[oó]n|fuentes?)(?: \w+)?|(?:selon|d'apr[eè]s|sur la base d[eu]s?) (?:le |la |les )?"
    r"(?:contexte|documents?|textes?|informations?|sources?)(?: \w+)?",
    r"(?:secondo|in base a\w*) (?:il |i |al |ai )?(?:contesto|document[oi]|test[oi])(?: \w+)?|"
    r"(?:de acordo"
    r" com|segundo|com base n?) ?(?:o|os|a|as) (?:contexto|documentos?|textos?)(?: \w+)?|volgens "
    r"(?:de|"
    r"het) (?:\w+ )?(?:context|documenten|document|tekst)",
    r"siehe (?:abschnitt|kapitel|seite|anhang|tabelle) ?[\w.]{0,8}|(?:véase|ver|consulte) (?:la |"
    r"el )?"
    r"(?:secci[oó]n|cap[ií]tulo|p[aá]gina) ?[\w.]{0,8}|voir (?:la |le )?(?:section|chapitre|page) "
    r"?[\w.]{0,8}|提供された(?:文書|情報|コンテキスト)によると|根据(?:提供的|所提供的)?(?:上下文|"
    r"文档|资料|信息)",
)
"""Words about the documents."""

INTRODUCTION: tuple[tuple[Kind, Phrases], ...] = (
    (
        "courtesy",
        Phrases(
            r"(?:sure(?: thing)?|of course|certainly|absolutely|great(?: question)?|good question|"
            r"thanks(?: for asking)?|thank you(?: for [\w ]{1,40})?|hello|hi(?: there)?|okay|ok|"
            r"unfortunately|regrettably|sadly|no problem|you're welcome|(?:i'm |i am )?(?:so |"
            r"very )?sorry"
            r"(?: but)?|i apologi[sz]e(?: but)?|my apologies|leider|entschuldigung|es tut mir leid|"
            r"tut mir leid|gerne?|natürlich|lo siento(?: pero)?|lamentablemente|claro|por supuesto|"
            r"d[eé]sol[eé]e?|malheureusement|je suis d[eé]sol[eé]e?(?: mais)?|bien s[uû]r|"
            r"mi dispiace(?: ma)?|purtroppo|certo|(?:sinto muito|desculpe)(?: mas)?|infelizmente|"
            r"helaas|"
            r"sorry|natuurlijk|maalesef|üzgünüm|tabii|申し訳ありませんが|申し訳ございませんが|"
            r"すみませんが|"
            r"残念ながら|抱歉|对不起|很遗憾|当然|好的|للأسف|عذرا|آسف|क्षमा करें|माफ़ कीजिए)(?:,|!|"
            r"\.|:|、|，|،| -| –|—)+"
            r"\s?(?:but |aber |pero |mais |ma |mas |maar )?",
            r"(?:unfortunately|regrettably|leider|lamentablemente|malheureusement|purtroppo|"
            r"infelizmente|"
            r"helaas|maalesef|للأسف) ",
            r"(?:i'm|i am) (?:so |very )?sorry,? but ",
            r"as an? (?:ai|artificial|language|virtual)[\w ]{0,40},\s?",
            r"(?:i |we )?hope (?:this|that|it) (?:helps|answers your question|is "
            r"useful)(?:[,:.!—–-]| and)"
            r"\s?",
        ),
    ),
    (
        "meta",
        Phrases(
            rf"{_BASED} {_DOC}(?:,|:| it (?:says|is stated) that| -|—)\s?",
            rf"{_BASED} {_DOC} (?=i\b|we\b|there\b|it\b|the answer)",
        ),
    ),
    (
        "hedge",
        Phrases(
            r"(?:please )?(?:note|be aware|keep in mind|remember) (?:that|:)|it(?:'s| is) "
            r"(?:important|worth)"
            r" (?:to note|noting|to mention|mentioning) that|(?:i|we) (?:think|believe|guess|"
            r"suppose|feel|"
            r"would say|assume)(?: that|,)? |it (?:seems|appears|looks like)(?: that| to me "
            r"that)? |"
            r"(?:in my (?:opinion|view)|personally|honestly|frankly|to be honest|generally|in "
            r"general|"
            r"overall|however|but|and|so|also|therefore|thus|still|additionally|finally|well),? |"
            r"(?:aber|jedoch|pero|mais|ma|mas|maar|ancak|fakat|ama|しかし|ただし|但是?),? ?",
        ),
    ),
)
"""Openings after which the rest of the sentence tells what it is; their own kind if alone."""

_WH = (
    r"(?:who|whom|whose|what|when|where|why|how|which|wer|wem|wen|was|wann|wo|warum|wie|"
    r"welche[rsmn]?|wieso|weshalb|woher|wohin|womit|qui|que|quoi|quand|où|pourquoi|comment|quels?|"
    r"quelles?|combien|chi|che|cosa|quando|dove|perché|come|quale|quali|quanto|qué|quién|cuándo|"
    r"dónde|cómo|cuál|cuánt[oa]s?|quem|onde|qual|quais|quantos?|wat|wanneer|waar|waarom|hoe|welke?)"
)
_AND = (
    r"(?:(?:and|but|so|or|also|then|now|ok(?:ay)?|well|oh|great|sure|und|aber|oder|y|e|et|mais|ou|"
    r"pero|ma|o|en|maar),? )?"
)
ASKING = Phrases(
    rf"^[\"'“‘(\[*_\s]*{_AND}(?:¿|(?:{_WH}|(?:to|in|at|for|on|with|from|of|by|about|since|until|um|"
    r"bis|seit|ab|zu|für|auf|mit|von|an|a|de|en|con|para|por|desde|hasta|à|pour|avec|dans|sur|di|"
    rf"da|per|em|com|op|met|voor|van|tot) {_WH}|"
    r"is|are|am|was|were|do|does|did|can|could|will|would|shall|should|may(?! \d)|might|must|have|"
    r"has|had|(?:is|are|was|were|do|does|"
    r"did|can|could|would|should|have|has)n['’]t|wo?n['’]t|any|anything|anyone|need|want|shall|"
    r"you (?:mean|want|would like)|you'd like|"
    r"ist|sind|hat|haben|"
    r"habe|kann|können|könnte|möchten|möchtest|wollen|willst|soll|sollen|darf|dürfen|brauchen|"
    r"brauchst|gibt|benötigen|hilft|"
    r"est-ce|avez|voulez|souhaitez|puis-je|peux|pouvez|"
    r"vuole|vuoi|posso|può|hai|avete|"
    r"quieres?|desea|puedo|tienes?|"
    r"você|quer|pode|deseja|"
    r"zijn|heeft|heb|kan|kunt|wilt|wil)\b)"
)
"""How a question begins, in languages that put it first."""

ASKED_WORD = Phrases(rf"^[\"'“‘(\[*_\s¿]*{_AND}{_WH}\b")
"""A question that begins with what it asks for, or a statement: "When you book, it is free"."""

ASKED_ELSEWHERE = Phrases(
    r"[かの][?？]|[吗嗎呢么麼]|什|多少|几|幾|哪|谁|誰|怎|如何|何[?？時日年人度]|いつ|どこ|どの|どれ|どう|なに|だれ|"
    r"いくら|なぜ|(?:^|\s)(?:هل|ما|ماذا|متى|كم|أين|كيف|من|لماذا|أي)\s|क्या|कौन|कब|कहाँ|कहां|कैसे|कितन|"
    r"क्यों|"
    r"(?:^|\s)(?:кто|что|где|когда|как|сколько|как\w{2,3}|почему|ли|хотите|можно)\s"
)
"""What tells a question in scripts of their own."""

KNOWING = Phrases(
    r"^[\"'“‘(*_\s¿]*(?:(?:and|but|so),? )?(?:"
    r"(?:did|didn['’]t) you (?:already )?(?:know|reali[sz]e|hear|notice)(?: that)?|"
    r"(?:do you |don['’]t you )?(?:know|reali[sz]e|remember) that|"
    r"don['’]t you (?:think|know|agree|remember|reali[sz]e|believe)(?: that)?|"
    r"(?:are|were|aren['’]t|weren['’]t) you aware(?: that)?|have(?:n['’]t)? you (?:heard|"
    r"noticed) that|"
    r"(?:isn['’]t it|is it not) (?:true|the case|so|a fact|correct|right) that|"
    r"wouldn['’]t you (?:say|agree)(?: that)?|(?:does|would) it surprise you that|who knew that|"
    r"(?:wussten sie|wusstest du|wusstet ihr|wissen sie|weißt du|ist ihnen bekannt|ist dir bekannt)"
    r"(?: schon| eigentlich)?,? dass|"
    r"sab[ií]as? (?:usted |tú )?que|sab[ií]an que|no sab[ií]as? que|"
    r"(?:le )?saviez[- ]vous que|savais[- ]tu que|(?:vous )?savez(?:-vous)? que|"
    r"(?:lo )?sapev[ia](?:te)? che|(?:lo )?sai che|(?:você |tu )?sabia que|"
    r"(?:wist|weet) (?:je|u) dat)(?: |(?<=que)['’]| ?qu['’])(?!(?:if|whether|of|about|any|who|what|"
    r"when|where|why|how|which)\b)(?=\S+ \S)|"
    r"^(?:saviez[- ]vous|savais[- ]tu) qu['’]|(?:biliyor muydun\w*|ご存[知じ]|知って(?:い)?ま|"
    r"你知道|您知道|"
    r"هل تعلم أن|क्या आप जानते).*\d|\d.*(?:biliyor muydun|ご存[知じ]|知って(?:い)?ま)"
)
"""Questions that state what they ask about: "Did you know that it is free?"."""

TAG = Phrases(
    r"(?:,|;|…|\.\.\.|\s[–—-]|[，、،])\s*(?:right|correct|ok|okay|yes|yeah|agreed|"
    r"(?:is|are|was|were|do|does|did|has|have|can|will)(?:n['’]t)? (?:it|they|he|she|you|that|"
    r"there)|"
    r"wo?n['’]t (?:it|they|he|she|you|that|there)|isn['’]t that (?:so|right)|innit|no|"
    r"oder(?: nicht)?|"
    r"nicht wahr|richtig|stimmt['’]?s|gell|ne|ja|verdad|cierto|vale|correcto|no es así|"
    r"n['’]est-ce pas|"
    r"non|d['’]accord|pas vrai|vero|giusto|no è vero|certo|não é|né|certo|correto|tá|toch|nietwaar|"
    r"hè|değil mi|tamam mı|对吗|对吧|是吧|是吗|不是吗|"
    r"對嗎|對吧|好吗|أليس كذلك|صحيح|है ना|ठीक है|верно|"
    r"не так ли|правда|да)\s?[?？؟!][\W_]*$|(?:ですよね|でしょう|ですね|だよね)[?？][\W_]*$|"
    r"\s(?:değil mi|है ना|nicht wahr|n['’]est-ce pas)\s?[?？][\W_]*$"
)
"""What makes a statement end with a question mark."""

DENYING = Phrases(
    r"^[\"'“‘(*_\s]*(?:(?:and|but|so|then),? )?(?P<aux>is|are|was|were|do|does|did|has|have|had|"
    r"ca|could|"
    r"wo|would|should|must)n['’]t (?P<rest>.*)"
)
"""A question that says that its answer is yes: "Isn't it free?"."""

DENYING_VALUE = Phrases(
    r"^[\"'“‘(*_\s¿]*(?:(?:is|are|was|were|do|does|did|has|have|had|can|will|would|"
    r"should) .{1,200}?"
    r"\bnot\b|(?:\w+ ){1,12}?nicht\b|(?:\w+ ){1,8}?kein\w*\b|no\b|non\b|n[aã]o\b|.{0,60}\bn['’]est|"
    r".{0,60}\bne .{1,40}?\bpas\b|(?:\w+ ){1,12}?niet\b)|değil mi|"
    r"ではありません|じゃな|ではない|ませんか|"
    r"不是|难道|難道|أليس|नहीं"
)
"""The same in other words and languages, where a figure follows or goes before."""

WANTING = Phrases(
    r"\b(?:you|we|i) (?:not )?(?:also |really |rather |just )?(?:like|want|prefer|wish|love|care|"
    r"mind)\b|"
    r"\b(?:have|need) (?:any|more|other|help|anything)\b|"
    r"\b(?:möcht\w*|woll\w*|willst|quier\w*|dese\w*|gustar\w*|voul\w*|souhait\w*|vuo\w*|vorr\w*|"
    r"desider\w*|quer\w*|gostaria\w*|wil(?:t|len)?|istiyor\w*|istemez)\b|要不要|想不想|いかが"
)
"""An offer, also where it is denied: "Wouldn't you like more?"."""
