"""Which addresses may be connected to."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from sayso_bots.aap.webhooks.networks import Reach

NOT_PUBLIC = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.8",
    "192.0.2.1",
    "192.31.196.1",
    "192.52.193.1",
    "192.88.99.1",
    "192.168.1.1",
    "192.175.48.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.1.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",
    "100::1",
    "2001::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "2002:808:808::1",
    "2620:4f:8000::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "not-an-address",
    "",
    "127.1",
    "0x7f000001",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.1",
    "172.15.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.17.255.255",
    "223.255.255.254",
    "2606:4700::1111",
    "2a00:1450::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_public_is_out_of_reach(address: str) -> None:
    assert not Reach().allows(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_in_reach(address: str) -> None:
    assert Reach().allows(address)


def test_an_allowed_network_is_in_reach_in_every_form_and_nothing_beside_it() -> None:
    reach = Reach((ip_network("127.0.0.1/32"), ip_network("fd00::/8")))

    reached = ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "fd00::1", "8.8.8.8"]
    assert [address for address in reached if not reach.allows(address)] == []
    assert [
        address
        for address in ("127.0.0.2", "10.0.0.1", "fc00::1", "::1", "169.254.169.254")
        if reach.allows(address)
    ] == []
