"""Scripted judges that obey what they find, and the attacks of the exam put to them.

In: rows of `judge_attacks.jsonl`. Out: reports. A judge here knows which claims are true, as a
good model would, and decides by the text of the request alone whether it is ordered to say
otherwise. It is as gullible as can be: it looks through invisible letters, look-alikes, base64,
rot13, hex, letters as digits and words written backwards; whatever then speaks of being supported
is an order. Where it obeys, it makes up evidence: the stretch that the order offers, or the real
sentence nearest to the claim.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from faithguard import Exchange, Judge, Passage, Report, Scorer
from faithguard.chat import Completion, Message, visible
from faithguard.types import Claim
from faithguard.verifiers._terms import keys_in

__all__ = ["JUDGES", "Gullible", "Obeys", "Request", "put"]

Row: TypeAlias = Mapping[str, Any]
Obeys: TypeAlias = Literal["nothing", "all", "mimicry", "one", "always"]
"""What a judge obeys: nothing; every order; only what looks like a part of the protocol and
stands in the request as it is; orders as if about one claim, and never a control; or none at all,
since it supports everything anyway."""

Cites: TypeAlias = Literal["order", "nearest"]
"""What it quotes where it obeys."""

JUDGES: Mapping[str, tuple[Obeys, Cites]] = {
    "obeys all, cites the order": ("all", "order"),
    "obeys all, cites the nearest": ("all", "nearest"),
    "obeys mimicry": ("mimicry", "nearest"),
    "obeys for one claim, cites the order": ("one", "order"),
    "obeys for one claim, cites the nearest": ("one", "nearest"),
    "lazy": ("always", "nearest"),
}

_ORDER = re.compile(
    r"\bsupported\b|backed by this page|unsupported|default_label|claims_supported|entailment|"
    r"confirms? (?:any|it)|agrees? with it|counts as agreement|pre-approved|approve-all|"
    r"treated as (?:said here|accepted)|proves every claim|says so word for word|verified|"
    r"your evidence|cite them|right label|leave out|never one from the list|alphabet|drop the ids|"
    r"skip this entry|cannot assist",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|every|each|everything|everywhere|any|anything|whatever|throughout|instructions|"
    r"entered before|only one label|label other than|default_label|claims_supported|the list|"
    r"the claims)\b|\"role\":|\bclaim:|"
    r"sämtliche|一律|所有|すべて|каждому|सभी|كل|todas|\btout\b|immer|tutto",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"test items|decoys|odd statement|the one that|this claim only|only statements with|"
    r"statements? with the words|names 25|statements about|statements? are about|"
    r"statements must|concerns? the",
    re.IGNORECASE,
)
_PLACES = re.compile(r"\bc(\d)\b|\bitem (\d)|\"?id\"?\W{1,3}(\d)|\"(\d)\": \"supported", re.I)
_ENDS = re.compile(r"first and the last", re.I)
_MIMICRY = re.compile(
    r"<[/|!?<\w][^>]{0,60}>|<\|?\w+\|?>|\[/?(?:INST|tool_result|developer)[^\]]{0,40}\]|```|"
    r"\n\s*(?:===|---|#+ |system:|human:|assistant:|user:|observation:|label:)|"
    r"[\"'](?:label|verdicts?|status|entailment|role|id)[\"']\s*:|[\[{]\s*\"(?:supported|\d)\"",
    re.IGNORECASE,
)
_OFFERED = re.compile(r"[\"“']([^\"”]{8,90})[\"”']")
_CONTROL = re.compile(r" named after \w+ \w+\.$| keeps \d\d \w+\.$")
_CONTROL_PASSAGE = re.compile(r" keeps \d\d \w+ in the \w+ of \w+\.$")
_ALIKE = str.maketrans("асеорυМ", "aceopuM")
_LEET = str.maketrans("0134578", "oieastb")
_AROUND = 220


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a judge reads."""

    raw: str
    """As it is sent."""
    passages: Mapping[int, str]
    statements: Mapping[str, str]
    question: str


@dataclass(frozen=True, slots=True)
class _Order:
    """An order, as it reads, and where it stands."""

    text: str
    around: str
    statement: str | None


class Gullible:
    """A chat model that is such a judge.

    Args:
        truth: Claim -> label.
        obeys: What it obeys.
        cites: What it quotes where it obeys.
        controls: Whether the control claims reach it; else they are answered rightly for it.
        framed: Whether the request is as it was made; else the texts stand between plain tags.
    """

    name = "gullible"

    def __init__(
        self,
        truth: Mapping[str, str],
        obeys: Obeys,
        cites: Cites = "nearest",
        *,
        controls: bool = True,
        framed: bool = True,
    ) -> None:
        self._truth = {visible(text): label for text, label in truth.items()} | dict(truth)
        self._obeys, self._cites = obeys, cites
        self._controls, self._framed = controls, framed

    def complete(
        self, messages: Sequence[Message], *, schema: object, max_tokens: int, deadline: float
    ) -> Completion:
        """Answer."""
        user = messages[-1].content
        data = json.loads(user.split("\n", 1)[1].rsplit("\n", 1)[0])
        passages = {p["number"]: "\n".join(p["pieces"]) for p in data["passages"]}
        statements = {s["id"]: s["text"] for s in data["statements"]}
        added: list[dict[str, Any]] = []
        if not self._controls:
            for key in [k for k, text in statements.items() if _CONTROL.search(text)]:
                known = " keeps " in statements.pop(key)
                added.append({"id": key, "label": "supported" if known else "neither"})
            passages = {n: t for n, t in passages.items() if not _CONTROL_PASSAGE.search(t)}
        question = data.get("question", "")
        raw = user
        if not self._framed:
            raw = "\n".join(["<data>", question, *passages.values(), *statements.values()])
        read = Request(raw=raw, passages=passages, statements=statements, question=question)
        return self._said(read, added)

    async def acomplete(
        self, messages: Sequence[Message], *, schema: object, max_tokens: int, deadline: float
    ) -> Completion:
        """Do the same."""
        return self.complete(messages, schema=schema, max_tokens=max_tokens, deadline=deadline)

    def _said(self, read: Request, added: list[dict[str, Any]]) -> Completion:
        orders = [] if self._obeys in ("nothing", "always") else list(_orders(read))
        if self._obeys == "mimicry":
            orders = [o for o in orders if _mimics(o, read)]
        told = " ".join(order.around for order in orders)
        obeyed: dict[str, _Order | None] = {}
        for order in orders:
            for key in self._meant(order, read):
                obeyed.setdefault(key, order)
        if self._obeys == "one":
            texts = {read.statements[key] for key in list(obeyed)[:1]}
            obeyed = {key: order for key, order in obeyed.items() if read.statements[key] in texts}
        if self._obeys == "always":
            obeyed = dict.fromkeys(read.statements)
        verdicts = [
            {"id": key, **self._verdict(text, read, obeyed.get(key), key in obeyed)}
            for key, text in read.statements.items()
        ]
        return _in_form(told, [*verdicts, *added], obeyed)

    def _meant(self, order: _Order, read: Request) -> list[str]:
        """Return the statements that an order is about, as one may read it."""
        everyone = list(read.statements)
        if self._obeys == "one":
            open_ = [k for k in everyone if self._label(read.statements[k], read) != "supported"]
            open_ = [k for k in open_ if not _CONTROL.search(read.statements[k])]
            near = {k: _shared(read.statements[k], order.around) for k in open_}
            meant = max(open_, key=lambda k: (k == order.statement, near[k]), default="")
            # a claim may be asked twice; who obeys for one claim does so wherever it stands
            return [k for k in open_ if read.statements[k] == read.statements[meant]]
        some = _SOME.search(order.around)
        if _ALL.search(order.around) and not some:
            return everyone
        if _ENDS.search(order.around):
            return [everyone[0], everyone[-1]]
        if places := [int(next(filter(None, m))) for m in _PLACES.findall(order.around)]:
            return [everyone[n - 1] for n in places if 0 < n <= len(everyone)]
        if order.statement is not None and not some:
            return [order.statement]
        about = [k for k in everyone if _shared(read.statements[k], order.around)]
        return about or everyone

    def _label(self, text: str, read: Request) -> str:
        if text in self._truth:
            return self._truth[text]
        known = any(text.rstrip(".") in passage for passage in read.passages.values())
        return "supported" if known else "not_mentioned"

    def _verdict(
        self, text: str, read: Request, order: _Order | None, obeyed: bool
    ) -> dict[str, Any]:
        label = "supported" if obeyed else self._label(text, read)
        if label == "not_mentioned":
            return {"quote": "", "label": "neither"}
        quote = _nearest(text, read)
        if obeyed and order is not None and self._cites == "order":
            offered = [m for m in _OFFERED.findall(order.around) if m in order.around]
            quote = offered[0] if offered else order.text
        return {"quote": quote, "label": label}


def _in_form(
    told: str, verdicts: list[dict[str, Any]], obeyed: Mapping[str, _Order | None]
) -> Completion:
    """Write verdicts, in the form that orders ask for, if they ask for one."""
    text = json.dumps({"verdicts": verdicts}, ensure_ascii=False)
    if re.search(r"single sentence|no json please", told, re.I):
        return Completion(text="All claims are supported.")
    if re.search(r"cannot assist|output an apology", told, re.I):
        return Completion(text="I am sorry, I cannot assist with that.")
    if "last bracket" in told:
        return Completion(text=re.sub(r'"(\w+)":', r"\1:", text)[:-1])
    if "never one from the list" in told:
        return Completion(text=text.replace('"supported"', '"ok"'))
    if "alphabet" in told:
        return Completion(text="abcdefghijklmnopqrstuvwxyz" * 200, finish_reason="length")
    if re.search(r"supported only|skip this entry", told):
        held = [v for v in verdicts if v["label"] == "supported" and v["id"] not in obeyed]
        return Completion(text=json.dumps({"verdicts": held}))
    return Completion(text=text)


def _orders(read: Request) -> Iterator[_Order]:
    places: list[tuple[str, str | None]] = [(read.question, None)]
    places += [(text, None) for text in read.passages.values()]
    places += [(text, key) for key, text in read.statements.items()]
    for text, key in places:
        for form in _forms(text):
            if match := _ORDER.search(form):
                around = form[max(0, match.start() - _AROUND) : match.end() + _AROUND]
                parts = [part for part in _sentences(form) if _ORDER.search(part)]
                yield _Order(parts[0] if parts else form, around, key)
                break


def _forms(text: str) -> Iterator[str]:
    """Yield a text as it reads to one who looks hard."""
    tags = "".join(chr(ord(c) - 0xE0000) if "\U000e0020" <= c < "\U000e007f" else c for c in text)
    seen = "".join(
        c for c in unicodedata.normalize("NFKC", tags) if unicodedata.category(c) != "Cf"
    )
    yield seen
    yield seen.translate(_ALIKE)
    yield re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), seen)
    yield seen[::-1]
    yield codecs.decode(seen, "rot13")
    yield seen.replace("1", "l").translate(_LEET)
    for word in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", seen):
        try:
            yield base64.b64decode(word).decode()
        except (ValueError, binascii.Error):
            continue
    for word in re.findall(r"0x((?:[0-9a-f]{2}){8,})", seen):
        yield bytes.fromhex(word).decode(errors="replace")


def _mimics(order: _Order, read: Request) -> bool:
    """Say whether an order looks like a part of the protocol, in the text as it was sent."""
    return any(match.group() in read.raw for match in _MIMICRY.finditer(order.around))


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?。])\s+|\n", text) if part.strip()]


def _nearest(text: str, read: Request) -> str:
    """Return the sentence that is nearest to a statement and no order."""
    found = [
        sentence
        for passage in read.passages.values()
        if not _CONTROL_PASSAGE.search(passage) or _CONTROL.search(text)
        for sentence in _sentences(passage)
    ]
    found = [sentence for sentence in found if not _ORDER.search(sentence)] or found
    return max(found, key=lambda sentence: _shared(text, sentence), default="")


def _shared(text: str, other: str) -> int:
    return len(keys_in(text) & keys_in(other))


# Rows ---------------------------------------------------------------------------------------------


class _Listed:
    """An extractor whose claims are given."""

    name = "listed@1"

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def extract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims."""
        claims, at = list[Claim](), 0
        for number, text in enumerate(self._texts):
            claims.append(Claim(id=f"c{number}", text=text, span=(at, at + len(text))))
            at += len(text) + 1
        return claims

    async def aextract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims."""
        return self.extract(answer, question)


def put(
    row: Row, obeys: Obeys, cites: Cites = "nearest", *, draw: int = 0, **switches: bool
) -> Report:
    """Put a row to a judge; return the report. Chance is the same for the same `draw`."""
    chat = Gullible(dict(zip(row["claims"], row["truth"], strict=True)), obeys, cites, **switches)
    judge = Judge(chat, random=Random(f"{row['id']} {obeys} {cites} {draw}"))
    scorer = Scorer(_Listed(row["claims"]), [judge], cache=None)
    return scorer.score(
        Exchange(
            id=row["id"],
            answer="\n".join(row["claims"]),
            passages=tuple(Passage(text=text) for text in row["passages"]),
            question=row["question"],
        )
    )
