"""Requests by the keys that they were asked under."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sayso.calls import RunRef
from sayso.events import Resolution
from sayso.stores.ports.requests import Record

LONGEST_KEY = 1_024
"""How many characters a key has at most."""


def check_key(key: str) -> str:
    """The key, if it can be one: any text that is not empty and not too long.

    Raises:
        ValueError: it cannot.
    """
    if not 0 < len(key) <= LONGEST_KEY:
        raise ValueError(f"a key has 1 to {LONGEST_KEY:,} characters, not {len(key):,}")
    try:
        key.encode()
    except UnicodeEncodeError:
        raise ValueError("a key must be valid Unicode") from None
    return key


@dataclass(frozen=True, slots=True)
class Hold:
    """Who counts on a request: a waiter of the process behind an inbox, until it leaves.

    Without an inbox the request is held for good, by whoever comes back for it later.
    """

    waiter: str = ""
    inbox: str = ""


class Keyed(Protocol):
    """What was asked under the keys of a session. Raises StoreUnreachableError like Store.

    A key leads to its request for as long as that is known. It leads nowhere
    again once all that waited for the request have left it without an answer.
    """

    async def find(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """The request that the run's session asked under the key; None where there is none.

        In the same step it is held, while it is open.
        """
        ...

    async def leave(
        self, question_id: str, waiter: str, *, ending: Resolution | None = None
    ) -> bool:
        """Give back a hold; with an ending, withdraw the request if nobody else holds it.

        One atomic step: True where the request ended with it, and its key is free
        again. A hold whose process is gone does not count. Repeating it changes nothing.
        """
        ...
