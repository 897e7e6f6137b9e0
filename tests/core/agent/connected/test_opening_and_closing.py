"""A handle opens at its first use, and what waits when it is closed is told."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable

import pytest
from support.people import People, silent

import sayso
from sayso import ConfigError, Outcome, RulePolicy, RunRef, ToolCall
from sayso.agent.connected.connect import ConnectedGate
from sayso.agent.connected.thread import Lifetime
from sayso.agent.options import GateOptions
from sayso.errors import GateClosedError

CALL = ToolCall("bash", {"command": "ls"})
ALLOWING = RulePolicy(default="allow")


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "sayso"}


def test_nothing_is_opened_before_its_first_use() -> None:
    before = threads()
    handle = sayso.connect("redis://no-such-host.invalid/0")

    assert threads() == before
    handle.close()


def test_the_store_is_the_one_of_the_environment_unless_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SAYSO_STORE_URL", "memory://")
    with sayso.connect(policy=ALLOWING) as handle:
        assert handle.sync.check(CALL).approved


def test_a_store_that_cannot_be_opened_is_an_error_each_time() -> None:
    options = GateOptions(RunRef("agent", "s-1"))
    with ConnectedGate(Lifetime("postgres://host/db", options), options) as handle:
        for _ in range(2):
            with pytest.raises(ConfigError, match="redis://host:port/db or memory://"):
                handle.sync.check(CALL)
            with pytest.raises(ConfigError, match="redis://host:port/db or memory://"):
                asyncio.run(handle.submit(CALL))


def test_a_closed_handle_approves_nothing() -> None:
    handle = sayso.connect("memory://", policy=ALLOWING)
    assert handle.sync.check(CALL).approved
    handle.close()
    handle.close()

    assert handle.sync.check(CALL).outcome is Outcome.CANCELLED
    with pytest.raises(GateClosedError):
        handle.sync.submit(CALL)


async def test_it_is_closed_by_a_block_of_either_kind() -> None:
    before = threads()
    with sayso.connect("memory://", policy=ALLOWING) as one:
        assert (await one.check(CALL)).approved
    async with sayso.connect("memory://", policy=ALLOWING) as other:
        assert (await other.check(CALL)).approved
        (thread,) = threads() - before
    thread.join(20)

    assert (await one.check(CALL)).outcome is Outcome.CANCELLED
    assert (await other.check(CALL)).outcome is Outcome.CANCELLED
    assert not thread.is_alive()


def test_who_waits_when_it_is_closed_is_told_and_the_question_is_withdrawn(
    handle: ConnectedGate, store_url: str
) -> None:
    said: list[object] = []

    def clarify() -> None:
        try:
            handle.sync.clarify("Which?")
        except GateClosedError as error:
            said.append(type(error))

    waiting = [
        threading.Thread(target=lambda: said.append(handle.sync.check(CALL).outcome)),
        threading.Thread(target=clarify),
    ]
    with People(store_url, silent) as people:
        for thread in waiting:
            thread.start()
        for _ in waiting:
            people.asked.get(timeout=20)
        handle.close()
        for thread in waiting:
            thread.join(20)

        endings = {people.ended.get(timeout=20).outcome for _ in waiting}
    assert sorted(map(str, said)) == sorted(map(str, [Outcome.CANCELLED, GateClosedError]))
    assert endings == {Outcome.CANCELLED}


def test_a_handle_that_nobody_holds_any_more_ends_its_thread() -> None:
    before = threads()
    handle: ConnectedGate | None = sayso.connect("memory://", policy=ALLOWING)
    assert handle is not None
    assert handle.sync.check(CALL).approved
    (thread,) = threads() - before
    handle = None
    gc.collect()
    thread.join(20)

    assert not thread.is_alive()


def test_several_handles_of_one_process_know_nothing_of_each_other(store_url: str) -> None:
    with (
        sayso.connect(store_url, agent="one", policy=ALLOWING) as one,
        sayso.connect(store_url, agent="two", policy=RulePolicy(deny=[sayso.Rule("bash")])) as two,
    ):
        assert one.sync.check(CALL).approved
        assert two.sync.check(CALL).outcome is Outcome.DENIED
        two.close()
        assert one.sync.check(CALL).approved


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_a_policy_that_ends_the_process_ends_no_thread_of_ours_and_no_caller(
    error: type[BaseException],
) -> None:
    class Leaving:
        async def decide(self, call: ToolCall, context: object) -> None:
            raise error

    async def refused(handle: ConnectedGate) -> str:
        with pytest.raises(RuntimeError, match="nothing was approved") as raised:
            await handle.check(CALL)
        return str(raised.value)

    with sayso.connect("memory://", policy=Leaving()) as handle:
        assert error.__name__ in asyncio.run(refused(handle))
        with pytest.raises(RuntimeError, match="nothing was approved"):
            handle.sync.check(CALL)


def test_a_policy_that_cancels_itself_approves_nothing_and_cancels_no_caller() -> None:
    class Cancelling:
        async def decide(self, call: ToolCall, context: object) -> None:
            raise asyncio.CancelledError

    with (
        sayso.connect("memory://", policy=Cancelling()) as handle,
        pytest.raises(RuntimeError, match="cancelled from within: nothing was approved"),
    ):
        asyncio.run(handle.check(CALL))


FORKED: dict[str, Callable[[ConnectedGate], object]] = {
    "the thread was idle": lambda handle: handle.sync.before_iteration(),
    "it was not used yet": lambda handle: None,
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("before", FORKED)
def test_a_forked_process_begins_anew_and_the_parent_goes_on(
    before: str, handle: ConnectedGate, store_url: str
) -> None:
    FORKED[before](handle)
    with People(store_url, silent) as people:
        waiting = threading.Thread(target=lambda: handle.sync.resume(permission_id))
        permission_id = str(handle.sync.submit(CALL))
        waiting.start()
        pid = os.fork()
        if pid == 0:  # the child withdraws what the parent waits for
            try:
                ended = handle.sync.cancel(permission_id, reason="by the child")
                os._exit(0 if ended.outcome is Outcome.CANCELLED else 2)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        waiting.join(20)

        assert not waiting.is_alive()
        assert people.ended.get(timeout=20).reason == "by the child"
        assert handle.sync.check(CALL, timeout=0.3).outcome is Outcome.EXPIRED


def test_a_session_of_its_own_is_the_same_all_along_and_that_of_nobody_else() -> None:
    one, other = sayso.connect("memory://"), sayso.connect("memory://")

    assert one.run == one.run
    assert one.run.session_id != other.run.session_id
    assert one.for_session("s-7", run_id="r-1").run == RunRef("agent", "s-7", run_id="r-1")
