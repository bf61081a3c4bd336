"""How do I keep an unfaithful answer out of a chat and out of its memory?

    pip install "faithguard[llama-index]"
    python examples/guard_a_chat_engine.py

Model and embedding need no key and no download; put your own in their place.
"""

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import ContextChatEngine

from faithguard import UnfaithfulAnswerError
from faithguard_llama_index import guard
from faithguard_llama_index.testing import ScriptedLLM, WordEmbedding


def reply(messages: list[ChatMessage]) -> str:
    """Invent at first; keep to the context once told what was invented."""
    told = "not supported" in (messages[-1].content or "")
    return "Take 500 mg twice a day." if told else "Take 500 g twice a day."


document = Document(text="Adults take 500 mg twice a day.")
index = VectorStoreIndex.from_documents([document], embed_model=WordEmbedding())
engine = ContextChatEngine.from_defaults(
    retriever=index.as_retriever(), llm=ScriptedLLM(reply=reply)
)
question = "How much do adults take?"

try:
    guard(engine, domain="medical").chat(question)
except UnfaithfulAnswerError as held:
    print("held back:", held.decision.reason)
    print("because:", held.report.unsupported[0].reason)
print("messages in the memory:", len(engine.chat_history))

again = guard(engine, domain="medical", on_fail="regenerate")
response, record = again.with_report().stream_chat(question)
response.print_response_stream()
print(f" ({len(record.attempts)} attempts)")
for message in engine.chat_history:
    print(f"{message.role.value:>13}: {message.content}")
