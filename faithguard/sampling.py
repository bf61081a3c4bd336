"""Which runs are checked, where only a share of the traffic is.

In: a share, and the id of a run. Out: whether that run is checked. The same id has the same fate
in every process, so all hops of a run share it; a run that a smaller share takes is taken by a
larger one, too.
"""

from __future__ import annotations

import hashlib
from typing import cast

from faithguard.errors import ConfigError

__all__ = ["checked_share", "takes"]


def checked_share(given: object, *, on_fail: str = "flag") -> float:
    """Return the share of runs that are to be checked, in [0, 1].

    Args:
        given: What the caller says; None for all of them.
        on_fail: What becomes of an answer that does not pass.

    Raises:
        ConfigError: If it is no such share, or answers are held back: those that nobody checks
            would be let through.
    """
    if given is None:
        return 1.0
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not 0 <= (share := cast("float", given)) <= 1:
        raise ConfigError(f"`sample` is {given!r}: it must be a share, from 0 to 1 (0.05 is 5%)")
    if on_fail != "flag":
        raise ConfigError(
            f"`sample` is {given!r}, but on_fail={on_fail!r} lets no answer through unchecked: "
            "leave it out, or use on_fail='flag'"
        )
    return float(share)


def takes(share: float, run: str) -> bool:
    """Say whether a run is among the share that is checked.

    Args:
        share: In [0, 1].
        run: The id of the run, in any form that is the same in all its hops.
    """
    drawn = hashlib.blake2b(run.encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(drawn) < share * (1 << 56)
