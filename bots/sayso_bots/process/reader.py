"""The reader of what this process will write. Loads next to nothing."""

from __future__ import annotations

import select

_GONE = select.POLLERR | select.POLLHUP | select.POLLNVAL


def is_gone(reader: int) -> bool:
    """Return whether nobody reads any more what is written to this file."""
    poll = select.poll()
    poll.register(reader, 0)
    return any(event & _GONE for _, event in poll.poll(0))
