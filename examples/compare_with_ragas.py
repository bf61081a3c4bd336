"""Which claims does RAGAS see, and which does faithguard? Both on the same answers and server.

pip install "faithguard[openai,peers]"
python examples/compare_with_ragas.py                     # a scripted model, nothing to set up
python examples/compare_with_ragas.py MODEL [BASE_URL]    # a real one; OPENAI_API_KEY
"""

import asyncio
import json
import os
import re
import sys
from contextlib import ExitStack
from itertools import zip_longest

os.environ.setdefault("RAGAS_DO_NOT_TRACK", "true")

from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness
from rich.console import Console
from rich.table import Table

from faithguard import Exchange, OpenAIJudge, Passage, Report, Scorer
from faithguard.testing import ChatServer, honest, spoken

CONTEXT = (
    "The night train leaves Graz at 22:15 and reaches Zagreb at 05:40. It runs every day.",
    "Bicycles travel free of charge but need a reservation. Dogs need a muzzle.",
)
QUESTION = "What should I know about the night train?"
ANSWERS = (
    "The night train leaves Graz at 22:15. Bicycles travel free of charge. Breakfast is served in "
    "bed.",
    "Dogs need a muzzle. The night train reaches Zagreb at 06:40.",
    "I do not know.",
)


def scripted(messages: list[dict[str, str]]) -> str:
    """Say what an honest model that compares words would, to either of them."""
    text = messages[-1]["content"]
    if text.startswith("DATA "):
        return spoken(honest(), text)
    given = json.loads(text.rsplit("\ninput: ", 1)[1].rsplit("\nOutput:", 1)[0])
    if "answer" in given:
        return json.dumps({"statements": re.findall(r"[^.]+\.", given["answer"])})
    verdicts = [
        {
            "statement": said,
            "reason": "compared",
            "verdict": int(said.strip(" .") in given["context"]),
        }
        for said in given["statements"]
    ]
    return json.dumps({"statements": verdicts})


async def ragas(answer: str, model: str, url: str | None) -> tuple[float, list[str]]:
    """Return RAGAS's score, and its statements with their verdicts."""
    replies = []
    async with AsyncOpenAI(
        base_url=url, api_key=os.environ.get("OPENAI_API_KEY", "none")
    ) as client:
        llm = llm_factory(model, client=client, max_tokens=8_192)
        generate = llm.agenerate

        async def remembered(*args, **settings):
            replies.append(await generate(*args, **settings))  # the result has a number only
            return replies[-1]

        llm.agenerate = remembered
        result = await Faithfulness(llm=llm).ascore(
            user_input=QUESTION, response=answer, retrieved_contexts=list(CONTEXT)
        )
    judged = replies[1].statements if len(replies) > 1 else []
    words = {1: "supported", 0: "not supported"}
    return result.value, [f"{words[one.verdict]}: {one.statement.strip()}" for one in judged]


def ours(answer: str, judge: OpenAIJudge) -> Report:
    """Return faithguard's report, by the judge alone."""
    passages = tuple(Passage(text=text) for text in CONTEXT)
    exchange = Exchange(id="compared", question=QUESTION, answer=answer, passages=passages)
    return Scorer(verifiers=[judge]).score(exchange)


def main() -> None:
    """Print both, side by side."""
    model = sys.argv[1] if len(sys.argv) > 1 else "scripted"
    url = sys.argv[2] if len(sys.argv) > 2 else None
    with ExitStack() as stack:
        if model == "scripted":
            url = stack.enter_context(ChatServer(scripted)).url
        judge = OpenAIJudge(model, url, claims="extracted")
        for answer in ANSWERS:
            score, theirs = asyncio.run(ragas(answer, model, url))
            report = ours(answer, judge)
            own = report.outcome if report.score is None else f"{report.score:.2f}"
            table = Table(f"RAGAS: {score:.2f}", f"faithguard: {own}", title=answer, width=100)
            claims = [f"{claim.label.replace('_', ' ')}: {claim.text}" for claim in report.claims]
            for pair in zip_longest(theirs, claims, fillvalue=""):
                table.add_row(*pair)
            Console(width=100).print(table)


if __name__ == "__main__":
    main()
