"""Sentence -> the sentence without the words that only say "the documents say so".

In: the words of a statement. Out: where the statement itself begins, and its words. Whom a
statement is attributed to can be checked and stays, unless it is the material as such.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from faithguard.claims._plain import has_words

_LONGEST = 300
"""An attribution ends within so many characters."""


@dataclass(frozen=True, slots=True)
class _Tongue:
    """How one language attributes a statement to the material."""

    by: str
    """ "According to"."""
    articles: str
    before: str
    """Adjectives that name no document: "provided"."""
    material: str
    """What only names the material at hand: "context"."""
    papers: str
    """Documents that are a thing of their own: "leaflet"."""
    after: str
    """Adjectives behind the noun: "you provided"."""
    says: str
    """ "says that"."""


_TONGUES = (
    _Tongue(
        by=r"according to|based (?:up)?on|as per|per|going by|judging (?:by|from)|"
        r"drawing on|(?:from|given)(?= (?:the |your )?(?:provided |given |available |above |"
        r"supplied |"
        r"retrieved )*(?:context|information|documents?|passages?|texts?|excerpts?)\b)|"
        r"as (?:is )?(?:stated|mentioned|described|noted|outlined|shown|explained|"
        r"specified|indicated|set out|written|per)(?: (?:in|by|on))?",
        articles=r"the|this|these|that|those|your|our|my|all(?: of)? the",
        before=r"provided|given|available|supplied|above|attached|retrieved|following|relevant|"
        r"cited|shared|uploaded|source|reference|enclosed|current|official|same|whole|"
        r"context|search",
        material=r"context(?: information)?|documents?|docs?|texts?|passages?|excerpts?|snippets?|"
        r"chunks?|information|info|sources?|search results?|"
        r"(?<=provided )(?:data|results?|contents?|materials?)|"
        r"(?:data|results?|contents?|materials?)(?= provided)",
        papers=r"(?:(?:package|patient|product|information|user|employee|staff|company|"
        r"instruction|owner's|service|travel|help|web) )?(?:leaflet|page|article|policy|manual|"
        r"guide|handbook|report|website|site|brochure|faq|contract|agreement|file|"
        r"terms(?: and conditions)?|guidelines?|instructions|booklet|summary|section)s?|"
        r"documentation|knowledge base|policies|company documents?",
        after=r"(?:that |which )?(?:(?:was|were|is|are|has been|have been) )?(?:provided|given|"
        r"available|supplied|above|shared|retrieved|attached|at hand|"
        r"you (?:have )?(?:provided|shared|gave|given)(?: me)?|i have|i was given)"
        r"(?: (?:here|above|to me|by you))?",
        says=r"(?:also |clearly |explicitly |specifically )?(?:says?|states?|mentions?|indicates?|"
        r"specif(?:y|ies)|notes?|explains?|shows?|confirms?|tells? us)",
    ),
    _Tongue(
        by=r"laut|gemäß|nach|basierend auf|auf (?:der )?(?:grundlage|basis)(?: von)?|ausgehend von|"
        r"wie (?:in|aus)|zufolge",
        articles=r"dem|der|den|des|diesem|dieser|diesen|ihrem|ihrer|ihren",
        before=r"(?:bereitgestellte|vorliegende|angegebene|gegebene|genannte|verfügbare|"
        r"obige|beigefügte|zur verfügung gestellte|mitgelieferte)[nmrs]?",
        material=r"kontexte?s?|dokumente?[ns]?|texte?[ns]?|textpassagen?|passagen?|unterlagen|"
        r"quellen?|auszüge?n?|auszugs?|informationen|angaben|materials?|inhalte?n?",
        papers=r"packungsbeilage|merkblatt|merkblatts|seite|artikels?|richtlinien?|handbuch|"
        r"handbuchs|leitfaden|leitfadens|berichts?|webs(?:ei)?te|website|wissensdatenbank|"
        r"dokumentation|vertrags?|broschüre|anleitung|gebrauchsanweisung",
        after=r"oben",
        says=r"(?:besagt|besagen|sagt|sagen|erwähnt|erwähnen|gibt an|geben an|nennt)",
    ),
    _Tongue(
        by=r"seg[uú]n|de acuerdo (?:con|a)|conforme a|con base en|bas[aá]ndo(?:me|nos|se) en|"
        r"en base a|tal (?:y )?como (?:se )?(?:indica|menciona|dice)n?(?: en)?|"
        r"como (?:se )?(?:indica|menciona|dice)n?(?: en)?",
        articles=r"el|la|los|las|este|esta|estos|estas|su|tu",
        before=r"presentes?",
        material=r"contexto|documentos?|textos?|pasajes?|fragmentos?|extractos?|informaci[oó]n|"
        r"fuentes?|datos|material(?:es)?",
        papers=r"prospecto|folleto|p[aá]gina|art[ií]culo|pol[ií]tica|p[oó]liza|manual|gu[ií]a|"
        r"informe|sitio web|p[aá]gina web|documentaci[oó]n|base de conocimientos?|contrato",
        after=r"(?:proporcionad|suministrad|facilitad|dad|entregad|aportad|recuperad)[oa]s?|"
        r"disponibles?|anterior(?:es)?",
        says=r"(?:dicen?|indican?|mencionan?|señalan?|especifican?|afirman?|establecen?)",
    ),
    _Tongue(
        by=r"selon|d['’]apr[eè]s|sur la base d[eu]s?|conform[eé]ment (?:à|aux?)|en se basant sur|"
        r"comme (?:l['’])?(?:indiqu|mentionn|précis)(?:é|e|ent)?(?: dans)?",
        articles=r"le|la|les|l['’]|ce|cet|cette|ces|votre|vos",
        before=r"présente?s?",
        material=r"contexte|documents?|textes?|passages?|extraits?|informations?|sources?|"
        r"données",
        papers=r"notice|page|article|politique|police|manuel|guide|rapport|site(?: web)?|"
        r"documentation|base de connaissances|contrat|brochure|règlement",
        after=r"(?:fourni|donné|disponible|transmi)(?:e?s?)|ci-dessus|à disposition",
        says=r"(?:di(?:t|sent)|indique(?:nt)?|mentionne(?:nt)?|précise(?:nt)?|spécifie(?:nt)?|"
        r"affirme(?:nt)?)",
    ),
    _Tongue(
        by=r"secondo|in base a[il]?|in base (?:alla|alle|allo|agli|all['’])|stando a[il]?|"
        r"sulla base de[il]?|sulla base (?:delle|della|dello|degli|dell['’])|"
        r"come (?:indicato|riportato|menzionato|specificato) (?:in|nel|nei|nella|nelle|"
        r"nell['’])|basandosi su[il]?|conformemente a[il]?",
        articles=r"il|lo|la|i|gli|le|l['’]|questo|questa|questi|queste",
        before=r"present[ei]",
        material=r"contesto|document[oi]|test[oi]|passagg[io]|brani|brano|estratt[oi]|"
        r"informazion[ei]|font[ei]|dati|materiale",
        papers=r"foglietto(?: illustrativo)?|pagina|articolo|politica|polizza|manuale|guida|"
        r"rapporto|relazione|sito(?: web)?|documentazione|contratto",
        after=r"(?:fornit|dat|allegat)[oiae]|disponibil[ei]",
        says=r"(?:dice|dicono|indica(?:no)?|menziona(?:no)?|specifica(?:no)?|afferma(?:no)?|"
        r"riporta(?:no)?)",
    ),
    _Tongue(
        by=r"de acordo com|segundo|conforme|com base n?|baseado n?|baseando-se n?|"
        r"como (?:indicado|mencionado|descrito) n?",
        articles=r"os?|as?|este|esta|estes|estas|seu|sua",
        before=r"presentes?",
        material=r"contexto|documentos?|textos?|passage[mn]s?|trechos?|informaç(?:ão|ões)|fontes?|"
        r"dados|material",
        papers=r"bula|folheto|página|artigo|política|apólice|manual|guia|relatório|site|"
        r"documentação|base de conhecimento|contrato",
        after=r"(?:fornecid|dad|disponibilizad|apresentad)[oa]s?|disponíve(?:l|is)|acima",
        says=r"(?:diz(?:em)?|indicam?|menciona[m]?|especificam?|afirmam?|informam?)",
    ),
    _Tongue(
        by=r"volgens|op basis van|gebaseerd op|zoals (?:vermeld|aangegeven|beschreven|genoemd) in|"
        r"conform|blijkens",
        articles=r"de|het|deze|dit|die|dat|uw|onze",
        before=r"verstrekte|gegeven|beschikbare|meegeleverde|aangeleverde|bovenstaande|bijgevoegde",
        material=r"context|documenten|document|teksten?|tekst|passages?|fragmenten|fragment|"
        r"bronnen|bron|informatie|gegevens",
        papers=r"bijsluiter|pagina|artikel|beleid|polis|handleiding|gids|handboek|rapport|website|"
        r"documentatie|kennisbank|contract|voorwaarden",
        after=r"hierboven",
        says=r"(?:zegt|zeggen|vermeldt|vermelden|geeft aan|geven aan|noemt|stelt)",
    ),
)
_THAT = r"(?:that|,? ?dass|que|qu['’]|che|dat)"
_NUMBERED = r"(?: ?#?\d{1,3})?"
_CITED = r"(?: ?\[[\d, ]{1,12}\])?"


def _introduction(tongue: _Tongue) -> str:
    """Return the pattern of "According to the leaflet"."""
    noun = rf"(?:(?:{tongue.material}){_NUMBERED}|{tongue.papers})"
    article = rf"(?:(?:{tongue.articles})(?: |(?<=['’])))?"
    return (
        rf"(?:{tongue.by})(?: |(?<=['’])|(?<=n)){article}(?:(?:{tongue.before}) ){{0,3}}{noun}"
        rf"(?: (?:{tongue.after}))?(?! ?\w*-)"
    )


def _report(tongue: _Tongue) -> str:
    """Return the pattern of "The context says that"; a paper that says something is no such."""
    articles = {"dem": "der|die|das"}.get(tongue.articles.split("|")[0], tongue.articles)
    return (
        rf"(?:(?:{articles})(?: |(?<=['’])))(?:(?:{tongue.before}) ){{0,3}}"
        rf"(?:{tongue.material}){_NUMBERED}{_CITED}(?: (?:{tongue.after}))? (?:{tongue.says})"
    )


_OPENING = (
    r"(?P<kept>(?:(?:yes|no|so|however|but|and|well|therefore|thus|also|additionally|ja|nein|"
    r"s[ií]|oui|non|sim|não|nee),? )?)"
)
_FLAGS = re.IGNORECASE
_INTRODUCTIONS = "|".join(f"(?:{_introduction(tongue)})" for tongue in _TONGUES)
_REPORTS = "|".join(f"(?:{_report(tongue)})" for tongue in _TONGUES)
_STATED = r"(?:,? (?:it (?:says|is stated)|it states) that)"
_WITH_STOP = (
    rf"{_OPENING}(?:(?:{_INTRODUCTIONS}){_CITED}(?:{_STATED}|\s?[,:，]|\s[–—-](?= ))\s*"
    rf"|(?:according to|per|as per) ?,\s*|(?:{_REPORTS})(?:,? {_THAT}(?: |(?<=['’]))|: ))"
)
# Without a comma, what comes next must open a sentence of its own.
_OPENS = (
    r"(?:the|an?|your|our|its?|they|there|you|we|each|every|all|"
    r"el|la|los|las|una?|se|no|le|les|l['’]|une?|il|elle|on|lo|gli|os?|as|uma?)"
)
_WITHOUT_STOP = rf"{_OPENING}(?:{_INTRODUCTIONS}){_CITED}\s(?={_OPENS}\b)"
_SPOKEN = (
    r"(?P<kept>)(?:the|this) (?:(?:provided|given|available) )?(?:context|document|text|passage|"
    r"excerpt) says (?=(?:the|an?|your|our|its?|they|there|you|all|each|every|no)\b)"
)
# "Laut dem Kontext beträgt die Kaution 50 Euro": verb, then subject.
_GERMAN_VERBS = (
    r"beträgt|betragen|ist|sind|war|waren|wird|werden|wurde|wurden|hat|haben|kostet|kosten|gilt|"
    r"gelten|dauert|dauern|liegt|liegen|kann|können|muss|müssen|darf|dürfen|soll|sollen|enthält|"
    r"umfasst|bietet|beginnt|endet|öffnet|schließt|erhält|erhalten"
)
_GERMAN = re.compile(
    rf"(?:{_introduction(_TONGUES[1])}){_CITED} (?P<verb>{_GERMAN_VERBS}) "
    r"(?P<subject>(?:(?:der|die|das|ein|eine|ihre?|seine?|unsere?|jede[rs]?|alle) "
    r"(?-i:(?:[a-zäöüß]+ ){0,2}[A-ZÄÖÜ][\wäöüß-]+)|er|es|sie|man|wir)) ",
    _FLAGS,
)
_DUTCH = re.compile(
    rf"(?:{_introduction(_TONGUES[6])}){_CITED} (?P<verb>bedraagt|bedragen|is|zijn|was|waren|"
    r"wordt|worden|heeft|hebben|kost|kosten|geldt|duurt|kan|kunnen|moet|moeten|mag|bevat|biedt) "
    r"(?P<subject>(?:(?:de|het|een|uw|elke?|alle) [\w-]+|hij|het|ze|men|u|je)) "
    r"(?=[\d€$]|(?:een|het|de|niet|in|op|voor|van|per|geen|met|tot)\b)",
    _FLAGS,
)


class _Patterns:
    """Compiled when they are first asked for: importing must not cost that."""

    compiled: tuple[re.Pattern[str], ...] = ()


def _patterns() -> tuple[re.Pattern[str], ...]:
    if not _Patterns.compiled:
        _Patterns.compiled = tuple(
            re.compile(pattern, _FLAGS) for pattern in (_WITH_STOP, _SPOKEN, _WITHOUT_STOP)
        )
    return _Patterns.compiled


def attribution_end(source: str) -> int:
    """Return where a statement begins after "According to the context, "; 0 if at its start."""
    head = source[:_LONGEST]
    for pattern in _patterns():
        match = pattern.match(head)
        if match is not None and not match["kept"] and has_words(source[match.end() :]):
            return match.end()
    return 0


def without_attribution(words: str) -> str:
    """Return a statement without "According to the context, " and the like."""
    head = words[:_LONGEST]
    for pattern in _patterns():
        match = pattern.match(head)
        if match is not None and has_words(words[match.end() :]):
            return match["kept"] + words[match.end() :]
    for pattern in (_GERMAN, _DUTCH):
        match = pattern.match(head)
        if match is not None and has_words(words[match.end() :]):
            return f"{match['subject']} {match['verb']} {words[match.end() :]}"
    return words
