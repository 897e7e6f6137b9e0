"""Checks under keys: people who answer them, and callers who join."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from sayso import CheckResult, Gate, Rule, RulePolicy, RunRef, ToolCall
from sayso.events import Event, PermissionRequestEvent
from sayso.rules.rule import RememberedRule, literal_rule
from sayso.stores.backend import Backend
from sayso.testing import a_request, a_response, until

RUN = RunRef("deploy-bot", "s-42")
DEPLOY = ToolCall("deploy", {"service": "api"}, "call-1")
ALICE = "slack:U0ALICE"
DENY_DEPLOY = RulePolicy(deny=[Rule("deploy")])


async def question(backend: Backend) -> PermissionRequestEvent:
    """The one open question, once it is there."""
    await until(backend.store.list_requests)
    [record] = await backend.store.list_requests()
    assert isinstance(record.request, PermissionRequestEvent)
    return record.request


async def approve(backend: Backend, **changes: Any) -> None:
    request = await question(backend)
    await backend.store.settle(request.permission_id, request.approve(by=ALICE, **changes))


async def deny(backend: Backend) -> None:
    request = await question(backend)
    await backend.store.settle(request.permission_id, request.deny(by=ALICE))


async def always(backend: Backend, call: ToolCall, *, allow: bool) -> None:
    """What a press of Always on another question about the call does."""
    request = a_request(tool=call.name, arguments=call.arguments, run=replace(RUN, run_id="x"))
    await backend.store.open(request, seconds=30, inbox="", book=None)
    now = datetime.now(UTC)
    effect: Literal["allow", "deny"] = "allow" if allow else "deny"
    rule = RememberedRule(literal_rule(call), effect, ALICE, now, now + timedelta(hours=1))
    answer = a_response(request, approved=allow)
    await backend.store.settle(request.permission_id, answer, remember=rule)


async def waiters(
    gate: Gate, told: list[Event], count: int, *, key: str = "k"
) -> list[asyncio.Task[CheckResult]]:
    """Checks of one call under one key that all wait for its question."""
    checks = []
    for _ in range(count):
        before = len(told)
        checks.append(asyncio.create_task(gate.check(DEPLOY, key=key)))
        await until_told(told, before + 1)
    return checks


async def until_withdrawn(backend: Backend) -> None:
    async def nothing_open() -> bool:
        return not await backend.store.list_requests()

    await until(nothing_open)


async def until_told(told: list[Event], count: int, *, key: str = "k") -> None:
    """Wait until whoever observes the gate was told so many events: of what it asks or joins."""

    async def heard() -> bool:
        return len(told) >= count

    await until(heard)
