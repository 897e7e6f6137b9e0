"""All parts of one store together, and the inbox that it rings in this process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sayso.stores.inbox import Inbox
from sayso.stores.protocols import (
    Audit,
    BranchLog,
    Bus,
    Copies,
    KeyValueStore,
    Outbox,
    RequestStore,
    RuleStore,
)


@dataclass(frozen=True, slots=True)
class Issue:
    """Something wrong with a store, and the fix; ``is_serious`` where questions would not work.

    It ``is_denied`` where the store does not permit its user what is needed.
    """

    text: str
    is_serious: bool = True
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Backend:
    """One store and its bus, as seen by one process. Whoever opened it closes it.

    Only gates wait, yet the ``inbox`` is here: a process has one of them however
    many gates come and go, and it lives exactly as long as the connection it
    listens on. It connects when somebody waits, so a desk pays nothing for it.

    ``diagnose`` tries out what is needed of the store, leaves nothing behind, and returns what
    is wrong; it raises StoreUnreachableError.
    """

    store: RequestStore
    rules: RuleStore
    outbox: Outbox
    copies: Copies
    bus: Bus
    log: BranchLog
    audit: Audit
    key_value: KeyValueStore
    inbox: Inbox
    diagnose: Callable[[], Awaitable[Sequence[Issue]]]

    async def ping(self) -> None:
        """See that the store answers.

        Raises:
            StoreUnreachableError: it does not.
        """
        # No script: what a user may run is for ``diagnose`` to say.
        await self.key_value.get("document:ping")
