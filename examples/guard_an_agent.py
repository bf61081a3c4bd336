"""How do I keep an unfaithful answer of an agent from the reader?

    pip install "faithguard[langchain-agents]"
    python examples/guard_an_agent.py

The model is scripted, so that this runs with no key; put your own in its place.
"""

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage

from faithguard_langchain import FaithfulnessMiddleware
from faithguard_langchain.testing import ScriptedChatModel


def opening_hours(day: str) -> str:
    """Say when the bath is open."""
    return f"On {day} the bath is open from 9:00 to 21:00."


def prices(ticket: str) -> str:
    """Say what a ticket costs."""
    return f"A {ticket} ticket costs 8 euros."


def reply(messages: list[BaseMessage]) -> str | AIMessage:
    """Ask both tools, then invent; keep to what they said once told what was invented."""
    asked = sum(message.type == "tool" for message in messages)
    if asked == 0:
        call = {"name": "opening_hours", "args": {"day": "Sunday"}, "id": "1"}
        return AIMessage("", tool_calls=[call])
    if asked == 1:
        return AIMessage("", tool_calls=[{"name": "prices", "args": {"ticket": "day"}, "id": "2"}])
    honest = "On Sunday the bath is open from 9:00 to 21:00. A day ticket costs 8 euros."
    told = "not supported" in messages[-1].text
    return honest if told else f"{honest} Towels are free."


question = {"messages": [("user", "When is the bath open on Sunday, and what is a day ticket?")]}


model = ScriptedChatModel(reply=reply)
guard = FaithfulnessMiddleware(domain="support", fallback="Please ask at the desk.")
agent = create_agent(model, [opening_hours, prices], middleware=[guard])
result = agent.invoke(question)
print(result["messages"][-1].text)
print("because:", result["faithguard"]["reason"])

again = FaithfulnessMiddleware(domain="support", on_fail="regenerate")
agent = create_agent(model, [opening_hours, prices], middleware=[again])
result = agent.invoke(question)
print(result["messages"][-1].text, f"({result['faithguard']['attempts']} attempts)")
