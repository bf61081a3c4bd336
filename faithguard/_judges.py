"""Scripted judges behind a real server on loopback, and all the ways in which one can misbehave.

In: requests as a judge or an extractor of faithguard makes them. Out: replies of the OpenAI
protocol: those of an honest judge, of one that obeys what it finds in its data, of one that
supports everything; and beside them pages, errors, halves, thoughts and nonsense.

    with JudgeServer(honest()) as server:
        judge = OpenAIJudge("any", base_url=server.url)
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal, TypeAlias, cast

from faithguard._loopback import LoopbackServer
from faithguard.claims import LocalClaims

__all__ = [
    "MISBEHAVIOURS",
    "Asked",
    "JudgeServer",
    "Raw",
    "Script",
    "honest",
    "lazy",
    "obeys",
    "spoken",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a model is asked, as it reads it."""

    form: Literal["verdicts", "claims", "together", "rewrites"]
    """`rewrites`: parts of an answer are to be written again."""
    passages: Mapping[int, str]
    """By number, the pieces joined by a line."""
    statements: Mapping[str, str]
    """By id."""
    question: str
    parts: Mapping[int, str]
    """Of an answer, by number."""
    body: Mapping[str, Any]
    """The whole request."""
    number: int
    """Of the request, from 0."""
    rewrites: Mapping[str, str]
    """Parts of an answer that are to be written again, by id."""


Script: TypeAlias = Callable[[Asked], dict[str, Any]]
"""A scripted judge: what it is asked -> its reply, before that is written as JSON."""

Verdict: TypeAlias = dict[str, Any]


def _asked(body: Mapping[str, Any], number: int) -> Asked:
    """Read a request; JSON between two lines with a mark."""
    user = str(body["messages"][-1]["content"])
    data = cast("dict[str, Any]", json.loads(user.split("\n", 1)[1].rsplit("\n", 1)[0]))
    form: Literal["verdicts", "claims", "together", "rewrites"] = "verdicts"
    parts = data.get("parts", [])
    if any("unsupported" in part for part in parts):
        form = "rewrites"
    elif parts:
        form = "together" if "passages" in data else "claims"
    return Asked(
        form=form,
        passages={p["number"]: "\n".join(p["pieces"]) for p in data.get("passages", [])},
        statements={s["id"]: s["text"] for s in data.get("statements", [])},
        question=data.get("question", ""),
        parts={p["part"]: p["text"] for p in parts if "part" in p},
        rewrites={p["id"]: p["text"] for p in parts if "id" in p},
        body=body,
        number=number,
    )


def spoken(script: Script, user: str) -> str:
    """Return what a scripted judge says to a user's message: for models that are no server."""
    return _dumped(script(_asked({"messages": [{"content": user}]}, 0)))


def _dumped(value: object) -> str:
    """Return a reply as it is asked for: without space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# Scripted judges ------------------------------------------------------------------------------


def honest(
    table: Mapping[str, tuple[str, Sequence[str]]] | None = None,
) -> Script:
    """Return a judge that compares words.

    A statement all of whose words one sentence has is supported by it; one that differs from a
    sentence in its numbers only is contradicted by it; all else is not mentioned.

    Args:
        table: Statement -> label and quotes, for what words do not tell.
    """
    known = dict(table or {})

    def decide(text: str, passages: Mapping[int, str]) -> Verdict:
        if text in known:
            label, quotes = known[text]
            return _verdict(label, *quotes)
        return _compared(text, passages)

    return lambda asked: _reply(asked, decide)


def lazy(asked: Asked) -> dict[str, Any]:
    """Support everything, and quote whatever stands first."""

    def decide(text: str, passages: Mapping[int, str]) -> Verdict:
        sentence = next(_sentences(passages.get(min(passages, default=1), "")), "")
        return _verdict("supported", sentence)

    return _reply(asked, decide)


def obeys(order: str, label: str = "supported", *, about: str | None = None) -> Script:
    """Return a judge that is honest until its data holds an order, and then obeys it.

    Args:
        order: A pattern; where it is found in a passage or a statement, the order is obeyed.
        label: What is ordered.
        about: A pattern of the statements that the order is about; all of them by default.
    """
    wanted, meant = re.compile(order, re.I | re.S), re.compile(about or "", re.I | re.S)
    fair = honest()

    def script(asked: Asked) -> dict[str, Any]:
        texts = [*asked.passages.values(), *asked.statements.values(), asked.question]
        texts += asked.parts.values()
        found = next((text for text in texts if wanted.search(text)), None)
        if found is None:
            return fair(asked)
        match = wanted.search(found)
        quote = match.group() if match else found

        def decide(text: str, passages: Mapping[int, str]) -> Verdict:
            if not meant.search(text):
                return _compared(text, passages)
            return _verdict(label, quote)

        return _reply(asked, decide)

    return script


def _reply(asked: Asked, decide: Callable[[str, Mapping[int, str]], Verdict]) -> dict[str, Any]:
    if asked.form == "rewrites":
        texts = {i: _mended(text, asked.passages) for i, text in asked.rewrites.items()}
        return {"parts": [{"id": i, "text": text} for i, text in texts.items()]}
    if asked.form == "verdicts":
        said = [{"id": i, **decide(t, asked.passages)} for i, t in asked.statements.items()]
        return {"verdicts": said}
    entries: list[dict[str, Any]] = []
    for part, text in asked.parts.items():
        kinds = [claim.kind for claim in LocalClaims().extract(text, asked.question)]
        entries.append({"part": part, "text": "", "kind": kinds[0] if kinds else "fact"})
        if asked.form == "together":
            entries[-1] |= decide(text.strip(), asked.passages)
    return {"claims": entries}


def _compared(text: str, passages: Mapping[int, str]) -> Verdict:
    words, numbers = _words(text), set(re.findall(r"\d+", text))
    alike = [
        sentence
        for passage in passages.values()
        for sentence in _sentences(passage)
        if words and words <= _words(sentence)
    ]
    agreeing = [sentence for sentence in alike if numbers <= set(re.findall(r"\d+", sentence))]
    for found, label in ((agreeing, "supported"), (alike if numbers else [], "contradicted")):
        if found:
            return _verdict(label, found[0])
    return _verdict("not_mentioned")


def _verdict(label: str, *quotes: str) -> Verdict:
    """Return a verdict in the form that judges are asked for."""
    if label == "not_mentioned":
        return {"quote": "", "label": "neither"}
    return {"quote": " ... ".join(quotes), "label": label}


def _mended(text: str, passages: Mapping[int, str]) -> str:
    """Return a text with the numbers of the first sentence that has its words; "" for none."""
    for passage in passages.values():
        for sentence in _sentences(passage):
            numbers = re.findall(r"\d+", sentence)
            between = re.split(r"\d+", text)
            if _words(text) <= _words(sentence) and len(numbers) == len(between) - 1:
                return "".join(a + b for a, b in zip(between, [*numbers, ""], strict=True))
    return ""


def _sentences(text: str) -> Iterator[str]:
    return (part for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip())


def _words(text: str) -> set[str]:
    return set(re.findall(r"[^\W\d]+", text.casefold())) - {"the", "a", "an"}


# The server -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """What a server sends."""

    body: object
    """A str or bytes as they are, anything else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0
    """Before the first byte."""
    drips: bool = False
    """White space, a byte at a time and for ever, in the place of a body."""
    hangs_up: bool = False
    """The connection ends after half of the body."""
    stalls: bool = False
    """Nothing comes after half of the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request, and what would be said to it if nobody misbehaved."""

    asked: Asked
    said: dict[str, Any]

    @property
    def text(self) -> str:
        """The reply as JSON."""
        return _dumped(self.said)


Misbehaviour: TypeAlias = Callable[[Call], Raw]


class JudgeServer(LoopbackServer):
    """An OpenAI-compatible server on loopback whose model is a scripted judge.

    Args:
        script: What the model says; `honest()` by default.
        faults: What goes wrong, by the name in `MISBEHAVIOURS` or as a function: with each call
            in turn, and from then on as with the last; None for nothing.
        seconds: How long a reply takes.
    """

    root = "/v1"

    def __init__(
        self,
        script: Script | None = None,
        faults: Sequence[str | Misbehaviour | None] | str | None = None,
        *,
        seconds: float = 0.0,
    ) -> None:
        super().__init__()
        self.requests: list[dict[str, Any]] = []
        """The bodies of all requests."""
        self.asked: list[Asked] = []
        """The same as the model reads them."""
        self.at_once = 0
        """The most requests that were there at the same time."""
        self._script = script or honest()
        self._faults = [faults] if isinstance(faults, str) or faults is None else list(faults)
        self._seconds = seconds
        self._now = 0
        self._lock = threading.Lock()  # protects the counts above

    def _answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        asked = json.loads(body)
        with self._lock:
            number = len(self.requests)
            self.requests.append(asked)
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        try:
            _send(handler, self._raw(asked, number))
        except OSError:
            handler.close_connection = True  # the client has left, as it may
        finally:
            with self._lock:
                self._now -= 1

    def _raw(self, body: dict[str, Any], number: int) -> Raw:
        asked = _asked(body, number)
        self.asked.append(asked)
        time.sleep(self._seconds)
        call = Call(asked=asked, said=self._script(asked))
        fault = self._faults[min(number, len(self._faults) - 1)]
        if fault is None:
            return completion(call.text)
        return (MISBEHAVIOURS[fault] if isinstance(fault, str) else fault)(call)


def _send(handler: BaseHTTPRequestHandler, raw: Raw) -> None:
    time.sleep(raw.seconds)
    body = raw.body if isinstance(raw.body, str | bytes) else json.dumps(raw.body)
    data = body.encode() if isinstance(body, str) else body
    handler.send_response(raw.status)
    for name, value in {"content-type": "application/json", **raw.headers}.items():
        handler.send_header(name, value)
    if raw.drips:
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.close_connection = True
        for _ in range(200):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
        return
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2] if raw.hangs_up or raw.stalls else data)
    if raw.stalls:
        handler.wfile.flush()
        time.sleep(10.0)
        handler.close_connection = True
    if raw.hangs_up:
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True


def completion(content: object, finish: str = "stop", **message: Any) -> Raw:
    """Return a chat completion."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": content, **message},
    }
    text = content if isinstance(content, str) else ""
    return Raw(
        body={
            "id": "chat-1",
            "object": "chat.completion",
            "created": 0,
            "model": "any",
            "choices": [choice],
            "usage": {"prompt_tokens": 100, "completion_tokens": len(text) // 4},
        }
    )


# Misbehaviours --------------------------------------------------------------------------------


def _fault(status: int, message: str, **fields: Any) -> Raw:
    headers = {name: fields.pop(name) for name in ("retry-after",) if name in fields}
    return Raw(body={"error": {"message": message, **fields}}, status=status, headers=headers)


def _refuses(
    *names: str, message: str = "", param: bool = True, status: int = 400, kinds: str = ""
) -> Misbehaviour:
    """Refuse requests that have a parameter (of certain kinds of `response_format`)."""

    def misbehave(call: Call) -> Raw:
        body = call.asked.body
        for name in names:
            kind = body[name].get("type", "") if isinstance(body.get(name), dict) else ""
            if name in body and (not kinds or kind in kinds.split()):
                named = {"param": name} if param else {}
                told = message or f"'{name}' is not supported with this model."
                return _fault(status, told, code="unsupported_parameter", **named)
        return completion(call.text)

    return misbehave


def _said(change: Callable[[str], object], finish: str = "stop") -> Misbehaviour:
    """Change the text of a reply."""
    return lambda call: completion(change(call.text), finish)


def _other(change: Callable[[list[Verdict]], object]) -> Misbehaviour:
    """Change the verdicts of a reply; the list has those of the claims and of the controls."""

    def misbehave(call: Call) -> Raw:
        changed = change([dict(verdict) for verdict in call.said.get("verdicts", [])])
        return completion(_dumped(changed))

    return misbehave


def _each(**fields: Any) -> Misbehaviour:
    """Say the same of each id."""
    return _other(lambda held: {"verdicts": [{**verdict, **fields} for verdict in held]})


def _quotes(change: Callable[[str], object]) -> Misbehaviour:
    """Write each quote in another form."""
    return _other(lambda held: {"verdicts": [{**v, "quote": change(v["quote"])} for v in held]})


def _is_control(text: str) -> bool:
    """Say whether a statement is a control, as only a test can know."""
    return re.search(r" named after \w+ \w+\.$| keeps \d\d \w+\.$", text) is not None


def _without_controls(call: Call) -> Raw:
    texts = call.asked.statements
    right = [v for v in call.said["verdicts"] if not _is_control(texts[v["id"]])]
    return completion(_dumped({"verdicts": right}))


def _one(change: Callable[[Verdict], list[Verdict]]) -> Misbehaviour:
    """Change the verdicts on one claim that is no control; it may be asked twice."""

    def misbehave(call: Call) -> Raw:
        texts, held = call.asked.statements, call.said["verdicts"]
        chosen = [text for text in texts.values() if not _is_control(text)][-1]
        changed = ([v] if texts[v["id"]] != chosen else change(dict(v)) for v in held)
        return completion(_dumped({"verdicts": [v for some in changed for v in some]}))

    return misbehave


def _opposite(text: str) -> str:
    """Return a reply that says the opposite."""
    swap = {"supported": "neither", "neither": "supported"}
    return re.sub(r'"label":"(\w+)"', lambda m: f'"label":"{swap.get(m[1], "supported")}"', text)


def _thoughts(text: str) -> str:
    return f"<think>Perhaps {_opposite(text)}? No.</think>\n{text}"


MISBEHAVIOURS: Mapping[str, Misbehaviour] = {
    # of the server
    "error 500": lambda _: _fault(500, "the model is not well"),
    "error 503": lambda _: _fault(503, "loading", **{"retry-after": "0"}),
    "busy": lambda _: _fault(429, "slow down", **{"retry-after": "0"}),
    "busy until a date": lambda _: _fault(
        429, "slow down", **{"retry-after": formatdate(time.time() - 1, usegmt=True)}
    ),
    "busy for an hour": lambda _: _fault(429, "slow down", **{"retry-after": "3600"}),
    "no quota": lambda _: _fault(429, "You exceeded it.", code="insufficient_quota"),
    "wrong key": lambda _: _fault(401, "Incorrect key", code="invalid_api_key"),
    "no such model": lambda _: _fault(404, "The model does not exist", code="model_not_found"),
    "too long": lambda _: _fault(400, "too many tokens", code="context_length_exceeded"),
    "filtered request": lambda _: _fault(400, "filtered", code="content_filter"),
    "page": lambda _: Raw(body="<html>a gateway</html>", headers={"content-type": "text/html"}),
    "error with 200": lambda _: Raw(body={"error": {"message": "no"}}),
    "half a body": lambda call: Raw(body='{"choices": [{"mess'),
    "no choices": lambda _: Raw(body={"choices": None}),
    "empty choices": lambda _: Raw(body={"choices": []}),
    "no message": lambda _: Raw(body={"choices": [{"message": None}]}),
    "a list": lambda _: Raw(body=[1, 2]),
    "hangs up": lambda call: Raw(body=completion(call.text).body, hangs_up=True),
    "too late": lambda call: Raw(body=completion(call.text).body, seconds=5.0),
    "drips": lambda _: Raw(body="", drips=True),
    "stalls": lambda call: Raw(body=completion(call.text).body, stalls=True),
    # of formats and parameters
    "no json_schema": _refuses("response_format", kinds="json_schema"),
    "no json_schema, unnamed": _refuses(
        "response_format", kinds="json_schema", param=False, message="json_schema is unknown"
    ),
    "no json_schema, 422": _refuses("response_format", kinds="json_schema", status=422),
    "no json_schema, 500": _refuses(
        "response_format",
        kinds="json_schema",
        status=500,
        param=False,
        message="validation error: response_format.type",
    ),
    "no response_format": _refuses("response_format"),
    "no max_tokens": _refuses("max_tokens", message="Use 'max_completion_tokens' instead."),
    "no max_tokens at all": _refuses("max_tokens", "max_completion_tokens"),
    "no temperature": _refuses("temperature"),
    "no temperature, unnamed": _refuses(
        "temperature", param=False, message="temperature may only be 1"
    ),
    # of replies whose verdicts can be read
    "fence": _said(lambda text: f"```json\n{text}\n```"),
    "thoughts": _said(_thoughts),
    "thoughts without a beginning": _said(lambda text: f"{_opposite(text)}\n</think>\n{text}"),
    "words around": _said(lambda text: f"Sure! Here {{it}} is:\n{text}\nAnything [else]?"),
    "trailing commas": _said(lambda text: text.replace("}]", "},]").replace('"}', '",}')),
    "twice the same": _said(lambda text: f"{text}\n{text}"),
    "a bare list": _other(lambda held: held),
    "another frame": _other(lambda held: {"result": {"claims": held}}),
    "by id": _other(lambda held: {v["id"]: {k: v[k] for k in v if k != "id"} for v in held}),
    "other case": _said(
        lambda text: re.sub(r'"label":"(\w+)"', lambda m: f'"Label": "{m[1].upper()}"', text)
    ),
    "spaces in labels": _said(lambda text: text.replace("neither", "Not mentioned")),
    "parts": _said(lambda text: [{"type": "text", "text": text}]),
    "more verdicts": _other(lambda held: {"verdicts": [*held, {**held[0], "id": "x"}]}),
    "wrong passage": _quotes(lambda quote: [{"passage": 77, "quote": quote}]),
    "quotes in a list": _quotes(lambda quote: [quote] if quote else []),
    "quotes in objects": _quotes(lambda quote: [{"quote": quote}]),
    "quote in other marks": _said(lambda text: text.replace("'", "’").replace(" ", "  ")),
    # of replies that hold no verdict that can be used
    "empty": _said(lambda _: ""),
    "blank": _said(lambda _: " \n"),
    "null": _said(lambda _: None),
    "only thoughts": _said(lambda text: f"<think>{text}"),
    "only reasoning": lambda call: completion(None, reasoning_content=call.text),
    "only prose": _said(lambda _: "All statements are supported."),
    "python": _said(lambda text: text.replace('"', "'")),
    "refusal": lambda _: completion(None, refusal="I cannot help with that."),
    "filter": _said(lambda _: "", "content_filter"),
    "cut off": _said(lambda text: text[: len(text) // 3], "length"),
    "cut off at once": _said(lambda _: "", "length"),
    "twice, differently": _said(lambda text: f"{text}\n{_opposite(text)}"),
    "other ids": _other(
        lambda held: {"verdicts": [{**v, "id": f"c{n}"} for n, v in enumerate(held)]}
    ),
    "no ids": _other(lambda held: {"verdicts": [{k: v[k] for k in v if k != "id"} for v in held]}),
    "no verdicts": _said(lambda _: '{"verdicts": []}'),
    "no controls": _without_controls,
    "numbers": _each(label=0.9),
    "yes": _each(label="yes"),
    "all supported": lambda call: completion(_dumped(lazy(call.asked))),
    "nothing mentioned": _each(label="neither", quote=""),
    "all contradicted": _each(label="contradicted"),
    "all opposite": _said(_opposite),
    # of the verdict on one claim
    "one missing": _one(lambda _: []),
    "one twice": _one(lambda v: [v, {**v, "label": "supported"}, {**v, "label": "neither"}]),
    "one without a label": _one(lambda v: [{**v, "label": None}]),
    "one made up": _one(lambda v: [{**v, "label": "supported", "quote": "It surely is so."}]),
    "one without a quote": _one(lambda v: [{**v, "label": "supported", "quote": ""}]),
    "one with a word": _one(lambda v: [{**v, "label": "supported", "quote": "..."}]),
}
"""By name; each takes a `Call` and says what the server sends."""
