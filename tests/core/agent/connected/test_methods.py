"""Every method of a handle, awaited and not: what a gate's would give."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel
from support.people import People

from sayso import (
    ArgumentsChangedError,
    CheckResult,
    Clarification,
    Clarify,
    Decision,
    Gate,
    Outcome,
    PolicyContext,
    RunRef,
    ToolCall,
)
from sayso.agent.connected.connect import ConnectedGate
from sayso.clock import utc_now
from sayso.errors import GateClosedError
from sayso.events import Resolution, UserInputRequest

CALL = ToolCall("bash", {"command": "ls"}, "call-1")


class Size(BaseModel):
    size: int


def first_choice(request: UserInputRequest) -> Resolution:
    """A person who presses the first button, and fills in 3."""
    choice = request.card().choices[0]
    inputs = {"size": 3} if choice.form is not None else {}
    return request.answer(choice, by="slack:U0ALICE", at=utc_now(), inputs=inputs)


@pytest.fixture
def people(store_url: str) -> Iterator[People]:
    with People(store_url, first_choice) as people:
        yield people


OVERRIDDEN = ("check", "submit", "resume", "cancel", "emit", "wait_for_response", "ask")


async def allow(call: ToolCall, context: PolicyContext) -> Decision:
    return Decision.ALLOW


METHODS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "check": ((CALL,), {"description": "List"}),
    "before_function": ((CALL,), {}),
    "check_batch": (([CALL],), {"together": True}),
    "ask": ((Clarify("Which?", options=("a", "b")),), {}),
    "clarify": (("Which?",), {"options": ["a", "b"]}),
    "approve_text": (("Dear all",), {"title": "Mail"}),
    "collect": ((Size,), {"text": "How large?"}),
    "may_continue": ((10, 10), {}),
}


@pytest.mark.parametrize("name", METHODS)
def test_each_kind_of_question_is_answered_awaited_and_not(
    name: str, handle: ConnectedGate, people: People
) -> None:
    args, kwargs = METHODS[name]
    awaited = asyncio.run(getattr(handle, name)(*args, **kwargs))
    handle.sync.before_iteration()
    called = getattr(handle.sync, name)(*args, **kwargs)

    for said in (awaited, called):
        (one,) = said if isinstance(said, list) else (said,)
        assert one.outcome in (Outcome.APPROVED, Outcome.ANSWERED)
    assert type(awaited) is type(called)


def test_what_is_submitted_can_be_resumed_by_another_caller(
    handle: ConnectedGate, people: People
) -> None:
    asked = asyncio.run(handle.submit(CALL))
    batch = handle.sync.submit_batch([CALL, ToolCall("other")])
    question = handle.sync.submit(Clarify("Which?", options=("a",)))
    assert isinstance(asked, str)

    assert handle.sync.resume(asked).approved
    assert [one.approved for one in asyncio.run(handle.resume_batch(batch))] == [True, True]
    assert handle.sync.resume(question, expect=Clarification).outcome is Outcome.ANSWERED


def test_arguments_that_change_while_they_are_asked_about_do_not_run(
    handle: ConnectedGate, store_url: str
) -> None:
    arguments = {"command": "ls"}

    def change(request: UserInputRequest) -> Resolution:
        arguments["command"] = "rm -rf /"
        return first_choice(request)

    with People(store_url, change):
        with pytest.raises(ArgumentsChangedError):
            handle.sync.check(ToolCall("bash", arguments))
        arguments["command"] = "ls"
        with pytest.raises(ArgumentsChangedError):
            handle.sync.check_batch([ToolCall("bash", arguments)])


def test_a_withdrawn_question_ends_as_cancelled(handle: ConnectedGate) -> None:
    asked = handle.sync.submit(CALL)
    assert isinstance(asked, str)

    assert handle.sync.cancel(asked, reason="never mind").outcome is Outcome.CANCELLED
    verdict: CheckResult = handle.sync.resume(asked)
    assert verdict.reason == "never mind"


def test_all_that_a_run_asks_is_withdrawn_at_once(handle: ConnectedGate) -> None:
    asked = [handle.for_session(run).sync.submit(CALL) for run in ("s-1", "s-1", "s-2")]

    ended = asyncio.run(handle.for_session("s-1").cancel_all(reason="the run was stopped"))
    assert {ending.question_id for ending in ended} == set(asked[:2])
    (last,) = handle.for_session("s-2").sync.cancel_all(whole_session=True)
    assert (last.question_id, last.outcome) == (asked[2], Outcome.CANCELLED)


def test_the_sync_of_a_gate_has_each_method_that_asks_and_those_that_say(
    handle: ConnectedGate,
) -> None:
    awaited = {name for name, one in inspect.getmembers(Gate, inspect.iscoroutinefunction)}

    at_once = {"before_iteration", "deny_call"}
    of_its_loop = {"aclose", "finish", "overruled", "run_batch"}
    public = {name for name in awaited if not name.startswith("_")}
    assert set(vars(handle.sync)) == (public | at_once) - of_its_loop
    assert all(vars(Gate).get(name) is not vars(ConnectedGate)[name] for name in OVERRIDDEN)


async def test_a_gate_has_the_same_methods_in_its_own_loop_and_for_other_threads() -> None:
    async with Gate.open("memory://", run=RunRef("bot", "s-1"), policy=allow) as gate:
        other = await asyncio.to_thread(gate.for_session("s-2").sync.check, CALL)

        assert (await gate.check(CALL)).approved
        assert other.approved
        with pytest.raises(GateClosedError, match="own event loop"):
            gate.sync.check(CALL)


async def test_the_gate_of_a_run_is_the_same_as_long_as_somebody_holds_it() -> None:
    async with Gate.open("memory://", run=RunRef("bot", "s-1")) as gate:
        other = gate.for_session("s-2")
        other.deny_call("call-1", reason="stop")

        assert (await gate.for_session("s-2").check(CALL)).reason == "stop"
        assert gate.for_session() is gate


def test_a_sub_agent_says_who_asks_and_has_answers_of_its_own(
    handle: ConnectedGate, people: People
) -> None:
    child = handle.child("deploy", "researcher", source_name="researcher")
    handle.sync.check_batch([CALL])
    child.sync.before_function(CALL)

    first, second = people.asked.get(timeout=20), people.asked.get(timeout=20)
    assert (first.path, second.path) == ((), ("deploy", "researcher"))
    assert second.source_name == "researcher"


@pytest.mark.parametrize("name", ["check", "check_batch", "submit", "ask"])
def test_a_method_without_its_first_argument_says_which_one_is_missing(
    name: str, handle: ConnectedGate
) -> None:
    with pytest.raises(TypeError, match="missing 1 required"):
        getattr(handle.sync, name)()
