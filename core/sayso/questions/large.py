"""Which requests are so large that work on them is done beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from sayso.events import UserInputRequest

_T = TypeVar("_T")

# To make the card of more than this is work that presses would wait for.
_LARGE = 8_000
# An element of a list costs more than its characters: a line of the card.
_ELEMENT = 8


async def beside(request: UserInputRequest, work: Callable[[], _T]) -> _T:
    """What comes of work on a request; others do not wait for that on a large one."""
    return await asyncio.to_thread(work) if is_large(request) else work()


def is_large(request: UserInputRequest) -> bool:
    """Return True if there is so much in a request that its card takes noticeable work."""
    room = _LARGE
    left: list[Any] = list(request.__dict__.values())
    while left and room > 0:
        one = left.pop()
        if isinstance(one, str):
            room -= len(one)
        elif isinstance(one, Mapping):
            room -= _ELEMENT * len(one) + sum(map(len, map(str, one)))
            left += one.values() if room > 0 else ()
        elif isinstance(one, list | tuple):
            room -= _ELEMENT * len(one)
            left += one if room > 0 else ()
    return room <= 0
