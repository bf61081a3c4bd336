"""What surrounds the local model: premises, fusion, languages, and what is said of a bad folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from faithguard import Claim, ConfigError, Failure, Passage, Verdict
from faithguard.testing import check_verifier
from faithguard.verifiers import Context
from faithguard.verifiers._lexical import Lexical
from faithguard.verifiers.nli import SHIPPED, Nli, read
from faithguard.verifiers.nli._fusion import Fusion
from faithguard.verifiers.nli._language import is_english
from faithguard.verifiers.nli._model import Scores
from faithguard.verifiers.nli._naming import _GROUPS, named_as
from faithguard.verifiers.nli._premises import premises
from faithguard.verifiers.nli._verifier import Reading


class Echo:
    """Says entailment where premise and claim share all words of the claim; keeps what it read."""

    def __init__(self, longest: int = 10_000) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.longest = longest

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Scores | None]:
        """Answer."""
        self.pairs += pairs
        return [self._said(*pair) for pair in pairs]

    def _said(self, premise: str, claim: str) -> Scores | None:
        if len(premise) + len(claim) > self.longest:
            return None
        held = set(claim.lower().split()) <= set(premise.lower().split())
        return Scores(0.9, 0.08, 0.02) if held else Scores(0.1, 0.6, 0.3)


def context(*texts: str) -> Context:
    """Return a context of these passages."""
    return Context([Passage(text=text) for text in texts])


def texts(claim: str, where: Context) -> list[str]:
    """Return the premises of a claim."""
    return [premise.text for premise in premises(claim, where.select(claim), where)]


def test_a_claim_has_few_premises_however_many_passages_there_are() -> None:
    """Three at most, and from hundreds of passages the right one."""
    filler = [f"Barrel {n} holds salted herring from the coast." for n in range(300)]
    where = context(*filler, "It stands by the mill. The ferry leaves at noon. Dogs pay nothing.")

    found = texts("The ferry leaves at noon.", where)

    assert found[0] == "The ferry leaves at noon."
    assert len(found) <= 3


def test_the_sentence_before_says_what_is_spoken_of() -> None:
    """The best sentence is read alone and after its neighbour."""
    where = context("The Tarn ferry is new. It carries 95 passengers.")

    assert texts("It carries 95 passengers.", where)[:2] == [
        "It carries 95 passengers.",
        "The Tarn ferry is new. It carries 95 passengers.",
    ]


def test_a_claim_may_need_two_passages() -> None:
    """What was selected from different passages is read together."""
    where = context("Anna runs the bakery.", "The bakery opens at six.")

    assert any("Anna" in text and "six" in text for text in texts("Anna opens at six.", where))


def test_what_a_sentence_points_back_to_is_read_with_it() -> None:
    """What stands before any other sentence may wait until there is doubt."""
    where = context("The ferry is new. It leaves at noon. The mill is red and stands still.")

    def late(claim: str) -> list[tuple[str, bool]]:
        return [(p.text, p.late) for p in premises(claim, where.select(claim), where)]

    assert late("It leaves at noon.") == [
        ("It leaves at noon.", False),
        ("The ferry is new. It leaves at noon.", False),
    ]
    assert late("The mill stands still.") == [
        ("The mill is red and stands still.", False),
        ("It leaves at noon. The mill is red and stands still.", True),
    ]


def test_what_a_claim_needs_is_not_late() -> None:
    """The sentence before, where it holds what the best one lacks."""
    where = context("The ferry is new. The mill is red.")
    claim = "The mill and the ferry are red."

    [_, both] = premises(claim, where.select(claim), where)

    assert (both.text, both.late) == ("The ferry is new. The mill is red.", False)


@pytest.mark.parametrize("doubt", [True, False])
def test_a_late_premise_is_read_where_the_others_leave_doubt(doubt: bool) -> None:
    """In a second go, and what is said of it counts beside the others."""
    model = Echo()
    where = context("The ferry is new. The mill is red.")
    asked: list[int] = []

    def doubted(reading: Reading) -> bool:
        asked.append(len(reading.scores))
        return doubt

    [reading] = read(["The mill is not blue."], where, model, doubted=doubted)  # type: ignore[arg-type]

    premises_read = [premise for premise, _ in model.pairs]
    assert asked == [1]
    assert premises_read == ["The mill is red.", "The ferry is new. The mill is red."][: 1 + doubt]
    assert len(reading.scores) == 1 + doubt


@pytest.mark.parametrize(
    ("claim", "held", "read_as"),
    [
        ("There is a parking lot.", "A car park is near.", "A parking lot is near."),
        ("Parking lots are free.", "The car parks are free.", "The Parking lots are free."),
        ("It has a car park.", "The parking lot and the car park are near.", None),
        ("It has a car.", "The car park is near.", None),
        ("The vats are full.", "The value added tax is due.", None),
        ("It lowers hypertension.", "It lowers high-blood-pressure alarms.", None),
    ],
)
def test_another_name_of_a_thing_is_read_as_the_name_in_the_claim(
    claim: str, held: str, read_as: str | None
) -> None:
    """In one number or several; never a part of another word, or where both names stand."""
    assert named_as(claim, held) == (read_as or held)


def test_names_of_things_each_mean_one_thing() -> None:
    """A name in two groups would carry over what is said of one to the other."""
    names = [name for line in _GROUPS.split("\n") for name in line.strip().split(", ") if name]

    assert len(names) == len(set(names)) > 150


def test_of_a_sentence_without_end_the_stretch_is_read_that_bears_on_the_claim() -> None:
    """Nothing is cut silently at its end."""
    words = [f"word{n}" for n in range(200)]
    where = context(" ".join([*words, "the lighthouse is painted red", *words]))

    [text] = texts("The lighthouse is painted red.", where)

    assert "the lighthouse is painted red" in text
    assert len(text.split()) <= 110


def test_nothing_that_bears_on_a_claim_is_no_premise() -> None:
    """The model is not asked."""
    model = Echo()

    [reading] = read(["Quorvex zibbled."], context("The mill is red."), model)  # type: ignore[arg-type]

    assert (reading.scores, reading.unread, model.pairs) == ([], False, [])


def test_all_claims_are_read_in_one_go() -> None:
    """So that pairs of like length can be read together; each claim gets its own scores."""
    model = Echo()
    where = context("the mill is red", "the ferry leaves at noon")

    mill, ferry = read(["mill is red", "the ferry leaves at one"], where, model)  # type: ignore[arg-type]

    assert max(s.entailment for s in mill.scores) == 0.9
    assert max(s.entailment for s in ferry.scores) == 0.1


@pytest.mark.parametrize("claim", ["The mill can never turn.", "the mill can never turn"])
def test_a_sentence_of_the_context_is_not_put_to_the_model(claim: str) -> None:
    """Nothing follows more surely, and a model may doubt it where it denies something."""
    model = Echo()

    [reading] = read([claim], context("The ferry is late. The mill can never turn."), model)  # type: ignore[arg-type]

    assert [score.entailment > 0.95 for score in reading.scores] == [True]
    assert model.pairs == []


def test_a_part_of_a_sentence_is_put_to_the_model() -> None:
    """What the rest of it says may change what it means."""
    model = Echo()

    read(["The mill can turn."], context("Nobody knows whether the mill can turn."), model)  # type: ignore[arg-type]

    assert len(model.pairs) == 1


def test_what_is_too_long_for_the_model_is_told_apart_from_what_is_not_there() -> None:
    """A reading without a score, though there are premises, is unread."""
    [reading] = read(["mill is red"], context("the mill is red"), Echo(longest=5))  # type: ignore[arg-type]

    assert reading.unread


@pytest.mark.parametrize(
    ("sentence", "restricted"),
    [
        ("Boats are hired for a day and may be kept longer, unless it rains.", False),
        ("Boats are hired for a day; only members keep them longer.", False),
        ("Boats are hired for a day, unless it rains.", True),
        ("Boats are hired for a day only by members and their guests.", True),
        ("If it is dry boats are hired for a day and may be kept longer.", True),
    ],
)
def test_a_condition_restricts_the_part_that_it_stands_with(
    sentence: str, restricted: bool
) -> None:
    """What is said in full before an "and" does not hang on what is said after it."""
    [reading] = read(["Boats are hired for a day."], context(sentence), Echo())  # type: ignore[arg-type]

    assert reading.features["restricted"] == restricted


def test_what_is_of_something_else_contradicts_nothing() -> None:
    """Whatever a model says of the pair."""

    class Denies(Echo):
        def _said(self, premise: str, claim: str) -> Scores | None:
            return Scores(0.001, 0.001, 0.998)

    verifier = Nli()
    verifier._model = Denies()  # type: ignore[assignment]
    where = context("The night ferry runs every day.")
    claims = [
        Claim(id="c1", text="Breakfast is brought to every table.", span=(0, 0)),
        Claim(id="c2", text="The night ferry runs once a month.", span=(0, 0)),
    ]

    found = verifier.verify(claims, where)

    assert [f.label for f in found if isinstance(f, Verdict)] == ["not_mentioned", "contradicted"]


def test_features_say_what_words_and_values_say_beside_the_model() -> None:
    """All of them are finite and named; the model's log odds are bounded."""
    [reading] = read(["the mill has 3 wheels"], context("the mill has 4 wheels"), Echo())  # type: ignore[arg-type]

    values = reading.features

    assert {"entailed", "contradicted", "coverage", "values"} <= set(values)
    assert all(-40.0 < value < 40.0 for value in values.values())


def test_fusion_is_a_probability(tmp_path: Path) -> None:
    """Whatever the features are; weights that are not there cannot count."""
    path = tmp_path / "fusion.json"
    path.write_text(json.dumps({"weights": {"entailed": 2.0}, "intercept": -1.0}))

    fusion = Fusion.read(path)

    assert 0.0 <= fusion.probability({"entailed": -1e9, "x": 1.0}) < 0.5
    assert 0.5 < fusion.probability({"entailed": 1e9}) <= 1.0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weights": 3, "intercept": 1}', '{"weights'])
def test_damaged_weights_are_told(tmp_path: Path, text: str) -> None:
    """By name, with what to do."""
    path = tmp_path / "fusion.json"
    path.write_text(text)

    with pytest.raises(ConfigError, match="faithguard train"):
        Fusion.read(path)


@pytest.mark.parametrize("held", [None, "", "{}", '{"labels": ["yes", "no"], "file": "x"}'])
def test_a_folder_without_a_model_is_told(tmp_path: Path, held: str | None) -> None:
    """When the verifier is made, not at the first claim."""
    if held is not None:
        (tmp_path / "model.json").write_text(held)

    with pytest.raises(ConfigError, match="faithguard train"):
        Nli(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "The ferry leaves at noon.",
        "Berlin",
        "50 EUR",
        "Members get 10% off.",
        "Paracetamol relieves pain",
        "Müller was born in Köln in 1950.",
    ],
)
def test_english_is_known(text: str) -> None:
    """Names of other tongues and bare values do not make a text foreign."""
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Die Fähre legt mittags ab und ist nicht teuer.",
        "Le bac part à midi et il est gratuit.",
        "El barco sale a las doce y no es caro.",
        "Il traghetto parte alle dodici e non è caro.",
        "渡轮中午出发。",
        "フェリーは正午に出発します。",
        "تغادر العبارة ظهراً.",
        "नौका दोपहर को निकलती है।",
        "Паром отходит в полдень.",
    ],
)
def test_other_languages_are_known_to_be_others(text: str) -> None:
    """The model has not learnt them, and does not guess."""
    assert not is_english(text)


def test_the_shipped_model_is_a_verifier() -> None:
    """It keeps the contract, knows other words for the same, and guesses at no other language."""
    shipped = Nli()
    check_verifier(shipped)
    claims = [
        Claim(id="c1", text="The organ was made in Leiden.", span=(0, 0)),
        Claim(id="c2", text="The choir sings on Mondays.", span=(0, 0)),
        Claim(id="c3", text="Die Orgel ist in Leiden gebaut worden.", span=(0, 0)),
    ]
    found = shipped.verify(claims, context("The organ has forty stops and was built in Leiden."))

    assert [one.label for one in found[:2] if isinstance(one, Verdict)][:1] == ["supported"]
    assert isinstance(found[1], Verdict)
    assert found[1].label != "supported"
    assert isinstance(found[2], Failure)
    assert found[2].kind == "language"


@pytest.mark.parametrize(
    ("claim", "text", "restricted"),
    [
        ("Dogs may stay in the yard.", "Dogs may stay in the yard.", False),
        ("Dogs are let in.", "Dogs are let in if they are on a lead.", True),
        ("Dogs are let in.", "Dogs are let in. They are let in only at noon.", False),
        ("Dogs are let in if on a lead.", "Dogs are let in if they are on a lead.", False),
        ("Cats sleep in the yard.", "Dogs sleep in the yard if they are on a lead.", False),
        ("The fee is 12 euros.", "The fee is €12 unless you are a member.", True),
        ("In the yard dogs may stay.", "Dogs may stay in the yard, unless it rains.", False),
    ],
)
def test_a_claim_word_for_word_without_its_condition_is_told(
    claim: str, text: str, restricted: bool
) -> None:
    """It is one of the features; a sentence that says it without one counts."""
    [reading] = read([claim], context(text), Echo())  # type: ignore[arg-type]

    assert reading.features["restricted"] == float(restricted)


def test_words_judge_what_the_model_cannot_read() -> None:
    """Where they may: else it is a failure, never a guess."""
    where = context("Der Eintritt kostet für alle Gäste zwölf Euro.")
    claim = Claim(id="c1", text="Der Eintritt kostet für alle Gäste zwölf Euro.", span=(0, 46))
    alone, with_words = Nli(), Nli(words=True)

    [failure] = alone.verify([claim], where)
    [verdict] = with_words.verify([claim], where)

    assert isinstance(failure, Failure)
    assert failure.kind == "language"
    assert isinstance(verdict, Verdict)
    assert (verdict.label, verdict.verifier) == ("supported", Lexical.name)
    assert with_words.name == f"{alone.name}+{Lexical.name}"


def test_a_short_claim_is_in_the_language_of_what_it_rests_on() -> None:
    """Names and numbers are of none."""
    claim = Claim(id="c1", text="Kettil: 12", span=(0, 10))
    [german] = Nli().verify([claim], context("Die Fahrt nach Kettil kostet für alle 12 Euro."))
    [english] = Nli().verify([claim], context("The trip to Kettil costs 12 for all."))

    assert isinstance(german, Failure)
    assert isinstance(english, Verdict)


def test_an_answer_of_any_length_is_read_only_so_far() -> None:
    """Claims that say the same are read once; the rest is judged by words, or not at all."""
    where = context("The trip to Kettil costs 12 for all of the guests.")
    texts = ["The trip costs 12.", "The trip costs 13.", "The trip costs 12.", "It is a trip."]
    claims = [Claim(id=f"c{n}", text=text, span=(0, 0)) for n, text in enumerate(texts)]

    found = Nli(most=2, words=True).verify(claims, where)
    alone = Nli(most=2).verify(claims, where)

    names = [one.verifier for one in found if isinstance(one, Verdict)]
    assert [name.partition("@")[0] for name in names] == ["nli", "nli", "nli", "lexical"]
    assert isinstance(alone[3], Failure)
    assert alone[3].kind == "budget"
    with pytest.raises(ConfigError, match="most"):
        Nli(most=0)


def test_a_model_that_says_what_its_labels_mean_takes_no_others() -> None:
    """They would be ignored."""
    with pytest.raises(ConfigError, match="says itself what its labels mean"):
        Nli(SHIPPED, labels={"entailment": "contradiction"})
    with pytest.raises(ConfigError, match="says itself what its labels mean"):
        Nli(labels={"entailment": "contradiction"})
