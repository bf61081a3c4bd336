"""The rows of `judge_replies.jsonl`, played by a server on loopback that writes bytes.

In: a row, and how often it is played before the server does well. Out: what a client of that
server gets. What the placeholders of the rows mean is in `tests/data/README.md`.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias

from faithguard.prompts import VERDICTS_SCHEMA
from faithguard.testing import Script, spoken

Verdict: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[list[Verdict], "Seen"], object]
"""A right reply's verdicts, the controls' first -> what is said instead; a str as it is."""

_PLACE = re.compile(r"\{\{([A-Z_]+)(?:[.:]([^}]*))?\}\}")
_CONTROL = re.compile(r" named after \w+ \w+\.$| keeps \d\d \w+\.$")
_NEVER = 20.0


class Seen:
    """What a model is asked, and what would be right."""

    def __init__(self, body: Mapping[str, Any], script: Script) -> None:
        user = str(body["messages"][-1]["content"])
        data = json.loads(user.split("\n", 1)[1].rsplit("\n", 1)[0])
        self.system = str(body["messages"][0]["content"])
        self.texts: dict[str, str] = {s["id"]: s["text"] for s in data["statements"]}
        self.passages: dict[int, str] = {
            p["number"]: "\n".join(p["pieces"]) for p in data["passages"]
        }
        verdicts: list[Verdict] = json.loads(spoken(script, user))["verdicts"]
        self.right = sorted(
            verdicts,
            key=lambda v: (_CONTROL.search(self.texts[v["id"]]) is None, self._order(v)),
        )

    def _order(self, verdict: Verdict) -> str:
        return self.texts[verdict["id"]]

    def claims(self, verdicts: list[Verdict]) -> list[Verdict]:
        """Return the verdicts that are not about controls."""
        return [v for v in verdicts if not _CONTROL.search(self.texts[v["id"]])]

    def verdicts(self, change: str) -> str:
        """Return the reply, changed as a placeholder says."""
        said = CHANGES[change]([dict(verdict) for verdict in self.right], self)
        return said if isinstance(said, str) else _dumped(said)

    def completion(self) -> str:
        """Return the body of a right reply."""
        message = {"role": "assistant", "content": self.verdicts("")}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return _dumped({"id": "1", "object": "chat.completion", "choices": [choice]})


def _dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# What stands for the verdicts -------------------------------------------------------------------


def _frame(change: Callable[[Verdict], Verdict]) -> Change:
    """Change each verdict."""
    return lambda held, _: {"verdicts": [change(verdict) for verdict in held]}


def _text(change: Callable[[str], str]) -> Change:
    """Change the whole as text."""
    return lambda held, _: change(_dumped({"verdicts": held}))


def _list(change: Callable[[list[Verdict]], list[Verdict]]) -> Change:
    """Change the list."""
    return lambda held, _: {"verdicts": change(held)}


def _one(match: str, change: Callable[[Verdict, Seen], Verdict]) -> Change:
    """Change the verdicts on the claims with a word."""

    def changed(held: list[Verdict], seen: Seen) -> object:
        return {
            "verdicts": [
                change(v, seen) if match in seen.texts[v["id"]] and v in seen.claims(held) else v
                for v in held
            ]
        }

    return changed


def _label(**labels: object) -> Change:
    """Put other words for labels; those that are not named stay."""
    return _frame(lambda v: {**v, "label": labels.get(v["label"], v["label"])})


def _all(label: str) -> Change:
    """Say one label of all, each with a real quote."""

    def changed(held: list[Verdict], seen: Seen) -> object:
        quote = next(iter(seen.passages.values())).split(". ")[0]
        said = {"label": label, "quote": "" if label == "neither" else quote}
        return {"verdicts": [{**v, **said} for v in held]}

    return changed


def _quote(quote: Callable[[Verdict, Seen], object], match: str = "pianist") -> Change:
    """Support a claim that is not true, with a quote."""

    def changed(verdict: Verdict, seen: Seen) -> Verdict:
        return {**verdict, "label": "supported", "quote": quote(verdict, seen)}

    return _one(match, changed)


def _quotes(change: Callable[[str], str]) -> Change:
    """Change all quotes."""
    return _frame(lambda v: {**v, "quote": change(v["quote"])})


def _passages(change: Callable[[int], object]) -> Change:
    """Say with each quote the number of a passage, and change that."""

    def changed(held: list[Verdict], seen: Seen) -> object:
        return {"verdicts": [{**v, "passage": change(_passage(v, seen))} for v in held]}

    return changed


def _passage(verdict: Verdict, seen: Seen) -> int:
    return next((n for n, text in seen.passages.items() if verdict["quote"] in text), 1)


def _without(verdict: Verdict, *names: str) -> Verdict:
    return {name: value for name, value in verdict.items() if name not in names}


def _by_id(held: list[Verdict]) -> dict[str, Verdict]:
    return {v["id"]: _without(v, "id") for v in held}


def _double_key(held: list[Verdict], _: Seen) -> str:
    last = held[-1]
    other = {**_without(last, "id"), "label": "neither", "quote": ""}
    return f"{_dumped(_by_id(held))[:-1]}, {_dumped({last['id']: other})[1:]}"


def _table(held: list[Verdict], _: Seen) -> str:
    return "| id | label |\n|---|---|\n" + "\n".join(f"| {v['id']} | {v['label']} |" for v in held)


def _numbered(held: list[Verdict], _: Seen) -> object:
    return {
        "verdicts": [{**v, "id": int("".join(re.findall(r"\d", v["id"])) or "0")} for v in held]
    }


_FLAT = {"supported": True, "contradicted": False, "neither": False}
_LAST_LABEL = re.compile(r'(.*"label": "\w{4}).*', re.DOTALL)

CHANGES: Mapping[str, Change] = {
    "": _text(str),
    "half": _text(lambda t: t[: len(t) // 2]),
    "cut_in_label": _text(lambda t: _LAST_LABEL.sub(r"\1", t)),
    "drop_last": _list(lambda held: held[:-1]),
    "only_one": _list(lambda held: held[-1:]),
    "only_supported": _list(lambda held: [v for v in held if v["label"] == "supported"]),
    "extra": _list(lambda held: [*held, {**held[-1], "id": "c99"}]),
    "foreign": _list(lambda held: [*held[:-1], {**held[-1], "id": "c99"}]),
    "duplicate_same": _list(lambda held: [*held, held[-1]]),
    "duplicate_other": _list(lambda held: [*held, {**held[-1], "label": "neither", "quote": ""}]),
    "duplicate_key": _double_key,
    "reversed": _list(lambda held: held[::-1]),
    "numeric_ids": _numbered,
    "spaced_ids": _frame(lambda v: {**v, "id": f" {v['id'].upper()} "}),
    "claim_text_ids": lambda held, seen: {
        "verdicts": [{**v, "id": seen.texts[v["id"]]} for v in held]
    },
    "shifted_ids": _list(lambda held: [{**v, "id": f"c{n}"} for n, v in enumerate(held)]),
    "positions": _frame(lambda v: _without(v, "id")),
    "upper": _frame(lambda v: {**v, "label": v["label"].upper()}),
    "title_period": _frame(lambda v: {**v, "label": f"{v['label'].capitalize()}."}),
    "spaces": _label(neither="not mentioned", supported=" supported "),
    "partial": _one("Fernhill", lambda v, _: {**v, "label": "partially_supported"}),
    "synonyms": _label(supported="entailed", contradicted="refuted", neither="neutral"),
    "negated": _label(contradicted="not supported", neither="not supported"),
    "both": _one("Fernhill", lambda v, _: {**v, "label": "supported|contradicted"}),
    "boolean": _frame(lambda v: {**v, "label": _FLAT[v["label"]]}),
    "number": _frame(lambda v: {**v, "label": int(_FLAT[v["label"]])}),
    "null_label": _one("Fernhill", lambda v, _: {**v, "label": None}),
    "list_label": _one("Fernhill", lambda v, _: {**v, "label": [v["label"]]}),
    "map": lambda held, _: _by_id(held),
    "map_labels": lambda held, _: {v["id"]: v["label"] for v in held},
    "array": lambda held, _: held,
    "wrapped": lambda held, _: {"result": {"verdicts": held}},
    "table": _table,
    "schema_echo": lambda _, __: VERDICTS_SCHEMA,
    "empty_list": _list(lambda _: []),
    "trailing_commas": _text(lambda t: re.sub(r"(?=[}\]])", ",", t)),
    "single_quotes": lambda held, _: repr({"verdicts": held}),
    "comments": _text(lambda t: t.replace("}, {", "}, // the next\n{")),
    "smart_quotes": _text(lambda t: re.sub(r'"([^"]*)"', "“\\1”", t)),
    "raw_newlines": lambda held, seen: _dumped(
        _quotes(lambda q: q.replace(" ", "\n", 1))(held, seen)
    ).replace("\\n", "\n"),
    "unicode_escapes": _text(
        lambda t: json.dumps(json.loads(t)).replace("e", "\\u0065").replace("i", "\\u0069")
    ),
    "lone_surrogate": _text(lambda t: f'{t[:-1]}, "note": "\\ud83d"}}'),
    "double_encoded": _text(json.dumps),
    "nan_extra": _text(lambda t: f'{t[:-1]}, "score": NaN}}'),
    "nan_passage": _passages(lambda _: float("nan")),
    "nan_label": _one("Fernhill", lambda v, _: {**v, "label": float("nan")}),
    "all_supported": _all("supported"),
    "all_not_mentioned": _all("neither"),
    "all_contradicted": _all("contradicted"),
    "passage_out_of_range": _passages(lambda _: 99),
    "passage_string": _passages(lambda n: f"passage {n}"),
    "quote_other_passage": _passages(lambda n: n % 3 + 1),
    "quote_invented": _quote(lambda v, _: "A pianist plays on Sundays for all guests."),
    "quote_from_claim": _quote(lambda v, seen: seen.texts[v["id"]]),
    "quote_from_prompt": _quote(lambda v, seen: seen.system.split(". ")[0]),
    "quote_empty": _quote(lambda v, _: ""),
    "quote_blank": _quote(lambda v, _: ' … "" '),
    "quote_missing_key": _one(
        "pianist", lambda v, _: {**_without(v, "quote"), "label": "supported", "passage": 1}
    ),
    "quote_word": _quote(lambda v, _: "the"),
    "quote_whitespace": _quotes(lambda q: q.replace(" ", " \n ")),
    "quote_marks": _quotes(lambda q: re.sub("[“”]", '"', q).replace("–", "-").replace("’", "'")),
    "quote_case": _quotes(lambda q: q[:1].swapcase() + q[1:].rstrip(".")),
    "quote_ellipsis": _one(
        "sauna",
        lambda v, _: {**v, "quote": "The sauna opens at 14:00 ... 3 euros."},
    ),
    "quote_negation_cut": _quote(lambda v, _: "Dogs are ... allowed in the garden.", "Dogs"),
    "quote_number_changed": _quote(lambda v, _: "Towels cost 5 euros.", "Towels"),
    "quote_not_mentioned": _one("pianist", lambda v, _: {**v, "quote": "on Sundays"}),
}
"""By the name behind the dot."""


# The server -------------------------------------------------------------------------------------


class RowServer:
    """A server that plays one row, and then does well.

    Args:
        script: Whose verdicts are right.
    """

    def __init__(self, script: Script) -> None:
        self.row: Mapping[str, Any] = {}
        self.times = 0
        """How often the row is played."""
        self.requests: list[dict[str, Any]] = []
        self._script = script
        self._closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(size))
                outer.requests.append(body)
                try:
                    outer._play(self, Seen(body, outer._script))
                except OSError:
                    self.close_connection = True  # the client has left, as it may

            def log_message(self, format: str, *args: object) -> None:
                """Keep the terminal clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def url(self) -> str:
        """What a client takes as `base_url`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def play(self, row: Mapping[str, Any], times: int) -> None:
        """Play a row from now on."""
        self.row, self.times, self.requests = row, times, []

    def _play(self, handler: BaseHTTPRequestHandler, seen: Seen) -> None:
        if len(self.requests) > self.times:
            _write(handler, 200, {}, seen.completion().encode())
            return
        body = self.row["body"]
        name = _PLACE.match(body) if isinstance(body, str) else None
        headers = {k: _filled(v, seen) for k, v in self.row["headers"].items()}
        match name and name[1]:
            case "HANG":
                self._closing.wait(_NEVER)
            case "CLOSE":
                handler.close_connection = True
            case "RESET":
                linger = struct.pack("ii", 1, 0)
                handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                handler.close_connection = True
                handler.connection.close()
            case "DRIP":
                self._drip(handler, seen.completion().encode())
            case _:
                _write(handler, self.row["status"], headers, _bytes(body, seen))

    def _drip(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        _write(handler, 200, {"Content-Length": str(len(data))}, b"")
        for byte in data:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            if self._closing.wait(1.0):
                return


def _write(
    handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes
) -> None:
    """Write an answer as it is; it ends with the connection where no header says otherwise."""
    handler.close_connection = True
    lines = {"Content-Type": "application/json", **headers, "Connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    handler.wfile.write(f"HTTP/1.1 {status} Played\r\n{head}\r\n".encode() + body)
    handler.wfile.flush()


def _bytes(body: object, seen: Seen) -> bytes:
    if not isinstance(body, str):
        return json.dumps(_filled_in(body, seen)).encode()
    if body == "{{COMPLETION.utf16}}":
        return seen.completion().encode("utf-16")
    return _filled(body, seen).encode("utf-8", "surrogateescape")


def _filled_in(value: object, seen: Seen) -> object:
    if isinstance(value, str):
        return _filled(value, seen)
    if isinstance(value, list):
        return [_filled_in(item, seen) for item in value]
    if isinstance(value, dict):
        return {name: _filled_in(item, seen) for name, item in value.items()}
    return value


def _filled(text: str, seen: Seen) -> str:
    return _PLACE.sub(lambda match: _meant(match[1], match[2] or "", seen), text)


def _meant(name: str, value: str, seen: Seen) -> str:
    """Return what a placeholder stands for."""
    match name:
        case "VERDICTS":
            return seen.verdicts(value)
        case "COMPLETION":
            whole = seen.completion()
            return whole[: len(whole) // 2] if value == "half" else whole
        case "PAD":
            return " " * int(value)
        case "PAD_WORDS":
            return ("so it {is said [and } not " * (int(value) // 26 + 1))[: int(value)]
        case "NEST":
            return "[" * int(value)
        case "HTTP_DATE":
            return formatdate(time.time() + float(value), usegmt=True)
        case _:
            raise AssertionError(name)
