"""All questions of a run, or of its session, withdrawn at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from support.keyed import ALICE, DEPLOY

from sayso import CheckResult, Clarify, Gate, Outcome, RunRef, ToolCall
from sayso.events import PermissionRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import until

RUN = RunRef("deploy-bot", "s-42", run_id="one")
OTHER = replace(RUN, run_id="two", branch_id="experiment")
STRANGER = RunRef("deploy-bot", "s-43", run_id="one")


async def open_runs(backend: Backend) -> set[RunRef]:
    return {record.request.run for record in await backend.store.list_requests()}


async def asking(backend: Backend, *runs: RunRef) -> None:
    for run in runs:
        async with Gate.open(backend, run=run) as gate:
            await gate.submit(DEPLOY)
            await gate.submit(Clarify("Which?"))


async def test_cancel_all_withdraws_every_open_question_of_the_run_and_no_other(
    backend: Backend,
) -> None:
    await asking(backend, RUN, OTHER, STRANGER)
    async with Gate.open(backend, run=RUN) as gate:
        endings = await gate.cancel_all(reason="the run was stopped")

        assert [one.outcome for one in endings] == [Outcome.CANCELLED] * 2
        assert {one.reason for one in endings} == {"the run was stopped"}
        assert await open_runs(backend) == {OTHER, STRANGER}
        assert await gate.cancel_all() == []


async def test_cancel_all_withdraws_another_run_of_the_session_or_the_whole_session(
    backend: Backend,
) -> None:
    third = replace(RUN, run_id="three")
    await asking(backend, RUN, OTHER, third, STRANGER)
    async with Gate.open(backend, run=RUN) as gate:
        await gate.cancel_all(OTHER)
        assert await open_runs(backend) == {RUN, third, STRANGER}

        await gate.cancel_all(whole_session=True)
        assert await open_runs(backend) == {STRANGER}
        with pytest.raises(ValueError, match="another session"):
            await gate.cancel_all(STRANGER)
    assert await open_runs(backend) == {STRANGER}


async def test_an_answer_that_came_first_is_among_the_endings(backend: Backend) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        said = await gate.submit(DEPLOY)
        record = await backend.store.get(str(said))
        assert record is not None
        assert isinstance(record.request, PermissionRequestEvent)
        answer = record.request.approve(by=ALICE)

        cancelled, settled = await asyncio.gather(
            gate.cancel_all(), backend.store.settle(str(said), answer)
        )

        if cancelled:
            assert cancelled == [settled.ending]
        assert (await gate.resume(str(said))).permission_id == said


async def test_what_is_opened_while_all_is_withdrawn_is_withdrawn_or_still_waited_for(
    backend: Backend,
) -> None:
    async with Gate.open(backend, run=RUN) as gate:
        calls = [ToolCall("deploy", {"number": number}) for number in range(60)]
        checks = [asyncio.create_task(gate.check(call)) for call in calls[:30]]
        await until(backend.store.list_requests)
        late = [asyncio.create_task(gate.check(call)) for call in calls[30:]]
        withdrawn = await gate.cancel_all()

        async def all_asked() -> bool:
            waiting = [check for check in (*checks, *late) if not check.done()]
            return len(await backend.store.list_requests()) == len(waiting)

        await until(all_asked)
        done = [check for check in (*checks, *late) if check.done()]
        assert len(done) == len(withdrawn)
        await gate.cancel_all()
        verdicts: list[CheckResult] = await asyncio.gather(*checks, *late)

    assert {verdict.outcome for verdict in verdicts} == {Outcome.CANCELLED}
    assert await backend.store.list_requests() == []
