"""The peers that ask a model about an answer's claims, each run as its own documentation does.

In: an exchange and the address of a server. Out: the calls that a peer makes there; and, for a
request of a peer, what an honest model says to it, in the form that the peer asks for. A peer is
imported when it is run, so that one that is not installed is only missing.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faithguard.types import Exchange

__all__ = ["PEERS", "Peer", "Reading"]

# Neither calls home nor draws bars while it is timed.
os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", RAGAS_DO_NOT_TRACK="true")

_TRUTHS_SHARE = 3
"""DeepEval asks for a comprehensive list of the context's truths; one sentence of three is kind."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an honest model knows."""

    known: Mapping[str, str]
    """Claim -> the stretch of the context that says it; empty where none does."""

    def stretch(self, claim: str) -> str:
        """Return what says a claim."""
        return self.known.get(claim.strip(), "")


Messages = Sequence[Mapping[str, Any]]
"""Of a request, each with its `content` as a text."""
Run = Callable[[str, Exchange], None]
Say = Callable[[Messages, Reading], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One peer."""

    name: str
    package: str
    """Its distribution."""
    checks: str
    """What it asks about."""
    run: Run
    """Ask about an exchange through a server's address."""
    say: Say
    """Messages -> a reply, or None if the messages are not this peer's."""


def _dumped(value: object) -> str:
    """Return JSON without space: a model may write some to a peer, and each is a token."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _texts(exchange: Exchange) -> list[str]:
    return [passage.text for passage in exchange.passages]


# RAGAS: statements, then all verdicts in one call ----------------------------------------------


def _ragas(url: str, exchange: Exchange) -> None:
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    async def run() -> None:
        async with AsyncOpenAI(base_url=url, api_key="none") as client:
            # its default of 1,024 cuts the verdicts on twelve statements off
            llm = llm_factory("any", client=client, max_tokens=8_192)
            await Faithfulness(llm=llm).ascore(
                user_input=exchange.question or "",
                response=exchange.answer,
                retrieved_contexts=_texts(exchange),
            )

    asyncio.run(run())


def _said_to_ragas(messages: Messages, reading: Reading) -> str | None:
    text = str(messages[-1]["content"])
    if "Now perform the same with the following input" not in text:
        return None
    given = json.loads(text.rsplit("\ninput: ", 1)[1].rsplit("\nOutput:", 1)[0])
    if "answer" in given:
        return _dumped({"statements": _sentences(given["answer"])})
    return _dumped({"statements": [_ragas_verdict(s, reading) for s in given["statements"]]})


def _ragas_verdict(statement: str, reading: Reading) -> dict[str, Any]:
    found = reading.stretch(statement)
    reason = f"The context says: {found}." if found else "The context does not say it."
    return {"statement": statement, "reason": reason, "verdict": int(bool(found))}


# DeepEval: truths of the context and claims of the answer, verdicts, a reason --------------------


def _deepeval(url: str, exchange: Exchange) -> None:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase

    model = OpenAIModel(model="gpt-4.1-mini", base_url=url, api_key="none")
    case = LLMTestCase(
        input=exchange.question or "",
        actual_output=exchange.answer,
        retrieval_context=_texts(exchange),
    )
    FaithfulnessMetric(model=model).measure(case, _show_indicator=False)


def _said_to_deepeval(messages: Messages, reading: Reading) -> str | None:
    text = str(messages[-1]["content"])
    if "generate a comprehensive list of" in text and '"truths"' in text:
        context = text.rsplit("\nText:\n", 1)[1].rsplit("\nJSON:", 1)[0]
        return _dumped({"truths": _sentences(context)[::_TRUTHS_SHARE]})
    if '"claims" key' in text:
        answer = text.rsplit("\nAI Output:\n", 1)[1].rsplit("\nJSON:", 1)[0]
        return _dumped({"claims": _sentences(answer)})
    if "'verdicts' key" in text:
        claims = [claim for claim in reading.known if claim in text.split("Claims:")[-1]]
        return _dumped({"verdicts": [_deepeval_verdict(claim, reading) for claim in claims]})
    if "'reason' key" in text:
        return _dumped({"reason": "The score is what it is because some claims are not stated."})
    return None


def _deepeval_verdict(claim: str, reading: Reading) -> dict[str, Any]:
    if reading.stretch(claim):
        return {"verdict": "yes", "reason": None}
    return {"verdict": "borderline", "reason": "The context does not say it."}


# LlamaIndex: the whole answer at once ------------------------------------------------------------


def _llama_index(url: str, exchange: Exchange) -> None:
    from llama_index.core.evaluation import FaithfulnessEvaluator
    from llama_index.llms.openai_like import OpenAILike

    llm = OpenAILike(
        model="any", api_base=url, api_key="none", is_chat_model=True, context_window=128_000
    )
    FaithfulnessEvaluator(llm=llm).evaluate(response=exchange.answer, contexts=_texts(exchange))


def _said_to_llama_index(messages: Messages, reading: Reading) -> str | None:
    text = " ".join(str(message["content"]) for message in messages)
    return "NO" if "given piece of information" in text else None


# TruLens: what is trivial, then a call for each sentence -----------------------------------------


def _trulens(url: str, exchange: Exchange) -> None:
    import trulens.feedback.llm_provider as provider
    from openai import OpenAI
    from trulens.core.feedback.endpoint import Endpoint

    class Provider(provider.LLMProvider):  # type: ignore[misc]
        """Its own provider for OpenAI wants openai 1; the prompts and calls are all its own."""

        def _create_chat_completion(
            self, prompt: Any = None, messages: Any = None, response_format: Any = None, **_: Any
        ) -> str:
            with OpenAI(base_url=url, api_key="none") as client:
                said = client.chat.completions.create(model="any", messages=messages)
            return said.choices[0].message.content or ""

    provider.nltk.download = lambda *_, **__: True  # a download of data, not a part of a check
    provider.sent_tokenize = _sentences
    judge = Provider(endpoint=Endpoint(name="scripted", rpm=6_000), model_engine="any")
    judge.groundedness_measure_with_cot_reasons(
        source="\n".join(_texts(exchange)), statement=exchange.answer
    )


def _said_to_trulens(messages: Messages, reading: Reading) -> str | None:
    system, text = str(messages[0]["content"]), str(messages[-1]["content"])
    if "trivial" in system.casefold() and "list" in system.casefold():
        return f"[{','.join(map(repr, _sentences_known(text, reading)))}]"
    if "INFORMATION OVERLAP" not in system:
        return None
    statement = text.rsplit("\nSTATEMENT: ", 1)[1].split("\n", 1)[0]
    found = reading.stretch(statement)
    return _dumped(
        {
            "criteria": statement,
            "supporting_evidence": found or "NOTHING FOUND",
            "score": 3 if found else 0,
        }
    )


def _sentences_known(text: str, reading: Reading) -> list[str]:
    return [claim for claim in reading.known if claim in text]


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]


PEERS = (
    Peer(name="RAGAS", package="ragas", checks="claims", run=_ragas, say=_said_to_ragas),
    Peer(
        name="DeepEval", package="deepeval", checks="claims", run=_deepeval, say=_said_to_deepeval
    ),
    Peer(
        name="TruLens",
        package="trulens-feedback",
        checks="sentences",
        run=_trulens,
        say=_said_to_trulens,
    ),
    Peer(
        name="LlamaIndex",
        package="llama-index-core",
        checks="the whole answer",
        run=_llama_index,
        say=_said_to_llama_index,
    ),
)
"""In the order of the table."""
