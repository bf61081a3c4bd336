"""Commands in code spans, word by word, beside those of the context.

In: a code span of a claim, and the texts of the passages. Out: the context's command that comes
nearest to it where none holds it, or that there is none; silence where it is held, where it is no
command, or where the context has no command of that program and the program is not a known one.

A command is held where the context has one with all its words, in their order, and all its flags.
What stands in capitals, in brackets or behind a dollar sign stands for any word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Command", "commands_in", "foreign", "programs_in"]

_PROGRAM = re.compile(r"(?:\./)?[a-z][a-z0-9_.+-]*(?<![.:])")
_ARGUMENT = re.compile(r"[-\w./<\[{$@~…]")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")
_SLOT = re.compile(
    r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\$\{?\w+\}?|[A-Z][A-Z0-9]*(?:[_-][A-Z0-9]+)*|\.\.\.|…"
)
_HOLDER = re.compile(r"<[^<>\n]{1,60}>|\{[^{}\n]{1,60}\}")
_CHAIN = re.compile(r"\s(?:&&|\|\||\||;)\s|;\s")
_SPAN = re.compile(r"(`{1,2})(?!`)([^`\n]{2,300})\1(?!`)")
_LINE = re.compile(
    r"(?m)^[ \t>]*(?:\$ |# |> |% )?((?:sudo )?(?:\./)?[a-z][\w.+-]*[ \t][^\n`]{1,300})$"
)
_FENCE = re.compile(r"(?ms)^[ \t>]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t>]*\1|\Z)")
_STOP = re.compile(r"[.,;:!?)](?:\s|$)|\n|`")
_MOST_WORDS = 24
_LONGEST = 300
"""Characters."""
_MOST = 400
"""Commands of a context that are looked at."""
_ALIKE = 0.5
KNOWN = frozenset(
    "git npm npx yarn pnpm pip pip3 pipx python python3 node docker docker-compose podman kubectl "
    "helm curl wget ssh scp rsync rm cp mv mkdir chmod chown apt apt-get yum dnf brew systemctl "
    "service cargo terraform aws gcloud az psql mysql redis-cli conda poetry mvn gradle".split()
)
"""Programs that are known as such, also where the context names none."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its program, its words in order, and its flags."""

    text: str
    words: tuple[str, ...]
    flags: frozenset[str]

    @property
    def program(self) -> str:
        """Its first word."""
        return self.words[0]

    def holds(self, other: Command) -> bool:
        """Say whether all words and flags of another stand in this one, the words in order."""
        if not other.flags <= self.flags or not _same(self.words[0], other.words[0]):
            return False
        at = 1
        for word in other.words[1:]:
            while at < len(self.words) and not _same(self.words[at], word):
                at += 1
            if at == len(self.words):
                return False
            at += 1
        # the first word behind the program says what it is to do
        return len(other.words) < 2 or len(self.words) < 2 or _same(self.words[1], other.words[1])

    def likeness(self, other: Command) -> float:
        """Return the share in [0, 1] of another's words and flags that stand in this one."""
        mine, theirs = {*self.words, *self.flags}, {*other.words, *other.flags}
        return len(mine & theirs) / len(theirs)


def commands_in(span: str) -> list[Command]:
    """Return the commands of a code span: none where it is a mere word, a value or a name."""
    return [one for part in _CHAIN.split(span) if (one := _command(part)) is not None]


def programs_in(texts: Sequence[str]) -> dict[str, list[Command]]:
    """Return the commands of passages by their programs: in code, and in prose that shows one."""
    found: dict[str, list[Command]] = {}
    for text in texts:
        for one in _written(text):
            found.setdefault(one.program, []).append(one)
    return found


def foreign(
    mine: Command, known: dict[str, list[Command]], texts: Sequence[str]
) -> Command | str | None:
    """Return the context's command that is nearest, or "" if it has none; None if it is held."""
    others = known.get(mine.program, [])[:_MOST]
    if not others and mine.program not in KNOWN:
        return None
    if any(other.holds(mine) for other in others):
        return None
    plain = " ".join(mine.text.split())
    if any(
        re.search(rf"(?<![\w-]){re.escape(plain)}(?![\w-])", " ".join(t.split())) for t in texts
    ):
        return None
    nearest = max(others, key=lambda other: other.likeness(mine), default=None)
    return nearest if nearest is not None and nearest.likeness(mine) >= _ALIKE else ""


def _written(text: str) -> Iterator[Command]:
    spans = [match[2] for match in _SPAN.finditer(text)]
    for match in _FENCE.finditer(text):
        spans += [line[1] for line in _LINE.finditer(match[2])]
    for span in spans[:_MOST]:
        yield from commands_in(span)
    # in prose, only what has a flag or a word that stands for others
    for match in re.finditer(r"(?<![\w`./-])[a-z][\w.+-]*(?= )", text):
        end = match.start() + _LONGEST
        stop = _STOP.search(text, match.end(), end)
        shown = _command(text[match.start() : stop.start() if stop else end])
        if shown is not None and _shows(shown) and match[0] not in _PROSE:
            yield shown


_PROSE = frozenset(
    "run use type enter call execute using with the a an and or then to of by in on for via as is "
    "are command flag option".split()
)


def _shows(one: Command) -> bool:
    early = one.text.split()[1:5]
    return any(_FLAG.fullmatch(word) or _SLOT.fullmatch(word) for word in early)


def _command(text: str) -> Command | None:
    bare = re.sub(r"^(?:[$%>#] )?(?:sudo )?", "", text.strip())
    parts = [part.strip("\"'") for part in _HOLDER.sub("<x>", bare).split()][:_MOST_WORDS]
    if len(parts) < 2 or not _PROGRAM.fullmatch(parts[0]) or not _ARGUMENT.match(parts[1]):
        return None
    words: list[str] = []
    flags: set[str] = set()
    for part in parts:
        flag, equals, value = part.partition("=")
        if _FLAG.fullmatch(flag):
            flags.add(flag)
            words += [value.strip("\"'")] if equals else []
        elif part:
            words.append(part)
    return Command(bare, tuple(words), frozenset(flags))


def _same(one: str, other: str) -> bool:
    return one == other or _SLOT.fullmatch(one) is not None or _SLOT.fullmatch(other) is not None
