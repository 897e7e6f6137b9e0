"""What is over leaves the memory of a process: it may run for months."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from support.clock import Clock

from sayso.calls import RunRef
from sayso.chats.budgets import Budget, Rate
from sayso.chats.places import Place
from sayso.errors import ReplayedCallbackError, RequestNotFoundError
from sayso.rules.rule import RememberedRule, Rule
from sayso.stores.backend import Backend
from sayso.stores.branch_log import BEGINNING
from sayso.stores.memory import memory_backend
from sayso.stores.memory.audit import MemoryAudit
from sayso.stores.memory.key_value import MemoryKeyValue
from sayso.stores.memory.outbox import MemoryOutbox
from sayso.stores.memory.records import Entry, Records
from sayso.stores.memory.rule_store import MemoryRuleStore
from sayso.stores.protocols import KEPT, Copy, Opened
from sayso.stores.session_state import SessionState
from sayso.testing import a_request

RUN = RunRef("bot", "s-1")
DAY = timedelta(days=1).total_seconds()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def backend(clock: Clock) -> AsyncIterator[Backend]:
    async with memory_backend(clock=clock) as opened:
        yield opened


@pytest.mark.parametrize(
    ("keep", "days"),
    [(None, 1), (timedelta(hours=1), 1), (timedelta(days=2), 2), (KEPT, 30)],
    ids=["not shown", "shown, kept shortly", "shown, kept longer", "shown"],
)
async def test_a_request_is_forgotten_a_day_after_its_deadline_or_when_its_card_is(
    backend: Backend, clock: Clock, keep: timedelta | None, days: int
) -> None:
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=60, inbox="", book=None)
    if keep is not None:
        copy = Copy("handle", request.question_id, Place("x", "1"))
        await backend.copies.issue(copy, keep=keep)
    await backend.store.settle(request.question_id, request.approve(by="x:1", at=clock()))
    clock.pass_by(60 + days * DAY - 1)
    assert await backend.store.get(request.question_id) is not None
    assert (await backend.copies.find("handle") is not None) == (keep is not None)

    clock.pass_by(1)

    assert await backend.store.get(request.question_id) is None
    assert await backend.copies.find("handle") is None
    with pytest.raises(RequestNotFoundError):
        await backend.log.append(RUN, request.question_id, "ending", request)
    # Its id may be had again, as for any other new request.
    again = await backend.store.open(request, seconds=60, inbox="", book=None)
    assert isinstance(again, Opened)


async def test_nothing_of_a_forgotten_request_is_kept(clock: Clock) -> None:
    records = Records(clock)
    for number in range(10):
        request = a_request(run=RUN).model_copy(update={"permission_id": f"p-{number}"})
        records.add(Entry(request, clock(), set(), clock()))
        records.bind(Copy(f"h-{number}", request.question_id, Place("x", "1")))
        records.refuse_again(f"d-{number}")
    clock.pass_by(DAY)

    assert records.find("p-0") is None
    records.refuse_again("")

    kept = (records._entries, records._waiting, records._handles, records._deliveries)
    assert not any(kept)
    assert not records._to_forget


async def test_a_callback_is_a_replay_for_ten_minutes(backend: Backend, clock: Clock) -> None:
    await backend.copies.find("handle", delivery="d")
    clock.pass_by(599)
    with pytest.raises(ReplayedCallbackError):
        await backend.copies.find("handle", delivery="d")

    clock.pass_by(1)

    assert await backend.copies.find("handle", delivery="d") is None


async def test_a_book_is_forgotten_a_day_after_its_last_rule(clock: Clock) -> None:
    records, outbox = Records(clock), MemoryOutbox(clock)
    rules = MemoryRuleStore(records, MemoryAudit(records, clock), outbox, clock)

    def remember(run: RunRef, seconds: float) -> None:
        until = clock() + timedelta(seconds=seconds)
        rules.remember(run, RememberedRule(Rule("bash"), "allow", "x:1", clock(), until), {})

    remember(RUN, 60)
    remember(RUN, 30)
    version = rules.version(RUN)
    clock.pass_by(59 + DAY)
    remember(RunRef("bot", "s-2"), 60)
    assert rules.version(RUN) == version
    clock.pass_by(1)

    remember(RunRef("bot", "s-2"), 60)

    assert rules.version(RUN) == ""
    assert {name[1] for name in rules._books} == {"s-2"}
    assert {kept.book[1] for kept in rules._kept.values()} == {"s-2"}


async def test_what_was_spent_is_forgotten_half_a_year_after_the_last_question_for_it(
    backend: Backend, clock: Clock
) -> None:
    assert await SessionState(backend.key_value).spend(RUN, "once")
    for _ in range(2):
        clock.pass_by(179 * DAY)
        assert not await SessionState(backend.key_value).spend(RUN, "once")

    clock.pass_by(180 * DAY)

    assert await SessionState(backend.key_value).spend(RUN, "once")


async def test_a_log_is_forgotten_a_week_after_it_was_last_touched(
    backend: Backend, clock: Clock
) -> None:
    request = a_request(run=RUN)
    await backend.store.open(request, seconds=8 * DAY, inbox="", book=None)
    await backend.log.append(RUN, request.question_id, "request", request)
    clock.pass_by(7 * DAY - 1)
    assert len(await backend.log.after(RUN, BEGINNING, count=10)) == 1

    clock.pass_by(7 * DAY)

    assert await backend.log.after(RUN, BEGINNING, count=10) == []


async def test_texts_and_leases_whose_time_is_over_are_dropped(clock: Clock) -> None:
    key_value = MemoryKeyValue(clock)
    for number in range(10):
        await key_value.set(f"draft:{number}", "text", seconds=1)
        await key_value.acquire_lease(f"lease {number}", "me", seconds=1)
    clock.pass_by(2)

    await key_value.set("draft:new", "text", seconds=1)

    assert list(key_value._texts) == ["draft:new"]


async def test_budgets_are_forgotten_when_nothing_of_them_counts_any_more(clock: Clock) -> None:
    budgets = MemoryKeyValue(clock)
    for number in range(10):
        await budgets.reserve_rate([Budget(f"chat {number}", Rate(1, 10))])
    clock.pass_by(10)

    await budgets.reserve_rate([Budget("new", Rate(1, 10))])

    assert list(budgets._reserved) == list(budgets._reserved_until) == ["new"]
