"""Failures while a callback is handled: ours, the store's, and no shape of what Slack sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.clock import Clock
from support.desk_double import DeskDouble
from support.slack_kit import APP, TEAM, Payload, a_config

from sayso.chats.places import Place
from sayso.errors import StoreUnreachableError
from sayso.testing.builders import PATIENCE_SECONDS
from sayso_slack import SlackAdapter, SlackListener


class BrokenDesk(DeskDouble):
    """Has a mistake of its own, whose words hold what was sent."""

    def language(self, place: Place) -> str:
        raise ZeroDivisionError(f"not for {place.address}")


def an_event(**event: Any) -> Payload:
    return {"type": "event_callback", "team_id": TEAM, "api_app_id": APP, "event": event}


async def test_a_mistake_of_ours_is_500_with_a_traceback_that_quotes_nothing(
    adapter: SlackAdapter, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    desk = BrokenDesk()
    desk.error = StoreUnreachableError("away")  # the apology for which is in a language
    command = {"command": "/approvals", "user_id": "U0ALICE", "channel_id": "C0OPS"}
    command |= {"team_id": TEAM, "api_app_id": APP}
    async with SlackListener(a_config(), adapter, desk, clock=clock) as listener:
        answer = await listener.answer_envelope("e1", command)

    assert answer.status == 500
    [record] = [one for one in caplog.records if one.levelname == "ERROR"]
    assert "ZeroDivisionError" in record.getMessage()
    assert "in language" in record.getMessage()
    assert "C0OPS" not in caplog.text + str(answer.body)


CHANGES = [
    {"type": "subteam_updated"},
    {"type": "subteam_members_changed"},
    {"type": "user_change"},
]


@pytest.mark.parametrize("event", CHANGES)
@pytest.mark.parametrize(
    ("error", "status"), [(StoreUnreachableError("away"), 503), (ZeroDivisionError("oh"), 500)]
)
async def test_a_group_change_that_is_not_stored_is_an_error_so_that_slack_sends_it_again(
    listener: SlackListener, desk: DeskDouble, event: Payload, error: Exception, status: int
) -> None:
    desk.error = error

    assert (await listener.answer_envelope("e1", an_event(**event))).status == status
    desk.error = None
    assert (await listener.answer_envelope("e2", an_event(**event))).status == 200
    assert desk.changes == ["slack"]


class HangingDesk(DeskDouble):
    async def members_changed(self, platform: str) -> None:
        del platform
        await asyncio.Event().wait()


@pytest.mark.parametrize("event", CHANGES)
async def test_a_group_change_that_takes_too_long_is_an_error(
    adapter: SlackAdapter, clock: Clock, event: Payload
) -> None:
    listener = SlackListener(a_config(), adapter, HangingDesk(), clock=clock, press_seconds=0.01)

    async with asyncio.timeout(PATIENCE_SECONDS):
        answer = await listener.answer_envelope("e1", an_event(**event))

    assert answer.status == 503


@pytest.mark.parametrize("tokens", [["bot"], "bot", 5])
async def test_revoked_tokens_of_an_odd_shape_are_no_accident(
    listener: SlackListener, tokens: object, caplog: pytest.LogCaptureFixture
) -> None:
    event = an_event(type="tokens_revoked", tokens=tokens)

    assert (await listener.answer_envelope("e1", event)).status == 200
    assert not caplog.records
