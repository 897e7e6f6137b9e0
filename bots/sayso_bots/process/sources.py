"""Who is at the other end of a connection, as far as connections can be counted by it."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address

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
    """How many connections one source may have: of our own networks, and of the internet.

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
        """How many connections this source may have."""
        return self.far if _is_global(source) else self.near


class Sources:
    """How many connections each source has open, at most its share."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._open: Counter[str] = Counter()

    def __len__(self) -> int:
        """How many sources have connections."""
        return len(self._open)

    def enter(self, source: str) -> bool:
        """Whether there is room for one more; then it is counted until it leaves."""
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
    """Whether a caller can be told nothing any more: its connection is closed or closing."""
    return transport is None or transport.is_closing()
