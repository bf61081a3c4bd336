"""faithguard in LlamaIndex: the watcher, the guard and the evaluator, with real engines."""
