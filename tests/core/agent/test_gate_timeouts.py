"""A timeout is a promise from the moment of the call, on every door, whatever the store does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from support.outbox import next_request
from support.ports import free_port
from support.valkey_server import Valkey

from sayso import Clarify, Gate, Outcome, Rule, RulePolicy, RunRef, ToolCall
from sayso.agent.timeouts import GRACE_SECONDS
from sayso.clock import utc_now
from sayso.errors import ConfigError, StoreUnreachableError, WaitTimeoutError
from sayso.events import PermissionRequestEvent, PermissionResponseEvent
from sayso.policy.decision import Decision, PolicyContext
from sayso.rules.rule_set import RuleBook
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend
from sayso.stores.redis import redis_backend
from sayso.testing import a_request, until

RUN = RunRef("deploy-bot", "s-1")
CALL = ToolCall("bash", {"command": "ls"})
CALLS = [ToolCall("bash", {"n": number}) for number in range(3)]
_TIMEOUT = 0.5
# What a busy machine may add; a call that is not held to its time takes seconds longer.
_SLACK = 1.5


class MachineLag:
    """How long the event loop was held up at worst while the block ran: by the machine, mostly."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> MachineLag:
        self._look_at(asyncio.get_running_loop().time())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look_at(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        self.seconds = max(self.seconds, loop.time() - due)
        later = loop.time() + 0.01
        self._timer = loop.call_at(later, self._look_at, later)


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey()
    valkey.start()
    yield valkey
    valkey.close()


@pytest.fixture
async def gate(server: Valkey) -> AsyncIterator[Gate]:
    async with redis_backend(server.url) as backend, Gate.open(backend, run=RUN) as opened:
        yield opened


async def _emit(gate: Gate) -> None:
    request = a_request(run=RUN)
    expires_at = utc_now() + timedelta(seconds=_TIMEOUT)
    await gate.emit(request.model_copy(update={"expires_at": expires_at}))


async def _guarded(gate: Gate) -> None:
    def bash(command: str) -> str:
        return command

    # A guarded function is asked about for as long as its gate says.
    async with Gate.open(gate.backend, run=RUN, timeout=_TIMEOUT) as short:
        await short.guard(bash)("ls")


ASKING: dict[str, Callable[[Gate], Awaitable[object]]] = {
    "check": lambda gate: gate.check(CALL, timeout=_TIMEOUT),
    "before_function": lambda gate: gate.before_function(CALL, timeout=_TIMEOUT),
    "submit": lambda gate: gate.submit(CALL, timeout=_TIMEOUT),
    "submit a question": lambda gate: gate.submit(Clarify("Which?"), timeout=_TIMEOUT),
    "ask": lambda gate: gate.ask(Clarify("Which?"), timeout=_TIMEOUT),
    "clarify": lambda gate: gate.clarify("Which?", timeout=_TIMEOUT),
    "approve_text": lambda gate: gate.approve_text("Text", timeout=_TIMEOUT),
    "collect": lambda gate: gate.collect(
        {"type": "object", "properties": {"a": {"type": "string"}}}, text="?", timeout=_TIMEOUT
    ),
    "may_continue": lambda gate: gate.may_continue(1, 2, timeout=_TIMEOUT),
    "check_batch": lambda gate: gate.check_batch(CALLS, timeout=_TIMEOUT),
    "check_batch together": lambda gate: gate.check_batch(CALLS, together=True, timeout=_TIMEOUT),
    "run_batch": lambda gate: gate.run_batch(CALLS, {"bash": str}, timeout=_TIMEOUT),
    "submit_batch": lambda gate: gate.submit_batch(CALLS, timeout=_TIMEOUT),
    "emit": _emit,
    "guard": _guarded,
}

RESUMING: dict[str, Callable[[Gate, str], Awaitable[object]]] = {
    "resume": lambda gate, known: gate.resume(known, timeout=_TIMEOUT),
    "resume_batch": lambda gate, known: gate.resume_batch([known], timeout=_TIMEOUT),
    "wait_for_response": lambda gate, known: gate.wait_for_response(
        PermissionResponseEvent, known, _TIMEOUT
    ),
}


@pytest.mark.parametrize("door", ASKING)
async def test_a_store_that_hangs_stretches_no_question_beyond_its_timeout(
    door: str, gate: Gate, server: Valkey
) -> None:
    await gate.backend.outbox.count_workers()
    server.stop_answering()
    began = time.monotonic()

    with pytest.raises(StoreUnreachableError, match=r"nobody was asked|nothing was approved"):
        await ASKING[door](gate)

    assert time.monotonic() - began < _TIMEOUT + _SLACK
    server.answer_again()


@pytest.mark.parametrize("door", RESUMING)
async def test_a_store_that_hangs_stretches_no_wait_beyond_its_timeout(
    door: str, gate: Gate, server: Valkey
) -> None:
    known = await gate.submit(CALL, timeout=600)
    assert isinstance(known, str)
    server.stop_answering()
    began = time.monotonic()

    with pytest.raises((StoreUnreachableError, WaitTimeoutError)):
        await RESUMING[door](gate, known)

    assert time.monotonic() - began < _TIMEOUT + _SLACK
    server.answer_again()


async def test_a_store_that_opened_a_question_late_and_hangs_at_its_end_ends_the_wait_in_time(
    gate: Gate, server: Valkey
) -> None:
    await gate.check(CALL, timeout=0.1)  # from now on the inbox listens
    loop = asyncio.get_running_loop()
    async with redis_backend(server.url) as others:
        server.stop_answering()
        began = loop.time()
        waiting = asyncio.create_task(gate.check(CALL, timeout=1))
        # The least that an answer of the store takes, by which a question is not yet shortened.
        loop.call_at(began + 0.22, server.answer_again)
        await until(others.store.list_requests)
        server.stop_answering()

        async with MachineLag() as lag:
            with pytest.raises(StoreUnreachableError, match="the answer may be there"):
                await waiting

        assert loop.time() - began < 1 + GRACE_SECONDS + 0.1 + lag.seconds
        server.answer_again()


async def test_a_store_that_hangs_at_the_end_of_a_question_ends_the_wait(
    gate: Gate, server: Valkey
) -> None:
    async def it_is_open() -> bool:
        return len(await gate.backend.store.list_requests()) == 1

    began = time.monotonic()
    check = asyncio.create_task(gate.check(CALL, timeout=1))
    await until(it_is_open)
    server.stop_answering()

    with pytest.raises(StoreUnreachableError, match="resume it"):
        await check

    # The question's last second, the grace of one second, and what a busy machine adds.
    assert time.monotonic() - began < 2 + _SLACK / 2
    server.answer_again()


async def test_a_question_that_a_hanging_store_opens_late_ends_when_it_was_promised(
    server: Valkey,
) -> None:
    async with (
        redis_backend(f"{server.url}?socket_timeout=0.3") as backend,
        Gate.open(backend, run=RUN) as gate,
    ):
        # The server knows the script by now: what it is sent it carries out, however late.
        await gate.check(CALL, timeout=0.1)
        server.stop_answering()
        began = time.monotonic()
        check = asyncio.create_task(gate.check(CALL, timeout=2.5))
        await asyncio.sleep(1.5)
        server.answer_again()

        verdict = await check

    assert verdict.outcome is Outcome.EXPIRED
    assert 2.3 < time.monotonic() - began < 2.5 + _SLACK


async def test_a_store_that_is_away_is_waited_for_as_long_as_the_gate_is_patient() -> None:
    port = free_port()
    async with Gate.open(f"redis://127.0.0.1:{port}", run=RUN, patience=0.4) as gate:
        for door in (gate.check(CALL), gate.clarify("Which?"), gate.resume("q-1")):
            began = time.monotonic()
            with pytest.raises(StoreUnreachableError, match=r"no Redis answers.*tried for 0\.4 s"):
                await door
            assert 0.3 < time.monotonic() - began < 0.4 + _SLACK


@pytest.mark.parametrize("patience", [0, -1, timedelta(days=31)])
async def test_a_patience_that_makes_no_sense_is_an_error(patience: Any) -> None:
    with pytest.raises(ConfigError, match="must be more than 0"):
        async with Gate.open("memory://", run=RUN, patience=patience):
            pass


class ForgetfulRules:
    """The rules of a store that is away for the first looks."""

    def __init__(self, inner: Any, failures: int) -> None:
        self._inner = inner
        self.failures = failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def book(self, run: RunRef) -> RuleBook:
        if self.failures:
            self.failures -= 1
            raise StoreUnreachableError("away")
        book: RuleBook = await self._inner.book(run)
        return book


async def test_a_call_that_rules_allow_waits_for_a_store_that_is_away_for_a_moment() -> None:
    async with memory_backend() as backend:
        rules = ForgetfulRules(backend.rules, 2)
        policy = RulePolicy(allow=[Rule("bash")])
        async with Gate.open(replace(backend, rules=rules), run=RUN, policy=policy) as gate:
            verdict = await gate.check(CALL)

    assert verdict.approved
    assert rules.failures == 0


@pytest.fixture
async def memory() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.mark.parametrize("together", [False, True])
async def test_a_batch_ends_within_its_timeout_however_many_calls_it_has(
    memory: Backend, *, together: bool
) -> None:
    policy = RulePolicy(allow=[Rule("date")])
    calls = [*CALLS, ToolCall("date")]
    async with Gate.open(memory, run=RUN, policy=policy) as gate:
        began = time.monotonic()

        verdicts = await gate.check_batch(calls, together=together, timeout=1)

        assert time.monotonic() - began < 1 + _SLACK / 2
    # What needs nobody is decided all the same.
    assert [one.outcome for one in verdicts] == 3 * [Outcome.EXPIRED] + [Outcome.APPROVED]


async def test_a_submitted_batch_is_open_until_one_moment(memory: Backend) -> None:
    async with Gate.open(memory, run=RUN) as gate:
        began = time.monotonic()
        submitted = await gate.submit_batch(CALLS, timeout=0.4)
        verdicts = await gate.resume_batch(submitted)

        assert time.monotonic() - began < 0.4 + _SLACK
    assert [one.approved for one in verdicts] == 3 * [False]


async def test_a_policy_that_never_decides_is_a_no_when_the_time_is_over(memory: Backend) -> None:
    async def never(_call: ToolCall, _context: PolicyContext) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError

    async with Gate.open(memory, run=RUN, policy=never) as gate:
        began = time.monotonic()

        verdict = await gate.check(CALL, timeout=0.2)

        assert time.monotonic() - began < 1.2 + _SLACK / 2
    assert verdict.outcome is Outcome.EXPIRED
    assert verdict.reason == "its time of 0.2 s was over: nobody was asked"
    assert await memory.store.list_requests() == []


async def test_a_timeout_error_of_a_policy_is_its_own(memory: Backend) -> None:
    def broken(_call: ToolCall, _context: PolicyContext) -> Decision:
        raise TimeoutError("the policy's own")

    async with Gate.open(memory, run=RUN, policy=broken) as gate:
        verdict = await gate.check(CALL)

    assert verdict.outcome is Outcome.DENIED
    assert "nobody was asked" not in verdict.reason


async def test_the_time_that_a_policy_takes_is_part_of_the_timeout(memory: Backend) -> None:
    async def slow(_call: ToolCall, _context: PolicyContext) -> Decision:
        await asyncio.sleep(0.4)
        return Decision.ASK

    async with Gate.open(memory, run=RUN, policy=slow) as gate:
        check = asyncio.create_task(gate.check(CALL, timeout=60))
        request = await next_request(memory)
        record = await memory.store.get(request.question_id)
        check.cancel()
        await asyncio.gather(check, return_exceptions=True)

    assert isinstance(request, PermissionRequestEvent)
    assert record is not None
    assert record.seconds_left < 59.7


async def test_a_task_that_was_started_by_a_call_has_its_own_time(memory: Backend) -> None:
    tasks: list[asyncio.Task[Any]] = []

    def start_another(_call: ToolCall, _context: PolicyContext) -> Decision:
        if not tasks:
            tasks.append(asyncio.create_task(another()))
        return Decision.DENY

    async def another() -> Any:
        await asyncio.sleep(0.3)
        return await gate.submit(CALL, timeout=60)

    async with Gate.open(memory, run=RUN) as gate:
        async with Gate.open(memory, run=RUN, policy=start_another) as first:
            await first.check(CALL, timeout=0.1)

        assert isinstance(await tasks[0], str)
