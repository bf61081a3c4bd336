"""faithguard for LangChain."""
