"""The prompt says which parent call, sub-agent and source asked, outermost first."""

from __future__ import annotations

import asyncio

from support.chat_double import ChatDouble, press_on, working

from sayso import Gate, RunRef, ToolCall
from sayso.chats.places import Place
from sayso.stores.memory import memory_backend
from sayso.testing import Stage
from sayso.worker.routing import Route, Routes
from sayso.worker.worker import ApprovalWorker

OPS = Place("slack", "C0OPS")
CALL = ToolCall("bash", {"command": "ls"})


async def test_the_card_says_which_parent_call_sub_agent_and_source_asked() -> None:
    chat = ChatDouble()
    routes = Routes([Route((OPS,), approvers=("slack:U0ALICE",))])
    async with (
        memory_backend() as backend,
        Gate.open(backend, run=RunRef("deploy-bot", "s-1"), timeout=20) as gate,
        working(ApprovalWorker(backend, [chat], routes)) as desk,
    ):
        researcher = gate.child("plan_release", "researcher", source_name="web-tools")
        waiting = asyncio.create_task(researcher.child("summarise").check(CALL))
        ref, card = await chat.card_where()
        await desk.press(press_on(ref, card, "allow"))
        verdict = await waiting

    assert verdict.approved
    assert card.asker == "deploy-bot › plan_release › researcher › summarise"
    assert ("Source", "web-tools") in card.body.details


async def test_a_child_does_not_change_its_parent_nor_its_siblings() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        first = stage.gate.child("first", source_name="one")
        second = stage.gate.child("second")
        for gate in (stage.gate, first, second):
            await gate.check(CALL)

    assert [prompt.asker for prompt in stage.prompts] == [
        "agent",
        "agent › first",
        "agent › second",
    ]
    assert [prompt.source_name for prompt in stage.prompts] == ["agent", "one", "agent"]


async def test_a_path_of_one_check_comes_after_that_of_its_gate() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        await stage.gate.child("outer").check(CALL, path=("inner",), source_name="mine")

    assert stage.prompts[0].asker == "agent › outer › inner"
    assert stage.prompts[0].source_name == "mine"


async def test_the_call_ids_of_a_sub_agent_are_its_own() -> None:
    async with Stage(answers={"bash": ["allow", "deny"]}) as stage:
        mine = await stage.gate.before_function(CALL)
        theirs = await stage.gate.child("researcher").before_function(CALL)

    assert mine.approved
    assert not theirs.approved


async def test_a_call_id_denied_by_the_parent_is_denied_to_its_sub_agents() -> None:
    async with Stage() as stage:
        child = stage.gate.child("researcher")
        stage.gate.deny_call(CALL.call_id)

        assert (await child.check(CALL)).line == "denied call id"


async def test_sub_agents_at_the_same_time_are_told_apart() -> None:
    async with Stage(answers={"bash": "allow"}) as stage:
        await asyncio.gather(
            *(stage.gate.child(f"worker-{number}").check(CALL) for number in range(3))
        )

    assert {prompt.asker for prompt in stage.prompts} == {
        f"agent › worker-{number}" for number in range(3)
    }
