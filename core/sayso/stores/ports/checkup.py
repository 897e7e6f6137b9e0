"""Whether a store can do what is needed of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Ailment:
    """Something wrong with a store, and the fix; ``is_serious`` where questions would not work.

    It ``is_denied`` where the store does not permit its user what is needed.
    """

    text: str
    is_serious: bool = True
    is_denied: bool = False


class Checkup(Protocol):
    """Tries out what is needed of the store, and leaves nothing behind."""

    async def look(self) -> Sequence[Ailment]:
        """What is wrong; nothing where all is well.

        Raises:
            StoreUnreachableError: the store does not answer.
        """
        ...
