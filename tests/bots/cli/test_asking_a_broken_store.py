"""`sayso ask` ends in time and says why, whatever is wrong with the store."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from redis.asyncio import Redis
from support.commands import process
from support.valkey_server import Valkey

# Starting Python and what a busy machine adds.
_SLACK = 6.0


@pytest.fixture
def server() -> Iterator[Valkey]:
    valkey = Valkey()
    valkey.start()
    yield valkey
    valkey.close()


async def test_a_lost_question_ends_with_exit_code_4(server: Valkey) -> None:
    env = {"SAYSO_STORE_URL": server.url}
    async with process("ask", "deploy", "--timeout", "10m", env=env) as asking:
        await asking.line_with("asked as")
        server.kill()
        server.start()

        done = await asking.ended()

    assert (done.code, done.out) == (4, "")
    assert "sayso: the store lost this request (" in done.err


async def test_a_full_store_is_told_with_exit_code_4(server: Valkey) -> None:
    async with Redis.from_url(server.url) as admin:
        await admin.config_set("maxmemory", "1")
    env = {"SAYSO_STORE_URL": server.url}
    async with process("ask", "deploy", "--patience", "300ms", env=env) as asking:
        done = await asking.ended()

    assert (done.code, done.out) == (4, "")
    assert "is out of memory: raise maxmemory; nobody was asked (tried for 0.3 s)" in done.err


async def test_a_store_that_hangs_does_not_stretch_the_timeout(server: Valkey) -> None:
    server.stop_answering()
    began = time.monotonic()
    async with process(
        "ask", "x", "--timeout", "3s", env={"SAYSO_STORE_URL": server.url}
    ) as asking:
        done = await asking.ended()
    server.answer_again()

    assert done.code == 4
    assert "did not answer" in done.err
    assert "nobody was asked" in done.err
    assert time.monotonic() - began < 3 + _SLACK


async def test_patience_is_a_setting_of_its_own(server: Valkey) -> None:
    server.kill()
    env = {"SAYSO_STORE_URL": server.url}
    async with (
        process("ask", "x", "--patience", "200ms", env=env) as hasty,
        process("ask", "x", "--patience", "60s", "--timeout", "60s", env=env) as patient,
    ):
        done = await hasty.ended()
        server.start()
        await patient.line_with("asked as")

    assert done.code == 4
    assert "(tried for 0.2 s)" in done.err


@pytest.mark.parametrize("patience", ["soon", "0s"])
async def test_a_patience_that_makes_no_sense_is_wrong_usage(patience: str) -> None:
    env = {"SAYSO_STORE_URL": "redis://127.0.0.1:1"}
    async with process("ask", "x", "--patience", patience, env=env) as asking:
        done = await asking.ended()

    assert done.code == 2
    assert "--patience" in done.err
