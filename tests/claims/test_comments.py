"""Statements in the comments of a program: of one line, of several, in docstrings."""

from __future__ import annotations

import pytest

from faithguard.claims import LocalClaims


def facts(answer: str) -> list[str]:
    """Return the texts of the facts, each of which stands somewhere in the answer."""
    found = [one for one in LocalClaims().extract(answer) if one.kind == "fact"]
    assert all(answer[slice(*one.span)].strip() for one in found)
    return [one.text for one in found]


@pytest.mark.parametrize(
    ("info", "code", "said"),
    [
        ("python", "# Moss cures gout\n# Infants can eat moss\nx = 1",
         ["Moss cures gout", "Infants can eat moss"]),
        ("python", "# Moss cures\n# all kinds of gout.\nx = 1", ["Moss cures all kinds of gout."]),
        ("python", "# The dose of moss\n# is 9 g\nx = 1", ["The dose of moss is 9 g"]),
        ("python", "x = 1  # Infants can eat moss daily", ["Infants can eat moss daily"]),
        ("js", "/* Moss cures gout\n   in old goats */\nlet x = 1;",
         ["Moss cures gout in old goats"]),
        ("js", "/**\n * Moss cures gout.\n * Infants can eat moss.\n */\nlet x = 1;",
         ["Moss cures gout.", "Infants can eat moss."]),
        ("python", 'def f():\n    """Do it.\n\n    Infants can eat moss.\n    """\n    pass',
         ["Infants can eat moss."]),
        ("html", "<!-- Moss cures gout\n in old goats -->\n<p>x</p>",
         ["Moss cures gout in old goats"]),
        ("sql", "-- Moss cures gout\n-- in old goats\nSELECT 1", ["Moss cures gout in old goats"]),
        ("lua", "--[[ Moss cures\ngout in goats ]]\nx = 1", ["Moss cures gout in goats"]),
        ("bash", "echo Infants can eat moss daily", ["Infants can eat moss daily"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "> ", "   "])
def test_what_a_comment_states_is_a_claim(
    info: str, code: str, said: list[str], prefix: str
) -> None:
    """However many lines it takes, and wherever the fence stands."""
    lines = [f"```{info}", *code.split("\n"), "```"]
    assert facts("\n".join(f"{prefix}{line}" for line in lines)) == said


@pytest.mark.parametrize(
    "code",
    [
        "# loop over the items\nfor x in y:\n    f(x)",
        "# This function adds\n# two numbers and returns them.\ndef f(a, b): return a + b",
        "/*\n * Helper to format dates.\n */\nlet x = 1;",
        'def f(a):\n    """Return the sum.\n\n    Args:\n        a: What to add.\n    """\n    f()',
        "# Wait until the page has loaded\nf(x)",
        "# Retry when it fails\nf(x)",
        "# make sure that it is closed\nf(x)",
        "# Install the tool\n# then start it\nf(x)",
    ],
)
@pytest.mark.parametrize("info", ["", "python", "js"])
def test_what_a_comment_says_of_the_program_is_none(info: str, code: str) -> None:
    """It tells what the code does, or what to do with it."""
    assert facts(f"```{info}\n{code}\n```") == []
