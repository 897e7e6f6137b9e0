"""Whoever joins a question under its key waits, leaves and comes back as one of several."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from support.keyed import (
    ALICE,
    DEPLOY,
    RUN,
    approve,
    question,
    until_told,
    until_withdrawn,
    waiters,
)

from sayso import (
    ArgumentsChangedError,
    Clarify,
    Gate,
    IdempotencyConflictError,
    Outcome,
    PendingResult,
    RequestNotFoundError,
    ToolCall,
    WaitTimeoutError,
)
from sayso.calls import RunRef
from sayso.events import Event, PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.stores.protocols import Hold, Record, RequestStore


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
async def gate(backend: Backend, told: list[Event]) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, observe=told.append) as opened:
        yield opened


async def test_a_joiner_that_is_cancelled_leaves_the_question_to_the_others_and_the_last_withdraws(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    first, second, third = await waiters(gate, told, 3)
    asked = await question(backend)

    for check in (first, third):
        check.cancel()
        await asyncio.gather(check, return_exceptions=True)
    await gate.finish()
    assert (await question(backend)).permission_id == asked.permission_id
    assert not second.done()

    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    await gate.finish()
    record = await backend.store.get(asked.permission_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.CANCELLED

    # Nobody had a verdict: the next one asks anew.
    again = asyncio.create_task(gate.check(DEPLOY, key="k"))
    assert (await question(backend)).permission_id != asked.permission_id
    await approve(backend)
    assert (await again).approved


async def test_a_joiner_whose_time_is_over_has_expired_and_the_question_stays_open(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)

    verdict = await gate.check(DEPLOY, key="k", timeout=0.3)

    assert (verdict.outcome, verdict.line) == (Outcome.EXPIRED, "out of time")
    assert verdict.permission_id == (await question(backend)).permission_id
    assert "still open" in verdict.reason
    await approve(backend)
    assert (await first).approved
    assert (await gate.check(DEPLOY, key="k")).approved


async def test_a_question_expires_when_it_was_said_however_patient_its_joiners_are(
    backend: Backend, gate: Gate
) -> None:
    first = asyncio.create_task(gate.check(DEPLOY, key="k", timeout=1))
    await question(backend)

    second = await gate.check(DEPLOY, key="k", timeout=600)

    assert second.outcome is (await first).outcome is Outcome.EXPIRED
    # That is recorded, and so it stays.
    assert (await gate.check(DEPLOY, key="k")).permission_id == second.permission_id


async def test_a_cancelled_question_stays_cancelled_under_its_key(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    await gate.cancel((await question(backend)).permission_id)

    assert (await first).outcome is Outcome.CANCELLED
    assert (await gate.check(DEPLOY, key="k")).outcome is Outcome.CANCELLED


async def test_submitting_again_gives_the_same_id_and_a_cancelled_check_leaves_it_open(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    said = await gate.submit(DEPLOY, key="k")
    assert await gate.submit(DEPLOY, key="k") == said
    [check] = await waiters(gate, told, 1)

    check.cancel()
    await asyncio.gather(check, return_exceptions=True)
    await gate.finish()

    assert (await question(backend)).permission_id == said
    await approve(backend)
    assert await gate.submit(DEPLOY, key="k") == said
    assert (await gate.resume(str(said))).approved


async def test_resume_finds_a_call_by_its_key_and_looks_without_waiting(
    backend: Backend, gate: Gate
) -> None:
    with pytest.raises(RequestNotFoundError, match="'k'"):
        await gate.resume(key="k")
    said = await gate.submit(DEPLOY, key="k")

    for found in (
        await gate.resume(key="k", wait=False),
        await gate.resume(str(said), wait=False),
    ):
        assert isinstance(found, PendingResult)
        assert found.permission_id == said
    resumed = asyncio.create_task(gate.resume(key="k"))
    await approve(backend)
    assert (await resumed).approved
    assert await gate.resume(key="k", wait=False) == await resumed


async def test_a_question_is_named_by_its_id_or_by_its_key(gate: Gate) -> None:
    with pytest.raises(TypeError, match="by its id or by the key"):
        await gate.resume()
    with pytest.raises(TypeError, match="not by both"):
        await gate.resume("an id", key="k")


async def test_looking_does_not_hold_a_question_and_waiting_for_it_by_its_key_does(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    await gate.resume(key="k", wait=False)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await until_withdrawn(backend)

    [second] = await waiters(gate, told, 1)
    async with Gate.open(backend, run=RUN) as other:
        with pytest.raises(WaitTimeoutError):
            await other.resume(key="k", timeout=0.1)
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        await gate.finish()
        await approve(backend)
        assert (await other.resume(key="k")).approved


async def test_the_calls_of_a_batch_have_a_key_each(backend: Backend, gate: Gate) -> None:
    calls = [replace(DEPLOY, call_id=name) for name in ("a", "b")]
    first = await gate.submit_batch(calls, keys=["a", "b"])

    again = await gate.submit_batch(calls, keys=["a", "b"])
    checks = asyncio.create_task(gate.check_batch(calls, keys=["a", "b"], together=True))
    assert [one.permission_id for one in again] == [one.permission_id for one in first]
    for one in first:
        record = await backend.store.get(str(one.permission_id))
        assert record is not None
        assert isinstance(record.request, PermissionRequestEvent)
        await backend.store.settle(record.request.permission_id, record.request.approve(by=ALICE))
    assert [one.permission_id for one in await checks] == [one.permission_id for one in first]

    async def deploy(service: str) -> str:
        return f"deployed {service}"

    gate.before_iteration()
    results = await gate.run_batch(calls, {"deploy": deploy}, keys=["a", "b"])
    assert [one.content for one in results] == ["deployed api", "deployed api"]
    assert await backend.store.list_requests() == []


async def test_keys_that_make_no_sense_are_refused_before_anything_is_asked(
    backend: Backend, gate: Gate
) -> None:
    for key in ("", "x" * 1_025, "half \ud800"):
        for attempt in (
            gate.check(DEPLOY, key=key),
            gate.submit(DEPLOY, key=key),
            gate.resume(key=key),
            gate.check_batch([DEPLOY], keys=[key]),
        ):
            with pytest.raises(ValueError, match="a key"):
                await attempt
    with pytest.raises(ValueError, match="one for each"):
        await gate.check_batch([DEPLOY], keys=["a", "b"])
    with pytest.raises(ValueError, match="a key each"):
        await gate.check_batch([DEPLOY], key="a")
    with pytest.raises(ValueError, match="only a call has"):
        await gate.submit(Clarify("Which?"), key="k")  # type: ignore[call-overload]

    assert await backend.store.list_requests() == []


async def test_a_key_of_another_kind_of_question_is_used_up(backend: Backend, gate: Gate) -> None:
    inquiry = Clarify("Which?").request(
        "q-1", {"source_name": "a", "run": RUN, "expires_at": datetime.now(UTC)}
    )
    await backend.store.open(inquiry, seconds=30, inbox="", book=None, key="k")

    with pytest.raises(IdempotencyConflictError, match="another kind of question"):
        await gate.check(DEPLOY, key="k")


async def test_arguments_that_change_while_a_joiner_waits_do_not_run(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    handed = ToolCall("deploy", {"service": "api"}, "call-1")
    second = asyncio.create_task(gate.check(handed, key="k"))
    await until_told(told, 2)
    assert isinstance(handed.arguments, dict)
    handed.arguments["service"] = "db"
    await approve(backend)

    assert (await first).approved
    with pytest.raises(ArgumentsChangedError):
        await second


class Unseen:
    """Keys of which the first that is looked for is not there yet."""

    def __init__(self, store: RequestStore) -> None:
        self._store = store
        self._looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_by_key(self, run: RunRef, key: str, *, hold: Hold | None = None) -> Record | None:
        """As the store does, but for the first time."""
        self._looks += 1
        return None if self._looks == 1 else await self._store.get_by_key(run, key, hold=hold)


async def test_who_submits_another_call_at_the_same_time_leaves_no_hold_on_the_question(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    async with Gate.open(
        replace(backend, store=cast("RequestStore", Unseen(backend.store))), run=RUN
    ) as late:
        with pytest.raises(IdempotencyConflictError):
            await late.submit(ToolCall("deploy", {"to": "elsewhere"}), key="k")

    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await gate.finish()
    await until_withdrawn(backend)


async def test_who_submits_the_same_call_at_the_same_time_holds_the_question_for_good(
    backend: Backend, gate: Gate, told: list[Event]
) -> None:
    [first] = await waiters(gate, told, 1)
    async with Gate.open(
        replace(backend, store=cast("RequestStore", Unseen(backend.store))), run=RUN
    ) as late:
        submitted = await late.submit(DEPLOY, key="k")

    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    await gate.finish()

    assert (await question(backend)).permission_id == submitted
