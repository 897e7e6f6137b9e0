"""Both sides of the windows of the hosted API: of tickets, of attempts."""

from __future__ import annotations

import pytest
from support.clock import Clock

from sayso.calls import RunRef
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso_bots.api.door import Limits, Ticket, Tickets

RUN = RunRef("an-agent", "a-session")


@pytest.mark.parametrize(("later", "is_good"), [(599, True), (600, False), (601, False)])
async def test_a_ticket_is_good_for_ten_minutes(later: int, *, is_good: bool) -> None:
    clock = Clock()
    key_value = MemoryKeyValue(clock)
    tickets = Tickets(key_value)
    ticket = await tickets.make(RUN, "ci")
    clock.pass_by(later)

    known = await tickets.read(ticket)

    assert known == (Ticket(("an-agent", "a-session", "main"), "ci") if is_good else None)


async def test_the_store_knows_a_ticket_by_its_hash_alone() -> None:
    key_value = MemoryKeyValue(Clock())
    ticket = await Tickets(key_value).make(RUN, "ci")

    assert len(key_value._texts) == 1
    assert ticket not in str(key_value._texts)


@pytest.mark.parametrize(("later", "wait"), [(0.19, 1), (0.2, 0), (0.21, 0)])
def test_a_caller_who_used_up_its_attempts_has_another_one_in_time(later: float, wait: int) -> None:
    clock = Clock(0)
    limits = Limits(5, clock.seconds)
    used = [limits.wait("somebody") for _ in range(11)]
    clock.pass_by(later)

    assert used == [0] * 10 + [1]
    assert limits.wait("somebody") == wait


def test_of_more_than_ten_thousand_callers_the_oldest_is_forgotten() -> None:
    clock = Clock(0)
    limits = Limits(0.5, clock.seconds)
    assert [limits.wait("first") for _ in range(2)] == [0, 2]
    for number in range(9_999):
        limits.wait(f"caller {number}")
    kept = limits.would_wait("first")
    limits.wait("one more")

    assert kept == 2
    assert limits.would_wait("first") == 0
