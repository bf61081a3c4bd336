"""Measure time and memory beside the budgets of the design.

    python -m tests.bench.speed [SECTION ...]

In: texts made from word lists; no folder, no network. Out: markdown tables, one for each of
`imports`, `watcher`, `telemetry`, `engine`, `guard`, `check`, `rules`, `model`, `sizes`, `memory`,
`state` and `engine_state`; those of an engine are of LlamaIndex, and `rules` reads the opened half
of `tests/data/near_misses.jsonl`. Nothing is asserted: a figure of a busy machine says little, so
the load is printed first.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig

from faithguard import Claim, Passage, Scorer, check
from faithguard.sinks import AnySink, JsonlSink, LogSink, SqliteSink
from faithguard.testing import TableVerifier
from faithguard.verifiers import Context, Finding, Verifier
from faithguard.verifiers.nli import SHIPPED, Nli, served
from faithguard.verifiers.nli import Model as CrossEncoder
from faithguard.verifiers.nli._model import Scores
from faithguard.verifiers.rules import RULES
from faithguard.verifiers.rules._scene import scene_of
from faithguard.verifiers.rules._told import told
from faithguard_langchain import FaithfulnessCallback, guard
from tests.bench import _texts
from tests.bench._chain import Model, rag_chain
from tests.bench._common import ROOT, quantile, read_jsonl, table
from tests.bench._parts import AROUND, CONTEXT, SESSION, Clock, clocked
from tests.bench._texts import reworded
from tests.sinks.collector import Collector

QUESTION = "What does the harbour need?"
HEAVY = (
    "langchain_core langgraph llama_index openai httpx pydantic rich typer markdown_it sentencex "
    "Stemmer cachetools numpy onnxruntime tokenizers torch sklearn sqlite3 asyncio"
).split()
"""Modules whose loading one wants to know of."""


def main(argv: Sequence[str]) -> None:
    """Print the sections that are named, or all."""
    logging.getLogger("faithguard").setLevel(logging.ERROR)
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {load}\n")
    sections = (
        imports,
        watcher,
        telemetry,
        engine,
        guarded,
        checks,
        rules,
        model,
        sizes,
        memory,
        state,
        engine_state,
    )
    for section in sections:
        name = {"guarded": "guard", "checks": "check"}.get(section.__name__, section.__name__)
        if not argv or name in argv:
            section()


def ms(seconds: float) -> str:
    """Return seconds as milliseconds."""
    return f"{1e3 * seconds:.2f} ms"


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def run_alone(code: str, env: Mapping[str, str] | None = None) -> str:
    """Return what code prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, **(env or {})},
    )
    return done.stdout.strip()


# -- imports ----------------------------------------------------------------------------------

IMPORT = """
import sys, time
before = set(sys.modules)
started = time.perf_counter()
{statement}
print(time.perf_counter() - started)
print(len(set(sys.modules) - before))
print(" ".join(m for m in {heavy!r} if m in sys.modules and m not in before))
"""
STATEMENTS = (
    ("import faithguard", "< 300 ms"),
    ("from faithguard import check", "< 400 ms"),
    ('from faithguard import check; check("It is red.", "It is red.")', "-"),
    ("import langchain_core.runnables", "-"),
    ("from faithguard_langchain import guard", "-"),
    ("from faithguard_llama_index import watch; watch()", "no llama_index.core"),
)


def imports() -> None:
    """Print import times and what gets loaded; names of the package are loaded when used."""
    rows = []
    compiled = tempfile.TemporaryDirectory()
    # modules are compiled once, as pip does when it installs them
    env = {"PYTHONPYCACHEPREFIX": compiled.name, "PYTHONDONTWRITEBYTECODE": ""}
    for statement, budget in STATEMENTS:
        code = IMPORT.format(statement=statement, heavy=HEAVY)
        run_alone(code, env)
        runs = [run_alone(code, env) for _ in range(7)]
        seconds = [float(run.splitlines()[0]) for run in runs]
        _, modules, *heavy = runs[0].splitlines()
        loaded = heavy[0] if heavy else "none"
        best, median = min(seconds), statistics.median(seconds)
        rows.append((f"`{statement}`", ms(best), ms(median), budget, modules, loaded))
    compiled.cleanup()
    print("## Import\n")
    table(("what", "best of 7", "median", "budget", "modules", "of note"), rows)


# -- the watcher ------------------------------------------------------------------------------


RUNS = 200


class Timed(FaithfulnessCallback):
    """A watcher that notes how long each of its events takes."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.seconds: dict[str, list[float]] = defaultdict(list)
        for name in dir(self):
            if name.startswith("on_"):
                setattr(self, name, self._noted(name, getattr(self, name)))

    def _noted(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        def event(*args: Any, **kwargs: Any) -> Any:
            started = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                self.seconds[name].append(time.perf_counter() - started)

        return event


def watcher() -> None:
    """Print what a watcher adds to each event of a chain, and to the chain."""
    context = _texts.passages(1, 5)
    chain = rag_chain(_texts.answer(2, context), context)
    plain = [timed(lambda: chain.invoke(QUESTION)) for _ in range(RUNS)]
    idle, idle_total = watched(chain, wait=True)
    busy, busy_total = watched(chain, wait=False)
    rows = []
    for name in sorted(idle):
        calls = len(idle[name]) // RUNS
        rows.append((name, calls, *event_cells(idle[name]), *event_cells(busy[name])))
    every = [[s for values in events.values() for s in values] for events in (idle, busy)]
    rows.append(
        ("**any event**", len(every[0]) // RUNS, *event_cells(every[0]), *event_cells(every[1]))
    )
    print("## Watcher: microseconds on the chain's own path (budget: under 1000 an event)\n")
    head = ("event", "per run", "median", "p99", "max", "busy median", "busy p99", "busy max")
    table(head, rows)
    print("busy: the next run starts while the last answer is still being checked\n")
    head = ("whole chain, 5 passages of 200 words", "median", "p95")
    totals = (("without a watcher", plain), ("watched", idle_total), ("watched, busy", busy_total))
    table(head, [(name, ms(statistics.median(v)), ms(quantile(v, 0.95))) for name, v in totals])
    large = _texts.passages(1, 50)
    wide, _ = watched(rag_chain(_texts.answer(2, large), large), wait=True, runs=RUNS // 5)
    rows = [(name, *event_cells(wide[name])) for name in sorted(wide)]
    print("## Watcher: the same with 50 passages of 200 words\n")
    table(("event", "median", "p99", "max"), rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        sinks = [LogSink(), JsonlSink(path / "records.jsonl"), SqliteSink(path / "records.db")]
        stored = [watched(chain, wait=wait, sinks=sinks)[0] for wait in (True, False)]
    rows = [
        (name, *event_cells(stored[0][name]), *event_cells(stored[1][name]))
        for name in sorted(stored[0])
    ]
    print("## Watcher: the first again, with a log, a file of lines and a store behind it\n")
    table(("event", "median", "p99", "max", "busy median", "busy p99", "busy max"), rows)


def watched(
    chain: Runnable[str, str],
    *,
    wait: bool,
    runs: int = RUNS,
    sinks: Sequence[AnySink] = (),
    beside: Sequence[Any] = (),
) -> tuple[dict[str, list[float]], list[float]]:
    """Return the seconds of each event, and of each run, of a watched chain."""
    handler = Timed(sinks=sinks, scorer=Scorer(cache=None))
    config: RunnableConfig = {"callbacks": [*beside, handler]}
    chain.invoke(QUESTION, config)
    handler.wait(10)
    handler.seconds.clear()
    total = []
    for _ in range(runs):
        total.append(timed(lambda: chain.invoke(QUESTION, config)))
        if wait:
            handler.wait(10)
    seconds = dict(handler.seconds)
    handler.wait(60)
    return seconds, total


def event_cells(seconds: Sequence[float]) -> list[str]:
    """Return median, 99th percentile and maximum in microseconds."""
    values = (statistics.median(seconds), quantile(seconds, 0.99), max(seconds))
    return [f"{1e6 * value:.0f}" for value in values]


def telemetry() -> None:
    """Print what the sinks of tracing systems add to each event, with servers on loopback."""
    try:
        from langfuse import Langfuse
        from langfuse.langchain import CallbackHandler
        from langsmith import Client
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk.trace import TracerProvider
    except ImportError:
        print("## Telemetry: not measured; pip install 'faithguard[langfuse,langsmith]'\n")
        return
    from faithguard.sinks import LangfuseSink, LangSmithSink, OtelSink

    context = _texts.passages(1, 5)
    chain = rag_chain(_texts.answer(2, context), context)
    with Collector() as collector:
        settings: dict[str, Any] = {"public_key": "bench", "secret_key": "bench"}
        langfuse = Langfuse(**settings, base_url=collector.url, tracer_provider=TracerProvider())
        handler = CallbackHandler(public_key="bench")
        langsmith = Client(api_url=collector.url, api_key="none", auto_batch_tracing=False)
        sinks = {
            "OtelSink": [OtelSink(logger_provider=LoggerProvider())],
            "LangfuseSink": [LangfuseSink(langfuse, handler=handler)],
            "LangSmithSink": [LangSmithSink(langsmith)],  # its server has no project: all fails
        }
        sinks["all three"] = [sink for some in sinks.values() for sink in some]
        rows = []
        for name, some in {"none": [], **sinks}.items():
            events, _ = watched(chain, wait=True, sinks=some, beside=[handler])
            every = [seconds for values in events.values() for seconds in values]
            rows.append((name, *event_cells(every), *event_cells(events["on_chain_end"])))
        langfuse.shutdown()
    print("## Telemetry: microseconds on the chain's own path (budget: under 1000 an event)\n")
    table(("sink", "median", "p99", "max", "at the end: median", "p99", "max"), rows)


# -- the watcher of LlamaIndex ----------------------------------------------------------------


def engine() -> None:
    """Print what a watcher adds to each event and span of a query engine, and to the query."""
    from faithguard_llama_index import unwatch, watch
    from tests.bench._engine import detach_clocks, rag_engine, timed_handlers

    totals = []
    for count in (5, 50):
        context = _texts.passages(1, count)
        made = rag_engine(_texts.answer(2, context), context)
        made.query(QUESTION)
        plain = [timed(lambda made=made: made.query(QUESTION)) for _ in range(RUNS)]
        watching = watch(sinks=[], scorer=Scorer(cache=None))
        seconds = timed_handlers()
        total = []
        for _ in range(RUNS):
            total.append(timed(lambda made=made: made.query(QUESTION)))
            watching.wait(10)
        detach_clocks()
        unwatch()
        rows = [
            (name, len(values) // RUNS, *event_cells(values))
            for name, values in sorted(seconds.items())
        ]
        every = [value for values in seconds.values() for value in values]
        rows.append(("**any of them**", len(every) // RUNS, *event_cells(every)))
        print(
            f"## Watcher in LlamaIndex: microseconds on the engine's own path, {count} passages "
            "(budget: under 1000 an event)\n"
        )
        table(("event or span", "per query", "median", "p99", "max"), rows)
        totals += [(f"{count} passages", plain), (f"{count} passages, watched", total)]
    head = ("whole query, passages of 200 words", "median", "p95")
    table(head, [(name, ms(statistics.median(v)), ms(quantile(v, 0.95))) for name, v in totals])


# -- the guard --------------------------------------------------------------------------------


def guarded() -> None:
    """Print what a guard adds to a call, with and without the time of the check."""
    chains = []
    for seed in range(300, 360):
        context = _texts.passages(seed, 5)
        chains.append(rag_chain(_texts.answer(seed, context), context))
    instant = Scorer(verifiers=[TableVerifier({"*": 0.99})], cache=None)
    cached = Scorer()
    ways: tuple[tuple[str, Scorer | None], ...] = (
        ("no guard", None),
        ("guard, local check", Scorer(cache=None)),
        ("guard, verdicts at once", instant),
        ("guard, verdicts cached", cached),
    )
    rows = []
    base = 0.0
    for name, scorer in ways:
        seconds = []
        if scorer is cached:
            for chain in chains:
                guarding(chain, cached).invoke(QUESTION)
        for chain in chains:
            way = chain if scorer is None else guarding(chain, scorer)
            seconds.append(timed(lambda way=way: way.invoke(QUESTION)))
        median = statistics.median(seconds)
        base = base or median
        added = "-" if scorer is None else ms(median - base)
        rows.append((name, ms(median), ms(quantile(seconds, 0.95)), added))
    print("## Guard: one call, 5 claims, 5 passages of 200 words, 60 different texts\n")
    table(("what", "median", "p95", "added"), rows)


def guarding(chain: Runnable[str, str], scorer: Scorer) -> Runnable[str, str]:
    """Return the chain under a guard that lets everything through."""
    return guard(chain, on_fail="flag", sinks=[], scorer=scorer)


# -- checks -----------------------------------------------------------------------------------


class Counted:
    """A verifier that counts the calls of another."""

    def __init__(self, inner: Verifier) -> None:
        self._inner = inner
        self.calls = 0

    @property
    def name(self) -> str:
        """The name of the other."""
        return self._inner.name

    def verify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Count, and ask the other."""
        self.calls += 1
        return self._inner.verify(claims, context)

    async def averify(self, claims: Sequence[Claim], context: Context) -> Sequence[Finding]:
        """Count, and ask the other."""
        self.calls += 1
        return await self._inner.averify(claims, context)


SIZES = (5, 50)
"""Passages in the context of a check."""


def checks() -> None:
    """Print the time of a check over few and over many passages, each on a text of its own."""
    timed_checks("the default", Scorer().verifiers)


def timed_checks(title: str, members: Sequence[Verifier], said: Callable[[str], str] = str) -> None:
    """Print the time of checks by a cascade, of answers as they are said."""
    rows = []
    medians = []
    for count in SIZES:
        verifiers = [Counted(verifier) for verifier in members]
        scorer = Scorer(verifiers=verifiers, cache=None)
        seeds = range(100, 155)
        spent = [check_seconds(seed, count, scorer, said) for seed in seeds][5:]
        wall, cpu = ([pair[n] for pair in spent] for n in (0, 1))
        asked = sum(verifier.calls for verifier in verifiers) / len(seeds)
        medians.append((statistics.median(wall), statistics.median(cpu)))
        budget = "p50 < 100 ms, p95 < 200 ms" if count == SIZES[0] else "-"
        figures = (medians[-1][0], quantile(wall, 0.95), medians[-1][1], quantile(cpu, 0.95))
        rows.append((f"{count} passages", *map(ms, figures), f"{asked:.1f}", budget))
    wall_each, cpu_each = (
        (many - few) / (SIZES[1] - SIZES[0]) for few, many in zip(*medians, strict=True)
    )
    budget = "< 2 ms, no further model call"
    rows.append(("each added passage", ms(wall_each), "-", ms(cpu_each), "-", "-", budget))
    print(f"## Check, {title}: 5 claims, passages of 200 words, no cache, 50 different texts\n")
    head = ("context", "p50", "p95", "CPU p50", "CPU p95", "verifier calls", "budget")
    table(head, rows)


def check_seconds(
    seed: int, count: int, scorer: Scorer, said: Callable[[str], str] = str
) -> tuple[float, float]:
    """Return the seconds, and the seconds of CPU, of one check of five claims."""
    context = _texts.passages(seed, count)
    answer = said(_texts.answer(seed + 1000, context))
    started, cpu = time.perf_counter(), time.process_time()
    report = check(answer, context, scorer=scorer)
    spent = time.perf_counter() - started, time.process_time() - cpu
    if report.total != 5:
        print(f"note: the answer of seed {seed} has {report.total} claims, not 5")
    return spent


# -- the rules --------------------------------------------------------------------------------

READING = "reading the claim"


def rules() -> None:
    """Print what the rules cost for one claim more of a context that they have read for another."""
    path = ROOT / "tests" / "data" / "near_misses.jsonl"
    rows = [row for row in read_jsonl(path) if row["half"] == "open"]
    claims: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for row in rows:
        claims[tuple(row["context"])].append(row["claim"])
    members = [rule() for rule in RULES]
    spent: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        texts = claims[tuple(row["context"])]
        place = texts.index(row["claim"])
        # measured claims are new to every cache: before the first comes a part of the last
        other = texts[place - 1] if place else texts[-1].split(" ", 1)[-1]
        context = Context([Passage(text=text) for text in row["context"]], row["question"])
        for member in members:
            member.verify([Claim(id="other", text=other, span=(0, len(other)))], context)
        claim = Claim(id="one", text=row["claim"], span=(0, len(row["claim"])))
        works: list[tuple[str, Callable[[], object]]] = [
            (READING, lambda claim=claim, context=context: told(scene_of(claim, context))),
            *(
                (member.name, lambda m=member, c=claim, x=context: m.verify([c], x))
                for member in members
            ),
        ]
        for name, work in works:
            started = time.process_time()
            work()
            spent[name].append(time.process_time() - started)
    whole = list(map(sum, zip(*spent.values(), strict=True)))
    apart = list(map(sum, zip(*(v for k, v in spent.items() if k != READING), strict=True)))
    print("## Rules: one claim more of a context that was read for another, milliseconds of CPU\n")
    lines = [*spent.items(), ("**all but the reading**", apart), ("**all**", whole)]
    cells = [
        (name, ms(statistics.median(v)), ms(quantile(v, 0.95)), ms(statistics.fmean(v)))
        for name, v in lines
    ]
    table((f"{len(rows)} claims", "median", "p95", "mean"), cells)


# -- the model --------------------------------------------------------------------------------


class Noting:
    """A model that keeps what it was asked."""

    def __init__(self, model: CrossEncoder) -> None:
        self.model = model
        self.pairs: list[tuple[str, str]] = []

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Scores | None]:
        """Answer."""
        self.pairs += pairs
        return self.model.read(pairs)


def model() -> None:
    """Print what the model in the wheel costs: checks, pairs, and the parts of a check."""
    rules = [rule() for rule in RULES]
    timed_checks("the default, answers in other words", Scorer().verifiers, reworded)
    nli = Nli(words=True)
    noting = Noting(CrossEncoder(served(SHIPPED)))
    nli._model = noting  # type: ignore[assignment]
    scorer = Scorer(verifiers=[*rules, nli], cache=None)
    loading = timed(lambda: noting.model.read([("It is red.", "It is red.")]))
    check_seconds(199, SIZES[0], scorer, reworded)
    noting.pairs = []
    seeds = range(200, 230)
    clock = Clock()
    with clocked(clock):
        whole = sum(check_seconds(seed, SIZES[0], scorer, reworded)[0] for seed in seeds)
    session = clock.wall[SESSION]
    rows = [
        ("load, once", ms(loading), "< 1 s"),
        ("pairs of a check", f"{len(noting.pairs) / len(seeds):.1f}", "-"),
        ("pairs a second", f"{len(noting.pairs) / session:.0f}", "-"),
        ("the verifier, around its session", percent(clock, AROUND), "< 25%"),
        ("the same and reading the context", percent(clock, (*AROUND, CONTEXT)), "-"),
        ("all else (splitting, reading, rules)", f"{100 * (whole / session - 1):.0f}%", "-"),
    ]
    print("## The model: 5 claims in other words, 5 passages of 200 words\n")
    table(("what, beside the time of the session", "figure", "budget"), rows)
    print("## Parts of such a check, the mean of 30: wall, and CPU of the calling thread\n")
    parts = [
        (name, ms(clock.wall[name] / len(seeds)), ms(clock.cpu[name] / len(seeds)))
        for name in sorted(clock.wall)
    ]
    table(("part", "wall", "CPU"), parts)
    remembered("the model", WITH_MODEL)


def percent(clock: Clock, parts: Sequence[str]) -> str:
    """Return the time of parts beside that of the session."""
    return f"{100 * sum(clock.wall[name] for name in parts) / clock.wall[SESSION]:.0f}%"


# -- sizes ------------------------------------------------------------------------------------


def sizes() -> None:
    """Print the time of large inputs, and whether it grows in proportion."""
    cases: tuple[tuple[str, Callable[[int, int], tuple[str, list[str]]]], ...] = (
        ("context of 1 MB, one passage, 5 claims", huge_passage),
        ("context of 1 MB, passages of 1 kB, 5 claims", many_passages),
        ("context of 1 MB without a full stop, 5 claims", unstopped),
        ("answer of 50 kB, 5 passages of 200 words", long_answer),
    )
    rows = []
    for name, make in cases:
        # a text of its own for each run: analyses of sentences are kept
        half = min(size_seconds(*make(seed, 2)) for seed in (20, 21))
        full = min(size_seconds(*make(seed, 1)) for seed in (22, 23))
        rows.append((name, ms(half), ms(full), f"{full / half:.2f}"))
    print("## Sizes: CPU time, best of 2; in proportion where the ratio is about 2\n")
    table(("what", "half the size", "full size", "ratio"), rows)


def size_seconds(answer: str, context: list[str]) -> float:
    """Return the CPU seconds of one check."""
    started = time.process_time()
    check(answer, context, scorer=Scorer(cache=None))
    return time.process_time() - started


def huge_passage(seed: int, part: int) -> tuple[str, list[str]]:
    """Return five claims and one passage of 1 MB, or a part of it."""
    text = _texts.sized(random.Random(seed), 1_000_000 // part)
    return _texts.answer(seed, [text[:5_000]]), [text]


def many_passages(seed: int, part: int) -> tuple[str, list[str]]:
    """Return the same in passages of 1 kB."""
    answer, [text] = huge_passage(seed, part)
    return answer, [text[at : at + 1_000] for at in range(0, len(text), 1_000)]


def unstopped(seed: int, part: int) -> tuple[str, list[str]]:
    """Return the same in one passage without a full stop."""
    answer, [text] = huge_passage(seed, part)
    return answer, [text.replace(".", "")]


def long_answer(seed: int, part: int) -> tuple[str, list[str]]:
    """Return an answer of 50 kB, or a part of it, and five passages."""
    return _texts.sized(random.Random(seed), 50_000 // part), _texts.passages(seed, 5)


# -- memory -----------------------------------------------------------------------------------

MEMORY = """
import random
def note(when):
    # not ru_maxrss: a child process starts with the peak of its parent
    with open("/proc/self/status") as lines:
        held = dict(line.split(":", 1) for line in lines)
    print(when, *(int(held[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")))
note("start")
import faithguard
note("after import")
from tests.bench import _texts
scorer = None
HERE
def one(seed, count=5):
    context = _texts.passages(seed, count)
    faithguard.check(_texts.answer(seed, context), context, scorer=scorer)
one(0)
note("after the first check")
for seed in range(200):
    one(seed)
note("after 200 checks (5 claims, 5 passages)")
for seed in range(20):
    one(seed, 50)
note("after 20 checks over 50 passages")
huge = _texts.sized(random.Random(1), 1_000_000)
faithguard.check(_texts.answer(1, [huge[:5000]]), huge, scorer=scorer)
note("after a context of 1 MB")
"""
WITH_MODEL = """
from faithguard.verifiers.nli import Nli
from faithguard.verifiers.rules import RULES
scorer = faithguard.Scorer(verifiers=[*(rule() for rule in RULES), Nli()])
"""


def memory() -> None:
    """Print the resident memory of a process that checks."""
    remembered("the default", "")


def remembered(title: str, scorer: str) -> None:
    """Print the memory of a process whose scorer a piece of code makes."""
    rows = []
    for line in run_alone(MEMORY.replace("HERE", scorer)).splitlines():
        *name, resident, peak = line.split()
        budget = "resident < 300 MB" if "200" in name else "-"
        rows.append((" ".join(name), f"{float(resident):.0f} MB", f"{float(peak):.0f} MB", budget))
    print(f"## Memory, {title}\n")
    table(("when", "resident", "peak", "budget"), rows)


# -- state ------------------------------------------------------------------------------------

EACH = 170


def state() -> None:
    """Print what a watcher still holds after runs that ended well and badly."""
    handler = FaithfulnessCallback(sinks=[], scorer=Scorer(verifiers=[TableVerifier({"*": 0.9})]))
    chain = rag_chain("It needs a rest. It is red. It is old.", ["It needs a rest."])
    config: RunnableConfig = {"callbacks": [handler]}
    rng = random.Random(5)
    rows = []
    for name, work in (
        ("ended", lambda: chain.invoke(QUESTION, config)),
        ("failed", lambda: failing(chain, config)),
        ("cancelled while the model writes", lambda: asyncio.run(cancelled(chain, config))),
        ("stream abandoned", lambda: abandoned(chain, config)),
        ("async stream abandoned", lambda: asyncio.run(left(chain, config))),
        (
            "cancelled at any moment of the first 10 ms",
            lambda: asyncio.run(cancelled(chain, config, after=rng.uniform(0.0, 0.01))),
        ),
    ):
        before = handler.open_runs
        for _ in range(EACH):
            work()
        gc.collect()
        rows.append((f"{EACH} runs {name}", handler.open_runs - before, "0"))
    handler.wait(60)
    rows.append((f"all {len(rows) * EACH} runs, reports made", handler.open_runs, "0"))
    print("## State: entries that the watcher holds (two for each tree that has not ended)\n")
    table(("after", "entries", "budget"), rows)
    print(f"reports: {len(handler.reports)} kept, {handler.dropped} dropped\n")


def failing(chain: Runnable[str, str], config: RunnableConfig) -> None:
    """Run a chain whose model fails."""
    with contextlib.suppress(RuntimeError):
        chain.invoke("fail", config)


async def cancelled(
    chain: Runnable[str, str], config: RunnableConfig, after: float | None = None
) -> None:
    """Cancel a run after some seconds, or once its model is busy."""
    asked = Model.asked
    task = asyncio.create_task(chain.ainvoke("slow", config))
    if after is not None:
        await asyncio.sleep(after)
    while after is None and Model.asked == asked:  # noqa: ASYNC110 - no event there to wait for
        await asyncio.sleep(0.001)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def abandoned(chain: Runnable[str, str], config: RunnableConfig) -> None:
    """Take one part of a stream and drop the rest."""
    next(iter(chain.stream(QUESTION, config)))


async def left(chain: Runnable[str, str], config: RunnableConfig) -> None:
    """Leave an async stream after one part, without closing it."""
    async for _ in chain.astream(QUESTION, config):
        break


# -- the state of the watcher of LlamaIndex ----------------------------------------------------


def engine_state() -> None:
    """Print what LlamaIndex's watcher still holds after queries that ended well and badly."""
    from faithguard_llama_index import unwatch, watch
    from tests.bench._engine import rag_engine

    watching = watch(sinks=[], scorer=Scorer(verifiers=[TableVerifier({"*": 0.9})]))
    said = "It needs a rest. It is red. It is old.", ["It needs a rest."]
    plain, streaming, slow = (
        rag_engine(*said, **how) for how in ({}, {"streaming": True}, {"slow": True})
    )
    rng = random.Random(5)

    def failing_query() -> None:
        with contextlib.suppress(RuntimeError):
            plain.query("fail")

    async def cancelled_query() -> None:
        task = asyncio.create_task(slow.aquery(QUESTION))
        await asyncio.sleep(rng.uniform(0.0, 0.04))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def left_stream() -> None:
        await anext((await streaming.aquery(QUESTION)).response_gen)

    rows = []
    for name, work in (
        ("ended", lambda: plain.query(QUESTION)),
        ("failed", failing_query),
        ("stream read", lambda: str(streaming.query(QUESTION))),
        ("stream abandoned", lambda: next(streaming.query(QUESTION).response_gen)),
        ("async stream abandoned", lambda: asyncio.run(left_stream())),
        ("cancelled at any moment", lambda: asyncio.run(cancelled_query())),
    ):
        before = watching.open_runs
        for _ in range(EACH):
            work()
        gc.collect()
        rows.append((f"{EACH} queries {name}", watching.open_runs - before, "0"))
    watching.wait(60)
    unwatch()
    rows.append((f"all {len(rows) * EACH} queries, reports made", watching.open_runs, "0"))
    print("## State of the watcher in LlamaIndex: entries that it holds\n")
    table(("after", "entries", "budget"), rows)
    print(f"reports: {len(watching.reports)} kept, {watching.dropped} dropped\n")


if __name__ == "__main__":
    main(sys.argv[1:])
