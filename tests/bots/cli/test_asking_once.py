"""``sayso ask --key``: a script that runs again has the question it asked, or its verdict."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
from support.commands import process
from support.keyed import approve, question

from sayso.stores.backend import Backend
from sayso.stores.connect import open_store

ASK = ("ask", "deploy", "--arg", "service=api", "--session", "s", "--key", "release-7", "--json")


@pytest.fixture
async def backend(store_url: str) -> AsyncIterator[Backend]:
    async with open_store(store_url) as opened:
        yield opened


async def test_asking_again_with_a_key_has_the_open_question_and_then_the_verdict(
    backend: Backend, store_url: str
) -> None:
    env = {"SAYSO_STORE_URL": store_url}
    async with process(*ASK, env=env) as first:
        asked = await question(backend)
        async with process(*ASK, env=env) as second:
            await approve(backend)
            done = [await first.ended(), await second.ended()]
    async with process(*ASK, env=env) as later:
        done.append(await later.ended())

    assert [one.code for one in done] == [0, 0, 0]
    assert {json.loads(one.out)["requestId"] for one in done} == {asked.permission_id}
    assert await backend.store.list_requests() == []


async def test_another_call_under_the_key_is_a_mistake_in_usage(
    backend: Backend, store_url: str
) -> None:
    env = {"SAYSO_STORE_URL": store_url}
    async with process(*ASK, env=env) as first:
        await question(backend)
        async with process(*ASK, "--arg", "force=yes", env=env) as other:
            done = await other.ended()
        assert (done.code, done.out) == (2, "")
        assert "'release-7' was used before in this session" in done.err
        async with process("ask", "deploy", "--key", "x" * 1_025, env=env) as endless:
            assert (await endless.ended()).code == 2
        await approve(backend)
        assert (await first.ended()).code == 0
