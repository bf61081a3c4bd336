"""Run the seeds' own examples with the embedded default; one line each, exit 1 on a mismatch.

    python -m tests.bench.seeds [SHARED]

In: the texts under `SHARED/seeds`, parsed at run time: their code's literals, and a few quoted
lines. Out: what is expected and what `faithguard.check` says; under a mismatch, the claims with
what decided. Nothing of the seeds is copied here: examples are found by the names of their
variables, claims by their place or by one keyword. How many claims an answer has depends on the
splitter, so most expectations say which claims are unsupported, not how many there are.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from faithguard import ConfigError, Policy, Report, Scorer, check
from faithguard.policy import resolve
from faithguard.testing import TableVerifier
from faithguard.types import Exchange, Passage
from tests.bench._common import GivenClaims, shared_folder

LEVELS = {"DEPLOY": "safe", "REVIEW": "warning", "BLOCK": "block"}
"""The seeds' words for a level, and ours."""


def main(argv: Sequence[str]) -> int:
    """Print the lines; return the exit code."""
    folder = shared_folder(argv, "seeds") / "seeds"
    lesson, bank, judge = (Seed(folder, start) for start in ("000", "001", "004"))
    results = [
        *bank_example(bank),
        *counts(bank),
        *opening_hours(lesson),
        *fastapi(lesson),
        *databases(lesson),
        *detector(lesson),
        *others(lesson),
        *domains(lesson),
        *no_claims(lesson, judge),
    ]
    for result in results:
        print(result)
    wrong = sum(not result.held for result in results)
    print(f"\n{len(results) - wrong} of {len(results)} as expected, {wrong} not")
    return int(wrong > 0)


# -- reading the seeds ------------------------------------------------------------------------


class Seed:
    """One text, and the literals that its code assigns, by name and in order."""

    def __init__(self, folder: Path, start: str) -> None:
        self.text = next(folder.glob(f"{start}*.txt")).read_text("utf-8")
        self._values: dict[str, list[Any]] = defaultdict(list)
        for name, value in literals(self.text):
            self._values[name].append(value)

    def all(self, name: str) -> list[Any]:
        """Return every literal that is assigned to a name."""
        return self._values[name]

    def one(self, name: str) -> Any:
        """Return the first of them."""
        return self._values[name][0]

    def quoted(self, before: str) -> list[str]:
        """Return what stands in double quotes after a pattern at the start of a line."""
        return re.findall(rf'^{before}\s*"([^"\n]+)"', self.text, re.MULTILINE)


def literals(text: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of the assignments of literals, or of calls with one, in a text."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if re.match(r"[A-Za-z_]+ = ", line):
            statement = parsed(lines[at:])
            if statement is not None:
                yield from assigned(statement)


def parsed(lines: Sequence[str]) -> ast.stmt | None:
    """Return the shortest run of lines that is a statement."""
    for end in range(1, min(len(lines), 60) + 1):
        try:
            body = ast.parse("\n".join(lines[:end])).body
        except SyntaxError:
            continue
        return body[0]
    return None


def assigned(statement: ast.stmt) -> Iterator[tuple[str, Any]]:
    """Yield what a statement assigns, if it is a literal or a call with one literal."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return
    value = statement.value
    if isinstance(value, ast.Call) and len(value.args) == 1:
        value = value.args[0]
    try:
        yield statement.targets[0].id, ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError):
        return


# -- judging ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the bench."""

    name: str
    expected: str
    got: str
    held: bool
    report: Report | None = None

    def __str__(self) -> str:
        mark = "ok  " if self.held else "DIFF"
        line = f"{mark} {self.name:34} expected: {self.expected:44} got: {self.got}"
        if self.held or self.report is None:
            return line
        return "\n".join([line, *explained(self.report)])


def explained(report: Report) -> list[str]:
    """Return a line for each claim: kind, label, probability, verifier, reason."""
    lines = []
    for claim in report.claims:
        p = "-" if claim.p_supported is None else f"{claim.p_supported:.2f}"
        where = sorted({evidence.passage for evidence in claim.evidence})
        lines.append(
            f"       {claim.id} {claim.kind} {claim.label} p={p} {claim.verifier} {where} "
            f"{claim.text!r}: {claim.reason}"
        )
    return lines


def same(name: str, expected: object, got: object, report: Report | None = None) -> Result:
    """Return a result that holds where both are equal."""
    return Result(name, str(expected), str(got), expected == got, report)


def only(
    name: str,
    answer: str,
    context: Any,
    *keys: str,
    question: str | None = None,
    either: str = "",
) -> Result:
    """Return whether the unsupported claims are those with these keywords, and no others.

    A claim with the keyword `either` may be supported or not: the seed leaves it open.
    """
    report = check(answer, context, question=question)
    texts = [claim.text.casefold() for claim in report.unsupported]
    held = (
        report.outcome == "scored"
        and all(any(key in text for text in texts) for key in keys)
        and all(any(k in text for k in (*keys, either) if k) for text in texts)
    )
    expected = f"unsupported: {', '.join(keys)}" if keys else "all supported"
    expected += f" (open: {either})" if either else ""
    failing = ", ".join(claim.id for claim in report.unsupported) or "none"
    got = f"{counted(report)}; unsupported: {failing}"
    return Result(name, expected, got, held, report)


def none_supported(name: str, answer: str, context: Any) -> Result:
    """Return whether no claim is supported."""
    report = check(answer, context)
    held = report.outcome == "scored" and report.supported == 0
    return Result(name, "no claim supported", counted(report), held, report)


def counted(report: Report) -> str:
    """Return both counts and the score."""
    score = report.outcome if report.score is None else f"{report.score:.2f}"
    return f"{report.supported}/{report.total} = {score}"


def tallied(supported: int, total: int) -> Report:
    """Return a report with these counts."""
    table = {f"claim {n}": 0.9 if n < supported else 0.1 for n in range(total)}
    scorer = Scorer(extractor=GivenClaims(lines=True), verifiers=[TableVerifier(table)], cache=None)
    passages = (Passage(text="context"),)
    return scorer.score(Exchange(id="tally", answer="\n".join(table), passages=passages))


def policy(name: str, safe: float, warning: float) -> Policy:
    """Return a policy with these thresholds."""
    return Policy(domain=name, safe=safe, warning=warning)


# -- the examples -----------------------------------------------------------------------------


def bank_example(seed: Seed) -> Iterator[Result]:
    """Three of four supported, each by the right chunk; 0.8 fails and 0.7 passes."""
    chunks, answer = seed.one("chunks"), seed.one("response")
    sources = [source and int(source.split()[1]) - 1 for _, source in seed.one("claims")]
    report = check(answer, chunks, question=seed.one("question"))
    supported = sum(source is not None for source in sources)
    wanted = f"{supported}/{len(sources)} = {supported / len(sources):.2f}"
    yield same("bank: score", wanted, counted(report), report)
    for number, source in enumerate(sources):
        claim = report.facts[number] if number < len(report.facts) else None
        expected = "not supported" if source is None else f"supported by chunk {source + 1}"
        yield same(f"bank: claim {number + 1}", expected, supported_by(claim), report)
    marks = re.findall(r"^pass mark (0\.\d): (pass|fail)$", seed.text, re.MULTILINE)
    for mark, expected in marks:
        decision = report.decide(policy("bank", float(mark), float(mark) - 0.1))
        yield same(f"bank: pass mark {mark}", expected, "pass" if decision.passed else "fail")


def supported_by(claim: Any) -> str:
    """Return whether a claim is supported, and where its evidence stands."""
    if claim is None:
        return "no such claim"
    if not claim.supported:
        return "not supported"
    chunks = sorted({evidence.passage + 1 for evidence in claim.evidence})
    return f"supported by chunk {', '.join(map(str, chunks))}"


def counts(seed: Seed) -> Iterator[Result]:
    """The table of what one unsupported claim costs."""
    rows = re.findall(r"^(\d+) of (\d+) claims supported: (\d\.\d\d)$", seed.text, re.MULTILINE)
    for supported, total, score in rows:
        report = tallied(int(supported), int(total))
        got = f"{report.score:.2f}"
        said = f"{supported} of {total} claims supported"
        held = got == score and said in report.decide("medical").reason
        yield Result(f"count: {supported} of {total}", score, got, held)


def opening_hours(seed: Seed) -> Iterator[Result]:
    """Paraphrases of opening hours, the three answers, and the three relations."""
    paraphrases = seed.one("paraphrased_answers")
    context = next(c for c in seed.all("context") if "9:00" in c)
    for number, answer in enumerate(paraphrases, start=1):
        yield only(f"hours: paraphrase {number}", answer, context)
    hours = seed.quoted("Context:")[0]
    question = seed.quoted("Question:")[0]
    good, partly, bad = seed.quoted("Answer [ABC]:")
    yield only("hours: answer A", good, hours, question=question)
    yield only("hours: answer B", partly, hours, "saturday", question=question)
    yield none_supported("hours: answer C", bad, hours)
    for claim, label in zip(
        seed.quoted("Claim:"), ("supported", "contradicted", "not_mentioned"), strict=True
    ):
        report = check(claim, hours)
        yield same(f"hours: {label}", label, labels(report), report)


def labels(report: Report) -> str:
    """Return the labels of the facts."""
    return ", ".join(sorted({claim.label for claim in report.facts})) or report.outcome


def fastapi(seed: Seed) -> Iterator[Result]:
    """The framework: five claims, and an answer over three chunks."""
    context = seed.all("context")[0]
    for number, claim in enumerate(seed.one("test_claims"), start=1):
        bad = [key for key in ("2018", "most popular") if key in claim]
        yield only(f"framework: test claim {number}", claim, context, *bad)
    chunks = seed.one("chunks")
    answer = next(a for a in seed.all("answer") if "GraphQL" in a)
    yield only("framework: three chunks", answer, chunks, "graphql")


def databases(seed: Seed) -> Iterator[Result]:
    """The complete example, and the ORM of the first exercise."""
    context = next(c for c in seed.all("context") if "PostGIS" in c)
    answer = next(a for a in seed.all("answer") if "ACID" in a)
    yield only("database: complete example", answer, context, "most used")
    context = next(c for c in seed.all("context") if "Oracle" in c)
    answer = next(a for a in seed.all("answer") if "2005" in a)
    # the context names the pattern, and says nothing of what the answer says it is for
    yield only("ORM: exercise 1", answer, context, "2005", "most popular", either="transactions")


def detector(seed: Seed) -> Iterator[Result]:
    """The three cases of the detector and their levels at 0.9 and 0.7."""
    good, half, bad = seed.one("test_cases")
    yield only("detector: first", good["answer"], good["context"])
    yield only("detector: second", half["answer"], half["context"], "java")
    yield none_supported("detector: third", bad["answer"], bad["context"])
    grades = policy("detector", 0.9, 0.7)
    for name, case, level in (
        ("first", good, "safe"),
        ("second", half, "block"),
        ("third", bad, "block"),
    ):
        report = check(case["answer"], case["context"])
        yield same(f"detector: level of the {name}", level, report.decide(grades).level, report)


def others(seed: Seed) -> Iterator[Result]:
    """The data set, and the examples of the third exercise."""
    data = seed.one("data")
    keys: tuple[tuple[str, ...], ...] = ((), ("fastest",), ("django",))
    for number, bad in enumerate(keys):
        context, answer = data["contexts"][number], data["answer"][number]
        question = data["question"][number]
        yield only(f"data set: row {number + 1}", answer, context, *bad, question=question)
    for number, bad in enumerate(keys):
        row = seed.one("examples")[number]
        name = f"exercise 3: example {number + 1}"
        yield only(name, row["answer"], row["context"], *bad, question=row["question"])


def domains(seed: Seed) -> Iterator[Result]:
    """Every domain at the seed's score and at its edges, and what we do otherwise on purpose."""
    thresholds = seed.one("DOMAIN_THRESHOLDS")
    for domain, marks in thresholds.items():
        safe, warning = round(100 * marks["safe"]), round(100 * marks["warning"])
        scores = (round(100 * seed.one("test_score")), safe, safe - 1, warning, warning - 1)
        words = [
            "DEPLOY" if score >= safe else "REVIEW" if score >= warning else "BLOCK"
            for score in scores
        ]
        expected = ", ".join(LEVELS[word] for word in words)
        got = ", ".join(str(tallied(score, 100).decide(domain).level) for score in scores)
        yield same(f"{domain} at {'/'.join(map(str, scores))}%", expected, got)
    try:
        resolve("no such domain")
        got = "accepted"
    except ConfigError:
        got = "an error"
    yield same("unknown domain (ours differs)", "an error", got)


def no_claims(lesson: Seed, judge: Seed) -> Iterator[Result]:
    """Answers without a fact have no score (the seeds: 1.0); a sentence that states two."""
    bullets = lesson.quoted("• ")
    context = lesson.all("context")[0]
    for name, answer, outcome in (
        ("abstention", bullets[0], "abstained"),
        ("opinion", bullets[2], "no_claims"),
        ("inability", next(re.finditer(r'\("(I could not[^"]+)"\)', judge.text))[1], "abstained"),
    ):
        report = check(answer, context)
        yield same(f"no facts: {name} (score None)", outcome, report.outcome, report)
    refund = re.search(r'"(Refunds take [^"]+)"', judge.text)
    if refund is not None:
        yield only("judge page: two facts", refund[1], judge.one("DOCUMENTS"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
