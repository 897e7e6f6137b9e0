"""Which addresses a receiver may have: public ones, and the private networks that are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Not from `ipaddress`: what it calls global differs between versions of Python, and it takes
# multicast, site-local and IPv4-compatible addresses for it.
_NOT_PUBLIC_4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, benchmarks, ORCHID and other special purposes
        "2001:db8::/32",
        "2002::/16",  # 6to4, which carries an IPv4 address and is no longer routed
        "2620:4f:8000::/48",
        "3fff::/20",
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_TRANSLATED = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Reach:
    """Where connections may go: public addresses, and these networks although they are not."""

    private: tuple[Network, ...] = ()

    def allows(self, address: str) -> bool:
        """Whether this address may be connected to. What is no address may not."""
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        inner = _inner(parsed)
        return _is_public(inner) or _within(inner, self.private) or _within(parsed, self.private)


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 one leads to: mapped, or translated by a NAT64."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _TRANSLATED):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not _within(address, _NOT_PUBLIC_4)
    if address.scope_id is not None:
        return False
    return address in _UNICAST_6 and not _within(address, _NOT_PUBLIC_6)


def _within(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)
