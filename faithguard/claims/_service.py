"""What a helpdesk says around its answer: requests, set phrases and ways to reach it.

In: the words of one sentence. Out: whether it is a set phrase that tells nothing, and the
addresses in a request to get in touch, which are all that can be checked in it.

Each word of a set phrase is from a closed list, so that nothing can be told inside one. What a
customer is asked for is his own: an order number is asked for, a doctor's note is required.
"""

from __future__ import annotations

import re

from faithguard.claims._phrases import Phrases

__all__ = ["addresses_asked", "holds_address", "is_set_phrase"]

_OWN = (
    r"(?:(?:your|the|that|this|these|a|an|any|some|more|further|additional|full|correct|exact|"
    r"valid|own|same) ){0,3}"
    r"(?:(?:order|tracking|account|customer|invoice|reference|booking|reservation|"
    r"confirmation|serial|phone|telephone|ticket|case|model|member|delivery|shipping|billing|"
    r"e-?mail|postal|zip|post|first|last|full|user|shipment|parcel|login|product|contact) ){0,2}"
    r"(?:numbers?|codes?|ids?|e-?mail|address(?:es)?|names?|usernames?|spelling|entry|entries|"
    r"details?|information|info|request|question|link|message|input|data|dates?|one|it|that|order)"
)
_OWNS = rf"{_OWN}(?:(?:,| or| and|,? and/or) {_OWN}){{0,2}}"
_PLEASE = (
    r"(?:(?:and |so |then |but )?(?:please|kindly),? |(?:could|can|would|will) you (?:please )?)"
)
_AGAIN = (
    r"(?:try|ask|search|check)(?: it| that)? (?:again|once more)"
    r"(?: (?:later|shortly|in a (?:moment|minute|while|few (?:minutes|moments)|bit)|please))?"
)
_LOOK = r"(?:check|look|help|find|assist|verify|see|locate|track|investigate|search|continue)"
_SO = (
    rf"(?:,? (?:so(?: that)?|and) (?:i|we)(?: can|'ll|'d be able to| will)? (?:(?:then|better|"
    rf"gladly|quickly) )?{_LOOK}(?: (?:(?:into|for|up|out|at|on|with) )?(?:it|that|this|you|"
    r"the (?:status|order|issue|matter)|your (?:order|account|request|parcel|case)))?"
    r"(?: (?:up|out|further|for you|right away)){0,2})?"
)
_WHO = (
    r"(?:(?:a|an|our|the|one of our|one of my|some|my) )?(?:(?:human|live|real|support|service|"
    r"customer|"
    r"customer service|customer support|helpdesk|available|sales|technical) ){0,3}"
    r"(?:agents?|colleagues?|representatives?|team|specialists?|humans?|person|people|advisors?|"
    r"operators?|support|service|assistants?|team members?|experts?)"
)
_SOON = r"(?: (?:now|right now|right away|immediately|shortly|straight away|in a moment))?"
_INSTANT = r"(?:moment|second|sec)"
_WHILE = (
    r"(?:,? (?:while|and) i(?:'ll| will| can|'m| am)? (?:check|look)(?:ing)?"
    r"(?: (?:this|that|it|into|up|for you)){0,3})?"
)
_FEEL = (
    r"(?:frustrat(?:ion|ing|ed)|disappoint(?:ment|ing|ed)|concerns?|confus(?:ion|ing|ed)|"
    r"inconvenien(?:ce|t)|annoy(?:ance|ing|ed)|upset(?:ting)?|worr(?:y|ies|ied|ying)|"
    r"stress(?:ful)?|situation|trouble|"
    r"delay|mistake|error|mix-?up|misunderstanding|problems?|difficult(?:y|ies)|wait|hassle)"
)
_SORRY_FOR = (
    rf"(?: (?:for|about) (?:(?:the|any|this|that|your|all the|my|our) )?(?:(?:great|caused|long|"
    rf"possible|earlier) )?{_FEEL}(?: (?:this|that|it) (?:may have|might have|has|may) caused?"
    r"(?: you)?| caused)?)?"
)
_GOODS = (
    r"(?:(?:your|the) )?(?:parcel|package|order|delivery|item|device|product|shipment|purchase|"
    r"login|account|app|payment|it)"
)
_TOPIC = (
    r"(?:(?:your|our|the|any|general|product|account|order) )?(?:orders?|refunds?|returns?|"
    r"shipping|deliver(?:y|ies)|"
    r"payments?|billing|invoices?|accounts?|products?|services?|questions?|exchanges?|"
    r"cancellations?|tracking|subscriptions?|issues?|requests?|plans?|settings?)"
)
_TOPICS = rf"{_TOPIC}(?:,? (?:and |or )?{_TOPIC}){{0,6}}(?:,? and more)?"
_MORE = r"(?:more|further|additional|full) (?:details?|info|information|help)"
_PAGE = (
    r"(?:(?:the|our|your|this|that) )?(?:(?:returns?|refunds?|shipping|delivery|privacy|payment|"
    r"pricing|support|help|online|customer|faq|full|complete|following|product) ){0,2}"
    r"(?:help ?cent(?:re|er)|pages?|policy|policies|faqs?|docs|documentation|"
    r"website|guide|article|knowledge base|terms(?: and conditions| of service)?|manual)"
)
_PAPER = (
    r"(?:our|the|your|this|that) (?:(?:current|official|company|store|shop|return|returns|"
    r"refunds?|shipping|delivery|help|privacy|service|user|product) ){0,2}"
    r"(?:policy|policies|rules|terms(?: and conditions| of service)?|guidelines?|website|faqs?|"
    r"help ?cent(?:re|er)|documentation|manual|records?|system|information)"
)

_SET = Phrases(
    # requests
    rf"{_PLEASE}?(?:double-?check|re-?check|check|verify|review|confirm|correct)(?: (?:that|if|"
    rf"whether))? {_OWNS}(?: is (?:correct|right|valid|spelled correctly))?"
    rf"(?:,? (?:and|then|or) (?:please )?{_AGAIN})?",
    rf"{_PLEASE}?{_AGAIN}",
    rf"(?:{_PLEASE}|i(?:'ll| will|'d| would)? (?:just )?need (?:you to )?|to (?:help you|continue|"
    rf"check),? please )"
    rf"(?:(?:share|provide|send|give|tell|enter|include|specify|confirm|type|reply with|let) "
    rf"(?:(?:me|us)(?: with| know)? )?)?{_OWNS}(?: (?:with|to) (?:me|us))?"
    rf"(?: (?:here|below|in the chat))?{_SO}",
    rf"{_PLEASE}?(?:describe|rephrase|clarify|explain|tell (?:me|us)(?: more)? about) "
    r"(?:your|the) (?:question|request|problem|issue)(?: (?:again|in more detail|a bit more))?",
    r"(?:please )?(?:hold on|bear with (?:me|us)|stand by|hang on)(?:,? (?:for )?(?:just )?"
    rf"(?:a|one) {_INSTANT})?(?:,? please)?{_WHILE}",
    rf"please (?:wait|hold)(?: for)?(?: (?:just )?(?:a|one) {_INSTANT})?{_WHILE}|"
    rf"(?:please )?(?:give|allow) me (?:just )?(?:a|one) {_INSTANT}(?:,? please)?{_WHILE}",
    rf"(?:just )?(?:one|a) (?:{_INSTANT},? please{_WHILE}|{_INSTANT},? while i check|moment)",
    # hand-overs
    rf"(?:(?:i(?:'ll| will|'m going to|'m| am| can)|let me|allow me to|we(?:'ll| will)) "
    rf"(?:now |just |be )?(?:connect(?:ing)?|transfer(?:ring)?|hand(?:ing)?|pass(?:ing)?|"
    rf"forward(?:ing)?|put(?:ting)?|redirect(?:ing)?|escalat(?:e|ing))|(?:connecting|transferring))"
    rf" (?:you|this|it|your (?:request|question|case|message))(?: over| on| through)? "
    rf"(?:to|with|in touch with|through to) {_WHO}{_SOON}"
    r"(?:,? (?:who (?:can|will)|to|for) (?:be able to )?(?:help|assist|support|further "
    r"assistance)(?: you)?(?: further| with (?:this|that|it))?)?",
    rf"{_WHO} will be with you{_SOON}(?: soon| as soon as possible)?",
    r"i(?:'ll| will) (?:check|look into|look up|find out)(?: (?:that|this|it))?(?: for you)?"
    r"(?: (?:now|right away))?",
    # courtesies
    r"(?:i(?:'m| am|'d be| would be|'ll be)|we(?:'re| are|'d be| would be|'ll be)) (?:always |"
    r"very |"
    r"more than |here and |so )?(?:happy|glad|here|delighted|pleased)(?: and (?:happy|ready))? to "
    r"(?:help|assist|support)(?: you)?(?: (?:with (?:that|this|it|anything else)|further|out|"
    r"anytime|at any time))?",
    rf"(?:i|we)(?:'m| am|'re| are| do)? ?(?:(?:really|very|so|deeply|sincerely|truly) )*"
    rf"(?:apologi[sz]e|sorry){_SORRY_FOR}",
    rf"(?:please accept )?(?:my|our) (?:sincere |deepest )?apologies{_SORRY_FOR}",
    rf"(?:i|we) (?:(?:completely|fully|totally|do|really|can|truly) )*(?:understand|see|imagine|"
    rf"appreciate|hear|realize) "
    rf"(?:(?:your|the) {_FEEL}|how {_FEEL}(?: (?:this|that|it) (?:must|can|may|might) be"
    r"(?: for you)?| you (?:are|must be))|(?:that )?(?:this|that|it) (?:is|must be|can be) "
    rf"{_FEEL})",
    r"(?:i|we) (?:(?:really|do|very much|greatly) )*(?:appreciate|value|thank you for) your "
    r"(?:patience|understanding|feedback|business|interest|message|cooperation|time|loyalty|"
    r"question)(?: and (?:patience|understanding|cooperation|time))?",
    rf"(?:i'm |i am |we're |we are )?(?:(?:so|very|really|truly) )*sorry to hear (?:about "
    rf"(?:that|this|it|your {_FEEL})|(?:that )?(?:{_GOODS} (?:(?:has|have|is|was|did|does|still)"
    r"(?:n't| not)|still (?:has|have)(?:n't| not)) (?:yet )?(?:arrived?|been delivered|work(?:ing)?"
    r")(?: yet)?|"
    rf"{_GOODS} (?:arrived|is|was|has been|came) (?:damaged|broken|late|faulty|defective)|"
    r"you(?:'re| are|'ve| have)(?: been)? (?:having|had|experiencing) (?:this |a |some |these )?"
    r"(?:trouble|problems?|issues?|difficult(?:y|ies)|bad experience)|"
    r"you(?:'re| are) (?:not (?:happy|satisfied)|unhappy|disappointed|upset)))",
    r"no worries(?: at all)?|not to worry|(?:great|good) news|happy to help|"
    r"glad to hear (?:that|it)|"
    r"thanks? (?:you )?(?:so much |very much )?(?:for|in advance for) (?:your|the) (?:patience|"
    r"understanding|question|message|interest|feedback)",
    rf"i can (?:also )?(?:help|assist) (?:you )?with {_TOPICS}|"
    r"i can only (?:answer|help with|assist with) questions (?:about|on|regarding|related to) "
    r"[\w'-]+(?: [\w'-]+){0,2}",
    # lead-ins and pointers
    r"(?:here(?:'s| is)|this is|that(?:'s| is)) how (?:it|this|that) works|"
    r"here(?:'s| is) (?:how|what) (?:to (?:do (?:it|this|that|so)|proceed|get started|"
    r"do(?: next)?)|you (?:can|need to|should) (?:do(?: (?:it|this|that|so|next))?|proceed|know))|"
    r"(?:just |please |simply )?follow (?:these|the|the following|the below) (?:(?:simple|easy|"
    r"next) )?"
    r"(?:steps|instructions)(?: below)?|"
    rf"(?:according to|based on|as per|per|as stated in|under) {_PAPER}",
    rf"(?:(?:for|to (?:get|find|see)) {_MORE},? )?(?:please |you can )?(?:also )?(?:see|visit|"
    rf"check(?: out)?|refer to|read|consult|have a look at|take a look at) {_PAGE}"
    rf"(?: for {_MORE})?",
    rf"(?:you (?:can|will|'ll) )?(?:find|learn|read) (?:more|{_MORE})(?: (?:about (?:this|it|that))"
    rf")?(?: (?:in|on|at) {_PAGE}| here| below)?",
    # de
    r"(?:bitte )?(?:prüfen|überprüfen|kontrollieren) sie (?:bitte )?(?:die|ihre|den|das) "
    r"(?:nummer|bestellnummer|angaben?|eingabe|kundennummer|e-mail-adresse|adresse|daten)"
    r"(?: und versuchen sie es (?:bitte )?(?:erneut|noch einmal|nochmals?))?",
    r"(?:bitte )?versuchen sie es (?:bitte )?(?:später )?(?:erneut|noch einmal|nochmals?)"
    r"(?: später)?",
    r"(?:bitte )?(?:nennen|geben|teilen|senden|schicken) sie (?:mir|uns) (?:bitte )?(?:ihre|die) "
    r"(?:bestellnummer|kundennummer|e-mail-adresse|sendungsnummer|rechnungsnummer)(?: an| mit)?",
    r"(?:einen )?(?:kleinen )?(?:moment|augenblick),? bitte|bitte warten sie(?: einen moment)?|"
    r"(?:wir|ich) (?:bitten?|entschuldigen?)(?: (?:uns|mich))? (?:für die|die|um)?(?: )?"
    r"(?:unannehmlichkeiten?|entschuldigung)(?: zu entschuldigen)?|"
    r"(?:wir|ich) (?:bitten?) (?:die unannehmlichkeiten zu entschuldigen|um entschuldigung|um "
    r"verständnis|um (?:etwas |ein wenig )?geduld)|"
    r"ich verstehe (?:ihren|deinen) (?:ärger|frust|unmut)|(?:vielen )?dank für (?:ihre|deine) "
    r"(?:geduld|ihr verständnis|anfrage|nachricht)|keine sorge|gute nachrichten?|"
    r"(?:ich|wir) helfen? (?:ihnen|dir) gerne?(?: weiter)?|"
    r"ich verbinde sie (?:jetzt |nun |gleich )?mit (?:einem|einer|unserem|meinem) "
    r"(?:mitarbeiter|mitarbeiterin|kollegen|kollegin|kundenservice|support(?:-team)?)",
    r"so (?:funktioniert es|geht es|geht's|funktioniert's|gehen sie vor)|"
    r"(?:laut|gemäß|nach) (?:unseren|unserer|den|der) (?:rückgabe)?(?:richtlinien?|bedingungen|agb|"
    r"regeln)|(?:weitere|mehr) (?:informationen|details) (?:finden sie |gibt es )?(?:in|auf|im) "
    r"(?:unserem|unserer|unseren|der|dem|den)? ?(?:hilfe-?center|hilfeseiten?|website|webseite|faq|"
    r"hilfebereich)",
    # fr
    r"(?:veuillez|merci de) v[eé]rifier (?:le|votre|vos|l'|les) ?(?:num[eé]ro|adresse|donn[eé]es|"
    r"informations|saisie)(?: de commande| de client)?(?: et r[eé]essayer)?|"
    r"(?:veuillez )?r[eé]essay(?:er|ez)(?: plus tard)?|"
    r"(?:veuillez|merci de|pouvez-vous) (?:me |nous )?(?:indiquer|fournir|communiquer|donner|"
    r"envoyer) "
    r"votre (?:num[eé]ro de (?:commande|client|suivi)|adresse e-?mail)|"
    r"un (?:instant|moment),? (?:s'il vous pla[iî]t|svp)|"
    r"(?:nous (?:nous |vous )?|je (?:m'|vous )?)(?:excus(?:e|ons)|pri(?:e|ons) de nous excuser|"
    r"pr[eé]sent(?:e|ons) nos excuses)(?: pour (?:la g[eê]ne|le d[eé]sagr[eé]ment|ce "
    r"d[eé]sagr[eé]ment)"
    r"(?: occasionn[eé]e?)?)?|je comprends (?:votre|ta) (?:frustration|d[eé]ception|"
    r"m[eé]contentement)|"
    r"merci (?:de|pour) votre (?:patience|compr[eé]hension)|"
    r"bonne nouvelle|"
    r"je vous mets en relation avec (?:un|une) (?:conseiller|conseill[eè]re|agent|coll[eè]gue)|"
    r"(?:voici )?comment (?:ça|cela) (?:marche|fonctionne)|"
    r"(?:selon|d'apr[eè]s|conform[eé]ment à) (?:notre|nos) (?:politique|conditions|r[eè]gles)"
    r"(?: de retour| g[eé]n[eé]rales)?|"
    r"pour plus (?:d'informations|de d[eé]tails),? (?:consultez|voir|veuillez consulter) (?:notre|"
    r"nos) (?:centre d'aide|site|faq|page d'aide)",
    # es
    r"(?:por favor,? )?(?:verifique|compruebe|revise) (?:el|su|sus|la|los) (?:n[uú]mero|datos|"
    r"direcci[oó]n)(?: de (?:pedido|cliente))?(?: e? ?(?:y )?(?:int[eé]ntelo|inténtelo) de nuevo| "
    r"y vuelva a intentarlo)?|"
    r"(?:por favor,? )?(?:int[eé]ntelo de nuevo|vuelva a intentarlo)(?: m[aá]s tarde)?|"
    r"(?:por favor,? )?(?:ind[ií]queme|fac[ií]liteme|env[ií]eme|deme|d[ií]game|proporcione) su "
    r"(?:n[uú]mero de (?:pedido|cliente|seguimiento)|correo(?: electr[oó]nico)?)|"
    r"un (?:momento|instante|segundo),? por favor|"
    r"(?:lamentamos|sentimos|disculpe|disculpen|pedimos disculpas por|le pedimos disculpas por) "
    r"(?:mucho )?(?:las?|los) (?:molestias?|inconvenientes?)|"
    r"(?:entiendo|comprendo) su (?:frustraci[oó]n|malestar|preocupaci[oó]n)|"
    r"(?:gracias por|agradecemos) su (?:paciencia|comprensi[oó]n)|no se preocupe|"
    r"buenas noticias|(?:le|lo) (?:paso|pongo en contacto|comunico|conecto) con (?:un|una) "
    r"(?:agente|compañer[oa]|representante)|as[ií] funciona|"
    r"(?:seg[uú]n|de acuerdo con) (?:nuestra|nuestras|nuestros) (?:pol[ií]tica|condiciones|"
    r"t[eé]rminos)"
    r"(?: de devoluci[oó]n(?:es)?)?|para (?:m[aá]s|mayor) (?:informaci[oó]n|detalles),? "
    r"(?:consulte|visite|vea) (?:nuestro|nuestra|nuestras) (?:centro de ayuda|p[aá]gina|web|faq)",
)

_MAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6}"
_ADDRESS = re.compile(
    rf"{_MAIL}|https?://[^\s<>()\"']{{3,300}}[^\s<>()\"'.,;:!?]|www\.[^\s<>()\"']{{3,300}}"
    r"[^\s<>()\"'.,;:!?]"
)
_REACHED = re.compile(rf"{_ADDRESS.pattern}|(?<![\w.,-])[+(]?\d[\d ()/-]{{5,24}}\d(?![\w.,-]*\d)")
_US = (
    r"(?:us|me|(?:our |the |your )?(?:(?:customer|client|technical|help) )?(?:support|service|"
    r"services|care|helpdesk|help desk|desk|team)(?: team)?)"
)
_BY = (
    r"(?:(?:by|via|per|through|at|on|under|to|using|over|our|the|e-?mail|phone|telephone|hotline|"
    r"chat|address|number):? )*"
)
_FOR = (
    rf"(?: (?:for (?:{_MORE}|help|assistance|support|any (?:further |other |more )?questions)|"
    r"if you have (?:any )?(?:(?:further|other|more) )?questions|directly|anytime|at any time|"
    r"and (?:we|i)(?:'ll| will)(?: be (?:happy|glad) to)? help(?: you)?))?"
)
_HEAD = (
    rf"(?:(?:if you (?:have|need) (?:any )?(?:(?:further|other|more) )?(?:questions?|help|"
    rf"assistance)|for (?:{_MORE}|help|assistance)),? )?"
)
_IN_TOUCH = Phrases(
    rf"{_HEAD}(?:{_PLEASE}|(?:please )?(?:feel free|do not hesitate|don't hesitate) to )?"
    rf"(?:(?:contact|reach(?: out to)?|e-?mail|call|phone|write(?: to)?|message|get in touch(?: "
    rf"with)?|send(?: us)? an? e-?mail(?: to)?|give us a call)\b ?)(?:{_US}\b ?)?(?:directly )?"
    rf"{_BY}\x00(?:,? (?:or|and)(?: call(?: us)?| e-?mail(?: us)?| write(?: to us)?)? ?"
    rf"{_BY}\x00)?{_FOR}",
    r"(?:bitte )?(?:kontaktieren|erreichen|schreiben|rufen|mailen) sie (?:bitte )?(?:uns |unseren? "
    r"(?:kundenservice|kundendienst|support) )?(?:bitte )?(?:(?:gern|gerne) )?"
    r"(?:per (?:e-?mail|telefon) |telefonisch )?(?:unter|an|über|via) (?:der nummer )?\x00(?: an)?",
    r"(?:(?:veuillez|merci de) nous (?:contacter|[eé]crire|appeler|joindre)|(?:contactez|"
    r"[eé]crivez|"
    r"appelez)-nous) ?(?:par (?:e-?mail|courriel|t[eé]l[eé]phone) )?(?:à|au|via|sur) "
    r"(?:l'adresse )?\x00",
    r"(?:por favor,? )?(?:cont[aá]ct[eé]nos|contacte con nosotros|p[oó]ngase en contacto con "
    r"nosotros|escr[ií]banos|ll[aá]menos) ?(?:por (?:correo(?: electr[oó]nico)?|tel[eé]fono|"
    r"e-?mail) )?"
    r"(?:en|a|al|a través de) (?:la direcci[oó]n )?\x00",
)
"""A request to get in touch; NUL stands for an address or a phone number."""
_LONGEST = 300


def is_set_phrase(words: str) -> bool:
    """Say whether a sentence, without its final stop, is a set phrase that tells nothing."""
    return len(words) <= _LONGEST and _SET.fullmatch(words) is not None


def holds_address(words: str) -> bool:
    """Say whether an address of mail or of a page stands in a sentence."""
    return _ADDRESS.search(words) is not None


def addresses_asked(words: str) -> str:
    """Return the addresses and phone numbers of a request to get in touch; else ""."""
    if len(words) > _LONGEST:
        return ""
    words = words.replace("’", "'")
    found = [match[0] for match in _REACHED.finditer(words)]
    asked = _REACHED.sub("\0", words).strip(" .!:")
    return ", ".join(found) if found and _IN_TOUCH.fullmatch(asked) else ""
