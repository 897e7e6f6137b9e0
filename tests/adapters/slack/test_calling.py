"""Slack calls people: mentions that ring, reminders in threads, direct messages, links."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from support.clock import Clock
from support.room import OPS
from support.slack_kit import a_card, a_config
from support.slack_room import Slack, SlackRoom

from sayso import ToolCall
from sayso.cards.called import Call, Called
from sayso.cards.card import Open
from sayso.chats.places import MessageRef, Place
from sayso.stores.memory import memory_backend
from sayso.testing import CallerContract, CallerStage, Said
from sayso_playground import Playground, ServerError, SlackMessage
from sayso_playground.slack.blocks import check_blocks
from sayso_slack import SlackAdapter
from sayso_slack.batch_blocks import message
from sayso_slack.notifications import SlackCaller

CALL = ToolCall("bash", {"command": "terraform apply"})
ALICE, BOB = Called("slack:U0ALICE", "alice"), Called("slack:U0BOB", "bob")


def _leaves(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list | tuple):
            yield from _leaves(item)


def mentions(message: SlackMessage) -> list[str]:
    """Whom the blocks mention; text that Slack would read as a mention counts as one, too."""
    found = []
    for leaf in _leaves(message.blocks):
        if leaf.get("type") == "user":
            found.append(f"slack:{leaf['user_id']}")
        if leaf.get("type") == "usergroup":
            found.append(f"slack:{leaf['usergroup_id']}")
        if leaf.get("type") == "mrkdwn" and any(m in leaf["text"] for m in ("<@", "<!s", "<!h")):
            found.append(leaf["text"])
    return found + [
        mark for mark in ("<@", "<!subteam", "<!here", "<!channel") if mark in message.text
    ]


def _said(message: SlackMessage) -> Said:
    return Said(message.all_text, mentions(message), list(message.buttons), message.thread_ts or "")


class Stage(CallerStage):
    def __init__(self, playground: Playground, adapter: SlackAdapter) -> None:
        self.slack = playground.slack
        self.adapter, self.caller = adapter, SlackCaller(adapter)
        self.place, self.nowhere = OPS, Place("slack", "C0NOWHERE")
        self.actor = "slack:U0ALICE"

    async def said(self) -> Sequence[Said]:
        return [_said(message) for message in self.slack.messages("C0OPS")]

    async def letters(self) -> Sequence[Said]:
        return [_said(message) for message in self.slack.messages("D0ALICE")]


class TestSlackCaller(CallerContract):
    @pytest.fixture
    def stage(self, playground: Playground, adapter: SlackAdapter) -> Stage:
        return Stage(playground, adapter)


@pytest.fixture
def caller(adapter: SlackAdapter) -> SlackCaller:
    return SlackCaller(adapter, clock=lambda: datetime(2026, 1, 1, 12, tzinfo=UTC))


async def test_the_card_mentions_a_person_and_a_group_by_what_rings(
    slack: Slack, playground: Playground
) -> None:
    async with (
        memory_backend() as backend,
        SlackRoom.in_slack(slack, backend, ("bob", "slack:@oncall")) as room,
    ):
        waiting = asyncio.create_task(room.gate.check(CALL))
        message = await playground.slack.message_where(lambda m: bool(m.buttons))
        await playground.slack.press(message, "Deny", by="bob")
        await waiting
        ended = await playground.slack.message_where(lambda m: "Denied" in m.all_text)

    group = next(one.id for one in playground.config.slack_usergroups if one.handle == "oncall")
    assert mentions(message) == ["slack:U0BOB", f"slack:{group}"]
    assert "👋 For" in message.all_text
    assert "👋" not in ended.all_text


@pytest.mark.parametrize(
    "away",
    [
        {"slack_status_emoji": ":palm_tree:"},
        {"slack_status_emoji": ":face_with_thermometer:", "slack_status_expiration": 2**31},
        {"slack_dnd": (0, 2**31)},
    ],
)
async def test_who_is_on_vacation_sick_or_not_to_be_disturbed_is_away(
    caller: SlackCaller, playground: Playground, away: dict[str, Any]
) -> None:
    await playground.slack.change_member("alice", tell=False, **away)

    assert await caller.reachable([ALICE, BOB]) == [BOB]


@pytest.mark.parametrize(
    "there",
    [
        {"slack_status_emoji": ":coffee:"},
        {"slack_status_emoji": ":palm_tree:", "slack_status_expiration": 1},
        {"slack_dnd": (2**30, 2**30 + 1)},
    ],
)
async def test_a_status_that_is_over_keeps_nobody_away(
    caller: SlackCaller, playground: Playground, there: dict[str, Any]
) -> None:
    await playground.slack.change_member("alice", tell=False, **there)

    assert await caller.reachable([ALICE, BOB]) == [ALICE, BOB]


async def test_who_is_away_is_asked_once_a_minute(playground: Playground, clock: Clock) -> None:
    async with SlackAdapter(_config(playground)) as adapter:
        caller = SlackCaller(adapter, timer=clock.seconds)
        await caller.reachable([ALICE])
        before = len(playground.slack.calls)
        await caller.reachable([ALICE])

        assert len(playground.slack.calls) == before


async def test_all_are_there_where_slack_does_not_say(
    caller: SlackCaller, playground: Playground
) -> None:
    playground.slack.misbehave("*", ServerError(500), times=None)

    assert await caller.reachable([ALICE, BOB]) == [ALICE, BOB]


async def test_a_link_is_the_permalink_of_the_card(
    caller: SlackCaller, playground: Playground
) -> None:
    message = playground.slack.say("C0OPS", "hello", by="alice")

    link = await caller.link(MessageRef(OPS, message.ts))

    assert link.endswith(f"/archives/C0OPS/p{message.ts.replace('.', '')}")


def _config(playground: Playground) -> Any:
    return a_config(api_url=playground.slack_api_url)


def test_the_largest_message_that_calls_people_is_taken_by_slack() -> None:
    people = tuple(Called(f"slack:U0{number:08d}") for number in range(20))
    cards = [
        replace(
            a_card(Open(more=True, notice="x" * 200), handle=f"h{number}", limit=300),
            number=number + 1,
            count=8,
            call=Call(people, "For", note=f"{number}" + "n" * 400),
            expires_at=datetime(2027, 1, 15, 8 + number, tzinfo=UTC),
        )
        for number in range(8)
    ]

    shown = message(cards)["blocks"]

    assert check_blocks(shown).errors == []
    assert sum("🌙" in str(block) for block in shown) == 1
