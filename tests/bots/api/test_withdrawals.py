"""``DELETE …/requests/{id}``: whoever asked takes the question back."""

from __future__ import annotations

import asyncio

import pytest
from support.api_world import CI, REVIEWER, World
from support.live import is_live

from sayso import RunRef
from sayso.calls import new_id
from sayso.testing import a_request

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_whoever_asked_withdraws_and_the_card_says_so(world: World) -> None:
    async with await world.follow() as stream:
        asked = await world.asked(arguments={"command": "ls withdrawn"})
        path = f"{world.branch}/requests/{asked['permissionId']}"
        card = await world.card("ls withdrawn")

        reply = await world.call("DELETE", path)

        assert reply.status == 200
        assert reply.json["request"] == asked
        ending = reply.json["response"]
        assert (ending["type"], ending["decidedBy"]) == ("REQUEST_CANCELLED", "api:ci")
        assert ending["reason"] == "the agent withdrew it"
        assert await stream.types(2) == ["PERMISSION_REQUEST", "REQUEST_CANCELLED"]
    closed = await world.playground.slack.message_where(
        lambda message: message.ts == card.ts and not is_live(message.buttons)
    )
    assert "cancelled" in closed.all_text.lower()
    late = await world.respond(asked["permissionId"])
    assert late.problem == (409, "AlreadyAnswered")


async def test_withdrawing_again_changes_nothing(world: World) -> None:
    asked = await world.asked()
    path = f"{world.branch}/requests/{asked['permissionId']}"

    replies = await asyncio.gather(*(world.call("DELETE", path) for _ in range(5)))

    assert {reply.status for reply in replies} == {200}
    assert len({reply.text for reply in replies}) == 1


async def test_what_has_ended_is_answered_as_it_is(world: World) -> None:
    asked = await world.asked()
    await world.respond(asked["permissionId"], reason="go ahead")

    reply = await world.call("DELETE", f"{world.branch}/requests/{asked['permissionId']}")

    assert reply.status == 200
    ending = reply.json["response"]
    assert (ending["approved"], ending["reason"]) == (True, "go ahead")


async def test_only_the_token_that_asked_withdraws(world: World) -> None:
    mine = await world.asked(requestedBy="slack:U0CAROL")
    theirs = a_request(new_id(), run=RunRef("deploy-bot", world.session_id))
    await world.backend.store.open(theirs, seconds=60, inbox="", book=None)

    for request_id, token in ((mine["permissionId"], REVIEWER), (theirs.permission_id, CI)):
        reply = await world.call("DELETE", f"{world.branch}/requests/{request_id}", token=token)
        assert reply.problem == (403, "NotTheAsker")
        shown = await world.call("GET", f"{world.branch}/requests/{request_id}")
        assert shown.json["response"] is None

    withdrawn = await world.call("DELETE", f"{world.branch}/requests/{mine['permissionId']}")
    assert withdrawn.json["response"]["type"] == "REQUEST_CANCELLED"


async def test_what_is_not_of_this_branch_is_unknown(world: World) -> None:
    asked = await world.asked()
    elsewhere = f"/agents/deploy-bot/sessions/{world.session_id}/branches/other/requests"

    for path in (f"{elsewhere}/{asked['permissionId']}", f"{world.branch}/requests/nothing"):
        assert (await world.call("DELETE", path)).problem == (404, "UnknownRequest")


async def test_a_body_is_refused_and_withdraws_nothing(world: World) -> None:
    asked = await world.asked()
    path = f"{world.branch}/requests/{asked['permissionId']}"

    reply = await world.call("DELETE", path, {"reason": "never mind"})

    assert reply.problem == (400, "InvalidBody")
    assert (await world.call("GET", path)).json["response"] is None
