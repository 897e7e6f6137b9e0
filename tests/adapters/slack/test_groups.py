"""User groups of approvers: who counts in them, and what Slack tells when that changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.live import is_live
from support.slack_kit import SECRET, TEAM, Client
from support.slack_room import Slack, SlackRoom

from sayso import CheckResult, ToolCall
from sayso.errors import DeliveryError
from sayso.stores.memory import memory_backend
from sayso_playground import Member, Playground, PlaygroundConfig, SlackMessage, UserGroup
from sayso_slack import SlackAdapter
from sayso_slack.workspace import explain_non_member

CALL = ToolCall("bash", {"command": "terraform apply"})
PEOPLE = (
    Member("Alice", "U0ALICE", 4242),
    Member("Guest", "U0GUEST", 1, slack_is_restricted=True),
    Member("Single", "U0SINGLE", 2, slack_is_ultra_restricted=True),
    Member("Gone", "U0GONE", 3, slack_deleted=True),
    Member("Robot", "U0ROBOT", 4, slack_is_bot=True),
    Member("Stranger", "U0STRANGER", 5, slack_team_id="T0OTHER"),
)
IDS = tuple(member.slack_id for member in PEOPLE)


@pytest.fixture
async def playground(clock: Clock) -> AsyncIterator[Playground]:
    config = PlaygroundConfig(
        clock=clock.seconds,
        slack_signing_secret=SECRET,
        members=PEOPLE,
        slack_usergroups=(UserGroup("S0ONCALL", "oncall", "On call", IDS),),
    )
    async with Playground(config) as playground:
        yield playground


async def test_only_members_of_the_workspace_count_in_its_groups(adapter: SlackAdapter) -> None:
    members = await adapter.members("oncall")

    counting = [actor for actor in sorted(members) if await adapter.counts_in_groups(actor)]

    assert len(members) == len(IDS)
    assert counting == ["slack:U0ALICE"]


async def test_nobody_counts_whom_slack_does_not_know(adapter: SlackAdapter) -> None:
    with pytest.raises(DeliveryError, match="user_not_found"):
        await adapter.counts_in_groups("slack:U0NOBODY")


async def test_somebody_of_another_workspace_cannot_be_named_either(
    adapter: SlackAdapter,
) -> None:
    problem = await adapter.can_approve("slack:U0STRANGER")

    assert problem == "the account is of another workspace, whose presses are refused"
    assert await adapter.can_approve("slack:U0GUEST") is None


WHOLE: dict[str, Any] = {
    "id": "U0ALICE",
    "team_id": TEAM,
    "deleted": False,
    "is_bot": False,
    "is_restricted": False,
    "is_ultra_restricted": False,
}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, ""),
        ({"deleted": True}, "deactivated"),
        ({"is_bot": True}, "bot"),
        ({"is_restricted": True}, "guest"),
        ({"is_ultra_restricted": True}, "guest of one channel"),
        ({"is_restricted": True, "is_ultra_restricted": True}, "guest of one channel"),
        ({"is_stranger": True}, "another workspace"),
        ({"is_stranger": False}, ""),
        ({"team_id": "T0OTHER"}, "another workspace"),
        ({"team_id": None}, "another workspace"),
        ({"team_id": "T0OTHER", "enterprise_user": {"teams": [TEAM]}}, ""),
        ({"team_id": "T0OTHER", "enterprise_user": {"teams": ["T0THIRD"]}}, "another workspace"),
        ({"team_id": "T0OTHER", "enterprise_user": {"enterprise_id": TEAM}}, ""),
        ({"team_id": "T0OTHER", "enterprise_user": {"teams": TEAM}}, "another workspace"),
        ({"deleted": None}, "does not say deleted"),
        ({"is_bot": None}, "does not say is_bot"),
        ({"is_restricted": None}, "does not say is_restricted"),
        ({"is_ultra_restricted": None}, "does not say is_ultra_restricted"),
    ],
)
def test_what_slack_says_of_somebody_decides_whether_they_count(
    changes: dict[str, Any], why: str
) -> None:
    user = {name: value for name, value in {**WHOLE, **changes}.items() if value is not None}

    assert why in explain_non_member(user, TEAM)
    assert bool(explain_non_member(user, TEAM)) is bool(why)


def test_without_a_known_workspace_nobody_counts() -> None:
    assert explain_non_member({**WHOLE, "team_id": ""}, "")


@pytest.fixture
async def room(slack: Slack) -> AsyncIterator[SlackRoom]:
    async with (
        memory_backend() as backend,
        SlackRoom.in_slack(slack, backend, ("slack:@oncall",)) as room,
    ):
        yield room


async def asked(room: SlackRoom) -> tuple[asyncio.Task[CheckResult], SlackMessage]:
    waiting = asyncio.create_task(room.gate.check(CALL))
    return waiting, await room.playground.slack.message_where(lambda m: is_live(m.buttons))


async def test_a_guest_in_a_group_of_approvers_decides_nothing(room: SlackRoom) -> None:
    waiting, card = await asked(room)

    for who in ("guest", "single", "gone", "robot"):
        await room.playground.slack.press(card, "Allow", by=who)
        told = await room.playground.slack.ephemeral_where(who)
        assert "may not decide" in told.text
    await room.playground.slack.press(card, "Allow", by="alice")

    assert (await waiting).decided_by == "slack:U0ALICE"


async def test_a_guest_who_is_listed_by_id_decides(slack: Slack) -> None:
    async with (
        memory_backend() as backend,
        SlackRoom.in_slack(slack, backend, ("slack:@oncall", "slack:U0GUEST")) as room,
    ):
        waiting, card = await asked(room)
        await room.playground.slack.press(card, "Allow", by="guest")

        assert (await waiting).decided_by == "slack:U0GUEST"


async def test_a_member_whom_slack_tells_was_removed_decides_nothing_from_then_on(
    room: SlackRoom,
) -> None:
    slack = room.playground.slack
    first, card = await asked(room)
    await slack.press(card, "Allow", by="alice")
    assert (await first).approved
    await slack.message_where(lambda m: "Approved" in m.all_text)

    await slack.change_group("oncall", "U0GUEST")
    second, card = await asked(room)
    await slack.press(card, "Deny", by="alice")

    told = await slack.ephemeral_where("alice")
    assert "may not decide" in told.text
    assert not second.done()


@pytest.mark.parametrize("change", ["slack_deleted", "slack_is_restricted"])
async def test_a_member_who_leaves_or_becomes_a_guest_decides_nothing_from_then_on(
    room: SlackRoom, change: str
) -> None:
    slack = room.playground.slack
    first, card = await asked(room)
    await slack.press(card, "Allow", by="alice")
    assert (await first).approved
    await slack.message_where(lambda m: "Approved" in m.all_text)

    await slack.change_member("alice", **{change: True})
    second, card = await asked(room)
    await slack.press(card, "Deny", by="alice")

    told = await slack.ephemeral_where("alice")
    assert "may not decide" in told.text
    assert not second.done()


async def tell(client: Client, playground: Playground, event: dict[str, Any], **more: Any) -> int:
    playground.slack.deliver_to(str(client.make_url("/slack/events")))
    delivery = await playground.slack.send_event(event, lambda payload: payload.update(more))
    assert delivery.status is not None
    return delivery.status


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "subteam_members_changed", "subteam_id": "S0ONCALL"}, True),
        ({"type": "subteam_updated", "subteam": {"id": "S0ONCALL"}}, True),
        ({"type": "user_change", "user": WHOLE}, False),
        ({"type": "user_change", "user": {**WHOLE, "deleted": True}}, True),
        ({"type": "user_change", "user": {**WHOLE, "is_restricted": True}}, True),
        ({"type": "user_change", "user": {**WHOLE, "team_id": "T0OTHER"}}, True),
        ({"type": "user_change"}, True),
        ({"type": "user_status_changed", "user": WHOLE}, False),
    ],
)
async def test_the_desk_hears_of_what_may_have_removed_somebody(
    client: Client, playground: Playground, desk: DeskDouble, event: dict[str, Any], told: bool
) -> None:
    assert await tell(client, playground, event) == 200

    assert desk.changes == (["slack"] if told else [])


async def test_nobody_else_tells_the_desk_that_a_group_changed(
    client: Client, playground: Playground, desk: DeskDouble
) -> None:
    event = {"type": "subteam_members_changed", "subteam_id": "S0ONCALL"}

    assert await tell(client, playground, event, team_id="T0OTHER") == 403
    assert desk.changes == []
