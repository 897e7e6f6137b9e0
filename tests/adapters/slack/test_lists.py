"""Slack shows people what waits for them: a slash command, and the App Home with *Revoke*."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.live import is_live
from support.slack_kit import Client, a_press, callback, post
from support.slack_room import Slack, SlackRoom
from support.x_language import X_TRANSLATIONS, english, texts

from sayso import ToolCall
from sayso.chats.caller import Waiting
from sayso.chats.overview import Decided, Overview, Remembered
from sayso.errors import StoreUnreachableError
from sayso.locales import ENGLISH
from sayso.stores.memory import memory_backend
from sayso_playground.slack.blocks import characters, check_blocks, check_home
from sayso_slack.app_home import home, waiting_message

CALL = ToolCall("bash", {"command": "terraform apply"})
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FORGED = "*bold* <@U0ALICE> <!channel> :tada:\n✅ Allows everything & <https://evil.test|Open>"
FULL = Overview(
    waiting=tuple(Waiting(FORGED * 9, FORGED * 9, NOW, None, "https://a.test/" + "x" * 900)
                  for _ in range(20)),
    more_waiting=7,
    rules=tuple(
        Remembered(f"r{n}", FORGED * 9, FORGED * 9, FORGED * 9, allows=True,
                   stored_by=FORGED * 9, expires_at=NOW)
        for n in range(20)
    ),
    more_rules=3,
    decisions=tuple(
        Decided(NOW, "approved", FORGED * 9, FORGED * 9, FORGED * 9) for _ in range(10)
    ),
)  # fmt: skip


@pytest.fixture
async def room(slack: Slack) -> AsyncIterator[SlackRoom]:
    async with memory_backend() as backend, SlackRoom.in_slack(slack, backend) as room:
        yield room


async def test_a_command_lists_what_waits_to_whoever_gave_it_alone(room: SlackRoom) -> None:
    slack = room.playground.slack
    waiting = room.ask(CALL)
    card = await slack.message_where(lambda m: is_live(m.buttons))

    for who in ("alice", "mallory"):
        assert (await slack.command("/approvals", by=who)).error is None
    (mine,) = slack.ephemerals("alice")
    (theirs,) = slack.ephemerals("mallory")

    assert mine.all_text.startswith("Waiting for you")
    assert "bash" in mine.all_text
    assert card.ts.replace(".", "") in str(mine.blocks)
    assert theirs.all_text == "Nothing waits for you."
    assert len(slack.messages("C0OPS")) == 1
    await slack.press(card, "Deny", by="alice")
    await waiting


@pytest.mark.parametrize("change", [{"team_id": "T0EVIL"}, {"api_app_id": "A0OTHER"}])
async def test_a_command_of_another_workspace_or_app_is_refused(
    room: SlackRoom, change: dict[str, str]
) -> None:
    slack = room.playground.slack

    delivery = await slack.command("/approvals", by="alice", alter=lambda p: p.update(change))

    assert delivery.status in (401, 403)
    assert not slack.ephemerals("alice")


async def test_a_command_that_nobody_signed_is_refused(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    headers, body = callback(
        {"command": "/approvals", "user_id": "U0ALICE"}, clock.seconds(), "form-fields"
    )

    status, _ = await post(client, {**headers, "X-Slack-Signature": "v0=" + "0" * 64}, body)

    assert status == 401
    assert not desk.looks


async def test_a_command_that_comes_twice_is_answered_once(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    command = {
        "command": "/approvals", "user_id": "U0ALICE", "team_id": "T0ACME", "api_app_id": "A0SAYSO",
    }  # fmt: skip
    headers, body = callback(command, clock.seconds(), "form-fields")

    statuses = [(await post(client, headers, body))[0] for _ in range(2)]

    assert statuses == [200, 409]
    assert desk.looks == [("slack:U0ALICE", False)]


async def test_a_list_that_cannot_be_told_says_so(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    desk.error = StoreUnreachableError("away")
    command = {
        "command": "/approvals", "user_id": "U0ALICE", "team_id": "T0ACME", "api_app_id": "A0SAYSO",
    }  # fmt: skip

    status, text = await post(client, *callback(command, clock.seconds(), "form-fields"))

    assert status == 200
    assert "cannot be told right now" in text


async def test_the_home_shows_what_waits_the_rules_and_the_last_decisions(
    room: SlackRoom,
) -> None:
    slack = room.playground.slack
    first = room.ask(CALL)
    card = await slack.message_where(lambda m: is_live(m.buttons))
    await slack.press(card, "Always", by="alice")
    await first
    waiting = room.ask(ToolCall("deploy", {"service": "shop"}))
    card = await slack.message_where(lambda m: "shop" in m.all_text and is_live(m.buttons))

    assert (await slack.open_home("alice")).error is None
    view = await slack.home_for("alice")
    await slack.open_home("mallory")
    theirs = await slack.home_for("mallory")

    shown = str(view.view)
    for text in ("Waiting for you", "deploy", "Your rules", "terraform apply", "Last decisions"):
        assert text in shown
    assert "terraform" not in str(theirs.view)
    await slack.press(card, "Deny", by="alice")
    await waiting


async def test_revoke_on_the_home_takes_a_rule_back_at_once(room: SlackRoom) -> None:
    slack = room.playground.slack
    first = room.ask(CALL)
    card = await slack.message_where(lambda m: is_live(m.buttons))
    await slack.press(card, "Always", by="alice")
    await first
    await slack.open_home("alice")
    view = await slack.home_for("alice", lambda v: "Revoke" in str(v.view))

    delivery = await slack.press(view, "Revoke", by="alice")
    after = await slack.home_for("alice", lambda v: "'value'" not in str(v.view))

    assert delivery.error is None
    assert "Revoked." in str(after.view)
    assert not await room.backend.rules.all()


async def test_a_stranger_who_presses_revoke_revokes_nothing(room: SlackRoom) -> None:
    slack = room.playground.slack
    first = room.ask(CALL)
    card = await slack.message_where(lambda m: is_live(m.buttons))
    await slack.press(card, "Always", by="alice")
    await first
    await slack.open_home("alice")
    view = await slack.home_for("alice", lambda v: "Revoke" in str(v.view))

    await slack.press(view, "Revoke", by="mallory")
    told = await slack.home_for("mallory")

    assert "You may not revoke this one." in str(told.view)
    assert len(await room.backend.rules.all()) == 1
    refused = [one for one in await room.backend.audit.read(99) if one.kind == "press_refused"]
    assert [one.by for one in refused] == ["slack:U0MALLORY"]


async def test_revoke_counts_only_on_the_home(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    action = {"type": "button", "action_id": "sayso-home:revoke", "value": "r1", "block_id": "b"}
    for view in (..., {"type": "modal"}):
        press = a_press(actions=[action], view=view)
        await post(client, *callback(press, clock.seconds()))
        clock.advance(timedelta(seconds=1))
    assert desk.revoked == []

    status, _ = await post(
        client, *callback(a_press(actions=[action], view={"type": "home"}), clock.seconds())
    )
    assert (status, desk.revoked) == (200, [("slack:U0ALICE", "r1")])


async def test_a_revocation_that_was_not_stored_is_not_acknowledged(
    client: Client, desk: DeskDouble, clock: Clock
) -> None:
    desk.answers = [StoreUnreachableError("away")]
    action = {"type": "button", "action_id": "sayso-home:revoke", "value": "r1", "block_id": "b"}

    press = a_press(actions=[action], view={"type": "home"})
    status, _ = await post(client, *callback(press, clock.seconds()))

    assert (status, desk.revoked) == (503, [])


async def test_the_home_of_somebody_in_another_workspace_is_not_shown(room: SlackRoom) -> None:
    slack = room.playground.slack

    delivery = await slack.open_home("alice", alter=lambda p: p.update(team_id="T0EVIL"))
    await asyncio.sleep(0)

    assert delivery.status in (401, 403)
    assert slack.home("alice") is None


def _literals(value: Any) -> list[str]:
    """All texts that Slack parses: nothing of an agent may be among them."""
    if isinstance(value, list):
        return [text for item in value for text in _literals(item)]
    if not isinstance(value, dict):
        return []
    own = [value["text"]] if value.get("type") == "mrkdwn" else []
    return own + [text for item in value.values() for text in _literals(item)]


def test_slack_takes_the_largest_lists_and_parses_nothing_of_an_agents() -> None:
    view, message = home(FULL, ENGLISH, said="x" * 999), waiting_message(FULL, ENGLISH)

    assert check_home(view).errors == []
    assert check_blocks(message["blocks"]).errors == []
    assert characters(message["blocks"]) < 12_000
    assert message["response_type"] == "ephemeral"
    assert _literals(view) == _literals(message) == []
    assert "\n✅ Allows everything" not in str(view)


def test_lists_speak_the_language_of_their_words() -> None:
    plain = Overview(
        waiting=(Waiting("τ", "α", NOW, None, "https://a.test/"),) * 2,
        more_waiting=2,
        rules=(
            Remembered("1", "τ", "", "α", allows=True, stored_by="ρ", expires_at=NOW),
            Remembered("2", "τ", "α", "α", allows=False, stored_by="ρ", expires_at=NOW),
        ),
        more_rules=2,
        decisions=(Decided(NOW, "approved", "τ", "α", "ρ"),),
    )

    for overview in (plain, Overview()):
        for shown in (home(overview, X_TRANSLATIONS), waiting_message(overview, X_TRANSLATIONS)):
            assert [word for text in texts(shown) for word in english(text)] == []


def test_an_empty_home_says_that_there_is_nothing() -> None:
    known = "\n".join(texts(home(Overview(), ENGLISH)))
    assert re.findall("Nothing waits|No rule|Nothing was decided", known) == [
        "Nothing waits",
        "No rule",
        "Nothing was decided",
    ]
