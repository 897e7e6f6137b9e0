"""Connections: who is at their other end, how many one source may have, and that it hung up."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

from aiohttp import web

# Whoever has one address of IPv6 usually has all that begin with these bits.
_SHARED_BITS = 64


def source_of(address: str) -> str:
    """The address, of IPv6 the network of a household; what is no address is a source of its own.

    It is the address that the connection comes from. What a header says of
    others behind it is anybody's claim, and is not read.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found, _SHARED_BITS), strict=False))


@dataclass(frozen=True, slots=True)
class Shares:
    """Numbers of connections that one source may have: of our own networks, and of the internet.

    From our own networks comes the proxy, on whose connections everybody
    calls. It has no limit of its own unless the settings say so; a source
    of the internet has a quarter.
    """

    near: int
    far: int

    @classmethod
    def of(cls, connections: int, each: int | None = None) -> Shares:
        """The shares of so many connections; ``each`` is what the settings say."""
        if each is not None:
            return cls(each, each)
        return cls(connections, max(1, connections // 4))

    def most(self, source: str) -> int:
        """Return the number of connections that this source may have."""
        return self.far if _is_global(source) else self.near


class Sources:
    """Counts the connections that each source has open, at most its share."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        """Return the number of sources with connections."""
        return len(self._open)

    def enter(self, source: str) -> bool:
        """Return whether there is room for one more; then it is counted until it leaves."""
        if self._open.get(source, 0) >= self._shares.most(source):
            return False
        self._open[source] += 1
        return True

    def leave(self, source: str) -> None:
        """One connection of the source is gone."""
        self._open[source] -= 1
        if self._open[source] <= 0:
            del self._open[source]


def _is_global(source: str) -> bool:
    try:
        return ip_address(source.partition("/")[0]).is_global
    except ValueError:
        return False


def is_gone(transport: asyncio.BaseTransport | None) -> bool:
    """Return whether a caller can be told nothing any more: its connection is closed or closing."""
    return transport is None or transport.is_closing()


async def gone(request: web.Request) -> None:
    """Return when the caller has hung up; wait for ever where that cannot be noticed.

    A connection that notices it sets its event ``gone``.
    """
    event: asyncio.Event = getattr(request.protocol, "gone", None) or asyncio.Event()
    await event.wait()
