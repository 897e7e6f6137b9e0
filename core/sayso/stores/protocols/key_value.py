"""Key-value store: texts with a time to live, compare-and-set, leases and rate limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sayso.chats.budgets import Budget
from sayso.errors import ConfigError, InvalidCallError
from sayso.text.visible import is_unicode

KEY_KINDS = frozenset({"document", "draft", "moved", "once", "state"})
"""First parts of keys, each up to its colon: users of a server are permitted keys by these."""


def check_key_kind(key: str) -> str:
    """Return the key if it begins with one of ``KEY_KINDS`` and a colon.

    Raises:
        ValueError: it does not, and would be a key of something else.
    """
    if key.partition(":")[0] not in KEY_KINDS or ":" not in key:
        raise ValueError(f"the key {key[:40]!r} begins with none of {sorted(KEY_KINDS)}")
    return key


MAX_SECONDS = 10 * 366 * 86_400
"""So long at most a text is kept."""


def check_entry(*texts: str | None, seconds: float) -> None:
    """Check what is about to be kept, and for how long.

    Raises:
        ConfigError: the time is not more than zero, or longer than ``MAX_SECONDS``.
        InvalidCallError: half of a surrogate pair is in a text.
    """
    if not 0 < seconds <= MAX_SECONDS:
        raise ConfigError(
            f"a text cannot be kept for {seconds:g} s: more than 0 and at most {MAX_SECONDS} are"
            " possible"
        )
    if not all(map(is_unicode, texts)):
        raise InvalidCallError(
            "a text to keep is not valid UTF-8: half of a surrogate pair is in it"
        )


class KeyValueStore(Protocol):
    """Small texts that all processes share. Raises StoreUnreachableError like RequestStore.

    What keeps a text raises ConfigError and InvalidCallError as ``check_entry`` does.
    """

    async def get(self, key: str) -> str | None:
        """Return the text under the key, None without one."""
        ...

    async def set(self, key: str, text: str, *, seconds: float) -> None:
        """Keep the text under the key for so many seconds, whatever was there."""
        ...

    async def compare_and_set(
        self, key: str, before: str | None, after: str, *, seconds: float
    ) -> bool:
        """Keep ``after`` in the place of ``before``, of nothing where that is None.

        One atomic step; False when the text is another one by now. True also when ``after``
        is there already: the reply to a caller that asks again was lost on the way. A text
        that only one of several callers may set has to be one of its own, such as an id.
        """
        ...

    async def acquire_lease(self, name: str, owner: str, *, seconds: float) -> bool:
        """Take or renew a lease; False while another owner has it."""
        ...

    async def reserve_rate(self, budgets: Sequence[Budget]) -> float:
        """Reserve the next moment that breaks none of the budgets; return the seconds until it.

        No other caller gets a moment with which one of them would be overdrawn.
        """
        ...
