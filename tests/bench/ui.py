"""Measure the page over 10,000 records: opening, filtering, and the memory of its server.

    python -m tests.bench.ui [RECORDS]

In: records made here; a Chromium and Playwright, as the tests marked `browser` have. Out: a
markdown table. Times are those of the browser: from asking for the page, or from a choice, to the
rows in place; the median and the slowest of several.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import sync_playwright

from tests.bench._common import table
from tests.ui.conftest import CHROMIUM, FLAGS
from tests.ui.scene import many, store_of

TIMES = 7

# What the browser itself measured from asking for the page to its first row.
OPENED = """() => new Promise((done) => {
  const look = () => document.querySelector(".rows li")
    ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
  look();
})"""

# Chooses, and waits until the count of answers says something else.
CHOSEN = """([title, value]) => new Promise((done) => {
  const before = document.querySelector(".total").textContent;
  const label = [...document.querySelectorAll("label")].find((one) => one.textContent === title);
  const box = document.getElementById(label ? label.htmlFor : "search");
  const start = performance.now();
  const look = () => document.querySelector(".total").textContent !== before
    ? done(performance.now() - start) : requestAnimationFrame(look);
  box.value = value;
  box.dispatchEvent(new Event(label ? "change" : "input"));
  look();
})"""

FILTERS = (
    ("Domain", "medical"),
    ("Level", "block"),
    ("Claims", "contradicted"),
    ("Cause", "truncation"),
    ("Tag", "prompt-8"),
    ("text", "many: when is"),
    ("text", "Question 4711"),
)


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    records = int(argv[0]) if argv else 10_000
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"{records:,} records, {os.cpu_count()} CPUs, load {load}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = store_of(Path(folder) / "records.db", many(records))
        command = [sys.executable, "-m", "faithguard.cli", "ui", "--store", str(path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            try:
                assert server.stdout is not None
                rows = measured(server.stdout.readline().strip(), server.pid)
            finally:
                server.terminate()
    table(["what", "median", "slowest", "budget"], rows)


def measured(url: str, pid: int) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        page = browser.new_page()
        page.goto(url)  # the first one also starts the browser's processes
        rows = [row("list opens", [opened(page, url) for _ in range(TIMES)], "300 ms")]
        for title, value in FILTERS:
            name = f"filter {title.lower()}: {value}"
            rows.append(
                row(name, [filtered(page, url, title, value) for _ in range(TIMES)], "200 ms")
            )
        for name, address in (("figures", "#/figures"), ("compare", "#/compare")):
            rows.append(row(name, [drawn(page, url + address) for _ in range(3)], "-"))
        browser.close()
    status = Path(f"/proc/{pid}/status")
    if status.exists():  # Linux only
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        rows.append(("memory of the server", "-", f"{int(peak) / 1024:.0f} MB", "200 MB"))
    return rows


def row(name: str, times: Sequence[float], budget: str) -> tuple[str, str, str, str]:
    """Return a row of times in milliseconds."""
    return name, f"{median(times):.0f} ms", f"{max(times):.0f} ms", budget


def opened(page: Any, url: str) -> float:
    """Return the milliseconds from asking for the page to its first rows."""
    page.goto("about:blank")
    page.goto(url, wait_until="commit")
    return float(page.evaluate(OPENED))


def filtered(page: Any, url: str, title: str, value: str) -> float:
    """Return the milliseconds from a choice to the rows that it leaves, typing pause included."""
    opened(page, url)
    page.locator("option[value='prompt-8']").wait_for(state="attached")
    return float(page.evaluate(CHOSEN, [title, value]))


def drawn(page: Any, url: str) -> float:
    """Return the milliseconds from asking for a page to what it shows."""
    return timed(lambda: (page.goto("about:blank"), page.goto(url), page.wait_for_selector("svg")))


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - started)


if __name__ == "__main__":
    main(sys.argv[1:])
