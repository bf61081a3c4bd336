"""What is no fact by its form, and yet tells one; and its twins, which tell none."""

from __future__ import annotations

import pytest

from faithguard.claims import LocalClaims
from faithguard.types import Claim

from ..growth import LINEAR, growth


def extract(answer: str, question: str | None = None) -> list[Claim]:
    """Return the claims of an answer."""
    return LocalClaims().extract(answer, question)


def facts(answer: str, question: str | None = None) -> list[str]:
    """Return the texts of what is checked."""
    return [claim.text for claim in extract(answer, question) if claim.kind == "fact"]


@pytest.mark.parametrize(
    ("answer", "fact"),
    [
        ("The text does not name a toll because the bridge is open to all.", "the bridge is open"),
        ("I'm not sure why you ask, since the moss is edible.", "the moss is edible"),
        ("I cannot find a toll which means the bridge is open.", "the bridge is open"),
        ("I don't know the toll as the bridge is closed.", "the bridge is closed"),
        ("I could not find a toll and so the bridge stays open.", "the bridge stays open"),
        ("I could not find a limit; tickets never expire.", "tickets never expire"),
        ("I don't know—the bridge is closed.", "the bridge is closed"),
        ("Ich weiß es nicht, denn die Brücke ist gesperrt.", "die Brücke ist gesperrt"),
        ("Je ne sais pas car le pont est fermé.", "le pont est fermé"),
        ("No puedo encontrar un peaje porque el puente es nuevo.", "el puente es nuevo"),
        ("Não sei, pois a ponte é nova.", "a ponte é nova"),
        ("Dat weet ik niet want de brug is dicht.", "de brug is dicht"),
        ("我不知道因为这座桥是新的。", "这座桥是新的"),
        ("لا أعرف لأن الجسر مغلق.", "الجسر مغلق"),
    ],
)
def test_a_reason_after_a_denial_is_a_claim(answer: str, fact: str) -> None:
    """Whatever word joins it, what is given as the reason is checked on its own."""
    found = facts(answer)
    assert len(found) == 1
    assert found[0].startswith(fact)


@pytest.mark.parametrize(
    "answer",
    [
        "I am not aware of any toll (the bridge is open).",
        "I can say no more than that the moss is edible.",
        "I'm not aware of any danger in eating moss.",
        "I cannot find any link between moss and fever.",
        "We found no toll on the bridge.",
        "No conozco nada; no he podido encontrar ningún riesgo.",
    ],
)
def test_a_denial_that_asserts_is_a_fact(answer: str) -> None:
    """That there is no such thing is said of the subject, not of the documents."""
    assert facts(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I could not find any information about a bridge.",
        "I couldn't find the toll in the documents.",
        "I couldn't find any mention of moss in the text.",
        "I cannot find the opening hours.",
        "I don't know the toll as it is not listed.",
        "I can't help with that because it is outside the scope of the documents.",
        "I could not find a toll since the documents only cover roads.",
        "The context does not mention a toll, so I cannot answer the question.",
        "I don't know, but you can contact the office for help.",
        "Ich kann das nicht beantworten, weil der Kontext keine Angaben dazu enthält.",
        "I searched the documents but could not find a date.",
    ],
)
def test_a_denial_about_the_documents_is_none(answer: str) -> None:
    """A reason that only speaks of the documents or the question tells nothing else."""
    assert facts(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "I booked it and tickets take 9 weeks.",
        "I checked, moss is edible",
        "I've sent the form so expect it soon.",
        "I looked and found it edible",
        "I reviewed the lease and you may leave early.",
        "I checked it (tickets never expire).",
        "I have moved 40 EUR to it.",
    ],
)
def test_an_action_that_tells_more_is_checked(answer: str) -> None:
    """A figure, or a clause with its own subject, is more than what was done."""
    assert facts(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I have created the file notes2.txt.",
        "I have sent the letter to your team.",
        "I've moved the box and sent you a note.",
        "I have invited Ana, the whole team and the board.",
        "I've booked it, and I'll send you the ticket.",
    ],
)
def test_an_action_stays_one(answer: str) -> None:
    """Objects and further deeds are part of the action."""
    assert [claim.kind for claim in extract(answer)] == ["action"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("The documents describe a lifelong pass for all trams.", "fact"),
        ("The context discusses full cover for theft.", "fact"),
        ("The text provides information about moss being edible.", "fact"),
        ("The documents describe the pass.", "meta"),
        ("The documents provide information about tram passes.", "meta"),
        ("Moss is good for you.", "fact"),
        ("Eating moss while ill is perfect.", "fact"),
        ("Moss in winter is a good idea.", "fact"),
        ("Rust is great.", "opinion"),
        ("Excellent choice!", "opinion"),
        ("I think the park is wonderful.", "opinion"),
        ("Moss safe in winter is shown below", "fact"),
        ("Here are the details of your free lifelong pass:", "fact"),
        ("I hope it helps to know moss is safe for cows.", "fact"),
        ("Here are the details:", "courtesy"),
        ("The steps are as follows:", "courtesy"),
        ("Please feel free to ask if you have more questions.", "courtesy"),
        ("That is a great question.", "courtesy"),
    ],
)
def test_what_is_wrapped_tells_the_kind(answer: str, kind: str) -> None:
    """Promises, suitability and quantities make a fact of talk, praise and courtesy."""
    assert [claim.kind for claim in extract(answer)] == [kind]


def test_a_courtesy_before_a_reason_is_split() -> None:
    """The reason is a claim of its own."""
    answer = "Let me know when you ate it as moss is harmless in winter."
    assert facts(answer) == ["moss is harmless in winter."]


@pytest.mark.parametrize(
    "title",
    [
        "# Lifelong pass included",
        "## No fever after moss",
        "**Unlimited rides for all riders**",
        "## Dogs allowed in trams",
        "## Up to 12 free rides",
    ],
)
def test_a_title_that_says_something_is_a_fact(title: str) -> None:
    """Negations, quantities and participles need no verb."""
    assert facts(f"{title}\n\nHello!") == [title.strip("#* ")]


@pytest.mark.parametrize(
    "title",
    ["# Opening hours", "## Returns and refunds", "**Summary**", "# Key features", "# How to pay"],
)
def test_a_title_that_names_something_is_none(title: str) -> None:
    """A name of what comes is no claim."""
    assert facts(f"{title}\n\nIt is red.") == ["It is red."]


def test_a_title_is_not_said_twice() -> None:
    """Where a sentence under it says it too, the title is left out."""
    answer = "## No toll for bikes\n\nThere is no toll for bikes, it is open."
    assert facts(answer) == ["There is no toll for bikes, it is open."]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("The term is [90] days.", "The term is 90 days."),
        ("The term is 【90】 days [2].", "The term is 90 days."),
        ("It costs [90] EUR.", "It costs 90 EUR."),
        ("The term in days is [90].", "The term in days is 90."),
        ("The pass [2] is red [3].", "The pass is red."),
        ("It is red [1] and old [2, 3].", "It is red and old."),
        ("It is red【1†source】.", "It is red."),
        ("It must ~~not~~ be wet.", "It must be wet."),
        ("It is <del>never</del> open.", "It is open."),
        ("~~It is open.~~", "It is not true that it is open."),
        ("Ⓣⓗⓔ ⓟⓐⓢⓢ ⓘⓢ 𝐫𝐞𝐝.", "The pass is red."),
        ("Ｉｔ ｃｏｓｔｓ ５ ＥＵＲ.", "It costs 5 EUR."),
    ],
)
def test_text_reads_as_the_reader_sees_it(answer: str, text: str) -> None:
    """Numbers in brackets that a sentence needs stay; struck words go; letters are plain."""
    (claim,) = extract(answer)
    assert (claim.kind, claim.text, claim.span) == ("fact", text, (0, len(answer)))


def test_signs_answer_a_question() -> None:
    """A thumb or a tick is a yes, a cross a no, to a question only."""
    for sign in ("✅", "👍🏽", "✔️"):
        assert facts(sign, "Is it open?") == ["Is it open? Yes."]
    assert facts(" ❌\n", "Is it open?") == ["Is it open? No."]
    assert extract(" ❌\n", "Is it open?")[0].span == (1, 2)
    assert extract("🎉", "Is it open?") == extract("✅") == []


def test_a_table_without_a_body_says_its_headers() -> None:
    """Headers over empty rows are what the table says."""
    assert facts("| Term | 90 days |\n|---|---|\n| | |\n") == ["Term; 90 days"]
    assert facts("| No toll | all |\n|---|---|\n") == ["No toll; all"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("```\n50 EUR\n```", ["50 EUR"]),
        (
            "It takes:\n```\n9 g daily\n2 g later\n```",
            ["It takes: 9 g daily", "It takes: 2 g later"],
        ),
        ('Use:\n```json\n{"dose": "9 g"}\n```', ["Use: dose: 9 g"]),
        ('```json\n{"a": {"b": [1, null]}, "c": true}\n```', ["a: b: 1", "c: true"]),
        ("```yaml\nmoss:\n  dose: 9 g\n  wet: no\n```", ["moss: dose: 9 g", "moss: wet: no"]),
        ("```csv\nname,dose\nmoss,9 g\n```", ["name: moss; dose: 9 g"]),
        ("```\ndose: 9 g\n```", ["dose: 9 g"]),
        ("- One:\n  ~~~\n  9 g daily\n  ~~~\n", ["One: 9 g daily"]),
        ("````\n```\n9 g daily\n```\n````", ["9 g daily"]),
        ("```python\nx = 1\nThe dose is 9 g daily.", ["The dose is 9 g daily."]),
        ('> ```json\n> {"dose": "9 g"}\n> ```', ["dose: 9 g"]),
    ],
)
def test_values_in_fences_are_read(answer: str, expected: list[str]) -> None:
    """Data and plain lines between fences are claims, after what leads to them."""
    assert facts(answer) == expected
    assert all(answer[slice(*claim.span)].strip() for claim in extract(answer))


@pytest.mark.parametrize("info", ["python", "js", "bash", "sql", "toml", "html", "dockerfile"])
def test_source_in_fences_is_not(info: str) -> None:
    """What a label calls a program is none of the answer's statements."""
    assert extract(f"```{info}\nx = 5\nrate: 90 days\n```") == []


@pytest.mark.parametrize("char", list("!?.a1-*#|`~[(<_\"'“。…😀中"))
def test_a_long_run_takes_no_long_time(char: str) -> None:
    """The time does not grow with the square of the length of a run."""
    assert growth(lambda size: extract(char * size), 40_000) < LINEAR


@pytest.mark.parametrize(
    "answer",
    ["Moss is edible?!", "Moss is edible!?", "Dogs may cross?!", "Goats cross at night?!"],
)
def test_what_is_called_out_is_a_claim_if_it_is_one_without_the_question_mark(answer: str) -> None:
    """A statement in wonder is a statement; the same words asked are a question."""
    assert [claim.kind for claim in extract(answer)] == ["fact"]


@pytest.mark.parametrize(
    "answer",
    ["Really?!", "Is moss edible?!", "What do you want?!", "Can I help you?!", "Any questions?!"],
)
def test_what_is_asked_aloud_is_a_question(answer: str) -> None:
    """What has the order of a question, or states nothing, stays one."""
    assert [claim.kind for claim in extract(answer)] == ["question"]
