"""A store -> an application that answers the page: its files, and JSON.

    GET  /                 the page; its files beside it
    GET  /api/about        in which words labels are told, and whether they can be said
    GET  /api/choices      what the filters can be set to
    GET  /api/page         rows, the newest first; `before` a cursor
    GET  /api/new          rows that arrived `after` a cursor
    GET  /api/record/7     a record
    GET  /api/figures      the numbers of all charts
    GET  /api/pairs        two sides of the same questions: filters with `a.` and with `b.`
    POST /api/label        what a person says of a verdict; only where labelling is on

Filters are parameters, as `_query` reads them. What cannot be answered is {"error": why}.
"""

from __future__ import annotations

import logging
import re
from asyncio import CancelledError
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faithguard._render._sheet import visible
from faithguard._version import __version__
from faithguard.errors import ConfigError, FaithguardError, describe
from faithguard.store import Store
from faithguard.ui import _view
from faithguard.ui._query import CHOICES, filter_of

__all__ = ["application"]

log = logging.getLogger("faithguard")

_ROWS = 50
_MOST_NEW = 200
_MOST_PAIRS = 1_000
_LONGEST_BODY = 10_000
_FEW_DAYS = 3
"""With fewer, time is told by the hour."""

_NUMBER = re.compile("[0-9]{1,19}")

_KINDS = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
}


class _Said(BaseModel, frozen=True, strict=True, extra="forbid"):
    """What a person says of a verdict."""

    number: int
    claim: int
    agree: bool
    note: str = Field("", max_length=2_000)


def application(store: Store, *, label: bool) -> Starlette:
    """Return what answers the page.

    Args:
        store: Read from several threads.
        label: Whether what a person says of verdicts is written to it.
    """
    questions = _Questions(store, label=label)
    routes = [
        Route("/api/about", _asked(questions.about)),
        Route("/api/choices", _asked(questions.choices)),
        Route("/api/page", _asked(questions.page)),
        Route("/api/new", _asked(questions.new)),
        Route("/api/record/{number}", _asked(questions.record)),
        Route("/api/figures", _asked(questions.figures)),
        Route("/api/pairs", _asked(questions.pairs)),
        Route("/api/label", _told(questions.label), methods=["POST"]),
        *(Route(f"/{name}", _file(data, name)) for name, data in _page_files().items()),
    ]
    return Starlette(routes=routes)


def _page_files() -> dict[str, bytes]:
    """Return the files of the page by the names that they are asked for."""
    folder = files("faithguard.ui").joinpath("page")
    found = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
    return {"": found.pop("index.html"), **found}


def _file(data: bytes, name: str) -> Callable[[Request], Awaitable[Response]]:
    kind = _KINDS[name.rpartition(".")[2] or "html"]

    async def answer(request: Request) -> Response:
        return Response(data, media_type=kind)

    return answer


def _asked(question: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
    """Answer with what `question` returns; it reads the store and so runs in a thread."""

    async def answer(request: Request) -> Response:
        return await _answered(question, request)

    return answer


def _told(take: Callable[[bytes], Any]) -> Callable[[Request], Awaitable[Response]]:
    """Answer with what `take` makes of the body."""

    async def answer(request: Request) -> Response:
        if request.headers.get("content-type") != "application/json":
            return _trouble("send JSON", 415)
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > _LONGEST_BODY:
                    return _trouble(f"the body has more than {_LONGEST_BODY:,} bytes", 413)
        except (ClientDisconnect, CancelledError):  # whoever sent it left, or the page is closed
            return _trouble("the body has no end", 400)
        return await _answered(take, body)

    return answer


async def _answered(work: Callable[[Any], Any], argument: object) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work, argument))
    except ConfigError as error:
        return _trouble(str(error), 400)
    except FaithguardError as error:
        return _trouble(str(error), 503)
    except Exception as error:
        log.exception("the page could not be answered: %s", describe(error))
        return _trouble(f"unexpected {describe(error)}; the log of this server has more", 500)


def _trouble(message: str, status: int) -> Response:
    return JSONResponse({"error": visible(message)}, status)


class _Questions:
    """What the page asks, one method each."""

    def __init__(self, store: Store, *, label: bool) -> None:
        self._store = store
        self._label = label

    def about(self, request: Request) -> _view.View:
        return {
            "version": __version__,
            "store": visible(str(self._store.path)),
            "label": self._label,
            **_view.words_view(),
        }

    def choices(self, request: Request) -> _view.View:
        figures = self._store.tally()
        open_sets = {"domain": sorted(figures.levels), "tag": list(figures.tags)}
        return {
            name: [{"value": value, "shown": visible(value)} for value in values]
            for name, values in {**CHOICES, **open_sets}.items()
        }

    def page(self, request: Request) -> _view.View:
        asked = filter_of(request.query_params)
        before = request.query_params.get("before")
        newest = self._store.newest()  # first: what comes meanwhile is told again, not missed
        rows = self._store.page(asked, limit=_ROWS + 1, before=before)
        return {
            "rows": [_view.row_view(row) for row in rows[:_ROWS]],
            "more": len(rows) > _ROWS,
            "count": self._store.count(asked),
            "newest": newest,
        }

    def new(self, request: Request) -> _view.View:
        after = request.query_params.get("after") or None
        newest = self._store.newest()
        if newest == after:
            return {"rows": [], "newest": newest}
        rows = self._store.newer_than(after, filter_of(request.query_params), limit=_MOST_NEW)
        full = len(rows) == _MOST_NEW
        return {
            "rows": [_view.row_view(row) for row in rows],
            "newest": rows[-1].cursor if full else newest,
        }

    def record(self, request: Request) -> _view.View:
        asked = request.path_params["number"]
        number = int(asked) if _NUMBER.fullmatch(asked) else -1  # longer ones are none
        record = self._store.get(number)
        if record is None:
            raise ConfigError(f"there is no record {asked[:40]}; it may have been deleted by age")
        return _view.record_view(number, record, self._store.labels(number))

    def figures(self, request: Request) -> _view.View:
        asked = filter_of(request.query_params)
        series = self._store.series(asked, "day")
        by = "day" if len(series) >= _FEW_DAYS else "hour"
        if by == "hour":
            series = self._store.series(asked, "hour")
        figures, scores = self._store.tally(asked), self._store.scores(asked)
        return {"by": by, **_view.figures_view(figures, series, scores)}

    def pairs(self, request: Request) -> _view.View:
        a, b = (filter_of(request.query_params, prefix) for prefix in ("a.", "b."))
        return _view.compared_view(self._store.pairs(a, b, limit=_MOST_PAIRS), _MOST_PAIRS)

    def label(self, body: bytes) -> _view.View:
        if not self._label:
            raise ConfigError("this page only reads: start it with `faithguard ui --label`")
        try:
            said = _Said.model_validate_json(body)
        except ValidationError as error:
            problem = error.errors(include_input=False, include_url=False)[0]
            raise ConfigError(f"no label: {problem['msg']}") from None
        self._store.label(said.number, said.claim, said.agree, said.note)
        return {"opinions": _view.opinions_view(self._store.labels(said.number))}
