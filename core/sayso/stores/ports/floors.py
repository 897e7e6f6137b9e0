"""What a server denies to all agents on a store, whatever their own policies say."""

from __future__ import annotations

from typing import Protocol

from sayso.rules.floor import Floor


class Floors(Protocol):
    """The floor under the policies of all agents. Raises StoreUnreachableError like Store.

    It is part of every session's rules: ``Rules.book`` has it, and its version
    is in the book's. So whatever is held against a book is held against the
    floor of that very moment.
    """

    async def lay(self, floor: Floor, *, unless_other: bool = False) -> str:
        """Let this be the floor; the version that is the floor now.

        With ``unless_other``, another floor that is there stays. One that
        denies nothing is laid only where there is one that does. It stays for half a
        year after it was last laid, whether or not a server is there.
        """
        ...
