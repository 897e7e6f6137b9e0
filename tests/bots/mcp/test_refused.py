"""No call runs because something failed, or because two programs read a message differently."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.fail_closed import spoil
from support.mcp_room import McpRoom, call, is_error, modern, raw, text
from support.ports import free_port

from sayso.policy.server_policy import ServerPolicy
from sayso.stores.backend import Backend
from sayso.stores.connect import open_store
from sayso.stores.memory import memory_backend
from sayso_bots.mcp.messages import read
from sayso_bots.strict_json import MalformedMessageError

DEEP = "[" * 70 + "]" * 70


def around(arguments: str, name: str = '"write"') -> bytes:
    """A call with arguments as they are written here."""
    params = f'{{"name":{name},"arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}'.encode()


AMBIGUOUS = {
    "a batch": b"[" + raw(call()) + b"]",
    "a name twice": around('{"a":1,"a":2}'),
    "the method twice": b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}',
    "the method in capitals besides": raw({**call("look"), "Method": "tools/call"}),
    "a method that is nearly a call": raw({**call(), "method": "Tools/Call"}),
    "a method with blanks": raw({**call(), "method": " tools/call"}),
    "no id": raw({name: value for name, value in call().items() if name != "id"}),
    "an id that is null": raw({**call(), "id": None}),
    "an id with a fraction": raw({**call(), "id": 1.5}),
    "params in a list": raw({**call(), "params": ["write"]}),
    "a request and a response at once": raw({**call(), "result": {}}),
    "not Unicode": around('{"a":"\xff"}').replace("ÿ".encode(), b"\xff"),
    "half a character": around(r'{"a":"\ud800"}'),
    "no number": around('{"a":NaN}'),
    "nested deeply": around(f'{{"a":{DEEP}}}'),
    "not JSON-RPC": b'{"id":1,"method":"tools/call","params":{"name":"write"}}',
    "no JSON": b"tools/call write",
    "something behind": raw(call()) + b" " + raw(call()),
}


@pytest.mark.parametrize("line", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_message_that_could_be_read_in_two_ways_goes_no_further(line: bytes) -> None:
    with pytest.raises(MalformedMessageError):
        read(line)


UNCLEAR = {
    "another tool besides": raw(call(Name="explode")),
    "other arguments besides": raw(call(Arguments={"path": "/etc"})),
    "a letter that folds": raw(
        {**call(), "params": {**call()["params"], "argument\u017f": {"path": "/etc"}}}
    ),
    "blanks around the tool": raw({**call(), "params": {"name": " delete ", "arguments": {}}}),
    "no tool": raw({**call(), "params": {"arguments": {}}}),
    "a tool that is a number": around("{}", "7"),
    "arguments in a list": around('["/srv"]'),
    "an integer that some programs round": around('{"n":9007199254740993}'),
    "a number that some programs round": around('{"n":0.1000000000000000055511151231257827}'),
    "a number beyond all": around('{"n":1e999}'),
}


@pytest.mark.parametrize("line", UNCLEAR.values(), ids=UNCLEAR)
async def test_a_call_that_is_not_clear_is_an_error_to_the_model_and_asks_nobody(
    line: bytes,
) -> None:
    async with memory_backend() as backend:
        room = McpRoom(backend)
        said = await room.ask(line)

        assert is_error(said)
        assert "it did not run" in text(said)
        assert room.inner.ran == room.inner.others == []
        assert await room.open() == 0


KINDS = pytest.mark.parametrize("meta", [None, modern()], ids=["older", "2026-07-28"])


@KINDS
async def test_nothing_runs_where_the_store_is_away(meta: dict[str, Any] | None) -> None:
    async with open_store(f"redis://127.0.0.1:{free_port()}") as backend:
        room = McpRoom(backend, patience=0.2)
        said = await room.ask(call("look", meta=meta))

        assert is_error(said)
        assert "Redis" in text(said)
        assert room.inner.ran == []


class Broken(ServerPolicy):
    """A policy with a mistake in it."""

    def section(self, agent_id: str, tool: str) -> Any:
        raise KeyError("a mistake of ours")


@KINDS
async def test_nothing_runs_where_our_own_code_raises(meta: dict[str, Any] | None) -> None:
    async with memory_backend() as backend:
        room = McpRoom(backend)
        room.proxy.guard.approvals.service.settings.policies.__class__ = Broken
        said = await room.ask(call("look", meta=meta))

        assert is_error(said)
        assert "an error inside Sayso (KeyError)" in text(said)
        assert room.inner.ran == []


async def test_nothing_runs_on_a_record_that_cannot_be_read(store_url: str) -> None:
    async with open_store(store_url) as backend:
        room = McpRoom(backend, seconds=1.0)
        task = asyncio.create_task(room.ask(call()))
        asked = await room.card()
        await spoil(store_url, asked.permission_id)
        said = await task

        assert is_error(said)
        assert room.inner.ran == []


async def test_what_is_denied_by_now_does_not_run_though_it_was_approved(backend: Backend) -> None:
    room = McpRoom(backend)
    killed = asyncio.create_task(room.ask(call()))
    await room.card()
    killed.cancel()
    await asyncio.wait({killed})
    await room.decided()
    later = McpRoom(backend, sections=(_denies("write"),))
    told = await later.ask(call(id_=2))

    assert is_error(told)
    assert "deny rule 1" in text(told)
    assert room.inner.ran == later.inner.ran == []


def _denies(tool: str) -> Any:
    from sayso.policy.policy_file import PlacedRule
    from sayso.policy.server_policy import Section
    from sayso.rules.rule import PatternRule

    return Section(deny=(PlacedRule(PatternRule(tool), ""),))


async def test_an_answer_of_the_server_is_handed_on_as_it_came() -> None:
    async with memory_backend() as backend:
        room = McpRoom(backend)
        room.inner.answers = [{"content": [], "isError": True, "other": [1.50]}]
        said = await room.ask(call("look"))

        assert json.dumps(said["result"]) == '{"content": [], "isError": true, "other": [1.5]}'
