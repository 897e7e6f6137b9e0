"""The gate: asking, waiting, and every way a wait ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import CoroutineType
from typing import Any, cast

import pytest
from support.outbox import next_request

from sayso import Gate, Outcome, Rule, RulePolicy, RunRef, ToolCall
from sayso.errors import (
    ArgumentsChangedError,
    ConfigError,
    IdempotencyConflictError,
    InvalidCallError,
    RequestNotFoundError,
    RequestUnansweredError,
    WaitTimeoutError,
)
from sayso.events import PermissionRequestEvent, PermissionResponseEvent
from sayso.questions.permission import call_of
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
async def gate(backend: Backend) -> AsyncIterator[Gate]:
    async with Gate.open(backend, run=RUN, timeout=20) as gate:
        yield gate


async def approve(backend: Backend, request: PermissionRequestEvent, **fields: Any) -> None:
    response = request.approve(by="slack:U0ALICE", at=now())
    await backend.store.settle(request.permission_id, response.model_copy(update=fields))


async def test_the_request_carries_what_was_asked(gate: Gate, backend: Backend) -> None:
    waiting = asyncio.create_task(
        gate.check(CALL, source_name="planner", description="why", path=("researcher", "bash"))
    )
    request = await next_request(backend)
    await approve(backend, request)
    await waiting

    assert request.source_name == "planner"
    assert request.function_name == "bash"
    assert request.arguments == {"command": "ls"}
    assert request.call_id == CALL.call_id
    assert request.description == "why"
    assert request.asker == "deploy-bot › researcher › bash"
    assert request.run == RUN
    assert timedelta(seconds=15) < request.expires_at - now() <= timedelta(seconds=20)


async def test_silence_is_a_denial(gate: Gate) -> None:
    verdict = await gate.check(CALL, timeout=0.3)

    assert verdict.outcome is Outcome.EXPIRED
    assert not verdict.approved
    assert "nobody answered" in verdict.as_tool_result()


async def test_arguments_changed_while_asked_do_not_run(gate: Gate, backend: Backend) -> None:
    arguments = {"command": "ls"}
    waiting = asyncio.create_task(gate.check(ToolCall("bash", arguments)))
    request = await next_request(backend)
    arguments["command"] = "rm -rf /"
    await approve(backend, request)

    with pytest.raises(ArgumentsChangedError):
        await waiting


async def test_a_list_that_changes_while_asked_is_another_call(
    gate: Gate, backend: Backend
) -> None:
    arguments = {"files": ["a.txt"]}
    waiting = asyncio.create_task(gate.check(ToolCall("delete", arguments)))
    request = await next_request(backend)
    arguments["files"].append("b.txt")
    await approve(backend, request)

    with pytest.raises(ArgumentsChangedError):
        await waiting


async def test_a_check_that_waits_keeps_one_coroutine(gate: Gate, backend: Backend) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    request = await next_request(backend)
    check = cast("CoroutineType[Any, Any, Any]", waiting.get_coro())
    async with asyncio.timeout(20):
        while asyncio.iscoroutine(check.cr_await):
            await asyncio.sleep(0)
    await approve(backend, request)

    assert (await waiting).approved


async def test_an_approval_of_other_arguments_approves_nothing(
    gate: Gate, backend: Backend
) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    request = await next_request(backend)
    await approve(backend, request, arguments_digest="0" * 64)

    with pytest.raises(ArgumentsChangedError):
        await waiting


async def test_a_policy_that_decides_asks_nobody(backend: Backend) -> None:
    policy = RulePolicy(allow=[Rule("read")], deny=[Rule("bash")])
    async with Gate.open(backend, run=RUN, policy=policy) as gate:
        allowed = await gate.check(ToolCall("read"))
        denied = await gate.check(CALL)

    assert allowed.approved
    assert allowed.line == "allow rule 1"
    assert denied.outcome is Outcome.DENIED
    assert denied.line == "deny rule 1"
    assert await backend.store.list_requests() == []


async def test_arguments_that_cannot_be_shown_are_refused(gate: Gate) -> None:
    with pytest.raises(InvalidCallError):
        await gate.check(ToolCall("bash", {"command": object()}))


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), 31 * 86_400])
async def test_a_wait_without_an_end_is_refused(gate: Gate, timeout: float) -> None:
    with pytest.raises(ValueError, match="30 days"):
        await gate.check(CALL, timeout=timeout)


async def test_a_cancelled_check_cancels_its_question(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        waiting = asyncio.create_task(gate.check(CALL))
        request = await next_request(backend)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    record = await backend.store.get(request.permission_id)
    assert record is not None
    assert record.ending is not None
    assert record.ending.outcome is Outcome.CANCELLED


async def test_submit_here_resume_there(gate: Gate, backend: Backend) -> None:
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)
    async with Gate.open(backend, run=RunRef("deploy-bot", "s-1")) as other:
        waiting = asyncio.create_task(other.resume(permission_id))
        await approve(backend, await next_request(backend))

        verdict = await waiting

    assert verdict.approved
    assert verdict.arguments == CALL.arguments
    assert verdict.permission_id == permission_id


async def test_resume_finds_an_answer_from_before(gate: Gate, backend: Backend) -> None:
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)
    await approve(backend, await next_request(backend))

    assert (await gate.resume(permission_id)).approved


async def test_an_impatient_resume_leaves_the_question_open(gate: Gate, backend: Backend) -> None:
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)

    with pytest.raises(WaitTimeoutError):
        await gate.resume(permission_id, timeout=0.01)

    await approve(backend, await next_request(backend))
    assert (await gate.resume(permission_id)).approved


async def test_two_who_wait_for_one_question_both_hear(gate: Gate, backend: Backend) -> None:
    permission_id = await gate.submit(CALL)
    assert isinstance(permission_id, str)
    first = asyncio.create_task(gate.resume(permission_id))
    second = asyncio.create_task(gate.resume(permission_id))
    third = asyncio.create_task(gate.resume(permission_id))
    await asyncio.sleep(0)
    third.cancel()

    await approve(backend, await next_request(backend))

    assert (await first).approved
    assert (await second).approved


async def test_two_who_wait_past_the_end_leave_the_timer_alive(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        permission_id = await gate.submit(CALL, timeout=0.1)
        assert isinstance(permission_id, str)
        both = await asyncio.gather(gate.resume(permission_id), gate.resume(permission_id))

        assert [verdict.outcome for verdict in both] == [Outcome.EXPIRED] * 2
        assert (await gate.check(CALL, timeout=0.1)).outcome is Outcome.EXPIRED


async def test_an_unknown_id_is_a_clear_error(gate: Gate) -> None:
    for wait in (
        gate.resume("nope"),
        gate.cancel("nope"),
        gate.wait_for_response(PermissionResponseEvent, "nope"),
    ):
        with pytest.raises(RequestNotFoundError, match="nope"):
            await wait


async def test_cancel_ends_the_wait_and_says_so(gate: Gate, backend: Backend) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    request = await next_request(backend)

    ending = await gate.cancel(request.permission_id, reason="not needed")

    verdict = await waiting
    assert ending.outcome is Outcome.CANCELLED
    assert verdict.outcome is Outcome.CANCELLED
    assert verdict.reason == "not needed"


async def test_cancel_after_an_answer_tells_the_answer(gate: Gate, backend: Backend) -> None:
    waiting = asyncio.create_task(gate.check(CALL))
    request = await next_request(backend)
    await approve(backend, request)

    ending = await gate.cancel(request.permission_id)

    assert ending.outcome is Outcome.APPROVED
    assert (await waiting).approved


async def test_the_general_pair_keeps_strange_ids(gate: Gate, backend: Backend) -> None:
    strange = "p:“é”\n" * 80
    template = await made_by(gate, backend)
    event = template.model_copy(update={"permission_id": strange, "source_name": strange})
    await gate.emit(event)
    answering = asyncio.create_task(answer_next(backend))

    response = await gate.wait_for_response(PermissionResponseEvent, strange, 5)

    await answering
    assert response.permission_id == strange
    assert response.source_name == strange
    assert response.approved


async def made_by(gate: Gate, backend: Backend) -> PermissionRequestEvent:
    await gate.submit(CALL)
    return await next_request(backend)


async def answer_next(backend: Backend) -> None:
    await approve(backend, await next_request(backend))


async def test_the_general_pair_reports_other_endings_as_errors(
    gate: Gate, backend: Backend
) -> None:
    permission_id = await gate.submit(CALL, timeout=0.3)
    assert isinstance(permission_id, str)

    with pytest.raises(RequestUnansweredError, match="expired") as caught:
        await gate.wait_for_response(PermissionResponseEvent, permission_id)

    assert caught.value.outcome == "expired"


async def test_an_id_is_used_once(gate: Gate, backend: Backend) -> None:
    request = await made_by(gate, backend)
    await gate.emit(request.model_copy(update={"permission_id": "mine"}))

    with pytest.raises(IdempotencyConflictError):
        await gate.emit(
            request.model_copy(update={"permission_id": "mine", "function_name": "other"})
        )


async def test_a_guarded_function_runs_only_when_approved(gate: Gate, backend: Backend) -> None:
    ran: list[str] = []

    @gate.guard
    async def deploy(target: str, *, force: bool = False) -> str:
        """Deploy to a target.

        More words.
        """
        ran.append(target)
        return f"deployed {target} {force}"

    first = asyncio.create_task(deploy("staging"))
    request = await next_request(backend)
    await approve(backend, request)
    second = asyncio.create_task(deploy("production"))
    other = await next_request(backend)
    await backend.store.settle(other.permission_id, other.deny(by="slack:U0BOB", at=now()))

    assert await first == "deployed staging False"
    assert "denied by a person" in str(await second)
    assert ran == ["staging"]
    assert request.function_name == "deploy"
    assert request.description == "Deploy to a target."
    assert request.arguments == {"target": "staging", "force": False}


@pytest.mark.parametrize("url", ["", "mysql://x", "localhost:6379"])
async def test_a_store_of_no_known_kind_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="redis://"):
        async with Gate.open(url, run=RUN):
            pass


async def test_a_request_becomes_its_call_again(gate: Gate, backend: Backend) -> None:
    assert call_of(await made_by(gate, backend)) == CALL


def test_opening_a_memory_gate_by_url_needs_nothing_else() -> None:
    code = (
        "import asyncio\n"
        "from sayso import Gate, RulePolicy, RunRef, ToolCall\n"
        "async def main():\n"
        "    policy = RulePolicy(default='allow')\n"
        "    async with Gate.open('memory://', run=RunRef('a', 's'), policy=policy) as gate:\n"
        "        print((await gate.check(ToolCall('ls'))).approved)\n"
        "asyncio.run(main())\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "True\n"
