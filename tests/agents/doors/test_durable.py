"""Durable engines: a step that begins again after a crash has its question, and its answer."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from support.agent_pages import programs
from support.people import People, allow, silent
from support.ports import free_port

from sayso.clock import utc_now
from sayso.events import Resolution, UserInputRequest
from sayso.questions.permission import PermissionRequestEvent
from sayso.stores.connect import open_store

DBOS_PROGRAM, TEMPORAL_PROGRAM = programs("durable")

_DBOS = f"""
import sys
{DBOS_PROGRAM}

@DBOS.step()
def transfer(invoice, cents):
    with open("paid", "a") as paid:
        paid.write(f"{{invoice}} {{cents}}\\n")
    return "paid"


from dbos import SetWorkflowID

DBOS(config={{"name": "billing", "system_database_url": "sqlite:///billing.sqlite"}})
DBOS.launch()
with SetWorkflowID("invoice-7"):
    print(DBOS.start_workflow(pay, "7", 4850).get_result(), flush=True)
DBOS.destroy()
"""
_TEMPORAL = f"""
{TEMPORAL_PROGRAM}

import dataclasses
from temporalio.testing import ActivityEnvironment

environment = ActivityEnvironment()
environment.info = dataclasses.replace(
    environment.info, workflow_run_id="run-7", activity_id="1"
)


async def main():
    call = ("transfer", {{"invoice": "7", "cents": 4850}})
    verdict = await environment.run(decided, *call)
    if verdict["approved"]:
        with open("paid", "a") as paid:
            paid.write("{{invoice}} {{cents}}\\n".format(**verdict["arguments"]))
    print("paid" if verdict["approved"] else verdict["told"], flush=True)


asyncio.run(main())
"""
ENGINES = {"DBOS": _DBOS, "Temporal": _TEMPORAL}


def deny(request: UserInputRequest) -> Resolution:
    assert isinstance(request, PermissionRequestEvent)
    return request.deny(by="slack:U0ALICE", at=utc_now(), reason="Paid already")


async def started(program: str, store_url: str, folder: Path) -> asyncio.subprocess.Process:
    (folder / "program.py").write_text(program)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "program.py"),
        cwd=folder,
        env={**os.environ, "SAYSO_STORE_URL": store_url},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process) -> str:
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()[-3000:]
    return out.decode().strip().splitlines()[-1]


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_was_approved_while_the_process_was_dead_runs_once_it_lives_again(
    store_url: str, tmp_path: Path, engine: str
) -> None:
    program = ENGINES[engine]
    with People(store_url, silent) as people:
        process = await started(program, store_url, tmp_path)
        request = await asyncio.to_thread(people.asked.get, timeout=60)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        assert not (tmp_path / "paid").exists()
        async with open_store(store_url) as backend:
            await backend.store.settle(request.question_id, allow(request))
        said = await ended(await started(program, store_url, tmp_path))

    assert said == "paid"
    assert (tmp_path / "paid").read_text() == "7 4850\n"
    assert people.asked.empty()


@pytest.mark.parametrize("engine", ENGINES)
async def test_a_denial_runs_nothing_and_its_reason_is_told(
    store_url: str, tmp_path: Path, engine: str
) -> None:
    with People(store_url, deny):
        said = await ended(await started(ENGINES[engine], store_url, tmp_path))

    assert "Paid already" in said
    assert not (tmp_path / "paid").exists()


@pytest.mark.parametrize("engine", ENGINES)
async def test_nothing_runs_while_the_store_is_away(tmp_path: Path, engine: str) -> None:
    program = ENGINES[engine].replace("connect(", "connect(patience=0.2, ")
    assert program != ENGINES[engine]
    process = await started(program, f"redis://127.0.0.1:{free_port()}", tmp_path)
    assert process.stderr is not None
    try:
        async with asyncio.timeout(50):
            while b"no Redis answers" not in (line := await process.stderr.readline()):
                assert line, "it has ended without a word of it"
    finally:
        process.kill()
    out, _ = await process.communicate()

    assert b"paid" not in out
    assert not (tmp_path / "paid").exists()


async def test_a_worker_that_is_told_to_stop_withdraws_nothing(
    store_url: str, tmp_path: Path
) -> None:
    with People(store_url, silent) as people:
        process = await started(ENGINES["Temporal"], store_url, tmp_path)
        request = await asyncio.to_thread(people.asked.get, timeout=60)
        process.send_signal(signal.SIGINT)
        try:
            await asyncio.wait_for(process.communicate(), 30)
        finally:
            if process.returncode is None:
                process.kill()
        async with open_store(store_url) as backend:
            record = await backend.store.get(request.question_id)

    assert record is not None
    assert record.ending is None
    assert not (tmp_path / "paid").exists()
