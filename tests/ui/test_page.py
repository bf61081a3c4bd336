"""The page as a person uses it: by mouse, by keys, by a screen reader; on a wide screen or not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faithguard import Passage
from faithguard.store import Store
from faithguard.ui import Server
from tests.ui.scene import (
    ANSWER,
    HOSTILE,
    NOW,
    TICKETS,
    exchange,
    faithful,
    hostile,
    many,
    mixed,
    record_of,
    repaired,
    rewritten,
    right_to_left,
    scored,
    store_of,
    watched,
    wordy,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

for _name in ("playwright", "axe_playwright_python", "starlette", "uvicorn"):
    pytest.importorskip(_name, reason="pip install 'faithguard[browser]' brings what it needs")

from playwright.sync_api import expect  # noqa: E402

pytestmark = pytest.mark.browser

Visit = Callable[..., "Page"]
Serve = Callable[..., Server]
Shots = Callable[["Page", str], None]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A page over one record of each kind."""
    records = [
        faithful(started_at=NOW - timedelta(days=2), domain="medical", tags=("prompt-6",)),
        hostile(),
        right_to_left(2_000),
        rewritten(),
        repaired(),
        mixed(),
    ]
    with Server(store_of(tmp_path_factory.mktemp("few") / "few.db", records)) as server:
        yield server


@pytest.fixture
def labelling(serve: Serve) -> Server:
    """A page over one record, on which labels are written."""
    return serve([mixed()], label=True)


def rows(page: Page) -> Any:
    """Return the rows of the list."""
    return page.locator(".rows li")


def numbers(page: Page) -> list[int]:
    """Return which records are listed, in order."""
    return [int(row.get_attribute("data-number") or 0) for row in rows(page).all()]


def card(page: Page) -> Any:
    """Return what is said of the chosen claim."""
    return page.get_by_role("region", name="The chosen claim")


# The list


def test_the_list_says_what_became_of_each_answer(few: Server, visit: Visit) -> None:
    """Level, counts, question, claims in signs with words, domain, tag, action."""
    page = visit(few.url)

    expect(rows(page)).to_have_count(6)
    assert numbers(page) == [6, 5, 4, 3, 2, 1]
    first = rows(page).first
    expect(first).to_contain_text("block")
    expect(first).to_contain_text("3 of 6")
    expect(first).to_contain_text("When is the mill museum open")
    expect(first).to_contain_text("1 contradicted")
    expect(first).to_contain_text("held back")
    expect(page.get_by_text("6 answers")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("live")


@pytest.mark.parametrize(
    ("title", "choice", "found"),
    [
        ("Domain", "medical", [1]),
        ("Level", "block", [6, 2]),
        ("Outcome", "abstained", []),
        ("Claims", "not mentioned", [6]),
        ("Cause", "truncation", [6]),
        ("Tag", "prompt-6", [1]),
        ("Time", "the last hour", []),
    ],
)
def test_a_filter_leaves_what_it_says(
    few: Server, visit: Visit, title: str, choice: str, found: list[int]
) -> None:
    """It stands in the address, so that it can be shared and comes back with a reload."""
    page = visit(few.url)
    box = page.get_by_label(title, exact=True)
    expect(box.locator("option", has_text=choice).first).to_be_attached()
    box.select_option(label=choice)

    expect(rows(page)).to_have_count(len(found))
    assert numbers(page) == found
    page.reload()
    expect(page.get_by_label(title, exact=True).locator("option:checked")).to_have_text(choice)
    expect(rows(page)).to_have_count(len(found))
    if not found:
        expect(page.get_by_text("No answer is like that")).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(rows(page)).to_have_count(6)


def test_a_range_of_time_filters(few: Server, visit: Visit) -> None:
    """By the machine's own clock."""
    page = visit(few.url, timezone_id="Asia/Kolkata")
    page.get_by_label("Time", exact=True).select_option(label="from … to …")
    page.get_by_label("To", exact=True).fill("2026-03-13T00:00")

    expect(rows(page)).to_have_count(1)
    assert numbers(page) == [1]


def test_a_search_filters_while_it_is_typed(few: Server, visit: Visit) -> None:
    """The cursor stays where it is, and no letter gets lost."""
    page = visit(few.url)
    page.keyboard.press("/")
    page.keyboard.type("closed on mondays", delay=15)

    expect(rows(page)).to_have_count(1)
    box = page.get_by_role("searchbox")
    expect(box).to_be_focused()
    expect(box).to_have_value("closed on mondays")


def test_new_answers_appear_by_themselves(serve: Serve, visit: Visit, shots: Shots) -> None:
    """From the first one on, by time, and only those that the filters leave."""
    server = serve([])
    path = server.store.path
    page = visit(server.url)
    expect(page.get_by_text("Nothing recorded yet")).to_be_visible()
    shots(page, "empty")
    store_of(path, [faithful()])
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_text("Nothing recorded yet")).to_be_hidden()
    older = faithful(id="older", started_at=NOW - timedelta(hours=3))
    store_of(path, [mixed(), older])
    expect(rows(page)).to_have_count(3)
    assert numbers(page) == [2, 1, 3]
    page.get_by_label("Level", exact=True).select_option(label="block")
    expect(rows(page)).to_have_count(1)
    store_of(path, [faithful(), mixed()])
    expect(rows(page)).to_have_count(2)
    assert numbers(page) == [5, 2]
    expect(page.locator(".total")).to_have_text("2 answers of this kind")


def test_a_long_list_grows_by_scrolling(serve: Serve, visit: Visit) -> None:
    """Each row once, and new ones on top meanwhile."""
    server = serve(list(many(180)))
    path = server.store.path
    page = visit(server.url)
    expect(rows(page)).to_have_count(50)
    store_of(path, [faithful(started_at=NOW + timedelta(days=1))])
    expect(rows(page)).to_have_count(51)
    for _ in range(12):
        page.mouse.wheel(0, 3_000)
        page.wait_for_timeout(60)
    expect(rows(page)).to_have_count(181)
    assert numbers(page) == list(range(181, 0, -1))


def test_the_list_is_found_as_it_was_left(serve: Serve, visit: Visit) -> None:
    """The place, and the row that was opened."""
    server = serve(list(many(90)))
    page = visit(server.url)
    page.mouse.wheel(0, 3_000)
    expect(rows(page)).to_have_count(90)
    rows(page).nth(60).locator("a").click()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    page.go_back()
    expect(rows(page)).to_have_count(90)
    expect(rows(page).nth(60).locator("a")).to_be_focused()
    expect(rows(page).nth(60)).to_be_in_viewport()


def test_the_server_going_away_is_said(tmp_path: Path, browser: Any) -> None:
    """In words, at the top; what is shown stays."""
    path = store_of(tmp_path / "r.db", [faithful()])
    page = browser.new_page()  # not `visit`: the browser tells its console of the lost server
    with Server(path) as server:
        page.goto(server.url)
        expect(page.get_by_role("status")).to_have_text("live")
    expect(page.get_by_role("status")).to_contain_text("cannot be reached")
    expect(rows(page)).to_have_count(1)
    page.close()


# An answer


def test_a_claim_lights_its_evidence(few: Server, visit: Visit) -> None:
    """A click on its words shows verdict, reason, probability, cause and verifier."""
    page = visit(f"{few.url}#/answer/6")
    page.get_by_text("The great wheel was built in 1788.").first.click()

    lit = page.locator(".lit.on")
    expect(lit).to_have_text(re.compile("The great wheel was built in 1788"))
    assert lit.locator("xpath=ancestor::article[1]").get_attribute("aria-label") == "Passage 3"
    expect(card(page)).to_contain_text("supported")
    page.get_by_text("Guided tours start at 11:00 and last 90 minutes.").first.click()
    expect(lit).to_have_text("Guided tours start at 11:00 and at 14:00 and last 45 minutes.")
    for told in (
        "contradicted",
        "2.0%",
        "generation",
        "dates_times@7",
        "Passage 1, visit/hours.md",
    ):
        expect(card(page)).to_contain_text(told)
    reason = mixed().report.claims[2].reason
    expect(card(page)).to_contain_text(reason)


def test_the_answer_is_shown_to_the_letter(few: Server, visit: Visit) -> None:
    """With a handle before each claim, which has its number and verdict in words."""
    page = visit(f"{few.url}#/answer/6")
    pieces = page.locator(".answer .piece").all_text_contents()

    assert "".join(pieces) == ANSWER
    expect(page.get_by_role("button", name="Claim 3, contradicted", exact=True)).to_be_visible()
    # what is no fact has no handle, and says so in the list of claims
    expect(page.locator(".marker")).to_have_count(6)
    expect(page.locator(".claims li").last).to_contain_text(re.compile("not checked.*question"))


def test_the_claim_that_needs_a_look_is_chosen_first(few: Server, visit: Visit) -> None:
    """Nobody has to search for the sentence that is made up."""
    page = visit(f"{few.url}#/answer/6")

    expect(card(page)).to_contain_text("last 90 minutes")
    expect(page.locator(".lit.on")).to_have_count(1)


def test_what_never_reached_the_prompt_is_marked(few: Server, visit: Visit) -> None:
    """In words, on the passage, and in the course of things."""
    page = visit(f"{few.url}#/answer/6")

    expect(page.get_by_role("article", name="Passage 4")).to_contain_text(
        "never reached the prompt"
    )
    for number in (1, 2, 3):
        seen = page.get_by_role("article", name=f"Passage {number}")
        expect(seen).not_to_contain_text("never reached")
    expect(page.locator(".steps")).to_contain_text("1 never reached the prompt")


def test_how_it_went_is_told(few: Server, visit: Visit) -> None:
    """Hops in order, timings, calls, cost, versions."""
    page = visit(f"{few.url}#/answer/6")
    steps = page.locator(".steps li").all_text_contents()

    assert steps[0].startswith("The retriever brings 3 passages")
    assert steps[1] == "A model call"
    assert steps[2].startswith("A tool brings 1 passage")
    assert steps[3].startswith("The model writes the answer")
    assert steps[4] == "3 of 6 claims supported"
    assert steps[5].startswith("Held back")
    course = page.locator(".course")
    for told in ("1.31 s", "42 ms", "0 model calls", "$0.00042", "local-claims@"):
        expect(course).to_contain_text(told)


def test_what_was_only_scored_or_watched_was_not_held_back(
    serve: Serve, visit: Visit, shots: Shots
) -> None:
    """In the list, above the answer, and at the end of its course."""
    server = serve([scored(), watched(), mixed()])
    page = visit(server.url)
    expect(rows(page)).to_have_count(3)
    said = {number: page.locator(f'[data-number="{number}"] .row-meta') for number in (1, 2, 3)}
    expect(said[1]).to_contain_text("not passed")
    expect(said[2]).to_contain_text("not passed, not held back")
    expect(said[3]).to_contain_text("held back")
    expect(said[3]).not_to_contain_text("not")
    shots(page, "became")
    for number, words in ((1, "Not passed"), (2, "Not passed, not held back"), (3, "Held back")):
        page.goto(f"{server.url}#/answer/{number}")
        expect(page.locator("h1 .verdict")).to_have_text(words)
        expect(page.locator("h1 .level")).to_have_text("■block")
        expect(page.locator(".steps li").last.locator("span").first).to_have_text(words)


def test_what_took_no_time_that_is_known_has_no_table_of_it(serve: Serve, visit: Visit) -> None:
    """A heading over nothing would be read out."""
    server = serve([scored(), mixed()])
    page = visit(f"{server.url}#/answer/1")
    expect(page.get_by_role("heading", name="What it took")).to_be_visible()
    expect(page.get_by_role("table")).to_have_count(0)
    page.goto(f"{server.url}#/answer/2")
    expect(page.get_by_role("table", name="Seconds by stage")).to_have_count(1)


def test_a_record_without_a_question_says_how_to_have_one(serve: Serve, visit: Visit) -> None:
    """And one that has a question says nothing of the kind."""
    server = serve([mixed(question=None), mixed()])
    page = visit(f"{server.url}#/answer/1")
    told = page.get_by_text("No question was recorded")
    expect(told).to_contain_text('@guarded(question="…")')
    page.goto(f"{server.url}#/answer/2")
    expect(page.get_by_role("heading", name="Question")).to_be_visible()
    expect(told).to_have_count(0)


def test_a_passage_without_a_source_says_its_origin_once(serve: Serve, visit: Visit) -> None:
    """As those have none that are handed to `check`."""
    page = visit(f"{serve([record_of(exchange('Yes.', Passage(text='Yes.')))]).url}#/answer/1")
    head = page.get_by_role("article", name="Passage 1").locator("header")

    expect(head).to_have_text("1caller")


@pytest.mark.parametrize("width", [1280, 400])
def test_an_endless_word_makes_no_endless_page(
    serve: Serve, visit: Visit, shots: Shots, width: int
) -> None:
    """Wherever it stands; what is a text of its own can be unfolded, to the letter."""
    page = visit(f"{serve([wordy()]).url}#/answer/1", viewport={"width": width, "height": 900})
    expect(page.locator(".answer")).to_be_visible()

    height = "document.documentElement.scrollHeight"
    assert page.evaluate(height) < 9_000  # of 18 places in which it stands, and 14 kB a screen
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shots(page, f"wordy-{width}")
    page.locator(".claims button").first.click()
    assert page.evaluate(height) < 9_000
    page.locator(".answer").get_by_role("button", name="Show all of it").click()
    assert page.evaluate(height) > 9_000
    assert "".join(page.locator(".answer .piece").all_text_contents()) == "W" * 20_000


def test_a_claim_in_what_is_folded_is_unfolded(serve: Serve, visit: Visit) -> None:
    """To be lit where nobody sees it would be no use."""
    answer = f"{'W' * 5_000}. A ticket costs 12 EUR."
    page = visit(f"{serve([record_of(exchange(answer, TICKETS))]).url}#/answer/1")
    expect(page.locator(".answer.long")).to_have_count(1)
    claims = page.locator(".claims button")
    claims.filter(has_text="12 EUR").click()

    expect(page.locator(".answer.long")).to_have_count(0)
    expect(page.locator(".piece.on").last).to_be_in_viewport()


def test_attempts_can_be_looked_at(few: Server, visit: Visit, shots: Shots) -> None:
    """Each with its own claims; and what changed, word by word."""
    page = visit(f"{few.url}#/answer/4")
    expect(page.locator(".answer")).to_contain_text("9 EUR")
    diff = page.locator(".diff")
    expect(diff.locator("del").first).to_have_text("12")
    expect(diff.locator("ins").first).to_have_text("9")
    shots(page, "attempts")
    page.get_by_role("button", name="Attempt 1").click()

    expect(page.locator(".answer")).to_contain_text("12 EUR")
    expect(card(page)).not_to_contain_text("✓")
    expect(page.get_by_role("button", name="Attempt 1")).to_have_attribute("aria-pressed", "true")


def test_a_repair_shows_its_difference_and_evidence(few: Server, visit: Visit) -> None:
    """What was taken out and put in, and the words that say so."""
    page = visit(f"{few.url}#/answer/5")
    repairs = page.locator(".repairs")

    expect(repairs.locator("del")).to_have_text("12")
    expect(repairs.locator("ins")).to_have_text("9")
    expect(repairs).to_contain_text("A ticket costs 9 EUR")


def test_keys_lead_through_claims_and_answers(few: Server, visit: Visit) -> None:
    """Right and left, j and k, and Escape back to the list."""
    page = visit(few.url)
    expect(rows(page)).to_have_count(6)
    page.keyboard.press("j")
    expect(rows(page).first.locator("a")).to_be_focused()
    page.keyboard.press("Enter")
    expect(card(page)).to_contain_text("3 of 7")
    page.keyboard.press("ArrowRight")
    expect(card(page)).to_contain_text("4 of 7")
    expect(page.locator("#said")).to_contain_text("claim 4 of 7")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    expect(card(page)).to_contain_text("2 of 7")
    page.keyboard.press("j")
    expect(page.locator(".repairs")).to_be_visible()
    page.keyboard.press("k")
    expect(card(page)).to_contain_text("3 of 7")
    page.keyboard.press("Escape")
    expect(rows(page)).to_have_count(6)


def test_a_claim_is_not_hidden_by_its_card(few: Server, visit: Visit) -> None:
    """On a small screen, where the card stays in sight, neither its words nor its handle are."""
    page = visit(f"{few.url}#/answer/6", viewport={"width": 400, "height": 700})
    for number, word in ((6, "not mentioned"), (1, "supported"), (5, "not mentioned")):
        handle = page.get_by_role("button", name=f"Claim {number}, {word}", exact=True)
        handle.focus()
        page.keyboard.press("Enter")
        expect(card(page)).to_contain_text(f"{number} of 7")
        expect(card(page)).to_be_in_viewport()
        top = page.evaluate("document.querySelector('.card').getBoundingClientRect().top")
        for part in (page.locator(".piece.on"), handle):
            box = part.bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= top, number


def test_handles_are_reached_by_tab(few: Server, visit: Visit) -> None:
    """And pressed by Enter and Space, as buttons are."""
    page = visit(f"{few.url}#/answer/6")
    page.get_by_role("button", name="Claim 1, supported", exact=True).focus()
    page.keyboard.press("Enter")
    expect(card(page)).to_contain_text("1 of 7")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Claim 2, supported", exact=True)).to_be_focused()
    page.keyboard.press("Space")
    expect(card(page)).to_contain_text("2 of 7")


def test_keys_are_told_and_can_be_turned_off(few: Server, visit: Visit, shots: Shots) -> None:
    """Speech input presses single keys; who uses it turns them off."""
    page = visit(f"{few.url}#/answer/6")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("the next claim")
    shots(page, "keys")
    dialog.get_by_role("checkbox").uncheck()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    page.keyboard.press("?")

    expect(dialog).to_be_hidden()
    expect(card(page)).to_contain_text("3 of 7")
    page.get_by_role("button", name="Keys").click()
    expect(dialog).to_be_visible()


def test_an_answer_that_is_gone_is_said(few: Server, browser: Any) -> None:
    """In words, in place of it."""
    page = browser.new_page()
    page.goto(f"{few.url}#/answer/999")

    expect(page.get_by_role("alert")).to_contain_text("no record 999")
    page.close()


def test_records_without_texts_are_shown(serve: Serve, visit: Visit) -> None:
    """Verdicts and counts, where the user keeps no texts."""
    from faithguard.sinks import SqliteSink

    server = serve([])
    SqliteSink(server.store.path, texts=False).write(mixed())
    page = visit(server.url)
    expect(rows(page).first).to_contain_text("3 of 6")
    rows(page).first.locator("a").click()
    expect(page.locator(".answer")).to_contain_text("no text was kept")
    expect(page.locator(".claims li")).to_have_count(7)


# Labels


def test_one_key_labels_a_verdict(labelling: Server, visit: Visit, shots: Shots) -> None:
    """`a` agrees, `d` disagrees; it is written at once, and shown again after a reload."""
    page = visit(f"{labelling.url}#/answer/1")
    expect(card(page)).to_contain_text("3 of 7")
    page.keyboard.press("d")
    expect(page.locator(".claims li").nth(2)).to_contain_text("you disagree")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("a")
    expect(page.locator(".claims li").nth(3)).to_contain_text("you agree")
    page.keyboard.press("ArrowLeft")
    page.get_by_label("Why").fill("the tour takes longer in winter")
    page.keyboard.press("Enter")
    shots(page, "labelled")
    with Store(labelling.store.path) as store:
        deadline = 100
        while not (said := store.labels(1)) or not said[0].note:
            page.wait_for_timeout(20)
            deadline -= 1
            assert deadline, said

    assert [(one.claim, one.agree, one.note) for one in said] == [
        (2, False, "the tour takes longer in winter"),
        (3, True, ""),
    ]
    page.reload()
    expect(page.get_by_role("button", name="Disagree", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.goto(labelling.url)
    expect(rows(page).first).to_contain_text("2 labelled")


def test_labels_of_others_are_shown(labelling: Server, visit: Visit) -> None:
    """With their names, beside my own."""
    with Store(labelling.store.path, read_only=False) as store:
        store.label(1, 2, False, "it is not", author="Ann")
    page = visit(f"{labelling.url}#/answer/1")
    expect(card(page)).to_contain_text("Labelled: disagreed (Ann): it is not")
    expect(page.locator(".claims li").nth(2)).to_contain_text("Ann disagrees")
    page.keyboard.press("a")
    expect(page.locator(".claims li").nth(2)).to_contain_text("you agree, Ann disagrees")
    expect(card(page)).to_contain_text("Labelled: disagreed (Ann): it is not")


def test_a_label_can_be_changed_by_its_button(labelling: Server, visit: Visit) -> None:
    """The last word counts."""
    page = visit(f"{labelling.url}#/answer/1")
    page.get_by_role("button", name="Disagree", exact=True).click()
    expect(page.get_by_role("button", name="Disagree", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    page.get_by_role("button", name="Agree", exact=True).click()
    expect(page.get_by_role("button", name="Agree", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    with Store(labelling.store.path) as store:
        assert [one.agree for one in store.labels(1)] == [True]


def test_without_label_there_is_nothing_to_press(few: Server, visit: Visit) -> None:
    """The page only reads."""
    page = visit(f"{few.url}#/answer/6")
    page.keyboard.press("a")

    expect(card(page)).to_be_visible()
    expect(page.get_by_role("button", name="Agree", exact=True)).to_have_count(0)


# Hostile texts


@pytest.mark.parametrize(
    "address", ["", "#/answer/2", "#/figures", "#/compare?a.tag=<b>tag</b>&b.tag=x"]
)
def test_hostile_texts_are_shown_as_text(few: Server, visit: Visit, address: str) -> None:
    """Script tags, links, styles, escapes and huge words: no effect, no wider page."""
    page = visit(few.url + address)
    page.wait_for_timeout(200)
    if address == "#/answer/2":
        page.get_by_role("button", name="Claim 1").click()
        expect(page.locator(".question")).to_contain_text("<script>window.hurt = 1</script>")
        expect(page.locator(".answer")).to_contain_text(r"\x1b[31mred\x1b[0m")
        expect(page.locator(".answer")).to_contain_text(r"\u202egnp.exe\u202c")
        expect(card(page)).to_contain_text("the context")
        shown = "".join(page.locator(".answer .piece").all_text_contents())
        assert "W" * 5_000 in shown
        assert len(shown) > len(HOSTILE)

    assert page.evaluate("window.hurt") is None
    assert (
        page.evaluate("document.querySelectorAll('main script, main style, main iframe').length")
        == 0
    )
    links = page.evaluate(
        "[...document.querySelectorAll('main a')].map(a => a.getAttribute('href'))"
    )
    assert all(link.startswith("#/") for link in links)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


TRIES = """async (url) => {
  const said = JSON.stringify({ number: 1, claim: 0, agree: true });
  const options = [
    {}, { mode: "no-cors" }, { method: "POST", mode: "no-cors", body: said },
    { method: "POST", body: said, headers: { "content-type": "application/json" } },
  ];
  const found = [];
  for (const path of ["", "main.js", "api/page", "api/label"]) {
    for (const one of options) {
      found.push(await fetch(url + path, one).then((got) => got.text(), () => ""));
    }
  }
  for (const [tag, name, path] of [
    ["script", "src", "main.js"], ["img", "src", "icon.svg"], ["iframe", "src", ""],
    ["link", "href", "style.css"],
  ]) {
    const element = document.createElement(tag);
    element[name] = url + path;
    if (tag === "link") element.rel = "stylesheet";
    const loaded = new Promise((done) => {
      element.onload = () => done(tag === "iframe" ? "" : `${tag} loads`);
      element.onerror = () => done("");
    });
    document.body.append(element);
    found.push(await loaded);
  }
  return found;
}"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """The address of somebody else's page on this machine."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>elsewhere</title>", "utf-8")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Keep the terminal clean."""

    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def test_a_page_of_another_origin_gets_and_writes_nothing(
    labelling: Server, browser: Any, elsewhere: str
) -> None:
    """Even if it knows the token: the browser says where it comes from."""
    page = browser.new_page()  # not `visit`: the browser tells its console of each refusal
    answered: set[int] = set()
    page.on("response", lambda got: got.url.startswith(labelling.url) and answered.add(got.status))
    page.goto(elsewhere)
    found = page.evaluate(TRIES, labelling.url)
    page.close()

    assert set(found) == {""}
    assert answered == {403}
    with Store(labelling.store.path) as store:
        assert store.labels(1) == ()


# Figures


def test_figures_are_drawn_and_can_be_read(serve: Serve, visit: Visit, shots: Shots) -> None:
    """Passing over time with its interval, claims, causes, levels, latency; each also in words."""
    server = serve(list(many(240)))
    page = visit(f"{server.url}#/figures")
    with Store(server.store.path) as store:
        figures, series = store.tally(), store.series()
    headline = page.locator(".headline")
    expect(headline).to_contain_text(f"{figures.passed / figures.stating * 100:.1f}%")
    expect(headline).to_contain_text("240 answers recorded")
    chart = page.get_by_role("img", name=re.compile("Share of passing answers"))
    expect(chart).to_be_visible()
    expect(chart.locator("circle")).to_have_count(len(series))
    expect(chart.locator(".band")).to_have_count(1)
    page.get_by_text("The numbers").click()
    table = page.get_by_role("table", name="By the day")
    expect(table.locator("tbody tr")).to_have_count(len(series))
    low, high = series[0].interval or (0, 0)
    expect(table.locator("tbody tr").first).to_contain_text(
        f"{low * 100:.1f}% to {high * 100:.1f}%"
    )
    chart.hover(position={"x": 60, "y": 100})
    expect(page.locator(".readout")).to_contain_text(f"{series[0].passed} of")
    counted = page.get_by_role("table", name="Claims by label")
    for label, number in figures.claims.items():
        expect(counted).to_contain_text(label.replace("_", " "))
        expect(counted).to_contain_text(f"{number:,}")
    expect(page.get_by_role("table", name="Unsupported claims by cause")).to_contain_text(
        "retrieval"
    )
    levels = page.get_by_role("table", name="Answers by domain and level")
    expect(levels.locator("tbody tr")).to_have_count(4)
    expect(page.get_by_role("table", name="Seconds of all stages")).to_contain_text("half within")
    shots(page, "figures")


def test_the_slider_says_what_would_pass(serve: Serve, visit: Visit) -> None:
    """By mouse and by keys, with the numbers of the store."""
    server = serve(list(many(60)))
    with Store(server.store.path) as store:
        scores = store.scores()
    page = visit(f"{server.url}#/figures")
    slider = page.get_by_role("slider", name="Threshold")
    for value in (0.25, 0.0, 1.0):
        slider.fill(str(int(value * 200)))
        expect(page.locator("output")).to_contain_text(
            f"{scores.passing(value)} of {scores.stating} would pass"
        )
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("output")).to_contain_text("safe from 0.995")


def test_figures_are_of_what_the_filters_leave(few: Server, visit: Visit) -> None:
    """And say so where that is nothing."""
    page = visit(f"{few.url}#/figures")
    page.get_by_label("Level", exact=True).select_option(label="block")
    expect(page.locator(".headline")).to_contain_text("0.0%")
    expect(page.locator(".headline")).to_contain_text("of 2 answers pass")
    page.get_by_label("Outcome", exact=True).select_option(label="abstained")
    expect(page.get_by_text("There is nothing to count here")).to_be_visible()


def test_two_tags_stand_side_by_side(serve: Serve, visit: Visit, shots: Shots) -> None:
    """What became better and worse, question by question."""
    records = [
        mixed(tags=("prompt-7",)),
        faithful(tags=("prompt-8",), started_at=NOW + timedelta(days=1)),
        record_of(exchange("A ticket costs 9 EUR.", *mixed().exchange.passages, question="Price?")),
    ]
    records.append(
        replace(records[2], exchange=replace(records[2].exchange, tags=("prompt-8",), id="x9"))
    )
    server = serve(records)
    page = visit(f"{server.url}#/compare")
    expect(page.locator(".outcome")).to_contain_text("2 questions on both sides")
    expect(page.locator(".outcome")).to_contain_text("1 better")
    expect(page.locator(".outcome")).to_contain_text("0 worse")
    expect(page.locator(".outcome")).to_contain_text("+50.0 points")
    table = page.get_by_role("table", name="Questions side by side")
    expect(table.locator("tbody tr")).to_have_count(1)
    expect(table.locator("tbody tr")).to_contain_text("When is the mill museum open")
    shots(page, "compare")
    page.get_by_label("Also what stayed the same").check()
    expect(table.locator("tbody tr")).to_have_count(2)
    tag = page.get_by_role("group", name="B").get_by_label("Tag")
    tag.focus()
    tag.select_option("")
    expect(page.get_by_role("heading", name="Choose two sides")).to_be_visible()
    expect(tag).to_be_focused()
    page.get_by_role("group", name="B").get_by_label("From").fill("2026-03-15T00:00")
    expect(page.locator(".outcome")).to_contain_text("1 question on both sides")
    table.get_by_role("link").first.click()
    expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()


# Looks


VIEWS = {
    "list": "",
    "mixed": "#/answer/6",
    "hostile": "#/answer/2",
    "rtl": "#/answer/3",
    "repaired": "#/answer/5",
    "figures": "#/figures",
    "compare": "#/compare?a.tag=prompt-7&b.tag=prompt-6",
    "error": "#/compare?a.tag=prompt-7&b.tag=none",
}


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_is_accessible_and_fits(
    few: Server, visit: Visit, shots: Shots, name: str
) -> None:
    """No finding of axe, contrast included; nothing wider than the screen, wide or narrow."""
    from axe_playwright_python.sync_playwright import Axe

    # axe sets markup of its own, which the page's policy forbids
    page = visit(
        few.url + VIEWS[name],
        reduced_motion="reduce",
        bypass_csp=True,
    )
    for width, scheme in product((1280, 400), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(250)
        shots(page, f"{name}-{width}-{scheme}")
        found = Axe().run(page).response["violations"]

        told = [(one["id"], [node["html"][:120] for node in one["nodes"][:3]]) for one in found]
        assert told == [], (width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, scheme)


@pytest.mark.parametrize("width", [1280, 400])
def test_a_long_answer_from_right_to_left(
    serve: Serve, visit: Visit, shots: Shots, width: int
) -> None:
    """20 kB of Arabic: from the right, to the letter, and no wider than the screen."""
    record = right_to_left()
    assert len(record.exchange.answer) > 19_000
    page = visit(f"{serve([record]).url}#/answer/1", viewport={"width": width, "height": 900})

    shown = "".join(page.locator(".answer .piece").all_text_contents())
    assert shown == record.exchange.answer
    box = page.locator(".answer .text").bounding_box()
    first = page.locator(".answer .piece").first.bounding_box()
    assert box is not None
    assert first is not None
    assert first["x"] + first["width"] > box["x"] + box["width"] - 60
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shots(page, f"long-{width}")
    expect(page.locator(".claims li:visible")).to_have_count(0)
    page.get_by_role("button", name=re.compile("Show all 3")).click()
    expect(page.locator(".claims li:visible")).to_have_count(len(record.report.claims))
