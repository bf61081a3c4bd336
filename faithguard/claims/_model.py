"""Answer -> claims, by a chat model.

In: an answer and its question. Out: claims that are atomic and stand alone, each with its span in
the answer; those of the local splitter wherever the model has none that holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random, SystemRandom
from typing import Any, cast

from faithguard._offload import all_of
from faithguard.chat import ChatModel, Completion, Message, as_data, objects_in, visible
from faithguard.claims._anchored import anchored, parts_of, statements_of
from faithguard.claims._local import LocalClaims
from faithguard.errors import ConfigError
from faithguard.prompts import CLAIMS_SCHEMA, VERSION, claims_prompt, user_message
from faithguard.types import Claim

__all__ = ["ModelClaims", "Splits"]


class Splits(list[Claim]):
    """The claims of one split of several, and how many facts each of them has."""

    def __init__(self, splits: Sequence[Sequence[Claim]]) -> None:
        counts = [sum(claim.kind == "fact" for claim in split) for split in splits]
        middle = sorted(counts)[(len(counts) - 1) // 2]
        super().__init__(splits[counts.index(middle)])
        self.counts = tuple(counts)
        """In the order in which they were made."""


class ModelClaims:
    """Split an answer by a chat model, in one call or several.

        Scorer(ModelClaims(OpenAIChat("gpt-4.1-mini")))

    What the model leaves out, or changes, is still a claim: the local splitter's.

    Args:
        chat: The model.
        timeout: Seconds, retries included.
        max_tokens: Of the reply.
        samples: How often the answer is split. The claims are those of the split with the median
            number of facts; the report has the numbers of all.
        random: Chance, for the marks around the data.
        clock: Seconds, as the model's deadlines are told.
    """

    def __init__(
        self,
        chat: ChatModel,
        *,
        timeout: float = 60.0,
        max_tokens: int = 4_096,
        samples: int = 1,
        random: Random | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._timeout = timeout
        self._max_tokens = max_tokens
        if not isinstance(cast(object, samples), int) or samples < 1:
            raise ConfigError(f"`samples` is {samples!r}: it must be a whole number, 1 or more")
        self._samples = samples
        self._random = random or SystemRandom()
        self._clock = clock
        self._local = LocalClaims()

    @property
    def name(self) -> str:
        """`name@version`: part of every report."""
        added = f"+samples={self._samples}" if self._samples > 1 else ""
        return f"model-claims@{VERSION}:{self._chat.name}{added}"

    def extract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Return the claims of an answer, in its order; blocking.

        Raises:
            JudgeError: If the model cannot be asked.
        """
        local = self._local.extract(answer, question)
        deadline = self._clock() + self._timeout
        splits = [self._split(answer, question, local, deadline) for _ in range(self._samples)]
        return splits[0] if len(splits) == 1 else Splits(splits)

    async def aextract(self, answer: str, question: str | None = None) -> list[Claim]:
        """Do the same without blocking the event loop; several splits are made at once."""
        local = await self._local.aextract(answer, question)
        deadline = self._clock() + self._timeout
        splits = await all_of(
            *(self._asplit(answer, question, local, deadline) for _ in range(self._samples))
        )
        return splits[0] if len(splits) == 1 else Splits(splits)

    def _split(
        self, answer: str, question: str | None, local: Sequence[Claim], deadline: float
    ) -> list[Claim]:
        split = _Split(answer, question, local)
        while (schema := split.schema()) is not None:
            split.took(
                self._chat.complete(
                    split.messages(self._mark()),
                    schema=schema or None,
                    max_tokens=self._max_tokens,
                    deadline=deadline,
                )
            )
        return split.claims()

    async def _asplit(
        self, answer: str, question: str | None, local: Sequence[Claim], deadline: float
    ) -> list[Claim]:
        split = _Split(answer, question, local)
        while (schema := split.schema()) is not None:
            split.took(
                await self._chat.acomplete(
                    split.messages(self._mark()),
                    schema=schema or None,
                    max_tokens=self._max_tokens,
                    deadline=deadline,
                )
            )
        return split.claims()

    def _mark(self) -> str:
        return f"{self._random.getrandbits(64):016x}"


@dataclass(slots=True)
class _Split:
    """One answer being split, without I/O."""

    answer: str
    question: str | None
    local: Sequence[Claim]
    said: Sequence[Mapping[str, Any]] = ()
    asked: int = 0

    def schema(self) -> Mapping[str, Any] | None:
        """Return the schema of the next call; an empty one for none, None if nothing is to ask.

        A reply without statements is asked for once more, and its form left to the prompt: a
        server may have spoiled it.
        """
        if not self.local or self.said or self.asked == 2:
            return None
        return {} if self.asked else CLAIMS_SCHEMA

    def messages(self, mark: str) -> tuple[Message, Message]:
        """Return what to ask."""
        self.asked += 1
        data: dict[str, Any] = {"question": visible(self.question)} if self.question else {}
        data["parts"] = [
            {"part": number, "text": visible(text)}
            for number, text in enumerate(parts_of(self.answer, self.local), 1)
        ]
        return (
            Message("system", claims_prompt(mark)),
            Message("user", user_message(mark, as_data(data))),
        )

    def took(self, reply: Completion) -> None:
        """Take a reply; one that was cut off has statements, too."""
        self.said = list(statements_of(objects_in(reply.text)))

    def claims(self) -> list[Claim]:
        """Return the claims."""
        return [one.claim for one in anchored(self.said, self.answer, self.question, self.local)]
