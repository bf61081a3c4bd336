"""How do I see what my LangChain chain makes up, without changing it?

    pip install "faithguard[langchain]"
    python examples/watch_a_chain.py

The model is scripted, so that this runs with no key; put your own in its place.
"""

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from faithguard import Passage
from faithguard_langchain import FaithfulnessCallback
from faithguard_langchain.testing import PassageRetriever, ScriptedChatModel

retriever = PassageRetriever(
    passages=[Passage(text="The sauna is open from 14:00 to 21:00. Towels cost 3 euros.")]
)
model = ScriptedChatModel(
    reply=lambda messages: "The sauna opens at 2pm. Towels are free for members."
)
chain = (
    {
        "context": retriever | (lambda docs: "\n".join(d.page_content for d in docs)),
        "question": RunnablePassthrough(),
    }
    | ChatPromptTemplate.from_template("Context: {context}\n\nQuestion: {question}")
    | model
    | StrOutputParser()
)

watcher = FaithfulnessCallback(domain="support")
for token in chain.stream("When does the sauna open?", config={"callbacks": [watcher]}):
    print(token, end="", flush=True)
print()

watcher.wait()
for report in watcher.reports:
    for claim in report.facts:
        print(f"{claim.label:>13}: {claim.text}")
