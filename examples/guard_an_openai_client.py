"""How do I guard the calls of an OpenAI client?

    pip install "faithguard[openai]"
    python examples/guard_an_openai_client.py

The server is scripted, so that this runs with no key; leave `base_url` out for OpenAI's own.
"""

from openai import OpenAI

from faithguard.testing import ChatServer
from faithguard_openai import guard

LEAFLET = "<document>Adults take 500 mg twice a day, with water.</document>"
MESSAGES = [
    {"role": "system", "content": f"Answer from this leaflet. {LEAFLET}"},
    {"role": "user", "content": "How much do I take?"},
]


def model(messages: list[dict[str, object]]) -> str:
    """Stand in for a model that is wrong until it is told so."""
    told = "not supported" in str(messages[-1]["content"])
    return "Take 500 mg twice a day." if told else "Take 500 g twice a day."


with ChatServer(model) as server, OpenAI(base_url=server.url, api_key="none") as client:
    safe_client = guard(client, domain="medical", on_fail="regenerate", sinks=[])
    completion = safe_client.chat.completions.create(model="any", messages=MESSAGES)
    note = completion.faithguard
    print(f"{completion.choices[0].message.content} ({note['attempts']} attempts)")
    print(note["reason"])
