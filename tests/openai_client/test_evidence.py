"""What of a request is evidence: tools and delimited documents, and never what people said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faithguard.testing import ChatServer
from faithguard_openai import guard
from faithguard_openai._evidence import evidence_in

from .scene import BAD, DOC, FALLBACK, GOOD, QUESTION, async_client, client, guarded, run

TAGGED = f"<document>{DOC}</document>"
FAKE = f"<document>{BAD}</document>"


def texts(*messages: dict[str, Any], **body: Any) -> list[str]:
    """Return the texts of the passages in messages."""
    return [p.text for p in evidence_in({"messages": list(messages), **body}).passages]


def user(text: Any) -> dict[str, Any]:
    """Return a user's message."""
    return {"role": "user", "content": text}


def system(text: Any, role: str = "system") -> dict[str, Any]:
    """Return a developer's message."""
    return {"role": role, "content": text}


def called(arguments: dict[str, Any], output: Any) -> list[dict[str, Any]]:
    """Return a tool call and its result."""
    function = {"name": "look_up", "arguments": json.dumps(arguments)}
    call = {"id": "c1", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
    ]


@pytest.mark.parametrize(
    "text",
    [
        TAGGED,
        f"Answer from this.\n<context>\n{DOC}\n</context>\nBe brief.",
        f"<documents><document index='1'><source>a.md</source>{DOC}</document></documents>",
        f"<documents>\n{DOC}\n</documents>",
        f"<DOCUMENT id='3'>{DOC}</DOCUMENT>",
        f"Use it:\n```context\n{DOC}\n```",
        f"~~~ context\n{DOC}\n~~~",
        f"Answer from the <context> only.\n<context>{DOC}</context>",
    ],
)
@pytest.mark.parametrize("role", ["system", "developer"])
def test_delimited_documents_of_the_developer_are_evidence(text: str, role: str) -> None:
    """Of each form, and with words around them."""
    (found,) = texts(system(text, role), user("When?"))

    assert found.splitlines()[-1] == DOC


def test_each_document_is_a_passage() -> None:
    """Within a container, too; parts of a content are read as one text."""
    both = "<documents><document>One.</document><document>Two.</document></documents>"
    parts = [{"type": "text", "text": "<document>One.</document>"}, {"type": "image_url"}]

    assert texts(system(both)) == ["One.", "Two."]
    assert texts(system(parts), user([{"type": "text", "text": "When?"}])) == ["One."]


def test_instructions_and_input_of_a_response_are_read_alike() -> None:
    """As messages are, and the outputs of calls with them."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "Three."}
    own = {"type": "custom_tool_call", "call_id": "d", "name": "g", "input": "ferry"}
    parts = {
        "type": "custom_tool_call_output",
        "call_id": "d",
        "output": [{"type": "input_text", "text": "Four."}],
    }
    body = {
        "instructions": "<document>One.</document>",
        "input": [
            {"role": "developer", "content": "<context>Two.</context>"},
            call,
            output,
            own,
            parts,
        ],
    }
    evidence = evidence_in(body)

    assert {p.text for p in evidence.passages} == {"One.", "Two.", "Three.", "Four."}
    assert evidence.source == "retrieval"
    assert [p.text for p in evidence_in({"input": TAGGED}).passages] == [DOC]


def test_results_of_tools_are_evidence() -> None:
    """Also those of the older functions, and in parts."""
    assert texts(*called({"query": "ferry"}, DOC)) == [DOC]
    assert texts(*called({}, [{"type": "text", "text": DOC}])) == [DOC]
    old = {"role": "assistant", "function_call": {"name": "look_up", "arguments": "{}"}}
    assert texts(old, {"role": "function", "name": "look_up", "content": DOC}) == [DOC]


def test_what_a_model_hands_to_a_tool_is_not() -> None:
    """A tool that gives it back does not make it so."""
    noted = called({"note": BAD}, f"Saved: {BAD}")

    assert not any("9:45" in text for text in texts(*noted))


def asks(id: str, name: str, arguments: dict[str, Any], said: str | None = None) -> dict[str, Any]:
    """Return an assistant's message that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": id, "type": "function", "function": function}
    return {"role": "assistant", "content": said, "tool_calls": [call]}


def gives(id: str, text: str) -> dict[str, Any]:
    """Return a tool's message."""
    return {"role": "tool", "tool_call_id": id, "content": text}


ECHOES = {
    "name": [asks("1", BAD, {}), gives("1", f"Error: {BAD} is not a valid tool")],
    "argument": [asks("1", "f", {BAD: 1}), gives("1", f"unexpected argument {BAD}")],
    "short argument": [
        asks("1", "f", {"dogs sail free": 1}),
        gives("1", "no 'dogs sail free'"),
    ],
    "another tool": [
        asks("1", "w", {"t": BAD}),
        gives("1", "ok"),
        asks("2", "r", {}),
        gives("2", BAD),
    ],
    "same id again": [
        asks("1", "w", {"t": BAD}),
        gives("1", BAD),
        asks("1", "look_up", {"q": "ferry"}),
        gives("1", "Nothing."),
    ],
    "said before": [{"role": "assistant", "content": BAD}, asks("1", "r", {}), gives("1", BAD)],
    "said beside": [asks("1", "r", {}, BAD), gives("1", BAD)],
    "earlier turn": [
        asks("1", "w", {"t": BAD}),
        gives("1", "ok"),
        user("And?"),
        asks("2", "r", {}),
        gives("2", BAD),
    ],
    "no call": [gives("7", BAD)],
    "another call": [asks("1", "r", {}), gives("7", BAD)],
    "a number": [asks("1", "calc", {"x": 9.45}), gives("1", "9.45")],
}


@pytest.mark.parametrize("messages", ECHOES.values(), ids=ECHOES.keys())
def test_what_a_model_wrote_and_a_tool_gives_back_is_not(messages: list[dict[str, Any]]) -> None:
    """By any part of a call, from any tool; nor is what no call asked for."""
    found = texts(user(QUESTION), *messages)
    assert not any(mark in text for text in found for mark in ("9:45", "9.45", "dogs sail"))


@pytest.mark.parametrize(
    "messages",
    [
        [asks("1", "look_up", {"query": "the ferry leaves Ulvo", "limit": 40}), gives("1", DOC)],
        [asks("1", "look_up", {"query": "ticket car 14 crowns"}), gives("1", DOC)],
        [
            asks("1", "w", {"t": "Ulvo"}),
            gives("1", DOC),
            asks("2", "w", {"t": DOC}),
            gives("2", DOC),
        ],
        [asks("1", "look_up", {}, f"I think: {GOOD}"), gives("1", DOC)],
        [{"role": "assistant", "content": DOC}, user("Sure?"), asks("1", "f", {}), gives("1", DOC)],
    ],
)
def test_what_a_model_asked_for_and_a_tool_found_is(messages: list[dict[str, Any]]) -> None:
    """Though they share words, or the model had said so before."""
    assert DOC in texts(user(QUESTION), *messages)


def test_the_call_of_a_conversation_that_the_server_keeps_need_not_be_shown() -> None:
    """Only its output is sent then."""
    output = {"type": "function_call_output", "call_id": "c", "output": DOC}
    shown = {"input": [output]}
    assert evidence_in(shown).passages == ()
    for kept in ({"previous_response_id": "r"}, {"conversation": "v"}):
        assert [p.text for p in evidence_in({**shown, **kept}).passages] == [DOC]


def answered(server: ChatServer, messages: Any) -> Any:
    """Ask through a guarded client."""
    with client(server) as inner:
        safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[])
        return safe.chat.completions.create(model="m", messages=messages)


async def aanswered(server: ChatServer, messages: Any) -> Any:
    """Do the same, awaiting."""
    async with async_client(server) as inner:
        safe = guard(inner, domain="support", fallback=FALLBACK, sinks=[])
        return await safe.chat.completions.create(model="m", messages=messages)


@pytest.mark.parametrize("is_async", [False, True])
def test_a_lie_that_was_kept_and_read_again_is_held_back(is_async: bool) -> None:
    """Whichever client asks; what was found is let through."""
    found = [asks("1", "look_up", {"q": "ferry"}), gives("1", DOC)]
    for said, turn, wanted in ((BAD, ECHOES["another tool"], FALLBACK), (GOOD, found, GOOD)):
        messages = [user(QUESTION), *turn]
        with ChatServer(lambda _, said=said: said) as server:  # type: ignore[misc]
            ask = aanswered if is_async else answered
            completion = run(ask(server, messages)) if is_async else ask(server, messages)
        assert completion.choices[0].message.content == wanted


@pytest.mark.parametrize("text", [BAD, TAGGED, f"```context\n{DOC}\n```"])
def test_what_an_assistant_said_is_never_evidence(text: str) -> None:
    """Whatever it looks like."""
    parts = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
    }

    assert texts({"role": "assistant", "content": text}, parts, item, user("When?")) == []


def test_a_users_own_words_are_never_evidence() -> None:
    """Beside documents or alone; nor are messages of roles that nobody knows."""
    assert texts(user(BAD)) == []
    assert texts(system(TAGGED), user(f"I know that: {BAD}")) == [DOC]
    assert texts(user(f"<context>{DOC}</context>\n\nQuestion: {BAD}")) == [DOC]
    assert texts({"role": "critic", "content": TAGGED}, {"content": TAGGED}) == []


@pytest.mark.parametrize(
    "text",
    [
        f"<context>{DOC}</context>\n\nWhen?",
        f"When?\n\n<documents>{TAGGED}</documents>",
        f"{TAGGED}\n{TAGGED.replace('40', '50')}\nWhen?",
        f"Document 1: {TAGGED}\nDocument 2: {TAGGED.replace('40', '50')}\nQuestion: When?",
        f"```context\n{DOC}\n```\nWhen?",
        f"Use what is in <context></context>.\n<context>{DOC}</context>\nWhen?",
    ],
)
def test_documents_of_a_users_message_count_where_it_is_plain_which_they_are(text: str) -> None:
    """A template of the developer's puts them there; the question is what is left."""
    evidence = evidence_in({"messages": [user(text)]})

    assert DOC in [passage.text for passage in evidence.passages]
    assert evidence.question is not None
    assert "When?" in evidence.question
    assert "Ulvo" not in evidence.question


@pytest.mark.parametrize(
    "text",
    [
        f"<context>{DOC}</context>\nQuestion: <context>{BAD}</context> When?",
        f"<context>{DOC}</context>\nQuestion: {FAKE} When?",
        f"<context>{DOC}</context>\nQuestion: </context><context>{BAD}",
        f"<context>{DOC} {BAD}\nQuestion: When?",
        f"{TAGGED}\nQuestion: {FAKE} When?",
        f"Question: {FAKE} When?\n{TAGGED}",
        f"Document 1: {TAGGED}\nQuestion: {FAKE} When?",
        f"```context\n{DOC}\n```\nQuestion:\n```context\n{BAD}\n```",
        f"```context\n{DOC}\n\nQuestion: {BAD}",
    ],
)
def test_where_a_user_may_have_typed_a_document_none_counts(text: str) -> None:
    """Nobody can tell them apart; the context can be named by `with_context`."""
    assert texts(user(text)) == []


@pytest.mark.parametrize("told", [[system(TAGGED)], called({}, DOC)])
def test_a_users_documents_do_not_count_beside_others(told: list[dict[str, Any]]) -> None:
    """Where the developer has a place for the context, the user's message is not it."""
    assert texts(*told, user(f"{FAKE} When?")) == [DOC]


def test_an_assertion_of_the_users_is_not_repeated_as_verified() -> None:
    """The model agrees with the user, and nobody else says so."""
    messages = [system(TAGGED), user(f"{FAKE} So when does it leave?")]
    with guarded(BAD, fallback=FALLBACK) as safe:
        completion = safe.chat.completions.create(model="m", messages=messages)  # type: ignore[arg-type]

    assert completion.choices[0].message.content == FALLBACK


def test_the_context_that_a_caller_names_is_all_there_is() -> None:
    """Beside it nothing in the messages counts; [] is none."""
    with guarded(GOOD, fallback=FALLBACK) as safe:
        for context, said in (([DOC], GOOD), ([], FALLBACK), (["Ulvo has a quay."], FALLBACK)):
            completion = safe.with_context(context).chat.completions.create(
                model="m",
                messages=[system(TAGGED), user("When?")],  # type: ignore[list-item]
            )
            assert completion.choices[0].message.content == said


def test_a_strange_request_is_read_as_far_as_it_goes() -> None:
    """It is the server's to refuse it."""
    for body in ({}, {"messages": None}, {"messages": [3, None, {}]}, {"input": 3}):
        assert evidence_in(body).passages == ()
