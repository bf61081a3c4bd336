"""The server of the page: who is answered, and with what."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from faithguard.errors import ConfigError
from faithguard.stats import paired_change
from faithguard.store import Store
from faithguard.ui import Server
from tests.ui.scene import (
    NOW,
    faithful,
    hostile,
    mixed,
    repaired,
    rewritten,
    store_of,
)

for _name in ("starlette", "uvicorn"):
    pytest.importorskip(_name, reason="pip install 'faithguard[ui]' brings the server")

from faithguard.ui import _connection  # noqa: E402  (it imports the extra)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of a few records."""
    records = [mixed(), faithful(), rewritten(), repaired(), hostile()]
    return store_of(tmp_path_factory.mktemp("ui") / "records.db", records)


@pytest.fixture(scope="module")
def server(path: Path) -> Iterator[Server]:
    """A page that only reads."""
    with Server(path) as server:
        yield server


def answer(
    server: Server,
    path: str = "",
    *,
    method: str = "GET",
    body: object = None,
    token: str | None = None,
    **headers: str,
) -> tuple[int, bytes, dict[str, str]]:
    """Return status, body and headers of one request; header names with _ for -."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = json.dumps(body) if body is not None else None
    if data is not None:
        sent.setdefault("content-type", "application/json")
    base = parts.path if token is None else token
    connection.request(method, base + path, data, sent)
    response = connection.getresponse()
    found = response.status, response.read(), {k.lower(): v for k, v in response.getheaders()}
    connection.close()
    return found


def asked(server: Server, path: str, status: int = 200) -> Any:
    """Return the JSON that is answered."""
    got, body, _ = answer(server, f"api/{path}")
    assert got == status, body
    return json.loads(body)


def strings(value: Any) -> Iterator[str]:
    """Yield every string in JSON, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for part in pair for text in strings(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in strings(part))


# Who is answered

PATHS = ("", "main.js", "api/about", "api/page", "api/record/1", "nothing")


@pytest.mark.parametrize("asked_for", PATHS)
@pytest.mark.parametrize("token", ["/", "//", "/wrong/", "/wrong/../", "/%00/", "/%C3%BC/"])
def test_without_the_token_nothing_is_answered(server: Server, asked_for: str, token: str) -> None:
    """Not the page, not a script of it, not whether something is there."""
    status, body, headers = answer(server, asked_for, token=token)

    assert (status, body) == (403, b"")
    assert set(headers) == {"date", "content-length", "connection"}


@pytest.mark.parametrize("asked_for", PATHS)
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:80"},
        {"host": "127.0.0.1.evil.example:80"},
        {"host": "127.0.0.1:80@evil.example"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "https://127.0.0.1"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"},
    ],
    ids=str,
)
def test_another_host_or_origin_is_told_nothing(
    server: Server, asked_for: str, headers: dict[str, str]
) -> None:
    """Not even with the token."""
    status, body, _ = answer(server, asked_for, **headers)

    assert (status, body) == (403, b"")


def test_two_hosts_are_none(server: Server) -> None:
    """A request that names this machine and another is not of a browser that came here."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=20) as raw:
        lines = f"GET {parts.path} HTTP/1.1", f"Host: {parts.netloc}", "Host: evil.example", "", ""
        raw.sendall("\r\n".join(lines).encode())
        found = raw.recv(65_536)

    assert found.startswith((b"HTTP/1.1 403", b"HTTP/1.1 400"))
    assert b"<html" not in found


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "localhost:1234"},
        {"sec_fetch_site": "none", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"},
        {
            "sec_fetch_site": "cross-site",
            "sec_fetch_mode": "navigate",
            "sec_fetch_dest": "document",
        },
        {"sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"},
    ],
    ids=str,
)
def test_with_the_token_the_page_is_answered(server: Server, headers: dict[str, str]) -> None:
    """Typed, by a link that is followed, through a forwarded port, by the page itself."""
    status, body, _ = answer(server, **headers)

    assert status == 200
    assert b"<title>faithguard</title>" in body


def test_the_page_asks_no_other_host(server: Server) -> None:
    """By its policy, and by what stands in its files: no address but that of the SVG language."""
    _, body, headers = answer(server)
    policy = headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert not re.search(r"unsafe|https?:|\*|data:", policy)
    assert "require-trusted-types-for 'script'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    names = {*re.findall(r'(?:src|href)="([\w.]+)"', body.decode())}
    assert {"main.js", "style.css", "icon.svg"} <= names
    folder = Path(sys.modules["faithguard.ui"].__file__ or "").parent / "page"
    for file in folder.iterdir():
        found = {*re.findall(r"[a-z]+://[^\s\"'`]+", file.read_text("utf-8"))}
        assert found <= {"http://www.w3.org/2000/svg"}, file.name
        assert answer(server, file.name.replace("index.html", ""))[0] == 200


def test_the_page_makes_no_markup_of_text() -> None:
    """No script of it can: what parses text as markup is not used at all."""
    folder = Path(sys.modules["faithguard.ui"].__file__ or "").parent / "page"
    for file in folder.glob("*.js"):
        text = file.read_text("utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|DOMParser|document\.write|eval\(|srcdoc", text
        ), file.name


def test_tokens_differ(path: Path) -> None:
    """Each server has its own, of 256 random bits."""
    one, other = Server(path), Server(path)
    tokens = [urlsplit(server.url).path.strip("/") for server in (one, other)]
    for server in (one, other):
        server.close()

    assert tokens[0] != tokens[1]
    assert all(len(token) >= 43 for token in tokens)


@pytest.mark.parametrize("token", ["", "a/b", "ü", "a b", "..", "a?b"])
def test_a_token_that_no_address_can_hold_is_refused(path: Path, token: str) -> None:
    """It would be a page that nobody can open, or that everybody can."""
    with pytest.raises(ConfigError, match="token"):
        Server(path, token=token)


# What is answered


def test_rows_come_newest_first_and_by_filters(server: Server) -> None:
    """Each filter leaves those for which it holds."""
    assert [row["number"] for row in asked(server, "page")["rows"]] == [5, 4, 3, 2, 1]
    found = {
        "level=block": [5, 1],
        "label=contradicted&cause=truncation": [1],
        "label=contradicted": [5, 1],
        "text=CLOSED+on+mondays": [2],
        "tag=prompt-7": [4, 3, 2, 1],
        "tag=%3Cb%3Etag%3C/b%3E": [5],
        "domain=medical": [],
        "outcome=scored&since=2026-03-14T15:09:26Z": [5, 4, 3, 2, 1],
        "until=2026-03-14T15:09:26Z": [],
        "passed=yes": [4, 3, 2],
    }
    for query, numbers in found.items():
        answered = asked(server, f"page?{query}")
        assert [row["number"] for row in answered["rows"]] == numbers, query
        assert answered["count"] == len(numbers)


@pytest.mark.parametrize(
    "query",
    ["page?level=SAFE", "page?since=yesterday", "page?before=x", "page?passed=1", "new?after=x"],
)
def test_what_cannot_be_asked_is_an_error_in_words(server: Server, query: str) -> None:
    """With the value and what it can be, for the page to show."""
    assert query.partition("=")[2] in asked(server, query, 400)["error"]


def test_pages_follow_each_other(tmp_path: Path) -> None:
    """The cursor of the last row leads to the rest."""
    record = faithful()
    with Server(store_of(tmp_path / "r.db", [record] * 120)) as server:
        first = asked(server, "page")
        second = asked(server, f"page?before={first['rows'][-1]['cursor']}")
        third = asked(server, f"page?before={second['rows'][-1]['cursor']}")

    numbers = [row["number"] for page in (first, second, third) for row in page["rows"]]
    assert numbers == list(range(120, 0, -1))
    assert [page["more"] for page in (first, second, third)] == [True, True, False]


def test_what_arrives_is_told(tmp_path: Path) -> None:
    """From an empty store on, each row once, and by the same filters."""
    path = store_of(tmp_path / "r.db", [])
    with Server(path) as server:
        assert asked(server, "page") == {"rows": [], "more": False, "count": 0, "newest": None}
        store_of(path, [faithful()])
        first = asked(server, "new")
        store_of(path, [mixed(), faithful()])
        second = asked(server, f"new?after={first['newest']}")
        third = asked(server, f"new?after={first['newest']}&level=block")
        assert asked(server, f"new?after={second['newest']}")["rows"] == []

    assert [row["number"] for row in first["rows"]] == [1]
    assert [row["number"] for row in second["rows"]] == [2, 3]
    assert [row["number"] for row in third["rows"]] == [2]
    assert third["newest"] == second["newest"]


def test_a_flood_is_told_in_parts(tmp_path: Path) -> None:
    """More new rows than one answer holds come with the next ones; none is left out."""
    path = store_of(tmp_path / "r.db", [faithful()] * 230)
    with Server(path) as server:
        first = asked(server, "new")
        second = asked(server, f"new?after={first['newest']}")

    numbers = [row["number"] for part in (first, second) for row in part["rows"]]
    assert numbers == list(range(1, 231))


def test_a_record_is_told_whole(server: Server) -> None:
    """Claims, evidence, passages that never reached the prompt, hops, timings, cost."""
    record = asked(server, "record/1")
    (attempt,) = record["attempts"]

    by_text = {claim["text"]: claim for claim in attempt["claims"]}
    wrong = by_text["Guided tours start at 11:00 and last 90 minutes."]
    assert (wrong["label"], wrong["cause"]) == ("contradicted", "generation")
    assert wrong["evidence"][0]["passage"] == 0
    assert "last 45 minutes" in wrong["evidence"][0]["quote"]
    number = attempt["claims"].index(wrong)
    lit = [p["text"] for p in attempt["passages"][0]["text"] if number in p["claims"]]
    assert "".join(lit) == wrong["evidence"][0]["quote"]
    covered = [piece["text"] for piece in attempt["answer"] if number in piece["claims"]]
    assert "".join(covered).strip() == wrong["text"]
    assert by_text["The car park behind the mill has 40 places."]["cause"] == "truncation"
    assert [passage["seen"] for passage in attempt["passages"]] == [True, True, True, False]
    assert record["steps"] == [
        {"kind": "retriever", "passages": [0, 1, 3]},
        {"kind": "model", "calls": 1},
        {"kind": "tool", "passages": [2]},
    ]
    assert record["timings"]["generate"] == 1.31
    assert record["cost"] == 0.00042
    assert "".join(p["text"] for p in attempt["answer"]) == mixed().exchange.answer


def test_attempts_and_repairs_are_told_with_what_changed(server: Server) -> None:
    """Word by word."""
    rewrite, repair = asked(server, "record/3"), asked(server, "record/4")

    assert [attempt["supported"] for attempt in rewrite["attempts"]] == [1, 2]
    (change,) = rewrite["changes"]
    assert {"kind": "out", "text": "12"} in change
    assert {"kind": "in", "text": "9"} in change
    (fix,) = repair["repairs"]
    assert [piece["kind"] for piece in fix["change"]] == ["kept", "out", "in", "kept"]
    assert fix["evidence"][0]["stands"] is True


def test_hostile_texts_have_no_effect_left(server: Server) -> None:
    """What turns, hides or colours text is told as an escape, whatever field it stands in."""
    found = [*strings(asked(server, "record/5")), *strings(asked(server, "page"))]

    assert not [text for text in found if re.search("[\x1b\u202e\u202c]", text)]
    assert any(r"\x1b[31mred" in text for text in found)
    record = json.loads(answer(server, "api/record/5")[1])
    assert "<script>window.hurt = 1</script>" in record["question"]
    evidence = record["attempts"][0]["claims"][0]["evidence"]
    assert [piece["stands"] for piece in evidence] == [True, False]


def test_no_such_record_or_path(server: Server) -> None:
    """Is said so."""
    assert "no record 99" in asked(server, "record/99", 400)["error"]
    assert answer(server, "nothing")[0] == 404
    assert answer(server, "api/page", method="DELETE")[0] == 405


def test_figures_are_those_of_the_store(server: Server, path: Path) -> None:
    """Counts, intervals, and what other thresholds would have made of the answers."""
    found = asked(server, "figures")
    with Store(path) as store:
        figures, scores = store.tally(), store.scores()

    assert (found["passed"], found["stating"]) == (figures.passed, figures.stating) == (3, 5)
    assert found["interval"] == list(figures.interval or ())
    assert found["claims"] == dict(figures.claims)
    assert found["by"] == "hour"
    passing = found["what_if"]["passing"]
    assert passing == sorted(passing, reverse=True)
    assert passing[found["what_if"]["steps"]] == scores.passing(1.0)
    assert passing[0] == scores.passing(0.0)


def test_two_sides_are_of_the_same_questions(tmp_path: Path) -> None:
    """With how many became better and worse."""
    later = NOW + timedelta(hours=1)
    sides = [
        mixed(tags=("a",)),
        faithful(tags=("b",)),
        faithful(tags=("b",), started_at=later),
    ]
    path = store_of(tmp_path / "r.db", sides)
    with Server(path) as server:
        found = asked(server, "pairs?a.tag=a&b.tag=b")

    assert (found["questions"], found["better"], found["worse"]) == (1, 1, 0)
    assert found["sides"]["b"]["passed"] == 1
    change = paired_change([0.0], [1.0])
    assert found["difference"] == {"value": 1.0, "interval": list(change.interval)}
    assert [found["pairs"][0][side]["number"] for side in "ab"] == [1, 3]


@pytest.mark.parametrize(
    "question",
    [
        "page?before=inf:" + "9" * 23,
        "new?after=1:" + "9" * 20,
        "page?since=0001-01-01",
        "pairs?a.since=0001-01-01",
        "record/" + "9" * 5_000,
        "record/-1",
        "record/x",
        "record/%F0%9F%A7%B5",
    ],
)
def test_what_cannot_be_asked_is_no_fault_of_the_server(server: Server, question: str) -> None:
    """It is said what is wrong."""
    assert asked(server, question, 400)["error"]


def test_a_damaged_record_is_said(tmp_path: Path) -> None:
    """By the name of the file; the list and the others are shown."""
    path = store_of(tmp_path / "r.db", [faithful(), mixed()])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE bodies SET body = x'00' WHERE number = 1")
        db.execute("UPDATE records SET time = 9e999 WHERE number = 2")
    db.close()
    with Server(path) as server:
        assert (
            "r.db' cannot be read: record 1 is damaged" in asked(server, "record/1", 503)["error"]
        )
        assert asked(server, "page")["count"] == 2
        assert asked(server, "record/2")["number"] == 2
        assert asked(server, "figures")["answers"] == 2


# Labels


def test_a_label_goes_to_the_store(tmp_path: Path) -> None:
    """And can be taken back by another."""
    path = store_of(tmp_path / "r.db", [mixed()])
    with Server(path, label=True) as server:
        for agree, note in ((True, ""), (False, "the tour lasts as long as I say")):
            said = {"number": 1, "claim": 2, "agree": agree, "note": note}
            status, body, _ = answer(server, "api/label", method="POST", body=said)
            assert status == 200
        said = {"agree": False, "note": note, "others": []}
        assert json.loads(body) == {"opinions": {"2": said}}
        assert asked(server, "record/1")["opinions"] == json.loads(body)["opinions"]
    with Store(path) as store:
        (opinion,) = store.labels(1)

    assert (opinion.claim, opinion.agree, opinion.note) == (2, False, note)


def test_labels_of_others_stand_beside_mine(tmp_path: Path) -> None:
    """The page can only change those of whoever uses the store."""
    path = store_of(tmp_path / "r.db", [mixed()])
    with Store(path, read_only=False) as store:
        store.label(1, 2, False, "it is not", author="Ann\x1b")
    with Server(path, label=True) as server:
        ann = {"author": "Ann\\x1b", "agree": False, "note": "it is not"}
        assert asked(server, "record/1")["opinions"] == {"2": {"others": [ann]}}
        said = {"number": 1, "claim": 2, "agree": True}
        assert answer(server, "api/label", method="POST", body=said)[0] == 200
        both = {"agree": True, "note": "", "others": [ann]}
        assert asked(server, "record/1")["opinions"] == {"2": both}


GOOD = {"number": 1, "claim": 0, "agree": True}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (GOOD, {"content_type": "text/plain"}, 415),
        (GOOD, {"origin": "http://evil.example"}, 403),
        (GOOD, {"sec_fetch_site": "cross-site"}, 403),
        ({**GOOD, "claim": 99}, {}, 400),
        ({**GOOD, "claim": -1}, {}, 400),
        ({**GOOD, "number": 7}, {}, 400),
        ({**GOOD, "agree": "yes"}, {}, 400),
        ({**GOOD, "more": 1}, {}, 400),
        ([], {}, 400),
        ({**GOOD, "note": "x" * 2_001}, {}, 400),
        ({**GOOD, "note": "x" * 20_000}, {}, 413),
    ],
    ids=str,
)
def test_what_is_no_label_is_not_written(
    tmp_path: Path, body: object, headers: dict[str, str], status: int
) -> None:
    """Whoever sends it."""
    path = store_of(tmp_path / "r.db", [mixed()])
    with Server(path, label=True) as server:
        assert answer(server, "api/label", method="POST", body=body, **headers)[0] == status
    with Store(path) as store:
        assert store.labels(1) == ()


def test_without_label_nothing_is_written(server: Server, path: Path) -> None:
    """The page says how to start one that does."""
    status, body, _ = answer(server, "api/label", method="POST", body=GOOD)

    assert status == 400
    assert b"--label" in body
    with Store(path) as store:
        assert store.labels(1) == ()


# The server itself


def test_no_store_and_no_port_are_told(tmp_path: Path) -> None:
    """Before anything listens."""
    with pytest.raises(ConfigError, match=r"none\.db"):
        Server(tmp_path / "none.db", label=True)
    assert not (tmp_path / "none.db").exists()
    path = store_of(tmp_path / "r.db", [])
    with Server(path) as server:
        port = urlsplit(server.url).port or 0
        with pytest.raises(ConfigError, match=rf"port {port} .*--port"):
            Server(path, port=port)
    with pytest.raises(ConfigError, match="--port"):
        Server(path, port=70_000)


def test_a_store_that_goes_away_is_said(tmp_path: Path) -> None:
    """The page goes on, and shows what is wrong; it comes back with the file."""
    path = store_of(tmp_path / "r.db", [faithful()])
    with Server(path) as server:
        assert asked(server, "page")["count"] == 1
        for file in tmp_path.iterdir():
            file.unlink()
        status, body, _ = answer(server, "api/page")
        assert status in (400, 503)
        assert "r.db" in json.loads(body)["error"]
        store_of(path, [faithful(), faithful()])
        assert asked(server, "page")["count"] == 2


def connected(server: Server, sent: str) -> socket.socket:
    """Return a connection on which a part of a request was sent."""
    one = socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0), timeout=20)
    one.sendall(sent.encode("ascii"))
    return one


def test_half_a_request_is_not_waited_for(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of a connection, and a later one; a whole one in time is answered."""
    monkeypatch.setattr(_connection, "WAITING", 0.3)
    half = "GET / HTTP/1.1\r\nHost: 127"
    whole = f"GET {urlsplit(server.url).path}api/about HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for sent in ("", half, whole, whole + half):
        with connected(server, sent) as one, suppress(ConnectionResetError):
            found = b""
            while data := one.recv(65_536):
                found += data
            assert found.startswith(b"HTTP/1.1 200 OK" if sent.startswith(whole) else b"")


def test_many_half_requests_do_not_stop_the_page(server: Server) -> None:
    """Those that wait longest make room."""
    many = [connected(server, "GET / HTTP/1.1\r\n") for _ in range(3 * _connection.MOST)]
    try:
        assert asked(server, "page")["count"] == 5
        gone = 0
        for one in many:
            one.settimeout(0.01)
            with suppress(TimeoutError):
                try:
                    gone += one.recv(1) == b""
                except ConnectionResetError:
                    gone += 1
        assert gone >= 2 * _connection.MOST
    finally:
        for one in many:
            one.close()


def test_a_body_without_end_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whether its sender leaves, or the page is closed."""
    path = store_of(tmp_path / "r.db", [faithful()])
    with Server(path, label=True) as server:
        head = (
            f"POST {urlsplit(server.url).path}api/label HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
        )
        connected(server, head).close()
        one = connected(server, head)
        assert asked(server, "page")["count"] == 1
    one.close()

    assert [entry.message for entry in caplog.records if entry.exc_info] == []
    with Store(path) as store:
        assert store.labels(1) == ()


READ_ONLY = """
import json, os, sys, urllib.request
from faithguard.errors import FaithguardError
from faithguard.ui import Server

def rows(path):
    with Server(path) as server:
        return json.load(urllib.request.urlopen(f"{server.url}api/page"))["count"]

rows(sys.argv[1])  # nothing is left to be imported
os.chmod(sys.argv[1], 0o444)
if os.getuid() == 0:
    os.setuid(65534)
print(rows(sys.argv[1]))
try:
    Server(sys.argv[1], label=True)
except FaithguardError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such modes of files")
def test_a_store_that_cannot_be_written_is_shown_and_not_labelled() -> None:
    """The refusal comes at the start, not with the first label."""
    with tempfile.TemporaryDirectory() as name:  # others may enter it, unlike `tmp_path`
        folder = Path(name)
        folder.chmod(0o755)
        path = store_of(folder / "records.db", [mixed(), faithful()])
        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )

    count, refused = done.stdout.splitlines()
    assert count == "2"
    assert refused.endswith("name another file, or leave labelling (--label) out")


def test_it_listens_on_loopback_only(server: Server) -> None:
    """Whatever other addresses this machine has."""
    assert server.url.startswith("http://127.0.0.1:")


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_the_command_prints_the_address_and_ends_by_ctrl_c(path: Path) -> None:
    """The address on stdout, alone, so that a script can read it."""
    command = [sys.executable, "-m", "faithguard.cli", "ui", "--store", str(path)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # what starts the tests may ignore it, and a process inherits that
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=20)
        connection.request("GET", f"{parts.path}api/about")
        about = json.loads(connection.getresponse().read())
        connection.close()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)

    assert about["label"] is False
    assert process.returncode == 0
    assert str(path) in told
    assert "Traceback" not in told
