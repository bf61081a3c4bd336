"""Which requests of a client get what a model wrote.

In: the method and the address of a request, before the client makes it an URL. Out: how its
reply is guarded, or None for what is known to hold no answer; or a refusal.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import unquote, urlsplit

from faithguard import ConfigError

__all__ = ["Kind", "kind_of", "refusal"]

Kind: TypeAlias = Literal["chat", "responses"]

_ELSE = "use a client without the guard for it, and faithguard.check for what it says"
_REFUSED = {
    "threads": f"assistants and their threads are not guarded: use responses, or {_ELSE}",
    "realtime": f"realtime sessions are not guarded: {_ELSE}",
}

# What holds no answers, by the first part of its path; a new part of the API is refused until it
# stands here. Files, evaluations and fine-tuning may hold texts that nobody is shown as an answer.
_PASSES = frozenset(
    """
    assistants audio batches containers content_provenance_checks conversations decisions
    embeddings evals files fine_tuning images models moderations organization projects safety
    skills uploads vaults vector_stores videos webhook_endpoints webhook_event_types
    """.split()
)


def kind_of(method: str, address: str, body: object, *, base: str = "/") -> Kind | None:
    """Say how a request is guarded.

    Args:
        method: Of HTTP.
        address: A path below the base URL, or a whole URL.
        body: What is sent.
        base: The path of the base URL.

    Raises:
        ConfigError: If its reply may hold an answer that a guard cannot verify.
    """
    verb = method.lower()
    path = posixpath.normpath("/" + unquote(urlsplit(address).path).lower())
    path = path.removeprefix(posixpath.normpath("/" + base.lower()))
    parts = [part for part in path.split("/") if part]
    for name, why in _REFUSED.items():
        if name in parts:
            raise refusal(verb, address, why)
    if "completions" in parts:
        return _completions(verb, parts, address)
    if "responses" in parts:
        return _responses(verb, parts, address)
    if "conversations" in parts and "items" in parts and verb != "delete":
        raise refusal(verb, address, f"it gives out answers that were not verified: {_ELSE}")
    if "batches" in parts and verb == "post" and _is_answering(body):
        raise refusal(verb, address, f"a batch's answers are not guarded: {_ELSE}")
    if not parts or parts[0] not in _PASSES:
        raise refusal(verb, address, f"it may give out answers that were not verified: {_ELSE}")
    return None


def refusal(verb: str, address: str, why: str) -> ConfigError:
    """Return the error that names what is refused and what to do instead."""
    return ConfigError(f"the guarded client does not do {verb.upper()} {address}: {why}")


def _completions(verb: str, parts: Sequence[str], address: str) -> Kind | None:
    place = parts.index("completions")
    before, after = parts[place - 1] if place else "", parts[place + 1 :]
    if before == "usage":  # of an organisation: numbers
        return None
    if before != "chat":
        raise refusal(verb, address, "legacy completions are not guarded: use chat.completions")
    if verb == "delete":
        return None
    if len(after) == 1 or (not after and verb == "post"):
        return "chat"
    raise refusal(verb, address, f"it lists answers that were not verified: {_ELSE}")


def _responses(verb: str, parts: Sequence[str], address: str) -> Kind | None:
    after = parts[parts.index("responses") + 1 :]
    if verb == "delete" or after == ["input_tokens"]:
        return None
    if after[1:] in ([], ["cancel"]) and after != ["compact"] and (after or verb == "post"):
        return "responses"
    raise refusal(verb, address, f"it gives out what was said before, unverified: {_ELSE}")


def _is_answering(body: object) -> bool:
    endpoint = cast("Mapping[str, Any]", body).get("endpoint") if isinstance(body, Mapping) else ""
    return "completions" in str(endpoint) or "responses" in str(endpoint)
