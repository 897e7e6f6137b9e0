"""What is no request for a permission passes as it came, and what nobody can read does not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.acp_room import a_room, permission

from sayso.calls import new_id
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_METHODS = st.sampled_from(
    ("session/prompt", "session/update", "fs/write_text_file", "terminal/create", "_x/y", "$/z")
)
_MESSAGES = st.one_of(
    st.fixed_dictionaries({"method": _METHODS, "params": _JSON}, optional={"id": st.integers()}),
    st.fixed_dictionaries({"id": st.integers() | st.text(), "result": _JSON}),
    st.fixed_dictionaries({"id": st.integers(), "error": _JSON}),
)
# An id that is under way is refused: no two messages of a run have the same one.
_TOLD = st.lists(
    st.tuples(st.booleans(), _MESSAGES, st.sampled_from((None, 1))),
    max_size=6,
    unique_by=lambda told: str(told[1].get("id", new_id())),
)


@given(_TOLD)
def test_every_other_message_passes_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[bool, dict[str, Any], int | None]]
) -> None:
    async def passed() -> None:
        async with open_store("memory://") as backend:
            room = a_room(backend, tmp_path_factory.getbasetemp())
            for by_agent, message, indent in said:
                written = json.dumps({"jsonrpc": "2.0", **message}, indent=indent).replace("\n", "")
                take = room.proxy.from_agent if by_agent else room.proxy.from_editor
                if not by_agent and "method" not in message:  # it was asked before
                    asked = {"jsonrpc": "2.0", "id": message["id"], "method": "fs/read_text_file"}
                    await room.agent_says(asked)
                read = room.editor if by_agent else room.agent
                await take(written.encode() + b"\n")
                assert read[-1] == written.encode()

    asyncio.run(passed())


_UNREADABLE = {
    "no JSON": b"hello",
    "a batch": b"[]",
    "a name twice": b'{"jsonrpc":"2.0","id":1,"method":"a","method":"session/request_permission"}',
    "no method and no id": b'{"jsonrpc":"2.0","result":1}',
    "a method that is none": b'{"jsonrpc":"2.0","id":1,"method":7}',
    "an id that is none": b'{"jsonrpc":"2.0","id":[1],"result":{}}',
    "very deep": b"[" * 100_000,
    "nothing": b"  ",
}


@pytest.mark.parametrize("what", _UNREADABLE)
async def test_what_nobody_can_read_goes_no_further_and_the_next_message_passes(
    backend: Backend, tmp_path: Path, what: str
) -> None:
    room = a_room(backend, tmp_path)
    for take in (room.proxy.from_agent, room.proxy.from_editor):
        await take(_UNREADABLE[what])
        await take(b'{"jsonrpc":"2.0","method":"next"}')

    assert room.agent == room.editor == [b'{"jsonrpc":"2.0","method":"next"}']


async def test_a_request_without_an_id_is_no_question(backend: Backend, tmp_path: Path) -> None:
    room = a_room(backend, tmp_path)
    said = permission()
    del said["id"]
    await room.agent_says(said)

    assert await backend.store.list_requests() == []
    assert len(room.editor) == 1
