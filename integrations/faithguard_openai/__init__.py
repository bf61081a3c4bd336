"""faithguard for the OpenAI client: a guard.

`guard(OpenAI())` or `guard(AsyncOpenAI())` is a client like the one inside, whose chat
completions and responses come out only once what they say is verified.
"""

from faithguard.errors import require

require("openai", extra="openai")

# E402: these come after `require`, so that what is told without the SDK is the extra's name
from faithguard_openai._guard import AsyncGuardedOpenAI, GuardedOpenAI, guard  # noqa: E402

__all__ = ["AsyncGuardedOpenAI", "GuardedOpenAI", "guard"]
