"""What a person sees of a report, in a terminal and in a notebook."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from faithguard._render import html, terminal, visible
from faithguard.types import (
    Claim,
    Evidence,
    Exchange,
    Failure,
    Label,
    Passage,
    Record,
    Repair,
    Report,
    Usage,
    Verdict,
)

ANSWER = (
    "The Marlow orchard was planted in 1962. It grows pears, and it has 40 hives.\n"
    "- A basket costs €4.\n"
    "- Dogs are welcome.\n"
    "Enjoy your visit!"
)
PASSAGES = (
    Passage(text="Planted in 1962, the orchard grows apples only.", source="orchard.md"),
    Passage(text="There are 40 hives behind the barn.", source="bees.md", seen=False),
    Passage(text="Dogs may come in. Dogs must stay outside."),
)

HOSTILE = (
    "[bold red]loud[/bold red] [/] \x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J "
    "<script>alert(1)</script></div><img src=x onerror=alert(2)> \u202egnp.exe\u202c "
    "\u2066iso\u2069 zero\u200bwidth \x00 \u2028 :bomb: & \"double\" 'single' \U000e0041"
)


def quoted(passage: int, quote: str) -> Evidence:
    """Return evidence for a quote of a passage."""
    start = PASSAGES[passage].text.index(quote)
    return Evidence(passage=passage, start=start, end=start + len(quote), quote=quote)


def stated(number: int, text: str, label: Label, **more: object) -> Claim:
    """Return a claim that stands in the answer."""
    start = ANSWER.index(text)
    fields = {"id": f"c{number}", "text": text, "span": (start, start + len(text)), "label": label}
    return Claim(**(fields | more))  # type: ignore[arg-type]


CLAIMS = (
    stated(
        1,
        "The Marlow orchard was planted in 1962.",
        "supported",
        evidence=(quoted(0, "Planted in 1962"),),
    ),
    stated(
        2,
        "It grows pears",
        "contradicted",
        evidence=(quoted(0, "apples only"),),
        reason="apples are not pears",
        cause="generation",
    ),
    stated(
        3,
        "it has 40 hives.",
        "not_mentioned",
        evidence=(quoted(1, "There are 40 hives"),),
        cause="truncation",
    ),
    stated(4, "A basket costs €4.", "failed", reason="no verdict after 2 s"),
    stated(
        5,
        "Dogs are welcome.",
        "conflicting",
        evidence=(quoted(2, "Dogs may come in."), quoted(2, "Dogs must stay outside.")),
    ),
    stated(6, "Enjoy your visit!", "not_checked", kind="courtesy"),
)


def made(claims: tuple[Claim, ...] = CLAIMS, **changes: object) -> Report:
    """Return a report of claims, with some fields changed."""
    facts = [claim for claim in claims if claim.kind == "fact"]
    supported = sum(claim.supported for claim in facts)
    report = Report(
        outcome="scored" if facts else "no_claims",
        score=supported / len(facts) if facts else None,
        bounds=None,
        supported=supported,
        total=len(facts),
        claims=claims,
        failures=(),
        versions={"claims": "sentences@1", "verifier": "rules@3"},
        usage=Usage(calls=1, seconds=0.25),
        exchange=Exchange(id="e1", answer=ANSWER, passages=PASSAGES),
    )
    return replace(report, **changes)  # type: ignore[arg-type]


def asked(report: Report, **changes: object) -> Report:
    """Return the report with some fields of its exchange changed."""
    return replace(report, exchange=replace(report.exchange, **changes))  # type: ignore[arg-type]


class Stream(io.StringIO):
    """A text stream of any encoding, as `sys.stdout` is one."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """What the stream can hold."""
        return self._encoding


def printed(report: Report, *, width: int = 100, encoding: str = "utf-8", **console: object) -> str:
    """Return what rich prints of a report."""
    stream = Stream(encoding)
    Console(file=stream, width=width, **console).print(report)  # type: ignore[arg-type]
    return stream.getvalue()


def flat(text: str) -> str:
    """Return text without line breaks and rows of spaces, as one reads it."""
    return " ".join(text.split())


class Reader(HTMLParser):
    """Read a fragment as a browser does: its tags, its attributes and the text shown."""

    void = frozenset({"br"})

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost tag is closed."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect what is shown."""
        self.text += data


# The headline


def test_the_headline_gives_both_counts_the_score_and_the_level() -> None:
    """A score never stands without its counts, nor a level without its domain."""
    report = made(CLAIMS[:3], supported=3, total=4, score=0.75)

    first = printed(report).splitlines()[0]

    assert "3 of 4 claims supported: 0.75" in first
    assert "warning for customer_support" in first
    assert "3 of 4 claims supported: 0.75" in Reader(html(report)).text
    assert "warning for customer_support" in Reader(html(report)).text


def test_the_level_is_that_of_the_domain_of_the_exchange() -> None:
    """The same score is graded by the thresholds of the report's own domain."""
    report = asked(made(CLAIMS[:1], supported=3, total=4, score=0.75), domain="conversational")

    assert "safe for conversational (safe from 0.7)" in flat(printed(report))


@pytest.mark.parametrize("view", [printed, html])
def test_an_unknown_domain_is_said_and_does_not_break_the_view(view: object) -> None:
    """Showing a report cannot fail for a domain that no policy knows."""
    shown = view(asked(made(), domain="astrology"))  # type: ignore[operator]

    assert "no decision: unknown domain" in flat(shown)
    assert "astrology" in shown
    assert "The Marlow orchard" in shown


def test_bounds_are_shown_where_the_score_is_open() -> None:
    """An incomplete check shows the range that the score can still take, and what is missing."""
    failure = Failure(kind="timeout", stage="judge@2", message="no verdict after 2 s", claim="c4")
    report = made(outcome="incomplete", score=None, bounds=(0.4, 0.6), failures=(failure,))

    shown = flat(printed(report))

    assert "incomplete" in shown
    assert "2 of 5 claims supported: between 0.40 and 0.60" in shown
    assert "verdict missing (timeout, judge@2): no verdict after 2 s" in shown


@pytest.mark.parametrize(
    ("supported", "total", "shown"),
    [(1999, 2000, "0.9995"), (2000, 2000, "1.00"), (8499, 10_000, "0.8499"), (6, 7, "0.86")],
)
def test_rounding_lifts_no_score_over_a_threshold(supported: int, total: int, shown: str) -> None:
    """A score below a mark is shown below it."""
    report = made(supported=supported, total=total, score=supported / total)

    assert f"claims supported: {shown} ·" in printed(report)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("abstained", "the answer says that it does not know"),
        ("no_claims", "states nothing that can be checked"),
        ("no_context", "nothing to check the claims against"),
        ("failed", "no verdict could be had"),
    ],
)
def test_an_outcome_without_a_score_is_said_in_words(outcome: str, words: str) -> None:
    """No score is invented where there is none."""
    report = made(CLAIMS[5:], outcome=outcome, score=None, supported=0, total=0)

    assert words in flat(printed(report))
    assert "claims supported" not in printed(report)
    assert words in Reader(html(report)).text


def test_context_that_was_taken_from_the_prompt_is_named() -> None:
    """Who reads a score learns that no retrieval was seen."""
    assert "no retrieval was seen" in printed(asked(made(), context_source="prompt"))


def test_what_made_the_numbers_is_named() -> None:
    """Versions and cost stand below the claims."""
    shown = printed(made())

    assert "claims sentences@1 · verifier rules@3 · 1 model call · 0.25 s" in shown


# The claims


def test_every_verdict_has_a_sign_and_a_word() -> None:
    """Without any colour, each claim tells its verdict in the answer and in the table."""
    shown = printed(made())

    assert "[✓1] The Marlow orchard was planted in 1962. [✗2] It grows pears, and [?3]" in shown
    assert "[∅4] A basket costs €4." in shown
    assert "[!5] Dogs are welcome." in shown
    assert "[–6] Enjoy your visit!" in shown
    for verdict in ("✓ supported", "✗ contradicted", "? not mentioned", "∅ failed"):
        assert verdict in shown
    assert "! conflicting" in shown
    assert "– not checked" in shown

    listed = printed(made(), width=60)
    for verdict in ("supported", "contradicted: apples", "not mentioned", "failed: no verdict"):
        assert f"\n     {verdict}" in listed
    assert "\n     not checked (courtesy)\n" in listed


def test_a_terminal_gets_colour_and_no_color_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colour is added in a terminal; NO_COLOR leaves the signs and the words."""
    colour = re.compile(r"\x1b\[[\d;]*3\d[\d;]*m")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert colour.search(printed(made(), force_terminal=True))

    monkeypatch.setenv("NO_COLOR", "1")
    plain = printed(made(), force_terminal=True)
    assert not colour.search(plain)
    assert "✗" in plain


def test_a_pipe_gets_no_terminal_sequences() -> None:
    """What is not a terminal gets text only."""
    assert "\x1b" not in printed(made())


def test_evidence_is_quoted_with_passage_source_and_whether_it_was_seen() -> None:
    """A reader finds the quote, the place, the reason and whose fault it was."""
    shown = flat(printed(made(CLAIMS[:3]), width=70))
    assert "“apples only” (passage 1, orchard.md)" in shown
    assert "“There are 40 hives” (passage 2, bees.md; never reached the prompt)" in shown
    assert "apples are not pears cause: generation (the model went against or beyond" in shown
    assert "cause: truncation (a passage that says so never reached the prompt)" in shown

    text = Reader(html(made(CLAIMS[:3]))).text
    assert "“apples only” passage 1, orchard.md" in text
    assert "passage 2, bees.md; never reached the prompt" in text
    assert "never reached the prompt" in flat(printed(made(CLAIMS[:3]), width=200))


def test_a_quote_that_stands_nowhere_is_called_out() -> None:
    """A view does not lend its look to evidence that is not in the passages."""
    forged = Evidence(passage=0, start=0, end=6, quote="grows pears and plums")
    absent = Evidence(passage=9, start=0, end=4, quote="grow")
    report = made((replace(CLAIMS[0], evidence=(forged, absent)),))

    shown = flat(printed(report, width=60))

    assert "passage 1, orchard.md; the quote does not stand there" in shown
    assert "passage 10, which is not in the context" in shown


def test_where_claims_overlap_the_worst_verdict_gives_the_colour() -> None:
    """A false half of a sentence is not hidden under the true whole."""
    whole = stated(1, "It grows pears, and it has 40 hives.", "supported")
    half = stated(2, "It grows pears", "contradicted")

    fragment = html(made((whole, half)))

    red, green = (re.search(rf"rgba\({rgb}[^>]*><bdi>([^<]*)", fragment) for rgb in ("229", "48"))
    assert red is not None
    assert red[1] == "It grows pears"
    assert green is not None
    assert green[1] == ", and it has 40 hives."
    assert "[✓1] [✗2] It grows pears, and it has 40 hives." in printed(made((whole, half)))


@pytest.mark.parametrize("span", [(-5, 4), (0, 10_000), (9, 3), (500, 600), (7, 7)])
def test_spans_that_do_not_fit_the_answer_lose_no_text(span: tuple[int, int]) -> None:
    """Whatever the spans say, the whole answer is shown once."""
    report = made((replace(CLAIMS[0], span=span),))

    answer = re.sub(r"\[✓1\] ", "", printed(report))

    assert flat(ANSWER) in flat(answer)


def test_an_empty_answer_is_shown_as_one() -> None:
    """Nothing to show is said, and is no error."""
    report = asked(made(()), answer="", passages=())

    assert "(empty answer)" in printed(report)
    assert "(empty answer)" in html(report)


# Hostile text


def hostile() -> Report:
    """Return a report that holds hostile text wherever it can hold text."""
    claims = tuple(
        Claim(
            id=HOSTILE,
            text=HOSTILE,
            span=(index * 3, index * 3 + 20),
            label=label,
            reason=HOSTILE,
            cause="retrieval",
            evidence=(Evidence(passage=0, start=0, end=len(HOSTILE), quote=HOSTILE),),
        )
        for index, label in enumerate(claim.label for claim in CLAIMS)
    )
    return made(
        claims,
        failures=(Failure(kind="error", stage=HOSTILE, message=HOSTILE),),
        versions={HOSTILE: HOSTILE},
        exchange=Exchange(
            id=HOSTILE,
            answer=HOSTILE,
            domain=HOSTILE,
            passages=(Passage(text=HOSTILE, source=HOSTILE),),
        ),
    )


@pytest.mark.parametrize("width", [10, 40, 100])
def test_hostile_text_has_no_effect_on_a_terminal(width: int) -> None:
    """Sequences, controls and invisible characters are shown as escapes, markup as it is."""
    shown = printed(hostile(), width=width)

    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069]", shown
    )
    assert "\U000e0041" not in shown
    if width == 100:
        assert r"[bold red]loud[/bold red] [/] \x1b[31mred" in flat(shown)
        assert r"\u202egnp.exe\u202c" in flat(shown)
        assert ":bomb:" in shown


def test_hostile_text_has_no_effect_on_a_page() -> None:
    """Only our own tags exist, they are balanced, and the text is shown as it was written."""
    fragment = html(hostile())
    page = Reader(fragment)

    ours = {"div", "b", "span", "sup", "bdi", "table", "thead", "tbody", "tr", "th", "td", "br"}
    assert page.tags <= ours
    assert page.open == []
    assert {name for name, _ in page.attributes} <= {"style", "class", "dir", "title"}
    assert "<script>alert(1)</script></div><img src=x onerror=alert(2)>" in page.text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", fragment)


def test_a_page_asks_for_nothing() -> None:
    """No style sheet, script, image, font or link: a notebook shows it offline."""
    fragment = html(made())

    assert not re.search(r"(?i)https?:|url\(|@import|<script|<link|<style|src=|href=", fragment)


def test_a_page_sets_no_colour_of_text() -> None:
    """Text keeps the colour of the notebook and so reads on light and on dark."""
    styles = ";".join(value or "" for name, value in Reader(html(made())).attributes)

    colours = set(re.findall(r"(?<![-\w])color:([^;\"]+)", styles))
    assert colours == {"inherit"}


def test_dollar_signs_stay_dollar_signs_in_a_notebook() -> None:
    """MathJax is told to keep out, or "$5 to $6" would become a formula."""
    assert 'class="tex2jax_ignore mathjax_ignore"' in html(made())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("tab\tstop", "tab    stop"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\ud800b", r"a\ud800b"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬 naïve 漢字", "👩\u200d🔬 naïve 漢字"),
        ("\ufeffstart", r"\ufeffstart"),
        ("\u2067right\u2069", r"\u2067right\u2069"),
    ],
)
def test_visible_escapes_what_cannot_be_seen_and_nothing_else(text: str, shown: str) -> None:
    """Joiners that a script needs stay; what hides or reorders text is shown."""
    assert visible(text) == shown


# Size


@pytest.mark.parametrize("width", [40, 100])
def test_a_word_of_50_kb_is_cut_visibly_and_keeps_the_width(width: int) -> None:
    """However long a text is, lines keep the width and say how much is missing."""
    word = "w" * 50_000
    claim = replace(CLAIMS[0], text=word, reason=word, span=(0, 50_000))
    report = asked(made((claim,)), answer=word)

    shown = printed(report, width=width)

    assert max(map(len, shown.splitlines())) <= width
    assert "44,000 more characters" in flat(shown)
    assert "49,600" in flat(shown)
    assert len(shown) < 20_000
    assert "… 44,000 more characters" in Reader(html(report)).text


def test_hundreds_of_claims_are_shown_and_thousands_are_cut_visibly() -> None:
    """A cut list keeps what a person must see: the claims that are not supported."""
    many = tuple(replace(CLAIMS[0], id=str(number), evidence=()) for number in range(500))
    assert "more claims" not in printed(made(many))

    shown = printed(made((*many, *many, CLAIMS[1])))

    assert "… 501 more claims" in shown
    assert "✗ contradicted" in shown
    assert "1001" in shown
    assert "… 501 more claims" in Reader(html(made((*many, *many, CLAIMS[1])))).text


def test_more_evidence_and_failures_than_one_reads_are_counted() -> None:
    """Lists inside a report are cut too, and say so."""
    failure = Failure(kind="error", stage="judge@2", message="refused")
    claim = replace(CLAIMS[0], evidence=CLAIMS[0].evidence * 9)

    shown = printed(made((claim,), failures=(failure,) * 8))

    assert "… 6 more" in shown
    assert "… 3 more failures" in shown


# Poor terminals


@pytest.mark.parametrize(
    "encoding", ["ascii", "latin-1", "cp1252", "cp437", "shift_jis", "nonsense"]
)
@pytest.mark.parametrize("width", [12, 40, 100])
def test_a_terminal_without_unicode_gets_what_it_can_show(encoding: str, width: int) -> None:
    """Signs, rules and text fall back to what the encoding holds; nothing raises."""
    answer = "Öl 中文 “kurz” – €4… für alle"
    report = asked(made((replace(CLAIMS[1], span=(0, 5)), CLAIMS[5])), answer=answer)

    shown = printed(report, width=width, encoding=encoding)

    shown.encode("ascii" if encoding == "nonsense" else encoding)
    assert "[x1]" in shown


def test_ascii_fallbacks_stay_readable() -> None:
    """Typographic characters become plain ones; others show their code."""
    report = asked(made(()), answer="“Öl” – 4…\u00a0中")

    assert r'"\xd6l" - 4... \u4e2d' in printed(report, encoding="ascii")


@pytest.mark.parametrize("width", [40, 80, 95])
def test_a_narrow_terminal_gets_a_list(width: int) -> None:
    """Where a table would have three words to a line, claims are listed, within the width."""
    shown = printed(made(), width=width)

    assert max(map(len, shown.splitlines())) <= width
    assert "\n[✗2] It grows pears\n     contradicted: apples" in shown
    assert "evidence" not in shown


def test_a_wide_terminal_gets_a_table() -> None:
    """From 96 columns on there is room for five columns."""
    assert re.search(r"# +verdict +claim +why +evidence", printed(made(), width=96))


def test_a_list_is_compact() -> None:
    """At 80 columns: sign and claim, then why, cause and each quote, a line each."""
    shown = printed(made(CLAIMS[:2]), width=80)

    assert shown[shown.index("[✓1] The Marlow orchard was planted in 1962.\n") :] == (
        "[✓1] The Marlow orchard was planted in 1962.\n"
        "     supported\n"
        "     “Planted in 1962” (passage 1, orchard.md)\n"
        "[✗2] It grows pears\n"
        "     contradicted: apples are not pears\n"
        "     cause: generation (the model went against or beyond what it saw)\n"
        "     “apples only” (passage 1, orchard.md)\n"
        "\n"
        "claims sentences@1 · verifier rules@3 · 1 model call · 0.25 s\n"
    )


def test_a_decision_that_did_not_pass_is_shown_like_any_other() -> None:
    """A block is false in a condition, and grades and is told all the same."""
    report = made(CLAIMS[:2])
    stream = io.StringIO()

    Console(file=stream, width=100).print(*terminal(report, report.decide("medical")))

    assert "block for medical" in stream.getvalue().splitlines()[0]
    assert "not passed: " in stream.getvalue()
    assert "block for customer_support" in Reader(html(report)).text


# Wiring


def test_a_report_shows_itself() -> None:
    """`rich.print(report)` and a notebook cell find the views by themselves."""
    report = made()

    assert list(terminal(report))
    assert "Marlow orchard" in printed(report)
    assert report._repr_html_() == html(report)


def test_a_report_that_was_read_from_json_looks_the_same() -> None:
    """A view needs nothing but the data."""
    report = made()

    assert html(Report.from_json(report.to_json())) == html(report)


def test_a_decision_that_is_handed_in_grades_and_comes_last() -> None:
    """A caller's own policy, not the domain of the exchange, has the last word."""
    report = made(CLAIMS[:2])
    decision = report.decide("conversational")
    stream = io.StringIO()

    Console(file=stream, width=100).print(*terminal(report, decision))

    assert "for conversational" in stream.getvalue().splitlines()[0]
    assert f"not passed: {decision.reason}" in flat(stream.getvalue())


def test_a_settled_claim_can_be_shown() -> None:
    """What `Claim.settled` makes of a verdict is what the view reads."""
    claim = CLAIMS[3].settled(
        Verdict(
            claim="c4", label="not_mentioned", p_supported=0.1, verifier="rules@3", reason="why"
        )
    )

    assert "? not mentioned" in printed(made((claim,)))


def mended(*repairs: Repair) -> Record:
    """Return the record of an answer that a guard changed."""
    report = made(CLAIMS[:1])
    return Record(
        exchange=report.exchange, report=report, decision=report.decide("support"), repairs=repairs
    )


def test_a_record_shows_what_was_changed_and_on_what_evidence() -> None:
    """A terminal and a page: each change in words, with the quote that it rests on."""
    evidence = (quoted(0, "Planted in 1962"),)
    record = mended(
        Repair(span=(35, 39), before="1926", after="1962", evidence=evidence),
        Repair(span=(50, 60), before="- It snows.\n", after=""),
    )
    stream = io.StringIO()
    Console(file=stream, width=100).print(record)
    shown = flat(stream.getvalue())

    assert "“1926” became “1962” “Planted in 1962” (passage 1, orchard.md)" in shown
    assert "“- It snows.” was left out" in shown
    page = record._repr_html_()
    assert "<bdi>“1926” became “1962”</bdi>" in page
    assert "“Planted in 1962”" in page
    assert "changed by the guard" not in mended()._repr_html_()


def test_hostile_changes_have_no_effect() -> None:
    """What was changed is hostile text like the answer; and many changes are cut visibly."""
    record = mended(*[Repair(span=(0, 1), before=HOSTILE, after=HOSTILE)] * 101)
    stream = io.StringIO()
    Console(file=stream, width=80, force_terminal=False).print(record)

    assert "\x1b" not in stream.getvalue()
    assert "1 more changes" in stream.getvalue()
    assert "<script" not in record._repr_html_()
    assert "<img" not in record._repr_html_()
