"""Names to addresses, without holding up anything else of the process."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a host, to connect to this port; an OSError where it has none."""


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the system knows them.

    Raises:
        OSError: the name leads nowhere.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Sequence[str]] = loop.create_future()

    def tell(found: Sequence[str] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def look_up() -> None:
        found = _look_up(host, port)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell, found)

    # A name server may take half a minute, which nobody waits for: not even the end of the process.
    threading.Thread(target=look_up, name="resolving", daemon=True).start()
    return await answer


def _look_up(host: str, port: int) -> Sequence[str] | OSError:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        return error
    except ValueError:
        return OSError("this is no name that could be looked up")
    return list(dict.fromkeys(str(info[4][0]) for info in found))
