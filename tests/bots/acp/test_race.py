"""Editor and chat are asked at once, and the first answer counts."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.acp_room import ALICE, OPTIONS, Room, a_call, a_room, cancelled, permission, selected
from support.away import going_away

from sayso.calls import Project
from sayso.questions.permission import PermissionRequestEvent
from sayso.questions.text_approval import TextApprovalRequestEvent
from sayso.stores.backend import Backend
from sayso.testing import until


@pytest_asyncio.fixture
async def room(backend: Backend, tmp_path: Path) -> AsyncIterator[Room]:
    room = a_room(backend, tmp_path)
    yield room
    await room.proxy.close()


async def test_an_answer_in_chat_is_the_agents_answer_and_the_editors_dialog_is_taken_back(
    room: Room,
) -> None:
    await room.agent_says(permission())
    assert await room.editor_is_asked() == permission()
    request = await room.allow()

    assert await room.agent_reads() == selected("yes")
    await until(lambda: _async(len(room.editor) > 1))
    told = json.loads(room.editor[-1])
    assert (told["method"], told["params"]) == ("$/cancel_request", {"requestId": 1})
    await room.editor_says(selected("no"))
    assert len(room.agent) == 1
    assert (await room.ending(request.question_id))[:2] == ("approved", ALICE)


async def test_a_denial_in_chat_rejects(room: Room) -> None:
    await room.agent_says(permission())
    await room.deny()

    assert await room.agent_reads() == selected("no")


@pytest.mark.parametrize(
    ("option", "outcome"), [("yes", "approved"), ("always", "approved"), ("no", "denied")]
)
async def test_an_answer_in_the_editor_is_handed_on_as_it_came_and_ends_the_card(
    room: Room, option: str, outcome: str
) -> None:
    await room.agent_says(permission())
    await room.editor_is_asked()
    request = await room.question()
    await room.editor_says(selected(option))

    assert await room.agent_reads() == selected(option)
    assert (await room.ending(request.question_id))[:2] == (outcome, "acp:editor")
    assert len(room.editor) == 1


_UNCLEAR: dict[str, Any] = {
    "cancelled": {"outcome": {"outcome": "cancelled"}},
    "an unknown option": {"outcome": {"outcome": "selected", "optionId": "maybe"}},
    "an unknown outcome": {"outcome": {"outcome": "approved", "optionId": "yes"}},
    "no outcome": {"optionId": "yes"},
    "no object": "yes",
    "an option that is a list": {"outcome": {"outcome": "selected", "optionId": ["yes"]}},
}


@pytest.mark.parametrize("unclear", _UNCLEAR)
async def test_what_is_not_clearly_a_yes_of_the_editor_approves_nothing(
    room: Room, unclear: str
) -> None:
    await room.agent_says(permission())
    await room.editor_is_asked()
    request = await room.question()
    await room.editor_says({"jsonrpc": "2.0", "id": 1, "result": _UNCLEAR[unclear]})

    await room.agent_reads()
    assert (await room.ending(request.question_id))[0] == "cancelled"


async def test_an_error_of_the_editor_approves_nothing(room: Room) -> None:
    await room.agent_says(permission())
    await room.editor_is_asked()
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "no"}}
    await room.editor_says(error)

    assert await room.agent_reads() == error


async def test_the_agent_reads_what_the_store_says_whoever_was_faster(
    room: Room,
) -> None:
    for number in range(30):
        room.agent.clear()
        room.editor.clear()
        await room.agent_says(permission(number, toolCall=a_call(f"call-{number}")))
        await room.editor_is_asked()
        request = await room.question()
        first = (room.deny(request), room.editor_says(selected("yes", number)))
        await asyncio.gather(*(first if number % 2 else reversed(first)))
        said = await room.agent_reads()
        outcome, _, _ = await room.ending(request.question_id)

        assert said == selected("yes" if outcome == "approved" else "no", number)


async def test_a_policy_answers_without_anybody(room: Room) -> None:
    await room.agent_says(permission(1, toolCall=a_call(kind="read")))
    assert await room.agent_reads() == selected("yes")
    await room.agent_says(permission(2, toolCall=a_call(kind="delete")))
    await until(lambda: _async(len(room.agent) == 2))

    assert json.loads(room.agent[-1]) == selected("no", 2)
    assert room.editor == []


async def test_an_always_in_chat_answers_the_next_call_and_the_agent_is_allowed_once(
    room: Room,
) -> None:
    await room.agent_says(permission())
    request = await room.question()
    assert isinstance(request, PermissionRequestEvent)
    choice = next(one for one in request.card().choices if one.key == "always")
    now = request.expires_at
    rule = request.to_remember(choice, by=ALICE, at=now, until=now.replace(year=now.year + 1))
    answer = request.answer(choice, by=ALICE, at=now, inputs={}).keeping(rule)
    await room.backend.store.settle(request.question_id, answer, remember=rule)
    assert await room.agent_reads() == selected("yes")
    room.editor.clear()
    await room.agent_says(permission(2, toolCall=a_call("call-2")))
    await until(lambda: _async(len(room.agent) == 2))

    assert json.loads(room.agent[-1]) == selected("yes", 2)
    assert await room.backend.store.list_requests() == []


async def test_arguments_that_were_changed_in_chat_cannot_be_carried_and_are_a_no(
    room: Room,
) -> None:
    await room.agent_says(permission())
    await room.allow(modified_arguments={"command": "ls -l"})

    assert await room.agent_reads() == selected("no")


async def test_nobody_answers_in_time(backend: Backend, tmp_path: Path) -> None:
    room = a_room(backend, tmp_path, seconds=0.05)
    await room.agent_says(permission())

    assert await room.agent_reads() == selected("no")
    await room.proxy.close()


async def test_without_an_option_to_reject_a_no_is_cancelled(room: Room) -> None:
    options = [one for one in OPTIONS if one["optionId"] != "no"]
    await room.agent_says(permission(toolCall=a_call(kind="delete"), options=options))

    assert await room.agent_reads() == cancelled()


async def test_a_cancelled_turn_withdraws_its_question(room: Room) -> None:
    await room.agent_says(permission())
    await room.editor_is_asked()
    request = await room.question()
    for session in ("other", "s-1"):
        params = {"sessionId": session}
        await room.editor_says({"jsonrpc": "2.0", "method": "session/cancel", "params": params})

    assert (await room.ending(request.question_id))[0] == "cancelled"
    assert await room.agent_reads() == cancelled()
    read = len(room.agent)
    await room.editor_says(cancelled())
    assert len(room.agent) == read == 3


async def test_an_agent_that_takes_its_request_back_withdraws_the_question(room: Room) -> None:
    await room.agent_says(permission("r-7"))
    request = await room.question()
    taken = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "r-7"}}
    await room.agent_says(taken)

    assert (await room.ending(request.question_id))[0] == "cancelled"
    assert await room.agent_reads() == cancelled("r-7")


async def test_a_call_that_is_told_otherwise_meanwhile_is_approved_by_nobody(room: Room) -> None:
    await room.agent_says(permission())
    request = await room.question()
    same = {"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "pending"}
    other = {**same, "rawInput": {"command": "rm -rf ."}}
    for update in (same, {**same, "toolCallId": "call-2", "rawInput": {}}, other):
        assert (await room.backend.store.list_requests())[0].request == request
        params = {"sessionId": "s-1", "update": update}
        await room.agent_says({"jsonrpc": "2.0", "method": "session/update", "params": params})

    outcome, _, reason = await room.ending(request.question_id)
    assert (outcome, reason) == ("cancelled", "the agent changed the call while it was asked about")
    assert await room.agent_reads() == cancelled()


async def test_a_call_that_is_told_otherwise_before_the_policy_answers_is_not_allowed(
    room: Room,
) -> None:
    await room.agent_says(permission(toolCall=a_call(kind="read")))
    update = {"sessionUpdate": "tool_call_update", **a_call(kind="delete")}
    params = {"sessionId": "s-1", "update": update}
    await room.agent_says({"jsonrpc": "2.0", "method": "session/update", "params": params})

    await until(lambda: _async(room.agent))
    assert [json.loads(line) for line in room.agent] == [cancelled()]


async def test_a_call_has_nothing_of_another_one_before_it(room: Room) -> None:
    ended = {"sessionUpdate": "tool_call_update", **a_call(), "status": "completed"}
    params = {"sessionId": "s-1", "update": ended}
    await room.agent_says({"jsonrpc": "2.0", "method": "session/update", "params": params})
    nameless = {"sessionUpdate": "tool_call", **a_call(""), "status": "pending"}
    params = {"sessionId": "s-1", "update": nameless}
    await room.agent_says({"jsonrpc": "2.0", "method": "session/update", "params": params})

    shown = {"content": [{"type": "content", "content": {"type": "text", "text": "rm -rf ."}}]}
    for number, id_ in enumerate(("call-1", "")):
        told = {"toolCallId": id_, "kind": "execute", **shown}
        await room.agent_says(permission(number, toolCall=told))
        request = await room.question(after=number)
        assert isinstance(request, PermissionRequestEvent)
        assert request.arguments == shown


@pytest.mark.parametrize("id_", [1.0, 7, "1"])
async def test_the_editor_answers_what_it_was_asked_and_nothing_else(
    backend: Backend, tmp_path: Path, id_: object
) -> None:
    room = a_room(backend, tmp_path, chat_only=True)
    await room.agent_says(permission())
    await room.question()
    await room.editor_says(selected("yes", id_))

    assert room.agent == []
    await room.deny()
    assert await room.agent_reads() == selected("no")
    await room.proxy.close()


async def test_with_chat_only_an_answer_of_the_editor_is_nobodys_say_so(
    backend: Backend, tmp_path: Path
) -> None:
    room = a_room(backend, tmp_path, chat_only=True)
    await room.agent_says(permission())
    request = await room.question()
    await room.editor_says(selected("yes"))

    assert (room.agent, room.editor) == ([], [])
    await room.deny()
    assert await room.agent_reads() == selected("no")
    assert (await room.ending(request.question_id))[:2] == ("denied", ALICE)
    await room.proxy.close()


async def test_a_second_request_with_an_open_id_is_an_error_and_the_first_goes_on(
    room: Room,
) -> None:
    await room.agent_says(permission())
    await room.question()
    await room.agent_says(permission(toolCall=a_call("call-2")))

    assert (await room.agent_reads())["error"]["code"] == -32600
    await room.allow()
    await until(lambda: _async(len(room.agent) == 2))
    assert json.loads(room.agent[-1]) == selected("yes")


async def test_the_end_of_the_proxy_withdraws_what_is_asked(room: Room) -> None:
    await room.agent_says(permission())
    request = await room.question()
    await room.proxy.close()

    assert (await room.ending(request.question_id))[0] == "cancelled"
    assert await room.agent_reads() == cancelled()


async def test_people_read_all_that_was_told_of_the_call(room: Room, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    new = {"jsonrpc": "2.0", "id": 7, "method": "session/new", "params": {"cwd": str(tmp_path)}}
    await room.editor_says(new)
    await room.agent_says({"jsonrpc": "2.0", "id": 7, "result": {"sessionId": "s-1"}})
    told = {"sessionUpdate": "tool_call", **a_call(), "_meta": {"claudeCode": {"toolName": "Bash"}}}
    params = {"sessionId": "s-1", "update": told}
    await room.agent_says({"jsonrpc": "2.0", "method": "session/update", "params": params})
    await room.agent_says(permission(toolCall={"toolCallId": "call-1"}))
    request = await room.question()

    assert isinstance(request, PermissionRequestEvent)
    assert (request.function_name, request.arguments) == ("Bash", {"command": "ls"})
    assert (request.description, request.call_id) == ("Run it", "call-1")
    assert request.run is not None
    assert (request.run.agent_id, request.run.session_id) == ("goose", "s-1")
    assert request.run.project == Project(socket.gethostname(), str(tmp_path))
    assert request.folder is not None


async def test_version_2_names_a_command_a_call_or_only_words(room: Room) -> None:
    subject = {"type": "command", "command": "make deploy", "cwd": "/srv"}
    await room.agent_says(permission(1, title="Deploy", description="to staging", subject=subject))
    command = await room.question()
    called = {"type": "tool_call", "toolCall": a_call("call-2", title=None)}
    await room.agent_says(permission(2, title="Run", subject=called))
    call = await room.question(after=1)
    await room.agent_says(permission(3, title="Go on?", description="with the plan"))
    words = await room.question(after=2)

    assert isinstance(command, PermissionRequestEvent)
    assert (command.function_name, command.description) == ("execute", "to staging")
    assert command.arguments == {"command": "make deploy", "cwd": "/srv"}
    assert isinstance(call, PermissionRequestEvent)
    assert (call.call_id, call.description, call.arguments) == ("call-2", "Run", {"command": "ls"})
    assert isinstance(words, TextApprovalRequestEvent)
    assert (words.title, words.text) == ("Go on?", "with the plan")
    assert not any(choice.stores for choice in (*words.card().choices, *words.card().more))
    await room.editor_says(selected("yes", 3))
    assert await room.agent_reads() == selected("yes", 3)


_NOT_HERE: dict[str, dict[str, Any]] = {
    "an unknown subject": {"title": "Go", "subject": {"type": "payment", "amount": 7}},
    "no option that allows once": {"toolCall": a_call(), "options": [OPTIONS[0], OPTIONS[2]]},
    "one id for two options": {"toolCall": a_call(), "options": [OPTIONS[1], OPTIONS[1]]},
    "no options": {"toolCall": a_call(), "options": None},
    "nothing at all": {"title": ""},
}


@pytest.mark.parametrize("what", _NOT_HERE)
async def test_what_cannot_be_shown_in_chat_is_asked_in_the_editor_alone(
    backend: Backend, tmp_path: Path, what: str
) -> None:
    message = permission(**_NOT_HERE[what])
    room = a_room(backend, tmp_path)
    await room.agent_says(message)
    alone = a_room(backend, tmp_path, chat_only=True)
    await alone.agent_says(message)

    assert [json.loads(line) for line in room.editor] == [message]
    assert (await alone.agent_reads(), alone.editor) == (cancelled(), [])
    assert await backend.store.list_requests() == []


async def test_while_the_store_is_away_nothing_is_allowed(backend: Backend, tmp_path: Path) -> None:
    away, going = going_away(backend, "store", "rules")
    going.away = True
    room = a_room(away, tmp_path, patience=0.05)
    await room.agent_says(permission(toolCall=a_call(kind="read")))
    await room.agent_says(permission(2))

    await until(lambda: _async(len(room.agent) == 2))
    said = sorted((json.loads(line) for line in room.agent), key=lambda one: int(one["id"]))
    assert said == [selected("no", 1), selected("no", 2)]
    assert room.editor == []


async def _async(value: object) -> object:
    return value
