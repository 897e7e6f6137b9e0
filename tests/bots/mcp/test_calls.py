"""Calls of tools through a proxy: forwarded as they came once approved, else told why not."""

from __future__ import annotations

import asyncio
import json

import pytest
from support.mcp_room import McpRoom, call, is_error, modern, raw, request, text

from sayso.digests import arguments_digest
from sayso.stores.backend import Backend
from sayso_bots.mcp.approvals import Client, Ticket


@pytest.fixture
def room(backend: Backend) -> McpRoom:
    return McpRoom(backend)


# Everything that another writer would write otherwise.
ODD = (
    b'{ "params" :{"arguments": {"b":1.50, "a":"\\u00e9\\/\xc3\xa9","n":1E2 ,"deep":[ {} , null]},'
    b'\t"name":"write"}, "method":"tools/call","id" : 7,"jsonrpc":"2.0"}'
)


async def test_approved_arguments_reach_the_server_byte_by_byte(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(ODD))
    await room.decided()
    said = await task

    assert room.inner.ran == [ODD]
    assert said["id"] == 7
    assert text(said) == "it ran"


async def test_a_person_is_shown_what_the_server_reads(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(ODD))
    shown = await room.card()
    await room.decided()
    await task

    (read,) = room.inner.arguments
    assert shown.arguments == read
    assert shown.arguments_digest == arguments_digest(read)
    assert (shown.function_name, shown.run.agent_id) == ("write", "files")
    assert "tests calls a tool of the MCP server files" in shown.description


@pytest.mark.parametrize("meta", [None, modern()], ids=["2025-11-25", "2026-07-28"])
async def test_a_denial_is_a_result_with_its_reason_and_never_an_error_of_the_protocol(
    room: McpRoom, meta: dict[str, object] | None
) -> None:
    task = asyncio.create_task(room.ask(call(meta=meta)))
    await room.decided(approved=False, reason="Not on a Friday")
    said = await task

    assert is_error(said)
    assert "was denied by a person: Not on a Friday" in text(said)
    assert said["result"].get("resultType") == (None if meta is None else "complete")
    assert room.inner.ran == []


async def test_edited_arguments_are_forwarded_and_the_model_is_told(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(ODD))
    edited = {"b": 2, "a": "é"}
    await room.decided(edited=edited)
    said = await task

    assert room.inner.arguments == [edited]
    assert text(said).splitlines()[0] == "it ran"
    assert 'these ran: {"b": 2, "a": "é"}' in text(said)


async def test_an_edit_that_a_server_would_read_otherwise_does_not_run(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call()))
    edited = {"number": 2**60 + 1}
    await room.decided(edited=edited)
    said = await task

    assert is_error(said)
    assert room.inner.ran == []


async def test_what_the_policy_says_needs_nobody(room: McpRoom) -> None:
    allowed, denied = await room.ask(call("look")), await room.ask(call("explode", 2))

    assert text(allowed) == "it ran"
    assert is_error(denied)
    assert "deny rule 1" in text(denied)
    assert [json.loads(one)["params"]["name"] for one in room.inner.ran] == ["look"]
    assert await room.open() == 0


async def test_a_question_that_nobody_answers_is_an_error_that_says_so(backend: Backend) -> None:
    room = McpRoom(backend, seconds=0.3)

    said = await room.ask(call())

    assert is_error(said)
    assert "nobody answered in time" in text(said)
    assert room.inner.ran == []


async def test_while_a_call_waits_its_client_hears_of_it(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call(meta={"progressToken": "t-1"})))
    await room.card()
    async with asyncio.timeout(10):
        while len(room.told) < 3:
            await asyncio.sleep(0.01)
    await room.decided()
    await task

    assert {one["method"] for one in room.told} == {"notifications/progress"}
    numbers = [one["params"]["progress"] for one in room.told]
    assert numbers == sorted(set(numbers))
    assert {one["params"]["progressToken"] for one in room.told} == {"t-1"}


async def test_a_client_that_wants_no_progress_hears_none(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call()))
    await room.decided()
    await task

    assert room.told == []


async def test_a_call_that_its_client_withdraws_takes_its_card_back(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call(id_="c-1")))
    asked = await room.card()
    await room.notify("notifications/cancelled", {"requestId": "c-1", "reason": "too slow"})

    assert await task is None
    assert await room.outcome(asked.permission_id) == "cancelled"
    assert room.inner.ran == room.inner.others == []


async def test_a_call_that_is_withdrawn_before_it_is_forwarded_does_not_run(
    room: McpRoom, monkeypatch: pytest.MonkeyPatch
) -> None:
    approvals = room.proxy.guard.approvals
    close = approvals.close

    async def withdrawn_meanwhile(ticket: Ticket) -> None:
        await room.notify("notifications/cancelled", {"requestId": 1})
        await close(ticket)

    monkeypatch.setattr(approvals, "close", withdrawn_meanwhile)

    assert await room.ask(call("look")) is None
    assert room.inner.ran == []


async def test_the_withdrawal_of_another_client_withdraws_nothing(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call()))
    await room.card()
    await room.notify("notifications/cancelled", {"requestId": 1}, Client("another"))
    await room.decided()

    assert text(await task) == "it ran"


async def test_the_withdrawal_of_a_running_call_is_the_servers_business(room: McpRoom) -> None:
    room.inner.may_answer.clear()
    task = asyncio.create_task(room.ask(call()))
    await room.decided()
    async with asyncio.timeout(10):
        while not room.inner.ran:
            await asyncio.sleep(0.01)
    await room.notify("notifications/cancelled", {"requestId": 1})
    room.inner.may_answer.set()
    await task

    assert [json.loads(one)["method"] for one in room.inner.others] == ["notifications/cancelled"]


async def test_the_same_call_made_again_is_asked_again(room: McpRoom) -> None:
    first = asyncio.create_task(room.ask(call()))
    one = await room.decided()
    await first
    second = asyncio.create_task(room.ask(call(id_=2)))
    other = await room.decided(approved=False)
    await second
    third = asyncio.create_task(room.ask(call(id_=3)))
    last = await room.decided()
    await third

    assert len({one, other, last}) == 3
    assert len(room.inner.ran) == 2


async def test_equal_calls_side_by_side_are_two_questions(room: McpRoom) -> None:
    tasks = [asyncio.create_task(room.ask(call(id_=number))) for number in (1, 2)]
    async with asyncio.timeout(10):
        while await room.open() < 2:
            await asyncio.sleep(0.01)
    await room.decided()
    await room.decided(approved=False)
    said = await asyncio.gather(*tasks)

    assert sorted(map(is_error, said)) == [False, True]
    assert len(room.inner.ran) == 1


async def test_all_but_calls_goes_through_as_it_came(room: McpRoom) -> None:
    lists = b'{"id":1 ,"jsonrpc":"2.0","method":"tools/list","params":{"cursor":"\\u00e9"}}'
    room.inner.answers = [{"tools": [{"name": "write"}, {"name": "look"}]}]
    said = await room.ask(lists)
    await room.notify("notifications/initialized", {})

    assert room.inner.others[0] == lists
    assert said["result"] == {"tools": [{"name": "write"}, {"name": "look"}]}
    assert json.loads(room.inner.others[1])["method"] == "notifications/initialized"


async def test_a_server_that_ends_while_a_call_runs_is_told_as_such(room: McpRoom) -> None:
    room.inner.is_gone = True
    task = asyncio.create_task(room.ask(call()))
    permission_id = await room.decided()
    said = await task

    assert is_error(said)
    assert "whether the call ran is not known" in text(said)
    record = await room.backend.store.get(permission_id)
    assert record is not None
    assert record.use is not None
    assert record.use.report is not None
    assert record.use.report.went == "failed"


async def test_the_card_says_how_the_call_went(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call()))
    permission_id = await room.decided()
    await task

    record = await room.backend.store.get(permission_id)
    assert record is not None
    assert record.use is not None
    assert record.use.report is not None
    assert record.use.report.went == "succeeded"


async def test_two_requests_with_one_id_are_one_too_many(room: McpRoom) -> None:
    task = asyncio.create_task(room.ask(call()))
    await room.card()
    said = await room.ask(request("tools/list"))
    await room.decided()
    await task

    assert said["error"]["code"] == -32600
    assert room.inner.others == []
    assert len(room.inner.ran) == 1
    assert room.inner.ran == [raw(call())]
