"""A real browser over real stores; every error in its console fails the test that made it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faithguard.types import Record
from faithguard.ui import Server
from tests.ui.scene import store_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# It renders as it does for everybody, asks nobody for updates, and runs as root in a container.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
).split()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, once for a module.

    Playwright's blocking API keeps a loop running in its thread: it must have ended before a test
    of another module, which may start one of its own, comes in the same process.
    """
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="pip install 'faithguard[browser]' brings Playwright"
    )
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        sync_api.expect.set_options(timeout=15_000)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
    with pytest.raises(RuntimeError, match="no running event loop"):
        asyncio.get_running_loop()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Show records on a page of their own, to the end of the test."""
    with ExitStack() as stack:

        def show(records: Sequence[Record], **options: Any) -> Server:
            path = store_of(tmp_path / "records.db", records)
            return stack.enter_context(Server(path, **options))

        yield show


@pytest.fixture
def visit(browser: Browser, serve: Callable[..., Server]) -> Iterator[Callable[..., Page]]:
    """Open an address; afterwards nothing stands in the console, and no other host was asked."""
    contexts: list[Any] = []
    troubles: list[str] = []

    def open_(url: str, **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        home = url.partition("#")[0]
        page.on("console", lambda said: troubles.append(f"console: {said.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on(
            "request",
            lambda asked: asked.url.startswith(home) or troubles.append(f"asks {asked.url}"),
        )
        page.goto(url)
        page.wait_for_selector("main > :not(noscript)")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def shots() -> Callable[[Page, str], None]:
    """Keep a picture of a page where FAITHGUARD_SHOTS names a folder, for a person to look at."""
    folder = os.environ.get("FAITHGUARD_SHOTS")

    def keep(page: Page, name: str) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png")

    return keep
