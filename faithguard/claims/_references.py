"""The list of sources at the end of an answer.

In: the words of a title, and of an entry under it, or of a pointer to further pages. Out: whether
the title announces sources, and whether the entry only names one. A name has no verb, no amount and
no word that promises; what tells something stays a fact, wherever it stands.
"""

from __future__ import annotations

import re

from faithguard.claims._content import STRONG, title_tells
from faithguard.claims._verbs import has_verb

__all__ = [
    "announces_pages",
    "announces_sources",
    "name_of_pointer",
    "name_of_source",
    "names_source",
    "with_links",
]

_WORDS = (
    r"(?:(?:the |my |list of |cited |used |key |main |relevant )*(?:sources?|references?|"
    r"citations?|bibliography|further reading|source documents?|source list|works cited|links?|"
    r"footnotes?)"
    r"(?: used| cited| consulted)?|quellen(?:angaben?|verzeichnis)?|quelle|fuentes?|referencias?|"
    r"r[ée]f[ée]rences?|fonti|fonte|fontes|refer[êe]ncias?|bronnen|bron|出典|参考文献|来源|参考资料)"
)
_POINTERS = (
    r"(?:(?:you can )?(?:learn|read|find out) more(?: (?:here|about (?:it|this)))?|see also|"
    r"(?:for )?(?:more|further|additional) (?:information|info|details|reading|help)(?: here)?|"
    r"related (?:articles?|pages?|topics?|links?|questions?)|useful links?|"
    r"(?:siehe auch|mehr (?:erfahren|dazu|informationen)|weitere (?:informationen|artikel))|"
    r"en savoir plus|voir aussi|plus d['’](?:informations?|infos?)|"
    r"m[aá]s informaci[oó]n|ver tambi[eé]n|v[eé]ase tambi[eé]n)"
)
_TITLE = re.compile(rf"(?i)\W*{_WORDS}\W*")
_POINTING = re.compile(rf"(?i)\W*{_POINTERS}\s?[:：]\W*")
_POINTER = re.compile(rf"(?i)\W*{_POINTERS}\s?[:：]\s*(?P<entry>\S.*)")
_LINK = re.compile(r"\]\(\s?<?(https?://[^()\s>]{1,500})")
_LABELLED = re.compile(rf"(?i)\W*{_WORDS}\s?[:：]\s*(?P<entry>\S.*)")
# What says where in a source something stands, and when it was made.
_PLACE = re.compile(
    r"(?i)\b(?:https?://|www\.)\S+|[\w./-]+\.(?:pdf|docx?|html?|md|txt|csv|xlsx?|json|pptx?)\b|"
    r"\b(?:p{1,2}\.?|pages?|sections?|sec\.?|§+|chapters?|ch\.?|vol\.?|no\.?|parts?|articles?|"
    r"appendix|annex|lines?|paragraphs?|seiten?|s\.|abschnitt|kapitel|p[áa]ginas?|version|v)"
    r"\s?\.?\s?\d+(?:\.\d+)*(?:\s?[–-]\s?\d+)?|\(?\b(?:19|20)\d\d(?:-\d\d){0,2}\b\)?|"
    r"[\[(]\d{1,3}[\])]|^\s*\d{1,3}[.):]\s|\b(?:source|document|doc|passage)s? #?\d{1,3}\b"
)
# What is a noun where no object follows it: "Returns and refunds", "Shipping costs".
_NOUN = re.compile(
    r"(?i)\b(?:returns?|refunds?|exchanges?|costs?|charges?|offers?|plans?|orders?|repairs?|claims?|"
    r"transfers?|rates?|fees?)\b(?=\W*$|\s?[,&/|(]|\s(?:and|or|policy|policies|page|guide|faqs?|"
    r"form|portal|process|overview|help)\b)"
)
_FIGURE = re.compile(r"\d|[€$£%]")
_MOST = 16
"""Words."""
_OF_NONE = re.compile(r"(?i)\b(?:no|not|without|never|free|all|only)\b")


def announces_sources(title: str) -> bool:
    """Say whether a title or a lead-in announces sources: "Sources:"."""
    return len(title) < 60 and _TITLE.fullmatch(title) is not None


def announces_pages(title: str) -> bool:
    """Say whether a lead-in announces pages to go on with: "Learn more:"."""
    return len(title) < 60 and _POINTING.fullmatch(title) is not None


def name_of_source(line: str) -> str | None:
    """Return the entry of a line such as "Source: Price list, page 3"; None if it is no such."""
    match = _LABELLED.fullmatch(line)
    return None if match is None else match["entry"]


def name_of_pointer(line: str) -> str | None:
    """Return the entry of a line such as "Learn more: Returns"; None if it is no such."""
    match = _POINTER.fullmatch(line)
    return None if match is None else match["entry"]


def with_links(entry: str, source: str) -> str:
    """Return an entry with the addresses to which its source links, for it to be looked up."""
    return " ".join([entry, *(url for url in _LINK.findall(source) if url not in entry)])


def names_source(entry: str) -> bool:
    """Say whether an entry only names a source."""
    bare = _PLACE.sub(" ", entry)
    if _FIGURE.search(bare) or has_verb(_NOUN.sub("", bare)) or len(bare.split()) > _MOST:
        return False
    if STRONG.search(bare) or _OF_NONE.search(bare) or title_tells(bare):
        return False
    return re.search(r"[:：]\s*\S+\s+\S", bare) is None
