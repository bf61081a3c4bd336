"""Keep RAG answers faithful to their context."""
