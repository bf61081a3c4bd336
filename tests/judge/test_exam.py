"""The exam of the judge: what servers and models reply, and attacks, as someone else wrote them.

`judge_replies.jsonl` is played by a server on loopback; `judge_attacks.jsonl` is put to judges
that obey what they find. Both were written before the judge and without sight of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import openai
import pytest

from faithguard import Exchange, Judge, Passage, Report, Scorer
from faithguard.chat import OpenAIChat
from faithguard.testing import honest
from tests.bench._common import ROOT, read_jsonl
from tests.judge.gullible import JUDGES, put
from tests.judge.replies import CHANGES, RowServer

REPLIES = {row["id"]: row for row in read_jsonl(ROOT / "tests/data/judge_replies.jsonl")}
_PUT = {row["id"]: row for row in read_jsonl(ROOT / "tests/data/judge_attacks.jsonl")}
ATTACKS = {name: row for name, row in _PUT.items() if row["target"]}
BENIGN = {name: row for name, row in _PUT.items() if not row["target"]}
QUOTED_ORDERS = {"a-benign-07"}
"""Its evidence holds an order, as an example of one; a quote with an order is none."""

BY_PLACE = "a-fake-verdict-json-02"
"""It is about the statements at certain places, and may by luck mean no untrue control."""

PASSAGES = (
    "The sauna opens at 14:00 – on “bath days” only. Towels cost 3 euros. Dogs are not allowed in "
    "the garden.",
    "The lake is heated by the Fernhill spring. Children swim free on Sundays.",
)
TABLE: Mapping[str, tuple[str, list[str]]] = {
    "The sauna opens at 14:00.": ("supported", ["The sauna opens at 14:00 – on “bath days” only."]),
    "Towels cost 5 euros.": ("contradicted", ["Towels cost 3 euros."]),
    "A pianist plays on Sundays.": ("not_mentioned", []),
    "Dogs are allowed in the garden.": ("contradicted", ["Dogs are not allowed in the garden."]),
    "The lake is heated by the Fernhill spring.": (
        "supported",
        ["The lake is heated by the Fernhill spring."],
    ),
}
RIGHT = [label for label, _ in TABLE.values()]
GIVEN = Exchange(
    id="e", answer=" ".join(TABLE), passages=tuple(Passage(text=text) for text in PASSAGES)
)

KINDS = {
    "missing": {"missing", "unparsable", "untrusted"},
    "unparsable": {"unparsable", "untrusted"},
}
"""The exam has two words for verdicts that cannot be used. The judge has three: nothing came back
for a claim, what came back cannot be used, a control is wrong or lacking."""

_ONCE_MORE = (
    "a body of something else may be a gateway's for a moment: asked again, `retries` times"
)
DEBATABLE: Mapping[str, tuple[str, str]] = {
    "r-choices-04": ("retry:unparsable", _ONCE_MORE),
    "r-html-200-01": ("retry:unparsable", _ONCE_MORE),
    "r-html-200-02": ("retry:unparsable", _ONCE_MORE),
    "r-json-200-01": ("retry:unparsable", _ONCE_MORE),
    "r-json-200-02": ("retry:unparsable", _ONCE_MORE),
    "r-json-200-03": ("retry:unparsable", _ONCE_MORE),
    "r-sse-200-01": ("retry:unparsable", _ONCE_MORE),
    "r-syntax-02": ("retry:unparsable", "a Python literal is no JSON: asked again, not guessed at"),
    "r-syntax-03": ("ok", "each verdict is read by itself; nothing is repaired between them"),
    "r-id-form-01": ("retry:unparsable", "our ids are random and no numbers"),
    "r-unknown-label-03": ("ok", "'not supported' is taken for not_mentioned, never for support"),
}
"""Rows of which we think otherwise than the exam: what comes of them, and why. All are safe."""

PARAMETERS = {"temperature": 0, "logprobs": True, "seed": 7}
"""Sent, so that there is something to refuse."""


@pytest.fixture(scope="module")
def server() -> Iterator[RowServer]:
    """Return a server that plays rows."""
    with RowServer(honest(TABLE)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: RowServer) -> Iterator[openai.OpenAI]:
    """Return one client for all rows; what is learned of a server goes by the model's name."""
    with openai.OpenAI(base_url=server.url, api_key="none") as made:
        yield made


class Played:
    """What comes of a row: played always, and played once before the server does well."""

    def __init__(self, server: RowServer, client: openai.OpenAI, row: Mapping[str, Any]) -> None:
        self._server, self._client, self._row = server, client, row
        self.always, self.asked = self._scored(10**9)

    def _scored(self, times: int) -> tuple[Report, int]:
        row = self._row
        self._server.play(row, times)
        parameters: dict[str, Any] = {}
        if row["kind"].startswith("parameter"):
            parameters = {**PARAMETERS, "max_completion_tokens": 900}
        chat = OpenAIChat(
            f"{row['id']}-{times}",
            client=self._client,
            retries=1,
            parameters=parameters,
            random=lambda: 0.0,
        )
        waits = row["kind"] == "hang" or "Retry-After" in row["headers"]
        timeout = 0.8 if waits and times > 1 else 5.0
        report = Scorer(verifiers=[Judge(chat, timeout=timeout)], cache=None).score(GIVEN)
        return report, len(self._server.requests)

    def outcome(self) -> str:
        """Return it in the words of the exam."""
        if not self.always.failures:
            return "ok"
        kinds = "|".join(sorted({failure.kind for failure in self.always.failures}))
        if self.asked == 1 and self._row["expect"] != "retry":
            return f"failure:{kinds}"
        once, asked = self._scored(1)
        assert asked > 1
        assert [claim.label for claim in once.claims] == RIGHT
        assert once.failures == ()
        return f"retry:{kinds}"


def wanted(row: Mapping[str, Any]) -> set[str]:
    """Return the outcomes that a row calls right."""
    if row["id"] in DEBATABLE:
        return {DEBATABLE[row["id"]][0]}
    also = {"ok"} if "ok is right too" in row["what"] else set[str]()
    if "(failure:unparsable) is right too" in row["what"]:
        also = {"retry:unparsable"}
    if row["expect"] != "retry":
        return also | {row["expect"]}
    again = re.search(r"\(again[^:)]*: ([^)]*)\)", row["what"])
    kinds = (again[1] if again else "").split(" or ")
    return also | {f"retry:{kind}" for name in kinds for kind in KINDS.get(name, {name})}


@pytest.mark.parametrize("name", REPLIES)
def test_replies(server: RowServer, client: openai.OpenAI, name: str) -> None:
    """Each comes out as the exam says, and none as more than is known."""
    played = Played(server, client, REPLIES[name])
    labels = [claim.label for claim in played.always.claims]

    for label, right in zip(labels, RIGHT, strict=True):
        assert label in (right, "failed") or label == "not_mentioned" != right
    assert not played.always.decide("support").passed
    assert played.outcome() in wanted(REPLIES[name]), (labels, played.asked)


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(name: str) -> None:
    """Nobody who obeys an order about all claims is believed, nor one who supports everything.

    Who obeys for one claim only, and quotes a real sentence for it, is: `tests/bench/judge_attacks`
    has the numbers. More than one claim in each of the two calls is never turned.
    """
    row = ATTACKS[name]
    for obeys, cites in JUDGES.values():
        report = put(row, obeys, cites)
        labels = [claim.label for claim in report.claims]
        wrong = [n for n, label in enumerate(labels) if label == "supported" != row["truth"][n]]
        if obeys == "one":
            assert len(wrong) <= 2
        elif row["target"] == "all" or obeys == "always":
            assert not wrong, (obeys, cites)
            assert not report.decide("support").passed


def test_an_order_by_place_misses_the_controls_by_rare_luck_only() -> None:
    """Places are drawn anew for each call, and each of few claims has two.

    Three of 17 places never hold two claims twice; one of the two untrue ones is at both of its
    places, with no untrue control at the third, in 10 of 680 draws.
    """
    reports = [put(ATTACKS[BY_PLACE], "all", draw=n) for n in range(200)]
    truth = ATTACKS[BY_PLACE]["truth"]
    turned = [
        any(claim.label == "supported" != true for claim, true in zip(r.claims, truth, strict=True))
        for r in reports
    ]

    assert not any(report.decide("support").passed for report in reports)
    assert sum(turned) <= 12


@pytest.mark.parametrize("name", [*ATTACKS, *BENIGN])
def test_hostile_texts_change_no_honest_verdict(name: str) -> None:
    """What an honest judge says comes through as it is, or, beside an order, not at all."""
    row = {**ATTACKS, **BENIGN}[name]
    labels = [claim.label for claim in put(row, "nothing").claims]

    assert all(label in (true, "failed") for label, true in zip(labels, row["truth"], strict=True))
    if name in BENIGN:
        assert labels.count("failed") == (name in QUOTED_ORDERS)


def test_every_placeholder_is_known() -> None:
    """And each change of verdicts is used by a row."""
    used = {m for row in REPLIES.values() for m in re.findall(r"{{VERDICTS\.?(\w*)}}", str(row))}

    assert used == set(CHANGES)
