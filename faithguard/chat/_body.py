"""The body of a server's answer, unpacked as it comes.

In: pieces of a body, as they were sent, and its encoding. Out: its bytes; an error as soon as they
are more than any reply has: a few packed bytes can hold gigabytes.
"""

from __future__ import annotations

import zlib

from faithguard.errors import JudgeError

__all__ = ["Body", "DecodingError"]

_LARGEST = 8_000_000
"""Bytes of a reply; no verdicts are longer."""

_GZIP_OR_ZLIB = 47


class DecodingError(Exception):
    """Bytes are not what the server says they are; another try may bring others."""


class Body:
    """One body.

    Args:
        encoding: As the server names it; None for none.

    Raises:
        DecodingError: If it is one that nobody asked for.
    """

    def __init__(self, encoding: str | None) -> None:
        named = (encoding or "identity").strip().casefold()
        if named not in ("identity", "gzip", "x-gzip", "deflate"):
            raise DecodingError
        self._unpacker = None if named == "identity" else zlib.decompressobj(_GZIP_OR_ZLIB)
        self._data = bytearray()

    @property
    def data(self) -> bytes:
        """All bytes so far."""
        return bytes(self._data)

    def add(self, piece: bytes) -> None:
        """Take a piece.

        Raises:
            JudgeError: If there are too many bytes.
            DecodingError: If they are not packed as was said.
        """
        if self._unpacker is not None:
            try:
                piece = self._unpacker.decompress(piece, _LARGEST + 1 - len(self._data))
            except zlib.error:
                raise DecodingError from None
        self._data += piece
        if len(self._data) > _LARGEST:
            raise JudgeError(f"the server sent more than {_LARGEST:,} bytes", "unparsable")
