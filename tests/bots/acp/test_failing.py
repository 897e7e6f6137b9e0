"""Whatever fails on the way, a call of an editor's agent is not allowed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.acp_room import Room, a_call, a_room, permission, selected
from support.away import going_away
from support.fail_closed import spoil

from sayso.policy.server_policy import ServerPolicy
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store


class Broken(ServerPolicy):
    """A policy with a mistake in it."""

    def section(self, agent_id: str, tool: str) -> Any:
        raise KeyError("a mistake of ours")


@pytest_asyncio.fixture
async def room(backend: Backend, tmp_path: Path) -> AsyncIterator[Room]:
    room = a_room(backend, tmp_path)
    yield room
    await room.proxy.close()


@pytest.mark.parametrize("kind", ["read", "delete", "edit"])
async def test_nothing_is_allowed_where_our_own_code_raises(room: Room, kind: str) -> None:
    room.proxy._service.settings.policies.__class__ = Broken
    await room.agent_says(permission(toolCall=a_call(kind=kind)))

    assert await room.agent_reads() == selected("no")
    assert room.editor == []


async def test_nothing_is_allowed_when_the_store_goes_away_while_people_are_asked(
    backend: Backend, tmp_path: Path
) -> None:
    away, going = going_away(backend, "store", "rules")
    room = a_room(away, tmp_path, patience=0.1)
    await room.agent_says(permission())
    await room.editor_is_asked()
    await room.question()
    going.away = True
    await room.editor_says(selected("yes"))

    assert await room.agent_reads() == selected("no")
    await room.proxy.close()


async def test_nothing_is_allowed_on_a_record_that_cannot_be_read(
    store_url: str, tmp_path: Path
) -> None:
    async with open_store(store_url) as backend:
        room = a_room(backend, tmp_path, seconds=1.0)
        await room.agent_says(permission())
        await room.editor_is_asked()
        request = await room.question()
        await spoil(store_url, request.question_id)
        await room.editor_says(selected("yes"))

        assert await room.agent_reads() == selected("no")
        await room.proxy.close()
