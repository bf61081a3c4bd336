"""Does an unfaithful answer reach the caller by any way of calling a guarded chain or engine?

One command, one table: `python -m tests.leaks`. The modules, in the order of the data:

    scene    the pool, its passages, one true and one invented answer, a scripted model
    chains   the shapes a RAG chain comes in
    ways     the ways to call a runnable, and what the caller then holds
    cells    one way, one shape, one `on_fail`: three runs and a verdict
    checks   what a table cannot hold: observers, refusals, concurrency
    outcomes one cell for calls of any kind: OpenAI's client, functions, agents, streams by claim
    agent_*  LangChain's agents and LangGraph's nodes, with all that a checkpointer keeps
    exams    all of this for LangChain, and the same in `llama_*` for LlamaIndex; what has no
             guard yet stands in `PENDING`
"""
