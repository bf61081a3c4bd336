"""One guarded request, without I/O.

In: the body of a request, then the body of each reply and the report of each answer in it. Out:
what to verify, what to ask next, and the body that the caller gets. `_guard` sends and reads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from faithguard import Exchange, Passage, Record, UnfaithfulAnswerError
from faithguard.capture import new_id, time_now
from faithguard.guard import Settings, Verify, note_of
from faithguard_openai._chat import ChatChunks, ChatReply
from faithguard_openai._chat_retold import ChatRetold
from faithguard_openai._evidence import evidence_in
from faithguard_openai._reply import Answer, Manner, Reply, mapping
from faithguard_openai._responses import ResponseEvents, ResponseReply
from faithguard_openai._responses_retold import ResponseRetold
from faithguard_openai._retold import Retold
from faithguard_openai._routes import Kind, refusal

__all__ = ["Call", "asked_again"]

_SERVERS_TOOLS = ("file_search", "web_search", "code_interpreter", "image_generation")
"""Tools that a server calls itself, by how their types begin."""

_READERS: Mapping[tuple[Kind, bool], Callable[[bytes, Manner], Reply]] = {
    ("chat", False): ChatReply,
    ("chat", True): ChatChunks,
    ("responses", False): ResponseReply,
    ("responses", True): ResponseEvents,
}


class Call:
    """One guarded request.

    Args:
        settings: Of the guard.
        kind: Which API is asked.
        body: What is sent; None where a stored reply is read, which nobody can ask for again.
        context: What the caller gave as context, if anything.
        streams: Whether the reply comes in events.
        helper: The method of the SDK's that asks, if it told that.
    """

    def __init__(
        self,
        settings: Settings,
        kind: Kind,
        body: Mapping[str, Any] | None,
        *,
        context: Sequence[Passage] | None,
        streams: bool,
        helper: str | None,
    ) -> None:
        self._settings = settings
        self._kind: Kind = kind
        self._body = body or {}
        self._may_ask = body is not None
        self._streams = streams
        self._context = context
        self._evidence = evidence_in(self._body)
        self._reader = _READERS[kind, streams]
        self._manner = Manner(
            refuses=streams and self._is_structured(),
            finish_reason="stop" if helper == "chat.completions.stream" else "content_filter",
        )
        self._began = time_now()
        self.blocked: list[int] = []
        """The choices in whose place the fallback stands."""
        if settings.policy.on_fail == "regenerate" and self._body.get("conversation"):
            raise refusal(
                "post",
                "/responses",
                "on_fail='regenerate' would leave the held-back answer in the server's "
                "`conversation`: pass the messages as `input`, or use on_fail='block'",
            )

    @property
    def settings(self) -> Settings:
        """Of the guard."""
        return self._settings

    @property
    def is_chat(self) -> bool:
        """Whether a chat completion is asked for."""
        return self._kind == "chat"

    @property
    def is_released(self) -> bool:
        """Whether the reply is told on as it is verified: prose, of one choice, in events."""
        include: Any = self._body.get("include")
        return (
            self._settings.hold is not None
            and self._streams
            and self._may_ask
            and (self._body.get("n") or 1) == 1
            and self._form in ("", "text")
            # of tokens, which the guard does not see
            and not (self._body.get("logprobs") or self._body.get("top_logprobs"))
            and "message.output_text.logprobs" not in (include if isinstance(include, list) else ())
            and "audio" not in (self._body.get("modalities") or ())
        )

    @property
    def may_be_called(self) -> bool:
        """Whether the model may call tools of the caller's beside what it says."""
        tools: Any = self._body.get("tools") or self._body.get("functions") or ()
        return any(not str(mapping(tool).get("type")).startswith(_SERVERS_TOOLS) for tool in tools)

    def retold(self) -> Retold[Any]:
        """Return what tells a reply on."""
        return ChatRetold(self._manner) if self.is_chat else ResponseRetold()

    def steps(self) -> Generator[Any, Any, bytes]:
        """Yield bodies to send (None: the first reply), and what to verify; return what goes out.

        Raises:
            UnfaithfulAnswerError: If an answer is held back and there is no fallback.
        """
        reply = self._read((yield None))
        records: dict[int, Record] = {}
        for answer in reply.answers:
            if answer.text.strip() or not answer.beside_calls:
                record = yield from self._settled(reply, answer)
                if record is not None:
                    records[answer.key] = record
        notes = {key: note_of(record) for key, record in records.items()}
        worst = next((note for note in notes.values() if not note["passed"]), None)
        note = worst or next(iter(notes.values()), None)
        return reply.rendered(notes if len(notes) > 1 else {}, note)

    def _settled(self, reply: Reply, answer: Answer) -> Generator[Any, Any, Record | None]:
        """Have one answer verified, and done with what is decided; None if another try broke."""
        # the caller answers the calls beside a text, so nobody is asked for it again
        course = self._settings.course(may_ask=self._may_ask and not answer.beside_calls)
        mends = "" if self._is_structured() else None  # JSON is no prose to mend
        turns: list[dict[str, Any]] = []
        found: tuple[Passage, ...] = ()
        while True:
            exchange = self.exchange(answer.text, answer.finish_reason, reply.passages, found)
            step, more = yield Verify(course, exchange, mends)
            if step.action != "regenerate":
                break
            turns += asked_again(answer.text, step.feedback or "")
            found += more
            reply.replace(answer.key, self._read((yield self.asking_again(turns))))
            again = next((a for a in reply.answers if a.key == answer.key), None)
            if again is None or (again.beside_calls and not again.text.strip()):
                return None
            answer = again
        record = course.record()
        self._settings.outbox.tell(record)
        if step.action == "block":
            if answer.beside_calls:
                reply.hush(answer.key)
            elif self._settings.fallback is None:
                raise UnfaithfulAnswerError(record.decision, record.report, record)
            else:
                reply.block(answer.key, self._settings.fallback)
                self.blocked.append(answer.key)
        elif step.answer is not None:
            reply.mend(answer.key, step.answer)
        return record

    def _read(self, body: bytes) -> Reply:
        return self._reader(body, self._manner)

    @property
    def _form(self) -> str:
        """The type of the format that is asked for."""
        form = mapping(self._body.get("response_format" if self.is_chat else "text"))
        return str(mapping(form.get("format", form)).get("type") or "")

    def _is_structured(self) -> bool:
        return self._form == "json_schema"

    def exchange(
        self,
        text: str,
        reason: str | None,
        beside: Sequence[Passage],
        more: tuple[Passage, ...],
    ) -> Exchange:
        """Return the exchange that a text makes with its context.

        Args:
            text: What was said.
            reason: Why it ended.
            beside: What the reply carries of its context.
            more: What was found since.
        """
        evidence = self._evidence
        if self._context is not None:
            given = tuple(self._context)
            evidence = replace(evidence, passages=given, source="caller" if given else "none")
        elif beside:
            evidence = replace(evidence, passages=(*evidence.passages, *beside), source="retrieval")
        if more:
            evidence = replace(evidence, passages=(*evidence.passages, *more), source="retrieval")
        return Exchange(
            id=new_id(),
            answer=text,
            passages=evidence.passages,
            question=evidence.question,
            context_source=evidence.source,
            finish_reason=reason,
            started_at=self._began,
        )

    def asking_again(self, turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return a body that asks for one answer, with what was wrong with the others."""
        name = "messages" if self.is_chat else "input"
        given: Any = self._body.get(name)
        before = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
        body = {**self._body, name: [*before, *turns]}
        if self.is_chat:
            body.pop("n", None)
        return body


def asked_again(answer: str, feedback: str) -> list[dict[str, Any]]:
    """Return the turns of a talk that say what was wrong with an answer."""
    return [{"role": "assistant", "content": answer}, {"role": "user", "content": feedback}]
