"""How do I keep an unfaithful answer from the reader?

    pip install "faithguard[langchain]"
    python examples/guard_a_chain.py

The model is scripted, so that this runs with no key; put your own in its place.
"""

from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from faithguard import Passage, UnfaithfulAnswerError
from faithguard_langchain import guard
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel


def reply(messages: list[BaseMessage]) -> str:
    """Invent at first; keep to the context once told what was invented."""
    told = "not supported" in messages[-1].text
    return "Take 500 mg twice a day." if told else "Take 500 g twice a day."


retriever = PassageRetriever(passages=[Passage(text="Adults take 500 mg twice a day.")])
chain = (
    {
        "context": retriever | (lambda docs: "\n".join(d.page_content for d in docs)),
        "question": RunnablePassthrough(),
    }
    | ChatPromptTemplate.from_template("Context: {context}\n\nQuestion: {question}")
    | ScriptedChatModel(reply=reply)
)
question = "How much do adults take?"

try:
    guard(chain, domain="medical").invoke(question)
except UnfaithfulAnswerError as held:
    print("held back:", held.decision.reason)
    print("because:", held.report.unsupported[0].reason)

print(guard(chain, domain="medical", fallback="Please ask a pharmacist.").invoke(question).text)

again = guard(chain, domain="medical", on_fail="regenerate")
output, record = again.with_report().invoke(question)
print(output.text, f"({len(record.attempts)} attempts)")
