"""Bodies of callbacks, which anybody can send: read only as far as they may be long."""

from __future__ import annotations

from collections.abc import AsyncIterable


async def bounded_body(
    chunks: AsyncIterable[bytes], *, most: int, declared: int | None = None
) -> bytes | None:
    """The whole body; None once it is over ``most`` bytes, or says so in its header.

    ``declared`` is its Content-Length. Nobody vouches for that: the chunks
    are counted whatever it says.
    """
    if declared is not None and declared > most:
        return None
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
