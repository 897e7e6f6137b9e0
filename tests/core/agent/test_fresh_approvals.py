"""When a waking run looks at the session's rules again, and when the wake-up has said enough."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from support.counted import Counted
from support.outbox import next_request

from sayso import Gate, Outcome, RulePolicy, RunRef
from sayso.agent.decider import Asker, Decider
from sayso.agent.options import GateOptions
from sayso.calls import ToolCall
from sayso.clock import utc_now
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.rules.rule_set import RuleBook
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.protocols import RuleStore
from sayso.testing import a_request, a_response
from sayso.testing.harness import StoppedClock

RUN = RunRef("deploy-bot", "s-1")
LS = ToolCall("bash", {"command": "ls"})


@dataclass
class Asking:
    """A gate on one side, the store on the other, and the looks between them."""

    backend: Backend
    rules: Counted
    gate: Gate

    async def deny_for_ever(self, call: ToolCall) -> None:
        request = a_request(run=RUN)
        await self.backend.store.open(request, seconds=60, inbox="", book=None)
        await self.backend.store.settle(
            request.permission_id, a_response(request), remember=always_deny(call)
        )


def always_deny(call: ToolCall) -> RememberedRule:
    now = datetime.now(UTC)
    return RememberedRule(literal_rule(call), "deny", "slack:U0ALICE", now, now + timedelta(1))


def asking(backend: Backend) -> Asking:
    rules = Counted(backend.rules, "book")
    counted = replace(backend, rules=cast("RuleStore", rules))
    return Asking(backend, rules, Gate(counted, GateOptions(RUN, timeout=30)))


@pytest.fixture
async def room(backend: Backend) -> AsyncIterator[Asking]:
    room = asking(backend)
    yield room
    await room.gate.finish()


async def test_an_approval_that_says_the_known_version_needs_no_look(room: Asking) -> None:
    waiting = asyncio.create_task(room.gate.check(LS))
    request = await next_request(room.backend)

    await room.backend.store.settle(request.permission_id, a_response(request))

    assert (await waiting).approved
    assert room.rules.looks == 0


async def test_a_denial_stored_while_the_question_was_open_beats_the_approval(
    room: Asking,
) -> None:
    waiting = asyncio.create_task(room.gate.check(LS))
    request = await next_request(room.backend)

    await room.deny_for_ever(LS)
    await room.backend.store.settle(request.permission_id, a_response(request))

    verdict = await waiting
    assert verdict.outcome is Outcome.DENIED
    assert verdict.line == "remembered always deny"
    assert room.rules.looks == 0


async def test_another_rule_stored_meanwhile_makes_the_run_look(room: Asking) -> None:
    waiting = asyncio.create_task(room.gate.check(LS))
    request = await next_request(room.backend)

    await room.deny_for_ever(ToolCall("bash", {"command": "rm"}))
    await room.backend.store.settle(request.permission_id, a_response(request))

    assert (await waiting).approved
    assert room.rules.looks == 1


async def test_an_approval_that_is_resumed_later_is_looked_at_again(room: Asking) -> None:
    submitted = await room.gate.submit(LS)
    request = await next_request(room.backend)
    await room.backend.store.settle(request.permission_id, a_response(request))

    assert isinstance(submitted, str)
    assert (await room.gate.resume(submitted)).approved
    assert room.rules.looks == 1


@pytest.mark.parametrize("hours", [-1, 1])
async def test_an_approval_that_was_long_under_way_is_looked_at_again(hours: int) -> None:
    clock = StoppedClock(datetime.now(UTC))
    async with memory_backend(clock=clock) as backend:
        room = asking(backend)
        waiting = asyncio.create_task(room.gate.check(LS, timeout=7_200))
        request = await next_request(room.backend)
        clock.advance(timedelta(hours=hours))

        # No turn of the loop in between: the run hears of the approval after both.
        await backend.store.settle(request.permission_id, a_response(request))
        await room.deny_for_ever(LS)

        assert (await waiting).outcome is Outcome.DENIED
        assert room.rules.looks == 1
        await room.gate.finish()


class Books:
    """Rules that are read as these books, one after the other."""

    def __init__(self, *books: RuleBook) -> None:
        self.left = list(books)

    async def book(self, run: RunRef) -> RuleBook:
        del run
        return self.left.pop(0)


async def test_a_known_denial_is_read_again_before_it_denies() -> None:
    # At one version rules only expire: what is known may be more than what is left.
    denied = RuleBook("v1", (always_deny(LS),))
    rules = Books(denied, RuleBook("v1"))
    decider = Decider(
        cast("RuleStore", rules), cast("Any", None), RulePolicy(), RUN, cast("Any", None), utc_now
    )
    await decider.refresh()

    assert await decider.denial(Asker("bot"), LS, book="v1") is None
    assert rules.left == []


async def test_a_version_that_is_not_known_is_read() -> None:
    rules = Books(RuleBook("v1"), RuleBook("v2", (always_deny(LS),)))
    decider = Decider(
        cast("RuleStore", rules), cast("Any", None), RulePolicy(), RUN, cast("Any", None), utc_now
    )
    await decider.refresh()

    assert await decider.denial(Asker("bot"), LS, book="v1") is None
    assert await decider.denial(Asker("bot"), LS, book="v2") is not None
