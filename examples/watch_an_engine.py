"""How do I see what my LlamaIndex app makes up, without changing it?

    pip install "faithguard[llama-index]"
    python examples/watch_an_engine.py

Model and embedding need no key and no download; put your own in their place.
"""

from llama_index.core import Document, VectorStoreIndex

from faithguard_llama_index import watch
from faithguard_llama_index.testing import ScriptedLLM, WordEmbedding

llm = ScriptedLLM(reply=lambda messages: "The sauna opens at 2pm. Towels are free for members.")
document = Document(text="The sauna is open from 14:00 to 21:00. Towels cost 3 euros.")
index = VectorStoreIndex.from_documents([document], embed_model=WordEmbedding())

watcher = watch(domain="support")
response = index.as_query_engine(llm=llm, streaming=True).query("When does the sauna open?")
for token in response.response_gen:
    print(token, end="", flush=True)
print()

watcher.wait()
for report in watcher.reports:
    for claim in report.facts:
        print(f"{claim.label:>13}: {claim.text}")
