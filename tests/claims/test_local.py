"""The local splitter: where claims stand, how they read alone, and what is not a fact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faithguard.claims import LocalClaims
from faithguard.types import Claim


def extract(answer: str, question: str | None = None) -> list[Claim]:
    """Return the claims, after what must hold for any answer."""
    claims = LocalClaims().extract(answer, question)
    assert [claim.id for claim in claims] == [f"c{n}" for n in range(1, len(claims) + 1)]
    last = 0
    for claim in claims:
        start, end = claim.span
        assert last <= start < end <= len(answer)
        assert answer[start:end] == answer[start:end].strip()
        assert claim.text
        assert claim.label == "not_checked"
        last = end
    return claims


def texts(answer: str, question: str | None = None) -> list[str]:
    """Return how the claims read."""
    return [claim.text for claim in extract(answer, question)]


def sources(answer: str) -> list[str]:
    """Return what the claims span."""
    return [answer[slice(*claim.span)] for claim in extract(answer)]


def kinds(answer: str, question: str | None = None) -> list[str]:
    """Return what the claims are."""
    return [claim.kind for claim in extract(answer, question)]


def test_name_has_a_version() -> None:
    """A report can say which splitter made its claims."""
    assert LocalClaims().name == "local-claims@9"


def test_async_gives_the_same() -> None:
    """`aextract` is `extract` off the event loop."""
    answer = "Sure! Lima has a port and is big.\n\n- One item\n"
    assert asyncio.run(LocalClaims().aextract(answer, "Q?")) == extract(answer, "Q?")


@pytest.mark.parametrize("before", ["", "It is old. ", "The sign says: "])
@pytest.mark.parametrize(
    "marks", ['""', "“”", "„“", "«»", "»«", "''", "‘’", "()", ("[", "](https://a.example/b)")]
)
def test_sentences_in_marks_are_claims_of_their_own(before: str, marks: Sequence[str]) -> None:
    """Each has its place, and the words of the last ones hold no half of a pair of marks."""
    answer = f"{before}{marks[0]}The mill is open. Owls are shy.{marks[1]} Rye costs 5 EUR."
    found = extract(answer)[-3:]

    assert [claim.text for claim in found[1:]] == ["Owls are shy.", "Rye costs 5 EUR."]
    assert found[0].text.endswith("The mill is open.")
    assert answer[slice(*found[0].span)].endswith("The mill is open.")
    assert answer[slice(*found[1].span)] == f"Owls are shy.{marks[1]}"
    assert answer[slice(*found[2].span)] == "Rye costs 5 EUR."


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param("Dr. Ruiz paid 5.5 EUR. He left at 9 a.m.", 2, id="abbreviation, decimal"),
        pytest.param("It costs approx. 5 EUR incl. VAT. No. 7 is free.", 2, id="glued"),
        pytest.param("Das war am 3. Okt. 2020 und kostet 5 EUR zzgl. MwSt. und Porto.", 1, id="de"),
        pytest.param("Use v1.2.3 from https://a.example/x?y=z now.", 1, id="version, URL"),
        pytest.param("J. K. Rowling wrote it. It sold well.", 2, id="initials"),
        pytest.param("Well... it is open. Wait... it is shut.", 2, id="ellipsis"),
        pytest.param('She said "It is shut. Go home." and left.', 2, id="quote"),
        pytest.param("<li>Dr. Ruiz opens at 9.</li>", 1, id="title behind a tag"),
        pytest.param("<b>Prof. Lee</b> is in. <i>Mr. Poe</i> is out.", 2, id="titles in tags"),
        pytest.param("**Dr. Ruiz** opens at 9.", 1, id="title in bold"),
        pytest.param('"Dr. Ruiz opens at 9. Mr. Poe is in."', 2, id="titles in a quotation"),
        pytest.param('"What is open?" he asked. "It is shut."', 2, id="question in a quotation"),
        pytest.param('The film "Oh Brother! Here We Go" is old.', 1, id="title with a stop"),
        pytest.param("It is open (really!) and free.", 1, id="stop in brackets"),
        pytest.param("これは青い。それは赤い！本当です", 3, id="CJK stops"),
        pytest.param("「これは青い。」と彼は言った。次は赤い。", 2, id="CJK quote"),
        pytest.param("It opens at 9.It shuts at 5.", 2, id="no space after the stop"),
        pytest.param("It is open 😀. It is big 🎉", 2, id="emoji"),
        pytest.param("العاصمة هي الرياض. السكان كثيرون.", 2, id="right to left"),
        pytest.param("It is\x00 open.\x0b It is big.", 2, id="control characters"),
        pytest.param("It is \ud83d open. It is big.", 2, id="lone surrogate"),
        pytest.param("It is open\r\nIt is big\r\n", 2, id="CRLF, no final stop"),
        pytest.param("    It is indented.", 1, id="indented, but no code"),
    ],
)
def test_sentences(answer: str, expected: int) -> None:
    """Stops that end no sentence do not cut; sentences without a stop are found."""
    assert len(extract(answer)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("**1. Loan:** It is free. It ends in May.", ["Loan: It is free.", "It ends in May."]),
        ("__2) Loan:__ It is free.", ["Loan: It is free."]),
        ("**a) Loan** It is free.", ["Loan It is free."]),
        ("**III. Loan:** It is free.", ["Loan: It is free."]),
        ("**1.1. Loan:** It is free.", ["Loan: It is free."]),
        ("**1.** It is free.\n**2.** It ends.", ["It is free.", "It ends."]),
        ("<b>1. Loan:</b> It is free.", ["Loan: It is free."]),
        ("1️⃣ It is free.\n2️⃣ It ends in May.", ["It is free.", "It ends in May."]),
        ("- **1. Loan:** It is free.", ["Loan: It is free."]),
        ("**1. Loan**\nIt is free.\n\n**2. End**\nIt ends.", ["It is free.", "It ends."]),
        ("1. **Loan** – It is free.", ["Loan – It is free."]),
        ("### 1. Loan\nIt is free.", ["It is free."]),
        ("**Step 2 – Loan**: It is free.", ["Step 2 – Loan: It is free."]),
        (
            "Step 1. Go in. Step 2. It is free. Step 3. It ends.",
            ["Step 1. Go in.", "Step 2. It is free.", "Step 3. It ends."],
        ),
        ("Q1. When is it free? A1. It is free in May.", None),
        (
            "Article 5. It is free. Article 6. It ends.",
            ["Article 5. It is free.", "Article 6. It ends."],
        ),
        ("**A. Loan:** It is free.", ["A. Loan: It is free."]),
        ("**3. Etage:** Es ist frei.", ["3. Etage: Es ist frei."]),
        ("**J. Ruiz** paid it.", ["J. Ruiz paid it."]),
        (
            "Bus No. 5 is free, see Sec. 3.1. It ends.",
            ["Bus No. 5 is free, see Sec. 3.1.", "It ends."],
        ),
        (
            "St. Anne is old. U.S. law ends i.e. 0.2 g.",
            ["St. Anne is old.", "U.S. law ends i.e. 0.2 g."],
        ),
        ("It costs **12 EUR.** It is free.", ["It costs 12 EUR.", "It is free."]),
    ],
)
def test_the_place_in_a_list_is_no_claim_of_its_own(
    answer: str, expected: list[str] | None
) -> None:
    """A number in bold type is that of an item; one behind a word or a name stays with it."""
    if expected is None:
        assert kinds(answer) == ["question", "fact"]
    else:
        assert texts(answer) == expected


def test_citations_leave_the_text_and_stay_in_the_span() -> None:
    """A citation belongs to the sentence that it follows, and is no part of the statement."""
    answer = "It is big.[1][2] It is old [3]. It is blue. [4, 5] It is low."
    assert texts(answer) == ["It is big.", "It is old.", "It is blue.", "It is low."]
    assert sources(answer)[0] == "It is big.[1][2]"


def test_markup_leaves_the_text_and_stays_in_the_span() -> None:
    """Emphasis, code and links are read, not shown; stars and underscores of words stay."""
    answer = "The **fee** is _5_ EUR in `my_app`, see [terms](https://a.example/t_(1))."
    assert texts(answer) == ["The fee is 5 EUR in my_app, see terms."]
    assert sources(answer) == [answer]
    assert texts("2 * 3 * 4 is 24 in a_b_c.") == ["2 * 3 * 4 is 24 in a_b_c."]


def test_lead_in_goes_before_its_items() -> None:
    """A line that ends with a colon is no claim, and each item reads with it."""
    answer = "The kit has:\n\n* two lamps\n* a rope of 5 m\n\nIt weighs 3 kg."
    assert texts(answer) == [
        "The kit has: two lamps",
        "The kit has: a rope of 5 m",
        "It weighs 3 kg.",
    ]
    assert sources(answer) == ["two lamps", "a rope of 5 m", "It weighs 3 kg."]


def test_nested_lead_ins_add_up() -> None:
    """Items of an inner list carry the outer and the inner lead-in."""
    answer = "The kit has:\n- Light:\n  - two lamps\n- Food\n  - rice\n- a map\n"
    assert texts(answer) == [
        "The kit has: Light: two lamps",
        "The kit has: Food: rice",
        "The kit has: a map",
    ]


def test_a_lead_in_that_leads_to_nothing_is_a_claim() -> None:
    """A colon at the end must not hide a statement."""
    assert texts("The fee is 5 EUR:") == ["The fee is 5 EUR:"]
    assert texts("The fee is 5 EUR:\n\nIt is paid monthly.")[0] == "The fee is 5 EUR:"


def test_other_bullets_and_inline_lists() -> None:
    """Lists that markdown does not know are lists to a reader."""
    assert texts("• One is red\n• Two is blue") == ["One is red", "Two is blue"]
    assert texts("Steps: 1. Open the lid. 2. Press start.") == [
        "Steps: Open the lid.",
        "Steps: Press start.",
    ]


def test_lines_of_a_plain_text_answer() -> None:
    """Short lines are statements of their own; a line that an editor wrapped goes on."""
    assert texts("Name: Rio\nPrice: 5 EUR") == ["Name: Rio", "Price: 5 EUR"]
    assert texts("the lid is red\nthe cap is blue") == ["the lid is red", "the cap is blue"]
    wrapped = "The tower was built by a large group of people who\ncame from Porto and Faro."
    assert len(extract(wrapped)) == 1


def test_a_line_under_a_list_is_no_item() -> None:
    """Text right under a list, not indented, gets no lead-in."""
    assert texts("It has:\n- a lid\nIt costs 5 EUR.") == ["It has: a lid", "It costs 5 EUR."]


def test_table_rows_read_with_their_headers() -> None:
    """Each body row is one claim; empty cells say nothing, extra ones are kept."""
    answer = "| Size | Fee |\n|---|---|\n| small | **5 EUR** |\n| big | | extra 7 |\n"
    assert texts(answer) == ["Size: small; Fee: 5 EUR", "Size: big; extra 7"]
    assert sources(answer)[0] == "| small | **5 EUR** |"


def test_headings() -> None:
    """A bare title is no claim; a heading that states something is."""
    assert texts("# Prices\n\n## Step 1: Setup\n\nIt is free.") == ["It is free."]
    assert texts("# The fee is 5 EUR\n\nIt is fair.") == ["The fee is 5 EUR", "It is fair."]
    assert texts("## Fee: 250 EUR\n\nIt is fair.")[0] == "Fee: 250 EUR"
    assert texts("**Prices**\n\nIt is free.") == ["It is free."]


def test_code_is_skipped_and_quotes_are_prose() -> None:
    """Fences hold no claims; block quotes and HTML do."""
    assert texts("It is free.\n\n```py\nprice = 5\n```\n\n> It is big.\n> It is old.") == [
        "It is free.",
        "It is big.",
        "It is old.",
    ]
    assert texts("<p>It is <b>free</b>.</p><p>It is big.</p>") == ["It is free.", "It is big."]
    assert texts("```markdown\n- It is free.\n```") == ["It is free."]


def test_text_that_markdown_would_hide() -> None:
    """A year is no list number, a definition is no link, an opened fence hides no prose."""
    assert texts("1989.") == ["1989."]
    assert texts("1989. It fell in winter.")[0].startswith("1989")
    assert len(extract("[fee]: is-5-EUR")) == 1
    assert "It is 5 EUR." in texts("``` is a mark of code\nIt is 5 EUR.")
    assert len(extract(">" * 60 + " The fee is 5 EUR.")) == 1


@pytest.mark.parametrize(
    "answer", ["Lima.", "50 EUR", "No.", "3 May 2021", "リマ", "**Lima**", "# Lima"]
)
def test_short_answers_read_with_their_question(answer: str) -> None:
    """A word, a number or a date says something only with the question."""
    (claim,) = extract(answer, "What is it?")
    assert claim.kind == "fact"
    assert claim.text == f"What is it? {answer.strip('*# ')}"
    assert texts(answer) == [answer.strip("*# ")]


def test_short_answers_among_others() -> None:
    """Courtesy aside, a first fragment or a bare list takes the question; sentences do not."""
    assert texts("Sure! Lima.", "Where?") == ["Sure!", "Where? Lima."]
    assert texts("- Lima\n- Cusco", "Where?") == ["Where? Lima", "Where? Cusco"]
    assert texts("Yes. It is open.", "Open?") == ["Open? Yes.", "It is open."]
    assert texts("Yes. It is open.") == ["Yes. It is open."]
    assert texts("It is open.", "Open?") == ["It is open."]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "Acme was founded in 1990 and has 40 shops",
            ["Acme was founded in 1990", "Acme has 40 shops"],
        ),
        (
            "The lamp is red, costs 5 EUR and has a plug.",
            ["The lamp is red", "The lamp costs 5 EUR", "The lamp has a plug."],
        ),
        ("The lamp is red; the rope is blue.", ["The lamp is red", "the rope is blue."]),
        ("The lamp is red, and it has a plug.", ["The lamp is red", "it has a plug."]),
        ("The lamp is red, but the rope is blue.", ["The lamp is red", "the rope is blue."]),
    ],
)
def test_coordinated_facts_are_split(answer: str, expected: list[str]) -> None:
    """Each of two facts in a sentence can be checked on its own."""
    assert texts(answer) == expected
    for claim in extract(answer):
        start, end = claim.span
        assert claim.text.endswith(answer[start:end])


@pytest.mark.parametrize(
    "answer",
    [
        "If the lid is open, the light is red, and the door is shut.",
        "The plan covers travel and costs of treatment.",
        "The range is between 5 and 10 EUR.",
        'The sign says "it is old and has moss" in red.',
        "The lamp (which is old and has moss) is red.",
        "The report says that Acme is old and has 40 shops.",
        "It is neither red nor blue and is not sold.",
        "Tools that are old and have rust are sold.",
        "You can open the lid and have a look.",
        "In 1990 the company was founded and has 40 shops.",
        "Lima and Cusco are cities.",
        "Shops: Lima; Cusco; Puno.",
    ],
)
def test_what_is_not_safe_to_split_stays_whole(answer: str) -> None:
    """Conditions, quotes, parentheses, noun phrases and unclear subjects are left alone."""
    assert texts(answer) == [answer]


KINDS = {
    "abstention": [
        "I don't know.",
        "I’m sorry, but I could not find an answer to that.",
        "Unfortunately, the provided documents do not contain enough information to answer.",
        "Empty Response",
        "There is no information about refunds in the context.",
        "Not mentioned in the documents.",
        "I am not able to help with that.",
        "Das weiß ich leider nicht.",
        "No lo sé.",
        "Je ne sais pas.",
        "Non lo so.",
        "Não sei.",
        "Dat weet ik niet.",
        "Bilmiyorum.",
        "わかりません。",
        "我不知道。",
        "لا أعرف.",
        "मुझे नहीं पता।",
    ],
    "question": [
        "Which plan do you mean?",
        "どのプランですか？",
        "ما هي خطتك؟",
        '"Is it open?" [1]',
    ],
    "courtesy": [
        "Sure!",
        "Hello there!",
        "Thank you for your question.",
        "I hope this helps!",
        "Let me know if you have other questions.",
        "If you need more details, feel free to ask.",
        "Here is a summary of the policy.",
        "Gerne!",
        "Bonjour !",
        "希望这对您有帮助。",
    ],
    "opinion": ["Python is great.", "It's a really wonderful city!", "I love this song."],
    "hedge": [
        "It depends.",
        "Results may vary.",
        "It depends on your situation.",
        "Es kommt darauf an.",
    ],
    "action": [
        "I have sent the mail to Ana.",
        "I've updated your booking.",
        "Ich habe die Datei erstellt.",
        "我已创建文件。",
    ],
    "meta": [
        "The context does not mention refunds.",
        "Based on the provided documents:",
        "See section 3 for details.",
        "The document describes the history of the firm.",
    ],
}


@pytest.mark.parametrize(
    ("kind", "answer"), [(kind, answer) for kind, answers in KINDS.items() for answer in answers]
)
def test_what_is_no_fact(kind: str, answer: str) -> None:
    """Sentences without anything to check are listed under their kind."""
    assert kinds(answer) == [kind]


@pytest.mark.parametrize(
    "answer",
    [
        "I hope this helps: the fee is 20 EUR.",
        "Sure, the fee is 20 EUR.",
        "I think the fee is 20 EUR.",
        "According to the document, the fee is waived.",
        "Please note that refunds take a week.",
        "Here is the fee: 20 EUR.",
        "The fee is 20 EUR, right?",
        "Did you know that the fee is 20 EUR?",
        "The policy does not cover water damage.",
        "Water damage is not covered by the policy.",
        "No refunds are given.",
        "There is no evidence that it helps.",
        "Feel free to cancel without a fee.",
        "I would be happy to confirm that the fee is waived.",
        "I have updated the report: the fee is 20 EUR.",
        "We have opened shops in Lima.",
        "We do not offer refunds.",
        "It depends on the plan.",
        "The documents mention no fee other than the 20 EUR for setup.",
        "Thank you for choosing Acme, the oldest bank in Peru.",
        "Lima is the best city in Peru.",
        "Yes, it is covered.",
    ],
)
def test_a_fact_stays_a_fact_in_any_wrapping(answer: str) -> None:
    """Courtesy, hedges and talk about documents are no way past the checker."""
    assert kinds(answer) == ["fact"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The context does not mention fees, but the fee is 5 EUR.", ["meta", "fact"]),
        ("I don't know, but I think the fee is 20 EUR.", ["abstention", "fact"]),
        ("I don't know if it is free but the fee is low.", ["abstention", "fact"]),
        ("I could not find it; the fee is 5 EUR.", ["abstention", "fact"]),
        ("I've updated the file, and the fee is 5 EUR.", ["action", "fact"]),
        ("Ich weiß es nicht, aber der Preis ist 5 EUR.", ["abstention", "fact"]),
        ("I don't know what it is or how it is made.", ["abstention"]),
        ("I don't know, as the context does not say it.", ["abstention"]),
    ],
)
def test_a_fact_after_a_denial_is_found(answer: str, expected: list[str]) -> None:
    """What follows "I don't know, but" is a claim of its own."""
    assert kinds(answer) == expected


def test_nothing_but_silence_is_an_abstention() -> None:
    """To a question, "the context does not mention it" alone is no answer."""
    answer = "The context does not mention fees."
    assert kinds(answer, "What is the fee?") == ["abstention"]
    assert kinds(f"{answer} It is big.", "What is the fee?") == ["meta", "fact"]


@pytest.mark.parametrize("answer", ["", " \n\t", "😀", "---", "...", "# Title\n\n```\nx\n```"])
def test_answers_without_claims(answer: str) -> None:
    """Where nothing is said there is no claim."""
    question = None if answer.startswith("#") else "Q?"
    assert extract(answer, question) == []


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("According to the context, the rent is 70 EUR.", "the rent is 70 EUR."),
        ("Based on the documents provided: the rent is 70 EUR.", "the rent is 70 EUR."),
        ("As stated in the leaflet, one pill is enough.", "one pill is enough."),
        ("Per the policy, pets are welcome.", "pets are welcome."),
        ("From the information provided, pets are welcome.", "pets are welcome."),
        ("The passage states that pets are welcome.", "pets are welcome."),
        ("According to [2], pets are welcome.", "pets are welcome."),
        ("Laut dem Text beträgt die kalte Miete 70 EUR.", "die kalte Miete beträgt 70 EUR."),
        ("Según la guía, la renta es de 70 EUR.", "la renta es de 70 EUR."),
        ("D'après le document, le loyer est de 70 EUR.", "le loyer est de 70 EUR."),
        ("In base ai documenti forniti, l'affitto è di 70 EUR.", "l'affitto è di 70 EUR."),
        ("De acordo com o texto, a renda é de 70 EUR.", "a renda é de 70 EUR."),
        ("Volgens de tekst bedraagt de huur 70 EUR.", "de huur bedraagt 70 EUR."),
    ],
)
def test_attribution_to_the_material_leaves_the_text(answer: str, text: str) -> None:
    """Saying "according to the context" adds nothing to check; it stays in the span."""
    (claim,) = extract(answer)
    assert (claim.kind, claim.text, claim.span) == ("fact", text, (0, len(answer)))


@pytest.mark.parametrize(
    "answer",
    [
        "According to Ana Silva, the rent is 70 EUR.",
        "According to the Red Cross, pets are welcome.",
        "According to the 2019 report, rents rose.",
        "According to the FIFA handbook, it is a foul.",
        "The report says that rents rose.",
        "From the website, orders take two days.",
        "Based on the data, the drug was approved.",
        "Laut Frau Silva beträgt die Miete 70 EUR.",
        "Según la OMS, es raro.",
    ],
)
def test_attribution_that_can_be_checked_stays(answer: str) -> None:
    """Who said it is part of the statement, unless it is the material as such."""
    assert texts(answer) == [answer]
    assert kinds(answer) == ["fact"]


def test_what_follows_an_attribution_is_read_as_if_alone() -> None:
    """Its clauses are split, and a fragment takes the question."""
    answer = "According to the context, Acme was founded in 1990 and has 40 shops."
    assert texts(answer) == ["Acme was founded in 1990", "Acme has 40 shops."]
    for said in ("According to the text, 70 EUR.", "Based on the text, the answer is 70 EUR."):
        assert texts(said, "What is the rent?") == ["What is the rent? 70 EUR."]
    assert kinds("Based on the context, I don't know.") == ["abstention"]


@pytest.mark.parametrize(
    "answer",
    [
        "```\nSwallow 12 pills.\n```",
        "~~~text\nthe rent is 70 EUR a month.\n~~~",
        "```\nSwallow 12 pills.",
        "```\nRent: 70 EUR\n```",
        "```reply\nThe rent is 70 EUR.\n```",
        "~~~ The rent is 70 EUR\nx\n~~~",
        "````\n```\nThe rent is 70 EUR.\n```\n````",
        "```\na = 1\nb = 2\nSwallow 12 pills.\n```",
        "```\n毎日十二錠を飲みます。\n```",
        "<!-- The rent is 70 EUR -->",
        "[^1]: The rent is 70 EUR.",
        "![The rent is 70 EUR](a.png)",
        'See [terms](https://a.example "The rent is 70 EUR").',
        '<img src="a.png" alt="The rent is 70 EUR">',
        "【The rent is 70 EUR】",
        "| The rent is 70 EUR | x |\n|---|---|\n| a | b |",
        "# The rent is 70 EUR, right?\n\nHello!",
    ],
)
def test_no_place_hides_a_fact(answer: str) -> None:
    """Fences, comments, notes, titles and headers are read where they say something."""
    found = [claim.text for claim in extract(answer) if claim.kind == "fact"]
    assert any("70" in text or "12" in text or "十二" in text for text in found)


@pytest.mark.parametrize(
    "code",
    [
        'x = 5\nprint("The rent is 70 EUR")',
        'def f(a):\n    """Return the sum of two numbers."""\n    # It is big.\n    return a',
        "SELECT name, rent FROM flats WHERE rent > 70 ORDER BY name",
        "pip install tool\ncd my project folder\nsudo apt-get install -y tool",
        "name: build\non: push\njobs:\n  test:\n    runs-on: linux",
        "server {\n  listen 80;\n}",
        "/**\n * Returns the total of 2 numbers.\n */\nint f(int a);",
    ],
)
@pytest.mark.parametrize("info", ["", "python", "text"])
def test_code_makes_no_claims(code: str, info: str) -> None:
    """Programs, queries, commands and settings are no statements, with or without a label."""
    assert extract(f"```{info}\n{code}\n```") == []


@pytest.mark.parametrize(
    ("info", "lines", "text"),
    [
        ("sh", "cd rooms\nThe rent is 70 EUR.\nls -la", "The rent is 70 EUR."),
        ("sh", "# The rent is 70 EUR.\ncd rooms", "The rent is 70 EUR."),
        (
            "python",
            "x = 5\n# The flat is safe for children\ny = 6",
            "The flat is safe for children",
        ),
        ("python", 'x = 5\n"""The rent is 70 EUR."""\ny = 6', "The rent is 70 EUR."),
        ("js", "// The rent is 70 EUR.\nlet x = 5;", "The rent is 70 EUR."),
        ("css", "/* The rent is 70 EUR. */\na { color: red; }", "The rent is 70 EUR."),
        ("sql", "-- The rent is 70 EUR.\nSELECT rent FROM flats", "The rent is 70 EUR."),
        ("html", "<p>The rent is 70 EUR.</p>\n<hr>", "The rent is 70 EUR."),
        ("", "$ ls\nThe rent is 70 EUR.\n$ cd rooms", "The rent is 70 EUR."),
    ],
)
def test_statement_among_code_is_a_claim(info: str, lines: str, text: str) -> None:
    """A fence with a label, and code around it, hide no statement."""
    answer = f"```{info}\n{lines}\n```"
    (claim,) = extract(answer)
    assert (claim.kind, claim.text) == ("fact", text)
    assert answer[slice(*claim.span)] == text


@pytest.mark.parametrize(
    "comment",
    ["loop over all 3 rows", "This is where the list is sorted.", "TODO", "then run it again"],
)
def test_comment_on_code_is_no_claim(comment: str) -> None:
    """What speaks of the program is part of it."""
    assert extract(f"```python\n# {comment}\nfor x in range(3):\n    f(x)  # {comment}\n```") == []


def test_a_stray_dash_makes_no_title() -> None:
    """One mark under a word is an item without words, three are a title."""
    assert texts("Lima\n-\nCusco") == ["Lima", "Cusco"]
    assert texts("Lima\n---\nIt is big.") == ["It is big."]


def test_characters_that_nobody_sees_are_dropped() -> None:
    """Kinds and texts see the word, spans what stands there; scripts that need them keep them."""
    assert texts("The re\u00adnt is\u200b 7\u20600 EUR.") == ["The rent is 70 EUR."]
    assert kinds("I do\u200cn't kn\u00adow.") == ["abstention"]
    assert texts("می\u200cخواهم") == ["می\u200cخواهم"]


@pytest.mark.parametrize(
    "answer",
    [
        "Isn't the rent 70 EUR?",
        "Is the rent not 70 EUR?",
        "Doesn't the plan cover theft?",
        "Isn't it free?",
        "Don't you think it costs 70 EUR?",
        "You know that it costs 70 EUR, right?",
        "The rent is 70 EUR, OK?",
        "Did you know members pay nothing?",
        "What you pay is 70 EUR, any questions?",
        "70 EUR, any questions?",
        "Yes, it costs 70 EUR?",
        "If you book now, the rent is 70 EUR, do you agree?",
        "Would you take the flat, which costs 70 EUR?",
        "The rent is waived and is that fine with you?",
        "Wussten Sie, dass die Miete 70 EUR beträgt?",
        "Ist die Miete nicht 70 EUR?",
        "¿Sabías que la renta es de 70 EUR?",
        "Le loyer est de 70 EUR, n'est-ce pas ?",
        "Sapevi che costa 70 EUR?",
        "Não custa 70 EUR?",
        "De huur is 70 EUR, toch?",
        "家賃は70ユーロですよね？",
        "租金是70欧元，对吗？",
    ],
)
def test_a_question_that_states_is_a_fact(answer: str) -> None:
    """Leading questions and tags are no way past the checker."""
    assert kinds(answer) == ["fact"]


@pytest.mark.parametrize(
    "answer",
    [
        "Wouldn't you like more pictures?",
        "Don't you want to stay 2 nights?",
        "Is the rent 70 EUR?",
        "You mean the 70 EUR flat?",
        "By the way, what is 5 + 5?",
        "To help you better, could you tell me your name?",
        "If the rent is 70 EUR, would you come?",
        "Isn't that great?",
        "In which town are you?",
        "Did you know where it was?",
        "Shall I book it, ok?",
        "Um wie viel Uhr kommen Sie?",
        "Möchten Sie nicht 2 Zimmer?",
        "¿No quieres 2 noches?",
        "Votre plan est-il actif ?",
        "何時に来ますか？",
    ],
)
def test_a_question_that_asks_is_no_fact(answer: str) -> None:
    """Offers and questions back hold nothing to check, also where they are denied."""
    assert kinds(answer) == ["question"]


def test_json_answers_are_read_by_leaf() -> None:
    """Each text and number is a claim after its keys, at its place; kinds are what they say."""
    answer = '{"answer": "I don\'t know.", "flat": {"rent_eur": 70, "tags": ["new \\u00e9tage"]}}'
    claims = extract(answer)
    assert [(claim.kind, claim.text) for claim in claims] == [
        ("abstention", "I don't know."),
        ("fact", "flat: rent eur: 70"),
        ("fact", "flat: tags: new étage"),
    ]
    assert [answer[slice(*claim.span)] for claim in claims][1:] == ["70", "new \\u00e9tage"]
    assert texts('{"answer": "70 EUR"}', "The rent?") == ["The rent? 70 EUR"]
    assert kinds('{"answer": "I don\'t know. The rent is 70 EUR."}') == ["abstention", "fact"]
    assert texts('```json\n{"answer": "It is free."}\n```') == ["answer: It is free."]
    assert extract('{"answer": ""}') == []
    assert len(extract('{"answer": "70 EUR"')) == 1
    assert extract("[" * 50_000 + "]" * 50_000) == []


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know, but the rent amounts to 70 EUR.",
        "I don't know, maybe 70 EUR.",
        "I'm not sure: 70 EUR.",
        "I don't know but members pay nothing",
        "I could not find it, but I can say it is 70 EUR.",
        "I don't know, as the rent is 70 EUR.",
        "Ich weiß es nicht, aber die Miete beläuft sich auf 70 EUR.",
        "No lo sé, pero la renta es de 70 EUR.",
        "Je ne sais pas, mais le loyer s'élève à 70 EUR.",
        "Non lo so, ma l'affitto ammonta a 70 EUR.",
        "Não sei, mas a renda é de 70 EUR.",
        "Dat weet ik niet, maar de huur bedraagt 70 EUR.",
        "Bilmiyorum, ama kira 70 EUR.",
        "わかりませんが、家賃は70ユーロです。",
        "我不知道，但租金是70欧元。",
    ],
)
def test_an_abstention_hides_no_fact(answer: str) -> None:
    """What follows "I don't know, but" is found in each language, whatever its verb."""
    assert kinds(answer) == ["abstention", "fact"]


@pytest.mark.parametrize(
    "answer",
    [
        "I cannot find a rent below 70 EUR.",
        "I don't know whether it is 70 EUR.",
        "I could not find it, but happy to look again.",
        "I don't know, as the context does not say it.",
    ],
)
def test_an_abstention_without_a_fact_stays_whole(answer: str) -> None:
    """A figure that is only asked about is not stated."""
    assert kinds(answer) == ["abstention"]


WORDS = "".join(chr(c) for c in range(0x61, 0x7B)) + "éßжあ中अا"


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_gives_claims_in_order(answer: str) -> None:
    """Spans lie in the answer, in order and apart, whatever it holds; nothing raises."""
    extract(answer, "What is it?")


@given(
    st.text(alphabet="ab1 .,:;!?\n\r\t-*+>#|`~[]()_\\<>&=\"'。？\x00\x0b\u00a0\u2028", max_size=200)
)
@settings(max_examples=500, deadline=None)
def test_any_markup_gives_claims_in_order(answer: str) -> None:
    """The same for text made of what markdown and sentences are marked with."""
    extract(answer)


@given(st.text(alphabet=f"{WORDS} .,;!?\n\t-*+>\"'()。？😀\x00\u00a0", max_size=200))
@settings(max_examples=500, deadline=None)
def test_no_letter_is_lost(answer: str) -> None:
    """Without code, titles, tables and lead-ins, each letter lies in the span of a claim."""
    # "a) " marks an item.
    answer = answer.replace(")", "")
    # Bold paragraphs and lines over a rule are titles.
    if "**" in answer or "---" in answer:
        answer = answer.replace("-", "").replace("*", "")
    covered: set[int] = set()
    for claim in extract(answer):
        covered.update(range(*claim.span))
    lost = [at for at, char in enumerate(answer) if char.isalpha() and at not in covered]
    assert not lost


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    ),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_any_json_gives_claims_in_order(value: object, plain: bool) -> None:
    """Spans hold for any JSON, escaped or not."""
    extract(json.dumps(value, ensure_ascii=not plain))


@pytest.mark.parametrize(
    "answer",
    [
        "Guests pay 5 euros.",
        "Rowing boats cost €27 per night.",
        "The Pell ferry carries 95 passengers.",
        "Each member gets 10% off.",
        "The hall seats up to 300.",
    ],
)
def test_a_sentence_with_an_amount_needs_no_question(answer: str) -> None:
    """Its verb may be in no list; the question's words are not the answer's claim."""
    assert [claim.text for claim in LocalClaims().extract(answer, "How much is it?")] == [answer]


@pytest.mark.parametrize("answer", ["Rooms 5 to 9.", "Last 3 trains.", "Adult tickets 5 euros."])
def test_a_phrase_with_an_amount_takes_the_question(answer: str) -> None:
    """There is no verb before the amount."""
    [claim] = LocalClaims().extract(answer, "Which are they?")

    assert claim.text == f"Which are they? {answer}"


@pytest.mark.parametrize(
    ("answer", "said"), [("Yes, it is.", "Yes."), ("No, they aren't!", "No."), ("Nope, it's", None)]
)
def test_an_echo_of_the_question_says_yes_or_no(answer: str, said: str | None) -> None:
    """The whole echo is where it stands; what is no echo is left as it is."""
    [claim] = LocalClaims().extract(answer, "Is the sauna open?")

    assert claim.text == (f"Is the sauna open? {said}" if said else claim.text)
    assert claim.span == (0, len(answer))


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Please contact reception.", "courtesy"),
        ("You may want to ask at the front desk.", "courtesy"),
        ("For more information, please contact our customer service.", "courtesy"),
        ("Please call 555-0100.", "fact"),
        ("Please contact Dr. Marlow.", "fact"),
        ("Ask the staff for free towels.", "fact"),
        ("Consult your doctor before you take 500 mg.", "fact"),
        ("The leaflet does not say whether dogs are allowed.", "abstention"),
        ("It is not mentioned.", "abstention"),
        ("It is not mentioned that dogs pay 5 euros.", "fact"),
        ("That is not something I can find in the documents.", "abstention"),
    ],
)
def test_whom_to_turn_to_is_no_fact_unless_it_says_more(sentence: str, kind: str) -> None:
    """A number, a name or a promise is more."""
    assert {claim.kind for claim in LocalClaims().extract(sentence, None)} == {kind}
