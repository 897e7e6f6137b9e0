"""What is over leaves the memory of a process: it may run for months."""

from __future__ import annotations

from support.clock import Clock

from sayso.stores.memory.drafts import MemoryDrafts
from sayso.stores.memory.work import MemoryLeases


async def test_drafts_whose_time_is_over_are_dropped() -> None:
    clock = Clock()
    drafts = MemoryDrafts(clock)
    for number in range(10):
        await drafts.keep(f"draft {number}", "text", seconds=1)
    clock.pass_by(2)

    await drafts.keep("new", "text", seconds=1)

    assert list(drafts._kept) == ["new"]


async def test_leases_whose_time_is_over_are_dropped() -> None:
    clock = Clock()
    leases = MemoryLeases(clock)
    for number in range(10):
        await leases.hold(f"lease {number}", "me", seconds=1)
    clock.pass_by(2)

    await leases.hold("new", "me", seconds=1)

    assert list(leases._held) == ["new"]
