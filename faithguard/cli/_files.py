"""Files that commands read and write, named by their user.

In: a path, or stdin. Out: its text, or a file that is whole or not there; else an error that
names the file and the remedy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from faithguard.errors import ConfigError

__all__ = ["decoded", "read_text", "stdin_bytes", "write_private"]

_BOM = b"\xef\xbb\xbf"


def read_text(file: str, what: str) -> str:
    """Read a file of UTF-8; `what` says in an error what it was to be.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        data = Path(file).read_bytes()
    except IsADirectoryError:
        raise ConfigError(f"{what} {file!r} is a directory; name a file in it") from None
    except FileNotFoundError:
        raise ConfigError(f"{what} file {file!r} does not exist; check the path") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{what} file {file!r} cannot be read ({reason}); name a file that can"
        ) from error
    return decoded(data, f"{what} file {file!r}")


def stdin_bytes(what: str = "exchanges", option: str = "") -> BinaryIO:
    """Return stdin as bytes; `what` and `option` say in an error what to do instead.

    Raises:
        ConfigError: It is closed.
    """
    if sys.stdin is None:
        raise ConfigError(f"stdin is closed; pipe {what} in, or name a file{option}")
    return sys.stdin.buffer


def decoded(data: bytes, name: str) -> str:
    """Return the text of UTF-8 with or without a mark of its order; `name` is for an error.

    Raises:
        ConfigError: It is in another encoding.
    """
    skipped = len(_BOM) if data.startswith(_BOM) else 0
    try:
        return data[skipped:].decode("utf-8")
    except UnicodeDecodeError as error:
        place = error.start + skipped
        source = "UTF-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "CP1252"
        raise ConfigError(
            f"{name} is not UTF-8: byte {place} is 0x{data[place]:02x}; convert it, "
            f"if it is {source} with: iconv -f {source} -t UTF-8"
        ) from None


def write_private(file: str, parts: Iterable[str], *, read: Sequence[str]) -> None:
    """Write a file of recorded texts, which are for its owner; a file that fails is as it was.

    Args:
        file: To be written.
        parts: Its text.
        read: The files that this is made of.
    """
    there = [one for one in read if os.path.exists(one)]
    if os.path.exists(file) and any(os.path.samefile(file, one) for one in there):
        raise ConfigError(f"{file!r} is what is read: name another file to write to")

    def private(path: str, flags: int) -> int:
        return os.open(path, flags, 0o600)

    try:
        target = os.path.realpath(file)
        if os.path.islink(target):
            raise ConfigError(f"{file!r} is a link that leads to itself: name another file")
        # a pipe or a device is written to as it is
        whole = not os.path.exists(target) or os.path.isfile(target)
        place = f"{target}.{os.getpid()}.part" if whole else target
        try:
            with open(place, "w", encoding="utf-8", errors="replace", opener=private) as stream:
                stream.writelines(parts)
            if whole:
                os.replace(place, target)
        except BaseException:
            if whole and os.path.exists(place):
                os.unlink(place)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{file!r} cannot be written ({reason}); name another file") from error
