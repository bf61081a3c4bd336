"""Real chains, watched and guarded: what is captured, what it is worth, what the caller gets."""
