"""An event loop for frameworks that begin one in a thread of their own and leave it behind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loop_of_this_thread() -> Iterator[None]:
    """The thread has a loop that nobody runs yet; it is closed at the end."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()
