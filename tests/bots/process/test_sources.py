"""Connections are counted by where they come from."""

from __future__ import annotations

import pytest

from sayso_bots.process.sources import Shares, Sources, source_of


@pytest.mark.parametrize(
    ("address", "source"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("no address", "no address"),
        ("", ""),
    ],
)
def test_a_household_of_ipv6_is_one_source(address: str, source: str) -> None:
    assert source_of(address) == source


@pytest.mark.parametrize(
    ("address", "most"),
    [
        ("8.8.8.8", 25),
        ("2606:4700::1", 25),
        ("127.0.0.1", 100),
        ("10.1.2.3", 100),
        ("192.168.1.1", 100),
        ("::1", 100),
        ("fd00::1", 100),
    ],
)
def test_a_source_of_the_internet_has_a_quarter_and_a_proxy_all(address: str, most: int) -> None:
    shares = Shares.of(100)
    sources, source = Sources(shares), source_of(address)
    entered = [sources.enter(source) for _ in range(101)]

    assert shares.most(source) == most
    assert entered == [True] * most + [False] * (101 - most)


def test_what_the_settings_say_is_for_every_source() -> None:
    shares = Shares.of(100, 7)

    assert [shares.most(source) for source in ("8.8.8.8", "127.0.0.1")] == [7, 7]


def test_nothing_is_remembered_of_who_has_left() -> None:
    sources = Sources(Shares.of(100, 1))
    for number in range(1_000):
        source = f"192.0.2.{number}"
        assert sources.enter(source)
        assert not sources.enter(source)
        sources.leave(source)

    assert len(sources) == 0
