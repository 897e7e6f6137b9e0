"""The runs of a handle: each has a gate, which knows its iteration for as long as that matters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import pytest
from support.people import People

import sayso
from sayso import Outcome, RunRef, ToolCall
from sayso.agent.connected.connect import ConnectedGate
from sayso.agent.connected.gates import MOST_IDLE, Asker, Gates
from sayso.agent.options import GateOptions
from sayso.calls import new_id
from sayso.stores.backend import Backend
from sayso.stores.memory import memory_backend

CALL = ToolCall("bash", {"command": "ls"}, "call-1")
RUN = RunRef("deploy-bot", "s-1")


@pytest.fixture
async def backend() -> AsyncIterator[Backend]:
    async with memory_backend() as backend:
        yield backend


@pytest.fixture
def gates(backend: Backend) -> Gates:
    return Gates(backend, GateOptions(RUN, timeout=0.3))


@pytest.fixture
def people(store_url: str) -> Iterator[People]:
    with People(store_url) as people:
        yield people


def asked(people: People) -> int:
    return people.asked.qsize()


def test_a_batchs_answer_counts_for_its_iteration_and_its_run_alone(
    handle: ConnectedGate, people: People
) -> None:
    handle.sync.check_batch([CALL])
    assert handle.sync.check(CALL).approved
    assert asked(people) == 1

    handle.for_session("s-2").sync.check(CALL)
    assert asked(people) == 2

    handle.sync.before_iteration()
    handle.sync.check(CALL)
    assert asked(people) == 3


def test_a_call_id_that_is_denied_stays_denied_in_its_run(
    handle: ConnectedGate, people: People
) -> None:
    handle.deny_call("call-1", reason="stop")

    denied = handle.sync.check(CALL)
    assert (denied.outcome, denied.reason) == (Outcome.DENIED, "stop")
    assert handle.for_session("s-2").sync.check(CALL).approved


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (None, RUN),
        ("s-2", RunRef("deploy-bot", "s-2")),
        (RunRef("other", "s-3", "b", "r"), RunRef("other", "s-3", "b", "r")),
    ],
)
def test_a_call_is_asked_about_for_the_run_that_it_names(
    run: RunRef | str | None, expected: RunRef, handle: ConnectedGate, people: People
) -> None:
    handle.for_session(run).sync.check(CALL)

    assert people.asked.get_nowait().run == expected


def test_calls_of_one_session_are_of_one_run_without_anybody_naming_it(
    handle: ConnectedGate, people: People, store_url: str
) -> None:
    with sayso.connect(store_url, agent="deploy-bot", session="s-1") as elsewhere:
        handle.sync.check(CALL)
        asyncio.run(handle.for_session("s-1").check(ToolCall("bash", {"command": "pwd"})))
        handle.for_session(RunRef("deploy-bot", "s-1")).sync.check(ToolCall("bash"))
        elsewhere.sync.check(ToolCall("bash", {"command": "id"}))
        handle.for_session(run_id="another").sync.check(CALL)

    *together, apart = (people.asked.get_nowait().bundle for _ in range(5))
    assert len(set(together)) == 1
    assert apart not in together


async def test_the_gates_that_were_used_last_are_kept(gates: Gates) -> None:
    runs = [replace(RUN, session_id=str(number)) for number in range(MOST_IDLE + 1)]
    kept = {}
    for run in runs:
        with gates.used(Asker(run)) as gate:
            kept[run] = gate

    with gates.used(Asker(runs[1])) as gate:
        assert gate is kept[runs[1]]
    with gates.used(Asker(runs[0])) as gate:
        assert gate is not kept[runs[0]]


async def test_a_gate_in_use_is_kept_beyond_that_and_so_is_a_denial(gates: Gates) -> None:
    denying = Asker(replace(RUN, session_id="denying"))
    with gates.used(Asker(RUN)) as in_use:
        with gates.used(denying) as gate:
            gate.deny_call("call-1", reason="stop")
        for number in range(MOST_IDLE + 1):
            with gates.used(Asker(replace(RUN, session_id=f"{number}-{new_id()}"))):
                pass
        with gates.used(Asker(RUN)) as gate:
            assert gate is in_use

    with gates.used(denying) as gate:
        assert (await gate.check(CALL)).reason == "stop"
    await gates.finish()
